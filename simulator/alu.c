// alu.c: operations on whole numbers and bits, selection and comparison.
#include "lanes.h"

#include <stdlib.h>
#include <string.h>

void sim_set_predicates(Warp *w, const Instr *i, uint32_t mask, uint32_t result)
{
    uint32_t with = i->flags & COMBINE ? *OPERAND(uint32_t, c) : 0;
    if (i->flags & COMBINE_NEGATED)
        with = ~with;
    uint32_t p = result, q = ~result;
    if (i->flags & COMBINE) {
        p = i->op == COMBINE_AND ? p & with : i->op == COMBINE_OR ? p | with : p ^ with;
        q = i->op == COMBINE_AND ? q & with : i->op == COMBINE_OR ? q | with : q ^ with;
    }
    if (i->d != NOWHERE) {
        uint32_t *d = OPERAND(uint32_t, d);
        *d = (*d & ~mask) | (p & mask);
    }
    if (i->second != NOWHERE) {
        uint32_t *second = OPERAND(uint32_t, second);
        *second = (*second & ~mask) | (q & mask);
    }
}

typedef __int128 s128;
typedef unsigned __int128 u128;

// Whole numbers of every size: the same expressions, other types. W is twice as wide.
#define WHOLE_NUMBERS(T, S, U, W)                                            \
    BINARY(mul_hi_##T, T, T, T, ((W)a * (W)b) >> (8 * sizeof(T)))            \
    TERNARY(mad_hi_##T, T, T, T, T, (U)(((W)a * (W)b) >> (8 * sizeof(T))) + (U)c) \
    BINARY(min_##T, T, T, T, a < b ? a : b)                                  \
    BINARY(max_##T, T, T, T, a > b ? a : b)                                  \
    TERNARY(sad_##T, T, T, T, T, (U)c + (a < b ? (U)b - (U)a : (U)a - (U)b)) \
    BINARY(div_##T, T, T, T, divide_##T(a, b))                               \
    BINARY(rem_##T, T, T, T, remainder_##T(a, b))                            \
    BINARY(shr_##T, T, T, uint32_t, b < 8 * sizeof(T) ? a >> b : (S)-1 < 0 && a < 0 ? (T)-1 : 0) \
    COMPARE(setp_lt_##T, T, a < b)                                           \
    COMPARE(setp_le_##T, T, a <= b)                                          \
    COMPARE(setp_gt_##T, T, a > b)                                           \
    COMPARE(setp_ge_##T, T, a >= b)

// Where the sign does not matter.
#define BIT_PATTERNS(U, S)                                                   \
    BINARY(add_##U, U, U, U, a + b)                                          \
    BINARY(sub_##U, U, U, U, a - b)                                          \
    BINARY(mul_lo_##U, U, U, U, (uint64_t)a * b)                             \
    TERNARY(mad_lo_##U, U, U, U, U, (uint64_t)a * b + c)                     \
    BINARY(and_##U, U, U, U, a & b)                                          \
    BINARY(or_##U, U, U, U, a | b)                                           \
    BINARY(xor_##U, U, U, U, a ^ b)                                          \
    UNARY(not_##U, U, U, ~a)                                                 \
    UNARY(cnot_##U, U, U, a == 0)                                            \
    UNARY(neg_##U, U, U, (U)0 - a)                                           \
    UNARY(abs_##U, U, U, (S)a < 0 ? (U)0 - a : a)                            \
    UNARY(mov_##U, U, U, a)                                                  \
    BINARY(shl_##U, U, U, uint32_t, b < 8 * sizeof(U) ? (uint64_t)a << b : 0) \
    COMPARE(setp_eq_##U, U, a == b)                                          \
    COMPARE(setp_ne_##U, U, a != b)                                          \
    static void selp_##U(Warp *w, const Instr *i, uint32_t mask)             \
    {                                                                        \
        U *d = OPERAND(U, d);                                                \
        const U *as = OPERAND(U, a);                                         \
        const U *bs = OPERAND(U, b);                                         \
        const uint32_t chosen = *OPERAND(uint32_t, c) ^ (i->flags & COMBINE_NEGATED ? ALL_LANES : 0); \
        FOR_EACH_LANE(const U a = as[l]; const U b = bs[l]; d[l] = chosen >> l & 1 ? a : b) \
    }

// Division by zero gives all bits, as on a GPU; the remainder is then the dividend.
#define DIVISION(T, lowest)                                                  \
    static inline T divide_##T(T a, T b)                                     \
    {                                                                        \
        return b == 0 ? (T)-1 : (T)-1 < 0 && b == (T)-1 ? (a == (lowest) ? a : (T)(0 - a)) : (T)(a / b); \
    }                                                                        \
    static inline T remainder_##T(T a, T b)                                  \
    {                                                                        \
        return b == 0 ? a : (T)-1 < 0 && b == (T)-1 ? 0 : (T)(a % b);        \
    }

DIVISION(int16_t, INT16_MIN)
DIVISION(uint16_t, 0)
DIVISION(int32_t, INT32_MIN)
DIVISION(uint32_t, 0)
DIVISION(int64_t, INT64_MIN)
DIVISION(uint64_t, 0)

WHOLE_NUMBERS(int16_t, int16_t, uint16_t, int32_t)
WHOLE_NUMBERS(uint16_t, uint16_t, uint16_t, uint32_t)
WHOLE_NUMBERS(int32_t, int32_t, uint32_t, int64_t)
WHOLE_NUMBERS(uint32_t, uint32_t, uint32_t, uint64_t)
WHOLE_NUMBERS(int64_t, int64_t, uint64_t, s128)
WHOLE_NUMBERS(uint64_t, uint64_t, uint64_t, u128)
BIT_PATTERNS(uint16_t, int16_t)
BIT_PATTERNS(uint32_t, int32_t)
BIT_PATTERNS(uint64_t, int64_t)
UNARY(mov_uint8_t, uint8_t, uint8_t, a)

BINARY(mul_wide_int16_t, int32_t, int16_t, int16_t, (int32_t)a * b)
BINARY(mul_wide_uint16_t, uint32_t, uint16_t, uint16_t, (uint32_t)a * b)
BINARY(mul_wide_int32_t, int64_t, int32_t, int32_t, (int64_t)a * b)
BINARY(mul_wide_uint32_t, uint64_t, uint32_t, uint32_t, (uint64_t)a * b)
TERNARY(mad_wide_int16_t, uint32_t, int16_t, int16_t, uint32_t, (uint32_t)((int32_t)a * b) + c)
TERNARY(mad_wide_uint16_t, uint32_t, uint16_t, uint16_t, uint32_t, (uint32_t)a * b + c)
TERNARY(mad_wide_int32_t, uint64_t, int32_t, int32_t, uint64_t, (uint64_t)((int64_t)a * b) + c)
TERNARY(mad_wide_uint32_t, uint64_t, uint32_t, uint32_t, uint64_t, (uint64_t)a * b + c)

// The low and high halves of a product of the operands' low 24 bits.
#define LOW_24(x) ((int64_t)((uint64_t)(x) << 40) >> 40)
BINARY(mul24_lo_s32, uint32_t, uint32_t, uint32_t, LOW_24(a) * LOW_24(b))
BINARY(mul24_hi_s32, uint32_t, uint32_t, uint32_t, (LOW_24(a) * LOW_24(b)) >> 16)
BINARY(mul24_lo_u32, uint32_t, uint32_t, uint32_t, (uint64_t)(a & 0xffffff) * (b & 0xffffff))
BINARY(mul24_hi_u32, uint32_t, uint32_t, uint32_t, ((uint64_t)(a & 0xffffff) * (b & 0xffffff)) >> 16)
TERNARY(mad24_lo_s32, uint32_t, uint32_t, uint32_t, uint32_t, LOW_24(a) * LOW_24(b) + c)
TERNARY(mad24_lo_u32, uint32_t, uint32_t, uint32_t, uint32_t, (uint64_t)(a & 0xffffff) * (b & 0xffffff) + c)

static inline int32_t saturated(int64_t value)
{
    return value < INT32_MIN ? INT32_MIN : value > INT32_MAX ? INT32_MAX : (int32_t)value;
}
BINARY(add_sat_s32, int32_t, int32_t, int32_t, saturated((int64_t)a + b))
BINARY(sub_sat_s32, int32_t, int32_t, int32_t, saturated((int64_t)a - b))
TERNARY(mad_hi_sat_s32, int32_t, int32_t, int32_t, int32_t, saturated((((int64_t)a * b) >> 32) + c))

// ---- Bits

static inline uint32_t leading_zeros(uint64_t value, int bits)
{
    return value ? (uint32_t)(__builtin_clzll(value) - (64 - bits)) : (uint32_t)bits;
}
UNARY(popc_b32, uint32_t, uint32_t, __builtin_popcount(a))
UNARY(popc_b64, uint32_t, uint64_t, __builtin_popcountll(a))
UNARY(clz_b32, uint32_t, uint32_t, leading_zeros(a, 32))
UNARY(clz_b64, uint32_t, uint64_t, leading_zeros(a, 64))

static inline uint64_t reversed(uint64_t a)
{
    a = (a >> 1 & 0x5555555555555555) | (a & 0x5555555555555555) << 1;
    a = (a >> 2 & 0x3333333333333333) | (a & 0x3333333333333333) << 2;
    a = (a >> 4 & 0x0f0f0f0f0f0f0f0f) | (a & 0x0f0f0f0f0f0f0f0f) << 4;
    return __builtin_bswap64(a);
}
UNARY(brev_b32, uint32_t, uint32_t, reversed(a) >> 32)
UNARY(brev_b64, uint64_t, uint64_t, reversed(a))

// The place of the highest bit that differs from the sign; shift: how far it is from the top.
static inline uint32_t find_bit(uint64_t value, int bits, bool shift)
{
    const uint32_t zeros = leading_zeros(value, bits);
    return zeros == (uint32_t)bits ? UINT32_MAX : shift ? zeros : (uint32_t)bits - 1 - zeros;
}
UNARY(bfind_u32, uint32_t, uint32_t, find_bit(a, 32, false))
UNARY(bfind_s32, uint32_t, int32_t, find_bit((uint32_t)(a < 0 ? ~a : a), 32, false))
UNARY(bfind_u64, uint32_t, uint64_t, find_bit(a, 64, false))
UNARY(bfind_s64, uint32_t, int64_t, find_bit((uint64_t)(a < 0 ? ~a : a), 64, false))
UNARY(bfind_shiftamt_u32, uint32_t, uint32_t, find_bit(a, 32, true))
UNARY(bfind_shiftamt_s32, uint32_t, int32_t, find_bit((uint32_t)(a < 0 ? ~a : a), 32, true))
UNARY(bfind_shiftamt_u64, uint32_t, uint64_t, find_bit(a, 64, true))
UNARY(bfind_shiftamt_s64, uint32_t, int64_t, find_bit((uint64_t)(a < 0 ? ~a : a), 64, true))

// c bits from bit b on; with a sign, the rest is filled with the field's highest bit.
static inline uint64_t field(uint64_t a, uint32_t b, uint32_t c, int bits, bool with_sign)
{
    const uint32_t position = b & 0xff, length = c & 0xff, top = (uint32_t)bits - 1;
    if (length == 0)
        return 0;
    const uint64_t value = position < (uint32_t)bits ? a >> position : 0;
    const uint32_t last = position + length - 1 < top ? position + length - 1 : top;
    const bool sign = with_sign && (a >> last & 1);
    const uint32_t kept = last < position ? 0 : last - position + 1;
    const uint64_t low = kept >= 64 ? UINT64_MAX : (1ull << kept) - 1;
    return sign ? value | ~low : value & low;
}
TERNARY(bfe_u32, uint32_t, uint32_t, uint32_t, uint32_t, field(a, b, c, 32, false))
TERNARY(bfe_s32, uint32_t, uint32_t, uint32_t, uint32_t, field(a, b, c, 32, true))
TERNARY(bfe_u64, uint64_t, uint64_t, uint32_t, uint32_t, field(a, b, c, 64, false))
TERNARY(bfe_s64, uint64_t, uint64_t, uint32_t, uint32_t, field(a, b, c, 64, true))

// a's low `length` bits put over b's from bit `position` on.
static inline uint64_t inserted(uint64_t a, uint64_t b, uint32_t position, uint32_t length, uint32_t bits)
{
    position &= 0xff;
    length &= 0xff;
    if (position >= bits || length == 0)
        return b;
    const uint64_t low = length >= 64 ? UINT64_MAX : (1ull << length) - 1;
    return (b & ~(low << position)) | (a & low) << position;
}
#define INSERT(name, T, bits)                                                \
    static void name(Warp *w, const Instr *i, uint32_t mask)                 \
    {                                                                        \
        T *d = OPERAND(T, d);                                                \
        const T *a = OPERAND(T, a), *b = OPERAND(T, b);                      \
        const uint32_t *c = OPERAND(uint32_t, c), *length = OPERAND(uint32_t, second); \
        FOR_EACH_LANE(d[l] = (T)inserted(a[l], b[l], c[l], length[l], bits)) \
    }
INSERT(bfi_b32, uint32_t, 32)
INSERT(bfi_b64, uint64_t, 64)

static inline uint32_t bit_mask(uint32_t position, uint32_t length, bool clamp)
{
    if (!clamp) {
        position &= 31;
        length &= 31;
    }
    if (position > 31 || length == 0)
        return 0;
    return (length > 31 ? UINT32_MAX : (1u << length) - 1) << position;
}
BINARY(bmsk_clamp_b32, uint32_t, uint32_t, uint32_t, bit_mask(a, b, true))
BINARY(bmsk_wrap_b32, uint32_t, uint32_t, uint32_t, bit_mask(a, b, false))

static inline uint32_t funnel(uint32_t low, uint32_t high, uint32_t shift, bool left)
{
    const uint64_t both = (uint64_t)high << 32 | low;
    return left ? (uint32_t)((both << shift) >> 32) : (uint32_t)(both >> shift);
}
TERNARY(shf_l_wrap_b32, uint32_t, uint32_t, uint32_t, uint32_t, funnel(a, b, c & 31, true))
TERNARY(shf_r_wrap_b32, uint32_t, uint32_t, uint32_t, uint32_t, funnel(a, b, c & 31, false))
TERNARY(shf_l_clamp_b32, uint32_t, uint32_t, uint32_t, uint32_t, funnel(a, b, c < 32 ? c : 32, true))
TERNARY(shf_r_clamp_b32, uint32_t, uint32_t, uint32_t, uint32_t, funnel(a, b, c < 32 ? c : 32, false))

// Any function of three bits: bit (a << 2 | b << 1 | c) of the table is its value.
static void lop3_b32(Warp *w, const Instr *i, uint32_t mask)
{
    uint32_t *d = OPERAND(uint32_t, d);
    const uint32_t *as = OPERAND(uint32_t, a), *bs = OPERAND(uint32_t, b), *cs = OPERAND(uint32_t, c);
    const uint32_t table = *OPERAND(uint32_t, second);
    FOR_EACH_LANE(
        const uint32_t a = as[l]; const uint32_t b = bs[l]; const uint32_t c = cs[l]; uint32_t value = 0;
        value |= table & 1 ? ~a & ~b & ~c : 0; value |= table & 2 ? ~a & ~b & c : 0;
        value |= table & 4 ? ~a & b & ~c : 0; value |= table & 8 ? ~a & b & c : 0;
        value |= table & 16 ? a & ~b & ~c : 0; value |= table & 32 ? a & ~b & c : 0;
        value |= table & 64 ? a & b & ~c : 0; value |= table & 128 ? a & b & c : 0; d[l] = value)
}

// Four bytes chosen from the eight of a and b by the nibbles of c; bit 3 spreads the sign.
static inline uint32_t permuted(uint32_t a, uint32_t b, uint32_t c)
{
    const uint64_t bytes = (uint64_t)b << 32 | a;
    uint32_t result = 0;
    for (int k = 0; k < 4; k++) {
        const uint32_t selector = c >> (4 * k) & 0xf;
        uint32_t byte = bytes >> (8 * (selector & 7)) & 0xff;
        if (selector & 8)
            byte = byte & 0x80 ? 0xff : 0;
        result |= byte << (8 * k);
    }
    return result;
}
static inline uint32_t permuted_by_mode(uint32_t a, uint32_t b, uint32_t c, int mode)
{
    static const uint16_t SELECTORS[6][4] = {
        {0x3210, 0x4321, 0x5432, 0x6543}, // f4e: four bytes forward from byte c
        {0x5670, 0x6701, 0x7012, 0x0123}, // b4e: backward
        {0x0000, 0x1111, 0x2222, 0x3333}, // rc8: byte c four times
        {0x3210, 0x3211, 0x3222, 0x3333}, // ecl: clamped from the left
        {0x0000, 0x1110, 0x2210, 0x3210}, // ecr: from the right
        {0x1010, 0x3232, 0x1010, 0x3232}, // rc16: a half twice
    };
    return permuted(a, b, SELECTORS[mode][c & 3]);
}
TERNARY(prmt_b32, uint32_t, uint32_t, uint32_t, uint32_t, permuted(a, b, c))
TERNARY(prmt_b32_f4e, uint32_t, uint32_t, uint32_t, uint32_t, permuted_by_mode(a, b, c, 0))
TERNARY(prmt_b32_b4e, uint32_t, uint32_t, uint32_t, uint32_t, permuted_by_mode(a, b, c, 1))
TERNARY(prmt_b32_rc8, uint32_t, uint32_t, uint32_t, uint32_t, permuted_by_mode(a, b, c, 2))
TERNARY(prmt_b32_ecl, uint32_t, uint32_t, uint32_t, uint32_t, permuted_by_mode(a, b, c, 3))
TERNARY(prmt_b32_ecr, uint32_t, uint32_t, uint32_t, uint32_t, permuted_by_mode(a, b, c, 4))
TERNARY(prmt_b32_rc16, uint32_t, uint32_t, uint32_t, uint32_t, permuted_by_mode(a, b, c, 5))

// c and the products of four pairs of bytes, of the given signs.
#define DOT4(name, A, B)                                                     \
    static inline uint32_t name##_of(uint32_t a, uint32_t b, uint32_t c)     \
    {                                                                        \
        for (int k = 0; k < 4; k++)                                          \
            c += (uint32_t)((int32_t)(A)(a >> (8 * k)) * (int32_t)(B)(b >> (8 * k))); \
        return c;                                                            \
    }                                                                        \
    TERNARY(name, uint32_t, uint32_t, uint32_t, uint32_t, name##_of(a, b, c))
DOT4(dp4a_u32_u32, uint8_t, uint8_t)
DOT4(dp4a_u32_s32, uint8_t, int8_t)
DOT4(dp4a_s32_u32, int8_t, uint8_t)
DOT4(dp4a_s32_s32, int8_t, int8_t)

// ---- Predicates: 32 lanes are 32 bits.

#define PREDICATES(name, expression)                                         \
    static void name(Warp *w, const Instr *i, uint32_t mask)                 \
    {                                                                        \
        uint32_t *d = OPERAND(uint32_t, d);                                  \
        const uint32_t a = *OPERAND(uint32_t, a), b = *OPERAND(uint32_t, b); \
        (void)b;                                                             \
        *d = (*d & ~mask) | ((expression)&mask);                             \
    }
PREDICATES(and_pred, a &b)
PREDICATES(or_pred, a | b)
PREDICATES(xor_pred, a ^ b)
PREDICATES(not_pred, ~a)
PREDICATES(mov_pred, a)

// ---- Sums wider than a register: the carry is a register of its own.

#define CARRIES(T, W)                                                        \
    static inline T add_with_carry_##T(uint32_t *carry, T a, T b, bool in, bool out) \
    {                                                                        \
        const W sum = (W)a + b + (in ? *carry : 0);                          \
        if (out)                                                             \
            *carry = (uint32_t)(sum >> (8 * sizeof(T)));                     \
        return (T)sum;                                                       \
    }                                                                        \
    static inline T sub_with_carry_##T(uint32_t *carry, T a, T b, bool in, bool out) \
    {                                                                        \
        const W difference = (W)a - b - (in ? *carry : 0);                   \
        if (out)                                                             \
            *carry = (uint32_t)(difference >> (8 * sizeof(T))) & 1;          \
        return (T)difference;                                                \
    }
CARRIES(uint32_t, uint64_t)
CARRIES(uint64_t, u128)
#define CARRY OPERAND(uint32_t, second)[l]
#define WITH_CARRY(T, suffix)                                                \
    BINARY(add_cc_##suffix, T, T, T, add_with_carry_##T(&CARRY, a, b, false, true)) \
    BINARY(addc_##suffix, T, T, T, add_with_carry_##T(&CARRY, a, b, true, false)) \
    BINARY(addc_cc_##suffix, T, T, T, add_with_carry_##T(&CARRY, a, b, true, true)) \
    BINARY(sub_cc_##suffix, T, T, T, sub_with_carry_##T(&CARRY, a, b, false, true)) \
    BINARY(subc_##suffix, T, T, T, sub_with_carry_##T(&CARRY, a, b, true, false)) \
    BINARY(subc_cc_##suffix, T, T, T, sub_with_carry_##T(&CARRY, a, b, true, true)) \
    TERNARY(mad_lo_cc_##suffix, T, T, T, T, add_with_carry_##T(&CARRY, a *b, c, false, true)) \
    TERNARY(madc_lo_##suffix, T, T, T, T, add_with_carry_##T(&CARRY, a *b, c, true, false)) \
    TERNARY(madc_lo_cc_##suffix, T, T, T, T, add_with_carry_##T(&CARRY, a *b, c, true, true))
WITH_CARRY(uint32_t, 32)
WITH_CARRY(uint64_t, 64)
#define HIGH_32(a, b) ((uint32_t)(((uint64_t)(a) * (b)) >> 32))
#define HIGH_64(a, b) ((uint64_t)(((u128)(a) * (b)) >> 64))
TERNARY(mad_hi_cc_32, uint32_t, uint32_t, uint32_t, uint32_t, add_with_carry_uint32_t(&CARRY, HIGH_32(a, b), c, false, true))
TERNARY(madc_hi_32, uint32_t, uint32_t, uint32_t, uint32_t, add_with_carry_uint32_t(&CARRY, HIGH_32(a, b), c, true, false))
TERNARY(madc_hi_cc_32, uint32_t, uint32_t, uint32_t, uint32_t, add_with_carry_uint32_t(&CARRY, HIGH_32(a, b), c, true, true))
TERNARY(mad_hi_cc_64, uint64_t, uint64_t, uint64_t, uint64_t, add_with_carry_uint64_t(&CARRY, HIGH_64(a, b), c, false, true))
TERNARY(madc_hi_64, uint64_t, uint64_t, uint64_t, uint64_t, add_with_carry_uint64_t(&CARRY, HIGH_64(a, b), c, true, false))
TERNARY(madc_hi_cc_64, uint64_t, uint64_t, uint64_t, uint64_t, add_with_carry_uint64_t(&CARRY, HIGH_64(a, b), c, true, true))

// ---- The table. A "+" in types: the carry; "4": a fourth operand of 32 bits in `second`.

#define SIZED_ROWS(U, B, t, b, s, u, type)                                   \
    {"add." s, add_##U, t t t}, {"add." u, add_##U, t t t}, {"sub." s, sub_##U, t t t}, {"sub." u, sub_##U, t t t}, \
    {"mul.lo." s, mul_lo_##U, t t t}, {"mul.lo." u, mul_lo_##U, t t t},      \
    {"mad.lo." s, mad_lo_##U, t t t t}, {"mad.lo." u, mad_lo_##U, t t t t},  \
    {"and." b, and_##U, t t t}, {"or." b, or_##U, t t t}, {"xor." b, xor_##U, t t t}, {"not." b, not_##U, t t}, \
    {"cnot." b, cnot_##U, t t}, {"neg." s, neg_##U, t t}, {"abs." s, abs_##U, t t}, \
    {"shl." b, shl_##U, t t "i"}, {"shr." b, shr_##U, t t "i"},              \
    {"setp.eq." s, setp_eq_##U, "p" t t}, {"setp.ne." s, setp_ne_##U, "p" t t}, \
    {"setp.eq." u, setp_eq_##U, "p" t t}, {"setp.ne." u, setp_ne_##U, "p" t t}, \
    {"setp.eq." b, setp_eq_##U, "p" t t}, {"setp.ne." b, setp_ne_##U, "p" t t}, \
    {"selp." s, selp_##U, t t t "p"}, {"selp." u, selp_##U, t t t "p"}, {"selp." b, selp_##U, t t t "p"}, \
    {"mov." s, mov_##U, t t}, {"mov." u, mov_##U, t t}, {"mov." b, mov_##U, t t}
#define SIGNED_ROWS(T, t, s)                                                 \
    {"mul.hi." s, mul_hi_##T, t t t}, {"mad.hi." s, mad_hi_##T, t t t t},    \
    {"min." s, min_##T, t t t}, {"max." s, max_##T, t t t}, {"sad." s, sad_##T, t t t t}, \
    {"div." s, div_##T, t t t}, {"rem." s, rem_##T, t t t}, {"shr." s, shr_##T, t t "i"}, \
    {"setp.lt." s, setp_lt_##T, "p" t t}, {"setp.le." s, setp_le_##T, "p" t t}, \
    {"setp.gt." s, setp_gt_##T, "p" t t}, {"setp.ge." s, setp_ge_##T, "p" t t}, \
    {"setp.lo." s, setp_lt_##T, "p" t t}, {"setp.ls." s, setp_le_##T, "p" t t}, \
    {"setp.hi." s, setp_gt_##T, "p" t t}, {"setp.hs." s, setp_ge_##T, "p" t t}
#define CARRY_ROWS(size, t, s)                                               \
    {"add.cc." s, add_cc_##size, t t t "+"}, {"addc." s, addc_##size, t t t "+"}, \
    {"addc.cc." s, addc_cc_##size, t t t "+"}, {"sub.cc." s, sub_cc_##size, t t t "+"}, \
    {"subc." s, subc_##size, t t t "+"}, {"subc.cc." s, subc_cc_##size, t t t "+"}, \
    {"mad.lo.cc." s, mad_lo_cc_##size, t t t t "+"}, {"madc.lo." s, madc_lo_##size, t t t t "+"}, \
    {"madc.lo.cc." s, madc_lo_cc_##size, t t t t "+"}
#define HIGH_CARRY_ROWS(size, t, u)                                          \
    {"mad.hi.cc." u, mad_hi_cc_##size, t t t t "+"}, {"madc.hi." u, madc_hi_##size, t t t t "+"}, \
    {"madc.hi.cc." u, madc_hi_cc_##size, t t t t "+"}

static Operation operations[] = {
    SIZED_ROWS(uint16_t, 16, "h", "b16", "s16", "u16", ),
    SIZED_ROWS(uint32_t, 32, "i", "b32", "s32", "u32", ),
    SIZED_ROWS(uint64_t, 64, "l", "b64", "s64", "u64", ),
    SIGNED_ROWS(int16_t, "h", "s16"), SIGNED_ROWS(uint16_t, "h", "u16"), SIGNED_ROWS(int32_t, "i", "s32"),
    SIGNED_ROWS(uint32_t, "i", "u32"), SIGNED_ROWS(int64_t, "l", "s64"), SIGNED_ROWS(uint64_t, "l", "u64"),
    CARRY_ROWS(32, "i", "u32"), CARRY_ROWS(32, "i", "s32"), CARRY_ROWS(64, "l", "u64"), CARRY_ROWS(64, "l", "s64"),
    HIGH_CARRY_ROWS(32, "i", "u32"), HIGH_CARRY_ROWS(64, "l", "u64"),
    {"mul.wide.s16", mul_wide_int16_t, "ihh"}, {"mul.wide.u16", mul_wide_uint16_t, "ihh"},
    {"mul.wide.s32", mul_wide_int32_t, "lii"}, {"mul.wide.u32", mul_wide_uint32_t, "lii"},
    {"mad.wide.s16", mad_wide_int16_t, "ihhi"}, {"mad.wide.u16", mad_wide_uint16_t, "ihhi"},
    {"mad.wide.s32", mad_wide_int32_t, "liil"}, {"mad.wide.u32", mad_wide_uint32_t, "liil"},
    {"mul24.lo.s32", mul24_lo_s32, "iii"}, {"mul24.lo.u32", mul24_lo_u32, "iii"},
    {"mul24.hi.s32", mul24_hi_s32, "iii"}, {"mul24.hi.u32", mul24_hi_u32, "iii"},
    {"mad24.lo.s32", mad24_lo_s32, "iiii"}, {"mad24.lo.u32", mad24_lo_u32, "iiii"},
    {"add.sat.s32", add_sat_s32, "iii"}, {"sub.sat.s32", sub_sat_s32, "iii"}, {"mad.hi.sat.s32", mad_hi_sat_s32, "iiii"},
    {"popc.b32", popc_b32, "ii"}, {"popc.b64", popc_b64, "il"}, {"clz.b32", clz_b32, "ii"}, {"clz.b64", clz_b64, "il"},
    {"brev.b32", brev_b32, "ii"}, {"brev.b64", brev_b64, "ll"},
    {"bfind.u32", bfind_u32, "ii"}, {"bfind.s32", bfind_s32, "ii"}, {"bfind.u64", bfind_u64, "il"},
    {"bfind.s64", bfind_s64, "il"}, {"bfind.shiftamt.u32", bfind_shiftamt_u32, "ii"},
    {"bfind.shiftamt.s32", bfind_shiftamt_s32, "ii"}, {"bfind.shiftamt.u64", bfind_shiftamt_u64, "il"},
    {"bfind.shiftamt.s64", bfind_shiftamt_s64, "il"},
    {"bfe.u32", bfe_u32, "iiii"}, {"bfe.s32", bfe_s32, "iiii"}, {"bfe.u64", bfe_u64, "llii"}, {"bfe.s64", bfe_s64, "llii"},
    {"bfi.b32", bfi_b32, "iiii4"}, {"bfi.b64", bfi_b64, "llli4"},
    {"bmsk.clamp.b32", bmsk_clamp_b32, "iii"}, {"bmsk.wrap.b32", bmsk_wrap_b32, "iii"},
    {"shf.l.wrap.b32", shf_l_wrap_b32, "iiii"}, {"shf.r.wrap.b32", shf_r_wrap_b32, "iiii"},
    {"shf.l.clamp.b32", shf_l_clamp_b32, "iiii"}, {"shf.r.clamp.b32", shf_r_clamp_b32, "iiii"},
    {"lop3.b32", lop3_b32, "iiii4"}, {"prmt.b32", prmt_b32, "iiii"}, {"prmt.b32.f4e", prmt_b32_f4e, "iiii"},
    {"prmt.b32.b4e", prmt_b32_b4e, "iiii"}, {"prmt.b32.rc8", prmt_b32_rc8, "iiii"},
    {"prmt.b32.ecl", prmt_b32_ecl, "iiii"}, {"prmt.b32.ecr", prmt_b32_ecr, "iiii"},
    {"prmt.b32.rc16", prmt_b32_rc16, "iiii"},
    {"dp4a.u32.u32", dp4a_u32_u32, "iiii"}, {"dp4a.u32.s32", dp4a_u32_s32, "iiii"},
    {"dp4a.s32.u32", dp4a_s32_u32, "iiii"}, {"dp4a.s32.s32", dp4a_s32_s32, "iiii"},
    {"and.pred", and_pred, "ppp"}, {"or.pred", or_pred, "ppp"}, {"xor.pred", xor_pred, "ppp"},
    {"not.pred", not_pred, "pp"}, {"mov.pred", mov_pred, "pp"},
    {"mov.f16", mov_uint16_t, "hh"}, {"mov.bf16", mov_uint16_t, "hh"}, {"mov.f16x2", mov_uint32_t, "ii"},
    {"mov.f32", mov_uint32_t, "ff"}, {"mov.f64", mov_uint64_t, "dd"}, {"mov.b8", mov_uint8_t, "cc"},
    {"selp.f16", selp_uint16_t, "hhhp"}, {"selp.f32", selp_uint32_t, "fffp"}, {"selp.f64", selp_uint64_t, "dddp"},
};

static int by_name(const void *a, const void *b)
{
    return strcmp(((const Operation *)a)->name, ((const Operation *)b)->name);
}

static int against_slice(const void *key, const void *element)
{
    const Slice *opcode = key;
    const char *name = ((const Operation *)element)->name;
    const int order = strncmp(opcode->text, name, opcode->length);
    return order ? order : name[opcode->length] ? -1 : 0;
}

const Operation *sim_alu_operation(Slice opcode)
{
    static bool sorted;
    const size_t count = sizeof operations / sizeof *operations;
    if (!sorted)
        qsort(operations, count, sizeof *operations, by_name);
    sorted = true;
    return bsearch(&opcode, operations, count, sizeof *operations, against_slice);
}
