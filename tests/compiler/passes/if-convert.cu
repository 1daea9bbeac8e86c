// if-convert: a short if whose sides only compute becomes a selp.
// with: promote spaces simplify dce simplify-cfg
__global__ void clamp(const int *in, int *out, int n)
{
    int x = in[threadIdx.x];
    if (x > n)
        x = n;
    out[threadIdx.x] = x + 1;
}
