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
    NEED(name, CUDA_ERROR_INVALID_VALUE);
    *name = NULL;
    for (size_t k = 0; k < sizeof NAMES / sizeof *NAMES; k++)
        if (NAMES[k].error == error)
            *name = NAMES[k].name;
    return *name ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

// Errors of both APIs have the same description.
API CUresult cuGetErrorString(CUresult error, const char **text)
{
    const char *name;
    NEED(text, CUDA_ERROR_INVALID_VALUE);
    *text = NULL;
    RETURN_IF(cuGetErrorName(error, &name));
    *text = cudaGetErrorString((cudaError_t)error);
    return CUDA_SUCCESS;
}

// ---- Functions

// Of two entries with the same name, the later one applies from its CUDA version on.
typedef struct Named {
    const char *name;
    void *function;
    int since;
} Named;

CUresult cuCtxCreate_v2(CUcontext *context, unsigned flags, CUdevice device);
CUresult cuGetProcAddress(const char *name, void **function, int version, cuuint64_t flags,
                          CUdriverProcAddressQueryResult *status);

#define CALL_NAMED(function) {#function, (void *)function, 0} // cuda.h's macro maps the name to its version
static const Named FUNCTIONS[] = {
    CALL_NAMED(cuCtxDestroy), CALL_NAMED(cuCtxPushCurrent), CALL_NAMED(cuCtxPopCurrent),
    CALL_NAMED(cuCtxSetCurrent), CALL_NAMED(cuCtxGetCurrent), CALL_NAMED(cuCtxGetDevice),
    CALL_NAMED(cuCtxGetFlags), CALL_NAMED(cuCtxGetApiVersion), CALL_NAMED(cuCtxSynchronize),
    CALL_NAMED(cuCtxSetLimit), CALL_NAMED(cuCtxGetLimit), CALL_NAMED(cuCtxSetCacheConfig),
    CALL_NAMED(cuCtxGetStreamPriorityRange), CALL_NAMED(cuDevicePrimaryCtxRetain),
    CALL_NAMED(cuDevicePrimaryCtxRelease), CALL_NAMED(cuDevicePrimaryCtxSetFlags),
    CALL_NAMED(cuDevicePrimaryCtxGetState), CALL_NAMED(cuDevicePrimaryCtxReset), CALL_NAMED(cuInit),
    CALL_NAMED(cuDriverGetVersion), CALL_NAMED(cuDeviceGetCount), CALL_NAMED(cuDeviceGet),
    CALL_NAMED(cuDeviceGetName), CALL_NAMED(cuDeviceGetUuid), CALL_NAMED(cuDeviceTotalMem),
    CALL_NAMED(cuDeviceGetAttribute), CALL_NAMED(cuDeviceGetProperties), CALL_NAMED(cuDeviceCanAccessPeer),
    CALL_NAMED(cuCtxEnablePeerAccess), CALL_NAMED(cuCtxDisablePeerAccess),
    CALL_NAMED(cuCtxGetCacheConfig), CALL_NAMED(cuCtxSetSharedMemConfig), CALL_NAMED(cuCtxGetSharedMemConfig),
    CALL_NAMED(cuFuncSetSharedMemConfig),
    CALL_NAMED(cuStreamCreate), CALL_NAMED(cuStreamCreateWithPriority), CALL_NAMED(cuStreamDestroy),
    CALL_NAMED(cuStreamSynchronize), CALL_NAMED(cuStreamQuery), CALL_NAMED(cuStreamWaitEvent),
    CALL_NAMED(cuStreamAddCallback), CALL_NAMED(cuEventCreate), CALL_NAMED(cuEventDestroy),
    CALL_NAMED(cuEventRecord), CALL_NAMED(cuEventRecordWithFlags), CALL_NAMED(cuEventQuery),
    CALL_NAMED(cuEventSynchronize), CALL_NAMED(cuEventElapsedTime), CALL_NAMED(cuStreamBeginCapture),
    CALL_NAMED(cuStreamEndCapture), CALL_NAMED(cuStreamIsCapturing), CALL_NAMED(cuGraphInstantiateWithFlags),
    CALL_NAMED(cuGraphLaunch), CALL_NAMED(cuGraphExecDestroy), CALL_NAMED(cuGraphDestroy),
    CALL_NAMED(cuLaunchKernel), CALL_NAMED(cuLaunchCooperativeKernel), CALL_NAMED(cuLaunchKernelEx),
    CALL_NAMED(cuLaunchHostFunc), CALL_NAMED(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags),
    CALL_NAMED(cuOccupancyMaxActiveBlocksPerMultiprocessor), CALL_NAMED(cuOccupancyMaxPotentialBlockSize),
    CALL_NAMED(cuMemGetInfo), CALL_NAMED(cuMemAlloc), CALL_NAMED(cuMemAllocPitch),
    CALL_NAMED(cuMemAllocManaged), CALL_NAMED(cuMemFree), CALL_NAMED(cuMemAllocAsync),
    CALL_NAMED(cuMemFreeAsync), CALL_NAMED(cuMemHostAlloc), CALL_NAMED(cuMemAllocHost),
    CALL_NAMED(cuMemFreeHost), CALL_NAMED(cuMemHostRegister), CALL_NAMED(cuMemHostUnregister),
    CALL_NAMED(cuMemHostGetDevicePointer), CALL_NAMED(cuMemHostGetFlags), CALL_NAMED(cuMemGetAddressRange),
    CALL_NAMED(cuMemGetAllocationGranularity), CALL_NAMED(cuMemCreate), CALL_NAMED(cuMemRelease),
    CALL_NAMED(cuMemGetAllocationPropertiesFromHandle), CALL_NAMED(cuMemExportToShareableHandle),
    CALL_NAMED(cuMemImportFromShareableHandle), CALL_NAMED(cuMemAddressReserve), CALL_NAMED(cuMemAddressFree),
    CALL_NAMED(cuMemMap), CALL_NAMED(cuMemUnmap), CALL_NAMED(cuMemSetAccess), CALL_NAMED(cuMemGetAccess),
    CALL_NAMED(cuPointerGetAttribute), CALL_NAMED(cuMemcpy), CALL_NAMED(cuMemcpyHtoD), CALL_NAMED(cuMemcpyDtoH),
    CALL_NAMED(cuMemcpyDtoD), CALL_NAMED(cuMemcpyAsync), CALL_NAMED(cuMemcpyHtoDAsync),
    CALL_NAMED(cuMemcpyDtoHAsync), CALL_NAMED(cuMemcpyDtoDAsync), CALL_NAMED(cuMemcpy2D),
    CALL_NAMED(cuMemcpy2DUnaligned), CALL_NAMED(cuMemcpy2DAsync), CALL_NAMED(cuMemsetD8),
    CALL_NAMED(cuMemsetD16), CALL_NAMED(cuMemsetD32), CALL_NAMED(cuMemsetD2D8), CALL_NAMED(cuMemsetD2D16),
    CALL_NAMED(cuMemsetD2D32), CALL_NAMED(cuMemsetD8Async), CALL_NAMED(cuMemsetD16Async),
    CALL_NAMED(cuMemsetD32Async), CALL_NAMED(cuModuleLoadDataEx), CALL_NAMED(cuModuleLoadData),
    CALL_NAMED(cuArrayCreate), CALL_NAMED(cuArray3DCreate), CALL_NAMED(cuArrayDestroy),
    CALL_NAMED(cuTexObjectCreate), CALL_NAMED(cuTexObjectDestroy),
    CALL_NAMED(cuSurfObjectCreate), CALL_NAMED(cuSurfObjectDestroy),
    CALL_NAMED(cuModuleLoadFatBinary), CALL_NAMED(cuModuleLoad), CALL_NAMED(cuModuleUnload),
    CALL_NAMED(cuModuleGetFunction), CALL_NAMED(cuModuleGetGlobal), CALL_NAMED(cuLibraryLoadData),
    CALL_NAMED(cuLibraryLoadFromFile), CALL_NAMED(cuLibraryUnload), CALL_NAMED(cuLibraryGetKernel),
    CALL_NAMED(cuLibraryGetModule), CALL_NAMED(cuLibraryGetGlobal), CALL_NAMED(cuKernelGetFunction),
    CALL_NAMED(cuLinkCreate), CALL_NAMED(cuLinkAddData), CALL_NAMED(cuLinkAddFile), CALL_NAMED(cuLinkComplete),
    CALL_NAMED(cuLinkDestroy), CALL_NAMED(cuFuncGetAttribute), CALL_NAMED(cuFuncSetAttribute),
    CALL_NAMED(cuKernelGetAttribute), CALL_NAMED(cuKernelSetAttribute), CALL_NAMED(cuFuncSetCacheConfig),
    CALL_NAMED(cuFuncGetName), CALL_NAMED(cuGetExportTable), CALL_NAMED(cuGetErrorName), CALL_NAMED(cuGetErrorString),
    CALL_NAMED(cuIpcGetMemHandle), CALL_NAMED(cuIpcOpenMemHandle), CALL_NAMED(cuIpcCloseMemHandle),
    CALL_NAMED(cuIpcGetEventHandle), CALL_NAMED(cuIpcOpenEventHandle),
    {"cuCtxCreate", (void *)cuCtxCreate_v2, 0}, {"cuGetProcAddress", (void *)cuGetProcAddress, 12000},
#if CUDA_VERSION >= 13000
    {"cuCtxCreate", (void *)cuCtxCreate, 13000},
#endif
};

static void *function_named(const char *name, int version)
{
    void *found = NULL;
    for (size_t k = 0; k < sizeof FUNCTIONS / sizeof *FUNCTIONS; k++)
        if (strcmp(FUNCTIONS[k].name, name) == 0 && version >= FUNCTIONS[k].since)
            found = FUNCTIONS[k].function;
    return found;
}

// The flags select the default stream's meaning, which makes no difference here.
API CUresult cuGetProcAddress(const char *name, void **function, int version, cuuint64_t flags,
                              CUdriverProcAddressQueryResult *status)
{
    UNUSED(flags);
    NEED(name && *name && function, CUDA_ERROR_INVALID_VALUE);
    *function = function_named(name, version);
    if (status)
        *status = *function ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return *function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

// NVRTC requests internal tables of NVIDIA's driver, and works without them.
API CUresult cuGetExportTable(const void **table, const CUuuid *id)
{
    NEED(table && id, CUDA_ERROR_INVALID_VALUE);
    *table = NULL;
    return CUDA_ERROR_NOT_FOUND;
}

static cudaError_t entry_point(const char *name, void **function, int version,
                               enum cudaDriverEntryPointQueryResult *status)
{
    STOP_IF_BROKEN();
    REQUIRE(name && *name && function, cudaErrorInvalidValue);
    *function = function_named(name, version);
    if (status)
        *status = *function ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
    if (!*function) // a program may check neither
        fprintf(stderr, "simulator: the simulator has no %s: the address that the program gets is NULL\n", name);
    return cudaSuccess;
}

API cudaError_t cudaGetDriverEntryPointByVersion(const char *name, void **function, unsigned version,
                                                 unsigned long long flags,
                                                 enum cudaDriverEntryPointQueryResult *status)
{
    UNUSED(flags);
    return entry_point(name, function, (int)version, status);
}

API cudaError_t cudaGetDriverEntryPoint(const char *name, void **function, unsigned long long flags,
                                        enum cudaDriverEntryPointQueryResult *status)
{
    UNUSED(flags);
    return entry_point(name, function, CUDART_VERSION, status);
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
