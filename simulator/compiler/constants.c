// constants.c: PTX that nvcc writes has constants as second operands only. Where one is the first operand of a subtraction, is
// stored, or is given to an operation that takes registers, it is moved to a register first, once in a block.
#include "compiler/intrinsics.h"
#include "compiler/passes.h"

typedef struct Cached { // the register of a constant in a block
    IrInstruction *constant, *move;
    struct Cached *next;
} Cached;

static bool takes_immediate(const IrInstruction *user, uint32_t operand)
{
    switch (user->op) {
    case IR_SUB:
    case IR_DIV:
    case IR_REM:
        return operand == 1;
    case IR_STORE:
    case IR_STORE_VECTOR:
        return operand == 0;
    case IR_SHL:
    case IR_SHR:
        return operand == 1;
    case IR_INTRINSIC: {
        const char *name = user->intrinsic->name, *ptx = user->intrinsic->ptx;
        (void)name;
        for (const char *at = ptx; at && *at; at++)
            if (at[0] == '%' && at[1] == (char)('1' + operand))
                return false;
        return true;
    }
    default:
        return true;
    }
}

static IrInstruction *move_of(IrModule *module, Cached **cache, IrInstruction *place, IrInstruction *constant)
{
    for (Cached *cached = *cache; cached; cached = cached->next)
        if (cached->constant == constant)
            return cached->move;
    Cached *made = ir_scratch(module, sizeof *made);
    made->constant = constant;
    made->move = ir_insert_before(module, place, IR_BITCAST, constant->type, 1, &constant);
    made->move->line = place->line;
    made->move->file = place->file;
    made->next = *cache;
    *cache = made;
    return made->move;
}

bool move_constants(IrModule *module, IrFunction *function)
{
    bool changed = false;
    for (IrBlock *block = function->first; block; block = block->next) {
        Cached *cache = NULL;
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
