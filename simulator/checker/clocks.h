// clocks.h: the checker's happens-before state; shared by clocks.c, sync_vars.c and launch_clocks.c.
//
// LaunchClocks belongs to all blocks of the launch, which host threads may run concurrently:
//   arena       guarded by `lock`;
//   sync_vars   of the block whose turn it is: releases and acquires at global memory wait for their turn;
//   atomics     any block, any time.
// BlockClocks belongs to the host thread that runs the block.
#ifndef CLOCKS_H
#define CLOCKS_H

#include "checker/kernel_checks.h"
#include "base/platform.h"

enum {
    MAX_SEARCH_STEPS = 200000,
    MAX_READS_ONLY = 1 << 16, // reads-only records in a launch
    INDEX_SLOTS = 64,
    NO_RECORD = -1,
    MIN_BUCKET_BITS = 6
};

typedef struct ReleaseRecord { // one release: a copy of the releasing lanes' clocks
    uint32_t block, warp;
    uint32_t time;                // of the block, at the release
    uint32_t block_epoch;         // last block barrier that the releasing lanes know of
    uint32_t lane_epochs[LANES];  // of each lane of the warp: its accesses up to then are released
    uint32_t gpu_epoch;           // replaces lane_epochs[lane] for readers in other blocks
    const struct CausalHistory *history;     // what the lanes had acquired, for readers in this block
    const struct CausalHistory *gpu_history; // the same, for readers in other blocks
    int prev_same_block;          // index of this block's previous record, or NO_RECORD
    uint32_t site;                // of the releasing access; 0: a barrier or an mbarrier
    uint8_t lane;                 // the first of the releasing lanes
    bool cta_scope;               // orders only threads of this block
    bool reads_only;              // unfenced relaxed store: orders earlier reads only
    bool copy_done;               // orders only a copy that `lane` began at `time`
} ReleaseRecord;

typedef struct SyncVar { // a flag, an mbarrier or a barrier, with all releases to it
    uint64_t key; // its address in this process
    ReleaseRecord **records; // oldest first
    int count, capacity;
    int stored;         // records up to the last plain store that continues the release sequence
    int history_hint;   // where a history last held this variable: a guess
    int *last_by_block; // hash of a block -> its last record; NULL below two records
    struct SyncVar *next; // in its bucket
} SyncVar;

typedef struct SyncVarTable { // hash table by key
    SyncVar **buckets;
    uint32_t count; // variables
    uint32_t bits;  // log2 of the number of buckets
} SyncVarTable;

typedef struct ReleaseRange { // records [begin, end) of a variable
    SyncVar *var;
    int begin, end;
    bool cta_scope; // acquired with block scope
} ReleaseRange;

typedef struct RangeList { // append-only, shared: each history is a prefix of it
    int used, capacity;
    ReleaseRange ranges[];
} RangeList;

typedef struct CausalHistory { // the acquired ranges; immutable
    int count; // length of the prefix
    RangeList *list;
} CausalHistory;

enum { BLOCK_BUCKETS = 4096 };

struct LaunchClocks {
    uint32_t run; // number of the launch
    Arena arena;  // of variables, records and histories
    Lock lock;
    Object *objects;        // of each line of shared memory, the variable in it: at most one
    SyncVarTable sync_vars; // in global memory
    uint32_t reads_only_count; // at MAX_READS_ONLY counting stops, and overwriting what another block has read is no
                               // longer reported (sim_may_have_released): data stored as volatile looks like flags
    struct Overrun *overruns; // of padding.c
    _Atomic uint32_t latest;  // latest time of any block's clock that was freed
    _Atomic uint32_t last_release[BLOCK_BUCKETS];   // hash of a block -> time of its last release
    _Atomic uint32_t last_gpu_fence[BLOCK_BUCKETS]; // hash of a block -> time of its last fence of device scope
};

typedef struct ThreadClock {
    uint32_t block_epoch;
    uint32_t gpu_fence, cta_fence; // times of the last fences of device and of block scope
    const CausalHistory *history;
    const CausalHistory *gpu_history;     // what it may release to other blocks: `history` without block-scope acquires
                                          // since the last fence of device scope
    const CausalHistory *pending_acquire; // read by relaxed accesses since the last fence of device scope; a fence or a
                                          // barrier acquires it
    const CausalHistory *pending_fence;   // the same for release-only operations; a barrier does not acquire it
} ThreadClock;

struct BlockClocks {
    uint32_t time;           // advances at every synchronisation
    uint32_t run, first_run; // number of the barrier interval, and of the block's first
    uint32_t warp_epoch[MAX_WARPS]; // last barrier of the whole warp
    ThreadClock common;             // of every thread, while has_thread_clocks is false
    ThreadClock threads[MAX_WARPS][LANES]; // from then on
    uint32_t min_block_epoch[MAX_WARPS];   // over the live lanes of a warp
    uint32_t (*lane_clocks)[LANES][LANES]; // vector clocks of the lanes, over their warp
    const ReleaseRecord *(*recent)[2]; // lookup cache, thread x warp: the record that last ordered the warp's accesses,
                                       // and its copies
    uint64_t raced[INDEX_SLOTS];       // pairs of instructions that raced: not searched again
    struct { uint32_t block, time, lanes, warp; } writers[INDEX_SLOTS]; // warps that wrote words which this block
                                                                          // polled, and their last such write
    bool has_writers;       // `writers` holds something
    bool has_thread_clocks; // a thread executed a fence, or acquired something
    bool has_recent;        // `recent` holds something
    SyncVarTable sync_vars; // in shared memory, and barriers
};

static inline const ThreadClock *clock_in(const BlockClocks *clocks, int warp, int lane)
{
    return clocks->has_thread_clocks ? &clocks->threads[warp][lane] : &clocks->common;
}

static inline const ThreadClock *clock_of(const Warp *w, int lane)
{
    return clock_in(w->block->clocks, w->number, lane);
}

// Gives each thread a clock of its own; before the first release or acquire.
void sim_make_thread_clocks(Block *b);

// ---- sync_vars.c: synchronisation variables

enum { MAX_VISITED = 64 };

typedef struct VisitedRange {
    ReleaseRange range;
    uint32_t reader;
} VisitedRange;

typedef struct HistorySearch { // for accesses that happened before
    const AccessRecord *access;
    uint32_t lanes;     // of the access, not yet found
    bool is_read;       // reads-only records count
    bool is_strong_write; // the access is a strong write: its own record releases it
    int steps, visited_count;
    const ReleaseRecord *found; // the last record that ordered a lane
    VisitedRange *visited;      // skipped when met again
} HistorySearch;

void *sim_allocate_for_clocks(const Block *b, size_t bytes);
// The union of two histories, perhaps one of them itself. cta_scope: the second is acquired with block scope.
const CausalHistory *sim_history_join(const Block *b, const CausalHistory *one, const CausalHistory *two, bool cta_scope);
SyncVar *sim_find_sync_var(const Block *b, uint64_t key, bool global, bool make);
// Ends a release sequence: later lookups of the key get a new variable, histories keep this one.
void sim_retire_sync_var(const Block *b, SyncVar *var, bool global);
void sim_atomic_max(_Atomic uint32_t *max, uint32_t value);
void sim_append_release(Block *b, SyncVar *var, ReleaseRecord *e);
// Clears the search's lanes that the history orders for a thread of block `reader`; all of them after MAX_SEARCH_STEPS.
void sim_search_history(HistorySearch *s, const CausalHistory *history, uint32_t reader);
// The same for one record.
void sim_apply_release(HistorySearch *s, const ReleaseRecord *e, uint32_t reader);
bool sim_history_covers(const CausalHistory *history, const ReleaseRange *range);

#endif
