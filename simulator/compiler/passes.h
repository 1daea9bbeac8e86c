// passes.h: the passes over the intermediate form. Each has a file of its own; passes.c runs them in order.
#ifndef PASSES_H
#define PASSES_H

#include "compiler/dominators.h"

// A pass changes one function, and returns whether it did. Between passes ir_verify finds nothing.
typedef bool Pass(IrModule *module, IrFunction *function);

// inline.c: all device functions into the kernels, callees first.
IrProblem inline_functions(IrModule *module, uint64_t max_instructions);

// promote.c
Pass promote_variables;
IrInstruction **list_variables(IrModule *module, const IrFunction *function, uint32_t *count); // the allocas
// split.c: structures and arrays into their parts, copies of structures into loads and stores.
Pass split_variables;
// spaces.c: where generic pointers point.
Pass infer_spaces;
// simplify.c: constant folding and algebraic identities.
Pass simplify_values;
Pass simplify_values_late; // also divisions by constants
// simplify_cfg.c
Pass simplify_control_flow;
// dce.c: what nothing needs.
Pass remove_dead_code;

uint64_t count_instructions(const IrModule *module);

#endif
