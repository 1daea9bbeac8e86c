// Each block adds 1 under a lock. Nobody opens the lock again.
// finds: launch-fault "endless"
#include <cstdio>

__device__ int lock, sum;

__global__ void count()
{
    while (atomicCAS(&lock, 0, 1) != 0) { // <- here
    }
    __threadfence();
    sum += 1;
    __threadfence();
}

int main()
{
    int result;
    count<<<4, 1>>>();
    cudaMemcpyFromSymbol(&result, sum, sizeof(result));
    printf("%d\n", result);
}
