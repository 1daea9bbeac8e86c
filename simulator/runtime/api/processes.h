// processes.h: memory that several processes of a machine share.
#ifndef PROCESSES_H
#define PROCESSES_H

#include "runtime/api/calls.h"

enum { SIM_NO_POOL = 0 };

// What a handle says of an allocation: it lies in a file that a process has opened, and lets others of the same user open.
typedef struct SharedMemory {
    char what[8]; // "memory"; or nobody has made this handle
    int process, file, device, pool; // the last: that it came from, by its number there, or SIM_NO_POOL
    size_t bytes;
} SharedMemory;

// The device memory that the pointer points into, from now on in a file.
cudaError_t sim_share_memory(const void *pointer, int pool, SharedMemory *shared);
// An allocation of this process that shows the same bytes. `call` is who asks for it.
cudaError_t sim_open_shared_memory(const char *call, const SharedMemory *shared, void **pointer);

#endif
