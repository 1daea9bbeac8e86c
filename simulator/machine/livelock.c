// livelock.c: whether a block does the same again and again, as one does in which a thread asks a flag of another block and
// tells its own block what it found, behind a barrier. Such a loop writes, so that progress.c takes it for work.
#include "machine/running.h"

#include <string.h>

enum { FIRST_LOOK = 1024, LOOKS = 32 }; // rounds before the first look; looks at each, for loops of so many barriers

static uint64_t mix(uint64_t state, uint64_t more)
{
    return (state ^ more) * 0x9e3779b97f4a7c15 + (state >> 29);
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

static uint64_t mix_path(uint64_t state, const WarpSplit *p)
{
    state = mix(state, (uint64_t)p->mask << 32 | p->pc);
    state = mix(state, p->waiting);
    for (const Frame *f = p->frame; f; f = f->caller)
        state = mix(state, sim_state_of(f));
    return state;
}

// A number for all that decides what the block does next, and that it changes itself. Global memory is not looked
// at: a store there counts as a change. Atomic operations do not, for a flag may be asked by one; nor do bulk copies
// and writes to surfaces.
static uint64_t state_of(const Block *b)
{
    uint64_t state = mix(b->live, b->counters.global_store_requests);
    for (int n = 0; n < b->warp_count; n++)
        for (const WarpSplit *p = b->warps[n].splits; p; p = p->next)
            state = mix_path(mix(state, (uint64_t)n), p);
    state = mix_bytes(state, (const uint8_t *)b->barriers, sizeof b->barriers);
    for (size_t t = 0; b->local_used > 0 && t < b->threads; t++)
        state = mix_bytes(state, b->local + t * b->launch->local_bytes, b->local_used);
    return mix_bytes(state, b->shared, b->launch->shared_bytes);
}

bool sim_state_repeats(Block *b)
{
    const uint64_t count = ++b->round.count;
    if (count < FIRST_LOOK)
        return false;
    const uint64_t since = count - (UINT64_C(1) << (63 - __builtin_clzll(count))); // the last power of two
    if (since > LOOKS)
        return false;
    const uint64_t state = state_of(b);
    if (since == 0)
        b->round.state = state;
    return since > 0 && state == b->round.state;
}
