// ==== One thread sets all to 0
__global__ void histogram(const int *in, int *count, int n)
{
    __shared__ int own[16];
    int i = blockIdx.x * 256 + threadIdx.x;
    if (threadIdx.x == 0)
        for (int k = 0; k < 16; k++)
            own[k] = 0;
    __syncthreads();
    if (i < n)
        atomicAdd(&own[in[i]], 1);
    __syncthreads();
    if (threadIdx.x < 16)
        atomicAdd(&count[threadIdx.x], own[threadIdx.x]);
}
// ==== Each warp has its own counters
__global__ void histogram(const int *in, int *count, int n)
{
    __shared__ int own[8][16];
    int i = blockIdx.x * 256 + threadIdx.x, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (lane < 16)
        own[warp][lane] = 0;
    __syncwarp();
    if (i < n)
        atomicAdd(&own[warp][in[i]], 1);
    __syncwarp();
    if (lane < 16)
        atomicAdd(&count[lane], own[warp][lane]);
}
