// A one-dimensional stencil: a tile with its neighbours in dynamic shared memory. And a box filter of bytes: each thread reads
// 441 bytes, so a word has many readers, whose reads begin at different bytes of it.
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

const int AROUND = 10, TILE = 16, WIDTH = TILE + 2 * AROUND; // of the pixels

__global__ void box(int *sums, int columns)
{
    __shared__ unsigned char tile[WIDTH][WIDTH];
    const int x = threadIdx.x, y = threadIdx.y;
    for (int k = y * TILE + x; k < WIDTH * WIDTH; k += TILE * TILE)
        tile[k / WIDTH][k % WIDTH] = k % 101;
    __syncthreads();
    if (x >= columns)
        return;
    int sum = 0;
    for (int dy = 0; dy <= 2 * AROUND; dy++)
        for (int dx = 0; dx <= 2 * AROUND; dx++)
            sum += tile[y + dy][x + dx];
    sums[y * columns + x] = sum;
}

static void check_box(int columns)
{
    int *sums = managed<int>(TILE * columns);
    box<<<1, dim3(TILE, TILE)>>>(sums, columns);
    CUDA(cudaDeviceSynchronize());
    for (int k = 0; k < TILE * columns; k++) {
        int sum = 0;
        for (int y = k / columns; y <= k / columns + 2 * AROUND; y++)
            for (int x = k % columns; x <= k % columns + 2 * AROUND; x++)
                sum += (y * WIDTH + x) % 101;
        CHECK(sums[k] == sum);
    }
}

int main()
{
    check_box(4);
    check_box(TILE);
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
