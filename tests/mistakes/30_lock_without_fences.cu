// A lock that orders two blocks, but without fences: their accesses under the lock are not ordered.
// finds: race-global "__threadfence()"
#include <cstdio>

__device__ int lock, count;
__device__ long long sum;

__global__ void add(int value)
{
    if (threadIdx.x == 0) {
        while (atomicCAS(&lock, 0, 1))
            ;
        sum += value + blockIdx.x, count++; // <- here
        atomicExch(&lock, 0);
    }
}

int main()
{
    long long result;
    add<<<8, 32>>>(1);
    cudaMemcpyFromSymbol(&result, sum, sizeof result);
    printf("%lld\n", result);
    return 0;
}
