// sink: what only one side of a branch needs is computed there, but a pointer that several blocks need is converted once, at the start.
// with: promote spaces simplify dce simplify-cfg gvn
__global__ void rare(const float *in, float *out, int n)
{
    const float x = in[n] * in[n + 1];
    if (threadIdx.x == n) {
        out[0] = x;
        out[1] = x + 1;
        __threadfence();
        if (n > 0)
            out[2] = 0;
    }
}
