// narrow.c: cvt to and from 8-bit floating-point numbers, in pairs, and to tf32.
//
// e4m3: 1 sign bit, 4 exponent bits (bias 7), 3 fraction bits, no infinity. e5m2: the upper half of a half-precision number.
// tf32: the upper 19 bits of a single-precision number.
#include "machine/ops/instructions.h"
#include "machine/ops/lanes.h"

#include <math.h>
#include <string.h>

static const uint8_t NAN_8 = 0x7f;

static uint8_t e4m3_from_double(double value)
{
    enum { LARGEST = 448 };
    if (value != value)
        return NAN_8;
    const uint8_t sign = signbit(value) ? 0x80 : 0;
    const double number = fmin(fabs(sim_rounded(value, 4, -9, ROUND_NEAREST)), LARGEST);
    if (number < 0x1p-6)
        return sign | (uint8_t)ldexp(number, 9);
    int exponent;
    const double fraction = frexp(number, &exponent);
    return sign | (uint8_t)((exponent + 6) << 3 | ((uint8_t)ldexp(fraction, 4) & 7));
}

static double double_from_e4m3(uint8_t bits)
{
    const int exponent = bits >> 3 & 15, fraction = bits & 7;
    const double number = (bits & NAN_8) == NAN_8 ? NAN
                          : exponent == 0       ? ldexp(fraction, -9)
                                                : ldexp(fraction + 8, exponent - 10);
    return bits & 0x80 ? -number : number;
}

static uint8_t e5m2_from_double(double value)
{
    enum { LARGEST = 57344 };
    if (value != value)
        return NAN_8;
    const double number = fmin(fabs(sim_rounded(value, 3, -16, ROUND_NEAREST)), LARGEST);
    return (uint8_t)(sim_half_from_double(copysign(number, value), ROUND_NEAREST) >> 8);
}

static uint8_t to_8_bits(const Instr *i, double value)
{
    if (i->flags & RELU && value <= 0) // NaN is preserved
        value = 0;
    return i->type == E4M3X2 ? e4m3_from_double(value) : e5m2_from_double(value);
}

static void narrow_singles(Warp *w, const Instr *i, uint32_t mask)
{
    const float *a = OPERAND(float, a), *b = OPERAND(float, b);
    uint16_t *d = OPERAND(uint16_t, d);
    FOR_EACH_LANE(d[l] = (uint16_t)(to_8_bits(i, a[l]) << 8 | to_8_bits(i, b[l])))
}

static void narrow_halves(Warp *w, const Instr *i, uint32_t mask)
{
    const uint32_t *a = OPERAND(uint32_t, a);
    uint16_t *d = OPERAND(uint16_t, d);
    FOR_EACH_LANE(d[l] = (uint16_t)(to_8_bits(i, sim_half_to_float((uint16_t)(a[l] >> 16))) << 8 |
                                    to_8_bits(i, sim_half_to_float((uint16_t)a[l]))))
}

static uint16_t half_from(const Instr *i, uint8_t bits)
{
    const double value = i->from == E4M3X2 ? double_from_e4m3(bits) : sim_half_to_float((uint16_t)(bits << 8));
    return sim_half_from_double(i->flags & RELU && value <= 0 ? 0 : value, ROUND_NEAREST);
}

static void convert_to_half(Warp *w, const Instr *i, uint32_t mask)
{
    const uint16_t *a = OPERAND(uint16_t, a);
    uint32_t *d = OPERAND(uint32_t, d);
    FOR_EACH_LANE(d[l] = (uint32_t)half_from(i, (uint8_t)(a[l] >> 8)) << 16 | half_from(i, (uint8_t)a[l]))
}

// ptxas translates .rna to integer instructions, which truncate a NaN, so that 0x7f800001 becomes infinite. It translates .rn and
// .rz to one instruction, which yields 0x7fffe000 on an H200.
static uint32_t tf32_of_nan(uint32_t bits, int rounding)
{
    return rounding == ROUND_AWAY ? bits & 0xffffe000 : 0x7fffe000;
}

static void round_to_tf32(Warp *w, const Instr *i, uint32_t mask)
{
    const float *a = OPERAND(float, a);
    uint32_t *d = OPERAND(uint32_t, d);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        const float number = (float)sim_rounded(i->flags & RELU && a[l] <= 0 ? 0 : a[l], 11, -136, i->rounding);
        if (a[l] != a[l])
            d[l] = tf32_of_nan(OPERAND(uint32_t, a)[l], i->rounding);
        else
            memcpy(&d[l], &number, sizeof number);
    }
}

static bool decode_narrow(Decoder *d, const Statement *s, const Opcode *o, Instr *i)
{
    i->type = (uint8_t)sim_type_named(o->parts[o->count - 2]);
    i->from = (uint8_t)o->type;
    i->flags = sim_has_modifier(o, "relu") ? RELU : 0;
    i->rounding = sim_has_modifier(o, "rna") ? ROUND_AWAY : sim_has_modifier(o, "rz") ? ROUND_ZERO : ROUND_NEAREST;
    const char to = sim_letter_of_type((Type)i->type), from = sim_letter_of_type(o->type);
    const char second = o->type == F32 && i->type != TF32 ? 'f' : 0; // two source registers
    return sim_plain_operands(d, s, o, i, (char[]){to, from, second, 0});
}

static const Instruction ROWS[] = {
    {"cvt rn satfinite {relu} e4m3x2|e5m2x2 f32", .decode = decode_narrow, .run = narrow_singles, .effects = WRITES_DESTINATION},
    {"cvt rn satfinite {relu} e4m3x2|e5m2x2 f16x2", .decode = decode_narrow, .run = narrow_halves, .effects = WRITES_DESTINATION},
    {"cvt rn {relu} f16x2 e4m3x2|e5m2x2", .decode = decode_narrow, .run = convert_to_half, .effects = WRITES_DESTINATION},
    {"cvt rna tf32 f32", .decode = decode_narrow, .run = round_to_tf32, .effects = WRITES_DESTINATION},
    {"cvt rn|rz {relu} tf32 f32", .decode = decode_narrow, .run = round_to_tf32, .effects = WRITES_DESTINATION},
};

INSTRUCTION_LIST(sim_narrow_instructions, "Conversions to and from 8 bits and tf32", ROWS)
