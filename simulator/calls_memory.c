// calls_memory.c: memory and variables: allocations, copies, fills.
#include "calls.h"

// Whether [pointer, pointer + bytes) is within one allocation; of no bytes always.
static bool on_device(const void *pointer, size_t bytes)
{
    const uint64_t address = (uint64_t)(uintptr_t)pointer;
    const Allocation *a = sim_allocation_at(address);
    return bytes == 0 || (a && address - a->address < a->bytes && bytes <= a->bytes - (address - a->address));
}

// A pointer that begins inside an allocation but ends outside is wrong even as a host pointer.
static bool begins_on_device(const void *pointer)
{
    return on_device(pointer, 1);
}

static cudaError_t allocate(void **pointer, size_t bytes, MemoryKind kind)
{
    HOLD_MEMORY();
    STOP_IF_BROKEN();
    return pointer ? sim_done(sim_new_allocation(bytes, kind, pointer)) : sim_done(cudaErrorInvalidValue);
}

API cudaError_t cudaMalloc(void **pointer, size_t bytes)
{
    return allocate(pointer, bytes, DEVICE_MEMORY);
}

API cudaError_t cudaFree(void *pointer)
{
    HOLD_MEMORY();
    STOP_IF_BROKEN();
    const Allocation *a = sim_allocation_at((uint64_t)(uintptr_t)pointer);
    return sim_done(sim_end_allocation(pointer, a && a->kind == MANAGED_MEMORY ? MANAGED_MEMORY : DEVICE_MEMORY));
}

API cudaError_t cudaMallocAsync(void **pointer, size_t bytes, cudaStream_t stream)
{
    UNUSED(stream);
    return cudaMalloc(pointer, bytes);
}

API cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream)
{
    UNUSED(stream);
    return cudaFree(pointer);
}

API cudaError_t cudaMallocHost(void **pointer, size_t bytes)
{
    return allocate(pointer, bytes, PINNED_MEMORY);
}

API cudaError_t cudaHostAlloc(void **pointer, size_t bytes, unsigned flags)
{
    UNUSED(flags);
    return allocate(pointer, bytes, PINNED_MEMORY);
}

API cudaError_t cudaFreeHost(void *pointer)
{
    HOLD_MEMORY();
    STOP_IF_BROKEN();
    return sim_done(sim_end_allocation(pointer, PINNED_MEMORY));
}

API cudaError_t cudaMallocManaged(void **pointer, size_t bytes, unsigned flags)
{
    UNUSED(flags);
    return allocate(pointer, bytes, MANAGED_MEMORY);
}

API cudaError_t cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height)
{
    enum { PITCH = 512 };
    *pitch = (width + PITCH - 1) / PITCH * PITCH;
    return cudaMalloc(pointer, *pitch * height);
}

API cudaError_t cudaHostRegister(void *pointer, size_t bytes, unsigned flags)
{
    UNUSED(flags);
    HOLD_MEMORY();
    STOP_IF_BROKEN();
    if (!pointer || bytes == 0)
        return sim_done(cudaErrorInvalidValue);
    const Allocation *last = sim_allocation_at((uint64_t)(uintptr_t)pointer + bytes - 1);
    if (last && last->address + last->bytes > (uint64_t)(uintptr_t)pointer)
        return sim_done(cudaErrorHostMemoryAlreadyRegistered);
    sim_register_memory(pointer, bytes, HOST_MEMORY);
    return cudaSuccess;
}

API cudaError_t cudaHostUnregister(void *pointer)
{
    HOLD_MEMORY();
    STOP_IF_BROKEN();
    const Allocation *a = sim_allocation_at((uint64_t)(uintptr_t)pointer);
    if (!begins_on_device(pointer))
        return sim_done(cudaErrorHostMemoryNotRegistered);
    if (a->kind != HOST_MEMORY || a->address != (uint64_t)(uintptr_t)pointer)
        return sim_done(cudaErrorInvalidValue);
    sim_unregister_memory(pointer);
    return cudaSuccess;
}

API cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned flags)
{
    UNUSED(flags);
    HOLD_MEMORY();
    STOP_IF_BROKEN();
    *device = host;
    return begins_on_device(host) ? cudaSuccess : sim_done(cudaErrorInvalidValue);
}

API cudaError_t cudaMemGetInfo(size_t *unused, size_t *total)
{
    HOLD_MEMORY();
    STOP_IF_BROKEN();
    *total = sim_device()->memory_bytes;
    *unused = *total - sim_allocated_bytes();
    return cudaSuccess;
}

static cudaError_t check_copy(const void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault)
        return cudaErrorInvalidMemcpyDirection;
    const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice || begins_on_device(to);
    const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice || begins_on_device(from);
    if (bytes > 0 && (!to || !from))
        return cudaErrorInvalidValue;
    return (to_device && !on_device(to, bytes)) || (from_device && !on_device(from, bytes)) ? cudaErrorInvalidValue : cudaSuccess;
}

API cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    HOLD_MEMORY();
    STOP_IF_BROKEN();
    const cudaError_t error = check_copy(to, from, bytes, kind);
    if (!error && bytes)
        memmove(to, from, bytes);
    return sim_done(error);
}

API cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    UNUSED(stream);
    return cudaMemcpy(to, from, bytes, kind);
}

API cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, enum cudaMemcpyKind kind)
{
    STOP_IF_BROKEN();
    if (width > to_pitch || width > from_pitch)
        return sim_done(cudaErrorInvalidPitchValue);
    for (size_t row = 0; row < height; row++) {
        const cudaError_t error = cudaMemcpy((char *)to + row * to_pitch, (const char *)from + row * from_pitch, width, kind);
        if (error)
            return error;
    }
    return cudaSuccess;
}

API cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    UNUSED(stream);
    return cudaMemcpy2D(to, to_pitch, from, from_pitch, width, height, kind);
}

API cudaError_t cudaMemset(void *pointer, int value, size_t bytes)
{
    HOLD_MEMORY();
    STOP_IF_BROKEN();
    if (!on_device(pointer, bytes))
        return sim_done(cudaErrorInvalidValue);
    if (bytes)
        memset(pointer, value, bytes);
    return cudaSuccess;
}

API cudaError_t cudaMemsetAsync(void *pointer, int value, size_t bytes, cudaStream_t stream)
{
    UNUSED(stream);
    return cudaMemset(pointer, value, bytes);
}

API cudaError_t cudaMemset2D(void *pointer, size_t pitch, int value, size_t width, size_t height)
{
    STOP_IF_BROKEN();
    if (width > pitch)
        return sim_done(cudaErrorInvalidValue);
    for (size_t row = 0; row < height; row++) {
        const cudaError_t error = cudaMemset((char *)pointer + row * pitch, value, width);
        if (error)
            return error;
    }
    return cudaSuccess;
}

API cudaError_t cudaMemset2DAsync(void *pointer, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream)
{
    UNUSED(stream);
    return cudaMemset2D(pointer, pitch, value, width, height);
}

API cudaError_t cudaGetSymbolAddress(void **pointer, const void *host)
{
    STOP_IF_BROKEN();
    const Symbol *s = sim_symbol_of(host);
    if (!s || !sim_variable_of(s))
        return sim_done(cudaErrorInvalidSymbol);
    *pointer = (void *)(uintptr_t)sim_variable_of(s)->address;
    return cudaSuccess;
}

API cudaError_t cudaGetSymbolSize(size_t *bytes, const void *host)
{
    STOP_IF_BROKEN();
    const Symbol *s = sim_symbol_of(host);
    if (!s)
        return sim_done(cudaErrorInvalidSymbol);
    *bytes = s->bytes;
    return cudaSuccess;
}

API cudaError_t cudaMemcpyToSymbol(const void *host, const void *from, size_t bytes, size_t offset, enum cudaMemcpyKind kind)
{
    void *to = NULL;
    if (kind == cudaMemcpyHostToHost || kind == cudaMemcpyDeviceToHost)
        return sim_done(cudaErrorInvalidMemcpyDirection);
    const cudaError_t error = cudaGetSymbolAddress(&to, host);
    return error ? error : cudaMemcpy((char *)to + offset, from, bytes, kind);
}

API cudaError_t cudaMemcpyFromSymbol(void *to, const void *host, size_t bytes, size_t offset, enum cudaMemcpyKind kind)
{
    void *from = NULL;
    if (kind == cudaMemcpyHostToHost || kind == cudaMemcpyHostToDevice)
        return sim_done(cudaErrorInvalidMemcpyDirection);
    const cudaError_t error = cudaGetSymbolAddress(&from, host);
    return error ? error : cudaMemcpy(to, (char *)from + offset, bytes, kind);
}

API cudaError_t cudaMemcpyToSymbolAsync(const void *host, const void *from, size_t bytes, size_t offset, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    UNUSED(stream);
    return cudaMemcpyToSymbol(host, from, bytes, offset, kind);
}

API cudaError_t cudaMemcpyFromSymbolAsync(void *to, const void *host, size_t bytes, size_t offset, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    UNUSED(stream);
    return cudaMemcpyFromSymbol(to, host, bytes, offset, kind);
}

static enum cudaMemoryType memory_type(const void *pointer)
{
    if (!begins_on_device(pointer))
        return cudaMemoryTypeUnregistered;
    const MemoryKind kind = sim_allocation_at((uint64_t)(uintptr_t)pointer)->kind;
    if (kind == PINNED_MEMORY || kind == HOST_MEMORY)
        return cudaMemoryTypeHost;
    return kind == MANAGED_MEMORY || sim_in_managed_variable(pointer) ? cudaMemoryTypeManaged : cudaMemoryTypeDevice;
}

API cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *pointer)
{
    HOLD_MEMORY();
    STOP_IF_BROKEN();
    memset(attributes, 0, sizeof *attributes);
    attributes->type = memory_type(pointer);
    if (attributes->type != cudaMemoryTypeUnregistered)
        attributes->devicePointer = (void *)(uintptr_t)pointer;
    if (attributes->type != cudaMemoryTypeDevice)
        attributes->hostPointer = (void *)(uintptr_t)pointer;
    return cudaSuccess;
}

#if CUDART_VERSION >= 13000
API cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t bytes, struct cudaMemLocation location, unsigned flags, cudaStream_t stream)
{
    UNUSED(location), UNUSED(flags), UNUSED(stream);
#else
API cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t bytes, int device, cudaStream_t stream)
{
    UNUSED(device), UNUSED(stream);
#endif
    HOLD_MEMORY();
    STOP_IF_BROKEN();
    return on_device(pointer, bytes) ? cudaSuccess : sim_done(cudaErrorInvalidValue);
}
