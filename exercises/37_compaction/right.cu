// ==== The bits of the lanes before are shifted out
__global__ void keep_positive(const float *in, float *out, int n)
{
    __shared__ int count[8];
    int tid = threadIdx.x, lane = tid % 32, warp = tid / 32;
    float own = tid < n ? in[tid] : 0;
    unsigned positive = __ballot_sync(0xffffffff, own > 0);
    count[warp] = __popc(positive);
    __syncthreads();
    int index = __popc(positive << (31 - lane)) - 1;
    for (int k = warp - 1; k >= 0; k--)
        index += count[k];
    if (own > 0)
        out[index] = own;
}
// ==== A scan of zeros and ones
__global__ void keep_positive(const float *in, float *out, int n)
{
    __shared__ int places[256];
    int tid = threadIdx.x;
    float own = tid < n ? in[tid] : 0;
    places[tid] = own > 0;
    __syncthreads();
    for (int s = 1; s < 256; s *= 2) {
        int before = tid >= s ? places[tid - s] : 0;
        __syncthreads();
        places[tid] += before;
        __syncthreads();
    }
    if (own > 0)
        out[places[tid] - 1] = own;
}
