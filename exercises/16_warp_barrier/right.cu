// ==== The warp barrier first
__global__ void sum(const float *in, float *out)
{
    __shared__ float sums[256];
    int tid = threadIdx.x;
    sums[tid] = in[blockIdx.x * 256 + tid];
    __syncthreads();
    for (int s = 128; s > 32; s /= 2) {
        if (tid < s)
            sums[tid] += sums[tid + s];
        __syncthreads();
    }
    if (tid < 32)
        for (int s = 32; s > 0; s /= 2) {
            __syncwarp();
            if (tid < s)
                sums[tid] += sums[tid + s];
        }
    if (tid == 0)
        out[blockIdx.x] = sums[0];
}
// ==== In registers
__global__ void sum(const float *in, float *out)
{
    __shared__ float sums[256];
    int tid = threadIdx.x;
    sums[tid] = in[blockIdx.x * 256 + tid];
    __syncthreads();
    for (int s = 128; s > 32; s /= 2) {
        if (tid < s)
            sums[tid] += sums[tid + s];
        __syncthreads();
    }
    if (tid < 32) {
        float own = sums[tid] + sums[tid + 32];
        for (int s = 16; s > 0; s /= 2)
            own += __shfl_down_sync(0xffffffff, own, s);
        if (tid == 0)
            out[blockIdx.x] = own;
    }
}
