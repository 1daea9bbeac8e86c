// warp.c: a warp runs: 32 lanes step by step, some of them switched off.
//
// Lanes that run together are a path: a program counter and a mask. Where a branch sends lanes
// different ways, the path splits; the old path waits at the join, the first instruction that all
// ways lead through, until the new ones have come there. A path may also wait at a barrier of the
// block, or for other lanes of its warp; then another path of the warp runs.
#include "sim.h"

#include <stdlib.h>
#include <string.h>

enum { TURN = 20000 };    // instructions until the next warp has its turn
enum { SHORT_TURN = 32 }; // the same where blocks take turns
enum { CALL_BYTES = 64 }; // that a call takes from the stack besides the function's variables

// ---- Frames

static uint64_t special_value(const Warp *w, const Frame *f, Special special, int lane)
{
    const Block *b = w->block;
    const Launch *launch = b->launch;
    const uint32_t thread = (uint32_t)(w->number * LANES + lane), bit = 1u << lane;
    switch (special) {
    case TID_X: return thread % launch->block.x;
    case TID_Y: return thread / launch->block.x % launch->block.y;
    case TID_Z: return thread / launch->block.x / launch->block.y;
    case NTID_X: return launch->block.x;
    case NTID_Y: return launch->block.y;
    case NTID_Z: return launch->block.z;
    case CTAID_X: return b->index.x;
    case CTAID_Y: return b->index.y;
    case CTAID_Z: return b->index.z;
    case NCTAID_X: return launch->grid.x;
    case NCTAID_Y: return launch->grid.y;
    case NCTAID_Z: return launch->grid.z;
    case LANEID: return (uint64_t)lane;
    case WARPID: return (uint64_t)w->number;
    case NWARPID: return (uint64_t)b->warp_count;
    case SMID: return b->place % (uint64_t)sim_device()->sm_count;
    case NSMID: return (uint64_t)sim_device()->sm_count;
    case LANEMASK_EQ: return bit;
    case LANEMASK_LT: return bit - 1;
    case LANEMASK_LE: return bit | (bit - 1);
    case LANEMASK_GT: return ~(bit | (bit - 1));
    case LANEMASK_GE: return ~(bit - 1);
    case DYNAMIC_SMEM_SIZE: return launch->dynamic_bytes;
    case TOTAL_SMEM_SIZE: return launch->shared_bytes;
    case CLUSTER_ONE: return 1;
    case DYNAMIC_SHARED: return launch->dynamic_shared;
    case RESERVED_SHARED: return launch->reserved_shared;
    case LOCAL_BASE: return f->local_base;
    case PARAM_BASE: return (uint64_t)(uintptr_t)launch->params;
    case GRID_WORKSPACE_HIGH: return (uint64_t)(uintptr_t)launch->workspace >> 32;
    case GRID_WORKSPACE_LOW: return (uint64_t)(uintptr_t)launch->workspace;
    default: return 0;
    }
}

static void fill_slot(const Warp *w, Frame *f, const Slot *s)
{
    for (int l = 0; l < LANES; l++) {
        const uint64_t value = s->special < 0 ? s->value : special_value(w, f, (Special)s->special, l);
        memcpy(f->lanes + s->offset + (size_t)l * s->bytes, &value, s->bytes);
    }
}

static Frame *new_frame(Warp *w, const Function *function)
{
    Block *b = w->block;
    for (Frame **f = &b->free_frames; *f; f = &(*f)->next_free)
        if ((*f)->function == function) {
            Frame *found = *f;
            *f = found->next_free;
            memset(found->lanes, 0, function->program->register_bytes);
            return found;
        }
    Frame *f = sim_allocate(&b->arena, sizeof *f);
    f->function = function;
    f->params = sim_allocate(&b->arena, function->param_bytes * LANES);
    const uintptr_t lanes = (uintptr_t)sim_allocate(&b->arena, function->program->frame_bytes + 64);
    f->lanes = (uint8_t *)((lanes + 63) / 64 * 64);
    return f;
}

static void free_frame(Block *b, Frame *f)
{
    f->next_free = b->free_frames;
    b->free_frames = f;
}

// ---- Paths

static Path *new_path(Warp *w, Path *parent, Frame *frame, uint32_t mask, uint32_t pc, uint32_t join)
{
    Path *p = w->block->free_paths;
    if (p)
        w->block->free_paths = p->next;
    else
        p = sim_allocate(&w->block->arena, sizeof *p);
    *p = (Path){.mask = mask, .pc = pc, .join = join, .frame = frame, .parent = parent, .next = w->paths};
    w->paths = p;
    return p;
}

// Takes the path out, and lets its parent go on if it was the last that this one waited for.
static void end_path(Warp *w, Path *p)
{
    Path *const parent = p->parent;
    Path **link = &w->paths;
    while (*link != p)
        link = &(*link)->next;
    *link = p->next;
    p->next = w->block->free_paths;
    w->block->free_paths = p;
    if (!parent || --parent->children > 0)
        return;
    parent->mask &= w->live;
    parent->waiting = RUNS;
    if (parent->mask == 0)
        end_path(w, parent);
}

// The path's lanes go two ways and meet at the join.
static void split(Warp *w, Path *p, uint32_t join, uint32_t mask, uint32_t pc, uint32_t other_pc)
{
    const uint32_t other = p->mask & ~mask;
    const bool same_join = join == p->join && (!p->parent || p->parent->frame == p->frame);
    if (pc == join && other_pc == join) {
        p->pc = join;
        return;
    }
    w->block->counters.divergent_branches++;
    if (!same_join) {
        p->pc = join;
        p->waiting = WAITS_FOR_PATHS;
        p->children = (pc != join) + (other_pc != join);
        if (other_pc != join)
            new_path(w, p, p->frame, other, other_pc, join);
        if (pc != join)
            new_path(w, p, p->frame, mask, pc, join);
        return;
    }
    // Nested branches that meet at the same place share the one who waits there.
    p->mask = other;
    p->pc = other_pc;
    if (pc != join || !p->parent) {
        if (p->parent)
            p->parent->children++;
        new_path(w, p->parent, p->frame, mask, pc, join);
    }
}

// The lanes that have come to the operation i at which p waits and name the lanes `wanted` as members.
static uint32_t lanes_at(const Warp *w, const Path *p, const Instr *i, uint32_t wanted)
{
    uint32_t lanes = 0;
    for (const Path *q = w->paths; q; q = q->next) {
        if (q->waiting != WAITS_FOR_LANES)
            continue;
        const Instr *at = &q->frame->function->program->code[q->pc];
        if (i->control == WARP_BARRIER ? at->control != WARP_BARRIER : at != i || q->frame != p->frame)
            continue;
        const uint32_t *members = (const uint32_t *)(q->frame->lanes + at->list[0]);
        for (uint32_t rest = q->mask & ~q->served; rest; rest &= rest - 1)
            if ((members[__builtin_ctz(rest)] & w->live) == wanted)
                lanes |= rest & -rest;
    }
    return lanes;
}

static void operate(Warp *w, const Instr *i, uint32_t mask)
{
    if (i->control == GATHER)
        i->run(w, i, mask);
}

// Runs the operation at which p waits, once for each set of members that is complete; paths whose lanes
// have all had it go on.
static void meet(Warp *w, Path *p)
{
    const Instr *i = &p->frame->function->program->code[p->pc];
    const uint32_t *members = (const uint32_t *)(p->frame->lanes + i->list[0]);
    w->lanes = p->frame->lanes;
    for (uint32_t rest = p->mask & ~p->served; rest;) {
        const uint32_t wanted = members[__builtin_ctz(rest)] & w->live, here = lanes_at(w, p, i, wanted);
        rest &= ~here;
        if (wanted & ~here)
            continue;
        operate(w, i, here);
        for (Path *q = w->paths; q; q = q->next)
            if (q->waiting == WAITS_FOR_LANES)
                q->served |= q->mask & here;
    }
    w->block->counters.shuffles += i->run == sim_shuffle && p->served == p->mask;
    for (Path *q = w->paths; q; q = q->next)
        if (q->waiting == WAITS_FOR_LANES && q->served == q->mask) {
            q->waiting = RUNS;
            q->pc++;
        }
}

static void end_lanes(Warp *w, Path *p, uint32_t mask)
{
    w->live &= ~mask;
    w->block->live -= (uint32_t)__builtin_popcount(mask);
    p->mask &= ~mask;
    if (p->mask == 0)
        end_path(w, p);
    for (Path *q = w->paths; q; q = q->next)
        if (q->waiting == WAITS_FOR_LANES) // perhaps only for those that have ended
            meet(w, q);
    sim_check_barriers(w->block);
}

void sim_start_warp(Warp *w, uint32_t live)
{
    const Function *kernel = w->block->launch->kernel;
    const Program *program = kernel->program;
    const bool first = !w->entry;
    if (first)
        w->entry = new_frame(w, kernel);
    else
        memset(w->entry->lanes, 0, program->register_bytes);
    for (int k = 0; k < program->slot_count; k++) {
        const int special = program->slots[k].special;
        if (first || (special >= CTAID_X && special <= CTAID_Z) || special == SMID)
            fill_slot(w, w->entry, &program->slots[k]);
    }
    w->live = live;
    w->paths = NULL;
    w->near = NULL;
    new_path(w, NULL, w->entry, live, 0, NOWHERE);
}

// ---- Calls

static const Function *callee_of(Warp *w, const Instr *i, uint32_t mask, uint32_t *same)
{
    *same = mask;
    if (i->call->callee)
        return i->call->callee;
    const uint64_t *targets = (const uint64_t *)(w->lanes + i->a);
    const uint64_t target = targets[__builtin_ctz(mask)];
    *same = 0;
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        if (targets[__builtin_ctz(rest)] == target)
            *same |= 1u << __builtin_ctz(rest);
    for (const Function *f = w->block->launch->module->functions; f; f = f->next)
        if ((uint64_t)(uintptr_t)f == target && f->defined)
            return f;
    sim_fault(w, i, __builtin_ctz(mask), cudaErrorIllegalAddress, "a call of 0x%llx, which is no function",
              (unsigned long long)target);
}

static void copy_arguments(Path *p, const Frame *from, const Frame *to, const uint32_t *offsets, int count,
                           const Variable *formal, bool into_callee)
{
    const size_t from_bytes = from->function->param_bytes, to_bytes = to->function->param_bytes;
    for (int k = 0; k < count && formal; k++, formal = formal->next)
        for (uint32_t rest = p->mask; rest; rest &= rest - 1) {
            const size_t l = (size_t)__builtin_ctz(rest);
            const size_t source = into_callee ? offsets[k] : formal->address, target = into_callee ? formal->address : offsets[k];
            if (source + formal->bytes <= from_bytes && target + formal->bytes <= to_bytes)
                memcpy(to->params + l * to_bytes + target, from->params + l * from_bytes + source, formal->bytes);
        }
}

static void call(Warp *w, Path *p, const Instr *i)
{
    uint32_t same;
    const Function *callee = callee_of(w, i, p->mask, &same);
    if (same != p->mask) { // lanes that call different functions go one after the other
        split(w, p, p->pc + 1, same, p->pc, p->pc);
        return;
    }
    const uint64_t local_base = p->frame->local_base + (p->frame->function->local_bytes + 15) / 16 * 16 + CALL_BYTES;
    if (local_base + callee->local_bytes > w->block->launch->local_bytes)
        sim_fault(w, i, __builtin_ctz(p->mask), cudaErrorIllegalAddress,
                  "the stack of %zu bytes overflows; cudaDeviceSetLimit(cudaLimitStackSize, ...) enlarges it",
                  w->block->launch->local_bytes);
    if (callee->local_bytes && local_base + callee->local_bytes > w->block->local_used)
        w->block->local_used = local_base + callee->local_bytes;
    Frame *f = new_frame(w, callee);
    f->caller = p->frame;
    f->call = i;
    f->local_base = local_base;
    for (int k = 0; k < callee->program->slot_count; k++)
        fill_slot(w, f, &callee->program->slots[k]);
    copy_arguments(p, p->frame, f, i->call->arguments, i->call->argument_count, callee->params, true);
    p->frame = f;
    p->pc = 0;
}

static void return_to_caller(Warp *w, Path *p)
{
    Frame *f = p->frame;
    copy_arguments(p, f, f->caller, f->call->call->results, f->call->call->result_count, f->function->returned, false);
    p->frame = f->caller;
    p->pc = (uint32_t)(f->call - f->caller->function->program->code) + 1;
    free_frame(w->block, f);
}

// ---- Waiting

static void wait_at_barrier(Warp *w, Path *p, const Instr *i)
{
    const int first = __builtin_ctz(p->mask);
    const uint32_t number = ((uint32_t *)(w->lanes + i->a))[first];
    const uint32_t asked = i->b == NOWHERE ? 0 : ((uint32_t *)(w->lanes + i->b))[first];
    const uint32_t expected = asked ? asked : (uint32_t)w->block->warp_count * LANES;
    if (number >= BARRIERS)
        sim_fault(w, i, first, cudaErrorIllegalInstruction, "barrier %u; there are %d", number, BARRIERS);
    if (asked % LANES || (i->op == BAR_ARRIVE && asked == 0))
        sim_fault(w, i, first, cudaErrorIllegalInstruction, "a barrier for %u threads, no multiple of a warp", asked);
    Barrier *b = &w->block->barriers[number];
    if (b->count > 0 && b->expected != expected)
        sim_fault(w, i, first, cudaErrorIllegalInstruction, "barrier %u for %u threads, on which others wait for %u", number,
                  expected, b->expected);
    if (i->op >= BAR_POPC) {
        const uint32_t values = *(uint32_t *)(w->lanes + i->c) ^ (i->flags & COMBINE_NEGATED ? ALL_LANES : 0);
        b->true_count += (uint32_t)__builtin_popcount(values & p->mask);
    }
    b->expected = expected;
    b->arrived[w->number] |= p->mask;
    b->count += (uint32_t)__builtin_popcount(p->mask);
    w->block->counters.block_barriers++;
    p->pc++;
    if (i->op != BAR_ARRIVE) {
        p->waiting = WAITS_AT_BARRIER;
        p->barrier = (int)number;
    }
    sim_check_barriers(w->block);
}

// Lanes that wait for each other at a warp's barrier, or at the same operation between lanes.
static void gather(Warp *w, Path *p, const Instr *i)
{
    const uint32_t *members = (const uint32_t *)(w->lanes + i->list[0]), first = members[__builtin_ctz(p->mask)];
    uint32_t different = 0, outside = 0;
    for (int l = 0; l < LANES; l++) {
        different |= (uint32_t)(members[l] != first) << l;
        outside |= (~members[l] >> l & 1) << l;
    }
    outside &= p->mask;
    if (outside)
        sim_fault(w, i, __builtin_ctz(outside), cudaErrorIllegalInstruction, "the lane is not in its own mask 0x%08x",
                  members[__builtin_ctz(outside)]);
    if ((different & p->mask) == 0 && (first & w->live) == p->mask) { // all are here, as most often
        w->block->counters.shuffles += i->run == sim_shuffle;
        operate(w, i, p->mask);
        p->pc++;
        return;
    }
    p->waiting = WAITS_FOR_LANES;
    p->served = 0;
    meet(w, p);
}

// ---- Running

static void branch_by_index(Warp *w, Path *p, const Instr *i, uint32_t mask)
{
    const uint32_t *index = (const uint32_t *)(w->lanes + i->a);
    const int first = __builtin_ctz(mask);
    uint32_t same = 0;
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        if (index[__builtin_ctz(rest)] == index[first])
            same |= 1u << __builtin_ctz(rest);
    if (index[first] >= (uint64_t)i->offset)
        sim_fault(w, i, first, cudaErrorIllegalInstruction, "an indexed branch to target %u of %lld", index[first],
                  (long long)i->offset);
    if (same == p->mask)
        p->pc = i->list[index[first]];
    else if (mask == p->mask) // the others come back to this instruction
        split(w, p, i->join, same, i->list[index[first]], p->pc);
    else if (mask == same) // the others do not branch
        split(w, p, i->join, mask, i->list[index[first]], p->pc + 1);
    else // those that do come back
        split(w, p, i->join, mask, p->pc, p->pc + 1);
}

static void control(Warp *w, Path *p, const Instr *i, uint32_t mask)
{
    const bool kernel = p->frame->function->entry;
    const uint32_t end = p->frame->function->program->count;
    switch (i->control) {
    case BRANCH:
        if (mask == p->mask)
            p->pc = i->target;
        else
            split(w, p, i->join, mask, i->target, p->pc + 1);
        return;
    case BRANCH_INDEXED:
        branch_by_index(w, p, i, mask);
        return;
    case EXIT:
        p->pc++; // for lanes that a guard keeps alive
        end_lanes(w, p, mask);
        return;
    case RETURN:
        if (kernel) {
            p->pc++;
            end_lanes(w, p, mask);
        } else if (p->pc == end) {
            return_to_caller(w, p);
        } else if (mask == p->mask) {
            p->pc = end; // where all lanes of the call meet
        } else {
            split(w, p, i->join, mask, end, p->pc + 1);
        }
        return;
    case PHASE_TEST:
        i->run(w, i, mask);
        p->pc++;
        return;
    case UNKNOWN:
        sim_fault(w, i, __builtin_ctz(mask), cudaErrorNotSupported, "the simulator does not know this instruction");
    default:
        break;
    }
    if (mask != p->mask) { // guarded: the others go on behind it
        split(w, p, p->pc + 1, mask, p->pc, p->pc + 1);
        return;
    }
    if (i->control == CALL)
        call(w, p, i);
    else if (i->control == BLOCK_BARRIER)
        wait_at_barrier(w, p, i);
    else
        gather(w, p, i);
}

// Steps until the path waits, ends, splits or has had its turn; returns the instructions left.
static int run_path(Warp *w, Path *p, int turn)
{
    Counters *counters = &w->block->counters;
    while (turn > 0 && w->path == p && p->waiting == RUNS) {
        const Instr *code = p->frame->function->program->code;
        const uint32_t join = p->parent && p->parent->frame == p->frame ? p->join : NOWHERE;
        w->lanes = p->frame->lanes;
        uint64_t lanes_on = 0;
        const bool traced = w->block->traced && p->pc != join;
        const int most = traced ? 1 : turn;
        if (traced)
            sim_trace_instruction(w, p);
        int left = most;
        uint32_t pc = p->pc;
        const Instr *i = NULL;
        uint32_t mask = p->mask;
        while (left > 0 && pc != join) {
            i = &code[pc];
            mask = p->mask;
            if (i->guard != NOWHERE)
                mask &= *(uint32_t *)(w->lanes + i->guard) ^ (i->guard_negated ? ALL_LANES : 0);
            left--;
            lanes_on += (uint64_t)__builtin_popcount(mask);
            if (i->control != PLAIN && mask != 0)
                break;
            if (mask != 0)
                i->run(w, i, mask);
            pc++;
            i = NULL;
        }
        counters->warp_instructions += (uint64_t)(most - left);
        counters->lanes_on += lanes_on;
        w->instructions += (uint64_t)(most - left);
        turn -= most - left;
        p->pc = pc;
        if (i) {
            const uint8_t kind = i->control;
            if (kind == WARP_BARRIER)
                counters->warp_barriers++;
            control(w, p, i, mask);
            if (w->paths != p || kind >= BLOCK_BARRIER || kind == EXIT || kind == RETURN)
                return turn;
        } else if (pc == join) {
            end_path(w, p);
            return turn;
        }
    }
    return turn;
}

// A path that asks in vain goes behind the others, which may be what it waits for.
static void put_last(Warp *w, Path *p)
{
    Path **link = &w->paths;
    while (*link != p)
        link = &(*link)->next;
    *link = p->next;
    while (*link)
        link = &(*link)->next;
    *link = p;
    p->next = NULL;
}

bool sim_run_warp(Warp *w)
{
    bool progress = false;
    int turn = w->block->launch->together ? SHORT_TURN : TURN;
    w->yields = false;
    while (turn > 0 && !w->yields) {
        Path *p = w->paths;
        while (p && p->waiting != RUNS)
            p = p->next;
        if (!p)
            break;
        w->path = p;
        progress = true;
        turn = run_path(w, p, turn);
        if (w->yields)
            put_last(w, p);
    }
    return progress;
}
