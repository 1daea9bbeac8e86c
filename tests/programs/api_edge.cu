// Errors of the runtime for wrong arguments: null results, destroyed or invalid handles, sizes larger than any
// memory. Each call returns its documented error, and the program continues. (On a GPU the use of a destroyed
// handle is undefined.) Also: a launch in an argument of a launch.
#include "check.h"
#include <cstdint>

__global__ void fill(int *numbers, int value)
{
    atomicAdd(numbers, value);
}

__device__ int table[4];

static int *numbers;
static char bytes[4096];

static int counted; // number of launches made by an argument
static int launch_within()
{
    fill<<<1, 1>>>(numbers + 1, 10);
    counted++;
    return 1;
}

static void nested_launches()
{
    int back[3];
    CUDA(cudaMemset(numbers, 0, sizeof back));
    fill<<<4, 64>>>(numbers, launch_within());
    fill<<<2, 32>>>(numbers + 2, (fill<<<1, 5>>>(numbers + 2, launch_within() + 1), 1)); // three nested launches
    CUDA(cudaMemcpy(back, numbers, sizeof back, cudaMemcpyDeviceToHost));
    CHECK(back[0] == 4 * 64 && back[1] == 20 && back[2] == 2 * 32 + 5 * 2 && counted == 2);
}

struct Attempt {
    const char *text;
    cudaError_t wanted;
    cudaError_t (*call)();
};
#define ATTEMPT(error, expression) {#expression, error, []() -> cudaError_t { return expression; }}
#define WRONG_VALUE(expression) ATTEMPT(cudaErrorInvalidValue, expression)
#define WRONG_HANDLE(expression) ATTEMPT(cudaErrorInvalidResourceHandle, expression)
#define NO_MEMORY(expression) ATTEMPT(cudaErrorMemoryAllocation, expression)
#define FINE(expression) ATTEMPT(cudaSuccess, expression)

static cudaStream_t stream, ended_stream;
static cudaEvent_t event, ended_event, timeless;
static const cudaStream_t wild_stream = (cudaStream_t)0x1234;
static const cudaEvent_t wild_event = (cudaEvent_t)bytes;
static void *pointer, *freed;
static size_t size;
static int number;

static const Attempt ATTEMPTS[] = {
    // Null pointers for the result.
    WRONG_VALUE(cudaMalloc((void **)NULL, 4)), WRONG_VALUE(cudaMallocHost((void **)NULL, 4)),
    WRONG_VALUE(cudaMallocPitch(&pointer, NULL, 4, 4)), WRONG_VALUE(cudaMallocPitch((void **)NULL, &size, 4, 4)),
    WRONG_VALUE(cudaMemGetInfo(NULL, &size)), WRONG_VALUE(cudaMemGetInfo(&size, NULL)),
    WRONG_VALUE(cudaGetDeviceCount(NULL)), WRONG_VALUE(cudaGetDevice(NULL)), WRONG_VALUE(cudaGetDeviceProperties(NULL, 0)),
    WRONG_VALUE(cudaDeviceGetAttribute(NULL, cudaDevAttrWarpSize, 0)), WRONG_VALUE(cudaDriverGetVersion(NULL)),
    WRONG_VALUE(cudaDeviceGetLimit(NULL, cudaLimitStackSize)), WRONG_VALUE(cudaStreamCreate(NULL)),
    WRONG_VALUE(cudaEventCreateWithFlags(NULL, 0)), WRONG_VALUE(cudaFuncGetAttributes(NULL, fill)),
    WRONG_VALUE(cudaPointerGetAttributes(NULL, numbers)), WRONG_VALUE(cudaGetSymbolSize(NULL, table)),
    WRONG_VALUE(cudaGetSymbolAddress((void **)NULL, table)), WRONG_VALUE(cudaEventElapsedTime(NULL, event, event)),
    WRONG_VALUE(cudaOccupancyMaxActiveBlocksPerMultiprocessor(NULL, fill, 32, 0)),
    WRONG_VALUE(cudaStreamIsCapturing(stream, NULL)), FINE(cudaDeviceGetStreamPriorityRange(NULL, &number)),
    // Invalid and destroyed handles.
    WRONG_HANDLE(cudaStreamDestroy(NULL)), WRONG_HANDLE(cudaStreamDestroy(ended_stream)), WRONG_HANDLE(cudaStreamDestroy(wild_stream)),
    WRONG_HANDLE(cudaStreamSynchronize(ended_stream)), WRONG_HANDLE(cudaStreamQuery(wild_stream)),
    WRONG_HANDLE(cudaStreamWaitEvent(ended_stream, event, 0)), WRONG_HANDLE(cudaStreamWaitEvent(stream, ended_event, 0)),
    WRONG_HANDLE(cudaStreamSynchronize((cudaStream_t)event)), WRONG_HANDLE(cudaEventRecord((cudaEvent_t)stream, stream)),
    WRONG_HANDLE(cudaEventDestroy(NULL)), WRONG_HANDLE(cudaEventDestroy(ended_event)), WRONG_HANDLE(cudaEventRecord(wild_event)),
    WRONG_HANDLE(cudaEventRecord(event, ended_stream)), WRONG_HANDLE(cudaEventSynchronize(ended_event)),
    WRONG_HANDLE(cudaEventQuery(wild_event)), WRONG_HANDLE(cudaEventElapsedTime((float *)bytes, event, ended_event)),
    WRONG_HANDLE(cudaEventElapsedTime((float *)bytes, event, timeless)),
    WRONG_HANDLE(cudaMemcpyAsync(numbers, bytes, 4, cudaMemcpyHostToDevice, ended_stream)),
    WRONG_HANDLE(cudaMemsetAsync(numbers, 0, 4, wild_stream)), WRONG_HANDLE((fill<<<1, 1, 0, ended_stream>>>(numbers, 1), cudaGetLastError())),
    WRONG_HANDLE((fill<<<1, 1, 0, wild_stream>>>(numbers, 1), cudaGetLastError())), FINE(cudaStreamQuery(cudaStreamPerThread)),
    WRONG_VALUE(cudaStreamCreateWithFlags(&stream, 77)), WRONG_VALUE(cudaEventCreateWithFlags(&event, cudaEventInterprocess)),
    WRONG_VALUE(cudaLaunchHostFunc(stream, NULL, NULL)), WRONG_VALUE(cudaStreamAddCallback(stream, NULL, NULL, 0)),
    // Unallocated memory, or memory of another kind of allocation.
    WRONG_VALUE(cudaFree(bytes)), WRONG_VALUE(cudaFree(numbers + 1)), WRONG_VALUE(cudaFree(freed)), WRONG_VALUE(cudaFree((void *)-1)),
    WRONG_VALUE(cudaFreeHost(numbers)), FINE(cudaFree(NULL)), FINE(cudaFreeHost(NULL)), FINE(cudaMalloc(&pointer, 0)),
    WRONG_VALUE(cudaMallocManaged(&pointer, 0)), WRONG_VALUE(cudaHostAlloc(&pointer, 4, 64)),
    NO_MEMORY(cudaMalloc(&pointer, SIZE_MAX)), NO_MEMORY(cudaMallocManaged(&pointer, (size_t)1 << 62)),
    NO_MEMORY(cudaMallocPitch(&pointer, &size, (size_t)1 << 33, (size_t)1 << 33)), NO_MEMORY(cudaMallocPitch(&pointer, &size, SIZE_MAX, 1)),
    WRONG_VALUE(cudaHostRegister(NULL, 4, 0)), WRONG_VALUE(cudaHostRegister(bytes, SIZE_MAX, 0)), WRONG_VALUE(cudaHostRegister(bytes, 0, 0)),
    ATTEMPT(cudaErrorHostMemoryNotRegistered, cudaHostUnregister(bytes)), WRONG_VALUE(cudaHostGetDevicePointer(&pointer, bytes, 0)),
    WRONG_VALUE(cudaMemcpy(numbers, bytes, 2048, cudaMemcpyHostToDevice)), WRONG_VALUE(cudaMemcpy(bytes, freed, 4, cudaMemcpyDeviceToHost)),
    WRONG_VALUE(cudaMemcpy(NULL, numbers, 4, cudaMemcpyDeviceToHost)), WRONG_VALUE(cudaMemcpy(numbers, (void *)0x1000, 4, cudaMemcpyHostToDevice)),
    WRONG_VALUE(cudaMemcpy((void *)0x1000, numbers, 4, cudaMemcpyDefault)), WRONG_VALUE(cudaMemcpy(bytes, numbers, SIZE_MAX, cudaMemcpyDefault)),
    FINE(cudaMemcpy(numbers, numbers, 4, cudaMemcpyHostToDevice)), FINE(cudaMemcpy(numbers, numbers, 4, cudaMemcpyDeviceToHost)), // as on an H200
    WRONG_VALUE(cudaMemcpy(bytes, bytes, 4, cudaMemcpyDeviceToDevice)), FINE(cudaMemcpy(NULL, NULL, 0, cudaMemcpyDefault)),
    ATTEMPT(cudaErrorInvalidMemcpyDirection, cudaMemcpy(numbers, bytes, 4, (cudaMemcpyKind)9)),
    ATTEMPT(cudaErrorInvalidPitchValue, cudaMemcpy2D(numbers, 16, bytes, 64, 32, 4, cudaMemcpyHostToDevice)),
    WRONG_VALUE(cudaMemcpy2D(numbers, 32, bytes, 64, 32, 33, cudaMemcpyHostToDevice)),
    WRONG_VALUE(cudaMemcpy2D(numbers, SIZE_MAX / 2, bytes, 64, 32, 5, cudaMemcpyHostToDevice)),
    WRONG_VALUE(cudaMemset(numbers, 0, 2048)), WRONG_VALUE(cudaMemset(bytes, 0, 4)), WRONG_VALUE(cudaMemset(NULL, 0, 4)), FINE(cudaMemset(NULL, 0, 0)),
    WRONG_VALUE(cudaMemset2D(numbers, SIZE_MAX / 2, 0, 4, 4)), WRONG_VALUE(cudaMemcpyToSymbol(table, bytes, 17)),
    WRONG_VALUE(cudaMemcpyToSymbol(table, bytes, 8, 12)), WRONG_VALUE(cudaMemcpyToSymbol(table, bytes, 4, (size_t)-4)),
    ATTEMPT(cudaErrorInvalidSymbol, cudaMemcpyToSymbol(bytes, bytes, 4)), WRONG_VALUE(cudaMemcpyFromSymbol(bytes, table, 4, SIZE_MAX)),
    // Launches, kernels, devices.
    WRONG_VALUE(cudaLaunchKernel((const void *)fill, 1, 32, NULL, 0, 0)), ATTEMPT(cudaErrorInvalidDeviceFunction, cudaLaunchKernel(NULL, 1, 32, NULL, 0, 0)),
    ATTEMPT(cudaErrorInvalidDeviceFunction, cudaLaunchKernel((const void *)bytes, 1, 32, NULL, 0, 0)),
    WRONG_VALUE(cudaFuncSetAttribute(fill, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 20)),
    WRONG_VALUE(cudaFuncSetAttribute(fill, cudaFuncAttributeMaxDynamicSharedMemorySize, -1)),
    ATTEMPT(cudaErrorInvalidDevice, cudaSetDevice(-1)), ATTEMPT(cudaErrorInvalidDevice, cudaDeviceGetAttribute(&number, cudaDevAttrWarpSize, 99)),
    WRONG_VALUE(cudaDeviceSetLimit(cudaLimitStackSize, SIZE_MAX)), ATTEMPT(cudaErrorUnsupportedLimit, cudaDeviceSetLimit((cudaLimit)99, 1)),
};

int main()
{
    cudaStream_t again;
    CUDA(cudaMalloc(&numbers, 1024));
    CUDA(cudaMalloc(&freed, 1024));
    CUDA(cudaFree(freed));
    CUDA(cudaStreamCreate(&stream));
    CUDA(cudaStreamCreate(&ended_stream));
    CUDA(cudaStreamDestroy(ended_stream));
    CUDA(cudaStreamCreate(&again)); // may have the address of the destroyed one, but is another stream
    CUDA(cudaEventCreate(&event));
    CUDA(cudaEventRecord(event, stream));
    CUDA(cudaEventCreateWithFlags(&timeless, cudaEventDisableTiming));
    CUDA(cudaEventRecord(timeless, again));
    CUDA(cudaEventCreate(&ended_event));
    CUDA(cudaEventDestroy(ended_event));
    for (const Attempt &attempt : ATTEMPTS) {
        const cudaError_t error = attempt.call();
        if (error != attempt.wanted)
            fprintf(stderr, "%s: %s, not %s\n", attempt.text, cudaGetErrorName(error), cudaGetErrorName(attempt.wanted));
        CHECK(error == attempt.wanted);
        const cudaError_t last = cudaGetLastError();
        CHECK(last == error || last == cudaSuccess); // cudaSuccess: the call itself has read the error
    }
    nested_launches();
    CUDA(cudaStreamDestroy(stream));
    CUDA(cudaStreamDestroy(again));
    CUDA(cudaDeviceSynchronize());
    puts("PASS");
}
