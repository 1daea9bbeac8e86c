// workers.c: runs the blocks of a launch on a pool of host threads, with the same results on any host.
//
// Blocks start in the order of their numbers, or in an order shuffled by $SIM_BLOCK_ORDER; start_index is a block's position in
// it. Each runs on the next free worker. In an ORDERED_EFFECTS launch, whose blocks may communicate (atomics on device memory,
// fences), a block runs speculatively until it first writes device memory or reads what others may have written. Then it waits
// until all earlier blocks have ended, and restarts if they have written to an allocation that it has read. Kernels that print
// or allocate run their blocks one by one. Blocks that wait for each other are time-sliced (time_slicing.c).
#include "machine/blocks.h"
#include "base/platform.h"

#include <stdatomic.h>
#include <string.h>

enum { MAX_RESTARTS = 16 }; // of a launch; after that, no block runs speculatively
enum { SINGLE_WORKER_INSTRUCTIONS = 1 << 17 }; // in a checked launch, before the first worker starts the others

// The workers besides the launching thread, which starts and joins them.
typedef struct Workers {
    Thread threads[MAX_WORKERS];
    int requested, started;
} Workers;

static Lock launch_lock;

// Claims the next block; false if none is left. `ended_blocks` is read before `fault_block`, so a block that sees all earlier
// blocks ended sees their faults, too.
static bool claim_block(Launch *launch, Block *b, uint64_t *start_index)
{
    b->ended_at_start = launch->ended_blocks;
    *start_index = launch->next_block;
    do
        if (*start_index >= launch->blocks_to_run || *start_index >= launch->fault_block)
            return false;
    while (!atomic_compare_exchange_weak(&launch->next_block, start_index, *start_index + 1));
    b->speculative = launch->block_concurrency == ORDERED_EFFECTS && *start_index > b->ended_at_start;
    b->read_count = 0;
    return true;
}

static void add_counters(Launch *launch, const Block *b)
{
    uint64_t *to = (uint64_t *)&launch->counters;
    const uint64_t *from = (const uint64_t *)&b->counters;
    sim_lock(&launch_lock);
    for (size_t k = 0; k < sizeof b->counters / sizeof *to; k++)
        to[k] += from[k];
    sim_unlock(&launch_lock);
}

void sim_end_block(Launch *launch, Block *b)
{
    if (!b)
        return;
    add_counters(launch, b);
    sim_free_block(b);
}

void sim_record_fault(Launch *launch, const Block *b)
{
    sim_lock(&launch_lock);
    if (b->start_index < launch->fault_block) {
        launch->fault_block = b->start_index;
        launch->error = b->error;
        memcpy(launch->message, b->message, sizeof launch->message);
        launch->fault = b->fault;
    }
    sim_unlock(&launch_lock);
}

// Suspends a block that waits for later ones. No other block starts, and speculative ones are discarded.
static void suspend_block(Launch *launch, Block *b)
{
    sim_lock(&launch_lock);
    launch->suspended_block = b;
    launch->fault_block = b->start_index;
    sim_unlock(&launch_lock);
}

static void *run_worker(void *argument);

static void start_workers(Launch *launch)
{
    Workers *pool = launch->workers;
    launch->single_worker = false;
    while (pool->started < pool->requested && sim_start_thread(&pool->threads[pool->started], run_worker, launch))
        pool->started++;
}

static void run_block(Block *b, uint64_t start_index)
{
    sim_start_block(b, start_index);
    if (b->launch->restarts >= MAX_RESTARTS || b->traced) // rows in the trace cannot be undone
        sim_wait_for_earlier_blocks(b);
    while (b->live_threads > 0) {
        sim_run_warps(b);
        sim_check_run_time(b->launch);
        if (b->launch->single_worker && b->counters.warp_instructions >= SINGLE_WORKER_INSTRUCTIONS)
            start_workers(b->launch);
    }
    sim_wait_for_earlier_blocks(b);
    if (b->error != cudaSuccess) // recorded by sim_note_fault, which lets the other threads continue
        longjmp(b->on_fault, FAULT);
}

// Runs the block to its end; restarts it if its speculative reads are stale. False: it waits for later blocks.
static bool finish_block(Launch *launch, Block *b, uint64_t start_index)
{
    const Counters before = b->counters;
    switch (setjmp(b->on_fault)) {
    case RESTART:
        launch->restarts++;
        sim_clear_block(b, &before);
        // fall through
    case NONE:
        run_block(b, start_index);
        break;
    case FAULT:
        sim_record_fault(launch, b);
        break;
    case ABANDONED:
        sim_clear_block(b, &before);
        break;
    case NEEDS_LATER_BLOCKS:
        suspend_block(launch, b);
        sim_note_block_end(launch);
        return false;
    }
    sim_note_block_end(launch);
    return true;
}

static void *run_worker(void *argument)
{
    Launch *launch = argument;
    Block *b = sim_new_block(launch);
    uint64_t start_index;
    bool suspended = false;
    while (b && !suspended && claim_block(launch, b, &start_index))
        suspended = !finish_block(launch, b, start_index);
    if (!suspended)
        sim_end_block(launch, b);
    return NULL;
}

void sim_report_out_of_memory(Launch *launch)
{
    char name[200];
    sim_demangle(launch->kernel->name, name, sizeof name);
    launch->error = cudaErrorMemoryAllocation;
    launch->fault = (Fault){.kind = -1, .thread = -1};
    snprintf(
        launch->message, sizeof launch->message,
        "simulator: kernel %s: no memory for a block's %zu bytes of shared memory and %zu of local memory a thread",
        name, launch->shared_bytes, launch->local_bytes);
}

int sim_worker_count(const Launch *launch)
{
    const uint64_t requested = sim_settings()->threads, cores = requested ? requested : (uint64_t)sim_core_count();
    const bool one_worker = launch->block_concurrency == SERIAL || launch->checks_child_grids || (launch->traced && sim_traces_all());
    const uint64_t max_workers = one_worker ? 1 : launch->blocks_to_run;
    const uint64_t workers = cores > MAX_WORKERS ? MAX_WORKERS : cores;
    return (int)(workers < max_workers ? workers : max_workers);
}

void sim_run_blocks(Launch *launch)
{
    Workers pool = {.requested = sim_worker_count(launch) - 1};
    launch->workers = &pool;
    launch->single_worker = is_launch_checked(launch) && pool.requested > 0; // so that the races found in small launches do not depend on the number of cores
    if (!launch->single_worker)
        start_workers(launch);
    run_worker(launch);
    for (int k = 0; k < pool.started; k++)
        sim_join_thread(pool.threads[k]);
    if (launch->error == cudaSuccess && !launch->suspended_block && launch->next_block < launch->blocks_to_run)
        sim_report_out_of_memory(launch); // every worker ran out of memory
}
