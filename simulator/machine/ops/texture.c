// texture.c: instructions on textures and surfaces.
//
// A texture is read at coordinates between its texels: CUDA C++ Programming Guide, "Texture Fetching". What
// that leaves open, above all how a GPU rounds, is as an H200 does it.
#include "machine/ops/texture.h"
#include "machine/block.h"

#include <math.h>
#include <string.h>

enum { OUTSIDE = -1 };
enum { FRACTION_BITS = 8, ONE = 1 << FRACTION_BITS, FLOAT_DIGITS = 24, HALF_DIGITS = 11 };

// ---- Objects

static const uint32_t *lanes_at(const Warp *w, uint32_t place)
{
    return (const uint32_t *)(w->lanes + place);
}

static void write_results(Warp *w, const Instr *i, int lane, const uint32_t *result)
{
    for (int k = 0; k < CHANNELS; k++)
        if (i->list[k] != NOWHERE)
            ((uint32_t *)(w->lanes + i->list[k]))[lane] = result[k];
}

static const TextureObject *object_of(Warp *w, const Instr *i, int lane, bool surface)
{
    const uint64_t number = ((const uint64_t *)(w->lanes + i->a))[lane];
    const TextureObject *o = sim_texture_object(number);
    const char *kind = surface ? "surface" : "texture";
    if (!o)
        sim_fault(w, i, lane, cudaErrorIllegalAddress, "no %s object is numbered %llu: never made, or destroyed", kind,
                  (unsigned long long)number);
    if (o->surface != surface)
        sim_fault(w, i, lane, cudaErrorIllegalAddress, "object %llu is no %s", (unsigned long long)number, kind);
    if (!o->texels.first)
        sim_fault(w, i, lane, cudaErrorIllegalAddress, "the array of %s object %llu has been freed", kind,
                  (unsigned long long)number);
    return o;
}

// An instruction for other dimensions than the object's would read anything.
static void check_shape(Warp *w, const Instr *i, int lane, const Texels *t)
{
    const TextureShape *shape = &sim_texture_shapes[i->type];
    if (t->linear)
        sim_fault(w, i, lane, cudaErrorIllegalAddress, "memory without a pitch is read with tex1Dfetch only");
    if (shape->dimensions != t->dimensions || shape->layered != t->layered)
        sim_fault(w, i, lane, cudaErrorIllegalAddress, "an access to %s%d-D texels, but the object has %s%d-D ones",
                  shape->layered ? "layered " : "", shape->dimensions, t->layered ? "layered " : "", t->dimensions);
}

// ---- Texels

typedef struct Readers { // lanes of a warp that read one texture
    Warp *w;
    const Instr *i;
    uint32_t mask;
    const TextureObject *object;
    int64_t layer[LANES];
} Readers;

typedef int64_t Place[3]; // a texel's numbers in its row, slice and cube; OUTSIDE: the border
typedef uint32_t Texel[CHANNELS];

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

static uint32_t read_channel(const uint8_t *from, int bytes)
{
    switch (bytes) {
    case 1: return __atomic_load_n(from, __ATOMIC_RELAXED);
    case 2: return __atomic_load_n((const uint16_t *)from, __ATOMIC_RELAXED);
    default: return __atomic_load_n((const uint32_t *)from, __ATOMIC_RELAXED);
    }
}

static int32_t with_sign(uint32_t value, int bytes)
{
    const int unused = 32 - 8 * bytes;
    return (int32_t)(value << unused) >> unused;
}

// The colour that a byte of an sRGB texture stands for: the upper half of a float's bits, as an H200 has them.
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

static float largest_of(const Texels *t) // of the numbers that stand for -1 to 1, or 0 to 1
{
    return (float)((1u << (8 * t->channel_bytes - (t->kind == cudaChannelFormatKindSigned))) - 1);
}

static bool is_normalized(const TextureObject *o)
{
    return o->texels.kind != cudaChannelFormatKindFloat && o->texels.channel_bytes < 4 &&
           o->sampling.readMode == cudaReadModeNormalizedFloat;
}

static bool is_srgb(const TextureObject *o, int channel) // the fourth channel never is
{
    return o->sampling.sRGB && channel < 3;
}

// What a lane gets for a channel as it is stored: its bits, or those of a float.
static uint32_t channel_value(const TextureObject *o, uint32_t stored, int channel)
{
    const Texels *t = &o->texels;
    if (t->kind == cudaChannelFormatKindFloat)
        return t->channel_bytes == 2 ? bits_of(sim_half_to_float((uint16_t)stored)) : stored;
    const bool is_signed = t->kind == cudaChannelFormatKindSigned;
    if (!is_normalized(o))
        return is_signed ? (uint32_t)with_sign(stored, t->channel_bytes) : stored;
    if (is_signed)
        return bits_of(fmaxf((float)with_sign(stored, t->channel_bytes) / largest_of(t), -1.0f));
    return is_srgb(o, channel) ? (uint32_t)LINEAR_OF_SRGB[stored] << 16 : bits_of((float)stored / largest_of(t));
}

// A channel of the border's colour as a texel would store it: a half (16 bits) is cut, a fraction rounded, halves down.
static uint32_t border_channel(const TextureObject *o, int channel)
{
    const Texels *t = &o->texels;
    const float colour = o->sampling.borderColor[channel];
    if (t->kind == cudaChannelFormatKindFloat && t->channel_bytes == 2)
        return isnan(colour) ? 0x7fff : sim_half_from_double(colour, ROUND_ZERO);
    const uint32_t mask = t->channel_bytes == 4 ? UINT32_MAX : (1u << 8 * t->channel_bytes) - 1;
    if (!is_normalized(o))
        return bits_of(colour) & mask; // a program stores whole numbers as a float's bits
    const float least = t->kind == cudaChannelFormatKindSigned ? -1.0f : 0.0f;
    const float inside = isnan(colour) ? 0 : fminf(fmaxf(colour, least), 1.0f);
    return (uint32_t)(int32_t)ceilf(inside * largest_of(t) - 0.5f) & mask;
}

static uint64_t texel_address(const Texels *t, const int64_t *at, int64_t layer)
{
    return t->first + (uint64_t)(at[2] + layer) * t->slice_bytes + (uint64_t)at[1] * t->row_bytes +
           (uint64_t)at[0] * (uint64_t)(t->channels * t->channel_bytes);
}

// The stored channels of the texels at the places of these lanes, all read in one access; the border's colour where
// one of the coordinates is OUTSIDE.
static void read_texels(const Readers *readers, uint32_t mask, Place *at, Texel *stored)
{
    const Texels *t = &readers->object->texels;
    Access access;
    access.kind = ACCESS_READ;
    access.space = GLOBAL;
    access.mask = 0;
    access.bytes = access.alignment = (size_t)(t->channels * t->channel_bytes);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        if (at[l][0] == OUTSIDE || at[l][1] == OUTSIDE || at[l][2] == OUTSIDE) {
            for (int k = 0; k < t->channels; k++)
                stored[l][k] = border_channel(readers->object, k);
        } else {
            access.mask |= 1u << l;
            access.address[l] = texel_address(t, at[l], readers->layer[l]);
        }
    }
    if (access.mask)
        sim_access(readers->w, readers->i, &access);
    for (uint32_t rest = access.mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        for (int k = 0; k < t->channels; k++)
            stored[l][k] = read_channel(access.pointer[l] + k * t->channel_bytes, t->channel_bytes);
    }
}

// The same as the lanes get it; channels that a texel has not are 0.
static void fetch_texels(const Readers *readers, uint32_t mask, Place *at, Texel *value)
{
    memset(value, 0, LANES * sizeof *value);
    read_texels(readers, mask, at, value);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint32_t *channel = value[__builtin_ctz(rest)];
        for (int k = 0; k < readers->object->texels.channels; k++)
            channel[k] = channel_value(readers->object, channel[k], k);
    }
}

// ---- Coordinates

typedef struct Taps { // in one dimension: the two texels that are mixed, or twice the one that is read
    int64_t at[2];
    int fraction; // of the second, of ONE
} Taps;

// The texel that stands for number n of a row that has `size`.
static int64_t within(int64_t n, int64_t size, enum cudaTextureAddressMode mode)
{
    const int64_t turn = mode == cudaAddressModeMirror ? 2 * size : size; // after these the row comes again
    const int64_t at = mode == cudaAddressModeWrap || mode == cudaAddressModeMirror ? (n % turn + turn) % turn : n;
    switch (mode) {
    case cudaAddressModeWrap:
        return at;
    case cudaAddressModeMirror:
        return at < size ? at : turn - 1 - at;
    case cudaAddressModeBorder:
        return n < 0 || n >= size ? OUTSIDE : n;
    default:
        return n < 0 ? 0 : n >= size ? size - 1 : n;
    }
}

static enum cudaTextureAddressMode address_mode(const TextureObject *o, int dimension)
{
    const enum cudaTextureAddressMode mode = o->sampling.addressMode[dimension];
    const bool repeats = mode == cudaAddressModeWrap || mode == cudaAddressModeMirror;
    return repeats && !o->sampling.normalizedCoords ? cudaAddressModeClamp : mode;
}

// A coordinate counted in texels. A normalised one is first cut to a fixed number of bits: 21 behind the
// point, or as many as tell 256 places in each texel apart.
static double in_texels(const TextureObject *o, int dimension, float coordinate)
{
    const int64_t size = o->texels.size[dimension];
    const enum cudaTextureAddressMode mode = address_mode(o, dimension);
    const double farthest = 0x1p40; // far outside, whatever the texture
    double x = coordinate;
    if (mode == cudaAddressModeWrap || mode == cudaAddressModeMirror)
        x = fmod(x, 2); // NaN if it is infinite
    if (isnan(x) || fabs(x) < 0x1p-126)
        x = 0;
    if (o->sampling.normalizedCoords) {
        const int bits = 63 - __builtin_clzll((uint64_t)size) + FRACTION_BITS;
        const double scale = (double)(1ll << (bits < 21 ? 21 : bits));
        x = floor(x * scale) / scale * (double)size;
    }
    return x > farthest ? farthest : x < -farthest ? -farthest : x;
}

static Taps taps_of(const TextureObject *o, int dimension, float coordinate, bool linear)
{
    const int64_t size = o->texels.size[dimension];
    const enum cudaTextureAddressMode mode = address_mode(o, dimension);
    const double x = in_texels(o, dimension, coordinate);
    if (!linear) {
        const int64_t n = within((int64_t)floor(x), size, mode);
        return (Taps){{n, n}, 0};
    }
    const int64_t fixed = (int64_t)floor((x - 0.5) * ONE + 0.5), n = fixed >> FRACTION_BITS;
    Taps taps = {{within(n, size, mode), within(n + 1, size, mode)}, (int)(fixed & (ONE - 1))};
    if (mode == cudaAddressModeClamp && taps.at[0] == taps.at[1])
        taps.fraction = 0;
    return taps;
}

static void find_taps(const Readers *readers, int lane, bool linear, Taps *taps)
{
    const TextureShape *shape = &sim_texture_shapes[readers->i->type];
    const uint32_t *place = readers->i->list + CHANNELS + shape->layered;
    for (int k = 0; k < 3; k++)
        taps[k] = k < shape->dimensions
                      ? taps_of(readers->object, k, ((const float *)(readers->w->lanes + place[k]))[lane], linear)
                      : (Taps){{0, 0}, 0};
    // One dimension is the edge of two: where the second has a border, half of that is mixed in.
    if (linear && shape->dimensions == 1 && !shape->layered && address_mode(readers->object, 1) == cudaAddressModeBorder)
        taps[1] = (Taps){{OUTSIDE, 0}, ONE / 2};
}

// ---- Filtering. All of this was found by comparing with an H200.

typedef struct Corners { // of a line, a square or a cube: number z * 4 + y * 2 + x
    uint32_t stored[8][CHANNELS];
    int weight[8]; // of ONE
} Corners;

// Divides ONE between the corners: by z first, then by x, then by y. Each part is rounded to a whole number
// and what is left is the other's; halves go to the second of x, and by y to the corner that is even or odd in both.
static void divide(const Taps *taps, int *weight)
{
    for (int z = 0; z < 2; z++) {
        const int slice = z ? taps[2].fraction : ONE - taps[2].fraction;
        const int second = (slice * taps[0].fraction + ONE / 2) >> FRACTION_BITS;
        for (int x = 0; x < 2; x++) {
            const int column = x ? second : slice - second;
            const int lower = (column * taps[1].fraction + ONE / 2 - !x) >> FRACTION_BITS;
            weight[4 * z + x] = column - lower;
            weight[4 * z + 2 + x] = lower;
        }
    }
}

// Rounded to so many binary digits, halves away from zero.
static double rounded_to(double value, int digits)
{
    int exponent;
    const double mantissa = frexp(value, &exponent);
    return ldexp(round(ldexp(mantissa, digits)), exponent - digits);
}

// The sum of a slice's texels: before they are weighted, each loses what lies `kept` digits behind the first of
// the largest.
static double sum_of_slice(const double *value, const int *weight, int kept)
{
    double largest = 0, sum = 0;
    for (int k = 0; k < 4; k++)
        if (weight[k] && fabs(value[k]) > largest)
            largest = fabs(value[k]);
    if (largest == 0)
        return 0;
    const int shift = kept - ilogb(largest);
    const double scale = ldexp(1, shift); // a power of two: the products are exact
    for (int k = 0; k < 4; k++)
        if (weight[k])
            sum += trunc(value[k] * scale) * weight[k];
    return ldexp(sum, -shift - FRACTION_BITS);
}

// Of floating-point numbers, which have `digits` digits; subnormal floats are 0.
static float mix_floats(const double *value, const int *weight, int digits)
{
    double plain = 0;
    bool negative = true;
    for (int k = 0; k < 8; k++)
        if (weight[k]) {
            plain += value[k] * weight[k];
            negative &= signbit(value[k]) != 0;
        }
    if (isnan(plain))
        return float_of(digits == HALF_DIGITS ? 0x7fffe000 : 0x7fffffff);
    if (isinf(plain))
        return (float)plain;
    const double sum = sum_of_slice(value, weight, digits + 3) + sum_of_slice(value + 4, weight + 4, digits + 3);
    return sum == 0 && negative ? -0.0f : (float)rounded_to(sum, digits);
}

// Of whole numbers that stand for fractions. 8 bits are widened to 16: before the sum, or, with a sign, behind it.
static float mix_fractions(const Texels *t, const Corners *c, int channel)
{
    const bool is_signed = t->kind == cudaChannelFormatKindSigned, bytes = t->channel_bytes == 1;
    int64_t sum = 0;
    for (int k = 0; k < 8; k++) {
        const uint32_t stored = c->weight[k] ? c->stored[k][channel] : 0;
        const int64_t number = is_signed ? with_sign(stored, t->channel_bytes) : (int64_t)stored * (bytes ? 257 : 1);
        sum += (is_signed && !bytes && number < -32767 ? -32767 : number) * c->weight[k];
    }
    if (!is_signed)
        return (float)((sum + ONE / 2) >> FRACTION_BITS) / 65535.0f;
    const int64_t wide = bytes ? (8 * sum + (sum >> 4) + (sum >> 12) + 4) >> 3 : (sum + ONE / 2) >> FRACTION_BITS;
    return (float)(wide < -32767 ? -32767 : wide) / 32767.0f;
}

static float mix_channel(const TextureObject *o, const Corners *c, int channel)
{
    const Texels *t = &o->texels;
    const bool floats = t->kind == cudaChannelFormatKindFloat;
    if (!floats && !is_srgb(o, channel))
        return mix_fractions(t, c, channel);
    double value[8];
    for (int k = 0; k < 8; k++) {
        const float single = c->weight[k] ? float_of(channel_value(o, c->stored[k][channel], channel)) : 0;
        value[k] = fpclassify(single) == FP_SUBNORMAL ? copysign(0, single) : single;
    }
    return mix_floats(value, c->weight, floats && t->channel_bytes == 4 ? FLOAT_DIGITS : HALF_DIGITS);
}

static void choose_corner(const Taps *taps, int corner, int64_t *at)
{
    at[0] = taps[0].at[corner & 1];
    at[1] = taps[1].at[corner >> 1 & 1];
    at[2] = taps[2].at[corner >> 2];
}

// Reads one corner of all lanes in which it has a weight.
static void read_corner(const Readers *readers, int corner, Taps (*taps)[3], Corners *corners)
{
    Place at[LANES];
    Texel stored[LANES];
    uint32_t mask = 0;
    for (uint32_t rest = readers->mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        if (corners[l].weight[corner] == 0)
            continue;
        mask |= 1u << l;
        choose_corner(taps[l], corner, at[l]);
    }
    if (mask)
        read_texels(readers, mask, at, stored);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        memcpy(corners[l].stored[corner], stored[l], sizeof stored[l]);
    }
}

// ---- tex, tld4

static int64_t layer_of(const Warp *w, const Instr *i, int lane, const Texels *t)
{
    if (!t->layered)
        return 0;
    const uint32_t layer = lanes_at(w, i->list[CHANNELS])[lane];
    const int64_t last = t->layers - 1;
    return layer > last ? last : layer;
}

// Of the lanes of a mask those that read the same texture as the first.
static Readers readers_with_first(Warp *w, const Instr *i, uint32_t mask)
{
    const int first = __builtin_ctz(mask);
    const uint64_t *number = (const uint64_t *)(w->lanes + i->a);
    Readers readers = {.w = w, .i = i, .object = object_of(w, i, first, false)};
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        if (number[l] == number[first])
            readers.mask |= 1u << l;
    }
    return readers;
}

// The same for instructions with coordinates.
static Readers readers_at_coordinates(Warp *w, const Instr *i, uint32_t mask)
{
    Readers readers = readers_with_first(w, i, mask);
    const Texels *t = &readers.object->texels;
    check_shape(w, i, __builtin_ctz(mask), t);
    for (uint32_t rest = readers.mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        readers.layer[l] = layer_of(w, i, l, t);
    }
    return readers;
}

static void sample_nearest(const Readers *readers)
{
    Place at[LANES];
    Texel value[LANES];
    for (uint32_t rest = readers->mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        Taps taps[3];
        find_taps(readers, l, false, taps);
        choose_corner(taps, 0, at[l]);
    }
    fetch_texels(readers, readers->mask, at, value);
    for (uint32_t rest = readers->mask; rest; rest &= rest - 1)
        write_results(readers->w, readers->i, __builtin_ctz(rest), value[__builtin_ctz(rest)]);
}

static void sample_linear(const Readers *readers)
{
    Taps taps[LANES][3];
    Corners corners[LANES];
    for (uint32_t rest = readers->mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        find_taps(readers, l, true, taps[l]);
        divide(taps[l], corners[l].weight);
    }
    for (int k = 0; k < 8; k++)
        read_corner(readers, k, taps, corners);
    for (uint32_t rest = readers->mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        Texel result = {0};
        for (int k = 0; k < readers->object->texels.channels; k++)
            result[k] = bits_of(mix_channel(readers->object, &corners[l], k));
        write_results(readers->w, readers->i, l, result);
    }
}

void sim_sample_texture(Warp *w, const Instr *i, uint32_t mask)
{
    while (mask) {
        const Readers readers = readers_at_coordinates(w, i, mask);
        if (readers.object->sampling.filterMode == cudaFilterModeLinear)
            sample_linear(&readers);
        else
            sample_nearest(&readers);
        mask &= ~readers.mask;
    }
}

// One of the four texels that tex2Dgather mixes: a channel of each.
static void gather_corner(const Readers *readers, int corner, Taps (*taps)[3], Texel *result, int result_at)
{
    Place at[LANES];
    Texel texel[LANES];
    for (uint32_t rest = readers->mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        choose_corner(taps[l], corner, at[l]);
    }
    fetch_texels(readers, readers->mask, at, texel);
    for (uint32_t rest = readers->mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        result[l][result_at] = texel[l][readers->i->op];
    }
}

static void gather(const Readers *readers)
{
    static const int ORDER[CHANNELS] = {2, 3, 1, 0}; // from below on the left, against the clock
    Taps taps[LANES][3];
    Texel result[LANES];
    for (uint32_t rest = readers->mask; rest; rest &= rest - 1)
        find_taps(readers, __builtin_ctz(rest), true, taps[__builtin_ctz(rest)]);
    for (int k = 0; k < CHANNELS; k++)
        gather_corner(readers, ORDER[k], taps, result, k);
    for (uint32_t rest = readers->mask; rest; rest &= rest - 1)
        write_results(readers->w, readers->i, __builtin_ctz(rest), result[__builtin_ctz(rest)]);
}

void sim_gather_texels(Warp *w, const Instr *i, uint32_t mask)
{
    while (mask) {
        const Readers readers = readers_at_coordinates(w, i, mask);
        if (!readers.object->texels.gathers)
            sim_fault(w, i, __builtin_ctz(mask), cudaErrorIllegalAddress,
                      "tex2Dgather from an array made without cudaArrayTextureGather");
        gather(&readers);
        mask &= ~readers.mask;
    }
}

// Memory as a row of texels: behind its end all channels are 0.
static void fetch_from_row(const Readers *readers)
{
    Place at[LANES];
    Texel value[LANES];
    uint32_t inside = 0;
    for (uint32_t rest = readers->mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        at[l][0] = lanes_at(readers->w, readers->i->list[CHANNELS])[l];
        at[l][1] = at[l][2] = 0;
        inside |= (uint32_t)(at[l][0] < readers->object->texels.size[0]) << l;
    }
    fetch_texels(readers, inside, at, value);
    for (uint32_t rest = readers->mask; rest; rest &= rest - 1)
        write_results(readers->w, readers->i, __builtin_ctz(rest), value[__builtin_ctz(rest)]);
}

// tex1Dfetch, without filter or address mode.
void sim_fetch_texel(Warp *w, const Instr *i, uint32_t mask)
{
    while (mask) {
        const Readers readers = readers_with_first(w, i, mask);
        if (!readers.object->texels.linear)
            sim_fault(w, i, __builtin_ctz(mask), cudaErrorIllegalAddress, "tex1Dfetch reads memory without a pitch only");
        fetch_from_row(&readers);
        mask &= ~readers.mask;
    }
}

// ---- suld, sust

// Moves a coordinate inside, where the boundary's mode says so. False: it is outside, and stays there.
static bool move_inside(int64_t *at, int64_t last, int boundary)
{
    if (*at >= 0 && *at <= last)
        return true;
    if (boundary != cudaBoundaryModeClamp)
        return false;
    *at = *at < 0 ? 0 : last;
    return true;
}

// Where a lane's access to a surface goes; NULL: nowhere.
static uint8_t *surface_pointer(Warp *w, const Instr *i, int lane, AccessKind kind)
{
    const Texels *t = &object_of(w, i, lane, true)->texels;
    const TextureShape *shape = &sim_texture_shapes[i->type];
    check_shape(w, i, lane, t);
    const size_t bytes = (size_t)i->count * i->bytes;
    int64_t at[3] = {0}, layer = 0;
    bool inside = true;
    for (int k = 0; k < shape->dimensions; k++) {
        at[k] = (int32_t)lanes_at(w, i->list[CHANNELS + shape->layered + k])[lane];
        inside &= move_inside(&at[k], k ? t->size[k] - 1 : (int64_t)(t->row_bytes - bytes), i->op);
    }
    if (shape->layered) {
        layer = lanes_at(w, i->list[CHANNELS])[lane]; // a negative one lies behind the last
        inside &= move_inside(&layer, t->layers - 1, i->op);
    }
    if (!inside && i->op == cudaBoundaryModeTrap)
        sim_fault(w, i, lane, cudaErrorLaunchFailure, "byte %lld, row %lld, slice %lld, layer %lld of a surface of %zu bytes "
                  "x %lld rows x %lld slices x %lld layers", (long long)at[0], (long long)at[1], (long long)at[2],
                  (long long)layer, t->row_bytes, (long long)t->size[1], (long long)t->size[2], (long long)t->layers);
    if (!inside)
        return NULL;
    const uint64_t address = t->first + (uint64_t)(at[2] + layer) * t->slice_bytes + (uint64_t)at[1] * t->row_bytes + (uint64_t)at[0];
    return sim_access_lane(w, i, lane, GLOBAL, address, bytes, bytes, kind);
}

static void copy_element(uint8_t *to, const uint8_t *from, int bytes) // as relaxed atomic accesses, like those of memory.c
{
    switch (bytes) {
    case 1: __atomic_store_n(to, __atomic_load_n(from, __ATOMIC_RELAXED), __ATOMIC_RELAXED); break;
    case 2: __atomic_store_n((uint16_t *)to, __atomic_load_n((const uint16_t *)from, __ATOMIC_RELAXED), __ATOMIC_RELAXED); break;
    case 4: __atomic_store_n((uint32_t *)to, __atomic_load_n((const uint32_t *)from, __ATOMIC_RELAXED), __ATOMIC_RELAXED); break;
    default: __atomic_store_n((uint64_t *)to, __atomic_load_n((const uint64_t *)from, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
    }
}

static size_t register_bytes(const Instr *i)
{
    return i->bytes < 2 ? 2 : i->bytes;
}

void sim_load_surface(Warp *w, const Instr *i, uint32_t mask)
{
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int lane = __builtin_ctz(rest);
        const uint8_t *from = surface_pointer(w, i, lane, ACCESS_READ);
        for (int k = 0; k < i->count; k++) {
            if (i->list[k] == NOWHERE)
                continue;
            uint8_t *to = w->lanes + i->list[k] + (size_t)lane * register_bytes(i);
            memset(to, 0, register_bytes(i));
            if (from)
                copy_element(to, from + k * i->bytes, i->bytes);
        }
    }
}

void sim_store_surface(Warp *w, const Instr *i, uint32_t mask)
{
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int lane = __builtin_ctz(rest);
        uint8_t *to = surface_pointer(w, i, lane, ACCESS_WRITE);
        for (int k = 0; k < i->count && to; k++)
            copy_element(to + k * i->bytes, w->lanes + i->list[k] + (size_t)lane * register_bytes(i), i->bytes);
    }
}

// ---- suq

void sim_query_surface(Warp *w, const Instr *i, uint32_t mask)
{
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int lane = __builtin_ctz(rest);
        const Texels *t = &object_of(w, i, lane, true)->texels;
        if (t->layered)
            sim_fault(w, i, lane, cudaErrorNotSupported, "the size of a surface with layers is not known");
        ((uint32_t *)(w->lanes + i->d))[lane] = i->op < t->dimensions ? (uint32_t)t->size[i->op] : 0;
    }
}
