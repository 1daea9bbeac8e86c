// Lab segmented, step 02: the pipeline of the prefix sum, with pairs instead of sums.
// The change: a flag next to each sum: a segment begins. Keys are needed only briefly.
// Build and run: nvcc -O3 -arch=native -o segmented segmented.cu && ./segmented

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda/atomic>
#include <cuda/ptx>

namespace ptx = cuda::ptx;

static const char STEP[] = "step02_pairs";

#define CHECK(call) check(call, #call, __FILE__, __LINE__)
static void check(cudaError_t error, const char *call, const char *file, int line);

static const long long STEP_MAX_ELEMENTS = 1ll << 30;
static const bool ONLY_SUMS = false; // a result for each element

const unsigned BLOCK_SIZE = 512;          // scanning threads, in whole warps
const unsigned ITEMS = 8;                 // consecutive elements per thread
const unsigned TILE = BLOCK_SIZE * ITEMS; // elements per tile
const unsigned WARPS = BLOCK_SIZE / 32;
// One more warp that looks back, and a producer warp, of which one thread issues copies.
const unsigned ALL_THREADS = BLOCK_SIZE + 64;
const unsigned STAGES = 4;               // tiles in progress in a block
const unsigned AHEAD = 2;                // tiles between a tile's aggregate and its scan
const unsigned BUFFERS = STAGES - AHEAD; // for tiles whose keys are still needed
const unsigned BATCH = 8;                // status words that a lane loads per poll
static_assert(AHEAD < STAGES);

// Summary of consecutive elements: whether a segment begins among them, and the sum of
// those in the last segment.
struct Pair {
    bool begins;
    float sum;
};

// The operator of the scan: the summary of left and right together.
__device__ Pair combine(Pair left, Pair right)
{
    return {left.begins || right.begins, right.begins ? right.sum : left.sum + right.sum};
}

__device__ Pair shuffle_up(Pair pair, unsigned distance)
{
    return {(bool)__shfl_up_sync(0xffffffff, pair.begins, distance),
            __shfl_up_sync(0xffffffff, pair.sum, distance)};
}

// Inclusive scan over the lanes of the warp.
__device__ Pair scan_warp(Pair pair)
{
    for (unsigned distance = 1; distance < 32; distance *= 2) {
        const Pair left = shuffle_up(pair, distance);
        if (threadIdx.x % 32 >= distance)
            pair = combine(left, pair);
    }
    return pair;
}

// A named barrier for the scanning threads.
__device__ void sync_scanners()
{
    __barrier_sync_count(1, BLOCK_SIZE);
}

// Exclusive scan over the threads of the block. Sets *aggregate to the block's pair.
__device__ Pair scan_block(Pair own, Pair *aggregate)
{
    __shared__ Pair pairs[WARPS]; // inclusive, over the warps
    const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    sync_scanners(); // all threads have read the previous scan's pairs
    const Pair pair = scan_warp(own), left = shuffle_up(pair, 1);
    if (lane == 31)
        pairs[warp] = pair;
    sync_scanners();
    if (warp == 0) {
        const Pair warp_prefix = scan_warp(lane < WARPS ? pairs[lane] : Pair{false, 0.0f});
        if (lane < WARPS)
            pairs[lane] = warp_prefix;
    }
    sync_scanners();
    *aggregate = pairs[WARPS - 1];
    const Pair before_warp = warp > 0 ? pairs[warp - 1] : Pair{false, 0.0f};
    return lane > 0 ? combine(before_warp, left) : before_warp;
}

// A thread's elements of a tile, loaded and stored 16 bytes at a time.
template <typename T>
struct alignas(16) Items {
    T elements[ITEMS];
};

// One bit per element: a segment begins there. key: that of the preceding element.
__device__ unsigned find_begins(Items<int> keys, int key)
{
    unsigned begins = 0;
    for (unsigned k = 0; k < ITEMS; k++) {
        begins |= (keys.elements[k] != key) << k;
        key = keys.elements[k];
    }
    return begins;
}

// The pair of a thread's elements.
__device__ Pair add_items(Items<float> own, unsigned begins)
{
    Pair pair = {false, 0.0f};
    for (unsigned k = 0; k < ITEMS; k++)
        pair = combine(pair, {(bool)(begins >> k & 1), own.elements[k]});
    return pair;
}

// Returns the result of one element, and advances *before to the next.
__device__ float scan_element(float own, bool begins, float *before, bool exclusive)
{
    const float without = begins ? 0.0f : *before;
    *before = without + own;
    return exclusive ? without : *before;
}

// Scans a thread's elements, given the sum before them.
__device__ void scan_items(Items<float> *own, unsigned begins, float before, bool exclusive)
{
    Items<float> items = *own;
    for (unsigned k = 0; k < ITEMS; k++)
        items.elements[k] =
            scan_element(items.elements[k], begins >> k & 1, &before, exclusive);
    *own = items;
}

// A tile's status word. Upper half: the launch number, and one bit: a segment begins. Lower
// half: the aggregate's sum. Each access is a single 64-bit access to both halves.
typedef unsigned long long Status;

__device__ unsigned next_tile;   // tiles taken in this launch
__device__ unsigned done_blocks; // blocks that take no more tiles

__device__ Status make_status(unsigned launch, Pair aggregate)
{
    return (Status)(2 * launch + aggregate.begins) << 32 | __float_as_uint(aggregate.sum);
}

__device__ bool is_from(Status status, unsigned launch)
{
    return status >> 33 == launch;
}

__device__ Pair pair_of(Status status)
{
    return {(bool)(status >> 32 & 1), __uint_as_float((unsigned)status)};
}

__device__ void publish(Status *status, unsigned launch, Pair aggregate)
{
    cuda::atomic_ref<Status, cuda::thread_scope_device>(*status).store(
        make_status(launch, aggregate), cuda::memory_order_relaxed);
}

__device__ Status poll(Status *status)
{
    return cuda::atomic_ref<Status, cuda::thread_scope_device>(*status).load(
        cuda::memory_order_relaxed);
}

// The pipeline stages of a block, in shared memory. The block's i-th tile uses stage
// i % STAGES; buffers needed only until its aggregate is known have index i % BUFFERS. An
// mbarrier signals that one group of threads is done with a stage.
struct Pipeline {
    Items<float> values[STAGES][BLOCK_SIZE];
    Items<int> keys[BUFFERS][BLOCK_SIZE];
    long long tile[STAGES];    // index of the tile in the array
    int key_before[STAGES];    // key of the element before the tile
    float tile_prefix[STAGES]; // exclusive, within the segment
    uint64_t loaded[STAGES];   // the tile has arrived
    uint64_t known[STAGES];    // its prefix has been computed
    uint64_t done[STAGES];     // its aggregate is known, and tile i - AHEAD is scanned
};
static_assert(sizeof(Pipeline) <= 99 * 1024); // available on each GPU with TMA

__device__ void init(Pipeline *p)
{
    for (unsigned stage = 0; stage < STAGES; stage++) {
        ptx::mbarrier_init(&p->loaded[stage], 1);
        ptx::mbarrier_init(&p->known[stage], 1);
        ptx::mbarrier_init(&p->done[stage], (unsigned)BLOCK_SIZE);
    }
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
}

__device__ void wait(uint64_t *barrier, unsigned phase)
{
    while (!ptx::mbarrier_try_wait_parity(barrier, phase % 2))
        continue;
}

// The key of the element that precedes this thread's elements in tile i.
__device__ int preceding_key(const Pipeline *p, unsigned i, Items<int> own)
{
    const int left = __shfl_up_sync(0xffffffff, own.elements[ITEMS - 1], 1);
    if (threadIdx.x % 32 > 0)
        return left;
    return threadIdx.x > 0 ? p->keys[i % BUFFERS][threadIdx.x - 1].elements[ITEMS - 1]
                           : p->key_before[i % STAGES];
}

// Takes a tile, and starts its copy. Only a running block takes tiles, so no block waits
// for a tile whose block has not started, whatever the order in which blocks start.
// Returns false if no tile was left.
__device__ bool load_tile(Pipeline *p, unsigned i, const int *keys, const float *in,
                          long long n)
{
    const unsigned stage = i % STAGES;
    p->tile[stage] = atomicAdd(&next_tile, 1);
    const long long start = p->tile[stage] * TILE;
    const unsigned count = max(0ll, min((long long)TILE, n - start)),
                   bytes = count / 4 * sizeof(float4);
    float *stage_values = p->values[stage][0].elements;
    int *stage_keys = p->keys[i % BUFFERS][0].elements;
    for (unsigned k = count / 4 * 4; k < count; k++) { // TMA: multiples of 16 bytes
        stage_values[k] = in[start + k];
        stage_keys[k] = keys[start + k];
    }
    p->key_before[stage] = keys[max(0ll, min(start, n) - 1)]; // element 0 uses its own key
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared,
                                   &p->loaded[stage], 2 * bytes);
    if (bytes > 0) {
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, stage_values, in + start,
                           bytes, &p->loaded[stage]);
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, stage_keys, keys + start,
                           bytes, &p->loaded[stage]);
    }
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
        out[start + k] = ((float *)p->values[stage])[k];
    if (bytes > 0)
        ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out + start,
                           p->values[stage], bytes);
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
}

// The producer thread: issues all copies.
__device__ void copy_tiles(Pipeline *p, const int *keys, const float *in, float *out,
                           long long n)
{
    bool more = true;
    for (unsigned i = 0; i < BUFFERS && more; i++)
        more = load_tile(p, i, keys, in, n);
    for (unsigned i = 0; i < AHEAD || p->tile[(i - AHEAD) % STAGES] * TILE < n; i++) {
        wait(&p->done[i % STAGES], i / STAGES);
        if (i >= AHEAD)
            store_tile(p, i - AHEAD, out, n);
        if (more)
            more = load_tile(p, i + BUFFERS, keys, in, n);
    }
    if (atomicInc(&done_blocks, gridDim.x - 1) == gridDim.x - 1) // the last one resets it
        atomicExch(&next_tile, 0);                               // for the next launch
}

// Returns the exclusive prefix of tile end, given that of tile first. The lanes share the
// polling.
__device__ float sum_tiles(Status *status, unsigned launch, long long first, long long end,
                           float prefix)
{
    const unsigned lane = threadIdx.x % 32;
    for (; first < end; first += 32 * BATCH) {
        Status seen[BATCH];
        bool all_valid;
        do {
            all_valid = true;
            for (unsigned k = 0; k < BATCH; k++) { // all loads in flight at once
                const long long tile = first + 32 * k + lane;
                seen[k] =
                    tile < end ? poll(status + tile) : make_status(launch, {false, 0.0f});
            }
            for (unsigned k = 0; k < BATCH; k++)
                all_valid = all_valid && is_from(seen[k], launch);
        } while (!__all_sync(0xffffffff, all_valid));
        unsigned begin_tile = 0; // the last of these tiles in which a segment begins
        bool begins = false;
        for (unsigned k = 0; k < BATCH; k++) {
            const unsigned lanes = __ballot_sync(0xffffffff, pair_of(seen[k]).begins);
            begins = begins || lanes != 0;
            begin_tile = lanes != 0 ? 32 * k + 31 - __clz(lanes) : begin_tile;
        }
        float sum = 0.0f;
        for (unsigned k = 0; k < BATCH; k++)
            sum += 32 * k + lane >= begin_tile ? pair_of(seen[k]).sum : 0.0f;
        for (unsigned distance = 16; distance > 0; distance /= 2)
            sum += __shfl_xor_sync(0xffffffff, sum, distance);
        prefix = begins ? sum : prefix + sum;
    }
    return prefix;
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
        tile_prefix = sum_tiles(status, launch, previous, tile, tile_prefix);
        previous = tile;
        __syncwarp(); // all lanes have read the tile index
        if (threadIdx.x % 32 == 0) {
            p->tile_prefix[stage] = tile_prefix;
            ptx::mbarrier_arrive(&p->known[stage]);
        }
    }
}

// What a thread keeps in registers of a tile whose aggregate is published but which is not
// yet scanned.
struct PendingTile {
    unsigned begins;    // see find_begins
    Pair thread_prefix; // exclusive, within the tile
};

// The consumer warps: add up each tile, and scan it AHEAD tiles later.
__device__ void scan_stages(Pipeline *p, long long n, bool exclusive, Status *status,
                            unsigned launch)
{
    PendingTile pending[AHEAD + 1] = {}; // newest tile last
    bool more = true;
    for (unsigned i = 0;; i++) {
        unsigned stage = i % STAGES;
        if (more)
            wait(&p->loaded[stage], i / STAGES);
        for (unsigned k = 0; k < AHEAD; k++)
            pending[k] = pending[k + 1];
        more = more && p->tile[stage] * TILE < n;
        if (more) {
            Pair aggregate;
            const Items<int> keys = p->keys[i % BUFFERS][threadIdx.x];
            const unsigned begins = find_begins(keys, preceding_key(p, i, keys));
            const Pair own = add_items(p->values[stage][threadIdx.x], begins);
            pending[AHEAD] = {begins, scan_block(own, &aggregate)};
            if (threadIdx.x == 0)
                publish(status + p->tile[stage], launch, aggregate);
        }
        if (i >= AHEAD) {
            stage = (i - AHEAD) % STAGES;
            if (p->tile[stage] * TILE >= n)
                return;
            wait(&p->known[stage], (i - AHEAD) / STAGES);
            const Pair before =
                combine({false, p->tile_prefix[stage]}, pending[0].thread_prefix);
            scan_items(&p->values[stage][threadIdx.x], pending[0].begins, before.sum,
                       exclusive);
            ptx::fence_proxy_async(ptx::space_shared); // make the writes visible to TMA
        }
        ptx::mbarrier_arrive(&p->done[i % STAGES]);
    }
}

// Scans the array. Each block takes tile after tile.
__global__ void scan_tiles(const int *keys, const float *in, float *out, long long n,
                           bool exclusive, Status *status, unsigned launch)
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
        copy_tiles(p, keys, in, out, n);
#endif
}

// Floats of scratch memory for a scan of n elements: a status word for each tile.
// Initially all bits must be 0, or all 1, so that no status word looks valid.
static long long scratch_count(long long n)
{
    return sizeof(Status) / sizeof(float) * ((n + TILE - 1) / TILE);
}

// Resident blocks on the whole GPU. Exits if the GPU cannot run this kernel.
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

// Stores the sum of i's segment up to in[i], or before in[i] if exclusive, in out[i].
static void launch(const int *keys, const float *in, float *out, long long n,
                   bool exclusive, float *scratch)
{
    static const long long resident = resident_blocks(); // cached
    const long long blocks = min((n + TILE - 1) / TILE, resident);
    static unsigned number = 0; // launch number, from 1
    scan_tiles<<<blocks, ALL_THREADS, sizeof(Pipeline)>>>(keys, in, out, n, exclusive,
                                                          (Status *)scratch, ++number);
    CHECK(cudaGetLastError());
}

// ==== Harness: the same in every step of this lab from here on; the lesson is above. ====

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

enum { BAD_ARGUMENT = 2, CANNOT_RUN = 77, ENOUGH_MS = 500, MAX_RUNS = 51 };
static const long long MAX_ELEMENTS = 1ll << 30; // a key is an int

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

struct Data {
    long long n, flush_count, busy_cycles;
    long long mean; // length of a segment; 0: all elements are one segment
    bool exclusive;
    int *keys;           // n: the segment of each element
    float *in, *out;     // n elements each
    float *scratch;      // scratch_count(n)
    float4 *flush;       // twice the L2 cache
    long long *mistakes; // number of wrong elements, and index of the first
    int flush_blocks;
    cudaEvent_t start, stop;
};

static void parse_arguments(int argc, char **argv, Data *d, bool *csv)
{
    for (int i = 1; i < argc; i++) {
        const std::string arg = argv[i];
        const bool digits = arg.find_first_not_of("0123456789") == std::string::npos;
        const long long count = digits ? strtoll(argv[i], nullptr, 10) : 0;
        if (arg == "--csv") {
            *csv = true;
        } else if (arg == "--exclusive") {
            d->exclusive = true;
        } else if (d->n == 0 && count >= 1 && count <= MAX_ELEMENTS) {
            d->n = count;
        } else {
            fprintf(stderr,
                    "unusable argument '%s': accepted are --csv, --exclusive, "
                    "SIZE (1 to %lld)\n",
                    argv[i], MAX_ELEMENTS);
            exit(BAD_ARGUMENT);
        }
    }
    d->n = std::min(d->n == 0 ? 1ll << 26 : d->n, STEP_MAX_ELEMENTS);
}

// The bit mixer of SplitMix64.
__device__ unsigned long long hash(unsigned long long bits)
{
    bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9u;
    return (bits ^ bits >> 27) * 0x94d049bb133111ebu;
}

// The segment of element i. In each `mean` consecutive elements one segment begins, at a
// random one.
__device__ int key_at(long long i, long long mean)
{
    if (mean == 0)
        return 0;
    const long long piece = i / mean;
    const long long begin = hash((piece + 1) * 0x9e3779b97f4a7c15u) % mean;
    return piece + (i % mean >= begin);
}

// The chosen sum of i's segment up to i: an integer from -2^14 to 2^14 - 1, odd for every
// other i. Sums of consecutive elements stay below 2^15, so float addition is exact.
__device__ float sum_up_to(long long i, unsigned long long run)
{
    const unsigned long long bits = hash((i + 1) * 0x9e3779b97f4a7c15u + (run << 56));
    return (float)(2 * (int)(bits >> 50) + (int)(i & 1) - (1 << 14));
}

// The chosen sum of i's segment before i.
__device__ float sum_before(long long i, long long mean, unsigned long long run)
{
    const bool begins = i == 0 || key_at(i, mean) != key_at(i - 1, mean);
    return begins ? 0.0f : sum_up_to(i - 1, run);
}

__global__ void fill(int *keys, float *in, long long n, long long mean,
                     unsigned long long run)
{
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += gridDim.x * blockDim.x) {
        keys[i] = key_at(i, mean);
        in[i] = sum_up_to(i, run) - sum_before(i, mean, run);
    }
}

// Compares every element, or every sum if there is only one for each segment.
__global__ void compare(const float *out, long long n, long long mean, bool exclusive,
                        unsigned long long run, long long *mistakes)
{
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += gridDim.x * blockDim.x) {
        const int key = key_at(i, mean);
        if (ONLY_SUMS && i + 1 < n && key_at(i + 1, mean) == key)
            continue;
        const bool before = exclusive && !ONLY_SUMS;
        const float expected = before ? sum_before(i, mean, run) : sum_up_to(i, run);
        if (!(out[ONLY_SUMS ? key : i] == expected)) {
            atomicAdd((unsigned long long *)&mistakes[0], 1);
            atomicMin(&mistakes[1], i);
        }
    }
}

// Reads the whole buffer, which evicts the arrays from the L2 cache. Runs for at least
// `cycles` clock cycles, so that the host has queued the launch before the timing starts.
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

// Scans fresh data once. Returns milliseconds; exits if an element is wrong.
static float timed_run(Data *d, unsigned long long run)
{
    const long long none[] = {0, d->n};
    CHECK(cudaMemcpy(d->mistakes, none, sizeof none, cudaMemcpyHostToDevice));
    fill<<<8 * d->flush_blocks, 256>>>(d->keys, d->in, d->n, d->mean, run);
    // All bits set is NaN, which marks elements that were never written.
    CHECK(cudaMemsetAsync(d->out, 0xff, d->n * sizeof(float)));
    if (run % 2 == 0) // otherwise it keeps the data of the previous run
        CHECK(cudaMemsetAsync(d->scratch, 0xff, scratch_count(d->n) * sizeof(float)));
    prepare<<<d->flush_blocks, 1024>>>(d->flush, d->flush_count, d->busy_cycles,
                                       d->mistakes);
    CHECK(cudaEventRecord(d->start));
    launch(d->keys, d->in, d->out, d->n, d->exclusive, d->scratch);
    CHECK(cudaEventRecord(d->stop));
    compare<<<8 * d->flush_blocks, 256>>>(d->out, d->n, d->mean, d->exclusive, run,
                                          d->mistakes);
    CHECK(cudaGetLastError());
    long long mistakes[2];
    CHECK(cudaMemcpy(mistakes, d->mistakes, sizeof mistakes, cudaMemcpyDeviceToHost));
    float ms;
    CHECK(cudaEventElapsedTime(&ms, d->start, d->stop));
    if (mistakes[0] > 0) {
        fprintf(stderr, "FAIL: %lld of %lld are wrong, the first is number %lld\n",
                mistakes[0], d->n, mistakes[1]);
        exit(EXIT_FAILURE);
    }
    return ms;
}

// The median time of a run, in milliseconds.
static double median_of_runs(Data *d)
{
    timed_run(d, 0); // to warm up
    std::vector<float> ms;
    float total_ms = 0;
    while (ms.size() < 3 || (ms.size() < MAX_RUNS && total_ms < ENOUGH_MS)) {
        ms.push_back(timed_run(d, ms.size() + 1));
        total_ms += ms.back();
    }
    std::sort(ms.begin(), ms.end());
    return (ms[(ms.size() - 1) / 2] + ms[ms.size() / 2]) / 2;
}

int main(int argc, char **argv)
{
    Data d = {};
    bool csv = false;
    parse_arguments(argc, argv, &d, &csv);
    cudaDeviceProp device;
    int clock_khz;
    CHECK(cudaGetDeviceProperties(&device, 0));
    CHECK(cudaDeviceGetAttribute(&clock_khz, cudaDevAttrClockRate, 0));
    const size_t flush_bytes = 2 * (size_t)device.l2CacheSize;
    d.flush_count = flush_bytes / sizeof(float4);
    d.flush_blocks = 2 * device.multiProcessorCount;
    d.busy_cycles = clock_khz / 10; // a tenth of a millisecond
    CHECK(cudaMalloc(&d.keys, d.n * sizeof(int)));
    CHECK(cudaMalloc(&d.in, d.n * sizeof(float)));
    CHECK(cudaMalloc(&d.out, d.n * sizeof(float)));
    CHECK(cudaMalloc(&d.scratch, (scratch_count(d.n) + 1) * sizeof(float)));
    CHECK(cudaMalloc(&d.flush, flush_bytes));
    CHECK(cudaMemset(d.flush, 0, flush_bytes));
    CHECK(cudaMalloc(&d.mistakes, 2 * sizeof(long long)));
    CHECK(cudaEventCreate(&d.start));
    CHECK(cudaEventCreate(&d.stop));

    printf(csv ? "step,device,elements,mean_length,median_ms,gb_per_s,status\n"
               : "%s on %s:\n    elements  mean_length  median_ms  gb_per_s\n",
           STEP, device.name);
    for (long long mean : {8, 100, 10000, 0}) {
        d.mean = mean;
        const double ms = median_of_runs(&d);
        // Keys and elements are read; an output for each element counts too.
        const double bytes = (ONLY_SUMS ? 8.0 : 12.0) * d.n;
        if (csv)
            printf("%s,%s,", STEP, device.name);
        printf(csv ? "%lld,%lld,%.6f,%.1f,PASS\n" : "%12lld %12lld %10.4f %9.1f\n", d.n,
               mean == 0 ? d.n : mean, ms, bytes / ms / 1e6);
    }
}
