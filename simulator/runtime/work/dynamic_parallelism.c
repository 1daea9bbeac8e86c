// dynamic_parallelism.c: runs a launch by the host with all its descendants (CUDA Dynamic Parallelism, version 2).
//
// A kernel cannot wait for its child grids, and CUDA does not guarantee that they run concurrently with it. Therefore child
// grids start after their parent has ended, in launch order, which respects streams and events. Each grid runs with all its
// descendants before the next grid; grids of the tail stream run last. The order is deterministic, because blocks of a
// launching kernel run serially.
#include "runtime/work/device_call.h"
#include "checker/dynamic_parallelism.h"
#include "runtime/work/work.h"

// Removes and returns the next child grid to run; NULL if none is left.
static Grid *pop_child(Grid *g)
{
    Grid **first = g->first_child ? &g->first_child : &g->first_tail, *child = *first;
    if (child)
        *first = child->next;
    return child;
}

static cudaError_t run_grid(Grid *g)
{
    size_t count = 0;
    if (g->kind != KERNEL_GRID) {
        sim_run_device_copy(g);
        return cudaSuccess;
    }
    for (const Variable *v = g->launch.kernel->params; v; v = v->next)
        count++;
    void **arguments = sim_allocate(&g->nested_launch->arena, (count + 1) * sizeof *arguments);
    count = 0;
    for (const Variable *v = g->launch.kernel->params; v; v = v->next)
        arguments[count++] = g->arguments + v->address;
    return sim_launch_grid(g->launch.module, g->launch.kernel, g->launch.grid, g->launch.block, g->launch.dynamic_shared_bytes,
                           g->nested_launch->stack_bytes, arguments, (LaunchAttributes){0}, g, g->check != NULL);
}

static void unregister_arguments(Grid *g)
{
    if (g->arguments)
        sim_unregister_memory(g->arguments);
    g->arguments = NULL;
}

// Reports the grid's errors, and discards launches that will not run.
static void end_grid(Grid *g)
{
    sim_report_device_errors(g);
    sim_end_grid_check(g);
    for (Grid *child = g->prepared; child; child = child->next)
        unregister_arguments(child);
    for (Grid *child; (child = pop_child(g));)
        unregister_arguments(child);
}

cudaError_t sim_launch_nested(const Module *module, const Function *kernel, dim3 grid, dim3 block, size_t dynamic_shared_bytes,
                              size_t stack_bytes, void **arguments, LaunchAttributes attributes)
{
    NestedLaunch nested_launch = {.module = module, .stack_bytes = stack_bytes};
    Grid *const root = sim_allocate(&nested_launch.arena, sizeof *root), *current = root;
    root->nested_launch = &nested_launch;
    sim_begin_nested_check(root, &nested_launch.arena, kernel);
    root->launch = (Launch){.module = module, .kernel = kernel, .grid = grid, .block = block};
    cudaError_t error =
        sim_launch_grid(module, kernel, grid, block, dynamic_shared_bytes, stack_bytes, arguments, attributes, root,
                        root->check != NULL);
    while (current) {
        Grid *child = error ? NULL : pop_child(current);
        if (!child) {
            end_grid(current);
            current = current->parent;
            continue;
        }
        nested_launch.pending--;
        error = run_grid(child);
        unregister_arguments(child);
        current = child;
    }
    for (const struct Text *t = nested_launch.texts; t; t = t->next)
        sim_unregister_memory(t->text);
    sim_end_nested_check(root);
    sim_free_arena(&nested_launch.arena);
    sim_print_findings();
    return error;
}

cudaError_t sim_launch_with_attributes(const Module *module, const Function *kernel, dim3 grid, dim3 block,
                               size_t dynamic_shared_bytes, size_t stack_bytes, void **arguments, LaunchAttributes attributes)
{
    if (module->launches_kernels)
        return sim_launch_nested(module, kernel, grid, block, dynamic_shared_bytes, stack_bytes, arguments, attributes);
    return sim_launch_grid(module, kernel, grid, block, dynamic_shared_bytes, stack_bytes, arguments, attributes, NULL, false);
}

cudaError_t sim_launch(Module *module, Function *kernel, dim3 grid, dim3 block, size_t dynamic_shared_bytes,
                       size_t stack_bytes, void **arguments)
{
    sim_prepare_function(module, kernel);
    return sim_launch_with_attributes(module, kernel, grid, block, dynamic_shared_bytes, stack_bytes, arguments, (LaunchAttributes){0});
}
