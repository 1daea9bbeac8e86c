// contexts.c: driver API: contexts.
//
// All contexts of a device share its memory. Memory, streams and modules outlive a context.
#include "driver/driver.h"

typedef struct Context {
    int device;
    unsigned flags;
    bool is_primary;
    int retain_count; // reference count of a primary context
} Context;

enum { MAX_STACK_DEPTH = 64 };

static CUcontext primary_contexts[SIM_MAX_DRIVER_DEVICES]; // created on first use
static _Thread_local CUcontext context_stack[MAX_STACK_DEPTH];
static _Thread_local int stack_depth;

static Context *context_of(CUcontext context)
{
    return sim_object_of(CONTEXT_HANDLE, context);
}

static CUresult new_context(int device, unsigned flags, bool is_primary, CUcontext *context)
{
    Context *c = calloc(1, sizeof *c);
    if (!c)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *c = (Context){.device = device, .flags = flags, .is_primary = is_primary};
    *context = sim_new_handle(CONTEXT_HANDLE, c);
    return *context ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult primary_context(int device, CUcontext *context)
{
    if (!primary_contexts[device])
        CU_RETURN_IF_ERROR(new_context(device, CU_CTX_SCHED_AUTO, true, &primary_contexts[device]));
    *context = primary_contexts[device];
    return CUDA_SUCCESS;
}

// Returns the thread's current context, or NULL. The default for a thread that has used the runtime is the primary context of its
// device.
static CUcontext current_context(void)
{
    int device;
    CUcontext context = stack_depth > 0 ? context_stack[stack_depth - 1] : NULL;
    if (!context && sim_uses_runtime && CALL_RUNTIME(cudaGetDevice(&device)) == CUDA_SUCCESS)
        primary_context(device, &context);
    return context;
}

CUresult sim_require_context(void)
{
    REQUIRE_CUINIT();
    LOCK_MEMORY();
    const CUcontext context = current_context();
    CU_REQUIRE(context, CUDA_ERROR_INVALID_CONTEXT);
    return context_of(context) ? CUDA_SUCCESS : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

// Makes the context's device this thread's current device in the runtime.
static CUresult select_device_of(CUcontext context)
{
    return context_of(context) ? CALL_RUNTIME(cudaSetDevice(context_of(context)->device)) : CUDA_SUCCESS;
}

static CUresult push_context(CUcontext context)
{
    CU_REQUIRE(stack_depth < MAX_STACK_DEPTH, CUDA_ERROR_OUT_OF_MEMORY);
    context_stack[stack_depth++] = context;
    return select_device_of(context);
}

static CUresult create_context(CUcontext *context, unsigned flags, CUdevice device)
{
    CU_RETURN_IF_ERROR(sim_check_device(device));
    LOCK_MEMORY();
    CU_REQUIRE(context && (flags & ~(unsigned)CU_CTX_FLAGS_MASK) == 0, CUDA_ERROR_INVALID_VALUE);
    CU_RETURN_IF_ERROR(new_context(device, flags, false, context));
    return push_context(*context);
}

API CUresult cuCtxCreate_v2(CUcontext *context, unsigned flags, CUdevice device)
{
    return create_context(context, flags, device);
}

#if CUDA_VERSION >= 13000
API CUresult cuCtxCreate(CUcontext *context, CUctxCreateParams *params, unsigned flags, CUdevice device)
{
    CU_REQUIRE(!params || (params->numExecAffinityParams == 0 && !params->cigParams), CUDA_ERROR_NOT_SUPPORTED);
    return create_context(context, flags, device);
}
#endif

API CUresult cuCtxDestroy(CUcontext context)
{
    REQUIRE_CUINIT();
    LOCK_MEMORY();
    CU_REQUIRE(context_of(context), CUDA_ERROR_INVALID_CONTEXT);
    CU_REQUIRE(!context_of(context)->is_primary, CUDA_ERROR_INVALID_CONTEXT);
    free(sim_remove_handle(CONTEXT_HANDLE, context));
    if (stack_depth > 0 && context_stack[stack_depth - 1] == context)
        stack_depth--;
    return CUDA_SUCCESS;
}

API CUresult cuCtxPushCurrent(CUcontext context)
{
    REQUIRE_CUINIT();
    LOCK_MEMORY();
    CU_REQUIRE(context_of(context), CUDA_ERROR_INVALID_CONTEXT);
    return push_context(context);
}

API CUresult cuCtxPopCurrent(CUcontext *context)
{
    REQUIRE_CUINIT();
    LOCK_MEMORY();
    CU_REQUIRE(stack_depth > 0, CUDA_ERROR_INVALID_CONTEXT);
    const CUcontext popped = context_stack[--stack_depth];
    if (context)
        *context = popped;
    return select_device_of(current_context());
}

API CUresult cuCtxSetCurrent(CUcontext context)
{
    REQUIRE_CUINIT();
    LOCK_MEMORY();
    CU_REQUIRE(!context || context_of(context), CUDA_ERROR_INVALID_CONTEXT);
    stack_depth -= stack_depth > 0; // the context replaces the top of the stack
    return context ? push_context(context) : CUDA_SUCCESS;
}

API CUresult cuCtxGetCurrent(CUcontext *context)
{
    REQUIRE_CUINIT();
    LOCK_MEMORY();
    CU_REQUIRE(context, CUDA_ERROR_INVALID_VALUE);
    *context = current_context();
    return CUDA_SUCCESS;
}

API CUresult cuCtxGetDevice(CUdevice *device)
{
    REQUIRE_CONTEXT();
    LOCK_MEMORY();
    CU_REQUIRE(device, CUDA_ERROR_INVALID_VALUE);
    *device = context_of(current_context())->device;
    return CUDA_SUCCESS;
}

API CUresult cuCtxGetFlags(unsigned *flags)
{
    REQUIRE_CONTEXT();
    LOCK_MEMORY();
    CU_REQUIRE(flags, CUDA_ERROR_INVALID_VALUE);
    *flags = context_of(current_context())->flags;
    return CUDA_SUCCESS;
}

API CUresult cuCtxGetApiVersion(CUcontext context, unsigned *version)
{
    REQUIRE_CUINIT();
    LOCK_MEMORY();
    CU_REQUIRE(version, CUDA_ERROR_INVALID_VALUE);
    CU_REQUIRE(context ? context_of(context) : context_of(current_context()), CUDA_ERROR_INVALID_CONTEXT);
    *version = 3020; // the version of the functions with the suffix _v2
    return CUDA_SUCCESS;
}

API CUresult cuCtxSynchronize(void)
{
    REQUIRE_CONTEXT();
    return CALL_RUNTIME(cudaDeviceSynchronize());
}

API CUresult cuCtxSetLimit(CUlimit limit, size_t value)
{
    REQUIRE_CONTEXT();
    return CALL_RUNTIME(cudaDeviceSetLimit((enum cudaLimit)limit, value));
}

API CUresult cuCtxGetLimit(size_t *value, CUlimit limit)
{
    REQUIRE_CONTEXT();
    return CALL_RUNTIME(cudaDeviceGetLimit(value, (enum cudaLimit)limit));
}

API CUresult cuCtxSetCacheConfig(CUfunc_cache config)
{
    REQUIRE_CONTEXT();
    return CALL_RUNTIME(cudaDeviceSetCacheConfig((enum cudaFuncCache)config));
}

API CUresult cuCtxGetCacheConfig(CUfunc_cache *config)
{
    REQUIRE_CONTEXT();
    return CALL_RUNTIME(cudaDeviceGetCacheConfig((enum cudaFuncCache *)config));
}

API CUresult cuCtxSetSharedMemConfig(CUsharedconfig config)
{
    REQUIRE_CONTEXT();
    return CALL_RUNTIME(cudaDeviceSetSharedMemConfig((enum cudaSharedMemConfig)config));
}

API CUresult cuCtxGetSharedMemConfig(CUsharedconfig *config)
{
    REQUIRE_CONTEXT();
    return CALL_RUNTIME(cudaDeviceGetSharedMemConfig((enum cudaSharedMemConfig *)config));
}

API CUresult cuCtxGetStreamPriorityRange(int *lowest, int *greatest)
{
    REQUIRE_CONTEXT();
    return CALL_RUNTIME(cudaDeviceGetStreamPriorityRange(lowest, greatest));
}

// ---- Peer access, between the contexts' devices

// Sets *device to the device of the peer context, which must differ from the current context.
static CUresult find_peer(CUcontext peer, int *device)
{
    REQUIRE_CONTEXT();
    LOCK_MEMORY();
    CU_REQUIRE(context_of(peer) && peer != current_context(), CUDA_ERROR_INVALID_CONTEXT);
    *device = context_of(peer)->device;
    return CUDA_SUCCESS;
}

API CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags)
{
    int device;
    CU_RETURN_IF_ERROR(find_peer(peer, &device));
    return CALL_RUNTIME(cudaDeviceEnablePeerAccess(device, flags));
}

API CUresult cuCtxDisablePeerAccess(CUcontext peer)
{
    int device;
    CU_RETURN_IF_ERROR(find_peer(peer, &device));
    return CALL_RUNTIME(cudaDeviceDisablePeerAccess(device));
}

API CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    CU_RETURN_IF_ERROR(sim_check_device(device));
    LOCK_MEMORY();
    CU_REQUIRE(context, CUDA_ERROR_INVALID_VALUE);
    CU_RETURN_IF_ERROR(primary_context(device, context));
    context_of(*context)->retain_count++;
    return CUDA_SUCCESS;
}

API CUresult cuDevicePrimaryCtxRelease(CUdevice device)
{
    CUcontext context;
    CU_RETURN_IF_ERROR(sim_check_device(device));
    LOCK_MEMORY();
    CU_RETURN_IF_ERROR(primary_context(device, &context));
    CU_REQUIRE(context_of(context)->retain_count > 0, CUDA_ERROR_INVALID_CONTEXT);
    context_of(context)->retain_count--;
    return CUDA_SUCCESS;
}

API CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned flags)
{
    CUcontext context;
    CU_RETURN_IF_ERROR(sim_check_device(device));
    LOCK_MEMORY();
    CU_REQUIRE((flags & ~(unsigned)CU_CTX_FLAGS_MASK) == 0, CUDA_ERROR_INVALID_VALUE);
    CU_RETURN_IF_ERROR(primary_context(device, &context));
    context_of(context)->flags = flags;
    return CUDA_SUCCESS;
}

API CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active)
{
    CUcontext context;
    CU_RETURN_IF_ERROR(sim_check_device(device));
    LOCK_MEMORY();
    CU_REQUIRE(flags && active, CUDA_ERROR_INVALID_VALUE);
    CU_RETURN_IF_ERROR(primary_context(device, &context));
    *flags = context_of(context)->flags;
    *active = context_of(context)->retain_count > 0 || sim_uses_runtime;
    return CUDA_SUCCESS;
}

API CUresult cuDevicePrimaryCtxReset(CUdevice device)
{
    CU_RETURN_IF_ERROR(sim_check_device(device));
    return CALL_RUNTIME(cudaDeviceReset());
}
