// barriers.c: barrier divergence. From compute capability 7.0 on a barrier waits for the threads that have not exited, so a thread may
// return before it. It is a mistake if a thread bypasses the barrier and continues with code that also follows the barrier, or if
// threads wait at different barriers.
#include "checker/kernel_checks.h"

#include <stdlib.h>
#include <string.h>

static const Instr *instruction_before(const WarpSplit *p)
{
    return p->pc ? &p->frame->function->program->code[p->pc - 1] : p->frame->function->program->code;
}

// ---- Threads that bypass a barrier

// Whether `to` is reachable from the instruction `from`; to == NOWHERE: the end, by a way that does not contain `avoided`.
static bool is_reachable(const Program *p, uint32_t from, uint32_t to, uint32_t avoided)
{
    bool *seen = calloc((size_t)p->count + 1, sizeof *seen), found = false;
    uint32_t *list = malloc(((size_t)p->count + 1) * sizeof *list), count = 0;
    if (!seen || !list)
        sim_die("out of memory for a search through a program");
    list[count++] = from;
    for (uint32_t k = 0; k < count && !found; k++) {
        const uint32_t at = list[k];
        const Instr *i = &p->code[at];
        const bool ends = i->control == RETURN || i->control == EXIT || i->control == UNKNOWN;
        const bool jumps = i->control == BRANCH || i->control == BRANCH_INDEXED;
        const uint32_t targets = i->control == BRANCH ? 1 : i->control == BRANCH_INDEXED ? (uint32_t)i->target_count : 0;
        found = ends && to == NOWHERE;
        for (uint32_t n = 0; n <= targets; n++) {
            const bool falls_through = n == targets;
            if (falls_through && (ends || jumps) && i->guard == NOWHERE)
                continue;
            const uint32_t next = falls_through ? at + 1 : i->control == BRANCH ? i->target : i->targets[n];
            if (next >= p->count) {
                found |= to == NOWHERE;
            } else if (next == to) {
                found = true;
            } else if (next != avoided && !seen[next]) {
                seen[next] = true;
                list[count++] = next;
            }
        }
    }
    free(seen);
    free(list);
    return found;
}

// Whether a thread that exited after the instruction `last` has bypassed the barrier: the barrier is not reachable from there, and all
// ways from the barrier to the end contain `last`.
static bool bypasses(Block *b, uint32_t barrier, uint32_t last)
{
    const Program *p = b->launch->kernel->program;
    for (size_t k = 0; k < sizeof b->bypass_checks / sizeof *b->bypass_checks; k++)
        if (b->bypass_checks[k].known && b->bypass_checks[k].barrier == barrier && b->bypass_checks[k].exit_pc == last)
            return b->bypass_checks[k].bypassed;
    const bool past = last < p->count && !is_reachable(p, last, barrier, NOWHERE) && is_reachable(p, barrier, last, NOWHERE) &&
                      !is_reachable(p, barrier, NOWHERE, last);
    b->bypass_checks[b->bypass_check_count++ % (sizeof b->bypass_checks / sizeof *b->bypass_checks)] = (BypassCheck){barrier, last, true, past};
    return past;
}

// The index in the kernel's own code of an instruction of a frame, or of the call that led to it.
static uint32_t index_in_kernel(const Frame *f, uint32_t at)
{
    for (; f->caller; f = f->caller)
        at = (uint32_t)(f->call - f->caller->function->program->code);
    return at;
}

void sim_note_exits(Warp *w, const WarpSplit *p, uint32_t mask)
{
    const uint32_t end = p->pc - 1, before = p->jump_from != NOWHERE && p->jump_to == end ? p->jump_from : end ? end - 1 : 0;
    const uint32_t last = index_in_kernel(p->frame, before);
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        w->exit_pc[__builtin_ctz(rest)] = last;
    sim_check_cluster_exit(w, &p->frame->function->program->code[end], mask);
}

// The exited threads that bypassed the barrier at which this split waits.
static uint32_t count_bypassing(Block *b, const WarpSplit *waited)
{
    const uint32_t barrier = index_in_kernel(waited->frame, waited->pc ? waited->pc - 1 : 0);
    uint32_t count = 0;
    for (uint32_t t = 0; t < b->threads; t++) {
        const Warp *w = &b->warps[t / LANES];
        count += !(w->live >> t % LANES & 1) && bypasses(b, barrier, w->exit_pc[t % LANES]);
    }
    return count;
}

// ---- Barriers

void sim_check_barrier_divergence(Block *b, const Barrier *barrier)
{
    const WarpSplit *first = NULL, *other = NULL;
    const Warp *of_first = NULL, *of_other = NULL;
    for (int n = 0; n < b->warp_count; n++)
        for (const WarpSplit *p = b->warps[n].splits; p; p = p->next) {
            if (!(barrier->arrived[n] & p->mask) || p->state != RUNNABLE)
                continue;
            const Instr *at = instruction_before(p), *there = first ? instruction_before(first) : at;
            if (at->control == BLOCK_BARRIER && at != there &&
                at->statement->source_line != there->statement->source_line && !other) {
                other = p;
                of_other = &b->warps[n];
            }
            of_first = first ? of_first : &b->warps[n];
            first = first ? first : p;
        }
    const uint32_t bypassing = first && !other && barrier->count < b->threads ? count_bypassing(b, first) : 0;
    if (!other && bypassing == 0)
        return;
    const Warp *warps[] = {of_first, of_other};
    const WarpSplit *splits[] = {first, other};
    Place places[2];
    const int count = other ? 2 : 1;
    for (int k = 0; k < count; k++)
        places[k] =
            sim_place_of(b->launch, b->number, (uint32_t)(warps[k]->number * LANES + __builtin_ctz(splits[k]->mask)),
                         instruction_before(splits[k]), "waiting");
    char title[160];
    if (other)
        snprintf(title, sizeof title, "threads of one block wait at two different barriers");
    else
        snprintf(title, sizeof title, "%u of the block's %u threads bypass this barrier and exit", bypassing, b->threads);
    sim_wait_for_earlier_blocks(b); // not from a speculative run
    sim_add_finding(BARRIER_DIVERGENCE, title, places, count,
                    "move __syncthreads() to where all threads of the block execute it");
}
