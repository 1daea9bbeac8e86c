// sink.c: an instruction whose value only one path needs is moved to that path, so that the others do not compute it. It moves to
// the block that dominates all its uses, but not into a loop, and a load never moves past a store that may write its memory.
#include "compiler/intrinsics.h"
#include "compiler/memory.h"

enum { MAX_ROUNDS = 8, MAX_WALK = 200 };

typedef struct Sinking {
    IrModule *module;
    IrFunction *function;
    const Dominators *dominators;
    const Loops *loops;
} Sinking;

static uint32_t depth_of(const Sinking *s, const IrBlock *block)
{
    const Loop *loop = s->loops->innermost[block->id];
    return loop ? loop->depth : 0;
}

// The block that dominates all uses.
static IrBlock *block_of_uses(const Sinking *s, const IrInstruction *i)
{
    IrBlock *common = NULL;
    for (const IrUse *use = i->uses; use; use = use->next) {
        const IrInstruction *user = use->user;
        IrBlock *at = user->op == IR_PHI ? user->block->predecessors[use->operand] : user->block;
        if (s->dominators->number[at->id] == UINT32_MAX)
            return NULL;
        common = common ? common_dominator(s->dominators, common, at) : at;
        if (common == i->block)
            return NULL;
    }
    return common;
}

static bool can_sink(const IrInstruction *i)
{
    if (i->op == IR_PHI || i->op == IR_ALLOCA || i->op == IR_ARGUMENT || i->op == IR_ELEMENT || i->op == IR_LOAD_VECTOR || ir_is_terminator(i))
        return false;
    return ir_is_pure(i) || (i->op == IR_LOAD && !(i->flags & IR_VOLATILE));
}

// Whether an instruction between the load and the end of its block may write the load's memory.
static bool passes_write(const Sinking *s, const IrInstruction *load)
{
    const Location location = location_of(load);
    uint32_t steps = 0;
    for (const IrInstruction *i = load->next; i; i = i->next)
        if (++steps > MAX_WALK || may_write(s->function, i, &location))
            return true;
    return false;
}

// The lowest block among `target` and its dominators that is in no deeper loop. A load moves only to a block whose sole
// predecessor is the load's block.
static IrBlock *allowed_block(const Sinking *s, const IrInstruction *i, IrBlock *target)
{
    const uint32_t depth = depth_of(s, i->block);
    const Loop *own = s->loops->innermost[i->block->id];
    while (target != i->block && (depth_of(s, target) > depth || (s->loops->innermost[target->id] != own && depth_of(s, target) >= depth && depth)))
        target = s->dominators->parent[target->id];
    if (!ir_is_pure(i)) {
        while (target != i->block && s->dominators->parent[target->id] != i->block)
            target = s->dominators->parent[target->id];
        if (target != i->block && (target->predecessor_count != 1 || depth_of(s, target) != depth || passes_write(s, i)))
            return i->block;
    }
    return target;
}

static bool sink(const Sinking *s, IrInstruction *i)
{
    IrBlock *target = i->uses && can_sink(i) ? block_of_uses(s, i) : NULL;
    if (!target)
        return false;
    target = allowed_block(s, i, target);
    if (target == i->block)
        return false;
    ir_move_before(ir_first_not_phi(target), i);
    return true;
}

bool sink_values(IrModule *module, IrFunction *function)
{
    Sinking s = {.module = module, .function = function, .dominators = dominators_of(module, function)};
    s.loops = loops_of(module, function, s.dominators);
    bool changed = false;
    for (uint32_t round = 0; round < MAX_ROUNDS; round++) {
        bool again = false;
        for (uint32_t k = s.dominators->count; k-- > 0;)
            for (IrInstruction *i = s.dominators->order[k]->last, *previous; i; i = previous) {
                previous = i->previous;
                again |= sink(&s, i);
            }
        changed |= again;
        if (!again)
            break;
    }
    return changed;
}
