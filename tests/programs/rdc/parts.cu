// The second file of main.cu; see there.
#include "parts.h"

static __device__ int own = 100; // main.cu has another one
static __device__ __noinline__ int helper(int x) { return x + own; }

__device__ int counter;
__device__ int values[] = {5, 6, 7};
__constant__ int factor = 7;
__managed__ int total = 1000;

__device__ int scaled(int x)
{
    return helper(factor * x);
}

__device__ int from_dynamic(int place)
{
    atomicAdd(&counter, 1);
    return dynamic[place];
}

__device__ int block_sum(int x)
{
    __shared__ int sum;
    if (threadIdx.x == 0)
        sum = 0;
    __syncthreads();
    atomicAdd(&sum, x);
    __syncthreads();
    return sum;
}

__device__ static int square(int x) { return x * x; }
__device__ static int negative(int x) { return -x; }
__device__ Operation *chosen = square;
__device__ Operation *table[TABLE] = {negative, square, add<3>};

__device__ int Shape::area() const { return side * side; }

__global__ void fill(int *to)
{
    __shared__ int mirrored[THREADS];
    mirrored[threadIdx.x] = threadIdx.x;
    __syncthreads();
    to[threadIdx.x] = mirrored[THREADS - 1 - threadIdx.x];
    if (threadIdx.x == 0)
        atomicAdd(&total, to[0]);
}
