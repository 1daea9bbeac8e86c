// dynamic_parallelism.c: a launch by the host, with all that its kernel and theirs launch (CUDA's dynamic parallelism 2).
//
// No kernel can wait for what it has launched, and CUDA promises nowhere that a child runs beside its parent. So a
// grid that is launched waits until its parent has ended. Then the children run in the order in which they were
// launched, which is that of their streams and events; each with all of its own before the next; and behind them all
// those of the tail stream. Blocks of a kernel that launches run one after the other, so this order is always the same.
#include "runtime/work/device_call.h"
#include "checker/dynamic_parallelism.h"
#include "runtime/work/work.h"

// The next of a grid's children that may begin now, as all before it have ended; NULL if there is none left.
static Grid *next_child(Grid *g)
{
    Grid **first = g->first ? &g->first : &g->first_tail, *child = *first;
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
    void **arguments = sim_allocate(&g->family->arena, (count + 1) * sizeof *arguments);
    count = 0;
    for (const Variable *v = g->launch.kernel->params; v; v = v->next)
        arguments[count++] = g->arguments + v->address;
    return sim_launch_grid(g->launch.module, g->launch.kernel, g->launch.grid, g->launch.block, g->launch.dynamic_bytes,
                           g->family->stack_bytes, arguments, (Grouping){0}, g, g->family_uses != NULL);
}

static void forget_arguments(Grid *g)
{
    if (g->arguments)
        sim_unregister_memory(g->arguments);
    g->arguments = NULL;
}

// What the grid has not launched, and never will.
static void end_grid(Grid *g)
{
    sim_report_device_errors(g);
    sim_free_launch_clocks(g->clocks);
    for (Grid *child = g->prepared; child; child = child->next)
        forget_arguments(child);
    for (Grid *child; (child = next_child(g));)
        forget_arguments(child);
}

cudaError_t sim_launch_tree(const Module *module, const Function *kernel, dim3 grid, dim3 block, size_t dynamic_bytes,
                              size_t stack_bytes, void **arguments, Grouping grouping)
{
    LaunchTree family = {.module = module, .stack_bytes = stack_bytes};
    Grid *running = sim_allocate(&family.arena, sizeof *running);
    running->family = &family;
    FamilyUses *uses = running->family_uses = sim_start_family_uses(kernel);
    running->launch = (Launch){.module = module, .kernel = kernel, .grid = grid, .block = block};
    cudaError_t error =
        sim_launch_grid(module, kernel, grid, block, dynamic_bytes, stack_bytes, arguments, grouping, running,
                        uses != NULL);
    while (running) {
        Grid *child = error ? NULL : next_child(running);
        if (!child) {
            end_grid(running);
            running = running->parent;
            continue;
        }
        family.pending--;
        error = run_grid(child);
        forget_arguments(child);
        running = child;
    }
    for (const struct Text *t = family.texts; t; t = t->next)
        sim_unregister_memory(t->text);
    sim_end_family_uses(uses);
    sim_free_arena(&family.arena);
    sim_say_findings();
    return error;
}

cudaError_t sim_launch_grouped(const Module *module, const Function *kernel, dim3 grid, dim3 block,
                               size_t dynamic_bytes, size_t stack_bytes, void **arguments, Grouping grouping)
{
    if (module->launches_kernels)
        return sim_launch_tree(module, kernel, grid, block, dynamic_bytes, stack_bytes, arguments, grouping);
    return sim_launch_grid(module, kernel, grid, block, dynamic_bytes, stack_bytes, arguments, grouping, NULL, false);
}

cudaError_t sim_launch(Module *module, Function *kernel, dim3 grid, dim3 block, size_t dynamic_bytes,
                       size_t stack_bytes, void **arguments)
{
    sim_make_ready(module, kernel);
    return sim_launch_grouped(module, kernel, grid, block, dynamic_bytes, stack_bytes, arguments, (Grouping){0});
}
