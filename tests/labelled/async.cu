// Copies that go on by themselves, and barriers that are objects in memory.
#include "cases.h"

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/ptx>
#include <cuda_pipeline.h>

#pragma nv_diag_suppress static_var_with_dynamic_init // of a cuda::barrier in shared memory, which init() makes

namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;
enum { THREADS = 64 };
using block_barrier = cuda::barrier<cuda::thread_scope_block>;

// ---- cp.async: each thread copies 16 bytes, and waits, or not, before it or others read them.

enum Copy { WAIT_AND_BARRIER, OWN_AFTER_WAIT, OTHERS_AFTER_WAIT, OWN_WITHOUT_WAIT, BARRIER_WITHOUT_WAIT };

template <Copy copy> __global__ void copied_in(const int4 *in, int *out)
{
    __shared__ int4 tile[THREADS];
    __pipeline_memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], sizeof(int4));
    __pipeline_commit();
    if (copy == WAIT_AND_BARRIER || copy == OWN_AFTER_WAIT || copy == OTHERS_AFTER_WAIT)
        __pipeline_wait_prior(0);
    if (copy == WAIT_AND_BARRIER || copy == BARRIER_WITHOUT_WAIT)
        __syncthreads();
    const bool own = copy == OWN_AFTER_WAIT || copy == OWN_WITHOUT_WAIT;
    out[threadIdx.x] = tile[own ? threadIdx.x : THREADS - 1 - threadIdx.x].y;
}

template <Copy copy> static void run_copied_in()
{
    int *in = numbers(4 * THREADS), *out = zeros<int>(THREADS);
    copied_in<copy><<<1, THREADS>>>((const int4 *)in, out);
    finish_and_free(in, out);
}

// Two stages: while one is used, the next one comes. `open` is how many copies may still be under way at the wait.
template <int open, bool last_barrier> __global__ void stages(const int *in, int *out, int tiles)
{
    __shared__ int stage[2][THREADS];
    int sum = 0;
    __pipeline_memcpy_async(&stage[0][threadIdx.x], &in[threadIdx.x], sizeof(int));
    __pipeline_commit();
    for (int k = 0; k < tiles; k++) {
        if (k + 1 < tiles)
            __pipeline_memcpy_async(&stage[(k + 1) % 2][threadIdx.x], &in[(k + 1) * THREADS + threadIdx.x], sizeof(int));
        __pipeline_commit();
        __pipeline_wait_prior(open);
        __syncthreads();
        sum += stage[k % 2][THREADS - 1 - threadIdx.x];
        if (last_barrier)
            __syncthreads();
    }
    out[threadIdx.x] = sum;
}

template <int open, bool last_barrier> static void run_stages()
{
    int *in = numbers(4 * THREADS), *out = zeros<int>(THREADS);
    stages<open, last_barrier><<<1, THREADS>>>(in, out, 4);
    finish_and_free(in, out);
}

// The source of a copy is written before the copy has read it.
template <bool wait> __global__ void source_written(int *in, int *out)
{
    __shared__ int tile[THREADS];
    __pipeline_memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], sizeof(int));
    __pipeline_commit();
    if (wait) {
        __pipeline_wait_prior(0);
        __syncthreads();
    }
    in[(threadIdx.x + 1) % THREADS] = -1;
    if (!wait)
        __pipeline_wait_prior(0);
    out[threadIdx.x] = tile[threadIdx.x];
}

template <bool wait> static void run_source_written()
{
    int *in = numbers(THREADS), *out = zeros<int>(THREADS);
    source_written<wait><<<1, THREADS>>>(in, out);
    finish_and_free(in, out);
}

// A group's copy, and its wait.
template <bool wait> __global__ void group_copy(const int *in, int *out)
{
    __shared__ alignas(16) int tile[THREADS];
    const cg::thread_block block = cg::this_thread_block();
    cg::memcpy_async(block, tile, in, sizeof tile);
    if (wait)
        cg::wait(block);
    else
        block.sync();
    out[threadIdx.x] = tile[THREADS - 1 - threadIdx.x];
}

template <bool wait> static void run_group_copy()
{
    int *in = numbers(THREADS), *out = zeros<int>(THREADS);
    group_copy<wait><<<1, THREADS>>>(in, out);
    finish_and_free(in, out);
}

// cuda::pipeline of one thread.
template <bool wait> __global__ void thread_pipeline(const int *in, int *out)
{
    __shared__ int tile[THREADS];
    cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();
    pipe.producer_acquire();
    cuda::memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], sizeof(int), pipe);
    pipe.producer_commit();
    if (wait)
        pipe.consumer_wait();
    __syncthreads();
    out[threadIdx.x] = tile[THREADS - 1 - threadIdx.x];
    pipe.consumer_release();
}

template <bool wait> static void run_thread_pipeline()
{
    int *in = numbers(THREADS), *out = zeros<int>(THREADS);
    thread_pipeline<wait><<<1, THREADS>>>(in, out);
    finish_and_free(in, out);
}

// ---- cuda::barrier in shared memory.

enum Phase { ARRIVE_AND_WAIT, ARRIVE_THEN_WAIT, ONLY_ARRIVE, WORK_BETWEEN, READ_BETWEEN };

template <Phase phase> __global__ void barrier_object(int *out)
{
    __shared__ block_barrier barrier;
    __shared__ int values[THREADS];
    if (threadIdx.x == 0)
        init(&barrier, THREADS);
    __syncthreads();
    values[threadIdx.x] = threadIdx.x;
    int early = 0;
    if (phase == ARRIVE_AND_WAIT) {
        barrier.arrive_and_wait();
    } else {
        block_barrier::arrival_token token = barrier.arrive();
        if (phase == WORK_BETWEEN)
            early = threadIdx.x * 7;
        if (phase == READ_BETWEEN)
            early = values[THREADS - 1 - threadIdx.x];
        if (phase != ONLY_ARRIVE)
            barrier.wait(std::move(token));
    }
    out[threadIdx.x] = early + (phase == READ_BETWEEN ? 0 : values[THREADS - 1 - threadIdx.x]);
}

template <Phase phase> static void run_barrier_object()
{
    int *out = zeros<int>(THREADS);
    barrier_object<phase><<<1, THREADS>>>(out);
    finish_and_free(out);
}

// Made by one thread: the others must not arrive before it is.
template <bool ordered> __global__ void barrier_made(int *out)
{
    __shared__ block_barrier barrier;
    if (threadIdx.x == 0)
        init(&barrier, THREADS);
    if (ordered)
        __syncthreads();
    else
        __syncwarp();
    if (ordered || threadIdx.x < 32)
        out[threadIdx.x] = threadIdx.x;
    const block_barrier::arrival_token token = barrier.arrive();
    (void)token;
}

template <bool ordered> static void run_barrier_made()
{
    int *out = zeros<int>(THREADS);
    barrier_made<ordered><<<1, THREADS>>>(out);
    finish_and_free(out);
}

// A warp produces, the other consumes; two barriers say "full" and "empty".
enum TooEarly { NOTHING, WRITE, READ };

template <TooEarly too_early> __global__ void full_and_empty(int *out)
{
    __shared__ block_barrier full, empty;
    __shared__ int slot[32];
    const unsigned lane = threadIdx.x % 32;
    if (threadIdx.x == 0) {
        init(&full, THREADS);
        init(&empty, THREADS);
    }
    __syncthreads();
    int sum = 0;
    if (threadIdx.x < 32) {
        for (int k = 0; k < 3; k++) {
            if (too_early == WRITE)
                slot[lane] = 10 * k + lane;
            empty.arrive_and_wait();
            if (too_early != WRITE)
                slot[lane] = 10 * k + lane;
            (void)full.arrive();
        }
    } else {
        (void)empty.arrive(); // at first it is
        for (int k = 0; k < 3; k++) {
            if (too_early == READ)
                sum += slot[31 - lane];
            full.arrive_and_wait();
            if (too_early != READ)
                sum += slot[31 - lane];
            if (k < 2)
                (void)empty.arrive();
        }
        out[lane] = sum;
    }
}

template <TooEarly too_early> static void run_full_and_empty()
{
    int *out = zeros<int>(32);
    full_and_empty<too_early><<<1, THREADS>>>(out);
    finish_and_free(out);
}

// A copy that arrives at a barrier when it is done.
template <bool wait> __global__ void copy_to_barrier(const int *in, int *out)
{
    __shared__ block_barrier barrier;
    __shared__ alignas(16) int tile[THREADS];
    if (threadIdx.x == 0)
        init(&barrier, THREADS);
    __syncthreads();
    cuda::memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], sizeof(int), barrier);
    block_barrier::arrival_token token = barrier.arrive();
    if (wait)
        barrier.wait(std::move(token));
    else
        __syncthreads();
    out[threadIdx.x] = tile[THREADS - 1 - threadIdx.x];
}

template <bool wait> static void run_copy_to_barrier()
{
    int *in = numbers(THREADS), *out = zeros<int>(THREADS);
    copy_to_barrier<wait><<<1, THREADS>>>(in, out);
    finish_and_free(in, out);
}

// The same by the whole block, 16 bytes aligned: cuda::memcpy_async then uses TMA.
template <bool wait> __global__ void engine_copy_to_barrier(const int *in, int *out)
{
    __shared__ block_barrier barrier;
    __shared__ alignas(16) int tile[THREADS];
    if (threadIdx.x == 0)
        init(&barrier, THREADS);
    __syncthreads();
    cuda::memcpy_async(cooperative_groups::this_thread_block(), tile, in, cuda::aligned_size_t<16>(sizeof tile), barrier);
    block_barrier::arrival_token token = barrier.arrive();
    if (wait)
        barrier.wait(std::move(token));
    else
        __syncthreads();
    out[threadIdx.x] = tile[THREADS - 1 - threadIdx.x];
}

template <bool wait> static void run_engine_copy_to_barrier()
{
    int *in = numbers(THREADS), *out = zeros<int>(THREADS);
    engine_copy_to_barrier<wait><<<1, THREADS>>>(in, out);
    finish_and_free(in, out);
}

// A bulk asynchronous copy fills shared memory; the barrier counts its bytes. The copy sees the barrier only after a fence.
template <bool wait, bool fence> __global__ void bulk_copy(const int *in, int *out)
{
    __shared__ alignas(16) int tile[THREADS];
    __shared__ alignas(8) unsigned long long barrier;
    const unsigned place = (unsigned)__cvta_generic_to_shared(&barrier);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(place) : "memory");
        if (fence)
            asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(place), "r"((unsigned)sizeof tile) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
                     "r"((unsigned)__cvta_generic_to_shared(tile)), "l"(in), "r"((unsigned)sizeof tile), "r"(place) : "memory");
    }
    if (wait) {
        unsigned done = 0;
        while (!done)
            asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                         : "=r"(done) : "r"(place) : "memory");
    } else {
        __syncthreads();
    }
    out[threadIdx.x] = tile[threadIdx.x];
}

template <bool wait, bool fence> static void run_bulk_copy()
{
    int *in = numbers(THREADS), *out = zeros<int>(THREADS);
    bulk_copy<wait, fence><<<1, THREADS>>>(in, out);
    finish_and_free(in, out);
}

// A bulk asynchronous copy moves results to device memory: they are written before a barrier, and made visible to the async proxy.
template <bool barrier, bool fence> __global__ void bulk_store(int *out)
{
    __shared__ alignas(16) int tile[THREADS];
    tile[threadIdx.x] = threadIdx.x;
    if (fence)
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    if (barrier)
        __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::
                     "l"(out), "r"((unsigned)__cvta_generic_to_shared(tile)), "r"((unsigned)sizeof tile) : "memory");
        asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
    }
}

template <bool barrier, bool fence> static void run_bulk_store()
{
    int *out = zeros<int>(THREADS);
    bulk_store<barrier, fence><<<1, THREADS>>>(out);
    finish_and_free(out);
}

// Two tiles, one after the other, from one buffer: it may be written again after the bulk copy has read it.
template <bool wait, bool all> __global__ void bulk_stores(int *out)
{
    __shared__ alignas(16) int tile[THREADS];
    for (int turn = 0; turn < 2; turn++) {
        tile[threadIdx.x] = turn;
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
        if (threadIdx.x == 0) {
            asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::
                         "l"(out + turn * THREADS), "r"((unsigned)__cvta_generic_to_shared(tile)), "r"((unsigned)sizeof tile) : "memory");
            asm volatile("cp.async.bulk.commit_group;" ::: "memory");
            if (wait)
                asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(all ? 0 : 1) : "memory");
        }
        __syncthreads();
    }
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

template <bool wait, bool all> static void run_bulk_stores()
{
    int *out = zeros<int>(2 * THREADS);
    bulk_stores<wait, all><<<1, THREADS>>>(out);
    finish_and_free(out);
}

// Copies two ranges out of shared memory that overlap; waits for both, or for the first only.
template <bool all> __global__ void sources_overlap(int *out)
{
    __shared__ __align__(128) int values[24];
    if (threadIdx.x == 0) {
        for (int k = 0; k < 24; k++)
            values[k] = k;
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        for (int k = 0; k < 2; k++) {
            asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::
                         "l"(out + 16 * k), "r"((unsigned)__cvta_generic_to_shared(values + 8 * k)), "r"(64)
                         : "memory");
            asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        }
        asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(all ? 0 : 1) : "memory");
        values[4] = -1;  // of the first alone
        values[12] = -1; // of both
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
}

template <bool all> static void run_sources_overlap()
{
    int *out = zeros<int>(32);
    sources_overlap<all><<<1, THREADS>>>(out);
    finish_and_free(out);
}

// Each lane has its next element copied while it uses the one before; the last lanes have fewer. `gap`: places stay
// empty between the elements.
template <bool gap, bool wait> __global__ void wait_in_parts(const int *in, int *out, unsigned elements)
{
    __shared__ int tile[2][48];
    const unsigned lane = threadIdx.x, at = gap ? lane + lane / 8 : lane;
    int sum = 0, count = 0;
    for (unsigned i = lane; i < elements; i += 32, count++) {
        __pipeline_memcpy_async(&tile[count & 1][at], &in[i], sizeof(int));
        __pipeline_commit();
        if (count > 0) {
            __pipeline_wait_prior(1);
            sum += tile[(count - 1) & 1][at];
        }
    }
    if (wait)
        __pipeline_wait_prior(0);
    out[lane] = sum + tile[(count - 1) & 1][at];
}

template <bool gap, bool wait, unsigned elements = 44> static void run_wait_in_parts()
{
    int *in = zeros<int>(elements), *out = zeros<int>(32);
    wait_in_parts<gap, wait><<<1, 32>>>(in, out, elements);
    finish_and_free(in, out);
}

// Two lanes have the same bytes copied out, and wait, or not, before all write them again.
template <bool wait> __global__ void source_of_two(int *out)
{
    __shared__ __align__(128) char tile[128];
    const unsigned lane = threadIdx.x;
    for (unsigned k = lane; k < 128; k += 32)
        tile[k] = k;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncwarp();
    if (lane < 2) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::
                     "l"(out + 32 * lane), "r"((unsigned)__cvta_generic_to_shared(tile)), "r"(128) : "memory");
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        if (wait)
            asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    }
    __syncwarp();
    for (unsigned k = lane; k < 128; k += 32)
        tile[k] = -1;
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

template <bool wait> static void run_source_of_two()
{
    int *out = zeros<int>(64);
    source_of_two<wait><<<1, 32>>>(out);
    finish_and_free(out);
}

// In a cluster the second block sends a value to the first, where a barrier object counts the bytes that have come.
// `made`: the barrier object is there before the other block sends. `wait`: the first block waits for the bytes.
template <bool made, bool wait> __global__ void __cluster_dims__(2) send(int *out)
{
    __shared__ int box;
    __shared__ uint64_t sent;
    if (threadIdx.x > 0)
        return;
    const cg::cluster_group cluster = cg::this_cluster();
    if (blockIdx.x == 0) {
        ptx::mbarrier_init(&sent, 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &sent, sizeof box);
    }
    if (made)
        cluster.sync();
    if (blockIdx.x == 1)
        ptx::st_async(cluster.map_shared_rank(&box, 0), 7, cluster.map_shared_rank(&sent, 0));
    if (!made)
        cluster.sync();
    if (blockIdx.x == 1)
        return;
    while (wait && !ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, &sent, 0))
        continue;
    *out = box;
}

template <bool made, bool wait> static void run_send()
{
    int *out = zeros<int>(1);
    send<made, wait><<<2, 32>>>(out);
    finish_and_free(out);
}

// Ends an mbarrier: one thread does, or a whole warp.
template <unsigned lanes> __global__ void end_barrier(int *out)
{
    __shared__ uint64_t barrier;
    const unsigned at = (unsigned)__cvta_generic_to_shared(&barrier);
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at), "r"(THREADS) : "memory");
    __syncthreads();
    if (threadIdx.x < lanes)
        asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(at) : "memory");
    out[threadIdx.x] = 1;
}

template <unsigned lanes> static void run_end_barrier()
{
    int *out = zeros<int>(THREADS);
    end_barrier<lanes><<<1, THREADS>>>(out);
    cudaDeviceSynchronize(); // fails where a warp does
    cudaGetLastError();
}

static const Case CASES[] = {
    {"copy", run_copied_in<WAIT_AND_BARRIER>},
    {"copy-own", run_copied_in<OWN_AFTER_WAIT>},
    {"copy-others-no-barrier", run_copied_in<OTHERS_AFTER_WAIT>},
    {"copy-own-no-wait", run_copied_in<OWN_WITHOUT_WAIT>},
    {"copy-barrier-no-wait", run_copied_in<BARRIER_WITHOUT_WAIT>},
    {"stages", run_stages<1, true>},
    {"stages-wait-for-too-few", run_stages<2, true>},
    {"stages-no-last-barrier", run_stages<1, false>},
    {"source-kept", run_source_written<true>},
    {"source-written", run_source_written<false>},
    {"group-copy", run_group_copy<true>},
    {"group-copy-no-wait", run_group_copy<false>},
    {"pipeline", run_thread_pipeline<true>},
    {"pipeline-no-wait", run_thread_pipeline<false>},
    {"barrier-arrive-and-wait", run_barrier_object<ARRIVE_AND_WAIT>},
    {"barrier-arrive-then-wait", run_barrier_object<ARRIVE_THEN_WAIT>},
    {"barrier-work-between", run_barrier_object<WORK_BETWEEN>},
    {"barrier-no-wait", run_barrier_object<ONLY_ARRIVE>},
    {"barrier-read-between", run_barrier_object<READ_BETWEEN>},
    {"barrier-made", run_barrier_made<true>},
    {"barrier-made-unordered", run_barrier_made<false>},
    {"full-and-empty", run_full_and_empty<NOTHING>},
    {"full-and-empty-written-early", run_full_and_empty<WRITE>},
    {"full-and-empty-read-early", run_full_and_empty<READ>},
    {"copy-to-barrier", run_copy_to_barrier<true>},
    {"copy-to-barrier-no-wait", run_copy_to_barrier<false>},
    {"engine-copy-to-barrier", run_engine_copy_to_barrier<true>},
    {"engine-copy-to-barrier-no-wait", run_engine_copy_to_barrier<false>},
    {"bulk-copy", run_bulk_copy<true, true>},
    {"bulk-copy-no-wait", run_bulk_copy<false, true>},
    {"bulk-copy-no-fence", run_bulk_copy<true, false>},
    {"bulk-store", run_bulk_store<true, true>},
    {"bulk-store-no-barrier", run_bulk_store<false, true>},
    {"bulk-store-no-fence", run_bulk_store<true, false>},
    {"bulk-stores", run_bulk_stores<true, true>},
    {"bulk-stores-no-wait", run_bulk_stores<false, true>},
    {"bulk-stores-wait-for-too-few", run_bulk_stores<true, false>},
    {"bulk-sources-overlap", run_sources_overlap<true>},
    {"bulk-sources-overlap-wait-for-one", run_sources_overlap<false>},
    {"parts", run_wait_in_parts<false, true>},
    {"parts-no-last-wait", run_wait_in_parts<false, false>},
    {"parts-with-gaps", run_wait_in_parts<true, true>},
    {"parts-with-gaps-no-last-wait", run_wait_in_parts<true, false>},
    {"parts-one-lane", run_wait_in_parts<false, true, 33>},
    {"parts-all-but-one-lane", run_wait_in_parts<true, true, 63>},
    {"parts-with-gaps-some-lanes", run_wait_in_parts<true, true, 47>},
    {"bulk-source-of-two-lanes", run_source_of_two<true>},
    {"bulk-source-of-two-lanes-no-wait", run_source_of_two<false>},
    {"send", run_send<true, true>},
    {"send-no-wait", run_send<true, false>},
    {"send-before-barrier-is-made", run_send<false, true>},
    {"barrier-ended", run_end_barrier<1>},
    {"barrier-ended-by-a-warp", run_end_barrier<32>},
};

int main(int argc, char **argv)
{
    return run_case(argc, argv, CASES);
}
