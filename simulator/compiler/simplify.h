// simplify.h: the parts of the pass that simplifies values: fold.c, simplify_integer.c, simplify_compare.c,
// simplify_other.c, and simplify.c, which runs them.
#ifndef SIMPLIFY_H
#define SIMPLIFY_H

#include "compiler/known.h"
#include "compiler/passes.h"

typedef struct Simplifier {
    IrModule *module;
    IrFunction *function;
    bool changed; // an instruction was changed in place
    bool is_late; // loops have been transformed: forms that hide value ranges are allowed
} Simplifier;

// Each returns the replacement of an instruction, or NULL. It may also change the instruction in place, or insert instructions
// before it.
IrInstruction *fold_constants(Simplifier *s, IrInstruction *i);
IrInstruction *simplify_integer(Simplifier *s, IrInstruction *i);
IrInstruction *simplify_compare(Simplifier *s, IrInstruction *i);
IrInstruction *simplify_select(Simplifier *s, IrInstruction *i);
IrInstruction *simplify_conversion(Simplifier *s, IrInstruction *i);
IrInstruction *simplify_float(Simplifier *s, IrInstruction *i);
IrInstruction *simplify_pointer(Simplifier *s, IrInstruction *i);
IrInstruction *simplify_intrinsic(Simplifier *s, IrInstruction *i);

// Creates a binary instruction before `insert_before`, and simplifies it.
IrInstruction *build_simplified(Simplifier *s, IrInstruction *insert_before, IrOp op, IrInstruction *a, IrInstruction *b, uint32_t flags);
IrInstruction *constant_like(Simplifier *s, const IrInstruction *value, int64_t integer);
static inline bool has_constant(const IrInstruction *i, uint32_t operand)
{
    return i->operands[operand]->op == IR_INTEGER;
}
bool fold_compare(IrCompare compare, bool is_signed, IrType type, int64_t a, int64_t b);
bool is_lowest_bit(const IrInstruction *condition, IrType type); // whether it is (x & 1) != 0 of an x of this type
IrCompare swapped_compare(IrCompare compare); // the comparison of exchanged operands
IrCompare inverse_compare(IrCompare compare);

#endif
