// Lab several_gpus, step 02: an all-reduce by NCCL. GPUs exchange sums without the host.
// The change: one call instead of the host's copies and additions.
// Build and run: nvcc -O3 -arch=native -o several_gpus several_gpus.cu -lnccl && ./several_gpus

#include <cstdio>
#include <cstdlib>
#include <cub/device/device_reduce.cuh>
#include <nccl.h>
#include <vector>

static const char STEP[] = "step02_nccl";

#define CHECK(call) check(call, #call, __FILE__, __LINE__)
static void check(cudaError_t error, const char *call, const char *file, int line);

// The same for calls of NCCL.
static void check(ncclResult_t result, const char *call, const char *file, int line)
{
    if (result == ncclSuccess)
        return;
    fprintf(stderr, "%s:%d: %s: %s\n", file, line, call, ncclGetErrorString(result));
    exit(EXIT_FAILURE);
}

static int process = 0; // the rank of this process; only 0 prints

struct Gpu {
    int device, rank; // the GPU's number on this machine, and among all GPUs
    cudaStream_t stream;
    float *in;       // its part of the array
    long long n;     // the number of its elements to add
    float *sum;      // the result
    void *temporary; // CUB's storage
    size_t temporary_bytes;
    ncclComm_t comm; // its membership in the group of GPUs
};

// The GPUs of this process. Stores the number of GPUs of all processes in *count.
static std::vector<Gpu> find_gpus(int *count)
{
    int own;
    if (cudaGetDeviceCount(&own) != cudaSuccess)
        own = 0; // the harness prints the error
    *count = own;
    std::vector<Gpu> gpus(own);
    for (int i = 0; i < own; i++) {
        gpus[i].device = i;
        gpus[i].rank = i;
    }
    return gpus;
}

// Prepares sums over the first `count` GPUs, of up to n elements on each.
static void get_ready(std::vector<Gpu> &gpus, long long n, int count)
{
    std::vector<ncclComm_t> comms(count);
    CHECK(ncclCommInitAll(&comms[0], count, nullptr));
    for (Gpu &gpu : gpus) {
        CHECK(cudaSetDevice(gpu.device));
        CHECK(cub::DeviceReduce::Sum(nullptr, gpu.temporary_bytes, gpu.in, gpu.sum, n));
        CHECK(cudaMalloc(&gpu.temporary, gpu.temporary_bytes));
        gpu.comm = comms[gpu.rank];
    }
}

// Frees what get_ready allocated.
static void clean_up(std::vector<Gpu> &gpus)
{
    for (Gpu &gpu : gpus) {
        CHECK(cudaSetDevice(gpu.device));
        CHECK(cudaFree(gpu.temporary));
        CHECK(ncclCommDestroy(gpu.comm));
    }
}

// Starts the sum of one GPU's own elements, without waiting for it.
static void start_sum(Gpu &gpu)
{
    CHECK(cudaSetDevice(gpu.device));
    CHECK(cub::DeviceReduce::Sum(gpu.temporary, gpu.temporary_bytes, gpu.in, gpu.sum, gpu.n,
                                 gpu.stream));
}

// Sums over all GPUs; afterwards each of them has the total.
static void sum_over_all(std::vector<Gpu> &gpus)
{
    for (Gpu &gpu : gpus)
        start_sum(gpu);
    CHECK(ncclGroupStart());
    for (Gpu &gpu : gpus)
        CHECK(ncclAllReduce(gpu.sum, gpu.sum, 1, ncclFloat, ncclSum, gpu.comm, gpu.stream));
    CHECK(ncclGroupEnd());
}

// The largest value of all processes; returns when all have called it.
static double largest(double value)
{
    return value; // there is one process
}

// Exits; called by all processes.
static void leave(int status)
{
    exit(status);
}

// ==== Harness: the same in every step of this lab from here on; the lesson is above. ====

#include <algorithm>
#include <chrono>
#include <string>

enum { BAD_ARGUMENT = 2, CANNOT_RUN = 77, MAX_RUNS = 51, ENOUGH_MS = 500 };
static const long long MAX_ELEMENTS = 1ll << 36; // of one GPU
static const size_t PERIOD = 2 * 50021;          // of the data; no tile divides it

// Exits with a message of one line if a CUDA call failed.
static void check(cudaError_t error, const char *call, const char *file, int line)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "%s:%d: %s: %s\n", file, line, call, cudaGetErrorString(error));
    const bool cannot_run =
        error == cudaErrorNoKernelImageForDevice || error == cudaErrorUnsupportedPtxVersion;
    const bool too_large = error == cudaErrorMemoryAllocation;
    exit(cannot_run ? CANNOT_RUN : too_large ? BAD_ARGUMENT : EXIT_FAILURE);
}

static void parse_arguments(int argc, char **argv, long long *size, bool *csv)
{
    for (int i = 1; i < argc; i++) {
        const std::string arg = argv[i];
        const bool digits = arg.find_first_not_of("0123456789") == std::string::npos;
        const long long count = digits ? strtoll(argv[i], nullptr, 10) : 0;
        if (arg == "--csv") {
            *csv = true;
        } else if (*size == 0 && count >= 1 && count <= MAX_ELEMENTS) {
            *size = count;
        } else {
            if (process == 0)
                fprintf(stderr,
                        "unusable argument '%s': accepted are --csv, SIZE (1 to %lld)\n",
                        argv[i], MAX_ELEMENTS);
            leave(BAD_ARGUMENT);
        }
    }
    *size = *size == 0 ? 1ll << 28 : *size;
}

// The harness's data of one GPU.
struct Bench {
    float4 *flush; // twice the L2 cache
    long long flush_count, patience, busy;
    volatile int *arrived, *start_flag; // number of a run, in pinned host memory
    int blocks;
    cudaEvent_t start, stop;
};

struct Data {
    long long size;              // GPU r holds elements r * size to (r + 1) * size - 1
    std::vector<long long> sums; // of the first 0, 1, ... PERIOD elements, in sixteenths
    std::vector<Gpu> gpus;       // the GPUs of this process that take part
    std::vector<Bench> benches;  // one for each of these GPUs
    int run;                     // number of the run, from 1
};

// An element is 1 to 16 sixteenths, or -1 to -16; never 0: losing a 0 would pass.
// The second half of a period is the negated first, so that sums stay small: below 2^24
// sixteenths float addition is exact in any order.
static void choose_values(Data *d)
{
    std::vector<int> values;
    unsigned long long random = 1;
    for (size_t i = 0; i < PERIOD; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u; // Knuth, MMIX
        const int value = (int)(random >> 59) - 16;
        values.push_back(i < PERIOD / 2 ? value + (value >= 0) : -values[i - PERIOD / 2]);
    }
    d->sums.assign(1, 0);
    for (int value : values)
        d->sums.push_back(d->sums.back() + value);
}

// The sum, in sixteenths, of elements begin to end - 1.
static long long sum_between(const Data &d, size_t begin, size_t end)
{
    return d.sums[end % PERIOD] - d.sums[begin % PERIOD]; // a whole period adds up to 0
}

// Adds a GPU to those that take part, with its part of the array and its Bench.
static void set_up(Data *d, Gpu gpu)
{
    Bench b = {};
    cudaDeviceProp device;
    int clock_khz;
    CHECK(cudaSetDevice(gpu.device));
    CHECK(cudaGetDeviceProperties(&device, gpu.device));
    CHECK(cudaDeviceGetAttribute(&clock_khz, cudaDevAttrClockRate, gpu.device));
    const size_t flush_bytes = 2 * (size_t)device.l2CacheSize;
    b.flush_count = flush_bytes / sizeof(float4);
    b.blocks = 2 * device.multiProcessorCount;
    b.patience = 100ll * clock_khz; // a tenth of a second
    b.busy = clock_khz / 2;         // half a millisecond
    CHECK(cudaMalloc(&b.flush, flush_bytes));
    CHECK(cudaMemset(b.flush, 0, flush_bytes));
    CHECK(cudaMallocHost((void **)&b.arrived, 2 * sizeof(int)));
    b.start_flag = b.arrived + 1;
    *b.arrived = *b.start_flag = 0;
    CHECK(cudaEventCreate(&b.start));
    CHECK(cudaEventCreate(&b.stop));

    CHECK(cudaStreamCreate(&gpu.stream));
    CHECK(cudaMalloc(&gpu.sum, sizeof(float)));
    CHECK(cudaMalloc(&gpu.in, d->size * sizeof(float)));
    const size_t all = d->size, begin = gpu.rank * all;
    size_t filled = std::min(all, PERIOD);
    std::vector<float> values;
    for (size_t i = begin; i < begin + filled; i++)
        values.push_back(sum_between(*d, i, i + 1) / 16.0f);
    CHECK(cudaMemcpy(gpu.in, &values[0], filled * sizeof(float), cudaMemcpyDefault));
    for (size_t more; filled < all; filled += more) { // doubles the filled part
        more = std::min(all - filled, filled);
        CHECK(cudaMemcpy(gpu.in + filled, gpu.in, more * sizeof(float), cudaMemcpyDefault));
    }
    d->gpus.push_back(gpu);
    d->benches.push_back(b);
}

// The number of elements, of `all`, that a GPU adds.
static long long share(long long all, int rank, int count)
{
    return all / count + (rank < all % count);
}

// The value, in sixteenths, of a GPU's middle element. It differs between runs and GPUs: a
// sum that is old, missing or added twice makes this run or the next one wrong.
static long long marker(const Data &d, int rank)
{
    return (d.run % 2 ? 1 : -1) * (rank + 1 + d.run % 13);
}

// Sets the middle element, in sixteenths.
static void set_middle(const Gpu &gpu, long long sixteenths)
{
    const float value = sixteenths / 16.0f;
    if (gpu.n > 0)
        CHECK(cudaMemcpyAsync(gpu.in + gpu.n / 2, &value, sizeof(float),
                              cudaMemcpyHostToDevice, gpu.stream));
}

// The sum over `count` GPUs, in sixteenths, of `all` elements.
static long long expected(const Data &d, long long all, int count)
{
    long long sum = 0;
    for (long long rank = 0; rank < count && rank < all; rank++) { // others have none
        const long long begin = rank * d.size, n = share(all, rank, count);
        sum += sum_between(d, begin, begin + n / 2) + marker(d, rank) +
               sum_between(d, begin + n / 2 + 1, begin + n);
    }
    return sum;
}

// Reads the whole buffer, which evicts the array from the L2 cache. Then one thread signals
// the host, and waits at most `patience` cycles for its start flag, so that all GPUs start
// together. It keeps the GPU busy for `busy` cycles, while the host queues the timed work.
__global__ void prepare(const float4 *flush, long long count, float *never,
                        volatile int *arrived, volatile int *start_flag, int run,
                        long long patience, long long busy)
{
    float sum = 0.0f;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count;
         i += gridDim.x * blockDim.x)
        sum += flush[i].x + flush[i].y + flush[i].z + flush[i].w;
    if (sum != 0) // never true, which the compiler cannot know
        *never = sum;
    if (blockIdx.x > 0 || threadIdx.x > 0)
        return;
    *arrived = run;
    long long start = clock64();
    while (*start_flag != run && clock64() - start < patience)
        continue;
    start = clock64();
    while (clock64() - start < busy)
        continue;
}

// One sum of `all` elements over `count` GPUs. Returns the milliseconds of the slowest GPU;
// exits if the sum is wrong on a GPU.
static double timed_run(Data *d, long long all, int count)
{
    d->run++;
    for (size_t i = 0; i < d->gpus.size(); i++) {
        Gpu &gpu = d->gpus[i];
        const Bench &bench = d->benches[i];
        CHECK(cudaSetDevice(gpu.device));
        gpu.n = share(all, gpu.rank, count);
        set_middle(gpu, marker(*d, gpu.rank));
        // All bits set is NaN, which marks a sum that was never written.
        CHECK(cudaMemsetAsync(gpu.sum, 0xff, sizeof(float), gpu.stream));
        prepare<<<bench.blocks, 1024, 0, gpu.stream>>>(
            bench.flush, bench.flush_count, gpu.sum, bench.arrived, bench.start_flag,
            d->run, bench.patience, bench.busy);
        CHECK(cudaGetLastError());
        CHECK(cudaEventRecord(bench.start, gpu.stream));
    }
    const std::chrono::steady_clock::time_point since = std::chrono::steady_clock::now();
    for (const Bench &bench : d->benches)
        while (*bench.arrived != d->run &&
               std::chrono::steady_clock::now() - since < std::chrono::seconds(1))
            continue;
    largest(0); // the GPUs of all processes have signalled
    for (const Bench &bench : d->benches)
        *bench.start_flag = d->run;
    sum_over_all(d->gpus);
    for (size_t i = 0; i < d->gpus.size(); i++)
        CHECK(cudaEventRecord(d->benches[i].stop, d->gpus[i].stream));

    const double right = expected(*d, all, count) / 16.0;
    double ms = 0;
    for (size_t i = 0; i < d->gpus.size(); i++) {
        const Gpu &gpu = d->gpus[i];
        const Bench &bench = d->benches[i];
        float elapsed, sum;
        CHECK(cudaEventSynchronize(bench.stop));
        CHECK(cudaEventElapsedTime(&elapsed, bench.start, bench.stop));
        ms = elapsed <= ms ? ms : elapsed; // NaN on the simulator
        CHECK(cudaMemcpy(&sum, gpu.sum, sizeof(float), cudaMemcpyDeviceToHost));
        if (sum != right) {
            fprintf(stderr, "FAIL: the sum on GPU %d is %.4f, expected %.4f\n", gpu.rank,
                    sum, right);
            exit(EXIT_FAILURE);
        }
        const size_t middle = gpu.rank * d->size + gpu.n / 2;
        set_middle(gpu, sum_between(*d, middle, middle + 1));
    }
    return largest(ms);
}

// The times of many runs, sorted. All are checked.
static std::vector<double> time_runs(Data *d, long long all, int count)
{
    timed_run(d, all, count); // warm-up
    std::vector<double> ms;
    double total_ms = 0;
    while (ms.size() < 3 || (ms.size() < MAX_RUNS && total_ms < ENOUGH_MS)) {
        ms.push_back(timed_run(d, all, count));
        total_ms += ms.back();
    }
    std::sort(ms.begin(), ms.end());
    return ms;
}

// Measures and reports sums over the first `count` GPUs.
static void measure(Data *d, int count, const char *device, bool csv)
{
    static double alone[3]; // GB/s of one GPU
    // A GPU adds one element; its share of `size` elements; `size` elements.
    const char *names[] = {"least", "strong", "weak"};
    const long long elements[] = {count, d->size, d->size * count};
    get_ready(d->gpus, d->size, count);
    for (int k = 0; k < 3; k++) {
        const std::vector<double> ms = time_runs(d, elements[k], count);
        const size_t last = ms.size() - 1;
        const double median_ms = (ms[last / 2] + ms[(last + 1) / 2]) / 2;
        const double gb_per_s = elements[k] * sizeof(float) / median_ms / 1e6;
        alone[k] = count == 1 ? gb_per_s : alone[k];
        if (process == 0)
            printf(csv ? "%s,%s,%d,%s,%lld,%.6f,%.6f,%.6g,%.4f,PASS\n"
                       : "%s on %s: GPUs %d, %s, n %lld, ms %.4f (least %.4f), GB/s %.6g, "
                         "of the ideal %.3f, PASS\n",
                   STEP, device, count, names[k], elements[k], median_ms, ms[0], gb_per_s,
                   gb_per_s / (count * alone[k]));
    }
    clean_up(d->gpus);
}

int main(int argc, char **argv)
{
    Data d = {};
    int count;
    bool csv = false;
    const std::vector<Gpu> found = find_gpus(&count);
    parse_arguments(argc, argv, &d.size, &csv);
    if (count == 0) {
        if (process == 0)
            fprintf(stderr, "no GPU: %s\n", cudaGetErrorString(cudaGetLastError()));
        leave(CANNOT_RUN);
    }
    cudaDeviceProp device = {};
    if (!found.empty())
        CHECK(cudaGetDeviceProperties(&device, found[0].device));
    if (process == 0 && csv)
        printf("step,device,gpus,scaling,elements,median_ms,min_ms,gb_per_s,of_ideal,"
               "status\n");

    choose_values(&d);
    for (int gpus = 0; gpus < count;) {
        gpus = std::min(std::max(1, 2 * gpus), count); // 1, 2, 4, ... all
        while (d.gpus.size() < found.size() && found[d.gpus.size()].rank < gpus)
            set_up(&d, found[d.gpus.size()]);
        measure(&d, gpus, device.name, csv);
    }
    if (process == 0 && count == 1)
        fprintf(stderr, "one GPU: it added all, and had nothing to exchange\n");
    leave(EXIT_SUCCESS);
}
