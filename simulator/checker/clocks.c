// clocks.c: what happens before what in a launch.
//
// A thread knows, of each thread of its block, until what time it has seen what that one did:
//   floor     all threads of the block, since a barrier of the whole block;
//   together  all lanes of the warp, since a barrier of the whole warp; `rows` of single lanes;
//   known     others, through logs.
// Each place in memory that lanes write with atomic or other strong operations behind a fence has a log, as has each
// barrier that is none of the whole block: an entry tells what its writer knew then. Who reads the place, and has a
// fence or a barrier behind that, knows the entries that were there.
//
// A fence or a release of block scope tells the threads of the block only, one of device scope all. But what somebody
// has been told counts as what he did himself, whoever told it, and with whatever scope: the order is transitive, and
// only each single hand-over needs a scope that holds both sides. So a thread's entry says two things: to its block
// what it knew at its last fence, to others what it knew at its last fence for the device.
//
// In the field's terms:
//
//   happens-before   PTX's causality order. An Epoch is what is known of an access, as in FastTrack: who, and when by
//                    the clock of the block, which goes on whenever its threads synchronise.
//   vector clock     what a thread knows: floor, together and rows in numbers, one for many; known as a list of the
//                    logs' first entries, for a vector with an element for each thread of a grid would be too large. A
//                    thread knows an epoch if one of them holds its lanes at its time, or later.
//   release          an entry that is told: a copy of that clock, kept beside the place that is written.
//   acquire          the entries that are found join what is known (sim_history_join): at a barrier at once; those of a flag
//                    are `pending`, or `unasked` where the operation only releases, until there is a fence behind it.
//   scope            .cta is narrow, for the block only; `wide` is what an entry or a thread tells those of other
//                    blocks (.cluster counts as .gpu, as .sys does).
//   heard, told      no part of the order: what was found lately, so that most questions need no search.
//
// This is the causality order of PTX's memory model, with five simplifications, all of them towards fewer findings:
// a barrier of the block counts as a fence for those who have read a flag with a relaxed access, and a warp's lanes may
// have their fence behind a barrier in place of the lane that has read it; a fence releases what barriers, and reads that
// acquire for the device, tell its thread until it writes the flag; a relaxed store behind a barrier tells that what was
// read before it has been read (tell_of_reads); a search through very many entries is given up, as ordered.
#include "checker/clocks.h"
#include "machine/grid.h"

#include <stdlib.h>
#include <string.h>

// ---- Questions

bool sim_hb_warp_fast(const Warp *w, const AccessRecord *e)
{
    const BlockClocks *clocks = w->block->clocks;
    return e->block == (uint32_t)w->block->number && !is_under_way(e) &&
           (e->time <= clocks->min_block_epoch[w->number] ||
            (e->warp == (unsigned)w->number && e->time <= clocks->warp_epoch[w->number]));
}

bool sim_has_fenced(const Warp *w, const AccessRecord *e)
{
    const Block *b = w->block;
    if (e->block != (uint32_t)b->number)
        return e->time <= b->launch->clocks->fenced[e->block % BLOCK_BUCKETS];
    const ThreadClock *t = clock_in(b->clocks, (int)e->warp, __builtin_ctz(e->lanes));
    return e->time <= t->gpu_fence || e->time <= t->cta_fence;
}

// Whether a function's code tells how what an instruction loads is used. Its caller may decide by it; in code for a
// debugger what was loaded is stored before it decides.
static bool shows_use(const Warp *w, const Instr *i)
{
    const Program *kernel = w->block->launch->kernel->program;
    return i >= kernel->code && i < kernel->code + kernel->count && !w->block->launch->module->for_debugger;
}

bool sim_feeds_branch(const Warp *w, const Instr *i)
{
    return i->loop & FEEDS_BRANCH || !shows_use(w, i);
}

void sim_note_acquired_from(const Warp *w, const AccessRecord *e)
{
    BlockClocks *clocks = w->block->clocks;
    const uint32_t n = (e->block * 31 + e->warp) % INDEX_SLOTS;
    const bool known = clocks->writers[n].block == e->block && clocks->writers[n].warp == e->warp;
    const uint32_t lanes = known ? clocks->writers[n].lanes : 0, time = lanes ? clocks->writers[n].time : 0;
    clocks->writers[n].block = e->block;
    clocks->writers[n].warp = e->warp;
    clocks->writers[n].lanes = lanes | e->lanes;
    clocks->writers[n].time = e->time > time ? e->time : time;
    clocks->has_writers = true;
}

bool sim_acquired_since(const Warp *w, const AccessRecord *e)
{
    const BlockClocks *clocks = w->block->clocks;
    const uint32_t n = (e->block * 31 + e->warp) % INDEX_SLOTS;
    return clocks->writers[n].block == e->block && clocks->writers[n].warp == e->warp &&
           clocks->writers[n].lanes & e->lanes && clocks->writers[n].time >= e->time;
}

bool sim_is_spin_read(const Warp *w, const AccessRecord *e)
{
    const Instr *i = sim_instruction_at(e->site);
    return i->loop & IN_SPIN_LOOP || !shows_use(w, i) || (i->loop & FEEDS_BRANCH && sim_has_fenced(w, e));
}

// Whether one of the block's threads may have told what it knew at the epoch's time, or later.
static bool was_told(const Launch *launch, const AccessRecord *e)
{
    return e->time <= launch->clocks->told[e->block % BLOCK_BUCKETS];
}

// A number for two instructions, in whatever order; not 0.
static uint64_t pair_of(uint32_t site, uint32_t other)
{
    const uint32_t low = site < other ? site : other, high = site < other ? other : site;
    return 1ull << 63 | (uint64_t)low << 32 | high;
}

void sim_note_race(Block *b, uint32_t site, uint32_t other)
{
    const uint64_t pair = pair_of(site, other);
    b->clocks->raced[pair % (INDEX_SLOTS - 1)] = pair; // modulo an odd number, both halves count
}

static bool has_raced(const Block *b, uint32_t site, uint32_t other)
{
    const uint64_t pair = pair_of(site, other);
    return b->clocks->raced[pair % (INDEX_SLOTS - 1)] == pair;
}

static const ReleaseRecord **heard_by(const Warp *w, int lane, const AccessRecord *e)
{
    const size_t thread = (size_t)(w->number * LANES + lane);
    return &w->block->clocks->recent[thread * (size_t)w->block->warp_count + e->warp][e->kind == COPY_UNDER_WAY];
}

bool sim_happens_before(Warp *w, const Instr *i, int lane, const AccessRecord *e)
{
    const BlockClocks *clocks = w->block->clocks;
    const ThreadClock *thread = clock_of(w, lane);
    uint32_t lanes = e->lanes;
    if (e->kind == SOURCE_UNDER_WAY)
        return false;
    if (e->kind != COPY_UNDER_WAY && e->block == (uint32_t)w->block->number) {
        if (e->time <= thread->block_epoch)
            return true;
        if (e->warp == (unsigned)w->number) {
            lanes &= ~(1u << lane);
            if (lanes == 0 || e->time <= clocks->warp_epoch[w->number])
                return true;
            for (uint32_t rest = lanes; rest; rest &= rest - 1)
                if (e->time <= clocks->lane_clocks[w->number][lane][__builtin_ctz(rest)])
                    lanes &= ~(rest & -rest);
            if (lanes == 0)
                return true;
        }
    }
    if (!thread->history)
        return false;
    VisitedRange seen[MAX_VISITED];
    HistorySearch s = {.epoch = e, .lanes = lanes, .seen = seen, .reads = e->kind == PLAIN_READ || e->kind == STRONG_READ};
    const uint32_t reader = (uint32_t)w->block->number;
    // Of two volatile writes one is lost, unless the second's thread knows that the first was seen.
    s.itself = e->kind == STRONG_WRITE && i->kind == STORE && i->semantics == VOLATILE;
    // What has told of a thread's own block once, tells of it again.
    const ReleaseRecord **recent = e->block == reader && !s.itself ? heard_by(w, lane, e) : NULL;
    if (recent && *recent)
        sim_apply_release(&s, *recent, reader);
    if (s.lanes && was_told(w->block->launch, e) && !has_raced(w->block, e->site, i->site)) {
        sim_search_history(&s, thread->history, reader);
        if (recent && s.told) {
            *recent = s.told;
            w->block->clocks->has_recent = true;
        }
    }
    return s.lanes == 0;
}

bool sim_hb_all_lanes(Warp *w, const Instr *i, uint32_t mask, const AccessRecord *e)
{
    const bool other_warp = e->block != (uint32_t)w->block->number || e->warp != (unsigned)w->number;
    const ThreadClock *asked = NULL; // the lane before: most know the same, but of their own warp, lane by lane
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        const ThreadClock *t = clock_of(w, l);
        if (asked && other_warp && t->history == asked->history && t->block_epoch == asked->block_epoch)
            continue;
        if (!sim_happens_before(w, i, l, e))
            return false;
        asked = t;
    }
    return true;
}

bool sim_may_have_released(const Block *b, const AccessRecord *e)
{
    const bool reads = e->kind == PLAIN_READ || e->kind == STRONG_READ;
    return reads && e->block != (uint32_t)b->number && b->launch->clocks->reads_only == MAX_READS_ONLY;
}

bool sim_lacks_fence(const Warp *w, int lane, const AccessRecord *e)
{
    const ThreadClock *t = clock_of(w, lane);
    const CausalHistory *const all[] = {t->pending_acquire, t->pending_fence};
    VisitedRange seen[MAX_VISITED];
    for (int n = 0; n < 2; n++) {
        HistorySearch s = {.epoch = e, .lanes = e->lanes, .seen = seen};
        sim_search_history(&s, all[n], (uint32_t)w->block->number);
        if (s.lanes == 0)
            return true;
    }
    return false;
}

bool sim_block_acquired(const Block *b, const AccessRecord *e)
{
    const CausalHistory *asked = NULL;
    VisitedRange seen[MAX_VISITED];
    HistorySearch s = {.epoch = e, .lanes = e->lanes, .seen = seen, .itself = true};
    for (uint32_t thread = 0; thread < b->threads && s.lanes; thread++) {
        const ThreadClock *t = clock_in(b->clocks, (int)(thread / LANES), (int)(thread % LANES));
        const CausalHistory *const all[] = {t->history, t->pending_acquire, t->pending_fence};
        for (int n = t->history == asked ? 1 : 0; n < 3 && s.lanes; n++)
            sim_search_history(&s, all[n], (uint32_t)b->number);
        asked = t->history;
    }
    return s.lanes == 0;
}

// ---- Barriers

// The thread knows more; narrow: of its block only, and for its block only.
static void take(const Block *b, ThreadClock *t, const CausalHistory *more, bool cta_scope)
{
    const bool alike = t->gpu_history == t->history;
    t->history = sim_history_join(b, t->history, more, cta_scope);
    if (!cta_scope)
        t->gpu_history = alike ? t->history : sim_history_join(b, t->gpu_history, more, false);
}

// At a barrier one thread tells another what it knows.
static void add_known(const Block *b, ThreadClock *all, const ThreadClock *t)
{
    const bool alike = t->gpu_history == t->history && all->gpu_history == all->history;
    if (t->history != all->history)
        all->history = sim_history_join(b, all->history, t->history, false);
    if (t->gpu_history != all->gpu_history)
        all->gpu_history = alike ? all->history : sim_history_join(b, all->gpu_history, t->gpu_history, false);
}

void sim_make_thread_clocks(Block *b)
{
    BlockClocks *clocks = b->clocks;
    for (int n = 0; n < b->warp_count && !clocks->has_thread_clocks; n++)
        for (int l = 0; l < LANES; l++)
            clocks->threads[n][l] = clocks->all;
    clocks->has_thread_clocks = true;
}

// Threads that have talked come to a barrier of the block: each knows what any of them knew.
static void join_threads(Block *b)
{
    BlockClocks *clocks = b->clocks;
    ThreadClock all = {.history = NULL};
    for (int n = 0; n < b->warp_count; n++)
        for (int l = 0; l < LANES; l++) {
            ThreadClock *t = &clocks->threads[n][l];
            take(b, t, t->pending_acquire, false);
            t->pending_acquire = NULL;
            add_known(b, &all, t);
        }
    for (int n = 0; n < b->warp_count; n++)
        for (int l = 0; l < LANES; l++) {
            clocks->threads[n][l].block_epoch = clocks->time;
            clocks->threads[n][l].history = all.history;
            clocks->threads[n][l].gpu_history = all.gpu_history;
        }
}

void sim_order_block(Block *b)
{
    BlockClocks *clocks = b->clocks;
    if (clocks->has_thread_clocks)
        join_threads(b);
    clocks->all.block_epoch = clocks->time;
    for (int n = 0; n < b->warp_count; n++)
        clocks->min_block_epoch[n] = clocks->time;
    clocks->time++;
    clocks->run += b->launch->cluster_blocks == 1;
}

// Lanes of a warp that have talked come to its barrier.
static void join_lanes(Warp *w, uint32_t mask)
{
    Block *b = w->block;
    BlockClocks *clocks = b->clocks;
    ThreadClock *threads = clocks->threads[w->number];
    ThreadClock all = {.history = NULL};
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const ThreadClock *t = &threads[__builtin_ctz(rest)];
        all.block_epoch = t->block_epoch > all.block_epoch ? t->block_epoch : all.block_epoch;
        add_known(b, &all, t);
        all.pending_acquire = sim_history_join(b, all.pending_acquire, t->pending_acquire, false);
    }
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        ThreadClock *t = &threads[__builtin_ctz(rest)];
        t->block_epoch = all.block_epoch;
        t->history = all.history;
        t->gpu_history = all.gpu_history;
        t->pending_acquire = all.pending_acquire; // who has a fence behind the barrier knows what another one has read before it
    }
    clocks->min_block_epoch[w->number] = UINT32_MAX;
    for (int l = 0; l < LANES; l++)
        if (w->live >> l & 1 && threads[l].block_epoch < clocks->min_block_epoch[w->number])
            clocks->min_block_epoch[w->number] = threads[l].block_epoch;
}

void sim_order_lanes(Warp *w, uint32_t mask)
{
    BlockClocks *clocks = w->block->clocks;
    uint32_t(*lane_clocks)[LANES] = clocks->lane_clocks[w->number];
    if (clocks->has_thread_clocks)
        join_lanes(w, mask);
    if (mask == w->live) {
        clocks->warp_epoch[w->number] = clocks->time++;
        return;
    }
    uint32_t most[LANES];
    memset(most, 0, sizeof most);
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        for (int m = 0; m < LANES; m++)
            most[m] = lane_clocks[__builtin_ctz(rest)][m] > most[m] ? lane_clocks[__builtin_ctz(rest)][m] : most[m];
    for (int m = 0; m < LANES; m++)
        most[m] = mask >> m & 1 ? clocks->time : most[m];
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        memcpy(lane_clocks[__builtin_ctz(rest)], most, sizeof most);
    clocks->time++;
}

// ---- Logs

// Of a thread of a block that talks.
static ThreadClock *own_clock(const Warp *w, int lane)
{
    return &w->block->clocks->threads[w->number][lane];
}

// What the lanes know; of what they did themselves, until `until`, and for other blocks the first of them until
// `wide_until`.
static ReleaseRecord *entry_of(Warp *w, uint32_t mask, uint32_t until, uint32_t wide_until)
{
    Block *b = w->block;
    const BlockClocks *clocks = b->clocks;
    uint32_t lane_epochs[LANES];
    for (int m = 0; m < LANES; m++)
        lane_epochs[m] = clocks->warp_epoch[w->number];
    ThreadClock all = {.history = NULL};
    ReleaseRecord *e = sim_allocate_for_clocks(b, sizeof *e);
    e->block = (uint32_t)b->number;
    e->warp = (uint32_t)w->number;
    e->now = clocks->time;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        const ThreadClock *t = clock_of(w, l);
        const uint32_t *row = clocks->lane_clocks[w->number][l];
        e->block_epoch = t->block_epoch > e->block_epoch ? t->block_epoch : e->block_epoch;
        add_known(b, &all, t);
        for (int m = 0; m < LANES; m++)
            lane_epochs[m] = row[m] > lane_epochs[m] ? row[m] : lane_epochs[m];
    }
    for (int m = 0; m < LANES; m++)
        e->lane_epochs[m] = mask >> m & 1 && until > lane_epochs[m] ? until : lane_epochs[m];
    e->lane = (uint8_t)__builtin_ctz(mask);
    e->gpu_epoch = wide_until > lane_epochs[e->lane] ? wide_until : lane_epochs[e->lane];
    e->history = all.history;
    e->gpu_history = all.gpu_history;
    return e;
}

// A barrier of the block that counts, or a place in shared memory. Of a cluster the first block has the logs.
static SyncVar *log_of_block(const Warp *w, uint64_t key, bool make)
{
    const bool own = key > CLUSTER_KEY && key <= CLUSTER_KEY + BARRIERS;
    return sim_find_sync_var(own ? w->block : w->block->cluster[0], key, false, make);
}

void sim_sync_release(Warp *w, uint32_t mask, uint64_t key)
{
    BlockClocks *clocks = w->block->clocks;
    sim_make_thread_clocks(w->block);
    sim_append_release(w->block, log_of_block(w, key, true), entry_of(w, mask, clocks->time, clocks->time));
    clocks->time++;
}

// A copy that the lane has begun now will have come for those who ask at this mbarrier.
void sim_order_copy(Warp *w, int lane, uint64_t key)
{
    BlockClocks *clocks = w->block->clocks;
    ReleaseRecord *e = sim_allocate_for_clocks(w->block, sizeof *e);
    *e = (ReleaseRecord){.block = (uint32_t)w->block->number, .warp = (uint32_t)w->number, .now = clocks->time,
                 .lane = (uint8_t)lane, .copy = true};
    e->lane_epochs[lane] = e->gpu_epoch = clocks->time++; // of a cluster other blocks may ask, too
    sim_make_thread_clocks(w->block);
    sim_append_release(w->block, log_of_block(w, key, true), e);
}

// All that stands in a log by now, or what it tells the block; NULL if that is known.
static const CausalHistory *all_of(const Block *b, SyncVar *var, const CausalHistory *history, bool cta_scope)
{
    const ReleaseRange all = {var, 0, var ? var->count : 0, cta_scope};
    if (all.end == 0 || sim_history_covers(history, &all))
        return NULL;
    RangeList *list = sim_allocate_for_clocks(b, sizeof *list + sizeof all);
    list->refs[list->used++] = all;
    list->space = 1;
    CausalHistory *one = sim_allocate_for_clocks(b, sizeof *one);
    *one = (CausalHistory){1, list};
    return one;
}

static void learn(const Block *b, const CausalHistory **history, SyncVar *var)
{
    *history = sim_history_join(b, *history, all_of(b, var, *history, false), false);
}

void sim_sync_acquire(Warp *w, uint32_t mask, uint64_t key)
{
    SyncVar *var = log_of_block(w, key, false);
    sim_make_thread_clocks(w->block);
    ThreadClock before = {.history = NULL}, after = {.history = NULL}; // of the lane before: most know the same
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        ThreadClock *t = own_clock(w, __builtin_ctz(rest));
        if (!after.history || t->history != before.history || t->gpu_history != before.gpu_history) {
            before = after = *t;
            take(w->block, &after, all_of(w->block, var, t->gpu_history, false), false);
        }
        t->history = after.history;
        t->gpu_history = after.gpu_history;
    }
}

// membar, fence: what the thread has read is known for certain now; what it did will be told by what it writes.
void sim_order_by_fence(Warp *w, const Instr *i, uint32_t mask)
{
    Block *b = w->block;
    const bool cta_scope = i->scope == BLOCK_SCOPE;
    sim_make_thread_clocks(b);
    if (b->launch->family_grid && !cta_scope)
        b->launch->family_grid->fences = true;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        ThreadClock *t = own_clock(w, __builtin_ctz(rest));
        *(cta_scope ? &t->cta_fence : &t->gpu_fence) = b->clocks->time;
        if (!cta_scope)
            sim_atomic_max(&b->launch->clocks->fenced[b->number % BLOCK_BUCKETS], b->clocks->time);
        take(b, t, t->pending_acquire, cta_scope);
        take(b, t, t->pending_fence, cta_scope);
        if (!cta_scope) {
            t->gpu_history = t->history;
            t->pending_acquire = t->pending_fence = NULL;
        }
    }
    b->clocks->time++;
}

// A relaxed store with no fence before it. What its block has read before a barrier it has got by then, and so have those of whose
// stores its thread has heard, so that nobody who hears of this one can overwrite it too early. CUB's algorithms that work in
// place rely on that.
static void tell_of_reads(Warp *w, const Instr *i, int lane, SyncVar *var)
{
    const ThreadClock *t = clock_of(w, lane);
    const CausalHistory *history = sim_history_join(w->block, t->history, t->pending_acquire, false);
    ReleaseRecord *e = sim_allocate_for_clocks(w->block, sizeof *e);
    *e = (ReleaseRecord){.block = (uint32_t)w->block->number, .warp = (uint32_t)w->number, .now = w->block->clocks->time, .block_epoch = t->block_epoch,
                 .history = history, .gpu_history = history, .site = i->site, .lane = (uint8_t)lane, .reads_only = true};
    w->block->launch->clocks->reads_only++;
    sim_append_release(w->block, var, e);
}

static void tell(Warp *w, const Instr *i, int lane, SyncVar *var)
{
    BlockClocks *clocks = w->block->clocks;
    const ThreadClock *t = clock_of(w, lane);
    const bool releases = i->semantics == RELEASE || i->semantics == ACQUIRE_RELEASE;
    const bool cta_scope = releases ? i->scope == BLOCK_SCOPE : t->gpu_fence == 0;
    const uint32_t gpu_fence = t->gpu_fence > t->cta_fence ? t->gpu_fence : t->cta_fence;
    const uint32_t until = releases ? clocks->time : gpu_fence, wide_until = releases ? clocks->time : t->gpu_fence;
    const ReleaseRecord *last = var->count ? var->records[var->count - 1] : NULL;
    if (last && !last->reads_only && last->now == clocks->time && last->block == (uint32_t)w->block->number &&
        last->warp == (uint32_t)w->number && last->site == i->site && last->lane_epochs[lane] >= until && last->cta_scope <= cta_scope &&
        (last->lane != lane || last->gpu_epoch >= wide_until) && last->history == t->history && last->gpu_history == t->gpu_history)
        return; // it has told as much
    ReleaseRecord *e = entry_of(w, 1u << lane, until, wide_until);
    e->site = i->site;
    e->cta_scope = cta_scope;
    if (releases)
        e->gpu_history = e->history;
    sim_append_release(w->block, var, e);
    if (releases)
        clocks->time++;
}

// Whether a plain store leaves to those who read it what stands in the log already: another lane has told in the same execution; or
// it tells itself (`tells`), and its thread stored there last, or knows what stands there. An atomic update does in any case.
static bool carries_on(const Warp *w, const Instr *i, int lane, SyncVar *var, bool tells)
{
    const int until = var->stored ? var->stored : 1;
    const ReleaseRecord *last = var->count ? var->records[until - 1] : NULL;
    const bool own_warp = last && last->block == (uint32_t)w->block->number && last->warp == (uint32_t)w->number;
    if (own_warp && last->site == i->site && last->now == w->block->clocks->time)
        return true;
    return tells && (!last || (own_warp && last->lane == lane) || sim_history_covers(clock_of(w, lane)->history, &(ReleaseRange){var, 0, until, true}));
}

// A thread's operation has read a place: it knows what stands in the log, at once or when a fence has followed.
static void learn_by_access(const Block *b, const Instr *i, ThreadClock *t, SyncVar *var)
{
    const bool acquires = i->semantics == ACQUIRE || i->semantics == ACQUIRE_RELEASE, cta_scope = i->scope == BLOCK_SCOPE;
    if (acquires)
        take(b, t, all_of(b, var, cta_scope ? t->history : t->gpu_history, cta_scope), cta_scope);
    else
        learn(b, i->semantics == RELEASE ? &t->pending_fence : &t->pending_acquire, var);
}

void sim_order_by_reads(Warp *w, const Instr *i, uint32_t mask, bool shared, uint64_t key)
{
    Block *b = w->block;
    SyncVar *var = shared ? log_of_block(w, key, false) : sim_find_sync_var(b, key, true, false);
    if (var)
        sim_make_thread_clocks(b);
    ThreadClock before, *after = NULL; // of the lane before: most know the same
    for (uint32_t rest = var ? mask : 0; rest; rest &= rest - 1) {
        ThreadClock *t = own_clock(w, __builtin_ctz(rest));
        if (after && t->history == before.history && t->gpu_history == before.gpu_history && t->pending_acquire == before.pending_acquire) {
            t->history = after->history;
            t->gpu_history = after->gpu_history;
            t->pending_acquire = after->pending_acquire;
        } else {
            before = *t;
            learn_by_access(b, i, t, var);
            after = t;
        }
    }
}

void sim_order_by_access(Warp *w, const Instr *i, int lane, bool shared, uint64_t key, RecordKind kind)
{
    Block *b = w->block;
    const ThreadClock *t = clock_of(w, lane);
    const bool releases = i->semantics == RELEASE || i->semantics == ACQUIRE_RELEASE;
    const bool tells = releases || t->gpu_fence || t->cta_fence;
    const bool tells_of_reads = !tells && !shared && i->kind == STORE && b->launch->kernel->program->effects.loads_flags &&
                                b->launch->clocks->reads_only < MAX_READS_ONLY;
    SyncVar *var = shared ? log_of_block(w, key, tells) : sim_find_sync_var(b, key, true, tells || tells_of_reads);
    if (!var)
        return;
    sim_make_thread_clocks(b);
    if (kind != STRONG_WRITE)
        learn_by_access(b, i, own_clock(w, lane), var);
    if (kind == STRONG_WRITE && !carries_on(w, i, lane, var, tells)) { // who reads it learns of nobody before
        sim_retire_sync_var(shared ? b->cluster[0] : b, var, !shared);
        var = !tells && !tells_of_reads ? NULL : shared ? log_of_block(w, key, true) : sim_find_sync_var(b, key, true, true);
    }
    if (tells)
        tell(w, i, lane, var);
    else if (tells_of_reads)
        tell_of_reads(w, i, lane, var);
    if (tells && kind == STRONG_WRITE)
        var->stored = var->count;
}
