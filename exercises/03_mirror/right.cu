// ==== Each thread reads its own element, and writes another one
__global__ void mirror(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[n - 1 - i] = in[i];
}
// ==== The last block first
__global__ void mirror(const float *in, float *out, int n)
{
    int i = n - 1 - int(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= 0)
        out[n - 1 - i] = in[i];
}
