// library.h: for libraries that stand in for NVIDIA's (libraries/): a call of theirs is one operation of a stream.
#ifndef LIBRARY_H
#define LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

#include <cuda_runtime_api.h>

typedef struct UsedMemory { // memory that a call uses: so many pieces of so many bytes, which begin `pitch` bytes apart
    const void *pointer;
    size_t bytes, pitch, count;
    bool reads, writes;
} UsedMemory;

enum { SIM_MAX_USED = 6 };
typedef struct LibraryCall {
    const char *name;
    const void *from; // where the host goes on when the call has come back
    cudaStream_t stream;
    UsedMemory used[SIM_MAX_USED];
    int used_count;
    bool host_waits; // for its result
    void (*work)(const void *data);
    const void *data; // is copied
    size_t data_bytes;
} LibraryCall;

// Looks at the memory as at a copy's, does the work, and notes what it has used; in a captured stream later.
cudaError_t sim_call_library(const LibraryCall *call);
// The host gives a call a handle that is none; `wanted`: what it should be.
void sim_report_wrong_handle(const char *call, const char *wanted);
// Where what has this address lies in the process, for the work.
void *sim_memory_at(const void *pointer);

#endif
