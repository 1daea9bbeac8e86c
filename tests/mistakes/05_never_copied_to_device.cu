// Doubles each element. The elements were never copied to the device.
// finds: uninitialised "cudaMemcpy"
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
    for (int i = 0; i < n; i++)
        in[i] = i;
    cudaMalloc(&d_in, n * sizeof(float));
    cudaMalloc(&d_out, n * sizeof(float));
    twice<<<(n + 255) / 256, 256>>>(d_in, d_out, n);
    cudaMemcpy(out, d_out, n * sizeof(float), cudaMemcpyDeviceToHost);
    printf("%f is twice %f\n", out[n - 1], in[n - 1]);
    cudaFree(d_in);
    cudaFree(d_out);
    return 0;
}
