// The first 16 lanes add, but their mask names all 32; the others wait elsewhere.
// finds: lanes "never execute"
// also: kernel-fault
#include <cstdio>

__global__ void reduce(const float *in, float *out)
{
    int lane = threadIdx.x;
    float value = in[lane];
    if (lane < 16)
        for (int s = 8; s > 0; s /= 2)
            value += __shfl_down_sync(0xffffffff, value, s);
    __syncwarp(); // <- here
    if (lane == 0)
        *out = value;
}

int main()
{
    float *d_in, *d_out, out;
    cudaMalloc(&d_in, 32 * sizeof(float));
    cudaMalloc(&d_out, sizeof(float));
    cudaMemset(d_in, 0, 32 * sizeof(float));
    reduce<<<1, 32>>>(d_in, d_out);
    if (cudaMemcpy(&out, d_out, sizeof(float), cudaMemcpyDeviceToHost) == cudaSuccess)
        printf("%f\n", out);
    cudaFree(d_in);
    cudaFree(d_out);
    return 0;
}
