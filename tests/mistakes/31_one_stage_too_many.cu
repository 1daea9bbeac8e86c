// Copies run ahead of their use. The loop starts one copy more than there are stages.
// finds: race-shared "wait for the asynchronous copy between two executions"
#include <cstdio>
#include <cuda_pipeline.h>

__global__ void add_tiles(const int *in, int *out, int tiles)
{
    __shared__ int tile[4][128];
    int sum = 0;
    for (int k = 0, ahead = 0; k < tiles; k++) {
        for (; ahead <= k + 4; ahead++) { // ought to be <
            if (ahead < tiles)
                __pipeline_memcpy_async(&tile[ahead % 4][threadIdx.x], in + ahead * 128 + threadIdx.x, sizeof(int)); // <- here
            __pipeline_commit();
        }
        __pipeline_wait_prior(4);
        sum += tile[k % 4][threadIdx.x];
    }
    out[threadIdx.x] = sum;
}

int main()
{
    int *d_in, *d_out;
    cudaMalloc(&d_in, 8 * 128 * sizeof(int));
    cudaMalloc(&d_out, 128 * sizeof(int));
    cudaMemset(d_in, 0, 8 * 128 * sizeof(int));
    add_tiles<<<1, 128>>>(d_in, d_out, 8);
    cudaDeviceSynchronize();
    cudaFree(d_in);
    cudaFree(d_out);
    return 0;
}
