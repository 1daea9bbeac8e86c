// begins [ELEMENTS...]: the cost of the array's start address for CUB, the last two steps and the last step's Tries marked
// with beside_cub=NAME, in one process, with interleaved runs. Their own harness times them, timed_run(). One CSV row for
// each program and offset in bytes from an address that cudaMalloc returned. mk/measure.mk lists the programs.
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

#include "cub_version.h"
#include "interleaved.h"

// Each program has its own namespace; the headers it includes are already included above. The warnings that are off: a main
// in a namespace lacks a return statement, and parts of a harness are unused.
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
const long long OFFSETS[] = {0, 32, 64, 128, 1024, 2048, 4096, 16384, 1 << 16, 1 << 19}; // elements

struct Timed {
    const char *name;
    long long offset; // elements
    std::function<float()> run;
    std::vector<float> ms;
};

static void compare(const cub_sum::Data &data)
{
    std::vector<Timed> all;
    for (long long offset : OFFSETS) {
        cub_sum::Data moved = data;
        moved.in += offset;
        const long long expected = cub_sum::sum_between(data, offset, offset + data.n);
        for (const Program &program : PROGRAMS)
            all.push_back({program.name, offset, program.beside(moved, expected), {}});
    }
    for (int round = 0; round <= RUNS; round++)
        for (Timed &one : all) {
            const float ms = one.run();
            if (round > 0) // the first warms up
                one.ms.push_back(ms);
        }
    for (const Timed &one : all)
        printf("%s,%lld,%lld,%.3f,%s,%s\n", one.name, data.n, one.offset * (long long)sizeof(float), 1e3 * interquartile_mean(one.ms), cub_version().c_str(),
               today().c_str());
    fflush(stdout);
}

int main(int argc, char **argv)
{
    using cub_sum::check;
    const std::vector<long long> sizes = sizes_from_arguments(argc, argv, {1 << 30});
    cudaDeviceProp device;
    int clock_khz;
    CHECK(cudaGetDeviceProperties(&device, 0));
    CHECK(cudaDeviceGetAttribute(&clock_khz, cudaDevAttrClockRate, 0));
    const size_t flush_bytes = 2 * (size_t)device.l2CacheSize;
    cub_sum::Data data = {};
    data.n = *std::max_element(sizes.begin(), sizes.end()) + *std::max_element(std::begin(OFFSETS), std::end(OFFSETS));
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
    printf("step,elements,offset_bytes,us,cub_version,date\n");
    for (long long n : sizes) {
        data.n = n;
        compare(data);
    }
}
