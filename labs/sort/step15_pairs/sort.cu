// Lab sort, step 15: keys with values.
// The change: the values of a tile pass through shared memory beside its keys.
// Build and run: nvcc -O3 -arch=native -o sort sort.cu && ./sort

#include <cstdio>
#include <cuda/atomic>

enum Task { SELECT, HISTOGRAM, ONE_DIGIT, SORT, SORT_PAIRS };

static const char STEP[] = "step15_pairs";
static const Task TASK = SORT_PAIRS;

#define CHECK(call) check(call, #call, __FILE__, __LINE__)
static void check(cudaError_t error, const char *call, const char *file, int line);

const unsigned DIGITS = 256;
const unsigned BLOCK_SIZE = DIGITS;       // threads: one for each digit
const unsigned ITEMS = 24;                // keys per thread
const unsigned TILE = BLOCK_SIZE * ITEMS; // keys per block
const unsigned WARPS = BLOCK_SIZE / 32;
const unsigned STAGED_BYTES = 2 * TILE * sizeof(unsigned); // keys and values of a tile
const unsigned PASSES = 4;
const unsigned BLOCKS_PER_SM = 8; // of the histogram
const unsigned ALL_LANES = 0xffffffff;

__device__ unsigned lanes_before()
{
    return (1u << threadIdx.x % 32) - 1;
}

// Inclusive prefix sum over the lanes of the warp.
__device__ unsigned scan_warp(unsigned sum)
{
    for (unsigned distance = 1; distance < 32; distance *= 2) {
        const unsigned left = __shfl_up_sync(ALL_LANES, sum, distance);
        if (threadIdx.x % 32 >= distance)
            sum += left;
    }
    return sum;
}

// Exclusive prefix sum over the threads of the block. Sets *total to the whole sum.
__device__ unsigned scan_block(unsigned value, unsigned *total)
{
    __shared__ unsigned sums[32];
    const unsigned sum = scan_warp(value);
    __syncthreads(); // all threads have read the previous call's sums
    if (threadIdx.x % 32 == 31)
        sums[threadIdx.x / 32] = sum;
    __syncthreads();
    unsigned before = 0;
    *total = 0;
    for (unsigned warp = 0; warp < blockDim.x / 32; warp++) {
        before += warp < threadIdx.x / 32 ? sums[warp] : 0;
        *total += sums[warp];
    }
    return before + sum - value;
}

__device__ unsigned digit_of(unsigned key, unsigned shift)
{
    return (key >> shift) % DIGITS;
}

// A warp has 32 * ITEMS consecutive keys of a tile; its lanes load 32 at a time.
__device__ unsigned index_of(unsigned tile, unsigned k)
{
    return tile * TILE + (threadIdx.x / 32 * ITEMS + k) * 32 + threadIdx.x % 32;
}

// Adds the number of keys with each digit to totals[pass * DIGITS + digit].
__global__ void count_digits(const unsigned *in, unsigned n, unsigned *totals)
{
    __shared__ unsigned own[PASSES][DIGITS];
    for (unsigned pass = 0; pass < PASSES; pass++)
        own[pass][threadIdx.x] = 0;
    __syncthreads();
    for (unsigned tile = blockIdx.x; tile * TILE < n; tile += gridDim.x) {
        unsigned keys[ITEMS]; // all loads are in flight together
        for (unsigned k = 0; k < ITEMS; k++)
            keys[k] = index_of(tile, k) < n ? in[index_of(tile, k)] : 0;
        for (unsigned k = 0; k < ITEMS; k++)
            for (unsigned pass = 0; index_of(tile, k) < n && pass < PASSES; pass++)
                atomicAdd(&own[pass][digit_of(keys[k], 8 * pass)], 1);
    }
    __syncthreads();
    for (unsigned pass = 0; pass < PASSES; pass++)
        atomicAdd(&totals[pass * DIGITS + threadIdx.x], own[pass][threadIdx.x]);
}

// A status word of a tile and a digit: its state in the upper two bits, a number of keys
// below.
const unsigned AGGREGATE = 1u << 30;  // in the tile
const unsigned PREFIX = 2u << 30;     // in the tile and all before it
const unsigned COUNT = AGGREGATE - 1; // mask

__device__ void publish(unsigned *status, unsigned word)
{
    cuda::atomic_ref<unsigned, cuda::thread_scope_device>(*status).store(
        word, cuda::memory_order_relaxed);
}

__device__ unsigned await(unsigned *status)
{
    unsigned word;
    do
        word = cuda::atomic_ref<unsigned, cuda::thread_scope_device>(*status).load(
            cuda::memory_order_relaxed);
    while (word < AGGREGATE);
    return word;
}

// Takes the next tile. Only a running block takes tiles, so no block waits for a tile whose
// block has not started.
__device__ unsigned take_tile(unsigned *next_tile)
{
    __shared__ unsigned tile;
    if (threadIdx.x == 0)
        tile = atomicAdd(next_tile, 1);
    __syncthreads();
    return tile;
}

// A thread adds up its digit's keys in the tiles before, back to the nearest prefix.
__device__ unsigned look_back(unsigned *status, unsigned tile)
{
    unsigned sum = 0, word = 0;
    while (tile > 0 && word < PREFIX) {
        tile--;
        word = await(&status[tile * DIGITS + threadIdx.x]);
        sum += word & COUNT;
    }
    return sum;
}

// The lanes of the warp whose digit is the same.
__device__ unsigned same_digit(unsigned digit)
{
    unsigned same = ALL_LANES;
    for (unsigned bit = 1; bit < DIGITS; bit *= 2) {
        const unsigned set = __ballot_sync(ALL_LANES, (digit & bit) != 0);
        same &= (digit & bit) != 0 ? set : ~set;
    }
    return same;
}

typedef unsigned Next[DIGITS]; // a warp's next rank for each digit

// Returns the rank of a lane's key in the tile. Among equal digits, lower lanes come first.
__device__ unsigned take_rank(Next next, unsigned digit)
{
    const unsigned same = same_digit(digit), leader = __ffs(same) - 1;
    unsigned first = 0;
    if (threadIdx.x % 32 == leader) {
        first = next[digit];
        next[digit] = first + __popc(same);
    }
    __syncwarp(); // the next call reads the new value
    return __shfl_sync(ALL_LANES, first, leader) + __popc(same & lanes_before());
}

__global__ void scatter(const unsigned *in, const unsigned *in_values, unsigned *out,
                        unsigned *out_values, unsigned n, unsigned shift,
                        const unsigned *totals, unsigned *next_tile, unsigned *status)
{
    __shared__ Next next[WARPS];
    extern __shared__ unsigned staged[]; // the tile, sorted by digit: keys, then values
    unsigned *staged_values = staged + TILE;
    __shared__ unsigned base[DIGITS]; // output index of a digit's first key, less its rank
    const unsigned tile = take_tile(next_tile), warp = threadIdx.x / 32;
    unsigned keys[ITEMS], values[ITEMS], all;
    for (unsigned k = 0; k < WARPS; k++)
        next[k][threadIdx.x] = 0;
    __syncthreads();
    for (unsigned k = 0; k < ITEMS; k++) { // past the end: a key that sorts last
        const unsigned i = index_of(tile, k);
        keys[k] = i < n ? in[i] : ~0u;
        values[k] = i < n ? in_values[i] : 0;
    }
    for (unsigned k = 0; k < ITEMS; k++)
        atomicAdd(&next[warp][digit_of(keys[k], shift)], 1);
    const unsigned smaller = scan_block(totals[threadIdx.x], &all); // digits of all keys
    __syncthreads();
    unsigned count = 0;
    for (unsigned k = 0; k < WARPS; k++)
        count += next[k][threadIdx.x];
    unsigned *word = &status[tile * DIGITS + threadIdx.x];
    publish(word, AGGREGATE | count); // of the last tile too large, but no tile reads it
    unsigned rank = scan_block(count, &all); // of the digit's first key in the tile
    base[threadIdx.x] = smaller - rank;
    for (unsigned k = 0; k < WARPS; k++) { // counts become ranks
        const unsigned warp_count = next[k][threadIdx.x];
        next[k][threadIdx.x] = rank;
        rank += warp_count;
    }
    __syncthreads();
    for (unsigned k = 0; k < ITEMS; k++) {
        const unsigned i = take_rank(next[warp], digit_of(keys[k], shift));
        staged[i] = keys[k];
        staged_values[i] = values[k];
    }
    const unsigned before = look_back(status, tile);
    publish(word, PREFIX | (before + count));
    base[threadIdx.x] += before;
    __syncthreads();
    for (unsigned i = threadIdx.x; i < min(TILE, n - tile * TILE); i += BLOCK_SIZE) {
        const unsigned target = base[digit_of(staged[i], shift)] + i;
        out[target] = staged[i];
        out_values[target] = staged_values[i];
    }
}

static unsigned tile_count(unsigned n)
{
    return (n + TILE - 1) / TILE;
}

// Words of scratch memory that are cleared: of each pass the totals, the next tile, and the
// status words.
static long long cleared_count(unsigned n)
{
    return PASSES * (DIGITS + 1 + (long long)DIGITS * tile_count(n));
}

// Words of scratch memory: n keys, n values, and what is cleared. They may contain
// anything.
static long long scratch_count(unsigned n)
{
    return 2ll * n + cleared_count(n);
}

static unsigned histogram_blocks(unsigned n)
{
    int sm_count;
    CHECK(cudaDeviceGetAttribute(&sm_count, cudaDevAttrMultiProcessorCount, 0));
    const unsigned resident = sm_count * BLOCKS_PER_SM;
    return tile_count(n) < resident ? tile_count(n) : resident;
}

// Sorts the keys, and moves each value with its key. The passes alternate between two pairs
// of arrays; the last one writes to out and out_values.
static void launch(const unsigned *in, const unsigned *in_values, unsigned *out,
                   unsigned *out_values, unsigned n, unsigned *scratch)
{
    const unsigned tiles = tile_count(n);
    unsigned *other = scratch, *other_values = other + n, *totals = other_values + n,
             *next_tile = totals + PASSES * DIGITS, *status = next_tile + PASSES;
    CHECK(cudaFuncSetAttribute(scatter, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               STAGED_BYTES));
    CHECK(cudaMemsetAsync(totals, 0, cleared_count(n) * sizeof(unsigned)));
    count_digits<<<histogram_blocks(n), BLOCK_SIZE>>>(in, n, totals);
    for (unsigned pass = 0; pass < PASSES; pass++) {
        unsigned *to = pass % 2 == 0 ? other : out;
        unsigned *to_values = pass % 2 == 0 ? other_values : out_values;
        scatter<<<tiles, BLOCK_SIZE, STAGED_BYTES>>>(
            in, in_values, to, to_values, n, 8 * pass, totals + pass * DIGITS,
            next_tile + pass, status + pass * tiles * DIGITS);
        in = to;
        in_values = to_values;
    }
    CHECK(cudaGetLastError());
}

// ==== Harness: the same in every step of this lab from here on; the lesson is above. ====

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

enum { BAD_ARGUMENT = 2, CANNOT_RUN = 77, RUNS = 51, ENOUGH_MS = 500 };
enum { UNWRITTEN = 0x7e };                       // each byte of the output before a run
static const long long MAX_ELEMENTS = 1ll << 28; // counts fit in 30 bits
const unsigned CHUNK = 8192;                     // elements that a checking thread walks
const unsigned CLASSES = 256;                    // digits, or selected and not selected
const unsigned LIMIT = 1u << 31;                 // smaller keys are selected
const unsigned NONE = ~0u;

// RANDOM: keys spread evenly over all 32 bits. SKEWED: four equal digits, half of them 0.
// ONES and ZEROS: all keys equal. SORTED: as RANDOM, in ascending order.
enum Kind { RANDOM, SKEWED, ONES, ZEROS, SORTED, KINDS };
static const char *const KIND_NAMES[] = {"random", "skewed", "ones", "zeros", "sorted"};
static const Kind TIMED[] = {SKEWED, ONES, SORTED, RANDOM}; // the last: the page's case
static const unsigned CHECKED[] = {1, 2, 31, 33, 1025, 4096, 12289};

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

static void parse_arguments(int argc, char **argv, unsigned *n, bool *csv)
{
    *n = 0;
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
    *n = *n == 0 ? 1u << 26 : *n;
}

// In device memory, for up to n elements.
struct Data {
    unsigned n;
    unsigned *in, *in_values;   // element i has the value i
    unsigned char *bytes;       // the highest digit of each key
    unsigned *out, *out_values; // n keys, and their values
    unsigned *counts;           // number of selected elements, or 256 bins
    unsigned *scratch;          // scratch_count(n)
    unsigned *starts,
        *position;   // CLASSES for each chunk: output index of its first element
    unsigned *wrong; // the first wrong element, or NONE
    float4 *flush;   // twice the L2 cache
    long long flush_count, busy_cycles;
    int flush_blocks;
    cudaEvent_t start, stop;
};

// The bit mixer of SplitMix64.
__device__ unsigned long long hash(unsigned long long bits)
{
    bits = (bits + 1) * 0x9e3779b97f4a7c15u;
    bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9u;
    bits = (bits ^ bits >> 27) * 0x94d049bb133111ebu;
    return bits ^ bits >> 31;
}

// The key with index i after sorting; never less than the one before.
__device__ unsigned sorted_key(unsigned i, unsigned n, Kind kind)
{
    if (kind == ONES || kind == ZEROS)
        return kind == ONES ? ~0u : 0;
    const unsigned long long low = ((unsigned long long)i << 32) / n;
    const unsigned long long high = ((unsigned long long)(i + 1) << 32) / n;
    unsigned long long key = low + hash(i) % (high - low);
    for (int squares = 0; kind == SKEWED && squares < 3; squares++)
        key = key * key >> 32;
    return kind == SKEWED ? (key >> 24) * 0x01010101u : key;
}

// A permutation of 0 to n - 1: a Feistel network, repeated until the result is below n.
__device__ unsigned shuffled(unsigned i, unsigned n)
{
    unsigned half = 1; // bits
    while (1ull << 2 * half < n)
        half++;
    const unsigned mask = (1u << half) - 1;
    do {
        unsigned left = i >> half, right = i & mask;
        for (unsigned round = 0; round < 4; round++) {
            const unsigned next = left ^ (hash(4ull * right + round) & mask);
            left = right;
            right = next;
        }
        i = left << half | right;
    } while (i >= n);
    return i;
}

__global__ void fill(unsigned *in, unsigned *in_values, unsigned char *bytes, unsigned n,
                     Kind kind)
{
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += gridDim.x * blockDim.x) {
        in[i] = sorted_key(kind == SORTED ? i : shuffled(i, n), n, kind);
        in_values[i] = i;
        bytes[i] = in[i] >> 24;
    }
}

// Elements of a class keep their order in the output; classes are in ascending order.
__device__ unsigned class_of(unsigned key)
{
    return TASK == SELECT ? key >= LIMIT : TASK == HISTOGRAM ? key >> 24 : key % CLASSES;
}

// Each thread counts the classes of a chunk: counts[class * chunks + chunk].
__global__ void count_classes(const unsigned *in, unsigned n, unsigned *counts)
{
    const unsigned chunk = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned chunks = (n + CHUNK - 1) / CHUNK;
    for (unsigned i = chunk * CHUNK; chunk < chunks && i < min(n, (chunk + 1) * CHUNK); i++)
        counts[class_of(in[i]) * chunks + chunk]++;
}

// Each thread looks for the elements of a chunk in the output. The indices that are left
// over by a selection must be unwritten.
__global__ void find_wrong_class(const unsigned *in, const unsigned *out, unsigned n,
                                 unsigned *position, unsigned *wrong)
{
    const unsigned chunk = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned chunks = (n + CHUNK - 1) / CHUNK;
    for (unsigned i = chunk * CHUNK; chunk < chunks && i < min(n, (chunk + 1) * CHUNK);
         i++) {
        const unsigned index = position[class_of(in[i]) * chunks + chunk]++;
        const bool selected = TASK != SELECT || class_of(in[i]) == 0;
        if (out[index] != (selected ? in[i] : UNWRITTEN * 0x01010101u))
            atomicMin(wrong, index);
    }
}

// Compares with the sorted keys. With values, each has to be the index of an equal key, and
// those of equal keys have to ascend: the result is then a stable permutation.
__global__ void find_wrong_order(const unsigned *in, const unsigned *out,
                                 const unsigned *out_values, unsigned n, Kind kind,
                                 unsigned *wrong)
{
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += gridDim.x * blockDim.x) {
        bool right = out[i] == sorted_key(i, n, kind);
        if (TASK == SORT_PAIRS) {
            const unsigned value = out_values[i];
            right = right && value < n && in[value] == out[i];
            if (i > 0 && out[i - 1] == out[i])
                right = right && out_values[i - 1] < value;
        }
        if (!right)
            atomicMin(wrong, i);
    }
}

// Reads the whole buffer, which evicts the timed run's input from the L2 cache and leaves
// no modified line to be written back. Takes at least `cycles` cycles, while the host
// queues the launch; otherwise launching would be part of short times.
__global__ void prepare(const float4 *flush, long long count, long long cycles,
                        unsigned *never)
{
    const long long start = clock64();
    float sum = 0.0f;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count;
         i += gridDim.x * blockDim.x)
        sum += flush[i].x + flush[i].y + flush[i].z + flush[i].w;
    if (sum != 0) // never true, which the compiler cannot know
        *never = 0;
    while (clock64() - start < cycles)
        continue;
}

// Calls the step. A template, so that only the call of its task has to exist.
template <Task task, class D>
static void launch_task(const D &d, unsigned n)
{
    if constexpr (task == SELECT)
        launch(d.in, d.out, d.counts, n, LIMIT, d.scratch);
    else if constexpr (task == HISTOGRAM)
        launch(d.bytes, d.counts, n);
    else if constexpr (task == SORT_PAIRS)
        launch(d.in, d.in_values, d.out, d.out_values, n, d.scratch);
    else
        launch(d.in, d.out, n, d.scratch);
}

// Fills the arrays. Returns the expected counts: of the elements of each class.
static std::vector<unsigned> make_data(const Data &d, unsigned n, Kind kind)
{
    fill<<<4 * d.flush_blocks, 256>>>(d.in, d.in_values, d.bytes, n, kind);
    CHECK(cudaGetLastError());
    std::vector<unsigned> counts(CLASSES);
    if (TASK == SORT || TASK == SORT_PAIRS)
        return counts;
    const unsigned chunks = (n + CHUNK - 1) / CHUNK;
    std::vector<unsigned> starts(CLASSES * chunks);
    const size_t bytes = starts.size() * sizeof(unsigned);
    CHECK(cudaMemset(d.starts, 0, bytes));
    count_classes<<<(chunks + 127) / 128, 128>>>(d.in, n, d.starts);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(starts.data(), d.starts, bytes, cudaMemcpyDeviceToHost));
    unsigned sum = 0;
    for (size_t i = 0; i < starts.size(); i++) {
        const unsigned count = starts[i];
        starts[i] = sum;
        sum += count;
        counts[i / chunks] += count;
    }
    CHECK(cudaMemcpy(d.starts, starts.data(), bytes, cudaMemcpyHostToDevice));
    return counts;
}

// Exits if a count of the last run is wrong.
static void check_counts(const Data &d, unsigned n, Kind kind,
                         const std::vector<unsigned> &expected)
{
    const size_t count = TASK == SELECT ? 1 : CLASSES;
    std::vector<unsigned> counts(count);
    CHECK(cudaMemcpy(counts.data(), d.counts, count * sizeof(unsigned),
                     cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < count; i++)
        if (counts[i] != expected[i]) {
            fprintf(stderr, "FAIL: of %u elements (%s) count %zu is %u, but %u is right\n",
                    n, KIND_NAMES[kind], i, counts[i], expected[i]);
            exit(EXIT_FAILURE);
        }
}

// Exits if the last run is wrong.
static void check_result(const Data &d, unsigned n, Kind kind,
                         const std::vector<unsigned> &expected)
{
    if (TASK == SELECT || TASK == HISTOGRAM)
        check_counts(d, n, kind, expected);
    if (TASK == HISTOGRAM)
        return;
    unsigned wrong;
    CHECK(cudaMemset(d.wrong, 0xff, sizeof wrong));
    if (TASK == SORT || TASK == SORT_PAIRS) {
        find_wrong_order<<<4 * d.flush_blocks, 256>>>(d.in, d.out, d.out_values, n, kind,
                                                      d.wrong);
    } else {
        const unsigned chunks = (n + CHUNK - 1) / CHUNK;
        CHECK(cudaMemcpy(d.position, d.starts, CLASSES * chunks * sizeof(unsigned),
                         cudaMemcpyDeviceToDevice));
        find_wrong_class<<<(chunks + 127) / 128, 128>>>(d.in, d.out, n, d.position,
                                                        d.wrong);
    }
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(&wrong, d.wrong, sizeof wrong, cudaMemcpyDeviceToHost));
    if (wrong != NONE) {
        fprintf(stderr, "FAIL: of %u elements (%s) number %u of the output is wrong\n", n,
                KIND_NAMES[kind], wrong);
        exit(EXIT_FAILURE);
    }
}

// Erases the previous run's results. Scratch memory keeps its content in every other run.
static void erase(const Data &d, unsigned n, bool scratch)
{
    CHECK(cudaMemsetAsync(d.out, UNWRITTEN, n * sizeof(unsigned)));
    CHECK(cudaMemsetAsync(d.out_values, UNWRITTEN, n * sizeof(unsigned)));
    CHECK(cudaMemsetAsync(d.counts, UNWRITTEN, CLASSES * sizeof(unsigned)));
    if (scratch)
        CHECK(cudaMemsetAsync(d.scratch, UNWRITTEN, scratch_count(n) * sizeof(unsigned)));
}

// Runs the step once without timing, and checks it.
static void check_only(const Data &d, unsigned n, Kind kind)
{
    const std::vector<unsigned> expected = make_data(d, n, kind);
    erase(d, n, kind % 2 == 0);
    launch_task<TASK>(d, n);
    check_result(d, n, kind, expected);
}

// Milliseconds of a run, with a cold cache.
static float timed(const Data &d, unsigned n, bool erase_scratch)
{
    erase(d, n, erase_scratch);
    prepare<<<d.flush_blocks, 1024>>>(d.flush, d.flush_count, d.busy_cycles, d.wrong);
    CHECK(cudaGetLastError());
    CHECK(cudaEventRecord(d.start));
    launch_task<TASK>(d, n);
    CHECK(cudaEventRecord(d.stop));
    CHECK(cudaEventSynchronize(d.stop));
    float ms;
    CHECK(cudaEventElapsedTime(&ms, d.start, d.stop));
    return ms;
}

// Times the step on one kind of data. All runs are checked.
static void measure(const Data &d, Kind kind, bool csv, const char *device)
{
    const std::vector<unsigned> expected = make_data(d, d.n, kind);
    std::vector<float> ms;
    float total_ms = 0;
    while (ms.size() < 3 || (ms.size() < RUNS && total_ms < ENOUGH_MS)) {
        ms.push_back(timed(d, d.n, ms.size() % 2 == 0));
        check_result(d, d.n, kind, expected);
        total_ms += ms.back();
    }
    std::sort(ms.begin(), ms.end());
    const double median_ms = ms[ms.size() / 2];
    printf(csv ? "%s,%s,%u,%s,%.6f,%.3f,PASS\n"
               : "%s on %s: %u elements (%s), ms %.4f, 10^9 elements per s %.3f, PASS\n",
           STEP, device, d.n, KIND_NAMES[kind], median_ms, d.n / median_ms / 1e6);
}

// Allocates `count` elements, and at least as many as the checks need.
template <class T>
static void allocate(T **array, long long count)
{
    CHECK(cudaMalloc(array, std::max(count, 16ll) * sizeof(T)));
}

int main(int argc, char **argv)
{
    Data d = {};
    bool csv = false;
    parse_arguments(argc, argv, &d.n, &csv);
    cudaDeviceProp device;
    int clock_khz;
    CHECK(cudaGetDeviceProperties(&device, 0));
    CHECK(cudaDeviceGetAttribute(&clock_khz, cudaDevAttrClockRate, 0));
    const size_t flush_bytes = 2 * (size_t)device.l2CacheSize;
    d.flush_count = flush_bytes / sizeof(float4);
    d.flush_blocks = 2 * device.multiProcessorCount;
    d.busy_cycles = clock_khz / 4; // a quarter of a millisecond: a sort is many launches
    for (unsigned **array : {&d.in, &d.in_values, &d.out, &d.out_values})
        allocate(array, d.n);
    allocate(&d.bytes, d.n);
    allocate(&d.counts, CLASSES);
    allocate(&d.scratch, scratch_count(d.n));
    for (unsigned **array : {&d.starts, &d.position})
        allocate(array, (d.n + CHUNK - 1) / CHUNK * CLASSES);
    allocate(&d.wrong, 1);
    CHECK(cudaMalloc(&d.flush, flush_bytes));
    CHECK(cudaMemset(d.flush, 0, flush_bytes));
    CHECK(cudaEventCreate(&d.start));
    CHECK(cudaEventCreate(&d.stop));
    if (csv)
        printf("step,device,elements,data,median_ms,gelements_per_s,status\n");
    for (const unsigned n : CHECKED)
        for (int kind = 0; kind < KINDS && n <= d.n; kind++)
            check_only(d, n, (Kind)kind);
    for (const Kind kind : TIMED)
        measure(d, kind, csv, device.name);
}
