// ==== A counter that wraps around
__device__ unsigned blocks_done;

__global__ void sum(const float *in, float *part, float *total)
{
    __shared__ bool is_last;
    float own = in[blockIdx.x * 256 + threadIdx.x];
    for (int s = 16; s > 0; s /= 2)
        own += __shfl_down_sync(0xffffffff, own, s);
    if (threadIdx.x % 32 == 0)
        part[blockIdx.x * 8 + threadIdx.x / 32] = own;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        is_last = atomicInc(&blocks_done, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (is_last && threadIdx.x == 0) {
        __threadfence();
        float all = 0;
        for (int k = 0; k < 8 * gridDim.x; k++)
            all += part[k];
        *total = all;
    }
}
// ==== Each writer has its own fence, an atomic operation resets the counter, and a warp adds the parts
__device__ unsigned blocks_done;

__global__ void sum(const float *in, float *part, float *total)
{
    __shared__ bool is_last;
    float own = in[blockIdx.x * 256 + threadIdx.x];
    for (int s = 16; s > 0; s /= 2)
        own += __shfl_down_sync(0xffffffff, own, s);
    if (threadIdx.x % 32 == 0) {
        part[blockIdx.x * 8 + threadIdx.x / 32] = own;
        __threadfence();
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        is_last = atomicAdd(&blocks_done, 1) == gridDim.x - 1;
        __threadfence();
        if (is_last)
            atomicExch(&blocks_done, 0);
    }
    __syncthreads();
    if (is_last && threadIdx.x < 32) {
        float all = 0;
        for (int k = threadIdx.x; k < 8 * gridDim.x; k += 32)
            all += part[k];
        for (int s = 16; s > 0; s /= 2)
            all += __shfl_down_sync(0xffffffff, all, s);
        if (threadIdx.x == 0)
            *total = all;
    }
}
