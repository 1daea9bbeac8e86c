// contexts.c: driver API: contexts.
//
// All contexts of a device share its memory. Memory, streams and modules outlive a context.
#include "driver/driver.h"

typedef struct Context {
    int device;
    unsigned flags;
    bool primary;
    int retained; // reference count of a primary context
} Context;

enum { DEEPEST = 64 };

static CUcontext primary[SIM_MAX_DRIVER_DEVICES]; // created on first use
static _Thread_local CUcontext current[DEEPEST];
static _Thread_local int depth;

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

// The thread's current context, or NULL. Using the runtime makes the primary context current.
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
    LOCK_MEMORY();
    const CUcontext context = current_context();
    NEED(context, CUDA_ERROR_INVALID_CONTEXT);
    return context_of(context) ? CUDA_SUCCESS : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

// Makes the context's device current for this thread, also in the runtime.
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

static CUresult create_context(CUcontext *context, unsigned flags, CUdevice device)
{
    RETURN_IF(sim_check_device(device));
    LOCK_MEMORY();
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
    LOCK_MEMORY();
    NEED(context_of(context), CUDA_ERROR_INVALID_CONTEXT);
    NEED(!context_of(context)->primary, CUDA_ERROR_INVALID_CONTEXT);
    free(sim_remove_handle(CONTEXT_HANDLE, context));
    if (depth > 0 && current[depth - 1] == context)
        depth--;
    return CUDA_SUCCESS;
}

API CUresult cuCtxPushCurrent(CUcontext context)
{
    NEED_CUINIT();
    LOCK_MEMORY();
    NEED(context_of(context), CUDA_ERROR_INVALID_CONTEXT);
    return push(context);
}

API CUresult cuCtxPopCurrent(CUcontext *context)
{
    NEED_CUINIT();
    LOCK_MEMORY();
    NEED(depth > 0, CUDA_ERROR_INVALID_CONTEXT);
    const CUcontext popped = current[--depth];
    if (context)
        *context = popped;
    return use_device_of(current_context());
}

API CUresult cuCtxSetCurrent(CUcontext context)
{
    NEED_CUINIT();
    LOCK_MEMORY();
    NEED(!context || context_of(context), CUDA_ERROR_INVALID_CONTEXT);
    depth -= depth > 0; // replaces the top of the stack
    return context ? push(context) : CUDA_SUCCESS;
}

API CUresult cuCtxGetCurrent(CUcontext *context)
{
    NEED_CUINIT();
    LOCK_MEMORY();
    NEED(context, CUDA_ERROR_INVALID_VALUE);
    *context = current_context();
    return CUDA_SUCCESS;
}

API CUresult cuCtxGetDevice(CUdevice *device)
{
    NEED_CONTEXT();
    LOCK_MEMORY();
    NEED(device, CUDA_ERROR_INVALID_VALUE);
    *device = context_of(current_context())->device;
    return CUDA_SUCCESS;
}

API CUresult cuCtxGetFlags(unsigned *flags)
{
    NEED_CONTEXT();
    LOCK_MEMORY();
    NEED(flags, CUDA_ERROR_INVALID_VALUE);
    *flags = context_of(current_context())->flags;
    return CUDA_SUCCESS;
}

API CUresult cuCtxGetApiVersion(CUcontext context, unsigned *version)
{
    NEED_CUINIT();
    LOCK_MEMORY();
    NEED(version, CUDA_ERROR_INVALID_VALUE);
    NEED(context ? context_of(context) : context_of(current_context()), CUDA_ERROR_INVALID_CONTEXT);
    *version = 3020; // of the functions with the suffix _v2
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

// ---- Peer access, between the contexts' devices

// The peer context's device, which must differ from the current one.
static CUresult find_peer(CUcontext peer, int *device)
{
    NEED_CONTEXT();
    LOCK_MEMORY();
    NEED(context_of(peer) && peer != current_context(), CUDA_ERROR_INVALID_CONTEXT);
    *device = context_of(peer)->device;
    return CUDA_SUCCESS;
}

API CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags)
{
    int device;
    RETURN_IF(find_peer(peer, &device));
    return CALL(cudaDeviceEnablePeerAccess(device, flags));
}

API CUresult cuCtxDisablePeerAccess(CUcontext peer)
{
    int device;
    RETURN_IF(find_peer(peer, &device));
    return CALL(cudaDeviceDisablePeerAccess(device));
}

API CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    RETURN_IF(sim_check_device(device));
    LOCK_MEMORY();
    NEED(context, CUDA_ERROR_INVALID_VALUE);
    RETURN_IF(primary_context(device, context));
    context_of(*context)->retained++;
    return CUDA_SUCCESS;
}

API CUresult cuDevicePrimaryCtxRelease(CUdevice device)
{
    CUcontext context;
    RETURN_IF(sim_check_device(device));
    LOCK_MEMORY();
    RETURN_IF(primary_context(device, &context));
    NEED(context_of(context)->retained > 0, CUDA_ERROR_INVALID_CONTEXT);
    context_of(context)->retained--;
    return CUDA_SUCCESS;
}

API CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned flags)
{
    CUcontext context;
    RETURN_IF(sim_check_device(device));
    LOCK_MEMORY();
    NEED((flags & ~(unsigned)CU_CTX_FLAGS_MASK) == 0, CUDA_ERROR_INVALID_VALUE);
    RETURN_IF(primary_context(device, &context));
    context_of(context)->flags = flags;
    return CUDA_SUCCESS;
}

API CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active)
{
    CUcontext context;
    RETURN_IF(sim_check_device(device));
    LOCK_MEMORY();
    NEED(flags && active, CUDA_ERROR_INVALID_VALUE);
    RETURN_IF(primary_context(device, &context));
    *flags = context_of(context)->flags;
    *active = context_of(context)->retained > 0 || sim_uses_runtime;
    return CUDA_SUCCESS;
}

API CUresult cuDevicePrimaryCtxReset(CUdevice device)
{
    RETURN_IF(sim_check_device(device));
    return CALL(cudaDeviceReset());
}
