// cells.c: who used a word last, where a line of memory has a cell for each of its words; which accesses conflict.
#include "checker/conflicts.h"

#include <stdlib.h>
#include <string.h>

// ---- Which accesses conflict

// Volatile accesses are strong in PTX, so that a race of them is none of its data races. But where lanes of a warp,
// or numbers in shared memory, rely on `volatile` alone, the order in which they run decides: that is what `volatile`
// hides. A flag that somebody waits for is none of these.
static bool relies_on_volatile(const Instr *i, const AccessRecord *a, const AccessRecord *b)
{
    return i->semantics == VOLATILE && ((a->block == b->block && a->warp == b->warp) || sim_is_float((Type)i->type));
}

// A volatile look at a word before an atomic update of it, which finds out itself what the word holds then; so that whoever has looked
// relies on no order. In a function that is called the two may be anywhere.
static bool looks_before_update(const AccessCheck *check, const Instr *i, const Instr *j)
{
    const Instr *look = i->kind == ATOMIC ? j : i, *update = i->kind == ATOMIC ? i : j;
    const Program *p = check->w->block->launch->kernel->program;
    const bool behind = update >= p->code && update < look && look < p->code + p->count;
    return look->kind == LOAD && update->kind == ATOMIC && !behind;
}

// A volatile read, but none on which a branch depends, as one does on a flag, of what a volatile write left there with
// no fence since, by who has told the block something else since: it relies on the order of the two. Who looks again
// behind a fence may throw away what was read.
static bool reads_unfenced(const AccessCheck *check, const Instr *i, const Instr *j, const AccessRecord *a)
{
    return i->semantics == VOLATILE && j->semantics == VOLATILE && a->kind == STRONG_WRITE &&
           check->epoch.kind == STRONG_READ && !sim_has_fenced(check->w, a) && !sim_feeds_branch(check->w, j) &&
           !(j->loop & REREAD) && sim_acquired_since(check->w, a);
}

bool sim_strong_conflict(const AccessCheck *check, const AccessRecord *a, const AccessRecord *b)
{
    const Instr *i = sim_instruction_at(a->site), *j = sim_instruction_at(b->site);
    const bool other_width = i->kind == ATOMIC && j->kind == ATOMIC && i->bytes != j->bytes;
    const bool lost_update = i->semantics == VOLATILE && j->semantics == VOLATILE && writes(a) && writes(b);
    const bool awaited = (i->loop | j->loop) & IN_SPIN_LOOP;
    return !reaches(i, a, b) || !reaches(j, a, b) || other_width || lost_update || reads_unfenced(check, i, j, a) ||
           (check->shared && !awaited && !looks_before_update(check, i, j) && (relies_on_volatile(i, a, b) || relies_on_volatile(j, a, b)));
}

// ---- Cells

void sim_insert_record(ShadowCell *c, const AccessRecord *e)
{
    if (c->count == MOST_IN_CELL) { // forget the second: the first is often the write
        memmove(&c->many[1], &c->many[2], (MOST_IN_CELL - 2) * sizeof *c->many);
        c->count--;
    }
    if (c->count == (c->space ? c->space : IN_CELL)) {
        const uint8_t space = c->space ? MOST_IN_CELL : 3 * IN_CELL;
        AccessRecord *many = realloc(c->many, space * sizeof *many);
        if (!many)
            sim_die("out of memory for the readers of a word");
        if (!c->space)
            memcpy(many, c->few, sizeof c->few);
        c->many = many;
        c->space = space;
    }
    epochs_of(c)[c->count++] = *e;
}

bool sim_store_same_value(const AccessCheck *check, int lane, int other)
{
    const Instr *i = check->i;
    for (int k = 0; k < i->count; k++) {
        const uint8_t *lanes = check->w->lanes + i->list[k];
        const size_t bytes = i->register_bytes;
        if (memcmp(lanes + (size_t)other * bytes, lanes + (size_t)lane * bytes, i->bytes) != 0)
            return false;
    }
    return true;
}

bool sim_stores_same(const AccessCheck *check, int lane)
{
    const Instr *i = check->i;
    bool same = i->kind == STORE;
    for (int k = 0; same && k < i->count; k++)
        same = memcmp(check->w->lanes + i->list[k] + (size_t)lane * i->register_bytes,
                      check->access->pointer[lane] + (size_t)k * i->bytes, i->bytes) == 0;
    return same;
}

// Whether a store of the kernel's own code has the same value whenever it runs.
static bool stores_constant(const Program *kernel, const Instr *store)
{
    const Operand *value = &store->statement->operands[1];
    const Statement *only = NULL;
    if (value->kind == IS_INTEGER)
        return true;
    for (uint32_t k = 0; k < kernel->count && value->reg; k++) {
        const Statement *s = kernel->code[k].statement;
        if (!s || s->count == 0 || s->operands[0].address || s->operands[0].reg != value->reg)
            continue;
        if (only)
            return false;
        only = s;
    }
    return only && only->count == 2 && only->operands[1].kind == IS_INTEGER;
}

// Whether some branch of the kernel may depend on what such a store leaves: a volatile load of its size, in its space,
// decides where the kernel goes, or a function that it calls has one.
static bool may_be_asked(const Program *kernel, const Instr *store)
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

// Whether the lane has read the word: since the cell's epoch k, or at all, to compute what it stores rather than to
// decide where it goes.
static bool has_read(const AccessCheck *check, ShadowCell *c, int k, const AccessRecord *e, bool computes)
{
    while (++k < c->count) {
        const AccessRecord *a = &epochs_of(c)[k];
        if (a->kind == STRONG_READ && is_same_warp(a, e) && a->lanes & e->lanes &&
            !(computes && sim_feeds_branch(check->w, sim_instruction_at(a->site))))
            return true;
    }
    return false;
}

// Two volatile stores to one word are no race of PTX's. Nothing is lost where both store the same, as of many threads that
// set a flag. Of two values one is lost, and that is meant where branches depend on it, as on whose turn it is in
// Peterson's lock; but not of a value that was computed of one that the word had before, nor where the lane relies on
// having been told of the other store, with no fence behind that.
static bool is_harmless(const AccessCheck *check, ShadowCell *c, int k, const AccessRecord *e, int lane)
{
    const AccessRecord *a = &epochs_of(c)[k];
    const Instr *i = sim_instruction_at(a->site), *j = check->i;
    const Program *kernel = check->w->block->launch->kernel->program;
    if (i->kind != STORE || j->kind != STORE || i->semantics != VOLATILE || j->semantics != VOLATILE)
        return false;
    if (sim_stores_same(check, lane) || (i == j && stores_constant(kernel, j)))
        return true;
    return !sim_is_float((Type)j->type) && may_be_asked(kernel, j) && !has_read(check, c, -1, e, true) &&
           (has_read(check, c, k, e, false) || !sim_lacks_fence(check->w, lane, a));
}

// Whether other lanes, in the same execution of the instruction, wrote the same value there: one of them is written
// then, and it is the same.
static bool same_value(const AccessCheck *check, int lane, const AccessRecord *a)
{
    const Access *access = check->access;
    if (a->site != check->epoch.site || a->time != check->epoch.time || a->block != check->epoch.block ||
        a->warp != check->epoch.warp || check->i->kind != STORE || (a->lanes & ~access->mask))
        return false;
    for (uint32_t rest = a->lanes; rest; rest &= rest - 1) {
        const int other = __builtin_ctz(rest);
        if (access->address[other] != access->address[lane] || !sim_store_same_value(check, lane, other))
            return false;
    }
    return true;
}

// Whether the lane has updated the word itself since another one wrote it atomically, or has waited for what it wrote
// before it writes in turn, or read that before it reads again: all agree in which order these were. What a full cell has
// forgotten counts as waited for.
static bool has_taken(const AccessCheck *check, ShadowCell *c, int k, const AccessRecord *e)
{
    const AccessRecord *all = epochs_of(c);
    const bool both_write = all[k].kind == STRONG_WRITE && e->kind == STRONG_WRITE,
               reads = all[k].kind == STRONG_WRITE && e->kind == STRONG_READ;
    if (all[k].kind != ATOMIC_UPDATE && all[k].kind != STRONG_WRITE)
        return false;
    for (int later = k + 1; later < c->count; later++) {
        const AccessRecord *a = &all[later];
        const bool own = is_same_warp(a, e) && a->lanes & e->lanes;
        if (own && (a->kind == ATOMIC_UPDATE || (reads && a->kind == STRONG_READ) ||
                    (both_write && a->kind == STRONG_READ && sim_is_spin_read(check->w, a))))
            return true;
    }
    return both_write && c->count == MOST_IN_CELL;
}

// Whether a lane of an access races with what a cell tells of.
static bool races(const AccessCheck *check, ShadowCell *c, int k, AccessRecord e, int lane)
{
    const AccessRecord *a = &epochs_of(c)[k];
    e.lanes = 1u << lane;
    const bool own_copy = a->lanes == e.lanes && is_own_copy(check, a, &e);
    return !own_copy && !has_taken(check, c, k, &e) && !sim_happens_before(check->w, check->i, lane, a) &&
           !same_value(check, lane, a) && !is_harmless(check, c, k, &e, lane);
}

// Whether lanes' access may race with an earlier one: quickly.
static bool may_race(const AccessCheck *check, const AccessRecord *a, const AccessRecord *e)
{
    return conflict(check, a, e) && !sim_hb_all_lanes(check->w, check->i, e->lanes, a);
}

// Looks for a race of lanes' access with what the cell tells of.
static void check_epochs(AccessCheck *check, ShadowCell *c, const AccessRecord *e)
{
    const AccessRecord *all = epochs_of(c);
    for (int k = 0; k < c->count && !check->race.found; k++)
        for (uint32_t rest = may_race(check, &all[k], e) ? e->lanes : 0; rest && !check->race.found; rest &= rest - 1)
            if (races(check, c, k, *e, __builtin_ctz(rest))) {
                check->race = (Race){all[k], *e, .found = true, .same = sim_stores_same(check, __builtin_ctz(rest))};
                check->race.later.lanes = rest & -rest;
            }
}

// A word may say how far others are, where lanes update it or ask it as a flag: of those who wrote it last, until when.
static void hear_of_writers(const AccessCheck *check, ShadowCell *c)
{
    enum { LATEST = 8 };
    if (check->epoch.kind != ATOMIC_UPDATE && !check->asked)
        return;
    for (int k = c->count > LATEST ? c->count - LATEST : 0; k < c->count; k++)
        if (epochs_of(c)[k].kind == ATOMIC_UPDATE || epochs_of(c)[k].kind == STRONG_WRITE)
            sim_note_acquired_from(check->w, &epochs_of(c)[k]);
}

// Whether lanes ask the word once more, as in a loop that waits, and nobody has written it since: their first look was
// checked. (A volatile read on which no branch depends counts as one of data, and others may have been heard since.)
static bool ask_again(const AccessCheck *check, ShadowCell *c, const AccessRecord *e)
{
    if (e->kind != STRONG_READ || (check->i->semantics == VOLATILE && !check->asked))
        return false;
    const AccessRecord *all = epochs_of(c);
    for (int k = c->count; k-- > 0 && all[k].kind == STRONG_READ;)
        if (all[k].time == e->time && all[k].block == e->block && all[k].warp == e->warp && all[k].site == e->site &&
            all[k].bytes == e->bytes && !(e->lanes & ~all[k].lanes))
            return true;
    return false;
}

void sim_check_word(AccessCheck *check, ShadowCell *c, uint32_t lanes, unsigned bytes)
{
    AccessRecord e = check->epoch, *all = epochs_of(c);
    e.lanes = lanes;
    e.bytes = bytes & 15;
    if (ask_again(check, c, &e)) {
        hear_of_writers(check, c);
        return;
    }
    check_epochs(check, c, &e);
    hear_of_writers(check, c);
    bool merged = false;
    int kept = 0;
    for (int k = 0; k < c->count; k++) {
        AccessRecord *a = &all[k];
        const bool same_warp = a->block == e.block && a->warp == e.warp;
        const bool alike = same_warp && a->kind == e.kind && a->bytes == e.bytes && a->time == e.time;
        if (alike && is_strong(&e)) { // it becomes the last: has_taken asks who came behind a write
            e.lanes |= a->lanes;
            a->lanes = 0;
        } else if (alike && !merged) {
            a->lanes |= e.lanes;
            merged = true;
        } else if ((same_warp || e.kind == PLAIN_WRITE) && covers(&e, a)) {
            a->lanes = e.kind == PLAIN_WRITE ? 0 : a->lanes & ~e.lanes;
        } else if (ends_copy(check, a, &e)) {
            a->lanes &= ~e.lanes;
        }
        if (a->lanes && kept++ < k)
            all[kept - 1] = *a;
    }
    c->count = (uint8_t)kept;
    if (!merged)
        sim_insert_record(c, &e);
}
