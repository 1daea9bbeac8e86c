// calls.h: what the files of this folder share, which hold the functions of the CUDA runtime. These lock, look at their
// arguments, let a capture have the work, or have it done.
//
// What a function does and returns is NVIDIA's "CUDA Runtime API"; only differences are commented.
#ifndef CALLS_H
#define CALLS_H

#include "checker/order.h"
#include "runtime/work/module.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define API __attribute__((visibility("default")))
#define UNUSED(x) ((void)(x))

// nvcc -default-stream per-thread calls some functions by other names. All streams are alike here.
#define PER_THREAD(name, suffix) \
    extern __typeof__(name) name##suffix __attribute__((alias(#name), visibility("default")))

enum { MAX_THREADS = 1024 }; // of a block

// ---- errors.c

extern _Thread_local cudaError_t sim_last_error; // of this host thread
extern _Atomic cudaError_t sim_sticky_error;     // of the process

// Remembers a failed call's error, for cudaGetLastError.
cudaError_t sim_done(cudaError_t error);

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

// One lock for all that host threads share: allocations and what lies in them, the table of handles with what
// they stand for, limits, kernels' attributes, and the device itself, which runs one kernel at a time. A call holds
// it to its end, but not while it runs a function of the program. Calls call each other, so a thread may take it twice.
pthread_mutex_t *sim_lock_memory(void);
void sim_unlock_memory(pthread_mutex_t **lock);

// The lock is held until the function, or the block of statements, ends.
#define HOLD_MEMORY() \
    __attribute__((cleanup(sim_unlock_memory), unused)) pthread_mutex_t *held = sim_lock_memory()

// The head of most calls.
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
void *sim_end_handle(HandleKind kind, const void *handle);     // its object, which the caller frees; or NULL
void sim_end_all_handles(HandleKind kind, void (*end)(void *object)); // that were made for the current device

// ---- streams.c

// Work is over when the call returns, so that a stream is no queue: only what the program has said about it.
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
void sim_end_all_streams(void); // and events
void sim_begin_operation(const char *call, cudaStream_t stream, const void *from); // from: as sim_begin_op has it
void sim_wait_in_graph(cudaEvent_t event); // the current operation's stream waits for it

// ---- registration.c: what the program registers before main

typedef struct Binary {
    const char **texts; // the PTX that was chosen, of each file that was compiled apart
    int text_count;     // 0 if there is none
    Module *modules[SIM_MOST_DEVICES]; // what each device has made of it; NULL before it is needed there
    Arena arena;
    struct Binary *next;
} Binary;

typedef struct Kernel {
    const void *host; // the address by which the program knows it
    const char *name;
    Binary *binary;
    int max_dynamic_bytes[SIM_MOST_DEVICES]; // cudaFuncAttributeMaxDynamicSharedMemorySize, -1 if not set
    bool large_clusters[SIM_MOST_DEVICES];   // cudaFuncAttributeNonPortableClusterSizeAllowed
    struct Kernel *next;
} Kernel;

typedef struct Symbol {
    const void *host;
    const char *name;
    size_t bytes;
    Binary *binary;
    void **managed; // where the program keeps its pointer to a managed variable
    struct Symbol *next;
} Symbol;

Module *sim_module_of(Binary *binary); // for the current device; NULL if the binary holds no PTX
Binary *sim_load_binary(const uint8_t *fat_binary); // without a module where it holds no PTX that can run
Binary *sim_load_text(const char *ptx);
void sim_unload_binary(Binary *binary); // with its kernels
// A kernel that the program knows by this address; if NULL, by that of what is returned.
Kernel *sim_add_kernel(Binary *binary, const char *name, const void *host);
Kernel *sim_kernel_of(const void *host); // or NULL
Kernel *sim_kernel_of_code(const Module *module, uint64_t address); // whose code has this address; or NULL
Kernel *sim_kernel_named(const Binary *binary, const char *name); // or NULL
// The kernel with this address in the program, and its code.
cudaError_t sim_find_kernel(const void *host, Kernel **kernel, const Function **function);
Symbol *sim_symbol_of(const void *host); // or NULL
Variable *sim_variable_of(const Symbol *symbol); // or NULL
bool sim_in_managed_variable(const void *pointer);
bool sim_has_kernels(void);
void sim_reset_program(void); // kernels' attributes and variables on the current device, to what they were at the start

// ---- memory.c. Nothing (no bytes) is everywhere.

// Whether a call may take [pointer, pointer + bytes) for device memory: it lies within one allocation.
bool sim_on_device(const void *pointer, size_t bytes);
// Whether the host may read and write it: pinned, registered, managed, or the program's own memory.
bool sim_on_host(const void *pointer, size_t bytes);
// What cudaMalloc and its like do, by the name of the call.
cudaError_t sim_allocate_memory(const char *call, void **pointer, size_t bytes, MemoryKind kind, unsigned flags);

// ---- pools.c

void sim_leave_pool(const Allocation *a); // what was allocated from a pool is about to be freed
void sim_end_all_pools(void);

// ---- copies.c

cudaError_t sim_fill(const struct cudaMemsetParams *fill);
// All copies and fills go through these: of bytes that lie where the program's addresses say.
void sim_move_bytes(void *to, const void *from, size_t bytes);
void sim_set_bytes(void *pointer, int value, size_t bytes);
// The current operation has used these bytes, where the program's addresses say.
void sim_note_read(const void *pointer, size_t bytes);
void sim_note_write(const void *pointer, size_t bytes);

// ---- launch.c

// What is wrong with a launch, its stream apart.
cudaError_t sim_check_launch(const void *host, dim3 grid, dim3 block, size_t dynamic_bytes, void **arguments,
                             bool cooperative,
                             dim3 cluster); // of the launch; 0: the kernel's own, or none
// The same of a launch by a kernel.
cudaError_t sim_check_configuration(const Kernel *kernel, const Function *f, dim3 grid, dim3 block,
                                    size_t dynamic_bytes);
cudaError_t sim_check_attribute(const cudaLaunchAttribute *attribute, bool *cooperative, dim3 *cluster);
int sim_largest_cluster(const Kernel *kernel); // in blocks
// Where the arguments of a kernel lie that are handed over in one piece, as `extra` says; room for `most` pointers.
cudaError_t sim_unpack_arguments(const Function *f, void **extra, void **arguments, size_t most);

// ---- graphs.c, graph_runs.c

cudaError_t sim_free_graph_memory(const void *address); // of an allocation node
void sim_end_all_graphs(void);                          // and captures

// ---- capture.c: in a capture a stream's work is not done but kept in a graph. graphs.h has CAPTURE, for the
// head of a call that gives a stream work. These return what other calls then give, and invalidate the capture.

cudaError_t sim_forbidden_in_capture(bool uses_legacy_stream); // by a call that the capture does not see
cudaError_t sim_device_in_capture(void);                       // by one that waits for all streams
cudaError_t sim_stream_in_capture(cudaStream_t stream);        // by one that asks about the stream
cudaError_t
sim_leave_capture(cudaStream_t stream); // by one that destroys it; only where the capture began it may not
cudaError_t sim_event_in_capture(cudaEvent_t event);           // by one that asks about the event
// Records of events, waiting for them, allocations. If they are captured, nothing is left to do.
cudaError_t sim_capture_record(cudaEvent_t event, cudaStream_t stream, unsigned flags, bool *captured);
cudaError_t sim_capture_wait(cudaStream_t stream, cudaEvent_t event, unsigned flags, bool *captured);
cudaError_t sim_capture_allocation(cudaStream_t stream, size_t bytes, void **pointer, bool *captured);
cudaError_t sim_capture_free(cudaStream_t stream, void *pointer, bool *captured);
void sim_forget_captured(cudaEvent_t event); // it is recorded anew, or destroyed

// From here to the end of the function the thread does a stream's work, which no capture forbids.
int sim_enter_stream(void);
void sim_leave_stream(int *depth);
bool sim_is_in_stream(void);
#define IN_STREAM() __attribute__((cleanup(sim_leave_stream), unused)) int depth_in_stream = sim_enter_stream()

// The same, and the work is an operation of the stream (order.h), unless the thread is in the midst of one already.
#define OPERATION(stream)                                                 \
    sim_begin_operation(__func__, (stream), __builtin_return_address(0)); \
    IN_STREAM()

// The same in the default stream. Where `waits`, the host waits for its end.
typedef struct AtOnce {
    bool outermost, waits;
} AtOnce;
AtOnce sim_begin_at_once(const char *call, bool waits, const void *from);
void sim_end_at_once(AtOnce *a);
#define IN_DEFAULT_STREAM(waits)                                                                                     \
    __attribute__((cleanup(sim_end_at_once), unused)) AtOnce at_once = \
        sim_begin_at_once(__func__, (waits), __builtin_return_address(0))

// ---- functions.c

// How much dynamic shared memory a launch may ask for: what the program has set for the kernel, or what all have.
size_t sim_most_dynamic_bytes(const Kernel *kernel, const Function *function);

// ---- arrays.c

bool sim_is_array(cudaArray_const_t array); // and alive
bool sim_is_texel_format(const struct cudaChannelFormatDesc *format);
int sim_channels(const struct cudaChannelFormatDesc *format);
size_t sim_texel_bytes(const struct cudaChannelFormatDesc *format);
void sim_forget_all_arrays(void); // of the current device; their memory goes with all allocations
cudaError_t sim_copy_arrays(const struct cudaMemcpy3DParms *p); // a copy in three dimensions, of at least one

// ---- texture.c

enum { TEXTURE_ALIGNMENT = 512, PITCH_ALIGNMENT = 32 }; // of memory that a texture shows
enum { MOST_PITCHED_WIDTH = 131072, MOST_PITCHED_HEIGHT = 65000, MOST_PITCH = 2097120 };

void sim_forget_array(cudaArray_const_t array); // what shows it shows nothing any more
void sim_end_all_textures(void);                // and surfaces, and arrays: of the current device

// ---- devices.c

bool sim_is_device(int device); // whether there is one with this number
size_t sim_limit(enum cudaLimit limit); // of the current device: as set, or the usual one

#endif
