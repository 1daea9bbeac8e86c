// read_only.c: loads through a __restrict__ argument that the kernel never writes through read memory that does not change while it
// runs: such loads use the read-only cache (ld.global.nc), and may be moved and merged.
#include "compiler/intrinsics.h"
#include "compiler/passes.h"

enum { MAX_DEPTH = 16 };

// Whether only loads, copies from it and comparisons use the pointer and the addresses derived from it.
static bool is_only_read(const IrInstruction *pointer, uint32_t depth)
{
    if (depth > MAX_DEPTH)
        return false;
    for (const IrUse *use = pointer->uses; use; use = use->next) {
        const IrInstruction *user = use->user;
        switch (user->op) {
        case IR_LOAD:
        case IR_LOAD_VECTOR:
            continue;
        case IR_OFFSET:
        case IR_FROM_GENERIC:
        case IR_TO_GENERIC:
            if (use->operand == 0 && is_only_read(user, depth + 1))
                continue;
            return false;
        case IR_COPY:
            if (use->operand == 1)
                continue;
            return false;
        case IR_COMPARE:
            continue;
        default:
            return false;
        }
    }
    return true;
}

static bool mark_loads(IrInstruction *pointer)
{
    bool changed = false;
    for (const IrUse *use = pointer->uses; use; use = use->next) {
        IrInstruction *user = use->user;
        const bool is_load = (user->op == IR_LOAD || user->op == IR_LOAD_VECTOR) && user->space == IR_GLOBAL && !(user->flags & (IR_VOLATILE | IR_READ_ONLY));
        if (is_load)
            user->flags |= IR_READ_ONLY;
        changed |= is_load;
        if (user->op == IR_OFFSET || user->op == IR_FROM_GENERIC || user->op == IR_TO_GENERIC)
            changed |= mark_loads(user);
    }
    return changed;
}

bool mark_read_only(IrModule *module, IrFunction *function)
{
    bool changed = false;
    (void)module;
    for (IrBlock *block = function->first; block; block = block->next)
        for (IrInstruction *i = block->first; i; i = i->next)
            if (i->op == IR_ARGUMENT && function->arguments[i->index].restrict_pointer && is_only_read(i, 0))
                changed |= mark_loads(i);
    return changed;
}
