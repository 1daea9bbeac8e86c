// barriers.c: barrier divergence. From compute capability 7.0 on, a barrier waits only for threads that have not exited, so a thread
// may return before it. It is an error if a thread bypasses the barrier and continues with code that also follows the barrier, or if
// lanes of a warp wait at different barriers. It is only a warning if each warp waits as a whole and different warps wait at different
// barriers: PTX allows that (bar.sync needs convergence only within a warp), but the CUDA C++ Programming Guide does not. The same holds
// for a lane that bypasses a warp-level operation in whose mask it is, and then exits.
#include "checker/block_check.h"

#include <stdlib.h>
#include <string.h>

static const Instr *instruction_before(const WarpSplit *p)
{
    return p->pc ? &p->frame->function->program->code[p->pc - 1] : p->frame->function->program->code;
}

// ---- Threads that bypass a barrier

// Whether a path leads from instruction `from` to instruction `to` (NO_INDEX: to the end) without instruction `avoided`.
static bool is_reachable(const Program *p, uint32_t from, uint32_t to, uint32_t avoided)
{
    bool *seen = calloc((size_t)p->count + 1, sizeof *seen), found = false;
    uint32_t *list = malloc(((size_t)p->count + 1) * sizeof *list), count = 0;
    if (!seen || !list)
        sim_die("out of memory: control-flow search");
    list[count++] = from;
    for (uint32_t k = 0; k < count && !found; k++) {
        const uint32_t pc = list[k];
        const Instr *i = &p->code[pc];
        const bool ends = i->control == RETURN || i->control == EXIT || i->control == UNKNOWN;
        const bool jumps = i->control == BRANCH || i->control == BRANCH_INDEXED;
        const uint32_t targets = i->control == BRANCH ? 1 : i->control == BRANCH_INDEXED ? (uint32_t)i->target_count : 0;
        found = ends && to == NO_INDEX;
        for (uint32_t n = 0; n <= targets; n++) {
            const bool falls_through = n == targets;
            if (falls_through && (ends || jumps) && i->guard == NO_OFFSET)
                continue;
            const uint32_t next = falls_through ? pc + 1 : i->control == BRANCH ? i->target : i->targets[n];
            if (next >= p->count) {
                found |= to == NO_INDEX;
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

// Whether a thread that exited after instruction `exit_pc` has bypassed the barrier (or other operation): it is not reachable from `exit_pc`, and
// all paths from the barrier to the end contain `exit_pc`.
static bool has_bypassed(const Program *p, uint32_t barrier, uint32_t exit_pc)
{
    return exit_pc < p->count && !is_reachable(p, exit_pc, barrier, NO_INDEX) && is_reachable(p, barrier, exit_pc, NO_INDEX) &&
           !is_reachable(p, barrier, NO_INDEX, exit_pc);
}

// Whether a branch leads either to the operation or directly to code that also follows it, as in `if (condition) operation`. A branch to
// other code may be a return, even if the compiler has joined the ends of both paths.
static bool has_skipping_branch(const Program *p, uint32_t operation)
{
    for (uint32_t pc = 0; pc < p->count; pc++) {
        const Instr *i = &p->code[pc];
        if (i->control != BRANCH || i->guard == NO_OFFSET)
            continue;
        uint32_t sides[] = {pc + 1, i->target};
        for (int k = 0; k < 2; k++)
            while (sides[k] < p->count && p->code[sides[k]].control == BRANCH && p->code[sides[k]].guard == NO_OFFSET && p->code[sides[k]].target > sides[k])
                sides[k] = p->code[sides[k]].target;
        for (int k = 0; k < 2; k++)
            if (has_bypassed(p, operation, sides[k]) && (sides[!k] == operation || is_reachable(p, sides[!k], operation, NO_INDEX)))
                return true;
    }
    return false;
}

static const BypassCheck *bypass_check(Block *b, uint32_t barrier, uint32_t exit_pc)
{
    BlockCheck *check = b->check;
    const Program *p = b->launch->kernel->program;
    for (const BypassCheck *c = check->bypass_checks; c < check->bypass_checks + BYPASS_CHECKS; c++)
        if (c->known && c->barrier == barrier && c->exit_pc == exit_pc)
            return c;
    BypassCheck *c = &check->bypass_checks[check->bypass_check_count++ % BYPASS_CHECKS];
    *c = (BypassCheck){barrier, exit_pc, true, has_bypassed(p, barrier, exit_pc), false};
    c->skipped = c->bypassed && has_skipping_branch(p, barrier);
    return c;
}

// The index in the kernel's code of an instruction of a frame or, if a function contains it, of the call in the kernel.
static uint32_t index_in_kernel(const Frame *f, uint32_t at)
{
    for (; f->caller; f = f->caller)
        at = (uint32_t)(f->call - f->caller->function->program->code);
    return at;
}

// Lanes of a split in the mask of whose warp-level operation `lanes` are, although these have bypassed the operation and exit now.
static void report_missing_lanes(Warp *w, const WarpSplit *waiting, uint32_t lanes)
{
    const Instr *i = sim_instruction_of(waiting);
    const FindingLocation location = sim_lane_location(w, __builtin_ctz(waiting->mask & ~waiting->executed), i, "waiting", WAITS);
    char title[160];
    snprintf(title, sizeof title, "%d lanes (0x%x) are in the mask of an operation that they bypass", __builtin_popcount(lanes), lanes);
    sim_wait_for_earlier_blocks(w->block); // not from a speculative run
    sim_add_warning(INVALID_WARP_OPERATION, title, &location, 1,
                    "name in the mask only the lanes that execute the operation, or move it to where all of them do\n"
                    "note: PTX waits until the other lanes exit; the CUDA C++ Programming Guide requires that all lanes in the mask which have not "
                    "exited execute the operation");
}

// Lanes exit, the last at `exit_pc`. Reports splits that have waited for them at an operation which they have bypassed. Lanes that return
// instead are correct: an operation waits only for lanes that have not exited.
static void check_awaited_lanes(Warp *w, uint32_t mask, uint32_t exit_pc)
{
    for (const WarpSplit *q = w->splits; q; q = q->next) {
        uint32_t awaited = 0;
        for (uint32_t rest = q->state == WAITS_FOR_LANES ? q->mask & ~q->executed : 0; rest; rest &= rest - 1)
            awaited |= mask & ((const uint32_t *)(q->frame->registers + sim_instruction_of(q)->members))[__builtin_ctz(rest)];
        if (awaited && bypass_check(w->block, index_in_kernel(q->frame, q->pc), exit_pc)->skipped)
            report_missing_lanes(w, q, awaited);
    }
}

void sim_note_exits(Warp *w, const WarpSplit *p, uint32_t mask)
{
    const uint32_t exit_pc = p->pc - 1, previous = p->jump_from != NO_INDEX && p->jump_to == exit_pc ? p->jump_from : exit_pc ? exit_pc - 1 : 0;
    const uint32_t last_pc = index_in_kernel(p->frame, previous);
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        w->block->check->exit_pc[w->number][__builtin_ctz(rest)] = last_pc;
    check_awaited_lanes(w, mask, last_pc);
    sim_check_cluster_exit(w, &p->frame->function->program->code[exit_pc], mask);
}

// The number of exited threads that bypassed the barrier at which this split waits.
static uint32_t count_bypassing(Block *b, const WarpSplit *waiting)
{
    const uint32_t barrier = index_in_kernel(waiting->frame, waiting->pc ? waiting->pc - 1 : 0);
    uint32_t count = 0;
    for (uint32_t t = 0; t < b->threads; t++) {
        const Warp *w = &b->warps[t / LANES];
        count += !(w->live_mask >> t % LANES & 1) && bypass_check(b, barrier, b->check->exit_pc[t / LANES][t % LANES])->bypassed;
    }
    return count;
}

// ---- Barriers

// `splits`: two that wait at different barriers, or one at the barrier that exited threads have bypassed, and NULL.
static void report_divergence(Block *b, const Warp *const warps[2], const WarpSplit *const splits[2], bool is_warning, uint32_t bypassing)
{
    FindingLocation locations[2];
    char title[160], hint[HINT_BYTES] = "move __syncthreads() to where all threads of the block execute it";
    const int count = splits[1] ? 2 : 1;
    for (int k = 0; k < count; k++)
        locations[k] = sim_lane_location(warps[k], __builtin_ctz(splits[k]->mask), instruction_before(splits[k]), "waiting", WAITS);
    if (splits[1])
        snprintf(title, sizeof title, "%s of one block wait at two different barriers", is_warning ? "warps" : "threads");
    else
        snprintf(title, sizeof title, "%u of the block's %u threads bypass this barrier and exit", bypassing, b->threads);
    if (is_warning)
        sim_add_hint_line(hint, "note: correct by PTX, since each warp waits as a whole; forbidden by the CUDA C++ Programming Guide");
    sim_wait_for_earlier_blocks(b); // not from a speculative run
    (is_warning ? sim_add_warning : sim_add_finding)(BARRIER_DIVERGENCE, title, locations, count, hint);
}

void sim_check_barrier_divergence(Block *b, const Barrier *barrier)
{
    const WarpSplit *splits[2] = {NULL, NULL}; // the first that waits, and one that waits at another barrier
    const Warp *warps[2] = {NULL, NULL};
    bool whole_warps = true; // each warp waits as one split
    for (int n = 0; n < b->warp_count; n++)
        for (const WarpSplit *p = b->warps[n].splits; p; p = p->next) {
            if (!(barrier->arrived[n] & p->mask) || p->state != RUNNABLE)
                continue;
            whole_warps &= p->mask == b->warps[n].live_mask;
            const Instr *i = instruction_before(p);
            const bool is_other = splits[0] && i->control == BLOCK_BARRIER && i != instruction_before(splits[0]);
            if (!splits[is_other]) {
                splits[is_other] = p;
                warps[is_other] = &b->warps[n];
            }
        }
    const uint32_t bypassing = splits[0] && !splits[1] && barrier->count < b->threads ? count_bypassing(b, splits[0]) : 0;
    if (splits[1] || bypassing > 0)
        report_divergence(b, warps, splits, splits[1] && whole_warps, bypassing);
}
