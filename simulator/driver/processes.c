// processes.c: driver API: interprocess memory and events.
#include "driver/driver.h"

#include <string.h>

_Static_assert(sizeof(CUipcMemHandle) == sizeof(cudaIpcMemHandle_t), "the handles of both APIs have the same size");
_Static_assert(sizeof(CUipcEventHandle) == sizeof(cudaIpcEventHandle_t), "the handles of both APIs have the same size");

API CUresult cuIpcGetMemHandle(CUipcMemHandle *handle, CUdeviceptr address)
{
    REQUIRE_CONTEXT();
    return CALL_RUNTIME(cudaIpcGetMemHandle((cudaIpcMemHandle_t *)handle, pointer_at(address)));
}

API CUresult cuIpcOpenMemHandle(CUdeviceptr *address, CUipcMemHandle handle, unsigned flags)
{
    cudaIpcMemHandle_t shared;
    REQUIRE_CONTEXT();
    memcpy(&shared, &handle, sizeof shared);
    return CALL_RUNTIME(cudaIpcOpenMemHandle((void **)address, shared, flags));
}

API CUresult cuIpcCloseMemHandle(CUdeviceptr address)
{
    REQUIRE_CONTEXT();
    return CALL_RUNTIME(cudaIpcCloseMemHandle(pointer_at(address)));
}

API CUresult cuIpcGetEventHandle(CUipcEventHandle *handle, CUevent event)
{
    REQUIRE_CONTEXT();
    return CALL_RUNTIME(cudaIpcGetEventHandle((cudaIpcEventHandle_t *)handle, event));
}

API CUresult cuIpcOpenEventHandle(CUevent *event, CUipcEventHandle handle)
{
    cudaIpcEventHandle_t shared;
    REQUIRE_CONTEXT();
    memcpy(&shared, &handle, sizeof shared);
    return CALL_RUNTIME(cudaIpcOpenEventHandle(event, shared));
}
