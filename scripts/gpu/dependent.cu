// dependent: how soon a kernel starts after the previous one, launched with and without the attribute of programmatic
// dependent launch, with and without a CUDA event between the two: one CSV row for each, medians of RUNS runs.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "cub_version.h"

enum { RUNS = 101 };

// Nanoseconds of the GPU's clock.
struct Times {
    unsigned long long previous_end; // when the last block of the previous kernel ended
    unsigned long long start;        // when the first block of the next kernel started
    unsigned long long ready;        // when cudaGridDependencySynchronize() returned there
};
__device__ Times times;

#define CHECK(call) check(call, #call)
static void check(cudaError_t error, const char *call)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "dependent: %s: %s\n", call, cudaGetErrorString(error));
    exit(error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver ? 77 : EXIT_FAILURE);
}

__device__ unsigned long long now()
{
    unsigned long long ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return ns;
}

// Runs for at least `cycles`, so that the host has queued the next kernel before this one ends.
__global__ void previous(long long cycles)
{
    const long long start = clock64();
    while (clock64() - start < cycles)
        continue;
    if (threadIdx.x == 0)
        atomicMax(&times.previous_end, now());
}

__global__ void next()
{
    times.start = now();
#if __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
#endif
    times.ready = now();
}

static void launch_next(bool dependent)
{
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    const cudaLaunchConfig_t config = {1, 1, 0, 0, &attribute, dependent ? 1u : 0u};
    CHECK(cudaLaunchKernelEx(&config, next));
}

// The times of one run, with or without an event between the kernels.
static Times measure(bool dependent, cudaEvent_t between)
{
    Times measured = {};
    CHECK(cudaMemcpyToSymbol(times, &measured, sizeof measured));
    previous<<<264, 128>>>(200000);
    if (between)
        CHECK(cudaEventRecord(between));
    launch_next(dependent);
    CHECK(cudaMemcpyFromSymbol(&measured, times, sizeof measured));
    return measured;
}

static long long median(std::vector<long long> ns)
{
    std::sort(ns.begin(), ns.end());
    return ns[ns.size() / 2];
}

int main()
{
    cudaEvent_t event;
    CHECK(cudaEventCreate(&event));
    printf("event_between,attribute,start_ns,ready_ns,date\n");
    for (const bool between : {false, true})
        for (const bool dependent : {false, true}) {
            std::vector<long long> start, ready;
            for (int run = 0; run < RUNS; run++) {
                const Times found = measure(dependent, between ? event : nullptr);
                start.push_back((long long)(found.start - found.previous_end));
                ready.push_back((long long)(found.ready - found.previous_end));
            }
            printf("%d,%d,%lld,%lld,%s\n", between, dependent, median(start), median(ready), today().c_str());
        }
}
