// Memory written by the host without an API call, variables, and a struct of pointers: a recording must contain all of these.
#include "check.h"

struct Arrays {
    const float *in;
    float *out;
    int n;
};

__constant__ float scale[4];
__device__ int written;

__global__ void combine(Arrays arrays, float more, const int *table)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < arrays.n) {
        arrays.out[i] = arrays.in[i] * scale[i % 4] + more + table[i % 2];
        atomicAdd(&written, 1);
    }
}

__global__ void add_one(float *values, int n)
{
    if (threadIdx.x < n)
        values[threadIdx.x] += 1;
}

int main()
{
    const int n = 100, table[] = {5, 6}, none = 0;
    const float factors[] = {1, 2, 3, 4};
    float *in, *out, *managed, *pinned;
    int *device_table, count;
    CUDA(cudaMalloc(&in, n * sizeof(float)));
    CUDA(cudaMalloc(&out, n * sizeof(float)));
    CUDA(cudaMalloc(&device_table, sizeof table));
    CUDA(cudaMallocManaged(&managed, n * sizeof(float)));
    CUDA(cudaMallocHost(&pinned, n * sizeof(float)));
    CUDA(cudaMemcpyToSymbol(scale, factors, sizeof factors));
    CUDA(cudaMemcpyToSymbol(written, &none, sizeof none));
    CUDA(cudaMemcpy(device_table, table, sizeof table, cudaMemcpyHostToDevice));
    for (int i = 0; i < n; i++) {
        pinned[i] = i;
        managed[i] = 2 * i;
    }
    CUDA(cudaMemcpy(in, pinned, n * sizeof(float), cudaMemcpyHostToDevice));
    combine<<<4, 32>>>(Arrays{in, out, n}, 0.5f, device_table);
    CUDA(cudaMemcpy(pinned, out, n * sizeof(float), cudaMemcpyDeviceToHost));
    add_one<<<1, 128>>>(managed, n);
    add_one<<<1, 128>>>(pinned, n);
    CUDA(cudaMemcpyFromSymbol(&count, written, sizeof count));
    CUDA(cudaDeviceSynchronize());
    CHECK(count == n && managed[3] == 7 && pinned[3] == 3 * 4 + 0.5f + 6 + 1);
    CUDA(cudaFree(in));
    CUDA(cudaFree(out));
    CUDA(cudaFree(device_table));
    CUDA(cudaFree(managed));
    CUDA(cudaFreeHost(pinned));
    printf("PASS\n");
    return 0;
}
