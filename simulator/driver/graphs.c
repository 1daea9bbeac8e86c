// graphs.c: driver API: graphs, their nodes and edges.
//
// Graphs, nodes and executable graphs are the same handles in both APIs, and the types of nodes, edges and updates have the same numbers.
#include "driver/driver.h"

#include <string.h>

#define FORWARD(name, parameters, call)  \
    API CUresult name parameters         \
    {                                    \
        REQUIRE_CONTEXT();               \
        return CALL_RUNTIME(call);       \
    }

// ---- Graphs

FORWARD(cuGraphCreate, (CUgraph *graph, unsigned flags), cudaGraphCreate(graph, flags))
FORWARD(cuGraphDestroy, (CUgraph graph), cudaGraphDestroy(graph))
FORWARD(cuGraphClone, (CUgraph *clone, CUgraph original), cudaGraphClone(clone, original))
FORWARD(cuGraphGetNodes, (CUgraph graph, CUgraphNode *nodes, size_t *count), cudaGraphGetNodes(graph, nodes, count))
FORWARD(cuGraphGetRootNodes, (CUgraph graph, CUgraphNode *nodes, size_t *count), cudaGraphGetRootNodes(graph, nodes, count))
FORWARD(cuGraphDebugDotPrint, (CUgraph graph, const char *path, unsigned flags), cudaGraphDebugDotPrint(graph, path, flags))
FORWARD(cuGraphNodeFindInClone, (CUgraphNode *node, CUgraphNode original, CUgraph clone), cudaGraphNodeFindInClone(node, original, clone))
FORWARD(cuGraphNodeGetType, (CUgraphNode node, CUgraphNodeType *type), cudaGraphNodeGetType(node, (enum cudaGraphNodeType *)type))
FORWARD(cuGraphDestroyNode, (CUgraphNode node), cudaGraphDestroyNode(node))

#if CUDA_VERSION >= 13000
FORWARD(cuGraphGetEdges, (CUgraph graph, CUgraphNode *from, CUgraphNode *to, CUgraphEdgeData *data, size_t *count),
        cudaGraphGetEdges(graph, from, to, (cudaGraphEdgeData *)data, count))
FORWARD(cuGraphNodeGetDependencies, (CUgraphNode node, CUgraphNode *dependencies, CUgraphEdgeData *data, size_t *count),
        cudaGraphNodeGetDependencies(node, dependencies, (cudaGraphEdgeData *)data, count))
FORWARD(cuGraphNodeGetDependentNodes, (CUgraphNode node, CUgraphNode *dependents, CUgraphEdgeData *data, size_t *count),
        cudaGraphNodeGetDependentNodes(node, dependents, (cudaGraphEdgeData *)data, count))
FORWARD(cuGraphAddDependencies, (CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, const CUgraphEdgeData *data, size_t count),
        cudaGraphAddDependencies(graph, from, to, (const cudaGraphEdgeData *)data, count))
FORWARD(cuGraphRemoveDependencies, (CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, const CUgraphEdgeData *data, size_t count),
        cudaGraphRemoveDependencies(graph, from, to, (const cudaGraphEdgeData *)data, count))
#endif

// ---- Executable graphs

FORWARD(cuGraphInstantiateWithFlags, (CUgraphExec *exec, CUgraph graph, unsigned long long flags), cudaGraphInstantiateWithFlags(exec, graph, flags))
_Static_assert(sizeof(CUDA_GRAPH_INSTANTIATE_PARAMS) == sizeof(cudaGraphInstantiateParams), "the same struct");
FORWARD(cuGraphInstantiateWithParams, (CUgraphExec *exec, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *p),
        cudaGraphInstantiateWithParams(exec, graph, (cudaGraphInstantiateParams *)p))
FORWARD(cuGraphExecDestroy, (CUgraphExec exec), cudaGraphExecDestroy(exec))
FORWARD(cuGraphExecGetFlags, (CUgraphExec exec, cuuint64_t *flags), cudaGraphExecGetFlags(exec, (unsigned long long *)flags))
FORWARD(cuGraphExecUpdate, (CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *info),
        cudaGraphExecUpdate(exec, graph, (cudaGraphExecUpdateResultInfo *)info))
FORWARD(cuGraphUpload, (CUgraphExec exec, CUstream stream), cudaGraphUpload(exec, stream))
FORWARD(cuGraphLaunch, (CUgraphExec exec, CUstream stream), cudaGraphLaunch(exec, stream))
FORWARD(cuGraphNodeSetEnabled, (CUgraphExec exec, CUgraphNode node, unsigned enabled), cudaGraphNodeSetEnabled(exec, node, enabled))
FORWARD(cuGraphNodeGetEnabled, (CUgraphExec exec, CUgraphNode node, unsigned *enabled), cudaGraphNodeGetEnabled(exec, node, enabled))
FORWARD(cuGraphExecChildGraphNodeSetParams, (CUgraphExec exec, CUgraphNode node, CUgraph child), cudaGraphExecChildGraphNodeSetParams(exec, node, child))
FORWARD(cuGraphExecEventRecordNodeSetEvent, (CUgraphExec exec, CUgraphNode node, CUevent event), cudaGraphExecEventRecordNodeSetEvent(exec, node, event))
FORWARD(cuGraphExecEventWaitNodeSetEvent, (CUgraphExec exec, CUgraphNode node, CUevent event), cudaGraphExecEventWaitNodeSetEvent(exec, node, event))

// ---- Nodes with the same parameters in both APIs

_Static_assert(sizeof(CUDA_HOST_NODE_PARAMS) == sizeof(struct cudaHostNodeParams), "the same struct");
_Static_assert(sizeof(CUDA_MEMSET_NODE_PARAMS) == sizeof(struct cudaMemsetParams), "the same struct");
_Static_assert(sizeof(CUDA_MEM_ALLOC_NODE_PARAMS) == sizeof(struct cudaMemAllocNodeParams), "the same struct");

#define NEW_NODE CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t count
#define NEW node, graph, dependencies, count

FORWARD(cuGraphAddEmptyNode, (NEW_NODE), cudaGraphAddEmptyNode(NEW))
FORWARD(cuGraphAddChildGraphNode, (NEW_NODE, CUgraph child), cudaGraphAddChildGraphNode(NEW, child))
FORWARD(cuGraphChildGraphNodeGetGraph, (CUgraphNode node, CUgraph *child), cudaGraphChildGraphNodeGetGraph(node, child))
FORWARD(cuGraphAddEventRecordNode, (NEW_NODE, CUevent event), cudaGraphAddEventRecordNode(NEW, event))
FORWARD(cuGraphEventRecordNodeGetEvent, (CUgraphNode node, CUevent *event), cudaGraphEventRecordNodeGetEvent(node, event))
FORWARD(cuGraphEventRecordNodeSetEvent, (CUgraphNode node, CUevent event), cudaGraphEventRecordNodeSetEvent(node, event))
FORWARD(cuGraphAddEventWaitNode, (NEW_NODE, CUevent event), cudaGraphAddEventWaitNode(NEW, event))
FORWARD(cuGraphEventWaitNodeGetEvent, (CUgraphNode node, CUevent *event), cudaGraphEventWaitNodeGetEvent(node, event))
FORWARD(cuGraphEventWaitNodeSetEvent, (CUgraphNode node, CUevent event), cudaGraphEventWaitNodeSetEvent(node, event))
FORWARD(cuGraphAddHostNode, (NEW_NODE, const CUDA_HOST_NODE_PARAMS *p), cudaGraphAddHostNode(NEW, (const struct cudaHostNodeParams *)p))
FORWARD(cuGraphHostNodeGetParams, (CUgraphNode node, CUDA_HOST_NODE_PARAMS *p), cudaGraphHostNodeGetParams(node, (struct cudaHostNodeParams *)p))
FORWARD(cuGraphHostNodeSetParams, (CUgraphNode node, const CUDA_HOST_NODE_PARAMS *p), cudaGraphHostNodeSetParams(node, (const struct cudaHostNodeParams *)p))
FORWARD(cuGraphExecHostNodeSetParams, (CUgraphExec exec, CUgraphNode node, const CUDA_HOST_NODE_PARAMS *p),
        cudaGraphExecHostNodeSetParams(exec, node, (const struct cudaHostNodeParams *)p))
FORWARD(cuGraphMemsetNodeGetParams, (CUgraphNode node, CUDA_MEMSET_NODE_PARAMS *p), cudaGraphMemsetNodeGetParams(node, (struct cudaMemsetParams *)p))
FORWARD(cuGraphMemsetNodeSetParams, (CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *p), cudaGraphMemsetNodeSetParams(node, (const struct cudaMemsetParams *)p))
FORWARD(cuGraphAddMemAllocNode, (NEW_NODE, CUDA_MEM_ALLOC_NODE_PARAMS *p), cudaGraphAddMemAllocNode(NEW, (struct cudaMemAllocNodeParams *)p))
FORWARD(cuGraphMemAllocNodeGetParams, (CUgraphNode node, CUDA_MEM_ALLOC_NODE_PARAMS *p), cudaGraphMemAllocNodeGetParams(node, (struct cudaMemAllocNodeParams *)p))
FORWARD(cuGraphAddMemFreeNode, (NEW_NODE, CUdeviceptr address), cudaGraphAddMemFreeNode(NEW, pointer_at(address)))
FORWARD(cuGraphMemFreeNodeGetParams, (CUgraphNode node, CUdeviceptr *address), cudaGraphMemFreeNodeGetParams(node, address))
FORWARD(cuGraphKernelNodeCopyAttributes, (CUgraphNode to, CUgraphNode from), cudaGraphKernelNodeCopyAttributes(to, from))
FORWARD(cuGraphKernelNodeGetAttribute, (CUgraphNode node, CUkernelNodeAttrID id, CUkernelNodeAttrValue *value),
        cudaGraphKernelNodeGetAttribute(node, (cudaLaunchAttributeID)id, (cudaLaunchAttributeValue *)value))
FORWARD(cuGraphKernelNodeSetAttribute, (CUgraphNode node, CUkernelNodeAttrID id, const CUkernelNodeAttrValue *value),
        cudaGraphKernelNodeSetAttribute(node, (cudaLaunchAttributeID)id, (const cudaLaunchAttributeValue *)value))

// There is one context for each device, so a node's context is that of its memory.
FORWARD(cuGraphAddMemsetNode, (NEW_NODE, const CUDA_MEMSET_NODE_PARAMS *p, CUcontext context),
        ((void)context, cudaGraphAddMemsetNode(NEW, (const struct cudaMemsetParams *)p)))
FORWARD(cuGraphExecMemsetNodeSetParams, (CUgraphExec exec, CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *p, CUcontext context),
        ((void)context, cudaGraphExecMemsetNodeSetParams(exec, node, (const struct cudaMemsetParams *)p)))

// ---- Kernel nodes

static CUresult runtime_kernel(const CUDA_KERNEL_NODE_PARAMS *p, struct cudaKernelNodeParams *kernel)
{
    REQUIRE_CONTEXT();
    CU_REQUIRE(p, CUDA_ERROR_INVALID_VALUE);
    CUfunction function = p->func;
    if (!function)
        CU_RETURN_IF_ERROR(cuKernelGetFunction(&function, p->kern));
    *kernel = (struct cudaKernelNodeParams){function, {p->gridDimX, p->gridDimY, p->gridDimZ}, {p->blockDimX, p->blockDimY, p->blockDimZ},
                                            p->sharedMemBytes, p->kernelParams, p->extra};
    return CUDA_SUCCESS;
}

API CUresult cuGraphAddKernelNode(NEW_NODE, const CUDA_KERNEL_NODE_PARAMS *p)
{
    struct cudaKernelNodeParams kernel;
    CU_RETURN_IF_ERROR(runtime_kernel(p, &kernel));
    return CALL_RUNTIME(cudaGraphAddKernelNode(NEW, &kernel));
}

API CUresult cuGraphKernelNodeSetParams(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *p)
{
    struct cudaKernelNodeParams kernel;
    CU_RETURN_IF_ERROR(runtime_kernel(p, &kernel));
    return CALL_RUNTIME(cudaGraphKernelNodeSetParams(node, &kernel));
}

API CUresult cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *p)
{
    struct cudaKernelNodeParams kernel;
    CU_RETURN_IF_ERROR(runtime_kernel(p, &kernel));
    return CALL_RUNTIME(cudaGraphExecKernelNodeSetParams(exec, node, &kernel));
}

API CUresult cuGraphKernelNodeGetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *p)
{
    struct cudaKernelNodeParams kernel;
    REQUIRE_CONTEXT();
    CU_REQUIRE(p, CUDA_ERROR_INVALID_VALUE);
    CU_RETURN_IF_ERROR(CALL_RUNTIME(cudaGraphKernelNodeGetParams(node, &kernel)));
    *p = (CUDA_KERNEL_NODE_PARAMS){kernel.func, kernel.gridDim.x, kernel.gridDim.y, kernel.gridDim.z, kernel.blockDim.x, kernel.blockDim.y,
                                   kernel.blockDim.z, kernel.sharedMemBytes, kernel.kernelParams, kernel.extra, NULL, NULL};
    return CUDA_SUCCESS;
}

// ---- Copy nodes

API CUresult cuGraphAddMemcpyNode(NEW_NODE, const CUDA_MEMCPY3D *p, CUcontext context)
{
    struct cudaMemcpy3DParms copy;
    UNUSED(context);
    CU_RETURN_IF_ERROR(sim_convert_copy(p, &copy));
    return CALL_RUNTIME(cudaGraphAddMemcpyNode(NEW, &copy));
}

API CUresult cuGraphMemcpyNodeSetParams(CUgraphNode node, const CUDA_MEMCPY3D *p)
{
    struct cudaMemcpy3DParms copy;
    CU_RETURN_IF_ERROR(sim_convert_copy(p, &copy));
    return CALL_RUNTIME(cudaGraphMemcpyNodeSetParams(node, &copy));
}

API CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode node, const CUDA_MEMCPY3D *p, CUcontext context)
{
    struct cudaMemcpy3DParms copy;
    UNUSED(context);
    CU_RETURN_IF_ERROR(sim_convert_copy(p, &copy));
    return CALL_RUNTIME(cudaGraphExecMemcpyNodeSetParams(exec, node, &copy));
}

// The type of memory is returned as CU_MEMORYTYPE_UNIFIED, in which both addresses are valid.
API CUresult cuGraphMemcpyNodeGetParams(CUgraphNode node, CUDA_MEMCPY3D *p)
{
    struct cudaMemcpy3DParms copy;
    REQUIRE_CONTEXT();
    CU_REQUIRE(p, CUDA_ERROR_INVALID_VALUE);
    CU_RETURN_IF_ERROR(CALL_RUNTIME(cudaGraphMemcpyNodeGetParams(node, &copy)));
    sim_convert_copy_back(&copy, p);
    return CUDA_SUCCESS;
}

#if CUDA_VERSION >= 13000

// ---- Nodes of all types

_Static_assert(sizeof(CUgraphNodeParams) == sizeof(struct cudaGraphNodeParams), "the same size");
_Static_assert(sizeof(CUDA_KERNEL_NODE_PARAMS) == sizeof(CUDA_KERNEL_NODE_PARAMS_v3), "the same struct");

// The parameters of most types have equal layouts, apart from a context at the end, which is ignored.
static CUresult convert_node(const CUgraphNodeParams *p, struct cudaGraphNodeParams *node)
{
    REQUIRE_CONTEXT();
    CU_REQUIRE(p, CUDA_ERROR_INVALID_VALUE);
    memcpy(node, p, sizeof *node);
    if (p->type == CU_GRAPH_NODE_TYPE_KERNEL) {
        struct cudaKernelNodeParams kernel;
        CU_RETURN_IF_ERROR(runtime_kernel((const CUDA_KERNEL_NODE_PARAMS *)&p->kernel, &kernel));
        node->kernel = (struct cudaKernelNodeParamsV2){kernel.func, kernel.gridDim, kernel.blockDim, kernel.sharedMemBytes, kernel.kernelParams, kernel.extra};
    } else if (p->type == CU_GRAPH_NODE_TYPE_MEMCPY) {
        CU_REQUIRE(p->memcpy.flags == 0, CUDA_ERROR_INVALID_VALUE);
        node->memcpy.flags = 0;
        return sim_convert_copy(&p->memcpy.copyParams, &node->memcpy.copyParams);
    }
    return CUDA_SUCCESS;
}

API CUresult cuGraphAddNode(CUgraphNode *added, CUgraph graph, const CUgraphNode *dependencies, const CUgraphEdgeData *data, size_t count,
                            CUgraphNodeParams *p)
{
    struct cudaGraphNodeParams node;
    CU_RETURN_IF_ERROR(convert_node(p, &node));
    CU_RETURN_IF_ERROR(CALL_RUNTIME(cudaGraphAddNode(added, graph, dependencies, (const cudaGraphEdgeData *)data, count, &node)));
    if (p->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
        p->alloc.dptr = (CUdeviceptr)(uintptr_t)node.alloc.dptr;
    else if (p->type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
        p->conditional.phGraph_out = node.conditional.phGraph_out;
    return CUDA_SUCCESS;
}

API CUresult cuGraphNodeSetParams(CUgraphNode node, CUgraphNodeParams *p)
{
    struct cudaGraphNodeParams params;
    CU_RETURN_IF_ERROR(convert_node(p, &params));
    return CALL_RUNTIME(cudaGraphNodeSetParams(node, &params));
}

API CUresult cuGraphExecNodeSetParams(CUgraphExec exec, CUgraphNode node, CUgraphNodeParams *p)
{
    struct cudaGraphNodeParams params;
    CU_RETURN_IF_ERROR(convert_node(p, &params));
    return CALL_RUNTIME(cudaGraphExecNodeSetParams(exec, node, &params));
}

FORWARD(cuGraphConditionalHandleCreate, (CUgraphConditionalHandle *handle, CUgraph graph, CUcontext context, unsigned value, unsigned flags),
        ((void)context, cudaGraphConditionalHandleCreate((cudaGraphConditionalHandle *)handle, graph, value, flags)))

// ---- Captures into a graph

FORWARD(cuStreamBeginCaptureToGraph, (CUstream stream, CUgraph graph, const CUgraphNode *dependencies, const CUgraphEdgeData *data, size_t count,
                                      CUstreamCaptureMode mode),
        cudaStreamBeginCaptureToGraph(stream, graph, dependencies, (const cudaGraphEdgeData *)data, count, (enum cudaStreamCaptureMode)mode))
FORWARD(cuStreamGetCaptureInfo, (CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *graph, const CUgraphNode **dependencies,
                                 const CUgraphEdgeData **data, size_t *count),
        cudaStreamGetCaptureInfo(stream, (enum cudaStreamCaptureStatus *)status, (unsigned long long *)id, graph, dependencies,
                                 (const cudaGraphEdgeData **)data, count))
FORWARD(cuStreamUpdateCaptureDependencies, (CUstream stream, CUgraphNode *dependencies, const CUgraphEdgeData *data, size_t count, unsigned flags),
        cudaStreamUpdateCaptureDependencies(stream, dependencies, (const cudaGraphEdgeData *)data, count, flags))
FORWARD(cuThreadExchangeStreamCaptureMode, (CUstreamCaptureMode *mode), cudaThreadExchangeStreamCaptureMode((enum cudaStreamCaptureMode *)mode))

#endif
