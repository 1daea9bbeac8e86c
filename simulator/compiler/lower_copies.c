// lower_copies.c: lowers copies of objects: member by member, or as bytes.
#include "compiler/lower.h"

static const Type *vector_element(const Type *type) // the element type of a vector type such as float4; NULL: not a vector type
{
    const Record *r = type->kind == TYPE_RECORD ? type->record : NULL;
    if (!r || r->is_union || (r->field_count != 2 && r->field_count != 4) || type->alignment < type->size || type->size > 16)
        return NULL;
    const Type *element = r->fields[0].type;
    if (!type_is_arithmetic(element) || element->kind == TYPE_BOOL || element->size * r->field_count != type->size)
        return NULL;
    for (uint32_t k = 1; k < r->field_count; k++)
        if (type_bare((Type *)r->fields[k].type) != type_bare((Type *)element))
            return NULL;
    return element;
}

static void load_vector(Lowering *l, Address from, uint32_t count, const Type *element, IrInstruction **values)
{
    IrInstruction *load = lower_emit1(l, IR_LOAD_VECTOR, IR_VOID, from.pointer);
    load->memory = (uint8_t)lower_type(element);
    load->count = (uint8_t)count;
    load->space = lower_space(from.pointer);
    load->flags |= from.is_volatile ? IR_VOLATILE : 0;
    for (uint32_t k = 0; k < count; k++) {
        values[k] = lower_emit1(l, IR_ELEMENT, lower_type(element), load);
        values[k]->index = k;
    }
}

static void store_vector(Lowering *l, Address to, uint32_t count, const Type *element, IrInstruction *const *values)
{
    IrInstruction *operands[5] = {to.pointer};
    for (uint32_t k = 0; k < count; k++)
        operands[k + 1] = values[k];
    IrInstruction *store = lower_emit(l, IR_STORE_VECTOR, IR_VOID, count + 1, operands);
    store->memory = (uint8_t)lower_type(element);
    store->count = (uint8_t)count;
    store->space = lower_space(to.pointer);
    store->flags |= to.is_volatile ? IR_VOLATILE : 0;
}

enum { MAX_COPIED_MEMBERS = 8, MAX_COPIED_VALUES = 64, MAX_COPIED_EARLY = 128 }; // early: bytes of a struct that is loaded before it is stored

typedef struct Copied { // the scalars of a struct
    IrInstruction *values[MAX_COPIED_VALUES];
    uint32_t count;
    bool is_value; // passed, returned or assigned from a call: its padding is undefined
} Copied;

static void copy_scalar(Lowering *l, Address address, Type *type, Copied *copied, bool stores)
{
    if (stores)
        lower_store(l, address, type, copied->values[copied->count]);
    else
        copied->values[copied->count] = lower_load(l, address, type);
    copied->count++;
}

// The alignment that a type has by its scalars, without alignas.
static uint32_t natural_alignment(const Type *type)
{
    if (type->kind == TYPE_ARRAY)
        return natural_alignment(type->target);
    if (type->kind != TYPE_RECORD)
        return type->alignment ? type->alignment : 1;
    uint32_t alignment = 1;
    for (uint32_t k = 0; k < type->record->field_count; k++) {
        const uint32_t own = natural_alignment(type->record->fields[k].type);
        alignment = own > alignment ? own : alignment;
    }
    return alignment;
}

// Copies the bytes between two members, or after the last one. They become a vector: after a char with it.
static void copy_padding(Lowering *l, Address address, const Type *type, const Type *last, uint64_t begin, uint64_t end, Copied *copied, bool stores)
{
    if (end == type->size && type->alignment > natural_alignment(type))
        return;
    const bool is_signed = last->kind == TYPE_CHAR || last->kind == TYPE_SIGNED_CHAR;
    Type *byte = type_basic(l->compiler, is_signed ? TYPE_SIGNED_CHAR : TYPE_UNSIGNED_CHAR);
    for (; begin < end; begin++)
        copy_scalar(l, lower_part(l, address, type, begin), byte, copied, stores);
}

static bool is_union(const Type *type)
{
    return type->kind == TYPE_RECORD && type->record->is_union;
}

static Type *integer_of(Lowering *l, uint64_t bytes)
{
    return type_basic(l->compiler, bytes == 8 ? TYPE_UNSIGNED_LONG : bytes == 4 ? TYPE_UNSIGNED : bytes == 2 ? TYPE_UNSIGNED_SHORT : TYPE_UNSIGNED_CHAR);
}

// Where the bools and chars at the end of a struct begin that are copied with the padding after them, as nvcc does: 8 bytes, or
// fewer with a bool. Their vector would have elements of several types. The size of the struct: there is no such tail.
static uint64_t tail_of(const Type *type)
{
    const Record *r = type->record;
    uint64_t begin = type->size;
    bool has_bool = false;
    uint32_t k = r->field_count;
    for (; k > 0 && r->fields[k - 1].type->size == 1 && r->fields[k - 1].type->kind != TYPE_RECORD; k--) {
        has_bool |= r->fields[k - 1].type->kind == TYPE_BOOL;
        begin = r->fields[k - 1].offset;
    }
    const uint64_t bytes = type->size - begin, members = r->field_count - k;
    const bool is_aligned = bytes && (bytes & (bytes - 1)) == 0 && bytes <= 8 && begin % bytes == 0;
    return k > 0 && is_aligned && bytes > members && (has_bool || bytes == 8) && type->alignment == natural_alignment(type) ? begin : type->size;
}

// Loads or stores the scalars of a struct up to an offset; a union counts as an integer. Of a value there is no padding.
static void copy_members(Lowering *l, Address address, const Type *type, uint64_t limit, Copied *copied, bool stores)
{
    const Record *r = type->record;
    const Type *element = vector_element(type);
    if (element && stores)
        store_vector(l, address, r->field_count, element, &copied->values[copied->count]);
    else if (element)
        load_vector(l, address, r->field_count, element, &copied->values[copied->count]);
    if (element) {
        copied->count += r->field_count;
        return;
    }
    uint64_t end = 0;
    const Type *last = NULL;
    for (uint32_t k = 0; k < r->field_count && r->fields[k].offset < limit; k++) {
        Type *member = type_bare(r->fields[k].type);
        if (type_is_any_reference(member))
            member = type_pointer(l->compiler, member->target);
        const Address part = lower_part(l, address, type, r->fields[k].offset);
        if (last && !copied->is_value)
            copy_padding(l, address, type, last, end, r->fields[k].offset, copied, stores);
        if (is_union(member))
            copy_scalar(l, part, integer_of(l, member->size), copied, stores);
        else if (member->kind == TYPE_RECORD)
            copy_members(l, part, member, member->size, copied, stores);
        else
            copy_scalar(l, part, member, copied, stores);
        end = r->fields[k].offset + member->size;
        last = member;
    }
    if (limit == type->size && last->kind != TYPE_BOOL && !copied->is_value)
        copy_padding(l, address, type, last, end, type->size, copied, stores);
}

static void copy_bytes(Lowering *l, Address to, Address from, uint64_t bytes, uint32_t alignment, IrType largest)
{
    IrInstruction *copy = lower_emit2(l, IR_COPY, IR_VOID, to.pointer, from.pointer);
    copy->memory_bytes = (uint32_t)bytes;
    copy->alignment = alignment;
    copy->memory = (uint8_t)largest;
    copy->flags |= to.is_volatile || from.is_volatile ? IR_VOLATILE : 0;
}

static void copy_tail(Lowering *l, Address to, Address from, const Type *type, uint64_t begin)
{
    if (begin < type->size)
        copy_bytes(l, lower_part(l, to, type, begin), lower_part(l, from, type, begin), type->size - begin, (uint32_t)(type->size - begin), IR_VOID);
}

// Whether there is padding between members, or more than the scalars' alignment needs after them.
static bool has_gaps(const Type *type)
{
    const Record *r = type->record;
    uint64_t end = 0;
    for (uint32_t k = 0; k < r->field_count; k++) {
        if (r->fields[k].offset != end)
            return true;
        end += r->fields[k].type->size;
    }
    return type->alignment > natural_alignment(type) && end != type->size;
}

// A small struct without arrays is copied member by member, as nvcc does. A union in it has the size of an integer.
static bool is_simple(const Type *type, uint32_t *members)
{
    if (type->kind != TYPE_RECORD)
        return type->kind != TYPE_ARRAY && ++*members <= MAX_COPIED_MEMBERS;
    const Record *r = type->record;
    if (r->is_union)
        return type->size == type->alignment && type->size <= 8 && ++*members <= MAX_COPIED_MEMBERS;
    for (uint32_t k = 0; k < r->field_count; k++)
        if (!is_simple(r->fields[k].type, members))
            return false;
    return true;
}

// Whether a struct, which may have unions and arrays, has gaps in it.
static bool has_gaps_inside(const Type *type)
{
    if (type->kind == TYPE_ARRAY)
        return has_gaps_inside(type->target);
    if (type->kind != TYPE_RECORD || type->record->is_union)
        return false;
    bool found = has_gaps(type);
    for (uint32_t k = 0; k < type->record->field_count && !found; k++)
        found = has_gaps_inside(type->record->fields[k].type);
    return found;
}

static bool has_union(const Type *type)
{
    bool found = is_union(type);
    for (uint32_t k = 0; type->kind == TYPE_RECORD && k < type->record->field_count && !found; k++)
        found = has_union(type->record->fields[k].type);
    return found;
}

// nvcc copies a struct with gaps word by word, unless it has a union.
static bool is_copied_by_members(const Type *type)
{
    uint32_t members = 0;
    return vector_element(type) || (type->kind == TYPE_RECORD && !type->record->is_union && is_simple(type, &members) && (has_union(type) || !has_gaps_inside(type)));
}

static bool is_value_copied_by_members(const Type *type)
{
    uint32_t members = 0;
    return type->kind == TYPE_RECORD && type->record->field_count && !type->record->is_union && is_simple(type, &members);
}

Address lower_assign_record(Lowering *l, Expression *assignment, Address from, bool is_value, bool is_left_plain)
{
    Type *type = type_bare(assignment->left->type);
    const bool by_members = is_value ? is_value_copied_by_members(type) : type->record->field_count && is_copied_by_members(type);
    const uint64_t tail = !by_members ? 0 : is_value ? type->size : tail_of(type);
    Copied copied = {.is_value = is_value};
    if (by_members) {
        copy_members(l, from, type, tail, &copied, false);
    } else if (!is_left_plain && type->size <= MAX_COPIED_EARLY) {
        const Address early = {lower_alloca(l, type->size, type->alignment), false, 0};
        lower_copy(l, early, from, type);
        from = early;
    }
    const Address to = lower_lvalue(l, assignment->left);
    lower_set_line(l, assignment->start);
    copied.count = 0;
    if (by_members) {
        copy_members(l, to, type, tail, &copied, true);
        copy_tail(l, to, from, type, tail);
    } else {
        lower_copy(l, to, from, type);
    }
    return to;
}

void lower_passed(Lowering *l, Address to, Type *type, Expression *e)
{
    Expression *source = e;
    while (source->kind == EXPRESSION_COPY)
        source = source->left;
    if (!source->is_lvalue || !is_value_copied_by_members(type_bare(type))) {
        lower_initialisation(l, to, type, e);
        return;
    }
    const Address from = lower_lvalue(l, source);
    lower_set_line(l, e->start);
    Copied copied = {.is_value = true};
    copy_members(l, from, type_bare(type), type->size, &copied, false);
    copied.count = 0;
    copy_members(l, to, type_bare(type), type->size, &copied, true);
}

void lower_copy(Lowering *l, Address to, Address from, Type *type)
{
    type = type_bare(type);
    if (type_is_any_reference(type))
        type = type_pointer(l->compiler, type->target);
    if (type->kind != TYPE_RECORD && type->kind != TYPE_ARRAY) {
        lower_store(l, to, type, lower_load(l, from, type));
        return;
    }
    if (type->kind == TYPE_RECORD && type->record->field_count == 0)
        return;
    if (!is_copied_by_members(type)) {
        copy_bytes(l, to, from, type->size, type->alignment, has_gaps_inside(type) ? IR_B32 : IR_VOID);
        return;
    }
    const uint64_t tail = tail_of(type);
    Copied copied = {.count = 0};
    copy_members(l, from, type, tail, &copied, false);
    copied.count = 0;
    copy_members(l, to, type, tail, &copied, true);
    copy_tail(l, to, from, type, tail);
}
