// Lab accuracy, step 05: integers. They do not round, so the order does not matter.
// The change: elements become integers in units of 2^-39; the total is rounded to float.
// Build and run: nvcc -O3 -arch=native -o accuracy accuracy.cu && ./accuracy

#include <cstdio>

static const char STEP[] = "step05_integers";

#define CHECK(call) check(call, #call, __FILE__, __LINE__)
static void check(cudaError_t error, const char *call, const char *file, int line);

const unsigned BLOCK_SIZE = 256;  // threads, a power of two
const unsigned MAX_BLOCKS = 1024; // on every GPU, so that all GPUs give the same sum

const float UNITS = 0x1p39f; // units in 1.0; sums up to 2^24 fit into 64 bits

__device__ unsigned long long total; // in units

__global__ void reduce(const float *in, long long n)
{
    __shared__ long long sums[BLOCK_SIZE];
    const unsigned tid = threadIdx.x;
    long long sum = 0;
    for (long long i = (long long)blockIdx.x * BLOCK_SIZE + tid; i < n;
         i += gridDim.x * BLOCK_SIZE)
        sum += __float2ll_rn(UNITS * in[i]);
    sums[tid] = sum;
    __syncthreads();

    for (unsigned s = 1; s < BLOCK_SIZE; s *= 2) {
        if (tid % (2 * s) == 0)
            sums[tid] += sums[tid + s];
        __syncthreads();
    }

    if (tid == 0)
        atomicAdd(&total, (unsigned long long)sums[0]);
}

// Rounds the total, once, and resets it for the next launch.
__global__ void finish(float *out)
{
    *out = __ll2float_rn((long long)total) / UNITS;
    total = 0;
}

// The number of blocks to launch.
static long long block_count(long long n)
{
    return min((n + BLOCK_SIZE - 1) / BLOCK_SIZE, (long long)MAX_BLOCKS);
}

// How many partial sums one pass over n elements leaves.
static long long partial_count(long long)
{
    return 1;
}

// One pass: stores the partial sums of in[0 .. n) in out[0 .. partial_count(n)).
static void launch(const float *in, float *out, long long n)
{
    reduce<<<block_count(n), BLOCK_SIZE>>>(in, n);
    finish<<<1, 1>>>(out);
    CHECK(cudaGetLastError());
}

// The most roundings that any element undergoes: the check derives its bound from it.
static long long roundings(long long)
{
    return 1; // that of the whole sum
}

// ==== Harness: the same in every step of this lab from here on; the lesson is above. ====

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

enum { BAD_ARGUMENT = 2, CANNOT_RUN = 77, MAX_RUNS = 100, ENOUGH_MS = 100 };
static const long long MAX_ELEMENTS = 1ll << 24; // their sum fits 63 bits (unit: 2^-39)

enum Data { EXACT, UNIFORM, MIXED, SIMILAR };
static const char *const NAMES[] = {"exact", "uniform", "mixed", "similar"};

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
    *n = *n == 0 ? MAX_ELEMENTS : *n;
}

// The largest allowed error, as a share of the sum of all |x|. One rounding moves a number
// by at most 2^-24 of it. DBL_EPSILON covers the rounding of bound and exact sum to double.
static double bound(long long n)
{
    return pow(1 + 0x1p-24, roundings(n)) - 1 + DBL_EPSILON;
}

// The next element of a data set, in units of 2^-39. It has at most 24 bits, so it fits a
// float. It is not 0 (a missing 0 would go unnoticed), and its absolute value is at most 1.
static long long element(Data data, unsigned long long *random)
{
    *random = *random * 6364136223846793005u + 1442695040888963407u; // Knuth, MMIX
    const long long bits = *random >> 40, four_bits = *random >> 36 & 15;
    const int value = (int)(*random >> 59) - 16;
    switch (data) {
    case EXACT: // k/16 with k a nonzero integer from -16 to 16
        return (value + (value >= 0)) * (1ll << 35);
    case UNIFORM: // between -1 and 1
        return (2 * bits + 1 - (1 << 24)) * (1ll << 15);
    case MIXED: // 2^-16 to 1, all binary exponents equally often
        return (bits | 1 << 23) << four_bits;
    default: // 0.1 and up to 0.002 more
        return (13421773 + (bits >> 6)) << 12;
    }
}

// The first n elements of a data set.
struct Case {
    long long n;
    double exact, sizes; // their sum, and the sum of their absolute values
};

struct Device {
    float *in;      // the elements, and one more
    float *scratch; // 2 * partials: two buffers, used alternately
    size_t partials;
    cudaEvent_t start, stop;
};

// Fills the array, and adds up the elements of each case as integers, which is exact.
static void fill(const Device &d, Data data, std::vector<Case> *cases)
{
    std::vector<float> values;
    unsigned long long random = 1;
    long long sum = 0, sizes = 0;
    for (Case &c : *cases) {
        while ((long long)values.size() < c.n) {
            const long long units = element(data, &random);
            values.push_back(units * 0x1p-39);
            sum += units;
            sizes += llabs(units);
        }
        c.exact = sum * 0x1p-39;
        c.sizes = sizes * 0x1p-39;
    }
    values.push_back(element(data, &random) * 0x1p-39); // added by a read past the end
    CHECK(cudaMemcpy(d.in, &values[0], values.size() * sizeof(float), cudaMemcpyDefault));
}

// One whole reduction of in[0 .. n), pass after pass until one value is left.
static float reduce_once(const Device &d, long long n, float *ms)
{
    // NaN (all bits set) reveals a partial sum that was never written.
    CHECK(cudaMemsetAsync(d.scratch, 0xff, 2 * d.partials * sizeof(float)));
    CHECK(cudaEventRecord(d.start));
    const float *in = d.in;
    int launches = 0;
    for (; n > 1 || launches == 0; n = partial_count(n)) {
        float *out = d.scratch + launches % 2 * d.partials;
        launch(in, out, n);
        in = out;
        launches++;
    }
    CHECK(cudaEventRecord(d.stop));
    float sum;
    CHECK(cudaMemcpy(&sum, in, sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaEventElapsedTime(ms, d.start, d.stop));
    return sum;
}

// Reduces one case repeatedly, checks each sum, and prints the largest error.
static void run_case(const Device &d, Data data, const Case &c, const char *device,
                     bool csv)
{
    const double most = data == EXACT ? 0 : bound(c.n);
    std::set<float> results;
    double error = 0, total_ms = 0;
    float sum = 0;
    int runs = 0;
    // Times on the simulator are NaN, and NaN < x is false: three runs there.
    while (runs < 3 || (runs < MAX_RUNS && total_ms < ENOUGH_MS)) {
        float ms;
        sum = reduce_once(d, c.n, &ms);
        if (!(fabs(sum - c.exact) <= most * c.sizes)) { // so that NaN fails too
            fprintf(stderr, "FAIL: %s, n %lld: the sum is %.9g, expected %.9g +- %.3g\n",
                    NAMES[data], c.n, sum, c.exact, most * c.sizes);
            exit(EXIT_FAILURE);
        }
        error = std::max(error, fabs(sum - c.exact));
        results.insert(sum);
        total_ms += ms;
        runs++;
    }
    printf(
        csv ? "%s,%s,%s,%lld,%.9g,%.12g,%.3g,%.3g,%.3g,%d,%zu,PASS\n"
            : "%s on %s: %s, n %lld, sum %.9g (exact %.12g), error %.3g, over the sum of "
              "sizes %.3g (bound %.3g), %d runs, different results %zu, PASS\n",
        STEP, device, NAMES[data], c.n, sum, c.exact, error, error / c.sizes, most, runs,
        results.size());
}

int main(int argc, char **argv)
{
    long long size = 0;
    bool csv = false;
    parse_arguments(argc, argv, &size, &csv);
    cudaDeviceProp device;
    CHECK(cudaGetDeviceProperties(&device, 0));
    Device d;
    d.partials = partial_count(size);
    CHECK(cudaMalloc(&d.in, (size + 1) * sizeof(float)));
    CHECK(cudaMalloc(&d.scratch, 2 * d.partials * sizeof(float)));
    CHECK(cudaEventCreate(&d.start));
    CHECK(cudaEventCreate(&d.stop));
    std::vector<Case> cases;
    for (long long n = 1; n < size; n *= 4)
        cases.push_back({n, 0, 0});
    cases.push_back({size, 0, 0});
    if (csv)
        printf(
            "step,device,data,elements,sum,exact,error,relative_error,bound,runs,results,"
            "status\n");
    for (const Data data : {EXACT, UNIFORM, MIXED, SIMILAR}) {
        fill(d, data, &cases);
        for (const Case &c : cases)
            run_case(d, data, c, device.name, csv);
    }
}
