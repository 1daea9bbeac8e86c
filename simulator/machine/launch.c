// launch.c: prepares a launch, runs it, and reports its result.
#include "machine/blocks.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RESERVED_BYTES = 1024, WORKSPACE_BYTES = 16 };

// A random permutation of the numbers for $SIM_BLOCK_ORDER; NULL if it is not set.
static uint64_t *shuffled_blocks(uint64_t count)
{
    if (!sim_settings()->shuffles)
        return NULL;
    uint64_t seed = sim_settings()->block_order;
    uint64_t *numbers = malloc(count * sizeof *numbers);
    if (!numbers)
        sim_die("out of memory for an order of blocks");
    for (uint64_t k = 0; k < count; k++) { // Fisher-Yates, inside out
        const uint64_t place = sim_next_random(&seed) % (k + 1);
        numbers[k] = numbers[place];
        numbers[place] = k;
    }
    return numbers;
}

// The number of the block with this rank in this cluster.
static uint64_t block_in_cluster(const Launch *launch, uint64_t cluster, uint32_t rank)
{
    const dim3 grid = launch->grid, size = launch->cluster;
    const uint64_t across = grid.x / size.x, down = grid.y / size.y;
    const uint64_t x = cluster % across * size.x + rank % size.x;
    const uint64_t y = cluster / across % down * size.y + rank / size.x % size.y;
    const uint64_t z = cluster / across / down * size.z + rank / size.x / size.y;
    return x + grid.x * (y + grid.y * z);
}

// The start order: a cluster's blocks consecutively, by rank. NULL: ascending numbers.
static uint64_t *order_of_blocks(const Launch *launch)
{
    const uint32_t size = launch->cluster_blocks;
    uint64_t *clusters = shuffled_blocks(launch->blocks / size);
    if (size == 1)
        return clusters;
    uint64_t *numbers = malloc(launch->blocks * sizeof *numbers);
    if (!numbers)
        sim_die("out of memory for an order of clusters");
    for (uint64_t place = 0; place < launch->blocks; place++)
        numbers[place] =
            block_in_cluster(launch, clusters ? clusters[place / size] : place / size, (uint32_t)(place % size));
    free(clusters);
    return numbers;
}

static bool wants_together(const Launch *launch)
{
    return launch->workspace || launch->cluster_blocks > 1 || (sim_settings()->together && launch->order != CONCURRENT);
}

// Offset of dynamic shared memory, after the kernel's static variables. Without redzones that is `usual`; with redzones, one
// more follows, and the offset keeps its bank.
static size_t begin_of_dynamic_shared(const Launch *launch, size_t usual)
{
    const size_t extent = launch->kernel->shared_extent, align = launch->module->dynamic_align;
    const bool gaps = sim_checks() || extent != launch->kernel->shared_bytes;
    if (!gaps)
        return usual;
    if (extent == 0)
        return 0;
    const size_t unit = align > LINE_BYTES ? align : LINE_BYTES;
    return sim_aligned(extent + LINE_BYTES, unit) + usual % unit;
}

static void place_shared(Launch *launch)
{
    const Function *kernel = launch->kernel;
    const size_t usual = sim_aligned(kernel->shared_bytes, launch->module->dynamic_align);
    launch->dynamic_shared = (uint32_t)begin_of_dynamic_shared(launch, usual);
    launch->shared_bytes = kernel->shared_extent;
    launch->asked_shared = kernel->shared_bytes;
    if (launch->dynamic_bytes) {
        launch->shared_bytes = launch->dynamic_shared + launch->dynamic_bytes;
        launch->asked_shared = usual + launch->dynamic_bytes;
    }
    // An indirect call may reach any function.
    launch->uses_reserved_shared = launch->module->uses_reserved_shared && kernel->program->effects.reserved;
    if (launch->uses_reserved_shared) {
        const size_t apart = sim_checks() ? LINE_BYTES : 16; // a shadow line holds one array only
        launch->reserved_shared = (uint32_t)sim_aligned(launch->shared_bytes, apart);
        launch->shared_bytes = launch->reserved_shared + RESERVED_BYTES;
        launch->asked_shared = sim_aligned(launch->asked_shared, 16) + RESERVED_BYTES;
    }
}

static size_t local_bytes_of(const Function *kernel, size_t stack)
{
    const size_t own = sim_aligned(kernel->local_bytes, 16);
    return kernel->program->calls ? own + stack : own;
}

static void place_clusters(Launch *launch, dim3 asked)
{
    const dim3 cluster = asked.x ? asked : launch->kernel->cluster;
    launch->explicit_cluster = cluster.x > 0;
    launch->cluster = launch->explicit_cluster ? cluster : (dim3){1, 1, 1};
    launch->cluster_blocks = launch->cluster.x * launch->cluster.y * launch->cluster.z;
}

// Copies the arguments, followed by the workspace of a cooperative launch. False: out of memory.
static bool place_arguments(Launch *launch, void **arguments, bool cooperative)
{
    const size_t behind = sim_aligned(launch->kernel->kernel_param_bytes, 16);
    launch->params = calloc(1, behind + WORKSPACE_BYTES);
    if (!launch->params)
        return false;
    launch->workspace = cooperative ? launch->params + behind : NULL;
    int index = 0;
    for (const Variable *v = launch->kernel->params; v; v = v->next, index++)
        memcpy(launch->params + v->address, arguments[index], v->bytes);
    sim_register_memory(launch->params, behind + WORKSPACE_BYTES, PARAMETER_MEMORY);
    return true;
}

// Finds the allocations that the launch may write to: those that its arguments and variables point into.
static void find_changes(Launch *launch)
{
    const Stores *stores = &launch->kernel->program->stores;
    launch->knows_changes = stores->known && !launch->family_grid; // other kernels of the family run meanwhile
    for (const PointerOrigin *o = stores->into; o < stores->into + stores->count; o++) {
        uint64_t address = o->variable ? o->variable->address : 0;
        if (!o->variable && o->offset + sizeof address <= launch->kernel->kernel_param_bytes)
            memcpy(&address, launch->params + o->offset, sizeof address);
        Allocation *a = sim_allocation_at(address);
        if (a && address - a->address <= a->bytes)
            a->changes_in = launch->number;
        else if (stores->assumed) // an integer that is added to an unknown pointer
            launch->knows_changes = false;
    }
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void run(Launch *launch)
{
    sim_forget_writers();
    find_changes(launch);
    launch->traced = sim_trace_launch(launch);
    launch->busy = launch->blocks;
    if (!launch->traced && !launch->shuffled && !launch->together)
        sim_leave_out_idle_blocks(launch);
    launch->on_one_thread = launch->together || sim_worker_count(launch) == 1;
    launch->clocks = sim_observer.begin_launch ? sim_observer.begin_launch(launch) : NULL;
    launch->noted = !launch->kernel->program->effects.publishes_to_host;
    if (launch->together)
        sim_run_together(launch);
    else
        sim_run_blocks(launch);
    if (launch->held)
        sim_go_on_from_held(launch);
    if (launch->traced)
        sim_end_trace_of_launch();
}

static void free_places(Launch *launch)
{
    sim_unregister_memory(launch->params);
    free(launch->params);
    free(launch->shuffled);
}

// Prints the error unless the observer reports it, which treats unsupported operations as no mistake. Exits if the kernel
// waits for the host.
static void end_launch(Launch *launch)
{
    if (launch->error != cudaSuccess && (!launch->clocks || launch->error == cudaErrorNotSupported))
        fprintf(stderr, "%.*s\n", (int)strcspn(launch->message, "\n"), launch->message); // without hints
    if (sim_observer.end_launch)
        sim_observer.end_launch(launch);
    if (launch->fault.awaits_host)
        exit(CANNOT_RUN);
}

static _Atomic uint64_t launches; // of the program
static Ran last_ran;

Ran sim_last_ran(void)
{
    return last_ran;
}

uint64_t sim_count_again(const Module *module, const Function *kernel, dim3 grid, dim3 block, const Counters *counters)
{
    Launch launch = {.number = ++launches,
                     .module = module,
                     .kernel = kernel,
                     .grid = grid,
                     .block = block,
                     .blocks = (uint64_t)grid.x * grid.y * grid.z,
                     .counters = *counters};
    if (sim_observer.end_launch)
        sim_observer.end_launch(&launch);
    sim_count_launch(&launch);
    return launch.number;
}

cudaError_t sim_launch_grid(const Module *module, const Function *kernel, dim3 grid, dim3 block, size_t dynamic_bytes,
                            size_t stack_bytes, void **arguments, Grouping grouping, Grid *family_grid, bool watched)
{
    Launch launch = {.number = ++launches,
                     .module = module,
                     .device = sim_current_device,
                     .kernel = kernel,
                     .grid = grid,
                     .block = block,
                     .blocks = (uint64_t)grid.x * grid.y * grid.z,
                     .dynamic_bytes = dynamic_bytes,
                     .local_bytes = local_bytes_of(kernel, stack_bytes),
                     .order = kernel->program->order,
                     .fault_block = UINT64_MAX,
                     .family_grid = family_grid,
                     .watched = watched};
    place_clusters(&launch, grouping.cluster);
    place_shared(&launch);
    if (!place_arguments(&launch, arguments, grouping.cooperative))
        return cudaErrorMemoryAllocation;
    launch.together = wants_together(&launch);
    launch.shuffled = order_of_blocks(&launch);
    const double begin = seconds();
    run(&launch);
    const double end = seconds();
    free_places(&launch);
    fflush(stdout);
    end_launch(&launch);
    if (launch.error == cudaSuccess) {
        last_ran = (Ran){launch.number, launch.counters, launch.knows_changes};
        sim_add_to_speed(&launch, end - begin);
        sim_count_launch(&launch);
    }
    if (launch.error == cudaSuccess && launch.held)
        sim_say_together(&launch);
    return launch.error;
}
