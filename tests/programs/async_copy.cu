// Asynchronous copies to shared memory; the last one is partial and filled up with zeros.
#include "check.h"
#include <cuda_pipeline.h>

__global__ void copy(const float2 *in, float2 *out, int n)
{
    __shared__ float4 box[32];
    const int pair = 2 * threadIdx.x, beyond = pair + 2 <= n ? 0 : pair < n ? (pair + 2 - n) * 8 : 16;
    if (pair < n) {
        __pipeline_memcpy_async(&box[threadIdx.x], in + pair, sizeof(float4), beyond);
        __pipeline_commit();
        __pipeline_wait_prior(0);
        out[pair] = make_float2(box[threadIdx.x].x, box[threadIdx.x].y);
        out[pair + 1] = make_float2(box[threadIdx.x].z, box[threadIdx.x].w);
    }
}

int main()
{
    const int n = 5;
    float2 *in = managed<float2>(n), *out = managed<float2>(n + 1);
    for (int i = 0; i < n; i++)
        in[i] = make_float2(i + 1, -i);
    copy<<<1, 32>>>(in, out, n);
    CUDA(cudaDeviceSynchronize());
    for (int i = 0; i < n; i++)
        CHECK(out[i].x == i + 1 && out[i].y == -i);
    CHECK(out[n].x == 0 && out[n].y == 0);
    puts("PASS");
}
