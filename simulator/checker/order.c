// order.c: which operations of streams are sure to have ended when another one begins.
//
// In the simulator each operation (a launch, a copy, a fill) has ended when the call returns. On a GPU only those
// come one after the other that the program orders: by one stream, by the default stream, by events, or by a host
// that waits. So each stream is a timeline whose operations have numbers, and keeps a clock for each other timeline:
// so many of its operations are sure to have ended (a vector clock). Who waits takes over the clocks of what it waits
// for, larger ones in place of smaller ones. Operation a comes before b if b's stream knew so when b began.
//
// The host is a timeline, too, one for all its threads: how these wait for each other cannot be seen, so what one of
// them has waited for counts for all. The default stream of -default-stream per-thread counts as the one of all
// threads. A stream that takes the place of a destroyed one goes on with its numbers. All this orders more than a GPU
// does, so that a race may be missed, and none is invented. Kernels that run side by side may also tell each other how far
// they are: who has heard of another one counts as behind all that its stream was given to do (sim_hear_of).
#include "checker/order.h"
#include "checker/memory_uses.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct StreamClock {
    TimelineKind kind;
    int device;
    bool in_use;
    unsigned long long stream;
    uint32_t begun; // operations
    Clocks known;   // what has ended before its next operation begins: its own ones, and what it waits for
} StreamClock;

typedef struct Op {
    uint32_t timeline, number;
    unsigned long long stream;
    const char *call, *kernel;
    const void *from;
    bool fences;
} Op;

static StreamClock *timelines;
static bool has_streams;
static size_t timeline_count;
static Clocks host; // what the host has waited for

static Op *ops; // by their numbers; the first place is empty
static size_t op_count = 1, op_space;
// What had ended when the current operation began, or of which it has heard since. Threads of the kernel may read it while the block
// whose turn it is adds to it; it has room for all timelines, so that it stays where it is.
static Clocks before_current;

// ---- Clocks

static void *resized(void *memory, size_t count, size_t size)
{
    void *larger = realloc(memory, count * size);
    if (!larger)
        sim_die("out of memory for clocks");
    return larger;
}

static void make_room(Clocks *clocks, size_t count)
{
    if (count <= clocks->count)
        return;
    clocks->ended = resized(clocks->ended, count, sizeof *clocks->ended);
    memset(clocks->ended + clocks->count, 0, (count - clocks->count) * sizeof *clocks->ended);
    clocks->count = count;
}

static void take_over(Clocks *clocks, const Clocks *from)
{
    make_room(clocks, from->count);
    for (size_t k = 0; k < from->count; k++)
        if (from->ended[k] > clocks->ended[k])
            __atomic_store_n(&clocks->ended[k], from->ended[k], __ATOMIC_RELAXED); // see before_current
}

static void copy_clocks(Clocks *to, const Clocks *from)
{
    if (to->count)
        memset(to->ended, 0, to->count * sizeof *to->ended);
    take_over(to, from);
}

static bool includes(const Clocks *clocks, uint32_t op)
{
    const Op *o = &ops[op];
    return o->timeline < clocks->count && o->number <= __atomic_load_n(&clocks->ended[o->timeline], __ATOMIC_RELAXED);
}

void sim_free_clocks(Clocks *clocks)
{
    free(clocks->ended);
    *clocks = (Clocks){NULL, 0};
}

// ---- Timelines

uint32_t sim_new_timeline(TimelineKind kind, int device, unsigned long long stream)
{
    size_t place = 0;
    while (place < timeline_count &&
           (timelines[place].in_use || timelines[place].kind != kind || timelines[place].device != device))
        place++;
    if (place == timeline_count) {
        timelines = resized(timelines, ++timeline_count, sizeof *timelines);
        timelines[place] = (StreamClock){.kind = kind, .device = device};
    }
    has_streams |= kind != LEGACY_TIMELINE;
    timelines[place].in_use = true;
    timelines[place].stream = stream;
    return (uint32_t)place;
}

uint32_t sim_branch_timeline(uint32_t outer)
{
    return sim_new_timeline(LONELY_TIMELINE, timelines[outer].device, timelines[outer].stream);
}

bool sim_has_streams(void)
{
    return has_streams;
}

void sim_end_timeline(uint32_t timeline)
{
    timelines[timeline].in_use = false;
}

// What an operation that is given to the timeline now waits for, beside those before it: what the host has waited for
// already, and what the default stream and the blocking ones of its device have to do.
static void wait_for_others(StreamClock *t)
{
    take_over(&t->known, &host);
    for (size_t k = 0; k < timeline_count && t->kind != LONELY_TIMELINE; k++) {
        const StreamClock *other = &timelines[k];
        const bool waits =
            t->kind == LEGACY_TIMELINE ? other->kind == BLOCKING_TIMELINE : other->kind == LEGACY_TIMELINE;
        if (waits && other->device == t->device)
            take_over(&t->known, &other->known);
    }
}

// ---- Operations

uint32_t sim_begin_op(uint32_t timeline, const char *call, const void *from)
{
    StreamClock *t = &timelines[timeline];
    wait_for_others(t);
    copy_clocks(&before_current, &t->known);
    make_room(&before_current, timeline_count);
    make_room(&t->known, timeline_count);
    t->known.ended[timeline] = ++t->begun;
    if (op_count >= op_space) {
        op_space = op_space ? 2 * op_space : 256;
        ops = resized(ops, op_space, sizeof *ops);
    }
    ops[op_count] = (Op){.timeline = timeline, .number = t->begun, .stream = t->stream, .call = call, .from = from};
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

void sim_name_op(const char *kernel, bool fences, const void *from)
{
    Op *o = &ops[sim_current_op()];
    o->kernel = kernel;
    o->fences = fences;
    o->from = from ? from : o->from;
}

bool sim_op_ordered(uint32_t a, uint32_t b)
{
    return a == 0 || a >= b || b != sim_current_op() || includes(&before_current, a);
}

void sim_hear_of(uint32_t op)
{
    const Op *heard = &ops[op];
    if (!heard->fences || !ops[sim_current_op()].fences)
        return;
    take_over(&before_current, &timelines[heard->timeline].known);
    take_over(&timelines[sim_current_timeline()].known, &before_current);
}

bool sim_host_has_awaited(uint32_t op)
{
    return op == 0 || op >= op_count || includes(&host, op);
}

bool sim_is_of_graph(uint32_t op)
{
    return strcmp(ops[op].call, "cudaGraphLaunch") == 0;
}

void sim_describe_op(uint32_t op, char *text, size_t space)
{
    const Op *o = &ops[op];
    const char *name = o->kernel ? o->kernel : "";
    char kernel[200], stream[40] = "the default stream", device[40] = "";
    sim_readable_name((Slice){name, strlen(name)}, kernel, sizeof kernel);
    if (o->stream)
        snprintf(stream, sizeof stream, "stream %llu", o->stream);
    if (sim_device_count() > 1)
        snprintf(device, sizeof device, " of device %d", timelines[o->timeline].device);
    snprintf(text, space, "%s%s%s in %s%s", o->kernel ? "kernel " : "", o->kernel ? kernel : o->call,
             o->kernel && sim_is_of_graph(op) ? " of a graph" : "", stream, device);
}

Place sim_place_of_op(uint32_t op)
{
    Place p = {.line = 0};
    char what[150];
    sim_describe_op(op, what, sizeof what);
    snprintf(p.access, sizeof p.access, "starts %s", what);
    if (ops[op].from)
        sim_find_line_before(ops[op].from, &p);
    return p;
}

// ---- Waiting

void sim_host_awaits(uint32_t timeline)
{
    wait_for_others(&timelines[timeline]);
    take_over(&host, &timelines[timeline].known);
    sim_review_shared();
}

void sim_host_awaits_device(int device)
{
    for (size_t k = 0; k < timeline_count; k++)
        if (timelines[k].device == device)
            take_over(&host, &timelines[k].known);
    sim_review_shared();
}

void sim_mark_event(Clocks *event, uint32_t timeline)
{
    wait_for_others(&timelines[timeline]);
    copy_clocks(event, &timelines[timeline].known);
}

void sim_await_event(uint32_t timeline, const Clocks *event)
{
    take_over(&timelines[timeline].known, event);
}

void sim_host_awaits_event(const Clocks *event)
{
    take_over(&host, event);
    sim_review_shared();
}
