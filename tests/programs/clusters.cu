// Thread block clusters: ranks, the cluster's barrier, shared memory of other blocks, and launches that fail.
#include "check.h"

#include <cooperative_groups.h>
#include <cstring>

namespace cg = cooperative_groups;

enum { BINS = 256, THREADS = 128, PER_THREAD = 8 };

// Each block of a cluster owns some of the bins, and increments those of all blocks.
__global__ void histogram(const unsigned *values, int count, unsigned *result)
{
    extern __shared__ unsigned part[];
    const cg::cluster_group cluster = cg::this_cluster();
    const unsigned blocks = cluster.num_blocks(), bins = BINS / blocks;
    for (unsigned k = threadIdx.x; k < bins; k += blockDim.x)
        part[k] = 0;
    cluster.sync();
    for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < count; k += gridDim.x * blockDim.x)
        atomicAdd(cluster.map_shared_rank(part, values[k] / bins) + values[k] % bins, 1);
    cluster.sync();
    for (unsigned k = threadIdx.x; k < bins; k += blockDim.x)
        atomicAdd(&result[cluster.block_rank() * bins + k], part[k]);
}

// A number moves around the ring of a cluster's blocks, by one block at each barrier.
__global__ void __cluster_dims__(4, 1, 1) ring(unsigned *result)
{
    __shared__ unsigned mine[2][32];
    cg::cluster_group cluster = cg::this_cluster();
    const unsigned next = (cluster.block_rank() + 1) % cluster.num_blocks();
    mine[0][threadIdx.x] = blockIdx.x * 32 + threadIdx.x;
    for (int turn = 0; turn < 3; turn++) {
        cluster.sync();
        cluster.map_shared_rank(mine[(turn + 1) % 2], next)[threadIdx.x] = mine[turn % 2][threadIdx.x];
    }
    cluster.barrier_wait(cluster.barrier_arrive());
    result[blockIdx.x * 32 + threadIdx.x] = mine[1][threadIdx.x];
}

struct Place {
    uint3 cluster, block;
    dim3 clusters, blocks;
    unsigned rank, count, explicitly, mapped;
};

__global__ void places(Place *all)
{
    __shared__ unsigned number;
    const cg::cluster_group cluster = cg::this_cluster();
    const unsigned grid_rank = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z), last = cluster.num_blocks() - 1;
    if (threadIdx.x == 0)
        number = grid_rank;
    unsigned local = (unsigned)__cvta_generic_to_shared(&number), mapped, rank, found;
    unsigned long long generic;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(mapped) : "r"(local), "r"(last));
    asm("getctarank.shared::cluster.u32 %0, %1;" : "=r"(rank) : "r"(mapped));
    asm volatile("barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;" ::: "memory");
    asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(found) : "r"(mapped) : "memory");
    asm("cvta.shared::cluster.u64 %0, %1;" : "=l"(generic) : "l"((unsigned long long)mapped));
    const bool right = rank == last && (unsigned *)generic == cluster.map_shared_rank(&number, last) && cluster.query_shared_rank(&number) == cluster.block_rank() &&
                       cluster.query_shared_rank(cluster.map_shared_rank(&number, last)) == last;
    if (threadIdx.x == 0)
        all[grid_rank] = {__clusterIdx(), __clusterRelativeBlockIdx(), __clusterGridDimInClusters(), __clusterDim(), cluster.block_rank(),
                          cluster.num_blocks(), __clusterDimIsSpecified(), right ? found : ~0u};
    cluster.sync();
}

__global__ void empty() {}
__global__ void __cluster_dims__(2, 1, 1) pairs() {}

// Blocks that exit do not hold up the cluster's barrier; their shared memory no longer exists.
__global__ void late(int *result, bool reads)
{
    __shared__ int number;
    cg::cluster_group cluster = cg::this_cluster();
    number = 7;
    int *first = cluster.map_shared_rank(&number, 0);
    if (cluster.block_rank() == 0)
        return;
    cluster.sync();
    *result = reads ? *first : 1;
}

__global__ void endless()
{
    cg::cluster_group cluster = cg::this_cluster();
    if (cluster.block_rank() == 0)
        for (volatile int *never = nullptr; never == nullptr;)
            ;
    cluster.sync();
}

enum Wrong { TWICE, UNASKED, OWN_ONLY, NO_RANK, NEVER };

__global__ void wrong(Wrong what)
{
    __shared__ int number;
    const unsigned local = (unsigned)__cvta_generic_to_shared(&number);
    unsigned mapped;
    if (what == TWICE)
        asm volatile("barrier.cluster.arrive; barrier.cluster.arrive;");
    if (what == UNASKED)
        asm volatile("barrier.cluster.wait;");
    if (what == OWN_ONLY)
        asm volatile("mapa.shared::cluster.u32 %0, %1, 1; st.shared.u32 [%0], 1;" : "=r"(mapped) : "r"(local));
    if (what == NO_RANK)
        asm volatile("mapa.shared::cluster.u32 %0, %1, 2;" : "=r"(mapped) : "r"(local));
    if (what == NEVER && cg::this_cluster().block_rank() == 0 && threadIdx.x < 32) // waits for the block's other warp
        asm volatile("bar.sync 1, 64;");
    cg::this_cluster().sync();
}

template <class... Formal, class... Actual>
static cudaError_t launch(void (*kernel)(Formal...), dim3 grid, dim3 block, dim3 cluster, size_t bytes, Actual... actual)
{
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = cluster.x;
    attribute.val.clusterDim.y = cluster.y;
    attribute.val.clusterDim.z = cluster.z;
    cudaLaunchConfig_t config = {};
    config.gridDim = grid;
    config.blockDim = block;
    config.dynamicSmemBytes = bytes;
    config.attrs = &attribute;
    config.numAttrs = 1;
    const cudaError_t error = cudaLaunchKernelEx(&config, kernel, Formal(actual)...);
    if (error)
        CHECK(cudaGetLastError() == error);
    return error;
}

static void test_histogram(unsigned blocks)
{
    const int count = 8 * THREADS * PER_THREAD;
    unsigned *values = managed<unsigned>(count), *result = managed<unsigned>(BINS), expected[BINS] = {};
    for (int k = 0; k < count; k++)
        expected[values[k] = (unsigned)k * 2654435761u >> 24]++;
    memset(result, 0, BINS * sizeof *result);
    CUDA(launch(histogram, 8, THREADS, blocks, BINS / blocks * sizeof(unsigned), values, count, result));
    CUDA(cudaDeviceSynchronize());
    CHECK(memcmp(result, expected, sizeof expected) == 0);
}

static void test_ring()
{
    unsigned *result = managed<unsigned>(1024 * 32);
    ring<<<1024, 32>>>(result); // more blocks than the device holds at once
    CUDA(cudaDeviceSynchronize());
    for (unsigned block = 0; block < 1024; block++)
        for (unsigned thread = 0; thread < 32; thread++)
            CHECK(result[block * 32 + thread] == (block / 4 * 4 + (block + 1) % 4) * 32 + thread);
}

static void test_places(dim3 grid, dim3 size)
{
    Place *all = managed<Place>(grid.x * grid.y * grid.z);
    if (size.x)
        CUDA(launch(places, grid, 64, size, 0, all));
    else
        places<<<grid, 64>>>(all);
    CUDA(cudaDeviceSynchronize());
    const bool explicitly = size.x > 0;
    if (!explicitly)
        size = dim3(1, 1, 1);
    for (unsigned z = 0; z < grid.z; z++)
        for (unsigned y = 0; y < grid.y; y++)
            for (unsigned x = 0; x < grid.x; x++) {
                const Place &p = all[x + grid.x * (y + grid.y * z)];
                CHECK(p.cluster.x == x / size.x && p.cluster.y == y / size.y && p.cluster.z == z / size.z);
                CHECK(p.block.x == x % size.x && p.block.y == y % size.y && p.block.z == z % size.z);
                CHECK(p.clusters.x == grid.x / size.x && p.clusters.y == grid.y / size.y && p.clusters.z == grid.z / size.z);
                CHECK(p.blocks.x == size.x && p.blocks.y == size.y && p.blocks.z == size.z);
                CHECK(p.rank == p.block.x + size.x * (p.block.y + size.y * p.block.z));
                CHECK(p.count == size.x * size.y * size.z && p.explicitly == explicitly);
                const unsigned last_x = (x / size.x + 1) * size.x - 1, last_y = (y / size.y + 1) * size.y - 1;
                const unsigned last_z = (z / size.z + 1) * size.z - 1;
                CHECK(p.mapped == last_x + grid.x * (last_y + grid.y * last_z));
            }
}

static void test_occupancy()
{
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = 4;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    cudaLaunchConfig_t config = {};
    config.blockDim = 1024;
    config.attrs = &attribute;
    config.numAttrs = 1;
    int clusters, blocks;
    cudaDeviceProp properties;
    CUDA(cudaGetDeviceProperties(&properties, 0));
    CHECK(properties.clusterLaunch == 1);
    CUDA(cudaOccupancyMaxActiveClusters(&clusters, places, &config));
    CHECK(clusters > 0 && clusters <= 2 * properties.multiProcessorCount / 4);
    CUDA(cudaOccupancyMaxPotentialClusterSize(&blocks, places, &config));
    CHECK(blocks == 8);
    attribute.val.clusterDim.x = 16;
    CHECK(cudaOccupancyMaxActiveClusters(&clusters, places, &config) == cudaErrorInvalidClusterSize);
    cudaGetLastError();
}

static void test_refusals()
{
    CHECK(launch(empty, 3, 32, 2, 0) == cudaErrorInvalidClusterSize);
    CHECK(launch(empty, 16, 32, 16, 0) == cudaErrorInvalidClusterSize);
    CUDA(cudaFuncSetAttribute(empty, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    CUDA(launch(empty, 16, 32, 16, 0));
    CHECK(launch(empty, 32, 32, 32, 0) == cudaErrorInvalidClusterSize);
    CHECK(launch(empty, 32, 32, dim3(2, 0, 1), 0) == cudaErrorInvalidValue);
    CHECK(launch(pairs, 4, 32, 4, 0) == cudaErrorInvalidClusterSize);
    CUDA(launch(pairs, 4, 32, 2, 0));
    pairs<<<3, 32>>>();
    CHECK(cudaGetLastError() == cudaErrorInvalidClusterSize);
    CHECK(cudaFuncSetAttribute(empty, cudaFuncAttributeRequiredClusterWidth, 2) == cudaErrorNotSupported);
    cudaGetLastError();
}

int main(int argc, char **argv)
{
    int *result = managed<int>(1);
    if (argc > 1) { // errors at run time
        if (strcmp(argv[1], "late") == 0)
            CUDA(launch(late, 2, 32, 2, 0, result, true));
        else if (strcmp(argv[1], "endless") == 0)
            CUDA(launch(endless, 2, 64, 2, 0));
        else
            CUDA(launch(wrong, 2, 64, 2, 0, (Wrong)atoi(argv[1])));
        printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
        return 0;
    }
    test_histogram(2);
    test_histogram(8);
    test_ring();
    test_places(dim3(8, 1, 1), dim3(4, 1, 1));
    test_places(dim3(4, 6, 4), dim3(2, 3, 1));
    test_places(dim3(4, 2, 4), dim3(2, 2, 2));
    test_places(dim3(4, 2, 1), dim3(0, 0, 0));
    test_occupancy();
    test_refusals();
    CUDA(launch(late, 2, 32, 2, 0, result, false));
    CUDA(cudaDeviceSynchronize());
    CHECK(*result == 1);
    printf("PASS\n");
}
