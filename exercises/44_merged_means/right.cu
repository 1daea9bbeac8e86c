// ==== Two passes over a register
__global__ void spread(const float *in, float *means, float *squares)
{
    float x = in[blockIdx.x * 32 + threadIdx.x], sum = x;
    for (int s = 16; s > 0; s /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, s);
    float distance = x - sum / 32, square = distance * distance;
    for (int s = 16; s > 0; s /= 2)
        square += __shfl_xor_sync(0xffffffff, square, s);
    if (threadIdx.x == 0) {
        means[blockIdx.x] = sum / 32;
        squares[blockIdx.x] = square;
    }
}
// ==== Moments relative to the row's first number
__global__ void spread(const float *in, float *means, float *squares)
{
    float first = in[blockIdx.x * 32], sum = in[blockIdx.x * 32 + threadIdx.x] - first, square = sum * sum;
    for (int s = 16; s > 0; s /= 2) {
        sum += __shfl_down_sync(0xffffffff, sum, s);
        square += __shfl_down_sync(0xffffffff, square, s);
    }
    if (threadIdx.x == 0) {
        means[blockIdx.x] = first + sum / 32;
        squares[blockIdx.x] = square - sum * sum / 32;
    }
}
