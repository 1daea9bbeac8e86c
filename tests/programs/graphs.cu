// CUDA graphs: built node by node and captured from streams, launched, changed, rejected.
#include "check.h"
#include <cstring>
#include <thread>
#include <vector>

#define FAILS(call, wanted)                                                                                    \
    do {                                                                                                       \
        const cudaError_t got = (call);                                                                        \
        if (got != (wanted))                                                                                   \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorName(got)), exit(EXIT_FAILURE); \
    } while (0)

__device__ int variable;

__global__ void add(int *x, int n, int what)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] += what;
}

__global__ void scale(int *x, int n, int by)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] *= by;
}

static const int N = 300;
static int *x, *y, host[N];

static void note(void *data)
{
    ++*(int *)data;
}

static cudaKernelNodeParams kernel_params(void (*kernel)(int *, int, int), void **arguments)
{
    cudaKernelNodeParams p = {};
    p.func = (void *)kernel;
    p.gridDim = dim3(3);
    p.blockDim = dim3(128);
    p.kernelParams = arguments;
    return p;
}

static uint64_t graph_bytes(cudaGraphMemAttributeType attribute)
{
    uint64_t bytes;
    CUDA(cudaDeviceGetGraphMemAttribute(0, attribute, &bytes));
    return bytes;
}

static int first_of(const int *device)
{
    int value;
    CUDA(cudaMemcpy(&value, device, sizeof value, cudaMemcpyDeviceToHost));
    return value;
}

// fill 5, add 3, scale by 4, copy: the order of the nodes is not that of the dependencies.
static void node_by_node()
{
    cudaGraph_t graph, clone;
    cudaGraphNode_t scaled, added, filled, copied, called, event_node, empty;
    cudaEvent_t event;
    int n = N, three = 3, four = 4, calls = 0;
    CUDA(cudaEventCreate(&event));
    CUDA(cudaGraphCreate(&graph, 0));
    {
        void *arguments[] = {&x, &n, &four};
        cudaKernelNodeParams p = kernel_params(scale, arguments);
        CUDA(cudaGraphAddKernelNode(&scaled, graph, NULL, 0, &p));
        p.func = (void *)add;
        arguments[2] = &three;
        CUDA(cudaGraphAddKernelNode(&added, graph, NULL, 0, &p));
        three = four = n = -1; // the nodes have copies
    }
    cudaMemsetParams fill = {};
    fill.dst = x;
    fill.elementSize = 4;
    fill.width = N;
    fill.height = 1;
    fill.value = 5;
    CUDA(cudaGraphAddMemsetNode(&filled, graph, NULL, 0, &fill));
    CUDA(cudaGraphAddMemcpyNode1D(&copied, graph, &scaled, 1, host, x, sizeof host, cudaMemcpyDeviceToHost));
    cudaHostNodeParams call = {note, &calls};
    CUDA(cudaGraphAddHostNode(&called, graph, &copied, 1, &call));
    CUDA(cudaGraphAddEventRecordNode(&event_node, graph, &called, 1, event));
    CUDA(cudaGraphAddEmptyNode(&empty, graph, NULL, 0));
    const cudaGraphNode_t from[] = {filled, added}, to[] = {added, scaled};
    CUDA(cudaGraphAddDependencies(graph, from, to, NULL, 2));

    cudaGraphExec_t run;
    CUDA(cudaGraphInstantiate(&run, graph, 0));
    CUDA(cudaGraphUpload(run, 0));
    for (int k = 1; k <= 3; k++) {
        CUDA(cudaGraphLaunch(run, 0));
        CHECK(host[0] == 32 && host[N - 1] == 32 && calls == k);
    }
    CUDA(cudaEventSynchronize(event));

    // Queries
    size_t count = 0;
    CUDA(cudaGraphGetNodes(graph, NULL, &count));
    CHECK(count == 7);
    cudaGraphNode_t nodes[8], before[8], after[8];
    count = 8;
    CUDA(cudaGraphGetNodes(graph, nodes, &count));
    CHECK(count == 7 && nodes[0] == scaled && nodes[7] == NULL);
    count = 8;
    CUDA(cudaGraphGetRootNodes(graph, nodes, &count));
    CHECK(count == 2 && nodes[0] == filled && nodes[1] == empty);
    count = 8;
    CUDA(cudaGraphGetEdges(graph, before, after, NULL, &count));
    CHECK(count == 5);
    count = 8;
    CUDA(cudaGraphNodeGetDependencies(added, before, NULL, &count));
    CHECK(count == 1 && before[0] == filled);
    count = 8;
    CUDA(cudaGraphNodeGetDependentNodes(added, after, NULL, &count));
    CHECK(count == 1 && after[0] == scaled);
    cudaGraphNodeType type;
    CUDA(cudaGraphNodeGetType(called, &type));
    CHECK(type == cudaGraphNodeTypeHost);
    cudaKernelNodeParams p;
    CUDA(cudaGraphKernelNodeGetParams(added, &p));
    CHECK(p.func == (void *)add && p.gridDim.x == 3 && *(int *)p.kernelParams[2] == 3);
    CUDA(cudaGraphDebugDotPrint(graph, "/dev/null", 0));

    // Updates of the executable graph, node by node; the graph does not change
    int ten = 10, length = N;
    void *arguments[] = {&x, &length, &ten};
    p = kernel_params(add, arguments);
    CUDA(cudaGraphExecKernelNodeSetParams(run, added, &p));
    CUDA(cudaGraphLaunch(run, 0));
    CHECK(host[0] == 60);
    CUDA(cudaGraphNodeSetEnabled(run, scaled, 0));
    CUDA(cudaGraphLaunch(run, 0));
    CHECK(host[0] == 15);
    CUDA(cudaGraphNodeSetEnabled(run, scaled, 1));
    fill.value = 1;
    CUDA(cudaGraphExecMemsetNodeSetParams(run, filled, &fill));
    CUDA(cudaGraphLaunch(run, 0));
    CHECK(host[0] == 44);

    // ... and as a whole, from a clone of the graph in which one node differs
    CUDA(cudaGraphClone(&clone, graph));
    cudaGraphNode_t in_clone;
    CUDA(cudaGraphNodeFindInClone(&in_clone, added, clone));
    FAILS(cudaGraphNodeFindInClone(&in_clone, in_clone, graph), cudaErrorInvalidValue);
    CUDA(cudaGraphKernelNodeSetParams(in_clone, &p));
    cudaGraphExecUpdateResultInfo info;
    CUDA(cudaGraphExecUpdate(run, clone, &info));
    CHECK(info.result == cudaGraphExecUpdateSuccess);
    CUDA(cudaGraphLaunch(run, 0));
    CHECK(host[0] == 60);
    CUDA(cudaGraphAddEmptyNode(&empty, clone, NULL, 0));
    FAILS(cudaGraphExecUpdate(run, clone, &info), cudaErrorGraphExecUpdateFailure);
    CHECK(info.result == cudaGraphExecUpdateErrorTopologyChanged);

    // A cycle; a duplicate edge, and a missing one
    FAILS(cudaGraphAddDependencies(graph, from, to, NULL, 1), cudaErrorInvalidValue);
    FAILS(cudaGraphAddDependencies(graph, from, from, NULL, 1), cudaErrorInvalidValue);
    CUDA(cudaGraphAddDependencies(graph, &scaled, &filled, NULL, 1));
    cudaGraphInstantiateParams how = {};
    cudaGraphExec_t other;
    FAILS(cudaGraphInstantiateWithParams(&other, graph, &how), cudaErrorInvalidValue);
    CHECK(how.result_out == cudaGraphInstantiateInvalidStructure && how.errNode_out);
    CUDA(cudaGraphRemoveDependencies(graph, &scaled, &filled, NULL, 1));
    FAILS(cudaGraphRemoveDependencies(graph, &scaled, &filled, NULL, 1), cudaErrorInvalidValue);
    CUDA(cudaGraphDestroyNode(scaled));
    FAILS(cudaGraphNodeGetType(scaled, &type), cudaErrorInvalidValue);
    CUDA(cudaGraphInstantiateWithParams(&other, graph, &how));
    CUDA(cudaGraphExecDestroy(other));

    CUDA(cudaGraphDestroy(clone));
    CUDA(cudaGraphDestroy(graph));
    CUDA(cudaGraphLaunch(run, 0)); // does not need the graph any more
    CUDA(cudaGraphExecDestroy(run));
    FAILS(cudaGraphLaunch(run, 0), cudaErrorInvalidValue);
    FAILS(cudaGraphDestroy(graph), cudaErrorInvalidValue);
    CUDA(cudaEventDestroy(event));
}

static void children_symbols_memory()
{
    cudaGraph_t inner, outer;
    cudaGraphNode_t node, child, freed;
    int n = N, one = 1, seven = 7, back = 0;
    void *arguments[] = {&y, &n, &one};
    cudaKernelNodeParams p = kernel_params(add, arguments);
    CUDA(cudaMemset(y, 0, sizeof host));
    CUDA(cudaGraphCreate(&inner, 0));
    CUDA(cudaGraphAddKernelNode(&node, inner, NULL, 0, &p));
    CUDA(cudaGraphCreate(&outer, 0));
    CUDA(cudaGraphAddChildGraphNode(&child, outer, NULL, 0, inner));
    CUDA(cudaGraphAddChildGraphNode(&child, outer, &child, 1, inner));
    CUDA(cudaGraphAddMemcpyNodeToSymbol(&node, outer, &child, 1, variable, &seven, sizeof seven, 0, cudaMemcpyHostToDevice));
    CUDA(cudaGraphAddMemcpyNodeFromSymbol(&node, outer, &node, 1, &back, variable, sizeof back, 0, cudaMemcpyDeviceToHost));
    CUDA(cudaGraphDestroy(inner)); // the nodes have copies
    CUDA(cudaGraphChildGraphNodeGetGraph(child, &inner));
    FAILS(cudaGraphDestroy(inner), cudaErrorInvalidValue);
    cudaGraphExec_t run;
    CUDA(cudaGraphInstantiate(&run, outer, 0));
    CUDA(cudaGraphLaunch(run, 0));
    CHECK(first_of(y) == 2 && back == 7);
    size_t count = 1;
    CUDA(cudaGraphGetNodes(inner, &node, &count));
    one = 40;
    CUDA(cudaGraphExecKernelNodeSetParams(run, node, &p));
    CUDA(cudaGraphLaunch(run, 0));
    CHECK(first_of(y) == 43);
    CUDA(cudaGraphExecDestroy(run));
    CUDA(cudaGraphDestroy(outer));
    FAILS(cudaGraphGetNodes(inner, &node, &count), cudaErrorInvalidValue);

    // Memory nodes: allocated and freed by the graph
    CUDA(cudaGraphCreate(&outer, 0));
    cudaMemAllocNodeParams memory = {};
    memory.poolProps.allocType = cudaMemAllocationTypePinned;
    memory.poolProps.location.type = cudaMemLocationTypeDevice;
    memory.bytesize = sizeof host;
    CUDA(cudaGraphAddMemAllocNode(&node, outer, NULL, 0, &memory));
    cudaMemsetParams fill = {memory.dptr, 0, 9, 4, N, 1};
    CUDA(cudaGraphAddMemsetNode(&node, outer, &node, 1, &fill));
    CUDA(cudaGraphAddMemcpyNode1D(&node, outer, &node, 1, &back, memory.dptr, 4, cudaMemcpyDeviceToHost));
    CUDA(cudaGraphInstantiate(&run, outer, 0));
    CUDA(cudaGraphLaunch(run, 0));
    CHECK(back == 9);
    FAILS(cudaGraphLaunch(run, 0), cudaErrorInvalidValue); // not freed
    CUDA(cudaFree(memory.dptr));
    FAILS(cudaFree(memory.dptr), cudaErrorInvalidValue);
    CUDA(cudaGraphLaunch(run, 0));
    CUDA(cudaFreeAsync(memory.dptr, 0));
    FAILS(cudaGraphInstantiate(&run, outer, 0), cudaErrorInvalidValue); // only one executable graph at a time
    CUDA(cudaGraphExecDestroy(run));
    CHECK(graph_bytes(cudaGraphMemAttrUsedMemCurrent) == sizeof host); // freed, but kept for the next launch
    CUDA(cudaDeviceGraphMemTrim(0));
    CHECK(graph_bytes(cudaGraphMemAttrReservedMemCurrent) == 0 && graph_bytes(cudaGraphMemAttrReservedMemHigh) == sizeof host);
    uint64_t zero = 0, other = 1;
    CUDA(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &zero));
    CHECK(graph_bytes(cudaGraphMemAttrUsedMemHigh) == 0);
    FAILS(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &other), cudaErrorInvalidValue);
    FAILS(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &zero), cudaErrorInvalidValue);
    CUDA(cudaGraphAddMemFreeNode(&freed, outer, &node, 1, memory.dptr));
    CUDA(cudaGraphInstantiate(&run, outer, 0));
    CUDA(cudaGraphLaunch(run, 0));
    CUDA(cudaGraphLaunch(run, 0));
    CHECK(graph_bytes(cudaGraphMemAttrUsedMemCurrent) == sizeof host);
    CUDA(cudaGraphExecDestroy(run));
    CUDA(cudaGraphDestroy(outer));

    // cudaGraphAddNode
    CUDA(cudaGraphCreate(&outer, 0));
    cudaGraphNodeParams any = {cudaGraphNodeTypeKernel};
    one = 100;
    any.kernel.func = (void *)add;
    any.kernel.gridDim = dim3(3);
    any.kernel.blockDim = dim3(128);
    any.kernel.kernelParams = arguments;
    CUDA(cudaGraphAddNode(&node, outer, NULL, NULL, 0, &any));
    one = 1000;
    CUDA(cudaGraphNodeSetParams(node, &any));
    CUDA(cudaGraphInstantiate(&run, outer, 0));
    CUDA(cudaGraphLaunch(run, 0));
    CHECK(first_of(y) == 1043);
    one = 0;
    CUDA(cudaGraphExecNodeSetParams(run, node, &any));
    any.kernel.blockDim = dim3(2000);
    FAILS(cudaGraphAddNode(&node, outer, NULL, NULL, 0, &any), cudaErrorInvalidConfiguration);
    cudaGraphNodeParams conditional = {cudaGraphNodeTypeConditional}; // without a handle
    FAILS(cudaGraphAddNode(&node, outer, NULL, NULL, 0, &conditional), cudaErrorInvalidValue);
    CUDA(cudaGraphExecDestroy(run));
    CUDA(cudaGraphDestroy(outer));
}

static void captured()
{
    cudaStream_t a, b;
    cudaEvent_t fork, join;
    cudaGraph_t graph, same;
    cudaGraphExec_t run;
    int calls = 0;
    CUDA(cudaStreamCreate(&a));
    CUDA(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    CUDA(cudaEventCreate(&fork));
    CUDA(cudaEventCreate(&join));
    memset(host, 0, sizeof host);
    CUDA(cudaMemset(x, 0, sizeof host));
    CUDA(cudaMemset(y, 0, sizeof host));

    cudaStreamCaptureStatus status;
    CUDA(cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal));
    FAILS(cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal), cudaErrorIllegalState);
    CUDA(cudaStreamIsCapturing(a, &status));
    CHECK(status == cudaStreamCaptureStatusActive);
    add<<<3, 128, 0, a>>>(x, N, 1);
    CUDA(cudaEventRecord(fork, a));
    CUDA(cudaStreamWaitEvent(b, fork, 0));
    add<<<3, 128, 0, b>>>(y, N, 2);
    CUDA(cudaLaunchHostFunc(b, note, &calls));
    CUDA(cudaEventRecord(join, b));
    scale<<<3, 128, 0, a>>>(x, N, 10);
    CUDA(cudaStreamWaitEvent(a, join, 0));
    CUDA(cudaMemcpyAsync(host, x, sizeof host / 2, cudaMemcpyDeviceToHost, a));
    void *temporary;
    CUDA(cudaMallocAsync(&temporary, 64, a));
    CUDA(cudaMemsetAsync(temporary, 1, 64, a));
    CUDA(cudaFreeAsync(temporary, a));
    unsigned long long id = 0;
    const cudaGraphNode_t *ends;
    size_t count;
    CUDA(cudaStreamGetCaptureInfo(b, &status, &id, &same, &ends, NULL, &count));
    CHECK(status == cudaStreamCaptureStatusActive && id > 0 && count == 1);
    CUDA(cudaStreamEndCapture(a, &graph));
    CHECK(graph == same && calls == 0 && host[0] == 0);
    CUDA(cudaStreamIsCapturing(b, &status));
    CHECK(status == cudaStreamCaptureStatusNone && first_of(x) == 0);
    FAILS(cudaEventQuery(join), cudaErrorCapturedEvent);
    CUDA(cudaEventRecord(join, b)); // now it is an ordinary event
    CUDA(cudaEventQuery(join));

    count = 0;
    CUDA(cudaGraphGetNodes(graph, NULL, &count));
    CHECK(count == 8);
    count = 0;
    CUDA(cudaGraphGetEdges(graph, NULL, NULL, NULL, &count));
    CHECK(count == 8); // a chain of six nodes, with a branch of two
    CUDA(cudaGraphInstantiate(&run, graph, 0));
    CUDA(cudaGraphLaunch(run, a));
    CUDA(cudaStreamSynchronize(a));
    CHECK(host[0] == 10 && first_of(y) == 2 && calls == 1);
    CUDA(cudaGraphLaunch(run, b));
    CUDA(cudaStreamSynchronize(b));
    CHECK(host[0] == 110 && host[N / 2 - 1] == 110 && host[N / 2] == 0 && calls == 2);
    CUDA(cudaGraphExecDestroy(run));
    CUDA(cudaGraphDestroy(graph));

    // A captured launch of a graph becomes a child node; capture into an existing graph
    CUDA(cudaStreamBeginCapture(b, cudaStreamCaptureModeThreadLocal));
    add<<<3, 128, 0, b>>>(y, N, 5);
    CUDA(cudaStreamEndCapture(b, &graph));
    CUDA(cudaGraphInstantiate(&run, graph, 0));
    CUDA(cudaStreamBeginCaptureToGraph(b, graph, NULL, NULL, 0, cudaStreamCaptureModeRelaxed));
    CUDA(cudaGraphLaunch(run, b));
    CUDA(cudaStreamEndCapture(b, &graph));
    CUDA(cudaGraphExecDestroy(run));
    CUDA(cudaGraphInstantiate(&run, graph, 0));
    CUDA(cudaGraphLaunch(run, b));
    CUDA(cudaStreamSynchronize(b));
    CHECK(first_of(y) == 14);
    CUDA(cudaGraphExecDestroy(run));
    CUDA(cudaGraphDestroy(graph));

    // A participating stream may be destroyed before the capture ends; its work stays
    CUDA(cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal));
    CUDA(cudaEventRecord(fork, a));
    CUDA(cudaStreamWaitEvent(b, fork, 0));
    add<<<3, 128, 0, b>>>(y, N, 1);
    CUDA(cudaEventRecord(join, b));
    CUDA(cudaStreamWaitEvent(a, join, 0));
    CUDA(cudaStreamDestroy(b));
    CUDA(cudaStreamEndCapture(a, &graph));
    CUDA(cudaGraphInstantiate(&run, graph, 0));
    const int before = first_of(y);
    CUDA(cudaGraphLaunch(run, a));
    CHECK(first_of(y) == before + 1);
    CUDA(cudaGraphExecDestroy(run));
    CUDA(cudaGraphDestroy(graph));
    CUDA(cudaStreamDestroy(a));
}

// Begins a capture, makes an illegal call, and expects an invalidated capture.
template <class Illegal> static void invalidates(cudaError_t wanted, Illegal illegal, unsigned flags = cudaStreamDefault,
                                                 cudaError_t ends_with = cudaErrorStreamCaptureInvalidated)
{
    cudaStream_t stream;
    cudaGraph_t graph = (cudaGraph_t)1;
    cudaStreamCaptureStatus status;
    CUDA(cudaStreamCreateWithFlags(&stream, flags));
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    FAILS(illegal(stream), wanted);
    CUDA(cudaStreamIsCapturing(stream, &status));
    CHECK(status == (ends_with == cudaErrorStreamCaptureInvalidated ? cudaStreamCaptureStatusInvalidated : cudaStreamCaptureStatusActive));
    FAILS(cudaStreamEndCapture(stream, &graph), ends_with);
    CHECK(!graph);
    FAILS(cudaStreamEndCapture(stream, &graph), cudaErrorIllegalState);
    CUDA(cudaStreamSynchronize(stream));
    CUDA(cudaStreamDestroy(stream));
    cudaGetLastError();
}

static void illegal_in_a_capture()
{
    static cudaEvent_t event, other;
    static cudaStream_t second;
    static void *pointer;
    CUDA(cudaEventCreate(&event));
    CUDA(cudaEventCreate(&other));
    CUDA(cudaStreamCreate(&second));
    CUDA(cudaEventRecord(event, second));
    invalidates(cudaErrorStreamCaptureUnsupported, [](cudaStream_t s) { return cudaStreamSynchronize(s); });
    invalidates(cudaErrorStreamCaptureUnsupported, [](cudaStream_t s) { return cudaStreamQuery(s); });
    invalidates(cudaErrorStreamCaptureUnsupported, [](cudaStream_t) { return cudaDeviceSynchronize(); });
    invalidates(cudaErrorStreamCaptureUnsupported, [](cudaStream_t) { return cudaMalloc(&pointer, 4); });
    invalidates(cudaErrorStreamCaptureUnsupported, [](cudaStream_t) { return cudaEventQuery(event); });
    invalidates(cudaErrorStreamCaptureImplicit, [](cudaStream_t) { return cudaMemset(x, 0, 4); });
    invalidates(cudaErrorStreamCaptureUnsupported, [](cudaStream_t) { return cudaMemset(x, 0, 4); }, cudaStreamNonBlocking);
    invalidates(cudaErrorStreamCaptureImplicit, [](cudaStream_t) { return add<<<1, 1>>>(x, 1, 1), cudaGetLastError(); });
    invalidates(cudaErrorStreamCaptureImplicit, [](cudaStream_t) { return cudaStreamSynchronize(0); });
    invalidates(cudaErrorStreamCaptureIsolation, [](cudaStream_t s) { return cudaStreamWaitEvent(s, event, 0); });
    invalidates(cudaErrorCapturedEvent, [](cudaStream_t s) { return cudaEventRecord(other, s), cudaEventSynchronize(other); });
    invalidates(cudaErrorStreamCaptureMerge, [](cudaStream_t s) {
        cudaGraph_t graph;
        CUDA(cudaStreamBeginCapture(second, cudaStreamCaptureModeGlobal));
        CUDA(cudaEventRecord(other, second));
        const cudaError_t error = cudaStreamWaitEvent(s, other, 0);
        FAILS(cudaStreamEndCapture(second, &graph), cudaErrorStreamCaptureInvalidated);
        return error;
    });
    invalidates(cudaErrorStreamCaptureUnmatched, [](cudaStream_t s) {
        cudaGraph_t graph;
        CUDA(cudaEventRecord(other, s));
        CUDA(cudaStreamWaitEvent(second, other, 0));
        return cudaStreamEndCapture(second, &graph);
    });
    invalidates(cudaSuccess, [](cudaStream_t s) {
        CUDA(cudaEventRecord(other, s));
        CUDA(cudaStreamWaitEvent(second, other, 0));
        add<<<1, 1, 0, second>>>(x, 1, 1);
        return cudaGetLastError();
    }, cudaStreamDefault, cudaErrorStreamCaptureUnjoined);
    invalidates(cudaSuccess, [](cudaStream_t s) { // destroying the stream does not join it
        CUDA(cudaEventRecord(other, s));
        CUDA(cudaStreamWaitEvent(second, other, 0));
        add<<<1, 1, 0, second>>>(x, 1, 1);
        return cudaStreamDestroy(second);
    }, cudaStreamDefault, cudaErrorStreamCaptureUnjoined);
    invalidates(cudaErrorStreamCaptureUnsupported, [](cudaStream_t s) { return cudaStreamDestroy(s); });

    // Modes: calls allowed in other threads, and the thread that may end a capture
    cudaStream_t stream;
    cudaGraph_t graph;
    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    std::thread([&] {
        CUDA(cudaMalloc(&pointer, 4));
        FAILS(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureWrongThread);
    }).join();
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    CUDA(cudaThreadExchangeStreamCaptureMode(&mode));
    CHECK(mode == cudaStreamCaptureModeGlobal);
    CUDA(cudaFree(pointer));
    CUDA(cudaThreadExchangeStreamCaptureMode(&mode));
    CUDA(cudaStreamEndCapture(stream, &graph));
    CUDA(cudaGraphDestroy(graph));
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    std::thread([&] { FAILS(cudaMalloc(&pointer, 4), cudaErrorStreamCaptureUnsupported); }).join();
    FAILS(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
    FAILS(cudaStreamBeginCapture(0, cudaStreamCaptureModeGlobal), cudaErrorStreamCaptureUnsupported);
    CUDA(cudaStreamDestroy(stream));
    cudaGetLastError();
}

static void wrong_arguments()
{
    cudaGraph_t graph, wild = (cudaGraph_t)0x1234;
    cudaGraphNode_t node, wild_node = (cudaGraphNode_t)host;
    cudaGraphExec_t run, wild_run = (cudaGraphExec_t)-1;
    cudaKernelNodeParams p = kernel_params(add, NULL);
    cudaMemsetParams fill = {};
    size_t count = 1;
    CUDA(cudaGraphCreate(&graph, 0));
    FAILS(cudaGraphCreate(NULL, 0), cudaErrorInvalidValue);
    FAILS(cudaGraphCreate(&graph, 1), cudaErrorInvalidValue);
    FAILS(cudaGraphDestroy(wild), cudaErrorInvalidValue);
    FAILS(cudaGraphAddEmptyNode(&node, wild, NULL, 0), cudaErrorInvalidValue);
    FAILS(cudaGraphAddEmptyNode(NULL, graph, NULL, 0), cudaErrorInvalidValue);
    FAILS(cudaGraphAddEmptyNode(&node, graph, NULL, 1), cudaErrorInvalidValue);
    FAILS(cudaGraphAddEmptyNode(&node, graph, &wild_node, 1), cudaErrorInvalidValue);
    FAILS(cudaGraphAddKernelNode(&node, graph, NULL, 0, NULL), cudaErrorInvalidValue);
    FAILS(cudaGraphAddKernelNode(&node, graph, NULL, 0, &p), cudaErrorInvalidValue);
    p.func = (void *)host;
    FAILS(cudaGraphAddKernelNode(&node, graph, NULL, 0, &p), cudaErrorInvalidDeviceFunction);
    FAILS(cudaGraphAddMemsetNode(&node, graph, NULL, 0, &fill), cudaErrorInvalidValue);
    FAILS(cudaGraphAddMemcpyNode1D(&node, graph, NULL, 0, x, NULL, 4, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
    FAILS(cudaGraphAddEventRecordNode(&node, graph, NULL, 0, (cudaEvent_t)7), cudaErrorInvalidResourceHandle);
    FAILS(cudaGraphAddChildGraphNode(&node, graph, NULL, 0, wild), cudaErrorInvalidValue);
    FAILS(cudaGraphGetNodes(graph, NULL, NULL), cudaErrorInvalidValue);
    FAILS(cudaGraphGetNodes(wild, NULL, &count), cudaErrorInvalidValue);
    FAILS(cudaGraphDestroyNode(wild_node), cudaErrorInvalidValue);
    FAILS(cudaGraphInstantiate(NULL, graph, 0), cudaErrorInvalidValue);
    FAILS(cudaGraphInstantiate(&run, wild, 0), cudaErrorInvalidValue);
    FAILS(cudaGraphInstantiate(&run, graph, 1024), cudaErrorInvalidValue);
    FAILS(cudaGraphLaunch(wild_run, 0), cudaErrorInvalidValue);
    FAILS(cudaGraphExecDestroy(wild_run), cudaErrorInvalidValue);
    FAILS(cudaGraphExecUpdate(wild_run, graph, NULL), cudaErrorInvalidValue);
    FAILS(cudaStreamBeginCapture((cudaStream_t)0x99, cudaStreamCaptureModeGlobal), cudaErrorInvalidResourceHandle);
    FAILS(cudaStreamEndCapture(0, NULL), cudaErrorInvalidValue);
    CUDA(cudaGraphInstantiate(&run, graph, 0));
    FAILS(cudaGraphLaunch(run, (cudaStream_t)0x99), cudaErrorInvalidResourceHandle);
    CUDA(cudaGraphLaunch(run, 0)); // empty graph
    cudaGraphNode_t copied;
    CUDA(cudaGraphAddMemcpyNode1D(&copied, graph, NULL, 0, x, host, sizeof host + 4000, cudaMemcpyHostToDevice));
    CUDA(cudaGraphInstantiate(&run, graph, 0));
    FAILS(cudaGraphLaunch(run, 0), cudaErrorInvalidValue); // past the end of the allocation
    CUDA(cudaGraphDestroy(graph));
    cudaGetLastError();
}

// So many nodes that a recursive traversal would overflow the stack.
static void many_nodes()
{
    enum { COUNT = 20000 };
    cudaGraph_t graph;
    cudaGraphExec_t run;
    cudaStream_t stream;
    int calls = 0;
    CUDA(cudaStreamCreate(&stream));
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    for (int k = 0; k < COUNT; k++)
        CUDA(cudaLaunchHostFunc(stream, note, &calls));
    CUDA(cudaStreamEndCapture(stream, &graph));
    CUDA(cudaGraphInstantiate(&run, graph, 0));
    CUDA(cudaGraphLaunch(run, stream));
    CHECK(calls == COUNT);
    CUDA(cudaDeviceReset());
    FAILS(cudaGraphLaunch(run, 0), cudaErrorInvalidValue);
}

int main()
{
    CUDA(cudaMalloc(&x, sizeof host));
    CUDA(cudaMalloc(&y, sizeof host));
    node_by_node();
    children_symbols_memory();
    captured();
    illegal_in_a_capture();
    wrong_arguments();
    many_nodes();
    printf("PASS\n");
}
