// value_bits.h: of an operation's result the bits that nobody wrote.
#ifndef VALUE_BITS_H
#define VALUE_BITS_H

#include "front/program.h"

static const uint64_t ALL_BITS = UINT64_MAX; // of a register of any width

typedef struct Bits { // of an operand; what is in none of them may be any of it
    uint64_t unwritten, zeros, ones; // those that nobody wrote, and those that are known to be 0, or 1
    bool whole;                      // nobody has set one of them since it was read
} Bits;

// Of the result of an operation, a register or a vector of such, those bits that nobody wrote, where a and b are its first two operands;
// `local`: they come from a thread's own variable, in which a bit may be set without others having been cleared.
uint64_t sim_bits_of_result(const Instr *i, Bits a, Bits b, bool local);
// Whether the result is one of the two as it was: the other one, which is added, is 0.
bool sim_adds_nothing(const Instr *i, Bits a, Bits b);

#endif
