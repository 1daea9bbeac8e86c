// cluster.c: thread block clusters: addresses with the rank of a block, and the cluster's barrier. Without clusters every
// block is its own cluster.
#include "machine/observer.h"
#include "machine/ops/lanes.h"

// ---- Addresses

// A lane's operand as an address in shared memory; it may be generic.
static uint64_t shared_address(Warp *w, const Instr *i, int lane)
{
    const uint8_t *lanes = w->registers + i->a;
    uint64_t address = i->bytes == 8 ? ((const uint64_t *)lanes)[lane] : ((const uint32_t *)lanes)[lane];
    if (i->at.space == GENERIC && sim_space_at(address) != SHARED)
        sim_fault(w, i, lane, cudaErrorIllegalAddress, "address 0x%llx is outside shared memory",
                  (unsigned long long)address);
    if (i->at.space == GENERIC)
        address = sim_offset_of_generic(address);
    if (address >> RANK_BIT > w->block->launch->cluster_blocks)
        sim_fault(w, i, lane, cudaErrorIllegalAddress,
                  "address 0x%llx of shared memory, which belongs to no block of the cluster",
                  (unsigned long long)address);
    return address;
}

void sim_map_address(Warp *w, const Instr *i, uint32_t mask)
{
    const uint32_t *ranks = OPERAND(uint32_t, b), blocks = w->block->launch->cluster_blocks;
    const uint64_t window = i->at.space == GENERIC ? sim_window(SHARED) : 0;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        const uint64_t offset = shared_address(w, i, l) & ((1u << RANK_BIT) - 1);
        if (ranks[l] >= blocks)
            sim_fault(w, i, l, cudaErrorIllegalInstruction, "block rank %u in a cluster of %u blocks", ranks[l], blocks);
        const uint64_t mapped = window + ((uint64_t)(ranks[l] + 1) << RANK_BIT | offset);
        if (i->bytes == 8)
            OPERAND(uint64_t, d)[l] = mapped;
        else
            OPERAND(uint32_t, d)[l] = (uint32_t)mapped;
    }
}

void sim_rank_of_address(Warp *w, const Instr *i, uint32_t mask)
{
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        const uint64_t address = shared_address(w, i, l);
        OPERAND(uint32_t, d)[l] = sim_has_block_rank(address) ? (uint32_t)(address >> RANK_BIT) - 1 : w->block->rank;
    }
}

// ---- Barrier: each thread arrives, and later waits until all threads of the cluster have arrived or exited.

// Releases the waiting splits whose lanes have completed their phase.
static void release_waiting_splits(Block *b)
{
    for (int n = 0; n < b->warp_count; n++) {
        Warp *w = &b->warps[n];
        for (WarpSplit *p = w->splits; p; p = p->next)
            if (p->state == WAITS_AT_CLUSTER_BARRIER && !(p->mask & ~w->may_pass)) {
                w->may_pass &= ~p->mask;
                p->state = RUNNABLE;
                if (is_block_checked(b))
                    sim_observer.acquire(w, p->mask, CLUSTER_KEY);
                if (b->traced)
                    sim_trace_release(w, p);
            }
    }
}

void sim_check_cluster_barrier(Block *b)
{
    const uint32_t blocks = b->launch->cluster_blocks;
    uint32_t arrived = 0;
    for (uint32_t k = 0; k < blocks; k++)
        for (int n = 0; n < b->warp_count; n++) {
            const Warp *w = &b->cluster[k]->warps[n];
            if (w->live_mask & ~w->arrived)
                return;
            arrived |= w->arrived;
        }
    b->cluster[0]->cluster_phase += arrived != 0;
    for (uint32_t k = 0; k < blocks && arrived; k++) {
        for (int n = 0; n < b->warp_count; n++) {
            Warp *w = &b->cluster[k]->warps[n];
            w->may_pass |= w->arrived;
            w->arrived = 0;
        }
        release_waiting_splits(b->cluster[k]);
    }
}

void sim_execute_cluster_barrier(Warp *w, WarpSplit *p, const Instr *i)
{
    const uint32_t before = w->arrived | w->may_pass, wrong = p->mask & (i->op == CLUSTER_ARRIVE ? before : ~before);
    if (wrong)
        sim_fault(w, i, __builtin_ctz(wrong), cudaErrorIllegalInstruction,
                  i->op == CLUSTER_ARRIVE ? "the thread arrives at the cluster barrier again without waiting in between"
                                          : "the thread waits at the cluster barrier without having arrived");
    p->pc++;
    p->loop = NULL;
    if (i->op == CLUSTER_ARRIVE) {
        w->arrived |= p->mask;
        w->block->counters.block_barriers += sim_settings()->counts_atomic_loads; // it can replace a block barrier
        if (is_block_checked(w->block) && i->semantics != RELAXED)
            sim_observer.arrive(w, p->mask, CLUSTER_KEY);
        sim_check_cluster_barrier(w->block);
    } else {
        p->state = WAITS_AT_CLUSTER_BARRIER;
        release_waiting_splits(w->block);
    }
}
