// Each thread that finds a multiple of seven sets the flag: many threads write the same value without atomic operations.
// finds: race-global "both writes store the same value"
#include <cstdio>

__global__ void any_sevenths(const int *in, int *found)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (in[i] % 7 == 0)
        *found = 1; // <- here
}

int main()
{
    int in[256], *d_in, *d_found, found = 0;
    for (int i = 0; i < 256; i++)
        in[i] = i;
    cudaMalloc(&d_in, sizeof in);
    cudaMalloc(&d_found, sizeof found);
    cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
    cudaMemset(d_found, 0, sizeof found);
    any_sevenths<<<2, 128>>>(d_in, d_found);
    cudaMemcpy(&found, d_found, sizeof found, cudaMemcpyDeviceToHost);
    printf("%d\n", found);
    cudaFree(d_in);
    cudaFree(d_found);
    return 0;
}
