// constant_values.c: conversions of constants, and the entry points of constant evaluation.
#include "compiler/host.h"

#include <math.h>
#include <string.h>

int64_t constant_wrap(const Type *type, int64_t value)
{
    type = type->kind == TYPE_ENUM ? type->target : type;
    switch (type->kind) {
    case TYPE_BOOL: return value != 0;
    case TYPE_CHAR: case TYPE_SIGNED_CHAR: return (int8_t)value;
    case TYPE_UNSIGNED_CHAR: return (uint8_t)value;
    case TYPE_SHORT: return (int16_t)value;
    case TYPE_UNSIGNED_SHORT: return (uint16_t)value;
    case TYPE_INT: return (int32_t)value;
    case TYPE_UNSIGNED: return (uint32_t)value;
    default: return value;
    }
}

double constant_rounded(const Type *type, double value)
{
    return type->kind == TYPE_FLOAT ? (double)(float)value : value;
}

// Out-of-range values saturate, as PTX's cvt does.
static int64_t integer_of_real(const Type *to, double value)
{
    if (isnan(value))
        return 0;
    if (!type_is_signed(to))
        return value <= -9223372036854775808.0 ? INT64_MIN : value < 0 ? (int64_t)value : value >= 18446744073709551616.0 ? -1 : (int64_t)(uint64_t)value;
    return value >= 9223372036854775808.0 ? INT64_MAX : value < -9223372036854775808.0 ? INT64_MIN : (int64_t)value;
}

Constant constant_convert(const Type *from, const Type *to, Constant value)
{
    if (to->kind == TYPE_BOOL)
        return (Constant){.integer = value.is_real ? value.real != 0 : value.integer != 0 || value.variable || value.function};
    if (type_is_real(to)) {
        if (value.is_real)
            return (Constant){.is_real = true, .real = constant_rounded(to, value.real)};
        const bool is_signed = type_is_signed(from) || from->size < 8;
        if (to->kind == TYPE_FLOAT) // rounded once
            return (Constant){.is_real = true, .real = is_signed ? (float)value.integer : (float)(uint64_t)value.integer};
        return (Constant){.is_real = true, .real = is_signed ? (double)value.integer : (double)(uint64_t)value.integer};
    }
    if (value.is_real)
        return (Constant){.integer = constant_wrap(to, integer_of_real(to, value.real))};
    if (!value.variable && !value.function)
        value.integer = constant_wrap(to, value.integer);
    return value;
}

bool evaluate_fail(Evaluator *v, const Expression *e, const char *reason)
{
    if (!v->reason) {
        v->reason = reason;
        v->at = e ? e->start : 0;
        v->length = e ? expression_length(e) : 0;
        if (v->host)
            host_note_position(v);
    }
    return false;
}

bool constant_evaluate(Compiler *c, Expression *e, Constant *value)
{
    if (e->kind == EXPRESSION_CONSTANT) {
        *value = e->constant;
        return true;
    }
    if (expression_is_unknown(e) || e->type->kind == TYPE_RECORD)
        return false;
    Evaluator v = {.compiler = c};
    return evaluate_scalar(&v, e, value);
}

bool constant_condition(Compiler *c, Expression *e, bool *value)
{
    Constant constant;
    c->silent++;
    const bool known = constant_evaluate(c, e, &constant);
    c->silent--;
    *value = known && (constant.is_real ? constant.real != 0 : constant.integer != 0 || constant.variable || constant.function);
    return known;
}

static bool may_be_constant(const Variable *v)
{
    const Type *type = v->type;
    return v->is_initialised && !v->is_evaluated && v->initialiser && !v->is_parameter && ((type->qualifiers & TYPE_CONST) || v->is_constexpr) &&
           !(type->qualifiers & TYPE_VOLATILE) && type->kind != TYPE_RECORD && type->kind != TYPE_ARRAY && !type_is_any_reference(type) &&
           !type_is_unknown(type);
}

bool constant_of_variable(Compiler *c, Variable *variable, Constant *value)
{
    if (!variable->has_constant && may_be_constant(variable)) {
        c->silent++;
        variable->is_evaluated = true;
        variable->has_constant = constant_evaluate(c, variable->initialiser, &variable->constant);
        variable->is_evaluated = false;
        c->silent--;
    }
    *value = variable->constant;
    return variable->has_constant;
}
