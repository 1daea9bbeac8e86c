// clocks.h: what the checker keeps of what happened before what; shared by clocks.c, sync_vars.c and launch_clocks.c.
//
// A launch's part belongs to all of its blocks, which host threads may run side by side: its arena under `lock`, its
// logs to the block whose turn it is (one that tells or asks others waits for its turn), the arrays of atomics to all.
// A block's part belongs to the host thread that runs it.
#ifndef CLOCKS_H
#define CLOCKS_H

#include "checker/kernel_checks.h"
#include "base/platform.h"

enum { MAX_SEARCH_STEPS = 200000, MAX_READS_ONLY = 1 << 16, INDEX_SLOTS = 64, NO_RECORD = -1, MIN_BUCKET_BITS = 6 };

typedef struct ReleaseRecord { // what lanes of a warp tell
    uint32_t block, warp, now; // now: the time when it was written
    uint32_t block_epoch, lane_epochs[LANES], gpu_epoch; // gpu_epoch: what other blocks are told in place of times[lane]
    const struct CausalHistory *history, *gpu_history;        // to the block; to other blocks
    int before; // the entry before it of the same block
    uint32_t site; // of the access that tells; 0: another operation does
    uint8_t lane;
    bool cta_scope; // for the block only
    bool reads_only;   // no fence stands before it: it tells only that what its block has read before its last barrier has been read
    bool copy;   // only that a copy has come which a lane began then
} ReleaseRecord;

typedef struct SyncVar {
    uint64_t key;
    ReleaseRecord **records;
    int count, space;
    int stored; // entries until the last plain store's, which carries on what was told before
    int found; // where in what somebody knows it was found last: a guess
    int *index; // of the blocks that fell there: the last entry; made for a second one
    struct SyncVar *next;
} SyncVar;

typedef struct SyncVarTable { // by their keys
    SyncVar **buckets;
    uint32_t count, bits; // of them; of how many buckets there are
} SyncVarTable;

typedef struct ReleaseRange { // a part of a log
    SyncVar *var;
    int begin, end;
    bool cta_scope;
} ReleaseRange;

typedef struct RangeList { // what several know, who have learned one thing after the other: each the first ones of it
    int used, space;
    ReleaseRange refs[];
} RangeList;

typedef struct CausalHistory {
    int count;
    RangeList *list;
} CausalHistory;

enum { BLOCK_BUCKETS = 4096 };

struct LaunchClocks { // of a launch: what its blocks tell each other
    uint32_t run;
    Arena arena; // of logs, entries and what is known
    Lock lock;
    Object *objects; // in shared memory: what lies in each of its lines, at most one
    SyncVarTable sync_vars;
    uint32_t reads_only; // entries that tell of reads only, at most MAX_READS_ONLY: volatile data may be stored as flags are. With so many it is
                   // not known any more who has told of his reads, and nobody is accused of writing too early (sim_may_have_released)
    struct Overrun *overruns; // of padding.c
    _Atomic uint32_t latest; // time of any block's clocks that are no more
    _Atomic uint32_t told[BLOCK_BUCKETS];   // of the blocks that fall there: the latest time at which one told something,
    _Atomic uint32_t fenced[BLOCK_BUCKETS]; // or executed a fence for the device
};

typedef struct ThreadClock {
    uint32_t block_epoch, gpu_fence, cta_fence; // fence: when it last executed one, for the device; for the block
    const CausalHistory *history;
    const CausalHistory *gpu_history;    // of this, what it tells other blocks: not what it has learned for its block since its last
                          // fence for the device
    const CausalHistory *pending_acquire; // what it has read, with no fence for the device since,
    const CausalHistory *pending_fence; // and what an operation read that releases only: for this a barrier is no fence
} ThreadClock;

struct BlockClocks { // of a block: what each of its threads knows
    uint32_t time, run, first_run;
    uint32_t warp_epoch[MAX_WARPS];
    ThreadClock all;     // as long as the block does not talk, all threads know the same: this;
    ThreadClock threads[MAX_WARPS][LANES]; // then these
    uint32_t min_block_epoch[MAX_WARPS];
    uint32_t (*lane_clocks)[LANES][LANES];
    const ReleaseRecord *(*recent)[2]; // by each thread of each warp: what told it lately of this warp, and of copies that this
                              // warp began
    uint64_t raced[INDEX_SLOTS]; // pairs of instructions between which there has been a race: no search for order is needed
                           // again
    struct { uint32_t block, time, lanes, warp; } writers[INDEX_SLOTS]; // that have told the block, and when they did last
    bool has_writers;
    bool has_thread_clocks;          // some thread has a fence behind it, or knows of logs: sim_make_thread_clocks
    bool has_recent;          // heard holds something
    SyncVarTable sync_vars;           // of shared memory and barriers
};

static inline const ThreadClock *clock_in(const BlockClocks *clocks, int warp, int lane)
{
    return clocks->has_thread_clocks ? &clocks->threads[warp][lane] : &clocks->all;
}

static inline const ThreadClock *clock_of(const Warp *w, int lane)
{
    return clock_in(w->block->clocks, w->number, lane);
}

// A thread tells others something, or learns it from them: from now on each has a clock of its own.
void sim_make_thread_clocks(Block *b);

// ---- sync_vars.c: what is known through logs

enum { MAX_VISITED = 64 };

typedef struct VisitedRange {
    ReleaseRange ref;
    uint32_t reader;
} VisitedRange;

typedef struct HistorySearch {
    const AccessRecord *epoch;
    uint32_t lanes; // of it, that have not been found
    bool reads;     // it is a read: that it is over is told without a fence, too
    bool itself;    // it is the strong write that tells what its lane did
    int steps, sync_vars;
    const ReleaseRecord *told;   // the last entry that told of some
    VisitedRange *seen;          // parts of logs that need no second look
} HistorySearch;

void *sim_allocate_for_clocks(const Block *b, size_t bytes);
// Both together, perhaps one of the two itself: what is known never changes once it is made. narrow: what the second
// tells is for the block only. One who learns more goes on in the list of what he knew, if he is the first to.
const CausalHistory *sim_history_join(const Block *b, const CausalHistory *one, const CausalHistory *two, bool cta_scope);
SyncVar *sim_find_sync_var(const Block *b, uint64_t key, bool global, bool make);
// Who asks for the log's key from now on finds another one; who knows of this one still does.
void sim_retire_sync_var(const Block *b, SyncVar *var, bool global);
// Blocks that run side by side may fall to the same place.
void sim_atomic_max(_Atomic uint32_t *most, uint32_t value);
void sim_append_release(Block *b, SyncVar *var, ReleaseRecord *e);
// Looks for the epoch's lanes in what a thread of this block knows. Gives up, as if it had found them, after many
// steps.
void sim_search_history(HistorySearch *s, const CausalHistory *history, uint32_t reader);
// What an entry tells a thread of this block.
void sim_apply_release(HistorySearch *s, const ReleaseRecord *e, uint32_t reader);
bool sim_history_covers(const CausalHistory *history, const ReleaseRange *ref);

#endif
