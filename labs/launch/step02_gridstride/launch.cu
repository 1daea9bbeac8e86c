// Lab launch, step 02: a grid sized to the GPU. A persistent kernel: blocks stay resident.
// The change: as many blocks as the GPU holds at once, and a loop with a grid stride.
// Build and run: nvcc -O3 -arch=native -o launch launch.cu && ./launch

#include <cstdio>
#include <cstdlib>
#include <string>

static const char STEP[] = "step02_gridstride";

#define CHECK(call) check(call, #call, __FILE__, __LINE__)
static void check(cudaError_t error, const char *call, const char *file, int line);

struct Arrays {
    long long n;                     // elements per array
    int *a, *b, *sum;                // in device memory
    int *host_a, *host_b, *host_sum; // in host memory, or null: no copies
};

// Records the time on the GPU; two laps delimit a part of the run.
static void lap();

const int BLOCK_SIZES[] = {32, 64, 128, 256, 512, 1024}; // threads

// __restrict__ promises the compiler that the arrays do not overlap.
__global__ void add(const int *__restrict__ a, const int *__restrict__ b,
                    int *__restrict__ sum, long long n)
{
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += gridDim.x * blockDim.x)
        sum[i] = a[i] + b[i];
}

struct Occupancy {
    int registers, blocks; // per thread; per SM
    double percent;
    std::string limit; // blocks, threads, registers (joined by +) or other
};

// How many blocks of this size an SM holds at once, and which limit applies.
static Occupancy occupancy(int block)
{
    int most_blocks, most_threads, most_registers;
    CHECK(cudaDeviceGetAttribute(&most_blocks, cudaDevAttrMaxBlocksPerMultiprocessor, 0));
    CHECK(cudaDeviceGetAttribute(&most_threads, cudaDevAttrMaxThreadsPerMultiProcessor, 0));
    CHECK(cudaDeviceGetAttribute(&most_registers, cudaDevAttrMaxRegistersPerMultiprocessor,
                                 0));
    cudaFuncAttributes kernel;
    CHECK(cudaFuncGetAttributes(&kernel, add));
    // Registers are allocated from the warp's SM quarter, in units of eight per lane.
    const int warps = (block + 31) / 32;
    const int warp_registers = (kernel.numRegs + 7) / 8 * 8 * 32;
    const int by_threads = most_threads / 32 / warps;
    const int by_registers = most_registers / 4 / warp_registers * 4 / warps;

    int blocks; // according to the runtime
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add, block, 0));
    std::string limit;
    if (blocks == most_blocks)
        limit += "+blocks";
    if (blocks == by_threads)
        limit += "+threads";
    if (blocks == by_registers)
        limit += "+registers";
    return {kernel.numRegs, blocks, 100.0 * 32 * warps * blocks / most_threads,
            limit.empty() ? "other" : limit.substr(1)};
}

// The number of blocks of this size to launch.
static long long block_count(long long n, int block)
{
    int sm_count;
    CHECK(cudaDeviceGetAttribute(&sm_count, cudaDevAttrMultiProcessorCount, 0));
    const long long resident = sm_count * occupancy(block).blocks;
    return min((n + block - 1) / block, resident);
}

static void allocate(Arrays *x)
{
    for (int **array : {&x->a, &x->b, &x->sum})
        CHECK(cudaMalloc(array, x->n * sizeof(int)));
}

// The timed part.
static void run(const Arrays &x, long long blocks, int block)
{
    add<<<blocks, block>>>(x.a, x.b, x.sum, x.n);
    CHECK(cudaGetLastError());
}

// ==== Harness: the same in every step of this lab from here on; the lesson is above. ====

#include <algorithm>
#include <cstring>
#include <vector>

enum { BAD_ARGUMENT = 2, CANNOT_RUN = 77, ENOUGH_MS = 500 };
static const long long MAX_ELEMENTS = 1ll << 35; // keeps every grid below 2^31 blocks

// Exits with a message of one line if a CUDA call failed.
static void check(cudaError_t error, const char *call, const char *file, int line)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "%s:%d: %s: %s\n", file, line, call, cudaGetErrorString(error));
    const bool cannot_run =
        error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver ||
        error == cudaErrorNoKernelImageForDevice || error == cudaErrorUnsupportedPtxVersion;
    const bool too_large = error == cudaErrorMemoryAllocation;
    exit(cannot_run ? CANNOT_RUN : too_large ? BAD_ARGUMENT : EXIT_FAILURE);
}

static void parse_arguments(int argc, char **argv, long long *n, bool *csv)
{
    for (int i = 1; i < argc; i++) {
        const std::string arg = argv[i];
        const bool digits = arg.find_first_not_of("0123456789") == std::string::npos;
        const long long count = digits ? strtoll(argv[i], nullptr, 10) : 0;
        if (arg == "--csv") {
            *csv = true;
        } else if (*n == 0 && count >= 1 && count <= MAX_ELEMENTS) {
            *n = count;
        } else {
            fprintf(stderr,
                    "unusable argument '%s': accepted are --csv, SIZE (1 to %lld)\n",
                    argv[i], MAX_ELEMENTS);
            exit(BAD_ARGUMENT);
        }
    }
    *n = *n == 0 ? 1ll << 24 : *n;
}

struct Gpu {
    cudaDeviceProp properties;
    int clock_khz, memory_khz, bus_bits;
    long long flush_count;
    float4 *flush;    // zeros, twice the L2 cache
    long long *wrong; // result of the check
};

static cudaEvent_t laps[4];
static int lap_count;

static void lap()
{
    CHECK(cudaEventRecord(laps[lap_count++]));
}

struct Times { // in milliseconds
    float all, to_device, kernel, to_host;
};

static float between(int first, int second)
{
    float ms;
    CHECK(cudaEventElapsedTime(&ms, laps[first], laps[second]));
    return ms;
}

// Element i of a (which 0) or b (which 1): a random number from 0 to 2^30 - 1, so that no
// sum is -1, the initial value of the output.
__device__ int element(long long i, int which)
{
    unsigned long long bits = 2 * i + which + 1;
    bits = (bits ^ bits >> 32) * 0x9e3779b97f4a7c15u;
    bits = (bits ^ bits >> 29) * 0xbf58476d1ce4e5b9u;
    return (int)(bits >> 34);
}

__global__ void fill(int *a, int *b, long long n)
{
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += gridDim.x * blockDim.x) {
        a[i] = element(i, 0);
        b[i] = element(i, 1);
    }
}

// Stores the index of the first wrong sum in *wrong; unchanged if all are correct.
__global__ void find_wrong(const int *sum, long long n, long long *wrong)
{
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += gridDim.x * blockDim.x)
        if (sum[i] != element(i, 0) + element(i, 1))
            atomicMin(wrong, i);
}

// Evicts the arrays and all modified lines from the L2 cache by reading the whole buffer.
// Takes at least `cycles` cycles, while the host queues the run; short times
// would otherwise include launch overhead.
__global__ void prepare(const float4 *flush, long long count, long long cycles,
                        long long *never)
{
    const long long start = clock64();
    float sum = 0.0f;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count;
         i += gridDim.x * blockDim.x)
        sum += flush[i].x + flush[i].y + flush[i].z + flush[i].w;
    if (sum != 0) // never: the buffer is zero, but the compiler cannot know
        *never = 0;
    while (clock64() - start < cycles)
        continue;
}

// Exits if a sum is wrong, whether the step leaves the sums on the GPU or on the host.
static void check_sums(const Gpu &gpu, const Arrays &x, int block)
{
    if (x.host_sum)
        CHECK(cudaMemcpy(x.sum, x.host_sum, x.n * sizeof(int), cudaMemcpyHostToDevice));
    long long wrong = x.n;
    CHECK(cudaMemcpy(gpu.wrong, &wrong, sizeof wrong, cudaMemcpyHostToDevice));
    find_wrong<<<2 * gpu.properties.multiProcessorCount, 1024>>>(x.sum, x.n, gpu.wrong);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(&wrong, gpu.wrong, sizeof wrong, cudaMemcpyDeviceToHost));
    if (wrong == x.n)
        return;
    fprintf(stderr, "FAIL: with blocks of %d, element %lld is wrong\n", block, wrong);
    exit(EXIT_FAILURE);
}

// One run, checked. First sets all sums, and the GPU's copies of a and b, to -1.
static Times timed_run(const Gpu &gpu, const Arrays &x, int block)
{
    const size_t bytes = x.n * sizeof(int);
    CHECK(cudaMemset(x.sum, 0xff, bytes));
    if (x.host_sum) {
        memset(x.host_sum, 0xff, bytes);
        CHECK(cudaMemset(x.a, 0xff, bytes));
        CHECK(cudaMemset(x.b, 0xff, bytes));
    }
    const long long blocks = block_count(x.n, block);
    const long long busy_cycles = gpu.clock_khz / 10; // a tenth of a millisecond
    prepare<<<2 * gpu.properties.multiProcessorCount, 1024>>>(gpu.flush, gpu.flush_count,
                                                              busy_cycles, gpu.wrong);
    CHECK(cudaGetLastError());
    lap_count = 0;
    lap();
    run(x, blocks, block);
    lap();
    CHECK(cudaDeviceSynchronize());
    check_sums(gpu, x, block);
    const float all = between(0, lap_count - 1);
    if (lap_count == 2) // only the kernel
        return {all, 0, all, 0};
    return {all, between(0, 1), between(1, 2), between(2, 3)};
}

// The run with the median time, out of many with this block size.
static Times median_run(const Gpu &gpu, const Arrays &x, int block)
{
    timed_run(gpu, x, block); // warm-up
    std::vector<Times> runs;
    float total_ms = 0;
    while (runs.size() < 3 || (runs.size() < 51 && total_ms < ENOUGH_MS)) {
        runs.push_back(timed_run(gpu, x, block));
        total_ms += runs.back().all;
    }
    std::sort(runs.begin(), runs.end(),
              [](const Times &a, const Times &b) { return a.all < b.all; });
    return runs[runs.size() / 2];
}

static void report(const Gpu &gpu, long long n, int block, const Times &ms, bool csv)
{
    const Occupancy o = occupancy(block);
    const long long blocks = block_count(n, block), threads = blocks * block;
    const double gb_per_s = 3.0 * n * sizeof(int) / ms.all / 1e6;
    const double peak = 2.0 * gpu.memory_khz * gpu.bus_bits / 8 / 1e6; // 2 per clock
    if (csv)
        printf("%s,%s,%lld,%d,%lld,%lld,%d,%d,%.1f,%s,%.6f,%.3f,%.4f,%.6f,%.6f,%.6f,%d,"
               "%.0f,%.0f,%d,%.1f,PASS\n",
               STEP, gpu.properties.name, n, block, blocks, (n + threads - 1) / threads,
               o.registers, o.blocks, o.percent, o.limit.c_str(), ms.all, gb_per_s,
               ms.kernel * 1e6 / blocks, ms.to_device, ms.kernel, ms.to_host,
               gpu.properties.multiProcessorCount, gpu.clock_khz / 1e3,
               gpu.memory_khz / 1e3, gpu.bus_bits, peak);
    else
        printf("%s on %s: n %lld, %lld blocks of %d, %d an SM (limit: %s), occupancy %.0f "
               "%%, ms %.4f (kernel %.4f), GB/s %.1f of %.0f, PASS\n",
               STEP, gpu.properties.name, n, blocks, block, o.blocks, o.limit.c_str(),
               o.percent, ms.all, ms.kernel, gb_per_s, peak);
}

int main(int argc, char **argv)
{
    Arrays x = {};
    bool csv = false;
    parse_arguments(argc, argv, &x.n, &csv);
    Gpu gpu = {};
    CHECK(cudaGetDeviceProperties(&gpu.properties, 0));
    CHECK(cudaDeviceGetAttribute(&gpu.clock_khz, cudaDevAttrClockRate, 0));
    CHECK(cudaDeviceGetAttribute(&gpu.memory_khz, cudaDevAttrMemoryClockRate, 0));
    CHECK(cudaDeviceGetAttribute(&gpu.bus_bits, cudaDevAttrGlobalMemoryBusWidth, 0));
    const size_t flush_bytes = 2 * (size_t)gpu.properties.l2CacheSize;
    gpu.flush_count = flush_bytes / sizeof(float4);
    CHECK(cudaMalloc(&gpu.flush, flush_bytes));
    CHECK(cudaMemset(gpu.flush, 0, flush_bytes));
    CHECK(cudaMalloc(&gpu.wrong, sizeof(long long)));
    for (cudaEvent_t &event : laps)
        CHECK(cudaEventCreate(&event));
    allocate(&x);
    fill<<<2 * gpu.properties.multiProcessorCount, 1024>>>(x.a, x.b, x.n);
    CHECK(cudaGetLastError());
    if (x.host_sum) {
        CHECK(cudaMemcpy(x.host_a, x.a, x.n * sizeof(int), cudaMemcpyDeviceToHost));
        CHECK(cudaMemcpy(x.host_b, x.b, x.n * sizeof(int), cudaMemcpyDeviceToHost));
    }

    if (csv)
        printf("step,device,elements,block,blocks,per_thread,registers,blocks_per_sm,"
               "occupancy_percent,limit,median_ms,gb_per_s,ns_per_block,to_device_ms,"
               "kernel_ms,to_host_ms,sm_count,clock_mhz,memory_mhz,bus_bits,"
               "peak_gb_per_s,status\n");
    for (int block : BLOCK_SIZES)
        report(gpu, x.n, block, median_run(gpu, x, block), csv);
}
