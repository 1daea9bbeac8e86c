// dynamic_parallelism.h: data races between a kernel and the grids that it launches, and between these grids.
//
// A nested launch is a launch by the host with all grids that its kernel launches, directly or indirectly. One host thread runs it and
// calls these functions.
#ifndef DYNAMIC_PARALLELISM_H
#define DYNAMIC_PARALLELISM_H

#include "checker/kernel_checks.h"
#include "machine/grid.h"

typedef struct NestedCheck { // of a launch by the host and all grids that its kernels launch
    uint32_t generation;  // LaunchClocks.generation of all of its grids; 0: none has begun
    uint32_t block_count; // of all grids that have begun
    const Grid **grids;   // those that have begun, by first_block
    size_t count, capacity;
    Arena arena;
} NestedCheck;

typedef struct GridCheck { // Grid.check, in the arena of the nested launch
    NestedCheck *nested;                  // of the nested launch
    uint32_t first_block;                 // LaunchClocks.first_block; of a copy or fill, its only block
    const ClockSnapshot *launch_snapshot; // the launching thread's clock; NULL: launched by the host
    LaunchClocks *clocks;                 // hold the launch_snapshots of the children; NULL unless there are any
    struct AcquiredGrid *acquired_grids;
    bool has_executed_fence; // of device scope
} GridCheck;

// Sets `check` of the root grid of a nested launch, unless its kernel launches nothing or the checker is off.
void sim_begin_nested_check(Grid *root, Arena *arena, const Function *kernel);
void sim_end_nested_check(const Grid *root); // after all grids have ended
// The same for a child of a checked grid, which a lane launches.
void sim_begin_grid_check(Grid *g, Arena *arena, Warp *w, int lane);
void sim_end_grid_check(const Grid *g); // after its children have ended
// A kernel begins: sets the generation and the first block of its clocks.
void sim_begin_grid_clocks(const Launch *launch, LaunchClocks *clocks);
// True if an access of another grid of the nested launch happens before all accesses of this grid.
bool sim_grid_ordered(const Grid *grid, const AccessRecord *access);
// The block has read, by a strong access, a strong write: its grid acquires from that of the write, if that one has fences.
void sim_acquire_from_grid(const Block *b, const AccessRecord *write);
typedef struct LaunchPaths { // the launch paths from the lowest common ancestor of two grids to the grids
    const Grid *ancestor;
    const Grid *one, *two; // the child of the ancestor on the path to each grid; NULL: the grid is the ancestor itself
} LaunchPaths;

LaunchPaths sim_launch_paths(const Grid *one, const Grid *two);
const Grid *sim_grid_of(const NestedCheck *nested, uint32_t block); // that has the block with this AccessRecord.block
void sim_add_grid(Grid *g, uint64_t blocks); // numbers the blocks of a grid that begins

// ---- dynamic_parallelism.c

// Checks the access of a copy or fill by the device runtime.
void sim_note_nested_copy(Grid *g, uint64_t address, size_t bytes, bool writes);

#endif
