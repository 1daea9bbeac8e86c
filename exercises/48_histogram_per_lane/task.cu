// Counts how often each number occurs in in. All n elements are 0 to 15, and count[16] is initially 0. Blocks of 32 threads.
__global__ void histogram(const int *in, int *count, int n)
{
    __shared__ int own[16];
    int lane = threadIdx.x;
    if (lane < 16)
        own[lane] = 0;
    __syncwarp();
    for (int i = blockIdx.x * 32 + lane; i < n; i += gridDim.x * 32)
        own[in[i]]++;
    __syncwarp();
    if (lane < 16)
        atomicAdd(&count[lane], own[lane]);
}
