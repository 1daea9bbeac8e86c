// old_calls.c: driver calls from before CUDA 4: launches in several calls, and names without the suffix _v2.
//
// cuda.h maps cuCtxDestroy to cuCtxDestroy_v2, and so on; programs that look up names in libcuda.so.1 may use either. Functions
// with 32-bit addresses (such as cuMemAlloc without _v2) are not provided.
#include "driver/driver.h"

#include <stdlib.h>
#include <string.h>

#define ALIAS_WITHOUT_VERSION(name, type)                       \
    API CUresult name##_before_4(type argument) __asm__(#name); \
    API CUresult name##_before_4(type argument) { return name(argument); }

ALIAS_WITHOUT_VERSION(cuCtxDestroy, CUcontext)
ALIAS_WITHOUT_VERSION(cuCtxPushCurrent, CUcontext)
ALIAS_WITHOUT_VERSION(cuCtxPopCurrent, CUcontext *)
ALIAS_WITHOUT_VERSION(cuStreamDestroy, CUstream)
ALIAS_WITHOUT_VERSION(cuEventDestroy, CUevent)

API CUresult host_register_before_4(void *memory, size_t bytes, unsigned flags) __asm__("cuMemHostRegister");
API CUresult host_register_before_4(void *memory, size_t bytes, unsigned flags)
{
    return cuMemHostRegister(memory, bytes, flags);
}

// Attaching does not change a reference count: a context exists until it is destroyed.
API CUresult cuCtxAttach(CUcontext *context, unsigned flags)
{
    CU_REQUIRE(flags == 0, CUDA_ERROR_INVALID_VALUE);
    REQUIRE_CONTEXT();
    return cuCtxGetCurrent(context);
}

API CUresult cuCtxDetach(CUcontext context)
{
    UNUSED(context);
    REQUIRE_CONTEXT();
    return CUDA_SUCCESS;
}

// ---- A launch in several calls

enum { MAX_ARGUMENT_BYTES = 4096 };

typedef struct PreparedLaunch { // launch parameters that a program has set for a kernel; guarded by the lock of machine/memory/lock.c
    CUfunction function;
    dim3 block;
    unsigned dynamic_shared_bytes;
    size_t argument_bytes;
    uint8_t arguments[MAX_ARGUMENT_BYTES];
    struct PreparedLaunch *next;
} PreparedLaunch;

static PreparedLaunch *find_prepared_launch(CUfunction function)
{
    static PreparedLaunch *launches;
    PreparedLaunch *p = launches;
    while (p && p->function != function)
        p = p->next;
    if (p)
        return p;
    p = calloc(1, sizeof *p);
    if (!p)
        sim_die("out of memory: kernel arguments");
    p->function = function;
    p->block = (dim3){1, 1, 1};
    p->next = launches;
    return launches = p;
}

API CUresult cuFuncSetBlockShape(CUfunction function, int x, int y, int z)
{
    REQUIRE_CONTEXT();
    LOCK_MEMORY();
    CU_REQUIRE(x > 0 && y > 0 && z > 0, CUDA_ERROR_INVALID_VALUE);
    find_prepared_launch(function)->block = (dim3){(unsigned)x, (unsigned)y, (unsigned)z};
    return CUDA_SUCCESS;
}

API CUresult cuFuncSetSharedSize(CUfunction function, unsigned bytes)
{
    REQUIRE_CONTEXT();
    LOCK_MEMORY();
    find_prepared_launch(function)->dynamic_shared_bytes = bytes;
    return CUDA_SUCCESS;
}

API CUresult cuParamSetSize(CUfunction function, unsigned bytes)
{
    REQUIRE_CONTEXT();
    LOCK_MEMORY();
    CU_REQUIRE(bytes <= MAX_ARGUMENT_BYTES, CUDA_ERROR_INVALID_VALUE);
    find_prepared_launch(function)->argument_bytes = bytes;
    return CUDA_SUCCESS;
}

API CUresult cuParamSetv(CUfunction function, int offset, void *value, unsigned bytes)
{
    REQUIRE_CONTEXT();
    LOCK_MEMORY();
    CU_REQUIRE(value && offset >= 0 && offset <= MAX_ARGUMENT_BYTES && bytes <= MAX_ARGUMENT_BYTES - (unsigned)offset, CUDA_ERROR_INVALID_VALUE);
    memcpy(find_prepared_launch(function)->arguments + offset, value, bytes);
    return CUDA_SUCCESS;
}

API CUresult cuParamSeti(CUfunction function, int offset, unsigned value)
{
    return cuParamSetv(function, offset, &value, sizeof value);
}

API CUresult cuParamSetf(CUfunction function, int offset, float value)
{
    return cuParamSetv(function, offset, &value, sizeof value);
}

static CUresult launch_prepared(CUfunction function, int width, int height, CUstream stream)
{
    REQUIRE_CONTEXT();
    LOCK_MEMORY();
    CU_REQUIRE(width > 0 && height > 0, CUDA_ERROR_INVALID_VALUE);
    PreparedLaunch *p = find_prepared_launch(function);
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, p->arguments, CU_LAUNCH_PARAM_BUFFER_SIZE, &p->argument_bytes, CU_LAUNCH_PARAM_END};
    return cuLaunchKernel(function, (unsigned)width, (unsigned)height, 1, p->block.x, p->block.y, p->block.z,
                          p->dynamic_shared_bytes, stream, NULL, extra);
}

API CUresult cuLaunchGridAsync(CUfunction function, int width, int height, CUstream stream)
{
    return launch_prepared(function, width, height, stream);
}

API CUresult cuLaunchGrid(CUfunction function, int width, int height)
{
    return launch_prepared(function, width, height, NULL);
}

API CUresult cuLaunch(CUfunction function)
{
    return launch_prepared(function, 1, 1, NULL);
}
