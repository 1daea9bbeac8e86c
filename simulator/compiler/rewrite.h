// rewrite.h: queries and transformations of functions, for passes (ir.c, rewrite.c).
#ifndef REWRITE_H
#define REWRITE_H

#include "compiler/ir.h"

// ---- ir.c

void *ir_allocate(IrModule *module, size_t bytes); // zeroed, in the module's arena
void *ir_scratch(IrModule *module, size_t bytes);  // zeroed, valid until the end of the pass
uint32_t ir_bits(IrType type);
uint32_t ir_bytes(IrType type); // in memory
int64_t ir_sign_extended(IrType type, int64_t value); // from the type's width
void ir_set_operand(IrInstruction *instruction, uint32_t index, IrInstruction *value);
// Creates an instruction that is in no block yet.
IrInstruction *ir_new_instruction(IrModule *module, IrFunction *function, IrOp op, IrType type, uint32_t count,
                                  IrInstruction *const *operands);
void ir_link_before(IrInstruction *insert_before, IrInstruction *instruction);
void ir_link_last(IrBlock *block, IrInstruction *instruction);
bool ir_is_terminator(const IrInstruction *instruction);
uint32_t ir_target_count(const IrBlock *block);
void ir_add_predecessor(IrModule *module, IrBlock *block, IrBlock *predecessor); // at the end of the list

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

static inline bool ir_is_reciprocal(const IrInstruction *i) // 1 / x, which is one instruction (rcp)
{
    const IrInstruction *one = i->op == IR_DIV ? i->operands[0] : NULL;
    return one && one->op == IR_REAL && one->real == 1 && (i->type == IR_F32 || i->type == IR_F64) && !(i->flags & (IR_APPROXIMATE | IR_EXACT));
}

IrSpace ir_pointer_space(const IrInstruction *pointer);
bool ir_has_one_use(const IrInstruction *value);
// Replaces all uses of a value.
void ir_replace_uses(IrInstruction *value, IrInstruction *replacement);
// Removes an instruction, which must have no uses, from its block, and its uses of its operands.
void ir_remove(IrInstruction *instruction);
// Replaces all uses of an instruction and removes it.
void ir_replace(IrInstruction *instruction, IrInstruction *replacement);
void ir_move_before(IrInstruction *insert_before, IrInstruction *instruction);
// Whether the result depends only on the operands and there is no other effect, so that the instruction may be moved, merged and removed.
// Integer division is included, because it does not trap in PTX.
bool ir_is_assembly(const IrInstruction *instruction); // asm
bool ir_is_pure(const IrInstruction *instruction);
// Whether the instruction may be removed if its value is unused.
bool ir_is_removable(const IrInstruction *instruction);
uint32_t ir_effects(const IrInstruction *instruction); // of any operation: a combination of INTRINSIC_... (intrinsics.h)
// Creates a copy with the same operands, in no block yet.
IrInstruction *ir_clone(IrModule *module, IrFunction *function, const IrInstruction *instruction);
// These create an instruction before `insert_before`.
IrInstruction *ir_binary(IrModule *module, IrInstruction *insert_before, IrOp op, IrInstruction *a, IrInstruction *b, uint32_t flags);
IrInstruction *ir_compare(IrModule *module, IrInstruction *insert_before, IrCompare compare, IrInstruction *a, IrInstruction *b, uint32_t flags);
IrInstruction *ir_convert(IrModule *module, IrInstruction *insert_before, IrType type, IrInstruction *value, uint32_t flags);
IrInstruction *ir_select(IrModule *module, IrInstruction *insert_before, IrInstruction *condition, IrInstruction *a, IrInstruction *b);
IrInstruction *ir_phi(IrModule *module, IrBlock *block, IrType type); // creates the block's first phi, without operands

// ---- rewrite.c: blocks and edges

// The index, in the predecessor list of the target, of the edge to target `target` of the terminator.
uint32_t ir_edge_index(const IrBlock *from, uint32_t target);
// Removes one edge: the entry in the predecessor list, and the phis' operands. The caller updates the terminator.
void ir_remove_predecessor(IrBlock *block, uint32_t index);
// Replaces the terminator by a jump to target `kept_target`, and removes the other edges.
void ir_make_jump(IrModule *module, IrBlock *block, uint32_t kept_target);
// Redirects an edge to another block. The caller adds operands to that block's phis.
void ir_redirect(IrModule *module, IrBlock *from, uint32_t target, IrBlock *to);
// Inserts a new block on an edge, in layout order before the edge's target.
IrBlock *ir_split_edge(IrModule *module, IrBlock *from, uint32_t target);
IrBlock *ir_new_block_before(IrModule *module, IrBlock *insert_before);
void ir_move_block_before(IrBlock *insert_before, IrBlock *block); // NULL: to the end
void ir_remove_block(IrBlock *block); // requires that it has no predecessors; removes its instructions
// Removes unreachable blocks.
void ir_remove_unreachable(IrModule *module, IrFunction *function);
// Moves an instruction and all after it to a new block, to which the old block then jumps.
IrBlock *ir_split_block(IrModule *module, IrInstruction *first_moved);
uint32_t ir_count_phis(const IrBlock *block);
IrInstruction *ir_first_not_phi(const IrBlock *block);

#endif
