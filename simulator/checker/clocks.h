// clocks.h: the checker's happens-before state; shared by clocks.c, sync_vars.c and launch_clocks.c.
//
// LaunchClocks belongs to all blocks of the launch, which host threads may run concurrently:
//   arena       guarded by `lock`;
//   sync_vars   used only by the earliest running block, for which releases and acquires in global memory wait
//               (sim_wait_for_earlier_blocks);
//   atomics     used by any block at any time.
// BlockClocks belongs to the host thread that runs the block.
#ifndef CLOCKS_H
#define CLOCKS_H

#include "checker/kernel_checks.h"
#include "base/platform.h"

enum {
    MAX_SEARCH_STEPS = 200000,
    MAX_READS_ONLY = 1 << 16, // reads-only records in a launch
    INDEX_SLOTS = 64,         // length of the lookup tables by block, warp or pair
    NO_RECORD = -1,
    MIN_BUCKET_BITS = 6
};

typedef struct ReleaseRecord { // one release: a copy of the releasing lanes' clocks
    uint32_t block, warp;
    uint32_t time;                // the block's time at the release
    uint32_t block_epoch;         // time of the last block barrier that the releasing lanes have passed or acquired
    uint32_t lane_epochs[LANES];  // indexed by lane: accesses of the lane up to this time are released
    uint32_t gpu_epoch;           // replaces lane_epochs[lane] for readers in other blocks
    const uint32_t *gpu_fences;   // indexed by warp: time of its last fence of device scope before a relaxed store after a barrier;
                                  // NULL: the record releases no accesses that are only ordered by a barrier after the fence
    const struct CausalHistory *history;     // what the lanes had acquired, for readers in this block
    const struct CausalHistory *gpu_history; // what the lanes had acquired, for readers in other blocks
    int prev_same_block;          // index of this block's previous record, or NO_RECORD
    uint32_t site;                // instruction number of the releasing access; 0: a barrier or an mbarrier
    uint8_t lane;                 // the first of the releasing lanes
    bool cta_scope;               // orders only threads of this block
    bool reads_only;              // unfenced relaxed store: orders earlier reads only
    bool copy_done;               // orders only a copy that `lane` began at `time`
} ReleaseRecord;

typedef struct SyncVar { // a flag, an mbarrier or a barrier, with all releases to it
    uint64_t key; // its host address
    ReleaseRecord **records; // oldest first
    int count, capacity;
    int store_end;         // number of records up to the last store (no read-modify-write) that continued the release sequence
    int history_hint;   // probable index of this variable in a history
    int *last_by_block; // indexed by a hash of a block: index of its last record; NULL if there are fewer than two records
    struct SyncVar *next; // next in the bucket
} SyncVar;

typedef struct SyncVarTable { // hash table by key
    SyncVar **buckets;
    uint32_t count; // variables
    uint32_t bits;  // log2 of the number of buckets
} SyncVarTable;

typedef struct ReleaseRange { // records [begin, end) of a variable
    SyncVar *var;
    int begin, end;
    bool cta_scope;  // acquired with block scope
    bool by_barrier; // acquired by a barrier of the block instead of a fence
} ReleaseRange;

typedef struct RangeList { // append-only; shared by histories, each of which is a prefix
    int used, capacity;
    ReleaseRange ranges[];
} RangeList;

typedef struct CausalHistory { // the acquired ranges; immutable
    int count; // length of the prefix
    RangeList *list;
} CausalHistory;

enum { BLOCK_HASH_BUCKETS = 4096 };

struct LaunchClocks {
    uint32_t generation;  // number of the launch by the host, not 0; ShadowLine.generation in global memory
    uint32_t first_block; // AccessRecord.block of block 0; not 0 in a grid that a kernel launches
    Arena arena;  // memory of variables, records and histories
    Lock lock;
    SharedVariable *shared_variables; // indexed by line of shared memory: the only variable in it, if any
    SyncVarTable sync_vars; // variables in global memory
    uint32_t reads_only_count; // from MAX_READS_ONLY on, no such records are made, and writes over data that another block
                               // has read are no longer reported (sim_may_have_released): volatile data look like flags
    struct Overrun *overruns; // used by padding.c
    _Atomic uint32_t latest;  // latest time of all freed block clocks
    atomic_bool has_barrier_orders; // some order between blocks may depend on a barrier instead of a fence
    _Atomic uint32_t last_release[BLOCK_HASH_BUCKETS];   // indexed by a hash of a block: time of its last release
    _Atomic uint32_t last_gpu_fence[BLOCK_HASH_BUCKETS]; // indexed by a hash of a block: time of its last fence of device scope
};

typedef struct ThreadClock {
    uint32_t block_epoch; // time of the last barrier of the block
    uint32_t gpu_fence, cta_fence; // times of the last fences of device and of block scope
    const CausalHistory *history;
    const CausalHistory *gpu_history;     // what the thread may release to other blocks: `history` without block-scope
                                          // acquires since the last fence of device scope
    const CausalHistory *pending_acquire; // releases read by relaxed accesses since the last fence of device scope; the next
                                          // fence or barrier acquires them
    const CausalHistory *passed_acquire;  // what barriers have acquired from the pending_acquire of the block's threads, since that fence
    const CausalHistory *pending_fence;   // releases read by release-only operations since that fence; only the next fence
                                          // acquires them
} ThreadClock;

typedef struct BlockClocks {
    uint32_t time;           // advances at every synchronisation
    uint32_t start;          // `time` when the block started
    uint32_t generation, first_generation; // numbers of the current barrier interval, and of the block's first one; they increase.
                                           // One number for all intervals of a block in a cluster, or with bulk copies
    uint32_t warp_epoch[MAX_WARPS]; // time of the last barrier of the whole warp
    ThreadClock common;             // clock of every thread while has_thread_clocks is false
    ThreadClock threads[MAX_WARPS][LANES]; // valid if has_thread_clocks
    uint32_t min_block_epoch[MAX_WARPS];   // over the live lanes of a warp
    uint32_t (*lane_clocks)[LANES][LANES]; // vector clocks of the lanes, over their warp
    const ReleaseRecord *(*recent)[2]; // lookup cache by thread and accessing warp: the record that last ordered the warp's
                                       // accesses, and that for its copies
    uint32_t gpu_fences[MAX_WARPS];    // indexed by warp: time of its last fence of device scope
    bool lacks_fence;                  // sim_happens_before has found an order that depends on a barrier instead of a fence
    uint64_t raced[INDEX_SLOTS];       // pairs of instructions that race, for which no search is needed
    uint64_t unfenced[INDEX_SLOTS];    // pairs of instructions for which a missing fence is reported
    struct { uint32_t block, time, lanes, warp; } writers[INDEX_SLOTS]; // warps that wrote words polled by this block, with
                                                                        // the time of the last such write
    bool has_writers;       // `writers` is not empty
    bool has_thread_clocks; // a thread executed a fence, or acquired something
    bool has_recent;        // `recent` is not empty
    SyncVarTable sync_vars; // variables in shared memory, and barriers
} BlockClocks;

static inline const ThreadClock *clock_in(const BlockClocks *clocks, int warp, int lane)
{
    return clocks->has_thread_clocks ? &clocks->threads[warp][lane] : &clocks->common;
}

// ---- sync_vars.c: synchronisation variables

enum { MAX_VISITED = 512 };

typedef struct VisitedRange {
    ReleaseRange range;
    uint32_t reader; // block of the reading thread
} VisitedRange;

typedef struct HistorySearch { // a search for the lanes whose access happens before
    const AccessRecord *access;
    uint32_t lanes;     // lanes of the access for which no order has been found yet
    bool is_read;       // reads-only records count
    bool needs_acquire_fence, needs_release_fence; // a barrier does not replace the fence of a reader, or a writer, in another block
    bool is_strong_write; // the access is a strong write: its own record releases it
    int steps, visited_count;
    const ReleaseRecord *found; // the last record that ordered a lane
    VisitedRange *visited;      // ranges not to be searched again
} HistorySearch;

void *sim_clocks_allocate(const Block *b, size_t bytes);
// The union of two histories; may return one of them. `cta_scope`: the second is acquired with block scope.
const CausalHistory *sim_history_join(const Block *b, const CausalHistory *one, const CausalHistory *two, bool cta_scope);
// A copy of a history, acquired by a barrier of the block instead of a fence.
const CausalHistory *sim_history_by_barrier(const Block *b, const CausalHistory *history);
// The variable with this key; if there is none, NULL or, with `make`, a new one. `global`: in global memory.
SyncVar *sim_find_sync_var(const Block *b, uint64_t key, bool global, bool make);
// Ends the release sequence of a variable: later lookups of its key make a new variable; histories keep this one.
void sim_retire_sync_var(const Block *b, SyncVar *var, bool global);
void sim_atomic_max(_Atomic uint32_t *max, uint32_t value);
void sim_append_release(Block *b, SyncVar *var, ReleaseRecord *record);
// Removes from s->lanes the lanes whose access the history orders before a thread of block `reader`; after MAX_SEARCH_STEPS, all
// lanes.
void sim_search_history(HistorySearch *s, const CausalHistory *history, uint32_t reader);
// Removes from s->lanes the lanes whose access the record orders before a thread of block `reader`.
void sim_apply_release(HistorySearch *s, const ReleaseRecord *record, uint32_t reader);
// True if the history includes all records of the range, with at least its scope.
bool sim_history_covers(const CausalHistory *history, const ReleaseRange *range);

#endif
