// texture.c: texture and surface instructions.
//
// Filtering follows the CUDA C++ Programming Guide, "Texture Fetching". Results that it leaves open, mostly rounding, are those of
// an H200.
#include "machine/ops/texture.h"
#include "machine/block.h"

#include <math.h>
#include <string.h>

enum { OUTSIDE = -1 };

const TextureShape sim_texture_shapes[TEXTURE_SHAPES] = {
    {"1d", 1, false, false, "f"},   {"2d", 2, false, false, "ff"},     {"3d", 3, false, false, "ffff"},
    {"a1d", 1, true, false, "if"},  {"a2d", 2, true, false, "ifff"},   {"cube", 2, false, true, "ffff"},
    {"acube", 2, true, true, "ifff"}};

// ---- Objects

static const uint32_t *lanes_at(const Warp *w, uint32_t offset)
{
    return (const uint32_t *)(w->registers + offset);
}

static void write_results(Warp *w, const Instr *i, int lane, const uint32_t *result)
{
    for (int k = 0; k < CHANNELS; k++)
        if (!is_sink(i, k))
            ((uint32_t *)(w->registers + i->elements[k]))[lane] = result[k];
}

static const TextureObject *object_of(Warp *w, const Instr *i, int lane, bool is_surface)
{
    const uint64_t number = ((const uint64_t *)(w->registers + i->a))[lane];
    const TextureObject *o = sim_texture_object(number);
    const char *kind = is_surface ? "surface" : "texture";
    if (!o)
        sim_fault(w, i, lane, cudaErrorIllegalAddress, "%s object %llu does not exist: it was never created, or destroyed", kind,
                  (unsigned long long)number);
    if (o->is_surface != is_surface)
        sim_fault(w, i, lane, cudaErrorIllegalAddress, "object %llu is not a %s object", (unsigned long long)number, kind);
    if (!o->texels.base)
        sim_fault(w, i, lane, cudaErrorIllegalAddress, "the array of %s object %llu has been freed", kind,
                  (unsigned long long)number);
    return o;
}

// Reports an instruction whose shape differs from the object's, as it would read arbitrary memory.
static void check_shape(Warp *w, const Instr *i, int lane, const Texels *t)
{
    const TextureShape *shape = &sim_texture_shapes[i->type];
    if (t->linear)
        sim_fault(w, i, lane, cudaErrorIllegalAddress, "linear memory can be read only by tex1Dfetch()");
    if (shape->dimensions != t->dimensions || shape->layered != t->layered || shape->cube != t->cube)
        sim_fault(w, i, lane, cudaErrorIllegalAddress, "an access to %s%s%d-D texels of an object with %s%s%d-D texels",
                  shape->layered ? "layered " : "", shape->cube ? "cubemap " : "", shape->dimensions,
                  t->layered ? "layered " : "", t->cube ? "cubemap " : "", t->dimensions);
}

// ---- Texels

typedef struct TexelReaders { // lanes of a warp that read the same texture
    Warp *w;
    const Instr *i;
    uint32_t mask;
    const TextureObject *object;
    int64_t layer[LANES];    // includes the face of a cubemap
    float on_face[LANES][2]; // coordinates on the face of a cubemap
} TexelReaders;

typedef int64_t TexelIndex[3]; // x, y, z; OUTSIDE selects the border colour
typedef uint32_t Texel[CHANNELS];

static uint32_t read_channel(const uint8_t *from, int bytes)
{
    switch (bytes) {
    case 1: return __atomic_load_n(from, __ATOMIC_RELAXED);
    case 2: return __atomic_load_n((const uint16_t *)from, __ATOMIC_RELAXED);
    default: return __atomic_load_n((const uint32_t *)from, __ATOMIC_RELAXED);
    }
}

static uint64_t texel_address(const Texels *t, const int64_t *at, int64_t layer)
{
    return t->base + (uint64_t)(at[2] + layer) * t->slice_bytes + (uint64_t)at[1] * t->row_bytes +
           (uint64_t)at[0] * (uint64_t)(t->channels * t->channel_bytes);
}

// Reads the stored channels of the lanes' texels in one access. Uses the border colour if a coordinate is OUTSIDE.
static void read_texels(const TexelReaders *readers, uint32_t mask, TexelIndex *at, Texel *stored)
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
                stored[l][k] = sim_border_channel(readers->object, k);
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

// Reads the texels and converts their channels for the kernel; missing channels are 0.
static void fetch_texels(const TexelReaders *readers, uint32_t mask, TexelIndex *at, Texel *value)
{
    memset(value, 0, LANES * sizeof *value);
    read_texels(readers, mask, at, value);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint32_t *channel = value[__builtin_ctz(rest)];
        for (int k = 0; k < readers->object->texels.channels; k++)
            channel[k] = sim_channel_value(readers->object, channel[k], k);
    }
}

// ---- Coordinates

typedef struct Taps { // the two texels to interpolate in one dimension; they may be equal
    int64_t at[2];
    int fraction; // weight of the second texel, in units of 1/ONE
} Taps;

// Applies the address mode to texel index n.
static int64_t apply_address_mode(int64_t n, int64_t size, enum cudaTextureAddressMode mode)
{
    const int64_t period = mode == cudaAddressModeMirror ? 2 * size : size; // in texels
    const int64_t at = mode == cudaAddressModeWrap || mode == cudaAddressModeMirror ? (n % period + period) % period : n;
    switch (mode) {
    case cudaAddressModeWrap:
        return at;
    case cudaAddressModeMirror:
        return at < size ? at : period - 1 - at;
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

// Converts a coordinate to units of texels. A normalised coordinate is first truncated to 21 fractional bits, or to more if 256
// positions in each texel need them.
static double texel_coordinate(const TextureObject *o, int dimension, float coordinate)
{
    const int64_t size = o->texels.size[dimension];
    const enum cudaTextureAddressMode mode = address_mode(o, dimension);
    const double max_coordinate = 0x1p40; // outside of any texture
    double x = coordinate;
    if (mode == cudaAddressModeWrap || mode == cudaAddressModeMirror)
        x = fmod(x, 2); // NaN if x is infinite
    if (isnan(x) || fabs(x) < 0x1p-126)
        x = 0;
    if (o->sampling.normalizedCoords) {
        const int bits = 63 - __builtin_clzll((uint64_t)size) + FRACTION_BITS;
        const double scale = (double)(1ll << (bits < 21 ? 21 : bits));
        x = floor(x * scale) / scale * (double)size;
    }
    return x > max_coordinate ? max_coordinate : x < -max_coordinate ? -max_coordinate : x;
}

static Taps taps_of(const TextureObject *o, int dimension, float coordinate, bool linear)
{
    const int64_t size = o->texels.size[dimension];
    const enum cudaTextureAddressMode mode = address_mode(o, dimension);
    const double x = texel_coordinate(o, dimension, coordinate);
    if (!linear) {
        const int64_t n = apply_address_mode((int64_t)floor(x), size, mode);
        return (Taps){{n, n}, 0};
    }
    const int64_t fixed = (int64_t)floor((x - 0.5) * ONE + 0.5), n = fixed >> FRACTION_BITS;
    Taps taps = {{apply_address_mode(n, size, mode), apply_address_mode(n + 1, size, mode)}, (int)(fixed & (ONE - 1))};
    if (mode == cudaAddressModeClamp && taps.at[0] == taps.at[1])
        taps.fraction = 0;
    return taps;
}

// A lane's coordinate operand k; the layer does not count.
static float coordinate_at(const Warp *w, const Instr *i, int lane, int k)
{
    const bool layered = sim_texture_shapes[i->type].layered;
    return ((const float *)(w->registers + i->elements[CHANNELS + layered + k]))[lane];
}

static void find_taps(const TexelReaders *readers, int lane, bool linear, Taps *taps)
{
    const TextureShape *shape = &sim_texture_shapes[readers->i->type];
    memset(taps, 0, 3 * sizeof *taps);
    for (int k = 0; k < shape->dimensions; k++)
        taps[k] = taps_of(readers->object, k,
                          shape->cube ? readers->on_face[lane][k & 1] : coordinate_at(readers->w, readers->i, lane, k), linear);
    // A 1-D texture is filtered like the edge of a 2-D texture: if the second dimension has a border, half of the border
    // colour is mixed in.
    if (linear && shape->dimensions == 1 && !shape->layered && address_mode(readers->object, 1) == cudaAddressModeBorder)
        taps[1] = (Taps){{OUTSIDE, 0}, ONE / 2};
}

// ---- Filter weights, as on an H200

// Divides ONE between the corners: by z, then x, then y. One part is rounded to an integer; the other is the remainder. Ties in
// x go to the second corner; ties in y go to the corner whose x and y index are both even or both odd.
static void compute_weights(const Taps *taps, int *weight)
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

static void choose_corner(const Taps *taps, int corner, int64_t *at)
{
    at[0] = taps[0].at[corner & 1];
    at[1] = taps[1].at[corner >> 1 & 1];
    at[2] = taps[2].at[corner >> 2];
}

// Reads one corner for all lanes in which its weight is nonzero.
static void read_corner(const TexelReaders *readers, int corner, Taps (*taps)[3], Corners *corners)
{
    TexelIndex at[LANES];
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
    const uint32_t layer = lanes_at(w, i->elements[CHANNELS])[lane];
    const int64_t max = t->layers - 1;
    return layer > max ? max : layer;
}

// The cubemap face that a direction hits, and the coordinates on it (Programming Guide, "Cubemap Textures"): the coordinate
// of largest magnitude selects the face and divides the other two. For a zero direction, an H200 reads the centre of a face.
static int64_t find_face(float x, float y, float z, float on_face[2])
{
    const float size[] = {fabsf(x), fabsf(y), fabsf(z)};
    const int axis = size[2] >= size[0] && size[2] >= size[1] ? 2 : size[1] >= size[0] ? 1 : 0;
    const bool is_negative = (axis == 0 ? x : axis == 1 ? y : z) < 0;
    const float u = axis == 0 ? (is_negative ? z : -z) : axis == 2 && is_negative ? -x : x,
                v = axis == 1 ? (is_negative ? -z : z) : -y;
    on_face[0] = size[axis] ? (u / size[axis] + 1) / 2 : 0.5f;
    on_face[1] = size[axis] ? (v / size[axis] + 1) / 2 : 0.5f;
    return 2 * axis + is_negative;
}

// The lanes of the mask that read the first lane's texture.
static TexelReaders readers_with_first(Warp *w, const Instr *i, uint32_t mask)
{
    const int first = __builtin_ctz(mask);
    const uint64_t *number = (const uint64_t *)(w->registers + i->a);
    TexelReaders readers = {.w = w, .i = i, .object = object_of(w, i, first, false)};
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        if (number[l] == number[first])
            readers.mask |= 1u << l;
    }
    return readers;
}

// Finds the lanes that read the first lane's texture, for an instruction with coordinates, and their layers.
static TexelReaders readers_at_coordinates(Warp *w, const Instr *i, uint32_t mask)
{
    TexelReaders readers = readers_with_first(w, i, mask);
    const Texels *t = &readers.object->texels;
    check_shape(w, i, __builtin_ctz(mask), t);
    for (uint32_t rest = readers.mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        readers.layer[l] = layer_of(w, i, l, t);
        if (t->cube)
            readers.layer[l] = FACES * readers.layer[l] + find_face(coordinate_at(w, i, l, 0), coordinate_at(w, i, l, 1),
                                                                    coordinate_at(w, i, l, 2), readers.on_face[l]);
    }
    return readers;
}

static void sample_nearest(const TexelReaders *readers)
{
    TexelIndex at[LANES];
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

static void sample_linear(const TexelReaders *readers)
{
    Taps taps[LANES][3];
    Corners corners[LANES];
    for (uint32_t rest = readers->mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        find_taps(readers, l, true, taps[l]);
        compute_weights(taps[l], corners[l].weight);
    }
    for (int k = 0; k < 8; k++)
        read_corner(readers, k, taps, corners);
    for (uint32_t rest = readers->mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        Texel result = {0};
        for (int k = 0; k < readers->object->texels.channels; k++)
            result[k] = sim_filter_channel(readers->object, &corners[l], k);
        write_results(readers->w, readers->i, l, result);
    }
}

void sim_sample_texture(Warp *w, const Instr *i, uint32_t mask)
{
    while (mask) {
        const TexelReaders readers = readers_at_coordinates(w, i, mask);
        if (readers.object->sampling.filterMode == cudaFilterModeLinear)
            sample_linear(&readers);
        else
            sample_nearest(&readers);
        mask &= ~readers.mask;
    }
}

// Reads one of the four texels of tex2Dgather, and stores its selected channel in result[.][result_at].
static void gather_corner(const TexelReaders *readers, int corner, Taps (*taps)[3], Texel *result, int result_at)
{
    TexelIndex at[LANES];
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

static void gather_texels(const TexelReaders *readers)
{
    static const int ORDER[CHANNELS] = {2, 3, 1, 0}; // counterclockwise from the lower left
    Taps taps[LANES][3];
    Texel result[LANES];
    for (uint32_t rest = readers->mask; rest; rest &= rest - 1)
        find_taps(readers, __builtin_ctz(rest), true, taps[__builtin_ctz(rest)]);
    for (int k = 0; k < CHANNELS; k++)
        gather_corner(readers, ORDER[k], taps, result, k);
    for (uint32_t rest = readers->mask; rest; rest &= rest - 1)
        write_results(readers->w, readers->i, __builtin_ctz(rest), result[__builtin_ctz(rest)]);
}

void sim_texture_gather(Warp *w, const Instr *i, uint32_t mask)
{
    while (mask) {
        const TexelReaders readers = readers_at_coordinates(w, i, mask);
        if (!readers.object->texels.supports_gather)
            sim_fault(w, i, __builtin_ctz(mask), cudaErrorIllegalAddress,
                      "tex2Dgather() from an array created without cudaArrayTextureGather");
        gather_texels(&readers);
        mask &= ~readers.mask;
    }
}

// Fetches texels from linear memory. Past the end all channels are 0.
static void fetch_from_linear_memory(const TexelReaders *readers)
{
    TexelIndex at[LANES];
    Texel value[LANES];
    uint32_t in_range = 0;
    for (uint32_t rest = readers->mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        at[l][0] = lanes_at(readers->w, readers->i->elements[CHANNELS])[l];
        at[l][1] = at[l][2] = 0;
        in_range |= (uint32_t)(at[l][0] < readers->object->texels.size[0]) << l;
    }
    fetch_texels(readers, in_range, at, value);
    for (uint32_t rest = readers->mask; rest; rest &= rest - 1)
        write_results(readers->w, readers->i, __builtin_ctz(rest), value[__builtin_ctz(rest)]);
}

// tex1Dfetch: no filtering, no address mode.
void sim_fetch_texel(Warp *w, const Instr *i, uint32_t mask)
{
    while (mask) {
        const TexelReaders readers = readers_with_first(w, i, mask);
        if (!readers.object->texels.linear)
            sim_fault(w, i, __builtin_ctz(mask), cudaErrorIllegalAddress, "tex1Dfetch() reads only linear memory");
        fetch_from_linear_memory(&readers);
        mask &= ~readers.mask;
    }
}

// ---- suld, sust

// Clamps a coordinate in boundary mode clamp; in other modes returns false if the coordinate is outside.
static bool clamp_coordinate(int64_t *at, int64_t max, int boundary)
{
    if (*at >= 0 && *at <= max)
        return true;
    if (boundary != cudaBoundaryModeClamp)
        return false;
    *at = *at < 0 ? 0 : max;
    return true;
}

// The host pointer of a lane's surface access; NULL if it is outside the surface.
static uint8_t *surface_pointer(Warp *w, const Instr *i, int lane, AccessKind kind)
{
    const Texels *t = &object_of(w, i, lane, true)->texels;
    const TextureShape *shape = &sim_texture_shapes[i->type];
    check_shape(w, i, lane, t);
    const size_t bytes = (size_t)i->count * i->bytes;
    int64_t at[3] = {0}, layer = 0;
    bool in_range = true;
    for (int k = 0; k < shape->dimensions; k++) {
        at[k] = (int32_t)lanes_at(w, i->elements[CHANNELS + shape->layered + k])[lane];
        in_range &= clamp_coordinate(&at[k], k ? t->size[k] - 1 : (int64_t)(t->row_bytes - bytes), i->op);
    }
    if (shape->layered) {
        layer = lanes_at(w, i->elements[CHANNELS])[lane]; // unsigned, so a negative layer is past the last one
        in_range &= clamp_coordinate(&layer, t->layers - 1, i->op);
    }
    if (!in_range && i->op == cudaBoundaryModeTrap)
        sim_fault(w, i, lane, cudaErrorLaunchFailure, "byte %lld, row %lld, slice %lld, layer %lld of a surface of %zu bytes "
                  "x %lld rows x %lld slices x %lld layers", (long long)at[0], (long long)at[1], (long long)at[2],
                  (long long)layer, t->row_bytes, (long long)t->size[1], (long long)t->size[2], (long long)t->layers);
    if (!in_range)
        return NULL;
    if (at[0] % (int64_t)bytes)
        sim_fault(w, i, lane, cudaErrorMisalignedAddress, "byte %lld of a surface's row, which is not a multiple of the %zu bytes of an access\n"
                  "multiply x by the size of an element: x counts bytes in functions such as surf2Dwrite()", (long long)at[0], bytes);
    const uint64_t address = t->base + (uint64_t)(at[2] + layer) * t->slice_bytes + (uint64_t)at[1] * t->row_bytes + (uint64_t)at[0];
    return sim_access_lane(w, i, lane, GLOBAL, address, bytes, bytes, kind);
}

static void copy_element(uint8_t *to, const uint8_t *from, int bytes) // relaxed atomics, as in memory.c
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
            if (is_sink(i, k))
                continue;
            uint8_t *to = w->registers + i->elements[k] + (size_t)lane * register_bytes(i);
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
            copy_element(to + k * i->bytes, w->registers + i->elements[k] + (size_t)lane * register_bytes(i), i->bytes);
    }
}

// ---- suq

void sim_query_surface(Warp *w, const Instr *i, uint32_t mask)
{
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int lane = __builtin_ctz(rest);
        const Texels *t = &object_of(w, i, lane, true)->texels;
        if (t->layered)
            sim_fault(w, i, lane, cudaErrorNotSupported, "the size of a layered surface is not supported");
        ((uint32_t *)(w->registers + i->d))[lane] = i->op < t->dimensions ? (uint32_t)t->size[i->op] : 0;
    }
}
