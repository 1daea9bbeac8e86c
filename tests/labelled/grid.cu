// Blocks that run together: the grid's barrier, one made by hand, and clusters.
#include "cases.h"

#include <cooperative_groups.h>

namespace cg = cooperative_groups;
enum { THREADS = 64, BLOCKS = 4, ALL = BLOCKS * THREADS };

template <class... Parameters, class... Arguments> static void launch_together(void (*kernel)(Parameters...), Arguments... arguments)
{
    void *pointers[] = {&arguments...};
    CUDA(cudaLaunchCooperativeKernel((void *)kernel, dim3(BLOCKS), dim3(THREADS), pointers, 0, 0));
}

// ---- All blocks meet, or do not.

enum Meet { GRID, BLOCK_ONLY, FENCE_ONLY, NOT_AT_ALL };

template <Meet meet> __global__ void neighbour(int *values, int *out)
{
    const unsigned i = blockIdx.x * THREADS + threadIdx.x;
    values[i] = i;
    if (meet == GRID)
        cg::this_grid().sync();
    if (meet == BLOCK_ONLY)
        cg::this_thread_block().sync();
    if (meet == FENCE_ONLY)
        __threadfence();
    out[i] = values[(i + THREADS) % ALL];
}

template <Meet meet> static void run_neighbour()
{
    int *values = zeros<int>(ALL), *out = zeros<int>(ALL);
    launch_together(neighbour<meet>, values, out);
    finish_and_free(values, out);
}

// A sum: each round half of the threads of the grid add. The rounds need the grid's barrier.
template <bool each_round> __global__ void grid_tree(int *values)
{
    const unsigned i = blockIdx.x * THREADS + threadIdx.x;
    for (unsigned s = ALL / 2; s > 0; s /= 2) {
        if (i < s)
            values[i] += values[i + s];
        if (each_round || s % 32 == 0)
            cg::this_grid().sync();
    }
}

template <bool each_round> static void run_grid_tree()
{
    int *values = numbers(ALL);
    launch_together(grid_tree<each_round>, values);
    finish_and_free(values);
}

// Two arrays that change places each step, or one that is read and written in the same.
template <bool second_sync, bool two_arrays> __global__ void heat(int *a, int *b, int steps)
{
    const int i = blockIdx.x * THREADS + threadIdx.x;
    int *from = a, *to = two_arrays ? b : a;
    for (int step = 0; step < steps; step++) {
        const int value = from[(i + ALL - 1) % ALL] + from[(i + 1) % ALL];
        if (second_sync)
            cg::this_grid().sync();
        to[i] = value / 2;
        cg::this_grid().sync();
        int *const swapped = from;
        from = to;
        to = swapped;
    }
}

template <bool second_sync, bool two_arrays> static void run_heat()
{
    int *a = numbers(ALL), *b = numbers(ALL);
    launch_together(heat<second_sync, two_arrays>, a, b, 3);
    finish_and_free(a, b);
}

// ---- A grid's barrier made of a counter.

enum Made { WITH_FENCES, WITHOUT_FENCES, BLOCK_FENCES, NO_BARRIER_BEFORE, NO_BARRIER_AFTER };

template <Made made> __device__ void meet_all(int *arrived, int expected)
{
    if (made != NO_BARRIER_BEFORE)
        __syncthreads();
    if (threadIdx.x == 0) {
        if (made == BLOCK_FENCES)
            __threadfence_block();
        else if (made != WITHOUT_FENCES)
            __threadfence();
        atomicAdd(arrived, 1);
        while (atomicAdd(arrived, 0) < expected)
            continue;
        if (made == BLOCK_FENCES)
            __threadfence_block();
        else if (made != WITHOUT_FENCES)
            __threadfence();
    }
    if (made != NO_BARRIER_AFTER)
        __syncthreads();
}

template <Made made> __global__ void own_barrier(int *values, int *arrived, int *out)
{
    const unsigned i = blockIdx.x * THREADS + threadIdx.x;
    values[i] = i;
    meet_all<made>(arrived, BLOCKS);
    out[i] = values[ALL - 1 - i];
    meet_all<made>(arrived, 2 * BLOCKS);
    values[i] = 2 * i;
}

template <Made made> static void run_own_barrier()
{
    int *values = zeros<int>(ALL), *arrived = zeros<int>(1), *out = zeros<int>(ALL);
    launch_together(own_barrier<made>, values, arrived, out);
    finish_and_free(values, arrived, out);
}

// The last block to come does the rest, while the others go on and write again.
template <bool write_again> __global__ void last_while_others(int *values, int *arrived, int *out)
{
    __shared__ bool last;
    const unsigned i = blockIdx.x * THREADS + threadIdx.x;
    values[i] = i;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        last = atomicAdd(arrived, 1) == BLOCKS - 1;
        __threadfence();
    }
    __syncthreads();
    if (last)
        for (int b = 0; b < BLOCKS; b++)
            out[b * THREADS + threadIdx.x] = values[b * THREADS + threadIdx.x];
    else if (write_again)
        values[i] = 0;
}

template <bool write_again> static void run_last_while_others()
{
    int *values = zeros<int>(ALL), *arrived = zeros<int>(1), *out = zeros<int>(ALL);
    launch_together(last_while_others<write_again>, values, arrived, out);
    finish_and_free(values, arrived, out);
}

// ---- Clusters: blocks read each other's shared memory.

enum ClusterMeet { CLUSTER, BLOCK_BARRIER_ONLY, RELAXED_ARRIVE };

template <ClusterMeet meet> __global__ void __cluster_dims__(2, 1, 1) cluster_neighbour(int *out)
{
    __shared__ int values[THREADS];
    cg::cluster_group cluster = cg::this_cluster();
    cluster.sync(); // both blocks have begun
    values[threadIdx.x] = blockIdx.x * THREADS + threadIdx.x;
    if (meet == CLUSTER)
        cluster.sync();
    if (meet == BLOCK_BARRIER_ONLY)
        __syncthreads();
    if (meet == RELAXED_ARRIVE)
        asm volatile("barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.aligned;" ::: "memory");
    out[blockIdx.x * THREADS + threadIdx.x] = cluster.map_shared_rank(values, 1 - cluster.block_rank())[threadIdx.x];
    cluster.sync(); // no block ends while it is read
}

template <ClusterMeet meet> static void run_cluster_neighbour()
{
    int *out = zeros<int>(ALL);
    cluster_neighbour<meet><<<BLOCKS, THREADS>>>(out);
    finish_and_free(out);
}

// A histogram in the shared memory of both blocks.
template <bool atomic> __global__ void __cluster_dims__(2, 1, 1) cluster_histogram(const int *in, int *out)
{
    __shared__ int bins[8];
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x < 8)
        bins[threadIdx.x] = 0;
    cluster.sync();
    const int bin = in[blockIdx.x * THREADS + threadIdx.x] % 16;
    int *const place = cluster.map_shared_rank(bins, bin / 8) + bin % 8;
    if (atomic)
        atomicAdd(place, 1);
    else
        *place += 1;
    cluster.sync();
    if (threadIdx.x < 8)
        atomicAdd(&out[cluster.block_rank() * 8 + threadIdx.x], bins[threadIdx.x]);
}

template <bool atomic> static void run_cluster_histogram()
{
    int *in = numbers(ALL), *out = zeros<int>(16);
    cluster_histogram<atomic><<<BLOCKS, THREADS>>>(in, out);
    finish_and_free(in, out);
}

// One block reads the other's shared memory last. The other exits after a barrier, after a flag, or at once.
enum ClusterEnd { MEETS, MEETS_RELAXED, ASKS_FLAG, ARRIVES_ONLY, ENDS_AT_ONCE };

template <ClusterEnd end> __global__ void __cluster_dims__(2, 1, 1) cluster_end(int *out)
{
    __shared__ int values[THREADS], flag;
    cg::cluster_group cluster = cg::this_cluster();
    const bool reads = cluster.block_rank() == 1;
    values[threadIdx.x] = threadIdx.x;
    if (threadIdx.x == 0)
        flag = 0;
    cluster.sync();
    if (reads)
        out[threadIdx.x] = cluster.map_shared_rank(values, 0)[threadIdx.x];
    if (end == MEETS)
        cluster.sync();
    if (end == MEETS_RELAXED)
        asm volatile("barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.aligned;" ::: "memory");
    if (end == ASKS_FLAG && reads) {
        __threadfence();
        atomicAdd(cluster.map_shared_rank(&flag, 0), 1);
    } else if (end == ASKS_FLAG && threadIdx.x == 0) {
        while (*(volatile int *)&flag < THREADS)
            ;
    }
    if (end == ARRIVES_ONLY)
        asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");
}

template <ClusterEnd end> static void run_cluster_end()
{
    int *out = zeros<int>(THREADS);
    cluster_end<end><<<2, THREADS>>>(out);
    finish_and_free(out);
}

static const Case CASES[] = {
    {"grid-sync", run_neighbour<GRID>},
    {"block-sync-only", run_neighbour<BLOCK_ONLY>},
    {"fence-only", run_neighbour<FENCE_ONLY>},
    {"no-sync", run_neighbour<NOT_AT_ALL>},
    {"tree", run_grid_tree<true>},
    {"tree-sync-missing", run_grid_tree<false>},
    {"heat-two-arrays", run_heat<false, true>},
    {"heat-one-array-two-syncs", run_heat<true, false>},
    {"heat-one-array", run_heat<false, false>},
    {"own-barrier", run_own_barrier<WITH_FENCES>},
    {"own-barrier-no-fences", run_own_barrier<WITHOUT_FENCES>},
    {"own-barrier-block-fences", run_own_barrier<BLOCK_FENCES>},
    {"own-barrier-threads-not-met-before", run_own_barrier<NO_BARRIER_BEFORE>},
    {"own-barrier-threads-not-met-after", run_own_barrier<NO_BARRIER_AFTER>},
    {"last-block", run_last_while_others<false>},
    {"last-block-others-write", run_last_while_others<true>},
    {"cluster-sync", run_cluster_neighbour<CLUSTER>},
    {"cluster-block-barrier-only", run_cluster_neighbour<BLOCK_BARRIER_ONLY>},
    {"cluster-relaxed-arrive", run_cluster_neighbour<RELAXED_ARRIVE>},
    {"cluster-histogram", run_cluster_histogram<true>},
    {"cluster-histogram-plain", run_cluster_histogram<false>},
    {"cluster-end-sync", run_cluster_end<MEETS>},
    {"cluster-end-relaxed-arrive", run_cluster_end<MEETS_RELAXED>},
    {"cluster-end-flag", run_cluster_end<ASKS_FLAG>},
    {"cluster-end-arrives-only", run_cluster_end<ARRIVES_ONLY>},
    {"cluster-end-at-once", run_cluster_end<ENDS_AT_ONCE>},
};

int main(int argc, char **argv)
{
    return run_case(argc, argv, CASES);
}
