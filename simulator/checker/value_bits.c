// value_bits.c: of an operation's result the bits that nobody wrote, from those of its operands.
//
// Where comparisons become bits of one word, or bit fields share one, each may be asked for by itself.
#include "checker/value_bits.h"

// The bits of a field; 0 where its place and length are not known.
static uint64_t field_at(const Operand *place, const Operand *length)
{
    const int64_t first = place->integer, count = length->integer;
    const bool known = place->kind == IS_INTEGER && length->kind == IS_INTEGER && first >= 0 && count > 0 && first + count <= 64;
    return known ? ALL_BITS >> (64 - count) << first : 0;
}

static uint64_t bits_shifted(uint64_t bits, int64_t by)
{
    return bits == ALL_BITS || by < 0 || by > 63 ? ALL_BITS : bits << by;
}

// Those that a number of this type has, also where all of a register are meant.
static uint64_t bits_within(Type type, uint64_t bits)
{
    const int width = 8 * sim_type_bytes(type);
    return width >= 64 ? bits : bits & ((1ull << width) - 1);
}

static bool is_signed(Type type)
{
    return type == S8 || type == S16 || type == S32 || type == S64;
}

// Whether the number's sign is one of these bits: then all above it may be, where it is shifted, widened, or multiplied into
// a wider one.
static bool has_sign(Type type, uint64_t bits)
{
    return is_signed(type) && bits >> (8 * sim_type_bytes(type) - 1) & 1;
}

static uint64_t bits_shifted_right(const Instr *i, uint64_t bits, const Operand *by)
{
    const Type type = (Type)i->type;
    if (by->kind != IS_INTEGER || by->integer < 0 || by->integer > 63 || has_sign(type, bits))
        return ALL_BITS;
    return bits_within(type, bits) >> by->integer;
}

// A field of a number without a sign.
static uint64_t bits_extracted(const Instr *i, uint64_t bits, const Operand *place, const Operand *length)
{
    const uint64_t field = is_signed((Type)i->type) ? 0 : field_at(place, length);
    return field ? (bits_within((Type)i->type, bits) & field) >> place->integer : ALL_BITS;
}

// Four bytes of two words, as prmt's table in the PTX ISA has it; or copies of their signs.
static uint64_t bits_permuted(uint64_t a, uint64_t b, const Operand *places)
{
    const uint64_t from = bits_within(B32, b) << 32 | bits_within(B32, a);
    uint64_t bits = 0;
    for (int k = 0; k < 4; k++) {
        const int place = (int)(places->integer >> 4 * k & 15);
        const uint64_t byte = from >> 8 * (place & 7) & 255;
        bits |= (place & 8 ? byte >> 7 ? 255ull : 0 : byte) << 8 * k;
    }
    return places->kind == IS_INTEGER ? bits : ALL_BITS;
}

static uint64_t bits_widened(const Instr *i, uint64_t bits)
{
    const Type to = (Type)i->type, from = (Type)i->from;
    return sim_type_bytes(to) <= sim_type_bytes(from) || has_sign(from, bits) ? bits : bits_within(from, bits);
}

// With a field of `into` replaced.
static uint64_t bits_inserted(uint64_t field, uint64_t into, const Operand *place, const Operand *length)
{
    const uint64_t replaced = field_at(place, length);
    return replaced ? (field << place->integer & replaced) | (into & ~replaced) : ALL_BITS;
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

bool sim_adds_nothing(const Instr *i, Bits a, Bits b)
{
    return i->kind == SUM && (is_zero(i, a) || is_zero(i, b));
}

static uint64_t bits_of_product(const Instr *i, Bits a, Bits b)
{
    const Operand *by = &i->statement->operands[2];
    const uint64_t number = (uint64_t)by->integer;
    if (is_zero(i, a) || is_zero(i, b))
        return 0;
    const bool shifts = by->kind == IS_INTEGER && number && !(number & (number - 1)) && !has_sign((Type)i->type, a.unwritten);
    return shifts ? bits_shifted(a.unwritten, __builtin_ctzll(number)) : ALL_BITS;
}

// Where bits that are computed decide some bits of a register that nobody wrote, and not all, as of a map of bits that was never
// cleared, it is still one that nobody wrote.
static uint64_t bits_of_logical(Bits a, Bits b, uint64_t bits, bool constant)
{
    return bits && !constant && (a.unwritten == ALL_BITS || b.unwritten == ALL_BITS) ? ALL_BITS : bits;
}

// Before they are cut to the result's type.
static uint64_t bits_of_result(const Instr *i, Bits a, Bits b, bool local)
{
    const Operand *o = i->statement->operands;
    const bool constant = o[2].kind == IS_INTEGER;
    const uint64_t either = a.unwritten | b.unwritten;
    switch (i->kind) {
    case LOGICAL_AND: return bits_of_logical(a, b, either & ~a.zeros & ~b.zeros, constant);
    case LOGICAL_OR: return constant && !local && a.whole ? ALL_BITS : bits_of_logical(a, b, either & ~a.ones & ~b.ones, constant);
    case MOVE: return a.unwritten;
    case SHIFT_LEFT: return constant ? bits_shifted(bits_within((Type)i->type, a.unwritten), o[2].integer) : ALL_BITS;
    case SHIFT_RIGHT: return bits_shifted_right(i, a.unwritten, &o[2]);
    case EXTRACT: return bits_extracted(i, a.unwritten, &o[2], &o[3]);
    case PERMUTE: return bits_permuted(a.unwritten, b.unwritten, &o[3]);
    case WIDEN: return bits_widened(i, a.unwritten);
    case PRODUCT: return bits_of_product(i, a, b);
    case SUM: return sim_adds_nothing(i, a, b) ? either : ALL_BITS;
    case SELECT: return constant && o[1].kind == IS_INTEGER ? (uint64_t)(o[1].integer ^ o[2].integer) : ALL_BITS;
    case INSERT: return bits_inserted(a.unwritten, b.unwritten, &o[3], &o[4]);
    default: return ALL_BITS;
    }
}

uint64_t sim_bits_of_result(const Instr *i, Bits a, Bits b, bool local)
{
    return bits_of_type(i->statement->operands[0].reg->type, bits_of_result(i, a, b, local));
}
