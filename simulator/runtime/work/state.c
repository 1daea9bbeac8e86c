// state.c: digests of all memory that kernels may access, and the changes between two states.
#include "runtime/work/state.h"
#include "checker/order.h"
#include "checker/memoized_uses.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK_BYTES = 65536 }; // a multiple of LINE_BYTES

struct MemoryState {
    size_t count;
    Digest chunks[]; // for each allocation, of its properties and then of its chunks
};

// Cached digests of memory that only operations can change. They become invalid at an operation that
// does not call continue_cache.
typedef struct CachedDigest {
    Digest digest;
    uint64_t generation; // valid if equal to digest_cache.generation
} CachedDigest;

static struct {
    uint64_t generation;
    uint32_t op; // operation after which the cache is valid
} digest_cache = {.generation = 1};

typedef struct Chunk {
    Allocation *allocation; // NULL after the last chunk
    size_t first, bytes; // 0 bytes: the entry is for the allocation's properties
} Chunk;

static Chunk first_chunk(void)
{
    return (Chunk){sim_allocation_above(0), 0, 0};
}

static Chunk next_chunk(Chunk p)
{
    const size_t first = p.first + p.bytes, rest = p.allocation->bytes - first;
    if (rest == 0)
        return (Chunk){sim_allocation_above(p.allocation->address), 0, 0};
    return (Chunk){p.allocation, first, rest < CHUNK_BYTES ? rest : CHUNK_BYTES};
}

static Digest digest_of(Chunk p)
{
    const Allocation *a = p.allocation;
    const uint64_t properties[] = {a->address, a->bytes, a->kind, (uint64_t)a->device, a->accessible_by};
    Digest digest = {{0}};
    if (p.bytes == 0) {
        sim_digest(&digest, properties, sizeof properties);
        sim_digest_tracking(&digest, a);
    } else {
        sim_digest(&digest, a->memory + p.first, p.bytes);
        sim_digest_written(&digest, a, p.first, p.bytes);
    }
    return digest;
}

// True if only operations change this memory. Other memory may be written by the host at any time, even while a kernel runs.
static bool is_device_only(const Allocation *a)
{
    const void *pointer = (const void *)(uintptr_t)a->address;
    return !sim_in_shared_range(pointer) && !sim_in_managed_variable(pointer) && a->kind != PINNED_MEMORY &&
           a->kind != MANAGED_MEMORY && a->kind != HOST_MEMORY;
}

bool sim_launch_accessed_host_visible(uint64_t launch)
{
    for (const Allocation *a = sim_allocation_above(0); a; a = sim_allocation_above(a->address))
        if ((a->last_reading_launch == launch || a->last_writing_launch == launch) && !is_device_only(a))
            return true;
    return false;
}

static CachedDigest *cached_digest(Chunk p)
{
    return p.allocation->cached_digests && p.bytes > 0 ? &p.allocation->cached_digests[p.first / CHUNK_BYTES] : NULL;
}

static size_t chunk_count(const Allocation *a)
{
    return (a->bytes + CHUNK_BYTES - 1) / CHUNK_BYTES;
}

// Digests of the heap of a kernel's malloc are not cached, because out-of-bounds writes to it are not detected.
static void create_cache(Allocation *a)
{
    if (!a->cached_digests && is_device_only(a) && a->kind != PARAMETER_MEMORY && a->kind != HEAP_MEMORY)
        a->cached_digests = calloc(chunk_count(a), sizeof *a->cached_digests);
}

typedef struct DigestTask { // digests to compute in parallel
    const Chunk *chunks;
    Digest *digests;
} DigestTask;

static void compute_digest(size_t number, void *context)
{
    const DigestTask *task = context;
    const Chunk p = task->chunks[number];
    CachedDigest *k = cached_digest(p);
    task->digests[number] = k && k->generation == digest_cache.generation ? k->digest : digest_of(p);
    if (k)
        *k = (CachedDigest){task->digests[number], digest_cache.generation};
}

void sim_invalidate_all_digests(void)
{
    digest_cache.generation++;
}

// Computes the digests of memory after an operation. NULL: out of memory.
static MemoryState *snapshot_after(uint32_t op)
{
    enum { CHUNKS_PER_THREAD = 64 }; // number of chunks that justify another thread
    size_t count = 0;
    for (Allocation *a = sim_allocation_above(0); a; a = sim_allocation_above(a->address)) {
        create_cache(a);
        count += 1 + chunk_count(a);
    }
    MemoryState *state = malloc(sizeof *state + count * sizeof *state->chunks);
    Chunk *chunks = malloc((count + 1) * sizeof *chunks);
    if (!state || !chunks) {
        free(state);
        free(chunks);
        return NULL;
    }
    if (digest_cache.op != op)
        sim_invalidate_all_digests();
    digest_cache.op = op;
    state->count = 0;
    for (Chunk p = first_chunk(); p.allocation; p = next_chunk(p))
        chunks[state->count++] = p;
    sim_parallel_for(count, CHUNKS_PER_THREAD, compute_digest, &(DigestTask){chunks, state->chunks});
    free(chunks);
    return state;
}

MemoryState *sim_snapshot_before_op(void)
{
    return snapshot_after(sim_current_op() - 1);
}

// ---- Changes by the current operation

// Keeps the cache valid through the current operation, if it was valid before. The operation then invalidates only what it
// changes. Returns false if the cache is invalid.
static bool continue_cache(void)
{
    const uint32_t now = sim_current_op();
    const bool valid = digest_cache.op == now || digest_cache.op + 1 == now;
    if (valid)
        digest_cache.op = now;
    return valid;
}

static void invalidate_chunks(Allocation *a, size_t first, size_t end)
{
    for (size_t k = first; a->cached_digests && k < end; k++)
        a->cached_digests[k].generation = 0;
}

void sim_invalidate_digests(const void *pointer, size_t bytes)
{
    const uint64_t address = (uint64_t)(uintptr_t)pointer;
    Allocation *a = sim_allocation_at(address);
    if (!continue_cache() || !a || address - a->address >= a->bytes)
        return;
    const size_t first = address - a->address, rest = a->bytes - first;
    invalidate_chunks(a, first / CHUNK_BYTES, (first + (bytes < rest ? bytes : rest) + CHUNK_BYTES - 1) / CHUNK_BYTES);
}

void sim_invalidate_launch_writes(void)
{
    const LaunchResult ran = sim_last_launch();
    if (!continue_cache())
        return;
    if (!ran.write_set_known)
        sim_invalidate_all_digests();
    for (Allocation *a = sim_allocation_above(0); a; a = sim_allocation_above(a->address))
        if (a->last_writing_launch == ran.number)
            invalidate_chunks(a, 0, chunk_count(a));
}

// ---- Changes by a launch

static bool add_change(Chunk p, size_t number, const Digest *digest, uint64_t launch, size_t max_bytes, Changes *changes)
{
    const size_t bitmap_bytes = sim_written_size(p.allocation, p.bytes), aligned = sim_align_up(p.bytes, sizeof(uint64_t)),
                 bytes = sizeof(Change) + aligned + bitmap_bytes;
    Change *c = bytes <= max_bytes - changes->bytes ? malloc(bytes) : NULL;
    if (!c)
        return false;
    *c = (Change){.next = changes->first, .address = p.allocation->address + p.first, .bytes = p.bytes, .chunk = number,
                  .digest = *digest, .is_unread = p.allocation->last_reading_launch != launch};
    memcpy(c->memory, p.allocation->memory + p.first, p.bytes);
    c->initialised = bitmap_bytes ? (void *)(c->memory + aligned) : NULL;
    sim_get_written(p.allocation, p.first, p.bytes, c->initialised);
    changes->first = c;
    changes->bytes += bytes;
    return true;
}

bool sim_changes_since(const MemoryState *before, uint64_t launch, size_t max_bytes, Changes *changes)
{
    MemoryState *now = snapshot_after(sim_current_op());
    size_t k = 0;
    bool complete = now && now->count == before->count;
    *changes = (Changes){.bytes = 0};
    for (Chunk p = first_chunk(); p.allocation && complete; p = next_chunk(p), k++)
        if (!sim_same_digest(&now->chunks[k], &before->chunks[k]))
            complete = p.bytes > 0 && is_device_only(p.allocation) && add_change(p, k, &now->chunks[k], launch, max_bytes, changes);
    free(now);
    if (!complete)
        sim_free_changes(changes);
    return complete;
}

bool sim_changes_apply_to(const MemoryState *other, const MemoryState *before, const Changes *changes)
{
    size_t different_count = 0, changed_count = 0;
    if (other->count != before->count)
        return false;
    for (size_t k = 0; k < other->count; k++)
        different_count += !sim_same_digest(&other->chunks[k], &before->chunks[k]);
    for (const Change *c = changes->first; c; c = c->next)
        changed_count += c->is_unread && sim_same_digest(&other->chunks[c->chunk], &c->digest);
    return different_count == changed_count;
}

void sim_apply_changes(const Changes *changes)
{
    continue_cache();
    for (const Change *c = changes->first; c; c = c->next) {
        Allocation *a = sim_allocation_at(c->address);
        const uint64_t first = c->address - a->address;
        CachedDigest *k = cached_digest((Chunk){a, first, c->bytes});
        if (k && sim_same_digest(&k->digest, &c->digest))
            continue;
        memcpy(a->memory + first, c->memory, c->bytes);
        sim_set_written(a, first, c->bytes, (const void *)c->initialised);
        if (k)
            k->digest = c->digest;
    }
}

void sim_free_changes(Changes *changes)
{
    while (changes->first) {
        Change *c = changes->first;
        changes->first = c->next;
        free(c);
    }
    changes->bytes = 0;
}
