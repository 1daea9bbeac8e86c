// graph_memory.c: the memory of allocation nodes.
#include "runtime/api/graphs.h"

static GraphMemory *graph_memories;

// Graph memory of a device, in bytes. As in CUDA, freed memory stays reserved for graphs until cudaDeviceGraphMemTrim.
typedef struct GraphMemoryUsage {
    uint64_t in_use, reserved, max_reserved;
} GraphMemoryUsage;

static GraphMemoryUsage usage[SIM_MAX_DEVICES];

cudaError_t sim_new_graph_memory(size_t bytes, GraphMemory **memory)
{
    void *address;
    const cudaError_t error = sim_new_allocation(bytes, GRAPH_MEMORY, &address);
    if (error)
        return error;
    *memory = calloc(1, sizeof **memory);
    if (!*memory)
        sim_die("out of memory: graph memory");
    **memory = (GraphMemory){
        .address = address, .bytes = bytes, .device = sim_current_device, .reference_count = 1, .next = graph_memories};
    graph_memories = *memory;
    return cudaSuccess;
}

GraphMemory *sim_graph_memory_at(const void *address)
{
    for (GraphMemory *m = graph_memories; m; m = m->next)
        if (m->address == address)
            return m;
    return NULL;
}

void sim_allocate_graph_memory(GraphMemory *memory)
{
    GraphMemoryUsage *u = &usage[memory->device];
    memory->in_use = true;
    u->in_use += memory->bytes;
    u->reserved = u->in_use > u->reserved ? u->in_use : u->reserved;
    u->max_reserved = u->reserved > u->max_reserved ? u->reserved : u->max_reserved;
}

static void end_use(GraphMemory *memory)
{
    if (memory->in_use)
        usage[memory->device].in_use -= memory->bytes;
    memory->in_use = false;
}

void sim_release_graph_memory(GraphMemory *memory)
{
    if (--memory->reference_count > 0)
        return;
    end_use(memory);
    for (GraphMemory **link = &graph_memories; *link; link = &(*link)->next)
        if (*link == memory) {
            *link = memory->next;
            break;
        }
    sim_free_allocation(memory->address, GRAPH_MEMORY);
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
    LOCK_MEMORY();
    REQUIRE(sim_is_device(device), cudaErrorInvalidDevice);
    usage[device].reserved = usage[device].in_use;
    return cudaSuccess;
}

API cudaError_t cudaDeviceGetGraphMemAttribute(int device, enum cudaGraphMemAttributeType attribute, void *value)
{
    LOCK_MEMORY();
    REQUIRE(sim_is_device(device), cudaErrorInvalidDevice);
    REQUIRE(value && attribute <= cudaGraphMemAttrReservedMemHigh, cudaErrorInvalidValue);
    const bool is_high_water_mark = attribute == cudaGraphMemAttrUsedMemHigh || attribute == cudaGraphMemAttrReservedMemHigh;
    *(uint64_t *)value = is_high_water_mark ? usage[device].max_reserved : usage[device].reserved;
    return cudaSuccess;
}

API cudaError_t cudaDeviceSetGraphMemAttribute(int device, enum cudaGraphMemAttributeType attribute, void *value)
{
    LOCK_MEMORY();
    REQUIRE(sim_is_device(device), cudaErrorInvalidDevice);
    REQUIRE(attribute == cudaGraphMemAttrUsedMemHigh || attribute == cudaGraphMemAttrReservedMemHigh,
            cudaErrorInvalidValue);
    REQUIRE(value && *(uint64_t *)value == 0, cudaErrorInvalidValue); // can only be reset to 0
    usage[device].max_reserved = usage[device].reserved;
    return cudaSuccess;
}
