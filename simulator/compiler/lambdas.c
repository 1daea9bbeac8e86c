// lambdas.c: lambda expressions: closures, records with a field for each captured variable and operator().
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

// A capture by value. An array is copied as a whole.
static Expression *copy_of(Compiler *c, Type *type, Expression *value)
{
    if (type->kind != TYPE_ARRAY)
        return initialise_copy(c, type, value, "a capture");
    const Type *inner = type_innermost(type);
    if (inner->kind != TYPE_RECORD || inner->record->is_trivial)
        return expression_unary(c, EXPRESSION_COPY, type, value);
    expression_error(c, value, "capture it by reference", "a lambda's copy of an array of objects with copy constructors is not supported");
    return expression_unknown(c, value->start, value->end);
}

static Name *copied_object(Compiler *c) // the name of the field for a capture [*this]
{
    return name_intern(c, "*this", 5);
}

static bool is_this(const Variable *v)
{
    return v->name->length == 4 && !strcmp(v->name->text, "this");
}

// Elements of a captured parameter pack share a name, so the variable is compared, too.
static Field *captured_field(const Record *r, const Name *name, const Variable *v)
{
    for (uint32_t k = 0; k < r->field_count; k++)
        if (r->fields[k].name == name && (!r->fields[k].captured || r->fields[k].captured == v))
            return &r->fields[k];
    return NULL;
}

// An expression, within the lambda, for a variable of an enclosing function; captures it if that is implicit.
static Expression *captured_at(Compiler *c, Lambda *lambda, Variable *v, Position start, Position end)
{
    uint32_t depth = 0;
    for (const Lambda *l = lambda; l; l = l->outer)
        depth++;
    if (v->depth >= depth)
        return expression_variable(c, v, start, end);
    Field *copied = is_this(v) ? captured_field(lambda->record, copied_object(c), v) : NULL;
    if (copied)
        return build_address(c, build_field(c, build_dereference(c, expression_variable(c, lambda->self, start, end), start), copied, end), start);
    Field *field = captured_field(lambda->record, v->name, v);
    if (!field) {
        char capture = lambda->default_capture;
        if (!capture || lambda->is_complete) {
            source_error(c, start, end - start, compile_format(c, "capture it: [%s] or [&]", v->name->text), "the lambda does not capture '%s'", v->name->text);
            return expression_unknown(c, start, end);
        }
        Expression *outer = captured_at(c, lambda->outer, v, start, end);
        if (expression_is_unknown(outer))
            return outer;
        const bool self = is_this(v);
        const uint32_t index = lambda->record->field_count;
        Type *type = capture == '&' && !self ? type_reference(c, outer->type, false) : type_bare(outer->type);
        if (capture == '=' && type_is_any_reference(v->type))
            type = type_bare(v->type->target);
        capture_field(c, lambda, v->name, type, start)->captured = v;
        set_initialiser(c, lambda, index, capture == '&' && !self ? outer : copy_of(c, type, outer));
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
    Lambda *lambda = c->parser->state.lambda;
    if (!lambda || !v->name)
        return NULL;
    return captured_at(c, lambda, v, start, end);
}

// ---- [captures]

static void capture_this(Compiler *c, Lambda *lambda, bool of_object, Position at)
{
    Function *f = lambda->function;
    if (!f || !f->self)
        return;
    Expression *self = expression_variable(c, f->self, at, parse_end(c));
    Expression *value = of_object ? build_dereference(c, self, at) : expression_value(c, self);
    Type *type = type_bare(value->type);
    capture_field(c, lambda, of_object ? copied_object(c) : name_intern(c, "this", 4), type, at);
    set_initialiser(c, lambda, lambda->record->field_count - 1, of_object ? copy_of(c, type, value) : value);
}

static Variable *outer_variable(Compiler *c, const Lambda *lambda, const Token *name)
{
    Variable *v = variable_new(c, name->name, type_basic(c, TYPE_UNKNOWN), name->position);
    v->scope = lambda->scope;
    v->is_initialised = true;
    return v;
}

static void parse_capture(Compiler *c, Lambda *lambda)
{
    const Token *t = parse_token(c);
    const bool by_reference = parse_accept(c, '&'), of_object = !by_reference && parse_accept(c, '*');
    t = parse_token(c);
    if (token_is(t, KEYWORD_THIS)) {
        parse_advance(c);
        capture_this(c, lambda, of_object, t->position);
        return;
    }
    if (t->kind != TOKEN_NAME || t->id) {
        parse_syntax_error(c, "[&] or [=] captures all that is used", "expected a variable to capture, not '%.*s'", (int)t->length, t->text);
        return;
    }
    const bool has_initialiser = token_is(parse_peek(c, 1), '=');
    Expression *value;
    if (has_initialiser) {
        parse_advance(c), parse_advance(c);
        value = parse_assignment(c);
    } else {
        value = parse_name_expression(c);
    }
    if (has_initialiser) // declared for the lambda's body
        scope_declare(c, lambda->scope, SYMBOL_VARIABLE, t->name, t->position)->variable = outer_variable(c, lambda, t);
    if (expression_is_unknown(value)) {
        capture_field(c, lambda, t->name, type_basic(c, TYPE_UNKNOWN), t->position);
        set_initialiser(c, lambda, lambda->record->field_count - 1, NULL);
        return;
    }
    Type *type = by_reference ? type_reference(c, value->type, false) : value->type->kind == TYPE_ARRAY ? value->type : expression_decayed_type(c, value);
    capture_field(c, lambda, t->name, type, t->position);
    set_initialiser(c, lambda, lambda->record->field_count - 1, by_reference ? value : copy_of(c, type, value));
}

static void parse_captures(Compiler *c, Lambda *lambda)
{
    while (!parse_at(c, ']') && parse_token(c)->kind != TOKEN_END && !c->parser->state.panicking) {
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

static bool is_auto(const Type *type)
{
    while (type->kind == TYPE_POINTER || type_is_any_reference(type))
        type = type->target;
    return type->kind == TYPE_AUTO;
}

static uint32_t auto_count(Compiler *c, const Declarator *d)
{
    uint32_t count = 0;
    for (uint32_t k = 0; k < d->parameter_count; k++) {
        const Variable *v = d->parameters[k];
        count += is_auto(v->type);
        if (is_auto(v->type) && v->is_pack)
            source_error(c, v->position, 0, "write one parameter for each argument", "a lambda with 'auto...' is not supported");
    }
    return count;
}

static Type *replace_auto(Compiler *c, Type *type, Type *known)
{
    if (type->kind == TYPE_POINTER)
        return type_qualified(c, type_pointer(c, replace_auto(c, type->target, known)), type->qualifiers);
    if (type_is_any_reference(type))
        return type_reference(c, replace_auto(c, type->target, known), type->kind == TYPE_RVALUE_REFERENCE);
    return type_qualified(c, known, type->qualifiers);
}

// Replaces `auto` in parameter types by the types of the template arguments.
static void replace_autos(Compiler *c, Declarator *d, const TemplateArgument *arguments)
{
    for (uint32_t k = 0, at = 0; k < d->parameter_count; k++)
        if (is_auto(d->parameters[k]->type))
            d->parameters[k]->type = replace_auto(c, d->parameters[k]->type, arguments[at++].type);
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
    const Function *outer = c->parser->state.function;
    *f = (Function){.name = name_intern(c, "operator()", 10), .position = at, .parameters = d->parameters, .parameter_count = d->parameter_count,
                    .required = d->required, .defaults = d->defaults, .scope = lambda->record->scope, .parameter_scope = d->parameter_scope,
                    .record = lambda->record, .is_lambda = true, .is_inline = true};
    f->type = type_function(c, result, types, d->parameter_count, false, is_mutable ? 0 : TYPE_CONST);
    f->has_deduced_result = result->kind == TYPE_AUTO;
    // A lambda in device code is implicitly a device function.
    f->is_device = s->is_device || (outer && (outer->is_device || outer->is_kernel) && !outer->is_lenient) || !outer;
    f->is_host = s->is_host || !f->is_device;
    f->is_needed = true; // parse_lambda parses its body
    f->is_lenient = outer && outer->is_lenient;
    Type *self = type_pointer(c, type_qualified(c, lambda->record->type, is_mutable ? 0 : TYPE_CONST));
    f->self = variable_new(c, NULL, self, at);
    f->self->is_parameter = f->self->is_initialised = true;
    return f;
}

// operator() of a generic lambda: a template with a parameter for each `auto`.
static Template *template_of_lambda(Compiler *c, Lambda *lambda, uint32_t count, uint32_t token, Position at)
{
    Template *t = compile_new(c, Template);
    *t = (Template){.kind = TEMPLATE_FUNCTION, .name = name_intern(c, "operator()", 10), .position = at, .scope = lambda->record->scope,
                    .parameter_count = count, .declaration_token = token, .is_defined = true, .is_checked = true, .lambda = lambda};
    t->parameters = compile_allocate(c, count * sizeof *t->parameters);
    t->pattern_arguments = compile_allocate(c, count * sizeof *t->pattern_arguments);
    for (uint32_t k = 0; k < count; k++) {
        t->parameters[k] = (TemplateParameter){.position = at, .is_type = true};
        Type *type = type_new(c, TYPE_PARAMETER);
        type->index = k;
        type->parameter_name = name_intern(c, "auto", 4);
        t->pattern_arguments[k] = (TemplateArgument){.type = type, .is_set = true};
    }
    return t;
}

// Parses the part between the captures and the body: (parameters) specifiers -> type. `arguments`: types for parameters with `auto`; if
// NULL and there are such parameters, creates the template of a generic lambda.
static Function *parse_signature(Compiler *c, Lambda *lambda, const TemplateArgument *arguments, Template **generic, Position at)
{
    const uint32_t begin = c->parser->state.at;
    Declarator declarator = {0}, *d = &declarator;
    ParserState *state = &c->parser->state;
    Specifiers s = {0};
    bool is_mutable = false;
    Scope *outer = state->scope;
    state->scope = lambda->scope;
    skip_specifiers(c, &s, &is_mutable);
    if (parse_accept(c, '('))
        parse_parameters(c, d);
    else
        d->parameter_scope = scope_new(c, SCOPE_PARAMETERS, state->scope);
    const uint32_t autos = auto_count(c, d);
    if (autos && !arguments) {
        *generic = template_of_lambda(c, lambda, autos, begin, at);
        arguments = (*generic)->pattern_arguments;
    }
    if (autos)
        replace_autos(c, d, arguments);
    skip_specifiers(c, &s, &is_mutable);
    Type *result = type_basic(c, TYPE_AUTO);
    state->scope = d->parameter_scope;
    if (parse_accept(c, ID_ARROW))
        result = parse_type_name(c);
    state->scope = outer;
    skip_specifiers(c, &s, &is_mutable);
    Function *f = call_operator(c, lambda, &s, d, result, is_mutable, at);
    d->parameter_scope->function = f;
    f->self->depth++;
    for (uint32_t k = 0; k < f->parameter_count; k++) {
        f->parameters[k]->function = f;
        f->parameters[k]->depth = f->self->depth;
    }
    return f;
}

static void parse_lambda_body(Compiler *c, Lambda *lambda, Function *f)
{
    ParserState *state = &c->parser->state;
    const ParserState saved = parse_save(c);
    state->lambda = lambda;
    state->function = f;
    state->scope = f->parameter_scope;
    state->innermost_switch = NULL;
    state->breakable = state->continuable = state->unevaluated = 0;
    state->no_greater = false;
    state->in_check |= f->is_pattern;
    f->body_end = 0;
    if (parse_expect(c, '{', "before the lambda's body"))
        f->body = parse_block(c);
    else
        f->body = statement_new(c, STATEMENT_BLOCK, f->position);
    if (f->type->target->kind == TYPE_AUTO)
        f->type = type_function(c, type_basic(c, TYPE_VOID), f->type->parameters, f->type->parameter_count, false, f->type->member_const ? TYPE_CONST : 0);
    f->state = FUNCTION_PARSED;
    const uint32_t end = state->at;
    parse_restore(c, &saved);
    state->at = end;
}

Function *lambda_instance(Compiler *c, Template *t, TemplateArgument *arguments)
{
    Lambda *lambda = t->lambda;
    ParserState *state = &c->parser->state;
    state->scope = lambda->scope;
    state->function = lambda->function;
    state->lambda = lambda->outer;
    Function *f = parse_signature(c, lambda, arguments, NULL, t->position);
    f->is_needed = false;
    f->lambda = lambda;
    f->body_token = state->at;
    f->state = FUNCTION_DELAYED;
    return f;
}

static Expression *closure(Compiler *c, const Lambda *lambda, Position at)
{
    Expression *e = expression_new(c, EXPRESSION_LIST, lambda->record->type, at, parse_end(c));
    e->arguments = lambda->initialisers ? lambda->initialisers : compile_allocate(c, sizeof *e->arguments);
    e->argument_count = lambda->record->field_count;
    for (uint32_t k = 0; k < e->argument_count; k++)
        if (!e->arguments[k] || expression_is_unknown(e->arguments[k]))
            return expression_unknown(c, e->start, e->end);
    return e;
}

Expression *parse_lambda(Compiler *c)
{
    Parser *p = c->parser;
    const Position at = parse_token(c)->position;
    Lambda *lambda = compile_new(c, Lambda);
    *lambda = (Lambda){.outer = p->state.lambda, .function = p->state.function, .scope = scope_new(c, SCOPE_BLOCK, p->state.scope)};
    Record *record = lambda->record = record_new(c, NULL, p->state.scope, at);
    record->is_closure = true;
    record->readable = "lambda";
    record->is_complete = true; // its fields are added while the body is parsed
    // Expressions point to the fields, so the array must not be reallocated.
    record->field_capacity = MAX_CAPTURES;
    record->fields = compile_allocate(c, MAX_CAPTURES * sizeof *record->fields);
    parse_enter(c);
    parse_advance(c);
    parse_captures(c, lambda);
    Template *generic = NULL;
    Function *f = parse_signature(c, lambda, NULL, &generic, at);
    if (generic) {
        generic->pattern = f;
        f->is_pattern = true; // its body is parsed to find the captures
    }
    lambda->self = f->self;
    parse_lambda_body(c, lambda, f);
    Symbol *symbol = scope_declare(c, record->scope, generic ? SYMBOL_TEMPLATE : SYMBOL_FUNCTION, f->name, at);
    if (generic)
        symbol->template = generic;
    else
        symbol->function = record->call = f;
    lambda->is_complete = true;
    record_complete(c, record);
    parse_leave(c);
    return closure(c, lambda, at);
}
