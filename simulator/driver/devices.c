// devices.c: driver API: initialisation, error conversion, and devices.
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

// ---- Initialisation

static _Atomic bool initialized;

CUresult sim_driver_ready(void)
{
    return initialized || sim_uses_runtime ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
}

CUresult sim_check_device(CUdevice device)
{
    int count;
    NEED_CUINIT();
    RETURN_IF(CALL(cudaGetDeviceCount(&count)));
    return device >= 0 && device < count && device < SIM_MAX_DRIVER_DEVICES ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

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
    RETURN_IF(sim_check_device(number));
    *device = number;
    return CUDA_SUCCESS;
}

API CUresult cuDeviceGetName(char *name, int length, CUdevice device)
{
    struct cudaDeviceProp properties;
    NEED(name && length > 0, CUDA_ERROR_INVALID_VALUE);
    RETURN_IF(sim_check_device(device));
    RETURN_IF(CALL(cudaGetDeviceProperties(&properties, device)));
    snprintf(name, (size_t)length, "%s", properties.name);
    return CUDA_SUCCESS;
}

API CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device)
{
    struct cudaDeviceProp properties;
    NEED(uuid, CUDA_ERROR_INVALID_VALUE);
    RETURN_IF(sim_check_device(device));
    RETURN_IF(CALL(cudaGetDeviceProperties(&properties, device)));
    memcpy(uuid, &properties.uuid, sizeof *uuid);
    return CUDA_SUCCESS;
}

API CUresult cuDeviceTotalMem(size_t *bytes, CUdevice device)
{
    NEED(bytes, CUDA_ERROR_INVALID_VALUE);
    RETURN_IF(sim_check_device(device));
    *bytes = sim_device()->memory_bytes;
    return CUDA_SUCCESS;
}

// Attributes have the same values as in the runtime.
API CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    RETURN_IF(sim_check_device(device));
    if (value && (attribute == CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED ||
                  attribute == CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED ||
                  attribute == CU_DEVICE_ATTRIBUTE_GENERIC_COMPRESSION_SUPPORTED)) {
        *value = 1; // attributes without a runtime counterpart; compressible memory is allowed, but not compressed
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
    RETURN_IF(sim_check_device(device));
    RETURN_IF(CALL(cudaGetDeviceProperties(&all, device)));
    memset(legacy, 0, sizeof *legacy); // clock rate 0: there is no clock
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
    RETURN_IF(sim_check_device(device));
    RETURN_IF(sim_check_device(peer));
    return CALL(cudaDeviceCanAccessPeer(can, device, peer));
}

// ---- Profiler control: no effect, since profilers cannot attach

API CUresult cuProfilerStart(void)
{
    NEED_CUINIT();
    return CUDA_SUCCESS;
}

API CUresult cuProfilerStop(void)
{
    NEED_CUINIT();
    return CUDA_SUCCESS;
}
