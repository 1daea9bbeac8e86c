// conflicts.h: which two accesses to a word conflict, ordered or not. Internal to the checker.
#ifndef CONFLICTS_H
#define CONFLICTS_H

#include "checker/shadow.h"

static inline bool in_scope(const Instr *i, const AccessRecord *a, const AccessRecord *b)
{
    return i->scope != BLOCK_SCOPE || a->block == b->block;
}

static inline bool conflict(const AccessCheck *check, const AccessRecord *a, const AccessRecord *b)
{
    if (!(a->bytes & b->bytes) || !(writes(a) || writes(b)))
        return false;
    const bool same_update = a->kind == ATOMIC_UPDATE && a->site == b->site && a->kind == b->kind;
    if (same_update && check->i->site == b->site && check->i->scope != BLOCK_SCOPE) // fast path: a histogram
        return false;
    return !is_strong(a) || !is_strong(b) || sim_strong_conflict(check, a, b);
}

// True if every access that conflicts with `a` also conflicts with `b`.
static inline bool subsumes(const AccessRecord *b, const AccessRecord *a)
{
    return (a->bytes & ~b->bytes) == 0 &&
           (b->kind == PLAIN_WRITE || b->kind == a->kind || (b->kind == ATOMIC_UPDATE && is_strong(a)));
}

// True if `a` is a copy of the same warp and has completed before `e`. The caller compares the lanes.
static inline bool is_own_copy(const AccessCheck *check, const AccessRecord *a, const AccessRecord *e)
{
    return a->kind == COPY_IN_FLIGHT && (e->kind == PLAIN_WRITE || e->kind == COPY_IN_FLIGHT) &&
           check->i->kind != STORE && check->i->kind != ASYNC_COPY && check->i->kind != ASYNC_STORE && check->i->kind != BULK_COPY &&
           a->block == e->block && a->warp == e->warp;
}

// True if by this instruction the lane waits until its copy has read its source.
static inline bool ends_copy(const AccessCheck *check, const AccessRecord *a, const AccessRecord *e)
{
    return a->kind == SOURCE_IN_FLIGHT && check->i->kind == AWAIT_BULK && a->block == e->block &&
           a->warp == e->warp && a->lanes & e->lanes;
}

#endif
