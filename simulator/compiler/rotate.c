// rotate.c: loop rotation. A loop that tests its condition in the header becomes a guarded loop with the test at its end: the
// header is copied into the preheader. The body then runs whenever the loop is entered, so that invariants can be hoisted out of
// it, and an iteration has one jump. Invariants of the header are moved, not copied, so that both tests use the same value.
#include "compiler/intrinsics.h"
#include "compiler/passes.h"

enum { MAX_HEADER = 16 }; // instructions

typedef struct Rotation {
    IrModule *module;
    IrFunction *function;
    const Loops *loops;
    const Loop *loop;
    IrBlock *preheader, *header;
    IrInstruction **copy; // copies, in the preheader, of the header's instructions, by their mark - 1
} Rotation;

// The header's target outside the loop, or -1.
static int exit_target(const Loops *loops, const Loop *loop)
{
    const IrInstruction *end = loop->header->last;
    if (end->op != IR_BRANCH)
        return -1;
    const bool first = loop_contains(loops, loop, end->target[0]), second = loop_contains(loops, loop, end->target[1]);
    return first == second ? -1 : first;
}

static bool can_copy_header(const IrBlock *header)
{
    uint32_t count = 0;
    for (const IrInstruction *i = header->first; i; i = i->next) {
        if (i->op == IR_PHI)
            continue;
        if (++count > MAX_HEADER || (ir_effects(i) & INTRINSIC_CONVERGENT && !ir_is_terminator(i)) || i->op == IR_ALLOCA)
            return false;
    }
    return true;
}

static bool is_exiting(const Loops *loops, const Loop *loop, const IrBlock *block)
{
    for (uint32_t t = 0; t < ir_target_count(block); t++)
        if (!loop_contains(loops, loop, block->last->target[t]))
            return true;
    return false;
}

static IrInstruction *copied(const Rotation *r, IrInstruction *value)
{
    return value->block == r->header && value->mark ? r->copy[value->mark - 1] : value;
}

static bool is_invariant(const Rotation *r, const IrInstruction *i)
{
    for (uint32_t k = 0; k < i->operand_count; k++)
        if (!is_loop_invariant(r->loops, r->loop, i->operands[k]))
            return false;
    return ir_is_pure(i) && !ir_is_assembly(i);
}

static void copy_header(Rotation *r)
{
    const uint32_t from = ir_edge_index(r->preheader, 0);
    IrInstruction *insert_before = r->preheader->last;
    uint32_t count = 0;
    for (IrInstruction *i = r->header->first, *next; i != r->header->last; i = next) {
        next = i->next;
        if (is_invariant(r, i)) {
            ir_move_before(insert_before, i);
            continue;
        }
        i->mark = count + 1;
        if (i->op == IR_PHI) {
            r->copy[count++] = i->operands[from];
            continue;
        }
        IrInstruction *copy = r->copy[count++] = ir_clone(r->module, r->function, i);
        copy->mark = 0;
        ir_link_before(insert_before, copy);
        for (uint32_t k = 0; k < copy->operand_count; k++)
            ir_set_operand(copy, k, copied(r, copy->operands[k]));
    }
}

// A value that is used outside the header now has two definitions, so it goes through a variable.
static void demote(Rotation *r, IrInstruction *value)
{
    bool is_used = false;
    for (const IrUse *use = value->uses; use; use = use->next)
        is_used |= use->user->block != r->header || use->user->op == IR_PHI;
    if (!is_used)
        return;
    IrInstruction *variable = new_variable(r->module, r->function);
    for (IrUse *use = value->uses, *next; use; use = next) {
        next = use->next;
        const bool in_header = use->user->block == r->header && use->user->op != IR_PHI;
        if (!in_header)
            load_for_use(r->module, variable, value->type, use);
    }
    store_variable(r->module, insertion_point_after(value), variable, value);
    store_variable(r->module, r->preheader->last, variable, r->copy[value->mark - 1]);
}

static void demote_values(Rotation *r)
{
    for (IrInstruction *i = r->header->first, *next; i != r->header->last; i = next) {
        next = i->next;
        if (i->mark && i->type != IR_VOID)
            demote(r, i);
        i->mark = 0;
    }
}

// The preheader's jump becomes a copy of the header's branch, whose targets' phis get the copies of their operands.
static void copy_branch(Rotation *r)
{
    const IrInstruction *branch = r->header->last;
    IrInstruction *condition = copied(r, branch->operands[0]);
    const uint32_t line = branch->line, file = branch->file;
    IrBlock *targets[] = {branch->target[0], branch->target[1]};
    IrInstruction *jump = r->preheader->last;
    ir_remove_predecessor(r->header, ir_edge_index(r->preheader, 0));
    ir_remove(jump);
    ir_branch(r->module, r->preheader, condition, targets[0], targets[1]);
    r->preheader->last->line = line;
    r->preheader->last->file = file;
    for (uint32_t t = 0; t < 2; t++) {
        uint32_t index = 0; // index of the header's edge
        while (targets[t]->predecessors[index] != r->header)
            index++;
        for (IrInstruction *phi = targets[t]->first; phi->op == IR_PHI; phi = phi->next)
            ir_add_operand(r->module, phi, copied(r, phi->operands[index]));
    }
}

static bool rotate(Rotation *r)
{
    const int exit = exit_target(r->loops, r->loop);
    const IrBlock *latch = loop_latch(r->loops, r->loop);
    r->header = r->loop->header;
    r->preheader = loop_preheader(r->loops, r->loop);
    if (exit < 0 || !latch || !r->preheader || is_exiting(r->loops, r->loop, latch) || !can_copy_header(r->header))
        return false;
    uint32_t count = 0;
    for (const IrInstruction *i = r->header->first; i; i = i->next)
        count++;
    r->copy = ir_scratch(r->module, count * sizeof *r->copy);
    copy_header(r);
    copy_branch(r);
    demote_values(r);
    IrBlock *body = r->header->last->target[!exit];
    if (r->header->unroll)
        body->unroll = r->header->unroll;
    r->header->unroll = 0;
    // In the layout the body comes first and the header last.
    if (latch->next && latch != r->header)
        ir_move_block_before(latch->next, r->header);
    return true;
}

static bool has_constant_branch(const IrFunction *function)
{
    for (const IrBlock *block = function->first; block; block = block->next)
        if (block->last->op == IR_BRANCH && ir_is_constant(block->last->operands[0]))
            return true;
    return false;
}

// Rotates inner loops first. A rotation changes only edges inside the enclosing loops, so their headers stay valid.
bool rotate_loops(IrModule *module, IrFunction *function)
{
    bool changed = has_constant_branch(function) && simplify_control_flow(module, function); // a header with one has no exit
    loops_simplify(module, function);
    const Loops *loops = loops_of(module, function, dominators_of(module, function));
    for (const Loop *loop = loops->all; loop; loop = loop->next) {
        Rotation r = {.module = module, .function = function, .loops = loops, .loop = loop};
        changed |= rotate(&r);
    }
    if (!changed)
        return false;
    promote_variables(module, function);
    loops_simplify(module, function);
    return true;
}
