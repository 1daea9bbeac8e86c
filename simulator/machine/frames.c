// frames.c: call frames of a warp: registers, constants and special registers; entry to and return from functions.
#include "machine/running.h"

#include <string.h>

enum { CALL_BYTES = 64 }; // stack space of a call, besides the function's variables

// ---- Contents

// With $SIM_BLOCK_ORDER two blocks that start one after the other share an SM, and the first has the upper half of their warp slots:
// CUDA derives neither the SM from the block's index nor the slot from the thread's.
static uint64_t sm_of(const Block *b)
{
    return b->start_index / (b->launch->block_order ? 2 : 1) % (uint64_t)sim_device()->sm_count;
}

static uint64_t warp_slot(const Warp *w)
{
    const Block *b = w->block;
    const bool is_upper = b->launch->block_order && b->start_index % 2 == 0;
    return b->warp_order[w->number] + (is_upper ? (uint64_t)b->warp_count : 0);
}

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
    case WARPID: return warp_slot(w);
    case NWARPID: return (uint64_t)(sim_device()->threads_per_sm / LANES);
    case SMID: return sm_of(b);
    case GRIDID: return launch->number;
    case NSMID: return (uint64_t)sim_device()->sm_count;
    case LANEMASK_EQ: return bit;
    case LANEMASK_LT: return bit - 1;
    case LANEMASK_LE: return bit | (bit - 1);
    case LANEMASK_GT: return ~(bit | (bit - 1));
    case LANEMASK_GE: return ~(bit - 1);
    case DYNAMIC_SMEM_SIZE: return launch->dynamic_shared_bytes;
    case TOTAL_SMEM_SIZE: return launch->requested_shared;
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

static bool differs_between_blocks(int special)
{
    return (special >= CTAID_X && special <= CLUSTER_CTARANK) || special == WARPID || special == SMID;
}

static void fill_slot(const Warp *w, Frame *f, const Slot *s)
{
    uint8_t *lanes = f->registers + s->offset;
    uint64_t value = s->special < 0 ? s->value : special_value(w, f, (Special)s->special, 0);
    if (s->bytes == 4 && !differs_between_lanes(s->special)) { // fast path, for the block's indices in the grid
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

// Zeroes the registers that the function may read before it writes to them.
static void clear_registers(Frame *f)
{
    const Program *p = f->function->program;
    for (int k = 0; k < p->live_in_count; k++)
        memset(f->registers + p->live_in[k].offset, 0, p->live_in[k].bytes);
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
    f->registers = (uint8_t *)((lanes + 63) / 64 * 64);
    return f;
}

void sim_enter_kernel(Warp *w)
{
    const Function *kernel = w->block->launch->kernel;
    const Program *program = kernel->program;
    const bool is_new = !w->entry;
    if (is_new)
        w->entry = new_frame(w, kernel);
    else
        clear_registers(w->entry);
    for (int k = 0; k < program->slot_count; k++)
        if (is_new || differs_between_blocks(program->slots[k].special))
            fill_slot(w, w->entry, &program->slots[k]);
    w->entry->local_end = kernel->local_bytes;
}

void sim_leave_frame(Block *b, Frame *f, uint32_t mask)
{
    f->not_returned &= ~mask;
    if (f->not_returned)
        return;
    f->next_free = b->free_frames;
    b->free_frames = f;
}

// ---- Calls

void sim_extend_local(Block *b, size_t bytes)
{
    const size_t thread_bytes = b->launch->local_bytes;
    if (bytes <= b->local_used)
        return;
    for (size_t t = 0; t < b->threads; t++)
        memset(b->local + t * thread_bytes + b->local_used, 0xff, bytes - b->local_used);
    if (is_block_checked(b))
        sim_observer.extend_local(b, b->local_used, bytes);
    b->local_used = bytes;
}

// Returns the function that the first lane calls, and sets `callers` to the lanes that call it.
static const Function *callee_of(Warp *w, const Instr *i, uint32_t mask, uint32_t *callers)
{
    *callers = mask;
    if (i->call->callee)
        return i->call->callee;
    const uint64_t *targets = (const uint64_t *)(w->registers + i->a);
    const uint64_t target = targets[__builtin_ctz(mask)];
    *callers = 0;
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        if (targets[__builtin_ctz(rest)] == target)
            *callers |= 1u << __builtin_ctz(rest);
    for (const Function *f = w->block->launch->module->functions; f; f = f->next)
        if ((uint64_t)(uintptr_t)f == target && f->is_defined && !f->is_kernel)
            return f;
    sim_fault(w, i, __builtin_ctz(mask), cudaErrorIllegalAddress, "a call of 0x%llx, which is not a function",
              (unsigned long long)target);
}

static void copy_arguments(Warp *w, const WarpSplit *p, const Frame *from, const Frame *to, const uint32_t *offsets, int count,
                           const Variable *formal, bool into_callee)
{
    const size_t from_bytes = from->function->param_bytes, to_bytes = to->function->param_bytes;
    for (int k = 0; k < count && formal; k++, formal = formal->next) {
        const size_t source = into_callee ? offsets[k] : formal->address, target = into_callee ? formal->address : offsets[k];
        if (source + formal->bytes > from_bytes || target + formal->bytes > to_bytes)
            continue;
        for (uint32_t rest = p->mask; rest; rest &= rest - 1) {
            const size_t l = (size_t)__builtin_ctz(rest);
            memcpy(to->params + l * to_bytes + target, from->params + l * from_bytes + source, formal->bytes);
        }
        if (w->undefined_count)
            sim_observer.copy_argument(w, to->params + target, from->params + source, formal->bytes, p->mask);
    }
}

void sim_call(Warp *w, WarpSplit *p, const Instr *i)
{
    uint32_t callers;
    const Function *callee = callee_of(w, i, p->mask, &callers);
    if (callers != p->mask) { // different callees run one after another
        sim_diverge(w, p, p->pc + 1, callers, p->pc, p->pc);
        return;
    }
    const uint64_t local_base = p->frame->local_base + (p->frame->function->local_bytes + 15) / 16 * 16 + CALL_BYTES;
    if (local_base + callee->local_bytes > w->block->launch->local_bytes)
        sim_fault(w, i, __builtin_ctz(p->mask), cudaErrorIllegalAddress,
                  "stack overflow: the stack has %zu bytes\nenlarge it with cudaDeviceSetLimit(cudaLimitStackSize, ...)",
                  w->block->launch->local_bytes);
    Frame *f = new_frame(w, callee);
    f->caller = p->frame;
    f->not_returned = p->mask;
    f->call = i;
    f->local_base = local_base;
    f->local_end = callee->local_bytes ? local_base + callee->local_bytes : p->frame->local_end;
    sim_extend_local(w->block, f->local_end);
    for (int k = 0; k < callee->program->slot_count; k++)
        fill_slot(w, f, &callee->program->slots[k]);
    copy_arguments(w, p, p->frame, f, i->call->arguments, i->call->argument_count, callee->params, true);
    p->frame = f;
    p->pc = 0;
}

void sim_return_to_caller(Warp *w, WarpSplit *p)
{
    Frame *f = p->frame;
    copy_arguments(w, p, f, f->caller, f->call->call->results, f->call->call->result_count, f->function->returned, false);
    p->frame = f->caller;
    p->pc = (uint32_t)(f->call - f->caller->function->program->code) + 1;
    if (p->loop_frame == f)
        p->loop = NULL;
    sim_leave_frame(w->block, f, p->mask);
}
