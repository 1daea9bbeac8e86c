// Sets n elements of managed memory, and prints one while the kernel may still be running.
// finds: race-operations "cudaDeviceSynchronize"
#include <cstdio>

__global__ void fill(float *values, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        values[i] = 1;
}

int main()
{
    const int n = 1000;
    float *values;
    cudaMallocManaged(&values, n * sizeof(float));
    fill<<<(n + 255) / 256, 256>>>(values, n); // <- here
    printf("%f\n", values[n - 1]); // <- here
    cudaFree(values);
    return 0;
}
