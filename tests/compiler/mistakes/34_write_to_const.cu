// An input is changed.
// error 8:9: 'in[i]' is const
// help: the pointer is const float *: delete const where it is declared, or write elsewhere
__global__ void add(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        in[i] = out[i];
}
