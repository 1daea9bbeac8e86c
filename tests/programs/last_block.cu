// One launch: the block that draws the last ticket adds the partial sums of all.
#include "check.h"

__device__ unsigned tickets;

__global__ void sum(const int *in, volatile int *partial, int *out, int n)
{
    __shared__ int sums[128];
    __shared__ bool last;
    int value = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        value += in[i];
    value = __reduce_add_sync(0xffffffff, value);
    if (threadIdx.x % 32 == 0)
        sums[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sums[0] + sums[1] + sums[2] + sums[3];
        __threadfence();
        last = atomicInc(&tickets, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        int total = 0;
        for (unsigned b = 0; b < gridDim.x; b++)
            total += partial[b];
        *out = total;
    }
}

int main()
{
    const int n = 12345, blocks = 17;
    int *in = managed<int>(n), *partial = managed<int>(blocks), *out = managed<int>(1), expected = 0;
    for (int i = 0; i < n; i++)
        expected += in[i] = i % 17 - 8;
    for (int run = 0; run < 3; run++) {
        *out = -1;
        sum<<<blocks, 128>>>(in, partial, out, n);
        CUDA(cudaDeviceSynchronize());
        CHECK(*out == expected);
    }
    puts("PASS");
}
