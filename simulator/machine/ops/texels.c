// texels.c: values of texel channels, and texture filtering.
#include "machine/ops/texture.h"
#include "machine/block.h"

#include <math.h>
#include <string.h>

enum { FLOAT_DIGITS = 24, HALF_DIGITS = 11 };

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
// ---- Channels

static int32_t sign_extended(uint32_t value, int is_8_bit)
{
    const int unused = 32 - 8 * is_8_bit;
    return (int32_t)(value << unused) >> unused;
}

// The linear colour of an sRGB byte, as the upper half of a float's bits. Measured on an H200.
static const uint16_t LINEAR_OF_SRGB[256] = {
    0x0000, 0x39a0, 0x3a20, 0x3a70, 0x3aa0, 0x3ac8, 0x3af0, 0x3b0c, 0x3b20, 0x3b34, 0x3b48, 0x3b5c, 0x3b70, 0x3b84, 0x3b90, 0x3b9c,
    0x3baa, 0x3bb8, 0x3bc6, 0x3bd6, 0x3be6, 0x3bf6, 0x3c03, 0x3c0c, 0x3c16, 0x3c1f, 0x3c29, 0x3c34, 0x3c3e, 0x3c49, 0x3c55, 0x3c60,
    0x3c6c, 0x3c7a, 0x3c83, 0x3c8a, 0x3c91, 0x3c98, 0x3c9f, 0x3ca6, 0x3cae, 0x3cb6, 0x3cbe, 0x3cc6, 0x3cce, 0x3cd7, 0x3ce0, 0x3ce9,
    0x3cf2, 0x3cfc, 0x3d03, 0x3d08, 0x3d0d, 0x3d12, 0x3d17, 0x3d1c, 0x3d22, 0x3d28, 0x3d2d, 0x3d33, 0x3d39, 0x3d3f, 0x3d45, 0x3d4c,
    0x3d52, 0x3d58, 0x3d60, 0x3d66, 0x3d6c, 0x3d74, 0x3d7a, 0x3d81, 0x3d85, 0x3d88, 0x3d8c, 0x3d90, 0x3d94, 0x3d98, 0x3d9c, 0x3da0,
    0x3da4, 0x3da9, 0x3dad, 0x3db1, 0x3db6, 0x3dba, 0x3dbf, 0x3dc3, 0x3dc8, 0x3dcd, 0x3dd1, 0x3dd6, 0x3ddb, 0x3de0, 0x3de5, 0x3dea,
    0x3df0, 0x3df4, 0x3dfa, 0x3e00, 0x3e02, 0x3e05, 0x3e08, 0x3e0b, 0x3e0e, 0x3e11, 0x3e14, 0x3e17, 0x3e1a, 0x3e1d, 0x3e20, 0x3e23,
    0x3e26, 0x3e29, 0x3e2c, 0x3e30, 0x3e33, 0x3e36, 0x3e3a, 0x3e3d, 0x3e40, 0x3e44, 0x3e47, 0x3e4b, 0x3e4e, 0x3e52, 0x3e56, 0x3e59,
    0x3e5d, 0x3e61, 0x3e65, 0x3e68, 0x3e6c, 0x3e70, 0x3e74, 0x3e78, 0x3e7c, 0x3e80, 0x3e82, 0x3e84, 0x3e86, 0x3e88, 0x3e8a, 0x3e8d,
    0x3e8f, 0x3e91, 0x3e93, 0x3e95, 0x3e98, 0x3e9a, 0x3e9c, 0x3e9e, 0x3ea1, 0x3ea3, 0x3ea5, 0x3ea8, 0x3eaa, 0x3ead, 0x3eaf, 0x3eb2,
    0x3eb4, 0x3eb6, 0x3eb9, 0x3ebc, 0x3ebe, 0x3ec1, 0x3ec3, 0x3ec6, 0x3ec8, 0x3ecb, 0x3ece, 0x3ed1, 0x3ed3, 0x3ed6, 0x3ed9, 0x3edb,
    0x3ede, 0x3ee1, 0x3ee4, 0x3ee7, 0x3eea, 0x3eed, 0x3ef0, 0x3ef2, 0x3ef6, 0x3ef8, 0x3efc, 0x3efe, 0x3f01, 0x3f02, 0x3f04, 0x3f05,
    0x3f07, 0x3f09, 0x3f0a, 0x3f0c, 0x3f0d, 0x3f0f, 0x3f11, 0x3f12, 0x3f14, 0x3f16, 0x3f17, 0x3f19, 0x3f1b, 0x3f1c, 0x3f1e, 0x3f20,
    0x3f21, 0x3f23, 0x3f25, 0x3f27, 0x3f29, 0x3f2a, 0x3f2c, 0x3f2e, 0x3f30, 0x3f32, 0x3f33, 0x3f35, 0x3f37, 0x3f39, 0x3f3b, 0x3f3d,
    0x3f3f, 0x3f41, 0x3f43, 0x3f45, 0x3f47, 0x3f49, 0x3f4b, 0x3f4d, 0x3f4f, 0x3f51, 0x3f53, 0x3f55, 0x3f57, 0x3f59, 0x3f5b, 0x3f5d,
    0x3f5f, 0x3f61, 0x3f63, 0x3f65, 0x3f68, 0x3f6a, 0x3f6c, 0x3f6e, 0x3f70, 0x3f72, 0x3f74, 0x3f76, 0x3f7a, 0x3f7c, 0x3f7e, 0x3f80,
};

static float unit_value(const Texels *t) // the integer that represents 1.0
{
    return (float)((1u << (8 * t->channel_bytes - (t->kind == cudaChannelFormatKindSigned))) - 1);
}

static bool is_normalized(const TextureObject *o)
{
    return o->texels.kind != cudaChannelFormatKindFloat && o->texels.channel_bytes < 4 &&
           o->sampling.readMode == cudaReadModeNormalizedFloat;
}

static bool is_srgb(const TextureObject *o, int channel) // false for the alpha channel
{
    return o->sampling.sRGB && channel < 3;
}

uint32_t sim_channel_value(const TextureObject *o, uint32_t stored, int channel)
{
    const Texels *t = &o->texels;
    if (t->kind == cudaChannelFormatKindFloat)
        return t->channel_bytes == 2 ? bits_of(sim_half_to_float((uint16_t)stored)) : stored;
    const bool is_signed = t->kind == cudaChannelFormatKindSigned;
    if (!is_normalized(o))
        return is_signed ? (uint32_t)sign_extended(stored, t->channel_bytes) : stored;
    if (is_signed)
        return bits_of(fmaxf((float)sign_extended(stored, t->channel_bytes) / unit_value(t), -1.0f));
    return is_srgb(o, channel) ? (uint32_t)LINEAR_OF_SRGB[stored] << 16 : bits_of((float)stored / unit_value(t));
}

// Half-precision colours are truncated; normalised integers are rounded to nearest, ties down.
uint32_t sim_border_channel(const TextureObject *o, int channel)
{
    const Texels *t = &o->texels;
    const float colour = o->sampling.borderColor[channel];
    if (t->kind == cudaChannelFormatKindFloat && t->channel_bytes == 2)
        return isnan(colour) ? 0x7fff : sim_half_from_double(colour, ROUND_ZERO);
    const uint32_t mask = t->channel_bytes == 4 ? UINT32_MAX : (1u << 8 * t->channel_bytes) - 1;
    if (!is_normalized(o))
        return bits_of(colour) & mask; // programs pass integers as the bits of a float
    const float minimum = t->kind == cudaChannelFormatKindSigned ? -1.0f : 0.0f;
    const float clamped = isnan(colour) ? 0 : fminf(fmaxf(colour, minimum), 1.0f);
    return (uint32_t)(int32_t)ceilf(clamped * unit_value(t) - 0.5f) & mask;
}
// ---- Filtering, as measured on an H200

// Rounds to `digits` binary digits, ties away from zero.
static double round_to_digits(double value, int digits)
{
    int exponent;
    const double mantissa = frexp(value, &exponent);
    return ldexp(round(ldexp(mantissa, digits)), exponent - digits);
}

// The weighted sum of a slice's texels. Each is truncated `digits` binary digits below the largest texel's exponent.
static double sum_of_slice(const double *value, const int *weight, int digits)
{
    double largest = 0, sum = 0;
    for (int k = 0; k < 4; k++)
        if (weight[k] && fabs(value[k]) > largest)
            largest = fabs(value[k]);
    if (largest == 0)
        return 0;
    const int shift = digits - ilogb(largest);
    const double scale = ldexp(1, shift); // a power of two: the products are exact
    for (int k = 0; k < 4; k++)
        if (weight[k])
            sum += trunc(value[k] * scale) * weight[k];
    return ldexp(sum, -shift - FRACTION_BITS);
}

// Filters floating-point texels with `digits` binary digits; the caller has flushed subnormal numbers.
static float filter_floats(const double *value, const int *weight, int digits)
{
    double exact = 0;
    bool negative = true;
    for (int k = 0; k < 8; k++)
        if (weight[k]) {
            exact += value[k] * weight[k];
            negative &= signbit(value[k]) != 0;
        }
    if (isnan(exact))
        return float_of(digits == HALF_DIGITS ? 0x7fffe000 : 0x7fffffff);
    if (isinf(exact))
        return (float)exact;
    const double sum = sum_of_slice(value, weight, digits + 3) + sum_of_slice(value + 4, weight + 4, digits + 3);
    return sum == 0 && negative ? -0.0f : (float)round_to_digits(sum, digits);
}

// Filters normalised integers. 8 bits are widened to 16: before the sum if unsigned, after the sum if signed.
static float filter_normalized(const Texels *t, const Corners *c, int channel)
{
    const bool is_signed = t->kind == cudaChannelFormatKindSigned, is_8_bit = t->channel_bytes == 1;
    int64_t sum = 0;
    for (int k = 0; k < 8; k++) {
        const uint32_t stored = c->weight[k] ? c->stored[k][channel] : 0;
        const int64_t number = is_signed ? sign_extended(stored, t->channel_bytes) : (int64_t)stored * (is_8_bit ? 257 : 1);
        sum += (is_signed && !is_8_bit && number < -32767 ? -32767 : number) * c->weight[k];
    }
    if (!is_signed)
        return (float)((sum + ONE / 2) >> FRACTION_BITS) / 65535.0f;
    const int64_t widened = is_8_bit ? (8 * sum + (sum >> 4) + (sum >> 12) + 4) >> 3 : (sum + ONE / 2) >> FRACTION_BITS;
    return (float)(widened < -32767 ? -32767 : widened) / 32767.0f;
}

uint32_t sim_filter_channel(const TextureObject *o, const Corners *c, int channel)
{
    const Texels *t = &o->texels;
    const bool is_float = t->kind == cudaChannelFormatKindFloat;
    if (!is_float && !is_srgb(o, channel))
        return bits_of(filter_normalized(t, c, channel));
    double value[8];
    for (int k = 0; k < 8; k++) {
        const float single = c->weight[k] ? float_of(sim_channel_value(o, c->stored[k][channel], channel)) : 0;
        value[k] = fpclassify(single) == FP_SUBNORMAL ? copysign(0, single) : single;
    }
    return bits_of(filter_floats(value, c->weight, is_float && t->channel_bytes == 4 ? FLOAT_DIGITS : HALF_DIGITS));
}
