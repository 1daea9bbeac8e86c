// bit_tests.c: tests of single bits whose results are values, as LLVM selects instructions for them. A predicate (x & 8) != 0 that an
// instruction such as vote takes is (x >> 3 & 1) == 1. c ? 0 : -1 selects by the inverse comparison.
#include "compiler/known.h"
#include "compiler/simplify.h"

static bool is_integer(const IrInstruction *value, int64_t integer)
{
    return value->op == IR_INTEGER && value->integer == integer;
}

static bool is_only_value(const IrInstruction *compare)
{
    for (const IrUse *use = compare->uses; use; use = use->next)
        if (use->user->op == IR_BRANCH || use->user->op == IR_SELECT)
            return false;
    return true;
}

static bool shift_bit(IrModule *module, IrFunction *function, IrInstruction *i)
{
    IrInstruction *bits = i->operands[0];
    if (i->compare != IR_NOT_EQUAL || !is_integer(i->operands[1], 0) || bits->op != IR_AND || power_of_two(bits->operands[1]) <= 0 || !is_only_value(i))
        return false;
    IrInstruction *shifted = ir_binary(module, i, IR_SHR, bits->operands[0], ir_integer(module, function, IR_B32, power_of_two(bits->operands[1])), 0);
    IrInstruction *one = ir_integer(module, function, bits->type, 1);
    ir_replace(i, ir_compare(module, i, IR_EQUAL, ir_binary(module, i, IR_AND, shifted, one, 0), one, 0));
    return true;
}

static bool invert_selection(IrModule *module, IrInstruction *i)
{
    IrInstruction *c = i->operands[0], *a = i->operands[1], *b = i->operands[2];
    if (c->op != IR_COMPARE || ir_is_float_type(c->operands[0]->type) || !is_integer(a, 0) || !is_integer(b, -1))
        return false;
    IrInstruction *inverse = ir_compare(module, i, inverse_compare(c->compare), c->operands[0], c->operands[1], c->flags);
    ir_replace(i, ir_select(module, i, inverse, b, a));
    return true;
}

bool select_bit_tests(IrModule *module, IrFunction *function)
{
    bool changed = false;
    for (IrBlock *block = function->first; block; block = block->next)
        for (IrInstruction *i = block->first, *next; i; i = next) {
            next = i->next;
            if (i->op == IR_SELECT)
                changed |= invert_selection(module, i);
        }
    for (IrBlock *block = function->first; block; block = block->next)
        for (IrInstruction *i = block->first, *next; i; i = next) {
            next = i->next;
            if (i->op == IR_COMPARE)
                changed |= shift_bit(module, function, i);
        }
    return changed;
}
