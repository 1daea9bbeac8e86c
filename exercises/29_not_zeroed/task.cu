// How often is each number in in? Each block counts its own in shared memory, and adds that to count once, which is 0 before.
__global__ void histogram(const int *in, int *count, int n)
{
    __shared__ int own[16];
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n)
        atomicAdd(&own[in[i]], 1);
    __syncthreads();
    if (threadIdx.x < 16)
        atomicAdd(&count[threadIdx.x], own[threadIdx.x]);
}
