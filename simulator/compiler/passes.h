// passes.h: the passes over the intermediate representation, each in its own file; passes.c runs them in order.
#ifndef PASSES_H
#define PASSES_H

#include "compiler/dominators.h"

// Transforms one function; returns whether it has changed. After each pass ir_verify must succeed.
typedef bool Pass(IrModule *module, IrFunction *function);

// inline.c: inlines all device functions into the kernels, callees first.
IrProblem inline_functions(IrModule *module, uint64_t max_instructions);

// promote.c
Pass promote_variables;
IrInstruction **list_variables(IrModule *module, const IrFunction *function, uint32_t *count); // the allocas
// split.c: splits structures and arrays into their elements (LLVM: SROA), and copies of structures into loads and stores.
Pass split_variables;
Pass split_variables_finally; // expands also copies of variables with an index
// spaces.c: infers the address spaces of generic pointers.
Pass infer_spaces;
// chosen.c: loads through a phi or select of the addresses of variables.
Pass choose_values;
// simplify.c: constant folding and algebraic identities.
Pass simplify_values;
Pass simplify_values_late; // Simplifier.is_late
// simplify_cfg.c
Pass simplify_control_flow;
// thread.c: jump threading.
Pass thread_jumps;
// gvn.c
Pass number_values;
Pass number_values_without_facts;
Pass number_values_in_blocks; // local value numbering
// reassociate.c: sums with repeated summands
Pass reassociate_sums;
// rotate.c
Pass rotate_loops;
// licm.c
Pass hoist_invariants;
Pass hoist_invariants_late; // hoists asm, too
bool is_safe_to_speculate(const IrInstruction *i); // has no effects and cannot fault
// redundant_loads.c: loads of values that are known on the paths to them.
Pass remove_redundant_loads;
// dead_stores.c: stores that another one overwrites.
Pass remove_dead_stores;
// if_convert.c
Pass convert_branches;
// demote.c
IrInstruction *new_variable(IrModule *module, IrFunction *function);
void store_variable(IrModule *module, IrInstruction *insert_before, IrInstruction *variable, IrInstruction *value);
IrInstruction *load_variable(IrModule *module, IrInstruction *insert_before, IrInstruction *variable, IrType type);
void load_for_use(IrModule *module, IrInstruction *variable, IrType type, IrUse *use);
IrInstruction *insertion_point_after(const IrInstruction *value);
// addresses.c
Pass separate_offsets;       // separates constant parts of indices
Pass join_addresses;         // merges addresses that several branches compute
Pass reassociate_addresses;  // reuses the address of one summand of an index
Pass lower_addresses;        // to shifts, multiplications and additions
Pass fold_offsets;           // folds constant offsets into loads and stores
// lsr.c
Pass reduce_strength;
Pass test_next_values;       // exit tests of loops compare the incremented variable
// divide.c
Pass lower_divisions;
// vectorise.c
Pass vectorise_accesses;
// speculate.c
Pass speculate_values;       // speculates address arithmetic of short arms
Pass hoist_common;           // hoists instructions with which both arms begin
// layout.c
Pass order_blocks;
// read_only.c
Pass mark_read_only;
// bit_tests.c: predicates that are single bits
Pass select_bit_tests;
// nary.c: sums of summands of which some have been added already
Pass reuse_sums;
// narrow.c: loads of the bytes that are needed
Pass narrow_loads;
// sink.c
Pass sink_values;
// select.c: fma, mad, mul.wide
Pass select_instructions;
// branches.c, constants.c
Pass sink_compares; // duplicates comparisons into the blocks that use them
Pass invert_branches;
Pass move_constants;
Pass sink_symbols;  // moves addresses of variables to the blocks that use them
// unroll.c
Pass unroll_constant_loops; // fully unrolls
Pass unroll_counting_loops; // unrolls by a factor of four
// unswitch.c
Pass unswitch_loops;
// dce.c
Pass remove_dead_code;
bool is_write_only(const IrInstruction *pointer, uint32_t depth); // whether only stores use the address; depth: 0
void remove_stores(IrInstruction *pointer);
// shared_variables.c: those that are never read, or hold one constant only.
Pass simplify_shared_variables;

uint64_t count_instructions(const IrModule *module);

#endif
