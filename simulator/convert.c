// convert.c: cvt, between whole numbers and floating-point numbers of all sizes.
#include "decode.h"
#include "lanes.h"

#include <fenv.h>
#include <math.h>
#include <string.h>

enum { TO_INTEGER = 1 }; // Instr.op: rounds to a whole number, also between floating-point types

// ---- Half precision: 1 bit sign, 5 bits exponent (bias 15), 10 bits fraction

float sim_half_to_float(uint16_t bits)
{
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    const float value = exponent == 31  ? (fraction ? NAN : INFINITY)
                        : exponent == 0 ? ldexpf((float)fraction, -24)
                                        : ldexpf((float)(fraction + 1024), exponent - 25);
    return bits & 0x8000 ? -value : value;
}

double sim_half_value(uint16_t bits, bool brain)
{
    const uint32_t single_bits = (uint32_t)bits << 16; // a bf16's: the upper half of a single-precision number
    float single;
    memcpy(&single, &single_bits, sizeof single);
    return brain ? single : sim_half_to_float(bits);
}

// A non-negative number without a fraction, rounded up or not.
static double whole(double value, int rounding, bool negative)
{
    const double down = floor(value), rest = value - down;
    switch (rounding) {
    case ROUND_ZERO: return down;
    case ROUND_DOWN: return down + (negative && rest > 0);
    case ROUND_UP: return down + (!negative && rest > 0);
    case ROUND_AWAY: return down + (rest >= 0.5);
    default: return down + (rest > 0.5 || (rest == 0.5 && fmod(down, 2) == 1));
    }
}

double sim_rounded(double value, int digits, int lowest, int rounding)
{
    if (value == 0 || !isfinite(value))
        return value;
    int exponent;
    frexp(value, &exponent); // 2^(exponent-1) <= |value| < 2^exponent
    const int unit = exponent - digits > lowest ? exponent - digits : lowest;
    return copysign(ldexp(whole(ldexp(fabs(value), -unit), rounding, value < 0), unit), value);
}

// What a number beyond the largest becomes.
static double overflow(double value, double largest, int rounding)
{
    const bool stays = rounding == ROUND_ZERO || (rounding == ROUND_DOWN && value > 0) ||
                       (rounding == ROUND_UP && value < 0);
    return fabs(value) > largest && !isinf(value) ? copysign(stays ? largest : INFINITY, value) : value;
}

uint16_t sim_half_from_double(double value, int rounding)
{
    if (value != value)
        return 0x7fff;
    const uint16_t sign = signbit(value) ? 0x8000 : 0;
    const double number = fabs(overflow(sim_rounded(value, 11, -24, rounding), 65504, rounding));
    if (isinf(number))
        return sign | 0x7c00;
    if (number < 0x1p-14)
        return sign | (uint16_t)ldexp(number, 24);
    int exponent;
    const double fraction = frexp(number, &exponent);
    return sign | (uint16_t)((exponent + 14) << 10) | ((uint16_t)ldexp(fraction, 11) & 1023);
}

uint16_t sim_brain_from_double(double value, int rounding)
{
    if (value != value)
        return 0x7fff;
    const float number = (float)overflow(sim_rounded(value, 8, -133, rounding), 0x1.fep127, rounding);
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    return (uint16_t)(bits >> 16);
}

// ---- One lane

typedef struct Number { // of whole numbers the value, of others the value too
    bool is_float, is_signed;
    uint64_t integer;
    double real;
} Number;

static bool is_float_type(Type type)
{
    return type == F16 || type == BF16 || type == F32 || type == F64;
}

static bool is_signed_type(Type type)
{
    return type == S8 || type == S16 || type == S32 || type == S64;
}

static uint64_t sign_extended(uint64_t value, int bytes)
{
    const int unused = 64 - 8 * bytes;
    return (uint64_t)((int64_t)(value << unused) >> unused);
}

static Number read_number(const uint8_t *lane, Type type, bool flush)
{
    Number n = {.is_float = is_float_type(type), .is_signed = is_signed_type(type)};
    const int bytes = sim_type_bytes(type);
    memcpy(&n.integer, lane, (size_t)bytes);
    if (n.is_signed)
        n.integer = sign_extended(n.integer, bytes);
    if (type == F16) {
        n.real = sim_half_to_float((uint16_t)n.integer);
    } else if (type == BF16 || type == F32) {
        const uint32_t bits = (uint32_t)(type == BF16 ? n.integer << 16 : n.integer);
        float value;
        memcpy(&value, &bits, sizeof value);
        n.real = flush && fabsf(value) < 0x1p-126f ? copysignf(0, value) : value;
    } else if (type == F64) {
        memcpy(&n.real, &n.integer, sizeof n.real);
    }
    return n;
}

static uint64_t integer_from_real(double value, Type from, Type type, int rounding)
{
    const int bits = 8 * sim_type_bytes(type);
    if (value != value)
        return bits == 64 || from == F64 ? 1ull << (bits - 1) : 0;
    const double number = copysign(whole(fabs(value), rounding, value < 0), value);
    if (is_signed_type(type)) {
        const double limit = ldexp(1, bits - 1);
        return number >= limit ? (1ull << (bits - 1)) - 1 : number < -limit ? 0 - (1ull << (bits - 1)) : (uint64_t)(int64_t)number;
    }
    return number <= 0 ? 0 : number >= ldexp(1, bits) ? UINT64_MAX >> (64 - bits) : (uint64_t)number;
}

static uint64_t integer_from_integer(Number n, Type type, bool saturate)
{
    if (!saturate)
        return n.integer;
    const int bits = 8 * sim_type_bytes(type);
    const bool negative = n.is_signed && (int64_t)n.integer < 0;
    if (!is_signed_type(type))
        return negative ? 0 : n.integer > UINT64_MAX >> (64 - bits) ? UINT64_MAX >> (64 - bits) : n.integer;
    const uint64_t largest = (1ull << (bits - 1)) - 1;
    if (negative)
        return (int64_t)n.integer < -(int64_t)largest - 1 ? ~largest : n.integer;
    return n.integer > largest ? largest : n.integer;
}

static float single_from_integer(Number n, int rounding)
{
    static const int MODES[] = {[ROUND_NEAREST] = FE_TONEAREST, [ROUND_ZERO] = FE_TOWARDZERO,
                                [ROUND_DOWN] = FE_DOWNWARD, [ROUND_UP] = FE_UPWARD, [ROUND_AWAY] = FE_TONEAREST};
    volatile uint64_t integer = n.integer;
    fesetround(MODES[rounding]);
    const volatile float value = n.is_signed ? (float)(int64_t)integer : (float)integer;
    fesetround(FE_TONEAREST);
    return value;
}

static double double_from_integer(Number n, int rounding)
{
    static const int MODES[] = {[ROUND_NEAREST] = FE_TONEAREST, [ROUND_ZERO] = FE_TOWARDZERO,
                                [ROUND_DOWN] = FE_DOWNWARD, [ROUND_UP] = FE_UPWARD, [ROUND_AWAY] = FE_TONEAREST};
    volatile uint64_t integer = n.integer;
    fesetround(MODES[rounding]);
    const volatile double value = n.is_signed ? (double)(int64_t)integer : (double)integer;
    fesetround(FE_TONEAREST);
    return value;
}

// Of all 64 bits: cut off, and the last bit set if that left something out, so that rounding it once
// more to fewer digits is as good as rounding once.
static double double_to_odd(Number n)
{
    const double value = double_from_integer(n, ROUND_ZERO);
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits |= n.integer != (n.is_signed ? (uint64_t)(int64_t)value : (uint64_t)value);
    double odd;
    memcpy(&odd, &bits, sizeof odd);
    return odd;
}

static float single_from_double(double value, int rounding)
{
    if (rounding == ROUND_NEAREST)
        return (float)value;
    return (float)overflow(sim_rounded(value, 24, -149, rounding), 0x1.fffffep127, rounding);
}

static uint64_t real_bits(Number n, const Instr *i)
{
    const Type type = (Type)i->type;
    double value = n.is_float ? n.real : type == F64 ? double_from_integer(n, i->rounding)
                                       : type == F32 ? single_from_integer(n, i->rounding)
                                                     : double_to_odd(n);
    if (i->op == TO_INTEGER && isfinite(value))
        value = copysign(whole(fabs(value), i->rounding, value < 0), value);
    if (i->flags & RELU && value <= 0)
        value = 0;
    if (i->flags & SATURATE)
        value = value > 0 ? (value < 1 ? value : 1) : 0;
    uint64_t bits = 0;
    if (type == F64) {
        memcpy(&bits, &value, sizeof value);
    } else if (type == F32) {
        float number = single_from_double(value, i->rounding);
        if (i->flags & FLUSH && fabsf(number) < 0x1p-126f)
            number = copysignf(0, number);
        memcpy(&bits, &number, sizeof number);
        bits = number != number ? 0x7fffffff : bits;
    } else if (type == F16) {
        bits = sim_half_from_double(value, i->rounding);
    } else {
        bits = sim_brain_from_double(value, i->rounding);
    }
    return bits;
}

// Registers may be wider than the types; a narrower result is extended to the register.
static void convert(Warp *w, const Instr *i, uint32_t mask)
{
    const Type type = (Type)i->type;
    const uint8_t *as = OPERAND(uint8_t, a);
    uint8_t *ds = OPERAND(uint8_t, d);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        const Number n = read_number(as + (size_t)l * i->source_bytes, (Type)i->from, i->flags & FLUSH);
        uint64_t bits = is_float_type(type) ? real_bits(n, i)
                        : n.is_float        ? integer_from_real(n.real, (Type)i->from, type, i->rounding)
                                            : integer_from_integer(n, type, i->flags & SATURATE);
        if (!is_float_type(type)) {
            const int unused = 64 - 8 * sim_type_bytes(type);
            bits = is_signed_type(type) ? (uint64_t)((int64_t)(bits << unused) >> unused) : bits << unused >> unused;
        }
        memcpy(ds + (size_t)l * i->register_bytes, &bits, i->register_bytes);
    }
}

// Two numbers into one register: a's in the high half.
static void convert_pair(Warp *w, const Instr *i, uint32_t mask)
{
    uint16_t (*const from_double)(double, int) = i->type == F16X2 ? sim_half_from_double : sim_brain_from_double;
    const float *a = OPERAND(float, a), *b = OPERAND(float, b);
    uint32_t *d = OPERAND(uint32_t, d);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        const bool relu = i->flags & RELU;
        const uint32_t high = from_double(relu && a[l] <= 0 ? 0 : a[l], i->rounding),
                       low = from_double(relu && b[l] <= 0 ? 0 : b[l], i->rounding);
        d[l] = high << 16 | low;
    }
}

// ---- The frequent ones, between registers of their own sizes

UNARY(u64_from_u32, uint64_t, uint32_t, a)
UNARY(s64_from_s32, int64_t, int32_t, a)
UNARY(u32_from_u64, uint32_t, uint64_t, a)
UNARY(f32_from_s32, float, int32_t, a)
UNARY(f32_from_u32, float, uint32_t, a)
UNARY(f64_from_f32, double, float, a)

static Handler *frequent(const Instr *i)
{
    if (i->flags || i->op || i->register_bytes != sim_type_bytes((Type)i->type) ||
        i->source_bytes != sim_type_bytes((Type)i->from))
        return NULL;
    switch (i->type << 8 | i->from) {
    case U64 << 8 | U32: case S64 << 8 | U32: return u64_from_u32;
    case S64 << 8 | S32: case U64 << 8 | S32: return s64_from_s32;
    case U32 << 8 | U64: case U32 << 8 | S64: case S32 << 8 | S64: case S32 << 8 | U64: return u32_from_u64;
    case F32 << 8 | S32: return i->rounding == ROUND_NEAREST ? f32_from_s32 : NULL;
    case F32 << 8 | U32: return i->rounding == ROUND_NEAREST ? f32_from_u32 : NULL;
    case F64 << 8 | F32: return f64_from_f32;
    default: return NULL;
    }
}

// ---- Decoding

// The rounding, of a conversion to a whole number too.
static void read_modifiers(const Opcode *o, Instr *i)
{
    static const char *const NAMES[] = {"rn", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi"};
    static const uint8_t ROUNDING[] = {ROUND_NEAREST, ROUND_ZERO, ROUND_DOWN, ROUND_UP,
                                       ROUND_NEAREST, ROUND_ZERO, ROUND_DOWN, ROUND_UP, ROUND_NEAREST};
    const int found = sim_part_among(o, NAMES, 8);
    i->rounding = ROUNDING[found];
    i->op = found >= 4 && found < 8 ? TO_INTEGER : 0;
    i->flags = (uint8_t)((sim_has_part(o, "ftz") ? FLUSH : 0) | (sim_has_part(o, "sat") ? SATURATE : 0) |
                         (sim_has_part(o, "relu") ? RELU : 0));
    i->type = (uint8_t)sim_type_named(o->parts[o->count - 2]);
    i->from = (uint8_t)o->type;
}

// cvt.to.from: registers may be wider than the types.
static bool decode_convert(Decoder *d, const Statement *s, const Opcode *o, Instr *i)
{
    if (s->count != 2 || s->operands[0].kind != IS_REGISTER)
        return false;
    const Operand *to = &s->operands[0], *from = &s->operands[1];
    const bool constant = from->kind != IS_REGISTER;
    read_modifiers(o, i);
    i->register_bytes = (uint8_t)sim_type_bytes(to->reg->type);
    i->source_bytes = (uint8_t)sim_type_bytes(constant ? o->type : from->reg->type);
    i->d = sim_destination(to, sim_letter_of_bytes(i->register_bytes));
    i->a = sim_source(d, from, constant ? sim_letter_of_type(o->type) : sim_letter_of_bytes(i->source_bytes));
    Handler *handler = frequent(i);
    i->run = handler ? handler : convert;
    return i->d != NOWHERE && i->a != NOWHERE && i->source_bytes >= sim_type_bytes(o->type) && i->register_bytes <= 8 &&
           i->register_bytes >= sim_type_bytes((Type)i->type);
}

static bool decode_convert_pair(Decoder *d, const Statement *s, const Opcode *o, Instr *i)
{
    read_modifiers(o, i);
    return sim_plain_operands(d, s, o, i, "iff");
}

static const Instruction ROWS[] = {
    {"cvt {ROUNDING|WHOLE} {ftz} {sat} NUMBER NUMBER", .decode = decode_convert},
    {"cvt rn|rz relu f16|bf16 f32", .decode = decode_convert},
    {"cvt rn|rz {relu} f16x2|bf16x2 f32", .decode = decode_convert_pair, .run = convert_pair},
};

INSTRUCTION_LIST(sim_convert_instructions, "Conversions", ROWS)
