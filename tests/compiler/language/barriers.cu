// cuda::barrier, cuda::pipeline and asynchronous copies. The host copies at once, and has __syncthreads() instead of barriers.
#ifdef ON_HOST
KERNEL(k1)
{
    INDEX;
    __shared__ int values[64];
    values[tid] = in[i];
    __syncthreads();
    const int neighbour = values[tid ^ 1];
    __syncthreads();
    out[i] = neighbour + in[tid ^ 3];
}

KERNEL(k2)
{
    INDEX;
    for (int batch = 0; batch < 5; batch++)
        out[blockIdx.x * 512 + batch * 64 + tid] = in[batch * 64 + 63 - tid];
}

KERNEL(k3)
{
    INDEX;
    for (int k = 0; k < 3; k++)
        out[i + 128 * k] = in[64 * k + tid];
    out[i + 384] = in[63 - tid];
}
#else
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>
namespace cg = cooperative_groups;

KERNEL(k1)
{
    INDEX;
    using barrier = cuda::barrier<cuda::thread_scope_block>;
    __shared__ barrier ready;
    __shared__ alignas(16) int values[64];
    auto block = cg::this_thread_block();
    if (block.thread_rank() == 0)
        init(&ready, block.size());
    block.sync();
    values[tid] = in[i];
    barrier::arrival_token token = ready.arrive();
    ready.wait(std::move(token));
    const int neighbour = values[tid ^ 1];
    ready.arrive_and_wait();
    cuda::memcpy_async(block, values, in, cuda::aligned_size_t<16>(sizeof values), ready);
    ready.arrive_and_wait();
    out[i] = neighbour + values[tid ^ 3];
}

KERNEL(k2)
{
    INDEX;
    constexpr int STAGES = 2, BATCHES = 5;
    __shared__ int values[STAGES][64];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, STAGES> state;
    auto block = cg::this_thread_block();
    auto pipeline = cuda::make_pipeline(block, &state);
    for (int batch = 0, fetched = 0; batch < BATCHES; batch++) {
        for (; fetched < BATCHES && fetched < batch + STAGES; fetched++) {
            pipeline.producer_acquire();
            cuda::memcpy_async(block, values[fetched % STAGES], in + 64 * fetched, sizeof values[0], pipeline);
            pipeline.producer_commit();
        }
        pipeline.consumer_wait();
        out[blockIdx.x * 512 + batch * 64 + tid] = values[batch % STAGES][63 - tid];
        pipeline.consumer_release();
    }
}

KERNEL(k3)
{
    INDEX;
    __shared__ int values[3][64];
    cuda::pipeline<cuda::thread_scope_thread> pipeline = cuda::make_pipeline();
    for (int k = 0; k < 3; k++) {
        pipeline.producer_acquire();
        cuda::memcpy_async(&values[k][tid], &in[64 * k + tid], sizeof(int), pipeline);
        pipeline.producer_commit();
    }
    for (int k = 0; k < 3; k++) {
        pipeline.consumer_wait();
        out[i + 128 * k] = values[k][tid];
        pipeline.consumer_release();
    }
    auto block = cg::this_thread_block();
    cg::memcpy_async(block, values[0], in, sizeof values[0]);
    cg::wait(block);
    out[i + 384] = values[0][63 - tid];
}
#endif
