// alu.c: integer and bit operations, selection and comparison.
#include "machine/ops/instructions.h"
#include "machine/ops/lanes.h"

void sim_set_predicates(Warp *w, const Instr *i, uint32_t mask, uint32_t result)
{
    uint32_t combined = i->flags & COMBINE ? *OPERAND(uint32_t, c) : 0;
    if (i->flags & COMBINE_NEGATED)
        combined = ~combined;
    uint32_t p = result, q = ~result;
    if (i->flags & COMBINE) {
        p = i->combine == COMBINE_AND ? p & combined : i->combine == COMBINE_OR ? p | combined : p ^ combined;
        q = i->combine == COMBINE_AND ? q & combined : i->combine == COMBINE_OR ? q | combined : q ^ combined;
    }
    if (i->d != NO_OFFSET) {
        uint32_t *d = OPERAND(uint32_t, d);
        *d = (*d & ~mask) | (p & mask);
    }
    if (i->second != NO_OFFSET) {
        uint32_t *second = OPERAND(uint32_t, second);
        *second = (*second & ~mask) | (q & mask);
    }
}

typedef __int128 s128;
typedef unsigned __int128 u128;

// Operations on integers of type T; S and U are its signed and unsigned types, W is twice as wide.
#define INTEGER_OPERATIONS(T, S, U, W)                                                           \
    BINARY(mul_hi_##T, T, T, T, ((W)a * (W)b) >> (8 * sizeof(T)))                                \
    TERNARY(mad_hi_##T, T, T, T, T, (U)(((W)a * (W)b) >> (8 * sizeof(T))) + (U)c)                \
    BINARY(min_##T, T, T, T, a < b ? a : b)                                                      \
    BINARY(max_##T, T, T, T, a > b ? a : b)                                                      \
    TERNARY(sad_##T, T, T, T, T, (U)c + (a < b ? (U)b - (U)a : (U)a - (U)b))                     \
    BINARY(div_##T, T, T, T, divide_##T(a, b))                                                   \
    BINARY(rem_##T, T, T, T, remainder_##T(a, b))                                                \
    BINARY(shr_##T, T, T, uint32_t, b < 8 * sizeof(T) ? a >> b : (S)-1 < 0 && a < 0 ? (T)-1 : 0) \
    COMPARE(setp_lt_##T, T, a < b)                                                               \
    COMPARE(setp_le_##T, T, a <= b)                                                              \
    COMPARE(setp_gt_##T, T, a > b)                                                               \
    COMPARE(setp_ge_##T, T, a >= b)

// Operations that do not depend on the sign.
#define SIGNLESS_OPERATIONS(U, S)                                                                        \
    BINARY(add_##U, U, U, U, a + b)                                                                      \
    BINARY(sub_##U, U, U, U, a - b)                                                                      \
    BINARY(mul_lo_##U, U, U, U, (uint64_t)a * b)                                                         \
    TERNARY(mad_lo_##U, U, U, U, U, (uint64_t)a * b + c)                                                 \
    BINARY(and_##U, U, U, U, a & b)                                                                      \
    BINARY(or_##U, U, U, U, a | b)                                                                       \
    BINARY(xor_##U, U, U, U, a ^ b)                                                                      \
    UNARY(not_##U, U, U, ~a)                                                                             \
    UNARY(cnot_##U, U, U, a == 0)                                                                        \
    UNARY(neg_##U, U, U, (U)0 - a)                                                                       \
    UNARY(abs_##U, U, U, (S)a < 0 ? (U)0 - a : a)                                                        \
    BINARY(shl_##U, U, U, uint32_t, b < 8 * sizeof(U) ? (uint64_t)a << b : 0)                            \
    COMPARE(setp_eq_##U, U, a == b)                                                                      \
    COMPARE(setp_ne_##U, U, a != b)                                                                      \
    static void selp_##U(Warp *w, const Instr *i, uint32_t mask)                                         \
    {                                                                                                    \
        U *d = OPERAND(U, d);                                                                            \
        const U *as = OPERAND(U, a);                                                                     \
        const U *bs = OPERAND(U, b);                                                                     \
        const uint32_t selects_a = *OPERAND(uint32_t, c) ^ (i->flags & COMBINE_NEGATED ? ALL_LANES : 0); \
        FOR_EACH_LANE(const U a = as[l]; const U b = bs[l]; d[l] = selects_a >> l & 1 ? a : b)           \
    }

// Division by zero yields all ones, as on a GPU; the remainder is then the dividend.
#define DIVISION(T, minimum)                                                                              \
    static inline T divide_##T(T a, T b)                                                                  \
    {                                                                                                     \
        return b == 0 ? (T)-1 : (T)-1 < 0 && b == (T)-1 ? (a == (minimum) ? a : (T)(0 - a)) : (T)(a / b); \
    }                                                                                                     \
    static inline T remainder_##T(T a, T b)                                                               \
    {                                                                                                     \
        return b == 0 ? a : (T)-1 < 0 && b == (T)-1 ? 0 : (T)(a % b);                                     \
    }

DIVISION(int16_t, INT16_MIN)
DIVISION(uint16_t, 0)

// 32-bit division in double precision, which vectorises. It is exact: a quotient that is not an integer is further from the
// next integer than the rounding error.
static inline uint32_t divide_uint32_t(uint32_t a, uint32_t b)
{
    const uint32_t quotient = (uint32_t)(int64_t)((double)a / (b == 0 ? 1 : b));
    return b == 0 ? UINT32_MAX : quotient;
}

static inline uint32_t remainder_uint32_t(uint32_t a, uint32_t b)
{
    return b == 0 ? a : a - divide_uint32_t(a, b) * b;
}

static inline int32_t divide_int32_t(int32_t a, int32_t b) // INT32_MIN / -1 is INT32_MIN
{
    const uint32_t quotient = (uint32_t)(int64_t)((double)a / (b == 0 ? 1 : b));
    return b == 0 ? -1 : (int32_t)quotient;
}

static inline int32_t remainder_int32_t(int32_t a, int32_t b)
{
    return b == 0 ? a : (int32_t)((uint32_t)a - (uint32_t)divide_int32_t(a, b) * (uint32_t)b);
}

DIVISION(int64_t, INT64_MIN)
DIVISION(uint64_t, 0)

INTEGER_OPERATIONS(int16_t, int16_t, uint16_t, int32_t)
INTEGER_OPERATIONS(uint16_t, uint16_t, uint16_t, uint32_t)
INTEGER_OPERATIONS(int32_t, int32_t, uint32_t, int64_t)
INTEGER_OPERATIONS(uint32_t, uint32_t, uint32_t, uint64_t)
INTEGER_OPERATIONS(int64_t, int64_t, uint64_t, s128)
INTEGER_OPERATIONS(uint64_t, uint64_t, uint64_t, u128)
SIGNLESS_OPERATIONS(uint16_t, int16_t)
SIGNLESS_OPERATIONS(uint32_t, int32_t)
SIGNLESS_OPERATIONS(uint64_t, int64_t)

BINARY(mul_wide_int16_t, int32_t, int16_t, int16_t, (int32_t)a * b)
BINARY(mul_wide_uint16_t, uint32_t, uint16_t, uint16_t, (uint32_t)a * b)
BINARY(mul_wide_int32_t, int64_t, int32_t, int32_t, (int64_t)a * b)
BINARY(mul_wide_uint32_t, uint64_t, uint32_t, uint32_t, (uint64_t)a * b)
TERNARY(mad_wide_int16_t, uint32_t, int16_t, int16_t, uint32_t, (uint32_t)((int32_t)a * b) + c)
TERNARY(mad_wide_uint16_t, uint32_t, uint16_t, uint16_t, uint32_t, (uint32_t)a * b + c)
TERNARY(mad_wide_int32_t, uint64_t, int32_t, int32_t, uint64_t, (uint64_t)((int64_t)a * b) + c)
TERNARY(mad_wide_uint32_t, uint64_t, uint32_t, uint32_t, uint64_t, (uint64_t)a * b + c)

// The low and high halves of the product of the operands' low 24 bits.
#define LOW_24(x) ((int64_t)((uint64_t)(x) << 40) >> 40)
BINARY(mul24_lo_s32, uint32_t, uint32_t, uint32_t, LOW_24(a) * LOW_24(b))
BINARY(mul24_hi_s32, uint32_t, uint32_t, uint32_t, (LOW_24(a) * LOW_24(b)) >> 16)
BINARY(mul24_lo_u32, uint32_t, uint32_t, uint32_t, (uint64_t)(a & 0xffffff) * (b & 0xffffff))
BINARY(mul24_hi_u32, uint32_t, uint32_t, uint32_t, ((uint64_t)(a & 0xffffff) * (b & 0xffffff)) >> 16)
TERNARY(mad24_lo_s32, uint32_t, uint32_t, uint32_t, uint32_t, LOW_24(a) * LOW_24(b) + c)
TERNARY(mad24_lo_u32, uint32_t, uint32_t, uint32_t, uint32_t, (uint64_t)(a & 0xffffff) * (b & 0xffffff) + c)

static inline int32_t saturate(int64_t value)
{
    return value < INT32_MIN ? INT32_MIN : value > INT32_MAX ? INT32_MAX : (int32_t)value;
}
BINARY(add_sat_s32, int32_t, int32_t, int32_t, saturate((int64_t)a + b))
BINARY(sub_sat_s32, int32_t, int32_t, int32_t, saturate((int64_t)a - b))
TERNARY(mad_hi_sat_s32, int32_t, int32_t, int32_t, int32_t, saturate((((int64_t)a * b) >> 32) + c))

// Operations on the two halves of a register. relu: negative results become 0.
#define HALVES(name, T, expression)                                          \
    static inline T name##_half(T a, T b)                                    \
    {                                                                        \
        return (T)(expression);                                              \
    }                                                                        \
    BINARY(name, uint32_t, uint32_t, uint32_t,                               \
           (uint32_t)(uint16_t)name##_half((T)(a >> 16), (T)(b >> 16)) << 16 | (uint16_t)name##_half((T)a, (T)b))
HALVES(add_x2, uint16_t, a + b)
HALVES(min_u16x2, uint16_t, a < b ? a : b)
HALVES(max_u16x2, uint16_t, a < b ? b : a)
HALVES(min_s16x2, int16_t, a < b ? a : b)
HALVES(max_s16x2, int16_t, a < b ? b : a)
HALVES(min_relu_s16x2, int16_t, a < 0 || b < 0 ? 0 : a < b ? a : b)
HALVES(max_relu_s16x2, int16_t, a < 0 && b < 0 ? 0 : a < b ? b : a)
BINARY(min_relu_s32, int32_t, int32_t, int32_t, a < 0 || b < 0 ? 0 : a < b ? a : b)
BINARY(max_relu_s32, int32_t, int32_t, int32_t, a < 0 && b < 0 ? 0 : a < b ? b : a)

// ---- Bits

static inline uint32_t leading_zeros(uint64_t value, int bits)
{
    return value ? (uint32_t)(__builtin_clzll(value) - (64 - bits)) : (uint32_t)bits;
}
UNARY(popc_b32, uint32_t, uint32_t, __builtin_popcount(a))
UNARY(popc_b64, uint32_t, uint64_t, __builtin_popcountll(a))
UNARY(clz_b32, uint32_t, uint32_t, leading_zeros(a, 32))
UNARY(clz_b64, uint32_t, uint64_t, leading_zeros(a, 64))

static inline uint64_t reverse_bits(uint64_t a)
{
    a = (a >> 1 & 0x5555555555555555) | (a & 0x5555555555555555) << 1;
    a = (a >> 2 & 0x3333333333333333) | (a & 0x3333333333333333) << 2;
    a = (a >> 4 & 0x0f0f0f0f0f0f0f0f) | (a & 0x0f0f0f0f0f0f0f0f) << 4;
    return __builtin_bswap64(a);
}
UNARY(brev_b32, uint32_t, uint32_t, reverse_bits(a) >> 32)
UNARY(brev_b64, uint64_t, uint64_t, reverse_bits(a))

// The position of the highest set bit or, with `shift`, its distance from the top bit.
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

// The field of c bits at bit b of a, sign- or zero-extended.
static inline uint64_t extract_field(uint64_t a, uint32_t b, uint32_t c, int bits, bool sign_extends)
{
    const uint32_t position = b & 0xff, length = c & 0xff, top = (uint32_t)bits - 1;
    if (length == 0)
        return 0;
    const uint64_t value = position < (uint32_t)bits ? a >> position : 0;
    const uint32_t last = position + length - 1 < top ? position + length - 1 : top;
    const bool sign = sign_extends && (a >> last & 1);
    const uint32_t valid = last < position ? 0 : last - position + 1;
    const uint64_t low = valid >= 64 ? UINT64_MAX : (1ull << valid) - 1;
    return sign ? value | ~low : value & low;
}
TERNARY(bfe_u32, uint32_t, uint32_t, uint32_t, uint32_t, extract_field(a, b, c, 32, false))
TERNARY(bfe_s32, uint32_t, uint32_t, uint32_t, uint32_t, extract_field(a, b, c, 32, true))
TERNARY(bfe_u64, uint64_t, uint64_t, uint32_t, uint32_t, extract_field(a, b, c, 64, false))
TERNARY(bfe_s64, uint64_t, uint64_t, uint32_t, uint32_t, extract_field(a, b, c, 64, true))

// b with the low `length` bits of a inserted at `position`.
static inline uint64_t insert_field(uint64_t a, uint64_t b, uint32_t position, uint32_t length, uint32_t bits)
{
    position &= 0xff;
    length &= 0xff;
    if (position >= bits || length == 0)
        return b;
    const uint64_t low = length >= 64 ? UINT64_MAX : (1ull << length) - 1;
    return (b & ~(low << position)) | (a & low) << position;
}
#define INSERT(name, T, bits)                                                     \
    static void name(Warp *w, const Instr *i, uint32_t mask)                      \
    {                                                                             \
        T *d = OPERAND(T, d);                                                     \
        const T *a = OPERAND(T, a), *b = OPERAND(T, b);                           \
        const uint32_t *c = OPERAND(uint32_t, c), *length = OPERAND(uint32_t, e); \
        FOR_EACH_LANE(d[l] = (T)insert_field(a[l], b[l], c[l], length[l], bits))  \
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

static inline uint32_t funnel_shift(uint32_t low, uint32_t high, uint32_t shift, bool left)
{
    const uint64_t both = (uint64_t)high << 32 | low;
    return left ? (uint32_t)((both << shift) >> 32) : (uint32_t)(both >> shift);
}
TERNARY(shf_l_wrap_b32, uint32_t, uint32_t, uint32_t, uint32_t, funnel_shift(a, b, c & 31, true))
TERNARY(shf_r_wrap_b32, uint32_t, uint32_t, uint32_t, uint32_t, funnel_shift(a, b, c & 31, false))
TERNARY(shf_l_clamp_b32, uint32_t, uint32_t, uint32_t, uint32_t, funnel_shift(a, b, c < 32 ? c : 32, true))
TERNARY(shf_r_clamp_b32, uint32_t, uint32_t, uint32_t, uint32_t, funnel_shift(a, b, c < 32 ? c : 32, false))

// A Boolean function of three bits: its value is bit (a << 2 | b << 1 | c) of the table.
static void lop3_b32(Warp *w, const Instr *i, uint32_t mask)
{
    uint32_t *d = OPERAND(uint32_t, d);
    const uint32_t *as = OPERAND(uint32_t, a), *bs = OPERAND(uint32_t, b), *cs = OPERAND(uint32_t, c);
    const uint32_t table = *OPERAND(uint32_t, e);
    FOR_EACH_LANE(
        const uint32_t a = as[l]; const uint32_t b = bs[l]; const uint32_t c = cs[l]; uint32_t value = 0;
        value |= table & 1 ? ~a & ~b & ~c : 0; value |= table & 2 ? ~a & ~b & c : 0;
        value |= table & 4 ? ~a & b & ~c : 0; value |= table & 8 ? ~a & b & c : 0;
        value |= table & 16 ? a & ~b & ~c : 0; value |= table & 32 ? a & ~b & c : 0;
        value |= table & 64 ? a & b & ~c : 0; value |= table & 128 ? a & b & c : 0; d[l] = value)
}

// Four of the eight bytes of a and b, selected by the nibbles of c; bit 3 replicates the byte's sign.
static inline uint32_t permute_bytes(uint32_t a, uint32_t b, uint32_t c)
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
static inline uint32_t permute_by_mode(uint32_t a, uint32_t b, uint32_t c, int mode)
{
    static const uint16_t SELECTORS[6][4] = {
        {0x3210, 0x4321, 0x5432, 0x6543}, // f4e: four bytes forward from byte c
        {0x5670, 0x6701, 0x7012, 0x0123}, // b4e: backward
        {0x0000, 0x1111, 0x2222, 0x3333}, // rc8: byte c four times
        {0x3210, 0x3211, 0x3222, 0x3333}, // ecl: clamped from the left
        {0x0000, 0x1110, 0x2210, 0x3210}, // ecr: from the right
        {0x1010, 0x3232, 0x1010, 0x3232}, // rc16: a half twice
    };
    return permute_bytes(a, b, SELECTORS[mode][c & 3]);
}
TERNARY(prmt_b32, uint32_t, uint32_t, uint32_t, uint32_t, permute_bytes(a, b, c))
TERNARY(prmt_b32_f4e, uint32_t, uint32_t, uint32_t, uint32_t, permute_by_mode(a, b, c, 0))
TERNARY(prmt_b32_b4e, uint32_t, uint32_t, uint32_t, uint32_t, permute_by_mode(a, b, c, 1))
TERNARY(prmt_b32_rc8, uint32_t, uint32_t, uint32_t, uint32_t, permute_by_mode(a, b, c, 2))
TERNARY(prmt_b32_ecl, uint32_t, uint32_t, uint32_t, uint32_t, permute_by_mode(a, b, c, 3))
TERNARY(prmt_b32_ecr, uint32_t, uint32_t, uint32_t, uint32_t, permute_by_mode(a, b, c, 4))
TERNARY(prmt_b32_rc16, uint32_t, uint32_t, uint32_t, uint32_t, permute_by_mode(a, b, c, 5))

// c plus the products of four pairs of bytes.
#define DOT4(name, A, B)                                                              \
    static inline uint32_t name##_of(uint32_t a, uint32_t b, uint32_t c)              \
    {                                                                                 \
        for (int k = 0; k < 4; k++)                                                   \
            c += (uint32_t)((int32_t)(A)(a >> (8 * k)) * (int32_t)(B)(b >> (8 * k))); \
        return c;                                                                     \
    }                                                                                 \
    TERNARY(name, uint32_t, uint32_t, uint32_t, uint32_t, name##_of(a, b, c))
DOT4(dp4a_u32_u32, uint8_t, uint8_t)
DOT4(dp4a_u32_s32, uint8_t, int8_t)
DOT4(dp4a_s32_u32, int8_t, uint8_t)
DOT4(dp4a_s32_s32, int8_t, int8_t)

// c plus the products of a's two halves with two bytes of b.
#define DOT2(name, A, B, first)                                              \
    TERNARY(name, uint32_t, uint32_t, uint32_t, uint32_t,                    \
            c + (uint32_t)((int32_t)(A)a * (int32_t)(B)(b >> (first))) +     \
                (uint32_t)((int32_t)(A)(a >> 16) * (int32_t)(B)(b >> ((first) + 8))))
#define DOT2_SIGNS(name, first)                                                                  \
    DOT2(name##_u32_u32, uint16_t, uint8_t, first) DOT2(name##_u32_s32, uint16_t, int8_t, first) \
    DOT2(name##_s32_u32, int16_t, uint8_t, first) DOT2(name##_s32_s32, int16_t, int8_t, first)
DOT2_SIGNS(dp2a_lo, 0)
DOT2_SIGNS(dp2a_hi, 16)

// The position of the n-th set bit, counted upwards from position b, or downwards if n is negative. Bit b counts.
static inline uint32_t nth_bit(uint32_t a, uint32_t b, int32_t n)
{
    if (n == 0)
        return b < 32 && a >> b & 1 ? b : UINT32_MAX;
    const int step = n > 0 ? 1 : -1;
    int64_t remaining = n > 0 ? n : -(int64_t)n;
    for (int64_t position = b; position >= 0 && position < 32; position += step)
        if (a >> position & 1 && --remaining == 0)
            return (uint32_t)position;
    return UINT32_MAX;
}
TERNARY(fns_b32, uint32_t, uint32_t, uint32_t, int32_t, nth_bit(a, b, c))

// The low b bits of a, sign- or zero-extended. clamp: all bits if b >= 32.
static inline uint32_t extend(uint32_t a, uint32_t b, bool sign_extends, bool clamp)
{
    if (clamp && b >= 32)
        return a;
    const uint32_t unused = 32 - (b & 31);
    return unused == 32 ? 0 : sign_extends ? (uint32_t)((int32_t)(a << unused) >> unused) : a << unused >> unused;
}
BINARY(szext_clamp_s32, uint32_t, uint32_t, uint32_t, extend(a, b, true, true))
BINARY(szext_clamp_u32, uint32_t, uint32_t, uint32_t, extend(a, b, false, true))
BINARY(szext_wrap_s32, uint32_t, uint32_t, uint32_t, extend(a, b, true, false))
BINARY(szext_wrap_u32, uint32_t, uint32_t, uint32_t, extend(a, b, false, false))

// ---- Predicates: one bit for each of the 32 lanes

#define PREDICATES(name, expression)                                         \
    static void name(Warp *w, const Instr *i, uint32_t mask)                 \
    {                                                                        \
        uint32_t *d = OPERAND(uint32_t, d);                                  \
        const uint32_t a = *OPERAND(uint32_t, a), b = *OPERAND(uint32_t, b); \
        (void)b;                                                             \
        *d = (*d & ~mask) | ((expression) & mask);                           \
    }
PREDICATES(and_pred, a & b)
PREDICATES(or_pred, a | b)
PREDICATES(xor_pred, a ^ b)
PREDICATES(not_pred, ~a)

// ---- Extended precision: the carry is a register

#define CARRY_OPERATIONS(T, W)                                                       \
    static inline T add_with_carry_##T(uint32_t *carry, T a, T b, bool in, bool out) \
    {                                                                                \
        const W sum = (W)a + b + (in ? *carry : 0);                                  \
        if (out)                                                                     \
            *carry = (uint32_t)(sum >> (8 * sizeof(T)));                             \
        return (T)sum;                                                               \
    }                                                                                \
    static inline T sub_with_carry_##T(uint32_t *carry, T a, T b, bool in, bool out) \
    {                                                                                \
        const W difference = (W)a - b - (in ? *carry : 0);                           \
        if (out)                                                                     \
            *carry = (uint32_t)(difference >> (8 * sizeof(T))) & 1;                  \
        return (T)difference;                                                        \
    }
CARRY_OPERATIONS(uint32_t, uint64_t)
CARRY_OPERATIONS(uint64_t, u128)
#define CARRY OPERAND(uint32_t, carry)[l]
#define WITH_CARRY(T)                                                                     \
    BINARY(add_cc_##T, T, T, T, add_with_carry_##T(&CARRY, a, b, false, true))            \
    BINARY(addc_##T, T, T, T, add_with_carry_##T(&CARRY, a, b, true, false))              \
    BINARY(addc_cc_##T, T, T, T, add_with_carry_##T(&CARRY, a, b, true, true))            \
    BINARY(sub_cc_##T, T, T, T, sub_with_carry_##T(&CARRY, a, b, false, true))            \
    BINARY(subc_##T, T, T, T, sub_with_carry_##T(&CARRY, a, b, true, false))              \
    BINARY(subc_cc_##T, T, T, T, sub_with_carry_##T(&CARRY, a, b, true, true))            \
    TERNARY(mad_lo_cc_##T, T, T, T, T, add_with_carry_##T(&CARRY, a * b, c, false, true)) \
    TERNARY(madc_lo_##T, T, T, T, T, add_with_carry_##T(&CARRY, a * b, c, true, false))   \
    TERNARY(madc_lo_cc_##T, T, T, T, T, add_with_carry_##T(&CARRY, a * b, c, true, true))
WITH_CARRY(uint32_t)
WITH_CARRY(uint64_t)
#define HIGH_32(a, b) ((uint32_t)(((uint64_t)(a) * (b)) >> 32))
#define HIGH_64(a, b) ((uint64_t)(((u128)(a) * (b)) >> 64))
TERNARY(mad_hi_cc_32, uint32_t, uint32_t, uint32_t, uint32_t,
        add_with_carry_uint32_t(&CARRY, HIGH_32(a, b), c, false, true))
TERNARY(madc_hi_32, uint32_t, uint32_t, uint32_t, uint32_t,
        add_with_carry_uint32_t(&CARRY, HIGH_32(a, b), c, true, false))
TERNARY(madc_hi_cc_32, uint32_t, uint32_t, uint32_t, uint32_t,
        add_with_carry_uint32_t(&CARRY, HIGH_32(a, b), c, true, true))
TERNARY(mad_hi_cc_64, uint64_t, uint64_t, uint64_t, uint64_t,
        add_with_carry_uint64_t(&CARRY, HIGH_64(a, b), c, false, true))
TERNARY(madc_hi_64, uint64_t, uint64_t, uint64_t, uint64_t,
        add_with_carry_uint64_t(&CARRY, HIGH_64(a, b), c, true, false))
TERNARY(madc_hi_cc_64, uint64_t, uint64_t, uint64_t, uint64_t,
        add_with_carry_uint64_t(&CARRY, HIGH_64(a, b), c, true, true))

// slct: a if c is not negative, otherwise b.
#define SELECT_BY_SIGN(T)                                                    \
    TERNARY(slct_s32_##T, T, T, T, int32_t, c >= 0 ? a : b)                  \
    TERNARY(slct_f32_##T, T, T, T, float, c >= 0 ? a : b)
SELECT_BY_SIGN(uint16_t)
SELECT_BY_SIGN(uint32_t)
SELECT_BY_SIGN(uint64_t)

// ---- Decoding

// In slct.b64.s32, the first type is that of d, a and b, the second that of c.
static bool decode_select_by_sign(Decoder *d, const Statement *s, const Opcode *o, Instr *i)
{
    static Handler *const HANDLERS[][3] = {{slct_s32_uint16_t, slct_s32_uint32_t, slct_s32_uint64_t},
                                           {slct_f32_uint16_t, slct_f32_uint32_t, slct_f32_uint64_t}};
    const Type selected = sim_type_named(o->parts[o->count - 2]);
    const int bytes = sim_type_bytes(selected);
    const char letter = sim_letter_of_type(selected), condition = sim_letter_of_type(o->type);
    i->run = HANDLERS[o->type == F32][bytes / 4];
    return sim_plain_operands(d, s, o, i, (char[]){letter, letter, letter, condition, 0});
}

// setp.lt.and.s32 p|q, a, b, c: the result and its complement are each combined with c.
bool sim_decode_comparison(Decoder *d, const Statement *s, const Opcode *o, Instr *i)
{
    static const char *const LOGIC[] = {"and", "or", "xor"}; // in the order of COMBINE_AND ...
    i->combine = (uint8_t)sim_modifier_among(o, LOGIC, 3);
    if (i->combine < 3)
        i->flags |= COMBINE;
    return sim_plain_operands(d, s, o, i, i->combine < 3 ? "pttp" : "ptt");
}

// Handlers of an operation, indexed by type. ANY_SIGN: one handler for signed and unsigned types. SIGNED: different ones.
// UNSIGNED, SIGNED_ONLY, BITS: for these types only.
#define ANY_SIGN(f) [S16] = f##_uint16_t, [U16] = f##_uint16_t, [S32] = f##_uint32_t, [U32] = f##_uint32_t, \
                 [S64] = f##_uint64_t, [U64] = f##_uint64_t
#define SIGNED(f) [S16] = f##_int16_t, [S32] = f##_int32_t, [S64] = f##_int64_t, UNSIGNED(f)
#define UNSIGNED(f) [U16] = f##_uint16_t, [U32] = f##_uint32_t, [U64] = f##_uint64_t
#define SIGNED_ONLY(f) [S16] = f##_uint16_t, [S32] = f##_uint32_t, [S64] = f##_uint64_t
#define BITS(f) [B16] = f##_uint16_t, [B32] = f##_uint32_t, [B64] = f##_uint64_t
#define WIDENED(f) [S16] = f##_int16_t, [U16] = f##_uint16_t, [S32] = f##_int32_t, [U32] = f##_uint32_t
#define CARRIED(f) [S32] = f##_uint32_t, [U32] = f##_uint32_t, [S64] = f##_uint64_t, [U64] = f##_uint64_t

static const Instruction ROWS[] = {
    {"add TYPE", "ttt", .kind = SUM, .by_type = {ANY_SIGN(add), [S16X2] = add_x2, [U16X2] = add_x2}},
    {"add sat TYPE", "ttt", .by_type = {[S32] = add_sat_s32}},
    {"sub TYPE", "ttt", .kind = DIFFERENCE, .by_type = {ANY_SIGN(sub)}},
    {"sub sat TYPE", "ttt", .by_type = {[S32] = sub_sat_s32}},
    {"mul lo TYPE", "ttt", .kind = PRODUCT, .by_type = {ANY_SIGN(mul_lo)}},
    {"mul hi TYPE", "ttt", .by_type = {SIGNED(mul_hi)}},
    {"mul wide TYPE", "wtt", .kind = PRODUCT, .by_type = {WIDENED(mul_wide)}},
    {"mad lo TYPE", "tttt", .kind = MULTIPLY_ADD, .by_type = {ANY_SIGN(mad_lo)}},
    {"mad hi TYPE", "tttt", .by_type = {SIGNED(mad_hi)}},
    {"mad hi sat TYPE", "tttt", .by_type = {[S32] = mad_hi_sat_s32}},
    {"mad wide TYPE", "wttw", .kind = MULTIPLY_ADD, .by_type = {WIDENED(mad_wide)}},
    {"mul24 lo TYPE", "ttt", .by_type = {[S32] = mul24_lo_s32, [U32] = mul24_lo_u32}},
    {"mul24 hi TYPE", "ttt", .by_type = {[S32] = mul24_hi_s32, [U32] = mul24_hi_u32}},
    {"mad24 lo TYPE", "tttt", .by_type = {[S32] = mad24_lo_s32, [U32] = mad24_lo_u32}},
    {"sad TYPE", "tttt", .by_type = {SIGNED(sad)}},
    {"div TYPE", "ttt", .kind = QUOTIENT, .by_type = {SIGNED(div)}},
    {"rem TYPE", "ttt", .kind = REMAINDER, .by_type = {SIGNED(rem)}},
    {"abs TYPE", "tt", .by_type = {SIGNED_ONLY(abs)}},
    {"neg TYPE", "tt", .kind = NEGATIVE, .by_type = {SIGNED_ONLY(neg)}},
    {"min TYPE", "ttt", .kind = PACKED_HALVES, .by_type = {SIGNED(min), [S16X2] = min_s16x2, [U16X2] = min_u16x2}},
    {"max TYPE", "ttt", .kind = PACKED_HALVES, .by_type = {SIGNED(max), [S16X2] = max_s16x2, [U16X2] = max_u16x2}},
    {"min relu TYPE", "ttt", .by_type = {[S16X2] = min_relu_s16x2, [S32] = min_relu_s32}},
    {"max relu TYPE", "ttt", .by_type = {[S16X2] = max_relu_s16x2, [S32] = max_relu_s32}},
    {"and TYPE", "ttt", .kind = LOGICAL_AND, .by_type = {BITS(and), [PRED] = and_pred}},
    {"or TYPE", "ttt", .kind = LOGICAL_OR, .by_type = {BITS(or), [PRED] = or_pred}},
    {"xor TYPE", "ttt", .kind = LOGICAL_XOR, .by_type = {BITS(xor), [PRED] = xor_pred}},
    {"not TYPE", "tt", .kind = COMPLEMENT, .by_type = {BITS(not), [PRED] = not_pred}},
    {"cnot TYPE", "tt", .by_type = {BITS(cnot)}},
    {"shl TYPE", "tti", .kind = SHIFT_LEFT, .by_type = {BITS(shl)}},
    {"shr TYPE", "tti", .kind = SHIFT_RIGHT, .by_type = {BITS(shr), SIGNED(shr)}},
    {"setp eq {LOGIC} TYPE", .decode = sim_decode_comparison, .kind = COMPARE, .op = COMPARES_EQUAL, .effects = WRITES_DESTINATION, .by_type = {BITS(setp_eq), ANY_SIGN(setp_eq)}},
    {"setp ne {LOGIC} TYPE", .decode = sim_decode_comparison, .kind = COMPARE, .op = COMPARES_NOT_EQUAL, .effects = WRITES_DESTINATION, .by_type = {BITS(setp_ne), ANY_SIGN(setp_ne)}},
    {"setp lt {LOGIC} TYPE", .decode = sim_decode_comparison, .kind = COMPARE, .op = COMPARES_LESS, .effects = WRITES_DESTINATION, .by_type = {SIGNED(setp_lt)}},
    {"setp le {LOGIC} TYPE", .decode = sim_decode_comparison, .kind = COMPARE, .op = COMPARES_NOT_GREATER, .effects = WRITES_DESTINATION, .by_type = {SIGNED(setp_le)}},
    {"setp gt {LOGIC} TYPE", .decode = sim_decode_comparison, .kind = COMPARE, .op = COMPARES_GREATER, .effects = WRITES_DESTINATION, .by_type = {SIGNED(setp_gt)}},
    {"setp ge {LOGIC} TYPE", .decode = sim_decode_comparison, .kind = COMPARE, .op = COMPARES_NOT_LESS, .effects = WRITES_DESTINATION, .by_type = {SIGNED(setp_ge)}},
    {"setp lo {LOGIC} TYPE", .decode = sim_decode_comparison, .kind = COMPARE, .op = COMPARES_LESS, .effects = WRITES_DESTINATION, .by_type = {UNSIGNED(setp_lt)}},
    {"setp ls {LOGIC} TYPE", .decode = sim_decode_comparison, .kind = COMPARE, .op = COMPARES_NOT_GREATER, .effects = WRITES_DESTINATION, .by_type = {UNSIGNED(setp_le)}},
    {"setp hi {LOGIC} TYPE", .decode = sim_decode_comparison, .kind = COMPARE, .op = COMPARES_GREATER, .effects = WRITES_DESTINATION, .by_type = {UNSIGNED(setp_gt)}},
    {"setp hs {LOGIC} TYPE", .decode = sim_decode_comparison, .kind = COMPARE, .op = COMPARES_NOT_LESS, .effects = WRITES_DESTINATION, .by_type = {UNSIGNED(setp_ge)}},
    {"selp TYPE", "tttp", .kind = SELECT, .by_type = {BITS(selp), ANY_SIGN(selp), [F16] = selp_uint16_t, [F32] = selp_uint32_t,
                                      [F64] = selp_uint64_t}},
    {"slct b16|u16|s16|b32|u32|s32|f32|b64|u64|s64|f64 s32|f32", .decode = decode_select_by_sign, .effects = WRITES_DESTINATION},
    {"add cc TYPE", "ttt+", .by_type = {CARRIED(add_cc)}},
    {"addc TYPE", "ttt+", .by_type = {CARRIED(addc)}},
    {"addc cc TYPE", "ttt+", .by_type = {CARRIED(addc_cc)}},
    {"sub cc TYPE", "ttt+", .by_type = {CARRIED(sub_cc)}},
    {"subc TYPE", "ttt+", .by_type = {CARRIED(subc)}},
    {"subc cc TYPE", "ttt+", .by_type = {CARRIED(subc_cc)}},
    {"mad lo cc TYPE", "tttt+", .by_type = {CARRIED(mad_lo_cc)}},
    {"madc lo TYPE", "tttt+", .by_type = {CARRIED(madc_lo)}},
    {"madc lo cc TYPE", "tttt+", .by_type = {CARRIED(madc_lo_cc)}},
    {"mad hi cc TYPE", "tttt+", .by_type = {[U32] = mad_hi_cc_32, [U64] = mad_hi_cc_64}},
    {"madc hi TYPE", "tttt+", .by_type = {[U32] = madc_hi_32, [U64] = madc_hi_64}},
    {"madc hi cc TYPE", "tttt+", .by_type = {[U32] = madc_hi_cc_32, [U64] = madc_hi_cc_64}},
    {"popc TYPE", "it", .by_type = {[B32] = popc_b32, [B64] = popc_b64}},
    {"clz TYPE", "it", .kind = FIND_HIGHEST_BIT, .by_type = {[B32] = clz_b32, [B64] = clz_b64}},
    {"brev TYPE", "tt", .kind = BIT_REVERSAL, .by_type = {[B32] = brev_b32, [B64] = brev_b64}},
    {"bfind TYPE", "it", .kind = FIND_HIGHEST_BIT, .by_type = {[S32] = bfind_s32, [U32] = bfind_u32, [S64] = bfind_s64, [U64] = bfind_u64}},
    {"bfind shiftamt TYPE", "it", .kind = FIND_HIGHEST_BIT, .by_type = {[S32] = bfind_shiftamt_s32, [U32] = bfind_shiftamt_u32,
                                              [S64] = bfind_shiftamt_s64, [U64] = bfind_shiftamt_u64}},
    {"bfe TYPE", "ttii", .kind = EXTRACT, .by_type = {[S32] = bfe_s32, [U32] = bfe_u32, [S64] = bfe_s64, [U64] = bfe_u64}},
    {"bfi TYPE", "tttii", .kind = INSERT, .by_type = {[B32] = bfi_b32, [B64] = bfi_b64}},
    {"bmsk clamp b32", "iii", .run = bmsk_clamp_b32},
    {"bmsk wrap b32", "iii", .run = bmsk_wrap_b32},
    {"shf l wrap b32", "iiii", .op = FUNNEL_WRAPS, .kind = FUNNEL_LEFT, .run = shf_l_wrap_b32},
    {"shf r wrap b32", "iiii", .op = FUNNEL_WRAPS, .kind = FUNNEL_RIGHT, .run = shf_r_wrap_b32},
    {"shf l clamp b32", "iiii", .kind = FUNNEL_LEFT, .run = shf_l_clamp_b32},
    {"shf r clamp b32", "iiii", .kind = FUNNEL_RIGHT, .run = shf_r_clamp_b32},
    {"lop3 b32", "iiiii", .kind = LOP3, .run = lop3_b32},
    {"prmt b32", "iiii", .kind = PERMUTE, .run = prmt_b32},
    {"prmt f4e b32", "iiii", .run = prmt_b32_f4e},
    {"prmt b4e b32", "iiii", .run = prmt_b32_b4e},
    {"prmt rc8 b32", "iiii", .run = prmt_b32_rc8},
    {"prmt ecl b32", "iiii", .run = prmt_b32_ecl},
    {"prmt ecr b32", "iiii", .run = prmt_b32_ecr},
    {"prmt rc16 b32", "iiii", .run = prmt_b32_rc16},
    {"dp4a u32 u32", "iiii", .kind = DOT_PRODUCT_4, .run = dp4a_u32_u32},
    {"dp4a u32 s32", "iiii", .kind = DOT_PRODUCT_4, .run = dp4a_u32_s32},
    {"dp4a s32 u32", "iiii", .kind = DOT_PRODUCT_4, .run = dp4a_s32_u32},
    {"dp4a s32 s32", "iiii", .kind = DOT_PRODUCT_4, .run = dp4a_s32_s32},
    {"dp2a lo u32 u32", "iiii", .run = dp2a_lo_u32_u32},
    {"dp2a lo u32 s32", "iiii", .run = dp2a_lo_u32_s32},
    {"dp2a lo s32 u32", "iiii", .run = dp2a_lo_s32_u32},
    {"dp2a lo s32 s32", "iiii", .run = dp2a_lo_s32_s32},
    {"dp2a hi u32 u32", "iiii", .run = dp2a_hi_u32_u32},
    {"dp2a hi u32 s32", "iiii", .run = dp2a_hi_u32_s32},
    {"dp2a hi s32 u32", "iiii", .run = dp2a_hi_s32_u32},
    {"dp2a hi s32 s32", "iiii", .run = dp2a_hi_s32_s32},
    {"fns b32", "iiii", .run = fns_b32},
    {"szext clamp TYPE", "iii", .by_type = {[S32] = szext_clamp_s32, [U32] = szext_clamp_u32}},
    {"szext wrap TYPE", "iii", .by_type = {[S32] = szext_wrap_s32, [U32] = szext_wrap_u32}},
};

INSTRUCTION_LIST(sim_alu_instructions, "Whole numbers and bits", ROWS)
