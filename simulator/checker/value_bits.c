// value_bits.c: of an operation's result the bits that nobody wrote, from those of its operands.
//
// Where comparisons become bits of one word, or bit fields share one, each may be asked for by itself.
#include "checker/value_bits.h"

static uint64_t bits_shifted(uint64_t bits, int64_t by)
{
    return bits == ALL_BITS || by < 0 || by > 63 ? ALL_BITS : bits << by;
}

// Whether the sign is one of these bits: a wide product has it in all bits above.
static bool has_sign(const Instr *i, uint64_t bits)
{
    return (i->type == S16 || i->type == S32) && bits >> (8 * sim_type_bytes((Type)i->type) - 1) & 1;
}

// With a field of `into` replaced. Where its place and length are not known, all may be.
static uint64_t bits_inserted(uint64_t field, uint64_t into, const Operand *place, const Operand *length)
{
    const int64_t first = place->integer, count = length->integer;
    if (place->kind != IS_INTEGER || length->kind != IS_INTEGER || first < 0 || count <= 0 || first + count > 63)
        return ALL_BITS;
    const uint64_t replaced = ((1ull << count) - 1) << first;
    return (field << first & replaced) | (into & ~replaced);
}

// Those that a register of this type has; what is shifted out is gone.
static uint64_t bits_of_type(Type type, uint64_t bits)
{
    const int width = 8 * sim_type_bytes(type);
    return bits == ALL_BITS || width == 64 ? bits : bits & ((1ull << width) - 1);
}

static bool is_zero(const Instr *i, Bits a)
{
    return bits_of_type((Type)i->type, ~a.zeros) == 0;
}

static uint64_t bits_of_product(const Instr *i, Bits a, Bits b)
{
    const Operand *by = &i->statement->operands[2];
    const uint64_t number = (uint64_t)by->integer;
    if (is_zero(i, a) || is_zero(i, b))
        return 0;
    const bool shifts = by->kind == IS_INTEGER && number && !(number & (number - 1)) && !has_sign(i, a.unwritten);
    return shifts ? bits_shifted(a.unwritten, __builtin_ctzll(number)) : ALL_BITS;
}

// Before they are cut to the result's type.
static uint64_t bits_of_result(const Instr *i, Bits a, Bits b, bool local)
{
    const Operand *o = i->statement->operands;
    const bool constant = o[2].kind == IS_INTEGER;
    const uint64_t either = a.unwritten | b.unwritten;
    switch (i->kind) {
    case LOGICAL_AND: return either & ~a.zeros & ~b.zeros;
    case LOGICAL_OR: return constant && !local && either == ALL_BITS ? either : either & ~a.ones & ~b.ones;
    case MOVE: return a.unwritten;
    case SHIFT_LEFT: return constant ? bits_shifted(a.unwritten, o[2].integer) : ALL_BITS;
    case PRODUCT: return bits_of_product(i, a, b);
    case SELECT: return constant && o[1].kind == IS_INTEGER ? (uint64_t)(o[1].integer ^ o[2].integer) : ALL_BITS;
    case INSERT: return bits_inserted(a.unwritten, b.unwritten, &o[3], &o[4]);
    default: return ALL_BITS;
    }
}

uint64_t sim_bits_of_result(const Instr *i, Bits a, Bits b, bool local)
{
    return bits_of_type(i->statement->operands[0].reg->type, bits_of_result(i, a, b, local));
}
