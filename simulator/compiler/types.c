// types.c: the table of types, and the rules of arithmetic types.
#include "compiler/types.h"

#include <string.h>

#include "compiler/declarations.h"

enum { FUNCTION_BUCKETS = 4096 };

typedef struct TypeTable {
    Type *basic[TYPE_RECORD + 4];
    Type *functions[FUNCTION_BUCKETS]; // function types by a hash: every lambda has one of its own
} TypeTable;

static const struct {
    uint8_t kind, size;
    const char *text;
} BASIC[] = {
    {TYPE_VOID, 0, "void"}, {TYPE_BOOL, 1, "bool"}, {TYPE_CHAR, 1, "char"}, {TYPE_SIGNED_CHAR, 1, "signed char"},
    {TYPE_UNSIGNED_CHAR, 1, "unsigned char"}, {TYPE_SHORT, 2, "short"}, {TYPE_UNSIGNED_SHORT, 2, "unsigned short"},
    {TYPE_INT, 4, "int"}, {TYPE_UNSIGNED, 4, "unsigned"}, {TYPE_LONG, 8, "long"}, {TYPE_UNSIGNED_LONG, 8, "unsigned long"},
    {TYPE_LONG_LONG, 8, "long long"}, {TYPE_UNSIGNED_LONG_LONG, 8, "unsigned long long"}, {TYPE_FLOAT, 4, "float"},
    {TYPE_DOUBLE, 8, "double"}, {TYPE_NULLPTR, 8, "nullptr_t"}, {TYPE_AUTO, 0, "auto"}, {TYPE_INITIALISERS, 0, "{...}"},
    {TYPE_UNKNOWN, 0, "<unknown>"},
};
enum { BASIC_COUNT = sizeof BASIC / sizeof *BASIC };

Type *type_new(Compiler *c, TypeKind kind)
{
    Type *t = compile_new(c, Type);
    t->kind = (uint8_t)kind;
    t->unqualified = t;
    t->dependent = kind >= TYPE_PARAMETER;
    return t;
}

void types_start(Compiler *c)
{
    c->types = compile_new(c, TypeTable);
    for (size_t k = 0; k < BASIC_COUNT; k++) {
        Type *t = type_new(c, BASIC[k].kind);
        t->size = t->alignment = BASIC[k].size;
        c->types->basic[BASIC[k].kind] = t;
    }
}

Type *type_basic(Compiler *c, TypeKind kind)
{
    return c->types->basic[kind];
}

Type *type_size_t(Compiler *c)
{
    return type_basic(c, TYPE_UNSIGNED_LONG);
}

Type *type_qualified(Compiler *c, Type *type, uint8_t qualifiers)
{
    if (type->kind == TYPE_ARRAY && (qualifiers & ~TYPE_RESTRICT)) {
        Type *array = type_array(c, type_qualified(c, type->target, qualifiers), type->count);
        array->bound = type->bound;
        return array;
    }
    qualifiers |= type->qualifiers;
    if (qualifiers == type->qualifiers || type_is_any_reference(type) || type->kind == TYPE_FUNCTION || type->kind == TYPE_UNKNOWN)
        return type;
    Type *bare = type->unqualified;
    if (!bare->qualified[qualifiers]) {
        Type *t = compile_new(c, Type);
        *t = *bare;
        t->qualifiers = qualifiers;
        t->pointer = t->reference = t->rvalue_reference = t->arrays = NULL;
        bare->qualified[qualifiers] = t;
    }
    return bare->qualified[qualifiers];
}

static Type *derived(Compiler *c, TypeKind kind, Type *target)
{
    Type *t = type_new(c, kind);
    t->target = target;
    t->size = t->alignment = 8;
    t->dependent = target->dependent;
    return t;
}

Type *type_pointer(Compiler *c, Type *target)
{
    if (target->kind == TYPE_UNKNOWN)
        return target;
    if (type_is_any_reference(target))
        target = target->target;
    if (!target->pointer)
        target->pointer = derived(c, TYPE_POINTER, target);
    return target->pointer;
}

Type *type_reference(Compiler *c, Type *target, bool rvalue)
{
    if (target->kind == TYPE_UNKNOWN)
        return target;
    if (type_is_any_reference(target)) {
        rvalue &= target->kind == TYPE_RVALUE_REFERENCE;
        target = target->target;
    }
    Type **cached = rvalue ? &target->rvalue_reference : &target->reference;
    if (!*cached)
        *cached = derived(c, rvalue ? TYPE_RVALUE_REFERENCE : TYPE_REFERENCE, target);
    return *cached;
}

Type *type_array(Compiler *c, Type *element, uint64_t count)
{
    if (element->kind == TYPE_UNKNOWN)
        return element;
    for (Type *t = element->arrays; t; t = t->next_array)
        if (t->count == count && !t->bound)
            return t;
    Type *t = derived(c, TYPE_ARRAY, element);
    t->count = count;
    t->alignment = element->alignment;
    t->size = count == NO_SIZE ? 0 : element->size && count > UINT64_MAX / 4 / element->size ? UINT64_MAX / 4 : element->size * count;
    t->next_array = element->arrays;
    return element->arrays = t;
}

static Type **function_bucket(Compiler *c, const Type *result, Type *const *parameters, uint32_t count)
{
    uint64_t hash = (uintptr_t)result / sizeof(Type);
    for (uint32_t k = 0; k < count; k++)
        hash = (hash + (uintptr_t)parameters[k] / sizeof(Type)) * 0x9e3779b97f4a7c15u;
    return &c->types->functions[(hash ^ hash >> 32) % FUNCTION_BUCKETS];
}

Type *type_function(Compiler *c, Type *result, Type **parameters, uint32_t count, bool variadic, uint8_t qualifiers)
{
    const bool is_const = qualifiers & TYPE_CONST, is_volatile = qualifiers & TYPE_VOLATILE;
    Type **bucket = function_bucket(c, result, parameters, count);
    for (Type *t = *bucket; t; t = t->next_function)
        if (t->target == result && t->parameter_count == count && t->variadic == variadic && t->member_const == is_const && t->member_volatile == is_volatile &&
            (count == 0 || !memcmp(t->parameters, parameters, count * sizeof *parameters)))
            return t;
    Type *t = derived(c, TYPE_FUNCTION, result);
    t->size = t->alignment = 0;
    t->parameters = compile_allocate(c, count * sizeof *parameters);
    if (count)
        memcpy(t->parameters, parameters, count * sizeof *parameters);
    t->parameter_count = count;
    t->variadic = variadic;
    t->member_const = is_const;
    t->member_volatile = is_volatile;
    for (uint32_t k = 0; k < count; k++)
        t->dependent |= parameters[k]->dependent;
    t->next_function = *bucket;
    return *bucket = t;
}

// ---- Properties of a type

Type *type_integer_of(Type *type)
{
    return type->kind == TYPE_ENUM ? type->target : type->unqualified;
}

bool type_is_signed(const Type *type)
{
    if (type->kind == TYPE_ENUM)
        type = type->target;
    switch (type->kind) {
    case TYPE_CHAR: case TYPE_SIGNED_CHAR: case TYPE_SHORT: case TYPE_INT: case TYPE_LONG: case TYPE_LONG_LONG: return true;
    default: return false;
    }
}

Type *type_innermost(Type *type)
{
    while (type->kind == TYPE_ARRAY)
        type = type->target;
    return type;
}

Type *type_without_reference(Type *type)
{
    return type_is_any_reference(type) ? type->target : type;
}

bool type_is_complete(Type *type)
{
    Type *inner = type_innermost(type);
    if (inner->kind == TYPE_RECORD)
        return inner->record->is_complete && !(type->kind == TYPE_ARRAY && type->count == NO_SIZE);
    return inner->kind != TYPE_VOID && !(type->kind == TYPE_ARRAY && type->count == NO_SIZE);
}

Type *type_promoted(Compiler *c, Type *type)
{
    if (type->kind == TYPE_ENUM && !type->enumeration->scoped)
        type = type->target;
    if (type_is_integer(type) && type->size < 4)
        return type_basic(c, TYPE_INT);
    return type->unqualified;
}

Type *type_unsigned(Compiler *c, Type *type)
{
    switch (type_integer_of(type)->kind) {
    case TYPE_CHAR: case TYPE_SIGNED_CHAR: return type_basic(c, TYPE_UNSIGNED_CHAR);
    case TYPE_SHORT: return type_basic(c, TYPE_UNSIGNED_SHORT);
    case TYPE_INT: return type_basic(c, TYPE_UNSIGNED);
    case TYPE_LONG: return type_basic(c, TYPE_UNSIGNED_LONG);
    case TYPE_LONG_LONG: return type_basic(c, TYPE_UNSIGNED_LONG_LONG);
    default: return type_integer_of(type);
    }
}

static int rank(const Type *type)
{
    return type->kind >= TYPE_LONG_LONG ? 3 : type->kind >= TYPE_LONG ? 2 : 1;
}

Type *type_common(Compiler *c, Type *a, Type *b)
{
    if (a->kind == TYPE_DOUBLE || b->kind == TYPE_DOUBLE)
        return type_basic(c, TYPE_DOUBLE);
    if (a->kind == TYPE_FLOAT || b->kind == TYPE_FLOAT)
        return type_basic(c, TYPE_FLOAT);
    a = type_promoted(c, a), b = type_promoted(c, b);
    if (a == b)
        return a;
    const bool a_signed = type_is_signed(a), b_signed = type_is_signed(b);
    if (a_signed == b_signed)
        return rank(a) >= rank(b) ? a : b;
    Type *unsigned_type = a_signed ? b : a, *signed_type = a_signed ? a : b;
    if (rank(unsigned_type) >= rank(signed_type))
        return unsigned_type;
    return signed_type->size > unsigned_type->size ? signed_type : type_unsigned(c, signed_type);
}

// ---- Text of types

typedef struct TypeText { // the text before and after a declared name
    const char *before, *after;
} TypeText;

static const char *qualifier_text(uint8_t qualifiers)
{
    static const char *const texts[TYPE_QUALIFIERS] = {"", "const ", "volatile ", "const volatile ", "__restrict__ ",
                                                       "const __restrict__ ", "volatile __restrict__ ", "const volatile __restrict__ "};
    return texts[qualifiers];
}

static const char *text_of_function(Compiler *c, Type *type)
{
    const char *list = "";
    for (uint32_t k = 0; k < type->parameter_count; k++)
        list = compile_format(c, "%s%s%s", list, k ? ", " : "", type_text(c, type->parameters[k]));
    return compile_format(c, "(%s%s)%s", list, type->variadic ? (type->parameter_count ? ", ..." : "...") : "",
                          type->member_const ? " const" : "");
}

static TypeText text_around(Compiler *c, Type *type, const char *inner);

static const char *plain_text(Compiler *c, Type *type)
{
    switch (type->kind) {
    case TYPE_RECORD: return record_readable(c, type->record);
    case TYPE_ENUM: return type->enumeration->name ? type->enumeration->name->text : "enum";
    case TYPE_PARAMETER: return type->parameter_name ? type->parameter_name->text : "T";
    case TYPE_MEMBER: return compile_format(c, "%s::%s", type_text(c, type->member.scope), type->member.name->text);
    case TYPE_INSTANCE: return template_readable(c, type->instance.template, type->instance.arguments, type->instance.argument_count);
    default:
        for (size_t k = 0; k < BASIC_COUNT; k++)
            if (BASIC[k].kind == type->kind)
                return BASIC[k].text;
        return "?";
    }
}

static TypeText text_around(Compiler *c, Type *type, const char *inner)
{
    if (type->kind == TYPE_POINTER || type_is_any_reference(type)) {
        const char *sign = type->kind == TYPE_POINTER ? "*" : type->kind == TYPE_REFERENCE ? "&" : "&&";
        const bool needs_parentheses = type->target->kind == TYPE_ARRAY || type->target->kind == TYPE_FUNCTION;
        const char *qualifiers = qualifier_text(type->qualifiers);
        const int length = (int)strlen(qualifiers) - (*inner == 0 && *qualifiers);
        inner = compile_format(c, needs_parentheses ? "(%s%.*s%s)" : "%s%.*s%s", sign, length, qualifiers, inner);
        return text_around(c, type->target, inner);
    }
    if (type->kind == TYPE_ARRAY) {
        const char *count = type->count == NO_SIZE ? "" : compile_format(c, "%llu", (unsigned long long)type->count);
        return text_around(c, type->target, compile_format(c, "%s[%s]", inner, count));
    }
    if (type->kind == TYPE_FUNCTION)
        return text_around(c, type->target, compile_format(c, "%s%s", inner, text_of_function(c, type)));
    return (TypeText){compile_format(c, "%s%s", qualifier_text(type->qualifiers), plain_text(c, type)), inner};
}

const char *type_text(Compiler *c, Type *type)
{
    const TypeText text = text_around(c, type, "");
    return *text.after ? compile_format(c, "%s %s", text.before, text.after) : text.before;
}
