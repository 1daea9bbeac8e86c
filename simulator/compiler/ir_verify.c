// ir_verify.c: checks the invariants on which all passes rely. Tests run it after each pass.
#include "compiler/dominators.h"
#include "compiler/intrinsics.h"

#include <stdarg.h>
#include <stdlib.h>

typedef struct Verifier {
    IrModule *module;
    const IrFunction *function;
    const Dominators *dominators;
    uint32_t *position; // indexed by an instruction's id: 1-based position in its block; 0: in no block
    const char *problem;
} Verifier;

__attribute__((format(printf, 2, 3))) static void report(Verifier *v, const char *format, ...)
{
    if (v->problem)
        return;
    char *text = ir_allocate(v->module, 256);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, 256, format, arguments);
    va_end(arguments);
    v->problem = text;
}

static void check_edges(Verifier *v, const IrBlock *block)
{
    for (uint32_t k = 0; k < ir_target_count(block); k++) {
        const IrBlock *to = block->last->target[k];
        uint32_t entries = 0, edges = 0;
        for (uint32_t p = 0; p < to->predecessor_count; p++)
            entries += to->predecessors[p] == block;
        for (uint32_t t = 0; t < ir_target_count(block); t++)
            edges += block->last->target[t] == to;
        if (entries != edges)
            report(v, "b%u has %u entries for %u edges from b%u", to->id, entries, edges, block->id);
    }
    for (uint32_t p = 0; p < block->predecessor_count; p++) {
        const IrBlock *from = block->predecessors[p];
        bool reaches = false;
        for (uint32_t t = 0; t < ir_target_count(from); t++)
            reaches |= from->last->target[t] == block;
        if (!reaches)
            report(v, "b%u is no predecessor of b%u", from->id, block->id);
    }
}

static void check_uses(Verifier *v, const IrInstruction *i)
{
    for (uint32_t k = 0; k < i->operand_count; k++)
        if (!i->operands[k])
            report(v, "%%%u has no operand %u", i->id, k);
    for (const IrUse *use = i->uses; use; use = use->next)
        if (use->user->operands[use->operand] != i)
            report(v, "%%%u has a use that is none, in %%%u", i->id, use->user->id);
}

// Whether the value is available in `block`: at position `before`, or at the block's end if `before` is 0.
static bool is_available(const Verifier *v, const IrInstruction *value, const IrBlock *block, uint32_t before)
{
    if (ir_is_constant(value))
        return true;
    if (!value->block || !v->position[value->id])
        return false;
    if (value->block == block)
        return !before || v->position[value->id] < before;
    return block_dominates(v->dominators, value->block, block);
}

static void check_dominance(Verifier *v, const IrInstruction *i)
{
    for (uint32_t k = 0; k < i->operand_count; k++) {
        const IrBlock *block = i->op == IR_PHI ? i->block->predecessors[k] : i->block;
        const uint32_t before = i->op == IR_PHI ? 0 : v->position[i->id];
        if (v->dominators->number[block->id] != UINT32_MAX && !is_available(v, i->operands[k], block, before))
            report(v, "%%%u is used before it is computed, in %%%u of b%u", i->operands[k]->id, i->id, i->block->id);
    }
}

static bool has_operands_of(const IrInstruction *i, uint32_t first, uint32_t count, IrType type)
{
    if (i->operand_count != count)
        return false;
    for (uint32_t k = first; k < count; k++)
        if (i->operands[k]->type != type)
            return false;
    return true;
}

static bool is_pointer_type(IrType type)
{
    return type == IR_B32 || type == IR_B64;
}

static bool has_right_types(const IrInstruction *i)
{
    switch (i->op) {
    case IR_ADD: case IR_SUB: case IR_MUL: case IR_MUL_HIGH: case IR_DIV: case IR_REM:
    case IR_AND: case IR_OR: case IR_XOR: case IR_MIN: case IR_MAX:
        return has_operands_of(i, 0, 2, i->type);
    case IR_SHL: case IR_SHR:
        return i->operand_count == 2 && i->operands[0]->type == i->type && i->operands[1]->type == IR_B32;
    case IR_NEG: case IR_NOT: case IR_ABS:
        return has_operands_of(i, 0, 1, i->type);
    case IR_FMA:
        return has_operands_of(i, 0, 3, i->type);
    case IR_MUL_WIDE:
        return i->type == IR_B64 && has_operands_of(i, 0, 2, IR_B32);
    case IR_COMPARE:
        return i->type == IR_PRED && i->operand_count == 2 && i->operands[0]->type == i->operands[1]->type;
    case IR_SELECT:
        return i->operand_count == 3 && i->operands[0]->type == IR_PRED && has_operands_of(i, 1, 3, i->type);
    case IR_BITCAST:
        return i->operand_count == 1 && ir_bits(i->operands[0]->type) == ir_bits(i->type);
    case IR_PHI:
        return has_operands_of(i, 0, i->block->predecessor_count, i->type);
    case IR_OFFSET:
        return (i->operand_count == 1 || i->operand_count == 2) && i->operands[0]->type == i->type && is_pointer_type(i->type);
    case IR_LOAD: case IR_LOAD_VECTOR: case IR_STORE: case IR_STORE_VECTOR:
        return i->operand_count >= 1 && i->operands[0]->type == (i->space == IR_SHARED ? IR_B32 : IR_B64);
    case IR_BRANCH:
        return i->operand_count == 1 && i->operands[0]->type == IR_PRED;
    case IR_INTRINSIC:
        return i->intrinsic != NULL;
    default:
        return true;
    }
}

static void check_block(Verifier *v, const IrBlock *block)
{
    if (!ir_is_terminated(block))
        report(v, "b%u has no terminator", block->id);
    check_edges(v, block);
    bool after_phis = false;
    for (const IrInstruction *i = block->first; i && !v->problem; i = i->next) {
        if (i->block != block || (i->next && i->next->previous != i))
            report(v, "%%%u is linked wrongly", i->id);
        if (i->next && ir_is_terminator(i))
            report(v, "b%u has a terminator before its end", block->id);
        if (i->op == IR_PHI && after_phis)
            report(v, "%%%u is a phi after other instructions", i->id);
        after_phis |= i->op != IR_PHI;
        check_uses(v, i);
        if (!v->problem)
            check_dominance(v, i);
        if (!v->problem && !has_right_types(i))
            report(v, "%%%u of b%u has wrong types or operands", i->id, block->id);
    }
}

static void number_instructions(Verifier *v)
{
    v->position = ir_scratch(v->module, (v->function->next_instruction + 1) * sizeof *v->position);
    for (const IrBlock *block = v->function->first; block; block = block->next) {
        uint32_t position = 0;
        for (const IrInstruction *i = block->first; i; i = i->next)
            v->position[i->id] = ++position;
    }
}

const char *ir_verify(IrModule *module, const IrFunction *function)
{
    Verifier v = {.module = module, .function = function};
    if (!function->first)
        return "no blocks";
    for (const IrBlock *block = function->first; block; block = block->next)
        if (!ir_is_terminated(block))
            report(&v, "b%u has no terminator", block->id);
    if (v.problem)
        return v.problem;
    number_instructions(&v);
    v.dominators = dominators_of(module, (IrFunction *)function);
    for (const IrBlock *block = function->first; block && !v.problem; block = block->next)
        check_block(&v, block);
    return v.problem;
}
