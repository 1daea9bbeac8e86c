// memory.c: device, pinned and managed memory; pointer attributes.
#include "runtime/api/calls.h"

// ---- Allocations

static cudaError_t allocate(const char *call, void **pointer, size_t bytes, MemoryKind kind, unsigned flags)
{
    BEGIN_CALL();
    RETURN_IF_ERROR(sim_capture_check_unsafe(false));
    REQUIRE(pointer, cudaErrorInvalidValue);
    return sim_record_error(sim_allocate_memory(call, pointer, bytes, kind, flags));
}

// ---- Device memory

API cudaError_t cudaMalloc(void **pointer, size_t bytes)
{
    return allocate(__func__, pointer, bytes, DEVICE_MEMORY, 0);
}

static bool is_graph_memory(const void *pointer)
{
    const Allocation *a = sim_allocation_at((uint64_t)(uintptr_t)pointer);
    return a && a->address == (uint64_t)(uintptr_t)pointer && a->kind == GRAPH_MEMORY;
}

API cudaError_t cudaFree(void *pointer)
{
    BEGIN_CALL();
    RETURN_IF_ERROR(sim_capture_check_unsafe(false));
    const bool graph_memory = is_graph_memory(pointer);
    const cudaError_t error = sim_free_device_memory(pointer);
    if (!graph_memory)
        sim_synchronize_host_with_device(sim_current_device);
    return sim_record_error(error);
}

// Allocates rows of `width` bytes and sets their pitch.
static cudaError_t allocate_rows(const char *call, void **pointer, size_t *pitch, size_t width, size_t rows)
{
    enum { PITCH_UNIT = 512 };
    size_t bytes;
    REQUIRE(width <= SIZE_MAX - PITCH_UNIT, cudaErrorMemoryAllocation);
    *pitch = (width + PITCH_UNIT - 1) / PITCH_UNIT * PITCH_UNIT;
    REQUIRE(!__builtin_mul_overflow(*pitch, rows, &bytes), cudaErrorMemoryAllocation);
    const cudaError_t error = allocate(call, pointer, bytes, DEVICE_MEMORY, 0);
    LOCK_MEMORY();
    Allocation *a = error || bytes == 0 ? NULL : sim_allocation_at((uint64_t)(uintptr_t)*pointer);
    if (a) {
        a->row_bytes = width;
        a->row_pitch = *pitch;
    }
    return error;
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

API cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total)
{
    BEGIN_CALL();
    REQUIRE(free_bytes && total, cudaErrorInvalidValue);
    *total = sim_device()->memory_bytes;
    *free_bytes = *total - sim_allocated_bytes();
    return cudaSuccess;
}

// ---- Host memory

API cudaError_t cudaMallocHost(void **pointer, size_t bytes)
{
    return allocate(__func__, pointer, bytes, PINNED_MEMORY, cudaHostAllocDefault);
}

API cudaError_t cudaHostAlloc(void **pointer, size_t bytes, unsigned flags)
{
    const unsigned valid_flags = cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
    REQUIRE((flags & ~valid_flags) == 0, cudaErrorInvalidValue);
    return allocate(__func__, pointer, bytes, PINNED_MEMORY, flags);
}

API cudaError_t cudaFreeHost(void *pointer)
{
    BEGIN_CALL();
    RETURN_IF_ERROR(sim_capture_check_unsafe(false));
    const cudaError_t error = sim_free_memory(__func__, pointer, PINNED_MEMORY);
    sim_synchronize_host_with_device(sim_current_device);
    return sim_record_error(error);
}

API cudaError_t cudaMallocManaged(void **pointer, size_t bytes, unsigned flags)
{
    REQUIRE(flags == cudaMemAttachGlobal || flags == cudaMemAttachHost, cudaErrorInvalidValue);
    REQUIRE(bytes > 0, cudaErrorInvalidValue);
    return allocate(__func__, pointer, bytes, MANAGED_MEMORY, flags);
}

API cudaError_t cudaHostRegister(void *pointer, size_t bytes, unsigned flags)
{
    const unsigned valid_flags =
        cudaHostRegisterPortable | cudaHostRegisterMapped | cudaHostRegisterIoMemory | cudaHostRegisterReadOnly;
    BEGIN_CALL();
    REQUIRE(bytes > 0 && (flags & ~valid_flags) == 0 && sim_is_mapped(pointer, bytes), cudaErrorInvalidValue);
    const uint64_t address = (uint64_t)(uintptr_t)pointer;
    const Allocation *overlapping = sim_allocation_at(address + bytes - 1);
    REQUIRE(!overlapping || overlapping->address + overlapping->bytes <= address, cudaErrorHostMemoryAlreadyRegistered);
    sim_register_memory(pointer, bytes, HOST_MEMORY);
    sim_allocation_at(address)->flags = flags;
    return cudaSuccess;
}

API cudaError_t cudaHostUnregister(void *pointer)
{
    BEGIN_CALL();
    const Allocation *a = sim_allocation_containing(pointer);
    REQUIRE(a, cudaErrorHostMemoryNotRegistered);
    REQUIRE(a->kind == HOST_MEMORY && a->address == (uint64_t)(uintptr_t)pointer, cudaErrorInvalidValue);
    sim_unregister_memory(pointer);
    return cudaSuccess;
}

const Allocation *sim_pinned_allocation_containing(const void *pointer)
{
    const Allocation *a = sim_allocation_containing(pointer);
    return a && (a->kind == PINNED_MEMORY || a->kind == HOST_MEMORY) ? a : NULL;
}

API cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned flags)
{
    BEGIN_CALL();
    REQUIRE(device && flags == 0 && sim_pinned_allocation_containing(host), cudaErrorInvalidValue);
    *device = host;
    return cudaSuccess;
}

// All pinned memory is mapped and portable, regardless of its flags.
API cudaError_t cudaHostGetFlags(unsigned *flags, void *host)
{
    BEGIN_CALL();
    const Allocation *a = sim_pinned_allocation_containing(host);
    REQUIRE(flags && a, cudaErrorInvalidValue);
    *flags = a->flags | cudaHostAllocMapped;
    return cudaSuccess;
}

// ---- Pointer attributes

static enum cudaMemoryType memory_type(const void *pointer)
{
    const Allocation *a = sim_allocation_containing(pointer);
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
