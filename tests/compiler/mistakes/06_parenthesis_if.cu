// A ) is missing in a condition.
// error 7:13: expected ')' after the condition
// help: add ')'
__global__ void add(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n
        out[i] = in[i];
}
