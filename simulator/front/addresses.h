// addresses.h: how the code computes an address, and which of the places that it is given a function uses: addresses.c.
#ifndef ADDRESSES_H
#define ADDRESSES_H

#include "front/program.h"

typedef struct Pointer { // an address as it is computed: a register or a variable, and what is added
    const Register *reg;
    const Variable *variable;
    int64_t offset;
} Pointer;

bool sim_is_parameter(const Operand *o);
// Computes, and does nothing else; also to and from a function's parameters.
bool sim_is_pure(const Instr *i);
// Follows copies, conversions of addresses, and constants that are added.
Pointer sim_pointer_of(const Function *in, const Operand *o);
// Whether they are one register, or computed alike of what is the same, or loaded from one place.
bool sim_same_pointer(const Function *in, Pointer a, Pointer b);
bool sim_is_local(Pointer at); // in its thread's local memory, at a known offset
// Of a call that returns something: call (result), function, (arguments){, prototype}. NULL: it is none.
const Operand *sim_arguments_of(const Statement *s);
// What is handed to the call at `call` as a parameter: stored shortly before it. NULL: unknown.
const Operand *sim_argument_value(const Function *in, uint32_t call, const Operand *parameter);
// Whether a call's function gets a number that may be an address, and is none of its thread's local memory.
bool sim_passes_address(const Function *in, uint32_t call);
// What the function does with places: `uses`, `fills` and `swaps`, as far as those whom it calls are summed up.
void sim_summarise_addresses(const Function *f, EffectSummary *effects);

#endif
