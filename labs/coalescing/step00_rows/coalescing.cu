// Lab coalescing, step 00: along the rows. Adds two matrices; a warp covers part of a row.
// Build and run: nvcc -O3 -arch=native -o coalescing coalescing.cu && ./coalescing

#include <cstdio>

static const char STEP[] = "step00_rows";

#define CHECK(call) check(call, #call, __FILE__, __LINE__)
static void check(cudaError_t error, const char *call, const char *file, int line);

static const dim3 BLOCKS[] = {{32, 32}, {32, 16}, {32, 8}, {16, 16}, {32, 4}, {256, 1}};
static const int MATRICES_READ = 2;

__global__ void add(const float *a, const float *b, float *c, int n)
{
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < n && col < n) {
        const long long i = (long long)row * n + col;
        c[i] = a[i] + b[i];
    }
}

// The sectors of one load and of one store of a full warp, counted by hand:
// at least four, for its 128 bytes, and at least one for each row.
static int load_sectors(dim3 block)
{
    return max(4, 32 / block.x);
}

static int store_sectors(dim3 block)
{
    return load_sectors(block);
}

// Element (row, col) of the input matrix with this seed; the harness fills it with these.
static __device__ float element(unsigned seed, unsigned row, unsigned col);

// The correct element (row, col) of c, if a and b have these seeds.
static __device__ float expected(unsigned a, unsigned b, unsigned row, unsigned col)
{
    return element(a, row, col) + element(b, row, col);
}

static void launch(const float *a, const float *b, float *c, int n, dim3 block)
{
    const dim3 grid((n + block.x - 1) / block.x, (n + block.y - 1) / block.y);
    add<<<grid, block>>>(a, b, c, n);
    CHECK(cudaGetLastError());
}

// ==== Harness: the same in every step of this lab from here on; the lesson is above. ====

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

enum { BAD_ARGUMENT = 2, CANNOT_RUN = 77, ENOUGH_MS = 500 };
static const long long MAX_WIDTH = 65535; // the largest grid dimension in y

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

static void parse_arguments(int argc, char **argv, int *n, bool *csv)
{
    for (int i = 1; i < argc; i++) {
        const std::string arg = argv[i];
        const bool digits = arg.find_first_not_of("0123456789") == std::string::npos;
        const long long width = digits ? strtoll(argv[i], nullptr, 10) : 0;
        if (arg == "--csv") {
            *csv = true;
        } else if (*n == 0 && width >= 1 && width <= MAX_WIDTH) {
            *n = width;
        } else {
            fprintf(stderr,
                    "unusable argument '%s': accepted are --csv, SIZE (1 to %lld)\n",
                    argv[i], MAX_WIDTH);
            exit(BAD_ARGUMENT);
        }
    }
    *n = *n == 0 ? 16384 : *n;
}

struct Matrix {
    float *elements;
    unsigned seed;
};

struct Data {
    int n;
    size_t bytes; // of a matrix
    long long flush_count, busy_cycles;
    Matrix a, b;
    float *c;
    float4 *flush; // twice the L2 cache
    unsigned long long *wrong;
    int blocks; // of the harness's own kernels
    cudaEvent_t start, stop;
};

// An integer below 2^23, so that the sum of two is exact. Its neighbours, and the element
// that a transpose exchanges with it, have other values.
static __device__ float element(unsigned seed, unsigned row, unsigned col)
{
    return ((row << 16 | col) + 1) * seed >> 9;
}

__global__ void fill(float *elements, unsigned seed, int n)
{
    for (long long row = blockIdx.x; row < n; row += gridDim.x)
        for (long long col = threadIdx.x; col < n; col += blockDim.x)
            elements[row * n + col] = element(seed, row, col);
}

__global__ void count_wrong(const float *c, unsigned a, unsigned b, int n,
                            unsigned long long *wrong)
{
    for (long long row = blockIdx.x; row < n; row += gridDim.x)
        for (long long col = threadIdx.x; col < n; col += blockDim.x)
            if (c[row * n + col] != expected(a, b, row, col))
                atomicAdd(wrong, 1);
}

// Evicts the matrices and all modified lines from the L2 cache by reading the whole buffer.
// Takes at least `cycles` cycles, while the host queues the launch; short runs
// would otherwise include launch overhead.
__global__ void prepare(const float4 *flush, long long count, long long cycles,
                        float *never)
{
    const long long start = clock64();
    float sum = 0.0f;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count;
         i += gridDim.x * blockDim.x)
        sum += flush[i].x + flush[i].y + flush[i].z + flush[i].w;
    if (sum != 0) // never: the buffer is zero, but the compiler cannot know
        *never = sum;
    while (clock64() - start < cycles)
        continue;
}

// Returns the milliseconds of one launch; exits if an element of c is not as expected.
static float timed_run(const Data &d, dim3 block)
{
    // NaN (all bits set) reveals an element that was never written.
    CHECK(cudaMemsetAsync(d.c, 0xff, d.bytes));
    CHECK(cudaMemsetAsync(d.wrong, 0, sizeof *d.wrong));
    prepare<<<d.blocks, 1024>>>(d.flush, d.flush_count, d.busy_cycles, d.c);
    CHECK(cudaGetLastError());
    CHECK(cudaEventRecord(d.start));
    launch(d.a.elements, d.b.elements, d.c, d.n, block);
    CHECK(cudaEventRecord(d.stop));
    count_wrong<<<d.blocks, 1024>>>(d.c, d.a.seed, d.b.seed, d.n, d.wrong);
    CHECK(cudaGetLastError());
    unsigned long long wrong;
    float ms;
    CHECK(cudaMemcpy(&wrong, d.wrong, sizeof wrong, cudaMemcpyDeviceToHost));
    CHECK(cudaEventElapsedTime(&ms, d.start, d.stop));
    if (wrong > 0) {
        fprintf(stderr, "FAIL: %llu of %d x %d elements are wrong, with blocks of %ux%u\n",
                wrong, d.n, d.n, block.x, block.y);
        exit(EXIT_FAILURE);
    }
    return ms;
}

// The median of the runs with this block shape. From run to run a and b are swapped, so
// that stale elements of the previous transpose, also in shared memory, are wrong.
static double median_ms(Data *d, dim3 block)
{
    timed_run(*d, block);
    std::vector<float> ms;
    float total_ms = 0;
    while (ms.size() < 3 || (ms.size() < 51 && total_ms < ENOUGH_MS)) {
        std::swap(d->a, d->b);
        ms.push_back(timed_run(*d, block));
        total_ms += ms.back();
    }
    std::sort(ms.begin(), ms.end());
    const size_t last = ms.size() - 1;
    return (ms[last / 2] + ms[(last + 1) / 2]) / 2;
}

int main(int argc, char **argv)
{
    Data d = {};
    bool csv = false;
    parse_arguments(argc, argv, &d.n, &csv);
    cudaDeviceProp device;
    int clock_khz;
    CHECK(cudaGetDeviceProperties(&device, 0));
    CHECK(cudaDeviceGetAttribute(&clock_khz, cudaDevAttrClockRate, 0));
    const size_t flush_bytes = 2 * (size_t)device.l2CacheSize;
    d.bytes = (size_t)d.n * d.n * sizeof(float);
    d.flush_count = flush_bytes / sizeof(float4);
    d.busy_cycles = clock_khz / 10; // a tenth of a millisecond
    d.blocks = 2 * device.multiProcessorCount;
    d.a.seed = 2654435761u;
    d.b.seed = 2246822519u;
    CHECK(cudaMalloc(&d.a.elements, d.bytes));
    CHECK(cudaMalloc(&d.b.elements, d.bytes));
    CHECK(cudaMalloc(&d.c, d.bytes));
    CHECK(cudaMalloc(&d.flush, flush_bytes));
    CHECK(cudaMemset(d.flush, 0, flush_bytes));
    CHECK(cudaMalloc(&d.wrong, sizeof *d.wrong));
    CHECK(cudaEventCreate(&d.start));
    CHECK(cudaEventCreate(&d.stop));
    for (const Matrix &m : {d.a, d.b})
        fill<<<d.blocks, 1024>>>(m.elements, m.seed, d.n);
    CHECK(cudaGetLastError());

    if (csv)
        printf("step,device,rows,block,median_ms,gb_per_s,load_sectors,store_sectors,"
               "wanted_bytes,moved_bytes,status\n");
    for (const dim3 &block : BLOCKS) {
        const double ms = median_ms(&d, block);
        const int loads = load_sectors(block), stores = store_sectors(block);
        const int useful = (MATRICES_READ + 1) * sizeof(float); // per element of c
        const int moved = MATRICES_READ * loads + stores; // 32 bytes each, for 32 elements
        printf(
            csv ? "%s,%s,%d,%ux%u,%.6f,%.3f,%d,%d,%d,%d,PASS\n"
                : "%s on %s: width %d, block %ux%u, ms %.4f, GB/s %.1f, sectors a load %d, "
                  "a store %d, useful bytes %d, moved %d, PASS\n",
            STEP, device.name, d.n, block.x, block.y, ms,
            (double)d.n * d.n * useful / ms / 1e6, loads, stores, useful, moved);
    }
}
