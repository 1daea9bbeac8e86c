// out[row] is the sum of a row; each warp adds one row. The rows are contiguous, with `columns` elements each.
__global__ void sum_rows(const float *in, float *out, int rows, int columns)
{
    int row = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows)
        return; // the whole warp
    float own = 0;
    for (int k = lane; k < columns; k += 32)
        own += in[row * columns + k];
    for (int s = 16; s > 0; s /= 2)
        own += __shfl_down_sync(0xffffffff, own, s);
    if (lane == 0)
        out[row] = own;
}
