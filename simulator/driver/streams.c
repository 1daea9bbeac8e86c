// streams.c: driver API: streams, events, capture and graphs.
#include "driver/driver.h"

// ---- Streams and events

API CUresult cuStreamCreate(CUstream *stream, unsigned flags)
{
    NEED_CONTEXT();
    return CALL(cudaStreamCreateWithFlags(stream, flags));
}

API CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned flags, int priority)
{
    NEED_CONTEXT();
    return CALL(cudaStreamCreateWithPriority(stream, flags, priority));
}

API CUresult cuStreamDestroy(CUstream stream)
{
    NEED_CONTEXT();
    return CALL(cudaStreamDestroy(stream));
}

API CUresult cuStreamSynchronize(CUstream stream)
{
    NEED_CONTEXT();
    return CALL(cudaStreamSynchronize(stream));
}

API CUresult cuStreamQuery(CUstream stream)
{
    NEED_CONTEXT();
    return CALL(cudaStreamQuery(stream));
}

API CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags)
{
    NEED_CONTEXT();
    return CALL(cudaStreamWaitEvent(stream, event, flags));
}

API CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback callback, void *data, unsigned flags)
{
    NEED_CONTEXT();
    return CALL(cudaStreamAddCallback(stream, (cudaStreamCallback_t)callback, data, flags)); // success is 0 in both APIs
}

API CUresult cuEventCreate(CUevent *event, unsigned flags)
{
    NEED_CONTEXT();
    return CALL(cudaEventCreateWithFlags(event, flags));
}

API CUresult cuEventDestroy(CUevent event)
{
    NEED_CONTEXT();
    return CALL(cudaEventDestroy(event));
}

API CUresult cuEventRecord(CUevent event, CUstream stream)
{
    NEED_CONTEXT();
    return CALL(cudaEventRecord(event, stream));
}

API CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags)
{
    NEED_CONTEXT();
    return CALL(cudaEventRecordWithFlags(event, stream, flags));
}

API CUresult cuEventQuery(CUevent event)
{
    NEED_CONTEXT();
    return CALL(cudaEventQuery(event));
}

API CUresult cuEventSynchronize(CUevent event)
{
    NEED_CONTEXT();
    return CALL(cudaEventSynchronize(event));
}

API CUresult cuEventElapsedTime(float *ms, CUevent start, CUevent end)
{
    NEED_CONTEXT();
    return CALL(cudaEventElapsedTime(ms, start, end));
}

// ---- Captures and graphs

API CUresult cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode mode)
{
    NEED_CONTEXT();
    return CALL(cudaStreamBeginCapture(stream, (enum cudaStreamCaptureMode)mode));
}

API CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph)
{
    NEED_CONTEXT();
    return CALL(cudaStreamEndCapture(stream, graph));
}

API CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status)
{
    NEED_CONTEXT();
    return CALL(cudaStreamIsCapturing(stream, (enum cudaStreamCaptureStatus *)status));
}

API CUresult cuGraphInstantiateWithFlags(CUgraphExec *run, CUgraph graph, unsigned long long flags)
{
    NEED_CONTEXT();
    return CALL(cudaGraphInstantiateWithFlags(run, graph, flags));
}

API CUresult cuGraphLaunch(CUgraphExec run, CUstream stream)
{
    NEED_CONTEXT();
    return CALL(cudaGraphLaunch(run, stream));
}

API CUresult cuGraphExecDestroy(CUgraphExec run)
{
    NEED_CONTEXT();
    return CALL(cudaGraphExecDestroy(run));
}

API CUresult cuGraphDestroy(CUgraph graph)
{
    NEED_CONTEXT();
    return CALL(cudaGraphDestroy(graph));
}
