// after_abort: step 11, after a launch was aborted when some of its blocks had taken their tickets.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cuda/atomic>
#include <string>
#include <vector>

#pragma nv_diag_suppress 940 // the renamed main of the step ends without a return
#pragma GCC diagnostic ignored "-Wreturn-type"
namespace step {
#include "../../step11_singlepass/reduce.cu"
}
using step::check;

enum { ELEMENTS = 1 << 20, TOO_MANY = 1 << 22 };

// Sums a new array of ELEMENTS ones.
static float sum_of_ones()
{
    const std::vector<float> ones(ELEMENTS, 1.0f);
    float *in, *out, sum;
    CHECK(cudaMalloc(&in, ELEMENTS * sizeof(float)));
    CHECK(cudaMalloc(&out, sizeof(float)));
    CHECK(cudaMemcpy(in, ones.data(), ELEMENTS * sizeof(float), cudaMemcpyHostToDevice));
    step::launch(in, out, ELEMENTS);
    CHECK(cudaMemcpy(&sum, out, sizeof sum, cudaMemcpyDeviceToHost));
    return sum;
}

int main()
{
    float *in, *out;
    if (sum_of_ones() != ELEMENTS || sum_of_ones() != ELEMENTS) {
        fprintf(stderr, "FAIL: wrong before anything was aborted\n");
        return EXIT_FAILURE;
    }
    CHECK(cudaMalloc(&in, ELEMENTS * sizeof(float)));
    CHECK(cudaMalloc(&out, sizeof(float)));
    step::reduce<step::BLOCK_SIZE><<<step::block_count(TOO_MANY), step::BLOCK_SIZE>>>(in, out, TOO_MANY, 0);
    if (cudaDeviceSynchronize() == cudaSuccess) {
        printf("SKIP: reading past the end of the array was no error here\n");
        return 0;
    }
    // The context is lost; if no new one can be created, the process has to exit.
    if (cudaDeviceReset() != cudaSuccess || cudaMalloc(&in, 1) != cudaSuccess) {
        printf("PASS: only a new process can go on\n");
        return 0;
    }
    const float sum = sum_of_ones();
    if (sum != ELEMENTS) {
        fprintf(stderr, "FAIL: after an aborted launch the sum is %.0f, expected %d\n", sum, ELEMENTS);
        return EXIT_FAILURE;
    }
    printf("PASS\n");
    return 0;
}
