// calls_streams.c: streams and events. Work is over when the call returns, so there is nothing to wait for.
#include "calls.h"

#include <math.h>

struct CUstream_st {
    int unused;
};

struct CUevent_st {
    bool recorded, without_time;
};

static cudaError_t new_stream(cudaStream_t *stream)
{
    STOP_IF_BROKEN();
    *stream = malloc(sizeof **stream);
    return *stream ? cudaSuccess : sim_done(cudaErrorMemoryAllocation);
}

API cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
    return new_stream(stream);
}

API cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    UNUSED(flags);
    return new_stream(stream);
}

API cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority)
{
    UNUSED(flags), UNUSED(priority);
    return new_stream(stream);
}

API cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    STOP_IF_BROKEN();
    free(stream);
    return cudaSuccess;
}

API cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    UNUSED(stream);
    STOP_IF_BROKEN();
    return cudaSuccess;
}

API cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    return cudaStreamSynchronize(stream);
}

API cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    UNUSED(event), UNUSED(flags);
    return cudaStreamSynchronize(stream);
}

API cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void *data, unsigned flags)
{
    UNUSED(flags);
    STOP_IF_BROKEN();
    callback(stream, cudaSuccess, data);
    return cudaSuccess;
}

API cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status)
{
    UNUSED(stream);
    *status = cudaStreamCaptureStatusNone;
    return cudaSuccess;
}

API cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
    STOP_IF_BROKEN();
    *event = calloc(1, sizeof **event);
    if (!*event)
        return sim_done(cudaErrorMemoryAllocation);
    (*event)->without_time = flags & cudaEventDisableTiming;
    return cudaSuccess;
}

API cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    return cudaEventCreateWithFlags(event, cudaEventDefault);
}

API cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    STOP_IF_BROKEN();
    if (!event)
        return sim_done(cudaErrorInvalidResourceHandle);
    free(event);
    return cudaSuccess;
}

API cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    UNUSED(stream);
    STOP_IF_BROKEN();
    if (!event)
        return sim_done(cudaErrorInvalidResourceHandle);
    event->recorded = true;
    return cudaSuccess;
}

API cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags)
{
    UNUSED(flags);
    return cudaEventRecord(event, stream);
}

API cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    STOP_IF_BROKEN();
    return event ? cudaSuccess : sim_done(cudaErrorInvalidResourceHandle);
}

API cudaError_t cudaEventQuery(cudaEvent_t event)
{
    return cudaEventSynchronize(event);
}

// Always NaN: what the host took says nothing about a GPU.
API cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end)
{
    STOP_IF_BROKEN();
    if (!start || !end || !start->recorded || !end->recorded || start->without_time || end->without_time)
        return sim_done(cudaErrorInvalidResourceHandle);
    *ms = NAN;
    return cudaSuccess;
}
