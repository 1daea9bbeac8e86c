// ==== The row in registers
__global__ void powers(const float *in, float *largest, float *sums, int columns)
{
    float own[8], most = -FLT_MAX, sum = 0;
    for (int k = 0; k < 8; k++) {
        int c = k * 32 + threadIdx.x;
        own[k] = c < columns ? in[blockIdx.x * columns + c] : -FLT_MAX;
        most = fmaxf(most, own[k]);
    }
    for (int s = 16; s > 0; s /= 2)
        most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, s));
    for (int k = 0; k < 8; k++)
        sum += exp2f(own[k] - most);
    for (int s = 16; s > 0; s /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, s);
    if (threadIdx.x == 0) {
        largest[blockIdx.x] = most;
        sums[blockIdx.x] = sum;
    }
}
// ==== Rescaled only when a larger number comes
__global__ void powers(const float *in, float *largest, float *sums, int columns)
{
    float most = -FLT_MAX, sum = 0;
    for (int c = threadIdx.x; c < columns; c += 32) {
        float x = in[blockIdx.x * columns + c];
        if (x > most) {
            sum *= exp2f(most - x);
            most = x;
        }
        sum += exp2f(x - most);
    }
    float all = most;
    for (int s = 16; s > 0; s /= 2)
        all = fmaxf(all, __shfl_xor_sync(0xffffffff, all, s));
    sum *= exp2f(most - all);
    for (int s = 16; s > 0; s /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, s);
    if (threadIdx.x == 0) {
        largest[blockIdx.x] = all;
        sums[blockIdx.x] = sum;
    }
}
