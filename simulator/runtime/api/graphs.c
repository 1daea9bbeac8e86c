// graphs.c: CUDA graphs: nodes, what they do, and what they depend on.
#include "runtime/api/graphs.h"

static uint64_t nodes_made;

Graph *sim_graph_of(cudaGraph_t handle)
{
    return sim_object_of(GRAPH_HANDLE, handle);
}

Node *sim_node_of(cudaGraphNode_t handle)
{
    return sim_object_of(NODE_HANDLE, handle);
}

#define REQUIRE_GRAPH(handle) REQUIRE(sim_graph_of(handle), cudaErrorInvalidValue)
#define REQUIRE_NODE(handle, kind) \
    REQUIRE(sim_node_of(handle) && sim_node_of(handle)->work.type == (kind), cudaErrorInvalidValue)

// ---- Memory of allocation nodes

static GraphMemory *memories;

// Bytes on a device. As with CUDA, what launches have freed stays with the graphs until it is trimmed.
typedef struct GraphBytes {
    uint64_t in_use, kept, most_kept;
} GraphBytes;

static GraphBytes bytes_on[SIM_MOST_DEVICES];

cudaError_t sim_new_graph_memory(size_t bytes, GraphMemory **memory)
{
    void *address;
    const cudaError_t error = sim_new_allocation(bytes, GRAPH_MEMORY, &address);
    if (error)
        return error;
    *memory = calloc(1, sizeof **memory);
    if (!*memory)
        sim_die("out of memory for memory of a graph");
    **memory = (GraphMemory){
        .address = address, .bytes = bytes, .device = sim_current_device, .owners = 1, .next = memories};
    memories = *memory;
    return cudaSuccess;
}

GraphMemory *sim_graph_memory_at(const void *address)
{
    for (GraphMemory *m = memories; m; m = m->next)
        if (m->address == address)
            return m;
    return NULL;
}

void sim_use_graph_memory(GraphMemory *memory)
{
    GraphBytes *b = &bytes_on[memory->device];
    memory->in_use = true;
    b->in_use += memory->bytes;
    b->kept = b->in_use > b->kept ? b->in_use : b->kept;
    b->most_kept = b->kept > b->most_kept ? b->kept : b->most_kept;
}

static void end_use(GraphMemory *memory)
{
    if (memory->in_use)
        bytes_on[memory->device].in_use -= memory->bytes;
    memory->in_use = false;
}

void sim_leave_graph_memory(GraphMemory *memory)
{
    if (--memory->owners > 0)
        return;
    end_use(memory);
    for (GraphMemory **link = &memories; *link; link = &(*link)->next)
        if (*link == memory) {
            *link = memory->next;
            break;
        }
    sim_end_allocation(memory->address, GRAPH_MEMORY);
    free(memory);
}

cudaError_t sim_free_graph_memory(const void *address)
{
    GraphMemory *memory = sim_graph_memory_at(address);
    if (!memory || !memory->in_use)
        return cudaErrorInvalidValue;
    end_use(memory);
    return cudaSuccess;
}

API cudaError_t cudaDeviceGraphMemTrim(int device)
{
    HOLD_MEMORY();
    REQUIRE(sim_is_device(device), cudaErrorInvalidDevice);
    bytes_on[device].kept = bytes_on[device].in_use;
    return cudaSuccess;
}

API cudaError_t cudaDeviceGetGraphMemAttribute(int device, enum cudaGraphMemAttributeType attribute, void *value)
{
    HOLD_MEMORY();
    REQUIRE(sim_is_device(device), cudaErrorInvalidDevice);
    REQUIRE(value && attribute <= cudaGraphMemAttrReservedMemHigh, cudaErrorInvalidValue);
    const bool high = attribute == cudaGraphMemAttrUsedMemHigh || attribute == cudaGraphMemAttrReservedMemHigh;
    *(uint64_t *)value = high ? bytes_on[device].most_kept : bytes_on[device].kept;
    return cudaSuccess;
}

API cudaError_t cudaDeviceSetGraphMemAttribute(int device, enum cudaGraphMemAttributeType attribute, void *value)
{
    HOLD_MEMORY();
    REQUIRE(sim_is_device(device), cudaErrorInvalidDevice);
    REQUIRE(attribute == cudaGraphMemAttrUsedMemHigh || attribute == cudaGraphMemAttrReservedMemHigh,
            cudaErrorInvalidValue);
    REQUIRE(value && *(uint64_t *)value == 0, cudaErrorInvalidValue); // they can be set to 0 only
    bytes_on[device].most_kept = bytes_on[device].kept;
    return cudaSuccess;
}

// ---- Work

static size_t parameter_count(const Function *f)
{
    size_t count = 0;
    for (const Variable *v = f->params; v; v = v->next)
        count++;
    return count;
}

// Arguments of its own for a node: pointers, and behind them the values that they lead to.
static void **copy_arguments(const Function *f, void **arguments)
{
    const size_t count = parameter_count(f), align = 16;
    size_t bytes = (count * sizeof(void *) + align - 1) / align * align, index = 0;
    for (const Variable *v = f->params; v; v = v->next)
        bytes += (v->bytes + align - 1) / align * align;
    void **copy = aligned_alloc(align, bytes ? bytes : align);
    if (!copy)
        sim_die("out of memory for a kernel's arguments");
    uint8_t *value = (uint8_t *)copy + (count * sizeof(void *) + align - 1) / align * align;
    for (const Variable *v = f->params; v; v = v->next, index++) {
        copy[index] = memcpy(value, arguments[index], v->bytes);
        value += (v->bytes + align - 1) / align * align;
    }
    return copy;
}

static cudaError_t copy_kernel_work(KernelWork *to, const KernelWork *from)
{
    enum { MOST_ARGUMENTS = 4096 }; // all of one byte
    void *unpacked[MOST_ARGUMENTS], **arguments = from->arguments;
    Kernel *kernel;
    const Function *f;
    cudaError_t error = sim_find_kernel(from->host, &kernel, &f);
    if (!error && from->extra) {
        error =
            from->arguments ? cudaErrorInvalidValue : sim_unpack_arguments(f, from->extra, unpacked, MOST_ARGUMENTS);
        arguments = unpacked;
    }
    if (!error)
        error = sim_check_launch(from->host, from->grid, from->block, from->dynamic_bytes, arguments,
                                 from->cooperative, (dim3){0, 0, 0});
    if (error)
        return error;
    *to = *from;
    to->arguments = copy_arguments(f, arguments);
    to->extra = NULL;
    return cudaSuccess;
}

static bool is_fill(const struct cudaMemsetParams *p)
{
    const bool known_size = p->elementSize == 1 || p->elementSize == 2 || p->elementSize == 4;
    return known_size && (uintptr_t)p->dst % p->elementSize == 0 &&
           (p->height <= 1 || (p->pitch % p->elementSize == 0 && p->width <= p->pitch / p->elementSize)) &&
           sim_on_device(p->dst, p->width && p->height ? p->elementSize : 0);
}

static bool is_copy(const struct cudaMemcpy3DParms *p)
{
    return !p->srcArray != !p->srcPtr.ptr && !p->dstArray != !p->dstPtr.ptr && (unsigned)p->kind <= cudaMemcpyDefault;
}

// ---- The graphs of conditional nodes

static void end_choice(Choice *choice)
{
    for (unsigned k = 0; k < choice->count; k++)
        if (choice->bodies[k])
            sim_end_graph(choice->bodies[k]);
    free(choice->bodies);
    free(choice->handles);
}

// A copy with graphs of its own, or with empty ones where there are none yet.
static cudaError_t copy_choice(Choice *to, const Choice *from, bool with_handles)
{
    cudaError_t error = cudaSuccess;
    to->bodies = calloc(from->count, sizeof *to->bodies);
    to->handles = calloc(from->count, sizeof *to->handles);
    if (!to->bodies || !to->handles)
        sim_die("out of memory for the graphs of a node");
    for (unsigned k = 0; k < from->count && !error; k++) {
        if (!from->bodies)
            to->bodies[k] = sim_new_graph(with_handles);
        else if ((error = sim_copy_graph(from->bodies[k], with_handles, &to->bodies[k])))
            to->bodies[k] = NULL; // it has ended
        if (!error)
            to->handles[k] = to->bodies[k]->handle;
    }
    if (error)
        end_choice(to);
    return error;
}

Graph **sim_graphs_in(const Work *work, size_t *count)
{
    *count = work->type == cudaGraphNodeTypeConditional ? work->choice.count : work->type == cudaGraphNodeTypeGraph;
    return work->type == cudaGraphNodeTypeConditional ? work->choice.bodies : (Graph **)&work->child;
}

static void own_graphs(Node *node)
{
    size_t count;
    Graph **graphs = sim_graphs_in(&node->work, &count);
    for (size_t k = 0; k < count; k++)
        graphs[k]->owner = node;
}

bool sim_is_conditional(const Graph *graph)
{
    for (const Node *node = graph->nodes; node; node = node->next)
        if (node->work.type == cudaGraphNodeTypeConditional)
            return true;
    return false;
}

// ---- Work, copied

// Makes a copy with memory of its own, if it is work that can be done.
static cudaError_t copy_work(Work *to, const Work *from, bool with_handles)
{
    *to = *from;
    switch (from->type) {
    case cudaGraphNodeTypeKernel:
        return copy_kernel_work(&to->kernel, &from->kernel);
    case cudaGraphNodeTypeMemcpy:
        return is_copy(&from->copy) ? cudaSuccess : cudaErrorInvalidValue;
    case cudaGraphNodeTypeMemset:
        return is_fill(&from->fill) ? cudaSuccess : cudaErrorInvalidValue;
    case cudaGraphNodeTypeHost:
        return from->host.fn ? cudaSuccess : cudaErrorInvalidValue;
    case cudaGraphNodeTypeWaitEvent:
    case cudaGraphNodeTypeEventRecord:
        return sim_object_of(EVENT_HANDLE, from->event) ? cudaSuccess : cudaErrorInvalidResourceHandle;
    case cudaGraphNodeTypeGraph:
        return sim_is_conditional(from->child) ? cudaErrorNotSupported
                                               : sim_copy_graph(from->child, with_handles, &to->child);
    case cudaGraphNodeTypeConditional:
        return copy_choice(&to->choice, &from->choice, with_handles);
    case cudaGraphNodeTypeMemAlloc:
    case cudaGraphNodeTypeMemFree:
        to->memory->owners++;
        return cudaSuccess;
    default:
        return cudaSuccess;
    }
}

static void end_work(Work *work)
{
    if (work->type == cudaGraphNodeTypeKernel)
        free(work->kernel.arguments);
    if (work->type == cudaGraphNodeTypeGraph)
        sim_end_graph(work->child);
    if (work->type == cudaGraphNodeTypeConditional)
        end_choice(&work->choice);
    if (work->type == cudaGraphNodeTypeMemAlloc || work->type == cudaGraphNodeTypeMemFree)
        sim_leave_graph_memory(work->memory);
}

struct cudaMemcpy3DParms sim_copy_of_rows(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                                          size_t height, enum cudaMemcpyKind kind)
{
    return (struct cudaMemcpy3DParms){.srcPtr = {(void *)(uintptr_t)from, from_pitch, width, height},
                                      .dstPtr = {to, to_pitch, width, height},
                                      .extent = {width, height, 1}, .kind = kind};
}

// ---- Graphs and nodes

Graph *sim_new_graph(bool with_handles)
{
    Graph *graph = calloc(1, sizeof *graph);
    if (graph && with_handles)
        graph->handle = sim_new_handle(GRAPH_HANDLE, graph);
    if (!graph || (with_handles && !graph->handle))
        sim_die("out of memory for a graph");
    return graph;
}

static void end_node(Node *node)
{
    if (node->handle)
        sim_end_handle(NODE_HANDLE, node->handle);
    end_work(&node->work);
    free(node->before);
    free(node);
}

void sim_end_graph(Graph *graph)
{
    for (Node *node = graph->nodes, *next; node; node = next) {
        next = node->next;
        end_node(node);
    }
    if (graph->handle)
        sim_end_handle(GRAPH_HANDLE, graph->handle);
    free(graph->order);
    free(graph);
}

static bool depends_on(const Node *node, const Node *before)
{
    for (size_t k = 0; k < node->before_count; k++)
        if (node->before[k] == before)
            return true;
    return false;
}

static void add_dependency(Node *node, Node *before)
{
    if (node->before_count == node->before_space) {
        node->before_space = node->before_space ? 2 * node->before_space : 4;
        node->before = realloc(node->before, node->before_space * sizeof *node->before);
        if (!node->before)
            sim_die("out of memory for what a node comes after");
    }
    node->before[node->before_count++] = before;
}

static void remove_dependency(Node *node, const Node *before)
{
    size_t kept = 0;
    for (size_t k = 0; k < node->before_count; k++)
        if (node->before[k] != before)
            node->before[kept++] = node->before[k];
    node->before_count = kept;
}

static Node *append_node(Graph *graph, const Work *work, bool with_handle)
{
    Node *node = calloc(1, sizeof *node);
    if (!node)
        sim_die("out of memory for a node of a graph");
    *node = (Node){.work = *work, .graph = graph, .device = sim_current_device, .number = ++nodes_made};
    node->origin = node->number;
    if (with_handle && !(node->handle = sim_new_handle(NODE_HANDLE, node)))
        sim_die("out of memory for the handle of a node");
    own_graphs(node);
    *(graph->last ? &graph->last->next : &graph->nodes) = node;
    graph->last = node;
    graph->count++;
    return node;
}

// Whether these are nodes of the graph, none of them twice.
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

cudaError_t sim_add_node(Graph *graph, const cudaGraphNode_t *before, size_t count, const Work *work, Node **node)
{
    Work own;
    if (!are_nodes_of(graph, before, count))
        return cudaErrorInvalidValue;
    const cudaError_t error = copy_work(&own, work, true);
    if (error)
        return error;
    *node = append_node(graph, &own, true);
    for (size_t k = 0; k < count; k++)
        add_dependency(*node, sim_node_of(before[k]));
    return cudaSuccess;
}

cudaError_t sim_replace_work(Node *node, const Work *work)
{
    Work own;
    if (node->work.type != work->type)
        return cudaErrorInvalidValue;
    const cudaError_t error = copy_work(&own, work, node->handle != NULL);
    if (error)
        return error;
    end_work(&node->work);
    node->work = own;
    own_graphs(node);
    return cudaSuccess;
}

cudaError_t sim_copy_graph(const Graph *graph, bool with_handles, Graph **copy)
{
    *copy = sim_new_graph(with_handles);
    for (Node *node = graph->nodes; node; node = node->next) {
        Work own;
        const cudaError_t error = copy_work(&own, &node->work, with_handles);
        if (error) { // an event or a kernel of it is no more
            sim_end_graph(*copy);
            return error;
        }
        node->copy = append_node(*copy, &own, with_handles);
        node->copy->origin = node->number;
        node->copy->device = node->device;
    }
    for (const Node *node = graph->nodes; node; node = node->next)
        for (size_t k = 0; k < node->before_count; k++)
            add_dependency(node->copy, node->before[k]->copy);
    return cudaSuccess;
}

static bool can_be_next(const Node *node)
{
    for (size_t k = 0; k < node->before_count; k++)
        if (!node->before[k]->ordered)
            return false;
    return !node->ordered;
}

Node *sim_order_nodes(Graph *graph)
{
    size_t ordered = 0, before;
    free(graph->order);
    graph->order = calloc(graph->count + 1, sizeof *graph->order);
    if (!graph->order)
        sim_die("out of memory for the order of a graph's nodes");
    for (Node *node = graph->nodes; node; node = node->next)
        node->ordered = false;
    do { // most graphs need one pass: who depends on a node was added later
        before = ordered;
        for (Node *node = graph->nodes; node; node = node->next)
            if (can_be_next(node)) {
                node->ordered = true;
                node->turn = ordered;
                graph->order[ordered++] = node;
            }
    } while (ordered > before);
    for (Node *node = graph->nodes; node; node = node->next) {
        if (!node->ordered)
            return node;
        size_t inner;
        Graph **graphs = sim_graphs_in(&node->work, &inner);
        for (size_t k = 0; k < inner; k++) {
            Node *wrong = sim_order_nodes(graphs[k]);
            if (wrong)
                return wrong;
        }
    }
    return NULL;
}

bool sim_allocates(const Graph *graph)
{
    for (const Node *node = graph->nodes; node; node = node->next)
        if (node->work.type == cudaGraphNodeTypeMemAlloc || node->work.type == cudaGraphNodeTypeMemFree)
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
    HOLD_MEMORY();
    REQUIRE_GRAPH(graph);
    REQUIRE(!sim_graph_of(graph)->owner, cudaErrorInvalidValue); // the node's
    sim_end_graph(sim_graph_of(graph));
    return cudaSuccess;
}

API cudaError_t cudaGraphClone(cudaGraph_t *clone, cudaGraph_t original)
{
    Graph *copy;
    BEGIN_CALL();
    REQUIRE_GRAPH(original);
    REQUIRE(clone && !sim_allocates(sim_graph_of(original)), cudaErrorInvalidValue);
    REQUIRE(!sim_is_conditional(sim_graph_of(original)), cudaErrorNotSupported);
    const cudaError_t error = sim_copy_graph(sim_graph_of(original), true, &copy);
    REQUIRE(!error, error);
    *clone = copy->handle;
    return cudaSuccess;
}

API cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t *node, cudaGraphNode_t original, cudaGraph_t clone)
{
    HOLD_MEMORY();
    REQUIRE_GRAPH(clone);
    REQUIRE(node && sim_node_of(original), cudaErrorInvalidValue);
    for (const Node *n = sim_graph_of(clone)->nodes; n; n = n->next)
        if (n->origin == sim_node_of(original)->number && n->origin != n->number) {
            *node = n->handle;
            return cudaSuccess;
        }
    return sim_done(cudaErrorInvalidValue);
}

API cudaError_t cudaGraphDestroyNode(cudaGraphNode_t handle)
{
    HOLD_MEMORY();
    Node *node = sim_node_of(handle);
    REQUIRE(node && !sim_allocates(node->graph), cudaErrorInvalidValue);
    Graph *graph = node->graph;
    Node *previous = NULL;
    for (Node *n = graph->nodes; n; n = n->next) {
        remove_dependency(n, node);
        if (n->next == node)
            previous = n;
    }
    *(previous ? &previous->next : &graph->nodes) = node->next;
    if (graph->last == node)
        graph->last = previous;
    graph->count--;
    end_node(node);
    return cudaSuccess;
}

// ---- Adding nodes

static cudaError_t add(cudaGraphNode_t *handle, cudaGraph_t graph, const cudaGraphNode_t *before, size_t count,
                       const Work *work)
{
    Node *node;
    BEGIN_CALL();
    REQUIRE_GRAPH(graph);
    REQUIRE(handle, cudaErrorInvalidValue);
    const cudaError_t error = sim_add_node(sim_graph_of(graph), before, count, work, &node);
    REQUIRE(!error, error);
    *handle = node->handle;
    return cudaSuccess;
}

Work sim_kernel_work(const struct cudaKernelNodeParams *p)
{
    return (Work){cudaGraphNodeTypeKernel,
                  .kernel = {p->func, p->gridDim, p->blockDim, p->sharedMemBytes, false, p->kernelParams, p->extra}};
}

API cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before,
                                       size_t count, const struct cudaKernelNodeParams *p)
{
    REQUIRE(p, cudaErrorInvalidValue);
    const Work work = sim_kernel_work(p);
    return add(node, graph, before, count, &work);
}

API cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before,
                                       size_t count, const struct cudaMemcpy3DParms *p)
{
    REQUIRE(p, cudaErrorInvalidValue);
    return add(node, graph, before, count, &(Work){cudaGraphNodeTypeMemcpy, .copy = *p});
}

API cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before,
                                         size_t count, void *to, const void *from, size_t bytes,
                                         enum cudaMemcpyKind kind)
{
    return add(node, graph, before, count,
               &(Work){cudaGraphNodeTypeMemcpy, .copy = sim_copy_of_rows(to, bytes, from, bytes, bytes, 1, kind)});
}

cudaError_t sim_work_with_symbol(Work *work, const void *symbol, bool to_symbol, const void *other, size_t bytes,
                                 size_t offset, enum cudaMemcpyKind kind)
{
    char *part;
    BEGIN_CALL();
    const enum cudaMemcpyKind wrong = to_symbol ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice;
    REQUIRE(kind != cudaMemcpyHostToHost && kind != wrong, cudaErrorInvalidMemcpyDirection);
    STOP_IF(sim_part_of_symbol(symbol, bytes, offset, &part));
    *work = (Work){cudaGraphNodeTypeMemcpy,
                   .copy = to_symbol ? sim_copy_of_rows(part, bytes, other, bytes, bytes, 1, kind)
                                     : sim_copy_of_rows((void *)(uintptr_t)other, bytes, part, bytes, bytes, 1, kind)};
    return cudaSuccess;
}

API cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before,
                                               size_t count, const void *symbol, const void *from, size_t bytes,
                                               size_t offset, enum cudaMemcpyKind kind)
{
    Work work;
    const cudaError_t error = sim_work_with_symbol(&work, symbol, true, from, bytes, offset, kind);
    return error ? error : add(node, graph, before, count, &work);
}

API cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t *node, cudaGraph_t graph,
                                                 const cudaGraphNode_t *before, size_t count, void *to,
                                                 const void *symbol, size_t bytes, size_t offset,
                                                 enum cudaMemcpyKind kind)
{
    Work work;
    const cudaError_t error = sim_work_with_symbol(&work, symbol, false, to, bytes, offset, kind);
    return error ? error : add(node, graph, before, count, &work);
}

API cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before,
                                       size_t count, const struct cudaMemsetParams *p)
{
    REQUIRE(p, cudaErrorInvalidValue);
    return add(node, graph, before, count, &(Work){cudaGraphNodeTypeMemset, .fill = *p});
}

API cudaError_t cudaGraphAddHostNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before,
                                     size_t count, const struct cudaHostNodeParams *p)
{
    REQUIRE(p, cudaErrorInvalidValue);
    return add(node, graph, before, count, &(Work){cudaGraphNodeTypeHost, .host = *p});
}

API cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before,
                                      size_t count)
{
    return add(node, graph, before, count, &(Work){.type = cudaGraphNodeTypeEmpty});
}

API cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before,
                                           size_t count, cudaGraph_t child)
{
    HOLD_MEMORY();
    REQUIRE_GRAPH(child);
    REQUIRE(child != graph && !sim_allocates(sim_graph_of(child)), cudaErrorInvalidValue);
    return add(node, graph, before, count, &(Work){cudaGraphNodeTypeGraph, .child = sim_graph_of(child)});
}

API cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before,
                                            size_t count, cudaEvent_t event)
{
    return add(node, graph, before, count, &(Work){cudaGraphNodeTypeEventRecord, .event = event});
}

API cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before,
                                          size_t count, cudaEvent_t event)
{
    return add(node, graph, before, count, &(Work){cudaGraphNodeTypeWaitEvent, .event = event});
}

API cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before,
                                         size_t count, struct cudaMemAllocNodeParams *p)
{
    GraphMemory *memory;
    BEGIN_CALL();
    REQUIRE(p && p->bytesize > 0 && p->poolProps.allocType == cudaMemAllocationTypePinned, cudaErrorInvalidValue);
    cudaError_t error = sim_new_graph_memory(p->bytesize, &memory);
    REQUIRE(!error, error);
    error = add(node, graph, before, count, &(Work){cudaGraphNodeTypeMemAlloc, .memory = memory});
    p->dptr = error ? NULL : memory->address;
    sim_leave_graph_memory(memory); // the node has it now
    return error;
}

API cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before,
                                        size_t count, void *pointer)
{
    HOLD_MEMORY();
    REQUIRE(sim_graph_memory_at(pointer), cudaErrorInvalidValue);
    return add(node, graph, before, count, &(Work){cudaGraphNodeTypeMemFree, .memory = sim_graph_memory_at(pointer)});
}

// ---- What a node does: asked, and changed

API cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, enum cudaGraphNodeType *type)
{
    HOLD_MEMORY();
    REQUIRE(type && sim_node_of(node), cudaErrorInvalidValue);
    *type = sim_node_of(node)->work.type;
    return cudaSuccess;
}

static cudaError_t change(cudaGraphNode_t node, const Work *work)
{
    BEGIN_CALL();
    REQUIRE_NODE(node, work->type);
    return sim_done(sim_replace_work(sim_node_of(node), work));
}

API cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, struct cudaKernelNodeParams *p)
{
    HOLD_MEMORY();
    REQUIRE_NODE(node, cudaGraphNodeTypeKernel);
    REQUIRE(p, cudaErrorInvalidValue);
    const KernelWork *k = &sim_node_of(node)->work.kernel;
    *p = (struct cudaKernelNodeParams){(void *)(uintptr_t)k->host, k->grid,      k->block,
                                       (unsigned)k->dynamic_bytes, k->arguments, NULL};
    return cudaSuccess;
}

API cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const struct cudaKernelNodeParams *p)
{
    HOLD_MEMORY();
    REQUIRE(p, cudaErrorInvalidValue);
    REQUIRE_NODE(node, cudaGraphNodeTypeKernel);
    Work work = sim_kernel_work(p);
    work.kernel.cooperative = sim_node_of(node)->work.kernel.cooperative;
    return change(node, &work);
}

API cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, struct cudaMemcpy3DParms *p)
{
    HOLD_MEMORY();
    REQUIRE_NODE(node, cudaGraphNodeTypeMemcpy);
    REQUIRE(p, cudaErrorInvalidValue);
    *p = sim_node_of(node)->work.copy;
    return cudaSuccess;
}

API cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const struct cudaMemcpy3DParms *p)
{
    REQUIRE(p, cudaErrorInvalidValue);
    return change(node, &(Work){cudaGraphNodeTypeMemcpy, .copy = *p});
}

API cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void *to, const void *from, size_t bytes,
                                               enum cudaMemcpyKind kind)
{
    return change(node,
                  &(Work){cudaGraphNodeTypeMemcpy, .copy = sim_copy_of_rows(to, bytes, from, bytes, bytes, 1, kind)});
}

API cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void *symbol, const void *from,
                                                     size_t bytes, size_t offset, enum cudaMemcpyKind kind)
{
    Work work;
    const cudaError_t error = sim_work_with_symbol(&work, symbol, true, from, bytes, offset, kind);
    return error ? error : change(node, &work);
}

API cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void *to, const void *symbol, size_t bytes,
                                                       size_t offset, enum cudaMemcpyKind kind)
{
    Work work;
    const cudaError_t error = sim_work_with_symbol(&work, symbol, false, to, bytes, offset, kind);
    return error ? error : change(node, &work);
}

API cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, struct cudaMemsetParams *p)
{
    HOLD_MEMORY();
    REQUIRE_NODE(node, cudaGraphNodeTypeMemset);
    REQUIRE(p, cudaErrorInvalidValue);
    *p = sim_node_of(node)->work.fill;
    return cudaSuccess;
}

API cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const struct cudaMemsetParams *p)
{
    REQUIRE(p, cudaErrorInvalidValue);
    return change(node, &(Work){cudaGraphNodeTypeMemset, .fill = *p});
}

API cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, struct cudaHostNodeParams *p)
{
    HOLD_MEMORY();
    REQUIRE_NODE(node, cudaGraphNodeTypeHost);
    REQUIRE(p, cudaErrorInvalidValue);
    *p = sim_node_of(node)->work.host;
    return cudaSuccess;
}

API cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const struct cudaHostNodeParams *p)
{
    REQUIRE(p, cudaErrorInvalidValue);
    return change(node, &(Work){cudaGraphNodeTypeHost, .host = *p});
}

API cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t *child)
{
    HOLD_MEMORY();
    REQUIRE_NODE(node, cudaGraphNodeTypeGraph);
    REQUIRE(child, cudaErrorInvalidValue);
    *child = sim_node_of(node)->work.child->handle;
    return cudaSuccess;
}

API cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event)
{
    HOLD_MEMORY();
    REQUIRE_NODE(node, cudaGraphNodeTypeEventRecord);
    REQUIRE(event, cudaErrorInvalidValue);
    *event = sim_node_of(node)->work.event;
    return cudaSuccess;
}

API cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event)
{
    return change(node, &(Work){cudaGraphNodeTypeEventRecord, .event = event});
}

API cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event)
{
    HOLD_MEMORY();
    REQUIRE_NODE(node, cudaGraphNodeTypeWaitEvent);
    REQUIRE(event, cudaErrorInvalidValue);
    *event = sim_node_of(node)->work.event;
    return cudaSuccess;
}

API cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event)
{
    return change(node, &(Work){cudaGraphNodeTypeWaitEvent, .event = event});
}

API cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node, struct cudaMemAllocNodeParams *p)
{
    HOLD_MEMORY();
    REQUIRE_NODE(node, cudaGraphNodeTypeMemAlloc);
    REQUIRE(p, cudaErrorInvalidValue);
    const GraphMemory *memory = sim_node_of(node)->work.memory;
    memset(p, 0, sizeof *p);
    p->poolProps.allocType = cudaMemAllocationTypePinned;
    p->poolProps.location.type = cudaMemLocationTypeDevice;
    p->bytesize = memory->bytes;
    p->dptr = memory->address;
    return cudaSuccess;
}

API cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void *pointer)
{
    HOLD_MEMORY();
    REQUIRE_NODE(node, cudaGraphNodeTypeMemFree);
    REQUIRE(pointer, cudaErrorInvalidValue);
    memcpy(pointer, &sim_node_of(node)->work.memory->address, sizeof(void *));
    return cudaSuccess;
}

// Of the attributes of a launch only this one changes what a kernel does here.
API cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID id,
                                                const cudaLaunchAttributeValue *value)
{
    bool cooperative = false;
    HOLD_MEMORY();
    REQUIRE_NODE(node, cudaGraphNodeTypeKernel);
    REQUIRE(value, cudaErrorInvalidValue);
    const cudaLaunchAttribute attribute = {.id = id, .val = *value};
    dim3 cluster = {0, 0, 0};
    cudaError_t error = sim_check_attribute(&attribute, &cooperative, &cluster);
    if (!error && cluster.x * cluster.y * cluster.z > 1)
        error = cudaErrorNotSupported; // a node's clusters are the kernel's own
    if (!error && id == cudaLaunchAttributeCooperative)
        sim_node_of(node)->work.kernel.cooperative = cooperative;
    return sim_done(error);
}

API cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID id,
                                                cudaLaunchAttributeValue *value)
{
    HOLD_MEMORY();
    REQUIRE_NODE(node, cudaGraphNodeTypeKernel);
    REQUIRE(value, cudaErrorInvalidValue);
    REQUIRE(id == cudaLaunchAttributeCooperative, cudaErrorNotSupported);
    value->cooperative = sim_node_of(node)->work.kernel.cooperative;
    return cudaSuccess;
}

API cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t to, cudaGraphNode_t from)
{
    HOLD_MEMORY();
    REQUIRE_NODE(to, cudaGraphNodeTypeKernel);
    REQUIRE_NODE(from, cudaGraphNodeTypeKernel);
    sim_node_of(to)->work.kernel.cooperative = sim_node_of(from)->work.kernel.cooperative;
    return cudaSuccess;
}

// ---- Nodes and edges: asked

// Tells how many there are, or gives as many as there is room for, and NULL for the rest.
static cudaError_t give_nodes(Node *const *found, size_t count, cudaGraphNode_t *nodes, size_t *space)
{
    for (size_t k = 0; nodes && k < *space; k++)
        nodes[k] = k < count ? found[k]->handle : NULL;
    *space = nodes && *space < count ? *space : count;
    return cudaSuccess;
}

// An array of `count` nodes that the caller frees.
static Node **room_for(size_t count)
{
    Node **nodes = calloc(count + 1, sizeof *nodes);
    if (!nodes)
        sim_die("out of memory for a list of nodes");
    return nodes;
}

static cudaError_t get_nodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count, bool only_roots)
{
    HOLD_MEMORY();
    REQUIRE_GRAPH(graph);
    REQUIRE(count, cudaErrorInvalidValue);
    Node **found = room_for(sim_graph_of(graph)->count);
    size_t found_count = 0;
    for (Node *n = sim_graph_of(graph)->nodes; n; n = n->next)
        if (!only_roots || n->before_count == 0)
            found[found_count++] = n;
    const cudaError_t error = give_nodes(found, found_count, nodes, count);
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
    HOLD_MEMORY();
    REQUIRE_GRAPH(graph);
    REQUIRE(count && !from == !to, cudaErrorInvalidValue);
    for (Node *n = sim_graph_of(graph)->nodes; n; n = n->next)
        for (size_t k = 0; k < n->before_count; k++, edges++)
            if (from && edges < *count) {
                from[edges] = n->before[k]->handle;
                to[edges] = n->handle;
            }
    for (size_t k = edges; from && k < *count; k++)
        from[k] = to[k] = NULL;
    *count = from && *count < edges ? *count : edges;
    return cudaSuccess;
}

static cudaError_t get_dependencies(cudaGraphNode_t node, cudaGraphNode_t *before, size_t *count)
{
    HOLD_MEMORY();
    REQUIRE(sim_node_of(node) && count, cudaErrorInvalidValue);
    return give_nodes(sim_node_of(node)->before, sim_node_of(node)->before_count, before, count);
}

static cudaError_t get_dependents(cudaGraphNode_t node, cudaGraphNode_t *after, size_t *count)
{
    HOLD_MEMORY();
    REQUIRE(sim_node_of(node) && count, cudaErrorInvalidValue);
    const Graph *graph = sim_node_of(node)->graph;
    Node **found = room_for(graph->count);
    size_t found_count = 0;
    for (Node *n = graph->nodes; n; n = n->next)
        if (depends_on(n, sim_node_of(node)))
            found[found_count++] = n;
    const cudaError_t error = give_nodes(found, found_count, after, count);
    free(found);
    return error;
}

// ---- Edges: changed

static cudaError_t check_edges(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                               size_t count, bool present)
{
    REQUIRE_GRAPH(graph);
    REQUIRE(count == 0 || (from && to), cudaErrorInvalidValue);
    for (size_t k = 0; k < count; k++) {
        const Node *before = sim_node_of(from[k]), *node = sim_node_of(to[k]);
        REQUIRE(before && node && before != node, cudaErrorInvalidValue);
        REQUIRE(before->graph == sim_graph_of(graph) && node->graph == before->graph, cudaErrorInvalidValue);
        REQUIRE(depends_on(node, before) == present, cudaErrorInvalidValue);
    }
    return cudaSuccess;
}

static cudaError_t add_edges(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to, size_t count)
{
    HOLD_MEMORY();
    const cudaError_t error = check_edges(graph, from, to, count, false);
    for (size_t k = 0; !error && k < count; k++)
        if (!depends_on(sim_node_of(to[k]), sim_node_of(from[k])))
            add_dependency(sim_node_of(to[k]), sim_node_of(from[k]));
    return error;
}

static cudaError_t remove_edges(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to, size_t count)
{
    HOLD_MEMORY();
    const cudaError_t error = check_edges(graph, from, to, count, true);
    REQUIRE(error || count == 0 || !sim_allocates(sim_graph_of(graph)), cudaErrorInvalidValue);
    for (size_t k = 0; !error && k < count; k++)
        remove_dependency(sim_node_of(to[k]), sim_node_of(from[k]));
    return error;
}

#if CUDART_VERSION >= 13000

// Edges with data let a node begin before the one that it depends on has ended. Here all edges are plain ones.
static cudaError_t check_edge_data(const cudaGraphEdgeData *data, size_t count)
{
    const cudaGraphEdgeData plain = {0};
    for (size_t k = 0; data && k < count; k++)
        if (memcmp(&data[k], &plain, sizeof plain) != 0) {
            fprintf(stderr, "simulator: edges of a graph with ports or a type are not supported\n");
            return sim_done(cudaErrorNotSupported);
        }
    return cudaSuccess;
}

static void give_edge_data(cudaGraphEdgeData *data, const size_t *count)
{
    if (data && count)
        memset(data, 0, *count * sizeof *data);
}

API cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to,
                                  cudaGraphEdgeData *data, size_t *count)
{
    REQUIRE(from || !data, cudaErrorInvalidValue);
    give_edge_data(data, count);
    return get_edges(graph, from, to, count);
}

API cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *before, cudaGraphEdgeData *data,
                                             size_t *count)
{
    REQUIRE(before || !data, cudaErrorInvalidValue);
    give_edge_data(data, count);
    return get_dependencies(node, before, count);
}

API cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *after, cudaGraphEdgeData *data,
                                               size_t *count)
{
    REQUIRE(after || !data, cudaErrorInvalidValue);
    give_edge_data(data, count);
    return get_dependents(node, after, count);
}

API cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                         const cudaGraphEdgeData *data, size_t count)
{
    const cudaError_t error = check_edge_data(data, count);
    return error ? error : add_edges(graph, from, to, count);
}

API cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                            const cudaGraphEdgeData *data, size_t count)
{
    const cudaError_t error = check_edge_data(data, count);
    return error ? error : remove_edges(graph, from, to, count);
}

// ---- Conditional nodes

API cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle *handle, cudaGraph_t graph,
                                                 unsigned value, unsigned flags)
{
    BEGIN_CALL();
    REQUIRE_GRAPH(graph);
    REQUIRE(handle && (flags & ~(unsigned)cudaGraphCondAssignDefault) == 0, cudaErrorInvalidValue);
    *handle = sim_new_condition(&(Condition){.value = value, .at_start = value, .starts_anew = flags != 0,
                                             .graph = sim_graph_of(graph)});
    return cudaSuccess;
}

// A handle is for one node, of the graph that it was made for or of one within.
static bool can_choose(const Choice *choice, const Graph *graph)
{
    const Condition *condition = sim_condition_of(choice->condition);
    if (!condition || condition->has_node)
        return false;
    while (graph != condition->graph && graph->owner)
        graph = graph->owner->graph;
    return graph == condition->graph && choice->count > 0 && choice->kind <= cudaGraphCondTypeSwitch &&
           (choice->kind != cudaGraphCondTypeWhile || choice->count == 1) &&
           (choice->kind != cudaGraphCondTypeIf || choice->count <= 2);
}

static cudaError_t add_choice(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before, size_t count,
                              struct cudaConditionalNodeParams *p, const Work *work)
{
    REQUIRE_GRAPH(graph);
    REQUIRE(can_choose(&work->choice, sim_graph_of(graph)), cudaErrorInvalidValue);
    const cudaError_t error = add(node, graph, before, count, work);
    if (!error) {
        sim_condition_of(p->handle)->has_node = true;
        p->phGraph_out = sim_node_of(*node)->work.choice.handles;
    }
    return error;
}

// ---- Nodes of all kinds by one call

cudaError_t sim_work_of(const struct cudaGraphNodeParams *p, Work *work)
{
    const struct cudaKernelNodeParamsV2 *k = &p->kernel;
    *work = (Work){.type = p->type};
    switch (p->type) {
    case cudaGraphNodeTypeKernel:
        work->kernel =
            (KernelWork){k->func, k->gridDim, k->blockDim, k->sharedMemBytes, false, k->kernelParams, k->extra};
        return cudaSuccess;
    case cudaGraphNodeTypeMemcpy:
        work->copy = p->memcpy.copyParams;
        return cudaSuccess;
    case cudaGraphNodeTypeMemset:
        work->fill = (struct cudaMemsetParams){p->memset.dst, p->memset.pitch, p->memset.value, p->memset.elementSize,
                                               p->memset.width, p->memset.height};
        return cudaSuccess;
    case cudaGraphNodeTypeHost:
        work->host = (struct cudaHostNodeParams){p->host.fn, p->host.userData};
        return cudaSuccess;
    case cudaGraphNodeTypeGraph:
        REQUIRE_GRAPH(p->graph.graph);
        REQUIRE(!sim_allocates(sim_graph_of(p->graph.graph)), cudaErrorInvalidValue);
        work->child = sim_graph_of(p->graph.graph);
        return cudaSuccess;
    case cudaGraphNodeTypeEmpty:
        return cudaSuccess;
    case cudaGraphNodeTypeWaitEvent:
        work->event = p->eventWait.event;
        return cudaSuccess;
    case cudaGraphNodeTypeEventRecord:
        work->event = p->eventRecord.event;
        return cudaSuccess;
    case cudaGraphNodeTypeConditional:
        work->choice = (Choice){.condition = p->conditional.handle, .kind = p->conditional.type,
                                .count = p->conditional.size};
        return cudaSuccess;
    default:
        REQUIRE((unsigned)p->type < cudaGraphNodeTypeCount, cudaErrorInvalidValue);
        fprintf(stderr, "simulator: nodes of a graph of type %d are not supported\n", (int)p->type);
        return sim_done(cudaErrorNotSupported);
    }
}

API cudaError_t cudaGraphAddNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before,
                                 const cudaGraphEdgeData *data, size_t count, struct cudaGraphNodeParams *p)
{
    Work work;
    HOLD_MEMORY();
    REQUIRE(p, cudaErrorInvalidValue);
    cudaError_t error = check_edge_data(data, count);
    if (error)
        return error;
    if (p->type == cudaGraphNodeTypeMemAlloc) {
        struct cudaMemAllocNodeParams alloc = {.poolProps = p->alloc.poolProps, .bytesize = p->alloc.bytesize};
        error = cudaGraphAddMemAllocNode(node, graph, before, count, &alloc);
        p->alloc.dptr = alloc.dptr;
        return error;
    }
    if (p->type == cudaGraphNodeTypeMemFree)
        return cudaGraphAddMemFreeNode(node, graph, before, count, p->free.dptr);
    error = sim_work_of(p, &work);
    if (!error && p->type == cudaGraphNodeTypeConditional)
        return add_choice(node, graph, before, count, &p->conditional, &work);
    return error ? error : add(node, graph, before, count, &work);
}

API cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, struct cudaGraphNodeParams *p)
{
    Work work;
    HOLD_MEMORY();
    REQUIRE(p, cudaErrorInvalidValue);
    REQUIRE(p->type != cudaGraphNodeTypeConditional, cudaErrorNotSupported);
    const cudaError_t error = sim_work_of(p, &work);
    return error ? error : change(node, &work);
}

#else

API cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, size_t *count)
{
    return get_edges(graph, from, to, count);
}

API cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *before, size_t *count)
{
    return get_dependencies(node, before, count);
}

API cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *after, size_t *count)
{
    return get_dependents(node, after, count);
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

// ---- A drawing

static const char *type_name(enum cudaGraphNodeType type)
{
    static const char *const NAMES[] = {
        "KERNEL",     "MEMCPY",       "MEMSET",           "HOST",           "GRAPH",     "EMPTY",
        "EVENT_WAIT", "EVENT_RECORD", "EXT_SEMAS_SIGNAL", "EXT_SEMAS_WAIT", "MEM_ALLOC", "MEM_FREE",
        "BATCH_MEM_OP", "CONDITIONAL"};
    return (size_t)type < sizeof NAMES / sizeof *NAMES ? NAMES[type] : "?";
}

// Nodes are named by their place in the graph, so that the file is the same in every run.
static void draw(FILE *file, const Graph *graph, const char *prefix)
{
    size_t place = 0;
    for (Node *n = graph->nodes; n; n = n->next)
        n->place = place++;
    for (const Node *n = graph->nodes; n; n = n->next) {
        const size_t at = n->place;
        const Kernel *kernel = n->work.type == cudaGraphNodeTypeKernel ? sim_kernel_of(n->work.kernel.host) : NULL;
        fprintf(file, "    \"%s%zu\" [label=\"%s%zu\\n%s%s%s\"];\n", prefix, at, prefix, at, type_name(n->work.type),
                kernel ? "\\n" : "", kernel ? kernel->name : "");
        for (size_t k = 0; k < n->before_count; k++)
            fprintf(file, "    \"%s%zu\" -> \"%s%zu\";\n", prefix, n->before[k]->place, prefix, at);
        size_t count;
        Graph **graphs = sim_graphs_in(&n->work, &count);
        for (size_t k = 0; k < count; k++) {
            char inner[256];
            if (n->work.type == cudaGraphNodeTypeGraph)
                snprintf(inner, sizeof inner, "%.200s%zu.", prefix, at);
            else
                snprintf(inner, sizeof inner, "%.200s%zu.%zu.", prefix, at, k);
            draw(file, graphs[k], inner);
        }
    }
}

API cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char *path, unsigned flags)
{
    UNUSED(flags);
    HOLD_MEMORY();
    REQUIRE_GRAPH(graph);
    REQUIRE(path, cudaErrorInvalidValue);
    FILE *file = fopen(path, "w");
    REQUIRE(file, cudaErrorOperatingSystem);
    fprintf(file, "digraph graph_of_cuda {\n");
    draw(file, sim_graph_of(graph), "");
    fprintf(file, "}\n");
    return sim_done(fclose(file) == 0 ? cudaSuccess : cudaErrorOperatingSystem);
}
