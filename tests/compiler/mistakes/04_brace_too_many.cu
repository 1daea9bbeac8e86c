// There is a } too many.
// error 10:1: this } has no {
// help: delete it, or add the { that it closes
__global__ void add(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i];
    }
}
