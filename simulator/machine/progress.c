// progress.c: loops without progress, loops that wait for the host, and starved lanes.
#include "machine/running.h"

// ---- Loops without progress

uint64_t sim_state_of(const Frame *f)
{
    const uint64_t *words = (const uint64_t *)f->lanes;
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

// True if one of the split's loop and the loop of back_edge contains the other, and the split has not left them.
static bool in_same_nest(const WarpSplit *p, const Instr *turn)
{
    const bool around = p->loop_frame == p->frame && turn > p->loop &&
                        p->frame->function->program->code + turn->target <= p->loop;
    return around || is_in_loop(p);
}

// A loop that only waits for a clock may last seconds. Its clock advances faster and faster, by up to 2^28 cycles a step, so
// that a 32-bit clock never wraps unseen. No delay becomes shorter than requested.
static void move_clock(Warp *w, const WarpSplit *p)
{
    enum { MOST = 19 };
    const uint32_t looks = p->iterations / SIM_ITERATIONS_TO_COMPARE;
    w->waited += (uint64_t)SIM_ITERATIONS_TO_COMPARE << (looks < MOST ? looks : MOST);
}

void sim_count_iteration(Warp *w, WarpSplit *p, const Instr *turn)
{
    const bool same = p->loop == turn && p->loop_frame == p->frame;
    if (!(turn->loop & QUIET_LOOP)) {
        p->loop = NULL;
        return;
    }
    if (p->loop && !same && is_in_loop(p) && ++p->inner_iterations < SIM_ITERATIONS_TO_COMPARE)
        return;
    if (!same) {
        w->block->watch->memory_version += !p->loop || !in_same_nest(p, turn); // the code before the loop may have written
                                                                               // memory
        p->loop = turn;
        p->loop_frame = p->frame;
        p->iterations = 0;
        p->same = false;
        p->memory_version = UINT64_MAX;
    }
    p->inner_iterations = 0;
    if (++p->iterations % SIM_ITERATIONS_TO_COMPARE)
        return;
    if (turn->loop & WAITS_FOR_CLOCK)
        move_clock(w, p);
    const uint64_t state = sim_state_of(p->frame), memory_version = w->block->watch->memory_version;
    p->same = state == p->state && memory_version == p->memory_version;
    p->state = state;
    p->memory_version = memory_version;
}

void sim_watch_split(Warp *w, WarpSplit *p, uint64_t instructions)
{
    Watch *watch = w->block->watch;
    if (p->loop && !is_in_loop(p))
        p->loop = NULL;
    watch->memory_version += !p->loop;
    watch->in_vain = p->loop && p->loop->loop & POLLING_LOOP ? watch->in_vain + instructions : 0;
}

static bool leads_nowhere(const Warp *w, const WarpSplit *p)
{
    return p->loop && p->same && p->memory_version == w->block->watch->memory_version;
}

bool sim_is_stuck(const Warp *w)
{
    const WarpSplit *p = sim_next_split(w);
    return !p || leads_nowhere(w, p);
}

// The branch that closes the innermost loop around an instruction, or NULL.
static const Instr *loop_around(const Program *program, uint32_t at)
{
    for (uint32_t k = at; k < program->count; k++) // it is the next backward branch over the instruction
        if (program->code[k].control == BRANCH && program->code[k].target <= at)
            return &program->code[k];
    return NULL;
}

const Instr *sim_loop_around(const WarpSplit *p)
{
    return loop_around(p->frame->function->program, p->pc);
}

// Index of the call in the caller's code.
static uint32_t call_of(const Frame *f)
{
    return (uint32_t)(f->call - f->caller->function->program->code);
}

bool sim_give_way(Warp *w)
{
    for (const WarpSplit *q = w->splits; q; q = q->next)
        if (q->waiting == RUNS && !leads_nowhere(w, q)) {
            sim_put_last(w, sim_next_split(w));
            return true;
        }
    return sim_open_reconvergence(w, ALL_LANES);
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

// True if the instruction may read what other threads, or the host, have written. Of atomic operations only those with
// system scope can be meant for the host.
static bool looks_for_host(const Instr *i)
{
    return (i->kind == LOAD && i->flags & POLLS_OTHERS) || (i->kind == ATOMIC && i->scope == SYSTEM_SCOPE) ||
           (i->control == CALL && (!i->call->callee || i->call->callee->program->effects.observes));
}

// True if the host may write to the allocation while a kernel runs.
static bool is_open_to_host(const Allocation *a)
{
    const bool shared = a->kind == PINNED_MEMORY || a->kind == MANAGED_MEMORY || a->kind == HOST_MEMORY ||
                        a->kind == MODULE_MEMORY;
    return shared && !sim_in_device_range((const void *)(uintptr_t)a->address);
}

// True if a lane loads from such memory; its address register still has the value of the last iteration.
static bool loads_from_host(const Frame *f, int lane, const Instr *i)
{
    if (i->kind != LOAD || (i->at.base != NOWHERE && i->at.base_bytes != 8))
        return false;
    const uint64_t base = i->at.base == NOWHERE ? 0 : ((const uint64_t *)(f->lanes + i->at.base))[lane],
                   address = base + (uint64_t)i->at.offset;
    const Allocation *a = sim_allocation_at(address);
    return a && address - a->address < a->bytes && is_open_to_host(a);
}

// True if the innermost loop around the split, perhaps in a caller, polls memory that the host may write. host_visible: the
// warp's last access was to such memory.
static bool looks_in_loop(const WarpSplit *p, bool near)
{
    const int lane = __builtin_ctz(p->mask);
    uint32_t at = p->pc;
    for (const Frame *f = p->frame; f; f = f->caller) {
        const Instr *code = f->function->program->code, *turn = loop_around(f->function->program, at);
        for (const Instr *i = turn ? &code[turn->target] : NULL; i && i < turn; i++)
            if (looks_for_host(i) && (near || loads_from_host(f, lane, i)))
                return true;
        if (turn)
            break;
        at = f->caller ? call_of(f) : 0;
    }
    return near && p->frame->caller && sim_polls_in_loop(p);
}

bool sim_awaits_host(const Warp *w)
{
    const WarpSplit *p = sim_next_split(w);
    return p && looks_in_loop(p, w->near && is_open_to_host(w->near));
}

static bool waits_for(const WarpSplit *p, const WarpSplit *child)
{
    while (child && child != p)
        child = child->parent;
    return child == p;
}

void sim_run_starved(Warp *w, WarpSplit *runs)
{
    WarpSplit *longest = NULL;
    w->unfair = 0;
    if (!runs->next && w->splits == runs)
        return;
    for (WarpSplit *q = w->splits; q; q = q->next) {
        const bool could = q->waiting == RUNS || (waits_for(q, runs) && sim_lanes_at_reconvergence(w, q));
        q->starved = q != runs && could ? q->starved + 1 : 0;
        if (q->starved > 1 && (!longest || q->starved > longest->starved))
            longest = q;
    }
    if (!longest || runs->waiting != RUNS || !sim_polls_in_loop(runs))
        return;
    Block *b = w->block;
    b->patience = b->patience / 2 > SIM_LEAST_PATIENCE ? b->patience / 2 : SIM_LEAST_PATIENCE;
    longest->starved = 0;
    sim_put_last(w, runs);
    if (longest->waiting == WAITS_FOR_SPLITS)
        sim_release_reconverged(w, longest, sim_lanes_at_reconvergence(w, longest));
}
