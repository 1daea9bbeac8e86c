// allocations.c: creates and removes the memory that a kernel may access, and counts its bytes.
#include "machine/observer.h"

#include <stdlib.h>

typedef struct Usage { // of a device's memory; guarded by the lock of lock.c
    size_t allocated;
    size_t heap, heap_limit;            // malloc in kernels: bytes in use, and their limit
    bool heap_was_used, heap_limit_set; // not set: SIM_DEFAULT_HEAP_LIMIT
    uint32_t accessible_by;             // mask of the other devices with peer access
} Usage;

static Usage usage[SIM_MAX_DEVICES];

uint64_t sim_first_inaccessible(const Allocation *a, int device, uint64_t address, size_t bytes, bool writes)
{
    for (uint64_t at = address; a->granules && at < address + bytes;) {
        const uint64_t number = (at - a->address) / SIM_GRANULE;
        const Granule *g = &a->granules[number];
        if (!g->physical || !((writes ? g->writers : g->readers) >> device & 1))
            return at;
        at = a->address + (number + 1) * SIM_GRANULE;
    }
    return address + bytes;
}

static void insert(uint64_t address, uint8_t *memory, size_t bytes, MemoryKind kind)
{
    Allocation *a = malloc(sizeof *a);
    if (!a)
        sim_die("out of memory: allocation");
    static int number;
    *a = (Allocation){.address = address, .memory = memory, .bytes = bytes, .kind = kind, .file = -1};
    a->number = kind == PARAMETER_MEMORY ? -1 : number++;
    a->device = sim_current_device;
    const bool is_device_only = kind == DEVICE_MEMORY || kind == HEAP_MEMORY || kind == MODULE_MEMORY;
    a->accessible_by = is_device_only ? 1u << a->device | usage[a->device].accessible_by : SIM_ALL_DEVICES;
    sim_list_allocation(a);
    if (sim_observer.begin_allocation)
        sim_observer.begin_allocation(a);
}

// ---- The last freed allocations, for messages

enum { MAX_FREED = 4096 };
static FreedAllocation freed[MAX_FREED];
static size_t freed_count; // since the program's start; the newest MAX_FREED are kept

static void record_freed(const Allocation *a)
{
    const char *freed_by = a->kind == PINNED_MEMORY   ? "cudaFreeHost"
                           : a->kind == HEAP_MEMORY   ? "a kernel's free"
                           : a->kind == MODULE_MEMORY ? "the end of its module"
                           : a->kind == ARRAY_MEMORY  ? "cudaFreeArray"
                           : a->granules              ? "cuMemAddressFree"
                                                      : "cudaFree";
    freed[freed_count++ % MAX_FREED] = (FreedAllocation){a->address, a->bytes, a->kind, a->call, freed_by, a->call_number, a->allocation_stack, a->free_stack};
}

const FreedAllocation *sim_freed_at(uint64_t address)
{
    for (size_t k = freed_count; k > 0 && k + MAX_FREED > freed_count; k--) {
        const FreedAllocation *f = &freed[(k - 1) % MAX_FREED];
        if (address - f->address < f->bytes)
            return f;
    }
    return NULL;
}

// ---- Creation and removal

// Removes the allocation at this address from the list. If `owned`, the simulator allocated its memory, and frees it.
static void remove_allocation(uint64_t address, bool owned)
{
    Allocation *a = sim_allocation_at(address);
    if (owned)
        record_freed(a);
    if (sim_observer.end_allocation)
        sim_observer.end_allocation(a);
    sim_unlist_allocation(a);
    if (a->granules || a->file >= 0)
        sim_restore_fill(a->memory, a->bytes);
    if (a->file >= 0)
        sim_close_file(a->file);
    if (owned)
        sim_free_range(a->address, a->memory, a->bytes, a->kind != HEAP_MEMORY);
    free(a->granules);
    free(a->cached_digests);
    free(a);
}

size_t sim_allocated_bytes(void)
{
    return usage[sim_current_device].allocated;
}

bool sim_memory_available(int device, size_t bytes)
{
    return bytes <= sim_device()->memory_bytes - usage[device].allocated;
}

void sim_count_memory(int device, int64_t difference)
{
    usage[device].allocated += (size_t)difference;
}

bool sim_has_peer_access(int owner, int device)
{
    return usage[owner].accessible_by >> device & 1;
}

void sim_set_peer_access(int owner, int device, bool enabled)
{
    const uint32_t bit = 1u << device;
    usage[owner].accessible_by = enabled ? usage[owner].accessible_by | bit : usage[owner].accessible_by & ~bit;
    for (Allocation *a = sim_allocation_above(0); a; a = sim_allocation_above(a->address))
        if (a->device == owner && a->accessible_by != SIM_ALL_DEVICES && !a->pool) // a pool has its own access rights
            a->accessible_by = enabled ? a->accessible_by | bit : a->accessible_by & ~bit;
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

// The heap bytes that an allocation uses: a multiple of 16.
static size_t heap_bytes(size_t bytes)
{
    return (bytes + 15) / 16 * 16;
}

static bool reserve_heap(size_t bytes)
{
    Usage *u = &usage[sim_current_device];
    const size_t limit = u->heap_limit_set ? u->heap_limit : SIM_DEFAULT_HEAP_LIMIT;
    u->heap_was_used = true;
    if (bytes > limit || heap_bytes(bytes) > limit - u->heap)
        return false;
    u->heap += heap_bytes(bytes);
    return true;
}

// True if the memory counts as host memory. Managed memory does, because it is in host memory until a kernel accesses it.
static bool is_host_kind(MemoryKind kind)
{
    return kind == PINNED_MEMORY || kind == MANAGED_MEMORY;
}

static size_t host_bytes_used;

// The counter for this kind of memory.
static size_t *usage_counter(MemoryKind kind, int device)
{
    return is_host_kind(kind) ? &host_bytes_used : &usage[device].allocated;
}

cudaError_t sim_new_allocation(size_t bytes, MemoryKind kind, void **pointer)
{
    *pointer = NULL;
    if (bytes == 0)
        return cudaSuccess;
    if (is_host_kind(kind) ? bytes > sim_device()->host_bytes - host_bytes_used : !sim_memory_available(sim_current_device, bytes))
        return cudaErrorMemoryAllocation;
    if (kind == HEAP_MEMORY && !reserve_heap(bytes))
        return cudaErrorMemoryAllocation;
    uint64_t address;
    uint8_t *memory = sim_allocate_range(bytes, 1, !is_host_kind(kind), &address);
    if (!memory)
        return cudaErrorMemoryAllocation;
    *usage_counter(kind, sim_current_device) += bytes;
    insert(address, memory, bytes, kind);
    *pointer = (void *)(uintptr_t)address;
    return cudaSuccess;
}

bool sim_make_shareable(Allocation *a)
{
    if (a->file < 0)
        a->file = sim_share_pages(a);
    return a->file >= 0;
}

bool sim_map_file(Allocation *a, int file)
{
    a->file = file;
    return sim_map_shared(a->memory, a->bytes, file, 0);
}

uint64_t sim_reserve_addresses(size_t bytes, size_t alignment)
{
    uint64_t address;
    Granule *granules = calloc(bytes / SIM_GRANULE, sizeof *granules);
    uint8_t *memory = granules ? sim_allocate_range(bytes, alignment, true, &address) : NULL;
    if (!memory || !sim_in_device_range((void *)(uintptr_t)address)) { // pages can only be mapped in the device range
        free(granules);
        free(memory);
        return 0;
    }
    insert(address, memory, bytes, RESERVED_MEMORY);
    sim_allocation_at(address)->granules = granules;
    return address;
}

bool sim_allocate_variable(Variable *v)
{
    uint64_t address;
    uint8_t *memory = sim_allocate_range(v->bytes, v->align, !v->is_managed, &address);
    if (!memory)
        return false; // v->address is not set
    v->address = address;
    insert(address, memory, v->bytes, MODULE_MEMORY);
    if (v->is_managed)
        sim_allocation_at(address)->accessible_by = SIM_ALL_DEVICES;
    return true;
}

void sim_free_variable(const Variable *v)
{
    remove_allocation(v->address, true);
}

cudaError_t sim_free_allocation(void *pointer, MemoryKind kind)
{
    const uint64_t address = (uint64_t)(uintptr_t)pointer;
    if (!pointer)
        return cudaSuccess;
    const Allocation *a = sim_allocation_at(address);
    if (!a || a->kind != kind || a->address != address)
        return cudaErrorInvalidValue;
    if (kind != RESERVED_MEMORY)
        *usage_counter(kind, a->device) -= a->bytes;
    if (kind == HEAP_MEMORY)
        usage[a->device].heap -= heap_bytes(a->bytes);
    remove_allocation(address, true);
    return cudaSuccess;
}

void sim_free_all_allocations(void)
{
    for (Allocation *a = sim_allocation_at(UINT64_MAX), *below; a; a = below) {
        void *pointer = (void *)(uintptr_t)a->address;
        below = sim_allocation_at(a->address - 1);
        if (a->device != sim_current_device)
            continue;
        if (a->kind == HOST_MEMORY)
            sim_unregister_memory(pointer);
        else if (a->kind != MODULE_MEMORY)
            sim_free_allocation(pointer, a->kind);
    }
    usage[sim_current_device].heap_was_used = false;
}

void sim_register_memory(void *pointer, size_t bytes, MemoryKind kind)
{
    insert((uint64_t)(uintptr_t)pointer, pointer, bytes, kind);
}

void sim_unregister_memory(void *pointer)
{
    remove_allocation((uint64_t)(uintptr_t)pointer, false);
}
