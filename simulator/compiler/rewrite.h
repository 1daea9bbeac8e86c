// rewrite.h: how passes change functions (ir.c, rewrite.c), and what they ask about them.
#ifndef REWRITE_H
#define REWRITE_H

#include "compiler/ir.h"

// ---- ir.c

void *ir_allocate(IrModule *module, size_t bytes); // zeros, in the module's arena
void *ir_scratch(IrModule *module, size_t bytes);  // zeros, until the end of the pass
uint32_t ir_bits(IrType type);
int64_t ir_sign_extended(IrType type, int64_t value); // from the type's width
void ir_set_operand(IrInstruction *instruction, uint32_t index, IrInstruction *value);
// An instruction that is in no block yet.
IrInstruction *ir_new_instruction(IrModule *module, IrFunction *function, IrOp op, IrType type, uint32_t count,
                                  IrInstruction *const *operands);
void ir_link_before(IrInstruction *place, IrInstruction *instruction);
void ir_link_last(IrBlock *block, IrInstruction *instruction);
bool ir_is_terminator(const IrInstruction *instruction);
uint32_t ir_target_count(const IrBlock *block);

// ---- rewrite.c: values

static inline bool ir_is_integer(const IrInstruction *value)
{
    return value->op == IR_INTEGER;
}

static inline bool ir_is_constant(const IrInstruction *value)
{
    return value->op <= IR_UNDEFINED;
}

static inline bool ir_is_float_type(IrType type)
{
    return type >= IR_F16;
}

IrSpace ir_pointer_space(const IrInstruction *pointer);
bool ir_has_one_use(const IrInstruction *value);
// Every use of one value becomes a use of the other.
void ir_replace_uses(IrInstruction *value, IrInstruction *by);
// Takes an instruction out of its block; its operands lose a use each. It has no uses left.
void ir_remove(IrInstruction *instruction);
// Replaces all uses of an instruction and removes it.
void ir_replace(IrInstruction *instruction, IrInstruction *by);
void ir_move_before(IrInstruction *place, IrInstruction *instruction);
// Whether it computes a value from its operands alone, so that it may be moved, merged and dropped. Division is not, by zero
// or not: PTX has no traps.
bool ir_is_pure(const IrInstruction *instruction);
// Whether it may be dropped if its value is unused.
bool ir_is_removable(const IrInstruction *instruction);
uint32_t ir_effects(const IrInstruction *instruction); // INTRINSIC_... of intrinsics.h, for every operation
// A copy of an instruction with the same operands, in no block yet.
IrInstruction *ir_clone(IrModule *module, IrFunction *function, const IrInstruction *instruction);
// A binary operation before a place, with flags.
IrInstruction *ir_binary(IrModule *module, IrInstruction *place, IrOp op, IrInstruction *a, IrInstruction *b, uint32_t flags);
IrInstruction *ir_compare(IrModule *module, IrInstruction *place, IrCompare compare, IrInstruction *a, IrInstruction *b, uint32_t flags);
IrInstruction *ir_convert(IrModule *module, IrInstruction *place, IrType type, IrInstruction *value, uint32_t flags);
IrInstruction *ir_select(IrModule *module, IrInstruction *place, IrInstruction *condition, IrInstruction *a, IrInstruction *b);
IrInstruction *ir_phi(IrModule *module, IrBlock *block, IrType type); // before the others, without operands

// ---- rewrite.c: blocks and edges

// The index in the predecessors' list of the edge that the terminator's target stands for.
uint32_t ir_edge_index(const IrBlock *from, uint32_t target);
// Removes one edge: the entry in the list and the phis' operands. The terminator is the caller's.
void ir_remove_predecessor(IrBlock *block, uint32_t index);
// Replaces the terminator; edges that both have stay, with the phis' operands.
void ir_make_jump(IrModule *module, IrBlock *block, uint32_t kept_target);
// An edge goes to another block, which has no phis or gets their operands from the caller.
void ir_redirect(IrModule *module, IrBlock *from, uint32_t target, IrBlock *to);
// A new block on an edge. It stands in the list before the edge's end.
IrBlock *ir_split_edge(IrModule *module, IrBlock *from, uint32_t target);
IrBlock *ir_new_block_before(IrModule *module, IrBlock *place);
void ir_move_block_before(IrBlock *place, IrBlock *block); // place NULL: to the end
void ir_remove_block(IrBlock *block); // which has no predecessors; its instructions are dropped
// Removes what cannot be reached from the entry.
void ir_remove_unreachable(IrModule *module, IrFunction *function);
// Moves everything from an instruction on to a new block after its own, to which the first jumps.
IrBlock *ir_split_block(IrModule *module, IrInstruction *first_moved);
bool ir_is_phi(const IrInstruction *instruction);
IrInstruction *ir_first_not_phi(const IrBlock *block);

#endif
