// unswitch.c: loop unswitching. A loop with a branch or selection on an invariant condition is duplicated: the condition is tested
// once, before the loop, and each of the two loops assumes one value. The condition must be the same in all threads, so that they
// do not diverge, and loops with barriers or other convergent operations are not unswitched, as in NVVM.
#include "compiler/clone.h"
#include "compiler/intrinsics.h"

enum { MAX_SIZE = 100, MAX_DEPTH = 12, MAX_UNSWITCHED = 4 };

typedef struct Unswitching {
    IrModule *module;
    IrFunction *function;
    const Loops *loops;
    uint64_t instructions;
} Unswitching;

// Whether the value is the same in all threads of a grid: it depends only on arguments, constants, and grid and block dimensions.
static bool is_uniform(const IrInstruction *value, uint32_t depth)
{
    if (ir_is_constant(value) || value->op == IR_ARGUMENT)
        return true;
    if (value->op == IR_LOAD)
        return value->space == IR_PARAMETER || value->space == IR_CONSTANT ? is_uniform(value->operands[0], depth + 1) : false;
    if (value->op == IR_SPECIAL)
        return value->special[1] == 'n'; // %ntid, %nctaid
    if (depth > MAX_DEPTH || !ir_is_pure(value) || value->op == IR_INTRINSIC)
        return false;
    for (uint32_t k = 0; k < value->operand_count; k++)
        if (!is_uniform(value->operands[k], depth + 1))
            return false;
    return true;
}

static bool can_copy(const Loop *loop, uint32_t *size)
{
    *size = 0;
    for (uint32_t k = 0; k < loop->block_count; k++)
        for (const IrInstruction *i = loop->blocks[k]->first; i; i = i->next) {
            if (!ir_is_terminator(i) && ir_effects(i) & INTRINSIC_CONVERGENT)
                return false;
            *size += i->op != IR_PHI;
        }
    return *size <= MAX_SIZE;
}

static bool can_unswitch_on(const Unswitching *u, const Loop *loop, const IrInstruction *value)
{
    return !ir_is_constant(value) && is_loop_invariant(u->loops, loop, value) && is_uniform(value, 0);
}

static IrInstruction *find_condition(const Unswitching *u, const Loop *loop)
{
    for (uint32_t k = 0; k < loop->block_count; k++)
        for (const IrInstruction *i = loop->blocks[k]->first; i; i = i->next) {
            const bool is_branch = i->op == IR_BRANCH && i->target[0] != i->target[1], is_select = i->op == IR_SELECT;
            if ((is_branch || is_select) && can_unswitch_on(u, loop, i->operands[0]))
                return i->operands[0];
            if (i->op != IR_AND && i->op != IR_OR)
                continue;
            for (uint32_t o = 0; o < 2 && i->type == IR_PRED; o++)
                if (can_unswitch_on(u, loop, i->operands[o]))
                    return i->operands[o];
        }
    return NULL;
}

static void substitute(Unswitching *u, const Loop *loop, const Clone *clone, IrInstruction *condition, bool value)
{
    IrInstruction *constant = ir_integer(u->module, u->function, IR_PRED, value);
    for (uint32_t k = 0; k < loop->block_count; k++) {
        IrBlock *block = clone ? cloned_block(clone, loop->blocks[k]) : loop->blocks[k];
        for (IrInstruction *i = block->first; i; i = i->next)
            for (uint32_t o = 0; o < i->operand_count; o++)
                if (i->operands[o] == condition)
                    ir_set_operand(i, o, constant);
    }
}

static bool unswitch(Unswitching *u, const Loop *loop)
{
    uint32_t size;
    IrBlock *preheader = loop_preheader(u->loops, loop);
    if (!preheader || !can_copy(loop, &size) || u->instructions + size > u->module->max_instructions)
        return false;
    IrInstruction *condition = find_condition(u, loop);
    if (!condition)
        return false;
    u->instructions += size;
    demote_outside_uses(u->module, u->function, u->loops, loop);
    IrBlock *insert_before = block_after_loop(u->loops, loop);
    IrBlock *first_preheader = ir_new_block_before(u->module, loop->header), *second_preheader = ir_new_block_before(u->module, insert_before ? insert_before : loop->header);
    const Clone *clone = clone_blocks(u->module, u->function, loop->blocks, loop->block_count, insert_before ? insert_before : loop->header);
    IrBlock *copied_header = cloned_block(clone, loop->header);
    const uint32_t from = ir_edge_index(preheader, 0);
    IrInstruction *starts[MAX_PHIS];
    uint32_t count = 0;
    for (const IrInstruction *phi = loop->header->first; phi->op == IR_PHI; phi = phi->next)
        starts[count++] = phi->operands[from];
    ir_remove_predecessor(loop->header, from);
    ir_remove(preheader->last);
    ir_branch(u->module, preheader, condition, first_preheader, second_preheader);
    ir_jump(u->module, first_preheader, loop->header);
    ir_jump(u->module, second_preheader, copied_header);
    count = 0;
    for (IrInstruction *phi = loop->header->first; phi->op == IR_PHI; phi = phi->next)
        ir_add_operand(u->module, phi, starts[count++]);
    count = 0;
    for (IrInstruction *phi = copied_header->first; phi->op == IR_PHI; phi = phi->next)
        ir_add_operand(u->module, phi, starts[count++]);
    substitute(u, loop, NULL, condition, true);
    substitute(u, loop, clone, condition, false);
    return true;
}

// Unswitches each loop on at most one condition.
static bool unswitch_round(Unswitching *u)
{
    loops_simplify(u->module, u->function);
    u->loops = loops_of(u->module, u->function, dominators_of(u->module, u->function));
    bool changed = false;
    for (Loop *loop = u->loops->all; loop; loop = loop->next) {
        if (loop->is_changed || !loop_latch(u->loops, loop) || ir_count_phis(loop->header) >= MAX_PHIS || !unswitch(u, loop))
            continue;
        changed = true;
        for (Loop *outer = loop; outer; outer = outer->parent)
            outer->is_changed = true;
    }
    return changed;
}

bool unswitch_loops(IrModule *module, IrFunction *function)
{
    Unswitching u = {.module = module, .function = function, .instructions = count_instructions(module)};
    bool changed = false;
    for (uint32_t round = 0; round < MAX_UNSWITCHED && unswitch_round(&u); round++) {
        promote_variables(module, function);
        simplify_values(module, function);
        simplify_control_flow(module, function);
        changed = true;
    }
    return changed;
}
