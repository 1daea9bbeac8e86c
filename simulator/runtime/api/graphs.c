// graphs.c: creates, copies, sorts, destroys and prints CUDA graphs.
#include "runtime/api/graphs.h"

static uint64_t node_count; // number of nodes created so far

Graph *sim_graph_of(cudaGraph_t handle)
{
    return sim_object_of(GRAPH_HANDLE, handle);
}

Node *sim_node_of(cudaGraphNode_t handle)
{
    return sim_object_of(NODE_HANDLE, handle);
}

Graph *sim_new_graph(bool with_handles)
{
    Graph *graph = calloc(1, sizeof *graph);
    if (graph && with_handles)
        graph->handle = sim_new_handle(GRAPH_HANDLE, graph);
    if (!graph || (with_handles && !graph->handle))
        sim_die("out of memory: graph");
    return graph;
}

// ---- Parameters of nodes, which may contain graphs

static void destroy_conditional(ConditionalParams *conditional)
{
    for (unsigned k = 0; k < conditional->count; k++)
        if (conditional->bodies[k])
            sim_destroy_graph(conditional->bodies[k]);
    free(conditional->bodies);
    free(conditional->handles);
}

// Copies the body graphs, or creates empty ones.
static cudaError_t copy_conditional(ConditionalParams *to, const ConditionalParams *from, bool with_handles)
{
    cudaError_t error = cudaSuccess;
    to->bodies = calloc(from->count, sizeof *to->bodies);
    to->handles = calloc(from->count, sizeof *to->handles);
    if (!to->bodies || !to->handles)
        sim_die("out of memory: child graphs of a node");
    for (unsigned k = 0; k < from->count && !error; k++) {
        if (!from->bodies)
            to->bodies[k] = sim_new_graph(with_handles);
        else if ((error = sim_copy_graph(from->bodies[k], with_handles, &to->bodies[k])))
            to->bodies[k] = NULL; // already destroyed
        if (!error)
            to->handles[k] = to->bodies[k]->handle;
    }
    if (error)
        destroy_conditional(to);
    return error;
}

static cudaError_t copy_params(NodeParams *to, const NodeParams *from, bool with_handles)
{
    *to = *from;
    switch (from->type) {
    case cudaGraphNodeTypeKernel:
        return sim_copy_kernel_params(&to->kernel, &from->kernel);
    case cudaGraphNodeTypeMemcpy:
        sim_note_host_blocks(to);
        return sim_is_valid_copy(&from->copy) ? cudaSuccess : cudaErrorInvalidValue;
    case cudaGraphNodeTypeMemset:
        return sim_is_valid_fill(&from->memset) ? cudaSuccess : cudaErrorInvalidValue;
    case cudaGraphNodeTypeHost:
        return from->host.fn ? cudaSuccess : cudaErrorInvalidValue;
    case cudaGraphNodeTypeWaitEvent:
    case cudaGraphNodeTypeEventRecord:
        return sim_object_of(EVENT_HANDLE, from->event) ? cudaSuccess : cudaErrorInvalidResourceHandle;
    case cudaGraphNodeTypeGraph:
        return sim_has_conditional_nodes(from->child) ? cudaErrorNotSupported
                                               : sim_copy_graph(from->child, with_handles, &to->child);
    case cudaGraphNodeTypeConditional:
        return copy_conditional(&to->conditional, &from->conditional, with_handles);
    case cudaGraphNodeTypeMemAlloc:
    case cudaGraphNodeTypeMemFree:
        to->memory->reference_count++;
        return cudaSuccess;
    default:
        return cudaSuccess;
    }
}

static void destroy_params(NodeParams *params)
{
    if (params->type == cudaGraphNodeTypeKernel)
        free(params->kernel.arguments);
    if (params->type == cudaGraphNodeTypeGraph)
        sim_destroy_graph(params->child);
    if (params->type == cudaGraphNodeTypeConditional)
        destroy_conditional(&params->conditional);
    if (params->type == cudaGraphNodeTypeMemAlloc || params->type == cudaGraphNodeTypeMemFree)
        sim_release_graph_memory(params->memory);
}

// ---- Nodes

static void destroy_node(Node *node)
{
    if (node->handle)
        sim_remove_handle(NODE_HANDLE, node->handle);
    destroy_params(&node->params);
    free(node->dependencies);
    free(node);
}

void sim_destroy_graph(Graph *graph)
{
    for (Node *node = graph->nodes, *next; node; node = next) {
        next = node->next;
        destroy_node(node);
    }
    if (graph->handle)
        sim_remove_handle(GRAPH_HANDLE, graph->handle);
    free(graph->order);
    free(graph);
}

bool sim_depends_on(const Node *node, const Node *dependency)
{
    for (size_t k = 0; k < node->dependency_count; k++)
        if (node->dependencies[k] == dependency)
            return true;
    return false;
}

void sim_add_dependency(Node *node, Node *dependency)
{
    if (node->dependency_count == node->dependency_capacity) {
        node->dependency_capacity = node->dependency_capacity ? 2 * node->dependency_capacity : 4;
        node->dependencies = realloc(node->dependencies, node->dependency_capacity * sizeof *node->dependencies);
        if (!node->dependencies)
            sim_die("out of memory: dependencies of a graph node");
    }
    node->dependencies[node->dependency_count++] = dependency;
}

void sim_remove_dependency(Node *node, const Node *dependency)
{
    size_t kept = 0;
    for (size_t k = 0; k < node->dependency_count; k++)
        if (node->dependencies[k] != dependency)
            node->dependencies[kept++] = node->dependencies[k];
    node->dependency_count = kept;
}

static Node *append_node(Graph *graph, const NodeParams *params, bool with_handle)
{
    Node *node = calloc(1, sizeof *node);
    if (!node)
        sim_die("out of memory: graph node");
    *node = (Node){.params = *params, .graph = graph, .device = sim_current_device, .number = ++node_count};
    node->origin = node->number;
    if (with_handle && !(node->handle = sim_new_handle(NODE_HANDLE, node)))
        sim_die("out of memory: handle of a graph node");
    sim_set_graph_owner(node);
    *(graph->last ? &graph->last->next : &graph->nodes) = node;
    graph->last = node;
    graph->count++;
    return node;
}

// True if all are distinct nodes of the graph.
static bool are_nodes_of(const Graph *graph, const cudaGraphNode_t *nodes, size_t count)
{
    if (count > graph->count || (count > 0 && !nodes))
        return false;
    for (size_t k = 0; k < count; k++) {
        const Node *node = sim_node_of(nodes[k]);
        if (!node || node->graph != graph)
            return false;
        for (size_t earlier = 0; earlier < k; earlier++)
            if (nodes[earlier] == nodes[k])
                return false;
    }
    return true;
}

cudaError_t sim_add_node(Graph *graph, const cudaGraphNode_t *dependencies, size_t count, const NodeParams *params, Node **node)
{
    NodeParams copied;
    if (!are_nodes_of(graph, dependencies, count))
        return cudaErrorInvalidValue;
    const cudaError_t error = copy_params(&copied, params, true);
    if (error)
        return error;
    *node = append_node(graph, &copied, true);
    for (size_t k = 0; k < count; k++)
        sim_add_dependency(*node, sim_node_of(dependencies[k]));
    return cudaSuccess;
}

cudaError_t sim_replace_params(Node *node, const NodeParams *params)
{
    NodeParams copied;
    if (node->params.type != params->type)
        return cudaErrorInvalidValue;
    const cudaError_t error = copy_params(&copied, params, node->handle != NULL);
    if (error)
        return error;
    destroy_params(&node->params);
    node->params = copied;
    sim_set_graph_owner(node);
    return cudaSuccess;
}

cudaError_t sim_copy_graph(const Graph *graph, bool with_handles, Graph **copy)
{
    *copy = sim_new_graph(with_handles);
    for (Node *node = graph->nodes; node; node = node->next) {
        NodeParams copied;
        const cudaError_t error = copy_params(&copied, &node->params, with_handles);
        if (error) { // one of its events or kernels no longer exists
            sim_destroy_graph(*copy);
            return error;
        }
        node->counterpart = append_node(*copy, &copied, with_handles);
        node->counterpart->origin = node->number;
        node->counterpart->device = node->device;
    }
    for (const Node *node = graph->nodes; node; node = node->next)
        for (size_t k = 0; k < node->dependency_count; k++)
            sim_add_dependency(node->counterpart, node->dependencies[k]->counterpart);
    return cudaSuccess;
}

static bool is_ready(const Node *node)
{
    for (size_t k = 0; k < node->dependency_count; k++)
        if (!node->dependencies[k]->visited)
            return false;
    return !node->visited;
}

Node *sim_sort_nodes(Graph *graph)
{
    size_t visited = 0, before;
    free(graph->order);
    graph->order = calloc(graph->count + 1, sizeof *graph->order);
    if (!graph->order)
        sim_die("out of memory: order of graph nodes");
    for (Node *node = graph->nodes; node; node = node->next)
        node->visited = false;
    do { // needs one pass if all nodes were added after their dependencies
        before = visited;
        for (Node *node = graph->nodes; node; node = node->next)
            if (is_ready(node)) {
                node->visited = true;
                node->order_index = visited;
                graph->order[visited++] = node;
            }
    } while (visited > before);
    for (Node *node = graph->nodes; node; node = node->next) {
        if (!node->visited)
            return node;
        size_t nested_count;
        Graph **graphs = sim_nested_graphs(&node->params, &nested_count);
        for (size_t k = 0; k < nested_count; k++) {
            Node *in_cycle = sim_sort_nodes(graphs[k]);
            if (in_cycle)
                return in_cycle;
        }
    }
    return NULL;
}

bool sim_has_memory_nodes(const Graph *graph)
{
    for (const Node *node = graph->nodes; node; node = node->next)
        if (node->params.type == cudaGraphNodeTypeMemAlloc || node->params.type == cudaGraphNodeTypeMemFree)
            return true;
    return false;
}

API cudaError_t cudaGraphCreate(cudaGraph_t *graph, unsigned flags)
{
    BEGIN_CALL();
    REQUIRE(graph && flags == 0, cudaErrorInvalidValue);
    *graph = sim_new_graph(true)->handle;
    return cudaSuccess;
}

API cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    LOCK_MEMORY();
    REQUIRE_GRAPH(graph);
    REQUIRE(!sim_graph_of(graph)->owner, cudaErrorInvalidValue); // owned by a node
    sim_destroy_graph(sim_graph_of(graph));
    return cudaSuccess;
}

API cudaError_t cudaGraphClone(cudaGraph_t *clone, cudaGraph_t original)
{
    Graph *copy;
    BEGIN_CALL();
    REQUIRE_GRAPH(original);
    REQUIRE(clone && !sim_has_memory_nodes(sim_graph_of(original)), cudaErrorInvalidValue);
    REQUIRE(!sim_has_conditional_nodes(sim_graph_of(original)), cudaErrorNotSupported);
    const cudaError_t error = sim_copy_graph(sim_graph_of(original), true, &copy);
    REQUIRE(!error, error);
    *clone = copy->handle;
    return cudaSuccess;
}

API cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t *node, cudaGraphNode_t original, cudaGraph_t clone)
{
    LOCK_MEMORY();
    REQUIRE_GRAPH(clone);
    REQUIRE(node && sim_node_of(original), cudaErrorInvalidValue);
    for (const Node *n = sim_graph_of(clone)->nodes; n; n = n->next)
        if (n->origin == sim_node_of(original)->number && n->origin != n->number) {
            *node = n->handle;
            return cudaSuccess;
        }
    return sim_record_error(cudaErrorInvalidValue);
}

API cudaError_t cudaGraphDestroyNode(cudaGraphNode_t handle)
{
    LOCK_MEMORY();
    Node *node = sim_node_of(handle);
    REQUIRE(node && !sim_has_memory_nodes(node->graph), cudaErrorInvalidValue);
    Graph *graph = node->graph;
    Node *previous = NULL;
    for (Node *n = graph->nodes; n; n = n->next) {
        sim_remove_dependency(n, node);
        if (n->next == node)
            previous = n;
    }
    if (previous)
        previous->next = node->next;
    else
        graph->nodes = node->next;
    if (graph->last == node)
        graph->last = previous;
    graph->count--;
    destroy_node(node);
    return cudaSuccess;
}

// ---- Graphviz output

static const char *type_name(enum cudaGraphNodeType type)
{
    static const char *const NAMES[] = {
        "KERNEL",     "MEMCPY",       "MEMSET",           "HOST",           "GRAPH",     "EMPTY",
        "EVENT_WAIT", "EVENT_RECORD", "EXT_SEMAS_SIGNAL", "EXT_SEMAS_WAIT", "MEM_ALLOC", "MEM_FREE",
        "BATCH_MEM_OP", "CONDITIONAL"};
    return (size_t)type < sizeof NAMES / sizeof *NAMES ? NAMES[type] : "?";
}

// Numbers nodes by their order in the graph, so that the file is reproducible.
static void write_dot(FILE *file, const Graph *graph, const char *prefix)
{
    size_t index = 0;
    for (Node *n = graph->nodes; n; n = n->next)
        n->drawing_index = index++;
    for (const Node *n = graph->nodes; n; n = n->next) {
        const size_t number = n->drawing_index;
        const Kernel *kernel = n->params.type == cudaGraphNodeTypeKernel ? sim_kernel_of(n->params.kernel.host_function) : NULL;
        fprintf(file, "    \"%s%zu\" [label=\"%s%zu\\n%s%s%s\"];\n", prefix, number, prefix, number, type_name(n->params.type),
                kernel ? "\\n" : "", kernel ? kernel->name : "");
        for (size_t k = 0; k < n->dependency_count; k++)
            fprintf(file, "    \"%s%zu\" -> \"%s%zu\";\n", prefix, n->dependencies[k]->drawing_index, prefix, number);
        size_t count;
        Graph **graphs = sim_nested_graphs(&n->params, &count);
        for (size_t k = 0; k < count; k++) {
            char nested_prefix[256];
            if (n->params.type == cudaGraphNodeTypeGraph)
                snprintf(nested_prefix, sizeof nested_prefix, "%.200s%zu.", prefix, number);
            else
                snprintf(nested_prefix, sizeof nested_prefix, "%.200s%zu.%zu.", prefix, number, k);
            write_dot(file, graphs[k], nested_prefix);
        }
    }
}

API cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char *path, unsigned flags)
{
    UNUSED(flags);
    LOCK_MEMORY();
    REQUIRE_GRAPH(graph);
    REQUIRE(path, cudaErrorInvalidValue);
    FILE *file = fopen(path, "w");
    REQUIRE(file, cudaErrorOperatingSystem);
    fprintf(file, "digraph cuda_graph {\n");
    write_dot(file, sim_graph_of(graph), "");
    fprintf(file, "}\n");
    return sim_record_error(fclose(file) == 0 ? cudaSuccess : cudaErrorOperatingSystem);
}
