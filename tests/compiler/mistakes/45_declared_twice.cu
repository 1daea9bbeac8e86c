// A variable is declared twice.
// error 7:11: 'i' is declared twice
// note 6:9: the first declaration of 'i'
__global__ void add(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float i = in[0];
    out[n] = i;
}
