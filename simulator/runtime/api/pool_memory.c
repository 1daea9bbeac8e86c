// pool_memory.c: frees device memory, which a pool may count.
#include "runtime/api/pool_memory.h"

Pool *sim_pool_of(cudaMemPool_t pool)
{
    return sim_object_of(POOL_HANDLE, pool);
}

static void subtract_from_pool(const Allocation *a)
{
    Pool *p = sim_pool_of(a->pool);
    if (p) // the pool may have been destroyed
        p->used -= a->bytes;
}

cudaError_t sim_free_device_memory(void *pointer)
{
    const Allocation *a = sim_allocation_at((uint64_t)(uintptr_t)pointer);
    const bool is_start = a && a->address == (uint64_t)(uintptr_t)pointer;
    if (is_start && a->kind == GRAPH_MEMORY)
        return sim_free_graph_memory(pointer);
    if (is_start && a->pool)
        subtract_from_pool(a);
    return sim_free_memory("cudaFree", pointer, is_start && a->kind == MANAGED_MEMORY ? MANAGED_MEMORY : DEVICE_MEMORY);
}
