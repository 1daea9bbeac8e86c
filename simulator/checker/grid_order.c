// grid_order.c: which accesses of a kernel, and of the grids that it launches, happen before which (dynamic parallelism).
//
// Accesses that happen before the launch happen before the child grid. Later accesses of the parent are not ordered with the child. Grids
// of one stream of a parent run in order, each with all of its descendants. Grids of two streams are ordered only by events. Grids of the
// tail stream follow the parent and all its other children. (clocks.c has the clocks of threads, runtime/work/device_streams.c the streams.)
//
// The grids of a launch by the host share the records in shadow lines: their blocks have distinct numbers. Two grids may also synchronise by
// atomic operations and fences; then all accesses of one count as ordered before the other, which misses some races.
#include "checker/block_check.h"
#include "checker/dynamic_parallelism.h"

#include <stdlib.h>

enum { MAX_DEPTH = 8 };

typedef struct AcquiredGrid { // a grid from which another one has acquired by atomic operations
    const Grid *grid;
    struct AcquiredGrid *next;
} AcquiredGrid;

// ---- Bookkeeping

void sim_begin_nested_check(Grid *root, Arena *arena, const Function *kernel)
{
    if (!sim_checker_enabled() || !kernel->program->effects.launches)
        return;
    root->check = sim_allocate(arena, sizeof *root->check);
    root->check->nested = sim_allocate(arena, sizeof *root->check->nested);
}

void sim_end_nested_check(const Grid *root)
{
    if (!root->check)
        return;
    sim_free_arena(&root->check->nested->arena);
    free(root->check->nested->grids);
}

void sim_begin_grid_check(Grid *g, Arena *arena, Warp *w, int lane)
{
    g->check = sim_allocate(arena, sizeof *g->check);
    *g->check = (GridCheck){.nested = g->parent->check->nested, .launch_snapshot = sim_take_snapshot(arena, w, lane)};
}

void sim_end_grid_check(const Grid *g)
{
    if (g->check)
        sim_free_launch_clocks(g->check->clocks);
}

void sim_add_grid(Grid *g, uint64_t blocks)
{
    NestedCheck *nested = g->check->nested;
    if (nested->count == nested->capacity) {
        nested->capacity = nested->capacity ? 2 * nested->capacity : 64;
        nested->grids = realloc(nested->grids, nested->capacity * sizeof *nested->grids);
        if (!nested->grids)
            sim_die("out of memory: grids of a nested launch");
    }
    nested->grids[nested->count++] = g;
    g->check->first_block = nested->block_count;
    nested->block_count += (uint32_t)blocks;
}

void sim_begin_grid_clocks(const Launch *launch, LaunchClocks *clocks)
{
    Grid *g = launch->nested_grid;
    sim_add_grid(g, launch->blocks);
    clocks->first_block = g->check->first_block;
    if (g->check->nested->generation)
        clocks->generation = g->check->nested->generation;
    g->check->nested->generation = clocks->generation;
}

const Grid *sim_grid_of(const NestedCheck *nested, uint32_t block)
{
    size_t low = 0, high = nested->count; // the grid is in [low, high)
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        *(nested->grids[middle]->check->first_block <= block ? &low : &high) = middle;
    }
    return nested->grids[low];
}

// ---- Which grids are ordered

// True if child `one` of a grid has completed, with all of its descendants, when child `two` of the same grid begins.
static bool child_ends_before(const Grid *one, const Grid *two)
{
    if (one->stream == two->stream)
        return one->stream_index < two->stream_index;
    if (one->is_tail || two->is_tail)
        return two->is_tail;
    for (int k = 0; two->dependencies && k < two->dependencies->count; k++)
        if (two->dependencies->prefixes[k].stream == one->stream && one->stream_index < two->dependencies->prefixes[k].count)
            return true;
    return false;
}

LaunchPaths sim_launch_paths(const Grid *one, const Grid *two)
{
    LaunchPaths paths = {one, NULL, NULL};
    for (; paths.ancestor->level > two->level; paths.ancestor = paths.ancestor->parent)
        paths.one = paths.ancestor;
    const Grid *node = two;
    for (; node->level > paths.ancestor->level; node = node->parent)
        paths.two = node;
    for (; node != paths.ancestor; node = node->parent, paths.ancestor = paths.ancestor->parent) {
        paths.one = paths.ancestor;
        paths.two = node;
    }
    return paths;
}

// True if an access of a grid happens before all accesses of the other grid.
static bool is_ordered(const Grid *accessing, const AccessRecord *access, const Grid *grid, int depth)
{
    const LaunchPaths paths = sim_launch_paths(accessing, grid);
    if (!paths.two)
        return true;
    if (paths.one ? child_ends_before(paths.one, paths.two) : paths.two->is_tail || sim_snapshot_covers(paths.two->check->launch_snapshot, access))
        return true;
    for (const Grid *g = grid; g && depth < MAX_DEPTH; g = g->parent)
        for (const AcquiredGrid *acquired = g->check->acquired_grids; acquired; acquired = acquired->next)
            if (acquired->grid == accessing || is_ordered(accessing, access, acquired->grid, depth + 1))
                return true;
    return false;
}

bool sim_grid_ordered(const Grid *grid, const AccessRecord *access)
{
    return is_ordered(sim_grid_of(grid->check->nested, access->block), access, grid, 0);
}

void sim_acquire_from_grid(const Block *b, const AccessRecord *write)
{
    GridCheck *check = b->launch->nested_grid->check;
    const Grid *writer = sim_grid_of(check->nested, write->block);
    bool known = writer == b->launch->nested_grid || !writer->check->has_executed_fence;
    for (const AcquiredGrid *acquired = check->acquired_grids; acquired && !known; acquired = acquired->next)
        known = acquired->grid == writer;
    if (known)
        return;
    AcquiredGrid *acquired = sim_allocate(&check->nested->arena, sizeof *acquired);
    *acquired = (AcquiredGrid){writer, check->acquired_grids};
    check->acquired_grids = acquired;
}
