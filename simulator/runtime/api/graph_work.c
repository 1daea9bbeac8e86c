// graph_work.c: parameters of nodes that launch, copy or fill, and nested graphs.
#include "base/host_heap.h"
#include "checker/host_checks.h"
#include "runtime/api/graphs.h"

static size_t parameter_count(const Function *f)
{
    size_t count = 0;
    for (const Variable *v = f->params; v; v = v->next)
        count++;
    return count;
}

// Copies kernel arguments to one allocation: the pointers, followed by the values.
static void **copy_arguments(const Function *f, void **arguments)
{
    const size_t count = parameter_count(f), align = 16;
    size_t bytes = (count * sizeof(void *) + align - 1) / align * align, index = 0;
    for (const Variable *v = f->params; v; v = v->next)
        bytes += (v->bytes + align - 1) / align * align;
    void **copy = aligned_alloc(align, bytes ? bytes : align);
    if (!copy)
        sim_die("out of memory: kernel arguments");
    uint8_t *value = (uint8_t *)copy + (count * sizeof(void *) + align - 1) / align * align;
    for (const Variable *v = f->params; v; v = v->next, index++) {
        copy[index] = memcpy(value, arguments[index], v->bytes);
        value += (v->bytes + align - 1) / align * align;
    }
    return copy;
}

cudaError_t sim_copy_kernel_params(KernelParams *to, const KernelParams *from)
{
    enum { MAX_ARGUMENTS = 4096 }; // the maximum number of parameter bytes
    void *unpacked[MAX_ARGUMENTS], **arguments = from->arguments;
    Kernel *kernel;
    const Function *f;
    cudaError_t error = sim_find_kernel(from->host_function, &kernel, &f);
    if (!error && from->extra) {
        error =
            from->arguments ? cudaErrorInvalidValue : sim_unpack_arguments(f, from->extra, unpacked, MAX_ARGUMENTS);
        arguments = unpacked;
    }
    if (!error)
        error = sim_check_launch(&(KernelLaunch){kernel, f, from->grid, from->block, from->dynamic_shared_bytes, arguments, from->is_cooperative, {0, 0, 0}, false});
    if (error)
        return error;
    *to = *from;
    to->arguments = copy_arguments(f, arguments);
    to->extra = NULL;
    return cudaSuccess;
}

bool sim_is_valid_fill(const struct cudaMemsetParams *p)
{
    const bool valid_size = p->elementSize == 1 || p->elementSize == 2 || p->elementSize == 4;
    return valid_size && (uintptr_t)p->dst % p->elementSize == 0 &&
           (p->height <= 1 || (p->pitch % p->elementSize == 0 && p->width <= p->pitch / p->elementSize)) &&
           sim_on_device(p->dst, p->width && p->height ? p->elementSize : 0);
}

bool sim_is_valid_copy(const struct cudaMemcpy3DParms *p)
{
    return !p->srcArray != !p->srcPtr.ptr && !p->dstArray != !p->dstPtr.ptr && (unsigned)p->kind <= cudaMemcpyDefault;
}

// ---- Nested graphs

Graph **sim_nested_graphs(const NodeParams *params, size_t *count)
{
    *count = params->type == cudaGraphNodeTypeConditional ? params->conditional.count : params->type == cudaGraphNodeTypeGraph;
    return params->type == cudaGraphNodeTypeConditional ? params->conditional.bodies : (Graph **)&params->child;
}

void sim_set_graph_owner(Node *node)
{
    size_t count;
    Graph **graphs = sim_nested_graphs(&node->params, &count);
    for (size_t k = 0; k < count; k++)
        graphs[k]->owner = node;
}

bool sim_has_conditional_nodes(const Graph *graph)
{
    for (const Node *node = graph->nodes; node; node = node->next)
        if (node->params.type == cudaGraphNodeTypeConditional)
            return true;
    return false;
}

// ---- Host memory of copies

// The pageable block of the C library's heap that starts at the pointer; 0: none is known.
static uint64_t host_block_at(const void *pointer)
{
    HostBlock block;
    return pointer && !sim_on_device(pointer, 1) && sim_find_host_block(pointer, &block) ? block.number : 0;
}

// Keeps the numbers of a node that is copied from another one.
void sim_note_host_blocks(NodeParams *params)
{
    const void *const pointers[] = {params->copy.srcPtr.ptr, params->copy.dstPtr.ptr};
    for (int k = 0; k < 2; k++)
        params->host_blocks[k] = params->host_blocks[k] ? params->host_blocks[k] : host_block_at(pointers[k]);
}

bool sim_check_host_blocks(const NodeParams *params)
{
    const struct cudaMemcpy3DParms *copy = &params->copy;
    const void *const pointers[] = {copy->srcPtr.ptr, copy->dstPtr.ptr};
    bool may_write = true;
    for (int k = 0; k < 2 && sim_checker_enabled(); k++)
        if (params->host_blocks[k] && params->host_blocks[k] != host_block_at(pointers[k])) {
            sim_report_freed_host_block("cudaMemcpy", k == 1, copy->extent.width * copy->extent.height * copy->extent.depth);
            may_write &= k == 0;
        }
    return may_write;
}

struct cudaMemcpy3DParms sim_make_2d_copy(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                                          size_t height, enum cudaMemcpyKind kind)
{
    return (struct cudaMemcpy3DParms){.srcPtr = {(void *)(uintptr_t)from, from_pitch, width, height},
                                      .dstPtr = {to, to_pitch, width, height},
                                      .extent = {width, height, 1}, .kind = kind};
}
