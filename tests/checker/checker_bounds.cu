// Measures the memory consumption of the checker.
#include <cstdio>

// At each fence, each thread synchronises with many others, each time through different flags.
__global__ void synchronise(int *flags, int count, int iterations)
{
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < iterations; k++) {
        atomicAdd(&flags[(thread + k * 37) % count], 1);
        __threadfence();
    }
}

// The peak resident memory of this process since exec, in KiB. (getrusage also counts the time between fork and exec, with the
// memory of the parent process.)
static long peak_kib()
{
    FILE *status = fopen("/proc/self/status", "r");
    char line[256];
    long kib = -1;
    while (fgets(line, sizeof line, status))
        sscanf(line, "VmHWM: %ld", &kib);
    fclose(status);
    return kib;
}

int main()
{
    enum { FLAGS = 1024 };
    int *flags;
    cudaMalloc(&flags, FLAGS * sizeof(int));
    cudaMemset(flags, 0, FLAGS * sizeof(int));
    synchronise<<<4, 256>>>(flags, FLAGS, 160);
    const cudaError_t status = cudaDeviceSynchronize();
    cudaFree(flags);
    printf("%ld\n", peak_kib());
    return status;
}
