// ==== A warp adds first
__global__ void sum(const float *in, float *total, int n)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    float own = i < n ? in[i] : 0;
    for (int s = 16; s > 0; s /= 2)
        own += __shfl_down_sync(0xffffffff, own, s);
    if (threadIdx.x % 32 == 0)
        atomicAdd(total, own);
}
// ==== A compare-and-swap loop
__global__ void sum(const float *in, float *total, int n)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= n)
        return;
    unsigned *word = (unsigned *)total;
    unsigned before = atomicAdd(word, 0), seen;
    do {
        seen = before;
        before = atomicCAS(word, seen, __float_as_uint(__uint_as_float(seen) + in[i]));
    } while (before != seen);
}
