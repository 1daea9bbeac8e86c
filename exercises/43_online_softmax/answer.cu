// For each row: its largest number, and the sum of 2^(x - largest) over its numbers x. One warp per row of at most 256 numbers.
__global__ void powers(const float *in, float *largest, float *sums, int columns)
{
    const float *row = in + blockIdx.x * columns;
    float most = -FLT_MAX, sum = 0;
    for (int c = threadIdx.x; c < columns; c += 32) {
        float x = row[c], larger = fmaxf(most, x);
        sum = sum * exp2f(most - larger) + exp2f(x - larger);
        most = larger;
    }
    for (int s = 16; s > 0; s /= 2) {
        float x = __shfl_xor_sync(0xffffffff, most, s), other = __shfl_xor_sync(0xffffffff, sum, s);
        float own = sum, larger = fmaxf(most, x);
        sum = own * exp2f(most - larger) + other * exp2f(x - larger);
        most = larger;
    }
    if (threadIdx.x == 0) {
        largest[blockIdx.x] = most;
        sums[blockIdx.x] = sum;
    }
}
