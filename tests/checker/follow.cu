// The first block reads an uninitialised value, then loads uninitialised values into 600 other registers for a while, then adds to the
// first value and stores it. The second block reads its value after these loads, and also stores it. In every second iteration all 600
// registers get initialised values, but not in the last one; most of them are not read afterwards. With the argument "initialised", the
// two stored values are initialised. A third value, which only the second block stores, is uninitialised only in the first block.
#include <cstring>

__device__ float iterate(const float *x, float sum)
{
    #pragma unroll 1
    for (int k = 0; k < 5; k++) {
        const float in = x[threadIdx.x + k % 2 * 256];
        #pragma unroll
        for (int n = 0; n < 300; n++)
            sum = sum * in + n;
        sum = k % 2 ? k : sum;
    }
    return sum;
}

__global__ void keep(const float *x, const float *kept, volatile float *y, float *stored)
{
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    const float early = kept[thread], own = kept[thread + 512]; // <- read here
    y[thread] = iterate(x, iterate(x, 1));
    if (blockIdx.x == 0) {
        stored[thread] = early + 1; // <- here
    } else {
        const float late = kept[thread + 256]; // <- read here
        stored[thread + 512] = own + 1;
        stored[thread + 256] = late + 1; // <- here
    }
}

// Stores uninitialised values in 2048 words of shared memory, and one of the first of them in global memory.
__global__ void reverse(const float *kept, float *stored)
{
    __shared__ float values[64][32];
    for (int k = 0; k < 64; k++)
        values[k][threadIdx.x] = kept[threadIdx.x]; // <- read here
    __syncthreads();
    stored[threadIdx.x] = values[0][31 - threadIdx.x] + 1; // <- here
}

struct Fields {
    unsigned kind : 1, level : 6, count : 25;
};

// Setting a bit field leaves the bits next to it unchanged, and initialises the field. Setting one bit of an uninitialised word does not
// initialise the others.
__global__ void set_fields(unsigned *bits, float *stored)
{
    __shared__ Fields kinds[32], levels[32], counts[32];
    const int thread = threadIdx.x, other = 31 - thread;
    kinds[thread].kind = 0;
    levels[thread].level = 5;
    counts[thread].count = thread;
    __syncthreads();
    stored[thread] = kinds[other].kind + levels[other].level + counts[other].count;
    const unsigned before = bits[thread]; // <- read here
    bits[thread + 32] = (before & 7) + 1; // <- here
    bits[thread] = (before | 4) + 1; // <- here
}

// The first half of the warp uses the initialised one of two bits of a word, and all lanes use the other. Bits that are shifted out are
// not used, but the position of an inserted field is.
__global__ void test_bits(const unsigned *written, const unsigned *words, float *stored)
{
    const int thread = threadIdx.x;
    const unsigned one = thread < 16 ? written[thread] : words[thread], other = words[thread + 32]; // <- read here
    unsigned differ = (one != 5) | (other != 5) << 1;
    asm volatile("" : "+r"(differ)); // otherwise the compiler does not form the word
    if (thread < 16 && differ & 1)
        stored[thread] = 1;
    if (differ & 2) // <- here
        stored[thread + 32] = 1;
    unsigned shifted, placed;
    asm volatile("shl.b32 %0, %1, 8;" : "=r"(shifted) : "r"(words[thread + 64] & 0xff000000));
    if (shifted)
        stored[thread] = 2;
    asm volatile("bfi.b32 %0, 1, %1, %2, 4;" : "=r"(placed) : "r"(thread), "r"(words[thread + 96])); // <- read here
    if (placed == 3) // <- here
        stored[thread] = 3;
}

// The first half of the warp clears a bit of an uninitialised value, and all lanes store it.
__global__ void clear_some(unsigned *words)
{
    unsigned word = words[threadIdx.x]; // <- read here
    asm volatile("{ .reg .pred p; setp.lt.u32 p, %1, 16; @p and.b32 %0, %0, 0xfffffffe; }" : "+r"(word) : "r"(threadIdx.x));
    words[threadIdx.x] = word + 1; // <- here
}

int main(int, char **argv)
{
    const int n = 256;
    float *x, *kept, *y, *stored;
    cudaMalloc(&x, 2 * n * sizeof *x);
    cudaMalloc(&kept, 3 * n * sizeof *kept);
    cudaMalloc(&y, n * sizeof *y);
    cudaMalloc(&stored, 3 * n * sizeof *stored);
    cudaMemset(x + n, 0, n * sizeof *x);
    cudaMemset(kept + 2 * n + n / 2, 0, n / 2 * sizeof *kept);
    if (!strcmp(argv[1], "initialised"))
        cudaMemset(kept, 0, 2 * n * sizeof *kept);
    static float host[3 * n];
    const auto fetch = [&] { // copies everything that the kernel has stored
        cudaMemcpy(host, stored, sizeof host, cudaMemcpyDeviceToHost);
        cudaMemcpy(host, kept, sizeof host, cudaMemcpyDeviceToHost);
    };
    keep<<<2, n / 2>>>(x, kept, y, stored);
    fetch();
    reverse<<<1, 32>>>(kept, stored);
    fetch();
    set_fields<<<1, 32>>>((unsigned *)kept, stored);
    fetch();
    test_bits<<<1, 32>>>((unsigned *)(kept + 2 * n + n / 2), (unsigned *)(kept + n), stored);
    clear_some<<<1, 32>>>((unsigned *)(kept + n + n / 2));
    fetch();
    for (float *each : {x, kept, y, stored})
        cudaFree(each);
}
