// Tiles are copied while others are used. The next copy begins before all threads have read the tile that it overwrites.
// finds: race-shared "add a barrier after line"
#include <cstdio>
#include <cuda_pipeline.h>

__global__ void reverse_tiles(const int *in, int *out, int tiles)
{
    __shared__ int tile[2][128];
    const int tid = threadIdx.x;
    for (int k = 0; k < 2; k++) {
        __pipeline_memcpy_async(&tile[k][tid], in + k * 128 + tid, sizeof(int));
        __pipeline_commit();
    }
    for (int k = 0; k < tiles; k++) {
        __pipeline_wait_prior(1);
        __syncthreads();
        out[k * 128 + tid] = tile[k % 2][127 - tid]; // <- here
        if (k + 2 < tiles)
            __pipeline_memcpy_async(&tile[k % 2][tid], in + (k + 2) * 128 + tid, sizeof(int)); // <- here
        __pipeline_commit();
    }
}

int main()
{
    int *d_in, *d_out;
    cudaMalloc(&d_in, 6 * 128 * sizeof(int));
    cudaMalloc(&d_out, 6 * 128 * sizeof(int));
    cudaMemset(d_in, 0, 6 * 128 * sizeof(int));
    reverse_tiles<<<1, 128>>>(d_in, d_out, 6);
    cudaDeviceSynchronize();
    cudaFree(d_in);
    cudaFree(d_out);
    return 0;
}
