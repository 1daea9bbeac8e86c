// value_copies.h: static analysis of copies: which instructions move values without any other use of them.
#ifndef VALUE_COPIES_H
#define VALUE_COPIES_H

#include "front/program.h"

// True if a load and a store copy a part of a structure: a neighbouring part is copied, too, or both addresses advance by the copied size in
// each iteration of a loop. If the load is in another function, only the stores count.
bool sim_copies_structure(const Function *f, const Instr *load, const Instr *store);

#endif
