// Adds up the elements of each block. Past the end of the array, the shared array stays uninitialised.
// finds: uninitialised "shared"
#include <cstdio>

__global__ void reduce(const float *in, float *out, int n)
{
    __shared__ float sums[256];
    int tid = threadIdx.x;
    int i = blockIdx.x * blockDim.x + tid;
    if (i < n)
        sums[tid] = in[i];
    __syncthreads();
    for (int s = 128; s > 0; s /= 2) {
        if (tid < s)
            sums[tid] += sums[tid + s]; // <- here
        __syncthreads();
    }
    if (tid == 0)
        out[blockIdx.x] = sums[0]; // <- here
}

int main()
{
    const int n = 1000;
    float *d_in, *d_out, out[4];
    cudaMalloc(&d_in, n * sizeof(float));
    cudaMalloc(&d_out, sizeof out);
    cudaMemset(d_in, 0, n * sizeof(float));
    reduce<<<4, 256>>>(d_in, d_out, n);
    cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
    printf("%f\n", out[0] + out[1] + out[2] + out[3]);
    cudaFree(d_in);
    cudaFree(d_out);
    return 0;
}
