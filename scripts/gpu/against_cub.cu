// against_cub [ELEMENTS...]: the steps from 11 on, their Tries marked with beside_cub=NAME, and CUB in one process, with
// interleaved runs: one CSV row for each size and state of the L2 cache. Their own harness times them, timed_run().
// mk/measure.mk lists the programs.
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
    const char *name; // of its CSV column
    std::function<float()> (*beside)(const cub_sum::Data &data, long long expected);
};

#include "../../build/against_cub_programs.h" // PROGRAMS, CUB first

enum { RUNS = 400 };

static void compare(const cub_sum::Data &data, const char *cache)
{
    const long long expected = cub_sum::sum_between(data, 0, data.n);
    std::vector<std::function<float()>> timed;
    for (const Program &program : PROGRAMS)
        timed.push_back(program.beside(data, expected));
    std::vector<std::vector<float>> ms(timed.size());
    for (int round = -1; round < RUNS; round++) // the first round warms up
        for (size_t k = 0; k < timed.size(); k++) {
            const size_t program = (round + 1 + k) % timed.size(); // another program goes first in each round
            const float now = timed[program]();
            if (round >= 0)
                ms[program].push_back(now);
        }
    printf("%lld,%s", data.n, cache);
    for (const std::vector<float> &one : ms)
        printf(",%.6f", interquartile_mean(one));
    printf(",%s,%s\n", cub_version().c_str(), today().c_str());
    fflush(stdout);
}

// Powers of four, and odd sizes between them; largest first, because CUB allocates its memory once.
static std::vector<long long> default_sizes()
{
    std::vector<long long> sizes;
    for (int exponent = 30; exponent >= 10; exponent -= 2) {
        sizes.push_back(1ll << exponent);
        if (exponent > 10)
            sizes.push_back((1ll << (exponent - 1)) + (exponent % 4 ? 1 : -1));
    }
    return sizes;
}

int main(int argc, char **argv)
{
    using cub_sum::check;
    std::vector<long long> sizes = sizes_from_arguments(argc, argv, default_sizes());
    std::sort(sizes.rbegin(), sizes.rend());
    cudaDeviceProp device;
    int clock_khz;
    CHECK(cudaGetDeviceProperties(&device, 0));
    CHECK(cudaDeviceGetAttribute(&clock_khz, cudaDevAttrClockRate, 0));
    const size_t flush_bytes = 2 * (size_t)device.l2CacheSize;
    cub_sum::Data data = {};
    data.n = sizes.front();
    data.partials = 1;
    data.flush_blocks = 2 * device.multiProcessorCount;
    data.busy_cycles = clock_khz / 10;
    CHECK(cudaMalloc(&data.in, (data.n + cub_sum::shift_of(data.n) + 1) * sizeof(float)));
    CHECK(cudaMalloc(&data.scratch, 2 * sizeof(float)));
    CHECK(cudaMalloc(&data.flush, flush_bytes));
    CHECK(cudaMemset(data.flush, 0, flush_bytes));
    CHECK(cudaEventCreate(&data.start));
    CHECK(cudaEventCreate(&data.stop));
    cub_sum::fill(&data);

    printf("elements,cache");
    for (const Program &program : PROGRAMS)
        printf(",%s_ms", program.name);
    printf(",cub_version,date\n");
    for (long long n : sizes) {
        data.n = n;
        for (const bool cold : {true, false}) {
            data.flush_count = cold ? flush_bytes / sizeof(float4) : 0;
            compare(data, cold ? "cold" : "warm");
        }
    }
}
