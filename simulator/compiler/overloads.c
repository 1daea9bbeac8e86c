// overloads.c: overload resolution.
#include "compiler/build.h"

#include <string.h>

static void add_function(Compiler *c, Candidates *list, Function *f)
{
    for (uint32_t k = 0; k < list->count; k++)
        if (list->functions[k] == f)
            return;
    *compile_push(c, list->functions, list->count, list->capacity) = f;
}

void overload_add(Compiler *c, Candidates *list, Symbol *symbol, const TemplateArgument *given, uint32_t given_count,
                  Expression **arguments, uint32_t count, Position at)
{
    for (; symbol; symbol = symbol->next_overload) {
        if (symbol->kind == SYMBOL_FUNCTION && symbol->function && !given) {
            add_function(c, list, symbol->function);
        } else if (symbol->kind == SYMBOL_TEMPLATE && symbol->template->kind == TEMPLATE_FUNCTION) {
            Function *pattern = template_pattern(c, symbol->template);
            const bool member = pattern && pattern->record && !pattern->is_static && !pattern->is_constructor;
            const bool skip = list->is_operator && member && count > 0;
            Function *f = template_deduce(c, symbol->template, given, given_count, arguments + skip, count - skip, at);
            if (f)
                add_function(c, list, f);
            else
                list->failed = symbol->template;
        }
    }
}

// ---- argument-dependent lookup

static void add_from_scope(Compiler *c, Candidates *list, Scope *scope, Name *name, Expression **arguments, uint32_t count, Position at)
{
    Scope *space = scope_enclosing_namespace(scope);
    if (!space->parent) // the global namespace is always searched
        return;
    Symbol *symbol = scope_find_member(c, space, name);
    if (symbol && (symbol->kind == SYMBOL_FUNCTION || symbol->kind == SYMBOL_TEMPLATE))
        overload_add(c, list, symbol, NULL, 0, arguments, count, at);
}

static void add_of_type(Compiler *c, Candidates *list, Type *type, Name *name, Expression **arguments, uint32_t count, Position at, int depth)
{
    while (type->kind == TYPE_POINTER || type->kind == TYPE_ARRAY || type_is_any_reference(type))
        type = type->target;
    if (type->kind == TYPE_ENUM)
        add_from_scope(c, list, type->enumeration->scope, name, arguments, count, at);
    if (type->kind != TYPE_RECORD || depth > 3)
        return;
    const Record *record = type->record;
    add_from_scope(c, list, record->scope->parent, name, arguments, count, at);
    for (Scope *s = record->scope; s && s->kind != SCOPE_NAMESPACE; s = s->parent) { // friends
        Symbol *symbol = s->kind == SCOPE_RECORD ? scope_find(s, name) : NULL;
        for (; symbol; symbol = symbol->next_overload)
            if (symbol->kind == SYMBOL_FUNCTION && symbol->function && !symbol->function->record)
                add_function(c, list, symbol->function);
    }
    for (uint32_t k = 0; k < record->argument_count; k++)
        if (record->arguments[k].type)
            add_of_type(c, list, record->arguments[k].type, name, arguments, count, at, depth + 1);
    for (uint32_t k = 0; k < record->field_count; k++)
        if (record->fields[k].is_base)
            add_of_type(c, list, record->fields[k].type, name, arguments, count, at, depth + 1);
}

void overload_add_associated(Compiler *c, Candidates *list, Name *name, Expression **arguments, uint32_t count, Position at)
{
    for (uint32_t k = 0; k < count; k++)
        add_of_type(c, list, arguments[k]->type, name, arguments, count, at, 0);
}

// ---- ranks

enum { MAX_RANKED = 64 };

typedef struct Ranking {
    Function *function;
    int ranks[MAX_RANKED]; // rank of the object, then of each argument
} Ranking;

static int rank_of_object(const Expression *object, const Function *f)
{
    const bool is_const = object->type->qualifiers & TYPE_CONST, is_volatile = object->type->qualifiers & TYPE_VOLATILE;
    if ((is_const && !f->type->member_const) || (is_volatile && !f->type->member_volatile))
        return FITS_NEVER;
    return is_const == f->type->member_const && is_volatile == f->type->member_volatile ? FITS_EXACTLY : FITS_QUALIFIED;
}

static bool is_member(const Function *f)
{
    return f->record && !f->is_static && !f->is_constructor;
}

static bool rank_function(Compiler *c, Ranking *r, Function *f, bool is_operator, Expression *object, Expression **arguments, uint32_t count,
                          bool allow_user)
{
    r->function = f;
    uint32_t first = 0;
    r->ranks[0] = FITS_EXACTLY;
    if (is_member(f)) {
        if (!object || (r->ranks[0] = rank_of_object(object, f)) == FITS_NEVER)
            return false;
        first = is_operator;
    }
    const uint32_t given = count - first, slot = is_operator ? 0 : 1;
    if (given < f->required || (given > f->parameter_count && !f->type->variadic) || count + slot > MAX_RANKED)
        return false;
    for (uint32_t k = first; k < count; k++) {
        const bool has_parameter = k - first < f->parameter_count;
        const int rank = has_parameter ? conversion_rank(c, arguments[k], f->type->parameters[k - first], allow_user) : FITS_ELLIPSIS;
        if (rank == FITS_NEVER)
            return false;
        r->ranks[k + slot] = rank;
    }
    return true;
}

static bool is_built_in(const Compiler *c, const Function *f)
{
    const SourceFile *file = source_file_at(c, f->position);
    return !file || file->built_in;
}

// > 0: a is the better candidate; < 0: b is; 0: neither.
static int compare_rankings(Compiler *c, const Ranking *a, const Ranking *b, uint32_t count)
{
    bool better = false, worse = false;
    for (uint32_t k = 0; k < count; k++) {
        better |= a->ranks[k] < b->ranks[k];
        worse |= a->ranks[k] > b->ranks[k];
    }
    if (better != worse)
        return better ? 1 : -1;
    if (better)
        return 0;
    const Template *candidate = a->function->template, *other = b->function->template;
    if (!candidate != !other)
        return candidate ? -1 : 1;
    if (candidate && other) {
        const bool first = template_more_special(c, candidate, other), second = template_more_special(c, other, candidate);
        if (first != second)
            return first ? 1 : -1;
    }
    return (int)is_built_in(c, b->function) - (int)is_built_in(c, a->function);
}

Function *overload_best(Compiler *c, const Candidates *list, Expression *object, Expression **arguments, uint32_t count, bool allow_user,
                        bool *ambiguous)
{
    Ranking best = {0}, candidate;
    const uint32_t slots = count + !list->is_operator;
    *ambiguous = false;
    for (uint32_t k = 0; k < list->count; k++) {
        memset(&candidate, 0, sizeof candidate);
        if (!rank_function(c, &candidate, list->functions[k], list->is_operator, object, arguments, count, allow_user))
            continue;
        const int better = best.function ? compare_rankings(c, &candidate, &best, slots) : 1;
        if (better > 0) {
            best = candidate;
            *ambiguous = false;
        } else if (better == 0) {
            *ambiguous = true;
        }
    }
    for (uint32_t k = 0; k < list->count && *ambiguous; k++) { // only if a candidate is at least as good as the best one
        bool tie = false;
        for (uint32_t j = 0; j < list->count && !tie; j++) {
            memset(&candidate, 0, sizeof candidate);
            if (list->functions[j] != best.function &&
                rank_function(c, &candidate, list->functions[j], list->is_operator, object, arguments, count, allow_user))
                tie = compare_rankings(c, &best, &candidate, slots) <= 0;
        }
        *ambiguous = tie;
        break;
    }
    for (uint32_t k = 0; k < count && *ambiguous; k++)
        if (expression_is_unknown(arguments[k]) && arguments[k]->kind != EXPRESSION_FUNCTION && arguments[k]->type->kind != TYPE_INITIALISERS)
            *ambiguous = false; // an error has been reported: any candidate will do
    return *ambiguous ? NULL : best.function;
}

// ---- messages

static const char *types_of(Compiler *c, Expression **arguments, uint32_t count)
{
    const char *text = "";
    for (uint32_t k = 0; k < count; k++)
        text = compile_format(c, "%s%s%s", text, k ? ", " : "",
                              arguments[k]->kind == EXPRESSION_FUNCTION ? "function" : type_text(c, arguments[k]->type));
    return text;
}

static const char *count_text(Compiler *c, const Function *f)
{
    const uint32_t limit = f->parameter_count;
    if (f->type->variadic)
        return compile_format(c, "at least %u argument%s", f->required, f->required == 1 ? "" : "s");
    if (f->required != limit)
        return compile_format(c, f->required + 1 == limit ? "%u or %u arguments" : "%u to %u arguments", f->required, limit);
    return limit == 0 ? "no arguments" : compile_format(c, "%u argument%s", limit, limit == 1 ? "" : "s");
}

static void note_candidates(Compiler *c, const Candidates *list)
{
    for (uint32_t k = 0; k < list->count && k < 4; k++)
        if (!is_built_in(c, list->functions[k]))
            source_note(c, list->functions[k]->position, 0, "'%s' is declared here", function_readable(c, list->functions[k]));
}

// Whether all functions accept the same numbers of arguments, and `count` is not one of them.
static bool wrong_count(const Candidates *list, uint32_t count)
{
    const Function *first = list->functions[0];
    for (uint32_t k = 0; k < list->count; k++) {
        const Function *f = list->functions[k];
        if (f->type->variadic || (count >= f->required && count <= f->parameter_count) || f->required != first->required ||
            f->parameter_count != first->parameter_count)
            return false;
    }
    return true;
}

static const char *help_for(Compiler *c, const Candidates *list, const char *what, Expression **arguments, uint32_t count);

static const char *signatures(Compiler *c, const Candidates *list)
{
    const char *text = "";
    for (uint32_t k = 0; k < list->count && k < 4; k++)
        text = compile_format(c, "%s%s%s", text, k ? "; " : "", function_readable(c, list->functions[k]));
    return compile_format(c, list->count > 4 ? "%s; ..." : "%s", text);
}

// Reports why the only candidate is not viable.
static void report_single(Compiler *c, const Candidates *list, Function *f, const char *what, Expression **arguments, uint32_t count,
                          Position start, Position end)
{
    const char *help = known_usage(what) ? known_usage(what) : is_built_in(c, f) ? compile_format(c, "it is %s", function_readable(c, f)) : NULL;
    if (count < f->required || (count > f->parameter_count && !f->type->variadic)) {
        source_error(c, start, end - start, help, "'%s' needs %s, and this call has %u", what, count_text(c, f), count);
    } else {
        const uint32_t errors = c->silent_errors + (uint32_t)c->result->error_count;
        for (uint32_t k = 0; k < count && k < f->parameter_count; k++)
            if (conversion_rank(c, arguments[k], f->type->parameters[k], true) == FITS_NEVER)
                convert(c, arguments[k], f->type->parameters[k], compile_format(c, "argument %u of '%s'", k + 1, what));
        if (errors == c->silent_errors + (uint32_t)c->result->error_count)
            source_error(c, start, end - start, help, f->record ? "'%s' cannot be called for a const object" : "'%s' does not fit these arguments", what);
    }
    note_candidates(c, list);
}

static const char *help_for(Compiler *c, const Candidates *list, const char *what, Expression **arguments, uint32_t count)
{
    if (list->count == 0 || !is_built_in(c, list->functions[0]))
        return NULL;
    const Type *first = list->functions[0]->parameter_count ? list->functions[0]->type->parameters[0] : NULL;
    if (count && first && first->kind == TYPE_POINTER && type_is_arithmetic(arguments[0]->type) && arguments[0]->is_lvalue)
        return compile_format(c, "the first argument is an address: write &%s", expression_text(c, arguments[0]));
    if (known_usage(what))
        return known_usage(what);
    return compile_format(c, "there are: %s", signatures(c, list));
}

void overload_report(Compiler *c, const Candidates *list, const char *what, Expression **arguments, uint32_t count, bool ambiguous,
                     Position start, Position end)
{
    for (uint32_t k = 0; k < count; k++)
        if (expression_is_unknown(arguments[k]) && arguments[k]->kind != EXPRESSION_FUNCTION && arguments[k]->type->kind != TYPE_INITIALISERS)
            return;
    if (ambiguous) {
        source_error(c, start, end - start, "convert an argument to the type that is meant", "the call of '%s' is ambiguous for (%s)", what,
                     types_of(c, arguments, count));
        note_candidates(c, list);
    } else if (list->count == 1 || (list->count > 1 && wrong_count(list, count))) {
        report_single(c, list, list->functions[0], what, arguments, count, start, end);
    } else if (list->count == 0 && list->failed) {
        source_error(c, start, end - start, compile_format(c, "give the template's arguments: %s<...>(...)", what),
                     "the template '%s' does not fit the arguments (%s)", what, types_of(c, arguments, count));
        source_note(c, list->failed->position, list->failed->name->length, "the template '%s'", list->failed->name->text);
    } else {
        source_error(c, start, end - start, help_for(c, list, what, arguments, count), "no '%s' takes (%s)", what, types_of(c, arguments, count));
        note_candidates(c, list);
    }
}
