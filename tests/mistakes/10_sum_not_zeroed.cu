// Adds up all elements. The sum is never set to 0.
// finds: uninitialised "cudaMemset"
#include <cstdio>

__global__ void add_all(const float *in, float *sum, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(sum, in[i]); // <- here
}

int main()
{
    const int n = 1000;
    static float in[n], sum;
    float *d_in, *d_sum;
    cudaMalloc(&d_in, n * sizeof(float));
    cudaMalloc(&d_sum, sizeof(float));
    cudaMemcpy(d_in, in, n * sizeof(float), cudaMemcpyHostToDevice);
    add_all<<<(n + 255) / 256, 256>>>(d_in, d_sum, n);
    cudaMemcpy(&sum, d_sum, sizeof(float), cudaMemcpyDeviceToHost);
    printf("%f\n", sum);
    cudaFree(d_in);
    cudaFree(d_sum);
    return 0;
}
