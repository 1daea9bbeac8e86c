// A one-dimensional stencil: a tile with its neighbours in dynamic shared memory.
#include "check.h"

const int RADIUS = 3;

__global__ void stencil(const int *in, int *out, int n)
{
    extern __shared__ int tile[];
    const int i = blockIdx.x * blockDim.x + threadIdx.x, at = threadIdx.x + RADIUS;
    tile[at] = i < n ? in[i] : 0;
    if (threadIdx.x < RADIUS) {
        tile[at - RADIUS] = i >= RADIUS ? in[i - RADIUS] : 0;
        tile[at + blockDim.x] = i + blockDim.x < n ? in[i + blockDim.x] : 0;
    }
    __syncthreads();
    if (i >= n)
        return;
    int sum = 0;
    for (int k = -RADIUS; k <= RADIUS; k++)
        sum += tile[at + k];
    out[i] = sum;
}

int main()
{
    const int n = 5001;
    int *in = managed<int>(n), *out = managed<int>(n);
    for (int i = 0; i < n; i++)
        in[i] = i * i % 101;
    stencil<<<(n + 127) / 128, 128, (128 + 2 * RADIUS) * sizeof(int)>>>(in, out, n);
    CUDA(cudaDeviceSynchronize());
    for (int i = 0; i < n; i++) {
        int sum = 0;
        for (int k = i - RADIUS; k <= i + RADIUS; k++)
            sum += k >= 0 && k < n ? in[k] : 0;
        CHECK(out[i] == sum);
    }
    puts("PASS");
}
