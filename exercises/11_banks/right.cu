// ==== The upper half keeps the sums
__global__ void sum(const float *in, float *out)
{
    __shared__ float sums[256];
    int tid = threadIdx.x;
    sums[tid] = in[blockIdx.x * 256 + tid];
    __syncthreads();
    for (int s = 128; s > 0; s >>= 1) {
        if (tid < s)
            sums[256 - s + tid] += sums[256 - 2 * s + tid];
        __syncthreads();
    }
    if (tid == 0)
        out[blockIdx.x] = sums[255];
}
// ==== The barrier first
__global__ void sum(const float *in, float *out)
{
    __shared__ float sums[256];
    const int tid = threadIdx.x;
    sums[tid] = in[blockIdx.x * blockDim.x + tid];
    for (int s = blockDim.x / 2; s >= 1; s /= 2) {
        __syncthreads();
        if (tid < s)
            sums[tid] = sums[tid] + sums[tid + s];
    }
    if (tid == 0)
        out[blockIdx.x] = sums[0];
}
