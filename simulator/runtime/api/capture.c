// capture.c: stream capture, which turns the work of streams into nodes of a graph.
//
// A capture begins in its origin stream. Another stream joins it by waiting for an event that was recorded in the capture. It must
// be joined back to the origin stream by another event before the capture ends.
#include "base/platform.h"
#include "runtime/api/graphs.h"

typedef struct NodeSet { // has handles, because the program may destroy nodes
    cudaGraphNode_t *nodes;
    size_t count;
} NodeSet;

typedef struct Participant { // a capturing stream
    const void *stream;      // key_of the stream
    bool is_blocking;        // synchronises with cudaStreamLegacy
    NodeSet last_nodes;      // dependencies of the stream's next node
    struct Participant *next;
} Participant;

typedef struct Capture {
    uint64_t id;
    cudaGraph_t graph;
    bool owns_graph; // the graph was created by the capture
    enum cudaStreamCaptureMode mode;
    uintptr_t thread; // sim_this_thread()
    bool is_invalid;
    const void *origin; // key_of the origin stream
    Participant *participants;
    struct Capture *next;
} Capture;

typedef struct CapturedEvent { // an event whose last record was captured
    cudaEvent_t event;
    uint64_t capture;
    NodeSet dependencies;
    struct CapturedEvent *next;
} CapturedEvent;

static Capture *captures; // list of current captures
static CapturedEvent *captured_events;
static uint64_t capture_count;
static _Thread_local enum cudaStreamCaptureMode thread_mode = cudaStreamCaptureModeGlobal;

// ---- Sets of nodes

static void add_to_set(NodeSet *set, cudaGraphNode_t node)
{
    for (size_t k = 0; k < set->count; k++)
        if (set->nodes[k] == node)
            return;
    set->nodes = realloc(set->nodes, (set->count + 1) * sizeof *set->nodes);
    if (!set->nodes)
        sim_die("out of memory: set of graph nodes");
    set->nodes[set->count++] = node;
}

// Adds the other set's nodes that still exist.
static void add_existing_nodes(NodeSet *set, const NodeSet *other)
{
    for (size_t k = 0; k < other->count; k++)
        if (sim_node_of(other->nodes[k]))
            add_to_set(set, other->nodes[k]);
}

static void clear_set(NodeSet *set)
{
    free(set->nodes);
    *set = (NodeSet){NULL, 0};
}

// ---- Captures

static bool is_legacy(cudaStream_t stream)
{
    return !stream || stream == cudaStreamLegacy;
}

// The identity of a stream; each thread has its own cudaStreamPerThread.
static const void *key_of(cudaStream_t stream)
{
    static _Thread_local char of_this_thread;
    return stream == cudaStreamPerThread ? &of_this_thread : (const void *)stream;
}

static Participant *participant_of(const Capture *c, cudaStream_t stream)
{
    for (Participant *p = c->participants; p; p = p->next)
        if (p->stream == key_of(stream))
            return p;
    return NULL;
}

// The stream's capture, or NULL.
static Capture *capture_of(cudaStream_t stream, Participant **participant)
{
    for (Capture *c = captures; c && !is_legacy(stream); c = c->next) {
        *participant = participant_of(c, stream);
        if (*participant)
            return c;
    }
    return NULL;
}

static Capture *capture_with_id(uint64_t id)
{
    for (Capture *c = captures; c; c = c->next)
        if (c->id == id)
            return c;
    return NULL;
}

static Participant *add_participant(Capture *c, cudaStream_t stream)
{
    Participant *p = calloc(1, sizeof *p);
    if (!p)
        sim_die("out of memory: captured stream");
    *p = (Participant){.stream = key_of(stream), .next = c->participants};
    p->is_blocking = !(sim_stream_of(stream)->flags & cudaStreamNonBlocking);
    return c->participants = p;
}

static cudaError_t invalidate(Capture *c, cudaError_t error)
{
    c->is_invalid = true;
    return error;
}

// A valid capture with a stream that synchronises with cudaStreamLegacy, or NULL.
static Capture *capture_that_blocks_legacy(void)
{
    for (Capture *c = captures; c; c = c->next)
        for (const Participant *p = c->participants; p && !c->is_invalid; p = p->next)
            if (p->is_blocking)
                return c;
    return NULL;
}

static void end_capture(Capture *c)
{
    for (Capture **link = &captures; *link; link = &(*link)->next)
        if (*link == c) {
            *link = c->next;
            break;
        }
    for (Participant *p = c->participants, *next; p; p = next) {
        next = p->next;
        clear_set(&p->last_nodes);
        free(p);
    }
    free(c);
}

void sim_abort_all_captures(void)
{
    while (captures)
        end_capture(captures);
    while (captured_events)
        sim_clear_captured(captured_events->event);
}

// ---- Checks for other calls

cudaError_t sim_capture(cudaStream_t stream, const NodeParams *params, bool *captured)
{
    Participant *p;
    Node *node;
    *captured = false;
    if (!captures)
        return cudaSuccess;
    Capture *c = is_legacy(stream) ? capture_that_blocks_legacy() : NULL;
    if (c)
        return invalidate(c, cudaErrorStreamCaptureImplicit);
    c = capture_of(stream, &p);
    if (!c)
        return cudaSuccess;
    *captured = true;
    if (c->is_invalid || !sim_graph_of(c->graph))
        return cudaErrorStreamCaptureInvalidated;
    NodeSet dependencies = {NULL, 0};
    add_existing_nodes(&dependencies, &p->last_nodes);
    const cudaError_t error = sim_add_node(sim_graph_of(c->graph), dependencies.nodes, dependencies.count, params, &node);
    clear_set(&dependencies);
    if (error)
        return error;
    clear_set(&p->last_nodes);
    add_to_set(&p->last_nodes, node->handle);
    return cudaSuccess;
}

cudaError_t sim_capture_allocation(cudaStream_t stream, size_t bytes, void **pointer, bool *captured)
{
    Participant *p;
    GraphMemory *memory;
    *captured = capture_of(stream, &p);
    if (!*captured)
        return cudaSuccess;
    cudaError_t error = bytes ? sim_new_graph_memory(bytes, &memory) : cudaErrorInvalidValue;
    if (error)
        return error;
    error = sim_capture(stream, &(NodeParams){cudaGraphNodeTypeMemAlloc, .memory = memory}, captured);
    *pointer = error ? NULL : memory->address;
    sim_release_graph_memory(memory); // the node holds a reference
    return error;
}

cudaError_t sim_capture_free(cudaStream_t stream, void *pointer, bool *captured)
{
    Participant *p;
    *captured = capture_of(stream, &p);
    if (!*captured)
        return cudaSuccess;
    GraphMemory *memory = sim_graph_memory_at(pointer);
    if (!memory)
        return cudaErrorInvalidValue; // not memory of an allocation node
    return sim_capture(stream, &(NodeParams){cudaGraphNodeTypeMemFree, .memory = memory}, captured);
}

// True if the capture's mode does not allow unsafe calls by this thread.
static bool rejects_unsafe_call(const Capture *c)
{
    if (c->is_invalid)
        return false;
    if (c->thread == sim_this_thread())
        return c->mode != cudaStreamCaptureModeRelaxed;
    return thread_mode == cudaStreamCaptureModeGlobal && c->mode == cudaStreamCaptureModeGlobal;
}

cudaError_t sim_capture_check_unsafe(bool uses_legacy_stream)
{
    cudaError_t error = cudaSuccess;
    if (!captures)
        return cudaSuccess;
    Capture *blocking = uses_legacy_stream ? capture_that_blocks_legacy() : NULL;
    if (blocking)
        return invalidate(blocking, cudaErrorStreamCaptureImplicit);
    for (Capture *c = captures; c && thread_mode != cudaStreamCaptureModeRelaxed; c = c->next)
        if (rejects_unsafe_call(c))
            error = invalidate(c, cudaErrorStreamCaptureUnsupported);
    return error;
}

cudaError_t sim_capture_check_device(void)
{
    cudaError_t error = cudaSuccess;
    for (Capture *c = captures; c; c = c->next)
        error = invalidate(c, cudaErrorStreamCaptureUnsupported);
    return error;
}

cudaError_t sim_capture_check_stream(cudaStream_t stream)
{
    Participant *p;
    if (!captures)
        return cudaSuccess;
    Capture *c = is_legacy(stream) ? capture_that_blocks_legacy() : NULL;
    if (c)
        return invalidate(c, cudaErrorStreamCaptureImplicit);
    c = capture_of(stream, &p);
    if (!c)
        return cudaSuccess;
    return c->is_invalid ? cudaErrorStreamCaptureInvalidated : invalidate(c, cudaErrorStreamCaptureUnsupported);
}

cudaError_t sim_remove_from_capture(cudaStream_t stream)
{
    Participant *p;
    const Capture *c = capture_of(stream, &p);
    if (!c || p->stream == c->origin)
        return sim_capture_check_stream(stream);
    p->stream = NULL; // its nodes remain, and must be joined
    p->is_blocking = false;
    return cudaSuccess;
}

// ---- Events

static CapturedEvent *captured_event(cudaEvent_t event)
{
    for (CapturedEvent *e = captured_events; e; e = e->next)
        if (e->event == event)
            return e;
    return NULL;
}

void sim_clear_captured(cudaEvent_t event)
{
    for (CapturedEvent **link = &captured_events; *link; link = &(*link)->next)
        if ((*link)->event == event) {
            CapturedEvent *e = *link;
            *link = e->next;
            clear_set(&e->dependencies);
            free(e);
            return;
        }
}

cudaError_t sim_capture_check_event(cudaEvent_t event)
{
    const CapturedEvent *e = captured_event(event);
    if (!e)
        return cudaSuccess;
    Capture *c = capture_with_id(e->capture);
    return c ? invalidate(c, cudaErrorCapturedEvent) : cudaErrorCapturedEvent;
}

static void set_captured(cudaEvent_t event, const Capture *c, const NodeSet *dependencies)
{
    CapturedEvent *e = calloc(1, sizeof *e);
    if (!e)
        sim_die("out of memory: captured event");
    sim_clear_captured(event);
    *e = (CapturedEvent){.event = event, .capture = c->id, .next = captured_events};
    add_existing_nodes(&e->dependencies, dependencies);
    captured_events = e;
}

cudaError_t sim_capture_record(cudaEvent_t event, cudaStream_t stream, unsigned flags, bool *captured)
{
    Participant *p;
    const Capture *c = capture_of(stream, &p);
    if (!c || c->is_invalid || flags == cudaEventRecordExternal) {
        const cudaError_t error = sim_capture(stream, &(NodeParams){cudaGraphNodeTypeEventRecord, .event = event}, captured);
        if (!error && !*captured)
            sim_clear_captured(event); // this record is not captured
        return error;
    }
    *captured = true;
    set_captured(event, c, &p->last_nodes);
    return cudaSuccess;
}

// Makes a stream that waits for a captured event join its capture.
static cudaError_t join_capture(cudaStream_t stream, const CapturedEvent *e)
{
    Capture *c = capture_with_id(e->capture);
    if (!c)
        return cudaErrorCapturedEvent;
    if (c->is_invalid)
        return cudaErrorStreamCaptureInvalidated;
    if (is_legacy(stream))
        return invalidate(c, cudaErrorStreamCaptureImplicit);
    add_existing_nodes(&add_participant(c, stream)->last_nodes, &e->dependencies);
    return cudaSuccess;
}

cudaError_t sim_capture_wait(cudaStream_t stream, cudaEvent_t event, unsigned flags, bool *captured)
{
    Participant *p;
    Capture *c = capture_of(stream, &p);
    const CapturedEvent *e = captured_event(event);
    if (c && !c->is_invalid && flags != cudaEventWaitExternal) {
        *captured = true;
        Capture *other = e ? capture_with_id(e->capture) : NULL;
        if (!other)
            return invalidate(c, cudaErrorStreamCaptureIsolation);
        if (other != c) {
            invalidate(other, cudaErrorStreamCaptureMerge);
            return invalidate(c, cudaErrorStreamCaptureMerge);
        }
        add_existing_nodes(&p->last_nodes, &e->dependencies);
        return cudaSuccess;
    }
    if (!c && e) {
        *captured = true;
        return join_capture(stream, e);
    }
    return sim_capture(stream, &(NodeParams){cudaGraphNodeTypeWaitEvent, .event = event}, captured);
}

// ---- API functions

static cudaError_t begin_capture(cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t *dependencies, size_t count,
                                 enum cudaStreamCaptureMode mode)
{
    Participant *p;
    BEGIN_CALL();
    REQUIRE_STREAM(stream);
    REQUIRE((unsigned)mode <= cudaStreamCaptureModeRelaxed, cudaErrorInvalidValue);
    REQUIRE(!is_legacy(stream), cudaErrorStreamCaptureUnsupported);
    REQUIRE(!capture_of(stream, &p), cudaErrorIllegalState);
    for (size_t k = 0; k < count; k++)
        REQUIRE(sim_node_of(dependencies[k]) && sim_node_of(dependencies[k])->graph == sim_graph_of(graph), cudaErrorInvalidValue);
    Capture *c = calloc(1, sizeof *c);
    REQUIRE(c, cudaErrorMemoryAllocation);
    *c = (Capture){.id = ++capture_count, .graph = graph ? graph : sim_new_graph(true)->handle, .owns_graph = !graph,
                   .mode = mode, .thread = sim_this_thread(), .origin = key_of(stream), .next = captures};
    captures = c;
    p = add_participant(c, stream);
    for (size_t k = 0; k < count; k++)
        add_to_set(&p->last_nodes, dependencies[k]);
    return cudaSuccess;
}

API cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
    return begin_capture(stream, NULL, NULL, 0, mode);
}

#if CUDART_VERSION >= 13000
API cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                              const cudaGraphEdgeData *data, size_t count,
                                              enum cudaStreamCaptureMode mode)
{
    LOCK_MEMORY();
    REQUIRE(sim_graph_of(graph) && (dependencies || count == 0), cudaErrorInvalidValue);
    REQUIRE(!data || count == 0, cudaErrorNotSupported);
    return begin_capture(stream, graph, dependencies, count, mode);
}
#endif

// Marks a node and its transitive dependencies.
static void mark_dependencies(Node *node, Node **worklist)
{
    size_t count = 0;
    if (!node->visited)
        worklist[count++] = node;
    node->visited = true;
    while (count > 0) {
        const Node *next = worklist[--count];
        for (size_t k = 0; k < next->dependency_count; k++)
            if (!next->dependencies[k]->visited) {
                next->dependencies[k]->visited = true;
                worklist[count++] = next->dependencies[k];
            }
    }
}

// True if all other streams have been joined, so that the origin stream's last nodes depend on all nodes.
static bool is_joined(const Capture *c)
{
    Node **worklist = calloc(sim_graph_of(c->graph)->count + 1, sizeof *worklist); // each node is added at most once
    if (!worklist)
        sim_die("out of memory: dependencies of a capture");
    for (Node *n = sim_graph_of(c->graph)->nodes; n; n = n->next)
        n->visited = false;
    for (const Participant *p = c->participants; p; p = p->next)
        for (size_t k = 0; k < p->last_nodes.count && p->stream == c->origin; k++)
            if (sim_node_of(p->last_nodes.nodes[k]))
                mark_dependencies(sim_node_of(p->last_nodes.nodes[k]), worklist);
    free(worklist);
    for (const Participant *p = c->participants; p; p = p->next)
        for (size_t k = 0; k < p->last_nodes.count; k++)
            if (sim_node_of(p->last_nodes.nodes[k]) && !sim_node_of(p->last_nodes.nodes[k])->visited)
                return false;
    return true;
}

API cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
    Participant *p;
    LOCK_MEMORY();
    if (graph)
        *graph = NULL;
    REQUIRE_STREAM(stream);
    Capture *c = capture_of(stream, &p);
    REQUIRE(graph || (c && !c->owns_graph), cudaErrorInvalidValue); // after cudaStreamBeginCaptureToGraph the program already has the graph
    REQUIRE(c, cudaErrorIllegalState);
    REQUIRE(c->mode == cudaStreamCaptureModeRelaxed || c->thread == sim_this_thread(),
            cudaErrorStreamCaptureWrongThread);
    REQUIRE(c->origin == key_of(stream), invalidate(c, cudaErrorStreamCaptureUnmatched));
    Graph *captured = sim_graph_of(c->graph);
    const cudaError_t error = c->is_invalid || !captured ? cudaErrorStreamCaptureInvalidated
                              : !is_joined(c)         ? cudaErrorStreamCaptureUnjoined
                                                      : cudaSuccess;
    if (!error && graph)
        *graph = c->graph;
    else if (error && captured && c->owns_graph)
        sim_destroy_graph(captured);
    end_capture(c);
    return sim_record_error(error);
}

static cudaError_t get_status(cudaStream_t stream, enum cudaStreamCaptureStatus *status, Capture **c, Participant **p)
{
    RETURN_IF_STICKY_ERROR();
    REQUIRE(status, cudaErrorInvalidValue);
    REQUIRE_STREAM(stream);
    REQUIRE(!is_legacy(stream) || !capture_that_blocks_legacy(), cudaErrorStreamCaptureImplicit);
    *c = capture_of(stream, p);
    *status = !*c            ? cudaStreamCaptureStatusNone
              : (*c)->is_invalid ? cudaStreamCaptureStatusInvalidated
                              : cudaStreamCaptureStatusActive;
    return cudaSuccess;
}

API cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status)
{
    Capture *c;
    Participant *p;
    LOCK_MEMORY();
    return get_status(stream, status, &c, &p);
}

static cudaError_t get_capture_info(cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id,
                                    cudaGraph_t *graph, const cudaGraphNode_t **dependencies, size_t *count)
{
    Capture *c;
    Participant *p;
    LOCK_MEMORY();
    const cudaError_t error = get_status(stream, status, &c, &p);
    if (error || *status != cudaStreamCaptureStatusActive)
        return error;
    if (id)
        *id = c->id;
    if (graph)
        *graph = c->graph;
    if (dependencies)
        *dependencies = p->last_nodes.nodes;
    if (count)
        *count = p->last_nodes.count;
    return cudaSuccess;
}

static cudaError_t update_dependencies(cudaStream_t stream, const cudaGraphNode_t *nodes, size_t count, unsigned flags)
{
    Participant *p;
    LOCK_MEMORY();
    REQUIRE_STREAM(stream);
    Capture *c = capture_of(stream, &p);
    REQUIRE(c, cudaErrorIllegalState);
    REQUIRE(!c->is_invalid, cudaErrorStreamCaptureInvalidated);
    REQUIRE(flags <= cudaStreamSetCaptureDependencies && (nodes || count == 0), cudaErrorInvalidValue);
    for (size_t k = 0; k < count; k++)
        REQUIRE(sim_node_of(nodes[k]) && sim_node_of(nodes[k])->graph == sim_graph_of(c->graph), cudaErrorInvalidValue);
    NodeSet last_nodes = {NULL, 0};
    if (flags == cudaStreamAddCaptureDependencies)
        add_existing_nodes(&last_nodes, &p->last_nodes);
    for (size_t k = 0; k < count; k++)
        add_to_set(&last_nodes, nodes[k]);
    clear_set(&p->last_nodes);
    p->last_nodes = last_nodes;
    return cudaSuccess;
}

#if CUDART_VERSION >= 13000
API cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, enum cudaStreamCaptureStatus *status,
                                         unsigned long long *id, cudaGraph_t *graph, const cudaGraphNode_t **dependencies,
                                         const cudaGraphEdgeData **data, size_t *count)
{
    REQUIRE(dependencies || !data, cudaErrorInvalidValue);
    if (data)
        *data = NULL; // default edges only
    return get_capture_info(stream, status, id, graph, dependencies, count);
}

API cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t *nodes,
                                                    const cudaGraphEdgeData *data, size_t count, unsigned flags)
{
    REQUIRE(!data, cudaErrorNotSupported);
    return update_dependencies(stream, nodes, count, flags);
}
#else
API cudaError_t cudaStreamGetCaptureInfo_v2(cudaStream_t stream, enum cudaStreamCaptureStatus *status,
                                            unsigned long long *id, cudaGraph_t *graph,
                                            const cudaGraphNode_t **dependencies, size_t *count)
{
    return get_capture_info(stream, status, id, graph, dependencies, count);
}

API cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t *nodes, size_t count,
                                                    unsigned flags)
{
    return update_dependencies(stream, nodes, count, flags);
}
#endif

API cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode)
{
    REQUIRE(mode && (unsigned)*mode <= cudaStreamCaptureModeRelaxed, cudaErrorInvalidValue);
    const enum cudaStreamCaptureMode previous = thread_mode;
    thread_mode = *mode;
    *mode = previous;
    return cudaSuccess;
}

// ---- For nvcc -default-stream per-thread

PER_THREAD(cudaStreamBeginCapture, _ptsz);
PER_THREAD(cudaStreamBeginCaptureToGraph, _ptsz);
PER_THREAD(cudaStreamEndCapture, _ptsz);
PER_THREAD(cudaStreamIsCapturing, _ptsz);
PER_THREAD(cudaStreamGetCaptureInfo, _ptsz);
PER_THREAD(cudaStreamUpdateCaptureDependencies, _ptsz);
