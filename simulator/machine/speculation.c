// speculation.c: lets a speculative block wait until the earlier blocks have ended, and restarts it if its reads are stale.
#include "machine/blocks.h"
#include "base/platform.h"

enum { MAX_SPINS = 200 }; // polls of an earlier block's end before the worker sleeps

static Lock ended_lock;
static CondVar waiters[MAX_WORKERS]; // indexed by start_index % MAX_WORKERS: at most MAX_WORKERS blocks run at once

// Increments ended_blocks without the lock, because only the earliest running block does so.
void sim_note_block_end(Launch *launch)
{
    if (launch->block_concurrency != ORDERED_EFFECTS)
        return;
    const uint64_t next = ++launch->ended_blocks;
    if (launch->sleepers == 0)
        return;
    sim_lock(&ended_lock);
    sim_wake_all(&waiters[next % MAX_WORKERS]);
    sim_wake_all(&waiters[(next + 1) % MAX_WORKERS]); // wakes the next one early, so that it already spins
    sim_unlock(&ended_lock);
}

static bool earlier_blocks_ended(const Launch *launch, const Block *b)
{
    return launch->ended_blocks >= b->start_index;
}

// Spins first, because earlier blocks usually end soon, and sleeping may take longer than a block.
static void wait_for_earlier_blocks(Launch *launch, const Block *b)
{
    for (;;) {
        for (int k = 0; k < MAX_SPINS && !earlier_blocks_ended(launch, b); k++)
            sim_yield();
        if (earlier_blocks_ended(launch, b))
            return;
        sim_lock(&ended_lock);
        launch->sleepers++; // before the check: sim_note_block_end increments ended_blocks before it reads `sleepers`
        if (!earlier_blocks_ended(launch, b))
            sim_wait(&waiters[b->start_index % MAX_WORKERS], &ended_lock);
        launch->sleepers--;
        sim_unlock(&ended_lock);
    }
}

void sim_wait_for_earlier_blocks(Block *b)
{
    Launch *launch = b->launch;
    if (!b->speculative)
        return;
    wait_for_earlier_blocks(launch, b);
    b->speculative = false;
    if (launch->fault_block < b->start_index) // only earlier blocks can have failed
        longjmp(b->on_fault, ABANDONED);
    for (int k = 0; k < b->read_count; k++)
        if (b->read_allocations[k]->last_writer > b->ended_at_start)
            longjmp(b->on_fault, RESTART);
}
