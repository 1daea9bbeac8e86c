// sink.c: an instruction whose value only one path needs is moved to that path, so that the others do not compute it. It moves to
// the block that dominates all its uses, but not into a loop, and a load never moves past a store that may write its memory.
// As in NVVM, the conversion of a pointer to an address space (cvta) and what is loaded move only if one block has all uses, and no
// instruction moves if more than one value would have to be kept in a register for it, which its result replaces.
#include "compiler/intrinsics.h"
#include "compiler/memory.h"

enum { MAX_ROUNDS = 8, MAX_WALK = 200, MAX_GROUP = 64 };

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

static bool is_loaded(const IrInstruction *i)
{
    return i->op == IR_LOAD && i->space != IR_PARAMETER;
}

// Whether the instruction moves only if one block has all its uses: a pointer's conversion, a load, and what is computed from a load in
// the same block. Other values may have been hoisted out of a loop to before the branch that guards it, unlike in NVVM, so they move back.
static bool needs_sole_block(const IrInstruction *i)
{
    bool found = i->op == IR_FROM_GENERIC || is_loaded(i);
    for (uint32_t k = 0; k < i->operand_count; k++)
        found |= is_loaded(i->operands[k]) && i->operands[k]->block == i->block;
    return found;
}

// The block that dominates all uses; NULL if the instruction must not leave its own block.
static IrBlock *block_of_uses(const Sinking *s, const IrInstruction *i)
{
    IrBlock *common = NULL;
    for (const IrUse *use = i->uses; use; use = use->next) {
        const IrInstruction *user = use->user;
        IrBlock *at = user->op == IR_PHI ? user->block->predecessors[use->operand] : user->block;
        if (s->dominators->number[at->id] == UINT32_MAX)
            return NULL;
        if (common && common != at && needs_sole_block(i))
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

// ---- Registers

static bool is_used_outside(const IrUse *use, const IrBlock *block)
{
    const IrInstruction *user = use->user;
    return user->op == IR_PHI ? user->block->predecessors[use->operand] != block : user->block != block;
}

static bool has_only_outside_uses(const IrInstruction *i)
{
    for (const IrUse *use = i->uses; use; use = use->next)
        if (!is_used_outside(use, i->block))
            return false;
    return i->uses != NULL;
}

typedef struct Group { // an instruction, and those of its block that only the group needs, so that they can move with it; they are marked
    IrInstruction *members[MAX_GROUP];
    uint32_t count;
} Group;

static void add_member(Group *g, IrInstruction *i)
{
    i->mark = 1;
    g->members[g->count++] = i;
}

static bool only_group_needs(const IrInstruction *i)
{
    for (const IrUse *use = i->uses; use; use = use->next)
        if (!use->user->mark && !is_used_outside(use, i->block))
            return false;
    return true;
}

static void collect(Group *g, IrInstruction *first)
{
    add_member(g, first);
    for (bool again = true; again;) {
        again = false;
        for (uint32_t k = 0; k < g->count; k++)
            for (uint32_t o = 0; o < g->members[k]->operand_count && g->count < MAX_GROUP; o++) {
                IrInstruction *operand = g->members[k]->operands[o];
                if (operand->mark || operand->block != first->block || !can_sink(operand) || !only_group_needs(operand))
                    continue;
                add_member(g, operand);
                again = true;
            }
    }
}

// Whether a value that the group needs is kept in a register after the block anyway: it is a constant, or needed in the next iteration of
// a loop, later, or by another instruction that can be moved.
static bool is_kept_anyway(const Sinking *s, const IrInstruction *value, const IrBlock *block)
{
    const Loop *loop = s->loops->innermost[block->id];
    if (ir_is_constant(value) || value->op == IR_ARGUMENT || value->op == IR_SYMBOL || value->op == IR_ALLOCA || (loop && is_loop_invariant(s->loops, loop, value)))
        return true;
    for (const IrUse *use = value->uses; use; use = use->next)
        if (!use->user->mark && (is_used_outside(use, block) || (can_sink(use->user) && has_only_outside_uses(use->user))))
            return true;
    return false;
}

// Whether moving the instruction would keep more than one value longer.
static bool needs_registers(const Sinking *s, IrInstruction *i)
{
    Group g = {.count = 0};
    const IrInstruction *kept = NULL;
    bool has_two = false;
    collect(&g, i);
    for (uint32_t k = 0; k < g.count; k++)
        for (uint32_t o = 0; o < g.members[k]->operand_count; o++) {
            const IrInstruction *operand = g.members[k]->operands[o];
            if (operand->mark || operand == kept || is_kept_anyway(s, operand, i->block))
                continue;
            has_two |= kept != NULL;
            kept = operand;
        }
    for (uint32_t k = 0; k < g.count; k++)
        g.members[k]->mark = 0;
    return has_two;
}

static bool sink(const Sinking *s, IrInstruction *i)
{
    IrBlock *target = i->uses && can_sink(i) ? block_of_uses(s, i) : NULL;
    if (!target || needs_registers(s, i))
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
