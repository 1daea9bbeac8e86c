// cluster_ends.c: accesses to the shared memory of a block of a cluster before the block may have started, or after it may have exited.
//
// The first access by another block is correct if a thread of that block has synchronised with one of the owner before it.
//
// An access by a thread of another block is correct if it happens before the exit of a thread of the owner: by the cluster's barrier, an
// mbarrier or a flag. The last access of each remote thread is checked when the owner exits; earlier ones are ordered before it. Bulk
// copies signal an mbarrier and are not checked. An atomic operation or strong write may itself be the flag for which the owner waits:
// it is not checked if the owner's threads read the same word.
#include "checker/block_check.h"

#include <stdlib.h>
#include <string.h>

enum { WORD = 4 };

typedef struct RemoteAccess { // a remote thread's last access; time 0: none
    uint32_t time, site, word;
    uint32_t phase; // the phase of the cluster barrier whose completion orders the access
} RemoteAccess;

struct ClusterAccesses {
    uint32_t last_awaited_phase; // the last phase of the cluster barrier for which a thread of the owner has waited
    uint32_t started;            // bit mask, by rank, of the blocks that are known to have started, or for which a finding was reported
    bool has_remote;             // whether `accesses` contains one
    uint8_t *polled;             // bit mask of the words that the owner's threads have read by strong or atomic accesses
    RemoteAccess accesses[][2];  // indexed by rank, warp and lane: the last plain or strong read, and the last strong write or atomic
};

static size_t remote_threads(const Block *b)
{
    return (size_t)b->launch->cluster_blocks * (size_t)b->warp_count * LANES;
}

static size_t polled_bytes(const Block *b)
{
    return b->launch->shared_bytes / WORD / 8 + 1;
}

void sim_start_cluster_accesses(Block *b)
{
    if (b->launch->cluster_blocks == 1)
        return;
    const size_t bytes = sizeof *b->check->cluster_accesses + remote_threads(b) * sizeof *b->check->cluster_accesses->accesses;
    if (!b->check->cluster_accesses)
        b->check->cluster_accesses = malloc(bytes + polled_bytes(b));
    if (!b->check->cluster_accesses)
        sim_die("out of memory: accesses within a cluster");
    memset(b->check->cluster_accesses, 0, bytes + polled_bytes(b));
    b->check->cluster_accesses->polled = (uint8_t *)b->check->cluster_accesses + bytes;
}

static void record_poll(Block *b, const Access *access, uint32_t mask)
{
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const size_t first = (size_t)(access->pointer[__builtin_ctz(rest)] - b->shared);
        for (size_t word = first / WORD; word <= (first + access->bytes - 1) / WORD; word++)
            b->check->cluster_accesses->polled[word / 8] |= (uint8_t)(1 << word % 8);
    }
}

// Reports the access if no thread of its block has synchronised with the owner of the shared memory, which then may not have started.
static void check_start(Warp *w, const Instr *i, uint32_t mask, Block *owner)
{
    struct ClusterAccesses *own = w->block->check->cluster_accesses;
    const AccessRecord start = {.block = block_id(owner), .time = clocks_of(owner)->start, .lanes = 1, .kind = PLAIN_WRITE, .byte_mask = 15};
    if (own->started >> owner->rank & 1)
        return;
    own->started |= 1u << owner->rank;
    if (sim_block_acquired(w->block, &start))
        return;
    const FindingLocation p = sim_lane_location(w, __builtin_ctz(mask), i, "shared memory access", OTHER_ROLE);
    sim_wait_for_earlier_blocks(w->block);
    sim_add_finding(RACE_SHARED, "a block accesses the shared memory of another block of the cluster, which may not have started", &p, 1,
                    "call cluster.sync() in all blocks before the first access");
}

void sim_note_cluster_access(Warp *w, const Instr *i, const Access *access, uint32_t mask, Block *owner, RecordKind kind)
{
    const bool plain = kind == PLAIN_READ || kind == PLAIN_WRITE;
    if (i->kind != LOAD && i->kind != STORE && i->kind != ATOMIC)
        return;
    if (owner == w->block) {
        if (kind == STRONG_READ || kind == ATOMIC_UPDATE)
            record_poll(owner, access, mask);
        return;
    }
    check_start(w, i, mask, owner);
    owner->check->cluster_accesses->has_remote = true;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        const size_t thread = ((size_t)w->block->rank * (size_t)w->block->warp_count + (size_t)w->number) * LANES;
        owner->check->cluster_accesses->accesses[thread + (size_t)l][!plain && kind != STRONG_READ] =
            (RemoteAccess){.time = clocks_of(w->block)->time, .site = i->site & 0xfffff,
                    .word = (uint32_t)((size_t)(access->pointer[l] - owner->shared) / WORD),
                    .phase = w->block->cluster[0]->cluster_phase + 1 + (w->arrived >> l & 1)};
    }
}

void sim_acquire_at_barrier(Warp *w, uint32_t mask, uint64_t key)
{
    if (key == CLUSTER_KEY && w->block->check->cluster_accesses)
        w->block->check->cluster_accesses->last_awaited_phase = w->block->cluster[0]->cluster_phase;
    sim_sync_acquire(w, mask, key);
}

static void report(Warp *w, const Instr *end, uint32_t mask, uint64_t number, uint32_t thread, const RemoteAccess *remote)
{
    const Launch *launch = w->block->launch;
    const FindingLocation locations[] = {
        sim_location_of(launch, number, thread, sim_instruction_at(remote->site), "shared memory access", OTHER_ROLE),
        sim_lane_location(w, __builtin_ctz(mask), end, "exit, which ends the block,", OTHER_ROLE)};
    sim_add_finding(RACE_SHARED, "a block accesses the shared memory of another block of the cluster, which may have exited", locations, 2,
                    "call cluster.sync() in all blocks after the last access");
}

// True if a thread of the owner has waited for the access, so that it happens before that thread's exit.
static bool is_ordered_before_exit(Block *owner, uint32_t block, unsigned warp, int lane, const RemoteAccess *remote, bool plain)
{
    const struct ClusterAccesses *all = owner->check->cluster_accesses;
    const AccessRecord e = {.block = block, .time = remote->time, .lanes = 1u << lane, .site = remote->site & 0xfffff,
                     .warp = warp & 31, .kind = plain ? PLAIN_READ : ATOMIC_UPDATE, .byte_mask = 15};
    return remote->time == 0 || remote->phase <= all->last_awaited_phase || (!plain && all->polled[remote->word / 8] >> remote->word % 8 & 1) ||
           sim_block_acquired(owner, &e);
}

void sim_check_cluster_exit(Warp *w, const Instr *end, uint32_t mask)
{
    Block *owner = w->block;
    struct ClusterAccesses *all = owner->check->cluster_accesses;
    if (!all || !all->has_remote || owner->live_threads > (uint32_t)__builtin_popcount(mask))
        return;
    all->has_remote = false;
    for (size_t t = 0; t < remote_threads(owner); t++) {
        const size_t threads = (size_t)owner->warp_count * LANES;
        const uint64_t number = owner->cluster[t / threads]->number;
        const uint32_t thread = (uint32_t)(t % threads);
        for (int k = 0; k < 2; k++)
            if (!is_ordered_before_exit(owner, block_id(owner->cluster[t / threads]), thread / LANES, (int)(thread % LANES), &all->accesses[t][k], k == 0)) {
                sim_wait_for_earlier_blocks(owner);
                report(w, end, mask, number, thread, &all->accesses[t][k]);
                return; // report it once
            }
    }
}
