// calls.h: what the files of this folder share, which hold the functions of the CUDA runtime. These lock, look at their
// arguments, let a capture have the work, or have it done.
//
// What a function does and returns is NVIDIA's "CUDA Runtime API"; only differences are commented.
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

// nvcc -default-stream per-thread calls some functions by other names. All streams are alike here.
#define PER_THREAD(name, suffix) \
    extern __typeof__(name) name##suffix __attribute__((alias(#name), visibility("default")))

// ---- errors.c

extern _Thread_local cudaError_t sim_last_error; // of this host thread
extern _Atomic cudaError_t sim_sticky_error;     // of the process

// Remembers a failed call's error, for cudaGetLastError.
cudaError_t sim_done(cudaError_t error);

// Remembers what a kernel failed with, if it did: no call goes well from now on.
void sim_set_sticky_error(cudaError_t error);

// Remembers that kernel<<<...>>> was refused, why, and where the host goes on behind it: a finding at the program's end
// if the host thread never asks.
void sim_note_refusal(const char *launch, cudaError_t error, const char *why, const void *from);

extern _Thread_local bool
    sim_uses_runtime; // this host thread has called it: the driver's calls need no cuInit, no context

// What a call gives that comes after a kernel has failed: the same error, until a reset.
#define STOP_IF_BROKEN()                       \
    do {                                       \
        sim_uses_runtime = true;               \
        if (sim_sticky_error)                  \
            return sim_done(sim_sticky_error); \
    } while (0)

// Ends a call whose arguments are wrong.
#define REQUIRE(condition, error)              \
    do {                                       \
        if (!(condition))                      \
            return sim_done(error);            \
    } while (0)

// Ends a call that something forbids: a function that returns why.
#define STOP_IF(why)                           \
    do {                                       \
        const cudaError_t why_not = (why);     \
        if (why_not)                           \
            return sim_done(why_not);          \
    } while (0)

// The head of most calls. A call holds the lock to its end, but not while it runs a function of the program.
#define BEGIN_CALL() \
    HOLD_MEMORY();   \
    STOP_IF_BROKEN()

// ---- handles.c: streams, events, pools and graphs are known to the program by handles, entries of one table.
// A handle that was destroyed, or never was one, is told from all others: it never leads to an object.
// The lock above is held by whoever calls these.

typedef enum HandleKind { STREAM_HANDLE, EVENT_HANDLE, POOL_HANDLE, GRAPH_HANDLE, NODE_HANDLE, GRAPH_RUN_HANDLE,
                         CONTEXT_HANDLE, MODULE_HANDLE, LINK_HANDLE, PIECE_HANDLE } HandleKind;

void *sim_new_handle(HandleKind kind, void *object);           // NULL where there is no memory
void *sim_object_of(HandleKind kind, const void *handle);      // NULL if the handle is none of this kind
void *sim_remove_handle(HandleKind kind, const void *handle);     // its object, which the caller frees; or NULL
void sim_destroy_all_handles(HandleKind kind, void (*end)(void *object)); // that were made for the current device

// ---- streams.c

// Work is over when the call returns, so that a stream is no queue: only what the program has said about it. Of
// its handle, with which it ends; the default streams, which have none, are there always. Under the lock.
typedef struct Stream {
    int device;
    unsigned flags;
    unsigned long long id;
    uint32_t timeline; // of order.h
    cudaLaunchAttributeValue attributes[cudaLaunchAttributeMemSyncDomain + 1]; // that a stream can have
} Stream;

// Also of the current device's default streams, which have no handle; NULL if it is none.
Stream *sim_stream_of(cudaStream_t stream);
// Ends a call for what is no stream.
#define REQUIRE_STREAM(stream) REQUIRE(sim_stream_of(stream), cudaErrorInvalidResourceHandle)
void sim_destroy_all_streams(void); // and events
bool sim_is_shared_event(cudaEvent_t event); // that was made for several processes

// Work of a stream, from its begin to the end of the block of statements. No other begins before it has ended: a call
// has its work done by runtime/work, and calls no other call that does work.
typedef struct Operation {
    bool host_waits; // for its end
} Operation;

Operation sim_begin_operation(const char *call, cudaStream_t stream, bool host_waits, const void *from);
Operation sim_begin_node(uint32_t timeline, const char *call, const void *from); // of a graph
Operation sim_continue_operation(void); // with the one that began last
void sim_end_operation(Operation *operation);
#define DURING(operation) \
    __attribute__((cleanup(sim_end_operation), unused)) Operation this_operation = (operation)
#define OPERATION(stream) DURING(sim_begin_operation(__func__, (stream), false, __builtin_return_address(0)))
#define IN_DEFAULT_STREAM_FOR(call, waits, from) DURING(sim_begin_operation((call), NULL, (waits), (from)))
#define IN_DEFAULT_STREAM(waits) IN_DEFAULT_STREAM_FOR(__func__, (waits), __builtin_return_address(0))

// What a graph's nodes do.
cudaError_t sim_record_in_graph(cudaEvent_t event);
void sim_wait_in_graph(cudaEvent_t event); // the current operation's stream waits for it

// ---- registration.c

Binary *sim_load_binary(const uint8_t *fat_binary); // without a module where it holds no PTX that can run
Binary *sim_load_text(const char *ptx);

// ---- memory.c

cudaError_t sim_free_device_memory(void *pointer); // also of a pool, or of a graph
// The allocation of pinned or registered memory that holds the pointer, or NULL.
const Allocation *sim_pinned_allocation_with(const void *pointer);

// ---- pools.c

void sim_release_to_pool(const Allocation *a); // what was allocated from a pool is about to be freed
void sim_destroy_all_pools(void);

// ---- copies.c

// A fill that is none of a stream, by this call, which comes back to `from`.
cudaError_t sim_fill_now(const char *call, const struct cudaMemsetParams *fill, const void *from);
// Finds `bytes` bytes from `offset` on in a variable.
cudaError_t sim_part_of_symbol(const void *host, size_t bytes, size_t offset, char **part);

// ---- launch.c

cudaError_t sim_check_attribute(const cudaLaunchAttribute *attribute, bool *cooperative, dim3 *cluster);
// Where the arguments of a kernel lie that are handed over in one piece, as `extra` says; room for `most` pointers.
cudaError_t sim_unpack_arguments(const Function *f, void **extra, void **arguments, size_t most);

// ---- graphs.c, graph_runs.c

cudaError_t sim_free_graph_memory(const void *address); // of an allocation node
void sim_destroy_all_graphs(void);                          // and captures

// ---- capture.c: in a capture a stream's work is not done but kept in a graph. graphs.h has CAPTURE, for the
// head of a call that gives a stream work. These return what other calls then give, and invalidate the capture.

cudaError_t sim_forbidden_in_capture(bool uses_legacy_stream); // by a call that the capture does not see
cudaError_t sim_device_in_capture(void);                       // by one that waits for all streams
cudaError_t sim_stream_in_capture(cudaStream_t stream);        // by one that asks about the stream
cudaError_t
sim_remove_from_capture(cudaStream_t stream); // by one that destroys it; only where the capture began it may not
cudaError_t sim_event_in_capture(cudaEvent_t event);           // by one that asks about the event
// Records of events, waiting for them, allocations. If they are captured, nothing is left to do.
cudaError_t sim_capture_record(cudaEvent_t event, cudaStream_t stream, unsigned flags, bool *captured);
cudaError_t sim_capture_wait(cudaStream_t stream, cudaEvent_t event, unsigned flags, bool *captured);
cudaError_t sim_capture_allocation(cudaStream_t stream, size_t bytes, void **pointer, bool *captured);
cudaError_t sim_capture_free(cudaStream_t stream, void *pointer, bool *captured);
void sim_clear_captured(cudaEvent_t event); // it is recorded anew, or destroyed

// ---- arrays.c

void sim_destroy_all_arrays(void); // of the current device; their memory goes with all allocations

// ---- texture.c

enum { TEXTURE_ALIGNMENT = 512, PITCH_ALIGNMENT = 32 }; // of memory that a texture shows
enum { MAX_PITCHED_WIDTH = 131072, MAX_PITCHED_HEIGHT = 65000, MAX_PITCH = 2097120 };

void sim_destroy_all_textures(void); // and surfaces, and arrays: of the current device

#endif
