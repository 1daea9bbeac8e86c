// addresses.h: symbolic addresses, and which pointer parameters a function accesses (addresses.c).
#ifndef ADDRESSES_H
#define ADDRESSES_H

#include "front/program.h"

typedef struct Pointer { // a symbolic address: a register or a variable, plus an offset
    const Register *reg;
    const Variable *variable;
    int64_t offset;
} Pointer;

bool sim_is_parameter(const Operand *o);
// Only computes its result, in registers or the parameters of calls.
bool sim_is_pure(const Instr *i);
// Looks through copies, address conversions and added constants.
Pointer sim_pointer_of(const Function *in, const Operand *o);
// Whether both are provably equal: the same register, the same computation, or loads of the same address.
bool sim_same_pointer(const Function *in, Pointer a, Pointer b);
bool sim_is_local(Pointer at); // in its thread's local memory, at a known offset
// The arguments of a call with a result: call (result), function, (arguments){, prototype}. Otherwise NULL.
const Operand *sim_arguments_of(const Statement *s);
// The operand stored to a parameter of the call at `call`, shortly before it. NULL: unknown.
const Operand *sim_argument_value(const Function *in, uint32_t call, const Operand *parameter);
// Whether an argument may be an address outside the thread's local memory.
bool sim_passes_address(const Function *in, uint32_t call);
// Updates `uses`, `stores_at_params` and `cas_params` of the function from its callees' current summaries.
void sim_summarise_addresses(const Function *f, EffectSummary *effects);

#endif
