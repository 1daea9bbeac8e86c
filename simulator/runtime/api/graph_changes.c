// graph_changes.c: updates of executable graphs: single nodes, or cudaGraphExecUpdate.
#include "runtime/api/graphs.h"

// ---- Single nodes

static Node *find_copy(const Graph *graph, uint64_t origin)
{
    for (Node *n = graph->nodes; n; n = n->next) {
        size_t count;
        Graph **graphs = sim_nested_graphs(&n->params, &count);
        Node *found = n->origin == origin ? n : NULL;
        for (size_t k = 0; k < count && !found; k++)
            found = find_copy(graphs[k], origin);
        if (found)
            return found;
    }
    return NULL;
}

// The copy, in the executable graph, of a node of the source graph; NULL if there is none, or while the graph is running.
static Node *find_exec_node(cudaGraphExec_t exec, cudaGraphNode_t node)
{
    if (!sim_exec_of(exec) || sim_exec_of(exec)->reference_count > 1 || !sim_node_of(node))
        return NULL;
    return find_copy(sim_exec_of(exec)->graph, sim_node_of(node)->number);
}

static cudaError_t replace_params(cudaGraphExec_t exec, cudaGraphNode_t handle, const NodeParams *params)
{
    BEGIN_CALL();
    Node *node = find_exec_node(exec, handle);
    REQUIRE(node, cudaErrorInvalidValue);
    const cudaError_t error = sim_replace_params(node, params);
    if (!error && params->type == cudaGraphNodeTypeGraph)
        sim_sort_nodes(node->params.child);
    return sim_record_error(error);
}

API cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                 const struct cudaKernelNodeParams *p)
{
    LOCK_MEMORY();
    REQUIRE(p, cudaErrorInvalidValue);
    const Node *copy = find_exec_node(exec, node);
    REQUIRE(copy && copy->params.type == cudaGraphNodeTypeKernel, cudaErrorInvalidValue);
    NodeParams params = sim_make_kernel_params(p);
    params.kernel.is_cooperative = copy->params.kernel.is_cooperative;
    return replace_params(exec, node, &params);
}

API cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                 const struct cudaMemcpy3DParms *p)
{
    REQUIRE(p, cudaErrorInvalidValue);
    return replace_params(exec, node, &(NodeParams){cudaGraphNodeTypeMemcpy, .copy = *p});
}

API cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node, void *to,
                                                   const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    return replace_params(exec, node,
                  &(NodeParams){cudaGraphNodeTypeMemcpy, .copy = sim_make_2d_copy(to, bytes, from, bytes, bytes, 1, kind)});
}

API cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                         const void *symbol, const void *from, size_t bytes,
                                                         size_t offset, enum cudaMemcpyKind kind)
{
    NodeParams params;
    const cudaError_t error = sim_make_symbol_copy(&params, symbol, true, from, bytes, offset, kind);
    return error ? error : replace_params(exec, node, &params);
}

API cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t exec, cudaGraphNode_t node, void *to,
                                                           const void *symbol, size_t bytes, size_t offset,
                                                           enum cudaMemcpyKind kind)
{
    NodeParams params;
    const cudaError_t error = sim_make_symbol_copy(&params, symbol, false, to, bytes, offset, kind);
    return error ? error : replace_params(exec, node, &params);
}

API cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                 const struct cudaMemsetParams *p)
{
    REQUIRE(p, cudaErrorInvalidValue);
    return replace_params(exec, node, &(NodeParams){cudaGraphNodeTypeMemset, .memset = *p});
}

API cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                               const struct cudaHostNodeParams *p)
{
    REQUIRE(p, cudaErrorInvalidValue);
    return replace_params(exec, node, &(NodeParams){cudaGraphNodeTypeHost, .host = *p});
}

API cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, cudaGraph_t child)
{
    LOCK_MEMORY();
    REQUIRE(sim_graph_of(child) && !sim_sort_nodes(sim_graph_of(child)), cudaErrorInvalidValue);
    return replace_params(exec, node, &(NodeParams){cudaGraphNodeTypeGraph, .child = sim_graph_of(child)});
}

API cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node, cudaEvent_t event)
{
    return replace_params(exec, node, &(NodeParams){cudaGraphNodeTypeEventRecord, .event = event});
}

API cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node, cudaEvent_t event)
{
    return replace_params(exec, node, &(NodeParams){cudaGraphNodeTypeWaitEvent, .event = event});
}

#if CUDART_VERSION >= 13000
API cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, struct cudaGraphNodeParams *p)
{
    NodeParams params;
    LOCK_MEMORY();
    REQUIRE(p, cudaErrorInvalidValue);
    const cudaError_t error = sim_convert_node_params(p, &params);
    return error ? error : replace_params(exec, node, &params);
}
#endif

static bool can_be_disabled(const Node *node)
{
    return node && (node->params.type == cudaGraphNodeTypeKernel || node->params.type == cudaGraphNodeTypeMemcpy ||
                    node->params.type == cudaGraphNodeTypeMemset);
}

API cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned enabled)
{
    LOCK_MEMORY();
    REQUIRE(can_be_disabled(find_exec_node(exec, node)), cudaErrorInvalidValue);
    find_exec_node(exec, node)->is_disabled = !enabled;
    return cudaSuccess;
}

API cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned *enabled)
{
    LOCK_MEMORY();
    REQUIRE(enabled && can_be_disabled(find_exec_node(exec, node)), cudaErrorInvalidValue);
    *enabled = !find_exec_node(exec, node)->is_disabled;
    return cudaSuccess;
}

// ---- Whole graph

static bool set_update_failure(cudaGraphExecUpdateResultInfo *info, enum cudaGraphExecUpdateResult result, const Node *node,
                    const Node *from)
{
    *info = (cudaGraphExecUpdateResultInfo){result, node ? node->handle : NULL, from ? from->handle : NULL};
    return true;
}

static bool conditional_differs(const NodeParams *old, const NodeParams *new)
{
    return old->type == cudaGraphNodeTypeConditional &&
           (old->conditional.kind != new->conditional.kind || old->conditional.count != new->conditional.count);
}

// True if the graphs differ in more than parameters of nodes; describes the difference in *info. Nodes are matched in the order in
// which they were added.
static bool is_incompatible(const Graph *old, const Graph *new, cudaGraphExecUpdateResultInfo *info)
{
    if (old->count != new->count)
        return set_update_failure(info, cudaGraphExecUpdateErrorTopologyChanged, NULL, NULL);
    for (Node *a = old->nodes, *b = new->nodes; a; a = a->next, b = b->next)
        a->counterpart = b;
    for (const Node *a = old->nodes; a; a = a->next) {
        const Node *b = a->counterpart;
        if (a->params.type != b->params.type)
            return set_update_failure(info, cudaGraphExecUpdateErrorNodeTypeChanged, b, NULL);
        if (a->dependency_count != b->dependency_count)
            return set_update_failure(info, cudaGraphExecUpdateErrorTopologyChanged, b, NULL);
        for (size_t k = 0; k < a->dependency_count; k++)
            if (a->dependencies[k]->counterpart != b->dependencies[k])
                return set_update_failure(info, cudaGraphExecUpdateErrorTopologyChanged, b, b->dependencies[k]);
        if (a->params.type == cudaGraphNodeTypeKernel && a->params.kernel.is_cooperative != b->params.kernel.is_cooperative)
            return set_update_failure(info, cudaGraphExecUpdateErrorAttributesChanged, b, NULL);
        if (a->params.type == cudaGraphNodeTypeMemAlloc || a->params.type == cudaGraphNodeTypeMemFree)
            return set_update_failure(info, cudaGraphExecUpdateErrorNotSupported, b, NULL);
        if (conditional_differs(&a->params, &b->params))
            return set_update_failure(info, cudaGraphExecUpdateErrorParametersChanged, b, NULL);
        size_t count;
        Graph **graphs = sim_nested_graphs(&a->params, &count), **others = sim_nested_graphs(&b->params, &count);
        for (size_t k = 0; k < count; k++)
            if (is_incompatible(graphs[k], others[k], info))
                return true;
    }
    return false;
}

static cudaError_t update_params(Graph *old, const Graph *new)
{
    cudaError_t error = cudaSuccess;
    for (Node *a = old->nodes, *b = new->nodes; a && !error; a = a->next, b = b->next) {
        size_t count;
        Graph **graphs = sim_nested_graphs(&a->params, &count), **others = sim_nested_graphs(&b->params, &count);
        for (size_t k = 0; k < count && !error; k++)
            error = update_params(graphs[k], others[k]);
        if (a->params.type == cudaGraphNodeTypeConditional)
            a->params.conditional.condition = b->params.conditional.condition;
        else if (count == 0)
            error = sim_replace_params(a, &b->params);
    }
    return error;
}

API cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo *info)
{
    BEGIN_CALL();
    REQUIRE(info, cudaErrorInvalidValue);
    *info = (cudaGraphExecUpdateResultInfo){.result = cudaGraphExecUpdateError};
    REQUIRE_EXEC(exec);
    REQUIRE(sim_graph_of(graph) && sim_exec_of(exec)->reference_count == 1, cudaErrorInvalidValue);
    REQUIRE(!is_incompatible(sim_exec_of(exec)->graph, sim_graph_of(graph), info), cudaErrorGraphExecUpdateFailure);
    const cudaError_t error = update_params(sim_exec_of(exec)->graph, sim_graph_of(graph));
    REQUIRE(!error, cudaErrorGraphExecUpdateFailure);
    info->result = cudaGraphExecUpdateSuccess;
    return cudaSuccess;
}
