// dominators.c: the dominator tree, by the algorithm of Cooper, Harvey and Kennedy ("A Simple, Fast Dominance Algorithm").
#include "compiler/dominators.h"

// Postorder without recursion: a block is finished once its targets are.
static void order_blocks(IrModule *module, IrFunction *function, Dominators *d)
{
    const uint32_t blocks = function->next_block;
    IrBlock **stack = ir_scratch(module, (blocks + 1) * sizeof *stack);
    uint8_t *next = ir_scratch(module, blocks);
    uint32_t depth = 0, finished = blocks;
    IrBlock **reversed = ir_scratch(module, (blocks + 1) * sizeof *reversed);
    for (uint32_t k = 0; k < blocks; k++)
        d->number[k] = UINT32_MAX;
    stack[depth++] = function->first;
    d->number[function->first->id] = 0;
    while (depth) {
        IrBlock *block = stack[depth - 1];
        const uint32_t targets = ir_target_count(block);
        if (next[block->id] == targets) {
            reversed[--finished] = block;
            depth--;
            continue;
        }
        // The last target first, so that the first one follows the block.
        IrBlock *to = block->last->target[targets - 1 - next[block->id]++];
        if (d->number[to->id] == UINT32_MAX) {
            d->number[to->id] = 0;
            stack[depth++] = to;
        }
    }
    d->order = reversed + finished;
    d->count = blocks - finished;
    for (uint32_t k = 0; k < d->count; k++)
        d->number[d->order[k]->id] = k;
}

static IrBlock *meet(const Dominators *d, IrBlock *a, IrBlock *b)
{
    while (a != b)
        if (d->number[a->id] > d->number[b->id])
            a = d->parent[a->id];
        else
            b = d->parent[b->id];
    return a;
}

static void find_parents(Dominators *d)
{
    d->parent[d->order[0]->id] = d->order[0];
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t k = 1; k < d->count; k++) {
            const IrBlock *block = d->order[k];
            IrBlock *parent = NULL;
            for (uint32_t p = 0; p < block->predecessor_count; p++) {
                IrBlock *from = block->predecessors[p];
                if (d->number[from->id] != UINT32_MAX && d->parent[from->id])
                    parent = parent ? meet(d, parent, from) : from;
            }
            changed |= d->parent[block->id] != parent;
            d->parent[block->id] = parent;
        }
    }
    d->parent[d->order[0]->id] = NULL;
}

static void number_tree(Dominators *d)
{
    for (uint32_t k = d->count; k-- > 1;) {
        IrBlock *block = d->order[k];
        const uint32_t parent = d->parent[block->id]->id;
        d->sibling[block->id] = d->first_child[parent];
        d->first_child[parent] = block;
    }
    uint32_t time = 0;
    for (IrBlock *block = d->order[0]; block;) {
        d->enter[block->id] = time++;
        if (d->first_child[block->id]) {
            block = d->first_child[block->id];
            continue;
        }
        d->leave[block->id] = time;
        while (block && !d->sibling[block->id])
            if ((block = d->parent[block->id]))
                d->leave[block->id] = time;
        block = block ? d->sibling[block->id] : NULL;
    }
}

Dominators *dominators_of(IrModule *module, IrFunction *function)
{
    const uint32_t blocks = function->next_block;
    Dominators *d = ir_scratch(module, sizeof *d);
    d->number = ir_scratch(module, blocks * sizeof *d->number);
    d->parent = ir_scratch(module, blocks * sizeof *d->parent);
    d->first_child = ir_scratch(module, blocks * sizeof *d->first_child);
    d->sibling = ir_scratch(module, blocks * sizeof *d->sibling);
    d->enter = ir_scratch(module, blocks * sizeof *d->enter);
    d->leave = ir_scratch(module, blocks * sizeof *d->leave);
    order_blocks(module, function, d);
    find_parents(d);
    number_tree(d);
    return d;
}

bool block_dominates(const Dominators *d, const IrBlock *a, const IrBlock *b)
{
    if (d->number[b->id] == UINT32_MAX)
        return true;
    return d->number[a->id] != UINT32_MAX && d->enter[a->id] <= d->enter[b->id] && d->enter[b->id] < d->leave[a->id];
}

bool value_dominates(const Dominators *d, const IrInstruction *value, const IrInstruction *user)
{
    if (!value->block)
        return ir_is_constant(value);
    if (value->block != user->block)
        return block_dominates(d, value->block, user->block);
    for (const IrInstruction *i = user->previous; i; i = i->previous)
        if (i == value)
            return true;
    return false;
}

IrBlock *common_dominator(const Dominators *d, IrBlock *a, IrBlock *b)
{
    return meet(d, a, b);
}

// ---- Dominance frontiers

static void add_to_frontier(Frontiers *f, const IrBlock *runner, IrBlock *block, bool counts_only)
{
    uint32_t *count = &f->count[runner->id];
    if (counts_only)
        ++*count;
    else if (!*count || f->blocks[runner->id][*count - 1] != block)
        f->blocks[runner->id][(*count)++] = block;
}

static void walk_frontiers(Frontiers *f, const Dominators *d, bool counts_only)
{
    for (uint32_t k = 0; k < d->count; k++) {
        IrBlock *block = d->order[k];
        if (block->predecessor_count < 2)
            continue;
        for (uint32_t e = 0; e < block->predecessor_count; e++)
            for (const IrBlock *runner = block->predecessors[e]; runner && d->number[runner->id] != UINT32_MAX && runner != d->parent[block->id];
                 runner = d->parent[runner->id])
                add_to_frontier(f, runner, block, counts_only);
    }
}

Frontiers *frontiers_of(IrModule *module, IrFunction *function, const Dominators *d)
{
    const uint32_t blocks = function->next_block;
    Frontiers *f = ir_scratch(module, sizeof *f);
    f->blocks = ir_scratch(module, blocks * sizeof *f->blocks);
    f->count = ir_scratch(module, blocks * sizeof *f->count);
    walk_frontiers(f, d, true);
    for (uint32_t k = 0; k < blocks; k++) {
        f->blocks[k] = ir_scratch(module, (f->count[k] + 1) * sizeof **f->blocks);
        f->count[k] = 0;
    }
    walk_frontiers(f, d, false);
    return f;
}
