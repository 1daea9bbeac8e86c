// readers.c: which words of a line need no further reader, as two of them have been noted: see Readers.
#include "checker/readers.h"

#include <stdlib.h>

// The words of both rows, of one warp, that have two lanes for readers.
static uint32_t words_of_two(const StridedAccess *a, const StridedAccess *r)
{
    const uint32_t both = a->words & r->words;
    uint32_t two = 0;
    if (a->size < 4 || r->size < 4 || (a->stride != ONE_PLACE && same_shape(a, r)))
        return 0;
    if (a->stride == ONE_PLACE && a->epoch.lanes & (a->epoch.lanes - 1))
        return both;
    if (a->stride == r->stride && a->stride != ONE_PLACE && (uint32_t)abs(a->origin - r->origin) >= a->stride)
        return both;
    for (uint32_t rest = both; rest; rest &= rest - 1)
        two |= lanes_at(a, __builtin_ctz(rest)) != lanes_at(r, __builtin_ctz(rest)) ? rest & -rest : 0;
    return two;
}

// Of these readers, who have read so many words since a barrier.
static void add_readers(Readers *readers, const Readers *more)
{
    if (readers->run == more->run && readers->block == more->block && readers->warp == more->warp &&
        readers->since == more->since)
        readers->words |= more->words;
    else
        *readers = *more;
}

static void add_common(ShadowLine *line, uint32_t words)
{
    __atomic_store_n(&line->common, line->common | words, __ATOMIC_RELAXED);
}

void sim_note_readers(const AccessCheck *check, ShadowLine *line, const StridedAccess *r)
{
    uint32_t blocks = 0, warps = 0, lanes = 0, written = 0, by_others = 0; // by_others: not known to all of the block
    for (int k = 0; k < line->count; k++) {
        const StridedAccess *a = row_at(line, k);
        const AccessRecord *e = &a->epoch;
        const bool own_block = e->block == r->epoch.block, known = own_block && e->time <= check->floor;
        if (e->kind != PLAIN_READ) {
            written |= a->words;
            by_others |= known && !is_under_way(e) ? 0 : a->words;
        } else if (a->whole && !own_block) {
            blocks |= a->words;
        } else if (a->whole && !known && e->warp != r->epoch.warp) {
            warps |= a->words;
        } else if (!known && e->warp == r->epoch.warp && e->time > check->barrier) {
            lanes |= words_of_two(a, r);
        }
    }
    add_common(line, r->words & (check->shared ? warps : blocks) & ~written);
    warps &= r->words & ~by_others;
    lanes &= r->words & ~by_others;
    const uint32_t run = check->memory.run, block = r->epoch.block;
    if (warps && line->more)
        add_readers(&line->more->warps, &(Readers){warps, run, block, 0, check->floor});
    if (lanes && line->more && check->by_all_lanes)
        add_readers(&line->more->lanes, &(Readers){lanes, run, block, r->epoch.warp, check->barrier});
}

void sim_note_readers_of_cells(const AccessCheck *check, ShadowLine *line, const StridedAccess *r)
{
    uint32_t lanes = 0; // words with two lanes of the warp
    for (uint32_t rest = r->whole ? r->words & ~line->common : 0; rest; rest &= rest - 1) {
        ShadowCell *c = &line->more->cells[__builtin_ctz(rest)];
        bool two = false, written = false, by_others = false;
        uint32_t own = 0;
        for (int k = 0; k < c->count; k++) {
            const AccessRecord *e = &epochs_of(c)[k];
            const bool known = e->block == r->epoch.block && e->time <= check->floor;
            written |= e->kind != PLAIN_READ;
            by_others |= e->kind != PLAIN_READ && (!known || is_under_way(e));
            two |= e->bytes == 15 && (check->shared ? e->warp != r->epoch.warp && e->time > check->floor
                                                    : e->block != r->epoch.block);
            own |= e->kind == PLAIN_READ && e->bytes == 15 && is_same_warp(e, &r->epoch) && e->time > check->barrier ? e->lanes : 0;
        }
        if (two && !written)
            add_common(line, rest & -rest);
        if (own & (own - 1) && !by_others)
            lanes |= rest & -rest;
    }
    if (lanes && check->by_all_lanes)
        add_readers(&line->more->lanes,
                    &(Readers){lanes, check->memory.run, r->epoch.block, r->epoch.warp, check->barrier});
}
