// graph_edges.c: queries nodes and edges, and adds and removes edges.
#include "runtime/api/graphs.h"

// ---- Queries

// Copies the nodes to an array of *count elements and fills the rest with NULL. Sets *count to the number of copied nodes or,
// without an array, of all found nodes.
static cudaError_t copy_nodes(Node *const *found, size_t found_count, cudaGraphNode_t *nodes, size_t *count)
{
    for (size_t k = 0; nodes && k < *count; k++)
        nodes[k] = k < found_count ? found[k]->handle : NULL;
    *count = nodes && *count < found_count ? *count : found_count;
    return cudaSuccess;
}

// Allocates an array of nodes, which the caller frees.
static Node **new_node_array(size_t count)
{
    Node **nodes = calloc(count + 1, sizeof *nodes);
    if (!nodes)
        sim_die("out of memory: node list");
    return nodes;
}

static cudaError_t get_nodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count, bool roots_only)
{
    LOCK_MEMORY();
    REQUIRE_GRAPH(graph);
    REQUIRE(count, cudaErrorInvalidValue);
    Node **found = new_node_array(sim_graph_of(graph)->count);
    size_t found_count = 0;
    for (Node *n = sim_graph_of(graph)->nodes; n; n = n->next)
        if (!roots_only || n->dependency_count == 0)
            found[found_count++] = n;
    const cudaError_t error = copy_nodes(found, found_count, nodes, count);
    free(found);
    return error;
}

API cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count)
{
    return get_nodes(graph, nodes, count, false);
}

API cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count)
{
    return get_nodes(graph, nodes, count, true);
}

static cudaError_t get_edges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, size_t *count)
{
    size_t edges = 0;
    LOCK_MEMORY();
    REQUIRE_GRAPH(graph);
    REQUIRE(count && !from == !to, cudaErrorInvalidValue);
    for (Node *n = sim_graph_of(graph)->nodes; n; n = n->next)
        for (size_t k = 0; k < n->dependency_count; k++, edges++)
            if (from && edges < *count) {
                from[edges] = n->dependencies[k]->handle;
                to[edges] = n->handle;
            }
    for (size_t k = edges; from && k < *count; k++)
        from[k] = to[k] = NULL;
    *count = from && *count < edges ? *count : edges;
    return cudaSuccess;
}

static cudaError_t get_dependencies(cudaGraphNode_t node, cudaGraphNode_t *dependencies, size_t *count)
{
    LOCK_MEMORY();
    REQUIRE(sim_node_of(node) && count, cudaErrorInvalidValue);
    return copy_nodes(sim_node_of(node)->dependencies, sim_node_of(node)->dependency_count, dependencies, count);
}

static cudaError_t get_dependents(cudaGraphNode_t node, cudaGraphNode_t *dependents, size_t *count)
{
    LOCK_MEMORY();
    REQUIRE(sim_node_of(node) && count, cudaErrorInvalidValue);
    const Graph *graph = sim_node_of(node)->graph;
    Node **found = new_node_array(graph->count);
    size_t found_count = 0;
    for (Node *n = graph->nodes; n; n = n->next)
        if (sim_depends_on(n, sim_node_of(node)))
            found[found_count++] = n;
    const cudaError_t error = copy_nodes(found, found_count, dependents, count);
    free(found);
    return error;
}

// ---- Changes of edges

static cudaError_t check_edges(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                               size_t count, bool must_exist)
{
    REQUIRE_GRAPH(graph);
    REQUIRE(count == 0 || (from && to), cudaErrorInvalidValue);
    for (size_t k = 0; k < count; k++) {
        const Node *dependency = sim_node_of(from[k]), *node = sim_node_of(to[k]);
        REQUIRE(dependency && node && dependency != node, cudaErrorInvalidValue);
        REQUIRE(dependency->graph == sim_graph_of(graph) && node->graph == dependency->graph, cudaErrorInvalidValue);
        REQUIRE(sim_depends_on(node, dependency) == must_exist, cudaErrorInvalidValue);
    }
    return cudaSuccess;
}

static cudaError_t add_edges(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to, size_t count)
{
    LOCK_MEMORY();
    const cudaError_t error = check_edges(graph, from, to, count, false);
    for (size_t k = 0; !error && k < count; k++)
        if (!sim_depends_on(sim_node_of(to[k]), sim_node_of(from[k])))
            sim_add_dependency(sim_node_of(to[k]), sim_node_of(from[k]));
    return error;
}

static cudaError_t remove_edges(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to, size_t count)
{
    LOCK_MEMORY();
    const cudaError_t error = check_edges(graph, from, to, count, true);
    REQUIRE(error || count == 0 || !sim_has_memory_nodes(sim_graph_of(graph)), cudaErrorInvalidValue);
    for (size_t k = 0; !error && k < count; k++)
        sim_remove_dependency(sim_node_of(to[k]), sim_node_of(from[k]));
    return error;
}

#if CUDART_VERSION >= 13000

cudaError_t sim_check_edge_data(const cudaGraphEdgeData *data, size_t count)
{
    const cudaGraphEdgeData default_data = {0};
    for (size_t k = 0; data && k < count; k++)
        if (memcmp(&data[k], &default_data, sizeof default_data) != 0) {
            fprintf(stderr, "simulator: edges of a graph with ports or a type are not supported\n");
            return sim_record_error(cudaErrorNotSupported);
        }
    return cudaSuccess;
}

static void set_default_edge_data(cudaGraphEdgeData *data, const size_t *count)
{
    if (data && count)
        memset(data, 0, *count * sizeof *data);
}

API cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to,
                                  cudaGraphEdgeData *data, size_t *count)
{
    REQUIRE(from || !data, cudaErrorInvalidValue);
    set_default_edge_data(data, count);
    return get_edges(graph, from, to, count);
}

API cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *dependencies, cudaGraphEdgeData *data,
                                             size_t *count)
{
    REQUIRE(dependencies || !data, cudaErrorInvalidValue);
    set_default_edge_data(data, count);
    return get_dependencies(node, dependencies, count);
}

API cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *dependents, cudaGraphEdgeData *data,
                                               size_t *count)
{
    REQUIRE(dependents || !data, cudaErrorInvalidValue);
    set_default_edge_data(data, count);
    return get_dependents(node, dependents, count);
}

API cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                         const cudaGraphEdgeData *data, size_t count)
{
    const cudaError_t error = sim_check_edge_data(data, count);
    return error ? error : add_edges(graph, from, to, count);
}

API cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                            const cudaGraphEdgeData *data, size_t count)
{
    const cudaError_t error = sim_check_edge_data(data, count);
    return error ? error : remove_edges(graph, from, to, count);
}

#else

API cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, size_t *count)
{
    return get_edges(graph, from, to, count);
}

API cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *dependencies, size_t *count)
{
    return get_dependencies(node, dependencies, count);
}

API cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *dependents, size_t *count)
{
    return get_dependents(node, dependents, count);
}

API cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                         size_t count)
{
    return add_edges(graph, from, to, count);
}

API cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                            size_t count)
{
    return remove_edges(graph, from, to, count);
}

#endif
