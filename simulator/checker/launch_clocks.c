// launch_clocks.c: creates, resets and frees the clocks of launches and blocks.
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
