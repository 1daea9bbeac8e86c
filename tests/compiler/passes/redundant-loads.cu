// redundant-loads: a value that each iteration stores and the next one loads stays in a register; it is loaded once, before the loop.
// with: promote spaces simplify dce simplify-cfg rotate gvn licm
__global__ void add_up(const float *in, float *out, int n)
{
#pragma unroll 1
    for (int i = 0; i < n; i++)
        out[0] += in[i];
}
