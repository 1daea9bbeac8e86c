// stream_memory.c: memory that operations allocate and free: in the order of a stream, or as nodes of a graph.
#include "checker/host_checks.h"
#include "checker/order.h"
#include "checker/uses.h"

void sim_note_stream_allocation(Allocation *a)
{
    if (uses_of(a)) {
        uses_of(a)->allocated_by = sim_current_op();
        uses_of(a)->freed_by = 0;
    }
}

void sim_note_node_free(Allocation *a)
{
    sim_check_free(a);
    if (uses_of(a))
        uses_of(a)->freed_by = sim_current_op();
}

void sim_check_free(const Allocation *a)
{
    char title[1000], allocation[100], current[300], earlier[300], hint[HINT_BYTES];
    const uint32_t op = sim_current_op();
    const PendingUse *p = uses_of(a) ? uses_of(a)->pending : NULL;
    while (p && sim_op_ordered(p->op, op))
        p = p->next;
    if (!p)
        return;
    sim_describe_allocation(a, allocation, sizeof allocation);
    sim_describe_op(op, current, sizeof current);
    sim_describe_op(p->op, earlier, sizeof earlier);
    snprintf(title, sizeof title, "%s frees %s, which %s may still %s", current, allocation, earlier, p->writes ? "write" : "read");
    const FindingLocation locations[] = {sim_op_location(p->op), sim_op_location(op)};
    snprintf(hint, sizeof hint, "%s", sim_is_graph_node(op) ? "make the node that frees the memory depend on the node of its last use"
                                        : "before the free, call cudaStreamWaitEvent() with an event that follows the last use");
    sim_add_allocation_note(a, hint);
    (sim_is_staged_copy(p->op) ? sim_add_warning : sim_add_finding)(RACE_OPERATIONS, title, locations, 2, hint);
    sim_print_findings();
}
