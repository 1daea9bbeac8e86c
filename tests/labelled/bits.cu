// Words with some uninitialised bits: they are packed, used in arithmetic and unpacked again, and only the others are used
// for. And the same, where they are asked for.
#include "cases.h"

#include <cuda_fp16.h>

enum { COUNT = 64, WARP = 32, SET = 3, ALL = 4 }; // of a word's four bytes

// ---- Words with an uninitialised highest byte. An operation uses `count` bytes.

__device__ unsigned lowest(unsigned word, int count)
{
    return word & 0xffffffffu >> (32 - 8 * count);
}

__device__ int shift(unsigned word, int count)
{
    int sum = 0;
    for (int k = 0; k < count; k++)
        sum += word >> 8 * k & 255;
    return sum;
}

__device__ int divide(unsigned word, int count)
{
    int sum = 0;
    for (int k = 0; k < count; k++) {
        unsigned quotient, remainder; // nvcc shifts and masks where it optimises
        asm("div.u32 %0, %1, %2;" : "=r"(quotient) : "r"(word), "r"(1u << 8 * k));
        asm("rem.u32 %0, %1, 256;" : "=r"(remainder) : "r"(quotient));
        sum += remainder;
    }
    return sum;
}

__device__ int extract(unsigned word, int count)
{
    unsigned field;
    asm("bfe.u32 %0, %1, %2, 8;" : "=r"(field) : "r"(word), "r"(8 * (count - 1)));
    return (int)field;
}

__device__ int extract_with_sign(unsigned word, int count)
{
    int field;
    asm("bfe.s32 %0, %1, %2, 8;" : "=r"(field) : "r"(word), "r"(8 * (count - 1)));
    return field;
}

__device__ int insert(unsigned word, int count)
{
    unsigned all;
    asm("bfi.b32 %0, %1, 7, 24, %2;" : "=r"(all) : "r"(word), "r"(4 - count));
    return (int)lowest(all, SET);
}

__device__ int permute(unsigned word, int count)
{
    return (int)__byte_perm(word, 0, 0x4440 + count - 1);
}

__device__ int funnel(unsigned word, int count)
{
    return (int)lowest(__funnelshift_r(word, word, 8 * (count - 1)), 1);
}

__device__ int select_bits(unsigned word, int count)
{
    unsigned some;
    asm("lop3.b32 %0, %1, %2, 256, 0xea;" : "=r"(some) : "r"(word), "r"(lowest(~0u, count))); // word & mask | 256
    return (int)some;
}

__device__ int turn(unsigned word, int count)
{
    return (int)lowest((~word ^ 5) * 3 - (0u - word), count);
}

__device__ int multiply(unsigned word, int count)
{
    return (count - SET) * (int)(word >> 24) + (int)lowest(word, 1); // by 0 or 1
}

__device__ int weigh(unsigned word, int count)
{
    return (int)__dp4a(word, 0x01010101u >> 8 * (4 - count), 1u);
}

__device__ int brighten(unsigned word, int count)
{
    return (int)lowest(__vaddus4(word, 0x80808080u), count);
}

__device__ int compare(unsigned word, int count)
{
    return (int)(word << 8 * (4 - count)) < 0 ? 1 : 2;
}

__device__ int compare_with_sign(unsigned word, int count)
{
    return (int)(word >> 8 * (4 - count)) > 0xffffff ? 1 : 2;
}

__device__ int exchange(unsigned word, int count)
{
    unsigned most = lowest(word, 2);
    for (int apart = WARP / 2; apart > 0; apart /= 2) {
        const unsigned other = __shfl_xor_sync(~0u, word, apart);
        if (lowest(other, 2) > most) {
            most = lowest(other, 2);
            word = other;
        }
    }
    return (int)lowest(word, count);
}

__device__ int turn_by_twos(unsigned word, int count)
{
    __shared__ uint2 pairs[COUNT];
    pairs[threadIdx.x] = make_uint2(word, word + 1);
    __syncthreads();
    const uint2 pair = pairs[COUNT - 1 - threadIdx.x];
    return (int)(lowest(pair.x, count) + lowest(pair.y, count));
}

__device__ int add_up(unsigned word, int count)
{
    unsigned sum = word & 1;
#pragma unroll 1
    for (int k = 0; k < 2 + (word & 3); k++)
        sum += word; // one and the same register
    return (int)lowest(sum, count);
}

__device__ int turn_bytes(unsigned word, int count)
{
    __shared__ unsigned words[COUNT];
    words[threadIdx.x] = word;
    __syncthreads();
    const unsigned char *other = (const unsigned char *)&words[COUNT - 1 - threadIdx.x];
    int sum = 0;
#pragma unroll 1 // or nvcc loads four at a time
    for (int k = 0; k < count; k++)
        sum += other[k];
    return sum;
}

__global__ void set_bytes(unsigned char *bytes)
{
    for (int k = 0; k < SET; k++)
        bytes[4 * threadIdx.x + k] = (unsigned char)(threadIdx.x + k);
}

__device__ unsigned packed(const unsigned char *bytes)
{
    return bytes[0] | bytes[1] << 8 | bytes[2] << 16 | (unsigned)bytes[3] << 24;
}

template <int operation(unsigned, int)> __global__ void ask(const unsigned char *bytes, int *out, int count)
{
    out[threadIdx.x] = 1 + operation(packed(bytes + 4 * threadIdx.x), count); // more than a copy of it
}

template <int operation(unsigned, int), int count> static void run_on_bytes()
{
    unsigned char *bytes = unwritten<unsigned char>(4 * COUNT);
    int *out = zeros<int>(COUNT);
    set_bytes<<<1, COUNT>>>(bytes);
    ask<operation><<<1, COUNT>>>(bytes, out, count);
    fetch(out, COUNT);
    finish_and_free(bytes, out);
}

// ---- Bytes and words that become one and go to memory, from which they are asked for

__global__ void pack(const unsigned char *bytes, unsigned *words, unsigned long long *pairs)
{
    const int i = threadIdx.x, other = COUNT - 1 - i;
    words[i] = bytes[4 * i] | bytes[4 * other + 3] << 24;
    pairs[i] = (unsigned long long)bytes[4 * other + 3] << 32 | bytes[4 * i];
}

__global__ void ask_packed(const unsigned char *bytes, const unsigned long long *pairs, int *count)
{
    if (bytes[4 * threadIdx.x] > 3 && (unsigned)pairs[threadIdx.x] > 3)
        atomicAdd(count, 1);
}

static void run_packed()
{
    unsigned char *bytes = unwritten<unsigned char>(4 * COUNT);
    unsigned *words = unwritten<unsigned>(COUNT);
    unsigned long long *pairs = unwritten<unsigned long long>(COUNT);
    int *count = zeros<int>(1);
    set_bytes<<<1, COUNT>>>(bytes);
    pack<<<1, COUNT>>>(bytes, words, pairs);
    ask_packed<<<1, COUNT>>>((const unsigned char *)words, pairs, count);
    finish_and_free(bytes, words, pairs, count);
}

// ---- Bytes with uninitialised upper halves, stored in shared memory in one width and read in another

__device__ unsigned last_byte(unsigned word) { return word >> 24; }
__device__ unsigned last_byte(uchar4 bytes) { return bytes.w; }
__device__ unsigned last_byte(uint2 words) { return words.y >> 24; }

template <class Stored, class Read> __global__ void ask_in_width(const unsigned *numbers, unsigned mask, int *count)
{
    __shared__ __align__(8) unsigned char bytes[4 * COUNT];
    const unsigned word = (numbers[threadIdx.x] & 0xf0f0f0f0) | 0x05050505;
    for (int k = 0; k < 4; k += sizeof(Stored))
        *(volatile Stored *)&bytes[4 * threadIdx.x + k] = (Stored)(k == 0 ? word : word >> 8 * k);
    __syncthreads();
    const Read read = ((const Read *)bytes)[(COUNT - 1 - threadIdx.x) * 4 / sizeof(Read)];
    if (last_byte(read) & mask)
        atomicAdd(count, 1);
}

enum { LOWER_HALF = 15, UPPER_HALF = 240 };

template <class Stored, class Read, int mask> static void run_in_width()
{
    unsigned *numbers = unwritten<unsigned>(COUNT);
    int *count = zeros<int>(1);
    ask_in_width<Stored, Read><<<1, COUNT>>>(numbers, mask, count);
    finish_and_free(numbers, count);
}

// ---- Bit fields of one word, of which one is set in some threads only: nvcc chooses between two words

struct Fields {
    unsigned kind : 3, level : 5, count : 8;
};

__global__ void choose_fields(int *sums)
{
    __shared__ Fields fields[COUNT];
    const int i = threadIdx.x;
    fields[i].kind = i;
    fields[i].count = i;
    if (i & 1)
        fields[i].level = 3;
    __syncthreads();
    sums[i] = fields[COUNT - 1 - i].kind + fields[COUNT - 1 - i].count;
}

static void run_fields()
{
    int *sums = zeros<int>(COUNT);
    choose_fields<<<1, COUNT>>>(sums);
    finish_and_free(sums);
}

// ---- Halves, two at a time; the very last one is uninitialised

__global__ void double_halves(const __half *in, float *out, int count, int asked)
{
    __shared__ __half tile[2 * COUNT];
    const int first = 2 * threadIdx.x, second = first + 1;
    for (int k = threadIdx.x; k < count; k += COUNT)
        tile[k] = in[k];
    __syncthreads();
    const __half2 twice = __hmul2(__halves2half2(tile[first], tile[second]), __float2half2_rn(2));
    if (first < asked)
        out[first] = __low2float(twice);
    if (second < asked)
        out[second] = __high2float(twice);
}

static void run_halves(int asked)
{
    enum { HALVES = 2 * COUNT - 1 };
    __half *in = zeros<__half>(HALVES);
    float *out = zeros<float>(HALVES + 1);
    double_halves<<<1, COUNT>>>(in, out, HALVES, asked);
    fetch(out, HALVES + 1);
    finish_and_free(in, out);
}

static void run_odd_halves() { run_halves(2 * COUNT - 1); }
static void run_even_halves() { run_halves(2 * COUNT); }

// ---- Atomic operations on words, of which one half is set

struct Cell {
    unsigned short count, unused;
};

__global__ void clear_counts(Cell *cells)
{
    cells[threadIdx.x].count = 0;
}

// By an exchange, if no other thread has written in between; by a sum; and together with uninitialised bits, as one word.
__global__ void count_up(Cell *cells, unsigned long long *pairs)
{
    unsigned *word = (unsigned *)&cells[threadIdx.x % 8], before = *(volatile unsigned *)word, expected;
    do {
        expected = before;
        before = atomicCAS(word, expected, (expected & 0xffff0000u) | ((expected + 1) & 0xffff));
    } while (before != expected);
    atomicAdd(word + 8, 1);
    atomicExch(&pairs[threadIdx.x], (unsigned long long)cells[16 + threadIdx.x].unused << 32 | threadIdx.x);
}

static void run_counters()
{
    Cell *cells = unwritten<Cell>(16 + COUNT);
    unsigned long long *pairs = zeros<unsigned long long>(COUNT);
    clear_counts<<<1, 16>>>(cells);
    count_up<<<2, COUNT>>>(cells, pairs);
    finish_and_free(cells, pairs);
}

__global__ void count_words(unsigned *words)
{
    atomicAdd(&words[threadIdx.x % 8], 1);
}

static void run_counters_not_cleared()
{
    unsigned *words = unwritten<unsigned>(8);
    count_words<<<2, COUNT>>>(words);
    finish_and_free(words);
}

// ---- A bitmap that was never cleared

__global__ void mark_bits(unsigned *map, const int *which, int *count)
{
    const unsigned before = map[threadIdx.x];
    map[threadIdx.x] = before | 1u << which[threadIdx.x] % 32;
    if (map[threadIdx.x] & 4)
        atomicAdd(count, 1);
}

static void run_map()
{
    unsigned *map = unwritten<unsigned>(COUNT);
    int *which = numbers(COUNT), *count = zeros<int>(1);
    mark_bits<<<1, COUNT>>>(map, which, count);
    finish_and_free(map, which, count);
}

int main(int argc, char **argv)
{
    static const Case cases[] = {
        {"packed", run_packed},
        {"fields", run_fields},
        {"bytes-as-word", run_in_width<unsigned char, unsigned, LOWER_HALF>},
        {"bytes-as-word-all", run_in_width<unsigned char, unsigned, UPPER_HALF>},
        {"word-as-bytes", run_in_width<unsigned, uchar4, LOWER_HALF>},
        {"word-as-bytes-all", run_in_width<unsigned, uchar4, UPPER_HALF>},
        {"words-as-pair", run_in_width<unsigned, uint2, LOWER_HALF>},
        {"words-as-pair-all", run_in_width<unsigned, uint2, UPPER_HALF>},
        {"divided", run_on_bytes<divide, SET>},
        {"divided-all", run_on_bytes<divide, ALL>},
        {"halves-odd", run_odd_halves},
        {"halves-even", run_even_halves},
        {"counters", run_counters},
        {"counters-not-cleared", run_counters_not_cleared},
        {"map-of-bits", run_map},
        {"shifted", run_on_bytes<shift, SET>},
        {"shifted-all", run_on_bytes<shift, ALL>},
        {"extracted", run_on_bytes<extract, SET>},
        {"extracted-all", run_on_bytes<extract, ALL>},
        {"extracted-with-sign", run_on_bytes<extract_with_sign, SET>},
        {"extracted-with-sign-all", run_on_bytes<extract_with_sign, ALL>},
        {"inserted", run_on_bytes<insert, SET>},
        {"permuted", run_on_bytes<permute, SET>},
        {"permuted-all", run_on_bytes<permute, ALL>},
        {"funnelled", run_on_bytes<funnel, SET>},
        {"funnelled-all", run_on_bytes<funnel, ALL>},
        {"selected", run_on_bytes<select_bits, SET>},
        {"selected-all", run_on_bytes<select_bits, ALL>},
        {"turned", run_on_bytes<turn, SET>},
        {"turned-all", run_on_bytes<turn, ALL>},
        {"multiplied", run_on_bytes<multiply, SET>},
        {"multiplied-all", run_on_bytes<multiply, ALL>},
        {"weighed", run_on_bytes<weigh, SET>},
        {"weighed-all", run_on_bytes<weigh, ALL>},
        {"brightened", run_on_bytes<brighten, SET>},
        {"brightened-all", run_on_bytes<brighten, ALL>},
        {"compared", run_on_bytes<compare, SET>},
        {"compared-all", run_on_bytes<compare, ALL>},
        {"compared-with-sign", run_on_bytes<compare_with_sign, SET>},
        {"compared-with-sign-all", run_on_bytes<compare_with_sign, ALL>},
        {"exchanged", run_on_bytes<exchange, SET>},
        {"exchanged-all", run_on_bytes<exchange, ALL>},
        {"by-twos", run_on_bytes<turn_by_twos, SET>},
        {"added-up", run_on_bytes<add_up, SET>},
        {"added-up-all", run_on_bytes<add_up, ALL>},
        {"by-bytes", run_on_bytes<turn_bytes, SET>},
        {"by-bytes-all", run_on_bytes<turn_bytes, ALL>},
    };
    return run_case(argc, argv, cases);
}
