// ==== By a pointer to the row
__global__ void sum_rows(const float *in, float *out, int rows, int columns)
{
    int row = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows)
        return;
    const float *begin = in + row * columns;
    float own = lane < columns ? begin[lane] : 0;
    for (int k = lane + 32; k < columns; k += 32)
        own += begin[k];
    for (int s = 1; s < 32; s *= 2)
        own += __shfl_xor_sync(0xffffffff, own, s);
    if (lane == 0)
        out[row] = own;
}
// ==== In shared memory
__global__ void sum_rows(const float *in, float *out, int rows, int columns)
{
    __shared__ float sums[256];
    int tid = threadIdx.x, row = blockIdx.x * 8 + tid / 32, lane = tid % 32;
    if (row >= rows)
        return;
    float own = 0;
    for (int k = lane; k < columns; k += 32)
        own += in[row * columns + k];
    sums[tid] = own;
    for (int s = 16; s > 0; s /= 2) {
        __syncwarp();
        if (lane < s)
            sums[tid] += sums[tid + s];
    }
    if (lane == 0)
        out[row] = sums[tid];
}
