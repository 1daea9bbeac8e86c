// lower_memory.c: lowers addresses, loads, stores and initialisation of objects.
#include "compiler/lower.h"

#include <string.h>

// ---- pointers

uint8_t lower_space(const IrInstruction *pointer)
{
    switch (pointer->op) {
    case IR_SYMBOL: case IR_ALLOCA: case IR_OFFSET: case IR_FROM_GENERIC: case IR_ARGUMENT: return pointer->space;
    default: return IR_GENERIC; // for a load or a conversion, `space` is that of its operand
    }
}

IrInstruction *lower_generic(Lowering *l, IrInstruction *pointer)
{
    if (lower_space(pointer) == IR_GENERIC)
        return pointer;
    IrInstruction *generic = lower_emit1(l, IR_TO_GENERIC, IR_B64, pointer);
    generic->space = lower_space(pointer); // that of the operand
    return generic;
}

IrInstruction *lower_offset(Lowering *l, IrInstruction *pointer, int64_t bytes)
{
    if (bytes == 0)
        return pointer;
    IrInstruction *moved = lower_emit1(l, IR_OFFSET, pointer->type, pointer);
    moved->space = lower_space(pointer);
    moved->integer = bytes;
    return moved;
}

IrInstruction *lower_moved(Lowering *l, IrInstruction *pointer, const Type *type, bool subtract, IrInstruction *index, const Type *index_type)
{
    const uint64_t size = type->target->size;
    bool is_signed = type_is_signed(index_type);
    if (index->op == IR_INTEGER) {
        const int64_t number = is_signed || index_type->size == 8 ? index->integer : (int64_t)(uint32_t)index->integer;
        const int64_t bytes = (int64_t)((uint64_t)number * size);
        return lower_offset(l, pointer, subtract ? -bytes : bytes);
    }
    if (subtract) {
        if (index->type != IR_B64) {
            index = lower_emit1(l, IR_CONVERT, IR_B64, index);
            index->flags |= is_signed ? IR_SIGNED : 0;
        }
        index = lower_emit1(l, IR_NEG, IR_B64, index);
        is_signed = true;
    }
    IrInstruction *moved = lower_emit2(l, IR_OFFSET, pointer->type, pointer, index);
    moved->space = lower_space(pointer);
    moved->scale = (uint32_t)size;
    moved->flags |= (is_signed ? IR_SIGNED : 0) | IR_NO_WRAP;
    return moved;
}

static IrInstruction *lower_element(Lowering *l, Expression *e)
{
    IrInstruction *pointer = lower_pointer(l, e->left);
    return lower_moved(l, pointer, e->type, e->subtract, lower_value(l, e->right), e->right->type);
}

static IrInstruction *lower_pointer_inner(Lowering *l, Expression *e)
{
    switch (e->kind) {
    case EXPRESSION_DECAY:
    case EXPRESSION_ADDRESS:
        if (e->left->kind != EXPRESSION_FUNCTION)
            return lower_lvalue(l, e->left).pointer;
        break;
    case EXPRESSION_OFFSET:
        if (e->type->target->size <= UINT32_MAX)
            return lower_element(l, e);
        break;
    case EXPRESSION_BITCAST:
        if (e->left->type->kind == TYPE_POINTER && e->type->kind == TYPE_POINTER)
            return lower_pointer(l, e->left);
        break;
    default: break;
    }
    return lower_value(l, e);
}

// Keeps the specific address space of a pointer if it is known.
IrInstruction *lower_pointer(Lowering *l, Expression *e)
{
    lower_enter(l, e->start);
    IrInstruction *pointer = lower_pointer_inner(l, e);
    lower_leave(l);
    return pointer;
}

// ---- lvalues

static Address address_of(IrInstruction *pointer, const Type *type)
{
    return (Address){pointer, (type->qualifiers & TYPE_VOLATILE) != 0, 0};
}

static Address lower_reference(Lowering *l, IrInstruction *holder, const Type *type) // the object that a reference refers to
{
    IrInstruction *load = lower_emit1(l, IR_LOAD, IR_B64, holder);
    load->memory = IR_B64;
    load->space = lower_space(holder);
    return address_of(load, type);
}

static Address lower_temporary(Lowering *l, Expression *e)
{
    const Type *type = e->type;
    const Address address = {lower_alloca(l, lower_size(type), lower_alignment(type)), false, 0};
    lower_initialisation(l, address, type_bare(e->type), e);
    return address;
}

static Address lower_conditional(Lowering *l, Expression *e)
{
    IrBlock *if_true = lower_block(l), *if_false = lower_block(l), *after = lower_block(l);
    IrInstruction *slot = lower_alloca(l, 8, 8);
    lower_condition_to(l, e->condition, if_true, if_false);
    for (int k = 0; k < 2; k++) {
        l->block = k ? if_false : if_true;
        IrInstruction *pointer = lower_generic(l, lower_lvalue(l, k ? e->right : e->left).pointer);
        IrInstruction *store = lower_emit2(l, IR_STORE, IR_VOID, slot, pointer);
        store->space = lower_space(slot);
        store->memory = IR_B64;
        lower_jump(l, after);
    }
    l->block = after;
    return lower_reference(l, slot, e->type);
}

// The alignment of a member, which in an aligned structure may exceed that of its type; this allows vector accesses.
static uint32_t member_alignment(uint32_t outer, const Type *structure, uint64_t offset)
{
    const uint64_t aligned = outer ? outer : structure->alignment, lowest = offset & -offset;
    return (uint32_t)(offset && lowest < aligned ? lowest : aligned);
}

Address lower_part(Lowering *l, Address address, const Type *structure, uint64_t offset)
{
    address.pointer = lower_offset(l, address.pointer, (int64_t)offset);
    address.alignment = member_alignment(address.alignment, structure, offset);
    return address;
}

static Address lower_lvalue_inner(Lowering *l, Expression *e)
{
    Address address;
    IrInstruction *value;
    switch (e->kind) {
    case EXPRESSION_VARIABLE: {
        IrInstruction *pointer = lower_variable(l, e->variable, e);
        return type_is_any_reference(e->variable->type) ? lower_reference(l, pointer, e->type) : address_of(pointer, e->type);
    }
    case EXPRESSION_DEREFERENCE: return address_of(lower_pointer(l, e->left), e->type);
    case EXPRESSION_MEMBER:
        address = lower_part(l, lower_lvalue(l, e->left), e->left->type, e->field->offset);
        if (type_is_any_reference(e->field->type))
            return lower_reference(l, address.pointer, e->type);
        address.is_volatile |= (e->type->qualifiers & TYPE_VOLATILE) != 0;
        return address;
    case EXPRESSION_BASE:
        address = lower_lvalue(l, e->left);
        address.pointer = lower_offset(l, address.pointer, (int64_t)e->offset);
        address.is_volatile = (e->type->qualifiers & TYPE_VOLATILE) != 0;
        return address;
    case EXPRESSION_MATERIALISE: return lower_temporary(l, e->left);
    case EXPRESSION_STRING: return (Address){lower_string(l, e->text, e->length), false, 0};
    case EXPRESSION_CONDITIONAL: return e->is_lvalue ? lower_conditional(l, e) : lower_temporary(l, e);
    case EXPRESSION_ASSIGN: case EXPRESSION_COMPOUND: case EXPRESSION_INCREMENT:
        return lower_assignment(l, e, &value);
    case EXPRESSION_COMMA:
        lower_discarded(l, e->left);
        return lower_lvalue(l, e->right);
    case EXPRESSION_CALL:
        if (e->is_lvalue)
            return address_of(lower_call(l, e, NULL), e->type);
        return lower_temporary(l, e);
    case EXPRESSION_UNKNOWN:
        lower_error(l, e->start, e->end, NULL, "this compiler does not know what this is");
        return (Address){lower_alloca(l, 16, 16), false, 0};
    default: return lower_temporary(l, e);
    }
}

Address lower_lvalue(Lowering *l, Expression *e)
{
    lower_enter(l, e->start);
    const Address address = lower_lvalue_inner(l, e);
    lower_leave(l);
    return address;
}

// ---- loads and stores of scalars

IrInstruction *lower_load(Lowering *l, Address address, Type *type)
{
    const IrType value = lower_type(type);
    IrInstruction *load = lower_emit1(l, IR_LOAD, value, address.pointer);
    load->memory = (uint8_t)value;
    load->alignment = address.alignment;
    load->space = lower_space(address.pointer);
    load->flags |= (address.is_volatile ? IR_VOLATILE : 0) | (type_is_signed(type) ? IR_SIGNED : 0);
    return load;
}

void lower_store(Lowering *l, Address address, Type *type, IrInstruction *value)
{
    IrInstruction *store = lower_emit2(l, IR_STORE, IR_VOID, address.pointer, value);
    store->memory = (uint8_t)lower_type(type);
    store->alignment = address.alignment;
    store->space = lower_space(address.pointer);
    store->flags |= address.is_volatile ? IR_VOLATILE : 0;
}

// ---- objects

static void zero_bytes(Lowering *l, Address address, uint64_t bytes, uint32_t alignment)
{
    static const IrType types[] = {IR_B64, IR_B32, IR_B16, IR_B8};
    uint64_t at = 0;
    for (int k = 0; k < 4; k++) {
        const uint64_t size = 8u >> k;
        while (size <= alignment && at + size <= bytes) {
            IrInstruction *store = lower_emit2(l, IR_STORE, IR_VOID, lower_offset(l, address.pointer, (int64_t)at), lower_integer(l, types[k], 0));
            store->memory = (uint8_t)types[k];
            store->space = lower_space(address.pointer);
            at += size;
        }
    }
}

enum { MAX_ZEROED = 4096 }; // bytes zeroed by unrolled stores

void lower_zero(Lowering *l, Address address, Type *type)
{
    type = type_bare(type);
    if (type->kind == TYPE_ARRAY && type->size > MAX_ZEROED) {
        lower_error(l, l->source->position, 0, "assign its elements in a loop", "an array of %llu bytes that begins as zeros is not supported",
                    (unsigned long long)type->size);
    } else if (type->kind == TYPE_ARRAY) {
        for (uint64_t k = 0; k < type->count; k++) {
            Address element = address;
            element.pointer = lower_offset(l, address.pointer, (int64_t)(k * type->target->size));
            lower_zero(l, element, type->target);
        }
    } else if (type->kind == TYPE_RECORD && !type->record->is_union) {
        for (uint32_t k = 0; k < type->record->field_count; k++) {
            Address field = address;
            field.pointer = lower_offset(l, address.pointer, (int64_t)type->record->fields[k].offset);
            lower_zero(l, field, type->record->fields[k].type);
        }
    } else if (type->kind == TYPE_RECORD) {
        zero_bytes(l, address, type->size, type->alignment);
    } else {
        const IrType zero_type = lower_type(type);
        IrInstruction *zero = zero_type == IR_F32 || zero_type == IR_F64 ? ir_real(l->module, l->function, zero_type, 0) : lower_integer(l, zero_type, 0);
        lower_store(l, address, type, zero);
    }
}

static void lower_text(Lowering *l, Address address, const Type *type, const Expression *text)
{
    for (uint64_t k = 0; k < type->count && k < MAX_ZEROED; k++) {
        Address element = address;
        element.pointer = lower_offset(l, address.pointer, (int64_t)k);
        lower_store(l, element, type->target, lower_integer(l, IR_B8, k < text->length ? text->text[k] : 0));
    }
}

static void lower_list(Lowering *l, Address address, Type *type, Expression *e)
{
    if (type->kind == TYPE_ARRAY && e->argument_count == 1 && e->arguments[0] && e->arguments[0]->kind == EXPRESSION_STRING && type->target->size == 1) {
        lower_text(l, address, type, e->arguments[0]);
        return;
    }
    const bool array = type->kind == TYPE_ARRAY;
    const uint64_t count = array ? type->count : type->record->is_union ? (type->record->field_count > 0) : type->record->field_count;
    if (array && e->zeroed && e->argument_count < count && type->size > MAX_ZEROED) {
        lower_zero(l, address, type);
        return;
    }
    for (uint64_t k = 0; k < count; k++) {
        Expression *value = k < e->argument_count ? e->arguments[k] : NULL;
        Type *part_type = array ? type->target : type->record->fields[k].type;
        Address part = address;
        part.pointer = lower_offset(l, address.pointer, (int64_t)(array ? k * type->target->size : type->record->fields[k].offset));
        if (value)
            lower_initialisation(l, part, part_type, value);
        else if (e->zeroed)
            lower_zero(l, part, part_type);
        else if (array)
            break; // the remaining elements are also undefined
    }
    if (!array && type->record->is_union && e->zeroed && !e->argument_count)
        lower_zero(l, address, type);
}

static void lower_builtin_object(Lowering *l, Address address, const Expression *e) // a copy of threadIdx, blockIdx, ...
{
    const Record *r = e->type->record;
    for (uint32_t k = 0; k < r->field_count; k++) {
        IrInstruction *value = lower_emit(l, IR_SPECIAL, IR_B32, 0, NULL);
        value->special = compile_format(l->compiler, "%s.%s", e->text, r->fields[k].name->text);
        Address part = address;
        part.pointer = lower_offset(l, address.pointer, (int64_t)r->fields[k].offset);
        lower_store(l, part, r->fields[k].type, value);
    }
}

static void lower_initialisation_inner(Lowering *l, Address address, Type *type, Expression *e)
{
    if (type_is_any_reference(type)) {
        IrInstruction *pointer = lower_generic(l, lower_lvalue(l, e).pointer);
        lower_store(l, address, type_pointer(l->compiler, type->target), pointer);
        return;
    }
    type = type_bare(type);
    if (e->kind == EXPRESSION_LIST && (type->kind == TYPE_ARRAY || type->kind == TYPE_RECORD)) {
        lower_list(l, address, type, e);
        return;
    }
    if (type->kind != TYPE_RECORD) {
        if (e->kind == EXPRESSION_UNKNOWN)
            lower_error(l, e->start, e->end, NULL, "this compiler does not know what this is");
        else if (type->kind == TYPE_ARRAY && e->kind == EXPRESSION_COPY)
            lower_copy(l, address, lower_lvalue(l, e->left), type);
        else
            lower_store(l, address, type, lower_value(l, e));
        return;
    }
    switch (e->kind) {
    case EXPRESSION_CONSTRUCT: lower_construct(l, e, address); return;
    case EXPRESSION_BUILTIN: lower_builtin_object(l, address, e); return;
    case EXPRESSION_COPY: lower_initialisation(l, address, type, e->left); return;
    case EXPRESSION_COMMA:
        lower_discarded(l, e->left);
        lower_initialisation(l, address, type, e->right);
        return;
    case EXPRESSION_CALL:
        if (!e->is_lvalue) {
            lower_call(l, e, &address);
            return;
        }
        break;
    case EXPRESSION_CONDITIONAL:
        if (!e->is_lvalue) {
            IrBlock *if_true = lower_block(l), *if_false = lower_block(l), *after = lower_block(l);
            lower_condition_to(l, e->condition, if_true, if_false);
            l->block = if_true;
            lower_initialisation(l, address, type, e->left);
            lower_jump(l, after);
            l->block = if_false;
            lower_initialisation(l, address, type, e->right);
            lower_jump(l, after);
            l->block = after;
            return;
        }
        break;
    default: break;
    }
    lower_set_line(l, e->start);
    lower_copy(l, address, lower_lvalue(l, e), type);
}

void lower_initialisation(Lowering *l, Address address, Type *type, Expression *e)
{
    if (!e)
        return;
    lower_enter(l, e->start);
    lower_initialisation_inner(l, address, type, e);
    lower_leave(l);
}
