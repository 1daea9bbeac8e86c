// time_slicing.c: runs blocks that may wait for each other. As many as the device holds share one host thread in time slices.
#include "machine/blocks.h"

#include <stdlib.h>

static bool has_cluster_ended(const Block *b)
{
    for (uint32_t k = 0; k < b->launch->cluster_blocks; k++)
        if (b->cluster[k]->live_threads > 0)
            return false;
    return true;
}

static void start_cluster(Launch *launch, Block *const *blocks)
{
    for (uint32_t k = 0; k < launch->cluster_blocks; k++)
        sim_start_block(blocks[k], launch->next_block++);
}

// Runs each of the block's warps for one time slice. If the block's cluster has ended, starts the next cluster in its blocks;
// returns false if there is none.
static bool run_slice(Block *b)
{
    Launch *launch = b->launch;
    if (setjmp(b->on_fault) != NONE) {
        sim_record_fault(launch, b);
        return false;
    }
    for (int n = 0; n < b->warp_count; n++)
        b->warps[n].last_allocation = NULL; // another block may have freed it
    sim_run_warps(b);
    sim_check_run_time(launch);
    if (b->live_threads > 0)
        return true;
    if (b->error != cudaSuccess) {
        sim_record_fault(launch, b);
        return false;
    }
    if (!has_cluster_ended(b))
        return true;
    if (launch->next_block == launch->blocks_to_run)
        return false;
    start_cluster(launch, b->cluster);
    return true;
}

// Notes threads that have exited from a cooperative launch, for which a grid barrier waits forever; an empty text if there are none.
static void describe_exited_threads(Block **blocks, uint64_t count, char *text, size_t space)
{
    unsigned long long exited = 0;
    const Block *example = NULL;
    for (uint64_t k = 0; k < count && blocks[0]->launch->workspace; k++) {
        exited += blocks[k]->threads - blocks[k]->live_threads;
        example = !example && blocks[k]->live_threads < blocks[k]->threads ? blocks[k] : example;
    }
    text[0] = 0;
    if (example)
        snprintf(text, space, "; %llu threads of the grid have exited, the first of them in block (%u,%u,%u)\n"
                 "let all threads of the grid reach grid.sync(), also those without elements", exited, example->index.x, example->index.y,
                 example->index.z);
}

// True if all blocks return to earlier states again and again, however their time slices are interleaved. Each repetition, in which all
// blocks return at least once, has random lengths of time slices.
static bool do_all_repeat(Block *b, Block **blocks, uint64_t count)
{
    enum { MAX_REPETITIONS = 32 };
    if (!sim_state_repeats(b))
        return false;
    b->repeat_check.has_returned = true;
    for (uint64_t k = 0; k < count; k++)
        if (blocks[k]->live_threads > 0 && !blocks[k]->repeat_check.has_returned)
            return false;
    for (uint64_t k = 0; k < count; k++)
        blocks[k]->repeat_check.has_returned = false;
    return ++b->launch->repetitions % MAX_REPETITIONS == 0;
}

static bool are_all_stuck(Block **blocks, uint64_t count)
{
    for (uint64_t k = 0; k < count; k++)
        if (blocks[k]->live_threads > 0 && !sim_is_block_stuck(blocks[k]))
            return false;
    return true;
}

// No block makes progress: runs other lanes of their warps; if there are none, ends the launch.
static void resolve_stuck_blocks(Block **blocks, uint64_t count)
{
    bool switched = false;
    Block *first = NULL;
    char note[300];
    for (uint64_t k = count; k-- > 0;)
        if (blocks[k]->live_threads > 0) {
            switched |= sim_run_other_lanes(blocks[k]);
            first = blocks[k];
        }
    if (switched)
        return;
    describe_exited_threads(blocks, count, note, sizeof note);
    if (setjmp(first->on_fault) == NONE)
        sim_report_stuck(first, note);
    sim_record_fault(first->launch, first);
}

// True if the block skips this time slice. With $SIM_BLOCK_ORDER blocks pause at random, as they may on a GPU.
static bool skips_slice(Block *b, uint64_t *random_state)
{
    enum { PAUSE_PERIOD = 16, MAX_PAUSE = 64 };
    if (b->slices_to_skip == 0 && sim_next_random(random_state) % PAUSE_PERIOD == 0)
        b->slices_to_skip = (uint32_t)(sim_next_random(random_state) % MAX_PAUSE);
    else if (b->slices_to_skip > 0)
        b->slices_to_skip--;
    return b->slices_to_skip > 0;
}

// The number of co-resident blocks: whole clusters, as many as the device holds.
static uint64_t resident_block_count(const Launch *launch)
{
    const int threads = (int)(launch->block.x * launch->block.y * launch->block.z);
    const uint64_t per_sm = (uint64_t)sim_blocks_per_sm(launch->kernel, threads, launch->dynamic_shared_bytes);
    const uint64_t size = launch->cluster_blocks, capacity = per_sm * (uint64_t)sim_device()->sm_count / size * size;
    const uint64_t remaining = launch->blocks_to_run - (launch->suspended_block ? launch->suspended_block->start_index : 0);
    return capacity < remaining ? capacity : remaining;
}

// Allocates the co-resident blocks, up to `count`; the suspended block, if any, is the first. If the memory does not suffice,
// keeps half of them, so that they can run in the rest, as only a cooperative launch needs them all. Returns their number.
static uint64_t make_blocks(Launch *launch, Block **blocks, uint64_t count)
{
    for (uint64_t k = 0; k < count; k++) {
        blocks[k] = k == 0 && launch->suspended_block ? launch->suspended_block : sim_new_block(launch);
        if (!blocks[k]) {
            const uint64_t kept = launch->workspace ? 0 : k / 2 / launch->cluster_blocks * launch->cluster_blocks;
            while (k > kept)
                sim_end_block(launch, blocks[--k]);
            return kept;
        }
        blocks[k]->cluster = &blocks[k / launch->cluster_blocks * launch->cluster_blocks];
    }
    return count;
}

// Runs until all blocks of the launch have ended or one has failed.
static void run_in_slices(Launch *launch, Block **blocks, uint64_t count)
{
    for (uint64_t k = launch->suspended_block ? 1 : 0; k < count; k += launch->cluster_blocks)
        start_cluster(launch, &blocks[k]);
    enum { MAX_LONGER = 32 }; // warp instructions
    uint64_t active_clusters = count / launch->cluster_blocks, random_state = launch->block_order ? launch->block_order[0] : 0;
    for (uint64_t k = 0; active_clusters > 0 && launch->error == cudaSuccess; k = (k + 1) % count) {
        launch->longer_slices = launch->repetitions ? (uint32_t)(sim_next_random(&random_state) % MAX_LONGER) : 0;
        if (launch->block_order && blocks[k]->live_threads > 0 && skips_slice(blocks[k], &random_state))
            continue;
        if (blocks[k]->live_threads > 0 && !run_slice(blocks[k]))
            active_clusters--;
        const bool runs = active_clusters > 0 && launch->error == cudaSuccess && blocks[k]->live_threads > 0;
        if (runs && ((sim_is_block_stuck(blocks[k]) && are_all_stuck(blocks, count)) || do_all_repeat(blocks[k], blocks, count)))
            resolve_stuck_blocks(blocks, count);
    }
}

void sim_run_time_sliced(Launch *launch)
{
    uint64_t count = resident_block_count(launch);
    Block **blocks = calloc(count, sizeof *blocks);
    count = blocks ? make_blocks(launch, blocks, count) : 0;
    if (count > 0)
        run_in_slices(launch, blocks, count);
    else
        sim_report_out_of_memory(launch);
    for (uint64_t k = 0; k < count; k++)
        sim_end_block(launch, blocks[k]);
    free(blocks);
}

void sim_resume_suspended_block(Launch *launch)
{
    Block *const b = launch->suspended_block;
    launch->time_sliced = launch->on_one_thread = true;
    launch->fault_block = UINT64_MAX;
    launch->next_block = b->start_index + 1;
    b->watch = &launch->watch;
    for (int n = 0; n < b->warp_count; n++)
        for (WarpSplit *p = b->warps[n].splits; p; p = p->next)
            p->loop = NULL;
    sim_run_time_sliced(launch);
}

void sim_report_time_slicing(const Launch *launch)
{
    static const Function *reported[8];
    for (size_t k = 0; k < sizeof reported / sizeof *reported; k++) {
        if (reported[k] == launch->kernel)
            return;
        if (reported[k])
            continue;
        reported[k] = launch->kernel;
        char name[200];
        sim_demangle(launch->kernel->name, name, sizeof name);
        fprintf(stderr,
                "simulator: kernel %s: %s, so they run together; CUDA promises that for cooperative launches only\n", name,
                launch->time_slicing_reason);
        return;
    }
}
