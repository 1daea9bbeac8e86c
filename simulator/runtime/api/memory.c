// memory.c: allocations of device memory, of pinned and of managed memory.
#define _GNU_SOURCE // for mincore
#include "runtime/api/calls.h"
#include "checker/check_host.h"

#include <sys/mman.h>
#include <unistd.h>

// ---- Where a pointer leads

// The allocation that holds the pointer, of memory that the program may hand to a call; or NULL.
static const Allocation *allocation_with(const void *pointer)
{
    const uint64_t address = (uint64_t)(uintptr_t)pointer;
    const Allocation *a = sim_allocation_at(address);
    return a && address - a->address < a->bytes ? a : NULL;
}

bool sim_on_device(const void *pointer, size_t bytes)
{
    const Allocation *a = allocation_with(pointer);
    if (bytes == 0)
        return true;
    if (!a || a->kind == HEAP_MEMORY || a->kind == PARAMETER_MEMORY) // a kernel's own, which no call may touch
        return false;
    const uint64_t address = (uint64_t)(uintptr_t)pointer;
    return bytes <= a->bytes - (address - a->address) &&
           sim_first_closed(a, sim_current_device, address, bytes, false) == address + bytes;
}

// Whether the process has memory there that the program may use.
static bool is_mapped(const void *pointer, size_t bytes)
{
    enum { AT_ONCE = 4096 };
    static unsigned char unused[AT_ONCE]; // mincore's answer; the lock guards it
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), end = (uintptr_t)pointer + bytes;
    if (!pointer || end < (uintptr_t)pointer || sim_in_device_range(pointer) || sim_in_device_range((void *)(end - 1)))
        return false;
    for (uintptr_t at = (uintptr_t)pointer / page * page; at < end; at += AT_ONCE * page) {
        const size_t length = end - at < AT_ONCE * page ? end - at : AT_ONCE * page;
        if (mincore((void *)at, length, unused) != 0)
            return false;
    }
    return true;
}

bool sim_on_host(const void *pointer, size_t bytes)
{
    const Allocation *a = allocation_with(pointer);
    if (bytes == 0)
        return true;
    if (!a)
        return is_mapped(pointer, bytes);
    const bool shared = a->kind == PINNED_MEMORY || a->kind == MANAGED_MEMORY || a->kind == HOST_MEMORY;
    return (shared || sim_in_managed_variable(pointer)) && sim_on_device(pointer, bytes);
}

// ---- Allocations

static cudaError_t end_allocation(const char *call, void *pointer, MemoryKind kind)
{
    const cudaError_t error = sim_end_allocation(pointer, kind);
    if (error)
        sim_find_wrong_free(call, pointer);
    if (!sim_is_in_stream()) // not cudaFreeAsync: the others wait for the device
        sim_host_awaits_device(sim_current_device);
    return sim_done(error);
}

cudaError_t sim_allocate_memory(const char *call, void **pointer, size_t bytes, MemoryKind kind, unsigned flags)
{
    BEGIN_CALL();
    STOP_IF(sim_forbidden_in_capture(false));
    REQUIRE(pointer, cudaErrorInvalidValue);
    const cudaError_t error = sim_new_allocation(bytes, kind, pointer);
    if (error)
        sim_note_failed_allocation(call, bytes);
    if (error || !*pointer)
        return sim_done(error);
    Allocation *a = sim_allocation_at((uint64_t)(uintptr_t)*pointer);
    a->flags = flags;
    sim_note_allocation(a, call);
    return cudaSuccess;
}

// ---- Device memory

API cudaError_t cudaMalloc(void **pointer, size_t bytes)
{
    return sim_allocate_memory(__func__, pointer, bytes, DEVICE_MEMORY, 0);
}

API cudaError_t cudaFree(void *pointer)
{
    BEGIN_CALL();
    STOP_IF(sim_forbidden_in_capture(false));
    const Allocation *a = sim_allocation_at((uint64_t)(uintptr_t)pointer);
    const bool begins = a && a->address == (uint64_t)(uintptr_t)pointer;
    if (begins && a->kind == GRAPH_MEMORY)
        return sim_done(sim_free_graph_memory(pointer));
    if (begins && a->pool)
        sim_leave_pool(a);
    return end_allocation(__func__, pointer, begins && a->kind == MANAGED_MEMORY ? MANAGED_MEMORY : DEVICE_MEMORY);
}

// Rows of width bytes that begin at multiples of *pitch.
static cudaError_t allocate_rows(const char *call, void **pointer, size_t *pitch, size_t width, size_t rows)
{
    enum { PITCH = 512 };
    size_t bytes;
    REQUIRE(width <= SIZE_MAX - PITCH, cudaErrorMemoryAllocation);
    *pitch = (width + PITCH - 1) / PITCH * PITCH;
    REQUIRE(!__builtin_mul_overflow(*pitch, rows, &bytes), cudaErrorMemoryAllocation);
    return sim_allocate_memory(call, pointer, bytes, DEVICE_MEMORY, 0);
}

API cudaError_t cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height)
{
    REQUIRE(pointer && pitch, cudaErrorInvalidValue);
    return allocate_rows(__func__, pointer, pitch, width, height);
}

API cudaError_t cudaMalloc3D(struct cudaPitchedPtr *pitched, struct cudaExtent extent)
{
    size_t rows;
    REQUIRE(pitched, cudaErrorInvalidValue);
    REQUIRE(!__builtin_mul_overflow(extent.height, extent.depth, &rows), cudaErrorMemoryAllocation);
    pitched->xsize = extent.width;
    pitched->ysize = extent.height;
    return allocate_rows(__func__, &pitched->ptr, &pitched->pitch, extent.width, rows);
}

API cudaError_t cudaMemGetInfo(size_t *unused, size_t *total)
{
    BEGIN_CALL();
    REQUIRE(unused && total, cudaErrorInvalidValue);
    *total = sim_device()->memory_bytes;
    *unused = *total - sim_allocated_bytes();
    return cudaSuccess;
}

// ---- The host's memory

API cudaError_t cudaMallocHost(void **pointer, size_t bytes)
{
    return sim_allocate_memory(__func__, pointer, bytes, PINNED_MEMORY, cudaHostAllocDefault);
}

API cudaError_t cudaHostAlloc(void **pointer, size_t bytes, unsigned flags)
{
    const unsigned known = cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
    REQUIRE((flags & ~known) == 0, cudaErrorInvalidValue);
    return sim_allocate_memory(__func__, pointer, bytes, PINNED_MEMORY, flags);
}

API cudaError_t cudaFreeHost(void *pointer)
{
    BEGIN_CALL();
    STOP_IF(sim_forbidden_in_capture(false));
    return end_allocation(__func__, pointer, PINNED_MEMORY);
}

API cudaError_t cudaMallocManaged(void **pointer, size_t bytes, unsigned flags)
{
    REQUIRE(flags == cudaMemAttachGlobal || flags == cudaMemAttachHost, cudaErrorInvalidValue);
    REQUIRE(bytes > 0, cudaErrorInvalidValue);
    return sim_allocate_memory(__func__, pointer, bytes, MANAGED_MEMORY, flags);
}

API cudaError_t cudaHostRegister(void *pointer, size_t bytes, unsigned flags)
{
    const unsigned known =
        cudaHostRegisterPortable | cudaHostRegisterMapped | cudaHostRegisterIoMemory | cudaHostRegisterReadOnly;
    BEGIN_CALL();
    REQUIRE(bytes > 0 && (flags & ~known) == 0 && is_mapped(pointer, bytes), cudaErrorInvalidValue);
    const uint64_t address = (uint64_t)(uintptr_t)pointer;
    const Allocation *last = sim_allocation_at(address + bytes - 1);
    REQUIRE(!last || last->address + last->bytes <= address, cudaErrorHostMemoryAlreadyRegistered);
    sim_register_memory(pointer, bytes, HOST_MEMORY);
    sim_allocation_at(address)->flags = flags;
    return cudaSuccess;
}

API cudaError_t cudaHostUnregister(void *pointer)
{
    BEGIN_CALL();
    const Allocation *a = allocation_with(pointer);
    REQUIRE(a, cudaErrorHostMemoryNotRegistered);
    REQUIRE(a->kind == HOST_MEMORY && a->address == (uint64_t)(uintptr_t)pointer, cudaErrorInvalidValue);
    sim_unregister_memory(pointer);
    return cudaSuccess;
}

// The allocation of pinned or registered memory that holds the pointer, or NULL.
static const Allocation *host_allocation_with(const void *pointer)
{
    const Allocation *a = allocation_with(pointer);
    return a && (a->kind == PINNED_MEMORY || a->kind == HOST_MEMORY) ? a : NULL;
}

API cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned flags)
{
    BEGIN_CALL();
    REQUIRE(device && flags == 0 && host_allocation_with(host), cudaErrorInvalidValue);
    *device = host;
    return cudaSuccess;
}

// All of it is mapped and of use to any device, whatever was asked for.
API cudaError_t cudaHostGetFlags(unsigned *flags, void *host)
{
    BEGIN_CALL();
    const Allocation *a = host_allocation_with(host);
    REQUIRE(flags && a, cudaErrorInvalidValue);
    *flags = a->flags | cudaHostAllocMapped;
    return cudaSuccess;
}

// ---- What a pointer is

static enum cudaMemoryType memory_type(const void *pointer)
{
    const Allocation *a = allocation_with(pointer);
    if (!a || a->kind == PARAMETER_MEMORY)
        return cudaMemoryTypeUnregistered;
    const MemoryKind kind = a->kind;
    if (kind == PINNED_MEMORY || kind == HOST_MEMORY)
        return cudaMemoryTypeHost;
    return kind == MANAGED_MEMORY || sim_in_managed_variable(pointer) ? cudaMemoryTypeManaged : cudaMemoryTypeDevice;
}

API cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *pointer)
{
    BEGIN_CALL();
    REQUIRE(attributes, cudaErrorInvalidValue);
    memset(attributes, 0, sizeof *attributes);
    attributes->type = memory_type(pointer);
    attributes->device = attributes->type == cudaMemoryTypeUnregistered
                             ? cudaInvalidDeviceId
                             : sim_allocation_at((uint64_t)(uintptr_t)pointer)->device;
    if (attributes->type != cudaMemoryTypeUnregistered)
        attributes->devicePointer = (void *)(uintptr_t)pointer;
    if (attributes->type != cudaMemoryTypeDevice)
        attributes->hostPointer = (void *)(uintptr_t)pointer;
    return cudaSuccess;
}
