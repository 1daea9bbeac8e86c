// value_bits.h: of an operation's result the bits that nobody wrote.
#ifndef VALUE_BITS_H
#define VALUE_BITS_H

#include "front/program.h"

static const uint64_t ALL_BITS = UINT64_MAX; // of a register of any width

typedef struct Bits { // of an operand; what is in none of them may be any of it
    uint64_t unwritten, zeros, ones; // those that nobody wrote, and those that are known to be 0, or 1
    bool whole;                      // nobody has set one of them since it was read
} Bits;
enum { MOST_BITS = 5 }; // operands whose bits are asked for, the result among them

// Of the result of an operation, a register or a vector of such, those bits that nobody wrote, where o[1] is its first operand, and
// so on; `local`: they come from a thread's own variable, in which a bit may be set without others having been cleared.
uint64_t sim_bits_of_result(const Instr *i, const Bits o[MOST_BITS], bool local);
// Whether the result is one of the operands as it was: to it 0 is added.
bool sim_adds_nothing(const Instr *i, const Bits o[MOST_BITS]);
// Whether a comparison of whole numbers comes out the same whatever the bits are that nobody wrote.
bool sim_is_decided(const Instr *i, Bits a, Bits b);

#endif
