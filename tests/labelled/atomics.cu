// Atomic operations: their scope, their partners that are none, and what they order, which is nothing by themselves.
#include "cases.h"

#include <cuda/atomic>

enum { THREADS = 64, BLOCKS = 4 };

// ---- A sum of all threads in one place.

enum Add { DEVICE, BLOCK, PLAIN, VOLATILE, REF_DEVICE, REF_BLOCK, REF_SYSTEM };

template <Add add> __global__ void global_sum(const int *in, int *sum)
{
    const int value = in[blockIdx.x * THREADS + threadIdx.x];
    switch (add) {
    case DEVICE: atomicAdd(sum, value); break;
    case BLOCK: atomicAdd_block(sum, value); break;
    case PLAIN: *sum += value; break;
    case VOLATILE: *(volatile int *)sum += value; break;
    case REF_DEVICE: cuda::atomic_ref<int, cuda::thread_scope_device>(*sum).fetch_add(value, cuda::memory_order_relaxed); break;
    case REF_BLOCK: cuda::atomic_ref<int, cuda::thread_scope_block>(*sum).fetch_add(value, cuda::memory_order_relaxed); break;
    case REF_SYSTEM: cuda::atomic_ref<int>(*sum).fetch_add(value); break;
    }
}

template <Add add> static void run_global_sum()
{
    int *in = numbers(BLOCKS * THREADS), *sum = zeros<int>(1);
    global_sum<add><<<BLOCKS, THREADS>>>(in, sum);
    finish_and_free(in, sum);
}

// A sum for each block: the block's scope is wide enough.
template <bool own> __global__ void block_sums(const int *in, int *sums)
{
    atomicAdd_block(&sums[own ? blockIdx.x : blockIdx.x / 2], in[blockIdx.x * THREADS + threadIdx.x]);
}

template <bool own> static void run_block_sums()
{
    int *in = numbers(BLOCKS * THREADS), *sums = zeros<int>(BLOCKS);
    block_sums<own><<<BLOCKS, THREADS>>>(in, sums);
    finish_and_free(in, sums);
}

// Of two blocks one adds with the narrow scope, the other one with the wide.
__global__ void mixed_scopes(int *sum)
{
    if (blockIdx.x == 0)
        atomicAdd_block(sum, 1);
    else
        atomicAdd(sum, 1);
}

// One thread updates the word twice, first with the narrow or the wide scope; another block's update follows.
template <bool narrow> __global__ void scope_then_wider(int *sum)
{
    if (threadIdx.x != 0)
        return;
    if (blockIdx.x == 0 && narrow)
        atomicExch_block(sum, 1);
    else if (blockIdx.x == 0)
        atomicExch(sum, 1);
    atomicAdd(sum, 1);
}

template <bool narrow> static void run_scope_then_wider()
{
    int *sum = zeros<int>(1);
    scope_then_wider<narrow><<<2, THREADS>>>(sum);
    finish_and_free(sum);
}

static void run_mixed_scopes()
{
    int *sum = zeros<int>(1);
    mixed_scopes<<<2, THREADS>>>(sum);
    finish_and_free(sum);
}

// ---- Atomic and plain accesses to one place.

enum Plain { READ_AFTER_LAUNCH, READ_BY_ALL, ZERO_UNORDERED, ZERO_BEFORE_BARRIER, WRITTEN_BY_ONE };

template <Plain plain> __global__ void counter(int *count, int *out)
{
    __shared__ int local;
    if (plain == ZERO_UNORDERED && threadIdx.x == 0)
        *count = 0;
    if (plain == ZERO_BEFORE_BARRIER) {
        if (threadIdx.x == 0)
            local = 0;
        __syncthreads();
        atomicAdd(&local, 1);
    }
    atomicAdd(count, 1);
    if (plain == READ_BY_ALL)
        out[blockIdx.x * THREADS + threadIdx.x] = *count;
    if (plain == WRITTEN_BY_ONE && blockIdx.x == BLOCKS - 1 && threadIdx.x == THREADS - 1)
        *count = 5;
}

__global__ void read_count(const int *count, int *out)
{
    out[threadIdx.x] = *count;
}

template <Plain plain> static void run_counter()
{
    int *count = zeros<int>(1), *out = zeros<int>(BLOCKS * THREADS);
    counter<plain><<<BLOCKS, THREADS>>>(count, out);
    read_count<<<1, THREADS>>>(count, out);
    finish_and_free(count, out);
}

// The value that the operation returns is its thread's own; values that other threads stored later are not.
__global__ void tickets_as_places(int *count, int *list)
{
    list[atomicAdd(count, 1)] = blockIdx.x * THREADS + threadIdx.x;
}

__global__ void tickets_and_neighbour(int *count, int *list, int *out)
{
    const int place = atomicAdd(count, 1);
    list[place] = threadIdx.x;
    out[place] = place > 0 ? list[place - 1] : 0; // the one before has its ticket, its element need not be there
}

static void run_tickets_as_places()
{
    int *count = zeros<int>(1), *list = zeros<int>(BLOCKS * THREADS);
    tickets_as_places<<<BLOCKS, THREADS>>>(count, list);
    finish_and_free(count, list);
}

static void run_tickets_and_neighbour()
{
    int *count = zeros<int>(1), *list = zeros<int>(BLOCKS * THREADS), *out = zeros<int>(BLOCKS * THREADS);
    tickets_and_neighbour<<<BLOCKS, THREADS>>>(count, list, out);
    finish_and_free(count, list, out);
}

// ---- Read, change, write: by compare and swap, and by hand.

enum Change { SWAP_LOOP, FIRST_READ_PLAIN, READ_BESIDE, BY_HAND, ONLY_IF_LESS };

template <Change change> __global__ void largest(int *in, int *most)
{
    const int value = in[blockIdx.x * THREADS + threadIdx.x] * 37 % 101;
    if (change == READ_BESIDE) // the value is kept, and never tested
        in[blockIdx.x * THREADS + threadIdx.x] = *most;
    if (change == SWAP_LOOP || change == READ_BESIDE) {
        int seen = atomicAdd(most, 0);
        while (seen < value) {
            const int before = atomicCAS(most, seen, value);
            if (before == seen)
                break;
            seen = before;
        }
    } else if (change == FIRST_READ_PLAIN) {
        int seen = *most;
        while (seen < value) {
            const int before = atomicCAS(most, seen, value);
            if (before == seen)
                break;
            seen = before;
        }
    } else if (change == BY_HAND) {
        if (*most < value)
            *most = value;
    } else if (*most < value) { // a test that saves atomic operations, and reads what they write
        atomicMax(most, value);
    }
}

template <Change change> static void run_largest()
{
    int *in = numbers(BLOCKS * THREADS), *most = zeros<int>(1);
    largest<change><<<BLOCKS, THREADS>>>(in, most);
    finish_and_free(in, most);
}

// A union of bits: one thread's word through atomicOr, another's plain.
template <bool atomic> __global__ void bit_set(unsigned *words)
{
    const unsigned i = blockIdx.x * THREADS + threadIdx.x;
    if (atomic)
        atomicOr(&words[i / 32], 1u << i % 32);
    else
        words[i / 32] |= 1u << i % 32;
}

template <bool atomic> static void run_bit_set()
{
    unsigned *words = zeros<unsigned>(BLOCKS * THREADS / 32);
    bit_set<atomic><<<BLOCKS, THREADS>>>(words);
    finish_and_free(words);
}

// Half of a pair is changed atomically while others read the whole pair at once.
template <bool own> __global__ void pairs(int2 *all, int *out)
{
    const int i = blockIdx.x * THREADS + threadIdx.x, other = own ? i : (i + 1) % (BLOCKS * THREADS);
    atomicAdd(&all[i].x, 1);
    const int2 seen = all[other];
    out[i] = seen.x + seen.y;
}

template <bool own> static void run_pairs()
{
    int2 *all = zeros<int2>(BLOCKS * THREADS);
    int *out = zeros<int>(BLOCKS * THREADS);
    pairs<own><<<BLOCKS, THREADS>>>(all, out);
    finish_and_free(all, out);
}

// The operation is atomic with 32 bits for some threads, with 64 for others: they are none to each other.
__global__ void two_widths(unsigned long long *word)
{
    if (threadIdx.x % 2 == 0)
        atomicAdd(word, 1);
    else
        atomicAdd((unsigned *)word, 1);
}

static void run_two_widths()
{
    unsigned long long *word = zeros<unsigned long long>(1);
    two_widths<<<1, THREADS>>>(word);
    finish_and_free(word);
}

// Loads and stores of an atomic_ref are no race with each other, but plain ones beside them are.
template <bool all_atomic> __global__ void latest(int *place, int *out)
{
    cuda::atomic_ref<int, cuda::thread_scope_device> shared_place(*place);
    if (blockIdx.x == 0)
        shared_place.store(threadIdx.x, cuda::memory_order_relaxed);
    else
        out[threadIdx.x] = all_atomic ? shared_place.load(cuda::memory_order_relaxed) : *place;
}

template <bool all_atomic> static void run_latest()
{
    int *place = zeros<int>(1), *out = zeros<int>(THREADS);
    latest<all_atomic><<<2, THREADS>>>(place, out);
    finish_and_free(place, out);
}

// Sums in shared memory, then one atomic operation a block: two levels.
template <bool barrier> __global__ void two_levels(const int *in, int *sum)
{
    __shared__ int local;
    if (threadIdx.x == 0)
        local = 0;
    __syncthreads();
    atomicAdd_block(&local, in[blockIdx.x * THREADS + threadIdx.x]);
    if (barrier)
        __syncthreads();
    if (threadIdx.x == 0)
        atomicAdd(sum, local);
}

template <bool barrier> static void run_two_levels()
{
    int *in = numbers(BLOCKS * THREADS), *sum = zeros<int>(1);
    two_levels<barrier><<<BLOCKS, THREADS>>>(in, sum);
    finish_and_free(in, sum);
}

// Lanes of a warp look at a word of shared memory by a volatile load: before they update it, as a guess that the update tests or to save
// useless updates; or after it, to get the result of all updates.
enum Look { TO_GUESS, TO_SAVE, TO_GET };

template <Look look> __global__ void largest_of_warp(const int *in, int *out)
{
    __shared__ int largest;
    volatile int *now = &largest;
    const int value = in[threadIdx.x];
    if (threadIdx.x == 0)
        largest = 0;
    __syncwarp();
    if (look == TO_GUESS)
        for (int guess = *now, seen; guess < value && (seen = atomicCAS(&largest, guess, value)) != guess; guess = seen)
            continue;
    else if (look == TO_GET || *now < value)
        atomicMax(&largest, value);
    if (look != TO_GET)
        __syncwarp();
    out[threadIdx.x] = *now;
}

template <Look look> static void run_largest_of_warp()
{
    int *in = numbers(32), *out = zeros<int>(32);
    largest_of_warp<look><<<1, 32>>>(in, out);
    finish_and_free(in, out);
}

static const Case CASES[] = {
    {"sum-atomic", run_global_sum<DEVICE>},
    {"sum-block-scope", run_global_sum<BLOCK>},
    {"sum-plain", run_global_sum<PLAIN>},
    {"sum-volatile", run_global_sum<VOLATILE>},
    {"sum-ref", run_global_sum<REF_DEVICE>},
    {"sum-ref-block-scope", run_global_sum<REF_BLOCK>},
    {"sum-ref-system", run_global_sum<REF_SYSTEM>},
    {"block-sums", run_block_sums<true>},
    {"block-sums-of-two-blocks", run_block_sums<false>},
    {"mixed-scopes", run_mixed_scopes},
    {"block-scope-then-wider", run_scope_then_wider<true>},
    {"wide-scope-twice", run_scope_then_wider<false>},
    {"count-read-after-launch", run_counter<READ_AFTER_LAUNCH>},
    {"count-read-plain", run_counter<READ_BY_ALL>},
    {"count-zero-unordered", run_counter<ZERO_UNORDERED>},
    {"count-zero-before-barrier", run_counter<ZERO_BEFORE_BARRIER>},
    {"count-written-by-one", run_counter<WRITTEN_BY_ONE>},
    {"tickets-as-places", run_tickets_as_places},
    {"tickets-and-neighbour", run_tickets_and_neighbour},
    {"largest-swap-loop", run_largest<SWAP_LOOP>},
    {"largest-first-read-plain", run_largest<FIRST_READ_PLAIN>},
    {"largest-read-beside", run_largest<READ_BESIDE>},
    {"largest-by-hand", run_largest<BY_HAND>},
    {"largest-test-plain", run_largest<ONLY_IF_LESS>},
    {"largest-of-warp-guessed", run_largest_of_warp<TO_GUESS>},
    {"largest-of-warp-saved", run_largest_of_warp<TO_SAVE>},
    {"largest-of-warp-read-early", run_largest_of_warp<TO_GET>},
    {"bits-atomic", run_bit_set<true>},
    {"bits-plain", run_bit_set<false>},
    {"pairs-own", run_pairs<true>},
    {"pairs-of-neighbour", run_pairs<false>},
    {"two-widths", run_two_widths},
    {"latest-atomic", run_latest<true>},
    {"latest-plain-load", run_latest<false>},
    {"two-levels", run_two_levels<true>},
    {"two-levels-read-early", run_two_levels<false>},
};

int main(int argc, char **argv)
{
    return run_case(argc, argv, CASES);
}
