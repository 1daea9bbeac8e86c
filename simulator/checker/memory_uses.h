// memory_uses.h: data races between operations of streams, and between these and the host.
#ifndef MEMORY_USES_H
#define MEMORY_USES_H

#include "checker/findings.h"
#include "machine/block.h"

// Starts recording the uses of an allocation, if several streams or the host may use it. Recording ends when it is freed.
void sim_begin_uses(Allocation *a);
void sim_end_uses(Allocation *a);

typedef enum UseKind { // bits; the last two are of programmatic dependent launch (dependent_launches.h)
    USE_READS = 0,
    USE_WRITES = 1,
    USE_ATOMIC = 2,
    USE_EARLY = 4, // before the thread has waited for the previous kernel
    USE_LATE = 8   // after the warp has let dependent kernels begin
} UseKind;

// The next three require an allocation with records_uses. The threads of a kernel may call them concurrently.
// Records that the current operation uses the bytes.
void sim_note_use(const Allocation *a, uint64_t address, size_t bytes, UseKind kind);
// True if a use by the current operation conflicts with an earlier operation that may not have completed.
bool sim_use_conflicts(const Allocation *a, uint64_t address, size_t bytes, UseKind kind);
// `access`: the location of an access by a thread, or NULL.
void sim_note_conflict(const Allocation *a, uint64_t address, size_t bytes, UseKind kind, const FindingLocation *access);

// Lanes of a warp access w->last_allocation.
void sim_note_shared_use(Warp *w, const Instr *i, const Access *access, uint32_t mask);

// Prepares the machine's fast path, which skips accesses to bytes whose use is already recorded.
void sim_prepare_use_fast_path(const Launch *launch, const Allocation *a, bool writes, FastPath *fast_path);

// The current operation allocates, or frees, memory in stream order.
void sim_note_stream_allocation(Allocation *a);
void sim_check_free(const Allocation *a);
void sim_note_node_free(Allocation *a); // a memory-free node of a graph has freed it; the allocation itself remains

// Called when an operation begins, and when it has completed. The caller holds the lock of calls.h.
void sim_begin_op_uses(void);
void sim_end_op_uses(void);
// Called after the host has waited for operations.
void sim_drop_ended_uses(void);
// The operation that begins may wait for the host. Therefore the host may access all memory that it shares with the device until the
// operation ends.
void sim_unprotect_shared_memory(void);
// Handles a fault of the host at this address: reports the access if it races. Returns whether the host may continue.
bool sim_handle_shared_fault(uint64_t address, bool writes, const void *instruction);

#endif
