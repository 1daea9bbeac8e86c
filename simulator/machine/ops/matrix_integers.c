// matrix_integers.c: a fast path for products of matrices of small integers. Their sums are exact in single precision, so that
// the order of additions in a tensor core does not matter.
#include "machine/ops/matrix.h"

#include <string.h>

typedef float Floats __attribute__((vector_size(4 * CORE_SIZE)));
typedef uint32_t Words __attribute__((vector_size(4 * CORE_SIZE)));
typedef int32_t Ints __attribute__((vector_size(4 * CORE_SIZE)));
typedef uint16_t Halves __attribute__((vector_size(2 * CORE_SIZE))); // bit patterns of f16 or bf16 numbers
typedef double Doubles __attribute__((vector_size(8 * CORE_SIZE)));
typedef int64_t Longs __attribute__((vector_size(8 * CORE_SIZE)));

typedef struct Matrix { // lines as vectors of CORE_SIZE numbers
    Floats lines[MAX_LINES][MAX_POSITIONS / CORE_SIZE];
} Matrix;

// ---- Registers to and from vectors: four lanes hold CORE_SIZE adjacent numbers of a line

// Converts numbers from half precision; subnormal, infinite and NaN inputs become NaN.
static inline Floats floats_of_halves(const uint16_t *from)
{
    Halves halves;
    memcpy(&halves, from, sizeof halves);
    const Words bits = __builtin_convertvector(halves, Words), sign = (bits & 0x8000) << 16, magnitude = bits & 0x7fff,
                not_normal = (Words)(magnitude < 0x400) | (Words)(magnitude >= 0x7c00), zero = (Words)(magnitude == 0),
                normal = (magnitude << 13) + (112u << 23);
    return (Floats)(sign | (normal & ~not_normal) | (not_normal & ~zero & 0x7fc00000));
}

static inline void halves_of_floats(Floats floats, uint16_t *to) // the floats must be integers that f16 represents exactly
{
    const Words bits = (Words)floats, sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
    const Halves halves = __builtin_convertvector(sign | (((magnitude - (112u << 23)) >> 13) & (Words)(magnitude != 0)), Halves);
    memcpy(to, &halves, sizeof halves);
}

static inline Floats floats_of_bf16(const uint16_t *from)
{
    Halves halves;
    memcpy(&halves, from, sizeof halves);
    return (Floats)(__builtin_convertvector(halves, Words) << 16);
}

static inline Floats floats_of_pairs(const float *first, const float *second)
{
    return (Floats){first[0], second[0], first[1], second[1], first[2], second[2], first[3], second[3]};
}

static inline void pairs_of_floats(Floats floats, float *first, float *second)
{
    for (int k = 0; k < CORE_SIZE / 2; k++) {
        first[k] = floats[2 * k];
        second[k] = floats[2 * k + 1];
    }
}

static inline float *registers_of(const Warp *w, const Fragment *f, int chunk, int number)
{
    return (float *)(w->registers + f->register_offsets[chunk * sim_registers_per_chunk(f) + number]);
}

// Unpacks the tile that consists of the lanes' chunks with this index. A line is in the registers of four consecutive lanes.
static void unpack_core(const Warp *w, const Fragment *f, int chunk, Matrix *to)
{
    const Origin at = sim_origin_of(f, chunk);
    const float *first = registers_of(w, f, chunk, 0), *second = registers_of(w, f, chunk, sim_registers_per_chunk(f) - 1);
    for (int line = 0; line < CORE_SIZE; line++, first += 4, second += 4) {
        Floats *row = &to->lines[at.line + line][at.position / CORE_SIZE];
        if (f->type == F16)
            *row = floats_of_halves((const uint16_t *)first);
        else if (f->type == BF16)
            *row = floats_of_bf16((const uint16_t *)first);
        else if (f->type == F32)
            *row = floats_of_pairs(first, second);
        else // TF32: a chunk fills half a vector
            for (int k = 0; k < CORE_SIZE / 2; k++)
                ((uint32_t *)row)[at.position % CORE_SIZE + k] = ((const uint32_t *)first)[k] & ~0x1fffu;
    }
}

static void pack_core(Warp *w, const Fragment *f, int chunk, const Matrix *from)
{
    const Origin at = sim_origin_of(f, chunk);
    float *first = registers_of(w, f, chunk, 0), *second = registers_of(w, f, chunk, sim_registers_per_chunk(f) - 1);
    for (int line = 0; line < CORE_SIZE; line++, first += 4, second += 4) {
        const Floats row = from->lines[at.line + line][at.position / CORE_SIZE];
        if (f->type == F16)
            halves_of_floats(row, (uint16_t *)first);
        else
            pairs_of_floats(row, first, second);
    }
}

// ---- Integers

// The largest magnitude in the matrix; infinity if an element is not an integer or is too large.
static float largest_integer(const Fragment *f, const Matrix *matrix)
{
    enum { INTEGER_BITS = 24 }; // a float represents all integers up to 2^24
    Ints max = {0}, not_small_integer = {0};
    for (int line = 0; line < f->lines; line++)
        for (int n = 0; n < (f->positions + CORE_SIZE - 1) / CORE_SIZE; n++) {
            const Ints magnitude = (Ints)matrix->lines[line][n] & 0x7fffffff, small = magnitude < (127 + INTEGER_BITS) << 23, is_larger = magnitude > max;
            const Floats truncated = (Floats)(magnitude & small);
            not_small_integer |= ~small | (truncated != __builtin_convertvector(__builtin_convertvector(truncated, Ints), Floats));
            max = (magnitude & is_larger) | (max & ~is_larger);
        }
    float largest = 0;
    for (int l = 0; l < CORE_SIZE; l++) {
        const float magnitude = not_small_integer[l] ? __builtin_inff() : ((Floats)max)[l];
        largest = magnitude > largest ? magnitude : largest;
    }
    return largest;
}

static float unpack_matrix(const Warp *w, const Fragment *f, Matrix *to)
{
    if (f->positions % CORE_SIZE) // a line fills half a vector; the other half must be 0
        memset(to, 0, sizeof *to);
    for (int chunk = 0; chunk < f->chunks; chunk++)
        unpack_core(w, f, chunk, to);
    return largest_integer(f, to);
}

static void transpose(const Fragment *f, const Matrix *from, Matrix *to)
{
    for (int line = 0; line < f->lines; line++)
        for (int k = 0; k < f->positions; k++)
            ((float *)to->lines[k])[line] = ((const float *)from->lines[line])[k];
}

// All terms are integers, and every partial sum fits in a float's 24-bit significand, so the order of additions does not matter.
static void add_integers(const MatrixOperation *m, const Matrix *a, const Matrix *b_rows, Matrix *sums)
{
    for (int r = 0; r < m->d.lines; r++)
        for (int n = 0; n < m->d.positions / CORE_SIZE; n++) {
            Floats sum = sums->lines[r][n];
            for (int k = 0; k < m->a.positions; k++)
                sum += ((const float *)a->lines[r])[k] * b_rows->lines[k][n];
            sums->lines[r][n] = sum + 0; // +0 instead of -0
        }
}

// ---- Products of integers, added to sums that are not integers

// Constants of fused_sums in matrix.c. KEPT_BITS: fraction bits that each term keeps after alignment to the largest exponent.
enum { ZERO_EXPONENT = -1000, KEPT_BITS = 25 };

static inline Ints max_ints(Ints a, Ints b)
{
    const Ints is_larger = a > b;
    return (a & is_larger) | (b & ~is_larger);
}

static inline Ints exponents_of(Floats floats)
{
    const Ints magnitude = (Ints)floats & 0x7fffffff, zero = magnitude == 0;
    return ((max_ints(magnitude >> 23, (Ints){0} + 1) - 127) & ~zero) | (zero & ZERO_EXPONENT);
}

static inline Doubles power_of_two(Ints exponents)
{
    return (Doubles)(__builtin_convertvector(exponents + 1023, Longs) << 52);
}

static inline Doubles truncate_to_integers(Doubles value) // of magnitudes below 2^31
{
    return __builtin_convertvector(__builtin_convertvector(value, Longs), Doubles);
}

// Rounds to floats towards zero.
static inline Floats truncate_to_floats(Doubles value)
{
    const Longs magnitude_mask = (Longs){0} + INT64_MAX;
    const Floats nearest = __builtin_convertvector(value, Floats);
    const Longs too_large = ((Longs)__builtin_convertvector(nearest, Doubles) & magnitude_mask) > ((Longs)value & magnitude_mask);
    return (Floats)((Ints)nearest + __builtin_convertvector(too_large, Ints));
}

// Adds the products [k, end) of line r to the sums of vector n, as fused_sums does. Only the previous sums are truncated, because
// the products are integers of at most 24 bits.
static inline Floats add_products(const Matrix *a, const Matrix *b_rows, const Ints (*exponents)[MAX_POSITIONS / CORE_SIZE], int r, int n, int k,
                              int end, Floats sums)
{
    Floats products = {0};
    Ints max = exponents_of(sums);
    for (; k < end; k++) {
        const float factor = ((const float *)a->lines[r])[k];
        const int exponent = exponents_of((Floats){factor})[0];
        products += factor * b_rows->lines[k][n];
        max = max_ints(exponent + exponents[k][n], max);
    }
    max = max_ints(max, (Ints){0} - 126);
    const Doubles truncated = truncate_to_integers(__builtin_convertvector(sums, Doubles) * power_of_two(KEPT_BITS - max)) * power_of_two(max - KEPT_BITS);
    return truncate_to_floats(truncated + __builtin_convertvector(products, Doubles));
}

static void add_to_floats(const MatrixOperation *m, const Matrix *a, const Matrix *b_rows, Matrix *sums)
{
    Ints exponents[MAX_POSITIONS][MAX_POSITIONS / CORE_SIZE];
    for (int k = 0; k < m->a.positions; k++)
        for (int n = 0; n < m->d.positions / CORE_SIZE; n++)
            exponents[k][n] = exponents_of(b_rows->lines[k][n]);
    for (int r = 0; r < m->d.lines; r++)
        for (int n = 0; n < m->d.positions / CORE_SIZE; n++)
            for (int k = 0; k < m->a.positions; k += m->products_per_rounding)
                sums->lines[r][n] = add_products(a, b_rows, exponents, r, n, k, k + m->products_per_rounding, sums->lines[r][n]);
}

// The largest magnitude in the matrix; infinity if an element is NaN.
static float largest_magnitude(const Fragment *f, const Matrix *matrix)
{
    Ints max = {0};
    float largest = 0;
    for (int line = 0; line < f->lines; line++)
        for (int n = 0; n < f->positions / CORE_SIZE; n++)
            max = max_ints((Ints)matrix->lines[line][n] & 0x7fffffff, max);
    for (int l = 0; l < CORE_SIZE; l++)
        largest = max[l] > 0x7f800000 ? __builtin_inff() : ((Floats)max)[l] > largest ? ((Floats)max)[l] : largest;
    return largest;
}

// ---- The operation, on integers

bool sim_multiply_small_integers(Warp *w, const MatrixOperation *m)
{
    Matrix a, b, b_rows, sums;
    const float max_a = unpack_matrix(w, &m->a, &a), max_b = unpack_matrix(w, &m->b, &b), max_product_sum = (float)m->a.positions * max_a * max_b;
    if (!(max_product_sum <= 0x1p24f))
        return false;
    const float max_c = unpack_matrix(w, &m->c, &sums), max_exact = m->d.type == F16 ? 0x1p11f : 0x1p24f;
    const bool is_integer = max_c + max_product_sum <= max_exact;
    if (!is_integer && (m->c.type != F32 || m->d.type != F32 || largest_magnitude(&m->c, &sums) >= 0x1p24f))
        return false;
    transpose(&m->b, &b, &b_rows);
    (is_integer ? add_integers : add_to_floats)(m, &a, &b_rows, &sums);
    for (int chunk = 0; chunk < m->d.chunks; chunk++)
        pack_core(w, &m->d, chunk, &sums);
    return true;
}
