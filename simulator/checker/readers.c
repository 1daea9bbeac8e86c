// readers.c: finds the words of a line that have two readers (see ReaderPair).
#include "checker/readers.h"

#include <stdlib.h>

// The words that two different lanes of a warp have read, one of them in each of the two reads or both in one.
static uint32_t words_with_two_lanes(const StridedAccess *earlier, const StridedAccess *current)
{
    const uint32_t common = earlier->word_mask & current->word_mask;
    uint32_t result = 0;
    if (earlier->size < 4 || current->size < 4 || (earlier->stride != SAME_ADDRESS && same_shape(earlier, current)))
        return 0;
    if (earlier->stride == SAME_ADDRESS && earlier->record.lanes & (earlier->record.lanes - 1))
        return common;
    if (earlier->stride == current->stride && earlier->stride != SAME_ADDRESS &&
        (uint32_t)abs(earlier->origin - current->origin) >= earlier->stride)
        return common;
    for (uint32_t rest = common; rest; rest &= rest - 1)
        result |= lanes_at(earlier, __builtin_ctz(rest)) != lanes_at(current, __builtin_ctz(rest)) ? rest & -rest : 0;
    return result;
}

// Adds words to a pair if its threads are the same; otherwise replaces the pair.
static void add_readers(ReaderPair *readers, const ReaderPair *added)
{
    if (readers->generation == added->generation && readers->block == added->block && readers->warp == added->warp &&
        readers->since == added->since)
        readers->word_mask |= added->word_mask;
    else
        *readers = *added;
}

static void add_two_readers(ShadowLine *line, uint32_t word_mask)
{
    __atomic_store_n(&line->two_reader_mask, line->two_reader_mask | word_mask, __ATOMIC_RELAXED);
}

void sim_note_readers(const AccessCheck *check, ShadowLine *line, const StridedAccess *current)
{
    uint32_t other_block_words = 0, other_warp_words = 0, two_lane_words = 0, written_words = 0;
    uint32_t unordered_words = 0; // written since the last barrier of the block
    for (int k = 0; k < line->count; k++) {
        const StridedAccess *earlier = strided_at(line, k);
        const AccessRecord *record = &earlier->record;
        const bool own_block = record->block == current->record.block, ordered = own_block && record->time <= check->block_epoch;
        if (record->kind != PLAIN_READ) {
            written_words |= earlier->word_mask;
            unordered_words |= ordered && !is_in_flight(record) ? 0 : earlier->word_mask;
        } else if (earlier->whole && !own_block) {
            other_block_words |= earlier->word_mask;
        } else if (earlier->whole && !ordered && record->warp != current->record.warp) {
            other_warp_words |= earlier->word_mask;
        } else if (!ordered && record->warp == current->record.warp && record->time > check->warp_epoch) {
            two_lane_words |= words_with_two_lanes(earlier, current);
        }
    }
    add_two_readers(line, current->word_mask & (check->shared ? other_warp_words : other_block_words) & ~written_words);
    other_warp_words &= current->word_mask & ~unordered_words;
    two_lane_words &= current->word_mask & ~unordered_words;
    const uint32_t generation = check->memory.generation, block = current->record.block;
    if (other_warp_words && line->overflow)
        add_readers(&line->overflow->warp_pair, &(ReaderPair){other_warp_words, generation, block, 0, check->block_epoch});
    if (two_lane_words && line->overflow && check->full_warp_barriers)
        add_readers(&line->overflow->lane_pair, &(ReaderPair){two_lane_words, generation, block, current->record.warp, check->warp_epoch});
}

void sim_note_readers_of_cells(const AccessCheck *check, ShadowLine *line, const StridedAccess *current)
{
    uint32_t two_lane_words = 0; // words read by two lanes of the warp
    for (uint32_t rest = current->whole ? current->word_mask & ~line->two_reader_mask : 0; rest; rest &= rest - 1) {
        ShadowCell *c = &line->overflow->cells[__builtin_ctz(rest)];
        bool has_other_reader = false, written = false, unordered = false;
        uint32_t own_lanes = 0;
        for (int k = 0; k < c->count; k++) {
            const AccessRecord *record = &records_of(c)[k];
            const bool ordered = record->block == current->record.block && record->time <= check->block_epoch;
            written |= record->kind != PLAIN_READ;
            unordered |= record->kind != PLAIN_READ && (!ordered || is_in_flight(record));
            has_other_reader |= record->byte_mask == 15 &&
                                (check->shared ? record->warp != current->record.warp && record->time > check->block_epoch
                                               : record->block != current->record.block);
            const bool own_read = record->kind == PLAIN_READ && record->byte_mask == 15 && is_same_warp(record, &current->record);
            own_lanes |= own_read && record->time > check->warp_epoch ? record->lanes : 0;
        }
        if (has_other_reader && !written)
            add_two_readers(line, rest & -rest);
        if (own_lanes & (own_lanes - 1) && !unordered)
            two_lane_words |= rest & -rest;
    }
    if (two_lane_words && check->full_warp_barriers)
        add_readers(&line->overflow->lane_pair,
                    &(ReaderPair){two_lane_words, check->memory.generation, current->record.block, current->record.warp, check->warp_epoch});
}
