// tensor_cores.cu: results of tensor cores, in hexadecimal: the layout of fragments, products of numbers of differing
// magnitude, sums that show the rounding, ldmatrix and similar. tensor_cores.h200.txt is the output of an H200.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <type_traits>

#include "../programs/check.h"

namespace wmma = nvcuda::wmma;
using Row = wmma::row_major;
using Col = wmma::col_major;
using Tf32 = wmma::precision::tf32;

// ---- Numbers: the same in every run

static uint32_t state;

static uint32_t next()
{
    state = state * 1664525u + 1013904223u;
    uint32_t x = state;
    x = (x ^ x >> 15) * 0x2c1b3c6du;
    x = (x ^ x >> 12) * 0x297a2d39u;
    return x ^ x >> 15;
}

// Numbers near 1; from a wide range; all, including 0, subnormals, infinities and NaN.
enum Kind { NEAR, WIDE, ALL };

static uint64_t random_float(int exponent_bits, int fraction_bits, Kind kind, int near, int wide)
{
    const uint64_t most = (1ull << exponent_bits) - 1, high = next(), low = next(), sign = next() & 1;
    const int range = kind == NEAR ? near : wide;
    uint64_t fraction = (high << 32 | low) & ((1ull << fraction_bits) - 1);
    uint64_t exponent = (most >> 1) - range + next() % (2 * range + 1);
    if (kind == ALL) {
        const uint32_t which = next() % 64;
        if (which < 8)
            exponent = fraction = 0;
        else if (which < 14)
            exponent = 0;
        else if (which < 15)
            exponent = most, fraction = 0;
        else if (which == 15 && next() % 2)
            exponent = most;
        else if (which < 26)
            exponent = 1 + next() % (most - 1);
    }
    return sign << (exponent_bits + fraction_bits) | exponent << fraction_bits | fraction;
}

enum Type { F16, BF16, TF32, CUT, F32, F64, S8, S32 }; // CUT: tf32 with extra low bits, which are ignored

static uint64_t random_bits(Type type, Kind kind)
{
    switch (type) {
    case F16: return random_float(5, 10, kind, 3, 12);
    case BF16: return random_float(8, 7, kind, 3, 25);
    case TF32: return random_float(8, 10, kind, 3, 25) << 13;
    case CUT: return random_float(8, 23, kind, 3, 25);
    case F32: return random_float(8, 23, kind, 5, 30);
    case F64: return random_float(11, 52, kind, 3, 60);
    case S8: return next() & 255;
    default: break;
    }
    if (kind != ALL)
        return next() % 200001 - 100000;
    return next() & 1 ? 0x7fffffff - next() % 50000 : 0x80000000u + next() % 50000; // values whose sums saturate
}

static int bytes_of(Type type)
{
    return type == S8 ? 1 : type == F16 || type == BF16 ? 2 : type == F64 ? 8 : 4;
}

static void fill(void *to, int count, Type type, Kind kind)
{
    for (int i = 0; i < count; i++) {
        const uint64_t bits = random_bits(type, kind);
        memcpy((char *)to + i * bytes_of(type), &bits, bytes_of(type));
    }
}

static void print_values(const void *values, int count, int bytes, int a_line)
{
    for (int i = 0; i < count; i++) {
        uint64_t bits = 0;
        memcpy(&bits, (const char *)values + i * bytes, bytes);
        printf("%s%0*llx", i % a_line ? " " : i ? "\n  " : "  ", 2 * bytes, (unsigned long long)bits);
    }
    puts("");
}

// ---- Layouts: the matrix element of each x[i]

template <class Fragment, class T> static __device__ void dump(const Fragment &f, T *out, int *count)
{
    for (int i = 0; i < f.num_elements; i++)
        out[i * 32 + threadIdx.x] = f.x[i];
    *count = f.num_elements;
}

template <class Use, int M, int N, int K, class T, class Stored, class Order>
__global__ void factor_layout(const Stored *in, Stored *out, int stride, int *count)
{
    __shared__ __align__(128) Stored copy[1024];
    wmma::fragment<Use, M, N, K, T, Order> f, from_shared;
    wmma::load_matrix_sync(f, in, stride);
    dump(f, out, count);
    for (int i = threadIdx.x; i < 1024; i += 32)
        copy[i] = in[i];
    __syncwarp();
    wmma::load_matrix_sync(from_shared, copy, stride);
    bool same = true;
    for (int i = 0; i < f.num_elements; i++)
        same &= float(f.x[i]) == float(from_shared.x[i]);
    if (!__all_sync(~0u, same))
        *count = -1;
}

template <int M, int N, int K, class T> __global__ void sum_layout(const T *in, T *out, int stride, wmma::layout_t order, int *count)
{
    wmma::fragment<wmma::accumulator, M, N, K, T> f;
    wmma::load_matrix_sync(f, in, stride, order);
    dump(f, out, count);
}

// Element r.c has the value r * columns + c; for bytes two runs determine its multiple of 100 and the rest.
template <class T, class Launch> static void layout(int rows, int columns, bool by_rows, Launch launch)
{
    T *in = managed<T>(1024), *out = managed<T>(32 * 16);
    int *count = managed<int>(1), found[32 * 16] = {};
    const int stride = ((by_rows ? columns : rows) + 31) / 16 * 16, base = sizeof(T) == 1 ? 100 : rows * columns;
    for (int weight = 1; weight < rows * columns; weight *= base) {
        for (int r = 0; r < rows; r++)
            for (int c = 0; c < columns; c++)
                in[by_rows ? r * stride + c : c * stride + r] = T((float)((r * columns + c) / weight % base));
        launch(in, out, stride, count);
        CUDA(cudaDeviceSynchronize());
        for (int i = 0; i < *count * 32; i++)
            found[i] += weight * (int)(float)out[i];
    }
    printf("%d elements\n", *count);
    for (int lane = 0; lane < 32; lane++) {
        printf("%s", lane % 4 ? " |" : " ");
        for (int i = 0; i < *count; i++)
            printf(" %d.%d", found[i * 32 + lane] / columns, found[i * 32 + lane] % columns);
        printf("%s", lane % 4 == 3 ? "\n" : "");
    }
    CUDA(cudaFree(in));
    CUDA(cudaFree(out));
    CUDA(cudaFree(count));
}

template <class Use, class Order, int M, int N, int K, class T, class Stored> static void layout_of_factor(const char *name)
{
    const bool a = std::is_same<Use, wmma::matrix_a>::value, by_rows = std::is_same<Order, Row>::value;
    printf("layout %s %s %dx%dx%d %s: ", name, a ? "a" : "b", M, N, K, by_rows ? "row" : "col");
    layout<Stored>(a ? M : K, a ? K : N, by_rows, [](Stored *in, Stored *out, int stride, int *count) {
        factor_layout<Use, M, N, K, T, Stored, Order><<<1, 32>>>(in, out, stride, count);
    });
}

template <int M, int N, int K, class T, class Stored> static void layouts_of_factors(const char *name)
{
    layout_of_factor<wmma::matrix_a, Row, M, N, K, T, Stored>(name);
    layout_of_factor<wmma::matrix_a, Col, M, N, K, T, Stored>(name);
    layout_of_factor<wmma::matrix_b, Row, M, N, K, T, Stored>(name);
    layout_of_factor<wmma::matrix_b, Col, M, N, K, T, Stored>(name);
}

template <int M, int N, int K, class T> static void layouts_of_sums(const char *name)
{
    for (const auto order : {wmma::mem_row_major, wmma::mem_col_major}) {
        printf("layout %s c %dx%dx%d %s: ", name, M, N, K, order == wmma::mem_row_major ? "row" : "col");
        layout<T>(M, N, order == wmma::mem_row_major, [order](T *in, T *out, int stride, int *count) {
            sum_layout<M, N, K, T><<<1, 32>>>(in, out, stride, order, count);
        });
    }
}

// ---- Products by wmma, stored row-major

template <int M, int N, int K, class T, class Stored, class C, class D>
__global__ void product(const Stored *a, const Stored *b, const C *c, D *d, bool saturate)
{
    wmma::fragment<wmma::matrix_a, M, N, K, T, Row> fa;
    wmma::fragment<wmma::matrix_b, M, N, K, T, Col> fb;
    wmma::fragment<wmma::accumulator, M, N, K, C> fc;
    wmma::fragment<wmma::accumulator, M, N, K, D> fd;
    wmma::load_matrix_sync(fa, a, K);
    wmma::load_matrix_sync(fb, b, K);
    wmma::load_matrix_sync(fc, c, N, wmma::mem_row_major);
    if constexpr (std::is_same<D, int>::value) {
        if (saturate)
            wmma::mma_sync(fd, fa, fb, fc, true);
        else
            wmma::mma_sync(fd, fa, fb, fc);
    } else {
        wmma::mma_sync(fd, fa, fb, fc);
    }
    wmma::store_matrix_sync(d, fd, N, wmma::mem_row_major);
}

using Kinds = std::initializer_list<Kind>;

template <int M, int N, int K, class T, class Stored, class C, class D>
static void products(const char *name, Type factor, Type summand, Kinds kinds)
{
    Stored *a = managed<Stored>(M * K), *b = managed<Stored>(N * K);
    C *c = managed<C>(M * N);
    D *d = managed<D>(M * N);
    for (const Kind kind : kinds) {
        state = 12345 + kind;
        fill(a, M * K, factor, kind);
        fill(b, N * K, factor, kind);
        fill(c, M * N, summand, kind);
        product<M, N, K, T, Stored, C, D><<<1, 32>>>(a, b, c, d, kind == ALL);
        CUDA(cudaDeviceSynchronize());
        printf("wmma %s %dx%dx%d kind %d\n", name, M, N, K, kind);
        print_values(d, M * N, sizeof(D), sizeof(D) < 4 ? 16 : 64 / sizeof(D));
    }
}

// ---- Products by mma.sync, with registers loaded directly from memory

template <class T, int N> static __device__ void take(T (&registers)[N], const void *from)
{
    for (int i = 0; i < N; i++)
        registers[i] = ((const T *)from)[i * 32 + threadIdx.x];
}

template <class T, int N> static __device__ void give(const T (&registers)[N], void *to)
{
    for (int i = 0; i < N; i++)
        ((T *)to)[i * 32 + threadIdx.x] = registers[i];
}

#define ONE(constraint, r) constraint(r[0])
#define TWO(constraint, r) constraint(r[0]), constraint(r[1])
#define FOUR(constraint, r) TWO(constraint, r), constraint(r[2]), constraint(r[3])
#define EIGHT(constraint, r) FOUR(constraint, r), constraint(r[4]), constraint(r[5]), constraint(r[6]), constraint(r[7])

// The number of registers of D, A and B.
#define D2_A1_B1 " {%0,%1}, {%2}, {%3}, {%0,%1};"
#define D2_A2_B1 " {%0,%1}, {%2,%3}, {%4}, {%0,%1};"
#define D2_A4_B2 " {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%0,%1};"
#define D4_A2_B1 " {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
#define D4_A4_B2 " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
#define D4_A8_B4 " {%0,%1,%2,%3}, {%4,%5,%6,%7,%8,%9,%10,%11}, {%12,%13,%14,%15}, {%0,%1,%2,%3};"

#define MMA(name, instruction, registers, S, nd, outputs, T, na, nb, ...)                        \
    __global__ void name(const void *all_a, const void *all_b, const void *all_c, void *all_d)   \
    {                                                                                            \
        T a[na], b[nb];                                                                          \
        S d[nd];                                                                                 \
        take(a, all_a);                                                                          \
        take(b, all_b);                                                                          \
        take(d, all_c);                                                                          \
        asm volatile("mma.sync.aligned." instruction registers : outputs : __VA_ARGS__);         \
        give(d, all_d);                                                                          \
    }
#define MMA_SMALL(name, instruction, S, s, T, t) MMA(name, instruction, D2_A1_B1, S, 2, TWO(s, d), T, 1, 1, ONE(t, a), ONE(t, b))
#define MMA_HALF(name, instruction, S, s, T, t) MMA(name, instruction, D4_A2_B1, S, 4, FOUR(s, d), T, 2, 1, TWO(t, a), ONE(t, b))
#define MMA_FULL(name, instruction, S, s, T, t) MMA(name, instruction, D4_A4_B2, S, 4, FOUR(s, d), T, 4, 2, FOUR(t, a), TWO(t, b))

MMA_HALF(half8, "m16n8k8.row.col.f32.f16.f16.f32", float, "+f", unsigned, "r")
MMA_FULL(half16, "m16n8k16.row.col.f32.f16.f16.f32", float, "+f", unsigned, "r")
MMA(halves8, "m16n8k8.row.col.f16.f16.f16.f16", D2_A2_B1, unsigned, 2, TWO("+r", d), unsigned, 2, 1, TWO("r", a), ONE("r", b))
MMA(halves16, "m16n8k16.row.col.f16.f16.f16.f16", D2_A4_B2, unsigned, 2, TWO("+r", d), unsigned, 4, 2, FOUR("r", a), TWO("r", b))
MMA_HALF(brain8, "m16n8k8.row.col.f32.bf16.bf16.f32", float, "+f", unsigned, "r")
MMA_FULL(brain16, "m16n8k16.row.col.f32.bf16.bf16.f32", float, "+f", unsigned, "r")
MMA_HALF(tf4, "m16n8k4.row.col.f32.tf32.tf32.f32", float, "+f", unsigned, "r")
MMA_FULL(tf8, "m16n8k8.row.col.f32.tf32.tf32.f32", float, "+f", unsigned, "r")
MMA_SMALL(double8_4, "m8n8k4.row.col.f64.f64.f64.f64", double, "+d", double, "d")
MMA_HALF(double16_4, "m16n8k4.row.col.f64.f64.f64.f64", double, "+d", double, "d")
MMA_FULL(double16_8, "m16n8k8.row.col.f64.f64.f64.f64", double, "+d", double, "d")
MMA(double16_16, "m16n8k16.row.col.f64.f64.f64.f64", D4_A8_B4, double, 4, FOUR("+d", d), double, 8, 4, EIGHT("d", a), FOUR("d", b))
MMA_SMALL(byte8, "m8n8k16.row.col.s32.s8.s8.s32", int, "+r", unsigned, "r")
MMA_SMALL(byte8_limited, "m8n8k16.row.col.satfinite.s32.u8.s8.s32", int, "+r", unsigned, "r")
MMA_HALF(byte16, "m16n8k16.row.col.s32.s8.u8.s32", int, "+r", unsigned, "r")
MMA_FULL(byte32, "m16n8k32.row.col.s32.u8.u8.s32", int, "+r", unsigned, "r")
MMA_FULL(byte32_limited, "m16n8k32.row.col.satfinite.s32.s8.s8.s32", int, "+r", unsigned, "r")

// With the given numbers of registers of A, B and D; elements of fewer than 32 bits share a register.
static void mma(const char *name, void (*kernel)(const void *, const void *, const void *, void *), Type factor, Type sum, int a, int b,
                int d, Kinds kinds)
{
    const int register_bytes = sum == F64 ? 8 : 4; // of all three
    char *memory[4];
    for (char *&m : memory)
        m = managed<char>(8 * 32 * 8);
    for (const Kind kind : kinds) {
        state = 777 + kind;
        fill(memory[0], a * 32 * register_bytes / bytes_of(factor), factor, kind);
        fill(memory[1], b * 32 * register_bytes / bytes_of(factor), factor, kind);
        fill(memory[2], d * 32 * register_bytes / bytes_of(sum), sum, kind);
        kernel<<<1, 32>>>(memory[0], memory[1], memory[2], memory[3]);
        CUDA(cudaDeviceSynchronize());
        printf("mma %s kind %d\n", name, kind);
        print_values(memory[3], d * 32, register_bytes, 64 / register_bytes);
    }
}

// ---- Sums that show the rounding, in the first element of D; all others are 0

__global__ void first_element(const float *a, const float *b, float c, uint32_t *out)
{
    const int t = threadIdx.x % 4;
    const bool first = threadIdx.x < 4; // lanes with row 0 of A and column 0 of B
    __half2 half[2][2];
    __nv_bfloat162 brain[2][2];
    unsigned tf[2][2];
    for (int i = 0; i < 2; i++)
        for (int which = 0; which < 2; which++) {
            const float *from = which ? b : a;
            const float x = first ? from[8 * i + 2 * t] : 0, y = first ? from[8 * i + 2 * t + 1] : 0;
            half[which][i] = __floats2half2_rn(x, y);
            brain[which][i] = __floats2bfloat162_rn(x, y);
            tf[which][i] = first ? __float_as_uint(from[4 * i + t]) : 0;
        }
    const __half2 half_c = __floats2half2_rn(c, 0);
    float d[4] = {c, 0, 0, 0}, e[4] = {c, 0, 0, 0}, f[4] = {c, 0, 0, 0};
    unsigned h[2] = {*(const unsigned *)&half_c, 0};
    const unsigned *ha = (unsigned *)half[0], *hb = (unsigned *)half[1], *ba = (unsigned *)brain[0], *bb = (unsigned *)brain[1];
#define FIRST_LINE(a) "r"(a[0]), "r"(0), "r"(a[1]), "r"(0)
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32" D4_A4_B2 : FOUR("+f", d) : FIRST_LINE(ha), TWO("r", hb));
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16" D2_A4_B2 : TWO("+r", h) : FIRST_LINE(ha), TWO("r", hb));
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32" D4_A4_B2 : FOUR("+f", e) : FIRST_LINE(ba), TWO("r", bb));
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32" D4_A4_B2 : FOUR("+f", f) : FIRST_LINE(tf[0]), TWO("r", tf[1]));
    if (threadIdx.x == 0) {
        out[0] = __float_as_uint(d[0]);
        out[1] = h[0] & 0xffff;
        out[2] = __float_as_uint(e[0]);
        out[3] = __float_as_uint(f[0]);
    }
}

#define FOUR_OF(x) x, x, x, x
#define EIGHT_OF(x) FOUR_OF(x), FOUR_OF(x)
static const struct { float c, a[16], b[16]; } SUMS[] = { // c + a[0] b[0] + a[1] b[1] + ...
    {1, {0x1p-12f}, {0x1p-12f}}, {1, {0x1p-12f, 0x1p-12f}, {0x1p-12f, 0x1p-12f}}, {1, {-0x1p-12f}, {0x1p-13f}},
    {1, {FOUR_OF(0x1p-12f)}, {FOUR_OF(0x1p-13f)}}, {1, {EIGHT_OF(0x1p-13f)}, {EIGHT_OF(0x1p-13f)}},
    {1, {EIGHT_OF(0x1p-13f)}, {EIGHT_OF(0x1p-14f)}}, {-1, {0x1p-13f}, {0x1p-13f}}, {1, {-0x1p-13f}, {0x1p-13f}},
    {1, {-0x1p-13f}, {0x1p-14f}}, {0, {1.5f, -1.5f}, {1.5f, 1.5f}}, {-0.0f, {-0.0f}, {1}}, {-0.0f, {0}, {0}},
    {0, {512, 0x1p-8f}, {512, 0x1p-8f}}, {0, {512, 0x1p-8f, -512}, {512, 0x1p-8f, 512}},
    {0, {512, 0, 0, 0, 0, 0, 0, 0, 0x1p-4f}, {512, 0, 0, 0, 0, 0, 0, 0, 0x1p-4f}},
    {0, {512, 0, 0, 0, 0, 0, 0, 0, 0x1p-4f, -512}, {512, 0, 0, 0, 0, 0, 0, 0, 0x1p-4f, 512}},
    {0x1.fffffep127f, {1}, {1}}, {0x1.fffffep127f, {0x1p15f, 0x1p15f}, {0x1p15f, 0x1p15f}}, {65504, {16, 8}, {1, 1}},
    {65504, {15}, {1}}, {0x1p-149f, {0x1p-24f}, {0x1p-24f}}, {0, {0x1p-24f}, {0x1p-24f}}, {0, {0x1p-70f}, {0x1p-70f}},
    {0x1p-149f, {0x1p-70f}, {0x1p-79f}}, {0, {0x1p-75f}, {0x1p-75f}}, {0, {FOUR_OF(0x1p-75f)}, {FOUR_OF(0x1p-76f)}},
    {0, {EIGHT_OF(0x1p-75f)}, {EIGHT_OF(0x1p-77f)}}, {INFINITY, {1}, {1}}, {-INFINITY, {INFINITY}, {1}},
    {0, {INFINITY}, {0}}, {NAN, {1}, {1}}, {0, {-INFINITY}, {2}}, {0, {0x1p127f, -0x1p127f}, {0x1p127f, 0x1p127f}},
    {0, {0x1p127f}, {0x1p127f}}, {0, {-0x1p64f}, {0x1p64f}}, {-0x1.fffffep127f, {-0x1p80f}, {0x1p23f}},
    {1, {1.0009765625f}, {1.0009765625f}}, {1, {1.00097668170928955f}, {1}},
};

static void sums()
{
    float *a = managed<float>(16), *b = managed<float>(16);
    uint32_t *out = managed<uint32_t>(4);
    puts("sums: half, half in half, bf16, tf32");
    for (const auto &sum : SUMS) {
        memcpy(a, sum.a, sizeof sum.a);
        memcpy(b, sum.b, sizeof sum.b);
        first_element<<<1, 32>>>(a, b, sum.c, out);
        CUDA(cudaDeviceSynchronize());
        printf("  %d: %08x %04x %08x %08x\n", (int)(&sum - SUMS), out[0], out[1], out[2], out[3]);
    }
}

// ---- ldmatrix, stmatrix, movmatrix, cvt

static __device__ unsigned shared_address(const void *at)
{
    return (unsigned)__cvta_generic_to_shared(at);
}

__global__ void move_rows(uint32_t *loaded, uint16_t *stored)
{
    __shared__ __align__(128) uint16_t in[32 * 24], back[6][256];
    const int l = threadIdx.x;
    for (int i = l; i < 32 * 24; i += 32)
        in[i] = i;
    for (int i = l; i < 6 * 256; i += 32)
        back[0][i] = 0xeeee;
    __syncwarp();
    const unsigned row = shared_address(&in[(l * 7 + 3) % 32 * 24 + 8]);
    unsigned r[15], to[6];
#define LOAD(options, list, ...) asm volatile("ldmatrix.sync.aligned.m8n8." options ".shared.b16 " list ";" : __VA_ARGS__ : "r"(row))
    LOAD("x1", "{%0}, [%1]", ONE("=r", r));
    LOAD("x2", "{%0,%1}, [%2]", TWO("=r", (r + 1)));
    LOAD("x4", "{%0,%1,%2,%3}, [%4]", FOUR("=r", (r + 3)));
    LOAD("x1.trans", "{%0}, [%1]", ONE("=r", (r + 7)));
    LOAD("x2.trans", "{%0,%1}, [%2]", TWO("=r", (r + 8)));
    LOAD("x4.trans", "{%0,%1,%2,%3}, [%4]", FOUR("=r", (r + 10)));
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(r[14]) : "r"(r[0]));
    give(r, loaded);
    for (int i = 0; i < 6; i++)
        to[i] = shared_address(&back[i][(l * 5 + 1) % 32 * 8]);
#define STORE(options, list, at, ...) \
    asm volatile("stmatrix.sync.aligned.m8n8." options ".shared.b16 [%0], " list ";" ::"r"(at), __VA_ARGS__ : "memory")
    STORE("x1", "{%1}", to[0], ONE("r", (r + 3)));
    STORE("x2", "{%1,%2}", to[1], TWO("r", (r + 3)));
    STORE("x4", "{%1,%2,%3,%4}", to[2], FOUR("r", (r + 3)));
    STORE("x1.trans", "{%1}", to[3], ONE("r", (r + 3)));
    STORE("x2.trans", "{%1,%2}", to[4], TWO("r", (r + 3)));
    STORE("x4.trans", "{%1,%2,%3,%4}", to[5], FOUR("r", (r + 3)));
    __syncwarp();
    for (int i = l; i < 6 * 256; i += 32)
        stored[i] = back[0][i];
}

__global__ void to_tf32(const float *in, uint32_t *out)
{
    asm volatile("cvt.rna.tf32.f32 %0, %1;" : "=r"(out[threadIdx.x]) : "f"(in[threadIdx.x]));
    asm volatile("cvt.rn.tf32.f32 %0, %1;" : "=r"(out[32 + threadIdx.x]) : "f"(in[threadIdx.x]));
    asm volatile("cvt.rz.tf32.f32 %0, %1;" : "=r"(out[64 + threadIdx.x]) : "f"(in[threadIdx.x]));
}

static void moves_and_conversions()
{
    static const uint32_t EDGES[] = {0x3f801000, 0x3f803000, 0x3f800fff, 0x7f7fffff, 0xff7fffff, 0x7fc00123,
                                     0x7f800001, 0xff800000, 0x00000fff, 0x80001000, 0xffc00000};
    uint32_t *loaded = managed<uint32_t>(480);
    uint16_t *stored = managed<uint16_t>(6 * 256);
    float *in = managed<float>(32);
    move_rows<<<1, 32>>>(loaded, stored);
    CUDA(cudaDeviceSynchronize());
    puts("ldmatrix x1, x2, x4, the same with trans, movmatrix");
    print_values(loaded, 480, 4, 16);
    puts("stmatrix x1, x2, x4, the same with trans");
    print_values(stored, 6 * 256, 2, 32);
    state = 99;
    memset(in, 0, 32 * sizeof *in);
    fill(in, 30, F32, ALL);
    memcpy(in, EDGES, sizeof EDGES);
    to_tf32<<<1, 32>>>(in, loaded);
    CUDA(cudaDeviceSynchronize());
    puts("cvt.rna, rn, rz .tf32.f32");
    print_values(loaded, 96, 4, 16);
}

int main()
{
    layouts_of_factors<16, 16, 16, __half, __half>("half");
    layouts_of_factors<32, 8, 16, __half, __half>("half");
    layouts_of_factors<16, 16, 16, __nv_bfloat16, __nv_bfloat16>("bf16");
    layouts_of_factors<8, 32, 16, __nv_bfloat16, __nv_bfloat16>("bf16");
    layouts_of_factors<16, 16, 8, Tf32, float>("tf32");
    layouts_of_factors<8, 8, 4, double, double>("double");
    layouts_of_factors<16, 16, 16, signed char, signed char>("s8");
    layouts_of_factors<32, 8, 16, signed char, signed char>("s8");
    layouts_of_factors<8, 32, 16, unsigned char, unsigned char>("u8");
    layouts_of_sums<16, 16, 16, __half>("half");
    layouts_of_sums<8, 32, 16, __half>("half");
    layouts_of_sums<16, 16, 16, float>("float");
    layouts_of_sums<32, 8, 16, float>("float");
    layouts_of_sums<8, 32, 16, float>("float");
    layouts_of_sums<8, 8, 4, double>("double");
    layouts_of_sums<16, 16, 16, int>("int");

    const Kinds every = {NEAR, WIDE, ALL}, some = {NEAR, ALL}, near = {NEAR};
    products<16, 16, 16, __half, __half, float, float>("half, sums float", F16, F32, every);
    products<16, 16, 16, __half, __half, __half, __half>("half, sums half", F16, F16, every);
    products<16, 16, 16, __half, __half, float, __half>("half, c float, d half", F16, F32, every);
    products<16, 16, 16, __half, __half, __half, float>("half, c half, d float", F16, F16, every);
    products<32, 8, 16, __half, __half, float, float>("half, sums float", F16, F32, near);
    products<8, 32, 16, __half, __half, __half, __half>("half, sums half", F16, F16, near);
    products<16, 16, 16, __nv_bfloat16, __nv_bfloat16, float, float>("bf16", BF16, F32, every);
    products<8, 32, 16, __nv_bfloat16, __nv_bfloat16, float, float>("bf16", BF16, F32, near);
    products<16, 16, 8, Tf32, float, float, float>("tf32", TF32, F32, every);
    products<16, 16, 8, Tf32, float, float, float>("tf32 of whole floats", CUT, F32, {NEAR, WIDE});
    products<8, 8, 4, double, double, double, double>("double", F64, F64, some);
    products<16, 16, 16, signed char, signed char, int, int>("s8", S8, S32, some);
    products<32, 8, 16, unsigned char, unsigned char, int, int>("u8", S8, S32, some);

    mma("m16n8k8 f16 f32", half8, F16, F32, 2, 1, 4, every);
    mma("m16n8k16 f16 f32", half16, F16, F32, 4, 2, 4, every);
    mma("m16n8k8 f16 f16", halves8, F16, F16, 2, 1, 2, every);
    mma("m16n8k16 f16 f16", halves16, F16, F16, 4, 2, 2, every);
    mma("m16n8k8 bf16", brain8, BF16, F32, 2, 1, 4, every);
    mma("m16n8k16 bf16", brain16, BF16, F32, 4, 2, 4, every);
    mma("m16n8k4 tf32", tf4, TF32, F32, 2, 1, 4, every);
    mma("m16n8k8 tf32", tf8, TF32, F32, 4, 2, 4, every);
    mma("m16n8k8 tf32 of whole floats", tf8, CUT, F32, 4, 2, 4, every);
    mma("m8n8k4 f64", double8_4, F64, F64, 1, 1, 2, some);
    mma("m16n8k4 f64", double16_4, F64, F64, 2, 1, 4, some);
    mma("m16n8k8 f64", double16_8, F64, F64, 4, 2, 4, some);
    mma("m16n8k16 f64", double16_16, F64, F64, 8, 4, 4, some);
    mma("m8n8k16 s8 s8", byte8, S8, S32, 1, 1, 2, some);
    mma("m8n8k16 u8 s8 satfinite", byte8_limited, S8, S32, 1, 1, 2, some);
    mma("m16n8k16 s8 u8", byte16, S8, S32, 2, 1, 4, some);
    mma("m16n8k32 u8 u8", byte32, S8, S32, 4, 2, 4, some);
    mma("m16n8k32 s8 s8 satfinite", byte32_limited, S8, S32, 4, 2, 4, some);
    sums();
    moves_and_conversions();
}
