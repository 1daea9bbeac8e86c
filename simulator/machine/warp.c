// warp.c: the interpreter loop of a warp, which executes one split at a time (splits.c).
#include "machine/running.h"

enum { TIME_SLICE = 20000 };    // warp instructions
enum { SHORT_TIME_SLICE = 32 }; // for time-sliced launches

// ---- Start and exit of lanes

// The lanes of a warp that run on their own, up to an operation at which lanes wait for each other: random ones with
// $SIM_LANES_APART, else none.
static uint32_t lanes_apart(Block *b)
{
    return sim_settings()->lanes_apart ? (uint32_t)(sim_next_random(&b->random_state) >> 16) : 0;
}

void sim_start_warp(Warp *w, uint32_t live_mask)
{
    sim_enter_kernel(w);
    w->live_mask = live_mask;
    w->arrived = w->may_pass = 0;
    w->splits = NULL;
    w->last_allocation = NULL;
    if (w->undefined_registers)
        sim_observer.clear_warp(w);
    sim_discard_copies(w);
    sim_discard_sources(w);
    const uint32_t apart = lanes_apart(w->block) & live_mask;
    if (apart && apart != live_mask)
        sim_new_split(w, NULL, w->entry, apart, 0, NO_INDEX);
    sim_new_split(w, NULL, w->entry, apart == live_mask ? live_mask : live_mask & ~apart, 0, NO_INDEX);
}

static void exit_lanes(Warp *w, WarpSplit *p, uint32_t mask)
{
    if (is_block_checked(w->block))
        sim_observer.exit_lanes(w, p, mask);
    w->live_mask &= ~mask;
    w->block->live_threads -= (uint32_t)__builtin_popcount(mask);
    p->mask &= ~mask;
    for (Frame *f = p->frame, *caller; (caller = f->caller); f = caller)
        sim_leave_frame(w->block, f, mask);
    if (p->mask == 0)
        sim_end_split(w, p);
    for (WarpSplit *q = w->splits; q; q = q->next)
        if (q->state == WAITS_FOR_LANES) // the last lanes that it waits for may have exited
            sim_execute_if_converged(w, q);
    sim_check_barriers(w->block);
    sim_check_cluster_barrier(w->block);
}

// ---- Execution

static void branch_by_index(Warp *w, WarpSplit *p, const Instr *i, uint32_t mask)
{
    p->loop = NULL;
    const uint32_t *index = (const uint32_t *)(w->registers + i->a);
    const int first = __builtin_ctz(mask);
    uint32_t same_target = 0;
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        if (index[__builtin_ctz(rest)] == index[first])
            same_target |= 1u << __builtin_ctz(rest);
    if (index[first] >= i->target_count)
        sim_fault(w, i, first, cudaErrorIllegalInstruction, "an indexed branch to target %u of %u targets", index[first],
                  i->target_count);
    if (same_target == p->mask) {
        sim_note_jump(p, p->pc, i->targets[index[first]]);
        p->pc = i->targets[index[first]];
    } else if (mask == p->mask) // lanes with another index execute this instruction again
        sim_diverge(w, p, i->reconvergence_pc, same_target, i->targets[index[first]], p->pc);
    else if (mask == same_target) // lanes whose guard is false fall through
        sim_diverge(w, p, i->reconvergence_pc, mask, i->targets[index[first]], p->pc + 1);
    else // splits off the lanes whose guard is true; they execute this instruction again
        sim_diverge(w, p, i->reconvergence_pc, mask, p->pc, p->pc + 1);
}

static _Noreturn void report_unsupported(Warp *w, const Instr *i, uint32_t mask)
{
    char reason[512];
    if (i->reason)
        sim_fault(w, i, __builtin_ctz(mask), cudaErrorNotSupported, "%s", i->reason);
    sim_explain_unknown(w->block->launch->module, i->statement, reason, sizeof reason);
    sim_fault(w, i, __builtin_ctz(mask), cudaErrorNotSupported, "%s", reason);
}

static void execute_branch(Warp *w, WarpSplit *p, const Instr *i, uint32_t mask)
{
    if (mask != p->mask) {
        w->block->counters.uneven_loops += (i->loop & LEAVES_LOOP) != 0;
        sim_diverge(w, p, i->reconvergence_pc, mask, i->target, p->pc + 1);
        return;
    }
    if (i->target <= p->pc)
        sim_count_iteration(w, p, i);
    sim_note_jump(p, p->pc, i->target);
    p->pc = i->target;
}

static void end_function(Warp *w, WarpSplit *p, const Instr *i, uint32_t mask)
{
    const uint32_t end = p->frame->function->program->count;
    if (p->frame->function->is_kernel) {
        p->pc++; // for lanes that the guard excludes
        exit_lanes(w, p, mask);
    } else if (p->pc == end) {
        sim_return_to_caller(w, p);
    } else if (mask == p->mask) {
        p->pc = end; // all lanes of the call reconverge there
    } else {
        sim_diverge(w, p, i->reconvergence_pc, mask, end, p->pc + 1);
    }
}

// Executes an operation that all lanes of a split execute together. Lanes that the guard excludes continue after it.
static void execute_convergent(Warp *w, WarpSplit *p, const Instr *i, uint32_t mask)
{
    if (mask != p->mask)
        sim_diverge(w, p, p->pc + 1, mask, p->pc, p->pc + 1);
    else if (i->control == CALL)
        sim_call(w, p, i);
    else if (i->control == BLOCK_BARRIER)
        sim_execute_barrier(w, p, i);
    else if (i->control == CLUSTER_BARRIER)
        sim_execute_cluster_barrier(w, p, i);
    else
        sim_wait_for_convergence(w, p, i);
}

static void execute_control(Warp *w, WarpSplit *p, const Instr *i, uint32_t mask)
{
    switch (i->control) {
    case BRANCH:
        execute_branch(w, p, i, mask);
        break;
    case BRANCH_INDEXED:
        branch_by_index(w, p, i, mask);
        break;
    case EXIT:
        i->run(w, i, mask); // reports a failed assertion
        p->pc++;            // for lanes that the guard excludes
        exit_lanes(w, p, mask);
        break;
    case RETURN:
        end_function(w, p, i, mask);
        break;
    case PHASE_TEST:
        i->run(w, i, mask);
        p->pc++;
        break;
    case UNKNOWN:
        report_unsupported(w, i, mask);
    default:
        execute_convergent(w, p, i, mask);
    }
}

// True if all lanes take the branch, and sim_count_iteration() need not compare the loop's state with an earlier iteration. Counts
// the iteration if the branch closes a loop.
static inline bool try_plain_jump(WarpSplit *p, const Instr *i, uint32_t mask, uint32_t pc)
{
    if (i->control != BRANCH || mask != p->mask)
        return false;
    if (i->target > pc)
        return true;
    if (i->loop & READ_ONLY_LOOP)
        return sim_try_count_iteration(p, i);
    p->loop = NULL; // as in sim_count_iteration
    return true;
}

// The number of instructions, starting with i, that need no checks: plain, unguarded, before the reconvergence point, and
// within the time slice.
static inline uint32_t unchecked_count(const Instr *i, uint32_t budget, uint32_t until_reconvergence)
{
    const uint32_t count = i->straight_line_count < until_reconvergence ? i->straight_line_count : until_reconvergence;
    return count < budget ? count : budget;
}

// Runs instructions that need no checks, up to one that leaves a register undefined; returns their number.
static inline uint32_t run_unchecked(Warp *w, const Instr *first, uint32_t count, uint32_t mask)
{
    const Instr *const end = first + count;
    for (const Instr *i = first; i < end;) {
        i->run(w, i, mask);
        i++;
        if (w->undefined_count)
            return (uint32_t)(i - first);
    }
    return count;
}

// The split's lanes for which the guard is true.
static inline uint32_t guarded_lanes(const Warp *w, const Instr *i, uint32_t mask)
{
    if (i->guard == NO_OFFSET)
        return mask;
    return mask & (*(uint32_t *)(w->registers + i->guard) ^ (i->guard_negated ? ALL_LANES : 0));
}

typedef struct InstructionRun { // consecutive instructions of a split
    uint32_t pc;           // of the next instruction; the split's pc is still that of the first one
    uint32_t count;        // includes `stop`
    uint64_t active_lanes; // summed over the instructions
    const Instr *stop;     // last instruction, which execute_control() must execute; or NULL
    uint32_t mask;         // active lanes of `stop`
} InstructionRun;

// Runs an instruction that needs checks. False: execute_control() must execute it.
static inline bool run_checked(Warp *w, WarpSplit *p, const Instr *i, uint32_t active, InstructionRun *s)
{
    const uint32_t mask = guarded_lanes(w, i, active);
    s->count++;
    s->active_lanes += (uint64_t)__builtin_popcount(mask);
    if (mask == 0) {
        s->pc++;
    } else if (i->control == PLAIN) {
        i->run(w, i, mask);
        s->pc++;
    } else if (try_plain_jump(p, i, mask, s->pc)) {
        sim_note_jump(p, s->pc, i->target);
        s->pc = i->target;
    } else {
        s->stop = i;
        s->mask = mask;
        return false;
    }
    return true;
}

// Runs 1 to `max_count` instructions, until the reconvergence point, an instruction for execute_control(), or an undefined
// register.
static inline InstructionRun run_until_stop(Warp *w, WarpSplit *p, uint32_t reconvergence_pc, uint32_t max_count)
{
    const Instr *code = p->frame->function->program->code;
    const uint32_t active = p->mask, active_count = (uint32_t)__builtin_popcount(active);
    InstructionRun s = {.pc = p->pc};
    do {
        const Instr *i = &code[s.pc];
        // The last difference wraps if the reconvergence point is earlier.
        const uint32_t unchecked = unchecked_count(i, max_count - s.count, reconvergence_pc - s.pc);
        if (unchecked > 0) {
            const uint32_t ran = run_unchecked(w, i, unchecked, active);
            s.active_lanes += (uint64_t)ran * active_count;
            s.count += ran;
            s.pc += ran;
        } else if (!run_checked(w, p, i, active, &s)) {
            return s;
        }
    } while (s.count < max_count && s.pc != reconvergence_pc && !w->undefined_count);
    return s;
}

// Runs one instruction while tracing, or while registers are undefined; the observer then propagates undefinedness.
static InstructionRun run_observed(Warp *w, WarpSplit *p, uint32_t reconvergence_pc)
{
    const Instr *i = sim_instruction_of(p);
    const bool tracks_undefined = w->undefined_count;
    const uint32_t mask = guarded_lanes(w, i, p->mask); // before the instruction can change its own guard
    if (w->block->traced)
        sim_trace_instruction(w, p);
    if (tracks_undefined)
        sim_observer.begin_instruction(w, i, mask);
    const InstructionRun s = run_until_stop(w, p, reconvergence_pc, 1);
    if (w->block->traced && !s.stop)
        sim_trace_values(w, i, mask);
    if (tracks_undefined && mask != 0 && i->kind == STORE)
        sim_observer.end_store(w, i, mask);
    return s;
}

// Runs the split until it waits, ends or diverges, or the budget is used up. Returns the rest of the budget.
static int run_split(Warp *w, WarpSplit *p, int budget)
{
    Counters *counters = &w->block->counters;
    while (budget > 0 && w->current_split == p && p->state == RUNNABLE) {
        const uint32_t reconvergence_pc = sim_split_end(p);
        InstructionRun s = {.pc = p->pc};
        w->registers = p->frame->registers;
        if (p->pc != reconvergence_pc)
            s = w->block->traced || w->undefined_count ? run_observed(w, p, reconvergence_pc) : run_until_stop(w, p, reconvergence_pc, (uint32_t)budget);
        counters->warp_instructions += s.count;
        counters->active_lanes += s.active_lanes;
        w->instructions += s.count;
        budget -= (int)s.count;
        p->pc = s.pc;
        if (s.stop) {
            const uint8_t control = s.stop->control;
            counters->warp_barriers += control == WARP_BARRIER;
            execute_control(w, p, s.stop, s.mask);
            if (w->splits != p || control >= BLOCK_BARRIER || control == EXIT || control == RETURN)
                return budget;
        } else if (s.pc == reconvergence_pc) {
            sim_end_split(w, p);
            return budget;
        }
    }
    return budget;
}

bool sim_run_warp(Warp *w)
{
    bool progress = false;
    int budget = w->block->launch->time_sliced ? SHORT_TIME_SLICE + (int)w->block->launch->longer_slices : TIME_SLICE;
    w->must_yield = false;
    while (budget > 0 && !w->must_yield) {
        WarpSplit *p = sim_next_split(w);
        if (!p)
            break;
        w->current_split = p;
        progress = true;
        const int before = budget;
        p->starved = 0;
        budget = run_split(w, p, budget);
        sim_note_progress(w, p, (uint64_t)(before - budget));
        w->since_starvation_check += (uint64_t)(before - budget);
        if (w->must_yield)
            sim_move_to_back(w, p);
        if (w->since_starvation_check > w->block->starvation_limit && (p = sim_next_split(w)))
            sim_run_starved(w, p);
    }
    return progress;
}
