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
//   1. A barrier of the block acts as a fence for relaxed reads of flags before it.
//   2. After a barrier of the warp, a fence by one lane acquires the releases that another lane has read.
//   3. A fence also releases what its thread acquires between the fence and the store to the flag, by barriers or by
//      acquires of device scope.
//   4. A relaxed store after a barrier releases the reads before that barrier (release_reads).
//   5. A search stops after MAX_SEARCH_STEPS records, and the access counts as ordered.
#include "checker/clocks.h"
#include "machine/grid.h"

#include <stdlib.h>
#include <string.h>

// ---- Queries

bool sim_hb_warp_fast(const Warp *w, const AccessRecord *access)
{
    const BlockClocks *clocks = w->block->vector_clocks;
    return access->block == (uint32_t)w->block->number && !is_in_flight(access) &&
           (access->time <= clocks->min_block_epoch[w->number] ||
            (access->warp == (unsigned)w->number && access->time <= clocks->warp_epoch[w->number]));
}

bool sim_has_fenced(const Warp *w, const AccessRecord *access)
{
    const Block *b = w->block;
    if (access->block != (uint32_t)b->number)
        return access->time <= b->launch->vector_clocks->last_gpu_fence[access->block % BLOCK_HASH_BUCKETS];
    const ThreadClock *t = clock_in(b->vector_clocks, (int)access->warp, __builtin_ctz(access->lanes));
    return access->time <= t->gpu_fence || access->time <= t->cta_fence;
}

// True if the analysis sees all uses of the loaded value: the load is in the kernel itself, compiled with optimisation. A function
// may return the value, and -G stores it before any use.
static bool is_use_visible(const Warp *w, const Instr *i)
{
    const Program *kernel = w->block->launch->kernel->program;
    return i >= kernel->code && i < kernel->code + kernel->count && !w->block->launch->module->is_debug;
}

bool sim_feeds_branch(const Warp *w, const Instr *i)
{
    return i->loop & FEEDS_BRANCH || !is_use_visible(w, i);
}

void sim_note_acquired_from(const Warp *w, const AccessRecord *access)
{
    BlockClocks *clocks = w->block->vector_clocks;
    const uint32_t n = (access->block * 31 + access->warp) % INDEX_SLOTS;
    const bool same_warp = clocks->writers[n].block == access->block && clocks->writers[n].warp == access->warp;
    const uint32_t lanes = same_warp ? clocks->writers[n].lanes : 0, time = lanes ? clocks->writers[n].time : 0;
    clocks->writers[n].block = access->block;
    clocks->writers[n].warp = access->warp;
    clocks->writers[n].lanes = lanes | access->lanes;
    clocks->writers[n].time = access->time > time ? access->time : time;
    clocks->has_writers = true;
}

bool sim_acquired_since(const Warp *w, const AccessRecord *access)
{
    const BlockClocks *clocks = w->block->vector_clocks;
    const uint32_t n = (access->block * 31 + access->warp) % INDEX_SLOTS;
    return clocks->writers[n].block == access->block && clocks->writers[n].warp == access->warp &&
           clocks->writers[n].lanes & access->lanes && clocks->writers[n].time >= access->time;
}

bool sim_is_spin_read(const Warp *w, const AccessRecord *access)
{
    const Instr *i = sim_instruction_at(access->site);
    return i->loop & IN_SPIN_LOOP || !is_use_visible(w, i) || (i->loop & FEEDS_BRANCH && sim_has_fenced(w, access));
}

// False if no thread of the access's block has executed a release since the access.
static bool may_have_released(const Launch *launch, const AccessRecord *access)
{
    return access->time <= launch->vector_clocks->last_release[access->block % BLOCK_HASH_BUCKETS];
}

// A nonzero key for an unordered pair of instructions.
static uint64_t pair_of(uint32_t site, uint32_t other)
{
    const uint32_t low = site < other ? site : other, high = site < other ? other : site;
    return 1ull << 63 | (uint64_t)low << 32 | high;
}

void sim_note_race(Block *b, uint32_t site, uint32_t other)
{
    const uint64_t pair = pair_of(site, other);
    b->vector_clocks->raced[pair % (INDEX_SLOTS - 1)] = pair; // odd, so that both halves of the key affect the slot
}

static bool has_raced(const Block *b, uint32_t site, uint32_t other)
{
    const uint64_t pair = pair_of(site, other);
    return b->vector_clocks->raced[pair % (INDEX_SLOTS - 1)] == pair;
}

static const ReleaseRecord **recent_record_of(const Warp *w, int lane, const AccessRecord *access)
{
    const size_t thread = (size_t)(w->number * LANES + lane);
    return &w->block->vector_clocks->recent[thread * (size_t)w->block->warp_count + access->warp][access->kind == COPY_IN_FLIGHT];
}

bool sim_happens_before(Warp *w, const Instr *i, int lane, const AccessRecord *access)
{
    const BlockClocks *clocks = w->block->vector_clocks;
    const ThreadClock *thread = clock_of(w, lane);
    uint32_t lanes = access->lanes;
    if (access->kind == SOURCE_IN_FLIGHT)
        return false;
    if (access->kind != COPY_IN_FLIGHT && access->block == (uint32_t)w->block->number) {
        if (access->time <= thread->block_epoch)
            return true;
        if (access->warp == (unsigned)w->number) {
            lanes &= ~(1u << lane);
            if (lanes == 0 || access->time <= clocks->warp_epoch[w->number])
                return true;
            for (uint32_t rest = lanes; rest; rest &= rest - 1)
                if (access->time <= clocks->lane_clocks[w->number][lane][__builtin_ctz(rest)])
                    lanes &= ~(rest & -rest);
            if (lanes == 0)
                return true;
        }
    }
    if (!thread->history)
        return false;
    VisitedRange visited[MAX_VISITED];
    HistorySearch s = {.access = access, .lanes = lanes, .visited = visited,
                       .is_read = access->kind == PLAIN_READ || access->kind == STRONG_READ};
    const uint32_t reader = (uint32_t)w->block->number;
    // A volatile write may overwrite a value that no thread has read, unless a release orders the two writes.
    s.is_strong_write = access->kind == STRONG_WRITE && i->kind == STORE && i->semantics == VOLATILE;
    // Try the record that ordered this warp's accesses last.
    const ReleaseRecord **recent = access->block == reader && !s.is_strong_write ? recent_record_of(w, lane, access) : NULL;
    if (recent && *recent)
        sim_apply_release(&s, *recent, reader);
    if (s.lanes && may_have_released(w->block->launch, access) && !has_raced(w->block, access->site, i->site)) {
        sim_search_history(&s, thread->history, reader);
        if (recent && s.found) {
            *recent = s.found;
            w->block->vector_clocks->has_recent = true;
        }
    }
    return s.lanes == 0;
}

bool sim_hb_all_lanes(Warp *w, const Instr *i, uint32_t mask, const AccessRecord *access)
{
    const bool other_warp = access->block != (uint32_t)w->block->number || access->warp != (unsigned)w->number;
    const ThreadClock *previous = NULL; // of the previous lane; most lanes have the same history
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        const ThreadClock *t = clock_of(w, l);
        if (previous && other_warp && t->history == previous->history && t->block_epoch == previous->block_epoch)
            continue;
        if (!sim_happens_before(w, i, l, access))
            return false;
        previous = t;
    }
    return true;
}

bool sim_may_have_released(const Block *b, const AccessRecord *access)
{
    const bool reads = access->kind == PLAIN_READ || access->kind == STRONG_READ;
    return reads && access->block != (uint32_t)b->number && b->launch->vector_clocks->reads_only_count == MAX_READS_ONLY;
}

bool sim_lacks_fence(const Warp *w, int lane, const AccessRecord *access)
{
    const ThreadClock *t = clock_of(w, lane);
    const CausalHistory *const pending[] = {t->pending_acquire, t->pending_fence};
    VisitedRange visited[MAX_VISITED];
    for (int n = 0; n < 2; n++) {
        HistorySearch s = {.access = access, .lanes = access->lanes, .visited = visited};
        sim_search_history(&s, pending[n], (uint32_t)w->block->number);
        if (s.lanes == 0)
            return true;
    }
    return false;
}

bool sim_block_acquired(const Block *b, const AccessRecord *access)
{
    const CausalHistory *previous = NULL;
    VisitedRange visited[MAX_VISITED];
    HistorySearch s = {.access = access, .lanes = access->lanes, .visited = visited, .is_strong_write = true};
    for (uint32_t thread = 0; thread < b->threads && s.lanes; thread++) {
        const ThreadClock *t = clock_in(b->vector_clocks, (int)(thread / LANES), (int)(thread % LANES));
        const CausalHistory *const histories[] = {t->history, t->pending_acquire, t->pending_fence};
        for (int n = t->history == previous ? 1 : 0; n < 3 && s.lanes; n++)
            sim_search_history(&s, histories[n], (uint32_t)b->number);
        previous = t->history;
    }
    return s.lanes == 0;
}

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

void sim_make_thread_clocks(Block *b)
{
    BlockClocks *clocks = b->vector_clocks;
    for (int n = 0; n < b->warp_count && !clocks->has_thread_clocks; n++)
        for (int l = 0; l < LANES; l++)
            clocks->threads[n][l] = clocks->common;
    clocks->has_thread_clocks = true;
}

// Joins the clocks of all threads at a barrier of the block.
static void join_threads(Block *b)
{
    BlockClocks *clocks = b->vector_clocks;
    ThreadClock merged = {.history = NULL};
    for (int n = 0; n < b->warp_count; n++)
        for (int l = 0; l < LANES; l++) {
            ThreadClock *t = &clocks->threads[n][l];
            acquire(b, t, t->pending_acquire, false);
            t->pending_acquire = NULL;
            merge_clock(b, &merged, t);
        }
    for (int n = 0; n < b->warp_count; n++)
        for (int l = 0; l < LANES; l++) {
            clocks->threads[n][l].block_epoch = clocks->time;
            clocks->threads[n][l].history = merged.history;
            clocks->threads[n][l].gpu_history = merged.gpu_history;
        }
}

void sim_order_block(Block *b)
{
    BlockClocks *clocks = b->vector_clocks;
    if (clocks->has_thread_clocks)
        join_threads(b);
    clocks->common.block_epoch = clocks->time;
    for (int n = 0; n < b->warp_count; n++)
        clocks->min_block_epoch[n] = clocks->time;
    clocks->time++;
    clocks->generation += b->launch->cluster_blocks == 1;
}

// Joins the clocks of some lanes at a barrier of their warp.
static void join_lanes(Warp *w, uint32_t mask)
{
    Block *b = w->block;
    BlockClocks *clocks = b->vector_clocks;
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
    BlockClocks *clocks = w->block->vector_clocks;
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
    return &w->block->vector_clocks->threads[w->number][lane];
}

// Makes a record with a copy of the lanes' clocks. It releases their own accesses up to time `until` and, to other blocks, those of
// the first lane up to `gpu_until`.
static ReleaseRecord *release_record(Warp *w, uint32_t mask, uint32_t until, uint32_t gpu_until)
{
    Block *b = w->block;
    const BlockClocks *clocks = b->vector_clocks;
    uint32_t lane_epochs[LANES];
    for (int other = 0; other < LANES; other++)
        lane_epochs[other] = clocks->warp_epoch[w->number];
    ThreadClock merged = {.history = NULL};
    ReleaseRecord *record = sim_clocks_allocate(b, sizeof *record);
    record->block = (uint32_t)b->number;
    record->warp = (uint32_t)w->number;
    record->time = clocks->time;
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
    record->lane = (uint8_t)__builtin_ctz(mask);
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
    BlockClocks *clocks = w->block->vector_clocks;
    sim_make_thread_clocks(w->block);
    sim_append_release(w->block, sync_var_of_block(w, key, true), release_record(w, mask, clocks->time, clocks->time));
    clocks->time++;
}

void sim_order_copy(Warp *w, int lane, uint64_t key)
{
    BlockClocks *clocks = w->block->vector_clocks;
    ReleaseRecord *record = sim_clocks_allocate(w->block, sizeof *record);
    *record = (ReleaseRecord){.block = (uint32_t)w->block->number, .warp = (uint32_t)w->number, .time = clocks->time,
                 .lane = (uint8_t)lane, .copy_done = true};
    record->lane_epochs[lane] = record->gpu_epoch = clocks->time++; // other blocks of a cluster may also wait for the copy
    sim_make_thread_clocks(w->block);
    sim_append_release(w->block, sync_var_of_block(w, key, true), record);
}

// A history of all current records of a variable; NULL if `history` covers them.
static const CausalHistory *all_records(const Block *b, SyncVar *var, const CausalHistory *history, bool cta_scope)
{
    const ReleaseRange range = {var, 0, var ? var->count : 0, cta_scope};
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

void sim_sync_acquire(Warp *w, uint32_t mask, uint64_t key)
{
    SyncVar *var = sync_var_of_block(w, key, false);
    sim_make_thread_clocks(w->block);
    ThreadClock unacquired = {.history = NULL}, acquired = {.history = NULL}; // of the previous lane; most lanes have the same history
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        ThreadClock *t = own_clock(w, __builtin_ctz(rest));
        if (!acquired.history || t->history != unacquired.history || t->gpu_history != unacquired.gpu_history) {
            unacquired = acquired = *t;
            acquire(w->block, &acquired, all_records(w->block, var, t->gpu_history, false), false);
        }
        t->history = acquired.history;
        t->gpu_history = acquired.gpu_history;
    }
}

// Acquires the pending releases that were read before the fence. Later strong writes release the accesses before the fence.
void sim_order_by_fence(Warp *w, const Instr *i, uint32_t mask)
{
    Block *b = w->block;
    const bool cta_scope = i->scope == BLOCK_SCOPE;
    sim_make_thread_clocks(b);
    if (b->launch->nested_grid && !cta_scope)
        b->launch->nested_grid->fences = true;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        ThreadClock *t = own_clock(w, __builtin_ctz(rest));
        *(cta_scope ? &t->cta_fence : &t->gpu_fence) = b->vector_clocks->time;
        if (!cta_scope)
            sim_atomic_max(&b->launch->vector_clocks->last_gpu_fence[b->number % BLOCK_HASH_BUCKETS], b->vector_clocks->time);
        acquire(b, t, t->pending_acquire, cta_scope);
        acquire(b, t, t->pending_fence, cta_scope);
        if (!cta_scope) {
            t->gpu_history = t->history;
            t->pending_acquire = t->pending_fence = NULL;
        }
    }
    b->vector_clocks->time++;
}

// An unfenced relaxed store orders the reads before its block's last barrier, and transitively those before the stores that its
// thread has read: a write that follows the flag cannot overtake them. CUB's in-place algorithms rely on that.
static void release_reads(Warp *w, const Instr *i, int lane, SyncVar *var)
{
    const ThreadClock *t = clock_of(w, lane);
    const CausalHistory *history = sim_history_join(w->block, t->history, t->pending_acquire, false);
    ReleaseRecord *record = sim_clocks_allocate(w->block, sizeof *record);
    *record = (ReleaseRecord){.block = (uint32_t)w->block->number, .warp = (uint32_t)w->number, .time = w->block->vector_clocks->time,
                 .block_epoch = t->block_epoch, .history = history, .gpu_history = history, .site = i->site,
                 .lane = (uint8_t)lane, .reads_only = true};
    w->block->launch->vector_clocks->reads_only_count++;
    sim_append_release(w->block, var, record);
}

static void release(Warp *w, const Instr *i, int lane, SyncVar *var)
{
    BlockClocks *clocks = w->block->vector_clocks;
    const ThreadClock *t = clock_of(w, lane);
    const bool releases = i->semantics == RELEASE || i->semantics == ACQUIRE_RELEASE;
    const bool cta_scope = releases ? i->scope == BLOCK_SCOPE : t->gpu_fence == 0;
    const uint32_t gpu_fence = t->gpu_fence > t->cta_fence ? t->gpu_fence : t->cta_fence;
    const uint32_t until = releases ? clocks->time : gpu_fence, gpu_until = releases ? clocks->time : t->gpu_fence;
    const ReleaseRecord *last = var->count ? var->records[var->count - 1] : NULL;
    if (last && !last->reads_only && last->time == clocks->time && last->block == (uint32_t)w->block->number &&
        last->warp == (uint32_t)w->number && last->site == i->site && last->lane_epochs[lane] >= until && last->cta_scope <= cta_scope &&
        (last->lane != lane || last->gpu_epoch >= gpu_until) && last->history == t->history && last->gpu_history == t->gpu_history)
        return; // redundant: the last record releases as much
    ReleaseRecord *record = release_record(w, 1u << lane, until, gpu_until);
    record->site = i->site;
    record->cta_scope = cta_scope;
    if (releases)
        record->gpu_history = record->history;
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
    const bool own_warp = last && last->block == (uint32_t)w->block->number && last->warp == (uint32_t)w->number;
    if (own_warp && last->site == i->site && last->time == w->block->vector_clocks->time)
        return true;
    return publishes && (!last || (own_warp && last->lane == lane) ||
                         sim_history_covers(clock_of(w, lane)->history, &(ReleaseRange){var, 0, until, true}));
}

// An operation has read the variable: an acquire joins its records now, other operations at the next fence.
static void acquire_by_access(const Block *b, const Instr *i, ThreadClock *t, SyncVar *var)
{
    const bool acquires = i->semantics == ACQUIRE || i->semantics == ACQUIRE_RELEASE, cta_scope = i->scope == BLOCK_SCOPE;
    if (acquires)
        acquire(b, t, all_records(b, var, cta_scope ? t->history : t->gpu_history, cta_scope), cta_scope);
    else
        acquire_pending(b, i->semantics == RELEASE ? &t->pending_fence : &t->pending_acquire, var);
}

void sim_order_by_reads(Warp *w, const Instr *i, uint32_t mask, bool shared, uint64_t key)
{
    Block *b = w->block;
    SyncVar *var = shared ? sync_var_of_block(w, key, false) : sim_find_sync_var(b, key, true, false);
    if (var)
        sim_make_thread_clocks(b);
    ThreadClock unacquired, *acquired = NULL; // of the previous lane: most lanes have the same history
    for (uint32_t rest = var ? mask : 0; rest; rest &= rest - 1) {
        ThreadClock *t = own_clock(w, __builtin_ctz(rest));
        if (acquired && t->history == unacquired.history && t->gpu_history == unacquired.gpu_history &&
            t->pending_acquire == unacquired.pending_acquire) {
            t->history = acquired->history;
            t->gpu_history = acquired->gpu_history;
            t->pending_acquire = acquired->pending_acquire;
        } else {
            unacquired = *t;
            acquire_by_access(b, i, t, var);
            acquired = t;
        }
    }
}

void sim_order_by_access(Warp *w, const Instr *i, int lane, bool shared, uint64_t key, RecordKind kind)
{
    Block *b = w->block;
    const ThreadClock *t = clock_of(w, lane);
    const bool releases = i->semantics == RELEASE || i->semantics == ACQUIRE_RELEASE;
    const bool publishes = releases || t->gpu_fence || t->cta_fence;
    const bool releases_reads = !publishes && !shared && i->kind == STORE && b->launch->kernel->program->effects.loads_flags &&
                                b->launch->vector_clocks->reads_only_count < MAX_READS_ONLY;
    SyncVar *var = shared ? sync_var_of_block(w, key, publishes) : sim_find_sync_var(b, key, true, publishes || releases_reads);
    if (!var)
        return;
    sim_make_thread_clocks(b);
    if (kind != STRONG_WRITE)
        acquire_by_access(b, i, own_clock(w, lane), var);
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
