// limits: properties of this GPU and its measured latencies, as CSV.
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

// One thread follows a chain: each load's address is the value that the previous load returned.
__global__ void follow(const unsigned *chain, unsigned steps, unsigned *end)
{
    unsigned at = 0;
    for (unsigned k = 0; k < steps; k++)
        at = chain[at];
    *end = at; // prevents dead-code elimination of the loads
}

__global__ void nothing()
{
}

// Flushes the L2 cache without leaving dirty lines in it.
__global__ void read_all(const float *buffer, long long count, float *never)
{
    float sum = 0.0f;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        sum += buffer[i];
    if (sum != 0) // never true: the buffer holds zeros
        *never = sum;
}

// A buffer of zeros, twice as large as the L2 cache, read before each measurement.
struct Flush {
    float *buffer;
    long long count;
};

static Flush make_flush(size_t l2_bytes)
{
    Flush flush = {nullptr, (long long)(2 * l2_bytes / sizeof(float))};
    CHECK(cudaMalloc(&flush.buffer, 2 * l2_bytes));
    CHECK(cudaMemset(flush.buffer, 0, 2 * l2_bytes));
    return flush;
}

static void empty_cache(Flush flush)
{
    read_all<<<1024, 256>>>(flush.buffer, flush.count, flush.buffer);
    CHECK(cudaGetLastError());
}

// Load latency of device memory in nanoseconds. The chain's elements lie far apart in an array several times as large as
// the L2 cache, which is flushed before. The kernel launch is a thousandth of the time.
static double load_ns(size_t l2_bytes, Flush flush)
{
    const size_t length = 8 * l2_bytes / sizeof(unsigned);
    const unsigned steps = 10000, stride = 1000003; // elements: nearly every load is on another page
    std::vector<unsigned> chain(length);
    for (size_t i = 0; i < length; i++)
        chain[i] = (unsigned)((i + stride) % length);
    unsigned *device_chain, *end;
    cudaEvent_t start, stop;
    float ms;
    CHECK(cudaMalloc(&device_chain, length * sizeof(unsigned)));
    CHECK(cudaMalloc(&end, sizeof *end));
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    CHECK(cudaMemcpy(device_chain, chain.data(), length * sizeof(unsigned), cudaMemcpyHostToDevice));
    follow<<<1, 1>>>(device_chain, steps, end); // fills the TLBs
    empty_cache(flush);
    CHECK(cudaEventRecord(start));
    follow<<<1, 1>>>(device_chain, steps, end);
    CHECK(cudaEventRecord(stop));
    CHECK(cudaEventSynchronize(stop));
    CHECK(cudaEventElapsedTime(&ms, start, stop));
    CHECK(cudaFree(end));
    CHECK(cudaFree(device_chain));
    return 1e6 * ms / steps;
}

// Sorted microseconds between two events around `kernels` empty launches. The stream is busy while they are queued.
static std::vector<float> launch_us(int kernels, Flush flush)
{
    cudaEvent_t start, stop;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    std::vector<float> us(301);
    for (float &run : us) {
        empty_cache(flush);
        CHECK(cudaEventRecord(start));
        for (int k = 0; k < kernels; k++)
            nothing<<<1, 32>>>();
        CHECK(cudaEventRecord(stop));
        CHECK(cudaEventSynchronize(stop));
        CHECK(cudaEventElapsedTime(&run, start, stop));
        run *= 1000;
    }
    std::sort(us.begin(), us.end());
    return us;
}

// The smallest difference between two distinct times: the resolution of the events' clock.
static double tick_ns(const std::vector<float> &sorted_us)
{
    double least = 1e9;
    for (size_t k = 1; k < sorted_us.size(); k++)
        if (sorted_us[k] - sorted_us[k - 1] > 1e-3)
            least = std::min(least, 1e3 * (sorted_us[k] - sorted_us[k - 1]));
    return least;
}

int main()
{
    cudaDeviceProp device;
    int clock_khz, memory_khz, bus_bits;
    CHECK(cudaGetDeviceProperties(&device, 0));
    CHECK(cudaDeviceGetAttribute(&clock_khz, cudaDevAttrClockRate, 0));
    CHECK(cudaDeviceGetAttribute(&memory_khz, cudaDevAttrMemoryClockRate, 0));
    CHECK(cudaDeviceGetAttribute(&bus_bits, cudaDevAttrGlobalMemoryBusWidth, 0));
    const Flush flush = make_flush(device.l2CacheSize);
    const double load = load_ns(device.l2CacheSize, flush);
    const std::vector<float> none = launch_us(0, flush), one = launch_us(1, flush), five = launch_us(5, flush);
    printf("device,sm_count,clock_mhz,threads_per_sm,l2_bytes,peak_gb_per_s,load_ns,events_us,first_launch_us,next_launch_us,event_tick_ns\n");
    printf("%s,%d,%.0f,%d,%d,%.1f,%.1f,%.3f,%.3f,%.3f,%.0f\n", device.name, device.multiProcessorCount, clock_khz / 1e3,
           device.maxThreadsPerMultiProcessor, device.l2CacheSize, 2.0 * memory_khz * bus_bits / 8 / 1e6,
           load, none[none.size() / 2], one[one.size() / 2], (five[five.size() / 2] - one[one.size() / 2]) / 4, tick_ns(five));
}
