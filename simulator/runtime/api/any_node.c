// any_node.c: cudaGraphAddNode and cudaGraphNodeSetParams, which accept all node types; conditional nodes.
#include "runtime/api/graphs.h"

#if CUDART_VERSION >= 13000

// ---- Conditional nodes

API cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle *handle, cudaGraph_t graph,
                                                 unsigned value, unsigned flags)
{
    BEGIN_CALL();
    REQUIRE_GRAPH(graph);
    REQUIRE(handle && (flags & ~(unsigned)cudaGraphCondAssignDefault) == 0, cudaErrorInvalidValue);
    *handle = sim_new_condition(&(Condition){.value = value, .initial_value = value, .is_reset = flags != 0,
                                             .graph = sim_graph_of(graph)});
    return cudaSuccess;
}

// True if the node may use the condition: only one node may, in the condition's graph or a nested graph.
static bool can_use_condition(const ConditionalParams *conditional, const Graph *graph)
{
    const Condition *condition = sim_condition_of(conditional->condition);
    if (!condition || condition->has_node)
        return false;
    while (graph != condition->graph && graph->owner)
        graph = graph->owner->graph;
    return graph == condition->graph && conditional->count > 0 && conditional->kind <= cudaGraphCondTypeSwitch &&
           (conditional->kind != cudaGraphCondTypeWhile || conditional->count == 1) &&
           (conditional->kind != cudaGraphCondTypeIf || conditional->count <= 2);
}

static cudaError_t add_conditional(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies, size_t count,
                              struct cudaConditionalNodeParams *p, const NodeParams *params)
{
    REQUIRE_GRAPH(graph);
    REQUIRE(can_use_condition(&params->conditional, sim_graph_of(graph)), cudaErrorInvalidValue);
    const cudaError_t error = sim_add_node_from_api(node, graph, dependencies, count, params);
    if (!error) {
        sim_condition_of(p->handle)->has_node = true;
        p->phGraph_out = sim_node_of(*node)->params.conditional.handles;
    }
    return error;
}

// ---- Nodes of all types

cudaError_t sim_convert_node_params(const struct cudaGraphNodeParams *p, NodeParams *params)
{
    const struct cudaKernelNodeParamsV2 *k = &p->kernel;
    *params = (NodeParams){.type = p->type};
    switch (p->type) {
    case cudaGraphNodeTypeKernel:
        params->kernel =
            (KernelParams){k->func, k->gridDim, k->blockDim, k->sharedMemBytes, false, k->kernelParams, k->extra};
        return cudaSuccess;
    case cudaGraphNodeTypeMemcpy:
        params->copy = p->memcpy.copyParams;
        return cudaSuccess;
    case cudaGraphNodeTypeMemset:
        params->memset = (struct cudaMemsetParams){p->memset.dst, p->memset.pitch, p->memset.value, p->memset.elementSize,
                                               p->memset.width, p->memset.height};
        return cudaSuccess;
    case cudaGraphNodeTypeHost:
        params->host = (struct cudaHostNodeParams){p->host.fn, p->host.userData};
        return cudaSuccess;
    case cudaGraphNodeTypeGraph:
        REQUIRE_GRAPH(p->graph.graph);
        REQUIRE(!sim_has_memory_nodes(sim_graph_of(p->graph.graph)), cudaErrorInvalidValue);
        params->child = sim_graph_of(p->graph.graph);
        return cudaSuccess;
    case cudaGraphNodeTypeEmpty:
        return cudaSuccess;
    case cudaGraphNodeTypeWaitEvent:
        params->event = p->eventWait.event;
        return cudaSuccess;
    case cudaGraphNodeTypeEventRecord:
        params->event = p->eventRecord.event;
        return cudaSuccess;
    case cudaGraphNodeTypeConditional:
        params->conditional = (ConditionalParams){.condition = p->conditional.handle, .kind = p->conditional.type,
                                .count = p->conditional.size};
        return cudaSuccess;
    default:
        REQUIRE((unsigned)p->type < cudaGraphNodeTypeCount, cudaErrorInvalidValue);
        fprintf(stderr, "simulator: nodes of a graph of type %d are not supported\n", (int)p->type);
        return sim_record_error(cudaErrorNotSupported);
    }
}

API cudaError_t cudaGraphAddNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                 const cudaGraphEdgeData *data, size_t count, struct cudaGraphNodeParams *p)
{
    NodeParams params;
    LOCK_MEMORY();
    REQUIRE(p, cudaErrorInvalidValue);
    cudaError_t error = sim_check_edge_data(data, count);
    if (error)
        return error;
    if (p->type == cudaGraphNodeTypeMemAlloc) {
        struct cudaMemAllocNodeParams alloc = {.poolProps = p->alloc.poolProps, .bytesize = p->alloc.bytesize};
        error = cudaGraphAddMemAllocNode(node, graph, dependencies, count, &alloc);
        p->alloc.dptr = alloc.dptr;
        return error;
    }
    if (p->type == cudaGraphNodeTypeMemFree)
        return cudaGraphAddMemFreeNode(node, graph, dependencies, count, p->free.dptr);
    error = sim_convert_node_params(p, &params);
    if (!error && p->type == cudaGraphNodeTypeConditional)
        return add_conditional(node, graph, dependencies, count, &p->conditional, &params);
    return error ? error : sim_add_node_from_api(node, graph, dependencies, count, &params);
}

API cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, struct cudaGraphNodeParams *p)
{
    NodeParams params;
    LOCK_MEMORY();
    REQUIRE(p, cudaErrorInvalidValue);
    REQUIRE(p->type != cudaGraphNodeTypeConditional, cudaErrorNotSupported);
    const cudaError_t error = sim_convert_node_params(p, &params);
    return error ? error : sim_set_params_from_api(node, &params);
}

#endif
