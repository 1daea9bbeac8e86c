// livelock.c: detects a block whose state repeats. Typically it polls another block's flag and broadcasts the result through
// shared memory before a barrier; progress.c misses such a loop, because it writes memory.
#include "machine/blocks.h"
#include "machine/running.h"

#include <string.h>

enum { FIRST_ROUND = 32 };      // the first round whose state is remembered; a power of two
enum { MAX_COMPARISONS = 32 }; // of all state after each power of two; more than one, as a loop may have several barriers

static uint64_t mix(uint64_t state, uint64_t word)
{
    return (state ^ word) * 0x9e3779b97f4a7c15 + (state >> 29);
}

static uint64_t mix_bytes(uint64_t state, const uint8_t *bytes, size_t count)
{
    uint64_t word;
    size_t k = 0;
    for (; k + sizeof word <= count; k += sizeof word) {
        memcpy(&word, bytes + k, sizeof word);
        state = mix(state, word);
    }
    for (; k < count; k++)
        state = mix(state, bytes[k]);
    return state;
}

static uint64_t mix_split(uint64_t state, const WarpSplit *p)
{
    state = mix(state, (uint64_t)p->mask << 32 | p->pc);
    state = mix(state, p->state);
    for (const Frame *f = p->frame; f; f = f->caller)
        state = mix(state, sim_frame_hash(f));
    return state;
}

// A hash of where the block's lanes are.
static uint64_t position_hash(const Block *b)
{
    uint64_t state = b->live_threads;
    for (int n = 0; n < b->warp_count; n++)
        for (const WarpSplit *p = b->warps[n].splits; p; p = p->next)
            state = mix(mix(state, (uint64_t)p->mask << 32 | p->pc), p->state);
    return state;
}

// A hash of the block's own state. Global memory is represented by the block's changes, and the number of stores that are not among them;
// bulk copies and surface writes are ignored.
static uint64_t block_hash(const Block *b)
{
    uint64_t state = mix(b->changes.sum, b->counters.global_store_requests - b->changes.store_requests);
    for (int n = 0; n < b->warp_count; n++)
        for (const WarpSplit *p = b->warps[n].splits; p; p = p->next)
            state = mix_split(mix(state, (uint64_t)n), p);
    state = mix_bytes(state, (const uint8_t *)b->barriers, sizeof b->barriers);
    for (size_t t = 0; b->local_used > 0 && t < b->threads; t++)
        state = mix_bytes(state, b->local + t * b->launch->local_bytes, b->local_used);
    return mix_bytes(state, b->shared, b->launch->shared_bytes);
}

static void remember_state(Block *b)
{
    RepeatCheck *check = &b->repeat_check;
    check->comparisons = 0;
    check->has_returned = false;
    if (b->launch->time_sliced)
        b->launch->repetitions = 0;
    b->changes.tracks_stores = sim_has_later_blocks(b) || sim_is_polling(b);
    if (!b->changes.tracks_stores)
        return;
    check->position_hash = position_hash(b);
    check->state_hash = block_hash(b);
    check->atomic_changes = b->atomic_changes;
}

bool sim_state_repeats(Block *b)
{
    RepeatCheck *check = &b->repeat_check;
    const uint64_t round = ++check->rounds;
    if (round < FIRST_ROUND)
        return false;
    if ((round & (round - 1)) == 0) {
        remember_state(b);
        return false;
    }
    if (!b->changes.tracks_stores || check->comparisons == MAX_COMPARISONS || position_hash(b) != check->position_hash)
        return false;
    check->comparisons++;
    if (block_hash(b) != check->state_hash)
        return false;
    check->rounds = FIRST_ROUND; // keeps comparing with the same state
    check->comparisons = 0;
    return true;
}

static bool has_divergent_warp(const Block *b)
{
    for (int n = 0; n < b->warp_count; n++)
        if (b->warps[n].splits && b->warps[n].splits->next)
            return true;
    return false;
}

bool sim_is_livelocked(Block *b)
{
    const bool was_alone = b->repeat_check.is_alone;
    if (was_alone)
        return b->repeat_check.atomic_changes == b->atomic_changes && !has_divergent_warp(b);
    sim_wait_for_earlier_blocks(b);
    b->repeat_check = (RepeatCheck){.is_alone = true};
    return false;
}
