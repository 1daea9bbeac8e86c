// value_branches.c: branches on undefined values that affect only registers.
//
// A thread past the last element may compute with an undefined value, branch on it (in logf, in `a > 0 ? sqrtf(a) : -a`) and discard the
// result. Such a branch is treated as an operation: at the reconvergence point, all registers that either path writes become undefined in
// the lanes that branched. Stores to local memory on these paths, as in sinf for large arguments, are not tracked.
#include "checker/value_table.h"

// Marks the instructions from `first` on that lanes may execute before they reach `end`. False: one has effects other than on registers.
static bool mark_region(const Program *p, bool *region, uint32_t first, uint32_t end)
{
    for (uint32_t k = first; k != end && k < p->count && !region[k]; k++) {
        const Instr *i = &p->code[k];
        region[k] = true;
        if (sim_has_effects(i) || (i->control == BRANCH && !mark_region(p, region, i->target, end)))
            return false;
        for (uint32_t n = 0; i->control == BRANCH_INDEXED && n < i->target_count; n++)
            if (!mark_region(p, region, i->targets[n], end))
                return false;
        if (i->guard == NO_OFFSET && (i->control == BRANCH || i->control == BRANCH_INDEXED || i->control == RETURN))
            return true;
    }
    return true;
}

// A free entry for a branch, whose region is known; NULL: the region has effects other than on registers.
static UndefinedBranch *new_branch(Warp *w, const Program *p, const Instr *branch)
{
    for (UndefinedBranch *u = sim_undefined_branches(w); u; u = u->next)
        if (u->branch == branch && u->lanes == 0)
            return u->region ? u : NULL;
    UndefinedBranch *u = sim_add_undefined_branch(w, branch);
    const uint32_t end = branch->reconvergence_pc == NO_INDEX ? p->count : branch->reconvergence_pc; // or the function's end
    bool *region = sim_allocate(&w->block->arena, p->count + 1);
    if (branch->control == BRANCH && mark_region(p, region, branch->target, end) && mark_region(p, region, (uint32_t)(branch + 1 - p->code), end))
        u->region = region;
    return u->region ? u : NULL;
}

// True if the warp is still in the region, or in a function called from it.
static bool is_inside(const Warp *w, const Instr *i, const UndefinedBranch *u)
{
    return w->current_split->frame != u->frame || u->region[i - u->frame->function->program->code];
}

bool sim_begin_undefined_branch(Warp *w, const Instr *branch, uint32_t lanes, const UndefinedValue *condition)
{
    const Frame *frame = w->current_split->frame;
    for (const UndefinedBranch *outer = sim_undefined_branches(w); outer; outer = outer->next)
        lanes &= outer->lanes && is_inside(w, branch, outer) ? ~outer->lanes : ALL_LANES;
    UndefinedBranch *u = lanes ? new_branch(w, frame->function->program, branch) : NULL;
    if (!u)
        return lanes == 0;
    u->frame = frame;
    u->lanes = lanes;
    u->condition = *condition;
    u->condition.computed = ALL_LANES;
    return true;
}

static void undefine_results(Warp *w, UndefinedBranch *u, uint32_t lanes)
{
    const Program *p = u->frame->function->program;
    u->condition.mask = lanes;
    for (uint32_t k = 0; k < p->count; k++)
        if (u->region[k] && p->code[k].statement && p->code[k].statement->count > 0 && p->code[k].kind != STORE)
            sim_set_result_undefined(w, &p->code[k], lanes, &u->condition);
}

void sim_end_undefined_branches(Warp *w, const Instr *i)
{
    for (UndefinedBranch *u = sim_undefined_branches(w); u; u = u->next) {
        const uint32_t lanes = u->lanes && !is_inside(w, i, u) ? u->lanes & w->current_split->mask : 0;
        if (!lanes)
            continue;
        u->lanes &= ~lanes;
        undefine_results(w, u, lanes);
        sim_count_undefined(w);
    }
}
