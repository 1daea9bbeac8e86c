// order.c: which operations of streams are certain to have completed when another one begins.
//
// In the simulator, an operation (a launch, a copy, a memset) has completed when its call returns. On a GPU, only the program orders
// operations: by a stream, the default stream, events, or a waiting host. Therefore each stream is a timeline with numbered operations
// and a vector clock: for every timeline, how many of its operations are certain to have completed. Waiting takes the maximum of two
// clocks. Operation a happens before b if the clock of b's stream included a when b began.
//
// All host threads share one timeline, since the checker does not see their synchronisation. So do the per-thread default streams. A
// new stream may reuse the timeline of a destroyed one, and continues its numbers. All this orders more than a GPU does: races may be
// missed, but there are no false positives. Concurrent kernels may also synchronise by atomic operations; then one counts as ordered
// after all operations issued so far to the other's stream (sim_order_after).
#include "checker/order.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct StreamClock {
    TimelineKind kind;
    int device;
    bool in_use;
    bool is_of_node; // sim_fork_timeline
    unsigned long long stream;
    uint32_t begun; // number of operations begun
    VectorClock clock; // operations that complete before the next one of this timeline begins
    VectorClock early_clock; // of these, those that complete before the next one can begin early; only if early launches are expected
    uint32_t last_op;  // the last operation, if neither an event nor a new owner of the timeline has come after it; or 0
} StreamClock;

typedef struct Op {
    uint32_t timeline, number;
    unsigned long long stream;
    const char *call, *kernel;
    const void *return_address;
    bool has_device_fences, is_staged_copy, is_graph_node;
} Op;

static StreamClock *timelines;
static bool has_streams, expects_early_launches;
static size_t timeline_count;
static VectorClock host_clock; // operations for which the host has waited

static Op *ops; // indexed by number; 0 is unused
static size_t op_count = 1, op_capacity;
// Operations that had completed when the current one began, or with which it has synchronised since. Threads of the kernel may read it
// while the earliest running block adds to it. It has capacity for all timelines, so it is not reallocated meanwhile.
static VectorClock completed_before_current;
// Those of them that had completed when it could begin early, and the operation before it in its timeline (StreamClock.last_op).
static VectorClock completed_before_early;
static uint32_t op_before_current;

// ---- Clocks

static void *reallocate(void *memory, size_t count, size_t size)
{
    void *larger = realloc(memory, count * size);
    if (!larger)
        sim_die("out of memory: vector clocks");
    return larger;
}

static void grow_clock(VectorClock *clock, size_t count)
{
    if (count <= clock->count)
        return;
    clock->completed = reallocate(clock->completed, count, sizeof *clock->completed);
    memset(clock->completed + clock->count, 0, (count - clock->count) * sizeof *clock->completed);
    clock->count = count;
}

static void join_clock(VectorClock *clock, const VectorClock *from)
{
    grow_clock(clock, from->count);
    for (size_t k = 0; k < from->count; k++)
        if (from->completed[k] > clock->completed[k])
            __atomic_store_n(&clock->completed[k], from->completed[k], __ATOMIC_RELAXED); // concurrent readers: see completed_before_current
}

static void copy_clock(VectorClock *to, const VectorClock *from)
{
    if (to->count)
        memset(to->completed, 0, to->count * sizeof *to->completed);
    join_clock(to, from);
}

static bool clock_covers(const VectorClock *clock, uint32_t op)
{
    const Op *o = &ops[op];
    return o->timeline < clock->count && o->number <= __atomic_load_n(&clock->completed[o->timeline], __ATOMIC_RELAXED);
}

void sim_free_clock(VectorClock *clock)
{
    free(clock->completed);
    *clock = (VectorClock){NULL, 0};
}

// ---- Timelines

uint32_t sim_new_timeline(TimelineKind kind, int device, unsigned long long stream)
{
    size_t index = 0;
    while (index < timeline_count &&
           (timelines[index].in_use || timelines[index].kind != kind || timelines[index].device != device))
        index++;
    if (index == timeline_count) {
        timelines = reallocate(timelines, ++timeline_count, sizeof *timelines);
        timelines[index] = (StreamClock){.kind = kind, .device = device};
    }
    has_streams |= kind != LEGACY_TIMELINE;
    timelines[index].in_use = true;
    timelines[index].is_of_node = false;
    timelines[index].stream = stream;
    timelines[index].last_op = 0;
    return (uint32_t)index;
}

uint32_t sim_fork_timeline(uint32_t outer)
{
    const uint32_t timeline = sim_new_timeline(NON_BLOCKING_TIMELINE, timelines[outer].device, timelines[outer].stream);
    timelines[timeline].is_of_node = true;
    return timeline;
}

bool sim_ops_may_overlap(void)
{
    return has_streams || expects_early_launches;
}

void sim_end_timeline(uint32_t timeline)
{
    timelines[timeline].in_use = false;
}

// Joins `clock` with the clocks of all that the timeline's next operation implicitly waits for. This is the host and, except for
// non-blocking streams, the legacy default stream of its device. The legacy default stream itself waits for the device's blocking streams.
static void join_implicit_waits(const StreamClock *t, VectorClock *clock)
{
    join_clock(clock, &host_clock);
    for (size_t k = 0; k < timeline_count && t->kind != NON_BLOCKING_TIMELINE; k++) {
        const StreamClock *other = &timelines[k];
        const bool waits =
            t->kind == LEGACY_TIMELINE ? other->kind == BLOCKING_TIMELINE : other->kind == LEGACY_TIMELINE;
        if (waits && other->device == t->device)
            join_clock(clock, &other->clock);
    }
}

// ---- Operations

// The timeline begins its next operation, whose completed_before_current is set.
static void note_op_before(StreamClock *t)
{
    op_before_current = t->last_op;
    t->last_op = (uint32_t)op_count;
    if (!expects_early_launches)
        return;
    join_implicit_waits(t, &t->early_clock);
    copy_clock(&completed_before_early, &t->early_clock);
    copy_clock(&t->early_clock, &completed_before_current);
}

uint32_t sim_begin_op(uint32_t timeline, const char *call, const void *return_address)
{
    StreamClock *t = &timelines[timeline];
    join_implicit_waits(t, &t->clock);
    copy_clock(&completed_before_current, &t->clock);
    grow_clock(&completed_before_current, timeline_count);
    note_op_before(t);
    grow_clock(&t->clock, timeline_count);
    t->clock.completed[timeline] = ++t->begun;
    if (op_count >= op_capacity) {
        op_capacity = op_capacity ? 2 * op_capacity : 256;
        ops = reallocate(ops, op_capacity, sizeof *ops);
    }
    ops[op_count] = (Op){.timeline = timeline, .number = t->begun, .stream = t->stream, .call = call, .return_address = return_address,
                         .is_graph_node = t->is_of_node};
    return (uint32_t)op_count++;
}

uint32_t sim_current_op(void)
{
    return (uint32_t)op_count - 1;
}

uint32_t sim_timeline_of(uint32_t op)
{
    return ops[op].timeline;
}

uint32_t sim_current_timeline(void)
{
    return sim_timeline_of(sim_current_op());
}

void sim_name_op(const char *kernel, bool has_device_fences, const void *return_address)
{
    Op *o = &ops[sim_current_op()];
    o->kernel = kernel;
    o->has_device_fences = has_device_fences;
    o->return_address = return_address ? return_address : o->return_address;
}

void sim_note_staged_copy(void)
{
    ops[sim_current_op()].is_staged_copy = true;
    join_clock(&host_clock, &completed_before_current);
}

bool sim_is_staged_copy(uint32_t op)
{
    return ops[op].is_staged_copy;
}

bool sim_op_ordered(uint32_t a, uint32_t b)
{
    return a == 0 || a >= b || b != sim_current_op() || clock_covers(&completed_before_current, a);
}

bool sim_both_have_device_fences(uint32_t op)
{
    return ops[op].has_device_fences && ops[sim_current_op()].has_device_fences;
}

void sim_order_after(uint32_t op)
{
    if (!sim_both_have_device_fences(op))
        return;
    join_clock(&completed_before_current, &timelines[ops[op].timeline].clock);
    join_clock(&timelines[sim_current_timeline()].clock, &completed_before_current);
}

// ---- Early operations

void sim_expect_early_launches(void)
{
    expects_early_launches = true;
}

bool sim_expects_early_launches(void)
{
    return expects_early_launches;
}

bool sim_begin_early_op(void)
{
    return expects_early_launches && op_before_current != 0 && ops[op_before_current].kernel != NULL;
}

void sim_end_early_op(bool waited)
{
    if (!waited)
        copy_clock(&timelines[sim_current_timeline()].early_clock, &completed_before_early);
}

bool sim_op_ordered_early(uint32_t a)
{
    return a == 0 || a >= sim_current_op() || clock_covers(&completed_before_early, a);
}

bool sim_host_has_awaited(uint32_t op)
{
    return op == 0 || op >= op_count || clock_covers(&host_clock, op);
}

bool sim_is_graph_node(uint32_t op)
{
    return ops[op].is_graph_node;
}

void sim_describe_op(uint32_t op, char *text, size_t size)
{
    const Op *o = &ops[op];
    const char *name = o->kernel ? o->kernel : "";
    char kernel[200], stream[40] = "the default stream", device[40] = "";
    sim_demangle((Slice){name, strlen(name)}, kernel, sizeof kernel);
    if (o->stream)
        snprintf(stream, sizeof stream, "stream %llu", o->stream);
    if (sim_device_count() > 1)
        snprintf(device, sizeof device, " of device %d", timelines[o->timeline].device);
    snprintf(text, size, "%s%s%s in %s%s", o->kernel ? "kernel " : "", o->kernel ? kernel : o->call,
             o->kernel && sim_is_graph_node(op) ? " of a graph" : "", stream, device);
}

FindingLocation sim_op_location(uint32_t op)
{
    FindingLocation p = {.line = 0};
    char description[150];
    sim_describe_op(op, description, sizeof description);
    snprintf(p.access, sizeof p.access, "%s, %s by the host", description, ops[op].kernel ? "launched" : "called");
    if (ops[op].return_address)
        sim_set_calling_line(ops[op].return_address, &p);
    return p;
}

// ---- Waiting

void sim_host_awaits_timeline(uint32_t timeline)
{
    join_implicit_waits(&timelines[timeline], &timelines[timeline].clock);
    join_clock(&host_clock, &timelines[timeline].clock);
}

void sim_host_awaits_device(int device)
{
    for (size_t k = 0; k < timeline_count; k++)
        if (timelines[k].device == device)
            join_clock(&host_clock, &timelines[k].clock);
}

void sim_host_awaits_event(const VectorClock *event)
{
    join_clock(&host_clock, event);
}

void sim_record_event(VectorClock *event, uint32_t timeline)
{
    join_implicit_waits(&timelines[timeline], &timelines[timeline].clock);
    copy_clock(event, &timelines[timeline].clock);
    timelines[timeline].last_op = 0;
}

void sim_await_event(uint32_t timeline, const VectorClock *event)
{
    join_clock(&timelines[timeline].clock, event);
    timelines[timeline].last_op = 0;
}
