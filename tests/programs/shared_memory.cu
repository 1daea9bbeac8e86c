// Shared variables of a file, of kernels and of functions: each has its own storage.
// A block's shared memory contains those that its kernel may use.
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

enum { HALF = 40960 / sizeof(int) }; // two of these do not fit into a block

template <int WHICH> __device__ __noinline__ int half(int value)
{
    __shared__ volatile int own[HALF];
    own[HALF - 1 - threadIdx.x] = value;
    __syncthreads();
    return WHICH + own[HALF - 4 + threadIdx.x];
}

__global__ void first_half(int *out)
{
    out[threadIdx.x] = half<1>(10 * threadIdx.x);
}

__global__ void second_half(int *out)
{
    out[threadIdx.x] = half<2>(10 * threadIdx.x);
}

__device__ int (*chosen)(int) = in_function;

__global__ void by_pointer(int *out)
{
    out[threadIdx.x] = chosen(10 * threadIdx.x);
}

template <typename Kernel> size_t shared_bytes(Kernel *kernel)
{
    cudaFuncAttributes attributes;
    CUDA(cudaFuncGetAttributes(&attributes, kernel));
    return attributes.sharedSizeBytes;
}

void check_reversed(const int *out, int more)
{
    CUDA(cudaDeviceSynchronize());
    for (int i = 0; i < 4; i++)
        CHECK(out[i] == 10 * (3 - i) + more);
}

int main()
{
    int *out = managed<int>(4);
    all_kinds<<<1, 4, 16>>>(out);
    CUDA(cudaDeviceSynchronize());
    for (int i = 0; i < 4; i++)
        CHECK(out[i] == 357100);
    CHECK(shared_bytes(all_kinds) == 48);

    CHECK(shared_bytes(first_half) == 40960 && shared_bytes(second_half) == 40960);
    first_half<<<1, 4>>>(out);
    check_reversed(out, 1);
    second_half<<<1, 4>>>(out);
    check_reversed(out, 2);
    by_pointer<<<1, 4>>>(out);
    check_reversed(out, 0);
    puts("PASS");
}
