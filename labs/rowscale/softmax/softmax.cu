// Lab rowscale, the exercise's answer: softmax. It replaces each x of a row by e^x divided
// by the sum of all e^x of the row.
// Build and run: nvcc -O3 -arch=native -o softmax softmax.cu && ./softmax

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#define CHECK(call) check(call, #call, __FILE__, __LINE__)
static void check(cudaError_t error, const char *call, const char *file, int line);

const int BLOCK_SIZE = 128; // threads

struct Larger {
    static __device__ float identity()
    {
        return -INFINITY;
    }
    static __device__ float of(float a, float b)
    {
        return fmaxf(a, b);
    }
};

struct Sum {
    static __device__ float identity()
    {
        return 0.0f;
    }
    static __device__ float of(float a, float b)
    {
        return a + b;
    }
};

// Returns the result over all threads of a row to each of them. Each operator has its own
// warp_value, so that the second reduction does not overwrite what the first still reads.
template <class Operator, int team_size>
__device__ float reduce_row(float value)
{
    for (int s = min(team_size, 32) / 2; s > 0; s /= 2)
        value = Operator::of(value, __shfl_xor_sync(0xffffffff, value, s));
    if (team_size <= 32)
        return value;

    __shared__ float warp_value[BLOCK_SIZE / 32];
    if (threadIdx.x % 32 == 0)
        warp_value[threadIdx.x / 32] = value;
    __syncthreads();
    value = Operator::identity();
    for (int warp = 0; warp < BLOCK_SIZE / 32; warp++)
        value = Operator::of(value, warp_value[warp]);
    return value;
}

// The row stays in registers, as in step 05, with two reductions instead of one. The
// largest number is subtracted first, so that no power is too large for a float.
template <int team_size, int rounds>
__global__ void softmax(const float *in, float *out, long long rows, int columns)
{
    const long long row =
        (long long)blockIdx.x * (BLOCK_SIZE / team_size) + threadIdx.x / team_size;
    const int first = threadIdx.x % team_size, end = row < rows ? columns : 0;
    float kept[rounds];
    float largest = -INFINITY;
    for (int r = 0, c = first; r < rounds; r++, c += team_size)
        if (c < end) {
            kept[r] = in[row * columns + c];
            largest = fmaxf(largest, kept[r]);
        }
    largest = reduce_row<Larger, team_size>(largest);
    float sum = 0.0f;
    for (int r = 0, c = first; r < rounds; r++, c += team_size)
        if (c < end) {
            kept[r] = expf(kept[r] - largest);
            sum += kept[r];
        }
    sum = reduce_row<Sum, team_size>(sum);
    for (int r = 0, c = first; r < rounds; r++, c += team_size)
        if (c < end)
            out[row * columns + c] = kept[r] / sum;
}

// Launches the smallest kernel that holds a row of 1 to 8192 columns.
template <int team_size, int rounds>
static void launch(const float *in, float *out, long long rows, int columns)
{
    const long long teams = BLOCK_SIZE / team_size; // per block
    if (columns <= team_size * rounds)
        softmax<team_size, rounds>
            <<<(rows + teams - 1) / teams, BLOCK_SIZE>>>(in, out, rows, columns);
    else if constexpr (team_size < 32)
        launch<2 * team_size, rounds>(in, out, rows, columns);
    else if constexpr (team_size == 32 && rounds == 4)
        launch<BLOCK_SIZE, 2>(in, out, rows, columns);
    else if constexpr (team_size * rounds < 8192)
        launch<team_size, 2 * rounds>(in, out, rows, columns);
}

enum { BAD_ARGUMENT = 2, CANNOT_RUN = 77 };

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

// The largest relative error of the results; -1 if a result is NaN.
static double largest_error(const std::vector<float> &in, const std::vector<float> &out,
                            long long rows, int columns)
{
    double worst = 0;
    for (long long row = 0; row < rows; row++) {
        const float *from = &in[row * columns], *to = &out[row * columns];
        double sum = 0;
        for (int c = 0; c < columns; c++)
            sum += exp((double)from[c]);
        for (int c = 0; c < columns; c++) {
            const double expected = exp((double)from[c]) / sum;
            const double error = fabs(to[c] - expected) / expected;
            if (std::isnan(error))
                return -1;
            worst = std::max(worst, error);
        }
    }
    return worst;
}

// A float rounds by at most 2^-24 of its value. A power has up to 4 rounding errors, as has
// each one of the sum, and at most 64 + 12 additions follow one another; the division adds
// one. The numbers are -1 to 1, so that each power is at least e^-2 / 8192 = 1.6e-5 of its
// row's sum: a missing one exceeds the tolerance.
static const double TOLERANCE = (4 + 4 + 76 + 1) / 16777216.0; // 5.1e-6

static void run(long long rows, int columns)
{
    const size_t n = rows * columns;
    std::vector<float> in(n), out(n);
    unsigned random = 1;
    for (float &value : in) {
        random = random * 1664525u + 1013904223u; // Numerical Recipes
        value = (int)(random >> 8) / 8388608.0f - 1;
    }
    float *device_in, *device_out;
    CHECK(cudaMalloc(&device_in, n * sizeof(float)));
    CHECK(cudaMalloc(&device_out, n * sizeof(float)));
    CHECK(cudaMemcpy(device_in, in.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(device_out, 0xff, n * sizeof(float))); // all bits set is NaN
    launch<1, 1>(device_in, device_out, rows, columns);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(out.data(), device_out, n * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(device_in));
    CHECK(cudaFree(device_out));
    const double error = largest_error(in, out, rows, columns);
    const bool right = error >= 0 && error <= TOLERANCE;
    printf("softmax: %lld rows of %d columns, largest relative error %.2g, %s\n", rows,
           columns, error, right ? "PASS" : "FAIL");
    if (!right)
        exit(EXIT_FAILURE);
}

int main(int argc, char **argv)
{
    const std::string arg = argc > 1 ? argv[1] : "4096";
    const bool digits = arg.find_first_not_of("0123456789") == std::string::npos;
    const long long rows = digits ? strtoll(arg.c_str(), nullptr, 10) : 0;
    if (argc > 2 || rows < 1 || rows > 1 << 20) {
        fprintf(stderr,
                "unusable argument '%s': accepted are rows of 128 columns (1 to %d)\n",
                argv[argc - 1], 1 << 20);
        return BAD_ARGUMENT;
    }
    for (const int columns : {1, 7, 32, 100, 1000, 1023, 8192, 128}) // equal element counts
        run(std::max(128 * rows / columns, 1ll), columns);
}
