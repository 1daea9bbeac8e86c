// ==== Thread 0 adds the 8 sums
__global__ void sum(const float *in, float *out)
{
    __shared__ float sums[8];
    int tid = threadIdx.x;
    float own = in[blockIdx.x * 256 + tid];
    for (int s = 16; s > 0; s /= 2)
        own += __shfl_xor_sync(0xffffffff, own, s);
    if (tid % 32 == 0)
        sums[tid / 32] = own;
    __syncthreads();
    if (tid == 0) {
        for (int k = 1; k < 8; k++)
            own += sums[k];
        out[blockIdx.x] = own;
    }
}
// ==== Eight lanes alone
__device__ float sum_of(float own, unsigned lanes, int s)
{
    for (; s > 0; s /= 2)
        own += __shfl_down_sync(lanes, own, s);
    return own;
}

__global__ void sum(const float *in, float *out)
{
    __shared__ float sums[8];
    int tid = threadIdx.x;
    float own = sum_of(in[blockIdx.x * 256 + tid], 0xffffffff, 16);
    if (tid % 32 == 0)
        sums[tid / 32] = own;
    __syncthreads();
    if (tid < 8) {
        own = sum_of(sums[tid], 0xff, 4);
        if (tid == 0)
            out[blockIdx.x] = own;
    }
}
