// Step 11: a kernel of its own for small arrays.
// The change: at most one tile per resident block: no pipeline, no tickets.
// Build and run: nvcc -O3 -arch=native -o scan scan.cu && ./scan

#include <cstdio>
#include <cuda/atomic>
#include <cuda/ptx>

namespace ptx = cuda::ptx;

static const char STEP[] = "step11_small";

#define CHECK(call) check(call, #call, __FILE__, __LINE__)
static void check(cudaError_t error, const char *call, const char *file, int line);

const unsigned BLOCK_SIZE = 512;          // threads, a power of two
const unsigned ITEMS = 8;                 // consecutive elements per thread
const unsigned TILE = BLOCK_SIZE * ITEMS; // elements per tile
const unsigned THREADS = BLOCK_SIZE + 64; // with a look-back warp and a producer warp
const unsigned WARPS = BLOCK_SIZE / 32;
const unsigned VECTORS = ITEMS / 4; // float4 vectors per thread
const unsigned AHEAD = 2;           // tiles between a tile's aggregate and its scan
const unsigned DEPTH = AHEAD + 1;   // AHEAD for tiles in shared memory
const unsigned STAGES = 2 * DEPTH;  // tiles of a block in shared memory
const unsigned BATCH = 16;          // status words that a lane loads per poll
const unsigned PATIENCE = 100;      // polls before the fallback

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
    asm volatile("barrier.sync 1, %0;" ::"n"(BLOCK_SIZE) : "memory");
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

// The sum of tiles first to end - 1. The block's threads share the polling.
__device__ float sum_tiles(Status *status, unsigned launch, long long first, long long end)
{
    float sum = 0.0f, aggregate;
    for (long long at = first + threadIdx.x; at < end; at += BLOCK_SIZE)
        sum += __uint_as_float((unsigned)wait_for(status + at, launch));
    scan_block(sum, &aggregate);
    return aggregate;
}

// A tile in the registers of a block.
struct Tile {
    long long index;
    float4 items[VECTORS];
    float prefix; // of the thread, within the tile
};

// The pipeline stages of a block, in shared memory. Its i-th tile uses stage i % STAGES.
struct Pipeline {
    float4 vectors[STAGES][TILE / 4]; // the tiles
    long long tile[STAGES];           // their indices in the array
    float tile_prefix[STAGES];        // their exclusive prefixes
    uint64_t loaded[STAGES];          // mbarriers: a tile has arrived
    uint64_t known[STAGES];           // its prefix has been computed
    uint64_t scanned[STAGES];         // it can be stored
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

// Takes a tile, and starts its copy. Returns false if no tile was left.
__device__ bool load_stage(Pipeline *p, unsigned i, const float *in, long long n)
{
    const unsigned stage = i % STAGES;
    p->tile[stage] = atomicInc(&next_tile, (n + TILE - 1) / TILE + gridDim.x - 1);
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
__device__ void store_stage(Pipeline *p, unsigned i, float *out, long long n)
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
__device__ void copy_stages(Pipeline *p, const float *in, float *out, long long n)
{
    bool more = true;
    for (unsigned i = 0; i < STAGES && more; i++)
        more = load_stage(p, i, in, n);
    for (unsigned i = 0; p->tile[i % STAGES] * TILE < n; i++) {
        wait(&p->scanned[i % STAGES], i / STAGES);
        store_stage(p, i, out, n);
        if (more)
            more = load_stage(p, i + STAGES, in, n);
    }
}

__device__ Status load_status(Status *status)
{
    return cuda::atomic_ref<Status, cuda::thread_scope_device>(*status).load(
        cuda::memory_order_relaxed);
}

// Polls `batch` status words per lane, of tiles at, at + 32, ... up to end - 1. Returns a
// mask: bit k is set if the k-th word is not valid.
template <unsigned batch>
__device__ unsigned poll(Status *status, unsigned launch, unsigned at, unsigned end,
                         Status (&seen)[batch])
{
    for (unsigned k = 0; k < batch; k++) // all loads in flight at once
        seen[k] =
            at + 32 * k < end ? load_status(status + at + 32 * k) : (Status)launch << 32;
    unsigned missing = 0;
    for (unsigned k = 0; k < batch; k++)
        missing |= (seen[k] >> 32 != launch) << k;
    return missing;
}

// The sum of tiles first to end - 1. The lanes of a warp share the polling.
__device__ float sum_by_warp(Status *status, unsigned launch, unsigned first, unsigned end)
{
    float sum = 0.0f;
    for (unsigned at = first + threadIdx.x % 32; at < end; at += 32 * BATCH) {
        Status seen[BATCH];
        while (poll(status, launch, at, end, seen) != 0)
            continue;
        for (unsigned k = 0; k < BATCH; k++)
            sum += __uint_as_float((unsigned)seen[k]);
    }
    return __shfl_sync(0xffffffff, scan_warp(sum), 31);
}

// The look-back warp: computes each tile's exclusive prefix.
__device__ void look_back(Pipeline *p, long long n, Status *status, unsigned launch)
{
    unsigned previous = 0;
    float tile_prefix = 0.0f; // exclusive, of the previous tile
    for (unsigned i = 0;; i++) {
        const unsigned stage = i % STAGES;
        wait(&p->loaded[stage], i / STAGES);
        const long long tile = p->tile[stage];
        if (tile * TILE >= n)
            return;
        tile_prefix += sum_by_warp(status, launch, previous, tile);
        previous = tile;
        __syncwarp(); // all lanes have read the tile index
        if (threadIdx.x % 32 == 0) {
            p->tile_prefix[stage] = tile_prefix;
            ptx::mbarrier_arrive(&p->known[stage]);
        }
    }
}

// Scans the array. Only a running block takes a tile, so no block waits for a tile whose
// block has not started, whatever the order in which blocks start.
__global__ void scan_tiles(const float *in, float *out, long long n, bool exclusive,
                           Status *status, unsigned launch)
{
    float aggregate;
#if __CUDA_ARCH__ >= 900
    extern __shared__ __align__(128) char shared[];
    Pipeline *p = (Pipeline *)shared;
    if (threadIdx.x == 0)
        init(p);
    __syncthreads();
    if (threadIdx.x == BLOCK_SIZE + 32)
        copy_stages(p, in, out, n);
    else if (threadIdx.x / 32 == BLOCK_SIZE / 32)
        look_back(p, n, status, launch);
    if (threadIdx.x >= BLOCK_SIZE)
        return;
    float thread_prefix[DEPTH + 1] = {}; // within the tile; newest tile last
    bool more = true;
    for (unsigned i = 0;; i++) {
        unsigned stage = i % STAGES;
        if (more)
            wait(&p->loaded[stage], i / STAGES);
        for (unsigned k = 0; k < DEPTH; k++)
            thread_prefix[k] = thread_prefix[k + 1];
        more = more && p->tile[stage] * TILE < n;
        if (more) {
            const float4 *items = p->vectors[stage] + threadIdx.x * VECTORS;
            thread_prefix[DEPTH] = scan_block(add_items(items), &aggregate);
            if (threadIdx.x == 0)
                publish(status + p->tile[stage], launch, aggregate);
        }
        if (i < DEPTH)
            continue;
        stage = (i - DEPTH) % STAGES;
        if (p->tile[stage] * TILE >= n)
            return;
        wait(&p->known[stage], (i - DEPTH) / STAGES);
        float4 *items = p->vectors[stage] + threadIdx.x * VECTORS;
        scan_items(items, p->tile_prefix[stage] + thread_prefix[0], exclusive);
        ptx::fence_proxy_async(ptx::space_shared); // make the writes visible to TMA
        ptx::mbarrier_arrive(&p->scanned[stage]);
    }
#else // older GPUs have no TMA
    long long previous = 0;
    float tile_prefix = 0.0f; // exclusive, of the previous tile
    __shared__ float4 vectors[padded(TILE / 4)];
    __shared__ unsigned tile;
    // Each block takes AHEAD + 2 tiles past the end; the last of these resets the counter.
    const unsigned last_ticket = (n + TILE - 1) / TILE + (AHEAD + 2) * gridDim.x - 1;
    Tile tiles[AHEAD + 2] = {}; // oldest first: scanned, ..., added up, being loaded
    for (unsigned i = 0;; i++) {
        for (unsigned k = 0; k <= AHEAD; k++)
            tiles[k] = tiles[k + 1];
        if (threadIdx.x == 0)
            tile = atomicInc(&next_tile, last_ticket);
        __syncthreads();
        tiles[AHEAD + 1].index = tile;
        load_tile(in, (long long)tile * TILE, n, tiles[AHEAD + 1].items);
        make_blocked(vectors, tiles[AHEAD].items);
        tiles[AHEAD].prefix = scan_block(add_items(tiles[AHEAD].items), &aggregate);
        if (threadIdx.x == 0 && i > 0 && tiles[AHEAD].index * TILE < n)
            publish(status + tiles[AHEAD].index, launch, aggregate);
        if (i <= AHEAD)
            continue;
        if (tiles[0].index * TILE >= n)
            return;
        tile_prefix += sum_tiles(status, launch, previous, tiles[0].index);
        previous = tiles[0].index;
        scan_items(tiles[0].items, tile_prefix + tiles[0].prefix, exclusive);
        store_tile(out, tiles[0].index * TILE, n, vectors, tiles[0].items);
    }
#endif
}

// Fallback: one warp adds up a full tile of another block. So in and out must not overlap.
__device__ void fall_back(const float *in, Status *status, unsigned launch, unsigned tile,
                          unsigned size)
{
    float sum = 0.0f;
    for (unsigned k = threadIdx.x % 32; k < size; k += 32)
        sum += in[(long long)tile * size + k];
    sum = scan_warp(sum);
    if (threadIdx.x % 32 == 31)
        publish(status + tile, launch, sum);
}

// The exclusive prefix of a tile, computed by one warp. If an aggregate is late, the
// warp adds up that tile itself, so it never depends on a block that has not started.
template <unsigned batch>
__device__ float sum_before(const float *in, Status *status, unsigned launch, unsigned tile,
                            unsigned size)
{
    const unsigned lane = threadIdx.x % 32;
    float sum = 0.0f;
    for (unsigned base = 0; base < tile; base += 32 * batch)
        for (unsigned polls = 1;; polls++) {
            float part = 0.0f;
            Status seen[batch];
            const unsigned missing = poll(status, launch, base + lane, tile, seen);
            for (unsigned k = 0; k < batch; k++)
                part += __uint_as_float((unsigned)seen[k]);
            if (!__any_sync(0xffffffff, missing)) {
                sum += __shfl_sync(0xffffffff, scan_warp(part), 31);
                break;
            }
            for (unsigned k = 0; polls % PATIENCE == 0 && k < batch; k++)
                for (unsigned late = __ballot_sync(0xffffffff, missing >> k & 1); late != 0;
                     late &= late - 1)
                    fall_back(in, status, launch, base + 32 * k + __ffs(late) - 1, size);
        }
    return sum;
}

// Scans a small array: one tile per block, in registers, in the warp-striped arrangement.
template <unsigned threads, unsigned rows>
__global__ void __launch_bounds__(threads, 1024 / threads)
    scan_small(const float *in, float *out, long long n, bool exclusive, Status *status,
               unsigned launch)
{
    __shared__ float sums[threads / 32], before; // sums of the warps, of the tiles before
    const unsigned tile = blockIdx.x, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const long long start = 4ll * (tile * threads * rows + warp * 32 * rows + lane);
    float4 items[rows];
    float sum = 0.0f;
    for (unsigned k = 0; k < rows; k++)
        items[k] = load_vector(in, start + 128 * k, n);
    for (unsigned k = 0; k < rows; k++)
        sum += items[k].x + items[k].y + items[k].z + items[k].w;
    sum = scan_warp(sum);
    if (lane == 31)
        sums[warp] = sum;
    __syncthreads();
    const float warps = scan_warp(lane < threads / 32 ? sums[lane] : 0.0f);
    if (threadIdx.x == 31) // the tile's aggregate goes first: other blocks wait for it
        publish(status + tile, launch, warps);
    sum = warp > 0 ? __shfl_sync(0xffffffff, warps, warp - 1) : 0.0f;
    for (unsigned k = 0; k < rows; k++) {
        const float row = scan_warp(items[k].x + items[k].y + items[k].z + items[k].w);
        const float left = __shfl_up_sync(0xffffffff, row, 1);
        scan_vector(items + k, sum + (lane > 0 ? left : 0.0f), exclusive);
        sum += __shfl_sync(0xffffffff, row, 31);
    }
    if (warp == 0) {
        const float found = sum_before<4>(in, status, launch, tile, 4 * threads * rows);
        if (lane == 0)
            before = found;
    }
    __syncthreads();
    for (unsigned k = 0; k < rows; k++) {
        const float4 v = items[k];
        store_vector(out, start + 128 * k, n,
                     make_float4(before + v.x, before + v.y, before + v.z, before + v.w));
    }
}

// Floats of scratch memory for a scan of n elements: a status word for each tile.
// Clear it before the first launch, and every 2^30 launches: the launch numbers repeat.
static long long scratch_count(long long n)
{
    return sizeof(Status) / sizeof(float) * ((n + TILE - 1) / TILE);
}

// The pipeline's shared memory in bytes; 0 if the GPU has no TMA.
static size_t pipeline_bytes()
{
    cudaFuncAttributes kernel;
    CHECK(cudaFuncGetAttributes(&kernel, scan_tiles));
    return kernel.ptxVersion >= 90 ? sizeof(Pipeline) : 0;
}

// Resident blocks of a kernel on the whole GPU. bytes: of dynamic shared memory.
template <class Kernel>
static long long resident_blocks(Kernel kernel, unsigned threads, size_t bytes)
{
    int sm_count, per_sm;
    CHECK(cudaDeviceGetAttribute(&sm_count, cudaDevAttrMultiProcessorCount, 0));
    CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, kernel, threads, bytes));
    return sm_count * per_sm;
}

// Scans the array by scan_small. Returns false if not every tile has a resident block.
template <unsigned threads, unsigned rows>
static bool launch_small(const float *in, float *out, long long n, bool exclusive,
                         Status *status, unsigned number)
{
    static const long long blocks = resident_blocks(scan_small<threads, rows>, threads, 0);
    const long long tile = 4 * threads * rows, tiles = (n + tile - 1) / tile;
    if (tiles > blocks)
        return false;
    scan_small<threads, rows><<<tiles, threads>>>(in, out, n, exclusive, status, number);
    CHECK(cudaGetLastError());
    return true;
}

// Sets out[i] to in[0] + ... + in[i], or to the sum before in[i] if exclusive.
// Returns the number of kernels launched.
static int launch(const float *in, float *out, long long n, bool exclusive, float *scratch)
{
    static unsigned number = 0; // launch number
    number += 2;
    if (launch_small<256, 4>(in, out, n, exclusive, (Status *)scratch, number) ||
        launch_small<512, 8>(in, out, n, exclusive, (Status *)scratch, number))
        return 1;
    const long long tiles = (n + TILE - 1) / TILE;
    static const size_t bytes = pipeline_bytes();
    const unsigned threads = bytes > 0 ? THREADS : BLOCK_SIZE;
    static const long long resident = resident_blocks(scan_tiles, threads, bytes);
    scan_tiles<<<min(tiles, resident), threads, bytes>>>(in, out, n, exclusive,
                                                         (Status *)scratch, number);
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
