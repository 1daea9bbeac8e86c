// A cooperative launch with grid-wide barriers; a grid with more blocks than fit on the device fails.
#include "check.h"
#include <cooperative_groups.h>
#include <vector>

namespace cg = cooperative_groups;

enum { THREADS = 256, ROUNDS = 5 };

// In each round every thread adds the value of its neighbour in the next block.
__global__ void add_neighbours(int *here, int *there, bool *valid)
{
    const cg::grid_group grid = cg::this_grid();
    const int i = grid.thread_rank(), neighbour = (i + THREADS) % grid.size();
    for (int round = 0; round < ROUNDS; round++) {
        there[i] = here[i] + here[neighbour];
        grid.sync();
        int *const old = here;
        here = there;
        there = old;
    }
    if (i == 0)
        *valid = grid.is_valid();
}

__global__ void ask(bool *valid)
{
    *valid = cg::this_grid().is_valid();
}

static void check_sums(const int *sums, int blocks)
{
    std::vector<int> here(blocks), there(blocks);
    for (int b = 0; b < blocks; b++)
        here[b] = b;
    for (int round = 0; round < ROUNDS; round++, here.swap(there))
        for (int b = 0; b < blocks; b++)
            there[b] = here[b] + here[(b + 1) % blocks];
    for (int i = 0; i < blocks * THREADS; i++)
        CHECK(sums[i] == here[i / THREADS]);
}

int main()
{
    int supported, blocks;
    cudaDeviceProp device;
    CUDA(cudaDeviceGetAttribute(&supported, cudaDevAttrCooperativeLaunch, 0));
    CUDA(cudaGetDeviceProperties(&device, 0));
    CHECK(supported == 1 && device.cooperativeLaunch == 1);
    CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add_neighbours, THREADS, 0));
    blocks *= device.multiProcessorCount;
    int *here = managed<int>(blocks * THREADS), *there = managed<int>(blocks * THREADS);
    bool *valid = managed<bool>(1);
    void *arguments[] = {&here, &there, &valid};
    cudaLaunchAttribute cooperative;
    cooperative.id = cudaLaunchAttributeCooperative;
    cooperative.val.cooperative = 1;
    cudaLaunchConfig_t config = {};
    config.blockDim = dim3(THREADS);
    config.attrs = &cooperative;
    config.numAttrs = 1;
    for (int by_attribute = 0; by_attribute < 2; by_attribute++) {
        for (int i = 0; i < blocks * THREADS; i++)
            here[i] = i / THREADS;
        *valid = false;
        config.gridDim = dim3(blocks);
        if (by_attribute)
            CUDA(cudaLaunchKernelExC(&config, (const void *)add_neighbours, arguments));
        else
            CUDA(cudaLaunchCooperativeKernel((const void *)add_neighbours, dim3(blocks), dim3(THREADS), arguments));
        CUDA(cudaDeviceSynchronize());
        CHECK(*valid);
        check_sums(there, blocks);
        config.gridDim = dim3(blocks + 1);
        const cudaError_t error =
            by_attribute ? cudaLaunchKernelExC(&config, (const void *)add_neighbours, arguments)
                         : cudaLaunchCooperativeKernel((const void *)add_neighbours, dim3(blocks + 1), dim3(THREADS), arguments);
        CHECK(error == cudaErrorCooperativeLaunchTooLarge && cudaGetLastError() == error);
    }
    ask<<<1, 1>>>(valid); // not a cooperative launch
    CUDA(cudaDeviceSynchronize());
    CHECK(!*valid);
    puts("PASS");
}
