// sink: what only one side of a branch needs is computed there, but not the conversion of a pointer, and not y, which several blocks need.
// with: promote spaces simplify dce simplify-cfg gvn
__global__ void rare(const float *in, float *out, int n)
{
    const float x = in[n] * in[n + 1], y = in[n + 2] * 3;
    if (threadIdx.x == n) {
        out[0] = x;
        out[1] = x + y;
        __threadfence();
        if (n > 0)
            out[2] = y;
    }
}
