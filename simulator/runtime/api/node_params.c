// node_params.c: gets and sets node parameters.
#include "runtime/api/graphs.h"

API cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, enum cudaGraphNodeType *type)
{
    LOCK_MEMORY();
    REQUIRE(type && sim_node_of(node), cudaErrorInvalidValue);
    *type = sim_node_of(node)->params.type;
    return cudaSuccess;
}

cudaError_t sim_set_params_from_api(cudaGraphNode_t node, const NodeParams *params)
{
    BEGIN_CALL();
    REQUIRE_NODE(node, params->type);
    return sim_record_error(sim_replace_params(sim_node_of(node), params));
}

API cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, struct cudaKernelNodeParams *p)
{
    LOCK_MEMORY();
    REQUIRE_NODE(node, cudaGraphNodeTypeKernel);
    REQUIRE(p, cudaErrorInvalidValue);
    const KernelParams *k = &sim_node_of(node)->params.kernel;
    *p = (struct cudaKernelNodeParams){(void *)(uintptr_t)k->host_function, k->grid,      k->block,
                                       (unsigned)k->dynamic_shared_bytes, k->arguments, NULL};
    return cudaSuccess;
}

API cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const struct cudaKernelNodeParams *p)
{
    LOCK_MEMORY();
    REQUIRE(p, cudaErrorInvalidValue);
    REQUIRE_NODE(node, cudaGraphNodeTypeKernel);
    NodeParams params = sim_make_kernel_params(p);
    params.kernel.is_cooperative = sim_node_of(node)->params.kernel.is_cooperative;
    return sim_set_params_from_api(node, &params);
}

API cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, struct cudaMemcpy3DParms *p)
{
    LOCK_MEMORY();
    REQUIRE_NODE(node, cudaGraphNodeTypeMemcpy);
    REQUIRE(p, cudaErrorInvalidValue);
    *p = sim_node_of(node)->params.copy;
    return cudaSuccess;
}

API cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const struct cudaMemcpy3DParms *p)
{
    REQUIRE(p, cudaErrorInvalidValue);
    return sim_set_params_from_api(node, &(NodeParams){cudaGraphNodeTypeMemcpy, .copy = *p});
}

API cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void *to, const void *from, size_t bytes,
                                               enum cudaMemcpyKind kind)
{
    return sim_set_params_from_api(node,
                  &(NodeParams){cudaGraphNodeTypeMemcpy, .copy = sim_make_2d_copy(to, bytes, from, bytes, bytes, 1, kind)});
}

API cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void *symbol, const void *from,
                                                     size_t bytes, size_t offset, enum cudaMemcpyKind kind)
{
    NodeParams params;
    const cudaError_t error = sim_make_symbol_copy(&params, symbol, true, from, bytes, offset, kind);
    return error ? error : sim_set_params_from_api(node, &params);
}

API cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void *to, const void *symbol, size_t bytes,
                                                       size_t offset, enum cudaMemcpyKind kind)
{
    NodeParams params;
    const cudaError_t error = sim_make_symbol_copy(&params, symbol, false, to, bytes, offset, kind);
    return error ? error : sim_set_params_from_api(node, &params);
}

API cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, struct cudaMemsetParams *p)
{
    LOCK_MEMORY();
    REQUIRE_NODE(node, cudaGraphNodeTypeMemset);
    REQUIRE(p, cudaErrorInvalidValue);
    *p = sim_node_of(node)->params.memset;
    return cudaSuccess;
}

API cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const struct cudaMemsetParams *p)
{
    REQUIRE(p, cudaErrorInvalidValue);
    return sim_set_params_from_api(node, &(NodeParams){cudaGraphNodeTypeMemset, .memset = *p});
}

API cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, struct cudaHostNodeParams *p)
{
    LOCK_MEMORY();
    REQUIRE_NODE(node, cudaGraphNodeTypeHost);
    REQUIRE(p, cudaErrorInvalidValue);
    *p = sim_node_of(node)->params.host;
    return cudaSuccess;
}

API cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const struct cudaHostNodeParams *p)
{
    REQUIRE(p, cudaErrorInvalidValue);
    return sim_set_params_from_api(node, &(NodeParams){cudaGraphNodeTypeHost, .host = *p});
}

API cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t *child)
{
    LOCK_MEMORY();
    REQUIRE_NODE(node, cudaGraphNodeTypeGraph);
    REQUIRE(child, cudaErrorInvalidValue);
    *child = sim_node_of(node)->params.child->handle;
    return cudaSuccess;
}

API cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event)
{
    LOCK_MEMORY();
    REQUIRE_NODE(node, cudaGraphNodeTypeEventRecord);
    REQUIRE(event, cudaErrorInvalidValue);
    *event = sim_node_of(node)->params.event;
    return cudaSuccess;
}

API cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event)
{
    return sim_set_params_from_api(node, &(NodeParams){cudaGraphNodeTypeEventRecord, .event = event});
}

API cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event)
{
    LOCK_MEMORY();
    REQUIRE_NODE(node, cudaGraphNodeTypeWaitEvent);
    REQUIRE(event, cudaErrorInvalidValue);
    *event = sim_node_of(node)->params.event;
    return cudaSuccess;
}

API cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event)
{
    return sim_set_params_from_api(node, &(NodeParams){cudaGraphNodeTypeWaitEvent, .event = event});
}

API cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node, struct cudaMemAllocNodeParams *p)
{
    LOCK_MEMORY();
    REQUIRE_NODE(node, cudaGraphNodeTypeMemAlloc);
    REQUIRE(p, cudaErrorInvalidValue);
    const GraphMemory *memory = sim_node_of(node)->params.memory;
    memset(p, 0, sizeof *p);
    p->poolProps.allocType = cudaMemAllocationTypePinned;
    p->poolProps.location.type = cudaMemLocationTypeDevice;
    p->bytesize = memory->bytes;
    p->dptr = memory->address;
    return cudaSuccess;
}

API cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void *pointer)
{
    LOCK_MEMORY();
    REQUIRE_NODE(node, cudaGraphNodeTypeMemFree);
    REQUIRE(pointer, cudaErrorInvalidValue);
    memcpy(pointer, &sim_node_of(node)->params.memory->address, sizeof(void *));
    return cudaSuccess;
}

// Only the cooperative attribute has an effect.
API cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID id,
                                                const cudaLaunchAttributeValue *value)
{
    bool is_cooperative = false;
    LOCK_MEMORY();
    REQUIRE_NODE(node, cudaGraphNodeTypeKernel);
    REQUIRE(value, cudaErrorInvalidValue);
    const cudaLaunchAttribute attribute = {.id = id, .val = *value};
    dim3 cluster = {0, 0, 0};
    cudaError_t error = sim_check_attribute(&attribute, &is_cooperative, &cluster);
    if (!error && cluster.x * cluster.y * cluster.z > 1)
        error = cudaErrorNotSupported; // kernel nodes always use the kernel's __cluster_dims__
    if (!error && id == cudaLaunchAttributeCooperative)
        sim_node_of(node)->params.kernel.is_cooperative = is_cooperative;
    return sim_record_error(error);
}

API cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID id,
                                                cudaLaunchAttributeValue *value)
{
    LOCK_MEMORY();
    REQUIRE_NODE(node, cudaGraphNodeTypeKernel);
    REQUIRE(value, cudaErrorInvalidValue);
    REQUIRE(id == cudaLaunchAttributeCooperative, cudaErrorNotSupported);
    value->cooperative = sim_node_of(node)->params.kernel.is_cooperative;
    return cudaSuccess;
}

API cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t to, cudaGraphNode_t from)
{
    LOCK_MEMORY();
    REQUIRE_NODE(to, cudaGraphNodeTypeKernel);
    REQUIRE_NODE(from, cudaGraphNodeTypeKernel);
    sim_node_of(to)->params.kernel.is_cooperative = sim_node_of(from)->params.kernel.is_cooperative;
    return cudaSuccess;
}
