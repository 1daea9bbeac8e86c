// handles.c: the table in which handles lead to what they stand for.
//
// A handle is no pointer but a mark, a generation and a place in the table. The generation counts how often the
// place was given away, so that a destroyed handle differs from the one that has its place now.
#include "runtime/api/calls.h"

enum { INDEX_BITS = 24, GENERATION_BITS = 24 };
static const uint64_t MARK = 0xc0daull << (INDEX_BITS + GENERATION_BITS); // no address begins like this

typedef struct Entry {
    HandleKind kind;
    int device; // that was current when it was made
    uint32_t generation;
    void *object; // NULL: the place is free
    size_t next_free;
} Entry;

static Entry *entries;
static size_t entry_count, entry_space, first_free = SIZE_MAX;

static void *handle_of(size_t place)
{
    return (void *)(uintptr_t)(MARK | (uint64_t)entries[place].generation << INDEX_BITS | place);
}

static bool add_entry(void)
{
    if (entry_count >> INDEX_BITS)
        return false;
    if (entry_count == entry_space) {
        const size_t space = entry_space ? 2 * entry_space : 64;
        Entry *larger = realloc(entries, space * sizeof *entries);
        if (!larger)
            return false;
        entries = larger;
        entry_space = space;
    }
    entries[entry_count] = (Entry){.next_free = first_free};
    first_free = entry_count++;
    return true;
}

void *sim_new_handle(HandleKind kind, void *object)
{
    if (first_free == SIZE_MAX && !add_entry())
        return NULL;
    const size_t place = first_free;
    Entry *e = &entries[place];
    first_free = e->next_free;
    e->kind = kind;
    e->device = sim_current_device;
    e->generation = (e->generation + 1) & ((1u << GENERATION_BITS) - 1);
    e->object = object;
    return handle_of(place);
}

void *sim_object_of(HandleKind kind, const void *handle)
{
    const size_t place = (size_t)(uintptr_t)handle & ((1u << INDEX_BITS) - 1);
    if (place >= entry_count || !entries[place].object || entries[place].kind != kind || handle_of(place) != handle)
        return NULL;
    return entries[place].object;
}

void *sim_remove_handle(HandleKind kind, const void *handle)
{
    void *object = sim_object_of(kind, handle);
    if (!object)
        return NULL;
    const size_t place = (size_t)(uintptr_t)handle & ((1u << INDEX_BITS) - 1);
    entries[place].object = NULL;
    entries[place].next_free = first_free;
    first_free = place;
    return object;
}

void sim_destroy_all_handles(HandleKind kind, void (*end)(void *object))
{
    for (size_t place = 0; place < entry_count; place++)
        if (entries[place].object && entries[place].kind == kind && entries[place].device == sim_current_device)
            end(sim_remove_handle(kind, handle_of(place)));
}
