// graph_nodes.c: adds nodes to graphs (cudaGraphAdd...Node).
#include "runtime/api/graphs.h"

cudaError_t sim_add_node_from_api(cudaGraphNode_t *handle, cudaGraph_t graph, const cudaGraphNode_t *dependencies, size_t count,
                       const NodeParams *params)
{
    Node *node;
    BEGIN_CALL();
    REQUIRE_GRAPH(graph);
    REQUIRE(handle, cudaErrorInvalidValue);
    const cudaError_t error = sim_add_node(sim_graph_of(graph), dependencies, count, params, &node);
    REQUIRE(!error, error);
    *handle = node->handle;
    return cudaSuccess;
}

NodeParams sim_make_kernel_params(const struct cudaKernelNodeParams *p)
{
    return (NodeParams){cudaGraphNodeTypeKernel,
                  .kernel = {p->func, p->gridDim, p->blockDim, p->sharedMemBytes, false, p->kernelParams, p->extra}};
}

API cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                       size_t count, const struct cudaKernelNodeParams *p)
{
    REQUIRE(p, cudaErrorInvalidValue);
    const NodeParams params = sim_make_kernel_params(p);
    return sim_add_node_from_api(node, graph, dependencies, count, &params);
}

API cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                       size_t count, const struct cudaMemcpy3DParms *p)
{
    REQUIRE(p, cudaErrorInvalidValue);
    return sim_add_node_from_api(node, graph, dependencies, count, &(NodeParams){cudaGraphNodeTypeMemcpy, .copy = *p});
}

API cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                         size_t count, void *to, const void *from, size_t bytes,
                                         enum cudaMemcpyKind kind)
{
    return sim_add_node_from_api(node, graph, dependencies, count,
               &(NodeParams){cudaGraphNodeTypeMemcpy, .copy = sim_make_2d_copy(to, bytes, from, bytes, bytes, 1, kind)});
}

API cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                               size_t count, const void *symbol, const void *from, size_t bytes,
                                               size_t offset, enum cudaMemcpyKind kind)
{
    NodeParams params;
    const cudaError_t error = sim_make_symbol_copy(&params, symbol, true, from, bytes, offset, kind);
    return error ? error : sim_add_node_from_api(node, graph, dependencies, count, &params);
}

API cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t *node, cudaGraph_t graph,
                                                 const cudaGraphNode_t *dependencies, size_t count, void *to,
                                                 const void *symbol, size_t bytes, size_t offset,
                                                 enum cudaMemcpyKind kind)
{
    NodeParams params;
    const cudaError_t error = sim_make_symbol_copy(&params, symbol, false, to, bytes, offset, kind);
    return error ? error : sim_add_node_from_api(node, graph, dependencies, count, &params);
}

API cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                       size_t count, const struct cudaMemsetParams *p)
{
    REQUIRE(p, cudaErrorInvalidValue);
    return sim_add_node_from_api(node, graph, dependencies, count, &(NodeParams){cudaGraphNodeTypeMemset, .memset = *p});
}

API cudaError_t cudaGraphAddHostNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                     size_t count, const struct cudaHostNodeParams *p)
{
    REQUIRE(p, cudaErrorInvalidValue);
    return sim_add_node_from_api(node, graph, dependencies, count, &(NodeParams){cudaGraphNodeTypeHost, .host = *p});
}

API cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                      size_t count)
{
    return sim_add_node_from_api(node, graph, dependencies, count, &(NodeParams){.type = cudaGraphNodeTypeEmpty});
}

API cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                           size_t count, cudaGraph_t child)
{
    LOCK_MEMORY();
    REQUIRE_GRAPH(child);
    REQUIRE(child != graph && !sim_has_memory_nodes(sim_graph_of(child)), cudaErrorInvalidValue);
    return sim_add_node_from_api(node, graph, dependencies, count, &(NodeParams){cudaGraphNodeTypeGraph, .child = sim_graph_of(child)});
}

API cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                            size_t count, cudaEvent_t event)
{
    return sim_add_node_from_api(node, graph, dependencies, count, &(NodeParams){cudaGraphNodeTypeEventRecord, .event = event});
}

API cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                          size_t count, cudaEvent_t event)
{
    return sim_add_node_from_api(node, graph, dependencies, count, &(NodeParams){cudaGraphNodeTypeWaitEvent, .event = event});
}

API cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                         size_t count, struct cudaMemAllocNodeParams *p)
{
    GraphMemory *memory;
    BEGIN_CALL();
    REQUIRE(p && p->bytesize > 0 && p->poolProps.allocType == cudaMemAllocationTypePinned, cudaErrorInvalidValue);
    cudaError_t error = sim_new_graph_memory(p->bytesize, &memory);
    REQUIRE(!error, error);
    error = sim_add_node_from_api(node, graph, dependencies, count, &(NodeParams){cudaGraphNodeTypeMemAlloc, .memory = memory});
    p->dptr = error ? NULL : memory->address;
    sim_release_graph_memory(memory); // the node holds a reference
    return error;
}

API cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                        size_t count, void *pointer)
{
    LOCK_MEMORY();
    REQUIRE(sim_graph_memory_at(pointer), cudaErrorInvalidValue);
    return sim_add_node_from_api(
        node, graph, dependencies, count,
        &(NodeParams){cudaGraphNodeTypeMemFree, .memory = sim_graph_memory_at(pointer)});
}
