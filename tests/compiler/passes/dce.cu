// dce: what no store, branch or barrier needs is removed.
// with: promote spaces
__global__ void copy(const float *in, float *out)
{
    const float unused = sqrtf(in[1]) / in[2];
    out[0] = in[0];
}
