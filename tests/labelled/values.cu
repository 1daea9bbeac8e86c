// Uninitialised values that are copied and never used: structures with padding, unions, arrays that are not full,
// conditions that are decided without them. And the same, where they are asked for.
#include "cases.h"

#include <curand_kernel.h>

enum { COUNT = 64, WARP = 32 };

// ---- Structures with padding

struct Particle {
    float3 at;
    bool alive;
};
struct Mixed {
    int number;
    short small;
};
struct Wide {
    double value;
    char kind;
};
struct Counted { // of `some` no more than `count` are set
    int count;
    int some[6];
};
struct Long { // longer than what nvcc copies without a loop
    int count;
    int some[90];
};
struct Tagged {
    int tag;
    union {
        int whole;
        double real;
    };
};

__device__ void set(Particle &p, int i) { p.at = make_float3(i, 1, 2), p.alive = i % 3 == 0; }
__device__ void set(Mixed &m, int i) { m.number = i, m.small = (short)i; }
__device__ void set(Wide &w, int i) { w.value = i, w.kind = (char)i; }
__device__ void set(Tagged &t, int i)
{
    t.tag = i & 1;
    if (t.tag)
        t.real = i;
    else
        t.whole = i;
}
template <class T> __device__ void set_some(T &counted, int i)
{
    counted.count = i % 6;
    for (int k = 0; k < counted.count; k++)
        counted.some[k] = k;
}
__device__ void set(Counted &c, int i) { set_some(c, i); }
__device__ void set(Long &l, int i) { set_some(l, i); }

__device__ bool takes_part(const Particle &p) { return p.alive; }
__device__ bool takes_part(const Mixed &m) { return m.small > 3; }
__device__ bool takes_part(const Wide &w) { return w.kind > 3; }
__device__ bool takes_part(const Tagged &t) { return t.tag ? t.real > 9 : t.whole > 9; }
template <class T> __device__ bool has_some(const T &counted)
{
    int sum = 0;
    for (int k = 0; k < counted.count; k++)
        sum += counted.some[k];
    return sum > 3;
}
__device__ bool takes_part(const Counted &c) { return has_some(c); }
__device__ bool takes_part(const Long &l) { return has_some(l); }

template <class T> __global__ void set_all(T *all)
{
    set(all[threadIdx.x], threadIdx.x);
}

template <class T> __global__ void keep_some(const T *all, T *kept, int *count)
{
    if (takes_part(all[threadIdx.x]))
        kept[atomicAdd(count, 1)] = all[threadIdx.x];
}

template <class T> __global__ void reverse(T *all, T *reversed)
{
    __shared__ T tile[COUNT];
    const int i = threadIdx.x;
    tile[i] = all[i];
    __syncthreads();
    const T mine = tile[COUNT - 1 - i];
    reversed[i] = mine;
}

// Through memory of the thread's own, by an index that is not known.
template <class T> __global__ void choose(const T *all, T *chosen, int which)
{
    T two[2] = {all[threadIdx.x], all[COUNT - 1 - threadIdx.x]};
    chosen[threadIdx.x] = two[which];
}

template <class T> __global__ void make(T *made)
{
    T mine;
    set(mine, threadIdx.x);
    made[threadIdx.x] = mine;
}

// By all threads together, word by word.
template <class T> __global__ void copy_words(const T *all, T *copies)
{
    enum { WORDS = COUNT * sizeof(T) / sizeof(int) };
    __shared__ int words[WORDS];
    for (int k = threadIdx.x; k < WORDS; k += COUNT)
        words[k] = ((const int *)all)[k];
    __syncthreads();
    for (int k = threadIdx.x; k < WORDS; k += COUNT)
        ((int *)copies)[k] = words[k];
}

template <class T> __global__ void count_those(const T *all, int *count)
{
    if (takes_part(all[threadIdx.x]))
        atomicAdd(count, 1);
}

template <class T> static T *allocated()
{
    return unwritten<T>(COUNT);
}

template <class T> static void run_words()
{
    T *first = allocated<T>(), *second = allocated<T>();
    int *count = zeros<int>(1);
    set_all<<<1, COUNT>>>(first);
    copy_words<<<1, COUNT>>>(first, second);
    count_those<<<1, COUNT>>>(second, count);
    fetch(second, COUNT);
    finish_and_free(first, second, count);
}

template <class T> static void run_structures()
{
    T *first = allocated<T>(), *second = allocated<T>();
    int *count = zeros<int>(1);
    set_all<<<1, COUNT>>>(first);
    keep_some<<<1, COUNT>>>(first, second, count);
    reverse<<<1, COUNT>>>(first, second);
    choose<<<1, COUNT>>>(second, first, 1);
    count_those<<<1, COUNT>>>(first, count);
    make<<<1, COUNT>>>(second);
    count_those<<<1, COUNT>>>(second, count);
    fetch(second, COUNT);
    finish_and_free(first, second, count);
}

// ---- The largest of a thread's values, which fill their array up one by one

enum { LARGEST = 4 };
struct Largest {
    int count;
    float values[LARGEST];
};

__global__ void find_largest(const int *numbers, Largest *found)
{
    Largest mine;
    mine.count = 0;
    for (int k = 0; k < (int)(threadIdx.x % 7); k++) {
        const float value = numbers[(threadIdx.x * 5 + k * 7) % COUNT];
        int place = mine.count < LARGEST ? mine.count++ : LARGEST - 1;
        for (; place > 0 && mine.values[place - 1] < value; place--)
            mine.values[place] = mine.values[place - 1];
        mine.values[place] = value;
    }
    found[threadIdx.x] = mine;
}

__global__ void add_largest(const Largest *found, float *sums)
{
    float sum = 0;
    for (int k = 0; k < found[threadIdx.x].count; k++)
        sum += found[threadIdx.x].values[k];
    sums[threadIdx.x] = sum;
}

static void run_largest()
{
    int *in = numbers(COUNT);
    Largest *found = allocated<Largest>();
    float *sums = zeros<float>(COUNT);
    find_largest<<<1, COUNT>>>(in, found);
    add_largest<<<1, COUNT>>>(found, sums);
    finish_and_free(in, found, sums);
}

// ---- Arrays of which all is set, or some, or nothing

struct Few {
    float values[4];
};

__global__ void keep_few(Few *all, float *sums)
{
    const int i = threadIdx.x, count = i % 5;
    Few mine;
    for (int k = 0; k < count; k++)
        mine.values[k] = k;
    all[i] = mine;
    float sum = 0;
    for (int k = 0; k < count; k++)
        sum += all[i].values[k];
    sums[i] = sum;
}

static void run_few()
{
    Few *all = allocated<Few>();
    float *sums = zeros<float>(COUNT);
    keep_few<<<1, COUNT>>>(all, sums);
    finish_and_free(all, sums);
}

// ---- The larger one of two structures with padding, which lie in variables of the block

__global__ void choose_winner(const int *numbers, Mixed *winner)
{
    __shared__ Mixed of_warps[COUNT / WARP];
    const int i = threadIdx.x;
    if (i % WARP == 0)
        set(of_warps[i / WARP], numbers[i]);
    __syncthreads();
    if (i == 0)
        *winner = of_warps[0].number > of_warps[1].number ? of_warps[0] : of_warps[1];
}

static void run_winner()
{
    int *in = numbers(COUNT);
    Mixed *winner = allocated<Mixed>(), host;
    choose_winner<<<1, COUNT>>>(in, winner);
    CUDA(cudaMemcpy(&host, winner, sizeof host, cudaMemcpyDeviceToHost));
    finish_and_free(in, winner);
}

// ---- A member that is not set where another one says so, changed where it is

struct Some {
    float value;
    int is_set;
    int times;
};

__global__ void set_somes(Some *all)
{
    Some &mine = all[threadIdx.x];
    mine.is_set = threadIdx.x % 2;
    if (mine.is_set)
        mine.value = mine.times = 1;
}

__global__ void change(const Some *all, Some *changed, int known)
{
    Some mine = all[threadIdx.x];
    if (mine.is_set)
        mine.value = -mine.value;
    mine.value = mine.is_set ? mine.value * 2 : mine.value;
    if ((int)threadIdx.x < known)
        mine.times = mine.times + 1;
    changed[threadIdx.x] = mine;
}

static void run_changed()
{
    Some *all = allocated<Some>(), *changed = allocated<Some>(), host[COUNT];
    set_somes<<<1, COUNT>>>(all);
    change<<<1, COUNT>>>(all, changed, 0);
    CUDA(cudaMemcpy(host, changed, sizeof host, cudaMemcpyDeviceToHost));
    finish_and_free(all, changed);
}

// ---- Vectors with an uninitialised fourth element; all are used in arithmetic

struct Vector {
    float x, y, z, w;
};

__device__ Vector operator+(Vector a, Vector b) { return {a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w}; }
__device__ Vector operator*(Vector a, float by) { return {a.x * by, a.y * by, a.z * by, a.w * by}; }

__global__ void set_vectors(Vector *all)
{
    all[threadIdx.x].x = all[threadIdx.x].y = threadIdx.x;
    all[threadIdx.x].z = 1;
}

__global__ void move_vectors(Vector *places, const Vector *speeds, float time)
{
    places[threadIdx.x] = places[threadIdx.x] + speeds[threadIdx.x] * time;
}

__global__ void find_heights(const Vector *places, int *heights, bool of_all)
{
    heights[threadIdx.x] = (of_all ? places[threadIdx.x].w : places[threadIdx.x].z) > 3;
}

static void run_vectors(bool of_all)
{
    Vector *places = allocated<Vector>(), *speeds = allocated<Vector>();
    int *heights = zeros<int>(COUNT);
    set_vectors<<<1, COUNT>>>(places);
    set_vectors<<<1, COUNT>>>(speeds);
    move_vectors<<<1, COUNT>>>(places, speeds, 2);
    move_vectors<<<1, COUNT>>>(places, speeds, 2);
    find_heights<<<1, COUNT>>>(places, heights, of_all);
    fetch(places, COUNT);
    fetch(heights, COUNT);
    finish_and_free(places, speeds, heights);
}

static void run_vectors_of_three() { run_vectors(false); }
static void run_vectors_of_four() { run_vectors(true); }

// ---- Structures in shared memory, written out word by word, and member by member into arrays

__global__ void make_in_block(Counted *out, int *counts, int *firsts)
{
    __shared__ Counted all[COUNT];
    enum { WORDS = sizeof all / sizeof(int) };
    set(all[threadIdx.x], threadIdx.x);
    __syncthreads();
    for (int k = threadIdx.x; k < WORDS; k += COUNT)
        ((int *)out)[k] = ((const int *)all)[k];
    counts[threadIdx.x] = all[COUNT - 1 - threadIdx.x].count;
    firsts[threadIdx.x] = all[COUNT - 1 - threadIdx.x].some[0];
}

__global__ void add_firsts(const Counted *all, const int *counts, const int *firsts, int *sums, int least)
{
    const int i = threadIdx.x;
    if (counts[i] >= least)
        sums[i] = firsts[i] + all[i].count;
}

static void run_block_of_structures(int least)
{
    Counted *all = allocated<Counted>();
    int *counts = allocated<int>(), *firsts = allocated<int>(), *sums = zeros<int>(COUNT);
    make_in_block<<<1, COUNT>>>(all, counts, firsts);
    add_firsts<<<1, COUNT>>>(all, counts, firsts, sums, least);
    fetch(all, COUNT);
    fetch(firsts, COUNT);
    fetch(sums, COUNT);
    finish_and_free(all, counts, firsts, sums);
}

static void run_from_block() { run_block_of_structures(1); }
static void run_from_block_asked() { run_block_of_structures(0); }

// ---- A ray's hit, of which nothing but `hit` is set where there is none

struct Hit {
    bool hit;
    float distance;
    float3 normal;
};

__device__ __noinline__ Hit trace(int i)
{
    Hit h;
    h.hit = false;
    if (i % 3 == 0) {
        h.hit = true;
        h.distance = i;
        h.normal = make_float3(0, 1, 0);
    }
    return h;
}

__global__ void trace_all(Hit *hits)
{
    const Hit mine = trace(threadIdx.x);
    hits[threadIdx.x] = mine;
}

__global__ void shade(const Hit *hits, float *image)
{
    const Hit h = hits[threadIdx.x];
    image[threadIdx.x] = h.hit ? h.distance * h.normal.y : 0;
}

static void run_hits()
{
    Hit *hits = allocated<Hit>();
    float *image = zeros<float>(COUNT);
    trace_all<<<1, COUNT>>>(hits);
    shade<<<1, COUNT>>>(hits, image);
    finish_and_free(hits, image);
}

// ---- A generator's state, of which curand_init leaves some unset

__global__ void seed(curandState *states)
{
    curand_init(1, threadIdx.x, 0, &states[threadIdx.x]);
}

__global__ void draw(curandState *states, float *out)
{
    curandState mine = states[threadIdx.x];
    out[threadIdx.x] = curand_uniform(&mine) + curand_normal(&mine);
    states[threadIdx.x] = mine;
}

static void run_states()
{
    curandState *states = allocated<curandState>();
    float *out = zeros<float>(COUNT);
    seed<<<1, COUNT>>>(states);
    draw<<<1, COUNT>>>(states, out);
    draw<<<1, COUNT>>>(states, out);
    finish_and_free(states, out);
}

// ---- Decided by what is known

__global__ void decide(const int *half, int *out, int known)
{
    const int i = threadIdx.x, value = half[i];
    int taken = (i < known) & (value > 3);
    taken += (i < known) * value;
    taken += value & -(i < known);
    if ((i >= known) | (value > 3))
        taken++;
    if (taken > 5)
        out[i] = taken;
}

static void run_decided(int known)
{
    int *half = allocated<int>(), *out = zeros<int>(COUNT);
    CUDA(cudaMemset(half, 1, COUNT / 2 * sizeof(int)));
    decide<<<1, COUNT>>>(half, out, known);
    finish_and_free(half, out);
}

static void run_decided_by_half() { run_decided(COUNT / 2); }
static void run_decided_by_more() { run_decided(COUNT / 2 + 1); }

// ---- What is computed for elements that are none, and thrown away: with branches, by functions of the library, in vectors over padding

__global__ void compute_all(const float *in, float *roots, float *logs, int *some, int count, int asked)
{
    const int i = threadIdx.x;
    const float value = in[i], root = value > 1 ? sqrtf(value) : -value, log = powf(logf(value + 1), value);
    if (i < asked)
        roots[i] = root;
    logs[i] = log;
    if (i < count && value > 1)
        some[i] = 1;
}

__global__ void double_vectors(float4 *all)
{
    float4 one = all[threadIdx.x];
    one.x *= 2, one.y *= 2, one.z *= 2, one.w *= 2;
    all[threadIdx.x] = one;
}

static void run_thrown_away(int asked)
{
    enum { SET = COUNT - 24 };
    float *in = unwritten<float>(COUNT), *roots = zeros<float>(COUNT), *logs = zeros<float>(COUNT);
    int *some = zeros<int>(COUNT);
    CUDA(cudaMemset(in, 1, SET * sizeof(float)));
    double_vectors<<<1, COUNT / 4>>>((float4 *)in);
    compute_all<<<1, COUNT>>>(in, roots, logs, some, SET, asked);
    fetch(in, SET);
    fetch(roots, COUNT);
    fetch(logs, SET);
    finish_and_free(in, roots, logs, some);
}

static void run_all_thrown_away() { run_thrown_away(COUNT - 24); }
static void run_one_not_thrown_away() { run_thrown_away(COUNT - 23); }

__global__ void mark_large(const int *half, int *marks)
{
    if (half[threadIdx.x] > 3)
        marks[threadIdx.x] = 1;
}

static void run_marked()
{
    int *half = unwritten<int>(COUNT), *marks = zeros<int>(COUNT);
    CUDA(cudaMemset(half, 1, COUNT / 2 * sizeof(int)));
    mark_large<<<1, COUNT>>>(half, marks);
    finish_and_free(half, marks);
}

// ---- Ranges, of which the empty ones have no begin

__global__ void set_ranges(int *begins, int *counts)
{
    counts[threadIdx.x] = threadIdx.x % 3;
    if (counts[threadIdx.x] > 0)
        begins[threadIdx.x] = threadIdx.x;
}

__global__ void add_ranges(const int *begins, const int *counts, int *sums, int more)
{
    const int begin = begins[threadIdx.x], end = begin + counts[threadIdx.x] + more;
    int sum = 0;
    for (int k = begin; k < end; k++)
        sum += k;
    sums[threadIdx.x] = sum;
}

template <int more> static void run_ranges()
{
    int *begins = allocated<int>(), *counts = allocated<int>(), *sums = allocated<int>();
    set_ranges<<<1, COUNT>>>(begins, counts);
    add_ranges<<<1, COUNT>>>(begins, counts, sums, more);
    fetch(sums, COUNT);
    finish_and_free(begins, counts, sums);
}

// ---- The same, where it is asked for

__global__ void set_most(Particle *all)
{
    all[threadIdx.x].at = make_float3(threadIdx.x, 1, 2);
    if (threadIdx.x != 40)
        all[threadIdx.x].alive = threadIdx.x % 3 == 0;
}

static void run_member_forgotten()
{
    Particle *first = allocated<Particle>(), *second = allocated<Particle>();
    int *count = zeros<int>(1);
    set_most<<<1, COUNT>>>(first);
    reverse<<<1, COUNT>>>(first, second);
    count_those<<<1, COUNT>>>(second, count);
    finish_and_free(first, second, count);
}

__global__ void add_one_more(const Counted *all, int *sums)
{
    int sum = 0;
    for (int k = 0; k <= all[threadIdx.x].count; k++)
        sum += all[threadIdx.x].some[k];
    sums[threadIdx.x] = sum;
}

static void run_one_more()
{
    Counted *first = allocated<Counted>(), *second = allocated<Counted>();
    int *sums = zeros<int>(COUNT);
    make<<<1, COUNT>>>(first);
    reverse<<<1, COUNT>>>(first, second);
    add_one_more<<<1, COUNT>>>(second, sums);
    fetch(sums, COUNT);
    finish_and_free(first, second, sums);
}

// The host gets uninitialised values, among other numbers.
__global__ void copy_numbers(const int *half, int *out)
{
    out[threadIdx.x] = half[COUNT - 1 - threadIdx.x];
}

static void run_numbers()
{
    int *half = allocated<int>(), *out = allocated<int>(), host[COUNT];
    CUDA(cudaMemset(half, 1, COUNT / 2 * sizeof(int)));
    copy_numbers<<<1, COUNT>>>(half, out);
    CUDA(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    finish_and_free(half, out);
}

// The same, copied on the device in between.
static void run_copied_twice()
{
    int *half = unwritten<int>(COUNT), *first = unwritten<int>(COUNT), *second = unwritten<int>(COUNT);
    CUDA(cudaMemset(half, 1, COUNT / 2 * sizeof(int)));
    copy_numbers<<<1, COUNT>>>(half, first);
    CUDA(cudaMemcpy(second, first, COUNT * sizeof(int), cudaMemcpyDeviceToDevice));
    fetch(second, COUNT);
    finish_and_free(half, first, second);
}

__global__ void copy_tile(int *out)
{
    __shared__ int tile[COUNT];
    if (threadIdx.x < COUNT / 2)
        tile[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = tile[COUNT - 1 - threadIdx.x];
}

static void run_tile()
{
    int *out = allocated<int>(), host[COUNT];
    copy_tile<<<1, COUNT>>>(out);
    CUDA(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    finish_and_free(out);
}

// Memory that comes back is another array.
__global__ void fill_half(int *out)
{
    if (threadIdx.x < COUNT / 2)
        out[threadIdx.x] = threadIdx.x;
}

static void run_again()
{
    int *half = allocated<int>(), *first = allocated<int>();
    copy_numbers<<<1, COUNT>>>(half, first);
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaFree(first));
    int *second = allocated<int>();
    fill_half<<<1, COUNT>>>(second);
    fetch(second, COUNT);
    finish_and_free(half, second);
}

// What was computed in vain is copied over.
__global__ void compute(const int *in, int *out)
{
    out[threadIdx.x] = 3 * in[threadIdx.x] + 1;
}

static void run_copied_over()
{
    int *in = allocated<int>(), *out = unwritten<int>(COUNT * sizeof(Wide));
    Wide *wide = allocated<Wide>();
    compute<<<1, COUNT>>>(in, out);
    set_all<<<1, COUNT>>>(wide);
    CUDA(cudaMemcpy(out, wide, COUNT * sizeof(Wide), cudaMemcpyDeviceToDevice));
    fetch((Wide *)out, COUNT);
    finish_and_free(in, out, wide);
}

// One byte of each word was computed from an uninitialised value, the next byte is a copy of it.
__global__ void store_bytes(const char *in, char *words, bool computed)
{
    const int i = 4 * threadIdx.x;
    if (computed)
        words[i + 1] = 3 * in[i] + 1;
    else
        words[i] = 1, words[i + 2] = in[i];
}

static void run_beside()
{
    char *in = unwritten<char>(4 * COUNT), *words = unwritten<char>(4 * COUNT);
    store_bytes<<<1, COUNT>>>(in, words, true);
    store_bytes<<<1, COUNT>>>(in, words, false);
    fetch(words, 4 * COUNT);
    finish_and_free(in, words);
}

// ---- Lanes and threads combine values, some of which were never written

enum Combination { ANY, ALL, BALLOT, MATCH_ANY, MATCH_ALL, REDUCE_ADD, REDUCE_OR, BLOCK_OR, BLOCK_AND, BLOCK_COUNT };

template <Combination combination> __device__ int combined(int value, unsigned lanes)
{
    switch (combination) {
    case ANY: return __any_sync(lanes, value > 0);
    case ALL: return __all_sync(lanes, value > 0);
    case BALLOT: return __ballot_sync(lanes, value > 0);
    case MATCH_ANY: return __match_any_sync(lanes, value) != 1u << threadIdx.x;
    case MATCH_ALL: {
        int all;
        return __match_all_sync(lanes, value, &all) && all;
    }
    case REDUCE_ADD: return __reduce_add_sync(lanes, value);
    case REDUCE_OR: return __reduce_or_sync(lanes, (unsigned)value);
    case BLOCK_OR: return __syncthreads_or(value > 0);
    case BLOCK_AND: return __syncthreads_and(value > 0);
    default: return __syncthreads_count(value > 0);
    }
}

// The first `set` words are written; `decides`: a thread has a value that decides the result.
template <Combination combination> __global__ void combine(const int *words, int set, bool decides, int *out)
{
    const int i = threadIdx.x;
    const bool of_lanes = combination < BLOCK_OR;
    const unsigned lanes = of_lanes && set < WARP ? (1u << set) - 1 : 0xffffffff;
    int value = words[i];
    if (decides && i == 3)
        value = combination == REDUCE_OR ? -1 : combination == MATCH_ALL ? 5 : combination == ANY || combination == BLOCK_OR;
    if (of_lanes && !(lanes >> i & 1))
        return;
    if (combined<combination>(value, lanes) != 0)
        out[i] = 1;
}

template <Combination combination, int count, bool decides> static void run_combined()
{
    int *words = unwritten<int>(WARP), *out = zeros<int>(WARP);
    CUDA(cudaMemset(words, combination == ALL || combination == BLOCK_AND, 16 * sizeof *words));
    combine<combination><<<1, WARP>>>(words, count, decides, out);
    finish_and_free(words, out);
}

// ---- A lock in shared memory, for which the lanes of a warp spin

template <bool initialised> __global__ void count_with_lock(int *count)
{
    __shared__ int lock;
    if (initialised && threadIdx.x == 0)
        lock = 0;
    __syncthreads();
    for (int turn = 0; turn < WARP; turn++)
        if (turn == threadIdx.x) {
            while (atomicCAS(&lock, 0, 1) != 0)
                continue;
            __threadfence_block();
            *count += 1;
            __threadfence_block();
            atomicExch(&lock, 0);
        }
}

template <bool initialised> static void run_lock()
{
    int *count = zeros<int>(1);
    count_with_lock<initialised><<<1, WARP>>>(count);
    cudaDeviceSynchronize(); // without the initialisation, the kernel may never end
    cudaFree(count);
}

int main(int argc, char **argv)
{
    static const Case cases[] = {
        {"padding", run_structures<Particle>},
        {"padding-after-half-a-word", run_structures<Mixed>},
        {"padding-after-a-byte", run_structures<Wide>},
        {"array-not-full", run_structures<Counted>},
        {"array-not-full-long", run_structures<Long>},
        {"union", run_structures<Tagged>},
        {"array-empty", run_few},
        {"winner", run_winner},
        {"memory-again", run_again},
        {"copied-over", run_copied_over},
        {"byte-beside-byte", run_beside},
        {"changed", run_changed},
        {"words", run_words<Counted>},
        {"words-with-padding", run_words<Wide>},
        {"largest", run_largest},
        {"hits", run_hits},
        {"vectors", run_vectors_of_three},
        {"vectors-of-four", run_vectors_of_four},
        {"from-block", run_from_block},
        {"from-block-asked", run_from_block_asked},
        {"generator", run_states},
        {"ranges", run_ranges<0>},
        {"ranges-one-more", run_ranges<1>},
        {"thrown-away", run_all_thrown_away},
        {"not-thrown-away", run_one_not_thrown_away},
        {"marked", run_marked},
        {"numbers-copied-twice", run_copied_twice},
        {"decided", run_decided_by_half},
        {"decided-not", run_decided_by_more},
        {"member-forgotten", run_member_forgotten},
        {"array-one-more", run_one_more},
        {"numbers", run_numbers},
        {"tile", run_tile},
        {"any-uninitialised", run_combined<ANY, WARP, false>},
        {"any-decided", run_combined<ANY, WARP, true>},
        {"all-uninitialised", run_combined<ALL, WARP, false>},
        {"all-decided", run_combined<ALL, WARP, true>},
        {"ballot-uninitialised", run_combined<BALLOT, WARP, false>},
        {"ballot-of-written", run_combined<BALLOT, 16, false>},
        {"match-any-uninitialised", run_combined<MATCH_ANY, WARP, false>},
        {"match-any-of-written", run_combined<MATCH_ANY, 16, false>},
        {"match-all-uninitialised", run_combined<MATCH_ALL, WARP, false>},
        {"match-all-decided", run_combined<MATCH_ALL, WARP, true>},
        {"lane-sum-uninitialised", run_combined<REDUCE_ADD, WARP, false>},
        {"lane-sum-of-written", run_combined<REDUCE_ADD, 16, false>},
        {"lane-or-uninitialised", run_combined<REDUCE_OR, WARP, false>},
        {"lane-or-decided", run_combined<REDUCE_OR, WARP, true>},
        {"block-or-uninitialised", run_combined<BLOCK_OR, WARP, false>},
        {"block-or-decided", run_combined<BLOCK_OR, WARP, true>},
        {"block-and-uninitialised", run_combined<BLOCK_AND, WARP, false>},
        {"block-and-decided", run_combined<BLOCK_AND, WARP, true>},
        {"block-count-uninitialised", run_combined<BLOCK_COUNT, WARP, false>},
        {"lock-initialised", run_lock<true>},
        {"lock-uninitialised", run_lock<false>},
    };
    return run_case(argc, argv, cases);
}
