// pools.c: stream-ordered allocation from memory pools.
//
// Work is synchronous, so memory is allocated and freed at once. A pool only counts bytes; it keeps no unused memory, regardless of
// its release threshold.
#include "runtime/api/pool_memory.h"
#include "runtime/api/processes.h"

#include "checker/memory_uses.h"

#include <unistd.h>

// NULL until first use.
static cudaMemPool_t default_pool[SIM_MAX_DEVICES], current_pool[SIM_MAX_DEVICES];

static cudaMemPool_t new_pool(int device)
{
    Pool *object = calloc(1, sizeof *object);
    if (!object)
        return NULL;
    static int number = SIM_NO_POOL;
    object->device = device;
    object->process = getpid();
    object->number = ++number;
    object->accessible_by = 1u << device;
    for (int k = cudaMemPoolReuseFollowEventDependencies; k <= cudaMemPoolReuseAllowInternalDependencies; k++)
        object->reuse[k] = 1;
    const int current = sim_current_device;
    sim_current_device = device; // which becomes the handle's device
    const cudaMemPool_t pool = sim_new_handle(POOL_HANDLE, object);
    sim_current_device = current;
    return pool;
}

static cudaMemPool_t default_pool_of(int device)
{
    if (!default_pool[device])
        default_pool[device] = new_pool(device);
    return default_pool[device];
}

static cudaMemPool_t current_pool_of(int device)
{
    return current_pool[device] ? current_pool[device] : default_pool_of(device);
}

// ---- Allocations

static void add_to_pool(Allocation *a, cudaMemPool_t pool)
{
    Pool *p = sim_pool_of(pool);
    a->pool = pool;
    a->accessible_by = p->accessible_by;
    p->used += a->bytes;
    p->used_high = p->used > p->used_high ? p->used : p->used_high;
    p->reserved_high = p->used > p->reserved_high ? p->used : p->reserved_high;
}

static cudaError_t allocate(void **pointer, size_t bytes, cudaMemPool_t pool, cudaStream_t stream, const char *call,
                            const void *call_site)
{
    RETURN_IF_STICKY_ERROR();
    REQUIRE(pointer && sim_pool_of(pool), cudaErrorInvalidValue);
    REQUIRE_STREAM(stream);
    bool captured;
    RETURN_IF_ERROR(sim_capture_allocation(stream, bytes, pointer, &captured));
    if (captured)
        return cudaSuccess;
    SCOPED_OPERATION(sim_begin_operation(call, stream, false, call_site));
    Pool *p = sim_pool_of(pool);
    const int device = sim_current_device;
    sim_current_device = p->device; // memory belongs to the pool's device
    const cudaError_t error = sim_allocate_memory("cudaMallocAsync", pointer, bytes, DEVICE_MEMORY, 0);
    sim_current_device = device;
    if (error || !*pointer)
        return sim_record_error(error);
    Allocation *a = sim_allocation_at((uint64_t)(uintptr_t)*pointer);
    sim_note_stream_allocation(a);
    add_to_pool(a, pool);
    return cudaSuccess;
}

API cudaError_t cudaMallocFromPoolAsync(void **pointer, size_t bytes, cudaMemPool_t pool, cudaStream_t stream)
{
    LOCK_MEMORY();
    return allocate(pointer, bytes, pool, stream, __func__, __builtin_return_address(0));
}

API cudaError_t cudaMallocAsync(void **pointer, size_t bytes, cudaStream_t stream)
{
    LOCK_MEMORY();
    REQUIRE_STREAM(stream);
    return allocate(pointer, bytes, current_pool_of(sim_stream_of(stream)->device), stream, __func__,
                    __builtin_return_address(0));
}

API cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream)
{
    BEGIN_CALL();
    REQUIRE_STREAM(stream);
    REQUIRE(pointer, cudaErrorInvalidValue);
    bool captured;
    RETURN_IF_ERROR(sim_capture_free(stream, pointer, &captured));
    if (captured)
        return cudaSuccess;
    STREAM_OPERATION(stream);
    const Allocation *a = sim_allocation_at((uint64_t)(uintptr_t)pointer);
    if (a && a->address == (uint64_t)(uintptr_t)pointer)
        sim_check_free(a);
    return sim_record_error(sim_free_device_memory(pointer));
}

// ---- Pools

static bool is_supported_type(enum cudaMemAllocationHandleType type)
{
    return type == cudaMemHandleTypeNone || type == cudaMemHandleTypePosixFileDescriptor;
}

API cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const struct cudaMemPoolProps *properties)
{
    BEGIN_CALL();
    REQUIRE(pool && properties && properties->allocType == cudaMemAllocationTypePinned, cudaErrorInvalidValue);
    REQUIRE(properties->location.type == cudaMemLocationTypeDevice, cudaErrorNotSupported);
    REQUIRE(sim_is_device(properties->location.id), cudaErrorInvalidDevice);
    REQUIRE(is_supported_type(properties->handleTypes), cudaErrorNotSupported);
    *pool = new_pool(properties->location.id);
    REQUIRE(*pool, cudaErrorMemoryAllocation);
    sim_pool_of(*pool)->handle_types = (int)properties->handleTypes;
    return cudaSuccess;
}

API cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool)
{
    BEGIN_CALL();
    REQUIRE(sim_pool_of(pool) && pool != default_pool[sim_pool_of(pool)->device], cudaErrorInvalidValue);
    const int device = sim_pool_of(pool)->device;
    free(sim_remove_handle(POOL_HANDLE, pool));
    if (pool == current_pool[device])
        current_pool[device] = NULL;
    return cudaSuccess;
}

API cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device)
{
    BEGIN_CALL();
    REQUIRE(pool, cudaErrorInvalidValue);
    REQUIRE(sim_is_device(device), cudaErrorInvalidDevice);
    *pool = default_pool_of(device);
    return cudaSuccess;
}

API cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *pool, int device)
{
    BEGIN_CALL();
    REQUIRE(pool, cudaErrorInvalidValue);
    REQUIRE(sim_is_device(device), cudaErrorInvalidDevice);
    *pool = current_pool_of(device);
    return cudaSuccess;
}

API cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool)
{
    BEGIN_CALL();
    REQUIRE(sim_pool_of(pool), cudaErrorInvalidValue);
    REQUIRE(sim_is_device(device), cudaErrorInvalidDevice);
    REQUIRE(sim_pool_of(pool)->device == device, cudaErrorInvalidValue);
    current_pool[device] = pool;
    return cudaSuccess;
}

API cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t min_bytes)
{
    UNUSED(min_bytes);
    BEGIN_CALL();
    REQUIRE(sim_pool_of(pool), cudaErrorInvalidValue);
    return cudaSuccess; // a pool keeps no unused memory
}

// The three reuse attributes are ints; the other attributes have 64 bits.
API cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void *value)
{
    BEGIN_CALL();
    const Pool *p = sim_pool_of(pool);
    REQUIRE(p && value, cudaErrorInvalidValue);
    switch (attribute) {
    case cudaMemPoolReuseFollowEventDependencies:
    case cudaMemPoolReuseAllowOpportunistic:
    case cudaMemPoolReuseAllowInternalDependencies:
        *(int *)value = p->reuse[attribute];
        return cudaSuccess;
    case cudaMemPoolAttrReleaseThreshold:
        *(uint64_t *)value = p->release_threshold;
        return cudaSuccess;
    case cudaMemPoolAttrReservedMemCurrent:
    case cudaMemPoolAttrUsedMemCurrent:
        *(uint64_t *)value = p->used;
        return cudaSuccess;
    case cudaMemPoolAttrReservedMemHigh:
        *(uint64_t *)value = p->reserved_high;
        return cudaSuccess;
    case cudaMemPoolAttrUsedMemHigh:
        *(uint64_t *)value = p->used_high;
        return cudaSuccess;
    default:
        return sim_record_error(cudaErrorInvalidValue);
    }
}

// Of the counters, only the two high-water marks can be set, and only to 0.
API cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void *value)
{
    BEGIN_CALL();
    Pool *p = sim_pool_of(pool);
    REQUIRE(p && value, cudaErrorInvalidValue);
    switch (attribute) {
    case cudaMemPoolReuseFollowEventDependencies:
    case cudaMemPoolReuseAllowOpportunistic:
    case cudaMemPoolReuseAllowInternalDependencies:
        p->reuse[attribute] = *(const int *)value;
        return cudaSuccess;
    case cudaMemPoolAttrReleaseThreshold:
        p->release_threshold = *(const uint64_t *)value;
        return cudaSuccess;
    case cudaMemPoolAttrReservedMemHigh:
        REQUIRE(*(const uint64_t *)value == 0, cudaErrorInvalidValue);
        p->reserved_high = p->used;
        return cudaSuccess;
    case cudaMemPoolAttrUsedMemHigh:
        REQUIRE(*(const uint64_t *)value == 0, cudaErrorInvalidValue);
        p->used_high = p->used;
        return cudaSuccess;
    default:
        return sim_record_error(cudaErrorInvalidValue);
    }
}

// Sets another device's access to a pool's existing and future memory. The device of the pool always has access.
static void set_access(cudaMemPool_t pool, int device, bool enabled)
{
    Pool *p = sim_pool_of(pool);
    p->accessible_by = enabled ? p->accessible_by | 1u << device : p->accessible_by & ~(1u << device);
    for (Allocation *a = sim_allocation_above(0); a; a = sim_allocation_above(a->address))
        if (a->pool == pool)
            a->accessible_by = p->accessible_by;
}

API cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const struct cudaMemAccessDesc *list, size_t count)
{
    BEGIN_CALL();
    REQUIRE(sim_pool_of(pool) && (list || count == 0), cudaErrorInvalidValue);
    for (size_t k = 0; k < count; k++) {
        const struct cudaMemLocation *location = &list[k].location;
        const bool enabled = list[k].flags == cudaMemAccessFlagsProtReadWrite;
        REQUIRE(location->type == cudaMemLocationTypeDevice && sim_is_device(location->id), cudaErrorInvalidDevice);
        REQUIRE(enabled || list[k].flags == cudaMemAccessFlagsProtNone, cudaErrorInvalidValue);
        REQUIRE(enabled || location->id != sim_pool_of(pool)->device, cudaErrorInvalidDevice);
        set_access(pool, location->id, enabled);
    }
    return cudaSuccess;
}

API cudaError_t cudaMemPoolGetAccess(enum cudaMemAccessFlags *flags, cudaMemPool_t pool,
                                     struct cudaMemLocation *location)
{
    BEGIN_CALL();
    REQUIRE(flags && sim_pool_of(pool) && location, cudaErrorInvalidValue);
    REQUIRE(location->type == cudaMemLocationTypeDevice && sim_is_device(location->id), cudaErrorInvalidDevice);
    *flags = sim_pool_of(pool)->accessible_by >> location->id & 1 ? cudaMemAccessFlagsProtReadWrite : cudaMemAccessFlagsProtNone;
    return cudaSuccess;
}

// ---- Interprocess pools. A handle is a file that contains the Pool.

API cudaError_t cudaMemPoolExportToShareableHandle(void *handle, cudaMemPool_t pool,
                                                   enum cudaMemAllocationHandleType type, unsigned flags)
{
    BEGIN_CALL();
    const Pool *p = sim_pool_of(pool);
    REQUIRE(p && handle && flags == 0 && type == cudaMemHandleTypePosixFileDescriptor && p->handle_types & type, cudaErrorInvalidValue);
    const int file = sim_make_shared_file(sizeof *p);
    if (file < 0 || pwrite(file, p, sizeof *p, 0) != (ssize_t)sizeof *p)
        return sim_record_error(cudaErrorOperatingSystem);
    *(int *)handle = file;
    return cudaSuccess;
}

API cudaError_t cudaMemPoolImportFromShareableHandle(cudaMemPool_t *pool, void *handle,
                                                     enum cudaMemAllocationHandleType type, unsigned flags)
{
    Pool exported;
    BEGIN_CALL();
    REQUIRE(pool && flags == 0 && type == cudaMemHandleTypePosixFileDescriptor, cudaErrorInvalidValue);
    REQUIRE(pread((int)(intptr_t)handle, &exported, sizeof exported, 0) == (ssize_t)sizeof exported && sim_is_device(exported.device),
            cudaErrorInvalidValue);
    *pool = new_pool(exported.device);
    REQUIRE(*pool, cudaErrorMemoryAllocation);
    sim_pool_of(*pool)->process = exported.process;
    sim_pool_of(*pool)->number = exported.number;
    return cudaSuccess;
}

API cudaError_t cudaMemPoolExportPointer(struct cudaMemPoolPtrExportData *data, void *pointer)
{
    IpcMemory memory;
    BEGIN_CALL();
    const Allocation *a = sim_allocation_containing(pointer);
    const Pool *p = a ? sim_pool_of(a->pool) : NULL;
    REQUIRE(data && p && p->handle_types, cudaErrorInvalidValue);
    RETURN_IF_ERROR(sim_export_memory(pointer, p->number, &memory));
    memset(data, 0, sizeof *data);
    memcpy(data, &memory, sizeof memory);
    return cudaSuccess;
}

API cudaError_t cudaMemPoolImportPointer(void **pointer, cudaMemPool_t pool, struct cudaMemPoolPtrExportData *data)
{
    IpcMemory memory;
    BEGIN_CALL();
    const Pool *p = sim_pool_of(pool);
    REQUIRE(pointer && p && data, cudaErrorInvalidValue);
    memcpy(&memory, data, sizeof memory);
    REQUIRE(memory.process == p->process && memory.pool == p->number, cudaErrorInvalidValue);
    RETURN_IF_ERROR(sim_import_memory(__func__, &memory, pointer));
    add_to_pool(sim_allocation_at((uint64_t)(uintptr_t)*pointer), pool);
    return cudaSuccess;
}

void sim_destroy_all_pools(void)
{
    sim_destroy_all_handles(POOL_HANDLE, free);
    default_pool[sim_current_device] = current_pool[sim_current_device] = NULL;
}

// ---- For nvcc -default-stream per-thread

PER_THREAD(cudaMallocFromPoolAsync, _ptsz);
PER_THREAD(cudaMallocAsync, _ptsz);
PER_THREAD(cudaFreeAsync, _ptsz);
