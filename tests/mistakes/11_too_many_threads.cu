// Sets 2048 elements with one block of 2048 threads, more than any GPU supports. The launch is not checked for errors.
// finds: unchecked-error "1024"
// also: uninitialised
#include <cstdio>

__global__ void fill(float *values)
{
    values[threadIdx.x] = 1;
}

int main()
{
    const int n = 2048;
    static float values[n];
    float *d_values;
    cudaMalloc(&d_values, n * sizeof(float));
    fill<<<1, n>>>(d_values); // <- here
    cudaMemcpy(values, d_values, n * sizeof(float), cudaMemcpyDeviceToHost);
    printf("%f\n", values[n - 1]);
    cudaFree(d_values);
    return 0;
}
