// known.h: known bits and ranges of integers (known.c).
#ifndef KNOWN_H
#define KNOWN_H

#include "compiler/rewrite.h"

// The bits of a value that are known to be 0, including those above its width.
uint64_t known_zero_bits(const IrInstruction *value);
// An upper bound of the value, interpreted as unsigned.
uint64_t largest_unsigned(const IrInstruction *value);
uint64_t largest_with_specials(const IrInstruction *value); // a bound that also uses the ranges of special registers such as %tid
bool is_never_negative(const IrInstruction *value);
bool is_never_zero(const IrInstruction *value);
static inline uint64_t type_mask(IrType type)
{
    const uint32_t bits = ir_bits(type);
    return bits >= 64 ? UINT64_MAX : (1ull << bits) - 1;
}
static inline uint64_t unsigned_value(const IrInstruction *constant)
{
    return (uint64_t)constant->integer & type_mask(constant->type);
}
// The exponent of a constant that is a power of two; otherwise -1.
int power_of_two(const IrInstruction *constant);

#endif
