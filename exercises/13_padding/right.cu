// ==== Each row begins one bank further on, without padding
__global__ void transpose(const float *in, float *out)
{
    __shared__ float tile[32][32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, begin = blockIdx.x * 1024;
    for (int row = warp; row < 32; row += 8)
        tile[row][(lane + row) % 32] = in[begin + 32 * row + lane];
    __syncthreads();
    for (int row = warp; row < 32; row += 8)
        out[begin + 32 * row + lane] = tile[lane][(row + lane) % 32];
}
// ==== The same with an exclusive or
__global__ void transpose(const float *in, float *out)
{
    __shared__ float tile[32][32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, begin = blockIdx.x * 1024;
    for (int row = warp; row < 32; row += 8)
        tile[row][lane ^ row] = in[begin + 32 * row + lane];
    __syncthreads();
    for (int row = warp; row < 32; row += 8)
        out[begin + 32 * row + lane] = tile[lane][row ^ lane];
}
