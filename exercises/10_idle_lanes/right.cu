// ==== Halves, not neighbours
__global__ void sum(const float *in, float *out)
{
    __shared__ float sums[256];
    int tid = threadIdx.x;
    sums[tid] = in[blockIdx.x * 256 + tid];
    __syncthreads();
    for (int s = 128; s > 0; s /= 2) {
        if (tid < s)
            sums[tid] += sums[tid + s];
        __syncthreads();
    }
    if (tid == 0)
        out[blockIdx.x] = sums[0];
}
// ==== Counts the remaining sums
__global__ void sum(const float *in, float *out)
{
    __shared__ float sums[256];
    int tid = threadIdx.x;
    sums[tid] = in[blockIdx.x * 256 + tid];
    __syncthreads();
    for (int left = 128, s = 1; left > 0; left /= 2, s *= 2) {
        if (tid < left)
            sums[tid * 2 * s] += sums[(tid * 2 + 1) * s];
        __syncthreads();
    }
    if (tid == 0)
        out[blockIdx.x] = sums[0];
}
