// order.h: which operations of streams are sure to have ended when another one begins. order.c tells how.
//
// The lock of calls.h is held by whoever calls these functions; a kernel's threads may call sim_op_ordered, at any time, and
// sim_hear_of.
#ifndef ORDER_H
#define ORDER_H

#include "checker/findings.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Of each timeline: so many of its operations, the first ones, are sure to have ended.
typedef struct Clocks {
    uint32_t *ended;
    size_t count; // timelines behind these: none of their operations
} Clocks;

typedef enum TimelineKind {
    LEGACY_TIMELINE,   // of a device's default stream: it and the blocking ones wait for each other
    BLOCKING_TIMELINE, // of a stream
    LONELY_TIMELINE    // of a stream with cudaStreamNonBlocking
} TimelineKind;

// Of a stream, which says its number in messages; the default stream has 0.
uint32_t sim_new_timeline(TimelineKind kind, int device, unsigned long long stream);
// Of a node of a graph that is launched in a stream, or in another node; nothing is ordered before it yet.
uint32_t sim_branch_timeline(uint32_t outer);
void sim_end_timeline(uint32_t timeline);
bool sim_has_streams(void); // the program has made some

// The next operation of a timeline begins: a launch, a copy, a fill. Its number, from 1 on. `call` is what the program
// called, and must stay where it is; `from` is where the host goes on when the call has come back, or NULL.
uint32_t sim_begin_op(uint32_t timeline, const char *call, const void *from);
uint32_t sim_current_op(void); // that began last; 0 before the first one
uint32_t sim_current_timeline(void); // of this one, which there is
uint32_t sim_timeline_of(uint32_t op);
// What it launches: a name that stays where it is; whether it has fences at the scope of the device (EffectSummary.fences), by which kernels
// that run at the same time may tell each other how far they are; and where the host goes on, if that is known better.
void sim_name_op(const char *kernel, bool fences, const void *from);

// Whether operation a was sure to have ended when b began, which is the current one: the program has ordered them.
// Also true where nothing is known about them.
bool sim_op_ordered(uint32_t a, uint32_t b);
// A thread of the current operation, a kernel, has read what another one has stored to tell how far it is, both with atomic or
// volatile accesses. Where both have fences, it counts as ordered behind all that the other one's stream was given to do from now on,
// and its own stream, too: no race between them is told any more. Only the block whose turn it is (sim_await_turn) may do this.
void sim_hear_of(uint32_t op);
// Whether the host has waited until the operation had ended.
bool sim_host_has_awaited(uint32_t op);
bool sim_is_of_graph(uint32_t op); // a node's
// Says what an operation was: "kernel scale in stream 2", "cudaMemcpyAsync in the default stream".
void sim_describe_op(uint32_t op, char *text, size_t space);

// The line of the host's source that started it.
Place sim_place_of_op(uint32_t op);

// The host waits for all that a stream, or a device, was given to do.
void sim_host_awaits(uint32_t timeline);
void sim_host_awaits_device(int device);

// Events: what has ended when an event has happened; a stream, or the host, that waits for it.
void sim_mark_event(Clocks *event, uint32_t timeline);
void sim_await_event(uint32_t timeline, const Clocks *event);
void sim_host_awaits_event(const Clocks *event);
void sim_free_clocks(Clocks *clocks);

#endif
