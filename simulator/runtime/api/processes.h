// processes.h: interprocess memory (cudaIpc..., exported pools).
#ifndef PROCESSES_H
#define PROCESSES_H

#include "runtime/api/calls.h"

enum { SIM_NO_POOL = 0 };

// The content of an interprocess handle. It names an open file of a process, which other processes of the user can open.
typedef struct IpcMemory {
    char tag[8]; // "memory" in a valid handle
    int process, file, device;
    int pool; // number of the pool in that process, or SIM_NO_POOL
    size_t bytes;
} IpcMemory;

// Backs the pointer's device memory with a file, and describes it.
cudaError_t sim_export_memory(const void *pointer, int pool, IpcMemory *memory);
// Maps the memory into this process. Messages name the API function `call`.
cudaError_t sim_import_memory(const char *call, const IpcMemory *memory, void **pointer);

#endif
