// dce.c: dead code elimination. Removes instructions without effects whose values are unused, including cycles of phis: an instruction
// is live only if one with an effect uses it, directly or indirectly.
#include "compiler/passes.h"

typedef struct Marking {
    bool *is_needed; // indexed by an instruction's id
    IrInstruction **stack;
    uint32_t depth;
} Marking;

static void mark(Marking *m, IrInstruction *i)
{
    if (m->is_needed[i->id])
        return;
    m->is_needed[i->id] = true;
    m->stack[m->depth++] = i;
}

// A store of an undefined value may leave what is there.
static bool is_undefined_store(const IrInstruction *i)
{
    return i->op == IR_STORE && i->operands[1]->op == IR_UNDEFINED && !(i->flags & IR_VOLATILE);
}

static void mark_needed(Marking *m, const IrFunction *function)
{
    for (const IrBlock *block = function->first; block; block = block->next)
        for (IrInstruction *i = block->first; i; i = i->next)
            if (!ir_is_removable(i) && !is_undefined_store(i))
                mark(m, i);
    while (m->depth) {
        const IrInstruction *i = m->stack[--m->depth];
        for (uint32_t k = 0; k < i->operand_count; k++)
            mark(m, i->operands[k]);
    }
}

static bool remove_unneeded(const Marking *m, IrFunction *function)
{
    bool changed = false;
    for (IrBlock *block = function->first; block; block = block->next) // drops the operands first, because of cycles
        for (IrInstruction *i = block->first; i; i = i->next)
            for (uint32_t k = 0; !m->is_needed[i->id] && k < i->operand_count; k++)
                ir_set_operand(i, k, NULL);
    for (IrBlock *block = function->first; block; block = block->next)
        for (IrInstruction *i = block->first, *next; i; i = next) {
            next = i->next;
            if (m->is_needed[i->id])
                continue;
            i->operand_count = 0;
            ir_remove(i);
            changed = true;
        }
    return changed;
}

bool is_write_only(const IrInstruction *pointer, uint32_t depth)
{
    for (const IrUse *use = pointer->uses; use; use = use->next) {
        const IrInstruction *user = use->user;
        const bool is_store = (user->op == IR_STORE || user->op == IR_STORE_VECTOR) && use->operand == 0 && !(user->flags & IR_VOLATILE);
        if (!is_store && !(user->op == IR_OFFSET && depth < 8 && is_write_only(user, depth + 1)))
            return false;
    }
    return true;
}

void remove_stores(IrInstruction *pointer)
{
    while (pointer->uses) {
        IrInstruction *user = pointer->uses->user;
        if (user->op == IR_OFFSET)
            remove_stores(user);
        ir_remove(user);
    }
}

static bool remove_dead_variables(IrModule *module, IrFunction *function)
{
    uint32_t count;
    bool changed = false;
    IrInstruction **variables = list_variables(module, function, &count);
    for (uint32_t k = 0; k < count; k++)
        if (variables[k]->uses && is_write_only(variables[k], 0)) {
            remove_stores(variables[k]);
            changed = true;
        }
    return changed;
}

bool remove_dead_code(IrModule *module, IrFunction *function)
{
    bool changed = remove_dead_variables(module, function);
    Marking m = {.is_needed = ir_scratch(module, function->next_instruction)};
    m.stack = ir_scratch(module, (function->next_instruction + 1) * sizeof *m.stack);
    mark_needed(&m, function);
    changed |= remove_unneeded(&m, function);
    return changed;
}
