// video.c: video instructions, which operate on bytes and halves of registers. vadd.s32.u32.u32.sat d, a.b0, b.h1 operates on
// one pair; vadd2 and vadd4 operate on two and four.
#include "machine/ops/instructions.h"
#include "machine/ops/lanes.h"

#include <string.h>

typedef enum Operator {
    V_ADD, V_SUB, V_ABSDIFF, V_MIN, V_MAX, V_AVERAGE, V_SHL, V_SHR, V_MAD, V_EQ, V_NE, V_LT, V_LE, V_GT, V_GE
} Operator;

typedef enum SecondOperation { NO_SECOND, SECOND_ADD, SECOND_MIN, SECOND_MAX, MERGE } SecondOperation; // of the result and c

typedef struct Field { // bit field of a register, or of the 64 bits b:a
    uint8_t position, bits;
} Field;

typedef struct VideoOperation {
    int result_count;
    Field a[4], b[4], d[4];
    bool selected[4]; // results that the mask of d selects
    bool a_signed, b_signed, d_signed;
    bool saturate, wraps; // wraps: shift amounts are taken modulo 32
    int increment, scale;      // of vmad: is added to the sum; right shift of the sum
    SecondOperation second;
} VideoOperation;

static int64_t extract_field(uint64_t registers, Field f, bool is_signed)
{
    const int unused = 64 - f.bits;
    const uint64_t top = registers >> f.position << unused;
    return is_signed ? (int64_t)top >> unused : (int64_t)(top >> unused);
}

typedef __int128 Wide; // wide enough for a product plus c, of either sign

static Wide apply_operator(Operator op, const VideoOperation *v, int64_t a, int64_t b, uint32_t c)
{
    const int64_t shift = v->wraps ? b & 31 : b < 0 || b > 32 ? 32 : b;
    switch (op) {
    case V_ADD: return a + b;
    case V_SUB: return a - b;
    case V_ABSDIFF: return a < b ? b - a : a - b;
    case V_MIN: return a < b ? a : b;
    case V_MAX: return a < b ? b : a;
    case V_AVERAGE: return a + b < 0 ? (a + b) >> 1 : (a + b + 1) >> 1; // ties away from 0
    case V_SHL: return (Wide)((unsigned __int128)a << shift);
    case V_SHR: return a >> shift;
    case V_MAD: return ((Wide)a * b + (v->a_signed || v->b_signed ? (int32_t)c : (Wide)c) + v->increment) >> v->scale;
    case V_EQ: return a == b;
    case V_NE: return a != b;
    case V_LT: return a < b;
    case V_LE: return a <= b;
    case V_GT: return a > b;
    default: return a >= b;
    }
}

static Wide clamp(Wide value, int bits, bool is_signed)
{
    const Wide maximum = ((Wide)1 << (is_signed ? bits - 1 : bits)) - 1, minimum = is_signed ? -maximum - 1 : 0;
    return value < minimum ? minimum : value > maximum ? maximum : value;
}

static uint32_t apply_second(const VideoOperation *v, uint32_t result, uint32_t value, uint32_t c, int k)
{
    const bool less = v->d_signed ? (int32_t)value < (int32_t)c : value < c;
    const Field f = v->d[k];
    const uint32_t bits = (f.bits == 32 ? UINT32_MAX : (1u << f.bits) - 1) << f.position;
    switch (v->second) {
    case SECOND_ADD: return result + value;
    case SECOND_MIN: return less ? value : c;
    case SECOND_MAX: return less ? c : value;
    default: return (result & ~bits) | (value << f.position & bits);
    }
}

static void execute_video(Warp *w, const Instr *i, uint32_t mask)
{
    const VideoOperation *v = i->video;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        const uint32_t a = OPERAND(uint32_t, a)[l], b = OPERAND(uint32_t, b)[l], c = OPERAND(uint32_t, c)[l];
        const uint64_t pair = (uint64_t)b << 32 | a;
        const bool is_simd = v->result_count > 1; // each operand may come from either register
        uint32_t result = v->second == NO_SECOND ? 0 : c;
        for (int k = 0; k < v->result_count; k++) {
            if (!v->selected[k])
                continue;
            const int64_t x = extract_field(is_simd ? pair : a, v->a[k], v->a_signed);
            const int64_t y = extract_field(is_simd ? pair : b, v->b[k], v->b_signed);
            Wide value = apply_operator((Operator)i->op, v, x, y, c);
            if (v->saturate)
                value = clamp(value, v->d[k].bits, v->d_signed);
            result = apply_second(v, result, (uint32_t)value, c, k);
        }
        OPERAND(uint32_t, d)[l] = result;
    }
}

// ---- Decoding

// Parses b2 or h1, which select a byte or a half. Without a selector, the field is the whole register.
static bool parse_selector(Slice selector, Field *f)
{
    *f = (Field){0, 32};
    if (selector.length == 0)
        return true;
    f->bits = selector.text[0] == 'b' ? 8 : 16;
    const int index = selector.text[selector.length - 1] - '0';
    f->position = (uint8_t)(index * f->bits);
    return selector.length == 2 && (selector.text[0] == 'b' || selector.text[0] == 'h') && index >= 0 &&
           index * f->bits < 32;
}

// Parses b7210 or h31, which select bytes or halves of b:a, highest first. The default starts at `first`.
static bool parse_simd_selector(Slice selector, int count, int first, Field *fields)
{
    const int bits = 32 / count;
    for (int k = 0; k < count; k++) {
        const int index = selector.length == 0 ? first + k : selector.text[selector.length - 1 - (size_t)k] - '0';
        if (index < 0 || index * bits > 63)
            return false;
        fields[k] = (Field){(uint8_t)(index * bits), (uint8_t)bits};
        if (selector.length && (selector.length != (size_t)count + 1 || selector.text[0] != (count == 2 ? 'h' : 'b')))
            return false;
    }
    return true;
}

// Parses the mask of d.b20: the results that are computed. The others are copied from c.
static bool parse_mask(Slice selector, int count, bool *selected)
{
    for (int k = 0; k < count; k++)
        selected[k] = selector.length == 0 || memchr(selector.text + 1, '0' + k, selector.length - 1);
    return selector.length != 1;
}

static bool parse_selectors(const Statement *s, VideoOperation *v)
{
    const Slice d = s->operands[0].selector, a = s->operands[1].selector, b = s->operands[2].selector;
    if (v->result_count > 1)
        return parse_simd_selector(a, v->result_count, 0, v->a) && parse_simd_selector(b, v->result_count, v->result_count, v->b) &&
               parse_simd_selector((Slice){"", 0}, v->result_count, 0, v->d) && parse_mask(d, v->result_count, v->selected);
    v->selected[0] = true;
    if (d.length && v->second == NO_SECOND)
        v->second = MERGE;
    return parse_selector(a, &v->a[0]) && parse_selector(b, &v->b[0]) && parse_selector(d, &v->d[0]) &&
           (d.length == 0 || v->second == MERGE);
}

// vadd.dtype.atype.btype{.sat}{.op2}. In a comparison only the operands have types.
static void decode_types(const Opcode *o, int op, VideoOperation *v)
{
    const Slice *types = &o->parts[op >= V_EQ ? 0 : 1]; // atype and btype are at 1 and 2
    v->a_signed = sim_slice_is(types[1], "s32");
    v->b_signed = sim_slice_is(types[2], "s32");
    v->d_signed = op < V_EQ && sim_slice_is(o->parts[1], "s32");
    v->saturate = sim_has_modifier(o, "sat");
    v->wraps = sim_has_modifier(o, "wrap");
    v->increment = sim_has_modifier(o, "po");
    v->scale = sim_has_modifier(o, "shr7") ? 7 : sim_has_modifier(o, "shr15") ? 15 : 0;
}

static bool are_registers(const Statement *s)
{
    for (int k = 0; k < s->count; k++)
        if (s->operands[k].kind != IS_REGISTER)
            return false;
    return true;
}

static bool decode_video(Decoder *d, const Statement *s, const Opcode *o, Instr *i)
{
    static const char *const SECOND_NAMES[] = {"add", "min", "max"};
    static const SecondOperation SECOND_OPERATIONS[] = {SECOND_ADD, SECOND_MIN, SECOND_MAX, NO_SECOND};
    VideoOperation *v = sim_allocate(d->arena, sizeof *v);
    const char last = o->parts[0].text[o->parts[0].length - 1];
    if (s->count < 3)
        return false;
    v->result_count = last == '2' ? 2 : last == '4' ? 4 : 1;
    v->second = SECOND_OPERATIONS[sim_modifier_among(o, SECOND_NAMES, 3)];
    if (v->result_count > 1 && v->second == NO_SECOND)
        v->second = MERGE;
    if (v->result_count > 1 && !are_registers(s)) // ptxas accepts constants only in scalar ones
        return false;
    decode_types(o, i->op, v);
    if (!parse_selectors(s, v))
        return false;
    const bool reads_c = v->second != NO_SECOND || i->op == V_MAD;
    i->video = v;
    if (!sim_plain_operands(d, s, o, i, reads_c ? "vvvi" : "vvv"))
        return false;
    i->c = reads_c ? i->c : sim_constant(d, 4, 0);
    return true;
}

#define VIDEO(syntax, operator) {"v" syntax, .decode = decode_video, .run = execute_video, .op = operator}
#define WORDS " u32|s32 u32|s32 u32|s32"
#define SCALAR(name, operator) VIDEO(name WORDS " {sat} {add|min|max}", operator)
#define SIMD(name, operator)                                                                                      \
    VIDEO(name "2" WORDS " {sat|add}", operator), VIDEO(name "4" WORDS " {sat|add}", operator)
#define COMPARISON(word, operator) VIDEO("set u32|s32 u32|s32 " word " {add|min|max}", operator), \
    VIDEO("set2 u32|s32 u32|s32 " word " {add}", operator), VIDEO("set4 u32|s32 u32|s32 " word " {add}", operator)

static const Instruction ROWS[] = {
    SCALAR("add", V_ADD), SCALAR("sub", V_SUB), SCALAR("absdiff", V_ABSDIFF), SCALAR("min", V_MIN), SCALAR("max", V_MAX),
    SIMD("add", V_ADD), SIMD("sub", V_SUB), SIMD("avrg", V_AVERAGE), SIMD("absdiff", V_ABSDIFF),
    SIMD("min", V_MIN), SIMD("max", V_MAX),
    VIDEO("shl u32|s32 u32|s32 u32 {sat} clamp|wrap {add|min|max}", V_SHL),
    VIDEO("shr u32|s32 u32|s32 u32 {sat} clamp|wrap {add|min|max}", V_SHR),
    VIDEO("mad" WORDS " {po} {sat} {shr7|shr15}", V_MAD),
    COMPARISON("eq", V_EQ), COMPARISON("ne", V_NE), COMPARISON("lt", V_LT), COMPARISON("le", V_LE),
    COMPARISON("gt", V_GT), COMPARISON("ge", V_GE),
};

INSTRUCTION_LIST(sim_video_instructions, "Video", ROWS)
