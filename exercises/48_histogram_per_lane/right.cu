// ==== One lane adds up each counter
__global__ void histogram(const int *in, int *count, int n)
{
    __shared__ int own[16 * 32];
    int lane = threadIdx.x;
    for (int number = 0; number < 16; number++)
        own[32 * number + lane] = 0;
    for (int i = blockIdx.x * 32 + lane; i < n; i += gridDim.x * 32)
        own[32 * in[i] + lane] += 1;
    __syncwarp();
    if (lane < 16) {
        int sum = 0;
        for (int k = 0; k < 32; k++)
            sum += own[32 * lane + (lane + k) % 32];
        atomicAdd(&count[lane], sum);
    }
}
// ==== Shuffles
__global__ void histogram(const int *in, int *count, int n)
{
    __shared__ int own[16][32];
    int lane = threadIdx.x;
    for (int number = 0; number < 16; number++)
        own[number][lane] = 0;
    for (int i = blockIdx.x * 32 + lane; i < n; i += gridDim.x * 32)
        own[in[i]][lane]++;
    for (int number = 0; number < 16; number++) {
        int sum = own[number][lane];
        for (int s = 16; s > 0; s /= 2)
            sum += __shfl_down_sync(0xffffffff, sum, s);
        if (lane == 0)
            atomicAdd(&count[number], sum);
    }
}
