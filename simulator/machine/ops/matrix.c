// matrix.c: tensor-core operations (wmma, mma.sync).
//
// The 32 lanes of a warp hold a matrix in fragments. The PTX ISA defines the fragments of mma.sync, ldmatrix and movmatrix,
// but not those of wmma: their layout here is that of ptxas for sm_90, which translates wmma to mma.sync, 16 lines by 8.
#include "machine/ops/matrix.h"

#include <math.h>
#include <string.h>

// One register of all lanes. Each lane's register holds adjacent elements of the tile.
typedef struct ChunkRegister {
    uint8_t *registers; // the 32 lanes' values
    uint64_t *tile;     // lane 0's first element; lane 4's is in the next line
    int stride, bits;   // stride: elements from a lane to the next; bits: of an element
} ChunkRegister;

static inline ChunkRegister chunk_register(const Warp *w, const Fragment *f, Tile *tile, int number)
{
    const int per_chunk = sim_registers_per_chunk(f), elements = f->register_bytes / f->bytes;
    const Origin origin = sim_origin_of(f, number / per_chunk % f->chunks);
    return (ChunkRegister){w->registers + f->register_offsets[number], &tile->bits[origin.line][origin.position + number % per_chunk * elements], f->chunk_elements,
                  8 * f->bytes};
}

// Inlined, so that the compiler specialises it for each number of elements and register size.
static inline __attribute__((always_inline)) void unpack_register(ChunkRegister h, int elements, int register_bytes)
{
    const uint64_t mask = ~0ull >> (64 - h.bits);
    for (int l = 0; l < LANES; l++) {
        uint64_t *to = h.tile + l / 4 * MAX_POSITIONS + l % 4 * h.stride;
        const uint64_t packed = register_bytes == 4 ? ((uint32_t *)h.registers)[l] : ((uint64_t *)h.registers)[l];
        for (int k = 0; k < elements; k++)
            to[k] = elements == 1 ? packed : packed >> k * h.bits & mask;
    }
}

static inline __attribute__((always_inline)) void pack_register(ChunkRegister h, int elements, int register_bytes)
{
    for (int l = 0; l < LANES; l++) {
        const uint64_t *from = h.tile + l / 4 * MAX_POSITIONS + l % 4 * h.stride;
        uint64_t packed = from[0];
        for (int k = 1; k < elements; k++)
            packed |= from[k] << k * h.bits;
        if (register_bytes == 4)
            ((uint32_t *)h.registers)[l] = (uint32_t)packed;
        else
            ((uint64_t *)h.registers)[l] = packed;
    }
}

void sim_unpack_tile(const Warp *w, const Fragment *f, Tile *tile)
{
    for (int number = 0; number < f->chunks * sim_registers_per_chunk(f); number++) {
        const ChunkRegister h = chunk_register(w, f, tile, number);
        switch (h.bits) {
        case 8: unpack_register(h, 4, 4); break;
        case 16: unpack_register(h, 2, 4); break;
        case 32: unpack_register(h, 1, 4); break;
        default: unpack_register(h, 1, 8);
        }
    }
}

// wmma fragments of 16-bit numbers have more registers than their chunks need; the other registers are copies.
void sim_pack_tile(Warp *w, const Fragment *f, Tile *tile)
{
    for (int number = 0; number < f->registers; number++) {
        const ChunkRegister h = chunk_register(w, f, tile, number);
        switch (h.bits) {
        case 8: pack_register(h, 4, 4); break;
        case 16: pack_register(h, 2, 4); break;
        case 32: pack_register(h, 1, 4); break;
        default: pack_register(h, 1, 8);
        }
    }
}

void sim_require_all_lanes(Warp *w, const Instr *i, uint32_t mask)
{
    if (mask != ALL_LANES)
        sim_fault(w, i, __builtin_ctz(mask), cudaErrorIllegalInstruction,
                  "all 32 lanes of the warp must execute this instruction, but only %d are active", __builtin_popcount(mask));
}

// ---- Products

// A factor is significand * 2^(exponent - 10); a float is significand * 2^(exponent - 23). Infinity has exponent INFINITE and
// significand 1 or -1; NaN has significand 0.
typedef struct Number {
    int32_t significand, exponent;
} Number;

enum { INFINITE = 1000, NO_EXPONENT = -INFINITE };

static Number number_of(uint32_t bits, int exponent_bits, int fraction_bits)
{
    const int max_exponent = (1 << exponent_bits) - 1, exponent = (int)(bits >> fraction_bits) & max_exponent;
    const int32_t fraction = (int32_t)(bits & ((1u << fraction_bits) - 1));
    const int32_t sign = bits >> (exponent_bits + fraction_bits) & 1 ? -1 : 1;
    if (exponent == max_exponent)
        return (Number){fraction ? 0 : sign, INFINITE};
    const int32_t whole = exponent ? 1 << fraction_bits : 0;
    return (Number){sign * (whole | fraction), (exponent ? exponent : 1) - (max_exponent >> 1)};
}

static Number factor_of(uint64_t bits, Type type)
{
    if (type == F16)
        return number_of((uint32_t)bits, 5, 10);
    if (type == TF32)
        return number_of((uint32_t)bits >> 13, 8, 10);
    Number n = number_of((uint32_t)bits, 8, 7);
    n.significand *= n.exponent == INFINITE ? 1 : 8;
    return n;
}

static Number addend_of(uint64_t bits, Type type, bool is_half_precision)
{
    float value = 0;
    uint32_t wide = (uint32_t)bits;
    if (type == F16) {
        value = sim_half_to_float((uint16_t)bits);
        memcpy(&wide, &value, sizeof wide);
    }
    Number n = number_of(wide, 8, 23);
    while (is_half_precision && n.significand && n.exponent < -14) { // subnormal in half precision
        n.significand /= 2;
        n.exponent++;
    }
    return n;
}

static double double_of(Number n, int fraction_bits)
{
    if (n.exponent == INFINITE)
        return n.significand ? n.significand * INFINITY : NAN;
    return ldexp(n.significand, n.exponent - fraction_bits);
}

// One operand of a product: a[line][k] or b[k][position]; zero has exponent NO_EXPONENT.
typedef struct Factors {
    int32_t significand[MAX_POSITIONS][MAX_POSITIONS], exponent[MAX_POSITIONS][MAX_POSITIONS];
    bool all_finite; // all factors are finite
} Factors;

static Number factor_at(const Factors *f, int line, int position)
{
    return (Number){f->significand[line][position], f->exponent[line][position]};
}

// c + a[r][k] b[k][n] + ..., if an operand is infinite or NaN.
static double special_sum(const Factors *a, const Factors *b, int r, int n, Number c, int from, int end)
{
    double sum = double_of(c, 23);
    for (int k = from; k < end; k++)
        sum += double_of(factor_at(a, r, k), 10) * double_of(factor_at(b, k, n), 10);
    return sum;
}

// Vectors of CORE_SIZE adjacent positions.
typedef int32_t Ints __attribute__((vector_size(4 * CORE_SIZE)));
typedef int64_t Longs __attribute__((vector_size(8 * CORE_SIZE)));
typedef double Doubles __attribute__((vector_size(8 * CORE_SIZE)));

static inline Ints ints_at(const int32_t *from)
{
    Ints ints;
    memcpy(&ints, from, sizeof ints);
    return ints;
}

static inline Ints max_ints(Ints a, Ints b)
{
    const Ints is_larger = a > b;
    return (a & is_larger) | (b & ~is_larger);
}

static inline Longs truncated_shift(Ints value, Ints shift) // value / 2^shift, truncated
{
    const Ints sign = value >> 31, limited = 31 - max_ints(31 - shift, shift * 0);
    return __builtin_convertvector(((((value ^ sign) - sign) >> limited) ^ sign) - sign, Longs);
}

static inline Doubles powers_of_two(Ints exponents) // results must be normal
{
    return (Doubles)(__builtin_convertvector(exponents + 1023, Longs) << 52);
}

typedef struct Addends {
    Ints significands, exponents; // exponent of zero: NO_EXPONENT
} Addends;

// c + a[r][k] b[k][n] + ..., for CORE_SIZE positions starting at n, as a Hopper tensor core adds them: all terms at once. Products
// are exact; each term is truncated 25 bits below the largest exponent (a product's exponent is the sum of its factors'
// exponents). The sum of the truncated terms is exact; the caller rounds it. Source: P. Xie et al., "MMA-Sim: Bit-Accurate
// Reference Model of Tensor Cores and Matrix Cores", arXiv:2511.10909, for the H100. That model gives zero the exponent -126;
// here zero has none, because on an H200 8 products of 2^-152 yield 2^-149.
static Doubles fused_sums(const Factors *a, const Factors *b, int r, int n, const Addends *c, int from, int end)
{
    enum { KEPT_BITS = 25, MIN_EXPONENT = -1000 };
    Ints max_exponent = c->exponents;
    for (int k = from; k < end; k++)
        max_exponent = max_ints(a->exponent[r][k] + ints_at(&b->exponent[k][n]), max_exponent);
    Longs sum = truncated_shift(c->significands << (KEPT_BITS - 23), max_exponent - c->exponents);
    for (int k = from; k < end; k++) {
        const Ints product = a->significand[r][k] * ints_at(&b->significand[k][n]);
        sum += truncated_shift(product << (KEPT_BITS - 20), max_exponent - a->exponent[r][k] - ints_at(&b->exponent[k][n]));
    }
    const Ints min_exponent = max_exponent * 0 + MIN_EXPONENT; // if all terms are zero
    return __builtin_convertvector(sum, Doubles) * powers_of_two(max_ints(max_exponent - KEPT_BITS, min_exponent));
}

// Rounds to a float towards zero; numbers beyond the range of float become infinite.
static uint32_t truncate_to_float(double value)
{
    const float number = (float)value;
    uint32_t bits;
    if (value != value)
        return 0x7fffffff;
    memcpy(&bits, &number, sizeof bits);
    return bits - (fabs(value) < 0x1p128 && fabsf(number) > fabs(value)); // the next float towards zero
}

// The bits of a sum. A sum of type F16 that was accumulated as a float is rounded twice.
static uint64_t rounded_sum(double sum, Type type, bool is_half_precision)
{
    float truncated;
    if (is_half_precision)
        return sim_half_from_double(sum, ROUND_NEAREST);
    const uint32_t bits = truncate_to_float(sum);
    memcpy(&truncated, &bits, sizeof truncated);
    return type == F16 ? sim_half_from_double(truncated, ROUND_NEAREST) : bits;
}

// Unpacks the factors of one operand. by_k: k becomes the first index.
static void unpack_factors(const Tile *tile, const Fragment *f, bool by_k, Factors *factors)
{
    factors->all_finite = true;
    for (int line = 0; line < f->lines; line++)
        for (int k = 0; k < f->positions; k++) {
            const Number n = factor_of(tile->bits[line][k], f->type);
            const int first = by_k ? k : line, second = by_k ? line : k;
            factors->significand[first][second] = n.significand;
            factors->exponent[first][second] = n.significand || n.exponent == INFINITE ? n.exponent : NO_EXPONENT;
            factors->all_finite &= n.exponent != INFINITE;
        }
}

// A vectorised add_products for floats. Returns false, without effect, if an addend is infinite or NaN.
static bool add_to_floats(const Factors *a, const Factors *b, int r, int n, int from, int end, uint64_t *bits)
{
    typedef float Floats __attribute__((vector_size(4 * CORE_SIZE)));
    typedef uint32_t Words __attribute__((vector_size(4 * CORE_SIZE)));
    typedef uint64_t LongWords __attribute__((vector_size(8 * CORE_SIZE)));
    const Longs magnitude_mask = (Longs){0} + INT64_MAX, too_large = (Longs)((Doubles){0} + 0x1p128);
    Longs wide;
    memcpy(&wide, bits, sizeof wide);
    const Ints before = __builtin_convertvector(wide, Ints), exponents = before >> 23 & 255, sign = before >> 31,
               fraction = (before & 0x7fffff) | ((exponents != 0) & 1 << 23), zero = fraction == 0, infinite = exponents == 255;
    for (int l = 0; l < CORE_SIZE; l++)
        if (infinite[l])
            return false;
    const Addends c = {(fraction ^ sign) - sign, ((max_ints(exponents, zero * 0 + 1) - 127) & ~zero) | (zero & NO_EXPONENT)};
    const Doubles sums = fused_sums(a, b, r, n, &c, from, end);
    const Floats nearest = __builtin_convertvector(sums, Floats);
    const Longs magnitude = (Longs)sums & magnitude_mask, nearest_magnitude = (Longs)__builtin_convertvector(nearest, Doubles) & magnitude_mask;
    const Words after = (Words)nearest + __builtin_convertvector((nearest_magnitude > magnitude) & (magnitude < too_large), Words);
    const LongWords truncated = __builtin_convertvector(after, LongWords);
    memcpy(bits, &truncated, sizeof truncated);
    return true;
}

// Adds m->products_per_rounding products to the sums at CORE_SIZE positions.
static void add_products(const MatrixOperation *m, const Factors *a, const Factors *b, int r, int n, int from, bool is_half_precision,
                         uint64_t *bits)
{
    const int end = from + m->products_per_rounding;
    Number c[CORE_SIZE];
    Addends addends;
    bool finite = a->all_finite && b->all_finite;
    if (finite && m->c.type == F32 && m->d.type == F32 && add_to_floats(a, b, r, n, from, end, bits))
        return;
    for (int l = 0; l < CORE_SIZE; l++) {
        c[l] = addend_of(bits[l], m->c.type, is_half_precision);
        addends.significands[l] = c[l].significand;
        addends.exponents[l] = c[l].significand ? c[l].exponent : NO_EXPONENT;
        finite &= c[l].exponent != INFINITE;
    }
    const Doubles sums = fused_sums(a, b, r, n, &addends, from, end);
    for (int l = 0; l < CORE_SIZE; l++) {
        const double special = finite ? 0 : special_sum(a, b, r, n + l, c[l], from, end);
        bits[l] = rounded_sum(isfinite(special) ? sums[l] : special, m->d.type, is_half_precision);
    }
}

static void multiply_floats(const MatrixOperation *m, const Tile *a, const Tile *b, Tile *sums)
{
    Factors lines, columns;
    const bool is_half_precision = m->c.type == F16 && m->d.type == F16;
    unpack_factors(a, &m->a, false, &lines);
    unpack_factors(b, &m->b, true, &columns);
    for (int r = 0; r < m->d.lines; r++)
        for (int n = 0; n < m->d.positions; n += CORE_SIZE)
            for (int k = 0; k < m->a.positions; k += m->products_per_rounding)
                add_products(m, &lines, &columns, r, n, k, is_half_precision, &sums->bits[r][n]);
}

static int32_t small_integer(uint64_t bits, Type type)
{
    return type == S8 ? (int8_t)bits : (uint8_t)bits;
}

static uint32_t integer_sum(int64_t sum, bool saturate)
{
    if (saturate)
        sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
    return (uint32_t)sum;
}

static void multiply_integers(const MatrixOperation *m, const Tile *a, const Tile *b, Tile *sums)
{
    int32_t lines[MAX_LINES][MAX_POSITIONS], columns[MAX_POSITIONS][MAX_LINES]; // columns: by k
    for (int k = 0; k < m->a.positions; k++) {
        for (int r = 0; r < m->d.lines; r++)
            lines[r][k] = small_integer(a->bits[r][k], m->a.type);
        for (int n = 0; n < m->d.positions; n++)
            columns[k][n] = small_integer(b->bits[n][k], m->b.type);
    }
    for (int r = 0; r < m->d.lines; r++)
        for (int n = 0; n < m->d.positions; n += CORE_SIZE) {
            Ints products = {0}; // of 8-bit numbers: the sum fits 32 bits
            for (int k = 0; k < m->a.positions; k++)
                products += lines[r][k] * ints_at(&columns[k][n]);
            for (int l = 0; l < CORE_SIZE; l++)
                sums->bits[r][n + l] = integer_sum((int64_t)(int32_t)sums->bits[r][n + l] + products[l], m->saturate);
        }
}

// Fused multiply-adds in the order of k, for CORE_SIZE adjacent positions. A sum that is NaN does not change, as on an H200.
static void multiply_doubles(const MatrixOperation *m, const Tile *a, const Tile *b, Tile *sums)
{
    double columns[MAX_POSITIONS][MAX_LINES]; // by k
    for (int n = 0; n < m->d.positions; n++)
        for (int k = 0; k < m->a.positions; k++)
            memcpy(&columns[k][n], &b->bits[n][k], sizeof columns[k][n]);
    for (int r = 0; r < m->d.lines; r++)
        for (int n = 0; n < m->d.positions; n += CORE_SIZE) {
            double sum[CORE_SIZE], x;
            memcpy(sum, &sums->bits[r][n], sizeof sum);
            for (int k = 0; k < m->a.positions; k++) {
                memcpy(&x, &a->bits[r][k], sizeof x);
                for (int l = 0; l < CORE_SIZE; l++) // the addition quiets a signalling NaN
                    sum[l] = sum[l] != sum[l] ? sum[l] + sum[l] : fma(x, columns[k][n + l], sum[l]);
            }
            memcpy(&sums->bits[r][n], sum, sizeof sum);
        }
}

void sim_multiply_matrices(Warp *w, const Instr *i, uint32_t mask)
{
    const MatrixOperation *m = i->matrix;
    Tile a, b, sums;
    sim_require_all_lanes(w, i, mask);
    if (m->d.type != S32 && m->d.type != F64 && sim_multiply_small_integers(w, m))
        return;
    sim_unpack_tile(w, &m->a, &a);
    sim_unpack_tile(w, &m->b, &b);
    sim_unpack_tile(w, &m->c, &sums);
    if (m->d.type == S32)
        multiply_integers(m, &a, &b, &sums);
    else if (m->d.type == F64)
        multiply_doubles(m, &a, &b, &sums);
    else
        multiply_floats(m, &a, &b, &sums);
    sim_pack_tile(w, &m->d, &sums);
}
