// block.c: creates and initialises blocks, and runs their warps in time slices.
#include "machine/blocks.h"
#include "machine/running.h"

#include <stdlib.h>
#include <string.h>

// Sets the order in which the warps run: ascending, or, with $SIM_BLOCK_ORDER, a random permutation without fixed points.
static void order_warps(Block *b)
{
    const bool random_order = sim_settings()->random_order;
    b->random_state = sim_settings()->block_order ^ (b->number + 1) * 0xd1b54a32d192ed03;
    for (int n = 0; n < b->warp_count; n++) { // Sattolo's algorithm, inside out
        const uint64_t other = random_order && n > 0 ? sim_next_random(&b->random_state) % (uint64_t)n : (uint64_t)n;
        b->warp_order[n] = b->warp_order[other];
        b->warp_order[other] = (uint8_t)n;
    }
}

// Sets the block's indices and rank.
static void set_position(Block *b, uint64_t start_index)
{
    const Launch *launch = b->launch;
    const uint64_t number = launch->block_order ? launch->block_order[start_index] : start_index;
    b->start_index = start_index;
    b->number = number;
    b->rank = (uint32_t)(start_index % launch->cluster_blocks);
    b->index.x = (unsigned)(number % launch->grid.x);
    b->index.y = (unsigned)(number / launch->grid.x % launch->grid.y);
    b->index.z = (unsigned)(number / launch->grid.x / launch->grid.y);
    b->traced = sim_is_traced(launch, number);
}

static void start_warps(Block *b)
{
    for (int n = 0; n < b->warp_count; n++) {
        const uint32_t rest = b->threads - (uint32_t)n * LANES;
        b->warps[n].instructions = b->warps[n].clock_advance = b->warps[n].since_starvation_check = 0;
        b->warps[n].mbarrier_wait.expected = 0;
        sim_start_warp(&b->warps[n], rest >= LANES ? ALL_LANES : (1u << rest) - 1);
    }
}

void sim_start_block(Block *b, uint64_t start_index)
{
    set_position(b, start_index);
    b->fault.kind = -1;
    b->live_threads = b->threads;
    b->starvation_limit = SIM_STARVATION_LIMIT;
    order_warps(b);
    b->cluster_phase = 0;
    b->repeat_check = (RepeatCheck){0};
    b->changes = (MemoryChanges){0};
    memset(b->barriers, 0, sizeof b->barriers);
    memset(b->shared, 0xff, b->launch->shared_bytes); // uninitialised shared memory is NaN, and equal in every run
    if (is_block_checked(b))
        sim_observer.begin_block(b);
    b->local_used = 0;
    sim_extend_local(b, b->launch->kernel->local_bytes);
    start_warps(b);
}

Block *sim_new_block(Launch *launch)
{
    Block *b = aligned_alloc(_Alignof(Block), sizeof *b);
    const size_t threads = (size_t)launch->block.x * launch->block.y * launch->block.z;
    const size_t warps = (threads + LANES - 1) / LANES;
    if (!b)
        return NULL;
    memset(b, 0, sizeof *b);
    b->launch = launch;
    b->threads = (uint32_t)threads;
    b->warp_count = (int)warps;
    b->watch = launch->time_sliced ? &launch->watch : &b->block_watch;
    b->shared = aligned_alloc(1024, (launch->shared_bytes + 1024) / 1024 * 1024);
    b->local = malloc((warps * LANES + 1) * (launch->local_bytes ? launch->local_bytes : 1));
    const bool has_checker_state = !is_launch_checked(launch) || sim_observer.make_block(b);
    if (!b->shared || !b->local || !has_checker_state) {
        if (is_launch_checked(launch))
            sim_observer.free_block(b);
        free(b->shared);
        free(b->local);
        free(b);
        return NULL;
    }
    b->self = b;
    b->cluster = &b->self;
    for (size_t n = 0; n < warps; n++)
        b->warps[n] = (Warp){.block = b, .number = (int)n};
    return b;
}

void sim_free_block(Block *b)
{
    sim_free_arena(&b->arena);
    if (is_block_checked(b))
        sim_observer.free_block(b);
    free(b->shared);
    free(b->local);
    free(b);
}

void sim_clear_block(Block *b, const Counters *counters)
{
    b->counters = *counters;
    sim_free_arena(&b->arena);
    b->free_frames = NULL;
    b->free_splits = NULL;
    b->free_copies = NULL;
    b->free_sources = NULL;
    for (int n = 0; n < b->warp_count; n++)
        b->warps[n] = (Warp){.block = b, .number = n};
}

void sim_run_warps(Block *b)
{
    bool progress = false;
    uint64_t instructions = 0;
    for (int n = 0; n < b->warp_count; n++) {
        Warp *w = &b->warps[b->warp_order[n]];
        progress |= w->splits && sim_run_warp(w);
        instructions += w->instructions;
    }
    if (b->launch->ended_blocks >= b->start_index) // stale speculative reads could make the block wait forever
        sim_wait_for_earlier_blocks(b);
    const bool cluster_may_progress = b->launch->time_sliced && sim_waits_for_cluster(b);
    if (!progress && !cluster_may_progress && !sim_release_waiting_lanes(b))
        sim_report_deadlock(b);
    if (progress && b->live_threads > 0 && !b->launch->time_sliced && sim_is_block_stuck(b) && !sim_run_other_lanes(b))
        sim_report_stuck(b, "");
    const bool may_wait = b->launch->block_concurrency != CONCURRENT && !b->launch->time_sliced && (sim_has_later_blocks(b) || sim_is_polling(b));
    if (may_wait && sim_state_repeats(b)) {
        sim_switch_to_time_slicing(b, SIM_NEEDS_LATER_BLOCKS);
        if (sim_is_livelocked(b))
            sim_report_stuck(b, "");
    }
    const uint64_t limit = sim_settings()->max_instructions;
    if (b->watch->polling_instructions > limit / 100)
        sim_switch_to_time_slicing(b, SIM_NEEDS_LATER_BLOCKS);
    if (instructions > limit / 10 && sim_has_later_blocks(b) && sim_is_polling(b)) // its loop writes
                                                                                      // memory, which hides repetition
        sim_switch_to_time_slicing(b, "a block asks again and again for what others may do");
    if (instructions > limit || b->watch->polling_instructions > limit / 10)
        sim_report_limit(b, instructions > limit ? instructions : b->watch->polling_instructions);
}
