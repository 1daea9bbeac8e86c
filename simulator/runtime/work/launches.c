// launches.c: runs a kernel synchronously, in the current operation.
#include "checker/dependent_launches.h"
#include "checker/order.h"
#include "runtime/work/device_runtime.h"
#include "runtime/work/limits.h"
#include "runtime/work/record.h"
#include "runtime/work/repeats.h"

static const size_t MIN_STACK = 65536; // local memory of a thread for called functions, in bytes

static cudaError_t run_kernel(const KernelLaunch *l, const void *call_site)
{
    const size_t requested = sim_limit(cudaLimitStackSize), stack = requested > MIN_STACK ? requested : MIN_STACK;
    sim_name_op(l->kernel->name, l->function->program->effects.has_fences, call_site);
    if (l->function->program->effects.publishes_to_host)
        sim_unprotect_shared_memory();
    // The checker must see which threads of an early launch wait.
    const MemoLookup lookup = sim_is_early_launch() ? (MemoLookup){.entry = NULL} : sim_memo_lookup(l, stack);
    if (lookup.skipped)
        return cudaSuccess;
    sim_record_launch(l);
    const cudaError_t error =
        sim_launch_with_attributes(sim_module_of(l->kernel->binary), l->function, l->grid, l->block, l->dynamic_shared_bytes, stack,
                           l->arguments, (LaunchAttributes){l->is_cooperative, l->cluster});
    sim_record_launch_end();
    if (error == cudaSuccess)
        sim_invalidate_launch_writes();
    else
        sim_invalidate_all_digests();
    sim_memo_update(l, &lookup, error);
    return error;
}

cudaError_t sim_run_kernel(const KernelLaunch *l, const void *call_site)
{
    if (l->is_dependent)
        sim_begin_dependent_launch();
    const cudaError_t error = run_kernel(l, call_site);
    if (l->is_dependent)
        sim_end_dependent_launch();
    return error;
}
