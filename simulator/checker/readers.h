// readers.h: words of a line with two known readers, see ReaderPair. Internal to the checker.
#ifndef READERS_H
#define READERS_H

#include "checker/shadow.h"

// ---- readers.c

// Notes which words of a read have two readers now that it is recorded, in a line without or with cells. The line is locked.
void sim_note_readers(const AccessCheck *check, ShadowLine *line, const StridedAccess *r);
void sim_note_readers_of_cells(const AccessCheck *check, ShadowLine *line, const StridedAccess *r);

// ---- Inline queries of strided.c and memory.c

// True if all of these words have two readers in this run. Needs no lock: a later write finds these two.
static inline bool has_two_readers(uint32_t run, const ShadowLine *line, uint32_t words)
{
    return __atomic_load_n(&line->run, __ATOMIC_ACQUIRE) == run &&
           !(words & ~__atomic_load_n(&line->two_readers, __ATOMIC_RELAXED));
}

// True if a read of these words needs no record; values: and no check for unwritten bytes.
static inline bool is_redundant_read(uint32_t run, const ShadowLine *line, uint32_t words, bool values)
{
    return has_two_readers(run, line, words) && (!values || all_written(line, words));
}

// Words are accessed other than by a plain read.
static inline void forget_readers(const AccessCheck *check, ShadowLine *line, uint32_t words)
{
    __atomic_store_n(&line->two_readers, line->two_readers & ~words, __ATOMIC_RELAXED);
    if (line->overflow) {
        line->overflow->warp_pair.words &= ~words;
        line->overflow->lane_pair.words &= ~words;
    }
    if (check->a && check->barriers_only)
        update_fully_written(check->a, (size_t)(line - check->memory.lines));
}

// The words of a read that do not have two readers yet. The line is locked.
static inline uint32_t words_to_note(const AccessCheck *check, const ShadowLine *line, const StridedAccess *r)
{
    const struct ShadowOverflow *overflow = line->overflow;
    const StridedAccess *a = &line->first;
    uint32_t words = r->words & ~line->two_readers;
    if (line->count == 1 && check->full_warp_barriers && a->record.kind == PLAIN_READ && a->stride == SAME_ADDRESS &&
        a->record.block == r->record.block && a->record.warp == r->record.warp &&
        a->record.time > check->warp_epoch && a->record.lanes & (a->record.lanes - 1) && a->size == 4)
        words &= ~a->words;
    if (overflow && overflow->warp_pair.run == check->memory.run && overflow->warp_pair.block == r->record.block &&
        overflow->warp_pair.since == check->block_epoch)
        words &= ~overflow->warp_pair.words;
    if (overflow && overflow->lane_pair.run == check->memory.run && overflow->lane_pair.block == r->record.block &&
        overflow->lane_pair.warp == r->record.warp && overflow->lane_pair.since == check->warp_epoch)
        words &= ~overflow->lane_pair.words;
    return words;
}

#endif
