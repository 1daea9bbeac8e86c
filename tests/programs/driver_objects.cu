// The driver API: copies from and to arrays, and graphs of nodes of all types.
#include "driver.h"
#include <cstring>

enum { W = 4, H = 3, D = 2, COUNT = W * H * D };

static unsigned host[COUNT], back[COUNT];

static CUarray new_array(size_t height, size_t depth)
{
    CUarray array;
    const CUDA_ARRAY3D_DESCRIPTOR shape = {W, height, depth, CU_AD_FORMAT_UNSIGNED_INT16, 2, 0}; // 4 bytes an element
    DRIVER(cuArray3DCreate(&array, &shape));
    return array;
}

static void descriptors()
{
    CUDA_ARRAY3D_DESCRIPTOR shape;
    CUDA_ARRAY_DESCRIPTOR flat;
    CUarray array = new_array(H, D);
    DRIVER(cuArray3DGetDescriptor(&shape, array));
    CHECK(shape.Width == W && shape.Height == H && shape.Depth == D && shape.Format == CU_AD_FORMAT_UNSIGNED_INT16 && shape.NumChannels == 2);
    DRIVER(cuArrayGetDescriptor(&flat, array));
    CHECK(flat.Width == W && flat.Height == H && flat.Format == CU_AD_FORMAT_UNSIGNED_INT16 && flat.NumChannels == 2);
    FAILS(cuArrayGetDescriptor(NULL, array), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuArray3DGetDescriptor(&shape, (CUarray)host), CUDA_ERROR_INVALID_HANDLE);
    DRIVER(cuArrayDestroy(array));
}

// A 3D copy of a whole array; the caller sets the other side.
static CUDA_MEMCPY3D whole()
{
    CUDA_MEMCPY3D copy = {};
    copy.WidthInBytes = W * sizeof *host, copy.Height = H, copy.Depth = D;
    return copy;
}

static CUDA_MEMCPY3D to_array(CUarray array)
{
    CUDA_MEMCPY3D copy = whole();
    copy.srcMemoryType = CU_MEMORYTYPE_HOST, copy.srcHost = host;
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY, copy.dstArray = array;
    return copy;
}

static CUDA_MEMCPY3D from_array(CUarray array)
{
    CUDA_MEMCPY3D copy = whole();
    copy.srcMemoryType = CU_MEMORYTYPE_ARRAY, copy.srcArray = array;
    copy.dstMemoryType = CU_MEMORYTYPE_HOST, copy.dstHost = back;
    return copy;
}

static void copies_3d()
{
    CUarray one = new_array(H, D), two = new_array(H, D);
    CUDA_MEMCPY3D copy = to_array(one);
    for (unsigned k = 0; k < COUNT; k++)
        host[k] = 100 + k;
    DRIVER(cuMemcpy3D(&copy));
    copy = from_array(one);
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY, copy.dstArray = two;
    DRIVER(cuMemcpy3DAsync(&copy, NULL));
    copy = from_array(two);
    DRIVER(cuMemcpy3D(&copy));
    CHECK(memcmp(host, back, sizeof host) == 0);

    // One element: number 2 of row 1 of slice 1, to element 3 of the host's first row
    copy.srcXInBytes = 2 * sizeof *host, copy.srcY = copy.srcZ = 1, copy.dstXInBytes = 3 * sizeof *host;
    copy.WidthInBytes = sizeof *host, copy.Height = copy.Depth = 1;
    DRIVER(cuMemcpy3D(&copy));
    CHECK(back[3] == host[(H + 1) * W + 2] && back[2] == host[2]);
    copy.WidthInBytes = 2; // half an element
    FAILS(cuMemcpy3D(&copy), CUDA_ERROR_INVALID_VALUE);
    copy = to_array(one);
    copy.dstZ = 1; // beyond the array
    FAILS(cuMemcpy3D(&copy), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemcpy3D(NULL), CUDA_ERROR_INVALID_VALUE);

    CUDA_MEMCPY2D rows = {};
    rows.srcMemoryType = rows.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    rows.srcArray = one, rows.srcY = 1, rows.dstArray = two, rows.WidthInBytes = W * sizeof *host, rows.Height = 1;
    DRIVER(cuMemcpy2DAsync(&rows, NULL)); // row 1 to row 0
    copy = from_array(two);
    DRIVER(cuMemcpy3D(&copy));
    CHECK(back[0] == host[W] && back[W] == host[W]);
    DRIVER(cuArrayDestroy(one));
    DRIVER(cuArrayDestroy(two));
}

static void linear_copies()
{
    CUdeviceptr memory;
    CUarray one = new_array(0, 0), two = new_array(0, 0);
    const size_t bytes = W * sizeof *host;
    DRIVER(cuMemAlloc(&memory, bytes));
    DRIVER(cuMemcpyHtoA(one, 0, host, bytes));
    DRIVER(cuMemcpyAtoD(memory, one, 0, bytes));
    DRIVER(cuMemcpyDtoA(two, 0, memory, bytes));
    DRIVER(cuMemcpyAtoA(one, sizeof *host, two, 0, sizeof *host)); // element 0 to element 1
    DRIVER(cuMemcpyAtoH(back, one, 0, bytes));
    CHECK(back[0] == host[0] && back[1] == host[0] && back[2] == host[2]);
    DRIVER(cuMemcpyHtoAAsync(one, 0, host + W, bytes, NULL));
    DRIVER(cuMemcpyAtoHAsync(back, one, 0, bytes, NULL));
    DRIVER(cuCtxSynchronize());
    CHECK(memcmp(back, host + W, bytes) == 0);
    FAILS(cuMemcpyHtoA(one, sizeof *host, host, bytes), CUDA_ERROR_INVALID_VALUE);
    DRIVER(cuMemFree(memory));
    DRIVER(cuArrayDestroy(one));
    DRIVER(cuArrayDestroy(two));
}

static const char PTX[] = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry increase(.param .u64 number)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [number];
    cvta.to.global.u64 %rd1, %rd1;
    ld.global.u32 %r1, [%rd1];
    add.u32 %r1, %r1, 1;
    st.global.u32 [%rd1], %r1;
    ret;
})";

static CUgraphNodeParams of_type(CUgraphNodeType type)
{
    CUgraphNodeParams p = {};
    p.type = type;
    return p;
}

static void CUDA_CB double_number(void *number)
{
    *(unsigned *)number *= 2;
}

// Memory of the graph gets 5, and 6 in the body of an if-node; a copy brings it to the host, and a host function doubles it there.
static void graphs()
{
    CUmodule module;
    CUfunction increase;
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode nodes[6], body_node;
    CUgraphConditionalHandle condition;
    DRIVER(cuModuleLoadData(&module, PTX));
    DRIVER(cuModuleGetFunction(&increase, module, "increase"));
    DRIVER(cuGraphCreate(&graph, 0));

    CUgraphNodeParams memory = of_type(CU_GRAPH_NODE_TYPE_MEM_ALLOC);
    memory.alloc.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    memory.alloc.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    memory.alloc.bytesize = sizeof *back;
    DRIVER(cuGraphAddNode(&nodes[0], graph, NULL, NULL, 0, &memory));
    CUdeviceptr number = memory.alloc.dptr;

    CUgraphNodeParams fill = of_type(CU_GRAPH_NODE_TYPE_MEMSET);
    fill.memset.dst = number, fill.memset.value = 5, fill.memset.elementSize = 4, fill.memset.width = fill.memset.height = 1;
    DRIVER(cuGraphAddNode(&nodes[1], graph, &nodes[0], NULL, 1, &fill));

    DRIVER(cuGraphConditionalHandleCreate(&condition, graph, NULL, 1, CU_GRAPH_COND_ASSIGN_DEFAULT));
    CUgraphNodeParams branch = of_type(CU_GRAPH_NODE_TYPE_CONDITIONAL);
    branch.conditional.handle = condition, branch.conditional.type = CU_GRAPH_COND_TYPE_IF, branch.conditional.size = 1;
    DRIVER(cuGraphAddNode(&nodes[2], graph, &nodes[1], NULL, 1, &branch));
    void *arguments[] = {&number};
    CUgraphNodeParams kernel = of_type(CU_GRAPH_NODE_TYPE_KERNEL);
    kernel.kernel.func = increase, kernel.kernel.gridDimX = kernel.kernel.gridDimY = kernel.kernel.gridDimZ = 1;
    kernel.kernel.blockDimX = kernel.kernel.blockDimY = kernel.kernel.blockDimZ = 1, kernel.kernel.kernelParams = arguments;
    DRIVER(cuGraphAddNode(&body_node, branch.conditional.phGraph_out[0], NULL, NULL, 0, &kernel));

    CUgraphNodeParams copy = of_type(CU_GRAPH_NODE_TYPE_MEMCPY);
    copy.memcpy.copyParams.srcMemoryType = CU_MEMORYTYPE_DEVICE, copy.memcpy.copyParams.srcDevice = number;
    copy.memcpy.copyParams.dstMemoryType = CU_MEMORYTYPE_HOST, copy.memcpy.copyParams.dstHost = back;
    copy.memcpy.copyParams.WidthInBytes = sizeof *back, copy.memcpy.copyParams.Height = copy.memcpy.copyParams.Depth = 1;
    DRIVER(cuGraphAddNode(&nodes[3], graph, &nodes[2], NULL, 1, &copy));
    CUgraphNodeParams call = of_type(CU_GRAPH_NODE_TYPE_HOST);
    call.host.fn = double_number, call.host.userData = back;
    DRIVER(cuGraphAddNode(&nodes[4], graph, &nodes[3], NULL, 1, &call));
    CUgraphNodeParams release = of_type(CU_GRAPH_NODE_TYPE_MEM_FREE);
    release.free.dptr = number;
    DRIVER(cuGraphAddNode(&nodes[5], graph, &nodes[3], NULL, 1, &release));
    FAILS(cuGraphAddNode(&nodes[5], graph, NULL, NULL, 0, NULL), CUDA_ERROR_INVALID_VALUE);

    CUDA_GRAPH_INSTANTIATE_PARAMS how = {};
    DRIVER(cuGraphInstantiateWithParams(&exec, graph, &how));
    CHECK(how.result_out == CUDA_GRAPH_INSTANTIATE_SUCCESS && how.hErrNode_out == NULL);
    DRIVER(cuGraphLaunch(exec, NULL));
    DRIVER(cuCtxSynchronize());
    CHECK(back[0] == 12);
    fill.memset.value = 7;
    DRIVER(cuGraphExecNodeSetParams(exec, nodes[1], &fill));
    DRIVER(cuGraphLaunch(exec, NULL));
    DRIVER(cuCtxSynchronize());
    CHECK(back[0] == 16);
    DRIVER(cuGraphExecDestroy(exec));
    DRIVER(cuGraphDestroy(graph));
    DRIVER(cuModuleUnload(module));
}

// A capture adds a node to an existing graph.
static void captures()
{
    CUgraph graph, captured;
    CUstream stream;
    CUstreamCaptureStatus status;
    CUdeviceptr data;
    cuuint64_t id;
    size_t count = 0;
    const CUgraphNode *dependencies;
    DRIVER(cuMemAlloc(&data, sizeof host));
    DRIVER(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    DRIVER(cuGraphCreate(&graph, 0));
    DRIVER(cuStreamBeginCaptureToGraph(stream, graph, NULL, NULL, 0, CU_STREAM_CAPTURE_MODE_GLOBAL));
    DRIVER(cuMemsetD32Async(data, 3, COUNT, stream));
    DRIVER(cuStreamGetCaptureInfo(stream, &status, &id, &captured, &dependencies, NULL, &count));
    CHECK(status == CU_STREAM_CAPTURE_STATUS_ACTIVE && captured == graph && count == 1);
    DRIVER(cuStreamUpdateCaptureDependencies(stream, NULL, NULL, 0, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    DRIVER(cuStreamEndCapture(stream, &captured));
    CHECK(captured == graph);
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    DRIVER(cuThreadExchangeStreamCaptureMode(&mode));
    CHECK(mode == CU_STREAM_CAPTURE_MODE_GLOBAL);
    DRIVER(cuThreadExchangeStreamCaptureMode(&mode));
    DRIVER(cuGraphGetNodes(graph, NULL, &count));
    CHECK(count == 1);
    DRIVER(cuGraphDestroy(graph));
    DRIVER(cuStreamDestroy(stream));
    DRIVER(cuMemFree(data));
}

int main()
{
    CUcontext context;
    DRIVER(cuInit(0));
    DRIVER(cuDevicePrimaryCtxRetain(&context, 0));
    DRIVER(cuCtxSetCurrent(context));
    descriptors();
    copies_3d();
    linear_copies();
    graphs();
    captures();
    DRIVER(cuDevicePrimaryCtxRelease(0));
    printf("PASS\n");
}
