// clocks.c: the happens-before relation of a launch's accesses (causality order in PTX's memory model).
//
// As in FastTrack, shadow memory keeps for an access not a vector clock, but an AccessRecord: the lanes, and the time on their
// block's clock. The block's clock advances at every synchronisation.
//
// A thread's vector clock would have an element for each thread of the grid, so it is compressed:
//
//   block_epoch   time of the last barrier of the whole block, for all of the block's threads
//   warp_epoch    time of the last barrier of the whole warp, for its lanes
//   lane_clocks   times for single lanes of the warp, from barriers with a mask
//   history       for all other threads: the ranges of ReleaseRecords that the thread has acquired
//
// An access happens before the thread's next access if one of these has, for the accessing lanes, its time or a later one.
//
//   release       appends a ReleaseRecord, a copy of the thread's clock, to a SyncVar: a word written by a release, or by
//                 a strong operation after a fence; an mbarrier; a barrier that is not for the whole block.
//   acquire       joins the SyncVar's records into `history` (sim_history_join). Barriers and acquire operations do so
//                 immediately. A relaxed read joins them into `pending_acquire`, a release-only operation into
//                 `pending_fence`; the next fence moves them to `history`.
//   scope         .cta includes only the block's threads; .gpu, .cluster and .sys are treated alike and include all threads.
//                 A record has `history` for its own block, as of the last fence of any scope, and `gpu_history` for other
//                 blocks, as of the last fence of device scope.
//   transitivity  a thread releases the accesses that it has acquired together with its own. Scopes matter only within each
//                 release-acquire pair: both scopes must include both threads.
//
// `recent` and `last_release` are lookup caches, which do not affect the order.
//
// Five simplifications can cause false negatives, but no false positives:
//
//   1. A barrier of the block acts as a fence for relaxed reads of flags before it. If another block's write is ordered only by
//      such a barrier, or by one after the writer's fence, the missing fence is a warning (check_fences).
//   2. After a barrier of the warp, a fence by one lane acquires the releases that another lane has read.
//   3. A fence also releases what its thread acquires between the fence and the store to the flag, by barriers or by
//      acquires of device scope.
//   4. A relaxed store after a barrier releases the reads before that barrier (release_reads).
//   5. A search stops after MAX_SEARCH_STEPS records, and the access counts as ordered.
#include "checker/block_check.h"
#include "checker/dynamic_parallelism.h"

#include <stdlib.h>
#include <string.h>

// ---- Barriers

// Adds a history to that of a thread. `cta_scope`: it is acquired with block scope, so not released to other blocks.
static void acquire(const Block *b, ThreadClock *t, const CausalHistory *more, bool cta_scope)
{
    const bool same = t->gpu_history == t->history;
    t->history = sim_history_join(b, t->history, more, cta_scope);
    if (!cta_scope)
        t->gpu_history = same ? t->history : sim_history_join(b, t->gpu_history, more, false);
}

// Adds a thread's histories to those of a barrier or a release.
static void merge_clock(const Block *b, ThreadClock *merged, const ThreadClock *t)
{
    const bool same = t->gpu_history == t->history && merged->gpu_history == merged->history;
    if (t->history != merged->history)
        merged->history = sim_history_join(b, merged->history, t->history, false);
    if (t->gpu_history != merged->gpu_history)
        merged->gpu_history = same ? merged->history : sim_history_join(b, merged->gpu_history, t->gpu_history, false);
}

// Gives each thread its own clock, before a release or an acquire; does nothing if the clocks exist.
static void make_thread_clocks(Block *b)
{
    BlockClocks *clocks = clocks_of(b);
    for (int n = 0; n < b->warp_count && !clocks->has_thread_clocks; n++)
        for (int l = 0; l < LANES; l++)
            clocks->threads[n][l] = clocks->common;
    clocks->has_thread_clocks = true;
}

// Joins the clocks of all threads at a barrier of the block.
static void join_threads(Block *b)
{
    BlockClocks *clocks = clocks_of(b);
    ThreadClock merged = {.history = NULL};
    for (int n = 0; n < b->warp_count; n++)
        for (int l = 0; l < LANES; l++) {
            ThreadClock *t = &clocks->threads[n][l];
            if (t->pending_acquire) {
                acquire(b, t, sim_history_by_barrier(b, t->pending_acquire), false);
                t->passed_acquire = sim_history_join(b, t->passed_acquire, t->pending_acquire, false);
                t->pending_acquire = NULL;
                b->launch->vector_clocks->has_barrier_orders = true;
            }
            merged.passed_acquire = sim_history_join(b, merged.passed_acquire, t->passed_acquire, false);
            merge_clock(b, &merged, t);
        }
    for (int n = 0; n < b->warp_count; n++)
        for (int l = 0; l < LANES; l++) {
            clocks->threads[n][l].block_epoch = clocks->time;
            clocks->threads[n][l].history = merged.history;
            clocks->threads[n][l].gpu_history = merged.gpu_history;
            clocks->threads[n][l].passed_acquire = merged.passed_acquire;
        }
}

// True if records of shared memory are needed after a barrier of the block: by the other blocks of a cluster, or by bulk copies, which
// a barrier does not order after writes.
static bool keeps_records(const Launch *launch)
{
    return launch->cluster_blocks > 1 || (launch->module->uses_bulk_copies && launch->kernel->program->effects.synchronises);
}

void sim_order_block(Block *b)
{
    BlockClocks *clocks = clocks_of(b);
    if (clocks->has_thread_clocks)
        join_threads(b);
    clocks->common.block_epoch = clocks->time;
    for (int n = 0; n < b->warp_count; n++)
        clocks->min_block_epoch[n] = clocks->time;
    clocks->time++;
    clocks->generation += !keeps_records(b->launch);
}

// Joins the clocks of some lanes at a barrier of their warp.
static void join_lanes(Warp *w, uint32_t mask)
{
    Block *b = w->block;
    BlockClocks *clocks = clocks_of(b);
    ThreadClock *threads = clocks->threads[w->number];
    ThreadClock merged = {.history = NULL};
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const ThreadClock *t = &threads[__builtin_ctz(rest)];
        merged.block_epoch = t->block_epoch > merged.block_epoch ? t->block_epoch : merged.block_epoch;
        merge_clock(b, &merged, t);
        merged.pending_acquire = sim_history_join(b, merged.pending_acquire, t->pending_acquire, false);
    }
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        ThreadClock *t = &threads[__builtin_ctz(rest)];
        t->block_epoch = merged.block_epoch;
        t->history = merged.history;
        t->gpu_history = merged.gpu_history;
        t->pending_acquire = merged.pending_acquire; // simplification 2
    }
    clocks->min_block_epoch[w->number] = UINT32_MAX;
    for (int l = 0; l < LANES; l++)
        if (w->live_mask >> l & 1 && threads[l].block_epoch < clocks->min_block_epoch[w->number])
            clocks->min_block_epoch[w->number] = threads[l].block_epoch;
}

void sim_order_lanes(Warp *w, uint32_t mask)
{
    BlockClocks *clocks = clocks_of(w->block);
    uint32_t(*lane_clocks)[LANES] = clocks->lane_clocks[w->number];
    if (clocks->has_thread_clocks)
        join_lanes(w, mask);
    if (mask == w->live_mask) {
        clocks->warp_epoch[w->number] = clocks->time++;
        return;
    }
    uint32_t joined[LANES];
    memset(joined, 0, sizeof joined);
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        for (int other = 0; other < LANES; other++)
            joined[other] = lane_clocks[__builtin_ctz(rest)][other] > joined[other] ? lane_clocks[__builtin_ctz(rest)][other] : joined[other];
    for (int other = 0; other < LANES; other++)
        joined[other] = mask >> other & 1 ? clocks->time : joined[other];
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        memcpy(lane_clocks[__builtin_ctz(rest)], joined, sizeof joined);
    clocks->time++;
}

// ---- Releases and acquires

// Requires has_thread_clocks.
static ThreadClock *own_clock(const Warp *w, int lane)
{
    return &clocks_of(w->block)->threads[w->number][lane];
}

static ReleaseRecord *new_record(const Warp *w, int lane)
{
    ReleaseRecord *record = sim_clocks_allocate(w->block, sizeof *record);
    *record = (ReleaseRecord){.block = block_id(w->block), .warp = (uint32_t)w->number, .time = clocks_of(w->block)->time, .lane = (uint8_t)lane};
    return record;
}

// Makes a record with a copy of the lanes' clocks. It releases their own accesses up to time `until` and, to other blocks, those of
// the first lane up to `gpu_until`.
static ReleaseRecord *release_record(Warp *w, uint32_t mask, uint32_t until, uint32_t gpu_until)
{
    Block *b = w->block;
    const BlockClocks *clocks = clocks_of(b);
    uint32_t lane_epochs[LANES];
    for (int other = 0; other < LANES; other++)
        lane_epochs[other] = clocks->warp_epoch[w->number];
    ThreadClock merged = {.history = NULL};
    ReleaseRecord *record = new_record(w, __builtin_ctz(mask));
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        const ThreadClock *t = clock_of(w, l);
        const uint32_t *clock = clocks->lane_clocks[w->number][l];
        record->block_epoch = t->block_epoch > record->block_epoch ? t->block_epoch : record->block_epoch;
        merge_clock(b, &merged, t);
        for (int other = 0; other < LANES; other++)
            lane_epochs[other] = clock[other] > lane_epochs[other] ? clock[other] : lane_epochs[other];
    }
    for (int other = 0; other < LANES; other++)
        record->lane_epochs[other] = mask >> other & 1 && until > lane_epochs[other] ? until : lane_epochs[other];
    record->gpu_epoch = gpu_until > lane_epochs[record->lane] ? gpu_until : lane_epochs[record->lane];
    record->history = merged.history;
    record->gpu_history = merged.gpu_history;
    return record;
}

// The variable of a barrier with a thread count, of a cluster barrier, or of a word of shared memory. The cluster's first block owns
// all but the first kind.
static SyncVar *sync_var_of_block(const Warp *w, uint64_t key, bool make)
{
    const bool is_counting_barrier = key > CLUSTER_KEY && key <= CLUSTER_KEY + BARRIERS;
    return sim_find_sync_var(is_counting_barrier ? w->block : w->block->cluster[0], key, false, make);
}

void sim_sync_release(Warp *w, uint32_t mask, uint64_t key)
{
    BlockClocks *clocks = clocks_of(w->block);
    make_thread_clocks(w->block);
    sim_append_release(w->block, sync_var_of_block(w, key, true), release_record(w, mask, clocks->time, clocks->time));
    clocks->time++;
}

void sim_order_copy(Warp *w, int lane, uint64_t key)
{
    BlockClocks *clocks = clocks_of(w->block);
    ReleaseRecord *record = new_record(w, lane);
    record->copy_done = true;
    record->lane_epochs[lane] = record->gpu_epoch = clocks->time++; // other blocks of a cluster may also wait for the copy
    make_thread_clocks(w->block);
    sim_append_release(w->block, sync_var_of_block(w, key, true), record);
}

// A history of all current records of a variable; NULL if `history` covers them.
static const CausalHistory *all_records(const Block *b, SyncVar *var, const CausalHistory *history, bool cta_scope)
{
    const ReleaseRange range = {.var = var, .end = var->count, .cta_scope = cta_scope};
    if (range.end == 0 || sim_history_covers(history, &range))
        return NULL;
    RangeList *list = sim_clocks_allocate(b, sizeof *list + sizeof range);
    list->ranges[list->used++] = range;
    list->capacity = 1;
    CausalHistory *one = sim_clocks_allocate(b, sizeof *one);
    *one = (CausalHistory){1, list};
    return one;
}

static void acquire_pending(const Block *b, const CausalHistory **history, SyncVar *var)
{
    *history = sim_history_join(b, *history, all_records(b, var, *history, false), false);
}

// A thread has read the variable: an acquire joins its records now, other operations at the next fence.
static void acquire_records(const Block *b, ThreadClock *t, SyncVar *var, Semantics semantics, bool cta_scope)
{
    if (semantics == ACQUIRE || semantics == ACQUIRE_RELEASE)
        acquire(b, t, all_records(b, var, cta_scope ? t->history : t->gpu_history, cta_scope), cta_scope);
    else
        acquire_pending(b, semantics == RELEASE ? &t->pending_fence : &t->pending_acquire, var);
}

// The same for several lanes, by an operation that does not release. `var`: NULL if it has no records.
static void acquire_together(Warp *w, uint32_t mask, SyncVar *var, Semantics semantics, bool cta_scope)
{
    ThreadClock unacquired, *acquired = NULL; // clocks of the previous lane, as most lanes share one history
    if (!var)
        return;
    make_thread_clocks(w->block);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        ThreadClock *t = own_clock(w, __builtin_ctz(rest));
        if (acquired && t->history == unacquired.history && t->gpu_history == unacquired.gpu_history &&
            t->pending_acquire == unacquired.pending_acquire) {
            t->history = acquired->history;
            t->gpu_history = acquired->gpu_history;
            t->pending_acquire = acquired->pending_acquire;
        } else {
            unacquired = *t;
            acquire_records(w->block, t, var, semantics, cta_scope);
            acquired = t;
        }
    }
}

void sim_sync_acquire(Warp *w, uint32_t mask, uint64_t key)
{
    acquire_together(w, mask, sync_var_of_block(w, key, false), ACQUIRE, false);
}

static void note_fence_of_grid(const Block *b)
{
    if (b->launch->nested_grid && b->launch->nested_grid->check)
        b->launch->nested_grid->check->has_executed_fence = true;
}

// Acquires the pending releases that were read before the fence. Later strong writes release the accesses before the fence.
void sim_order_by_fence(Warp *w, const Instr *i, uint32_t mask)
{
    Block *b = w->block;
    const bool cta_scope = i->scope == BLOCK_SCOPE;
    make_thread_clocks(b);
    if (!cta_scope)
        note_fence_of_grid(b);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        ThreadClock *t = own_clock(w, __builtin_ctz(rest));
        *(cta_scope ? &t->cta_fence : &t->gpu_fence) = clocks_of(b)->time;
        if (!cta_scope)
            sim_atomic_max(&b->launch->vector_clocks->last_gpu_fence[block_id(b) % BLOCK_HASH_BUCKETS], clocks_of(b)->time);
        acquire(b, t, t->pending_acquire, cta_scope);
        acquire(b, t, t->pending_fence, cta_scope);
        acquire(b, t, t->passed_acquire, cta_scope);
        if (!cta_scope) {
            t->gpu_history = t->history;
            t->pending_acquire = t->pending_fence = t->passed_acquire = NULL;
            clocks_of(b)->gpu_fences[w->number] = clocks_of(b)->time;
        }
    }
    clocks_of(b)->time++;
}

// An unfenced relaxed store orders the reads before its block's last barrier, and transitively those before the stores that its
// thread has read: a write that follows the flag cannot overtake them. CUB's in-place algorithms rely on that.
static void release_reads(Warp *w, const Instr *i, int lane, SyncVar *var)
{
    const ThreadClock *t = clock_of(w, lane);
    ReleaseRecord *record = new_record(w, lane);
    record->block_epoch = t->block_epoch;
    record->history = record->gpu_history = sim_history_join(w->block, t->history, t->pending_acquire, false);
    record->site = i->site;
    record->reads_only = true;
    w->block->launch->vector_clocks->reads_only_count++;
    sim_append_release(w->block, var, record);
}

// A barrier after the last fence orders accesses before the release, but only within the block.
static void limit_to_fences(Block *b, ReleaseRecord *record)
{
    uint32_t *fences = sim_clocks_allocate(b, (size_t)b->warp_count * sizeof *fences);
    memcpy(fences, clocks_of(b)->gpu_fences, (size_t)b->warp_count * sizeof *fences);
    record->gpu_fences = fences;
    b->launch->vector_clocks->has_barrier_orders = true;
}

static void release(Warp *w, const Instr *i, int lane, SyncVar *var)
{
    BlockClocks *clocks = clocks_of(w->block);
    const ThreadClock *t = clock_of(w, lane);
    const bool releases = i->semantics == RELEASE || i->semantics == ACQUIRE_RELEASE;
    const bool cta_scope = releases ? i->scope == BLOCK_SCOPE : t->gpu_fence == 0;
    const uint32_t gpu_fence = t->gpu_fence > t->cta_fence ? t->gpu_fence : t->cta_fence;
    const uint32_t until = releases ? clocks->time : gpu_fence, gpu_until = releases ? clocks->time : t->gpu_fence;
    const ReleaseRecord *last = var->count ? var->records[var->count - 1] : NULL;
    if (last && !last->reads_only && last->time == clocks->time && last->block == block_id(w->block) &&
        last->warp == (uint32_t)w->number && last->site == i->site && last->lane_epochs[lane] >= until && last->cta_scope <= cta_scope &&
        (last->lane != lane || last->gpu_epoch >= gpu_until) && last->history == t->history && last->gpu_history == t->gpu_history)
        return; // redundant: the last record releases as much
    ReleaseRecord *record = release_record(w, 1u << lane, until, gpu_until);
    record->site = i->site;
    record->cta_scope = cta_scope;
    if (releases)
        record->gpu_history = record->history;
    else if (!cta_scope && (t->block_epoch > t->gpu_fence || clocks->warp_epoch[w->number] > t->gpu_fence))
        limit_to_fences(w->block, record);
    sim_append_release(w->block, var, record);
    if (releases)
        clocks->time++;
}

// True if a strong store continues the release sequence: another lane has released in the same execution, or the thread releases,
// too, and wrote the variable last or has acquired its records. Read-modify-writes always continue it.
static bool continues_release_sequence(const Warp *w, const Instr *i, int lane, SyncVar *var, bool publishes)
{
    const int until = var->store_end ? var->store_end : 1;
    const ReleaseRecord *last = var->count ? var->records[until - 1] : NULL;
    const bool own_warp = last && last->block == block_id(w->block) && last->warp == (uint32_t)w->number;
    if (own_warp && last->site == i->site && last->time == clocks_of(w->block)->time)
        return true;
    return publishes && (!last || (own_warp && last->lane == lane) ||
                         sim_history_covers(clock_of(w, lane)->history, &(ReleaseRange){.var = var, .end = until, .cta_scope = true}));
}

void sim_order_by_reads(Warp *w, const Instr *i, uint32_t mask, bool shared, uint64_t key)
{
    SyncVar *var = shared ? sync_var_of_block(w, key, false) : sim_find_sync_var(w->block, key, true, false);
    acquire_together(w, mask, var, (Semantics)i->semantics, i->scope == BLOCK_SCOPE);
}

void sim_order_by_access(Warp *w, const Instr *i, int lane, bool shared, uint64_t key, RecordKind kind)
{
    Block *b = w->block;
    const ThreadClock *t = clock_of(w, lane);
    const bool releases = i->semantics == RELEASE || i->semantics == ACQUIRE_RELEASE;
    const bool publishes = releases || t->gpu_fence || t->cta_fence;
    const bool releases_reads = !publishes && !shared && i->kind == STORE && b->launch->kernel->program->effects.loads_flags &&
                                b->launch->vector_clocks->reads_only_count < MAX_READS_ONLY;
    if (releases)
        note_fence_of_grid(b);
    SyncVar *var = shared ? sync_var_of_block(w, key, publishes) : sim_find_sync_var(b, key, true, publishes || releases_reads);
    if (!var)
        return;
    make_thread_clocks(b);
    if (kind != STRONG_WRITE)
        acquire_records(b, own_clock(w, lane), var, (Semantics)i->semantics, i->scope == BLOCK_SCOPE);
    if (kind == STRONG_WRITE && !continues_release_sequence(w, i, lane, var, publishes)) { // ends the release sequence
        sim_retire_sync_var(shared ? b->cluster[0] : b, var, !shared);
        var = !publishes && !releases_reads ? NULL : shared ? sync_var_of_block(w, key, true) : sim_find_sync_var(b, key, true, true);
    }
    if (publishes)
        release(w, i, lane, var);
    else if (releases_reads)
        release_reads(w, i, lane, var);
    if (publishes && kind == STRONG_WRITE)
        var->store_end = var->count;
}

// ---- Launches by kernels

struct ClockSnapshot { // a launch is a release to the child grid
    const ReleaseRecord *release;
    const CausalHistory *pending_acquire, *pending_fence;
};

const ClockSnapshot *sim_take_snapshot(Arena *arena, Warp *w, int lane)
{
    const ThreadClock *t = clock_of(w, lane);
    const uint32_t time = clocks_of(w->block)->time;
    ClockSnapshot *snapshot = sim_allocate(arena, sizeof *snapshot);
    *snapshot = (ClockSnapshot){release_record(w, 1u << lane, time, time), t->pending_acquire, t->pending_fence};
    clocks_of(w->block)->time++;
    return snapshot;
}

bool sim_snapshot_covers(const ClockSnapshot *snapshot, const AccessRecord *access)
{
    const ReleaseRecord *release = snapshot->release;
    const CausalHistory *const histories[] = {release->history, snapshot->pending_acquire, snapshot->pending_fence};
    VisitedRange visited[MAX_VISITED];
    HistorySearch s = {.access = access, .lanes = access->lanes, .visited = visited};
    sim_apply_release(&s, release, release->block);
    for (int n = 0; n < 3 && s.lanes; n++)
        sim_search_history(&s, histories[n], release->block);
    return s.lanes == 0;
}
