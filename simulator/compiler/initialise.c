// initialise.c: initialisation of objects.
#include "compiler/build.h"

#include <string.h>

enum { MAX_CONSTRUCTED = 4096 }; // elements of an array of objects with constructors

static Expression *list_new(Compiler *c, Type *type, uint32_t capacity, Position start, Position end)
{
    Expression *e = expression_new(c, EXPRESSION_LIST, type, start, end);
    e->arguments = compile_allocate(c, capacity * sizeof *e->arguments);
    e->zeroed = true;
    return e;
}

// A call of a record's constructor, chosen by overload resolution.
static Expression *construct(Compiler *c, Record *record, Expression **arguments, uint32_t count, Position start, Position end)
{
    Candidates all = {0}, list = {0};
    overload_add(c, &all, record_constructors(c, record), NULL, 0, arguments, count, start);
    for (uint32_t k = 0; k < all.count; k++)
        if (all.functions[k]->is_constructor)
            *compile_push(c, list.functions, list.count, list.capacity) = all.functions[k];
    list.failed = all.failed;
    bool ambiguous;
    Function *f = overload_best(c, &list, NULL, arguments, count, true, &ambiguous);
    if (!f) {
        overload_report(c, &list, record_readable(c, record), arguments, count, ambiguous, start, end);
        return expression_unknown(c, start, end);
    }
    return build_call_of(c, f, NULL, arguments, count, start, end);
}

// ---- default and value initialisation

static Expression *field_default(Compiler *c, Field *field, Function *constructor)
{
    const ParserState saved = parse_save(c);
    parse_enter(c);
    Function *function = constructor ? constructor : saved.function;
    c->parser->state = (ParserState){.at = field->initialiser_token, .scope = field->record->scope, .function = function};
    const bool braces = parse_at(c, '{');
    Expression *e = braces ? parse_braced(c) : parse_assignment(c);
    parse_leave(c);
    parse_restore(c, &saved);
    return initialise_copy(c, field->type, e, "a member's initialiser");
}

// The initialiser list of a record some of whose fields have initialisers or constructors; the others are zeroed or left undefined.
static Expression *list_of_defaults(Compiler *c, Type *type, bool zeroed, Position start, Position end)
{
    Record *r = type->record;
    Expression *e = list_new(c, type, r->field_count, start, end);
    e->zeroed = zeroed;
    e->argument_count = r->is_union && r->field_count ? 1 : r->field_count;
    for (uint32_t k = 0; k < e->argument_count; k++) {
        Field *field = &r->fields[k];
        if (field->initialiser_token)
            e->arguments[k] = field_default(c, field, NULL);
        else if (zeroed)
            e->arguments[k] = type_is_any_reference(field->type) ? NULL : initialise_value(c, field->type, start, end);
        else
            e->arguments[k] = initialise_default(c, field->type, start, "this member");
    }
    return e;
}

static Expression *default_array(Compiler *c, Type *type, Position at, bool zeroed)
{
    Type *inner = type_innermost(type);
    if (inner->kind != TYPE_RECORD || (!inner->record->has_constructor && !inner->record->has_initialisers))
        return zeroed ? list_new(c, type, 0, at, at) : NULL;
    if (type->count == NO_SIZE || type->count > MAX_CONSTRUCTED) {
        source_error(c, at, 0, NULL, "an array of that many objects with constructors is not supported");
        return expression_unknown(c, at, at);
    }
    Expression *e = list_new(c, type, (uint32_t)type->count, at, at);
    e->zeroed = zeroed;
    for (; e->argument_count < type->count; e->argument_count++)
        e->arguments[e->argument_count] = zeroed ? initialise_value(c, type->target, at, at) : initialise_default(c, type->target, at, NULL);
    return e;
}

Expression *initialise_default(Compiler *c, Type *type, Position at, const char *what)
{
    if (type_is_unknown(type))
        return NULL;
    if (type->kind == TYPE_ARRAY)
        return default_array(c, type, at, false);
    if (type_is_any_reference(type)) {
        source_error(c, at, 0, NULL, "%s is a reference, which needs something to refer to", what ? what : "this");
        return expression_unknown(c, at, at);
    }
    if (type->kind != TYPE_RECORD)
        return NULL;
    Record *r = type->record;
    if (r->has_constructor && !r->has_trivial_default)
        return construct(c, r, NULL, 0, at, at);
    return r->has_initialisers ? list_of_defaults(c, type_bare(type), false, at, at) : NULL;
}

Expression *initialise_value(Compiler *c, Type *type, Position start, Position end)
{
    type = type_bare(type);
    if (type_is_unknown(type))
        return expression_unknown(c, start, end);
    if (type->kind == TYPE_ARRAY)
        return default_array(c, type, start, true);
    if (type->kind == TYPE_VOID)
        return expression_unary(c, EXPRESSION_CONVERT, type, expression_integer(c, type_basic(c, TYPE_INT), 0, start, end));
    if (type->kind == TYPE_RECORD) {
        Record *r = type->record;
        if (!r->is_complete) {
            source_error(c, start, end - start, NULL, "'%s' is declared, but not defined", type_text(c, type));
            return expression_unknown(c, start, end);
        }
        if (r->has_constructor && !r->has_trivial_default)
            return construct(c, r, NULL, 0, start, end);
        return r->has_initialisers ? list_of_defaults(c, type, true, start, end) : list_new(c, type, 0, start, end);
    }
    if (type_is_any_reference(type)) {
        source_error(c, start, end - start, NULL, "a reference needs something to refer to");
        return expression_unknown(c, start, end);
    }
    return type_is_real(type) ? expression_real(c, type, 0, start, end) : expression_integer(c, type, 0, start, end);
}

// ---- copies

Expression *initialise_record_copy(Compiler *c, Expression *e)
{
    if (!e->is_lvalue || e->type->kind != TYPE_RECORD)
        return e;
    Record *record = e->type->record;
    if (record->is_trivial)
        return expression_unary(c, EXPRESSION_COPY, type_bare(e->type), e);
    return construct(c, record, &e, 1, e->start, e->end);
}

Expression *initialise_copy(Compiler *c, Type *type, Expression *e, const char *purpose)
{
    if (e->type->kind == TYPE_INITIALISERS)
        return initialise_list(c, type, e, purpose);
    if (type->kind == TYPE_ARRAY && !type_is_unknown(type)) {
        const bool text = e->kind == EXPRESSION_STRING && type->target->size == 1;
        if (text && type->count != NO_SIZE && e->type->count > type->count)
            expression_error(c, e, NULL, "the string needs %llu bytes, and the array has %llu", (unsigned long long)e->type->count,
                             (unsigned long long)type->count);
        else if (!text && !expression_is_unknown(e))
            expression_error(c, e, "write its elements in braces: { ... }", "an array cannot begin as a '%s'", type_text(c, e->type));
        if (!text)
            return expression_unknown(c, e->start, e->end);
        Expression *list = list_new(c, type, 1, e->start, e->end);
        list->arguments[list->argument_count++] = e; // lowering copies the bytes
        return list;
    }
    return convert(c, e, type, purpose);
}

Expression *initialise_direct(Compiler *c, Type *type, Expression **arguments, uint32_t count, Position start, Position end)
{
    if (type_is_unknown(type))
        return expression_unknown(c, start, end);
    if (count == 0)
        return initialise_value(c, type, start, end);
    if (type->kind == TYPE_RECORD) {
        Record *r = type->record;
        Type *from = arguments[0]->type;
        if (!r->is_complete) {
            source_error(c, start, end - start, NULL, "'%s' is declared, but not defined", type_text(c, type));
            return expression_unknown(c, start, end);
        }
        for (uint32_t k = 0; k < count; k++)
            if (expression_is_unknown(arguments[k]) && arguments[k]->kind != EXPRESSION_FUNCTION && arguments[k]->type->kind != TYPE_INITIALISERS)
                return expression_unknown(c, start, end);
        const bool copies = count == 1 && from->kind == TYPE_RECORD && (from->record == r || !r->has_constructor);
        if (count == 1 && (copies || (from->kind == TYPE_RECORD && !record_constructors(c, r))))
            return convert(c, arguments[0], type_bare(type), "an initialisation");
        if (!r->has_constructor || !record_constructors(c, r)) {
            source_error(c, start, end - start, compile_format(c, "write %s{...}", type_text(c, type)), "'%s' has no constructor",
                         type_text(c, type));
            return expression_unknown(c, start, end);
        }
        return construct(c, r, arguments, count, start, end);
    }
    if (count > 1) {
        source_error(c, start, end - start, NULL, "'%s' begins as one value, and these are %u", type_text(c, type), count);
        return expression_unknown(c, start, end);
    }
    if (type->kind == TYPE_ARRAY)
        return initialise_copy(c, type, arguments[0], "an initialisation");
    if (arguments[0]->type->kind == TYPE_RECORD && !type_is_any_reference(type)) {
        Expression *called = convert_by_operator(c, arguments[0], type, true);
        if (called)
            return convert_scalar(c, expression_value(c, called), type);
    }
    return convert(c, arguments[0], type, "an initialisation");
}

// ---- braced lists

typedef struct Items { // the items of a list; `at` is the first unused one
    Expression **items;
    uint32_t count, at;
} Items;

static Expression *fill_aggregate(Compiler *c, Type *type, Items *items, Position start, Position end);

static bool is_aggregate(const Type *type)
{
    return type->kind == TYPE_ARRAY || (type->kind == TYPE_RECORD && type->record->is_aggregate);
}

static Expression *fill_element(Compiler *c, Type *type, Items *items)
{
    Expression *item = items->items[items->at];
    if (item->type->kind == TYPE_INITIALISERS) {
        items->at++;
        return initialise_list(c, type, item, "an initialiser list");
    }
    const bool text = type->kind == TYPE_ARRAY && item->kind == EXPRESSION_STRING && type->target->size == 1;
    if (is_aggregate(type) && !text && !expression_is_unknown(item) &&
        (type->kind == TYPE_ARRAY || conversion_rank(c, item, type, true) == FITS_NEVER)) {
        parse_enter(c);
        Expression *e = fill_aggregate(c, type, items, item->start, item->end);
        parse_leave(c);
        return e;
    }
    items->at++;
    return initialise_copy(c, type, item, "an initialiser list");
}

static Expression *fill_array(Compiler *c, Type *type, Items *items, Position start, Position end)
{
    const uint64_t limit = type->count == NO_SIZE ? items->count : type->count;
    uint32_t capacity = 0;
    Expression *e = list_new(c, type, 0, start, end);
    while (items->at < items->count && e->argument_count < limit) {
        const uint32_t before = items->at;
        Expression *element = fill_element(c, type->target, items);
        *compile_push(c, e->arguments, e->argument_count, capacity) = element;
        if (items->at == before) // an empty aggregate consumes no item
            break;
    }
    Type *inner = type_innermost(type);
    if (inner->kind == TYPE_RECORD && (inner->record->has_constructor || inner->record->has_initialisers) && type->count != NO_SIZE &&
        type->count <= MAX_CONSTRUCTED)
        while (e->argument_count < type->count) {
            Expression *one = initialise_value(c, type->target, start, end);
            *compile_push(c, e->arguments, e->argument_count, capacity) = one;
        }
    return e;
}

static Expression *fill_record(Compiler *c, Type *type, Items *items, Position start, Position end)
{
    Record *r = type->record;
    Expression *e = list_new(c, type_bare(type), r->field_count, start, end);
    const uint32_t limit = r->is_union && r->field_count ? 1 : r->field_count;
    for (uint32_t k = 0; k < limit; k++) {
        Field *field = &r->fields[k];
        if (items->at < items->count)
            e->arguments[k] = fill_element(c, field->type, items);
        else if (field->initialiser_token)
            e->arguments[k] = field_default(c, field, NULL);
        else if (type_is_any_reference(field->type))
            e->arguments[k] = initialise_default(c, field->type, start, field->name ? field->name->text : NULL);
        else if (field->type->kind == TYPE_RECORD)
            e->arguments[k] = initialise_value(c, field->type, start, end);
        e->argument_count = k + 1;
    }
    return e;
}

static Expression *fill_aggregate(Compiler *c, Type *type, Items *items, Position start, Position end)
{
    return type->kind == TYPE_ARRAY ? fill_array(c, type, items, start, end) : fill_record(c, type, items, start, end);
}

Expression *initialise_list(Compiler *c, Type *type, Expression *list, const char *purpose)
{
    const Position start = list->start, end = list->end;
    if (type_is_unknown(type) || type->kind == TYPE_AUTO)
        return expression_unknown(c, start, end);
    if (type_is_any_reference(type))
        return expression_lvalue(c, initialise_list(c, type_bare(type->target), list, purpose));
    if (type->kind == TYPE_RECORD && !type->record->is_complete) {
        source_error(c, start, end - start, NULL, "'%s' is declared, but not defined", type_text(c, type));
        return expression_unknown(c, start, end);
    }
    const bool same = list->argument_count == 1 && type->kind == TYPE_RECORD && list->arguments[0]->type->kind == TYPE_RECORD &&
                      list->arguments[0]->type->record == type->record;
    if (type->kind == TYPE_RECORD && (same || !type->record->is_aggregate))
        return initialise_direct(c, type_bare(type), list->arguments, list->argument_count, start, end);
    if (is_aggregate(type)) {
        Items items = {list->arguments, list->argument_count, 0};
        if (list->argument_count == 0)
            return initialise_value(c, type, start, end);
        Expression *e = items.count == 1 && type->kind == TYPE_ARRAY && type->target->size == 1 && items.items[0]->kind == EXPRESSION_STRING
                            ? initialise_copy(c, type, items.items[items.at++], purpose)
                            : fill_aggregate(c, type, &items, start, end);
        if (items.at < items.count && !expression_is_unknown(items.items[items.at]))
            expression_error(c, items.items[items.at], NULL, "'%s' has only %llu element%s", type_text(c, type),
                             (unsigned long long)(type->kind == TYPE_ARRAY ? type->count : type->record->field_count),
                             type->kind == TYPE_ARRAY && type->count == 1 ? "" : "s");
        return e;
    }
    if (list->argument_count > 1) {
        source_error(c, start, end - start, NULL, "'%s' begins as one value, and these are %u", type_text(c, type), list->argument_count);
        return expression_unknown(c, start, end);
    }
    return list->argument_count ? convert(c, list->arguments[0], type_bare(type), purpose) : initialise_value(c, type, start, end);
}

Type *array_completed(Compiler *c, Type *type, const Expression *e)
{
    if (type->kind != TYPE_ARRAY || type->count != NO_SIZE || !e)
        return type;
    uint64_t count = e->kind == EXPRESSION_LIST ? e->argument_count : 0;
    if (e->kind == EXPRESSION_LIST && count == 1 && e->arguments[0]->kind == EXPRESSION_STRING && type->target->size == 1)
        count = e->arguments[0]->type->count;
    return type_array(c, type->target, count);
}

// ---- constructors

void initialise_fields(Compiler *c, Function *f)
{
    Record *r = f->record;
    FieldInitialiser *all = compile_allocate(c, (r->field_count + 1) * sizeof *all);
    uint32_t count = 0;
    for (uint32_t k = 0; k < f->field_initialiser_count; k++)
        if (!f->field_initialisers[k].field) // delegates to another constructor of the record
            return;
    for (uint32_t k = 0; k < r->field_count; k++) {
        Field *field = &r->fields[k];
        FieldInitialiser *own = NULL;
        for (uint32_t j = 0; j < f->field_initialiser_count && !own; j++)
            if (f->field_initialisers[j].field == field)
                own = &f->field_initialisers[j];
        Expression *value = own ? own->value
                            : field->initialiser_token ? field_default(c, field, f)
                            : r->is_union ? NULL
                                          : initialise_default(c, field->type, f->position, field->name ? field->name->text : NULL);
        if (value)
            all[count++] = (FieldInitialiser){field, value};
    }
    f->field_initialisers = all;
    f->field_initialiser_count = count;
}
