// addresses.h: symbolic addresses, and the pointer parameters that a function accesses (addresses.c).
#ifndef ADDRESSES_H
#define ADDRESSES_H

#include "front/program.h"

typedef struct Pointer { // a symbolic address: a register or a variable, plus an offset
    const Register *reg;
    const Variable *variable;
    int64_t offset;
} Pointer;

bool sim_is_parameter(const Operand *o);
// Whether the instruction only computes a result, in registers or in parameters of calls.
bool sim_is_pure(const Instr *i);
// The symbolic address of an operand: looks through copies, address conversions and added constants.
Pointer sim_pointer_of(const Function *in, const Operand *o);
// Whether the two are provably equal: the same register, the same computation, or loads from the same address.
bool sim_same_pointer(const Function *in, Pointer a, Pointer b);
bool sim_is_local(Pointer at); // whether it points into local memory, at a known offset
// The arguments of a call with a result: call (result), function, (arguments){, prototype}. Otherwise NULL.
const Operand *sim_arguments_of(const Statement *s);
// The operand that is stored to a parameter of the call at index `call`, in the straight-line code before it. NULL: unknown.
const Operand *sim_argument_value(const Function *in, uint32_t call, const Operand *parameter);
// Whether an argument may be an address outside the thread's local memory.
bool sim_passes_address(const Function *in, uint32_t call);
// Updates `accesses_beyond_params`, `stores_at_params` and `cas_params` of a function from its callees' current summaries.
void sim_summarise_addresses(const Function *f, EffectSummary *effects);

#endif
