// known.h: what is known about an integer's bits and range (known.c).
#ifndef KNOWN_H
#define KNOWN_H

#include "compiler/rewrite.h"

// Bits of the value that are certainly 0; bits above its width count as 0, too.
uint64_t known_zero_bits(const IrInstruction *value);
// The largest that the value, taken as unsigned, can be.
uint64_t largest_unsigned(const IrInstruction *value);
uint64_t largest_with_specials(const IrInstruction *value); // counts on the ranges of %tid and its kin
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
// Which power of two a constant of the type is, or -1.
int power_of_two(const IrInstruction *constant);

#endif
