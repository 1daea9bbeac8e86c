// launches: the cost of one more kernel, in a stream and in a CUDA graph, and of one more barrier in a kernel: one CSV row
// for each. A cost is the time of MANY of them minus that of FEW, divided by the difference; medians of RUNS runs.
#include <algorithm>
#include <cooperative_groups.h>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#include "cub_version.h"

namespace cg = cooperative_groups;

enum { RUNS = 201, FEW = 5, MANY = 25, BLOCKS = 128, THREADS = 512, CLUSTER = 8 };

#define CHECK(call) check(call, #call)
static void check(cudaError_t error, const char *call)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "launches: %s: %s\n", call, cudaGetErrorString(error));
    exit(error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver ? 77 : EXIT_FAILURE);
}

// Runs while the host queues what is timed.
__global__ void spin(long long cycles)
{
    const long long start = clock64();
    while (clock64() - start < cycles)
        continue;
}

__global__ void nothing()
{
}

// Lets the next kernel start at once, and waits for the end of the previous one.
__global__ void dependent()
{
#if __CUDA_ARCH__ >= 900
    cudaTriggerProgrammaticLaunchCompletion();
    cudaGridDependencySynchronize();
#endif
}

__global__ void grid_barriers(int count)
{
    for (int k = 0; k < count; k++)
        cg::this_grid().sync();
}

__global__ void cluster_barriers(int count)
{
#if __CUDA_ARCH__ >= 900
    for (int k = 0; k < count; k++)
        cg::this_cluster().sync();
#endif
}

static cudaStream_t stream;

template <class... Arguments>
static void launch(void (*kernel)(Arguments...), int blocks, cudaLaunchAttribute attribute, Arguments... arguments)
{
    const cudaLaunchConfig_t config = {(unsigned)blocks, THREADS, 0, stream, &attribute, 1};
    CHECK(cudaLaunchKernelEx(&config, kernel, arguments...));
}

static cudaLaunchAttribute attribute_of(cudaLaunchAttributeID id)
{
    cudaLaunchAttribute attribute = {};
    attribute.id = id;
    if (id == cudaLaunchAttributeProgrammaticStreamSerialization)
        attribute.val.programmaticStreamSerializationAllowed = 1;
    else if (id == cudaLaunchAttributeCooperative)
        attribute.val.cooperative = 1;
    else if (id == cudaLaunchAttributeClusterDimension)
        attribute.val.clusterDim = {CLUSTER, 1, 1};
    return attribute;
}

static void launch_kernels(int count)
{
    for (int k = 0; k < count; k++)
        nothing<<<BLOCKS, THREADS, 0, stream>>>();
}

static void launch_dependent(int count)
{
    for (int k = 0; k < count; k++)
        launch(dependent, BLOCKS, attribute_of(cudaLaunchAttributeProgrammaticStreamSerialization));
}

// Launches a graph that contains what `queue` queues.
static void launch_graph(void (*queue)(int), int count)
{
    static cudaGraphExec_t graphs[2][MANY + 1]; // by `queue`; those instantiated so far
    cudaGraphExec_t &instance = graphs[queue == launch_dependent][count];
    if (!instance) {
        cudaGraph_t graph;
        CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
        queue(count);
        CHECK(cudaStreamEndCapture(stream, &graph));
        CHECK(cudaGraphInstantiate(&instance, graph, 0));
        CHECK(cudaGraphUpload(instance, stream));
    }
    CHECK(cudaGraphLaunch(instance, stream));
}

// The median of the microseconds that the GPU takes for what `queue` queues.
static double median_us(const std::function<void()> &queue)
{
    cudaEvent_t start, stop;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    std::vector<float> ms(RUNS);
    for (int run = -1; run < RUNS; run++) { // the first run loads the kernels
        spin<<<1, 1, 0, stream>>>(400000);
        CHECK(cudaEventRecord(start, stream));
        queue();
        CHECK(cudaEventRecord(stop, stream));
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaEventElapsedTime(&ms[std::max(run, 0)], start, stop));
    }
    std::sort(ms.begin(), ms.end());
    return 1e3 * ms[RUNS / 2];
}

static void report(const char *what, const std::function<void(int)> &queue)
{
    const double us = median_us([&] { queue(MANY); }) - median_us([&] { queue(FEW); });
    printf("%s,%.3f,%s\n", what, us / (MANY - FEW), today().c_str());
    fflush(stdout);
}

int main()
{
    cudaDeviceProp device;
    CHECK(cudaGetDeviceProperties(&device, 0));
    CHECK(cudaStreamCreate(&stream));
    printf("what,us,date\n");
    report("kernel", launch_kernels);
    report("graph_kernel", [](int count) { launch_graph(launch_kernels, count); });
    if (device.major >= 9) {
        report("dependent_kernel", launch_dependent);
        report("graph_dependent_kernel", [](int count) { launch_graph(launch_dependent, count); });
        report("cluster_barrier", [](int count) { launch(cluster_barriers, CLUSTER, attribute_of(cudaLaunchAttributeClusterDimension), count); });
    }
    report("grid_barrier", [](int count) { launch(grid_barriers, BLOCKS, attribute_of(cudaLaunchAttributeCooperative), count); });
}
