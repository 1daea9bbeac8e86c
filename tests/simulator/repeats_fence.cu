// Launches of a kernel that may tell the host how far it is, again and again. With an argument there is memory by which the host
// might answer: test_repeats.py.
#include <cstdio>

enum { N = 1 << 15, BLOCK = 256, TIMES = 6 };

__global__ void fenced(const int *in, int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    int value = in[i];
    for (int k = 0; k < 32; k++) // the work makes it worth leaving out
        value = value * 5 + k;
    out[i] = value;
    __threadfence_system();
}

int main(int count, char **)
{
    int *in, *out, *shared, last;
    cudaMalloc(&in, N * sizeof(int));
    cudaMalloc(&out, N * sizeof(int));
    cudaMemset(in, 0, N * sizeof(int));
    if (count > 1)
        cudaHostAlloc(&shared, sizeof *shared, cudaHostAllocMapped);
    for (int time = 0; time < TIMES; time++)
        fenced<<<N / BLOCK, BLOCK>>>(in, out);
    cudaMemcpy(&last, out + N - 1, sizeof last, cudaMemcpyDeviceToHost);
    printf("%d\n", last);
    return cudaDeviceSynchronize() != cudaSuccess;
}
