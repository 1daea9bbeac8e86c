// A number is indexed.
// error 7:14: 'n' is 'int', which has no elements
// note 4:54: 'n' is declared here
__global__ void add(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = n[i];
}
