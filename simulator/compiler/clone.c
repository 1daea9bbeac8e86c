// clone.c: clones regions of blocks, for unrolling and unswitching.
#include "compiler/clone.h"

static CloneEntry *find(CloneEntry *table, uint32_t mask, uint32_t id, const void *original)
{
    for (uint32_t k = id * 0x9e3779b1u & mask;; k = (k + 1) & mask)
        if (!table[k].original || table[k].original == original)
            return &table[k];
}

static CloneEntry *new_table(IrModule *module, uint32_t entries, uint32_t *mask)
{
    uint32_t size = 16;
    while (size < 2 * entries)
        size *= 2;
    *mask = size - 1;
    return ir_scratch(module, size * sizeof(CloneEntry));
}

IrInstruction *cloned_value(const Clone *clone, IrInstruction *value)
{
    const CloneEntry *found = find(clone->values, clone->value_mask, value->id, value);
    return found->original ? found->copy : value;
}

IrBlock *cloned_block(const Clone *clone, const IrBlock *block)
{
    return find(clone->blocks, clone->block_mask, block->id, block)->copy;
}

static void copy_instructions(IrModule *module, IrFunction *function, Clone *clone, const IrBlock *from, IrBlock *to)
{
    for (const IrInstruction *i = from->first; i != from->last; i = i->next) {
        IrInstruction *copy = ir_clone(module, function, i);
        if (i->op == IR_PHI) // copy_predecessors adds its operands
            while (copy->operand_count)
                ir_set_operand(copy, --copy->operand_count, NULL);
        ir_link_last(to, copy);
        *find(clone->values, clone->value_mask, i->id, i) = (CloneEntry){i, copy};
    }
}

static void copy_predecessors(IrModule *module, const Clone *clone, IrBlock *const from, IrBlock *to)
{
    to->predecessors = ir_allocate(module, (2 * from->predecessor_count + 2) * sizeof *to->predecessors); // with spare capacity
    for (uint32_t k = 0; k < from->predecessor_count; k++) {
        IrBlock *predecessor = cloned_block(clone, from->predecessors[k]);
        if (!predecessor)
            continue;
        to->predecessors[to->predecessor_count++] = predecessor;
        for (IrInstruction *phi = from->first, *copy = to->first; phi->op == IR_PHI; phi = phi->next, copy = copy->next)
            ir_add_operand(module, copy, cloned_value(clone, phi->operands[k]));
    }
}

static void append_edge(IrModule *module, const Clone *clone, const IrBlock *from, uint32_t target)
{
    IrBlock *to = from->last->target[target], *copy = cloned_block(clone, from);
    const uint32_t index = ir_edge_index(from, target), count = to->predecessor_count;
    if ((count & (count - 1)) == 0) {
        IrBlock **more = ir_allocate(module, 2 * (count + 1) * sizeof *more);
        for (uint32_t k = 0; k < count; k++)
            more[k] = to->predecessors[k];
        to->predecessors = more;
    }
    to->predecessors[to->predecessor_count++] = copy;
    for (IrInstruction *phi = to->first; phi->op == IR_PHI; phi = phi->next)
        ir_add_operand(module, phi, cloned_value(clone, phi->operands[index]));
}

static void copy_terminator(IrModule *module, IrFunction *function, const Clone *clone, const IrBlock *from, IrBlock *to)
{
    IrInstruction *end = ir_clone(module, function, from->last);
    ir_link_last(to, end);
    for (uint32_t k = 0; k < end->operand_count; k++)
        ir_set_operand(end, k, cloned_value(clone, end->operands[k]));
    for (uint32_t t = 0; t < ir_target_count(from); t++) {
        IrBlock *inside = cloned_block(clone, from->last->target[t]);
        if (inside)
            end->target[t] = inside;
        else
            append_edge(module, clone, from, t);
    }
}

Clone *clone_blocks(IrModule *module, IrFunction *function, IrBlock *const *blocks, uint32_t count, IrBlock *insert_before)
{
    Clone *clone = ir_scratch(module, sizeof *clone);
    uint32_t values = 0;
    for (uint32_t k = 0; k < count; k++)
        for (const IrInstruction *i = blocks[k]->first; i; i = i->next)
            values++;
    clone->blocks = new_table(module, count, &clone->block_mask);
    clone->values = new_table(module, values, &clone->value_mask);
    for (uint32_t k = 0; k < count; k++) {
        IrBlock *copy = ir_new_block(module, function);
        *find(clone->blocks, clone->block_mask, blocks[k]->id, blocks[k]) = (CloneEntry){blocks[k], copy};
        ir_move_block_before(insert_before, copy);
        copy->unroll = blocks[k]->unroll;
    }
    for (uint32_t k = 0; k < count; k++)
        copy_instructions(module, function, clone, blocks[k], cloned_block(clone, blocks[k]));
    for (uint32_t k = 0; k < count; k++) {
        IrBlock *copy = cloned_block(clone, blocks[k]);
        for (IrInstruction *i = copy->first; i; i = i->next)
            for (uint32_t o = 0; o < i->operand_count; o++)
                ir_set_operand(i, o, cloned_value(clone, i->operands[o]));
        copy_terminator(module, function, clone, blocks[k], copy);
    }
    for (uint32_t k = 0; k < count; k++)
        copy_predecessors(module, clone, blocks[k], cloned_block(clone, blocks[k]));
    return clone;
}

static bool is_exit_phi(const Loops *loops, const Loop *loop, const IrUse *use)
{
    return use->user->op == IR_PHI && loop_contains(loops, loop, use->user->block->predecessors[use->operand]);
}

void demote_outside_uses(IrModule *module, IrFunction *function, const Loops *loops, const Loop *loop)
{
    for (uint32_t k = 0; k < loop->block_count; k++)
        for (IrInstruction *i = loop->blocks[k]->first, *next; i; i = next) {
            next = i->next;
            IrInstruction *variable = NULL;
            for (IrUse *use = i->uses, *following; use; use = following) {
                following = use->next;
                if (loop_contains(loops, loop, use->user->block) || is_exit_phi(loops, loop, use))
                    continue;
                if (!variable)
                    variable = new_variable(module, function);
                load_for_use(module, variable, i->type, use);
            }
            if (variable)
                store_variable(module, insertion_point_after(i), variable, i);
        }
}
