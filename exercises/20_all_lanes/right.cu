// ==== The larger of the element and 0
__global__ void positive_sum(const float *in, float *out)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    float own = fmaxf(in[i], 0);
    for (int s = 16; s > 0; s /= 2)
        own += __shfl_down_sync(0xffffffff, own, s);
    if (i % 32 == 0)
        out[i / 32] = own;
}
// ==== The branch ends before the shuffles
__global__ void positive_sum(const float *in, float *out)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    float own = in[i];
    if (own < 0)
        own = 0;
    for (int s = 1; s < 32; s *= 2)
        own += __shfl_xor_sync(0xffffffff, own, s);
    if (i % 32 == 0)
        out[i / 32] = own;
}
