// readers.c: finds the words of a line that have two readers, see ReaderPair.
#include "checker/readers.h"

#include <stdlib.h>

// The common words of two reads by one warp that two different lanes have read.
static uint32_t words_with_two_lanes(const StridedAccess *a, const StridedAccess *r)
{
    const uint32_t both = a->words & r->words;
    uint32_t two = 0;
    if (a->size < 4 || r->size < 4 || (a->stride != SAME_ADDRESS && same_shape(a, r)))
        return 0;
    if (a->stride == SAME_ADDRESS && a->record.lanes & (a->record.lanes - 1))
        return both;
    if (a->stride == r->stride && a->stride != SAME_ADDRESS && (uint32_t)abs(a->origin - r->origin) >= a->stride)
        return both;
    for (uint32_t rest = both; rest; rest &= rest - 1)
        two |= lanes_at(a, __builtin_ctz(rest)) != lanes_at(r, __builtin_ctz(rest)) ? rest & -rest : 0;
    return two;
}

// Adds words of the same pair; another pair replaces it.
static void add_readers(ReaderPair *readers, const ReaderPair *added)
{
    if (readers->run == added->run && readers->block == added->block && readers->warp == added->warp &&
        readers->since == added->since)
        readers->words |= added->words;
    else
        *readers = *added;
}

static void add_two_readers(ShadowLine *line, uint32_t words)
{
    __atomic_store_n(&line->two_readers, line->two_readers | words, __ATOMIC_RELAXED);
}

void sim_note_readers(const AccessCheck *check, ShadowLine *line, const StridedAccess *r)
{
    uint32_t blocks = 0, warps = 0, lanes = 0, written = 0, unordered = 0; // unordered: written, with no block barrier since
    for (int k = 0; k < line->count; k++) {
        const StridedAccess *a = strided_at(line, k);
        const AccessRecord *e = &a->record;
        const bool own_block = e->block == r->record.block, known = own_block && e->time <= check->block_epoch;
        if (e->kind != PLAIN_READ) {
            written |= a->words;
            unordered |= known && !is_in_flight(e) ? 0 : a->words;
        } else if (a->whole && !own_block) {
            blocks |= a->words;
        } else if (a->whole && !known && e->warp != r->record.warp) {
            warps |= a->words;
        } else if (!known && e->warp == r->record.warp && e->time > check->warp_epoch) {
            lanes |= words_with_two_lanes(a, r);
        }
    }
    add_two_readers(line, r->words & (check->shared ? warps : blocks) & ~written);
    warps &= r->words & ~unordered;
    lanes &= r->words & ~unordered;
    const uint32_t run = check->memory.run, block = r->record.block;
    if (warps && line->overflow)
        add_readers(&line->overflow->warp_pair, &(ReaderPair){warps, run, block, 0, check->block_epoch});
    if (lanes && line->overflow && check->full_warp_barriers)
        add_readers(&line->overflow->lane_pair, &(ReaderPair){lanes, run, block, r->record.warp, check->warp_epoch});
}

void sim_note_readers_of_cells(const AccessCheck *check, ShadowLine *line, const StridedAccess *r)
{
    uint32_t lanes = 0; // words with two lanes of the warp
    for (uint32_t rest = r->whole ? r->words & ~line->two_readers : 0; rest; rest &= rest - 1) {
        ShadowCell *c = &line->overflow->cells[__builtin_ctz(rest)];
        bool two = false, written = false, unordered = false;
        uint32_t own = 0;
        for (int k = 0; k < c->count; k++) {
            const AccessRecord *e = &records_of(c)[k];
            const bool known = e->block == r->record.block && e->time <= check->block_epoch;
            written |= e->kind != PLAIN_READ;
            unordered |= e->kind != PLAIN_READ && (!known || is_in_flight(e));
            two |= e->bytes == 15 && (check->shared ? e->warp != r->record.warp && e->time > check->block_epoch
                                                    : e->block != r->record.block);
            own |= e->kind == PLAIN_READ && e->bytes == 15 && is_same_warp(e, &r->record) && e->time > check->warp_epoch ? e->lanes : 0;
        }
        if (two && !written)
            add_two_readers(line, rest & -rest);
        if (own & (own - 1) && !unordered)
            lanes |= rest & -rest;
    }
    if (lanes && check->full_warp_barriers)
        add_readers(&line->overflow->lane_pair,
                    &(ReaderPair){lanes, check->memory.run, r->record.block, r->record.warp, check->warp_epoch});
}
