// ==== In shared memory first
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
// ==== One lane per number
__global__ void histogram(const int *in, int *count, int n)
{
    int i = blockIdx.x * 256 + threadIdx.x, number = i < n ? in[i] : -1;
    for (int k = 0; k < 16; k++) {
        int how_many = __popc(__ballot_sync(0xffffffff, number == k));
        if (threadIdx.x % 32 == 0 && how_many > 0)
            atomicAdd(count + k, how_many);
    }
}
