// value_copies.h: what a program copies without asking for it, by its instructions alone.
#ifndef VALUE_COPIES_H
#define VALUE_COPIES_H

#include "front/program.h"

enum { MOST_BESIDE = 128 }; // longer structures are copied by a loop

typedef struct Copy { // what a load and a store of a program copy
    const Instr *load, *store;
    bool in_turns; // a part of a structure in each turn of a loop: both addresses go on by as much as they copy
    uint32_t count;
    const Instr *beside[MOST_BESIDE]; // loads of other parts, which are stored as far from the store as they lie from the load
} Copy;

// Whether a plain operation's result is made of its operands' bits as they are: it moves, picks, cuts out or joins them.
bool sim_moves_bits(const Instr *i);
// The load may be another function's: then nothing is known.
Copy sim_copy_of(const Program *p, const Instr *load, const Instr *store);

#endif
