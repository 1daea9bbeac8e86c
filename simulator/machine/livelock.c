// livelock.c: detects a block whose state repeats. Typically it polls another block's flag and broadcasts the result through
// shared memory before a barrier; progress.c misses such a loop, because it writes memory.
#include "machine/blocks.h"
#include "machine/running.h"

#include <string.h>

enum { FIRST_ROUND = 1024, FIRST_ROUND_OF_LAST_BLOCK = 32 }; // the first round that is compared
enum { MAX_DISTANCE = 32 };  // rounds compared after each power of two; more than one, as a loop may have several barriers

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

// A hash of the block's own state. Global memory is represented only by the number of stores, because a block may poll by
// atomic operations; bulk copies and surface writes are ignored.
static uint64_t block_hash(const Block *b)
{
    uint64_t state = mix(b->live_threads, b->counters.global_store_requests);
    for (int n = 0; n < b->warp_count; n++)
        for (const WarpSplit *p = b->warps[n].splits; p; p = p->next)
            state = mix_split(mix(state, (uint64_t)n), p);
    state = mix_bytes(state, (const uint8_t *)b->barriers, sizeof b->barriers);
    for (size_t t = 0; b->local_used > 0 && t < b->threads; t++)
        state = mix_bytes(state, b->local + t * b->launch->local_bytes, b->local_used);
    return mix_bytes(state, b->shared, b->launch->shared_bytes);
}

bool sim_state_repeats(Block *b)
{
    const uint64_t round = ++b->repeat_check.rounds;
    if (round < (sim_has_later_blocks(b) ? FIRST_ROUND : FIRST_ROUND_OF_LAST_BLOCK))
        return false;
    const uint64_t distance = round - (UINT64_C(1) << (63 - __builtin_clzll(round))); // rounds since the last power of two
    if (distance > MAX_DISTANCE)
        return false;
    const uint64_t state = block_hash(b);
    if (distance == 0) {
        b->repeat_check.state_hash = state;
        b->repeat_check.atomic_changes = b->atomic_changes;
    }
    return distance > 0 && state == b->repeat_check.state_hash;
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
