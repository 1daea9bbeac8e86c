// calls.h: internal header of the CUDA runtime API. API functions lock, check their arguments, and capture the work or call
// runtime/work to execute it.
//
// The reference is NVIDIA's "CUDA Runtime API"; comments describe only differences.
#ifndef CALLS_H
#define CALLS_H

#include "checker/order.h"
#include "base/platform.h"
#include "runtime/work/limits.h"
#include "runtime/work/properties.h"
#include "runtime/work/work.h"

#include <stdlib.h>
#include <string.h>

#define API __attribute__((visibility("default")))
#define UNUSED(x) ((void)(x))

// Defines the name that nvcc -default-stream per-thread uses for a function. The stream makes no difference here.
#define PER_THREAD(name, suffix) \
    extern __typeof__(name) name##suffix __attribute__((alias(#name), visibility("default")))

// ---- errors.c

extern _Thread_local cudaError_t sim_last_error; // of this host thread
extern _Atomic cudaError_t sim_sticky_error;     // of the process

// Sets the host thread's last error if the call failed; returns its argument.
cudaError_t sim_record_error(cudaError_t error);

// Sets the sticky error of a failed kernel; cudaSuccess does nothing.
void sim_set_sticky_error(cudaError_t error);

// Records a rejected launch. It becomes a finding at the end of the program unless the host thread checks for errors.
// `was_returned`: the call returned the error to the program. The finding is then a warning, and a later launch of the kernel or a
// nonzero exit status also counts as a check. `call_site`: the return address of the launch. `kernel`: NULL if it is unknown.
void sim_note_rejected_launch(const Kernel *kernel, const char *launch, cudaError_t error, const char *hint, const void *call_site,
                              bool was_returned);
void sim_note_accepted_launch(const Kernel *kernel);

// True if this host thread has called the runtime; its driver calls then need neither cuInit nor a context.
extern _Thread_local bool sim_uses_runtime;

// Returns the sticky error, if there is one.
#define RETURN_IF_STICKY_ERROR()                       \
    do {                                               \
        sim_uses_runtime = true;                       \
        if (sim_sticky_error)                          \
            return sim_record_error(sim_sticky_error); \
    } while (0)

// Returns `error` unless the condition holds.
#define REQUIRE(condition, error)           \
    do {                                    \
        if (!(condition))                   \
            return sim_record_error(error); \
    } while (0)

// Returns the value of `call` if it is an error.
#define RETURN_IF_ERROR(call)                    \
    do {                                         \
        const cudaError_t call_error = (call);   \
        if (call_error)                          \
            return sim_record_error(call_error); \
    } while (0)

// Begins most API functions: locks until the end of the scope, and returns a sticky error.
#define BEGIN_CALL() \
    LOCK_MEMORY();   \
    RETURN_IF_STICKY_ERROR()

// ---- handles.c: a table of handles for streams, events, pools, graphs and so on, which detects destroyed and invalid handles.
// Callers hold the lock.

typedef enum HandleKind { STREAM_HANDLE, EVENT_HANDLE, POOL_HANDLE, GRAPH_HANDLE, NODE_HANDLE, GRAPH_EXEC_HANDLE,
                         CONTEXT_HANDLE, MODULE_HANDLE, LINK_HANDLE, PHYSICAL_MEMORY_HANDLE } HandleKind;

void *sim_new_handle(HandleKind kind, void *object);          // NULL: out of memory
void *sim_object_of(HandleKind kind, const void *handle);     // NULL: not a valid handle of this kind
void *sim_remove_handle(HandleKind kind, const void *handle); // returns the object, which the caller frees; or NULL
// Removes the current device's handles of this kind, and calls `destroy` for their objects.
void sim_destroy_all_handles(HandleKind kind, void (*destroy)(void *object));

// ---- operations.c

// Work is synchronous, so a stream has properties but no queue. Owned by its handle; default streams have no handle and are never
// freed. Guarded by the lock.
typedef struct Stream {
    int device;
    unsigned flags;
    unsigned long long id;
    uint32_t timeline; // checker/order.h
    cudaLaunchAttributeValue attributes[cudaLaunchAttributeMemSyncDomain + 1]; // indexed by cudaLaunchAttributeID
} Stream;

// The stream of a handle, or the current device's default stream; NULL: invalid handle.
Stream *sim_stream_of(cudaStream_t stream);
#define REQUIRE_STREAM(stream) REQUIRE(sim_stream_of(stream), cudaErrorInvalidResourceHandle)
Stream *sim_new_stream(TimelineKind kind, unsigned flags, int priority); // of the current device; NULL: out of memory

// An operation of a stream lasts from its declaration to the end of the scope. Operations do not nest: a call with an operation
// must not call a function that begins another one.
typedef struct Operation {
    bool is_blocking; // the host waits for the end of the operation
} Operation;

Operation sim_begin_operation(const char *call, cudaStream_t stream, bool is_blocking, const void *call_site);
Operation sim_begin_node(uint32_t timeline, const char *call, const void *call_site); // for a node of a graph
Operation sim_continue_operation(void); // continues the last operation
void sim_end_operation(Operation *operation);
#define SCOPED_OPERATION(operation) \
    __attribute__((cleanup(sim_end_operation), unused)) Operation this_operation = (operation)
#define STREAM_OPERATION(stream) SCOPED_OPERATION(sim_begin_operation(__func__, (stream), false, __builtin_return_address(0)))
#define DEFAULT_STREAM_OPERATION_FOR(call, is_blocking, call_site) \
    SCOPED_OPERATION(sim_begin_operation((call), NULL, (is_blocking), (call_site)))
#define DEFAULT_STREAM_OPERATION(is_blocking) DEFAULT_STREAM_OPERATION_FOR(__func__, (is_blocking), __builtin_return_address(0))

// ---- streams.c

void sim_destroy_all_streams(void); // destroys all events, too
bool sim_is_shared_event(cudaEvent_t event); // created for interprocess use
// Execute the event nodes of a graph.
cudaError_t sim_record_in_graph(cudaEvent_t event);
void sim_wait_in_graph(cudaEvent_t event);

// ---- registration.c

Binary *sim_load_binary(const uint8_t *fat_binary); // ptx_count is 0 if it has no suitable PTX
Binary *sim_load_text(const char *ptx);

// ---- pool_memory.c

cudaError_t sim_free_device_memory(void *pointer); // also of pools and graphs

// ---- memory.c

// The allocation of pinned or registered memory that contains the pointer, or NULL.
const Allocation *sim_pinned_allocation_containing(const void *pointer);

// ---- pools.c

void sim_destroy_all_pools(void);

// ---- copies.c

// Executes a fill for a call without a stream; `call_site`: the call's return address.
cudaError_t sim_fill_now(const char *call, const struct cudaMemsetParams *fill, const void *call_site);
// Sets *address to the address of `bytes` bytes at `offset` in a variable.
cudaError_t sim_symbol_address(const void *symbol, size_t bytes, size_t offset, char **address);

// ---- launch.c

cudaError_t sim_check_attribute(const cudaLaunchAttribute *attribute, bool *is_cooperative, dim3 *cluster);

// ---- graphs.c, graph_runs.c

cudaError_t sim_free_graph_memory(const void *address); // of an allocation node
void sim_destroy_all_graphs(void);                          // aborts all captures, too

// ---- capture.c: captures the work of streams as nodes of a graph (CAPTURE in graphs.h). For calls that are invalid during
// capture, the sim_capture_check functions return an error and invalidate the capture.

cudaError_t sim_capture_check_unsafe(bool uses_legacy_stream); // calls that CUDA calls unsafe
cudaError_t sim_capture_check_device(void);                    // calls that synchronise the device
cudaError_t sim_capture_check_stream(cudaStream_t stream);     // queries of the stream
cudaError_t sim_remove_from_capture(cudaStream_t stream); // destruction of the stream; an error only for the origin stream
cudaError_t sim_capture_check_event(cudaEvent_t event);        // queries of the event
// Capture event records and waits, allocations and frees. If they set *captured, the call is complete.
cudaError_t sim_capture_record(cudaEvent_t event, cudaStream_t stream, unsigned flags, bool *captured);
cudaError_t sim_capture_wait(cudaStream_t stream, cudaEvent_t event, unsigned flags, bool *captured);
cudaError_t sim_capture_allocation(cudaStream_t stream, size_t bytes, void **pointer, bool *captured);
cudaError_t sim_capture_free(cudaStream_t stream, void *pointer, bool *captured);
void sim_clear_captured(cudaEvent_t event); // called when the event is recorded again or destroyed

// ---- arrays.c

void sim_destroy_all_arrays(void); // of the current device; sim_free_all_allocations frees their memory

// ---- texture.c

enum { TEXTURE_ALIGNMENT = 512, PITCH_ALIGNMENT = 32 }; // of memory bound to a texture
enum { MAX_PITCHED_WIDTH = 131072, MAX_PITCHED_HEIGHT = 65000, MAX_PITCH = 2097120 };

void sim_destroy_textures_and_arrays(void); // textures, surfaces and arrays of the current device

#endif
