// starts: the block launch rate of this GPU, and the gap between two blocks in one block slot, as CSV.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call) check(call, #call)
static void check(cudaError_t error, const char *call)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "starts: %s: %s\n", call, cudaGetErrorString(error));
    exit(error == cudaErrorNoDevice ? 77 : EXIT_FAILURE);
}

__device__ unsigned long long nanoseconds()
{
    unsigned long long now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
    return now;
}

__global__ void nothing()
{
}

// Each block spins for ns nanoseconds and stores its duration as its first thread measures it.
__global__ void spin(unsigned ns, unsigned *durations_ns)
{
    const unsigned long long begun = threadIdx.x == 0 ? nanoseconds() : 0;
    while (threadIdx.x == 0 && nanoseconds() - begun < ns)
        continue;
    __syncthreads();
    if (threadIdx.x == 0)
        durations_ns[blockIdx.x] = nanoseconds() - begun;
}

// The median of many runs of a launch, in microseconds between two events.
template <class Launch>
static double median_us(Launch launch)
{
    cudaEvent_t start, stop;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    std::vector<float> ms(21);
    for (float &run : ms) {
        CHECK(cudaEventRecord(start));
        launch();
        CHECK(cudaGetLastError());
        CHECK(cudaEventRecord(stop));
        CHECK(cudaEventSynchronize(stop));
        CHECK(cudaEventElapsedTime(&run, start, stop));
    }
    std::sort(ms.begin(), ms.end());
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(stop));
    return 1e3 * ms[ms.size() / 2];
}

// Microseconds from the end of a block until the first thread of the next block in its slot runs. All slots are always
// occupied, so the blocks of a slot follow each other; the difference of two grid sizes excludes the grid's start and end.
static double turnover_us(int threads, int slots)
{
    const unsigned spin_ns = 4000;
    const int rounds = 64;
    const long long most = 2ll * rounds * slots;
    const size_t shared = threads * sizeof(float); // as in steps 01 to 07
    unsigned *durations_ns;
    CHECK(cudaMallocManaged(&durations_ns, most * sizeof *durations_ns));
    const double half = median_us([=] { spin<<<most / 2, threads, shared>>>(spin_ns, durations_ns); });
    const double whole = median_us([=] { spin<<<most, threads, shared>>>(spin_ns, durations_ns); });
    double duration_us = 0;
    for (long long block = 0; block < most; block++)
        duration_us += durations_ns[block] / 1e3 / most;
    CHECK(cudaFree(durations_ns));
    return (whole - half) / rounds - duration_us;
}

int main()
{
    cudaDeviceProp device;
    CHECK(cudaGetDeviceProperties(&device, 0));
    printf("device,threads,slots,ns_per_block,launch_us,turnover_us\n");
    for (int threads = 32; threads <= 1024; threads *= 2) {
        const size_t shared = threads * sizeof(float);
        const int few = 1 << 18, many = 1 << 20;
        int blocks_per_sm;
        CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_per_sm, spin, threads, shared));
        const int slots = device.multiProcessorCount * blocks_per_sm;
        const double few_us = median_us([=] { nothing<<<few, threads, shared>>>(); });
        const double many_us = median_us([=] { nothing<<<many, threads, shared>>>(); });
        const double us_per_block = (many_us - few_us) / (many - few);
        printf("%s,%d,%d,%.4f,%.3f,%.4f\n", device.name, threads, slots, 1e3 * us_per_block, few_us - few * us_per_block,
               turnover_us(threads, slots));
    }
}
