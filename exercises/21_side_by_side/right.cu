// ==== Each warp copies its own 128 elements
__global__ void copy(const float *in, float *out)
{
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int k = 0; k < 4; k++) {
        int i = blockIdx.x * 1024 + warp * 128 + k * 32 + lane;
        out[i] = in[i];
    }
}
// ==== Vector accesses
__global__ void copy(const float *in, float *out)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    ((float4 *)out)[i] = ((const float4 *)in)[i];
}
