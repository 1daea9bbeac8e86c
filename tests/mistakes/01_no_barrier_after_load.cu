// Adds up the elements of each block. The first round reads elements that other threads may not have loaded yet.
// finds: race-shared "__syncthreads"
// also: uninitialised
#include <cstdio>

__global__ void reduce(const float *in, float *out)
{
    __shared__ float sums[256];
    int tid = threadIdx.x;
    sums[tid] = in[blockIdx.x * 256 + tid]; // <- here
    for (int s = 128; s > 0; s /= 2) {
        if (tid < s)
            sums[tid] += sums[tid + s]; // <- here
        __syncthreads();
    }
    if (tid == 0)
        out[blockIdx.x] = sums[0];
}

int main()
{
    static float in[1024];
    float *d_in, *d_out, out[4];
    for (int i = 0; i < 1024; i++)
        in[i] = 1;
    cudaMalloc(&d_in, sizeof in);
    cudaMalloc(&d_out, sizeof out);
    cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
    reduce<<<4, 256>>>(d_in, d_out);
    cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
    printf("%f\n", out[0] + out[1] + out[2] + out[3]);
    cudaFree(d_in);
    cudaFree(d_out);
    return 0;
}
