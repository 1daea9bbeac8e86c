// Lab operators, step 00: any operator and type. Sums, minima and maxima by one template.
// The reduction of step 08, with the operator and the type as template parameters.
// Build and run: nvcc -O3 -arch=native -o operators operators.cu && ./operators

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <cuda/std/limits>
#include <cuda_fp16.h>

static const char STEP[] = "step00_operator";

#define CHECK(call) check(call, #call, __FILE__, __LINE__)
static void check(cudaError_t error, const char *call, const char *file, int line);

const unsigned BLOCK_SIZE = 256; // threads, a multiple of 32, at most 1024

// An operator combines two values, and has an identity: the value that changes no other.
template <typename T>
struct Sum {
    typedef T Value;
    static __host__ __device__ T identity()
    {
        return 0;
    }
    static __host__ __device__ T combine(T a, T b)
    {
        return a + b;
    }
};

template <typename T>
struct Max {
    typedef T Value;
    static __host__ __device__ T identity()
    {
        typedef cuda::std::numeric_limits<T> limits;
        return limits::has_infinity ? -limits::infinity() : limits::lowest();
    }
    static __host__ __device__ T combine(T a, T b)
    {
        return b > a ? b : a;
    }
};

template <typename T>
struct Min {
    typedef T Value;
    static __host__ __device__ T identity()
    {
        typedef cuda::std::numeric_limits<T> limits;
        return limits::has_infinity ? limits::infinity() : limits::max();
    }
    static __host__ __device__ T combine(T a, T b)
    {
        return b < a ? b : a;
    }
};

template <typename Op>
using Value = typename Op::Value; // the type of the reduction

// The value of element i: the element, converted to the operator's type.
template <typename Op, typename T>
__host__ __device__ Value<Op> value_of(T element, long long /* i */)
{
    return element;
}

// Returns `value` of the lane whose ID is higher by s. A shuffle moves 32 bits.
template <typename V>
__device__ V shuffle_down(V value, unsigned s)
{
    int words[(sizeof(V) + 3) / 4] = {};
    memcpy(words, &value, sizeof(V));
    for (int &word : words)
        word = __shfl_down_sync(0xffffffff, word, s);
    memcpy(&value, words, sizeof(V));
    return value;
}

// The value of a warp, in its lane 0: each lane reads the register of the lane s above.
template <typename Op>
__device__ Value<Op> reduce_warp(Value<Op> value)
{
    for (unsigned s = 16; s > 0; s /= 2)
        value = Op::combine(value, shuffle_down(value, s));
    return value;
}

// The value of a block, in its thread 0: each warp stores one value in shared memory.
template <typename Op>
__device__ Value<Op> reduce_block(Value<Op> value)
{
    __shared__ Value<Op> values[BLOCK_SIZE / 32];
    const unsigned tid = threadIdx.x;
    value = reduce_warp<Op>(value);
    if (tid % 32 == 0)
        values[tid / 32] = value;
    __syncthreads();

    if (tid < 32)
        value = reduce_warp<Op>(tid < BLOCK_SIZE / 32 ? values[tid] : Op::identity());
    return value;
}

template <typename Op, typename T>
__global__ void reduce(const T *in, Value<Op> *out, long long n)
{
    const long long threads = (long long)gridDim.x * BLOCK_SIZE;
    const long long thread = (long long)blockIdx.x * BLOCK_SIZE + threadIdx.x;
    Value<Op> value = Op::identity();
    for (long long i = thread; i < n; i += threads)
        value = Op::combine(value, value_of<Op>(in[i], i));
    value = reduce_block<Op>(value);
    if (threadIdx.x == 0)
        out[blockIdx.x] = value;
}

// The number of blocks that the GPU holds at once.
template <typename Op, typename T>
static long long resident_blocks()
{
    int blocks_per_sm, sm_count;
    CHECK(cudaDeviceGetAttribute(&sm_count, cudaDevAttrMultiProcessorCount, 0));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_per_sm, reduce<Op, T>,
                                                        BLOCK_SIZE, 0));
    return sm_count * blocks_per_sm;
}

// The number of blocks for n elements, and so of the values that a pass leaves.
template <typename Op, typename T>
static long long block_count(long long n)
{
    static const long long most = resident_blocks<Op, T>(); // queried only once
    return std::min((n + 16 * BLOCK_SIZE - 1) / (16 * BLOCK_SIZE), most);
}

// One pass: stores the values of the blocks in out[0 .. blocks).
template <typename Op, typename T>
static void launch(const T *in, Value<Op> *out, long long n, long long blocks)
{
    reduce<Op><<<blocks, BLOCK_SIZE>>>(in, out, n);
    CHECK(cudaGetLastError());
}

// The whole reduction: stores the value of in[0 .. n) in *host, on the host.
template <typename Op, typename T>
static void reduce_all(const T *in, Value<Op> *scratch, Value<Op> *host, long long n)
{
    const long long blocks = block_count<Op, T>(n);
    launch<Op>(in, scratch, n, blocks);
    if (blocks > 1)
        launch<Op>(scratch, scratch, blocks, 1);
    CHECK(cudaMemcpyAsync(host, scratch, sizeof *host, cudaMemcpyDeviceToHost));
}

template <typename Op, typename T>
static void run_case(struct Bench *b, const char *op, const char *type,
                     Value<Op> (*host_combine)(Value<Op>, Value<Op>),
                     Value<Op> (*host_value)(T, long long) = value_of<Op, T>);

// Each operator and type, with the host function that checks it.
static void run_cases(Bench *b)
{
    const auto sum = [](auto a, auto b) { return a + b; };
    const auto least = [](auto a, auto b) { return std::min(a, b); };
    const auto largest = [](auto a, auto b) { return std::max(a, b); };
    run_case<Sum<int>, int>(b, "sum", "int", sum);
    run_case<Min<int>, int>(b, "min", "int", least);
    run_case<Max<int>, int>(b, "max", "int", largest);
    run_case<Max<double>, double>(b, "max", "double", largest);
    run_case<Sum<double>, double>(b, "sum", "double", sum);
    run_case<Sum<float>, half>(b, "sum", "half", sum);
}

// ==== Harness: the same in every step of this lab from here on; the lesson is above. ====

#include <cstdlib>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

enum { BAD_ARGUMENT = 2, CANNOT_RUN = 77, ENOUGH_MS = 500, MAX_RUNS = 51 };
static const long long MAX_ELEMENTS = (1ll << 31) - 1; // an int holds every index
static const long long PERIOD = 2 * 500009; // of the data; no stride or tile divides it

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

struct Bench { // shared by all cases
    long long n, flush_count, busy_cycles;
    bool csv;
    cudaDeviceProp device;
    float4 *flush; // twice the L2 cache
    cudaEvent_t start, stop;
    std::vector<int> units; // the data, a period: 1 to 16, or -1 to -16
};

// The array is divided into stretches. Only their first elements change from run to run,
// so the host has to combine the others only once.
template <typename Op>
struct Stretch {
    long long begin, length;
    int first;      // in units
    Value<Op> rest; // of the other elements
};

template <typename Op, typename T>
struct Case {
    std::string name;
    Value<Op> (*combine)(Value<Op>, Value<Op>); // the host's
    Value<Op> (*value)(T, long long);           // the host's
    T *in;                                      // n + 1 elements
    size_t scratch_bytes;                       // of scratch, and of host
    Value<Op> *scratch, *host;
    std::vector<Stretch<Op>> stretches;
};

// Units, never 0: losing a 0 would pass. The second half of a period is the
// negated first, so sums stay small: below 2^24 units float addition is exact.
static std::vector<int> make_units()
{
    std::vector<int> units(PERIOD);
    unsigned long long random = 1;
    for (long long i = 0; i < PERIOD / 2; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u; // Knuth, MMIX
        const int value = (int)(random >> 59) - 16;
        units[i] = value + (value >= 0);
        units[i + PERIOD / 2] = -units[i];
    }
    return units;
}

// A unit is 1 for integers and 1/16 for floating-point types.
template <typename T>
static T element_of(int units)
{
    return T(std::is_integral<T>::value ? units : units / 16.0f);
}

template <typename T>
static void set_element(T *in, long long i, int units)
{
    const T element = element_of<T>(units);
    CHECK(cudaMemcpy(in + i, &element, sizeof(T), cudaMemcpyHostToDevice));
}

// Fills c->in. A stretch begins at each 32nd of the array, and next to each power of two,
// counted from both ends.
template <typename Op, typename T>
static void fill(const Bench &b, Case<Op, T> *c)
{
    std::vector<T> elements;
    for (int units : b.units)
        elements.push_back(element_of<T>(units));
    for (long long filled = 0, more; filled < b.n; filled += more) {
        more = std::min(b.n - filled, PERIOD);
        CHECK(
            cudaMemcpy(c->in + filled, &elements[0], more * sizeof(T), cudaMemcpyDefault));
    }
    std::set<long long> begins = {b.n};
    for (long long i = 0; i < b.n; i += std::max(b.n / 32, 1ll))
        begins.insert(i);
    for (long long i = 1; i <= b.n; i *= 2)
        begins.insert({i - 1, i, b.n - i});
    for (auto begin = begins.begin(), end = std::next(begin); end != begins.end();
         begin = end++) {
        Stretch<Op> s = {*begin, *end - *begin, b.units[*begin % PERIOD], {}};
        for (long long i = *begin + 1, place = i % PERIOD; i < *end; i++) {
            const Value<Op> value = c->value(elements[place], i);
            s.rest = i == *begin + 1 ? value : c->combine(s.rest, value);
            place = place + 1 == PERIOD ? 0 : place + 1;
        }
        c->stretches.push_back(s);
    }
}

// The host's result for the current array, from the first element to the last.
template <typename Op, typename T>
static Value<Op> expected_value(const Case<Op, T> &c)
{
    Value<Op> value = {};
    for (const Stretch<Op> &s : c.stretches) {
        const Value<Op> first = c.value(element_of<T>(s.first), s.begin);
        value = s.begin == 0 ? first : c.combine(value, first);
        value = s.length == 1 ? value : c.combine(value, s.rest);
    }
    return value;
}

// A value as text: a number, or the words of a struct.
template <typename V>
static std::string text_of(const V &value)
{
    if constexpr (std::is_arithmetic<V>::value)
        return std::to_string(value);
    int words[(sizeof value + 3) / 4] = {};
    memcpy(words, &value, sizeof value);
    std::string text;
    for (int word : words)
        text += (text.empty() ? "{" : ", ") + std::to_string(word);
    return text + "}";
}

// Reads the whole buffer, which evicts the input from the L2 cache and leaves no modified
// line to be written back later. Takes at least `cycles` cycles, while the host queues
// the launches; otherwise launching would be part of short times.
__global__ void prepare(const float4 *flush, long long count, long long cycles,
                        float4 *never)
{
    const long long start = clock64();
    float sum = 0.0f;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count;
         i += gridDim.x * blockDim.x)
        sum += flush[i].x + flush[i].y + flush[i].z + flush[i].w;
    if (sum != 0) // never true, which the compiler cannot know
        never->x = sum;
    while (clock64() - start < cycles)
        continue;
}

// Reduces in[0 .. n) and returns the milliseconds until the host has the result. Exits
// unless its bits are the expected ones. Uninitialised scratch memory is NaN or
// -1, very large, or negative and very large or small, depending on the run.
template <typename Op, typename T>
static float checked_run(const Bench &b, const Case<Op, T> &c, long long n,
                         Value<Op> expected, long long run, bool timed)
{
    const int unwritten[] = {0xff, 0x7f, 0x80};
    CHECK(cudaMemset(c.scratch, unwritten[run % 3], c.scratch_bytes));
    memset((void *)c.host, unwritten[run % 3], c.scratch_bytes);
    if (timed)
        prepare<<<2 * b.device.multiProcessorCount, 1024>>>(b.flush, b.flush_count,
                                                            b.busy_cycles, b.flush);
    CHECK(cudaGetLastError());
    CHECK(cudaEventRecord(b.start));
    reduce_all<Op>(c.in, c.scratch, c.host, n);
    CHECK(cudaEventRecord(b.stop));
    CHECK(cudaEventSynchronize(b.stop));
    if (memcmp(&expected, c.host, sizeof expected) != 0) {
        fprintf(stderr, "FAIL: the %s, n %lld, is %s, expected %s\n", c.name.c_str(), n,
                text_of(*c.host).c_str(), text_of(expected).c_str());
        exit(EXIT_FAILURE);
    }
    float ms;
    CHECK(cudaEventElapsedTime(&ms, b.start, b.stop));
    return ms;
}

// A run with one largest and one smallest element, which begin a different stretch in each
// run. In a timed run all stretches from one on begin with the largest element, so that
// the first of equal ones must be found.
template <typename Op, typename T>
static float extreme_run(const Bench &b, Case<Op, T> *c, size_t run, bool timed)
{
    const size_t count = c->stretches.size(), least_at = (run + count / 2) % count;
    const int largest = 17 + run % 2;
    for (size_t i = 0; i < count; i++) {
        Stretch<Op> &s = c->stretches[i];
        const bool is_largest = timed ? i > run % count : i == run % count;
        int units = is_largest ? largest : b.units[s.begin % PERIOD];
        units = !timed && i == least_at ? -largest : units;
        if (units != s.first)
            set_element(c->in, s.begin, s.first = units);
    }
    set_element(c->in, b.n, run % 4 < 2 ? 32 : -32); // past the end: must not be read
    return checked_run(b, *c, b.n, expected_value(*c), run, timed);
}

// Checks and times one operator with elements of type T, and prints its row.
template <typename Op, typename T>
static void run_case(Bench *b, const char *op, const char *type,
                     Value<Op> (*host_combine)(Value<Op>, Value<Op>),
                     Value<Op> (*host_value)(T, long long))
{
    Case<Op, T> c = {};
    c.name = std::string(op) + " of " + type;
    c.combine = host_combine;
    c.value = host_value;
    c.scratch_bytes = block_count<Op, T>(b->n) * sizeof(Value<Op>);
    CHECK(cudaMalloc(&c.in, (b->n + 1) * sizeof(T)));
    CHECK(cudaMalloc(&c.scratch, c.scratch_bytes));
    CHECK(cudaMallocHost(&c.host, c.scratch_bytes));
    for (int units : {-1, 1}) { // a single element: must not be replaced by the identity
        set_element(c.in, 0, units);
        checked_run(*b, c, 1, c.value(element_of<T>(units), 0), units + 1, false);
    }
    fill(*b, &c);
    for (size_t run = 0; run < c.stretches.size(); run++) // also the warm-up
        extreme_run(*b, &c, run, false);
    std::vector<float> ms;
    for (float total_ms = 0;
         ms.size() < 3 || (ms.size() < MAX_RUNS && total_ms < ENOUGH_MS);) {
        ms.push_back(extreme_run(*b, &c, ms.size(), true));
        total_ms += ms.back(); // NaN without a clock: three runs
    }
    std::sort(ms.begin(), ms.end());
    const size_t last = ms.size() - 1;
    const double median_ms = (ms[last / 2] + ms[(last + 1) / 2]) / 2;
    printf(b->csv ? "%s,%s,%s,%s,%lld,%.6f,%.3f,PASS\n"
                  : "%s on %s: %s of %s, n %lld, ms %.4f, GB/s %.2f, PASS\n",
           STEP, b->device.name, op, type, b->n, median_ms,
           b->n * sizeof(T) / median_ms / 1e6);
    CHECK(cudaFree(c.in));
    CHECK(cudaFree(c.scratch));
    CHECK(cudaFreeHost(c.host));
}

int main(int argc, char **argv)
{
    Bench b = {};
    int clock_khz;
    parse_arguments(argc, argv, &b.n, &b.csv);
    CHECK(cudaGetDeviceProperties(&b.device, 0));
    CHECK(cudaDeviceGetAttribute(&clock_khz, cudaDevAttrClockRate, 0));
    const size_t flush_bytes = 2 * (size_t)b.device.l2CacheSize;
    b.flush_count = flush_bytes / sizeof(float4);
    b.busy_cycles = clock_khz / 10; // a tenth of a millisecond
    b.units = make_units();
    CHECK(cudaMalloc(&b.flush, flush_bytes));
    CHECK(cudaMemset(b.flush, 0, flush_bytes));
    CHECK(cudaEventCreate(&b.start));
    CHECK(cudaEventCreate(&b.stop));
    if (b.csv)
        printf("step,device,operator,type,elements,median_ms,gb_per_s,status\n");
    run_cases(&b);
}
