// against_cub: the last steps and CUB in one process, run by run in turns, over many sizes: one CSV row
// for each size and state of the L2 cache. They are timed by their own harness, timed_run().
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cub/cub.cuh>
#include <cuda/atomic>
#include <cuda/ptx>
#include <functional>
#include <string>
#include <vector>

// Each program in a namespace of its own; what they include is there already. Their main functions
// end without a return, as only a real one may.
#pragma nv_diag_suppress 940
#pragma GCC diagnostic ignored "-Wreturn-type"
namespace cub_sum {
#include "../reference_cub/reduce.cu"
}
namespace step10 {
#include "../step10_vectorload/reduce.cu"
}
namespace step11 {
#include "../step11_singlepass/reduce.cu"
}
namespace step12 {
#include "../step12_bulkcopy/reduce.cu"
}

using cub_sum::check;
enum { RUNS = 101 };

// Milliseconds of one whole reduction; ends the program where the sum is wrong.
template <class Data>
static float run(float (*timed_run)(const Data &, float *, int *), const cub_sum::Data &like, size_t partials, long long expected)
{
    const Data data = {like.n, partials, like.flush_bytes, like.in, like.scratch, like.flush, like.start, like.stop};
    float sum;
    int launches;
    const float ms = timed_run(data, &sum, &launches);
    if (sum != expected) {
        fprintf(stderr, "against_cub: n = %zu: the sum is %.0f, expected %lld\n", like.n, sum, expected);
        exit(EXIT_FAILURE);
    }
    return ms;
}

static float median(std::vector<float> ms)
{
    std::sort(ms.begin(), ms.end());
    return ms[ms.size() / 2];
}

static void compare(const cub_sum::Data &data, const char *cache, long long expected)
{
    std::vector<float> ms[4];
    for (int round = 0; round <= RUNS; round++) {
        const float now[] = {run(cub_sum::timed_run, data, 1, expected),
                             run(step10::timed_run, data, step10::partial_count(data.n), expected),
                             run(step11::timed_run, data, 1, expected), run(step12::timed_run, data, 1, expected)};
        for (int k = 0; k < 4 && round > 0; k++) // the first round warms up
            ms[k].push_back(now[k]);
    }
    printf("%zu,%s", data.n, cache);
    for (const auto &one : ms)
        printf(",%.6f", median(one));
    printf("\n");
    fflush(stdout);
}

int main()
{
    // Powers of four, and between them sizes that are multiples of nothing; from the largest, because CUB
    // asks for its memory once.
    std::vector<size_t> sizes;
    for (int exponent = 30; exponent >= 10; exponent -= 2) {
        sizes.push_back((size_t)1 << exponent);
        if (exponent > 10)
            sizes.push_back(((size_t)1 << (exponent - 1)) + (exponent % 4 ? 1 : -1));
    }
    cudaDeviceProp device;
    CHECK(cudaGetDeviceProperties(&device, 0));
    const size_t flush_bytes = 2 * (size_t)device.l2CacheSize;
    cub_sum::Data data = {};
    CHECK(cudaMalloc(&data.in, sizes.front() * sizeof(float)));
    CHECK(cudaMalloc(&data.scratch, 2 * step10::partial_count(sizes.front()) * sizeof(float)));
    CHECK(cudaMalloc(&data.flush, flush_bytes));
    CHECK(cudaEventCreate(&data.start));
    CHECK(cudaEventCreate(&data.stop));

    printf("elements,cache,cub_ms,step10_ms,step11_ms,step12_ms\n");
    for (size_t n : sizes) {
        data.n = n;
        const long long expected = cub_sum::fill(data.in, n);
        for (const size_t flushed : {flush_bytes, (size_t)0}) {
            data.flush_bytes = flushed;
            compare(data, flushed ? "cold" : "warm", expected);
        }
    }
}
