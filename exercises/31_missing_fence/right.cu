// ==== A fence on both sides of the counter, for all blocks
__device__ unsigned blocks_done;

__global__ void largest(const float *in, float *part, float *best)
{
    float own = in[blockIdx.x * 32 + threadIdx.x];
    for (int s = 16; s > 0; s /= 2)
        own = fmaxf(own, __shfl_down_sync(0xffffffff, own, s));
    if (threadIdx.x == 0) {
        part[blockIdx.x] = own;
        __threadfence();
        const unsigned before = atomicInc(&blocks_done, gridDim.x - 1);
        __threadfence();
        if (before == gridDim.x - 1) {
            for (int k = 0; k < gridDim.x; k++)
                own = fmaxf(own, part[k]);
            *best = own;
        }
    }
}
// ==== The counter itself releases and acquires
#include <cuda/atomic>
__device__ unsigned blocks_done;

__global__ void largest(const float *in, float *part, float *best)
{
    float own = in[blockIdx.x * 32 + threadIdx.x];
    for (int s = 16; s > 0; s /= 2)
        own = fmaxf(own, __shfl_down_sync(0xffffffff, own, s));
    if (threadIdx.x == 0) {
        part[blockIdx.x] = own;
        cuda::atomic_ref<unsigned, cuda::thread_scope_device> done(blocks_done);
        if (done.fetch_add(1, cuda::memory_order_acq_rel) == gridDim.x - 1) {
            for (int k = 0; k < gridDim.x; k++)
                own = fmaxf(own, part[k]);
            *best = own;
            blocks_done = 0;
        }
    }
}
