// logs.c: what threads tell each other through places in memory and barriers that count: logs of entries, what is known of
// them, and the search for an access in what is known.
#include "checker/clocks.h"

#include <stdlib.h>
#include <string.h>

void *sim_allocate_for_clocks(const Block *b, size_t bytes)
{
    LaunchClocks *clocks = b->launch->clocks;
    sim_lock(&clocks->lock);
    void *memory = sim_allocate(&clocks->arena, bytes);
    sim_unlock(&clocks->lock);
    return memory;
}

// Whether one part of a log tells all that another one of it does.
static bool covers(const Ref *ref, const Ref *other)
{
    return ref->log == other->log && ref->begin <= other->begin && ref->end >= other->end && ref->narrow <= other->narrow;
}

bool sim_refers(const Known *known, const Ref *ref)
{
    const int count = known ? known->count : 0, guess = ref->log->found;
    if (guess < count && covers(&known->list->refs[guess], ref)) // who asks for many flags in turn knows each at the same place
        return true;
    for (int k = count; k-- > 0;) // who asks again knew it last
        if (covers(&known->list->refs[k], ref)) {
            ref->log->found = k;
            return true;
        }
    return false;
}

// Whether a part that is known is covered by one that is to be added: who knows as much already adds nothing.
static bool is_covered(const Known *one, const Known *two, bool narrow, const Ref *ref)
{
    for (int n = 0; n < two->count; n++) {
        Ref fresh = two->list->refs[n];
        fresh.narrow |= narrow;
        if (covers(&fresh, ref) && !sim_refers(one, &fresh))
            return true;
    }
    return false;
}

// A copy with room for more, and without what newer parts of the same logs cover. The room is for what remains: whoever
// looks at one flag again and again has a short list.
static Refs *copy_refs(const Block *b, const Known *one, const Known *two, bool narrow, int fresh)
{
    enum { SPARE = 4 };
    const int old = one ? one->count : 0;
    Refs *copy = sim_allocate_for_clocks(b, sizeof *copy + (size_t)(old + fresh + old / 4 + SPARE) * sizeof *copy->refs);
    for (int k = 0; k < old; k++) {
        const Ref *ref = &one->list->refs[k];
        bool covered = is_covered(one, two, narrow, ref);
        for (int n = k + 1; n < old && !covered; n++)
            covered = covers(&one->list->refs[n], ref);
        if (!covered)
            copy->refs[copy->used++] = *ref;
    }
    copy->space = copy->used + fresh + copy->used / 4 + SPARE;
    return copy;
}

// Both together, perhaps one of the two itself: what is known never changes once it is made. narrow: what the second
// tells is for the block only. One who learns more goes on in the list of what he knew, if he is the first to.
const Known *sim_joined(const Block *b, const Known *one, const Known *two, bool narrow)
{
    int fresh = 0;
    if (!narrow && (!one || one == two))
        return two;
    for (int k = 0; two && k < two->count; k++) {
        Ref ref = two->list->refs[k];
        ref.narrow |= narrow;
        fresh += !sim_refers(one, &ref);
    }
    if (fresh == 0)
        return one;
    Refs *list = one ? one->list : NULL;
    if (!list || list->used != one->count || list->used + fresh > list->space)
        list = copy_refs(b, one, two, narrow, fresh);
    for (int k = 0; k < two->count; k++) {
        Ref ref = two->list->refs[k];
        ref.narrow |= narrow;
        if (!sim_refers(one, &ref))
            list->refs[list->used++] = ref;
    }
    Known *both = sim_allocate_for_clocks(b, sizeof *both);
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

// Twice as many as there were.
static void make_buckets(const Block *b, Logs *logs)
{
    const Logs old = *logs;
    *logs = (Logs){.bits = old.buckets ? old.bits + 1 : FEW_BITS};
    logs->buckets = sim_allocate_for_clocks(b, sizeof *logs->buckets << logs->bits);
    for (uint32_t k = 0; old.buckets && k < 1u << old.bits; k++)
        for (Log *log = old.buckets[k], *next; log; log = next) {
            next = log->next;
            link_log(logs, log);
        }
}

static Logs *logs_of(const Block *b, bool global)
{
    return global ? &b->launch->clocks->logs : &b->clocks->logs;
}

Log *sim_find_log(const Block *b, uint64_t key, bool global, bool make)
{
    Logs *logs = logs_of(b, global);
    for (Log *log = logs->count ? *bucket_of(logs, key) : NULL; log; log = log->next)
        if (log->key == key)
            return log;
    if (!make)
        return NULL;
    if (!logs->buckets || logs->count == 1u << logs->bits)
        make_buckets(b, logs);
    Log *log = sim_allocate_for_clocks(b, sizeof *log);
    log->key = key;
    link_log(logs, log);
    return log;
}

void sim_retire_log(const Block *b, Log *log, bool global)
{
    Logs *logs = logs_of(b, global);
    Log **link = bucket_of(logs, log->key);
    while (*link != log)
        link = &(*link)->next;
    *link = log->next;
    logs->count--;
}

// The last entry of a block, or one of a block that fell to the same place of the index.
static int last_of(const Log *log, uint32_t block)
{
    return log->index ? log->index[block % INDEX] : log->count - 1;
}

// Blocks that run side by side may fall to the same place.
void sim_raise_to(_Atomic uint32_t *most, uint32_t value)
{
    uint32_t before = *most;
    while (before < value && !atomic_compare_exchange_weak(most, &before, value))
        ;
}

void sim_append_entry(Block *b, Log *log, Entry *e)
{
    if (log->count == log->space) {
        const int space = log->space ? 2 * log->space : 1;
        Entry **more = sim_allocate_for_clocks(b, (size_t)space * sizeof *more);
        if (log->count)
            memcpy(more, log->entries, (size_t)log->count * sizeof *more);
        log->entries = more;
        log->space = space;
    }
    if (log->count == 1) {
        log->index = sim_allocate_for_clocks(b, INDEX * sizeof *log->index);
        for (int k = 0; k < INDEX; k++)
            log->index[k] = NO_ENTRY;
        log->index[log->entries[0]->block % INDEX] = 0;
    }
    sim_raise_to(&b->launch->clocks->told[e->block % BUCKETS], e->now);
    e->before = last_of(log, e->block);
    if (log->index)
        log->index[e->block % INDEX] = log->count;
    log->entries[log->count++] = e;
}

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
void sim_hear_entry(Search *s, const Entry *e, uint32_t reader)
{
    const uint32_t told = s->reads || !e->weak ? lanes_told(e, s, reader) : 0;
    s->lanes &= ~told;
    s->told = told ? e : s->told;
}

// Looks for the epoch's lanes in what a thread of this block knows. Gives up, as if it had found them, after many
// steps.
void sim_search_known(Search *s, const Known *known, uint32_t reader)
{
    for (int k = known ? known->count : 0; k-- > 0 && s->lanes;) {
        const Ref *ref = &known->list->refs[k];
        for (int n = last_of(ref->log, s->epoch->block); n != NO_ENTRY && s->lanes; n = ref->log->entries[n]->before) {
            const Entry *e = ref->log->entries[n];
            if (e->block == s->epoch->block && e->now < s->epoch->time)
                break; // it and those before it were written too early
            if (e->weak && !s->reads)
                continue;
            if (++s->steps > SEARCH)
                s->lanes = 0;
            if (n >= ref->begin && n < ref->end && reaches(e, ref, reader))
                sim_hear_entry(s, e, reader);
        }
    }
    for (int k = known ? known->count : 0; k-- > 0 && s->lanes;) {
        const Ref *ref = &known->list->refs[k];
        for (int n = is_new(s, ref, reader) ? ref->end : 0; n-- > ref->begin && s->lanes;) {
            const Entry *e = ref->log->entries[n];
            const Known *told = e->block == reader ? e->known : e->wide;
            if (e->weak && !s->reads)
                continue;
            if (++s->steps > SEARCH)
                s->lanes = 0;
            else if (reaches(e, ref, reader) && (told != known || e->block != reader))
                sim_search_known(s, told, e->block);
        }
    }
}
