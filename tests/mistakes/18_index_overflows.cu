// Counts keys by a hash. An int overflows, and the remainder of a negative number is negative.
// finds: out-of-bounds "before"
#include <cstdio>

__global__ void count(const int *keys, int *bins, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int hash = keys[i] * 1103515245;
        atomicAdd(&bins[hash % 64], 1); // <- here
    }
}

int main()
{
    const int n = 256;
    int keys[n], bins[64], *d_keys, *d_bins;
    for (int i = 0; i < n; i++)
        keys[i] = i;
    cudaMalloc(&d_keys, sizeof keys);
    cudaMalloc(&d_bins, sizeof bins);
    cudaMemcpy(d_keys, keys, sizeof keys, cudaMemcpyHostToDevice);
    cudaMemset(d_bins, 0, sizeof bins);
    count<<<1, n>>>(d_keys, d_bins, n);
    if (cudaMemcpy(bins, d_bins, sizeof bins, cudaMemcpyDeviceToHost) == cudaSuccess)
        printf("%d\n", bins[0]);
    cudaFree(d_keys);
    cudaFree(d_bins);
    return 0;
}
