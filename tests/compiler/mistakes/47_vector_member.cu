// A vector has no member of this name.
// error 7:44: 'float4' has no member 'a'
// help: there are: x, y, z, w
__global__ void sum(const float4 *in, float *out)
{
    float4 v = in[threadIdx.x];
    out[threadIdx.x] = v.x + v.y + v.z + v.a;
}
