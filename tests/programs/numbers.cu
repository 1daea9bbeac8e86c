// Arithmetic of all sizes, including half, and the mathematical functions.
#include "check.h"
#include <cmath>
#include <cuda_fp16.h>

__global__ void run(double *out)
{
    const int i = threadIdx.x;
    double *mine = out + i * 12;
    const double x = (i - 20) * 0.37 + 0.01;
    mine[0] = sin(x) + cos(2 * x);
    mine[1] = exp(x / 4) * log(fabs(x));
    mine[2] = sqrt(fabs(x)) + cbrt(x) + pow(fabs(x), 1.5);
    mine[3] = sinf(x) + expf(x / 4) + logf(fabs(x)) + rsqrtf(fabs(x)) + tanhf(x);
    mine[4] = fmod(x, 0.7) + floor(x) + rint(x) + trunc(x);
    const __half h = __float2half(x), two = __float2half(2);
    mine[5] = __half2float(__hfma(h, two, h)) + __half2float(__hmul(h, h));
    const __half2 pair = __hadd2(__halves2half2(h, two), __halves2half2(two, h));
    mine[6] = __low2float(pair) - __high2float(pair);
    mine[7] = (double)((unsigned long long)i * 0x123456789abcdefull % 1000003) + (long long)(i - 9) / 4;
    mine[8] = __umulhi(0xdeadbeefu, i * 77777777u) + __clz(i + 1) + __popc(i) + __brev(i) % 1000 + __ffs(i);
    const __int128 wide = (__int128)(0x7fffffffffffffffll - i) * (i + 12345678901ll);
    mine[9] = (double)(long long)(wide >> 64) + (double)(unsigned)(wide >> 3);
    mine[10] = __fadd_rz(1.0f, 1e-8f * i) + __fdiv_ru(1.0f, i + 3.0f) + __double2float_rd(x);
    mine[11] = atan2(x, 2.0) + erf(x / 8) + tgamma(2 + fabs(x) / 4);
}

int main()
{
    double *out = managed<double>(48 * 12);
    run<<<1, 48>>>(out);
    CUDA(cudaDeviceSynchronize());
    for (int i = 0; i < 48; i++) {
        const double *mine = out + i * 12, x = (i - 20) * 0.37 + 0.01;
        CHECK(fabs(mine[0] - (sin(x) + cos(2 * x))) < 1e-12);
        CHECK(fabs(mine[1] - exp(x / 4) * log(fabs(x))) < 1e-10);
        CHECK(fabs(mine[2] - (sqrt(fabs(x)) + cbrt(x) + pow(fabs(x), 1.5))) < 1e-10);
        CHECK(fabs(mine[3] - (sin(x) + exp(x / 4) + log(fabs(x)) + 1 / sqrt(fabs(x)) + tanh(x))) < 1e-4);
        CHECK(fabs(mine[4] - (fmod(x, 0.7) + floor(x) + rint(x) + trunc(x))) < 1e-12);
        CHECK(fabs(mine[5] - (3 * x + x * x)) < 0.2 && mine[6] == 0);
        CHECK(mine[7] == (double)((unsigned long long)i * 0x123456789abcdefull % 1000003) + (i - 9) / 4);
        const __int128 wide = (__int128)(0x7fffffffffffffffll - i) * (i + 12345678901ll);
        CHECK(mine[9] == (double)(long long)(wide >> 64) + (double)(unsigned)(wide >> 3));
        CHECK(fabs(mine[10] - (1.0f + 1 / (i + 3.0) + x)) < 1e-5);
        CHECK(fabs(mine[11] - (atan2(x, 2.0) + erf(x / 8) + tgamma(2 + fabs(x) / 4))) < 1e-9);
    }
    puts("PASS");
}
