// How much memory the checker's bookkeeping takes.
#include <cstdio>

// Each thread synchronises with many others at each fence, each time by other flags.
__global__ void learn(int *places, int count, int times)
{
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < times; k++) {
        atomicAdd(&places[(thread + k * 37) % count], 1);
        __threadfence();
    }
}

// The most memory that this process has held since it began its program, in KiB. (getrusage also counts what the process
// held before, as a copy of the one that started it.)
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
    enum { PLACES = 1024 };
    int *places;
    cudaMalloc(&places, PLACES * sizeof(int));
    cudaMemset(places, 0, PLACES * sizeof(int));
    learn<<<4, 256>>>(places, PLACES, 160);
    const cudaError_t status = cudaDeviceSynchronize();
    cudaFree(places);
    printf("%ld\n", peak_kib());
    return status;
}
