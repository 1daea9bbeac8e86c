// Lab rowscale, step 04: one warp per row. It needs no barrier and no shared memory.
// The change: a team of threads has a row: a warp if it suffices, else a block.
// Build and run: nvcc -O3 -arch=native -o rowscale rowscale.cu && ./rowscale

#include <cstdio>

static const char STEP[] = "step04_warp";

#define CHECK(call) check(call, #call, __FILE__, __LINE__)
static void check(cudaError_t error, const char *call, const char *file, int line);

const int BLOCK_SIZE = 128; // threads

// The largest absolute value; fmaxf ignores NaN.
__device__ float max_abs(float v)
{
    return fmaxf(0.0f, fabsf(v));
}

__device__ float max_abs(float4 v)
{
    return fmaxf(fmaxf(max_abs(v.x), max_abs(v.y)), fmaxf(max_abs(v.z), max_abs(v.w)));
}

__device__ float divided(float v, float divisor)
{
    return v / divisor;
}

__device__ float4 divided(float4 v, float divisor)
{
    return make_float4(v.x / divisor, v.y / divisor, v.z / divisor, v.w / divisor);
}

// Returns the maximum of `largest` over all threads of the row, in each of these threads.
template <int team_size>
__device__ float largest_of_row(float largest)
{
    for (int s = 16; s > 0; s /= 2)
        largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, s));
    if (team_size <= 32)
        return largest;

    __shared__ float warp_max[BLOCK_SIZE / 32];
    if (threadIdx.x % 32 == 0)
        warp_max[threadIdx.x / 32] = largest;
    __syncthreads();
    for (int warp = 0; warp < BLOCK_SIZE / 32; warp++)
        largest = fmaxf(largest, warp_max[warp]);
    return largest;
}

// Divides each row by its largest absolute value; count: elements of type V per row.
template <class V, int team_size, int rounds>
__global__ void scale_rows(const V *in, V *out, long long rows, int count)
{
    const long long row =
        (long long)blockIdx.x * (BLOCK_SIZE / team_size) + threadIdx.x / team_size;
    const int first = threadIdx.x % team_size, end = row < rows ? count : 0;
    V kept[rounds];
    float largest = 0.0f;
    for (int r = 0, c = first; r < rounds; r++, c += team_size)
        if (c < end) {
            kept[r] = in[row * count + c];
            largest = fmaxf(largest, max_abs(kept[r]));
        }
    largest = largest_of_row<team_size>(largest);
    const float divisor = largest == 0 ? 1 : largest;
    for (int r = 0, c = first; r < rounds; r++, c += team_size)
        if (c < end)
            out[row * count + c] = divided(kept[r], divisor);
}

// Launches the smallest instantiation of scale_rows that covers a row.
template <class V, int team_size, int rounds>
static void launch_fitting(const V *in, V *out, long long rows, int count)
{
    const long long teams = BLOCK_SIZE / team_size; // per block
    if (count <= team_size * rounds)
        scale_rows<V, team_size, rounds>
            <<<(rows + teams - 1) / teams, BLOCK_SIZE>>>(in, out, rows, count);
    else if constexpr (team_size == 32 && rounds == 4)
        launch_fitting<V, BLOCK_SIZE, 2>(in, out, rows, count);
    else if constexpr (team_size * rounds * sizeof(V) < 8192 * sizeof(float))
        launch_fitting<V, team_size, 2 * rounds>(in, out, rows, count);
}

// Scales rows of 1 to 8192 columns. If columns is a multiple of four, each row starts at a
// multiple of 16 bytes, because in and out do.
static void launch(const float *in, float *out, long long rows, int columns)
{
    if (columns % 4 == 0)
        launch_fitting<float4, 32, 1>((const float4 *)in, (float4 *)out, rows, columns / 4);
    else
        launch_fitting<float, 32, 1>(in, out, rows, columns);
    CHECK(cudaGetLastError());
}

// ==== Harness: the same in every step of this lab from here on; the lesson is above. ====

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

enum { BAD_ARGUMENT = 2, CANNOT_RUN = 77, RUNS = 51, ENOUGH_MS = 500 };
enum { UNWRITTEN = 0x7e }; // bytes that make 8.4e37; a result is -1 to 1, or NaN
// The columns of the timed rows; the last is the case that the lab's page shows.
static const int COLUMNS[] = {1, 7, 32, 100, 1000, 1023, 8192, 128};
// Checked but not timed, so that every instance of the kernel template runs.
static const int CHECKED_COLUMNS[] = {2,    3,    5,    12,   13,   20,  33,
                                      63,   127,  129,  255,  256,  511, 512,
                                      1025, 2047, 2048, 4095, 4097, 8191};
static const long long MAX_ROWS = (1 << 24) - 1; // keeps every grid below 2^31 blocks
static const unsigned long long NONE = ~0ull;

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

static void parse_arguments(int argc, char **argv, long long *rows, bool *csv)
{
    *rows = 0;
    for (int i = 1; i < argc; i++) {
        const std::string arg = argv[i];
        const bool digits = arg.find_first_not_of("0123456789") == std::string::npos;
        const long long count = digits ? strtoll(argv[i], nullptr, 10) : 0;
        if (arg == "--csv") {
            *csv = true;
        } else if (*rows == 0 && count >= 1 && count <= MAX_ROWS) {
            *rows = count;
        } else {
            fprintf(stderr,
                    "unusable argument '%s': accepted are --csv, rows of 128 columns (1 to "
                    "%lld)\n",
                    argv[i], MAX_ROWS);
            exit(BAD_ARGUMENT);
        }
    }
    *rows = *rows == 0 ? 442368 : *rows;
}

struct Data {
    long long flush_count, busy_cycles;
    float *in, *out; // rows * columns, one row after the other
    float4 *flush;   // twice the L2 cache
    int flush_blocks;
    unsigned long long *wrong; // the first wrong element, or NONE
    cudaEvent_t start, stop;
};

// Numbers between -16 and 16. Some rows hold zeros, one NaN, an infinity, only NaN, or
// numbers too small for a normal float.
__global__ void fill(float *in, long long rows, int columns)
{
    const long long n = rows * columns;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += gridDim.x * blockDim.x) {
        const long long row = i / columns, place = (row * 7 + 3) % columns;
        const unsigned random =
            (unsigned)(i * 2654435761u >> 3) ^ (unsigned)(i >> 13) * 40503u;
        const float value = (random % 2000003 - 1000001.0f) / 62500.0f;
        const bool special = i % columns == place;
        in[i] = row % 61 == 5               ? 0.0f
                : row % 61 == 7 && special  ? NAN
                : row % 61 == 11 && special ? -INFINITY
                : row % 61 == 13            ? NAN
                : row % 61 == 17            ? value * 1e-40f
                                            : value;
    }
}

// Recomputes each row in a single thread, and records the first element that differs.
// A row of zeros stays unchanged; the largest value ignores NaN.
__global__ void find_wrong(const float *in, const float *out, long long rows, int columns,
                           unsigned long long *wrong)
{
    const long long row = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    float largest = 0.0f;
    for (long long i = row * columns; i < (row + 1) * columns; i++)
        if (fabsf(in[i]) > largest)
            largest = fabsf(in[i]);
    for (long long i = row * columns; i < (row + 1) * columns; i++) {
        const float expected = largest > 0 ? in[i] / largest : in[i];
        const bool same = __float_as_uint(out[i]) == __float_as_uint(expected);
        if (!same && !(isnan(out[i]) && isnan(expected)))
            atomicMin(wrong, (unsigned long long)i);
    }
}

// Reads the whole buffer, which evicts the timed run's input from the L2 cache and leaves
// no modified line to be written back. Takes at least `cycles` cycles, while the host
// queues the launch; otherwise launching would be part of short times.
__global__ void prepare(const float4 *flush, long long count, long long cycles,
                        float *never)
{
    const long long start = clock64();
    float sum = 0.0f;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count;
         i += gridDim.x * blockDim.x)
        sum += flush[i].x + flush[i].y + flush[i].z + flush[i].w;
    if (sum != 0) // never true, which the compiler cannot know
        *never = sum;
    while (clock64() - start < cycles)
        continue;
}

// Milliseconds of a command, with a cold cache.
static float timed(const Data &d, long long n, const std::function<void()> &queue)
{
    CHECK(cudaMemsetAsync(d.out, UNWRITTEN, n * sizeof(float)));
    prepare<<<d.flush_blocks, 1024>>>(d.flush, d.flush_count, d.busy_cycles, d.out);
    CHECK(cudaGetLastError());
    CHECK(cudaEventRecord(d.start));
    queue();
    CHECK(cudaEventRecord(d.stop));
    CHECK(cudaEventSynchronize(d.stop));
    float ms;
    CHECK(cudaEventElapsedTime(&ms, d.start, d.stop));
    return ms;
}

// Exits if an element of the last run is wrong.
static void check_result(const Data &d, long long rows, int columns)
{
    unsigned long long wrong;
    CHECK(cudaMemset(d.wrong, 0xff, sizeof(wrong)));
    find_wrong<<<(rows + 255) / 256, 256>>>(d.in, d.out, rows, columns, d.wrong);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(&wrong, d.wrong, sizeof(wrong), cudaMemcpyDeviceToHost));
    if (wrong != NONE) {
        fprintf(stderr, "FAIL: of %lld rows of %d columns row %llu, column %llu is wrong\n",
                rows, columns, wrong / columns, wrong % columns);
        exit(EXIT_FAILURE);
    }
}

// Scales some rows, untimed, and checks them.
static void check_only(const Data &d, long long rows, int columns)
{
    fill<<<d.flush_blocks, 1024>>>(d.in, rows, columns);
    CHECK(cudaGetLastError());
    CHECK(cudaMemset(d.out, UNWRITTEN, rows * columns * sizeof(float)));
    launch(d.in, d.out, rows, columns);
    check_result(d, rows, columns);
}

static double median(std::vector<float> ms)
{
    std::sort(ms.begin(), ms.end());
    return ms[ms.size() / 2];
}

// Times the scaling and, alternately, a copy of as many bytes. All runs are checked.
static void measure(const Data &d, long long rows, int columns, bool csv,
                    const char *device)
{
    const long long n = rows * columns;
    fill<<<d.flush_blocks, 1024>>>(d.in, rows, columns);
    CHECK(cudaGetLastError());
    std::vector<float> scale_ms, copy_ms;
    float total_ms = 0;
    while (scale_ms.size() < 3 || (scale_ms.size() < RUNS && total_ms < ENOUGH_MS)) {
        copy_ms.push_back(timed(d, n, [&] {
            CHECK(
                cudaMemcpyAsync(d.out, d.in, n * sizeof(float), cudaMemcpyDeviceToDevice));
        }));
        scale_ms.push_back(timed(d, n, [&] { launch(d.in, d.out, rows, columns); }));
        check_result(d, rows, columns);
        total_ms += scale_ms.back();
    }
    const double ms = median(scale_ms), bytes = 2.0 * n * sizeof(float); // read and written
    const double gb_per_s = bytes / ms / 1e6, copy_gb_per_s = bytes / median(copy_ms) / 1e6;
    printf(
        csv ? "%s,%s,%lld,%d,%.6f,%.2f,%.2f,%.4f,PASS\n"
            : "%s on %s: %lld rows of %d columns, ms %.4f, GB/s %.2f, a copy %.2f, of the "
              "copy's speed %.3f, PASS\n",
        STEP, device, rows, columns, ms, gb_per_s, copy_gb_per_s, gb_per_s / copy_gb_per_s);
}

int main(int argc, char **argv)
{
    long long rows;
    bool csv = false;
    parse_arguments(argc, argv, &rows, &csv);
    Data d = {};
    cudaDeviceProp device;
    int clock_khz;
    CHECK(cudaGetDeviceProperties(&device, 0));
    CHECK(cudaDeviceGetAttribute(&clock_khz, cudaDevAttrClockRate, 0));
    const size_t flush_bytes = 2 * (size_t)device.l2CacheSize;
    d.flush_count = flush_bytes / sizeof(float4);
    d.flush_blocks = 2 * device.multiProcessorCount;
    d.busy_cycles = clock_khz / 10; // a tenth of a millisecond
    const long long n = std::max(128 * rows, 8192ll);
    CHECK(cudaMalloc(&d.in, n * sizeof(float)));
    CHECK(cudaMalloc(&d.out, n * sizeof(float)));
    CHECK(cudaMalloc(&d.flush, flush_bytes));
    CHECK(cudaMemset(d.flush, 0, flush_bytes));
    CHECK(cudaMalloc(&d.wrong, sizeof(*d.wrong)));
    CHECK(cudaEventCreate(&d.start));
    CHECK(cudaEventCreate(&d.stop));
    if (csv)
        printf(
            "step,device,rows,columns,median_ms,gb_per_s,copy_gb_per_s,of_copy,status\n");
    for (const int columns : CHECKED_COLUMNS)
        check_only(d, std::max(std::min(128 * rows, 65536ll) / columns, 1ll), columns);
    for (const int columns : COLUMNS) // the same number of elements each time
        measure(d, std::max(128 * rows / columns, 1ll), columns, csv, device.name);
}
