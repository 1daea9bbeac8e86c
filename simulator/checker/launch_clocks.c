// launch_clocks.c: creates, resets and frees the clocks of launches and blocks; snapshots the clock of a thread that launches a kernel.
#include "checker/block_check.h"
#include "checker/shadow.h"

#include <stdlib.h>
#include <string.h>

static void add_shared_variable(LaunchClocks *clocks, uint64_t address, size_t bytes, const Variable *v)
{
    for (uint64_t line = address / LINE_BYTES; bytes && line <= (address + bytes - 1) / LINE_BYTES; line++)
        clocks->shared_variables[line] = (SharedVariable){address, bytes, v};
}

const SharedVariable *sim_shared_variable_at(const Launch *launch, uint64_t address)
{
    return &launch->vector_clocks->shared_variables[address / LINE_BYTES];
}

LaunchClocks *sim_start_launch_clocks(const Launch *launch)
{
    static atomic_uint launches = FULLY_WRITTEN;
    if (!sim_checker_enabled())
        return NULL;
    LaunchClocks *clocks = calloc(1, sizeof *clocks);
    if (!clocks)
        sim_die("out of memory: vector clocks of a launch");
    clocks->generation = ++launches;
    clocks->shared_variables = sim_allocate(&clocks->arena, (launch->shared_bytes / LINE_BYTES + 1) * sizeof *clocks->shared_variables);
    for (const Variable *v = launch->module->shared; v; v = v->next_shared)
        if (sim_uses_shared(launch->kernel, v))
            add_shared_variable(clocks, v->address, v->bytes, v);
    if (launch->dynamic_shared_bytes)
        add_shared_variable(clocks, launch->dynamic_shared, launch->dynamic_shared_bytes, NULL);
    if (launch->uses_reserved_shared)
        add_shared_variable(clocks, launch->reserved_shared, launch->shared_bytes - launch->reserved_shared, NULL);
    return clocks;
}

void sim_free_launch_clocks(LaunchClocks *clocks)
{
    if (clocks)
        sim_free_arena(&clocks->arena);
    free(clocks);
}

uint32_t sim_launch_generation(const Launch *launch)
{
    return launch->vector_clocks->generation;
}

void sim_init_block_clocks(Block *b)
{
    BlockClocks *clocks = clocks_of(b);
    const size_t warps = (size_t)b->warp_count;
    clocks->lane_clocks = calloc(warps, sizeof *clocks->lane_clocks);
    clocks->recent = calloc(warps * LANES * warps, sizeof *clocks->recent);
    if (!clocks->lane_clocks || !clocks->recent)
        sim_die("out of memory: vector clocks of a block");
    clocks->time = b->launch->vector_clocks->latest;
}

void sim_free_block_clocks(Block *b)
{
    BlockClocks *clocks = clocks_of(b);
    sim_atomic_max(&b->launch->vector_clocks->latest, clocks->time);
    free(clocks->lane_clocks);
    free(clocks->recent);
}

void sim_start_block_clocks(Block *b)
{
    BlockClocks *clocks = clocks_of(b);
    clocks->first_generation = ++clocks->generation;
    if (clocks->has_recent)
        memset(clocks->recent, 0, (size_t)(b->warp_count * LANES * b->warp_count) * sizeof *clocks->recent);
    if (clocks->has_writers)
        memset(clocks->writers, 0, sizeof clocks->writers);
    clocks->has_thread_clocks = clocks->has_recent = clocks->has_writers = false;
    clocks->sync_vars = (SyncVarTable){.count = 0};
    clocks->start = clocks->time;
    clocks->common = (ThreadClock){.block_epoch = clocks->time};
    for (int n = 0; n < b->warp_count; n++)
        clocks->min_block_epoch[n] = clocks->warp_epoch[n] = clocks->time;
    clocks->time++;
}

uint32_t sim_block_barrier(const Warp *w)
{
    return clocks_of(w->block)->min_block_epoch[w->number];
}

uint32_t sim_warp_barrier(const Warp *w)
{
    const uint32_t block_epoch = sim_block_barrier(w), warp_epoch = clocks_of(w->block)->warp_epoch[w->number];
    return warp_epoch > block_epoch ? warp_epoch : block_epoch;
}

uint32_t sim_time(const Block *b)
{
    return clocks_of(b)->time;
}

void sim_advance_time(Block *b)
{
    clocks_of(b)->time++;
}

uint32_t sim_block_generation(const Block *b)
{
    return clocks_of(b)->generation;
}

uint32_t sim_start_time(const Block *b)
{
    return clocks_of(b)->start;
}

uint32_t sim_first_generation(const Block *b)
{
    return clocks_of(b)->first_generation;
}

// ---- Snapshots: the clock of a thread at the time when it launches a kernel

struct ClockSnapshot {
    uint32_t block, warp, lane, time, block_epoch, warp_epoch, lane_clocks[LANES];
    const CausalHistory *history, *pending_acquire, *pending_fence;
};

const ClockSnapshot *sim_take_snapshot(Arena *arena, Warp *w, int lane)
{
    BlockClocks *clocks = clocks_of(w->block);
    const ThreadClock *t = clock_of(w, lane);
    ClockSnapshot *snapshot = sim_allocate(arena, sizeof *snapshot);
    *snapshot = (ClockSnapshot){.block = block_id(w->block), .warp = (uint32_t)w->number, .lane = (uint32_t)lane,
                  .time = clocks->time++, .block_epoch = t->block_epoch, .warp_epoch = clocks->warp_epoch[w->number],
                  .history = t->history, .pending_acquire = t->pending_acquire, .pending_fence = t->pending_fence};
    memcpy(snapshot->lane_clocks, clocks->lane_clocks[w->number][lane], sizeof snapshot->lane_clocks);
    return snapshot;
}

bool sim_snapshot_covers(const ClockSnapshot *snapshot, const AccessRecord *access)
{
    uint32_t lanes = access->lanes;
    if (access->block == snapshot->block && access->time <= snapshot->block_epoch)
        return true;
    if (access->block == snapshot->block && access->warp == snapshot->warp) {
        lanes &= access->time <= snapshot->warp_epoch ? 0 : access->time <= snapshot->time ? ~(1u << snapshot->lane) : ALL_LANES;
        for (uint32_t rest = lanes; rest; rest &= rest - 1)
            if (access->time <= snapshot->lane_clocks[__builtin_ctz(rest)])
                lanes &= ~(rest & -rest);
    }
    const CausalHistory *const histories[] = {snapshot->history, snapshot->pending_acquire, snapshot->pending_fence};
    VisitedRange visited[MAX_VISITED];
    for (int n = 0; n < 3 && lanes; n++) {
        HistorySearch s = {.access = access, .lanes = lanes, .visited = visited};
        sim_search_history(&s, histories[n], snapshot->block);
        lanes = s.lanes;
    }
    return lanes == 0;
}
