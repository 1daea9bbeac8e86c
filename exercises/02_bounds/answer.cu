// Each thread writes its own element of out: the element of in, plus 1. There are n elements, and n may be any number.
__global__ void add_one(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] + 1;
}
