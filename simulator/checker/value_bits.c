// value_bits.c: the undefined bits of a result, from those of the operands.
//
// A program may test the bits of a word separately, as in bit fields, or in masks that combine comparisons. Arithmetic is evaluated for the
// smallest and the largest number that the undefined bits of an operand allow.
#include "checker/value_bits.h"

// True if every bit is defined and its value is known, so that the operand is the number b.ones.
static bool is_fully_defined(Bits b)
{
    return (b.zeros | b.ones) == ALL_BITS;
}

static uint64_t low_ones(int width)
{
    return width >= 64 ? ALL_BITS : (1ull << width) - 1;
}

// Sign- or zero-extends a number of this type to 64 bits.
static uint64_t extended(Type type, uint64_t bits)
{
    const int width = 8 * sim_type_bytes(type);
    const uint64_t width_mask = low_ones(width);
    return sim_is_signed(type) && bits >> (width - 1) & 1 ? bits | ~width_mask : bits & width_mask;
}

static Bits as_number(Type type, Bits b)
{
    const uint64_t above = sim_is_signed(type) ? 0 : ~low_ones(8 * sim_type_bytes(type));
    return (Bits){extended(type, b.undefined), extended(type, b.zeros) | above, extended(type, b.ones), b.all_undefined};
}

static uint64_t shifted_right(Type type, uint64_t bits, uint64_t distance)
{
    if (sim_is_signed(type))
        return (uint64_t)((int64_t)bits >> (distance < 63 ? distance : 63));
    return distance < 64 ? bits >> distance : 0;
}

static uint64_t undefined_of_shift(const Instr *i, Bits a, Bits distance)
{
    const uint64_t bits = as_number((Type)i->type, a).undefined;
    if (!is_fully_defined(distance))
        return ALL_BITS;
    if (i->kind == SHIFT_RIGHT)
        return shifted_right((Type)i->type, bits, distance.ones);
    return distance.ones < 64 ? bits << distance.ones : 0;
}

// A funnel shift: concatenates two words, shifts, and returns one word of the result.
static uint64_t undefined_of_funnel_shift(const Instr *i, Bits low, Bits high, Bits distance)
{
    const uint64_t both = high.undefined << 32 | (low.undefined & UINT32_MAX);
    const uint64_t positions = i->op == FUNNEL_WRAPS ? distance.ones & 31 : distance.ones < 32 ? distance.ones : 32;
    if (!is_fully_defined(distance))
        return ALL_BITS;
    return i->kind == FUNNEL_LEFT ? both << positions >> 32 : both >> positions;
}

static uint64_t undefined_of_extract(const Instr *i, Bits a, Bits position, Bits length)
{
    const Type type = (Type)i->type;
    if (!is_fully_defined(position) || !is_fully_defined(length) || position.ones > 255 || length.ones > 64)
        return ALL_BITS;
    if (length.ones == 0)
        return 0;
    const uint64_t field = low_ones((int)length.ones), bits = shifted_right(type, as_number(type, a).undefined, position.ones);
    return sim_is_signed(type) && bits >> (length.ones - 1) & 1 ? bits | ~field : bits & field;
}

// `target` with a bit field replaced.
static uint64_t undefined_of_insert(Bits field, Bits target, Bits position, Bits length)
{
    if (!is_fully_defined(position) || !is_fully_defined(length) || position.ones > 63 || length.ones > 64)
        return ALL_BITS;
    const uint64_t replaced = low_ones((int)length.ones) << position.ones;
    return (field.undefined << position.ones & replaced) | (target.undefined & ~replaced);
}

// prmt: selects four bytes, or their replicated sign bits, from two words.
static uint64_t undefined_of_permute(Bits a, Bits b, Bits positions)
{
    const uint64_t from = b.undefined << 32 | (a.undefined & UINT32_MAX);
    uint64_t bits = 0;
    for (int k = 0; k < 4; k++) {
        const int position = (int)(positions.ones >> 4 * k & 15);
        const uint64_t byte = from >> 8 * (position & 7) & 255;
        bits |= (position & 8 ? byte >> 7 ? 255ull : 0 : byte) << 8 * k;
    }
    return is_fully_defined(positions) ? bits : ALL_BITS;
}

// `bits` are the undefined bits of the result of AND or OR. If there are any, an operand is fully undefined, such as a bitmap that was never
// cleared, and the second operand is not a constant, then all bits of the result count as undefined.
static uint64_t undefined_of_logical(Bits a, Bits b, uint64_t bits, bool constant)
{
    return bits && !constant && (a.undefined == ALL_BITS || b.undefined == ALL_BITS) ? ALL_BITS : bits;
}

// lop3: a bitwise operation on three words, given by its truth table.
static uint64_t undefined_of_lop3(Bits a, Bits b, Bits c, Bits table)
{
    uint64_t may_be_one = 0, may_be_zero = 0;
    for (int k = 0; k < 8; k++) {
        const uint64_t may_be = (k & 4 ? ~a.zeros : ~a.ones) & (k & 2 ? ~b.zeros : ~b.ones) & (k & 1 ? ~c.zeros : ~c.ones);
        *(table.ones >> k & 1 ? &may_be_one : &may_be_zero) |= may_be;
    }
    return may_be_one & may_be_zero & (a.undefined | b.undefined | c.undefined);
}

static int trailing_zeros(uint64_t bits)
{
    return bits ? __builtin_ctzll(bits) : 64;
}

// True if each bit is undefined, or its value is known. The value of an operand is unknown if the operation has overwritten its register.
static bool is_fully_tracked(Bits b)
{
    return (b.zeros | b.ones | b.undefined) == ALL_BITS;
}

// The lowest undefined bit and all bits above it, which carries can reach.
static uint64_t bits_above_lowest(uint64_t undefined)
{
    return undefined ? ALL_BITS << trailing_zeros(undefined) : 0;
}

// The undefined bits of a sum: those in which the sums of the smallest and of the largest possible operands differ.
static uint64_t undefined_of_sum(Bits a, Bits b)
{
    if (!is_fully_tracked(a) || !is_fully_tracked(b))
        return bits_above_lowest(a.undefined | b.undefined);
    if (a.zeros == ALL_BITS || b.zeros == ALL_BITS || !(a.undefined | b.undefined))
        return a.undefined | b.undefined;
    return a.undefined | b.undefined | ((a.ones + b.ones) ^ (~a.zeros + ~b.zeros));
}

static uint64_t undefined_of_difference(Bits a, Bits b)
{
    if (!is_fully_tracked(a) || !is_fully_tracked(b))
        return bits_above_lowest(a.undefined | b.undefined);
    return a.undefined | b.undefined | ((a.ones - ~b.zeros) ^ (~a.zeros - b.ones));
}

// The lowest undefined bit of a product is at the lowest undefined bit of an operand plus the other operand's trailing zeros. If one
// operand is a power of two, the undefined bits of the other are shifted.
static uint64_t undefined_of_product(Bits a, Bits b)
{
    const int from_a = trailing_zeros(a.undefined) + trailing_zeros(~b.zeros), from_b = trailing_zeros(b.undefined) + trailing_zeros(~a.zeros);
    const int lowest = from_a < from_b ? from_a : from_b;
    if (is_fully_defined(b) && !(b.ones & (b.ones - 1)))
        return b.ones ? a.undefined << trailing_zeros(b.ones) : 0;
    if (is_fully_defined(a) && !(a.ones & (a.ones - 1)))
        return a.ones ? b.undefined << trailing_zeros(a.ones) : 0;
    return lowest < 64 ? ALL_BITS << lowest : 0;
}

static Bits product(const Instr *i, Bits a, Bits b)
{
    const Bits x = as_number((Type)i->type, a), y = as_number((Type)i->type, b);
    const uint64_t undefined = undefined_of_product(x, y), value = x.ones * y.ones;
    return is_fully_tracked(x) && is_fully_tracked(y) ? (Bits){undefined, ~value & ~undefined, value & ~undefined, false}
                                                          : (Bits){.undefined = undefined};
}

// Quotient and remainder of a nonnegative number and a power of two.
static uint64_t undefined_of_division(const Instr *i, Bits a, Bits b)
{
    const Bits x = as_number((Type)i->type, a), y = as_number((Type)i->type, b);
    const bool nonnegative = !sim_is_signed((Type)i->type) || x.zeros >> 63;
    if (!nonnegative || !is_fully_defined(y) || y.ones == 0 || y.ones & (y.ones - 1))
        return ALL_BITS;
    return i->kind == QUOTIENT ? x.undefined >> trailing_zeros(y.ones) : x.undefined & (y.ones - 1);
}

static uint64_t reverse_bits(Type type, uint64_t bits)
{
    const int width = 8 * sim_type_bytes(type);
    uint64_t reversed = 0;
    for (int k = 0; k < width; k++)
        reversed |= (bits >> k & 1) << (width - 1 - k);
    return reversed;
}

// bfind: the position of the highest 1 does not depend on lower bits.
static uint64_t undefined_of_find_highest(const Instr *i, Bits a)
{
    const Bits number = as_number((Type)i->type, a);
    return sim_is_signed((Type)i->type) || number.undefined >= number.ones ? ALL_BITS : 0;
}

// dp4a: a byte that is multiplied by 0 has no effect.
static uint64_t undefined_of_dot_product(Bits a, Bits b, Bits c)
{
    uint64_t bits = c.undefined;
    for (int k = 0; k < 4; k++) {
        const uint64_t byte = 255ull << 8 * k;
        bits |= (a.undefined & byte && ~b.zeros & byte) || (b.undefined & byte && ~a.zeros & byte) ? ALL_BITS : 0;
    }
    return bits ? ALL_BITS : 0;
}

// Packed halves: each half of the result depends only on the same half of the operands.
static uint64_t undefined_of_halves(const Instr *i, const Bits o[MAX_BIT_OPERANDS])
{
    const Type type = (Type)i->type;
    const uint64_t bits = o[1].undefined | o[2].undefined | o[3].undefined;
    if (type != F16X2 && type != BF16X2 && type != S16X2 && type != U16X2)
        return ALL_BITS;
    return (bits & 0xffff0000 ? 0xffff0000 : 0) | (bits & 0xffff ? 0xffff : 0);
}

static bool is_zero(const Instr *i, Bits b)
{
    return (~b.zeros & low_ones(8 * sim_type_bytes((Type)i->type))) == 0;
}

bool sim_adds_nothing(const Instr *i, const Bits o[MAX_BIT_OPERANDS])
{
    if (i->kind == MULTIPLY_ADD)
        return is_zero(i, o[1]) || is_zero(i, o[2]);
    return i->kind == SUM && (is_zero(i, o[1]) || is_zero(i, o[2]));
}

// The undefined bits of a result before truncation to its type.
static uint64_t undefined_of_operation(const Instr *i, const Bits o[MAX_BIT_OPERANDS], bool from_local_memory)
{
    const Operand *second = &i->statement->operands[2];
    const bool constant = second->kind == IS_INTEGER;
    const Bits a = o[1], b = o[2], c = o[3];
    const uint64_t either = a.undefined | b.undefined;
    switch (i->kind) {
    case LOGICAL_AND: return undefined_of_logical(a, b, either & ~a.zeros & ~b.zeros, constant);
    case LOGICAL_OR:
        return constant && !from_local_memory && a.all_undefined ? ALL_BITS : undefined_of_logical(a, b, either & ~a.ones & ~b.ones, constant);
    case LOGICAL_XOR: return either;
    case BIT_REVERSAL: return reverse_bits((Type)i->type, a.undefined);
    case FIND_HIGHEST_BIT: return undefined_of_find_highest(i, a);
    case LOP3: return undefined_of_lop3(a, b, c, o[4]);
    case MOVE: case COMPLEMENT: return a.undefined;
    case SHIFT_LEFT: case SHIFT_RIGHT: return undefined_of_shift(i, a, b);
    case FUNNEL_LEFT: case FUNNEL_RIGHT: return undefined_of_funnel_shift(i, a, b, c);
    case EXTRACT: return undefined_of_extract(i, a, b, c);
    case INSERT: return undefined_of_insert(a, b, c, o[4]);
    case PERMUTE: return undefined_of_permute(a, b, c);
    case CONVERT_INTEGER: return i->flags & SATURATE ? ALL_BITS : extended((Type)i->type, extended((Type)i->from, a.undefined));
    case SUM: return i->type == S16X2 || i->type == U16X2 ? undefined_of_halves(i, o) : undefined_of_sum(a, b);
    case DIFFERENCE: return undefined_of_difference(a, b);
    case NEGATIVE: return undefined_of_difference((Bits){.zeros = ALL_BITS}, a);
    case PRODUCT: return product(i, a, b).undefined;
    case QUOTIENT: case REMAINDER: return undefined_of_division(i, a, b);
    case MULTIPLY_ADD: return undefined_of_sum(product(i, a, b), c);
    case DOT_PRODUCT_4: return undefined_of_dot_product(a, b, c);
    case PACKED_HALVES: return undefined_of_halves(i, o);
    case SELECT: return constant && i->statement->operands[1].kind == IS_INTEGER ? a.ones ^ b.ones : ALL_BITS;
    default: return ALL_BITS;
    }
}

uint64_t sim_undefined_bits(const Instr *i, const Bits o[MAX_BIT_OPERANDS], bool from_local_memory)
{
    const uint64_t all = low_ones(8 * sim_type_bytes(i->statement->operands[0].reg->type)),
                   bits = undefined_of_operation(i, o, from_local_memory) & all;
    return bits == all ? ALL_BITS : bits;
}

// Flips the sign bit, so that signed numbers compare like unsigned ones.
static Bits as_unsigned_order(const Instr *i, Bits b)
{
    const Bits n = as_number((Type)i->type, b);
    const uint64_t sign = sim_is_signed((Type)i->type) ? 1ull << 63 : 0;
    return (Bits){.zeros = (n.zeros & ~sign) | (n.ones & sign), .ones = (n.ones & ~sign) | (n.zeros & sign)};
}

bool sim_comparison_is_defined(const Instr *i, Bits a, Bits b)
{
    const Bits x = as_unsigned_order(i, a), y = as_unsigned_order(i, b);
    const uint64_t x_min = x.ones, x_max = ~x.zeros, y_min = y.ones, y_max = ~y.zeros;
    if (sim_is_float((Type)i->type))
        return false;
    if (i->op == COMPARES_EQUAL || i->op == COMPARES_NOT_EQUAL)
        return ((x.ones & y.zeros) | (x.zeros & y.ones)) != 0;
    if (i->op == COMPARES_LESS || i->op == COMPARES_NOT_LESS)
        return x_max < y_min || x_min >= y_max;
    return x_min > y_max || x_max <= y_min;
}
