// Faults that bug reports of public projects describe, each as a small program with its repaired twin.
#include "cases.h"

enum { BLOCKS = 4, THREADS = 64 };

// ---- A barrier of the block instead of a fence of the device

__device__ unsigned ticket;

// The last block to finish adds up the partial results of all.
template <bool fenced> __global__ void add_in_last_block(int *part, int *sum)
{
    __shared__ bool is_last;
    if (threadIdx.x == 0) {
        part[blockIdx.x] = blockIdx.x + 1;
        __threadfence();
        is_last = atomicAdd(&ticket, 1) == BLOCKS - 1;
    }
    __syncthreads();
    if (fenced)
        __threadfence();
    if (is_last && threadIdx.x == 0)
        for (int b = 0; b < BLOCKS; b++)
            *sum += part[b];
}

template <bool fenced> static void run_last_block()
{
    int *part = zeros<int>(BLOCKS), *sum = zeros<int>(1);
    add_in_last_block<fenced><<<BLOCKS, THREADS>>>(part, sum);
    finish_and_free(part, sum);
}

__device__ unsigned semaphore;

// The blocks add to one tile, one after the other.
template <bool releases> __global__ void add_in_turn(int *tile)
{
    if (threadIdx.x == 0)
        while (atomicAdd(&semaphore, 0) != blockIdx.x)
            ;
    __syncthreads();
    __threadfence(); // acquires the tile
    tile[threadIdx.x] += blockIdx.x;
    __syncthreads();
    if (releases)
        __threadfence();
    if (threadIdx.x == 0)
        atomicAdd(&semaphore, 1);
}

template <bool releases> static void run_semaphore()
{
    int *tile = zeros<int>(THREADS);
    add_in_turn<releases><<<BLOCKS, THREADS>>>(tile);
    finish_and_free(tile);
}

// ---- Barriers, locks and clusters

// The first warp has its own path to the barrier.
template <bool at_one_barrier> __global__ void reverse_tile(int *values)
{
    __shared__ int tile[THREADS];
    tile[threadIdx.x] = values[threadIdx.x];
    if (at_one_barrier) {
        __syncthreads();
    } else if (threadIdx.x < 32) {
        tile[threadIdx.x] += 1;
        __syncthreads();
    } else {
        __syncthreads();
    }
    values[threadIdx.x] = tile[THREADS - 1 - threadIdx.x];
}

template <bool at_one_barrier> static void run_two_barriers()
{
    int *values = numbers(THREADS);
    reverse_tile<at_one_barrier><<<1, THREADS>>>(values);
    finish_and_free(values);
}

// Each block takes and releases a lock of its own many times, then one lock that it shares with the other blocks.
template <bool device_scope> __global__ void count_under_locks(int *own_locks, int *lock, int *count)
{
    enum { TIMES = 100 };
    for (int k = 0; k < TIMES; k++) {
        while (atomicCAS_block(&own_locks[blockIdx.x], 0, 1) != 0)
            ;
        __threadfence_block();
        atomicExch_block(&own_locks[blockIdx.x], 0);
    }
    while ((device_scope ? atomicCAS(lock, 0, 1) : atomicCAS_block(lock, 0, 1)) != 0)
        ;
    __threadfence();
    *count += 1;
    __threadfence();
    atomicExch(lock, 0);
}

template <bool device_scope> static void run_locks()
{
    int *own_locks = zeros<int>(BLOCKS), *lock = zeros<int>(1), *count = zeros<int>(1);
    count_under_locks<device_scope><<<BLOCKS, 1>>>(own_locks, lock, count);
    finish_and_free(own_locks, lock, count);
}

template <bool is_initialised> static void run_uninitialised_lock()
{
    int *own_locks = zeros<int>(1), *lock = is_initialised ? zeros<int>(1) : unwritten<int>(1), *count = zeros<int>(1);
    count_under_locks<true><<<1, 1>>>(own_locks, lock, count);
    finish_and_free(own_locks, lock, count);
}

// Each block of a cluster stores into the shared memory of the other.
template <bool waits> __global__ void __cluster_dims__(2, 1, 1) exchange(int *values)
{
    __shared__ int received[THREADS];
    if (waits) {
        __cluster_barrier_arrive();
        __cluster_barrier_wait();
    }
    int *other = (int *)__cluster_map_shared_rank(received, blockIdx.x % 2 ^ 1);
    other[threadIdx.x] = blockIdx.x;
    __cluster_barrier_arrive();
    __cluster_barrier_wait();
    values[blockIdx.x * THREADS + threadIdx.x] = received[threadIdx.x];
}

template <bool waits> static void run_cluster()
{
    int *values = zeros<int>(2 * THREADS);
    exchange<waits><<<2, THREADS>>>(values);
    finish_and_free(values);
}

// ---- The host

__global__ void add_one(const int *in, int *out)
{
    out[threadIdx.x] = in[threadIdx.x] + 1;
}

template <cudaMemcpyKind kind> static void run_direction()
{
    int *from = numbers(THREADS), *to = zeros<int>(THREADS);
    CUDA(cudaMemcpy(to, from, THREADS * sizeof(int), kind));
    finish_and_free(from, to);
}

template <bool is_repeated> static void run_refused_launch()
{
    int *in = numbers(THREADS), *out = zeros<int>(THREADS);
    void *arguments[] = {&in, &out};
    const cudaError_t status = cudaLaunchKernel((void *)add_one, dim3(1), dim3(2 * 1024), arguments, 0, 0);
    if (is_repeated && status != cudaSuccess)
        CUDA(cudaLaunchKernel((void *)add_one, dim3(1), dim3(THREADS), arguments, 0, 0));
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaFree(in));
    CUDA(cudaFree(out));
}

// A copy from pageable memory, whose result a stream uses that does not wait for the default stream.
template <bool waits> static void run_pageable_copy()
{
    cudaStream_t stream;
    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    int values[THREADS] = {}, *in = zeros<int>(THREADS), *out = zeros<int>(THREADS);
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaMemcpy(in, values, sizeof values, cudaMemcpyHostToDevice));
    if (waits)
        CUDA(cudaDeviceSynchronize());
    add_one<<<1, THREADS, 0, stream>>>(in, out);
    finish_and_free(in, out);
    CUDA(cudaStreamDestroy(stream));
}

// Copies from, and to, an array on the host.
template <int elements, bool to_host> static void run_host_array()
{
    int *host = new int[elements](), *device = zeros<int>(THREADS);
    if (to_host)
        cudaMemcpy(host, device, THREADS * sizeof(int), cudaMemcpyDeviceToHost);
    else
        CUDA(cudaMemcpy(device, host, THREADS * sizeof(int), cudaMemcpyHostToDevice));
    finish_and_free(device);
    delete[] host;
}

// A graph copies from an array on the host, which the program frees.
template <bool too_early> static void run_graph_with_host_array()
{
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    int *host = new int[THREADS](), *device = zeros<int>(THREADS);
    CUDA(cudaStreamCreate(&stream));
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CUDA(cudaMemcpyAsync(device, host, THREADS * sizeof(int), cudaMemcpyHostToDevice, stream));
    CUDA(cudaStreamEndCapture(stream, &graph));
    CUDA(cudaGraphInstantiate(&exec, graph, 0));
    if (too_early)
        delete[] host;
    CUDA(cudaGraphLaunch(exec, stream));
    finish_and_free(device);
    if (!too_early)
        delete[] host;
}

// A graph allocates a buffer, fills it, uses it in a second branch, and frees it.
template <bool after_use> static void run_free_node()
{
    cudaStream_t origin, branch;
    cudaEvent_t filled, used;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    int *in = numbers(THREADS), *out = zeros<int>(THREADS), *buffer;
    CUDA(cudaStreamCreate(&origin));
    CUDA(cudaStreamCreate(&branch));
    CUDA(cudaEventCreate(&filled));
    CUDA(cudaEventCreate(&used));
    CUDA(cudaStreamBeginCapture(origin, cudaStreamCaptureModeGlobal));
    CUDA(cudaMallocAsync(&buffer, THREADS * sizeof(int), origin));
    add_one<<<1, THREADS, 0, origin>>>(in, buffer);
    CUDA(cudaEventRecord(filled, origin));
    CUDA(cudaStreamWaitEvent(branch, filled, 0));
    add_one<<<1, THREADS, 0, branch>>>(buffer, out);
    CUDA(cudaEventRecord(used, branch));
    if (after_use)
        CUDA(cudaStreamWaitEvent(origin, used, 0));
    CUDA(cudaFreeAsync(buffer, origin));
    CUDA(cudaStreamWaitEvent(origin, used, 0));
    CUDA(cudaStreamEndCapture(origin, &graph));
    CUDA(cudaGraphInstantiate(&exec, graph, 0));
    CUDA(cudaGraphLaunch(exec, origin));
    finish_and_free(in, out);
}

static const Case CASES[] = {
    {"last-block-barrier", run_last_block<false>},
    {"last-block-fence", run_last_block<true>},
    {"semaphore-barrier", run_semaphore<false>},
    {"semaphore-fence", run_semaphore<true>},
    {"warps-at-two-barriers", run_two_barriers<false>},
    {"warps-at-one-barrier", run_two_barriers<true>},
    {"block-lock-of-all-blocks", run_locks<false>},
    {"device-lock-of-all-blocks", run_locks<true>},
    {"lock-not-initialised", run_uninitialised_lock<false>},
    {"lock-initialised", run_uninitialised_lock<true>},
    {"cluster-store-at-once", run_cluster<false>},
    {"cluster-store-after-start", run_cluster<true>},
    {"device-to-device-as-host", run_direction<cudaMemcpyHostToDevice>},
    {"device-to-device-to-host", run_direction<cudaMemcpyDeviceToHost>},
    {"device-to-device", run_direction<cudaMemcpyDeviceToDevice>},
    {"refused-launch-dropped", run_refused_launch<false>},
    {"refused-launch-repeated", run_refused_launch<true>},
    {"pageable-copy-at-once", run_pageable_copy<false>},
    {"pageable-copy-awaited", run_pageable_copy<true>},
    {"host-array-read-past-end", run_host_array<THREADS - 1, false>},
    {"host-array-read", run_host_array<THREADS, false>},
    {"host-array-written-past-end", run_host_array<THREADS - 1, true>},
    {"host-array-written", run_host_array<THREADS, true>},
    {"graph-host-array-freed", run_graph_with_host_array<true>},
    {"graph-host-array-kept", run_graph_with_host_array<false>},
    {"free-node-before-use", run_free_node<false>},
    {"free-node-after-use", run_free_node<true>},
};

int main(int argc, char **argv)
{
    return run_case(argc, argv, CASES);
}
