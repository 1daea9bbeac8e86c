// convert.c: cvt between integers and floating-point numbers of all sizes.
#include "machine/ops/instructions.h"
#include "machine/ops/lanes.h"
#include "machine/ops/rounding.h"
#include "base/numbers.h"

enum { TO_INTEGER = 1 }; // Instr.op: rounds to an integer, even if both types are floating-point

// ---- 16-bit formats

float sim_half_to_float(uint16_t bits)
{
    return float_of_half(bits);
}

double sim_float16_value(uint16_t bits, bool is_bf16)
{
    return is_bf16 ? float_of_bf16(bits) : float_of_half(bits);
}

// Rounds a non-negative number to an integer; `negative` is its original sign.
static double rounded_to_integer(double value, int rounding, bool negative)
{
    const double down = floor(value), fraction = value - down;
    switch (rounding) {
    case ROUND_ZERO: return down;
    case ROUND_DOWN: return down + (negative && fraction > 0);
    case ROUND_UP: return down + (!negative && fraction > 0);
    case ROUND_AWAY: return down + (fraction >= 0.5);
    default: return down + (fraction > 0.5 || (fraction == 0.5 && fmod(down, 2) == 1));
    }
}

double sim_rounded(double value, int digits, int min_exponent, int rounding)
{
    if (value == 0 || !isfinite(value))
        return value;
    int exponent;
    frexp(value, &exponent); // 2^(exponent-1) <= |value| < 2^exponent
    const int unit = exponent - digits > min_exponent ? exponent - digits : min_exponent;
    return copysign(ldexp(rounded_to_integer(ldexp(fabs(value), -unit), rounding, value < 0), unit), value);
}

// Replaces a magnitude above the largest finite number by that number or infinity, depending on the rounding mode.
static double round_overflow(double value, double largest, int rounding)
{
    const bool is_finite = rounding == ROUND_ZERO || (rounding == ROUND_DOWN && value > 0) ||
                       (rounding == ROUND_UP && value < 0);
    return fabs(value) > largest && !isinf(value) ? copysign(is_finite ? largest : INFINITY, value) : value;
}

uint16_t sim_half_from_double(double value, int rounding)
{
    if (rounding == ROUND_NEAREST)
        return half_of(value);
    if (value != value)
        return NAN_16;
    const uint16_t sign = signbit(value) ? 0x8000 : 0;
    const double number = fabs(round_overflow(sim_rounded(value, 11, -24, rounding), 65504, rounding));
    if (isinf(number))
        return sign | 0x7c00;
    if (number < 0x1p-14)
        return sign | (uint16_t)ldexp(number, 24);
    int exponent;
    const double fraction = frexp(number, &exponent);
    return sign | (uint16_t)((exponent + 14) << 10) | ((uint16_t)ldexp(fraction, 11) & 1023);
}

uint16_t sim_bf16_from_double(double value, int rounding)
{
    if (rounding == ROUND_NEAREST)
        return bf16_of(value);
    if (value != value)
        return NAN_16;
    const float number = (float)round_overflow(sim_rounded(value, 8, -133, rounding), 0x1.fep127, rounding);
    return (uint16_t)(raw_bits(number) >> 16);
}

// ---- One lane

typedef struct Number { // an integer, in `integer`, or a floating-point number, in `value`
    bool is_float, is_signed;
    uint64_t integer;
    double value;
} Number;

static uint64_t sign_extended(uint64_t value, int bytes)
{
    const int unused = 64 - 8 * bytes;
    return (uint64_t)((int64_t)(value << unused) >> unused);
}

static Number read_number(const uint8_t *lane, Type type, bool flush)
{
    Number n = {.is_float = sim_is_float(type), .is_signed = sim_is_signed(type)};
    const int bytes = sim_type_bytes(type);
    memcpy(&n.integer, lane, (size_t)bytes);
    if (n.is_signed)
        n.integer = sign_extended(n.integer, bytes);
    if (type == F16) {
        n.value = sim_half_to_float((uint16_t)n.integer);
    } else if (type == BF16 || type == F32) {
        const uint32_t bits = (uint32_t)(type == BF16 ? n.integer << 16 : n.integer);
        float value;
        memcpy(&value, &bits, sizeof value);
        n.value = flush && fabsf(value) < 0x1p-126f ? copysignf(0, value) : value;
    } else if (type == F64) {
        memcpy(&n.value, &n.integer, sizeof n.value);
    }
    return n;
}

static uint64_t integer_from_float(double value, Type from, Type type, int rounding)
{
    const int bits = 8 * sim_type_bytes(type);
    if (value != value)
        return bits == 64 || from == F64 ? 1ull << (bits - 1) : 0;
    const double number = copysign(rounded_to_integer(fabs(value), rounding, value < 0), value);
    if (sim_is_signed(type)) {
        const double limit = ldexp(1, bits - 1);
        return number >= limit   ? (1ull << (bits - 1)) - 1
               : number < -limit ? 0 - (1ull << (bits - 1))
                                 : (uint64_t)(int64_t)number;
    }
    return number <= 0 ? 0 : number >= ldexp(1, bits) ? UINT64_MAX >> (64 - bits) : (uint64_t)number;
}

static uint64_t integer_from_integer(Number n, Type type, bool saturate)
{
    if (!saturate)
        return n.integer;
    const int bits = 8 * sim_type_bytes(type);
    const bool negative = n.is_signed && (int64_t)n.integer < 0;
    if (!sim_is_signed(type))
        return negative ? 0 : n.integer > UINT64_MAX >> (64 - bits) ? UINT64_MAX >> (64 - bits) : n.integer;
    const uint64_t largest = (1ull << (bits - 1)) - 1;
    if (negative)
        return (int64_t)n.integer < -(int64_t)largest - 1 ? ~largest : n.integer;
    return n.integer > largest ? largest : n.integer;
}

static double float_from_integer(Number n, int digits, int rounding)
{
    const bool negative = n.is_signed && (int64_t)n.integer < 0;
    return sim_from_integer(negative ? 0 - n.integer : n.integer, negative, digits, rounding);
}

// Rounds to odd: truncates, and sets the last bit if bits were lost, so that a second rounding to fewer digits is correct.
static double double_from_integer_to_odd(Number n)
{
    const double value = float_from_integer(n, 53, ROUND_ZERO);
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits |= n.integer != (n.is_signed ? (uint64_t)(int64_t)value : (uint64_t)value);
    double odd;
    memcpy(&odd, &bits, sizeof odd);
    return odd;
}

float sim_single_from_double(double value, int rounding)
{
    if (rounding == ROUND_NEAREST)
        return (float)value;
    return (float)round_overflow(sim_rounded(value, 24, -149, rounding), 0x1.fffffep127, rounding);
}

static uint64_t float_bits(Number n, const Instr *i)
{
    const Type type = (Type)i->type;
    double value = n.is_float ? n.value : type == F64 ? float_from_integer(n, 53, i->rounding)
                                       : type == F32 ? float_from_integer(n, 24, i->rounding)
                                                     : double_from_integer_to_odd(n);
    if (i->op == TO_INTEGER && isfinite(value))
        value = copysign(rounded_to_integer(fabs(value), i->rounding, value < 0), value);
    if (i->flags & RELU && value <= 0)
        value = 0;
    if (i->flags & SATURATE)
        value = value > 0 ? (value < 1 ? value : 1) : 0;
    uint64_t bits = 0;
    if (type == F64) {
        memcpy(&bits, &value, sizeof value);
    } else if (type == F32) {
        float number = sim_single_from_double(value, i->rounding);
        if (i->flags & FLUSH && fabsf(number) < 0x1p-126f)
            number = copysignf(0, number);
        memcpy(&bits, &number, sizeof number);
        bits = number != number ? 0x7fffffff : bits;
    } else if (type == F16) {
        bits = sim_half_from_double(value, i->rounding);
    } else {
        bits = sim_bf16_from_double(value, i->rounding);
    }
    return bits;
}

// Converts between registers that may be wider than the types. A result is extended to the width of its register.
static void convert(Warp *w, const Instr *i, uint32_t mask)
{
    const Type type = (Type)i->type;
    const uint8_t *as = OPERAND(uint8_t, a);
    uint8_t *ds = OPERAND(uint8_t, d);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        const Number n = read_number(as + (size_t)l * i->source_bytes, (Type)i->from, i->flags & FLUSH);
        uint64_t bits = sim_is_float(type) ? float_bits(n, i)
                        : n.is_float        ? integer_from_float(n.value, (Type)i->from, type, i->rounding)
                                            : integer_from_integer(n, type, i->flags & SATURATE);
        if (!sim_is_float(type)) {
            const int unused = 64 - 8 * sim_type_bytes(type);
            bits = sim_is_signed(type) ? (uint64_t)((int64_t)(bits << unused) >> unused) : bits << unused >> unused;
        }
        memcpy(ds + (size_t)l * i->register_bytes, &bits, i->register_bytes);
    }
}

// Converts two numbers to one register; a is the high half.
BINARY(half_pair, uint32_t, float, float, (uint32_t)half_of(a) << 16 | half_of(b))
BINARY(bf16_pair, uint32_t, float, float, (uint32_t)bf16_of(a) << 16 | bf16_of(b))

static void convert_pair(Warp *w, const Instr *i, uint32_t mask)
{
    uint16_t (*const from_double)(double, int) = i->type == F16X2 ? sim_half_from_double : sim_bf16_from_double;
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

// ---- Common conversions, as loops without branches

UNARY(u64_from_u32, uint64_t, uint32_t, a)
UNARY(s64_from_s32, int64_t, int32_t, a)
UNARY(u32_from_u64, uint32_t, uint64_t, a)
UNARY(f32_from_s32, float, int32_t, a)
UNARY(f32_from_u32, float, uint32_t, a)
UNARY(f32_from_s64, float, int64_t, a)
UNARY(f32_from_u64, float, uint64_t, a)
UNARY(f32_from_s16, float, int16_t, a)
UNARY(f32_from_u16, float, uint16_t, a)
UNARY(f32_from_low_s8, float, int16_t, (int8_t)a)
UNARY(f32_from_low_u8, float, uint16_t, (uint8_t)a)
UNARY(f64_from_s32, double, int32_t, a)
UNARY(f64_from_u32, double, uint32_t, a)
UNARY(f64_from_s64, double, int64_t, a)
UNARY(f64_from_u64, double, uint64_t, a)
UNARY(f64_from_f32, double, float, a)
UNARY(f32_from_f64, uint32_t, double, bits_of((float)a))
UNARY(f32_from_f16, uint32_t, uint16_t, bits_of(float_of_half(a)))
UNARY(f32_from_bf16, uint32_t, uint16_t, bits_of(float_of_bf16(a)))
UNARY(f16_from_f32, uint16_t, float, half_of(a))
UNARY(bf16_from_f32, uint16_t, float, bf16_of(a))
UNARY(f16_from_s32, uint16_t, int32_t, half_of(a))
UNARY(f16_from_u32, uint16_t, uint32_t, half_of(a))

// Conversions from single precision, to an integer or to single precision.
static inline int32_t to_s32(float value)
{
    const float limit = 0x1p31f, low = value < -limit ? -limit : value;
    return value != value ? 0 : low < limit ? (int32_t)low : INT32_MAX;
}

static inline uint32_t to_u32(float value)
{
    const float limit = 0x1p32f, low = value > 0 ? value : 0; // also for NaN
    return low < limit ? (uint32_t)low : UINT32_MAX;
}

static inline float identity(float value)
{
    return value;
}

#define CONVERT_SINGLE(name, rounded, D, expression)                                                \
    static void name(Warp *w, const Instr *i, uint32_t mask)                                        \
    {                                                                                               \
        D *d = OPERAND(D, d);                                                                       \
        const float *as = OPERAND(float, a);                                                        \
        const Modifiers m = make_modifiers(i->flags & FLUSH, i->flags & SATURATE);                  \
        FOR_EACH_LANE(const float value = rounded(flush_operand(m, as[l])); d[l] = (D)(expression)) \
    }
#define ROUNDED(rounding, rounded)                                           \
    CONVERT_SINGLE(f32_##rounding, rounded, uint32_t, result_bits(m, value)) \
    CONVERT_SINGLE(s32_##rounding, rounded, int32_t, to_s32(value))          \
    CONVERT_SINGLE(u32_##rounding, rounded, uint32_t, to_u32(value))
CONVERT_SINGLE(f32_modified, identity, uint32_t, result_bits(m, value))
ROUNDED(nearest, rintf)
ROUNDED(zero, truncf)
ROUNDED(down, floorf)
ROUNDED(up, ceilf)

static Handler *rounding_handler(const Instr *i)
{
    static Handler *const SINGLE[] = {[ROUND_NEAREST] = f32_nearest, [ROUND_ZERO] = f32_zero,
                                      [ROUND_DOWN] = f32_down, [ROUND_UP] = f32_up},
                   *const SIGNED[] = {[ROUND_NEAREST] = s32_nearest, [ROUND_ZERO] = s32_zero,
                                      [ROUND_DOWN] = s32_down, [ROUND_UP] = s32_up},
                   *const UNSIGNED[] = {[ROUND_NEAREST] = u32_nearest, [ROUND_ZERO] = u32_zero,
                                        [ROUND_DOWN] = u32_down, [ROUND_UP] = u32_up};
    return (i->type == F32 ? SINGLE : i->type == S32 ? SIGNED : UNSIGNED)[i->rounding];
}

// Converts integers between registers of any size. `keep` masks the type's bits; `sign` is its sign bit, or 0 if it is unsigned.
#define INTEGER_CONVERSION(name, D, A)                                                        \
    static void name(Warp *w, const Instr *i, uint32_t mask)                                  \
    {                                                                                         \
        D *d = OPERAND(D, d);                                                                 \
        const A *as = OPERAND(A, a);                                                          \
        const uint64_t keep = type_bits((Type)i->from), sign = sign_bit((Type)i->from),       \
                       to_keep = type_bits((Type)i->type), to_sign = sign_bit((Type)i->type); \
        FOR_EACH_LANE(const uint64_t value = ((as[l] & keep) ^ sign) - sign;                  \
                      d[l] = (D)(((value & to_keep) ^ to_sign) - to_sign))                    \
    }
static uint64_t type_bits(Type type)
{
    return UINT64_MAX >> (64 - 8 * sim_type_bytes(type));
}

static uint64_t sign_bit(Type type)
{
    return sim_is_signed(type) ? 1ull << (8 * sim_type_bytes(type) - 1) : 0;
}

INTEGER_CONVERSION(integer_b16_from_b16, uint16_t, uint16_t)
INTEGER_CONVERSION(integer_b16_from_b32, uint16_t, uint32_t)
INTEGER_CONVERSION(integer_b16_from_b64, uint16_t, uint64_t)
INTEGER_CONVERSION(integer_b32_from_b16, uint32_t, uint16_t)
INTEGER_CONVERSION(integer_b32_from_b32, uint32_t, uint32_t)
INTEGER_CONVERSION(integer_b32_from_b64, uint32_t, uint64_t)
INTEGER_CONVERSION(integer_b64_from_b16, uint64_t, uint16_t)
INTEGER_CONVERSION(integer_b64_from_b32, uint64_t, uint32_t)
INTEGER_CONVERSION(integer_b64_from_b64, uint64_t, uint64_t)

static Handler *integer_handler(const Instr *i)
{
    switch (i->register_bytes << 8 | i->source_bytes) {
    case 2 << 8 | 2: return integer_b16_from_b16;
    case 2 << 8 | 4: return integer_b16_from_b32;
    case 2 << 8 | 8: return integer_b16_from_b64;
    case 4 << 8 | 2: return integer_b32_from_b16;
    case 4 << 8 | 4: return integer_b32_from_b32;
    case 4 << 8 | 8: return integer_b32_from_b64;
    case 8 << 8 | 2: return integer_b64_from_b16;
    case 8 << 8 | 4: return integer_b64_from_b32;
    case 8 << 8 | 8: return integer_b64_from_b64;
    default: return NULL;
    }
}

// The handler for a conversion that is exact or rounds to nearest, with registers as wide as the types; NULL if none fits.
static Handler *common_handler(const Instr *i)
{
    switch (i->type << 8 | i->from) {
    case U64 << 8 | U32: case S64 << 8 | U32: return u64_from_u32;
    case S64 << 8 | S32: case U64 << 8 | S32: return s64_from_s32;
    case U32 << 8 | U64: case U32 << 8 | S64: case S32 << 8 | S64: case S32 << 8 | U64: return u32_from_u64;
    case F32 << 8 | S16: return f32_from_s16;
    case F32 << 8 | U16: return f32_from_u16;
    case F32 << 8 | S32: return f32_from_s32;
    case F32 << 8 | U32: return f32_from_u32;
    case F32 << 8 | S64: return f32_from_s64;
    case F32 << 8 | U64: return f32_from_u64;
    case F64 << 8 | S32: return f64_from_s32;
    case F64 << 8 | U32: return f64_from_u32;
    case F64 << 8 | S64: return f64_from_s64;
    case F64 << 8 | U64: return f64_from_u64;
    case F64 << 8 | F32: return f64_from_f32;
    case F32 << 8 | F64: return f32_from_f64;
    case F32 << 8 | F16: return f32_from_f16;
    case F32 << 8 | BF16: return f32_from_bf16;
    case F16 << 8 | F32: return f16_from_f32;
    case BF16 << 8 | F32: return bf16_from_f32;
    case F16 << 8 | S32: return f16_from_s32;
    case F16 << 8 | U32: return f16_from_u32;
    default: return NULL;
    }
}

static Handler *handler_of(const Instr *i)
{
    const Type type = (Type)i->type, from = (Type)i->from;
    const bool matching_destination = i->register_bytes == sim_type_bytes(type),
               matching_source = i->source_bytes == sim_type_bytes(from);
    const bool plain = i->flags == 0 && i->op == 0 && i->rounding == ROUND_NEAREST;
    Handler *found = NULL;
    if (plain && matching_destination && matching_source)
        found = common_handler(i);
    else if (plain && matching_destination && type == F32 && i->source_bytes == 2 && (from == S8 || from == U8))
        found = from == S8 ? f32_from_low_s8 : f32_from_low_u8;
    else if (from == F32 && matching_destination && matching_source && type == F32)
        found = i->op == TO_INTEGER ? rounding_handler(i) : i->rounding == ROUND_NEAREST ? f32_modified : NULL;
    else if (from == F32 && matching_destination && matching_source && (type == S32 || type == U32))
        found = rounding_handler(i);
    if (!found && plain && !sim_is_float(type) && !sim_is_float(from))
        found = integer_handler(i);
    return found ? found : convert;
}

// ---- Decoding

static void read_modifiers(const Opcode *o, Instr *i)
{
    static const char *const NAMES[] = {"rn", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi"};
    static const uint8_t ROUNDING[] = {ROUND_NEAREST, ROUND_ZERO, ROUND_DOWN, ROUND_UP,
                                       ROUND_NEAREST, ROUND_ZERO, ROUND_DOWN, ROUND_UP, ROUND_NEAREST};
    const int found = sim_modifier_among(o, NAMES, 8);
    i->rounding = ROUNDING[found];
    i->op = found >= 4 && found < 8 ? TO_INTEGER : 0;
    i->flags = (uint8_t)((sim_has_modifier(o, "ftz") ? FLUSH : 0) | (sim_has_modifier(o, "sat") ? SATURATE : 0) |
                         (sim_has_modifier(o, "relu") ? RELU : 0));
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
    i->run = handler_of(i);
    i->kind = !sim_is_float((Type)i->type) && !sim_is_float((Type)i->from) ? CONVERT_INTEGER : OTHER_KIND;
    return i->d != NO_OFFSET && i->a != NO_OFFSET && i->source_bytes >= sim_type_bytes(o->type) && i->register_bytes <= 8 &&
           i->register_bytes >= sim_type_bytes((Type)i->type);
}

static bool decode_convert_pair(Decoder *d, const Statement *s, const Opcode *o, Instr *i)
{
    read_modifiers(o, i);
    if (i->rounding == ROUND_NEAREST && !i->flags)
        i->run = i->type == F16X2 ? half_pair : bf16_pair;
    return sim_plain_operands(d, s, o, i, "iff");
}

static const Instruction ROWS[] = {
    {"cvt {ROUNDING|IRND} {ftz} {sat} NUMBER NUMBER", .decode = decode_convert, .effects = WRITES_DESTINATION},
    {"cvt rn|rz relu f16|bf16 f32", .decode = decode_convert, .effects = WRITES_DESTINATION},
    {"cvt rn|rz {relu} f16x2|bf16x2 f32", .decode = decode_convert_pair, .run = convert_pair, .effects = WRITES_DESTINATION},
};

INSTRUCTION_LIST(sim_convert_instructions, "Conversions", ROWS)
