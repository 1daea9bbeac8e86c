// Mistakes of students in scan and compaction (docs/students.md), each as a small program with its repaired twin.
#include "cases.h"

enum { N = 1000, PADDED = 1024, THREADS = 128, BLOCKS = (N + THREADS - 1) / THREADS };

__device__ static int global_index()
{
    return blockIdx.x * blockDim.x + threadIdx.x;
}

// ---- In place: blocks read elements that other blocks overwrite

// Moves the elements that are not 0 to the front; index[i] is the new index of element i.
__global__ void compact(const int *in, int *out, const int *index)
{
    const int i = global_index();
    if (i < N && in[i] != 0)
        out[index[i]] = in[i];
}

template <bool in_place> static void run_compact()
{
    int values[N], index[N], count = 0;
    for (int i = 0; i < N; i++) {
        values[i] = i % 3;
        index[i] = count;
        count += values[i] != 0;
    }
    int *in = copied(values), *indices = copied(index), *out = zeros<int>(N);
    compact<<<BLOCKS, THREADS>>>(in, in_place ? in : out, indices);
    finish();
    fetch(in_place ? in : out, count);
    finish_and_free(in, indices, out);
}

// One step of Hillis and Steele's scan: adds the element `distance` before it.
__global__ void scan_step(const int *in, int *out, int distance)
{
    const int i = global_index();
    if (i < N)
        out[i] = in[i] + (i >= distance ? in[i - distance] : 0);
}

template <bool in_place> static void run_scan_step()
{
    int *in = numbers(N), *out = zeros<int>(N);
    scan_step<<<BLOCKS, THREADS>>>(in, in_place ? in : out, 1);
    finish_and_free(in, out);
}

// Makes an inclusive scan exclusive.
template <bool guarded> __global__ void shift(const int *in, int *out)
{
    const int i = global_index();
    if (i < N)
        out[i] = i > 0 || !guarded ? in[i - 1] : 0;
}

static void run_shift_in_place()
{
    int *values = numbers(N);
    shift<true><<<BLOCKS, THREADS>>>(values, values);
    finish_and_free(values);
}

template <bool guarded> static void run_shift()
{
    int *in = numbers(N), *out = zeros<int>(N);
    shift<guarded><<<BLOCKS, THREADS>>>(in, out);
    finish_and_free(in, out);
}

__global__ void subtract(int *values, const int *first)
{
    const int i = global_index();
    if (i < N)
        values[i] -= *first;
}

template <bool in_place> static void run_subtract()
{
    int *values = numbers(N), *first = zeros<int>(1);
    CUDA(cudaMemcpy(first, values, sizeof *first, cudaMemcpyDeviceToDevice));
    subtract<<<BLOCKS, THREADS>>>(values, in_place ? values : first);
    finish_and_free(values, first);
}

// ---- No barrier waits for the whole grid

__device__ static void add_pair(int *values, int half)
{
    const int i = global_index();
    if (i < PADDED / (2 * half))
        values[(i + 1) * 2 * half - 1] += values[i * 2 * half + half - 1];
}

__global__ void add_tree(int *values)
{
    for (int half = 1; half < PADDED; half *= 2) {
        add_pair(values, half);
        __syncthreads(); // waits for one block only
    }
}

__global__ void add_level(int *values, int half)
{
    add_pair(values, half);
}

static void run_tree_in_one_launch()
{
    int *values = numbers(PADDED);
    add_tree<<<PADDED / THREADS, THREADS>>>(values);
    finish_and_free(values);
}

static void run_launch_per_level()
{
    int *values = numbers(PADDED);
    for (int half = 1; half < PADDED; half *= 2)
        add_level<<<PADDED / THREADS, THREADS>>>(values, half);
    finish_and_free(values);
}

// One level of the down-sweep; every thread clears the root.
template <bool clears_root> __global__ void down_level(int *values, int half)
{
    const int i = global_index();
    if (clears_root)
        values[PADDED - 1] = 0;
    if (i < PADDED / (2 * half)) {
        const int left = values[i * 2 * half + half - 1];
        values[i * 2 * half + half - 1] = values[(i + 1) * 2 * half - 1];
        values[(i + 1) * 2 * half - 1] += left;
    }
}

template <bool clears_root> static void run_down_level()
{
    int *values = numbers(PADDED);
    if (!clears_root)
        CUDA(cudaMemset(values + PADDED - 1, 0, sizeof *values));
    down_level<clears_root><<<PADDED / THREADS, THREADS>>>(values, 1);
    finish_and_free(values);
}

// ---- Uninitialised elements

template <bool sets_padding> static void run_padding()
{
    int values[N] = {1}, *padded = unwritten<int>(PADDED);
    CUDA(cudaMemcpy(padded, values, sizeof values, cudaMemcpyHostToDevice));
    if (sets_padding)
        CUDA(cudaMemset(padded + N, 0, (PADDED - N) * sizeof *padded));
    for (int half = 1; half < PADDED; half *= 2)
        add_level<<<PADDED / THREADS, THREADS>>>(padded, half);
    finish();
    fetch(padded + PADDED - 1, 1);
    finish_and_free(padded);
}

template <bool always> __global__ void flag_nonzero(const int *in, int *flags)
{
    const int i = global_index();
    if (i < N && (always || in[i] != 0))
        flags[i] = in[i] != 0;
}

__global__ void count_flags(const int *flags, int *count)
{
    const int i = global_index();
    if (i < N && flags[i])
        atomicAdd(count, 1);
}

template <bool always> static void run_flags()
{
    int *in = numbers(N), *flags = unwritten<int>(N), *count = zeros<int>(1);
    flag_nonzero<always><<<BLOCKS, THREADS>>>(in, flags);
    count_flags<<<BLOCKS, THREADS>>>(flags, count);
    finish_and_free(in, flags, count);
}

template <bool writes_first> __global__ void exclusive(const int *inclusive, int *out)
{
    const int i = global_index();
    if (i < N && i > 0)
        out[i] = inclusive[i - 1];
    if (writes_first && i == 0)
        out[i] = 0;
}

template <bool writes_first> static void run_exclusive()
{
    int *in = numbers(N), *out = unwritten<int>(N), *count = zeros<int>(1);
    exclusive<writes_first><<<BLOCKS, THREADS>>>(in, out);
    count_flags<<<BLOCKS, THREADS>>>(out, count);
    finish_and_free(in, out, count);
}

// ---- Out of bounds

__global__ void up_level(int *values, int count, int half)
{
    const int i = global_index();
    if (i < (count + 2 * half - 1) / (2 * half))
        values[(i + 1) * 2 * half - 1] += values[i * 2 * half + half - 1];
}

template <bool one_too_many> static void run_levels()
{
    int *values = zeros<int>(PADDED);
    for (int half = 1; half < (one_too_many ? 2 * PADDED : PADDED); half *= 2)
        up_level<<<PADDED / THREADS, THREADS>>>(values, PADDED, half);
    finish_and_free(values);
}

template <bool exact> __global__ void copy(const int *in, int *out)
{
    const int i = global_index();
    if (exact ? i >= N : i > N)
        return;
    out[i] = in[i];
}

template <bool exact> static void run_guard()
{
    int *in = numbers(N), *out = zeros<int>(N);
    copy<exact><<<BLOCKS, THREADS>>>(in, out);
    finish_and_free(in, out);
}

__host__ __device__ static int padded_index(int i)
{
    return i + i / 32; // the lanes of a warp then use different banks
}

__global__ void reverse(int *values)
{
    extern __shared__ int tile[];
    const int i = threadIdx.x;
    tile[padded_index(i)] = values[i];
    __syncthreads();
    values[i] = tile[padded_index(blockDim.x - 1 - i)];
}

template <bool fits> static void run_tile()
{
    int *values = numbers(PADDED);
    const int elements = fits ? padded_index(PADDED - 1) + 1 : PADDED;
    reverse<<<1, PADDED, elements * sizeof(int)>>>(values);
    finish_and_free(values);
}

__global__ void scatter(const int *in, const int *index, int *out)
{
    const int i = global_index();
    if (i < N)
        out[index[i]] = in[i];
}

template <bool too_early> static void run_scatter()
{
    int *in = numbers(N), *index = numbers(N), *out = zeros<int>(N);
    if (too_early)
        CUDA(cudaFree(index));
    scatter<<<BLOCKS, THREADS>>>(in, index, out);
    if (too_early)
        cudaDeviceSynchronize();
    else
        finish_and_free(index);
    cudaFree(in);
    cudaFree(out);
}

static const Case CASES[] = {
    {"compact-in-place", run_compact<true>},
    {"compact-to-another-array", run_compact<false>},
    {"scan-step-in-place", run_scan_step<true>},
    {"scan-step-to-another-array", run_scan_step<false>},
    {"shift-in-place", run_shift_in_place},
    {"shift-before-the-start", run_shift<false>},
    {"shift-to-another-array", run_shift<true>},
    {"subtract-first-in-place", run_subtract<true>},
    {"subtract-copy-of-first", run_subtract<false>},
    {"tree-in-one-launch", run_tree_in_one_launch},
    {"launch-per-level", run_launch_per_level},
    {"root-cleared-by-every-thread", run_down_level<true>},
    {"root-cleared-before-the-launch", run_down_level<false>},
    {"padding-not-set", run_padding<false>},
    {"padding-set-to-zero", run_padding<true>},
    {"flags-written-if-true", run_flags<false>},
    {"flags-always-written", run_flags<true>},
    {"first-element-not-written", run_exclusive<false>},
    {"first-element-written", run_exclusive<true>},
    {"one-level-too-many", run_levels<true>},
    {"right-number-of-levels", run_levels<false>},
    {"guard-greater", run_guard<false>},
    {"guard-greater-or-equal", run_guard<true>},
    {"tile-without-padding", run_tile<false>},
    {"tile-with-padding", run_tile<true>},
    {"freed-before-the-launch", run_scatter<true>},
    {"freed-after-the-launch", run_scatter<false>},
};

int main(int argc, char **argv)
{
    return run_case(argc, argv, CASES);
}
