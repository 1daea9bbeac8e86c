// dominators.c: the dominator tree, by the Semi-NCA algorithm (Georgiadis, "Linear-Time Algorithms for Dominators and Related
// Problems"), and dominance frontiers.
#include "compiler/dominators.h"

// An iterative depth-first search: a block is finished after its targets.
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

// Blocks are numbered from 1 in the order of a depth-first walk.
typedef struct SemiNca {
    const Dominators *d;
    uint32_t *visit;                     // number of a block, indexed by its id; 0: not reached
    IrBlock **block;                     // indexed by number
    uint32_t *parent, *ancestor, *best, *semi, *idom; // numbers, indexed by number
    uint32_t *stack;
    uint32_t count;
} SemiNca;

static void walk(SemiNca *s, IrBlock *root)
{
    uint8_t *next = (uint8_t *)s->stack; // `stack` is free until find_semidominators; a byte for each block
    IrBlock **stack = s->block + s->d->count + 2;
    uint32_t depth = 0;
    s->visit[root->id] = ++s->count;
    s->block[s->count] = root;
    stack[depth++] = root;
    while (depth) {
        IrBlock *block = stack[depth - 1];
        if (next[block->id] == ir_target_count(block)) {
            depth--;
            continue;
        }
        IrBlock *to = block->last->target[next[block->id]++];
        if (s->visit[to->id])
            continue;
        s->visit[to->id] = ++s->count;
        s->block[s->count] = to;
        s->parent[s->count] = s->visit[block->id];
        stack[depth++] = to;
    }
}

// The number with the smallest semidominator on the path to the root of its tree; compresses the path (EVAL in the paper).
static uint32_t best_on_path(SemiNca *s, uint32_t v)
{
    if (!s->ancestor[v])
        return v;
    uint32_t depth = 0;
    uint32_t *path = s->stack;
    for (uint32_t at = v; s->ancestor[s->ancestor[at]]; at = s->ancestor[at])
        path[depth++] = at;
    while (depth) {
        const uint32_t at = path[--depth], above = s->ancestor[at];
        if (s->semi[s->best[above]] < s->semi[s->best[at]])
            s->best[at] = s->best[above];
        s->ancestor[at] = s->ancestor[above];
    }
    return s->best[v];
}

static void find_semidominators(SemiNca *s)
{
    for (uint32_t v = 1; v <= s->count; v++)
        s->semi[v] = s->best[v] = v;
    for (uint32_t w = s->count; w > 1; w--) {
        const IrBlock *block = s->block[w];
        s->semi[w] = s->parent[w];
        for (uint32_t p = 0; p < block->predecessor_count; p++) {
            const uint32_t v = s->visit[block->predecessors[p]->id];
            if (v && s->semi[best_on_path(s, v)] < s->semi[w])
                s->semi[w] = s->semi[best_on_path(s, v)];
        }
        s->ancestor[w] = s->parent[w];
    }
}

static void find_parents(IrModule *module, Dominators *d)
{
    const uint32_t blocks = d->order[0]->function->next_block, numbers = d->count + 2;
    SemiNca s = {.d = d, .visit = ir_scratch(module, blocks * sizeof(uint32_t)), .block = ir_scratch(module, 2 * numbers * sizeof(IrBlock *))};
    uint32_t **tables[] = {&s.parent, &s.ancestor, &s.best, &s.semi, &s.idom};
    for (uint32_t k = 0; k < 5; k++)
        *tables[k] = ir_scratch(module, numbers * sizeof(uint32_t));
    s.stack = ir_scratch(module, (blocks + numbers) * sizeof(uint32_t));
    walk(&s, d->order[0]);
    find_semidominators(&s);
    for (uint32_t v = 2; v <= s.count; v++) { // nearest common ancestor of the parent and the semidominator
        s.idom[v] = s.parent[v];
        while (s.idom[v] > s.semi[v])
            s.idom[v] = s.idom[s.idom[v]];
        d->parent[s.block[v]->id] = s.block[s.idom[v]];
    }
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
    find_parents(module, d);
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

// Each walk up the tree stops at a block that an earlier walk for the same block has visited.
static void walk_frontiers(Frontiers *f, const Dominators *d, uint32_t *seen, bool counts_only)
{
    for (uint32_t k = 0; k < d->count; k++) {
        IrBlock *block = d->order[k];
        for (uint32_t e = 0; block->predecessor_count > 1 && e < block->predecessor_count; e++)
            for (const IrBlock *runner = block->predecessors[e]; runner && d->number[runner->id] != UINT32_MAX && runner != d->parent[block->id];
                 runner = d->parent[runner->id]) {
                if (seen[runner->id] == block->id + 1)
                    break;
                seen[runner->id] = block->id + 1;
                if (!counts_only)
                    f->blocks[runner->id][f->count[runner->id]] = block;
                f->count[runner->id]++;
            }
    }
}

Frontiers *frontiers_of(IrModule *module, IrFunction *function, const Dominators *d)
{
    const uint32_t blocks = function->next_block;
    Frontiers *f = ir_scratch(module, sizeof *f);
    f->blocks = ir_scratch(module, blocks * sizeof *f->blocks);
    f->count = ir_scratch(module, blocks * sizeof *f->count);
    walk_frontiers(f, d, ir_scratch(module, blocks * sizeof(uint32_t)), true);
    for (uint32_t k = 0; k < blocks; k++) {
        f->blocks[k] = ir_scratch(module, (f->count[k] + 1) * sizeof **f->blocks);
        f->count[k] = 0;
    }
    walk_frontiers(f, d, ir_scratch(module, blocks * sizeof(uint32_t)), false);
    return f;
}
