// parse_records.c: structs, classes, unions and enumerations.
#include "compiler/build.h"

#include <string.h>

// ---- layout

static Field *add_field(Compiler *c, Record *r, Name *name, Type *type, Position at)
{
    Field *field = compile_push(c, r->fields, r->field_count, r->field_capacity);
    *field = (Field){.name = name, .position = at, .type = type, .record = r};
    return field;
}

static bool is_empty(const Type *type)
{
    return type->kind == TYPE_RECORD && type->record->field_count == 0;
}

static void layout_fields(Record *r)
{
    uint64_t offset = 0, size = 0;
    uint32_t alignment = r->alignment ? r->alignment : 1;
    for (uint32_t k = 0; k < r->field_count; k++) {
        Field *field = &r->fields[k];
        if (type_is_unknown(field->type))
            r->unsupported = "a member's type is not known";
        if (field->type->kind == TYPE_RECORD && field->type->record->unsupported)
            r->unsupported = field->type->record->unsupported;
        if (type_is_unknown(field->type))
            continue;
        const bool reference = type_is_any_reference(field->type);
        const uint32_t own = reference ? 8 : field->type->alignment ? field->type->alignment : 1;
        const uint64_t bytes = reference ? 8 : field->is_base && is_empty(field->type) ? 0 : field->type->size;
        field->offset = r->is_union ? 0 : sim_align_up(offset, own);
        offset = field->offset + bytes;
        size = offset > size ? offset : size;
        alignment = own > alignment ? own : alignment;
    }
    r->type->alignment = alignment;
    r->type->size = sim_align_up(size ? size : 1, alignment);
    for (int k = 0; k < TYPE_QUALIFIERS; k++)
        if (r->type->qualified[k]) {
            r->type->qualified[k]->size = r->type->size;
            r->type->qualified[k]->alignment = alignment;
        }
}

static bool needs_initialisation(const Type *type) // whether default-initialisation is not a no-op
{
    type = type_innermost((Type *)type);
    if (type->kind != TYPE_RECORD)
        return false;
    const Record *r = type->record;
    return (r->has_constructor && !r->has_trivial_default) || r->has_initialisers;
}

void record_complete(Compiler *c, Record *r)
{
    (void)c;
    bool trivial = true;
    r->is_aggregate = !r->has_constructor && !r->has_private && !r->is_closure;
    for (uint32_t k = 0; k < r->field_count; k++) {
        const Field *field = &r->fields[k];
        const Type *inner = type_innermost(field->type);
        r->has_initialisers |= field->initialiser_token || needs_initialisation(field->type);
        trivial &= inner->kind != TYPE_RECORD || inner->record->is_trivial;
        if (field->is_base && inner->kind == TYPE_RECORD && !inner->record->is_aggregate)
            r->is_aggregate = false;
    }
    for (Symbol *s = scope_find(r->scope, record_constructor_name(c)); s; s = s->next_overload) {
        const Function *f = s->kind == SYMBOL_FUNCTION ? s->function : NULL;
        if (!f)
            continue;
        const Type *first = f->parameter_count ? f->type->parameters[0] : NULL;
        const bool copies = first && type_is_any_reference(first) && type_bare(first->target) == r->type && f->required <= 1;
        if (copies && (!f->is_defaulted || f->is_deleted))
            trivial = false;
        if (f->required == 0 && f->is_defaulted && !f->is_deleted)
            r->has_trivial_default = true;
    }
    r->is_trivial = trivial;
    layout_fields(r);
    r->is_complete = true;
    r->is_being_defined = false;
}

// ---- members

static bool is_access(const Token *t)
{
    return token_is(t, KEYWORD_PUBLIC) || token_is(t, KEYWORD_PRIVATE) || token_is(t, KEYWORD_PROTECTED);
}

static void parse_bases(Compiler *c, Record *r)
{
    do {
        while (is_access(parse_token(c)) || parse_at(c, KEYWORD_VIRTUAL)) {
            if (parse_at(c, KEYWORD_VIRTUAL))
                r->unsupported = "virtual base classes are not supported";
            parse_advance(c);
        }
        const Token *t = parse_token(c);
        Type *type = parse_maybe_named_type(c);
        if (!type) {
            type = parse_unknown_type(c);
            if (!type) {
                parse_syntax_error(c, NULL, "expected a base class, not '%.*s'", (int)t->length, t->text);
                return;
            }
        }
        parse_accept(c, ID_ELLIPSIS);
        if (type->kind == TYPE_RECORD && !type_is_complete(type) && !type_is_unknown(type)) {
            source_error(c, t->position, t->length, NULL, "the base class '%s' is declared, but not defined", type_text(c, type));
            type = type_basic(c, TYPE_UNKNOWN);
        }
        add_field(c, r, NULL, type_bare(type), t->position)->is_base = true;
    } while (parse_accept(c, ','));
}

static void parse_bit_field(Compiler *c, Record *r)
{
    parse_conditional(c);
    r->unsupported = "bit-fields are not supported";
}

static void skip_initialiser(Compiler *c)
{
    while (!parse_at(c, ',') && !parse_at(c, ';') && !parse_at(c, '}') && parse_token(c)->kind != TOKEN_END) {
        if (parse_at(c, '<')) {
            if (parse_skip_angles(c))
                continue;
            parse_advance(c);
        } else {
            parse_skip_group(c);
        }
    }
}

static void declare_field(Compiler *c, Record *r, const Specifiers *s, Declarator *d)
{
    Type *type = d->type;
    if (type->kind == TYPE_VOID || (type_innermost(type)->kind == TYPE_RECORD && !type_is_complete(type_innermost(type)))) {
        source_error(c, d->position, 0, NULL, type->kind == TYPE_VOID ? "a member cannot be '%s'" : "'%s' is declared, but not defined",
                     type_text(c, type_innermost(type)));
        type = type_basic(c, TYPE_UNKNOWN);
    }
    if (type->kind == TYPE_ARRAY && type->count == NO_SIZE && !type_is_unknown(type)) {
        source_error(c, d->position, 0, "write its size", "the array '%s' has no size", d->name->text);
        type = type_basic(c, TYPE_UNKNOWN);
    }
    Field *field = add_field(c, r, d->name, type, d->position);
    field->is_mutable = s->is_mutable;
    scope_declare(c, r->scope, SYMBOL_FIELD, d->name, d->position);
    const uint32_t index = r->field_count - 1;
    if (parse_accept(c, ':'))
        parse_bit_field(c, r);
    if (parse_accept(c, '=') || parse_at(c, '{')) {
        r->fields[index].initialiser_token = c->parser->state.at;
        if (parse_at(c, '{'))
            parse_skip_group(c);
        else
            skip_initialiser(c);
    }
}

// Symbols get pointers to the fields when the list is complete, because it is reallocated as it grows.
static void set_field_symbols(Record *r)
{
    for (uint32_t k = 0; k < r->field_count; k++)
        if (r->fields[k].name) {
            Symbol *symbol = scope_find(r->scope, r->fields[k].name);
            if (symbol && symbol->kind == SYMBOL_FIELD)
                symbol->field = &r->fields[k];
        }
}

static void declare_function(Compiler *c, Record *r, Specifiers *s, Declarator *d)
{
    d->is_constructor = !s->has_type && d->name == r->name && !d->is_destructor && !d->is_conversion;
    if (d->is_constructor)
        d->type = type_function(c, type_basic(c, TYPE_VOID), d->type->parameters, d->type->parameter_count, d->type->variadic, 0);
    if (d->is_destructor) {
        const char *name = compile_format(c, "~%s", d->name->text);
        d->name = name_intern(c, name, strlen(name));
        d->type = type_function(c, type_basic(c, TYPE_VOID), NULL, 0, false, 0);
    }
    Function *f = parse_function(c, s, d, NULL);
    if (!f)
        return;
    if (f->is_constructor && !(f->is_defaulted && f->required > 0))
        r->has_constructor = true;
    if (f->is_destructor && !f->is_defaulted)
        r->destructor = f;
}

static void declare_member(Compiler *c, Record *r, Specifiers *s, Declarator *d)
{
    if (!d->name && parse_at(c, ':')) { // an unnamed bit-field
        parse_advance(c);
        parse_bit_field(c, r);
    } else if (!d->name) {
        parse_syntax_error(c, NULL, "expected a member's name, not '%.*s'", (int)parse_token(c)->length, parse_token(c)->text);
    } else if (s->is_typedef) {
        scope_declare(c, r->scope, SYMBOL_TYPE, d->name, d->position)->type = d->type;
    } else if (d->is_function) {
        declare_function(c, r, s, d);
    } else if (s->is_static || s->is_constexpr) {
        Specifiers own = *s;
        own.is_static = true;
        parse_variable(c, &own, d, false);
    } else {
        declare_field(c, r, s, d);
    }
}

// An unnamed struct or union without a declarator: its members are accessed as members of the record.
static void declare_anonymous(Compiler *c, Record *r, Type *type, Position at)
{
    if (type->kind != TYPE_RECORD || type->record->name)
        return;
    add_field(c, r, NULL, type, at)->is_anonymous = true;
}

static void parse_friend(Compiler *c, Specifiers *s)
{
    if (s->defines_type || parse_at(c, ';')) {
        parse_expect(c, ';', "after 'friend'");
        return;
    }
    Declarator d = {0};
    parse_declarator(c, s, &d);
    if (d.name && d.is_function) {
        Function *f = parse_function(c, s, &d, NULL);
        if (f && c->parser->state.scope->record) // for argument-dependent lookup
            scope_declare(c, c->parser->state.scope, SYMBOL_FUNCTION, f->name, f->position)->function = f;
        if (f && f->body_token)
            return;
    }
    parse_expect(c, ';', "after the declaration");
}

static void parse_plain_member(Compiler *c, Record *r);

static void parse_member_declaration(Compiler *c, Record *r)
{
    const Token *t = parse_token(c);
    if (is_access(t)) {
        parse_advance(c);
        parse_expect(c, ':', compile_format(c, "after '%s'", token_id_text(t->id)));
        c->parser->state.panicking = false;
        return;
    }
    if (parse_accept(c, ';'))
        return;
    if (token_is(t, KEYWORD_USING)) {
        parse_using(c);
        return;
    }
    if (token_is(t, KEYWORD_STATIC_ASSERT)) {
        parse_static_assert(c);
        return;
    }
    if (parse_accept(c, KEYWORD_TEMPLATE)) {
        parse_template(c, r);
        return;
    }
    // Errors in host members are not reported, but the types of members are needed.
    const bool silent = !parse_is_device(c);
    c->silent += silent;
    parse_plain_member(c, r);
    c->silent -= silent;
}

static void parse_plain_member(Compiler *c, Record *r)
{
    const Token *t = parse_token(c);
    const uint32_t errors = c->silent_errors;
    Specifiers s = parse_specifiers(c);
    if (s.is_virtual)
        r->unsupported = "virtual functions are not supported";
    if (s.is_friend) {
        parse_friend(c, &s);
        return;
    }
    const bool own = parse_token(c)->kind == TOKEN_NAME && parse_token(c)->name == r->name;
    if (!s.has_type && !own && !parse_at(c, '~') && !parse_at(c, KEYWORD_OPERATOR)) {
        if (!parse_unknown_type(c))
            parse_syntax_error(c, NULL, "expected a member, not '%.*s'", (int)t->length, t->text);
        s.has_type = true;
        while (parse_qualifier(parse_token(c)->id))
            parse_advance(c);
    }
    if (s.defines_type && parse_at(c, ';'))
        declare_anonymous(c, r, s.type, t->position);
    while (!(s.defines_type && parse_at(c, ';'))) {
        Declarator d = {0};
        const uint32_t functions = c->parser->state.at;
        parse_declarator(c, &s, &d);
        declare_member(c, r, &s, &d);
        if (parse_previous(c)->id == '}' && d.is_function && c->parser->state.at > functions && !parse_at(c, ','))
            return; // a body
        if (!parse_accept(c, ','))
            break;
    }
    parse_end_of_declaration(c, "after the member", errors);
}

static void parse_members(Compiler *c, Record *r, Position open)
{
    ParserState *state = &c->parser->state;
    Scope *outer = state->scope;
    const bool greater = state->no_greater, panicking = state->panicking;
    r->is_being_defined = true;
    state->scope = r->scope;
    state->no_greater = false;
    parse_enter(c);
    bool private = r->is_class;
    while (!parse_at(c, '}')) {
        const uint32_t begin = state->at, fields = r->field_count;
        if (parse_token(c)->kind == TOKEN_END || parse_at(c, KEYWORD_GLOBAL) || parse_at(c, KEYWORD_NAMESPACE)) {
            source_error(c, open, 1, "add the } and ; that end the type", "this { has no }");
            break;
        }
        if (is_access(parse_token(c)))
            private = !parse_at(c, KEYWORD_PUBLIC);
        parse_member_declaration(c, r);
        r->has_private |= private && r->field_count > fields;
        if (state->panicking)
            parse_recover(c);
        state->panicking = false;
        if (state->at == begin)
            parse_advance(c);
    }
    parse_leave(c);
    state->scope = outer;
    state->no_greater = greater;
    state->panicking = panicking;
    parse_accept(c, '}');
    set_field_symbols(r);
    record_complete(c, r);
}

// ---- records

Record *record_new(Compiler *c, Name *name, Scope *scope, Position at)
{
    Record *r = compile_new(c, Record);
    r->name = name;
    r->position = at;
    r->type = type_new(c, TYPE_RECORD);
    r->type->record = r;
    r->scope = scope_new(c, SCOPE_RECORD, scope);
    r->scope->record = r;
    r->function = c->parser->state.function;
    if (name) { // the injected class name
        Symbol *self = scope_declare(c, r->scope, SYMBOL_TYPE, name, at);
        self->is_tag = true;
        self->type = r->type;
    }
    return r;
}

static Record *named_record(Compiler *c, const ParsedName *n, bool defines, const Token *t)
{
    ParserState *state = &c->parser->state;
    Scope *scope = n->scope ? n->scope : state->scope;
    Symbol *old = defines ? scope_find(scope, n->name) : n->symbol;
    // A record is declared in the scope around its template; by an elaborated type specifier, in a block or namespace.
    while (scope->kind == SCOPE_TEMPLATE || (!defines && (scope->kind == SCOPE_PARAMETERS || scope->kind == SCOPE_RECORD)))
        scope = scope->parent;
    if (old && old->kind == SYMBOL_TYPE && old->type->kind == TYPE_RECORD && (!defines || !old->type->record->is_complete) && old->scope == scope)
        return old->type->record;
    if (!defines && old && old->kind == SYMBOL_TYPE && old->type->kind == TYPE_RECORD)
        return old->type->record;
    if (defines && old && old->kind == SYMBOL_TYPE && old->type->kind == TYPE_RECORD && !c->silent && old->scope == scope) {
        source_error(c, t->position, t->length, NULL, "'%s' is defined twice", n->name->text);
        source_note(c, old->position, t->length, "the first definition of '%s'", n->name->text);
    }
    Record *r = record_new(c, n->name, scope, t->position);
    Symbol *symbol = old && old->kind == SYMBOL_TYPE ? NULL : scope_declare(c, scope, SYMBOL_TYPE, n->name, t->position);
    if (symbol) {
        symbol->is_tag = true;
        symbol->type = r->type;
    }
    return r;
}

// After a } at the end of a line: the next line begins another declaration.
static void expect_semicolon(Compiler *c, Specifiers *s, const char *what)
{
    const Token *t = parse_token(c);
    if (parse_at(c, ';') || !(t->flags & TOKEN_FIRST) || c->parser->state.panicking || t->kind == TOKEN_END)
        return;
    source_error(c, parse_previous(c)->position, 1, "add ';'", "expected ';' after the %s", what);
    s->lacks_semicolon = true;
    c->parser->state.panicking = true;
}

Type *parse_record(Compiler *c, Specifiers *s, Record *instance)
{
    const Token *word = parse_token(c);
    parse_advance(c);
    while (parse_attributes(c, s))
        continue;
    const Token *t = parse_token(c);
    ParsedName n = {0};
    if (t->kind == TOKEN_NAME && !t->id) {
        n = parse_qualified_name(c);
        if (parse_token(c)->kind == TOKEN_NAME && !strcmp(parse_token(c)->name->text, "final"))
            parse_advance(c);
    }
    while (parse_attributes(c, s))
        continue;
    const bool defines = parse_at(c, '{') || (parse_at(c, ':') && !token_is(parse_peek(c, 1), ':'));
    Record *r = instance;
    if (!r && n.name && !defines && n.symbol && (n.has_arguments || n.symbol->kind == SYMBOL_TEMPLATE)) {
        Type *type = parse_named_type(c, &n);
        return type ? type : type_basic(c, TYPE_UNKNOWN);
    }
    if (!r && n.name && n.dependent_scope)
        return parse_named_type(c, &n);
    if (!r)
        r = n.name ? named_record(c, &n, defines, t) : record_new(c, NULL, c->parser->state.scope, t->position);
    if (!n.name && !defines) {
        parse_syntax_error(c, NULL, "expected a name or '{' after '%s'", token_id_text(word->id));
        return type_basic(c, TYPE_UNKNOWN);
    }
    if (!defines) {
        s->defines_type = parse_at(c, ';'); // a forward declaration
        return r->type;
    }
    r->is_union = word->id == KEYWORD_UNION;
    r->is_class = word->id == KEYWORD_CLASS;
    r->position = t->position;
    r->alignment = s->alignment;
    s->alignment = 0;
    s->defines_type = true;
    if (parse_accept(c, ':'))
        parse_bases(c, r);
    const Position open = parse_token(c)->position;
    if (parse_expect(c, '{', "before the members"))
        parse_members(c, r, open);
    else
        record_complete(c, r);
    if (c->parser->state.scope->kind != SCOPE_TEMPLATE && !instance)
        expect_semicolon(c, s, token_id_text(word->id));
    return r->type;
}

// ---- enumerations

static void choose_underlying(Compiler *c, Type *type, int64_t min, int64_t max, bool fixed)
{
    if (!fixed)
        type->target = type_basic(c, min >= INT32_MIN && max <= INT32_MAX ? TYPE_INT : min >= 0 && max <= UINT32_MAX ? TYPE_UNSIGNED : TYPE_LONG);
    type->size = type->target->size;
    type->alignment = type->target->alignment;
    for (int k = 0; k < TYPE_QUALIFIERS; k++)
        if (type->qualified[k]) {
            type->qualified[k]->target = type->target;
            type->qualified[k]->size = type->size;
            type->qualified[k]->alignment = type->alignment;
        }
}

static void parse_enumerators(Compiler *c, Enumeration *e, Type *type, bool fixed)
{
    Scope *scope = e->scoped ? e->members : c->parser->state.scope;
    int64_t value = 0, min = 0, max = 0;
    if (!fixed)
        type->target = type_basic(c, TYPE_INT);
    Symbol **enumerators = NULL;
    uint32_t count = 0, capacity = 0;
    while (!parse_at(c, '}') && parse_token(c)->kind != TOKEN_END) {
        const Token *t = parse_token(c);
        if (t->kind != TOKEN_NAME || t->id) {
            parse_syntax_error(c, NULL, "expected an enumerator, not '%.*s'", (int)t->length, t->text);
            while (!parse_at(c, '}') && !parse_at(c, ';') && parse_token(c)->kind != TOKEN_END)
                parse_advance(c);
            break;
        }
        parse_advance(c);
        Constant constant = {.integer = value};
        if (parse_accept(c, '='))
            constant = parse_constant(c, NULL, "an enumerator");
        value = constant.integer;
        Symbol *symbol = scope_declare(c, scope, SYMBOL_CONSTANT, t->name, t->position);
        symbol->type = fixed ? type : type_basic(c, value > INT32_MAX || value < INT32_MIN ? TYPE_LONG : TYPE_INT); // until the enumeration is complete
        symbol->constant = constant;
        *compile_push(c, enumerators, count, capacity) = symbol;
        min = value < min ? value : min;
        max = value > max ? value : max;
        value++;
        if (!parse_accept(c, ','))
            break;
    }
    parse_expect(c, '}', "after the enumerators");
    choose_underlying(c, type, min, max, fixed);
    for (uint32_t k = 0; k < count; k++)
        enumerators[k]->type = type;
}

Type *parse_enumeration(Compiler *c, Specifiers *s)
{
    const bool scoped = parse_accept(c, KEYWORD_CLASS) || parse_accept(c, KEYWORD_STRUCT);
    while (parse_attributes(c, s))
        continue;
    const Token *t = parse_token(c);
    ParsedName n = {0};
    if (t->kind == TOKEN_NAME && !t->id)
        n = parse_qualified_name(c);
    Type *underlying = NULL;
    if (parse_at(c, ':') && c->parser->state.scope->kind != SCOPE_BLOCK) {
        parse_advance(c);
        const Specifiers base = parse_specifiers(c);
        underlying = type_integer_of(base.type);
    }
    const bool defines = parse_at(c, '{');
    Symbol *old = n.name ? (defines ? scope_find(c->parser->state.scope, n.name) : n.symbol) : NULL;
    Type *type = old && old->kind == SYMBOL_TYPE && old->type->kind == TYPE_ENUM ? old->type : NULL;
    if (!defines && !underlying && !scoped) {
        if (!type && n.name)
            parse_report_unknown(c, &n);
        return type ? type : type_basic(c, TYPE_UNKNOWN);
    }
    if (!type || (defines && type->enumeration->is_complete)) {
        type = type_new(c, TYPE_ENUM);
        Enumeration *e = compile_new(c, Enumeration);
        *e = (Enumeration){.name = n.name, .position = t->position, .scope = c->parser->state.scope, .scoped = scoped};
        type->enumeration = e;
        e->members = scope_new(c, SCOPE_ENUM, c->parser->state.scope);
        if (n.name) {
            Symbol *symbol = scope_declare(c, c->parser->state.scope, SYMBOL_TYPE, n.name, t->position);
            symbol->is_tag = true;
            symbol->type = type;
        }
    }
    const bool fixed = underlying || scoped;
    if (fixed) {
        type->target = underlying && type_is_integer(underlying) ? underlying : type_basic(c, TYPE_INT);
        choose_underlying(c, type, 0, 0, true);
    }
    if (parse_accept(c, '{')) {
        parse_enumerators(c, type->enumeration, type, fixed);
        type->enumeration->is_complete = true;
        s->defines_type = true;
        expect_semicolon(c, s, "enum");
    }
    return type;
}
