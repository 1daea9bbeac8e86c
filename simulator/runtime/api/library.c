// library.c: runs calls of the libraries that replace NVIDIA's (cuBLAS, cuRAND) as stream operations.
#include "runtime/api/calls.h"
#include "checker/host_checks.h"
#include "runtime/api/graphs.h"
#include "runtime/api/library.h"
#include "runtime/work/state.h"

static const void *row_of(const UsedMemory *u, size_t index)
{
    return (const char *)u->pointer + index * u->pitch;
}

static cudaError_t check_memory(const LibraryCall *call)
{
    for (int k = 0; k < call->used_count; k++) {
        const UsedMemory *u = &call->used[k];
        const size_t span = u->count && u->bytes ? (u->count - 1) * u->pitch + u->bytes : 0;
        if (sim_on_device(u->pointer, span))
            continue;
        sim_report_bad_range(call->name, HOST_CALL, u->writes, u->pointer, span, ON_DEVICE);
        return cudaErrorIllegalAddress;
    }
    return cudaSuccess;
}

static cudaError_t run(const LibraryCall *call)
{
    const cudaError_t error = check_memory(call);
    if (error)
        return error;
    call->work(call->data);
    for (int k = 0; k < call->used_count; k++)
        for (size_t n = 0; n < call->used[k].count; n++) {
            const UsedMemory *u = &call->used[k];
            if (u->reads)
                sim_note_read(row_of(u, n), u->bytes);
            if (u->writes)
                sim_note_write(row_of(u, n), u->bytes);
        }
    return cudaSuccess;
}

// Runs a captured call, and does not free it, because the graph's node may run again.
static void run_captured(void *call)
{
    LOCK_MEMORY();
    SCOPED_OPERATION(sim_continue_operation());
    // Another thread's operation may have begun after this node's, so invalidation by operation is not enough.
    sim_invalidate_all_digests();
    run(call);
}

static LibraryCall *copy_of(const LibraryCall *call)
{
    LibraryCall *copy = malloc(sizeof *copy + call->data_bytes);
    if (!copy)
        sim_die("out of memory: library call");
    *copy = *call;
    copy->data = memcpy(copy + 1, call->data, call->data_bytes);
    return copy;
}

cudaError_t sim_call_library(const LibraryCall *call)
{
    bool captured;
    BEGIN_CALL();
    REQUIRE_STREAM(call->stream);
    LibraryCall *copy = copy_of(call);
    RETURN_IF_ERROR(sim_capture(call->stream, &(NodeParams){cudaGraphNodeTypeHost, .host = {run_captured, copy}}, &captured));
    if (captured)
        return sim_record_error(call->is_blocking ? cudaErrorStreamCaptureUnsupported : cudaSuccess);
    free(copy);
    SCOPED_OPERATION(sim_begin_operation(call->name, call->stream, false, call->call_site));
    sim_note_launch_attempt(); // on a GPU the library would launch a kernel
    const cudaError_t error = run(call);
    if (call->is_blocking)
        sim_synchronize_host(sim_current_timeline());
    return sim_record_error(error);
}
