// A kernel reads a value that nobody wrote before others come and go in many registers, and one behind them: in every other turn
// of its loops all these registers get written values. It stores both. Says the argument somebody, these two have been written.
#include <cstring>

__device__ float turns(const float *x, float sum)
{
    #pragma unroll 1
    for (int turn = 0; turn < 4; turn++) {
        const float in = x[threadIdx.x + turn % 2 * 256];
        #pragma unroll
        for (int k = 0; k < 40; k++)
            sum = sum * in + k;
        sum = turn % 2 ? turn : sum;
    }
    return sum;
}

__global__ void keep(const float *x, const float *kept, volatile float *y, float *stored)
{
    const float early = kept[threadIdx.x];
    y[threadIdx.x] = turns(x, turns(x, 1));
    const float late = kept[threadIdx.x + 256];
    stored[threadIdx.x] = early; // <- here
    stored[threadIdx.x + 256] = late; // <- here
}

int main(int, char **argv)
{
    const int n = 256;
    float *x, *kept, *y, *stored;
    cudaMalloc(&x, 2 * n * sizeof *x);
    cudaMalloc(&kept, 2 * n * sizeof *kept);
    cudaMalloc(&y, n * sizeof *y);
    cudaMalloc(&stored, 2 * n * sizeof *stored);
    cudaMemset(x + n, 0, n * sizeof *x);
    if (!strcmp(argv[1], "somebody"))
        cudaMemset(kept, 0, 2 * n * sizeof *kept);
    keep<<<1, n>>>(x, kept, y, stored);
    cudaDeviceSynchronize();
    for (float *each : {x, kept, y, stored})
        cudaFree(each);
}
