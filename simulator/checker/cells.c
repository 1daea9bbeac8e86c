// cells.c: the last accesses to each word, for lines with cells; and which strong accesses conflict.
#include "checker/block_check.h"
#include "checker/conflicts.h"
#include "checker/dynamic_parallelism.h"

#include <stdlib.h>
#include <string.h>

// ---- Which accesses conflict

// In PTX, volatile accesses are strong, so they do not race. But lanes of a warp, or threads that share floating-point data, depend
// on the order of execution if they synchronise only by `volatile`; this is reported. A flag in a spin loop is not.
static bool relies_on_volatile(const Instr *i, const AccessRecord *earlier, const AccessRecord *current)
{
    return i->semantics == VOLATILE && ((earlier->block == current->block && earlier->warp == current->warp) || sim_is_float((Type)i->type));
}

// True for a volatile load that tests whether an atomic update of the word is needed; the update reads the word again. If one of them
// is in a called function, their order is unknown, and the load counts as first.
static bool loads_before_update(const AccessCheck *check, const Instr *i, const Instr *j)
{
    const Instr *load = i->kind == ATOMIC ? j : i, *update = i->kind == ATOMIC ? i : j;
    const Program *p = check->w->block->launch->kernel->program;
    const bool update_first = update >= p->code && update < load && load < p->code + p->count;
    return load->kind == LOAD && update->kind == ATOMIC && !update_first;
}

// True for a volatile read of data (no branch depends on it, or the value is used whichever way the branch goes) from a volatile write that no fence follows, if the block has polled later
// writes of the writing lanes: the program relies on the order of the writes. A read that is repeated after a fence does not.
static bool is_unfenced_volatile_read(const AccessCheck *check, const Instr *i, const Instr *j, const AccessRecord *earlier)
{
    return i->semantics == VOLATILE && j->semantics == VOLATILE && earlier->kind == STRONG_WRITE &&
           check->record.kind == STRONG_READ && !sim_has_fenced(check->w, earlier) && (!sim_feeds_branch(check->w, j) || j->loop & IS_DATA) &&
           !(j->loop & REREAD) && sim_acquired_since(check->w, earlier);
}

bool sim_strong_accesses_conflict(const AccessCheck *check, const AccessRecord *earlier, const AccessRecord *current)
{
    const Instr *i = sim_instruction_at(earlier->site), *j = sim_instruction_at(current->site);
    const bool other_width = i->kind == ATOMIC && j->kind == ATOMIC && i->bytes != j->bytes;
    const bool lost_update = i->semantics == VOLATILE && j->semantics == VOLATILE && writes(earlier) && writes(current);
    const bool awaited = (i->loop | j->loop) & IN_SPIN_LOOP;
    return !in_scope(i, earlier, current) || !in_scope(j, earlier, current) || other_width || lost_update ||
           is_unfenced_volatile_read(check, i, j, earlier) ||
           (check->shared && !awaited && !loads_before_update(check, i, j) &&
            (relies_on_volatile(i, earlier, current) || relies_on_volatile(j, earlier, current)));
}

// ---- Cells

void sim_insert_record(ShadowCell *c, const AccessRecord *record)
{
    if (c->count == MAX_CELL_RECORDS) { // drop the second record, because the first one is often the write
        memmove(&c->heap_records[1], &c->heap_records[2], (MAX_CELL_RECORDS - 2) * sizeof *c->heap_records);
        c->count--;
    }
    if (c->count == (c->capacity ? c->capacity : INLINE_RECORDS)) {
        const uint8_t capacity = c->capacity ? MAX_CELL_RECORDS : 3 * INLINE_RECORDS;
        AccessRecord *heap_records = realloc(c->heap_records, capacity * sizeof *heap_records);
        if (!heap_records)
            sim_die("out of memory: shadow memory");
        if (!c->capacity)
            memcpy(heap_records, c->inline_records, sizeof c->inline_records);
        c->heap_records = heap_records;
        c->capacity = capacity;
    }
    records_of(c)[c->count++] = *record;
}

bool sim_lanes_store_same(const AccessCheck *check, int lane, int other)
{
    const Instr *i = check->i;
    for (int k = 0; k < i->count; k++) {
        const uint8_t *lanes = check->w->registers + i->elements[k];
        const size_t bytes = i->register_bytes;
        if (memcmp(lanes + (size_t)other * bytes, lanes + (size_t)lane * bytes, i->bytes) != 0)
            return false;
    }
    return true;
}

// True if a lane stores the value that is already there. The line is locked.
static bool stores_present_value(const AccessCheck *check, int lane)
{
    const Instr *i = check->i;
    bool same = i->kind == STORE;
    for (int k = 0; same && k < i->count; k++)
        same = memcmp(check->w->registers + i->elements[k] + (size_t)lane * i->register_bytes,
                      check->access->pointer[lane] + (size_t)k * i->bytes, i->bytes) == 0;
    return same;
}

// True if a branch may depend on the stored value: the kernel has a volatile load of this size and address space that feeds a branch,
// or calls a function with volatile loads.
static bool may_feed_branch(const Program *kernel, const Instr *store)
{
    for (uint32_t k = 0; k < kernel->count; k++) {
        const Instr *i = &kernel->code[k];
        if (i->control == CALL && (!i->call->callee || i->call->callee->program->effects.reads_volatile))
            return true;
        if (i->kind == LOAD && i->semantics == VOLATILE && i->loop & FEEDS_BRANCH && i->bytes == store->bytes &&
            (i->at.space == store->at.space || i->at.space == GENERIC || store->at.space == GENERIC))
            return true;
    }
    return false;
}

// True if the lane has read the word since record k of the cell. `ignore_branches`: reads that only feed branches do not count.
static bool has_read_word(const AccessCheck *check, ShadowCell *c, int k, const AccessRecord *current, bool ignore_branches)
{
    while (++k < c->count) {
        const AccessRecord *record = &records_of(c)[k];
        if (record->kind == STRONG_READ && is_same_warp(record, current) && record->lanes & current->lanes &&
            !(ignore_branches && sim_feeds_branch(check->w, sim_instruction_at(record->site))))
            return true;
    }
    return false;
}

// Two volatile stores to a word do not race in PTX, but one of the values may be lost. They are benign if both store the same value (a
// flag set by many threads), or if a branch depends on the word (`turn` in Peterson's lock). They are not benign if the value is
// computed from the word's old value, or if only a fence is missing to order them.
static bool is_benign(const AccessCheck *check, ShadowCell *c, int k, const AccessRecord *current, int lane)
{
    const AccessRecord *earlier = &records_of(c)[k];
    const Instr *i = sim_instruction_at(earlier->site), *j = check->i;
    const Program *kernel = check->w->block->launch->kernel->program;
    if (i->kind != STORE || j->kind != STORE || i->semantics != VOLATILE || j->semantics != VOLATILE)
        return false;
    if (stores_present_value(check, lane) || (i == j && stores_constant(kernel, j)))
        return true;
    return !sim_is_float((Type)j->type) && may_feed_branch(kernel, j) && !has_read_word(check, c, -1, current, true) &&
           (has_read_word(check, c, k, current, false) || !sim_lacks_fence(check->w, lane, earlier));
}

// True if the record is by other lanes of the same execution of the store, which store the same value.
static bool same_value(const AccessCheck *check, int lane, const AccessRecord *earlier)
{
    const Access *access = check->access;
    if (earlier->site != check->record.site || earlier->time != check->record.time || earlier->block != check->record.block ||
        earlier->warp != check->record.warp || check->i->kind != STORE || (earlier->lanes & ~access->mask))
        return false;
    for (uint32_t rest = earlier->lanes; rest; rest &= rest - 1) {
        const int other = __builtin_ctz(rest);
        if (access->address[other] != access->address[lane] || !sim_lanes_store_same(check, lane, other))
            return false;
    }
    return true;
}

// True if the lane has observed strong write k before the current access: it has updated the word since, or polled it in a spin loop
// before a write, or read it before a read. If a cell is full, records have been dropped, and the write counts as observed.
static bool has_observed(const AccessCheck *check, ShadowCell *c, int k, const AccessRecord *current)
{
    const AccessRecord *all = records_of(c);
    const bool both_write = all[k].kind == STRONG_WRITE && current->kind == STRONG_WRITE,
               reads = all[k].kind == STRONG_WRITE && current->kind == STRONG_READ;
    if (all[k].kind != ATOMIC_UPDATE && all[k].kind != STRONG_WRITE)
        return false;
    for (int later = k + 1; later < c->count; later++) {
        const AccessRecord *record = &all[later];
        const bool own = is_same_warp(record, current) && record->lanes & current->lanes;
        if (own && (record->kind == ATOMIC_UPDATE || (reads && record->kind == STRONG_READ) ||
                    (both_write && record->kind == STRONG_READ && sim_is_spin_read(check->w, record))))
            return true;
    }
    return both_write && c->count == MAX_CELL_RECORDS;
}

// True if an access by one lane races with record k of the cell.
static bool races(const AccessCheck *check, ShadowCell *c, int k, const AccessRecord *current)
{
    const AccessRecord *earlier = &records_of(c)[k];
    const int lane = __builtin_ctz(current->lanes);
    const bool own_copy = earlier->lanes == current->lanes && is_own_copy(check, earlier, current);
    return !own_copy && !has_observed(check, c, k, current) && !sim_happens_before(check->w, check->i, lane, earlier) &&
           !same_value(check, lane, earlier) && !is_benign(check, c, k, current, lane);
}

// A filter before races().
static bool may_race(const AccessCheck *check, const AccessRecord *earlier, const AccessRecord *current)
{
    return accesses_conflict(check, earlier, current) &&
           (!sim_hb_all_lanes(check->w, check->i, current->lanes, earlier) || sim_take_lacks_fence(check->w->block));
}

void sim_note_pair(AccessCheck *check, const AccessRecord *earlier, const AccessRecord *later, bool is_race)
{
    if (is_race)
        check->race = (Race){*earlier, *later, .found = true, .same_value = stores_present_value(check, __builtin_ctz(later->lanes))};
    else if (sim_take_lacks_fence(check->w->block) && !check->unfenced.found)
        check->unfenced = (Race){*earlier, *later, .found = true, .unfenced = true};
}

// Looks for a race between the access and the records of the cell.
static void check_records(AccessCheck *check, ShadowCell *c, const AccessRecord *current)
{
    const AccessRecord *all = records_of(c);
    AccessRecord later = *current;
    for (int k = 0; k < c->count && !check->race.found; k++)
        for (uint32_t rest = may_race(check, &all[k], current) ? current->lanes : 0; rest && !check->race.found; rest &= rest - 1) {
            later.lanes = rest & -rest;
            sim_note_pair(check, &all[k], &later, races(check, c, k, &later));
        }
}

// If the access updates the word or polls it as a flag: notes the latest writes that the block has observed of each writer.
static void note_writers(const AccessCheck *check, ShadowCell *c)
{
    enum { LATEST = 8 };
    if (check->record.kind != ATOMIC_UPDATE && !check->reads_flag)
        return;
    for (int k = c->count > LATEST ? c->count - LATEST : 0; k < c->count; k++)
        if (records_of(c)[k].kind == ATOMIC_UPDATE || records_of(c)[k].kind == STRONG_WRITE)
            sim_note_acquired_from(check->w, &records_of(c)[k]);
}

// True if the lanes have already polled the word at this time, and it has not been written since. A volatile read of data is excluded,
// because is_unfenced_volatile_read depends on what the block has polled in the meantime.
static bool is_repeated_poll(const AccessCheck *check, ShadowCell *c, const AccessRecord *current)
{
    if (current->kind != STRONG_READ || (check->i->semantics == VOLATILE && !check->reads_flag))
        return false;
    const AccessRecord *all = records_of(c);
    for (int k = c->count; k-- > 0 && all[k].kind == STRONG_READ;)
        if (all[k].time == current->time && all[k].block == current->block && all[k].warp == current->warp && all[k].site == current->site &&
            all[k].byte_mask == current->byte_mask && !(current->lanes & ~all[k].lanes))
            return true;
    return false;
}

// In a nested launch, a read of another grid's strong write acquires from that grid.
static void acquire_from_writer(const AccessCheck *check, ShadowCell *c)
{
    int k = c->count;
    while (k > 0 && !writes(&records_of(c)[k - 1]))
        k--;
    if (k > 0 && is_of_other_grid(check->w->block, &records_of(c)[k - 1]) && is_strong(&records_of(c)[k - 1]))
        sim_acquire_from_grid(check->w->block, &records_of(c)[k - 1]);
}

// Removes what the access makes redundant, and merges it into a record of the same accesses, or adds one.
static void record_access(const AccessCheck *check, ShadowCell *c, AccessRecord current)
{
    AccessRecord *all = records_of(c);
    bool merged = false;
    int kept_count = 0;
    for (int k = 0; k < c->count; k++) {
        AccessRecord *earlier = &all[k];
        const bool same_warp = is_same_warp(earlier, &current), same_kind = same_warp && earlier->kind == current.kind &&
                               earlier->byte_mask == current.byte_mask && earlier->time == current.time;
        if (same_kind && is_strong(&current) && !has_wider_scope(&current, earlier)) { // moved to the end of the cell, because has_observed looks for records after a write
            current.lanes |= earlier->lanes;
            earlier->lanes = 0;
        } else if (same_kind && !is_strong(&current) && !merged) {
            earlier->lanes |= current.lanes;
            merged = true;
        } else if ((same_warp || current.kind == PLAIN_WRITE) && subsumes(&current, earlier)) {
            earlier->lanes = current.kind == PLAIN_WRITE ? 0 : earlier->lanes & ~current.lanes;
        } else if (ends_copy(check, earlier, &current)) {
            earlier->lanes &= ~current.lanes;
        }
        if (earlier->lanes && kept_count++ < k)
            all[kept_count - 1] = *earlier;
    }
    c->count = (uint8_t)kept_count;
    if (!merged)
        sim_insert_record(c, &current);
}

void sim_check_word(AccessCheck *check, ShadowCell *c, uint32_t lanes, unsigned bytes)
{
    AccessRecord current = check->record;
    current.lanes = lanes;
    current.byte_mask = bytes & 15;
    if (check->w->block->launch->nested_grid && is_strong(&current) && current.kind != STRONG_WRITE)
        acquire_from_writer(check, c);
    const bool is_new = !is_repeated_poll(check, c, &current);
    if (is_new)
        check_records(check, c, &current);
    note_writers(check, c);
    if (is_new)
        record_access(check, c, current);
}
