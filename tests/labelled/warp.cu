// Lanes of one warp: they need __syncwarp() as threads need a barrier, and operations between lanes need their mask.
#include "cases.h"

enum { ALL_LANES = 0xffffffff };

// ---- A tree of one warp in shared memory.

enum Waits { BOTH, NOT_BEFORE_WRITE, NOT_AFTER_WRITE, NEITHER };

template <Waits waits> __global__ void warp_tree(const int *in, int *out)
{
    __shared__ int sums[64];
    const unsigned lane = threadIdx.x;
    sums[lane] = in[lane];
    sums[lane + 32] = in[lane + 32];
    __syncwarp();
    int sum = sums[lane];
    for (unsigned s = 32; s > 0; s /= 2) {
        sum += sums[lane + s];
        if (waits == BOTH || waits == NOT_AFTER_WRITE)
            __syncwarp();
        sums[lane] = sum;
        if (waits == BOTH || waits == NOT_BEFORE_WRITE)
            __syncwarp();
    }
    if (lane == 0)
        *out = sum;
}

template <Waits waits> static void run_warp_tree()
{
    int *in = numbers(64), *out = zeros<int>(1);
    warp_tree<waits><<<1, 32>>>(in, out);
    finish_and_free(in, out);
}

// ---- Lanes hand a value to each other through shared memory.

enum Between { SYNCWARP, SHUFFLE, VOTE, BLOCK_FENCE, BARRIER, NONE };

template <Between between> __global__ void hand_over(int *out)
{
    __shared__ int values[32];
    const unsigned lane = threadIdx.x;
    int extra = 0;
    values[lane] = 3 * lane;
    if (between == SYNCWARP)
        __syncwarp();
    if (between == SHUFFLE) // exchanges registers, orders no memory
        extra = __shfl_xor_sync(ALL_LANES, lane, 1);
    if (between == VOTE)
        extra = __any_sync(ALL_LANES, lane > 40);
    if (between == BLOCK_FENCE) // orders a lane's own accesses, waits for no other lane
        __threadfence_block();
    if (between == BARRIER)
        __syncthreads();
    out[lane] = values[31 - lane] + extra;
}

template <Between between> static void run_hand_over()
{
    int *out = zeros<int>(32);
    hand_over<between><<<1, 32>>>(out);
    finish_and_free(out);
}

// The two halves of a warp, each with its own mask.
template <bool across> __global__ void halves(int *out)
{
    __shared__ int values[32];
    const unsigned lane = threadIdx.x, half = lane / 16;
    values[lane] = lane;
    __syncwarp(half == 0 ? 0x0000ffff : 0xffff0000);
    out[lane] = values[across ? 31 - lane : half * 16 + 15 - lane % 16];
}

template <bool across> static void run_halves()
{
    int *out = zeros<int>(32);
    halves<across><<<1, 32>>>(out);
    finish_and_free(out);
}

// One side of a branch writes what the other reads.
template <bool wait> __global__ void two_sides(const int *in, int *out)
{
    __shared__ int value;
    if (threadIdx.x == 20)
        value = in[20]; // were it a number that the compiler knows, it would read nothing
    if (wait)
        __syncwarp();
    if (threadIdx.x < 16)
        out[threadIdx.x] = value;
}

template <bool wait> static void run_two_sides()
{
    int *in = numbers(32), *out = zeros<int>(32);
    two_sides<wait><<<1, 32>>>(in, out);
    finish_and_free(in, out);
}

// Through device memory instead of shared memory.
template <bool wait> __global__ void hand_over_global(int *values, int *out)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    values[i] = i;
    if (wait)
        __syncwarp();
    out[i] = values[i ^ 1];
}

template <bool wait> static void run_hand_over_global()
{
    int *values = zeros<int>(128), *out = zeros<int>(128);
    hand_over_global<wait><<<2, 64>>>(values, out);
    finish_and_free(values, out);
}

// __syncwarp() is not enough: the neighbour may be a lane of another warp.
__global__ void neighbour_warp(int *out)
{
    __shared__ int values[64];
    values[threadIdx.x] = threadIdx.x;
    __syncwarp();
    out[threadIdx.x] = values[(threadIdx.x + 1) % 64];
}

static void run_neighbour_warp()
{
    int *out = zeros<int>(64);
    neighbour_warp<<<1, 64>>>(out);
    finish_and_free(out);
}

// Lanes write different values to one place: which one stays is not defined.
template <bool atomic> __global__ void one_place(int *place)
{
    if (atomic)
        atomicMax(place, threadIdx.x);
    else
        *place = threadIdx.x;
}

template <bool atomic> static void run_one_place()
{
    int *place = zeros<int>(1);
    one_place<atomic><<<1, 32>>>(place);
    finish_and_free(place);
}

// One lane adds for all that want to: the usual aggregation.
template <bool atomic> __global__ void aggregated(const int *in, int *list, int *count)
{
    const unsigned lane = threadIdx.x % 32;
    const bool wants = in[threadIdx.x] % 3 == 0;
    const unsigned all = __ballot_sync(ALL_LANES, wants);
    int first = 0;
    if (lane == 0) {
        if (atomic) {
            first = atomicAdd(count, __popc(all));
        } else {
            first = *count;
            *count = first + __popc(all);
        }
    }
    first = __shfl_sync(ALL_LANES, first, 0);
    if (wants && first + __popc(all & ((1u << lane) - 1)) < 128)
        list[first + __popc(all & ((1u << lane) - 1))] = atomic ? threadIdx.x : 1;
}

template <bool atomic> static void run_aggregated()
{
    int *in = numbers(128), *list = zeros<int>(128), *count = zeros<int>(1);
    aggregated<atomic><<<1, 128>>>(in, list, count);
    finish_and_free(in, list, count);
}

// ---- Masks.

// A tree of registers in a branch of half of the lanes: its mask names these, or all.
template <unsigned mask> __global__ void shuffle_in_branch(const int *in, int *out)
{
    int value = in[threadIdx.x];
    if (threadIdx.x < 16)
        for (int s = 8; s > 0; s /= 2)
            value += __shfl_down_sync(mask, value, s, 16); // beyond these 16 there is no lane to read from
    __syncwarp(); // here the other lanes are, and have not ended
    out[threadIdx.x] = value;
}

template <unsigned mask> static void run_shuffle_in_branch()
{
    int *in = numbers(32), *out = zeros<int>(32);
    shuffle_in_branch<mask><<<1, 32>>>(in, out);
    finish_and_free(in, out);
}

// A lane that calls it is not in its own mask.
template <unsigned mask> __global__ void caller_in_mask(const int *in, int *out)
{
    out[threadIdx.x] = __shfl_xor_sync(mask, in[threadIdx.x], 1);
}

template <unsigned mask> static void run_caller_in_mask()
{
    int *in = numbers(32), *out = zeros<int>(32);
    caller_in_mask<mask><<<1, 32>>>(in, out);
    finish_and_free(in, out);
}

// A lane reads the register of one that does not take part.
template <unsigned source> __global__ void source_takes_part(const int *in, int *out)
{
    if (threadIdx.x < 8)
        out[threadIdx.x] = __shfl_sync(0xff, in[threadIdx.x], source);
}

template <unsigned source> static void run_source_takes_part()
{
    int *in = numbers(32), *out = zeros<int>(32);
    source_takes_part<source><<<1, 32>>>(in, out);
    finish_and_free(in, out);
}

// __syncwarp with a mask in which the lane that calls it is missing.
template <unsigned mask> __global__ void syncwarp_mask(int *out)
{
    __shared__ int values[32];
    values[threadIdx.x] = threadIdx.x;
    __syncwarp(mask);
    if (threadIdx.x < 16)
        out[threadIdx.x] = values[15 - threadIdx.x];
}

template <unsigned mask> static void run_syncwarp_mask()
{
    int *out = zeros<int>(32);
    syncwarp_mask<mask><<<1, 32>>>(out);
    finish_and_free(out);
}

// Only the lanes that are there take part, and their mask says so.
__global__ void last_lanes(const int *in, int *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned there = __ballot_sync(ALL_LANES, i < n);
    if (i < n)
        out[i] = __reduce_add_sync(there, in[i]);
}

static void run_last_lanes()
{
    int *in = numbers(40), *out = zeros<int>(40);
    last_lanes<<<1, 64>>>(in, out, 40);
    finish_and_free(in, out);
}

// A queue in shared memory, which the lanes of a warp fill and empty in turns.
template <bool second_wait> __global__ void warp_queue(const int *in, int *out)
{
    __shared__ int queue[4][32];
    int *const own = queue[threadIdx.x / 32];
    const unsigned lane = threadIdx.x % 32;
    int sum = 0;
    for (int round = 0; round < 4; round++) {
        own[lane] = in[threadIdx.x] + round;
        __syncwarp();
        sum += own[(lane + round + 1) % 32];
        if (second_wait)
            __syncwarp();
    }
    out[threadIdx.x] = sum;
}

template <bool second_wait> static void run_warp_queue()
{
    int *in = numbers(128), *out = zeros<int>(128);
    warp_queue<second_wait><<<1, 128>>>(in, out);
    finish_and_free(in, out);
}

// Lanes store in one place: together the same value, or one after the other their own.
enum Stores { ONE_VALUE, UNROLLED, ROLLED, IN_TURN };

template <Stores stores> __global__ void store_in_one_place(int *out, int turns)
{
    __shared__ int pairs[32], place[1];
    const int lane = threadIdx.x;
    if (stores == ONE_VALUE)
        place[0] = turns;
    if (stores == UNROLLED) {
#pragma unroll
        for (int k = 0; k < 2; k++)
            pairs[lane & (k ? ~1 : ~0)] = k; // racy: lane 2m's 0 and lane 2m + 1's 1
    }
    if (stores == ROLLED || stores == IN_TURN) {
#pragma unroll 1
        for (int k = 0; k < turns; k++) {
            if (lane == k)
                place[0] = k; // racy without the __syncwarp
            if (stores == IN_TURN)
                __syncwarp();
        }
    }
    __syncwarp();
    out[lane] = stores == UNROLLED ? pairs[lane & ~1] : place[0];
}

template <Stores stores> static void run_store_in_one_place()
{
    int *out = zeros<int>(32);
    store_in_one_place<stores><<<1, 32>>>(out, 2);
    finish_and_free(out);
}

// Each lane that finds a 0 sets the flag, at its own turn: by PTX's memory model a race, though all store the same.
__global__ void flag_at_turns(const int *in, int *found)
{
    const int lane = threadIdx.x;
#pragma unroll 1
    for (int k = 0; k < 4; k++)
        if (in[lane] == k)
            *found = 1;
}

static void run_flag_at_turns()
{
    int *in = numbers(32), *found = zeros<int>(1);
    flag_at_turns<<<1, 32>>>(in, found);
    finish_and_free(in, found);
}

// Half of the warp stores in one allocation, half in another: once the same value, or another one after that.
template <bool again> __global__ void store_in_two(int *a, int *b, int turns)
{
    const int lane = threadIdx.x;
    int *place = lane < 16 ? a : b;
    if (!again)
        *place = 1;
#pragma unroll 1
    for (int k = 0; again && k < turns; k++)
        if (lane % 16 == k)
            *place = k; // racy: lane 0's 0 and lane 1's 1
}

template <bool again> static void run_store_in_two()
{
    int *a = zeros<int>(32), *b = zeros<int>(32);
    store_in_two<again><<<1, 32>>>(a, b, 2);
    finish_and_free(a, b);
}

// ---- Lanes in the mask that never come to the operation, and end

enum Operation { SHUFFLE_OPERATION, BALLOT, SYNCWARP_OPERATION };

// Half of the lanes execute an operation in a branch; the others go on and end.
template <Operation operation, unsigned mask> __global__ void operation_in_branch(const int *in, int *out)
{
    int value = in[threadIdx.x];
    if (threadIdx.x < 16) {
        if (operation == SHUFFLE_OPERATION)
            value += __shfl_xor_sync(mask, value, 8); // reads from these lanes only
        else if (operation == BALLOT)
            value = __ballot_sync(mask, value > 3) & 0xffff;
        else
            __syncwarp(mask);
    }
    out[threadIdx.x] = value;
}

// Half of the lanes have one more iteration: its ballot names all lanes, or those that are in the loop.
template <bool names_all> __global__ void unequal_iterations(const int *in, int *out)
{
    int count = 0;
    for (int i = threadIdx.x; i < 48; i += 32)
        count += __popc(__ballot_sync(names_all || i < 32 ? ALL_LANES : 0xffff, in[i] > 3) & 0xffff);
    out[threadIdx.x] = count;
}

// Half of the lanes return, at once or after work of their own. An operation waits only for lanes that have not exited.
template <bool works> __global__ void return_before_shuffle(const int *in, int *out)
{
    int value = in[threadIdx.x];
    if (threadIdx.x >= 16) {
        if (works)
            out[threadIdx.x] = 3 * value + in[threadIdx.x - 16];
        return;
    }
    value += __shfl_xor_sync(ALL_LANES, value, 8);
    out[threadIdx.x] = value;
}

template <void (*kernel)(const int *, int *)> static void run_awaited()
{
    int *in = numbers(48), *out = zeros<int>(32);
    kernel<<<1, 32>>>(in, out);
    finish_and_free(in, out);
}

static const Case CASES[] = {
    {"tree", run_warp_tree<BOTH>},
    {"tree-no-wait-before-write", run_warp_tree<NOT_BEFORE_WRITE>},
    {"tree-no-wait-after-write", run_warp_tree<NOT_AFTER_WRITE>},
    {"tree-no-wait", run_warp_tree<NEITHER>},
    {"hand-over-syncwarp", run_hand_over<SYNCWARP>},
    {"hand-over-shuffle", run_hand_over<SHUFFLE>},
    {"hand-over-vote", run_hand_over<VOTE>},
    {"hand-over-fence", run_hand_over<BLOCK_FENCE>},
    {"hand-over-barrier", run_hand_over<BARRIER>},
    {"hand-over-unordered", run_hand_over<NONE>},
    {"halves", run_halves<false>},
    {"halves-across", run_halves<true>},
    {"two-sides", run_two_sides<true>},
    {"two-sides-unordered", run_two_sides<false>},
    {"global", run_hand_over_global<true>},
    {"global-unordered", run_hand_over_global<false>},
    {"neighbour-warp", run_neighbour_warp},
    {"one-place-atomic", run_one_place<true>},
    {"one-place-plain", run_one_place<false>},
    {"aggregated", run_aggregated<true>},
    {"aggregated-plain-count", run_aggregated<false>},
    {"shuffle-half", run_shuffle_in_branch<0x0000ffff>},
    {"shuffle-half-full-mask", run_shuffle_in_branch<ALL_LANES>},
    {"branch-shuffle", run_awaited<operation_in_branch<SHUFFLE_OPERATION, 0xffff>>},
    {"branch-shuffle-full-mask", run_awaited<operation_in_branch<SHUFFLE_OPERATION, ALL_LANES>>},
    {"branch-ballot", run_awaited<operation_in_branch<BALLOT, 0xffff>>},
    {"branch-ballot-full-mask", run_awaited<operation_in_branch<BALLOT, ALL_LANES>>},
    {"branch-syncwarp", run_awaited<operation_in_branch<SYNCWARP_OPERATION, 0xffff>>},
    {"branch-syncwarp-full-mask", run_awaited<operation_in_branch<SYNCWARP_OPERATION, ALL_LANES>>},
    {"unequal-iterations", run_awaited<unequal_iterations<false>>},
    {"unequal-iterations-full-mask", run_awaited<unequal_iterations<true>>},
    {"return-before-shuffle", run_awaited<return_before_shuffle<false>>},
    {"return-after-work-before-shuffle", run_awaited<return_before_shuffle<true>>},
    {"shuffle-full", run_caller_in_mask<ALL_LANES>},
    {"shuffle-caller-not-in-mask", run_caller_in_mask<0x0000ffff>},
    {"source-takes-part", run_source_takes_part<3>},
    {"source-takes-no-part", run_source_takes_part<12>},
    {"syncwarp-full", run_syncwarp_mask<ALL_LANES>},
    {"syncwarp-caller-not-in-mask", run_syncwarp_mask<0x0000ffff>},
    {"last-lanes", run_last_lanes},
    {"queue", run_warp_queue<true>},
    {"queue-refilled-too-early", run_warp_queue<false>},
    {"one-place-one-value", run_store_in_one_place<ONE_VALUE>},
    {"one-place-one-value-at-turns", run_flag_at_turns},
    {"one-place-of-two-allocations", run_store_in_two<false>},
    {"one-place-of-two-allocations-at-turns", run_store_in_two<true>},
    {"one-place-unrolled", run_store_in_one_place<UNROLLED>},
    {"one-place-rolled", run_store_in_one_place<ROLLED>},
    {"one-place-in-turn", run_store_in_one_place<IN_TURN>},
};

int main(int argc, char **argv)
{
    return run_case(argc, argv, CASES);
}
