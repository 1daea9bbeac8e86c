// Each block transposes a tile of 32 rows of 32 elements: rows become columns. The block has 8 warps, and each warp reads a row at a time.
__global__ void transpose(const float *in, float *out)
{
    __shared__ float tile[32][32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, begin = blockIdx.x * 1024;
    for (int row = warp; row < 32; row += 8)
        tile[row][lane] = in[begin + 32 * row + lane];
    __syncthreads();
    for (int row = warp; row < 32; row += 8)
        out[begin + 32 * row + lane] = tile[lane][row];
}
