// NVIDIA's management library, as programs call it that print their device.
#include <cstdio>
#include <cstring>
#include <nvml.h>

#define CHECK(condition) \
    if (!(condition))    \
    return printf("line %d\n", __LINE__), 1

int main()
{
    nvmlDevice_t device;
    nvmlMemory_t memory, before;
    unsigned count = 0, milliwatts;
    int major, minor;
    char name[NVML_DEVICE_NAME_BUFFER_SIZE], uuid[NVML_DEVICE_UUID_BUFFER_SIZE];
    void *block;
    CHECK(nvmlDeviceGetCount(&count) == NVML_ERROR_UNINITIALIZED);
    CHECK(nvmlInit() == NVML_SUCCESS);
    CHECK(nvmlDeviceGetCount(&count) == NVML_SUCCESS && count == 1);
    CHECK(nvmlDeviceGetHandleByIndex(1, &device) == NVML_ERROR_INVALID_ARGUMENT);
    CHECK(nvmlDeviceGetHandleByIndex(0, &device) == NVML_SUCCESS);
    CHECK(nvmlDeviceGetName(device, name, 2) == NVML_ERROR_INSUFFICIENT_SIZE);
    CHECK(nvmlDeviceGetName(device, name, sizeof name) == NVML_SUCCESS && strstr(name, "simulator"));
    CHECK(nvmlDeviceGetUUID(device, uuid, sizeof uuid) == NVML_SUCCESS && strlen(uuid) == 40);
    CHECK(nvmlDeviceGetCudaComputeCapability(device, &major, &minor) == NVML_SUCCESS && major == 9 && minor == 0);
    CHECK(nvmlDeviceGetMemoryInfo(device, &before) == NVML_SUCCESS);
    cudaMalloc(&block, 64 << 20);
    CHECK(nvmlDeviceGetMemoryInfo(device, &memory) == NVML_SUCCESS && memory.used >= before.used + (64 << 20));
    CHECK(memory.total == memory.used + memory.free);
    CHECK(nvmlDeviceGetPowerUsage(device, &milliwatts) == NVML_ERROR_NOT_SUPPORTED);
    CHECK(strcmp(nvmlErrorString(NVML_ERROR_NOT_SUPPORTED), "Not Supported") == 0);
    CHECK(nvmlShutdown() == NVML_SUCCESS && nvmlShutdown() == NVML_ERROR_UNINITIALIZED);
    cudaFree(block);
    printf("PASS\n");
}
