// ==== All lanes get the sum
__global__ void sum(const float *in, float *out)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    float own = in[i];
    for (int s = 1; s < 32; s *= 2)
        own += __shfl_xor_sync(0xffffffff, own, s);
    if (i % 32 == 0)
        out[i / 32] = own;
}
// ==== Neighbours first
__global__ void sum(const float *in, float *out)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    float own = in[i];
    for (int s = 1; s < 32; s *= 2)
        own += __shfl_down_sync(0xffffffff, own, s);
    if (threadIdx.x % 32 == 0)
        out[i / 32] = own;
}
