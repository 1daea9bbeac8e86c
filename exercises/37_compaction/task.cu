// out receives the positive elements of in, in their order; one block of 256 threads, n is at most 256.
__global__ void keep_positive(const float *in, float *out, int n)
{
    __shared__ int count[8]; // positive elements of each warp
    int tid = threadIdx.x, lane = tid % 32, warp = tid / 32;
    float own = tid < n ? in[tid] : 0;
    unsigned positive = __ballot_sync(0xffffffff, own > 0); // a bit for each lane: is its element positive?
    if (lane == 0)
        count[warp] = __popc(positive);
    __syncthreads();
    int index = tid; // how many positive elements are before this one?
    if (own > 0)
        out[index] = own;
}
