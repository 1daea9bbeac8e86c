// names.c: driver API: error names, and lookup of functions by name.
#include "driver/driver.h"

// ---- Errors

static const struct {
    CUresult error;
    const char *name;
} NAMES[] = {
#define NAME(error) {error, #error}
    NAME(CUDA_SUCCESS), NAME(CUDA_ERROR_INVALID_VALUE), NAME(CUDA_ERROR_OUT_OF_MEMORY),
    NAME(CUDA_ERROR_NOT_INITIALIZED), NAME(CUDA_ERROR_DEINITIALIZED), NAME(CUDA_ERROR_NO_DEVICE),
    NAME(CUDA_ERROR_INVALID_DEVICE), NAME(CUDA_ERROR_INVALID_IMAGE), NAME(CUDA_ERROR_INVALID_CONTEXT),
    NAME(CUDA_ERROR_NO_BINARY_FOR_GPU), NAME(CUDA_ERROR_UNSUPPORTED_LIMIT),
    NAME(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED), NAME(CUDA_ERROR_INVALID_PTX),
    NAME(CUDA_ERROR_JIT_COMPILER_NOT_FOUND), NAME(CUDA_ERROR_UNSUPPORTED_PTX_VERSION),
    NAME(CUDA_ERROR_INVALID_SOURCE), NAME(CUDA_ERROR_FILE_NOT_FOUND),
    NAME(CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND), NAME(CUDA_ERROR_OPERATING_SYSTEM),
    NAME(CUDA_ERROR_INVALID_HANDLE), NAME(CUDA_ERROR_ILLEGAL_STATE), NAME(CUDA_ERROR_LOSSY_QUERY),
    NAME(CUDA_ERROR_NOT_FOUND), NAME(CUDA_ERROR_NOT_READY), NAME(CUDA_ERROR_ILLEGAL_ADDRESS),
    NAME(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES), NAME(CUDA_ERROR_LAUNCH_TIMEOUT),
    NAME(CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE), NAME(CUDA_ERROR_CONTEXT_IS_DESTROYED), NAME(CUDA_ERROR_ASSERT),
    NAME(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED), NAME(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED),
    NAME(CUDA_ERROR_ILLEGAL_INSTRUCTION), NAME(CUDA_ERROR_MISALIGNED_ADDRESS),
    NAME(CUDA_ERROR_INVALID_ADDRESS_SPACE), NAME(CUDA_ERROR_INVALID_PC), NAME(CUDA_ERROR_LAUNCH_FAILED),
    NAME(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE), NAME(CUDA_ERROR_NOT_PERMITTED),
    NAME(CUDA_ERROR_NOT_SUPPORTED), NAME(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED),
    NAME(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED), NAME(CUDA_ERROR_STREAM_CAPTURE_MERGE),
    NAME(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED), NAME(CUDA_ERROR_STREAM_CAPTURE_UNJOINED),
    NAME(CUDA_ERROR_STREAM_CAPTURE_ISOLATION), NAME(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT),
    NAME(CUDA_ERROR_CAPTURED_EVENT), NAME(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD),
    NAME(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE), NAME(CUDA_ERROR_UNKNOWN),
};

API CUresult cuGetErrorName(CUresult error, const char **name)
{
    CU_REQUIRE(name, CUDA_ERROR_INVALID_VALUE);
    *name = NULL;
    for (size_t k = 0; k < sizeof NAMES / sizeof *NAMES; k++)
        if (NAMES[k].error == error)
            *name = NAMES[k].name;
    return *name ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

// Errors have equal descriptions in both APIs.
API CUresult cuGetErrorString(CUresult error, const char **text)
{
    const char *name;
    CU_REQUIRE(text, CUDA_ERROR_INVALID_VALUE);
    *text = NULL;
    CU_RETURN_IF_ERROR(cuGetErrorName(error, &name));
    *text = cudaGetErrorString((cudaError_t)error);
    return CUDA_SUCCESS;
}

// ---- Functions

// A function of the driver. If two entries have the same name, the later one applies from CUDA version min_version on.
typedef struct FunctionEntry {
    const char *name;
    void *function;
    int min_version;
} FunctionEntry;

CUresult cuCtxCreate_v2(CUcontext *context, unsigned flags, CUdevice device);
CUresult cuGetProcAddress(const char *name, void **function, int version, cuuint64_t flags,
                          CUdriverProcAddressQueryResult *status);

#define ENTRY_SINCE(function, version) {#function, (void *)function, version} // cuda.h's macro maps the name to its version
#define ENTRY(function) {#function, (void *)function, 0}
static const FunctionEntry FUNCTIONS[] = {
    ENTRY(cuCtxDestroy), ENTRY(cuCtxPushCurrent), ENTRY(cuCtxPopCurrent),
    ENTRY(cuCtxSetCurrent), ENTRY(cuCtxGetCurrent), ENTRY(cuCtxGetDevice),
    ENTRY(cuCtxGetFlags), ENTRY(cuCtxGetApiVersion), ENTRY(cuCtxSynchronize),
    ENTRY(cuCtxSetLimit), ENTRY(cuCtxGetLimit), ENTRY(cuCtxSetCacheConfig),
    ENTRY(cuCtxGetStreamPriorityRange), ENTRY(cuDevicePrimaryCtxRetain),
    ENTRY(cuDevicePrimaryCtxRelease), ENTRY(cuDevicePrimaryCtxSetFlags),
    ENTRY(cuDevicePrimaryCtxGetState), ENTRY(cuDevicePrimaryCtxReset), ENTRY(cuInit),
    ENTRY(cuDriverGetVersion), ENTRY(cuDeviceGetCount), ENTRY(cuDeviceGet),
    ENTRY(cuDeviceGetName), ENTRY(cuDeviceGetUuid), ENTRY(cuDeviceTotalMem),
    ENTRY(cuDeviceGetAttribute), ENTRY(cuDeviceGetProperties), ENTRY(cuDeviceCanAccessPeer),
    ENTRY(cuCtxEnablePeerAccess), ENTRY(cuCtxDisablePeerAccess),
    ENTRY(cuCtxGetCacheConfig), ENTRY(cuCtxSetSharedMemConfig), ENTRY(cuCtxGetSharedMemConfig),
    ENTRY(cuFuncSetSharedMemConfig),
    ENTRY(cuStreamCreate), ENTRY(cuStreamCreateWithPriority), ENTRY(cuStreamDestroy),
    ENTRY(cuStreamSynchronize), ENTRY(cuStreamQuery), ENTRY(cuStreamWaitEvent),
    ENTRY(cuStreamGetPriority), ENTRY(cuStreamGetFlags), ENTRY(cuStreamGetId), ENTRY(cuStreamGetAttribute),
    ENTRY(cuStreamSetAttribute), ENTRY(cuStreamCopyAttributes), ENTRY(cuStreamAttachMemAsync),
    ENTRY(cuStreamAddCallback), ENTRY(cuEventCreate), ENTRY(cuEventDestroy),
    ENTRY(cuEventRecord), ENTRY(cuEventRecordWithFlags), ENTRY(cuEventQuery),
    ENTRY(cuEventSynchronize), ENTRY(cuEventElapsedTime), ENTRY(cuStreamBeginCapture),
    ENTRY(cuStreamEndCapture), ENTRY(cuStreamIsCapturing),
    ENTRY(cuLaunchKernel), ENTRY(cuLaunchCooperativeKernel), ENTRY(cuLaunchKernelEx),
    ENTRY(cuLaunchHostFunc), ENTRY(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags),
    ENTRY(cuOccupancyMaxActiveBlocksPerMultiprocessor), ENTRY(cuOccupancyMaxPotentialBlockSize),
    ENTRY(cuOccupancyMaxPotentialBlockSizeWithFlags),
    ENTRY(cuMemGetInfo), ENTRY(cuMemAlloc), ENTRY(cuMemAllocPitch),
    ENTRY(cuMemAllocManaged), ENTRY(cuMemFree), ENTRY(cuMemAllocAsync),
    ENTRY(cuMemFreeAsync), ENTRY(cuMemHostAlloc), ENTRY(cuMemAllocHost),
    ENTRY(cuMemFreeHost), ENTRY(cuMemHostRegister), ENTRY(cuMemHostUnregister),
    ENTRY(cuMemHostGetDevicePointer), ENTRY(cuMemHostGetFlags), ENTRY(cuMemGetAddressRange),
    ENTRY(cuMemGetAllocationGranularity), ENTRY(cuMemCreate), ENTRY(cuMemRelease),
    ENTRY(cuMemGetAllocationPropertiesFromHandle), ENTRY(cuMemExportToShareableHandle),
    ENTRY(cuMemImportFromShareableHandle), ENTRY(cuMemAddressReserve), ENTRY(cuMemAddressFree),
    ENTRY(cuMemMap), ENTRY(cuMemUnmap), ENTRY(cuMemSetAccess), ENTRY(cuMemGetAccess),
    ENTRY(cuPointerGetAttribute), ENTRY(cuMemcpy), ENTRY(cuMemcpyHtoD), ENTRY(cuMemcpyDtoH),
    ENTRY(cuMemcpyDtoD), ENTRY(cuMemcpyAsync), ENTRY(cuMemcpyHtoDAsync),
    ENTRY(cuMemcpyDtoHAsync), ENTRY(cuMemcpyDtoDAsync), ENTRY(cuMemcpy2D),
    ENTRY(cuMemcpy2DUnaligned), ENTRY(cuMemcpy2DAsync), ENTRY(cuMemsetD8),
    ENTRY(cuMemsetD16), ENTRY(cuMemsetD32), ENTRY(cuMemsetD2D8), ENTRY(cuMemsetD2D16),
    ENTRY(cuMemsetD2D32), ENTRY(cuMemsetD8Async), ENTRY(cuMemsetD16Async),
    ENTRY(cuMemsetD32Async), ENTRY(cuModuleLoadDataEx), ENTRY(cuModuleLoadData),
    ENTRY(cuArrayCreate), ENTRY(cuArray3DCreate), ENTRY(cuArrayDestroy),
    ENTRY(cuArrayGetDescriptor), ENTRY(cuArray3DGetDescriptor), ENTRY(cuMemcpy3D), ENTRY(cuMemcpy3DAsync),
    ENTRY(cuMemcpyHtoA), ENTRY(cuMemcpyHtoAAsync), ENTRY(cuMemcpyDtoA), ENTRY(cuMemcpyAtoH),
    ENTRY(cuMemcpyAtoHAsync), ENTRY(cuMemcpyAtoD), ENTRY(cuMemcpyAtoA),
    ENTRY(cuTexObjectCreate), ENTRY(cuTexObjectDestroy),
    ENTRY(cuSurfObjectCreate), ENTRY(cuSurfObjectDestroy),
    ENTRY(cuModuleLoadFatBinary), ENTRY(cuModuleLoad), ENTRY(cuModuleUnload),
    ENTRY(cuModuleGetFunction), ENTRY(cuModuleGetGlobal), ENTRY(cuLibraryLoadData),
    ENTRY(cuLibraryLoadFromFile), ENTRY(cuLibraryUnload), ENTRY(cuLibraryGetKernel),
    ENTRY(cuLibraryGetModule), ENTRY(cuLibraryGetGlobal), ENTRY(cuKernelGetFunction),
    ENTRY(cuLinkCreate), ENTRY(cuLinkAddData), ENTRY(cuLinkAddFile), ENTRY(cuLinkComplete),
    ENTRY(cuLinkDestroy), ENTRY(cuFuncGetAttribute), ENTRY(cuFuncSetAttribute),
    ENTRY(cuKernelGetAttribute), ENTRY(cuKernelSetAttribute), ENTRY(cuFuncSetCacheConfig),
    ENTRY(cuFuncGetName), ENTRY(cuGetExportTable), ENTRY(cuGetErrorName), ENTRY(cuGetErrorString),
    ENTRY(cuIpcGetMemHandle), ENTRY(cuIpcOpenMemHandle), ENTRY(cuIpcCloseMemHandle),
    ENTRY(cuIpcGetEventHandle), ENTRY(cuIpcOpenEventHandle),
    ENTRY(cuGraphCreate), ENTRY(cuGraphDestroy), ENTRY(cuGraphClone), ENTRY(cuGraphGetNodes),
    ENTRY(cuGraphGetRootNodes), ENTRY(cuGraphDebugDotPrint), ENTRY(cuGraphNodeFindInClone),
    ENTRY(cuGraphNodeGetType), ENTRY(cuGraphDestroyNode), ENTRY(cuGraphInstantiateWithFlags),
    {"cuGraphInstantiate", (void *)cuGraphInstantiateWithFlags, 12000}, ENTRY(cuGraphInstantiateWithParams),
    ENTRY(cuGraphExecDestroy), ENTRY(cuGraphExecGetFlags), ENTRY(cuGraphExecUpdate),
    ENTRY(cuGraphUpload), ENTRY(cuGraphLaunch), ENTRY(cuGraphNodeSetEnabled),
    ENTRY(cuGraphNodeGetEnabled), ENTRY(cuGraphExecChildGraphNodeSetParams),
    ENTRY(cuGraphExecEventRecordNodeSetEvent), ENTRY(cuGraphExecEventWaitNodeSetEvent),
    ENTRY(cuGraphAddEmptyNode), ENTRY(cuGraphAddChildGraphNode),
    ENTRY(cuGraphChildGraphNodeGetGraph), ENTRY(cuGraphAddEventRecordNode),
    ENTRY(cuGraphEventRecordNodeGetEvent), ENTRY(cuGraphEventRecordNodeSetEvent),
    ENTRY(cuGraphAddEventWaitNode), ENTRY(cuGraphEventWaitNodeGetEvent),
    ENTRY(cuGraphEventWaitNodeSetEvent), ENTRY(cuGraphAddHostNode), ENTRY(cuGraphHostNodeGetParams),
    ENTRY(cuGraphHostNodeSetParams), ENTRY(cuGraphExecHostNodeSetParams),
    ENTRY(cuGraphMemsetNodeGetParams), ENTRY(cuGraphMemsetNodeSetParams),
    ENTRY(cuGraphAddMemAllocNode), ENTRY(cuGraphMemAllocNodeGetParams),
    ENTRY(cuGraphAddMemFreeNode), ENTRY(cuGraphMemFreeNodeGetParams),
    ENTRY(cuGraphKernelNodeCopyAttributes), ENTRY(cuGraphKernelNodeGetAttribute),
    ENTRY(cuGraphKernelNodeSetAttribute), ENTRY(cuGraphAddMemsetNode),
    ENTRY(cuGraphExecMemsetNodeSetParams), ENTRY(cuGraphAddKernelNode),
    ENTRY(cuGraphKernelNodeSetParams), ENTRY(cuGraphExecKernelNodeSetParams),
    ENTRY(cuGraphKernelNodeGetParams), ENTRY(cuGraphAddMemcpyNode),
    ENTRY(cuGraphMemcpyNodeSetParams), ENTRY(cuGraphExecMemcpyNodeSetParams),
    ENTRY(cuGraphMemcpyNodeGetParams), ENTRY(cuMemPoolCreate), ENTRY(cuMemPoolDestroy),
    ENTRY(cuMemPoolTrimTo), ENTRY(cuMemPoolGetAttribute), ENTRY(cuMemPoolSetAttribute),
    ENTRY(cuMemPoolGetAccess), ENTRY(cuMemPoolSetAccess), ENTRY(cuMemPoolExportToShareableHandle),
    ENTRY(cuMemPoolImportFromShareableHandle), ENTRY(cuMemPoolExportPointer),
    ENTRY(cuMemPoolImportPointer), ENTRY(cuMemAllocFromPoolAsync), ENTRY(cuDeviceGetDefaultMemPool),
    ENTRY(cuDeviceGetMemPool), ENTRY(cuDeviceSetMemPool),
    {"cuCtxCreate", (void *)cuCtxCreate_v2, 0}, {"cuGetProcAddress", (void *)cuGetProcAddress, 12000},
#if CUDA_VERSION >= 13000
    {"cuCtxCreate", (void *)cuCtxCreate, 13000},
    ENTRY_SINCE(cuGraphGetEdges, 12030), ENTRY_SINCE(cuGraphNodeGetDependencies, 12030),
    ENTRY_SINCE(cuGraphNodeGetDependentNodes, 12030), ENTRY_SINCE(cuGraphAddDependencies, 12030),
    ENTRY_SINCE(cuGraphRemoveDependencies, 12030), ENTRY_SINCE(cuGraphAddNode, 12030),
    ENTRY(cuGraphNodeSetParams), ENTRY(cuGraphExecNodeSetParams), ENTRY(cuGraphConditionalHandleCreate),
    ENTRY(cuStreamBeginCaptureToGraph), ENTRY_SINCE(cuStreamGetCaptureInfo, 12030),
    ENTRY_SINCE(cuStreamUpdateCaptureDependencies, 12030), ENTRY(cuThreadExchangeStreamCaptureMode),
#endif
};

static void *find_function(const char *name, int version)
{
    void *found = NULL;
    for (size_t k = 0; k < sizeof FUNCTIONS / sizeof *FUNCTIONS; k++)
        if (strcmp(FUNCTIONS[k].name, name) == 0 && version >= FUNCTIONS[k].min_version)
            found = FUNCTIONS[k].function;
    return found;
}

// The flags select the kind of default stream, which makes no difference here.
API CUresult cuGetProcAddress(const char *name, void **function, int version, cuuint64_t flags,
                              CUdriverProcAddressQueryResult *status)
{
    UNUSED(flags);
    CU_REQUIRE(name && *name && function, CUDA_ERROR_INVALID_VALUE);
    *function = find_function(name, version);
    if (status)
        *status = *function ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return *function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

// NVRTC asks for internal tables of NVIDIA's driver, but works without them.
API CUresult cuGetExportTable(const void **table, const CUuuid *id)
{
    CU_REQUIRE(table && id, CUDA_ERROR_INVALID_VALUE);
    *table = NULL;
    return CUDA_ERROR_NOT_FOUND;
}

static cudaError_t get_entry_point(const char *name, void **function, int version,
                               enum cudaDriverEntryPointQueryResult *status)
{
    RETURN_IF_STICKY_ERROR();
    REQUIRE(name && *name && function, cudaErrorInvalidValue);
    *function = find_function(name, version);
    if (status)
        *status = *function ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
    if (!*function) // a program may check neither the pointer nor the status
        fprintf(stderr, "simulator: the simulator has no %s: the address that the program gets is NULL\n", name);
    return cudaSuccess;
}

API cudaError_t cudaGetDriverEntryPointByVersion(const char *name, void **function, unsigned version,
                                                 unsigned long long flags,
                                                 enum cudaDriverEntryPointQueryResult *status)
{
    UNUSED(flags);
    return get_entry_point(name, function, (int)version, status);
}

API cudaError_t cudaGetDriverEntryPoint(const char *name, void **function, unsigned long long flags,
                                        enum cudaDriverEntryPointQueryResult *status)
{
    UNUSED(flags);
    return get_entry_point(name, function, CUDART_VERSION, status);
}

PER_THREAD(cudaGetDriverEntryPointByVersion, _ptsz);

// ---- Older versions of functions

#undef cuGetProcAddress
API CUresult cuGetProcAddress(const char *name, void **function, int version, cuuint64_t flags)
{
    return cuGetProcAddress_v2(name, function, version, flags, NULL);
}

#ifdef cuEventElapsedTime
static CUresult elapsed_time(float *ms, CUevent start, CUevent end)
{
    return cuEventElapsedTime(ms, start, end);
}
#undef cuEventElapsedTime
API CUresult cuEventElapsedTime(float *ms, CUevent start, CUevent end)
{
    return elapsed_time(ms, start, end);
}
#endif
