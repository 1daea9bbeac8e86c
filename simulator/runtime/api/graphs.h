// graphs.h: what the files share that hold CUDA graphs, their runs, and captures.
//
// The lock of calls.h is held by whoever calls these functions.
#ifndef GRAPHS_H
#define GRAPHS_H

#include "runtime/api/calls.h"
#include "runtime/work/conditions.h"

typedef struct Graph Graph;

typedef struct KernelWork {
    const void *host; // the address by which the program knows the kernel
    dim3 grid, block;
    size_t dynamic_bytes;
    bool cooperative;
    void **arguments; // of a node: its own, with the values behind the pointers
    void **extra;     // the other way to hand arguments over; a node has none
} KernelWork;

// Memory that belongs to an allocation node and to all copies of it. It keeps its address between launches.
typedef struct GraphMemory {
    void *address;
    size_t bytes;
    int device;
    bool in_use; // allocated by a launch, and not yet freed
    int owners;
    struct GraphMemory *next;
} GraphMemory;

// What a conditional node chooses from: graphs of its own.
typedef struct ConditionalWork {
    uint64_t condition;
    enum cudaGraphConditionalNodeType kind;
    unsigned count;
    Graph **bodies;
    cudaGraph_t *handles; // of the bodies, for the program
} ConditionalWork;

// What a node does.
typedef struct Work {
    enum cudaGraphNodeType type;
    union {
        KernelWork kernel;
        struct cudaMemcpy3DParms copy;
        struct cudaMemsetParams fill;
        struct cudaHostNodeParams host;
        cudaEvent_t event;
        Graph *child;
        GraphMemory *memory; // of an allocation and of a free node
        ConditionalWork conditional;
    };
} Work;

// Of its graph. What its work holds (arguments, a child) is its own, but for an allocation's memory, which copies
// share.
typedef struct Node {
    Work work;
    Graph *graph;
    int device;             // the one that was current when the node was added
    cudaGraphNode_t handle; // NULL in what a cudaGraphExec_t holds
    uint64_t number;        // never given twice
    uint64_t origin;        // of a copy: the number of the node that it is a copy of; else its own
    struct Node **dependencies;   // that it depends on
    size_t dependency_count, dependency_capacity;
    bool disabled;          // in a cudaGraphExec_t: does nothing
    bool ordered;           // for sim_order_nodes
    size_t order_index;            // its place in the order
    struct Node *counterpart;      // the node of another graph that goes with it, for sim_copy_graph and cudaGraphExecUpdate
    size_t drawing_index;           // for a drawing
    struct Node *next;      // of the graph, in the order in which they were added
} Node;

// Of its handle, of the node whose child or body it is, or of a GraphRun, which end it with all its nodes.
struct Graph {
    cudaGraph_t handle;
    Node *owner; // whose child it is, or NULL
    Node *nodes, *last;
    size_t count;
    Node **order; // in which they run, once sim_order_nodes was called
    int executable; // how many cudaGraphExec_t of it there are, for graphs that allocate
};

// At the head of a call about a graph, or about a node of a kind.
#define REQUIRE_GRAPH(handle) REQUIRE(sim_graph_of(handle), cudaErrorInvalidValue)
#define REQUIRE_NODE(handle, kind) \
    REQUIRE(sim_node_of(handle) && sim_node_of(handle)->work.type == (kind), cudaErrorInvalidValue)

// ---- graphs.c

Graph *sim_graph_of(cudaGraph_t handle);   // or NULL
Node *sim_node_of(cudaGraphNode_t handle); // or NULL
Graph *sim_new_graph(bool with_handles);
void sim_destroy_graph(Graph *graph); // with its nodes and handles
// A copy, whose nodes know by `origin` what they are copies of.
cudaError_t sim_copy_graph(const Graph *graph, bool with_handles, Graph **copy);
// Adds a node that does a copy of this work; its dependencies are nodes of the graph.
cudaError_t sim_add_node(Graph *graph, const cudaGraphNode_t *before, size_t count, const Work *work, Node **node);
// Gives the node other work of its kind.
cudaError_t sim_replace_work(Node *node, const Work *work);
// Decides in which order the nodes run: each after those that it depends on, else as they were added.
// Returns NULL, or a node of a cycle.
Node *sim_order_nodes(Graph *graph);
bool sim_allocates(const Graph *graph);
bool sim_depends_on(const Node *node, const Node *before);
void sim_add_dependency(Node *node, Node *before);
void sim_remove_dependency(Node *node, const Node *before);

// ---- graph_work.c

// Makes a copy with memory of its own, if it is work that can be done.
cudaError_t sim_copy_work(Work *to, const Work *from, bool with_handles);
void sim_destroy_work(Work *work);
void sim_set_owner_of_graphs(Node *node); // those that it runs know whose they are
// Whether there are conditional nodes, there or in a graph of a node.
bool sim_is_conditional(const Graph *graph);
// The graphs that a node runs, or one of which it runs.
Graph **sim_graphs_in(const Work *work, size_t *count);
// A copy of rows of bytes, as a node's parameters.
struct cudaMemcpy3DParms sim_copy_of_rows(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                                          size_t height, enum cudaMemcpyKind kind);

// ---- graph_memory.c

cudaError_t sim_new_graph_memory(size_t bytes, GraphMemory **memory); // with one owner
GraphMemory *sim_graph_memory_at(const void *address);                // or NULL
void sim_release_graph_memory(GraphMemory *memory);                     // by one of its owners
void sim_use_graph_memory(GraphMemory *memory);                       // by a launch that allocates it

// ---- graph_nodes.c, node_params.c, any_node.c, graph_edges.c

// A node, for a call that gives its handle; other work for one, for a call that changes it.
cudaError_t sim_add_for_call(cudaGraphNode_t *handle, cudaGraph_t graph, const cudaGraphNode_t *before, size_t count,
                             const Work *work);
cudaError_t sim_change_for_call(cudaGraphNode_t node, const Work *work);
Work sim_kernel_work(const struct cudaKernelNodeParams *p);
// A copy to or from a part of a variable, as one between addresses.
cudaError_t sim_work_with_symbol(Work *work, const void *symbol, bool to_symbol, const void *other, size_t bytes,
                                 size_t offset, enum cudaMemcpyKind kind);
// What the parameters of cudaGraphAddNode describe, unless it is memory.
#if CUDART_VERSION >= 13000
cudaError_t sim_work_of(const struct cudaGraphNodeParams *p, Work *work);
// Edges with data let a node begin before the one that it depends on has ended. Here all edges are plain ones.
cudaError_t sim_check_edge_data(const cudaGraphEdgeData *data, size_t count);
#endif

// ---- graph_runs.c

typedef struct GraphRun { // what a cudaGraphExec_t stands for
    Graph *graph; // a copy of the one that it was made of
    uint64_t flags;
    cudaGraph_t made_of;
    int users; // the handle, and launches that are under way
} GraphRun;

GraphRun *sim_run_of(cudaGraphExec_t handle); // or NULL
#define REQUIRE_RUN(handle) REQUIRE(sim_run_of(handle), cudaErrorInvalidValue)

// ---- capture.c

// Makes the work the stream's next node, if the stream's work is being captured: then *captured is true. Or tells
// why the stream may not have work.
cudaError_t sim_capture(cudaStream_t stream, const Work *work, bool *captured);

// At the head of a call that gives a stream work. Where it is captured the call ends here. The rest of the call does
// the work, and no capture forbids that.
#define CAPTURE(stream, ...)                                                     \
    REQUIRE_STREAM(stream);                                                      \
    do {                                                                         \
        bool captured;                                                           \
        STOP_IF(sim_capture((stream), __VA_ARGS__, &captured));                  \
        if (captured)                                                            \
            return cudaSuccess;                                                  \
    } while (0);                                                                 \
    OPERATION(stream)

void sim_abort_all_captures(void);

#endif
