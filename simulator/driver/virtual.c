// virtual.c: driver API: virtual memory management.
//
// A reserved address range is one Allocation, whatever is mapped in it, so an array may span several physical allocations
// ("pieces"). Each piece is a file, which may be mapped several times, also in other processes.
#include "base/platform.h"
#include "checker/host_checks.h"
#include "driver/driver.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct Piece {
    CUmemAllocationProp properties;
    size_t bytes;
    int file;
    size_t holders; // reference count: the handle, each cuMemRetainAllocationHandle, each mapping
    size_t handles; // of these, references that cuMemRelease drops
} Piece;

static bool in_granules(uint64_t number)
{
    return number % SIM_GRANULE == 0;
}

static void release_piece(Piece *piece)
{
    if (--piece->holders > 0)
        return;
    close(piece->file);
    sim_count_memory(piece->properties.location.id, -(int64_t)piece->bytes);
    free(piece);
}

static CUresult check_properties(const CUmemAllocationProp *p)
{
    int count;
    NEED(p && p->type == CU_MEM_ALLOCATION_TYPE_PINNED, CUDA_ERROR_INVALID_VALUE);
    NEED(p->location.type == CU_MEM_LOCATION_TYPE_DEVICE, CUDA_ERROR_NOT_SUPPORTED);
    RETURN_IF(CALL(cudaGetDeviceCount(&count)));
    NEED(p->location.id >= 0 && p->location.id < count, CUDA_ERROR_INVALID_DEVICE);
    return CUDA_SUCCESS;
}

API CUresult cuMemGetAllocationGranularity(size_t *bytes, const CUmemAllocationProp *p,
                                           CUmemAllocationGranularity_flags option)
{
    UNUSED(option); // minimum and recommended granularity are equal
    NEED_CUINIT();
    NEED(bytes, CUDA_ERROR_INVALID_VALUE);
    RETURN_IF(check_properties(p));
    *bytes = SIM_GRANULE;
    return CUDA_SUCCESS;
}

// ---- Memory

static CUresult new_piece(CUmemGenericAllocationHandle *handle, int file, size_t bytes, const CUmemAllocationProp *p)
{
    Piece *piece = file >= 0 ? calloc(1, sizeof *piece) : NULL;
    if (piece)
        *piece = (Piece){.properties = *p, .bytes = bytes, .file = file, .holders = 1, .handles = 1};
    void *named = piece ? sim_new_handle(PIECE_HANDLE, piece) : NULL;
    if (!named) {
        free(piece);
        if (file >= 0)
            close(file);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    sim_count_memory(p->location.id, (int64_t)bytes);
    *handle = (CUmemGenericAllocationHandle)(uintptr_t)named;
    return CUDA_SUCCESS;
}

static Piece *piece_of(CUmemGenericAllocationHandle handle)
{
    return sim_object_of(PIECE_HANDLE, (const void *)(uintptr_t)handle);
}

API CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t bytes, const CUmemAllocationProp *p,
                         unsigned long long flags)
{
    NEED_CUINIT();
    LOCK_MEMORY();
    RETURN_IF(check_properties(p));
    NEED(handle && bytes > 0 && in_granules(bytes) && flags == 0, CUDA_ERROR_INVALID_VALUE);
    NEED(sim_memory_available(p->location.id, bytes), CUDA_ERROR_OUT_OF_MEMORY);
    return new_piece(handle, sim_make_shared_file(bytes), bytes, p);
}

API CUresult cuMemRelease(CUmemGenericAllocationHandle handle)
{
    NEED_CUINIT();
    LOCK_MEMORY();
    Piece *piece = piece_of(handle);
    NEED(piece, CUDA_ERROR_INVALID_VALUE);
    if (--piece->handles == 0)
        sim_remove_handle(PIECE_HANDLE, (const void *)(uintptr_t)handle);
    release_piece(piece);
    return CUDA_SUCCESS;
}

API CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *p, CUmemGenericAllocationHandle handle)
{
    NEED_CUINIT();
    LOCK_MEMORY();
    const Piece *piece = piece_of(handle);
    NEED(p && piece, CUDA_ERROR_INVALID_VALUE);
    *p = piece->properties;
    return CUDA_SUCCESS;
}

// The shareable handle is the piece's file descriptor.
API CUresult cuMemExportToShareableHandle(void *shared, CUmemGenericAllocationHandle handle,
                                          CUmemAllocationHandleType type, unsigned long long flags)
{
    NEED_CUINIT();
    LOCK_MEMORY();
    const Piece *piece = piece_of(handle);
    NEED(shared && piece && flags == 0, CUDA_ERROR_INVALID_VALUE);
    NEED(type == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, CUDA_ERROR_NOT_SUPPORTED);
    NEED(piece->properties.requestedHandleTypes & type, CUDA_ERROR_INVALID_VALUE);
    const int file = dup(piece->file);
    NEED(file >= 0, CUDA_ERROR_OPERATING_SYSTEM);
    *(int *)shared = file;
    return CUDA_SUCCESS;
}

API CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle, void *shared,
                                            CUmemAllocationHandleType type)
{
    struct stat about;
    const int file = (int)(intptr_t)shared;
    NEED_CONTEXT();
    LOCK_MEMORY();
    NEED(type == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, CUDA_ERROR_NOT_SUPPORTED);
    NEED(handle && fstat(file, &about) == 0 && about.st_size > 0 && in_granules((uint64_t)about.st_size),
         CUDA_ERROR_INVALID_VALUE);
    const CUmemAllocationProp p = {.type = CU_MEM_ALLOCATION_TYPE_PINNED, .requestedHandleTypes = type,
                                   .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = sim_current_device}};
    return new_piece(handle, dup(file), (size_t)about.st_size, &p);
}

// ---- Addresses

API CUresult cuMemAddressReserve(CUdeviceptr *address, size_t bytes, size_t alignment, CUdeviceptr wish,
                                 unsigned long long flags)
{
    UNUSED(wish); // CUDA may ignore it
    NEED_CUINIT();
    LOCK_MEMORY();
    NEED(address && bytes > 0 && in_granules(bytes) && flags == 0, CUDA_ERROR_INVALID_VALUE);
    NEED((alignment & (alignment - 1)) == 0, CUDA_ERROR_INVALID_VALUE);
    *address = sim_reserve_addresses(bytes, alignment > SIM_GRANULE ? alignment : SIM_GRANULE);
    NEED(*address, CUDA_ERROR_OUT_OF_MEMORY);
    sim_note_allocation(sim_allocation_at(*address), __func__);
    return CUDA_SUCCESS;
}

// The reservation that contains these bytes, which are whole granules; or NULL.
static Allocation *reservation_at(CUdeviceptr address, size_t bytes)
{
    Allocation *a = sim_allocation_at(address);
    const bool holds = a && a->granules && address - a->address < a->bytes &&
                       bytes <= a->bytes - (address - a->address);
    return holds && bytes > 0 && in_granules(address - a->address) && in_granules(bytes) ? a : NULL;
}

static Granule *granule_at(const Allocation *a, CUdeviceptr address)
{
    return &a->granules[(address - a->address) / SIM_GRANULE];
}

// Whether all of these granules are mapped, or all unmapped, as `mapped` says.
static bool are_all(const Granule *granules, size_t bytes, bool mapped)
{
    for (size_t k = 0; k < bytes / SIM_GRANULE; k++)
        if ((granules[k].piece != NULL) != mapped)
            return false;
    return true;
}

API CUresult cuMemAddressFree(CUdeviceptr address, size_t bytes)
{
    NEED_CUINIT();
    LOCK_MEMORY();
    const Allocation *a = reservation_at(address, bytes);
    NEED(a && a->address == address && a->bytes == bytes, CUDA_ERROR_INVALID_VALUE);
    NEED(are_all(a->granules, bytes, false), CUDA_ERROR_INVALID_VALUE);
    return sim_driver_error(sim_free_allocation(pointer_at(address), RESERVED_MEMORY));
}

API CUresult cuMemMap(CUdeviceptr address, size_t bytes, size_t offset, CUmemGenericAllocationHandle handle,
                      unsigned long long flags)
{
    NEED_CUINIT();
    LOCK_MEMORY();
    Piece *piece = piece_of(handle);
    const Allocation *a = reservation_at(address, bytes);
    NEED(piece && a && flags == 0, CUDA_ERROR_INVALID_VALUE);
    NEED(in_granules(offset) && offset <= piece->bytes && bytes <= piece->bytes - offset, CUDA_ERROR_INVALID_VALUE);
    Granule *granule = granule_at(a, address);
    NEED(are_all(granule, bytes, false), CUDA_ERROR_INVALID_VALUE);
    NEED(sim_map_shared(a->memory + (address - a->address), bytes, piece->file, offset), CUDA_ERROR_OUT_OF_MEMORY);
    for (size_t k = 0; k < bytes / SIM_GRANULE; k++)
        granule[k] = (Granule){.piece = piece};
    piece->holders += bytes / SIM_GRANULE;
    return CUDA_SUCCESS;
}

API CUresult cuMemUnmap(CUdeviceptr address, size_t bytes)
{
    NEED_CUINIT();
    LOCK_MEMORY();
    const Allocation *a = reservation_at(address, bytes);
    NEED(a, CUDA_ERROR_INVALID_VALUE);
    Granule *granule = granule_at(a, address);
    NEED(are_all(granule, bytes, true), CUDA_ERROR_INVALID_VALUE);
    sim_host_awaits_device(sim_current_device);
    NEED(sim_restore_fill(a->memory + (address - a->address), bytes), CUDA_ERROR_OUT_OF_MEMORY);
    for (size_t k = 0; k < bytes / SIM_GRANULE; k++) {
        release_piece(granule[k].piece);
        granule[k] = (Granule){.piece = NULL};
    }
    return CUDA_SUCCESS;
}

API CUresult cuMemSetAccess(CUdeviceptr address, size_t bytes, const CUmemAccessDesc *wanted, size_t count)
{
    int devices;
    NEED_CUINIT();
    LOCK_MEMORY();
    const Allocation *a = reservation_at(address, bytes);
    NEED(a && wanted && count > 0, CUDA_ERROR_INVALID_VALUE);
    Granule *granule = granule_at(a, address);
    NEED(are_all(granule, bytes, true), CUDA_ERROR_INVALID_VALUE);
    RETURN_IF(CALL(cudaGetDeviceCount(&devices)));
    for (size_t n = 0; n < count; n++) {
        NEED(wanted[n].location.type == CU_MEM_LOCATION_TYPE_DEVICE, CUDA_ERROR_NOT_SUPPORTED);
        NEED(wanted[n].location.id >= 0 && wanted[n].location.id < devices, CUDA_ERROR_INVALID_DEVICE);
    }
    for (size_t n = 0; n < count; n++)
        for (size_t k = 0; k < bytes / SIM_GRANULE; k++) {
            const uint32_t bit = 1u << wanted[n].location.id;
            const bool reads = wanted[n].flags & CU_MEM_ACCESS_FLAGS_PROT_READ;
            const bool writes = wanted[n].flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
            granule[k].readers = reads ? granule[k].readers | bit : granule[k].readers & ~bit;
            granule[k].writers = writes ? granule[k].writers | bit : granule[k].writers & ~bit;
        }
    return CUDA_SUCCESS;
}

API CUresult cuMemGetAccess(unsigned long long *flags, const CUmemLocation *location, CUdeviceptr address)
{
    NEED_CUINIT();
    LOCK_MEMORY();
    const Allocation *a = sim_allocation_at(address);
    NEED(flags && location && location->type == CU_MEM_LOCATION_TYPE_DEVICE, CUDA_ERROR_INVALID_VALUE);
    NEED(a && a->granules && address - a->address < a->bytes, CUDA_ERROR_INVALID_VALUE);
    const Granule *granule = granule_at(a, address);
    NEED(granule->piece, CUDA_ERROR_INVALID_VALUE);
    *flags = granule->writers >> location->id & 1   ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE
             : granule->readers >> location->id & 1 ? CU_MEM_ACCESS_FLAGS_PROT_READ
                                                    : CU_MEM_ACCESS_FLAGS_PROT_NONE;
    return CUDA_SUCCESS;
}
