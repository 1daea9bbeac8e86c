// Loads four elements at once, starting at the second element.
// finds: misaligned "16"
#include <cstdio>

__global__ void sums_of_four(const float *in, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 v = *(const float4 *)(in + 1 + 4 * i); // <- here
    out[i] = v.x + v.y + v.z + v.w;
}

int main()
{
    float *d_in, *d_out, out[64];
    cudaMalloc(&d_in, 260 * sizeof(float));
    cudaMalloc(&d_out, sizeof out);
    cudaMemset(d_in, 0, 260 * sizeof(float));
    sums_of_four<<<1, 64>>>(d_in, d_out);
    if (cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost) == cudaSuccess)
        printf("%f\n", out[0]);
    cudaFree(d_in);
    cudaFree(d_out);
    return 0;
}
