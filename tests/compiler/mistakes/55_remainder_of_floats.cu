// The remainder of floats.
// error 8:24: '%' has no meaning for 'float' and 'float'
// help: the remainder of floats is a - b * truncf(a / b)
__global__ void add(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] % 2.0f;
}
