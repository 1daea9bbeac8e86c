// constants.c: in nvcc's PTX only second operands are immediates. A constant that is the first operand of a subtraction, is stored, or
// is an operand that must be a register, is moved to a register first, once in each block. So is an operand of fma() and fmaf(), but not
// of a multiplication and addition that have become an fma.
#include "compiler/intrinsics.h"
#include "compiler/passes.h"

#include <stdlib.h>

enum { MAX_WALK = 200, MAX_COPIES = 64 };

typedef struct CachedMove { // the move of a constant in a block
    IrInstruction *constant, *move;
    struct CachedMove *next;
} CachedMove;

static bool takes_immediate(const IrInstruction *user, uint32_t operand)
{
    switch (user->op) {
    case IR_SUB:
    case IR_REM:
        return operand == 1;
    case IR_DIV:
        return operand == 1 || ir_is_reciprocal(user);
    case IR_MIN:
    case IR_MAX:
        return operand == 1 || !ir_is_float_type(user->type);
    case IR_FMA:
        return !(user->flags & IR_EXACT);
    case IR_STORE:
    case IR_STORE_VECTOR:
        return operand == 0;
    case IR_SHL:
    case IR_SHR:
        return operand == 1;
    case IR_INTRINSIC:
        for (const char *at = user->intrinsic->ptx; at && *at; at++)
            if (at[0] == '%' && at[1] == (char)('1' + operand))
                return false;
        return true;
    default:
        return true;
    }
}

static IrInstruction *move_of(IrModule *module, CachedMove **cache, IrInstruction *insert_before, IrInstruction *constant)
{
    for (CachedMove *cached = *cache; cached; cached = cached->next)
        if (cached->constant == constant)
            return cached->move;
    CachedMove *created = ir_scratch(module, sizeof *created);
    created->constant = constant;
    created->move = ir_insert_before(module, insert_before, IR_BITCAST, constant->type, 1, &constant);
    created->move->line = insert_before->line;
    created->move->file = insert_before->file;
    created->next = *cache;
    *cache = created;
    return created->move;
}

static bool comes_before(const IrInstruction *a, const IrInstruction *b)
{
    uint32_t steps = 0;
    for (const IrInstruction *i = b->previous; i && steps++ < MAX_WALK; i = i->previous)
        if (i == a)
            return true;
    return false;
}

typedef struct NumberedUse {
    IrUse *use;
    uint32_t number; // number of its block in reverse postorder
} NumberedUse;

static int compare_numbers(const void *one, const void *other)
{
    const NumberedUse *a = one, *b = other;
    return a->number < b->number ? -1 : a->number > b->number;
}

static void sort_uses(IrModule *module, const Dominators *d, IrUse **uses, uint32_t count)
{
    NumberedUse *numbered = ir_scratch(module, (count + 1) * sizeof *numbered);
    for (uint32_t k = 0; k < count; k++)
        numbered[k] = (NumberedUse){uses[k], d->number[uses[k]->user->block->id]};
    qsort(numbered, count, sizeof *numbered, compare_numbers);
    for (uint32_t k = 0; k < count; k++)
        uses[k] = numbered[k].use;
}

// Copies the address of a variable, a constant, into the blocks that use it, so that it is not kept in a register across other code.
// Blocks dominated by one of these share its copy.
static void place_symbol(IrModule *module, const Dominators *d, IrInstruction *symbol)
{
    uint32_t count = 0, copies = 0;
    for (const IrUse *use = symbol->uses; use; use = use->next)
        count++;
    IrUse **uses = ir_scratch(module, (count + 1) * sizeof *uses);
    IrInstruction **created = ir_scratch(module, (count + 1) * sizeof *created);
    count = 0;
    for (IrUse *use = symbol->uses; use; use = use->next)
        if (use->user->op != IR_PHI && d->number[use->user->block->id] != UINT32_MAX)
            uses[count++] = use;
    sort_uses(module, d, uses, count);
    for (uint32_t k = 0; k < count; k++) {
        IrInstruction *user = uses[k]->user, *found = NULL;
        for (uint32_t c = 0; c < copies && c < MAX_COPIES && !found; c++)
            if (block_dominates(d, created[c]->block, user->block))
                found = created[c];
        if (!found) {
            found = created[copies++] = ir_clone(module, symbol->block->function, symbol);
            IrInstruction *insert_before = user;
            for (uint32_t j = k + 1; j < count && uses[j]->user->block == user->block; j++)
                if (comes_before(uses[j]->user, insert_before))
                    insert_before = uses[j]->user;
            ir_link_before(insert_before, found);
        }
        ir_set_operand(user, uses[k]->operand, found);
    }
    if (!symbol->uses)
        ir_remove(symbol);
}

bool sink_symbols(IrModule *module, IrFunction *function)
{
    const Dominators *d = dominators_of(module, function);
    uint32_t count = 0;
    for (const IrBlock *block = function->first; block; block = block->next)
        for (const IrInstruction *i = block->first; i; i = i->next)
            count += i->op == IR_SYMBOL;
    IrInstruction **symbols = ir_scratch(module, (count + 1) * sizeof *symbols);
    count = 0;
    for (IrBlock *block = function->first; block; block = block->next)
        for (IrInstruction *i = block->first; i; i = i->next)
            if (i->op == IR_SYMBOL)
                symbols[count++] = i;
    for (uint32_t k = 0; k < count; k++)
        place_symbol(module, d, symbols[k]);
    return count > 0;
}

bool move_constants(IrModule *module, IrFunction *function)
{
    bool changed = false;
    for (IrBlock *block = function->first; block; block = block->next) {
        CachedMove *cache = NULL;
        for (IrInstruction *i = block->first; i; i = i->next) {
            if (i->op == IR_PHI || i->op == IR_BITCAST)
                continue;
            for (uint32_t k = 0; k < i->operand_count; k++)
                if ((i->operands[k]->op == IR_INTEGER || i->operands[k]->op == IR_REAL) && i->operands[k]->type != IR_PRED && !takes_immediate(i, k)) {
                    ir_set_operand(i, k, move_of(module, &cache, i, i->operands[k]));
                    changed = true;
                }
        }
    }
    return changed;
}
