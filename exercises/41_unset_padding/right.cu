// ==== Only elements that exist are added
__global__ void sum(const float *in, float *out, int n)
{
    __shared__ float sums[256];
    int tid = threadIdx.x;
    if (tid < n)
        sums[tid] = in[tid];
    __syncthreads();
    for (int s = 128; s > 0; s /= 2) {
        if (tid < s && tid + s < n)
            sums[tid] += sums[tid + s];
        __syncthreads();
    }
    if (tid == 0)
        *out = sums[0];
}
// ==== A barrier between the zeros and the elements
__global__ void sum(const float *in, float *out, int n)
{
    __shared__ float sums[256];
    int tid = threadIdx.x;
    sums[255 - tid] = 0;
    __syncthreads();
    if (tid < n)
        sums[tid] = in[tid];
    __syncthreads();
    for (int s = 128; s > 0; s /= 2) {
        if (tid < s)
            sums[tid] += sums[tid + s];
        __syncthreads();
    }
    if (tid == 0)
        *out = sums[0];
}
