// value_bits.c: of an operation's result the bits that nobody wrote, from those of its operands.
//
// Where comparisons become bits of one word, or bit fields share one, each may be asked for by itself. An operand is a number that
// is known, or one of those between the least and the largest that its unwritten bits make of it.
#include "checker/value_bits.h"

static bool is_number(Bits b)
{
    return (b.zeros | b.ones) == ALL_BITS;
}

static uint64_t ones_of_width(int width)
{
    return width >= 64 ? ALL_BITS : (1ull << width) - 1;
}

// Of a number of this type, in a register that may be longer; of one with a sign all bits above it are what the sign is.
static uint64_t extended(Type type, uint64_t bits)
{
    const int width = 8 * sim_type_bytes(type);
    const uint64_t own = ones_of_width(width);
    return sim_is_signed(type) && bits >> (width - 1) & 1 ? bits | ~own : bits & own;
}

static Bits as_number(Type type, Bits b)
{
    const uint64_t above = sim_is_signed(type) ? 0 : ~ones_of_width(8 * sim_type_bytes(type));
    return (Bits){extended(type, b.unwritten), extended(type, b.zeros) | above, extended(type, b.ones), b.whole};
}

static uint64_t shifted_right(Type type, uint64_t bits, uint64_t by)
{
    if (sim_is_signed(type))
        return (uint64_t)((int64_t)bits >> (by < 63 ? by : 63));
    return by < 64 ? bits >> by : 0;
}

static uint64_t bits_shifted(const Instr *i, Bits a, Bits by)
{
    const uint64_t bits = as_number((Type)i->type, a).unwritten;
    if (!is_number(by))
        return ALL_BITS;
    if (i->kind == SHIFT_RIGHT)
        return shifted_right((Type)i->type, bits, by.ones);
    return by.ones < 64 ? bits << by.ones : 0;
}

// Two words are one, of which a part is the result.
static uint64_t bits_funnelled(const Instr *i, Bits low, Bits high, Bits by)
{
    const uint64_t both = high.unwritten << 32 | (low.unwritten & UINT32_MAX);
    const uint64_t places = i->op == FUNNEL_WRAPS ? by.ones & 31 : by.ones < 32 ? by.ones : 32;
    if (!is_number(by))
        return ALL_BITS;
    return i->kind == FUNNEL_LEFT ? both << places >> 32 : both >> places;
}

static uint64_t bits_extracted(const Instr *i, Bits a, Bits place, Bits length)
{
    const Type type = (Type)i->type;
    if (!is_number(place) || !is_number(length) || place.ones > 255 || length.ones > 64)
        return ALL_BITS;
    if (length.ones == 0)
        return 0;
    const uint64_t field = ones_of_width((int)length.ones), bits = shifted_right(type, as_number(type, a).unwritten, place.ones);
    return sim_is_signed(type) && bits >> (length.ones - 1) & 1 ? bits | ~field : bits & field;
}

// With a field of `into` replaced.
static uint64_t bits_inserted(Bits field, Bits into, Bits place, Bits length)
{
    if (!is_number(place) || !is_number(length) || place.ones > 63 || length.ones > 64)
        return ALL_BITS;
    const uint64_t replaced = ones_of_width((int)length.ones) << place.ones;
    return (field.unwritten << place.ones & replaced) | (into.unwritten & ~replaced);
}

// Four bytes of two words, as prmt's table in the PTX ISA has it; or copies of their signs.
static uint64_t bits_permuted(Bits a, Bits b, Bits places)
{
    const uint64_t from = b.unwritten << 32 | (a.unwritten & UINT32_MAX);
    uint64_t bits = 0;
    for (int k = 0; k < 4; k++) {
        const int place = (int)(places.ones >> 4 * k & 15);
        const uint64_t byte = from >> 8 * (place & 7) & 255;
        bits |= (place & 8 ? byte >> 7 ? 255ull : 0 : byte) << 8 * k;
    }
    return is_number(places) ? bits : ALL_BITS;
}

// Where bits that are computed decide some bits of a register that nobody wrote, and not all, as of a map of bits that was never
// cleared, it is still one that nobody wrote.
static uint64_t bits_of_logical(Bits a, Bits b, uint64_t bits, bool constant)
{
    return bits && !constant && (a.unwritten == ALL_BITS || b.unwritten == ALL_BITS) ? ALL_BITS : bits;
}

// Of any operation on three words that takes them bit by bit: `table` has its result for each bit of the first, second and third.
static uint64_t bits_of_table(Bits a, Bits b, Bits c, Bits table)
{
    uint64_t may_be_one = 0, may_be_zero = 0;
    for (int k = 0; k < 8; k++) {
        const uint64_t may_be = (k & 4 ? ~a.zeros : ~a.ones) & (k & 2 ? ~b.zeros : ~b.ones) & (k & 1 ? ~c.zeros : ~c.ones);
        *(table.ones >> k & 1 ? &may_be_one : &may_be_zero) |= may_be;
    }
    return may_be_one & may_be_zero & (a.unwritten | b.unwritten | c.unwritten);
}

static int low_zeros(uint64_t bits)
{
    return bits ? __builtin_ctzll(bits) : 64;
}

// Each of its bits is nobody's, 0 or 1: an operand that the operation has overwritten has none of them any more.
static bool is_readable(Bits b)
{
    return (b.zeros | b.ones | b.unwritten) == ALL_BITS;
}

// All bits to which one of these may carry.
static uint64_t from_lowest(uint64_t unwritten)
{
    return unwritten ? ALL_BITS << low_zeros(unwritten) : 0;
}

// What a sum's bits are if the operands are as small as they may be, and as large: where the two differ, it depends on them.
static uint64_t bits_of_sum(Bits a, Bits b)
{
    if (!is_readable(a) || !is_readable(b))
        return from_lowest(a.unwritten | b.unwritten);
    if (a.zeros == ALL_BITS || b.zeros == ALL_BITS || !(a.unwritten | b.unwritten))
        return a.unwritten | b.unwritten;
    return a.unwritten | b.unwritten | ((a.ones + b.ones) ^ (~a.zeros + ~b.zeros));
}

static uint64_t bits_of_difference(Bits a, Bits b)
{
    if (!is_readable(a) || !is_readable(b))
        return from_lowest(a.unwritten | b.unwritten);
    return a.unwritten | b.unwritten | ((a.ones - ~b.zeros) ^ (~a.zeros - b.ones));
}

// Those of a product that depend on what nobody wrote: none below the lowest such bit of an operand, moved up by the zeros at the
// other one's end; of a number times a power of two those of the number.
static uint64_t bits_of_product(Bits a, Bits b)
{
    const int from_a = low_zeros(a.unwritten) + low_zeros(~b.zeros), from_b = low_zeros(b.unwritten) + low_zeros(~a.zeros);
    const int lowest = from_a < from_b ? from_a : from_b;
    if (is_number(b) && !(b.ones & (b.ones - 1)))
        return b.ones ? a.unwritten << low_zeros(b.ones) : 0;
    if (is_number(a) && !(a.ones & (a.ones - 1)))
        return a.ones ? b.unwritten << low_zeros(a.ones) : 0;
    return lowest < 64 ? ALL_BITS << lowest : 0;
}

static Bits product(const Instr *i, Bits a, Bits b)
{
    const Bits x = as_number((Type)i->type, a), y = as_number((Type)i->type, b);
    const uint64_t unwritten = bits_of_product(x, y), value = x.ones * y.ones;
    return is_readable(x) && is_readable(y) ? (Bits){unwritten, ~value & ~unwritten, value & ~unwritten, false} : (Bits){.unwritten = unwritten};
}

// Those of a number that has no sign, divided by a power of two, and of what remains.
static uint64_t bits_of_division(const Instr *i, Bits a, Bits b)
{
    const Bits x = as_number((Type)i->type, a), y = as_number((Type)i->type, b);
    const bool positive = !sim_is_signed((Type)i->type) || x.zeros >> 63;
    if (!positive || !is_number(y) || y.ones == 0 || y.ones & (y.ones - 1))
        return ALL_BITS;
    return i->kind == QUOTIENT ? x.unwritten >> low_zeros(y.ones) : x.unwritten & (y.ones - 1);
}

static uint64_t bits_reversed(Type type, uint64_t bits)
{
    const int width = 8 * sim_type_bytes(type);
    uint64_t reversed = 0;
    for (int k = 0; k < width; k++)
        reversed |= (bits >> k & 1) << (width - 1 - k);
    return reversed;
}

// The place of the highest 1 depends on no bit below it.
static uint64_t bits_of_place(const Instr *i, Bits a)
{
    const Bits number = as_number((Type)i->type, a);
    return sim_is_signed((Type)i->type) || number.unwritten >= number.ones ? ALL_BITS : 0;
}

// Four products of bytes are added: what has a 0 for its factor does not matter.
static uint64_t bits_of_dot(Bits a, Bits b, Bits c)
{
    uint64_t bits = c.unwritten;
    for (int k = 0; k < 4; k++) {
        const uint64_t byte = 255ull << 8 * k;
        bits |= (a.unwritten & byte && ~b.zeros & byte) || (b.unwritten & byte && ~a.zeros & byte) ? ALL_BITS : 0;
    }
    return bits ? ALL_BITS : 0;
}

// Two halves are computed side by side.
static uint64_t bits_of_halves(const Instr *i, const Bits o[MOST_BITS])
{
    const Type type = (Type)i->type;
    const uint64_t bits = o[1].unwritten | o[2].unwritten | o[3].unwritten;
    if (type != F16X2 && type != BF16X2 && type != S16X2 && type != U16X2)
        return ALL_BITS;
    return (bits & 0xffff0000 ? 0xffff0000 : 0) | (bits & 0xffff ? 0xffff : 0);
}

static bool is_zero(const Instr *i, Bits b)
{
    return (~b.zeros & ones_of_width(8 * sim_type_bytes((Type)i->type))) == 0;
}

bool sim_adds_nothing(const Instr *i, const Bits o[MOST_BITS])
{
    if (i->kind == PRODUCT_AND_SUM)
        return is_zero(i, o[1]) || is_zero(i, o[2]);
    return i->kind == SUM && (is_zero(i, o[1]) || is_zero(i, o[2]));
}

// Before they are cut to the result's type.
static uint64_t bits_of_operation(const Instr *i, const Bits o[MOST_BITS], bool local)
{
    const Operand *by = &i->statement->operands[2];
    const bool constant = by->kind == IS_INTEGER;
    const Bits a = o[1], b = o[2], c = o[3];
    const uint64_t either = a.unwritten | b.unwritten;
    switch (i->kind) {
    case LOGICAL_AND: return bits_of_logical(a, b, either & ~a.zeros & ~b.zeros, constant);
    case LOGICAL_OR: return constant && !local && a.whole ? ALL_BITS : bits_of_logical(a, b, either & ~a.ones & ~b.ones, constant);
    case LOGICAL_XOR: return either;
    case BIT_REVERSAL: return bits_reversed((Type)i->type, a.unwritten);
    case HIGHEST_BIT: return bits_of_place(i, a);
    case LOGICAL_TABLE: return bits_of_table(a, b, c, o[4]);
    case MOVE: case COMPLEMENT: return a.unwritten;
    case SHIFT_LEFT: case SHIFT_RIGHT: return bits_shifted(i, a, b);
    case FUNNEL_LEFT: case FUNNEL_RIGHT: return bits_funnelled(i, a, b, c);
    case EXTRACT: return bits_extracted(i, a, b, c);
    case INSERT: return bits_inserted(a, b, c, o[4]);
    case PERMUTE: return bits_permuted(a, b, c);
    case WIDEN: return i->flags & SATURATE ? ALL_BITS : extended((Type)i->type, extended((Type)i->from, a.unwritten));
    case SUM: return i->type == S16X2 || i->type == U16X2 ? bits_of_halves(i, o) : bits_of_sum(a, b);
    case DIFFERENCE: return bits_of_difference(a, b);
    case NEGATIVE: return bits_of_difference((Bits){.zeros = ALL_BITS}, a);
    case PRODUCT: return product(i, a, b).unwritten;
    case QUOTIENT: case REMAINDER: return bits_of_division(i, a, b);
    case PRODUCT_AND_SUM: return bits_of_sum(product(i, a, b), c);
    case DOT_OF_BYTES: return bits_of_dot(a, b, c);
    case BY_HALVES: return bits_of_halves(i, o);
    case SELECT: return constant && i->statement->operands[1].kind == IS_INTEGER ? a.ones ^ b.ones : ALL_BITS;
    default: return ALL_BITS;
    }
}

uint64_t sim_bits_of_result(const Instr *i, const Bits o[MOST_BITS], bool local)
{
    const uint64_t all = ones_of_width(8 * sim_type_bytes(i->statement->operands[0].reg->type)),
                   bits = bits_of_operation(i, o, local) & all;
    return bits == all ? ALL_BITS : bits;
}

// Numbers with a sign are in the order of those without, if their signs are turned.
static Bits in_order(const Instr *i, Bits b)
{
    const Bits n = as_number((Type)i->type, b);
    const uint64_t sign = sim_is_signed((Type)i->type) ? 1ull << 63 : 0;
    return (Bits){.zeros = (n.zeros & ~sign) | (n.ones & sign), .ones = (n.ones & ~sign) | (n.zeros & sign)};
}

bool sim_is_decided(const Instr *i, Bits a, Bits b)
{
    const Bits x = in_order(i, a), y = in_order(i, b);
    const uint64_t x_least = x.ones, x_most = ~x.zeros, y_least = y.ones, y_most = ~y.zeros;
    if (sim_is_float((Type)i->type))
        return false;
    if (i->op == COMPARES_EQUAL)
        return ((x.ones & y.zeros) | (x.zeros & y.ones)) != 0;
    if (i->op == COMPARES_LESS)
        return x_most < y_least || x_least >= y_most;
    return x_least > y_most || x_most <= y_least;
}
