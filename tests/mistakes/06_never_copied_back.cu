// Sets n elements on the device, and prints the host's, which nobody has set.
// finds: nothing-happened "cudaMemcpy"
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
    static float values[n];
    float *d_values;
    cudaMalloc(&d_values, n * sizeof(float));
    fill<<<(n + 255) / 256, 256>>>(d_values, n);
    cudaDeviceSynchronize();
    printf("%f\n", values[n - 1]);
    cudaFree(d_values);
    return 0;
}
