// A variable is declared twice.
// error 6:11: 'i' is declared twice
__global__ void add(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float i = in[0];
    out[n] = i;
}
