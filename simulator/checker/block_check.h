// block_check.h: the checker's state of a block. Internal to the checker.
#ifndef BLOCK_CHECK_H
#define BLOCK_CHECK_H

#include "checker/clocks.h"

enum { BYPASS_CHECKS = 8 };
typedef struct BypassCheck { // can a thread that exited at exit_pc have bypassed the barrier?
    uint32_t barrier, exit_pc; // indices of instructions
    bool known, bypassed;
    bool skipped; // has_skipping_branch
} BypassCheck;

// Block.check. Owned by the host thread that runs the block, and reused for the thread's next block.
typedef struct BlockCheck {
    BlockClocks clocks;
    ShadowLine *lines;                        // of shared memory
    uint8_t *local_written;                   // a flag for each byte of local memory
    struct Origins *origins;                  // value_table.c, in the block's arena; NULL if there are none
    struct UndefinedValue *barrier_operand;   // value_results.c: the last undefined predicate that a barrier combines; in the block's arena
    uint32_t proxy_fence_time, init_fence_time; // times of the last fence.proxy.async and fence.mbarrier_init
    struct ClusterAccesses *cluster_accesses; // cluster_ends.c; NULL without clusters
    struct DeferredReads *deferred_reads;     // deferred_reads.c; NULL if no read was deferred
    struct UnreleasedWrites *unreleased_writes; // dependent_launches.c; NULL until needed
    uint32_t waited_warps;                    // a bit for each warp that has executed griddepcontrol.wait, or acquired from one that has
    uint32_t triggered_warps;                 // the same of griddepcontrol.launch_dependents
    uint32_t exit_pc[MAX_WARPS][LANES];       // index of each exited lane's last instruction
    BypassCheck bypass_checks[BYPASS_CHECKS]; // a cache
    uint32_t bypass_check_count;              // of all entries ever added to it
} BlockCheck;

static inline BlockClocks *clocks_of(const Block *b)
{
    return &b->check->clocks;
}

// AccessRecord.block of the block's accesses.
static inline uint32_t block_id(const Block *b)
{
    return b->launch->vector_clocks->first_block + (uint32_t)b->number;
}

// True if the access is of another grid of a nested launch (dynamic_parallelism.c).
static inline bool is_of_other_grid(const Block *b, const AccessRecord *access)
{
    return access->block - b->launch->vector_clocks->first_block >= b->launch->blocks;
}

static inline const ThreadClock *clock_of(const Warp *w, int lane)
{
    return clock_in(clocks_of(w->block), w->number, lane);
}

#endif
