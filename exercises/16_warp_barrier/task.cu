// Each block adds its 256 elements; one warp alone adds the last 64 sums.
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
        for (int s = 32; s > 0; s /= 2)
            if (tid < s)
                sums[tid] += sums[tid + s];
    if (tid == 0)
        out[blockIdx.x] = sums[0];
}
