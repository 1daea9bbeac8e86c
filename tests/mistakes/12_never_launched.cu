// There is a kernel, but the program never launches it.
// finds: nothing-happened "launch"
// also: uninitialised
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
    cudaMemcpy(values, d_values, n * sizeof(float), cudaMemcpyDeviceToHost);
    printf("%f\n", values[n - 1]);
    cudaFree(d_values);
    return 0;
}
