// All elements of in are added to *total, which is initially 0.
__global__ void sum(const float *in, float *total, int n)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n)
        atomicAdd(total, in[i]);
}
