// Computes the differences of neighbours. The last thread's neighbour is in another array.
// finds: out-of-bounds "values"
// also: uninitialised race-shared
#include <cstdio>

__global__ void differences(const int *in, int *out)
{
    __shared__ int values[128], results[128];
    int tid = threadIdx.x;
    results[tid] = 0;
    values[tid] = in[tid];
    __syncthreads();
    results[tid] = values[tid + 1] - values[tid]; // <- here
    __syncthreads();
    out[tid] = results[127 - tid];
}

int main()
{
    int *d_in, *d_out, out[128];
    cudaMalloc(&d_in, sizeof out);
    cudaMalloc(&d_out, sizeof out);
    cudaMemset(d_in, 0, sizeof out);
    differences<<<1, 128>>>(d_in, d_out);
    if (cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost) == cudaSuccess)
        printf("%d\n", out[0]);
    cudaFree(d_in);
    cudaFree(d_out);
    return 0;
}
