// The largest of each block's 256 elements.
__global__ void largest(const float *in, float *out)
{
    __shared__ float best[256];
    int tid = threadIdx.x;
    best[tid] = in[blockIdx.x * 256 + tid];
    __syncthreads();
    for (int s = 128; s > 0; s /= 2) {
        if (tid < s)
            best[tid] = fmaxf(best[tid], best[tid + s]);
        __syncthreads();
    }
    if (tid == 0)
        out[blockIdx.x] = best[0];
}
