// Kernels that launch kernels: what orders a parent, its children, and these among each other.
#include "cases.h"

enum { THREADS = 64, BLOCKS = 4, ALL = THREADS * BLOCKS };

__global__ void add(const int *from, int *to, int count)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        to[i] += from[i];
}

__global__ void set(int *to, int count, int value)
{
    for (int i = threadIdx.x; i < count; i += blockDim.x)
        to[i] = value;
}

// ---- What a child sees of its parent

enum Before { BARRIER, NO_BARRIER, OWN_ELEMENT, WARP_BARRIER, NO_WARP_BARRIER };

template <Before before> __global__ void write_and_launch(int *values, int *sums)
{
    const int t = threadIdx.x;
    values[t] = t;
    if (before == BARRIER)
        __syncthreads();
    if (before == WARP_BARRIER)
        __syncwarp();
    if (before == OWN_ELEMENT)
        add<<<1, 1>>>(values + t, sums + t, 1);
    else if (t == 0)
        add<<<1, 32>>>(values, sums, blockDim.x);
}

template <Before before, int threads> static void run_before()
{
    int *values = zeros<int>(THREADS), *sums = zeros<int>(THREADS);
    write_and_launch<before><<<1, threads>>>(values, sums);
    finish_and_free(values, sums);
}

// Blocks write a part each; one of them launches a kernel that reads all of it.
enum Whole { FIRST_BLOCK, LAST_BLOCK, LAST_BLOCK_NO_FENCE, IN_TAIL };

template <Whole whole> __global__ void write_parts(int *values, int *sums, int *ready)
{
    __shared__ bool last;
    values[blockIdx.x * THREADS + threadIdx.x] = threadIdx.x;
    if (whole == LAST_BLOCK)
        __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
        last = atomicAdd(ready, 1) == BLOCKS - 1;
    __syncthreads();
    if (threadIdx.x == 0 && whole == IN_TAIL && blockIdx.x == 0)
        add<<<1, 32, 0, cudaStreamTailLaunch>>>(values, sums, ALL);
    else if (threadIdx.x == 0 && (whole == FIRST_BLOCK ? blockIdx.x == 0 : whole != IN_TAIL && last))
        add<<<1, 32>>>(values, sums, ALL);
}

template <Whole whole> static void run_parts()
{
    int *values = zeros<int>(ALL), *sums = zeros<int>(ALL), *ready = zeros<int>(1);
    write_parts<whole><<<BLOCKS, THREADS>>>(values, sums, ready);
    finish_and_free(values, sums, ready);
}

// ---- What the parent does when a child may run

enum After { READ, WRITE, WRITE_ELSEWHERE, TAIL_READS, TAIL_FIRST };

template <After after> __global__ void launch_and_go_on(int *values, int *sums)
{
    const int t = threadIdx.x;
    if (t == 0 && after == TAIL_FIRST)
        add<<<1, 32, 0, cudaStreamTailLaunch>>>(values, sums, THREADS);
    if (t == 0)
        set<<<1, 32>>>(values, THREADS, 3);
    __syncthreads();
    if (after == READ)
        sums[t] = values[t];
    if (after == WRITE)
        values[t] = t;
    if (after == WRITE_ELSEWHERE)
        sums[t] = t;
    if (t == 0 && after == TAIL_READS)
        add<<<1, 32, 0, cudaStreamTailLaunch>>>(values, sums, THREADS);
}

template <After after> static void run_after()
{
    int *values = zeros<int>(THREADS), *sums = zeros<int>(THREADS);
    launch_and_go_on<after><<<1, THREADS>>>(values, sums);
    add<<<1, 32>>>(values, sums, THREADS); // after the parent and all of its children
    finish_and_free(values, sums);
}

// ---- Children of one parent

enum Streams { DEFAULT_STREAM, ONE_STREAM, TWO_STREAMS, EVENT_BETWEEN, OTHER_WAY_ROUND, LONELY, LONELY_APART };

template <Streams streams> __global__ void launch_two(int *values, int *sums)
{
    cudaStream_t one = 0, two = 0;
    if (streams == ONE_STREAM || streams == TWO_STREAMS || streams == EVENT_BETWEEN || streams == OTHER_WAY_ROUND)
        cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
    two = one;
    if (streams == TWO_STREAMS || streams == EVENT_BETWEEN || streams == OTHER_WAY_ROUND)
        cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking);
    if (streams == LONELY || streams == LONELY_APART)
        one = two = cudaStreamFireAndForget;
    cudaEvent_t event;
    if (streams == EVENT_BETWEEN || streams == OTHER_WAY_ROUND)
        cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    if (streams == OTHER_WAY_ROUND)
        cudaEventRecord(event, one); // before there is something to wait for
    set<<<1, 32, 0, one>>>(values, THREADS, 3);
    if (streams == EVENT_BETWEEN)
        cudaEventRecord(event, one);
    if (streams == EVENT_BETWEEN || streams == OTHER_WAY_ROUND)
        cudaStreamWaitEvent(two, event, 0);
    if (streams == LONELY_APART)
        set<<<1, 32, 0, two>>>(sums, THREADS, 4);
    else
        add<<<1, 32, 0, two>>>(values, sums, THREADS);
}

template <Streams streams> static void run_two()
{
    int *values = zeros<int>(THREADS), *sums = zeros<int>(THREADS);
    launch_two<streams><<<1, 1>>>(values, sums);
    finish_and_free(values, sums);
}

// Threads of one block, or one thread of each block, launch into their default streams, in any order.
__global__ void launch_from_all(int *values, int *sums)
{
    add<<<1, 32>>>(values, sums, THREADS);
}

template <int blocks, int threads> static void run_from_all()
{
    int *values = zeros<int>(THREADS), *sums = zeros<int>(THREADS);
    launch_from_all<<<blocks, threads>>>(values, sums);
    finish_and_free(values, sums);
}

__global__ void count(int *counter)
{
    atomicAdd(counter, 1);
}

__global__ void launch_counting(int *counter)
{
    count<<<2, 32, 0, cudaStreamFireAndForget>>>(counter);
    atomicAdd(counter, 1);
}

static void run_counting()
{
    int *counter = zeros<int>(1);
    launch_counting<<<2, 4>>>(counter);
    finish_and_free(counter);
}

// A child writes one byte of each word, and its parent the next byte, or the same one.
__global__ void set_bytes(char *to, int words)
{
    for (int i = threadIdx.x; i < words; i += blockDim.x)
        to[4 * i] = 1;
}

template <int byte> __global__ void launch_and_set_bytes(char *bytes)
{
    if (threadIdx.x == 0)
        set_bytes<<<1, 32>>>(bytes, THREADS);
    __syncthreads();
    bytes[4 * threadIdx.x + byte] = 2;
}

template <int byte> static void run_bytes()
{
    char *bytes = zeros<char>(4 * THREADS);
    launch_and_set_bytes<byte><<<1, THREADS>>>(bytes);
    finish_and_free(bytes);
}

// Two children read; what follows the second of them, in its stream, writes.
template <bool one_stream> __global__ void launch_two_readers(int *values, int *sums)
{
    cudaStream_t one = 0, two;
    cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking);
    if (one_stream)
        one = two;
    add<<<1, 32, 0, one>>>(values, sums, THREADS);
    add<<<1, 32, 0, two>>>(values, sums + THREADS, THREADS);
    set<<<1, 32, 0, two>>>(values, THREADS, 3);
}

template <bool one_stream> static void run_two_readers()
{
    int *values = zeros<int>(THREADS), *sums = zeros<int>(2 * THREADS);
    launch_two_readers<one_stream><<<1, 1>>>(values, sums);
    finish_and_free(values, sums);
}

// ---- Deeper: what a child has launched counts as its own.

__global__ void set_through_child(int *values)
{
    if (threadIdx.x == 0)
        set<<<1, 32, 0, cudaStreamFireAndForget>>>(values, THREADS, 5);
}

template <bool one_stream> __global__ void launch_deeper(int *values, int *sums)
{
    cudaStream_t other = 0;
    if (!one_stream)
        cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
    set_through_child<<<1, 32>>>(values);
    add<<<1, 32, 0, other>>>(values, sums, THREADS);
}

template <bool one_stream> static void run_deeper()
{
    int *values = zeros<int>(THREADS), *sums = zeros<int>(THREADS);
    launch_deeper<one_stream><<<1, 1>>>(values, sums);
    finish_and_free(values, sums);
}

// A kernel that launches itself again in its tail: a loop.
__global__ void step(int *values, int times)
{
    values[threadIdx.x] += values[(threadIdx.x + 1) % THREADS] > times;
}

__global__ void loop(int *values, int times)
{
    if (threadIdx.x != 0)
        return;
    step<<<1, 1>>>(values, times);
    if (times > 0)
        loop<<<1, 32, 0, cudaStreamTailLaunch>>>(values, times - 1);
}

static void run_loop()
{
    int *values = zeros<int>(THREADS);
    loop<<<1, 32>>>(values, 40);
    finish_and_free(values);
}

// Children count, with or without a fence before it; the last one reads what all have written.
template <bool fence> __global__ void count_up(int *values, int place, int *ready, int *sum)
{
    values[place] = place;
    if (fence)
        __threadfence();
    if (atomicAdd(ready, 1) < BLOCKS - 1)
        return;
    if (fence)
        __threadfence();
    for (int i = 0; i < BLOCKS; i++)
        *sum += values[i];
}

template <bool fence> __global__ void launch_counters(int *values, int *ready, int *sum)
{
    for (int i = 0; i < BLOCKS; i++)
        count_up<fence><<<1, 1, 0, cudaStreamFireAndForget>>>(values, i, ready, sum);
}

template <bool fence> static void run_counters()
{
    int *values = zeros<int>(BLOCKS), *ready = zeros<int>(1), *sum = zeros<int>(1);
    launch_counters<fence><<<1, 1>>>(values, ready, sum);
    finish_and_free(values, ready, sum);
}

// ---- Copies, and launches that are refused

template <bool one_stream> __global__ void launch_and_copy(int *values, int *sums)
{
    cudaStream_t other = 0;
    if (!one_stream)
        cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
    set<<<1, 32>>>(values, THREADS, 5);
    cudaMemcpyAsync(sums, values, THREADS * sizeof *sums, cudaMemcpyDeviceToDevice, other);
}

template <bool one_stream> static void run_copy()
{
    int *values = zeros<int>(THREADS), *sums = zeros<int>(THREADS);
    launch_and_copy<one_stream><<<1, 1>>>(values, sums);
    finish_and_free(values, sums);
}

template <bool asks> __global__ void launch_too_many(int *values)
{
    for (int i = 0; i < 2100; i++)
        set<<<1, 1>>>(values, 1, i);
    if (asks)
        values[1] = cudaGetLastError() != cudaSuccess;
}

template <bool asks> static void run_too_many()
{
    int *values = zeros<int>(2);
    launch_too_many<asks><<<1, 1>>>(values);
    finish_and_free(values);
}

int main(int argc, char **argv)
{
    static const Case CASES[] = {{"child-after-barrier", run_before<BARRIER, THREADS>},
                                 {"child-without-barrier", run_before<NO_BARRIER, THREADS>},
                                 {"child-of-each-thread", run_before<OWN_ELEMENT, THREADS>},
                                 {"child-after-warp-barrier", run_before<WARP_BARRIER, 32>},
                                 {"child-without-warp-barrier", run_before<NO_WARP_BARRIER, 32>},
                                 {"child-reads-other-blocks", run_parts<FIRST_BLOCK>},
                                 {"child-of-last-block", run_parts<LAST_BLOCK>},
                                 {"child-of-last-block-no-fence", run_parts<LAST_BLOCK_NO_FENCE>},
                                 {"tail-reads-all-blocks", run_parts<IN_TAIL>},
                                 {"parent-reads-result", run_after<READ>},
                                 {"parent-writes-after-launch", run_after<WRITE>},
                                 {"parent-writes-elsewhere", run_after<WRITE_ELSEWHERE>},
                                 {"tail-reads-result", run_after<TAIL_READS>},
                                 {"tail-launched-first", run_after<TAIL_FIRST>},
                                 {"two-in-default-stream", run_two<DEFAULT_STREAM>},
                                 {"two-in-one-stream", run_two<ONE_STREAM>},
                                 {"two-in-two-streams", run_two<TWO_STREAMS>},
                                 {"two-with-event", run_two<EVENT_BETWEEN>},
                                 {"two-with-early-event", run_two<OTHER_WAY_ROUND>},
                                 {"two-fired-and-forgotten", run_two<LONELY>},
                                 {"two-fired-apart", run_two<LONELY_APART>},
                                 {"default-stream-of-block", run_from_all<1, 4>},
                                 {"default-streams-of-blocks", run_from_all<4, 1>},
                                 {"all-count-atomically", run_counting},
                                 {"other-bytes-of-a-word", run_bytes<1>},
                                 {"same-byte-of-a-word", run_bytes<0>},
                                 {"two-readers-in-stream", run_two_readers<true>},
                                 {"two-readers-apart", run_two_readers<false>},
                                 {"grandchild-in-stream", run_deeper<true>},
                                 {"grandchild-beside-stream", run_deeper<false>},
                                 {"loop-of-tails", run_loop},
                                 {"last-child-with-fences", run_counters<true>},
                                 {"last-child-without-fences", run_counters<false>},
                                 {"copy-in-stream", run_copy<true>},
                                 {"copy-beside-stream", run_copy<false>},
                                 {"too-many-unasked", run_too_many<false>},
                                 {"too-many-asked", run_too_many<true>}};
    return run_case(argc, argv, CASES);
}
