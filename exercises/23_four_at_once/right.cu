// ==== By a reference to a float4
__global__ void copy(const float *in, float *out)
{
    int i = blockIdx.x * 1024 + 4 * threadIdx.x;
    const float4 four = reinterpret_cast<const float4 &>(in[i]);
    reinterpret_cast<float4 &>(out[i]) = four;
}
// ==== By pointers
__global__ void copy(const float *in, float *out)
{
    const float4 *from = (const float4 *)in + blockIdx.x * 256;
    float4 *to = (float4 *)out + blockIdx.x * 256;
    to[threadIdx.x] = make_float4(from[threadIdx.x].x, from[threadIdx.x].y, from[threadIdx.x].z, from[threadIdx.x].w);
}
