// Vector addition, with host and device buffers.
#include "check.h"

__global__ void add(const float *a, const float *b, float *c, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}

int main()
{
    const int n = 100003;
    float *host = (float *)malloc(3 * n * sizeof(float)), *a, *b, *c;
    for (int i = 0; i < n; i++) {
        host[i] = i * 0.5f;
        host[n + i] = 3.0f - i;
    }
    CUDA(cudaMalloc(&a, n * sizeof(float)));
    CUDA(cudaMalloc(&b, n * sizeof(float)));
    CUDA(cudaMalloc(&c, n * sizeof(float)));
    CUDA(cudaMemcpy(a, host, n * sizeof(float), cudaMemcpyHostToDevice));
    CUDA(cudaMemcpy(b, host + n, n * sizeof(float), cudaMemcpyHostToDevice));
    add<<<(n + 255) / 256, 256>>>(a, b, c, n);
    CUDA(cudaGetLastError());
    CUDA(cudaMemcpy(host + 2 * n, c, n * sizeof(float), cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        CHECK(host[2 * n + i] == host[i] + host[n + i]);
    puts("PASS");
}
