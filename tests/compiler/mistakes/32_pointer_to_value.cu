// A pointer instead of the element.
// error 7:15: cannot convert 'const float *' to 'float' in an initialisation
// help: a pointer is not its element: write in[i]
__global__ void add(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = in;
    out[i] = x * n;
}
