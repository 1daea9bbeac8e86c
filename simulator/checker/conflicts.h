// conflicts.h: which two accesses of a word are in each other's way, whatever orders them. Of the checker's own.
#ifndef CONFLICTS_H
#define CONFLICTS_H

#include "checker/shadow.h"

static inline bool reaches(const Instr *i, const AccessRecord *a, const AccessRecord *b)
{
    return i->scope != BLOCK_SCOPE || a->block == b->block;
}

static inline bool conflict(const AccessCheck *check, const AccessRecord *a, const AccessRecord *b)
{
    if (!(a->bytes & b->bytes) || !(writes(a) || writes(b)))
        return false;
    const bool same_update = a->kind == ATOMIC_UPDATE && a->site == b->site && a->kind == b->kind;
    if (same_update && check->i->site == b->site && check->i->scope != BLOCK_SCOPE) // as of a histogram: at once
        return false;
    return !is_strong(a) || !is_strong(b) || sim_strong_conflict(check, a, b);
}

// Whether what conflicts with a conflicts with b, too.
static inline bool covers(const AccessRecord *b, const AccessRecord *a)
{
    return (a->bytes & ~b->bytes) == 0 &&
           (b->kind == PLAIN_WRITE || b->kind == a->kind || (b->kind == ATOMIC_UPDATE && is_strong(a)));
}

// Whether a copy of the warp has come by this; which of its lanes had begun it, the caller asks.
static inline bool is_own_copy(const AccessCheck *check, const AccessRecord *a, const AccessRecord *e)
{
    return a->kind == COPY_UNDER_WAY && (e->kind == PLAIN_WRITE || e->kind == COPY_UNDER_WAY) &&
           check->i->kind != STORE && check->i->kind != ASYNC_COPY && check->i->kind != ASYNC_STORE && check->i->kind != BULK_COPY &&
           a->block == e->block && a->warp == e->warp;
}

// Whether the lane has waited by this until its copy had read all of its source.
static inline bool ends_copy(const AccessCheck *check, const AccessRecord *a, const AccessRecord *e)
{
    return a->kind == SOURCE_UNDER_WAY && check->i->kind == AWAIT_BULK && a->block == e->block &&
           a->warp == e->warp && a->lanes & e->lanes;
}

#endif
