// Lab bankconflicts, step 00: a strided index. The threads that add are consecutive.
// The change: none yet; the later steps are measured against this one.
// Build and run: nvcc -O3 -arch=native -o bankconflicts bankconflicts.cu && ./bankconflicts

#include <cstdio>

static const char STEP[] = "step00_strided";

#define CHECK(call) check(call, #call, __FILE__, __LINE__)
static void check(cudaError_t error, const char *call, const char *file, int line);

const unsigned BLOCK_SIZE = 256; // threads, a power of two

__global__ void reduce(const float *in, float *out, long long n)
{
    __shared__ float sums[BLOCK_SIZE];
    const unsigned tid = threadIdx.x;
    const long long i = (long long)blockIdx.x * blockDim.x + tid;
    sums[tid] = i < n ? in[i] : 0;
    __syncthreads();

    for (unsigned s = 1; s < blockDim.x; s *= 2) {
        const unsigned k = 2 * s * tid;
        if (k < blockDim.x)
            sums[k] += sums[k + s];
        __syncthreads();
    }

    if (tid == 0)
        out[blockIdx.x] = sums[0];
}

// How many partial sums one pass over n elements leaves.
static long long partial_count(long long n)
{
    return (n + BLOCK_SIZE - 1) / BLOCK_SIZE;
}

// One pass: stores the partial sums of in[0 .. n) in out[0 .. partial_count(n)).
static void launch(const float *in, float *out, long long n)
{
    reduce<<<partial_count(n), BLOCK_SIZE>>>(in, out, n);
    CHECK(cudaGetLastError());
}

// ==== Harness: the same in every step of this lab from here on; the lesson is above. ====

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

enum { BAD_ARGUMENT = 2, CANNOT_RUN = 77, ENOUGH_MS = 1000 };
enum { SHIFT = 32 }; // elements by which every other pair of timed runs begins later
static const long long MAX_ELEMENTS = 1ll << 38; // keeps every grid below 2^31 blocks
static const size_t PERIOD = 2 * 500009; // of the data; no stride or tile divides it

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

static void parse_arguments(int argc, char **argv, long long *n, bool *csv)
{
    for (int i = 1; i < argc; i++) {
        const std::string arg = argv[i];
        const bool digits = arg.find_first_not_of("0123456789") == std::string::npos;
        const long long count = digits ? strtoll(argv[i], nullptr, 10) : 0;
        if (arg == "--csv") {
            *csv = true;
        } else if (*n == 0 && count >= 1 && count <= MAX_ELEMENTS) {
            *n = count;
        } else {
            fprintf(stderr,
                    "unusable argument '%s': accepted are --csv, SIZE (1 to %lld)\n",
                    argv[i], MAX_ELEMENTS);
            exit(BAD_ARGUMENT);
        }
    }
    *n = *n == 0 ? 1ll << 26 : *n;
}

struct Data {
    long long n, flush_count, busy_cycles;
    size_t partials;
    float *in;      // n + SHIFT + 1 elements
    float *scratch; // 2 * partials: two buffers, used alternately
    float4 *flush;  // twice the L2 cache
    int flush_blocks, launches;
    cudaEvent_t start, stop;
    std::vector<long long> sums; // of the first 0, 1, ... PERIOD elements, in sixteenths
};

// Fills d->in with 1 to 16 sixteenths, or -1 to -16; never 0: losing a 0 would pass.
// The second half of a period is the first with opposite signs, so that sums stay small:
// below 2^24 sixteenths float addition is exact in any order.
static void fill(Data *d)
{
    std::vector<float> values(PERIOD);
    unsigned long long random = 1;
    for (size_t i = 0; i < PERIOD / 2; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u; // Knuth, MMIX
        const int value = (int)(random >> 59) - 16;
        values[i] = (value + (value >= 0)) / 16.0f;
        values[i + PERIOD / 2] = -values[i];
    }
    d->sums.assign(1, 0);
    for (float value : values)
        d->sums.push_back(d->sums.back() + (long long)(16 * value));
    const size_t all = d->n + SHIFT + 1;
    size_t filled = std::min(all, PERIOD);
    CHECK(cudaMemcpy(d->in, &values[0], filled * sizeof(float), cudaMemcpyDefault));
    for (size_t more; filled < all; filled += more) { // doubles each time
        more = std::min(all - filled, filled);
        CHECK(cudaMemcpy(d->in + filled, d->in, more * sizeof(float), cudaMemcpyDefault));
    }
}

// The sum of elements [begin, end), in sixteenths.
static long long sum_between(const Data &d, size_t begin, size_t end)
{
    return d.sums[end % PERIOD] - d.sums[begin % PERIOD]; // a whole period adds up to 0
}

// Evicts the input and all modified lines from the L2 cache by reading the whole buffer.
// Takes at least `cycles` cycles, while the host queues the launches; short runs
// would otherwise include launch overhead.
__global__ void prepare(const float4 *flush, long long count, long long cycles,
                        float *never)
{
    const long long start = clock64();
    float sum = 0.0f;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count;
         i += gridDim.x * blockDim.x)
        sum += flush[i].x + flush[i].y + flush[i].z + flush[i].w;
    if (sum != 0) // never: the buffer is zero, but the compiler cannot know
        *never = sum;
    while (clock64() - start < cycles)
        continue;
}

// One whole reduction of in[0 .. n), pass after pass until one value is left. Returns
// milliseconds; exits if the sum differs from expected, in sixteenths.
static float timed_run(Data *d, const float *in, long long expected)
{
    // NaN (all bits set) reveals a partial sum that was never written.
    CHECK(cudaMemsetAsync(d->scratch, 0xff, 2 * d->partials * sizeof(float)));
    prepare<<<d->flush_blocks, 1024>>>(d->flush, d->flush_count, d->busy_cycles,
                                       d->scratch);
    CHECK(cudaGetLastError());
    CHECK(cudaEventRecord(d->start));
    d->launches = 0;
    for (long long n = d->n; n > 1 || d->launches == 0; n = partial_count(n)) {
        float *out = d->scratch + d->launches % 2 * d->partials;
        launch(in, out, n);
        in = out;
        d->launches++;
    }
    CHECK(cudaEventRecord(d->stop));
    float sum, ms;
    CHECK(cudaMemcpy(&sum, in, sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaEventElapsedTime(&ms, d->start, d->stop));
    if (16.0 * sum != (double)expected) {
        fprintf(stderr, "FAIL: the sum is %.4f, expected %.4f\n", sum, expected / 16.0);
        exit(EXIT_FAILURE);
    }
    return ms;
}

// Milliseconds of each timed run, sorted. All are checked. From run to run an element
// changes its sign, and after each pair of runs the array begins elsewhere, so that a
// stale sum, of the whole array or of one block, is wrong.
static std::vector<float> time_runs(Data *d)
{
    const float warm_up_ms = timed_run(d, d->in, sum_between(*d, 0, d->n));
    // Also a checked run on an array that is not aligned to 16 bytes.
    timed_run(d, d->in + 1, sum_between(*d, 1, d->n + 1));
    std::vector<float> ms;
    float total_ms = 0;
    while (ms.size() < (warm_up_ms < ENOUGH_MS ? 3 : 1) ||
           (ms.size() < 100 && total_ms < ENOUGH_MS)) {
        const size_t begin = ms.size() % 4 < 2 ? SHIFT : 0, middle = begin + d->n / 2;
        const long long element = sum_between(*d, middle, middle + 1);
        const bool changed = ms.size() % 2 == 0;
        const float value = (changed ? -element : element) / 16.0f;
        CHECK(cudaMemcpy(d->in + middle, &value, sizeof(float), cudaMemcpyHostToDevice));
        const long long sum = sum_between(*d, begin, begin + d->n);
        ms.push_back(timed_run(d, d->in + begin, changed ? sum - 2 * element : sum));
        total_ms += ms.back();
    }
    std::sort(ms.begin(), ms.end());
    return ms;
}

int main(int argc, char **argv)
{
    Data d = {};
    bool csv = false;
    parse_arguments(argc, argv, &d.n, &csv);
    cudaDeviceProp device;
    int clock_khz, memory_khz, bus_bits;
    CHECK(cudaGetDeviceProperties(&device, 0));
    CHECK(cudaDeviceGetAttribute(&clock_khz, cudaDevAttrClockRate, 0));
    CHECK(cudaDeviceGetAttribute(&memory_khz, cudaDevAttrMemoryClockRate, 0));
    CHECK(cudaDeviceGetAttribute(&bus_bits, cudaDevAttrGlobalMemoryBusWidth, 0));
    const size_t flush_bytes = 2 * (size_t)device.l2CacheSize;
    d.flush_count = flush_bytes / sizeof(float4);
    d.flush_blocks = 2 * device.multiProcessorCount;
    d.busy_cycles = clock_khz / 10; // a tenth of a millisecond
    d.partials = partial_count(d.n);
    CHECK(cudaMalloc(&d.in, (d.n + SHIFT + 1) * sizeof(float)));
    CHECK(cudaMalloc(&d.scratch, 2 * d.partials * sizeof(float)));
    CHECK(cudaMalloc(&d.flush, flush_bytes));
    CHECK(cudaMemset(d.flush, 0, flush_bytes));
    CHECK(cudaEventCreate(&d.start));
    CHECK(cudaEventCreate(&d.stop));
    fill(&d);

    const std::vector<float> ms = time_runs(&d);
    const size_t last = ms.size() - 1;
    const double median_ms = (ms[last / 2] + ms[(last + 1) / 2]) / 2;
    const double gb_per_s = d.n * sizeof(float) / median_ms / 1e6;
    const double peak = 2.0 * memory_khz * bus_bits / 8 / 1e6; // two transfers per clock
    if (csv)
        printf("step,device,elements,launches,median_ms,min_ms,q1_ms,q3_ms,gb_per_s,"
               "peak_gb_per_s,status\n");
    printf(csv ? "%s,%s,%lld,%d,%.6f,%.6f,%.6f,%.6f,%.3f,%.1f,PASS\n"
               : "%s on %s: n %lld, launches %d, ms %.4f (least %.4f, interquartile "
                 "range %.4f to %.4f), GB/s %.2f of %.0f, PASS\n",
           STEP, device.name, d.n, d.launches, median_ms, ms[0], ms[last / 4],
           ms[last - last / 4], gb_per_s, peak);
}
