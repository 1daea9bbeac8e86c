// out[i] is the sum of the block's elements up to in[i]: each warp scans its own, and adds the sums of the warps before.
__global__ void scan(const float *in, float *out)
{
    __shared__ float sums[8];
    int tid = threadIdx.x, i = blockIdx.x * 256 + tid, lane = tid % 32, warp = tid / 32;
    float own = in[i];
    for (int s = 1; s < 32; s *= 2) {
        float before = __shfl_up_sync(0xffffffff, own, s);
        if (lane >= s)
            own += before;
    }
    if (lane == 31)
        sums[warp] = own;
    __syncthreads();
    for (int k = 0; k < warp; k++)
        own += sums[k];
    out[i] = own;
}
