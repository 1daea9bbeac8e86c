// refused.c: calls that are there so that a program which may do without them can be linked. Each says once what the
// simulator has not, and is refused as on a system that does not support it.
#include "runtime/api/calls.h"

static cudaError_t refuse_other_processes(void)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    if (!atomic_flag_test_and_set(&said))
        fprintf(stderr, "simulator: memory and events cannot be shared with other processes (cudaIpc...): each process has "
                        "a simulated GPU of its own\n");
    return sim_done(cudaErrorNotSupported);
}

API cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *handle, void *pointer)
{
    BEGIN_CALL();
    REQUIRE(handle && pointer, cudaErrorInvalidValue);
    return refuse_other_processes();
}

API cudaError_t cudaIpcOpenMemHandle(void **pointer, cudaIpcMemHandle_t handle, unsigned flags)
{
    UNUSED(handle);
    BEGIN_CALL();
    REQUIRE(pointer && flags == cudaIpcMemLazyEnablePeerAccess, cudaErrorInvalidValue);
    return refuse_other_processes();
}

API cudaError_t cudaIpcCloseMemHandle(void *pointer)
{
    BEGIN_CALL();
    REQUIRE(pointer, cudaErrorInvalidValue);
    return refuse_other_processes();
}

API cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t *handle, cudaEvent_t event)
{
    BEGIN_CALL();
    REQUIRE(handle && event, cudaErrorInvalidValue);
    return refuse_other_processes();
}

API cudaError_t cudaIpcOpenEventHandle(cudaEvent_t *event, cudaIpcEventHandle_t handle)
{
    UNUSED(handle);
    BEGIN_CALL();
    REQUIRE(event, cudaErrorInvalidValue);
    return refuse_other_processes();
}
