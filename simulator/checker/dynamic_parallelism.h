// dynamic_parallelism.h: data races between a kernel and the grids that it launches, and between these grids.
//
// A nested launch is a launch by the host with all grids that its kernel launches, directly or indirectly. One host thread runs it and
// calls these functions.
#ifndef DYNAMIC_PARALLELISM_H
#define DYNAMIC_PARALLELISM_H

#include "checker/kernel_checks.h"
#include "machine/grid.h"

typedef struct NestedLaunchUses NestedLaunchUses;

typedef struct GridCheck { // Grid.check, in the arena of the nested launch
    NestedLaunchUses *uses;               // of the nested launch
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
void sim_end_shadow(Allocation *a); // when an allocation is freed
// Checks lanes' accesses to w->last_allocation; and the access of a copy or fill by the device runtime.
void sim_note_nested_use(Warp *w, const Instr *i, const Access *access, uint32_t mask);
void sim_note_nested_copy(Grid *g, uint64_t address, size_t bytes, bool writes);

#endif
