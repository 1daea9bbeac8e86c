// For each row of 32 numbers: its mean, and the sum of the squared distances from it. One warp per row.
__global__ void spread(const float *in, float *means, float *squares)
{
    float mean = in[blockIdx.x * 32 + threadIdx.x], sum = 0;
    for (int count = 1; count < 32; count *= 2) { // each lane has the result of `count` numbers
        float distance = __shfl_xor_sync(0xffffffff, mean, count) - mean;
        sum = sum + __shfl_xor_sync(0xffffffff, sum, count) + distance * distance * count / 2;
        mean += distance / 2;
    }
    if (threadIdx.x == 0) {
        means[blockIdx.x] = mean;
        squares[blockIdx.x] = sum;
    }
}
