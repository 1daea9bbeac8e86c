// memory_uses.h: races between operations of streams, and between these and the host, in memory that they share.
#ifndef MEMORY_USES_H
#define MEMORY_USES_H

#include "machine/block.h"

// Starts to record the uses of an allocation, if other streams or the host may use it; until it is freed.
void sim_begin_uses(Allocation *a);
void sim_end_uses(Allocation *a);

typedef enum UseKind { READS = 0, WRITES = 1, ATOMICALLY = 2 } UseKind; // bits

// The next three take bytes of an allocation whose uses are recorded, and the threads of a kernel may call them concurrently.
// The current operation uses the bytes.
void sim_note_use(const Allocation *a, uint64_t address, size_t bytes, UseKind how);
// True if such a use conflicts with an earlier operation that may not have ended.
bool sim_use_conflicts(const Allocation *a, uint64_t address, size_t bytes, UseKind how);
void sim_note_conflict(const Allocation *a, uint64_t address, size_t bytes, UseKind how);

// Lanes of a warp access w->last_allocation.
void sim_note_shared_use(Warp *w, const Instr *i, const Access *access, uint32_t mask);

// Sets what the machine needs to skip accesses to bytes whose use is recorded already.
void sim_prepare_use_fast_path(const Launch *launch, const Allocation *a, bool writes, FastPath *fast_path);

// The current operation allocates memory, or frees it, in stream order.
void sim_note_stream_allocation(Allocation *a);
void sim_check_free(const Allocation *a);

// An operation begins; it has ended. The caller holds the lock of calls.h.
void sim_begin_op_uses(void);
void sim_end_op_uses(void);
// The host has waited for operations.
void sim_drop_ended_uses(void);
// The operation that begins may wait for the host: until it ends, the host may access all memory that it shares with the device.
void sim_open_to_host(void);
// The host has faulted at this address. Adds a finding if the access is a mistake; returns whether the host may continue.
bool sim_handle_shared_fault(uint64_t address, bool writes, const void *instruction);

#endif
