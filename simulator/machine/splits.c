// splits.c: the splits of a warp: divergence, reconvergence and scheduling.
//
// A split is a set of lanes that execute together: a program counter and a mask. At a divergent branch the split is divided:
// the old one waits at the reconvergence point, the immediate post-dominator of the branch, until the new ones arrive there.
// A split may also wait at a block barrier or for other lanes of its warp; then another split of the warp runs.
//
// Independent thread scheduling guarantees progress of every lane, but no reconvergence. Reconvergence points are therefore
// only hints: lanes that wait at one continue without the rest if all other lanes wait for them.
#include "machine/running.h"

WarpSplit *sim_new_split(Warp *w, WarpSplit *parent, Frame *frame, uint32_t mask, uint32_t pc, uint32_t reconvergence_pc)
{
    WarpSplit *p = w->block->free_splits;
    if (p)
        w->block->free_splits = p->next;
    else
        p = sim_allocate(&w->block->arena, sizeof *p);
    *p = (WarpSplit){
        .mask = mask, .pc = pc, .reconvergence_pc = reconvergence_pc, .jump_from = NO_INDEX, .frame = frame, .parent = parent, .next = w->splits};
    w->splits = p;
    return p;
}

void sim_end_split(Warp *w, WarpSplit *p)
{
    WarpSplit *const parent = p->parent;
    WarpSplit **link = &w->splits;
    while (*link != p)
        link = &(*link)->next;
    *link = p->next;
    p->loop = NULL;
    p->next = w->block->free_splits;
    w->block->free_splits = p;
    if (!parent || --parent->children > 0)
        return;
    parent->mask &= w->live_mask;
    parent->state = RUNNABLE;
    if (parent->mask == 0)
        sim_end_split(w, parent);
}

// True if the fall-through path runs first: at random with $SIM_BLOCK_ORDER, as CUDA guarantees no order.
static bool runs_fall_through_first(Block *b)
{
    return sim_settings()->random_order && sim_next_random(&b->random_state) % 2;
}

// Swaps the warp's first two splits.
static void swap_first(Warp *w)
{
    WarpSplit *const first = w->splits, *const second = first->next;
    first->next = second->next;
    second->next = first;
    w->splits = second;
}

void sim_diverge(Warp *w, WarpSplit *p, uint32_t reconvergence_pc, uint32_t mask, uint32_t pc, uint32_t other_pc)
{
    const uint32_t other = p->mask & ~mask, end = sim_split_end(p), from = p->pc;
    if (reconvergence_pc == NO_INDEX)
        reconvergence_pc = end;
    if (pc == reconvergence_pc && other_pc == reconvergence_pc) {
        p->pc = reconvergence_pc;
        return;
    }
    w->block->counters.divergent_branches++;
    p->loop = NULL;
    if (reconvergence_pc != end) {
        sim_note_jump(p, from, reconvergence_pc); // some of the lanes jump there
        p->pc = reconvergence_pc;
        p->state = WAITS_FOR_SPLITS;
        p->children = (pc != reconvergence_pc) + (other_pc != reconvergence_pc);
        if (other_pc != reconvergence_pc)
            sim_new_split(w, p, p->frame, other, other_pc, reconvergence_pc);
        if (pc != reconvergence_pc)
            sim_note_jump(sim_new_split(w, p, p->frame, mask, pc, reconvergence_pc), from, pc);
        if (p->children == 2 && runs_fall_through_first(w->block))
            swap_first(w);
        return;
    }
    // Nested branches with the same reconvergence point share the split that waits there.
    p->mask = other;
    p->pc = other_pc;
    if (pc != reconvergence_pc || !p->parent) {
        if (p->parent)
            p->parent->children++;
        sim_note_jump(sim_new_split(w, p->parent, p->frame, mask, pc, p->reconvergence_pc), from, pc);
        if (w->splits->next == p && other_pc != reconvergence_pc && runs_fall_through_first(w->block))
            swap_first(w);
    }
}

// ---- Scheduling

WarpSplit *sim_next_split(const Warp *w)
{
    WarpSplit *p = w->splits;
    while (p && p->state != RUNNABLE)
        p = p->next;
    return p;
}

void sim_move_to_back(Warp *w, WarpSplit *p)
{
    WarpSplit **link = &w->splits;
    while (*link != p)
        link = &(*link)->next;
    *link = p->next;
    while (*link)
        link = &(*link)->next;
    *link = p;
    p->next = NULL;
}

// ---- Early release from reconvergence points

uint32_t sim_lanes_at_reconvergence(const Warp *w, const WarpSplit *p)
{
    uint32_t arrived = p->state == WAITS_FOR_SPLITS ? p->mask & w->live_mask : 0;
    for (const WarpSplit *q = w->splits; q && arrived; q = q->next)
        arrived &= q->parent == p ? ~q->mask : ALL_LANES;
    return arrived;
}

void sim_release_reconverged(Warp *w, WarpSplit *p, uint32_t arrived)
{
    p->mask &= ~arrived;
    if (p->parent)
        p->parent->children++;
    WarpSplit *released = sim_new_split(w, p->parent, p->frame, arrived, p->pc, p->reconvergence_pc);
    released->jump_from = p->jump_from;
    released->jump_to = p->jump_to;
}

bool sim_release_at_reconvergence(Warp *w, uint32_t awaited)
{
    for (WarpSplit *p = w->splits; p; p = p->next) {
        const uint32_t arrived = sim_lanes_at_reconvergence(w, p);
        if (!(arrived & awaited))
            continue;
        sim_release_reconverged(w, p, arrived);
        return true;
    }
    return false;
}
