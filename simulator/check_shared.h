// check_shared.h: whether the host touches memory that it shares with the device while operations of streams use it.
#ifndef CHECK_SHARED_H
#define CHECK_SHARED_H

#include "sim.h"

// Notes from now on who uses the allocation, of memory that lies at its own address; until it ends.
void sim_begin_uses(Allocation *a);
void sim_end_uses(Allocation *a);

// The current operation uses these bytes of an allocation of this kind. A kernel's threads may call it side by side.
void sim_note_use(const Allocation *a, uint64_t address, size_t bytes, bool writes);
// Whether a kernel may tell the host itself how far it is.
bool sim_tells_the_host(const Program *program);

// An operation begins, which may use all of it; it has ended. The lock of calls.h is held.
void sim_open_shared(void);
void sim_close_shared(void);
// The host has waited for operations.
void sim_review_shared(void);
// The host was stopped at this address. Whether it may go on; if it must not, or did wrong, that is a finding.
bool sim_explain_shared(uint64_t address, bool writes);

#endif
