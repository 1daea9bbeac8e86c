// demote.c: demotes values to local variables (LLVM: reg2mem). Passes that clone blocks use this: promote.c then inserts the phis that the
// copies need.
#include "compiler/passes.h"

static IrInstruction *access_variable(IrModule *module, IrInstruction *insert_before, IrInstruction *variable, IrType type, IrInstruction *stored)
{
    IrInstruction *operands[] = {variable, stored};
    IrInstruction *access = ir_insert_before(module, insert_before, stored ? IR_STORE : IR_LOAD, stored ? IR_VOID : type, stored ? 2 : 1, operands);
    access->memory = type;
    access->space = IR_LOCAL;
    access->line = access->file = 0;
    return access;
}

IrInstruction *new_variable(IrModule *module, IrFunction *function)
{
    IrInstruction *variable = ir_insert_before(module, ir_first_not_phi(function->first), IR_ALLOCA, IR_B64, 0, NULL);
    variable->space = IR_LOCAL;
    variable->memory_bytes = variable->alignment = 8;
    variable->line = variable->file = 0;
    return variable;
}

void store_variable(IrModule *module, IrInstruction *insert_before, IrInstruction *variable, IrInstruction *value)
{
    access_variable(module, insert_before, variable, value->type, value);
}

IrInstruction *load_variable(IrModule *module, IrInstruction *insert_before, IrInstruction *variable, IrType type)
{
    return access_variable(module, insert_before, variable, type, NULL);
}

void load_for_use(IrModule *module, IrInstruction *variable, IrType type, IrUse *use)
{
    IrInstruction *user = use->user;
    IrInstruction *insert_before = user->op == IR_PHI ? user->block->predecessors[use->operand]->last : user;
    ir_set_operand(user, use->operand, load_variable(module, insert_before, variable, type));
}

// The first instruction of its block before which a use of the value may be inserted.
IrInstruction *insertion_point_after(const IrInstruction *value)
{
    if (value->op == IR_PHI)
        return ir_first_not_phi(value->block);
    return value->next;
}
