// conversions.c: implicit conversions and their ranks.
#include "compiler/build.h"

#include <string.h>

bool record_derives(const Record *record, const Record *base, uint64_t *offset)
{
    if (record == base) {
        *offset = 0;
        return true;
    }
    for (uint32_t k = 0; k < record->field_count; k++) {
        const Field *field = &record->fields[k];
        if (field->is_base && field->type->kind == TYPE_RECORD && record_derives(field->type->record, base, offset)) {
            *offset += field->offset;
            return true;
        }
    }
    return false;
}

static bool is_derived(const Type *from, const Type *to)
{
    uint64_t offset;
    return from->kind == TYPE_RECORD && to->kind == TYPE_RECORD && from->record != to->record &&
           record_derives(from->record, to->record, &offset);
}

// Whether `from` converts to `to` by a qualification conversion, at any pointer level.
static bool adds_qualifiers(const Type *from, const Type *to)
{
    for (bool all_const = true; from->kind == TYPE_POINTER && to->kind == TYPE_POINTER;) {
        from = from->target, to = to->target;
        const uint8_t lost = from->qualifiers & ~to->qualifiers & (TYPE_CONST | TYPE_VOLATILE);
        if (lost || (from->qualifiers != to->qualifiers && !all_const))
            return false;
        all_const &= (to->qualifiers & TYPE_CONST) != 0;
        if (from->unqualified == to->unqualified)
            return true;
        if (from->kind == TYPE_ARRAY && to->kind == TYPE_ARRAY)
            return from->count == to->count && type_innermost((Type *)from)->unqualified == type_innermost((Type *)to)->unqualified;
    }
    return from->unqualified == to->unqualified;
}

static int rank_of_pointers(const Expression *e, const Type *from, const Type *to)
{
    if (from == to->unqualified)
        return FITS_EXACTLY;
    if (expression_is_null_pointer(e) || from->kind == TYPE_NULLPTR)
        return FITS_CONVERTED;
    if (from->kind != TYPE_POINTER)
        return FITS_NEVER;
    if (adds_qualifiers(from, to))
        return FITS_QUALIFIED;
    const Type *object = from->target, *target = to->target;
    const bool keeps = !(object->qualifiers & ~target->qualifiers & (TYPE_CONST | TYPE_VOLATILE));
    if (keeps && object->kind != TYPE_FUNCTION && (target->kind == TYPE_VOID || is_derived(object, target)))
        return FITS_CONVERTED;
    return FITS_NEVER;
}

static int rank_of_scalars(Compiler *c, const Expression *e, Type *from, Type *to)
{
    to = type_bare(to);
    if (from == to)
        return FITS_EXACTLY;
    if (to->kind == TYPE_POINTER)
        return rank_of_pointers(e, from, to);
    if (to->kind == TYPE_NULLPTR)
        return expression_is_null_pointer(e) ? FITS_CONVERTED : FITS_NEVER;
    if (to->kind == TYPE_BOOL && (from->kind == TYPE_POINTER || from->kind == TYPE_NULLPTR))
        return FITS_AS_BOOL;
    const bool number = type_is_arithmetic(from) || (from->kind == TYPE_ENUM && !from->enumeration->scoped);
    if (!number || !type_is_arithmetic(to))
        return FITS_NEVER;
    if (to == type_promoted(c, from) || (from->kind == TYPE_FLOAT && to->kind == TYPE_DOUBLE))
        return FITS_PROMOTED;
    return FITS_CONVERTED;
}

// ---- user-defined conversions

typedef struct OperatorSearch {
    Function *best;
    int rank;
    bool ambiguous;
} OperatorSearch;

static void search_operators(Compiler *c, Record *record, uint8_t qualifiers, Type *to, bool explicit_too, OperatorSearch *s, int depth)
{
    for (Symbol *symbol = record->scope->first; symbol; symbol = symbol->next_in_scope)
        for (Symbol *overload = symbol; overload; overload = overload->next_overload) {
            Function *f = overload->kind == SYMBOL_FUNCTION ? overload->function : NULL;
            if (!f || !f->is_conversion || (f->is_explicit && !explicit_too))
                continue;
            if ((qualifiers & TYPE_CONST) && !f->type->member_const)
                continue;
            Type *result = f->type->target;
            Expression *value = expression_new(c, EXPRESSION_CALL, type_without_reference(result), 0, 0);
            value->is_lvalue = type_is_any_reference(result);
            int rank = to ? conversion_rank(c, value, to, false) : type_is_arithmetic(value->type) ? FITS_EXACTLY : FITS_NEVER;
            rank = rank == FITS_NEVER ? rank : 2 * rank + (f->type->member_const && !(qualifiers & TYPE_CONST));
            if (rank < s->rank)
                *s = (OperatorSearch){f, rank, false};
            else if (rank == s->rank && rank != FITS_NEVER && f != s->best)
                s->ambiguous = true;
        }
    for (uint32_t k = 0; k < record->field_count && depth < MAX_NESTING; k++)
        if (record->fields[k].is_base && record->fields[k].type->kind == TYPE_RECORD)
            search_operators(c, record->fields[k].type->record, qualifiers, to, explicit_too, s, depth + 1);
}

static Function *conversion_function(Compiler *c, const Expression *e, Type *to, bool explicit_too)
{
    OperatorSearch s = {.rank = FITS_NEVER};
    search_operators(c, e->type->record, e->type->qualifiers, to, explicit_too, &s, 0);
    return s.ambiguous ? NULL : s.best;
}

Expression *convert_by_operator(Compiler *c, Expression *e, Type *to, bool explicit_too)
{
    Function *f = conversion_function(c, e, to, explicit_too);
    return f ? build_call_of(c, f, e, NULL, 0, e->start, e->end) : NULL;
}

Expression *convert_to_arithmetic(Compiler *c, Expression *e)
{
    return convert_by_operator(c, e, NULL, false);
}

static Function *converting_constructor(Compiler *c, Expression *e, Record *record)
{
    Symbol *constructors = record_constructors(c, record);
    Candidates list = {0};
    for (Symbol *s = constructors; s; s = s->next_overload)
        if (s->kind == SYMBOL_TEMPLATE || (s->kind == SYMBOL_FUNCTION && s->function->is_constructor && !s->function->is_explicit)) {
            Symbol alone = *s;
            alone.next_overload = NULL;
            overload_add(c, &list, &alone, NULL, 0, &e, 1, e->start);
        }
    uint32_t kept = 0;
    for (uint32_t k = 0; k < list.count; k++)
        if (list.functions[k]->is_constructor && !list.functions[k]->is_explicit)
            list.functions[kept++] = list.functions[k];
    list.count = kept;
    bool ambiguous;
    return list.count ? overload_best(c, &list, NULL, &e, 1, false, &ambiguous) : NULL;
}

// ---- ranks

static int rank_of_list(Compiler *c, Expression *e, Type *to)
{
    Type *object = type_without_reference(to);
    if (object->kind == TYPE_RECORD) {
        Record *r = object->record;
        if (r->is_aggregate)
            return e->argument_count <= r->field_count ? FITS_BY_USER : FITS_NEVER;
        return FITS_BY_USER;
    }
    if (object->kind == TYPE_ARRAY)
        return FITS_EXACTLY;
    if (e->argument_count == 0)
        return FITS_EXACTLY;
    return e->argument_count == 1 ? conversion_rank(c, e->arguments[0], to, true) : FITS_NEVER;
}

static int rank_of_reference(Compiler *c, Expression *e, Type *to, bool allow_user)
{
    Type *target = to->target;
    const bool same = e->type->unqualified == target->unqualified ||
                      (e->type->kind == TYPE_ARRAY && target->kind == TYPE_ARRAY && adds_qualifiers(type_pointer(c, e->type), type_pointer(c, target)));
    const bool related = same || is_derived(e->type, target);
    const bool keeps = !(e->type->qualifiers & ~target->qualifiers & (TYPE_CONST | TYPE_VOLATILE));
    const bool plain_lvalue = e->is_lvalue && !e->is_xvalue;
    const int extra = (e->type->qualifiers & 3) != (target->qualifiers & 3) ? FITS_QUALIFIED : FITS_EXACTLY;
    if (target->kind == TYPE_FUNCTION)
        return e->kind == EXPRESSION_FUNCTION ? FITS_EXACTLY : FITS_NEVER;
    if (related && keeps && plain_lvalue && to->kind == TYPE_REFERENCE)
        return same ? extra : FITS_CONVERTED;
    if (related && plain_lvalue && to->kind == TYPE_RVALUE_REFERENCE)
        return FITS_NEVER;
    if (to->kind == TYPE_REFERENCE && !((target->qualifiers & TYPE_CONST) && !(target->qualifiers & TYPE_VOLATILE)))
        return FITS_NEVER;
    if (related)
        return !keeps ? FITS_NEVER : !same ? FITS_CONVERTED : to->kind == TYPE_RVALUE_REFERENCE ? FITS_EXACTLY : FITS_QUALIFIED;
    return conversion_rank(c, e, type_bare(target), allow_user);
}

// The function to which a lambda without captures converts; NULL: it does not convert to this pointer type.
static Function *closure_function(const Type *from, const Type *to)
{
    if (from->kind != TYPE_RECORD || !from->record->is_closure || from->record->field_count || to->kind != TYPE_POINTER || to->target->kind != TYPE_FUNCTION)
        return NULL;
    if (!from->record->call) // of a generic lambda
        return NULL;
    const Type *own = from->record->call->type, *target = to->target;
    bool same = own->parameter_count == target->parameter_count && own->target == target->target;
    for (uint32_t k = 0; same && k < own->parameter_count; k++)
        same = own->parameters[k] == target->parameters[k];
    return same ? from->record->call : NULL;
}

// Whether host code, which is not compiled, converts a generic lambda to a function pointer.
static bool is_host_function(Compiler *c, const Type *from, const Type *to)
{
    return from->kind == TYPE_RECORD && from->record->is_closure && !from->record->call && !from->record->field_count && to->kind == TYPE_POINTER &&
           to->target->kind == TYPE_FUNCTION && parse_is_lenient(c);
}

int conversion_rank(Compiler *c, Expression *e, Type *to, bool allow_user)
{
    if (type_is_unknown(to) || to->kind == TYPE_AUTO)
        return FITS_EXACTLY;
    if (e->type->kind == TYPE_INITIALISERS)
        return rank_of_list(c, e, to);
    if (e->kind == EXPRESSION_FUNCTION) {
        Function *f = resolve_function(c, e, to);
        return f ? FITS_EXACTLY : e->function || e->symbol ? FITS_NEVER : FITS_EXACTLY;
    }
    if (expression_is_unknown(e))
        return FITS_EXACTLY;
    if (type_is_any_reference(to))
        return rank_of_reference(c, e, to, allow_user);
    Type *from = expression_decayed_type(c, e);
    if (to->kind == TYPE_RECORD) {
        if (from->kind == TYPE_RECORD && from->record == to->record)
            return FITS_EXACTLY;
        if (is_derived(from, to))
            return FITS_CONVERTED;
        if (!allow_user)
            return FITS_NEVER;
        if (from->kind == TYPE_RECORD && conversion_function(c, e, to, false))
            return FITS_BY_USER;
        return converting_constructor(c, e, to->record) ? FITS_BY_USER : FITS_NEVER;
    }
    if (closure_function(from, to) || is_host_function(c, from, to))
        return FITS_BY_USER;
    if (from->kind == TYPE_RECORD)
        return allow_user && conversion_function(c, e, to, false) ? FITS_BY_USER : FITS_NEVER;
    return rank_of_scalars(c, e, from, to);
}

// ---- conversions

Expression *convert_scalar(Compiler *c, Expression *value, Type *to)
{
    to = type_bare(to);
    Type *from = value->type;
    if (from == to || expression_is_unknown(value))
        return value;
    const bool pointers = from->kind == TYPE_POINTER || from->kind == TYPE_NULLPTR || to->kind == TYPE_POINTER;
    if (value->kind == EXPRESSION_CONSTANT && !value->constant.variable && !value->constant.function &&
        (!pointers || to->kind == TYPE_POINTER) && !(pointers && from->kind == TYPE_POINTER)) {
        Expression *e = expression_new(c, EXPRESSION_CONSTANT, to, value->start, value->end);
        e->constant = pointers ? value->constant : constant_convert(type_integer_of(from), type_integer_of(to), value->constant);
        return e;
    }
    uint64_t offset;
    if (pointers && from->kind == TYPE_POINTER && to->kind == TYPE_POINTER && is_derived(from->target, to->target) &&
        record_derives(from->target->record, to->target->record, &offset) && offset) {
        Expression *object = expression_unary(c, EXPRESSION_DEREFERENCE, from->target, value);
        object->is_lvalue = true;
        Expression *base = expression_unary(c, EXPRESSION_BASE, to->target, object);
        base->is_lvalue = true;
        base->offset = offset;
        return expression_unary(c, EXPRESSION_ADDRESS, to, base);
    }
    return expression_unary(c, pointers && to->kind != TYPE_BOOL ? EXPRESSION_BITCAST : EXPRESSION_CONVERT, to, value);
}

static Expression *bind_reference(Compiler *c, Expression *e, Type *to)
{
    Type *target = to->target;
    uint64_t offset = 0;
    const bool same = e->type->unqualified == target->unqualified || e->type->kind == TYPE_ARRAY || target->kind == TYPE_FUNCTION;
    if (same || is_derived(e->type, target)) {
        e = expression_lvalue(c, e);
        if (!same && record_derives(e->type->record, target->record, &offset)) {
            e = expression_unary(c, EXPRESSION_BASE, type_qualified(c, target, e->type->qualifiers), e);
            e->is_lvalue = true;
            e->offset = offset;
        }
        return e;
    }
    return expression_lvalue(c, convert(c, e, type_bare(target), NULL));
}

static const char *conversion_help(Compiler *c, Expression *e, Type *from, Type *to)
{
    const Type *target = type_without_reference(to);
    if (e->kind == EXPRESSION_BUILTIN && e->name && type_is_arithmetic(target))
        return compile_format(c, "write %s.x", e->name->text);
    if (from->kind == TYPE_POINTER && type_is_arithmetic(target))
        return e->kind == EXPRESSION_LOAD || e->is_lvalue || e->kind == EXPRESSION_DECAY
                   ? compile_format(c, "a pointer is not its element: write %s[i]", expression_name(e) ? expression_name(e)->text : "p") : NULL;
    if (target->kind == TYPE_POINTER && from == target->target->unqualified && e->is_lvalue)
        return compile_format(c, "take its address: &%s", expression_name(e) ? expression_name(e)->text : "x");
    if (target->kind == TYPE_POINTER && from->kind == TYPE_POINTER && (from->target->qualifiers & ~target->target->qualifiers & TYPE_CONST))
        return "what it points to is const: declare the pointer const, too";
    if (target->kind == TYPE_POINTER && from->kind == TYPE_POINTER)
        return compile_format(c, "cast it if that is meant: (%s)", type_text(c, (Type *)target));
    return NULL;
}

static void report_conversion(Compiler *c, Expression *e, Type *from, Type *to, const char *purpose)
{
    const char *in = purpose ? compile_format(c, " in %s", purpose) : "";
    const bool nonconst = to->kind == TYPE_REFERENCE && !(to->target->qualifiers & TYPE_CONST);
    if (nonconst && e->type->unqualified == to->target->unqualified && e->is_lvalue)
        expression_error(c, e, NULL, "a reference to '%s' cannot bind to a const object%s", type_text(c, to->target), in);
    else if (nonconst && e->type->kind != TYPE_INITIALISERS && (!e->is_lvalue || e->is_xvalue))
        expression_error(c, e, compile_format(c, "bind it to a const %s &", type_text(c, to->target)),
                         "a reference to a non-const '%s' needs a variable, not a value%s", type_text(c, to->target), in);
    else if (from->kind == TYPE_VOID)
        expression_error(c, e, NULL, "this has no value: it is void%s", in);
    else if (e->type->kind == TYPE_INITIALISERS)
        expression_error(c, e, NULL, "a list in braces cannot become '%s'%s", type_text(c, to), in);
    else
        expression_error(c, e, conversion_help(c, e, from, to), "cannot convert '%s' to '%s'%s", type_text(c, from), type_text(c, to), in);
}

static Expression *convert_record(Compiler *c, Expression *e, Type *to)
{
    Type *from = e->type;
    if (from->kind == TYPE_RECORD && (from->record == to->record || is_derived(from, to))) {
        uint64_t offset = 0;
        if (from->record != to->record && record_derives(from->record, to->record, &offset)) {
            Expression *base = expression_unary(c, EXPRESSION_BASE, to, expression_lvalue(c, e));
            base->is_lvalue = true;
            base->offset = offset;
            e = base;
        }
        return e->is_lvalue ? initialise_record_copy(c, e) : e;
    }
    Expression *called = from->kind == TYPE_RECORD ? convert_by_operator(c, e, to, false) : NULL;
    if (called)
        return called->is_lvalue ? initialise_record_copy(c, called) : called;
    Function *constructor = converting_constructor(c, e, to->record);
    return build_call_of(c, constructor, NULL, &e, 1, e->start, e->end);
}

Expression *convert(Compiler *c, Expression *e, Type *to, const char *purpose)
{
    if (e->type->kind == TYPE_INITIALISERS && !type_is_unknown(to))
        return initialise_list(c, to, e, purpose);
    if (type_is_unknown(to) || (expression_is_unknown(e) && e->kind != EXPRESSION_FUNCTION))
        return expression_unknown(c, e->start, e->end);
    if (e->kind == EXPRESSION_FUNCTION) {
        Function *f = resolve_function(c, e, to);
        if (!f) {
            if (e->symbol)
                expression_error(c, e, compile_format(c, "call it: %s(...)", e->symbol->name->text),
                                 "the function '%s' is not a '%s'", e->symbol->name->text, type_text(c, to));
            return expression_unknown(c, e->start, e->end);
        }
        e->function = f;
        e->type = f->type;
        if (to->kind == TYPE_BOOL)
            return expression_integer(c, to, 1, e->start, e->end);
        return type_is_any_reference(to) ? e : expression_value(c, e);
    }
    if (conversion_rank(c, e, to, true) == FITS_NEVER) {
        report_conversion(c, e, expression_decayed_type(c, e), to, purpose);
        return expression_unknown(c, e->start, e->end);
    }
    if (type_is_any_reference(to))
        return bind_reference(c, e, to);
    if (to->kind == TYPE_RECORD)
        return convert_record(c, e, type_bare(to));
    Function *closure = closure_function(e->type, to);
    if (closure) {
        Expression *pointer = expression_integer(c, to, 0, e->start, e->end);
        pointer->constant.function = closure;
        return pointer;
    }
    if (is_host_function(c, e->type, to))
        return expression_unknown(c, e->start, e->end);
    if (e->type->kind == TYPE_RECORD)
        return convert_scalar(c, expression_value(c, convert_by_operator(c, e, to, false)), to);
    return convert_scalar(c, expression_value(c, e), to);
}

Expression *convert_to_condition(Compiler *c, Expression *e, const char *what)
{
    if (expression_is_unknown(e) && e->kind != EXPRESSION_FUNCTION)
        return e;
    if (e->kind == EXPRESSION_FUNCTION && e->symbol) {
        source_warning(c, e->start, expression_length(e), compile_format(c, "call it: %s(...)", e->symbol->name->text),
                       "%s is the function '%s', which is always true", what, e->symbol->name->text);
        return expression_integer(c, type_basic(c, TYPE_BOOL), 1, e->start, e->end);
    }
    if (e->kind == EXPRESSION_ASSIGN && !e->in_parentheses && type_is_arithmetic(e->type))
        source_warning(c, e->start, expression_length(e), "compare with ==; if an assignment is meant, put it in parentheses",
                       "%s is an assignment", what);
    Type *to = type_basic(c, TYPE_BOOL);
    if (e->type->kind == TYPE_RECORD) {
        Expression *called = convert_by_operator(c, e, to, true);
        if (called)
            return convert_scalar(c, expression_value(c, called), to);
    }
    return convert(c, e, to, what);
}
