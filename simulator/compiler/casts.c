// casts.c: explicit conversions (casts).
#include "compiler/build.h"

static const char *const CAST_NAMES[] = {"cast", "static_cast", "reinterpret_cast", "const_cast", "cast"};

static Expression *report_cast(Compiler *c, Expression *e, Type *from, Type *to, CastKind kind, Position start, Position end)
{
    source_error(c, start, end - start, NULL, "a %s cannot make '%s' of '%s'", CAST_NAMES[kind], type_text(c, to), type_text(c, from));
    return expression_unknown(c, e->start, e->end);
}

static bool is_number(const Type *type)
{
    return type_is_arithmetic(type) || type->kind == TYPE_ENUM;
}

static bool may_cast_scalars(const Type *from, const Type *to, CastKind kind)
{
    const bool all = kind == CAST_C || kind == CAST_FUNCTIONAL;
    if (is_number(from) && is_number(to))
        return kind != CAST_REINTERPRET || from == to;
    if (from->kind == TYPE_POINTER && to->kind == TYPE_POINTER) {
        uint64_t offset;
        if (kind == CAST_CONST)
            return from->target->unqualified == to->target->unqualified;
        if (kind != CAST_STATIC)
            return true;
        const Type *a = from->target->unqualified, *b = to->target->unqualified;
        return a == b || a->kind == TYPE_VOID || b->kind == TYPE_VOID ||
               (a->kind == TYPE_RECORD && b->kind == TYPE_RECORD &&
                (record_derives(a->record, b->record, &offset) || record_derives(b->record, a->record, &offset)));
    }
    if (from->kind == TYPE_NULLPTR)
        return to->kind == TYPE_POINTER || to->kind == TYPE_BOOL || (all && type_is_integer(to));
    if (from->kind == TYPE_POINTER && to->kind == TYPE_BOOL)
        return kind != CAST_REINTERPRET;
    if (from->kind == TYPE_POINTER && type_is_integer(to))
        return (all || kind == CAST_REINTERPRET) && to->size == 8;
    return to->kind == TYPE_POINTER && (type_is_integer(from) || from->kind == TYPE_ENUM) && (all || kind == CAST_REINTERPRET);
}

static Expression *cast_to_reference(Compiler *c, Expression *e, Type *to, CastKind kind, Position start, Position end)
{
    Type *target = to->target;
    if (!e->is_lvalue && to->kind == TYPE_RVALUE_REFERENCE)
        e = expression_lvalue(c, e);
    const bool fits = kind != CAST_REINTERPRET && conversion_rank(c, e, to, true) != FITS_NEVER;
    if (fits && !(to->kind == TYPE_RVALUE_REFERENCE && e->is_lvalue && !e->is_xvalue)) {
        Expression *bound = convert(c, e, to, NULL);
        if (to->kind == TYPE_RVALUE_REFERENCE && bound->kind != EXPRESSION_UNKNOWN && !bound->is_xvalue) {
            bound = expression_unary(c, EXPRESSION_BASE, bound->type, bound);
            bound->is_lvalue = bound->is_xvalue = true;
        }
        return bound;
    }
    if (!e->is_lvalue)
        return report_cast(c, e, e->type, to, kind, start, end);
    const bool same = e->type->unqualified == target->unqualified;
    if (!same && kind != CAST_REINTERPRET && kind != CAST_C)
        return report_cast(c, e, e->type, to, kind, start, end);
    Expression *result;
    if (same) { // an lvalue of the same object, with other qualifiers or as an xvalue
        result = expression_unary(c, EXPRESSION_BASE, target, e);
    } else {
        Expression *address = expression_unary(c, EXPRESSION_ADDRESS, type_pointer(c, e->type), e);
        result = expression_unary(c, EXPRESSION_DEREFERENCE, target,
                                  expression_unary(c, EXPRESSION_BITCAST, type_pointer(c, target), address));
    }
    result->is_lvalue = true;
    result->is_xvalue = to->kind == TYPE_RVALUE_REFERENCE;
    return result;
}

static Expression *cast_value(Compiler *c, Expression *e, Type *to, CastKind kind, Position start, Position end)
{
    if (to->kind == TYPE_VOID)
        return e->type->kind == TYPE_VOID ? e : expression_unary(c, EXPRESSION_CONVERT, type_basic(c, TYPE_VOID), e);
    if (to->kind == TYPE_ARRAY || to->kind == TYPE_FUNCTION)
        return report_cast(c, e, e->type, to, kind, start, end);
    if (to->kind == TYPE_RECORD) {
        if (e->type->kind == TYPE_RECORD && e->type->record == to->record)
            return convert(c, e, to, NULL);
        if (kind == CAST_REINTERPRET || kind == CAST_CONST)
            return report_cast(c, e, e->type, to, kind, start, end);
        return initialise_direct(c, to, &e, 1, start, end);
    }
    if (e->type->kind == TYPE_RECORD) {
        Expression *called = convert_by_operator(c, e, to, true);
        if (!called && is_number(to))
            called = convert_to_arithmetic(c, e);
        return called ? cast_value(c, expression_value(c, called), to, kind, start, end)
                      : report_cast(c, e, e->type, to, kind, start, end);
    }
    if (e->kind == EXPRESSION_FUNCTION)
        return convert(c, e, to, NULL);
    Expression *value = expression_value(c, e);
    if (value->type->kind == TYPE_VOID || !may_cast_scalars(value->type, type_bare(to), kind))
        return report_cast(c, e, expression_decayed_type(c, e), to, kind, start, end);
    if (value->type->kind == TYPE_POINTER && to->kind == TYPE_POINTER && value->type->target->kind == TYPE_RECORD &&
        to->target->kind == TYPE_RECORD && kind != CAST_REINTERPRET) {
        uint64_t offset;
        if (record_derives(to->target->record, value->type->target->record, &offset) && offset) {
            Expression *bytes = expression_unary(c, EXPRESSION_BITCAST, type_pointer(c, type_basic(c, TYPE_CHAR)), value);
            Expression *moved = expression_binary(c, EXPRESSION_OFFSET, bytes->type, bytes,
                                                  expression_integer(c, type_basic(c, TYPE_LONG), -(int64_t)offset, start, end));
            return expression_unary(c, EXPRESSION_BITCAST, type_bare(to), moved);
        }
    }
    if (to->kind == TYPE_POINTER && type_is_integer(type_integer_of(value->type)) && value->type->size != 8)
        value = convert_scalar(c, value, type_basic(c, type_is_signed(value->type) ? TYPE_LONG : TYPE_UNSIGNED_LONG));
    return convert_scalar(c, value, to);
}

Expression *cast_to(Compiler *c, Expression *e, Type *to, CastKind kind, Position start, Position end)
{
    if (e->type->kind == TYPE_INITIALISERS)
        return initialise_list(c, to, e, NULL);
    if (!type_is_unknown(to) && expression_is_unknown(e) && e->kind != EXPRESSION_FUNCTION && parse_is_lenient(c)) {
        Expression *result = expression_new(c, EXPRESSION_CONVERT, type_bare(type_without_reference(to)), start, end);
        result->left = e;
        result->is_lvalue = type_is_any_reference(to);
        return result;
    }
    if (type_is_unknown(to) || (expression_is_unknown(e) && e->kind != EXPRESSION_FUNCTION))
        return expression_unknown(c, start, end);
    Expression *result = type_is_any_reference(to) ? cast_to_reference(c, e, to, kind, start, end)
                                                   : cast_value(c, e, to, kind, start, end);
    if (result == e && (result->start != start || result->end != end)) { // copied, because its source range is that of the cast
        Expression *copy = compile_new(c, Expression);
        *copy = *result;
        result = copy;
    }
    result->start = start;
    result->end = end;
    result->is_zero_literal = false;
    return result;
}
