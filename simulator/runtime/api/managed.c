// managed.c: advice and prefetches for managed memory. Their only effect is that queries return them.
#include "runtime/api/calls.h"

typedef enum AdviceKind { READ_MOSTLY, PREFERRED, ACCESSED_BY, PREFETCHED } AdviceKind;

// Advice for a range. Newer entries come first in the list, and take precedence where ranges overlap.
typedef struct Advice {
    int allocation; // Allocation.number
    uint64_t begin, end;
    AdviceKind kind;
    int device;                     // of ACCESSED_BY
    struct cudaMemLocation location; // invalid type: the advice was unset
    struct Advice *next;
} Advice;

static Advice *advice_list;
static const struct cudaMemLocation NO_LOCATION = {cudaMemLocationTypeInvalid, 0};

static bool matches(const Advice *a, int allocation, AdviceKind kind, int device)
{
    return a->allocation == allocation && a->kind == kind && (kind != ACCESSED_BY || a->device == device);
}

static bool add_advice(const Advice *advice)
{
    for (Advice **link = &advice_list; *link;) { // removes entries whose range the new one covers
        Advice *a = *link;
        if (matches(a, advice->allocation, advice->kind, advice->device) && a->begin >= advice->begin &&
            a->end <= advice->end) {
            *link = a->next;
            free(a);
        } else {
            link = &a->next;
        }
    }
    Advice *a = malloc(sizeof *a);
    if (!a)
        return false;
    *a = *advice;
    a->next = advice_list;
    advice_list = a;
    return true;
}

static struct cudaMemLocation advice_at(uint64_t address, int allocation, AdviceKind kind, int device)
{
    for (const Advice *a = advice_list; a; a = a->next)
        if (matches(a, allocation, kind, device) && address >= a->begin && address < a->end)
            return a->location;
    return NO_LOCATION;
}

static bool same_location(struct cudaMemLocation a, struct cudaMemLocation b)
{
    return a.type == b.type && a.id == b.id;
}

// The advice if it is equal in the whole range; otherwise NO_LOCATION. Advice can change only where an entry begins or ends.
static struct cudaMemLocation advice_for(uint64_t begin, uint64_t end, int allocation, AdviceKind kind, int device)
{
    const struct cudaMemLocation first = advice_at(begin, allocation, kind, device);
    for (const Advice *a = advice_list; a; a = a->next) {
        if (a->begin > begin && a->begin < end && !same_location(first, advice_at(a->begin, allocation, kind, device)))
            return NO_LOCATION;
        if (a->end > begin && a->end < end && !same_location(first, advice_at(a->end, allocation, kind, device)))
            return NO_LOCATION;
    }
    return first;
}

// The managed allocation that contains the range, or NULL.
static const Allocation *managed_range(const void *pointer, size_t bytes)
{
    if (bytes == 0 || !sim_on_device(pointer, bytes))
        return NULL;
    const Allocation *a = sim_allocation_at((uint64_t)(uintptr_t)pointer);
    return a->kind == MANAGED_MEMORY || sim_in_managed_variable(pointer) ? a : NULL;
}

static cudaError_t check_location(struct cudaMemLocation location)
{
    if (location.type == cudaMemLocationTypeDevice)
        return sim_is_device(location.id) ? cudaSuccess : cudaErrorInvalidDevice;
    return location.type >= cudaMemLocationTypeHost && location.type <= cudaMemLocationTypeHostNumaCurrent
               ? cudaSuccess : cudaErrorInvalidValue;
}

static cudaError_t set_advice(const void *pointer, size_t bytes, AdviceKind kind, int device, struct cudaMemLocation location)
{
    const Allocation *a = managed_range(pointer, bytes);
    const uint64_t begin = (uint64_t)(uintptr_t)pointer;
    REQUIRE(a, cudaErrorInvalidValue);
    const Advice advice = {a->number, begin, begin + bytes, kind, device, location, NULL};
    REQUIRE(add_advice(&advice), cudaErrorMemoryAllocation);
    return cudaSuccess;
}

static cudaError_t prefetch(const void *pointer, size_t bytes, struct cudaMemLocation location, cudaStream_t stream)
{
    BEGIN_CALL();
    const cudaError_t error = check_location(location);
    REQUIRE(!error, error);
    REQUIRE_STREAM(stream);
    return set_advice(pointer, bytes, PREFETCHED, 0, location);
}

static cudaError_t apply_advice(const void *pointer, size_t bytes, enum cudaMemoryAdvise advice,
                          struct cudaMemLocation location)
{
    const struct cudaMemLocation set = {cudaMemLocationTypeDevice, 0};
    const bool uses_location = advice == cudaMemAdviseSetPreferredLocation || advice == cudaMemAdviseSetAccessedBy ||
                         advice == cudaMemAdviseUnsetAccessedBy;
    BEGIN_CALL();
    const cudaError_t error = uses_location ? check_location(location) : cudaSuccess; // other advice ignores it
    const int device = location.type == cudaMemLocationTypeDevice ? location.id : cudaCpuDeviceId;
    REQUIRE(!error, error);
    switch (advice) {
    case cudaMemAdviseSetReadMostly: return set_advice(pointer, bytes, READ_MOSTLY, 0, set);
    case cudaMemAdviseUnsetReadMostly: return set_advice(pointer, bytes, READ_MOSTLY, 0, NO_LOCATION);
    case cudaMemAdviseSetPreferredLocation: return set_advice(pointer, bytes, PREFERRED, 0, location);
    case cudaMemAdviseUnsetPreferredLocation: return set_advice(pointer, bytes, PREFERRED, 0, NO_LOCATION);
    case cudaMemAdviseSetAccessedBy: return set_advice(pointer, bytes, ACCESSED_BY, device, set);
    case cudaMemAdviseUnsetAccessedBy: return set_advice(pointer, bytes, ACCESSED_BY, device, NO_LOCATION);
    default: return sim_record_error(cudaErrorInvalidValue);
    }
}

#if CUDART_VERSION >= 13000
API cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t bytes, struct cudaMemLocation location, unsigned flags,
                                     cudaStream_t stream)
{
    REQUIRE(flags == 0, cudaErrorInvalidValue);
    return prefetch(pointer, bytes, location, stream);
}

API cudaError_t cudaMemAdvise(const void *pointer, size_t bytes, enum cudaMemoryAdvise advice,
                              struct cudaMemLocation location)
{
    return apply_advice(pointer, bytes, advice, location);
}
#else
// In CUDA 12 device -1 is the host.
static struct cudaMemLocation location_of(int device)
{
    return (struct cudaMemLocation){device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice,
                                    device};
}

API cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t bytes, int device, cudaStream_t stream)
{
    return prefetch(pointer, bytes, location_of(device), stream);
}

API cudaError_t cudaMemAdvise(const void *pointer, size_t bytes, enum cudaMemoryAdvise advice, int device)
{
    return apply_advice(pointer, bytes, advice, location_of(device));
}
#endif

static int as_device(struct cudaMemLocation location)
{
    if (location.type == cudaMemLocationTypeDevice)
        return location.id;
    return location.type == cudaMemLocationTypeInvalid ? cudaInvalidDeviceId : cudaCpuDeviceId;
}

// Lists the devices, including the host, with advice to access the range; fills the rest with cudaInvalidDeviceId.
static void list_devices(int *list, size_t capacity, uint64_t begin, uint64_t end, int allocation)
{
    size_t count = 0;
    for (int device = cudaCpuDeviceId; device == cudaCpuDeviceId || sim_is_device(device); device++)
        if (count < capacity && advice_for(begin, end, allocation, ACCESSED_BY, device).type != cudaMemLocationTypeInvalid)
            list[count++] = device;
    while (count < capacity)
        list[count++] = cudaInvalidDeviceId;
}

API cudaError_t cudaMemRangeGetAttribute(void *data, size_t size, enum cudaMemRangeAttribute attribute,
                                         const void *pointer, size_t bytes)
{
    BEGIN_CALL();
    const Allocation *a = managed_range(pointer, bytes);
    const uint64_t begin = (uint64_t)(uintptr_t)pointer, end = begin + bytes;
    REQUIRE(data && a && size > 0 && size % sizeof(int) == 0, cudaErrorInvalidValue);
    REQUIRE(size == sizeof(int) || attribute == cudaMemRangeAttributeAccessedBy, cudaErrorInvalidValue);
    int *result = data;
    const struct cudaMemLocation preferred = advice_for(begin, end, a->number, PREFERRED, 0);
    const struct cudaMemLocation prefetched = advice_for(begin, end, a->number, PREFETCHED, 0);
    switch ((int)attribute) {
    case cudaMemRangeAttributeReadMostly:
        *result = advice_for(begin, end, a->number, READ_MOSTLY, 0).type != cudaMemLocationTypeInvalid;
        return cudaSuccess;
    case cudaMemRangeAttributePreferredLocation: *result = as_device(preferred); return cudaSuccess;
    case cudaMemRangeAttributeLastPrefetchLocation: *result = as_device(prefetched); return cudaSuccess;
    case cudaMemRangeAttributePreferredLocationType: *result = (int)preferred.type; return cudaSuccess;
    case cudaMemRangeAttributePreferredLocationId: *result = preferred.id; return cudaSuccess;
    case cudaMemRangeAttributeLastPrefetchLocationType: *result = (int)prefetched.type; return cudaSuccess;
    case cudaMemRangeAttributeLastPrefetchLocationId: *result = prefetched.id; return cudaSuccess;
    case cudaMemRangeAttributeAccessedBy:
        list_devices(result, size / sizeof(int), begin, end, a->number);
        return cudaSuccess;
    default: return sim_record_error(cudaErrorInvalidValue);
    }
}

API cudaError_t cudaMemRangeGetAttributes(void **data, size_t *sizes, enum cudaMemRangeAttribute *attributes,
                                          size_t count, const void *pointer, size_t bytes)
{
    REQUIRE(data && sizes && attributes && count > 0, cudaErrorInvalidValue);
    for (size_t k = 0; k < count; k++) {
        const cudaError_t error = cudaMemRangeGetAttribute(data[k], sizes[k], attributes[k], pointer, bytes);
        if (error)
            return error;
    }
    return cudaSuccess;
}

// Accepts only whole allocations and, with cudaMemAttachSingle, not the default stream.
API cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void *pointer, size_t bytes, unsigned flags)
{
    BEGIN_CALL();
    REQUIRE_STREAM(stream);
    const Allocation *a = managed_range(pointer, 1);
    REQUIRE(a && a->address == (uint64_t)(uintptr_t)pointer && (bytes == 0 || bytes == a->bytes),
            cudaErrorInvalidValue);
    REQUIRE(flags == cudaMemAttachGlobal || flags == cudaMemAttachHost || flags == cudaMemAttachSingle,
            cudaErrorInvalidValue);
    REQUIRE(flags != cudaMemAttachSingle || stream, cudaErrorInvalidValue);
    return cudaSuccess;
}

// ---- For nvcc -default-stream per-thread

PER_THREAD(cudaMemPrefetchAsync, _ptsz);
PER_THREAD(cudaStreamAttachMemAsync, _ptsz);
