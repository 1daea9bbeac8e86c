// ==== The warps' sums are scanned, too
__global__ void scan(const float *in, float *out)
{
    __shared__ float sums[8];
    int tid = threadIdx.x, i = blockIdx.x * 256 + tid, lane = tid % 32, warp = tid / 32;
    float own = in[i];
    for (int s = 1; s < 32; s *= 2) {
        float before = __shfl_up_sync(0xffffffff, own, s);
        own += lane >= s ? before : 0;
    }
    if (lane == 31)
        sums[warp] = own;
    __syncthreads();
    if (tid < 8) {
        float all = sums[tid];
        for (int s = 1; s < 8; s *= 2) {
            float before = __shfl_up_sync(0xff, all, s);
            all += tid >= s ? before : 0;
        }
        sums[tid] = all;
    }
    __syncthreads();
    out[i] = warp > 0 ? own + sums[warp - 1] : own;
}
// ==== The sums before are added first
__global__ void scan(const float *in, float *out)
{
    __shared__ float sums[8];
    int tid = threadIdx.x, i = blockIdx.x * 256 + tid, lane = tid % 32, warp = tid / 32;
    float own = in[i], offset = 0;
    for (int s = 1; s < 32; s *= 2) {
        const float before = __shfl_up_sync(0xffffffff, own, s);
        if (lane >= s)
            own = before + own;
    }
    if (lane == 31)
        sums[warp] = own;
    __syncthreads();
    for (int k = 0; k < 8; k++)
        offset += k < warp ? sums[k] : 0;
    out[i] = offset + own;
}
