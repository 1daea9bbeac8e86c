// For each row: its largest number, and the sum of 2^(x - largest) over its numbers x. One warp per row of at most 256 numbers.
__global__ void powers(const float *in, float *largest, float *sums, int columns)
{
    const float *row = in + blockIdx.x * columns;
    float most = -FLT_MAX, sum = 0;
    for (int c = threadIdx.x; c < columns; c += 32)
        most = fmaxf(most, row[c]);
    for (int s = 16; s > 0; s /= 2)
        most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, s));
    for (int c = threadIdx.x; c < columns; c += 32)
        sum += exp2f(row[c] - most); // the second pass
    for (int s = 16; s > 0; s /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, s);
    if (threadIdx.x == 0) {
        largest[blockIdx.x] = most;
        sums[blockIdx.x] = sum;
    }
}
