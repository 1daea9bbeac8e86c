// Step 06: decoupled look-back: one launch, which reads the array once.
// The change: a block adds up what the blocks before it have published.
// Build and run: nvcc -O3 -arch=native -o scan scan.cu && ./scan

#include <cstdio>
#include <cuda/atomic>

static const char STEP[] = "step06_lookback";

#define CHECK(call) check(call, #call, __FILE__, __LINE__)
static void check(cudaError_t error, const char *call, const char *file, int line);

const unsigned BLOCK_SIZE = 512;          // threads, a power of two
const unsigned ITEMS = 16;                // consecutive elements per thread
const unsigned TILE = BLOCK_SIZE * ITEMS; // elements per tile
const unsigned WARPS = BLOCK_SIZE / 32;
const unsigned VECTORS = ITEMS / 4; // float4 vectors per thread

// Inclusive prefix sum over the lanes of the warp.
__device__ float scan_warp(float sum)
{
    for (unsigned distance = 1; distance < 32; distance *= 2) {
        const float left = __shfl_up_sync(0xffffffff, sum, distance);
        if (threadIdx.x % 32 >= distance)
            sum += left;
    }
    return sum;
}

// Exclusive prefix sum over the threads of the block. Sets *aggregate to the whole sum.
__device__ float scan_block(float value, float *aggregate)
{
    __shared__ float sums[WARPS]; // inclusive prefixes of the warps' sums
    const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const float sum = scan_warp(value);
    const float left = __shfl_up_sync(0xffffffff, sum, 1);
    if (lane == 31)
        sums[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        const float warp_prefix = scan_warp(lane < WARPS ? sums[lane] : 0.0f);
        if (lane < WARPS)
            sums[lane] = warp_prefix;
    }
    __syncthreads();
    *aggregate = sums[WARPS - 1];
    return (warp > 0 ? sums[warp - 1] : 0.0f) + (lane > 0 ? left : 0.0f);
}

// The sum of a thread's elements.
__device__ float add_items(const float4 *items)
{
    float sum = 0.0f;
    for (unsigned k = 0; k < VECTORS; k++)
        sum += items[k].x + items[k].y + items[k].z + items[k].w;
    return sum;
}

// Scans four elements, given their exclusive prefix. Returns their inclusive prefix.
__device__ float scan_vector(float4 *items, float prefix, bool exclusive)
{
    const float x = prefix + items->x, y = x + items->y, z = y + items->z, w = z + items->w;
    *items = exclusive ? make_float4(prefix, x, y, z) : make_float4(x, y, z, w);
    return w;
}

// Scans a thread's elements, given their exclusive prefix.
__device__ void scan_items(float4 *items, float prefix, bool exclusive)
{
    for (unsigned k = 0; k < VECTORS; k++)
        prefix = scan_vector(items + k, prefix, exclusive);
}

// Elements i to i + 3; those past the end of the array are 0.
__device__ float4 load_vector(const float *in, long long i, long long n)
{
    if (i + 3 < n)
        return *(const float4 *)(in + i);
    const float x = i < n ? in[i] : 0.0f, y = i + 1 < n ? in[i + 1] : 0.0f;
    return make_float4(x, y, i + 2 < n ? in[i + 2] : 0.0f, 0.0f);
}

__device__ void store_vector(float *out, long long i, long long n, float4 v)
{
    if (i + 3 < n) {
        *(float4 *)(out + i) = v;
        return;
    }
    if (i < n)
        out[i] = v.x;
    if (i + 1 < n)
        out[i + 1] = v.y;
    if (i + 2 < n)
        out[i + 2] = v.z;
}

// Index of a vector in shared memory. After every eight vectors, which span all banks,
// one is unused, so the vectors of neighbouring lanes start in different banks.
__device__ constexpr unsigned padded(unsigned vector)
{
    return vector + vector / 8;
}

// Loads a tile in the striped arrangement (coalesced).
__device__ void load_tile(const float *in, long long start, long long n, float4 *items)
{
    for (unsigned k = 0; k < VECTORS; k++)
        items[k] = load_vector(in, start + 4 * (k * BLOCK_SIZE + threadIdx.x), n);
}

// Transposes a tile, in shared memory, from the striped to the blocked arrangement.
__device__ void make_blocked(float4 *tile, float4 *items)
{
    for (unsigned k = 0; k < VECTORS; k++)
        tile[padded(k * BLOCK_SIZE + threadIdx.x)] = items[k];
    __syncthreads();
    for (unsigned k = 0; k < VECTORS; k++)
        items[k] = tile[padded(threadIdx.x * VECTORS + k)];
}

// Transposes a tile back to the striped arrangement, and stores it (coalesced).
__device__ void store_tile(float *out, long long start, long long n, float4 *tile,
                           const float4 *items)
{
    for (unsigned k = 0; k < VECTORS; k++)
        tile[padded(threadIdx.x * VECTORS + k)] = items[k];
    __syncthreads();
    for (unsigned k = 0; k < VECTORS; k++) {
        const unsigned vector = k * BLOCK_SIZE + threadIdx.x;
        store_vector(out, start + 4 * vector, n, tile[padded(vector)]);
    }
}

// A tile's status word: the number of its state (upper half), and a sum (lower half).
// Each access is a single 64-bit access, so both halves are from the same store.
typedef unsigned long long Status;

__device__ unsigned next_tile; // tiles taken in this launch

__device__ void publish(Status *status, unsigned number, float sum)
{
    cuda::atomic_ref<Status, cuda::thread_scope_device>(*status).store(
        (Status)number << 32 | __float_as_uint(sum), cuda::memory_order_relaxed);
}

// Polls a status word until it is from this launch. Older words have smaller numbers.
__device__ Status wait_for(Status *status, unsigned launch)
{
    Status seen;
    do {
        seen = cuda::atomic_ref<Status, cuda::thread_scope_device>(*status).load(
            cuda::memory_order_relaxed);
    } while ((int)(seen >> 32) < (int)launch);
    return seen;
}

// The exclusive prefix of a tile. A warp looks back over 32 tiles at a time, lane 0 at the
// nearest, until it finds an inclusive prefix (state launch + 1).
__device__ float look_back(Status *status, unsigned launch, long long tile)
{
    const unsigned lane = threadIdx.x % 32;
    float sum = 0.0f;
    __nanosleep(500); // meanwhile most of the blocks before publish their aggregates
    for (long long at = tile - 1 - lane;; at -= 32) {
        const Status seen = at >= 0 ? wait_for(status + at, launch) : (launch + 1ull) << 32;
        const unsigned prefixes = __ballot_sync(0xffffffff, seen >> 32 == launch + 1);
        const unsigned wanted = prefixes ^ (prefixes - 1); // lanes up to the first prefix
        const float part = wanted >> lane & 1 ? __uint_as_float((unsigned)seen) : 0.0f;
        sum += __shfl_sync(0xffffffff, scan_warp(part), 31);
        if (prefixes != 0)
            return sum;
    }
}

// Scans the array. Only a running block takes a tile, so no block waits for a tile whose
// block has not started, whatever the order in which blocks start.
__global__ void scan_tiles(const float *in, float *out, long long n, bool exclusive,
                           Status *status, unsigned launch)
{
    __shared__ float4 vectors[padded(TILE / 4)];
    __shared__ unsigned tile;
    __shared__ float tile_prefix;
    if (threadIdx.x == 0)
        tile = atomicInc(&next_tile, gridDim.x - 1); // the last one resets it
    __syncthreads();
    const long long start = (long long)tile * TILE;
    float4 items[VECTORS];
    load_tile(in, start, n, items);
    make_blocked(vectors, items);
    float aggregate;
    const float prefix = scan_block(add_items(items), &aggregate);
    if (threadIdx.x == 0)
        publish(status + tile, launch, aggregate);
    if (threadIdx.x < 32) {
        const float sum = look_back(status, launch, tile);
        if (threadIdx.x == 0) {
            tile_prefix = sum;
            publish(status + tile, launch + 1, sum + aggregate);
        }
    }
    __syncthreads();
    scan_items(items, tile_prefix + prefix, exclusive);
    store_tile(out, start, n, vectors, items);
}

// Floats of scratch memory for a scan of n elements: a status word for each tile.
// Clear it before the first launch, and every 2^30 launches: the launch numbers repeat.
static long long scratch_count(long long n)
{
    return sizeof(Status) / sizeof(float) * ((n + TILE - 1) / TILE);
}

// Sets out[i] to in[0] + ... + in[i], or to the sum before in[i] if exclusive.
// Returns the number of kernels launched.
static int launch(const float *in, float *out, long long n, bool exclusive, float *scratch)
{
    static unsigned number = 0; // launch number
    number += 2;
    const long long tiles = (n + TILE - 1) / TILE;
    scan_tiles<<<tiles, BLOCK_SIZE>>>(in, out, n, exclusive, (Status *)scratch, number);
    CHECK(cudaGetLastError());
    return 1;
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
