// Whole algorithms and data structures, as programs have them: sorting, tables, stacks, semaphores, published pointers.
#include "cases.h"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda/atomic>
#include <cuda/latch>
#include <cuda/pipeline>
#include <cuda/semaphore>
#include <new>

#pragma nv_diag_suppress static_var_with_dynamic_init // of a pipeline's state in shared memory

namespace cg = cooperative_groups;
enum { THREADS = 64, BLOCKS = 4, ALL = BLOCKS * THREADS };

// ---- Sorting in shared memory.

enum Sorting { BITONIC, BITONIC_NO_BARRIER, ODD_EVEN, ODD_EVEN_NO_BARRIER };

__device__ void order(int *a, int *b, bool up)
{
    if ((*a > *b) == up) {
        const int old = *a;
        *a = *b;
        *b = old;
    }
}

template <Sorting sorting> __global__ void sort(int *values)
{
    __shared__ int keys[2 * THREADS];
    const unsigned tid = threadIdx.x;
    keys[tid] = -values[tid]; // in the wrong order
    keys[tid + THREADS] = -values[tid + THREADS];
    __syncthreads();
    if (sorting == BITONIC || sorting == BITONIC_NO_BARRIER)
        for (unsigned size = 2; size <= 2 * THREADS; size *= 2)
            for (unsigned distance = size / 2; distance > 0; distance /= 2) {
                const unsigned i = 2 * tid - (tid & (distance - 1));
                order(&keys[i], &keys[i + distance], (i & size) == 0);
                if (sorting == BITONIC)
                    __syncthreads();
            }
    else
        for (int round = 0; round < 8; round++) {
            const unsigned i = 2 * tid + round % 2;
            if (i + 1 < 2 * THREADS)
                order(&keys[i], &keys[i + 1], true);
            if (sorting == ODD_EVEN)
                __syncthreads();
        }
    __syncthreads();
    values[tid] = keys[tid];
    values[tid + THREADS] = keys[tid + THREADS];
}

template <Sorting sorting> static void run_sort()
{
    int *values = numbers(2 * THREADS);
    sort<sorting><<<1, THREADS>>>(values);
    finish_and_free(values);
}

// ---- A scan of a block in two sweeps over a tree.

template <bool second_sweep_waits> __global__ void two_sweeps(const int *in, int *out)
{
    __shared__ int tree[2 * THREADS];
    const unsigned tid = threadIdx.x;
    tree[2 * tid] = in[2 * tid];
    tree[2 * tid + 1] = in[2 * tid + 1];
    unsigned distance = 1;
    for (unsigned active = THREADS; active > 0; active /= 2, distance *= 2) {
        __syncthreads();
        if (tid < active)
            tree[distance * (2 * tid + 2) - 1] += tree[distance * (2 * tid + 1) - 1];
    }
    if (tid == 0)
        tree[2 * THREADS - 1] = 0;
    for (unsigned active = 1; active <= THREADS; active *= 2) {
        distance /= 2;
        if (second_sweep_waits)
            __syncthreads();
        if (tid < active) {
            const unsigned left = distance * (2 * tid + 1) - 1, right = distance * (2 * tid + 2) - 1;
            const int sum = tree[left];
            tree[left] = tree[right];
            tree[right] += sum;
        }
    }
    __syncthreads();
    out[2 * tid] = tree[2 * tid];
    out[2 * tid + 1] = tree[2 * tid + 1];
}

template <bool second_sweep_waits> static void run_two_sweeps()
{
    int *in = numbers(2 * THREADS), *out = zeros<int>(2 * THREADS);
    two_sweeps<second_sweep_waits><<<1, THREADS>>>(in, out);
    finish_and_free(in, out);
}

// Only those elements are kept that are wanted: places by ballots, sums of warps and one addition a block.
template <bool barrier> __global__ void keep_some(const int *in, int *out, int *count)
{
    __shared__ int before[THREADS / 32], first;
    const unsigned tid = threadIdx.x, lane = tid % 32, warp = tid / 32;
    const int value = in[blockIdx.x * THREADS + tid];
    const unsigned kept = __ballot_sync(0xffffffff, value % 3 == 0);
    if (lane == 0)
        before[warp] = __popc(kept);
    __syncthreads();
    if (tid == 0) {
        int all = 0;
        for (int w = 0; w < THREADS / 32; w++) {
            const int own = before[w];
            before[w] = all;
            all += own;
        }
        first = atomicAdd(count, all);
    }
    if (barrier)
        __syncthreads();
    else
        __syncwarp();
    if (value % 3 == 0 && first + before[warp] >= 0)
        out[(first + before[warp] + __popc(kept & ((1u << lane) - 1))) % ALL] = value;
}

template <bool barrier> static void run_keep_some()
{
    int *in = numbers(ALL), *out = zeros<int>(ALL), *count = zeros<int>(1);
    keep_some<barrier><<<1, THREADS>>>(in, out, count);
    finish_and_free(in, out, count);
}

// ---- A table of keys and values: the key is put in by compare and swap, the value by a store.

enum Lookup { NEXT_LAUNCH, SAME_LAUNCH, VALUE_ATOMIC };

template <Lookup lookup> __global__ void insert(int *keys, int *values, int *out)
{
    const int key = (blockIdx.x * THREADS + threadIdx.x) / 2 + 1; // each key twice
    for (int place = key * 7 % 256;; place = (place + 1) % 256) {
        const int there = atomicCAS(&keys[place], 0, key);
        if (there == 0) {
            if (lookup == VALUE_ATOMIC)
                atomicExch(&values[place], 10 * key);
            else
                values[place] = 10 * key;
        }
        if (there == 0 || there == key) {
            if (there == key && lookup != NEXT_LAUNCH) // somebody else has put it in
                out[key - 1] = lookup == VALUE_ATOMIC ? atomicAdd(&values[place], 0) : values[place];
            return;
        }
    }
}

__global__ void find(const int *keys, const int *values, int *out)
{
    const int key = threadIdx.x + 1;
    for (int place = key * 7 % 256; keys[place] != 0; place = (place + 1) % 256)
        if (keys[place] == key)
            out[threadIdx.x] = values[place];
}

template <Lookup lookup> static void run_table()
{
    int *keys = zeros<int>(256), *values = zeros<int>(256), *out = zeros<int>(ALL);
    insert<lookup><<<BLOCKS, THREADS>>>(keys, values, out);
    find<<<1, THREADS>>>(keys, values, out);
    finish_and_free(keys, values, out);
}

// ---- A stack of linked nodes.

enum Stack { PUSH_ONLY, PUSH_AND_READ_FENCED, PUSH_AND_READ, PUSH_PLAIN_HEAD };

template <Stack stack> __global__ void push(int *next, int *value, int *head, int *out)
{
    const int node = blockIdx.x * THREADS + threadIdx.x + 1; // 0 is the end
    value[node] = 3 * node;
    if (stack == PUSH_PLAIN_HEAD) {
        next[node] = *head;
        *head = node;
        return;
    }
    int below = atomicAdd(head, 0), seen;
    for (;;) {
        next[node] = below;
        if (stack == PUSH_AND_READ_FENCED)
            __threadfence();
        seen = atomicCAS(head, below, node);
        if (seen == below)
            break;
        below = seen;
    }
    if (stack == PUSH_AND_READ_FENCED)
        __threadfence();
    if (stack != PUSH_ONLY && below != 0)
        out[node] = value[below]; // of the node that lies below the own
}

template <Stack stack> static void run_push()
{
    int *next = zeros<int>(ALL + 1), *value = zeros<int>(ALL + 1), *head = zeros<int>(1), *out = zeros<int>(ALL + 1);
    push<stack><<<BLOCKS, THREADS>>>(next, value, head, out);
    finish_and_free(next, value, head, out);
}

// ---- A pointer that is published.

struct Item {
    int a, b;
};

enum Publish { RELEASED, RELAXED, PLAIN };

template <Publish kind> __global__ void publish(Item *item, Item **place, int *out)
{
    cuda::atomic_ref<Item *, cuda::thread_scope_device> shared_place(*place);
    if (threadIdx.x != 0)
        return;
    if (blockIdx.x == 0) {
        item->a = 1;
        item->b = 2;
        if (kind == PLAIN)
            *place = item;
        else
            shared_place.store(item, kind == RELEASED ? cuda::memory_order_release : cuda::memory_order_relaxed);
    } else {
        Item *seen = nullptr;
        if (kind == PLAIN)
            seen = *place;
        else
            while (!(seen = shared_place.load(kind == RELEASED ? cuda::memory_order_acquire : cuda::memory_order_relaxed)))
                continue;
        if (seen)
            *out = seen->a + seen->b;
    }
}

template <Publish kind> static void run_publish()
{
    Item *item = zeros<Item>(1), **place = zeros<Item *>(1);
    int *out = zeros<int>(1);
    publish<kind><<<2, THREADS>>>(item, place, out);
    finish_and_free(item, place, out);
}

// ---- libcu++: semaphores, latches, atomic objects.

__device__ cuda::binary_semaphore<cuda::thread_scope_device> device_semaphore{1};
__device__ cuda::atomic<int, cuda::thread_scope_device> device_count;
__device__ cuda::std::atomic_flag device_flag;
__device__ int guarded;

enum Guard { SEMAPHORE, FLAG, FLAG_RELAXED, ATOMIC_OBJECT, SEMAPHORE_NOT_TAKEN };

template <Guard guard> __global__ void guarded_count(int *out)
{
    if (threadIdx.x != 0)
        return;
    if (guard == SEMAPHORE) {
        device_semaphore.acquire();
        guarded++;
        device_semaphore.release();
    }
    if (guard == FLAG || guard == FLAG_RELAXED) {
        while (device_flag.test_and_set(guard == FLAG ? cuda::memory_order_acquire : cuda::memory_order_relaxed))
            continue;
        guarded++;
        device_flag.clear(guard == FLAG ? cuda::memory_order_release : cuda::memory_order_relaxed);
    }
    if (guard == ATOMIC_OBJECT)
        device_count++;
    if (guard == SEMAPHORE_NOT_TAKEN)
        guarded++;
    if (guard == SEMAPHORE_NOT_TAKEN && blockIdx.x == 0)
        out[0] = 1;
}

template <Guard guard> static void run_guarded_count()
{
    int *out = zeros<int>(1);
    guarded_count<guard><<<BLOCKS, 32>>>(out);
    finish_and_free(out);
}

template <bool wait> __global__ void latched(const int *in, int *out)
{
    using block_latch = cuda::latch<cuda::thread_scope_block>;
    __shared__ alignas(block_latch) unsigned char place[sizeof(block_latch)];
    block_latch &all_here = *reinterpret_cast<block_latch *>(place);
    __shared__ int values[THREADS];
    if (threadIdx.x == 0)
        new (place) block_latch(THREADS);
    __syncthreads();
    values[threadIdx.x] = in[threadIdx.x];
    if (wait)
        all_here.arrive_and_wait();
    else
        all_here.count_down();
    out[threadIdx.x] = values[THREADS - 1 - threadIdx.x];
}

template <bool wait> static void run_latched()
{
    int *in = numbers(THREADS), *out = zeros<int>(THREADS);
    latched<wait><<<1, THREADS>>>(in, out);
    finish_and_free(in, out);
}

// A pipeline of the block: all threads fill stages and use them.
__global__ void block_pipeline(const int *in, int *out, int tiles)
{
    __shared__ int stage[2][THREADS];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    const cg::thread_block block = cg::this_thread_block();
    cuda::pipeline<cuda::thread_scope_block> pipe = cuda::make_pipeline(block, &state);
    int sum = 0;
    pipe.producer_acquire();
    cuda::memcpy_async(&stage[0][threadIdx.x], &in[threadIdx.x], sizeof(int), pipe);
    pipe.producer_commit();
    for (int k = 1; k <= tiles; k++) {
        if (k < tiles) {
            pipe.producer_acquire();
            cuda::memcpy_async(&stage[k % 2][threadIdx.x], &in[k * THREADS + threadIdx.x], sizeof(int), pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        sum += stage[(k - 1) % 2][THREADS - 1 - threadIdx.x];
        pipe.consumer_release();
    }
    out[threadIdx.x] = sum;
}

static void run_block_pipeline()
{
    int *in = numbers(4 * THREADS), *out = zeros<int>(THREADS);
    block_pipeline<<<1, THREADS>>>(in, out, 4);
    finish_and_free(in, out);
}

// ---- Groups that reduce and scan.

template <bool meet> __global__ void group_sums(const int *in, int *out)
{
    __shared__ int sums[THREADS / 32];
    const cg::thread_block block = cg::this_thread_block();
    const cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    const int value = in[block.thread_rank()];
    const int sum = cg::reduce(warp, value, cg::plus<int>());
    const int before = cg::exclusive_scan(warp, value);
    cg::invoke_one(warp, [&] { sums[warp.meta_group_rank()] = sum; });
    if (meet)
        block.sync();
    int all = before;
    for (unsigned w = 0; w < warp.meta_group_rank(); w++)
        all += sums[w];
    out[block.thread_rank()] = all;
}

template <bool meet> static void run_group_sums()
{
    int *in = numbers(THREADS), *out = zeros<int>(THREADS);
    group_sums<meet><<<1, THREADS>>>(in, out);
    finish_and_free(in, out);
}

// Threads with the same key find each other, and one of them adds for all.
template <bool atomic> __global__ void matched(const int *in, int *counts)
{
    const int key = in[blockIdx.x * THREADS + threadIdx.x] % 5;
    const unsigned peers = __match_any_sync(0xffffffff, key);
    if ((int)threadIdx.x % 32 == __ffs(peers) - 1) {
        if (atomic)
            atomicAdd(&counts[key], __popc(peers));
        else
            counts[key] += __popc(peers);
    }
}

template <bool atomic> static void run_matched()
{
    int *in = numbers(ALL), *counts = zeros<int>(5);
    matched<atomic><<<BLOCKS, THREADS>>>(in, counts);
    finish_and_free(in, counts);
}

// ---- Loads and stores with words about caches are plain ones.

template <bool own> __global__ void cached(int *values, int *out)
{
    const unsigned i = blockIdx.x * THREADS + threadIdx.x;
    __stcg(&values[i], 5);
    out[i] = own ? __ldcg(&values[i]) : __ldcg(&values[(i + THREADS) % ALL]);
}

template <bool own> static void run_cached()
{
    int *values = zeros<int>(ALL), *out = zeros<int>(ALL);
    cached<own><<<BLOCKS, THREADS>>>(values, out);
    finish_and_free(values, out);
}

// A read-only load of what the same kernel writes.
template <bool other_array> __global__ void read_only(const int *in, int *out)
{
    const unsigned i = blockIdx.x * THREADS + threadIdx.x;
    out[i] = __ldg(&in[(i + 1) % ALL]) + other_array;
}

template <bool other_array> static void run_read_only()
{
    int *in = numbers(ALL), *out = other_array ? zeros<int>(ALL) : in;
    read_only<other_array><<<BLOCKS, THREADS>>>(in, out);
    finish_and_free(in, other_array ? out : nullptr);
}

// A version number around a pair: a reader checks it before and after.
template <bool pair_atomic> __global__ void versions(int *version, int *pair, int *out)
{
    using ref = cuda::atomic_ref<int, cuda::thread_scope_device>;
    if (threadIdx.x != 0)
        return;
    if (blockIdx.x == 0) {
        for (int k = 1; k <= 50; k++) { // so many that the other block comes in between
            ref(*version).store(2 * k - 1, cuda::memory_order_relaxed);
            cuda::atomic_thread_fence(cuda::memory_order_release, cuda::thread_scope_device);
            for (int part = 0; part < 2; part++)
                if (pair_atomic)
                    ref(pair[part]).store(k, cuda::memory_order_relaxed);
                else
                    pair[part] = k;
            ref(*version).store(2 * k, cuda::memory_order_release);
        }
    } else {
        int before, after, sum;
        do {
            before = ref(*version).load(cuda::memory_order_acquire);
            if (pair_atomic)
                sum = ref(pair[0]).load(cuda::memory_order_relaxed) + ref(pair[1]).load(cuda::memory_order_relaxed);
            else
                sum = pair[0] + pair[1];
            cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_device);
            after = ref(*version).load(cuda::memory_order_relaxed);
        } while (before != after || before % 2 != 0 || before < 2);
        out[0] = sum;
    }
}

template <bool pair_atomic> static void run_versions()
{
    int *version = zeros<int>(1), *pair = zeros<int>(2), *out = zeros<int>(1);
    versions<pair_atomic><<<2, THREADS>>>(version, pair, out);
    finish_and_free(version, pair, out);
}

// ---- A cellular automaton: two boards, or one.

template <bool two_boards> __global__ void automaton(const int *board, int *next)
{
    const int x = threadIdx.x % 16, y = blockIdx.x * 4 + threadIdx.x / 16;
    int alive = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            alive += (dx || dy) && board[(y + dy + 16) % 16 * 16 + (x + dx + 16) % 16] % 2;
    next[y * 16 + x] = alive == 3 || (alive == 2 && board[y * 16 + x] % 2);
}

template <bool two_boards> static void run_automaton()
{
    int *board = numbers(256), *next = zeros<int>(256);
    for (int step = 0; step < 2; step++)
        automaton<two_boards><<<BLOCKS, THREADS>>>(step % 2 ? next : board, two_boards ? (step % 2 ? board : next) : (step % 2 ? next : board));
    finish_and_free(board, next);
}

// Sums of rows of a sparse matrix: a row a thread, or an element a thread.
template <bool atomic> __global__ void by_element(const int *row, const int *value, int *sums)
{
    const unsigned i = blockIdx.x * THREADS + threadIdx.x;
    if (atomic)
        atomicAdd(&sums[row[i] / 8], value[i]);
    else
        sums[row[i] / 8] += value[i];
}

template <bool atomic> static void run_by_element()
{
    int *row = numbers(ALL), *value = numbers(ALL), *sums = zeros<int>(ALL / 8);
    by_element<atomic><<<BLOCKS, THREADS>>>(row, value, sums);
    finish_and_free(row, value, sums);
}

// ---- An array is made shorter in its place: each block's numbers begin where those before it end, which it waits for. What a block
// has read before a barrier it has got, so that later blocks may write there once they know where it ends; that needs no fence. What
// they read of it would need one.

enum Shortening { AFTER_BARRIER, BEFORE_BARRIER, READS_TOO, ASKS_BY_ATOMIC, AMONG_DATA };

const int MANY = 120000;

template <Shortening kind> __global__ void shorten(int *numbers, const int *kept, volatile int *ends, volatile int *data)
{
    __shared__ int begin;
    const int own = numbers[blockIdx.x * THREADS + threadIdx.x], count = kept[blockIdx.x];
    for (int i = kind == AMONG_DATA && blockIdx.x == 0 ? threadIdx.x : MANY; i < MANY; i += THREADS)
        data[i] = i;
    if (kind != BEFORE_BARRIER)
        __syncthreads();
    if (threadIdx.x == 0) {
        begin = 0;
        while (blockIdx.x > 0 && begin == 0)
            begin = kind == ASKS_BY_ATOMIC ? atomicAdd((int *)&ends[blockIdx.x - 1], 0) : ends[blockIdx.x - 1];
        ends[blockIdx.x] = begin + count;
    }
    __syncthreads();
    const int least = kind == READS_TOO && begin > 0 ? numbers[begin - 1] : 0;
    if ((int)threadIdx.x < count)
        numbers[begin + threadIdx.x] = own > least ? own : least;
}

template <Shortening kind> static void run_shorten()
{
    int *values = numbers(ALL), *kept = zeros<int>(BLOCKS), *ends = zeros<int>(BLOCKS), *data = zeros<int>(MANY);
    const int half = THREADS / 2;
    for (int b = 0; b < BLOCKS; b++)
        CUDA(cudaMemcpy(kept + b, &half, sizeof half, cudaMemcpyHostToDevice));
    shorten<kind><<<BLOCKS, THREADS>>>(values, kept, ends, data);
    finish_and_free(values, kept, ends, data);
}

// The same flag, which all lanes set, but only one has written data and executes a fence.
template <int first, int last> __global__ void raise_by_all(int *data, volatile int *flag, int *out)
{
    if (blockIdx.x == 0) {
        if (threadIdx.x == first || threadIdx.x == last) {
            data[threadIdx.x == last] = 7;
            __threadfence();
        }
        __syncwarp();
        *flag = 1;
        return;
    }
    while (*flag == 0)
        continue;
    __threadfence();
    if (threadIdx.x == 0)
        out[0] = data[0] + data[1];
}

template <int first, int last> static void run_raised_by_all()
{
    int *data = zeros<int>(2), *flag = zeros<int>(1), *out = zeros<int>(1);
    raise_by_all<first, last><<<2, 32>>>(data, flag, out);
    finish_and_free(data, flag, out);
}

// Volatile data are no flags.
__global__ void read_after_many(volatile float *many, int *one, float *out)
{
    float sum = 0;
    if (blockIdx.x == 0 && threadIdx.x == 0)
        *one = 7;
    __syncthreads();
    for (int i = threadIdx.x; i < MANY; i += THREADS)
        if (blockIdx.x == 0)
            many[i] = i;
        else
            sum += many[i];
    __syncthreads();
    if (blockIdx.x == 1 && threadIdx.x == 0)
        *out = sum + *one;
}

static void run_many()
{
    float *many = zeros<float>(MANY), *out = zeros<float>(1);
    int *one = zeros<int>(1);
    read_after_many<<<2, THREADS>>>(many, one, out);
    finish_and_free(many, one, out);
}

// ---- A warp's leader waits for another block, and all lanes execute a fence after the warp's barrier.

template <bool fences> __global__ void wait_by_leader(int *data, int *flag, int *out)
{
    const int lane = threadIdx.x;
    if (blockIdx.x == 0) {
        data[lane] = lane;
        __threadfence();
        __syncwarp();
        if (lane == 0)
            atomicExch(flag, 1);
        return;
    }
    if (lane == 0)
        while (atomicAdd(flag, 0) == 0)
            continue;
    __syncwarp();
    if (fences)
        __threadfence();
    out[lane] = data[31 - lane];
}

template <bool fences> static void run_leader()
{
    int *data = zeros<int>(32), *flag = zeros<int>(1), *out = zeros<int>(32);
    wait_by_leader<fences><<<2, 32>>>(data, flag, out);
    finish_and_free(data, flag, out);
}

static const Case CASES[] = {
    {"bitonic", run_sort<BITONIC>},
    {"bitonic-no-barrier", run_sort<BITONIC_NO_BARRIER>},
    {"odd-even", run_sort<ODD_EVEN>},
    {"odd-even-no-barrier", run_sort<ODD_EVEN_NO_BARRIER>},
    {"two-sweeps", run_two_sweeps<true>},
    {"two-sweeps-no-barrier", run_two_sweeps<false>},
    {"keep-some", run_keep_some<true>},
    {"keep-some-no-barrier", run_keep_some<false>},
    {"table-next-launch", run_table<NEXT_LAUNCH>},
    {"table-same-launch", run_table<SAME_LAUNCH>},
    {"table-atomic-values", run_table<VALUE_ATOMIC>},
    {"stack", run_push<PUSH_ONLY>},
    {"stack-read-fenced", run_push<PUSH_AND_READ_FENCED>},
    {"stack-read", run_push<PUSH_AND_READ>},
    {"stack-plain-head", run_push<PUSH_PLAIN_HEAD>},
    {"publish", run_publish<RELEASED>},
    {"publish-relaxed", run_publish<RELAXED>},
    {"publish-plain", run_publish<PLAIN>},
    {"semaphore", run_guarded_count<SEMAPHORE>},
    {"semaphore-not-taken", run_guarded_count<SEMAPHORE_NOT_TAKEN>},
    {"atomic-flag", run_guarded_count<FLAG>},
    {"atomic-flag-relaxed", run_guarded_count<FLAG_RELAXED>},
    {"atomic-object", run_guarded_count<ATOMIC_OBJECT>},
    {"latch", run_latched<true>},
    {"latch-not-waited", run_latched<false>},
    {"block-pipeline", run_block_pipeline},
    {"group-sums", run_group_sums<true>},
    {"group-sums-not-met", run_group_sums<false>},
    {"matched", run_matched<true>},
    {"matched-plain-count", run_matched<false>},
    {"cached-own", run_cached<true>},
    {"cached-others", run_cached<false>},
    {"read-only", run_read_only<true>},
    {"read-only-written", run_read_only<false>},
    {"versions-atomic", run_versions<true>},
    {"versions-plain", run_versions<false>},
    {"automaton-two-boards", run_automaton<true>},
    {"automaton-one-board", run_automaton<false>},
    {"by-element", run_by_element<true>},
    {"by-element-plain", run_by_element<false>},
    {"shorten", run_shorten<AFTER_BARRIER>},
    {"shorten-before-barrier", run_shorten<BEFORE_BARRIER>},
    {"shorten-and-read", run_shorten<READS_TOO>},
    {"shorten-by-atomic", run_shorten<ASKS_BY_ATOMIC>},
    {"shorten-among-volatile", run_shorten<AMONG_DATA>},
    {"raised-by-all", run_raised_by_all<31, 31>},
    {"raised-by-all-first", run_raised_by_all<0, 0>},
    {"raised-by-all-two", run_raised_by_all<3, 20>},
    {"many-volatile", run_many},
    {"leader-waits", run_leader<true>},
    {"leader-waits-no-fence", run_leader<false>},
};

int main(int argc, char **argv)
{
    return run_case(argc, argv, CASES);
}
