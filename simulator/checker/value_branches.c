// value_branches.c: branches that a value decides which nobody wrote, where nothing but registers depends on them.
//
// A thread that computes for an element that is none, and throws the result away, may well branch on it: in logf, in `a > 0 ?
// sqrtf(a) : -a`. Such a branch is no more than an operation: what its two ways compute is nobody's, for the lanes that it
// decided about. From where the ways meet again, that is what their registers hold; what they have stored in local memory, as
// sinf does with the digits of a large number, is not followed.
#include "checker/value_table.h"

static bool lies_on(const Instr *i, const Ways *ways)
{
    for (int k = 0; k < ways->count; k++)
        if (i >= ways->stretches[k].first && i < ways->stretches[k].end)
            return true;
    return false;
}

// False: there are too many stretches.
static bool add_stretch(Ways *ways, const Instr *first, const Instr *reconvergence_pc)
{
    if (first == reconvergence_pc || lies_on(first, ways))
        return true;
    if (ways->count == MOST_STRETCHES)
        return false;
    ways->stretches[ways->count].first = ways->stretches[ways->count].end = first;
    ways->count++;
    return true;
}

// Makes a stretch as long as it is. False where it does more than to compute.
static bool go_along(const Program *p, Ways *ways, int k, const Instr *reconvergence_pc)
{
    for (const Instr *i = ways->stretches[k].first; i != reconvergence_pc; i++) {
        if (sim_affects(i))
            return false;
        ways->stretches[k].end = i + 1;
        if (i->control == BRANCH && !add_stretch(ways, p->code + i->target, reconvergence_pc))
            return false;
        if (i->control == BRANCH && i->guard == NOWHERE)
            return true;
    }
    return true;
}

// Finds a branch's ways. False: they do more than to compute, or it is not known where they meet.
static bool find_ways(const Program *p, const Instr *branch, Ways *ways)
{
    if (branch->control != BRANCH || branch->reconvergence_pc == NOWHERE)
        return false;
    const Instr *reconvergence_pc = p->code + branch->reconvergence_pc;
    ways->count = 0;
    bool compute = add_stretch(ways, p->code + branch->target, reconvergence_pc) && add_stretch(ways, branch + 1, reconvergence_pc);
    for (int k = 0; k < ways->count && compute; k++)
        compute = go_along(p, ways, k, reconvergence_pc);
    return compute;
}

// Whether the warp is still on such ways, or in a function that they call.
static bool is_inside(const Warp *w, const Instr *i, const Undecided *u)
{
    return w->path->frame != u->frame || lies_on(i, &u->ways);
}

bool sim_begin_undecided(Warp *w, const Instr *branch, uint32_t lanes, const Value *by)
{
    const Frame *frame = w->path->frame;
    const Undecided *outer;
    for (int k = 0; (outer = sim_undecided(w, k)); k++)
        lanes &= is_inside(w, branch, outer) ? ~outer->lanes : ALL_LANES;
    if (lanes == 0)
        return true;
    Undecided *u = sim_new_undecided(w);
    if (!u || !find_ways(frame->function->program, branch, &u->ways))
        return false;
    u->frame = frame;
    u->lanes = lanes;
    u->by = *by;
    u->by.partial = 0;
    u->by.computed = ALL_LANES;
    return true;
}

static void set_results(Warp *w, const Undecided *u, uint32_t lanes)
{
    for (int k = 0; k < u->ways.count; k++)
        for (const Instr *i = u->ways.stretches[k].first; i < u->ways.stretches[k].end; i++) {
            const Statement *s = i->statement;
            if (s && s->count > 0 && !s->operands[0].address && i->kind != STORE)
                sim_set_operand(w, &s->operands[0], lanes, lanes, &u->by);
        }
}

void sim_end_undecided(Warp *w, const Instr *i)
{
    Undecided *u;
    for (int k = 0; (u = sim_undecided(w, k)); k++) {
        const uint32_t lanes = is_inside(w, i, u) ? 0 : u->lanes & w->path->mask;
        if (!lanes)
            continue;
        u->lanes &= ~lanes;
        set_results(w, u, lanes);
        sim_count_undefined(w);
    }
}
