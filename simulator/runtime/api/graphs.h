// graphs.h: internal header of CUDA graphs, executable graphs and stream capture. Callers hold the runtime's lock.
#ifndef GRAPHS_H
#define GRAPHS_H

#include "runtime/api/calls.h"
#include "runtime/work/conditions.h"

typedef struct Graph Graph;

typedef struct KernelParams {
    const void *host_function; // identifies the kernel in API calls
    dim3 grid, block;
    size_t dynamic_shared_bytes;
    bool is_cooperative;
    void **arguments; // in a node: one allocation, with the pointers followed by the values
    void **extra;     // alternative to `arguments`; NULL in a node
} KernelParams;

// Memory of an allocation node and all its copies. The address does not change between launches.
typedef struct GraphMemory {
    void *address;
    size_t bytes;
    int device;
    bool in_use; // allocated by a launch and not freed yet
    int reference_count; // number of its allocation and free nodes, in all graphs
    struct GraphMemory *next;
} GraphMemory;

// The condition and the body graphs of a conditional node.
typedef struct ConditionalParams {
    uint64_t condition;
    enum cudaGraphConditionalNodeType kind;
    unsigned count;
    Graph **bodies;
    cudaGraph_t *handles; // of the bodies, for the program
} ConditionalParams;

// The parameters of a node of any type.
typedef struct NodeParams {
    enum cudaGraphNodeType type;
    union {
        KernelParams kernel;
        struct cudaMemcpy3DParms copy;
        struct cudaMemsetParams memset;
        struct cudaHostNodeParams host;
        cudaEvent_t event;
        Graph *child;
        GraphMemory *memory; // of allocation and free nodes
        ConditionalParams conditional;
    };
    uint64_t host_blocks[2]; // of a copy: numbers of the heap blocks that start at its source and at its destination; 0: none known
} NodeParams;

// Owned by its graph. Owns its arguments and child graphs; shares a GraphMemory with its copies.
typedef struct Node {
    NodeParams params;
    Graph *graph;
    int device;             // current device when the node was added
    cudaGraphNode_t handle; // NULL in a cudaGraphExec_t
    uint64_t number;        // unique
    uint64_t origin;        // `number` of the node from which it was copied, or its own number
    struct Node **dependencies;
    size_t dependency_count, dependency_capacity;
    bool is_disabled;       // by cudaGraphNodeSetEnabled, in a cudaGraphExec_t
    bool visited;           // by the current graph search
    size_t order_index;     // index in Graph.order
    struct Node *counterpart; // matching node of another graph, in sim_copy_graph and cudaGraphExecUpdate
    size_t drawing_index;   // for cudaGraphDebugDotPrint
    struct Node *next;      // the next in Graph.nodes
} Node;

// Owned by its handle, by the node whose child or body it is, or by a GraphExec. Owns its nodes.
struct Graph {
    cudaGraph_t handle;
    Node *owner; // the node whose child graph or body graph it is, or NULL
    Node *nodes, *last; // in the order in which they were added
    size_t count;
    Node **order; // topological order, set by sim_sort_nodes
    int exec_count; // number of cudaGraphExec_t instantiated from it; at most 1 with allocation or conditional nodes
};

// Checks of an API function's graph handle, or handle of a node of type `kind`. Return cudaErrorInvalidValue for other handles.
#define REQUIRE_GRAPH(handle) REQUIRE(sim_graph_of(handle), cudaErrorInvalidValue)
#define REQUIRE_NODE(handle, kind) \
    REQUIRE(sim_node_of(handle) && sim_node_of(handle)->params.type == (kind), cudaErrorInvalidValue)

// ---- graphs.c

Graph *sim_graph_of(cudaGraph_t handle);   // or NULL
Node *sim_node_of(cudaGraphNode_t handle); // or NULL
Graph *sim_new_graph(bool with_handles);
void sim_destroy_graph(Graph *graph); // and its nodes and handles
// Copies a graph. The `origin` of each new node is the number of the old one.
cudaError_t sim_copy_graph(const Graph *graph, bool with_handles, Graph **copy);
// Adds a node with a copy of the parameters. The dependencies must be nodes of the graph.
cudaError_t sim_add_node(Graph *graph, const cudaGraphNode_t *dependencies, size_t count, const NodeParams *params, Node **node);
// Replaces a node's parameters by parameters of the same node type.
cudaError_t sim_replace_params(Node *node, const NodeParams *params);
// Sorts the nodes topologically; independent nodes stay in the order in which they were added. Returns a node of a cycle, or NULL.
Node *sim_sort_nodes(Graph *graph);
bool sim_has_memory_nodes(const Graph *graph); // true if it has allocation or free nodes
bool sim_depends_on(const Node *node, const Node *dependency);
void sim_add_dependency(Node *node, Node *dependency);
void sim_remove_dependency(Node *node, const Node *dependency);

// ---- graph_work.c

// These three check parameters of a node. The first makes a deep copy, whose `arguments` are one allocation.
cudaError_t sim_copy_kernel_params(KernelParams *to, const KernelParams *from);
bool sim_is_valid_fill(const struct cudaMemsetParams *p);
bool sim_is_valid_copy(const struct cudaMemcpy3DParms *p);
// Notes the blocks of the C library's heap that a copy node uses, unless it is copied from another node.
void sim_note_host_blocks(NodeParams *params);
// Reports a copy whose host memory has been freed since its node was added. Returns false if the copy would write there.
bool sim_check_host_blocks(const NodeParams *params);
void sim_set_graph_owner(Node *node); // sets the owner of its child graph or body graphs
// True if the graph has conditional nodes; those of nested graphs do not count.
bool sim_has_conditional_nodes(const Graph *graph);
// A node's child graph or body graphs.
Graph **sim_nested_graphs(const NodeParams *params, size_t *count);
// The node parameters of a 2D copy in bytes.
struct cudaMemcpy3DParms sim_make_2d_copy(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                                          size_t height, enum cudaMemcpyKind kind);

// ---- graph_memory.c

cudaError_t sim_new_graph_memory(size_t bytes, GraphMemory **memory); // with one reference
GraphMemory *sim_graph_memory_at(const void *address);                // or NULL
void sim_release_graph_memory(GraphMemory *memory);                   // removes a reference
void sim_allocate_graph_memory(GraphMemory *memory);                  // called when an allocation node runs

// ---- copies.c

// Sets the parameters of a copy node that copies to or from a __device__ variable.
cudaError_t sim_make_symbol_copy(NodeParams *params, const void *symbol, bool to_symbol, const void *other, size_t bytes,
                                 size_t offset, enum cudaMemcpyKind kind);

// ---- graph_nodes.c, node_params.c, any_node.c, graph_edges.c

// Implement cudaGraphAdd...Node and cudaGraph...NodeSetParams.
cudaError_t sim_add_node_from_api(cudaGraphNode_t *handle, cudaGraph_t graph, const cudaGraphNode_t *dependencies, size_t count,
                             const NodeParams *params);
cudaError_t sim_set_params_from_api(cudaGraphNode_t node, const NodeParams *params);
NodeParams sim_make_kernel_params(const struct cudaKernelNodeParams *p);
#if CUDART_VERSION >= 13000
// Converts the parameters of cudaGraphAddNode, except those of allocation and free nodes.
cudaError_t sim_convert_node_params(const struct cudaGraphNodeParams *p, NodeParams *params);
// Accepts default edges only, because programmatic dependent launch is not supported.
cudaError_t sim_check_edge_data(const cudaGraphEdgeData *data, size_t count);
#endif

// ---- graph_runs.c

typedef struct GraphExec { // the object of a cudaGraphExec_t
    Graph *graph; // a copy of `source`
    uint64_t flags;
    cudaGraph_t source;
    int reference_count; // of the handle and of current launches
} GraphExec;

GraphExec *sim_exec_of(cudaGraphExec_t handle); // or NULL
#define REQUIRE_EXEC(handle) REQUIRE(sim_exec_of(handle), cudaErrorInvalidValue)

// ---- capture.c

// If the stream is capturing, adds a node with these parameters and sets *captured. Returns an error if the node is not allowed.
cudaError_t sim_capture(cudaStream_t stream, const NodeParams *params, bool *captured);

// Begins an API function that enqueues work in a stream. If the stream is capturing, adds a node with these NodeParams and returns
// from the function. Otherwise begins an operation of the stream.
#define CAPTURE(stream, ...)                                            \
    REQUIRE_STREAM(stream);                                             \
    do {                                                                \
        bool captured;                                                  \
        RETURN_IF_ERROR(sim_capture((stream), __VA_ARGS__, &captured)); \
        if (captured)                                                   \
            return cudaSuccess;                                         \
    } while (0);                                                        \
    STREAM_OPERATION(stream)

void sim_abort_all_captures(void);

#endif
