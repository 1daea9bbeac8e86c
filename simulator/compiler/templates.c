// templates.c: template arguments and instantiation. A template is instantiated by parsing its tokens again in a scope where its
// parameters are bound.
#include "compiler/build.h"

#include <string.h>

// ---- Arguments

static bool constants_equal(const Constant *a, const Constant *b)
{
    return a->is_real == b->is_real && a->integer == b->integer && a->variable == b->variable && a->function == b->function &&
           (!a->is_real || !memcmp(&a->real, &b->real, sizeof a->real));
}

static bool template_arguments_equal(const TemplateArgument *a, const TemplateArgument *b, uint32_t count)
{
    for (uint32_t k = 0; k < count; k++) {
        if (a[k].type != b[k].type || a[k].template != b[k].template || a[k].is_pack != b[k].is_pack || a[k].pack_count != b[k].pack_count)
            return false;
        if (!a[k].type && !a[k].template && !a[k].is_pack && !constants_equal(&a[k].value, &b[k].value))
            return false;
        if (a[k].is_pack && !template_arguments_equal(a[k].pack, b[k].pack, a[k].pack_count))
            return false;
    }
    return true;
}

static const Symbol *value_parameter(const TemplateArgument *a) // that an argument is, or NULL
{
    return a->dependent && a->dependent->kind == EXPRESSION_UNKNOWN ? a->dependent->symbol : NULL;
}

// Whether an argument is known, or a parameter of a template. An expression of parameters, as in Array<2 * size>, is not compared with others.
static bool is_comparable(const TemplateArgument *a)
{
    for (uint32_t k = 0; k < a->pack_count; k++)
        if (!is_comparable(&a->pack[k]) || value_parameter(&a->pack[k]))
            return false;
    return a->type ? a->type->kind != TYPE_UNKNOWN : !a->value.is_unknown || value_parameter(a);
}

static bool dependent_arguments_equal(const TemplateArgument *a, const TemplateArgument *b, uint32_t count)
{
    for (uint32_t k = 0; k < count; k++)
        if (!is_comparable(&a[k]) || value_parameter(&a[k]) != value_parameter(&b[k]))
            return false;
    return template_arguments_equal(a, b, count);
}

static bool is_dependent(const TemplateArgument *a, uint32_t count)
{
    for (uint32_t k = 0; k < count; k++)
        if ((a[k].type && type_is_unknown(a[k].type)) || a[k].value.is_unknown || (a[k].is_pack && is_dependent(a[k].pack, a[k].pack_count)))
            return true;
    return false;
}

static Symbol *bind_element(Compiler *c, const TemplateArgument *argument, Name *name)
{
    Symbol *symbol = compile_new(c, Symbol);
    symbol->name = name;
    symbol->kind = argument->type ? SYMBOL_TYPE : SYMBOL_CONSTANT;
    symbol->type = argument->type ? argument->type : argument->value_type;
    if (!argument->type) {
        symbol->constant = argument->value;
        symbol->dependent = argument->dependent;
    }
    return symbol;
}

static void bind_parameter(Compiler *c, Scope *scope, const TemplateParameter *parameter, const TemplateArgument *argument)
{
    if (!parameter->name)
        return;
    const SymbolKind kind = argument->is_pack ? SYMBOL_PACK : argument->type ? SYMBOL_TYPE : argument->template ? SYMBOL_TEMPLATE : SYMBOL_CONSTANT;
    Symbol *symbol = scope_declare(c, scope, kind, parameter->name, parameter->position);
    symbol->is_parameter = true;
    symbol->type = argument->type ? argument->type : argument->value_type;
    if (kind == SYMBOL_PACK) {
        symbol->elements = compile_allocate(c, (argument->pack_count + 1) * sizeof *symbol->elements);
        for (uint32_t k = 0; k < argument->pack_count; k++)
            symbol->elements[symbol->element_count++] = bind_element(c, &argument->pack[k], parameter->name);
    } else if (kind == SYMBOL_TEMPLATE) {
        symbol->template = argument->template;
    } else if (kind == SYMBOL_CONSTANT) {
        symbol->constant = argument->value;
        symbol->dependent = argument->dependent;
    }
}

static Scope *bind_arguments(Compiler *c, const Template *t, const TemplateArgument *arguments, uint32_t count)
{
    Scope *scope = scope_new(c, SCOPE_TEMPLATE, t->scope);
    for (uint32_t k = 0; k < t->parameter_count && k < count; k++)
        bind_parameter(c, scope, &t->parameters[k], &arguments[k]);
    return scope;
}

// The type of a non-type parameter, in a scope where the parameters before it are bound.
static Type *non_type_parameter_type(Compiler *c, const TemplateParameter *parameter, Scope *scope)
{
    const ParserState saved = parse_save(c);
    c->parser->state = (ParserState){.at = parameter->type_token, .scope = scope, .no_greater = true, .in_pattern = saved.in_pattern,
                                   .in_check = saved.in_check, .function = saved.function};
    const Specifiers s = parse_specifiers(c);
    Declarator d = {0};
    parse_declarator(c, &s, &d);
    parse_restore(c, &saved);
    return s.has_type ? parse_parameter_type(c, d.type) : type_basic(c, TYPE_UNKNOWN);
}

static bool read_default(Compiler *c, const TemplateParameter *parameter, Scope *scope, TemplateArgument *argument)
{
    if (!parameter->default_token)
        return false;
    const ParserState saved = parse_save(c);
    c->parser->state = (ParserState){.at = parameter->default_token, .scope = scope, .no_greater = true, .in_pattern = saved.in_pattern,
                                   .in_check = saved.in_check, .function = saved.function};
    *argument = (TemplateArgument){.is_set = true};
    if (parameter->is_type) {
        argument->type = parse_type_name(c);
    } else {
        Expression *e = expression_value(c, parse_conditional(c));
        argument->value_type = e->type;
        argument->value.is_unknown = expression_is_unknown(e) || !constant_evaluate(c, e, &argument->value);
    }
    parse_restore(c, &saved);
    return true;
}

static bool convert_value(Compiler *c, const Template *t, const TemplateParameter *parameter, TemplateArgument *argument, Scope *scope, Position at)
{
    Type *type = non_type_parameter_type(c, parameter, scope);
    if (argument->value.is_unknown || type_is_unknown(type) || type->kind == TYPE_AUTO) {
        if (!type_is_unknown(type) && type->kind != TYPE_AUTO)
            argument->value_type = type;
        return true;
    }
    Type *from = argument->value_type ? argument->value_type : type;
    if (argument->value.function || argument->value.variable || type_bare(type) == from) {
        argument->value_type = type_bare(type);
        return true;
    }
    Expression *e = expression_of_constant(c, from, &argument->value, at, at);
    if (conversion_rank(c, e, type, true) == FITS_NEVER) {
        source_error(c, at, 0, NULL, "the template '%s' needs a '%s' for '%s'", t->name->text, type_text(c, type), parameter->name ? parameter->name->text : "it");
        return false;
    }
    argument->value = constant_convert(type_integer_of(from), type_integer_of(type), argument->value);
    argument->value_type = type_bare(type);
    return true;
}

// Checks a pack's elements, and converts non-type arguments.
static bool complete_pack(Compiler *c, const Template *t, const TemplateParameter *parameter, TemplateArgument *argument, Scope *scope, Position at)
{
    TemplateArgument *elements = compile_allocate(c, (argument->pack_count + 1) * sizeof *elements);
    for (uint32_t k = 0; k < argument->pack_count; k++) {
        elements[k] = argument->pack[k];
        TemplateArgument *element = &elements[k];
        if (element->value.is_unknown || (element->type && type_is_unknown(element->type))) {
            element->value_type = element->value_type ? element->value_type : type_basic(c, TYPE_UNKNOWN);
            continue;
        }
        if (!element->is_set || element->is_pack || parameter->is_type != (element->type != NULL) || parameter->is_template != (element->template != NULL)) {
            source_error(c, at, t->name->length, NULL, "the template '%s' needs %s for '%s'", t->name->text,
                         parameter->is_type ? "types" : parameter->is_template ? "templates" : "values", parameter->name ? parameter->name->text : "its pack");
            return false;
        }
        if (!parameter->is_type && !parameter->is_template && !convert_value(c, t, parameter, &elements[k], scope, at))
            return false;
    }
    argument->pack = elements;
    return true;
}

TemplateArgument *template_complete(Compiler *c, Template *t, const TemplateArgument *given, uint32_t count, Position at)
{
    TemplateArgument *all = compile_allocate(c, (t->parameter_count + 1) * sizeof *all);
    Scope *scope = scope_new(c, SCOPE_TEMPLATE, t->scope);
    const bool has_pack = t->parameter_count && t->parameters[t->parameter_count - 1].is_pack;
    if (count > t->parameter_count && !has_pack) {
        source_error(c, at, t->name->length, NULL, "the template '%s' has %u parameter%s, and these are %u arguments", t->name->text, t->parameter_count,
                     t->parameter_count == 1 ? "" : "s", count);
        return NULL;
    }
    for (uint32_t k = 0; k < t->parameter_count; k++) {
        const TemplateParameter *parameter = &t->parameters[k];
        if (k < count && given[k].is_pack) {
            all[k] = given[k];
        } else if (parameter->is_pack) {
            all[k] = (TemplateArgument){.is_set = true, .is_pack = true, .pack_count = count > k ? count - k : 0};
            all[k].pack = compile_allocate(c, (all[k].pack_count + 1) * sizeof *all[k].pack);
            for (uint32_t j = 0; j < all[k].pack_count; j++)
                all[k].pack[j] = given[k + j];
        } else if (k < count && given[k].is_set) {
            all[k] = given[k];
        } else if (!read_default(c, parameter, scope, &all[k])) {
            source_error(c, at, t->name->length, compile_format(c, "write %s<...>", t->name->text), "the template '%s' needs an argument for '%s'",
                         t->name->text, parameter->name ? parameter->name->text : "each parameter");
            source_note(c, t->position, t->name->length, "'%s' is declared here", t->name->text);
            return NULL;
        }
        const bool unknown = all[k].value.is_unknown || (all[k].type && type_is_unknown(all[k].type));
        if (!parameter->is_pack && !unknown && (parameter->is_type != (all[k].type != NULL) || parameter->is_template != (all[k].template != NULL))) {
            source_error(c, at, t->name->length, NULL, "the template '%s' needs a %s for '%s'", t->name->text,
                         parameter->is_type ? "type" : parameter->is_template ? "template" : "value", parameter->name ? parameter->name->text : "it");
            return NULL;
        }
        if (all[k].is_pack && !complete_pack(c, t, parameter, &all[k], scope, at))
            return NULL;
        if (!parameter->is_type && !parameter->is_template && !parameter->is_pack && !convert_value(c, t, parameter, &all[k], scope, at))
            return NULL;
        bind_parameter(c, scope, parameter, &all[k]);
    }
    return all;
}

// ---- Instances

static uint64_t hash_arguments(uint64_t hash, const TemplateArgument *a, uint32_t count)
{
    for (uint32_t k = 0; k < count; k++) {
        hash = (hash + (uintptr_t)a[k].type / sizeof(Type) + (uint64_t)a[k].value.integer) * 0x9e3779b97f4a7c15u;
        if (a[k].is_pack)
            hash = hash_arguments(hash, a[k].pack, a[k].pack_count);
    }
    return hash;
}

TemplateInstance *template_instance_entry(Compiler *c, Template *t, TemplateArgument *arguments)
{
    TemplateInstance **bucket = &t->buckets[(hash_arguments(0, arguments, t->parameter_count) >> 32) % INSTANCE_BUCKETS];
    for (TemplateInstance *i = *bucket; i; i = i->next_in_bucket)
        if (template_arguments_equal(i->arguments, arguments, t->parameter_count))
            return i;
    TemplateInstance *i = compile_new(c, TemplateInstance);
    *i = (TemplateInstance){.arguments = arguments, .argument_count = t->parameter_count, .next = t->instances, .next_in_bucket = *bucket};
    t->instance_count++;
    return t->instances = *bucket = i;
}

Symbol *template_symbol(Compiler *c, SymbolKind kind, const Template *t)
{
    Symbol *symbol = compile_new(c, Symbol);
    *symbol = (Symbol){.kind = (uint8_t)kind, .name = t->name, .position = t->position, .scope = t->scope};
    return symbol;
}

static Function *declared_instance(Compiler *c, Template *t)
{
    Specifiers s = parse_specifiers(c);
    Declarator d = {0};
    parse_declarator(c, &s, &d);
    if (!d.name || !d.is_function)
        return NULL;
    if (t->record && d.name == t->record->name && !s.has_type) {
        d.is_constructor = true;
        d.type = type_function(c, type_basic(c, TYPE_VOID), d.type->parameters, d.type->parameter_count, d.type->variadic, 0);
    }
    return parse_function(c, &s, &d, t);
}

static Symbol *function_instance(Compiler *c, Template *t, TemplateArgument *arguments)
{
    Function *f = t->lambda ? lambda_instance(c, t, arguments) : declared_instance(c, t);
    if (!f)
        return NULL;
    f->template = t;
    f->arguments = arguments;
    f->argument_count = t->parameter_count;
    f->instantiation = c->instantiation;
    for (uint32_t k = 0; t->pattern && k < f->parameter_count && k < t->pattern->parameter_count; k++)
        if (!f->defaults[k] && t->pattern->defaults[k]) { // from an earlier declaration
            f->defaults[k] = t->pattern->defaults[k];
            f->required = t->pattern->required;
        }
    Symbol *symbol = template_symbol(c, SYMBOL_FUNCTION, t);
    symbol->function = f;
    return symbol;
}

// The last partial specialisation that matches the arguments, or the template itself. *own is set to the arguments for its own
// parameters.
static Template *specialisation_for(Compiler *c, Template *t, TemplateArgument *arguments, TemplateArgument **own)
{
    *own = arguments;
    Template *best = t;
    for (Template *p = t->partial; p; p = p->partial) {
        TemplateArgument *bound = compile_allocate(c, (p->parameter_count + 1) * sizeof *bound);
        bool matches = true;
        for (uint32_t k = 0; k < t->parameter_count && matches; k++) {
            const uint32_t rest = k < p->partial_count ? p->partial_count - k : 0;
            const TemplateArgument pack = {.is_pack = true, .pack = p->partial_arguments + k, .pack_count = rest};
            const bool is_pack = t->parameters[k].is_pack;
            matches = (is_pack || rest) && template_match_argument(c, p, is_pack ? &pack : &p->partial_arguments[k], &arguments[k], bound);
        }
        for (uint32_t k = 0; k < p->parameter_count; k++)
            matches &= bound[k].is_set;
        if (matches) { // partial ordering is not implemented: the last match counts
            best = p;
            *own = bound;
        }
    }
    return best;
}

static Symbol *record_instance(Compiler *c, Template *t, TemplateArgument *arguments, TemplateInstance *instance)
{
    TemplateArgument *own;
    Template *from = specialisation_for(c, t, arguments, &own);
    Scope *scope = bind_arguments(c, from, own, from->parameter_count);
    Record *r = record_new(c, t->name, scope, t->position);
    r->template = t;
    r->arguments = arguments;
    r->argument_count = t->parameter_count;
    r->function = NULL;
    Symbol *symbol = template_symbol(c, SYMBOL_TYPE, t);
    symbol->type = r->type;
    instance->symbol = symbol; // set before its members are parsed, as they may name it
    if (!from->is_defined)
        return symbol;
    c->parser->state.at = from->declaration_token;
    c->parser->state.scope = scope;
    Specifiers s = {0};
    while (parse_attributes(c, &s))
        continue;
    parse_record(c, &s, r);
    return symbol;
}

static Symbol *alias_instance(Compiler *c, const Template *t)
{
    Symbol *symbol = template_symbol(c, SYMBOL_TYPE, t);
    symbol->type = parse_type_name(c);
    return symbol;
}

static Symbol *variable_instance(Compiler *c, Template *t)
{
    Specifiers s = parse_specifiers(c);
    Declarator d = {0};
    parse_declarator(c, &s, &d);
    if (!d.name)
        return NULL;
    Symbol *symbol = template_symbol(c, SYMBOL_VARIABLE, t);
    d.name = NULL; // it is not declared in the scope
    symbol->variable = parse_variable(c, &s, &d, false);
    symbol->variable->name = t->name;
    return symbol;
}

static Template *definition_of(Template *t)
{
    while (t->redeclared_by)
        t = t->redeclared_by;
    return t;
}

static Symbol *instantiate(Compiler *c, Template *t, TemplateArgument *arguments, TemplateInstance *instance, Position at)
{
    InstantiationNote *note = compile_new(c, InstantiationNote);
    *note = (InstantiationNote){.outer = c->instantiation, .position = at, .depth = c->instantiation ? c->instantiation->depth + 1 : 1,
                                .readable = t->kind == TEMPLATE_ALIAS ? t->name->text : template_readable(c, t, arguments, t->parameter_count)};
    if (note->depth > MAX_INSTANTIATION_DEPTH || ++c->parser->instance_count > MAX_INSTANCES)
        source_abandon(c, at, "the template '%s' is instantiated without end", t->name->text);
    const ParserState saved = parse_save(c);
    InstantiationNote *outer = c->instantiation;
    Scope *scope = bind_arguments(c, t, arguments, t->parameter_count);
    parse_enter(c);
    c->parser->state = (ParserState){.at = t->declaration_token, .scope = scope};
    if (t->kind != TEMPLATE_ALIAS && !t->is_built_in)
        c->instantiation = note;
    Symbol *symbol = t->kind == TEMPLATE_FUNCTION ? function_instance(c, t, arguments)
                     : t->kind == TEMPLATE_RECORD ? record_instance(c, t, arguments, instance)
                     : t->kind == TEMPLATE_ALIAS  ? alias_instance(c, t)
                                                  : variable_instance(c, t);
    c->instantiation = outer;
    parse_leave(c);
    parse_restore(c, &saved);
    return symbol;
}

Symbol *template_instance(Compiler *c, Template *t, TemplateArgument *given, uint32_t count, Position at)
{
    t = definition_of(t);
    TemplateArgument *arguments = template_complete(c, t, given, count, at);
    if (!arguments || is_dependent(arguments, t->parameter_count))
        return NULL;
    TemplateInstance *instance = template_instance_entry(c, t, arguments);
    const bool undefined = instance->symbol && t->kind == TEMPLATE_RECORD && !instance->symbol->type->record->is_complete &&
                           !instance->symbol->type->record->is_being_defined && t->is_defined;
    if (instance->symbol && !undefined)
        return instance->symbol;
    const uint32_t errors = c->silent_errors;
    Symbol *symbol = instantiate(c, t, arguments, instance, at);
    if (t->kind == TEMPLATE_FUNCTION && c->silent && c->silent_errors != errors)
        symbol = NULL; // substitution failed
    return instance->symbol = symbol;
}

// Equal types are one: a mangled name abbreviates the second.
static Type *dependent_type(Compiler *c, Template *t, TemplateArgument *arguments)
{
    for (Type *type = t->dependent_types; type; type = type->instance.next)
        if (dependent_arguments_equal(type->instance.arguments, arguments, t->parameter_count))
            return type;
    Type *type = type_new(c, TYPE_INSTANCE);
    type->instance.template = t;
    type->instance.arguments = arguments;
    type->instance.argument_count = t->parameter_count;
    type->instance.next = t->dependent_types;
    return t->dependent_types = type;
}

Type *template_type(Compiler *c, Template *t, TemplateArgument *given, uint32_t count, Position at)
{
    t = definition_of(t);
    if (t->kind == TEMPLATE_FUNCTION || t->kind == TEMPLATE_VARIABLE)
        return type_basic(c, TYPE_UNKNOWN);
    if (is_dependent(given, count)) {
        if (!c->parser->state.in_pattern)
            return type_basic(c, TYPE_UNKNOWN);
        TemplateArgument *arguments = template_complete(c, t, given, count, at);
        if (!arguments)
            return type_basic(c, TYPE_UNKNOWN);
        if (t->kind == TEMPLATE_ALIAS) { // an alias is the type that it stands for
            const ParserState saved = parse_save(c);
            c->parser->state = (ParserState){.at = t->declaration_token, .scope = bind_arguments(c, t, arguments, t->parameter_count), .in_pattern = true};
            Type *type = parse_type_name(c);
            parse_restore(c, &saved);
            return type;
        }
        return dependent_type(c, t, arguments);
    }
    Symbol *symbol = template_instance(c, t, given, count, at);
    return symbol ? symbol->type : type_basic(c, TYPE_UNKNOWN);
}

Function *template_pattern(Compiler *c, Template *t)
{
    (void)c;
    return definition_of(t)->pattern;
}

// ---- Templates without an instance: their bodies are parsed once, with unknown parameter types

void template_check_unused(Compiler *c)
{
    Parser *p = c->parser;
    for (uint32_t k = 0; k < p->template_count; k++) {
        Template *t = definition_of(p->templates[k]);
        Function *f = t->pattern;
        if (t->instance_count || t->is_checked || !f || !f->body_token || t->is_built_in || (t->record && t->record->template))
            continue;
        t->is_checked = true;
        parse_delayed_body(c, f);
    }
}
