// streams.c: streams and events. Work is synchronous, so waits return at once.
#include "checker/host_checks.h"
#include "checker/memory_uses.h"
#include "runtime/api/calls.h"

#include <math.h>

enum { MIN_PRIORITY = 0, MAX_PRIORITY = -5 }; // lower numbers have higher priority

// ---- Streams

static void destroy_stream(void *object)
{
    sim_end_timeline(((Stream *)object)->timeline);
    free(object);
}

static uint32_t timeline_of(cudaStream_t stream)
{
    return sim_stream_of(stream)->timeline;
}

// ---- Stream management

static int clamp_priority(int priority)
{
    return priority > MIN_PRIORITY ? MIN_PRIORITY : priority < MAX_PRIORITY ? MAX_PRIORITY : priority;
}

API cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    RETURN_IF_STICKY_ERROR();
    if (least) // both pointers may be NULL
        *least = MIN_PRIORITY;
    if (greatest)
        *greatest = MAX_PRIORITY;
    return cudaSuccess;
}

API cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority)
{
    BEGIN_CALL();
    REQUIRE(stream && (flags & ~(unsigned)cudaStreamNonBlocking) == 0, cudaErrorInvalidValue);
    const TimelineKind kind = flags & cudaStreamNonBlocking ? NON_BLOCKING_TIMELINE : BLOCKING_TIMELINE;
    Stream *object = sim_new_stream(kind, flags, clamp_priority(priority));
    *stream = object ? sim_new_handle(STREAM_HANDLE, object) : NULL;
    REQUIRE(*stream, cudaErrorMemoryAllocation);
    return cudaSuccess;
}

API cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    return cudaStreamCreateWithPriority(stream, flags, MIN_PRIORITY);
}

API cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
    return cudaStreamCreateWithPriority(stream, cudaStreamDefault, MIN_PRIORITY);
}

API cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    BEGIN_CALL();
    RETURN_IF_ERROR(stream ? sim_remove_from_capture(stream) : cudaSuccess);
    Stream *object = sim_remove_handle(STREAM_HANDLE, stream); // NULL for default streams
    REQUIRE(object, cudaErrorInvalidResourceHandle);
    destroy_stream(object);
    return cudaSuccess;
}

API cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    BEGIN_CALL();
    REQUIRE_STREAM(stream);
    RETURN_IF_ERROR(sim_capture_check_stream(stream));
    sim_synchronize_host(timeline_of(stream));
    return cudaSuccess;
}

API cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    return cudaStreamSynchronize(stream);
}

API cudaError_t cudaStreamGetPriority(cudaStream_t stream, int *priority)
{
    BEGIN_CALL();
    REQUIRE_STREAM(stream);
    REQUIRE(priority, cudaErrorInvalidValue);
    *priority = sim_stream_of(stream)->attributes[cudaLaunchAttributePriority].priority;
    return cudaSuccess;
}

API cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned *flags)
{
    BEGIN_CALL();
    REQUIRE_STREAM(stream);
    REQUIRE(flags, cudaErrorInvalidValue);
    *flags = sim_stream_of(stream)->flags;
    return cudaSuccess;
}

API cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long *id)
{
    BEGIN_CALL();
    REQUIRE_STREAM(stream);
    REQUIRE(id, cudaErrorInvalidValue);
    *id = sim_stream_of(stream)->id;
    return cudaSuccess;
}

API cudaError_t cudaStreamGetDevice(cudaStream_t stream, int *device)
{
    BEGIN_CALL();
    REQUIRE_STREAM(stream);
    REQUIRE(device, cudaErrorInvalidValue);
    *device = sim_stream_of(stream)->device;
    return cudaSuccess;
}

// True for the attributes of a stream: scheduling and L2 persistence.
static bool is_stream_attribute(cudaLaunchAttributeID attribute)
{
    return attribute == cudaLaunchAttributeAccessPolicyWindow ||
           attribute == cudaLaunchAttributeSynchronizationPolicy || attribute == cudaLaunchAttributePriority ||
           attribute == cudaLaunchAttributeMemSyncDomainMap || attribute == cudaLaunchAttributeMemSyncDomain;
}

API cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaLaunchAttributeID attribute,
                                       cudaLaunchAttributeValue *value)
{
    BEGIN_CALL();
    REQUIRE_STREAM(stream);
    REQUIRE(value && is_stream_attribute(attribute), cudaErrorInvalidValue);
    *value = sim_stream_of(stream)->attributes[attribute];
    return cudaSuccess;
}

// True if the hit ratio is in range and the properties are valid; misses cannot be persisting.
static bool is_valid_window(const struct cudaAccessPolicyWindow *window)
{
    return window->hitRatio >= 0 && window->hitRatio <= 1 &&
           (unsigned)window->hitProp <= cudaAccessPropertyPersisting &&
           (unsigned)window->missProp <= cudaAccessPropertyStreaming;
}

API cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaLaunchAttributeID attribute,
                                       const cudaLaunchAttributeValue *value)
{
    BEGIN_CALL();
    REQUIRE_STREAM(stream);
    REQUIRE(value && is_stream_attribute(attribute), cudaErrorInvalidValue);
    REQUIRE(attribute != cudaLaunchAttributeAccessPolicyWindow || is_valid_window(&value->accessPolicyWindow),
            cudaErrorInvalidValue);
    sim_stream_of(stream)->attributes[attribute] = *value;
    if (attribute == cudaLaunchAttributePriority)
        sim_stream_of(stream)->attributes[attribute].priority = clamp_priority(value->priority);
    return cudaSuccess;
}

API cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from)
{
    BEGIN_CALL();
    REQUIRE_STREAM(to);
    REQUIRE_STREAM(from);
    memmove(sim_stream_of(to)->attributes, sim_stream_of(from)->attributes, sizeof sim_stream_of(to)->attributes);
    return cudaSuccess;
}

API cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void *data, unsigned flags)
{
    const cudaError_t error = cudaStreamSynchronize(stream);
    if (error)
        return error;
    REQUIRE(callback && flags == 0, cudaErrorInvalidValue);
    callback(stream, cudaSuccess, data);
    return cudaSuccess;
}

// ---- Events

// Owned by its handle; guarded by the lock.
struct CUevent_st {
    int device;
    bool is_recorded, is_timing_disabled, is_shared; // is_shared: created for interprocess use
    VectorClock clock; // of the work that precedes the event (checker/order.h)
};

static void destroy_event(void *object)
{
    sim_free_clock(&((struct CUevent_st *)object)->clock);
    free(object);
}

static struct CUevent_st *event_of(cudaEvent_t event)
{
    return sim_object_of(EVENT_HANDLE, event);
}

#define REQUIRE_EVENT(event) REQUIRE(event_of(event), cudaErrorInvalidResourceHandle)

API cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
    const unsigned valid_flags = cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
    BEGIN_CALL();
    REQUIRE(event && (flags & ~valid_flags) == 0, cudaErrorInvalidValue);
    REQUIRE(!(flags & cudaEventInterprocess) || (flags & cudaEventDisableTiming), cudaErrorInvalidValue);
    struct CUevent_st *object = calloc(1, sizeof *object);
    *event = object ? sim_new_handle(EVENT_HANDLE, object) : NULL;
    REQUIRE(*event, cudaErrorMemoryAllocation);
    object->device = sim_current_device;
    object->is_timing_disabled = flags & cudaEventDisableTiming;
    object->is_shared = flags & cudaEventInterprocess;
    return cudaSuccess;
}

API cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    return cudaEventCreateWithFlags(event, cudaEventDefault);
}

bool sim_is_shared_event(cudaEvent_t event)
{
    return event_of(event) && event_of(event)->is_shared;
}

API cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    BEGIN_CALL();
    struct CUevent_st *object = sim_remove_handle(EVENT_HANDLE, event);
    REQUIRE(object, cudaErrorInvalidResourceHandle);
    sim_clear_captured(event);
    destroy_event(object);
    return cudaSuccess;
}

static void record_event(struct CUevent_st *event, uint32_t timeline)
{
    event->is_recorded = true;
    sim_record_event(&event->clock, timeline);
}

cudaError_t sim_record_in_graph(cudaEvent_t event)
{
    if (!event_of(event) || event_of(event)->device != sim_current_device)
        return cudaErrorInvalidResourceHandle;
    sim_clear_captured(event); // this record is not captured
    record_event(event_of(event), sim_current_timeline());
    return cudaSuccess;
}

API cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags)
{
    BEGIN_CALL();
    REQUIRE_EVENT(event);
    REQUIRE_STREAM(stream);
    REQUIRE(flags == cudaEventRecordDefault || flags == cudaEventRecordExternal, cudaErrorInvalidValue);
    REQUIRE(event_of(event)->device == sim_stream_of(stream)->device, cudaErrorInvalidResourceHandle);
    bool is_captured;
    RETURN_IF_ERROR(sim_capture_record(event, stream, flags, &is_captured));
    if (is_captured)
        return cudaSuccess;
    record_event(event_of(event), timeline_of(stream));
    return cudaSuccess;
}

API cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    return cudaEventRecordWithFlags(event, stream, cudaEventRecordDefault);
}

API cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    BEGIN_CALL();
    REQUIRE_EVENT(event);
    RETURN_IF_ERROR(sim_capture_check_event(event));
    sim_synchronize_host_with_event(&event_of(event)->clock);
    return cudaSuccess;
}

API cudaError_t cudaEventQuery(cudaEvent_t event)
{
    LOCK_MEMORY();
    RETURN_IF_ERROR(sim_capture_check_unsafe(false));
    return cudaEventSynchronize(event);
}

API cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    BEGIN_CALL();
    REQUIRE_STREAM(stream);
    REQUIRE_EVENT(event);
    REQUIRE(flags == cudaEventWaitDefault || flags == cudaEventWaitExternal, cudaErrorInvalidValue);
    bool is_captured;
    RETURN_IF_ERROR(sim_capture_wait(stream, event, flags, &is_captured));
    if (!is_captured)
        sim_await_event(timeline_of(stream), &event_of(event)->clock);
    return cudaSuccess;
}

static void print_no_clock_note(void)
{
    fprintf(stderr, "simulator: cudaEventElapsedTime gave NaN: the simulator counts what kernels do and has no "
                    "clock; measure times on a GPU. Values that the program computes from it are NaN, too, "
                    "and may fail its checks\n");
}

void sim_wait_in_graph(cudaEvent_t event)
{
    if (event_of(event))
        sim_await_event(sim_current_timeline(), &event_of(event)->clock);
}

// Returns NaN, because host times do not predict GPU times. Prints a note once, at exit, after the program's output.
API cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end)
{
    BEGIN_CALL();
    REQUIRE(ms, cudaErrorInvalidValue);
    const struct CUevent_st *start_event = event_of(start), *end_event = event_of(end);
    REQUIRE(start_event && end_event && start_event->device == end_event->device, cudaErrorInvalidResourceHandle);
    RETURN_IF_ERROR(sim_capture_check_event(start));
    RETURN_IF_ERROR(sim_capture_check_event(end));
    REQUIRE(start_event->is_recorded && end_event->is_recorded, cudaErrorInvalidResourceHandle);
    REQUIRE(!start_event->is_timing_disabled && !end_event->is_timing_disabled, cudaErrorInvalidResourceHandle);
    static bool is_note_registered;
    if (!is_note_registered)
        atexit(print_no_clock_note);
    is_note_registered = true;
    *ms = NAN;
    sim_synchronize_host_with_event(&start_event->clock); // success implies that both are complete
    sim_synchronize_host_with_event(&end_event->clock);
    return cudaSuccess;
}

void sim_destroy_all_streams(void)
{
    sim_destroy_all_handles(STREAM_HANDLE, destroy_stream);
    sim_destroy_all_handles(EVENT_HANDLE, destroy_event);
}

// ---- For nvcc -default-stream per-thread

PER_THREAD(cudaStreamSynchronize, _ptsz);
PER_THREAD(cudaStreamQuery, _ptsz);
PER_THREAD(cudaStreamGetPriority, _ptsz);
PER_THREAD(cudaStreamGetFlags, _ptsz);
PER_THREAD(cudaStreamGetId, _ptsz);
PER_THREAD(cudaStreamGetDevice, _ptsz);
PER_THREAD(cudaStreamGetAttribute, _ptsz);
PER_THREAD(cudaStreamSetAttribute, _ptsz);
PER_THREAD(cudaStreamCopyAttributes, _ptsz);
PER_THREAD(cudaStreamAddCallback, _ptsz);
PER_THREAD(cudaEventRecordWithFlags, _ptsz);
PER_THREAD(cudaEventRecord, _ptsz);
PER_THREAD(cudaStreamWaitEvent, _ptsz);
