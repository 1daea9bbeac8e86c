// out[i] is the sum of the block's elements up to in[i].
__global__ void scan(const float *in, float *out)
{
    __shared__ float sums[256];
    int tid = threadIdx.x, i = blockIdx.x * 256 + tid;
    sums[tid] = in[i];
    __syncthreads();
    for (int s = 1; s < 256; s *= 2) {
        if (tid >= s)
            sums[tid] += sums[tid - s];
        __syncthreads();
    }
    out[i] = sums[tid];
}
