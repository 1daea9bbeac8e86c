// hoist-common: what both sides of a branch begin with is done before it.
// with: promote spaces simplify dce simplify-cfg gvn
__global__ void sides(const float *in, float *out, int n)
{
    if (n > 5)
        out[0] = sqrtf(in[n]);
    else
        out[1] = sqrtf(in[n]) + 1;
}
