// Each block adds its 256 elements: each warp its own by shuffles, and the first warp the 8 sums.
__global__ void sum(const float *in, float *out)
{
    __shared__ float sums[8];
    int tid = threadIdx.x;
    float own = in[blockIdx.x * 256 + tid];
    for (int s = 16; s > 0; s /= 2)
        own += __shfl_down_sync(0xffffffff, own, s);
    if (tid % 32 == 0)
        sums[tid / 32] = own;
    __syncthreads();
    if (tid < 32) {
        own = tid < 8 ? sums[tid] : 0;
        for (int s = 4; s > 0; s /= 2)
            own += __shfl_down_sync(0xffffffff, own, s);
        if (tid == 0)
            out[blockIdx.x] = own;
    }
}
