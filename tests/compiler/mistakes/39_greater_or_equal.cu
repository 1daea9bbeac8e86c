// => instead of >=.
// error 7:12: expected an expression, not '>'
// help: greater or equal is >=
__global__ void add(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i => n)
        return;
    out[i] = in[i];
}
