// reassociate-addresses: the address of a sum of indices continues the address of a part of it.
// with: promote spaces simplify dce gvn
__global__ void pairs(const float *in, float *out, int i, int distance)
{
    out[i] = in[i] + in[i + distance];
}
