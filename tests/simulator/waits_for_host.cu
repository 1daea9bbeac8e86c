// A kernel that waits for a write of the host after the launch: correct on a GPU. And one whose flag only the device can set: a mistake.
#include <cstdio>
#include <cstring>

__managed__ int variable;

__global__ void waits(volatile int *flag, int *out)
{
    while (*flag == 0)
        continue;
    *out = *flag + 1;
}

// Meanwhile it counts its iterations, in device memory.
__global__ void counts(volatile int *flag, int *turns)
{
    while (*flag == 0)
        atomicAdd(turns, 1);
}

int main(int argc, char **argv)
{
    int *flag = &variable, *out;
    if (argc > 1 && !strcmp(argv[1], "mapped"))
        cudaHostAlloc(&flag, sizeof *flag, cudaHostAllocMapped);
    if (argc > 1 && !strcmp(argv[1], "managed"))
        cudaMallocManaged(&flag, sizeof *flag);
    *flag = 0;
    int *device;
    cudaMalloc(&device, 2 * sizeof *device);
    cudaMemset(device, 0, 2 * sizeof *device);
    out = device + 1;
    if (argc > 1 && !strcmp(argv[1], "counts"))
        counts<<<2, 33>>>(flag, out);
    else
        waits<<<2, 33>>>(argc > 1 && !strcmp(argv[1], "device") ? device : flag, out);
    *(volatile int *)flag = 41;
    puts(cudaGetErrorName(cudaDeviceSynchronize()));
}
