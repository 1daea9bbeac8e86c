// progress.c: loops without progress, loops that wait for the host, and starved lanes.
#include "machine/running.h"

// ---- Loops without progress

uint64_t sim_frame_hash(const Frame *f)
{
    const uint64_t *words = (const uint64_t *)f->registers;
    uint64_t state = 0;
    for (size_t k = 0; k < (f->function->program->frame_bytes + 7) / 8; k++)
        state = (state ^ words[k]) * 0x9e3779b97f4a7c15 + (state >> 29);
    return state;
}

// True if the split is in its loop, or in a function called there.
static bool is_in_loop(const WarpSplit *p)
{
    const Instr *at = sim_instruction_of(p);
    const Frame *f = p->frame;
    for (; f && f != p->loop_frame; f = f->caller)
        at = f->call;
    return f && at >= &f->function->program->code[p->loop->target] && at <= p->loop;
}

// True if the split's loop and the loop of back_edge are nested, and the split has left neither.
static bool in_same_loop_nest(const WarpSplit *p, const Instr *back_edge)
{
    const bool encloses = p->loop_frame == p->frame && back_edge > p->loop &&
                        p->frame->function->program->code + back_edge->target <= p->loop;
    return encloses || is_in_loop(p);
}

// A loop that only waits for the clock may last seconds, so its clock advances in growing steps. A step is at most 2^28
// cycles, so that the loop sees a 32-bit clock wrap around. No delay becomes shorter than requested.
static void advance_clock(Warp *w, const WarpSplit *p)
{
    enum { MAX_SHIFT = 19 };
    const uint32_t checks = p->iterations / SIM_ITERATIONS_TO_COMPARE;
    w->clock_advance += (uint64_t)SIM_ITERATIONS_TO_COMPARE << (checks < MAX_SHIFT ? checks : MAX_SHIFT);
}

void sim_count_iteration(Warp *w, WarpSplit *p, const Instr *back_edge)
{
    const bool same = p->loop == back_edge && p->loop_frame == p->frame;
    if (!(back_edge->loop & READ_ONLY_LOOP)) {
        p->loop = NULL;
        return;
    }
    if (p->loop && !same && is_in_loop(p) && ++p->inner_iterations < SIM_ITERATIONS_TO_COMPARE)
        return;
    if (!same) {
        w->block->watch->memory_version += !p->loop || !in_same_loop_nest(p, back_edge); // code before the loop may have
                                                                                          // written memory
        p->loop = back_edge;
        p->loop_frame = p->frame;
        p->iterations = 0;
        p->unchanged = false;
        p->memory_version = UINT64_MAX;
    }
    p->inner_iterations = 0;
    if (++p->iterations % SIM_ITERATIONS_TO_COMPARE)
        return;
    if (back_edge->loop & WAITS_FOR_CLOCK)
        advance_clock(w, p);
    const uint64_t state = sim_frame_hash(p->frame), memory_version = w->block->watch->memory_version;
    p->unchanged = state == p->state_hash && memory_version == p->memory_version;
    p->state_hash = state;
    p->memory_version = memory_version;
}

void sim_note_progress(Warp *w, WarpSplit *p, uint64_t instructions)
{
    ProgressWatch *watch = w->block->watch;
    if (p->loop && !is_in_loop(p))
        p->loop = NULL;
    watch->memory_version += !p->loop;
    watch->polling_instructions = p->loop && p->loop->loop & POLLING_LOOP ? watch->polling_instructions + instructions : 0;
}

static bool makes_no_progress(const Warp *w, const WarpSplit *p)
{
    return p->loop && p->unchanged && p->memory_version == w->block->watch->memory_version;
}

bool sim_is_warp_stuck(const Warp *w)
{
    const WarpSplit *p = sim_next_split(w);
    return !p || makes_no_progress(w, p);
}

// The branch that closes the innermost loop around an instruction, or NULL.
static const Instr *find_back_edge(const Program *program, uint32_t at)
{
    for (uint32_t k = at; k < program->count; k++) // the next branch to `at` or before closes it
        if (program->code[k].control == BRANCH && program->code[k].target <= at)
            return &program->code[k];
    return NULL;
}

const Instr *sim_innermost_back_edge(const WarpSplit *p)
{
    return find_back_edge(p->frame->function->program, p->pc);
}

// Index of the call in the caller's code.
static uint32_t call_of(const Frame *f)
{
    return (uint32_t)(f->call - f->caller->function->program->code);
}

bool sim_yield_stuck_warp(Warp *w)
{
    WarpSplit *next = sim_next_split(w);
    for (const WarpSplit *q = w->splits; q; q = q->next)
        if (q != next && q->state == RUNNABLE && !makes_no_progress(w, q)) {
            sim_move_to_back(w, next);
            return true;
        }
    return sim_release_at_reconvergence(w, ALL_LANES);
}

// ---- Fairness

bool sim_polls_in_loop(const WarpSplit *p)
{
    uint32_t at = p->pc;
    for (const Frame *f = p->frame; f; f = f->caller) {
        const Program *program = f->function->program;
        for (uint32_t k = at; k < program->count; k++)
            if (program->code[k].control == BRANCH && program->code[k].target <= at && program->code[k].loop & POLLS_IN_LOOP)
                return true;
        at = f->caller ? call_of(f) : 0;
    }
    return false;
}

// True if the instruction may poll memory that the host writes. Atomic operations need system scope for that.
static bool polls_host(const Instr *i)
{
    return (i->kind == LOAD && i->flags & POLLS_OTHERS) || (i->kind == ATOMIC && i->scope == SYSTEM_SCOPE) ||
           (i->control == CALL && (!i->call->callee || i->call->callee->program->effects.observes));
}

// True if the host may write to the allocation while a kernel runs.
static bool is_host_visible(const Allocation *a)
{
    const bool shared = a->kind == PINNED_MEMORY || a->kind == MANAGED_MEMORY || a->kind == HOST_MEMORY ||
                        a->kind == MODULE_MEMORY;
    return shared && !sim_in_device_range((const void *)(uintptr_t)a->address);
}

// True if the load's address is in memory that the host may write. Its register still has the last iteration's value.
static bool loads_from_host(const Frame *f, int lane, const Instr *i)
{
    if (i->kind != LOAD || (i->at.base != NO_OFFSET && i->at.base_bytes != 8))
        return false;
    const uint64_t base = i->at.base == NO_OFFSET ? 0 : ((const uint64_t *)(f->registers + i->at.base))[lane],
                   address = base + (uint64_t)i->at.offset;
    const Allocation *a = sim_allocation_at(address);
    return a && address - a->address < a->bytes && is_host_visible(a);
}

// True if the innermost loop around the split, perhaps in a caller, polls memory that the host may write. host_visible: the
// warp's last access was to such memory.
static bool polls_host_in_loop(const WarpSplit *p, bool host_visible)
{
    const int lane = __builtin_ctz(p->mask);
    uint32_t at = p->pc;
    for (const Frame *f = p->frame; f; f = f->caller) {
        const Instr *code = f->function->program->code, *back_edge = find_back_edge(f->function->program, at);
        for (const Instr *i = back_edge ? &code[back_edge->target] : NULL; i && i < back_edge; i++)
            if (polls_host(i) && (host_visible || loads_from_host(f, lane, i)))
                return true;
        if (back_edge)
            break;
        at = f->caller ? call_of(f) : 0;
    }
    return host_visible && p->frame->caller && sim_polls_in_loop(p);
}

bool sim_waits_for_host(const Warp *w)
{
    const WarpSplit *p = sim_next_split(w);
    return p && polls_host_in_loop(p, w->last_allocation && is_host_visible(w->last_allocation));
}

static bool waits_for(const WarpSplit *p, const WarpSplit *child)
{
    while (child && child != p)
        child = child->parent;
    return child == p;
}

void sim_run_starved(Warp *w, WarpSplit *running)
{
    WarpSplit *longest = NULL;
    w->since_starvation_check = 0;
    if (!running->next && w->splits == running)
        return;
    for (WarpSplit *q = w->splits; q; q = q->next) {
        const bool runnable = q->state == RUNNABLE || (waits_for(q, running) && sim_lanes_at_reconvergence(w, q));
        q->starved = q != running && runnable ? q->starved + 1 : 0;
        if (q->starved > 1 && (!longest || q->starved > longest->starved))
            longest = q;
    }
    if (!longest || running->state != RUNNABLE || !sim_polls_in_loop(running))
        return;
    Block *b = w->block;
    b->starvation_limit = b->starvation_limit / 2 > SIM_MIN_STARVATION_LIMIT ? b->starvation_limit / 2 : SIM_MIN_STARVATION_LIMIT;
    longest->starved = 0;
    sim_move_to_back(w, running);
    if (longest->state == WAITS_FOR_SPLITS)
        sim_release_reconverged(w, longest, sim_lanes_at_reconvergence(w, longest));
}
