// parse_templates.c: template declarations and specialisations.
#include "compiler/build.h"

#include <string.h>

// ---- parameters

static void skip_parameter(Compiler *c) // to the , or > after it
{
    uint32_t angles = 0;
    while (parse_token(c)->kind != TOKEN_END) {
        if (parse_at(c, '(') || parse_at(c, '[') || parse_at(c, '{')) {
            parse_skip_group(c);
            continue;
        }
        if (angles == 0 && (parse_at(c, ',') || parse_at(c, '>')))
            return;
        angles += parse_at(c, '<');
        angles -= parse_at(c, '>');
        parse_advance(c);
    }
}

static void parse_type_parameter(Compiler *c, TemplateParameter *p)
{
    parse_advance(c);
    p->is_type = true;
    p->is_pack = parse_accept(c, ID_ELLIPSIS);
    c->parser->has_packs |= p->is_pack;
    const Token *t = parse_token(c);
    if (t->kind == TOKEN_NAME && !t->id) {
        p->name = t->name;
        p->position = t->position;
        parse_advance(c);
    }
}

static void parse_template_parameter(Compiler *c, TemplateParameter *p) // template <...> class T
{
    parse_advance(c);
    if (parse_at(c, '<'))
        parse_skip_angles(c);
    parse_type_parameter(c, p);
    p->is_type = false;
    p->is_template = true;
}

static void parse_value_parameter(Compiler *c, TemplateParameter *p)
{
    p->type_token = c->parser->state.at;
    const Specifiers s = parse_specifiers(c);
    Declarator d = {0};
    if (!s.has_type && !parse_unknown_type(c)) {
        parse_syntax_error(c, "write typename T, or int n", "expected a template's parameter, not '%.*s'", (int)parse_token(c)->length, parse_token(c)->text);
        skip_parameter(c);
        return;
    }
    parse_declarator(c, &s, &d);
    p->name = d.name;
    p->position = d.position;
    p->is_pack = d.is_pack;
    c->parser->has_packs |= p->is_pack;
}

// Declares the dependent type or value of a parameter in the template's pattern.
static void declare_pattern(Compiler *c, Template *t, uint32_t index)
{
    const TemplateParameter *p = &t->parameters[index];
    TemplateArgument *argument = &t->pattern_arguments[index];
    argument->is_set = true;
    if (p->is_type) {
        argument->type = type_new(c, TYPE_PARAMETER);
        argument->type->index = index;
        argument->type->parameter_name = p->name;
    } else {
        argument->value = (Constant){.integer = index, .is_unknown = true}; // its index, for mangle.c
        argument->value_type = type_basic(c, TYPE_UNKNOWN);
    }
    if (!p->name)
        return;
    const SymbolKind kind = p->is_type ? SYMBOL_TYPE : p->is_template ? SYMBOL_UNKNOWN : SYMBOL_CONSTANT;
    Symbol *symbol = scope_declare(c, c->parser->state.scope, kind, p->name, p->position);
    symbol->is_parameter = true;
    symbol->type = argument->type ? argument->type : argument->value_type;
    if (kind == SYMBOL_CONSTANT)
        symbol->constant = argument->value;
}

enum { MAX_PARAMETERS = 32 };

static void parse_parameter_list(Compiler *c, Template *t)
{
    t->parameters = compile_allocate(c, MAX_PARAMETERS * sizeof *t->parameters);
    t->pattern_arguments = compile_allocate(c, MAX_PARAMETERS * sizeof *t->pattern_arguments);
    c->parser->state.no_greater = true;
    while (!parse_at(c, '>') && parse_token(c)->kind != TOKEN_END) {
        if (t->parameter_count == MAX_PARAMETERS)
            source_abandon(c, parse_token(c)->position, "a template with more than %d parameters", MAX_PARAMETERS);
        TemplateParameter *p = &t->parameters[t->parameter_count++];
        p->position = parse_token(c)->position;
        const Token *next = parse_peek(c, 1), *after = parse_peek(c, 2);
        const bool type = (parse_at(c, KEYWORD_CLASS) || parse_at(c, KEYWORD_TYPENAME)) &&
                          !(next->kind == TOKEN_NAME && (token_is(after, ID_SCOPE) || after->kind == TOKEN_NAME));
        if (parse_at(c, KEYWORD_TEMPLATE))
            parse_template_parameter(c, p);
        else if (type)
            parse_type_parameter(c, p);
        else
            parse_value_parameter(c, p);
        declare_pattern(c, t, t->parameter_count - 1);
        if (parse_accept(c, '=')) {
            p->default_token = c->parser->state.at;
            skip_parameter(c);
        }
        if (!parse_accept(c, ','))
            break;
    }
    c->parser->state.no_greater = false;
    if (!parse_accept(c, '>'))
        parse_syntax_error(c, "add '>'", "expected '>' after the template's parameters");
}

// ---- redeclarations

static bool same_pattern(const Type *a, const Type *b, int depth)
{
    if (a == b)
        return true;
    if (a->kind != b->kind || a->qualifiers != b->qualifiers || depth > MAX_NESTING)
        return false;
    switch (a->kind) {
    case TYPE_PARAMETER: return a->index == b->index;
    case TYPE_POINTER: case TYPE_REFERENCE: case TYPE_RVALUE_REFERENCE: return same_pattern(a->target, b->target, depth + 1);
    case TYPE_ARRAY: return a->count == b->count && same_pattern(a->target, b->target, depth + 1);
    case TYPE_MEMBER: return a->member.name == b->member.name && same_pattern(a->member.scope, b->member.scope, depth + 1);
    case TYPE_FUNCTION:
        if (a->parameter_count != b->parameter_count || !same_pattern(a->target, b->target, depth + 1))
            return false;
        for (uint32_t k = 0; k < a->parameter_count; k++)
            if (!same_pattern(a->parameters[k], b->parameters[k], depth + 1))
                return false;
        return true;
    case TYPE_INSTANCE:
        if (a->instance.template != b->instance.template)
            return false;
        for (uint32_t k = 0; k < a->instance.argument_count; k++) {
            const Type *one = a->instance.arguments[k].type, *other = b->instance.arguments[k].type;
            if (!one != !other || (one && !same_pattern(one, other, depth + 1)))
                return false;
        }
        return true;
    case TYPE_UNKNOWN: return true;
    default: return a->unqualified == b->unqualified;
    }
}

static void merge_declarations(Template *old, Template *t)
{
    for (uint32_t k = 0; k < t->parameter_count && k < old->parameter_count; k++)
        if (!t->parameters[k].default_token)
            t->parameters[k].default_token = old->parameters[k].default_token;
    if (t->pattern && old->pattern)
        for (uint32_t k = 0; k < t->pattern->parameter_count; k++)
            if (!t->pattern->defaults[k] && old->pattern->defaults[k]) {
                t->pattern->defaults[k] = old->pattern->defaults[k];
                t->pattern->required = old->pattern->required;
            }
    t->instances = old->instances;
    memcpy(t->buckets, old->buckets, sizeof t->buckets);
    t->instance_count = old->instance_count;
    if (!t->partial)
        t->partial = old->partial;
    old->redeclared_by = t;
}

// Declares a template, or merges it with an earlier declaration.
static void declare_template(Compiler *c, Template *t, Scope *scope)
{
    Name *name = t->pattern && t->pattern->is_constructor ? record_constructor_name(c) : t->name;
    for (Symbol *symbol = scope_find(scope, name); symbol; symbol = symbol->next_overload) {
        Template *old = symbol->kind == SYMBOL_TEMPLATE ? symbol->template : NULL;
        if (!old || old->kind != t->kind || old->parameter_count != t->parameter_count)
            continue;
        const bool same = t->kind != TEMPLATE_FUNCTION || (old->pattern && t->pattern && same_pattern(old->pattern->type, t->pattern->type, 0));
        if (!same)
            continue;
        if (old->is_defined && t->is_defined && !c->silent) {
            source_error(c, t->position, t->name->length, NULL, "the template '%s' is defined twice", t->name->text);
            source_note(c, old->position, t->name->length, "the first definition of '%s'", t->name->text);
        }
        if (old->is_defined && !t->is_defined)
            return;
        merge_declarations(old, t);
        symbol->template = t;
        return;
    }
    scope_declare(c, scope, SYMBOL_TEMPLATE, name, t->position)->template = t;
}

// ---- functions and variables

static void add_to_templates(Compiler *c, Template *t)
{
    Parser *p = c->parser;
    const SourceFile *file = source_file_at(c, t->position);
    t->is_built_in = !file || file->built_in;
    if (!t->is_built_in && t->kind == TEMPLATE_FUNCTION)
        *compile_push(c, p->templates, p->template_count, p->template_capacity) = t;
}

static void skip_declaration(Compiler *c)
{
    while (!parse_at(c, ';') && !parse_at(c, '{') && !parse_at(c, '}') && parse_token(c)->kind != TOKEN_END)
        parse_skip_group(c);
    if (parse_at(c, '{'))
        parse_skip_group(c);
    else
        parse_accept(c, ';');
}

static void parse_function_template(Compiler *c, Template *t, Scope *scope, Record *record)
{
    ParserState *state = &c->parser->state;
    t->declaration_token = state->at;
    state->in_pattern = true;
    Specifiers s = parse_specifiers(c);
    Declarator d = {0};
    if (!s.has_type && !(record && parse_token(c)->name == record->name) && !parse_at(c, KEYWORD_OPERATOR))
        parse_unknown_type(c);
    parse_declarator(c, &s, &d);
    state->in_pattern = false;
    if (!d.name) {
        parse_syntax_error(c, NULL, "expected the declaration of a template");
        return;
    }
    t->name = d.name;
    t->position = d.position;
    if (!d.is_function) {
        t->kind = TEMPLATE_VARIABLE;
        t->is_defined = true;
        skip_declaration(c);
    } else {
        if (record && d.name == record->name && !s.has_type) {
            d.is_constructor = true;
            d.type = type_function(c, type_basic(c, TYPE_VOID), d.type->parameters, d.type->parameter_count, d.type->variadic, 0);
            record->has_constructor = true;
        }
        t->pattern = parse_function(c, &s, &d, t);
        t->pattern->is_pattern = true;
        t->is_defined = t->pattern->body_token != 0;
        if (!t->is_defined)
            parse_expect(c, ';', "after the declaration");
    }
    if (d.scope && d.scope->kind == SCOPE_RECORD) { // a member's definition outside of its class
        source_error(c, d.position, d.name->length, "define it in the class", "a template's member that is defined outside of its class is not supported");
        return;
    }
    declare_template(c, t, d.scope ? d.scope : scope);
    add_to_templates(c, t);
}

static void parse_alias_template(Compiler *c, Template *t, Scope *scope)
{
    parse_advance(c);
    const Token *name = parse_token(c);
    t->kind = TEMPLATE_ALIAS;
    t->name = name->name;
    t->position = name->position;
    parse_advance(c);
    if (!t->name || !parse_expect(c, '=', "after the name"))
        return;
    t->declaration_token = c->parser->state.at;
    t->is_defined = true;
    while (!parse_at(c, ';') && parse_token(c)->kind != TOKEN_END)
        parse_advance(c);
    parse_accept(c, ';');
    declare_template(c, t, scope);
    add_to_templates(c, t);
}

// ---- classes

static void parse_record_template(Compiler *c, Template *t, Scope *scope)
{
    ParserState *state = &c->parser->state;
    t->kind = TEMPLATE_RECORD;
    t->declaration_token = state->at;
    parse_advance(c);
    Specifiers ignored = {0};
    while (parse_attributes(c, &ignored))
        continue;
    state->in_pattern = true;
    const ParsedName n = parse_qualified_name(c);
    state->in_pattern = false;
    if (!n.name) {
        parse_syntax_error(c, NULL, "expected the name of the template");
        return;
    }
    t->name = n.name;
    t->position = n.start;
    while (!parse_at(c, '{') && !parse_at(c, ';') && parse_token(c)->kind != TOKEN_END)
        parse_advance(c);
    t->is_defined = parse_at(c, '{');
    if (t->is_defined)
        parse_skip_group(c);
    parse_expect(c, ';', "after the class");
    if (n.has_arguments && n.symbol && n.symbol->kind == SYMBOL_TEMPLATE) { // a partial specialisation
        Template *primary = n.symbol->template;
        while (primary->redeclared_by)
            primary = primary->redeclared_by;
        t->partial_arguments = n.arguments;
        t->partial_count = n.argument_count;
        t->partial = primary->partial;
        primary->partial = t;
        return;
    }
    declare_template(c, t, scope);
    add_to_templates(c, t);
}

// ---- explicit specialisations and instantiations

static void specialise_record(Compiler *c)
{
    const uint32_t begin = c->parser->state.at;
    parse_advance(c);
    Specifiers s = {0};
    while (parse_attributes(c, &s))
        continue;
    const ParsedName n = parse_qualified_name(c);
    if (!n.symbol || n.symbol->kind != SYMBOL_TEMPLATE || !n.has_arguments || n.symbol->template->kind != TEMPLATE_RECORD) {
        if (!c->silent)
            source_error(c, n.start, n.end - n.start, NULL, "this specialises no template");
        skip_declaration(c);
        return;
    }
    Template *t = n.symbol->template;
    while (t->redeclared_by)
        t = t->redeclared_by;
    TemplateArgument *arguments = template_complete(c, t, n.arguments, n.argument_count, n.start);
    if (!arguments) {
        skip_declaration(c);
        return;
    }
    TemplateInstance *instance = template_instance_entry(c, t, arguments);
    Record *r = record_new(c, t->name, c->parser->state.scope, n.start);
    r->template = t;
    r->arguments = arguments;
    r->argument_count = t->parameter_count;
    r->function = NULL;
    instance->symbol = template_symbol(c, SYMBOL_TYPE, t);
    instance->symbol->type = r->type;
    c->parser->state.at = begin;
    s = (Specifiers){0};
    parse_record(c, &s, r);
    parse_expect(c, ';', "after the class");
}

static Template *template_named(Compiler *c, const Declarator *d)
{
    Symbol *symbol = d->scope ? scope_find_member(c, d->scope, d->name) : scope_lookup(c, c->parser->state.scope, d->name);
    for (; symbol; symbol = symbol->next_overload)
        if (symbol->kind == SYMBOL_TEMPLATE) {
            Template *t = symbol->template;
            while (t->redeclared_by)
                t = t->redeclared_by;
            return t;
        }
    return NULL;
}

static void specialise_variable(Compiler *c, const Specifiers *s, Declarator *d, Template *t)
{
    TemplateArgument *arguments = template_complete(c, t, d->template_arguments, d->template_argument_count, d->position);
    if (!arguments) {
        skip_declaration(c);
        return;
    }
    TemplateInstance *instance = template_instance_entry(c, t, arguments);
    d->name = NULL;
    d->scope = NULL;
    Symbol *symbol = template_symbol(c, SYMBOL_VARIABLE, t);
    symbol->variable = parse_variable(c, s, d, false);
    symbol->variable->name = t->name;
    instance->symbol = symbol;
    parse_expect(c, ';', "after the declaration");
}

// An explicit specialisation of a function template; its arguments may be deduced from the parameter types.
static void specialise_function(Compiler *c, const Specifiers *s, Declarator *d)
{
    Symbol *first = d->scope ? scope_find_member(c, d->scope, d->name) : scope_lookup(c, c->parser->state.scope, d->name);
    Function *fits = NULL;
    Template *of = NULL;
    for (Symbol *symbol = first; symbol && !fits; symbol = symbol->next_overload)
        if (symbol->kind == SYMBOL_TEMPLATE && symbol->template->kind == TEMPLATE_FUNCTION) {
            of = symbol->template;
            while (of->redeclared_by)
                of = of->redeclared_by;
            fits = template_for_type(c, of, d->template_arguments, d->template_argument_count, d->type, d->position);
        }
    if (!fits) {
        if (!c->silent)
            source_error(c, d->position, d->name->length, NULL, "this specialises no template '%s'", d->name->text);
        skip_declaration(c);
        return;
    }
    Function *f = parse_function(c, s, d, of);
    if (!f->body_token) {
        parse_expect(c, ';', "after the declaration");
        return;
    }
    Function *own = fits; // keeps the address, because calls may already refer to it
    const TemplateArgument *arguments = own->arguments;
    Function *next = own->next_needed;
    const bool needed = own->is_needed;
    *own = *f;
    own->template = of;
    own->arguments = (TemplateArgument *)arguments;
    own->argument_count = of->parameter_count;
    own->next_needed = next;
    own->is_needed = needed;
    own->parameter_scope->function = own;
    for (uint32_t k = 0; k < own->parameter_count; k++)
        own->parameters[k]->function = own;
    Parser *p = c->parser;
    *compile_push(c, p->functions, p->function_count, p->function_capacity) = own;
    if (own->is_kernel)
        parse_mark_needed(c, own);
}

static void parse_specialisation(Compiler *c) // after template <>
{
    if (parse_at(c, KEYWORD_STRUCT) || parse_at(c, KEYWORD_CLASS)) {
        specialise_record(c);
        return;
    }
    Specifiers s = parse_specifiers(c);
    Declarator d = {0};
    parse_declarator(c, &s, &d);
    Template *t = d.name ? template_named(c, &d) : NULL;
    if (!t) {
        if (!c->silent)
            source_error(c, d.position, 0, NULL, "this specialises no template");
        skip_declaration(c);
    } else if (t->kind == TEMPLATE_VARIABLE && d.has_template_arguments && d.template_argument_count == t->parameter_count) {
        specialise_variable(c, &s, &d, t);
    } else if (d.is_function) {
        specialise_function(c, &s, &d);
    } else {
        skip_declaration(c);
    }
}

static void parse_explicit_instantiation(Compiler *c)
{
    if (parse_at(c, KEYWORD_STRUCT) || parse_at(c, KEYWORD_CLASS)) {
        parse_advance(c);
        const ParsedName n = parse_qualified_name(c);
        parse_named_type(c, &n);
    } else {
        Specifiers s = parse_specifiers(c);
        Declarator d = {0};
        parse_declarator(c, &s, &d);
        Template *t = d.name ? template_named(c, &d) : NULL;
        Function *f = t && t->kind == TEMPLATE_FUNCTION
                          ? template_for_type(c, t, d.template_arguments, d.template_argument_count, d.type, d.position) : NULL;
        if (f)
            parse_mark_needed(c, f);
    }
    parse_expect(c, ';', "after the instantiation");
}

// ---- template declarations

static bool names_record(Compiler *c) // struct X { or struct X : or struct X;
{
    if (!parse_at(c, KEYWORD_STRUCT) && !parse_at(c, KEYWORD_CLASS) && !parse_at(c, KEYWORD_UNION))
        return false;
    for (uint32_t k = 1; k < 200; k++) {
        const Token *t = parse_peek(c, k);
        if (token_is(t, '{') || token_is(t, ';') || token_is(t, ':'))
            return true;
        if (t->kind == TOKEN_END)
            break;
    }
    return false;
}

static bool is_device_template(Compiler *c)
{
    for (const Token *t = parse_token(c);; t++) {
        if (t->kind == TOKEN_END || token_is(t, ';') || token_is(t, '{'))
            return false;
        if (token_is(t, KEYWORD_GLOBAL) || token_is(t, KEYWORD_DEVICE))
            return true;
    }
}

void parse_template(Compiler *c, Record *record)
{
    ParserState *state = &c->parser->state;
    Scope *outer = state->scope;
    if (!parse_at(c, '<')) {
        parse_explicit_instantiation(c);
        return;
    }
    parse_advance(c);
    const bool silent = !is_device_template(c);
    if (parse_accept(c, '>')) {
        c->silent += silent;
        parse_specialisation(c);
        c->silent -= silent;
        return;
    }
    Template *t = compile_new(c, Template);
    t->scope = outer;
    t->record = record;
    t->kind = TEMPLATE_FUNCTION;
    state->scope = scope_new(c, SCOPE_TEMPLATE, outer);
    parse_parameter_list(c, t);
    if (parse_at(c, KEYWORD_TEMPLATE)) { // a member template of a class template, defined outside of it
        skip_declaration(c);
    } else if (parse_at(c, KEYWORD_FRIEND)) {
        skip_declaration(c);
    } else if (parse_at(c, KEYWORD_USING)) {
        parse_alias_template(c, t, outer);
    } else if (names_record(c)) {
        parse_record_template(c, t, outer);
    } else {
        c->silent += silent;
        parse_function_template(c, t, outer, record);
        c->silent -= silent;
    }
    state->scope = outer;
}
