// The driver API as samples use it: modules of PTX, launches, memory, and wrong arguments.
// Only the driver API; driver_beside_runtime.cu uses both APIs.
#include "driver.h"
#include <cstring>
#include <fstream>
#include <string>

static const char PTX[] = R"(
.version 8.0
.target sm_80
.address_size 64
.global .align 4 .u32 factor = 3;
.visible .entry scale(.param .u64 data, .param .u32 n)
{
    .reg .pred %p;
    .reg .b32 %r<6>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [data];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %tid.x;
    mov.u32 %r3, %ctaid.x;
    mov.u32 %r4, %ntid.x;
    mad.lo.u32 %r2, %r3, %r4, %r2;
    setp.ge.u32 %p, %r2, %r1;
    @%p bra done;
    cvta.to.global.u64 %rd1, %rd1;
    mul.wide.u32 %rd2, %r2, 4;
    add.u64 %rd1, %rd1, %rd2;
    ld.global.u32 %r3, [%rd1];
    ld.global.u32 %r4, [factor];
    mul.lo.u32 %r3, %r3, %r4;
    st.global.u32 [%rd1], %r3;
done:
    ret;
}
// Writes each texel of the texture to the same row of the surface, mirrored.
.visible .entry mirror(.param .u64 texture, .param .u64 surface, .param .s32 width)
{
    .reg .b32 %r<8>;
    .reg .f32 %f<3>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [texture];
    ld.param.u64 %rd2, [surface];
    ld.param.s32 %r1, [width];
    mov.u32 %r2, %tid.x;
    mov.u32 %r3, %tid.y;
    cvt.rn.f32.u32 %f1, %r2;
    cvt.rn.f32.u32 %f2, %r3;
    tex.2d.v4.u32.f32 {%r4, %r5, %r6, %r7}, [%rd1, {%f1, %f2}];
    sub.s32 %r1, %r1, %r2;
    sub.s32 %r1, %r1, 1;
    shl.b32 %r1, %r1, 2;
    sust.b.2d.b32.trap [%rd2, {%r1, %r3}], {%r4};
    ret;
}
)";

static const int N = 100;
static unsigned host[N];

static unsigned first_of(CUdeviceptr data)
{
    unsigned value;
    DRIVER(cuMemcpyDtoH(&value, data, sizeof value));
    return value;
}

static void before_the_start()
{
    int count;
    CUdeviceptr data;
    FAILS(cuDeviceGetCount(&count), CUDA_ERROR_NOT_INITIALIZED);
    FAILS(cuMemAlloc(&data, 4), CUDA_ERROR_NOT_INITIALIZED);
    FAILS(cuInit(1), CUDA_ERROR_INVALID_VALUE);
    DRIVER(cuInit(0));
    FAILS(cuMemAlloc(&data, 4), CUDA_ERROR_INVALID_CONTEXT);
}

static void devices_and_contexts(CUcontext *context)
{
    CUdevice device;
    CUcontext primary, other, current;
    int count, value, version;
    size_t bytes;
    char name[64];
    unsigned flags;
    DRIVER(cuDriverGetVersion(&version));
    CHECK(version >= 12000);
    DRIVER(cuDeviceGetCount(&count));
    CHECK(count >= 1);
    DRIVER(cuDeviceGet(&device, 0));
    FAILS(cuDeviceGet(&device, count), CUDA_ERROR_INVALID_DEVICE);
    FAILS(cuDeviceGet(NULL, 0), CUDA_ERROR_INVALID_VALUE);
    DRIVER(cuDeviceGetName(name, sizeof name, device));
    DRIVER(cuDeviceTotalMem(&bytes, device));
    DRIVER(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
    CHECK(strlen(name) > 0 && bytes > 0 && value == 9);
    FAILS(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 1000), CUDA_ERROR_INVALID_DEVICE);

    DRIVER(cuCtxGetCurrent(&current));
    CHECK(current == NULL);
    DRIVER(cuDevicePrimaryCtxRetain(&primary, device));
    DRIVER(cuCtxSetCurrent(primary));
    DRIVER(cuCtxGetDevice(&device));
#if CUDA_VERSION >= 13000
    DRIVER(cuCtxCreate(&other, NULL, CU_CTX_SCHED_SPIN, device));
#else
    DRIVER(cuCtxCreate(&other, CU_CTX_SCHED_SPIN, device));
#endif
    DRIVER(cuCtxGetFlags(&flags));
    CHECK(flags == CU_CTX_SCHED_SPIN);
    DRIVER(cuCtxGetCurrent(&current));
    CHECK(current == other);
    DRIVER(cuCtxPopCurrent(&current));
    CHECK(current == other);
    DRIVER(cuCtxGetCurrent(&current));
    CHECK(current == primary);
    DRIVER(cuCtxPushCurrent(other));
    DRIVER(cuCtxDestroy(other));
    DRIVER(cuCtxGetCurrent(&current));
    CHECK(current == primary);
    FAILS(cuCtxDestroy(other), CUDA_ERROR_INVALID_CONTEXT);
    FAILS(cuCtxSetCurrent(other), CUDA_ERROR_INVALID_CONTEXT);
    FAILS(cuCtxPushCurrent((CUcontext)host), CUDA_ERROR_INVALID_CONTEXT);
    DRIVER(cuCtxSynchronize());
    *context = primary;
}

static void modules_and_launches()
{
    CUmodule module;
    CUfunction scale;
    CUdeviceptr data, factor;
    CUstream stream;
    CUevent start, end;
    size_t bytes;
    int n = N, value;
    float ms;
    for (int i = 0; i < N; i++)
        host[i] = i + 1;
    DRIVER(cuModuleLoadData(&module, PTX));
    DRIVER(cuModuleGetFunction(&scale, module, "scale"));
    DRIVER(cuModuleGetGlobal(&factor, &bytes, module, "factor"));
    CHECK(bytes == 4 && first_of(factor) == 3);
    FAILS(cuModuleGetFunction(&scale, module, "no_such"), CUDA_ERROR_NOT_FOUND);
    FAILS(cuModuleGetGlobal(&factor, &bytes, module, "no_such"), CUDA_ERROR_NOT_FOUND);
    FAILS(cuModuleGetFunction(&scale, (CUmodule)host, "scale"), CUDA_ERROR_INVALID_HANDLE);
    DRIVER(cuMemAlloc(&data, sizeof host));
    DRIVER(cuMemcpyHtoD(data, host, sizeof host));
    DRIVER(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    DRIVER(cuEventCreate(&start, CU_EVENT_DEFAULT));
    DRIVER(cuEventCreate(&end, CU_EVENT_DEFAULT));
    DRIVER(cuEventRecord(start, stream));
    void *arguments[] = {&data, &n};
    DRIVER(cuLaunchKernel(scale, 4, 1, 1, 32, 1, 1, 0, stream, arguments, NULL));
    DRIVER(cuEventRecord(end, stream));
    DRIVER(cuEventSynchronize(end));
    DRIVER(cuEventElapsedTime(&ms, start, end));
    DRIVER(cuStreamWaitEvent(stream, end, 0));
    CHECK(first_of(data) == 3);
    unsigned flags = 0;
    CUstreamAttrValue attribute = {};
    attribute.priority = -1;
    DRIVER(cuStreamSetAttribute(stream, CU_LAUNCH_ATTRIBUTE_PRIORITY, &attribute));
    DRIVER(cuStreamGetPriority(stream, &value));
    DRIVER(cuStreamGetFlags(stream, &flags));
    CHECK(value == -1 && flags == CU_STREAM_NON_BLOCKING);
    DRIVER(cuStreamCopyAttributes(NULL, stream));
    DRIVER(cuStreamGetAttribute(NULL, CU_LAUNCH_ATTRIBUTE_PRIORITY, &attribute));
    CHECK(attribute.priority == -1);
    FAILS(cuStreamGetPriority(stream, NULL), CUDA_ERROR_INVALID_VALUE);

    struct {
        CUdeviceptr data;
        int n;
    } packed = {data, n};
    bytes = sizeof packed;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
    DRIVER(cuMemsetD32(factor, 2, 1));
    DRIVER(cuLaunchKernel(scale, 4, 1, 1, 32, 1, 1, 0, 0, NULL, extra));
    CHECK(first_of(data) == 6);
    CUlaunchConfig config = {};
    config.gridDimX = 4, config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1, config.blockDimX = 32;
    DRIVER(cuLaunchKernelEx(&config, scale, arguments, NULL));
    CHECK(first_of(data) == 12);
    DRIVER(cuMemcpyDtoHAsync(host, data, sizeof host, stream));
    DRIVER(cuStreamSynchronize(stream));
    for (int i = 0; i < N; i++)
        CHECK(host[i] == 12u * (i + 1));

    DRIVER(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, scale));
    CHECK(value == 1024);
    DRIVER(cuFuncSetAttribute(scale, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100000));
    DRIVER(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, scale));
    CHECK(value == 100000);
    DRIVER(cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, scale, 1024, 0));
    CHECK(value == 2);
    int grid, block;
    DRIVER(cuOccupancyMaxPotentialBlockSize(&grid, &block, scale, NULL, 0, 0));
    CHECK(block == 1024 && grid > 0);
    DRIVER(cuOccupancyMaxPotentialBlockSizeWithFlags(&grid, &block, scale, NULL, 0, 256, CU_OCCUPANCY_DEFAULT));
    CHECK(block == 256 && grid > 0);

    FAILS(cuLaunchKernel(scale, 4, 1, 1, 3200, 1, 1, 0, 0, arguments, NULL), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuLaunchKernel(scale, 4, 1, 1, 32, 1, 1, 0, 0, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuLaunchKernel(scale, 4, 1, 1, 32, 1, 1, 0, 0, arguments, extra), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuLaunchKernel((CUfunction)host, 4, 1, 1, 32, 1, 1, 0, 0, arguments, NULL), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cuLaunchKernel(scale, 4, 1, 1, 32, 1, 1, 0, (CUstream)0x99, arguments, NULL), CUDA_ERROR_INVALID_HANDLE);
    bytes = 8; // the second argument is missing
    FAILS(cuLaunchKernel(scale, 4, 1, 1, 32, 1, 1, 0, 0, NULL, extra), CUDA_ERROR_INVALID_VALUE);

    // A capture becomes a graph
    CUgraph graph;
    CUgraphExec run;
    DRIVER(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    DRIVER(cuMemsetD32Async(data, 7, N, stream));
    DRIVER(cuLaunchKernel(scale, 4, 1, 1, 32, 1, 1, 0, stream, arguments, NULL));
    FAILS(cuMemFree(data), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    FAILS(cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    DRIVER(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    DRIVER(cuMemsetD32Async(data, 7, N, stream));
    DRIVER(cuLaunchKernel(scale, 4, 1, 1, 32, 1, 1, 0, stream, arguments, NULL));
    DRIVER(cuStreamEndCapture(stream, &graph));
    DRIVER(cuGraphInstantiateWithFlags(&run, graph, 0));
    DRIVER(cuGraphLaunch(run, stream));
    CHECK(first_of(data) == 14);
    DRIVER(cuGraphExecDestroy(run));
    DRIVER(cuGraphDestroy(graph));

    DRIVER(cuEventDestroy(start));
    FAILS(cuEventRecord(start, 0), CUDA_ERROR_INVALID_HANDLE);
    DRIVER(cuStreamDestroy(stream));
    DRIVER(cuModuleUnload(module));
    FAILS(cuLaunchKernel(scale, 4, 1, 1, 32, 1, 1, 0, 0, arguments, NULL), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cuModuleUnload(module), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cuMemcpyDtoH(host, factor, 4), CUDA_ERROR_INVALID_VALUE); // freed with the module
    DRIVER(cuMemFree(data));
}

static void ways_to_load()
{
    CUmodule module;
    CUlibrary library;
    CUkernel kernel;
    CUfunction scale;
    CUlinkState state;
    void *image;
    size_t bytes;
    char log[200] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)sizeof log};
    std::string broken = PTX, newer = PTX;
    broken.replace(broken.find(".visible"), 8, ".visiting");
    FAILS(cuModuleLoadDataEx(&module, broken.c_str(), 2, options, values), CUDA_ERROR_INVALID_PTX);
    CHECK(strlen(log) > 0);
    newer.replace(newer.find("sm_80"), 5, "sm_120");
    FAILS(cuModuleLoadData(&module, newer.c_str()), CUDA_ERROR_NO_BINARY_FOR_GPU);
    FAILS(cuModuleLoadData(&module, "\177ELF and machine code"), CUDA_ERROR_NO_BINARY_FOR_GPU);
    FAILS(cuModuleLoadData(&module, ""), CUDA_ERROR_INVALID_PTX);
    FAILS(cuModuleLoadData(&module, NULL), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuModuleLoadData(NULL, PTX), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuModuleLoad(&module, "no such file"), CUDA_ERROR_FILE_NOT_FOUND);
    FAILS(cuModuleLoad(&module, "/tmp"), CUDA_ERROR_FILE_NOT_FOUND);
    const std::string path = std::string(getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp") + "/driver_api." + std::to_string((long)(size_t)&module % 100000) + ".ptx";
    std::ofstream(path) << PTX;
    DRIVER(cuModuleLoad(&module, path.c_str()));
    remove(path.c_str());
    DRIVER(cuModuleGetFunction(&scale, module, "scale"));
    DRIVER(cuModuleUnload(module));

    DRIVER(cuLibraryLoadData(&library, PTX, NULL, NULL, 0, NULL, NULL, 0));
    DRIVER(cuLibraryGetKernel(&kernel, library, "scale"));
    DRIVER(cuKernelGetFunction(&scale, kernel));
    DRIVER(cuLibraryUnload(library));

    DRIVER(cuLinkCreate(0, NULL, NULL, &state));
    DRIVER(cuLinkAddData(state, CU_JIT_INPUT_PTX, (void *)PTX, sizeof PTX, "scale", 0, NULL, NULL));
    FAILS(cuLinkAddData(state, CU_JIT_INPUT_PTX, (void *)PTX, sizeof PTX, "again", 0, NULL, NULL), CUDA_ERROR_NOT_SUPPORTED);
    DRIVER(cuLinkComplete(state, &image, &bytes));
    DRIVER(cuModuleLoadData(&module, image));
    DRIVER(cuLinkDestroy(state));
    DRIVER(cuModuleGetFunction(&scale, module, "scale"));
    DRIVER(cuModuleUnload(module));
}

static void memory()
{
    CUdeviceptr data, rows, shared;
    size_t pitch, unused, all;
    void *pinned;
    unsigned value;
    DRIVER(cuMemGetInfo(&unused, &all));
    DRIVER(cuMemAlloc(&data, 256));
    DRIVER(cuMemsetD8(data, 0x11, 256));
    DRIVER(cuMemsetD16(data, 0x2222, 1));
    CHECK(first_of(data) == 0x11112222);
    FAILS(cuMemsetD32(data + 2, 0, 1), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemsetD32(data, 0, 65), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemsetD32((CUdeviceptr)host, 0, 1), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemAlloc(&data, 0), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemAlloc(NULL, 4), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemAlloc(&shared, (size_t)1 << 60), CUDA_ERROR_OUT_OF_MEMORY);
    FAILS(cuMemcpyHtoD(data, NULL, 4), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemcpyDtoH(host, data, 257), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemcpyHtoD(12345, host, 4), CUDA_ERROR_INVALID_VALUE);
    DRIVER(cuMemAllocHost(&pinned, 64));
    DRIVER(cuMemFreeHost(pinned));
    DRIVER(cuMemHostAlloc(&pinned, 64, CU_MEMHOSTALLOC_DEVICEMAP));
    DRIVER(cuMemHostGetDevicePointer(&shared, pinned, 0));
    DRIVER(cuMemFreeHost(pinned));
    DRIVER(cuMemAllocManaged(&shared, 64, CU_MEM_ATTACH_GLOBAL));
    *(unsigned *)shared = 5;
    DRIVER(cuMemcpy(data, shared, 4));
    CHECK(first_of(data) == 5);
    DRIVER(cuPointerGetAttribute(&value, CU_POINTER_ATTRIBUTE_IS_MANAGED, shared));
    CHECK(value == 1);
    DRIVER(cuStreamAttachMemAsync(NULL, shared, 0, CU_MEM_ATTACH_GLOBAL));
    DRIVER(cuPointerGetAttribute(&value, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, data));
    CHECK(value == CU_MEMORYTYPE_DEVICE);
    DRIVER(cuMemAllocPitch(&rows, &pitch, 12, 3, 4));
    DRIVER(cuMemsetD2D32(rows, pitch, 9, 3, 3));
    CUDA_MEMCPY2D copy = {};
    copy.srcMemoryType = CU_MEMORYTYPE_DEVICE, copy.srcDevice = rows, copy.srcPitch = pitch;
    copy.dstMemoryType = CU_MEMORYTYPE_HOST, copy.dstHost = host, copy.dstPitch = 12;
    copy.WidthInBytes = 12, copy.Height = 3;
    memset(host, 0, sizeof host);
    DRIVER(cuMemcpy2D(&copy));
    CHECK(host[0] == 9 && host[8] == 9 && host[9] == 0);
    FAILS(cuMemFree(data + 4), CUDA_ERROR_INVALID_VALUE);
    DRIVER(cuMemFree(data));
    FAILS(cuMemFree(data), CUDA_ERROR_INVALID_VALUE);
    DRIVER(cuMemFree(rows));
    DRIVER(cuMemFree(shared));
}

// Copies of rows to and from an array; `memory` is host memory.
static CUDA_MEMCPY2D to_array(CUarray array, const void *memory, size_t width, size_t height)
{
    CUDA_MEMCPY2D copy = {};
    copy.srcMemoryType = CU_MEMORYTYPE_HOST, copy.srcHost = memory;
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY, copy.dstArray = array;
    copy.WidthInBytes = width, copy.Height = height;
    return copy;
}

static CUDA_MEMCPY2D from_array(void *memory, CUarray array, size_t width, size_t height)
{
    CUDA_MEMCPY2D copy = {};
    copy.srcMemoryType = CU_MEMORYTYPE_ARRAY, copy.srcArray = array;
    copy.dstMemoryType = CU_MEMORYTYPE_HOST, copy.dstHost = memory;
    copy.WidthInBytes = width, copy.Height = height;
    return copy;
}

static void arrays_and_textures()
{
    const unsigned W = 8, H = 4;
    CUmodule module;
    CUfunction mirror;
    CUarray from, to;
    CUtexObject texture;
    CUsurfObject surface;
    unsigned out[H * W];
    CUDA_ARRAY_DESCRIPTOR flat = {W, H, CU_AD_FORMAT_UNSIGNED_INT32, 1};
    CUDA_ARRAY3D_DESCRIPTOR written = {W, H, 0, CU_AD_FORMAT_UNSIGNED_INT32, 1, CUDA_ARRAY3D_SURFACE_LDST};
    DRIVER(cuArrayCreate(&from, &flat));
    DRIVER(cuArray3DCreate(&to, &written));
    FAILS(cuArrayCreate(NULL, &flat), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuArrayCreate(&from, NULL), CUDA_ERROR_INVALID_VALUE);
    flat.NumChannels = 3;
    FAILS(cuArrayCreate(&from, &flat), CUDA_ERROR_INVALID_VALUE);
    flat.NumChannels = 1, flat.Format = (CUarray_format)0x77;
    FAILS(cuArrayCreate(&from, &flat), CUDA_ERROR_INVALID_VALUE);

    for (unsigned k = 0; k < H * W; k++)
        host[k] = 100 + k;
    CUDA_MEMCPY2D copy = to_array(from, host, 4 * W, H);
    DRIVER(cuMemcpy2D(&copy));
    copy.dstXInBytes = 4;
    FAILS(cuMemcpy2D(&copy), CUDA_ERROR_INVALID_VALUE);
    copy = to_array(from, host, 4, 1); // 100, element 2 of row 1
    copy.dstXInBytes = 8, copy.dstY = 1;
    DRIVER(cuMemcpy2DAsync(&copy, NULL));

    CUDA_RESOURCE_DESC resource = {};
    CUDA_TEXTURE_DESC how = {};
    resource.resType = CU_RESOURCE_TYPE_ARRAY, resource.res.array.hArray = from;
    how.flags = CU_TRSF_READ_AS_INTEGER;
    DRIVER(cuTexObjectCreate(&texture, &resource, &how, NULL));
    FAILS(cuTexObjectCreate(NULL, &resource, &how, NULL), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuTexObjectCreate(&texture, NULL, &how, NULL), CUDA_ERROR_INVALID_VALUE);
    resource.res.array.hArray = (CUarray)host;
    FAILS(cuTexObjectCreate(&texture, &resource, &how, NULL), CUDA_ERROR_INVALID_HANDLE);
    resource.res.array.hArray = to;
    DRIVER(cuSurfObjectCreate(&surface, &resource));

    DRIVER(cuModuleLoadData(&module, PTX));
    DRIVER(cuModuleGetFunction(&mirror, module, "mirror"));
    int width = W;
    void *arguments[] = {&texture, &surface, &width};
    DRIVER(cuLaunchKernel(mirror, 1, 1, 1, W, H, 1, 0, NULL, arguments, NULL));
    DRIVER(cuCtxSynchronize());
    copy = from_array(out, to, 4 * W, H);
    DRIVER(cuMemcpy2D(&copy));
    for (unsigned y = 0; y < H; y++)
        for (unsigned x = 0; x < W; x++)
            CHECK(out[W * y + W - 1 - x] == (x == 2 && y == 1 ? 100 : 100 + W * y + x));

    copy = from_array(NULL, from, 8, 2); // between two arrays
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY, copy.dstArray = to, copy.dstXInBytes = 4, copy.dstY = 2;
    DRIVER(cuMemcpy2D(&copy));
    copy = from_array(out, to, 4 * W, 1);
    copy.srcY = 3;
    DRIVER(cuMemcpy2DAsync(&copy, NULL));
    CHECK(out[1] == 100 + W && out[2] == 100 + W + 1 && out[3] == 100 + 3 * W + 4);

    DRIVER(cuModuleUnload(module));
    DRIVER(cuTexObjectDestroy(texture));
    DRIVER(cuSurfObjectDestroy(surface));
    DRIVER(cuArrayDestroy(from));
    DRIVER(cuArrayDestroy(to));
    FAILS(cuArrayDestroy(NULL), CUDA_ERROR_INVALID_HANDLE);
}

static void CUDA_CB double_first(void *numbers)
{
    *(unsigned *)numbers *= 2;
}

// One after the other: a fill, a kernel, a copy to the host, a host function. The copy and the kernel are changed later.
static void graphs()
{
    CUgraph graph, clone;
    CUgraphExec run;
    CUgraphNode nodes[4], found[4], copied;
    CUgraphNodeType type;
    CUmodule module;
    CUfunction scale;
    CUdeviceptr data;
    size_t count = 4;
    unsigned n = N;
    void *arguments[] = {&data, &n};
    DRIVER(cuModuleLoadData(&module, PTX));
    DRIVER(cuModuleGetFunction(&scale, module, "scale"));
    DRIVER(cuMemAlloc(&data, sizeof host));
    DRIVER(cuGraphCreate(&graph, 0));
    const CUDA_MEMSET_NODE_PARAMS fill = {data, 0, 7, 4, N, 1};
    CUDA_KERNEL_NODE_PARAMS kernel = {scale, 4, 1, 1, 32, 1, 1, 0, arguments, NULL, NULL, NULL};
    CUDA_MEMCPY3D copy = {};
    copy.srcMemoryType = CU_MEMORYTYPE_DEVICE, copy.srcDevice = data;
    copy.dstMemoryType = CU_MEMORYTYPE_HOST, copy.dstHost = host;
    copy.WidthInBytes = sizeof host, copy.Height = copy.Depth = 1;
    const CUDA_HOST_NODE_PARAMS call = {double_first, host};
    DRIVER(cuGraphAddMemsetNode(&nodes[0], graph, NULL, 0, &fill, NULL));
    DRIVER(cuGraphAddKernelNode(&nodes[1], graph, &nodes[0], 1, &kernel));
    DRIVER(cuGraphAddMemcpyNode(&nodes[2], graph, NULL, 0, &copy, NULL));
    DRIVER(cuGraphAddDependencies(graph, &nodes[1], &nodes[2], NULL, 1));
    DRIVER(cuGraphAddHostNode(&nodes[3], graph, &nodes[2], 1, &call));
    DRIVER(cuGraphGetNodes(graph, found, &count));
    CHECK(count == 4);
    DRIVER(cuGraphNodeGetType(nodes[2], &type));
    CHECK(type == CU_GRAPH_NODE_TYPE_MEMCPY);
    DRIVER(cuGraphKernelNodeGetParams(nodes[1], &kernel));
    CHECK(kernel.func == scale && kernel.gridDimX == 4 && kernel.blockDimX == 32);
    DRIVER(cuGraphMemcpyNodeGetParams(nodes[2], &copy));
    CHECK(copy.srcDevice == data && copy.dstHost == host && copy.WidthInBytes == sizeof host);
    DRIVER(cuGraphInstantiate(&run, graph, 0));
    DRIVER(cuGraphLaunch(run, 0));
    DRIVER(cuCtxSynchronize());
    CHECK(host[0] == 2 * host[1] && host[1] == host[N - 1] && host[1] % 7 == 0 && host[1] > 0);

    copy.WidthInBytes = 4, copy.srcXInBytes = 4 * (N - 1);
    kernel.gridDimX = 1; // the elements above 31 remain 7
    host[0] = host[1] = 0;
    DRIVER(cuGraphExecKernelNodeSetParams(run, nodes[1], &kernel));
    DRIVER(cuGraphExecMemcpyNodeSetParams(run, nodes[2], &copy, NULL));
    DRIVER(cuGraphLaunch(run, 0));
    DRIVER(cuCtxSynchronize());
    CHECK(host[0] == 14 && host[1] == 0);
    DRIVER(cuGraphClone(&clone, graph));
    DRIVER(cuGraphNodeFindInClone(&copied, nodes[2], clone));
    DRIVER(cuGraphDestroyNode(copied));
    DRIVER(cuGraphGetEdges(clone, NULL, NULL, NULL, &count));
    CHECK(count == 1);
    DRIVER(cuGraphExecDestroy(run));
    DRIVER(cuGraphDestroy(clone));
    DRIVER(cuGraphDestroy(graph));
    copy.srcMemoryType = CU_MEMORYTYPE_ARRAY; // without an array
    FAILS(cuGraphMemcpyNodeSetParams(nodes[2], &copy), CUDA_ERROR_INVALID_HANDLE);
    DRIVER(cuMemFree(data));
    DRIVER(cuModuleUnload(module));
}

static void pools()
{
    CUmemoryPool pool, before;
    CUmemPoolProps properties = {};
    CUdeviceptr data;
    cuuint64_t used = 0, kept = 1 << 20;
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    DRIVER(cuMemPoolCreate(&pool, &properties));
    DRIVER(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &kept));
    DRIVER(cuMemAllocFromPoolAsync(&data, sizeof host, pool, 0));
    DRIVER(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
    CHECK(used >= sizeof host);
    DRIVER(cuMemsetD32Async(data, 5, N, 0));
    CHECK(first_of(data) == 5);
    DRIVER(cuMemFreeAsync(data, 0));
    DRIVER(cuDeviceGetMemPool(&before, 0));
    DRIVER(cuDeviceSetMemPool(0, pool));
    DRIVER(cuDeviceSetMemPool(0, before));
    DRIVER(cuDeviceGetDefaultMemPool(&before, 0));
    FAILS(cuMemPoolDestroy(before), CUDA_ERROR_INVALID_VALUE);
    CUstream stream;
    CUcontext context;
    DRIVER(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    DRIVER(cuCtxPopCurrent(&context)); // a stream implies its context
    DRIVER(cuMemAllocFromPoolAsync(&data, sizeof host, pool, stream));
    DRIVER(cuMemFreeAsync(data, stream));
    FAILS(cuMemAllocFromPoolAsync(&data, sizeof host, pool, 0), CUDA_ERROR_INVALID_CONTEXT);
    DRIVER(cuCtxPushCurrent(context));
    DRIVER(cuStreamDestroy(stream));
    DRIVER(cuMemPoolTrimTo(pool, 0));
    DRIVER(cuMemPoolDestroy(pool));
    FAILS(cuDeviceGetMemPool(&before, 7), CUDA_ERROR_INVALID_DEVICE);
}

static void names()
{
    const char *text;
    CUresult (*count_devices)(int *);
    CUdriverProcAddressQueryResult status;
    void *function;
    int count = 0;
    DRIVER(cuGetErrorName(CUDA_ERROR_INVALID_PTX, &text));
    CHECK(strcmp(text, "CUDA_ERROR_INVALID_PTX") == 0);
    DRIVER(cuGetErrorString(CUDA_ERROR_OUT_OF_MEMORY, &text));
    CHECK(strcmp(text, "out of memory") == 0);
    FAILS(cuGetErrorName((CUresult)12345, &text), CUDA_ERROR_INVALID_VALUE);
    CHECK(text == NULL);
    DRIVER(cuGetProcAddress("cuDeviceGetCount", (void **)&count_devices, CUDA_VERSION, CU_GET_PROC_ADDRESS_DEFAULT, &status));
    DRIVER(count_devices(&count));
    CHECK(count >= 1 && status == CU_GET_PROC_ADDRESS_SUCCESS);
    FAILS(cuGetProcAddress("cuNoSuch", &function, CUDA_VERSION, CU_GET_PROC_ADDRESS_DEFAULT, &status), CUDA_ERROR_NOT_FOUND);
    CHECK(status == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
}

int main()
{
    CUcontext context, current;
    before_the_start();
    devices_and_contexts(&context);
    modules_and_launches();
    ways_to_load();
    memory();
    arrays_and_textures();
    graphs();
    pools();
    names();
    DRIVER(cuDevicePrimaryCtxRelease(0));
    DRIVER(cuCtxPopCurrent(&current));
    CHECK(current == context);
    FAILS(cuCtxSynchronize(), CUDA_ERROR_INVALID_CONTEXT);
    printf("PASS\n");
}
