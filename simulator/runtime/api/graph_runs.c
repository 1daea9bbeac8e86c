// graph_runs.c: instantiates graphs (cudaGraphExec_t), and launches them.
//
// The nodes of a launch run serially, in a fixed order. For the checker (checker/order.h) each node has a timeline that starts
// after the stream's earlier work, so that independent nodes are unordered.
#include "checker/host_checks.h"
#include "checker/memory_uses.h"
#include "runtime/api/graphs.h"

GraphExec *sim_exec_of(cudaGraphExec_t handle)
{
    return sim_object_of(GRAPH_EXEC_HANDLE, handle);
}

static void release_exec(GraphExec *exec)
{
    if (--exec->reference_count > 0)
        return;
    sim_destroy_graph(exec->graph);
    free(exec);
}

// ---- Instantiation

// True if the graph cannot be instantiated again, because it has a cudaGraphExec_t and allocation or conditional nodes.
static bool is_instantiated(const Graph *graph)
{
    return (sim_has_memory_nodes(graph) || sim_has_conditional_nodes(graph)) && graph->exec_count > 0;
}

// True if a body graph contains only device work, as CUDA requires.
static bool is_valid_body(const Graph *graph)
{
    for (const Node *node = graph->nodes; node; node = node->next) {
        const enum cudaGraphNodeType type = node->params.type;
        size_t count;
        Graph **graphs = sim_nested_graphs(&node->params, &count);
        if (type != cudaGraphNodeTypeKernel && type != cudaGraphNodeTypeEmpty && type != cudaGraphNodeTypeMemset &&
            type != cudaGraphNodeTypeMemcpy && count == 0)
            return false;
        for (size_t k = 0; k < count; k++)
            if (!is_valid_body(graphs[k]))
                return false;
    }
    return true;
}

static bool has_valid_bodies(const Graph *graph)
{
    for (const Node *node = graph->nodes; node; node = node->next)
        for (unsigned k = 0; node->params.type == cudaGraphNodeTypeConditional && k < node->params.conditional.count; k++)
            if (!is_valid_body(node->params.conditional.bodies[k]))
                return false;
    return true;
}

static cudaError_t instantiate(cudaGraphExec_t *handle, cudaGraph_t graph, uint64_t flags, cudaGraphNode_t *error_node)
{
    const uint64_t valid_flags = cudaGraphInstantiateFlagAutoFreeOnLaunch | cudaGraphInstantiateFlagUpload |
                           cudaGraphInstantiateFlagDeviceLaunch | cudaGraphInstantiateFlagUseNodePriority;
    BEGIN_CALL();
    Graph *original = sim_graph_of(graph);
    REQUIRE(handle && original && (flags & ~valid_flags) == 0 && !is_instantiated(original), cudaErrorInvalidValue);
    if (flags & cudaGraphInstantiateFlagDeviceLaunch) {
        fprintf(stderr, "simulator: graphs that kernels launch are not supported\n");
        return sim_record_error(cudaErrorNotSupported);
    }
    REQUIRE(has_valid_bodies(original), cudaErrorNotSupported);
    const Node *in_cycle = sim_sort_nodes(original);
    *error_node = in_cycle ? in_cycle->handle : NULL;
    REQUIRE(!in_cycle, cudaErrorInvalidValue);
    GraphExec *exec = calloc(1, sizeof *exec);
    REQUIRE(exec, cudaErrorMemoryAllocation);
    const cudaError_t error = sim_copy_graph(original, false, &exec->graph);
    if (error) {
        free(exec);
        return sim_record_error(error);
    }
    sim_sort_nodes(exec->graph);
    exec->flags = flags;
    exec->source = graph;
    exec->reference_count = 1;
    original->exec_count++;
    *handle = sim_new_handle(GRAPH_EXEC_HANDLE, exec);
    return *handle ? cudaSuccess : sim_record_error(cudaErrorMemoryAllocation);
}

API cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags)
{
    cudaGraphNode_t error_node;
    return instantiate(exec, graph, flags, &error_node);
}

API cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags)
{
    cudaGraphNode_t error_node;
    return instantiate(exec, graph, flags, &error_node);
}

API cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t *exec, cudaGraph_t graph, cudaGraphInstantiateParams *p)
{
    cudaGraphNode_t error_node = NULL;
    REQUIRE(p, cudaErrorInvalidValue);
    const cudaError_t error = instantiate(exec, graph, p->flags, &error_node);
    p->errNode_out = error_node;
    p->result_out = !error  ? cudaGraphInstantiateSuccess
                    : error_node ? cudaGraphInstantiateInvalidStructure
                            : cudaGraphInstantiateError;
    return error;
}

API cudaError_t cudaGraphExecDestroy(cudaGraphExec_t handle)
{
    LOCK_MEMORY();
    GraphExec *exec = sim_remove_handle(GRAPH_EXEC_HANDLE, handle);
    REQUIRE(exec, cudaErrorInvalidValue);
    if (sim_graph_of(exec->source))
        sim_graph_of(exec->source)->exec_count--;
    release_exec(exec);
    return cudaSuccess;
}

API cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t exec, unsigned long long *flags)
{
    LOCK_MEMORY();
    REQUIRE_EXEC(exec);
    REQUIRE(flags, cudaErrorInvalidValue);
    *flags = sim_exec_of(exec)->flags;
    return cudaSuccess;
}

// ---- Launch

static _Thread_local const void *graph_call_site; // return address of the current cudaGraphLaunch

// Checks the launch again, because limits may have changed since the node was added.
static cudaError_t run_kernel(const KernelParams *k)
{
    KernelLaunch launch = {NULL, NULL, k->grid, k->block, k->dynamic_shared_bytes, k->arguments, k->is_cooperative, {0, 0, 0}, false};
    sim_note_launch_attempt();
    cudaError_t error = sim_find_kernel(k->host_function, &launch.kernel, &launch.function);
    if (!error)
        error = sim_check_launch(&launch);
    if (error)
        return error;
    sim_set_sticky_error(sim_run_kernel(&launch, graph_call_site));
    return cudaSuccess; // as on a GPU, the next call returns the kernel's error
}

static cudaError_t execute_work(const NodeParams *params, uint32_t timeline)
{
    LOCK_MEMORY();
    SCOPED_OPERATION(sim_begin_node(timeline, "cudaGraphLaunch", graph_call_site));
    switch (params->type) {
    case cudaGraphNodeTypeKernel:
        return run_kernel(&params->kernel);
    case cudaGraphNodeTypeMemcpy:
        return sim_check_host_blocks(params) ? sim_copy_3d("cudaMemcpy2D", &params->copy) : cudaErrorInvalidValue;
    case cudaGraphNodeTypeMemset:
        return sim_fill_elements(&params->memset);
    case cudaGraphNodeTypeEventRecord:
        return sim_record_in_graph(params->event);
    case cudaGraphNodeTypeWaitEvent:
        sim_wait_in_graph(params->event);
        return cudaSuccess;
    case cudaGraphNodeTypeHost: // the callback, which run_nodes calls next, may signal any host thread
        sim_synchronize_host(timeline);
        return cudaSuccess;
    case cudaGraphNodeTypeMemAlloc:
        sim_allocate_graph_memory(params->memory);
        sim_note_stream_allocation(sim_allocation_at((uint64_t)(uintptr_t)params->memory->address));
        return cudaSuccess;
    case cudaGraphNodeTypeMemFree:
        sim_note_node_free(sim_allocation_at((uint64_t)(uintptr_t)params->memory->address));
        return sim_free_graph_memory(params->memory->address);
    default: // an empty node
        return cudaSuccess;
    }
}

static cudaError_t execute_node(const Node *node, uint32_t timeline)
{
    const int before = sim_current_device;
    sim_current_device = node->device;
    const cudaError_t error = execute_work(&node->params, timeline);
    sim_current_device = before;
    return error;
}

typedef struct NodeRun { // state of a node in one launch
    uint32_t timeline;
    bool is_timeline_reused; // a dependent node continues this node's timeline
    VectorClock end_clock;   // the clock when the node ended
} NodeRun;

// Continues the timeline of one dependency, or starts a new one after all work before the launch.
static void begin_node(const Node *node, NodeRun *runs, const VectorClock *start, uint32_t outer)
{
    LOCK_MEMORY();
    NodeRun *run = &runs[node->order_index], *first = NULL;
    for (size_t k = 0; k < node->dependency_count && !first; k++)
        if (!runs[node->dependencies[k]->order_index].is_timeline_reused)
            first = &runs[node->dependencies[k]->order_index];
    if (first)
        first->is_timeline_reused = true;
    run->timeline = first ? first->timeline : sim_fork_timeline(outer);
    sim_await_event(run->timeline, start);
    for (size_t k = 0; k < node->dependency_count; k++)
        sim_await_event(run->timeline, &runs[node->dependencies[k]->order_index].end_clock);
}

static void end_node(NodeRun *run)
{
    LOCK_MEMORY();
    sim_record_event(&run->end_clock, run->timeline);
}

static NodeRun *new_node_runs(const Graph *graph, uint32_t timeline, VectorClock *start)
{
    LOCK_MEMORY();
    sim_record_event(start, timeline);
    NodeRun *runs = calloc(graph->count + 1, sizeof *runs);
    if (!runs)
        sim_die("out of memory: graph launch");
    return runs;
}

// Orders later work of the outer timeline after all nodes.
static void join_node_runs(NodeRun *runs, size_t count, uint32_t timeline, VectorClock *start)
{
    LOCK_MEMORY();
    for (NodeRun *run = runs; run < runs + count; run++) {
        sim_await_event(timeline, &run->end_clock);
        if (!run->is_timeline_reused)
            sim_end_timeline(run->timeline);
        sim_free_clock(&run->end_clock);
    }
    sim_free_clock(start);
    free(runs);
}

static cudaError_t run_nodes(const Graph *graph, uint32_t timeline);

static uint32_t condition_value(const ConditionalParams *conditional)
{
    LOCK_MEMORY();
    return sim_condition_of(conditional->condition)->value;
}

static cudaError_t run_conditional(const ConditionalParams *conditional, uint32_t timeline)
{
    cudaError_t error = cudaSuccess;
    uint32_t value = condition_value(conditional);
    if (conditional->kind == cudaGraphCondTypeWhile) {
        for (; value && !error && !sim_sticky_error; value = condition_value(conditional))
            error = run_nodes(conditional->bodies[0], timeline);
        return error;
    }
    const uint32_t body = conditional->kind == cudaGraphCondTypeIf ? !value : value;
    return body < conditional->count ? run_nodes(conditional->bodies[body], timeline) : cudaSuccess;
}

// The caller does not hold the lock, because host nodes call functions of the program.
static cudaError_t run_nodes(const Graph *graph, uint32_t timeline)
{
    cudaError_t error = cudaSuccess;
    VectorClock start = {NULL, 0};
    NodeRun *runs = new_node_runs(graph, timeline, &start);
    size_t count = 0;
    for (; count < graph->count && !error && !sim_sticky_error; count++) {
        const Node *node = graph->order[count];
        begin_node(node, runs, &start, timeline);
        const uint32_t node_timeline = runs[count].timeline;
        if (!node->is_disabled)
            error = node->params.type == cudaGraphNodeTypeGraph ? run_nodes(node->params.child, node_timeline)
                    : node->params.type == cudaGraphNodeTypeConditional          ? run_conditional(&node->params.conditional, node_timeline)
                                                              : execute_node(node, node_timeline);
        if (node->params.type == cudaGraphNodeTypeHost && !node->is_disabled && !error)
            node->params.host.fn(node->params.host.userData);
        end_node(&runs[count]);
    }
    join_node_runs(runs, count, timeline, &start);
    return error;
}

// True if the previous launch allocated memory that has not been freed.
static bool has_unfreed_memory(const Graph *graph)
{
    for (const Node *node = graph->nodes; node; node = node->next)
        if (node->params.type == cudaGraphNodeTypeMemAlloc && node->params.memory->in_use)
            return true;
    return false;
}

static void reset_conditions(const Graph *graph)
{
    for (const Node *node = graph->nodes; node; node = node->next) {
        size_t count;
        Graph **graphs = sim_nested_graphs(&node->params, &count);
        Condition *condition =
            node->params.type == cudaGraphNodeTypeConditional ? sim_condition_of(node->params.conditional.condition) : NULL;
        if (condition && condition->is_reset)
            condition->value = condition->initial_value;
        for (size_t k = 0; k < count; k++)
            reset_conditions(graphs[k]);
    }
}

static cudaError_t begin_launch(cudaGraphExec_t handle, cudaStream_t stream, GraphExec **exec, uint32_t *timeline)
{
    BEGIN_CALL();
    REQUIRE_EXEC(handle);
    REQUIRE_STREAM(stream);
    GraphExec *found = sim_exec_of(handle);
    CAPTURE(stream, &(NodeParams){cudaGraphNodeTypeGraph, .child = found->graph});
    reset_conditions(found->graph);
    REQUIRE((found->flags & cudaGraphInstantiateFlagAutoFreeOnLaunch) || !has_unfreed_memory(found->graph),
            cudaErrorInvalidValue);
    found->reference_count++;
    *exec = found;
    *timeline = sim_current_timeline();
    return cudaSuccess;
}

API cudaError_t cudaGraphLaunch(cudaGraphExec_t handle, cudaStream_t stream)
{
    GraphExec *exec = NULL;
    uint32_t timeline = 0;
    const cudaError_t launch_error = begin_launch(handle, stream, &exec, &timeline);
    if (!exec) // the launch failed, or was captured as a child graph node
        return launch_error;
    graph_call_site = __builtin_return_address(0);
    const cudaError_t error = run_nodes(exec->graph, timeline);
    LOCK_MEMORY();
    release_exec(exec);
    return sim_record_error(error);
}

API cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream)
{
    BEGIN_CALL();
    REQUIRE_EXEC(exec);
    REQUIRE_STREAM(stream);
    return cudaSuccess;
}

// ---- Destruction of all graphs

static void destroy_exec(void *exec)
{
    release_exec(exec);
}

// Destroys a graph, except child graphs, which are destroyed with their node.
static void destroy_graph(void *object)
{
    Graph *graph = object;
    graph->handle = NULL; // already removed from the table
    if (!graph->owner)
        sim_destroy_graph(graph);
}

void sim_destroy_all_graphs(void)
{
    sim_abort_all_captures();
    sim_destroy_all_handles(GRAPH_EXEC_HANDLE, destroy_exec);
    sim_destroy_all_handles(GRAPH_HANDLE, destroy_graph);
}

// ---- For nvcc -default-stream per-thread

PER_THREAD(cudaGraphInstantiateWithParams, _ptsz);
PER_THREAD(cudaGraphLaunch, _ptsz);
PER_THREAD(cudaGraphUpload, _ptsz);
