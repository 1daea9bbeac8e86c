// Shared variables of a file, of kernels and of functions: each has a place of its own.
#include "check.h"

__shared__ volatile int of_file[4];

__device__ __noinline__ int in_function(int value)
{
    __shared__ volatile int own[4];
    own[threadIdx.x] = value;
    __syncthreads();
    return own[3 - threadIdx.x];
}

__global__ void all_kinds(int *out)
{
    __shared__ volatile int own[4];
    extern __shared__ __align__(256) int dynamic[];
    of_file[threadIdx.x] = 7;
    own[threadIdx.x] = 5;
    dynamic[threadIdx.x] = 3;
    out[threadIdx.x] = in_function(100) + (int)(__cvta_generic_to_shared(dynamic) % 256);
    out[threadIdx.x] += 1000 * of_file[threadIdx.x] + 10000 * own[threadIdx.x] + 100000 * dynamic[threadIdx.x];
}

int main()
{
    int *out = managed<int>(4);
    all_kinds<<<1, 4, 16>>>(out);
    CUDA(cudaDeviceSynchronize());
    for (int i = 0; i < 4; i++)
        CHECK(out[i] == 357100);
    cudaFuncAttributes attributes;
    CUDA(cudaFuncGetAttributes(&attributes, all_kinds));
    CHECK(attributes.sharedSizeBytes >= 48);
    puts("PASS");
}
