// flow.c: builds a function's control-flow graph.
#include "front/flow.h"

static bool ends_block(const Instr *i)
{
    return i->control == BRANCH || i->control == BRANCH_INDEXED || i->control == RETURN || i->control == EXIT ||
           i->control == UNKNOWN;
}

Instr *sim_terminator(const Program *program, const FlowGraph *flow, uint32_t block)
{
    return &program->code[flow->first[block + 1] - 1];
}

static void find_blocks(Arena *arena, const Program *p, FlowGraph *f)
{
    bool *starts = sim_allocate(arena, (size_t)p->count + 1);
    starts[0] = starts[p->count] = true;
    for (uint32_t k = 0; k < p->count; k++) {
        const Instr *i = &p->code[k];
        if (i->control == BRANCH)
            starts[i->target] = true;
        for (uint32_t t = 0; i->control == BRANCH_INDEXED && t < i->target_count; t++)
            starts[i->targets[t]] = true;
        if (ends_block(i))
            starts[k + 1] = true;
    }
    f->first = sim_allocate(arena, ((size_t)p->count + 2) * sizeof *f->first);
    f->block_of = sim_allocate(arena, ((size_t)p->count + 1) * sizeof *f->block_of);
    for (uint32_t k = 0; k <= p->count; k++) {
        if (starts[k])
            f->first[f->count++] = k;
        f->block_of[k] = f->count - 1;
    }
    f->first[f->count] = p->count + 1;
}

static void find_successors(Arena *arena, const Program *p, FlowGraph *f)
{
    const uint32_t end = f->count - 1;
    f->successors = sim_allocate(arena, f->count * sizeof *f->successors);
    f->successor_count = sim_allocate(arena, f->count * sizeof *f->successor_count);
    for (uint32_t b = 0; b < end; b++) {
        const Instr *last = sim_terminator(p, f, b);
        const size_t max_successors = last->control == BRANCH_INDEXED ? (size_t)last->target_count + 1 : 2;
        uint32_t *to = f->successors[b] = sim_allocate(arena, max_successors * sizeof *to), n = 0;
        if (last->control == BRANCH)
            to[n++] = f->block_of[last->target];
        for (uint32_t t = 0; last->control == BRANCH_INDEXED && t < last->target_count; t++)
            to[n++] = f->block_of[last->targets[t]];
        if (last->control == RETURN || last->control == EXIT || last->control == UNKNOWN)
            to[n++] = end;
        if (!ends_block(last) || last->guard != NO_OFFSET)
            to[n++] = b + 1;
        f->successor_count[b] = n;
    }
}

void sim_find_predecessors(Arena *arena, FlowGraph *f)
{
    const uint32_t end = f->count - 1;
    f->predecessors = sim_allocate(arena, f->count * sizeof *f->predecessors);
    f->predecessor_count = sim_allocate(arena, f->count * sizeof *f->predecessor_count);
    for (uint32_t b = 0; b < end; b++)
        for (uint32_t k = 0; k < f->successor_count[b]; k++)
            f->predecessor_count[f->successors[b][k]]++;
    for (uint32_t b = 0; b < f->count; b++) {
        f->predecessors[b] = sim_allocate(arena, ((size_t)f->predecessor_count[b] + 1) * sizeof **f->predecessors);
        f->predecessor_count[b] = 0;
    }
    for (uint32_t b = 0; b < end; b++)
        for (uint32_t k = 0; k < f->successor_count[b]; k++) {
            const uint32_t to = f->successors[b][k];
            f->predecessors[to][f->predecessor_count[to]++] = b;
        }
}

void sim_build_flow_graph(Arena *arena, const Program *program, FlowGraph *flow)
{
    find_blocks(arena, program, flow);
    find_successors(arena, program, flow);
    sim_find_predecessors(arena, flow);
}
