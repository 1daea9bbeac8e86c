// Computes a sum for each of two warps. Thread 0 reads the other warp's sum before it is written.
// finds: race-shared "__syncthreads"
// also: uninitialised
#include <cstdio>

__global__ void reduce(const float *in, float *out)
{
    __shared__ float sums[2];
    int tid = threadIdx.x;
    float value = in[tid];
    for (int s = 16; s > 0; s /= 2)
        value += __shfl_down_sync(0xffffffff, value, s);
    if (tid % 32 == 0)
        sums[tid / 32] = value; // <- here
    if (tid == 0)
        *out = value + sums[1]; // <- here
}

int main()
{
    float *d_in, *d_out, out;
    cudaMalloc(&d_in, 64 * sizeof(float));
    cudaMalloc(&d_out, sizeof(float));
    cudaMemset(d_in, 0, 64 * sizeof(float));
    reduce<<<1, 64>>>(d_in, d_out);
    cudaMemcpy(&out, d_out, sizeof(float), cudaMemcpyDeviceToHost);
    printf("%f\n", out);
    cudaFree(d_in);
    cudaFree(d_out);
    return 0;
}
