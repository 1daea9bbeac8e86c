// float.c: operations on floating-point numbers of all sizes.
//
// The common ones, single and double precision rounded to nearest, are loops over the lanes. All
// others go through compute(), one lane at a time. Results that the PTX ISA lets differ from the
// exact ones (.approx, .full) are the exact ones, rounded.
#include "lanes.h"

#include <fenv.h>
#include <math.h>
#include <string.h>

static const uint32_t NAN_32 = 0x7fffffff; // what a GPU gives, whatever NaN came in

static inline uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return value != value ? NAN_32 : bits;
}

static inline float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// The smaller: a number rather than a NaN, and -0 rather than 0.
static inline double smaller(double a, double b)
{
    return a != a ? b : b != b ? a : a == b ? (signbit(a) ? a : b) : a < b ? a : b;
}

static inline double larger(double a, double b)
{
    return a != a ? b : b != b ? a : a == b ? (signbit(a) ? b : a) : a > b ? a : b;
}

// ---- Single and double precision, to nearest

BINARY(add_f32, uint32_t, float, float, bits_of(a + b))
BINARY(sub_f32, uint32_t, float, float, bits_of(a - b))
BINARY(mul_f32, uint32_t, float, float, bits_of(a * b))
BINARY(div_f32, uint32_t, float, float, bits_of(a / b))
TERNARY(fma_f32, uint32_t, float, float, float, bits_of(__builtin_fmaf(a, b, c)))
BINARY(add_f64, double, double, double, a + b)
BINARY(sub_f64, double, double, double, a - b)
BINARY(mul_f64, double, double, double, a * b)
BINARY(div_f64, double, double, double, a / b)
TERNARY(fma_f64, double, double, double, double, __builtin_fma(a, b, c))
UNARY(neg_f32, uint32_t, uint32_t, a ^ 0x80000000)
UNARY(abs_f32, uint32_t, uint32_t, a & 0x7fffffff)
UNARY(neg_f64, uint64_t, uint64_t, a ^ 0x8000000000000000)
UNARY(abs_f64, uint64_t, uint64_t, a & 0x7fffffffffffffff)
UNARY(neg_f16, uint16_t, uint16_t, a ^ 0x8000)
UNARY(abs_f16, uint16_t, uint16_t, a & 0x7fff)
UNARY(neg_f16x2, uint32_t, uint32_t, a ^ 0x80008000)
UNARY(abs_f16x2, uint32_t, uint32_t, a & 0x7fff7fff)
BINARY(copysign_f32, uint32_t, uint32_t, uint32_t, (a & 0x80000000) | (b & 0x7fffffff))
BINARY(copysign_f64, uint64_t, uint64_t, uint64_t, (a & 0x8000000000000000) | (b & 0x7fffffffffffffff))

// ---- Comparisons. Ordered ones are false with a NaN, those that end in u are true.

#define COMPARISONS(T, NUMBER)                                               \
    COMPARE(eq_##T, T, a == b)                                               \
    COMPARE(ne_##T, T, a < b || a > b)                                       \
    COMPARE(lt_##T, T, a < b)                                                \
    COMPARE(le_##T, T, a <= b)                                               \
    COMPARE(gt_##T, T, a > b)                                                \
    COMPARE(ge_##T, T, a >= b)                                               \
    COMPARE(equ_##T, T, !(a < b || a > b))                                   \
    COMPARE(neu_##T, T, a != b)                                              \
    COMPARE(ltu_##T, T, !(a >= b))                                           \
    COMPARE(leu_##T, T, !(a > b))                                            \
    COMPARE(gtu_##T, T, !(a <= b))                                           \
    COMPARE(geu_##T, T, !(a < b))                                            \
    COMPARE(num_##T, T, a == a && b == b)                                    \
    COMPARE(nan_##T, T, a != a || b != b)
COMPARISONS(float, )
COMPARISONS(double, )

static const struct {
    const char *name;
    Handler *single, *twice;
} COMPARE_WITH[] = {
    {"eq", eq_float, eq_double},    {"ne", ne_float, ne_double},    {"lt", lt_float, lt_double},
    {"le", le_float, le_double},    {"gt", gt_float, gt_double},    {"ge", ge_float, ge_double},
    {"equ", equ_float, equ_double}, {"neu", neu_float, neu_double}, {"ltu", ltu_float, ltu_double},
    {"leu", leu_float, leu_double}, {"gtu", gtu_float, gtu_double}, {"geu", geu_float, geu_double},
    {"num", num_float, num_double}, {"nan", nan_float, nan_double},
};

static bool compares(const char *how, double a, double b)
{
    const bool unordered = a != a || b != b;
    if (strcmp(how, "num") == 0)
        return !unordered;
    if (strcmp(how, "nan") == 0 || unordered)
        return unordered && (how[2] == 'u' || strcmp(how, "nan") == 0);
    switch (how[0] << 8 | how[1]) {
    case 'e' << 8 | 'q': return a == b;
    case 'n' << 8 | 'e': return a != b;
    case 'l' << 8 | 't': return a < b;
    case 'l' << 8 | 'e': return a <= b;
    case 'g' << 8 | 't': return a > b;
    default: return a >= b;
    }
}

// ---- Everything else

typedef enum Op { ADD, SUB, MUL, FMA, DIV, SQRT, RCP, RSQRT, MIN, MAX, SIN, COS, EX2, LG2, TANH, ABS, NEG } Op;

static const struct {
    const char *name;
    Op op;
    int operands;
} OPS[] = {
    {"add", ADD, 2}, {"sub", SUB, 2}, {"mul", MUL, 2}, {"fma", FMA, 3},   {"mad", FMA, 3},     {"div", DIV, 2},
    {"sqrt", SQRT, 1}, {"rcp", RCP, 1}, {"rsqrt", RSQRT, 1}, {"min", MIN, 2}, {"max", MAX, 2}, {"sin", SIN, 1},
    {"cos", COS, 1}, {"ex2", EX2, 1}, {"lg2", LG2, 1}, {"tanh", TANH, 1}, {"abs", ABS, 1},     {"neg", NEG, 1},
};

static void round_like(int rounding)
{
    static const int MODES[] = {[ROUND_NEAREST] = FE_TONEAREST, [ROUND_ZERO] = FE_TOWARDZERO,
                                [ROUND_DOWN] = FE_DOWNWARD, [ROUND_UP] = FE_UPWARD};
    fesetround(MODES[rounding]);
}

static double flushed(double value) // single precision's denormals
{
    return fabs(value) < 0x1p-126 ? copysign(0, value) : value;
}

static float single(Op op, float a, float b, float c)
{
    switch (op) {
    case ADD: return a + b;
    case SUB: return a - b;
    case MUL: return a * b;
    case FMA: return fmaf(a, b, c);
    case DIV: return a / b;
    case SQRT: return sqrtf(a);
    case RCP: return 1 / a;
    case RSQRT: return (float)(1 / sqrt(a));
    case MIN: return (float)smaller(a, b);
    case MAX: return (float)larger(a, b);
    case SIN: return (float)sin(a);
    case COS: return (float)cos(a);
    case EX2: return (float)exp2(a);
    case LG2: return (float)log2(a);
    case TANH: return (float)tanh(a);
    case ABS: return fabsf(a);
    default: return -a;
    }
}

static double twice(Op op, double a, double b, double c)
{
    switch (op) {
    case ADD: return a + b;
    case SUB: return a - b;
    case MUL: return a * b;
    case FMA: return fma(a, b, c);
    case DIV: return a / b;
    case SQRT: return sqrt(a);
    case RCP: return 1 / a;
    case RSQRT: return 1 / sqrt(a);
    case MIN: return smaller(a, b);
    case MAX: return larger(a, b);
    case ABS: return fabs(a);
    case NEG: return -a;
    default: return single(op, (float)a, 0, 0);
    }
}

// a * b + c such that rounding it once more, to half precision, is as good as rounding once: the
// product is exact in double precision, and a sum that is not gets an odd last bit.
static double fma_to_odd(double a, double b, double c)
{
    const double product = a * b, sum = product + c;
    const double high = sum - product, error = (product - (sum - high)) + (c - high);
    uint64_t bits;
    memcpy(&bits, &sum, sizeof bits);
    if (error == 0 || error != error || bits & 1 || isinf(sum))
        return sum;
    return nextafter(sum, error > 0 ? INFINITY : -INFINITY);
}

static double half_value(uint16_t bits, bool brain, bool flush)
{
    const uint16_t exponent = brain ? 0x7f80 : 0x7c00;
    if (flush && (bits & exponent) == 0)
        bits &= 0x8000;
    return brain ? float_of((uint32_t)bits << 16) : sim_half_to_float(bits);
}

static uint16_t half(const Instr *i, uint16_t a, uint16_t b, uint16_t c)
{
    const bool brain = i->type == BF16 || i->type == BF16X2;
    const bool flush = i->flags & FLUSH;
    const double x = half_value(a, brain, flush), y = half_value(b, brain, flush), z = half_value(c, brain, flush);
    double value = i->op == FMA ? fma_to_odd(x, y, z) : twice((Op)i->op, x, y, z);
    if (i->op >= SIN && i->op <= TANH)
        value = single((Op)i->op, (float)x, 0, 0);
    if (i->flags & NAN_WINS && (x != x || y != y))
        value = NAN;
    if (i->flags & SATURATE)
        value = value > 0 ? (value < 1 ? value : 1) : 0;
    const uint16_t result = (brain ? sim_brain_from_double : sim_half_from_double)(value, ROUND_NEAREST);
    return flush && half_value(result, brain, true) == 0 ? result & 0x8000 : result;
}

static void compute_single(Warp *w, const Instr *i, uint32_t mask)
{
    uint32_t *d = OPERAND(uint32_t, d);
    const float *as = OPERAND(float, a), *bs = OPERAND(float, b), *cs = OPERAND(float, c);
    const bool flush = i->flags & FLUSH;
    round_like(i->rounding);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        volatile float a = flush ? (float)flushed(as[l]) : as[l], b = flush ? (float)flushed(bs[l]) : bs[l],
                       c = flush ? (float)flushed(cs[l]) : cs[l];
        volatile float value = single((Op)i->op, a, b, c);
        if (i->flags & NAN_WINS && (a != a || b != b))
            value = NAN;
        if (flush)
            value = (float)flushed(value);
        if (i->flags & SATURATE)
            value = value > 0 ? (value < 1 ? value : 1) : 0;
        d[l] = bits_of(value);
    }
    round_like(ROUND_NEAREST);
}

static void compute_double(Warp *w, const Instr *i, uint32_t mask)
{
    double *d = OPERAND(double, d);
    const double *a = OPERAND(double, a), *b = OPERAND(double, b), *c = OPERAND(double, c);
    round_like(i->rounding);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        volatile double value = twice((Op)i->op, a[l], b[l], c[l]);
        d[l] = value;
    }
    round_like(ROUND_NEAREST);
}

static void compute_half(Warp *w, const Instr *i, uint32_t mask)
{
    uint16_t *d = OPERAND(uint16_t, d);
    const uint16_t *a = OPERAND(uint16_t, a), *b = OPERAND(uint16_t, b), *c = OPERAND(uint16_t, c);
    const int per_lane = i->type == F16X2 || i->type == BF16X2 ? 2 : 1;
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        for (int k = 0; k < per_lane; k++) {
            const int l = per_lane * __builtin_ctz(rest) + k;
            d[l] = half(i, a[l], b[l], c[l]);
        }
}

static void compare_slowly(Warp *w, const Instr *i, uint32_t mask)
{
    const char *how = COMPARE_WITH[i->from].name;
    uint32_t result = 0;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        double a, b;
        if (i->type == F32) {
            a = flushed(OPERAND(float, a)[l]);
            b = flushed(OPERAND(float, b)[l]);
        } else {
            a = half_value(OPERAND(uint16_t, a)[l], i->type == BF16, i->flags & FLUSH);
            b = half_value(OPERAND(uint16_t, b)[l], i->type == BF16, i->flags & FLUSH);
        }
        result |= (uint32_t)compares(how, a, b) << l;
    }
    sim_set_predicates(w, i, mask, result);
}

// One operand of a comparison, or one half of it.
static double compared(const uint8_t *lanes, int l, int part, Type type, bool flush)
{
    switch (type) {
    case F16X2: case BF16X2: return half_value(((const uint16_t *)lanes)[2 * l + part], type == BF16X2, flush);
    case F16: case BF16: return half_value(((const uint16_t *)lanes)[l], type == BF16, flush);
    case F32: return flush ? flushed(((const float *)lanes)[l]) : ((const float *)lanes)[l];
    case F64: return ((const double *)lanes)[l];
    case S32: return ((const int32_t *)lanes)[l];
    default: return ((const uint32_t *)lanes)[l];
    }
}

// set: like setp, but the result is a number: all bits of a whole number, or 1.
static void compare_to_number(Warp *w, const Instr *i, uint32_t mask)
{
    const Type type = (Type)i->type, to = (Type)i->count;
    const int parts = type == F16X2 || type == BF16X2 ? 2 : 1;
    const uint32_t half_true = to == F16X2 ? 0x3c00 : to == BF16X2 ? 0x3f80 : 0xffff;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        uint32_t result = 0;
        for (int part = 0; part < parts; part++) {
            const double a = compared(OPERAND(uint8_t, a), l, part, type, i->flags & FLUSH),
                         b = compared(OPERAND(uint8_t, b), l, part, type, i->flags & FLUSH);
            if (compares(COMPARE_WITH[i->from].name, a, b))
                result |= parts == 2 ? half_true << (16 * part) : to == F32 ? 0x3f800000 : to == F16 ? 0x3c00 : to == BF16 ? 0x3f80 : UINT32_MAX;
        }
        if (sim_type_bytes(to) == 2)
            OPERAND(uint16_t, d)[l] = (uint16_t)result;
        else
            OPERAND(uint32_t, d)[l] = result;
    }
}

static const char *const CLASSES[] = {"finite", "infinite", "number", "notanumber", "normal", "subnormal"};

static void test_class(Warp *w, const Instr *i, uint32_t mask)
{
    uint32_t result = 0;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        const int found = i->type == F32 ? fpclassify(OPERAND(float, a)[l]) : fpclassify(OPERAND(double, a)[l]);
        const bool is[] = {found != FP_NAN && found != FP_INFINITE, found == FP_INFINITE, found != FP_NAN,
                           found == FP_NAN, found == FP_NORMAL || found == FP_ZERO, found == FP_SUBNORMAL};
        result |= (uint32_t)is[i->op] << l;
    }
    uint32_t *d = OPERAND(uint32_t, d);
    *d = (*d & ~mask) | result;
}

// ---- The opcode: name, modifiers, type

static bool take(Slice *rest, Slice *part) // the next word between the dots
{
    if (rest->length == 0)
        return false;
    const char *dot = memchr(rest->text, '.', rest->length);
    *part = (Slice){rest->text, dot ? (size_t)(dot - rest->text) : rest->length};
    const size_t used = part->length + (dot ? 1 : 0);
    rest->text += used;
    rest->length -= used;
    return true;
}

static bool read_modifier(Slice word, Instr *i)
{
    static const struct {
        const char *name;
        int rounding, flag; // rounding -1: not changed
    } MODIFIERS[] = {
        {"rn", ROUND_NEAREST, 0}, {"rz", ROUND_ZERO, 0}, {"rm", ROUND_DOWN, 0}, {"rp", ROUND_UP, 0},
        {"ftz", -1, FLUSH},       {"sat", -1, SATURATE}, {"NaN", -1, NAN_WINS}, {"approx", -1, 0},
        {"full", -1, 0},
    };
    for (size_t k = 0; k < sizeof MODIFIERS / sizeof *MODIFIERS; k++)
        if (sim_slice_is(word, MODIFIERS[k].name)) {
            if (MODIFIERS[k].rounding >= 0)
                i->rounding = (uint8_t)MODIFIERS[k].rounding;
            i->flags |= (uint8_t)MODIFIERS[k].flag;
            return true;
        }
    return false;
}

static Handler *common_handler(const Instr *i)
{
    static Handler *const SINGLE[] = {[ADD] = add_f32, [SUB] = sub_f32, [MUL] = mul_f32,
                                      [FMA] = fma_f32, [DIV] = div_f32, [ABS] = abs_f32, [NEG] = neg_f32};
    static Handler *const DOUBLE[] = {[ADD] = add_f64, [SUB] = sub_f64, [MUL] = mul_f64,
                                      [FMA] = fma_f64, [DIV] = div_f64, [ABS] = abs_f64, [NEG] = neg_f64};
    const bool halves = i->type == F16 || i->type == BF16, pairs = i->type == F16X2 || i->type == BF16X2;
    if (i->op == ABS && (halves || pairs) && !i->flags)
        return halves ? abs_f16 : abs_f16x2;
    if (i->op == NEG && (halves || pairs) && !i->flags)
        return halves ? neg_f16 : neg_f16x2;
    if (halves || pairs)
        return compute_half;
    const bool simple = i->rounding == ROUND_NEAREST && i->flags == 0 && (i->op <= DIV || i->op >= ABS);
    if (i->type == F32)
        return simple ? SINGLE[i->op] : compute_single;
    return simple ? DOUBLE[i->op] : compute_double;
}

static const char *operand_types(Type type, int operands)
{
    static const char *const TYPES[][4] = {{"", "ff", "fff", "ffff"},
                                           {"", "dd", "ddd", "dddd"},
                                           {"", "hh", "hhh", "hhhh"},
                                           {"", "ii", "iii", "iiii"}};
    return TYPES[type == F32 ? 0 : type == F64 ? 1 : type == F16 || type == BF16 ? 2 : 3][operands];
}

static bool is_float(Type type)
{
    return type == F32 || type == F64 || type == F16 || type == BF16 || type == F16X2 || type == BF16X2;
}

static const char *comparison(Slice rest, Instr *i) // setp.lt.ftz.f32
{
    Slice how, word;
    if (!take(&rest, &how))
        return NULL;
    while (take(&rest, &word)) {
        if (rest.length == 0)
            i->type = (uint8_t)sim_type_named(word);
        else if (sim_slice_is(word, "ftz"))
            i->flags |= FLUSH;
        else
            return NULL;
    }
    for (size_t k = 0; k < sizeof COMPARE_WITH / sizeof *COMPARE_WITH; k++)
        if (sim_slice_is(how, COMPARE_WITH[k].name)) {
            i->from = (uint8_t)k;
            if (i->type == F64)
                return i->run = COMPARE_WITH[k].twice, "pdd";
            if (i->type == F32)
                return i->run = i->flags & FLUSH ? compare_slowly : COMPARE_WITH[k].single, "pff";
            if (i->type == F16 || i->type == BF16)
                return i->run = compare_slowly, "phh";
        }
    return NULL;
}

static const char *number_comparison(Slice rest, Instr *i) // set.gt.ftz.u32.f16x2
{
    Slice how, word, to = {"", 0};
    if (!take(&rest, &how) || !take(&rest, &to))
        return NULL;
    if (sim_slice_is(to, "ftz")) {
        i->flags |= FLUSH;
        if (!take(&rest, &to))
            return NULL;
    }
    if (!take(&rest, &word) || rest.length)
        return NULL;
    i->count = (uint8_t)sim_type_named(to);
    i->type = (uint8_t)sim_type_named(word);
    i->run = compare_to_number;
    const bool pair = i->type == F16X2 || i->type == BF16X2, single = i->type == F16 || i->type == BF16;
    const bool whole = i->count == U32 || i->count == S32;
    const bool fits = pair ? whole || i->count == i->type : single ? whole || i->count == i->type : whole || i->count == F32;
    for (size_t k = 0; k < sizeof COMPARE_WITH / sizeof *COMPARE_WITH && fits; k++)
        if (sim_slice_is(how, COMPARE_WITH[k].name)) {
            i->from = (uint8_t)k;
            const bool half_result = sim_type_bytes((Type)i->count) == 2, float_result = i->count == F32;
            return pair                                 ? "iii"
                   : single                             ? (half_result ? "hhh" : "ihh")
                   : i->type == F32                     ? (float_result ? "fff" : "iff")
                   : i->type == F64                     ? (float_result ? "fdd" : "idd")
                   : i->type == S32 || i->type == U32   ? (float_result ? "fii" : "iii")
                                                        : NULL;
        }
    return NULL;
}

static const char *class_test(Slice rest, Instr *i) // testp.finite.f32
{
    Slice class, type;
    if (!take(&rest, &class) || !take(&rest, &type) || rest.length)
        return NULL;
    i->type = (uint8_t)sim_type_named(type);
    i->run = test_class;
    for (size_t k = 0; k < sizeof CLASSES / sizeof *CLASSES; k++)
        if (sim_slice_is(class, CLASSES[k])) {
            i->op = (uint8_t)k;
            return i->type == F32 ? "pf" : i->type == F64 ? "pd" : NULL;
        }
    return NULL;
}

const char *sim_float_operation(Slice opcode, Instr *i)
{
    Slice rest = opcode, name, word;
    if (!take(&rest, &name))
        return NULL;
    if (sim_slice_is(name, "setp"))
        return comparison(rest, i);
    if (sim_slice_is(name, "set"))
        return number_comparison(rest, i);
    if (sim_slice_is(name, "testp"))
        return class_test(rest, i);
    if (sim_slice_is(opcode, "copysign.f32"))
        return i->run = copysign_f32, "fff";
    if (sim_slice_is(opcode, "copysign.f64"))
        return i->run = copysign_f64, "ddd";
    for (size_t k = 0; k < sizeof OPS / sizeof *OPS; k++) {
        if (!sim_slice_is(name, OPS[k].name))
            continue;
        while (take(&rest, &word)) {
            if (rest.length > 0 ? !read_modifier(word, i) : !is_float(sim_type_named(word)))
                return NULL;
            if (rest.length == 0)
                i->type = (uint8_t)sim_type_named(word);
        }
        i->op = (uint8_t)OPS[k].op;
        if (i->type == NO_TYPE || (i->op >= SIN && i->type == F64 && i->op <= TANH))
            return NULL;
        i->run = common_handler(i);
        return operand_types((Type)i->type, OPS[k].operands);
    }
    return NULL;
}
