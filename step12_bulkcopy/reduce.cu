// Step 12: bulk copies. A copy engine brings whole tiles into shared memory.
// The change: threads add one tile while the next is on its way; sm_90 and later.
// Build and run: nvcc -O3 -arch=native -o reduce reduce.cu && ./reduce

#include <cuda/atomic>
#include <cuda/ptx>
using namespace cuda::ptx;

#define CHECK(call) check(call, #call, __FILE__, __LINE__)
static void check(cudaError_t error, const char *call, const char *file, int line);

const unsigned BLOCK_SIZE = 512; // threads, a power of two
const unsigned TILE = 2048;      // vectors, 32 KiB
const unsigned STAGES = 2;       // tiles of a block, in flight at once
const unsigned SHARED_BYTES = STAGES * TILE * sizeof(float4);
const unsigned MAX_BLOCKS = 4096; // more than any GPU holds today

// One a block: 0 until its sum is there, then a 1 and, in the lower half, the sum's bits.
__device__ cuda::atomic<uint64_t, cuda::thread_scope_device> partial_sums[MAX_BLOCKS];
__device__ unsigned tickets; // taken in this pass

// The sum over a warp, in its lane 0: each lane hands its register to the lane s below.
__device__ float reduce_warp(float sum)
{
    for (unsigned s = 16; s > 0; s /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, s);
    return sum;
}

// The sum over a block, in its thread 0: one partial sum a warp goes through shared memory.
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

template <unsigned block_size>
__global__ void reduce(const float *in, float *out, size_t n)
{
#if __CUDA_ARCH__ >= 900
    extern __shared__ __align__(128) float4 tiles[][TILE]; // only at 16, it is slow
    __shared__ uint64_t ready[STAGES];                     // barriers that the copies open
    __shared__ bool is_last;
    const unsigned tid = threadIdx.x;
    // A float4 lies at a multiple of 16 bytes: up to three elements before the first one,
    // and up to three after the last, are left to the first threads.
    const size_t head = min(n, (0 - (size_t)in) % 16 / sizeof(float));
    const float4 *vectors = (const float4 *)(in + head);
    const size_t count = (n - head) / 4, rest = n - 4 * count;
    float sum = 0.0f;
    if (blockIdx.x == 0 && tid < rest)
        sum = in[tid < head ? tid : 4 * count + tid];
    const size_t stride = gridDim.x * TILE;
    const auto fetch = [&](size_t i, unsigned s) { // asks for the tile at i, if any
        if (i >= count)
            return;
        const unsigned size = min(count - i, (size_t)TILE) * sizeof(float4); // bytes
        cp_async_bulk(space_cluster, space_global, tiles[s], vectors + i, size, &ready[s]);
        mbarrier_arrive_expect_tx(sem_release, scope_cta, space_shared, &ready[s], size);
    };
    for (unsigned s = 0; tid == 0 && s < STAGES; s++) {
        mbarrier_init(&ready[s], 1);
        fence_proxy_async(); // the copy engine is to see it
        fetch(blockIdx.x * TILE + s * stride, s);
    }
    __syncthreads();
    for (size_t i = blockIdx.x * TILE, turn = 0; i < count; i += stride, turn++) {
        const unsigned s = turn % STAGES;
        while (!mbarrier_try_wait_parity(&ready[s], turn / STAGES % 2))
            continue;
        for (unsigned k = tid; k < TILE; k += block_size)
            if (i + k < count)
                sum += tiles[s][k].x + tiles[s][k].y + tiles[s][k].z + tiles[s][k].w;
        __syncthreads(); // all have read the tile
        if (tid == 0)
            fetch(i + STAGES * stride, s);
    }
    sum = reduce_block<block_size>(sum);
    if (gridDim.x > 1) {
        if (tid == 0) {
            // Sum and 1 arrive together: no fence has to bring them into order.
            partial_sums[blockIdx.x].store(uint64_t(1) << 32 | __float_as_uint(sum),
                                           cuda::memory_order_relaxed);
            // Counts up, and from the last ticket back to 0 for the next launch.
            is_last = atomicInc(&tickets, gridDim.x - 1) == gridDim.x - 1;
        }
        __syncthreads();
        if (!is_last)
            return;

        sum = 0.0f;
        for (unsigned i = tid; i < gridDim.x; i += block_size) {
            uint64_t partial; // its block has a ticket: it is there, or on its way
            while ((partial = partial_sums[i].load(cuda::memory_order_relaxed)) == 0)
                continue;
            sum += __uint_as_float((uint32_t)partial);
            partial_sums[i].store(0, cuda::memory_order_relaxed); // for the next launch
        }
        sum = reduce_block<block_size>(sum);
    }
    if (tid == 0)
        *out = sum;
#endif
}

// How many blocks to start: one a tile, but no more than the GPU holds at once.
static unsigned block_count(size_t n)
{
    static int sm_count, blocks_per_sm = 0; // asked for only once
    if (blocks_per_sm == 0) {
        cudaFuncAttributes kernel; // compiled for an older GPU it lacks the copies
        CHECK(cudaFuncGetAttributes(&kernel, reduce<BLOCK_SIZE>));
        if (kernel.ptxVersion < 90)
            CHECK(cudaErrorNoKernelImageForDevice);
        CHECK(cudaDeviceGetAttribute(&sm_count, cudaDevAttrMultiProcessorCount, 0));
        CHECK(cudaFuncSetAttribute(
            reduce<BLOCK_SIZE>, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_BYTES));
        CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
            &blocks_per_sm, reduce<BLOCK_SIZE>, BLOCK_SIZE, SHARED_BYTES));
    }
    const unsigned most = min((unsigned)(sm_count * blocks_per_sm), MAX_BLOCKS);
    return min((n + 4 * TILE - 1) / (4 * TILE), (size_t)most);
}

// How many partial sums one pass over n elements leaves.
static size_t partial_count(size_t)
{
    return 1;
}

// One pass: out[0 .. partial_count(n)) become the partial sums of in[0 .. n).
static void launch(const float *in, float *out, size_t n)
{
    reduce<BLOCK_SIZE><<<block_count(n), BLOCK_SIZE, SHARED_BYTES>>>(in, out, n);
    CHECK(cudaGetLastError());
}

// ==== Harness: the same in every step from here on; the lesson is above. ====

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

enum { BAD_ARGUMENT = 2, CANNOT_RUN = 77, ENOUGH_MS = 1000 };
static const size_t MAX_ELEMENTS = (size_t)1 << 38; // keeps every grid below 2^31 blocks

// Ends the program, in one line, where a CUDA call failed.
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

static void parse_arguments(int argc, char **argv, size_t *n, bool *csv, bool *warm)
{
    for (int i = 1; i < argc; i++) {
        const std::string arg = argv[i];
        const bool digits = arg.find_first_not_of("0123456789") == std::string::npos;
        const size_t count = digits ? strtoull(argv[i], nullptr, 10) : 0;
        if (arg == "--csv") {
            *csv = true;
        } else if (arg == "--warm") {
            *warm = true;
        } else if (*n == 0 && count >= 1 && count <= MAX_ELEMENTS) {
            *n = count;
        } else {
            fprintf(stderr,
                    "unusable argument '%s': accepted are --csv, --warm, n (1 to %zu)\n",
                    argv[i], MAX_ELEMENTS);
            exit(BAD_ARGUMENT);
        }
    }
    *n = *n == 0 ? (size_t)1 << 26 : *n;
}

// Fills in with whole numbers, -8 to 8, and returns their sum. No 0: it could go missing.
static long long fill(float *in, size_t n)
{
    std::vector<float> chunk(1 << 20);
    unsigned long long random = 1;
    long long sum = 0;
    for (size_t start = 0; start < n; start += chunk.size()) {
        const size_t count = std::min(n - start, chunk.size());
        for (size_t i = 0; i < count; i++) {
            random = random * 6364136223846793005u + 1442695040888963407u; // Knuth, MMIX
            const int value = (int)(random >> 60) - 8;
            chunk[i] = (float)(value + (value >= 0));
            sum += value + (value >= 0);
        }
        CHECK(cudaMemcpy(in + start, &chunk[0], count * sizeof(float), cudaMemcpyDefault));
    }
    return sum;
}

struct Data {
    size_t n, partials, flush_bytes;
    float *in, *scratch; // n elements; 2 * partials, for the passes to take turns
    void *flush;         // twice the L2 cache; nothing where it is to stay warm
    cudaEvent_t start, stop;
};

// One whole reduction, pass after pass until one value is left: *sum. Returns milliseconds.
static float timed_run(const Data &d, float *sum, int *launches)
{
    // All bits set is NaN: it shows where a partial sum was never written.
    CHECK(cudaMemsetAsync(d.scratch, 0xff, 2 * d.partials * sizeof(float)));
    // Empties the L2 cache, and keeps the GPU busy while the host queues the launches.
    CHECK(cudaMemsetAsync(d.flush, 0, d.flush_bytes));
    const float *in = d.in;
    *launches = 0;
    CHECK(cudaEventRecord(d.start));
    for (size_t n = d.n; n > 1 || *launches == 0; n = partial_count(n)) {
        float *out = d.scratch + *launches % 2 * d.partials;
        launch(in, out, n);
        in = out;
        ++*launches;
    }
    CHECK(cudaEventRecord(d.stop));
    CHECK(cudaMemcpy(sum, in, sizeof(float), cudaMemcpyDeviceToHost));
    float ms;
    CHECK(cudaEventElapsedTime(&ms, d.start, d.stop));
    return ms;
}

int main(int argc, char **argv)
{
    Data d = {};
    bool csv = false, warm = false;
    parse_arguments(argc, argv, &d.n, &csv, &warm);
    cudaDeviceProp device;
    int clock_khz, bus_bits;
    CHECK(cudaGetDeviceProperties(&device, 0));
    CHECK(cudaDeviceGetAttribute(&clock_khz, cudaDevAttrMemoryClockRate, 0));
    CHECK(cudaDeviceGetAttribute(&bus_bits, cudaDevAttrGlobalMemoryBusWidth, 0));
    d.partials = partial_count(d.n);
    d.flush_bytes = warm ? 0 : 2 * (size_t)device.l2CacheSize;
    CHECK(cudaMalloc(&d.in, d.n * sizeof(float)));
    CHECK(cudaMalloc(&d.scratch, 2 * d.partials * sizeof(float)));
    CHECK(cudaMalloc(&d.flush, d.flush_bytes));
    CHECK(cudaEventCreate(&d.start));
    CHECK(cudaEventCreate(&d.stop));
    const long long expected = fill(d.in, d.n);

    float sum, total_ms = 0;
    int launches;
    std::vector<float> ms;                                  // of the timed runs
    const float warm_up_ms = timed_run(d, &sum, &launches); // checked like the others
    while (sum == expected && ms.size() < 100 &&
           (ms.size() < (warm_up_ms > ENOUGH_MS ? 1 : 3) || total_ms < ENOUGH_MS)) {
        ms.push_back(timed_run(d, &sum, &launches));
        total_ms += ms.back();
    }
    if (sum != expected) {
        fprintf(stderr, "FAIL: the sum is %.0f, expected %lld\n", sum, expected);
        return EXIT_FAILURE;
    }
    std::sort(ms.begin(), ms.end());
    const double median_ms = (ms[(ms.size() - 1) / 2] + ms[ms.size() / 2]) / 2;
    const double gb_per_s = d.n * sizeof(float) / median_ms / 1e6;
    const double peak = 2.0 * clock_khz * bus_bits / 8 / 1e6; // two transfers a clock
    const std::string file = __FILE__; // ".../step03_sequential/reduce.cu"
    const std::string folder = file.substr(0, file.find_last_of('/'));
    printf(csv ? "%s,%s,%zu,%d,%.6f,%.6f,%.3f,%.1f,PASS\n"
               : "%s on %s: n %zu, launches %d, ms %.4f (least %.4f), GB/s %.2f of %.0f, "
                 "PASS\n",
           folder.substr(folder.rfind('/') + 1).c_str(), device.name, d.n, launches,
           median_ms, ms[0], gb_per_s, peak);
}
