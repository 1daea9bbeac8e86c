// ==== By a pointer
__global__ void sum(const float *in, float *out)
{
    __shared__ float sums[256];
    int tid = threadIdx.x;
    const float *part = in + blockIdx.x * 512;
    sums[tid] = part[tid + 256] + part[tid];
    __syncthreads();
    for (int s = 128; s > 0; s /= 2) {
        if (tid < s)
            sums[tid] += sums[tid + s];
        __syncthreads();
    }
    if (tid == 0)
        out[blockIdx.x] = sums[0];
}
// ==== By a loop
__global__ void sum(const float *in, float *out)
{
    __shared__ float sums[256];
    int tid = threadIdx.x;
    float own = 0;
    for (int k = tid; k < 512; k += 256)
        own += in[blockIdx.x * 512 + k];
    sums[tid] = own;
    for (int s = 128; s > 0; s /= 2) {
        __syncthreads();
        if (tid < s)
            sums[tid] += sums[tid + s];
    }
    if (tid == 0)
        out[blockIdx.x] = sums[0];
}
