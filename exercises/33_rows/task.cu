// out[row] is the sum of a row; each warp adds one row. The rows are contiguous, with `columns` elements each.
__global__ void sum_rows(const float *in, float *out, int rows, int columns)
{
    int row = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows)
        return; // the whole warp
    float own = 0;
    // add the row's elements, then the lanes' sums
    if (lane == 0)
        out[row] = own;
}
