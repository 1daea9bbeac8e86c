// handles.c: the table of handles.
//
// A handle consists of a magic number, a generation and an index in the table. The generation counts the uses of an entry, so a
// destroyed handle differs from later handles with its index.
#include "runtime/api/calls.h"

enum { INDEX_BITS = 24, GENERATION_BITS = 24 };
static const uint64_t MAGIC = 0xc0daull << (INDEX_BITS + GENERATION_BITS); // not a canonical address

typedef struct Entry {
    HandleKind kind;
    int device; // current device at creation
    uint32_t generation;
    void *object; // NULL: free entry
    size_t next_free;
} Entry;

static Entry *entries;
static size_t entry_count, entry_capacity, first_free = SIZE_MAX;

static void *handle_of(size_t index)
{
    return (void *)(uintptr_t)(MAGIC | (uint64_t)entries[index].generation << INDEX_BITS | index);
}

static bool add_entry(void)
{
    if (entry_count >> INDEX_BITS)
        return false;
    if (entry_count == entry_capacity) {
        const size_t capacity = entry_capacity ? 2 * entry_capacity : 64;
        Entry *grown = realloc(entries, capacity * sizeof *entries);
        if (!grown)
            return false;
        entries = grown;
        entry_capacity = capacity;
    }
    entries[entry_count] = (Entry){.next_free = first_free};
    first_free = entry_count++;
    return true;
}

void *sim_new_handle(HandleKind kind, void *object)
{
    if (first_free == SIZE_MAX && !add_entry())
        return NULL;
    const size_t index = first_free;
    Entry *e = &entries[index];
    first_free = e->next_free;
    e->kind = kind;
    e->device = sim_current_device;
    e->generation = (e->generation + 1) & ((1u << GENERATION_BITS) - 1);
    e->object = object;
    return handle_of(index);
}

void *sim_object_of(HandleKind kind, const void *handle)
{
    const size_t index = (size_t)(uintptr_t)handle & ((1u << INDEX_BITS) - 1);
    if (index >= entry_count || !entries[index].object || entries[index].kind != kind || handle_of(index) != handle)
        return NULL;
    return entries[index].object;
}

void *sim_remove_handle(HandleKind kind, const void *handle)
{
    void *object = sim_object_of(kind, handle);
    if (!object)
        return NULL;
    const size_t index = (size_t)(uintptr_t)handle & ((1u << INDEX_BITS) - 1);
    entries[index].object = NULL;
    entries[index].next_free = first_free;
    first_free = index;
    return object;
}

void sim_destroy_all_handles(HandleKind kind, void (*destroy)(void *object))
{
    for (size_t index = 0; index < entry_count; index++)
        if (entries[index].object && entries[index].kind == kind && entries[index].device == sim_current_device)
            destroy(sim_remove_handle(kind, handle_of(index)));
}
