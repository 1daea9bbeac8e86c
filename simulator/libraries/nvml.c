// nvml.c: NVIDIA's management library (NVML) for the simulator: the devices, their names and memory. Sensors, clocks and load are not supported.
#include "include/nvml.h"

#include <cuda_runtime_api.h>

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define API __attribute__((visibility("default")))
#define UNUSED(value) ((void)(value))
#define NVML_REQUIRE(condition, error) \
    do {                               \
        if (!(condition))              \
            return (error);            \
    } while (0)

static atomic_int init_count; // calls of nvmlInit without nvmlShutdown

static int device_count(void)
{
    int count = 0;
    cudaGetDeviceCount(&count);
    return count;
}

// Handles are the devices' numbers from 1 on.
static nvmlReturn_t find_device(nvmlDevice_t device, int *number)
{
    NVML_REQUIRE(init_count > 0, NVML_ERROR_UNINITIALIZED);
    *number = (int)(uintptr_t)device.handle - 1;
    return *number >= 0 && *number < device_count() ? NVML_SUCCESS : NVML_ERROR_INVALID_ARGUMENT;
}

static nvmlReturn_t copy_text(char *to, unsigned length, const char *text)
{
    NVML_REQUIRE(to, NVML_ERROR_INVALID_ARGUMENT);
    NVML_REQUIRE(strlen(text) < length, NVML_ERROR_INSUFFICIENT_SIZE);
    strcpy(to, text);
    return NVML_SUCCESS;
}

API nvmlReturn_t nvmlInitWithFlags(unsigned flags)
{
    UNUSED(flags);
    init_count++;
    return NVML_SUCCESS;
}

API nvmlReturn_t nvmlInit(void)
{
    return nvmlInitWithFlags(0);
}

API nvmlReturn_t nvmlShutdown(void)
{
    NVML_REQUIRE(init_count > 0, NVML_ERROR_UNINITIALIZED);
    init_count--;
    return NVML_SUCCESS;
}

API const char *nvmlErrorString(nvmlReturn_t result)
{
    switch (result) {
    case NVML_SUCCESS: return "Success";
    case NVML_ERROR_UNINITIALIZED: return "Uninitialized";
    case NVML_ERROR_INVALID_ARGUMENT: return "Invalid Argument";
    case NVML_ERROR_NOT_SUPPORTED: return "Not Supported";
    case NVML_ERROR_INSUFFICIENT_SIZE: return "Insufficient Size";
    default: return "Unknown Error";
    }
}

// ---- The system

API nvmlReturn_t nvmlSystemGetCudaDriverVersion(int *version)
{
    NVML_REQUIRE(version, NVML_ERROR_INVALID_ARGUMENT);
    cudaDriverGetVersion(version);
    return NVML_SUCCESS;
}

API nvmlReturn_t nvmlSystemGetDriverVersion(char *version, unsigned length)
{
    NVML_REQUIRE(init_count > 0, NVML_ERROR_UNINITIALIZED);
    return copy_text(version, length, "simulator");
}

API nvmlReturn_t nvmlSystemGetNVMLVersion(char *version, unsigned length)
{
    return copy_text(version, length, "simulator");
}

API nvmlReturn_t nvmlDeviceGetCount(unsigned *count)
{
    NVML_REQUIRE(init_count > 0, NVML_ERROR_UNINITIALIZED);
    NVML_REQUIRE(count, NVML_ERROR_INVALID_ARGUMENT);
    *count = (unsigned)device_count();
    return NVML_SUCCESS;
}

API nvmlReturn_t nvmlDeviceGetHandleByIndex(unsigned index, nvmlDevice_t *device)
{
    int number;
    const nvmlDevice_t found = {(struct nvmlDevice_st *)(uintptr_t)(index + 1)};
    NVML_REQUIRE(device, NVML_ERROR_INVALID_ARGUMENT);
    const nvmlReturn_t error = find_device(found, &number);
    NVML_REQUIRE(!error, error);
    *device = found;
    return NVML_SUCCESS;
}

// ---- A device

API nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t device, unsigned *index)
{
    int number;
    const nvmlReturn_t error = find_device(device, &number);
    NVML_REQUIRE(!error, error);
    NVML_REQUIRE(index, NVML_ERROR_INVALID_ARGUMENT);
    *index = (unsigned)number;
    return NVML_SUCCESS;
}

API nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char *name, unsigned length)
{
    int number;
    struct cudaDeviceProp properties;
    const nvmlReturn_t error = find_device(device, &number);
    NVML_REQUIRE(!error, error);
    NVML_REQUIRE(!cudaGetDeviceProperties(&properties, number), NVML_ERROR_UNKNOWN);
    return copy_text(name, length, properties.name);
}

API nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char *uuid, unsigned length)
{
    int number;
    struct cudaDeviceProp properties;
    char text[NVML_DEVICE_UUID_BUFFER_SIZE] = "GPU-";
    const nvmlReturn_t error = find_device(device, &number);
    NVML_REQUIRE(!error, error);
    NVML_REQUIRE(!cudaGetDeviceProperties(&properties, number), NVML_ERROR_UNKNOWN);
    for (int k = 0; k < 16; k++)
        sprintf(text + strlen(text), "%s%02x", k == 4 || k == 6 || k == 8 || k == 10 ? "-" : "", (unsigned char)properties.uuid.bytes[k]);
    return copy_text(uuid, length, text);
}

API nvmlReturn_t nvmlDeviceGetCudaComputeCapability(nvmlDevice_t device, int *major, int *minor)
{
    int number;
    const nvmlReturn_t error = find_device(device, &number);
    NVML_REQUIRE(!error, error);
    NVML_REQUIRE(major && minor, NVML_ERROR_INVALID_ARGUMENT);
    cudaDeviceGetAttribute(major, cudaDevAttrComputeCapabilityMajor, number);
    cudaDeviceGetAttribute(minor, cudaDevAttrComputeCapabilityMinor, number);
    return NVML_SUCCESS;
}

API nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t *memory)
{
    int number, current = 0;
    size_t free_bytes = 0, total_bytes = 0;
    const nvmlReturn_t error = find_device(device, &number);
    NVML_REQUIRE(!error, error);
    NVML_REQUIRE(memory, NVML_ERROR_INVALID_ARGUMENT);
    cudaGetDevice(&current);
    cudaSetDevice(number);
    cudaMemGetInfo(&free_bytes, &total_bytes);
    cudaSetDevice(current);
    *memory = (nvmlMemory_t){total_bytes, free_bytes, total_bytes - free_bytes};
    return NVML_SUCCESS;
}

#define UNSUPPORTED(name, ...)                                        \
    API nvmlReturn_t name(nvmlDevice_t device, __VA_ARGS__)           \
    {                                                                 \
        int number;                                                   \
        const nvmlReturn_t error = find_device(device, &number);      \
        return error ? error : NVML_ERROR_NOT_SUPPORTED;              \
    }
#pragma GCC diagnostic ignored "-Wunused-parameter"
UNSUPPORTED(nvmlDeviceGetTemperature, nvmlTemperatureSensors_t sensor, unsigned *degrees)
UNSUPPORTED(nvmlDeviceGetPowerUsage, unsigned *milliwatts)
UNSUPPORTED(nvmlDeviceGetTotalEnergyConsumption, unsigned long long *millijoules)
UNSUPPORTED(nvmlDeviceGetClockInfo, nvmlClockType_t type, unsigned *megahertz)
UNSUPPORTED(nvmlDeviceGetMaxClockInfo, nvmlClockType_t type, unsigned *megahertz)
UNSUPPORTED(nvmlDeviceGetUtilizationRates, nvmlUtilization_t *utilization)
UNSUPPORTED(nvmlDeviceGetFanSpeed, unsigned *per_cent)
