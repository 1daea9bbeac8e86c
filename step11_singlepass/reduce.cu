// Step 11: a single pass. The block with the last ticket adds all partial sums.
// The change: blocks take tickets; a second launch is no longer needed.
// Build and run: nvcc -O3 -arch=native -o reduce reduce.cu && ./reduce
// The lesson: lines 14 to 138; the rest is the harness.
#include <cstdint>
#include <cstdio>
#include <cuda/atomic>

static const char STEP[] = "step11_singlepass";

#define CHECK(call) check(call, #call, __FILE__, __LINE__)
static void check(cudaError_t error, const char *call, const char *file, int line);

const unsigned BLOCK_SIZE = 512;  // threads, a power of two
const unsigned LOADS = 4;         // per thread and tile
const unsigned MAX_BLOCKS = 8192; // more than any GPU holds at once today

__device__ float partial_sums[MAX_BLOCKS]; // one per block
__device__ unsigned tickets;               // taken in this pass

// Returns the sum of four elements loaded as one vector.
__device__ float add_up(float4 v)
{
    return v.x + v.y + v.z + v.w;
}

// Returns the sum over a warp in lane 0: each lane adds the register of the lane s above.
__device__ float reduce_warp(float sum)
{
    for (unsigned s = 16; s > 0; s /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, s);
    return sum;
}

// Returns the sum over a block in thread 0; shared memory holds one partial sum per warp.
template <unsigned block_size>
__device__ float reduce_block(float sum)
{
    __shared__ float sums[block_size / 32];
    const unsigned tid = threadIdx.x;
    sum = reduce_warp(sum);
    if (tid % 32 == 0)
        sums[tid / 32] = sum;
    __syncthreads();

    if (tid < 32)
        sum = reduce_warp(tid < block_size / 32 ? sums[tid] : 0);
    return sum;
}

// True in the last block that calls it; earlier writes of all blocks are visible there.
__device__ bool is_last_block()
{
    __shared__ bool is_last;
    if (threadIdx.x == 0) {
        cuda::atomic_ref<unsigned, cuda::thread_scope_device> ticket(tickets);
        is_last = ticket.fetch_add(1, cuda::memory_order_acq_rel) == gridDim.x - 1;
        if (is_last)
            ticket.store(0, cuda::memory_order_relaxed); // for the next launch
    }
    __syncthreads();
    return is_last;
}

// Returns, in thread 0, the sum of the tiles of this block.
template <unsigned block_size>
__device__ float add_tiles(const float *in, long long n, unsigned head)
{
    const unsigned tile = LOADS * block_size; // vectors
    const unsigned tid = threadIdx.x;
    const float4 *vectors = (const float4 *)(in + head);
    const long long count = (n - head) >> 2; // vectors
    float sum = 0.0f;
    long long start = (long long)blockIdx.x * tile;
    for (; start + tile <= count; start += gridDim.x * tile)
        for (unsigned k = 0; k < LOADS; k++) // none of these loads waits for a test
            sum += add_up(vectors[start + k * block_size + tid]);
    for (unsigned k = 0; k < LOADS; k++) // the last tile may be partial
        if (start + k * block_size + tid < count)
            sum += add_up(vectors[start + k * block_size + tid]);
    if (blockIdx.x == 0 && 4 * count + tid < n) // elements outside the vectors
        sum += in[tid < head ? tid : 4 * count + tid];
    return reduce_block<block_size>(sum);
}

template <unsigned block_size>
__global__ void reduce(const float *in, float *out, long long n, unsigned head)
{
    const unsigned tid = threadIdx.x;
    float sum = add_tiles<block_size>(in, n, head);
    if (gridDim.x > 1) {
        if (tid == 0)
            partial_sums[blockIdx.x] = sum;
        if (!is_last_block())
            return;
        sum = 0.0f;
        for (unsigned i = tid; i < gridDim.x; i += block_size)
            sum += partial_sums[i];
        sum = reduce_block<block_size>(sum);
    }
    if (tid == 0)
        *out = sum;
}

// Returns the number of blocks that the GPU can hold at once.
static long long resident_blocks()
{
    int blocks_per_sm, sm_count;
    CHECK(cudaDeviceGetAttribute(&sm_count, cudaDevAttrMultiProcessorCount, 0));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_per_sm, reduce<BLOCK_SIZE>,
                                                        BLOCK_SIZE, 0));
    return min((unsigned)(sm_count * blocks_per_sm), MAX_BLOCKS);
}

// Returns the number of blocks to launch.
static long long block_count(long long n)
{
    static const long long most = resident_blocks(); // queried only once
    const long long tile = 4 * LOADS * BLOCK_SIZE;   // elements
    return min((n + tile - 1) / tile, most);
}

// Returns the number of partial sums that one pass over n elements leaves.
static long long partial_count(long long)
{
    return 1;
}

// One pass: stores the partial sums of in[0 .. n) in out[0 .. partial_count(n)).
static void launch(const float *in, float *out, long long n)
{
    // A float4 is aligned to 16 bytes: up to three elements come before the first,
    // and up to three after the last.
    const long long unaligned = (16 - (uintptr_t)in % 16) % 16 / sizeof(float);
    const unsigned head = min(n, unaligned);
    reduce<BLOCK_SIZE><<<block_count(n), BLOCK_SIZE>>>(in, out, n, head);
    CHECK(cudaGetLastError());
}

// ==== Harness: the same in every step from here on; the lesson is above. ====

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

enum { BAD_ARGUMENT = 2, CANNOT_RUN = 77, ENOUGH_MS = 1000 };
static const long long MAX_ELEMENTS = 1ll << 38; // keeps every grid below 2^31 blocks
static const size_t PERIOD = 2 * 500009;         // elements; no stride or tile divides it

// Prints one line and exits if a CUDA call failed.
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

static void parse_arguments(int argc, char **argv, long long *n, bool *csv, bool *warm)
{
    for (int i = 1; i < argc; i++) {
        const std::string arg = argv[i];
        const bool digits = arg.find_first_not_of("0123456789") == std::string::npos;
        const long long count = digits ? strtoll(argv[i], nullptr, 10) : 0;
        if (arg == "--csv") {
            *csv = true;
        } else if (arg == "--warm") {
            *warm = true;
        } else if (*n == 0 && count >= 1 && count <= MAX_ELEMENTS) {
            *n = count;
        } else {
            fprintf(stderr,
                    "unusable argument '%s': accepted are --csv, --warm, n (1 to %lld)\n",
                    argv[i], MAX_ELEMENTS);
            exit(BAD_ARGUMENT);
        }
    }
    *n = *n == 0 ? 1ll << 26 : *n;
}

// Offset, in elements, of the array in every other pair of timed runs. At 2^30 elements,
// 128 bytes cost some programs 1 %, and 256 KiB cost nothing (docs/measuring.md). A small
// array ends where its allocation ends, so memcheck and the simulator detect reads past it.
static size_t shift_of(long long n)
{
    return n < 1ll << 27 ? 32 : 1 << 16;
}

struct Data {
    long long n, flush_count, busy_cycles;
    size_t partials;
    float *in;      // n + shift_of(n) + 1 elements
    float *scratch; // 2 * partials: the passes alternate
    float4 *flush;  // twice the L2 cache
    int flush_blocks, launches;
    cudaEvent_t start, stop;
    std::vector<long long> sums; // of the first 0, 1, ... PERIOD elements, in sixteenths
};

// Fills d->in. An element is 1 to 16 sixteenths, or -1 to -16: a lost 0 would go unnoticed.
// The second half of a period is the first with the signs changed, so sums stay small:
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
    const size_t all = d->n + shift_of(d->n) + 1;
    size_t filled = std::min(all, PERIOD);
    CHECK(cudaMemcpy(d->in, &values[0], filled * sizeof(float), cudaMemcpyDefault));
    for (size_t more; filled < all; filled += more) { // doubles each time
        more = std::min(all - filled, filled);
        CHECK(cudaMemcpy(d->in + filled, d->in, more * sizeof(float), cudaMemcpyDefault));
    }
}

// The sum, in sixteenths, of the elements from begin to end - 1.
static long long sum_between(const Data &d, size_t begin, size_t end)
{
    return d.sums[end % PERIOD] - d.sums[begin % PERIOD]; // a whole period adds up to 0
}

// Reads the whole buffer, which evicts the input from the L2 cache and leaves no dirty line
// in it. Runs for at least `cycles`, while the host enqueues the launches: otherwise short
// times would include the launch overhead.
__global__ void prepare(const float4 *flush, long long count, long long cycles,
                        float *never)
{
    const long long start = clock64();
    float sum = 0.0f;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count;
         i += gridDim.x * blockDim.x)
        sum += flush[i].x + flush[i].y + flush[i].z + flush[i].w;
    if (sum != 0) // the buffer holds zeros, but the compiler cannot know
        *never = sum;
    while (clock64() - start < cycles)
        continue;
}

// Runs one whole reduction of in[0 .. n), pass after pass until one value is left. Returns
// milliseconds; exits if the sum is not as expected (in sixteenths).
static float timed_run(Data *d, const float *in, long long expected)
{
    // All bits set is NaN: a partial sum that was never written makes the result NaN.
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

// Returns the sorted milliseconds of the timed runs, and checks each sum. A run changes the
// sign of an element, and each pair of runs moves the array, so a stale sum, of the whole
// array or of one block, is wrong.
static std::vector<float> time_runs(Data *d)
{
    const float warm_up_ms = timed_run(d, d->in, sum_between(*d, 0, d->n));
    // Also checks a run on an array that does not begin at a multiple of 16 bytes.
    timed_run(d, d->in + 1, sum_between(*d, 1, d->n + 1));
    std::vector<float> ms;
    float total_ms = 0;
    while (ms.size() < (warm_up_ms < ENOUGH_MS ? 3 : 1) ||
           (ms.size() < 100 && total_ms < ENOUGH_MS)) {
        const size_t begin = ms.size() % 4 < 2 ? shift_of(d->n) : 0;
        const size_t middle = begin + d->n / 2;
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
    bool csv = false, warm = false;
    parse_arguments(argc, argv, &d.n, &csv, &warm);
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
    d.partials = partial_count(d.n);
    CHECK(cudaMalloc(&d.in, (d.n + shift_of(d.n) + 1) * sizeof(float)));
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
    const double peak = 2.0 * memory_khz * bus_bits / 8 / 1e6; // two transfers a clock
    printf(csv ? "%s,%s,%lld,%d,%.6f,%.6f,%.6f,%.6f,%.3f,%.1f,PASS\n"
               : "%s on %s: n %lld, launches %d, ms %.4f (least %.4f, interquartile "
                 "range %.4f to %.4f), GB/s %.2f of %.0f, PASS\n",
           STEP, device.name, d.n, d.launches, median_ms, ms[0], ms[last / 4],
           ms[last - last / 4], gb_per_s, peak);
}
