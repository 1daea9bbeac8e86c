// parse_declarations.c: declarations in namespaces and blocks.
#include "compiler/host.h"

#include <string.h>

Variable *variable_new(Compiler *c, Name *name, Type *type, Position position)
{
    const ParserState *state = &c->parser->state;
    Variable *v = compile_new(c, Variable);
    *v = (Variable){.name = name, .position = position, .type = type, .function = state->function, .scope = state->scope};
    for (const Lambda *lambda = state->lambda; lambda; lambda = lambda->outer)
        v->depth++;
    return v;
}

// ---- unknown types: of host libraries, or misspelt

// The number of tokens of a possible type name, such as std::vector<int>; 0: none.
uint32_t parse_unknown_type_length(Compiler *c)
{
    const ParserState saved = parse_save(c);
    bool fits = false;
    for (;;) {
        const Token *t = parse_token(c);
        if (t->kind != TOKEN_NAME || t->id)
            break;
        parse_advance(c);
        if (parse_at(c, '<'))
            parse_skip_angles(c);
        if (!parse_accept(c, ID_SCOPE)) {
            fits = true;
            break;
        }
    }
    const uint32_t length = fits ? c->parser->state.at - saved.at : 0;
    parse_restore(c, &saved);
    return length;
}

static bool is_declared_value(Compiler *c)
{
    const Token *t = parse_token(c);
    if (token_is(parse_peek(c, 1), ID_SCOPE))
        return false;
    const Symbol *symbol = scope_lookup(c, c->parser->state.scope, t->name);
    return symbol && symbol->kind != SYMBOL_UNKNOWN && symbol->kind != SYMBOL_TYPE && symbol->kind != SYMBOL_TEMPLATE;
}

// Whether an unknown name is probably a type, because a declared name follows it.
static bool begins_unknown_declaration(Compiler *c)
{
    uint32_t k = parse_unknown_type_length(c);
    if (k == 0 || is_declared_value(c))
        return false;
    bool pointer = false;
    for (; token_is(parse_peek(c, k), '*') || token_is(parse_peek(c, k), '&') || token_is(parse_peek(c, k), ID_AND) ||
           parse_qualifier(parse_peek(c, k)->id);
         k++)
        pointer = true;
    const Token *name = parse_peek(c, k), *after = parse_peek(c, k + 1);
    if (name->kind != TOKEN_NAME || name->id)
        return false;
    const bool ends = token_is(after, ';') || token_is(after, '=') || token_is(after, ',') || token_is(after, '[');
    return ends || (!pointer && (token_is(after, '(') || token_is(after, '{') || token_is(after, ':'))) || (pointer && token_is(after, ':'));
}

Type *parse_unknown_type(Compiler *c)
{
    const Token *t = parse_token(c);
    const uint32_t length = parse_unknown_type_length(c);
    if (length == 0)
        return NULL;
    for (uint32_t k = 0; k < length; k++)
        parse_advance(c);
    if (c->silent || c->parser->state.in_check)
        return type_basic(c, TYPE_UNKNOWN);
    const Position end = parse_end(c);
    if (length > 1) {
        const ParserState after = parse_save(c);
        c->parser->state.at -= length;
        const ParsedName name = parse_qualified_name(c);
        parse_restore(c, &after);
        parse_report_unknown(c, &name);
        return type_basic(c, TYPE_UNKNOWN);
    }
    const char *suggestion = scope_suggestion(c, c->parser->state.scope, t->name), *keyword = keyword_suggestion(t->name);
    if (keyword)
        suggestion = keyword;
    source_error(c, t->position, end - t->position, suggestion ? compile_format(c, "did you mean '%s'?", suggestion) : NULL, "unknown type '%s'", t->name->text);
    return type_basic(c, TYPE_UNKNOWN);
}

bool parse_at_declaration(Compiler *c)
{
    const Token *t = parse_token(c);
    switch (t->id) {
    case KEYWORD_TYPEDEF: case KEYWORD_EXTERN: case KEYWORD_STATIC: case KEYWORD_CONSTEXPR: case KEYWORD_SHARED: case KEYWORD_CONSTANT: case KEYWORD_DEVICE:
    case KEYWORD_MANAGED: case KEYWORD_USING: case KEYWORD_STATIC_ASSERT: case KEYWORD_REGISTER: case KEYWORD_ALIGNAS: case KEYWORD_ALIGN:
    case KEYWORD_INLINE: case KEYWORD_STRUCT: case KEYWORD_CLASS: case KEYWORD_UNION: case KEYWORD_ENUM: case KEYWORD_AUTO: case KEYWORD_GLOBAL:
    case KEYWORD_NAMESPACE: case KEYWORD_THREAD_LOCAL: case KEYWORD_ATTRIBUTE: case KEYWORD_BUILTIN_ALIGN: return true;
    case '[': return token_is(parse_peek(c, 1), '[');
    default: break;
    }
    if (parse_qualifier(t->id))
        return true;
    if (t->id == KEYWORD_DECLTYPE) { // decltype(x) y, but not decltype(x)(1)
        const ParserState saved = parse_save(c);
        parse_advance(c);
        parse_skip_group(c);
        const bool begins = !parse_at(c, '(') && !parse_at(c, '{') && !parse_at(c, ID_SCOPE);
        parse_restore(c, &saved);
        return begins;
    }
    if (t->id >= ID_FIRST_KEYWORD) {
        if (!parse_at_type(c))
            return false;
        const Token *next = parse_peek(c, 1);
        return !(token_is(next, '(') && !token_is(parse_peek(c, 2), '*') && !token_is(parse_peek(c, 2), '&')) && !token_is(next, '{');
    }
    if (t->kind != TOKEN_NAME && !token_is(t, ID_SCOPE))
        return false;
    const ParserState saved = parse_save(c);
    Type *type = parse_maybe_named_type(c);
    const Token *next = parse_token(c);
    bool begins = type && ((next->kind == TOKEN_NAME && next->id != KEYWORD_OPERATOR) || token_is(next, '*') || token_is(next, '&') || token_is(next, ID_AND));
    if (type && token_is(next, '(') && (token_is(parse_peek(c, 1), '*') || token_is(parse_peek(c, 1), '&'))) { // T (*p)(...), but not T(*p).f()
        parse_skip_group(c);
        begins = parse_at(c, '(') || parse_at(c, '[');
    }
    parse_restore(c, &saved);
    return begins || (!type && begins_unknown_declaration(c));
}

// ---- using, typedef, static_assert

static void declare_type(Compiler *c, Name *name, Type *type, Position at)
{
    Symbol *old = scope_find(c->parser->state.scope, name);
    if (old && old->kind == SYMBOL_TYPE && (old->type == type || type_is_unknown(type)))
        return;
    scope_declare(c, c->parser->state.scope, SYMBOL_TYPE, name, at)->type = type;
}

static void parse_using_declaration(Compiler *c)
{
    parse_accept(c, KEYWORD_TYPENAME);
    const ParsedName n = parse_qualified_name(c);
    if (n.name && n.symbol && !(n.symbol->scope == c->parser->state.scope)) {
        for (Symbol *symbol = n.symbol; symbol; symbol = symbol->next_overload) {
            Symbol *copy = scope_declare(c, c->parser->state.scope, symbol->kind, n.name, n.start), saved_symbol = *copy;
            *copy = *symbol;
            copy->next = saved_symbol.next;
            copy->next_in_scope = saved_symbol.next_in_scope;
            copy->next_overload = NULL;
        }
    } else if (n.name && !n.symbol && !n.dependent_scope) {
        parse_report_unknown(c, &n);
        if (c->silent && !scope_find(c->parser->state.scope, n.name))
            scope_declare(c, c->parser->state.scope, SYMBOL_UNKNOWN, n.name, n.start);
    }
    parse_expect(c, ';', "after the name");
}

void parse_using(Compiler *c)
{
    parse_advance(c);
    if (parse_accept(c, KEYWORD_NAMESPACE)) {
        const ParsedName n = parse_qualified_name(c);
        if (n.symbol && n.symbol->kind == SYMBOL_NAMESPACE)
            scope_use(c, c->parser->state.scope, n.symbol->names);
        else if (!(n.name && (!strcmp(n.name->text, "std") || n.is_unknown_scope || n.scope)))
            parse_report_unknown(c, &n);
        parse_expect(c, ';', "after the namespace");
        return;
    }
    const Token *t = parse_token(c);
    if (t->kind == TOKEN_NAME && !t->id && token_is(parse_peek(c, 1), '=')) {
        parse_advance(c), parse_advance(c);
        const bool silent = !c->parser->state.function; // may be a type of a host library
        c->silent += silent;
        Type *type = parse_type_name(c);
        c->silent -= silent;
        if (type->kind == TYPE_UNKNOWN && silent && !scope_find(c->parser->state.scope, t->name))
            scope_declare(c, c->parser->state.scope, SYMBOL_UNKNOWN, t->name, t->position);
        else
            declare_type(c, t->name, type, t->position);
        if (c->parser->state.panicking)
            return;
        parse_expect(c, ';', "after the type");
        return;
    }
    c->silent++; // names of host libraries are unknown
    parse_using_declaration(c);
    c->silent--;
}

void parse_static_assert(Compiler *c)
{
    const Position at = parse_token(c)->position;
    parse_advance(c);
    parse_expect(c, '(', "after static_assert");
    Expression *e = parse_conditional(c);
    const char *text = NULL;
    if (parse_accept(c, ',') && parse_token(c)->kind == TOKEN_STRING) {
        Expression *message = parse_name_expression(c);
        text = message->kind == EXPRESSION_STRING ? message->text : NULL;
    }
    parse_expect(c, ')', "after the condition");
    parse_expect(c, ';', "after static_assert(...)");
    if (expression_is_unknown(e))
        return;
    e = convert_to_condition(c, e, "the condition of static_assert");
    Constant value;
    if (expression_is_unknown(e))
        return;
    if (!constant_evaluate(c, e, &value))
        expression_error(c, e, NULL, "the condition of static_assert must be known when the program is compiled");
    else if (!value.integer)
        source_error(c, at, 13, NULL, text ? "static_assert failed: %s" : "static_assert failed%s", text ? text : "");
}

static void parse_namespace(Compiler *c)
{
    ParserState *state = &c->parser->state;
    Scope *outer = state->scope;
    const bool is_inline = parse_accept(c, KEYWORD_INLINE);
    parse_advance(c);
    const Token *t = parse_token(c);
    Name *name = NULL;
    if (t->kind == TOKEN_NAME && !t->id && token_is(parse_peek(c, 1), '=')) { // an alias
        parse_advance(c), parse_advance(c);
        const ParsedName n = parse_qualified_name(c);
        if (n.symbol && n.symbol->kind == SYMBOL_NAMESPACE) {
            const Symbol *old = scope_find(state->scope, t->name);
            if (!old || old->kind != SYMBOL_NAMESPACE || old->names != n.symbol->names)
                scope_declare(c, state->scope, SYMBOL_NAMESPACE, t->name, t->position)->names = n.symbol->names;
        } else {
            parse_report_unknown(c, &n);
        }
        parse_expect(c, ';', "after the namespace");
        return;
    }
    Scope *space = state->scope;
    do {
        t = parse_token(c);
        name = t->kind == TOKEN_NAME && !t->id ? t->name : NULL;
        if (name)
            parse_advance(c);
        Scope *inner = scope_namespace(c, space, name, t->position);
        if (is_inline)
            scope_use(c, space, inner);
        space = inner;
    } while (parse_accept(c, ID_SCOPE));
    const Position open = parse_token(c)->position;
    if (!parse_expect(c, '{', "after the namespace"))
        return;
    state->scope = space;
    parse_enter(c);
    while (!parse_at(c, '}') && parse_token(c)->kind != TOKEN_END)
        parse_declaration(c);
    parse_leave(c);
    state->scope = outer;
    if (!parse_accept(c, '}'))
        source_error(c, open, 1, "add the } that ends the namespace", "this { has no }");
}

// ---- variables

static Type *deduced_type(Compiler *c, Type *declared, Expression *e)
{
    Type *bare = type_without_reference(declared);
    if (bare->kind == TYPE_POINTER) { // auto *p
        Type *value = expression_decayed_type(c, e);
        if (value->kind != TYPE_POINTER)
            return type_is_unknown(value) ? value : type_basic(c, TYPE_UNKNOWN);
        Type *target = type_qualified(c, value->target, bare->target->qualifiers);
        return type_qualified(c, type_pointer(c, target), bare->qualifiers);
    }
    if (expression_is_unknown(e) && e->kind != EXPRESSION_FUNCTION)
        return type_basic(c, TYPE_UNKNOWN);
    if (type_is_any_reference(declared)) {
        const bool rvalue = declared->kind == TYPE_RVALUE_REFERENCE && !(e->is_lvalue && !e->is_xvalue);
        return type_reference(c, type_qualified(c, e->type, bare->qualifiers), rvalue);
    }
    return type_qualified(c, expression_decayed_type(c, e), declared->qualifiers);
}

static Type *innermost_target(Type *type)
{
    while (type->kind == TYPE_POINTER || type_is_any_reference(type))
        type = type->target;
    return type;
}

static void check_shared(Compiler *c, const Variable *v, Position at)
{
    if (v->space == SPACE_SHARED && v->initialiser && !(v->initialiser->kind == EXPRESSION_CONSTRUCT && !v->initialiser->argument_count))
        source_error(c, at, 0, "one thread assigns to it, then __syncthreads()", "a variable in shared memory cannot have an initial value");
}

// = value, (values), {values} or none
static void parse_initialiser(Compiler *c, Variable *v, bool declared_auto)
{
    const Token *t = parse_token(c);
    Expression *e = NULL;
    const bool host = v->space == SPACE_HOST && !v->is_constexpr && !(v->type->qualifiers & TYPE_CONST) && !host_is_parsed(c);
    const bool known = !type_is_unknown(v->type);
    c->silent += host;
    if (parse_accept(c, '=')) {
        Expression *value = parse_at(c, '{') ? parse_braced(c) : parse_assignment(c);
        if (declared_auto)
            v->type = deduced_type(c, v->type, value);
        e = known ? initialise_copy(c, v->type, value, "an initialisation") : value;
    } else if (parse_at(c, '{') && known) {
        Expression *list = parse_braced(c);
        if (declared_auto && list->argument_count == 1)
            v->type = deduced_type(c, v->type, list->arguments[0]);
        e = initialise_list(c, v->type, list, "an initialisation");
    } else if (parse_at(c, '(') || parse_at(c, '{')) {
        const uint16_t closing = parse_at(c, '(') ? ')' : '}';
        parse_advance(c);
        uint32_t count;
        Expression **arguments = parse_arguments(c, closing, &count);
        if (declared_auto && count == 1)
            v->type = deduced_type(c, v->type, arguments[0]);
        e = known ? initialise_direct(c, v->type, arguments, count, t->position, parse_end(c)) : NULL;
    } else if (!v->is_extern && v->space != SPACE_HOST) {
        if (declared_auto)
            source_error(c, v->position, 0, "write the type, or = value", "'auto' needs a value to take its type from");
        else if (known && (type_innermost(v->type)->qualifiers & TYPE_CONST) && v->space == SPACE_AUTOMATIC && v->type->kind != TYPE_RECORD)
            source_error(c, v->position, 0, "write = value", "'%s' is const, but has no value", v->name ? v->name->text : "it");
        e = known && v->space != SPACE_SHARED ? initialise_default(c, v->type, v->position, v->name ? compile_format(c, "'%s'", v->name->text) : NULL) : NULL;
    }
    c->silent -= host;
    v->type = array_completed(c, v->type, e);
    v->initialiser = e;
    v->is_initialised = true;
    Constant value;
    if (v->is_constexpr && e && !expression_is_unknown(e) && type_is_arithmetic(type_bare(v->type)) && !constant_of_variable(c, v, &value))
        expression_error(c, e, "write const instead of constexpr", "'%s' is constexpr, but its value is not a constant", v->name ? v->name->text : "it");
    check_shared(c, v, t->position);
}

static bool is_device_function(const Compiler *c)
{
    const Function *f = c->parser->state.function;
    return f && !f->is_lenient && (f->is_device || f->is_kernel);
}

static void check_variable_type(Compiler *c, Variable *v)
{
    Type *type = v->type;
    const char *name = v->name ? v->name->text : "it";
    if (type->kind == TYPE_VOID) {
        source_error(c, v->position, 0, "a pointer is void *", "'%s' cannot be void", name);
    } else if (type_innermost(type)->kind == TYPE_RECORD && !type_is_complete(type_innermost(type)) && !v->is_extern) {
        source_error(c, v->position, 0, NULL, "'%s' is declared, but not defined", type_text(c, type_innermost(type)));
    } else if (is_device_function(c) && !record_is_usable(c, type, v->position, v->name ? v->name->length : 0)) {
        v->type = type_basic(c, TYPE_UNKNOWN);
        return;
    } else if (v->space == SPACE_AUTOMATIC && type->size > (1 << 20)) {
        source_error(c, v->position, 0, "use shared or global memory", "'%s' has %llu bytes, too much for a thread", name, (unsigned long long)type->size);
    } else {
        return;
    }
    v->type = type_basic(c, TYPE_UNKNOWN);
}

static uint8_t space_of(const Specifiers *s, bool is_local)
{
    if (s->is_shared)
        return SPACE_SHARED;
    if (s->is_constant)
        return SPACE_CONSTANT;
    if (s->is_managed)
        return SPACE_MANAGED;
    if (s->is_device)
        return SPACE_DEVICE;
    return is_local ? SPACE_AUTOMATIC : SPACE_HOST;
}

static void check_size_known(Compiler *c, const Variable *v)
{
    if (v->type->kind != TYPE_ARRAY || v->type->count != NO_SIZE || type_is_unknown(v->type))
        return;
    if (v->space == SPACE_SHARED && !v->is_extern)
        source_error(c, v->position, v->name ? v->name->length : 0, "write its size, or extern __shared__ if the launch decides it",
                     "the array '%s' has no size", v->name ? v->name->text : "");
    else if (!v->is_extern)
        source_error(c, v->position, v->name ? v->name->length : 0, "write its size", "the array '%s' has no size", v->name ? v->name->text : "");
}

// Declares a variable whose declarator has been parsed, and parses its initialiser.
Variable *parse_variable(Compiler *c, const Specifiers *s, const Declarator *d, bool is_local)
{
    Parser *p = c->parser;
    Variable *v = variable_new(c, d->name, d->type, d->position);
    v->space = space_of(s, is_local);
    v->is_extern = s->is_extern;
    v->is_static = s->is_static;
    v->is_constexpr = s->is_constexpr;
    v->is_inline = s->is_inline;
    v->alignment = s->alignment;
    if (is_local && s->is_static && v->space == SPACE_AUTOMATIC)
        v->space = p->state.function && (p->state.function->is_lenient || host_is_parsed(c)) ? SPACE_HOST : SPACE_DEVICE;
    if (is_local && p->state.function && v->space == SPACE_DEVICE)
        v->order = p->state.function->static_count++;
    if (s->is_constexpr)
        v->type = type_qualified(c, v->type, TYPE_CONST);
    check_variable_type(c, v);
    Symbol *old = d->name ? scope_find(p->state.scope, d->name) : NULL;
    const bool again = old && old->kind == SYMBOL_VARIABLE && (old->variable->is_extern || s->is_extern);
    if (d->name && !d->scope) {
        if (again && s->is_extern)
            v = old->variable;
        else if (again)
            old->variable = v;
        else
            scope_declare(c, p->state.scope, SYMBOL_VARIABLE, d->name, d->position)->variable = v;
    } else if (d->scope && d->scope->kind == SCOPE_RECORD) { // the definition of a static member
        Symbol *member = scope_find(d->scope, d->name);
        if (member && member->kind == SYMBOL_VARIABLE)
            member->variable->is_extern = false, v = member->variable;
    }
    const bool is_auto = innermost_target(v->type)->kind == TYPE_AUTO;
    Scope *outer = p->state.scope;
    if (d->scope)
        p->state.scope = d->scope;
    if (!again || !s->is_extern)
        parse_initialiser(c, v, is_auto);
    p->state.scope = outer;
    check_size_known(c, v);
    if (v->space != SPACE_HOST && v->space != SPACE_AUTOMATIC && (!is_local || v->space == SPACE_DEVICE))
        *compile_push(c, p->variables, p->variable_count, p->variable_capacity) = v;
    return v;
}

Statement *parse_local_declaration(Compiler *c, bool *is_condition)
{
    const Position at = parse_token(c)->position;
    if (parse_at(c, KEYWORD_USING)) {
        parse_using(c);
        return statement_empty(c, at);
    }
    if (parse_at(c, KEYWORD_STATIC_ASSERT)) {
        parse_static_assert(c);
        return statement_empty(c, at);
    }
    if (parse_at(c, KEYWORD_NAMESPACE)) {
        parse_namespace(c);
        return statement_empty(c, at);
    }
    Statement *first = NULL, **last = &first;
    Specifiers s = parse_specifiers(c);
    if (!s.has_type) {
        Type *unknown = parse_unknown_type(c);
        if (!unknown)
            parse_syntax_error(c, NULL, "expected a type");
        while (parse_qualifier(parse_token(c)->id))
            parse_advance(c);
    }
    while (!parse_at(c, ';') || !s.defines_type) {
        Declarator d = {0};
        parse_declarator(c, &s, &d);
        if (!d.name) {
            if (d.is_pack || parse_at(c, '['))
                source_error(c, parse_token(c)->position, 1, "write auto x = value.member;", "structured bindings are not supported");
            parse_syntax_error(c, NULL, "expected a name");
            break;
        }
        if (s.is_typedef) {
            declare_type(c, d.name, d.type, d.position);
        } else if (d.is_function) {
            parse_function(c, &s, &d, NULL);
        } else {
            Statement *declaration = statement_new(c, STATEMENT_DECLARE, d.position);
            declaration->variable = parse_variable(c, &s, &d, true);
            *last = declaration;
            last = &declaration->next;
        }
        if (!parse_accept(c, ','))
            break;
    }
    if (is_condition && *is_condition) { // in an if or switch: an init-statement if a ; follows, otherwise the condition
        *is_condition = !parse_at(c, ';');
        parse_accept(c, ';');
    } else {
        parse_expect(c, ';', "after the declaration");
    }
    return first ? first : statement_empty(c, at);
}

// ---- namespace-scope declarations

// Whether a CUDA keyword precedes the declaration's body or initialiser.
bool parse_is_device(Compiler *c)
{
    for (const Token *t = parse_token(c);; t++) {
        if (t->kind == TOKEN_END || token_is(t, ';') || token_is(t, '{') || token_is(t, '}'))
            return false;
        if (token_is(t, KEYWORD_GLOBAL) || token_is(t, KEYWORD_DEVICE) || token_is(t, KEYWORD_CONSTANT) || token_is(t, KEYWORD_SHARED) ||
            token_is(t, KEYWORD_MANAGED))
            return true;
    }
}

static void parse_declarators(Compiler *c, Specifiers *s)
{
    const uint32_t errors = c->silent_errors;
    for (;;) {
        Declarator d = {0};
        const uint32_t begin = c->parser->state.at;
        parse_declarator(c, s, &d);
        if (!d.name) {
            parse_syntax_error(c, NULL, c->parser->state.at == begin && parse_token(c)->kind != TOKEN_END ? "expected a name, not '%.*s'" : "expected a name%.*s",
                               (int)parse_token(c)->length, parse_token(c)->text);
            return;
        }
        if (s->is_typedef) {
            declare_type(c, d.name, d.type, d.position);
        } else if (d.is_function) {
            Function *f = parse_function(c, s, &d, NULL);
            if (f && f->body_token)
                return;
        } else {
            parse_variable(c, s, &d, false);
        }
        if (!parse_accept(c, ','))
            break;
    }
    parse_end_of_declaration(c, "after the declaration", errors);
}

static void parse_simple_declaration(Compiler *c)
{
    const bool device = parse_is_device(c);
    const uint16_t first = parse_token(c)->id;
    const bool type_only = first == KEYWORD_STRUCT || first == KEYWORD_CLASS || first == KEYWORD_UNION || first == KEYWORD_ENUM;
    const bool silent = !device && !type_only;
    c->silent += silent;
    Specifiers s = parse_specifiers(c);
    const bool constructor = !s.has_type && parse_token(c)->kind == TOKEN_NAME && token_is(parse_peek(c, 1), ID_SCOPE) && !begins_unknown_declaration(c);
    if (!s.has_type && !constructor && !parse_at(c, '~')) {
        const Token *t = parse_token(c);
        if (!parse_unknown_type(c)) {
            parse_syntax_error(c, NULL, t->kind == TOKEN_END ? "expected a declaration" : "expected a declaration, not '%.*s'", (int)t->length, t->text);
        }
        while (parse_qualifier(parse_token(c)->id))
            parse_advance(c);
    }
    if (s.lacks_semicolon)
        c->parser->state.panicking = false;
    if (s.lacks_semicolon || (s.defines_type && parse_accept(c, ';'))) {
        c->silent -= silent;
        return;
    }
    if (!c->parser->state.panicking)
        parse_declarators(c, &s);
    c->silent -= silent;
}

void parse_declaration(Compiler *c)
{
    Parser *p = c->parser;
    const uint32_t begin = p->state.at;
    const Token *t = parse_token(c);
    parse_enter(c);
    parse_correct_keyword(c);
    if (parse_accept(c, ';')) {
        // nothing
    } else if (token_is(t, KEYWORD_NAMESPACE) || (token_is(t, KEYWORD_INLINE) && token_is(parse_peek(c, 1), KEYWORD_NAMESPACE))) {
        parse_namespace(c);
    } else if (token_is(t, KEYWORD_USING)) {
        parse_using(c);
    } else if (token_is(t, KEYWORD_STATIC_ASSERT)) {
        parse_static_assert(c);
    } else if (token_is(t, KEYWORD_TEMPLATE)) {
        parse_advance(c);
        parse_template(c, NULL);
    } else if (token_is(t, KEYWORD_EXTERN) && parse_peek(c, 1)->kind == TOKEN_STRING && token_is(parse_peek(c, 2), '{')) {
        parse_advance(c), parse_advance(c), parse_advance(c);
        while (!parse_at(c, '}') && parse_token(c)->kind != TOKEN_END)
            parse_declaration(c);
        parse_expect(c, '}', "after the declarations");
    } else if (t->kind == TOKEN_UNROLL) {
        while (parse_token(c)->kind != TOKEN_LINE_END && parse_token(c)->kind != TOKEN_END)
            parse_advance(c);
        parse_advance(c);
    } else {
        parse_simple_declaration(c);
    }
    parse_leave(c);
    if (p->state.panicking)
        parse_recover(c);
    p->state.panicking = false;
    p->state.panic_at = 0;
    if (p->state.at == begin)
        parse_advance(c);
}
