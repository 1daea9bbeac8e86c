// 16-bit floating-point numbers, alone and in pairs.
#include "check.h"
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__global__ void run(float *out)
{
    const __half2 a = __floats2half2_rn(1.5f, -2), b = __hmul2(a, a);
    out[0] = __low2float(b) + __high2float(b);
    out[1] = __hgt(__low2half(a), __high2half(a)) + 2 * __hbgt2(b, a);
    const __half2 greater = __hgt2(a, __floats2half2_rn(1, 1));
    out[2] = __low2float(greater) + 10 * __high2float(greater);
    const __nv_bfloat16 pi = __float2bfloat16(3.14159f);
    out[3] = __bfloat162float(__hadd(pi, pi));
    const __nv_bfloat162 z = __floats2bfloat162_rn(1, 2);
    out[4] = __high2float(__hfma2(z, z, z));
    out[5] = __half2float(__hmax(__low2half(a), __high2half(a)));
    out[6] = __half2int_rn(__low2half(a)) + __half2float(h2sqrt(b).x);
}

int main()
{
    float *out = managed<float>(8);
    run<<<1, 1>>>(out);
    CUDA(cudaDeviceSynchronize());
    CHECK(out[0] == 6.25f && out[1] == 3 && out[2] == 1);
    CHECK(out[3] == 6.28125f && out[4] == 6 && out[5] == 1.5f && out[6] == 3.5f);
    puts("PASS");
}
