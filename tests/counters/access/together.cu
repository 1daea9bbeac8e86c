// Clusters, whose blocks reach each other's shared memory, a grid that waits for all its blocks, and threads that return
// before the others: each kernel is launched once, to compare what the simulator counts with what Nsight Compute reads.
// Build and run: nvcc -O3 -arch=native -o together together.cu && ./together

#include <cooperative_groups.h>
#include <cstdio>

namespace cg = cooperative_groups;

const int BLOCKS = 8, THREADS = 96;

// Each thread reads a word of the next block of the cluster; neighbouring lanes are `stride` words apart.
template <int stride> __global__ void __cluster_dims__(4, 1, 1) cluster_read(float *out)
{
    __shared__ float words[THREADS * stride];
    const cg::cluster_group cluster = cg::this_cluster();
    words[threadIdx.x * stride] = threadIdx.x;
    cluster.sync();
    const float *next = cluster.map_shared_rank(words, (cluster.block_rank() + 1) % 4);
    out[blockIdx.x * THREADS + threadIdx.x] = next[threadIdx.x * stride];
    cluster.sync();
}

// Each thread writes a word of the next block, which that one reads.
__global__ void __cluster_dims__(2, 1, 1) cluster_write(float *out)
{
    __shared__ float words[THREADS];
    const cg::cluster_group cluster = cg::this_cluster();
    cluster.sync();
    cluster.map_shared_rank(words, 1 - cluster.block_rank())[threadIdx.x] = threadIdx.x;
    cluster.sync();
    out[blockIdx.x * THREADS + threadIdx.x] = words[threadIdx.x];
}

// All threads of a cluster count in its first block.
__global__ void __cluster_dims__(4, 1, 1) cluster_count(unsigned *out)
{
    __shared__ unsigned counts[32];
    const cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x < 32)
        counts[threadIdx.x] = 0;
    cluster.sync();
    atomicAdd(cluster.map_shared_rank(counts, 0) + threadIdx.x % 32, 1);
    cluster.sync();
    if (threadIdx.x < 32)
        out[blockIdx.x * 32 + threadIdx.x] = counts[threadIdx.x];
}

// Every block reads what another one wrote, after all have met.
__global__ void grid_meets(const float *in, float *between, float *out)
{
    const unsigned i = blockIdx.x * THREADS + threadIdx.x;
    between[i] = in[i];
    cg::this_grid().sync();
    out[i] = between[(i + THREADS) % (BLOCKS * THREADS)];
}

// In one arm of an if some lanes return; the others go on together.
__global__ void return_in_an_arm(const float *in, float *out)
{
    const unsigned tid = threadIdx.x, i = blockIdx.x * THREADS + tid;
    if (tid & 1) {
        if (in[i] > 0)
            return;
        out[i] = in[i] * 3;
    } else {
        out[i] = in[i] + 1;
    }
    for (int k = 0; k < 10; k++)
        out[i + k * BLOCKS * THREADS] = in[i + k * BLOCKS * THREADS];
}

// Lanes return from a loop at different turns; those that are left write together.
__global__ void return_in_a_loop(const float *in, float *out, int turns)
{
    const unsigned tid = threadIdx.x, i = blockIdx.x * THREADS + tid;
    float sum = 0;
    for (int k = 0; k < turns; k++) {
        const float value = in[i + k * BLOCKS * THREADS];
        if (value > 1000 + k)
            return;
        sum += value;
    }
    out[i] = sum;
}

int main()
{
    const int all = BLOCKS * THREADS, turns = 10;
    float *values, *in, *out, *between;
    cudaMallocHost(&values, turns * all * sizeof(float));
    cudaMalloc(&in, turns * all * sizeof(float));
    cudaMalloc(&out, turns * all * sizeof(float));
    cudaMalloc(&between, all * sizeof(float));
    for (int i = 0; i < turns * all; i++) // every eighth lane returns early: those with an odd number in the arm at once
        values[i] = i % 8 == 5 ? 1004 : -1;
    cudaMemcpy(in, values, turns * all * sizeof(float), cudaMemcpyDefault);
    cluster_read<1><<<BLOCKS, THREADS>>>(out);
    cluster_read<2><<<BLOCKS, THREADS>>>(out);
    cluster_read<32><<<BLOCKS, THREADS>>>(out);
    cluster_write<<<BLOCKS, THREADS>>>(out);
    cluster_count<<<BLOCKS, THREADS>>>((unsigned *)out);
    void *arguments[] = {&in, &between, &out};
    cudaLaunchCooperativeKernel((void *)grid_meets, BLOCKS, THREADS, arguments, 0, 0);
    return_in_an_arm<<<BLOCKS, THREADS>>>(in, out);
    return_in_a_loop<<<BLOCKS, THREADS>>>(in, out, turns);
    const cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess)
        fprintf(stderr, "together: %s\n", cudaGetErrorString(error));
    return error != cudaSuccess;
}
