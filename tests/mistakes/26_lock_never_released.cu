// Each block adds 1 under a lock. The lock is never released.
// finds: kernel-fault "infinite"
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
    return 0;
}
