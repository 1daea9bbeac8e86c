// The } of a block is missing.
// error 5:1: this { has no }
// help: add the } that ends the block
__global__ void add(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = in[i];
}

__global__ void other(int *out)
{
    *out = 1;
}
