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
//   acquire          the entries that are found join what is known (sim_joined): at a barrier at once; those of a flag
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

bool sim_warp_knows(const Warp *w, const Epoch *e)
{
    const BlockClocks *clocks = w->block->clocks;
    return e->block == (uint32_t)w->block->number && !is_under_way(e) &&
           (e->time <= clocks->least_floor[w->number] ||
            (e->warp == (unsigned)w->number && e->time <= clocks->together[w->number]));
}

bool sim_has_fenced(const Warp *w, const Epoch *e)
{
    const Block *b = w->block;
    if (e->block != (uint32_t)b->number)
        return e->time <= b->launch->clocks->fenced[e->block % BUCKETS];
    const ThreadClock *t = clock_in(b->clocks, (int)e->warp, __builtin_ctz(e->lanes));
    return e->time <= t->fence || e->time <= t->block_fence;
}

// Whether a function's code tells how what an instruction loads is used. Its caller may decide by it; in code for a
// debugger what was loaded is stored before it decides.
static bool shows_use(const Warp *w, const Instr *i)
{
    const Program *kernel = w->block->launch->kernel->program;
    return i >= kernel->code && i < kernel->code + kernel->count && !w->block->launch->module->for_debugger;
}

bool sim_is_asked(const Warp *w, const Instr *i)
{
    return i->loop & DECIDES || !shows_use(w, i);
}

void sim_note_heard(const Warp *w, const Epoch *e)
{
    BlockClocks *clocks = w->block->clocks;
    const uint32_t n = (e->block * 31 + e->warp) % INDEX;
    const bool known = clocks->writers[n].block == e->block && clocks->writers[n].warp == e->warp;
    const uint32_t lanes = known ? clocks->writers[n].lanes : 0, time = lanes ? clocks->writers[n].time : 0;
    clocks->writers[n].block = e->block;
    clocks->writers[n].warp = e->warp;
    clocks->writers[n].lanes = lanes | e->lanes;
    clocks->writers[n].time = e->time > time ? e->time : time;
    clocks->hears_writers = true;
}

bool sim_has_heard_since(const Warp *w, const Epoch *e)
{
    const BlockClocks *clocks = w->block->clocks;
    const uint32_t n = (e->block * 31 + e->warp) % INDEX;
    return clocks->writers[n].block == e->block && clocks->writers[n].warp == e->warp &&
           clocks->writers[n].lanes & e->lanes && clocks->writers[n].time >= e->time;
}

bool sim_has_awaited(const Warp *w, const Epoch *e)
{
    const Instr *i = sim_instruction_at(e->site);
    return i->loop & AWAITED || !shows_use(w, i) || (i->loop & DECIDES && sim_has_fenced(w, e));
}

// Whether one of the block's threads may have told what it knew at the epoch's time, or later.
static bool was_told(const Launch *launch, const Epoch *e)
{
    return e->time <= launch->clocks->told[e->block % BUCKETS];
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
    b->clocks->raced[pair % (INDEX - 1)] = pair; // modulo an odd number, both halves count
}

static bool has_raced(const Block *b, uint32_t site, uint32_t other)
{
    const uint64_t pair = pair_of(site, other);
    return b->clocks->raced[pair % (INDEX - 1)] == pair;
}

static const Entry **heard_by(const Warp *w, int lane, const Epoch *e)
{
    const size_t thread = (size_t)(w->number * LANES + lane);
    return &w->block->clocks->heard[thread * (size_t)w->block->warp_count + e->warp][e->kind == COPY_UNDER_WAY];
}

bool sim_happened_before(Warp *w, const Instr *i, int lane, const Epoch *e)
{
    const BlockClocks *clocks = w->block->clocks;
    const ThreadClock *thread = clock_of(w, lane);
    uint32_t lanes = e->lanes;
    if (e->kind == SOURCE_UNDER_WAY)
        return false;
    if (e->kind != COPY_UNDER_WAY && e->block == (uint32_t)w->block->number) {
        if (e->time <= thread->floor)
            return true;
        if (e->warp == (unsigned)w->number) {
            lanes &= ~(1u << lane);
            if (lanes == 0 || e->time <= clocks->together[w->number])
                return true;
            for (uint32_t rest = lanes; rest; rest &= rest - 1)
                if (e->time <= clocks->rows[w->number][lane][__builtin_ctz(rest)])
                    lanes &= ~(rest & -rest);
            if (lanes == 0)
                return true;
        }
    }
    if (!thread->known)
        return false;
    Seen seen[MOST_LOGS];
    Search s = {.epoch = e, .lanes = lanes, .seen = seen, .reads = e->kind == PLAIN_READ || e->kind == STRONG_READ};
    const uint32_t reader = (uint32_t)w->block->number;
    // Of two volatile writes one is lost, unless the second's thread knows that the first was seen.
    s.itself = e->kind == STRONG_WRITE && i->kind == STORE && i->semantics == VOLATILE;
    // What has told of a thread's own block once, tells of it again.
    const Entry **heard = e->block == reader && !s.itself ? heard_by(w, lane, e) : NULL;
    if (heard && *heard)
        sim_hear_entry(&s, *heard, reader);
    if (s.lanes && was_told(w->block->launch, e) && !has_raced(w->block, e->site, i->site)) {
        sim_search_known(&s, thread->known, reader);
        if (heard && s.told) {
            *heard = s.told;
            w->block->clocks->hears = true;
        }
    }
    return s.lanes == 0;
}

bool sim_lanes_know(Warp *w, const Instr *i, uint32_t mask, const Epoch *e)
{
    const bool other_warp = e->block != (uint32_t)w->block->number || e->warp != (unsigned)w->number;
    const ThreadClock *asked = NULL; // the lane before: most know the same, but of their own warp, lane by lane
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        const ThreadClock *t = clock_of(w, l);
        if (asked && other_warp && t->known == asked->known && t->floor == asked->floor)
            continue;
        if (!sim_happened_before(w, i, l, e))
            return false;
        asked = t;
    }
    return true;
}

bool sim_may_have_told(const Block *b, const Epoch *e)
{
    const bool reads = e->kind == PLAIN_READ || e->kind == STRONG_READ;
    return reads && e->block != (uint32_t)b->number && b->launch->clocks->weak == MOST_WEAK;
}

bool sim_lacks_fence(const Warp *w, int lane, const Epoch *e)
{
    const ThreadClock *t = clock_of(w, lane);
    const Known *const all[] = {t->pending, t->unasked};
    Seen seen[MOST_LOGS];
    for (int n = 0; n < 2; n++) {
        Search s = {.epoch = e, .lanes = e->lanes, .seen = seen};
        sim_search_known(&s, all[n], (uint32_t)w->block->number);
        if (s.lanes == 0)
            return true;
    }
    return false;
}

bool sim_block_knows(const Block *b, const Epoch *e)
{
    const Known *asked = NULL;
    Seen seen[MOST_LOGS];
    Search s = {.epoch = e, .lanes = e->lanes, .seen = seen, .itself = true};
    for (uint32_t thread = 0; thread < b->threads && s.lanes; thread++) {
        const ThreadClock *t = clock_in(b->clocks, (int)(thread / LANES), (int)(thread % LANES));
        const Known *const all[] = {t->known, t->pending, t->unasked};
        for (int n = t->known == asked ? 1 : 0; n < 3 && s.lanes; n++)
            sim_search_known(&s, all[n], (uint32_t)b->number);
        asked = t->known;
    }
    return s.lanes == 0;
}

// ---- Barriers

// The thread knows more; narrow: of its block only, and for its block only.
static void take(const Block *b, ThreadClock *t, const Known *more, bool narrow)
{
    const bool alike = t->wide == t->known;
    t->known = sim_joined(b, t->known, more, narrow);
    if (!narrow)
        t->wide = alike ? t->known : sim_joined(b, t->wide, more, false);
}

// At a barrier one thread tells another what it knows.
static void add_known(const Block *b, ThreadClock *all, const ThreadClock *t)
{
    const bool alike = t->wide == t->known && all->wide == all->known;
    if (t->known != all->known)
        all->known = sim_joined(b, all->known, t->known, false);
    if (t->wide != all->wide)
        all->wide = alike ? all->known : sim_joined(b, all->wide, t->wide, false);
}

void sim_begin_talk(Block *b)
{
    BlockClocks *clocks = b->clocks;
    for (int n = 0; n < b->warp_count && !clocks->talks; n++)
        for (int l = 0; l < LANES; l++)
            clocks->threads[n][l] = clocks->all;
    clocks->talks = true;
}

// Threads that have talked come to a barrier of the block: each knows what any of them knew.
static void join_threads(Block *b)
{
    BlockClocks *clocks = b->clocks;
    ThreadClock all = {.known = NULL};
    for (int n = 0; n < b->warp_count; n++)
        for (int l = 0; l < LANES; l++) {
            ThreadClock *t = &clocks->threads[n][l];
            take(b, t, t->pending, false);
            t->pending = NULL;
            add_known(b, &all, t);
        }
    for (int n = 0; n < b->warp_count; n++)
        for (int l = 0; l < LANES; l++) {
            clocks->threads[n][l].floor = clocks->time;
            clocks->threads[n][l].known = all.known;
            clocks->threads[n][l].wide = all.wide;
        }
}

void sim_order_block(Block *b)
{
    BlockClocks *clocks = b->clocks;
    if (clocks->talks)
        join_threads(b);
    clocks->all.floor = clocks->time;
    for (int n = 0; n < b->warp_count; n++)
        clocks->least_floor[n] = clocks->time;
    clocks->time++;
    clocks->run += b->launch->cluster_blocks == 1;
}

// Lanes of a warp that have talked come to its barrier.
static void join_lanes(Warp *w, uint32_t mask)
{
    Block *b = w->block;
    BlockClocks *clocks = b->clocks;
    ThreadClock *threads = clocks->threads[w->number];
    ThreadClock all = {.known = NULL};
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const ThreadClock *t = &threads[__builtin_ctz(rest)];
        all.floor = t->floor > all.floor ? t->floor : all.floor;
        add_known(b, &all, t);
        all.pending = sim_joined(b, all.pending, t->pending, false);
    }
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        ThreadClock *t = &threads[__builtin_ctz(rest)];
        t->floor = all.floor;
        t->known = all.known;
        t->wide = all.wide;
        t->pending = all.pending; // who has a fence behind the barrier knows what another one has read before it
    }
    clocks->least_floor[w->number] = UINT32_MAX;
    for (int l = 0; l < LANES; l++)
        if (w->live >> l & 1 && threads[l].floor < clocks->least_floor[w->number])
            clocks->least_floor[w->number] = threads[l].floor;
}

void sim_order_lanes(Warp *w, uint32_t mask)
{
    BlockClocks *clocks = w->block->clocks;
    uint32_t(*rows)[LANES] = clocks->rows[w->number];
    if (clocks->talks)
        join_lanes(w, mask);
    if (mask == w->live) {
        clocks->together[w->number] = clocks->time++;
        return;
    }
    uint32_t most[LANES];
    memset(most, 0, sizeof most);
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        for (int m = 0; m < LANES; m++)
            most[m] = rows[__builtin_ctz(rest)][m] > most[m] ? rows[__builtin_ctz(rest)][m] : most[m];
    for (int m = 0; m < LANES; m++)
        most[m] = mask >> m & 1 ? clocks->time : most[m];
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        memcpy(rows[__builtin_ctz(rest)], most, sizeof most);
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
static Entry *entry_of(Warp *w, uint32_t mask, uint32_t until, uint32_t wide_until)
{
    Block *b = w->block;
    const BlockClocks *clocks = b->clocks;
    uint32_t times[LANES];
    for (int m = 0; m < LANES; m++)
        times[m] = clocks->together[w->number];
    ThreadClock all = {.known = NULL};
    Entry *e = sim_allocate_for_clocks(b, sizeof *e);
    e->block = (uint32_t)b->number;
    e->warp = (uint32_t)w->number;
    e->now = clocks->time;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        const ThreadClock *t = clock_of(w, l);
        const uint32_t *row = clocks->rows[w->number][l];
        e->floor = t->floor > e->floor ? t->floor : e->floor;
        add_known(b, &all, t);
        for (int m = 0; m < LANES; m++)
            times[m] = row[m] > times[m] ? row[m] : times[m];
    }
    for (int m = 0; m < LANES; m++)
        e->times[m] = mask >> m & 1 && until > times[m] ? until : times[m];
    e->lane = (uint8_t)__builtin_ctz(mask);
    e->wide_time = wide_until > times[e->lane] ? wide_until : times[e->lane];
    e->known = all.known;
    e->wide = all.wide;
    return e;
}

// A barrier of the block that counts, or a place in shared memory. Of a cluster the first block has the logs.
static Log *log_of_block(const Warp *w, uint64_t key, bool make)
{
    const bool own = key > CLUSTER_KEY && key <= CLUSTER_KEY + BARRIERS;
    return sim_find_log(own ? w->block : w->block->cluster[0], key, false, make);
}

void sim_arrive_at_log(Warp *w, uint32_t mask, uint64_t key)
{
    BlockClocks *clocks = w->block->clocks;
    sim_begin_talk(w->block);
    sim_append_entry(w->block, log_of_block(w, key, true), entry_of(w, mask, clocks->time, clocks->time));
    clocks->time++;
}

// A copy that the lane has begun now will have come for those who ask at this mbarrier.
void sim_order_copy(Warp *w, int lane, uint64_t key)
{
    BlockClocks *clocks = w->block->clocks;
    Entry *e = sim_allocate_for_clocks(w->block, sizeof *e);
    *e = (Entry){.block = (uint32_t)w->block->number, .warp = (uint32_t)w->number, .now = clocks->time,
                 .lane = (uint8_t)lane, .copy = true};
    e->times[lane] = e->wide_time = clocks->time++; // of a cluster other blocks may ask, too
    sim_begin_talk(w->block);
    sim_append_entry(w->block, log_of_block(w, key, true), e);
}

// All that stands in a log by now, or what it tells the block; NULL if that is known.
static const Known *all_of(const Block *b, Log *log, const Known *known, bool narrow)
{
    const Ref all = {log, 0, log ? log->count : 0, narrow};
    if (all.end == 0 || sim_refers(known, &all))
        return NULL;
    Refs *list = sim_allocate_for_clocks(b, sizeof *list + sizeof all);
    list->refs[list->used++] = all;
    list->space = 1;
    Known *one = sim_allocate_for_clocks(b, sizeof *one);
    *one = (Known){1, list};
    return one;
}

static void learn(const Block *b, const Known **known, Log *log)
{
    *known = sim_joined(b, *known, all_of(b, log, *known, false), false);
}

void sim_acquire_log(Warp *w, uint32_t mask, uint64_t key)
{
    Log *log = log_of_block(w, key, false);
    sim_begin_talk(w->block);
    ThreadClock before = {.known = NULL}, after = {.known = NULL}; // of the lane before: most know the same
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        ThreadClock *t = own_clock(w, __builtin_ctz(rest));
        if (!after.known || t->known != before.known || t->wide != before.wide) {
            before = after = *t;
            take(w->block, &after, all_of(w->block, log, t->wide, false), false);
        }
        t->known = after.known;
        t->wide = after.wide;
    }
}

// membar, fence: what the thread has read is known for certain now; what it did will be told by what it writes.
void sim_order_by_fence(Warp *w, const Instr *i, uint32_t mask)
{
    Block *b = w->block;
    const bool narrow = i->scope == BLOCK_SCOPE;
    sim_begin_talk(b);
    if (b->launch->family_grid && !narrow)
        b->launch->family_grid->fences = true;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        ThreadClock *t = own_clock(w, __builtin_ctz(rest));
        *(narrow ? &t->block_fence : &t->fence) = b->clocks->time;
        if (!narrow)
            sim_raise_to(&b->launch->clocks->fenced[b->number % BUCKETS], b->clocks->time);
        take(b, t, t->pending, narrow);
        take(b, t, t->unasked, narrow);
        if (!narrow) {
            t->wide = t->known;
            t->pending = t->unasked = NULL;
        }
    }
    b->clocks->time++;
}

// A relaxed store with no fence before it. What its block has read before a barrier it has got by then, and so have those of whose
// stores its thread has heard, so that nobody who hears of this one can overwrite it too early. CUB's algorithms that work in
// place rely on that.
static void tell_of_reads(Warp *w, const Instr *i, int lane, Log *log)
{
    const ThreadClock *t = clock_of(w, lane);
    const Known *known = sim_joined(w->block, t->known, t->pending, false);
    Entry *e = sim_allocate_for_clocks(w->block, sizeof *e);
    *e = (Entry){.block = (uint32_t)w->block->number, .warp = (uint32_t)w->number, .now = w->block->clocks->time, .floor = t->floor,
                 .known = known, .wide = known, .site = i->site, .lane = (uint8_t)lane, .weak = true};
    w->block->launch->clocks->weak++;
    sim_append_entry(w->block, log, e);
}

static void tell(Warp *w, const Instr *i, int lane, Log *log)
{
    BlockClocks *clocks = w->block->clocks;
    const ThreadClock *t = clock_of(w, lane);
    const bool releases = i->semantics == RELEASE || i->semantics == ACQUIRE_RELEASE;
    const bool narrow = releases ? i->scope == BLOCK_SCOPE : t->fence == 0;
    const uint32_t fence = t->fence > t->block_fence ? t->fence : t->block_fence;
    const uint32_t until = releases ? clocks->time : fence, wide_until = releases ? clocks->time : t->fence;
    const Entry *last = log->count ? log->entries[log->count - 1] : NULL;
    if (last && !last->weak && last->now == clocks->time && last->block == (uint32_t)w->block->number &&
        last->warp == (uint32_t)w->number && last->site == i->site && last->times[lane] >= until && last->narrow <= narrow &&
        (last->lane != lane || last->wide_time >= wide_until) && last->known == t->known && last->wide == t->wide)
        return; // it has told as much
    Entry *e = entry_of(w, 1u << lane, until, wide_until);
    e->site = i->site;
    e->narrow = narrow;
    if (releases)
        e->wide = e->known;
    sim_append_entry(w->block, log, e);
    if (releases)
        clocks->time++;
}

// Whether a plain store leaves to those who read it what stands in the log already: another lane has told in the same execution; or
// it tells itself (`tells`), and its thread stored there last, or knows what stands there. An atomic update does in any case.
static bool carries_on(const Warp *w, const Instr *i, int lane, Log *log, bool tells)
{
    const int until = log->stored ? log->stored : 1;
    const Entry *last = log->count ? log->entries[until - 1] : NULL;
    const bool own_warp = last && last->block == (uint32_t)w->block->number && last->warp == (uint32_t)w->number;
    if (own_warp && last->site == i->site && last->now == w->block->clocks->time)
        return true;
    return tells && (!last || (own_warp && last->lane == lane) || sim_refers(clock_of(w, lane)->known, &(Ref){log, 0, until, true}));
}

// A thread's operation has read a place: it knows what stands in the log, at once or when a fence has followed.
static void learn_by_access(const Block *b, const Instr *i, ThreadClock *t, Log *log)
{
    const bool acquires = i->semantics == ACQUIRE || i->semantics == ACQUIRE_RELEASE, narrow = i->scope == BLOCK_SCOPE;
    if (acquires)
        take(b, t, all_of(b, log, narrow ? t->known : t->wide, narrow), narrow);
    else
        learn(b, i->semantics == RELEASE ? &t->unasked : &t->pending, log);
}

void sim_order_by_reads(Warp *w, const Instr *i, uint32_t mask, bool shared, uint64_t key)
{
    Block *b = w->block;
    Log *log = shared ? log_of_block(w, key, false) : sim_find_log(b, key, true, false);
    if (log)
        sim_begin_talk(b);
    ThreadClock before, *after = NULL; // of the lane before: most know the same
    for (uint32_t rest = log ? mask : 0; rest; rest &= rest - 1) {
        ThreadClock *t = own_clock(w, __builtin_ctz(rest));
        if (after && t->known == before.known && t->wide == before.wide && t->pending == before.pending) {
            t->known = after->known;
            t->wide = after->wide;
            t->pending = after->pending;
        } else {
            before = *t;
            learn_by_access(b, i, t, log);
            after = t;
        }
    }
}

void sim_order_by_access(Warp *w, const Instr *i, int lane, bool shared, uint64_t key, EpochKind kind)
{
    Block *b = w->block;
    const ThreadClock *t = clock_of(w, lane);
    const bool releases = i->semantics == RELEASE || i->semantics == ACQUIRE_RELEASE;
    const bool tells = releases || t->fence || t->block_fence;
    const bool tells_of_reads = !tells && !shared && i->kind == STORE && b->launch->kernel->program->does.awaits &&
                                b->launch->clocks->weak < MOST_WEAK;
    Log *log = shared ? log_of_block(w, key, tells) : sim_find_log(b, key, true, tells || tells_of_reads);
    if (!log)
        return;
    sim_begin_talk(b);
    if (kind != STRONG_WRITE)
        learn_by_access(b, i, own_clock(w, lane), log);
    if (kind == STRONG_WRITE && !carries_on(w, i, lane, log, tells)) { // who reads it learns of nobody before
        sim_retire_log(shared ? b->cluster[0] : b, log, !shared);
        log = !tells && !tells_of_reads ? NULL : shared ? log_of_block(w, key, true) : sim_find_log(b, key, true, true);
    }
    if (tells)
        tell(w, i, lane, log);
    else if (tells_of_reads)
        tell_of_reads(w, i, lane, log);
    if (tells && kind == STRONG_WRITE)
        log->stored = log->count;
}
