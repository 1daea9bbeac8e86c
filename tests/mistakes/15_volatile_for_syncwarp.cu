// One warp adds the last 64 sums as in books from 2010: with volatile instead of __syncwarp().
// finds: race-shared "__syncwarp"
#include <cstdio>

__global__ void reduce(const float *in, float *out)
{
    __shared__ volatile float sums[64];
    int lane = threadIdx.x;
    sums[lane] = in[lane];
    sums[lane + 32] = in[lane + 32];
    __syncwarp();
    for (int s = 32; s > 0; s /= 2)
        sums[lane] += sums[lane + s]; // <- here
    if (lane == 0)
        *out = sums[0];
}

int main()
{
    float *d_in, *d_out, out;
    cudaMalloc(&d_in, 64 * sizeof(float));
    cudaMalloc(&d_out, sizeof(float));
    cudaMemset(d_in, 0, 64 * sizeof(float));
    reduce<<<1, 32>>>(d_in, d_out);
    cudaMemcpy(&out, d_out, sizeof(float), cudaMemcpyDeviceToHost);
    printf("%f\n", out);
    cudaFree(d_in);
    cudaFree(d_out);
    return 0;
}
