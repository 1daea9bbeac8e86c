// readers.h: words of a line with two known readers (see ReaderPair). Internal to the checker.
#ifndef READERS_H
#define READERS_H

#include "checker/shadow.h"

// ---- readers.c

// After a read has been recorded: notes which of its words now have two readers, in a line without or with cells. The line is
// locked.
void sim_note_readers(const AccessCheck *check, ShadowLine *line, const StridedAccess *r);
void sim_note_readers_of_cells(const AccessCheck *check, ShadowLine *line, const StridedAccess *r);

// ---- Inline queries of strided.c and memory.c

// True if all of these words have two readers in this generation. Needs no lock, because a later write finds these two readers.
static inline bool has_two_readers(uint32_t generation, const ShadowLine *line, uint32_t word_mask)
{
    return __atomic_load_n(&line->generation, __ATOMIC_ACQUIRE) == generation &&
           !(word_mask & ~__atomic_load_n(&line->two_reader_mask, __ATOMIC_RELAXED));
}

// True if a read of these words needs no record. With `checks_values`, true only if it needs no check for unwritten bytes either.
static inline bool is_redundant_read(uint32_t generation, const ShadowLine *line, uint32_t word_mask, bool checks_values)
{
    return has_two_readers(generation, line, word_mask) && (!checks_values || all_written(line, word_mask));
}

// Drops the readers of words that are accessed other than by a plain read. The line is locked.
static inline void forget_readers(const AccessCheck *check, ShadowLine *line, uint32_t word_mask)
{
    __atomic_store_n(&line->two_reader_mask, line->two_reader_mask & ~word_mask, __ATOMIC_RELAXED);
    if (line->overflow) {
        line->overflow->warp_pair.word_mask &= ~word_mask;
        line->overflow->lane_pair.word_mask &= ~word_mask;
    }
    if (check->allocation && check->barriers_only)
        update_fully_written(check->allocation, (size_t)(line - check->memory.lines));
}

// The words of a read that do not have two readers yet. The line is locked.
static inline uint32_t words_to_note(const AccessCheck *check, const ShadowLine *line, const StridedAccess *r)
{
    const struct ShadowOverflow *overflow = line->overflow;
    const StridedAccess *a = &line->first;
    uint32_t word_mask = r->word_mask & ~line->two_reader_mask;
    if (line->count == 1 && check->full_warp_barriers && a->record.kind == PLAIN_READ && a->stride == SAME_ADDRESS &&
        a->record.block == r->record.block && a->record.warp == r->record.warp &&
        a->record.time > check->warp_epoch && a->record.lanes & (a->record.lanes - 1) && a->size == 4)
        word_mask &= ~a->word_mask;
    if (overflow && overflow->warp_pair.generation == check->memory.generation && overflow->warp_pair.block == r->record.block &&
        overflow->warp_pair.since == check->block_epoch)
        word_mask &= ~overflow->warp_pair.word_mask;
    if (overflow && overflow->lane_pair.generation == check->memory.generation && overflow->lane_pair.block == r->record.block &&
        overflow->lane_pair.warp == r->record.warp && overflow->lane_pair.since == check->warp_epoch)
        word_mask &= ~overflow->lane_pair.word_mask;
    return word_mask;
}

#endif
