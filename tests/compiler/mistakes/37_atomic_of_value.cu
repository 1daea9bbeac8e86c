// atomicAdd of a value instead of its address.
// error 6:5: no 'atomicAdd' takes (float, const float)
// help: the first argument is an address: write &out[0]
__global__ void sum(const float *in, float *out)
{
    atomicAdd(out[0], in[threadIdx.x]);
}
