// Sets n elements a hundred times, each time in a new allocation.
// finds: leak "cudaMalloc"
// with: SIM_CHECK=leaks
#include <cstdio>

__global__ void fill(float *values, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        values[i] = i;
}

int main()
{
    const int n = 1000;
    for (int round = 0; round < 100; round++) {
        float *values;
        cudaMalloc(&values, n * sizeof(float));
        fill<<<(n + 255) / 256, 256>>>(values, n);
    }
    cudaDeviceSynchronize();
    printf("done\n");
    return 0;
}
