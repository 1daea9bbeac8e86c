// value_branches.c: branches on undefined values that affect only registers.
//
// A thread past the last element may compute with an undefined value, branch on it (in logf, in `a > 0 ? sqrtf(a) : -a`) and discard the
// result. Such a branch is treated as an operation: at the reconvergence point, all registers that either path writes become undefined in
// the lanes that branched. Stores to local memory on these paths, as in sinf for large arguments, are not tracked.
#include "checker/value_table.h"

static bool in_region(const Instr *i, const BranchRegion *region)
{
    for (int k = 0; k < region->count; k++)
        if (i >= region->ranges[k].first && i < region->ranges[k].end)
            return true;
    return false;
}

// Adds a range that starts at `first`. False: too many ranges.
static bool add_range(BranchRegion *region, const Instr *first, const Instr *reconvergence_pc)
{
    if (first == reconvergence_pc || in_region(first, region))
        return true;
    if (region->count == MAX_RANGES)
        return false;
    region->ranges[region->count].first = region->ranges[region->count].end = first;
    region->count++;
    return true;
}

// Extends a range to its end. False if an instruction has effects other than on registers.
static bool extend_range(const Program *p, BranchRegion *region, int k, const Instr *reconvergence_pc)
{
    for (const Instr *i = region->ranges[k].first; i != reconvergence_pc; i++) {
        if (sim_has_effects(i))
            return false;
        region->ranges[k].end = i + 1;
        if (i->control == BRANCH && !add_range(region, p->code + i->target, reconvergence_pc))
            return false;
        if (i->control == BRANCH && i->guard == NO_OFFSET)
            return true;
    }
    return true;
}

// Finds the region of a branch. False if the region has effects other than on registers, or no known reconvergence point.
static bool find_region(const Program *p, const Instr *branch, BranchRegion *region)
{
    if (branch->control != BRANCH || branch->reconvergence_pc == NO_INDEX)
        return false;
    const Instr *reconvergence_pc = p->code + branch->reconvergence_pc;
    region->count = 0;
    bool has_no_effects = add_range(region, p->code + branch->target, reconvergence_pc) && add_range(region, branch + 1, reconvergence_pc);
    for (int k = 0; k < region->count && has_no_effects; k++)
        has_no_effects = extend_range(p, region, k, reconvergence_pc);
    return has_no_effects;
}

// True if the warp is still in the region, or in a function called from it.
static bool is_inside(const Warp *w, const Instr *i, const UndefinedBranch *u)
{
    return w->current_split->frame != u->frame || in_region(i, &u->region);
}

bool sim_begin_undefined_branch(Warp *w, const Instr *branch, uint32_t lanes, const UndefinedValue *condition)
{
    const Frame *frame = w->current_split->frame;
    const UndefinedBranch *outer;
    for (int k = 0; (outer = sim_undefined_branch(w, k)); k++)
        lanes &= is_inside(w, branch, outer) ? ~outer->lanes : ALL_LANES;
    if (lanes == 0)
        return true;
    UndefinedBranch *u = sim_new_undefined_branch(w);
    if (!u || !find_region(frame->function->program, branch, &u->region))
        return false;
    u->frame = frame;
    u->lanes = lanes;
    u->condition = *condition;
    u->condition.computed = ALL_LANES;
    return true;
}

static void undefine_results(Warp *w, UndefinedBranch *u, uint32_t lanes)
{
    u->condition.mask = lanes;
    for (int k = 0; k < u->region.count; k++)
        for (const Instr *i = u->region.ranges[k].first; i < u->region.ranges[k].end; i++) {
            const Statement *s = i->statement;
            if (s && s->count > 0 && !s->operands[0].is_address && i->kind != STORE)
                sim_set_all_undefined(w, &s->operands[0], lanes, &u->condition);
        }
}

void sim_end_undefined_branches(Warp *w, const Instr *i)
{
    UndefinedBranch *u;
    for (int k = 0; (u = sim_undefined_branch(w, k)); k++) {
        const uint32_t lanes = is_inside(w, i, u) ? 0 : u->lanes & w->current_split->mask;
        if (!lanes)
            continue;
        u->lanes &= ~lanes;
        undefine_results(w, u, lanes);
        sim_count_undefined(w);
    }
}
