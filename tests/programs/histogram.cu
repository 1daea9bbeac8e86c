// A histogram: atomic additions in shared memory, then in global memory.
#include "check.h"

const int BINS = 64;

__global__ void histogram(const unsigned char *in, int *bins, int n)
{
    __shared__ int own[BINS];
    for (int i = threadIdx.x; i < BINS; i += blockDim.x)
        own[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&own[in[i] % BINS], 1);
    __syncthreads();
    for (int i = threadIdx.x; i < BINS; i += blockDim.x)
        atomicAdd(&bins[i], own[i]);
}

int main()
{
    const int n = 54321;
    unsigned char *in = managed<unsigned char>(n);
    int *bins = managed<int>(BINS), expected[BINS] = {0};
    CUDA(cudaMemset(bins, 0, BINS * sizeof(int)));
    for (int i = 0; i < n; i++) {
        in[i] = i * 7919 >> 3;
        expected[in[i] % BINS]++;
    }
    histogram<<<5, 200>>>(in, bins, n);
    CUDA(cudaDeviceSynchronize());
    for (int i = 0; i < BINS; i++)
        CHECK(bins[i] == expected[i]);
    puts("PASS");
}
