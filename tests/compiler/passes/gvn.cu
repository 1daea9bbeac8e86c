// gvn: the same operation on the same operands is done once; a load sees the value that was stored or loaded at the address.
// with: promote spaces simplify dce
__global__ void twice(const int *in, int *out, int n)
{
    out[0] = in[n] * n + 1;
    out[1] = in[n] * n + 2;
    out[2] = out[1];
}
