// dynamic_parallelism.h: races between a kernel and those that it launches, and between these.
//
// One thread of the host runs all of a family, and calls these.
#ifndef DYNAMIC_PARALLELISM_H
#define DYNAMIC_PARALLELISM_H

#include "checker/kernel_checks.h"
#include "machine/grid.h"

// What is kept of a family whose first kernel is this; NULL: it launches nothing, or nothing is checked.
FamilyUses *sim_start_family_uses(const Function *kernel);
void sim_end_family_uses(FamilyUses *uses);
void sim_end_shadow(Allocation *a); // of an allocation that ends
// A warp's lanes use memory of the allocation that is near to it; a copy or fill does.
void sim_note_family_use(Warp *w, const Instr *i, const Access *access, uint32_t mask);
void sim_note_family_copy(Grid *g, uint64_t address, size_t bytes, bool writes);

#endif
