// addresses.h: symbolic addresses, and effects on memory through pointer parameters (addresses.c).
#ifndef ADDRESSES_H
#define ADDRESSES_H

#include "front/program.h"

typedef struct Pointer { // a symbolic address: a register or a variable, plus an offset
    const Register *reg;
    const Variable *variable;
    int64_t offset;
} Pointer;

bool sim_is_parameter(const Operand *o);
bool sim_is_kernel_parameter(const Function *function, const Operand *o); // not one of a function that the kernel calls
// True if the instruction only computes a result, in registers or in parameters of calls.
bool sim_is_pure(const Instr *i);
// The symbolic address of an operand; follows copies, address conversions and added constants.
Pointer sim_pointer_of(const Function *function, const Operand *o);
// True if the two are provably equal: one register, equal computations, or loads from one address.
bool sim_same_pointer(const Function *function, Pointer a, Pointer b);
bool sim_is_local(Pointer at); // true if it points into local memory at a known offset
// The arguments of a call with a result: call (result), function, (arguments){, prototype}. NULL for other statements.
const Operand *sim_arguments_of(const Statement *s);
// The operand that straight-line code before the call at index `call` stores to this parameter. NULL: unknown.
const Operand *sim_argument_value(const Function *function, uint32_t call, const Operand *parameter);
// True if an argument may be an address outside the thread's local memory.
bool sim_passes_address(const Function *function, uint32_t call);
// Updates `accesses_beyond_params`, `stores_at_params` and `cas_params` of a function from its callees' current summaries.
void sim_summarise_addresses(const Function *f, EffectSummary *effects);

#endif
