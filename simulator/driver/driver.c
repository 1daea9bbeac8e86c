// driver.c: the CUDA driver API: devices, contexts, streams, events, launches.
#include "driver/driver.h"

CUresult sim_driver_error(cudaError_t error)
{
    switch (error) {
    case cudaErrorInvalidConfiguration:
    case cudaErrorInvalidPitchValue:
    case cudaErrorInvalidMemcpyDirection:
        return CUDA_ERROR_INVALID_VALUE;
    case cudaErrorInvalidSymbol:
        return CUDA_ERROR_NOT_FOUND;
    case cudaErrorInvalidDeviceFunction:
        return CUDA_ERROR_INVALID_HANDLE;
    default:
        return (CUresult)error;
    }
}

// ---- Contexts
//
// The device has one memory, which all of its contexts use; memory, streams and modules outlive a context.

typedef struct Context {
    int device;
    unsigned flags;
    bool primary;
    int retained; // of a primary one
} Context;

enum { MOST_DEVICES = 64, DEEPEST = 64 };

static _Atomic bool initialized;
static CUcontext primary[MOST_DEVICES]; // made when first asked for
static _Thread_local CUcontext current[DEEPEST];
static _Thread_local int depth;

CUresult sim_driver_begun(void)
{
    return initialized || sim_uses_runtime ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
}

static Context *context_of(CUcontext context)
{
    return sim_object_of(CONTEXT_HANDLE, context);
}

static CUresult new_context(int device, unsigned flags, bool is_primary, CUcontext *context)
{
    Context *c = calloc(1, sizeof *c);
    if (!c)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *c = (Context){.device = device, .flags = flags, .primary = is_primary};
    *context = sim_new_handle(CONTEXT_HANDLE, c);
    return *context ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult primary_context(int device, CUcontext *context)
{
    if (!primary[device])
        RETURN_IF(new_context(device, CU_CTX_SCHED_AUTO, true, &primary[device]));
    *context = primary[device];
    return CUDA_SUCCESS;
}

// The thread's current context, or NULL. Where the runtime has been used, that is the primary one.
static CUcontext current_context(void)
{
    int device;
    CUcontext context = depth > 0 ? current[depth - 1] : NULL;
    if (context || !sim_uses_runtime || CALL(cudaGetDevice(&device)) || primary_context(device, &context))
        return context;
    return context;
}

CUresult sim_context_is_current(void)
{
    NEED_CUINIT();
    HOLD_MEMORY();
    const CUcontext context = current_context();
    NEED(context, CUDA_ERROR_INVALID_CONTEXT);
    return context_of(context) ? CUDA_SUCCESS : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

// The thread's calls, also those of the runtime, go to the context's device from here on.
static CUresult use_device_of(CUcontext context)
{
    return context_of(context) ? CALL(cudaSetDevice(context_of(context)->device)) : CUDA_SUCCESS;
}

static CUresult push(CUcontext context)
{
    NEED(depth < DEEPEST, CUDA_ERROR_OUT_OF_MEMORY);
    current[depth++] = context;
    return use_device_of(context);
}

static CUresult check_device(CUdevice device)
{
    int count;
    NEED_CUINIT();
    RETURN_IF(CALL(cudaGetDeviceCount(&count)));
    return device >= 0 && device < count && device < MOST_DEVICES ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

static CUresult create_context(CUcontext *context, unsigned flags, CUdevice device)
{
    RETURN_IF(check_device(device));
    HOLD_MEMORY();
    NEED(context && (flags & ~(unsigned)CU_CTX_FLAGS_MASK) == 0, CUDA_ERROR_INVALID_VALUE);
    RETURN_IF(new_context(device, flags, false, context));
    return push(*context);
}

API CUresult cuCtxCreate_v2(CUcontext *context, unsigned flags, CUdevice device)
{
    return create_context(context, flags, device);
}

#if CUDA_VERSION >= 13000
API CUresult cuCtxCreate(CUcontext *context, CUctxCreateParams *params, unsigned flags, CUdevice device)
{
    NEED(!params || (params->numExecAffinityParams == 0 && !params->cigParams), CUDA_ERROR_NOT_SUPPORTED);
    return create_context(context, flags, device);
}
#endif

API CUresult cuCtxDestroy(CUcontext context)
{
    NEED_CUINIT();
    HOLD_MEMORY();
    NEED(context_of(context), CUDA_ERROR_INVALID_CONTEXT);
    NEED(!context_of(context)->primary, CUDA_ERROR_INVALID_CONTEXT);
    free(sim_end_handle(CONTEXT_HANDLE, context));
    if (depth > 0 && current[depth - 1] == context)
        depth--;
    return CUDA_SUCCESS;
}

API CUresult cuCtxPushCurrent(CUcontext context)
{
    NEED_CUINIT();
    HOLD_MEMORY();
    NEED(context_of(context), CUDA_ERROR_INVALID_CONTEXT);
    return push(context);
}

API CUresult cuCtxPopCurrent(CUcontext *context)
{
    NEED_CUINIT();
    HOLD_MEMORY();
    NEED(depth > 0, CUDA_ERROR_INVALID_CONTEXT);
    const CUcontext popped = current[--depth];
    if (context)
        *context = popped;
    return use_device_of(current_context());
}

API CUresult cuCtxSetCurrent(CUcontext context)
{
    NEED_CUINIT();
    HOLD_MEMORY();
    NEED(!context || context_of(context), CUDA_ERROR_INVALID_CONTEXT);
    depth -= depth > 0; // it takes the place of the one on top
    return context ? push(context) : CUDA_SUCCESS;
}

API CUresult cuCtxGetCurrent(CUcontext *context)
{
    NEED_CUINIT();
    HOLD_MEMORY();
    NEED(context, CUDA_ERROR_INVALID_VALUE);
    *context = current_context();
    return CUDA_SUCCESS;
}

API CUresult cuCtxGetDevice(CUdevice *device)
{
    NEED_CONTEXT();
    HOLD_MEMORY();
    NEED(device, CUDA_ERROR_INVALID_VALUE);
    *device = context_of(current_context())->device;
    return CUDA_SUCCESS;
}

API CUresult cuCtxGetFlags(unsigned *flags)
{
    NEED_CONTEXT();
    HOLD_MEMORY();
    NEED(flags, CUDA_ERROR_INVALID_VALUE);
    *flags = context_of(current_context())->flags;
    return CUDA_SUCCESS;
}

API CUresult cuCtxGetApiVersion(CUcontext context, unsigned *version)
{
    NEED_CUINIT();
    HOLD_MEMORY();
    NEED(version, CUDA_ERROR_INVALID_VALUE);
    NEED(context ? context_of(context) : context_of(current_context()), CUDA_ERROR_INVALID_CONTEXT);
    *version = 3020; // that of the functions whose names end in _v2
    return CUDA_SUCCESS;
}

API CUresult cuCtxSynchronize(void)
{
    NEED_CONTEXT();
    return CALL(cudaDeviceSynchronize());
}

API CUresult cuCtxSetLimit(CUlimit limit, size_t value)
{
    NEED_CONTEXT();
    return CALL(cudaDeviceSetLimit((enum cudaLimit)limit, value));
}

API CUresult cuCtxGetLimit(size_t *value, CUlimit limit)
{
    NEED_CONTEXT();
    return CALL(cudaDeviceGetLimit(value, (enum cudaLimit)limit));
}

API CUresult cuCtxSetCacheConfig(CUfunc_cache config)
{
    NEED_CONTEXT();
    return CALL(cudaDeviceSetCacheConfig((enum cudaFuncCache)config));
}

API CUresult cuCtxGetCacheConfig(CUfunc_cache *config)
{
    NEED_CONTEXT();
    return CALL(cudaDeviceGetCacheConfig((enum cudaFuncCache *)config));
}

API CUresult cuCtxSetSharedMemConfig(CUsharedconfig config)
{
    NEED_CONTEXT();
    return CALL(cudaDeviceSetSharedMemConfig((enum cudaSharedMemConfig)config));
}

API CUresult cuCtxGetSharedMemConfig(CUsharedconfig *config)
{
    NEED_CONTEXT();
    return CALL(cudaDeviceGetSharedMemConfig((enum cudaSharedMemConfig *)config));
}

API CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
    NEED_CONTEXT();
    return CALL(cudaDeviceGetStreamPriorityRange(least, greatest));
}

API CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    RETURN_IF(check_device(device));
    HOLD_MEMORY();
    NEED(context, CUDA_ERROR_INVALID_VALUE);
    RETURN_IF(primary_context(device, context));
    context_of(*context)->retained++;
    return CUDA_SUCCESS;
}

API CUresult cuDevicePrimaryCtxRelease(CUdevice device)
{
    CUcontext context;
    RETURN_IF(check_device(device));
    HOLD_MEMORY();
    RETURN_IF(primary_context(device, &context));
    NEED(context_of(context)->retained > 0, CUDA_ERROR_INVALID_CONTEXT);
    context_of(context)->retained--;
    return CUDA_SUCCESS;
}

API CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned flags)
{
    CUcontext context;
    RETURN_IF(check_device(device));
    HOLD_MEMORY();
    NEED((flags & ~(unsigned)CU_CTX_FLAGS_MASK) == 0, CUDA_ERROR_INVALID_VALUE);
    RETURN_IF(primary_context(device, &context));
    context_of(context)->flags = flags;
    return CUDA_SUCCESS;
}

API CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active)
{
    CUcontext context;
    RETURN_IF(check_device(device));
    HOLD_MEMORY();
    NEED(flags && active, CUDA_ERROR_INVALID_VALUE);
    RETURN_IF(primary_context(device, &context));
    *flags = context_of(context)->flags;
    *active = context_of(context)->retained > 0 || sim_uses_runtime;
    return CUDA_SUCCESS;
}

API CUresult cuDevicePrimaryCtxReset(CUdevice device)
{
    RETURN_IF(check_device(device));
    return CALL(cudaDeviceReset());
}

// ---- Start, and devices

API CUresult cuInit(unsigned flags)
{
    NEED(flags == 0, CUDA_ERROR_INVALID_VALUE);
    initialized = true;
    return CUDA_SUCCESS;
}

API CUresult cuDriverGetVersion(int *version)
{
    return CALL(cudaDriverGetVersion(version));
}

API CUresult cuDeviceGetCount(int *count)
{
    NEED_CUINIT();
    return CALL(cudaGetDeviceCount(count));
}

API CUresult cuDeviceGet(CUdevice *device, int number)
{
    NEED(device, CUDA_ERROR_INVALID_VALUE);
    RETURN_IF(check_device(number));
    *device = number;
    return CUDA_SUCCESS;
}

API CUresult cuDeviceGetName(char *name, int length, CUdevice device)
{
    struct cudaDeviceProp properties;
    NEED(name && length > 0, CUDA_ERROR_INVALID_VALUE);
    RETURN_IF(check_device(device));
    RETURN_IF(CALL(cudaGetDeviceProperties(&properties, device)));
    snprintf(name, (size_t)length, "%s", properties.name);
    return CUDA_SUCCESS;
}

API CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device)
{
    struct cudaDeviceProp properties;
    NEED(uuid, CUDA_ERROR_INVALID_VALUE);
    RETURN_IF(check_device(device));
    RETURN_IF(CALL(cudaGetDeviceProperties(&properties, device)));
    memcpy(uuid, &properties.uuid, sizeof *uuid);
    return CUDA_SUCCESS;
}

API CUresult cuDeviceTotalMem(size_t *bytes, CUdevice device)
{
    NEED(bytes, CUDA_ERROR_INVALID_VALUE);
    RETURN_IF(check_device(device));
    *bytes = sim_device()->memory_bytes;
    return CUDA_SUCCESS;
}

// Attributes have the same numbers as in the runtime.
API CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    RETURN_IF(check_device(device));
    if (value && (attribute == CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED ||
                  attribute == CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED)) {
        *value = 1; // the driver alone knows of them
        return CUDA_SUCCESS;
    }
    return CALL(cudaDeviceGetAttribute(value, (enum cudaDeviceAttr)attribute, device));
}

API CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice device)
{
    NEED(major && minor, CUDA_ERROR_INVALID_VALUE);
    RETURN_IF(cuDeviceGetAttribute(major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
    return cuDeviceGetAttribute(minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
}

API CUresult cuDeviceGetProperties(CUdevprop *legacy, CUdevice device)
{
    struct cudaDeviceProp all;
    NEED(legacy, CUDA_ERROR_INVALID_VALUE);
    RETURN_IF(check_device(device));
    RETURN_IF(CALL(cudaGetDeviceProperties(&all, device)));
    memset(legacy, 0, sizeof *legacy); // its clock rate stays 0: there is no clock
    memcpy(legacy->maxThreadsDim, all.maxThreadsDim, sizeof all.maxThreadsDim);
    memcpy(legacy->maxGridSize, all.maxGridSize, sizeof all.maxGridSize);
    legacy->maxThreadsPerBlock = all.maxThreadsPerBlock;
    legacy->sharedMemPerBlock = (int)all.sharedMemPerBlock;
    legacy->totalConstantMemory = (int)all.totalConstMem;
    legacy->SIMDWidth = all.warpSize;
    legacy->memPitch = (int)all.memPitch;
    legacy->regsPerBlock = all.regsPerBlock;
    legacy->textureAlign = (int)all.textureAlignment;
    return CUDA_SUCCESS;
}

API CUresult cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer)
{
    RETURN_IF(check_device(device));
    RETURN_IF(check_device(peer));
    return CALL(cudaDeviceCanAccessPeer(can, device, peer));
}

// ---- Streams and events

API CUresult cuStreamCreate(CUstream *stream, unsigned flags)
{
    NEED_CONTEXT();
    return CALL(cudaStreamCreateWithFlags(stream, flags));
}

API CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned flags, int priority)
{
    NEED_CONTEXT();
    return CALL(cudaStreamCreateWithPriority(stream, flags, priority));
}

API CUresult cuStreamDestroy(CUstream stream)
{
    NEED_CONTEXT();
    return CALL(cudaStreamDestroy(stream));
}

API CUresult cuStreamSynchronize(CUstream stream)
{
    NEED_CONTEXT();
    return CALL(cudaStreamSynchronize(stream));
}

API CUresult cuStreamQuery(CUstream stream)
{
    NEED_CONTEXT();
    return CALL(cudaStreamQuery(stream));
}

API CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags)
{
    NEED_CONTEXT();
    return CALL(cudaStreamWaitEvent(stream, event, flags));
}

API CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback callback, void *data, unsigned flags)
{
    NEED_CONTEXT();
    return CALL(cudaStreamAddCallback(stream, (cudaStreamCallback_t)callback, data, flags)); // both get a 0
}

API CUresult cuEventCreate(CUevent *event, unsigned flags)
{
    NEED_CONTEXT();
    return CALL(cudaEventCreateWithFlags(event, flags));
}

API CUresult cuEventDestroy(CUevent event)
{
    NEED_CONTEXT();
    return CALL(cudaEventDestroy(event));
}

API CUresult cuEventRecord(CUevent event, CUstream stream)
{
    NEED_CONTEXT();
    return CALL(cudaEventRecord(event, stream));
}

API CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags)
{
    NEED_CONTEXT();
    return CALL(cudaEventRecordWithFlags(event, stream, flags));
}

API CUresult cuEventQuery(CUevent event)
{
    NEED_CONTEXT();
    return CALL(cudaEventQuery(event));
}

API CUresult cuEventSynchronize(CUevent event)
{
    NEED_CONTEXT();
    return CALL(cudaEventSynchronize(event));
}

API CUresult cuEventElapsedTime(float *ms, CUevent start, CUevent end)
{
    NEED_CONTEXT();
    return CALL(cudaEventElapsedTime(ms, start, end));
}

// ---- Captures and graphs

API CUresult cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode mode)
{
    NEED_CONTEXT();
    return CALL(cudaStreamBeginCapture(stream, (enum cudaStreamCaptureMode)mode));
}

API CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph)
{
    NEED_CONTEXT();
    return CALL(cudaStreamEndCapture(stream, graph));
}

API CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status)
{
    NEED_CONTEXT();
    return CALL(cudaStreamIsCapturing(stream, (enum cudaStreamCaptureStatus *)status));
}

API CUresult cuGraphInstantiateWithFlags(CUgraphExec *run, CUgraph graph, unsigned long long flags)
{
    NEED_CONTEXT();
    return CALL(cudaGraphInstantiateWithFlags(run, graph, flags));
}

API CUresult cuGraphLaunch(CUgraphExec run, CUstream stream)
{
    NEED_CONTEXT();
    return CALL(cudaGraphLaunch(run, stream));
}

API CUresult cuGraphExecDestroy(CUgraphExec run)
{
    NEED_CONTEXT();
    return CALL(cudaGraphExecDestroy(run));
}

API CUresult cuGraphDestroy(CUgraph graph)
{
    NEED_CONTEXT();
    return CALL(cudaGraphDestroy(graph));
}

// ---- Launches

// The arguments as a list of pointers, however they were handed over; `unpacked` has room for MOST_ARGUMENTS.
enum { MOST_ARGUMENTS = 4096 };

static CUresult list_arguments(CUfunction function, void ***arguments, void **extra, void **unpacked)
{
    Kernel *kernel;
    const Function *f;
    HOLD_MEMORY();
    if (!extra)
        return CUDA_SUCCESS;
    NEED(!*arguments, CUDA_ERROR_INVALID_VALUE);
    RETURN_IF(sim_driver_error(sim_find_kernel(function, &kernel, &f)));
    RETURN_IF(sim_driver_error(sim_unpack_arguments(f, extra, unpacked, MOST_ARGUMENTS)));
    *arguments = unpacked;
    return CUDA_SUCCESS;
}

API CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                            unsigned block_y, unsigned block_z, unsigned dynamic_bytes, CUstream stream,
                            void **arguments, void **extra)
{
    void *unpacked[MOST_ARGUMENTS];
    NEED_CONTEXT();
    RETURN_IF(list_arguments(function, &arguments, extra, unpacked));
    return CALL(cudaLaunchKernel(function, (dim3){grid_x, grid_y, grid_z}, (dim3){block_x, block_y, block_z}, arguments,
                                 dynamic_bytes, stream));
}

API CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                       unsigned block_x, unsigned block_y, unsigned block_z, unsigned dynamic_bytes,
                                       CUstream stream, void **arguments)
{
    NEED_CONTEXT();
    return CALL(cudaLaunchCooperativeKernel(function, (dim3){grid_x, grid_y, grid_z}, (dim3){block_x, block_y, block_z},
                                            arguments, dynamic_bytes, stream));
}

_Static_assert(sizeof(CUlaunchAttribute) == sizeof(cudaLaunchAttribute), "attributes are the runtime's");

API CUresult cuLaunchKernelEx(const CUlaunchConfig *c, CUfunction function, void **arguments, void **extra)
{
    void *unpacked[MOST_ARGUMENTS];
    NEED_CONTEXT();
    NEED(c, CUDA_ERROR_INVALID_VALUE);
    RETURN_IF(list_arguments(function, &arguments, extra, unpacked));
    const cudaLaunchConfig_t config = {.gridDim = {c->gridDimX, c->gridDimY, c->gridDimZ},
                                       .blockDim = {c->blockDimX, c->blockDimY, c->blockDimZ},
                                       .dynamicSmemBytes = c->sharedMemBytes, .stream = c->hStream,
                                       .attrs = (cudaLaunchAttribute *)c->attrs, .numAttrs = c->numAttrs};
    return CALL(cudaLaunchKernelExC(&config, function, arguments));
}

API CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void *data)
{
    NEED_CONTEXT();
    return CALL(cudaLaunchHostFunc(stream, function, data));
}

API CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, CUfunction function, int threads,
                                                                  size_t dynamic_bytes, unsigned flags)
{
    NEED_CONTEXT();
    return CALL(
        cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, dynamic_bytes, flags));
}

API CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int threads,
                                                         size_t dynamic_bytes)
{
    return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, dynamic_bytes, 0);
}

// The largest number of threads on an SM decides; of several block sizes that give it, the largest.
API CUresult cuOccupancyMaxPotentialBlockSize(int *grid, int *threads, CUfunction function,
                                              CUoccupancyB2DSize bytes_for, size_t dynamic_bytes, int limit)
{
    int most = 0, best = 0, blocks;
    CUresult error = CUDA_SUCCESS;
    NEED_CONTEXT();
    NEED(grid && threads, CUDA_ERROR_INVALID_VALUE);
    RETURN_IF(cuFuncGetAttribute(&most, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function));
    most = limit > 0 && limit < most ? limit : most;
    *grid = *threads = 0;
    for (int size = most; size >= 1 && !error; size = (size - 1) / LANES * LANES) {
        error = cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, size,
                                                            bytes_for ? bytes_for(size) : dynamic_bytes);
        if (!error && blocks * size > best) {
            best = blocks * size;
            *threads = size;
            *grid = blocks * sim_device()->sm_count;
        }
    }
    return error;
}
