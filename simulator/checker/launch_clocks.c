// launch_clocks.c: what the checker keeps of a launch and of a block: made, begun and ended; and what a thread knows that launches
// a kernel.
#include "checker/clocks.h"
#include "checker/lines.h"
#include "machine/grid.h"

#include <stdlib.h>
#include <string.h>

static void add_object(LaunchClocks *clocks, uint64_t address, size_t bytes, const Variable *v)
{
    for (uint64_t line = address / LINE_BYTES; bytes && line <= (address + bytes - 1) / LINE_BYTES; line++)
        clocks->objects[line] = (Object){address, bytes, v};
}

const Object *sim_object_at(const Launch *launch, uint64_t address)
{
    return &launch->clocks->objects[address / LINE_BYTES];
}

LaunchClocks *sim_start_launch_clocks(const Launch *launch)
{
    static atomic_uint runs = SETTLED;
    if (!sim_checks())
        return NULL;
    LaunchClocks *clocks = calloc(1, sizeof *clocks);
    if (!clocks)
        sim_die("out of memory for the checker's state of a launch");
    clocks->run = ++runs;
    clocks->objects = sim_allocate(&clocks->arena, (launch->shared_bytes / LINE_BYTES + 1) * sizeof *clocks->objects);
    for (const Variable *v = launch->module->shared; v; v = v->next_shared)
        if (sim_uses_shared(launch->kernel, v))
            add_object(clocks, v->address, v->bytes, v);
    if (launch->dynamic_bytes)
        add_object(clocks, launch->dynamic_shared, launch->dynamic_bytes, NULL);
    if (launch->uses_reserved_shared)
        add_object(clocks, launch->reserved_shared, launch->shared_bytes - launch->reserved_shared, NULL);
    return clocks;
}

void sim_free_launch_clocks(LaunchClocks *clocks)
{
    if (clocks)
        sim_free_arena(&clocks->arena);
    free(clocks);
}

void sim_end_launch_clocks(Launch *launch)
{
    LaunchClocks *clocks = launch->clocks;
    Grid *g = launch->family_grid;
    if (!clocks)
        return;
    if (launch->error == cudaSuccess)
        sim_report_padding(launch);
    if (g && (g->first || g->first_tail)) // its children ask what was known when they were launched
        g->clocks = clocks;
    else
        sim_free_launch_clocks(clocks);
    if (launch->error == cudaErrorNotSupported)
        sim_note_lack();
    else if (launch->error != cudaSuccess)
        sim_add_fault(launch);
    sim_say_findings();
}

uint32_t sim_launch_run(const Launch *launch)
{
    return launch->clocks->run;
}

BlockClocks *sim_new_block_clocks(const Launch *launch, int warps)
{
    if (!launch->clocks)
        return NULL;
    BlockClocks *clocks = calloc(1, sizeof *clocks);
    if (clocks)
        clocks->rows = calloc((size_t)warps, sizeof *clocks->rows);
    if (clocks)
        clocks->heard = calloc((size_t)warps * LANES * (size_t)warps, sizeof *clocks->heard);
    if (!clocks || !clocks->rows || !clocks->heard)
        sim_die("out of memory for the checker's state of a block");
    clocks->time = launch->clocks->latest;
    return clocks;
}

void sim_free_block_clocks(Block *b)
{
    BlockClocks *clocks = b->clocks;
    if (clocks) {
        sim_raise_to(&b->launch->clocks->latest, clocks->time);
        free(clocks->rows);
        free(clocks->heard);
    }
    free(clocks);
}

void sim_start_block_clocks(Block *b)
{
    BlockClocks *clocks = b->clocks;
    clocks->first_run = ++clocks->run;
    if (clocks->hears)
        memset(clocks->heard, 0, (size_t)(b->warp_count * LANES * b->warp_count) * sizeof *clocks->heard);
    if (clocks->hears_writers)
        memset(clocks->writers, 0, sizeof clocks->writers);
    clocks->talks = clocks->hears = clocks->hears_writers = false;
    clocks->logs = (Logs){.count = 0};
    clocks->all = (ThreadClock){.floor = clocks->time};
    for (int n = 0; n < b->warp_count; n++)
        clocks->least_floor[n] = clocks->together[n] = clocks->time;
    clocks->time++;
    sim_start_engine_writers(b);
    sim_start_visits(b);
}

uint32_t sim_block_barrier(const Warp *w)
{
    return w->block->clocks->least_floor[w->number];
}

uint32_t sim_warp_barrier(const Warp *w)
{
    const uint32_t floor = sim_block_barrier(w), together = w->block->clocks->together[w->number];
    return together > floor ? together : floor;
}

uint32_t sim_time(const Block *b)
{
    return b->clocks->time;
}

void sim_advance_time(Block *b)
{
    b->clocks->time++;
}

uint32_t sim_block_run(const Block *b)
{
    return b->clocks->run;
}

uint32_t sim_first_run(const Block *b)
{
    return b->clocks->first_run;
}

// ---- What a thread knows when it launches a kernel

struct Knower {
    uint32_t block, warp, lane, time, floor, together, row[LANES];
    const Known *known, *pending, *unasked;
};

const Knower *sim_remember(Arena *arena, Warp *w, int lane)
{
    BlockClocks *clocks = w->block->clocks;
    const ThreadClock *t = clock_of(w, lane);
    Knower *k = sim_allocate(arena, sizeof *k);
    *k = (Knower){.block = (uint32_t)w->block->number, .warp = (uint32_t)w->number, .lane = (uint32_t)lane,
                  .time = clocks->time++, .floor = t->floor, .together = clocks->together[w->number],
                  .known = t->known, .pending = t->pending, .unasked = t->unasked};
    memcpy(k->row, clocks->rows[w->number][lane], sizeof k->row);
    return k;
}

bool sim_remembers(const Knower *k, const Epoch *e)
{
    uint32_t lanes = e->lanes;
    if (e->block == k->block && e->time <= k->floor)
        return true;
    if (e->block == k->block && e->warp == k->warp) {
        lanes &= e->time <= k->together ? 0 : e->time <= k->time ? ~(1u << k->lane) : ALL_LANES;
        for (uint32_t rest = lanes; rest; rest &= rest - 1)
            if (e->time <= k->row[__builtin_ctz(rest)])
                lanes &= ~(rest & -rest);
    }
    const Known *const all[] = {k->known, k->pending, k->unasked};
    Seen seen[MOST_LOGS];
    for (int n = 0; n < 3 && lanes; n++) {
        Search s = {.epoch = e, .lanes = lanes, .seen = seen};
        sim_search_known(&s, all[n], k->block);
        lanes = s.lanes;
    }
    return lanes == 0;
}
