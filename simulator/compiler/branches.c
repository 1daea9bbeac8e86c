// branches.c: the last form of branches. A branch whose true way follows it in the text is inverted: its comparison is, if nothing
// else needs it, else a not is computed. With two arms nvcc writes two branches, which write.c does.
#include "compiler/passes.h"

static bool can_invert(const IrInstruction *value, uint32_t depth)
{
    if (!ir_has_one_use(value) || depth > 4)
        return false;
    if (value->op == IR_COMPARE)
        return value->operands[0]->type != IR_PRED && !(value->compare == IR_EQUAL && (value->flags & IR_UNORDERED));
    if (value->op == IR_AND || value->op == IR_OR)
        return can_invert(value->operands[0], depth + 1) && can_invert(value->operands[1], depth + 1);
    return value->op == IR_NOT;
}

static void invert_compare(IrInstruction *compare)
{
    static const uint8_t inverse[] = {IR_NOT_EQUAL, IR_EQUAL, IR_GREATER_EQUAL, IR_GREATER, IR_LESS_EQUAL, IR_LESS};
    const bool is_equality = compare->compare == IR_EQUAL || compare->compare == IR_NOT_EQUAL;
    compare->compare = inverse[compare->compare];
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
    if (can_invert(condition, 0))
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

bool invert_branches(IrModule *module, IrFunction *function)
{
    bool changed = false;
    for (IrBlock *block = function->first; block; block = block->next) {
        IrInstruction *end = block->last;
        if (end->op != IR_BRANCH || end->target[0] == end->target[1] || end->target[0] != block->next)
            continue;
        if (end->target[1]->predecessor_count == 1)
            continue; // two arms
        invert_branch(module, end);
        changed = true;
    }
    return changed;
}
