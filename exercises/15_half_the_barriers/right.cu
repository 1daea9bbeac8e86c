// ==== The barrier at the beginning of each round
__global__ void sum(const float *in, float *out)
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
        out[blockIdx.x] = sums[0];
}
// ==== Two arrays, alternately
__global__ void sum(const float *in, float *out)
{
    __shared__ float sums[2][256];
    int tid = threadIdx.x, from = 0;
    sums[0][tid] = in[blockIdx.x * 256 + tid];
    __syncthreads();
    for (int s = 128; s > 0; s /= 2) {
        if (tid < s)
            sums[1 - from][tid] = sums[from][tid] + sums[from][tid + s];
        from = 1 - from;
        __syncthreads();
    }
    if (tid == 0)
        out[blockIdx.x] = sums[from][0];
}
