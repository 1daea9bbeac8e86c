// numbers.h: floating-point numbers and their bits, without branches, so that a loop over lanes becomes vector
// instructions. All of it rounds to nearest, as the host does by itself.
#ifndef NUMBERS_H
#define NUMBERS_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static const uint32_t NAN_32 = 0x7fffffff; // what a GPU gives, whatever NaN came in
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

static inline float flushed(float value) // its denormals are zero
{
    return fabsf(value) < 0x1p-126f ? copysignf(0, value) : value;
}

// What .ftz and .sat do to single precision, as limits that do nothing where there is neither.
typedef struct Modifiers {
    float smallest;         // what lies below it, without its sign, is flushed
    float lowest, highest;  // of a result
    uint32_t nan;           // what a result that is no number becomes
} Modifiers;

static inline Modifiers modifiers(bool flush, bool saturate)
{
    return (Modifiers){flush ? 0x1p-126f : 0, saturate ? 0 : -INFINITY, saturate ? 1 : INFINITY, saturate ? 0 : NAN_32};
}

static inline float operand(Modifiers m, float value)
{
    return fabsf(value) < m.smallest ? copysignf(0, value) : value;
}

static inline uint32_t result_bits(Modifiers m, float value)
{
    const float large = operand(m, value),
                limited = large <= m.lowest ? m.lowest : large > m.highest ? m.highest : large;
    return value != value ? m.nan : raw_bits(limited);
}

// ---- Half precision: 1 bit sign, 5 bits exponent (bias 15), 10 bits fraction. bf16: the upper half of a
// single-precision number.

static inline float float_of_half(uint16_t bits)
{
    const uint32_t number = (uint32_t)(bits & 0x7fff) << 13; // 2^112 times too small: single precision's bias is 127
    const uint32_t finite = raw_bits(float_of(number) * 0x1p112f),
                   special = bits & 0x3ff ? 0x7fc00000 : 0x7f800000;
    return float_of(((bits & 0x7c00) == 0x7c00 ? special : finite) | (uint32_t)(bits & 0x8000) << 16);
}

static inline float float_of_bf16(uint16_t bits)
{
    return float_of((uint32_t)bits << 16);
}

// A number that is not negative, to `digits` binary digits, the last of them 2^`lowest` or above: it is added to a
// power of two whose own last digit is that one, so that the sum is rounded there.
static inline double to_digits(double number, int digits, int lowest)
{
    const uint64_t least = (uint64_t)(1023 + lowest + digits - 1) << 52,
                   exponent = double_bits(number) & 0x7ff0000000000000;
    const double power = double_of((exponent > least ? exponent : least) + ((uint64_t)(53 - digits) << 52));
    return (number + power) - power;
}

static inline uint16_t half_of(double value)
{
    const double beyond = 0x1p16, number = fabs(value) < beyond ? fabs(value) : beyond; // becomes infinite below
    const uint32_t bits = raw_bits((float)to_digits(number, 11, -24) * 0x1p-112f);
    const uint16_t sign = (uint16_t)(double_bits(value) >> 48 & 0x8000);
    return value != value ? NAN_16 : (uint16_t)(sign | bits >> 13);
}

static inline uint16_t bf16_of(double value)
{
    const double beyond = 0x1p128, number = fabs(value) < beyond ? fabs(value) : beyond;
    const uint32_t bits = raw_bits((float)to_digits(number, 8, -133));
    const uint16_t sign = (uint16_t)(double_bits(value) >> 48 & 0x8000);
    return value != value ? NAN_16 : (uint16_t)(sign | bits >> 16);
}

#endif
