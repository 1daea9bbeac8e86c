// memory_uses.h: memory that several share: whether operations of streams, and the host, use it in an order.
#ifndef MEMORY_USES_H
#define MEMORY_USES_H

#include "machine/block.h"

// Notes from now on who uses the allocation, until it ends, if it is one of which that is to be known.
void sim_begin_uses(Allocation *a);
void sim_end_uses(Allocation *a);

typedef enum UseKind { READS = 0, WRITES = 1, ATOMICALLY = 2 } UseKind; // bits

// The current operation uses these bytes of an allocation whose uses are noted. A kernel's threads may call these side
// by side.
void sim_note_use(const Allocation *a, uint64_t address, size_t bytes, UseKind how);
// Whether one before it, which may not be over, is in its way.
bool sim_is_in_the_way(const Allocation *a, uint64_t address, size_t bytes, UseKind how);
void sim_note_conflict(const Allocation *a, uint64_t address, size_t bytes, UseKind how);

// Lanes of a warp use memory of the allocation that is near to it.
void sim_note_shared_use(Warp *w, const Instr *i, const Access *access, uint32_t mask);

// What the machine is to know of loads or stores in the allocation, to leave out those whose bytes are noted already.
void sim_expect_uses(const Launch *launch, const Allocation *a, bool writes, FastPath *fast_path);

// The current operation allocates memory, or frees it, in the order of its stream.
void sim_note_made(Allocation *a);
void sim_check_free(const Allocation *a);

// An operation begins; it has ended. The lock of calls.h is held.
void sim_begin_sharing(void);
void sim_end_sharing(void);
// The host has waited for operations.
void sim_review_shared(void);
// What begins now may wait for what the host does meanwhile: until it has ended, the host may touch all that it shares.
void sim_open_to_host(void);
// The host was stopped at this address. Whether it may go on; if it must not, or did wrong, that is a finding.
bool sim_explain_shared(uint64_t address, bool writes, const void *instruction);

#endif
