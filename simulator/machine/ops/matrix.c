// matrix.c: the tensor cores: wmma, mma.sync, and what brings matrices into the lanes' registers.
//
// The 32 lanes of a warp hold a matrix together, each a fragment of it. The fragments of mma.sync, ldmatrix
// and movmatrix are laid out as the PTX ISA says. It leaves those of wmma open; here they are what ptxas makes
// of them for sm_90, which multiplies them with the same machine instructions as mma.sync: 16 lines against 8.
#include "machine/ops/matrix.h"

#include <math.h>
#include <string.h>

typedef struct Tile { // the elements of a matrix
    uint64_t bits[MOST_LINES][MOST_POSITIONS];
} Tile;

// What a fragment's registers of one number hold: of each lane some elements side by side in the tile.
typedef struct Held {
    uint8_t *registers; // of all lanes
    uint64_t *tile;     // lane 0's first element; lane 4's lies a line below
    int run, bits;      // from a lane to the next; of an element
} Held;

static inline Held held_at(const Warp *w, const Fragment *f, Tile *tile, int number)
{
    const int each = sim_registers_of_piece(f), elements = f->register_bytes / f->bytes;
    const Corner corner = sim_corner_of(f, number / each % f->pieces);
    return (Held){w->lanes + f->place[number], &tile->bits[corner.line][corner.position + number % each * elements], f->run,
                  8 * f->bytes};
}

// The compiler makes one for each number of elements, and size of a register.
static inline __attribute__((always_inline)) void take(Held h, int elements, int register_bytes)
{
    const uint64_t mask = ~0ull >> (64 - h.bits);
    for (int l = 0; l < LANES; l++) {
        uint64_t *to = h.tile + l / 4 * MOST_POSITIONS + l % 4 * h.run;
        const uint64_t held = register_bytes == 4 ? ((uint32_t *)h.registers)[l] : ((uint64_t *)h.registers)[l];
        for (int k = 0; k < elements; k++)
            to[k] = elements == 1 ? held : held >> k * h.bits & mask;
    }
}

static inline __attribute__((always_inline)) void put(Held h, int elements, int register_bytes)
{
    for (int l = 0; l < LANES; l++) {
        const uint64_t *from = h.tile + l / 4 * MOST_POSITIONS + l % 4 * h.run;
        uint64_t held = from[0];
        for (int k = 1; k < elements; k++)
            held |= from[k] << k * h.bits;
        if (register_bytes == 4)
            ((uint32_t *)h.registers)[l] = (uint32_t)held;
        else
            ((uint64_t *)h.registers)[l] = held;
    }
}

// The lanes' registers to a tile.
static void gather(const Warp *w, const Fragment *f, Tile *tile)
{
    for (int number = 0; number < f->pieces * sim_registers_of_piece(f); number++) {
        const Held h = held_at(w, f, tile, number);
        switch (h.bits) {
        case 8: take(h, 4, 4); break;
        case 16: take(h, 2, 4); break;
        case 32: take(h, 1, 4); break;
        default: take(h, 1, 8);
        }
    }
}

// A tile to the lanes' registers. Of 16-bit numbers wmma has more registers than pieces; then these repeat.
static void scatter(Warp *w, const Fragment *f, Tile *tile)
{
    for (int number = 0; number < f->registers; number++) {
        const Held h = held_at(w, f, tile, number);
        switch (h.bits) {
        case 8: put(h, 4, 4); break;
        case 16: put(h, 2, 4); break;
        case 32: put(h, 1, 4); break;
        default: put(h, 1, 8);
        }
    }
}

static void need_all_lanes(Warp *w, const Instr *i, uint32_t mask)
{
    if (mask != ALL_LANES)
        sim_fault(w, i, __builtin_ctz(mask), cudaErrorIllegalInstruction,
                  "an instruction for all 32 lanes of a warp, of which %d are left", __builtin_popcount(mask));
}

// ---- Products

// significand * 2^(exponent - 10), of a float 2^(exponent - 23). An infinite number has exponent INFINITE and
// the significand 1 or -1, what is no number 0.
typedef struct Number {
    int32_t significand, exponent;
} Number;

enum { INFINITE = 1000, NO_EXPONENT = -INFINITE };

static Number number_of(uint32_t bits, int exponent_bits, int fraction_bits)
{
    const int most = (1 << exponent_bits) - 1, exponent = (int)(bits >> fraction_bits) & most;
    const int32_t fraction = (int32_t)(bits & ((1u << fraction_bits) - 1));
    const int32_t sign = bits >> (exponent_bits + fraction_bits) & 1 ? -1 : 1;
    if (exponent == most)
        return (Number){fraction ? 0 : sign, INFINITE};
    const int32_t whole = exponent ? 1 << fraction_bits : 0;
    return (Number){sign * (whole | fraction), (exponent ? exponent : 1) - (most >> 1)};
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

static Number summand_of(uint64_t bits, Type type, bool in_halves)
{
    float value = 0;
    uint32_t wide = (uint32_t)bits;
    if (type == F16) {
        value = sim_half_to_float((uint16_t)bits);
        memcpy(&wide, &value, sizeof wide);
    }
    Number n = number_of(wide, 8, 23);
    while (in_halves && n.significand && n.exponent < -14) { // subnormal as a half
        n.significand /= 2;
        n.exponent++;
    }
    return n;
}

static double real_of(Number n, int fraction_bits)
{
    if (n.exponent == INFINITE)
        return n.significand ? n.significand * INFINITY : NAN;
    return ldexp(n.significand, n.exponent - fraction_bits);
}

// The factors of one side of a product: a[line][k] or b[k][position], and zero has a very low exponent.
typedef struct Factors {
    int32_t significand[MOST_POSITIONS][MOST_POSITIONS], exponent[MOST_POSITIONS][MOST_POSITIONS];
    bool finite; // all of them
} Factors;

static Number factor_at(const Factors *f, int line, int position)
{
    return (Number){f->significand[line][position], f->exponent[line][position]};
}

// c + a[r][k] b[k][n] + ..., infinite, or no number, where one of the operands is.
static double special_sum(const Factors *a, const Factors *b, int r, int n, Number c, int from, int end)
{
    double sum = real_of(c, 23);
    for (int k = from; k < end; k++)
        sum += real_of(factor_at(a, r, k), 10) * real_of(factor_at(b, k, n), 10);
    return sum;
}

// Of STRIP positions side by side.
typedef int32_t Ints __attribute__((vector_size(4 * STRIP)));
typedef int64_t Longs __attribute__((vector_size(8 * STRIP)));
typedef double Doubles __attribute__((vector_size(8 * STRIP)));

static inline Ints ints_at(const int32_t *from)
{
    Ints ints;
    memcpy(&ints, from, sizeof ints);
    return ints;
}

static inline Ints larger(Ints a, Ints b)
{
    const Ints is_larger = a > b;
    return (a & is_larger) | (b & ~is_larger);
}

static inline Longs cut(Ints value, Ints shift) // value / 2^shift; what is lost is cut off
{
    const Ints sign = value >> 31, least = 31 - larger(31 - shift, shift * 0);
    return __builtin_convertvector(((((value ^ sign) - sign) >> least) ^ sign) - sign, Longs);
}

static inline Doubles powers_of_two(Ints exponents) // of numbers that are normal
{
    return (Doubles)(__builtin_convertvector(exponents + 1023, Longs) << 52);
}

typedef struct Summands {
    Ints significands, exponents; // of zero the latter is very low
} Summands;

// c + a[r][k] b[k][n] + ..., of STRIP positions from n on, as a Hopper GPU's tensor core adds: all terms at once. The products
// are exact; each term is cut off 25 bits behind the largest exponent, that of a product being the sum of its
// factors'; the sum of what is left is exact, and rounded by the caller. (Found for the H100 by P. Xie and
// others, "MMA-Sim: Bit-Accurate Reference Model of Tensor Cores and Matrix Cores", arXiv:2511.10909.) They let
// a zero have the exponent -126. On an H200 8 products of 2^-152 make 2^-149, so here a zero has no exponent.
static Doubles fused_sums(const Factors *a, const Factors *b, int r, int n, const Summands *c, int from, int end)
{
    enum { KEPT = 25, LOWEST = -1000 };
    Ints most = c->exponents;
    for (int k = from; k < end; k++)
        most = larger(a->exponent[r][k] + ints_at(&b->exponent[k][n]), most);
    Longs sum = cut(c->significands << (KEPT - 23), most - c->exponents);
    for (int k = from; k < end; k++) {
        const Ints product = a->significand[r][k] * ints_at(&b->significand[k][n]);
        sum += cut(product << (KEPT - 20), most - a->exponent[r][k] - ints_at(&b->exponent[k][n]));
    }
    const Ints lowest = most * 0 + LOWEST; // where all terms are zero
    return __builtin_convertvector(sum, Doubles) * powers_of_two(larger(most - KEPT, lowest));
}

// A float, rounded towards zero; but what is larger than all of them is infinite.
static uint32_t cut_to_float(double value)
{
    const float number = (float)value;
    uint32_t bits;
    if (value != value)
        return 0x7fffffff;
    memcpy(&bits, &number, sizeof bits);
    return bits - (fabs(value) < 0x1p128 && fabsf(number) > fabs(value)); // the next one towards zero
}

// Halves from sums that were kept as floats are rounded twice.
static uint64_t rounded_sum(double sum, Type type, bool in_halves)
{
    float kept;
    if (in_halves)
        return sim_half_from_double(sum, ROUND_NEAREST);
    const uint32_t bits = cut_to_float(sum);
    memcpy(&kept, &bits, sizeof kept);
    return type == F16 ? sim_half_from_double(kept, ROUND_NEAREST) : bits;
}

// The factors of a side; those of b stand by k first.
static void unpack(const Tile *tile, const Fragment *f, bool by_k, Factors *factors)
{
    factors->finite = true;
    for (int line = 0; line < f->lines; line++)
        for (int k = 0; k < f->positions; k++) {
            const Number n = factor_of(tile->bits[line][k], f->type);
            const int at = by_k ? k : line, beside = by_k ? line : k;
            factors->significand[at][beside] = n.significand;
            factors->exponent[at][beside] = n.significand || n.exponent == INFINITE ? n.exponent : NO_EXPONENT;
            factors->finite &= n.exponent != INFINITE;
        }
}

// The same as below of floats, all at once. False where one is infinite, or no number.
static bool add_to_floats(const Factors *a, const Factors *b, int r, int n, int from, int end, uint64_t *bits)
{
    typedef float Floats __attribute__((vector_size(4 * STRIP)));
    typedef uint32_t Words __attribute__((vector_size(4 * STRIP)));
    typedef uint64_t LongWords __attribute__((vector_size(8 * STRIP)));
    const Longs plus = (Longs){0} + INT64_MAX, too_large = (Longs)((Doubles){0} + 0x1p128);
    Longs wide;
    memcpy(&wide, bits, sizeof wide);
    const Ints before = __builtin_convertvector(wide, Ints), exponents = before >> 23 & 255, sign = before >> 31,
               fraction = (before & 0x7fffff) | ((exponents != 0) & 1 << 23), zero = fraction == 0, infinite = exponents == 255;
    for (int l = 0; l < STRIP; l++)
        if (infinite[l])
            return false;
    const Summands c = {(fraction ^ sign) - sign, ((larger(exponents, zero * 0 + 1) - 127) & ~zero) | (zero & NO_EXPONENT)};
    const Doubles sums = fused_sums(a, b, r, n, &c, from, end);
    const Floats nearest = __builtin_convertvector(sums, Floats);
    const Longs size = (Longs)sums & plus, size_nearest = (Longs)__builtin_convertvector(nearest, Doubles) & plus;
    const Words after = (Words)nearest + __builtin_convertvector((size_nearest > size) & (size < too_large), Words);
    const LongWords kept = __builtin_convertvector(after, LongWords);
    memcpy(bits, &kept, sizeof kept);
    return true;
}

// Sums of STRIP positions, which become those with some more products.
static void add_products(const MatrixOperation *m, const Factors *a, const Factors *b, int r, int n, int from, bool in_halves,
                         uint64_t *bits)
{
    const int end = from + m->at_once;
    Number c[STRIP];
    Summands summands;
    bool finite = a->finite && b->finite;
    if (finite && m->c.type == F32 && m->d.type == F32 && add_to_floats(a, b, r, n, from, end, bits))
        return;
    for (int l = 0; l < STRIP; l++) {
        c[l] = summand_of(bits[l], m->c.type, in_halves);
        summands.significands[l] = c[l].significand;
        summands.exponents[l] = c[l].significand ? c[l].exponent : NO_EXPONENT;
        finite &= c[l].exponent != INFINITE;
    }
    const Doubles sums = fused_sums(a, b, r, n, &summands, from, end);
    for (int l = 0; l < STRIP; l++) {
        const double special = finite ? 0 : special_sum(a, b, r, n + l, c[l], from, end);
        bits[l] = rounded_sum(isfinite(special) ? sums[l] : special, m->d.type, in_halves);
    }
}

static void multiply_floats(const MatrixOperation *m, const Tile *a, const Tile *b, Tile *sums)
{
    Factors lines, columns;
    const bool in_halves = m->c.type == F16 && m->d.type == F16;
    unpack(a, &m->a, false, &lines);
    unpack(b, &m->b, true, &columns);
    for (int r = 0; r < m->d.lines; r++)
        for (int n = 0; n < m->d.positions; n += STRIP)
            for (int k = 0; k < m->a.positions; k += m->at_once)
                add_products(m, &lines, &columns, r, n, k, in_halves, &sums->bits[r][n]);
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
    int32_t lines[MOST_LINES][MOST_POSITIONS], columns[MOST_POSITIONS][MOST_LINES]; // the latter by k
    for (int k = 0; k < m->a.positions; k++) {
        for (int r = 0; r < m->d.lines; r++)
            lines[r][k] = small_integer(a->bits[r][k], m->a.type);
        for (int n = 0; n < m->d.positions; n++)
            columns[k][n] = small_integer(b->bits[n][k], m->b.type);
    }
    for (int r = 0; r < m->d.lines; r++)
        for (int n = 0; n < m->d.positions; n += STRIP) {
            Ints products = {0}; // of 8 bits each: their sum has less than 32
            for (int k = 0; k < m->a.positions; k++)
                products += lines[r][k] * ints_at(&columns[k][n]);
            for (int l = 0; l < STRIP; l++)
                sums->bits[r][n + l] = integer_sum((int64_t)(int32_t)sums->bits[r][n + l] + products[l], m->saturate);
        }
}

// One fused multiply-add after the other, k = 0 first, of STRIP positions side by side. An H200 keeps a sum that is no number,
// whatever is added.
static void multiply_doubles(const MatrixOperation *m, const Tile *a, const Tile *b, Tile *sums)
{
    double columns[MOST_POSITIONS][MOST_LINES]; // by k
    for (int n = 0; n < m->d.positions; n++)
        for (int k = 0; k < m->a.positions; k++)
            memcpy(&columns[k][n], &b->bits[n][k], sizeof columns[k][n]);
    for (int r = 0; r < m->d.lines; r++)
        for (int n = 0; n < m->d.positions; n += STRIP) {
            double sum[STRIP], x;
            memcpy(sum, &sums->bits[r][n], sizeof sum);
            for (int k = 0; k < m->a.positions; k++) {
                memcpy(&x, &a->bits[r][k], sizeof x);
                for (int l = 0; l < STRIP; l++) // where it was signalling, it becomes quiet
                    sum[l] = sum[l] != sum[l] ? sum[l] + sum[l] : fma(x, columns[k][n + l], sum[l]);
            }
            memcpy(&sums->bits[r][n], sum, sizeof sum);
        }
}

void sim_multiply_matrices(Warp *w, const Instr *i, uint32_t mask)
{
    const MatrixOperation *m = i->matrix;
    Tile a, b, sums;
    need_all_lanes(w, i, mask);
    if (m->d.type != S32 && m->d.type != F64 && sim_multiply_whole_numbers(w, m))
        return;
    gather(w, &m->a, &a);
    gather(w, &m->b, &b);
    gather(w, &m->c, &sums);
    if (m->d.type == S32)
        multiply_integers(m, &a, &b, &sums);
    else if (m->d.type == F64)
        multiply_doubles(m, &a, &b, &sums);
    else
        multiply_floats(m, &a, &b, &sums);
    scatter(w, &m->d, &sums);
}

// ---- wmma.load and wmma.store, which ptxas turns into several accesses of all lanes

typedef struct Placement { // of a matrix in memory
    Space space;
    uint64_t address, stride;
} Placement;

typedef struct Piece { // what some lanes move at once: each a few elements side by side in memory, from these on
    uint32_t mask;
    int elements;
    Corner from[LANES];
} Piece;

static Space space_at(uint64_t *generic)
{
    const Space space = sim_space_at(*generic);
    *generic = sim_offset_of_generic(*generic);
    return space;
}

static Placement placement_of(Warp *w, const Instr *i)
{
    enum { STRIDE_BYTES = 16 }; // it has to be a multiple of; otherwise a GPU takes another one
    const MatrixOperation *m = i->matrix;
    const Fragment *f = &m->d;
    Placement p = {.space = (Space)m->address.space, .address = sim_operand_address(w, &m->address, 0)};
    const uint32_t *strides = m->stride == NOWHERE ? NULL : (const uint32_t *)(w->lanes + m->stride);
    for (int l = 1; l < LANES; l++)
        if (sim_operand_address(w, &m->address, l) != p.address || (strides && strides[l] != strides[0]))
            sim_fault(w, i, l, cudaErrorIllegalInstruction, "lanes that name different matrices");
    p.stride = strides ? strides[0] : m->along ? f->positions : f->lines;
    if (p.stride * f->bytes % STRIDE_BYTES)
        sim_fault(w, i, 0, cudaErrorMisalignedAddress,
                  "a matrix whose lines begin every %llu bytes, no multiple of %d",
                  (unsigned long long)(p.stride * f->bytes), STRIDE_BYTES);
    if (p.space == GENERIC)
        p.space = space_at(&p.address);
    return p;
}

static uint32_t lanes_of_rows(int blocks) // that name the rows of so many blocks
{
    return ALL_LANES >> (LANES - STRIP * blocks);
}

// One load or store of an instruction that may make several: finds, checks and counts what the lanes access. By
// rows (ldmatrix, stmatrix) it is none of those that Nsight Compute counts in shared memory, but has conflicts.
static void access_lanes(Warp *w, const Instr *i, Access *access, bool by_rows)
{
    access->alignment = access->bytes;
    sim_access(w, i, access);
    (by_rows ? sim_count_conflicts : sim_count_access)(w, access);
}

// Where the lanes' bytes of a piece lie, when the access has been found and counted.
static Access find_piece(Warp *w, const Instr *i, const Placement *p, const Piece *piece, AccessKind kind)
{
    const MatrixOperation *m = i->matrix;
    Access access = {.kind = kind, .space = p->space, .mask = piece->mask};
    access.bytes = (size_t)(piece->elements * m->d.bytes);
    for (int l = 0; l < LANES; l++) {
        const uint64_t line = (uint64_t)piece->from[l].line, position = (uint64_t)piece->from[l].position;
        const uint64_t element = m->along ? line * p->stride + position : position * p->stride + line;
        access.address[l] = p->address + element * m->d.bytes;
    }
    access_lanes(w, i, &access, m->by_rows);
    return access;
}

static void move_piece(Warp *w, const Instr *i, const Placement *p, const Piece *piece, Tile *tile,
                       AccessKind kind)
{
    const MatrixOperation *m = i->matrix;
    const int bytes = m->d.bytes, lines = m->along ? 0 : 1, positions = 1 - lines; // from element to element
    const Access access = find_piece(w, i, p, piece, kind);
    for (uint32_t rest = piece->mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        const Corner from = piece->from[l];
        for (int k = 0; k < piece->elements; k++) {
            uint64_t *bits = &tile->bits[from.line + k * lines][from.position + k * positions];
            if (kind == ACCESS_READ)
                *bits = sim_read_bytes(access.pointer[l] + k * bytes, bytes);
            else
                sim_write_bytes(access.pointer[l] + k * bytes, *bits, bytes);
        }
    }
}

// Of 16-bit numbers a row, which four lanes hold together, goes to their registers as it is.
static void load_rows_of_halves(Warp *w, const Fragment *f, int first, const Piece *row, const Access *access)
{
    for (uint32_t rest = row->mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        memcpy(w->lanes + f->place[first + l / STRIP] + l % STRIP * ROW_BYTES, access->pointer[l], ROW_BYTES);
    }
}

// Registers beyond those of the pieces hold the same again.
static void repeat_registers(Warp *w, const Fragment *f)
{
    const int once = f->pieces * sim_registers_of_piece(f);
    for (int number = once; number < f->registers; number++)
        memcpy(w->lanes + f->place[number], w->lanes + f->place[number % once], LANES * f->register_bytes);
}

// As by ldmatrix: rows of 16 bytes, of up to four blocks at a time, each named by a lane of its own.
static void load_by_rows(Warp *w, const Instr *i, const Placement *p)
{
    const MatrixOperation *m = i->matrix;
    const int together = m->d.bytes == 2 ? 4 : 2;
    const bool as_it_is = m->along && m->d.bytes == 2;
    Tile tile;
    for (int first = 0; first < m->d.pieces; first += together) {
        const int left = m->d.pieces - first, blocks = left < together ? left : together;
        Piece row = {.mask = lanes_of_rows(blocks), .elements = ROW_BYTES / m->d.bytes};
        for (int l = 0; l < LANES; l++) {
            row.from[l] = sim_corner_of(&m->d, first + l / STRIP % blocks);
            *(m->along ? &row.from[l].line : &row.from[l].position) += l % STRIP;
        }
        if (as_it_is) {
            const Access access = find_piece(w, i, p, &row, ACCESS_READ);
            load_rows_of_halves(w, &m->d, first, &row, &access);
        } else {
            move_piece(w, i, p, &row, &tile, ACCESS_READ);
        }
    }
    if (as_it_is)
        repeat_registers(w, &m->d);
    else
        scatter(w, &m->d, &tile);
}

// Each lane's piece of this number, which lies side by side in memory, to or from the lane's registers.
static void move_whole_piece(Warp *w, const Fragment *f, int number, const Access *access)
{
    const int each = sim_registers_of_piece(f), bytes = f->register_bytes;
    for (int k = 0; k < each; k++) {
        uint8_t *registers = w->lanes + f->place[number * each + k];
        for (int l = 0; l < LANES; l++) {
            uint8_t *memory = access->pointer[l] + k * bytes, *held = registers + l * bytes;
            if (access->kind == ACCESS_READ)
                sim_write_bytes(held, sim_read_bytes(memory, bytes), bytes);
            else
                sim_write_bytes(memory, sim_read_bytes(held, bytes), bytes);
        }
    }
}

// Each lane's piece at once where it lies side by side in memory. If not: of 16-bit numbers, the piece that the
// lane would have of the transposed block (movmatrix then brings it to its place); of others, element by element.
static void move_by_pieces(Warp *w, const Instr *i, const Placement *p, Tile *tile, AccessKind kind)
{
    const MatrixOperation *m = i->matrix;
    const bool transposed = !m->along && m->d.bytes == 2;
    const int steps = m->along || transposed ? 1 : m->d.run;
    for (int number = 0; number < m->d.pieces; number++)
        for (int k = 0; k < steps; k++) {
            Piece piece = {.mask = ALL_LANES, .elements = m->d.run / steps};
            const Corner corner = sim_corner_of(&m->d, number);
            for (int l = 0; l < LANES; l++) {
                const int across = l % 4 * m->d.run, line = transposed ? across : l / 4;
                const int position = transposed ? l / 4 : across;
                piece.from[l] = (Corner){corner.line + line, corner.position + position + k};
            }
            if (m->along) {
                const Access access = find_piece(w, i, p, &piece, kind);
                move_whole_piece(w, &m->d, number, &access);
            } else {
                move_piece(w, i, p, &piece, tile, kind);
            }
        }
}

static void load_wmma(Warp *w, const Instr *i)
{
    const MatrixOperation *m = i->matrix;
    const Placement p = placement_of(w, i);
    Tile tile;
    if (m->by_rows) {
        load_by_rows(w, i, &p);
        return;
    }
    move_by_pieces(w, i, &p, &tile, ACCESS_READ);
    if (m->along)
        repeat_registers(w, &m->d);
    else
        scatter(w, &m->d, &tile);
}

static void store_wmma(Warp *w, const Instr *i)
{
    const MatrixOperation *m = i->matrix;
    const Placement p = placement_of(w, i);
    Tile tile;
    if (!m->along)
        gather(w, &m->d, &tile);
    move_by_pieces(w, i, &p, &tile, ACCESS_WRITE);
}

// ---- ldmatrix, stmatrix, movmatrix: matrices of 8 rows of 8 numbers of 16 bits

typedef uint16_t Rows[LANES][STRIP]; // of up to four matrices

// The row of matrix k that lane 8 k + row names.
static Access access_rows(Warp *w, const Instr *i, AccessKind kind)
{
    const MatrixOperation *m = i->matrix;
    Access rows = {.kind = kind, .space = SHARED, .mask = lanes_of_rows(m->d.registers), .bytes = ROW_BYTES};
    for (int l = 0; l < LANES; l++) {
        rows.address[l] = sim_operand_address(w, &m->address, l);
        if (m->address.space == GENERIC && space_at(&rows.address[l]) != SHARED && rows.mask >> l & 1)
            sim_fault(w, i, l, cudaErrorIllegalAddress, "a row outside shared memory");
    }
    access_lanes(w, i, &rows, true);
    return rows;
}

// Moves between the lanes' registers and rows: lane l has numbers 2 (l % 4) and the next of row l / 4;
// transposed, of column l / 4.
static void move_rows(Warp *w, const Fragment *f, bool transposed, Rows rows, bool to_registers)
{
    for (int k = 0; k < f->registers; k++)
        for (int l = 0; l < LANES; l++) {
            uint16_t *held = (uint16_t *)(w->lanes + f->place[k]) + 2 * l;
            for (int half = 0; half < 2; half++) {
                const int across = l % 4 * 2 + half, row = STRIP * k + (transposed ? across : l / 4);
                uint16_t *number = &rows[row][transposed ? l / 4 : across];
                *(to_registers ? &held[half] : number) = *(to_registers ? number : &held[half]);
            }
        }
}

static void load_rows(Warp *w, const Instr *i)
{
    Rows rows;
    const Access access = access_rows(w, i, ACCESS_READ);
    for (int l = 0; l < STRIP * i->matrix->d.registers; l++)
        for (int k = 0; k < STRIP; k++)
            rows[l][k] = (uint16_t)sim_read_bytes(access.pointer[l] + 2 * k, 2);
    move_rows(w, &i->matrix->d, i->matrix->transposed, rows, true);
}

static void store_rows(Warp *w, const Instr *i)
{
    Rows rows;
    const Access access = access_rows(w, i, ACCESS_WRITE);
    move_rows(w, &i->matrix->d, i->matrix->transposed, rows, false);
    for (int l = 0; l < STRIP * i->matrix->d.registers; l++)
        for (int k = 0; k < STRIP; k++)
            sim_write_bytes(access.pointer[l] + 2 * k, rows[l][k], 2);
}

void sim_transpose_matrix(Warp *w, const Instr *i, uint32_t mask)
{
    Rows rows;
    need_all_lanes(w, i, mask);
    move_rows(w, &i->matrix->a, false, rows, false);
    move_rows(w, &i->matrix->d, true, rows, true);
}

void sim_load_matrix(Warp *w, const Instr *i, uint32_t mask)
{
    need_all_lanes(w, i, mask);
    (i->matrix->d.lines ? load_wmma : load_rows)(w, i);
}

void sim_store_matrix(Warp *w, const Instr *i, uint32_t mask)
{
    need_all_lanes(w, i, mask);
    (i->matrix->d.lines ? store_wmma : store_rows)(w, i);
}
