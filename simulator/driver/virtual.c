// virtual.c: driver API: virtual memory management.
//
// A reserved address range is a single Allocation, so that an array may span several physical allocations. A physical allocation
// is a file, which may be mapped several times, also in other processes.
#include "base/platform.h"
#include "checker/host_checks.h"
#include "driver/driver.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct PhysicalMemory {
    CUmemAllocationProp properties;
    size_t bytes;
    int file;
    size_t reference_count; // references by the handle and by each mapped granule
    size_t handle_count;    // references by the handle, which cuMemRelease releases
} PhysicalMemory;

static bool is_granule_multiple(uint64_t number)
{
    return number % SIM_GRANULE == 0;
}

static void release_reference(PhysicalMemory *physical)
{
    if (--physical->reference_count > 0)
        return;
    close(physical->file);
    sim_count_memory(physical->properties.location.id, -(int64_t)physical->bytes);
    free(physical);
}

static CUresult check_properties(const CUmemAllocationProp *p)
{
    int count;
    CU_REQUIRE(p && p->type == CU_MEM_ALLOCATION_TYPE_PINNED, CUDA_ERROR_INVALID_VALUE);
    CU_REQUIRE(p->location.type == CU_MEM_LOCATION_TYPE_DEVICE, CUDA_ERROR_NOT_SUPPORTED);
    CU_RETURN_IF_ERROR(CALL_RUNTIME(cudaGetDeviceCount(&count)));
    CU_REQUIRE(p->location.id >= 0 && p->location.id < count, CUDA_ERROR_INVALID_DEVICE);
    return CUDA_SUCCESS;
}

API CUresult cuMemGetAllocationGranularity(size_t *bytes, const CUmemAllocationProp *p,
                                           CUmemAllocationGranularity_flags option)
{
    UNUSED(option); // minimum and recommended granularity are equal
    REQUIRE_CUINIT();
    CU_REQUIRE(bytes, CUDA_ERROR_INVALID_VALUE);
    CU_RETURN_IF_ERROR(check_properties(p));
    *bytes = SIM_GRANULE;
    return CUDA_SUCCESS;
}

// ---- Memory

static CUresult new_physical_memory(CUmemGenericAllocationHandle *handle, int file, size_t bytes, const CUmemAllocationProp *p)
{
    PhysicalMemory *physical = file >= 0 ? calloc(1, sizeof *physical) : NULL;
    if (physical)
        *physical = (PhysicalMemory){.properties = *p, .bytes = bytes, .file = file, .reference_count = 1, .handle_count = 1};
    void *object = physical ? sim_new_handle(PHYSICAL_MEMORY_HANDLE, physical) : NULL;
    if (!object) {
        free(physical);
        if (file >= 0)
            close(file);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    sim_count_memory(p->location.id, (int64_t)bytes);
    *handle = (CUmemGenericAllocationHandle)(uintptr_t)object;
    return CUDA_SUCCESS;
}

static PhysicalMemory *physical_memory_of(CUmemGenericAllocationHandle handle)
{
    return sim_object_of(PHYSICAL_MEMORY_HANDLE, (const void *)(uintptr_t)handle);
}

API CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t bytes, const CUmemAllocationProp *p,
                         unsigned long long flags)
{
    REQUIRE_CUINIT();
    LOCK_MEMORY();
    CU_RETURN_IF_ERROR(check_properties(p));
    CU_REQUIRE(handle && bytes > 0 && is_granule_multiple(bytes) && flags == 0, CUDA_ERROR_INVALID_VALUE);
    CU_REQUIRE(sim_memory_available(p->location.id, bytes), CUDA_ERROR_OUT_OF_MEMORY);
    return new_physical_memory(handle, sim_make_shared_file(bytes), bytes, p);
}

API CUresult cuMemRelease(CUmemGenericAllocationHandle handle)
{
    REQUIRE_CUINIT();
    LOCK_MEMORY();
    PhysicalMemory *physical = physical_memory_of(handle);
    CU_REQUIRE(physical, CUDA_ERROR_INVALID_VALUE);
    if (--physical->handle_count == 0)
        sim_remove_handle(PHYSICAL_MEMORY_HANDLE, (const void *)(uintptr_t)handle);
    release_reference(physical);
    return CUDA_SUCCESS;
}

API CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *p, CUmemGenericAllocationHandle handle)
{
    REQUIRE_CUINIT();
    LOCK_MEMORY();
    const PhysicalMemory *physical = physical_memory_of(handle);
    CU_REQUIRE(p && physical, CUDA_ERROR_INVALID_VALUE);
    *p = physical->properties;
    return CUDA_SUCCESS;
}

// The shareable handle is a file descriptor of the physical allocation.
API CUresult cuMemExportToShareableHandle(void *shared, CUmemGenericAllocationHandle handle,
                                          CUmemAllocationHandleType type, unsigned long long flags)
{
    REQUIRE_CUINIT();
    LOCK_MEMORY();
    const PhysicalMemory *physical = physical_memory_of(handle);
    CU_REQUIRE(shared && physical && flags == 0, CUDA_ERROR_INVALID_VALUE);
    CU_REQUIRE(type == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, CUDA_ERROR_NOT_SUPPORTED);
    CU_REQUIRE(physical->properties.requestedHandleTypes & type, CUDA_ERROR_INVALID_VALUE);
    const int file = dup(physical->file);
    CU_REQUIRE(file >= 0, CUDA_ERROR_OPERATING_SYSTEM);
    *(int *)shared = file;
    return CUDA_SUCCESS;
}

API CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle, void *shared,
                                            CUmemAllocationHandleType type)
{
    struct stat status;
    const int file = (int)(intptr_t)shared;
    REQUIRE_CONTEXT();
    LOCK_MEMORY();
    CU_REQUIRE(type == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, CUDA_ERROR_NOT_SUPPORTED);
    CU_REQUIRE(handle && fstat(file, &status) == 0 && status.st_size > 0 && is_granule_multiple((uint64_t)status.st_size),
         CUDA_ERROR_INVALID_VALUE);
    const CUmemAllocationProp p = {.type = CU_MEM_ALLOCATION_TYPE_PINNED, .requestedHandleTypes = type,
                                   .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = sim_current_device}};
    return new_physical_memory(handle, dup(file), (size_t)status.st_size, &p);
}

// ---- Addresses

API CUresult cuMemAddressReserve(CUdeviceptr *address, size_t bytes, size_t alignment, CUdeviceptr hint,
                                 unsigned long long flags)
{
    UNUSED(hint); // CUDA may ignore it
    REQUIRE_CUINIT();
    LOCK_MEMORY();
    CU_REQUIRE(address && bytes > 0 && is_granule_multiple(bytes) && flags == 0, CUDA_ERROR_INVALID_VALUE);
    CU_REQUIRE((alignment & (alignment - 1)) == 0, CUDA_ERROR_INVALID_VALUE);
    *address = sim_reserve_addresses(bytes, alignment > SIM_GRANULE ? alignment : SIM_GRANULE);
    CU_REQUIRE(*address, CUDA_ERROR_OUT_OF_MEMORY);
    sim_note_allocation(sim_allocation_at(*address), __func__);
    return CUDA_SUCCESS;
}

// Returns the reservation that contains these bytes, or NULL; they must be whole granules.
static Allocation *reservation_at(CUdeviceptr address, size_t bytes)
{
    Allocation *a = sim_allocation_at(address);
    const bool is_contained = a && a->granules && address - a->address < a->bytes &&
                       bytes <= a->bytes - (address - a->address);
    return is_contained && bytes > 0 && is_granule_multiple(address - a->address) && is_granule_multiple(bytes) ? a : NULL;
}

static Granule *granule_at(const Allocation *a, CUdeviceptr address)
{
    return &a->granules[(address - a->address) / SIM_GRANULE];
}

// True if all of these granules are mapped (`is_mapped`) or all are unmapped (!`is_mapped`).
static bool are_mapped(const Granule *granules, size_t bytes, bool is_mapped)
{
    for (size_t k = 0; k < bytes / SIM_GRANULE; k++)
        if ((granules[k].physical != NULL) != is_mapped)
            return false;
    return true;
}

API CUresult cuMemAddressFree(CUdeviceptr address, size_t bytes)
{
    REQUIRE_CUINIT();
    LOCK_MEMORY();
    const Allocation *a = reservation_at(address, bytes);
    CU_REQUIRE(a && a->address == address && a->bytes == bytes, CUDA_ERROR_INVALID_VALUE);
    CU_REQUIRE(are_mapped(a->granules, bytes, false), CUDA_ERROR_INVALID_VALUE);
    return sim_driver_error(sim_free_allocation(pointer_at(address), RESERVED_MEMORY));
}

API CUresult cuMemMap(CUdeviceptr address, size_t bytes, size_t offset, CUmemGenericAllocationHandle handle,
                      unsigned long long flags)
{
    REQUIRE_CUINIT();
    LOCK_MEMORY();
    PhysicalMemory *physical = physical_memory_of(handle);
    const Allocation *a = reservation_at(address, bytes);
    CU_REQUIRE(physical && a && flags == 0, CUDA_ERROR_INVALID_VALUE);
    CU_REQUIRE(is_granule_multiple(offset) && offset <= physical->bytes && bytes <= physical->bytes - offset, CUDA_ERROR_INVALID_VALUE);
    Granule *granule = granule_at(a, address);
    CU_REQUIRE(are_mapped(granule, bytes, false), CUDA_ERROR_INVALID_VALUE);
    CU_REQUIRE(sim_map_shared(a->memory + (address - a->address), bytes, physical->file, offset), CUDA_ERROR_OUT_OF_MEMORY);
    for (size_t k = 0; k < bytes / SIM_GRANULE; k++)
        granule[k] = (Granule){.physical = physical};
    physical->reference_count += bytes / SIM_GRANULE;
    return CUDA_SUCCESS;
}

API CUresult cuMemUnmap(CUdeviceptr address, size_t bytes)
{
    REQUIRE_CUINIT();
    LOCK_MEMORY();
    const Allocation *a = reservation_at(address, bytes);
    CU_REQUIRE(a, CUDA_ERROR_INVALID_VALUE);
    Granule *granule = granule_at(a, address);
    CU_REQUIRE(are_mapped(granule, bytes, true), CUDA_ERROR_INVALID_VALUE);
    sim_synchronize_host_with_device(sim_current_device);
    CU_REQUIRE(sim_restore_fill(a->memory + (address - a->address), bytes), CUDA_ERROR_OUT_OF_MEMORY);
    for (size_t k = 0; k < bytes / SIM_GRANULE; k++) {
        release_reference(granule[k].physical);
        granule[k] = (Granule){.physical = NULL};
    }
    return CUDA_SUCCESS;
}

API CUresult cuMemSetAccess(CUdeviceptr address, size_t bytes, const CUmemAccessDesc *descriptors, size_t count)
{
    int devices;
    REQUIRE_CUINIT();
    LOCK_MEMORY();
    const Allocation *a = reservation_at(address, bytes);
    CU_REQUIRE(a && descriptors && count > 0, CUDA_ERROR_INVALID_VALUE);
    Granule *granule = granule_at(a, address);
    CU_REQUIRE(are_mapped(granule, bytes, true), CUDA_ERROR_INVALID_VALUE);
    CU_RETURN_IF_ERROR(CALL_RUNTIME(cudaGetDeviceCount(&devices)));
    for (size_t n = 0; n < count; n++) {
        CU_REQUIRE(descriptors[n].location.type == CU_MEM_LOCATION_TYPE_DEVICE, CUDA_ERROR_NOT_SUPPORTED);
        CU_REQUIRE(descriptors[n].location.id >= 0 && descriptors[n].location.id < devices, CUDA_ERROR_INVALID_DEVICE);
    }
    for (size_t n = 0; n < count; n++)
        for (size_t k = 0; k < bytes / SIM_GRANULE; k++) {
            const uint32_t bit = 1u << descriptors[n].location.id;
            const bool reads = descriptors[n].flags & CU_MEM_ACCESS_FLAGS_PROT_READ;
            const bool writes = descriptors[n].flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
            granule[k].readers = reads ? granule[k].readers | bit : granule[k].readers & ~bit;
            granule[k].writers = writes ? granule[k].writers | bit : granule[k].writers & ~bit;
        }
    return CUDA_SUCCESS;
}

API CUresult cuMemGetAccess(unsigned long long *flags, const CUmemLocation *location, CUdeviceptr address)
{
    REQUIRE_CUINIT();
    LOCK_MEMORY();
    const Allocation *a = sim_allocation_at(address);
    CU_REQUIRE(flags && location && location->type == CU_MEM_LOCATION_TYPE_DEVICE, CUDA_ERROR_INVALID_VALUE);
    CU_REQUIRE(a && a->granules && address - a->address < a->bytes, CUDA_ERROR_INVALID_VALUE);
    const Granule *granule = granule_at(a, address);
    CU_REQUIRE(granule->physical, CUDA_ERROR_INVALID_VALUE);
    *flags = granule->writers >> location->id & 1   ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE
             : granule->readers >> location->id & 1 ? CU_MEM_ACCESS_FLAGS_PROT_READ
                                                    : CU_MEM_ACCESS_FLAGS_PROT_NONE;
    return CUDA_SUCCESS;
}
