// cluster_ends.c: shared memory of a block of a cluster ends with the block.
//
// A thread of another block that accesses it is right if some thread of the owner knows of the access before it ends:
// by the cluster's barrier, whatever its semantics, by an mbarrier or by a flag. Asked when the owner ends, of the last
// access of each thread: those before it are ordered with it. Copies of the copy engine tell an mbarrier, and do not
// count. An atomic operation or a strong write may itself be the flag for which the owner's threads wait: it does not
// count where they look at the same word.
#include "checker/kernel_checks.h"

#include <stdlib.h>
#include <string.h>

enum { WORD = 4 };

typedef struct Visit { // the last one of a thread of another block; no time: there was none
    uint32_t time, site, word;
    uint32_t meeting; // of the cluster's barrier, behind which the access has been made
} Visit;

struct ClusterAccesses {
    uint32_t met; // the last meeting that a thread of the owner has waited for
    bool some;
    uint8_t *looked;  // at words, by the owner's threads, with strong or atomic accesses: a bit each
    Visit of[][2];    // by rank, warp and lane; plain, and others
};

static size_t visitors(const Block *b)
{
    return (size_t)b->launch->cluster_blocks * (size_t)b->warp_count * LANES;
}

static size_t looked_bytes(const Block *b)
{
    return b->launch->shared_bytes / WORD / 8 + 1;
}

void sim_start_cluster_accesses(Block *b)
{
    if (b->launch->cluster_blocks == 1)
        return;
    const size_t bytes = sizeof *b->visits + visitors(b) * sizeof *b->visits->of;
    if (!b->visits)
        b->visits = malloc(bytes + looked_bytes(b));
    if (!b->visits)
        sim_die("out of memory for accesses within a cluster");
    memset(b->visits, 0, bytes + looked_bytes(b));
    b->visits->looked = (uint8_t *)b->visits + bytes;
}

static void note_look(Block *b, const Access *access, uint32_t mask)
{
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const size_t first = (size_t)(access->pointer[__builtin_ctz(rest)] - b->shared);
        for (size_t word = first / WORD; word <= (first + access->bytes - 1) / WORD; word++)
            b->visits->looked[word / 8] |= (uint8_t)(1 << word % 8);
    }
}

void sim_note_cluster_access(Warp *w, const Instr *i, const Access *access, uint32_t mask, Block *owner, RecordKind kind)
{
    const bool plain = kind == PLAIN_READ || kind == PLAIN_WRITE;
    if (i->kind != LOAD && i->kind != STORE && i->kind != ATOMIC)
        return;
    if (owner == w->block) {
        if (kind == STRONG_READ || kind == ATOMIC_UPDATE)
            note_look(owner, access, mask);
        return;
    }
    owner->visits->some = true;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        const size_t thread = ((size_t)w->block->rank * (size_t)w->block->warp_count + (size_t)w->number) * LANES;
        owner->visits->of[thread + (size_t)l][!plain && kind != STRONG_READ] =
            (Visit){.time = sim_time(w->block), .site = i->site & 0xfffff,
                    .word = (uint32_t)((size_t)(access->pointer[l] - owner->shared) / WORD),
                    .meeting = w->block->cluster[0]->meetings + 1 + (w->arrived >> l & 1)};
    }
}

void sim_acquire_at_barrier(Warp *w, uint32_t mask, uint64_t key)
{
    if (key == CLUSTER_KEY && w->block->visits)
        w->block->visits->met = w->block->cluster[0]->meetings;
    sim_sync_acquire(w, mask, key);
}

static void report(Warp *w, const Instr *end, uint32_t mask, uint64_t number, uint32_t thread, const Visit *visit)
{
    const Launch *launch = w->block->launch;
    const Place places[] = {
        sim_place_of(launch, number, thread, sim_instruction_at(visit->site), "accesses that block's shared memory"),
        sim_place_of(launch, w->block->number, (uint32_t)(w->number * LANES + __builtin_ctz(mask)), end,
                     "ends, and its block with it")};
    sim_add_finding(RACE_SHARED, "shared memory of a block of the cluster that may have ended", places, 2,
                    "nothing keeps the block until the access has been made: its threads want to wait at the cluster's "
                    "barrier, cluster.sync(), behind the last access");
}

// Whether one of the owner's threads keeps the block until the visit has been made.
static bool is_kept(Block *owner, uint64_t number, unsigned warp, int lane, const Visit *v, bool plain)
{
    const struct ClusterAccesses *all = owner->visits;
    const AccessRecord e = {.block = (uint32_t)number, .time = v->time, .lanes = 1u << lane, .site = v->site & 0xfffff,
                     .warp = warp & 31, .kind = plain ? PLAIN_READ : ATOMIC_UPDATE, .bytes = 15};
    return v->time == 0 || v->meeting <= all->met || (!plain && all->looked[v->word / 8] >> v->word % 8 & 1) ||
           sim_block_acquired(owner, &e);
}

void sim_check_cluster_exit(Warp *w, const Instr *end, uint32_t mask)
{
    Block *owner = w->block;
    struct ClusterAccesses *all = owner->visits;
    if (!all || !all->some || owner->live > (uint32_t)__builtin_popcount(mask))
        return;
    all->some = false;
    for (size_t t = 0; t < visitors(owner); t++) {
        const size_t threads = (size_t)owner->warp_count * LANES;
        const uint64_t number = owner->cluster[t / threads]->number;
        const uint32_t thread = (uint32_t)(t % threads);
        for (int k = 0; k < 2; k++)
            if (!is_kept(owner, number, thread / LANES, (int)(thread % LANES), &all->of[t][k], k == 0)) {
                sim_await_turn(owner);
                report(w, end, mask, number, thread, &all->of[t][k]);
                return; // one is enough
            }
    }
}
