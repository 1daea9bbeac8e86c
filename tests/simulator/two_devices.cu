// Two devices: each has its own memory, variables, streams and limits; peer access has to be enabled. With an argument: a
// kernel on device 1 reads memory of device 0 after access was disabled.
#include "../programs/check.h"
#include <cuda.h>
#include <thread>

__device__ int own = 3;
__managed__ int common = 5;

__global__ void add(int *numbers, int value)
{
    numbers[threadIdx.x] += value;
}

__global__ void add_to_variables(int value)
{
    own += value;
    common += value;
}

__global__ void take_half_of_heap(int *given)
{
    if (malloc(5 << 20))
        ++*given;
}

static int own_of(int device)
{
    int value;
    CUDA(cudaSetDevice(device));
    CUDA(cudaMemcpyFromSymbol(&value, own, sizeof value));
    return value;
}

static void variables()
{
    CUDA(cudaSetDevice(1));
    add_to_variables<<<1, 1>>>(10);
    CUDA(cudaDeviceSynchronize());
    CHECK(own_of(0) == 3 && own_of(1) == 13 && common == 15);
    CUDA(cudaSetDevice(0));
    add_to_variables<<<1, 1>>>(100);
    CUDA(cudaDeviceSynchronize());
    CHECK(own_of(0) == 103 && own_of(1) == 13 && common == 115);
    void *here, *there;
    CUDA(cudaSetDevice(0));
    CUDA(cudaGetSymbolAddress(&here, own));
    CUDA(cudaSetDevice(1));
    CUDA(cudaGetSymbolAddress(&there, own));
    CHECK(here != there);
}

static void streams_and_threads()
{
    cudaStream_t stream;
    cudaEvent_t here, there;
    int device, *numbers = managed<int>(32);
    CUDA(cudaSetDevice(0));
    std::thread([] {
        int device;
        CUDA(cudaGetDevice(&device));
        CHECK(device == 0);
        CUDA(cudaSetDevice(1));
    }).join();
    CUDA(cudaGetDevice(&device));
    CHECK(device == 0); // each host thread has its own
    CUDA(cudaStreamCreate(&stream));
    CUDA(cudaEventCreate(&here));
    CUDA(cudaSetDevice(1));
    CUDA(cudaEventCreate(&there));
#if CUDART_VERSION >= 12080
    CUDA(cudaStreamGetDevice(stream, &device));
    CHECK(device == 0);
#endif
    add<<<1, 32, 0, stream>>>(numbers, 1);
    CHECK(cudaGetLastError() == cudaErrorInvalidResourceHandle); // a stream of the other device
    CHECK(cudaEventRecord(there, stream) == cudaErrorInvalidResourceHandle);
    CUDA(cudaEventRecord(here, stream));
    CUDA(cudaStreamWaitEvent(0, here, 0));
    CUDA(cudaEventDestroy(here));
    CUDA(cudaEventDestroy(there));
    CUDA(cudaStreamDestroy(stream));
    CUDA(cudaFree(numbers));
    cudaGetLastError();
}

static void peers(int *first, int *second)
{
    int can, back[32];
    cudaPointerAttributes attributes;
    CUDA(cudaPointerGetAttributes(&attributes, second));
    CHECK(attributes.device == 1);
    CUDA(cudaDeviceCanAccessPeer(&can, 0, 1));
    CHECK(can == 1);
    CUDA(cudaMemcpyPeer(second, 1, first, 0, sizeof back)); // needs no peer access
    CHECK(cudaMemcpyPeer(second, 0, first, 0, sizeof back) == cudaErrorInvalidValue);
    CHECK(cudaMemcpyPeer(second, 1, first, 2, sizeof back) == cudaErrorInvalidDevice);
    CUDA(cudaSetDevice(1));
    CHECK(cudaDeviceDisablePeerAccess(0) == cudaErrorPeerAccessNotEnabled);
    CHECK(cudaDeviceEnablePeerAccess(1, 0) == cudaErrorInvalidDevice);
    CUDA(cudaDeviceEnablePeerAccess(0, 0));
    CHECK(cudaDeviceEnablePeerAccess(0, 0) == cudaErrorPeerAccessAlreadyEnabled);
    cudaGetLastError();
    add<<<1, 32>>>(first, 7); // on device 1
    int *later;
    CUDA(cudaSetDevice(0));
    CUDA(cudaMalloc(&later, sizeof back));
    CUDA(cudaMemset(later, 0, sizeof back));
    CUDA(cudaDeviceSynchronize()); // no stream of the other device waits for the fill
    CUDA(cudaSetDevice(1));
    add<<<1, 32>>>(later, 1); // access includes later allocations
    CUDA(cudaMemcpy(back, first, sizeof back, cudaMemcpyDeviceToHost));
    CHECK(back[31] == 8);
    CUDA(cudaFree(later));
}

// The driver API enables access through a context of the peer; it is the same access.
static void peers_by_contexts()
{
    CUcontext own, peer;
    CUDA(cudaSetDevice(0));
    CHECK(cuInit(0) == CUDA_SUCCESS && cuDevicePrimaryCtxRetain(&own, 0) == CUDA_SUCCESS);
    CHECK(cuDevicePrimaryCtxRetain(&peer, 1) == CUDA_SUCCESS);
    CHECK(cuCtxDisablePeerAccess(peer) == CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
    CHECK(cuCtxEnablePeerAccess(own, 0) == CUDA_ERROR_INVALID_CONTEXT);
    CHECK(cuCtxEnablePeerAccess(NULL, 0) == CUDA_ERROR_INVALID_CONTEXT);
    CHECK(cuCtxEnablePeerAccess(peer, 1) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cuCtxEnablePeerAccess(peer, 0) == CUDA_SUCCESS);
    CHECK(cuCtxEnablePeerAccess(peer, 0) == CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
    CHECK(cudaDeviceEnablePeerAccess(1, 0) == cudaErrorPeerAccessAlreadyEnabled);
    CHECK(cuCtxDisablePeerAccess(peer) == CUDA_SUCCESS);
    CHECK(cudaDeviceDisablePeerAccess(1) == cudaErrorPeerAccessNotEnabled);
    CHECK(cuDevicePrimaryCtxRelease(0) == CUDA_SUCCESS && cuDevicePrimaryCtxRelease(1) == CUDA_SUCCESS);
    cudaGetLastError();
}

static void limits_and_reset(int *first)
{
    int *given = managed<int>(1), back;
    size_t limit;
    *given = 0;
    CUDA(cudaSetDevice(1));
    CUDA(cudaDeviceSetLimit(cudaLimitStackSize, 9000));
    take_half_of_heap<<<1, 2>>>(given); // device 1 has a heap of its own,
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaSetDevice(0));
    take_half_of_heap<<<1, 2>>>(given);
    CUDA(cudaDeviceSynchronize());
    CHECK(*given == 2);
    CUDA(cudaDeviceGetLimit(&limit, cudaLimitStackSize));
    CHECK(limit < 9000);
    cudaStream_t kept, gone;
    CUDA(cudaStreamCreate(&kept));
    CUDA(cudaSetDevice(1));
    CUDA(cudaStreamCreate(&gone));
    CUDA(cudaDeviceReset()); // of device 1 only
    CHECK(cudaStreamQuery(gone) == cudaErrorInvalidResourceHandle);
    CUDA(cudaStreamQuery(kept));
    CHECK(own_of(1) == 3 && own_of(0) == 103);
    CUDA(cudaMemcpy(&back, first, sizeof back, cudaMemcpyDeviceToHost));
    CHECK(back == 8);
    CUDA(cudaSetDevice(1));
    CHECK(cudaDeviceDisablePeerAccess(0) == cudaErrorPeerAccessNotEnabled);
    cudaGetLastError();
}

int main(int count, char **)
{
    int devices, *first, *second;
    CUDA(cudaGetDeviceCount(&devices));
    CHECK(devices == 2 && cudaSetDevice(2) == cudaErrorInvalidDevice);
    CUDA(cudaMalloc(&first, 32 * sizeof(int)));
    add<<<1, 32>>>(first, 0);
    CUDA(cudaMemset(first, 0, 32 * sizeof(int)));
    add<<<1, 32>>>(first, 1);
    CUDA(cudaSetDevice(1));
    CUDA(cudaMalloc(&second, 32 * sizeof(int)));
    cudaGetLastError();
    variables();
    streams_and_threads();
    peers(first, second);
    peers_by_contexts();
    limits_and_reset(first);
    if (count > 1) {
        add<<<1, 32>>>(first, 1); // on device 1, which no longer has access
        puts(cudaGetErrorName(cudaDeviceSynchronize()));
        return 0;
    }
    puts("PASS");
}
