// Reverses the elements of each block. The launch does not request dynamic shared memory.
// finds: out-of-bounds "shared memory"
#include <cstdio>

__global__ void reverse(const int *in, int *out)
{
    extern __shared__ int values[];
    int tid = threadIdx.x;
    values[tid] = in[blockIdx.x * blockDim.x + tid]; // <- here
    __syncthreads();
    out[blockIdx.x * blockDim.x + tid] = values[blockDim.x - 1 - tid];
}

int main()
{
    int *d_in, *d_out, out[256];
    cudaMalloc(&d_in, sizeof out);
    cudaMalloc(&d_out, sizeof out);
    cudaMemset(d_in, 0, sizeof out);
    reverse<<<2, 128>>>(d_in, d_out);
    if (cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost) == cudaSuccess)
        printf("%d\n", out[0]);
    cudaFree(d_in);
    cudaFree(d_out);
    return 0;
}
