// Counts how often each number occurs in in. Each block counts its elements in shared memory, then adds its counts to count, which is initially 0.
__global__ void histogram(const int *in, int *count, int n)
{
    __shared__ int own[16];
    int i = blockIdx.x * 256 + threadIdx.x;
    if (threadIdx.x < 16)
        own[threadIdx.x] = 0;
    __syncthreads();
    if (i < n)
        atomicAdd(&own[in[i]], 1);
    __syncthreads();
    if (threadIdx.x < 16)
        atomicAdd(&count[threadIdx.x], own[threadIdx.x]);
}
