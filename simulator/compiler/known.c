// known.c: known zero bits and upper bounds of integers. As in nvcc, the ranges of special registers (CUDA Programming Guide) are used only
// when constant parts of addresses are separated.
#include "compiler/known.h"

#include <string.h>

enum { MAX_DEPTH = 6 };

static uint64_t zero_bits(const IrInstruction *value, uint32_t depth);

int power_of_two(const IrInstruction *constant)
{
    if (constant->op != IR_INTEGER)
        return -1;
    const uint64_t value = unsigned_value(constant);
    return value && !(value & (value - 1)) ? __builtin_ctzll(value) : -1;
}

// The zero bits above the highest bit of numbers up to `limit`.
static uint64_t zeros_above(uint64_t limit)
{
    return limit ? ~(UINT64_MAX >> __builtin_clzll(limit)) : UINT64_MAX;
}

static uint64_t largest_special(const IrInstruction *i)
{
    static const struct { const char *name; uint64_t max; } specials[] = {
        {"%tid.x", 1023}, {"%tid.y", 1023}, {"%tid.z", 63}, {"%ntid.x", 1024}, {"%ntid.y", 1024}, {"%ntid.z", 64},
        {"%ctaid.x", 0x7ffffffe}, {"%ctaid.y", 65534}, {"%ctaid.z", 65534},
        {"%nctaid.x", 0x7fffffff}, {"%nctaid.y", 65535}, {"%nctaid.z", 65535}, {"%laneid", 31}};
    for (size_t k = 0; k < sizeof specials / sizeof *specials; k++)
        if (strcmp(i->special, specials[k].name) == 0)
            return specials[k].max;
    return i->type == IR_B32 ? INT32_MAX : INT64_MAX;
}

static uint64_t zero_bits_of_sum(const IrInstruction *i, uint32_t depth)
{
    const uint64_t a = zero_bits(i->operands[0], depth), b = zero_bits(i->operands[1], depth);
    const uint64_t low = ~(a & b) ? (1ull << __builtin_ctzll(~(a & b))) - 1 : UINT64_MAX; // common trailing zeros
    uint64_t sum;
    if (__builtin_add_overflow(~a, ~b, &sum))
        return low;
    return low | zeros_above(sum);
}

static uint64_t zero_bits_of_product(const IrInstruction *i, uint32_t depth)
{
    const uint64_t a = ~zero_bits(i->operands[0], depth), b = ~zero_bits(i->operands[1], depth);
    if (!a || !b)
        return UINT64_MAX;
    const int low = __builtin_ctzll(a) + __builtin_ctzll(b);
    const uint64_t low_zeros = low >= 64 ? UINT64_MAX : (1ull << low) - 1;
    uint64_t product;
    if (__builtin_mul_overflow(a, b, &product))
        return low_zeros;
    return low_zeros | zeros_above(product);
}

static uint64_t zero_bits_of_shift(const IrInstruction *i, uint32_t depth)
{
    const uint64_t a = zero_bits(i->operands[0], depth);
    if (i->operands[1]->op != IR_INTEGER)
        return i->op == IR_SHR && !(i->flags & IR_SIGNED) ? a & zeros_above(~a) : 0;
    const uint64_t count = unsigned_value(i->operands[1]);
    if (count >= ir_bits(i->type))
        return 0;
    if (i->op == IR_SHL)
        return count ? a << count | ((1ull << count) - 1) : a;
    const bool copies_sign = (i->flags & IR_SIGNED) && !(a >> (ir_bits(i->type) - 1) & 1);
    return copies_sign || !count ? copies_sign ? 0 : a : a >> count | ~(UINT64_MAX >> count);
}

static uint64_t zero_bits_of_conversion(const IrInstruction *i, uint32_t depth)
{
    const IrInstruction *value = i->operands[0];
    if (ir_is_float_type(value->type))
        return 0;
    const uint64_t a = zero_bits(value, depth);
    if (ir_bits(i->type) <= ir_bits(value->type) || !(i->flags & IR_SIGNED) || value->type == IR_PRED)
        return value->type == IR_PRED && (i->flags & IR_SIGNED) ? 0 : a;
    return a >> (ir_bits(value->type) - 1) & 1 ? a : a & type_mask(value->type) >> 1;
}

// The low bits of a loop's variable that neither its start nor its constant step sets.
static uint64_t zero_bits_of_counter(const IrInstruction *phi, uint32_t depth)
{
    for (uint32_t k = 0; k < 2 && phi->op == IR_PHI && phi->operand_count == 2; k++) {
        const IrInstruction *next = phi->operands[k];
        if (next->op != IR_ADD || next->operands[0] != phi || next->operands[1]->op != IR_INTEGER)
            continue;
        const uint64_t set = ~zero_bits(phi->operands[!k], depth) | unsigned_value(next->operands[1]);
        return set ? (set & -set) - 1 : UINT64_MAX;
    }
    return 0;
}

static uint64_t zero_bits_of_phi(const IrInstruction *i, uint32_t depth)
{
    uint64_t bits = UINT64_MAX;
    if (i->operand_count > 4)
        return 0;
    const uint64_t counter = zero_bits_of_counter(i, depth);
    for (uint32_t k = i->op == IR_SELECT; k < i->operand_count; k++)
        if (i->operands[k] != i)
            bits &= zero_bits(i->operands[k], depth < MAX_DEPTH - 1 && i->op == IR_PHI ? MAX_DEPTH - 1 : depth);
    return bits | counter;
}

static uint64_t zero_bits_of(const IrInstruction *i, uint32_t depth)
{
    switch (i->op) {
    case IR_INTEGER:
        return ~unsigned_value(i);
    case IR_AND:
        return zero_bits(i->operands[0], depth) | zero_bits(i->operands[1], depth);
    case IR_OR:
    case IR_XOR:
        return zero_bits(i->operands[0], depth) & zero_bits(i->operands[1], depth);
    case IR_ADD:
        return zero_bits_of_sum(i, depth);
    case IR_MUL:
    case IR_MUL_WIDE:
        return i->op == IR_MUL_WIDE && (i->flags & IR_SIGNED) ? 0 : zero_bits_of_product(i, depth);
    case IR_SHL:
    case IR_SHR:
        return zero_bits_of_shift(i, depth);
    case IR_DIV:
        return (i->flags & IR_SIGNED) ? 0 : zeros_above(~zero_bits(i->operands[0], depth));
    case IR_REM:
        return (i->flags & IR_SIGNED) ? 0 : zeros_above(~zero_bits(i->operands[0], depth)) | zeros_above(~zero_bits(i->operands[1], depth));
    case IR_CONVERT:
        return zero_bits_of_conversion(i, depth);
    case IR_SELECT:
    case IR_PHI:
        return zero_bits_of_phi(i, depth);
    case IR_LOAD:
        return i->flags & IR_SIGNED ? 0 : ~type_mask(i->memory == IR_PRED ? IR_B8 : (IrType)i->memory);
    default:
        return 0;
    }
}

static uint64_t zero_bits(const IrInstruction *value, uint32_t depth)
{
    const uint64_t above = ~type_mask(value->type);
    if (depth >= MAX_DEPTH || ir_is_float_type(value->type))
        return above;
    return zero_bits_of(value, depth + 1) | above;
}

uint64_t known_zero_bits(const IrInstruction *value)
{
    return zero_bits(value, 0);
}

static uint64_t largest(const IrInstruction *value, uint32_t depth, bool with_specials)
{
    const uint64_t by_bits = ~zero_bits(value, depth);
    if (depth >= MAX_DEPTH)
        return by_bits;
    uint64_t by_range = UINT64_MAX;
    switch (value->op) {
    case IR_SPECIAL:
        by_range = with_specials ? largest_special(value) : UINT64_MAX;
        break;
    case IR_ADD:
        if (__builtin_add_overflow(largest(value->operands[0], depth + 1, with_specials), largest(value->operands[1], depth + 1, with_specials), &by_range))
            by_range = UINT64_MAX;
        by_range = by_range > type_mask(value->type) ? UINT64_MAX : by_range;
        break;
    case IR_MUL:
    case IR_MUL_WIDE:
        if (value->op == IR_MUL_WIDE && (value->flags & IR_SIGNED))
            break;
        if (__builtin_mul_overflow(largest(value->operands[0], depth + 1, with_specials), largest(value->operands[1], depth + 1, with_specials), &by_range))
            by_range = UINT64_MAX;
        by_range = by_range > type_mask(value->type) ? UINT64_MAX : by_range;
        break;
    case IR_CONVERT:
        if (!(value->flags & IR_SIGNED) && !ir_is_float_type(value->operands[0]->type))
            by_range = largest(value->operands[0], depth + 1, with_specials);
        break;
    case IR_SHL:
        if (with_specials && value->operands[1]->op == IR_INTEGER && unsigned_value(value->operands[1]) < 32 &&
            __builtin_mul_overflow(largest(value->operands[0], depth + 1, with_specials), 1ull << unsigned_value(value->operands[1]), &by_range))
            by_range = UINT64_MAX;
        by_range = by_range > type_mask(value->type) ? UINT64_MAX : by_range;
        break;
    case IR_SHR:
        if (!(value->flags & IR_SIGNED) && value->operands[1]->op == IR_INTEGER && unsigned_value(value->operands[1]) < 64)
            by_range = largest(value->operands[0], depth + 1, with_specials) >> unsigned_value(value->operands[1]);
        break;
    default:
        break;
    }
    return by_range < by_bits ? by_range : by_bits;
}

uint64_t largest_unsigned(const IrInstruction *value)
{
    return largest(value, 0, false);
}

uint64_t largest_with_specials(const IrInstruction *value)
{
    return largest(value, 0, true);
}

// Whether the edge, or a unique path to it, is taken only if the value is not negative.
static bool edge_implies_not_negative(const IrBlock *from, const IrBlock *to, const IrInstruction *value)
{
    for (uint32_t steps = 0; steps < 4; steps++) {
        const IrInstruction *end = from->last;
        const IrInstruction *compare = end->op == IR_BRANCH ? end->operands[0] : NULL;
        if (compare && end->target[0] != end->target[1] && compare->op == IR_COMPARE && compare->operands[0] == value && compare->operands[1]->op == IR_INTEGER &&
            (compare->flags & IR_SIGNED)) {
            const bool truth = end->target[0] == to;
            const int64_t c = compare->operands[1]->integer;
            if (truth ? compare->compare == IR_GREATER && c >= -1 : compare->compare == IR_LESS && c <= 1 && c >= 0)
                return true;
        }
        if (from->predecessor_count != 1)
            return false;
        to = from;
        from = from->predecessors[0];
    }
    return false;
}

static bool is_positive(const IrInstruction *value)
{
    return value->op == IR_INTEGER && value->integer > 0;
}

static bool never_negative(const IrInstruction *i, uint32_t depth)
{
    if (ir_is_float_type(i->type) || i->type == IR_PRED || depth >= MAX_DEPTH)
        return false;
    if (zero_bits(i, depth) >> (ir_bits(i->type) - 1) & 1)
        return true;
    const bool wraps = !(i->flags & IR_NO_WRAP);
    switch (i->op) {
    case IR_ADD:
    case IR_MUL:
        if (!wraps && i->op == IR_MUL && i->operands[0] == i->operands[1])
            return true;
        return !wraps && never_negative(i->operands[0], depth + 1) && never_negative(i->operands[1], depth + 1);
    case IR_SHL:
        return !wraps && never_negative(i->operands[0], depth + 1);
    case IR_SHR:
        return never_negative(i->operands[0], depth + 1);
    case IR_DIV:
        return never_negative(i->operands[0], depth + 1) && never_negative(i->operands[1], depth + 1);
    case IR_REM:
        return never_negative(i->operands[0], depth + 1);
    case IR_AND:
        return never_negative(i->operands[0], depth + 1) || never_negative(i->operands[1], depth + 1);
    case IR_OR:
    case IR_XOR:
    case IR_MIN:
        return never_negative(i->operands[0], depth + 1) && never_negative(i->operands[1], depth + 1);
    case IR_MAX:
        return (i->flags & IR_SIGNED) && (never_negative(i->operands[0], depth + 1) || never_negative(i->operands[1], depth + 1));
    case IR_SELECT:
        return never_negative(i->operands[1], depth + 1) && never_negative(i->operands[2], depth + 1);
    case IR_CONVERT:
        return (i->flags & IR_SIGNED) && ir_bits(i->type) >= ir_bits(i->operands[0]->type) && never_negative(i->operands[0], depth + 1);
    case IR_PHI: { // an induction variable that starts at 0 or above and increases, or that a test keeps from being negative
        if (i->operand_count > 4)
            return false;
        for (uint32_t k = 0; k < i->operand_count; k++) {
            const IrInstruction *value = i->operands[k];
            const bool grows = value->op == IR_ADD && (value->flags & IR_NO_WRAP) && value->operands[0] == i;
            const bool shrinks = (value->op == IR_SHR || (value->op == IR_DIV && is_positive(value->operands[1]))) && value->operands[0] == i;
            if (value == i || shrinks || (grows && never_negative(value->operands[1], depth + 1)))
                continue;
            if (edge_implies_not_negative(i->block->predecessors[k], i->block, value))
                continue;
            if (grows || !never_negative(value, depth + 1))
                return false;
        }
        return true;
    }
    default:
        return false;
    }
}

bool is_never_negative(const IrInstruction *value)
{
    return never_negative(value, 0);
}

bool is_never_zero(const IrInstruction *value)
{
    if (value->op == IR_INTEGER)
        return value->integer != 0;
    return false;
}
