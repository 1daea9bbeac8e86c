// For test_control.py: kernels that hang, fail or exit early; the argument selects one.
#include <cassert>
#include <cstdio>
#include <cstdlib>

namespace deep {
template <int N, typename T> __global__ void waits(T *p)
{
    while (*(volatile T *)p == 0)
        ;
    p[1] = N;
}
}

namespace deep {
static __global__ void hidden() {}
namespace {
template <typename T> __global__ void nameless() {}
}
}

static __global__ void alone() {}

__global__ void counts_while_it_waits(int *p)
{
    int turns = 0;
    while (*(volatile int *)p == 0)
        turns++;
    p[1] = turns;
}

static __global__ void fails(int *p)
{
    assert(threadIdx.x % 40 != 3);
    __syncthreads();
    p[threadIdx.x] = 1;
    assert(threadIdx.x < 62);
}

__device__ __noinline__ void leave(const int *p)
{
    if (*p == 0)
        asm volatile("exit;");
}

__global__ void leaves(const int *p, int *out)
{
    leave(p);
    out[0] = 1;
}

__device__ __noinline__ int deep_down(int n, volatile int *p)
{
    volatile int a[8];
    a[n & 7] = n;
    return n ? deep_down(n - 1, p) + a[n & 7] : *p;
}

__global__ void calls(int *p)
{
    p[threadIdx.x] = deep_down(5, p);
}

// VmHWM starts anew with exec; getrusage's maximum is inherited from the parent process.
static long most_kib_used()
{
    long kib = 0;
    char line[256];
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status) && sscanf(line, "VmHWM: %ld", &kib) != 1)
        ;
    if (status)
        fclose(status);
    return kib;
}

// The 32 threads of its block arrive at an mbarrier that expects 33.
__global__ void miscounts()
{
    __shared__ unsigned long long barrier;
    const unsigned at = (unsigned)__cvta_generic_to_shared(&barrier);
    unsigned over = 0;
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 33;" ::"r"(at) : "memory");
    __syncthreads();
    asm volatile("{ .reg .b64 before; mbarrier.arrive.shared::cta.b64 before, [%0]; }" ::"r"(at) : "memory");
    while (!over)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                     : "=r"(over) : "r"(at) : "memory");
}

// Only thread 0 may fail or leave in a loop; six barriers for each warp.
__global__ void tries(int *p, int turns, int stop, bool asserts)
{
    __shared__ int s[64];
    for (int turn = 0; turn < turns; turn++) {
        s[threadIdx.x] = turn + threadIdx.x;
        __syncthreads();
        if (threadIdx.x == 0) {
            p[turn] = s[63] + s[turn];
            if (asserts)
                assert(p[turn] >= stop);
            else if (p[turn] < stop) {
                p[turns] = turn;
                return;
            }
        }
        __syncthreads();
    }
}

__global__ void names_its_grid(unsigned long long *ids)
{
    asm("mov.u64 %0, %gridid;" : "=l"(ids[0]));
    unsigned low;
    asm("mov.u32 %0, %gridid;" : "=r"(low));
    ids[1] = low;
}

// Each of 32 lanes takes a lock, and polls it in a different kind of loop.
__global__ void locks(int *p, int kind)
{
    int *lock = p + 1, *never = p + 2;
    while (atomicExch(lock, 1) != 0) {
        if (kind == 0)
            __nanosleep(10);
        unsigned pause = 8;
        while (kind == 1 && *(volatile int *)lock) {
            __nanosleep(pause);
            pause += pause < 256;
            if (clock64() == 0)
                *never = -1;
        }
        if (kind == 2)
            for (const long long start = clock64(); clock64() - start < 50;)
                ;
    }
    __threadfence();
    ++*p;
    __threadfence();
    atomicExch(lock, 0);
}

// A hand-written grid barrier; then each block reads what the next one wrote, and block 0 waits for the last one.
__global__ void meets_by_hand(int *count, int *a, int *b)
{
    a[blockIdx.x] = blockIdx.x + 1;
    __threadfence();
    atomicAdd(count, 1);
    while (*(volatile int *)count < gridDim.x)
        ;
    __threadfence();
    b[blockIdx.x] = a[(blockIdx.x + 1) % gridDim.x];
    if (blockIdx.x == 0)
        while (atomicAdd(count + 1, 0) == 0)
            __nanosleep(20);
    if (blockIdx.x == gridDim.x - 1)
        atomicAdd(count + 1, 1);
}

int main(int, char **arguments)
{
    int *p, taken;
    cudaMalloc(&p, 4096);
    cudaMemset(p, 0, 4096);
    switch (arguments[1][0]) {
    case 'w': deep::waits<3><<<2000, 256>>>(p); break;
    case 'c': counts_while_it_waits<<<2000, 256>>>(p); break;
    case 'f': fails<<<1, 64>>>(p); break;
    case 'm': miscounts<<<1, 32>>>(); break;
    case 't':
        tries<<<1, 64>>>(p, 3, -1, true);
        tries<<<1, 64>>>(p, 3, -1, false);
        break;
    case 'b': {
        int sum = 0, b[100];
        meets_by_hand<<<100, 1>>>(p, p + 100, p + 200);
        cudaMemcpy(b, p + 200, sizeof b, cudaMemcpyDeviceToHost);
        for (int x : b)
            sum += x;
        printf("%d\n", sum);
        break;
    }
    case 'i': {
        unsigned long long ids[4];
        names_its_grid<<<1, 1>>>((unsigned long long *)p);
        names_its_grid<<<1, 1>>>((unsigned long long *)p + 2);
        cudaMemcpy(ids, p, sizeof ids, cudaMemcpyDeviceToHost);
        printf("%d %d %d\n", ids[0] != ids[2], ids[0] == ids[1], ids[2] == ids[3]);
        break;
    }
    case 'o':
        for (int kind = 0; kind < 3; kind++)
            locks<<<2, 32>>>(p, kind);
        cudaMemcpy(&taken, p, sizeof taken, cudaMemcpyDeviceToHost);
        printf("%d\n", taken);
        break;
    case 'l': leaves<<<3000, 1024>>>(p, p + 1); break;
    case 'n':
        deep::hidden<<<1, 1>>>();
        deep::nameless<int><<<1, 1>>>();
        alone<<<1, 1>>>();
        break;
    case 's': cudaDeviceSetLimit(cudaLimitStackSize, 1 << 18); calls<<<2, 1024>>>(p);
    }
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    if (most_kib_used() > 100000)
        printf("%ld KiB of memory\n", most_kib_used());
}
