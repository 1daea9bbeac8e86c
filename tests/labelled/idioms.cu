// Idioms of waiting and handing over, as textbooks and libraries have them, each with and without a rest between two
// looks; and each with a twin that lacks one fence, or one scope, or one wait. scripts/no_alarms.py runs the right
// ones as compiled in all ways, in several orders of blocks.
#include "cases.h"

#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/semaphore>

enum { THREADS = 64, BLOCKS = 4, ROUNDS = 3 };

// What the waiting thread does between two looks.
enum Rest { NO_REST, SLEEP, CLOCK };

template <Rest kind> __device__ void rest()
{
    if (kind == SLEEP) {
        __nanosleep(20);
    } else if (kind == CLOCK) {
        const long long begin = clock64();
        while (clock64() - begin < 20)
            continue;
    }
}

// What is wrong, if anything.
enum Twin { RIGHT, NO_RELEASE, NO_ACQUIRE, BLOCK_ONLY };

template <Twin twin> __device__ void release_fence()
{
    if (twin == BLOCK_ONLY)
        __threadfence_block();
    else if (twin != NO_RELEASE)
        __threadfence();
}

template <Twin twin> __device__ void acquire_fence()
{
    if (twin == BLOCK_ONLY)
        __threadfence_block();
    else if (twin != NO_ACQUIRE)
        __threadfence();
}

// Blocks take their parts in the order in which they come, so that no block waits for one that has not started.
__device__ int come(int *come_so_far)
{
    __shared__ int number;
    if (threadIdx.x == 0)
        number = atomicAdd(come_so_far, 1);
    __syncthreads();
    return number;
}

template <class Kernel> static void run_blocks(Kernel kernel, int blocks)
{
    int *data = zeros<int>(8), *words = zeros<int>(8), *out = zeros<int>(BLOCKS * THREADS);
    kernel<<<blocks, THREADS>>>(data, words, out);
    finish_and_free(data, words, out);
}

// ---- A flag, and every way to write the loop that waits for it.

enum Loop { WHILE, DO_WHILE, FOR_BREAK, FOR_HEAD, SWITCH, UNROLLED, COUNTED, NOT_INLINED, BY_POINTER, PEEKED, AT_ONCE };

__device__ __noinline__ int look_from_afar(const volatile int *flag)
{
    return *flag;
}

__device__ __noinline__ void look_into(const volatile int *flag, int *seen)
{
    *seen = *flag;
}

template <Loop loop, Rest kind> __device__ bool await(const volatile int *flag, int *turns)
{
    int n = 0, seen = 0;
    switch (loop) {
    case WHILE:
        while (!*flag)
            rest<kind>();
        break;
    case DO_WHILE:
        do
            rest<kind>();
        while (*flag != 1);
        break;
    case FOR_BREAK:
        for (;;) {
            if (*flag == 1)
                break;
            rest<kind>();
            n++;
        }
        break;
    case FOR_HEAD:
        for (int value = *flag; value < 1; value = *flag)
            rest<kind>();
        break;
    case SWITCH:
        for (bool waits = true; waits;)
            switch (*flag) {
            case 0: rest<kind>(); break;
            case 1: waits = false; break;
            default: n++; break;
            }
        break;
    case UNROLLED:
#pragma unroll 4
        for (n = 0; n < 1 << 20; n++) {
            if (*flag)
                break;
            rest<kind>();
        }
        break;
    case COUNTED:
        while (!*flag) {
            rest<kind>();
            n++;
        }
        break;
    case NOT_INLINED:
        while (!look_from_afar(flag))
            rest<kind>();
        break;
    case BY_POINTER:
        for (look_into(flag, &seen); !seen; look_into(flag, &seen))
            rest<kind>();
        break;
    case PEEKED: // most of the work would stand in here
        if (!*flag) {
            rest<kind>();
            while (!*flag)
                rest<kind>();
        }
        break;
    case AT_ONCE: return *flag != 0;
    }
    *turns = n < 0;
    return true;
}

template <Loop loop, Rest kind, Twin twin> __global__ void flag(int *data, int *words, int *out)
{
    const int number = come(&words[1]);
    if (threadIdx.x != 0)
        return;
    if (number == 0) {
        data[0] = 42;
        release_fence<twin>();
        *(volatile int *)&words[0] = 1;
    } else if (await<loop, kind>(&words[0], &out[1])) {
        acquire_fence<twin>();
        out[0] = data[0];
    }
}

template <Loop loop, Rest kind, Twin twin> static void run_flag()
{
    run_blocks(flag<loop, kind, twin>, 2);
}

// Between warps of a block, or lanes of a warp: in shared memory.
template <int reader, Rest kind, Twin twin> __global__ void shared_flag(int *in, int *, int *out)
{
    __shared__ int box;
    __shared__ volatile int full;
    if (threadIdx.x == 0)
        full = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        box = in[0];
        if (twin != NO_RELEASE)
            __threadfence_block();
        full = 1;
    } else if (threadIdx.x == reader) {
        while (!full)
            rest<kind>();
        if (twin != NO_ACQUIRE)
            __threadfence_block();
        out[0] = box;
    }
}

template <int reader, Rest kind, Twin twin> static void run_shared_flag()
{
    run_blocks(shared_flag<reader, kind, twin>, 1);
}

// One thread waits, another of its block answers after a barrier; the first block gets the flag back.
template <Rest kind, Twin twin> __global__ void answered(int *data, int *words, int *out)
{
    volatile int *flag = &words[0];
    const int number = come(&words[1]);
    if (number == 0 && threadIdx.x == 0) {
        data[0] = 42;
        __threadfence();
        *flag = 1;
    }
    if (number == 1) {
        if (threadIdx.x == 0)
            while (*flag != 1)
                rest<kind>();
        __threadfence();
        __syncthreads();
        if (threadIdx.x == 33) {
            data[0] += 1;
            release_fence<twin>();
            *flag = 2;
        }
    }
    if (number == 0 && threadIdx.x == 0) {
        while (*flag != 2)
            rest<kind>();
        __threadfence();
        out[0] = data[0];
    }
}

// ---- Locks: thread 0 of each block counts.

enum Lock { SET, LOOK_THEN_SET, COMPARE, COMPARE_REF, TICKET, TICKET_ATOMIC, TICKET_REF };

using device_ref = cuda::atomic_ref<int, cuda::thread_scope_device>;

template <Lock lock, Rest kind, Twin twin> __device__ int take(int *words)
{
    int ticket = 0, free = 0;
    switch (lock) {
    case SET:
        while (atomicExch(&words[0], 1))
            rest<kind>();
        break;
    case LOOK_THEN_SET:
        do
            while (*(volatile int *)&words[0])
                rest<kind>();
        while (atomicExch(&words[0], 1));
        break;
    case COMPARE:
        while (atomicCAS(&words[0], 0, 1) != 0)
            rest<kind>();
        break;
    case COMPARE_REF:
        while (!device_ref(words[0]).compare_exchange_weak(free, 1, twin == NO_ACQUIRE ? cuda::memory_order_relaxed
                                                                                     : cuda::memory_order_acquire)) {
            free = 0;
            rest<kind>();
        }
        return 0;
    case TICKET:
        ticket = atomicAdd(&words[0], 1);
        while (*(volatile int *)&words[1] != ticket)
            rest<kind>();
        break;
    case TICKET_ATOMIC:
        ticket = atomicAdd(&words[0], 1);
        while (atomicAdd(&words[1], 0) != ticket)
            rest<kind>();
        break;
    case TICKET_REF:
        ticket = device_ref(words[0]).fetch_add(1, cuda::memory_order_relaxed);
        while (device_ref(words[1]).load(twin == NO_ACQUIRE ? cuda::memory_order_relaxed : cuda::memory_order_acquire) != ticket)
            rest<kind>();
        return ticket;
    }
    acquire_fence<twin>();
    return ticket;
}

template <Lock lock, Twin twin> __device__ void give(int *words, int ticket)
{
    const cuda::memory_order order = twin == NO_RELEASE ? cuda::memory_order_relaxed : cuda::memory_order_release;
    if (lock == COMPARE_REF) {
        device_ref(words[0]).store(0, order);
        return;
    }
    if (lock == TICKET_REF) {
        device_ref(words[1]).store(ticket + 1, order);
        return;
    }
    release_fence<twin>();
    if (lock == SET || lock == COMPARE)
        atomicExch(&words[0], 0);
    else if (lock == LOOK_THEN_SET)
        *(volatile int *)&words[0] = 0;
    else if (lock == TICKET)
        *(volatile int *)&words[1] = ticket + 1;
    else
        atomicExch(&words[1], ticket + 1);
}

template <Lock lock, Rest kind, Twin twin> __global__ void locked(int *data, int *words, int *out)
{
    for (int round = 0; threadIdx.x == 0 && round < ROUNDS; round++) {
        const int ticket = take<lock, kind, twin>(words);
        data[0] += 1;
        give<lock, twin>(words, ticket);
    }
    out[blockIdx.x * THREADS + threadIdx.x] = lock;
}

template <Lock lock, Rest kind, Twin twin> static void run_locked()
{
    run_blocks(locked<lock, kind, twin>, BLOCKS);
}

// Each lane takes the lock and releases it within one iteration.
template <Rest kind, Twin twin> __global__ void locked_by_lanes(int *data, int *words, int *out)
{
    for (bool done = false; !done;) {
        if (atomicCAS(&words[0], 0, 1) == 0) {
            acquire_fence<twin>();
            data[0] += 1;
            release_fence<twin>();
            atomicExch(&words[0], 0);
            done = true;
        } else {
            rest<kind>();
        }
    }
    out[blockIdx.x * THREADS + threadIdx.x] = 1;
}

template <Rest kind, Twin twin> static void run_locked_by_lanes()
{
    run_blocks(locked_by_lanes<kind, twin>, 2);
}

// ---- A semaphore for two, each of whom has a place.

template <Rest kind, Twin twin> __global__ void semaphore(int *data, int *words, int *out)
{
    if (threadIdx.x == 0) {
        if (atomicAdd(&words[2], 1) == 0) { // the first fills it
            data[0] = data[1] = 10;
            __threadfence();
            atomicAdd(&words[0], 2);
        }
        for (;;) {
            const int free = *(volatile int *)&words[0];
            if (free > 0 && atomicCAS(&words[0], free, free - 1) == free)
                break;
            rest<kind>();
        }
        const int place = atomicExch(&words[4], 1) == 0 ? 0 : 1;
        acquire_fence<twin>(); // after both: the semaphore and the slot may come from different blocks
        data[place] += 1;
        if (place == 0) {
            release_fence<twin>();
            atomicExch(&words[4], 0);
        }
        release_fence<twin>();
        atomicAdd(&words[0], 1);
    }
    out[blockIdx.x * THREADS + threadIdx.x] = 1;
}

// ---- A sequence lock: block 0 writes two words, the others read both of one time.

enum Words { RELAXED, VOLATILES, PLAIN };

template <Words words_are> __device__ int get(int *word)
{
    return words_are == RELAXED     ? device_ref(*word).load(cuda::memory_order_relaxed)
           : words_are == VOLATILES ? *(volatile int *)word
                                    : *word;
}

template <Words words_are> __device__ void put(int *word, int value)
{
    if (words_are == RELAXED)
        device_ref(*word).store(value, cuda::memory_order_relaxed);
    else if (words_are == VOLATILES)
        *(volatile int *)word = value;
    else
        *word = value;
}

template <Words words_are, Rest kind> __global__ void sequence(int *data, int *words, int *out)
{
    if (threadIdx.x == 0 && blockIdx.x == 0) {
        for (int round = 1; round <= ROUNDS; round++) {
            put<RELAXED>(&words[0], 2 * round - 1);
            __threadfence();
            put<words_are>(&data[0], round);
            put<words_are>(&data[1], round);
            __threadfence();
            put<RELAXED>(&words[0], 2 * round);
        }
    } else if (threadIdx.x == 0) {
        int before, one, two;
        for (;;) {
            before = get<RELAXED>(&words[0]);
            __threadfence();
            one = get<words_are>(&data[0]);
            two = get<words_are>(&data[1]);
            __threadfence();
            if (before % 2 == 0 && get<RELAXED>(&words[0]) == before)
                break;
            rest<kind>();
        }
        out[blockIdx.x] = one - two;
    }
}

// ---- A ring with one producer and one consumer: two warps of a block, or two blocks.

enum { SLOTS = 2, ITEMS = 6 };

template <Rest kind, Twin twin> __device__ void produce(int *slots, int *words)
{
    for (int n = 0; n < ITEMS; n++) {
        while (n - *(volatile int *)&words[1] >= SLOTS)
            rest<kind>();
        acquire_fence<twin>();
        slots[n % SLOTS] = n;
        release_fence<twin>();
        *(volatile int *)&words[0] = n + 1;
    }
}

template <Rest kind, Twin twin> __device__ int consume(const int *slots, int *words)
{
    int sum = 0;
    for (int n = 0; n < ITEMS; n++) {
        while (*(volatile int *)&words[0] <= n)
            rest<kind>();
        acquire_fence<twin>();
        sum += slots[n % SLOTS];
        release_fence<twin>();
        *(volatile int *)&words[1] = n + 1;
    }
    return sum;
}

template <Rest kind, Twin twin> __global__ void ring(int *data, int *words, int *out)
{
    if (blockIdx.x == 0 && threadIdx.x == 0)
        produce<kind, twin>(data, words);
    if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 32)
        out[0] = consume<kind, twin>(data, words);
}

template <int blocks, Rest kind, Twin twin> static void run_ring()
{
    run_blocks(ring<kind, twin>, blocks);
}

template <Rest kind, Twin twin> __global__ void ring_by_release(int *data, int *words, int *out)
{
    const cuda::memory_order acquire = twin == NO_ACQUIRE ? cuda::memory_order_relaxed : cuda::memory_order_acquire,
                             release = twin == NO_RELEASE ? cuda::memory_order_relaxed : cuda::memory_order_release;
    device_ref head(words[0]), tail(words[1]);
    for (int n = 0; threadIdx.x == 0 && n < ITEMS; n++) {
        while (n - tail.load(acquire) >= SLOTS)
            rest<kind>();
        data[n % SLOTS] = n;
        head.store(n + 1, release);
    }
    for (int n = 0; threadIdx.x == 32 && n < ITEMS; n++) {
        while (head.load(acquire) == n)
            rest<kind>();
        out[n] = data[n % SLOTS];
        tail.store(n + 1, release);
    }
}

// ---- The last block sums up what all have left.

template <Twin twin> __global__ void last_block(int *data, int *words, int *out)
{
    __shared__ bool last;
    if (threadIdx.x == 0) {
        data[blockIdx.x] = blockIdx.x;
        release_fence<twin>();
        last = atomicAdd(&words[0], 1) == gridDim.x - 1;
        acquire_fence<twin == NO_ACQUIRE ? RIGHT : twin>();
    }
    __syncthreads();
    if (last && threadIdx.x < gridDim.x)
        out[threadIdx.x] = data[threadIdx.x];
}

// ---- A barrier of the grid by hand: the last to come opens it for the next round.

template <Rest kind, Twin twin> __device__ void meet(int *words)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        const int round = *(volatile int *)&words[1];
        release_fence<twin>();
        if (atomicAdd(&words[0], 1) == gridDim.x - 1) {
            words[0] = 0;
            __threadfence();
            *(volatile int *)&words[1] = round + 1;
        } else {
            while (*(volatile int *)&words[1] == round)
                rest<kind>();
        }
        acquire_fence<twin>();
    }
    __syncthreads();
}

template <Rest kind, Twin twin> __global__ void grid_barrier(int *data, int *words, int *out)
{
    for (int round = 0; round < 2; round++) {
        if (threadIdx.x == 0)
            data[blockIdx.x] = round;
        meet<kind, twin>(words);
        if (threadIdx.x < gridDim.x)
            out[blockIdx.x * gridDim.x + threadIdx.x] = data[threadIdx.x];
        meet<kind, twin>(words);
    }
}

// The same with a count that only grows.
template <Rest kind, Twin twin> __global__ void growing_barrier(int *data, int *words, int *out)
{
    for (int round = 0; round < 2; round++) {
        if (threadIdx.x == 0) {
            data[4 * round + blockIdx.x] = round;
            release_fence<twin>();
            atomicAdd(&words[0], 1);
            while (atomicAdd(&words[0], 0) < (round + 1) * gridDim.x)
                rest<kind>();
            acquire_fence<twin>();
        }
        __syncthreads();
        if (threadIdx.x < gridDim.x)
            out[blockIdx.x * gridDim.x + threadIdx.x] = data[4 * round + threadIdx.x];
    }
}

// ---- The C++ library's.

template <Twin twin> __global__ void notified(int *data, int *words, int *out)
{
    const int number = come(&words[1]);
    device_ref flag(words[0]);
    if (threadIdx.x == 0 && number == 0) {
        data[0] = 42;
        flag.store(1, twin == NO_RELEASE ? cuda::memory_order_relaxed : cuda::memory_order_release);
        flag.notify_all();
    } else if (threadIdx.x == 0) {
        flag.wait(0, twin == NO_ACQUIRE ? cuda::memory_order_relaxed : cuda::memory_order_acquire);
        out[number] = data[0];
    }
}

template <class Semaphore> __global__ void make(Semaphore *semaphore, int count)
{
    new (semaphore) Semaphore(count);
}

// early: gives the semaphore back before it has counted.
template <class Semaphore, bool early> __global__ void counted(Semaphore *semaphore, int *data)
{
    if (threadIdx.x % 32 == 0) {
        semaphore->acquire();
        if (early)
            semaphore->release();
        data[0] += 1;
        if (!early)
            semaphore->release();
    }
}

template <class Semaphore, bool early> static void run_semaphore()
{
    int *data = zeros<int>(1);
    Semaphore *semaphore;
    CUDA(cudaMalloc(&semaphore, sizeof *semaphore));
    make<<<1, 1>>>(semaphore, 1);
    counted<Semaphore, early><<<BLOCKS, THREADS>>>(semaphore, data);
    finish_and_free(data, semaphore);
}

using binary = cuda::binary_semaphore<cuda::thread_scope_device>;
using counting = cuda::counting_semaphore<cuda::thread_scope_device, 4>;

// Items of a producer for a consumer: two counting semaphores. early: a slot is given back before it has been read.
template <bool early> __global__ void bounded(int *in, int *, int *out)
{
    using count = cuda::counting_semaphore<cuda::thread_scope_block, SLOTS>;
    __shared__ cuda::std::aligned_storage_t<sizeof(count), alignof(count)> memory[2];
    __shared__ int slots[SLOTS];
    count *empty = reinterpret_cast<count *>(&memory[0]), *full = reinterpret_cast<count *>(&memory[1]);
    if (threadIdx.x == 0) {
        new (empty) count(SLOTS);
        new (full) count(0);
    }
    __syncthreads();
    for (int n = 0; threadIdx.x == 0 && n < ITEMS; n++) {
        empty->acquire();
        slots[n % SLOTS] = in[0] + n;
        full->release();
    }
    for (int n = 0; threadIdx.x == 32 && n < ITEMS; n++) {
        full->acquire();
        if (early)
            empty->release();
        out[n] = slots[n % SLOTS];
        if (!early)
            empty->release();
    }
}

// Half of the threads fill, all wait, the others read.
template <bool waits> __global__ void through_barrier(int *in, int *, int *out)
{
    using barrier = cuda::barrier<cuda::thread_scope_block>;
    __shared__ cuda::std::aligned_storage_t<sizeof(barrier), alignof(barrier)> memory;
    __shared__ int box[THREADS];
    barrier *all = reinterpret_cast<barrier *>(&memory);
    if (threadIdx.x == 0)
        init(all, THREADS);
    __syncthreads();
    for (int round = 0; round < 2; round++) {
        if (threadIdx.x < 32)
            box[threadIdx.x] = in[0] + round;
        barrier::arrival_token token = all->arrive();
        if (waits)
            all->wait(cuda::std::move(token));
        if (threadIdx.x >= 32)
            out[threadIdx.x] = box[threadIdx.x - 32];
        all->arrive_and_wait();
    }
}

// The barrier of all blocks, in global memory.
template <bool waits> __global__ void through_device_barrier(cuda::barrier<cuda::thread_scope_device> *all, int *data, int *out)
{
    if (threadIdx.x == 0) {
        data[blockIdx.x] = 1;
        auto token = all->arrive();
        if (waits)
            all->wait(cuda::std::move(token));
        out[blockIdx.x] = data[(blockIdx.x + 1) % gridDim.x];
    }
}

__global__ void make_barrier(cuda::barrier<cuda::thread_scope_device> *all, int count)
{
    init(all, count);
}

template <bool waits> static void run_device_barrier()
{
    int *data = zeros<int>(BLOCKS), *out = zeros<int>(BLOCKS);
    cuda::barrier<cuda::thread_scope_device> *all;
    CUDA(cudaMalloc(&all, sizeof *all));
    make_barrier<<<1, 1>>>(all, BLOCKS);
    through_device_barrier<waits><<<BLOCKS, THREADS>>>(all, data, out);
    finish_and_free(data, out, all);
}

template <bool waits> __global__ void through_latch(int *in, int *, int *out)
{
    using latch = cuda::latch<cuda::thread_scope_block>;
    __shared__ cuda::std::aligned_storage_t<sizeof(latch), alignof(latch)> memory;
    __shared__ int box[THREADS];
    latch *filled = reinterpret_cast<latch *>(&memory);
    if (threadIdx.x == 0)
        new (filled) latch(32);
    __syncthreads();
    if (threadIdx.x < 32) {
        box[threadIdx.x] = in[0];
        filled->count_down();
    } else {
        if (waits)
            filled->wait();
        out[threadIdx.x] = box[threadIdx.x - 32];
    }
}

// ---- The cases.

template <Rest kind, Twin twin> static void run_answered()
{
    run_blocks(answered<kind, twin>, 2);
}

template <Rest kind, Twin twin> static void run_semaphore_by_hand()
{
    run_blocks(semaphore<kind, twin>, 2);
}

template <Rest kind, Twin twin> static void run_ring_by_release()
{
    run_blocks(ring_by_release<kind, twin>, 1);
}

template <Rest kind, Twin twin> static void run_grid_barrier()
{
    run_blocks(grid_barrier<kind, twin>, BLOCKS);
}

template <Rest kind, Twin twin> static void run_growing_barrier()
{
    run_blocks(growing_barrier<kind, twin>, BLOCKS);
}

template <Words words_are, Rest kind> static void run_sequence()
{
    run_blocks(sequence<words_are, kind>, 2);
}

template <Twin twin> static void run_last_block()
{
    run_blocks(last_block<twin>, BLOCKS);
}

template <Twin twin> static void run_notified()
{
    run_blocks(notified<twin>, 2);
}

template <bool early> static void run_bounded()
{
    run_blocks(bounded<early>, 1);
}

template <bool waits> static void run_through_barrier()
{
    run_blocks(through_barrier<waits>, 1);
}

template <bool waits> static void run_through_latch()
{
    run_blocks(through_latch<waits>, 1);
}

// ---- Two streams: a kernel leaves its blocks' parts, and another one takes each when it has come.

struct TwoStreams {
    cudaStream_t one, other;
    TwoStreams()
    {
        CUDA(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
        CUDA(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
        CUDA(cudaDeviceSynchronize());
    }
    void finish()
    {
        CUDA(cudaDeviceSynchronize());
        CUDA(cudaStreamDestroy(one));
        CUDA(cudaStreamDestroy(other));
    }
};

enum Count { BY_FENCE, BY_REF }; // how the parts that have come are counted

template <Count count, Twin twin> __global__ void leave(int *parts, int *come)
{
    parts[blockIdx.x * THREADS + threadIdx.x] = blockIdx.x;
    __syncthreads();
    if (threadIdx.x > 0)
        return;
    if (count == BY_REF) {
        cuda::atomic_ref<int, cuda::thread_scope_device>(*come).fetch_add(1, cuda::memory_order_release);
    } else {
        release_fence<twin>();
        atomicAdd(come, 1);
    }
}

template <Count count, Rest kind, Twin twin> __global__ void take(const int *parts, int *come, int *out)
{
    if (threadIdx.x == 0) {
        if (count == BY_REF)
            while (cuda::atomic_ref<int, cuda::thread_scope_device>(*come).load(cuda::memory_order_acquire) < BLOCKS)
                rest<kind>();
        else
            while (atomicAdd(come, 0) < BLOCKS)
                rest<kind>();
        if (count == BY_FENCE)
            acquire_fence<twin>();
    }
    __syncthreads();
    out[blockIdx.x * THREADS + threadIdx.x] = parts[blockIdx.x * THREADS + threadIdx.x];
}

template <Count count, Rest kind, Twin twin> static void run_two_streams()
{
    int *parts = zeros<int>(BLOCKS * THREADS), *come = zeros<int>(1), *out = zeros<int>(BLOCKS * THREADS);
    TwoStreams streams;
    leave<count, twin><<<BLOCKS, THREADS, 0, streams.one>>>(parts, come);
    take<count, kind, twin><<<BLOCKS, THREADS, 0, streams.other>>>(parts, come, out);
    streams.finish();
    finish_and_free(parts, come, out);
}

// Both count, and the count is never read: that orders nothing.
__global__ void count_along(int *data, int *come, int *out, bool writes)
{
    if (writes)
        data[threadIdx.x] = 1;
    else
        out[threadIdx.x] = data[threadIdx.x];
    __threadfence();
    atomicAdd(come, 1);
}

static void run_two_counters()
{
    int *data = zeros<int>(THREADS), *come = zeros<int>(1), *out = zeros<int>(THREADS);
    TwoStreams streams;
    count_along<<<1, THREADS, 0, streams.one>>>(data, come, out, true);
    count_along<<<1, THREADS, 0, streams.other>>>(data, come, out, false);
    streams.finish();
    finish_and_free(data, come, out);
}

// ---- A kernel that only lets time go by.

enum Clock { CYCLES, CYCLES_OF_32_BITS, NANOSECONDS };

__device__ unsigned long long nanoseconds()
{
    unsigned long long now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}

template <Clock kind, bool sleeps> __global__ void delay(long long for_so_long, int *out)
{
    if (kind == CYCLES) {
        for (const long long begin = clock64(); clock64() - begin < for_so_long;)
            if (sleeps)
                __nanosleep(1000);
    } else if (kind == CYCLES_OF_32_BITS) {
        const clock_t begin = clock();
        while (clock() - begin < for_so_long)
            continue;
    } else {
        for (const unsigned long long begin = nanoseconds(); nanoseconds() < begin + for_so_long;)
            if (sleeps)
                __nanosleep(100000);
    }
    out[blockIdx.x * THREADS + threadIdx.x] = 1;
}

// A thread that waits, and gives up after two seconds.
__global__ void wait_so_long(volatile int *flag, int *come_so_far, int *out)
{
    if (come(come_so_far) == 1) {
        *flag = 1;
        return;
    }
    unsigned sleep = 8;
    for (const unsigned long long begin = nanoseconds(); !*flag;) {
        __nanosleep(sleep);
        sleep = sleep < 1000000 ? 2 * sleep : sleep;
        if (nanoseconds() - begin > 2000000000)
            __trap();
    }
    out[threadIdx.x] = 1;
}

static void run_watchdog()
{
    int *flag = zeros<int>(1), *come_so_far = zeros<int>(1), *out = zeros<int>(THREADS);
    wait_so_long<<<2, THREADS>>>(flag, come_so_far, out);
    finish_and_free(flag, come_so_far, out);
}

template <Clock kind, bool sleeps> static void run_delay()
{
    int *out = zeros<int>(BLOCKS * THREADS);
    delay<kind, sleeps><<<BLOCKS, THREADS>>>(200000000, out);
    finish_and_free(out);
}

static const Case CASES[] = {
    {"flag", run_flag<WHILE, NO_REST, RIGHT>},
    {"flag-sleep", run_flag<WHILE, SLEEP, RIGHT>},
    {"flag-clock", run_flag<WHILE, CLOCK, RIGHT>},
    {"flag-do-while", run_flag<DO_WHILE, NO_REST, RIGHT>},
    {"flag-do-while-sleep", run_flag<DO_WHILE, SLEEP, RIGHT>},
    {"flag-for-break", run_flag<FOR_BREAK, NO_REST, RIGHT>},
    {"flag-for-break-sleep", run_flag<FOR_BREAK, SLEEP, RIGHT>},
    {"flag-for-head", run_flag<FOR_HEAD, NO_REST, RIGHT>},
    {"flag-for-head-sleep", run_flag<FOR_HEAD, SLEEP, RIGHT>},
    {"flag-switch", run_flag<SWITCH, NO_REST, RIGHT>},
    {"flag-switch-sleep", run_flag<SWITCH, SLEEP, RIGHT>},
    {"flag-unrolled", run_flag<UNROLLED, NO_REST, RIGHT>},
    {"flag-unrolled-sleep", run_flag<UNROLLED, SLEEP, RIGHT>},
    {"flag-counted", run_flag<COUNTED, NO_REST, RIGHT>},
    {"flag-counted-sleep", run_flag<COUNTED, SLEEP, RIGHT>},
    {"flag-not-inlined", run_flag<NOT_INLINED, NO_REST, RIGHT>},
    {"flag-not-inlined-sleep", run_flag<NOT_INLINED, SLEEP, RIGHT>},
    {"flag-by-pointer", run_flag<BY_POINTER, NO_REST, RIGHT>},
    {"flag-by-pointer-sleep", run_flag<BY_POINTER, SLEEP, RIGHT>},
    {"flag-peeked", run_flag<PEEKED, NO_REST, RIGHT>},
    {"flag-peeked-sleep", run_flag<PEEKED, SLEEP, RIGHT>},
    {"flag-looked-at-once", run_flag<AT_ONCE, NO_REST, RIGHT>},
    {"flag-no-release", run_flag<WHILE, SLEEP, NO_RELEASE>},
    {"flag-no-acquire", run_flag<WHILE, SLEEP, NO_ACQUIRE>},
    {"flag-block-fences", run_flag<COUNTED, SLEEP, BLOCK_ONLY>},
    {"flag-not-inlined-no-acquire", run_flag<NOT_INLINED, SLEEP, NO_ACQUIRE>},
    {"flag-looked-at-once-no-acquire", run_flag<AT_ONCE, NO_REST, NO_ACQUIRE>},
    {"warps-flag", run_shared_flag<32, NO_REST, RIGHT>},
    {"warps-flag-sleep", run_shared_flag<32, SLEEP, RIGHT>},
    {"warps-flag-clock", run_shared_flag<32, CLOCK, RIGHT>},
    {"lanes-flag", run_shared_flag<1, NO_REST, RIGHT>},
    {"lanes-flag-sleep", run_shared_flag<1, SLEEP, RIGHT>},
    {"lanes-flag-clock", run_shared_flag<1, CLOCK, RIGHT>},
    {"warps-flag-no-release", run_shared_flag<32, SLEEP, NO_RELEASE>},
    {"warps-flag-no-acquire", run_shared_flag<32, SLEEP, NO_ACQUIRE>},
    {"lanes-flag-no-release", run_shared_flag<1, SLEEP, NO_RELEASE>},
    {"answered", run_answered<NO_REST, RIGHT>},
    {"answered-sleep", run_answered<SLEEP, RIGHT>},
    {"answered-clock", run_answered<CLOCK, RIGHT>},
    {"answered-no-release", run_answered<SLEEP, NO_RELEASE>},
    {"test-and-set", run_locked<SET, NO_REST, RIGHT>},
    {"test-and-set-sleep", run_locked<SET, SLEEP, RIGHT>},
    {"test-and-set-clock", run_locked<SET, CLOCK, RIGHT>},
    {"test-and-set-no-release", run_locked<SET, SLEEP, NO_RELEASE>},
    {"test-and-set-no-acquire", run_locked<SET, SLEEP, NO_ACQUIRE>},
    {"test-and-test-and-set", run_locked<LOOK_THEN_SET, NO_REST, RIGHT>},
    {"test-and-test-and-set-sleep", run_locked<LOOK_THEN_SET, SLEEP, RIGHT>},
    {"test-and-test-and-set-clock", run_locked<LOOK_THEN_SET, CLOCK, RIGHT>},
    {"test-and-test-and-set-no-release", run_locked<LOOK_THEN_SET, SLEEP, NO_RELEASE>},
    {"test-and-test-and-set-no-acquire", run_locked<LOOK_THEN_SET, SLEEP, NO_ACQUIRE>},
    {"compare-and-swap", run_locked<COMPARE, NO_REST, RIGHT>},
    {"compare-and-swap-sleep", run_locked<COMPARE, SLEEP, RIGHT>},
    {"compare-and-swap-clock", run_locked<COMPARE, CLOCK, RIGHT>},
    {"compare-and-swap-no-release", run_locked<COMPARE, SLEEP, NO_RELEASE>},
    {"compare-and-swap-no-acquire", run_locked<COMPARE, SLEEP, NO_ACQUIRE>},
    {"compare-and-swap-ref", run_locked<COMPARE_REF, NO_REST, RIGHT>},
    {"compare-and-swap-ref-sleep", run_locked<COMPARE_REF, SLEEP, RIGHT>},
    {"compare-and-swap-ref-clock", run_locked<COMPARE_REF, CLOCK, RIGHT>},
    {"compare-and-swap-ref-no-release", run_locked<COMPARE_REF, SLEEP, NO_RELEASE>},
    {"compare-and-swap-ref-no-acquire", run_locked<COMPARE_REF, SLEEP, NO_ACQUIRE>},
    {"ticket", run_locked<TICKET, NO_REST, RIGHT>},
    {"ticket-sleep", run_locked<TICKET, SLEEP, RIGHT>},
    {"ticket-clock", run_locked<TICKET, CLOCK, RIGHT>},
    {"ticket-no-release", run_locked<TICKET, SLEEP, NO_RELEASE>},
    {"ticket-no-acquire", run_locked<TICKET, SLEEP, NO_ACQUIRE>},
    {"ticket-atomic", run_locked<TICKET_ATOMIC, NO_REST, RIGHT>},
    {"ticket-atomic-sleep", run_locked<TICKET_ATOMIC, SLEEP, RIGHT>},
    {"ticket-atomic-clock", run_locked<TICKET_ATOMIC, CLOCK, RIGHT>},
    {"ticket-atomic-no-release", run_locked<TICKET_ATOMIC, SLEEP, NO_RELEASE>},
    {"ticket-atomic-no-acquire", run_locked<TICKET_ATOMIC, SLEEP, NO_ACQUIRE>},
    {"ticket-ref", run_locked<TICKET_REF, NO_REST, RIGHT>},
    {"ticket-ref-sleep", run_locked<TICKET_REF, SLEEP, RIGHT>},
    {"ticket-ref-clock", run_locked<TICKET_REF, CLOCK, RIGHT>},
    {"ticket-ref-no-release", run_locked<TICKET_REF, SLEEP, NO_RELEASE>},
    {"ticket-ref-no-acquire", run_locked<TICKET_REF, SLEEP, NO_ACQUIRE>},
    {"lanes-lock", run_locked_by_lanes<NO_REST, RIGHT>},
    {"lanes-lock-sleep", run_locked_by_lanes<SLEEP, RIGHT>},
    {"lanes-lock-block-fences", run_locked_by_lanes<SLEEP, BLOCK_ONLY>},
    {"semaphore", run_semaphore_by_hand<NO_REST, RIGHT>},
    {"semaphore-sleep", run_semaphore_by_hand<SLEEP, RIGHT>},
    {"semaphore-clock", run_semaphore_by_hand<CLOCK, RIGHT>},
    {"semaphore-no-acquire", run_semaphore_by_hand<SLEEP, NO_ACQUIRE>},
    {"sequence", run_sequence<RELAXED, NO_REST>},
    {"sequence-volatile", run_sequence<VOLATILES, NO_REST>},
    {"sequence-sleep", run_sequence<RELAXED, SLEEP>},
    {"sequence-volatile-sleep", run_sequence<VOLATILES, SLEEP>},
    {"sequence-plain", run_sequence<PLAIN, NO_REST>},
    {"ring-of-warps", run_ring<1, NO_REST, RIGHT>},
    {"ring-of-warps-sleep", run_ring<1, SLEEP, RIGHT>},
    {"ring-of-warps-clock", run_ring<1, CLOCK, RIGHT>},
    {"ring-of-blocks", run_ring<2, NO_REST, RIGHT>},
    {"ring-of-blocks-sleep", run_ring<2, SLEEP, RIGHT>},
    {"ring-of-blocks-clock", run_ring<2, CLOCK, RIGHT>},
    {"ring-by-release", run_ring_by_release<NO_REST, RIGHT>},
    {"ring-by-release-sleep", run_ring_by_release<SLEEP, RIGHT>},
    {"ring-by-release-clock", run_ring_by_release<CLOCK, RIGHT>},
    {"ring-of-warps-no-release", run_ring<1, SLEEP, NO_RELEASE>},
    {"ring-of-blocks-no-acquire", run_ring<2, SLEEP, NO_ACQUIRE>},
    {"ring-of-blocks-block-fences", run_ring<2, SLEEP, BLOCK_ONLY>},
    {"ring-by-release-no-acquire", run_ring_by_release<SLEEP, NO_ACQUIRE>},
    {"last-block", run_last_block<RIGHT>},
    {"last-block-no-release", run_last_block<NO_RELEASE>},
    {"last-block-block-fences", run_last_block<BLOCK_ONLY>},
    {"grid-barrier", run_grid_barrier<NO_REST, RIGHT>},
    {"grid-barrier-sleep", run_grid_barrier<SLEEP, RIGHT>},
    {"grid-barrier-clock", run_grid_barrier<CLOCK, RIGHT>},
    {"growing-barrier", run_growing_barrier<NO_REST, RIGHT>},
    {"growing-barrier-sleep", run_growing_barrier<SLEEP, RIGHT>},
    {"growing-barrier-clock", run_growing_barrier<CLOCK, RIGHT>},
    {"grid-barrier-no-release", run_grid_barrier<SLEEP, NO_RELEASE>},
    {"growing-barrier-block-fences", run_growing_barrier<SLEEP, BLOCK_ONLY>},
    {"wait-and-notify", run_notified<RIGHT>},
    {"wait-and-notify-relaxed", run_notified<NO_RELEASE>},
    {"wait-and-notify-no-acquire", run_notified<NO_ACQUIRE>},
    {"binary-semaphore", run_semaphore<binary, false>},
    {"binary-semaphore-early", run_semaphore<binary, true>},
    {"counting-semaphore", run_semaphore<counting, false>},
    {"counting-semaphore-early", run_semaphore<counting, true>},
    {"bounded-buffer", run_bounded<false>},
    {"bounded-buffer-early", run_bounded<true>},
    {"through-barrier", run_through_barrier<true>},
    {"through-barrier-no-wait", run_through_barrier<false>},
    {"through-device-barrier", run_device_barrier<true>},
    {"through-device-barrier-no-wait", run_device_barrier<false>},
    {"through-latch", run_through_latch<true>},
    {"through-latch-no-wait", run_through_latch<false>},
    {"two-streams", run_two_streams<BY_FENCE, NO_REST, RIGHT>},
    {"two-streams-sleep", run_two_streams<BY_FENCE, SLEEP, RIGHT>},
    {"two-streams-ref", run_two_streams<BY_REF, NO_REST, RIGHT>},
    {"two-streams-ref-sleep", run_two_streams<BY_REF, SLEEP, RIGHT>},
    {"two-streams-no-release", run_two_streams<BY_FENCE, SLEEP, NO_RELEASE>},
    {"two-streams-no-acquire", run_two_streams<BY_FENCE, SLEEP, NO_ACQUIRE>},
    {"two-streams-counter", run_two_counters},
    {"watchdog", run_watchdog},
    {"delay", run_delay<CYCLES, false>},
    {"delay-sleep", run_delay<CYCLES, true>},
    {"delay-short-clock", run_delay<CYCLES_OF_32_BITS, false>},
    {"delay-timer", run_delay<NANOSECONDS, false>},
    {"delay-timer-sleep", run_delay<NANOSECONDS, true>},
};

int main(int argc, char **argv)
{
    return run_case(argc, argv, CASES);
}
