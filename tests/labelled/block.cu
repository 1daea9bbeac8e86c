// Threads of a block and shared memory: barriers that are there, and barriers that are missing.
#include "cases.h"

enum { THREADS = 128 };

// ---- A tree: threads read what others wrote in the round before.

enum Barriers { ALL, NOT_AFTER_LOAD, NOT_IN_LOOP, ONLY_ABOVE_A_WARP };

template <Barriers barriers> __global__ void tree(const int *in, int *out)
{
    __shared__ int sums[THREADS];
    const unsigned tid = threadIdx.x;
    sums[tid] = in[blockIdx.x * THREADS + tid];
    if (barriers != NOT_AFTER_LOAD)
        __syncthreads();
    for (unsigned s = THREADS / 2; s > 0; s /= 2) {
        if (tid < s)
            sums[tid] += sums[tid + s];
        if (barriers == ALL || barriers == NOT_AFTER_LOAD || (barriers == ONLY_ABOVE_A_WARP && s > 32))
            __syncthreads();
    }
    if (tid == 0)
        out[blockIdx.x] = sums[0];
}

template <Barriers barriers> static void run_tree()
{
    int *in = numbers(2 * THREADS), *out = zeros<int>(2);
    tree<barriers><<<2, THREADS>>>(in, out);
    finish_and_free(in, out);
}

// Another thread than the one that wrote the sum reads it after the last round.
template <bool last_barrier> __global__ void tree_read_by_last(const int *in, int *out)
{
    __shared__ int sums[THREADS];
    const unsigned tid = threadIdx.x;
    sums[tid] = in[tid];
    for (unsigned s = THREADS / 2; s > 0; s /= 2) {
        __syncthreads();
        if (tid < s)
            sums[tid] += sums[tid + s];
    }
    if (last_barrier)
        __syncthreads();
    if (tid == THREADS - 1)
        *out = sums[0];
}

template <bool last_barrier> static void run_tree_read_by_last()
{
    int *in = numbers(THREADS), *out = zeros<int>(1);
    tree_read_by_last<last_barrier><<<1, THREADS>>>(in, out);
    finish_and_free(in, out);
}

// In each round a thread touches its own elements only: no barrier is needed.
__global__ void own_elements(const int *in, int *out)
{
    __shared__ int own[4 * THREADS];
    for (unsigned k = 0; k < 4; k++)
        own[k * THREADS + threadIdx.x] = in[threadIdx.x] + k;
    int sum = 0;
    for (unsigned k = 0; k < 4; k++)
        sum += own[k * THREADS + threadIdx.x];
    out[threadIdx.x] = sum;
}

static void run_own_elements()
{
    int *in = numbers(THREADS), *out = zeros<int>(THREADS);
    own_elements<<<1, THREADS>>>(in, out);
    finish_and_free(in, out);
}

// ---- A sum for each warp, all of them added by the first.

template <bool barrier> __global__ void warp_sums(const int *in, int *out)
{
    __shared__ int sums[THREADS / 32];
    int value = in[threadIdx.x];
    for (int s = 16; s > 0; s /= 2)
        value += __shfl_down_sync(0xffffffff, value, s);
    if (threadIdx.x % 32 == 0)
        sums[threadIdx.x / 32] = value;
    if (barrier)
        __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < THREADS / 32; w++)
            value += sums[w];
        *out = value;
    }
}

template <bool barrier> static void run_warp_sums()
{
    int *in = numbers(THREADS), *out = zeros<int>(1);
    warp_sums<barrier><<<1, THREADS>>>(in, out);
    finish_and_free(in, out);
}

// Two reductions one after the other use the same array: the second one writes what the first still reads.
template <bool barrier_between> __global__ void used_again(const int *in, int *out)
{
    __shared__ int sums[THREADS / 32];
    for (int pass = 0; pass < 3; pass++) {
        if (threadIdx.x % 32 == 0)
            sums[threadIdx.x / 32] = in[threadIdx.x] + pass;
        __syncthreads();
        int sum = 0;
        for (int w = 0; w < THREADS / 32; w++)
            sum += sums[w];
        out[pass * THREADS + threadIdx.x] = sum;
        if (barrier_between)
            __syncthreads();
    }
}

template <bool barrier_between> static void run_used_again()
{
    int *in = numbers(THREADS), *out = zeros<int>(3 * THREADS);
    used_again<barrier_between><<<1, THREADS>>>(in, out);
    finish_and_free(in, out);
}

// ---- A running sum.

enum ScanKind { TWO_BUFFERS, IN_PLACE, IN_PLACE_ONE_BARRIER };

template <ScanKind kind> __global__ void running_sum(const int *in, int *out)
{
    __shared__ int sums[2][THREADS];
    const unsigned tid = threadIdx.x;
    unsigned from = 0;
    sums[0][tid] = in[tid];
    __syncthreads();
    for (unsigned s = 1; s < THREADS; s *= 2) {
        if (kind == TWO_BUFFERS) {
            sums[1 - from][tid] = sums[from][tid] + (tid >= s ? sums[from][tid - s] : 0);
            from = 1 - from;
        } else {
            const int other = tid >= s ? sums[0][tid - s] : 0;
            if (kind == IN_PLACE)
                __syncthreads();
            sums[0][tid] += other;
        }
        __syncthreads();
    }
    out[tid] = sums[from][tid];
}

template <ScanKind kind> static void run_running_sum()
{
    int *in = numbers(THREADS), *out = zeros<int>(THREADS);
    running_sum<kind><<<1, THREADS>>>(in, out);
    finish_and_free(in, out);
}

// ---- A stencil, with the neighbours' elements beside the block's own.

template <bool barrier> __global__ void stencil(const int *in, int *out, int n)
{
    __shared__ int tile[THREADS + 2];
    const int i = blockIdx.x * THREADS + threadIdx.x, place = threadIdx.x + 1;
    tile[place] = in[i];
    if (threadIdx.x == 0)
        tile[0] = i > 0 ? in[i - 1] : 0;
    if (threadIdx.x == THREADS - 1)
        tile[THREADS + 1] = i + 1 < n ? in[i + 1] : 0;
    if (barrier)
        __syncthreads();
    out[i] = tile[place - 1] + tile[place] + tile[place + 1];
}

template <bool barrier> static void run_stencil()
{
    int *in = numbers(2 * THREADS), *out = zeros<int>(2 * THREADS);
    stencil<barrier><<<2, THREADS>>>(in, out, 2 * THREADS);
    finish_and_free(in, out);
}

// Many steps in shared memory. Each reads one array and writes the other, or writes what it reads.
template <bool two_arrays> __global__ void heat(int *values, int steps)
{
    __shared__ int old_values[2][THREADS + 2];
    const int place = threadIdx.x + 1;
    if (threadIdx.x < 2)
        old_values[0][threadIdx.x * (THREADS + 1)] = old_values[1][threadIdx.x * (THREADS + 1)] = 0;
    old_values[0][place] = values[threadIdx.x];
    __syncthreads();
    for (int step = 0; step < steps; step++) {
        int (&from)[THREADS + 2] = old_values[two_arrays ? step % 2 : 0];
        int (&to)[THREADS + 2] = old_values[two_arrays ? (step + 1) % 2 : 0];
        to[place] = (from[place - 1] + from[place + 1]) / 2;
        __syncthreads();
    }
    values[threadIdx.x] = old_values[two_arrays ? steps % 2 : 0][place];
}

template <bool two_arrays> static void run_heat()
{
    int *values = numbers(THREADS);
    heat<two_arrays><<<1, THREADS>>>(values, 4);
    finish_and_free(values);
}

// ---- A transpose through shared memory.

template <bool barrier> __global__ void transpose(const int *in, int *out)
{
    __shared__ int tile[16][17];
    tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 16 + threadIdx.x];
    if (barrier)
        __syncthreads();
    out[threadIdx.y * 16 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

template <bool barrier> static void run_transpose()
{
    int *in = numbers(256), *out = zeros<int>(256);
    transpose<barrier><<<1, dim3(16, 16)>>>(in, out);
    finish_and_free(in, out);
}

// ---- A product of matrices in tiles: the second barrier keeps a tile until all have read it.

template <bool second_barrier> __global__ void product(const int *a, const int *b, int *c)
{
    __shared__ int tile_a[8][8], tile_b[8][8];
    const int x = threadIdx.x, y = threadIdx.y;
    int sum = 0;
    for (int tile = 0; tile < 2; tile++) {
        tile_a[y][x] = a[y * 16 + tile * 8 + x];
        tile_b[y][x] = b[(tile * 8 + y) * 8 + x];
        __syncthreads();
        for (int k = 0; k < 8; k++)
            sum += tile_a[y][k] * tile_b[k][x];
        if (second_barrier)
            __syncthreads();
    }
    c[y * 8 + x] = sum;
}

template <bool second_barrier> static void run_product()
{
    int *a = numbers(128), *b = numbers(128), *c = zeros<int>(64);
    product<second_barrier><<<1, dim3(8, 8)>>>(a, b, c);
    finish_and_free(a, b, c);
}

// ---- A histogram in shared memory.

enum HistogramKind { ATOMIC, PLAIN_ADD, NO_BARRIER_AFTER_ZEROS, NO_BARRIER_BEFORE_READ };

template <HistogramKind kind> __global__ void histogram(const int *in, int *out)
{
    __shared__ int bins[16];
    const unsigned tid = threadIdx.x;
    if (tid < 16)
        bins[tid] = 0;
    if (kind != NO_BARRIER_AFTER_ZEROS)
        __syncthreads();
    if (kind == PLAIN_ADD)
        bins[in[tid] % 16]++;
    else
        atomicAdd(&bins[in[tid] % 16], 1);
    if (kind != NO_BARRIER_BEFORE_READ)
        __syncthreads();
    if (tid < 16)
        atomicAdd(&out[tid], bins[tid]);
}

template <HistogramKind kind> static void run_histogram()
{
    int *in = numbers(THREADS), *out = zeros<int>(16);
    histogram<kind><<<1, THREADS>>>(in, out);
    finish_and_free(in, out);
}

// ---- Values that one thread leaves for all.

template <bool barrier> __global__ void broadcast(const int *in, int *out)
{
    __shared__ int chosen;
    if (threadIdx.x == 0)
        chosen = in[blockIdx.x];
    if (barrier)
        __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = chosen;
}

template <bool barrier> static void run_broadcast()
{
    int *in = numbers(2), *out = zeros<int>(2 * THREADS);
    broadcast<barrier><<<2, THREADS>>>(in, out);
    finish_and_free(in, out);
}

// A loop whose end one thread decides: all must have read the decision before it is made anew.
template <bool second_barrier> __global__ void decided_loop(int *out)
{
    __shared__ int rounds, go_on;
    if (threadIdx.x == 0)
        rounds = 0;
    for (;;) {
        if (threadIdx.x == 0)
            go_on = ++rounds < 4;
        __syncthreads();
        const int again = go_on;
        if (second_barrier)
            __syncthreads();
        if (!again)
            break;
        out[threadIdx.x]++;
    }
}

// The same with the barrier's own answer: no variable is needed.
__global__ void counted_loop(const int *in, int *out)
{
    int rounds = 0;
    while (__syncthreads_or(rounds < in[threadIdx.x] % 5))
        rounds++;
    out[threadIdx.x] = rounds;
}

template <bool second_barrier> static void run_decided_loop()
{
    int *out = zeros<int>(THREADS);
    decided_loop<second_barrier><<<1, THREADS>>>(out);
    finish_and_free(out);
}

static void run_counted_loop()
{
    int *in = numbers(THREADS), *out = zeros<int>(THREADS);
    counted_loop<<<1, THREADS>>>(in, out);
    finish_and_free(in, out);
}

// ---- Through device memory, between threads of one block.

enum Order { BARRIER, FENCE_ONLY, NOTHING };

template <Order order> __global__ void neighbour_in_global(int *values, int *out)
{
    const unsigned i = blockIdx.x * THREADS + threadIdx.x, next = blockIdx.x * THREADS + (threadIdx.x + 1) % THREADS;
    values[i] = i;
    if (order == BARRIER)
        __syncthreads();
    if (order == FENCE_ONLY)
        __threadfence(); // orders a thread's own accesses, and waits for no other thread
    out[i] = values[next];
}

template <Order order> static void run_neighbour_in_global()
{
    int *values = zeros<int>(2 * THREADS), *out = zeros<int>(2 * THREADS);
    neighbour_in_global<order><<<2, THREADS>>>(values, out);
    finish_and_free(values, out);
}

// A barrier of the block does nothing for other blocks.
__global__ void neighbour_block(int *values, int *out)
{
    const unsigned i = blockIdx.x * THREADS + threadIdx.x, all = gridDim.x * THREADS;
    values[i] = i;
    __syncthreads();
    out[i] = values[(i + 1) % all];
}

static void run_neighbour_block()
{
    int *values = zeros<int>(2 * THREADS), *out = zeros<int>(2 * THREADS);
    neighbour_block<<<2, THREADS>>>(values, out);
    finish_and_free(values, out);
}

// ---- Aliases: two arguments that are the same memory, and a place that is reached in two ways.

__global__ void shift(const int *in, int *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] + 1;
}

template <int distance> static void run_shift()
{
    int *memory = numbers(2 * THREADS);
    shift<<<1, THREADS>>>(memory + distance, memory, THREADS);
    finish_and_free(memory);
}

// All threads write the same value to the same place: the result is right, the model calls it a race.
__global__ void same_value(const int *in, int *found)
{
    if (in[threadIdx.x] >= 0)
        *found = 1;
}

__global__ void same_value_shared(const int *in, int *out)
{
    __shared__ int any;
    if (threadIdx.x == 0)
        any = 0;
    __syncthreads();
    if (in[threadIdx.x] % 3 == 0)
        any = 1;
    __syncthreads();
    out[threadIdx.x] = any;
}

static void run_same_value_global()
{
    int *in = numbers(THREADS), *found = zeros<int>(1);
    same_value<<<1, THREADS>>>(in, found);
    finish_and_free(in, found);
}

static void run_same_value_shared()
{
    int *in = numbers(THREADS), *out = zeros<int>(THREADS);
    same_value_shared<<<1, THREADS>>>(in, out);
    finish_and_free(in, out);
}

// Bytes of one word: each thread has its own byte, but one adds to the whole word.
template <bool whole_words> __global__ void bytes(unsigned char *out)
{
    __shared__ unsigned words[THREADS / 4];
    unsigned char *const own = (unsigned char *)words;
    own[threadIdx.x] = threadIdx.x;
    if (whole_words && threadIdx.x < THREADS / 4)
        words[threadIdx.x] += 1;
    __syncthreads();
    out[threadIdx.x] = own[threadIdx.x];
}

template <bool whole_words> static void run_bytes()
{
    unsigned char *out = zeros<unsigned char>(THREADS);
    bytes<whole_words><<<1, THREADS>>>(out);
    finish_and_free(out);
}

// The load stands before the barrier in the source and after it in the result: the compiler may keep a register.
template <bool barrier> __global__ void kept_in_register(int *out)
{
    __shared__ int value;
    if (threadIdx.x == 0)
        value = 1;
    __syncthreads();
    const int first = value;
    if (barrier)
        __syncthreads();
    if (threadIdx.x == THREADS - 1)
        value = 2;
    __syncthreads();
    out[threadIdx.x] = first + value;
}

template <bool barrier> static void run_kept_in_register()
{
    int *out = zeros<int>(THREADS);
    kept_in_register<barrier><<<1, THREADS>>>(out);
    finish_and_free(out);
}

// ---- Dynamic shared memory in two parts, of which one begins too early.

template <bool too_early> __global__ void two_parts(int *out)
{
    extern __shared__ int memory[];
    int *const first = memory, *const second = memory + (too_early ? THREADS - 1 : THREADS);
    first[threadIdx.x] = threadIdx.x;
    second[threadIdx.x] = 2 * threadIdx.x;
    out[threadIdx.x] = first[threadIdx.x] + second[threadIdx.x];
}

template <bool too_early> static void run_two_parts()
{
    int *out = zeros<int>(THREADS);
    two_parts<too_early><<<1, THREADS, 2 * THREADS * sizeof(int)>>>(out);
    finish_and_free(out);
}

// A stage that is filled while the other is used.
template <bool barrier> __global__ void two_stages(const int *in, int *out)
{
    __shared__ int stage[2][THREADS];
    stage[0][threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    int sum = 0;
    for (int k = 1; k <= 4; k++) {
        if (k < 4)
            stage[k % 2][threadIdx.x] = in[k * THREADS + threadIdx.x];
        sum += stage[(k - 1) % 2][THREADS - 1 - threadIdx.x];
        if (barrier)
            __syncthreads();
    }
    out[threadIdx.x] = sum;
}

template <bool barrier> static void run_two_stages()
{
    int *in = numbers(4 * THREADS), *out = zeros<int>(THREADS);
    two_stages<barrier><<<1, THREADS>>>(in, out);
    finish_and_free(in, out);
}

// ---- Runs: a thread owns some vectors that lie side by side, in a tile with gaps that keep banks apart.

enum Runs { OWN, COALESCED, COALESCED_NO_BARRIER, NEIGHBOURS_VECTOR, OTHERS_OVERWRITE, OVERWRITTEN_IN_PART };
enum { VECTORS = 4 };

__device__ unsigned place(unsigned vector)
{
    return vector + vector / 8;
}

template <Runs runs> __global__ void use_runs(const float4 *in, float *out)
{
    __shared__ float4 tile[THREADS * VECTORS + THREADS * VECTORS / 8];
    const unsigned tid = threadIdx.x, other = (tid + THREADS / 2) % THREADS;
    const bool coalesced = runs == COALESCED || runs == COALESCED_NO_BARRIER;
    float sum = 0.0f;
    for (unsigned k = 0; k < VECTORS; k++)
        tile[place(coalesced ? k * THREADS + tid : tid * VECTORS + k)] = in[k * THREADS + tid];
    if (runs == COALESCED)
        __syncthreads();
    for (unsigned k = 0; k < VECTORS; k++)
        sum += tile[place(tid * VECTORS + k)].y;
    if (runs == NEIGHBOURS_VECTOR) // racy: the neighbour may not have written its run yet
        sum += tile[place((tid + 1) % THREADS * VECTORS + 2)].x;
    if (runs == OVERWRITTEN_IN_PART)
        tile[place(tid * VECTORS)] = make_float4(sum, sum, sum, sum);
    if (runs == OTHERS_OVERWRITE || runs == OVERWRITTEN_IN_PART) // racy: others have yet to read that
        tile[place(other * VECTORS + 1)] = make_float4(sum, sum, sum, sum);
    out[tid] = sum;
}

template <Runs runs> static void run_runs()
{
    float4 *in = zeros<float4>(THREADS * VECTORS);
    float *out = zeros<float>(THREADS);
    use_runs<runs><<<1, THREADS>>>(in, out);
    finish_and_free(in, out);
}

template <bool neighbours> __global__ void write_runs(float4 *values)
{
    const unsigned tid = threadIdx.x;
    for (unsigned k = 0; k < VECTORS; k++)
        values[tid * VECTORS + k] = make_float4(tid, k, 0.0f, 1.0f);
    float4 sum = values[tid * VECTORS];
    for (unsigned k = 1; k < VECTORS; k++) // racy: a neighbour's run may not have been written yet
        sum.x += values[(neighbours ? (tid + 1) % THREADS : tid) * VECTORS + k].y;
    __syncthreads();
    values[tid * VECTORS] = sum;
}

template <bool neighbours> static void run_runs_in_global()
{
    float4 *values = zeros<float4>(THREADS * VECTORS);
    write_runs<neighbours><<<1, THREADS>>>(values);
    finish_and_free(values);
}

static const Case CASES[] = {
    {"tree", run_tree<ALL>},
    {"tree-without-first-barrier", run_tree<NOT_AFTER_LOAD>},
    {"tree-without-loop-barrier", run_tree<NOT_IN_LOOP>},
    {"tree-barrier-above-a-warp", run_tree<ONLY_ABOVE_A_WARP>},
    {"tree-last-reads", run_tree_read_by_last<true>},
    {"tree-last-reads-early", run_tree_read_by_last<false>},
    {"own-elements", run_own_elements},
    {"warp-sums", run_warp_sums<true>},
    {"warp-sums-without-barrier", run_warp_sums<false>},
    {"used-again", run_used_again<true>},
    {"used-again-too-early", run_used_again<false>},
    {"scan-two-buffers", run_running_sum<TWO_BUFFERS>},
    {"scan-in-place", run_running_sum<IN_PLACE>},
    {"scan-in-place-one-barrier", run_running_sum<IN_PLACE_ONE_BARRIER>},
    {"stencil", run_stencil<true>},
    {"stencil-without-barrier", run_stencil<false>},
    {"heat-two-arrays", run_heat<true>},
    {"heat-one-array", run_heat<false>},
    {"transpose", run_transpose<true>},
    {"transpose-without-barrier", run_transpose<false>},
    {"product", run_product<true>},
    {"product-tile-overwritten", run_product<false>},
    {"histogram", run_histogram<ATOMIC>},
    {"histogram-plain-add", run_histogram<PLAIN_ADD>},
    {"histogram-zeros-unordered", run_histogram<NO_BARRIER_AFTER_ZEROS>},
    {"histogram-read-early", run_histogram<NO_BARRIER_BEFORE_READ>},
    {"broadcast", run_broadcast<true>},
    {"broadcast-without-barrier", run_broadcast<false>},
    {"decided-loop", run_decided_loop<true>},
    {"decided-loop-one-barrier", run_decided_loop<false>},
    {"counted-loop", run_counted_loop},
    {"global-neighbour", run_neighbour_in_global<BARRIER>},
    {"global-neighbour-fence-only", run_neighbour_in_global<FENCE_ONLY>},
    {"global-neighbour-unordered", run_neighbour_in_global<NOTHING>},
    {"other-block-after-barrier", run_neighbour_block},
    {"alias-apart", run_shift<THREADS>},
    {"alias-same-place", run_shift<0>},
    {"alias-shifted", run_shift<1>},
    {"same-value-global", run_same_value_global},
    {"same-value-shared", run_same_value_shared},
    {"own-bytes", run_bytes<false>},
    {"bytes-and-words", run_bytes<true>},
    {"kept-in-register", run_kept_in_register<true>},
    {"kept-in-register-too-early", run_kept_in_register<false>},
    {"two-parts", run_two_parts<false>},
    {"two-parts-overlap", run_two_parts<true>},
    {"two-stages", run_two_stages<true>},
    {"two-stages-without-barrier", run_two_stages<false>},
    {"runs-own", run_runs<OWN>},
    {"runs-coalesced", run_runs<COALESCED>},
    {"runs-without-barrier", run_runs<COALESCED_NO_BARRIER>},
    {"runs-neighbours-vector", run_runs<NEIGHBOURS_VECTOR>},
    {"runs-others-overwrite", run_runs<OTHERS_OVERWRITE>},
    {"runs-overwritten-in-part", run_runs<OVERWRITTEN_IN_PART>},
    {"runs-global-own", run_runs_in_global<false>},
    {"runs-global-neighbours", run_runs_in_global<true>},
};

int main(int argc, char **argv)
{
    return run_case(argc, argv, CASES);
}
