// convergence.c: warp-level operations and __syncwarp(), for lanes that may be at different instructions.
#include "machine/observer.h"

#include <string.h>

// True if lanes at these instructions take part in one operation. PTX requires equal modifiers, except for warp barriers.
static bool same_operation(const Instr *a, const Instr *b)
{
    return a->control == b->control &&
           (a == b || a->control == WARP_BARRIER || a->opcode == b->opcode);
}

// The live lanes in the member mask of a waiting lane.
static uint32_t members_of(const Warp *w, const WarpSplit *p, int lane)
{
    return ((const uint32_t *)(p->frame->registers + sim_instruction_of(p)->members))[lane] & w->live_mask;
}

// The lanes that have arrived at operation i, at any instruction, with this member mask.
static uint32_t arrived_lanes(const Warp *w, const Instr *i, uint32_t members)
{
    uint32_t lanes = 0;
    for (const WarpSplit *q = w->splits; q; q = q->next) {
        if (q->state != WAITS_FOR_LANES || !same_operation(i, sim_instruction_of(q)))
            continue;
        for (uint32_t rest = q->mask & ~q->executed; rest; rest &= rest - 1)
            if (members_of(w, q, __builtin_ctz(rest)) == members)
                lanes |= rest & -rest;
    }
    return lanes;
}

typedef struct GatheredOperands { // operands of lanes that are at different instructions
    uint64_t a_64[LANES]; // operand a of 8 bytes
    uint32_t a[LANES], b[LANES], c[LANES], d[LANES]; // operands of 4 bytes
    uint32_t predicate, result, second;              // predicates: a vote's operand and result; the second result
} GatheredOperands;

// Copies the lanes' operands from the split into g, or with write_back their results from g into the split.
static void copy_operands(GatheredOperands *g, const WarpSplit *p, uint32_t mask, bool write_back)
{
    const Instr *i = sim_instruction_of(p);
    uint8_t *lanes = p->frame->registers;
    const bool is_vote = i->kind == VOTE, is_ballot = is_vote && i->op == VOTE_BALLOT;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        if (write_back && i->d != NO_OFFSET && (!is_vote || is_ballot))
            ((uint32_t *)(lanes + i->d))[l] = g->d[l];
        if (write_back)
            continue;
        if (i->kind == MATCH && i->bytes == 8)
            g->a_64[l] = ((const uint64_t *)(lanes + i->a))[l];
        else if (!is_vote && i->kind != ELECT)
            g->a[l] = ((const uint32_t *)(lanes + i->a))[l];
        if (i->kind == SHUFFLE) {
            g->b[l] = ((const uint32_t *)(lanes + i->b))[l];
            g->c[l] = ((const uint32_t *)(lanes + i->c))[l];
        }
    }
    if (!write_back && is_vote) {
        const uint32_t values = *(const uint32_t *)(lanes + i->a) ^ (i->flags & COMBINE_NEGATED ? ALL_LANES : 0);
        g->predicate = (g->predicate & ~mask) | (values & mask);
    }
    if (write_back && is_vote && !is_ballot) {
        uint32_t *d = (uint32_t *)(lanes + i->d);
        *d = (*d & ~mask) | (g->result & mask);
    }
    if (write_back && i->second != NO_OFFSET) {
        uint32_t *second = (uint32_t *)(lanes + i->second);
        *second = (*second & ~mask) | (g->second & mask);
    }
}

// Executes operation i for lanes at different instructions, whose operands are in different registers.
static void run_gathered(Warp *w, const Instr *i, uint32_t mask)
{
    GatheredOperands g;
    memset(&g, 0, sizeof g);
    for (const WarpSplit *q = w->splits; q; q = q->next)
        if (q->state == WAITS_FOR_LANES && q->mask & mask)
            copy_operands(&g, q, q->mask & mask, false);
    const bool is_vote = i->kind == VOTE, is_ballot = is_vote && i->op == VOTE_BALLOT;
    Instr gathered = *i;
    gathered.flags &= (uint16_t)~COMBINE_NEGATED;
    gathered.a = is_vote ? offsetof(GatheredOperands, predicate) : i->bytes == 8 ? offsetof(GatheredOperands, a_64) : offsetof(GatheredOperands, a);
    gathered.b = offsetof(GatheredOperands, b);
    gathered.c = offsetof(GatheredOperands, c);
    gathered.d = is_vote && !is_ballot ? offsetof(GatheredOperands, result) : offsetof(GatheredOperands, d);
    gathered.second = offsetof(GatheredOperands, second);
    w->registers = (uint8_t *)&g;
    i->run(w, &gathered, mask);
    for (const WarpSplit *q = w->splits; q; q = q->next)
        if (q->state == WAITS_FOR_LANES && q->mask & mask)
            copy_operands(&g, q, q->mask & mask, true);
}

static void execute(Warp *w, const Instr *i, uint32_t mask)
{
    if (i->control == CONVERGE) {
        if (w->undefined_count)
            sim_observer.begin_warp_operation(w, i, mask, NULL);
        i->run(w, i, mask);
    } else if (is_block_checked(w->block))
        sim_observer.warp_barrier(w, mask);
}

void sim_execute_if_converged(Warp *w, WarpSplit *p)
{
    const Instr *i = sim_instruction_of(p);
    for (uint32_t rest = p->mask & ~p->executed; rest;) {
        const uint32_t members = members_of(w, p, __builtin_ctz(rest)), arrived = arrived_lanes(w, i, members);
        rest &= ~arrived;
        if (members & ~arrived)
            continue;
        w->registers = p->frame->registers;
        if (i->control == CONVERGE && arrived & ~p->mask) {
            if (w->undefined_count)
                sim_observer.begin_warp_operation(w, i, arrived, run_gathered);
            run_gathered(w, i, arrived);
        } else
            execute(w, i, arrived);
        for (WarpSplit *q = w->splits; q; q = q->next)
            if (q->state == WAITS_FOR_LANES)
                q->executed |= q->mask & arrived;
    }
    w->block->counters.shuffles += i->kind == SHUFFLE && p->executed == p->mask;
    for (WarpSplit *q = w->splits; q; q = q->next)
        if (q->state == WAITS_FOR_LANES && q->executed == q->mask) {
            q->state = RUNNABLE;
            q->pc++;
        }
}

uint32_t sim_awaited_lanes(const Warp *w)
{
    uint32_t awaited = 0;
    for (const WarpSplit *q = w->splits; q; q = q->next)
        for (uint32_t rest = q->state == WAITS_FOR_LANES ? q->mask & ~q->executed : 0; rest; rest &= rest - 1)
            awaited |= members_of(w, q, __builtin_ctz(rest));
    return awaited;
}

void sim_wait_for_convergence(Warp *w, WarpSplit *p, const Instr *i)
{
    const uint32_t *members = (const uint32_t *)(w->registers + i->members), first = members[__builtin_ctz(p->mask)];
    uint32_t different = 0, not_own_member = 0;
    for (int l = 0; l < LANES; l++) {
        different |= (uint32_t)(members[l] != first) << l;
        not_own_member |= (~members[l] >> l & 1) << l;
    }
    not_own_member &= p->mask;
    if (not_own_member)
        sim_fault(w, i, __builtin_ctz(not_own_member), cudaErrorIllegalInstruction, "the lane is not in its own mask 0x%08x\nname in the mask exactly the lanes that execute the operation",
                  members[__builtin_ctz(not_own_member)]);
    if ((different & p->mask) == 0 && (first & w->live_mask) == p->mask) { // fast path: all lanes have arrived together
        w->block->counters.shuffles += i->kind == SHUFFLE;
        execute(w, i, p->mask);
        p->pc++;
        return;
    }
    p->state = WAITS_FOR_LANES;
    p->executed = 0;
    p->loop = NULL;
    sim_execute_if_converged(w, p);
}
