// A number is indexed.
// error 6:14: 'n' is 'int', which has no elements
__global__ void add(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = n[i];
}
