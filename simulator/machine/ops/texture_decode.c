// texture_decode.c: decodes texture and surface instructions.
#include "machine/ops/instructions.h"
#include "machine/ops/texture.h"

#include <string.h>

enum { MAX_COORDINATES = 4, MAX_BYTES = 16 };

#define COUNT_OF(list) ((int)(sizeof(list) / sizeof *(list)))

static const char *const CHANNEL_NAMES[] = {"r", "g", "b", "a"};
static const char *const RESULT_TYPES[] = {"f32", "u32", "s32"}; // equivalent, as the texture determines the type
static const char *const CACHES[] = {"ca", "cg", "cs", "cv", "wb", "wt"};
static const char *const BOUNDARIES[] = {"zero", "clamp", "trap"}; // in the order of cudaSurfaceBoundaryMode
static const char *const QUERIES[] = {"width", "height", "depth"}; // in the order of Texels.size

// Removes and returns the opcode's next part, up to a dot.
static Slice next_part(Slice *rest)
{
    const char *dot = memchr(rest->text, '.', rest->length);
    const Slice part = {rest->text, dot ? (size_t)(dot - rest->text) : rest->length};
    const size_t consumed = part.length + (dot ? 1 : 0);
    *rest = (Slice){rest->text + consumed, rest->length - consumed};
    return part;
}

static bool consume(Slice *rest, const char *part) // removes the next part if it equals `part`
{
    Slice remaining = *rest;
    const bool is_equal = sim_slice_is(next_part(&remaining), part);
    if (is_equal)
        *rest = remaining;
    return is_equal;
}

static int consume_one_of(Slice *rest, const char *const *names, int count) // returns the index of the name, or -1
{
    for (int k = 0; k < count; k++)
        if (consume(rest, names[k]))
            return k;
    return -1;
}

static const TextureShape *consume_shape(Slice *rest, Instr *i)
{
    for (i->type = 0; i->type < TEXTURE_SHAPES; i->type++)
        if (consume(rest, sim_texture_shapes[i->type].name))
            return &sim_texture_shapes[i->type];
    return NULL;
}

// Sets the frame offsets of a vector's `count` elements, or of a scalar.
static bool decode_operands(Decoder *d, const Operand *o, const char *letters, int count, bool is_destination, uint32_t *offsets)
{
    const Operand *elements = o->kind == IS_VECTOR ? o->elements : o;
    if ((o->kind == IS_VECTOR ? o->count : 1) != count)
        return false;
    for (int k = 0; k < count; k++) {
        offsets[k] = is_destination ? sim_destination(&elements[k], letters[k]) : sim_source(d, &elements[k], letters[k]);
        if (offsets[k] == NO_OFFSET && !(is_destination && elements[k].kind == IS_SINK))
            return false;
    }
    return true;
}

// [object, {coordinates}]
static bool decode_texture_address(Decoder *d, const Operand *o, const char *letters, Instr *i)
{
    if (!o->is_address || o->integer || o->count != (*letters ? 1 : 0))
        return false;
    Operand object = *o;
    object.is_address = false;
    object.count = 0;
    i->a = sim_source(d, &object, 'l');
    return i->a != NO_OFFSET &&
           (!*letters || decode_operands(d, &o->elements[0], letters, (int)strlen(letters), false, i->elements + CHANNELS));
}

// tex.2d.v4.f32.f32 {r, g, b, a}, [object, {x, y}]. The level of detail of .level and .grad is ignored, as there are no
// mipmaps.
static bool decode_sample(Decoder *d, const Statement *s, Slice rest, Instr *i)
{
    const bool has_level = consume(&rest, "level"), has_gradient = consume(&rest, "grad");
    const TextureShape *shape = consume_shape(&rest, i);
    if (!shape || !consume(&rest, "v4") || consume_one_of(&rest, RESULT_TYPES, COUNT_OF(RESULT_TYPES)) < 0)
        return false;
    const bool has_integer_index = i->type == 0 && consume(&rest, "s32"); // index of a texel
    if ((!has_integer_index && !consume(&rest, "f32")) || rest.length)
        return false;
    const int extra_operands = has_level ? 1 : has_gradient ? 2 : 0, operand_length = has_level ? 1 : shape->dimensions == 3 || shape->cube ? 4 : shape->dimensions;
    uint32_t unused[MAX_COORDINATES];
    if (s->count != 2 + extra_operands)
        return false;
    for (int k = 2; k < s->count; k++)
        if (!decode_operands(d, &s->operands[k], "ffff", operand_length, false, unused))
            return false;
    i->run = has_integer_index ? sim_fetch_texel : sim_sample_texture;
    return decode_operands(d, &s->operands[0], "ffff", CHANNELS, true, i->elements) &&
           decode_texture_address(d, &s->operands[1], has_integer_index ? "i" : shape->coordinates, i);
}

// tld4.r.2d.v4.f32.f32: one channel of each of the four texels that linear filtering would use.
static bool decode_gather(Decoder *d, const Statement *s, Slice rest, Instr *i)
{
    const int channel = consume_one_of(&rest, CHANNEL_NAMES, CHANNELS);
    const TextureShape *shape = channel < 0 ? NULL : consume_shape(&rest, i);
    if (!shape || shape->dimensions != 2 || shape->layered || shape->cube || !consume(&rest, "v4") ||
        consume_one_of(&rest, RESULT_TYPES, COUNT_OF(RESULT_TYPES)) < 0 || !sim_slice_is(rest, "f32") || s->count != 2)
        return false;
    i->op = (uint8_t)channel;
    i->run = sim_texture_gather;
    return decode_operands(d, &s->operands[0], "ffff", CHANNELS, true, i->elements) && decode_texture_address(d, &s->operands[1], "ff", i);
}

// suld.b.2d.v2.b32.trap {a, b}, [object, {x, y}] and sust.b.2d.v2.b32.trap [object, {x, y}], {a, b}. x is in bytes.
static bool decode_surface(Decoder *d, const Statement *s, Slice rest, bool is_load, Instr *i)
{
    static const char *const LETTERS[] = {[1] = "hhhh", [2] = "hhhh", [4] = "ffff", [8] = "llll"}; // 8-bit elements use 16-bit
                                                                                                   // registers
    const TextureShape *shape = consume(&rest, "b") ? consume_shape(&rest, i) : NULL;
    if (!shape || shape->cube)
        return false;
    consume_one_of(&rest, CACHES, COUNT_OF(CACHES));
    i->count = consume(&rest, "v2") ? 2 : consume(&rest, "v4") ? 4 : 1;
    i->bytes = (uint8_t)sim_type_bytes(sim_type_named(next_part(&rest)));
    const int boundary = consume_one_of(&rest, BOUNDARIES, COUNT_OF(BOUNDARIES));
    if (boundary < 0 || rest.length || !(i->bytes == 1 || i->bytes == 2 || i->bytes == 4 || i->bytes == 8) ||
        i->count * i->bytes > MAX_BYTES || s->count != 2)
        return false;
    i->op = (uint8_t)boundary;
    i->run = is_load ? sim_load_surface : sim_store_surface;
    const size_t coordinates = strlen(shape->coordinates);
    return decode_operands(d, &s->operands[is_load ? 0 : 1], LETTERS[i->bytes], i->count, is_load, i->elements) &&
           decode_texture_address(d, &s->operands[is_load ? 1 : 0], &"iiii"[MAX_COORDINATES - coordinates], i);
}

// suq.width.b32 d, [object]. (nvcc generates neither this nor txq; a kernel with txq fails on an H200.)
static bool decode_query(Decoder *d, const Statement *s, Slice rest, Instr *i)
{
    const int query = consume_one_of(&rest, QUERIES, COUNT_OF(QUERIES));
    if (query < 0 || !sim_slice_is(rest, "b32") || s->count != 2)
        return false;
    i->op = (uint8_t)query;
    i->run = sim_query_surface;
    i->d = sim_destination(&s->operands[0], 'i');
    return i->d != NO_OFFSET && decode_texture_address(d, &s->operands[1], "", i);
}

static bool decode_texture(Decoder *d, const Statement *s, const Opcode *o, Instr *i)
{
    (void)o;
    Slice rest = s->opcode; // its parts, in the order of the opcode
    i->elements = sim_allocate(d->arena, (CHANNELS + MAX_COORDINATES) * sizeof *i->elements);
    if (consume(&rest, "tex"))
        return decode_sample(d, s, rest, i);
    if (consume(&rest, "tld4"))
        return decode_gather(d, s, rest, i);
    if (consume(&rest, "suld"))
        return decode_surface(d, s, rest, true, i);
    if (consume(&rest, "sust"))
        return decode_surface(d, s, rest, false, i);
    if (consume(&rest, "suq"))
        return decode_query(d, s, rest, i);
    return false;
}

static const Instruction ROWS[] = {
    {"tex {level|grad} 1d|2d|3d|a1d|a2d|cube|acube v4 f32|u32|s32 f32", .decode = decode_texture},
    {"tex {level|grad} 1d v4 f32|u32|s32 s32", .decode = decode_texture},
    {"tld4 r|g|b|a 2d v4 f32|u32|s32 f32", .decode = decode_texture},
    {"suld b 1d|2d|3d|a1d|a2d {ca|cg|cs|cv} {v2|v4} zero|clamp|trap b8|b16|b32|b64", .decode = decode_texture},
    {"sust b 1d|2d|3d|a1d|a2d {cg|cs|wb|wt} {v2|v4} zero|clamp|trap b8|b16|b32|b64", .decode = decode_texture,
     .effects = PUBLISHES | UNCOUNTED},
    {"suq width|height|depth b32", .decode = decode_texture},
};

INSTRUCTION_LIST(sim_texture_instructions, "Textures and surfaces", ROWS)
