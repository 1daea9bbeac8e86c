// dynamic_parallelism.h: races between a kernel and the grids that it launches, and between these grids.
//
// A launch tree is a host launch with all grids that it launches, directly or not. One host thread runs it and calls these functions.
#ifndef DYNAMIC_PARALLELISM_H
#define DYNAMIC_PARALLELISM_H

#include "checker/kernel_checks.h"
#include "machine/grid.h"

// The checker's state of a launch tree, by its first kernel; NULL: the kernel launches nothing, or the checker is off.
LaunchTreeUses *sim_start_tree_uses(const Function *kernel);
void sim_end_tree_uses(LaunchTreeUses *uses);
void sim_end_shadow(Allocation *a); // when an allocation is freed
// Lanes access w->last_allocation; a copy or fill accesses memory.
void sim_note_tree_use(Warp *w, const Instr *i, const Access *access, uint32_t mask);
void sim_note_tree_copy(Grid *g, uint64_t address, size_t bytes, bool writes);

#endif
