// starts: how fast this GPU starts blocks, and how long a place stays empty between two blocks, as CSV.
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

// A block that stays for so many nanoseconds, and writes how long its first thread has seen it live.
__global__ void stay(unsigned ns, unsigned *lives)
{
    const unsigned long long begun = threadIdx.x == 0 ? nanoseconds() : 0;
    while (threadIdx.x == 0 && nanoseconds() - begun < ns)
        continue;
    __syncthreads();
    if (threadIdx.x == 0)
        lives[blockIdx.x] = nanoseconds() - begun;
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

// Microseconds from the end of a block until the first thread of the next one in its place runs. All places are
// always taken, so that a place's rounds follow each other; the difference of two lengths leaves out begin and end.
static double turnover_us(int threads, int places)
{
    const unsigned stay_ns = 4000;
    const int rounds = 64;
    const long long most = 2ll * rounds * places;
    const size_t shared = threads * sizeof(float); // as steps 01 to 07 have it
    unsigned *lives;
    CHECK(cudaMallocManaged(&lives, most * sizeof *lives));
    const double half = median_us([=] { stay<<<most / 2, threads, shared>>>(stay_ns, lives); });
    const double whole = median_us([=] { stay<<<most, threads, shared>>>(stay_ns, lives); });
    double life_us = 0;
    for (long long block = 0; block < most; block++)
        life_us += lives[block] / 1e3 / most;
    CHECK(cudaFree(lives));
    return (whole - half) / rounds - life_us;
}

int main()
{
    cudaDeviceProp device;
    CHECK(cudaGetDeviceProperties(&device, 0));
    printf("device,threads,places,ns_per_block,launch_us,turnover_us\n");
    for (int threads = 32; threads <= 1024; threads *= 2) {
        const size_t shared = threads * sizeof(float);
        const int few = 1 << 18, many = 1 << 20;
        int blocks_per_sm;
        CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_per_sm, stay, threads, shared));
        const int places = device.multiProcessorCount * blocks_per_sm;
        const double few_us = median_us([=] { nothing<<<few, threads, shared>>>(); });
        const double many_us = median_us([=] { nothing<<<many, threads, shared>>>(); });
        const double us_per_block = (many_us - few_us) / (many - few);
        printf("%s,%d,%d,%.4f,%.3f,%.4f\n", device.name, threads, places, 1e3 * us_per_block, few_us - few * us_per_block,
               turnover_us(threads, places));
    }
}
