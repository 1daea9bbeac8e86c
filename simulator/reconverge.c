// reconverge.c: where the lanes of a divergent branch meet again: at the first instruction that
// every way from the branch to the function's end comes through, its immediate post-dominator.
// (Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm", run on the reversed graph.)
#include "sim.h"

#include <stdlib.h>
#include <string.h>

typedef struct Graph { // of basic blocks; the last one is the function's end
    uint32_t *first, *block_of; // first instruction of each block; block of each instruction
    uint32_t count;
    uint32_t *order, *rank; // blocks as a walk from the end leaves them; place in that order
    uint32_t order_count;
    uint32_t *dominator;
    uint32_t **successors, *successor_count;
    uint32_t **predecessors, *predecessor_count;
} Graph;

static bool ends_block(const Instr *i)
{
    return i->control == BRANCH || i->control == BRANCH_INDEXED || i->control == RETURN || i->control == EXIT ||
           i->control == UNKNOWN;
}

static void find_blocks(Arena *arena, const Program *p, Graph *g)
{
    bool *starts = sim_allocate(arena, (size_t)p->count + 1);
    starts[0] = starts[p->count] = true;
    for (uint32_t k = 0; k < p->count; k++) {
        const Instr *i = &p->code[k];
        if (i->control == BRANCH)
            starts[i->target] = true;
        for (int64_t t = 0; i->control == BRANCH_INDEXED && t < i->offset; t++)
            starts[i->list[t]] = true;
        if (ends_block(i))
            starts[k + 1] = true;
    }
    g->first = sim_allocate(arena, ((size_t)p->count + 2) * sizeof *g->first);
    g->block_of = sim_allocate(arena, ((size_t)p->count + 1) * sizeof *g->block_of);
    for (uint32_t k = 0; k <= p->count; k++) {
        if (starts[k])
            g->first[g->count++] = k;
        g->block_of[k] = g->count - 1;
    }
    g->first[g->count] = p->count + 1;
}

static void find_successors(Arena *arena, const Program *p, Graph *g)
{
    const uint32_t end = g->count - 1;
    g->successors = sim_allocate(arena, g->count * sizeof *g->successors);
    g->successor_count = sim_allocate(arena, g->count * sizeof *g->successor_count);
    g->predecessors = sim_allocate(arena, g->count * sizeof *g->predecessors);
    g->predecessor_count = sim_allocate(arena, g->count * sizeof *g->predecessor_count);
    for (uint32_t b = 0; b < end; b++) {
        const Instr *last = &p->code[g->first[b + 1] - 1];
        const size_t most = last->control == BRANCH_INDEXED ? (size_t)last->offset + 1 : 2;
        uint32_t *to = g->successors[b] = sim_allocate(arena, most * sizeof *to), n = 0;
        if (last->control == BRANCH)
            to[n++] = g->block_of[last->target];
        for (int64_t t = 0; last->control == BRANCH_INDEXED && t < last->offset; t++)
            to[n++] = g->block_of[last->list[t]];
        if (last->control == RETURN || last->control == EXIT || last->control == UNKNOWN)
            to[n++] = end;
        if (!ends_block(last) || last->guard != NOWHERE)
            to[n++] = b + 1;
        g->successor_count[b] = n;
        for (uint32_t k = 0; k < n; k++)
            g->predecessor_count[to[k]]++;
    }
    for (uint32_t b = 0; b < g->count; b++) {
        g->predecessors[b] = sim_allocate(arena, ((size_t)g->predecessor_count[b] + 1) * sizeof **g->predecessors);
        g->predecessor_count[b] = 0;
    }
    for (uint32_t b = 0; b < end; b++)
        for (uint32_t k = 0; k < g->successor_count[b]; k++) {
            const uint32_t to = g->successors[b][k];
            g->predecessors[to][g->predecessor_count[to]++] = b;
        }
}

// Walks backwards from the end, and lists each block after all that it was reached before.
static void find_order(Arena *arena, Graph *g)
{
    uint32_t *stack = sim_allocate(arena, g->count * sizeof *stack), *next = sim_allocate(arena, g->count * sizeof *next);
    uint32_t depth = 0;
    g->order = sim_allocate(arena, g->count * sizeof *g->order);
    g->rank = sim_allocate(arena, g->count * sizeof *g->rank);
    memset(g->rank, 0xff, g->count * sizeof *g->rank);
    bool *seen = sim_allocate(arena, g->count);
    stack[depth++] = g->count - 1;
    seen[g->count - 1] = true;
    while (depth > 0) {
        const uint32_t b = stack[depth - 1];
        if (next[b] < g->predecessor_count[b]) {
            const uint32_t from = g->predecessors[b][next[b]++];
            if (!seen[from]) {
                seen[from] = true;
                stack[depth++] = from;
            }
        } else {
            g->rank[b] = g->order_count;
            g->order[g->order_count++] = b;
            depth--;
        }
    }
}

static uint32_t common(const Graph *g, uint32_t a, uint32_t b)
{
    while (a != b) {
        while (g->rank[a] < g->rank[b])
            a = g->dominator[a];
        while (g->rank[b] < g->rank[a])
            b = g->dominator[b];
    }
    return a;
}

static void find_dominators(Arena *arena, Graph *g)
{
    g->dominator = sim_allocate(arena, g->count * sizeof *g->dominator);
    memset(g->dominator, 0xff, g->count * sizeof *g->dominator);
    const uint32_t end = g->count - 1;
    g->dominator[end] = end;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t k = g->order_count - 1; k-- > 0;) { // from the end backwards, without it
            const uint32_t b = g->order[k];
            uint32_t found = NOWHERE;
            for (uint32_t n = 0; n < g->successor_count[b]; n++) {
                const uint32_t to = g->successors[b][n];
                if (g->dominator[to] != NOWHERE)
                    found = found == NOWHERE ? to : common(g, found, to);
            }
            changed |= g->dominator[b] != found;
            g->dominator[b] = found;
        }
    }
}

void sim_find_joins(const Function *function, Program *p)
{
    Arena arena = {NULL};
    Graph g = {.count = 0};
    find_blocks(&arena, p, &g);
    find_successors(&arena, p, &g);
    find_order(&arena, &g);
    find_dominators(&arena, &g);
    for (uint32_t b = 0; b + 1 < g.count; b++) {
        Instr *last = &p->code[g.first[b + 1] - 1];
        // A branch that no way leads from to the end (an endless loop) joins there: never.
        const uint32_t join = g.dominator[b] == NOWHERE ? g.count - 1 : g.dominator[b];
        last->join = g.first[join];
        // Lanes that only meet to end the kernel need not wait for each other: a barrier that the
        // others go to would wait for them.
        const uint8_t next = p->code[last->join].control;
        if (function->entry && p->code[last->join].guard == NOWHERE && (next == RETURN || next == EXIT))
            last->join = NOWHERE;
    }
    sim_free_arena(&arena);
}
