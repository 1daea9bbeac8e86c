// A pointer instead of the element.
// error 7:15: cannot convert 'const float *' to 'float'
// help: write *in or in[i] for what the pointer points to
__global__ void add(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = in;
    out[i] = x * n;
}
