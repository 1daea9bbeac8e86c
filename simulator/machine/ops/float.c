// float.c: floating-point operations of all sizes.
//
// Common operations are branch-free loops over the lanes, which vectorise; the others run lane by lane. Results for which the
// PTX ISA allows an error (.approx, .full) are rounded correctly.
#include "machine/ops/instructions.h"
#include "machine/ops/lanes.h"
#include "machine/ops/rounding.h"
#include "base/numbers.h"

// The smaller operand; if one is NaN, the other one. -0 is smaller than +0.
static inline double min_number(double a, double b)
{
    return a != a ? b : b != b ? a : a == b ? (signbit(a) ? a : b) : a < b ? a : b;
}

static inline double max_number(double a, double b)
{
    return a != a ? b : b != b ? a : a == b ? (signbit(a) ? b : a) : a > b ? a : b;
}

// The smaller operand in single precision, without branches. If equal numbers have different bits, one of them is -0.
static inline float smaller_single(float a, float b)
{
    const float number = a < b ? a : a == b ? float_of(raw_bits(a) | raw_bits(b)) : b;
    return a != a ? b : b != b ? a : number;
}

static inline float larger_single(float a, float b)
{
    const float number = a > b ? a : a == b ? float_of(raw_bits(a) & raw_bits(b)) : b;
    return a != a ? b : b != b ? a : number;
}

// ---- Single and double precision, round to nearest

BINARY(add_f32, uint32_t, float, float, bits_of(a + b))
BINARY(sub_f32, uint32_t, float, float, bits_of(a - b))
BINARY(mul_f32, uint32_t, float, float, bits_of(a * b))
BINARY(div_f32, uint32_t, float, float, bits_of(a / b))
TERNARY(fma_f32, uint32_t, float, float, float, bits_of(__builtin_fmaf(a, b, c)))
UNARY(sqrt_f32, uint32_t, float, bits_of(sqrtf(a)))
UNARY(rcp_f32, uint32_t, float, bits_of(1 / a))
BINARY(add_f64, double, double, double, a + b)
BINARY(sub_f64, double, double, double, a - b)
BINARY(mul_f64, double, double, double, a * b)
BINARY(div_f64, double, double, double, a / b)
TERNARY(fma_f64, double, double, double, double, __builtin_fma(a, b, c))
UNARY(sqrt_f64, double, double, sqrt(a))
UNARY(rcp_f64, double, double, 1 / a)
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

// ---- Comparisons: with a NaN, ordered ones are false, unordered ones (ending in u) true

#define COMPARISONS(name, T, convert)                                             \
    COMPARE(eq_##name, T, convert(a) == convert(b))                               \
    COMPARE(ne_##name, T, convert(a) < convert(b) || convert(a) > convert(b))     \
    COMPARE(lt_##name, T, convert(a) < convert(b))                                \
    COMPARE(le_##name, T, convert(a) <= convert(b))                               \
    COMPARE(gt_##name, T, convert(a) > convert(b))                                \
    COMPARE(ge_##name, T, convert(a) >= convert(b))                               \
    COMPARE(equ_##name, T, !(convert(a) < convert(b) || convert(a) > convert(b))) \
    COMPARE(neu_##name, T, convert(a) != convert(b))                              \
    COMPARE(ltu_##name, T, !(convert(a) >= convert(b)))                           \
    COMPARE(leu_##name, T, !(convert(a) > convert(b)))                            \
    COMPARE(gtu_##name, T, !(convert(a) <= convert(b)))                           \
    COMPARE(geu_##name, T, !(convert(a) < convert(b)))                            \
    COMPARE(num_##name, T, convert(a) == convert(a) && convert(b) == convert(b))  \
    COMPARE(nan_##name, T, convert(a) != convert(a) || convert(b) != convert(b))
COMPARISONS(single, float, )
COMPARISONS(flushed, float, flush_subnormal)
COMPARISONS(double, double, )
COMPARISONS(half, uint16_t, float_of_half)
COMPARISONS(bf16, uint16_t, float_of_bf16)

#define COMPARISON_ROW(name) {#name, name##_single, name##_flushed, name##_double, name##_half, name##_bf16}
static const struct {
    const char *name;
    Handler *single, *flushed, *for_double, *half, *bf16;
} COMPARISON_HANDLERS[] = {
    COMPARISON_ROW(eq),  COMPARISON_ROW(ne),  COMPARISON_ROW(lt),  COMPARISON_ROW(le),  COMPARISON_ROW(gt),
    COMPARISON_ROW(ge),  COMPARISON_ROW(equ), COMPARISON_ROW(neu), COMPARISON_ROW(ltu), COMPARISON_ROW(leu),
    COMPARISON_ROW(gtu), COMPARISON_ROW(geu), COMPARISON_ROW(num), COMPARISON_ROW(nan),
};

static bool evaluate_comparison(const char *comparison, double a, double b)
{
    const bool unordered = a != a || b != b;
    if (strcmp(comparison, "num") == 0)
        return !unordered;
    if (strcmp(comparison, "nan") == 0 || unordered)
        return unordered && (comparison[2] == 'u' || strcmp(comparison, "nan") == 0);
    switch (comparison[0] << 8 | comparison[1]) {
    case 'e' << 8 | 'q': return a == b;
    case 'n' << 8 | 'e': return a != b;
    case 'l' << 8 | 't': return a < b;
    case 'l' << 8 | 'e': return a <= b;
    case 'g' << 8 | 't': return a > b;
    default: return a >= b;
    }
}

// ---- Other operations

typedef enum Op { ADD, SUB, MUL, FMA, DIV, SQRT, RCP, RSQRT, MIN, MAX, SIN, COS, EX2, LG2, TANH, ABS, NEG } Op;

// 2^x, accurate enough to round to single precision: identical to exp2 for every single-precision x (checked exhaustively).
// The integer part of x becomes the exponent; the rest, from -1/2 to 1/2, is the argument of the Taylor series of e^(x ln 2).
static inline double power_of_two(double x)
{
    static const double SERIES[] = {1. / 6227020800, 1. / 479001600, 1. / 39916800, 1. / 3628800, 1. / 362880,
                                    1. / 40320, 1. / 5040, 1. / 720, 1. / 120, 1. / 24, 1. / 6, 1. / 2, 1, 1}; // 1/13!, 1/12!, ...
    const double ROUNDING_OFFSET = 0x1.8p52; // numbers near it have no fractional bits
    const double LN_2 = 0x1.62e42fefa39efp-1;
    const double clamped = x < -200 ? -200 : x > 200 ? 200 : x, shifted = clamped + ROUNDING_OFFSET;
    const double fraction = (clamped - (shifted - ROUNDING_OFFSET)) * LN_2;
    double sum = SERIES[0];
    for (int k = 1; k < (int)(sizeof SERIES / sizeof *SERIES); k++)
        sum = sum * fraction + SERIES[k];
    return sum * double_of((double_bits(shifted) + 1023) << 52);
}

static inline __attribute__((always_inline)) float compute_single(Op op, float a, float b, float c)
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
    case MIN: return smaller_single(a, b);
    case MAX: return larger_single(a, b);
    case SIN: return (float)sin(a);
    case COS: return (float)cos(a);
    case EX2: return (float)power_of_two(a);
    case LG2: return (float)log2(a);
    case TANH: return (float)tanh(a);
    case ABS: return fabsf(a);
    default: return -a;
    }
}

static double compute_as_double(Op op, double a, double b, double c)
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
    case MIN: return min_number(a, b);
    case MAX: return max_number(a, b);
    case ABS: return fabs(a);
    case NEG: return -a;
    default: return compute_single(op, (float)a, 0, 0);
    }
}

// a * b + c, rounded to odd, so that a second rounding to half precision is correct. The product is exact in double precision;
// an inexact sum gets an odd last bit.
static inline double fma_to_odd(double a, double b, double c)
{
    const double product = a * b, sum = product + c;
    const double high = sum - product, error = (product - (sum - high)) + (c - high);
    const uint64_t bits = double_bits(sum);
    const bool inexact = error < 0 || error > 0; // false with a NaN
    const uint64_t odd = bits & 1 ? bits : (error > 0) == (sum > 0) ? bits + 1 : bits - 1;
    return inexact ? double_of(odd) : sum;
}

// Operations without modifiers on one or two numbers a lane in half precision or bf16.
#define HALF_HANDLER(name, widen, narrow, expression)                                                                                  \
    static void name(Warp *w, const Instr *i, uint32_t mask)                                                                           \
    {                                                                                                                                  \
        uint16_t *d = OPERAND(uint16_t, d);                                                                                            \
        const uint16_t *as = OPERAND(uint16_t, a), *bs = OPERAND(uint16_t, b), *cs = OPERAND(uint16_t, c);                             \
        (void)cs;                                                                                                                      \
        if (i->type == F16X2 || i->type == BF16X2) {                                                                                   \
            FOR_EACH_LANE(for (int k = 2 * l; k < 2 * l + 2; k++) d[k] = narrow(expression(widen(as[k]), widen(bs[k]), widen(cs[k])))) \
        } else {                                                                                                                       \
            FOR_EACH_LANE(d[l] = narrow(expression(widen(as[l]), widen(bs[l]), widen(cs[l]))))                                         \
        }                                                                                                                              \
    }
#define SUM(a, b, c) ((double)(a) + (b))
#define DIFFERENCE(a, b, c) ((double)(a) - (b))
#define PRODUCT(a, b, c) ((double)(a) * (b))
#define SMALLER(a, b, c) smaller_single(a, b)
#define LARGER(a, b, c) larger_single(a, b)
#define HALF_OPERATIONS(name, widen, narrow)            \
    HALF_HANDLER(add_##name, widen, narrow, SUM)        \
    HALF_HANDLER(sub_##name, widen, narrow, DIFFERENCE) \
    HALF_HANDLER(mul_##name, widen, narrow, PRODUCT)    \
    HALF_HANDLER(fma_##name, widen, narrow, fma_to_odd) \
    HALF_HANDLER(min_##name, widen, narrow, SMALLER)    \
    HALF_HANDLER(max_##name, widen, narrow, LARGER)
HALF_OPERATIONS(half, float_of_half, half_of)
HALF_OPERATIONS(bf16, float_of_bf16, bf16_of)

static double half_value(uint16_t bits, bool is_bf16, bool flush)
{
    const uint16_t exponent = is_bf16 ? 0x7f80 : 0x7c00;
    if (flush && (bits & exponent) == 0)
        bits &= 0x8000;
    return sim_float16_value(bits, is_bf16);
}

static uint16_t compute_one_half(const Instr *i, uint16_t a, uint16_t b, uint16_t c)
{
    const bool is_bf16 = i->type == BF16 || i->type == BF16X2;
    const bool flush = i->flags & FLUSH;
    const double x = half_value(a, is_bf16, flush), y = half_value(b, is_bf16, flush), z = half_value(c, is_bf16, flush);
    double value = i->op == FMA ? fma_to_odd(x, y, z) : compute_as_double((Op)i->op, x, y, z);
    if (i->op >= SIN && i->op <= TANH)
        value = compute_single((Op)i->op, (float)x, 0, 0);
    if (i->flags & PROPAGATE_NAN && (x != x || y != y))
        value = NAN;
    if (i->flags & SATURATE)
        value = value > 0 ? (value < 1 ? value : 1) : 0;
    if (i->flags & RELU && value <= 0) // NaN is preserved
        value = 0;
    const uint16_t result = (is_bf16 ? sim_bf16_from_double : sim_half_from_double)(value, ROUND_NEAREST);
    return flush && half_value(result, is_bf16, true) == 0 ? result & 0x8000 : result;
}

// Operations in single precision with modifiers. Unused operands are not read, because their register may hold a subnormal
// number, which costs some processors a hundred cycles.
#define MODIFIED(name, operation, operands)                                                                      \
    static void name##_modified(Warp *w, const Instr *i, uint32_t mask)                                          \
    {                                                                                                            \
        uint32_t *d = OPERAND(uint32_t, d);                                                                      \
        const float *as = OPERAND(float, a), *bs = OPERAND(float, b), *cs = OPERAND(float, c);                   \
        const Modifiers m = make_modifiers(i->flags & FLUSH, i->flags & SATURATE);                               \
        const bool propagates_nan = i->flags & PROPAGATE_NAN;                                                    \
        FOR_EACH_LANE(                                                                                           \
            const float a = flush_operand(m, as[l]); const float b = operands > 1 ? flush_operand(m, bs[l]) : 0; \
            const float c = operands > 2 ? flush_operand(m, cs[l]) : 0;                                          \
            const float value = compute_single(operation, a, b, c);                                              \
            d[l] = result_bits(m, propagates_nan & ((a != a) | (b != b)) ? NAN : value))                         \
    }
MODIFIED(add, ADD, 2)
MODIFIED(sub, SUB, 2)
MODIFIED(mul, MUL, 2)
MODIFIED(fma, FMA, 3)
MODIFIED(div, DIV, 2)
MODIFIED(sqrt, SQRT, 1)
MODIFIED(rcp, RCP, 1)
MODIFIED(rsqrt, RSQRT, 1)
MODIFIED(min, MIN, 2)
MODIFIED(max, MAX, 2)
MODIFIED(sin, SIN, 1)
MODIFIED(cos, COS, 1)
MODIFIED(ex2, EX2, 1)
MODIFIED(lg2, LG2, 1)
MODIFIED(tanh, TANH, 1)
MODIFIED(abs, ABS, 1)
MODIFIED(neg, NEG, 1)

static Handler *const MODIFIED_HANDLERS[] = {
    [ADD] = add_modified, [SUB] = sub_modified, [MUL] = mul_modified, [FMA] = fma_modified, [DIV] = div_modified,
    [SQRT] = sqrt_modified, [RCP] = rcp_modified, [RSQRT] = rsqrt_modified, [MIN] = min_modified, [MAX] = max_modified,
    [SIN] = sin_modified, [COS] = cos_modified, [EX2] = ex2_modified, [LG2] = lg2_modified, [TANH] = tanh_modified,
    [ABS] = abs_modified, [NEG] = neg_modified,
};

// The operations that have rounding modes.
static Rounded compute_rounded(Op op, double a, double b, double c)
{
    switch (op) {
    case ADD: return sim_fused_multiply_add(a, 1, b);
    case SUB: return sim_fused_multiply_add(a, 1, -b);
    case MUL: return sim_product(a, b);
    case FMA: return sim_fused_multiply_add(a, b, c);
    case DIV: return sim_quotient(a, b);
    case RCP: return sim_quotient(1, a);
    case SQRT: return sim_square_root(a);
    default: return (Rounded){.nearest = compute_as_double(op, a, b, c)};
    }
}

static float directed_single(Rounded r, int rounding)
{
    return r.is_cancelled ? (float)sim_directed(r, rounding) : sim_single_from_double(sim_to_odd(r), rounding);
}

// Operations in single precision, rounded up, down or to zero.
static void round_single(Warp *w, const Instr *i, uint32_t mask)
{
    uint32_t *d = OPERAND(uint32_t, d);
    const float *a = OPERAND(float, a), *b = OPERAND(float, b), *c = OPERAND(float, c);
    const Modifiers m = make_modifiers(i->flags & FLUSH, i->flags & SATURATE);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        const Rounded r = compute_rounded((Op)i->op, flush_operand(m, a[l]), flush_operand(m, b[l]), flush_operand(m, c[l]));
        d[l] = result_bits(m, directed_single(r, i->rounding));
    }
}

static void compute_double(Warp *w, const Instr *i, uint32_t mask)
{
    double *d = OPERAND(double, d);
    const double *a = OPERAND(double, a), *b = OPERAND(double, b), *c = OPERAND(double, c);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        d[l] = i->rounding == ROUND_NEAREST ? compute_as_double((Op)i->op, a[l], b[l], c[l])
                                            : sim_directed(compute_rounded((Op)i->op, a[l], b[l], c[l]), i->rounding);
    }
}

static void compute_half(Warp *w, const Instr *i, uint32_t mask)
{
    uint16_t *d = OPERAND(uint16_t, d);
    const uint16_t *a = OPERAND(uint16_t, a), *b = OPERAND(uint16_t, b), *c = OPERAND(uint16_t, c);
    const int per_lane = i->type == F16X2 || i->type == BF16X2 ? 2 : 1;
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        for (int k = 0; k < per_lane; k++) {
            const int l = per_lane * __builtin_ctz(rest) + k;
            d[l] = compute_one_half(i, a[l], b[l], c[l]);
        }
}

static void compare_flushed_halves(Warp *w, const Instr *i, uint32_t mask)
{
    const uint16_t *a = OPERAND(uint16_t, a), *b = OPERAND(uint16_t, b);
    uint32_t result = 0;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        result |= (uint32_t)evaluate_comparison(COMPARISON_HANDLERS[i->op].name, half_value(a[l], false, true), half_value(b[l], false, true)) << l;
    }
    sim_set_predicates(w, i, mask, result);
}

// A lane's operand of a comparison, or one of its halves.
static double comparison_operand(const uint8_t *lanes, int l, int half, Type type, bool flush)
{
    switch (type) {
    case F16X2: case BF16X2: return half_value(((const uint16_t *)lanes)[2 * l + half], type == BF16X2, flush);
    case F16: case BF16: return half_value(((const uint16_t *)lanes)[l], type == BF16, flush);
    case F32: return flush_operand(make_modifiers(flush, false), ((const float *)lanes)[l]);
    case F64: return ((const double *)lanes)[l];
    case S32: return ((const int32_t *)lanes)[l];
    default: return ((const uint32_t *)lanes)[l];
    }
}

// set: like setp, but the result is a value: all ones or 1.0 if true, 0 if false.
static void compare_to_value(Warp *w, const Instr *i, uint32_t mask)
{
    const Type type = (Type)i->from, to = (Type)i->type;
    const int halves = type == F16X2 || type == BF16X2 ? 2 : 1;
    const uint32_t half_true = to == F16X2 ? 0x3c00 : to == BF16X2 ? 0x3f80 : 0xffff;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        uint32_t result = 0;
        for (int half = 0; half < halves; half++) {
            const double a = comparison_operand(OPERAND(uint8_t, a), l, half, type, i->flags & FLUSH),
                         b = comparison_operand(OPERAND(uint8_t, b), l, half, type, i->flags & FLUSH);
            if (evaluate_comparison(COMPARISON_HANDLERS[i->op].name, a, b))
                result |= halves == 2 ? half_true << (16 * half) : to == F32 ? 0x3f800000 : to == F16 ? 0x3c00 : to == BF16 ? 0x3f80 : UINT32_MAX;
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

// ---- Decoding

static Handler *half_handler(const Instr *i)
{
    static Handler *const HALF_HANDLERS[NEG + 1] = {[ADD] = add_half, [SUB] = sub_half, [MUL] = mul_half, [FMA] = fma_half, [MIN] = min_half,
                                           [MAX] = max_half};
    static Handler *const BF16_HANDLERS[NEG + 1] = {[ADD] = add_bf16, [SUB] = sub_bf16, [MUL] = mul_bf16, [FMA] = fma_bf16,
                                            [MIN] = min_bf16, [MAX] = max_bf16};
    const bool single = i->type == F16 || i->type == BF16, is_bf16 = i->type == BF16 || i->type == BF16X2;
    Handler *const common = i->op == ABS   ? (single ? abs_f16 : abs_f16x2)
                            : i->op == NEG ? (single ? neg_f16 : neg_f16x2)
                                           : (is_bf16 ? BF16_HANDLERS : HALF_HANDLERS)[i->op];
    return common && !i->flags ? common : compute_half;
}

static Handler *handler_of(const Instr *i)
{
    static Handler *const SINGLE[NEG + 1] = {[ADD] = add_f32, [SUB] = sub_f32, [MUL] = mul_f32,
                                             [FMA] = fma_f32, [DIV] = div_f32, [SQRT] = sqrt_f32, [RCP] = rcp_f32,
                                             [ABS] = abs_f32, [NEG] = neg_f32};
    static Handler *const DOUBLE[NEG + 1] = {[ADD] = add_f64, [SUB] = sub_f64, [MUL] = mul_f64, [FMA] = fma_f64, [DIV] = div_f64,
                                             [SQRT] = sqrt_f64, [RCP] = rcp_f64, [ABS] = abs_f64, [NEG] = neg_f64};
    if (i->type != F32 && i->type != F64)
        return half_handler(i);
    Handler *const simple = (i->type == F32 ? SINGLE : DOUBLE)[i->op];
    if (simple && i->rounding == ROUND_NEAREST && i->flags == 0)
        return simple;
    return i->type == F64 ? compute_double : i->rounding == ROUND_NEAREST ? MODIFIED_HANDLERS[i->op] : round_single;
}

// Decodes an operation on one, two or three numbers of one type.
static bool decode_arithmetic(Decoder *d, const Statement *s, const Opcode *o, Instr *i)
{
    static const char *const ROUNDINGS[] = {"rn", "rz", "rm", "rp"};
    static const uint8_t ROUNDING[] = {ROUND_NEAREST, ROUND_ZERO, ROUND_DOWN, ROUND_UP, ROUND_NEAREST};
    static const char *const LETTERS[NEG + 1] = {[ADD] = "ttt", [SUB] = "ttt", [MUL] = "ttt", [FMA] = "tttt",
                                                 [DIV] = "ttt", [MIN] = "ttt", [MAX] = "ttt"};
    i->rounding = ROUNDING[sim_modifier_among(o, ROUNDINGS, 4)];
    i->flags = (uint8_t)((sim_has_modifier(o, "ftz") ? FLUSH : 0) | (sim_has_modifier(o, "sat") ? SATURATE : 0) |
                         (sim_has_modifier(o, "NaN") ? PROPAGATE_NAN : 0) | (sim_has_modifier(o, "relu") ? RELU : 0));
    i->run = handler_of(i);
    return sim_plain_operands(d, s, o, i, LETTERS[i->op] ? LETTERS[i->op] : "tt");
}

static uint8_t comparison_of(const Opcode *o)
{
    enum { COUNT = sizeof COMPARISON_HANDLERS / sizeof *COMPARISON_HANDLERS };
    const char *names[COUNT];
    for (int k = 0; k < COUNT; k++)
        names[k] = COMPARISON_HANDLERS[k].name;
    return (uint8_t)sim_modifier_among(o, names, COUNT);
}

static bool decode_float_comparison(Decoder *d, const Statement *s, const Opcode *o, Instr *i)
{
    i->op = comparison_of(o);
    i->from = (uint8_t)o->type;
    i->flags = sim_has_modifier(o, "ftz") ? FLUSH : 0;
    i->run = o->type == F64    ? COMPARISON_HANDLERS[i->op].for_double
             : o->type == F32  ? (i->flags ? COMPARISON_HANDLERS[i->op].flushed : COMPARISON_HANDLERS[i->op].single)
             : o->type == BF16 ? COMPARISON_HANDLERS[i->op].bf16
             : i->flags        ? compare_flushed_halves
                               : COMPARISON_HANDLERS[i->op].half;
    return sim_decode_comparison(d, s, o, i);
}

// set.gt.ftz.u32.f16x2
static bool decode_value_comparison(Decoder *d, const Statement *s, const Opcode *o, Instr *i)
{
    i->op = comparison_of(o);
    i->type = (uint8_t)sim_type_named(o->parts[o->count - 2]);
    i->from = (uint8_t)o->type;
    i->flags = sim_has_modifier(o, "ftz") ? FLUSH : 0;
    const char from = sim_letter_of_type(o->type);
    return sim_plain_operands(d, s, o, i, (char[]){sim_letter_of_type((Type)i->type), from, from, 0});
}

static bool decode_class_test(Decoder *d, const Statement *s, const Opcode *o, Instr *i)
{
    i->op = (uint8_t)sim_modifier_among(o, CLASSES, sizeof CLASSES / sizeof *CLASSES);
    return sim_plain_operands(d, s, o, i, "pt");
}

#define COMPARISON "eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan"
#define ARITHMETIC(syntax, operation) {syntax, .decode = decode_arithmetic, .kind = PACKED_HALVES, .op = operation, .effects = WRITES_DESTINATION}
#define HALVES(name, operation)                                              \
    ARITHMETIC(name " {rn} {ftz} {sat} f16|f16x2", operation), ARITHMETIC(name " {rn} bf16|bf16x2", operation)
#define SIGN_OPERATION(name, operation)                                                \
    ARITHMETIC(name " {ftz} f32|f16|f16x2", operation), ARITHMETIC(name " f64|bf16|bf16x2", operation)
#define MIN_MAX(name, operation)                                                                  \
    ARITHMETIC(name " {ftz} {NaN} f32|f16|f16x2", operation), ARITHMETIC(name " f64", operation), \
    ARITHMETIC(name " {NaN} bf16|bf16x2", operation)

static const Instruction ROWS[] = {
    ARITHMETIC("add {ROUNDING} {ftz} {sat} f32", ADD),
    ARITHMETIC("add {ROUNDING} f64", ADD),
    HALVES("add", ADD),
    ARITHMETIC("sub {ROUNDING} {ftz} {sat} f32", SUB),
    ARITHMETIC("sub {ROUNDING} f64", SUB),
    HALVES("sub", SUB),
    ARITHMETIC("mul {ROUNDING} {ftz} {sat} f32", MUL),
    ARITHMETIC("mul {ROUNDING} f64", MUL),
    HALVES("mul", MUL),
    ARITHMETIC("fma ROUNDING {ftz} {sat} f32", FMA),
    ARITHMETIC("fma ROUNDING f64", FMA),
    HALVES("fma", FMA),
    ARITHMETIC("fma rn {ftz} relu f16|f16x2", FMA),
    ARITHMETIC("fma rn relu bf16|bf16x2", FMA),
    ARITHMETIC("mad {ROUNDING} {ftz} {sat} f32", FMA), // without a rounding mode, as in PTX before 2.0, it equals fma.rn
    ARITHMETIC("mad {ROUNDING} f64", FMA),
    ARITHMETIC("div ROUNDING|approx|full {ftz} f32", DIV),
    ARITHMETIC("div ROUNDING f64", DIV),
    ARITHMETIC("sqrt ROUNDING|approx {ftz} f32", SQRT),
    ARITHMETIC("sqrt ROUNDING f64", SQRT),
    ARITHMETIC("rcp ROUNDING|approx {ftz} f32", RCP),
    ARITHMETIC("rcp ROUNDING f64", RCP),
    ARITHMETIC("rcp approx ftz f64", RCP),
    ARITHMETIC("rsqrt approx {ftz} f32|f64", RSQRT),
    ARITHMETIC("sin approx {ftz} f32", SIN),
    ARITHMETIC("cos approx {ftz} f32", COS),
    ARITHMETIC("lg2 approx {ftz} f32", LG2),
    ARITHMETIC("ex2 approx {ftz} f32|f16|f16x2|bf16|bf16x2", EX2),
    ARITHMETIC("tanh approx f32|f16|f16x2|bf16|bf16x2", TANH),
    SIGN_OPERATION("abs", ABS),
    SIGN_OPERATION("neg", NEG),
    MIN_MAX("min", MIN),
    MIN_MAX("max", MAX),
    {"copysign TYPE", "ttt", .by_type = {[F32] = copysign_f32, [F64] = copysign_f64}},
    {"setp " COMPARISON " {LOGIC} {ftz} f32|f16|bf16", .decode = decode_float_comparison, .kind = COMPARE, .effects = WRITES_DESTINATION},
    {"setp " COMPARISON " {LOGIC} f64", .decode = decode_float_comparison, .kind = COMPARE, .effects = WRITES_DESTINATION},
    {"set " COMPARISON " {ftz} u32|s32|f32 f32|f64|u32|s32", .decode = decode_value_comparison,
     .run = compare_to_value, .effects = WRITES_DESTINATION},
    {"set " COMPARISON " {ftz} u32|s32 f16|f16x2|bf16|bf16x2", .decode = decode_value_comparison,
     .run = compare_to_value, .effects = WRITES_DESTINATION},
    {"set " COMPARISON " {ftz} f16 f16", .decode = decode_value_comparison,
     .run = compare_to_value, .effects = WRITES_DESTINATION},
    {"set " COMPARISON " {ftz} f16x2 f16x2", .decode = decode_value_comparison,
     .run = compare_to_value, .effects = WRITES_DESTINATION},
    {"set " COMPARISON " {ftz} bf16 bf16", .decode = decode_value_comparison,
     .run = compare_to_value, .effects = WRITES_DESTINATION},
    {"set " COMPARISON " {ftz} bf16x2 bf16x2", .decode = decode_value_comparison,
     .run = compare_to_value, .effects = WRITES_DESTINATION},
    {"testp finite|infinite|number|notanumber|normal|subnormal f32|f64", .decode = decode_class_test,
     .run = test_class, .effects = WRITES_DESTINATION},
};

INSTRUCTION_LIST(sim_float_instructions, "Floating-point numbers", ROWS)
