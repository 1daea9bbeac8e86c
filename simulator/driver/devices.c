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

static _Atomic bool is_initialized;

CUresult sim_require_cuinit(void)
{
    return is_initialized || sim_uses_runtime ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
}

CUresult sim_check_device(CUdevice device)
{
    int count;
    REQUIRE_CUINIT();
    CU_RETURN_IF_ERROR(CALL_RUNTIME(cudaGetDeviceCount(&count)));
    return device >= 0 && device < count && device < SIM_MAX_DRIVER_DEVICES ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

API CUresult cuInit(unsigned flags)
{
    CU_REQUIRE(flags == 0, CUDA_ERROR_INVALID_VALUE);
    is_initialized = true;
    return CUDA_SUCCESS;
}

API CUresult cuDriverGetVersion(int *version)
{
    return CALL_RUNTIME(cudaDriverGetVersion(version));
}

API CUresult cuDeviceGetCount(int *count)
{
    REQUIRE_CUINIT();
    return CALL_RUNTIME(cudaGetDeviceCount(count));
}

API CUresult cuDeviceGet(CUdevice *device, int number)
{
    CU_REQUIRE(device, CUDA_ERROR_INVALID_VALUE);
    CU_RETURN_IF_ERROR(sim_check_device(number));
    *device = number;
    return CUDA_SUCCESS;
}

API CUresult cuDeviceGetName(char *name, int length, CUdevice device)
{
    struct cudaDeviceProp properties;
    CU_REQUIRE(name && length > 0, CUDA_ERROR_INVALID_VALUE);
    CU_RETURN_IF_ERROR(sim_check_device(device));
    CU_RETURN_IF_ERROR(CALL_RUNTIME(cudaGetDeviceProperties(&properties, device)));
    snprintf(name, (size_t)length, "%s", properties.name);
    return CUDA_SUCCESS;
}

API CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device)
{
    struct cudaDeviceProp properties;
    CU_REQUIRE(uuid, CUDA_ERROR_INVALID_VALUE);
    CU_RETURN_IF_ERROR(sim_check_device(device));
    CU_RETURN_IF_ERROR(CALL_RUNTIME(cudaGetDeviceProperties(&properties, device)));
    memcpy(uuid, &properties.uuid, sizeof *uuid);
    return CUDA_SUCCESS;
}

API CUresult cuDeviceTotalMem(size_t *bytes, CUdevice device)
{
    CU_REQUIRE(bytes, CUDA_ERROR_INVALID_VALUE);
    CU_RETURN_IF_ERROR(sim_check_device(device));
    *bytes = sim_device()->memory_bytes;
    return CUDA_SUCCESS;
}

// Attributes have equal values in the driver and the runtime API.
API CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    CU_RETURN_IF_ERROR(sim_check_device(device));
    if (value && (attribute == CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED ||
                  attribute == CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED ||
                  attribute == CU_DEVICE_ATTRIBUTE_GENERIC_COMPRESSION_SUPPORTED)) {
        *value = 1; // attributes without a runtime counterpart; compressible memory is allowed, but not compressed
        return CUDA_SUCCESS;
    }
    return CALL_RUNTIME(cudaDeviceGetAttribute(value, (enum cudaDeviceAttr)attribute, device));
}

API CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice device)
{
    CU_REQUIRE(major && minor, CUDA_ERROR_INVALID_VALUE);
    CU_RETURN_IF_ERROR(cuDeviceGetAttribute(major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
    return cuDeviceGetAttribute(minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
}

API CUresult cuDeviceGetProperties(CUdevprop *legacy, CUdevice device)
{
    struct cudaDeviceProp all;
    CU_REQUIRE(legacy, CUDA_ERROR_INVALID_VALUE);
    CU_RETURN_IF_ERROR(sim_check_device(device));
    CU_RETURN_IF_ERROR(CALL_RUNTIME(cudaGetDeviceProperties(&all, device)));
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
    CU_RETURN_IF_ERROR(sim_check_device(device));
    CU_RETURN_IF_ERROR(sim_check_device(peer));
    return CALL_RUNTIME(cudaDeviceCanAccessPeer(can, device, peer));
}

// ---- Profiler control: has no effect, because profilers cannot attach

API CUresult cuProfilerStart(void)
{
    REQUIRE_CUINIT();
    return CUDA_SUCCESS;
}

API CUresult cuProfilerStop(void)
{
    REQUIRE_CUINIT();
    return CUDA_SUCCESS;
}
