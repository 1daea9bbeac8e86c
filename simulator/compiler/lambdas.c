// lambdas.c: lambdas: a record with a field for each captured variable, and operator().
#include "compiler/build.h"

#include <string.h>

enum { MAX_CAPTURES = 64 };

static Field *capture_field(Compiler *c, Lambda *lambda, Name *name, Type *type, Position at)
{
    Record *r = lambda->record;
    if (r->field_count == MAX_CAPTURES)
        source_abandon(c, at, "a lambda captures more than %d variables", MAX_CAPTURES);
    Field *field = compile_push(c, r->fields, r->field_count, r->field_capacity);
    *field = (Field){.name = name, .position = at, .type = type, .record = r};
    return field;
}

static void set_initialiser(Compiler *c, Lambda *lambda, uint32_t index, Expression *value)
{
    uint32_t count = index;
    Expression **slot = compile_push(c, lambda->initialisers, count, lambda->initialiser_capacity);
    *slot = value;
}

static Field *captured_field(const Record *r, const Name *name)
{
    for (uint32_t k = 0; k < r->field_count; k++)
        if (r->fields[k].name == name)
            return &r->fields[k];
    return NULL;
}

// A variable of the enclosing function as a lambda of `level` from the outside sees it.
static Expression *captured_at(Compiler *c, Lambda *lambda, Variable *v, Position start, Position end)
{
    uint32_t depth = 0;
    for (const Lambda *l = lambda; l; l = l->outer)
        depth++;
    if (v->depth >= depth)
        return expression_variable(c, v, start, end);
    Field *field = captured_field(lambda->record, v->name);
    if (!field) {
        char how = lambda->default_capture;
        if (!how) {
            source_error(c, start, end - start, compile_format(c, "capture it: [%s] or [&]", v->name->text), "the lambda does not capture '%s'", v->name->text);
            return expression_unknown(c, start, end);
        }
        Expression *outer = captured_at(c, lambda->outer, v, start, end);
        if (expression_is_unknown(outer))
            return outer;
        const bool self = v->name->length == 4 && !strcmp(v->name->text, "this");
        const uint32_t index = lambda->record->field_count;
        Type *type = how == '&' && !self ? type_reference(c, outer->type, false) : type_bare(outer->type);
        if (how == '=' && type_is_any_reference(v->type))
            type = type_bare(v->type->target);
        capture_field(c, lambda, v->name, type, start);
        set_initialiser(c, lambda, index, how == '&' && !self ? outer : initialise_copy(c, type, outer, "a capture"));
        field = &lambda->record->fields[index];
    }
    if (type_is_unknown(field->type))
        return expression_unknown(c, start, end);
    Expression *self = build_dereference(c, expression_variable(c, lambda->self, start, end), start);
    Expression *e = build_field(c, self, field, end);
    e->name = v->name;
    return e;
}

Expression *lambda_captured(Compiler *c, Variable *v, Position start, Position end)
{
    Lambda *lambda = c->parser->now.lambda;
    if (!lambda || !v->name)
        return NULL;
    return captured_at(c, lambda, v, start, end);
}

// ---- [captures]

static void parse_capture(Compiler *c, Lambda *lambda)
{
    const Token *t = parse_token(c);
    const bool by_reference = parse_accept(c, '&');
    t = parse_token(c);
    if (!by_reference && parse_accept(c, '*'))
        t = parse_token(c);
    if (token_is(t, KEYWORD_THIS)) {
        parse_advance(c);
        Function *f = lambda->function;
        if (f && f->self) {
            capture_field(c, lambda, name_intern(c, "this", 4), type_bare(f->self->type), t->position);
            set_initialiser(c, lambda, lambda->record->field_count - 1,
                            expression_value(c, expression_variable(c, f->self, t->position, parse_end(c))));
        }
        return;
    }
    if (t->kind != TOKEN_NAME || t->id) {
        parse_syntax_error(c, "[&] or [=] captures all that is used", "expected a variable to capture, not '%.*s'", (int)t->length, t->text);
        return;
    }
    Expression *value;
    if (token_is(parse_peek(c, 1), '=')) {
        parse_advance(c), parse_advance(c);
        value = parse_assignment(c);
    } else {
        value = parse_name_expression(c);
    }
    if (expression_is_unknown(value)) {
        capture_field(c, lambda, t->name, type_basic(c, TYPE_UNKNOWN), t->position);
        set_initialiser(c, lambda, lambda->record->field_count - 1, NULL);
        return;
    }
    Type *type = by_reference ? type_reference(c, value->type, false) : value->type->kind == TYPE_ARRAY ? value->type : expression_decayed_type(c, value);
    if (type->kind == TYPE_ARRAY && !by_reference) {
        source_error(c, t->position, t->length, compile_format(c, "capture it by reference: [&%s]", t->name->text), "a lambda's copy of an array is not supported");
        type = type_reference(c, value->type, false);
    }
    capture_field(c, lambda, t->name, type, t->position);
    set_initialiser(c, lambda, lambda->record->field_count - 1, by_reference ? value : initialise_copy(c, type, value, "a capture"));
}

static void parse_captures(Compiler *c, Lambda *lambda)
{
    while (!parse_at(c, ']') && parse_token(c)->kind != TOKEN_END && !c->parser->now.panicking) {
        const Token *next = parse_peek(c, 1);
        if ((parse_at(c, '=') || parse_at(c, '&')) && (token_is(next, ',') || token_is(next, ']'))) {
            lambda->default_capture = (char)parse_token(c)->id;
            parse_advance(c);
        } else {
            parse_capture(c, lambda);
        }
        if (!parse_accept(c, ','))
            break;
    }
    parse_expect(c, ']', "after the captures");
}

// ---- operator()

static bool is_generic(const Declarator *d)
{
    for (uint32_t k = 0; k < d->parameter_count; k++) {
        const Type *type = d->parameters[k]->type;
        while (type->kind == TYPE_POINTER || type_is_any_reference(type))
            type = type->target;
        if (type->kind == TYPE_AUTO)
            return true;
    }
    return false;
}

static void skip_specifiers(Compiler *c, Specifiers *s, bool *is_mutable)
{
    for (;;) {
        switch (parse_token(c)->id) {
        case KEYWORD_DEVICE: s->is_device = true; break;
        case KEYWORD_HOST: s->is_host = true; break;
        case KEYWORD_MUTABLE: *is_mutable = true; break;
        case KEYWORD_CONSTEXPR: break;
        case KEYWORD_NOEXCEPT: break;
        default:
            if (parse_attributes(c, s))
                continue;
            return;
        }
        parse_advance(c);
    }
}

static Function *call_operator(Compiler *c, Lambda *lambda, const Specifiers *s, Declarator *d, Type *result, bool is_mutable, Position at)
{
    Type **types = compile_allocate(c, (d->parameter_count + 1) * sizeof *types);
    for (uint32_t k = 0; k < d->parameter_count; k++)
        types[k] = type_bare(d->parameters[k]->type);
    Function *f = compile_new(c, Function);
    const Function *outer = c->parser->now.function;
    *f = (Function){.name = name_intern(c, "operator()", 10), .position = at, .parameters = d->parameters, .parameter_count = d->parameter_count,
                    .required = d->required, .defaults = d->defaults, .scope = lambda->record->scope, .parameter_scope = d->parameter_scope,
                    .record = lambda->record, .is_lambda = true, .is_inline = true};
    f->type = type_function(c, result, types, d->parameter_count, false, is_mutable ? 0 : TYPE_CONST);
    f->has_deduced_result = result->kind == TYPE_AUTO;
    // A lambda in device code is the device's without a word.
    f->is_device = s->is_device || (outer && (outer->is_device || outer->is_kernel) && !outer->is_lenient) || !outer;
    f->is_host = s->is_host || !f->is_device;
    f->is_needed = true; // its body is parsed here
    f->is_lenient = outer && outer->is_lenient;
    Type *self = type_pointer(c, type_qualified(c, lambda->record->type, is_mutable ? 0 : TYPE_CONST));
    f->self = variable_new(c, NULL, self, at);
    f->self->is_parameter = f->self->is_initialised = true;
    return f;
}

static void parse_lambda_body(Compiler *c, Lambda *lambda, Function *f)
{
    ParserState *now = &c->parser->now;
    const ParserState saved = parse_save(c);
    Lambda *inner = lambda;
    now->lambda = inner;
    now->function = f;
    now->scope = f->parameter_scope;
    now->innermost_switch = NULL;
    now->breakable = now->continuable = now->unevaluated = 0;
    now->no_greater = false;
    for (uint32_t k = 0; k < f->parameter_count; k++) {
        f->parameters[k]->function = f;
        f->parameters[k]->depth = f->self->depth + 1;
    }
    f->self->depth++;
    f->body_end = 0;
    if (parse_expect(c, '{', "before the lambda's body"))
        f->body = parse_block(c);
    else
        f->body = statement_new(c, STATEMENT_BLOCK, f->position);
    if (f->type->target->kind == TYPE_AUTO)
        f->type = type_function(c, type_basic(c, TYPE_VOID), f->type->parameters, f->type->parameter_count, false, f->type->member_const ? TYPE_CONST : 0);
    f->state = FUNCTION_PARSED;
    const uint32_t end = now->at;
    parse_restore(c, &saved);
    now->at = end;
}

Expression *parse_lambda(Compiler *c)
{
    Parser *p = c->parser;
    const Token *t = parse_token(c);
    Lambda lambda = {.outer = p->now.lambda, .function = p->now.function};
    lambda.record = record_new(c, NULL, p->now.scope, t->position);
    lambda.record->is_closure = true;
    lambda.record->readable = "lambda";
    lambda.record->is_complete = true; // its fields are added while the body is parsed
    // Expressions refer to the fields, which therefore must not move.
    lambda.record->field_capacity = MAX_CAPTURES;
    lambda.record->fields = compile_allocate(c, MAX_CAPTURES * sizeof *lambda.record->fields);
    p->closures++;
    parse_enter(c);
    parse_advance(c);
    parse_captures(c, &lambda);
    Specifiers s = {0};
    Declarator d = {0};
    bool is_mutable = false;
    skip_specifiers(c, &s, &is_mutable);
    if (parse_accept(c, '('))
        parse_parameters(c, &d);
    else
        d.parameter_scope = scope_new(c, SCOPE_PARAMETERS, p->now.scope);
    skip_specifiers(c, &s, &is_mutable);
    Type *result = type_basic(c, TYPE_AUTO);
    if (parse_accept(c, ID_ARROW))
        result = parse_type_name(c);
    skip_specifiers(c, &s, &is_mutable);
    Function *f = call_operator(c, &lambda, &s, &d, result, is_mutable, t->position);
    d.parameter_scope->function = f;
    lambda.self = f->self;
    if (is_generic(&d)) {
        if (!f->is_lenient)
            source_error(c, t->position, 1, "write the parameters' types", "a lambda with 'auto' parameters is not supported");
        while (!parse_at(c, '{') && !parse_at(c, ';') && parse_token(c)->kind != TOKEN_END)
            parse_advance(c);
        if (parse_at(c, '{'))
            parse_skip_group(c);
        parse_leave(c);
        return expression_unknown(c, t->position, parse_end(c));
    }
    parse_lambda_body(c, &lambda, f);
    lambda.record->call = f;
    scope_declare(c, lambda.record->scope, SYMBOL_FUNCTION, f->name, t->position)->function = f;
    record_complete(c, lambda.record);
    parse_leave(c);
    Expression *e = expression_new(c, EXPRESSION_LIST, lambda.record->type, t->position, parse_end(c));
    e->arguments = lambda.initialisers ? lambda.initialisers : compile_allocate(c, sizeof *e->arguments);
    e->argument_count = lambda.record->field_count;
    for (uint32_t k = 0; k < e->argument_count; k++)
        if (!e->arguments[k] || expression_is_unknown(e->arguments[k]))
            return expression_unknown(c, e->start, e->end);
    return e;
}
