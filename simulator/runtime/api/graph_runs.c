// graph_runs.c: instantiates graphs (cudaGraphExec_t), and launches them.
//
// The nodes of a launch run serially, in a fixed order. For the checker (checker/order.h) each node has a timeline that starts
// after the stream's earlier work, so independent nodes are unordered.
#include "checker/host_checks.h"
#include "runtime/api/graphs.h"

GraphRun *sim_run_of(cudaGraphExec_t handle)
{
    return sim_object_of(GRAPH_RUN_HANDLE, handle);
}

static void release_run(GraphRun *run)
{
    if (--run->users > 0)
        return;
    sim_destroy_graph(run->graph);
    free(run);
}

// ---- Instantiation

// Graphs with allocation nodes or conditions may have only one cudaGraphExec_t at a time.
static bool is_instantiated(const Graph *graph)
{
    return (sim_allocates(graph) || sim_is_conditional(graph)) && graph->executable > 0;
}

// As in CUDA, body graphs may contain only device work.
static bool can_run_in_body(const Graph *graph)
{
    for (const Node *node = graph->nodes; node; node = node->next) {
        const enum cudaGraphNodeType type = node->work.type;
        size_t count;
        Graph **graphs = sim_graphs_in(&node->work, &count);
        if (type != cudaGraphNodeTypeKernel && type != cudaGraphNodeTypeEmpty && type != cudaGraphNodeTypeMemset &&
            type != cudaGraphNodeTypeMemcpy && count == 0)
            return false;
        for (size_t k = 0; k < count; k++)
            if (!can_run_in_body(graphs[k]))
                return false;
    }
    return true;
}

static bool bodies_can_run(const Graph *graph)
{
    for (const Node *node = graph->nodes; node; node = node->next)
        for (unsigned k = 0; node->work.type == cudaGraphNodeTypeConditional && k < node->work.conditional.count; k++)
            if (!can_run_in_body(node->work.conditional.bodies[k]))
                return false;
    return true;
}

static cudaError_t instantiate(cudaGraphExec_t *handle, cudaGraph_t graph, uint64_t flags, cudaGraphNode_t *wrong)
{
    const uint64_t known = cudaGraphInstantiateFlagAutoFreeOnLaunch | cudaGraphInstantiateFlagUpload |
                           cudaGraphInstantiateFlagDeviceLaunch | cudaGraphInstantiateFlagUseNodePriority;
    BEGIN_CALL();
    Graph *original = sim_graph_of(graph);
    REQUIRE(handle && original && (flags & ~known) == 0 && !is_instantiated(original), cudaErrorInvalidValue);
    if (flags & cudaGraphInstantiateFlagDeviceLaunch) {
        fprintf(stderr, "simulator: graphs that kernels launch are not supported\n");
        return sim_done(cudaErrorNotSupported);
    }
    REQUIRE(bodies_can_run(original), cudaErrorNotSupported);
    const Node *in_cycle = sim_order_nodes(original);
    *wrong = in_cycle ? in_cycle->handle : NULL;
    REQUIRE(!in_cycle, cudaErrorInvalidValue);
    GraphRun *run = calloc(1, sizeof *run);
    REQUIRE(run, cudaErrorMemoryAllocation);
    const cudaError_t error = sim_copy_graph(original, false, &run->graph);
    if (error) {
        free(run);
        return sim_done(error);
    }
    sim_order_nodes(run->graph);
    run->flags = flags;
    run->made_of = graph;
    run->users = 1;
    original->executable++;
    *handle = sim_new_handle(GRAPH_RUN_HANDLE, run);
    return *handle ? cudaSuccess : sim_done(cudaErrorMemoryAllocation);
}

API cudaError_t cudaGraphInstantiate(cudaGraphExec_t *run, cudaGraph_t graph, unsigned long long flags)
{
    cudaGraphNode_t wrong;
    return instantiate(run, graph, flags, &wrong);
}

API cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *run, cudaGraph_t graph, unsigned long long flags)
{
    cudaGraphNode_t wrong;
    return instantiate(run, graph, flags, &wrong);
}

API cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t *run, cudaGraph_t graph, cudaGraphInstantiateParams *p)
{
    cudaGraphNode_t wrong = NULL;
    REQUIRE(p, cudaErrorInvalidValue);
    const cudaError_t error = instantiate(run, graph, p->flags, &wrong);
    p->errNode_out = wrong;
    p->result_out = !error  ? cudaGraphInstantiateSuccess
                    : wrong ? cudaGraphInstantiateInvalidStructure
                            : cudaGraphInstantiateError;
    return error;
}

API cudaError_t cudaGraphExecDestroy(cudaGraphExec_t handle)
{
    LOCK_MEMORY();
    GraphRun *run = sim_remove_handle(GRAPH_RUN_HANDLE, handle);
    REQUIRE(run, cudaErrorInvalidValue);
    if (sim_graph_of(run->made_of))
        sim_graph_of(run->made_of)->executable--;
    release_run(run);
    return cudaSuccess;
}

API cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t run, unsigned long long *flags)
{
    LOCK_MEMORY();
    REQUIRE_RUN(run);
    REQUIRE(flags, cudaErrorInvalidValue);
    *flags = sim_run_of(run)->flags;
    return cudaSuccess;
}

// ---- Launch

// Return address of the current cudaGraphLaunch.
static _Thread_local const void *launched_from;

// Checks the launch again, because limits may have changed since the node was added.
static cudaError_t run_kernel(const KernelWork *k)
{
    KernelLaunch launch = {NULL, NULL, k->grid, k->block, k->dynamic_bytes, k->arguments, k->cooperative, {0, 0, 0}};
    sim_note_launch_attempt();
    const cudaError_t error = sim_check_launch(k->host, k->grid, k->block, k->dynamic_bytes, k->arguments,
                                               k->cooperative, launch.cluster);
    if (error)
        return error;
    sim_find_kernel(k->host, &launch.kernel, &launch.function);
    sim_set_sticky_error(sim_run_kernel(&launch, launched_from));
    return cudaSuccess; // as on a GPU, the next call returns the kernel's error
}

static cudaError_t do_work(const Work *work, uint32_t timeline)
{
    LOCK_MEMORY();
    DURING(sim_begin_node(timeline, "cudaGraphLaunch", launched_from));
    switch (work->type) {
    case cudaGraphNodeTypeKernel:
        return run_kernel(&work->kernel);
    case cudaGraphNodeTypeMemcpy:
        return sim_copy_boxes("cudaMemcpy2D", &work->copy);
    case cudaGraphNodeTypeMemset:
        return sim_fill_elements(&work->fill);
    case cudaGraphNodeTypeEventRecord:
        return sim_record_in_graph(work->event);
    case cudaGraphNodeTypeWaitEvent:
        sim_wait_in_graph(work->event);
        return cudaSuccess;
    case cudaGraphNodeTypeHost: // the callback, called next, may signal any host thread
        sim_host_awaits(timeline);
        return cudaSuccess;
    case cudaGraphNodeTypeMemAlloc:
        sim_use_graph_memory(work->memory);
        return cudaSuccess;
    case cudaGraphNodeTypeMemFree:
        return sim_free_graph_memory(work->memory->address);
    default: // an empty node
        return cudaSuccess;
    }
}

static cudaError_t do_on_device(const Node *node, uint32_t timeline)
{
    const int before = sim_current_device;
    sim_current_device = node->device;
    const cudaError_t error = do_work(&node->work, timeline);
    sim_current_device = before;
    return error;
}

typedef struct NodeRun { // state of a node in one launch
    uint32_t timeline;
    bool clock_reused; // a dependent node continues its timeline
    VectorClock ended;   // at the node's end
} NodeRun;

// A node continues the timeline of one dependency, or starts a new one after all work before the launch.
static void begin_node(const Node *node, NodeRun *runs, const VectorClock *start, uint32_t outer)
{
    LOCK_MEMORY();
    NodeRun *run = &runs[node->order_index], *first = NULL;
    for (size_t k = 0; k < node->dependency_count && !first; k++)
        if (!runs[node->dependencies[k]->order_index].clock_reused)
            first = &runs[node->dependencies[k]->order_index];
    if (first)
        first->clock_reused = true;
    run->timeline = first ? first->timeline : sim_fork_timeline(outer);
    sim_await_event(run->timeline, start);
    for (size_t k = 0; k < node->dependency_count; k++)
        sim_await_event(run->timeline, &runs[node->dependencies[k]->order_index].ended);
}

static void end_node(NodeRun *run)
{
    LOCK_MEMORY();
    sim_mark_event(&run->ended, run->timeline);
}

static NodeRun *new_node_runs(const Graph *graph, uint32_t timeline, VectorClock *start)
{
    LOCK_MEMORY();
    sim_mark_event(start, timeline);
    NodeRun *runs = calloc(graph->count + 1, sizeof *runs);
    if (!runs)
        sim_die("out of memory for a run of a graph");
    return runs;
}

// Orders later work of the outer timeline after all nodes.
static void join_node_runs(NodeRun *runs, size_t count, uint32_t timeline, VectorClock *start)
{
    LOCK_MEMORY();
    for (NodeRun *run = runs; run < runs + count; run++) {
        sim_await_event(timeline, &run->ended);
        if (!run->clock_reused)
            sim_end_timeline(run->timeline);
        sim_free_clocks(&run->ended);
    }
    sim_free_clocks(start);
    free(runs);
}

static cudaError_t run_nodes(const Graph *graph, uint32_t timeline);

static uint32_t value_of(const ConditionalWork *conditional)
{
    LOCK_MEMORY();
    return sim_condition_of(conditional->condition)->value;
}

static cudaError_t run_conditional(const ConditionalWork *conditional, uint32_t timeline)
{
    cudaError_t error = cudaSuccess;
    uint32_t value = value_of(conditional);
    if (conditional->kind == cudaGraphCondTypeWhile) {
        for (; value && !error && !sim_sticky_error; value = value_of(conditional))
            error = run_nodes(conditional->bodies[0], timeline);
        return error;
    }
    const uint32_t body = conditional->kind == cudaGraphCondTypeIf ? !value : value;
    return body < conditional->count ? run_nodes(conditional->bodies[body], timeline) : cudaSuccess;
}

// Called without the lock, because host nodes call functions of the program.
static cudaError_t run_nodes(const Graph *graph, uint32_t timeline)
{
    cudaError_t error = cudaSuccess;
    VectorClock start = {NULL, 0};
    NodeRun *runs = new_node_runs(graph, timeline, &start);
    size_t count = 0;
    for (; count < graph->count && !error && !sim_sticky_error; count++) {
        const Node *node = graph->order[count];
        begin_node(node, runs, &start, timeline);
        const uint32_t own = runs[count].timeline;
        if (!node->disabled)
            error = node->work.type == cudaGraphNodeTypeGraph ? run_nodes(node->work.child, own)
                    : node->work.type == cudaGraphNodeTypeConditional          ? run_conditional(&node->work.conditional, own)
                                                              : do_on_device(node, own);
        if (node->work.type == cudaGraphNodeTypeHost && !node->disabled && !error)
            node->work.host.fn(node->work.host.userData);
        end_node(&runs[count]);
    }
    join_node_runs(runs, count, timeline, &start);
    return error;
}

// Whether memory that the previous launch allocated has not been freed.
static bool has_unfreed_memory(const Graph *graph)
{
    for (const Node *node = graph->nodes; node; node = node->next)
        if (node->work.type == cudaGraphNodeTypeMemAlloc && node->work.memory->in_use)
            return true;
    return false;
}

static void reset_conditions(const Graph *graph)
{
    for (const Node *node = graph->nodes; node; node = node->next) {
        size_t count;
        Graph **graphs = sim_graphs_in(&node->work, &count);
        Condition *condition =
            node->work.type == cudaGraphNodeTypeConditional ? sim_condition_of(node->work.conditional.condition) : NULL;
        if (condition && condition->resets)
            condition->value = condition->initial_value;
        for (size_t k = 0; k < count; k++)
            reset_conditions(graphs[k]);
    }
}

static cudaError_t begin_launch(cudaGraphExec_t handle, cudaStream_t stream, GraphRun **run, uint32_t *timeline)
{
    BEGIN_CALL();
    REQUIRE_RUN(handle);
    REQUIRE_STREAM(stream);
    GraphRun *found = sim_run_of(handle);
    CAPTURE(stream, &(Work){cudaGraphNodeTypeGraph, .child = found->graph});
    reset_conditions(found->graph);
    REQUIRE((found->flags & cudaGraphInstantiateFlagAutoFreeOnLaunch) || !has_unfreed_memory(found->graph),
            cudaErrorInvalidValue);
    found->users++;
    *run = found;
    *timeline = sim_current_timeline();
    return cudaSuccess;
}

API cudaError_t cudaGraphLaunch(cudaGraphExec_t handle, cudaStream_t stream)
{
    GraphRun *run = NULL;
    uint32_t timeline = 0;
    const cudaError_t begun = begin_launch(handle, stream, &run, &timeline);
    if (!run) // an error, or captured as a child graph node
        return begun;
    launched_from = __builtin_return_address(0);
    const cudaError_t error = run_nodes(run->graph, timeline);
    LOCK_MEMORY();
    release_run(run);
    return sim_done(error);
}

API cudaError_t cudaGraphUpload(cudaGraphExec_t run, cudaStream_t stream)
{
    BEGIN_CALL();
    REQUIRE_RUN(run);
    REQUIRE_STREAM(stream);
    return cudaSuccess;
}

// ---- Destruction of all graphs

static void destroy_run(void *run)
{
    release_run(run);
}

// Child graphs are destroyed with their node.
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
    sim_destroy_all_handles(GRAPH_RUN_HANDLE, destroy_run);
    sim_destroy_all_handles(GRAPH_HANDLE, destroy_graph);
}

// ---- For nvcc -default-stream per-thread

PER_THREAD(cudaGraphInstantiateWithParams, _ptsz);
PER_THREAD(cudaGraphLaunch, _ptsz);
PER_THREAD(cudaGraphUpload, _ptsz);
