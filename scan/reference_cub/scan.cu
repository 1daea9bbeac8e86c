// Reference: CUB, the scan in NVIDIA's own library of device-wide algorithms.
// The change: a library call instead of a kernel.
// Build and run: nvcc -O3 -arch=native -o scan scan.cu && ./scan

#include <cstdio>
#include <cub/device/device_scan.cuh>

static const char STEP[] = "reference_cub";

#define CHECK(call) check(call, #call, __FILE__, __LINE__)
static void check(cudaError_t error, const char *call, const char *file, int line);

// A scan by CUB; with a null storage pointer it only returns the number of bytes needed.
static void scan(void *storage, size_t *bytes, const float *in, float *out, long long n,
                 bool exclusive)
{
    CHECK(exclusive ? cub::DeviceScan::ExclusiveSum(storage, *bytes, in, out, n)
                    : cub::DeviceScan::InclusiveSum(storage, *bytes, in, out, n));
}

// Floats of scratch memory for a scan of n elements.
static long long scratch_count(long long n)
{
    size_t bytes = 0;
    scan(nullptr, &bytes, nullptr, nullptr, n, false);
    return (bytes + sizeof(float) - 1) / sizeof(float);
}

// Sets out[i] to in[0] + ... + in[i], or to the sum before in[i] if exclusive.
// Returns the number of kernels launched.
static int launch(const float *in, float *out, long long n, bool exclusive, float *scratch)
{
    static long long sized = 0; // the query takes host time: once per n
    static size_t bytes;
    if (sized != n)
        scan(nullptr, &bytes, nullptr, nullptr, sized = n, exclusive);
    scan(scratch, &bytes, in, out, n, exclusive);
    return 2; // one prepares the tiles' states, one scans
}

// ==== Harness: the same in every step from here on; the lesson is above. ====

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

enum { BAD_ARGUMENT = 2, CANNOT_RUN = 77, ENOUGH_MS = 1000 };
static const long long MAX_ELEMENTS = 1ll << 37; // keeps every grid below 2^31 blocks

// Exits with a one-line message if a CUDA call failed.
static void check(cudaError_t error, const char *call, const char *file, int line)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "%s:%d: %s: %s\n", file, line, call, cudaGetErrorString(error));
    const bool cannot_run =
        error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver ||
        error == cudaErrorNoKernelImageForDevice || error == cudaErrorUnsupportedPtxVersion;
    const bool too_large = error == cudaErrorMemoryAllocation;
    exit(cannot_run ? CANNOT_RUN : too_large ? BAD_ARGUMENT : EXIT_FAILURE);
}

struct Data {
    long long n, flush_count, busy_cycles;
    bool exclusive;
    float *in, *out;     // n elements each
    float *scratch;      // scratch_count(n)
    float4 *flush;       // twice the L2 cache
    long long *mistakes; // number of wrong elements, and index of the first
    int flush_blocks, launches;
    cudaEvent_t start, stop;
};

static void parse_arguments(int argc, char **argv, Data *d, bool *csv, bool *warm)
{
    for (int i = 1; i < argc; i++) {
        const std::string arg = argv[i];
        const bool digits = arg.find_first_not_of("0123456789") == std::string::npos;
        const long long count = digits ? strtoll(argv[i], nullptr, 10) : 0;
        if (arg == "--csv") {
            *csv = true;
        } else if (arg == "--warm") {
            *warm = true;
        } else if (arg == "--exclusive") {
            d->exclusive = true;
        } else if (d->n == 0 && count >= 1 && count <= MAX_ELEMENTS) {
            d->n = count;
        } else {
            fprintf(stderr,
                    "unusable argument '%s': accepted are --csv, --warm, --exclusive, "
                    "n (1 to %lld)\n",
                    argv[i], MAX_ELEMENTS);
            exit(BAD_ARGUMENT);
        }
    }
    d->n = d->n == 0 ? 1ll << 26 : d->n;
}

// The chosen sum of elements 0 to i: an integer from -2^14 to 2^14 - 1, hashed from i and
// run as in SplitMix64. Every other sum is odd, so no element is 0: losing a 0 would pass.
// Consecutive elements add up to the difference of two sums, which is below 2^15. So adding
// 512 of these differences in float is exact in any order. (Adding more is, too, unless
// nearly all of them have the same sign.)
__device__ float sum_up_to(long long i, unsigned long long run)
{
    unsigned long long bits = (i + 1) * 0x9e3779b97f4a7c15u + (run << 56);
    bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9u;
    bits = (bits ^ bits >> 27) * 0x94d049bb133111ebu;
    return i < 0 ? 0.0f : (float)(2 * (int)(bits >> 50) + (int)(i & 1) - (1 << 14));
}

__global__ void fill(float *in, long long n, unsigned long long run)
{
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += gridDim.x * blockDim.x)
        in[i] = sum_up_to(i, run) - sum_up_to(i - 1, run);
}

// Compares every element. NaN counts as wrong: an element that was never written is NaN.
__global__ void compare(const float *out, long long n, bool exclusive,
                        unsigned long long run, long long *mistakes)
{
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += gridDim.x * blockDim.x)
        if (!(out[i] == sum_up_to(i - exclusive, run))) {
            atomicAdd((unsigned long long *)&mistakes[0], 1);
            atomicMin(&mistakes[1], i);
        }
}

// Reads the whole buffer, which evicts the arrays from the L2 cache and writes back its
// dirty lines. Runs for at least `cycles` clock cycles, so that the host has queued the
// launches before the timing starts.
__global__ void prepare(const float4 *flush, long long count, long long cycles,
                        long long *never)
{
    const long long start = clock64();
    float sum = 0.0f;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count;
         i += gridDim.x * blockDim.x)
        sum += flush[i].x + flush[i].y + flush[i].z + flush[i].w;
    if (sum != 0) // it is 0, which the compiler cannot know
        *never = 1;
    while (clock64() - start < cycles)
        continue;
}

// Scans fresh data once. Returns the time in ms; exits if an element is wrong.
static float timed_run(Data *d, unsigned long long run)
{
    const long long none[] = {0, d->n};
    CHECK(cudaMemcpy(d->mistakes, none, sizeof none, cudaMemcpyHostToDevice));
    fill<<<8 * d->flush_blocks, 256>>>(d->in, d->n, run);
    // All bits set is NaN, which marks elements that were never written.
    CHECK(cudaMemsetAsync(d->out, 0xff, d->n * sizeof(float)));
    if (run % 2 == 0) // otherwise it keeps the data of the previous run
        CHECK(cudaMemsetAsync(d->scratch, 0xff, scratch_count(d->n) * sizeof(float)));
    prepare<<<d->flush_blocks, 1024>>>(d->flush, d->flush_count, d->busy_cycles,
                                       d->mistakes);
    CHECK(cudaEventRecord(d->start));
    d->launches = launch(d->in, d->out, d->n, d->exclusive, d->scratch);
    CHECK(cudaEventRecord(d->stop));
    compare<<<8 * d->flush_blocks, 256>>>(d->out, d->n, d->exclusive, run, d->mistakes);
    CHECK(cudaGetLastError());
    long long mistakes[2];
    CHECK(cudaMemcpy(mistakes, d->mistakes, sizeof mistakes, cudaMemcpyDeviceToHost));
    float ms;
    CHECK(cudaEventElapsedTime(&ms, d->start, d->stop));
    if (mistakes[0] > 0) {
        fprintf(stderr, "FAIL: %lld of %lld elements are wrong, the first is number %lld\n",
                mistakes[0], d->n, mistakes[1]);
        exit(EXIT_FAILURE);
    }
    return ms;
}

// The times of the timed runs in milliseconds, sorted.
static std::vector<float> time_runs(Data *d)
{
    const float warm_up_ms = timed_run(d, 0);
    std::vector<float> ms;
    float total_ms = 0;
    while (ms.size() < (warm_up_ms < ENOUGH_MS ? 3 : 1) ||
           (ms.size() < 100 && total_ms < ENOUGH_MS)) {
        ms.push_back(timed_run(d, ms.size() + 1));
        total_ms += ms.back();
    }
    std::sort(ms.begin(), ms.end());
    return ms;
}

int main(int argc, char **argv)
{
    Data d = {};
    bool csv = false, warm = false;
    parse_arguments(argc, argv, &d, &csv, &warm);
    cudaDeviceProp device;
    int clock_khz, memory_khz, bus_bits;
    CHECK(cudaGetDeviceProperties(&device, 0));
    CHECK(cudaDeviceGetAttribute(&clock_khz, cudaDevAttrClockRate, 0));
    CHECK(cudaDeviceGetAttribute(&memory_khz, cudaDevAttrMemoryClockRate, 0));
    CHECK(cudaDeviceGetAttribute(&bus_bits, cudaDevAttrGlobalMemoryBusWidth, 0));
    const size_t flush_bytes = 2 * (size_t)device.l2CacheSize;
    d.flush_count = warm ? 0 : flush_bytes / sizeof(float4);
    d.flush_blocks = 2 * device.multiProcessorCount;
    d.busy_cycles = clock_khz / 10; // a tenth of a millisecond
    CHECK(cudaMalloc(&d.in, d.n * sizeof(float)));
    CHECK(cudaMalloc(&d.out, d.n * sizeof(float)));
    CHECK(cudaMalloc(&d.scratch, (scratch_count(d.n) + 1) * sizeof(float)));
    CHECK(cudaMalloc(&d.flush, flush_bytes));
    CHECK(cudaMemset(d.flush, 0, flush_bytes));
    CHECK(cudaMalloc(&d.mistakes, 2 * sizeof(long long)));
    CHECK(cudaEventCreate(&d.start));
    CHECK(cudaEventCreate(&d.stop));

    const std::vector<float> ms = time_runs(&d);
    const size_t last = ms.size() - 1;
    const double median_ms = (ms[last / 2] + ms[(last + 1) / 2]) / 2;
    const double gb_per_s = 2 * d.n * sizeof(float) / median_ms / 1e6; // read and written
    const double peak = 2.0 * memory_khz * bus_bits / 8 / 1e6; // two transfers per clock
    printf(csv ? "%s,%s,%lld,%d,%.6f,%.6f,%.6f,%.6f,%.3f,%.1f,PASS\n"
               : "%s on %s: n %lld, launches %d, ms %.4f (least %.4f, interquartile "
                 "range %.4f to %.4f), GB/s %.2f of %.0f, PASS\n",
           STEP, device.name, d.n, d.launches, median_ms, ms[0], ms[last / 4],
           ms[last - last / 4], gb_per_s, peak);
}
