// thread.c: jump threading. An edge to a block that only branches is redirected to the branch's target if the branch's condition
// is known on that edge.
#include "compiler/simplify.h"

enum { MAX_WALK = 8, MAX_ROUNDS = 8, UNDECIDED = -1 };

typedef struct Threading {
    IrModule *module;
    IrFunction *function;
    const Loops *loops;
} Threading;

// Whether other blocks use the phi, except as a phi's operand on an edge from this block.
static bool is_used_below(const IrInstruction *phi)
{
    for (const IrUse *use = phi->uses; use; use = use->next) {
        const IrInstruction *user = use->user;
        if (user->block != phi->block && (user->op != IR_PHI || user->block->predecessors[use->operand] != phi->block))
            return true;
    }
    return false;
}

// Whether the block has only phis, a branch, and perhaps the comparison for it.
static bool only_branches(const IrBlock *block)
{
    const IrInstruction *end = block->last, *first = ir_first_not_phi(block);
    if (end->op != IR_BRANCH || end->target[0] == end->target[1])
        return false;
    for (const IrInstruction *phi = block->first; phi != first; phi = phi->next)
        if (is_used_below(phi))
            return false;
    return first == end || (first->op == IR_COMPARE && first->next == end && end->operands[0] == first && ir_has_one_use(first));
}

static IrInstruction *value_on_edge(const IrBlock *block, uint32_t edge, IrInstruction *value)
{
    return value->op == IR_PHI && value->block == block ? value->operands[edge] : value;
}

static bool is_header(const Threading *t, const IrBlock *block)
{
    const Loop *loop = t->loops->innermost[block->id];
    return loop && loop->header == block;
}

// Whether the block can end an iteration.
static bool may_end_iteration(const Threading *t, const IrBlock *block)
{
    return is_header(t, block->last->target[0]) || is_header(t, block->last->target[1]);
}

// The condition's value if a branch on the chain of single predecessors that ends at `from` has tested it, else UNDECIDED.
static int decided_before(const IrBlock *from, const IrBlock *to, const IrInstruction *condition)
{
    for (uint32_t steps = 0; steps < MAX_WALK; steps++) {
        const IrInstruction *end = from->last;
        if (end->op == IR_BRANCH && end->operands[0] == condition && end->target[0] != end->target[1])
            return end->target[0] == to;
        if (from->predecessor_count != 1)
            break;
        to = from;
        from = from->predecessors[0];
    }
    return UNDECIDED;
}

static int decided_on_edge(const Threading *t, const IrBlock *block, uint32_t edge)
{
    IrInstruction *condition = value_on_edge(block, edge, block->last->operands[0]);
    if (condition->op == IR_COMPARE && condition->block == block) {
        IrInstruction compare = *condition, *operands[] = {value_on_edge(block, edge, condition->operands[0]), value_on_edge(block, edge, condition->operands[1])};
        Simplifier s = {.module = t->module, .function = t->function};
        compare.operands = operands;
        condition = ir_is_constant(operands[0]) && ir_is_constant(operands[1]) ? fold_constants(&s, &compare) : NULL;
    }
    if (!condition)
        return UNDECIDED;
    if (condition->op == IR_INTEGER)
        return condition->integer != 0;
    return may_end_iteration(t, block) ? UNDECIDED : decided_before(block->predecessors[edge], block, condition);
}

static bool has_edge(const IrBlock *from, const IrBlock *to)
{
    for (uint32_t k = 0; k < ir_target_count(from); k++)
        if (from->last->target[k] == to)
            return true;
    return false;
}

// Edges are not redirected to loop headers: in a spin lock, the lanes without the lock would then repeat a loop of their own
// instead of reconverging with the lane that holds it, which would never run.
static bool thread_edge(const Threading *t, IrBlock *block, uint32_t edge, bool truth)
{
    IrBlock *from = block->predecessors[edge], *to = block->last->target[truth ? 0 : 1];
    if (to == block || is_header(t, to) || has_edge(from, to) || (ir_target_count(from) == 2 && from->last->target[0] == from->last->target[1]))
        return false;
    const uint32_t branch_edge = ir_edge_index(block, truth ? 0 : 1);
    uint32_t count = 0;
    for (const IrInstruction *phi = to->first; phi->op == IR_PHI; phi = phi->next)
        count++;
    IrInstruction **operands = ir_scratch(t->module, (count + 1) * sizeof *operands);
    count = 0;
    for (IrInstruction *phi = to->first; phi->op == IR_PHI; phi = phi->next)
        operands[count++] = value_on_edge(block, edge, phi->operands[branch_edge]);
    ir_redirect(t->module, from, from->last->target[0] == block ? 0 : 1, to);
    count = 0;
    for (IrInstruction *phi = to->first; phi->op == IR_PHI; phi = phi->next)
        ir_add_operand(t->module, phi, operands[count++]);
    return true;
}

static bool thread_block(const Threading *t, IrBlock *block)
{
    if (block->predecessor_count < 2 || is_header(t, block) || !only_branches(block))
        return false;
    bool changed = false;
    for (uint32_t edge = block->predecessor_count; edge-- > 0;) {
        const int decided = decided_on_edge(t, block, edge);
        changed |= decided != UNDECIDED && thread_edge(t, block, edge, decided);
    }
    return changed;
}

bool thread_jumps(IrModule *module, IrFunction *function)
{
    bool changed = false, again = true;
    for (uint32_t round = 0; again && round < MAX_ROUNDS; round++) {
        const Threading t = {.module = module, .function = function, .loops = loops_of(module, function, dominators_of(module, function))};
        again = false;
        for (IrBlock *block = function->first; block; block = block->next)
            again |= thread_block(&t, block);
        if (again)
            simplify_control_flow(module, function);
        changed |= again;
    }
    return changed;
}
