// An inclusive scan: warps by shuffles, blocks through shared memory, then the sums of the blocks.
#include "check.h"

__device__ int scan_warp(int value)
{
    const int lane = threadIdx.x % 32;
    for (int s = 1; s < 32; s *= 2) {
        const int below = __shfl_up_sync(0xffffffff, value, s);
        if (lane >= s)
            value += below;
    }
    return value;
}

__global__ void scan_blocks(int *data, int *sums, int n)
{
    __shared__ int warp_sums[32];
    const int i = blockIdx.x * blockDim.x + threadIdx.x, warp = threadIdx.x / 32;
    int value = scan_warp(i < n ? data[i] : 0);
    if (threadIdx.x % 32 == 31)
        warp_sums[warp] = value;
    __syncthreads();
    if (warp == 0)
        warp_sums[threadIdx.x] = scan_warp(threadIdx.x < blockDim.x / 32 ? warp_sums[threadIdx.x] : 0);
    __syncthreads();
    if (warp > 0)
        value += warp_sums[warp - 1];
    if (i < n)
        data[i] = value;
    if (sums && threadIdx.x == blockDim.x - 1)
        sums[blockIdx.x] = value;
}

__global__ void add_sums(int *data, const int *sums, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (blockIdx.x > 0 && i < n)
        data[i] += sums[blockIdx.x - 1];
}

int main()
{
    const int n = 30000, blocks = (n + 255) / 256;
    int *data = managed<int>(n), *sums = managed<int>(blocks), expected = 0;
    for (int i = 0; i < n; i++)
        data[i] = i % 13 - 6;
    scan_blocks<<<blocks, 256>>>(data, sums, n);
    scan_blocks<<<1, 256>>>(sums, NULL, blocks);
    add_sums<<<blocks, 256>>>(data, sums, n);
    CUDA(cudaDeviceSynchronize());
    for (int i = 0; i < n; i++)
        CHECK(data[i] == (expected += i % 13 - 6));
    puts("PASS");
}
