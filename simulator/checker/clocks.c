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
// This is the causality order of PTX's memory model, with three simplifications, all of them towards fewer findings:
// a barrier of the block counts as a fence for those who have read a flag with a relaxed access; a fence releases
// what barriers, and reads that acquire for the device, tell its thread until it writes the flag; a search through
// very many entries is given up, as ordered.
#include "checker/check.h"
#include "base/platform.h"
#include "machine/grid.h"

#include <stdlib.h>
#include <string.h>

enum { SEARCH = 200000, INDEX = 64, NO_ENTRY = -1, FEW_BITS = 6 };

#define RETIRED UINT64_MAX // the key of a log that nobody finds any more

typedef struct Entry { // what lanes of a warp tell
    uint32_t block, warp, now; // now: the time when it was written
    uint32_t floor, times[LANES], wide_time; // wide_time: what other blocks are told in place of times[lane]
    const struct Known *known, *wide;        // to the block; to other blocks
    int before; // the entry before it of the same block
    uint32_t site; // of the access that tells; 0: another operation does
    uint8_t lane;
    bool narrow; // for the block only
    bool copy;   // only that a copy has come which a lane began then
} Entry;

typedef struct Log {
    uint64_t key;
    Entry **entries;
    int count, space;
    int stored; // entries until the last plain store's, which carries on what was told before
    int *index; // of the blocks that fell there: the last entry; made for a second one
    struct Log *next;
} Log;

typedef struct Logs { // by their keys
    Log **buckets;
    uint32_t count, bits; // of them; of how many buckets there are
} Logs;

typedef struct Ref { // a part of a log
    const Log *log;
    int begin, end;
    bool narrow;
} Ref;

typedef struct Refs { // what several know, who have learned one thing after the other: each the first ones of it
    int used, space;
    Ref refs[];
} Refs;

typedef struct Known {
    int count;
    Refs *list;
} Known;

enum { BUCKETS = 4096 };

struct LaunchCheck {
    uint32_t run;
    Arena arena; // of logs, entries and what is known
    Lock lock;
    Object *objects; // in shared memory: what lies in each of its lines, at most one
    Logs logs;
    _Atomic uint32_t told[BUCKETS];   // of the blocks that fall there: the latest time at which one told something,
    _Atomic uint32_t fenced[BUCKETS]; // or executed a fence for the device
};

typedef struct ThreadClock {
    uint32_t floor, fence, block_fence; // fence: when it last executed one, for the device; for the block
    const Known *known;
    const Known *wide;    // of this, what it tells other blocks: not what it has learned for its block since its last
                          // fence for the device
    const Known *pending; // what it has read, with no fence for the device since,
    const Known *unasked; // and what an operation read that releases only: for this a barrier is no fence
} ThreadClock;

struct BlockCheck {
    uint32_t time, run, first_run;
    uint32_t together[MAX_WARPS];
    ThreadClock threads[MAX_WARPS][LANES];
    uint32_t least_floor[MAX_WARPS];
    uint32_t (*rows)[LANES][LANES];
    const Entry *(*heard)[2]; // by each thread of each warp: what told it lately of this warp, and of copies that this
                              // warp began
    uint64_t raced[INDEX]; // pairs of instructions between which there has been a race: no search for order is needed
                           // again
    struct { uint32_t block, time, lanes, warp; } writers[INDEX]; // that have told the block, and when they did last
    bool hears_writers;
    bool talks;          // some thread has a fence behind it, or knows of logs
    bool hears;          // heard holds something
    Logs logs;           // of shared memory and barriers
};

static ThreadClock *clock_of(const Warp *w, int lane)
{
    return &w->block->check->threads[w->number][lane];
}

// ---- Launches and blocks

static void add_object(LaunchCheck *check, uint64_t address, size_t bytes, const Variable *v)
{
    for (uint64_t line = address / LINE_BYTES; bytes && line <= (address + bytes - 1) / LINE_BYTES; line++)
        check->objects[line] = (Object){address, bytes, v};
}

const Object *sim_object_at(const Launch *launch, uint64_t address)
{
    return &launch->check->objects[address / LINE_BYTES];
}

LaunchCheck *sim_start_launch_check(const Launch *launch)
{
    static atomic_uint runs;
    if (!sim_checks())
        return NULL;
    LaunchCheck *check = calloc(1, sizeof *check);
    if (!check)
        sim_die("out of memory for the checker's state of a launch");
    check->run = ++runs;
    check->objects = sim_allocate(&check->arena, (launch->shared_bytes / LINE_BYTES + 1) * sizeof *check->objects);
    for (const Variable *v = launch->module->shared; v; v = v->next_shared)
        if (sim_uses_shared(launch->kernel, v))
            add_object(check, v->address, v->bytes, v);
    if (launch->dynamic_bytes)
        add_object(check, launch->dynamic_shared, launch->dynamic_bytes, NULL);
    if (launch->module->uses_reserved_shared)
        add_object(check, launch->reserved_shared, launch->shared_bytes - launch->reserved_shared, NULL);
    return check;
}

void sim_free_launch_check(LaunchCheck *check)
{
    if (check)
        sim_free_arena(&check->arena);
    free(check);
}

void sim_end_launch_check(Launch *launch)
{
    LaunchCheck *check = launch->check;
    Grid *g = launch->family_grid;
    if (!check)
        return;
    if (g && (g->first || g->first_tail)) // its children ask what was known when they were launched
        g->check = check;
    else
        sim_free_launch_check(check);
    if (launch->error != cudaSuccess && !launch->fault.awaits_host)
        sim_add_fault(launch);
    sim_say_findings();
}

uint32_t sim_launch_run(const Launch *launch)
{
    return launch->check->run;
}

BlockCheck *sim_new_block_check(const Launch *launch, int warps)
{
    if (!launch->check)
        return NULL;
    BlockCheck *check = calloc(1, sizeof *check);
    if (check)
        check->rows = calloc((size_t)warps, sizeof *check->rows);
    if (check)
        check->heard = calloc((size_t)warps * LANES * (size_t)warps, sizeof *check->heard);
    if (!check || !check->rows || !check->heard)
        sim_die("out of memory for the checker's state of a block");
    return check;
}

void sim_free_block_check(BlockCheck *check)
{
    if (check) {
        free(check->rows);
        free(check->heard);
    }
    free(check);
}

void sim_start_block_check(Block *b)
{
    BlockCheck *check = b->check;
    check->first_run = ++check->run;
    if (check->hears)
        memset(check->heard, 0, (size_t)(b->warp_count * LANES * b->warp_count) * sizeof *check->heard);
    if (check->hears_writers)
        memset(check->writers, 0, sizeof check->writers);
    check->talks = check->hears = check->hears_writers = false;
    check->logs = (Logs){.count = 0};
    for (int n = 0; n < b->warp_count; n++) {
        for (int l = 0; l < LANES; l++)
            check->threads[n][l] = (ThreadClock){.floor = check->time};
        check->least_floor[n] = check->together[n] = check->time;
    }
    check->time++;
    sim_start_engine_check(b);
    sim_start_visits(b);
}

uint32_t sim_block_barrier(const Warp *w)
{
    return w->block->check->least_floor[w->number];
}

uint32_t sim_warp_barrier(const Warp *w)
{
    const uint32_t floor = sim_block_barrier(w), together = w->block->check->together[w->number];
    return together > floor ? together : floor;
}

uint32_t sim_time(const Block *b)
{
    return b->check->time;
}

void sim_advance_time(Block *b)
{
    b->check->time++;
}

uint32_t sim_block_run(const Block *b)
{
    return b->check->run;
}

uint32_t sim_first_run(const Block *b)
{
    return b->check->first_run;
}

// ---- What is known through logs

static void *allocate(const Block *b, size_t bytes)
{
    LaunchCheck *check = b->launch->check;
    sim_lock(&check->lock);
    void *memory = sim_allocate(&check->arena, bytes);
    sim_unlock(&check->lock);
    return memory;
}

static bool refers(const Known *known, const Ref *ref)
{
    for (int k = 0; known && k < known->count; k++) {
        const Ref *r = &known->list->refs[k];
        if (r->log == ref->log && r->begin <= ref->begin && r->end >= ref->end && r->narrow <= ref->narrow)
            return true;
    }
    return false;
}

static bool covers(const Ref *ref, const Ref *earlier, bool narrow)
{
    return ref->log == earlier->log && ref->begin <= earlier->begin && ref->end >= earlier->end &&
           (ref->narrow | narrow) <= earlier->narrow;
}

// A copy with room for more, and without what newer parts of the same logs cover.
static Refs *copy_refs(const Block *b, const Known *one, const Known *two, bool narrow, int fresh)
{
    const int old = one ? one->count : 0, space = old + fresh + old / 4;
    Refs *copy = allocate(b, sizeof *copy + (size_t)space * sizeof *copy->refs);
    copy->space = space;
    for (int k = 0; k < old; k++) {
        const Ref *ref = &one->list->refs[k];
        bool covered = false;
        for (int n = k + 1; n < old && !covered; n++)
            covered = covers(&one->list->refs[n], ref, false);
        for (int n = 0; n < two->count && !covered; n++)
            covered = covers(&two->list->refs[n], ref, narrow);
        if (!covered)
            copy->refs[copy->used++] = *ref;
    }
    return copy;
}

// Both together, perhaps one of the two itself: what is known never changes once it is made. narrow: what the second
// tells is for the block only. One who learns more goes on in the list of what he knew, if he is the first to.
static const Known *joined(const Block *b, const Known *one, const Known *two, bool narrow)
{
    int fresh = 0;
    if (!narrow && (!one || one == two))
        return two;
    for (int k = 0; two && k < two->count; k++) {
        Ref ref = two->list->refs[k];
        ref.narrow |= narrow;
        fresh += !refers(one, &ref);
    }
    if (fresh == 0)
        return one;
    Refs *list = one ? one->list : NULL;
    if (!list || list->used != one->count || list->used + fresh > list->space)
        list = copy_refs(b, one, two, narrow, fresh);
    for (int k = 0; k < two->count; k++) {
        Ref ref = two->list->refs[k];
        ref.narrow |= narrow;
        if (!refers(one, &ref))
            list->refs[list->used++] = ref;
    }
    Known *both = allocate(b, sizeof *both);
    *both = (Known){list->used, list};
    return both;
}

static Log **bucket_of(const Logs *logs, uint64_t key)
{
    return &logs->buckets[(key * 0x9e3779b97f4a7c15) >> (64 - logs->bits)];
}

static void link_log(Logs *logs, Log *log)
{
    log->next = *bucket_of(logs, log->key);
    *bucket_of(logs, log->key) = log;
    logs->count++;
}

// Twice as many as there were, with the logs that somebody may still find.
static void make_buckets(const Block *b, Logs *logs)
{
    const Logs old = *logs;
    *logs = (Logs){.bits = old.buckets ? old.bits + 1 : FEW_BITS};
    logs->buckets = allocate(b, sizeof *logs->buckets << logs->bits);
    for (uint32_t k = 0; old.buckets && k < 1u << old.bits; k++)
        for (Log *log = old.buckets[k], *next; log; log = next) {
            next = log->next;
            if (log->key != RETIRED)
                link_log(logs, log);
        }
}

static Log *find_log(const Block *b, uint64_t key, bool global, bool make)
{
    Logs *logs = global ? &b->launch->check->logs : &b->check->logs;
    for (Log *log = logs->count ? *bucket_of(logs, key) : NULL; log; log = log->next)
        if (log->key == key)
            return log;
    if (!make)
        return NULL;
    if (!logs->buckets || logs->count == 1u << logs->bits)
        make_buckets(b, logs);
    Log *log = allocate(b, sizeof *log);
    log->key = key;
    link_log(logs, log);
    return log;
}

// Who asks for the key from now on finds another one.
static void retire(Log *log)
{
    log->key = RETIRED;
}

// The last entry of a block, or one of a block that fell to the same place of the index.
static int last_of(const Log *log, uint32_t block)
{
    return log->index ? log->index[block % INDEX] : log->count - 1;
}

// Blocks that run side by side may fall to the same place.
static void raise_to(_Atomic uint32_t *most, uint32_t value)
{
    uint32_t before = *most;
    while (before < value && !atomic_compare_exchange_weak(most, &before, value))
        ;
}

static void append(Block *b, Log *log, Entry *e)
{
    if (log->count == log->space) {
        const int space = log->space ? 2 * log->space : 1;
        Entry **more = allocate(b, (size_t)space * sizeof *more);
        if (log->count)
            memcpy(more, log->entries, (size_t)log->count * sizeof *more);
        log->entries = more;
        log->space = space;
    }
    if (log->count == 1) {
        log->index = allocate(b, INDEX * sizeof *log->index);
        for (int k = 0; k < INDEX; k++)
            log->index[k] = NO_ENTRY;
        log->index[log->entries[0]->block % INDEX] = 0;
    }
    raise_to(&b->launch->check->told[e->block % BUCKETS], e->now);
    e->before = last_of(log, e->block);
    if (log->index)
        log->index[e->block % INDEX] = log->count;
    log->entries[log->count++] = e;
}

enum { MOST_LOGS = 64 };

typedef struct Seen {
    Ref ref;
    uint32_t reader;
} Seen;

typedef struct Search {
    const Epoch *epoch;
    uint32_t lanes; // of it, that have not been found
    bool itself;    // it is the strong write that tells what its lane did
    int steps, logs;
    const Entry *told;   // the last entry that told of some
    Seen *seen;          // parts of logs that need no second look
} Search;

// Whether the search comes to a part of a log, as a block knows it, for the first time.
static bool is_new(Search *s, const Ref *ref, uint32_t reader)
{
    for (int k = 0; k < s->logs; k++) {
        const Ref *seen = &s->seen[k].ref;
        if (seen->log == ref->log && seen->begin <= ref->begin && seen->end >= ref->end &&
            seen->narrow <= ref->narrow && s->seen[k].reader == reader)
            return false;
    }
    if (s->logs < MOST_LOGS)
        s->seen[s->logs++] = (Seen){*ref, reader};
    return true;
}

// Whether the scopes of both sides hold an entry's writer and who has read it.
static bool reaches(const Entry *e, const Ref *ref, uint32_t reader)
{
    return e->block == reader || !(e->narrow || ref->narrow);
}

static uint32_t lanes_told(const Entry *e, const Search *s, uint32_t reader)
{
    const Epoch *epoch = s->epoch;
    uint32_t told = 0;
    if (e->block != epoch->block || e->copy != (epoch->kind == COPY_UNDER_WAY))
        return 0;
    if (epoch->time <= e->floor && !e->copy)
        return s->lanes;
    for (uint32_t rest = e->warp == epoch->warp ? s->lanes : 0; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        const uint32_t until = l != e->lane ? e->times[l] : s->itself && e->site == epoch->site ? e->now
                             : reader != e->block ? e->wide_time : e->times[l];
        if (epoch->time <= until)
            told |= rest & -rest;
    }
    return told;
}

// What an entry tells a thread of this block.
static void hear(Search *s, const Entry *e, uint32_t reader)
{
    const uint32_t told = lanes_told(e, s, reader);
    s->lanes &= ~told;
    s->told = told ? e : s->told;
}

// Looks for the epoch's lanes in what a thread of this block knows. Gives up, as if it had found them, after many
// steps.
static void search(Search *s, const Known *known, uint32_t reader)
{
    for (int k = known ? known->count : 0; k-- > 0 && s->lanes;) {
        const Ref *ref = &known->list->refs[k];
        for (int n = last_of(ref->log, s->epoch->block); n != NO_ENTRY && s->lanes; n = ref->log->entries[n]->before) {
            const Entry *e = ref->log->entries[n];
            if (++s->steps > SEARCH)
                s->lanes = 0;
            if (e->block == s->epoch->block && e->now < s->epoch->time)
                break; // it and those before it were written too early
            if (n >= ref->begin && n < ref->end && reaches(e, ref, reader))
                hear(s, e, reader);
        }
    }
    for (int k = known ? known->count : 0; k-- > 0 && s->lanes;) {
        const Ref *ref = &known->list->refs[k];
        for (int n = is_new(s, ref, reader) ? ref->end : 0; n-- > ref->begin && s->lanes;) {
            const Entry *e = ref->log->entries[n];
            const Known *told = e->block == reader ? e->known : e->wide;
            if (++s->steps > SEARCH)
                s->lanes = 0;
            else if (reaches(e, ref, reader) && (told != known || e->block != reader))
                search(s, told, e->block);
        }
    }
}

// ---- Questions

bool sim_warp_knows(const Warp *w, const Epoch *e)
{
    const BlockCheck *check = w->block->check;
    return e->block == (uint32_t)w->block->number && !is_under_way(e) &&
           (e->time <= check->least_floor[w->number] ||
            (e->warp == (unsigned)w->number && e->time <= check->together[w->number]));
}

bool sim_has_fenced(const Warp *w, const Epoch *e)
{
    const Block *b = w->block;
    if (e->block != (uint32_t)b->number)
        return e->time <= b->launch->check->fenced[e->block % BUCKETS];
    const ThreadClock *t = &b->check->threads[e->warp][__builtin_ctz(e->lanes)];
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
    BlockCheck *check = w->block->check;
    const uint32_t n = (e->block * 31 + e->warp) % INDEX;
    const bool known = check->writers[n].block == e->block && check->writers[n].warp == e->warp;
    const uint32_t lanes = known ? check->writers[n].lanes : 0, time = lanes ? check->writers[n].time : 0;
    check->writers[n].block = e->block;
    check->writers[n].warp = e->warp;
    check->writers[n].lanes = lanes | e->lanes;
    check->writers[n].time = e->time > time ? e->time : time;
    check->hears_writers = true;
}

bool sim_has_heard_since(const Warp *w, const Epoch *e)
{
    const BlockCheck *check = w->block->check;
    const uint32_t n = (e->block * 31 + e->warp) % INDEX;
    return check->writers[n].block == e->block && check->writers[n].warp == e->warp &&
           check->writers[n].lanes & e->lanes && check->writers[n].time >= e->time;
}

bool sim_knows_others(const Warp *w, int lane)
{
    return clock_of(w, lane)->known != NULL;
}

bool sim_has_awaited(const Warp *w, const Epoch *e)
{
    const Instr *i = sim_instruction_at(e->site);
    return i->loop & AWAITED || !shows_use(w, i) || (i->loop & DECIDES && sim_has_fenced(w, e));
}

// Whether one of the block's threads may have told what it knew at the epoch's time, or later.
static bool was_told(const Launch *launch, const Epoch *e)
{
    return e->time <= launch->check->told[e->block % BUCKETS];
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
    b->check->raced[pair % (INDEX - 1)] = pair; // modulo an odd number, both halves count
}

static bool has_raced(const Block *b, uint32_t site, uint32_t other)
{
    const uint64_t pair = pair_of(site, other);
    return b->check->raced[pair % (INDEX - 1)] == pair;
}

static const Entry **heard_by(const Warp *w, int lane, const Epoch *e)
{
    const size_t thread = (size_t)(w->number * LANES + lane);
    return &w->block->check->heard[thread * (size_t)w->block->warp_count + e->warp][e->kind == COPY_UNDER_WAY];
}

bool sim_happened_before(Warp *w, const Instr *i, int lane, const Epoch *e)
{
    const BlockCheck *check = w->block->check;
    const ThreadClock *thread = clock_of(w, lane);
    uint32_t lanes = e->lanes;
    if (e->kind == SOURCE_UNDER_WAY)
        return false;
    if (e->kind != COPY_UNDER_WAY && e->block == (uint32_t)w->block->number) {
        if (e->time <= thread->floor)
            return true;
        if (e->warp == (unsigned)w->number) {
            lanes &= ~(1u << lane);
            if (lanes == 0 || e->time <= check->together[w->number])
                return true;
            for (uint32_t rest = lanes; rest; rest &= rest - 1)
                if (e->time <= check->rows[w->number][lane][__builtin_ctz(rest)])
                    lanes &= ~(rest & -rest);
            if (lanes == 0)
                return true;
        }
    }
    if (!thread->known)
        return false;
    Seen seen[MOST_LOGS];
    Search s = {.epoch = e, .lanes = lanes, .seen = seen};
    const uint32_t reader = (uint32_t)w->block->number;
    // Of two volatile writes one is lost, unless the second's thread knows that the first was seen.
    s.itself = e->kind == STRONG_WRITE && i->kind == STORE && i->semantics == VOLATILE;
    // What has told of a thread's own block once, tells of it again.
    const Entry **heard = e->block == reader && !s.itself ? heard_by(w, lane, e) : NULL;
    if (heard && *heard)
        hear(&s, *heard, reader);
    if (s.lanes && was_told(w->block->launch, e) && !has_raced(w->block, e->site, i->site)) {
        search(&s, thread->known, reader);
        if (heard && s.told) {
            *heard = s.told;
            w->block->check->hears = true;
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

bool sim_block_knows(const Block *b, const Epoch *e)
{
    const Known *asked = NULL;
    Seen seen[MOST_LOGS];
    Search s = {.epoch = e, .lanes = e->lanes, .seen = seen, .itself = true};
    for (uint32_t thread = 0; thread < b->threads && s.lanes; thread++) {
        const ThreadClock *t = &b->check->threads[thread / LANES][thread % LANES];
        const Known *const all[] = {t->known, t->pending, t->unasked};
        for (int n = t->known == asked ? 1 : 0; n < 3 && s.lanes; n++)
            search(&s, all[n], (uint32_t)b->number);
        asked = t->known;
    }
    return s.lanes == 0;
}

// ---- What a thread knows when it launches a kernel

struct Knower {
    uint32_t block, warp, lane, time, floor, together, row[LANES];
    const Known *known, *pending, *unasked;
};

const Knower *sim_remember(Arena *arena, Warp *w, int lane)
{
    BlockCheck *check = w->block->check;
    const ThreadClock *t = clock_of(w, lane);
    Knower *k = sim_allocate(arena, sizeof *k);
    *k = (Knower){.block = (uint32_t)w->block->number, .warp = (uint32_t)w->number, .lane = (uint32_t)lane,
                  .time = check->time++, .floor = t->floor, .together = check->together[w->number],
                  .known = t->known, .pending = t->pending, .unasked = t->unasked};
    memcpy(k->row, check->rows[w->number][lane], sizeof k->row);
    return k;
}

bool sim_remembers(const Knower *k, const Epoch *e)
{
    uint32_t lanes = e->lanes;
    if (e->block == k->block && e->time <= k->floor)
        return true;
    if (e->block == k->block && e->warp == k->warp) {
        lanes &= e->time <= k->together ? 0 : e->time <= k->time ? ~(1u << k->lane) : ALL_LANES;
        for (uint32_t rest = lanes; rest; rest &= rest - 1)
            if (e->time <= k->row[__builtin_ctz(rest)])
                lanes &= ~(rest & -rest);
    }
    const Known *const all[] = {k->known, k->pending, k->unasked};
    Seen seen[MOST_LOGS];
    for (int n = 0; n < 3 && lanes; n++) {
        Search s = {.epoch = e, .lanes = lanes, .seen = seen};
        search(&s, all[n], k->block);
        lanes = s.lanes;
    }
    return lanes == 0;
}

// ---- Barriers

// The thread knows more; narrow: of its block only, and for its block only.
static void take(const Block *b, ThreadClock *t, const Known *more, bool narrow)
{
    const bool alike = t->wide == t->known;
    t->known = joined(b, t->known, more, narrow);
    if (!narrow)
        t->wide = alike ? t->known : joined(b, t->wide, more, false);
}

// At a barrier one thread tells another what it knows.
static void add_known(const Block *b, ThreadClock *all, const ThreadClock *t)
{
    const bool alike = t->wide == t->known && all->wide == all->known;
    if (t->known != all->known)
        all->known = joined(b, all->known, t->known, false);
    if (t->wide != all->wide)
        all->wide = alike ? all->known : joined(b, all->wide, t->wide, false);
}

void sim_order_block(Block *b)
{
    BlockCheck *check = b->check;
    ThreadClock all = {.known = NULL};
    for (int n = 0; n < b->warp_count && check->talks; n++)
        for (int l = 0; l < LANES; l++) {
            ThreadClock *t = &check->threads[n][l];
            take(b, t, t->pending, false);
            t->pending = NULL;
            add_known(b, &all, t);
        }
    for (int n = 0; n < b->warp_count; n++) {
        for (int l = 0; l < LANES; l++) {
            check->threads[n][l].floor = check->time;
            check->threads[n][l].known = all.known;
            check->threads[n][l].wide = all.wide;
        }
        check->least_floor[n] = check->time;
    }
    check->time++;
    check->run += b->launch->cluster_blocks == 1;
}

void sim_order_lanes(Warp *w, uint32_t mask)
{
    Block *b = w->block;
    BlockCheck *check = b->check;
    ThreadClock *threads = check->threads[w->number];
    uint32_t(*rows)[LANES] = check->rows[w->number], floor = 0;
    ThreadClock all = {.known = NULL};
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const ThreadClock *t = &threads[__builtin_ctz(rest)];
        floor = t->floor > floor ? t->floor : floor;
        if (check->talks)
            add_known(b, &all, t);
    }
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        ThreadClock *t = &threads[__builtin_ctz(rest)];
        t->floor = floor;
        t->known = all.known;
        t->wide = all.wide;
    }
    check->least_floor[w->number] = UINT32_MAX;
    for (int l = 0; l < LANES; l++)
        if (w->live >> l & 1 && threads[l].floor < check->least_floor[w->number])
            check->least_floor[w->number] = threads[l].floor;
    if (mask == w->live) {
        check->together[w->number] = check->time++;
        return;
    }
    uint32_t most[LANES];
    memset(most, 0, sizeof most);
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        for (int m = 0; m < LANES; m++)
            most[m] = rows[__builtin_ctz(rest)][m] > most[m] ? rows[__builtin_ctz(rest)][m] : most[m];
    for (int m = 0; m < LANES; m++)
        most[m] = mask >> m & 1 ? check->time : most[m];
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        memcpy(rows[__builtin_ctz(rest)], most, sizeof most);
    check->time++;
}

// ---- Logs

// What the lanes know; of what they did themselves, until `until`, and for other blocks the first of them until
// `wide_until`.
static Entry *entry_of(Warp *w, uint32_t mask, uint32_t until, uint32_t wide_until)
{
    Block *b = w->block;
    const BlockCheck *check = b->check;
    uint32_t times[LANES];
    for (int m = 0; m < LANES; m++)
        times[m] = check->together[w->number];
    ThreadClock all = {.known = NULL};
    Entry *e = allocate(b, sizeof *e);
    e->block = (uint32_t)b->number;
    e->warp = (uint32_t)w->number;
    e->now = check->time;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        const ThreadClock *t = clock_of(w, l);
        const uint32_t *row = check->rows[w->number][l];
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
    return find_log(own ? w->block : w->block->cluster[0], key, false, make);
}

void sim_arrive_at_log(Warp *w, uint32_t mask, uint64_t key)
{
    BlockCheck *check = w->block->check;
    check->talks = true;
    append(w->block, log_of_block(w, key, true), entry_of(w, mask, check->time, check->time));
    check->time++;
}

// A copy that the lane has begun now will have come for those who ask at this mbarrier.
void sim_order_copy(Warp *w, int lane, uint64_t key)
{
    BlockCheck *check = w->block->check;
    Entry *e = allocate(w->block, sizeof *e);
    *e = (Entry){.block = (uint32_t)w->block->number, .warp = (uint32_t)w->number, .now = check->time, .copy = true};
    e->times[lane] = check->time++;
    check->talks = true;
    append(w->block, log_of_block(w, key, true), e);
}

// All that stands in a log by now, or what it tells the block; NULL if that is known.
static const Known *all_of(const Block *b, const Log *log, const Known *known, bool narrow)
{
    const Ref all = {log, 0, log ? log->count : 0, narrow};
    if (all.end == 0 || refers(known, &all))
        return NULL;
    Refs *list = allocate(b, sizeof *list + sizeof all);
    list->refs[list->used++] = all;
    list->space = 1;
    Known *one = allocate(b, sizeof *one);
    *one = (Known){1, list};
    return one;
}

static void learn(const Block *b, const Known **known, const Log *log)
{
    *known = joined(b, *known, all_of(b, log, *known, false), false);
}

void sim_acquire_log(Warp *w, uint32_t mask, uint64_t key)
{
    const Log *log = log_of_block(w, key, false);
    w->block->check->talks = true;
    ThreadClock before = {.known = NULL}, after = {.known = NULL}; // of the lane before: most know the same
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        ThreadClock *t = clock_of(w, __builtin_ctz(rest));
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
    b->check->talks = true;
    if (b->launch->family_grid && !narrow)
        b->launch->family_grid->fences = true;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        ThreadClock *t = clock_of(w, __builtin_ctz(rest));
        *(narrow ? &t->block_fence : &t->fence) = b->check->time;
        if (!narrow)
            raise_to(&b->launch->check->fenced[b->number % BUCKETS], b->check->time);
        take(b, t, t->pending, narrow);
        take(b, t, t->unasked, narrow);
        if (!narrow) {
            t->wide = t->known;
            t->pending = t->unasked = NULL;
        }
    }
    b->check->time++;
}

static void tell(Warp *w, const Instr *i, int lane, Log *log)
{
    BlockCheck *check = w->block->check;
    const ThreadClock *t = clock_of(w, lane);
    const bool releases = i->semantics == RELEASE || i->semantics == ACQUIRE_RELEASE;
    const bool narrow = releases ? i->scope == BLOCK_SCOPE : t->fence == 0;
    const uint32_t fence = t->fence > t->block_fence ? t->fence : t->block_fence;
    const uint32_t until = releases ? check->time : fence, wide_until = releases ? check->time : t->fence;
    const Entry *last = log->count ? log->entries[log->count - 1] : NULL;
    if (last && last->now == check->time && last->block == (uint32_t)w->block->number &&
        last->warp == (uint32_t)w->number && last->site == i->site && last->times[lane] >= until && last->narrow <= narrow &&
        (last->lane != lane || last->wide_time >= wide_until) && last->known == t->known && last->wide == t->wide)
        return; // it has told as much
    Entry *e = entry_of(w, 1u << lane, until, wide_until);
    e->site = i->site;
    e->narrow = narrow;
    if (releases)
        e->wide = e->known;
    append(w->block, log, e);
    if (releases)
        check->time++;
}

// Whether a plain store leaves to those who read it what stands in the log already: its thread knows that, or stored
// there last, or another lane did in the same execution. An atomic update does in any case.
static bool carries_on(const Warp *w, const Instr *i, int lane, const Log *log)
{
    const int until = log->stored ? log->stored : 1;
    const Entry *last = log->count ? log->entries[until - 1] : NULL;
    const bool own_warp = last && last->block == (uint32_t)w->block->number && last->warp == (uint32_t)w->number;
    const bool together = own_warp && last->site == i->site && last->now == w->block->check->time;
    return !last || together || (own_warp && last->lane == lane) ||
           refers(clock_of(w, lane)->known, &(Ref){log, 0, until, true});
}

void sim_order_by_access(Warp *w, const Instr *i, int lane, bool shared, uint64_t key, EpochKind kind)
{
    Block *b = w->block;
    ThreadClock *t = clock_of(w, lane);
    const bool releases = i->semantics == RELEASE || i->semantics == ACQUIRE_RELEASE,
               acquires = i->semantics == ACQUIRE || i->semantics == ACQUIRE_RELEASE, writes = kind != STRONG_READ;
    const bool tells = writes && (releases || t->fence || t->block_fence);
    Log *log = shared ? log_of_block(w, key, tells) : find_log(b, key, true, tells);
    if (!log)
        return;
    b->check->talks = true;
    const bool narrow = i->scope == BLOCK_SCOPE;
    if (kind != STRONG_WRITE && acquires)
        take(b, t, all_of(b, log, narrow ? t->known : t->wide, narrow), narrow);
    else if (kind != STRONG_WRITE)
        learn(b, i->semantics == RELEASE ? &t->unasked : &t->pending, log);
    if (kind == STRONG_WRITE && !(tells && carries_on(w, i, lane, log))) { // who reads it learns of nobody before
        retire(log);
        log = tells ? shared ? log_of_block(w, key, true) : find_log(b, key, true, true) : NULL;
    }
    if (tells)
        tell(w, i, lane, log);
    if (tells && kind == STRONG_WRITE)
        log->stored = log->count;
}
