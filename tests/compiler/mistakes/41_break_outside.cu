// A break outside of a loop.
// error 7:9: 'break' is only allowed in a loop or a switch
__global__ void add(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        break;
    out[i] = in[i];
}
