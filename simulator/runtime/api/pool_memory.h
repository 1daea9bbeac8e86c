// pool_memory.h: the pools that handles name.
#ifndef POOL_MEMORY_H
#define POOL_MEMORY_H

#include "runtime/api/calls.h"

// Owned by its handle. Guarded by the lock.
typedef struct Pool {
    int device;
    int process, number; // process ID of the creator, and number in that process; together unique on the machine
    int handle_types;    // bit mask of cudaMemAllocationHandleType
    uint32_t accessible_by; // bit mask of devices that may access its memory
    uint64_t used, used_high, reserved_high, release_threshold;
    int reuse[cudaMemPoolReuseAllowInternalDependencies + 1]; // the three reuse settings, indexed by attribute
} Pool;

Pool *sim_pool_of(cudaMemPool_t pool); // NULL: invalid handle

#endif
