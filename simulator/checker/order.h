// order.h: which operations of streams are certain to have completed when another one begins (see order.c).
//
// The caller holds the lock of calls.h. The threads of a kernel may also call sim_op_ordered, sim_op_ordered_early,
// sim_both_have_device_fences, and sim_order_after as described there.
#ifndef ORDER_H
#define ORDER_H

#include "checker/findings.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// For each timeline, how many of its operations are certain to have completed.
typedef struct VectorClock {
    uint32_t *completed; // indexed by timeline
    size_t count;    // timelines; further ones have 0 completed operations
} VectorClock;

typedef enum TimelineKind {
    LEGACY_TIMELINE,      // a device's legacy default stream; it and the blocking streams wait for each other
    BLOCKING_TIMELINE,    // a blocking stream
    NON_BLOCKING_TIMELINE // a stream created with cudaStreamNonBlocking
} TimelineKind;

// Returns an index. `stream`: the stream's number in messages, 0 for the default stream.
uint32_t sim_new_timeline(TimelineKind kind, int device, unsigned long long stream);
// Makes the timeline of a node of a graph that is launched in stream or node `outer`. Its clock is empty.
uint32_t sim_fork_timeline(uint32_t outer);
void sim_end_timeline(uint32_t timeline);
bool sim_ops_may_overlap(void); // whether the program has created a stream, or may launch dependent kernels early

// ---- Programmatic dependent launch: a kernel may begin before the previous kernel of its stream has ended

// The program contains griddepcontrol, or uses the launch attribute cudaLaunchAttributeProgrammaticStreamSerialization.
void sim_expect_early_launches(void);
bool sim_expects_early_launches(void);
// The current operation, a kernel with that attribute, begins. True if its threads may run before its stream has completed the operation
// before: if that is a kernel, and the stream has neither recorded nor awaited an event since.
bool sim_begin_early_op(void);
// The current operation, which has begun early, has ended. `waited`: its own dependents can only have begun after the kernel before it.
void sim_end_early_op(bool waited);
// True if operation a was certain to have completed when the first threads of the current operation, which has begun early, could run.
bool sim_op_ordered_early(uint32_t a);
// True if the kernels `op` and the current operation may synchronise by fences of device scope.
bool sim_both_have_device_fences(uint32_t op);

// ----

// Begins the next operation of a timeline (a launch, a copy, a memset) and returns its number, which is greater than 0. `call`: name of
// the API function, with static storage; `return_address`: the return address of the call in the host program, or NULL.
uint32_t sim_begin_op(uint32_t timeline, const char *call, const void *return_address);
uint32_t sim_current_op(void); // the operation that began last; 0: none yet
uint32_t sim_current_timeline(void); // requires a current operation
uint32_t sim_timeline_of(uint32_t op);
// Adds a description to the current operation. `kernel`: its name, with static storage; `has_device_fences`: it has fences of device scope
// (EffectSummary.has_fences), so that concurrent kernels can synchronise with it; `return_address`: replaces that of sim_begin_op, unless NULL.
void sim_name_op(const char *kernel, bool has_device_fences, const void *return_address);

// The current operation, a synchronous call, copies from pageable memory: the host waits for earlier operations and until the bytes are
// in a staging buffer, but not for the transfer to the device.
void sim_note_staged_copy(void);
bool sim_is_staged_copy(uint32_t op);

// True if operation a was certain to have completed when b, the current one, began. Also true if that is unknown.
bool sim_op_ordered(uint32_t a, uint32_t b);
// A thread of the current operation, a kernel, has read an atomic or volatile store of operation `op`. If both kernels have fences, the
// current one and its stream count as ordered after all operations issued so far to the other's stream. Call it after
// sim_wait_for_earlier_blocks.
void sim_order_after(uint32_t op);
// True if the host has waited for the operation.
bool sim_host_has_awaited(uint32_t op);
bool sim_is_graph_node(uint32_t op); // whether it is a node of a launched graph
// Describes an operation: "kernel scale in stream 2", "cudaMemcpyAsync in the default stream".
void sim_describe_op(uint32_t op, char *text, size_t size);

// The host's source line that started the operation.
FindingLocation sim_op_location(uint32_t op);

// Joins the host's clock with that of all operations of a stream, of a device, or of those that precede an event.
void sim_host_awaits_timeline(uint32_t timeline);
void sim_host_awaits_device(int device);
void sim_host_awaits_event(const VectorClock *event);

// observe.c: the host waits for these operations, whose uses of memory then end.
void sim_synchronize_host(uint32_t timeline);
void sim_synchronize_host_with_device(int device);
void sim_synchronize_host_with_event(const VectorClock *event);

// Events: stores the clock of an event when it is recorded; a stream waits for the event.
void sim_record_event(VectorClock *event, uint32_t timeline);
void sim_await_event(uint32_t timeline, const VectorClock *event);
void sim_free_clock(VectorClock *clock);

#endif
