// The sum of n elements, by a tree in shared memory. One block of 256 threads, n is at most 256.
__global__ void sum(const float *in, float *out, int n)
{
    __shared__ float sums[256];
    int tid = threadIdx.x;
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
