// simplify_other.c: conversions, floating-point operations and pointers. Every rounding is kept: a floating-point operation is
// replaced only by one that gives identical bits for all inputs.
#include "compiler/intrinsics.h"
#include "compiler/simplify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- Conversions

static IrInstruction *reconvert(Simplifier *s, IrInstruction *i, IrInstruction *value, uint32_t flags)
{
    return value->type == i->type ? value : ir_convert(s->module, i, i->type, value, flags);
}

static bool is_integer_type(IrType type)
{
    return type >= IR_B8 && type <= IR_B64;
}

static IrInstruction *combine_conversions(Simplifier *s, IrInstruction *i)
{
    const IrInstruction *inner = i->operands[0];
    IrInstruction *value = inner->operands[0];
    if (!is_integer_type(i->type) || !is_integer_type(inner->type))
        return NULL;
    const uint32_t to = ir_bits(i->type), middle = ir_bits(inner->type), from = ir_bits(value->type);
    if (value->type == IR_PRED)
        return to <= middle || !((inner->flags ^ i->flags) & IR_SIGNED) || !(inner->flags & IR_SIGNED) ? reconvert(s, i, value, inner->flags & IR_SIGNED) : NULL;
    if (!is_integer_type(value->type))
        return NULL;
    if (middle > from && to > from) // extended, then extended further or partly truncated
        return to <= middle || !((inner->flags ^ i->flags) & IR_SIGNED) || !(inner->flags & IR_SIGNED)
                   ? reconvert(s, i, value, inner->flags & IR_SIGNED) : NULL;
    if (to <= middle && to <= from) // truncated as a whole
        return reconvert(s, i, value, 0);
    if (middle < from && to == from && !(i->flags & IR_SIGNED)) // truncated, then zero-extended
        return build_simplified(s, i, IR_AND, value, ir_integer(s->module, s->function, i->type, (int64_t)type_mask(inner->type)), 0);
    return NULL;
}

// Whether the low 32 bits can be computed without the high ones.
static bool is_truncatable(const IrInstruction *value, uint32_t depth)
{
    if (value->op == IR_INTEGER || (value->op == IR_CONVERT && value->operands[0]->type == IR_B32))
        return true;
    if (depth > 3 || !ir_has_one_use(value))
        return false;
    switch (value->op) {
    case IR_ADD: case IR_SUB: case IR_MUL: case IR_AND: case IR_OR: case IR_XOR:
        return is_truncatable(value->operands[0], depth + 1) && is_truncatable(value->operands[1], depth + 1);
    case IR_SHL:
        return is_truncatable(value->operands[0], depth + 1) && has_constant(value, 1) && unsigned_value(value->operands[1]) < 32;
    default:
        return false;
    }
}

// Truncates the operands of arithmetic instead of its result.
static IrInstruction *truncate_operation(Simplifier *s, IrInstruction *i)
{
    const IrInstruction *value = i->operands[0];
    if (i->type != IR_B32 || value->type != IR_B64 || !is_truncatable(value, 0))
        return NULL;
    switch (value->op) {
    case IR_ADD: case IR_SUB: case IR_MUL: case IR_AND: case IR_OR: case IR_XOR: {
        IrInstruction *a = ir_convert(s->module, i, IR_B32, value->operands[0], 0), *b = ir_convert(s->module, i, IR_B32, value->operands[1], 0);
        return build_simplified(s, i, value->op, a, b, 0);
    }
    case IR_SHL:
        return build_simplified(s, i, IR_SHL, ir_convert(s->module, i, IR_B32, value->operands[0], 0), value->operands[1], 0);
    default:
        return NULL;
    }
}

static IrInstruction *simplify_widening(Simplifier *s, IrInstruction *i)
{
    if ((i->flags & IR_SIGNED) && is_never_negative(i->operands[0])) {
        i->flags &= ~IR_SIGNED;
        s->changed = true;
    }
    return NULL;
}

// A load of a narrow type can extend the value itself.
static IrInstruction *extend_load(Simplifier *s, IrInstruction *i)
{
    IrInstruction *load = i->operands[0];
    if (load->op != IR_LOAD || (load->flags & IR_VOLATILE) || !ir_has_one_use(load) || load->memory != load->type || ir_bits(load->type) >= ir_bits(i->type) ||
        (load->type != IR_B8 && load->type != IR_B16))
        return NULL;
    IrInstruction *wide = ir_clone(s->module, s->function, load);
    ir_link_before(load, wide);
    wide->type = i->type;
    wide->flags = (load->flags & ~IR_SIGNED) | (i->flags & IR_SIGNED);
    return wide;
}

IrInstruction *simplify_conversion(Simplifier *s, IrInstruction *i)
{
    IrInstruction *value = i->operands[0];
    if (value->op == IR_UNDEFINED)
        return ir_undefined(s->module, s->function, i->type);
    if (i->op == IR_BITCAST) {
        if (value->type == i->type)
            return value;
        if (s->is_late && value->op == IR_LOAD && value->memory == value->type && ir_has_one_use(value)) { // is loaded as the other type
            value->memory = value->type = i->type;
            return value;
        }
        return value->op == IR_BITCAST ? value->operands[0]->type == i->type ? value->operands[0]
                                       : ir_insert_before(s->module, i, IR_BITCAST, i->type, 1, &value->operands[0]) : NULL;
    }
    if (value->type == i->type)
        return value;
    if (i->type == IR_PRED && !ir_is_float_type(value->type))
        return ir_compare(s->module, i, IR_NOT_EQUAL, value, constant_like(s, value, 0), 0);
    if (!(i->flags & IR_SIGNED) && is_lowest_bit(value, i->type))
        return value->operands[0];
    if (value->op == IR_CONVERT) {
        IrInstruction *combined = combine_conversions(s, i);
        if (combined)
            return combined;
    }
    if (is_integer_type(i->type) && is_integer_type(value->type)) {
        IrInstruction *load = extend_load(s, i);
        if (load)
            return load;
        if (ir_bits(i->type) < ir_bits(value->type))
            return truncate_operation(s, i);
        return simplify_widening(s, i);
    }
    return NULL;
}

// ---- Floats

static bool is_real(const IrInstruction *value, double real)
{
    return value->op == IR_REAL && value->real == real && signbit(value->real) == signbit(real);
}

static bool has_exact_reciprocal(const IrInstruction *value)
{
    int exponent;
    if (value->op != IR_REAL || value->real == 0 || !isfinite(value->real) || fabs(frexp(value->real, &exponent)) != 0.5)
        return false;
    return value->type == IR_F64 ? abs(exponent) < 1000 : value->type == IR_F32 && abs(exponent) < 120;
}

IrInstruction *simplify_float(Simplifier *s, IrInstruction *i)
{
    if (i->op == IR_NEG)
        return i->operands[0]->op == IR_NEG ? i->operands[0]->operands[0] : NULL;
    if (i->operand_count < 2 || (i->type != IR_F32 && i->type != IR_F64))
        return NULL;
    IrInstruction *a = i->operands[0], *b = i->operands[1];
    if ((i->op == IR_ADD || i->op == IR_MUL) && a->op == IR_REAL && b->op != IR_REAL) {
        ir_set_operand(i, 0, b);
        ir_set_operand(i, 1, a);
        s->changed = true;
        return NULL;
    }
    switch (i->op) {
    case IR_ADD:
        if (is_real(b, -0.0))
            return a;
        if (b->op == IR_NEG && !(i->flags & IR_EXACT))
            return build_simplified(s, i, IR_SUB, a, b->operands[0], i->flags);
        if (a->op == IR_NEG && !(i->flags & IR_EXACT))
            return build_simplified(s, i, IR_SUB, b, a->operands[0], i->flags);
        return NULL;
    case IR_SUB:
        if (is_real(b, 0.0))
            return a;
        if (is_real(a, -0.0))
            return ir_insert_before(s->module, i, IR_NEG, i->type, 1, &b);
        if (b->op == IR_REAL && !(i->flags & IR_EXACT))
            return build_simplified(s, i, IR_ADD, a, ir_real(s->module, s->function, i->type, -b->real), i->flags);
        if (b->op == IR_NEG && !(i->flags & IR_EXACT))
            return build_simplified(s, i, IR_ADD, a, b->operands[0], i->flags);
        return NULL;
    case IR_MUL:
        if (is_real(b, 1.0))
            return a;
        if (is_real(b, -1.0))
            return ir_insert_before(s->module, i, IR_NEG, i->type, 1, &a);
        if (is_real(b, 2.0) && s->is_late && !(i->flags & IR_EXACT))
            return build_simplified(s, i, IR_ADD, a, a, i->flags);
        return NULL;
    case IR_DIV:
        if (is_real(b, 1.0))
            return a;
        if (has_exact_reciprocal(b) && !(i->flags & IR_EXACT))
            return build_simplified(s, i, IR_MUL, a, ir_real(s->module, s->function, i->type, 1 / b->real), 0);
        return NULL;
    default:
        return NULL;
    }
}

// ---- Pointers

static IrInstruction *simplify_offset(Simplifier *s, IrInstruction *i)
{
    IrInstruction *pointer = i->operands[0];
    if (i->operand_count == 1 && i->integer == 0)
        return pointer;
    if (i->operand_count == 2 && has_constant(i, 1)) {
        const uint32_t scale = i->scale ? i->scale : 1;
        const int64_t index = i->operands[1]->type == IR_B32 && !(i->flags & IR_SIGNED) ? (int64_t)unsigned_value(i->operands[1]) : i->operands[1]->integer;
        IrInstruction *constant = ir_insert_before(s->module, i, IR_OFFSET, i->type, 1, &pointer);
        constant->space = i->space;
        constant->scale = 1;
        constant->integer = i->integer + index * (int64_t)scale;
        return constant;
    }
    if (i->operand_count == 1 && pointer->op == IR_OFFSET && pointer->operand_count == 1) {
        IrInstruction *combined = ir_insert_before(s->module, i, IR_OFFSET, i->type, 1, pointer->operands);
        combined->space = i->space;
        combined->scale = 1;
        combined->integer = i->integer + pointer->integer;
        return combined;
    }
    return NULL;
}

IrInstruction *simplify_pointer(Simplifier *s, IrInstruction *i)
{
    IrInstruction *pointer = i->operands[0];
    if (i->op == IR_OFFSET)
        return simplify_offset(s, i);
    if (i->op == IR_TO_GENERIC && pointer->op == IR_FROM_GENERIC && pointer->space == i->space)
        return pointer->operands[0];
    if (i->op == IR_FROM_GENERIC && pointer->op == IR_TO_GENERIC && pointer->space == i->space)
        return pointer->operands[0];
    return NULL;
}

IrInstruction *simplify_intrinsic(Simplifier *s, IrInstruction *i)
{
    static const struct { const char *name; IrSpace space; } tests[] = {{"__isGlobal", IR_GLOBAL}, {"__isShared", IR_SHARED}};
    for (uint32_t k = 0; k < 2 && i->operand_count == 1 && i->operands[0]->op == IR_TO_GENERIC; k++)
        if (strcmp(i->intrinsic->name, tests[k].name) == 0)
            return constant_like(s, i, i->operands[0]->space == tests[k].space);
    return NULL;
}
