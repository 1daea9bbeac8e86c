// parse_names.c: qualified names, and the types that they denote.
#include "compiler/host.h"

#include <string.h>

#include "compiler/library.h"

// ---- template arguments

static bool parse_argument_value(Compiler *c, TemplateArgument *argument, const Template *of, uint32_t index)
{
    Expression *e = parse_conditional(c);
    if (e->kind == EXPRESSION_FUNCTION) {
        Function *f = resolve_function(c, e, NULL);
        argument->value = (Constant){.function = f, .is_unknown = !f};
        argument->value_type = f ? type_pointer(c, f->type) : type_basic(c, TYPE_UNKNOWN);
        return true;
    }
    Expression *value = e->type->kind == TYPE_RECORD ? convert_to_arithmetic(c, e) : NULL;
    value = expression_value(c, value ? value : e);
    argument->value_type = value->type;
    if (expression_is_unknown(value)) {
        argument->value.is_unknown = true;
        argument->dependent = e;
        return true;
    }
    if (constant_evaluate(c, value, &argument->value))
        return true;
    if (c->parser->state.in_check) { // such as a constant computed from the parameters of the template that is checked
        argument->value.is_unknown = true;
        argument->dependent = e;
        return true;
    }
    const Name *name = of && index < of->parameter_count ? of->parameters[index].name : NULL;
    if (name)
        expression_error(c, e, of->kind == TEMPLATE_FUNCTION ? "pass it as a parameter of the function, or make it constexpr" : "make it constexpr",
                         "the template '%s' needs a constant for '%s'", of->name->text, name->text);
    else
        expression_error(c, e, "make it constexpr", "a template's argument must be known when the program is compiled");
    argument->value.is_unknown = true;
    return true;
}

static Symbol *template_name_next(Compiler *c) // at a template template argument: the template; NULL: not at one
{
    const ParserState saved = parse_save(c);
    const ParsedName name = parse_qualified_name(c);
    const bool whole = !name.has_arguments && (parse_at(c, ',') || parse_at(c, '>'));
    parse_restore(c, &saved);
    const bool is_template = name.symbol && name.symbol->kind == SYMBOL_TEMPLATE && name.symbol->template->kind != TEMPLATE_FUNCTION &&
                             name.symbol->template->kind != TEMPLATE_VARIABLE;
    return whole && is_template ? name.symbol : NULL;
}

typedef struct TemplateArguments {
    const Template *of;
    TemplateArgument *list;
    uint32_t count, capacity;
} TemplateArguments;

static void parse_template_argument(Compiler *c, void *context)
{
    TemplateArguments *all = context;
    ParserState *state = &c->parser->state;
    const Template *of = all->of;
    TemplateArgument argument = {.is_set = true};
    const bool is_template = of && all->count < of->parameter_count && of->parameters[all->count].is_template;
    Symbol *named = is_template ? template_name_next(c) : NULL;
    if (named) {
        parse_qualified_name(c);
        argument.template = named->template;
    } else if (parse_at_type(c) && !parse_at_decltype_scope(c)) {
        const uint32_t begin = state->at;
        argument.type = parse_type_name(c);
        if (!parse_at(c, ',') && !parse_at(c, '>') && !parse_at(c, ID_ELLIPSIS)) { // T(3) or T::value * 2
            state->at = begin;
            argument.type = NULL;
            parse_argument_value(c, &argument, of, all->count);
        }
    } else {
        parse_argument_value(c, &argument, of, all->count);
    }
    *compile_push(c, all->list, all->count, all->capacity) = argument;
}

TemplateArgument *parse_template_arguments(Compiler *c, const Template *of, uint32_t *count)
{
    ParserState *state = &c->parser->state;
    const bool greater = state->no_greater;
    TemplateArguments all = {.of = of};
    state->no_greater = true;
    parse_enter(c);
    while (!parse_at(c, '>') && parse_token(c)->kind != TOKEN_END) {
        if (!pack_at_expansion(c) || !pack_expand(c, parse_template_argument, &all)) {
            parse_template_argument(c, &all);
            parse_accept(c, ID_ELLIPSIS);
        }
        if (!parse_accept(c, ','))
            break;
    }
    parse_leave(c);
    state->no_greater = greater;
    *count = all.count;
    if (!parse_accept(c, '>'))
        parse_syntax_error(c, "add '>'", "expected '>' after the template's arguments");
    return all.list;
}

// ---- qualified names

static Name *operator_name(Compiler *c, ParsedName *n)
{
    bool conversion = false;
    Type *type = NULL;
    Name *name = parse_operator_name(c, &conversion, &type);
    n->is_operator = true;
    n->conversion = conversion ? type : NULL;
    return name;
}

Name *parse_operator_name(Compiler *c, bool *is_conversion, Type **type)
{
    const Token *t = parse_token(c);
    *is_conversion = false;
    if (t->kind == TOKEN_PUNCTUATOR) {
        const char *text = token_id_text(t->id);
        parse_advance(c);
        if (t->id == '(' || t->id == '[') {
            parse_expect(c, t->id == '(' ? ')' : ']', "after the operator");
            text = t->id == '(' ? "()" : "[]";
        } else if (t->id == '>' && !(parse_token(c)->flags & TOKEN_SPACE)) {
            if (parse_accept(c, '>'))
                text = parse_accept(c, ID_GREATER_EQUAL) ? ">>=" : ">>";
            else if (parse_accept(c, ID_GREATER_EQUAL))
                text = ">>=";
        }
        const char *whole = compile_format(c, "operator%s", text);
        return name_intern(c, whole, strlen(whole));
    }
    if (t->kind == TOKEN_STRING || token_is(t, KEYWORD_NEW) || token_is(t, KEYWORD_DELETE)) {
        parse_advance(c);
        if (parse_token(c)->kind == TOKEN_NAME)
            parse_advance(c);
        if (parse_accept(c, '['))
            parse_expect(c, ']', "after [");
        return name_intern(c, "operator new", 12);
    }
    *is_conversion = true;
    const Specifiers s = parse_specifiers(c);
    *type = s.type;
    while (parse_at(c, '*') || parse_at(c, '&') || parse_qualifier(parse_token(c)->id)) {
        *type = parse_at(c, '*') ? type_pointer(c, *type)
                : parse_at(c, '&') ? type_reference(c, *type, false)
                                   : type_qualified(c, *type, parse_qualifier(parse_token(c)->id));
        parse_advance(c);
    }
    const char *whole = compile_format(c, "operator %s", type_text(c, *type));
    return name_intern(c, whole, strlen(whole));
}

// The template whose arguments follow a name, or NULL.
static Template *template_of(const Symbol *symbol)
{
    if (!symbol)
        return NULL;
    if (symbol->kind == SYMBOL_TYPE && symbol->is_tag && symbol->type->kind == TYPE_RECORD && symbol->type->record->template)
        return symbol->type->record->template; // within the template itself
    for (; symbol; symbol = symbol->next_overload)
        if (symbol->kind == SYMBOL_TEMPLATE)
            return symbol->template;
    return NULL;
}

// Instantiates the class templates that are arguments of a library's template: std::make_unique<Runner<float>>().
static void instantiate_arguments(Compiler *c)
{
    const ParserState saved = parse_save(c);
    uint32_t count;
    parse_advance(c);
    c->silent++;
    parse_template_arguments(c, NULL, &count);
    c->silent--;
    parse_restore(c, &saved);
}

// Skips < > after an unknown name if the next token shows that it is a template argument list.
static bool skip_unknown_arguments(Compiler *c)
{
    const ParserState saved = parse_save(c);
    if (!parse_skip_angles(c))
        return false;
    const Token *t = parse_token(c);
    const bool fits = token_is(t, '(') || token_is(t, ID_SCOPE) || token_is(t, '{') || token_is(t, '>') || token_is(t, ',') || token_is(t, '&') ||
                      token_is(t, '*') || token_is(t, ')') || token_is(t, ';') || t->kind == TOKEN_NAME || token_is(t, ID_LAUNCH) ||
                      token_is(t, ID_ELLIPSIS) || token_is(t, ID_AND);
    const ParserState after = parse_save(c);
    parse_restore(c, &saved);
    if (!fits)
        return false;
    if (parse_is_lenient(c))
        instantiate_arguments(c);
    parse_restore(c, &after);
    return true;
}

static void read_arguments(Compiler *c, ParsedName *n, bool template_word)
{
    Template *template = template_of(n->symbol);
    const bool unknown = !n->symbol && (n->dependent_scope || n->is_unknown_scope || template_word || c->silent);
    if (!parse_at(c, '<'))
        return;
    if (template) {
        parse_advance(c);
        n->has_arguments = true;
        n->arguments = parse_template_arguments(c, template, &n->argument_count);
        if (!n->arguments)
            n->arguments = compile_new(c, TemplateArgument);
    } else if (unknown || (n->symbol && n->symbol->kind == SYMBOL_UNKNOWN)) {
        n->has_arguments = skip_unknown_arguments(c);
    }
}

// Sets the scope that a name before :: denotes; `type`: of a decltype before ::, or NULL.
static void enter_scope(Compiler *c, ParsedName *n, Type *type)
{
    Scope *scope = NULL;
    n->dependent_scope = NULL;
    n->is_unknown_scope = false;
    if (n->symbol && n->symbol->kind == SYMBOL_NAMESPACE) {
        scope = n->symbol->names;
    } else {
        type = type ? type : parse_named_type(c, n);
        if (type && type->kind == TYPE_RECORD) {
            scope = type->record->scope;
            if (!type->record->is_complete && !type->record->is_being_defined && !c->silent)
                source_error(c, n->start, n->end - n->start, NULL, "'%s' is declared, but not defined", type_text(c, type));
        } else if (type && type->kind == TYPE_ENUM) {
            scope = type->enumeration->members ? type->enumeration->members : type->enumeration->scope;
        } else if (type && type_is_unknown(type)) {
            n->dependent_scope = type;
        } else {
            n->is_unknown_scope = true;
            n->unknown_scope = n->unknown_scope ? n->unknown_scope : n->name;
        }
    }
    n->scope = scope;
    n->has_arguments = false;
    n->arguments = NULL;
    n->argument_count = 0;
}

static Symbol *find_component(Compiler *c, const ParsedName *n, bool qualified)
{
    if (!qualified)
        return scope_lookup(c, c->parser->state.scope, n->name);
    return n->scope ? scope_find_member(c, n->scope, n->name) : NULL;
}

bool parse_at_decltype_scope(Compiler *c)
{
    if (!parse_at(c, KEYWORD_DECLTYPE))
        return false;
    const ParserState saved = parse_save(c);
    parse_advance(c);
    parse_skip_group(c);
    const bool is_scope = parse_at(c, ID_SCOPE);
    parse_restore(c, &saved);
    return is_scope;
}

ParsedName parse_qualified_name(Compiler *c)
{
    ParsedName n = {.start = parse_token(c)->position};
    bool qualified = false;
    if (parse_accept(c, ID_SCOPE)) {
        n.scope = c->parser->global;
        n.is_global = qualified = true;
    } else if (parse_at_decltype_scope(c)) {
        parse_advance(c);
        Type *type = type_bare(parse_decltype(c));
        parse_advance(c);
        enter_scope(c, &n, type);
        qualified = true;
    }
    for (;;) {
        const bool template_word = parse_accept(c, KEYWORD_TEMPLATE);
        const Token *t = parse_token(c);
        n.is_destructor = parse_accept(c, '~');
        t = parse_token(c);
        if (parse_accept(c, KEYWORD_OPERATOR)) {
            n.name = operator_name(c, &n);
        } else if (t->kind == TOKEN_NAME && !t->id) {
            n.name = t->name;
            parse_advance(c);
        } else {
            n.name = NULL;
            n.symbol = NULL;
            return n;
        }
        n.symbol = n.is_destructor ? NULL : find_component(c, &n, qualified);
        n.end = parse_end(c);
        read_arguments(c, &n, template_word);
        n.end = parse_end(c);
        const bool last = !parse_at(c, ID_SCOPE) || n.is_operator || n.is_destructor || token_is(parse_peek(c, 1), '*');
        if (last)
            return n;
        parse_advance(c);
        enter_scope(c, &n, NULL);
        qualified = true;
    }
}

// ---- names of types

static Type *dependent_member(Compiler *c, Type *scope, Name *name)
{
    if (!c->parser->state.in_pattern || scope->kind == TYPE_UNKNOWN)
        return type_basic(c, TYPE_UNKNOWN);
    Type *type = type_new(c, TYPE_MEMBER);
    type->member.scope = scope;
    type->member.name = name;
    return type;
}

Type *parse_named_type(Compiler *c, const ParsedName *n)
{
    if (n->dependent_scope && n->name)
        return dependent_member(c, n->dependent_scope, n->name);
    Symbol *symbol = n->symbol;
    if (!symbol)
        return NULL;
    if (symbol->kind == SYMBOL_TYPE && n->has_arguments && symbol->type->kind == TYPE_RECORD && symbol->type->record->template)
        return template_type(c, symbol->type->record->template, n->arguments, n->argument_count, n->start);
    if (symbol->kind == SYMBOL_TYPE)
        return symbol->type;
    if (symbol->kind != SYMBOL_TEMPLATE || symbol->template->kind == TEMPLATE_FUNCTION || symbol->template->kind == TEMPLATE_VARIABLE)
        return NULL;
    if (!n->has_arguments) {
        for (uint32_t k = 0; k < symbol->template->parameter_count; k++)
            if (!symbol->template->parameters[k].default_token && !symbol->template->parameters[k].is_pack)
                return NULL;
        return NULL;
    }
    return template_type(c, symbol->template, n->arguments, n->argument_count, n->start);
}

Type *parse_maybe_named_type(Compiler *c)
{
    const Token *t = parse_token(c), *next = parse_peek(c, 1);
    if (t->kind == TOKEN_NAME && !token_is(next, ID_SCOPE) && !token_is(next, '<')) { // the usual case
        Symbol *symbol = scope_lookup(c, c->parser->state.scope, t->name);
        if (!symbol || symbol->kind != SYMBOL_TYPE)
            return NULL;
        parse_advance(c);
        return symbol->type;
    }
    const ParserState saved = parse_save(c);
    const ParsedName name = parse_qualified_name(c);
    // A dependent member without `typename` is a value, except in a pattern or before a declared name.
    Type *type = name.dependent_scope && !(saved.in_pattern || parse_token(c)->kind == TOKEN_NAME) ? NULL : parse_named_type(c, &name);
    const bool constructor = name.scope && name.scope->kind == SCOPE_RECORD && name.name == name.scope->record->name && parse_at(c, '(');
    if (type && !constructor && !name.is_destructor)
        return type;
    parse_restore(c, &saved);
    return NULL;
}

// ---- messages

static const char *suggestion_help(Compiler *c, const ParsedName *n)
{
    const Parser *p = c->parser;
    for (uint32_t k = p->closed_count; k-- > 0 && !n->scope;) {
        const Symbol *ended = scope_find(p->closed[k], n->name);
        if (ended && ended->position)
            return compile_format(c, "the '%s' of line %u is known in its block only: declare it before", n->name->text, source_line(c, ended->position));
    }
    const char *suggestion = n->scope ? scope_member_suggestion(c, n->scope, n->name) : scope_suggestion(c, c->parser->state.scope, n->name);
    return suggestion ? compile_format(c, "did you mean '%s'?", suggestion) : NULL;
}

// Reports a library or feature that only nvcc supports, once for each name.
static bool report_unsupported(Compiler *c, const ParsedName *n)
{
    Name *unsupported = n->is_unknown_scope && n->unknown_scope ? n->unknown_scope : n->name;
    const char *help = known_unsupported(unsupported->text);
    if (!help)
        return false;
    if (!unsupported->is_reported)
        source_error(c, n->start, n->end - n->start, help, "this compiler does not have '%s%s%s', which nvcc has", unsupported->text,
                     unsupported == n->name ? "" : "::", unsupported == n->name ? "" : n->name->text);
    unsupported->is_reported = true;
    return true;
}

void parse_report_unknown(Compiler *c, const ParsedName *n)
{
    if (!n->name || c->silent || source_has_error_at(c, n->start)) {
        c->silent_errors++;
        return;
    }
    if (report_unsupported(c, n))
        return;
    const char *space = n->scope ? n->scope->kind == SCOPE_NAMESPACE ? n->scope->qualified : n->scope->record ? record_readable(c, n->scope->record) : "" : "";
    const char *qualified = *space ? compile_format(c, "%s::%s", space, n->name->text) : n->name->text;
    const char *header = library_header_of(c, qualified), *known = NULL;
    const char *help = header ? compile_format(c, "#include <%s>", header) : suggestion_help(c, n);
    const uint32_t length = n->end > n->start ? n->end - n->start : n->name->length;
    const bool global = !n->scope || n->scope == c->parser->global, in_std = n->scope && !strcmp(n->scope->qualified, "std");
    if (host_is_parsed(c) && ((global && is_known_host_function(n->name->text)) ||
                              (in_std && (is_known_host_object(n->name->text, &known) || is_known_host_type(n->name->text, &known))))) {
        source_error(c, n->start, length, NULL, "'%s' is not supported in host code that a page evaluates", qualified);
        return;
    }
    if (global && known_replacement(n->name->text)) {
        source_error(c, n->start, length, known_replacement(n->name->text), "'%s' is not declared", n->name->text);
        return;
    }
    if ((global && is_known_host_function(n->name->text)) || (in_std && is_known_host_object(n->name->text, &known))) {
        if (in_std && !strcmp(n->name->text, "endl") && name_intern(c, "cout", 4)->is_reported)
            return;
        n->name->is_reported = true;
        source_error(c, n->start, length, known, is_iostream_name(n->name->text) ? "'%s' is an object of the host, which a kernel cannot use"
                                                                             : "'%s' is a host function, which a kernel cannot call", qualified);
        return;
    }
    if (in_std && is_known_host_type(n->name->text, &known)) {
        source_error(c, n->start, length, known, "'%s' is a host type, which a kernel cannot use", qualified);
        return;
    }
    if (n->is_unknown_scope) {
        const char *suggestion = n->unknown_scope ? scope_suggestion(c, c->parser->state.scope, n->unknown_scope) : NULL;
        const char *scope = n->unknown_scope ? n->unknown_scope->text : "what";
        header = library_header_of(c, scope);
        help = header ? compile_format(c, "#include <%s>", header)
               : preprocess_missing_header(c) ? compile_format(c, "#include <%s> was not found", preprocess_missing_header(c))
               : suggestion ? compile_format(c, "did you mean '%s'?", suggestion) : NULL;
        source_error(c, n->start, length, help, "'%s' before '::' is not declared", scope);
        return;
    }
    if (!help && preprocess_missing_header(c))
        help = compile_format(c, "#include <%s> was not found", preprocess_missing_header(c));
    source_error(c, n->start, length, help, "'%s' is not declared", qualified);
}
