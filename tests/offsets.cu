// offsets: the program that STEP names, on arrays that begin anywhere and end anywhere, among NaNs.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cuda/atomic>
#include <cuda/ptx>
#include <string>
#include <vector>

#pragma nv_diag_suppress 940 // the program's main is none here, and ends without a return
#pragma GCC diagnostic ignored "-Wreturn-type"
namespace step {
#include STEP
}
using step::check;

enum { MOST = 100003, OFFSETS = 5 };

static step::Data make_data()
{
    step::Data data = {};
    CHECK(cudaMalloc(&data.in, (MOST + OFFSETS + 8) * sizeof(float)));
    CHECK(cudaMalloc(&data.scratch, 2 * step::partial_count(MOST) * sizeof(float)));
    CHECK(cudaMalloc(&data.flush, 4));
    CHECK(cudaEventCreate(&data.start));
    CHECK(cudaEventCreate(&data.stop));
    return data;
}

// Sums n elements from the offset on; all others are NaN.
static void try_one(step::Data data, size_t offset, size_t n)
{
    CHECK(cudaMemset(data.in, 0xff, (MOST + OFFSETS + 8) * sizeof(float)));
    data.in += offset;
    data.n = n;
    data.partials = step::partial_count(n);
    const long long expected = step::fill(data.in, n);
    float sum;
    int launches;
    step::timed_run(data, &sum, &launches);
    if (sum != expected) {
        fprintf(stderr, "FAIL: n = %zu from element %zu on: %.0f, expected %lld\n", n, offset, sum, expected);
        exit(EXIT_FAILURE);
    }
}

int main()
{
    const size_t sizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 31, 33, 4095, 8191, 8192, 8193, 16385, 40000, MOST};
    const step::Data data = make_data();
    for (size_t offset = 0; offset < OFFSETS; offset++)
        for (size_t n : sizes)
            try_one(data, offset, n);
    printf("PASS\n");
}
