// allocation_list.c: the list of all memory that a kernel may access.
#include "machine/memory/memory.h"

#include <stdlib.h>
#include <string.h>

// All allocations by ascending address, in chunks: inserting or removing one moves at most a chunk's entries. No chunk is
// empty.
enum { CHUNK_ENTRIES = 256 };
typedef struct Chunk {
    uint64_t address[CHUNK_ENTRIES]; // of each allocation; contiguous for the binary search
    Allocation *allocation[CHUNK_ENTRIES];
    size_t count;
} Chunk;

static Chunk **chunks;
static size_t chunk_count, chunk_capacity;

static size_t index_above(const Chunk *c, uint64_t address) // of the first allocation after the address
{
    size_t low = 0, high = c->count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (c->address[middle] > address)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static size_t chunk_of(uint64_t address) // the last chunk that begins at or below the address; the first chunk if there is none
{
    size_t low = 1, high = chunk_count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (chunks[middle]->address[0] > address)
            high = middle;
        else
            low = middle + 1;
    }
    return low - 1;
}

Allocation *sim_allocation_at(uint64_t address)
{
    if (chunk_count == 0)
        return NULL;
    const Chunk *c = chunks[chunk_of(address)];
    const size_t above = index_above(c, address);
    return above ? c->allocation[above - 1] : NULL;
}

Allocation *sim_allocation_above(uint64_t address)
{
    if (chunk_count == 0)
        return NULL;
    const size_t at = chunk_of(address), above = index_above(chunks[at], address);
    if (above < chunks[at]->count)
        return chunks[at]->allocation[above];
    return at + 1 < chunk_count ? chunks[at + 1]->allocation[0] : NULL;
}

void sim_reset_writers(void)
{
    for (size_t k = 0; k < chunk_count; k++)
        for (size_t j = 0; j < chunks[k]->count; j++)
            chunks[k]->allocation[j]->last_writer = 0;
}

static Chunk *add_chunk(size_t at)
{
    if (chunk_count == chunk_capacity) {
        chunk_capacity = chunk_capacity ? 2 * chunk_capacity : 16;
        chunks = realloc(chunks, chunk_capacity * sizeof *chunks);
    }
    Chunk *c = calloc(1, sizeof *c);
    if (!chunks || !c)
        sim_die("out of memory: device memory");
    memmove(chunks + at + 1, chunks + at, (chunk_count - at) * sizeof *chunks);
    chunk_count++;
    return chunks[at] = c;
}

// Moves the entries of c, starting at index `from`, to index `to` of `other`.
static void move_entries(Chunk *c, size_t from, Chunk *other, size_t to)
{
    memmove(other->address + to, c->address + from, (c->count - from) * sizeof *c->address);
    memmove(other->allocation + to, c->allocation + from, (c->count - from) * sizeof *c->allocation);
}

static void remove_chunk(size_t at)
{
    free(chunks[at]);
    chunk_count--;
    memmove(chunks + at, chunks + at + 1, (chunk_count - at) * sizeof *chunks);
}

// The chunk for an allocation with this address; splits a full chunk.
static Chunk *chunk_for(uint64_t address)
{
    if (chunk_count == 0)
        return add_chunk(0);
    const size_t at = chunk_of(address);
    Chunk *c = chunks[at];
    if (c->count < CHUNK_ENTRIES)
        return c;
    Chunk *upper = add_chunk(at + 1);
    move_entries(c, CHUNK_ENTRIES / 2, upper, 0);
    upper->count = c->count -= CHUNK_ENTRIES / 2;
    return chunks[chunk_of(address)];
}

void sim_list_allocation(Allocation *a)
{
    Chunk *c = chunk_for(a->address);
    const size_t at = index_above(c, a->address);
    move_entries(c, at, c, at + 1);
    c->address[at] = a->address;
    c->allocation[at] = a;
    c->count++;
}

void sim_unlist_allocation(const Allocation *a)
{
    const size_t number = chunk_of(a->address);
    Chunk *c = chunks[number];
    const size_t at = index_above(c, a->address) - 1;
    move_entries(c, at + 1, c, at);
    c->count--;
    if (c->count == 0)
        remove_chunk(number);
}
