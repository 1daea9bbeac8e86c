// limits: what this GPU allows, as CSV: its properties, and two latencies measured here.
// The roof over the ladder is reckoned from them (plots/roof.py).
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call) check(call, #call)
static void check(cudaError_t error, const char *call)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "limits: %s: %s\n", call, cudaGetErrorString(error));
    exit(error == cudaErrorNoDevice ? 77 : EXIT_FAILURE);
}

// One thread follows a chain: each load's address is what the load before it brought.
__global__ void follow(const unsigned *chain, unsigned steps, unsigned *end)
{
    unsigned at = 0;
    for (unsigned k = 0; k < steps; k++)
        at = chain[at];
    *end = at; // or the compiler drops the loads
}

__global__ void nothing()
{
}

// Nanoseconds until a load from device memory is there: the chain's links lie far apart in an
// array of several times the L2 cache, which is overwritten just before. Starting the kernel is
// a thousandth of the time.
static double load_ns(size_t l2_bytes)
{
    const size_t length = 8 * l2_bytes / sizeof(unsigned);
    const unsigned steps = 10000, stride = 1000003; // elements: another page almost every time
    std::vector<unsigned> chain(length);
    for (size_t i = 0; i < length; i++)
        chain[i] = (unsigned)((i + stride) % length);
    unsigned *device_chain, *end;
    void *flush;
    cudaEvent_t start, stop;
    float ms;
    CHECK(cudaMalloc(&device_chain, length * sizeof(unsigned)));
    CHECK(cudaMalloc(&end, sizeof *end));
    CHECK(cudaMalloc(&flush, 2 * l2_bytes));
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    CHECK(cudaMemcpy(device_chain, chain.data(), length * sizeof(unsigned), cudaMemcpyHostToDevice));
    follow<<<1, 1>>>(device_chain, steps, end); // fills the TLBs, as a long kernel has them
    CHECK(cudaMemset(flush, 0, 2 * l2_bytes));
    CHECK(cudaEventRecord(start));
    follow<<<1, 1>>>(device_chain, steps, end);
    CHECK(cudaEventRecord(stop));
    CHECK(cudaEventSynchronize(stop));
    CHECK(cudaEventElapsedTime(&ms, start, stop));
    CHECK(cudaFree(flush));
    CHECK(cudaFree(end));
    CHECK(cudaFree(device_chain));
    return 1e6 * ms / steps;
}

// Median microseconds between two events with so many empty kernels between them, in a stream
// that is busy while they are queued.
static double launch_us(int kernels, size_t l2_bytes)
{
    void *flush;
    cudaEvent_t start, stop;
    CHECK(cudaMalloc(&flush, 2 * l2_bytes));
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    std::vector<float> ms(101);
    for (float &run : ms) {
        CHECK(cudaMemsetAsync(flush, 0, 2 * l2_bytes));
        CHECK(cudaEventRecord(start));
        for (int k = 0; k < kernels; k++)
            nothing<<<1, 32>>>();
        CHECK(cudaEventRecord(stop));
        CHECK(cudaEventSynchronize(stop));
        CHECK(cudaEventElapsedTime(&run, start, stop));
    }
    CHECK(cudaFree(flush));
    std::sort(ms.begin(), ms.end());
    return 1000 * ms[ms.size() / 2];
}

int main()
{
    cudaDeviceProp device;
    int clock_khz, memory_khz, bus_bits;
    CHECK(cudaGetDeviceProperties(&device, 0));
    CHECK(cudaDeviceGetAttribute(&clock_khz, cudaDevAttrClockRate, 0));
    CHECK(cudaDeviceGetAttribute(&memory_khz, cudaDevAttrMemoryClockRate, 0));
    CHECK(cudaDeviceGetAttribute(&bus_bits, cudaDevAttrGlobalMemoryBusWidth, 0));
    const double load = load_ns(device.l2CacheSize);
    const double one = launch_us(1, device.l2CacheSize), five = launch_us(5, device.l2CacheSize);
    printf("device,sm_count,clock_mhz,threads_per_sm,l2_bytes,peak_gb_per_s,load_ns,first_launch_us,next_launch_us\n");
    printf("%s,%d,%.0f,%d,%d,%.1f,%.1f,%.3f,%.3f\n", device.name, device.multiProcessorCount, clock_khz / 1e3,
           device.maxThreadsPerMultiProcessor, device.l2CacheSize, 2.0 * memory_khz * bus_bits / 8 / 1e6,
           load, one, (five - one) / 4);
}
