// Requirements of a kernel's attributes on its launch.
#include "check.h"

__global__ void __launch_bounds__(64, 2) at_most(int *out)
{
    if (threadIdx.x == 0)
        *out = 1;
}

__global__ void __block_size__((64, 1, 1)) exactly(int *out)
{
    if (threadIdx.x == 0)
        *out = 2;
}

__global__ void __cluster_dims__(1, 1, 1) cluster_of_one(int *out)
{
    *out = 3;
}

__global__ void __maxnreg__(32) few_registers(int *out)
{
    *out = 4;
}

int main()
{
    int *out = managed<int>(1);
    at_most<<<1, 64>>>(out);
    CUDA(cudaDeviceSynchronize());
    CHECK(*out == 1);
    at_most<<<1, 65>>>(out);
    CHECK(cudaGetLastError() != cudaSuccess);
    exactly<<<1, 64>>>(out);
    CUDA(cudaDeviceSynchronize());
    CHECK(*out == 2);
    exactly<<<1, 32>>>(out);
    CHECK(cudaGetLastError() != cudaSuccess);
    cluster_of_one<<<1, 32>>>(out);
    CUDA(cudaDeviceSynchronize());
    CHECK(*out == 3);
    few_registers<<<1, 32>>>(out);
    CUDA(cudaDeviceSynchronize());
    CHECK(*out == 4);
    puts("PASS");
}
