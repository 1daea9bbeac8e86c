// conflicts.h: whether two accesses to a word conflict, regardless of their order. Internal to the checker.
#ifndef CONFLICTS_H
#define CONFLICTS_H

#include "checker/shadow.h"

static inline bool in_scope(const Instr *i, const AccessRecord *earlier, const AccessRecord *current)
{
    return i->scope != BLOCK_SCOPE || earlier->block == current->block;
}

// True if a store in the kernel's code always stores the same constant, as one that sets a flag does.
static inline bool stores_constant(const Program *kernel, const Instr *store)
{
    const bool in_kernel = store >= kernel->code && store < kernel->code + kernel->count;
    const Operand *value = &store->statement->operands[1];
    if (in_kernel && value->kind == IS_REGISTER && value->reg->sole_def < kernel->count) {
        const Instr *definition = &kernel->code[value->reg->sole_def];
        value = definition->kind == MOVE ? &definition->statement->operands[1] : value;
    }
    return value->kind == IS_INTEGER || value->kind == IS_FLOAT;
}

static inline bool accesses_conflict(const AccessCheck *check, const AccessRecord *earlier, const AccessRecord *current)
{
    if (!(earlier->byte_mask & current->byte_mask) || !(writes(earlier) || writes(current)))
        return false;
    const bool same_update = earlier->kind == ATOMIC_UPDATE && earlier->site == current->site && earlier->kind == current->kind;
    if (same_update && check->i->site == current->site && check->i->scope != BLOCK_SCOPE) // fast path, as for a histogram
        return false;
    return !is_strong(earlier) || !is_strong(current) || sim_strong_accesses_conflict(check, earlier, current);
}

// True if only `earlier` has block scope: it conflicts with the atomic operations of other blocks, `current` does not.
static inline bool has_wider_scope(const AccessRecord *current, const AccessRecord *earlier)
{
    return is_strong(current) && is_strong(earlier) && sim_instruction_at(earlier->site)->scope == BLOCK_SCOPE &&
           sim_instruction_at(current->site)->scope != BLOCK_SCOPE;
}

// True if every access that conflicts with `earlier` also conflicts with `current`.
static inline bool subsumes(const AccessRecord *current, const AccessRecord *earlier)
{
    return (earlier->byte_mask & ~current->byte_mask) == 0 && !has_wider_scope(current, earlier) &&
           (current->kind == PLAIN_WRITE || current->kind == earlier->kind || (current->kind == ATOMIC_UPDATE && is_strong(earlier)));
}

// True if `earlier` is a copy of the same warp and has completed before `current`. The caller compares the lanes.
static inline bool is_own_copy(const AccessCheck *check, const AccessRecord *earlier, const AccessRecord *current)
{
    return earlier->kind == COPY_IN_FLIGHT && (current->kind == PLAIN_WRITE || current->kind == COPY_IN_FLIGHT) &&
           check->i->kind != STORE && check->i->kind != ASYNC_COPY && check->i->kind != ASYNC_STORE && check->i->kind != BULK_COPY &&
           earlier->block == current->block && earlier->warp == current->warp;
}

// True if the current instruction waits until the lane's copy has read its source.
static inline bool ends_copy(const AccessCheck *check, const AccessRecord *earlier, const AccessRecord *current)
{
    return earlier->kind == SOURCE_IN_FLIGHT && check->i->kind == AWAIT_BULK && earlier->block == current->block &&
           earlier->warp == current->warp && earlier->lanes & current->lanes;
}

#endif
