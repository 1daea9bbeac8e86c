// scan_against_cub [ELEMENTS...]: the last step of the prefix sum, CUB, and device-to-device copies by cudaMemcpy and by a
// kernel, in one process, with interleaved runs: one CSV row for each size. Their own harness times and checks the scans,
// timed_run(). With CCCL 3.5 or later also CUB's scan with the determinism requirement run_to_run. The columns
// back_to_back are the mean of several scans in a row, with no event between them.
#include <algorithm>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cub/cub.cuh>
#include <cuda/atomic>
#if CUB_VERSION >= 300500
#include <cuda/execution>
#endif
#include <cuda/ptx>
#include <string>
#include <vector>

#include "cub_version.h"
#include "interleaved.h"

// Each program has its own namespace; the headers it includes are already included above. The warnings that are off: a main
// in a namespace lacks a return statement, and parts of a harness are unused.
#pragma nv_diag_suppress 940, 177
#pragma GCC diagnostic ignored "-Wreturn-type"
#pragma GCC diagnostic ignored "-Wunused-function"
namespace cub_scan {
#include "../../scan/reference_cub/scan.cu"
}
namespace last_step {
#include LAST_STEP // a file: mk/measure.mk
}

namespace interleaved {
using cub_scan::check; // called by CHECK

enum { MAX_RUNS = 200, MIN_RUNS = 20, ENOUGH_MS = 500, ROWS = 5 };

// The last step's Data for the same memory.
static last_step::Data share(const cub_scan::Data &data)
{
    return {data.n, data.flush_count, data.busy_cycles, data.exclusive, data.in, data.out, data.scratch, data.flush, data.mistakes,
            data.flush_blocks, 0, data.start, data.stop};
}

#if CUB_VERSION >= 300500
const bool HAS_RUN_TO_RUN = true;

// CUB's scan with the same bits in each run on one GPU. Each call allocates its temporary memory from the default pool.
static void scan_run_to_run(const cub_scan::Data &data)
{
    CHECK(cub::DeviceScan::InclusiveSum(data.in, data.out, data.n, cuda::execution::require(cuda::execution::determinism::run_to_run)));
}
#else
const bool HAS_RUN_TO_RUN = false;
static void scan_run_to_run(const cub_scan::Data &)
{
}
#endif

// Lets the default pool keep all freed memory, so that an allocation in a timed run needs no call to the driver.
static void keep_pool()
{
    cudaMemPool_t pool;
    unsigned long long bytes = ULLONG_MAX;
    CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
    CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &bytes));
}

// The reference copy: each thread copies one vector, so that all SMs together access few pages at a time.
const unsigned COPY_THREADS = 128;
__global__ void copy_vectors(const float *in, float *out, long long n)
{
    const long long i = 4 * ((long long)blockIdx.x * blockDim.x + threadIdx.x);
    if (i + 3 < n)
        *(float4 *)(out + i) = *(const float4 *)(in + i);
    else
        for (long long k = i; k < n; k++)
            out[k] = in[k];
}

static void copy_by_kernel(const cub_scan::Data &data)
{
    const long long tile = 4 * COPY_THREADS;
    copy_vectors<<<(data.n + tile - 1) / tile, COPY_THREADS>>>(data.in, data.out, data.n);
    CHECK(cudaGetLastError());
}

static void copy_by_driver(const cub_scan::Data &data)
{
    CHECK(cudaMemcpyAsync(data.out, data.in, data.n * sizeof(float), cudaMemcpyDeviceToDevice));
}

__global__ void count_differences(const float *in, const float *out, long long n, unsigned long long *mistakes)
{
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        if (in[i] != out[i])
            atomicAdd(mistakes, 1);
}

// Exits if an element of the scan is wrong.
static void check_scan(const cub_scan::Data &data, void (*scan)(const cub_scan::Data &))
{
    const long long none[] = {0, data.n};
    CHECK(cudaMemcpy(data.mistakes, none, sizeof none, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(data.out, 0xff, data.n * sizeof(float)));
    cub_scan::fill<<<1024, 256>>>(data.in, data.n, 0);
    scan(data);
    cub_scan::compare<<<1024, 256>>>(data.out, data.n, false, 0, data.mistakes);
    long long mistakes;
    CHECK(cudaMemcpy(&mistakes, data.mistakes, sizeof mistakes, cudaMemcpyDeviceToHost));
    if (mistakes == 0)
        return;
    fprintf(stderr, "FAIL: the run_to_run scan of %lld elements is wrong in %lld\n", data.n, mistakes);
    exit(EXIT_FAILURE);
}

// Exits if the copy differs from its source.
static void check_copy(const cub_scan::Data &data, void (*copy)(const cub_scan::Data &))
{
    CHECK(cudaMemset(data.out, 0xff, data.n * sizeof(float)));
    CHECK(cudaMemset(data.mistakes, 0, sizeof(long long)));
    copy(data);
    count_differences<<<1024, 256>>>(data.in, data.out, data.n, (unsigned long long *)data.mistakes);
    long long mistakes;
    CHECK(cudaMemcpy(&mistakes, data.mistakes, sizeof mistakes, cudaMemcpyDeviceToHost));
    if (mistakes == 0)
        return;
    fprintf(stderr, "FAIL: a copy of %lld elements differs in %lld\n", data.n, mistakes);
    exit(EXIT_FAILURE);
}

// Milliseconds of a copy or scan of the array with a cold cache, as in the harness.
static float timed(const cub_scan::Data &data, void (*run)(const cub_scan::Data &))
{
    cub_scan::prepare<<<data.flush_blocks, 1024>>>(data.flush, data.flush_count, data.busy_cycles, data.mistakes);
    CHECK(cudaEventRecord(data.start));
    run(data);
    CHECK(cudaEventRecord(data.stop));
    CHECK(cudaEventSynchronize(data.stop));
    float ms;
    CHECK(cudaEventElapsedTime(&ms, data.start, data.stop));
    return ms;
}

// Microseconds of one of several scans in a row, with a warm cache; the median of ROWS measurements.
static double back_to_back(const cub_scan::Data &data, int (*launch)(const float *, float *, long long, bool, float *))
{
    const int scans = data.n <= 1 << 22 ? 100 : 10;
    std::vector<float> ms(ROWS);
    const long long scratch = std::max(cub_scan::scratch_count(data.n), last_step::scratch_count(data.n));
    CHECK(cudaMemset(data.scratch, 0xff, scratch * sizeof(float))); // the two scans store different formats
    for (float &one : ms) {
        // The GPU waits for a hundred launches to be queued.
        cub_scan::prepare<<<data.flush_blocks, 1024>>>(data.flush, 0, 20 * data.busy_cycles, data.mistakes);
        CHECK(cudaEventRecord(data.start));
        for (int k = 0; k < scans; k++)
            launch(data.in, data.out, data.n, data.exclusive, data.scratch);
        CHECK(cudaEventRecord(data.stop));
        CHECK(cudaEventSynchronize(data.stop));
        CHECK(cudaEventElapsedTime(&one, data.start, data.stop));
    }
    std::sort(ms.begin(), ms.end());
    return 1e3 * ms[ROWS / 2] / scans;
}

static void compare(cub_scan::Data data)
{
    last_step::Data ours = share(data);
    std::vector<float> scan, cub, copy, kernel_copy, run_to_run;
    float total_ms = 0;
    last_step::timed_run(&ours, 0); // warm-up
    cub_scan::timed_run(&data, 0);
    check_copy(data, copy_by_driver);
    check_copy(data, copy_by_kernel);
    if (HAS_RUN_TO_RUN)
        check_scan(data, scan_run_to_run);
    for (unsigned run = 1; run <= MIN_RUNS || (run <= MAX_RUNS && total_ms < ENOUGH_MS); run++) {
        // Even run numbers make timed_run() clear the scratch memory, in which the two scans store different formats.
        scan.push_back(last_step::timed_run(&ours, 2 * run));
        cub.push_back(cub_scan::timed_run(&data, 2 * run));
        copy.push_back(timed(data, copy_by_driver));
        kernel_copy.push_back(timed(data, copy_by_kernel));
        if (HAS_RUN_TO_RUN)
            run_to_run.push_back(timed(data, scan_run_to_run));
        total_ms += scan.back() + cub.back() + copy.back() + kernel_copy.back();
    }
    const double kilobytes = 2e-3 * data.n * sizeof(float); // read and written
    printf("%lld", data.n);
    for (const auto &ms : {scan, cub, copy, kernel_copy})
        printf(",%.3f", 1e3 * interquartile_mean(ms));
    for (const auto &ms : {scan, cub, copy, kernel_copy})
        printf(",%.1f", kilobytes / (1e3 * interquartile_mean(ms)));
    const std::string deterministic = run_to_run.empty() ? "" : std::to_string(1e3 * interquartile_mean(run_to_run));
    printf(",%s,%.3f,%.3f,%s,%s\n", deterministic.c_str(), back_to_back(data, last_step::launch), back_to_back(data, cub_scan::launch),
           cub_version().c_str(), today().c_str());
    fflush(stdout);
}

// Powers of two, and odd sizes between them.
static std::vector<long long> default_sizes()
{
    std::vector<long long> sizes = {1000, (1 << 15) - 1, (1 << 19) + 1, (1 << 23) - 1, (1 << 27) + 1};
    for (int power = 10; power <= 30; power++)
        sizes.push_back(1ll << power);
    std::sort(sizes.begin(), sizes.end());
    return sizes;
}

static int run(int argc, char **argv)
{
    const std::vector<long long> sizes = sizes_from_arguments(argc, argv, default_sizes());
    const long long most = *std::max_element(sizes.begin(), sizes.end());
    cub_scan::Data data = {};
    cudaDeviceProp device;
    int clock_khz;
    CHECK(cudaGetDeviceProperties(&device, 0));
    CHECK(cudaDeviceGetAttribute(&clock_khz, cudaDevAttrClockRate, 0));
    const size_t flush_bytes = 2 * (size_t)device.l2CacheSize;
    data.flush_count = flush_bytes / sizeof(float4);
    data.flush_blocks = 2 * device.multiProcessorCount;
    data.busy_cycles = clock_khz / 10; // a tenth of a millisecond
    keep_pool();
    CHECK(cudaMalloc(&data.in, most * sizeof(float)));
    CHECK(cudaMalloc(&data.out, most * sizeof(float)));
    CHECK(cudaMalloc(&data.scratch, std::max(cub_scan::scratch_count(most), last_step::scratch_count(most)) * sizeof(float)));
    CHECK(cudaMalloc(&data.flush, flush_bytes));
    CHECK(cudaMemset(data.flush, 0, flush_bytes));
    CHECK(cudaMalloc(&data.mistakes, 2 * sizeof(long long)));
    CHECK(cudaEventCreate(&data.start));
    CHECK(cudaEventCreate(&data.stop));
    printf("elements,scan_us,cub_us,copy_us,kernel_copy_us,scan_gb_per_s,cub_gb_per_s,copy_gb_per_s,kernel_copy_gb_per_s,run_to_run_us,scan_back_to_back_us,cub_back_to_back_us,cub_version,date\n");
    for (long long n : sizes) {
        data.n = n;
        compare(data);
    }
    return 0;
}
} // namespace interleaved

int main(int argc, char **argv)
{
    return interleaved::run(argc, argv);
}
