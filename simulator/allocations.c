// allocations.c: the list of all memory that a kernel may touch.
#include "check.h"
#include "check_shared.h"

#include <stdlib.h>
#include <string.h>

static Allocation **allocations; // in the order of their addresses
static size_t allocation_count, allocation_space;

typedef struct Usage { // of a device's memory
    size_t allocated;
    size_t heap, heap_limit; // of malloc in kernels: in use, and at most
    bool heap_was_used, heap_limit_set; // not set: it is the usual one
    uint32_t open_to; // the devices whose kernels may touch it, a bit each, beside its own
} Usage;

static Usage usage[SIM_MOST_DEVICES];

static size_t index_above(uint64_t address) // of the first allocation that begins above it
{
    size_t low = 0, high = allocation_count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (allocations[middle]->address > address)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

Allocation *sim_allocation_at(uint64_t address)
{
    const size_t above = index_above(address);
    return above ? allocations[above - 1] : NULL;
}

Allocation *sim_allocation_above(uint64_t address)
{
    const size_t above = index_above(address);
    return above < allocation_count ? allocations[above] : NULL;
}

void sim_forget_writers(void)
{
    for (size_t k = 0; k < allocation_count; k++)
        allocations[k]->writer = 0;
}

static void insert(uint64_t address, uint8_t *memory, size_t bytes, MemoryKind kind)
{
    if (allocation_count == allocation_space) {
        allocation_space = allocation_space ? 2 * allocation_space : 64;
        allocations = realloc(allocations, allocation_space * sizeof *allocations);
    }
    Allocation *a = malloc(sizeof *a);
    if (!allocations || !a)
        abort();
    static int number;
    *a = (Allocation){.address = address, .memory = memory, .bytes = bytes, .kind = kind};
    a->number = kind == PARAMETER_MEMORY ? -1 : number++;
    a->device = sim_current_device;
    const bool one_device = kind == DEVICE_MEMORY || kind == HEAP_MEMORY || kind == MODULE_MEMORY;
    a->open_to = one_device ? 1u << a->device | usage[a->device].open_to : SIM_ALL_DEVICES;
    const size_t at = index_above(address);
    memmove(allocations + at + 1, allocations + at, (allocation_count - at) * sizeof *allocations);
    allocations[at] = a;
    allocation_count++;
    sim_begin_uses(a);
}

// ---- What has been freed, for messages: the last ones

enum { MOST_FREED = 4096 };
static Freed freed[MOST_FREED];
static size_t freed_count; // of all that were ever noted

static void note_freed(const Allocation *a)
{
    const char *freed_by = a->kind == PINNED_MEMORY   ? "cudaFreeHost"
                           : a->kind == HEAP_MEMORY   ? "a kernel's free"
                           : a->kind == MODULE_MEMORY ? "the end of its module"
                           : a->kind == ARRAY_MEMORY  ? "cudaFreeArray"
                                                      : "cudaFree";
    freed[freed_count++ % MOST_FREED] = (Freed){a->address, a->bytes, a->call, freed_by, a->call_number};
}

const Freed *sim_freed_at(uint64_t address)
{
    for (size_t k = freed_count; k > 0 && k + MOST_FREED > freed_count; k--) {
        const Freed *f = &freed[(k - 1) % MOST_FREED];
        if (address - f->address < f->bytes)
            return f;
    }
    return NULL;
}

// ---- They come and go

// Takes the allocation that begins there off the list, and gives its memory back if it is ours.
static void take_out(uint64_t address, bool ours)
{
    const size_t at = index_above(address) - 1;
    Allocation *a = allocations[at];
    if (ours)
        note_freed(a);
    if (a->uses)
        sim_end_uses(a);
    memmove(allocations + at, allocations + at + 1, (allocation_count - at - 1) * sizeof *allocations);
    allocation_count--;
    if (ours)
        sim_return_memory(a->address, a->memory, a->bytes);
    sim_free_lines(a->lines, a->has_cells ? a->bytes : 0);
    free(a);
}

size_t sim_allocated_bytes(void)
{
    return usage[sim_current_device].allocated;
}

bool sim_is_open(int owner, int device)
{
    return usage[owner].open_to >> device & 1;
}

void sim_open_memory(int owner, int device, bool open)
{
    const uint32_t bit = 1u << device;
    usage[owner].open_to = open ? usage[owner].open_to | bit : usage[owner].open_to & ~bit;
    for (size_t k = 0; k < allocation_count; k++) {
        Allocation *a = allocations[k];
        if (a->device == owner && a->open_to != SIM_ALL_DEVICES && !a->pool) // a pool's memory has an own rule
            a->open_to = open ? a->open_to | bit : a->open_to & ~bit;
    }
}

bool sim_set_heap_limit(size_t bytes)
{
    Usage *u = &usage[sim_current_device];
    if (u->heap_was_used)
        return false;
    u->heap_limit = bytes;
    u->heap_limit_set = true;
    return true;
}

// What an allocation takes of the heap, whose pieces begin at multiples of 16.
static size_t heap_share(size_t bytes)
{
    return (bytes + 15) / 16 * 16;
}

static bool take_from_heap(size_t bytes)
{
    Usage *u = &usage[sim_current_device];
    const size_t limit = u->heap_limit_set ? u->heap_limit : SIM_USUAL_HEAP;
    u->heap_was_used = true;
    if (bytes > limit || heap_share(bytes) > limit - u->heap)
        return false;
    u->heap += heap_share(bytes);
    return true;
}

cudaError_t sim_new_allocation(size_t bytes, MemoryKind kind, void **pointer)
{
    *pointer = NULL;
    if (bytes == 0)
        return cudaSuccess;
    if (bytes > sim_device()->memory_bytes - sim_allocated_bytes())
        return cudaErrorMemoryAllocation;
    if (kind == HEAP_MEMORY && !take_from_heap(bytes))
        return cudaErrorMemoryAllocation;
    uint64_t address;
    uint8_t *memory = sim_take_memory(bytes, 1, kind != PINNED_MEMORY && kind != MANAGED_MEMORY, &address);
    if (!memory)
        return cudaErrorMemoryAllocation;
    usage[sim_current_device].allocated += bytes;
    insert(address, memory, bytes, kind);
    *pointer = (void *)(uintptr_t)address;
    return cudaSuccess;
}

bool sim_place_variable(Variable *v)
{
    uint8_t *memory = sim_take_memory(v->bytes, v->align, !v->managed, &v->address);
    if (memory)
        insert(v->address, memory, v->bytes, MODULE_MEMORY);
    if (memory && v->managed)
        sim_allocation_at(v->address)->open_to = SIM_ALL_DEVICES;
    return memory != NULL;
}

void sim_end_variable(const Variable *v)
{
    take_out(v->address, true);
}

cudaError_t sim_end_allocation(void *pointer, MemoryKind kind)
{
    const uint64_t address = (uint64_t)(uintptr_t)pointer;
    if (!pointer)
        return cudaSuccess;
    const Allocation *a = sim_allocation_at(address);
    if (!a || a->kind != kind || a->address != address)
        return cudaErrorInvalidValue;
    usage[a->device].allocated -= a->bytes;
    if (kind == HEAP_MEMORY)
        usage[a->device].heap -= heap_share(a->bytes);
    take_out(address, true);
    return cudaSuccess;
}

void sim_end_all_allocations(void)
{
    for (size_t k = allocation_count; k-- > 0;) {
        void *pointer = (void *)(uintptr_t)allocations[k]->address;
        if (allocations[k]->device != sim_current_device)
            continue;
        if (allocations[k]->kind == HOST_MEMORY)
            sim_unregister_memory(pointer);
        else if (allocations[k]->kind != MODULE_MEMORY)
            sim_end_allocation(pointer, allocations[k]->kind);
    }
    usage[sim_current_device].heap_was_used = false;
}

void sim_register_memory(void *pointer, size_t bytes, MemoryKind kind)
{
    insert((uint64_t)(uintptr_t)pointer, pointer, bytes, kind);
}

void sim_unregister_memory(void *pointer)
{
    take_out((uint64_t)(uintptr_t)pointer, false);
}
