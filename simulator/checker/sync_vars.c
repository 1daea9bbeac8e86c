// sync_vars.c: synchronisation variables (flags, mbarriers, barriers), the releases to them, and the search of a thread's acquired
// history for an access.
#include "checker/block_check.h"

#include <stdlib.h>
#include <string.h>

void *sim_clocks_allocate(const Block *b, size_t bytes)
{
    LaunchClocks *clocks = b->launch->vector_clocks;
    sim_lock(&clocks->lock);
    void *memory = sim_allocate(&clocks->arena, bytes);
    sim_unlock(&clocks->lock);
    return memory;
}

// True if acquiring `range` implies acquiring `other`.
static bool range_covers(const ReleaseRange *range, const ReleaseRange *other)
{
    return range->var == other->var && range->begin <= other->begin && range->end >= other->end && range->cta_scope <= other->cta_scope &&
           range->by_barrier <= other->by_barrier;
}

bool sim_history_covers(const CausalHistory *history, const ReleaseRange *range)
{
    const int count = history ? history->count : 0, guess = range->var->history_hint;
    if (guess < count && range_covers(&history->list->ranges[guess], range)) // polling many flags one after the other: their index is the same
        return true;
    for (int k = count; k-- > 0;) // newest first: repeated polls hit
        if (range_covers(&history->list->ranges[k], range)) {
            range->var->history_hint = k;
            return true;
        }
    return false;
}

// True if joining `two` to `one` makes `range` redundant. A range of `two` that `one` covers is not added, so it has no effect.
static bool is_superseded(const CausalHistory *one, const CausalHistory *two, bool cta_scope, const ReleaseRange *range)
{
    for (int n = 0; n < two->count; n++) {
        ReleaseRange added = two->list->ranges[n];
        added.cta_scope |= cta_scope;
        if (range_covers(&added, range) && !sim_history_covers(one, &added))
            return true;
    }
    return false;
}

// Copies a list without its superseded ranges, with capacity for `added` more. This keeps the list of a polling thread short.
static RangeList *copy_ranges(const Block *b, const CausalHistory *one, const CausalHistory *two, bool cta_scope, int added)
{
    enum { SPARE = 4 };
    const int old = one ? one->count : 0;
    RangeList *copy = sim_clocks_allocate(b, sizeof *copy + (size_t)(old + added + old / 4 + SPARE) * sizeof *copy->ranges);
    for (int k = 0; k < old; k++) {
        const ReleaseRange *range = &one->list->ranges[k];
        bool covered = is_superseded(one, two, cta_scope, range);
        for (int n = k + 1; n < old && !covered; n++)
            covered = range_covers(&one->list->ranges[n], range);
        if (!covered)
            copy->ranges[copy->used++] = *range;
    }
    copy->capacity = copy->used + added + copy->used / 4 + SPARE;
    return copy;
}

// Appends to the list of `one` in place if no other history has extended it; otherwise copies it.
const CausalHistory *sim_history_join(const Block *b, const CausalHistory *one, const CausalHistory *two, bool cta_scope)
{
    int added = 0;
    if (!cta_scope && (!one || one == two))
        return two;
    for (int k = 0; two && k < two->count; k++) {
        ReleaseRange range = two->list->ranges[k];
        range.cta_scope |= cta_scope;
        added += !sim_history_covers(one, &range);
    }
    if (added == 0)
        return one;
    RangeList *list = one ? one->list : NULL;
    if (!list || list->used != one->count || list->used + added > list->capacity)
        list = copy_ranges(b, one, two, cta_scope, added);
    for (int k = 0; k < two->count; k++) {
        ReleaseRange range = two->list->ranges[k];
        range.cta_scope |= cta_scope;
        if (!sim_history_covers(one, &range))
            list->ranges[list->used++] = range;
    }
    CausalHistory *both = sim_clocks_allocate(b, sizeof *both);
    *both = (CausalHistory){list->used, list};
    return both;
}

const CausalHistory *sim_history_by_barrier(const Block *b, const CausalHistory *history)
{
    RangeList *list = sim_clocks_allocate(b, sizeof *list + (size_t)history->count * sizeof *list->ranges);
    list->used = list->capacity = history->count;
    for (int k = 0; k < history->count; k++) {
        list->ranges[k] = history->list->ranges[k];
        list->ranges[k].by_barrier = true;
    }
    CausalHistory *copy = sim_clocks_allocate(b, sizeof *copy);
    *copy = (CausalHistory){list->used, list};
    return copy;
}

static SyncVar **bucket_of(const SyncVarTable *table, uint64_t key)
{
    return &table->buckets[(key * 0x9e3779b97f4a7c15) >> (64 - table->bits)];
}

static void link_var(SyncVarTable *table, SyncVar *var)
{
    var->next = *bucket_of(table, var->key);
    *bucket_of(table, var->key) = var;
    table->count++;
}

// Doubles the number of buckets.
static void grow_table(const Block *b, SyncVarTable *table)
{
    const SyncVarTable old = *table;
    *table = (SyncVarTable){.bits = old.buckets ? old.bits + 1 : MIN_BUCKET_BITS};
    table->buckets = sim_clocks_allocate(b, sizeof *table->buckets << table->bits);
    for (uint32_t k = 0; old.buckets && k < 1u << old.bits; k++)
        for (SyncVar *var = old.buckets[k], *next; var; var = next) {
            next = var->next;
            link_var(table, var);
        }
}

static SyncVarTable *table_of(const Block *b, bool global)
{
    return global ? &b->launch->vector_clocks->sync_vars : &clocks_of(b)->sync_vars;
}

SyncVar *sim_find_sync_var(const Block *b, uint64_t key, bool global, bool make)
{
    SyncVarTable *table = table_of(b, global);
    for (SyncVar *var = table->count ? *bucket_of(table, key) : NULL; var; var = var->next)
        if (var->key == key)
            return var;
    if (!make)
        return NULL;
    if (!table->buckets || table->count == 1u << table->bits)
        grow_table(b, table);
    SyncVar *var = sim_clocks_allocate(b, sizeof *var);
    var->key = key;
    link_var(table, var);
    return var;
}

void sim_retire_sync_var(const Block *b, SyncVar *var, bool global)
{
    SyncVarTable *table = table_of(b, global);
    SyncVar **link = bucket_of(table, var->key);
    while (*link != var)
        link = &(*link)->next;
    *link = var->next;
    table->count--;
}

// Index of the last record of a block, or of a block with the same hash; may be NO_RECORD.
static int last_record(const SyncVar *var, uint32_t block)
{
    return var->last_by_block ? var->last_by_block[block % INDEX_SLOTS] : var->count - 1;
}

// Atomic, because concurrent blocks may share a bucket.
void sim_atomic_max(_Atomic uint32_t *max, uint32_t value)
{
    uint32_t seen = *max;
    while (seen < value && !atomic_compare_exchange_weak(max, &seen, value))
        ;
}

void sim_append_release(Block *b, SyncVar *var, ReleaseRecord *record)
{
    if (var->count == var->capacity) {
        const int capacity = var->capacity ? 2 * var->capacity : 1;
        ReleaseRecord **larger = sim_clocks_allocate(b, (size_t)capacity * sizeof *larger);
        if (var->count)
            memcpy(larger, var->records, (size_t)var->count * sizeof *larger);
        var->records = larger;
        var->capacity = capacity;
    }
    if (var->count == 1) {
        var->last_by_block = sim_clocks_allocate(b, INDEX_SLOTS * sizeof *var->last_by_block);
        for (int k = 0; k < INDEX_SLOTS; k++)
            var->last_by_block[k] = NO_RECORD;
        var->last_by_block[var->records[0]->block % INDEX_SLOTS] = 0;
    }
    sim_atomic_max(&b->launch->vector_clocks->last_release[record->block % BLOCK_HASH_BUCKETS], record->time);
    record->prev_same_block = last_record(var, record->block);
    if (var->last_by_block)
        var->last_by_block[record->block % INDEX_SLOTS] = var->count;
    var->records[var->count++] = record;
}

// The first record of the range that the search has not visited for this reader; range->end or more: it has visited all.
static int first_unvisited(const HistorySearch *s, const ReleaseRange *range, uint32_t reader)
{
    int first = range->begin;
    for (int k = 0; k < s->visited_count; k++) {
        const ReleaseRange *visited = &s->visited[k].range;
        if (visited->var == range->var && s->visited[k].reader == reader && visited->begin <= first && visited->end > first &&
            visited->cta_scope <= range->cta_scope && visited->by_barrier <= range->by_barrier)
            first = visited->end;
    }
    return first;
}

// Marks a range as visited: extends a visited range that it continues, or adds it.
static void mark_visited(HistorySearch *s, const ReleaseRange *range, uint32_t reader)
{
    for (int k = 0; k < s->visited_count; k++) {
        ReleaseRange *visited = &s->visited[k].range;
        if (visited->var == range->var && s->visited[k].reader == reader && visited->begin <= range->begin && visited->end >= range->begin &&
            visited->cta_scope == range->cta_scope && visited->by_barrier == range->by_barrier) {
            visited->end = range->end > visited->end ? range->end : visited->end;
            return;
        }
    }
    if (s->visited_count < MAX_VISITED)
        s->visited[s->visited_count++] = (VisitedRange){*range, reader};
}

// True if the scopes of the release and of the acquire include both threads.
static bool scopes_match(const ReleaseRecord *record, const ReleaseRange *range, uint32_t reader)
{
    return record->block == reader || !(record->cta_scope || range->cta_scope);
}

// False if the range does not order the record before a thread of block `reader`.
static bool is_acquired(const HistorySearch *s, const ReleaseRecord *record, const ReleaseRange *range, uint32_t reader)
{
    return scopes_match(record, range, reader) && !(s->needs_acquire_fence && range->by_barrier && record->block != reader);
}

// True if the access's warp has executed no fence of device scope between the access and the release.
static bool lacks_release_fence(const ReleaseRecord *record, const HistorySearch *s, uint32_t reader)
{
    return s->needs_release_fence && record->gpu_fences && record->block != reader && s->access->time > record->gpu_fences[s->access->warp] &&
           s->access->time > record->gpu_fences[record->warp];
}

// The lanes whose access the record orders before a thread of block `reader`.
static uint32_t released_lanes(const ReleaseRecord *record, const HistorySearch *s, uint32_t reader)
{
    const AccessRecord *access = s->access;
    uint32_t released = 0;
    if (record->block != access->block || record->copy_done != (access->kind == COPY_IN_FLIGHT))
        return 0;
    if (lacks_release_fence(record, s, reader))
        return 0;
    if (access->time <= record->block_epoch && !record->copy_done)
        return s->lanes;
    for (uint32_t rest = record->warp == access->warp ? s->lanes : 0; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        const uint32_t until = l != record->lane ? record->lane_epochs[l] : s->is_strong_write && record->site == access->site ? record->time
                             : reader != record->block ? record->gpu_epoch : record->lane_epochs[l];
        if (access->time <= until)
            released |= rest & -rest;
    }
    return released;
}

void sim_apply_release(HistorySearch *s, const ReleaseRecord *record, uint32_t reader)
{
    const uint32_t released = s->is_read || !record->reads_only ? released_lanes(record, s, reader) : 0;
    s->lanes &= ~released;
    s->found = released ? record : s->found;
}

// Searches the releases of the access's own block in a range.
static void search_own_block(HistorySearch *s, const ReleaseRange *range, uint32_t reader)
{
    const int first = first_unvisited(s, range, reader);
    int n = first < range->end ? last_record(range->var, s->access->block) : NO_RECORD;
    for (; n >= first && n != NO_RECORD && s->lanes; n = range->var->records[n]->prev_same_block) {
        const ReleaseRecord *record = range->var->records[n];
        if (record->block == s->access->block && record->time < s->access->time)
            return; // this record and earlier ones precede the access
        if (record->reads_only && !s->is_read)
            continue;
        if (++s->steps > MAX_SEARCH_STEPS)
            s->lanes = 0;
        if (n < range->end && is_acquired(s, record, range, reader))
            sim_apply_release(s, record, reader);
    }
}

// First searches the releases of the access's own block; then, recursively, the histories of the releasing threads.
void sim_search_history(HistorySearch *s, const CausalHistory *history, uint32_t reader)
{
    for (int k = history ? history->count : 0; k-- > 0 && s->lanes;)
        search_own_block(s, &history->list->ranges[k], reader);
    for (int k = history ? history->count : 0; k-- > 0 && s->lanes;) {
        const ReleaseRange *range = &history->list->ranges[k];
        const int first = first_unvisited(s, range, reader);
        if (first < range->end)
            mark_visited(s, range, reader);
        for (int n = range->end; n-- > first && s->lanes;) {
            const ReleaseRecord *record = range->var->records[n];
            const CausalHistory *released = record->block == reader ? record->history : record->gpu_history;
            if (record->reads_only && !s->is_read)
                continue;
            if (++s->steps > MAX_SEARCH_STEPS)
                s->lanes = 0;
            else if (is_acquired(s, record, range, reader) && (released != history || record->block != reader))
                sim_search_history(s, released, record->block);
        }
    }
}
