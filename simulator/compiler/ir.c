// ir.c: builds the intermediate representation. rewrite.c has further functions for passes, which change it.
#include "compiler/rewrite.h"

#include <string.h>

enum { INITIAL_CONSTANTS = 64 };

void *ir_allocate(IrModule *module, size_t bytes)
{
    return sim_allocate(module->arena, bytes);
}

void *ir_scratch(IrModule *module, size_t bytes)
{
    return sim_allocate(&module->scratch, bytes);
}

IrFunction *ir_new_function(IrModule *module, const char *name, IrType result)
{
    IrFunction *function = ir_allocate(module, sizeof *function);
    function->name = function->readable = name;
    function->result = result;
    function->line = module->line;
    function->file = module->file;
    IrFunction **end = &module->functions;
    while (*end)
        end = &(*end)->next;
    *end = function;
    return function;
}

IrBlock *ir_new_block(IrModule *module, IrFunction *function)
{
    IrBlock *block = ir_allocate(module, sizeof *block);
    block->id = function->next_block++;
    block->function = function;
    block->previous = function->last;
    if (function->last)
        function->last->next = block;
    else
        function->first = block;
    function->last = block;
    return block;
}

// ---- Uses

static void link_use(IrInstruction *value, IrUse *use)
{
    use->previous = NULL;
    use->next = value->uses;
    if (value->uses)
        value->uses->previous = use;
    value->uses = use;
}

static void unlink_use(IrInstruction *value, IrUse *use)
{
    if (use->previous)
        use->previous->next = use->next;
    else
        value->uses = use->next;
    if (use->next)
        use->next->previous = use->previous;
}

void ir_set_operand(IrInstruction *instruction, uint32_t index, IrInstruction *value)
{
    IrUse *use = &instruction->operand_uses[index];
    if (instruction->operands[index])
        unlink_use(instruction->operands[index], use);
    instruction->operands[index] = value;
    if (value)
        link_use(value, use);
}

static IrUse *new_operands(IrModule *module, IrInstruction *instruction, uint32_t capacity)
{
    IrUse *uses = ir_allocate(module, capacity * sizeof *uses);
    IrInstruction **operands = ir_allocate(module, capacity * sizeof *operands);
    for (uint32_t k = 0; k < instruction->operand_count; k++) {
        IrInstruction *value = instruction->operands[k];
        if (value)
            unlink_use(value, &instruction->operand_uses[k]);
        uses[k] = (IrUse){.user = instruction, .operand = k};
        operands[k] = value;
        if (value)
            link_use(value, &uses[k]);
    }
    instruction->operands = operands;
    return instruction->operand_uses = uses;
}

// The capacity doubles, so it is exhausted when the number of operands is a power of two. ir_new_instruction may have allocated more,
// which is then unused.
void ir_add_operand(IrModule *module, IrInstruction *instruction, IrInstruction *value)
{
    const uint32_t count = instruction->operand_count;
    if ((count & (count - 1)) == 0)
        new_operands(module, instruction, count ? 2 * count : 1);
    instruction->operand_count = count + 1;
    instruction->operands[count] = NULL;
    instruction->operand_uses[count] = (IrUse){.user = instruction, .operand = count};
    ir_set_operand(instruction, count, value);
}

// ---- Instructions

static uint32_t operand_capacity(uint32_t count)
{
    uint32_t capacity = 1;
    while (capacity < count)
        capacity *= 2;
    return capacity;
}

IrInstruction *ir_new_instruction(IrModule *module, IrFunction *function, IrOp op, IrType type, uint32_t count,
                                  IrInstruction *const *operands)
{
    IrInstruction *instruction = ir_allocate(module, sizeof *instruction);
    instruction->op = op;
    instruction->type = type;
    instruction->id = function->next_instruction++;
    instruction->line = module->line;
    instruction->file = module->file;
    if (!count)
        return instruction;
    instruction->operands = ir_allocate(module, operand_capacity(count) * sizeof *instruction->operands);
    instruction->operand_uses = ir_allocate(module, operand_capacity(count) * sizeof *instruction->operand_uses);
    instruction->operand_count = count;
    for (uint32_t k = 0; k < count; k++) {
        instruction->operand_uses[k] = (IrUse){.user = instruction, .operand = k};
        ir_set_operand(instruction, k, operands[k]);
    }
    return instruction;
}

void ir_link_before(IrInstruction *insert_before, IrInstruction *instruction)
{
    IrBlock *block = insert_before->block;
    instruction->block = block;
    instruction->next = insert_before;
    instruction->previous = insert_before->previous;
    if (insert_before->previous)
        insert_before->previous->next = instruction;
    else
        block->first = instruction;
    insert_before->previous = instruction;
}

void ir_link_last(IrBlock *block, IrInstruction *instruction)
{
    instruction->block = block;
    instruction->next = NULL;
    instruction->previous = block->last;
    if (block->last)
        block->last->next = instruction;
    else
        block->first = instruction;
    block->last = instruction;
}

IrInstruction *ir_append(IrModule *module, IrBlock *block, IrOp op, IrType type, uint32_t count, IrInstruction *const *operands)
{
    IrInstruction *instruction = ir_new_instruction(module, block->function, op, type, count, operands);
    ir_link_last(block, instruction);
    return instruction;
}

IrInstruction *ir_insert_before(IrModule *module, IrInstruction *insert_before, IrOp op, IrType type, uint32_t count, IrInstruction *const *operands)
{
    IrInstruction *instruction = ir_new_instruction(module, insert_before->block->function, op, type, count, operands);
    ir_link_before(insert_before, instruction);
    return instruction;
}

// ---- Constants, which are unique within a function

static uint64_t constant_bits(const IrInstruction *constant)
{
    uint64_t bits = 0;
    if (constant->op == IR_INTEGER)
        bits = (uint64_t)constant->integer;
    else if (constant->op == IR_REAL)
        memcpy(&bits, &constant->real, sizeof bits);
    return bits;
}

static uint32_t constant_hash(IrOp op, IrType type, uint64_t bits)
{
    const uint64_t mixed = (bits ^ (uint64_t)op << 56 ^ (uint64_t)type << 48) * 0x9e3779b97f4a7c15;
    return (uint32_t)(mixed >> 32);
}

static IrInstruction **constant_slot(const IrFunction *function, IrOp op, IrType type, uint64_t bits)
{
    const uint32_t mask = function->constant_capacity - 1;
    for (uint32_t k = constant_hash(op, type, bits) & mask;; k = (k + 1) & mask) {
        IrInstruction **slot = &function->constants[k];
        if (!*slot || ((*slot)->op == op && (*slot)->type == type && constant_bits(*slot) == bits))
            return slot;
    }
}

static void grow_constants(IrModule *module, IrFunction *function)
{
    IrInstruction **old = function->constants;
    const uint32_t count = function->constant_capacity;
    function->constant_capacity = count ? 2 * count : INITIAL_CONSTANTS;
    function->constants = ir_allocate(module, function->constant_capacity * sizeof *function->constants);
    for (uint32_t k = 0; k < count; k++)
        if (old[k])
            *constant_slot(function, old[k]->op, old[k]->type, constant_bits(old[k])) = old[k];
}

static IrInstruction *constant(IrModule *module, IrFunction *function, IrOp op, IrType type, uint64_t bits)
{
    if (2 * function->constant_count >= function->constant_capacity)
        grow_constants(module, function);
    IrInstruction **slot = constant_slot(function, op, type, bits);
    if (!*slot) {
        *slot = ir_new_instruction(module, function, op, type, 0, NULL);
        (*slot)->line = (*slot)->file = 0;
        memcpy(&(*slot)->integer, &bits, sizeof bits);
        function->constant_count++;
    }
    return *slot;
}

uint32_t ir_bits(IrType type)
{
    static const uint8_t bits[IR_TYPES] = {
        [IR_PRED] = 1, [IR_B8] = 8, [IR_B16] = 16, [IR_B32] = 32, [IR_B64] = 64,
        [IR_F16] = 16, [IR_BF16] = 16, [IR_F32] = 32, [IR_F64] = 64};
    return bits[type];
}

uint32_t ir_bytes(IrType type)
{
    return type == IR_PRED ? 1 : ir_bits(type) / 8;
}

int64_t ir_sign_extended(IrType type, int64_t value)
{
    const uint32_t bits = ir_bits(type);
    if (bits == 1)
        return value & 1;
    if (bits >= 64)
        return value;
    return (int64_t)((uint64_t)value << (64 - bits)) >> (64 - bits);
}

IrInstruction *ir_integer(IrModule *module, IrFunction *function, IrType type, int64_t value)
{
    return constant(module, function, IR_INTEGER, type, (uint64_t)ir_sign_extended(type, value));
}

IrInstruction *ir_real(IrModule *module, IrFunction *function, IrType type, double value)
{
    const double rounded = type == IR_F64 ? value : (double)(float)value;
    uint64_t bits;
    memcpy(&bits, &rounded, sizeof bits);
    return constant(module, function, IR_REAL, type, bits);
}

IrInstruction *ir_undefined(IrModule *module, IrFunction *function, IrType type)
{
    return constant(module, function, IR_UNDEFINED, type, 0);
}

// ---- Terminators

void ir_add_predecessor(IrModule *module, IrBlock *block, IrBlock *predecessor)
{
    const uint32_t count = block->predecessor_count;
    if ((count & (count - 1)) == 0) { // full, as in ir_add_operand
        IrBlock **more = ir_allocate(module, (count ? 2 * count : 1) * sizeof(IrBlock *));
        if (count)
            memcpy(more, block->predecessors, count * sizeof(IrBlock *));
        block->predecessors = more;
    }
    block->predecessors[block->predecessor_count++] = predecessor;
}

void ir_jump(IrModule *module, IrBlock *from, IrBlock *to)
{
    ir_append(module, from, IR_JUMP, IR_VOID, 0, NULL)->target[0] = to;
    ir_add_predecessor(module, to, from);
}

void ir_branch(IrModule *module, IrBlock *from, IrInstruction *condition, IrBlock *if_true, IrBlock *if_false)
{
    IrInstruction *branch = ir_append(module, from, IR_BRANCH, IR_VOID, 1, &condition);
    branch->target[0] = if_true;
    branch->target[1] = if_false;
    ir_add_predecessor(module, if_true, from);
    ir_add_predecessor(module, if_false, from);
}

void ir_return(IrModule *module, IrBlock *from, IrInstruction *value)
{
    ir_append(module, from, IR_RETURN, IR_VOID, value != NULL, &value);
}

void ir_unreachable(IrModule *module, IrBlock *from)
{
    ir_append(module, from, IR_UNREACHABLE, IR_VOID, 0, NULL);
}

bool ir_is_terminator(const IrInstruction *instruction)
{
    return instruction->op >= IR_JUMP;
}

bool ir_is_terminated(const IrBlock *block)
{
    return block->last && ir_is_terminator(block->last);
}

uint32_t ir_target_count(const IrBlock *block)
{
    if (!block->last)
        return 0;
    return block->last->op == IR_JUMP ? 1 : block->last->op == IR_BRANCH ? 2 : 0;
}
