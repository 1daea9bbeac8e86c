// deadlock.c: when a block makes no progress, runs other lanes or time-slices the launch, or reports a deadlock or infinite loop.
#include "machine/blocks.h"

// True if a split waits at a barrier of the block or of the cluster.
static bool is_at_barrier(const Block *b)
{
    for (int n = 0; n < b->warp_count; n++)
        for (const WarpSplit *p = b->warps[n].splits; p; p = p->next)
            if (p->state == WAITS_AT_BARRIER || p->state == WAITS_AT_CLUSTER_BARRIER)
                return true;
    return false;
}

bool sim_release_waiting_lanes(Block *b)
{
    const bool at_barrier = is_at_barrier(b);
    bool released = false;
    for (int n = 0; n < b->warp_count; n++)
        released |= sim_release_at_reconvergence(&b->warps[n], at_barrier ? ALL_LANES : sim_awaited_lanes(&b->warps[n]));
    return released;
}

bool sim_waits_for_cluster(const Block *b)
{
    for (int n = 0; n < b->warp_count; n++)
        for (const WarpSplit *p = b->warps[n].splits; p; p = p->next)
            if (p->state == WAITS_AT_CLUSTER_BARRIER)
                return true;
    return false;
}

bool sim_is_block_stuck(const Block *b)
{
    bool any_runnable = false;
    for (int n = 0; n < b->warp_count; n++) {
        if (!sim_is_warp_stuck(&b->warps[n]))
            return false;
        any_runnable |= sim_next_split(&b->warps[n]) != NULL;
    }
    return any_runnable || sim_waits_for_cluster(b);
}

bool sim_run_other_lanes(Block *b)
{
    bool switched = false;
    for (int n = 0; n < b->warp_count; n++)
        switched |= sim_yield_stuck_warp(&b->warps[n]);
    return switched;
}

// Reports what a split waits for and ends the block. Returns if the split does not wait for other threads.
static void report_waiting(Warp *w, const WarpSplit *p)
{
    const Block *b = w->block;
    const Instr *next = &p->frame->function->program->code[p->pc];
    const int first = __builtin_ctz(p->mask), lanes = __builtin_popcount(p->mask);
    if (p->state == WAITS_AT_CLUSTER_BARRIER)
        sim_fault(w, next - 1, first, cudaErrorLaunchTimeout,
                  "%d threads of a warp wait at the cluster barrier, which other threads of the cluster never reach", lanes);
    if (p->state == WAITS_AT_BARRIER)
        sim_fault(w, next - 1, first, cudaErrorLaunchTimeout,
                  "%u of %u live threads wait at barrier %d, which the others never reach\n"
                  "move the barrier to where all threads of the block execute it",
                  b->barriers[p->barrier].count, b->live_threads, p->barrier);
    if (p->state == WAITS_FOR_LANES)
        sim_fault(w, next, first, cudaErrorLaunchTimeout,
                  "%d lanes (0x%x) wait for other lanes in their mask that never execute this operation; the block has %u live threads\n"
                  "name in the mask exactly the lanes that execute the operation", lanes,
                  p->mask, b->live_threads);
}

_Noreturn void sim_report_deadlock(Block *b)
{
    for (int n = 0; n < b->warp_count; n++)
        for (const WarpSplit *p = b->warps[n].splits; p; p = p->next)
            report_waiting(&b->warps[n], p);
    sim_fault(&b->warps[0], NULL, -1, cudaErrorLaunchTimeout, "deadlock: no thread can continue");
}

// The runnable warp that has executed the most instructions; the first warp if none is runnable.
static Warp *busiest_warp(Block *b)
{
    Warp *busiest = &b->warps[0];
    for (int n = 0; n < b->warp_count; n++)
        if (sim_next_split(&b->warps[n]) &&
            (!sim_next_split(busiest) || b->warps[n].instructions > busiest->instructions))
            busiest = &b->warps[n];
    return busiest;
}

// A kernel runs to its end before the host continues. A kernel that waits for the host is correct on a GPU, but never ends
// here.
static void report_wait_for_host(Block *b)
{
    for (int n = 0; b->error == cudaSuccess && n < b->warp_count; n++) {
        Warp *w = &b->warps[n];
        const WarpSplit *p = sim_waits_for_host(w) ? sim_next_split(w) : NULL;
        if (!p)
            continue;
        sim_note_fault(w, sim_innermost_back_edge(p), __builtin_ctz(p->mask), cudaErrorNotSupported,
                       "this loop polls memory that the host may write, and does not end; the simulator cannot run a kernel that "
                       "waits for the host, as each kernel ends before the host continues");
        b->fault.waits_for_host = true;
        longjmp(b->on_fault, FAULT);
    }
}

// Reports the busiest warp's loop, at its back edge.
static _Noreturn void report_infinite_loop(Block *b, const char *what)
{
    report_wait_for_host(b);
    Warp *w = busiest_warp(b);
    const WarpSplit *p = sim_next_split(w);
    char mbarrier_text[200] = "", bytes_text[40] = "";
    if (w->mbarrier_wait.expected && w->mbarrier_wait.bytes)
        snprintf(bytes_text, sizeof bytes_text, " and %lld bytes", (long long)w->mbarrier_wait.bytes);
    if (w->mbarrier_wait.expected)
        snprintf(mbarrier_text, sizeof mbarrier_text, "; it waits at an mbarrier for %u of %u arrivals%s\n"
                 "check the parity of this wait, and the number of arrivals", w->mbarrier_wait.missing,
                 w->mbarrier_wait.expected, bytes_text);
    sim_fault(w, p ? sim_innermost_back_edge(p) : NULL, p ? __builtin_ctz(p->mask) : -1, cudaErrorLaunchTimeout, "%s%s", what,
              mbarrier_text);
}

bool sim_has_later_blocks(const Block *b)
{
    const Launch *launch = b->launch;
    return !launch->time_sliced && launch->block_concurrency != CONCURRENT && b->start_index + 1 < launch->blocks_to_run;
}

void sim_switch_to_time_slicing(Block *b, const char *why)
{
    sim_wait_for_earlier_blocks(b);
    if (!sim_has_later_blocks(b))
        return;
    b->launch->time_slicing_reason = why;
    longjmp(b->on_fault, NEEDS_LATER_BLOCKS);
}

bool sim_is_polling(const Block *b)
{
    for (int n = 0; n < b->warp_count; n++) {
        const WarpSplit *p = sim_next_split(&b->warps[n]);
        if (p && sim_polls_in_loop(p))
            return true;
    }
    return false;
}

_Noreturn void sim_report_stuck(Block *b, const char *note)
{
    char what[500];
    sim_switch_to_time_slicing(b, SIM_NEEDS_LATER_BLOCKS);
    if (!sim_next_split(busiest_warp(b)))
        sim_report_deadlock(b);
    snprintf(what, sizeof what, "infinite loop: all threads that could end it are waiting or are in infinite loops too%s", note);
    report_infinite_loop(b, what);
}

_Noreturn void sim_report_limit(Block *b, uint64_t instructions)
{
    char what[160];
    snprintf(what, sizeof what,
             "still running after %llu warp instructions: perhaps an infinite loop ($SIM_MAX_INSTRUCTIONS sets the limit)",
             (unsigned long long)instructions);
    report_infinite_loop(b, what);
}
