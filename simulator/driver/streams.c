// streams.c: driver API: streams, events and capture.
#include "driver/driver.h"

// ---- Streams and events

API CUresult cuStreamCreate(CUstream *stream, unsigned flags)
{
    REQUIRE_CONTEXT();
    return CALL_RUNTIME(cudaStreamCreateWithFlags(stream, flags));
}

API CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned flags, int priority)
{
    REQUIRE_CONTEXT();
    return CALL_RUNTIME(cudaStreamCreateWithPriority(stream, flags, priority));
}

API CUresult cuStreamDestroy(CUstream stream)
{
    REQUIRE_CONTEXT();
    return CALL_RUNTIME(cudaStreamDestroy(stream));
}

API CUresult cuStreamSynchronize(CUstream stream)
{
    REQUIRE_CONTEXT();
    return CALL_RUNTIME(cudaStreamSynchronize(stream));
}

API CUresult cuStreamQuery(CUstream stream)
{
    REQUIRE_CONTEXT();
    return CALL_RUNTIME(cudaStreamQuery(stream));
}

API CUresult cuStreamGetPriority(CUstream stream, int *priority)
{
    REQUIRE_CONTEXT();
    return CALL_RUNTIME(cudaStreamGetPriority(stream, priority));
}

API CUresult cuStreamGetFlags(CUstream stream, unsigned *flags)
{
    REQUIRE_CONTEXT();
    return CALL_RUNTIME(cudaStreamGetFlags(stream, flags));
}

API CUresult cuStreamGetId(CUstream stream, unsigned long long *id)
{
    REQUIRE_CONTEXT();
    return CALL_RUNTIME(cudaStreamGetId(stream, id));
}

// The attributes and their values are the same in both APIs.
API CUresult cuStreamGetAttribute(CUstream stream, CUstreamAttrID attribute, CUstreamAttrValue *value)
{
    REQUIRE_CONTEXT();
    return CALL_RUNTIME(cudaStreamGetAttribute(stream, (cudaLaunchAttributeID)attribute, (cudaLaunchAttributeValue *)value));
}

API CUresult cuStreamSetAttribute(CUstream stream, CUstreamAttrID attribute, const CUstreamAttrValue *value)
{
    REQUIRE_CONTEXT();
    return CALL_RUNTIME(cudaStreamSetAttribute(stream, (cudaLaunchAttributeID)attribute, (const cudaLaunchAttributeValue *)value));
}

API CUresult cuStreamCopyAttributes(CUstream to, CUstream from)
{
    REQUIRE_CONTEXT();
    return CALL_RUNTIME(cudaStreamCopyAttributes(to, from));
}

API CUresult cuStreamAttachMemAsync(CUstream stream, CUdeviceptr address, size_t bytes, unsigned flags)
{
    REQUIRE_CONTEXT();
    return CALL_RUNTIME(cudaStreamAttachMemAsync(stream, (void *)address, bytes, flags));
}

API CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags)
{
    REQUIRE_CONTEXT();
    return CALL_RUNTIME(cudaStreamWaitEvent(stream, event, flags));
}

API CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback callback, void *data, unsigned flags)
{
    REQUIRE_CONTEXT();
    return CALL_RUNTIME(cudaStreamAddCallback(stream, (cudaStreamCallback_t)callback, data, flags)); // success is 0 in both APIs
}

API CUresult cuEventCreate(CUevent *event, unsigned flags)
{
    REQUIRE_CONTEXT();
    return CALL_RUNTIME(cudaEventCreateWithFlags(event, flags));
}

API CUresult cuEventDestroy(CUevent event)
{
    REQUIRE_CONTEXT();
    return CALL_RUNTIME(cudaEventDestroy(event));
}

API CUresult cuEventRecord(CUevent event, CUstream stream)
{
    REQUIRE_CONTEXT();
    return CALL_RUNTIME(cudaEventRecord(event, stream));
}

API CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags)
{
    REQUIRE_CONTEXT();
    return CALL_RUNTIME(cudaEventRecordWithFlags(event, stream, flags));
}

API CUresult cuEventQuery(CUevent event)
{
    REQUIRE_CONTEXT();
    return CALL_RUNTIME(cudaEventQuery(event));
}

API CUresult cuEventSynchronize(CUevent event)
{
    REQUIRE_CONTEXT();
    return CALL_RUNTIME(cudaEventSynchronize(event));
}

API CUresult cuEventElapsedTime(float *ms, CUevent start, CUevent end)
{
    REQUIRE_CONTEXT();
    return CALL_RUNTIME(cudaEventElapsedTime(ms, start, end));
}

// ---- Captures

API CUresult cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode mode)
{
    REQUIRE_CONTEXT();
    return CALL_RUNTIME(cudaStreamBeginCapture(stream, (enum cudaStreamCaptureMode)mode));
}

API CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph)
{
    REQUIRE_CONTEXT();
    return CALL_RUNTIME(cudaStreamEndCapture(stream, graph));
}

API CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status)
{
    REQUIRE_CONTEXT();
    return CALL_RUNTIME(cudaStreamIsCapturing(stream, (enum cudaStreamCaptureStatus *)status));
}
