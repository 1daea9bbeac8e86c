// atomicAdd of a value instead of its address.
// error 6:15: cannot convert 'float' to 'float *'
// help: write &out[0]
__global__ void sum(const float *in, float *out)
{
    atomicAdd(out[0], in[threadIdx.x]);
}
