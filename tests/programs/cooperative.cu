// Cooperative groups, a lock between blocks, and objects created in a kernel.
#include "check.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void groups(int *out)
{
    const cg::thread_block block = cg::this_thread_block();
    const auto tile = cg::tiled_partition<16>(block);
    int value = threadIdx.x;
    for (int s = 8; s > 0; s /= 2)
        value += tile.shfl_down(value, s);
    if (tile.thread_rank() == 0)
        atomicAdd(out, value);
    block.sync();
    if (threadIdx.x % 3 == 0) {
        const auto active = cg::coalesced_threads();
        if (active.thread_rank() == 0)
            atomicAdd(out + 1, active.size());
    }
}

__device__ int mutex, total;

__global__ void lock()
{
    if (threadIdx.x == 0) {
        while (atomicCAS(&mutex, 0, 1) != 0)
            ;
        __threadfence();
        total++;
        __threadfence();
        atomicExch(&mutex, 0);
    }
}

struct Shape {
    __device__ virtual int corners(int) { return 0; }
    __device__ virtual ~Shape() {}
};

struct Polygon : Shape {
    int n;
    __device__ explicit Polygon(int n) : n(n) {}
    __device__ int corners(int scale) override { return n * scale; }
};

__global__ void objects(int *out)
{
    Shape *shape = threadIdx.x % 2 ? new Polygon(threadIdx.x) : new Shape;
    out[threadIdx.x] = shape->corners(10);
    delete shape;
}

int main()
{
    int *out = managed<int>(32), taken;
    out[0] = out[1] = 0;
    groups<<<2, 96>>>(out);
    CUDA(cudaDeviceSynchronize());
    CHECK(out[0] == 2 * 95 * 96 / 2 && out[1] == 64);
    lock<<<50, 64>>>();
    CUDA(cudaMemcpyFromSymbol(&taken, total, sizeof taken));
    CHECK(taken == 50);
    objects<<<1, 32>>>(out);
    CUDA(cudaDeviceSynchronize());
    for (int i = 0; i < 32; i++)
        CHECK(out[i] == (i % 2 ? 10 * i : 0));
    puts("PASS");
}
