// ==== Two arrays, alternately
__global__ void scan(const float *in, float *out, int n)
{
    __shared__ float sums[2][1024];
    int tid = threadIdx.x, from = 0;
    sums[0][tid] = tid < n ? in[tid] : 0;
    __syncthreads();
    for (int s = 1; s < 1024; s *= 2) {
        sums[1 - from][tid] = sums[from][tid] + (tid >= s ? sums[from][tid - s] : 0);
        from = 1 - from;
        __syncthreads();
    }
    if (tid < n)
        out[tid] = sums[from][tid];
}
// ==== Each warp scans its own elements, then the warps' sums are added
__device__ float scan_of_warp(float own)
{
    for (int s = 1; s < 32; s *= 2) {
        float before = __shfl_up_sync(0xffffffff, own, s);
        if (threadIdx.x % 32 >= s)
            own += before;
    }
    return own;
}

__global__ void scan(const float *in, float *out, int n)
{
    __shared__ float sums[32];
    int tid = threadIdx.x;
    float own = scan_of_warp(tid < n ? in[tid] : 0);
    if (tid % 32 == 31)
        sums[tid / 32] = own;
    __syncthreads();
    if (tid < 32)
        sums[tid] = scan_of_warp(sums[tid]);
    __syncthreads();
    if (tid < n)
        out[tid] = own + (tid >= 32 ? sums[tid / 32 - 1] : 0);
}
