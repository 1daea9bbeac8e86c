// shared_variables.c: removes accesses to shared variables. If no code reads a variable, its stores are removed. If all stores
// write one constant, loads yield that constant, because the value is undefined before the stores. The pass runs only once: nvcc
// keeps the stores to a variable whose loads later passes remove.
#include "compiler/passes.h"

enum { MAX_VARIABLES = 100 };

static bool has_symbol(const IrInstruction *i, const IrSymbol *symbol)
{
    return i->op == IR_SYMBOL && i->symbol == symbol;
}

static bool is_read(const IrFunction *function, const IrSymbol *symbol)
{
    for (const IrBlock *block = function->first; block; block = block->next)
        for (const IrInstruction *i = block->first; i; i = i->next)
            if (has_symbol(i, symbol) && !is_write_only(i, 0))
                return true;
    return false;
}

static bool is_read_anywhere(const IrModule *module, const IrSymbol *symbol)
{
    for (const IrFunction *function = module->functions; function; function = function->next)
        if (is_read(function, symbol))
            return true;
    return false;
}

// Whether only loads and stores of a scalar use the address, and all stores write one constant. Sets *constant to it.
static bool holds_constant(const IrInstruction *address, IrInstruction **constant)
{
    for (const IrUse *use = address->uses; use; use = use->next) {
        const IrInstruction *user = use->user;
        if ((user->op != IR_LOAD && user->op != IR_STORE) || use->operand != 0 || user->integer || (user->flags & IR_VOLATILE))
            return false;
        if (user->op == IR_LOAD)
            continue;
        if (user->operands[1]->op != IR_INTEGER || (*constant && *constant != user->operands[1]))
            return false;
        *constant = user->operands[1];
    }
    return true;
}

// The constant that all stores of the function to the variable write, or NULL.
static IrInstruction *only_constant(const IrFunction *function, const IrSymbol *symbol)
{
    IrInstruction *constant = NULL;
    for (const IrBlock *block = function->first; block; block = block->next)
        for (const IrInstruction *i = block->first; i; i = i->next)
            if (has_symbol(i, symbol) && !holds_constant(i, &constant))
                return NULL;
    return constant;
}

static bool replace_loads(const IrFunction *function, const IrSymbol *symbol, IrInstruction *constant)
{
    bool changed = false;
    for (IrBlock *block = function->first; block; block = block->next)
        for (IrInstruction *i = block->first, *next; i; i = next) {
            next = i->next;
            if (i->op != IR_LOAD || !has_symbol(i->operands[0], symbol) || i->type != constant->type)
                continue;
            ir_replace(i, constant);
            changed = true;
        }
    return changed;
}

static bool is_used_elsewhere(const IrModule *module, const IrFunction *here, const IrSymbol *symbol)
{
    for (const IrFunction *function = module->functions; function; function = function->next)
        for (const IrBlock *block = function != here ? function->first : NULL; block; block = block->next)
            for (const IrInstruction *i = block->first; i; i = i->next)
                if (has_symbol(i, symbol))
                    return true;
    return false;
}

static bool is_own_variable(const IrInstruction *i)
{
    return i->op == IR_SYMBOL && i->symbol->space == IR_SHARED && !i->symbol->dynamic && i->uses;
}

bool simplify_shared_variables(IrModule *module, IrFunction *function)
{
    bool changed = false;
    uint32_t count = 0;
    for (IrBlock *block = function->first; block; block = block->next)
        for (IrInstruction *i = block->first; i && count < MAX_VARIABLES; i = i->next) {
            if (!is_own_variable(i))
                continue;
            count++;
            IrInstruction *constant = only_constant(function, i->symbol);
            if (constant && !is_used_elsewhere(module, function, i->symbol))
                changed |= replace_loads(function, i->symbol, constant);
            if (!is_write_only(i, 0) || is_read_anywhere(module, i->symbol))
                continue;
            remove_stores(i);
            changed = true;
        }
    return changed;
}
