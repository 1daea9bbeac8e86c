// dynamic_parallelism.h: data races between a kernel and the grids that it launches, and between these grids.
//
// A nested launch is a launch by the host with all grids that its kernel launches, directly or indirectly. One host thread runs it and
// calls these functions.
#ifndef DYNAMIC_PARALLELISM_H
#define DYNAMIC_PARALLELISM_H

#include "checker/kernel_checks.h"
#include "machine/grid.h"

// Creates the checker's state of a nested launch with this root kernel. NULL: the kernel launches nothing, or the checker is off.
NestedLaunchUses *sim_start_nested_uses(const Function *kernel);
void sim_end_nested_uses(NestedLaunchUses *uses);
void sim_end_shadow(Allocation *a); // when an allocation is freed
// Checks lanes' accesses to w->last_allocation; and the access of a copy or fill by the device runtime.
void sim_note_nested_use(Warp *w, const Instr *i, const Access *access, uint32_t mask);
void sim_note_nested_copy(Grid *g, uint64_t address, size_t bytes, bool writes);

#endif
