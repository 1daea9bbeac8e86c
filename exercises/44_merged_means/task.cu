// For each row of 32 numbers: its mean, and the sum of the squared distances from it. One warp per row.
__global__ void spread(const float *in, float *means, float *squares)
{
    float sum = in[blockIdx.x * 32 + threadIdx.x], of_squares = sum * sum;
    for (int s = 16; s > 0; s /= 2) {
        sum += __shfl_xor_sync(0xffffffff, sum, s);
        of_squares += __shfl_xor_sync(0xffffffff, of_squares, s);
    }
    if (threadIdx.x == 0) {
        means[blockIdx.x] = sum / 32;
        squares[blockIdx.x] = of_squares - sum * sum / 32; // two moments
    }
}
