// A ) is missing in a call.
// error 8:34: expected ')' after the arguments
// help: add ')'
__global__ void add(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = fmaxf(in[i], 0.0f;
}
