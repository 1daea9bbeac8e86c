// How much memory the checker's bookkeeping takes.
#include <cstdio>
#include <sys/resource.h>

// Each thread learns at each fence what many others have told: at other places, each time.
__global__ void learn(int *places, int count, int times)
{
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < times; k++) {
        atomicAdd(&places[(thread + k * 37) % count], 1);
        __threadfence();
    }
}

// Prints the most memory that this process has held, in KiB.
int main()
{
    enum { PLACES = 1024 };
    int *places;
    cudaMalloc(&places, PLACES * sizeof(int));
    cudaMemset(places, 0, PLACES * sizeof(int));
    learn<<<4, 256>>>(places, PLACES, 160);
    const cudaError_t status = cudaDeviceSynchronize();
    cudaFree(places);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("%ld\n", usage.ru_maxrss);
    return status;
}
