// Doubles each element in two launches. The input is freed before the second one.
// finds: use-after-free "cudaFree"
#include <cstdio>

__global__ void twice(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = 2 * in[i]; // <- here
}

int main()
{
    const int n = 1000;
    static float in[n], out[n];
    float *d_in, *d_out;
    cudaMalloc(&d_in, n * sizeof(float));
    cudaMalloc(&d_out, n * sizeof(float));
    cudaMemcpy(d_in, in, n * sizeof(float), cudaMemcpyHostToDevice);
    twice<<<(n + 255) / 256, 256>>>(d_in, d_out, n);
    cudaFree(d_in);
    twice<<<(n + 255) / 256, 256>>>(d_in, d_out, n);
    if (cudaMemcpy(out, d_out, n * sizeof(float), cudaMemcpyDeviceToHost) == cudaSuccess)
        printf("%f\n", out[n - 1]);
    cudaFree(d_out);
    return 0;
}
