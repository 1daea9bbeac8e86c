// Each block adds its 256 elements. In each round all threads read before any thread writes.
__global__ void sum(const float *in, float *out)
{
    __shared__ float sums[256];
    int tid = threadIdx.x;
    sums[tid] = in[blockIdx.x * 256 + tid];
    __syncthreads();
    for (int s = 128; s > 0; s /= 2) {
        float other = tid < s ? sums[tid + s] : 0;
        __syncthreads();
        sums[tid] += other;
        __syncthreads();
    }
    if (tid == 0)
        out[blockIdx.x] = sums[0];
}
