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
// chosen.c: loads from one of two variables.
Pass choose_values;
// simplify.c: constant folding and algebraic identities.
Pass simplify_values;
Pass simplify_values_late; // also divisions by constants
// simplify_cfg.c
Pass simplify_control_flow;
// thread.c: ways that have decided what a block asks.
Pass thread_jumps;
// gvn.c
Pass number_values;
Pass number_values_in_blocks; // each block by itself
// rotate.c
Pass rotate_loops;
// licm.c
Pass hoist_invariants;
bool is_safe_to_speculate(const IrInstruction *i); // it has no effects and cannot fault
// carry.c: loads of what the last iteration has stored.
Pass carry_stored_values;
// if_convert.c
Pass convert_branches;
// demote.c
IrInstruction *new_variable(IrModule *module, IrFunction *function);
void store_variable(IrModule *module, IrInstruction *place, IrInstruction *variable, IrInstruction *value);
void load_for_use(IrModule *module, IrInstruction *variable, IrType type, IrUse *use);
IrInstruction *place_after(const IrInstruction *value);
// addresses.c
Pass separate_offsets;       // constant parts of indices
Pass join_addresses;         // those that several branches compute
Pass reassociate_addresses;  // an index that is a sum continues another address
Pass lower_addresses;        // to shifts, multiplications and additions
Pass fold_offsets;           // into loads and stores
// lsr.c
Pass reduce_strength;
Pass test_next_values;       // at loops' ends
// divide.c
Pass lower_divisions;
// vectorise.c
Pass vectorise_accesses;
// speculate.c
Pass speculate_values;       // address arithmetic of short arms
Pass hoist_common;           // what both arms begin with
// layout.c
Pass order_blocks;
// read_only.c
Pass mark_read_only;
// sink.c
Pass sink_values;
// select.c: fma, mad, mul.wide
Pass select_instructions;
// branches.c, constants.c
Pass spread_compares; // to where they are needed
Pass invert_branches;
Pass move_constants;
Pass spread_symbols;  // to the blocks that need them
// unroll.c
Pass unroll_constant_loops; // fully
Pass unroll_counting_loops; // by four
// unswitch.c
Pass unswitch_loops;
// dce.c: what nothing needs.
Pass remove_dead_code;

uint64_t count_instructions(const IrModule *module);

#endif
