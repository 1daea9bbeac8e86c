// Flags, locks and tickets: what one thread wrote is visible to another only after a fence, or a release and an acquire,
// of a scope that holds both.
#include "cases.h"

#include <cuda/atomic>

enum { THREADS = 64 };

using device_ref = cuda::atomic_ref<int, cuda::thread_scope_device>;
using block_ref = cuda::atomic_ref<int, cuda::thread_scope_block>;

// ---- A flag from block 0 to block 1: thread 0 of each.

enum Fence { NO_FENCE, BLOCK_FENCE, DEVICE_FENCE, SYSTEM_FENCE, CPP_FENCE };

template <Fence fence> __device__ void fence_now(cuda::memory_order order)
{
    switch (fence) {
    case NO_FENCE: break;
    case BLOCK_FENCE: __threadfence_block(); break;
    case DEVICE_FENCE: __threadfence(); break;
    case SYSTEM_FENCE: __threadfence_system(); break;
    case CPP_FENCE: cuda::atomic_thread_fence(order, cuda::thread_scope_device); break;
    }
}

enum Flag { VOLATILE, EXCHANGE, RELAXED_REF, RELEASE_ACQUIRE, RELEASE_ONLY, ACQUIRE_ONLY, BLOCK_SCOPE, PTX_RELEASE_ACQUIRE };

template <Flag kind> __device__ void raise(int *flag, int value)
{
    switch (kind) {
    case VOLATILE: *(volatile int *)flag = value; break;
    case EXCHANGE: atomicExch(flag, value); break;
    case RELAXED_REF:
    case ACQUIRE_ONLY: device_ref(*flag).store(value, cuda::memory_order_relaxed); break;
    case RELEASE_ACQUIRE:
    case RELEASE_ONLY: device_ref(*flag).store(value, cuda::memory_order_release); break;
    case BLOCK_SCOPE: block_ref(*flag).store(value, cuda::memory_order_release); break;
    case PTX_RELEASE_ACQUIRE: asm volatile("st.release.gpu.b32 [%0], %1;" ::"l"(flag), "r"(value) : "memory"); break;
    }
}

template <Flag kind> __device__ int look(int *flag)
{
    int value = 0;
    switch (kind) {
    case VOLATILE: value = *(volatile int *)flag; break;
    case EXCHANGE: value = atomicAdd(flag, 0); break;
    case RELAXED_REF:
    case RELEASE_ONLY: value = device_ref(*flag).load(cuda::memory_order_relaxed); break;
    case RELEASE_ACQUIRE:
    case ACQUIRE_ONLY: value = device_ref(*flag).load(cuda::memory_order_acquire); break;
    case BLOCK_SCOPE: value = block_ref(*flag).load(cuda::memory_order_acquire); break;
    case PTX_RELEASE_ACQUIRE: asm volatile("ld.acquire.gpu.b32 %0, [%1];" : "=r"(value) : "l"(flag) : "memory"); break;
    }
    return value;
}

template <Flag kind> __device__ void wait_for(int *flag, int value)
{
    while (look<kind>(flag) != value)
        continue;
}

template <Flag kind, Fence writer, Fence reader> __global__ void message(int *data, int *flag, int *out)
{
    if (threadIdx.x != 0)
        return;
    if (blockIdx.x == 0) {
        *data = 42;
        fence_now<writer>(cuda::memory_order_release);
        raise<kind>(flag, 1);
    } else {
        wait_for<kind>(flag, 1);
        fence_now<reader>(cuda::memory_order_acquire);
        *out = *data;
    }
}

template <Flag kind, Fence writer, Fence reader> static void run_message()
{
    int *data = zeros<int>(1), *flag = zeros<int>(1), *out = zeros<int>(1);
    message<kind, writer, reader><<<2, THREADS>>>(data, flag, out);
    finish_and_free(data, flag, out);
}

// The same between two warps of a block, in shared memory.
template <Fence fence> __global__ void message_in_block(const int *in, int *out)
{
    __shared__ int data, flag;
    if (threadIdx.x == 0)
        flag = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        data = *in; // a constant would be propagated by the compiler, and not read
        fence_now<fence>(cuda::memory_order_release);
        raise<VOLATILE>(&flag, 1);
    } else if (threadIdx.x == 32) {
        wait_for<VOLATILE>(&flag, 1);
        fence_now<fence>(cuda::memory_order_acquire);
        *out = data;
    }
}

template <Fence fence> static void run_message_in_block()
{
    int *in = numbers(1), *out = zeros<int>(1);
    message_in_block<fence><<<1, THREADS>>>(in, out);
    finish_and_free(in, out);
}

// The data are volatile, too. With a fence they come in order; without one nothing says which is seen first. TESTED: a branch depends on
// the data, which are stored in any case. VALIDATED: the data are stored only if the branch finds that they are there.
enum Use { STORED, TESTED, VALIDATED };

template <Fence fence, Use use> __global__ void volatile_message(volatile int *data, volatile int *flag, int *out)
{
    if (threadIdx.x != 0)
        return;
    if (blockIdx.x == 0) {
        *data = 42;
        fence_now<fence>(cuda::memory_order_release);
        *flag = 1;
    } else {
        while (*flag == 0)
            continue;
        fence_now<fence>(cuda::memory_order_acquire);
        const int value = *data;
        if (use == TESTED && value != 0)
            out[1] = 1;
        if (use != VALIDATED || value != 0)
            out[0] = value;
    }
}

template <Fence fence, Use use = STORED> static void run_volatile_message()
{
    int *data = zeros<int>(1), *flag = zeros<int>(1), *out = zeros<int>(2);
    volatile_message<fence, use><<<2, THREADS>>>(data, flag, out);
    finish_and_free(data, flag, out);
}

enum Mistake { PLAIN_FLAG, FLAG_FIRST, WRITTEN_AGAIN, READ_FIRST };

template <Mistake mistake> __global__ void wrong_message(int *data, int *flag, int *out)
{
    if (threadIdx.x != 0)
        return;
    if (blockIdx.x == 0) {
        if (mistake == FLAG_FIRST) {
            raise<VOLATILE>(flag, 1);
            __threadfence();
        }
        *data = 42;
        __threadfence();
        if (mistake == PLAIN_FLAG)
            *flag = 1;
        else if (mistake != FLAG_FIRST)
            raise<VOLATILE>(flag, 1);
        if (mistake == WRITTEN_AGAIN)
            *data = 43;
    } else if (mistake == PLAIN_FLAG) {
        if (*flag == 1) {
            __threadfence();
            *out = *data;
        }
    } else {
        int early = 0;
        if (mistake == READ_FIRST)
            early = *data;
        wait_for<VOLATILE>(flag, 1);
        __threadfence();
        *out = early + (mistake == READ_FIRST ? 0 : *data);
    }
}

template <Mistake mistake> static void run_wrong_message()
{
    int *data = zeros<int>(1), *flag = zeros<int>(1), *out = zeros<int>(1);
    wrong_message<mistake><<<2, THREADS>>>(data, flag, out);
    finish_and_free(data, flag, out);
}

// A whole block writes, one thread raises the flag, one thread of the other block waits, and all of it read.
template <bool writers_meet, bool readers_meet> __global__ void block_message(int *data, int *flag, int *out)
{
    if (blockIdx.x == 0) {
        data[threadIdx.x] = threadIdx.x;
        if (writers_meet)
            __syncthreads();
        if (threadIdx.x == 0) {
            __threadfence();
            raise<VOLATILE>(flag, 1);
        }
    } else {
        if (threadIdx.x == 0) {
            wait_for<VOLATILE>(flag, 1);
            __threadfence();
        }
        if (readers_meet)
            __syncthreads();
        out[threadIdx.x] = data[THREADS - 1 - threadIdx.x];
    }
}

template <bool writers_meet, bool readers_meet> static void run_block_message()
{
    int *data = zeros<int>(THREADS), *flag = zeros<int>(1), *out = zeros<int>(THREADS);
    block_message<writers_meet, readers_meet><<<2, THREADS>>>(data, flag, out);
    finish_and_free(data, flag, out);
}

// From block 0 over block 1 to block 2, which never asks block 0.
template <bool ordered> __global__ void chain(int *data, int *flags, int *out)
{
    if (threadIdx.x != 0)
        return;
    if (blockIdx.x == 0) {
        *data = 42;
        raise<RELEASE_ACQUIRE>(&flags[0], 1);
    } else if (blockIdx.x == 1) {
        if (ordered)
            wait_for<RELEASE_ACQUIRE>(&flags[0], 1);
        else
            wait_for<RELAXED_REF>(&flags[0], 1);
        raise<RELEASE_ACQUIRE>(&flags[1], 1);
    } else {
        wait_for<RELEASE_ACQUIRE>(&flags[1], 1);
        *out = *data;
    }
}

template <bool ordered> static void run_chain()
{
    int *data = zeros<int>(1), *flags = zeros<int>(2), *out = zeros<int>(1);
    chain<ordered><<<3, THREADS>>>(data, flags, out);
    finish_and_free(data, flags, out);
}

// Three hops: within block 0, to block 1, and within block 1. Each wants fences that hold its own two sides; `early` is
// one that lies before all that is handed over, `mid` stands with the others of the thread that hands on.
template <Fence early, Fence first, Fence mid, Fence across, Fence back> __global__ void relay(int *data, int *flags, int *out)
{
    const int block = blockIdx.x, thread = threadIdx.x;
    fence_now<early>(cuda::memory_order_acq_rel);
    if (block == 0 && thread == 0) {
        *data = 42;
        fence_now<first>(cuda::memory_order_release);
        raise<EXCHANGE>(&flags[0], 1);
    } else if (block == 0 && thread == 32) {
        wait_for<EXCHANGE>(&flags[0], 1);
        fence_now<mid>(cuda::memory_order_acquire);
        fence_now<across>(cuda::memory_order_acq_rel);
        raise<EXCHANGE>(&flags[1], 1);
    } else if (block == 1 && thread == 0) {
        wait_for<EXCHANGE>(&flags[1], 1);
        fence_now<back>(cuda::memory_order_acq_rel);
        fence_now<mid>(cuda::memory_order_release);
        raise<EXCHANGE>(&flags[2], 1);
    } else if (block == 1 && thread == 32) {
        wait_for<EXCHANGE>(&flags[2], 1);
        fence_now<first>(cuda::memory_order_acquire);
        *out = *data;
    }
}

template <Fence early, Fence first, Fence mid, Fence across, Fence back> static void run_relay()
{
    int *data = zeros<int>(1), *flags = zeros<int>(3), *out = zeros<int>(1);
    relay<early, first, mid, across, back><<<2, THREADS>>>(data, flags, out);
    finish_and_free(data, flags, out);
}

// The same with releases and acquires: of block scope in block 0, then of the scope of `across`.
template <Flag across> __global__ void relay_by_release(int *data, int *flags, int *out)
{
    const int block = blockIdx.x, thread = threadIdx.x;
    if (block == 0 && thread == 0) {
        *data = 42;
        raise<BLOCK_SCOPE>(&flags[0], 1);
    } else if (block == 0 && thread == 32) {
        wait_for<BLOCK_SCOPE>(&flags[0], 1);
        raise<across>(&flags[1], 1);
    } else if (block == 1 && thread == 0) {
        wait_for<across>(&flags[1], 1);
        *out = *data;
    }
}

template <Flag across> static void run_relay_by_release()
{
    int *data = zeros<int>(1), *flags = zeros<int>(2), *out = zeros<int>(1);
    relay_by_release<across><<<2, THREADS>>>(data, flags, out);
    finish_and_free(data, flags, out);
}

// A fence of device scope comes before the data are written, one of another scope after that: to a warp of the block, or
// to another block.
template <Fence fence> __global__ void fenced_early(int *data, int *flag, int *out, int reader_block)
{
    const int block = blockIdx.x, thread = threadIdx.x;
    if (block == 0 && thread == 0) {
        data[1] = 7;
        __threadfence();
        data[0] = 42;
        fence_now<fence>(cuda::memory_order_release);
        raise<EXCHANGE>(flag, 1);
    } else if (block == reader_block && thread == 32) {
        wait_for<EXCHANGE>(flag, 1);
        __threadfence();
        *out = data[0] + data[1];
    }
}

template <Fence fence, int reader_block> static void run_fenced_early()
{
    int *data = zeros<int>(2), *flag = zeros<int>(1), *out = zeros<int>(1);
    fenced_early<fence><<<2, THREADS>>>(data, flag, out, reader_block);
    finish_and_free(data, flag, out);
}

// Block 1 adds to the flag without any order; what block 0 released goes on through such an addition, not through a store.
template <bool by_addition> __global__ void passed_on(int *data, int *flag, int *out)
{
    if (threadIdx.x != 0)
        return;
    if (blockIdx.x == 0) {
        *data = 42;
        raise<RELEASE_ACQUIRE>(flag, 1);
    } else if (blockIdx.x == 1) {
        wait_for<RELAXED_REF>(flag, 1);
        if (by_addition)
            device_ref(*flag).fetch_add(1, cuda::memory_order_relaxed);
        else
            device_ref(*flag).store(2, cuda::memory_order_relaxed);
    } else {
        wait_for<RELEASE_ACQUIRE>(flag, 2);
        *out = *data;
    }
}

template <bool by_addition> static void run_passed_on()
{
    int *data = zeros<int>(1), *flag = zeros<int>(1), *out = zeros<int>(1);
    passed_on<by_addition><<<3, THREADS>>>(data, flag, out);
    finish_and_free(data, flag, out);
}

// Block 1 has a fence, too, but not between its look at the flag and its own store: it hands on nothing of block 0.
template <bool between> __global__ void overwritten(int *data, int *flag, int *out)
{
    if (threadIdx.x != 0)
        return;
    if (blockIdx.x == 0) {
        *data = 42;
        __threadfence();
        raise<VOLATILE>(flag, 1);
    } else if (blockIdx.x == 1) {
        if (!between)
            __threadfence();
        wait_for<VOLATILE>(flag, 1);
        if (between)
            __threadfence();
        raise<VOLATILE>(flag, 2);
        raise<VOLATILE>(flag, 3);
    } else {
        wait_for<VOLATILE>(flag, 3);
        __threadfence();
        *out = *data;
    }
}

template <bool between> static void run_overwritten()
{
    int *data = zeros<int>(1), *flag = zeros<int>(1), *out = zeros<int>(1);
    overwritten<between><<<3, THREADS>>>(data, flag, out);
    finish_and_free(data, flag, out);
}

// A buffer of one element that goes from block 0 to block 1 and back: needs both at once, and so many rounds that they meet.
template <bool answered> __global__ void ping_pong(int *data, int *sent, int *taken, int *out)
{
    if (threadIdx.x != 0)
        return;
    int sum = 0;
    for (int round = 1; round <= 50; round++)
        if (blockIdx.x == 0) {
            if (answered)
                wait_for<RELEASE_ACQUIRE>(taken, round - 1);
            *data = round;
            raise<RELEASE_ACQUIRE>(sent, round);
        } else {
            while (device_ref(*sent).load(cuda::memory_order_acquire) < round)
                continue;
            sum += *data;
            raise<RELEASE_ACQUIRE>(taken, round);
        }
    if (blockIdx.x == 1)
        *out = sum;
}

template <bool answered> static void run_ping_pong()
{
    int *data = zeros<int>(1), *sent = zeros<int>(1), *taken = zeros<int>(1), *out = zeros<int>(1);
    ping_pong<answered><<<2, THREADS>>>(data, sent, taken, out);
    finish_and_free(data, sent, taken, out);
}

// ---- A lock around a counter.

enum Unlock { EXCHANGED, PLAIN_STORE, VOLATILE_STORE };

template <Fence after_lock, Fence before_unlock, Unlock unlock, bool block_lock>
__global__ void locked(int *lock, int *count)
{
    if (threadIdx.x != 0)
        return;
    while ((block_lock ? atomicCAS_block(lock, 0, 1) : atomicCAS(lock, 0, 1)) != 0)
        continue;
    fence_now<after_lock>(cuda::memory_order_acquire);
    *count += 1;
    fence_now<before_unlock>(cuda::memory_order_release);
    if (unlock == EXCHANGED)
        block_lock ? atomicExch_block(lock, 0) : atomicExch(lock, 0);
    else if (unlock == PLAIN_STORE)
        *lock = 0;
    else
        *(volatile int *)lock = 0;
}

template <Fence after_lock, Fence before_unlock, Unlock unlock, bool block_lock> static void run_locked()
{
    int *lock = zeros<int>(1), *count = zeros<int>(1);
    locked<after_lock, before_unlock, unlock, block_lock><<<4, 32>>>(lock, count);
    finish_and_free(lock, count);
}

// Lanes of one warp take the lock by turns, and so do the warps of a block.
template <Fence fence, bool shared_lock> __global__ void locked_by_all(int *global_lock, int *count)
{
    __shared__ int block_lock;
    int *const lock = shared_lock ? &block_lock : global_lock;
    if (shared_lock && threadIdx.x == 0)
        block_lock = 0;
    __syncthreads();
    for (bool done = false; !done;)
        if (atomicCAS(lock, 0, 1) == 0) {
            fence_now<fence>(cuda::memory_order_acquire);
            count[shared_lock ? blockIdx.x : 0] += 1;
            fence_now<fence>(cuda::memory_order_release);
            atomicExch(lock, 0);
            done = true;
        }
}

template <Fence fence, bool shared_lock> static void run_locked_by_all()
{
    int *lock = zeros<int>(1), *count = zeros<int>(2);
    locked_by_all<fence, shared_lock><<<2, THREADS>>>(lock, count);
    finish_and_free(lock, count);
}

// What is set under the lock is volatile: of two writes one is lost, where the unlock may be seen before the first.
template <Fence before_unlock> __global__ void set_under_lock(int *lock, volatile int *last)
{
    if (threadIdx.x % 32 != 0)
        return;
    while (atomicCAS(lock, 0, 1) != 0)
        continue;
    __threadfence();
    *last = threadIdx.x;
    fence_now<before_unlock>(cuda::memory_order_release);
    atomicExch(lock, 0);
}

template <Fence before_unlock> static void run_set_under_lock()
{
    int *lock = zeros<int>(1), *last = zeros<int>(1);
    set_under_lock<before_unlock><<<2, THREADS>>>(lock, last);
    finish_and_free(lock, last);
}

// Two threads take the lock: thread 0, perhaps without a fence after it, and another one of its warp or of the next.
template <Fence after_lock> __device__ void count_under_lock(int *lock, int *count)
{
    while (atomicCAS(lock, 0, 1) != 0)
        continue;
    fence_now<after_lock>(cuda::memory_order_acquire);
    *count += 1;
    __threadfence();
    atomicExch(lock, 0);
}

template <Fence after_first, int other> __global__ void locked_by_two(int *lock, int *count)
{
    if (threadIdx.x == 0)
        count_under_lock<after_first>(lock, count);
    else if (threadIdx.x == other)
        count_under_lock<DEVICE_FENCE>(lock, count);
}

template <Fence after_first, int other> static void run_locked_by_two()
{
    int *lock = zeros<int>(1), *count = zeros<int>(1);
    locked_by_two<after_first, other><<<1, THREADS>>>(lock, count);
    finish_and_free(lock, count);
}

enum LockMistake { TWO_LOCKS, READ_OUTSIDE, NOT_TAKEN, NONE };

template <LockMistake mistake> __global__ void wrong_lock(int *locks, int *count, int *out)
{
    if (mistake == NOT_TAKEN) { // whether it is free is asked, but the answer not heeded
        atomicCAS(locks, 0, 1);
        __threadfence();
        *count += 1;
        __threadfence();
        atomicExch(locks, 0);
        return;
    }
    if (threadIdx.x != 0)
        return;
    int *const lock = &locks[mistake == TWO_LOCKS ? blockIdx.x % 2 : 0];
    while (atomicCAS(lock, 0, 1) != 0)
        continue;
    __threadfence();
    *count += 1;
    __threadfence();
    atomicExch(lock, 0);
    if (mistake == READ_OUTSIDE)
        out[blockIdx.x] = *count;
}

template <LockMistake mistake> static void run_wrong_lock()
{
    int *locks = zeros<int>(2), *count = zeros<int>(1), *out = zeros<int>(4);
    wrong_lock<mistake><<<4, 32>>>(locks, count, out);
    finish_and_free(locks, count, out);
}

// A lock of each account, taken in the order of the accounts' numbers.
template <bool both> __global__ void transfers(int *locks, int *money)
{
    const int from = threadIdx.x % 8, to = (threadIdx.x * 5 + 1) % 8;
    const int first = min(from, to), second = max(from, to);
    if (first == second)
        return;
    for (bool done = false; !done;)
        if (atomicCAS(&locks[first], 0, 1) == 0) {
            if (!both || atomicCAS(&locks[second], 0, 1) == 0) {
                __threadfence();
                money[from] -= 1;
                money[to] += 1;
                __threadfence();
                if (both)
                    atomicExch(&locks[second], 0);
                done = true;
            }
            atomicExch(&locks[first], 0);
        }
}

template <bool both> static void run_transfers()
{
    int *locks = zeros<int>(8), *money = zeros<int>(8);
    transfers<both><<<1, THREADS>>>(locks, money);
    finish_and_free(locks, money);
}

// ---- The last block, found by a ticket, adds up the results of all blocks.

enum Ticket { FENCES, NO_FENCES, BLOCK_FENCES, TICKET_FIRST, NO_BARRIER, BLOCK_TICKET, ACQ_REL, RELAXED, RELEASE };

template <Ticket kind> __global__ void last_block(const int *in, int *partial, int *tickets, int *out)
{
    __shared__ bool last;
    const int i = blockIdx.x * THREADS + threadIdx.x;
    const bool draws = threadIdx.x == 0;
    int ticket = -1;
    if (kind == TICKET_FIRST && draws)
        ticket = atomicAdd(tickets, 1);
    partial[i] = 2 * in[i];
    if (kind != NO_BARRIER)
        __syncthreads();
    if (draws) {
        if (kind == FENCES || kind == NO_BARRIER || kind == BLOCK_TICKET || kind == TICKET_FIRST)
            __threadfence();
        if (kind == BLOCK_FENCES)
            __threadfence_block();
        if (kind == ACQ_REL)
            ticket = device_ref(*tickets).fetch_add(1, cuda::memory_order_acq_rel);
        else if (kind == RELAXED)
            ticket = device_ref(*tickets).fetch_add(1, cuda::memory_order_relaxed);
        else if (kind == RELEASE)
            ticket = device_ref(*tickets).fetch_add(1, cuda::memory_order_release);
        else if (kind == BLOCK_TICKET)
            ticket = atomicAdd_block(tickets, 1);
        else if (kind != TICKET_FIRST)
            ticket = atomicAdd(tickets, 1);
        if (kind == FENCES || kind == NO_BARRIER || kind == BLOCK_TICKET || kind == TICKET_FIRST)
            __threadfence();
        if (kind == BLOCK_FENCES)
            __threadfence_block();
        last = ticket == (int)gridDim.x - 1;
    }
    __syncthreads();
    if (!last)
        return;
    int sum = 0;
    for (unsigned b = 0; b < gridDim.x; b++)
        sum += partial[b * THREADS + (threadIdx.x + 1) % THREADS];
    out[threadIdx.x] = sum;
    if (draws)
        *tickets = 0; // for the next launch
}

template <Ticket kind> static void run_last_block()
{
    int *in = numbers(4 * THREADS), *partial = zeros<int>(4 * THREADS), *tickets = zeros<int>(1), *out = zeros<int>(THREADS);
    last_block<kind><<<4, THREADS>>>(in, partial, tickets, out);
    last_block<kind><<<4, THREADS>>>(in, partial, tickets, out);
    finish_and_free(in, partial, tickets, out);
}

// As NVIDIA's guide writes it: the sums are volatile, and only who writes them has a fence.
template <bool fence> __global__ void last_block_volatile(const int *in, volatile int *partial, unsigned *tickets, int *out)
{
    __shared__ bool last;
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = in[blockIdx.x];
        if (fence)
            __threadfence();
        last = atomicInc(tickets, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        int sum = 0;
        for (unsigned b = 0; b < gridDim.x; b++)
            sum += partial[b];
        *out = sum;
    }
}

template <bool fence> static void run_last_block_volatile()
{
    int *in = numbers(4), *partial = zeros<int>(4), *out = zeros<int>(1);
    unsigned *tickets = zeros<unsigned>(1);
    last_block_volatile<fence><<<4, THREADS>>>(in, partial, tickets, out);
    finish_and_free(in, partial, tickets, out);
}

// ---- A volatile word that says all there is to know: who waits for it needs no fence, however the loop asks.

enum Question { IN_A_CALL, IN_A_SWITCH };

static __device__ __noinline__ bool is_open(int word)
{
    return word == 7;
}

template <Question how> __global__ void wait_for_word(volatile int *word, int *out)
{
    if (threadIdx.x != 0)
        return;
    if (blockIdx.x == 0) {
        *word = 7;
        return;
    }
    for (bool closed = true; closed;)
        if (how == IN_A_CALL)
            closed = !is_open(*word);
        else
            switch (*word) {
            case 1:
                __nanosleep(10);
                break;
            case 7:
                closed = false;
                break;
            default:
                __nanosleep(1);
            }
    *out = 1;
}

template <Question how> static void run_wait_for_word()
{
    int *word = zeros<int>(1), *out = zeros<int>(1);
    wait_for_word<how><<<2, THREADS>>>(word, out);
    finish_and_free(word, out);
}

// ---- A running sum over blocks: each waits for the one before.

enum LookBack { ONE_WORD, TWO_WORDS, TWO_WORDS_NO_FENCE, PLAIN_WORD };

template <LookBack kind> __global__ void look_back(const int *in, int *sums, int *ready, unsigned long long *words, int *out)
{
    if (threadIdx.x != 0)
        return;
    const unsigned b = blockIdx.x;
    int before = 0;
    if (b > 0 && kind == ONE_WORD) { // value and flag come together
        unsigned long long word;
        do
            word = *(volatile unsigned long long *)&words[b - 1];
        while (word >> 32 == 0);
        before = (int)word;
    } else if (b > 0 && kind == PLAIN_WORD) {
        before = (int)words[b - 1];
    } else if (b > 0) {
        wait_for<VOLATILE>(&ready[b - 1], 1);
        if (kind == TWO_WORDS)
            __threadfence();
        before = sums[b - 1];
    }
    const int sum = before + in[b];
    if (kind == ONE_WORD || kind == PLAIN_WORD) {
        const unsigned long long word = 1ull << 32 | (unsigned)sum;
        if (kind == PLAIN_WORD)
            words[b] = word;
        else
            *(volatile unsigned long long *)&words[b] = word;
    } else {
        sums[b] = sum;
        if (kind == TWO_WORDS)
            __threadfence();
        raise<VOLATILE>(&ready[b], 1);
    }
    out[b] = sum;
}

template <LookBack kind> static void run_look_back()
{
    int *in = numbers(8), *sums = zeros<int>(8), *ready = zeros<int>(8), *out = zeros<int>(8);
    unsigned long long *words = zeros<unsigned long long>(8);
    look_back<kind><<<8, 32>>>(in, sums, ready, words, out);
    finish_and_free(in, sums, ready, words, out);
}

// ---- Made by who comes first: the others must see that it is done, not that it was begun.
template <bool done> __global__ void made_once(int *state, int *table, int *out)
{
    if (threadIdx.x % 32 != 0)
        return;
    if (atomicCAS(state, 0, 1) == 0) {
        *table = 42;
        __threadfence();
        atomicExch(state, 2);
    } else if (done) {
        while (atomicAdd(state, 0) != 2)
            continue;
        __threadfence();
    }
    out[blockIdx.x * 4 + threadIdx.x / 32] = *table;
}

template <bool done> static void run_made_once()
{
    int *state = zeros<int>(1), *table = zeros<int>(1), *out = zeros<int>(8);
    made_once<done><<<2, 128>>>(state, table, out);
    finish_and_free(state, table, out);
}

// ---- A ring in shared memory, from warp 0 to warp 1.
template <bool ordered> __global__ void ring(int *out)
{
    __shared__ int slots[4], head, tail;
    if (threadIdx.x == 0)
        head = tail = 0;
    __syncthreads();
    const cuda::memory_order release = ordered ? cuda::memory_order_release : cuda::memory_order_relaxed;
    const cuda::memory_order acquire = ordered ? cuda::memory_order_acquire : cuda::memory_order_relaxed;
    if (threadIdx.x == 0)
        for (int k = 0; k < 10; k++) {
            while (k - block_ref(tail).load(acquire) >= 4)
                continue;
            slots[k % 4] = k;
            block_ref(head).store(k + 1, release);
        }
    if (threadIdx.x == 32)
        for (int k = 0; k < 10; k++) {
            while (block_ref(head).load(acquire) <= k)
                continue;
            out[k] = slots[k % 4];
            block_ref(tail).store(k + 1, release);
        }
}

template <bool ordered> static void run_ring()
{
    int *out = zeros<int>(10);
    ring<ordered><<<1, THREADS>>>(out);
    finish_and_free(out);
}

// ---- Volatile words to which all threads write the same value, or whose order does not matter.
enum Setters { SAME_VALUE, ONE_STOPS, LAST_STOPS, LAST_STOPS_WRITERS, HIGHEST_SO_FAR };

template <Setters what> __global__ void set_by_many(volatile int *word, int *out)
{
    __shared__ int stop;
    const int setter = what == ONE_STOPS ? 0 : gridDim.x - 1;
    const bool waits = (what == ONE_STOPS || what == LAST_STOPS) && blockIdx.x != setter;
    if (what == SAME_VALUE && threadIdx.x == 0)
        *word = 1;
    if (what == HIGHEST_SO_FAR && threadIdx.x == 0) {
        int highest = 0;
        word[blockIdx.x] = blockIdx.x + 1;
        for (int b = 0; b < 4; b++)
            highest = max(highest, word[b]);
        out[blockIdx.x] = highest;
    }
    const bool stops = what == ONE_STOPS || what == LAST_STOPS || what == LAST_STOPS_WRITERS;
    if (stops && blockIdx.x == setter && threadIdx.x == 0)
        *word = 1;
    while (what == LAST_STOPS_WRITERS && threadIdx.x == 0 && !*word)
        ++*(volatile int *)&out[blockIdx.x];
    while (waits) { // one thread polls, and informs its block
        if (threadIdx.x == 0)
            stop = *word;
        __syncthreads();
        const bool stops = stop;
        __syncthreads();
        if (stops)
            break;
    }
}

template <Setters what> static void run_set_by_many()
{
    int *word = zeros<int>(4), *out = zeros<int>(4);
    set_by_many<what><<<4, THREADS>>>(word, out);
    finish_and_free(word, out);
}

static const Case CASES[] = {
    {"message-fences", run_message<VOLATILE, DEVICE_FENCE, DEVICE_FENCE>},
    {"message-system-fences", run_message<VOLATILE, SYSTEM_FENCE, SYSTEM_FENCE>},
    {"message-no-fence", run_message<VOLATILE, NO_FENCE, NO_FENCE>},
    {"message-no-writer-fence", run_message<VOLATILE, NO_FENCE, DEVICE_FENCE>},
    {"message-no-reader-fence", run_message<VOLATILE, DEVICE_FENCE, NO_FENCE>},
    {"message-block-fences", run_message<VOLATILE, BLOCK_FENCE, BLOCK_FENCE>},
    {"message-writer-block-fence", run_message<VOLATILE, BLOCK_FENCE, DEVICE_FENCE>},
    {"message-exchange-fences", run_message<EXCHANGE, DEVICE_FENCE, DEVICE_FENCE>},
    {"message-exchange-no-fence", run_message<EXCHANGE, NO_FENCE, NO_FENCE>},
    {"message-relaxed", run_message<RELAXED_REF, NO_FENCE, NO_FENCE>},
    {"message-relaxed-and-fences", run_message<RELAXED_REF, CPP_FENCE, CPP_FENCE>},
    {"message-release-acquire", run_message<RELEASE_ACQUIRE, NO_FENCE, NO_FENCE>},
    {"message-release-relaxed", run_message<RELEASE_ONLY, NO_FENCE, NO_FENCE>},
    {"message-relaxed-acquire", run_message<ACQUIRE_ONLY, NO_FENCE, NO_FENCE>},
    {"message-release-and-reader-fence", run_message<RELEASE_ONLY, NO_FENCE, DEVICE_FENCE>},
    {"message-release-block-scope", run_message<BLOCK_SCOPE, NO_FENCE, NO_FENCE>},
    {"message-ptx", run_message<PTX_RELEASE_ACQUIRE, NO_FENCE, NO_FENCE>},
    {"message-in-block", run_message_in_block<BLOCK_FENCE>},
    {"message-in-block-no-fence", run_message_in_block<NO_FENCE>},
    {"message-volatile-data", run_volatile_message<DEVICE_FENCE>},
    {"message-volatile-data-no-fence", run_volatile_message<NO_FENCE>},
    {"message-volatile-data-tested", run_volatile_message<DEVICE_FENCE, TESTED>},
    {"message-volatile-data-tested-no-fence", run_volatile_message<NO_FENCE, TESTED>},
    {"message-volatile-data-validated", run_volatile_message<NO_FENCE, VALIDATED>},
    {"message-plain-flag", run_wrong_message<PLAIN_FLAG>},
    {"message-flag-first", run_wrong_message<FLAG_FIRST>},
    {"message-written-again", run_wrong_message<WRITTEN_AGAIN>},
    {"message-read-first", run_wrong_message<READ_FIRST>},
    {"block-message", run_block_message<true, true>},
    {"block-message-writers-apart", run_block_message<false, true>},
    {"block-message-readers-apart", run_block_message<true, false>},
    {"chain", run_chain<true>},
    {"chain-relaxed-link", run_chain<false>},
    {"relay", run_relay<NO_FENCE, BLOCK_FENCE, BLOCK_FENCE, DEVICE_FENCE, DEVICE_FENCE>},
    {"relay-one-fence", run_relay<NO_FENCE, BLOCK_FENCE, NO_FENCE, DEVICE_FENCE, DEVICE_FENCE>},
    {"relay-early-fence", run_relay<DEVICE_FENCE, BLOCK_FENCE, BLOCK_FENCE, DEVICE_FENCE, DEVICE_FENCE>},
    {"relay-across-by-block-fence", run_relay<NO_FENCE, BLOCK_FENCE, BLOCK_FENCE, BLOCK_FENCE, DEVICE_FENCE>},
    {"relay-across-by-early-fence", run_relay<DEVICE_FENCE, BLOCK_FENCE, BLOCK_FENCE, NO_FENCE, DEVICE_FENCE>},
    {"relay-back-by-block-fence", run_relay<NO_FENCE, BLOCK_FENCE, BLOCK_FENCE, DEVICE_FENCE, BLOCK_FENCE>},
    {"relay-first-unfenced", run_relay<NO_FENCE, NO_FENCE, BLOCK_FENCE, DEVICE_FENCE, DEVICE_FENCE>},
    {"relay-by-release", run_relay_by_release<RELEASE_ACQUIRE>},
    {"relay-by-release-block-scope", run_relay_by_release<BLOCK_SCOPE>},
    {"fenced-early-in-block", run_fenced_early<BLOCK_FENCE, 0>},
    {"fenced-early-to-block", run_fenced_early<BLOCK_FENCE, 1>},
    {"fenced-early-unfenced", run_fenced_early<NO_FENCE, 0>},
    {"passed-on-by-addition", run_passed_on<true>},
    {"passed-on-by-store", run_passed_on<false>},
    {"ping-pong", run_ping_pong<true>},
    {"ping-pong-unanswered", run_ping_pong<false>},
    {"lock", run_locked<DEVICE_FENCE, DEVICE_FENCE, EXCHANGED, false>},
    {"lock-no-fence", run_locked<NO_FENCE, NO_FENCE, EXCHANGED, false>},
    {"lock-fence-before-unlock-only", run_locked<NO_FENCE, DEVICE_FENCE, EXCHANGED, false>},
    {"lock-fence-after-lock-only", run_locked<DEVICE_FENCE, NO_FENCE, EXCHANGED, false>},
    {"lock-block-fences", run_locked<BLOCK_FENCE, BLOCK_FENCE, EXCHANGED, false>},
    {"lock-plain-unlock", run_locked<DEVICE_FENCE, DEVICE_FENCE, PLAIN_STORE, false>},
    {"lock-volatile-unlock", run_locked<DEVICE_FENCE, DEVICE_FENCE, VOLATILE_STORE, false>},
    {"lock-block-scope", run_locked<DEVICE_FENCE, DEVICE_FENCE, EXCHANGED, true>},
    {"lock-by-lanes", run_locked_by_all<DEVICE_FENCE, false>},
    {"lock-by-lanes-no-fence", run_locked_by_all<NO_FENCE, false>},
    {"lock-in-shared", run_locked_by_all<BLOCK_FENCE, true>},
    {"lock-in-shared-no-fence", run_locked_by_all<NO_FENCE, true>},
    {"lock-of-two-warps", run_locked_by_two<DEVICE_FENCE, 32>},
    {"lock-of-two-warps-first-without-fence", run_locked_by_two<NO_FENCE, 32>},
    {"lock-of-two-lanes", run_locked_by_two<DEVICE_FENCE, 1>},
    {"lock-of-two-lanes-first-without-fence", run_locked_by_two<NO_FENCE, 1>},
    {"lock-one", run_wrong_lock<NONE>},
    {"lock-two-for-one", run_wrong_lock<TWO_LOCKS>},
    {"lock-read-outside", run_wrong_lock<READ_OUTSIDE>},
    {"lock-not-taken", run_wrong_lock<NOT_TAKEN>},
    {"lock-around-volatile", run_set_under_lock<DEVICE_FENCE>},
    {"lock-around-volatile-no-release", run_set_under_lock<NO_FENCE>},
    {"transfers", run_transfers<true>},
    {"transfers-one-lock", run_transfers<false>},
    {"ticket-fences", run_last_block<FENCES>},
    {"ticket-no-fence", run_last_block<NO_FENCES>},
    {"ticket-block-fences", run_last_block<BLOCK_FENCES>},
    {"ticket-first", run_last_block<TICKET_FIRST>},
    {"ticket-no-barrier", run_last_block<NO_BARRIER>},
    {"ticket-block-scope", run_last_block<BLOCK_TICKET>},
    {"ticket-acq-rel", run_last_block<ACQ_REL>},
    {"ticket-relaxed", run_last_block<RELAXED>},
    {"ticket-release-only", run_last_block<RELEASE>},
    {"ticket-volatile", run_last_block_volatile<true>},
    {"ticket-volatile-no-fence", run_last_block_volatile<false>},
    {"word-asked-in-a-call", run_wait_for_word<IN_A_CALL>},
    {"word-asked-in-a-switch", run_wait_for_word<IN_A_SWITCH>},
    {"look-back-one-word", run_look_back<ONE_WORD>},
    {"look-back-two-words", run_look_back<TWO_WORDS>},
    {"look-back-no-fence", run_look_back<TWO_WORDS_NO_FENCE>},
    {"look-back-plain-word", run_look_back<PLAIN_WORD>},
    {"made-once", run_made_once<true>},
    {"made-once-not-waited", run_made_once<false>},
    {"ring", run_ring<true>},
    {"ring-relaxed", run_ring<false>},
    {"overwritten", run_overwritten<true>},
    {"overwritten-early-fence", run_overwritten<false>},
    {"set-by-many", run_set_by_many<SAME_VALUE>},
    {"stop-through-shared", run_set_by_many<ONE_STOPS>},
    {"stop-through-shared-by-later", run_set_by_many<LAST_STOPS>},
    {"stop-of-writers-by-later", run_set_by_many<LAST_STOPS_WRITERS>},
    {"highest-so-far", run_set_by_many<HIGHEST_SO_FAR>},
};

int main(int argc, char **argv)
{
    return run_case(argc, argv, CASES);
}
