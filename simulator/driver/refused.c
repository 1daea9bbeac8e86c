// refused.c: calls of the driver that lead to the runtime's of runtime/api/refused.c.
#include "driver/driver.h"

_Static_assert(sizeof(CUipcMemHandle) == sizeof(cudaIpcMemHandle_t), "a handle is the same to both");
_Static_assert(sizeof(CUipcEventHandle) == sizeof(cudaIpcEventHandle_t), "a handle is the same to both");

API CUresult cuIpcGetMemHandle(CUipcMemHandle *handle, CUdeviceptr address)
{
    NEED_CONTEXT();
    return CALL(cudaIpcGetMemHandle((cudaIpcMemHandle_t *)handle, pointer_at(address)));
}

API CUresult cuIpcOpenMemHandle(CUdeviceptr *address, CUipcMemHandle handle, unsigned flags)
{
    UNUSED(handle);
    NEED_CONTEXT();
    return CALL(cudaIpcOpenMemHandle((void **)address, (cudaIpcMemHandle_t){0}, flags));
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
    UNUSED(handle);
    NEED_CONTEXT();
    return CALL(cudaIpcOpenEventHandle(event, (cudaIpcEventHandle_t){0}));
}
