// values.c: values that nobody wrote, from where they are read to where they matter.
//
// Reading such a value is no error yet: what is copied may have gaps, and what is read too early, or computed for an element that
// is none, may never be used. So it is followed through registers (value_results.c, value_bits.c) and memory, until it decides a
// branch on which more than registers depends (value_branches.c), is an address, or takes part in an atomic operation; or until the
// host gets it (undefined_copies.c). What is copied as a part of a structure, which may have parts that nobody sets, is no finding
// there. Only while a warp holds such a value is there anything to do.
#include "checker/undefined_copies.h"
#include "checker/value_bits.h"
#include "checker/value_table.h"
#include "machine/ops/lanes.h"

#include <string.h>

static const char *name_of(uint8_t space)
{
    return space == SHARED ? "shared memory" : space == LOCAL ? "local memory" : "global memory";
}

static Value value_read(const Instr *i, uint8_t what)
{
    return (Value){.read = i, .load = i, .what = what};
}

// The lanes of whose bytes nobody has written one: where a part was written, the rest is a gap.
static uint32_t lanes_never_written(const Access *access)
{
    const uint32_t all = access->bytes >= 32 ? ALL_LANES : (1u << access->bytes) - 1;
    uint32_t lanes = 0;
    for (uint32_t rest = access->has_unwritten ? access->mask : 0; rest; rest &= rest - 1)
        lanes |= access->unwritten[__builtin_ctz(rest)] == all ? rest & -rest : 0;
    return lanes;
}

void sim_note_loaded(Warp *w, const Instr *i, const Access *access)
{
    uint64_t bits[LANES];
    const uint32_t never = lanes_never_written(access);
    for (int k = 0; k < i->count; k++) {
        const unsigned first = (unsigned)(k * i->bytes);
        Value v = value_read(i, (uint8_t)access->space);
        v.bits = bits;
        const uint32_t mask = never | sim_find_origins(w, access, first, i->bytes, &v);
        v.from = mask && access->space == GLOBAL ? access->address[__builtin_ctz(mask)] + first : 0;
        if (i->list[k] != NOWHERE)
            sim_set_value(w, w->lanes + i->list[k], access->mask, mask, &v);
    }
}

void sim_note_inactive_sources(Warp *w, const Instr *i, uint32_t mask)
{
    const Value origin = value_read(i, STRANGER);
    if (w->lanes == w->path->frame->lanes)
        sim_set_value(w, w->lanes + i->d, mask, mask, &origin);
}

// ---- Where a value matters

static Report report_of(Warp *w, const Value *v, const Instr *i, int lane, const char *use)
{
    const Launch *launch = w->block->launch;
    const uint32_t thread = (uint32_t)(w->number * LANES + lane);
    char access[120];
    const bool stranger = v->what == STRANGER;
    Report before;
    const bool copied = v->from && sim_find_unwritten_copy(v->from, &before); // told is where it was read first
    const uint8_t what = copied ? before.what : v->what;
    if (stranger)
        snprintf(access, sizeof access, "gets the value of a lane that takes no part in the shuffle");
    else
        snprintf(access, sizeof access, "reads %s that nobody wrote", name_of(what));
    Report r = {.kind = stranger ? LANES_MISUSE : UNINITIALISED, .count = v->read == i && !copied ? 1 : 2, .what = what};
    r.places[0] = copied ? before.places[0] : sim_place_of(launch, w->block->number, thread, v->read, access);
    r.places[1] = sim_place_of(launch, w->block->number, thread, i, "uses it");
    if (stranger)
        snprintf(r.title, sizeof r.title, "the value of a lane that takes no part in a shuffle %s", use);
    else
        snprintf(r.title, sizeof r.title, "a value from %s that nobody wrote %s", name_of(what), use);
    r.hint = stranger ? "a lane may read only lanes that execute the same shuffle, and that its mask names"
             : what != SHARED && what != LOCAL
                 ? "nothing has written these bytes before: a cudaMemcpy, a cudaMemset or a kernel's store is missing"
                 : "no thread has written these bytes before: a store is missing, or it comes too late";
    return r;
}

static void report(Warp *w, const Value *v, const Instr *i, int lane, const char *use)
{
    const Cause cause = {w->block->launch, v->read, i, v->what};
    const Example here = {w->block->number, (uint32_t)(w->number * LANES + lane)};
    sim_await_turn(w->block); // a block that runs ahead may read too early
    if (sim_find_once_more(&cause, &here, 1))
        return;
    const Report r = report_of(w, v, i, lane, use);
    sim_add_finding_of(&cause, r.kind, r.title, r.places, r.count, r.hint);
}

static void note_stored(Warp *w, const Value *v, const Instr *i, int lane, uint64_t address, size_t bytes, Matters matters)
{
    sim_await_turn(w->block);
    if (sim_note_unwritten_copy(v->read, i, address, bytes, matters))
        return;
    const Report r = report_of(w, v, i, lane, "is stored in global memory, and copied to the host");
    sim_tell_of_unwritten_copies(v->read, i, address, matters, &r);
    sim_note_unwritten_copy(v->read, i, address, bytes, matters);
}

void sim_report_uninitialised(Warp *w, const Instr *i, const Access *access)
{
    Value v = value_read(i, (uint8_t)access->space);
    const uint32_t lanes = lanes_never_written(access);
    if (!lanes)
        return;
    v.from = access->space == GLOBAL ? access->address[__builtin_ctz(lanes)] : 0;
    report(w, &v, i, __builtin_ctz(lanes), "takes part in an atomic operation");
}

static void matters(Warp *w, const Operand *o, const Instr *i, uint32_t mask, const char *use)
{
    uint32_t lanes = 0;
    const Value *v = sim_value_in(w, o, mask, &lanes);
    if (v)
        report(w, v, i, __builtin_ctz(lanes), use);
}

// Whether it is the argument of a kernel that is to be launched: of a structure some parts may be nobody's.
static bool is_argument(uint64_t address)
{
    const Allocation *a = sim_allocation_at(address);
    return a && a->kind == PARAMETER_MEMORY && address - a->address < a->bytes;
}

// Whether a register is another one between two instructions, the first of which comes first.
static bool is_set_between(const Instr *first, const Instr *second, uint32_t place)
{
    for (const Instr *i = first; i < second; i++) {
        bool sets = i->d == place;
        for (int k = 0; i->kind == LOAD && k < i->count; k++)
            sets |= i->list[k] == place;
        if (sets)
            return true;
    }
    return first >= second;
}

// In which lanes the store sets a bit field: the other bits go back to where they were read. Their bytes count as written then,
// as those of gaps do.
static uint32_t lanes_that_set_field(const Program *p, const Value *v, const Instr *store)
{
    const Instr *load = v->read;
    if (load < p->code || load >= p->code + p->count) // another function's
        return 0;
    const Address *from = &load->at, *to = &store->at;
    const bool same_place = load->kind == LOAD && load->count == 1 && store->count == 1 && load->bytes == store->bytes &&
                            from->base == to->base && from->offset == to->offset && from->space == to->space;
    return v->partial && same_place && !is_set_between(load, store, to->base) ? v->partial : 0;
}

// Takes the first of some lanes, and those whose bytes lie behind its own, out of `lanes`; how many bytes that are.
static size_t take_run(const uint64_t *address, size_t bytes, uint32_t *lanes)
{
    const uint64_t first = address[__builtin_ctz(*lanes)];
    size_t length = 0;
    for (; *lanes && address[__builtin_ctz(*lanes)] == first + length; *lanes &= *lanes - 1)
        length += bytes;
    return length;
}

// So many bytes of each of these lanes count as not written again, from its address on.
static void keep_unwritten(Warp *w, const Value *v, const Instr *i, const uint64_t *address, size_t bytes, uint32_t lanes, Matters matters)
{
    while (lanes) {
        const int first = __builtin_ctz(lanes);
        const size_t length = take_run(address, bytes, &lanes);
        if (matters != NOWHERE_ELSE)
            note_stored(w, v, i, first, address[first], length, matters);
        else
            sim_forget_unwritten_copy(address[first], length);
        sim_mark_unwritten(w, first, GLOBAL, address[first], length);
    }
}

// The same of those bytes of lanes' of which nobody has set a bit.
static void keep_unwritten_bytes(Warp *w, const Value *v, const Instr *i, const uint64_t *address, uint32_t lanes)
{
    for (uint32_t rest = i->count == 1 ? lanes : 0; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        for (unsigned k = 0; k < i->bytes; k++)
            if ((v->bits[l] >> 8 * k & 255) == 255)
                sim_mark_unwritten(w, l, GLOBAL, address[l] + k, 1);
    }
}

// Of a vector with some numbers that are known, those that were computed from it.
static void keep_elements(Warp *w, const Instr *i, const uint64_t *address, uint32_t lanes)
{
    const Operand *vector = &i->statement->operands[1];
    for (int k = 0; k < vector->count && lanes; k++) {
        const Value *v = sim_value_of(w, vector->elements[k].reg, lanes);
        uint64_t places[LANES];
        for (int l = 0; l < LANES; l++)
            places[l] = address[l] + (size_t)k * i->bytes;
        if (v)
            keep_unwritten(w, v, i, places, i->bytes, v->mask & v->computed & lanes, SINGLY);
    }
}

// It goes to global memory; `unset`: the lanes that store nothing else. Its bytes count as not written there, and are asked for
// again. What is told at once: where it is not known who wrote what; and of a stranger, whose value is no memory's.
static void store_in_global(Warp *w, const Value *v, const Instr *i, const uint64_t *address, uint32_t lanes, uint32_t unset)
{
    const bool structure = v->what != STRANGER && sim_is_structures(w, v, i);
    const uint32_t computed = lanes & v->computed, parts = structure ? lanes & ~computed : 0;
    const uint32_t by_bytes = v->partial & ~computed;
    const size_t bytes = (size_t)i->bytes * i->count;
    uint32_t known = 0;
    for (uint32_t rest = v->what == STRANGER ? 0 : lanes; rest; rest &= rest - 1)
        known |= sim_starts_unwritten(address[__builtin_ctz(rest)]) ? rest & -rest : 0;
    if (lanes & ~known & ~parts) {
        report(w, v, i, __builtin_ctz(lanes & ~known & ~parts), "is stored in global memory");
        return;
    }
    unset &= known;
    if (i->semantics != WEAK) { // others wait for it, and ask for it as a whole
        keep_unwritten(w, v, i, address, bytes, unset & parts, NOWHERE_ELSE);
        keep_unwritten(w, v, i, address, bytes, unset & ~parts, SINGLY);
        return;
    }
    keep_unwritten(w, v, i, address, bytes, unset & computed, structure ? IN_ROWS : SINGLY);
    keep_unwritten(w, v, i, address, bytes, unset & ~computed & ~by_bytes, structure ? NOWHERE_ELSE : IN_ROWS);
    keep_unwritten_bytes(w, v, i, address, unset & by_bytes);
    if (i->count > 1 && !structure)
        keep_elements(w, i, address, known & ~unset);
}

// Sets the bits of those that a store takes from a register, where they are not all; returns the lanes in which there are any.
static uint32_t find_bits_stored(const Instr *i, const Value *held, Value *stored)
{
    const uint64_t all = i->bytes >= 8 ? ALL_BITS : (1ull << 8 * i->bytes) - 1;
    uint32_t any = ALL_LANES;
    stored->partial = 0;
    for (uint32_t rest = held && i->count == 1 ? held->partial & held->mask : 0; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        const uint64_t bits = stored->bits[l] = held->bits[l] & all;
        any &= bits == 0 ? ~(1u << l) : ALL_LANES;
        stored->partial |= bits != 0 && bits != all ? 1u << l : 0;
    }
    return any;
}

// What nobody wrote goes to memory, whose bytes then count as not written again; not where a part of a vector was set.
void sim_follow_store(Warp *w, const Instr *i, uint32_t mask)
{
    const Operand *value = &i->statement->operands[1];
    uint32_t lanes = 0, global = 0;
    uint64_t bits[LANES];
    const Value *held = sim_value_in(w, value, mask, &lanes);
    if (held)
        lanes &= ~lanes_that_set_field(w->path->frame->function->program, held, i);
    Value stored = held ? *held : (Value){.mask = 0}, *const v = &stored;
    v->bits = bits;
    lanes &= find_bits_stored(i, held, v);
    if (!lanes)
        return;
    const uint32_t unset = i->count == 1 ? lanes : lanes & sim_lanes_unset(w, value, mask);
    uint64_t address[LANES];
    sim_find_addresses(w, i, address);
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        const Space space = i->at.space == GENERIC ? sim_space_at(address[l]) : (Space)i->at.space;
        if (i->at.space == GENERIC)
            address[l] = sim_offset_of_generic(address[l]);
        if (space != SHARED && space != LOCAL) {
            global |= is_argument(address[l]) ? 0 : 1u << l;
            continue;
        }
        sim_keep_origin(w, l, space, address[l], (size_t)i->bytes * i->count, v);
        for (unsigned k = 0; v->partial >> l & 1 && k < i->bytes; k++)
            if (v->bits[l] >> 8 * k & 255)
                sim_mark_unwritten(w, l, space, address[l] + k, 1);
        if (unset & ~v->partial & 1u << l)
            sim_mark_unwritten(w, l, space, address[l], (size_t)i->bytes * i->count);
    }
    if (global)
        store_in_global(w, v, i, address, global, global & unset);
}

void sim_check_uses(Warp *w, const Instr *i)
{
    const Statement *s = i->statement;
    uint32_t mask = w->path->mask;
    if (!s)
        return;
    sim_end_undecided(w, i);
    const Value *guard = sim_value_of(w, s->guard, mask);
    if (guard && !sim_begin_undecided(w, i, guard->mask & mask, guard))
        report(w, guard, i, __builtin_ctz(guard->mask & mask),
               i->control == BRANCH ? "decides a branch" : "decides what runs");
    if (s->guard)
        mask &= *(const uint32_t *)(w->lanes + s->guard->slot) ^ (s->guard_negated ? ALL_LANES : 0);
    for (int k = 0; k < s->count && mask; k++)
        if (s->operands[k].address)
            matters(w, &s->operands[k], i, mask, "is an address");
    const bool moves_bits = i->kind == ATOMIC && i->op >= ATOMIC_AND; // then some may be nobody's
    if (i->kind == ATOMIC && mask)
        for (int k = 0; k < s->count; k++) {
            const Operand *o = &s->operands[k];
            if (!o->address && !(k == 0 && s->operands[1].address))
                matters(w, o, i, moves_bits ? sim_lanes_unset(w, o, mask) : mask, "takes part in an atomic operation");
        }
}
