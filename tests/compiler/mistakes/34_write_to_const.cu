// An input is changed.
// error 8:9: cannot assign to this: it is const
// help: the pointer points to const: drop that const if it is meant to be written
__global__ void add(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        in[i] = out[i];
}
