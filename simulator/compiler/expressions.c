// expressions.c: creates expression nodes.
#include "compiler/build.h"

#include <stdarg.h>
#include <stdio.h>

Expression *expression_new(Compiler *c, ExpressionKind kind, Type *type, Position start, Position end)
{
    Expression *e = compile_new(c, Expression);
    e->kind = (uint8_t)kind;
    e->type = type;
    e->start = start;
    e->end = end;
    return e;
}

Expression *expression_unknown(Compiler *c, Position start, Position end)
{
    return expression_new(c, EXPRESSION_UNKNOWN, type_basic(c, TYPE_UNKNOWN), start, end);
}

Expression *expression_integer(Compiler *c, Type *type, int64_t value, Position start, Position end)
{
    Expression *e = expression_new(c, EXPRESSION_CONSTANT, type, start, end);
    e->constant.integer = constant_wrap(type, value);
    return e;
}

Expression *expression_real(Compiler *c, Type *type, double value, Position start, Position end)
{
    Expression *e = expression_new(c, EXPRESSION_CONSTANT, type, start, end);
    e->constant = (Constant){.is_real = true, .real = constant_rounded(type, value)};
    return e;
}

Expression *expression_of_constant(Compiler *c, Type *type, const Constant *value, Position start, Position end)
{
    if (value->is_unknown)
        return expression_unknown(c, start, end);
    Expression *e = expression_new(c, EXPRESSION_CONSTANT, type_bare(type), start, end);
    e->constant = *value;
    return e;
}

Expression *expression_variable(Compiler *c, Variable *variable, Position start, Position end)
{
    if (type_is_unknown(variable->type))
        return expression_unknown(c, start, end);
    Expression *e = expression_new(c, EXPRESSION_VARIABLE, type_without_reference(variable->type), start, end);
    e->variable = variable;
    e->is_lvalue = true;
    return e;
}

Expression *expression_function(Compiler *c, Symbol *symbol, Position start, Position end)
{
    Type *type = type_basic(c, TYPE_UNKNOWN);
    Expression *e = expression_new(c, EXPRESSION_FUNCTION, type, start, end);
    e->symbol = symbol;
    if (symbol && symbol->kind == SYMBOL_FUNCTION && !symbol->next_overload) {
        e->function = symbol->function;
        e->type = symbol->function->type;
    }
    return e;
}

Expression *expression_unary(Compiler *c, ExpressionKind kind, Type *type, Expression *left)
{
    Expression *e = expression_new(c, kind, type, left->start, left->end);
    e->left = left;
    return e;
}

Expression *expression_binary(Compiler *c, ExpressionKind kind, Type *type, Expression *left, Expression *right)
{
    Expression *e = expression_new(c, kind, type, left->start, right->end);
    e->left = left;
    e->right = right;
    return e;
}

Type *expression_decayed_type(Compiler *c, const Expression *e)
{
    if (e->kind == EXPRESSION_UNKNOWN || type_is_unknown(e->type))
        return e->type;
    if (e->type->kind == TYPE_ARRAY)
        return type_pointer(c, e->type->target);
    if (e->type->kind == TYPE_FUNCTION)
        return type_pointer(c, e->type);
    return type_bare(e->type);
}

Expression *expression_value(Compiler *c, Expression *e)
{
    if (expression_is_unknown(e))
        return e;
    if (e->type->kind == TYPE_ARRAY) {
        Expression *array = e->is_lvalue ? e : expression_lvalue(c, e);
        return expression_unary(c, EXPRESSION_DECAY, type_pointer(c, e->type->target), array);
    }
    if (e->kind == EXPRESSION_FUNCTION && e->function)
        return expression_unary(c, EXPRESSION_ADDRESS, type_pointer(c, e->type), e);
    if (!e->is_lvalue || e->type->kind == TYPE_RECORD || e->type->kind == TYPE_FUNCTION)
        return e;
    if (e->kind == EXPRESSION_VARIABLE && (e->type->qualifiers & TYPE_CONST) && !(e->type->qualifiers & TYPE_VOLATILE)) {
        Constant value;
        if (constant_of_variable(c, e->variable, &value) && !value.variable && !value.function)
            return expression_of_constant(c, e->type, &value, e->start, e->end);
    }
    return expression_unary(c, EXPRESSION_LOAD, type_bare(e->type), e);
}

Expression *expression_lvalue(Compiler *c, Expression *e)
{
    if (e->is_lvalue || expression_is_unknown(e) || e->kind == EXPRESSION_FUNCTION)
        return e;
    Expression *m = expression_unary(c, EXPRESSION_MATERIALISE, e->type, e);
    m->is_lvalue = m->is_xvalue = true;
    return m;
}

bool expression_is_null_pointer(const Expression *e)
{
    return e->is_zero_literal || (e->kind == EXPRESSION_CONSTANT && e->type->kind == TYPE_NULLPTR);
}

uint32_t expression_length(const Expression *e)
{
    return e->end > e->start ? e->end - e->start : 0;
}

void expression_error(Compiler *c, const Expression *e, const char *help, const char *format, ...)
{
    char text[600];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    source_error(c, e->start, expression_length(e), help, "%s", text);
}

const char *expression_text(Compiler *c, const Expression *e)
{
    const SourceFile *file = source_file_at(c, e->start);
    const uint32_t length = expression_length(e);
    if (!file || length == 0 || length > 40)
        return "...";
    return compile_copy_text(c, file->text + (e->start - file->base), length);
}

const Name *expression_name(const Expression *e)
{
    switch (e->kind) {
    case EXPRESSION_VARIABLE: return e->variable->name;
    case EXPRESSION_MEMBER: return e->field->name;
    case EXPRESSION_FUNCTION: return e->symbol ? e->symbol->name : NULL;
    case EXPRESSION_LOAD: case EXPRESSION_DECAY: case EXPRESSION_CONVERT: return expression_name(e->left);
    default: return NULL;
    }
}
