// All n elements of in are added to *total, which is initially 0. n is a multiple of 256.
__global__ void sum(const float *in, float *total)
{
    __shared__ float sums[8];
    float own = in[blockIdx.x * 256 + threadIdx.x];
    for (int s = 16; s > 0; s /= 2)
        own += __shfl_down_sync(0xffffffff, own, s);
    if (threadIdx.x % 32 == 0)
        sums[threadIdx.x / 32] = own;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int k = 1; k < 8; k++)
            own += sums[k];
        atomicAdd(total, own);
    }
}
