// warp.c: a warp runs: 32 lanes step by step, some of them switched off.
//
// Lanes that run together are a path: a program counter and a mask. Where a branch sends lanes
// different ways, the path splits; the old path waits at the join, the first instruction that all
// ways lead through, until the new ones have come there. A path may also wait at a barrier of the
// block, or for other lanes of its warp; then another path of the warp runs.
//
// CUDA promises that lanes meet nowhere but where the program says so, and that each of them gets on. So a join
// is a hint: where all others wait for lanes that wait at a join, these go on without the rest.
#include "machine/observer.h"

#include <stdlib.h>
#include <string.h>

enum { TURN = 20000 };    // instructions until the next warp has its turn
enum { SHORT_TURN = 32 }; // the same where blocks take turns
enum { LOOK = 512 };      // turns of a loop until its registers are compared with what they were
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
    case CLUSTERID_X: return b->index.x / launch->cluster.x;
    case CLUSTERID_Y: return b->index.y / launch->cluster.y;
    case CLUSTERID_Z: return b->index.z / launch->cluster.z;
    case CLUSTER_CTAID_X: return b->index.x % launch->cluster.x;
    case CLUSTER_CTAID_Y: return b->index.y % launch->cluster.y;
    case CLUSTER_CTAID_Z: return b->index.z % launch->cluster.z;
    case CLUSTER_CTARANK: return b->rank;
    case NCLUSTERID_X: return launch->grid.x / launch->cluster.x;
    case NCLUSTERID_Y: return launch->grid.y / launch->cluster.y;
    case NCLUSTERID_Z: return launch->grid.z / launch->cluster.z;
    case CLUSTER_NCTAID_X: return launch->cluster.x;
    case CLUSTER_NCTAID_Y: return launch->cluster.y;
    case CLUSTER_NCTAID_Z: return launch->cluster.z;
    case CLUSTER_NCTARANK: return launch->cluster_blocks;
    case IS_EXPLICIT_CLUSTER: return launch->explicit_cluster ? ALL_LANES : 0; // a predicate
    case NCTAID_X: return launch->grid.x;
    case NCTAID_Y: return launch->grid.y;
    case NCTAID_Z: return launch->grid.z;
    case LANEID: return (uint64_t)lane;
    case WARPID: return (uint64_t)w->number;
    case NWARPID: return (uint64_t)b->warp_count;
    case SMID: return b->place % (uint64_t)sim_device()->sm_count;
    case GRIDID: return launch->number;
    case NSMID: return (uint64_t)sim_device()->sm_count;
    case LANEMASK_EQ: return bit;
    case LANEMASK_LT: return bit - 1;
    case LANEMASK_LE: return bit | (bit - 1);
    case LANEMASK_GT: return ~(bit | (bit - 1));
    case LANEMASK_GE: return ~(bit - 1);
    case DYNAMIC_SMEM_SIZE: return launch->dynamic_bytes;
    case TOTAL_SMEM_SIZE: return launch->asked_shared;
    case DYNAMIC_SHARED: return launch->dynamic_shared;
    case RESERVED_SHARED: return launch->reserved_shared;
    case LOCAL_BASE: return f->local_base;
    case PARAM_BASE: return (uint64_t)(uintptr_t)launch->params;
    case GRID_WORKSPACE_HIGH: return (uint64_t)(uintptr_t)launch->workspace >> 32;
    case GRID_WORKSPACE_LOW: return (uint64_t)(uintptr_t)launch->workspace;
    default: return 0;
    }
}

static bool differs_between_lanes(int special)
{
    return special == TID_X || special == TID_Y || special == TID_Z || special == LANEID ||
           (special >= LANEMASK_EQ && special <= LANEMASK_GT);
}

static void fill_slot(const Warp *w, Frame *f, const Slot *s)
{
    uint8_t *lanes = f->lanes + s->offset;
    uint64_t value = s->special < 0 ? s->value : special_value(w, f, (Special)s->special, 0);
    if (s->bytes == 4 && !differs_between_lanes(s->special)) { // the most frequent: where a block is in its grid
        for (int l = 0; l < LANES; l++)
            ((uint32_t *)lanes)[l] = (uint32_t)value;
        return;
    }
    for (int l = 0; l < LANES; l++) {
        if (differs_between_lanes(s->special))
            value = special_value(w, f, (Special)s->special, l);
        memcpy(lanes + (size_t)l * s->bytes, &value, s->bytes);
    }
}

// Sets those registers to zero that the function may read before it writes them.
static void clear_registers(Frame *f)
{
    const Program *p = f->function->program;
    for (int k = 0; k < p->range_count; k++)
        memset(f->lanes + p->ranges[k].offset, 0, p->ranges[k].bytes);
}

static Frame *new_frame(Warp *w, const Function *function)
{
    Block *b = w->block;
    for (Frame **f = &b->free_frames; *f; f = &(*f)->next_free)
        if ((*f)->function == function) {
            Frame *found = *f;
            *f = found->next_free;
            clear_registers(found);
            return found;
        }
    Frame *f = sim_allocate(&b->arena, sizeof *f);
    f->function = function;
    f->params = sim_allocate(&b->arena, function->param_bytes * LANES);
    const uintptr_t lanes = (uintptr_t)sim_allocate(&b->arena, function->program->frame_bytes + 64);
    f->lanes = (uint8_t *)((lanes + 63) / 64 * 64);
    return f;
}

// Lanes come back from a call, or end in it; with the last of them the frame is free.
static void leave_frame(Block *b, Frame *f, uint32_t mask)
{
    f->inside &= ~mask;
    if (f->inside)
        return;
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
    *p = (Path){
        .mask = mask, .pc = pc, .join = join, .jumped = NOWHERE, .frame = frame, .parent = parent, .next = w->paths};
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
    p->loop = NULL;
    p->next = w->block->free_paths;
    w->block->free_paths = p;
    if (!parent || --parent->children > 0)
        return;
    parent->mask &= w->live;
    parent->waiting = RUNS;
    if (parent->mask == 0)
        end_path(w, parent);
}

// Where the path itself ends, in its function: it has come to those that wait for it.
static uint32_t end_of(const Path *p)
{
    return p->parent && p->parent->frame == p->frame ? p->join : NOWHERE;
}

// Notes that the path jumps, or went on, from the instruction at which it is. A jump to nothing but another is one.
static void note_jump(Path *p, uint32_t from, uint32_t to)
{
    const bool always = p->frame->function->program->code[from].guard == NOWHERE;
    if (!always)
        p->jumped = from;
    else if (p->jumped == NOWHERE || p->landed != from)
        p->jumped = from ? from - 1 : 0;
    p->landed = to;
}

// Whether the lanes that do not jump run first: with $SIM_BLOCK_ORDER now and then, as CUDA promises no order.
static bool others_first(Block *b)
{
    return sim_settings()->shuffles && sim_next_random(&b->series) % 2;
}

// Puts the warp's first path behind its second one.
static void swap_first(Warp *w)
{
    Path *const first = w->paths, *const second = first->next;
    first->next = second->next;
    second->next = first;
    w->paths = second;
}

// The path's lanes go two ways and meet at the join, or, without one, where the path ends.
static void split(Warp *w, Path *p, uint32_t join, uint32_t mask, uint32_t pc, uint32_t other_pc)
{
    const uint32_t other = p->mask & ~mask, end = end_of(p), from = p->pc;
    if (join == NOWHERE)
        join = end;
    if (pc == join && other_pc == join) {
        p->pc = join;
        return;
    }
    w->block->counters.divergent_branches++;
    p->loop = NULL;
    if (join != end) {
        note_jump(p, from, join); // some may
        p->pc = join;
        p->waiting = WAITS_FOR_PATHS;
        p->children = (pc != join) + (other_pc != join);
        if (other_pc != join)
            new_path(w, p, p->frame, other, other_pc, join);
        if (pc != join)
            note_jump(new_path(w, p, p->frame, mask, pc, join), from, pc);
        if (p->children == 2 && others_first(w->block))
            swap_first(w);
        return;
    }
    // Nested branches that meet at the same place share the one who waits there.
    p->mask = other;
    p->pc = other_pc;
    if (pc != join || !p->parent) {
        if (p->parent)
            p->parent->children++;
        note_jump(new_path(w, p->parent, p->frame, mask, pc, p->join), from, pc);
        if (w->paths->next == p && other_pc != join && others_first(w->block))
            swap_first(w);
    }
}

// ---- Joins that open

// The lanes that have come to the join at which a path waits.
static uint32_t lanes_at_join(const Warp *w, const Path *p)
{
    uint32_t arrived = p->waiting == WAITS_FOR_PATHS ? p->mask & w->live : 0;
    for (const Path *q = w->paths; q && arrived; q = q->next)
        arrived &= q->parent == p ? ~q->mask : ALL_LANES;
    return arrived;
}

// Lets these lanes go on without the others.
static void open_join(Warp *w, Path *p, uint32_t arrived)
{
    p->mask &= ~arrived;
    if (p->parent)
        p->parent->children++;
    Path *opened = new_path(w, p->parent, p->frame, arrived, p->pc, p->join);
    opened->jumped = p->jumped;
    opened->landed = p->landed;
}

bool sim_open_join(Warp *w, uint32_t wanted)
{
    for (Path *p = w->paths; p; p = p->next) {
        const uint32_t arrived = lanes_at_join(w, p);
        if (!(arrived & wanted))
            continue;
        open_join(w, p, arrived);
        return true;
    }
    return false;
}

static void end_lanes(Warp *w, Path *p, uint32_t mask)
{
    if (w->block->check)
        sim_observer.end_lanes(w, p, mask);
    w->live &= ~mask;
    w->block->live -= (uint32_t)__builtin_popcount(mask);
    p->mask &= ~mask;
    for (Frame *f = p->frame, *caller; (caller = f->caller); f = caller)
        leave_frame(w->block, f, mask);
    if (p->mask == 0)
        end_path(w, p);
    for (Path *q = w->paths; q; q = q->next)
        if (q->waiting == WAITS_FOR_LANES) // perhaps only for those that have ended
            sim_meet(w, q);
    sim_check_barriers(w->block);
    sim_check_cluster_barrier(w->block);
}

void sim_start_warp(Warp *w, uint32_t live)
{
    const Function *kernel = w->block->launch->kernel;
    const Program *program = kernel->program;
    const bool first = !w->entry;
    if (first)
        w->entry = new_frame(w, kernel);
    else
        clear_registers(w->entry);
    for (int k = 0; k < program->slot_count; k++) {
        const int special = program->slots[k].special;
        if (first || (special >= CTAID_X && special <= CLUSTER_CTARANK) || special == SMID)
            fill_slot(w, w->entry, &program->slots[k]);
    }
    w->entry->local_end = kernel->local_bytes;
    w->live = live;
    w->arrived = w->passed = 0;
    w->paths = NULL;
    w->near = NULL;
    if (w->values)
        sim_observer.clear_warp(w);
    sim_drop_copies(w);
    sim_drop_sources(w);
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
            const size_t source = into_callee ? offsets[k] : formal->address,
                         target = into_callee ? formal->address : offsets[k];
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
    Frame *f = new_frame(w, callee);
    f->caller = p->frame;
    f->inside = p->mask;
    f->call = i;
    f->local_base = local_base;
    f->local_end = callee->local_bytes ? local_base + callee->local_bytes : p->frame->local_end;
    sim_use_local(w->block, f->local_end);
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
    if (p->loop_frame == f)
        p->loop = NULL;
    leave_frame(w->block, f, p->mask);
}

// ---- Waiting

// The lanes whose value is another one.
static uint32_t lanes_unlike(const uint32_t *values, uint32_t value)
{
    uint32_t lanes = 0;
    for (int l = 0; l < LANES; l++)
        lanes |= (uint32_t)(values[l] != value) << l;
    return lanes;
}

static void wait_at_barrier(Warp *w, Path *p, const Instr *i)
{
    const int first = __builtin_ctz(p->mask);
    const uint32_t *numbers = (uint32_t *)(w->lanes + i->a), number = numbers[first];
    const uint32_t asked = i->b == NOWHERE ? 0 : ((uint32_t *)(w->lanes + i->b))[first];
    const uint32_t expected = asked ? asked : (uint32_t)w->block->warp_count * LANES;
    if (number >= BARRIERS)
        sim_fault(w, i, first, cudaErrorIllegalInstruction, "barrier %u; there are %d", number, BARRIERS);
    if (asked % LANES || (i->op == BAR_ARRIVE && asked == 0))
        sim_fault(w, i, first, cudaErrorIllegalInstruction, "a barrier for %u threads, no multiple of a warp", asked);
    const uint32_t elsewhere = lanes_unlike(numbers, number) & p->mask;
    if (elsewhere)
        sim_fault(w, i, __builtin_ctz(elsewhere), cudaErrorIllegalInstruction,
                  "barrier %u, while another lane of the warp comes to barrier %u", numbers[__builtin_ctz(elsewhere)],
                  number);
    Barrier *b = &w->block->barriers[number];
    if (b->count > 0 && b->expected != expected)
        sim_fault(w, i, first, cudaErrorIllegalInstruction, "barrier %u for %u threads, on which others wait for %u",
                  number, expected, b->expected);
    if (i->op >= BAR_POPC) {
        const uint32_t values = *(uint32_t *)(w->lanes + i->c) ^ (i->flags & COMBINE_NEGATED ? ALL_LANES : 0);
        b->true_count += (uint32_t)__builtin_popcount(values & p->mask);
    }
    b->expected = expected;
    b->counted |= asked != 0;
    if (asked && w->block->check)
        sim_observer.arrive(w, p->mask, sim_barrier_key((int)number));
    b->arrived[w->number] |= p->mask;
    b->count += (uint32_t)__builtin_popcount(p->mask);
    w->block->counters.block_barriers++;
    p->pc++;
    p->loop = NULL;
    if (i->op != BAR_ARRIVE) {
        p->waiting = WAITS_AT_BARRIER;
        p->barrier = (int)number;
    }
    sim_check_barrier(w->block, (int)number);
}

// ---- Loops that lead nowhere

// A number for what the lanes of a frame hold.
static uint64_t state_of(const Frame *f)
{
    const uint64_t *words = (const uint64_t *)f->lanes;
    uint64_t state = 0;
    for (size_t k = 0; k < (f->function->program->frame_bytes + 7) / 8; k++)
        state = (state ^ words[k]) * 0x9e3779b97f4a7c15 + (state >> 29);
    return state;
}

// Whether the path is in its loop, or in a function that was called there.
static bool is_in_loop(const Path *p)
{
    const Instr *at = sim_instruction_of(p);
    const Frame *f = p->frame;
    for (; f && f != p->loop_frame; f = f->caller)
        at = f->call;
    return f && at >= &f->function->program->code[p->loop->target] && at <= p->loop;
}

// Whether a path that comes to the branch has been in one of two loops all along, the other one of which is in it.
static bool in_same_nest(const Path *p, const Instr *turn)
{
    const bool around = p->loop_frame == p->frame && turn > p->loop &&
                        p->frame->function->program->code + turn->target <= p->loop;
    return around || is_in_loop(p);
}

// The path goes round a loop once more. Where the loop changes nothing in memory, its registers are the same as when
// it was looked at last, and since then nobody else has done anything but go round such loops, it goes round for
// ever.
static void count_turn(Warp *w, Path *p, const Instr *turn)
{
    const bool same = p->loop == turn && p->loop_frame == p->frame;
    if (!(turn->loop & QUIET_LOOP)) {
        p->loop = NULL;
        return;
    }
    if (p->loop && !same && is_in_loop(p) && ++p->inner < LOOK)
        return;
    if (!same) {
        w->block->watch->stirs += !p->loop || !in_same_nest(p, turn); // what it did before may have been more
        p->loop = turn;
        p->loop_frame = p->frame;
        p->turns = 0;
        p->same = false;
        p->stirs = UINT64_MAX;
    }
    p->inner = 0;
    if (++p->turns % LOOK)
        return;
    const uint64_t state = state_of(p->frame), stirs = w->block->watch->stirs;
    p->same = state == p->state && stirs == p->stirs;
    p->state = state;
    p->stirs = stirs;
}

// After a path's turn: has it done more than go round a loop that changes nothing?
static void watch_path(Warp *w, Path *p, uint64_t instructions)
{
    Watch *watch = w->block->watch;
    if (p->loop && !is_in_loop(p))
        p->loop = NULL;
    watch->stirs += !p->loop;
    watch->in_vain = p->loop && p->loop->loop & ASKING_LOOP ? watch->in_vain + instructions : 0;
}

static bool leads_nowhere(const Warp *w, const Path *p)
{
    return p->loop && p->same && p->stirs == w->block->watch->stirs;
}

Path *sim_next_path(const Warp *w)
{
    Path *p = w->paths;
    while (p && p->waiting != RUNS)
        p = p->next;
    return p;
}

bool sim_is_stuck(const Warp *w)
{
    const Path *p = sim_next_path(w);
    return !p || leads_nowhere(w, p);
}

const Instr *sim_loop_around(const Path *p)
{
    const Program *program = p->frame->function->program;
    for (uint32_t k = p->pc; k < program->count; k++) // the next branch back over it is the innermost loop's
        if (program->code[k].control == BRANCH && program->code[k].target <= p->pc)
            return &program->code[k];
    return NULL;
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

bool sim_give_way(Warp *w)
{
    for (const Path *q = w->paths; q; q = q->next)
        if (q->waiting == RUNS && !leads_nowhere(w, q)) {
            put_last(w, sim_next_path(w));
            return true;
        }
    return sim_open_join(w, ALL_LANES);
}

// ---- Fairness

// Whether the path goes round a loop that asks what others did, perhaps in a function that was called there.
static bool asks_in_loop(const Path *p)
{
    uint32_t at = p->pc;
    for (const Frame *f = p->frame; f; f = f->caller) {
        const Program *program = f->function->program;
        for (uint32_t k = at; k < program->count; k++)
            if (program->code[k].control == BRANCH && program->code[k].target <= at && program->code[k].loop & ASKS_IN_LOOP)
                return true;
        at = f->caller ? (uint32_t)(f->call - f->caller->function->program->code) : 0;
    }
    return false;
}

// Whether the instruction looks for what others, perhaps the host, have done: an atomic operation, as of a lock, does
// so for the host only with the scope of the system.
static bool looks_for_host(const Instr *i)
{
    return (i->kind == LOAD && i->flags & ASKS_OTHERS) || (i->kind == ATOMIC && i->scope == SYSTEM_SCOPE) ||
           (i->control == CALL && (!i->call->callee || i->call->callee->program->does.asks));
}

// Whether the host may write there while a kernel runs: it lies at its own address.
static bool is_open_to_host(const Allocation *a)
{
    const bool shared = a->kind == PINNED_MEMORY || a->kind == MANAGED_MEMORY || a->kind == HOST_MEMORY ||
                        a->kind == MODULE_MEMORY;
    return shared && (uint64_t)(uintptr_t)a->memory == a->address;
}

static bool looks_in_loop(const Path *p)
{
    const Instr *code = p->frame->function->program->code, *turn = sim_loop_around(p);
    for (const Instr *i = turn ? &code[turn->target] : NULL; i && i < turn; i++)
        if (looks_for_host(i))
            return true;
    return p->frame->caller && asks_in_loop(p); // it is in a function that was called there
}

bool sim_awaits_host(const Warp *w)
{
    const Path *p = sim_next_path(w);
    return p && w->near && is_open_to_host(w->near) && looks_in_loop(p);
}

static bool waits_for(const Path *p, const Path *child)
{
    while (child && child != p)
        child = child->parent;
    return child == p;
}

// Lets lanes go on that could have all the while, but that the path that runs keeps back, as it asks for something that
// they may have to bring.
static void let_overlooked_go(Warp *w, Path *runs)
{
    Path *longest = NULL;
    w->unfair = 0;
    if (!runs->next && w->paths == runs)
        return;
    for (Path *q = w->paths; q; q = q->next) {
        const bool could = q->waiting == RUNS || (waits_for(q, runs) && lanes_at_join(w, q));
        q->overlooked = q != runs && could ? q->overlooked + 1 : 0;
        if (q->overlooked > 1 && (!longest || q->overlooked > longest->overlooked))
            longest = q;
    }
    if (!longest || runs->waiting != RUNS || !asks_in_loop(runs))
        return;
    Block *b = w->block;
    b->patience = b->patience / 2 > SIM_LEAST_PATIENCE ? b->patience / 2 : SIM_LEAST_PATIENCE;
    longest->overlooked = 0;
    put_last(w, runs);
    if (longest->waiting == WAITS_FOR_PATHS)
        open_join(w, longest, lanes_at_join(w, longest));
}

// ---- Running

static void branch_by_index(Warp *w, Path *p, const Instr *i, uint32_t mask)
{
    p->loop = NULL;
    const uint32_t *index = (const uint32_t *)(w->lanes + i->a);
    const int first = __builtin_ctz(mask);
    uint32_t same = 0;
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        if (index[__builtin_ctz(rest)] == index[first])
            same |= 1u << __builtin_ctz(rest);
    if (index[first] >= i->target_count)
        sim_fault(w, i, first, cudaErrorIllegalInstruction, "an indexed branch to target %u of %u", index[first],
                  i->target_count);
    if (same == p->mask) {
        note_jump(p, p->pc, i->targets[index[first]]);
        p->pc = i->targets[index[first]];
    } else if (mask == p->mask) // the others come back to this instruction
        split(w, p, i->join, same, i->targets[index[first]], p->pc);
    else if (mask == same) // the others do not branch
        split(w, p, i->join, mask, i->targets[index[first]], p->pc + 1);
    else // those that do come back
        split(w, p, i->join, mask, p->pc, p->pc + 1);
}

static _Noreturn void fail_unknown(Warp *w, const Instr *i, uint32_t mask)
{
    char why[512];
    if (i->reason)
        sim_fault(w, i, __builtin_ctz(mask), cudaErrorNotSupported, "%s", i->reason);
    sim_say_unknown(w->block->launch->module, i->statement, why, sizeof why);
    sim_fault(w, i, __builtin_ctz(mask), cudaErrorNotSupported, "%s", why);
}

static void control(Warp *w, Path *p, const Instr *i, uint32_t mask)
{
    const bool kernel = p->frame->function->entry;
    const uint32_t end = p->frame->function->program->count;
    switch (i->control) {
    case BRANCH:
        if (mask != p->mask) {
            w->block->counters.uneven_loops += (i->loop & LEAVES_LOOP) != 0;
            split(w, p, i->join, mask, i->target, p->pc + 1);
            return;
        }
        if (i->target <= p->pc)
            count_turn(w, p, i);
        note_jump(p, p->pc, i->target);
        p->pc = i->target;
        return;
    case BRANCH_INDEXED:
        branch_by_index(w, p, i, mask);
        return;
    case EXIT:
        i->run(w, i, mask); // of a failed assertion: tells
        p->pc++;            // for lanes that a guard keeps alive
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
        fail_unknown(w, i, mask);
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
    else if (i->control == CLUSTER_BARRIER)
        sim_come_to_cluster_barrier(w, p, i);
    else
        sim_gather(w, p, i);
}

// Whether all lanes take a branch of which nobody need know: onwards, or round a loop that changes something.
static bool is_plain_jump(Path *p, const Instr *i, uint32_t mask, uint32_t pc)
{
    if (i->control != BRANCH || mask != p->mask || (i->target <= pc && i->loop & QUIET_LOOP))
        return false;
    if (i->target <= pc)
        p->loop = NULL; // see count_turn
    return true;
}

// How many instructions from this one on can run without a look at each: they are plain and without a guard, come
// before the join, and are no more than the path has left.
static inline uint32_t straight_ahead(const Instr *i, int left, uint32_t until_join)
{
    const uint32_t count = i->straight < until_join ? i->straight : until_join;
    return count < (uint32_t)left ? count : (uint32_t)left;
}

// Steps until the path waits, ends, splits or has had its turn; returns the instructions left.
static int run_path(Warp *w, Path *p, int turn)
{
    Counters *counters = &w->block->counters;
    while (turn > 0 && w->path == p && p->waiting == RUNS) {
        const Instr *code = p->frame->function->program->code;
        const uint32_t join = end_of(p);
        w->lanes = p->frame->lanes;
        uint64_t lanes_on = 0;
        const bool traced = w->block->traced && p->pc != join;
        const bool followed = w->undefined && p->pc != join; // what nobody wrote, from register to register
        const int most = traced || followed ? 1 : turn;
        if (traced)
            sim_trace_instruction(w, p);
        if (followed)
            sim_observer.begin_instruction(w, &code[p->pc]);
        int left = most;
        uint32_t pc = p->pc;
        const Instr *i = NULL;
        const uint32_t on = p->mask, on_count = (uint32_t)__builtin_popcount(on);
        uint32_t mask = on;
        while (left > 0 && pc != join && (followed || !w->undefined)) {
            i = &code[pc];
            const uint32_t straight = straight_ahead(i, left, join - pc); // a join behind the path is far ahead
            if (straight > 0) {
                const Instr *const end = i + straight;
                while (i < end) {
                    i->run(w, i, on);
                    i++;
                    if (w->undefined)
                        break;
                }
                const uint32_t ran = (uint32_t)(i - &code[pc]);
                lanes_on += (uint64_t)ran * on_count;
                left -= (int)ran;
                pc += ran;
                i = NULL;
                continue;
            }
            mask = on;
            if (i->guard != NOWHERE)
                mask &= *(uint32_t *)(w->lanes + i->guard) ^ (i->guard_negated ? ALL_LANES : 0);
            left--;
            lanes_on += (uint64_t)__builtin_popcount(mask);
            if (mask != 0 && i->control == PLAIN) {
                i->run(w, i, mask);
                pc++;
            } else if (mask == 0) {
                pc++;
            } else if (is_plain_jump(p, i, mask, pc)) {
                note_jump(p, pc, i->target);
                pc = i->target;
            } else {
                break;
            }
            i = NULL;
        }
        if (followed && mask != 0 && code[p->pc].control == PLAIN)
            sim_observer.end_instruction(w, &code[p->pc], mask);
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

bool sim_run_warp(Warp *w)
{
    bool progress = false;
    int turn = w->block->launch->together ? SHORT_TURN : TURN;
    w->yields = false;
    while (turn > 0 && !w->yields) {
        Path *p = sim_next_path(w);
        if (!p)
            break;
        w->path = p;
        progress = true;
        const int before = turn;
        p->overlooked = 0;
        turn = run_path(w, p, turn);
        watch_path(w, p, (uint64_t)(before - turn));
        w->unfair += (uint64_t)(before - turn);
        if (w->yields)
            put_last(w, p);
        if (w->unfair > w->block->patience && (p = sim_next_path(w)))
            let_overlooked_go(w, p);
    }
    return progress;
}
