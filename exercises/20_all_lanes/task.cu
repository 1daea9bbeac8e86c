// Each warp adds the positive ones of its 32 elements.
__global__ void positive_sum(const float *in, float *out)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    float own = in[i];
    if (own > 0) {
        for (int s = 16; s > 0; s /= 2)
            own += __shfl_down_sync(0xffffffff, own, s);
    }
    if (i % 32 == 0)
        out[i / 32] = own;
}
