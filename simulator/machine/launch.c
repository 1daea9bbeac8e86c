// launch.c: prepares a launch, runs it, and reports its result.
#include "machine/blocks.h"
#include "machine/shortcuts.h"

#include <stdlib.h>
#include <string.h>

enum { RESERVED_BYTES = 1024, WORKSPACE_BYTES = 16 };

// A random permutation of the numbers below `count`; NULL unless $SIM_BLOCK_ORDER is set.
static uint64_t *shuffled_numbers(uint64_t count)
{
    if (!sim_settings()->random_order)
        return NULL;
    uint64_t seed = sim_settings()->block_order;
    uint64_t *numbers = malloc(count * sizeof *numbers);
    if (!numbers)
        sim_die("out of memory: block order");
    for (uint64_t k = 0; k < count; k++) { // Fisher-Yates, inside out
        const uint64_t other = sim_next_random(&seed) % (k + 1);
        numbers[k] = numbers[other];
        numbers[other] = k;
    }
    return numbers;
}

// The number of the block with this rank in this cluster.
static uint64_t block_in_cluster(const Launch *launch, uint64_t cluster, uint32_t rank)
{
    const dim3 grid = launch->grid, size = launch->cluster;
    const uint64_t columns = grid.x / size.x, rows = grid.y / size.y;
    const uint64_t x = cluster % columns * size.x + rank % size.x;
    const uint64_t y = cluster / columns % rows * size.y + rank / size.x % size.y;
    const uint64_t z = cluster / columns / rows * size.z + rank / size.x / size.y;
    return x + grid.x * (y + grid.y * z);
}

// Block numbers in the order in which they start; those of a cluster are consecutive, by rank. NULL: ascending order.
static uint64_t *order_of_blocks(const Launch *launch)
{
    const uint32_t size = launch->cluster_blocks;
    uint64_t *clusters = shuffled_numbers(launch->blocks / size);
    if (size == 1)
        return clusters;
    uint64_t *numbers = malloc(launch->blocks * sizeof *numbers);
    if (!numbers)
        sim_die("out of memory: cluster order");
    for (uint64_t k = 0; k < launch->blocks; k++)
        numbers[k] =
            block_in_cluster(launch, clusters ? clusters[k / size] : k / size, (uint32_t)(k % size));
    free(clusters);
    return numbers;
}

static bool needs_time_slicing(const Launch *launch)
{
    return launch->workspace || launch->cluster_blocks > 1 || (sim_settings()->time_sliced && launch->block_concurrency != CONCURRENT);
}

// The offset of dynamic shared memory, after the kernel's static variables. Without redzones it is unpadded_offset; with them,
// a redzone precedes dynamic shared memory, which keeps its bank.
static size_t dynamic_shared_offset(const Launch *launch, size_t unpadded_offset)
{
    const size_t extent = launch->kernel->shared_extent, align = launch->module->dynamic_align;
    const bool redzones = sim_checker_enabled() || extent != launch->kernel->shared_bytes;
    if (!redzones)
        return unpadded_offset;
    if (extent == 0)
        return 0;
    const size_t granularity = align > LINE_BYTES ? align : LINE_BYTES;
    return sim_align_up(extent + LINE_BYTES, granularity) + unpadded_offset % granularity;
}

static void lay_out_shared(Launch *launch)
{
    const Function *kernel = launch->kernel;
    const size_t unpadded_offset = sim_align_up(kernel->shared_bytes, launch->module->dynamic_align);
    launch->dynamic_shared = (uint32_t)dynamic_shared_offset(launch, unpadded_offset);
    launch->shared_bytes = kernel->shared_extent;
    launch->requested_shared = kernel->shared_bytes;
    if (launch->dynamic_shared_bytes) {
        launch->shared_bytes = launch->dynamic_shared + launch->dynamic_shared_bytes;
        launch->requested_shared = unpadded_offset + launch->dynamic_shared_bytes;
    }
    launch->uses_reserved_shared = kernel->program->effects.uses_reserved_shared;
    if (launch->uses_reserved_shared) {
        const size_t alignment = sim_checker_enabled() ? LINE_BYTES : 16; // a shadow line holds one array only
        launch->reserved_shared = (uint32_t)sim_align_up(launch->shared_bytes, alignment);
        launch->shared_bytes = launch->reserved_shared + RESERVED_BYTES;
        launch->requested_shared = sim_align_up(launch->requested_shared, 16) + RESERVED_BYTES;
    }
}

static size_t local_bytes_of(const Function *kernel, size_t stack_bytes)
{
    const size_t kernel_bytes = sim_align_up(kernel->local_bytes, 16);
    return kernel->program->has_calls ? kernel_bytes + stack_bytes : kernel_bytes;
}

static void set_cluster(Launch *launch, dim3 requested)
{
    const dim3 cluster = requested.x ? requested : launch->kernel->cluster;
    launch->explicit_cluster = cluster.x > 0;
    launch->cluster = launch->explicit_cluster ? cluster : (dim3){1, 1, 1};
    launch->cluster_blocks = launch->cluster.x * launch->cluster.y * launch->cluster.z;
}

// Copies the arguments, and reserves the workspace of a cooperative launch after them. False: out of memory.
static bool copy_arguments(Launch *launch, void **arguments, bool cooperative)
{
    const size_t workspace_offset = sim_align_up(launch->kernel->kernel_param_bytes, 16);
    launch->params = calloc(1, workspace_offset + WORKSPACE_BYTES);
    if (!launch->params)
        return false;
    launch->workspace = cooperative ? launch->params + workspace_offset : NULL;
    int index = 0;
    for (const Variable *v = launch->kernel->params; v; v = v->next, index++)
        memcpy(launch->params + v->address, arguments[index], v->bytes);
    sim_register_memory(launch->params, workspace_offset + WORKSPACE_BYTES, PARAMETER_MEMORY);
    return true;
}

// Marks the allocations that the launch may write to: those that its pointer arguments and pointer variables point to.
static void find_write_set(Launch *launch)
{
    const Stores *stores = &launch->kernel->program->stores;
    launch->write_set_known = stores->known && !launch->nested_grid; // parent and child grids may write during this one
    for (const PointerOrigin *o = stores->targets; o < stores->targets + stores->count; o++) {
        uint64_t address = o->variable ? o->variable->address : 0;
        if (!o->variable && o->offset + sizeof address <= launch->kernel->kernel_param_bytes)
            memcpy(&address, launch->params + o->offset, sizeof address);
        Allocation *a = sim_allocation_at(address);
        if (a && address - a->address <= a->bytes)
            a->last_writing_launch = launch->number;
        else if (stores->assumes_offsets) // the parameter is not a pointer, but may be an offset that is added to one
            launch->write_set_known = false;
    }
}

static void run_launch(Launch *launch)
{
    sim_reset_writers();
    find_write_set(launch);
    launch->traced = sim_trace_launch(launch);
    launch->blocks_to_run = launch->blocks;
    sim_skip_idle_blocks(launch);
    launch->on_one_thread = launch->time_sliced || sim_worker_count(launch) == 1;
    launch->vector_clocks = sim_observer.begin_launch ? sim_observer.begin_launch(launch) : NULL;
    launch->records_host_shared_accesses = !launch->kernel->program->effects.publishes_to_host;
    if (launch->time_sliced)
        sim_run_time_sliced(launch);
    else
        sim_run_blocks(launch);
    if (launch->suspended_block)
        sim_resume_suspended_block(launch);
    if (launch->traced)
        sim_end_trace_of_launch();
}

static void free_launch(Launch *launch)
{
    sim_unregister_memory(launch->params);
    free(launch->params);
    free(launch->block_order);
}

// Prints the error unless the observer reports it; the observer does not report unsupported operations. Exits if the kernel
// waits for the host.
static void end_launch(Launch *launch)
{
    if (launch->error != cudaSuccess && (!is_launch_checked(launch) || launch->error == cudaErrorNotSupported))
        fprintf(stderr, "%.*s\n", (int)strcspn(launch->message, "\n"), launch->message); // without hints
    if (sim_observer.end_launch)
        sim_observer.end_launch(launch);
    if (launch->fault.waits_for_host)
        exit(CANNOT_RUN);
}

static _Atomic uint64_t launch_count; // in the program so far
static LaunchResult last_success;

LaunchResult sim_last_launch(void)
{
    return last_success;
}

uint64_t sim_count_skipped_launch(const Module *module, const Function *kernel, dim3 grid, dim3 block, const Counters *counters)
{
    Launch launch = {.number = ++launch_count,
                     .module = module,
                     .kernel = kernel,
                     .grid = grid,
                     .block = block,
                     .blocks = (uint64_t)grid.x * grid.y * grid.z,
                     .counters = *counters};
    if (sim_observer.end_launch)
        sim_observer.end_launch(&launch);
    sim_write_counters(&launch);
    return launch.number;
}

cudaError_t sim_launch_grid(const Module *module, const Function *kernel, dim3 grid, dim3 block, size_t dynamic_shared_bytes,
                            size_t stack_bytes, void **arguments, LaunchAttributes attributes, Grid *nested_grid, bool checks_child_grids)
{
    Launch launch = {.number = ++launch_count,
                     .module = module,
                     .device = sim_current_device,
                     .kernel = kernel,
                     .grid = grid,
                     .block = block,
                     .blocks = (uint64_t)grid.x * grid.y * grid.z,
                     .dynamic_shared_bytes = dynamic_shared_bytes,
                     .local_bytes = local_bytes_of(kernel, stack_bytes),
                     .block_concurrency = kernel->program->block_concurrency,
                     .fault_block = UINT64_MAX,
                     .nested_grid = nested_grid,
                     .checks_child_grids = checks_child_grids};
    set_cluster(&launch, attributes.cluster);
    lay_out_shared(&launch);
    if (!copy_arguments(&launch, arguments, attributes.is_cooperative))
        return cudaErrorMemoryAllocation;
    launch.time_sliced = needs_time_slicing(&launch);
    launch.block_order = order_of_blocks(&launch);
    const double begin = sim_begin_run_time();
    run_launch(&launch);
    const double seconds = sim_monotonic_seconds() - begin;
    free_launch(&launch);
    fflush(stdout);
    end_launch(&launch);
    if (launch.error == cudaSuccess) {
        last_success = (LaunchResult){launch.number, launch.counters, launch.write_set_known};
        sim_record_throughput(&launch, seconds);
        sim_write_counters(&launch);
    }
    if (launch.error == cudaSuccess && launch.suspended_block)
        sim_report_time_slicing(&launch);
    return launch.error;
}
