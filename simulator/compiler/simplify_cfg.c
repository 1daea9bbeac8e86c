// simplify_cfg.c: control-flow simplification. Branches on constants become jumps, unreachable blocks are removed, a block is
// merged with its sole successor, and empty blocks are bypassed.
#include "compiler/passes.h"

static bool fold_branch(IrModule *module, IrBlock *block)
{
    IrInstruction *end = block->last;
    if (end->op != IR_BRANCH)
        return false;
    if (end->target[0] == end->target[1]) {
        const uint32_t first = ir_edge_index(block, 0), second = ir_edge_index(block, 1);
        for (IrInstruction *phi = end->target[0]->first; phi->op == IR_PHI; phi = phi->next)
            if (phi->operands[first] != phi->operands[second])
                return false;
        ir_make_jump(module, block, 0);
        return true;
    }
    const IrInstruction *condition = end->operands[0];
    if (condition->op != IR_INTEGER && condition->op != IR_UNDEFINED)
        return false;
    ir_make_jump(module, block, condition->op == IR_INTEGER && condition->integer ? 0 : 1);
    return true;
}

// Merges a block with its only successor, if the block is that successor's only predecessor.
static bool merge_with_successor(IrFunction *function, IrBlock *block)
{
    if (block->last->op != IR_JUMP)
        return false;
    IrBlock *next = block->last->target[0];
    if (next == block || next->predecessor_count != 1 || next == function->first)
        return false;
    while (next->first->op == IR_PHI)
        ir_replace(next->first, next->first->operands[0]);
    ir_remove(block->last);
    for (IrInstruction *i = next->first, *following; i; i = following) {
        following = i->next;
        i->previous = i->next = NULL;
        ir_link_last(block, i);
    }
    next->first = next->last = NULL;
    for (uint32_t k = 0; k < ir_target_count(block); k++) {
        IrBlock *to = block->last->target[k];
        for (uint32_t p = 0; p < to->predecessor_count; p++)
            if (to->predecessors[p] == next)
                to->predecessors[p] = block;
    }
    if (!block->unroll)
        block->unroll = next->unroll;
    next->predecessor_count = 0;
    ir_remove_block(next);
    return true;
}

static bool is_predecessor(const IrBlock *block, const IrBlock *successor)
{
    for (uint32_t k = 0; k < successor->predecessor_count; k++)
        if (successor->predecessors[k] == block)
            return true;
    return false;
}

// An empty block before a block with phis can be bypassed if none of its predecessors is also a predecessor of that block.
static bool can_skip(const IrBlock *block, const IrBlock *to)
{
    if (to->first->op != IR_PHI && !(block->first->op == IR_PHI))
        return true;
    for (uint32_t k = 0; k < block->predecessor_count; k++)
        if (is_predecessor(block->predecessors[k], to))
            return false;
    return true;
}

static bool is_empty(const IrBlock *block)
{
    return block->first == block->last && block->last->op == IR_JUMP;
}

static bool skip_block(IrModule *module, IrFunction *function, IrBlock *block)
{
    IrBlock *to = block->last->op == IR_JUMP ? block->last->target[0] : NULL;
    if (!to || to == block || block == function->first || !is_empty(block) || !block->predecessor_count || !can_skip(block, to))
        return false;
    const uint32_t index = ir_edge_index(block, 0);
    while (block->predecessor_count) {
        IrBlock *from = block->predecessors[0];
        const uint32_t target = from->last->target[0] == block ? 0 : 1;
        ir_redirect(module, from, target, to);
        for (IrInstruction *phi = to->first; phi->op == IR_PHI; phi = phi->next)
            ir_add_operand(module, phi, phi->operands[index]);
    }
    ir_remove_block(block);
    return true;
}

// Removes a branch with one or two empty arms that meet at once, if no phi where they meet depends on it.
static bool remove_empty_diamond(IrModule *module, IrBlock *block)
{
    IrInstruction *end = block->last;
    if (end->op != IR_BRANCH)
        return false;
    IrBlock *ends[2];
    for (uint32_t k = 0; k < 2; k++) {
        IrBlock *arm = end->target[k];
        ends[k] = is_empty(arm) && arm->predecessor_count == 1 ? arm->last->target[0] : arm;
    }
    if (ends[0] != ends[1] || (ends[0] == end->target[0] && ends[1] == end->target[1]) || ends[0] == block)
        return false;
    const IrBlock *from[2];
    for (uint32_t k = 0; k < 2; k++)
        from[k] = end->target[k] == ends[0] ? block : end->target[k];
    for (const IrInstruction *phi = ends[0]->first; phi->op == IR_PHI; phi = phi->next) {
        const IrInstruction *values[2] = {NULL, NULL};
        for (uint32_t k = 0; k < 2; k++)
            for (uint32_t p = 0; p < ends[0]->predecessor_count; p++)
                if (ends[0]->predecessors[p] == from[k])
                    values[k] = phi->operands[p];
        if (values[0] != values[1])
            return false;
    }
    ir_make_jump(module, block, end->target[0] == ends[0] ? 1 : 0);
    return true;
}

bool simplify_control_flow(IrModule *module, IrFunction *function)
{
    bool changed = false;
    for (bool again = true; again;) {
        again = false;
        for (IrBlock *block = function->first; block; block = block->next)
            again |= fold_branch(module, block); // first, so that no edge from an unreachable block is redirected
        ir_remove_unreachable(module, function);
        for (IrBlock *block = function->first, *next; block; block = next) {
            while (fold_branch(module, block) || remove_empty_diamond(module, block))
                again = true;
            next = block->next;
            while (merge_with_successor(function, block)) {
                again = true;
                next = block->next;
            }
            again |= skip_block(module, function, block);
        }
        changed |= again;
    }
    return changed;
}
