// readers.h: what is known of a line's readers. Of the checker's own.
#ifndef READERS_H
#define READERS_H

#include "checker/shadow.h"

// ---- readers.c

// A row that has been read is in the line now, which is taken: notes which of its words have two readers.
void sim_note_readers(const AccessCheck *check, ShadowLine *line, const StridedAccess *r);
void sim_note_readers_of_cells(const AccessCheck *check, ShadowLine *line, const StridedAccess *r); // of a line with cells

// ---- What strided.c and memory.c ask, at each access

// Whether each of these words has been read by two threads, so that one more says nothing new. The line need not be
// taken: who writes it afterwards finds the two.
static inline bool is_common(uint32_t run, const ShadowLine *line, uint32_t words)
{
    return __atomic_load_n(&line->run, __ATOMIC_ACQUIRE) == run &&
           !(words & ~__atomic_load_n(&line->common, __ATOMIC_RELAXED));
}

// Whether some words of a line, which a warp reads, tell nothing new in this run, and somebody wrote them.
static inline bool tell_nothing(uint32_t run, const ShadowLine *line, uint32_t words, bool values)
{
    return is_common(run, line, words) && (!values || all_written(line, words));
}

// Others than readers come.
static inline void forget_readers(const AccessCheck *check, ShadowLine *line, uint32_t words)
{
    __atomic_store_n(&line->common, line->common & ~words, __ATOMIC_RELAXED);
    if (line->more) {
        line->more->warps.words &= ~words;
        line->more->lanes.words &= ~words;
    }
    if (check->a && check->by_barriers)
        update_fully_written(check->a, (size_t)(line - check->memory.lines));
}

// The row's words of which one more reader says something new. The line is taken.
static inline uint32_t words_to_note(const AccessCheck *check, const ShadowLine *line, const StridedAccess *r)
{
    const struct ShadowOverflow *more = line->more;
    const StridedAccess *a = &line->first;
    uint32_t words = r->words & ~line->common;
    if (line->count == 1 && check->by_all_lanes && a->epoch.kind == PLAIN_READ && a->stride == ONE_PLACE &&
        a->epoch.block == r->epoch.block && a->epoch.warp == r->epoch.warp &&
        a->epoch.time > check->barrier && a->epoch.lanes & (a->epoch.lanes - 1) && a->size == 4)
        words &= ~a->words;
    if (more && more->warps.run == check->memory.run && more->warps.block == r->epoch.block && more->warps.since == check->floor)
        words &= ~more->warps.words;
    if (more && more->lanes.run == check->memory.run && more->lanes.block == r->epoch.block && more->lanes.warp == r->epoch.warp &&
        more->lanes.since == check->barrier)
        words &= ~more->lanes.words;
    return words;
}

#endif
