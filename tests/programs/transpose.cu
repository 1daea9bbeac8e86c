// A matrix transposed through a padded tile of shared memory, with pitched memory.
#include "check.h"

const int TILE = 32, ROWS = 8;

__global__ void transpose(const double *in, size_t in_pitch, double *out, size_t out_pitch, int width, int height)
{
    __shared__ double tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        if (x < width && y + j < height)
            tile[threadIdx.y + j][threadIdx.x] = *(const double *)((const char *)(in + x) + (y + j) * in_pitch);
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        if (x < height && y + j < width)
            *(double *)((char *)(out + x) + (y + j) * out_pitch) = tile[threadIdx.x][threadIdx.y + j];
}

int main()
{
    const int width = 70, height = 45;
    static double in[height][width], out[width][height];
    double *d_in, *d_out;
    size_t in_pitch, out_pitch;
    for (int i = 0; i < width * height; i++)
        in[i / width][i % width] = i + 0.25;
    CUDA(cudaMallocPitch(&d_in, &in_pitch, width * sizeof(double), height));
    CUDA(cudaMallocPitch(&d_out, &out_pitch, height * sizeof(double), width));
    CUDA(cudaMemcpy2D(d_in, in_pitch, in, sizeof in[0], sizeof in[0], height, cudaMemcpyHostToDevice));
    const dim3 grid((width + TILE - 1) / TILE, (height + TILE - 1) / TILE), block(TILE, ROWS);
    transpose<<<grid, block>>>(d_in, in_pitch, d_out, out_pitch, width, height);
    CUDA(cudaMemcpy2D(out, sizeof out[0], d_out, out_pitch, sizeof out[0], width, cudaMemcpyDeviceToHost));
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            CHECK(out[x][y] == in[y][x]);
    puts("PASS");
}
