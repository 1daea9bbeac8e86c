// paths.c: the paths of a warp: how they split, meet, and take turns.
//
// Lanes that run together are a path: a program counter and a mask. Where a branch sends lanes
// different ways, the path splits; the old path waits at the join, the first instruction that all
// ways lead through, until the new ones have come there. A path may also wait at a barrier of the
// block, or for other lanes of its warp; then another path of the warp runs.
//
// CUDA promises that lanes meet nowhere but where the program says so, and that each of them gets on. So a join
// is a hint: where all others wait for lanes that wait at a join, these go on without the rest.
#include "machine/running.h"

Path *sim_new_path(Warp *w, Path *parent, Frame *frame, uint32_t mask, uint32_t pc, uint32_t join)
{
    Path *p = w->block->free_paths;
    if (p)
        w->block->free_paths = p->next;
    else
        p = sim_allocate(&w->block->arena, sizeof *p);
    *p = (Path){
        .mask = mask, .pc = pc, .join = join, .jumped = NOWHERE, .frame = frame, .parent = parent, .next = w->paths};
    w->paths = p;
    return p;
}

void sim_end_path(Warp *w, Path *p)
{
    Path *const parent = p->parent;
    Path **link = &w->paths;
    while (*link != p)
        link = &(*link)->next;
    *link = p->next;
    p->loop = NULL;
    p->next = w->block->free_paths;
    w->block->free_paths = p;
    if (!parent || --parent->children > 0)
        return;
    parent->mask &= w->live;
    parent->waiting = RUNS;
    if (parent->mask == 0)
        sim_end_path(w, parent);
}

// Whether the lanes that do not jump run first: with $SIM_BLOCK_ORDER now and then, as CUDA promises no order.
static bool others_first(Block *b)
{
    return sim_settings()->shuffles && sim_next_random(&b->series) % 2;
}

// Puts the warp's first path behind its second one.
static void swap_first(Warp *w)
{
    Path *const first = w->paths, *const second = first->next;
    first->next = second->next;
    second->next = first;
    w->paths = second;
}

void sim_split(Warp *w, Path *p, uint32_t join, uint32_t mask, uint32_t pc, uint32_t other_pc)
{
    const uint32_t other = p->mask & ~mask, end = sim_end_of(p), from = p->pc;
    if (join == NOWHERE)
        join = end;
    if (pc == join && other_pc == join) {
        p->pc = join;
        return;
    }
    w->block->counters.divergent_branches++;
    p->loop = NULL;
    if (join != end) {
        sim_note_jump(p, from, join); // some may
        p->pc = join;
        p->waiting = WAITS_FOR_PATHS;
        p->children = (pc != join) + (other_pc != join);
        if (other_pc != join)
            sim_new_path(w, p, p->frame, other, other_pc, join);
        if (pc != join)
            sim_note_jump(sim_new_path(w, p, p->frame, mask, pc, join), from, pc);
        if (p->children == 2 && others_first(w->block))
            swap_first(w);
        return;
    }
    // Nested branches that meet at the same place share the one who waits there.
    p->mask = other;
    p->pc = other_pc;
    if (pc != join || !p->parent) {
        if (p->parent)
            p->parent->children++;
        sim_note_jump(sim_new_path(w, p->parent, p->frame, mask, pc, p->join), from, pc);
        if (w->paths->next == p && other_pc != join && others_first(w->block))
            swap_first(w);
    }
}

// ---- Which path runs

Path *sim_next_path(const Warp *w)
{
    Path *p = w->paths;
    while (p && p->waiting != RUNS)
        p = p->next;
    return p;
}

void sim_put_last(Warp *w, Path *p)
{
    Path **link = &w->paths;
    while (*link != p)
        link = &(*link)->next;
    *link = p->next;
    while (*link)
        link = &(*link)->next;
    *link = p;
    p->next = NULL;
}

// ---- Joins that open

uint32_t sim_lanes_at_join(const Warp *w, const Path *p)
{
    uint32_t arrived = p->waiting == WAITS_FOR_PATHS ? p->mask & w->live : 0;
    for (const Path *q = w->paths; q && arrived; q = q->next)
        arrived &= q->parent == p ? ~q->mask : ALL_LANES;
    return arrived;
}

void sim_open_join_of(Warp *w, Path *p, uint32_t arrived)
{
    p->mask &= ~arrived;
    if (p->parent)
        p->parent->children++;
    Path *opened = sim_new_path(w, p->parent, p->frame, arrived, p->pc, p->join);
    opened->jumped = p->jumped;
    opened->landed = p->landed;
}

bool sim_open_join(Warp *w, uint32_t wanted)
{
    for (Path *p = w->paths; p; p = p->next) {
        const uint32_t arrived = sim_lanes_at_join(w, p);
        if (!(arrived & wanted))
            continue;
        sim_open_join_of(w, p, arrived);
        return true;
    }
    return false;
}
