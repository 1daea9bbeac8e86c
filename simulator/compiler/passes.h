// passes.h: the passes over the intermediate form. Each has a file of its own; passes.c runs them in order.
#ifndef PASSES_H
#define PASSES_H

#include "compiler/dominators.h"

// A pass changes one function, and returns whether it did. Between passes ir_verify finds nothing.
typedef bool Pass(IrModule *module, IrFunction *function);

// inline.c: all device functions into the kernels, callees first.
IrProblem inline_functions(IrModule *module, uint64_t max_instructions);

uint64_t count_instructions(const IrModule *module);

#endif
