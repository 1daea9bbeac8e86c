// scopes.c: declaration and lookup of names.
#include "compiler/scopes.h"

#include <string.h>

#include "compiler/intrinsics.h"
#include "compiler/library.h"

enum { SCOPE_BUCKETS = 256, MAX_LISTED = 12 }; // MAX_LISTED: symbols of a scope without a hash table

Scope *scope_new(Compiler *c, ScopeKind kind, Scope *parent)
{
    Scope *scope = compile_new(c, Scope);
    scope->kind = (uint8_t)kind;
    scope->parent = parent;
    scope->qualified = "";
    return scope;
}

static void make_buckets(Compiler *c, Scope *scope)
{
    scope->buckets = compile_allocate(c, SCOPE_BUCKETS * sizeof *scope->buckets);
    for (Symbol *symbol = scope->first; symbol; symbol = symbol->next_in_scope) {
        Symbol **bucket = &scope->buckets[symbol->name->hash % SCOPE_BUCKETS];
        symbol->next = *bucket;
        *bucket = symbol;
    }
}

// A scope with few names has them only in a list, newest last.
Symbol *scope_find(Scope *scope, const Name *name)
{
    Symbol *tag = NULL;
    Symbol *symbol = scope->buckets ? scope->buckets[name->hash % SCOPE_BUCKETS] : scope->first;
    for (; symbol; symbol = scope->buckets ? symbol->next : symbol->next_in_scope)
        if (symbol->name == name) {
            if (!symbol->is_tag)
                return symbol;
            tag = symbol;
        }
    return tag;
}

static Symbol *add(Compiler *c, Scope *scope, Symbol *symbol)
{
    if (scope->last)
        scope->last->next_in_scope = symbol;
    else
        scope->first = symbol;
    scope->last = symbol;
    scope->count++;
    if (scope->buckets) {
        Symbol **bucket = &scope->buckets[symbol->name->hash % SCOPE_BUCKETS];
        symbol->next = *bucket;
        *bucket = symbol;
    } else if (scope->count > MAX_LISTED) {
        make_buckets(c, scope);
    }
    return symbol;
}

static bool is_overloadable(const Symbol *symbol)
{
    return symbol->kind == SYMBOL_FUNCTION || (symbol->kind == SYMBOL_TEMPLATE && symbol->template &&
                                              symbol->template->kind == TEMPLATE_FUNCTION);
}

Symbol *scope_declare(Compiler *c, Scope *scope, SymbolKind kind, Name *name, Position position)
{
    Symbol *symbol = compile_new(c, Symbol);
    *symbol = (Symbol){.kind = (uint8_t)kind, .name = name, .position = position, .scope = scope};
    Symbol *old = name ? scope_find(scope, name) : NULL;
    if (old && old->is_tag)
        old = NULL;
    const bool overloads = kind == SYMBOL_FUNCTION || kind == SYMBOL_TEMPLATE;
    if (old && overloads && is_overloadable(old)) {
        while (old->next_overload)
            old = old->next_overload;
        return old->next_overload = symbol;
    }
    if (old && old->kind != SYMBOL_UNKNOWN && !c->silent) {
        source_error(c, position, name->length, NULL, "'%s' is declared twice", name->text);
        source_note(c, old->position, name->length, "the first declaration of '%s'", name->text);
    }
    return name ? add(c, scope, symbol) : symbol;
}

Scope *scope_namespace(Compiler *c, Scope *parent, Name *name, Position position)
{
    Symbol *old = name ? scope_find(parent, name) : NULL;
    if (old && old->kind == SYMBOL_NAMESPACE)
        return old->names;
    Scope *scope = scope_new(c, SCOPE_NAMESPACE, parent);
    scope->name = name;
    scope->is_unnamed = !name;
    const char *text = name ? name->text : "";
    scope->qualified = *parent->qualified ? compile_format(c, "%s::%s", parent->qualified, text) : text;
    scope->is_library = library_has_namespace(c, scope->qualified);
    if (name)
        scope_declare(c, parent, SYMBOL_NAMESPACE, name, position)->names = scope;
    else
        scope_use(c, parent, scope);
    return scope;
}

void scope_use(Compiler *c, Scope *scope, Scope *used)
{
    for (uint32_t k = 0; k < scope->used_count; k++)
        if (scope->used[k] == used)
            return;
    *compile_push(c, scope->used, scope->used_count, scope->used_capacity) = used;
}

// ---- Lookup

static Symbol *find_in_bases(Compiler *c, Record *record, Name *name, int depth)
{
    Symbol *symbol = scope_find(record->scope, name);
    for (uint32_t k = 0; !symbol && k < record->field_count && depth < MAX_NESTING; k++) {
        const Field *field = &record->fields[k];
        if (field->is_base && field->type->kind == TYPE_RECORD)
            symbol = find_in_bases(c, field->type->record, name, depth + 1);
        else if (field->is_anonymous)
            symbol = find_in_bases(c, field->type->record, name, depth + 1);
    }
    return symbol;
}

static Symbol *find_in_namespace(Compiler *c, Scope *scope, Name *name, int depth)
{
    Symbol *symbol = scope_find(scope, name);
    if (scope->is_library && (!symbol || symbol->is_tag || is_overloadable(symbol)) && library_declare(c, scope, name))
        symbol = scope_find(scope, name);
    for (uint32_t k = 0; !symbol && k < scope->used_count && depth < 8; k++)
        if (scope->used[k] != scope)
            symbol = find_in_namespace(c, scope->used[k], name, depth + 1);
    return symbol;
}

Symbol *scope_find_member(Compiler *c, Scope *scope, Name *name)
{
    if (scope->kind == SCOPE_RECORD)
        return find_in_bases(c, scope->record, name, 0);
    if (scope->kind == SCOPE_NAMESPACE)
        return find_in_namespace(c, scope, name, 0);
    Symbol *symbol = scope_find(scope, name);
    for (uint32_t k = 0; !symbol && k < scope->used_count; k++)
        symbol = find_in_namespace(c, scope->used[k], name, 1);
    return symbol;
}

Symbol *scope_lookup(Compiler *c, Scope *scope, Name *name)
{
    for (; scope; scope = scope->parent) {
        Symbol *symbol = scope_find_member(c, scope, name);
        if (symbol)
            return symbol;
    }
    return NULL;
}

Scope *scope_enclosing_namespace(Scope *scope)
{
    while (scope->kind != SCOPE_NAMESPACE)
        scope = scope->parent;
    return scope;
}

Record *scope_record(Scope *scope)
{
    for (; scope && scope->kind != SCOPE_NAMESPACE; scope = scope->parent)
        if (scope->kind == SCOPE_RECORD)
            return scope->record;
    return NULL;
}

Name *record_constructor_name(Compiler *c)
{
    return name_intern(c, "(constructor)", 13);
}

Symbol *record_constructors(Compiler *c, Record *record)
{
    return record->is_complete ? scope_find(record->scope, record_constructor_name(c)) : NULL;
}

// ---- Suggestions

typedef struct Suggestion {
    const Name *undeclared;
    const char *best;
    uint32_t distance;
} Suggestion;

static void consider(Suggestion *s, const char *text, size_t length)
{
    // A change within a name is likelier than a missing letter.
    const uint32_t distance = 2 * source_distance(s->undeclared->text, s->undeclared->length, text, length, s->distance) + (length != s->undeclared->length);
    if (distance < s->distance) {
        s->distance = distance;
        s->best = text;
    }
}

static void consider_library(void *context, const char *name, size_t length)
{
    consider(context, name, length);
}

static void consider_scope(Suggestion *s, const Scope *scope)
{
    for (const Symbol *symbol = scope->first; symbol; symbol = symbol->next_in_scope)
        if (symbol->position || symbol->kind == SYMBOL_BUILTIN || symbol->kind == SYMBOL_FIELD)
            consider(s, symbol->name->text, symbol->name->length);
}

static Suggestion suggestion_for(const Name *name)
{
    // Limits are doubled, as in source_distance: one change in names of up to 4 bytes, two in longer ones, three from 8 on.
    return (Suggestion){name, NULL, 2 * (name->length <= 2 ? 2 : name->length <= 4 ? 3 : name->length < 8 ? 5 : 7)};
}

const char *scope_suggestion(Compiler *c, Scope *scope, const Name *name)
{
    Suggestion s = suggestion_for(name);
    for (; scope; scope = scope->parent)
        consider_scope(&s, scope);
    library_visit(consider_library, &s);
    const char *intrinsic = intrinsic_suggestion(name->text, name->length);
    if (intrinsic)
        consider(&s, intrinsic, strlen(intrinsic));
    return s.best ? compile_copy_text(c, s.best, strcspn(s.best, " ")) : NULL;
}

const char *scope_member_suggestion(Compiler *c, Scope *scope, const Name *name)
{
    (void)c;
    Suggestion s = suggestion_for(name);
    consider_scope(&s, scope);
    return s.best;
}
