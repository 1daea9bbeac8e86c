// Adds up the elements of each block. Only the threads that add execute the barrier.
// finds: barrier "__syncthreads"
// also: race-shared
#include <cstdio>

__global__ void reduce(const float *in, float *out)
{
    __shared__ float sums[256];
    int tid = threadIdx.x;
    sums[tid] = in[blockIdx.x * 256 + tid];
    __syncthreads();
    for (int s = 128; s > 0; s /= 2) {
        if (tid < s) {
            sums[tid] += sums[tid + s];
            __syncthreads(); // <- here
        }
    }
    if (tid == 0)
        out[blockIdx.x] = sums[0];
}

int main()
{
    float *d_in, *d_out, out[4];
    cudaMalloc(&d_in, 1024 * sizeof(float));
    cudaMalloc(&d_out, sizeof out);
    cudaMemset(d_in, 0, 1024 * sizeof(float));
    reduce<<<4, 256>>>(d_in, d_out);
    if (cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost) == cudaSuccess)
        printf("%f\n", out[0]);
    cudaFree(d_in);
    cudaFree(d_out);
    return 0;
}
