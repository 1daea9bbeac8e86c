// dead_stores.c: dead store elimination. A store is removed if a later store in the same basic block overwrites its bytes and
// nothing in between may read them.
#include "compiler/memory.h"

enum { MAX_STEPS = 200 };

static bool is_store(const IrInstruction *i)
{
    return (i->op == IR_STORE || i->op == IR_STORE_VECTOR) && !(i->flags & IR_VOLATILE);
}

static bool covers(const IrFunction *function, const IrInstruction *later, const Location *location)
{
    if (!is_store(later))
        return false;
    Location written = location_of(later);
    if (alias(function, &written, location) == SAME_BYTES)
        return true;
    // Otherwise it covers the location if both have the same base: compares as if it wrote exactly these bytes.
    if (written.begin > location->begin || written.begin + written.bytes < location->begin + location->bytes)
        return false;
    written.begin = location->begin;
    written.bytes = location->bytes;
    return alias(function, &written, location) == SAME_BYTES;
}

static bool is_overwritten(const IrFunction *function, const IrInstruction *store)
{
    const Location location = location_of(store);
    uint32_t steps = 0;
    for (const IrInstruction *i = store->next; i && steps < MAX_STEPS; i = i->next, steps++) {
        if (covers(function, i, &location))
            return true;
        if (ir_is_terminator(i) || may_read(function, i, &location))
            return false;
    }
    return false;
}

bool remove_dead_stores(IrModule *module, IrFunction *function)
{
    (void)module;
    bool changed = false;
    for (IrBlock *block = function->first; block; block = block->next)
        for (IrInstruction *i = block->last, *previous; i; i = previous) {
            previous = i->previous;
            if (!is_store(i) || !is_overwritten(function, i))
                continue;
            ir_remove(i);
            changed = true;
        }
    return changed;
}
