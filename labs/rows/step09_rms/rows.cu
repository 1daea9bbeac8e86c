// Lab rows, step 09: RMSNorm. Its only sum is that of the squares.
// The change: the operator is an addition, and there is no mean and no bias.
// Build and run: nvcc -O3 -arch=native -o rows rows.cu && ./rows

#include <cooperative_groups.h>
#include <cstdio>
#include <cuda_bf16.h>

static const char STEP[] = "step09_rms";

#define CHECK(call) check(call, #call, __FILE__, __LINE__)
static void check(cudaError_t error, const char *call, const char *file, int line);

// What the harness runs and checks.
enum Operation { SOFTMAX, LAYER_NORM, RMS_NORM };
const Operation OPERATION = RMS_NORM;
template <class... T>
struct Types {
};
typedef Types<float, __nv_bfloat16> Elements;
const bool NEEDS_CLUSTERS = true;

// Of some numbers: the sum of their squares.
struct Partial {
    float squares;
};

__device__ Partial merge(Partial a, Partial b)
{
    return {a.squares + b.squares};
}

// 16 bytes of a row, or one number if rows do not start at multiples of 16 bytes. T: float
// or __nv_bfloat16.
template <class T, int width>
struct alignas(width * sizeof(T)) Vector {
    T at[width];
};

// Keeps bf16 packed until the next use: the compiler would hold all numbers as float, for
// which there are too few registers.
template <class T, int width, int kept>
__device__ void keep_packed(Vector<T, width> (&v)[kept])
{
    for (int k = 0; k < kept && width == 8; k++) {
        uint4 &w = (uint4 &)v[k];
        asm volatile("" : "+r"(w.x), "+r"(w.y), "+r"(w.z), "+r"(w.w));
    }
}

// Rows of `count` vectors each, as has gain.
template <class T, int width>
struct Rows {
    const Vector<T, width> *in, *gain;
    Vector<T, width> *out;
    long long rows;
    int count;
};

// Returns the partial result of `held` vectors. All loops are unrolled, so that v stays in
// registers.
template <class T, int width, int kept>
__device__ Partial partial_of(Vector<T, width> (&v)[kept], int held)
{
    Partial p = {0.0f};
    for (int k = 0; k < kept; k++)
        for (int i = 0; i < width && k < held; i++)
            p.squares += (float)v[k].at[i] * (float)v[k].at[i];
    return p;
}

// Returns the result over `lanes` neighbouring lanes, a power of two, to each of them.
template <int lanes>
__device__ Partial reduce_lanes(Partial p)
{
    for (int s = lanes / 2; s > 0; s /= 2)
        p = merge(p, {__shfl_xor_sync(0xffffffff, p.squares, s)});
    return p;
}

// Returns the result over all threads of the row to each of them. The blocks of a cluster
// store theirs in the shared memory of all of them. Before, all have arrived at the barrier
// once: a block has no shared memory before it starts.
template <int team_size, int cluster_size>
__device__ Partial reduce_row(Partial p)
{
    p = reduce_lanes<32>(p);
    if (team_size == 32)
        return p;

    __shared__ Partial of_warp[team_size / 32];
    if (threadIdx.x % 32 == 0)
        of_warp[threadIdx.x / 32] = p;
    __syncthreads();
    const int warps = team_size / 32;
    p = reduce_lanes<warps>(of_warp[threadIdx.x % warps]);

#if __CUDA_ARCH__ >= 900 // older GPUs have no clusters
    if constexpr (cluster_size > 1) {
        __shared__ Partial of_block[cluster_size];
        const auto cluster = cooperative_groups::this_cluster();
        cluster.barrier_wait();
        if (threadIdx.x < cluster_size)
            *cluster.map_shared_rank(&of_block[cluster.block_rank()], threadIdx.x) = p;
        cluster.sync();
        p = reduce_lanes<cluster_size>(of_block[threadIdx.x % cluster_size]);
    }
#endif
    return p;
}

// Returns x / sqrt(mean square + 1e-5) * gain for each x of a vector.
template <class T, int width>
__device__ Vector<T, width> result(Vector<T, width> v, float mean_square,
                                   Vector<T, width> gain)
{
    const float scale = rsqrtf(mean_square + 1e-5f);
    for (int i = 0; i < width; i++)
        v.at[i] = (T)((float)v.at[i] * scale * (float)gain.at[i]);
    return v;
}

// The threads of a block: a team for each row. Teams of one warp share a block.
__host__ __device__ constexpr int block_size(int team_size)
{
    return team_size > 32 ? team_size : 128;
}

// One team or cluster of teams per row, each thread keeps up to `kept` vectors. gain
// is a parameter because of __restrict__: its loads need not wait for stores.
template <class T, int width, int team_size, int kept, int cluster_size>
__global__ void __launch_bounds__(block_size(team_size))
    rms_norm(Rows<T, width> r, const Vector<T, width> *__restrict__ gain)
{
#if __CUDA_ARCH__ >= 900
    if constexpr (cluster_size > 1)
        cooperative_groups::this_cluster().barrier_arrive();
#endif
    const int threads = team_size * cluster_size; // for a row
    const long long thread = (long long)blockIdx.x * block_size(team_size) + threadIdx.x;
    const long long row = thread / threads;
    if (row >= r.rows) // a whole warp, and never a part of a cluster
        return;
    const Vector<T, width> *x = r.in + row * r.count;
    Vector<T, width> *y = r.out + row * r.count;
    const int first = thread % threads;
    const int held = (r.count - first + threads - 1) / threads;
    Vector<T, width> v[kept];
    for (int k = 0; k < kept; k++)
        if (k < held)
            v[k] = x[first + k * threads];
    const Partial p = reduce_row<team_size, cluster_size>(partial_of(v, held));
    keep_packed(v);
    for (int k = 0; k < kept; k++)
        if (k < held) {
            const int c = first + k * threads;
            y[c] = result(v[k], p.squares / (r.count * width), gain[c]);
        }
}

// Starts the kernel if its registers hold a row; bytes: of each thread, in which a number
// that is not in a vector has a register of its own.
template <int team_size, int bytes, int cluster_size = 1, class T, int width>
static bool start_fitting(const Rows<T, width> &r)
{
    const int kept = bytes / (width == 1 ? 4 : sizeof(Vector<T, width>));
    const int teams = block_size(team_size) / team_size; // per block
    if (r.count > cluster_size * team_size * kept)
        return false;
    cudaLaunchAttribute shape = {};
    shape.id = cudaLaunchAttributeClusterDimension;
    shape.val.clusterDim = {cluster_size, 1, 1};
    const unsigned blocks = (r.rows + teams - 1) / teams * cluster_size;
    const cudaLaunchConfig_t grid = {blocks, block_size(team_size), 0, 0, &shape,
                                     cluster_size > 1}; // one block needs no attribute
    CHECK(cudaLaunchKernelEx(&grid, rms_norm<T, width, team_size, kept, cluster_size>, r,
                             r.gain));
    return true;
}

template <class T, int width>
static void launch_vectors(const T *in, const T *gain, T *out, long long rows, int columns)
{
    typedef Vector<T, width> V;
    const Rows<T, width> r = {(const V *)in, (const V *)gain, (V *)out, rows,
                              columns / width};
    const bool started = start_fitting<32, 32>(r) || start_fitting<64, 32>(r) ||
                         start_fitting<128, 32>(r) || start_fitting<256, 32>(r) ||
                         start_fitting<512, 32>(r) || start_fitting<512, 64>(r) ||
                         start_fitting<512, 128>(r) || start_fitting<1024, 128>(r) ||
                         start_fitting<512, 128, 4>(r) || start_fitting<512, 128, 8>(r) ||
                         start_fitting<1024, 128, 8>(r);
    CHECK(started ? cudaSuccess : cudaErrorInvalidValue);
}

// If columns is a multiple of a vector's length, each row starts at a multiple of 16 bytes,
// because in, gain and out do.
template <class T>
static void launch(const T *in, const T *gain, T *out, long long rows, int columns)
{
    const int width = 16 / sizeof(T);
    if (columns % width == 0)
        launch_vectors<T, width>(in, gain, out, rows, columns);
    else
        launch_vectors<T, 1>(in, gain, out, rows, columns);
    CHECK(cudaGetLastError());
}

// ==== Harness: the same in every step of this lab from here on; the lesson is above. ====

#include <algorithm>
#include <cstdlib>
#include <cuda_bf16.h>
#include <functional>
#include <string>
#include <vector>

enum { BAD_ARGUMENT = 2, CANNOT_RUN = 77, RUNS = 51, ENOUGH_MS = 500, CHECKERS = 256 };
// The columns of the timed rows.
static const int COLUMNS[] = {128,   512,   1024,  4096,   8192,
                              16384, 32768, 65536, 131072, 262144};
// Checked but not timed: lengths that no vector, warp or block divides, and their limits.
static const int CHECKED_COLUMNS[] = {129,  255,  256,  260,  1000,  1023, 1028,
                                      2047, 4097, 8191, 8200, 16385, 32764};
static const int CHECKED_LONG[] = {32769, 65540, 131071, 262143};
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
        error == cudaErrorNoKernelImageForDevice ||
        error == cudaErrorUnsupportedPtxVersion ||
        error == cudaErrorInvalidClusterSize; // too few SMs for a cluster
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
    *rows = *rows == 0 ? 1 << 21 : *rows; // 1 GiB of float
}

// T: the type of an element.
template <class T>
struct Data {
    long long flush_count, busy_cycles;
    T *in, *out;    // rows * columns, one row after the other
    T *gain, *bias; // one of each per column
    float4 *flush;  // twice the L2 cache
    int flush_blocks;
    unsigned long long *wrong; // the first wrong element, or NONE
    float *error;              // the largest error so far
    cudaEvent_t start, stop;
};

// Numbers between -4 and 4. Of eight rows one has a last number that is about half of the
// row's sum (of powers or squares), and one an offset of 1000. Of 64 rows six are special:
// one with a NaN, one with an infinity, one of -infinity, two half of -infinity, and one of
// equal numbers.
template <class T>
__global__ void fill(T *in, long long rows, int columns)
{
    const long long n = rows * columns;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += gridDim.x * blockDim.x) {
        const long long row = i / columns, c = i % columns;
        const bool special = c == (row * 7 + 3) % columns;
        const unsigned random =
            (unsigned)(i * 2654435761u >> 3) ^ (unsigned)(i >> 13) * 40503u;
        float value = (random % 2000003 - 1000001.0f) / 250000.0f;
        if (row % 8 == 0 && c == columns - 1)
            value = OPERATION == SOFTMAX ? logf(columns) + 2 : 2 * sqrtf(columns);
        else if (row % 8 == 2)
            value += 1000.0f;
        else if (row % 64 == 7 && special)
            value = NAN;
        else if (row % 64 == 11 && special)
            value = INFINITY;
        else if (row % 64 == 13 || (row % 64 == 17 && c >= columns / 2) ||
                 (row % 64 == 19 && c < columns / 2))
            value = -INFINITY;
        else if (row % 64 == 23)
            value = 3.0f;
        in[i] = (T)value;
    }
}

template <class T>
__global__ void fill_weights(T *gain, T *bias, int columns)
{
    for (int c = threadIdx.x; c < columns; c += blockDim.x) {
        gain[c] = (T)(0.5f + c % 7 * 0.25f);
        bias[c] = (T)(c % 5 * 0.5f - 1.0f);
    }
}

// Returns the maximum or the sum of a value of each thread to all threads of the block.
__device__ double combined(double value, bool maximum)
{
    __shared__ double values[CHECKERS];
    __syncthreads(); // the previous result has been read
    values[threadIdx.x] = value;
    __syncthreads();
    for (int s = CHECKERS / 2; s > 0; s /= 2) {
        if (threadIdx.x < s) {
            const double a = values[threadIdx.x], b = values[threadIdx.x + s];
            values[threadIdx.x] = maximum ? fmax(a, b) : a + b;
        }
        __syncthreads();
    }
    return values[0];
}

// Recomputes each row in double, and records the first element outside the bound and the
// largest error: relative for softmax, otherwise divided by 1 + |expected|.
//
// The bound: u = 2^-24 is float's largest relative rounding error, d the distance of x from
// the largest number of its row. 3du bounds the error of a power. A sum of C powers has the
// error of the powers, weighted; their weighted distance is at most ln C. Each of at most
// C / 256 additions and 8 + 5 merges in a row has up to four roundings. A norm has the same
// additions, of errors relative to |x| and to its mean over the row. A bf16 result adds its
// rounding, 2^-8.
// In long rows one missing number exceeds the bound only if it is large, as the last number
// of one row in eight is; a missing thread, warp or vector always does.
template <class T>
__global__ void find_wrong(const T *in, const T *gain, const T *bias, const T *out,
                           int columns, unsigned long long *wrong, float *error)
{
    const long long begin = (long long)blockIdx.x * columns;
    double largest = -INFINITY, sum = 0, mean = 0, size = 0; // size: mean of |x|
    for (int c = threadIdx.x; c < columns; c += CHECKERS) {
        const double x = (float)in[begin + c];
        largest = fmax(largest, x);
        mean += x;
        size += fabs(x);
    }
    largest = combined(largest, true);
    mean = OPERATION == LAYER_NORM ? combined(mean, false) / columns : 0.0;
    size = OPERATION == LAYER_NORM ? combined(size, false) / columns : 0.0;
    for (int c = threadIdx.x; c < columns; c += CHECKERS) {
        const double x = (float)in[begin + c];
        sum += OPERATION == SOFTMAX ? exp(x - largest) : (x - mean) * (x - mean);
    }
    sum = combined(sum, false);
    const double scale = OPERATION == SOFTMAX ? 1 / sum : 1 / sqrt(sum / columns + 1e-5);
    const double steps = columns / 64 + 64 + 3 * log((double)columns), u = 0x1p-24;
    double worst = 0;
    for (int c = threadIdx.x; c < columns; c += CHECKERS) {
        const double x = (float)in[begin + c], y = (float)out[begin + c];
        double expected, bound, unit;
        if (OPERATION == SOFTMAX) {
            expected = exp(x - largest) * scale;
            bound = (steps + 3 * (x == -INFINITY ? 0 : largest - x)) * u * expected;
            unit = fmax(expected, 1e-30);
        } else {
            const double g = (float)gain[c];
            const double b = OPERATION == LAYER_NORM ? (float)bias[c] : 0.0;
            expected = (x - mean) * scale * g + b;
            bound = steps * u * (g * scale * (fabs(x) + size) + fabs(b));
            unit = 1 + fabs(expected);
        }
        if (sizeof(T) == 2)
            bound += (fabs(expected) + bound) * 0x1p-8;
        const double off = fabs(y - expected);
        if (!(off <= bound + 0x1p-126) && !(isnan(y) && isnan(expected)))
            atomicMin(wrong, (unsigned long long)begin + c);
        if (off <= INFINITY) // not NaN
            worst = fmax(worst, off / unit);
    }
    worst = combined(worst, true);
    if (threadIdx.x == 0) // a positive float is ordered as its bits are
        atomicMax((unsigned *)error, __float_as_uint((float)worst));
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

// Starts the step's kernel; a norm has a gain per column, LayerNorm also a bias.
template <class T>
static void start(const Data<T> &d, long long rows, int columns)
{
    if constexpr (OPERATION == SOFTMAX)
        launch(d.in, d.out, rows, columns);
    else if constexpr (OPERATION == LAYER_NORM)
        launch(d.in, d.gain, d.bias, d.out, rows, columns);
    else
        launch(d.in, d.gain, d.out, rows, columns);
}

// Milliseconds of a command, with a cold cache and results of NaN.
template <class T>
static float timed(const Data<T> &d, long long n, const std::function<void()> &queue)
{
    CHECK(cudaMemsetAsync(d.out, 0xff, n * sizeof(T)));
    prepare<<<d.flush_blocks, 1024>>>(d.flush, d.flush_count, d.busy_cycles, d.error);
    CHECK(cudaGetLastError());
    CHECK(cudaEventRecord(d.start));
    queue();
    CHECK(cudaEventRecord(d.stop));
    CHECK(cudaEventSynchronize(d.stop));
    float ms;
    CHECK(cudaEventElapsedTime(&ms, d.start, d.stop));
    return ms;
}

// Exits if an element of the last run is wrong; returns the largest error since the fill.
template <class T>
static float check_result(const Data<T> &d, long long rows, int columns)
{
    unsigned long long wrong;
    float error;
    CHECK(cudaMemset(d.wrong, 0xff, sizeof(wrong)));
    find_wrong<<<rows, CHECKERS>>>(d.in, d.gain, d.bias, d.out, columns, d.wrong, d.error);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(&wrong, d.wrong, sizeof(wrong), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(&error, d.error, sizeof(error), cudaMemcpyDeviceToHost));
    if (wrong != NONE) {
        fprintf(stderr, "FAIL: of %lld rows of %d columns row %llu, column %llu is wrong\n",
                rows, columns, wrong / columns, wrong % columns);
        exit(EXIT_FAILURE);
    }
    return error;
}

template <class T>
static void fill_rows(const Data<T> &d, long long rows, int columns)
{
    fill<<<d.flush_blocks, 1024>>>(d.in, rows, columns);
    CHECK(cudaGetLastError());
    CHECK(cudaMemset(d.error, 0, sizeof(*d.error)));
}

// Computes some rows, untimed, and checks them.
template <class T>
static void check_only(const Data<T> &d, long long rows, int columns)
{
    fill_rows(d, rows, columns);
    CHECK(cudaMemset(d.out, 0xff, rows * columns * sizeof(T)));
    start(d, rows, columns);
    check_result(d, rows, columns);
}

static double median(std::vector<float> ms)
{
    std::sort(ms.begin(), ms.end());
    return ms[ms.size() / 2];
}

// Times the step and, alternately, a copy of as many bytes. All runs are checked.
template <class T>
static void measure(const Data<T> &d, long long rows, int columns, bool csv,
                    const char *device)
{
    const long long n = rows * columns;
    fill_rows(d, rows, columns);
    std::vector<float> step_ms, copy_ms;
    float total_ms = 0, error = 0;
    while (step_ms.size() < 3 || (step_ms.size() < RUNS && total_ms < ENOUGH_MS)) {
        copy_ms.push_back(timed(d, n, [&] {
            CHECK(cudaMemcpyAsync(d.out, d.in, n * sizeof(T), cudaMemcpyDeviceToDevice));
        }));
        step_ms.push_back(timed(d, n, [&] { start(d, rows, columns); }));
        error = check_result(d, rows, columns);
        total_ms += step_ms.back();
    }
    const double ms = median(step_ms), bytes = 2.0 * n * sizeof(T); // read and written
    const double gb_per_s = bytes / ms / 1e6, copy_gb_per_s = bytes / median(copy_ms) / 1e6;
    const char *operation[] = {"softmax", "layernorm", "rmsnorm"};
    printf(csv ? "%s,%s,%s,%s,%lld,%d,%.6f,%.2f,%.2f,%.4f,%.3g,PASS\n"
               : "%s on %s: %s, %s, %lld rows of %d columns, ms %.4f, GB/s %.2f, a copy "
                 "%.2f, of the copy's speed %.3f, largest error %.3g, PASS\n",
           STEP, device, operation[OPERATION], sizeof(T) == 2 ? "bf16" : "float", rows,
           columns, ms, gb_per_s, copy_gb_per_s, gb_per_s / copy_gb_per_s, error);
}

// Runs all rows of one element type: `rows` rows of 128 columns, and as many elements in
// longer rows, up to a single one.
template <class T>
static void run(long long rows, bool csv)
{
    Data<T> d = {};
    cudaDeviceProp device;
    int clock_khz;
    CHECK(cudaGetDeviceProperties(&device, 0));
    CHECK(cudaDeviceGetAttribute(&clock_khz, cudaDevAttrClockRate, 0));
    const size_t flush_bytes = 2 * (size_t)device.l2CacheSize;
    const int most_columns = 262144;
    d.flush_count = flush_bytes / sizeof(float4);
    d.flush_blocks = 2 * device.multiProcessorCount;
    d.busy_cycles = clock_khz / 10; // a tenth of a millisecond
    const long long n = 128 * rows;
    CHECK(cudaMalloc(&d.in, n * sizeof(T)));
    CHECK(cudaMalloc(&d.out, n * sizeof(T)));
    CHECK(cudaMalloc(&d.gain, most_columns * sizeof(T)));
    CHECK(cudaMalloc(&d.bias, most_columns * sizeof(T)));
    CHECK(cudaMalloc(&d.flush, flush_bytes));
    CHECK(cudaMemset(d.flush, 0, flush_bytes));
    CHECK(cudaMalloc(&d.wrong, sizeof(*d.wrong)));
    CHECK(cudaMalloc(&d.error, sizeof(*d.error)));
    CHECK(cudaEventCreate(&d.start));
    CHECK(cudaEventCreate(&d.stop));
    fill_weights<<<1, 1024>>>(d.gain, d.bias, most_columns);
    CHECK(cudaGetLastError());
    for (const int columns : CHECKED_COLUMNS)
        if (columns <= n)
            check_only(d, std::min(n, 65536ll) / columns, columns);
    for (const int columns : CHECKED_LONG)
        if (columns <= n)
            check_only(d, std::min(n, 1ll << 20) / columns, columns);
    for (const int columns : COLUMNS) // the same number of elements each time
        if (columns <= n)
            measure(d, n / columns, columns, csv, device.name);
    for (void *memory : {(void *)d.in, (void *)d.out, (void *)d.gain, (void *)d.bias,
                         (void *)d.flush, (void *)d.wrong, (void *)d.error})
        CHECK(cudaFree(memory));
}

template <class... T>
static void run_all(Types<T...>, long long rows, bool csv)
{
    (run<T>(rows, csv), ...);
}

// Exits if the step needs clusters, and the GPU or the compiled code has none.
static void require_clusters()
{
    int has_clusters;
    cudaFuncAttributes kernel;
    CHECK(cudaDeviceGetAttribute(&has_clusters, cudaDevAttrClusterLaunch, 0));
    CHECK(cudaFuncGetAttributes(&kernel, prepare));
    if (has_clusters && kernel.ptxVersion >= 90)
        return;
    fprintf(stderr,
            "%s needs clusters: a GPU of compute capability 9.0 or newer, and a "
            "build for it\n",
            STEP);
    exit(CANNOT_RUN);
}

int main(int argc, char **argv)
{
    long long rows;
    bool csv = false;
    parse_arguments(argc, argv, &rows, &csv);
    if (NEEDS_CLUSTERS)
        require_clusters();
    if (csv)
        printf("step,device,operation,element,rows,columns,median_ms,gb_per_s,"
               "copy_gb_per_s,of_copy,largest_error,status\n");
    run_all(Elements(), rows, csv);
}
