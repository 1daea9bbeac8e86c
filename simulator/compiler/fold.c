// fold.c: constant folding, with the GPU's arithmetic. Operations that are undefined in C (division by zero, shifts by the width) are not
// folded.
#include "compiler/intrinsics.h"
#include "compiler/simplify.h"

#include <math.h>
#include <string.h>

static IrInstruction *integer(Simplifier *s, IrType type, int64_t value)
{
    return ir_integer(s->module, s->function, type, value);
}

bool fold_compare(IrCompare compare, bool is_signed, IrType type, int64_t a, int64_t b)
{
    const uint64_t mask = type_mask(type), ua = (uint64_t)a & mask, ub = (uint64_t)b & mask;
    const bool less = is_signed && type != IR_PRED ? a < b : ua < ub;
    switch (compare) {
    case IR_EQUAL: return a == b;
    case IR_NOT_EQUAL: return a != b;
    case IR_LESS: return less;
    case IR_LESS_EQUAL: return less || a == b;
    case IR_GREATER: return !less && a != b;
    default: return !less;
    }
}

static uint64_t high_product(IrType type, bool is_signed, int64_t a, int64_t b)
{
    const uint32_t bits = ir_bits(type);
    if (is_signed)
        return (uint64_t)((__int128)a * b >> bits);
    return (uint64_t)((unsigned __int128)((uint64_t)a & type_mask(type)) * ((uint64_t)b & type_mask(type)) >> bits);
}

static IrInstruction *fold_division(Simplifier *s, const IrInstruction *i, int64_t a, int64_t b)
{
    const uint64_t mask = type_mask(i->type), ua = (uint64_t)a & mask, ub = (uint64_t)b & mask;
    if (!ub || ((i->flags & IR_SIGNED) && b == -1))
        return NULL;
    if (i->op == IR_DIV)
        return integer(s, i->type, i->flags & IR_SIGNED ? a / b : (int64_t)(ua / ub));
    return integer(s, i->type, i->flags & IR_SIGNED ? a % b : (int64_t)(ua % ub));
}

static IrInstruction *fold_shift(Simplifier *s, const IrInstruction *i, int64_t a, uint64_t count)
{
    if (count >= ir_bits(i->type))
        return NULL;
    if (i->op == IR_SHL)
        return integer(s, i->type, (int64_t)((uint64_t)a << count));
    return integer(s, i->type, i->flags & IR_SIGNED ? a >> count : (int64_t)(((uint64_t)a & type_mask(i->type)) >> count));
}

static IrInstruction *fold_integers(Simplifier *s, const IrInstruction *i, int64_t a, int64_t b)
{
    const bool is_signed = i->flags & IR_SIGNED;
    const bool less = fold_compare(IR_LESS, is_signed, i->type, a, b);
    switch (i->op) {
    case IR_ADD: return integer(s, i->type, (int64_t)((uint64_t)a + (uint64_t)b));
    case IR_SUB: return integer(s, i->type, (int64_t)((uint64_t)a - (uint64_t)b));
    case IR_MUL: return integer(s, i->type, (int64_t)((uint64_t)a * (uint64_t)b));
    case IR_MUL_HIGH: return integer(s, i->type, (int64_t)high_product(i->type, is_signed, a, b));
    case IR_AND: return integer(s, i->type, a & b);
    case IR_OR: return integer(s, i->type, a | b);
    case IR_XOR: return integer(s, i->type, a ^ b);
    case IR_MIN: return integer(s, i->type, less ? a : b);
    case IR_MAX: return integer(s, i->type, less ? b : a);
    case IR_DIV:
    case IR_REM: return fold_division(s, i, a, b);
    case IR_SHL:
    case IR_SHR: return fold_shift(s, i, a, (uint32_t)b);
    case IR_MUL_WIDE: return integer(s, IR_B64, is_signed ? a * b : (int64_t)((uint64_t)(uint32_t)a * (uint32_t)b));
    case IR_COMPARE: return integer(s, IR_PRED, fold_compare(i->compare, is_signed, i->operands[0]->type, a, b));
    default: return NULL;
    }
}

static bool compare_reals(const IrInstruction *i, double a, double b)
{
    if (isnan(a) || isnan(b))
        return i->compare == IR_NOT_EQUAL || (i->flags & IR_UNORDERED);
    switch ((IrCompare)i->compare) {
    case IR_EQUAL: return a == b;
    case IR_NOT_EQUAL: return a != b;
    case IR_LESS: return a < b;
    case IR_LESS_EQUAL: return a <= b;
    case IR_GREATER: return a > b;
    default: return a >= b;
    }
}

// Computes in double: for these operations, rounding the result to float gives the correctly rounded float result.
static IrInstruction *fold_reals(Simplifier *s, const IrInstruction *i, double a, double b)
{
    if (i->op == IR_COMPARE)
        return integer(s, IR_PRED, compare_reals(i, a, b));
    if ((i->type != IR_F32 && i->type != IR_F64) || (i->flags & IR_APPROXIMATE))
        return NULL;
    switch (i->op) {
    case IR_ADD: return ir_real(s->module, s->function, i->type, a + b);
    case IR_SUB: return ir_real(s->module, s->function, i->type, a - b);
    case IR_MUL: return ir_real(s->module, s->function, i->type, a * b);
    case IR_DIV: return b == 0 ? NULL : ir_real(s->module, s->function, i->type, a / b);
    default: return NULL;
    }
}

static IrInstruction *fold_bitcast(Simplifier *s, const IrInstruction *i)
{
    const IrInstruction *value = i->operands[0];
    if (i->type == value->type)
        return i->operands[0];
    if (value->op == IR_INTEGER && i->type == IR_F32) {
        const int32_t bits = (int32_t)value->integer;
        float single;
        memcpy(&single, &bits, sizeof single);
        return isnan(single) ? NULL : ir_real(s->module, s->function, IR_F32, single);
    }
    if (value->op == IR_INTEGER && i->type == IR_F64) {
        double real;
        memcpy(&real, &value->integer, sizeof real);
        return isnan(real) ? NULL : ir_real(s->module, s->function, IR_F64, real);
    }
    if (value->op == IR_REAL && i->type == IR_B32 && value->type == IR_F32) {
        const float single = (float)value->real;
        int32_t bits;
        memcpy(&bits, &single, sizeof bits);
        return integer(s, IR_B32, bits);
    }
    if (value->op == IR_REAL && i->type == IR_B64) {
        int64_t bits;
        memcpy(&bits, &value->real, sizeof bits);
        return integer(s, IR_B64, bits);
    }
    return NULL;
}

static IrInstruction *real_of_integer(Simplifier *s, IrType type, bool is_signed, const IrInstruction *value)
{
    const uint64_t bits = unsigned_value(value);
    if (type == IR_F32)
        return ir_real(s->module, s->function, type, is_signed ? (double)(float)value->integer : (double)(float)bits);
    if (type == IR_F64)
        return ir_real(s->module, s->function, type, is_signed ? (double)value->integer : (double)bits);
    return NULL;
}

static IrInstruction *integer_of_real(Simplifier *s, IrType type, bool is_signed, double value)
{
    const double limit = ldexp(1, (int)ir_bits(type) - is_signed);
    const double whole = trunc(value);
    if (isnan(value) || whole >= limit || whole < (is_signed ? -limit : 0))
        return NULL;
    return integer(s, type, is_signed ? (int64_t)whole : (int64_t)(uint64_t)whole);
}

static IrInstruction *fold_conversion(Simplifier *s, const IrInstruction *i)
{
    const IrInstruction *value = i->operands[0];
    const bool is_signed = i->flags & IR_SIGNED;
    if (value->op == IR_INTEGER && i->type == IR_PRED)
        return integer(s, IR_PRED, value->integer != 0);
    if (value->op == IR_INTEGER && value->type == IR_PRED && !ir_is_float_type(i->type))
        return integer(s, i->type, is_signed ? -(value->integer & 1) : value->integer & 1);
    if (value->op == IR_INTEGER && ir_is_float_type(i->type))
        return real_of_integer(s, i->type, is_signed && value->type != IR_PRED, value);
    if (value->op == IR_INTEGER)
        return integer(s, i->type, is_signed ? value->integer : (int64_t)unsigned_value(value));
    if (value->type != IR_F32 && value->type != IR_F64)
        return NULL;
    if (i->type == IR_PRED)
        return integer(s, IR_PRED, value->real != 0);
    if (i->type == IR_F32 || i->type == IR_F64)
        return isnan(value->real) ? NULL : ir_real(s->module, s->function, i->type, value->real);
    return ir_is_float_type(i->type) || i->type == IR_B8 ? NULL : integer_of_real(s, i->type, is_signed, value->real);
}

static IrInstruction *fold_unary(Simplifier *s, const IrInstruction *i)
{
    const IrInstruction *value = i->operands[0];
    if (value->op == IR_INTEGER && i->op == IR_NEG)
        return integer(s, i->type, (int64_t)-(uint64_t)value->integer);
    if (value->op == IR_INTEGER && i->op == IR_NOT)
        return integer(s, i->type, ~value->integer);
    if (value->op == IR_INTEGER && i->op == IR_ABS)
        return integer(s, i->type, value->integer < 0 ? (int64_t)-(uint64_t)value->integer : value->integer);
    if (value->op == IR_REAL && i->op == IR_NEG)
        return ir_real(s->module, s->function, i->type, -value->real);
    if (value->op == IR_REAL && i->op == IR_ABS)
        return ir_real(s->module, s->function, i->type, fabs(value->real));
    return NULL;
}

static IrInstruction *fold_known_intrinsic(Simplifier *s, const IrInstruction *i)
{
    const char *name = i->intrinsic->name;
    if (i->operand_count != 1 || i->type != IR_B32)
        return NULL;
    const uint64_t value = unsigned_value(i->operands[0]);
    const bool is_wide = i->operands[0]->type == IR_B64;
    if (strcmp(name, "__popc") == 0 || strcmp(name, "__popcll") == 0)
        return integer(s, IR_B32, __builtin_popcountll(value));
    if (strcmp(name, "__clz") == 0 || strcmp(name, "__clzll") == 0)
        return integer(s, IR_B32, value ? __builtin_clzll(value) - (is_wide ? 0 : 32) : is_wide ? 64 : 32);
    return NULL;
}

IrInstruction *fold_constants(Simplifier *s, IrInstruction *i)
{
    if (!i->operand_count || i->op == IR_PHI || ir_is_terminator(i))
        return NULL;
    for (uint32_t k = 0; k < i->operand_count; k++)
        if (i->operands[k]->op != IR_INTEGER && i->operands[k]->op != IR_REAL)
            return NULL;
    if (i->op == IR_INTRINSIC)
        return i->operands[0]->op == IR_INTEGER ? fold_known_intrinsic(s, i) : NULL;
    if (i->op == IR_BITCAST)
        return fold_bitcast(s, i);
    if (i->op == IR_CONVERT)
        return fold_conversion(s, i);
    if (i->operand_count == 1 && i->op <= IR_ABS)
        return fold_unary(s, i);
    if (i->op == IR_SELECT)
        return i->operands[i->operands[0]->integer ? 1 : 2];
    if (i->operand_count != 2 || i->op > IR_COMPARE)
        return NULL;
    if (i->operands[0]->op == IR_INTEGER)
        return fold_integers(s, i, i->operands[0]->integer, i->operands[1]->integer);
    return fold_reals(s, i, i->operands[0]->real, i->operands[1]->real);
}
