// out[i] is the sum of the block's elements up to in[i].
__global__ void scan(const float *in, float *out)
{
    __shared__ float sums[2][256];
    int tid = threadIdx.x, i = blockIdx.x * 256 + tid, from = 0;
    sums[0][tid] = in[i];
    __syncthreads();
    for (int s = 1; s < 256; s *= 2) {
        sums[1 - from][tid] = sums[from][tid] + (tid >= s ? sums[from][tid - s] : 0);
        from = 1 - from;
        __syncthreads();
    }
    out[i] = sums[from][tid];
}
