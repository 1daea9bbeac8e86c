// Lab segmented, step 00: one thread. The sum restarts at 0 where a segment begins.
// The change: none yet; the later steps are compared with this one.
// Build and run: nvcc -O3 -arch=native -o segmented segmented.cu && ./segmented

#include <cstdio>

static const char STEP[] = "step00_onethread";

#define CHECK(call) check(call, #call, __FILE__, __LINE__)
static void check(cudaError_t error, const char *call, const char *file, int line);

static const long long STEP_MAX_ELEMENTS = 1ll << 20; // one thread takes a while
static const bool ONLY_SUMS = false;                  // a result for each element

__global__ void scan(const int *keys, const float *in, float *out, long long n,
                     bool exclusive)
{
    float sum = 0.0f;
    for (long long i = 0; i < n; i++) {
        if (i > 0 && keys[i] != keys[i - 1])
            sum = 0.0f;
        const float own = in[i];
        out[i] = exclusive ? sum : sum + own;
        sum += own;
    }
}

// Floats of scratch memory for a scan of n elements.
static long long scratch_count(long long)
{
    return 0;
}

// Stores the sum of i's segment up to in[i], or before in[i] if exclusive, in out[i].
static void launch(const int *keys, const float *in, float *out, long long n,
                   bool exclusive, float *)
{
    scan<<<1, 1>>>(keys, in, out, n, exclusive);
    CHECK(cudaGetLastError());
}

// ==== Harness: the same in every step of this lab from here on; the lesson is above. ====

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

enum { BAD_ARGUMENT = 2, CANNOT_RUN = 77, ENOUGH_MS = 500, MAX_RUNS = 51 };
static const long long MAX_ELEMENTS = 1ll << 30; // a key is an int

// Exits with a message of one line if a CUDA call failed.
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
    long long mean; // length of a segment; 0: all elements are one segment
    bool exclusive;
    int *keys;           // n: the segment of each element
    float *in, *out;     // n elements each
    float *scratch;      // scratch_count(n)
    float4 *flush;       // twice the L2 cache
    long long *mistakes; // number of wrong elements, and index of the first
    int flush_blocks;
    cudaEvent_t start, stop;
};

static void parse_arguments(int argc, char **argv, Data *d, bool *csv)
{
    for (int i = 1; i < argc; i++) {
        const std::string arg = argv[i];
        const bool digits = arg.find_first_not_of("0123456789") == std::string::npos;
        const long long count = digits ? strtoll(argv[i], nullptr, 10) : 0;
        if (arg == "--csv") {
            *csv = true;
        } else if (arg == "--exclusive") {
            d->exclusive = true;
        } else if (d->n == 0 && count >= 1 && count <= MAX_ELEMENTS) {
            d->n = count;
        } else {
            fprintf(stderr,
                    "unusable argument '%s': accepted are --csv, --exclusive, "
                    "SIZE (1 to %lld)\n",
                    argv[i], MAX_ELEMENTS);
            exit(BAD_ARGUMENT);
        }
    }
    d->n = std::min(d->n == 0 ? 1ll << 26 : d->n, STEP_MAX_ELEMENTS);
}

// The bit mixer of SplitMix64.
__device__ unsigned long long hash(unsigned long long bits)
{
    bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9u;
    return (bits ^ bits >> 27) * 0x94d049bb133111ebu;
}

// The segment of element i. In each `mean` consecutive elements one segment begins, at a
// random one.
__device__ int key_at(long long i, long long mean)
{
    if (mean == 0)
        return 0;
    const long long piece = i / mean;
    const long long begin = hash((piece + 1) * 0x9e3779b97f4a7c15u) % mean;
    return piece + (i % mean >= begin);
}

// The chosen sum of i's segment up to i: an integer from -2^14 to 2^14 - 1, odd for every
// other i. Sums of consecutive elements stay below 2^15, so float addition is exact.
__device__ float sum_up_to(long long i, unsigned long long run)
{
    const unsigned long long bits = hash((i + 1) * 0x9e3779b97f4a7c15u + (run << 56));
    return (float)(2 * (int)(bits >> 50) + (int)(i & 1) - (1 << 14));
}

// The chosen sum of i's segment before i.
__device__ float sum_before(long long i, long long mean, unsigned long long run)
{
    const bool begins = i == 0 || key_at(i, mean) != key_at(i - 1, mean);
    return begins ? 0.0f : sum_up_to(i - 1, run);
}

__global__ void fill(int *keys, float *in, long long n, long long mean,
                     unsigned long long run)
{
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += gridDim.x * blockDim.x) {
        keys[i] = key_at(i, mean);
        in[i] = sum_up_to(i, run) - sum_before(i, mean, run);
    }
}

// Compares every element, or every sum if there is only one for each segment.
__global__ void compare(const float *out, long long n, long long mean, bool exclusive,
                        unsigned long long run, long long *mistakes)
{
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += gridDim.x * blockDim.x) {
        const int key = key_at(i, mean);
        if (ONLY_SUMS && i + 1 < n && key_at(i + 1, mean) == key)
            continue;
        const bool before = exclusive && !ONLY_SUMS;
        const float expected = before ? sum_before(i, mean, run) : sum_up_to(i, run);
        if (!(out[ONLY_SUMS ? key : i] == expected)) {
            atomicAdd((unsigned long long *)&mistakes[0], 1);
            atomicMin(&mistakes[1], i);
        }
    }
}

// Reads the whole buffer, which evicts the arrays from the L2 cache. Runs for at least
// `cycles` clock cycles, so that the host has queued the launch before the timing starts.
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

// Scans fresh data once. Returns milliseconds; exits if an element is wrong.
static float timed_run(Data *d, unsigned long long run)
{
    const long long none[] = {0, d->n};
    CHECK(cudaMemcpy(d->mistakes, none, sizeof none, cudaMemcpyHostToDevice));
    fill<<<8 * d->flush_blocks, 256>>>(d->keys, d->in, d->n, d->mean, run);
    // All bits set is NaN, which marks elements that were never written.
    CHECK(cudaMemsetAsync(d->out, 0xff, d->n * sizeof(float)));
    if (run % 2 == 0) // otherwise it keeps the data of the previous run
        CHECK(cudaMemsetAsync(d->scratch, 0xff, scratch_count(d->n) * sizeof(float)));
    prepare<<<d->flush_blocks, 1024>>>(d->flush, d->flush_count, d->busy_cycles,
                                       d->mistakes);
    CHECK(cudaEventRecord(d->start));
    launch(d->keys, d->in, d->out, d->n, d->exclusive, d->scratch);
    CHECK(cudaEventRecord(d->stop));
    compare<<<8 * d->flush_blocks, 256>>>(d->out, d->n, d->mean, d->exclusive, run,
                                          d->mistakes);
    CHECK(cudaGetLastError());
    long long mistakes[2];
    CHECK(cudaMemcpy(mistakes, d->mistakes, sizeof mistakes, cudaMemcpyDeviceToHost));
    float ms;
    CHECK(cudaEventElapsedTime(&ms, d->start, d->stop));
    if (mistakes[0] > 0) {
        fprintf(stderr, "FAIL: %lld of %lld are wrong, the first is number %lld\n",
                mistakes[0], d->n, mistakes[1]);
        exit(EXIT_FAILURE);
    }
    return ms;
}

// The median time of a run, in milliseconds.
static double median_of_runs(Data *d)
{
    timed_run(d, 0); // to warm up
    std::vector<float> ms;
    float total_ms = 0;
    while (ms.size() < 3 || (ms.size() < MAX_RUNS && total_ms < ENOUGH_MS)) {
        ms.push_back(timed_run(d, ms.size() + 1));
        total_ms += ms.back();
    }
    std::sort(ms.begin(), ms.end());
    return (ms[(ms.size() - 1) / 2] + ms[ms.size() / 2]) / 2;
}

int main(int argc, char **argv)
{
    Data d = {};
    bool csv = false;
    parse_arguments(argc, argv, &d, &csv);
    cudaDeviceProp device;
    int clock_khz;
    CHECK(cudaGetDeviceProperties(&device, 0));
    CHECK(cudaDeviceGetAttribute(&clock_khz, cudaDevAttrClockRate, 0));
    const size_t flush_bytes = 2 * (size_t)device.l2CacheSize;
    d.flush_count = flush_bytes / sizeof(float4);
    d.flush_blocks = 2 * device.multiProcessorCount;
    d.busy_cycles = clock_khz / 10; // a tenth of a millisecond
    CHECK(cudaMalloc(&d.keys, d.n * sizeof(int)));
    CHECK(cudaMalloc(&d.in, d.n * sizeof(float)));
    CHECK(cudaMalloc(&d.out, d.n * sizeof(float)));
    CHECK(cudaMalloc(&d.scratch, (scratch_count(d.n) + 1) * sizeof(float)));
    CHECK(cudaMalloc(&d.flush, flush_bytes));
    CHECK(cudaMemset(d.flush, 0, flush_bytes));
    CHECK(cudaMalloc(&d.mistakes, 2 * sizeof(long long)));
    CHECK(cudaEventCreate(&d.start));
    CHECK(cudaEventCreate(&d.stop));

    printf(csv ? "step,device,elements,mean_length,median_ms,gb_per_s,status\n"
               : "%s on %s:\n    elements  mean_length  median_ms  gb_per_s\n",
           STEP, device.name);
    for (long long mean : {8, 100, 10000, 0}) {
        d.mean = mean;
        const double ms = median_of_runs(&d);
        // Keys and elements are read; an output for each element counts too.
        const double bytes = (ONLY_SUMS ? 8.0 : 12.0) * d.n;
        if (csv)
            printf("%s,%s,", STEP, device.name);
        printf(csv ? "%lld,%lld,%.6f,%.1f,PASS\n" : "%12lld %12lld %10.4f %9.1f\n", d.n,
               mean == 0 ? d.n : mean, ms, bytes / ms / 1e6);
    }
}
