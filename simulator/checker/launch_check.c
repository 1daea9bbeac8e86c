// launch_check.c: what the checker keeps of a launch and of a block: made, begun and ended.
#include "checker/clocks.h"
#include "machine/grid.h"

#include <stdlib.h>
#include <string.h>

static void add_object(LaunchCheck *check, uint64_t address, size_t bytes, const Variable *v)
{
    for (uint64_t line = address / LINE_BYTES; bytes && line <= (address + bytes - 1) / LINE_BYTES; line++)
        check->objects[line] = (Object){address, bytes, v};
}

const Object *sim_object_at(const Launch *launch, uint64_t address)
{
    return &launch->check->objects[address / LINE_BYTES];
}

LaunchCheck *sim_start_launch_check(const Launch *launch)
{
    static atomic_uint runs;
    if (!sim_checks())
        return NULL;
    LaunchCheck *check = calloc(1, sizeof *check);
    if (!check)
        sim_die("out of memory for the checker's state of a launch");
    check->run = ++runs;
    check->objects = sim_allocate(&check->arena, (launch->shared_bytes / LINE_BYTES + 1) * sizeof *check->objects);
    for (const Variable *v = launch->module->shared; v; v = v->next_shared)
        if (sim_uses_shared(launch->kernel, v))
            add_object(check, v->address, v->bytes, v);
    if (launch->dynamic_bytes)
        add_object(check, launch->dynamic_shared, launch->dynamic_bytes, NULL);
    if (launch->module->uses_reserved_shared)
        add_object(check, launch->reserved_shared, launch->shared_bytes - launch->reserved_shared, NULL);
    return check;
}

void sim_free_launch_check(LaunchCheck *check)
{
    if (check)
        sim_free_arena(&check->arena);
    free(check);
}

void sim_end_launch_check(Launch *launch)
{
    LaunchCheck *check = launch->check;
    Grid *g = launch->family_grid;
    if (!check)
        return;
    if (g && (g->first || g->first_tail)) // its children ask what was known when they were launched
        g->check = check;
    else
        sim_free_launch_check(check);
    if (launch->error != cudaSuccess && !launch->fault.awaits_host)
        sim_add_fault(launch);
    sim_say_findings();
}

uint32_t sim_launch_run(const Launch *launch)
{
    return launch->check->run;
}

BlockCheck *sim_new_block_check(const Launch *launch, int warps)
{
    if (!launch->check)
        return NULL;
    BlockCheck *check = calloc(1, sizeof *check);
    if (check)
        check->rows = calloc((size_t)warps, sizeof *check->rows);
    if (check)
        check->heard = calloc((size_t)warps * LANES * (size_t)warps, sizeof *check->heard);
    if (!check || !check->rows || !check->heard)
        sim_die("out of memory for the checker's state of a block");
    return check;
}

void sim_free_block_check(BlockCheck *check)
{
    if (check) {
        free(check->rows);
        free(check->heard);
    }
    free(check);
}

void sim_start_block_check(Block *b)
{
    BlockCheck *check = b->check;
    check->first_run = ++check->run;
    if (check->hears)
        memset(check->heard, 0, (size_t)(b->warp_count * LANES * b->warp_count) * sizeof *check->heard);
    if (check->hears_writers)
        memset(check->writers, 0, sizeof check->writers);
    check->talks = check->hears = check->hears_writers = false;
    check->logs = (Logs){.count = 0};
    for (int n = 0; n < b->warp_count; n++) {
        for (int l = 0; l < LANES; l++)
            check->threads[n][l] = (ThreadClock){.floor = check->time};
        check->least_floor[n] = check->together[n] = check->time;
    }
    check->time++;
    sim_start_engine_check(b);
    sim_start_visits(b);
}

uint32_t sim_block_barrier(const Warp *w)
{
    return w->block->check->least_floor[w->number];
}

uint32_t sim_warp_barrier(const Warp *w)
{
    const uint32_t floor = sim_block_barrier(w), together = w->block->check->together[w->number];
    return together > floor ? together : floor;
}

uint32_t sim_time(const Block *b)
{
    return b->check->time;
}

void sim_advance_time(Block *b)
{
    b->check->time++;
}

uint32_t sim_block_run(const Block *b)
{
    return b->check->run;
}

uint32_t sim_first_run(const Block *b)
{
    return b->check->first_run;
}
