// A value is assigned to a pointer.
// error 8:11: cannot convert 'float' to 'float *'
// help: write *out or out[i] for what the pointer points to
__global__ void add(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i] + n;
    out = sum;
}
