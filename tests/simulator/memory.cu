// Memory mistakes, one for each word of the argument; test_simulator.py checks messages and results.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

__device__ int variable[25];
__managed__ int shown = 7;

__global__ void read(const int *from, int *to)
{
    *to = *from;
}

__device__ __noinline__ int deep(int n, int value)
{
    volatile int a[8];
    a[n & 7] = value;
    return n ? deep(n - 1, value) + a[n & 7] : a[0];
}

__global__ void strays(int *out, int far)
{
    int a[4], *p = a;
    asm volatile("" : "+l"(p)); // keeps the variable in memory
    if (out[100])
        deep(1, 1); // makes the stack deeper than this frame
    out[blockIdx.x] = p[far];
    p[far] = blockIdx.x + 1;
}

// Reads its stack before writing it, twice: neither an earlier call's nor an earlier block's values may remain.
__global__ void reads_its_stack(int *out, int far)
{
    int a[4], *p = a;
    asm volatile("" : "+l"(p));
    out[blockIdx.x] = p[far];
    p[far] = blockIdx.x + 1;
}

enum { PIECES = 1 << 19 }; // of 16 bytes: the whole heap

// Every step-th piece, so that neighbours are found separately.
__global__ void make_pieces(long long **pieces, int step)
{
    for (int k = threadIdx.x * step; k < PIECES; k += blockDim.x * step)
        if ((pieces[k * 7919ll % PIECES] = (long long *)malloc(8)))
            *pieces[k * 7919ll % PIECES] = k;
}

__global__ void free_pieces(long long **pieces, int step, unsigned long long *sum)
{
    for (int k = threadIdx.x; k < PIECES; k += blockDim.x)
        if (*pieces[k] % step == 0) {
            atomicAdd(sum, *pieces[k]);
            free(pieces[k]);
        }
}

static void many_pieces()
{
    long long **pieces;
    unsigned long long *sum;
    cudaMalloc(&pieces, PIECES * sizeof *pieces);
    cudaMallocManaged(&sum, sizeof *sum);
    *sum = 0;
    make_pieces<<<1, 1024>>>(pieces, 1);
    free_pieces<<<1, 1024>>>(pieces, 3, sum);
    make_pieces<<<1, 1024>>>(pieces, 3);
    free_pieces<<<1, 1024>>>(pieces, 1, sum);
    printf("%llu\n", *sum);
}

static int value_on_device(const int *pointer)
{
    int *to;
    cudaMallocManaged(&to, sizeof *to);
    read<<<1, 1>>>(pointer, to);
    cudaDeviceSynchronize();
    const int value = *to;
    cudaFree(to);
    return value;
}

static size_t resident_bytes()
{
    size_t all = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%zu %zu", &all, &resident) != 2)
        exit(2);
    fclose(file);
    return resident * 4096;
}

static void fresh_memory()
{
    const size_t huge = (size_t)1 << 32;
    int *device, *managed, *pinned, *large;
    cudaMalloc(&device, 400);
    cudaMallocManaged(&managed, 400);
    cudaMallocHost(&pinned, 400);
    printf("%d %d %d %d\n", value_on_device(device + 99), managed[99], pinned[0], shown);
    const size_t before = resident_bytes();
    printf("%s", cudaGetErrorName(cudaMalloc(&large, huge)));
    printf(" %d %d", value_on_device(large + huge / 8), value_on_device(large + huge / 4 - 1));
    cudaMemset(large + huge / 8, 0, 4);
    printf(" %d %s\n", value_on_device(large + huge / 8), resident_bytes() - before < huge / 64 ? "small" : "all there");
    cudaFree(large);
    for (int k = 0; k < 3000; k++) { // reused addresses are filled with poison again
        int *again[2], zero = 0;
        cudaMalloc(&again[0], 3000);
        cudaMalloc(&again[1], huge / 8);
        cudaMemcpy(again[0] + 749, &zero, 4, cudaMemcpyHostToDevice);
        cudaMemcpy(again[1] + huge / 32 - 1, &zero, 4, cudaMemcpyHostToDevice);
        cudaFree(again[k % 2]);
        cudaFree(again[1 - k % 2]);
    }
    cudaMalloc(&device, huge / 8);
    printf("%d %d %s\n", value_on_device(device + huge / 32 - 1), value_on_device(device + 749),
           resident_bytes() - before < huge / 64 ? "small" : "all there");
}

static void calls()
{
    int *d, h[64];
    cudaMalloc(&d, 100);
    printf("%d", cudaMemcpy(h, d + 5, 100, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
    printf("%d", cudaMemset(d, 0, 101) == cudaErrorInvalidValue);
    printf("%d", cudaFree(d + 1) == cudaErrorInvalidValue);
    printf("%d", cudaFreeHost(d) == cudaErrorInvalidValue);
    printf("%d", cudaFree(d) == cudaSuccess);
    printf("%d", cudaFree(d) == cudaErrorInvalidValue);
    printf("%d\n", cudaMemcpy(h, d, 4, cudaMemcpyDefault) == cudaErrorInvalidValue);
    for (int k = 0; k < 100; k++) // a program that tests for errors
        cudaFree(d);
}

int main(int argc, char **argv)
{
    const std::string word = argc > 1 ? argv[1] : "";
    int *d, *gone, *all;
    void *symbol;
    cudaMalloc(&d, 4096);
    cudaMalloc(&gone, 4096);
    cudaFree(gone);
    cudaMallocManaged(&all, 4096);
    memset(all, 0, 4096);
    cudaGetSymbolAddress(&symbol, variable);
    if (word == "read")
        return d[4];
    if (word == "write")
        d[4] = 1;
    if (word == "variable")
        return ((int *)symbol)[3];
    if (word == "freed")
        return gone[1];
    if (word == "elsewhere") // no device memory: as without a simulator
        return *(volatile int *)16;
    if (word == "use after free") {
        int *next;
        for (int k = 0; k < 4; k++) { // the same size, freed before the next allocation: as in a loop
            cudaMalloc(&next, 4096);
            cudaFree(next);
        }
        cudaMalloc(&next, 4096);
        printf("%d\n", value_on_device(gone));
    }
    if (word == "fresh")
        fresh_memory();
    if (word == "pieces")
        many_pieces();
    if (word == "calls")
        calls();
    if (word == "strays")
        strays<<<8, 1>>>(all, 2000);
    if (word == "stack")
        reads_its_stack<<<64, 32>>>(all, 2);
    printf("%s", cudaGetErrorName(cudaDeviceSynchronize()));
    for (int k = 0; word == "stack" && k < 64; k++)
        printf(" %d", all[k]);
    printf("\n");
}
