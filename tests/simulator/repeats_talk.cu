// Repeated launches of a kernel that may communicate with the host. With a second argument it reads memory in which the host
// might answer: test_repeats.py.
#include <cstdio>
#include <cstring>

enum { N = 1 << 15, BLOCK = 256, TIMES = 6 };

// Enough work to make skipping worthwhile.
__device__ int worked(int value)
{
    for (int k = 0; k < 32; k++)
        value = value * 5 + k;
    return value;
}

__global__ void fenced(const int *in, int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int value = worked(in[i]);
    __threadfence_system(); // before the last store, so the host may observe the order
    out[i] = value;
}

__global__ void exchanged(const int *in, int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (atomicExch(&out[i], worked(in[i])) == 1)
        out[i] = 1;
}

int main(int count, char **arguments)
{
    int *in, *out, last;
    if (count > 2)
        cudaHostAlloc(&in, N * sizeof(int), cudaHostAllocMapped);
    else
        cudaMalloc(&in, N * sizeof(int));
    cudaMalloc(&out, N * sizeof(int));
    cudaMemset(in, 0, N * sizeof(int));
    cudaMemset(out, 0, N * sizeof(int));
    for (int time = 0; time < TIMES; time++)
        if (strcmp(arguments[1], "fence") == 0)
            fenced<<<N / BLOCK, BLOCK>>>(in, out);
        else
            exchanged<<<N / BLOCK, BLOCK>>>(in, out);
    cudaMemcpy(&last, out + N - 1, sizeof last, cudaMemcpyDeviceToHost);
    printf("%d\n", last);
    return cudaDeviceSynchronize() != cudaSuccess;
}
