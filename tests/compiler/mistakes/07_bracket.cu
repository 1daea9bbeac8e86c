// A ] is missing.
// error 8:21: expected ']' after the index
// help: add ']'
__global__ void add(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i = in[i];
}
