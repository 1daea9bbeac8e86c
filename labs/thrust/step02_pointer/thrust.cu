// Lab thrust, step 02: our own kernel with Thrust. Squares, then their sum.
// The change: the kernel squares into memory of our own, and thrust::reduce adds.
// Build and run: nvcc -O3 -arch=native -o thrust thrust.cu && ./thrust

#include <cstdio>
#include <thrust/device_vector.h>
#include <thrust/reduce.h>
#include <vector>

static const char STEP[] = "step02_pointer";

#define CHECK(call) check(call, #call, __FILE__, __LINE__)
static void check(cudaError_t error, const char *call, const char *file, int line);

__global__ void square(const float *in, float *out, long long n)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] * in[i];
}

// The sum of the squares, on the host, for the check.
static double on_host(const std::vector<float> &values)
{
    double sum = 0;
    for (float x : values)
        sum += (double)x * x;
    return sum;
}

// The same on the GPU.
static double on_device(const thrust::device_vector<float> &v)
{
    const long long n = v.size();
    static float *squares = nullptr;
    if (squares == nullptr) // the first call has the most elements
        CHECK(cudaMalloc(&squares, n * sizeof(float)));
    square<<<(n + 255) / 256, 256>>>(thrust::raw_pointer_cast(v.data()), squares, n);
    CHECK(cudaGetLastError());
    const thrust::device_ptr<float> first = thrust::device_pointer_cast(squares);
    return thrust::reduce(first, first + n, 0.0);
}

// ==== Harness: the same in every step of this lab from here on; the lesson is above. ====

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <new>
#include <string>

enum { BAD_ARGUMENT = 2, CANNOT_RUN = 77, ENOUGH_MS = 500, MAX_RUNS = 51 };
enum { VARIANTS = 4 }; // of the data, alternately: each has another outlier
static const long long MAX_ELEMENTS = 1ll << 30;

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

struct Timer {
    cudaDeviceProp device;
    float4 *flush; // twice the L2 cache
    long long flush_count, busy_cycles;
    cudaEvent_t start, stop;
};

static void set_up(Timer *t)
{
    int clock_khz;
    CHECK(cudaGetDeviceProperties(&t->device, 0));
    CHECK(cudaDeviceGetAttribute(&clock_khz, cudaDevAttrClockRate, 0));
    const size_t flush_bytes = 2 * (size_t)t->device.l2CacheSize;
    t->flush_count = flush_bytes / sizeof(float4);
    t->busy_cycles = clock_khz / 10; // a tenth of a millisecond
    CHECK(cudaMalloc(&t->flush, flush_bytes));
    CHECK(cudaMemset(t->flush, 0, flush_bytes));
    CHECK(cudaEventCreate(&t->start));
    CHECK(cudaEventCreate(&t->stop));
}

// An element is 1 to 16 sixteenths, or -1 to -16, so that sums in double are exact.
static std::vector<float> random_values(long long n)
{
    std::vector<float> values(n);
    unsigned long long random = 1;
    for (float &value : values) {
        random = random * 6364136223846793005u + 1442695040888963407u; // Knuth, MMIX
        const int sixteenths = (int)(random >> 59) - 16;
        value = (sixteenths + (sixteenths >= 0)) / 16.0f;
    }
    return values;
}

// Reads the whole buffer, which evicts the elements from the L2 cache. Takes at least
// `cycles` cycles, while the host queues the timed work.
__global__ void prepare(float4 *flush, long long count, long long cycles)
{
    const long long start = clock64();
    float sum = 0.0f;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count;
         i += gridDim.x * blockDim.x)
        sum += flush[i].x + flush[i].y + flush[i].z + flush[i].w;
    if (sum != 0) // never true, which the compiler cannot know
        flush->x = sum;
    while (clock64() - start < cycles)
        continue;
}

// How long one call occupies the GPU's stream, in milliseconds. Exits if the
// result is wrong.
static float timed_run(const Timer &t, const thrust::device_vector<float> &elements,
                       double expected)
{
    prepare<<<2 * t.device.multiProcessorCount, 1024>>>(t.flush, t.flush_count,
                                                        t.busy_cycles);
    CHECK(cudaGetLastError());
    CHECK(cudaEventRecord(t.start));
    const auto answer = on_device(elements); // a number, or a reference to device memory
    CHECK(cudaEventRecord(t.stop));
    const double value = answer;
    float ms;
    CHECK(cudaEventSynchronize(t.stop));
    CHECK(cudaEventElapsedTime(&ms, t.start, t.stop));
    if (value != expected) {
        fprintf(stderr, "FAIL: the answer is %.4f, expected %.4f; n = %zu\n", value,
                expected, elements.size());
        exit(EXIT_FAILURE);
    }
    return ms;
}

// Milliseconds of each timed run on these values, sorted. All are checked. In each run a
// different element is the outlier, so that an old result is wrong.
static std::vector<float> time_runs(const Timer &t, std::vector<float> values)
{
    const size_t n = values.size(), places[VARIANTS] = {0, n - 1, n / 2, n / 3};
    const float outliers[VARIANTS] = {-64, 68, 72, -76};
    thrust::device_vector<float> elements = values;
    double expected[VARIANTS];
    for (int k = 0; k < VARIANTS; k++) {
        const float value = values[places[k]];
        values[places[k]] = outliers[k];
        expected[k] = on_host(values);
        values[places[k]] = value;
    }
    timed_run(t, elements, on_host(values)); // warm-up
    std::vector<float> ms;
    float total_ms = 0;
    while (ms.size() < VARIANTS || (ms.size() < MAX_RUNS && total_ms < ENOUGH_MS)) {
        const int k = ms.size() % VARIANTS;
        elements[places[k]] = outliers[k];
        ms.push_back(timed_run(t, elements, expected[k]));
        elements[places[k]] = values[places[k]];
        total_ms += ms.back();
    }
    std::sort(ms.begin(), ms.end());
    return ms;
}

// Prints a row for n / 65,536, n / 4096, n / 256, n / 16 and n elements.
static void measure(long long n, bool csv)
{
    Timer t;
    set_up(&t);
    const std::vector<float> values = random_values(n);
    // The first call has the most elements, since some steps allocate only then.
    timed_run(t, thrust::device_vector<float>(values), on_host(values));
    if (csv)
        printf("step,device,elements,median_ms,min_ms,gb_per_s,status\n");
    for (int shift = 16; shift >= 0; shift -= 4) {
        const long long count = n >> shift;
        if (count == 0)
            continue;
        const std::vector<float> ms =
            time_runs(t, std::vector<float>(values.begin(), values.begin() + count));
        const size_t last = ms.size() - 1;
        const double median_ms = (ms[last / 2] + ms[(last + 1) / 2]) / 2;
        printf(csv ? "%s,%s,%lld,%.6f,%.6f,%.3f,PASS\n"
                   : "%s on %s: n %lld, ms %.4f (least %.4f), GB/s %.2f, PASS\n",
               STEP, t.device.name, count, median_ms, ms[0],
               count * sizeof(float) / median_ms / 1e6);
    }
}

// Thrust reports errors as exceptions.
int main(int argc, char **argv)
{
    long long n = 0;
    bool csv = false;
    parse_arguments(argc, argv, &n, &csv);
    try {
        measure(n, csv);
    } catch (const std::bad_alloc &error) {
        fprintf(stderr, "n = %lld does not fit in memory: %s\n", n, error.what());
        return BAD_ARGUMENT;
    } catch (const std::exception &error) {
        fprintf(stderr, "%s\n", error.what());
        return EXIT_FAILURE;
    }
}
