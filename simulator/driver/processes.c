// processes.c: driver API: interprocess memory and events.
#include "driver/driver.h"

#include <string.h>

_Static_assert(sizeof(CUipcMemHandle) == sizeof(cudaIpcMemHandle_t), "a handle is the same to both");
_Static_assert(sizeof(CUipcEventHandle) == sizeof(cudaIpcEventHandle_t), "a handle is the same to both");

API CUresult cuIpcGetMemHandle(CUipcMemHandle *handle, CUdeviceptr address)
{
    NEED_CONTEXT();
    return CALL(cudaIpcGetMemHandle((cudaIpcMemHandle_t *)handle, pointer_at(address)));
}

API CUresult cuIpcOpenMemHandle(CUdeviceptr *address, CUipcMemHandle handle, unsigned flags)
{
    cudaIpcMemHandle_t shared;
    NEED_CONTEXT();
    memcpy(&shared, &handle, sizeof shared);
    return CALL(cudaIpcOpenMemHandle((void **)address, shared, flags));
}

API CUresult cuIpcCloseMemHandle(CUdeviceptr address)
{
    NEED_CONTEXT();
    return CALL(cudaIpcCloseMemHandle(pointer_at(address)));
}

API CUresult cuIpcGetEventHandle(CUipcEventHandle *handle, CUevent event)
{
    NEED_CONTEXT();
    return CALL(cudaIpcGetEventHandle((cudaIpcEventHandle_t *)handle, event));
}

API CUresult cuIpcOpenEventHandle(CUevent *event, CUipcEventHandle handle)
{
    cudaIpcEventHandle_t shared;
    NEED_CONTEXT();
    memcpy(&shared, &handle, sizeof shared);
    return CALL(cudaIpcOpenEventHandle(event, shared));
}
