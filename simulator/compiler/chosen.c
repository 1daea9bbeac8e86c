// chosen.c: a load through a phi or select of the addresses of variables, as from std::min of references, becomes a phi or select of
// loads, so that the variables can be promoted. Loads of local variables can be speculated.
#include "compiler/intrinsics.h"
#include "compiler/passes.h"

enum { MAX_CHAIN = 16, MAX_WALK = 100 };

// Whether the pointer is a local variable plus a constant offset, and the access is in bounds.
static bool is_variable(const IrInstruction *pointer, int64_t begin, uint32_t bytes)
{
    for (uint32_t k = 0; k < MAX_CHAIN && pointer->op == IR_OFFSET && pointer->operand_count == 1; k++) {
        begin += pointer->integer;
        pointer = pointer->operands[0];
    }
    return pointer->op == IR_ALLOCA && begin >= 0 && begin + bytes <= pointer->memory_bytes;
}

// The phi or select from which an address is computed by a constant offset; or NULL.
static IrInstruction *choice_of(const IrInstruction *load, int64_t *begin)
{
    IrInstruction *pointer = load->operands[0];
    *begin = load->integer;
    for (uint32_t k = 0; k < MAX_CHAIN && pointer->op == IR_OFFSET && pointer->operand_count == 1; k++) {
        *begin += pointer->integer;
        pointer = pointer->operands[0];
    }
    return pointer->op == IR_PHI || pointer->op == IR_SELECT ? pointer : NULL;
}

static bool is_choice(const IrInstruction *load)
{
    if ((load->op != IR_LOAD && load->op != IR_LOAD_VECTOR) || (load->flags & IR_VOLATILE) || load->space != IR_LOCAL)
        return false;
    int64_t begin;
    const IrInstruction *pointer = choice_of(load, &begin);
    const uint32_t bytes = ir_bytes(load->memory) * (load->count ? load->count : 1);
    for (uint32_t k = pointer && pointer->op == IR_SELECT; pointer && k < pointer->operand_count; k++)
        if (!is_variable(pointer->operands[k], begin, bytes))
            return false;
    return pointer != NULL;
}

static IrInstruction *load_at(IrModule *module, IrFunction *function, const IrInstruction *load, IrInstruction *pointer, int64_t begin, IrInstruction *insert_before)
{
    IrInstruction *copy = ir_clone(module, function, load);
    ir_link_before(insert_before, copy);
    ir_set_operand(copy, 0, pointer);
    copy->integer = begin;
    return copy;
}

// Whether no write precedes the load in its block.
static bool is_first_access(const IrInstruction *load)
{
    uint32_t steps = 0;
    for (const IrInstruction *i = load->previous; i && i->op != IR_PHI; i = i->previous)
        if (++steps > MAX_WALK || (ir_effects(i) & (INTRINSIC_WRITES | INTRINSIC_ORDERS)))
            return false;
    return true;
}

static bool choose_value(IrModule *module, IrFunction *function, IrInstruction *load)
{
    int64_t begin;
    IrInstruction *pointer = choice_of(load, &begin);
    if (pointer->op == IR_SELECT) {
        IrInstruction *a = load_at(module, function, load, pointer->operands[1], begin, load);
        IrInstruction *b = load_at(module, function, load, pointer->operands[2], begin, load);
        ir_replace(load, ir_select(module, load, pointer->operands[0], a, b));
        return true;
    }
    if (pointer->block != load->block || !is_first_access(load))
        return false;
    IrInstruction *phi = ir_phi(module, load->block, load->type);
    for (uint32_t k = 0; k < pointer->operand_count; k++)
        ir_add_operand(module, phi, load_at(module, function, load, pointer->operands[k], begin, load->block->predecessors[k]->last));
    ir_replace(load, phi);
    return true;
}

// Replaces a vector load by loads of its elements.
static void scalarise(IrModule *module, IrInstruction *vector)
{
    while (vector->uses) {
        IrInstruction *element = vector->uses->user;
        IrInstruction *load = ir_insert_before(module, vector, IR_LOAD, element->type, 1, vector->operands);
        load->memory = vector->memory;
        load->space = vector->space;
        load->flags = vector->flags;
        load->integer = vector->integer + element->index * (ir_bits(vector->memory) / 8);
        ir_replace(element, load);
    }
    ir_remove(vector);
}

bool choose_values(IrModule *module, IrFunction *function)
{
    bool changed = false;
    for (IrBlock *block = function->first; block; block = block->next)
        for (IrInstruction *i = block->first, *next; i; i = next) {
            next = i->next;
            if (i->op != IR_LOAD_VECTOR || !is_choice(i))
                continue;
            while (next && next->op == IR_ELEMENT && next->operands[0] == i)
                next = next->next;
            scalarise(module, i);
            changed = true;
        }
    for (IrBlock *block = function->first; block; block = block->next)
        for (IrInstruction *i = block->first, *next; i; i = next) {
            next = i->next;
            if (i->op == IR_LOAD && is_choice(i))
                changed |= choose_value(module, function, i);
        }
    return changed;
}
