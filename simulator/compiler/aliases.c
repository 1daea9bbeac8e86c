// aliases.c: alias analysis. Two accesses are compared by the underlying objects of their addresses, and by their constant offsets.
// Variables do not overlap, nor do address spaces, and memory accessed through a __restrict__ argument is accessed only through it.
#include "compiler/intrinsics.h"
#include "compiler/known.h"
#include "compiler/memory.h"

enum { MAX_CHAIN = 32 };

static uint32_t access_bytes(const IrInstruction *i)
{
    const uint32_t bytes = ir_bytes(i->memory);
    return bytes * (i->count ? i->count : 1);
}

static IrSpace space_of_root(const IrInstruction *root, IrSpace space)
{
    if (root->op == IR_ALLOCA)
        return IR_LOCAL;
    return root->op == IR_SYMBOL ? root->symbol->space : space;
}

static Location location_at(const IrInstruction *pointer, int64_t begin, uint32_t bytes, IrSpace space)
{
    Location location = {.begin = begin, .bytes = bytes};
    uint32_t depth = 0;
    while (depth++ < MAX_CHAIN && pointer->op == IR_OFFSET && pointer->operand_count == 1) {
        location.begin += pointer->integer;
        pointer = pointer->operands[0];
    }
    location.index = pointer;
    if (pointer->op == IR_OFFSET)
        location.begin += pointer->integer;
    while (depth++ < MAX_CHAIN && (pointer->op == IR_OFFSET || pointer->op == IR_TO_GENERIC || pointer->op == IR_FROM_GENERIC))
        pointer = pointer->operands[0];
    location.root = pointer;
    location.space = space_of_root(pointer, space);
    return location;
}

Location location_of(const IrInstruction *access)
{
    if (access->op == IR_LOAD || access->op == IR_STORE || access->op == IR_LOAD_VECTOR || access->op == IR_STORE_VECTOR)
        return location_at(access->operands[0], access->integer, access_bytes(access), access->space);
    if (access->op == IR_INTRINSIC && access->operand_count && access->operands[0]->type >= IR_B32 && access->memory != IR_VOID)
        return location_at(access->operands[0], access->integer, access_bytes(access), access->space);
    return (Location){.bytes = 0};
}

static bool is_variable(const IrInstruction *root)
{
    return root->op == IR_ALLOCA || root->op == IR_SYMBOL;
}

bool is_same_address(const IrInstruction *a, const IrInstruction *b)
{
    return a == b || (a->op == IR_SYMBOL && b->op == IR_SYMBOL && a->symbol == b->symbol);
}

static bool is_restrict(const IrFunction *function, const IrInstruction *root)
{
    return root->op == IR_ARGUMENT && function->arguments[root->index].restrict_pointer;
}

// Whether two addresses, without their constant offsets, are equal: the same index of the same array.
static bool same_index(const IrInstruction *a, const IrInstruction *b)
{
    if (a == b || (a->op == IR_SYMBOL && b->op == IR_SYMBOL && a->symbol == b->symbol))
        return true;
    return a->op == IR_OFFSET && b->op == IR_OFFSET && a->operand_count == 2 && b->operand_count == 2 && is_same_address(a->operands[0], b->operands[0]) &&
           a->operands[1] == b->operands[1] && a->scale == b->scale && !((a->flags ^ b->flags) & IR_SIGNED);
}

// Whether b is an element of an array that begins at or after a's first byte, and begins after a's bytes whatever its index is.
static bool begins_after(const Location *a, const Location *b)
{
    const IrInstruction *pointer = b->index;
    if (pointer->op != IR_OFFSET || pointer->operand_count != 2 || !is_never_negative(pointer->operands[1]))
        return false;
    const Location array = location_at(pointer->operands[0], b->begin, b->bytes, b->space);
    return same_index(a->index, array.index) && array.begin >= a->begin + a->bytes;
}

Alias alias(const IrFunction *function, const Location *a, const Location *b)
{
    if (!a->bytes || !b->bytes)
        return MAY_ALIAS;
    if (a->space != b->space && a->space != IR_GENERIC && b->space != IR_GENERIC)
        return NO_ALIAS;
    if (same_index(a->index, b->index)) {
        if (a->begin == b->begin && a->bytes == b->bytes)
            return SAME_BYTES;
        return a->begin + a->bytes <= b->begin || b->begin + b->bytes <= a->begin ? NO_ALIAS : MAY_ALIAS;
    }
    if (is_same_address(a->root, b->root))
        return begins_after(a, b) || begins_after(b, a) ? NO_ALIAS : MAY_ALIAS;
    if (is_variable(a->root) && is_variable(b->root))
        return NO_ALIAS;
    if (is_restrict(function, a->root) != is_restrict(function, b->root) || (is_restrict(function, a->root) && is_restrict(function, b->root)))
        return a->root->op == IR_ARGUMENT || is_variable(a->root) ? b->root->op == IR_ARGUMENT || is_variable(b->root) ? NO_ALIAS : MAY_ALIAS : MAY_ALIAS;
    return MAY_ALIAS;
}

bool is_memory_write(const IrInstruction *instruction)
{
    return ir_effects(instruction) & (INTRINSIC_WRITES | INTRINSIC_ORDERS) && !ir_is_terminator(instruction);
}

// Whether the address of a variable does not escape: it is used only by loads, stores and offsets. Barriers, calls and other threads then
// do not access the variable.
static bool is_private(const IrInstruction *pointer, uint32_t depth)
{
    for (const IrUse *use = pointer->uses; use; use = use->next) {
        const IrInstruction *user = use->user;
        const bool is_access = (user->op == IR_LOAD || user->op == IR_STORE || user->op == IR_LOAD_VECTOR || user->op == IR_STORE_VECTOR) && use->operand == 0;
        if (!is_access && !(user->op == IR_OFFSET && depth < 8 && is_private(user, depth + 1)))
            return false;
    }
    return true;
}

bool may_write(const IrFunction *function, const IrInstruction *instruction, const Location *location)
{
    if (!is_memory_write(instruction))
        return false;
    if (instruction->op == IR_STORE || instruction->op == IR_STORE_VECTOR || (instruction->op == IR_LOAD && !(ir_effects(instruction) & INTRINSIC_ORDERS))) {
        const Location other = location_of(instruction);
        return alias(function, location, &other) != NO_ALIAS;
    }
    if (location->root && location->root->op == IR_ALLOCA && is_private(location->root, 0))
        return false;
    if (instruction->op == IR_INTRINSIC && !(ir_effects(instruction) & INTRINSIC_ORDERS) && instruction->memory != IR_VOID) {
        const Location other = location_of(instruction); // an atomic operation
        return alias(function, location, &other) != NO_ALIAS;
    }
    return true;
}

bool may_read(const IrFunction *function, const IrInstruction *instruction, const Location *location)
{
    const uint32_t effects = ir_effects(instruction);
    if (!(effects & (INTRINSIC_READS | INTRINSIC_ORDERS)))
        return false;
    if (instruction->op == IR_LOAD || instruction->op == IR_LOAD_VECTOR) {
        const Location other = location_of(instruction);
        return alias(function, location, &other) != NO_ALIAS;
    }
    if (location->root && location->root->op == IR_ALLOCA && is_private(location->root, 0))
        return false;
    return true;
}
