// A semicolon is missing after a declaration.
// error 6:49: expected ';' after the declaration
// help: add ';'
__global__ void add(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x
    if (i < n)
        out[i] = in[i];
}
