// parse_functions.c: function declarations, and delayed parsing of bodies.
#include "compiler/build.h"

#include <string.h>

// ---- skipping bodies

// Skips a body; returns the position of its }. If the } is missing, stops at the next function definition; parse_block reports it.
static Position skip_body(Compiler *c)
{
    const Position open = parse_token(c)->position;
    uint32_t depth = 0;
    do {
        const Token *t = parse_token(c);
        if (t->kind == TOKEN_END || (t->position != open && parse_at_function_definition(c) && !parse_at_nested_definition(c, open)))
            return 0;
        depth += token_is(t, '{');
        depth -= token_is(t, '}');
        parse_advance(c);
    } while (depth);
    return parse_previous(c)->position;
}

static void skip_field_initialisers(Compiler *c)
{
    parse_advance(c);
    while (parse_token(c)->kind != TOKEN_END) {
        while (!parse_at(c, '(') && !parse_at(c, '{') && !parse_at(c, ';') && parse_token(c)->kind != TOKEN_END)
            parse_advance(c);
        if (parse_at(c, ';'))
            return;
        parse_skip_group(c);
        parse_accept(c, ID_ELLIPSIS);
        if (!parse_accept(c, ','))
            return;
    }
}

// = default, = delete, or a body, which is skipped
static void parse_function_parts(Compiler *c, Function *f)
{
    if (parse_at(c, '=')) {
        parse_advance(c);
        if (parse_accept(c, KEYWORD_DELETE))
            f->is_deleted = true;
        else if (parse_accept(c, KEYWORD_DEFAULT))
            f->is_defaulted = true;
        else
            parse_advance(c); // = 0
        return;
    }
    const uint32_t begin = c->parser->state.at;
    if (parse_at(c, ':') && f->is_constructor)
        skip_field_initialisers(c);
    if (parse_accept(c, KEYWORD_TRY))
        skip_field_initialisers(c);
    if (!parse_at(c, '{'))
        return;
    f->body_token = begin;
    f->body_end = skip_body(c);
    f->state = FUNCTION_DELAYED;
}

// ---- declarations

static Function *declared_before(Symbol *symbol, const Function *f)
{
    for (; symbol; symbol = symbol->next_overload)
        if (symbol->kind == SYMBOL_FUNCTION && symbol->function) {
            Function *old = symbol->function;
            const Type *a = old->type, *b = f->type;
            if (a->parameter_count == b->parameter_count && a->variadic == b->variadic && a->member_const == b->member_const &&
                a->member_volatile == b->member_volatile && (!a->parameter_count || !memcmp(a->parameters, b->parameters, a->parameter_count * sizeof *a->parameters)))
                return old;
        }
    return NULL;
}

static void check_kernel(Compiler *c, Function *f, const Declarator *d)
{
    if (f->type->target->kind != TYPE_VOID && !type_is_unknown(f->type->target))
        source_error(c, d->position, f->name->length, compile_format(c, "write __global__ void %s", f->name->text), "the kernel '%s' must return void",
                     f->name->text);
    if (f->record && !f->is_static)
        source_error(c, d->position, f->name->length, "move it out of the class", "the kernel '%s' cannot be a member", f->name->text);
    if (f->type->variadic)
        source_error(c, d->position, f->name->length, NULL, "a kernel cannot have '...'");
    for (uint32_t k = 0; k < f->parameter_count; k++)
        record_is_usable(c, f->parameters[k]->type, f->parameters[k]->position, 0);
    for (uint32_t k = 0; k < f->parameter_count; k++)
        if (type_is_any_reference(f->parameters[k]->type))
            source_error(c, f->parameters[k]->position, 0, "pass a pointer to device memory, or the value itself",
                         "a kernel's parameter cannot be a reference: the host's variable is not in device memory");
}

static void make_self(Compiler *c, Function *f)
{
    if (!f->record || f->is_static || f->self)
        return;
    const uint8_t qualifiers = (f->type->member_const ? TYPE_CONST : 0) | (f->type->member_volatile ? TYPE_VOLATILE : 0);
    Type *type = type_pointer(c, type_qualified(c, f->record->type, qualifiers));
    f->self = variable_new(c, name_intern(c, "this", 4), type, f->position);
    f->self->is_parameter = f->self->is_initialised = true;
    f->self->function = f;
}

static bool is_in_source(const Compiler *c, Position at)
{
    const SourceFile *file = source_file_at(c, at);
    return file && !file->built_in;
}

// Merges a redeclaration into the earlier declaration. A function of the source replaces a library function of the same type.
static void merge(Compiler *c, Function *old, Function *f)
{
    const bool replaces = is_in_source(c, f->position) && !is_in_source(c, old->position);
    if (is_in_source(c, old->position) && !is_in_source(c, f->position))
        return;
    if (replaces) {
        old->intrinsic = NULL;
        old->body_token = 0;
        old->is_host = f->is_host;
        old->is_device = f->is_device;
    }
    old->is_kernel |= f->is_kernel;
    old->is_device |= f->is_device;
    old->is_host |= f->is_host;
    old->is_constexpr |= f->is_constexpr;
    old->max_threads = f->max_threads ? f->max_threads : old->max_threads;
    old->min_blocks = f->min_blocks ? f->min_blocks : old->min_blocks;
    for (uint32_t k = 0; k < f->parameter_count; k++)
        if (!f->defaults[k] && old->defaults[k])
            f->defaults[k] = old->defaults[k];
    old->required = f->required < old->required ? f->required : old->required;
    old->defaults = f->defaults;
    if (!f->body_token)
        return;
    if (old->body_token && !c->silent) {
        source_error(c, f->position, f->name->length, NULL, "'%s' is defined twice", f->name->text);
        source_note(c, old->position, f->name->length, "the first definition of '%s'", f->name->text);
        return;
    }
    old->position = f->position;
    old->parameters = f->parameters;
    old->parameter_scope = f->parameter_scope;
    old->parameter_scope->function = old;
    old->body_token = f->body_token;
    old->body_end = f->body_end;
    old->state = f->state;
}

static Function *function_new(Compiler *c, const Specifiers *s, Declarator *d)
{
    Function *f = compile_new(c, Function);
    Scope *scope = d->scope ? d->scope : c->parser->state.scope;
    *f = (Function){.name = d->name, .position = d->position, .type = d->type, .parameters = d->parameters, .parameter_count = d->parameter_count,
                    .required = d->required, .defaults = d->defaults, .scope = scope, .parameter_scope = d->parameter_scope};
    const Scope *owner = scope;
    while (owner->kind == SCOPE_TEMPLATE)
        owner = owner->parent;
    f->record = owner->kind == SCOPE_RECORD && !s->is_friend ? owner->record : NULL;
    f->is_kernel = s->is_kernel;
    f->is_device = s->is_device;
    f->is_host = s->is_host || (!s->is_device && !s->is_kernel);
    f->is_constexpr = s->is_constexpr;
    f->is_static = s->is_static;
    f->is_inline = s->is_inline;
    f->no_inline = s->no_inline;
    f->force_inline = s->force_inline;
    f->is_explicit = s->is_explicit;
    f->is_noreturn = s->is_noreturn;
    f->is_extern_c = s->is_extern_c;
    f->is_constructor = d->is_constructor;
    f->is_destructor = d->is_destructor;
    f->is_conversion = d->is_conversion;
    f->max_threads = s->max_threads;
    f->min_blocks = s->min_blocks;
    f->max_blocks_per_cluster = s->max_blocks_per_cluster;
    memcpy(f->cluster, s->cluster, sizeof f->cluster);
    f->has_deduced_result = type_without_reference(f->type->target)->kind == TYPE_AUTO;
    if (f->parameter_scope)
        f->parameter_scope->function = f;
    for (uint32_t k = 0; k < f->parameter_count; k++)
        f->parameters[k]->function = f;
    return f;
}

static void add_to_functions(Compiler *c, Function *f)
{
    Parser *p = c->parser;
    if (!f->body_token || !is_in_source(c, f->position))
        return;
    *compile_push(c, p->functions, p->function_count, p->function_capacity) = f;
    // Uncalled device functions are also parsed, to report their errors.
    if (f->is_kernel || (f->is_device && !f->is_host && !f->is_constexpr && !f->record))
        parse_mark_needed(c, f);
}

Function *parse_function(Compiler *c, const Specifiers *s, Declarator *d, Template *of)
{
    if (!d->name || d->type->kind != TYPE_FUNCTION)
        return NULL;
    if (s->is_kernel && s->is_device)
        source_error(c, s->start, 0, "__global__ for a kernel, __device__ for what kernels call", "a function is either __global__ or __device__");
    if (s->is_shared || s->is_constant)
        source_error(c, s->start, 0, NULL, "a function cannot be %s", s->is_shared ? "__shared__" : "__constant__");
    if (d->scope && d->scope->kind == SCOPE_RECORD && d->name == d->scope->record->name && !s->has_type && !d->is_destructor) {
        d->is_constructor = true; // defined outside of its class
        d->type = type_function(c, type_basic(c, TYPE_VOID), d->type->parameters, d->type->parameter_count, d->type->variadic, 0);
    }
    Function *f = function_new(c, s, d);
    Symbol *known = scope_find(f->scope, f->is_constructor ? record_constructor_name(c) : f->name);
    Function *old = of ? NULL : declared_before(known, f);
    if (f->record && old)
        f->is_static = old->is_static;
    if (old && old->is_constructor)
        f->is_constructor = true;
    make_self(c, f);
    if (f->is_kernel)
        check_kernel(c, f, d);
    parse_function_parts(c, f);
    if (of)
        return f;
    if (old && (old->body_token == 0 || f->body_token || old->position != f->position)) {
        const bool same_result = old->type == f->type || type_is_unknown(old->type) || type_is_unknown(f->type) || f->has_deduced_result;
        if (!same_result) {
            source_error(c, f->position, f->name->length, NULL, "'%s' returns '%s' here, and '%s' where it was declared", f->name->text,
                         type_text(c, f->type->target), type_text(c, old->type->target));
            source_note(c, old->position, f->name->length, "'%s' is declared here", f->name->text);
        }
        if (!old->self)
            old->self = f->self;
        merge(c, old, f);
        if (f->self && f->body_token)
            old->self = f->self, old->self->function = old;
        for (uint32_t k = 0; k < old->parameter_count && f->body_token; k++)
            old->parameters[k]->function = old;
        add_to_functions(c, old);
        return f->body_token ? old : f;
    }
    Scope *target = s->is_friend ? scope_enclosing_namespace(f->scope) : f->scope;
    if (!d->scope || d->scope->kind == SCOPE_NAMESPACE)
        scope_declare(c, target, SYMBOL_FUNCTION, f->is_constructor ? record_constructor_name(c) : f->name, f->position)->function = f;
    else if (!c->silent)
        source_error(c, d->position, f->name->length, NULL, "'%s' has no member '%s' of this type", record_readable(c, d->scope->record), f->name->text);
    add_to_functions(c, f);
    return f;
}

// ---- bodies

static void parse_field_initialisers(Compiler *c, Function *f)
{
    Record *r = f->record;
    uint32_t capacity = 0;
    parse_advance(c);
    for (;;) {
        const ParsedName n = parse_qualified_name(c);
        Field *field = NULL;
        bool delegates = false;
        Type *type = n.name ? parse_named_type(c, &n) : NULL;
        for (uint32_t k = 0; k < r->field_count && !field; k++)
            if (r->fields[k].is_base ? type && type_bare(type) == type_bare(r->fields[k].type) : n.name && r->fields[k].name == n.name)
                field = &r->fields[k];
        delegates = !field && type && type_bare(type) == r->type;
        if (!field && !delegates)
            source_error(c, n.start, n.end - n.start, NULL, "'%s' has no member '%s'", record_readable(c, r), n.name ? n.name->text : "");
        const Token *open = parse_token(c);
        Expression *value = NULL;
        if (parse_at(c, '{')) {
            Expression *list = parse_braced(c);
            value = field || delegates ? initialise_list(c, field ? field->type : r->type, list, "a member's initialiser") : NULL;
        } else if (parse_expect(c, '(', "after the member")) {
            uint32_t count;
            Expression **arguments = parse_arguments(c, ')', &count);
            value = field || delegates ? initialise_direct(c, field ? field->type : r->type, arguments, count, open->position, parse_end(c)) : NULL;
        }
        if (value)
            *compile_push(c, f->field_initialisers, f->field_initialiser_count, capacity) = (FieldInitialiser){field, value};
        if (!parse_accept(c, ','))
            return;
    }
}

static bool is_forever(const Expression *e)
{
    return !e || (e->kind == EXPRESSION_CONSTANT && !e->constant.is_real && e->constant.integer);
}

static bool breaks(const Statement *s) // whether a loop body may leave its loop
{
    for (; s; s = s->next) {
        if (s->kind == STATEMENT_BREAK || s->kind == STATEMENT_GOTO)
            return true;
        const bool nested = s->kind == STATEMENT_LOOP || s->kind == STATEMENT_DO || s->kind == STATEMENT_SWITCH;
        if (!nested && (breaks(s->body) || breaks(s->else_body) || (s->kind == STATEMENT_BLOCK && breaks(s->first))))
            return true;
    }
    return false;
}

static bool ends_program(const Expression *e)
{
    if (e->kind == EXPRESSION_UNKNOWN)
        return true; // assumed
    if (e->kind == EXPRESSION_CONVERT && e->left)
        return ends_program(e->left);
    return e->kind == EXPRESSION_CALL && e->function && e->function->name && !strcmp(e->function->name->text, "__trap");
}

// Whether control may reach the end of a list of statements.
static bool falls_through(const Statement *s)
{
    bool reached = true;
    for (; s; s = s->next)
        switch (s->kind) {
        case STATEMENT_RETURN: case STATEMENT_GOTO: reached = false; break;
        case STATEMENT_EXPRESSION: reached &= !ends_program(s->expression); break;
        case STATEMENT_BLOCK: reached &= falls_through(s->first); break;
        case STATEMENT_IF:
            if (s->is_constexpr) {
                const Statement *taken = is_forever(s->expression) ? s->body : s->else_body;
                reached &= !taken || falls_through(taken);
            } else {
                reached &= !s->else_body || falls_through(s->body) || falls_through(s->else_body);
            }
            break;
        case STATEMENT_LOOP: reached &= !is_forever(s->expression) || breaks(s->body); break;
        case STATEMENT_DO: reached &= (falls_through(s->body) && !is_forever(s->expression)) || breaks(s->body); break;
        case STATEMENT_SWITCH: {
            bool has_default = false;
            for (const Statement *label = s->cases; label; label = label->next_case)
                has_default |= label->is_default;
            reached &= !has_default || breaks(s->body->kind == STATEMENT_BLOCK ? s->body->first : s->body) ||
                       falls_through(s->body->kind == STATEMENT_BLOCK ? s->body->first : s->body);
            break;
        }
        case STATEMENT_CASE: case STATEMENT_LABEL: reached = true; break;
        default: break;
        }
    return reached;
}

static bool ends_in_switch(const Statement *s)
{
    while (s && s->next)
        s = s->next;
    return s && s->kind == STATEMENT_SWITCH;
}

static void check_body(Compiler *c, Function *f)
{
    for (const Label *label = f->labels; label; label = label->next)
        if (!label->position)
            source_error(c, label->used_at, label->name->length, NULL, "label '%s' is not defined", label->name->text);
    const Type *result = f->type->target;
    if (result->kind == TYPE_VOID || result->kind == TYPE_AUTO || type_is_unknown(result) || f->is_constructor || f->is_destructor || !falls_through(f->body->first))
        return;
    // Only a warning after a switch, whose cases may be exhaustive.
    const Position at = f->body_end ? f->body_end : f->position;
    (ends_in_switch(f->body->first) ? source_warning : source_error)(c, at, 1, "add a return at the end, for every way through the function",
                                                                     "'%s' may end without returning a '%s'", f->name ? f->name->text : "this lambda",
                                                                     type_text(c, (Type *)result));
}

bool parse_is_lenient(const Compiler *c)
{
    const Function *f = c->parser->state.function;
    return f && f->is_lenient;
}

void parse_delayed_body(Compiler *c, Function *f)
{
    Parser *p = c->parser;
    const bool device = f->is_kernel || f->is_device || f->is_constexpr;
    if (f->state == FUNCTION_PARSED && f->is_lenient && f->is_needed && device)
        f->state = FUNCTION_DELAYED; // it was parsed leniently, as host code
    if (f->state != FUNCTION_DELAYED)
        return;
    f->state = FUNCTION_BEING_PARSED;
    f->is_lenient = !f->is_evaluated && !(f->is_needed && device) && !f->is_kernel && !(f->is_device && !f->is_host) && is_in_source(c, f->position);
    const ParserState saved = parse_save(c);
    const int silent = c->silent;
    InstantiationNote *instantiation = c->instantiation;
    const struct PendingUnroll unroll = p->unroll;
    c->silent = f->is_lenient;
    c->instantiation = f->instantiation;
    p->unroll.is_set = false;
    p->empty_if = 0;
    p->closed_count = 0;
    f->labels = NULL;
    f->static_count = 0;
    f->field_initialiser_count = 0;
    parse_enter(c);
    p->state = (ParserState){.at = f->body_token, .scope = f->parameter_scope, .function = f, .in_check = f->is_pattern, .lambda = f->lambda};
    Variable *self = f->lambda ? f->lambda->self : NULL;
    if (f->lambda)
        f->lambda->self = f->self;
    if (parse_at(c, ':'))
        parse_field_initialisers(c, f);
    if (f->is_constructor && f->record->is_complete)
        initialise_fields(c, f);
    const uint32_t syntax_errors = p->syntax_errors;
    if (parse_accept(c, '{'))
        f->body = parse_block(c);
    if (f->has_deduced_result && type_without_reference(f->type->target)->kind == TYPE_AUTO)
        f->type = type_function(c, type_basic(c, TYPE_VOID), f->type->parameters, f->type->parameter_count, f->type->variadic,
                                f->type->member_const ? TYPE_CONST : 0);
    if (f->body && p->syntax_errors == syntax_errors)
        check_body(c, f);
    if (f->lambda)
        f->lambda->self = self;
    parse_leave(c);
    parse_restore(c, &saved);
    c->silent = silent;
    c->instantiation = instantiation;
    p->unroll = unroll;
    f->state = FUNCTION_PARSED;
}
