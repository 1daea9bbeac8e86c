// device_launches.c: launches, copies and fills by kernels, which are deferred until the parent grid has ended.
#include "runtime/work/device_call.h"
#include "checker/dynamic_parallelism.h"
#include "checker/host_checks.h"
#include "machine/ops/ops.h"
#include "runtime/work/limits.h"
#include "runtime/work/work.h"

// ---- Launches

static Grid *new_grid(Grid *parent, const Call *c)
{
    Grid *g = sim_allocate(&parent->nested_launch->arena, sizeof *g);
    g->nested_launch = parent->nested_launch;
    g->parent = parent;
    g->depth = parent->depth + 1;
    g->level = parent->level + 1;
    g->block = c->w->block->number;
    g->thread = sim_device_thread(c);
    g->launch_instr = c->i;
    return g;
}

static cudaError_t enqueue(const Call *c, Grid *g, uint64_t handle)
{
    Grid *parent = c->grid;
    DeviceStream *s = sim_device_stream(c, handle);
    if (!s)
        return sim_set_device_error(c, cudaErrorInvalidResourceHandle, "a launch in what is no stream of this grid");
    g->is_tail = handle == TAIL_STREAM;
    g->depth = g->is_tail ? parent->depth : g->depth; // a tail launch has its parent's depth
    g->stream = s->stream;
    g->stream_index = s->count++;
    g->dependencies = s->dependencies;
    if (parent->check)
        sim_begin_grid_check(g, &g->nested_launch->arena, c->w, c->lane);
    Grid **first = g->is_tail ? &parent->first_tail : &parent->first_child;
    Grid **last = g->is_tail ? &parent->last_tail : &parent->last_child;
    *(*first ? &(*last)->next : first) = g;
    *last = g;
    g->nested_launch->pending++;
    return cudaSuccess;
}

// Returns an error if the nested launch has too many pending launches.
static cudaError_t check_pending_limit(const Call *c, const char *what)
{
    const size_t limit = sim_limit(cudaLimitDevRuntimePendingLaunchCount);
    if (c->grid->nested_launch->pending < limit)
        return cudaSuccess;
    return sim_set_device_error(c, cudaErrorLaunchOutOfResources,
                            "%s did not run: %zu launches of kernels wait already", what,
                            limit);
}

// The first call of <<<grid, block, bytes>>>: returns a buffer for the arguments, or NULL. A second call launches the kernel.
uint64_t sim_device_parameter_buffer(const Call *c)
{
    const uint64_t code = sim_argument(c, 0, 8);
    const dim3 grid = sim_dim3_argument(c, 1), block = sim_dim3_argument(c, 2);
    const size_t dynamic_shared_bytes = sim_argument(c, 3, 4);
    const Kernel *kernel = sim_kernel_of_code(c->grid->nested_launch->module, code);
    const Function *f = (const Function *)(uintptr_t)code;
    char name[200], what[280];
    if (!kernel) {
        sim_set_device_error(c, cudaErrorInvalidDeviceFunction, "a kernel's launch by a kernel");
        return 0;
    }
    sim_demangle(f->name, name, sizeof name);
    snprintf(what, sizeof what, "kernel %s<<<(%u,%u,%u), (%u,%u,%u), %zu>>>", name, grid.x, grid.y, grid.z, block.x,
             block.y, block.z, dynamic_shared_bytes);
    const cudaError_t error = sim_check_configuration(kernel, f, grid, block, dynamic_shared_bytes);
    if (error)
        sim_set_device_error(c, error, "%s did not run", what);
    else if (c->grid->depth >= MAX_DEPTH)
        sim_set_device_error(c, cudaErrorLaunchMaxDepthExceeded,
                         "%s did not run: kernels launch kernels %d deep", what,
                         MAX_DEPTH);
    if (error || c->grid->depth >= MAX_DEPTH || check_pending_limit(c, what))
        return 0;
    Grid *g = new_grid(c->grid, c);
    g->launch = (Launch){.module = c->grid->nested_launch->module, .kernel = f, .grid = grid, .block = block,
                         .dynamic_shared_bytes = dynamic_shared_bytes};
    g->arguments = sim_allocate(&g->nested_launch->arena, f->kernel_param_bytes + 16);
    sim_register_memory(g->arguments, f->kernel_param_bytes + 16, PARAMETER_MEMORY);
    g->next = c->grid->prepared;
    c->grid->prepared = g;
    return (uint64_t)(uintptr_t)g->arguments;
}

cudaError_t sim_device_launch(const Call *c)
{
    const uint64_t buffer = sim_argument(c, 0, 8);
    Grid **link = &c->grid->prepared;
    while (*link && (uint64_t)(uintptr_t)(*link)->arguments != buffer)
        link = &(*link)->next;
    Grid *g = *link;
    if (!g)
        return sim_set_device_error(c, cudaErrorInvalidValue, "cudaLaunchDevice: no buffer of cudaGetParameterBuffer");
    *link = g->next;
    g->next = NULL;
    const cudaError_t error = enqueue(c, g, sim_argument(c, 1, 8));
    if (error)
        sim_unregister_memory(g->arguments);
    return error;
}

// ---- Copies and fills

static bool is_device_box(uint64_t address, size_t pitch, size_t width, size_t height)
{
    const Allocation *a = sim_allocation_at(address);
    const size_t bytes = width && height ? pitch * (height - 1) + width : 0;
    return bytes == 0 || (a && address - a->address < a->bytes && bytes <= a->bytes - (address - a->address));
}

static cudaError_t queue_copy(const Call *c, DeviceCopy copy, GridKind kind, uint64_t stream)
{
    static const char *const NAMES[] = {[COPY_GRID] = "cudaMemcpyAsync", [FILL_GRID] = "cudaMemsetAsync"};
    if (!is_device_box(copy.to, copy.to_pitch, copy.width, copy.height) ||
        (kind == COPY_GRID && !is_device_box(copy.from, copy.from_pitch, copy.width, copy.height)))
        sim_fault(c->w, c->i, c->lane, cudaErrorIllegalAddress, "%s on the device: some of the bytes are not device memory",
                  NAMES[kind]);
    const cudaError_t error = check_pending_limit(c, NAMES[kind]);
    if (error)
        return error;
    sim_count_device_copy(c->w, copy.width, copy.height, kind == COPY_GRID);
    Grid *g = new_grid(c->grid, c);
    g->kind = kind;
    g->copy = copy;
    return enqueue(c, g, stream);
}

cudaError_t sim_device_copy(const Call *c)
{
    const size_t bytes = sim_argument(c, 2, 8);
    return queue_copy(c,
                      (DeviceCopy){sim_argument(c, 0, 8), sim_argument(c, 1, 8), bytes,
                                   bytes, bytes, 1, 0},
                      COPY_GRID, sim_argument(c, 4, 8));
}

cudaError_t sim_device_copy_rows(const Call *c)
{
    return queue_copy(c,
                      (DeviceCopy){sim_argument(c, 0, 8), sim_argument(c, 2, 8),
                                   sim_argument(c, 1, 8), sim_argument(c, 3, 8),
                                   sim_argument(c, 4, 8), sim_argument(c, 5, 8), 0},
                      COPY_GRID, sim_argument(c, 7, 8));
}

cudaError_t sim_device_fill(const Call *c)
{
    const size_t bytes = sim_argument(c, 2, 8);
    return queue_copy(c,
                      (DeviceCopy){sim_argument(c, 0, 8), 0, bytes, 0, bytes, 1,
                                   (int)sim_argument(c, 1, 4)},
                      FILL_GRID, sim_argument(c, 3, 8));
}

cudaError_t sim_device_fill_rows(const Call *c)
{
    return queue_copy(c,
                      (DeviceCopy){sim_argument(c, 0, 8), 0, sim_argument(c, 1, 8), 0,
                                   sim_argument(c, 3, 8), sim_argument(c, 4, 8),
                                   (int)sim_argument(c, 2, 4)},
                      FILL_GRID, sim_argument(c, 5, 8));
}

void sim_run_device_copy(Grid *g)
{
    const DeviceCopy *copy = &g->copy;
    for (size_t row = 0; row < copy->height; row++) {
        void *to = (void *)(uintptr_t)(copy->to + row * copy->to_pitch);
        const void *from = (const void *)(uintptr_t)(copy->from + row * copy->from_pitch);
        if (g->kind == COPY_GRID)
            sim_copy_bytes(to, from, copy->width);
        else
            sim_set_bytes(to, copy->value, copy->width);
        if (g->kind == COPY_GRID)
            sim_note_nested_copy(g, (uint64_t)(uintptr_t)from, copy->width, false);
        sim_note_nested_copy(g, (uint64_t)(uintptr_t)to, copy->width, true);
    }
}
