// observe.c: connects the events that the machine and the runtime report with the parts of the checker.
#include "checker/allocation_check.h"
#include "checker/block_check.h"
#include "checker/dependent_launches.h"
#include "checker/undefined_copies.h"
#include "checker/dynamic_parallelism.h"
#include "checker/host_checks.h"
#include "checker/memory_uses.h"
#include "checker/order.h"
#include "checker/value_table.h"
#include "machine/grid.h"
#include "machine/observer.h"
#include "base/platform.h"

#include <stdlib.h>

static LaunchClocks *begin_launch(const Launch *launch)
{
    LaunchClocks *clocks = sim_start_launch_clocks(launch);
    if (clocks && launch->nested_grid && launch->nested_grid->check)
        sim_begin_grid_clocks(launch, clocks);
    return clocks;
}

static void free_clocks(Launch *launch)
{
    Grid *g = launch->nested_grid;
    if (g && g->check && (g->first_child || g->first_tail)) // its child launches' snapshots refer to the clocks
        g->check->clocks = launch->vector_clocks;
    else
        sim_free_launch_clocks(launch->vector_clocks);
}

static void report_launch(Launch *launch)
{
    if (launch->error == cudaSuccess)
        sim_report_padding(launch);
    free_clocks(launch);
    if (launch->error == cudaErrorNotSupported)
        sim_report_unsupported();
    else if (launch->error != cudaSuccess)
        sim_add_fault(launch);
    sim_print_findings();
}

static void end_launch(Launch *launch)
{
    if (launch->vector_clocks)
        report_launch(launch);
    if (launch->error == cudaSuccess)
        sim_note_launch(launch);
}

static bool make_block(Block *b)
{
    const Launch *launch = b->launch;
    const size_t of_thread = launch->local_bytes ? launch->local_bytes : 1;
    BlockCheck *check = b->check = calloc(1, sizeof *check);
    if (!check)
        sim_die("out of memory: checker's state of a block");
    sim_init_block_clocks(b);
    check->local_written = malloc(((size_t)b->warp_count * LANES + 1) * of_thread);
    check->lines = sim_new_lines(launch->shared_bytes + 1);
    return check->local_written != NULL;
}

static void free_block(Block *b)
{
    BlockCheck *check = b->check;
    sim_end_dependencies(b);
    free(check->unreleased_writes);
    sim_free_block_clocks(b);
    free(check->cluster_accesses);
    free(check->deferred_reads);
    sim_free_lines(check->lines, b->launch->shared_bytes + 1);
    free(check->local_written);
    free(check);
}

static void begin_block(Block *b)
{
    b->check->origins = NULL;
    sim_start_block_clocks(b);
    sim_start_proxy_fences(b);
    sim_start_cluster_accesses(b);
    sim_begin_dependencies(b);
}

static void complete_barrier(Block *b, const Barrier *barrier)
{
    sim_check_barrier_divergence(b, barrier);
    sim_order_block(b);
    sim_share_dependencies(b);
}

static void acquire(Warp *w, uint32_t mask, uint64_t key)
{
    sim_acquire_at_barrier(w, mask, key);
    sim_acquire_wait(w);
}

static void begin_allocation(Allocation *a)
{
    if (!sim_checker_enabled())
        return;
    a->check = calloc(1, sizeof *a->check);
    if (!a->check)
        sim_die("out of memory: checker's state of an allocation");
    sim_begin_uses(a);
}

static void end_allocation(Allocation *a)
{
    AllocationCheck *check = a->check;
    if (!check)
        return;
    if (check->uses)
        sim_end_uses(a);
    sim_free_lines(check->lines, check->has_overflow_lines ? a->bytes : 0);
    free(check->fully_written);
    sim_free_undefined_copies(a);
    free(check);
    a->check = NULL;
}

static bool host_access(uint64_t address, bool writes, const void *instruction, bool last)
{
    if (sim_in_shared_range((const void *)(uintptr_t)address) && sim_handle_shared_fault(address, writes, instruction))
        return true;
    sim_report_host_access(address, writes, instruction);
    if (sim_checker_enabled() && last)
        sim_end_with_findings();
    return false;
}

static int describe_address(const Launch *launch, const Instr *i, uint64_t address, char *text, size_t space)
{
    AddressText d;
    const FindingKind kind = sim_describe_access(launch, i, address, &d);
    snprintf(text, space, "%s%s%s", d.text, d.hint[0] ? "\n" : "", d.hint);
    return (int)kind;
}

static void fence(Warp *w, const Instr *i, uint32_t mask, FenceKind kind)
{
    if (kind == PROXY_FENCE)
        sim_note_proxy_fence(w);
    else if (kind == MBARRIER_INIT_FENCE)
        sim_note_init_fence(w, i, mask);
    else
        sim_order_by_fence(w, i, mask);
    if (kind == MEMORY_FENCE)
        sim_acquire_wait(w);
    if (kind == MEMORY_FENCE && i->scope >= DEVICE_SCOPE)
        sim_release_writes(w->block);
}

static void begin_instruction(Warp *w, const Instr *i, uint32_t mask)
{
    sim_check_undefined_uses(w, i, mask);
    if (i->control == PLAIN && mask != 0)
        sim_propagate_values(w, i, mask);
}

static void begin_warp_operation(Warp *w, const Instr *i, uint32_t mask, Handler *gathered)
{
    if (gathered)
        sim_propagate_gathered(w, i, mask, gathered);
    else
        sim_propagate_values(w, i, mask);
}

static void observe_machine(void)
{
    sim_observer = (Observer){
        .begin_launch = begin_launch,
        .end_launch = end_launch,
        .begin_allocation = begin_allocation,
        .end_allocation = end_allocation,
        .host_access = host_access,
        .describe_address = describe_address,
        .describe_shared_address = sim_describe_shared_address,
        .make_block = make_block,
        .free_block = free_block,
        .begin_block = begin_block,
        .extend_local = sim_extend_local_written,
        .complete_barrier = complete_barrier,
        .arrive = sim_sync_release,
        .acquire = acquire,
        .arrive_after_copy = sim_order_copy,
        .warp_barrier = sim_order_lanes,
        .fence = fence,
        .control_dependents = sim_control_dependents,
        .exit_lanes = sim_note_exits,
        .access = sim_check_access,
        .access_local = sim_check_local,
        .use_foreign_address = sim_report_foreign_address,
        .begin_bulk_copy = sim_check_bulk_copy,
        .atomic_on_uninitialised = sim_report_uninitialised,
        .read_inactive_lanes = sim_note_inactive_sources,
        .prepare_fast_path = sim_prepare_fast_path,
        .fast_store = sim_record_store,
        .access_host_shared = sim_note_shared_use,
        .load = sim_note_loaded,
        .begin_instruction = begin_instruction,
        .begin_warp_operation = begin_warp_operation,
        .end_store = sim_propagate_store,
        .copy_argument = sim_propagate_call,
        .undefined_operand_of_barrier = sim_note_barrier_operand,
        .end_barrier_reduction = sim_set_barrier_result,
        .clear_warp = sim_clear_values,
        .end_program = sim_report_at_exit,
    };
}

// The first constructor, so that its handler runs last at exit. Programs link this file for the functions below.
__attribute__((constructor(101))) static void start_checker(void)
{
    observe_machine();
    if (sim_checker_enabled())
        sim_on_exit(sim_report_at_exit);
}

// ---- The host waits

void sim_synchronize_host(uint32_t timeline)
{
    sim_host_awaits_timeline(timeline);
    sim_drop_ended_uses();
}

void sim_synchronize_host_with_device(int device)
{
    sim_host_awaits_device(device);
    sim_drop_ended_uses();
}

void sim_synchronize_host_with_event(const VectorClock *event)
{
    sim_host_awaits_event(event);
    sim_drop_ended_uses();
}
