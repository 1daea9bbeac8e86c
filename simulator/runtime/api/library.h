// library.h: interface for the libraries that replace NVIDIA's (simulator/libraries/). Each of their calls is one operation of a stream.
#ifndef LIBRARY_H
#define LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

#include <cuda_runtime_api.h>

typedef struct UsedMemory { // memory that a call accesses: `count` rows of `bytes` bytes, at multiples of `pitch`
    const void *pointer;
    size_t bytes, pitch, count;
    bool reads, writes;
} UsedMemory;

enum { SIM_MAX_USED = 6 };
typedef struct LibraryCall {
    const char *name;
    const void *call_site; // the call's return address
    cudaStream_t stream;
    UsedMemory used[SIM_MAX_USED];
    int used_count;
    bool is_blocking; // the host waits for the end of the call
    void (*work)(const void *data);
    const void *data; // copied if the stream is capturing
    size_t data_bytes;
} LibraryCall;

// Checks the memory, executes `work` and reports the accesses to the checker; if the stream is capturing, captures the call.
cudaError_t sim_call_library(const LibraryCall *call);
// Adds a finding for an invalid handle; `expected` describes a valid one.
void sim_report_invalid_handle(const char *call, const char *expected);
// Translates a pointer of the program to a host address, for use by `work`.
void *sim_memory_at(const void *pointer);

#endif
