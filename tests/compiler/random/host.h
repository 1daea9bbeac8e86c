// host.h: runs random kernels on the host, a block after the other, each thread on a stack of its own. Threads alternate at barriers and
// warp-level operations only. Compiled with -fsanitize=undefined it is the referee: a kernel with undefined behaviour is reported.
//
// main(argc, argv): argv[1] holds the input, argv[2] gets the output of each kernel of KERNELS.
#ifndef HOST_H
#define HOST_H

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ucontext.h>

#define __global__
#define __device__
#define __forceinline__ inline
#define __restrict__
#define __shared__ static

struct int2 { int x, y; };
struct float4 { float x, y, z, w; };
static inline int2 make_int2(int x, int y) { return {x, y}; }
static inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }

// ---- Threads

enum { THREADS = 64, BLOCKS = 2, WARP = 32, STACK_BYTES = 1 << 16, OUTPUTS = 8, INTS = 512, FLOATS = 512, WORDS = 64 };
struct Index { unsigned x; };
// With external linkage, because what changes them is a call that the compiler does not see into: swapcontext.
Index threadIdx, blockIdx;
static const Index blockDim = {THREADS}, gridDim = {BLOCKS};

typedef void Kernel(const int *in, const float *inf, const unsigned long long *in64, int *out, int n);
struct Entry { const char *name; Kernel *kernel; };
struct Arguments { const int *in; const float *inf; const unsigned long long *in64; int *out; int n; };

ucontext_t scheduler, contexts[THREADS];
static char stacks[THREADS][STACK_BYTES];
bool finished[THREADS];
Kernel *running;
Arguments arguments;
unsigned arrived[THREADS + 1][THREADS], generation[THREADS + 1][THREADS]; // of groups of a size

static void yield() { swapcontext(&contexts[threadIdx.x], &scheduler); }

// Waits for all threads of a group of `size`; groups of one size are numbered.
static void meet(unsigned size)
{
    const unsigned group = threadIdx.x / size, mine = generation[size][group];
    if (++arrived[size][group] == size) {
        arrived[size][group] = 0;
        generation[size][group]++;
    }
    while (generation[size][group] == mine)
        yield();
}

static void thread_main()
{
    running(arguments.in, arguments.inf, arguments.in64, arguments.out, arguments.n);
    finished[threadIdx.x] = true;
    yield();
}

static void run_block()
{
    for (unsigned t = 0; t < THREADS; t++) {
        finished[t] = false;
        getcontext(&contexts[t]);
        contexts[t].uc_stack.ss_sp = stacks[t];
        contexts[t].uc_stack.ss_size = STACK_BYTES;
        contexts[t].uc_link = &scheduler;
        makecontext(&contexts[t], thread_main, 0);
    }
    for (unsigned left = THREADS; left > 0;)
        for (unsigned t = 0; t < THREADS; t++) {
            if (finished[t])
                continue;
            threadIdx.x = t;
            swapcontext(&scheduler, &contexts[t]);
            left -= finished[t];
        }
}

static inline void __syncthreads() { meet(THREADS); }
static inline void __syncwarp(unsigned = ~0u) { meet(WARP); }

// ---- Warp-level operations, by all lanes

template <class T> static T exchanged(T value, unsigned from)
{
    static T slots[THREADS];
    slots[threadIdx.x] = value;
    meet(WARP);
    const T result = slots[threadIdx.x / WARP * WARP + from];
    meet(WARP);
    return result;
}

template <class T> static T __shfl_sync(unsigned, T value, int lane, int width = WARP)
{
    const unsigned own = threadIdx.x % WARP;
    return exchanged(value, own / width * width + (unsigned)lane % width);
}
template <class T> static T __shfl_xor_sync(unsigned, T value, int mask, int width = WARP)
{
    const unsigned own = threadIdx.x % WARP, from = own ^ mask, end = (own / width + 1) * width;
    return exchanged(value, from < end ? from : own);
}
template <class T> static T __shfl_down_sync(unsigned, T value, unsigned distance, int width = WARP)
{
    const unsigned own = threadIdx.x % WARP, from = own + distance, end = (own / width + 1) * width;
    return exchanged(value, from < end ? from : own);
}
template <class T> static T __shfl_up_sync(unsigned, T value, unsigned distance, int width = WARP)
{
    const int own = threadIdx.x % WARP, from = own - (int)distance, first = own / width * width;
    return exchanged(value, from >= first ? from : own);
}
static unsigned __ballot_sync(unsigned, bool is_true)
{
    unsigned votes = 0;
    for (unsigned lane = 0; lane < WARP; lane++)
        votes |= (unsigned)exchanged(is_true, lane) << lane;
    return votes;
}
static inline bool __any_sync(unsigned mask, bool is_true) { return __ballot_sync(mask, is_true) != 0; }
static inline bool __all_sync(unsigned mask, bool is_true) { return __ballot_sync(mask, is_true) == ~0u; }

static inline int atomicAdd(int *at, int value) { const int old = *at; *at = (int)((unsigned)old + value); return old; }
static inline int atomicMax(int *at, int value) { const int old = *at; *at = value > old ? value : old; return old; }
static inline int atomicXor(int *at, int value) { const int old = *at; *at = old ^ value; return old; }

// ---- Functions of numbers

static inline int min(int a, int b) { return a < b ? a : b; }
static inline int max(int a, int b) { return a > b ? a : b; }
static inline unsigned min(unsigned a, unsigned b) { return a < b ? a : b; }
static inline unsigned max(unsigned a, unsigned b) { return a > b ? a : b; }
static inline long long min(long long a, long long b) { return a < b ? a : b; }
static inline long long max(long long a, long long b) { return a > b ? a : b; }
static inline unsigned long long min(unsigned long long a, unsigned long long b) { return a < b ? a : b; }
static inline unsigned long long max(unsigned long long a, unsigned long long b) { return a > b ? a : b; }

// As in PTX: the operand that is a number, if one is not; -0 is less than +0.
template <class T> static T smaller(T a, T b) { return a != a ? b : b != b ? a : a == b ? (std::signbit(a) ? a : b) : a < b ? a : b; }
template <class T> static T larger(T a, T b) { return a != a ? b : b != b ? a : a == b ? (std::signbit(a) ? b : a) : a > b ? a : b; }
#define fminf smaller<float>
#define fmaxf larger<float>
#define fmin smaller<double>
#define fmax larger<double>

static inline float __fmul_rn(float a, float b) { return a * b; }
static inline double __dmul_rn(double a, double b) { return a * b; }
static inline int __float_as_int(float value) { int bits; memcpy(&bits, &value, sizeof bits); return bits; }
static inline int __popc(unsigned a) { return __builtin_popcount(a); }
static inline int __popcll(unsigned long long a) { return __builtin_popcountll(a); }
static inline int __clz(unsigned a) { return a ? __builtin_clz(a) : 32; }
static inline int __ffs(unsigned a) { return __builtin_ffs((int)a); }
static inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((unsigned long long)a * b >> 32); }
static inline unsigned __brev(unsigned a)
{
    unsigned b = 0;
    for (int k = 0; k < 32; k++)
        b |= (a >> k & 1) << (31 - k);
    return b;
}
static inline unsigned __byte_perm(unsigned a, unsigned b, unsigned selector)
{
    const unsigned long long both = (unsigned long long)b << 32 | a;
    unsigned result = 0;
    for (int k = 0; k < 4; k++)
        result |= (unsigned)(both >> 8 * (selector >> 4 * k & 7) & 255) << 8 * k;
    return result;
}
static inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned count)
{
    return (unsigned)((((unsigned long long)high << 32 | low) << (count & 31)) >> 32);
}

// ---- The program

extern const Entry KERNELS[];

int main(int argc, char **argv)
{
    static struct { int in[INTS]; float inf[FLOATS]; unsigned long long in64[WORDS]; } input;
    static int out[BLOCKS * THREADS * OUTPUTS];
    FILE *from = argc == 3 ? fopen(argv[1], "rb") : nullptr, *to = argc == 3 ? fopen(argv[2], "wb") : nullptr;
    if (!from || !to || fread(&input, sizeof input, 1, from) != 1)
        return 2;
    for (const Entry *entry = KERNELS; entry->name; entry++) {
        memset(out, 0, sizeof out);
        running = entry->kernel;
        arguments = {input.in, input.inf, input.in64, out, 37};
        for (blockIdx.x = 0; blockIdx.x < BLOCKS; blockIdx.x++)
            run_block();
        if (fwrite(out, sizeof out, 1, to) != 1)
            return 2;
    }
    return fclose(to) == 0 ? 0 : 2;
}

#endif
