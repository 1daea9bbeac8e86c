// Barriers of a part of the block, barriers that a part of the block never reaches, and groups of threads.
#include "cases.h"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;
enum { THREADS = 128 };

__device__ void named_wait(unsigned barrier, unsigned threads)
{
    asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

__device__ void named_arrive(unsigned barrier, unsigned threads)
{
    asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

// ---- Halves of a block, each with its own barrier.

enum Reach { OWN_HALF, OTHER_HALF, WHOLE_BLOCK_BARRIER, ONE_WARP_EACH };

template <Reach reach> __global__ void halves(int *out)
{
    __shared__ int values[THREADS];
    const unsigned tid = threadIdx.x, half = tid / 64;
    values[tid] = tid;
    if (reach == WHOLE_BLOCK_BARRIER)
        __syncthreads();
    else if (reach == ONE_WARP_EACH) // a barrier of 32 threads, but the neighbour is in the half's other warp
        named_wait(1 + tid / 32, 32);
    else
        named_wait(1 + half, 64);
    const bool across = reach == OTHER_HALF || reach == WHOLE_BLOCK_BARRIER;
    out[tid] = values[across ? THREADS - 1 - tid : half * 64 + 63 - tid % 64];
}

template <Reach reach> static void run_halves()
{
    int *out = zeros<int>(THREADS);
    halves<reach><<<1, THREADS>>>(out);
    finish_and_free(out);
}

// ---- Producers arrive, consumers wait.

enum Handover { ARRIVE_AND_WAIT, ONLY_WAIT_BEFORE, NO_EMPTY };

template <Handover kind> __global__ void producers(int *out)
{
    __shared__ int slot[64];
    const unsigned place = threadIdx.x % 64;
    int sum = 0;
    for (int k = 0; k < 3; k++)
        if (threadIdx.x < 64) {
            if (k > 0 && kind != NO_EMPTY)
                named_wait(2, THREADS); // empty
            if (kind == ONLY_WAIT_BEFORE)
                named_arrive(1, THREADS); // full, before it is
            slot[place] = 100 * k + place;
            if (kind != ONLY_WAIT_BEFORE)
                named_arrive(1, THREADS);
        } else {
            named_wait(1, THREADS);
            sum += slot[63 - place];
            if (k < 2 && kind != NO_EMPTY)
                named_arrive(2, THREADS);
        }
    if (threadIdx.x >= 64)
        out[place] = sum;
}

template <Handover kind> static void run_producers()
{
    int *out = zeros<int>(64);
    producers<kind><<<1, THREADS>>>(out);
    finish_and_free(out);
}

// One slot, written once: the empty barrier is not needed.
__global__ void producers_once(int *out)
{
    __shared__ int slot[64];
    if (threadIdx.x < 64) {
        slot[threadIdx.x] = threadIdx.x;
        named_arrive(3, THREADS);
    } else {
        named_wait(3, THREADS);
        out[threadIdx.x - 64] = slot[127 - threadIdx.x];
    }
}

static void run_producers_once()
{
    int *out = zeros<int>(64);
    producers_once<<<1, THREADS>>>(out);
    finish_and_free(out);
}

// ---- Barriers that some threads of the block never reach.

enum Missed { BY_HALF_A_BLOCK, BY_HALF_A_WARP, BY_ONE_THREAD, IN_UNEVEN_LOOP, BY_NO_THREAD, BY_NO_BLOCK_OR_ALL, WAITED_ELSEWHERE };

template <Missed missed> __global__ void divergent(const int *in, int *out)
{
    __shared__ int values[THREADS];
    const unsigned tid = threadIdx.x;
    values[tid] = in[tid];
    __syncthreads();
    int sum = 0;
    if (missed == BY_HALF_A_BLOCK && tid < 64) {
        sum = values[tid + 64];
        __syncthreads();
    }
    if (missed == BY_HALF_A_WARP && tid % 32 < 16) {
        sum = values[tid + 16];
        __syncthreads();
    }
    if (missed == BY_ONE_THREAD && tid != 5)
        __syncthreads();
    if (missed == IN_UNEVEN_LOOP)
        for (unsigned k = 0; k <= tid / 64; k++) {
            sum += values[tid ^ 1];
            __syncthreads();
        }
    if (missed == BY_NO_THREAD)
        for (int k = 0; k < in[7]; k++) { // the same for all
            sum += values[tid ^ 1];
            __syncthreads();
        }
    if (missed == BY_NO_BLOCK_OR_ALL && blockIdx.x == 1) {
        sum = values[THREADS - 1 - tid];
        __syncthreads();
        values[tid] = sum;
    }
    if (missed == WAITED_ELSEWHERE && tid < 32) // the others come to the end of the kernel's barrier with fewer than all
        __syncthreads();
    out[blockIdx.x * THREADS + tid] = sum;
    if (missed == WAITED_ELSEWHERE && tid < 64)
        __syncthreads();
}

// Threads that the data leaves without work return; the others meet without them.
__global__ void returned_before(const int *in, int *out)
{
    __shared__ int values[THREADS];
    const unsigned tid = threadIdx.x;
    if (tid >= 50) {
        out[tid] = in[tid];
        return;
    }
    values[tid] = in[tid];
    __syncthreads();
    int sum = 0;
    for (unsigned k = 0; k < 50; k++) {
        if (k == 20 + tid % 2)
            return;
        __syncthreads();
        sum += values[49 - tid];
    }
    out[tid] = sum;
}

static void run_returned_before()
{
    int *in = numbers(THREADS), *out = zeros<int>(THREADS);
    returned_before<<<1, THREADS>>>(in, out);
    finish_and_free(in, out);
}

template <Missed missed> static void run_divergent()
{
    int *in = numbers(THREADS), *out = zeros<int>(2 * THREADS);
    divergent<missed><<<2, THREADS>>>(in, out);
    finish_and_free(in, out);
}

// ---- Groups.

enum Group { TILE, TILE_ACROSS, TILE_WITHOUT, COALESCED, BLOCK_GROUP, LARGE_TILE };

template <Group kind> __global__ void groups(int *out)
{
    __shared__ int values[THREADS];
    const unsigned tid = threadIdx.x;
    const cg::thread_block block = cg::this_thread_block();
    values[tid] = tid;
    if (kind == TILE || kind == TILE_ACROSS)
        cg::tiled_partition<16>(block).sync();
    if (kind == LARGE_TILE)
        cg::tiled_partition<32>(block).sync();
    if (kind == BLOCK_GROUP)
        block.sync();
    if (kind == COALESCED) {
        if (tid % 2 == 0) {
            const cg::coalesced_group even = cg::coalesced_threads();
            values[tid] += 1;
            even.sync();
            out[tid] = values[tid ^ 2];
        }
        return;
    }
    const unsigned distance = kind == TILE || kind == TILE_WITHOUT ? 15 : kind == BLOCK_GROUP ? 127 : 31;
    out[tid] = values[tid ^ distance];
}

template <Group kind> static void run_groups()
{
    int *out = zeros<int>(THREADS);
    groups<kind><<<1, THREADS>>>(out);
    finish_and_free(out);
}

// Tiles of two warps, which meet and reduce in memory of the library's own.
template <bool meets> __global__ void tiles_of_two_warps(int *out)
{
    __shared__ cg::block_tile_memory<THREADS> memory;
    __shared__ int sums[THREADS];
    const auto tile = cg::tiled_partition<64>(cg::this_thread_block(memory));
    const unsigned tid = threadIdx.x;
    sums[tid] = cg::reduce(tile, (int)tid, cg::plus<int>());
    if (meets)
        tile.sync();
    out[tid] = sums[tid ^ 32] + tile.shfl((int)tid, 5);
}

template <bool meets> static void run_tiles_of_two_warps()
{
    int *out = zeros<int>(THREADS);
    tiles_of_two_warps<meets><<<1, THREADS>>>(out);
    finish_and_free(out);
}

static const Case CASES[] = {
    {"tiles-of-two-warps", run_tiles_of_two_warps<true>},
    {"tiles-of-two-warps-no-sync", run_tiles_of_two_warps<false>},
    {"halves", run_halves<OWN_HALF>},
    {"halves-across", run_halves<OTHER_HALF>},
    {"halves-whole-block", run_halves<WHOLE_BLOCK_BARRIER>},
    {"halves-warp-barriers", run_halves<ONE_WARP_EACH>},
    {"producers", run_producers<ARRIVE_AND_WAIT>},
    {"producers-arrive-too-early", run_producers<ONLY_WAIT_BEFORE>},
    {"producers-once", run_producers_once},
    {"divergent-half-a-block", run_divergent<BY_HALF_A_BLOCK>},
    {"divergent-half-a-warp", run_divergent<BY_HALF_A_WARP>},
    {"divergent-one-thread", run_divergent<BY_ONE_THREAD>},
    {"divergent-uneven-loop", run_divergent<IN_UNEVEN_LOOP>},
    {"uniform-loop", run_divergent<BY_NO_THREAD>},
    {"uniform-branch", run_divergent<BY_NO_BLOCK_OR_ALL>},
    {"divergent-twice", run_divergent<WAITED_ELSEWHERE>},
    {"returned-before", run_returned_before},
    {"tile", run_groups<TILE>},
    {"tile-across", run_groups<TILE_ACROSS>},
    {"tile-without-sync", run_groups<TILE_WITHOUT>},
    {"tile-of-a-warp", run_groups<LARGE_TILE>},
    {"coalesced", run_groups<COALESCED>},
    {"block-group", run_groups<BLOCK_GROUP>},
};

int main(int argc, char **argv)
{
    return run_case(argc, argv, CASES);
}
