// methods: one kernel, the last step of the reduction, timed by the methods of this course and of other tools, with
// interleaved runs: one CSV row for each method and size. The methods differ in the state of the L2 cache before the kernel.
#include <algorithm>
#include <cooperative_groups.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda/atomic>
#include <cuda/ptx>
#include <functional>
#include <string>
#include <vector>

#include "interleaved.h"

// The program has its own namespace; the headers it includes are already included above. The warnings that are off: a main
// in a namespace lacks a return statement, and parts of the harness are unused.
#pragma nv_diag_suppress 940, 177
#pragma GCC diagnostic ignored "-Wreturn-type"
#pragma GCC diagnostic ignored "-Wunused-function"
namespace last_step {
#include LAST_STEP // a file: mk/measure.mk

enum { RUNS = 100, BACK_TO_BACK = 100 };
const size_t DO_BENCH_BYTES = 256 << 20; // Triton's do_bench writes this many on every GPU

// Microseconds per launch, of `count` launches between two events.
static float timed_us(const Data &d, int count)
{
    CHECK(cudaEventRecord(d.start));
    for (int k = 0; k < count; k++)
        launch(d.in, d.scratch, d.n);
    CHECK(cudaEventRecord(d.stop));
    CHECK(cudaEventSynchronize(d.stop));
    float sum, ms;
    CHECK(cudaMemcpy(&sum, d.scratch, sizeof sum, cudaMemcpyDefault));
    CHECK(cudaEventElapsedTime(&ms, d.start, d.stop));
    if (16.0 * sum != (double)sum_between(d, 0, d.n)) {
        fprintf(stderr, "methods: wrong sum\n");
        exit(EXIT_FAILURE);
    }
    return 1e3f * ms / count;
}

// The harness's kernel: reads `vectors` vectors; if `waits`, it lasts the harness's tenth of a millisecond.
static void read_buffer(const Data &d, long long vectors, bool waits)
{
    prepare<<<d.flush_blocks, 1024>>>(d.flush, vectors, waits ? d.busy_cycles : 0, d.scratch);
    CHECK(cudaGetLastError());
}

static void compare(const Data &d, size_t l2_bytes)
{
    struct {
        const char *name;
        int launches; // between the two events
        std::function<void()> before;
        std::vector<float> us;
    } methods[] = {
        // the harness's method
        {"read", 1, [&] { read_buffer(d, d.flush_count, true); }, {}},
        {"read_no_wait", 1, [&] { read_buffer(d, d.flush_count, false); }, {}},
        // A kernel hides the host's launch time; then a write of the L2 cache's size flushes the cache.
        {"nvbench", 1,
         [&] {
             read_buffer(d, 0, true);
             CHECK(cudaMemsetAsync(d.flush, 0, l2_bytes));
         },
         {}},
        {"do_bench", 1, [&] { CHECK(cudaMemsetAsync(d.flush, 0, DO_BENCH_BYTES)); }, {}},
        {"back_to_back", BACK_TO_BACK, [] {}, {}},
    };
    for (int run = 0; run <= RUNS; run++)
        for (auto &method : methods) {
            if (method.launches > 1 && run > RUNS / 10)
                continue; // each of these runs is already a mean
            method.before();
            const float us = timed_us(d, method.launches);
            if (run > 0) // the first warms up
                method.us.push_back(us);
        }
    for (const auto &method : methods)
        printf("%s,%lld,%.3f\n", method.name, d.n, interquartile_mean(method.us));
    fflush(stdout);
}

static void measure(const std::vector<long long> &sizes)
{
    cudaDeviceProp device;
    int clock_khz;
    CHECK(cudaGetDeviceProperties(&device, 0));
    CHECK(cudaDeviceGetAttribute(&clock_khz, cudaDevAttrClockRate, 0));
    const size_t flush_bytes = std::max(2 * (size_t)device.l2CacheSize, DO_BENCH_BYTES);
    Data d = {};
    d.n = *std::max_element(sizes.begin(), sizes.end());
    d.flush_count = 2 * (size_t)device.l2CacheSize / sizeof(float4);
    d.flush_blocks = 2 * device.multiProcessorCount;
    d.busy_cycles = clock_khz / 10; // a tenth of a millisecond
    CHECK(cudaMalloc(&d.in, (d.n + shift_of(d.n) + 1) * sizeof(float)));
    CHECK(cudaMalloc(&d.scratch, 2 * sizeof(float)));
    CHECK(cudaMalloc(&d.flush, flush_bytes));
    CHECK(cudaMemset(d.flush, 0, flush_bytes));
    CHECK(cudaEventCreate(&d.start));
    CHECK(cudaEventCreate(&d.stop));
    fill(&d);
    printf("method,elements,us\n");
    for (long long n : sizes) {
        d.n = n;
        compare(d, device.l2CacheSize);
    }
}
} // namespace last_step

int main(int argc, char **argv)
{
    last_step::measure(sizes_from_arguments(argc, argv, {1 << 20, 1 << 24, 1 << 26, 1 << 30}));
}
