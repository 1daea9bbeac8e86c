// Step 16: decoupled fallback instead of tickets.
// The change: after too many unsuccessful polls a warp adds up the missing tile itself.
// Build and run: nvcc -O3 -arch=native -o scan scan.cu && ./scan

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda/atomic>
#include <cuda/ptx>

namespace ptx = cuda::ptx;

static const char STEP[] = "step16_fallback";

#define CHECK(call) check(call, #call, __FILE__, __LINE__)
static void check(cudaError_t error, const char *call, const char *file, int line);

const unsigned BLOCK_SIZE = 512;          // scanning threads, a power of two
const unsigned ITEMS = 8;                 // consecutive elements per thread
const unsigned TILE = BLOCK_SIZE * ITEMS; // elements per tile
const unsigned WARPS = BLOCK_SIZE / 32;
// One more warp that looks back, and a producer warp, of which one thread issues copies.
const unsigned ALL_THREADS = BLOCK_SIZE + 64;
const unsigned VECTORS = ITEMS / 4; // float4 vectors per thread
const unsigned STAGES = 6;          // tiles of a block in shared memory
const unsigned AHEAD = 3;           // tiles between a tile's aggregate and its scan
const unsigned BATCH = 8;           // status words that a lane loads per poll
static_assert(AHEAD < STAGES);

// For small arrays.
const unsigned SMALL_BLOCK = 256;                   // threads per block
const unsigned ROWS = 4;                            // vectors per thread
const unsigned SMALL_TILE = SMALL_BLOCK * ROWS * 4; // elements per tile
const unsigned PATIENCE = 100;                      // polls before the fallback

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

// A named barrier for the scanning threads.
__device__ void sync_scanners()
{
    __barrier_sync_count(1, BLOCK_SIZE);
}

// Exclusive prefix sum over the threads of the block. Sets *aggregate to the whole sum.
__device__ float scan_block(float value, float *aggregate)
{
    __shared__ float sums[WARPS]; // inclusive prefixes of the warps' sums
    const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    sync_scanners(); // all threads have read the previous scan's sums
    const float sum = scan_warp(value);
    const float left = __shfl_up_sync(0xffffffff, sum, 1);
    if (lane == 31)
        sums[warp] = sum;
    sync_scanners();
    if (warp == 0) {
        const float warp_prefix = scan_warp(lane < WARPS ? sums[lane] : 0.0f);
        if (lane < WARPS)
            sums[lane] = warp_prefix;
    }
    sync_scanners();
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

// A tile's status word: a launch number (upper half) and its aggregate (lower half).
// Each access is a single 64-bit access, so both halves are from the same store.
typedef unsigned long long Status;

__device__ unsigned next_tile;   // tiles taken in this launch
__device__ unsigned done_blocks; // blocks that take no more tiles

__device__ void publish(Status *status, unsigned launch, float aggregate)
{
    cuda::atomic_ref<Status, cuda::thread_scope_device>(*status).store(
        (Status)launch << 32 | __float_as_uint(aggregate), cuda::memory_order_relaxed);
}

__device__ Status poll(Status *status)
{
    return cuda::atomic_ref<Status, cuda::thread_scope_device>(*status).load(
        cuda::memory_order_relaxed);
}

// The pipeline stages of a block, in shared memory. The block's i-th tile uses stage
// i % STAGES. An mbarrier signals that one group of threads is done with a stage.
struct Pipeline {
    float4 vectors[STAGES][TILE / 4];
    long long tile[STAGES]; // index of the tile in the array
    float tile_prefix[STAGES];
    uint64_t loaded[STAGES];  // the tile has arrived
    uint64_t known[STAGES];   // its prefix has been computed
    uint64_t scanned[STAGES]; // the tile can be stored
};

__device__ void init(Pipeline *p)
{
    for (unsigned stage = 0; stage < STAGES; stage++) {
        ptx::mbarrier_init(&p->loaded[stage], 1);
        ptx::mbarrier_init(&p->known[stage], 1);
        ptx::mbarrier_init(&p->scanned[stage], (unsigned)BLOCK_SIZE);
    }
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
}

__device__ void wait(uint64_t *barrier, unsigned phase)
{
    while (!ptx::mbarrier_try_wait_parity(barrier, phase % 2))
        continue;
}

// Takes a tile, and starts its copy. Only a running block takes tiles, so no block waits
// for a tile whose block has not started, whatever the order in which blocks start.
// Returns false if no tile was left.
__device__ bool load_tile(Pipeline *p, unsigned i, const float *in, long long n)
{
    const unsigned stage = i % STAGES;
    p->tile[stage] = atomicAdd(&next_tile, 1);
    const long long start = p->tile[stage] * TILE;
    const unsigned count = max(0ll, min((long long)TILE, n - start)),
                   bytes = count / 4 * sizeof(float4);
    for (unsigned k = count / 4 * 4; k < count; k++) // TMA copies multiples of 16 bytes
        ((float *)p->vectors[stage])[k] = in[start + k];
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared,
                                   &p->loaded[stage], bytes);
    if (bytes > 0)
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, p->vectors[stage],
                           in + start, bytes, &p->loaded[stage]);
    return start < n;
}

// Starts the copy of a scanned tile to memory, and waits until its stage can be reused.
__device__ void store_tile(Pipeline *p, unsigned i, float *out, long long n)
{
    const unsigned stage = i % STAGES;
    const long long start = p->tile[stage] * TILE;
    const unsigned count = min((long long)TILE, n - start),
                   bytes = count / 4 * sizeof(float4);
    for (unsigned k = count / 4 * 4; k < count; k++)
        out[start + k] = ((float *)p->vectors[stage])[k];
    if (bytes > 0)
        ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out + start,
                           p->vectors[stage], bytes);
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
}

// The producer thread: issues the loads and stores of all tiles.
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
    if (atomicInc(&done_blocks, gridDim.x - 1) == gridDim.x - 1) // the last one resets it
        atomicExch(&next_tile, 0);                               // for the next launch
}

// The sum of tiles first to end - 1. The lanes of a warp share the polling.
__device__ float sum_tiles(Status *status, unsigned launch, long long first, long long end)
{
    float sum = 0.0f;
    for (long long at = first + threadIdx.x % 32; at < end; at += 32 * BATCH) {
        Status seen[BATCH];
        bool all_valid;
        do {
            all_valid = true;
            for (unsigned k = 0; k < BATCH; k++) // all loads in flight at once
                seen[k] =
                    at + 32 * k < end ? poll(status + at + 32 * k) : (Status)launch << 32;
            for (unsigned k = 0; k < BATCH; k++)
                all_valid = all_valid && seen[k] >> 32 == launch;
        } while (!all_valid);
        for (unsigned k = 0; k < BATCH; k++)
            sum += __uint_as_float((unsigned)seen[k]);
    }
    return __shfl_sync(0xffffffff, scan_warp(sum), 31);
}

// The look-back warp: computes each tile's exclusive prefix.
__device__ void look_back(Pipeline *p, long long n, Status *status, unsigned launch)
{
    long long previous = 0;
    float tile_prefix = 0.0f; // exclusive, of the previous tile
    for (unsigned i = 0;; i++) {
        const unsigned stage = i % STAGES;
        wait(&p->loaded[stage], i / STAGES);
        const long long tile = p->tile[stage];
        if (tile * TILE >= n)
            return;
        tile_prefix += sum_tiles(status, launch, previous, tile);
        previous = tile;
        __syncwarp(); // all lanes have read the tile index
        if (threadIdx.x % 32 == 0) {
            p->tile_prefix[stage] = tile_prefix;
            ptx::mbarrier_arrive(&p->known[stage]);
        }
    }
}

// The consumer warps: add up each tile, and scan it AHEAD tiles later.
__device__ void scan_stages(Pipeline *p, long long n, bool exclusive, Status *status,
                            unsigned launch)
{
    float thread_prefix[AHEAD + 1] = {}; // within the tile; newest tile last
    bool more = true;
    for (unsigned i = 0;; i++) {
        unsigned stage = i % STAGES;
        if (more)
            wait(&p->loaded[stage], i / STAGES);
        for (unsigned k = 0; k < AHEAD; k++)
            thread_prefix[k] = thread_prefix[k + 1];
        more = more && p->tile[stage] * TILE < n;
        if (more) {
            float aggregate;
            const float4 *items = p->vectors[stage] + threadIdx.x * VECTORS;
            thread_prefix[AHEAD] = scan_block(add_items(items), &aggregate);
            if (threadIdx.x == 0)
                publish(status + p->tile[stage], launch, aggregate);
        }
        if (i < AHEAD)
            continue;
        stage = (i - AHEAD) % STAGES;
        if (p->tile[stage] * TILE >= n)
            return;
        wait(&p->known[stage], (i - AHEAD) / STAGES);
        float4 *items = p->vectors[stage] + threadIdx.x * VECTORS;
        scan_items(items, p->tile_prefix[stage] + thread_prefix[0], exclusive);
        ptx::fence_proxy_async(ptx::space_shared); // make the writes visible to TMA
        ptx::mbarrier_arrive(&p->scanned[stage]);
    }
}

// Scans the array. Each block takes tile after tile.
__global__ void scan_tiles(const float *in, float *out, long long n, bool exclusive,
                           Status *status, unsigned launch)
{
#if __CUDA_ARCH__ >= 900 // older GPUs have no TMA
    extern __shared__ __align__(128) char shared[];
    Pipeline *p = (Pipeline *)shared;
    if (threadIdx.x == 0)
        init(p);
    __syncthreads();
    if (threadIdx.x < BLOCK_SIZE)
        scan_stages(p, n, exclusive, status, launch);
    else if (threadIdx.x < BLOCK_SIZE + 32)
        look_back(p, n, status, launch);
    else if (threadIdx.x == BLOCK_SIZE + 32)
        copy_tiles(p, in, out, n);
#endif
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

// Fallback: one warp adds up a tile of another block, and publishes the aggregate.
// The tile is full, because it is not the last one.
__device__ void fall_back(const float *in, Status *status, unsigned launch, unsigned tile)
{
    const float *start = in + (long long)tile * SMALL_TILE;
    float sum = 0.0f;
    for (unsigned k = threadIdx.x % 32; k < SMALL_TILE; k += 32)
        sum += start[k];
    sum = scan_warp(sum);
    if (threadIdx.x % 32 == 31)
        publish(status + tile, launch, sum);
}

// The exclusive prefix of a tile, computed by one warp. If an aggregate is late, the
// warp adds up that tile itself, so it never depends on a block that has not started.
__device__ float add_tiles_before(const float *in, Status *status, unsigned launch,
                                  unsigned tile)
{
    const unsigned lane = threadIdx.x % 32;
    float sum = 0.0f;
    for (unsigned base = 0; base < tile; base += 32 * BATCH)
        for (unsigned polls = 1;; polls++) {
            unsigned missing = 0; // bit k: this lane's k-th status word is invalid
            float part = 0.0f;
            Status seen[BATCH];
            for (unsigned k = 0; k < BATCH; k++) // all loads in flight at once
                seen[k] = base + 32 * k + lane < tile ? poll(status + base + 32 * k + lane)
                                                      : (Status)launch << 32;
            for (unsigned k = 0; k < BATCH; k++) {
                missing |= (seen[k] >> 32 != launch) << k;
                part += __uint_as_float((unsigned)seen[k]);
            }
            if (!__any_sync(0xffffffff, missing)) {
                sum += __shfl_sync(0xffffffff, scan_warp(part), 31);
                break;
            }
            for (unsigned k = 0; polls % PATIENCE == 0 && k < BATCH; k++)
                for (unsigned late = __ballot_sync(0xffffffff, missing >> k & 1); late != 0;
                     late &= late - 1)
                    fall_back(in, status, launch, base + 32 * k + __ffs(late) - 1);
        }
    return sum;
}

// Scans a small array: one tile per block, from memory to registers and back. A warp
// loads its elements in a warp-striped arrangement (coalesced), a row at a time.
__global__ void __launch_bounds__(SMALL_BLOCK, 4)
    scan_small(const float *in, float *out, long long n, bool exclusive, Status *status,
               unsigned launch)
{
    __shared__ float sums[SMALL_BLOCK / 32]; // of the warps, then their exclusive prefixes
    const unsigned tile = blockIdx.x, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const long long start = (long long)tile * SMALL_TILE + 4 * (warp * 32 * ROWS + lane);
    float4 items[ROWS];
    float prefix[ROWS], sum = 0.0f; // of each vector, within the warp
    for (unsigned k = 0; k < ROWS; k++)
        items[k] = load_vector(in, start + 128 * k, n);
    for (unsigned k = 0; k < ROWS; k++) {
        const float row = scan_warp(items[k].x + items[k].y + items[k].z + items[k].w);
        const float left = __shfl_up_sync(0xffffffff, row, 1);
        prefix[k] = sum + (lane > 0 ? left : 0.0f);
        sum += __shfl_sync(0xffffffff, row, 31);
    }
    if (lane == 0)
        sums[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        const float warp_prefix = scan_warp(lane < SMALL_BLOCK / 32 ? sums[lane] : 0.0f);
        const float left = __shfl_up_sync(0xffffffff, warp_prefix, 1);
        if (lane == 31)
            publish(status + tile, launch, warp_prefix);
        const float tile_prefix = add_tiles_before(in, status, launch, tile);
        if (lane < SMALL_BLOCK / 32)
            sums[lane] = tile_prefix + (lane > 0 ? left : 0.0f);
    }
    __syncthreads();
    for (unsigned k = 0; k < ROWS; k++) {
        scan_vector(items + k, sums[warp] + prefix[k], exclusive);
        store_vector(out, start + 128 * k, n, items[k]);
    }
}

// Floats of scratch memory for a scan of n elements: a status word for each tile.
// Initially all bits must be 0, or all 1, so that no status word looks valid.
static long long scratch_count(long long n)
{
    return sizeof(Status) / sizeof(float) * ((n + TILE - 1) / TILE);
}

// Resident blocks of a kernel on the whole GPU.
template <class Kernel>
static long long resident_blocks(Kernel kernel, unsigned threads, size_t shared_bytes)
{
    int blocks_per_sm, sm_count;
    CHECK(cudaDeviceGetAttribute(&sm_count, cudaDevAttrMultiProcessorCount, 0));
    CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               shared_bytes));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_per_sm, kernel, threads,
                                                        shared_bytes));
    return sm_count * blocks_per_sm;
}

// Resident blocks of the pipeline kernel. Exits if the GPU cannot run it.
static long long pipeline_blocks()
{
    cudaFuncAttributes kernel;
    CHECK(cudaFuncGetAttributes(&kernel, scan_tiles));
    if (kernel.ptxVersion < 90) {
        fprintf(stderr, "%s needs compute capability 9.0, and to be built for it\n", STEP);
        exit(77);
    }
    return resident_blocks(scan_tiles, ALL_THREADS, sizeof(Pipeline));
}

// Sets out[i] to in[0] + ... + in[i], or to the sum before in[i] if exclusive. The arrays
// must not overlap: a fallback reads input that another block may already overwrite.
// Returns the number of kernels launched.
static int launch(const float *in, float *out, long long n, bool exclusive, float *scratch)
{
    static const long long resident = resident_blocks(scan_small, SMALL_BLOCK, 0); // cached
    static unsigned number = 0; // launch number, from 1
    Status *status = (Status *)scratch;
    number++;
    if (n <= resident * SMALL_TILE) { // at most one tile per resident block
        const unsigned blocks = (n + SMALL_TILE - 1) / SMALL_TILE;
        scan_small<<<blocks, SMALL_BLOCK>>>(in, out, n, exclusive, status, number);
    } else {
        static const long long blocks = pipeline_blocks();
        scan_tiles<<<blocks, ALL_THREADS, sizeof(Pipeline)>>>(in, out, n, exclusive, status,
                                                              number);
    }
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
