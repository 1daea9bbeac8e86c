// rewrite.c: edits of the intermediate representation, for the passes. All of them keep the lists of uses and predecessors valid.
#include "compiler/intrinsics.h"
#include "compiler/rewrite.h"

#include <string.h>

// ---- Values

IrSpace ir_pointer_space(const IrInstruction *pointer)
{
    switch (pointer->op) {
    case IR_ALLOCA:
        return IR_LOCAL;
    case IR_SYMBOL:
        return pointer->symbol->space;
    case IR_TO_GENERIC:
    case IR_LOAD: // a load's `space` is that of its address, not of its result
    case IR_INTRINSIC:
        return IR_GENERIC;
    default:
        return pointer->space;
    }
}

bool ir_has_one_use(const IrInstruction *value)
{
    return value->uses && !value->uses->next;
}

void ir_replace_uses(IrInstruction *value, IrInstruction *replacement)
{
    if (value == replacement)
        return;
    while (value->uses)
        ir_set_operand(value->uses->user, value->uses->operand, replacement);
}

static void unlink(IrInstruction *instruction)
{
    IrBlock *block = instruction->block;
    if (instruction->previous)
        instruction->previous->next = instruction->next;
    else
        block->first = instruction->next;
    if (instruction->next)
        instruction->next->previous = instruction->previous;
    else
        block->last = instruction->previous;
    instruction->previous = instruction->next = NULL;
    instruction->block = NULL;
}

void ir_remove(IrInstruction *instruction)
{
    for (uint32_t k = 0; k < instruction->operand_count; k++)
        ir_set_operand(instruction, k, NULL);
    instruction->operand_count = 0;
    unlink(instruction);
}

void ir_replace(IrInstruction *instruction, IrInstruction *replacement)
{
    ir_replace_uses(instruction, replacement);
    ir_remove(instruction);
}

void ir_move_before(IrInstruction *insert_before, IrInstruction *instruction)
{
    if (insert_before == instruction || insert_before->previous == instruction)
        return;
    unlink(instruction);
    ir_link_before(insert_before, instruction);
}

static uint32_t load_effects(const IrInstruction *load)
{
    if (load->flags & IR_VOLATILE)
        return INTRINSIC_READS | INTRINSIC_WRITES | INTRINSIC_UNIQUE;
    const bool immutable = load->space == IR_PARAMETER || load->space == IR_CONSTANT || (load->flags & IR_READ_ONLY);
    return immutable ? INTRINSIC_PURE : INTRINSIC_READS;
}

uint32_t ir_effects(const IrInstruction *instruction)
{
    switch (instruction->op) {
    case IR_LOAD:
    case IR_LOAD_VECTOR:
        return load_effects(instruction);
    case IR_STORE:
    case IR_STORE_VECTOR:
        return INTRINSIC_WRITES;
    case IR_COPY:
        return INTRINSIC_READS | INTRINSIC_WRITES;
    case IR_INTRINSIC:
        return instruction->intrinsic->effects;
    case IR_CALL:
        return INTRINSIC_READS | INTRINSIC_WRITES | INTRINSIC_ORDERS | INTRINSIC_CONVERGENT | INTRINSIC_UNIQUE;
    default:
        return instruction->op < IR_LOAD || instruction->op == IR_ELEMENT ? INTRINSIC_PURE : INTRINSIC_WRITES | INTRINSIC_CONVERGENT;
    }
}

bool ir_is_assembly(const IrInstruction *instruction)
{
    return instruction->op == IR_INTRINSIC && strcmp(instruction->intrinsic->name, "asm") == 0;
}

bool ir_is_pure(const IrInstruction *instruction)
{
    return instruction->op != IR_PHI && instruction->op != IR_ALLOCA && ir_effects(instruction) == INTRINSIC_PURE;
}

bool ir_is_removable(const IrInstruction *instruction)
{
    if (ir_is_terminator(instruction))
        return false;
    const uint32_t observable = INTRINSIC_WRITES | INTRINSIC_ORDERS | INTRINSIC_CONVERGENT | INTRINSIC_NO_RETURN;
    return !(ir_effects(instruction) & observable);
}

IrInstruction *ir_clone(IrModule *module, IrFunction *function, const IrInstruction *instruction)
{
    IrInstruction *clone = ir_new_instruction(module, function, instruction->op, instruction->type, instruction->operand_count,
                                              instruction->operands);
    IrInstruction copy = *instruction;
    copy.id = clone->id;
    copy.operands = clone->operands;
    copy.operand_uses = clone->operand_uses;
    copy.uses = NULL;
    copy.block = NULL;
    copy.previous = copy.next = NULL;
    *clone = copy;
    return clone;
}

// The new instruction takes the source line of the one that it is inserted before.
static IrInstruction *insert_with_line(IrModule *module, IrInstruction *insert_before, IrOp op, IrType type, uint32_t count,
                                  IrInstruction *const *operands, uint32_t flags)
{
    IrInstruction *created = ir_insert_before(module, insert_before, op, type, count, operands);
    created->flags = flags;
    created->line = insert_before->line;
    created->file = insert_before->file;
    return created;
}

IrInstruction *ir_binary(IrModule *module, IrInstruction *insert_before, IrOp op, IrInstruction *a, IrInstruction *b, uint32_t flags)
{
    IrInstruction *created = insert_with_line(module, insert_before, op, a->type, 2, (IrInstruction *[]){a, b}, flags);
    if (op == IR_MUL_WIDE)
        created->type = IR_B64;
    return created;
}

IrInstruction *ir_compare(IrModule *module, IrInstruction *insert_before, IrCompare compare, IrInstruction *a, IrInstruction *b, uint32_t flags)
{
    IrInstruction *created = insert_with_line(module, insert_before, IR_COMPARE, IR_PRED, 2, (IrInstruction *[]){a, b}, flags);
    created->compare = compare;
    return created;
}

IrInstruction *ir_convert(IrModule *module, IrInstruction *insert_before, IrType type, IrInstruction *value, uint32_t flags)
{
    return insert_with_line(module, insert_before, IR_CONVERT, type, 1, &value, flags);
}

IrInstruction *ir_select(IrModule *module, IrInstruction *insert_before, IrInstruction *condition, IrInstruction *a, IrInstruction *b)
{
    IrInstruction *created = insert_with_line(module, insert_before, IR_SELECT, a->type, 3, (IrInstruction *[]){condition, a, b}, 0);
    created->space = a->space == b->space ? a->space : IR_GENERIC;
    return created;
}

IrInstruction *ir_phi(IrModule *module, IrBlock *block, IrType type)
{
    IrInstruction *phi = ir_new_instruction(module, block->function, IR_PHI, type, 0, NULL);
    if (block->first)
        ir_link_before(block->first, phi);
    else
        ir_link_last(block, phi);
    phi->line = phi->file = 0;
    return phi;
}

// ---- Edges

// If both targets of a branch are one block, the first of its entries belongs to target 0 and the second to target 1.
uint32_t ir_edge_index(const IrBlock *from, uint32_t target)
{
    const IrInstruction *end = from->last;
    const IrBlock *to = end->target[target];
    bool skips_one = target == 1 && end->target[0] == to;
    for (uint32_t k = 0; k < to->predecessor_count; k++)
        if (to->predecessors[k] == from) {
            if (!skips_one)
                return k;
            skips_one = false;
        }
    return UINT32_MAX;
}

static void remove_operand(IrInstruction *instruction, uint32_t index)
{
    for (uint32_t k = index; k + 1 < instruction->operand_count; k++)
        ir_set_operand(instruction, k, instruction->operands[k + 1]);
    ir_set_operand(instruction, instruction->operand_count - 1, NULL);
    instruction->operand_count--;
}

void ir_remove_predecessor(IrBlock *block, uint32_t index)
{
    for (IrInstruction *phi = block->first; phi && phi->op == IR_PHI; phi = phi->next)
        remove_operand(phi, index);
    for (uint32_t k = index; k + 1 < block->predecessor_count; k++)
        block->predecessors[k] = block->predecessors[k + 1];
    block->predecessor_count--;
}

void ir_make_jump(IrModule *module, IrBlock *block, uint32_t kept_target)
{
    IrInstruction *branch = block->last;
    IrBlock *kept = branch->target[kept_target];
    ir_remove_predecessor(branch->target[!kept_target], ir_edge_index(block, !kept_target));
    const uint32_t line = branch->line, file = branch->file;
    ir_remove(branch);
    IrInstruction *jump = ir_append(module, block, IR_JUMP, IR_VOID, 0, NULL);
    jump->target[0] = kept;
    jump->line = line;
    jump->file = file;
}

void ir_redirect(IrModule *module, IrBlock *from, uint32_t target, IrBlock *to)
{
    ir_remove_predecessor(from->last->target[target], ir_edge_index(from, target));
    from->last->target[target] = to;
    ir_add_predecessor(module, to, from);
}

IrBlock *ir_split_edge(IrModule *module, IrBlock *from, uint32_t target)
{
    IrBlock *to = from->last->target[target];
    IrBlock *middle = ir_new_block_before(module, to);
    const uint32_t index = ir_edge_index(from, target);
    IrInstruction *jump = ir_append(module, middle, IR_JUMP, IR_VOID, 0, NULL);
    jump->target[0] = to;
    jump->line = jump->file = 0;
    from->last->target[target] = middle;
    to->predecessors[index] = middle;
    ir_add_predecessor(module, middle, from);
    return middle;
}

// ---- Blocks

static void unlink_block(IrBlock *block)
{
    IrFunction *function = block->function;
    if (block->previous)
        block->previous->next = block->next;
    else
        function->first = block->next;
    if (block->next)
        block->next->previous = block->previous;
    else
        function->last = block->previous;
    block->previous = block->next = NULL;
}

static void link_block_before(IrFunction *function, IrBlock *insert_before, IrBlock *block)
{
    IrBlock *previous = insert_before ? insert_before->previous : function->last;
    block->previous = previous;
    block->next = insert_before;
    if (previous)
        previous->next = block;
    else
        function->first = block;
    if (insert_before)
        insert_before->previous = block;
    else
        function->last = block;
}

void ir_move_block_before(IrBlock *insert_before, IrBlock *block)
{
    if (insert_before == block || (insert_before && insert_before->previous == block))
        return;
    unlink_block(block);
    link_block_before(block->function, insert_before, block);
}

IrBlock *ir_new_block_before(IrModule *module, IrBlock *insert_before)
{
    IrBlock *block = ir_new_block(module, insert_before->function);
    ir_move_block_before(insert_before, block);
    return block;
}

void ir_remove_block(IrBlock *block)
{
    for (uint32_t k = ir_target_count(block); k-- > 0;)
        ir_remove_predecessor(block->last->target[k], ir_edge_index(block, k));
    while (block->last)
        ir_remove(block->last);
    unlink_block(block);
}

static void mark_reachable(IrModule *module, IrFunction *function, bool *reached)
{
    IrBlock **stack = ir_scratch(module, (function->next_block + 1) * sizeof *stack);
    uint32_t count = 0;
    stack[count++] = function->first;
    reached[function->first->id] = true;
    while (count) {
        const IrBlock *block = stack[--count];
        for (uint32_t k = 0; k < ir_target_count(block); k++) {
            IrBlock *to = block->last->target[k];
            if (reached[to->id])
                continue;
            reached[to->id] = true;
            stack[count++] = to;
        }
    }
}

// Values of an unreachable block may be used in other unreachable blocks.
static void drop_uses(IrModule *module, IrBlock *block)
{
    for (IrInstruction *i = block->first; i; i = i->next)
        if (i->uses)
            ir_replace_uses(i, ir_undefined(module, block->function, i->type));
}

void ir_remove_unreachable(IrModule *module, IrFunction *function)
{
    bool *reached = ir_scratch(module, function->next_block);
    mark_reachable(module, function, reached);
    for (IrBlock *block = function->first; block; block = block->next)
        if (!reached[block->id])
            drop_uses(module, block);
    for (IrBlock *block = function->first, *next; block; block = next) {
        next = block->next;
        if (!reached[block->id])
            ir_remove_block(block);
    }
}

IrBlock *ir_split_block(IrModule *module, IrInstruction *first_moved)
{
    IrBlock *block = first_moved->block, *rest = ir_new_block(module, block->function);
    ir_move_block_before(block->next == rest ? NULL : block->next, rest);
    for (IrInstruction *i = first_moved, *next; i; i = next) {
        next = i->next;
        unlink(i);
        ir_link_last(rest, i);
    }
    for (uint32_t k = 0; k < ir_target_count(rest); k++) {
        IrBlock *to = rest->last->target[k];
        for (uint32_t p = 0; p < to->predecessor_count; p++)
            if (to->predecessors[p] == block)
                to->predecessors[p] = rest;
    }
    ir_jump(module, block, rest);
    block->last->line = block->last->file = 0;
    return rest;
}

uint32_t ir_count_phis(const IrBlock *block)
{
    uint32_t count = 0;
    for (const IrInstruction *phi = block->first; phi->op == IR_PHI; phi = phi->next)
        count++;
    return count;
}

IrInstruction *ir_first_not_phi(const IrBlock *block)
{
    IrInstruction *i = block->first;
    while (i && i->op == IR_PHI)
        i = i->next;
    return i;
}
