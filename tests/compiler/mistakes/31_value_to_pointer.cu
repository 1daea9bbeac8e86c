// A value is assigned to a pointer.
// error 8:11: cannot convert 'float' to 'float *' in an assignment
// help: a pointer is not its element: write out[i] or *out
__global__ void add(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i] + n;
    out = sum;
}
