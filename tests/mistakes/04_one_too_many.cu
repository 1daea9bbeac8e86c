// Sets n elements. The bounds check admits thread n, too.
// finds: out-of-bounds "4000-byte allocation"
#include <cstdio>

__global__ void fill(float *values, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n)
        values[i] = 1; // <- here
}

int main()
{
    const int n = 1000;
    static float values[n];
    float *d_values;
    cudaMalloc(&d_values, n * sizeof(float));
    fill<<<(n + 255) / 256, 256>>>(d_values, n);
    if (cudaMemcpy(values, d_values, n * sizeof(float), cudaMemcpyDeviceToHost) == cudaSuccess)
        printf("%f\n", values[n - 1]);
    cudaFree(d_values);
    return 0;
}
