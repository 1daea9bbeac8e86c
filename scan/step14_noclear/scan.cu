// Step 14: nothing to clear: words carry the number of their launch.
// The change: no memset comes first; an old word is not mistaken for a new one.
// Build and run: nvcc -O3 -arch=native -o scan scan.cu && ./scan

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda/atomic>
#include <cuda/ptx>

namespace ptx = cuda::ptx;

static const char STEP[] = "step14_noclear";

#define CHECK(call) check(call, #call, __FILE__, __LINE__)
static void check(cudaError_t error, const char *call, const char *file, int line);

const unsigned BLOCK_SIZE = 512;        // threads that scan, a power of two
const unsigned RUN = 8;                 // elements side by side that a thread owns
const unsigned TILE = BLOCK_SIZE * RUN; // elements that a block scans
const unsigned WARPS = BLOCK_SIZE / 32;
// One more warp that looks back, and one of which one thread copies.
const unsigned ALL_THREADS = BLOCK_SIZE + 64;
const unsigned VECTORS = RUN / 4; // of four elements, of a thread
const unsigned STAGES = 6;        // tiles that a block has in shared memory
const unsigned AHEAD = 3;         // so many tiles later a tile is scanned
const unsigned ASKED = 8;         // words that a lane asks for before it waits
static_assert(AHEAD < STAGES);

// The sum over the lanes of the warp up to this one.
__device__ float scan_warp(float sum)
{
    for (unsigned distance = 1; distance < 32; distance *= 2) {
        const float left = __shfl_up_sync(0xffffffff, sum, distance);
        if (threadIdx.x % 32 >= distance)
            sum += left;
    }
    return sum;
}

// A barrier for the threads that scan.
__device__ void sync_scanners()
{
    __barrier_sync_count(1, BLOCK_SIZE);
}

// The sum over the threads before this one in its block; *total becomes the sum over all.
__device__ float scan_block(float own, float *total)
{
    __shared__ float sums[WARPS]; // up to the end of each warp
    const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    sync_scanners(); // all have read the sums of the scan before
    const float sum = scan_warp(own);
    const float left = __shfl_up_sync(0xffffffff, sum, 1);
    if (lane == 31)
        sums[warp] = sum;
    sync_scanners();
    if (warp == 0) {
        const float sum_of_warps = scan_warp(lane < WARPS ? sums[lane] : 0.0f);
        if (lane < WARPS)
            sums[lane] = sum_of_warps;
    }
    sync_scanners();
    *total = sums[WARPS - 1];
    return (warp > 0 ? sums[warp - 1] : 0.0f) + (lane > 0 ? left : 0.0f);
}

// The sum of a run.
__device__ float add_run(const float4 *own)
{
    float sum = 0.0f;
    for (unsigned k = 0; k < VECTORS; k++)
        sum += own[k].x + own[k].y + own[k].z + own[k].w;
    return sum;
}

// Scans four elements. The sum before them is known; returns the sum with them.
__device__ float scan_vector(float4 *own, float before, bool exclusive)
{
    const float x = before + own->x, y = x + own->y, z = y + own->z, w = z + own->w;
    *own = exclusive ? make_float4(before, x, y, z) : make_float4(x, y, z, w);
    return w;
}

// Scans a run. The sum before it is known.
__device__ void scan_run(float4 *own, float before, bool exclusive)
{
    for (unsigned k = 0; k < VECTORS; k++)
        before = scan_vector(own + k, before, exclusive);
}

// A tile's word: above, in which launch its total came; below, the total. Whoever sees the
// one sees the other, because they come in one piece.
typedef unsigned long long Word;

__device__ unsigned drawn;       // tiles, in this launch
__device__ unsigned done_blocks; // that will not draw any more

__device__ void publish(Word *word, unsigned launch, float total)
{
    cuda::atomic_ref<Word, cuda::thread_scope_device>(*word).store(
        (Word)launch << 32 | __float_as_uint(total), cuda::memory_order_relaxed);
}

__device__ Word look(Word *word)
{
    return cuda::atomic_ref<Word, cuda::thread_scope_device>(*word).load(
        cuda::memory_order_relaxed);
}

// The tiles that a block is busy with, in shared memory. Its tile number i has the place
// i % STAGES. A barrier tells one group of threads that another is done with a place.
struct Pipeline {
    float4 vectors[STAGES][TILE / 4];
    long long tile[STAGES]; // its number in the array
    float before_tile[STAGES];
    uint64_t loaded[STAGES];  // the tile has come
    uint64_t known[STAGES];   // and the sum before it
    uint64_t scanned[STAGES]; // it can be written to memory
};

__device__ void init(Pipeline *p)
{
    for (unsigned place = 0; place < STAGES; place++) {
        ptx::mbarrier_init(&p->loaded[place], 1);
        ptx::mbarrier_init(&p->known[place], 1);
        ptx::mbarrier_init(&p->scanned[place], (unsigned)BLOCK_SIZE);
    }
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
}

__device__ void wait(uint64_t *barrier, unsigned phase)
{
    while (!ptx::mbarrier_try_wait_parity(barrier, phase % 2))
        continue;
}

// Draws a tile, and has it copied to its place. A block that has drawn one is running, so
// nobody waits for a tile whose block has not begun, in whichever order blocks begin.
// False if there was none left.
__device__ bool load_tile(Pipeline *p, unsigned i, const float *in, long long n)
{
    const unsigned place = i % STAGES;
    p->tile[place] = atomicAdd(&drawn, 1);
    const long long start = p->tile[place] * TILE;
    const unsigned count = max(0ll, min((long long)TILE, n - start)),
                   bytes = count / 4 * sizeof(float4);
    for (unsigned k = count / 4 * 4; k < count; k++) // the engine copies 16 bytes at a time
        ((float *)p->vectors[place])[k] = in[start + k];
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared,
                                   &p->loaded[place], bytes);
    if (bytes > 0)
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, p->vectors[place],
                           in + start, bytes, &p->loaded[place]);
    return start < n;
}

// Has a scanned tile copied to memory, and waits until its place is free.
__device__ void store_tile(Pipeline *p, unsigned i, float *out, long long n)
{
    const unsigned place = i % STAGES;
    const long long start = p->tile[place] * TILE;
    const unsigned count = min((long long)TILE, n - start),
                   bytes = count / 4 * sizeof(float4);
    for (unsigned k = count / 4 * 4; k < count; k++)
        out[start + k] = ((float *)p->vectors[place])[k];
    if (bytes > 0)
        ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out + start,
                           p->vectors[place], bytes);
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
}

// What one thread does: it keeps the copies going.
__device__ void copy_tiles(Pipeline *p, const float *in, float *out, long long n)
{
    bool more = true;
    for (unsigned i = 0; i < STAGES && more; i++)
        more = load_tile(p, i, in, n);
    for (unsigned i = 0; p->tile[i % STAGES] * TILE < n; i++) {
        wait(&p->scanned[i % STAGES], i / STAGES);
        store_tile(p, i, out, n);
        if (more)
            more = load_tile(p, i + STAGES, in, n);
    }
    if (atomicInc(&done_blocks, gridDim.x - 1) == gridDim.x - 1) // back to 0 with the last
        atomicExch(&drawn, 0);                                   // for the next launch
}

// The sum of the tiles from first on, before last. The lanes of a warp share them.
__device__ float add_totals(Word *words, unsigned launch, long long first, long long last)
{
    float sum = 0.0f;
    for (long long at = first + threadIdx.x % 32; at < last; at += 32 * ASKED) {
        Word seen[ASKED];
        bool all_there;
        do {
            all_there = true;
            for (unsigned k = 0; k < ASKED; k++) // all on their way before one is needed
                seen[k] =
                    at + 32 * k < last ? look(words + at + 32 * k) : (Word)launch << 32;
            for (unsigned k = 0; k < ASKED; k++)
                all_there = all_there && seen[k] >> 32 == launch;
        } while (!all_there);
        for (unsigned k = 0; k < ASKED; k++)
            sum += __uint_as_float((unsigned)seen[k]);
    }
    return __shfl_sync(0xffffffff, scan_warp(sum), 31);
}

// What one warp does: it finds the sum before each tile.
__device__ void look_back(Pipeline *p, long long n, Word *words, unsigned launch)
{
    long long last = 0;
    float before_tile = 0.0f; // before the last one
    for (unsigned i = 0;; i++) {
        const unsigned place = i % STAGES;
        wait(&p->loaded[place], i / STAGES);
        const long long tile = p->tile[place];
        if (tile * TILE >= n)
            return;
        before_tile += add_totals(words, launch, last, tile);
        last = tile;
        __syncwarp(); // all lanes have read the tile's number
        if (threadIdx.x % 32 == 0) {
            p->before_tile[place] = before_tile;
            ptx::mbarrier_arrive(&p->known[place]);
        }
    }
}

// What most threads do: they add up each tile, and scan it some tiles later.
__device__ void scan_places(Pipeline *p, long long n, bool exclusive, Word *words,
                            unsigned launch)
{
    float before_run[AHEAD + 1] = {}; // in the tile; that of the newest tile last
    bool more = true;
    for (unsigned i = 0;; i++) {
        unsigned place = i % STAGES;
        if (more)
            wait(&p->loaded[place], i / STAGES);
        for (unsigned k = 0; k < AHEAD; k++)
            before_run[k] = before_run[k + 1];
        more = more && p->tile[place] * TILE < n;
        if (more) {
            float total;
            const float4 *own = p->vectors[place] + threadIdx.x * VECTORS;
            before_run[AHEAD] = scan_block(add_run(own), &total);
            if (threadIdx.x == 0)
                publish(words + p->tile[place], launch, total);
        }
        if (i < AHEAD)
            continue;
        place = (i - AHEAD) % STAGES;
        if (p->tile[place] * TILE >= n)
            return;
        wait(&p->known[place], (i - AHEAD) / STAGES);
        float4 *own = p->vectors[place] + threadIdx.x * VECTORS;
        scan_run(own, p->before_tile[place] + before_run[0], exclusive);
        ptx::fence_proxy_async(ptx::space_shared); // for the copy engine to see
        ptx::mbarrier_arrive(&p->scanned[place]);
    }
}

// Scans the array. Each block draws tile after tile.
__global__ void scan_tiles(const float *in, float *out, long long n, bool exclusive,
                           Word *words, unsigned launch)
{
#if __CUDA_ARCH__ >= 900 // older GPUs have no such copy engine
    extern __shared__ __align__(128) char shared[];
    Pipeline *p = (Pipeline *)shared;
    if (threadIdx.x == 0)
        init(p);
    __syncthreads();
    if (threadIdx.x < BLOCK_SIZE)
        scan_places(p, n, exclusive, words, launch);
    else if (threadIdx.x < BLOCK_SIZE + 32)
        look_back(p, n, words, launch);
    else if (threadIdx.x == BLOCK_SIZE + 32)
        copy_tiles(p, in, out, n);
#endif
}

// How many floats of scratch memory a scan of n elements needs: a word for each tile.
// What it holds before the first launch must not look like a word: all bits set, or 0.
static long long scratch_count(long long n)
{
    return sizeof(Word) / sizeof(float) * ((n + TILE - 1) / TILE);
}

// How many blocks the GPU holds at once. Ends the program where it cannot run this kernel.
static long long resident_blocks()
{
    int blocks_per_sm, sm_count;
    cudaFuncAttributes kernel;
    CHECK(cudaFuncGetAttributes(&kernel, scan_tiles));
    if (kernel.ptxVersion < 90) {
        fprintf(stderr, "%s needs compute capability 9.0, and to be built for it\n", STEP);
        exit(77);
    }
    CHECK(cudaFuncSetAttribute(scan_tiles, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               sizeof(Pipeline)));
    CHECK(cudaDeviceGetAttribute(&sm_count, cudaDevAttrMultiProcessorCount, 0));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_per_sm, scan_tiles,
                                                        ALL_THREADS, sizeof(Pipeline)));
    return sm_count * blocks_per_sm;
}

// out[i] becomes in[0] + ... + in[i], or the sum before in[i] where it is exclusive.
// Returns the number of kernels launched.
static int launch(const float *in, float *out, long long n, bool exclusive, float *scratch)
{
    static const long long resident = resident_blocks(); // asked once
    const long long blocks = min((n + TILE - 1) / TILE, resident);
    static unsigned number = 0; // of the launch: from 1 on
    scan_tiles<<<blocks, ALL_THREADS, sizeof(Pipeline)>>>(in, out, n, exclusive,
                                                          (Word *)scratch, ++number);
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

struct Data {
    long long n, flush_count, busy_cycles;
    bool exclusive;
    float *in, *out;     // n elements each
    float *scratch;      // scratch_count(n)
    float4 *flush;       // twice the L2 cache
    long long *mistakes; // how many elements are wrong, and the first of them
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

// What the elements up to number i add up to, by choice: a whole number from -2^14 to
// 2^14 - 1, odd for every other i, so that no element is 0, which could go missing. (The
// mixing is that of SplitMix64.) Elements side by side add up to the difference of two such
// numbers, below 2^15, so float addition is exact for 512 such sums in any order. (For more
// it is too unless they happen to have nearly all the same sign.)
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

// Compares every element. A NaN is wrong too: what nobody wrote is still one.
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

// Reads the whole buffer: what the L2 cache held of the arrays is gone, and no line is left
// in it that would have to be written back later. Takes so many cycles at least, in which
// the host queues the launches; it would show in short times otherwise.
__global__ void prepare(const float4 *flush, long long count, long long cycles,
                        long long *never)
{
    const long long start = clock64();
    float sum = 0.0f;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count;
         i += gridDim.x * blockDim.x)
        sum += flush[i].x + flush[i].y + flush[i].z + flush[i].w;
    if (sum != 0) // it holds zeros, but the compiler cannot know
        *never = 1;
    while (clock64() - start < cycles)
        continue;
}

// One scan of fresh data. Returns milliseconds; ends the program where an element is wrong.
static float timed_run(Data *d, unsigned long long run)
{
    const long long none[] = {0, d->n};
    CHECK(cudaMemcpy(d->mistakes, none, sizeof none, cudaMemcpyHostToDevice));
    fill<<<8 * d->flush_blocks, 256>>>(d->in, d->n, run);
    // All bits set is NaN: it shows what was never written.
    CHECK(cudaMemsetAsync(d->out, 0xff, d->n * sizeof(float)));
    if (run % 2 == 0) // else it keeps what the run before left
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

// Milliseconds of each timed run, sorted.
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
    const double peak = 2.0 * memory_khz * bus_bits / 8 / 1e6; // two transfers a clock
    printf(csv ? "%s,%s,%lld,%d,%.6f,%.6f,%.6f,%.6f,%.3f,%.1f,PASS\n"
               : "%s on %s: n %lld, launches %d, ms %.4f (least %.4f, middle half %.4f "
                 "to %.4f), GB/s %.2f of %.0f, PASS\n",
           STEP, device.name, d.n, d.launches, median_ms, ms[0], ms[last / 4],
           ms[last - last / 4], gb_per_s, peak);
}
