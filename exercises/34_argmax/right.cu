// ==== Indices alone
__global__ void largest(const float *in, int *where)
{
    __shared__ int index[256];
    int tid = threadIdx.x;
    index[tid] = blockIdx.x * 256 + tid;
    __syncthreads();
    for (int s = 128; s > 0; s /= 2) {
        if (tid < s && in[index[tid + s]] > in[index[tid]])
            index[tid] = index[tid + s];
        __syncthreads();
    }
    if (tid == 0)
        where[blockIdx.x] = index[0];
}
// ==== Pairs by shuffles
__device__ void take_larger(float &best, int &index)
{
    for (int s = 16; s > 0; s /= 2) {
        float other = __shfl_down_sync(0xffffffff, best, s);
        int place = __shfl_down_sync(0xffffffff, index, s);
        if (other > best) {
            best = other;
            index = place;
        }
    }
}

__global__ void largest(const float *in, int *where)
{
    __shared__ float bests[8];
    __shared__ int indices[8];
    int tid = threadIdx.x, index = blockIdx.x * 256 + tid;
    float best = in[index];
    take_larger(best, index);
    if (tid % 32 == 0) {
        bests[tid / 32] = best;
        indices[tid / 32] = index;
    }
    __syncthreads();
    if (tid >= 32)
        return;
    best = bests[tid % 8];
    index = indices[tid % 8];
    take_larger(best, index);
    if (tid == 0)
        where[blockIdx.x] = index;
}
