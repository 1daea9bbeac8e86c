// after_abort_scan: step 10 of the prefix sum, after a launch was aborted when its blocks had drawn tiles.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda/atomic>
#include <cuda/ptx>
#include <string>
#include <vector>

#pragma nv_diag_suppress 940 // the renamed main of the step ends without a return
#pragma GCC diagnostic ignored "-Wreturn-type"
namespace step {
#include "../../scan/step10_specialised/scan.cu"
}
using step::check;

enum { ELEMENTS = 300003, TOO_MANY = 1 << 22 };

static float *allocate(long long count)
{
    float *memory;
    CHECK(cudaMalloc(&memory, count * sizeof(float)));
    return memory;
}

// True if the scan of a new array of ELEMENTS ones is correct.
static bool scans_ones()
{
    std::vector<float> ones(ELEMENTS, 1.0f), sums(ELEMENTS);
    float *in = allocate(ELEMENTS), *out = allocate(ELEMENTS);
    float *scratch = allocate(step::scratch_count(ELEMENTS));
    CHECK(cudaMemcpy(in, ones.data(), ELEMENTS * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(scratch, 0, step::scratch_count(ELEMENTS) * sizeof(float)));
    step::launch(in, out, ELEMENTS, false, scratch);
    CHECK(cudaMemcpy(sums.data(), out, ELEMENTS * sizeof(float), cudaMemcpyDeviceToHost));
    for (int i = 0; i < ELEMENTS; i++)
        if (sums[i] != i + 1)
            return false;
    return true;
}

int main()
{
    if (!scans_ones() || !scans_ones()) {
        fprintf(stderr, "FAIL: wrong before anything was aborted\n");
        return EXIT_FAILURE;
    }
    const long long blocks = step::resident_blocks(step::scan_tiles, step::THREADS, sizeof(step::Pipeline));
    float *in = allocate(ELEMENTS), *out = allocate(ELEMENTS), *scratch = allocate(step::scratch_count(TOO_MANY));
    step::scan_tiles<<<blocks, step::THREADS, sizeof(step::Pipeline)>>>(in, out, TOO_MANY, false, (step::Status *)scratch, 77);
    if (cudaDeviceSynchronize() == cudaSuccess) {
        printf("SKIP: reading past the end of the array was no error here\n");
        return 0;
    }
    // The context is lost; if no new one can be created, the process has to exit.
    void *probe;
    if (cudaDeviceReset() != cudaSuccess || cudaMalloc(&probe, 1) != cudaSuccess) {
        printf("PASS: only a new process can go on\n");
        return 0;
    }
    step::resident_blocks(step::scan_tiles, step::THREADS, sizeof(step::Pipeline)); // sets the kernel's shared memory limit, which the reset has cleared
    if (!scans_ones()) {
        fprintf(stderr, "FAIL: wrong after an aborted launch\n");
        return EXIT_FAILURE;
    }
    printf("PASS\n");
    return 0;
}
