// What many threads read, and one of them writes: the checker keeps two readers of a word for all of them. And threads
// that have bytes of a word each.
#include "cases.h"

enum { THREADS = 128, MANY = 64, LINE = 128, WAITING_BLOCK = 40, WAITING_GRID = 48 };

// ---- All blocks read all of a table; then one thread writes an element.

template <unsigned writer> __global__ void table_of_all(int *table, int *out)
{
    int sum = 0;
    for (int round = 0; round < 3; round++)
        for (int k = 0; k < MANY; k++)
            sum += table[k];
    out[blockIdx.x * THREADS + threadIdx.x] = sum;
    if (blockIdx.x * THREADS + threadIdx.x == writer)
        table[MANY / 2] = sum;
}

template <unsigned writer, unsigned blocks> static void run_table()
{
    int *table = zeros<int>(MANY), *out = zeros<int>(blocks * THREADS);
    table_of_all<writer><<<blocks, THREADS>>>(table, out);
    finish_and_free(table, out);
}

// ---- All warps of a block, or all lanes of a warp, read a word again and again; one thread writes it between.

enum Order { BARRIER, WARP_BARRIER, BARRIER_ABOVE, NOTHING };

template <Order order, bool in_shared, unsigned writer> __global__ void rounds(int *word, int *out)
{
    __shared__ int own;
    int *place = in_shared ? &own : word, sum = 0;
    if (threadIdx.x == 0)
        *place = 1;
    __syncthreads();
    for (int round = 0; round < 4; round++) {
        for (int k = 0; k < 3; k++)
            sum += *const_cast<int *>(place) + k;
        if (order == BARRIER)
            __syncthreads();
        else if (order == WARP_BARRIER)
            __syncwarp();
        if (threadIdx.x == writer)
            *place = sum;
        if (order == WARP_BARRIER)
            __syncwarp();
        else if (order != NOTHING)
            __syncthreads();
    }
    out[threadIdx.x] = sum;
}

template <Order order, bool in_shared, unsigned threads, unsigned writer> static void run_rounds()
{
    int *word = zeros<int>(1), *out = zeros<int>(threads);
    rounds<order, in_shared, writer><<<1, threads>>>(word, out);
    finish_and_free(word, out);
}

// ---- All read it, once more after a barrier, and then one thread writes it.

template <bool barrier> __global__ void read_twice(int *word, int *out)
{
    int sum = *word;
    __syncthreads();
    sum += *word;
    if (barrier)
        __syncthreads();
    if (threadIdx.x == 2 * 32) // of the warp that runs last here
        *word = sum;
    out[threadIdx.x] = sum;
}

template <bool barrier> static void run_read_twice()
{
    int *word = zeros<int>(1), *out = zeros<int>(THREADS);
    read_twice<barrier><<<1, THREADS>>>(word, out);
    finish_and_free(word, out);
}

// ---- Lanes read their neighbours' elements in several ways, and write their own.

template <bool barrier> __global__ void neighbours(int *values)
{
    const int tid = threadIdx.x, last = blockDim.x - 1;
    int sum = 0;
    for (int apart = -2; apart <= 2; apart++)
        sum += values[min(max(tid + apart, 0), last)];
    if (barrier)
        __syncthreads();
    values[tid] = sum;
}

template <bool barrier, unsigned threads> static void run_neighbours()
{
    int *values = zeros<int>(threads);
    neighbours<barrier><<<1, threads>>>(values);
    finish_and_free(values);
}

// ---- Bytes: each thread has one channel of a pixel, or a whole one, or reads the next one's first.

enum Pixels { OWN, OWN_CHANNEL, NEXT_PIXEL, NEXT_AFTER_BARRIER };

template <class T, Pixels kind> __global__ void pixels(T *image)
{
    const int tid = threadIdx.x, pixel = 3 * tid;
    if (kind == OWN_CHANNEL) {
        image[tid] = 2 * image[tid];
        return;
    }
    const T green = image[pixel + 1], next = kind == OWN ? 0 : image[(pixel + 3) % (3 * THREADS)];
    if (kind == NEXT_AFTER_BARRIER)
        __syncthreads();
    image[pixel] = green;
    image[pixel + 2] = green + next;
}

template <class T, Pixels kind> static void run_pixels()
{
    T *image = zeros<T>(3 * THREADS);
    pixels<T, kind><<<1, THREADS>>>(image);
    finish_and_free(image);
}

// ---- One block after the other adds to an uninitialised sum, which is not used; then it is set.

__global__ void add_then_set(int *out)
{
    __shared__ int own[32];
    own[threadIdx.x] += 1;
    __syncthreads();
    own[threadIdx.x] = blockIdx.x;
    __syncthreads();
    out[32 * blockIdx.x + threadIdx.x] = own[threadIdx.x];
}

static void run_add_then_set()
{
    int *out = zeros<int>(4 * 32);
    add_then_set<<<4, 32>>>(out);
    finish_and_free(out);
}

// The threads of each block read its line; after a barrier one thread writes it, in the last blocks. A block before these
// waits for the last one: in the simulator those that ran ahead of it, each after others on the same host thread, run
// again.
__global__ void read_then_write(char *lines, volatile int *last_wrote, int *out)
{
    __shared__ int done;
    const unsigned b = blockIdx.x, t = threadIdx.x;
    const int read = lines[LINE * b];
    __syncthreads();
    for (int round = 0; round < (b < WAITING_BLOCK ? 200 : b == WAITING_BLOCK ? 30000 : 0); round++)
        __syncthreads(); // the later ones have read meanwhile
    for (bool waits = b == WAITING_BLOCK; waits;) {
        if (t == 0)
            done = *last_wrote;
        __syncthreads();
        waits = !done;
        __syncthreads();
    }
    if (b > WAITING_BLOCK && t == 0)
        lines[LINE * b] = 1;
    __threadfence();
    __syncthreads();
    if (b == gridDim.x - 1 && t == 0)
        *last_wrote = 1;
    out[b * blockDim.x + t] = read;
}

static void run_after_a_block_that_waits()
{
    char *lines = zeros<char>(LINE * WAITING_GRID);
    int *last_wrote = zeros<int>(1), *out = zeros<int>(THREADS * WAITING_GRID);
    read_then_write<<<WAITING_GRID, THREADS>>>(lines, last_wrote, out);
    finish_and_free(lines, last_wrote, out);
}

// ---- Of a tile in shared memory that several warps only read, until one writes to it. The simulator runs the warp that comes to
// a barrier last first, and then the others in turn: so this one writes when all have read.

enum { ROW = 32, TILE = ROW * (ROW + 1), WRITER = 2, ROUNDS = 12 };
enum Reads { NEXT_WORD, COLUMNS, MANY_WORDS, AFTER_ROUNDS };

template <Reads reads, bool barrier, typename Element> __global__ void tile_read_then_written(int *out)
{
    __shared__ Element tile[TILE];
    const int t = threadIdx.x, warp = t / ROW, lane = t % ROW;
    for (int k = t; k < TILE; k += THREADS)
        tile[k] = k;
    __syncthreads();
    for (int round = 0; reads == AFTER_ROUNDS && round < ROUNDS; round++) {
        tile[t] = tile[t] + round;
        __syncthreads();
    }
    int sum = 0;
    if (reads == COLUMNS)
        sum = tile[lane * (ROW + 1) + warp];
    else if (reads == MANY_WORDS)
        for (int k = 0; k < TILE; k++)
            sum += tile[k];
    else
        sum = tile[t + 1];
    if (barrier)
        __syncthreads();
    if (warp == WRITER) // racy without the barrier: another warp may not have read yet
        tile[(reads == COLUMNS ? ROW + 1 : reads == MANY_WORDS ? TILE - ROW : WRITER * ROW) + lane] = sum;
    out[t] = sum;
}

template <Reads reads, bool barrier, typename Element = int> static void run_tile()
{
    int *out = zeros<int>(THREADS);
    tile_read_then_written<reads, barrier, Element><<<1, THREADS>>>(out);
    finish_and_free(out);
}

// All look for a number, and stop when one of them has found it.
__global__ void search_until_found(const int *numbers, int wanted, int *out)
{
    __shared__ volatile int found;
    if (threadIdx.x == 0)
        found = -1;
    __syncthreads();
    for (int k = threadIdx.x; k < TILE && found < 0; k += THREADS)
        if (numbers[k] == wanted)
            found = k;
    __syncthreads();
    if (threadIdx.x == 0)
        *out = found;
}

static void run_search()
{
    int numbers[TILE];
    for (int k = 0; k < TILE; k++)
        numbers[k] = k;
    int *in = copied(numbers), *out = zeros<int>(1);
    search_until_found<<<1, THREADS>>>(in, 3 * THREADS + 1, out);
    finish_and_free(in, out);
}

// ---- The same in more shared memory than 16 bits number the words of.

enum { MAX_DYNAMIC = 178 * 1024, ARRAYS = 24, OF_ARRAY = 512 };

// That many arrays, each followed by a red zone if the checker is on.
template <int arrays> __device__ int sum_of_arrays(int t)
{
    __shared__ int array[OF_ARRAY];
    for (int k = t; k < OF_ARRAY; k += THREADS)
        array[k] = k;
    return array[t] + sum_of_arrays<arrays - 1>(t);
}

template <> __device__ int sum_of_arrays<0>(int)
{
    return 0;
}

__global__ void end_of_much_shared_memory(int *out)
{
    extern __shared__ int much[];
    const int t = threadIdx.x, sum = sum_of_arrays<ARRAYS>(t);
    for (int k = t; k < MAX_DYNAMIC / 4; k += THREADS)
        much[k] = k;
    __syncthreads();
    int *const row = much + MAX_DYNAMIC / 4 - THREADS;
    const int next = row[(t + 1) % THREADS];
    if (t / ROW == WRITER) // racy: a thread of another warp may not have read yet
        row[t] = next;
    __syncthreads();
    out[t] = sum + row[t];
}

static void run_end_of_much_shared_memory()
{
    int *out = zeros<int>(THREADS);
    CUDA(cudaFuncSetAttribute(end_of_much_shared_memory, cudaFuncAttributeMaxDynamicSharedMemorySize, MAX_DYNAMIC));
    end_of_much_shared_memory<<<1, THREADS, MAX_DYNAMIC>>>(out);
    finish_and_free(out);
}

static const Case CASES[] = {
    {"table-of-another", run_table<THREADS * 4 - 1, 4>},
    {"table-of-a-first-reader", run_table<0, 4>},
    {"table-of-a-last-warp", run_table<THREADS - 1, 1>},
    {"table-of-one-thread-alone", run_table<~0u, 4>},
    {"word-barrier", run_rounds<BARRIER, false, THREADS, 0>},
    {"word-nothing-before-write", run_rounds<BARRIER_ABOVE, false, THREADS, 0>},
    {"word-nothing-before-write-of-last", run_rounds<BARRIER_ABOVE, false, THREADS, THREADS - 1>},
    {"word-nothing-before-write-of-third-warp", run_rounds<BARRIER_ABOVE, false, THREADS, 70>},
    {"shared-word-barrier", run_rounds<BARRIER, true, THREADS, 70>},
    {"shared-word-nothing-before-write", run_rounds<BARRIER_ABOVE, true, THREADS, 70>},
    {"word-of-a-warp", run_rounds<WARP_BARRIER, false, 32, 0>},
    {"word-of-a-warp-nothing", run_rounds<NOTHING, false, 32, 0>},
    {"shared-word-of-a-warp", run_rounds<WARP_BARRIER, true, 32, 31>},
    {"word-of-two-warps-with-barriers-of-one", run_rounds<WARP_BARRIER, false, 64, 0>},
    {"word-twice-barrier", run_read_twice<true>},
    {"word-twice-nothing-before-write", run_read_twice<false>},
    {"neighbours", run_neighbours<true, THREADS>},
    {"neighbours-no-barrier", run_neighbours<false, THREADS>},
    {"neighbours-in-a-warp-no-barrier", run_neighbours<false, 32>},
    {"bytes-own-channel", run_pixels<unsigned char, OWN_CHANNEL>},
    {"bytes-own-pixel", run_pixels<unsigned char, OWN>},
    {"bytes-next-pixel", run_pixels<unsigned char, NEXT_PIXEL>},
    {"bytes-next-pixel-barrier", run_pixels<unsigned char, NEXT_AFTER_BARRIER>},
    {"halves-own-pixel", run_pixels<short, OWN>},
    {"halves-next-pixel", run_pixels<short, NEXT_PIXEL>},
    {"shared-of-the-block-before", run_add_then_set},
    {"after-a-block-that-waits", run_after_a_block_that_waits},
    {"tile-next-word", run_tile<NEXT_WORD, true>},
    {"tile-next-word-no-barrier", run_tile<NEXT_WORD, false>},
    {"tile-columns", run_tile<COLUMNS, true>},
    {"tile-columns-no-barrier", run_tile<COLUMNS, false>},
    {"tile-many-words-no-barrier", run_tile<MANY_WORDS, false>},
    {"tile-after-rounds-no-barrier", run_tile<AFTER_ROUNDS, false>},
    {"volatile-tile-next-word", run_tile<NEXT_WORD, true, volatile int>},
    {"volatile-tile-next-word-no-barrier", run_tile<NEXT_WORD, false, volatile int>},
    {"volatile-word-that-ends-a-search", run_search},
    {"end-of-much-shared-memory-no-barrier", run_end_of_much_shared_memory},
};

int main(int argc, char **argv)
{
    return run_case(argc, argv, CASES);
}
