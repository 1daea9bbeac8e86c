// value_copies.h: what a program copies without asking for it, by its instructions alone.
#ifndef VALUE_COPIES_H
#define VALUE_COPIES_H

#include "front/program.h"

// Whether a plain operation's result is made of its operands' bits as they are: it moves, picks, cuts out or joins them.
bool sim_moves_bits(const Instr *i);
// Whether a load and a store copy a part of a structure: another part is copied beside it; or, in each turn of a loop, the next
// one, for both addresses go on by as much as they copy. The load may be another function's: then nothing is known.
bool sim_copies_structure(const Program *p, const Instr *load, const Instr *store);

#endif
