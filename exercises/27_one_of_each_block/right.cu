// ==== A tree in shared memory
__global__ void sum(const float *in, float *total)
{
    __shared__ float sums[256];
    int tid = threadIdx.x;
    sums[tid] = in[blockIdx.x * 256 + tid];
    for (int s = 128; s > 0; s /= 2) {
        __syncthreads();
        if (tid < s)
            sums[tid] += sums[tid + s];
    }
    if (tid == 0)
        atomicAdd(total, sums[0]);
}
// ==== The first warp takes eight elements per lane
__global__ void sum(const float *in, float *total)
{
    if (threadIdx.x >= 32)
        return;
    float own = 0;
    for (int k = threadIdx.x; k < 256; k += 32)
        own += in[blockIdx.x * 256 + k];
    for (int s = 16; s > 0; s /= 2)
        own += __shfl_xor_sync(0xffffffff, own, s);
    if (threadIdx.x == 0)
        atomicAdd(total, own);
}
