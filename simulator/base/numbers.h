// numbers.h: conversions between floating-point numbers and their bits, without branches, so that loops over lanes can be
// vectorised. All round to nearest even, the host's default.
#ifndef NUMBERS_H
#define NUMBERS_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static const uint32_t NAN_32 = 0x7fffffff; // the canonical NaN of a GPU's results
static const uint16_t NAN_16 = 0x7fff;

static inline float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint32_t raw_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

// The bits of a result: every NaN becomes the canonical one.
static inline uint32_t bits_of(float value)
{
    return value != value ? NAN_32 : raw_bits(value);
}

static inline double double_of(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint64_t double_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float flush_subnormal(float value) // to zero
{
    return fabsf(value) < 0x1p-126f ? copysignf(0, value) : value;
}

// .ftz and .sat in single precision, as limits that have no effect without the modifier.
typedef struct Modifiers { // of an instruction
    float min_magnitude;    // smaller magnitudes are flushed to zero
    float lowest, highest;  // results are clamped to these
    uint32_t nan;           // bits of a NaN result
} Modifiers;

static inline Modifiers make_modifiers(bool flush, bool saturate)
{
    return (Modifiers){flush ? 0x1p-126f : 0, saturate ? 0 : -INFINITY, saturate ? 1 : INFINITY, saturate ? 0 : NAN_32};
}

static inline float flush_operand(Modifiers m, float value)
{
    return fabsf(value) < m.min_magnitude ? copysignf(0, value) : value;
}

static inline uint32_t result_bits(Modifiers m, float value)
{
    const float flushed = flush_operand(m, value),
                clamped = flushed <= m.lowest ? m.lowest : flushed > m.highest ? m.highest : flushed;
    return value != value ? m.nan : raw_bits(clamped);
}

// ---- Half precision: 1 bit sign, 5 bits exponent (bias 15), 10 bits fraction. bf16: the upper half of a
// single-precision number.

static inline float float_of_half(uint16_t bits)
{
    const uint32_t unscaled = (uint32_t)(bits & 0x7fff) << 13; // too small by 2^112, since single precision's bias is 127
    const uint32_t finite = raw_bits(float_of(unscaled) * 0x1p112f),
                   special = bits & 0x3ff ? 0x7fc00000 : 0x7f800000;
    return float_of(((bits & 0x7c00) == 0x7c00 ? special : finite) | (uint32_t)(bits & 0x8000) << 16);
}

static inline float float_of_bf16(uint16_t bits)
{
    return float_of((uint32_t)bits << 16);
}

// Rounds a non-negative number to `digits` significant bits, the last of them at least 2^`lowest`: adds and subtracts a power
// of two whose unit in the last place is that bit.
static inline double round_to_digits(double number, int digits, int lowest)
{
    const uint64_t min_exponent = (uint64_t)(1023 + lowest + digits - 1) << 52,
                   exponent = double_bits(number) & 0x7ff0000000000000;
    const double power = double_of((exponent > min_exponent ? exponent : min_exponent) + ((uint64_t)(53 - digits) << 52));
    return (number + power) - power;
}

static inline uint16_t half_of(double value)
{
    const double limit = 0x1p16, magnitude = fabs(value) < limit ? fabs(value) : limit; // the limit rounds to infinity
    const uint32_t bits = raw_bits((float)round_to_digits(magnitude, 11, -24) * 0x1p-112f);
    const uint16_t sign = (uint16_t)(double_bits(value) >> 48 & 0x8000);
    return value != value ? NAN_16 : (uint16_t)(sign | bits >> 13);
}

static inline uint16_t bf16_of(double value)
{
    const double limit = 0x1p128, magnitude = fabs(value) < limit ? fabs(value) : limit;
    const uint32_t bits = raw_bits((float)round_to_digits(magnitude, 8, -133));
    const uint16_t sign = (uint16_t)(double_bits(value) >> 48 & 0x8000);
    return value != value ? NAN_16 : (uint16_t)(sign | bits >> 16);
}

#endif
