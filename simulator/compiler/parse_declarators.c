// parse_declarators.c: declarators: pointers, arrays, parameters.
#include "compiler/build.h"

#include <string.h>

static Type *parse_pointers(Compiler *c, Type *type)
{
    for (;;) {
        if (parse_accept(c, '*')) {
            type = type_pointer(c, type);
        } else if (parse_at(c, '&') || parse_at(c, ID_AND)) {
            const bool rvalue = parse_at(c, ID_AND);
            parse_advance(c);
            if (type->kind == TYPE_VOID) {
                source_error(c, parse_previous(c)->position, 1, NULL, "a reference to void");
                type = type_basic(c, TYPE_UNKNOWN);
            }
            type = type_reference(c, type, rvalue);
        } else if (parse_qualifier(parse_token(c)->id)) {
            type = type_qualified(c, type, parse_qualifier(parse_token(c)->id));
            parse_advance(c);
        } else {
            Specifiers ignored = {0};
            if (!parse_attributes(c, &ignored))
                return type;
        }
    }
}

Type *parse_parameter_type(Compiler *c, Type *type)
{
    if (type->kind == TYPE_ARRAY)
        return type_pointer(c, type->target);
    return type->kind == TYPE_FUNCTION ? type_pointer(c, type) : type;
}

static void parse_parameter(Compiler *c, Declarator *d, uint32_t *capacity, uint32_t *default_capacity, Symbol *pack)
{
    Specifiers s = parse_specifiers(c);
    Declarator parameter = {0};
    if (!s.has_type && parse_unknown_type(c)) {
        s.has_type = true;
        while (parse_qualifier(parse_token(c)->id))
            parse_advance(c);
    }
    if (!s.has_type) {
        const Token *t = parse_token(c);
        parse_syntax_error(c, NULL, "expected a parameter, not '%.*s'", (int)t->length, t->text);
        while (!parse_at(c, ',') && !parse_at(c, ')') && !parse_at(c, ';') && !parse_at(c, '{') && parse_token(c)->kind != TOKEN_END)
            parse_advance(c);
        c->parser->state.panicking = false;
        parameter.type = type_basic(c, TYPE_UNKNOWN);
    } else {
        parse_declarator(c, &s, &parameter);
    }
    if (s.is_shared)
        source_error(c, s.start, 0, "declare the array in the kernel: __shared__ int name[256]; or extern __shared__ int name[];",
                     "a parameter cannot be in shared memory");
    Variable *v = variable_new(c, parameter.name, parse_parameter_type(c, parameter.type), parameter.position);
    v->is_parameter = true;
    v->is_initialised = true;
    v->alignment = s.alignment;
    const uint32_t index = d->parameter_count;
    *compile_push(c, d->parameters, d->parameter_count, *capacity) = v;
    uint32_t slots = index;
    uint32_t *slot = compile_push(c, d->defaults, slots, *default_capacity);
    *slot = 0;
    v->is_pack = parameter.is_pack && !pack;
    if (pack) { // an element of a function parameter pack
        pack->name = parameter.name;
        Symbol *element = compile_new(c, Symbol);
        *element = (Symbol){.kind = SYMBOL_VARIABLE, .name = parameter.name, .variable = v};
        pack->elements[pack->element_count++] = element;
    } else if (parameter.name) {
        scope_declare(c, c->parser->state.scope, SYMBOL_VARIABLE, parameter.name, parameter.position)->variable = v;
    }
    if (parse_accept(c, '=')) {
        *slot = c->parser->state.at;
        while (!parse_at(c, ',') && !parse_at(c, ')') && parse_token(c)->kind != TOKEN_END)
            if (parse_at(c, '<')) {
                if (!parse_skip_angles(c))
                    parse_advance(c);
            } else {
                parse_skip_group(c);
            }
    } else if (d->required == index && !v->is_pack) {
        d->required = index + 1;
    }
}

// The template parameter pack T of a parameter pack such as `T... name` or `S<T>... name`; NULL: not a pack. The `...` of S<T...> is not
// that of the parameter.
static Symbol *pack_of_parameter(Compiler *c)
{
    Symbol *pack = NULL, *outside = NULL; // outside: found before the outermost <
    uint32_t angles = 0;
    for (uint32_t k = 0; k < 40; k++) {
        const Token *t = parse_peek(c, k);
        const bool ends = token_is(t, ')') || token_is(t, '=') || (token_is(t, ',') && !angles);
        if (t->kind == TOKEN_END || ends)
            return NULL;
        if (token_is(t, '<') && !angles++)
            outside = pack;
        angles -= angles && token_is(t, '>');
        if (token_is(t, ID_ELLIPSIS) && !angles)
            return pack;
        if (token_is(t, ID_ELLIPSIS))
            pack = outside;
        Symbol *symbol = t->kind == TOKEN_NAME && !t->id ? scope_lookup(c, c->parser->state.scope, t->name) : NULL;
        if (symbol && symbol->kind == SYMBOL_PACK)
            pack = symbol;
    }
    return NULL;
}

// Parses the parameter once for each element of the pack.
static void parse_parameter_pack(Compiler *c, Declarator *d, uint32_t *capacity, uint32_t *default_capacity, Symbol *types)
{
    const uint32_t begin = c->parser->state.at, count = types->element_count;
    const Symbol saved_pack = *types;
    Symbol parameters = {.kind = SYMBOL_PACK, .elements = compile_allocate(c, (count + 1) * sizeof(Symbol *))};
    for (uint32_t k = 0; k < count; k++) {
        const Symbol *element = saved_pack.elements[k];
        types->kind = element->kind;
        types->type = element->type ? element->type : type_basic(c, TYPE_UNKNOWN);
        types->constant = element->constant;
        c->parser->state.at = begin;
        parse_parameter(c, d, capacity, default_capacity, &parameters);
    }
    *types = saved_pack;
    const Token *last = NULL;
    if (count == 0) // skips to the name
        while (!parse_at(c, ',') && !parse_at(c, ')') && parse_token(c)->kind != TOKEN_END) {
            last = parse_token(c);
            if (!parse_skip_angles(c))
                parse_advance(c);
        }
    Name *name = count ? parameters.name : last && last->kind == TOKEN_NAME ? last->name : NULL;
    if (!name)
        return;
    Symbol *symbol = scope_declare(c, c->parser->state.scope, SYMBOL_PACK, name, parse_previous(c)->position);
    symbol->elements = parameters.elements;
    symbol->element_count = parameters.element_count;
}

void parse_parameters(Compiler *c, Declarator *d)
{
    Scope *outer = c->parser->state.scope;
    const bool greater = c->parser->state.no_greater;
    c->parser->state.no_greater = false;
    d->parameter_scope = c->parser->state.scope = scope_new(c, SCOPE_PARAMETERS, outer);
    uint32_t capacity = 0, default_capacity = 0;
    if (parse_at(c, KEYWORD_VOID) && token_is(parse_peek(c, 1), ')'))
        parse_advance(c);
    while (!parse_at(c, ')') && parse_token(c)->kind != TOKEN_END && !parse_at(c, ID_ELLIPSIS)) {
        Symbol *pack = pack_of_parameter(c);
        if (pack)
            parse_parameter_pack(c, d, &capacity, &default_capacity, pack);
        else
            parse_parameter(c, d, &capacity, &default_capacity, NULL);
        if (!parse_accept(c, ','))
            break;
    }
    const bool variadic = parse_accept(c, ID_ELLIPSIS);
    parse_expect(c, ')', "after the parameters");
    c->parser->state.scope = outer;
    c->parser->state.no_greater = greater;
    d->is_pure = variadic; // reused for function_suffix
}

static Type *function_suffix(Compiler *c, Type *result, Declarator *d)
{
    Declarator own = {0};
    parse_parameters(c, &own);
    const bool variadic = own.is_pure;
    uint8_t qualifiers = 0;
    for (;;) {
        Specifiers ignored = {0};
        if ((parse_token(c)->flags & TOKEN_FIRST) && token_begins_declaration(parse_peek(c, 1)))
            break; // `const int` on the next line
        if (parse_qualifier(parse_token(c)->id)) {
            qualifiers |= parse_qualifier(parse_token(c)->id);
            parse_advance(c);
        } else if (parse_accept(c, KEYWORD_NOEXCEPT) || parse_accept(c, KEYWORD_THROW)) {
            if (parse_at(c, '('))
                parse_skip_group(c);
        } else if (parse_at(c, '&') || parse_at(c, ID_AND) ||
                   (parse_token(c)->kind == TOKEN_NAME && (!strcmp(parse_token(c)->name->text, "override") || !strcmp(parse_token(c)->name->text, "final")))) {
            parse_advance(c);
        } else if (!parse_attributes(c, &ignored)) {
            break;
        }
    }
    if (parse_accept(c, ID_ARROW)) {
        Scope *outer = c->parser->state.scope;
        c->parser->state.scope = own.parameter_scope;
        result = parse_type_name(c);
        c->parser->state.scope = outer;
    }
    Type **types = compile_allocate(c, (own.parameter_count + 1) * sizeof *types);
    for (uint32_t k = 0; k < own.parameter_count; k++)
        types[k] = type_bare(own.parameters[k]->type);
    d->parameters = own.parameters;
    d->parameter_count = own.parameter_count;
    d->required = own.required;
    d->defaults = own.defaults;
    d->parameter_scope = own.parameter_scope;
    return type_function(c, result, types, own.parameter_count, variadic, qualifiers);
}

static Type *checked_element(Compiler *c, Type *element, Position at)
{
    if (element->kind != TYPE_VOID && element->kind != TYPE_FUNCTION && !type_is_any_reference(element))
        return element;
    source_error(c, at, 1, NULL, "an array of '%s'", type_text(c, element));
    return type_basic(c, TYPE_UNKNOWN);
}

static Type *array_suffix(Compiler *c, Type *element)
{
    const Position at = parse_previous(c)->position;
    uint64_t count = NO_SIZE;
    Expression *dependent = NULL;
    if (!parse_at(c, ']')) {
        const bool greater = c->parser->state.no_greater;
        c->parser->state.no_greater = false;
        Expression *e = expression_value(c, parse_conditional(c));
        c->parser->state.no_greater = greater;
        Constant value = {0};
        if (expression_is_unknown(e)) {
            dependent = e;
        } else if (!type_is_integer(type_integer_of(e->type)) && e->type->kind != TYPE_RECORD) {
            expression_error(c, e, NULL, "the number of elements must be an integer, and this is '%s'", type_text(c, e->type));
            dependent = e;
        } else if (!constant_evaluate(c, convert(c, e, type_basic(c, TYPE_LONG_LONG), NULL), &value)) {
            expression_error(c, e, "a size that the launch decides: extern __shared__ T name[]; otherwise use a constant: const int or constexpr",
                             "the number of elements is no constant");
            dependent = e;
        } else if (value.integer < 0 || (uint64_t)value.integer > (uint64_t)1 << 40) {
            expression_error(c, e, NULL, "an array cannot have %lld elements", (long long)value.integer);
            dependent = e;
        }
        count = (uint64_t)value.integer;
    }
    const Token *end = parse_token(c);
    const char *macro = token_is(end, ';') && (end->flags & TOKEN_EXPANDED) && token_is(parse_peek(c, 1), ']') ? preprocess_macro_at(c, end->position) : NULL;
    if (macro) {
        source_error(c, end->position, 0, macro, "expected ']' after the size, not ';'");
        parse_advance(c), parse_advance(c);
    } else {
        parse_expect(c, ']', "after the size");
    }
    if (parse_accept(c, '['))
        element = array_suffix(c, element);
    element = checked_element(c, element, at);
    if (dependent && element->kind != TYPE_UNKNOWN) {
        if (!c->parser->state.in_pattern)
            return type_basic(c, TYPE_UNKNOWN);
        Type *type = type_new(c, TYPE_ARRAY);
        type->target = element;
        type->count = NO_SIZE;
        type->bound = dependent;
        type->dependent = true;
        return type;
    }
    return type_array(c, element, count);
}

// Whether an unknown type and a parameter's name follow.
static bool at_unknown_parameter(Compiler *c)
{
    const Token *t = parse_token(c);
    uint32_t k = parse_unknown_type_length(c);
    const bool is_plain = k == 1; // then T & x may be a value
    if (k == 0 || (is_plain && scope_lookup(c, c->parser->state.scope, t->name)))
        return false;
    if (is_plain && parse_peek(c, 1)->kind == TOKEN_NAME)
        return true;
    bool is_pointer = false;
    for (; token_is(parse_peek(c, k), '*') || (!is_plain && (token_is(parse_peek(c, k), '&') || token_is(parse_peek(c, k), ID_AND))); k++)
        is_pointer = true;
    const Token *after = parse_peek(c, k + 1);
    return parse_peek(c, k)->kind == TOKEN_NAME && (!is_pointer || token_is(after, ',') || token_is(after, ')') || token_is(after, '='));
}

// Whether a ( after a declarator's name begins a parameter list rather than an initialiser.
static bool begins_parameters(Compiler *c)
{
    const Token *next = parse_peek(c, 1);
    if (token_is(next, ')') || token_is(next, ID_ELLIPSIS))
        return true;
    const ParserState saved = parse_save(c);
    parse_advance(c);
    Specifiers ignored = {0};
    while (parse_attributes(c, &ignored))
        continue;
    const Symbol *pack = pack_of_parameter(c);
    if (pack && (!pack->element_count || pack->elements[0]->kind == SYMBOL_TYPE)) {
        parse_restore(c, &saved);
        return true;
    }
    bool type = parse_at_type(c);
    if (type && parse_token(c)->kind == TOKEN_NAME && !parse_token(c)->id) { // T(x) or T{x} is a value
        parse_maybe_named_type(c);
        type = !parse_at(c, '{') && !(parse_at(c, '(') && !token_is(parse_peek(c, 1), '*') && !token_is(parse_peek(c, 1), '&'));
    } else if (type && parse_token(c)->id >= ID_FIRST_KEYWORD) {
        parse_advance(c);
        type = !parse_at(c, '(') || token_is(parse_peek(c, 1), '*') || token_is(parse_peek(c, 1), '&');
    } else if (!type) {
        type = at_unknown_parameter(c);
    }
    parse_restore(c, &saved);
    return type;
}

static Type *parse_suffix(Compiler *c, Type *type, Declarator *d, bool is_outermost)
{
    if (parse_at(c, '[') && !token_is(parse_peek(c, 1), '[')) {
        parse_advance(c);
        return array_suffix(c, type);
    }
    if (!parse_at(c, '(') || !begins_parameters(c))
        return type;
    parse_advance(c);
    if (type->kind == TYPE_ARRAY || type->kind == TYPE_FUNCTION) {
        source_error(c, parse_previous(c)->position, 1, NULL, "a function cannot return '%s'", type_text(c, type));
        type = type_basic(c, TYPE_UNKNOWN);
    }
    Declarator ignored = {0};
    d->is_function |= is_outermost;
    return function_suffix(c, type, is_outermost ? d : &ignored);
}

static bool begins_nested(Compiler *c) // whether a ( begins a nested declarator, as in (*name)
{
    if (!parse_at(c, '('))
        return false;
    const Token *next = parse_peek(c, 1);
    return token_is(next, '*') || token_is(next, '&') || token_is(next, ID_AND) || (token_is(next, '(') && !token_is(parse_peek(c, 2), ')'));
}

static void take_name(Compiler *c, Declarator *d, Type *specified)
{
    const ParserState saved = parse_save(c);
    const ParsedName name = parse_qualified_name(c);
    d->name = name.name;
    d->position = name.start;
    d->scope = name.scope;
    d->is_destructor = name.is_destructor;
    d->is_conversion = name.conversion != NULL;
    d->has_template_arguments = name.has_arguments;
    d->template_arguments = name.arguments;
    d->template_argument_count = name.argument_count;
    if (name.conversion)
        d->type = name.conversion;
    (void)specified;
    if (!name.name)
        parse_restore(c, &saved);
}

// auto [a, b] = ...: declares the names, whose types are unknown.
static void parse_bindings(Compiler *c, Declarator *d)
{
    const Position start = parse_token(c)->position;
    parse_advance(c);
    do {
        const Token *t = parse_token(c);
        if (t->kind != TOKEN_NAME || t->id)
            break;
        Variable *v = variable_new(c, t->name, type_basic(c, TYPE_UNKNOWN), t->position);
        v->is_initialised = true;
        scope_declare(c, c->parser->state.scope, SYMBOL_VARIABLE, t->name, t->position)->variable = v;
        parse_advance(c);
    } while (parse_accept(c, ','));
    parse_expect(c, ']', "after the names");
    source_error(c, start, parse_end(c) - start, "declare one variable, and use its members", "a structured binding is not supported");
    d->name = name_intern(c, "[]", 2);
    d->position = start;
}

static Type *parse_declared(Compiler *c, Type *type, Declarator *d)
{
    parse_enter(c);
    type = parse_pointers(c, type);
    if (type_without_reference(type)->kind == TYPE_AUTO && parse_at(c, '['))
        parse_bindings(c, d);
    if (begins_nested(c)) {
        const uint32_t inner = c->parser->state.at + 1;
        parse_skip_group(c);
        Declarator suffix = {0};
        type = parse_suffix(c, type, &suffix, false);
        const uint32_t after = c->parser->state.at;
        c->parser->state.at = inner;
        type = parse_declared(c, type, d);
        parse_expect(c, ')', "after the declarator");
        c->parser->state.at = after;
        parse_leave(c);
        return type;
    }
    const Token *t = parse_token(c);
    if (parse_accept(c, ID_ELLIPSIS))
        d->is_pack = true;
    t = parse_token(c);
    if ((t->kind == TOKEN_NAME && (!t->id || t->id == KEYWORD_OPERATOR)) || token_is(t, '~') || token_is(t, ID_SCOPE))
        take_name(c, d, type);
    Specifiers ignored = {0};
    while (parse_attributes(c, &ignored))
        continue;
    type = parse_suffix(c, d->is_conversion ? d->type : type, d, true);
    parse_leave(c);
    return type;
}

void parse_declarator(Compiler *c, const Specifiers *s, Declarator *d)
{
    d->position = parse_token(c)->position;
    d->type = parse_declared(c, s->type, d);
}

Type *parse_type_name(Compiler *c)
{
    Specifiers s = parse_specifiers(c);
    if (!s.has_type && !parse_unknown_type(c)) {
        const Token *t = parse_token(c);
        parse_syntax_error(c, NULL, "expected a type, not '%.*s'", (int)t->length, t->text);
        return type_basic(c, TYPE_UNKNOWN);
    }
    Declarator d = {0};
    parse_declarator(c, &s, &d);
    return d.type;
}
