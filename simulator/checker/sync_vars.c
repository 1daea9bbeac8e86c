// sync_vars.c: what threads tell each other through places in memory and barriers that count: logs of entries, what is known of
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
static bool covers(const ReleaseRange *ref, const ReleaseRange *other)
{
    return ref->var == other->var && ref->begin <= other->begin && ref->end >= other->end && ref->cta_scope <= other->cta_scope;
}

bool sim_history_covers(const CausalHistory *history, const ReleaseRange *ref)
{
    const int count = history ? history->count : 0, guess = ref->var->found;
    if (guess < count && covers(&history->list->refs[guess], ref)) // who asks for many flags in turn knows each at the same place
        return true;
    for (int k = count; k-- > 0;) // who asks again knew it last
        if (covers(&history->list->refs[k], ref)) {
            ref->var->found = k;
            return true;
        }
    return false;
}

// Whether a part that is known is covered by one that is to be added: who knows as much already adds nothing.
static bool is_covered(const CausalHistory *one, const CausalHistory *two, bool cta_scope, const ReleaseRange *ref)
{
    for (int n = 0; n < two->count; n++) {
        ReleaseRange fresh = two->list->refs[n];
        fresh.cta_scope |= cta_scope;
        if (covers(&fresh, ref) && !sim_history_covers(one, &fresh))
            return true;
    }
    return false;
}

// A copy with room for more, and without what newer parts of the same logs cover. The room is for what remains: whoever
// looks at one flag again and again has a short list.
static RangeList *copy_refs(const Block *b, const CausalHistory *one, const CausalHistory *two, bool cta_scope, int fresh)
{
    enum { SPARE = 4 };
    const int old = one ? one->count : 0;
    RangeList *copy = sim_allocate_for_clocks(b, sizeof *copy + (size_t)(old + fresh + old / 4 + SPARE) * sizeof *copy->refs);
    for (int k = 0; k < old; k++) {
        const ReleaseRange *ref = &one->list->refs[k];
        bool covered = is_covered(one, two, cta_scope, ref);
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
const CausalHistory *sim_history_join(const Block *b, const CausalHistory *one, const CausalHistory *two, bool cta_scope)
{
    int fresh = 0;
    if (!cta_scope && (!one || one == two))
        return two;
    for (int k = 0; two && k < two->count; k++) {
        ReleaseRange ref = two->list->refs[k];
        ref.cta_scope |= cta_scope;
        fresh += !sim_history_covers(one, &ref);
    }
    if (fresh == 0)
        return one;
    RangeList *list = one ? one->list : NULL;
    if (!list || list->used != one->count || list->used + fresh > list->space)
        list = copy_refs(b, one, two, cta_scope, fresh);
    for (int k = 0; k < two->count; k++) {
        ReleaseRange ref = two->list->refs[k];
        ref.cta_scope |= cta_scope;
        if (!sim_history_covers(one, &ref))
            list->refs[list->used++] = ref;
    }
    CausalHistory *both = sim_allocate_for_clocks(b, sizeof *both);
    *both = (CausalHistory){list->used, list};
    return both;
}

static SyncVar **bucket_of(const SyncVarTable *sync_vars, uint64_t key)
{
    return &sync_vars->buckets[(key * 0x9e3779b97f4a7c15) >> (64 - sync_vars->bits)];
}

static void link_log(SyncVarTable *sync_vars, SyncVar *var)
{
    var->next = *bucket_of(sync_vars, var->key);
    *bucket_of(sync_vars, var->key) = var;
    sync_vars->count++;
}

// Twice as many as there were.
static void make_buckets(const Block *b, SyncVarTable *sync_vars)
{
    const SyncVarTable old = *sync_vars;
    *sync_vars = (SyncVarTable){.bits = old.buckets ? old.bits + 1 : MIN_BUCKET_BITS};
    sync_vars->buckets = sim_allocate_for_clocks(b, sizeof *sync_vars->buckets << sync_vars->bits);
    for (uint32_t k = 0; old.buckets && k < 1u << old.bits; k++)
        for (SyncVar *var = old.buckets[k], *next; var; var = next) {
            next = var->next;
            link_log(sync_vars, var);
        }
}

static SyncVarTable *logs_of(const Block *b, bool global)
{
    return global ? &b->launch->clocks->sync_vars : &b->clocks->sync_vars;
}

SyncVar *sim_find_sync_var(const Block *b, uint64_t key, bool global, bool make)
{
    SyncVarTable *sync_vars = logs_of(b, global);
    for (SyncVar *var = sync_vars->count ? *bucket_of(sync_vars, key) : NULL; var; var = var->next)
        if (var->key == key)
            return var;
    if (!make)
        return NULL;
    if (!sync_vars->buckets || sync_vars->count == 1u << sync_vars->bits)
        make_buckets(b, sync_vars);
    SyncVar *var = sim_allocate_for_clocks(b, sizeof *var);
    var->key = key;
    link_log(sync_vars, var);
    return var;
}

void sim_retire_sync_var(const Block *b, SyncVar *var, bool global)
{
    SyncVarTable *sync_vars = logs_of(b, global);
    SyncVar **link = bucket_of(sync_vars, var->key);
    while (*link != var)
        link = &(*link)->next;
    *link = var->next;
    sync_vars->count--;
}

// The last entry of a block, or one of a block that fell to the same place of the index.
static int last_of(const SyncVar *var, uint32_t block)
{
    return var->index ? var->index[block % INDEX_SLOTS] : var->count - 1;
}

// Blocks that run side by side may fall to the same place.
void sim_atomic_max(_Atomic uint32_t *most, uint32_t value)
{
    uint32_t before = *most;
    while (before < value && !atomic_compare_exchange_weak(most, &before, value))
        ;
}

void sim_append_release(Block *b, SyncVar *var, ReleaseRecord *e)
{
    if (var->count == var->space) {
        const int space = var->space ? 2 * var->space : 1;
        ReleaseRecord **more = sim_allocate_for_clocks(b, (size_t)space * sizeof *more);
        if (var->count)
            memcpy(more, var->records, (size_t)var->count * sizeof *more);
        var->records = more;
        var->space = space;
    }
    if (var->count == 1) {
        var->index = sim_allocate_for_clocks(b, INDEX_SLOTS * sizeof *var->index);
        for (int k = 0; k < INDEX_SLOTS; k++)
            var->index[k] = NO_RECORD;
        var->index[var->records[0]->block % INDEX_SLOTS] = 0;
    }
    sim_atomic_max(&b->launch->clocks->told[e->block % BLOCK_BUCKETS], e->now);
    e->before = last_of(var, e->block);
    if (var->index)
        var->index[e->block % INDEX_SLOTS] = var->count;
    var->records[var->count++] = e;
}

// Whether the search comes to a part of a log, as a block knows it, for the first time.
static bool is_new(HistorySearch *s, const ReleaseRange *ref, uint32_t reader)
{
    for (int k = 0; k < s->sync_vars; k++) {
        const ReleaseRange *seen = &s->seen[k].ref;
        if (seen->var == ref->var && seen->begin <= ref->begin && seen->end >= ref->end &&
            seen->cta_scope <= ref->cta_scope && s->seen[k].reader == reader)
            return false;
    }
    if (s->sync_vars < MAX_VISITED)
        s->seen[s->sync_vars++] = (VisitedRange){*ref, reader};
    return true;
}

// Whether the scopes of both sides hold an entry's writer and who has read it.
static bool reaches(const ReleaseRecord *e, const ReleaseRange *ref, uint32_t reader)
{
    return e->block == reader || !(e->cta_scope || ref->cta_scope);
}

static uint32_t lanes_told(const ReleaseRecord *e, const HistorySearch *s, uint32_t reader)
{
    const AccessRecord *epoch = s->epoch;
    uint32_t told = 0;
    if (e->block != epoch->block || e->copy != (epoch->kind == COPY_UNDER_WAY))
        return 0;
    if (epoch->time <= e->block_epoch && !e->copy)
        return s->lanes;
    for (uint32_t rest = e->warp == epoch->warp ? s->lanes : 0; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        const uint32_t until = l != e->lane ? e->lane_epochs[l] : s->itself && e->site == epoch->site ? e->now
                             : reader != e->block ? e->gpu_epoch : e->lane_epochs[l];
        if (epoch->time <= until)
            told |= rest & -rest;
    }
    return told;
}

// What an entry tells a thread of this block.
void sim_apply_release(HistorySearch *s, const ReleaseRecord *e, uint32_t reader)
{
    const uint32_t told = s->reads || !e->reads_only ? lanes_told(e, s, reader) : 0;
    s->lanes &= ~told;
    s->told = told ? e : s->told;
}

// Looks for the epoch's lanes in what a thread of this block knows. Gives up, as if it had found them, after many
// steps.
void sim_search_history(HistorySearch *s, const CausalHistory *history, uint32_t reader)
{
    for (int k = history ? history->count : 0; k-- > 0 && s->lanes;) {
        const ReleaseRange *ref = &history->list->refs[k];
        for (int n = last_of(ref->var, s->epoch->block); n != NO_RECORD && s->lanes; n = ref->var->records[n]->before) {
            const ReleaseRecord *e = ref->var->records[n];
            if (e->block == s->epoch->block && e->now < s->epoch->time)
                break; // it and those before it were written too early
            if (e->reads_only && !s->reads)
                continue;
            if (++s->steps > MAX_SEARCH_STEPS)
                s->lanes = 0;
            if (n >= ref->begin && n < ref->end && reaches(e, ref, reader))
                sim_apply_release(s, e, reader);
        }
    }
    for (int k = history ? history->count : 0; k-- > 0 && s->lanes;) {
        const ReleaseRange *ref = &history->list->refs[k];
        for (int n = is_new(s, ref, reader) ? ref->end : 0; n-- > ref->begin && s->lanes;) {
            const ReleaseRecord *e = ref->var->records[n];
            const CausalHistory *told = e->block == reader ? e->history : e->gpu_history;
            if (e->reads_only && !s->reads)
                continue;
            if (++s->steps > MAX_SEARCH_STEPS)
                s->lanes = 0;
            else if (reaches(e, ref, reader) && (told != history || e->block != reader))
                sim_search_history(s, told, e->block);
        }
    }
}
