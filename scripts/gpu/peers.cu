// peers ELEMENTS: thrust::reduce, cublasSasum, CUB's determinism guarantees and a device-to-device copy, timed with
// events as the steps are: one CSV row for each, with a cold and with a warm L2 cache, and the library's version. The
// guarantees need CCCL 3.1 or later (CUDA 13.1).
#include <algorithm>
#include <climits>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cub/device/device_reduce.cuh>
#include <cublas_v2.h>
#if CCCL_VERSION >= 3001000
#include <cuda/execution>
#endif
#include <functional>
#include <string>
#include <thrust/device_ptr.h>
#include <thrust/reduce.h>
#include <vector>

#include "cub_version.h"

static void check(int status, const char *call) // 0 is success for both CUDA and cuBLAS
{
    if (status == 0)
        return;
    fprintf(stderr, "peers: %s: status %d\n", call, status);
    exit(EXIT_FAILURE);
}
#define CHECK(call) check(call, #call)

struct Peer {
    const char *name;
    std::function<int()> run; // 0 is success
    const float *sum;         // where run() stores its sum; nullptr if it computes none
    std::string version;      // of the library
};

// CUB's sum with each of its determinism guarantees. Each call allocates its memory from the pool.
static std::vector<Peer> deterministic_sums(const float *in, float *sum, size_t n)
{
#if CCCL_VERSION >= 3001000
    namespace determinism = cuda::execution::determinism;
    cudaMemPool_t pool;
    unsigned long long keep = ULLONG_MAX; // bytes: the pool never releases memory
    CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
    CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
    const auto with = [=](auto guarantee) {
        return [=] { return cub::DeviceReduce::Sum(in, sum, (long long)n, cuda::execution::require(guarantee)); };
    };
    return {{"cub::DeviceReduce not_guaranteed", with(determinism::not_guaranteed), sum, cub_version()},
            {"cub::DeviceReduce run_to_run", with(determinism::run_to_run), sum, cub_version()},
            {"cub::DeviceReduce gpu_to_gpu", with(determinism::gpu_to_gpu), sum, cub_version()}};
#else
    (void)in, (void)sum, (void)n; // older CUB has no choice of guarantee
    return {};
#endif
}

// Whether a peer succeeds and its sum is correct up to rounding; otherwise prints why it is skipped.
static bool works(const Peer &peer, float *sum, size_t n)
{
    const double expected = n * 0x1.7e7e7ep-1; // n times the float whose bytes are all 0x3f
    CHECK(cudaMemset(sum, 0xff, sizeof *sum)); // NaN
    const int status = peer.run();
    float found = expected;
    if (status == 0 && peer.sum)
        CHECK(cudaMemcpy(&found, peer.sum, sizeof found, cudaMemcpyDefault));
    if (status == 0 && std::fabs(found / expected - 1) < 0.01)
        return true;
    if (status != 0)
        fprintf(stderr, "peers: %s is skipped: status %d\n", peer.name, status);
    else
        fprintf(stderr, "peers: %s is skipped: its sum of %zu elements is %.9g, expected %.9g\n", peer.name, n, found, expected);
    return false;
}

// As in the steps: flushes the L2 cache if count is not 0, and keeps the GPU busy while the host queues the launch.
__global__ void prepare(const float *flush, long long count, float *never)
{
    const long long start = clock64();
    float sum = 0.0f;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        sum += flush[i];
    if (sum != 0) // never true: the buffer holds zeros
        *never = sum;
    while (clock64() - start < 200000)
        continue;
}

// The version of the cuBLAS library that is loaded, such as "13.0.2".
static std::string cublas_version()
{
    int major, minor, patch;
    CHECK(cublasGetProperty(MAJOR_VERSION, &major));
    CHECK(cublasGetProperty(MINOR_VERSION, &minor));
    CHECK(cublasGetProperty(PATCH_LEVEL, &patch));
    return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

// Median milliseconds of 30 runs, after one warm-up run.
static double median_ms(const std::function<int()> &run, float *flush, long long count)
{
    cudaEvent_t start, stop;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    std::vector<float> ms(31);
    for (float &one : ms) {
        prepare<<<1024, 256>>>(flush, count, flush);
        CHECK(cudaEventRecord(start));
        CHECK(run());
        CHECK(cudaEventRecord(stop));
        CHECK(cudaEventSynchronize(stop));
        CHECK(cudaEventElapsedTime(&one, start, stop));
    }
    std::sort(ms.begin() + 1, ms.end());
    return (ms[15] + ms[16]) / 2;
}

int main(int argc, char **argv)
{
    const size_t n = argc == 2 ? strtoull(argv[1], nullptr, 10) : 0;
    if (n < 2 || n > INT_MAX) {
        fprintf(stderr, "usage: peers ELEMENTS, 2 to %d\n", INT_MAX);
        return 2;
    }
    cudaDeviceProp device;
    CHECK(cudaGetDeviceProperties(&device, 0));
    const size_t flush_bytes = 2 * (size_t)device.l2CacheSize;
    float *in, *sum, *flush, returned;
    CHECK(cudaMalloc(&in, n * sizeof(float)));
    CHECK(cudaMalloc(&sum, sizeof(float)));
    CHECK(cudaMalloc(&flush, flush_bytes));
    CHECK(cudaMemset(flush, 0, flush_bytes));
    CHECK(cudaMemset(in, 0x3f, n * sizeof(float))); // positive floats, because cublasSasum adds absolute values
    cublasHandle_t blas;
    CHECK(cublasCreate(&blas));
    CHECK(cublasSetPointerMode(blas, CUBLAS_POINTER_MODE_DEVICE));
    const thrust::device_ptr<float> begin(in);

    std::vector<Peer> peers = deterministic_sums(in, sum, n);
    peers.push_back({"thrust::reduce", [&] { returned = thrust::reduce(begin, begin + n); return 0; }, &returned, cub_version()});
    peers.push_back({"cublasSasum", [&] { return cublasSasum(blas, (int)n, in, 1, sum); }, sum, cublas_version()});
    // Half is read and half is written: the same traffic as reading the whole array.
    peers.push_back({"cudaMemcpy of one half to the other", [&] { return cudaMemcpyAsync(in + n / 2, in, n / 2 * sizeof(float), cudaMemcpyDeviceToDevice); }, nullptr, ""});
    for (const Peer &peer : peers)
        if (works(peer, sum, n))
            for (const bool warm : {false, true}) {
                const double ms = median_ms(peer.run, flush, warm ? 0 : flush_bytes / sizeof(float));
                printf("%s,%s,%zu,%.6f,%.3f,%s,%s\n", peer.name, warm ? "warm" : "cold", n, ms, n * sizeof(float) / ms / 1e6, peer.version.c_str(),
                       today().c_str());
            }
}
