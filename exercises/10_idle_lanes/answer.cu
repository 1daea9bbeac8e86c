// Each block adds its 256 elements, neighbours first.
__global__ void sum(const float *in, float *out)
{
    __shared__ float sums[256];
    int tid = threadIdx.x;
    sums[tid] = in[blockIdx.x * 256 + tid];
    __syncthreads();
    for (int s = 1; s < 256; s *= 2) {
        int own = 2 * s * tid;
        if (own < 256)
            sums[own] += sums[own + s];
        __syncthreads();
    }
    if (tid == 0)
        out[blockIdx.x] = sums[0];
}
