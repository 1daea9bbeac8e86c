// A semicolon is missing at the end of a statement.
// error 8:26: expected ';' after the expression
// help: add ';'
__global__ void add(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] + 1
}
