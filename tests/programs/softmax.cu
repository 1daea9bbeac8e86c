// Softmax over rows, one warp a row: maximum and sum by shuffles.
#include "check.h"
#include <cmath>

__global__ void softmax(const float *in, float *out, int columns)
{
    const float *row = in + blockIdx.x * columns;
    float most = -INFINITY, sum = 0;
    for (int i = threadIdx.x; i < columns; i += 32)
        most = fmaxf(most, row[i]);
    for (int s = 16; s > 0; s /= 2)
        most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, s));
    for (int i = threadIdx.x; i < columns; i += 32)
        sum += expf(row[i] - most);
    for (int s = 16; s > 0; s /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, s);
    sum = __shfl_sync(0xffffffff, sum, 0);
    for (int i = threadIdx.x; i < columns; i += 32)
        out[blockIdx.x * columns + i] = expf(row[i] - most) / sum;
}

int main()
{
    const int rows = 9, columns = 77;
    float *in = managed<float>(rows * columns), *out = managed<float>(rows * columns);
    for (int i = 0; i < rows * columns; i++)
        in[i] = sinf(i) * 5;
    softmax<<<rows, 32>>>(in, out, columns);
    CUDA(cudaDeviceSynchronize());
    for (int row = 0; row < rows; row++) {
        double sum = 0, total = 0;
        for (int i = 0; i < columns; i++)
            sum += exp(in[row * columns + i]);
        for (int i = 0; i < columns; i++) {
            CHECK(fabs(out[row * columns + i] - exp(in[row * columns + i]) / sum) < 1e-6);
            total += out[row * columns + i];
        }
        CHECK(fabs(total - 1) < 1e-5);
    }
    puts("PASS");
}
