// begins [ELEMENTS...]: what it costs where an array begins: CUB, the last two steps and those of the last one's Tries
// that their page marks with beside_cub=NAME, each at each place, in one process, run by run in turns. They are timed
// by their own harness, timed_run(). One CSV row for each program and place, in bytes behind an address that
// cudaMalloc gives. mk/measure.mk lists the programs.
#include <algorithm>
#include <cooperative_groups.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cub/cub.cuh>
#include <cuda/atomic>
#include <cuda/ptx>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "in_turns.h"

// Each program in a namespace of its own; what they include is there already. Their main functions
// end without a return, as only a real one may, and not all of a harness is used.
#pragma nv_diag_suppress 940, 177
#pragma GCC diagnostic ignored "-Wreturn-type"
#pragma GCC diagnostic ignored "-Wunused-function"
namespace cub_sum {
#include "../../reference_cub/reduce.cu"
#include "beside.h"
}

struct Program {
    const char *name;
    std::function<float()> (*beside)(const cub_sum::Data &data, long long expected);
};

#include "../../build/begins_programs.h" // PROGRAMS

enum { RUNS = 40 };
const long long PLACES[] = {0, 32, 64, 128, 1024, 2048, 4096, 16384, 1 << 16, 1 << 19}; // elements

struct Timed {
    const char *name;
    long long place;
    std::function<float()> run;
    std::vector<float> ms;
};

static void compare(const cub_sum::Data &data)
{
    std::vector<Timed> all;
    for (long long place : PLACES) {
        cub_sum::Data there = data;
        there.in += place;
        const long long expected = cub_sum::sum_between(data, place, place + data.n);
        for (const Program &program : PROGRAMS)
            all.push_back({program.name, place, program.beside(there, expected), {}});
    }
    for (int round = 0; round <= RUNS; round++)
        for (Timed &one : all) {
            const float ms = one.run();
            if (round > 0) // the first warms up
                one.ms.push_back(ms);
        }
    for (const Timed &one : all)
        printf("%s,%lld,%lld,%.3f\n", one.name, data.n, one.place * (long long)sizeof(float), 1e3 * middle_mean(one.ms));
    fflush(stdout);
}

int main(int argc, char **argv)
{
    using cub_sum::check;
    const std::vector<long long> sizes = asked_sizes(argc, argv, {1 << 30});
    cudaDeviceProp device;
    int clock_khz;
    CHECK(cudaGetDeviceProperties(&device, 0));
    CHECK(cudaDeviceGetAttribute(&clock_khz, cudaDevAttrClockRate, 0));
    const size_t flush_bytes = 2 * (size_t)device.l2CacheSize;
    cub_sum::Data data = {};
    data.n = *std::max_element(sizes.begin(), sizes.end()) + *std::max_element(std::begin(PLACES), std::end(PLACES));
    data.partials = 1;
    data.flush_count = flush_bytes / sizeof(float4);
    data.flush_blocks = 2 * device.multiProcessorCount;
    data.busy_cycles = clock_khz / 10;
    CHECK(cudaMalloc(&data.in, (data.n + cub_sum::shift_of(data.n) + 1) * sizeof(float)));
    CHECK(cudaMalloc(&data.scratch, 2 * sizeof(float)));
    CHECK(cudaMalloc(&data.flush, flush_bytes));
    CHECK(cudaMemset(data.flush, 0, flush_bytes));
    CHECK(cudaEventCreate(&data.start));
    CHECK(cudaEventCreate(&data.stop));
    cub_sum::fill(&data);
    printf("step,elements,offset_bytes,us\n");
    for (long long n : sizes) {
        data.n = n;
        compare(data);
    }
}
