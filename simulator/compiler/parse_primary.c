// parse_primary.c: literals, names and parentheses.
#include "compiler/build.h"

#include <string.h>

// ---- literals

static Expression *parse_number(Compiler *c, const Token *t)
{
    NumberValue v;
    parse_advance(c);
    const Position end = parse_end(c);
    if (!literal_number(c, t, &v))
        return expression_unknown(c, t->position, end);
    if (v.is_real)
        return expression_real(c, type_basic(c, v.is_float ? TYPE_FLOAT : TYPE_DOUBLE), v.real, t->position, end);
    TypeKind kind = v.is_long_long ? (v.is_unsigned ? TYPE_UNSIGNED_LONG_LONG : TYPE_LONG_LONG)
                    : v.is_long    ? (v.is_unsigned ? TYPE_UNSIGNED_LONG : TYPE_LONG)
                    : v.is_unsigned ? (v.integer > UINT32_MAX ? TYPE_UNSIGNED_LONG : TYPE_UNSIGNED)
                    : v.integer <= INT32_MAX ? TYPE_INT
                    : !v.is_decimal && v.integer <= UINT32_MAX ? TYPE_UNSIGNED : TYPE_LONG;
    if (v.integer > INT64_MAX && kind == TYPE_LONG)
        kind = TYPE_UNSIGNED_LONG;
    if (v.integer > INT64_MAX && kind == TYPE_LONG_LONG)
        kind = TYPE_UNSIGNED_LONG_LONG;
    Expression *e = expression_integer(c, type_basic(c, kind), (int64_t)v.integer, t->position, end);
    e->is_zero_literal = v.integer == 0;
    return e;
}

static Expression *parse_character(Compiler *c, const Token *t)
{
    int64_t value = 0;
    bool plain;
    parse_advance(c);
    if (!literal_character(c, t, &value, &plain))
        return expression_unknown(c, t->position, parse_end(c));
    return expression_integer(c, type_basic(c, plain ? TYPE_CHAR : TYPE_INT), value, t->position, parse_end(c));
}

static Expression *parse_string(Compiler *c, const Token *t)
{
    size_t length = 0;
    char *text = compile_copy_text(c, "", 0);
    while (parse_token(c)->kind == TOKEN_STRING) {
        size_t more;
        const char *next = literal_string(c, parse_token(c), &more);
        char *joined = compile_allocate(c, length + more + 1);
        memcpy(joined, text, length);
        memcpy(joined + length, next, more);
        text = joined;
        length += more;
        parse_advance(c);
    }
    Type *element = type_qualified(c, type_basic(c, TYPE_CHAR), TYPE_CONST);
    Expression *e = expression_new(c, EXPRESSION_STRING, type_array(c, element, length + 1), t->position, parse_end(c));
    e->text = text;
    e->length = length;
    e->is_lvalue = true;
    return e;
}

static Expression *function_name(Compiler *c, const Token *t) // __func__
{
    const Function *f = c->parser->state.function;
    Type *element = type_qualified(c, type_basic(c, TYPE_CHAR), TYPE_CONST);
    const char *text = f && f->name ? f->name->text : "";
    Expression *e = expression_new(c, EXPRESSION_STRING, type_array(c, element, strlen(text) + 1), t->position, parse_end(c));
    e->text = text;
    e->length = strlen(text);
    e->is_lvalue = true;
    return e;
}

// ---- names

static bool is_captured(const Compiler *c, const Variable *v)
{
    const Lambda *lambda = c->parser->state.lambda;
    uint32_t depth = 0;
    for (; lambda; lambda = lambda->outer)
        depth++;
    return v->depth < depth && v->space == SPACE_AUTOMATIC && !v->is_static && v->scope && v->scope->kind != SCOPE_NAMESPACE && v->scope->kind != SCOPE_RECORD;
}

static Expression *variable_named(Compiler *c, Variable *v, Position start, Position end)
{
    if (is_captured(c, v)) {
        Constant value;
        if (constant_of_variable(c, v, &value))
            return expression_of_constant(c, v->type, &value, start, end);
        Expression *captured = lambda_captured(c, v, start, end);
        return captured ? captured : expression_unknown(c, start, end);
    }
    const SourceFile *file = source_file_at(c, start);
    if (v->scope && v->scope->kind == SCOPE_NAMESPACE && v->position > start && file && file == source_file_at(c, v->position) && !c->instantiation) {
        source_error(c, start, end - start, "move its declaration to before this function", "'%s' is not declared yet", v->name->text);
        source_note(c, v->position, v->name->length, "'%s' is declared here", v->name->text);
    }
    return expression_variable(c, v, start, end);
}

static Expression *builtin_variable(Compiler *c, const Symbol *symbol, Position start, Position end)
{
    Expression *e = expression_new(c, EXPRESSION_BUILTIN, symbol->type, start, end);
    e->text = symbol->text;
    e->name = symbol->name;
    const Function *f = c->parser->state.function;
    if (f && f->name && !strcmp(f->name->text, "main")) { // nvcc accepts it
        const int silent = c->silent;
        c->silent = 0;
        source_warning(c, start, end - start, "the host chooses how many threads run a kernel; each thread has its own index there",
                       "'%s' is only available in a kernel", symbol->name->text);
        c->silent = silent;
    }
    return e;
}

static Expression *field_named(Compiler *c, Symbol *symbol, const ParsedName *n)
{
    Expression *self = build_self(c, n->start, n->start);
    if (!self) {
        if (c->parser->state.in_check || c->silent)
            return expression_unknown(c, n->start, n->end);
        source_error(c, n->start, n->end - n->start, "name the object: object.member", "'%s' is a member, and there is no object here", n->name->text);
        return expression_unknown(c, n->start, n->end);
    }
    if (expression_is_unknown(self))
        return self;
    (void)symbol;
    ParsedName member = *n;
    Expression *e = build_member(c, self, &member, false, n->start);
    e->start = n->start;
    return e;
}

static Expression *named_function(Compiler *c, const ParsedName *n)
{
    Expression *e = expression_function(c, n->symbol, n->start, n->end);
    e->name = n->name;
    e->is_unqualified = !n->scope && !n->is_global && !n->has_arguments;
    if (n->has_arguments) {
        e->template_arguments = n->arguments;
        e->template_argument_count = n->argument_count;
        e->function = NULL;
        e->type = type_basic(c, TYPE_UNKNOWN);
    }
    const ParserState *state = &c->parser->state;
    const bool is_called = parse_at(c, '(') || parse_at(c, ID_LAUNCH), is_dependent = state->in_pattern || state->in_check || state->unevaluated;
    if (n->has_arguments && !n->symbol->next_overload && !is_called && !is_dependent) { // it names one function, and needs its instance
        e->function = resolve_function(c, e, NULL);
        e->type = e->function ? e->function->type : e->type;
    }
    return e;
}

static Expression *template_named(Compiler *c, const ParsedName *n)
{
    Template *template = n->symbol->template;
    if (template->kind == TEMPLATE_FUNCTION)
        return named_function(c, n);
    if (template->kind == TEMPLATE_VARIABLE) {
        if (!n->has_arguments) {
            source_error(c, n->start, n->end - n->start, compile_format(c, "write %s<...>", n->name->text), "the template '%s' needs arguments", n->name->text);
            return expression_unknown(c, n->start, n->end);
        }
        Symbol *symbol = template_instance(c, template, n->arguments, n->argument_count, n->start);
        return symbol ? expression_variable(c, symbol->variable, n->start, n->end) : expression_unknown(c, n->start, n->end);
    }
    source_error(c, n->start, n->end - n->start, compile_format(c, "write %s<...>", n->name->text), "the template '%s' needs arguments", n->name->text);
    if (parse_at(c, '(') || parse_at(c, '{'))
        parse_skip_group(c);
    return expression_unknown(c, n->start, n->end);
}

static Expression *unknown_name(Compiler *c, const ParsedName *n)
{
    if (n->dependent_scope || c->parser->state.in_pattern)
        return expression_unknown(c, n->start, n->end);
    if (parse_at(c, '(') && !n->scope && !n->is_unknown_scope && !n->has_arguments && !c->silent)
        return named_function(c, n); // argument-dependent lookup may find it
    parse_report_unknown(c, n);
    return expression_unknown(c, n->start, n->end);
}

Expression *parse_name_expression(Compiler *c);

static Expression *parse_name(Compiler *c)
{
    const ParsedName n = parse_qualified_name(c);
    if (!n.name) {
        parse_syntax_error(c, NULL, "expected an expression");
        return expression_unknown(c, n.start, n.start);
    }
    Symbol *symbol = n.symbol;
    if (!symbol && n.name->length == 8 && !strcmp(n.name->text, "__func__"))
        return function_name(c, parse_previous(c));
    if (!symbol)
        return unknown_name(c, &n);
    switch (symbol->kind) {
    case SYMBOL_VARIABLE: return variable_named(c, symbol->variable, n.start, n.end);
    case SYMBOL_CONSTANT: {
        if (!symbol->constant.is_unknown)
            return expression_of_constant(c, symbol->type, &symbol->constant, n.start, n.end);
        if (symbol->dependent) // the parameter of an alias template
            return symbol->dependent;
        Expression *unknown = expression_unknown(c, n.start, n.end);
        unknown->symbol = symbol;
        return unknown;
    }
    case SYMBOL_FUNCTION: return named_function(c, &n);
    case SYMBOL_BUILTIN: return builtin_variable(c, symbol, n.start, n.end);
    case SYMBOL_FIELD: return field_named(c, symbol, &n);
    case SYMBOL_TYPE: case SYMBOL_TEMPLATE: {
        Type *type = parse_named_type(c, &n);
        if (type && (parse_at(c, '(') || parse_at(c, '{')))
            return parse_functional_cast(c, type, n.start);
        if (!type)
            return template_named(c, &n);
        if (!type_is_unknown(type))
            source_error(c, n.start, n.end - n.start, NULL, "'%s' is a type, not a value", type_text(c, type));
        return expression_unknown(c, n.start, n.end);
    }
    case SYMBOL_NAMESPACE:
        source_error(c, n.start, n.end - n.start, NULL, "'%s' is a namespace, not a value", n.name->text);
        return expression_unknown(c, n.start, n.end);
    case SYMBOL_PACK:
        if (!c->silent && !c->parser->state.in_check)
            source_error(c, n.start, n.end - n.start, "write '...' after what uses it", "'%s' is a parameter pack, which must be expanded", n.name->text);
        return expression_unknown(c, n.start, n.end);
    default:
        source_error(c, n.start, n.end - n.start, NULL, "'%s' is declared in a way that only the host understands", n.name->text);
        source_note(c, symbol->position, n.name->length, "'%s' is declared here", n.name->text);
        return expression_unknown(c, n.start, n.end);
    }
}

// ---- parentheses and other primaries

static Expression *parse_parentheses(Compiler *c)
{
    const Position start = parse_token(c)->position;
    Expression *fold = parse_fold(c);
    if (fold)
        return fold;
    parse_advance(c);
    const bool greater = c->parser->state.no_greater;
    c->parser->state.no_greater = false;
    if (parse_at(c, '{')) { // a GNU statement expression
        source_error(c, start, 1, NULL, "({ ... }) is not supported");
        parse_skip_group(c);
        parse_expect(c, ')', "after }");
        c->parser->state.no_greater = greater;
        return expression_unknown(c, start, parse_end(c));
    }
    Expression *inner = parse_expression(c);
    c->parser->state.no_greater = greater;
    parse_expect(c, ')', "after the expression");
    Expression *e = compile_new(c, Expression);
    *e = *inner;
    e->in_parentheses = true;
    e->start = start;
    e->end = parse_end(c);
    return e;
}

static Expression *parse_builtin_offset(Compiler *c) // __builtin_offsetof(type, member)
{
    const Position start = parse_token(c)->position;
    parse_advance(c);
    parse_expect(c, '(', "after offsetof");
    Type *type = parse_type_name(c);
    parse_expect(c, ',', "after the type");
    const Token *t = parse_token(c);
    Symbol *symbol = type->kind == TYPE_RECORD && t->kind == TOKEN_NAME ? scope_find_member(c, type->record->scope, t->name) : NULL;
    parse_advance(c);
    parse_expect(c, ')', "after the member");
    if (!symbol || symbol->kind != SYMBOL_FIELD)
        return expression_unknown(c, start, parse_end(c));
    return expression_integer(c, type_size_t(c), (int64_t)symbol->field->offset, start, parse_end(c));
}

Expression *parse_name_expression(Compiler *c)
{
    const Token *t = parse_token(c);
    switch (t->kind) {
    case TOKEN_NUMBER: return parse_number(c, t);
    case TOKEN_CHARACTER: return parse_character(c, t);
    case TOKEN_STRING: return parse_string(c, t);
    case TOKEN_NAME:
        if (!t->id && t->length == 18 && !memcmp(t->text, "__builtin_offsetof", 18))
            return parse_builtin_offset(c);
        if (!t->id)
            return parse_name(c);
        break;
    default: break;
    }
    switch (t->id) {
    case '(': return parse_parentheses(c);
    case ID_SCOPE: case KEYWORD_OPERATOR: return parse_name(c);
    case '[': return parse_lambda(c);
    case KEYWORD_TRUE: case KEYWORD_FALSE:
        parse_advance(c);
        return expression_integer(c, type_basic(c, TYPE_BOOL), t->id == KEYWORD_TRUE, t->position, parse_end(c));
    case KEYWORD_NULLPTR:
        parse_advance(c);
        return expression_integer(c, type_basic(c, TYPE_NULLPTR), 0, t->position, parse_end(c));
    case KEYWORD_THIS:
        parse_advance(c);
        return build_this(c, t->position, parse_end(c));
    default: break;
    }
    if (parse_at_decltype_scope(c))
        return parse_name(c);
    if (parse_at_type(c) && t->id != KEYWORD_CONST) { // int(x), float{}, typename T::X(...)
        const Specifiers s = parse_specifiers(c);
        if (parse_at(c, '(') || parse_at(c, '{'))
            return parse_functional_cast(c, s.type, t->position);
        source_error(c, t->position, parse_end(c) - t->position, "a cast is (type)value", "'%s' is a type, not a value", type_text(c, s.type));
        return expression_unknown(c, t->position, parse_end(c));
    }
    if (t->kind == TOKEN_END)
        parse_syntax_error(c, NULL, "expected an expression, but the file ends here");
    else if (token_is(t, ')') || token_is(t, ';') || token_is(t, '}') || token_is(t, ']') || token_is(t, ','))
        parse_syntax_error(c, NULL, "expected an expression before '%s'", token_id_text(t->id));
    else
        parse_syntax_error(c, token_is(t, '>') && token_is(parse_previous(c), '=') ? "greater or equal is >=" : NULL, "expected an expression, not '%.*s'",
                           (int)t->length, t->text);
    return expression_unknown(c, t->position, t->position);
}
