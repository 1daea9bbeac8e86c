// processes.h: interprocess memory (cudaIpc..., exported pools).
#ifndef PROCESSES_H
#define PROCESSES_H

#include "runtime/api/calls.h"

enum { SIM_NO_POOL = 0 };

// The content of an interprocess handle. It names an open file of a process, which other processes of the user can open.
typedef struct SharedMemory {
    char tag[8]; // "memory" in a valid handle
    int process, file, device;
    int pool; // number of the pool in that process, or SIM_NO_POOL
    size_t bytes;
} SharedMemory;

// Backs the pointer's device memory with a file, and describes it.
cudaError_t sim_share_memory(const void *pointer, int pool, SharedMemory *shared);
// Maps the memory into this process. Messages name the API function `call`.
cudaError_t sim_open_shared_memory(const char *call, const SharedMemory *shared, void **pointer);

#endif
