// Products of small matrices on tensor cores, by wmma and by mma.sync. All numbers are small integers, so that every
// result is exact in any order of summation.
#include "check.h"
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
#include <type_traits>

namespace wmma = nvcuda::wmma;

// Not inlined, which saves seconds of compile time.
static __host__ __device__ __noinline__ int factor(int which, int row, int column) // of A or B
{
    return (row * 5 + column * 3 + which * 7) % 11 - which * 5;
}

static __host__ __device__ __noinline__ int summand(int row, int column)
{
    return (row * 7 + column * 2) % 13 - 6;
}

// The layout of a tile: a stride at least 16 elements longer than its lines.
__host__ __device__ constexpr int padded(int count)
{
    return (count + 31) / 16 * 16;
}

template <class Layout> constexpr bool by_rows = std::is_same<Layout, wmma::row_major>::value;
template <class Layout> static __host__ __device__ __noinline__ int place(int row, int column, int rows, int columns)
{
    return by_rows<Layout> ? row * padded(columns) + column : column * padded(rows) + row;
}

template <class T> static __device__ void copy(T *to, const T *from, int count)
{
#pragma unroll 1
    for (int i = threadIdx.x; i < count; i += 32)
        to[i] = from[i];
}

// D = A B + C of one tile; then each element of D is doubled in its fragment. From device or shared memory.
template <int M, int N, int K, class T, class F, class Sum, class RowA, class RowB, class RowC, bool SHARED>
__global__ void one_tile(const F *a, const F *b, const Sum *c, Sum *d)
{
    __shared__ __align__(32) F shared_a[padded(M) * padded(K)], shared_b[padded(N) * padded(K)];
    __shared__ __align__(32) Sum shared_c[padded(M) * padded(N)];
    if (SHARED) {
        copy(shared_a, a, padded(M) * padded(K));
        copy(shared_b, b, padded(N) * padded(K));
        copy(shared_c, c, padded(M) * padded(N));
    }
    __syncwarp();
    const int lda = padded(by_rows<RowA> ? K : M), ldb = padded(by_rows<RowB> ? N : K), ldc = padded(by_rows<RowC> ? N : M);
    const auto order = by_rows<RowC> ? wmma::mem_row_major : wmma::mem_col_major;
    wmma::fragment<wmma::matrix_a, M, N, K, T, RowA> fa;
    wmma::fragment<wmma::matrix_b, M, N, K, T, RowB> fb;
    wmma::fragment<wmma::accumulator, M, N, K, Sum> sum;
    wmma::load_matrix_sync(fa, SHARED ? shared_a : a, lda);
    wmma::load_matrix_sync(fb, SHARED ? shared_b : b, ldb);
    wmma::load_matrix_sync(sum, SHARED ? shared_c : c, ldc, order);
    wmma::mma_sync(sum, fa, fb, sum);
    for (int i = 0; i < sum.num_elements; i++)
        sum.x[i] = sum.x[i] + sum.x[i];
    wmma::store_matrix_sync(SHARED ? shared_c : d, sum, ldc, order);
    __syncwarp();
    if (SHARED)
        copy(d, shared_c, padded(M) * padded(N));
}

template <int M, int N, int K, class T, class F, class Sum, class RowA, class RowB, class RowC, bool SHARED>
static void check_tile(const char *name)
{
    F *a = managed<F>(padded(M) * padded(K)), *b = managed<F>(padded(N) * padded(K));
    Sum *c = managed<Sum>(padded(M) * padded(N)), *d = managed<Sum>(padded(M) * padded(N));
    const int positive = std::is_unsigned<F>::value ? 5 : 0;
    for (int k = 0; k < K; k++) {
        for (int row = 0; row < M; row++)
            a[place<RowA>(row, k, M, K)] = F(float(factor(0, row, k)));
        for (int column = 0; column < N; column++)
            b[place<RowB>(k, column, K, N)] = F(float(factor(1, k, column) + positive));
    }
    for (int row = 0; row < M; row++)
        for (int column = 0; column < N; column++)
            c[place<RowC>(row, column, M, N)] = Sum(float(summand(row, column)));
    one_tile<M, N, K, T, F, Sum, RowA, RowB, RowC, SHARED><<<1, 32>>>(a, b, c, d);
    CUDA(cudaDeviceSynchronize());
    for (int row = 0; row < M; row++)
        for (int column = 0; column < N; column++) {
            int expected = summand(row, column);
            for (int k = 0; k < K; k++)
                expected += factor(0, row, k) * (factor(1, k, column) + positive);
            const float found = float(d[place<RowC>(row, column, M, N)]);
            if (found != 2 * expected)
                fprintf(stderr, "%s, row %d, column %d: %g, expected %d\n", name, row, column, found, 2 * expected);
            CHECK(found == 2 * expected);
        }
}

template <int M, int N, int K, class T, class F, class Sum> static void check_orders(const char *name)
{
    using Row = wmma::row_major;
    using Column = wmma::col_major;
    check_tile<M, N, K, T, F, Sum, Row, Column, Row, false>(name);
    check_tile<M, N, K, T, F, Sum, Column, Row, Column, true>(name);
}

// A product of several tiles: each warp computes one of 16 by 16, initialised by fill_fragment.
enum { SIZE = 64 };
__global__ void tiled(const __half *a, const __half *b, float *c)
{
    const int warp = threadIdx.x / 32, row = blockIdx.y * 32 + warp / 2 * 16, column = blockIdx.x * 32 + warp % 2 * 16;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 1.0f);
    for (int k = 0; k < SIZE; k += 16) {
        wmma::load_matrix_sync(fa, a + row * SIZE + k, SIZE);
        wmma::load_matrix_sync(fb, b + k * SIZE + column, SIZE);
        wmma::mma_sync(sum, fa, fb, sum);
    }
    wmma::store_matrix_sync(c + row * SIZE + column, sum, SIZE, wmma::mem_row_major);
}

static void check_tiled()
{
    __half *a = managed<__half>(SIZE * SIZE), *b = managed<__half>(SIZE * SIZE);
    float *c = managed<float>(SIZE * SIZE);
    for (int i = 0; i < SIZE * SIZE; i++) {
        a[i] = __half(float(factor(0, i / SIZE, i % SIZE)));
        b[i] = __half(float(factor(1, i / SIZE, i % SIZE)));
    }
    tiled<<<dim3(2, 2), 128>>>(a, b, c);
    CUDA(cudaDeviceSynchronize());
    for (int i = 0; i < SIZE * SIZE; i++) {
        int expected = 1;
        for (int k = 0; k < SIZE; k++)
            expected += factor(0, i / SIZE, k) * factor(1, k, i % SIZE);
        CHECK(c[i] == expected);
    }
}

// ldmatrix and mma.sync with the layout of the PTX ISA: group = lane / 4, member = lane % 4.
// A of 16 x 16 by rows, B of 16 x 8 by rows (so .trans), D of 16 x 8; also through stmatrix and movmatrix.
__global__ void by_hand(float *d, __half *stored, unsigned *moved)
{
    __shared__ __align__(16) __half a[16 * 24], b[16 * 8], back[16 * 16];
    const int lane = threadIdx.x, group = lane / 4, member = lane % 4;
    for (int i = lane; i < 256; i += 32)
        a[i / 16 * 24 + i % 16] = __float2half(factor(0, i / 16, i % 16));
    for (int i = lane; i < 128; i += 32)
        b[i] = __float2half(factor(1, i / 8, i % 8));
    __syncwarp();
    unsigned fa[4], fb[2], one;
    const unsigned row_a = (unsigned)__cvta_generic_to_shared(&a[lane % 16 * 24 + lane / 16 * 8]);
    const unsigned row_b = (unsigned)__cvta_generic_to_shared(&b[lane % 16 * 8]);
    const unsigned row_back = (unsigned)__cvta_generic_to_shared(&back[lane % 16 * 16 + lane / 16 * 8]);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(fa[0]), "=r"(fa[1]), "=r"(fa[2]), "=r"(fa[3]) : "r"(row_a));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];" : "=r"(fb[0]), "=r"(fb[1]) : "r"(row_b));
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(one) : "r"(row_b));
    float sum[4] = {1, 2, 3, 4};
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                 : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[0]), "r"(fb[1]));
    for (int i = 0; i < 4; i++)
        d[(group + i / 2 * 8) * 8 + member * 2 + i % 2] = sum[i] - (i + 1);
    asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};"
                 :: "r"(row_back), "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]) : "memory");
    __syncwarp();
    for (int i = lane; i < 256; i += 32)
        stored[i] = back[i];
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(moved[lane]) : "r"(one));
}

static void check_by_hand()
{
    float *d = managed<float>(16 * 8);
    __half *stored = managed<__half>(256);
    unsigned *moved = managed<unsigned>(32);
    by_hand<<<1, 32>>>(d, stored, moved);
    CUDA(cudaDeviceSynchronize());
    for (int row = 0; row < 16; row++)
        for (int column = 0; column < 8; column++) {
            int expected = 0;
            for (int k = 0; k < 16; k++)
                expected += factor(0, row, k) * factor(1, k, column);
            CHECK(d[row * 8 + column] == expected);
        }
    for (int row = 0; row < 16; row++) // each of four matrices is transposed in place
        for (int column = 0; column < 16; column++)
            CHECK(__half2float(stored[row * 16 + column]) == factor(0, row / 8 * 8 + column % 8, column / 8 * 8 + row % 8));
    for (int lane = 0; lane < 32; lane++)
        for (int half = 0; half < 2; half++) {
            const __half_raw raw = {(unsigned short)(moved[lane] >> 16 * half)};
            CHECK(__half2float(__half(raw)) == factor(1, lane % 4 * 2 + half, lane / 4));
        }
}

// More shapes of mma.sync, with matrices whose product is known in closed form. Writes 1 for each correct element.
__global__ void shapes(int *out)
{
    const int member = threadIdx.x % 4, group = threadIdx.x / 4;
    // m16n8k32 of bytes: A[row][k] = row, B[k][column] = column - 3.
    const unsigned low = group * 0x01010101u, high = (group + 8) * 0x01010101u, b = (unsigned)(group - 3 & 255) * 0x01010101u;
    int sum[4] = {1, 2, 3, 4};
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3]) : "r"(low), "r"(high), "r"(low), "r"(high), "r"(b), "r"(b));
    for (int i = 0; i < 4; i++) {
        const int row = group + i / 2 * 8, column = member * 2 + i % 2;
        out[threadIdx.x * 4 + i] = sum[i] == i + 1 + 32 * row * (column - 3);
    }
    // m8n8k16, saturated.
    int full[2] = {0x7fffffff, 5};
    asm volatile("mma.sync.aligned.m8n8k16.row.col.satfinite.s32.s8.s8.s32 {%0, %1}, {%2}, {%3}, {%0, %1};"
                 : "+r"(full[0]), "+r"(full[1]) : "r"(0x01010101), "r"(0x01010101));
    out[128 + threadIdx.x] = full[0] == 0x7fffffff && full[1] == 21;
    // m16n8k8 of doubles: A[row][k] = row + 16 k, B[k][column] = 1 if k is column, else 0.
    double a[4], e[2], x[4] = {0.5, 0.5, 0.5, 0.5};
    for (int i = 0; i < 4; i++)
        a[i] = group + i % 2 * 8 + 16 * (member + i / 2 * 4);
    for (int i = 0; i < 2; i++)
        e[i] = member + 4 * i == group;
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+d"(x[0]), "+d"(x[1]), "+d"(x[2]), "+d"(x[3]) : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(e[0]), "d"(e[1]));
    for (int i = 0; i < 4; i++)
        out[160 + threadIdx.x * 4 + i] = x[i] == 0.5 + group + i / 2 * 8 + 16 * (member * 2 + i % 2);
    // m16n8k8 of tf32, the same.
    float y[4] = {0.5, 0.5, 0.5, 0.5};
    unsigned t[4], u[2];
    for (int i = 0; i < 4; i++)
        t[i] = __float_as_uint(float(a[i]));
    for (int i = 0; i < 2; i++)
        u[i] = __float_as_uint(float(e[i]));
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(y[0]), "+f"(y[1]), "+f"(y[2]), "+f"(y[3]) : "r"(t[0]), "r"(t[1]), "r"(t[2]), "r"(t[3]), "r"(u[0]), "r"(u[1]));
    for (int i = 0; i < 4; i++)
        out[288 + threadIdx.x * 4 + i] = y[i] == 0.5 + group + i / 2 * 8 + 16 * (member * 2 + i % 2);
}

// The elements of a lane's x[i]: as on an H200. The CUDA guide leaves the mapping unspecified, but programs rely on it.
__global__ void places(const __half *a, const float *c, int *out)
{
    const int group = threadIdx.x / 4, member = threadIdx.x % 4;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::load_matrix_sync(fa, a, 16);
    wmma::load_matrix_sync(sum, c, 16, wmma::mem_row_major);
    bool right = fa.num_elements == 16 && sum.num_elements == 8;
    for (int i = 0; i < 8; i++) {
        const int row = group + i / 2 % 2 * 8, column = member * 2 + i % 2 + i / 4 * 8;
        right &= sum.x[i] == row * 16 + column;
        right &= __half2float(fa.x[i]) == row * 16 + column && __half2float(fa.x[i + 8]) == row * 16 + column;
    }
    out[threadIdx.x] = right;
}

static void check_places()
{
    __half *a = managed<__half>(256);
    float *c = managed<float>(256);
    int *out = managed<int>(32);
    for (int i = 0; i < 256; i++)
        a[i] = __float2half(c[i] = i);
    places<<<1, 32>>>(a, c, out);
    CUDA(cudaDeviceSynchronize());
    for (int lane = 0; lane < 32; lane++)
        CHECK(out[lane]);
}

static void check_shapes()
{
    int *out = managed<int>(416);
    shapes<<<1, 32>>>(out);
    CUDA(cudaDeviceSynchronize());
    for (int i = 0; i < 416; i++) {
        if (!out[i])
            fprintf(stderr, "shapes: result %d is wrong\n", i);
        CHECK(out[i]);
    }
}

int main()
{
    check_orders<16, 16, 16, __half, __half, float>("half, sums float");
    check_tile<16, 16, 16, __half, __half, float, wmma::row_major, wmma::col_major, wmma::row_major, true>("half, shared");
    check_tile<16, 16, 16, __half, __half, float, wmma::col_major, wmma::row_major, wmma::col_major, false>("half, device");
    check_tile<16, 16, 16, signed char, signed char, int, wmma::row_major, wmma::col_major, wmma::row_major, true>("bytes, shared");
    check_orders<16, 16, 16, __half, __half, __half>("half");
    check_orders<32, 8, 16, __half, __half, float>("half, 32 x 8");
    check_orders<8, 32, 16, __half, __half, __half>("half, 8 x 32");
    check_orders<16, 16, 16, __nv_bfloat16, __nv_bfloat16, float>("bf16");
    check_orders<16, 16, 8, wmma::precision::tf32, float, float>("tf32");
    check_orders<8, 8, 4, double, double, double>("double");
    check_orders<16, 16, 16, signed char, signed char, int>("bytes");
    check_orders<8, 32, 16, unsigned char, unsigned char, int>("unsigned bytes, 8 x 32");
    check_orders<32, 8, 16, signed char, signed char, int>("bytes, 32 x 8");
    check_tiled();
    check_by_hand();
    check_places();
    check_shapes();
    puts("PASS");
}
