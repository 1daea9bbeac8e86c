// Copies the bytes of n doubles into an allocation of n floats.
// finds: out-of-bounds "cudaMemcpy"
// also: uninitialised unchecked-error
#include <cstdio>

__global__ void twice(float *values, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        values[i] *= 2;
}

int main()
{
    const int n = 1000;
    static float values[2 * n];
    float *d_values;
    cudaMalloc(&d_values, n * sizeof(float));
    cudaMemcpy(d_values, values, n * sizeof(double), cudaMemcpyHostToDevice); // <- here
    twice<<<(n + 255) / 256, 256>>>(d_values, n);
    cudaMemcpy(values, d_values, n * sizeof(float), cudaMemcpyDeviceToHost);
    printf("%f\n", values[n - 1]);
    cudaFree(d_values);
    return 0;
}
