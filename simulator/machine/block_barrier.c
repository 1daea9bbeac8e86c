// block_barrier.c: block barriers (bar.sync, bar.arrive, bar.red).
#include "machine/running.h"

#include <string.h>

// ---- Arrival

// The lanes with a different value, as a mask.
static uint32_t lanes_with_other_value(const uint32_t *values, uint32_t value)
{
    uint32_t lanes = 0;
    for (int l = 0; l < LANES; l++)
        lanes |= (uint32_t)(values[l] != value) << l;
    return lanes;
}

void sim_execute_barrier(Warp *w, WarpSplit *p, const Instr *i)
{
    const int first = __builtin_ctz(p->mask);
    const uint32_t *numbers = (uint32_t *)(w->registers + i->a), number = numbers[first];
    const uint32_t requested = i->b == NO_OFFSET ? 0 : ((uint32_t *)(w->registers + i->b))[first];
    const uint32_t expected = requested ? requested : (uint32_t)w->block->warp_count * LANES;
    if (number >= BARRIERS)
        sim_fault(w, i, first, cudaErrorIllegalInstruction, "barrier %u does not exist; a block has %d", number, BARRIERS);
    if (requested % LANES || (i->op == BAR_ARRIVE && requested == 0))
        sim_fault(w, i, first, cudaErrorIllegalInstruction, "a barrier for %u threads, which is not a multiple of the warp size", requested);
    const uint32_t other_barrier = lanes_with_other_value(numbers, number) & p->mask;
    if (other_barrier)
        sim_fault(w, i, __builtin_ctz(other_barrier), cudaErrorIllegalInstruction,
                  "barrier %u, while another lane of the warp executes barrier %u", numbers[__builtin_ctz(other_barrier)],
                  number);
    Barrier *b = &w->block->barriers[number];
    if (b->count > 0 && b->expected != expected)
        sim_fault(w, i, first, cudaErrorIllegalInstruction, "barrier %u for %u threads, at which others wait for %u threads",
                  number, expected, b->expected);
    if (i->op >= BAR_POPC) {
        const uint32_t values = *(uint32_t *)(w->registers + i->c) ^ (i->flags & COMBINE_NEGATED ? ALL_LANES : 0);
        const uint32_t undefined = w->undefined_count ? sim_observer.undefined_operand_of_barrier(w, i, p->mask) : 0;
        b->true_count += (uint32_t)__builtin_popcount(values & p->mask);
        b->undefined_count += (uint32_t)__builtin_popcount(undefined);
        b->undefined_true_count += (uint32_t)__builtin_popcount(values & undefined);
    }
    b->expected = expected;
    b->has_count |= requested != 0;
    if (requested && is_block_checked(w->block))
        sim_observer.arrive(w, p->mask, sim_named_barrier_key((int)number));
    b->arrived[w->number] |= p->mask;
    b->count += (uint32_t)__builtin_popcount(p->mask);
    w->block->counters.block_barriers++;
    p->pc++;
    p->loop = NULL;
    if (i->op != BAR_ARRIVE) {
        p->state = WAITS_AT_BARRIER;
        p->barrier = (int)number;
    }
    sim_check_barrier(w->block, (int)number);
}

// ---- Completion

static bool is_complete(const Block *b, const Barrier *barrier)
{
    const bool whole_block = barrier->expected >= (uint32_t)b->warp_count * LANES;
    uint32_t threads = 0; // whole warps count: PTX rounds the thread count up to warps
    if (whole_block && barrier->count < b->live_threads)
        return false;
    for (int n = 0; n < b->warp_count; n++)
        if (whole_block || barrier->arrived[n]) {
            if (b->warps[n].live_mask & ~barrier->arrived[n])
                return false;
            threads += LANES;
        }
    return threads >= barrier->expected;
}

// The result of a barrier that combines predicates, of which `true_count` are true.
static uint32_t reduce(const Instr *i, const Barrier *barrier, uint32_t true_count)
{
    return i->op == BAR_POPC ? true_count : i->op == BAR_AND ? true_count == barrier->count : true_count > 0;
}

static void write_result(Warp *w, const WarpSplit *p, const Barrier *barrier)
{
    const Instr *i = &p->frame->function->program->code[p->pc - 1];
    if (i->op < BAR_POPC)
        return;
    uint32_t *d = (uint32_t *)(p->frame->registers + i->d);
    const uint32_t result = reduce(i, barrier, barrier->true_count);
    for (uint32_t rest = i->op == BAR_POPC ? p->mask : 0; rest; rest &= rest - 1)
        d[__builtin_ctz(rest)] = result;
    if (i->op != BAR_POPC)
        *d = (*d & ~p->mask) | (result ? p->mask : 0);
    const uint32_t least = barrier->true_count - barrier->undefined_true_count;
    const bool is_defined = reduce(i, barrier, least) == reduce(i, barrier, least + barrier->undefined_count);
    if (!is_defined || w->undefined_count)
        sim_observer.end_barrier_reduction(w, p, i, is_defined);
}

void sim_check_barrier(Block *b, int number)
{
    Barrier *barrier = &b->barriers[number];
    if (barrier->count == 0 || !is_complete(b, barrier))
        return;
    for (int n = 0; n < b->warp_count; n++)
        for (WarpSplit *p = b->warps[n].splits; p; p = p->next)
            if (p->state == WAITS_AT_BARRIER && p->barrier == number) {
                write_result(&b->warps[n], p, barrier);
                p->state = RUNNABLE;
                if (is_block_checked(b) && barrier->has_count)
                    sim_observer.acquire(&b->warps[n], p->mask, sim_named_barrier_key(number));
                if (b->traced)
                    sim_trace_release(&b->warps[n], p);
            }
    if (is_block_checked(b) && !barrier->has_count)
        sim_observer.complete_barrier(b, barrier);
    memset(barrier, 0, sizeof *barrier);
}

void sim_check_barriers(Block *b)
{
    for (int number = 0; number < BARRIERS; number++)
        if (b->barriers[number].count > 0)
            sim_check_barrier(b, number);
}
