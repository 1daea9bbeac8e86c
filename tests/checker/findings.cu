// Mistakes whose messages tests/checker/test_findings.py checks: grouping and order of findings, levels and hints.
#include <cstdint>
#include <cstdio>
#include <cstring>

static float *zeros(size_t count)
{
    float *memory; // allocated here
    cudaMalloc(&memory, count * sizeof(float));
    cudaMemset(memory, 0, count * sizeof(float));
    return memory;
}

// ---- Hints

__global__ void tree(float *out, int threads)
{
    __shared__ float sums[256];
    sums[threadIdx.x] = threadIdx.x;
    __syncthreads();
    for (int s = threads / 2; s > 0; s /= 2)
        if (threadIdx.x < s)
            sums[threadIdx.x] += sums[threadIdx.x + s];
    out[threadIdx.x] = sums[0];
}

__global__ void shifted(float *out)
{
    __shared__ float values[64];
    values[threadIdx.x] = threadIdx.x;
    __syncthreads();
    for (int k = 0; k < 3; k++) {
        values[threadIdx.x] += values[(threadIdx.x + 32) % 64];
        __syncthreads();
    }
    out[threadIdx.x] = values[threadIdx.x];
}

__device__ void wait(uint32_t barrier, int parity)
{
    int complete = 0;
    while (!complete)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.b32 %0, 1, 0, p; }"
                     : "=r"(complete) : "r"(barrier), "r"(parity) : "memory");
}

__global__ void tiles(const float *in, float *out)
{
    __shared__ alignas(128) float tile[64];
    __shared__ alignas(8) uint64_t barrier;
    const uint32_t bar = (uint32_t)__cvta_generic_to_shared(&barrier), to = (uint32_t)__cvta_generic_to_shared(tile);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(bar));
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 4; k++) {
        if (threadIdx.x == 0) {
            asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(bar), "r"(256) : "memory");
            asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                         :: "r"(to), "l"(in + k * 64), "r"(256), "r"(bar) : "memory");
        }
        wait(bar, (k / 2) & 1); // the parity should be k & 1
        sum += tile[63 - threadIdx.x];
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
    }
    out[threadIdx.x] = sum;
}

// ---- LaunchAttributes and order

template <int N> __global__ void unordered(float *out)
{
    __shared__ float values[64];
    values[threadIdx.x] = N;
    out[threadIdx.x] = values[63 - threadIdx.x];
}

template <int N> static void launch_all(float *out)
{
    unordered<N><<<2, 64>>>(out);
    if constexpr (N > 1)
        launch_all<N - 1>(out);
}

// ---- Levels

__global__ void set_flag(int *flag)
{
    if (threadIdx.x % 32 == 0)
        *flag = 1;
}

__global__ void set_shared_flag(int *out)
{
    __shared__ int flag;
    if (threadIdx.x == 0)
        flag = 0;
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        flag = 1;
    __syncthreads();
    if (threadIdx.x == 0)
        *out = flag;
}

__global__ void set_flag_or_index(int *flag, int same)
{
    if (threadIdx.x % 32 == 0)
        *flag = same ? 1 : threadIdx.x;
}

// ---- Addresses

__global__ void at_offset(float *p, long long index)
{
    p[index] = 1;
}

__global__ void at_int(unsigned char *p, int first, int step)
{
    int i = first;
    i += step; // overflows
    p[i] = 1;
}

__global__ void freed_by_kernel(float *out)
{
    float *own = (float *)malloc(sizeof(float));
    free(own);
    *own = 1;
    *out = 1;
}

// ---- Barriers

__global__ void early_or_bypass(int *out, int n)
{
    int t = threadIdx.x;
    if (t < n) {
        out[t] = 1; // threads that do not return here
        __syncthreads();
    }
    out[t + 256] = t;
}

__global__ void two_on_one_line(int *out)
{
    const int t = threadIdx.x;
    // clang-format off
    if (t % 2) { out[t] = 1; __syncthreads(); out[t] += 1; } else { out[t] = 2; __syncthreads(); out[t] -= 1; } // two barriers
    // clang-format on
}

int main(int, char **argv)
{
    const auto is = [argv](const char *name) { return strcmp(argv[1], name) == 0; };
    float *out = zeros(1024);
    if (is("tree of eight warps"))
        tree<<<1, 256>>>(out, 256);
    else if (is("tree of one warp"))
        tree<<<1, 32>>>(out, 32);
    else if (is("shifted"))
        shifted<<<1, 64>>>(out);
    else if (is("parity"))
        tiles<<<1, 64>>>(zeros(256), out);
    else if (is("templates"))
        launch_all<20>(out);
    else if (is("flag"))
        set_flag<<<1, 64>>>((int *)out);
    else if (is("shared flag"))
        set_shared_flag<<<1, 64>>>((int *)out);
    else if (is("flag, then index"))
        for (int same = 1; same >= 0; same--)
            set_flag_or_index<<<1, 64>>>((int *)out, same);
    else if (is("past the end"))
        at_offset<<<1, 1>>>(out, 1024 + 3);
    else if (is("overflow")) {
        unsigned char *bytes;
        cudaMalloc(&bytes, 2200000000u);
        at_int<<<1, 1>>>(bytes, 2100000000, 99999999);
    } else if (is("freed argument") || is("reached by index")) {
        float *freed = zeros(1024);
        const long long distance = freed - out;
        cudaFree(freed); // freed here
        at_offset<<<1, 1>>>(is("freed argument") ? freed : out, is("freed argument") ? 0 : distance);
    } else if (is("freed by the kernel"))
        freed_by_kernel<<<1, 1>>>(out);
    else if (is("bypass"))
        early_or_bypass<<<1, 256>>>((int *)out, 128);
    else if (is("two on one line"))
        two_on_one_line<<<1, 64>>>((int *)out);
    float result[64];
    if (cudaMemcpy(result, out, sizeof result, cudaMemcpyDeviceToHost) == cudaSuccess)
        printf("%g\n", result[0]);
}
