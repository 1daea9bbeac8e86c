// branches.c: the final form of branches. A branch whose true target is the next block is inverted: its comparison is inverted, or
// computed again if it has other uses; one of another block gets a NOT. If neither target can fall through, write.c writes two
// branches, as nvcc does.
#include "compiler/intrinsics.h"
#include "compiler/simplify.h"

#include <string.h>

enum { MAX_USES = 64 };

static bool is_invertible_compare(const IrInstruction *value)
{
    return value->op == IR_COMPARE && !(value->compare == IR_EQUAL && (value->flags & IR_UNORDERED));
}

static bool can_invert(const IrInstruction *value, const IrBlock *block, uint32_t depth)
{
    if (!ir_has_one_use(value) || value->block != block || depth > 4)
        return false;
    if (value->op == IR_AND || value->op == IR_OR)
        return can_invert(value->operands[0], block, depth + 1) && can_invert(value->operands[1], block, depth + 1);
    return value->op == IR_NOT || is_invertible_compare(value);
}

static void invert_compare(IrInstruction *compare)
{
    const bool is_equality = compare->compare == IR_EQUAL || compare->compare == IR_NOT_EQUAL;
    compare->compare = inverse_compare(compare->compare);
    if (!ir_is_float_type(compare->operands[0]->type))
        return;
    if (is_equality)
        compare->flags &= ~(uint32_t)IR_UNORDERED;
    else
        compare->flags ^= IR_UNORDERED;
}

static void invert(IrInstruction *value)
{
    if (value->op == IR_COMPARE) {
        invert_compare(value);
    } else if (value->op == IR_NOT) {
        ir_replace(value, value->operands[0]);
    } else {
        value->op = value->op == IR_AND ? IR_OR : IR_AND;
        IrInstruction *a = value->operands[0], *b = value->operands[1];
        invert(a);
        invert(b);
    }
}

static void invert_branch(IrModule *module, IrInstruction *branch)
{
    IrInstruction *condition = branch->operands[0];
    if (is_invertible_compare(condition) && condition->block == branch->block && !ir_has_one_use(condition)) {
        condition = ir_clone(module, branch->block->function, condition);
        ir_link_before(branch, condition);
        ir_set_operand(branch, 0, condition);
    }
    if (can_invert(condition, branch->block, 0))
        invert(condition);
    else {
        IrInstruction *not = ir_insert_before(module, branch, IR_NOT, IR_PRED, 1, &condition);
        not->line = branch->line;
        not->file = branch->file;
        ir_set_operand(branch, 0, not);
    }
    IrBlock *first = branch->target[0];
    branch->target[0] = branch->target[1];
    branch->target[1] = first;
}

// Whether the value is atomicCAS(p, expected, value) == expected. In NVVM this is the instruction's second result, not a comparison.
static bool is_success_of_cas(const IrInstruction *compare)
{
    const IrInstruction *cas = compare->operands[0];
    if (compare->compare != IR_EQUAL || cas->op != IR_INTRINSIC || cas->operand_count < 2 || compare->operands[1] != cas->operands[1])
        return false;
    return strcmp(cas->intrinsic->name, "__i_cas") == 0 || strcmp(cas->intrinsic->name, "__i_cas_y") == 0;
}

// Duplicates a comparison into the blocks that use it, once for each, so that each branch may invert its own.
static bool sink_compare(IrModule *module, IrInstruction *compare)
{
    bool changed = false;
    for (IrUse *use = compare->uses, *next; use; use = next) {
        next = use->next;
        IrInstruction *user = use->user;
        if (user->op == IR_PHI || user->block == compare->block)
            continue;
        IrInstruction *copy = NULL;
        for (IrInstruction *i = ir_first_not_phi(user->block); i && i != user && !copy; i = i->next)
            if (i->op == IR_COMPARE && i->compare == compare->compare && i->operands[0] == compare->operands[0] &&
                i->operands[1] == compare->operands[1] && i->flags == compare->flags)
                copy = i;
        if (!copy) {
            copy = ir_clone(module, compare->block->function, compare);
            ir_link_before(user, copy);
        }
        ir_set_operand(user, use->operand, copy);
        changed = true;
    }
    if (!compare->uses)
        ir_remove(compare);
    return changed;
}

bool sink_compares(IrModule *module, IrFunction *function)
{
    bool changed = false;
    for (IrBlock *block = function->first; block; block = block->next)
        for (IrInstruction *i = block->first, *next; i; i = next) {
            next = i->next;
            if (i->op == IR_COMPARE && i->uses && !is_success_of_cas(i))
                changed |= sink_compare(module, i);
        }
    return changed;
}

// Replaces a comparison by an equal one that dominates it.
static bool share_compares(const Dominators *d)
{
    bool changed = false;
    for (uint32_t k = 0; k < d->count; k++)
        for (IrInstruction *i = d->order[k]->first, *next; i; i = next) {
            next = i->next;
            if (i->op != IR_COMPARE)
                continue;
            uint32_t steps = 0;
            IrInstruction *found = NULL;
            for (const IrUse *use = i->operands[0]->uses; use && !found && steps++ < MAX_USES; use = use->next) {
                IrInstruction *other = use->user;
                if (other != i && other->op == IR_COMPARE && other->compare == i->compare && other->operands[0] == i->operands[0] &&
                    other->operands[1] == i->operands[1] && other->flags == i->flags && value_dominates(d, other, i))
                    found = other;
            }
            if (!found)
                continue;
            ir_replace(i, found);
            changed = true;
        }
    return changed;
}

bool invert_branches(IrModule *module, IrFunction *function)
{
    bool changed = false;
    for (IrBlock *block = function->first; block; block = block->next) {
        IrInstruction *end = block->last;
        if (end->op != IR_BRANCH || end->target[0] == end->target[1] || end->target[0] != block->next)
            continue;
        if (end->target[1]->predecessor_count == 1)
            continue; // both targets are arms of the branch
        invert_branch(module, end);
        changed = true;
    }
    changed |= share_compares(dominators_of(module, function));
    return changed;
}
