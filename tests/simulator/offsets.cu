// offsets: the program that STEP_FILE names, on arrays with any offset and size, surrounded by NaNs.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cuda/atomic>
#include <string>
#include <vector>

#pragma nv_diag_suppress 940, 177 // the program's renamed main ends without a return
#pragma GCC diagnostic ignored "-Wreturn-type"
namespace step {
#include STEP_FILE
}
using step::check;

enum { MOST = 100003, OFFSETS = 5, AROUND = 8 };

static step::Data make_data()
{
    step::Data data = {};
    data.flush_blocks = 1;
    CHECK(cudaMalloc(&data.in, (MOST + OFFSETS + AROUND) * sizeof(float)));
    CHECK(cudaMalloc(&data.scratch, 2 * step::partial_count(MOST) * sizeof(float)));
    CHECK(cudaEventCreate(&data.start));
    CHECK(cudaEventCreate(&data.stop));
    return data;
}

// Sums n elements from the offset on; all others are NaN. A wrong sum ends the program.
static void try_one(step::Data *data, long long offset, long long n)
{
    std::vector<float> values(n);
    long long expected = 0; // in sixteenths; adjacent ones differ, and the first hundred are distinct
    for (long long i = 0; i < n; i++) {
        values[i] = (i % 101 + 1) / 16.0f;
        expected += i % 101 + 1;
    }
    CHECK(cudaMemset(data->in, 0xff, (MOST + OFFSETS + AROUND) * sizeof(float)));
    CHECK(cudaMemcpy(data->in + offset, &values[0], n * sizeof(float), cudaMemcpyHostToDevice));
    data->n = n;
    data->partials = step::partial_count(n);
    step::timed_run(data, data->in + offset, expected);
}

int main()
{
    const long long sizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 31, 33, 4095, 8191, 8192, 8193, 16385, 40000, MOST};
    step::Data data = make_data();
    for (long long offset = 0; offset < OFFSETS; offset++)
        for (long long n : sizes)
            try_one(&data, offset, n);
    printf("PASS\n");
}
