// host_heap.c: a lock-free hash table of the live blocks of the C library's heap.
#include "base/host_heap.h"

#include <features.h>
#include <stdatomic.h>

#ifdef __GLIBC__
enum { SLOT_BITS = 18 };
#else
enum { SLOT_BITS = 3 }; // host_heap_calls.c records no blocks
#endif
enum { SLOTS = 1 << SLOT_BITS, MAX_PROBES = 8 }; // further blocks are not recorded

typedef struct Slot {
    atomic_uintptr_t address; // FREE, or of a block
    atomic_size_t bytes;
    _Atomic uint64_t number;
} Slot;

static const uintptr_t FREE = 0, RESERVED = 1; // RESERVED: bytes and number are being written
static Slot slots[SLOTS]; // pages that are never touched take no memory
static _Atomic uint64_t last_number;

static Slot *slot_of(uintptr_t address, unsigned probe)
{
    const uint64_t hash = (uint64_t)address * 0x9e3779b97f4a7c15 >> (64 - SLOT_BITS);
    return &slots[(hash + probe) % SLOTS];
}

static Slot *find_slot(const void *pointer)
{
    for (unsigned k = 0; k < MAX_PROBES; k++)
        if (slot_of((uintptr_t)pointer, k)->address == (uintptr_t)pointer)
            return slot_of((uintptr_t)pointer, k);
    return NULL;
}

void sim_add_host_block(const void *pointer, size_t bytes)
{
    sim_remove_host_block(pointer); // an entry that was missed when its block was freed
    for (unsigned k = 0; pointer && k < MAX_PROBES; k++) {
        Slot *slot = slot_of((uintptr_t)pointer, k);
        uintptr_t expected = FREE;
        if (slot->address != FREE || !atomic_compare_exchange_strong(&slot->address, &expected, RESERVED))
            continue;
        slot->bytes = bytes;
        slot->number = ++last_number;
        slot->address = (uintptr_t)pointer;
        return;
    }
}

void sim_remove_host_block(const void *pointer)
{
    Slot *slot = pointer ? find_slot(pointer) : NULL;
    if (slot)
        slot->address = FREE;
}

void sim_resize_host_block(const void *pointer, size_t bytes)
{
    Slot *slot = find_slot(pointer);
    if (slot)
        slot->bytes = bytes;
}

bool sim_find_host_block(const void *pointer, HostBlock *block)
{
    const Slot *slot = pointer ? find_slot(pointer) : NULL;
    if (slot)
        *block = (HostBlock){slot->bytes, slot->number};
    return slot != NULL;
}
