// A kernel's accesses of memory: bounds, freed memory, uninitialised memory, alignment.
#include "cases.h"

#include <cooperative_groups.h>

enum { THREADS = 64 };

// ---- Bounds of device memory.

enum Guard { LESS, LESS_OR_EQUAL, NONE };

template <Guard guard, bool writes> __global__ void guarded(int *values, int *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (guard == NONE || i < n + (guard == LESS_OR_EQUAL)) {
        if (writes)
            values[i] = i;
        else
            out[i] = values[i];
    }
}

template <Guard guard, bool writes> static void run_guarded()
{
    int *values = zeros<int>(100), *out = zeros<int>(2 * THREADS);
    guarded<guard, writes><<<2, THREADS>>>(values, out, 100);
    finish_and_free(values, out);
}

template <int first> __global__ void window(const int *in, int *out, int n)
{
    const int i = threadIdx.x;
    int sum = 0;
    for (int k = -1; k <= 1; k++)
        if (first == 0 || (i + k >= 0 && i + k < n)) // without the guard the ends read beside the array
            sum += in[i + k];
    out[i] = sum;
}

template <int guarded_ends> static void run_window()
{
    int *in = numbers(THREADS), *out = zeros<int>(THREADS);
    window<guarded_ends><<<1, THREADS>>>(in, out, THREADS);
    finish_and_free(in, out);
}

// ---- Rows with padding, whose pitch CUDA chose.

enum { COLUMNS = 101, ROWS = 8 }; // of ints: 404 bytes

struct Pitched {
    char *memory;
    size_t pitch;
    __device__ int *row(int y) const { return (int *)(memory + y * pitch); }
};

enum Columns { GUARDED, ONE_MORE, NO_GUARD };

template <Columns columns> __global__ void fill_rows(Pitched p)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (columns == NO_GUARD || x < COLUMNS + (columns == ONE_MORE))
        p.row(blockIdx.y)[x] = x;
}

template <bool clamped> __global__ void add_next(Pitched p, int *out)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x < COLUMNS)
        out[blockIdx.y * COLUMNS + x] = p.row(blockIdx.y)[x] + p.row(blockIdx.y)[clamped && x + 1 == COLUMNS ? x : x + 1];
}

// The last element of the last row, and what follows it.
__global__ void read_past_last(Pitched p, int *out)
{
    volatile int value = p.row(ROWS - 1)[COLUMNS];
    out[0] = p.row(ROWS - 1)[COLUMNS - 1];
}

__global__ void fill_all_bytes(Pitched p)
{
    for (size_t i = threadIdx.x; i < p.pitch / sizeof(int) * ROWS; i += blockDim.x)
        p.row(0)[i] = 0;
}

// The memory is large enough for it, and not used as rows: it ends in the padding of the first row.
__global__ void fill_flat(Pitched p)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < COLUMNS + 10)
        p.row(0)[i] = i;
}

__global__ void double_vectors(Pitched p)
{
    int4 *const v = (int4 *)p.row(blockIdx.x) + threadIdx.x;
    const int4 old = *v;
    *v = make_int4(2 * old.x, 2 * old.y, 2 * old.z, 2 * old.w);
}

__global__ void read_texture(cudaTextureObject_t rows, int *out)
{
    out[blockIdx.x * blockDim.x + threadIdx.x] = tex2D<int>(rows, threadIdx.x, blockIdx.x); // up to COLUMNS + 1
}

static void look_through_texture(Pitched p, int *out)
{
    cudaResourceDesc what = {};
    what.resType = cudaResourceTypePitch2D;
    what.res.pitch2D = {p.memory, cudaCreateChannelDesc<int>(), COLUMNS, ROWS, p.pitch};
    cudaTextureDesc how = {};
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
    cudaTextureObject_t rows;
    CUDA(cudaCreateTextureObject(&rows, &what, &how, NULL));
    read_texture<<<ROWS, COLUMNS + 2>>>(rows, out);
    finish();
    CUDA(cudaDestroyTextureObject(rows));
}

enum OfRows {
    FILL,
    FILL_ONE_MORE,
    FILL_NO_GUARD,
    FILL_ALL,
    FILL_FLAT,
    NEXT,
    NEXT_CLAMPED,
    NEXT_ZEROED,
    PAST_LAST,
    VECTORS,
    TEXTURE
};

template <OfRows what> static void run_pitched()
{
    Pitched p;
    int *out = zeros<int>((COLUMNS + 2) * ROWS);
    const dim3 grid((COLUMNS + 15) / 16, ROWS);
    CUDA(cudaMallocPitch(&p.memory, &p.pitch, COLUMNS * sizeof(int), ROWS));
    CUDA(cudaMemset2D(p.memory, p.pitch, 0, what == NEXT_ZEROED ? p.pitch : COLUMNS * sizeof(int), ROWS));
    switch (what) {
    case FILL: fill_rows<GUARDED><<<grid, 16>>>(p); break;
    case FILL_ONE_MORE: fill_rows<ONE_MORE><<<grid, 16>>>(p); break;
    case FILL_NO_GUARD: fill_rows<NO_GUARD><<<grid, 16>>>(p); break;
    case FILL_ALL: fill_all_bytes<<<1, THREADS>>>(p); break;
    case FILL_FLAT: fill_flat<<<COLUMNS / 16 + 1, 16>>>(p); break;
    case NEXT: add_next<false><<<grid, 16>>>(p, out); break;
    case NEXT_CLAMPED: add_next<true><<<grid, 16>>>(p, out); break;
    case NEXT_ZEROED: add_next<false><<<grid, 16>>>(p, out); break;
    case PAST_LAST: read_past_last<<<1, 1>>>(p, out); break;
    case VECTORS: double_vectors<<<ROWS, (COLUMNS + 3) / 4>>>(p); break;
    case TEXTURE: look_through_texture(p, out); break;
    }
    finish_and_free(p.memory, out);
}

// A row that is one too long reads into the next row, which is no error; the last row's leaves the array.
template <int rows> __global__ void rows_too_long(const int *in, int *out)
{
    int sum = 0;
    for (int column = 0; column <= 8; column++)
        sum += in[threadIdx.x * 8 + column];
    out[threadIdx.x] = sum;
}

template <int rows> static void run_rows()
{
    int *in = numbers(8 * 8), *out = zeros<int>(8);
    rows_too_long<rows><<<1, rows>>>(in, out);
    finish_and_free(in, out);
}

// Whole vectors over an array that is no multiple of four.
template <bool tail_apart> __global__ void vectors(const int *in, int *out, int n)
{
    const int i = threadIdx.x;
    if (4 * i + (tail_apart ? 3 : 0) < n) {
        const int4 v = ((const int4 *)in)[i];
        out[i] = v.x + v.y + v.z + v.w;
    } else if (tail_apart && 4 * i < n) {
        int sum = 0;
        for (int k = 4 * i; k < n; k++)
            sum += in[k];
        out[i] = sum;
    }
}

template <bool tail_apart> static void run_vectors()
{
    int *in = numbers(102), *out = zeros<int>(THREADS);
    vectors<tail_apart><<<1, THREADS>>>(in, out, 102);
    finish_and_free(in, out);
}

// In C a remainder may be 0, and what is one less is no place in the array.
template <bool negative> __global__ void signed_index(const int *in, int *out, int base)
{
    const int place = (base + (int)threadIdx.x) % 7 - (negative ? 1 : 0); // 0 - 1 for some threads
    out[threadIdx.x] = in[place];
}

template <bool negative> static void run_signed_index()
{
    int *in = numbers(8), *out = zeros<int>(THREADS);
    signed_index<negative><<<1, THREADS>>>(in, out, 0);
    finish_and_free(in, out);
}

// ---- Bounds of shared and local memory, and of variables.

template <int reach> __global__ void two_arrays(int *out)
{
    __shared__ int first[THREADS], second[THREADS];
    first[threadIdx.x] = 1;
    second[threadIdx.x] = 2;
    __syncthreads();
    int sum = 0;
    for (int k = 0; k <= reach; k++)
        sum += first[threadIdx.x + k]; // the last threads reach the next array
    out[threadIdx.x] = sum + second[threadIdx.x];
}

template <int reach> static void run_two_arrays()
{
    int *out = zeros<int>(THREADS);
    two_arrays<reach><<<1, THREADS>>>(out);
    finish_and_free(out);
}

template <int more> __global__ void write_past_end(int *out)
{
    __shared__ int counts[THREADS], sums[THREADS];
    sums[threadIdx.x] = 0;
    __syncthreads();
    counts[threadIdx.x + more] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = sums[threadIdx.x] + counts[threadIdx.x + more];
}

template <int more> static void run_write_past_end()
{
    int *out = zeros<int>(THREADS);
    write_past_end<more><<<1, THREADS>>>(out);
    finish_and_free(out);
}

__global__ void dynamic_array(int *out)
{
    extern __shared__ int dynamic[];
    dynamic[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = dynamic[THREADS - 1 - threadIdx.x];
}

template <int bytes> static void run_dynamic_array()
{
    int *out = zeros<int>(THREADS);
    dynamic_array<<<1, THREADS, bytes>>>(out);
    finish_and_free(out);
}

__global__ void local_array(const int *in, int *out, int count)
{
    int own[8];
    for (int k = 0; k < count; k++)
        own[k] = in[k] + threadIdx.x;
    int sum = 0;
    for (int k = 0; k < count; k++)
        sum += own[in[k] % count];
    out[threadIdx.x] = sum;
}

template <int count> static void run_local_array()
{
    int *in = numbers(16), *out = zeros<int>(THREADS);
    local_array<<<1, THREADS>>>(in, out, count);
    finish_and_free(in, out);
}

__constant__ int table[8] = {1, 2, 3, 4, 5, 6, 7, 8};
__device__ int results[THREADS];

template <int size> __global__ void variables(const int *in)
{
    results[threadIdx.x + size - 8] = table[in[threadIdx.x] % 8];
}

template <int size> static void run_variables()
{
    int *in = numbers(THREADS);
    variables<size><<<1, THREADS>>>(in);
    finish_and_free(in);
}

// ---- Alignment.

template <int offset> __global__ void loads(const int *in, int *out)
{
    const int4 v = *(const int4 *)(in + offset + 4 * threadIdx.x);
    out[threadIdx.x] = v.x + v.w;
}

template <int offset> static void run_loads()
{
    int *in = numbers(4 * THREADS + 4), *out = zeros<int>(THREADS);
    loads<offset><<<1, THREADS>>>(in, out);
    finish_and_free(in, out);
}

// ---- What was freed, and what is the host's.

__global__ void copy(const int *in, int *out)
{
    out[threadIdx.x] = in[threadIdx.x];
}

template <bool freed> static void run_freed()
{
    int *in = numbers(THREADS), *out = zeros<int>(THREADS);
    if (freed)
        CUDA(cudaFree(in));
    copy<<<1, THREADS>>>(in, out);
    cudaDeviceSynchronize();
    cudaGetLastError();
    if (!freed)
        CUDA(cudaFree(in));
    cudaFree(out);
}

template <bool twice> static void run_freed_twice()
{
    int *in = numbers(THREADS), *out = zeros<int>(THREADS);
    copy<<<1, THREADS>>>(in, out);
    finish_and_free(in, out);
    if (twice)
        cudaFree(in);
    cudaGetLastError();
}

template <bool of_host> static void run_host_pointer()
{
    static int values[THREADS];
    int *out = zeros<int>(THREADS), *in = of_host ? values : numbers(THREADS);
    copy<<<1, THREADS>>>(in, out);
    cudaDeviceSynchronize();
    cudaGetLastError();
    if (!of_host)
        CUDA(cudaFree(in));
    cudaFree(out);
}

template <int elements> static void run_copy_size()
{
    static int values[2 * THREADS];
    int *in = zeros<int>(THREADS), *out = zeros<int>(THREADS);
    cudaMemcpy(in, values, elements * sizeof(int), cudaMemcpyHostToDevice);
    cudaGetLastError();
    copy<<<1, THREADS>>>(in, out);
    finish_and_free(in, out);
}

// ---- Uninitialised memory.

enum Written { SET, NOT_SET, HALF_SET, ONLY_SET_PART_READ, BY_KERNEL };

__global__ void fill(int *values, int count)
{
    if ((int)threadIdx.x < count)
        values[threadIdx.x] = threadIdx.x;
}

template <Written written> static void run_written()
{
    int *in, *out = zeros<int>(THREADS), host[THREADS];
    CUDA(cudaMalloc(&in, THREADS * sizeof(int)));
    if (written == SET)
        CUDA(cudaMemset(in, 0, THREADS * sizeof(int)));
    if (written == HALF_SET || written == ONLY_SET_PART_READ)
        CUDA(cudaMemset(in, 0, THREADS / 2 * sizeof(int)));
    if (written == BY_KERNEL)
        fill<<<1, THREADS>>>(in, THREADS);
    copy<<<1, written == ONLY_SET_PART_READ ? THREADS / 2 : THREADS>>>(in, out);
    CUDA(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    finish_and_free(in, out);
}

// An accumulator in device memory that was never set to 0.
__global__ void add_all(const int *in, int *sum)
{
    atomicAdd(sum, in[threadIdx.x]);
}

template <bool set> static void run_accumulator()
{
    int *in = numbers(THREADS), *sum;
    CUDA(cudaMalloc(&sum, sizeof(int)));
    if (set)
        CUDA(cudaMemset(sum, 0, sizeof(int)));
    add_all<<<1, THREADS>>>(in, sum);
    finish_and_free(in, sum);
}

template <bool all> __global__ void shared_part(int *out)
{
    __shared__ int values[THREADS];
    if (all || threadIdx.x < THREADS / 2)
        values[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = values[THREADS - 1 - threadIdx.x];
}

template <bool all> static void run_shared_part()
{
    int *out = zeros<int>(THREADS), host[THREADS];
    shared_part<all><<<1, THREADS>>>(out);
    CUDA(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    finish_and_free(out);
}

// Shared memory does not keep what the block before left in it.
// Four numbers at a time pass through shared memory; one that all add to them was set, or not.
template <bool set> __global__ void through_vectors(const int *one, int4 *out)
{
    __shared__ int4 values[THREADS];
    const int more = one[set ? 0 : 1], x = threadIdx.x + more;
    values[threadIdx.x] = make_int4(x, x + 1, x + 2, x + 3);
    __syncthreads();
    out[threadIdx.x] = values[THREADS - 1 - threadIdx.x];
}

template <bool set> static void run_through_vectors()
{
    int *one;
    CUDA(cudaMalloc(&one, 2 * sizeof(int)));
    CUDA(cudaMemset(one, 0, sizeof(int)));
    int4 *out = zeros<int4>(THREADS);
    through_vectors<set><<<1, THREADS>>>(one, out);
    fetch(out, THREADS);
    finish_and_free(one, out);
}

template <bool set> __global__ void shared_counter(int *out)
{
    __shared__ int count;
    if (set && threadIdx.x == 0)
        count = 0;
    __syncthreads();
    atomicAdd(&count, 1);
    __syncthreads();
    if (threadIdx.x == 0)
        out[blockIdx.x] = count;
}

template <bool set> static void run_shared_counter()
{
    int *out = zeros<int>(2);
    shared_counter<set><<<2, THREADS>>>(out);
    finish_and_free(out);
}

template <int written> __global__ void local_part(const int *in, int *out)
{
    int own[8];
    for (int k = 0; k < written; k++)
        own[in[k]] = threadIdx.x;
    out[threadIdx.x] = own[in[threadIdx.x % 8]] + 1;
}

template <int written> static void run_local_part()
{
    int *in = numbers(8), *out = zeros<int>(THREADS);
    local_part<written><<<1, THREADS>>>(in, out);
    fetch(out, THREADS);
    finish_and_free(in, out);
}

// What malloc gives in a kernel.
template <bool set> __global__ void heap(int *out)
{
    int *const own = (int *)malloc(4 * sizeof(int));
    for (int k = 0; k < (set ? 4 : 3); k++)
        own[k] = k;
    out[threadIdx.x] = own[0] + own[out[threadIdx.x] + 3];
    free(own);
}

template <bool set> static void run_heap()
{
    int *out = zeros<int>(THREADS), host[THREADS];
    heap<set><<<1, THREADS>>>(out);
    CUDA(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    finish_and_free(out);
}

// ---- Addresses of memory that each block, or each thread, has for itself.

__device__ int *kept[2];

// Where each block leaves the address of its own variable, each finds its own; else the other's.
template <bool own> __global__ void shared_address(int *out)
{
    __shared__ int mine;
    mine = blockIdx.x;
    kept[own ? blockIdx.x : 1 - blockIdx.x] = &mine;
    cooperative_groups::this_grid().sync();
    out[blockIdx.x] = *kept[blockIdx.x];
    cooperative_groups::this_grid().sync();
}

template <bool own> static void run_shared_address()
{
    int *out = zeros<int>(2);
    void *arguments[] = {&out};
    CUDA(cudaLaunchCooperativeKernel((const void *)shared_address<own>, 2, 1, arguments, 0, nullptr));
    finish_and_free(out);
}

template <int apart> __global__ void local_address(int *out)
{
    __shared__ volatile int *addresses[THREADS];
    volatile int mine = threadIdx.x;
    addresses[threadIdx.x] = &mine;
    __syncthreads();
    out[threadIdx.x] = *addresses[threadIdx.x ^ apart];
    __syncthreads();
}

template <int apart> static void run_local_address()
{
    int *out = zeros<int>(THREADS);
    local_address<apart><<<1, THREADS>>>(out);
    finish_and_free(out);
}

// ---- Loads for memory that is only read (ld.global.nc): it must not be written while the kernel runs.

enum Source { OWN_ELEMENT, OWN_OUTPUT, NEIGHBOUR_BYTE };

template <Source source> __global__ void read_only(unsigned char *values)
{
    const int i = threadIdx.x;
    unsigned char value = source == OWN_ELEMENT ? __ldg(values + 2 * i) : 1;
    values[2 * i] = value + 1;
    __syncthreads();
    if (source == OWN_OUTPUT)
        value = __ldg(values + 2 * (THREADS - 1 - i));
    if (source == NEIGHBOUR_BYTE)
        value = __ldg(values + 2 * (THREADS - 1 - i) + 1);
    values[2 * (THREADS + i)] = value;
}

template <Source source> static void run_read_only()
{
    unsigned char *values = zeros<unsigned char>(4 * THREADS);
    read_only<source><<<1, THREADS>>>(values);
    finish_and_free(values);
}

__global__ void reverse(const int *__restrict__ in, int *__restrict__ out)
{
    out[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x + THREADS] = in[THREADS - 1 - threadIdx.x];
}

// The output of one launch is the next one's input; or in and out are the same memory.
template <bool same> static void run_restrict()
{
    int *values = numbers(2 * THREADS), *other = numbers(2 * THREADS);
    int *const to = same ? values : other;
    reverse<<<1, THREADS>>>(values, to);
    reverse<<<1, THREADS>>>(other, values);
    finish_and_free(values, other);
}

// A block's array from the kernel's heap, in turn with other blocks'.
enum { PARTS = 4 };
template <bool hurried> __global__ void heap_array(int *out)
{
    __shared__ int *part;
    if (threadIdx.x == 0)
        part = (int *)malloc(PARTS * blockDim.x * sizeof(int));
    __syncthreads();
    for (int n = 0; n < PARTS; n++)
        part[n * blockDim.x + threadIdx.x] = n;
    if (!hurried)
        __syncthreads();
    for (int n = 0; n < PARTS; n++)
        out[blockIdx.x * THREADS + threadIdx.x] += part[n * blockDim.x + blockDim.x - 1 - threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0)
        free(part);
}

template <bool hurried> static void run_heap_array()
{
    enum { BLOCKS = 16 };
    int *out = zeros<int>(BLOCKS * THREADS);
    heap_array<hurried><<<BLOCKS, THREADS>>>(out);
    finish_and_free(out);
}

// Through a pointer that lies in memory; to what is read of it a number is added, an argument as large as a pointer.
template <int further> __global__ void through_rows(int **rows, size_t begin)
{
    const int i = threadIdx.x;
    const int value = rows[0][begin + i + THREADS * blockIdx.x];
    rows[0][begin + i + THREADS * ((blockIdx.x + further) % gridDim.x)] = value + 1;
}

template <int further> static void run_through_rows()
{
    enum { BLOCKS = 4, BEGIN = 5 };
    int *row = zeros<int>(2 * BLOCKS * THREADS), **rows = zeros<int *>(1);
    CUDA(cudaMemcpy(rows, &row, sizeof row, cudaMemcpyHostToDevice));
    through_rows<further><<<BLOCKS, THREADS>>>(rows, BEGIN);
    finish_and_free(row, rows);
}

static const Case CASES[] = {
    {"heap-array", run_heap_array<false>},
    {"heap-array-without-barrier", run_heap_array<true>},
    {"through-rows", run_through_rows<0>},
    {"through-rows-of-others", run_through_rows<1>},
    {"guard-read", run_guarded<LESS, false>},
    {"guard-write", run_guarded<LESS, true>},
    {"guard-off-by-one-read", run_guarded<LESS_OR_EQUAL, false>},
    {"guard-off-by-one-write", run_guarded<LESS_OR_EQUAL, true>},
    {"guard-missing-read", run_guarded<NONE, false>},
    {"guard-missing-write", run_guarded<NONE, true>},
    {"window", run_window<1>},
    {"window-ends", run_window<0>},
    {"rows-within", run_rows<7>},
    {"rows-beyond", run_rows<8>},
    {"pitched", run_pitched<FILL>},
    {"pitched-one-more", run_pitched<FILL_ONE_MORE>},
    {"pitched-round-number", run_pitched<FILL_NO_GUARD>},
    {"pitched-all-bytes", run_pitched<FILL_ALL>},
    {"pitched-flat", run_pitched<FILL_FLAT>},
    {"pitched-next", run_pitched<NEXT>},
    {"pitched-next-clamped", run_pitched<NEXT_CLAMPED>},
    {"pitched-next-zeroed", run_pitched<NEXT_ZEROED>},
    {"pitched-past-last", run_pitched<PAST_LAST>},
    {"pitched-vectors", run_pitched<VECTORS>},
    {"pitched-texture", run_pitched<TEXTURE>},
    {"vectors-tail-apart", run_vectors<true>},
    {"vectors-beyond", run_vectors<false>},
    {"signed-index", run_signed_index<false>},
    {"signed-index-negative", run_signed_index<true>},
    {"shared-within", run_two_arrays<0>},
    {"shared-beyond", run_two_arrays<1>},
    {"shared-write", run_write_past_end<0>},
    {"shared-write-past-end", run_write_past_end<1>},
    {"dynamic", run_dynamic_array<THREADS * sizeof(int)>},
    {"dynamic-too-small", run_dynamic_array<(THREADS - 1) * sizeof(int)>},
    {"dynamic-forgotten", run_dynamic_array<0>},
    {"local", run_local_array<8>},
    {"local-beyond", run_local_array<9>},
    {"variables", run_variables<8>},
    {"variables-beyond", run_variables<9>},
    {"aligned", run_loads<0>},
    {"misaligned", run_loads<1>},
    {"not-freed-yet", run_freed<false>},
    {"freed", run_freed<true>},
    {"freed-once", run_freed_twice<false>},
    {"freed-twice", run_freed_twice<true>},
    {"device-pointer", run_host_pointer<false>},
    {"host-pointer", run_host_pointer<true>},
    {"copy-size", run_copy_size<THREADS>},
    {"copy-size-beyond", run_copy_size<THREADS + 1>},
    {"written", run_written<SET>},
    {"written-by-kernel", run_written<BY_KERNEL>},
    {"written-never", run_written<NOT_SET>},
    {"written-half", run_written<HALF_SET>},
    {"written-part-read", run_written<ONLY_SET_PART_READ>},
    {"accumulator-set", run_accumulator<true>},
    {"accumulator-not-set", run_accumulator<false>},
    {"shared-all-written", run_shared_part<true>},
    {"shared-half-written", run_shared_part<false>},
    {"through-vectors-set", run_through_vectors<true>},
    {"through-vectors-not-set", run_through_vectors<false>},
    {"shared-counter-set", run_shared_counter<true>},
    {"shared-counter-not-set", run_shared_counter<false>},
    {"local-all-written", run_local_part<8>},
    {"local-half-written", run_local_part<4>},
    {"heap-all-written", run_heap<true>},
    {"heap-not-all-written", run_heap<false>},
    {"shared-address-own", run_shared_address<true>},
    {"shared-address-elsewhere", run_shared_address<false>},
    {"local-address-own", run_local_address<0>},
    {"local-address-elsewhere", run_local_address<1>},
    {"read-only-then-written", run_read_only<OWN_ELEMENT>},
    {"read-only-neighbour-byte", run_read_only<NEIGHBOUR_BYTE>},
    {"read-only-was-written", run_read_only<OWN_OUTPUT>},
    {"restrict-two-arrays", run_restrict<false>},
    {"restrict-one-array", run_restrict<true>},
};

int main(int argc, char **argv)
{
    return run_case(argc, argv, CASES);
}
