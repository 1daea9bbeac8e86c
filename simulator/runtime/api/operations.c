// operations.c: the streams that handles name, and the operations of a stream.
#include "checker/host_checks.h"
#include "checker/memory_uses.h"
#include "runtime/api/calls.h"

static unsigned long long stream_count, named_stream_count; // created so far; named: by the program

Stream *sim_new_stream(TimelineKind kind, unsigned flags, int priority)
{
    Stream *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->device = sim_current_device;
    s->flags = flags;
    s->id = ++stream_count;
    s->timeline = sim_new_timeline(kind, s->device, kind == LEGACY_TIMELINE ? 0 : ++named_stream_count);
    s->attributes[cudaLaunchAttributeSynchronizationPolicy].syncPolicy = cudaSyncPolicyAuto;
    s->attributes[cudaLaunchAttributeMemSyncDomainMap].memSyncDomainMap.remote = 1;
    s->attributes[cudaLaunchAttributePriority].priority = priority;
    return s;
}

// The current device's default stream, created on first use.
static Stream *default_stream(void)
{
    static Stream *streams[SIM_MAX_DEVICES];
    Stream **stream = &streams[sim_current_device];
    if (!*stream)
        *stream = sim_new_stream(LEGACY_TIMELINE, cudaStreamDefault, 0);
    return *stream;
}

Stream *sim_stream_of(cudaStream_t stream)
{
    if (!stream || stream == cudaStreamLegacy || stream == cudaStreamPerThread)
        return default_stream();
    return sim_object_of(STREAM_HANDLE, stream);
}

// ---- Operations

Operation sim_continue_operation(void)
{
    sim_begin_op_uses();
    return (Operation){false};
}

Operation sim_begin_node(uint32_t timeline, const char *call, const void *call_site)
{
    sim_begin_op(timeline, call, call_site);
    return sim_continue_operation();
}

Operation sim_begin_operation(const char *call, cudaStream_t stream, bool is_blocking, const void *call_site)
{
    sim_begin_node(sim_stream_of(stream)->timeline, call, call_site);
    return (Operation){is_blocking};
}

void sim_end_operation(Operation *operation)
{
    if (operation->is_blocking)
        sim_synchronize_host(default_stream()->timeline);
    sim_report_unwritten_results();
    sim_end_op_uses();
}
