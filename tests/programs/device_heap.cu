// malloc in a kernel: allocates from the device heap, whose size is a device limit.
#include "check.h"

__device__ void *kept[64];

__global__ void take(int bytes, int *given)
{
    kept[threadIdx.x] = malloc(bytes);
    if (kept[threadIdx.x])
        atomicAdd(given, 1);
}

__global__ void give_back()
{
    free(kept[threadIdx.x]);
    kept[threadIdx.x] = NULL;
}

// The number of threads, of 64, that can allocate so many bytes.
static int given(int bytes)
{
    int *count = managed<int>(1);
    *count = 0;
    take<<<1, 64>>>(bytes, count);
    CUDA(cudaDeviceSynchronize());
    const int result = *count;
    CUDA(cudaFree(count));
    return result;
}

static void give_all_back()
{
    give_back<<<1, 64>>>();
    CUDA(cudaDeviceSynchronize());
}

int main()
{
    const int MIB = 1 << 20;
    size_t limit;
    char byte;
    void *memory;
    CUDA(cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize));
    CHECK(limit == 8 * MIB);
    const int usual = given(MIB);
    CHECK(usual >= 7 && usual <= 8); // a GPU's heap also stores its metadata
    CHECK(given(MIB) <= 1);          // the rest, since the others are not freed
    give_all_back();
    CHECK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 32 * MIB) == cudaErrorInvalidValue); // the heap is in use
    CHECK(cudaGetLastError() == cudaErrorInvalidValue);
    CUDA(cudaDeviceReset());
    CUDA(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 32 * MIB));
    CUDA(cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize));
    CHECK(limit >= 32 * MIB);
    CHECK(given(MIB) >= 31);
    CUDA(cudaMemcpyFromSymbol(&memory, kept, sizeof memory));
    CHECK(cudaMemcpy(&byte, memory, 1, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue); // the device heap is not accessible to the host
    CHECK(cudaGetLastError() == cudaErrorInvalidValue);
    give_all_back();
    CHECK(given(MIB / 2) >= 62);
    puts("PASS");
}
