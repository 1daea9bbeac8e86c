// Functions of the runtime, used as in courses.
#include "check.h"
#include <cstring>

__constant__ int weights[4] = {1, 2, 3, 4};
__device__ int total = 5;
__managed__ int shown = 7;

__global__ void kernel(int *out)
{
    out[threadIdx.x] = weights[threadIdx.x % 4] * 10 + total + shown;
}

__global__ void __launch_bounds__(64) limited(int *out)
{
    extern __shared__ int words[];
    words[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = words[63 - threadIdx.x];
}

static void host_function(void *data)
{
    ++*(int *)data;
}

static void memory()
{
    int *d, *pinned, *mapped, ordinary[64], back[64];
    size_t pitch, unused, all;
    char *rows;
    for (int i = 0; i < 64; i++)
        ordinary[i] = i;
    CUDA(cudaMalloc(&d, sizeof ordinary));
    CUDA(cudaMallocHost(&pinned, sizeof ordinary));
    CUDA(cudaHostAlloc(&mapped, sizeof ordinary, cudaHostAllocMapped));
    int *alias;
    CUDA(cudaHostGetDevicePointer(&alias, mapped, 0));
    CUDA(cudaMemcpy(d, ordinary, sizeof ordinary, cudaMemcpyHostToDevice));
    CUDA(cudaMemcpyAsync(pinned, d, sizeof ordinary, cudaMemcpyDeviceToHost, 0));
    CUDA(cudaMemcpy(mapped, d, sizeof ordinary, cudaMemcpyDefault));
    CUDA(cudaDeviceSynchronize());
    CHECK(memcmp(pinned, ordinary, sizeof ordinary) == 0 && memcmp(mapped, ordinary, sizeof ordinary) == 0);
    CUDA(cudaMemset(d, 0xff, 16));
    CUDA(cudaMemsetAsync(d + 4, 1, 4, 0));
    CUDA(cudaMemcpy(back, d, sizeof back, cudaMemcpyDeviceToHost));
    CHECK(back[0] == -1 && back[3] == -1 && back[4] == 0x01010101 && back[5] == 5);
    CUDA(cudaMallocPitch(&rows, &pitch, 100, 3));
    CUDA(cudaMemset2D(rows, pitch, 9, 100, 3));
    CHECK(pitch >= 100 && cudaMemset2D(rows, 100, 9, 101, 3) == cudaErrorInvalidValue);
    CUDA(cudaMemGetInfo(&unused, &all));
    CHECK(unused > 0 && unused <= all);
    cudaPointerAttributes attributes;
    CUDA(cudaPointerGetAttributes(&attributes, d));
    CHECK(attributes.type == cudaMemoryTypeDevice && attributes.devicePointer == d && attributes.hostPointer == NULL);
    CUDA(cudaPointerGetAttributes(&attributes, pinned + 1));
    CHECK(attributes.type == cudaMemoryTypeHost && attributes.devicePointer == pinned + 1 && attributes.hostPointer == pinned + 1);
    CUDA(cudaPointerGetAttributes(&attributes, &shown));
    CHECK(attributes.type == cudaMemoryTypeManaged);
    int *both = managed<int>(1);
    CUDA(cudaPointerGetAttributes(&attributes, both));
    CHECK(attributes.type == cudaMemoryTypeManaged && attributes.hostPointer == both);
    CUDA(cudaFree(both));
    CUDA(cudaPointerGetAttributes(&attributes, ordinary));
    CHECK(attributes.type == cudaMemoryTypeUnregistered && attributes.devicePointer == NULL);
    CUDA(cudaHostRegister((char *)ordinary + 4, 4, cudaHostRegisterDefault));
    CHECK(cudaHostRegister(ordinary, sizeof ordinary, cudaHostRegisterDefault) == cudaErrorHostMemoryAlreadyRegistered);
    CUDA(cudaHostUnregister((char *)ordinary + 4));
    CUDA(cudaHostRegister(ordinary, sizeof ordinary, cudaHostRegisterDefault));
    CUDA(cudaPointerGetAttributes(&attributes, ordinary));
    CHECK(attributes.type == cudaMemoryTypeHost);
    CUDA(cudaHostUnregister(ordinary));
    CHECK(cudaFreeHost(d) == cudaErrorInvalidValue && cudaFree(pinned) == cudaErrorInvalidValue);
    CHECK(cudaGetLastError() == cudaErrorInvalidValue);
    CHECK(cudaMemcpy(d, ordinary, sizeof ordinary + 4000000, cudaMemcpyHostToDevice) != cudaSuccess);
    CHECK(cudaMalloc(&alias, (size_t)1 << 50) == cudaErrorMemoryAllocation);
    CHECK(cudaGetLastError() == cudaErrorMemoryAllocation && cudaGetLastError() == cudaSuccess);
    CUDA(cudaFree(d));
    CUDA(cudaFree(NULL));
    CUDA(cudaFree(rows));
    CUDA(cudaFreeHost(pinned));
    CUDA(cudaFreeHost(mapped));
}

static void symbols_and_launches()
{
    int *out = managed<int>(64), value = 100, changed[2] = {8, 9}, back[4], count = 0;
    void *address;
    size_t size;
    kernel<<<1, 64>>>(out);
    CUDA(cudaDeviceSynchronize());
    CHECK(out[0] == 22 && out[3] == 52);
    CUDA(cudaMemcpyToSymbol(total, &value, sizeof value));
    CUDA(cudaMemcpyToSymbol(weights, changed, sizeof changed, 2 * sizeof(int)));
    CUDA(cudaMemcpyFromSymbol(back, weights, sizeof back));
    CHECK(back[0] == 1 && back[2] == 8 && back[3] == 9);
    CUDA(cudaGetSymbolAddress(&address, total));
    CUDA(cudaGetSymbolSize(&size, weights));
    CHECK(address && size == 16);
    CHECK(cudaMemcpyToSymbol(total, &value, sizeof value, 0, cudaMemcpyDeviceToHost) == cudaErrorInvalidMemcpyDirection);
    CHECK(cudaMemcpyFromSymbol(back, weights, 4, 0, cudaMemcpyHostToDevice) == cudaErrorInvalidMemcpyDirection);
    CHECK(cudaGetLastError() == cudaErrorInvalidMemcpyDirection);
    shown = 1;
    cudaStream_t stream;
    CUDA(cudaStreamCreate(&stream));
    void *arguments[] = {&out};
    CUDA(cudaLaunchKernel((const void *)kernel, dim3(1), dim3(64), arguments, 0, stream));
    CUDA(cudaLaunchHostFunc(stream, host_function, &count));
    CUDA(cudaStreamSynchronize(stream));
    CUDA(cudaStreamQuery(stream));
    CHECK(out[3] == 90 + 100 + 1 && count == 1);
    limited<<<1, 64, 256, stream>>>(out);
    CUDA(cudaStreamDestroy(stream));
    CUDA(cudaDeviceSynchronize());
    CHECK(out[0] == 63 && out[63] == 0);
}

// CUDA's reference documents the first error; CUDA 13 on an H200 returns the second.
static bool refused()
{
    const cudaError_t error = cudaPeekAtLastError();
    CHECK(cudaGetLastError() == error && cudaGetLastError() == cudaSuccess);
    return error == cudaErrorInvalidConfiguration || error == cudaErrorInvalidValue;
}

static void launches_that_fail()
{
    int *out = managed<int>(64);
    kernel<<<1, 0>>>(out);
    CHECK(refused());
    kernel<<<1, 1025>>>(out);
    CHECK(refused());
    kernel<<<0, 32>>>(out);
    CHECK(refused());
    kernel<<<dim3(1, 65536), 32>>>(out);
    CHECK(refused());
    kernel<<<1, 32, 49153>>>(out);
    CHECK(refused());
    limited<<<1, 65>>>(out);
    CHECK(cudaGetLastError() != cudaSuccess);
    CUDA(cudaFuncSetAttribute(limited, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536));
    limited<<<1, 64, 65536>>>(out);
    CUDA(cudaDeviceSynchronize());
    limited<<<1, 64, 65540>>>(out);
    CHECK(refused());
    CHECK(strcmp(cudaGetErrorName(cudaErrorInvalidValue), "cudaErrorInvalidValue") == 0);
    CHECK(strcmp(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory") == 0);
}

static void device()
{
    int count, number, value, blocks, grid;
    cudaDeviceProp properties;
    cudaFuncAttributes attributes;
    size_t limit;
    CUDA(cudaGetDeviceCount(&count));
    CUDA(cudaSetDevice(0));
    CUDA(cudaGetDevice(&number));
    CHECK(count >= 1 && number == 0 && cudaSetDevice(1000) == cudaErrorInvalidDevice);
    cudaGetLastError();
    CUDA(cudaGetDeviceProperties(&properties, 0));
    CUDA(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0));
    CHECK(properties.warpSize == 32 && properties.multiProcessorCount == value && properties.maxThreadsPerBlock == 1024);
    CHECK(cudaDeviceGetAttribute(&value, (cudaDeviceAttr)100000, 0) == cudaErrorInvalidValue);
    CHECK(cudaGetLastError() == cudaErrorInvalidValue);
    CUDA(cudaFuncGetAttributes(&attributes, limited));
    CHECK(attributes.maxThreadsPerBlock == 64);
    CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 256, 0));
    CHECK(blocks >= 1 && blocks <= 8);
    CUDA(cudaOccupancyMaxPotentialBlockSize(&grid, &value, kernel, 0, 0));
    CHECK(grid >= 1 && value >= 32);
    CUDA(cudaDeviceSetLimit(cudaLimitStackSize, 4096));
    CUDA(cudaDeviceGetLimit(&limit, cudaLimitStackSize));
    CHECK(limit >= 4096);
    CUDA(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 64 << 20));
    CUDA(cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize));
    CHECK(limit >= 64 << 20);
    CHECK(cudaDeviceSetLimit((cudaLimit)100, 1) == cudaErrorUnsupportedLimit);
    cudaGetLastError();
    CUDA(cudaRuntimeGetVersion(&value));
    CHECK(value >= 12000);
}

static void events()
{
    cudaEvent_t start, end;
    float ms;
    CUDA(cudaEventCreate(&start));
    CUDA(cudaEventCreateWithFlags(&end, cudaEventDefault));
    CHECK(cudaEventElapsedTime(&ms, start, end) != cudaSuccess);
    cudaGetLastError();
    CUDA(cudaEventRecord(start));
    CUDA(cudaEventRecord(end));
    CUDA(cudaEventSynchronize(end));
    CUDA(cudaEventQuery(end));
    CUDA(cudaEventElapsedTime(&ms, start, end));
    CHECK(!(ms < 0)); // NaN on the simulator, which has no clock
    CUDA(cudaEventDestroy(start));
    CUDA(cudaEventDestroy(end));
    CUDA(cudaEventCreateWithFlags(&start, cudaEventDisableTiming));
    CUDA(cudaEventRecord(start));
    CHECK(cudaEventElapsedTime(&ms, start, start) == cudaErrorInvalidResourceHandle);
    CUDA(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(NULL) == cudaErrorInvalidResourceHandle);
    CHECK(cudaGetLastError() == cudaErrorInvalidResourceHandle);
}

static void reset()
{
    int back, ordinary[4], *out;
    CUDA(cudaHostRegister(ordinary, sizeof ordinary, cudaHostRegisterDefault));
    CUDA(cudaDeviceReset());
    CUDA(cudaMemcpyFromSymbol(&back, total, sizeof back));
    CHECK(back == 5);
    CHECK(cudaHostUnregister(ordinary) == cudaErrorHostMemoryNotRegistered);
    cudaGetLastError();
    out = managed<int>(64);
    limited<<<1, 64, 65536>>>(out);
    CHECK(refused());
}

int main()
{
    memory();
    symbols_and_launches();
    launches_that_fail();
    device();
    events();
    reset();
    puts("PASS");
}
