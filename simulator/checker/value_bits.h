// value_bits.h: the undefined bits of an operation's result.
#ifndef VALUE_BITS_H
#define VALUE_BITS_H

#include "front/program.h"

static const uint64_t ALL_BITS = UINT64_MAX; // all bits of a register of any width

typedef struct Bits { // bits of an operand, as masks: undefined bits; defined bits that are 0, or 1. The value of the other bits is not known
    uint64_t undefined, zeros, ones;
    bool all_undefined; // every bit was undefined when the operand was read
} Bits;
enum { MAX_BIT_OPERANDS = 5 }; // operands of an instruction, with the result

// The undefined bits of a result; o[1] is the first operand. `from_local_memory`: the value was loaded from local memory, where a program
// may set the bits of a variable one by one without clearing it first.
uint64_t sim_undefined_bits(const Instr *i, const Bits o[MAX_BIT_OPERANDS], bool from_local_memory);
// True if the operation adds 0, so that the result is one of the operands.
bool sim_adds_nothing(const Instr *i, const Bits o[MAX_BIT_OPERANDS]);
// True if an integer comparison has the same result for every value of the undefined bits.
bool sim_comparison_is_defined(const Instr *i, Bits a, Bits b);

#endif
