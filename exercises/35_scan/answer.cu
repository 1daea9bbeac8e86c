// out[i] is the sum of in[0] to in[i], for at most 1,000 elements, in one block of 1,024 threads.
__global__ void scan(const float *in, float *out, int n)
{
    __shared__ float sums[1024];
    int tid = threadIdx.x;
    sums[tid] = tid < n ? in[tid] : 0;
    __syncthreads();
    for (int s = 1; s < 1024; s *= 2) {
        float before = tid >= s ? sums[tid - s] : 0;
        __syncthreads();
        sums[tid] += before;
        __syncthreads();
    }
    if (tid < n)
        out[tid] = sums[tid];
}
