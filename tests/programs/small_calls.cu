// Less common calls of the runtime in courses: memory pools, stream attributes, advice about managed memory, 3D
// copies, kernel attributes. They return what CUDA's reference documents, and change no result.
#include "check.h"
#include <cstdint>
#include <cstring>
#include <cuda_profiler_api.h>

__global__ void fill(int *numbers, char kind, int value)
{
    numbers[threadIdx.x] = value + kind;
}

__managed__ int shared_with_host[16];

static void pools()
{
    cudaStream_t stream;
    cudaMemPool_t usual, own, current;
    cudaMemPoolProps properties = {};
    int *a, *b, back[4], on;
    uint64_t used, threshold = UINT64_MAX, zero = 0;
    CUDA(cudaStreamCreate(&stream));
    CUDA(cudaDeviceGetDefaultMemPool(&usual, 0));
    CUDA(cudaDeviceGetMemPool(&current, 0));
    CHECK(current == usual);
    CUDA(cudaMemPoolSetAttribute(usual, cudaMemPoolAttrReleaseThreshold, &threshold));
    threshold = 0;
    CUDA(cudaMemPoolGetAttribute(usual, cudaMemPoolAttrReleaseThreshold, &threshold));
    CUDA(cudaMemPoolGetAttribute(usual, cudaMemPoolReuseAllowOpportunistic, &on));
    CHECK(threshold == UINT64_MAX && on == 1);
    CUDA(cudaMallocAsync(&a, 4096, stream));
    fill<<<1, 4, 0, stream>>>(a, 1, 2);
    CUDA(cudaMemcpyAsync(back, a, sizeof back, cudaMemcpyDefault, stream));
    CUDA(cudaMemPoolGetAttribute(usual, cudaMemPoolAttrUsedMemCurrent, &used));
    CHECK(used >= 4096);
    CUDA(cudaFreeAsync(a, stream));
    CUDA(cudaStreamSynchronize(stream));
    CHECK(back[3] == 3);
    CUDA(cudaMemPoolGetAttribute(usual, cudaMemPoolAttrUsedMemCurrent, &used));
    CHECK(used == 0);
    CUDA(cudaMemPoolGetAttribute(usual, cudaMemPoolAttrUsedMemHigh, &used));
    CHECK(used >= 4096);
    CUDA(cudaMemPoolSetAttribute(usual, cudaMemPoolAttrUsedMemHigh, &zero));
    CHECK(cudaMemPoolSetAttribute(usual, cudaMemPoolAttrUsedMemCurrent, &zero) == cudaErrorInvalidValue);
    CHECK(cudaMemPoolDestroy(usual) == cudaErrorInvalidValue);
    CUDA(cudaMemPoolTrimTo(usual, 0));
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    CUDA(cudaMemPoolCreate(&own, &properties));
    CUDA(cudaDeviceSetMemPool(0, own));
    CUDA(cudaMallocAsync(&a, 64, stream));
    CUDA(cudaMallocFromPoolAsync(&b, 64, own, stream));
    CUDA(cudaMemPoolGetAttribute(own, cudaMemPoolAttrUsedMemCurrent, &used));
    CHECK(used >= 128);
    CUDA(cudaFree(b)); // cudaFree or cudaFreeAsync
    CUDA(cudaMemPoolDestroy(own));
    CUDA(cudaDeviceGetMemPool(&current, 0));
    CHECK(current == usual);
    CUDA(cudaFreeAsync(a, stream)); // the last one of the pool
    CHECK(cudaMemPoolTrimTo(own, 0) == cudaErrorInvalidValue);
    CHECK(cudaMallocFromPoolAsync(&b, 64, own, stream) == cudaErrorInvalidValue);
    CUDA(cudaStreamDestroy(stream));
    cudaGetLastError();
}

static void streams()
{
    int least, greatest, priority, device;
    unsigned flags;
    unsigned long long id, other;
    cudaStream_t stream, second;
    cudaStreamAttrValue value = {}, back;
    CUDA(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    CHECK(greatest <= least);
    CUDA(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest - 100));
    CUDA(cudaStreamCreate(&second));
    CUDA(cudaStreamGetPriority(stream, &priority));
    CUDA(cudaStreamGetFlags(stream, &flags));
    CHECK(priority == greatest && flags == cudaStreamNonBlocking);
    CUDA(cudaStreamGetId(stream, &id));
    CUDA(cudaStreamGetId(second, &other));
    CHECK(id != other);
#if CUDART_VERSION >= 12080
    CUDA(cudaStreamGetDevice(stream, &device));
    CHECK(device == 0);
#endif
    value.accessPolicyWindow.base_ptr = shared_with_host;
    value.accessPolicyWindow.num_bytes = sizeof shared_with_host;
    value.accessPolicyWindow.hitRatio = 0.5f;
    value.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
    value.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
    CUDA(cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &value));
    CUDA(cudaStreamCopyAttributes(second, stream));
    CUDA(cudaStreamGetAttribute(second, cudaStreamAttributeAccessPolicyWindow, &back));
    CHECK(back.accessPolicyWindow.base_ptr == shared_with_host && back.accessPolicyWindow.hitRatio == 0.5f);
    value.accessPolicyWindow.hitRatio = 2;
    CHECK(cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &value) == cudaErrorInvalidValue);
    CHECK(cudaStreamSetAttribute(stream, (cudaStreamAttrID)999, &value) == cudaErrorInvalidValue);
    CUDA(cudaCtxResetPersistingL2Cache());
    cudaEvent_t event;
    CUDA(cudaEventCreate(&event));
    CUDA(cudaEventRecordWithFlags(event, stream, cudaEventRecordDefault));
    CHECK(cudaEventRecordWithFlags(event, stream, 55) == cudaErrorInvalidValue);
    CUDA(cudaEventDestroy(event));
    CUDA(cudaStreamDestroy(stream));
    CUDA(cudaStreamDestroy(second));
    cudaGetLastError();
}

#if CUDART_VERSION >= 13000
static void managed_memory()
{
    const cudaMemLocation device = {cudaMemLocationTypeDevice, 0}, host = {cudaMemLocationTypeHost, 0}, none = {cudaMemLocationTypeDevice, 99};
    const size_t half = 1 << 20;
    char *memory = managed<char>(2 * half);
    int result, list[3];
    cudaStream_t stream;
    CUDA(cudaStreamCreate(&stream));
    CUDA(cudaMemAdvise(memory, 2 * half, cudaMemAdviseSetReadMostly, device));
    CUDA(cudaMemAdvise(memory, 2 * half, cudaMemAdviseSetAccessedBy, device));
    CUDA(cudaMemAdvise(memory, 2 * half, cudaMemAdviseSetPreferredLocation, device));
    CUDA(cudaMemAdvise(memory, half, cudaMemAdviseSetPreferredLocation, host));
    CUDA(cudaMemPrefetchAsync(memory, 2 * half, device, 0, stream));
    CUDA(cudaMemRangeGetAttribute(&result, 4, cudaMemRangeAttributeReadMostly, memory, 2 * half));
    CHECK(result == 1);
    CUDA(cudaMemRangeGetAttribute(&result, 4, cudaMemRangeAttributePreferredLocation, memory, half));
    CHECK(result == cudaCpuDeviceId);
    CUDA(cudaMemRangeGetAttribute(&result, 4, cudaMemRangeAttributePreferredLocation, memory + half, half));
    CHECK(result == 0);
    CUDA(cudaMemRangeGetAttribute(&result, 4, cudaMemRangeAttributePreferredLocation, memory, 2 * half)); // different within the range
    CHECK(result == cudaInvalidDeviceId);
    CUDA(cudaMemRangeGetAttribute(list, sizeof list, cudaMemRangeAttributeAccessedBy, memory, 2 * half));
    CHECK(list[0] == 0 && list[1] == cudaInvalidDeviceId && list[2] == cudaInvalidDeviceId);
    CUDA(cudaMemRangeGetAttribute(&result, 4, cudaMemRangeAttributeLastPrefetchLocation, memory, 2 * half));
    CHECK(result == 0);
    CUDA(cudaMemAdvise(memory, 2 * half, cudaMemAdviseUnsetReadMostly, device));
    CUDA(cudaMemRangeGetAttribute(&result, 4, cudaMemRangeAttributeReadMostly, memory, half));
    CHECK(result == 0);
    CHECK(cudaMemPrefetchAsync(memory, half, none, 0, stream) == cudaErrorInvalidDevice);
    CHECK(cudaMemPrefetchAsync(memory, 3 * half, device, 0, stream) == cudaErrorInvalidValue);
    CHECK(cudaMemAdvise(&result, 4, cudaMemAdviseSetReadMostly, device) == cudaErrorInvalidValue);
    CHECK(cudaMemRangeGetAttribute(&result, 3, cudaMemRangeAttributeReadMostly, memory, half) == cudaErrorInvalidValue);
    CUDA(cudaStreamAttachMemAsync(stream, memory, 0, cudaMemAttachSingle));
    CHECK(cudaStreamAttachMemAsync(0, memory, 0, cudaMemAttachSingle) == cudaErrorInvalidValue);
    CUDA(cudaStreamAttachMemAsync(stream, shared_with_host, 0, cudaMemAttachGlobal));
    CUDA(cudaStreamDestroy(stream));
    CUDA(cudaFree(memory));
    char *next = managed<char>(2 * half); // possibly at the same address, but without advice
    CUDA(cudaMemRangeGetAttribute(&result, 4, cudaMemRangeAttributePreferredLocation, next, half));
    CHECK(result == cudaInvalidDeviceId);
    CUDA(cudaFree(next));
    cudaGetLastError();
}
#else
static void managed_memory() {}
#endif

static void boxes()
{
    cudaPitchedPtr box;
    const cudaExtent size = make_cudaExtent(10, 4, 3);
    unsigned char host[3][4][10], back[2][2][5] = {}, row[4][10];
    for (int z = 0; z < 3; z++)
        for (int y = 0; y < 4; y++)
            for (int x = 0; x < 10; x++)
                host[z][y][x] = 100 * z + 10 * y + x;
    CUDA(cudaMalloc3D(&box, size));
    CHECK(box.pitch >= 10 && box.xsize == 10 && box.ysize == 4);
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(host, 10, 10, 4);
    copy.dstPtr = box;
    copy.extent = size;
    copy.kind = cudaMemcpyHostToDevice;
    CUDA(cudaMemcpy3D(&copy));
    copy.srcPtr = box;
    copy.srcPos = make_cudaPos(5, 1, 1);
    copy.dstPtr = make_cudaPitchedPtr(back, 5, 5, 2);
    copy.extent = make_cudaExtent(5, 2, 2);
    copy.kind = cudaMemcpyDeviceToHost;
    CUDA(cudaMemcpy3DAsync(&copy, 0));
    CHECK(back[0][0][0] == 115 && back[1][1][4] == 229);
    copy.extent = make_cudaExtent(5, 4, 2);
    CHECK(cudaMemcpy3D(&copy) == cudaErrorInvalidValue); // past the end of its slice
    CUDA(cudaMemset3D(box, 7, make_cudaExtent(10, 2, 3)));
    CUDA(cudaMemcpy2D(row, 10, (char *)box.ptr + 2 * box.pitch * 4, box.pitch, 10, 4, cudaMemcpyDeviceToHost));
    CHECK(row[0][0] == 7 && row[1][9] == 7 && row[2][0] == 220 && row[3][9] == 239);
    CUDA(cudaFree(box.ptr));
    cudaGetLastError();
}

static void kernels()
{
    const char *name;
    size_t offset, bytes;
    int *numbers = managed<int>(32), value = 5;
    char kind = 1;
    void *arguments[] = {&numbers, &kind, &value};
    cudaLaunchAttribute attribute[2] = {};
    cudaLaunchConfig_t config = {};
    CUDA(cudaFuncGetName(&name, (const void *)fill));
    CHECK(strstr(name, "fill"));
    CHECK(cudaFuncGetName(&name, (const void *)kernels) != cudaSuccess);
    CUDA(cudaFuncGetParamInfo((const void *)fill, 2, &offset, &bytes));
    CHECK(offset == 12 && bytes == 4);
    CHECK(cudaFuncGetParamInfo((const void *)fill, 3, &offset, &bytes) == cudaErrorInvalidValue);
    CUDA(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, (const void *)fill, 2, 128));
    CHECK(bytes > 16384);
    config.gridDim = 1;
    config.blockDim = 32;
    config.attrs = attribute;
    config.numAttrs = 2;
    attribute[0].id = cudaLaunchAttributePriority;
    attribute[1].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute[1].val.programmaticStreamSerializationAllowed = 1;
    CUDA(cudaLaunchKernelExC(&config, (const void *)fill, arguments));
    CUDA(cudaDeviceSynchronize());
    CHECK(numbers[31] == 6);
    CUDA(cudaLaunchKernelEx(&config, fill, numbers, kind, 7));
    CUDA(cudaDeviceSynchronize());
    CHECK(numbers[31] == 8);
    attribute[1].id = (cudaLaunchAttributeID)999;
    CHECK(cudaLaunchKernelExC(&config, (const void *)fill, arguments) == cudaErrorInvalidValue);
    CUDA(cudaFree(numbers));
    cudaGetLastError();
}

static void count_call(void *data)
{
    ++*(int *)data;
}

static void count_callback(cudaStream_t, cudaError_t error, void *data)
{
    *(int *)data += error == cudaSuccess;
}

static void rest()
{
    int can = 7, version = 0, calls = 0;
    unsigned flags;
    size_t limit;
    void *mapped;
    cudaPointerAttributes attributes;
    CUDA(cudaProfilerStart());
    CUDA(cudaProfilerStop());
    CUDA(cudaDeviceCanAccessPeer(&can, 0, 0));
    CHECK(can == 0 && cudaDeviceCanAccessPeer(&can, 0, 99) == cudaErrorInvalidDevice);
    CHECK(cudaDeviceEnablePeerAccess(0, 0) == cudaErrorInvalidDevice && cudaDeviceEnablePeerAccess(0, 1) == cudaErrorInvalidValue);
    CHECK(cudaDeviceDisablePeerAccess(99) == cudaErrorInvalidDevice);
    CUDA(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 0));
    CUDA(cudaDeviceGetLimit(&limit, cudaLimitPersistingL2CacheSize));
    CUDA(cudaHostAlloc(&mapped, 64, cudaHostAllocMapped | cudaHostAllocPortable));
    CUDA(cudaHostGetFlags(&flags, mapped));
    CHECK((flags & cudaHostAllocMapped) && (flags & cudaHostAllocPortable));
    CHECK(cudaHostGetFlags(&flags, &flags) == cudaErrorInvalidValue);
    CUDA(cudaPointerGetAttributes(&attributes, mapped));
    CHECK(attributes.type == cudaMemoryTypeHost && attributes.device == 0);
    CUDA(cudaFreeHost(mapped));
    CUDA(cudaLaunchHostFunc(0, count_call, &calls));
    CUDA(cudaStreamAddCallback(0, count_callback, &calls, 0));
    CUDA(cudaDeviceSynchronize());
    CHECK(calls == 2);
    CUDA(cudaDriverGetVersion(&version));
    CHECK(version >= 12000);
    CUDA(cudaSetDeviceFlags(cudaDeviceScheduleYield));
    CUDA(cudaGetDeviceFlags(&flags));
    CHECK(flags & cudaDeviceScheduleYield);
    cudaGetLastError();
}

int main()
{
    pools();
    streams();
    managed_memory();
    boxes();
    kernels();
    rest();
    puts("PASS");
}
