// state.c: all that kernels may touch, as it was at a moment, and what has changed of it since.
#include "runtime/work/state.h"
#include "checker/order.h"
#include "checker/uses_again.h"

#include <stdlib.h>
#include <string.h>

enum { PIECE_BYTES = 65536 }; // of an allocation: whole lines of the checker's

struct State {
    size_t count;
    Digest pieces[]; // of each allocation first what it is, then what it holds
};

// How memory was behind an operation. Only operations change what is the kernels' own, so of that no digest is made again before
// the next one. Who changes it without an operation forgets this.
static struct {
    State *state;       // NULL: nothing is known
    Digest allocations; // that there were
    uint32_t op;
} known;

typedef struct Piece { // NULL: there is none
    Allocation *allocation;
    size_t first, bytes; // 0 bytes: what it is
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
    const uint64_t about[] = {a->address, a->bytes, a->kind, (uint64_t)a->device, a->open_to};
    Digest digest = {{0}};
    if (p.bytes == 0) {
        sim_digest(&digest, about, sizeof about);
        sim_digest_known(&digest, a);
    } else {
        sim_digest(&digest, a->memory + p.first, p.bytes);
        sim_digest_written(&digest, a, p.first, p.bytes);
    }
    return digest;
}

// Of which allocations there are: each time when memory is allocated it is another one.
static Digest digest_of_allocations(void)
{
    Digest digest = {{0}};
    for (const Allocation *a = sim_allocation_above(0); a; a = sim_allocation_above(a->address)) {
        const uint64_t which[] = {a->address, a->bytes, (uint64_t)a->number};
        sim_digest(&digest, which, sizeof which);
    }
    return digest;
}

// Where the host may write while a kernel runs, and between two operations, nobody knows whose change it is.
static bool is_kernels_own(const Allocation *a)
{
    return !sim_in_shared_range((const void *)(uintptr_t)a->address) && a->kind != PINNED_MEMORY &&
           a->kind != MANAGED_MEMORY && a->kind != HOST_MEMORY;
}

typedef struct Inventory { // of all that kernels may touch
    const Piece *pieces;
    Digest *digests;
    const Digest *known; // or NULL
} Inventory;

static void take_digest(size_t number, void *with)
{
    const Inventory *all = with;
    const Piece p = all->pieces[number];
    const bool is_known = all->known && p.bytes > 0 && is_kernels_own(p.allocation) && p.allocation->kind != PARAMETER_MEMORY;
    all->digests[number] = is_known ? all->known[number] : digest_of(p);
}

static void know(const State *now, const Digest *allocations, uint32_t op)
{
    const size_t bytes = sizeof *now + now->count * sizeof *now->pieces;
    State *state = realloc(known.state, bytes);
    if (!state)
        free(known.state);
    else
        memcpy(state, now, bytes);
    known.state = state;
    known.allocations = *allocations;
    known.op = op;
}

void sim_forget_state(void)
{
    free(known.state);
    known.state = NULL;
}

// As it is behind an operation.
static State *state_behind(uint32_t op)
{
    enum { A_THREAD = 64 }; // pieces that are worth one
    size_t count = 0;
    for (const Allocation *a = sim_allocation_above(0); a; a = sim_allocation_above(a->address))
        count += 1 + (a->bytes + PIECE_BYTES - 1) / PIECE_BYTES;
    State *now = malloc(sizeof *now + count * sizeof *now->pieces);
    Piece *pieces = malloc((count + 1) * sizeof *pieces);
    if (!now || !pieces) {
        free(now);
        free(pieces);
        return NULL;
    }
    now->count = 0;
    for (Piece p = first_piece(); p.allocation; p = next_piece(p))
        pieces[now->count++] = p;
    const Digest allocations = digest_of_allocations();
    const bool is_known = known.state && known.op == op && sim_same_digest(&known.allocations, &allocations);
    sim_share_work(count, A_THREAD, take_digest, &(Inventory){pieces, now->pieces, is_known ? known.state->pieces : NULL});
    free(pieces);
    know(now, &allocations, op);
    return now;
}

State *sim_state_before_op(void)
{
    return state_behind(sim_current_op() - 1);
}

// ---- What has changed

static bool keep(Piece p, size_t number, const Digest *digest, uint64_t launch, size_t most, Changes *changes)
{
    const size_t written = sim_bytes_of_written(p.allocation, p.bytes), aligned = sim_aligned(p.bytes, sizeof(uint64_t)),
                 bytes = sizeof(Change) + aligned + written;
    Change *c = bytes <= most - changes->bytes ? malloc(bytes) : NULL;
    if (!c)
        return false;
    *c = (Change){.next = changes->first, .address = p.allocation->address + p.first, .bytes = p.bytes, .piece = number,
                  .digest = *digest, .unread = p.allocation->read_in != launch};
    memcpy(c->memory, p.allocation->memory + p.first, p.bytes);
    c->written = written ? (void *)(c->memory + aligned) : NULL;
    sim_get_written(p.allocation, p.first, p.bytes, c->written);
    changes->first = c;
    changes->bytes += bytes;
    return true;
}

bool sim_changes_since(const State *before, uint64_t launch, size_t most, Changes *changes)
{
    State *now = state_behind(sim_current_op());
    size_t k = 0;
    bool kept = now && now->count == before->count;
    *changes = (Changes){.bytes = 0};
    for (Piece p = first_piece(); p.allocation && kept; p = next_piece(p), k++)
        if (!sim_same_digest(&now->pieces[k], &before->pieces[k]))
            kept = p.bytes > 0 && is_kernels_own(p.allocation) && keep(p, k, &now->pieces[k], launch, most, changes);
    free(now);
    if (!kept)
        sim_free_changes(changes);
    return kept;
}

bool sim_changes_alike(const State *other, const State *before, const Changes *changes)
{
    size_t different = 0, changed = 0;
    if (other->count != before->count)
        return false;
    for (size_t k = 0; k < other->count; k++)
        different += !sim_same_digest(&other->pieces[k], &before->pieces[k]);
    for (const Change *c = changes->first; c; c = c->next)
        changed += c->unread && sim_same_digest(&other->pieces[c->piece], &c->digest);
    return different == changed;
}

void sim_change_again(const Changes *changes)
{
    const bool is_known = known.state && known.op == sim_current_op() - 1;
    for (const Change *c = changes->first; c; c = c->next) {
        if (is_known && sim_same_digest(&known.state->pieces[c->piece], &c->digest))
            continue;
        Allocation *a = sim_allocation_at(c->address);
        const uint64_t first = c->address - a->address;
        memcpy(a->memory + first, c->memory, c->bytes);
        sim_set_written(a, first, c->bytes, (const void *)c->written);
        if (is_known)
            known.state->pieces[c->piece] = c->digest;
    }
    known.op += is_known;
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
