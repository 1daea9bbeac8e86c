// Bulk asynchronous copies: a producer thread loads tiles, consumer warps add them; mbarriers signal full and empty stages.
#include "check.h"
#include <cuda/barrier>
#include <cuda/ptx>
namespace ptx = cuda::ptx;

enum { STAGES = 3, TILE = 256, THREADS = 160, ADDERS = THREADS - 32, PIECE = 512 };

__device__ void wait(uint64_t *barrier, unsigned phase) // until that phase is complete
{
    while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cta, barrier, phase % 2))
        continue;
}

// Thread 0 of the first warp copies; each thread of the other warps sums its elements of all tiles of the block.
__global__ void sum_tiles(const int *in, int *sums, int n)
{
    __shared__ alignas(128) int tiles[STAGES][TILE];
    __shared__ uint64_t full[STAGES], empty[STAGES];
    const int tid = threadIdx.x, whole = n / 4 * 4; // elements in whole vectors
    if (tid == 0) {
        for (int s = 0; s < STAGES; s++) {
            ptx::mbarrier_init(&full[s], 1);
            ptx::mbarrier_init(&empty[s], 2 * ADDERS);
        }
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
        ptx::fence_proxy_async(ptx::space_shared);
    }
    __syncthreads();
    int sum = blockIdx.x == 0 && tid >= THREADS - (n - whole) ? in[whole + THREADS - 1 - tid] : 0;
    unsigned tile = 0;
    for (int first = blockIdx.x * TILE; first < whole; first += gridDim.x * TILE, tile++) {
        const unsigned s = tile % STAGES, size = min(TILE, whole - first);
        if (tid == 0) {
            wait(&empty[s], tile / STAGES + 1); // returns at once in the first round
            const uint32_t bytes = size * sizeof(int);
            ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full[s], bytes);
            ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tiles[s], in + first, bytes, &full[s]);
        } else if (tid >= 32) {
            wait(&full[s], tile / STAGES);
            for (unsigned k = tid - 32; k < size; k += ADDERS)
                sum += tiles[s][k];
            ptx::mbarrier_arrive(&empty[s], 2);
        }
    }
    atomicAdd(sums, sum);
}

// One thread announces the bytes of two copies without arriving; all threads arrive, and wait with their own tokens.
__global__ void two_copies(const int *in, int *out)
{
    __shared__ alignas(128) int piece[2 * PIECE];
    __shared__ uint64_t barrier;
    const int tid = threadIdx.x;
    if (tid == 0) {
        ptx::mbarrier_init(&barrier, blockDim.x);
        ptx::fence_proxy_async(ptx::space_shared);
    }
    __syncthreads();
    for (int round = 0; round < 4; round++) {
        if (tid == 0) {
            const uint32_t bytes = PIECE * sizeof(int);
            ptx::mbarrier_expect_tx(ptx::sem_relaxed, ptx::scope_cta, ptx::space_shared, &barrier, 2 * bytes);
            for (int k = 0; k < 2; k++)
                ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, piece + (1 - k) * PIECE,
                                   in + (2 * round + k) * PIECE, bytes, &barrier);
        }
        const uint64_t state = ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &barrier);
        while (!ptx::mbarrier_try_wait(&barrier, state, 1000))
            continue;
        for (int k = tid; k < 2 * PIECE; k += blockDim.x)
            out[2 * PIECE * round + k] = piece[k];
        __syncthreads();
    }
}

// Doubles pieces of n elements in shared memory, copied in and out by bulk copies.
__global__ void twice(int *data)
{
    __shared__ alignas(128) int piece[PIECE];
    __shared__ uint64_t barrier;
    int *const from = data + blockIdx.x * PIECE;
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&barrier, 1);
        ptx::fence_proxy_async(ptx::space_shared);
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, piece, from, sizeof piece, &barrier);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &barrier, sizeof piece);
    }
    __syncthreads();
    wait(&barrier, 0);
    for (int k = threadIdx.x; k < PIECE; k += blockDim.x)
        piece[k] *= 2;
    ptx::fence_proxy_async(ptx::space_shared); // make the writes visible to the bulk copy
    __syncthreads();
    if (threadIdx.x == 0) {
        ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, from, piece, sizeof piece);
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
    }
}

// The same with cuda::barrier.
__global__ void reverse(const int *in, int *out)
{
    using barrier = cuda::barrier<cuda::thread_scope_block>;
    __shared__ alignas(128) int piece[PIECE];
    __shared__ alignas(barrier) char place[sizeof(barrier)];
    barrier &ready = *reinterpret_cast<barrier *>(place);
    if (threadIdx.x == 0) {
        init(&ready, blockDim.x);
        cuda::device::experimental::fence_proxy_async_shared_cta();
    }
    __syncthreads();
    barrier::arrival_token token;
    if (threadIdx.x == 0) {
        cuda::device::experimental::cp_async_bulk_global_to_shared(piece, in + blockIdx.x * PIECE, sizeof piece, ready);
        token = cuda::device::barrier_arrive_tx(ready, 1, sizeof piece);
    } else {
        token = ready.arrive();
    }
    ready.wait(std::move(token));
    for (int k = threadIdx.x; k < PIECE; k += blockDim.x)
        out[blockIdx.x * PIECE + k] = piece[PIECE - 1 - k];
    ready.arrive_and_wait();
}

int main()
{
    const int n = 8 * PIECE;
    int *in = managed<int>(100000), *out = managed<int>(n), *sum = managed<int>(1);
    for (int i = 0; i < 100000; i++)
        in[i] = i % 1009 - 37;
    for (int count : {1, 4, 1027, 3 * 256 * 4 + 4, 20000, 99999}) {
        int expected = 0;
        for (int i = 0; i < count; i++)
            expected += in[i];
        for (int blocks : {1, 3}) {
            *sum = 0;
            sum_tiles<<<blocks, THREADS>>>(in, sum, count);
            CUDA(cudaDeviceSynchronize());
            CHECK(*sum == expected);
        }
    }
    two_copies<<<1, 96>>>(in, out);
    CUDA(cudaDeviceSynchronize());
    for (int i = 0; i < n; i++)
        CHECK(out[i] == in[(i / PIECE ^ 1) * PIECE + i % PIECE]);
    reverse<<<8, 64>>>(in, out);
    CUDA(cudaDeviceSynchronize());
    for (int i = 0; i < n; i++)
        CHECK(out[i] == in[i / PIECE * PIECE + PIECE - 1 - i % PIECE]);
    twice<<<8, 64>>>(out);
    CUDA(cudaDeviceSynchronize());
    for (int i = 0; i < n; i++)
        CHECK(out[i] == 2 * in[i / PIECE * PIECE + PIECE - 1 - i % PIECE]);
    puts("PASS");
}
