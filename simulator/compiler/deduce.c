// deduce.c: template argument deduction.
#include "compiler/build.h"

#include <string.h>

// ---- matching a type against a dependent type

typedef struct Match {
    Compiler *compiler;
    const Template *template;
    TemplateArgument *bound; // the deduced argument of each template parameter
    uint32_t depth;
} Match;

static bool match(Match *m, Type *pattern, Type *type);

static bool bind_type(Match *m, uint32_t index, Type *type)
{
    if (index >= m->template->parameter_count || type_is(type, TYPE_INITIALISERS))
        return false;
    TemplateArgument *argument = &m->bound[index];
    if (argument->is_set)
        return argument->type == type || (argument->type && type_is_unknown(argument->type));
    *argument = (TemplateArgument){.is_set = true, .type = type};
    return true;
}

static bool bind_value(Match *m, const Expression *dependent, const Constant *value, Type *type)
{
    const Symbol *symbol = dependent && dependent->kind == EXPRESSION_UNKNOWN ? dependent->symbol : NULL;
    for (uint32_t k = 0; symbol && k < m->template->parameter_count; k++)
        if (m->template->parameters[k].name == symbol->name) {
            TemplateArgument *argument = &m->bound[k];
            if (argument->is_set)
                return argument->value.is_unknown || argument->value.integer == value->integer;
            *argument = (TemplateArgument){.is_set = true, .value = *value, .value_type = type};
            return true;
        }
    return true; // a non-deduced context
}

static bool match_pack(Match *m, const TemplateArgument *pattern, const TemplateArgument *argument);

static bool match_argument(Match *m, const TemplateArgument *pattern, const TemplateArgument *argument)
{
    if (pattern->is_pack)
        return match_pack(m, pattern, argument);
    if (pattern->type)
        return argument->type && match(m, pattern->type, argument->type);
    if (pattern->template)
        return pattern->template == argument->template;
    if (pattern->value.is_unknown)
        return !argument->type && bind_value(m, pattern->dependent, &argument->value, argument->value_type);
    return !argument->type && pattern->value.integer == argument->value.integer && pattern->value.is_real == argument->value.is_real;
}

// The template parameter pack that an argument of a pattern names, or NULL.
static TemplateArgument *pack_of(const Match *m, const TemplateArgument *pattern)
{
    const Symbol *symbol = pattern->dependent ? pattern->dependent->symbol : NULL;
    for (uint32_t k = 0; k < m->template->parameter_count; k++) {
        const TemplateParameter *parameter = &m->template->parameters[k];
        const bool same = pattern->type ? pattern->type->kind == TYPE_PARAMETER && pattern->type->index == k : symbol && parameter->name == symbol->name;
        if (parameter->is_pack && same)
            return &m->bound[k];
    }
    return NULL;
}

// Matches <A, B, Rest...> with the elements of a pack: a pack in the last position takes the remaining elements.
static bool match_pack(Match *m, const TemplateArgument *pattern, const TemplateArgument *argument)
{
    const uint32_t count = pattern->pack_count;
    TemplateArgument *rest = count ? pack_of(m, &pattern->pack[count - 1]) : NULL;
    const uint32_t fixed = count - (rest != NULL);
    if (!argument->is_pack || argument->pack_count < fixed || (!rest && argument->pack_count != fixed))
        return false;
    for (uint32_t k = 0; k < fixed; k++)
        if (!match_argument(m, &pattern->pack[k], &argument->pack[k]))
            return false;
    if (rest)
        *rest = (TemplateArgument){.is_set = true, .is_pack = true, .pack = argument->pack + fixed, .pack_count = argument->pack_count - fixed};
    return true;
}

static bool match_instance(Match *m, Type *pattern, Type *type)
{
    const TemplateArgument *arguments = NULL;
    if (type->kind == TYPE_INSTANCE && type->instance.template == pattern->instance.template)
        arguments = type->instance.arguments;
    else if (type->kind == TYPE_RECORD && type->record->template == pattern->instance.template)
        arguments = type->record->arguments;
    if (!arguments) {
        for (uint32_t k = 0; type->kind == TYPE_RECORD && k < type->record->field_count; k++)
            if (type->record->fields[k].is_base && match_instance(m, pattern, type->record->fields[k].type))
                return true;
        return false;
    }
    for (uint32_t k = 0; k < pattern->instance.argument_count; k++)
        if (!match_argument(m, &pattern->instance.arguments[k], &arguments[k]))
            return false;
    return true;
}

static bool match_function(Match *m, Type *pattern, Type *type)
{
    if (type->kind != TYPE_FUNCTION || type->parameter_count != pattern->parameter_count || !match(m, pattern->target, type->target))
        return false;
    for (uint32_t k = 0; k < type->parameter_count; k++)
        if (!match(m, pattern->parameters[k], type->parameters[k]))
            return false;
    return true;
}

static bool match_array(Match *m, Type *pattern, Type *type)
{
    if (type->kind != TYPE_ARRAY || !match(m, pattern->target, type->target))
        return false;
    if (!pattern->bound)
        return pattern->count == type->count;
    const Constant count = {.integer = (int64_t)type->count};
    return type->count != NO_SIZE && bind_value(m, pattern->bound, &count, type_size_t(m->compiler));
}

static bool match(Match *m, Type *pattern, Type *type)
{
    if (++m->depth > MAX_NESTING)
        return false;
    bool fits = false;
    const uint8_t extra = pattern->qualifiers & ~TYPE_RESTRICT;
    switch (pattern->kind) {
    case TYPE_PARAMETER:
        fits = !(extra & ~type->qualifiers) &&
               bind_type(m, pattern->index, extra ? type_qualified(m->compiler, type_bare(type), type->qualifiers & ~extra) : type);
        break;
    case TYPE_POINTER: fits = type->kind == TYPE_POINTER && match(m, pattern->target, type->target); break;
    case TYPE_REFERENCE: case TYPE_RVALUE_REFERENCE: fits = type->kind == pattern->kind && match(m, pattern->target, type->target); break;
    case TYPE_ARRAY: fits = match_array(m, pattern, type); break;
    case TYPE_FUNCTION: fits = match_function(m, pattern, type); break;
    case TYPE_INSTANCE: fits = match_instance(m, pattern, type); break;
    case TYPE_MEMBER: case TYPE_UNKNOWN: fits = true; break;
    default: fits = pattern == type || pattern->unqualified == type->unqualified;
    }
    m->depth--;
    return fits;
}

bool template_match_argument(Compiler *c, const Template *t, const TemplateArgument *pattern, const TemplateArgument *argument, TemplateArgument *bound)
{
    Match m = {.compiler = c, .template = t, .bound = bound};
    return match_argument(&m, pattern, argument);
}

// ---- arguments of a call

// Adds the qualifiers that a qualification conversion to the parameter's type adds: T const * accepts a T *.
static Type *with_qualifiers_of(Compiler *c, Type *type, const Type *pattern, int depth)
{
    if (type->kind != TYPE_POINTER || pattern->kind != TYPE_POINTER || depth > 8)
        return type;
    Type *target = with_qualifiers_of(c, type->target, pattern->target, depth + 1);
    return type_pointer(c, type_qualified(c, target, pattern->target->qualifiers & (TYPE_CONST | TYPE_VOLATILE)));
}

static bool deduce_one(Match *m, Type *pattern, Expression *argument)
{
    Compiler *c = m->compiler;
    if (!pattern->dependent || argument->type->kind == TYPE_INITIALISERS)
        return true;
    if (argument->kind == EXPRESSION_FUNCTION) {
        Function *f = argument->function && !argument->template_arguments ? argument->function
                      : argument->template_arguments ? resolve_function(c, argument, NULL) : NULL;
        return !f || match(m, type_without_reference(pattern), type_pointer(c, f->type));
    }
    if (expression_is_unknown(argument))
        return true;
    if (!type_is_any_reference(pattern))
        return match(m, type_bare(pattern), with_qualifiers_of(c, expression_decayed_type(c, argument), pattern, 0));
    Type *target = pattern->target;
    const bool forwards = pattern->kind == TYPE_RVALUE_REFERENCE && target->kind == TYPE_PARAMETER && !target->qualifiers;
    if (forwards)
        return match(m, target, argument->is_lvalue && !argument->is_xvalue ? type_reference(c, argument->type, false) : argument->type);
    Type *type = type_qualified(c, argument->type, type_innermost(target)->qualifiers & (TYPE_CONST | TYPE_VOLATILE));
    return match(m, target, with_qualifiers_of(c, type, target, 0));
}

static bool deduce_pack(Match *m, const Function *pattern, Expression **arguments, uint32_t count)
{
    const Template *t = m->template;
    const uint32_t last = t->parameter_count - 1, first = pattern->parameter_count - 1;
    TemplateArgument *pack = &m->bound[last];
    const uint32_t given = pack->is_pack ? pack->pack_count : 0;
    TemplateArgument *elements = compile_allocate(m->compiler, (count + given + 1) * sizeof *elements);
    uint32_t element_count = 0;
    for (uint32_t k = first; k < count; k++) {
        if (element_count < given) {
            elements[element_count] = pack->pack[element_count];
            element_count++;
            continue;
        }
        *pack = (TemplateArgument){0};
        if (!deduce_one(m, pattern->parameters[first]->type, arguments[k]))
            return false;
        elements[element_count++] = pack->is_set ? *pack : (TemplateArgument){.is_set = true, .type = type_basic(m->compiler, TYPE_UNKNOWN)};
    }
    *pack = (TemplateArgument){.is_set = true, .is_pack = true, .pack = elements, .pack_count = element_count};
    return true;
}

static bool take_given(Compiler *c, const Template *t, const TemplateArgument *given, uint32_t count, TemplateArgument *bound)
{
    const bool has_pack = t->parameter_count && t->parameters[t->parameter_count - 1].is_pack;
    if (count > t->parameter_count && !has_pack)
        return false;
    for (uint32_t k = 0; k < count && k < t->parameter_count; k++) {
        const TemplateParameter *parameter = &t->parameters[k];
        if (parameter->is_pack) {
            bound[k] = (TemplateArgument){.is_set = true, .is_pack = true, .pack = (TemplateArgument *)&given[k], .pack_count = count - k};
            break;
        }
        const bool unknown = given[k].value.is_unknown || (given[k].type && type_is_unknown(given[k].type));
        if (!unknown && parameter->is_type != (given[k].type != NULL))
            return false;
        bound[k] = given[k];
        bound[k].is_set = true;
    }
    (void)c;
    return true;
}

static Function *instance_of(Compiler *c, Template *t, TemplateArgument *bound, Position at)
{
    for (uint32_t k = 0; k < t->parameter_count; k++) {
        if (!bound[k].is_set && t->parameters[k].is_pack) // of no elements
            bound[k] = (TemplateArgument){.is_set = true, .is_pack = true, .pack = compile_new(c, TemplateArgument)};
        if (!bound[k].is_set && !t->parameters[k].default_token)
            return NULL;
    }
    c->silent++; // SFINAE: a failure only removes the candidate
    Symbol *symbol = template_instance(c, t, bound, t->parameter_count, at);
    c->silent--;
    return symbol && symbol->kind == SYMBOL_FUNCTION ? symbol->function : NULL;
}

Function *template_deduce(Compiler *c, Template *t, const TemplateArgument *given, uint32_t given_count, Expression **arguments, uint32_t count,
                          Position at)
{
    while (t->redeclared_by)
        t = t->redeclared_by;
    Function *pattern = t->pattern;
    if (!pattern)
        return NULL;
    const bool pack = pattern->parameter_count && pattern->parameters[pattern->parameter_count - 1]->is_pack;
    if (!pack && (count < pattern->required || (count > pattern->parameter_count && !pattern->type->variadic)))
        return NULL;
    Match m = {.compiler = c, .template = t, .bound = compile_allocate(c, (t->parameter_count + 1) * sizeof(TemplateArgument))};
    if (!take_given(c, t, given, given_count, m.bound))
        return NULL;
    for (uint32_t k = 0; k < pattern->parameter_count - pack && k < count; k++)
        if (!deduce_one(&m, pattern->parameters[k]->type, arguments[k])) {
            bool explicit = given_count >= t->parameter_count; // then the arguments are converted implicitly
            if (!explicit)
                return NULL;
        }
    if (pack && !deduce_pack(&m, pattern, arguments, count))
        return NULL;
    return instance_of(c, t, m.bound, at);
}

Function *template_for_type(Compiler *c, Template *t, const TemplateArgument *given, uint32_t given_count, Type *type, Position at)
{
    while (t->redeclared_by)
        t = t->redeclared_by;
    Match m = {.compiler = c, .template = t, .bound = compile_allocate(c, (t->parameter_count + 1) * sizeof(TemplateArgument))};
    if (!t->pattern || !take_given(c, t, given, given_count, m.bound) || (type && !match(&m, t->pattern->type, type)))
        return NULL;
    return instance_of(c, t, m.bound, at);
}

bool template_more_special(Compiler *c, const Template *a, const Template *b)
{
    if (!a->pattern || !b->pattern || a == b || a->pattern->parameter_count > b->pattern->parameter_count + 0)
        return false;
    Match m = {.compiler = c, .template = b, .bound = compile_allocate(c, (b->parameter_count + 1) * sizeof(TemplateArgument))};
    for (uint32_t k = 0; k < a->pattern->parameter_count; k++) {
        Type *from = type_without_reference(a->pattern->parameters[k]->type), *to = type_without_reference(b->pattern->parameters[k]->type);
        if (!match(&m, type_bare(to), type_bare(from)))
            return false;
    }
    return true;
}
