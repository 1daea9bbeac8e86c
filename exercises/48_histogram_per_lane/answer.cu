// Counts how often each number occurs in in. All n elements are 0 to 15, and count[16] is initially 0. Blocks of 32 threads.
__global__ void histogram(const int *in, int *count, int n)
{
    __shared__ int own[16][32]; // a copy of the 16 counters for each lane
    int lane = threadIdx.x;
    for (int number = 0; number < 16; number++)
        own[number][lane] = 0;
    for (int i = blockIdx.x * 32 + lane; i < n; i += gridDim.x * 32)
        own[in[i]][lane]++;
    for (int number = 0; number < 16; number++) {
        int sum = __reduce_add_sync(0xffffffff, own[number][lane]);
        if (lane == 0)
            atomicAdd(&count[number], sum);
    }
}
