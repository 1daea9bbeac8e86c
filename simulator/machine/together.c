// time_slicing.c: blocks that wait for each other legitimately: as many as the device holds share one host thread in time
// slices.
#include "machine/blocks.h"

#include <stdlib.h>

static bool has_cluster_ended(const Block *b)
{
    for (uint32_t k = 0; k < b->launch->cluster_blocks; k++)
        if (b->cluster[k]->live > 0)
            return false;
    return true;
}

static void start_cluster(Launch *launch, Block *const *blocks)
{
    for (uint32_t k = 0; k < launch->cluster_blocks; k++)
        sim_start_block(blocks[k], launch->next_block++);
}

// Runs each of the block's warps for one time slice. If the block's cluster has ended, starts the next one in its slots;
// false if there is none.
static bool have_turn(Block *b)
{
    Launch *launch = b->launch;
    if (setjmp(b->on_fault) != NONE) {
        sim_record_fault(launch, b);
        return false;
    }
    for (int n = 0; n < b->warp_count; n++)
        b->warps[n].near = NULL; // another block may have freed it
    sim_run_warps(b);
    if (b->live > 0)
        return true;
    if (b->error != cudaSuccess) {
        sim_record_fault(launch, b);
        return false;
    }
    if (!has_cluster_ended(b))
        return true;
    if (launch->next_block == launch->busy)
        return false;
    start_cluster(launch, b->cluster);
    return true;
}

// If no block makes progress, runs other lanes of their warps; if there are none, ends the launch.
static void free_stuck_blocks(Block **blocks, uint64_t count)
{
    bool gave = false;
    Block *first = NULL;
    for (uint64_t k = 0; k < count; k++)
        if (blocks[k]->live > 0 && !sim_is_block_stuck(blocks[k]))
            return;
    for (uint64_t k = count; k-- > 0;)
        if (blocks[k]->live > 0) {
            gave |= sim_let_other_lanes_run(blocks[k]);
            first = blocks[k];
        }
    if (gave)
        return;
    if (setjmp(first->on_fault) == NONE)
        sim_report_stuck(first);
    sim_record_fault(first->launch, first);
}

// True if the block skips this time slice: with a shuffled order a block sometimes pauses, as it may on a GPU.
static bool pauses(Block *b, uint64_t *series)
{
    enum { ONE_IN = 16, MOST_TURNS = 64 };
    if (b->pause == 0 && sim_next_random(series) % ONE_IN == 0)
        b->pause = (uint32_t)(sim_next_random(series) % MOST_TURNS);
    else if (b->pause > 0)
        b->pause--;
    return b->pause > 0;
}

// The number of co-resident blocks: whole clusters, as many as the device holds.
static uint64_t count_at_once(const Launch *launch)
{
    const int threads = (int)(launch->block.x * launch->block.y * launch->block.z);
    const uint64_t per_sm = (uint64_t)sim_blocks_per_sm(launch->kernel, threads, launch->dynamic_bytes);
    const uint64_t size = launch->cluster_blocks, most = per_sm * (uint64_t)sim_device()->sm_count / size * size;
    const uint64_t left = launch->busy - (launch->held ? launch->held->place : 0);
    return most < left ? most : left;
}

// The held block, if any, is the first. False: out of memory.
static bool make_blocks(Launch *launch, Block **blocks, uint64_t count)
{
    for (uint64_t k = 0; k < count; k++) {
        blocks[k] = k == 0 && launch->held ? launch->held : sim_new_block(launch);
        if (!blocks[k])
            return false;
        blocks[k]->cluster = &blocks[k / launch->cluster_blocks * launch->cluster_blocks];
    }
    return true;
}

// Runs until all blocks of the launch have ended, or one has failed.
static void take_turns(Launch *launch, Block **blocks, uint64_t count)
{
    for (uint64_t k = launch->held ? 1 : 0; k < count; k += launch->cluster_blocks)
        start_cluster(launch, &blocks[k]);
    uint64_t clusters = count / launch->cluster_blocks, series = launch->shuffled ? launch->shuffled[0] : 0;
    for (uint64_t k = 0; clusters > 0 && launch->error == cudaSuccess; k = (k + 1) % count) {
        if (launch->shuffled && blocks[k]->live > 0 && pauses(blocks[k], &series))
            continue;
        if (blocks[k]->live > 0 && !have_turn(blocks[k]))
            clusters--;
        if (clusters > 0 && launch->error == cudaSuccess && sim_is_block_stuck(blocks[k]))
            free_stuck_blocks(blocks, count);
    }
}

void sim_run_together(Launch *launch)
{
    const uint64_t count = count_at_once(launch);
    Block **blocks = calloc(count, sizeof *blocks);
    if (blocks && make_blocks(launch, blocks, count))
        take_turns(launch, blocks, count);
    else
        sim_report_memory(launch);
    for (uint64_t k = 0; blocks && k < count; k++)
        sim_end_block(launch, blocks[k]);
    free(blocks);
}

void sim_go_on_from_held(Launch *launch)
{
    Block *const b = launch->held;
    launch->together = launch->on_one_thread = true;
    launch->fault_block = UINT64_MAX;
    launch->next_block = b->place + 1;
    b->watch = &launch->watch;
    for (int n = 0; n < b->warp_count; n++)
        for (WarpSplit *p = b->warps[n].splits; p; p = p->next)
            p->loop = NULL;
    sim_run_together(launch);
}

void sim_say_together(const Launch *launch)
{
    static const Function *told[8];
    for (size_t k = 0; k < sizeof told / sizeof *told; k++) {
        if (told[k] == launch->kernel)
            return;
        if (told[k])
            continue;
        told[k] = launch->kernel;
        char name[200];
        sim_readable_name(launch->kernel->name, name, sizeof name);
        fprintf(stderr,
                "simulator: kernel %s: %s, so they run together; CUDA promises that for cooperative launches only\n", name,
                launch->why_together);
        return;
    }
}
