// guesses.cu: a plain read as the first guess of a compare-and-swap, as in the CUDA guide: an old value costs an iteration. Also
// compiled in ways in which the swap is a call, and the guess lies in memory.
#include "cases.h"

#include <cassert>

enum { THREADS = 64, BLOCKS = 4 };

enum Guess { TESTED, EARLY_EXIT, KEPT, AS_PLACE, OTHER_WORD, NOT_COMPARED };

// The largest of all threads' values. (constexpr: code for a debugger keeps what no thread can reach.)
template <Guess guess> __global__ void largest_float(float *most, float *out)
{
    const float value = float((blockIdx.x * THREADS + threadIdx.x) * 37 % 101);
    int *word = (int *)most, *tested = word + (guess == OTHER_WORD), old = *word;
    if constexpr (guess == EARLY_EXIT)
        if (__int_as_float(old) >= value)
            return;
    if constexpr (guess == KEPT) // without a test
        out[blockIdx.x * THREADS + threadIdx.x] = __int_as_float(old);
    if constexpr (guess == AS_PLACE)
        out[old & 15] = 1;
    if constexpr (guess == NOT_COMPARED) {
        atomicCAS(word, 0, old + 1);
        return;
    }
    int assumed;
    do {
        assumed = old;
        old = atomicCAS(tested, assumed, __float_as_int(fmaxf(value, __int_as_float(assumed))));
    } while (assumed != old);
    if constexpr (guess == OTHER_WORD)
        atomicAdd(word, 1);
}

template <Guess guess> static void run_largest_float()
{
    float *most = zeros<float>(2), *out = zeros<float>(BLOCKS * THREADS);
    largest_float<guess><<<BLOCKS, THREADS>>>(most, out);
    finish_and_free(most, out);
}

// CUDA's guide has this sum of doubles for GPUs that had none; the place is computed twice.
__device__ double add_double(double *address, double value)
{
    unsigned long long *word = (unsigned long long *)address, old = *word, assumed;
    do {
        assumed = old;
        old = atomicCAS(word, assumed, __double_as_longlong(value + __longlong_as_double(assumed)));
    } while (assumed != old);
    return __longlong_as_double(old);
}

__global__ void sum_doubles(double *sums, double *before)
{
    const int i = blockIdx.x * THREADS + threadIdx.x;
    before[i] = add_double(&sums[i % 2], i);
}

static void run_sum_doubles()
{
    double *sums = zeros<double>(2), *before = zeros<double>(BLOCKS * THREADS);
    sum_doubles<<<BLOCKS, THREADS>>>(sums, before);
    finish_and_free(sums, before);
}

__global__ void histogram(unsigned *bins)
{
    const unsigned i = blockIdx.x * THREADS + threadIdx.x;
    unsigned old = bins[i % 8], assumed;
    do {
        assumed = old;
        old = atomicCAS(&bins[i % 8], assumed, assumed + i);
    } while (assumed != old);
}

static void run_histogram()
{
    unsigned *bins = zeros<unsigned>(8);
    histogram<<<BLOCKS, THREADS>>>(bins);
    finish_and_free(bins);
}

// ---- In functions and structures, as libraries have it

// Two counters in a word: nvcc has an atomicCAS of 16 bits, a function until it is inlined.
__device__ void count(unsigned short *counter)
{
    unsigned short old = *counter, assumed;
    do {
        assumed = old;
        old = atomicCAS(counter, assumed, (unsigned short)(assumed + 1));
    } while (assumed != old);
}

__global__ void count_in_halves(unsigned short *counters, unsigned short *out)
{
    __shared__ unsigned short of_block[8];
    if (threadIdx.x < 8)
        of_block[threadIdx.x] = 0;
    __syncthreads();
    count(&of_block[threadIdx.x % 8]);
    count(&counters[threadIdx.x % 8]);
    __syncthreads();
    if (threadIdx.x < 8)
        out[blockIdx.x * 8 + threadIdx.x] = of_block[threadIdx.x];
}

static void run_count_in_halves()
{
    unsigned short *counters = zeros<unsigned short>(8), *out = zeros<unsigned short>(BLOCKS * 8);
    count_in_halves<<<BLOCKS, THREADS>>>(counters, out);
    finish_and_free(counters, out);
}

struct Half {
    unsigned short bits;
};

struct Sum {
    __device__ Half operator()(Half a, Half b) const
    {
        return {(unsigned short)(a.bits + b.bits)};
    }
};

// A half of a word is updated by any operation: the guess goes through a structure and the operation.
template <class Operation> __device__ Half update(Half *half, Half value, const Operation &operation)
{
    const size_t high = (size_t)half & 2;
    unsigned *word = (unsigned *)((char *)half - high), old = *word, assumed;
    Half result;
    do {
        assumed = old;
        result.bits = (unsigned short)(high ? old >> 16 : old & 0xffff);
        result = operation(result, value);
        old = high ? (old & 0xffff) | ((unsigned)result.bits << 16) : (old & 0xffff0000) | result.bits;
        old = atomicCAS(word, assumed, old);
    } while (assumed != old);
    return result;
}

__global__ void update_halves(Half *halves)
{
    update(&halves[threadIdx.x % 4], Half{1}, Sum());
}

static void run_update_halves()
{
    Half *halves = zeros<Half>(4);
    update_halves<<<BLOCKS, THREADS>>>(halves);
    finish_and_free(halves);
}

// The operation is a function, whose address is given.
__device__ int larger(int a, int b)
{
    return a > b ? a : b;
}

__device__ void update_by(int *word, int value, int (*operation)(int, int))
{
    int old = *word, assumed;
    do {
        assumed = old;
        old = atomicCAS(word, assumed, operation(assumed, value));
    } while (assumed != old);
}

__global__ void update_by_address(int *word)
{
    update_by(word, blockIdx.x * THREADS + threadIdx.x, larger);
}

static void run_update_by_address()
{
    int *word = zeros<int>(1);
    update_by_address<<<BLOCKS, THREADS>>>(word);
    finish_and_free(word);
}

// What the operation does beside computing: it asserts something, reads a table of constants, calls itself; or it leaves the
// untested guess, where others see it.
enum Beside { NOTHING, ASSERTS, LOOKS_UP, CALLS_ITSELF, STORES };

__constant__ int STEPS[4];

template <Beside beside> __device__ __noinline__ int step(int from, int by, int *log)
{
    if constexpr (beside == ASSERTS)
        assert(by >= 0);
    if constexpr (beside == LOOKS_UP)
        return from + STEPS[by % 4] + 1;
    if constexpr (beside == CALLS_ITSELF)
        return by == 0 ? from + 1 : step<beside>(from, by / 2, log);
    if constexpr (beside == STORES)
        *log = from;
    return from + 1;
}

template <Beside beside> __global__ void take_steps(int *word, int *logs)
{
    const int i = blockIdx.x * THREADS + threadIdx.x;
    int old = *word, assumed;
    do {
        assumed = old;
        old = atomicCAS(word, assumed, step<beside>(assumed, i, logs + i));
    } while (assumed != old);
}

template <Beside beside> static void run_take_steps()
{
    int *word = zeros<int>(1), *logs = zeros<int>(BLOCKS * THREADS);
    take_steps<beside><<<BLOCKS, THREADS>>>(word, logs);
    finish_and_free(word, logs);
}

// A thread with a larger value swaps nothing: the function then returns the guess.
__device__ double smallest(double *address, double value)
{
    unsigned long long *word = (unsigned long long *)address, seen = *word;
    while (value < __longlong_as_double(seen)) {
        const unsigned long long assumed = seen;
        seen = atomicCAS(word, assumed, __double_as_longlong(value));
        if (seen == assumed)
            break;
    }
    return __longlong_as_double(seen);
}

__global__ void find_smallest(double *least)
{
    smallest(least, -double(blockIdx.x * THREADS + threadIdx.x));
}

static void run_find_smallest()
{
    double *least = zeros<double>(1);
    find_smallest<<<BLOCKS, THREADS>>>(least);
    finish_and_free(least);
}

// The address of the word is a member, loaded for the guess and again for the swap.
struct Largest {
    int *word;
    __device__ void take(int value)
    {
        int seen = *word;
        while (seen < value) {
            const int assumed = seen;
            seen = atomicCAS(word, assumed, value);
            if (seen == assumed)
                break;
        }
    }
};

__global__ void find_largest(int *most)
{
    Largest largest{most};
    largest.take(blockIdx.x * THREADS + threadIdx.x);
}

static void run_find_largest()
{
    int *most = zeros<int>(1);
    find_largest<<<BLOCKS, THREADS>>>(most);
    finish_and_free(most);
}

static const Case CASES[] = {
    {"largest", run_largest_float<TESTED>},
    {"early-exit", run_largest_float<EARLY_EXIT>},
    {"sum", run_sum_doubles},
    {"histogram", run_histogram},
    {"kept", run_largest_float<KEPT>},
    {"as-place", run_largest_float<AS_PLACE>},
    {"of-another-word", run_largest_float<OTHER_WORD>},
    {"not-compared", run_largest_float<NOT_COMPARED>},
    {"of-16-bits", run_count_in_halves},
    {"through-operation", run_update_halves},
    {"through-address", run_update_by_address},
    {"beside-nothing", run_take_steps<NOTHING>},
    {"beside-assertion", run_take_steps<ASSERTS>},
    {"beside-table", run_take_steps<LOOKS_UP>},
    {"beside-recursion", run_take_steps<CALLS_ITSELF>},
    {"beside-store", run_take_steps<STORES>},
    {"returned", run_find_smallest},
    {"at-member", run_find_largest},
};

int main(int argc, char **argv)
{
    return run_case(argc, argv, CASES);
}
