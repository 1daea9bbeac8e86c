// state.c: digests of all memory that kernels may access, and changes between two of them.
#include "runtime/work/state.h"
#include "checker/order.h"
#include "checker/memoized_uses.h"

#include <stdlib.h>
#include <string.h>

enum { PIECE_BYTES = 65536 }; // a multiple of the checker's lines

struct MemoryState {
    size_t count;
    Digest pieces[]; // for each allocation its properties, then its content
};

// Cached digests of memory that only operations can change. They become invalid at an operation that
// does not call continue_cache.
typedef struct CachedDigest {
    Digest digest;
    uint64_t generation; // valid if equal to digest_cache.generation
} CachedDigest;

static struct {
    uint64_t generation;
    uint32_t op; // the cache is valid after this operation
} digest_cache = {.generation = 1};

typedef struct Piece {
    Allocation *allocation; // NULL after the last piece
    size_t first, bytes; // 0 bytes: the allocation's properties
} Piece;

static Piece first_piece(void)
{
    return (Piece){sim_allocation_above(0), 0, 0};
}

static Piece next_piece(Piece p)
{
    const size_t first = p.first + p.bytes, rest = p.allocation->bytes - first;
    if (rest == 0)
        return (Piece){sim_allocation_above(p.allocation->address), 0, 0};
    return (Piece){p.allocation, first, rest < PIECE_BYTES ? rest : PIECE_BYTES};
}

static Digest digest_of(Piece p)
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

static CachedDigest *cached_digest(Piece p)
{
    return p.allocation->cached_digests && p.bytes > 0 ? &p.allocation->cached_digests[p.first / PIECE_BYTES] : NULL;
}

static size_t piece_count(const Allocation *a)
{
    return (a->bytes + PIECE_BYTES - 1) / PIECE_BYTES;
}

// The heap of a kernel's malloc is not cached, because out-of-bounds writes to it go unnoticed.
static void make_cache(Allocation *a)
{
    if (!a->cached_digests && is_device_only(a) && a->kind != PARAMETER_MEMORY && a->kind != HEAP_MEMORY)
        a->cached_digests = calloc(piece_count(a), sizeof *a->cached_digests);
}

typedef struct Inventory { // of all memory that kernels may access
    const Piece *pieces;
    Digest *digests;
} Inventory;

static void compute_digest(size_t number, void *context)
{
    const Inventory *inventory = context;
    const Piece p = inventory->pieces[number];
    CachedDigest *k = cached_digest(p);
    inventory->digests[number] = k && k->generation == digest_cache.generation ? k->digest : digest_of(p);
    if (k)
        *k = (CachedDigest){inventory->digests[number], digest_cache.generation};
}

void sim_invalidate_all_digests(void)
{
    digest_cache.generation++;
}

// Digests of the memory after an operation.
static MemoryState *snapshot_after(uint32_t op)
{
    enum { PIECES_PER_THREAD = 64 }; // pieces that justify a further thread
    size_t count = 0;
    for (Allocation *a = sim_allocation_above(0); a; a = sim_allocation_above(a->address)) {
        make_cache(a);
        count += 1 + piece_count(a);
    }
    MemoryState *now = malloc(sizeof *now + count * sizeof *now->pieces);
    Piece *pieces = malloc((count + 1) * sizeof *pieces);
    if (!now || !pieces) {
        free(now);
        free(pieces);
        return NULL;
    }
    if (digest_cache.op != op)
        sim_invalidate_all_digests();
    digest_cache.op = op;
    now->count = 0;
    for (Piece p = first_piece(); p.allocation; p = next_piece(p))
        pieces[now->count++] = p;
    sim_parallel_for(count, PIECES_PER_THREAD, compute_digest, &(Inventory){pieces, now->pieces});
    free(pieces);
    return now;
}

MemoryState *sim_snapshot_before_op(void)
{
    return snapshot_after(sim_current_op() - 1);
}

// ---- Changes by the current operation

// Keeps the cache valid through the current operation, if it was valid before it; then the operation invalidates only what it
// changes.
static bool continue_cache(void)
{
    const uint32_t now = sim_current_op();
    const bool valid = digest_cache.op == now || digest_cache.op + 1 == now;
    if (valid)
        digest_cache.op = now;
    return valid;
}

static void invalidate_pieces(Allocation *a, size_t first, size_t end)
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
    invalidate_pieces(a, first / PIECE_BYTES, (first + (bytes < rest ? bytes : rest) + PIECE_BYTES - 1) / PIECE_BYTES);
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
            invalidate_pieces(a, 0, piece_count(a));
}

// ---- Changes by a launch

static bool add_change(Piece p, size_t number, const Digest *digest, uint64_t launch, size_t max_bytes, Changes *changes)
{
    const size_t bitmap_bytes = sim_written_size(p.allocation, p.bytes), aligned = sim_align_up(p.bytes, sizeof(uint64_t)),
                 bytes = sizeof(Change) + aligned + bitmap_bytes;
    Change *c = bytes <= max_bytes - changes->bytes ? malloc(bytes) : NULL;
    if (!c)
        return false;
    *c = (Change){.next = changes->first, .address = p.allocation->address + p.first, .bytes = p.bytes, .piece = number,
                  .digest = *digest, .unread = p.allocation->last_reading_launch != launch};
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
    bool kept = now && now->count == before->count;
    *changes = (Changes){.bytes = 0};
    for (Piece p = first_piece(); p.allocation && kept; p = next_piece(p), k++)
        if (!sim_same_digest(&now->pieces[k], &before->pieces[k]))
            kept = p.bytes > 0 && is_device_only(p.allocation) && add_change(p, k, &now->pieces[k], launch, max_bytes, changes);
    free(now);
    if (!kept)
        sim_free_changes(changes);
    return kept;
}

bool sim_changes_apply_to(const MemoryState *other, const MemoryState *before, const Changes *changes)
{
    size_t differing = 0, changed = 0;
    if (other->count != before->count)
        return false;
    for (size_t k = 0; k < other->count; k++)
        differing += !sim_same_digest(&other->pieces[k], &before->pieces[k]);
    for (const Change *c = changes->first; c; c = c->next)
        changed += c->unread && sim_same_digest(&other->pieces[c->piece], &c->digest);
    return differing == changed;
}

void sim_apply_changes(const Changes *changes)
{
    continue_cache();
    for (const Change *c = changes->first; c; c = c->next) {
        Allocation *a = sim_allocation_at(c->address);
        const uint64_t first = c->address - a->address;
        CachedDigest *k = cached_digest((Piece){a, first, c->bytes});
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
