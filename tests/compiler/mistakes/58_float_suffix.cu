// A float without its point.
// error 8:26: '2f' is not a number
// help: a float needs a point: 2.0f
__global__ void add(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] * 2f;
}
