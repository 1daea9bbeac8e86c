// values.c: values that nobody wrote, from where they are read to where they matter.
//
// Reading such a value is no error yet: what is copied may have gaps, and what is read too early may never be used.
// So it is followed through registers and memory, until it decides a branch, is an address, takes part in an atomic
// operation, or something is computed from it and goes to global memory. What is only copied there matters when the host
// gets it (unwritten_copies.c); but not where a whole structure is copied, which may have parts that nobody sets. (So does
// what atomic and volatile accesses store, computed or not: a flag may tell all that a thread has, also what nobody uses.)
// Only while a warp holds such a value is there anything to do.
#include "checker/unwritten_copies.h"
#include "checker/value_bits.h"
#include "checker/value_copies.h"
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
    Value origin = value_read(i, (uint8_t)access->space);
    const uint32_t mask = lanes_never_written(access);
    origin.from = mask && access->space == GLOBAL ? access->address[__builtin_ctz(mask)] : 0;
    origin.bits = i->count == 1 ? bits : NULL;
    sim_find_origins(w, access, mask, &origin);
    for (int k = 0; k < i->count; k++)
        if (i->list[k] != NOWHERE)
            sim_set_value(w, w->lanes + i->list[k], access->mask, mask, &origin);
}

void sim_note_strangers(Warp *w, const Instr *i, uint32_t mask)
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

static void note_stored(Warp *w, const Value *v, const Instr *i, int lane, uint64_t address, size_t bytes)
{
    sim_await_turn(w->block);
    if (sim_note_unwritten_copy(v->read, i, address, bytes))
        return;
    const Report r = report_of(w, v, i, lane, "is stored in global memory, and copied to the host");
    sim_tell_of_unwritten_copies(v->read, i, address, &r);
    sim_note_unwritten_copy(v->read, i, address, bytes);
}

void sim_report_unwritten(Warp *w, const Instr *i, const Access *access)
{
    Value v = value_read(i, (uint8_t)access->space);
    const uint32_t lanes = lanes_never_written(access);
    if (!lanes)
        return;
    v.from = access->space == GLOBAL ? access->address[__builtin_ctz(lanes)] : 0;
    report(w, &v, i, __builtin_ctz(lanes), "takes part in an atomic operation");
}

static const Value *value_of(const Warp *w, const Register *reg, uint32_t mask)
{
    const Value *v = reg ? sim_find_value(w, w->path->frame->lanes + reg->slot) : NULL;
    return v && v->mask & mask ? v : NULL;
}

// The value that an operand holds in some lanes of mask, and in which.
static const Value *value_in(const Warp *w, const Operand *o, uint32_t mask, uint32_t *lanes)
{
    const Value *found = value_of(w, o->reg, mask);
    *lanes |= found ? found->mask & mask : 0;
    for (int k = 0; k < o->count; k++) {
        const Value *v = value_in(w, &o->elements[k], mask, lanes);
        found = found ? found : v;
    }
    return found;
}

// The lanes in which all that an operand holds is such a value, of which nobody has set a bit.
static uint32_t lanes_unset(const Warp *w, const Operand *o, uint32_t mask)
{
    const Value *v = value_of(w, o->reg, mask);
    uint32_t lanes = o->count ? mask : v ? v->mask & mask & ~v->partial : 0;
    for (int k = 0; k < o->count; k++)
        lanes &= lanes_unset(w, &o->elements[k], mask);
    return lanes;
}

static void matters(Warp *w, const Operand *o, const Instr *i, uint32_t mask, const char *use)
{
    uint32_t lanes = 0;
    const Value *v = value_in(w, o, mask, &lanes);
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
static uint32_t lanes_that_set_field(const Value *v, const Instr *store)
{
    const Instr *load = v->read;
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

// Its lanes' bytes count as not written again. `noted`: it is looked for there when the host copies them.
static void keep_unwritten(Warp *w, const Value *v, const Instr *i, const uint64_t *address, uint32_t lanes, bool noted)
{
    while (lanes) {
        const int first = __builtin_ctz(lanes);
        const size_t bytes = take_run(address, (size_t)i->bytes * i->count, &lanes);
        if (!sim_starts_unwritten(address[first]))
            continue;
        if (noted)
            note_stored(w, v, i, first, address[first], bytes);
        sim_unmark_written(w, first, GLOBAL, address[first], bytes);
    }
}

// The same of those bytes of lanes' of which nobody has set a bit.
static void keep_unwritten_bytes(Warp *w, const Value *v, const Instr *i, const uint64_t *address, uint32_t lanes)
{
    for (uint32_t rest = i->count == 1 ? lanes : 0; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        for (unsigned k = 0; k < i->bytes && sim_starts_unwritten(address[l]); k++)
            if ((v->bits[l] >> 8 * k & 255) == 255)
                sim_unmark_written(w, l, GLOBAL, address[l] + k, 1);
    }
}

// It goes to global memory. Told at once is what is no part of a structure and was computed from it, or comes from a variable of the
// thread; and all that goes where it is not known who wrote what.
static void store_in_global(Warp *w, const Value *v, const Instr *i, const uint64_t *address, uint32_t lanes, uint32_t unset)
{
    const uint32_t copied = v->what == STRANGER ? 0 : lanes & ~v->computed;
    const uint32_t parts = v->what != STRANGER && sim_is_structures(w, v, i) ? lanes : 0;
    const uint32_t later = i->semantics != WEAK ? lanes : v->what != LOCAL ? copied : 0;
    for (uint32_t rest = lanes & ~parts; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        if (!(later >> l & 1) || !sim_starts_unwritten(address[l])) {
            report(w, v, i, l, "is stored in global memory");
            return;
        }
    }
    const uint32_t by_bytes = i->semantics == WEAK ? v->partial : 0; // what others wait for is asked for as a whole
    keep_unwritten(w, v, i, address, unset & parts & copied & ~by_bytes, false);
    keep_unwritten(w, v, i, address, unset & ~(parts & copied) & ~by_bytes, true);
    keep_unwritten_bytes(w, v, i, address, unset & by_bytes);
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
static void store(Warp *w, const Instr *i, uint32_t mask)
{
    const Operand *value = &i->statement->operands[1];
    uint32_t lanes = 0, global = 0;
    uint64_t bits[LANES];
    const Value *held = value_in(w, value, mask, &lanes);
    if (held)
        lanes &= ~lanes_that_set_field(held, i);
    Value stored = held ? *held : (Value){.mask = 0}, *const v = &stored;
    v->bits = bits;
    lanes &= find_bits_stored(i, held, v);
    if (!lanes)
        return;
    const uint32_t unset = i->count == 1 ? lanes : lanes & lanes_unset(w, value, mask);
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
        sim_keep_origin(w, l, space, address[l], v);
        if (unset >> l & 1)
            sim_unmark_written(w, l, space, address[l], (size_t)i->bytes * i->count);
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
    const Value *guard = value_of(w, s->guard, mask);
    if (guard)
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
                matters(w, o, i, moves_bits ? lanes_unset(w, o, mask) : mask, "takes part in an atomic operation");
        }
}

// ---- From register to register

static void set_operand(Warp *w, const Operand *o, uint32_t mask, uint32_t lanes, const Value *origin)
{
    if (o->reg)
        sim_set_value(w, w->path->frame->lanes + o->reg->slot, mask, lanes, origin);
    if (o->second)
        sim_set_value(w, w->path->frame->lanes + o->second->slot, mask, lanes, origin);
    for (int k = 0; k < o->count; k++)
        set_operand(w, &o->elements[k], mask, lanes, origin);
}

// ---- Bits

static uint64_t unwritten_in_lane(const Value *v, int lane)
{
    if (!v || !(v->mask >> lane & 1))
        return 0;
    return v->partial >> lane & 1 ? v->bits[lane] : ALL_BITS;
}

// What a load has put into a register wider than what it brought: the bits above are zeros, unless it has a sign.
static uint64_t within_load(const Warp *w, const Value *v, const Register *reg, uint64_t unwritten)
{
    const Instr *load = v ? v->load : NULL;
    const bool narrow = load && load->kind == LOAD && load->count == 1 && load->bytes < load->register_bytes &&
                        !(load->flags & SIGNED_VALUE) && v->lanes == w->path->frame->lanes + load->list[0] && reg->slot == load->list[0];
    return narrow ? unwritten & ((1ull << 8 * load->bytes) - 1) : unwritten;
}

static uint64_t register_in_lane(const Warp *w, const Register *reg, int lane)
{
    uint64_t value = 0;
    const size_t bytes = (size_t)sim_type_bytes(reg->type);
    memcpy(&value, w->path->frame->lanes + reg->slot + (size_t)lane * bytes, bytes);
    return value;
}

// What an operation found in an operand. Of a register that is its result, too, the value is gone.
static Bits bits_in_lane(const Warp *w, const Operand *o, const Register *result, int lane)
{
    const bool readable = o->reg && o->reg != result && o->reg->type != PRED && sim_type_bytes(o->reg->type) <= 8;
    const Value *v = o->reg ? sim_find_value(w, w->path->frame->lanes + o->reg->slot) : NULL;
    const uint64_t held = unwritten_in_lane(v, lane), unwritten = within_load(w, v, o->reg, held);
    if (o->kind != IS_INTEGER && !readable)
        return (Bits){.unwritten = unwritten, .whole = held == ALL_BITS};
    const uint64_t value = readable ? register_in_lane(w, o->reg, lane) : (uint64_t)o->integer;
    return (Bits){unwritten, ~value & ~unwritten, value & ~unwritten, held == ALL_BITS};
}

// Of several registers that one is made of, the first of which are its lowest bits.
static Bits bits_of_parts(const Warp *w, const Operand *o, const Register *result, int lane)
{
    const int width = 8 * sim_type_bytes(result->type) / o->count;
    Bits all = {.whole = true};
    for (int k = 0; k < o->count && width * o->count <= 64; k++) {
        const Bits part = bits_in_lane(w, &o->elements[k], result, lane);
        all.unwritten |= (part.unwritten & ALL_BITS >> (64 - width)) << width * k;
        all.whole &= part.whole;
    }
    return all.whole ? (Bits){.unwritten = ALL_BITS, .whole = true} : all;
}

// In which lanes a predicate is so, and known to be.
static uint32_t lanes_that_are(const Warp *w, const Operand *o, bool value)
{
    const Value *v = o->reg ? sim_find_value(w, w->path->frame->lanes + o->reg->slot) : NULL;
    if (!o->reg)
        return 0;
    const uint32_t is = *(const uint32_t *)(w->path->frame->lanes + o->reg->slot);
    return (is ^ (o->negated == value ? ALL_LANES : 0)) & ~(v ? v->mask : 0);
}

// In which of these lanes a comparison comes out the same whatever the undefined bits are.
static uint32_t lanes_compared(const Warp *w, const Instr *i, uint32_t lanes)
{
    const Operand *o = i->statement->operands;
    uint32_t decided = 0;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        if (sim_is_decided(i, bits_in_lane(w, &o[1], NULL, l), bits_in_lane(w, &o[2], NULL, l)))
            decided |= 1u << l;
    }
    return decided;
}

// In which of these lanes the result is what it is whatever the undefined values are: false && x, and what a selp does not take.
static uint32_t decided_lanes(const Warp *w, const Instr *i, uint32_t lanes)
{
    const Statement *s = i->statement;
    const Operand *o = s->operands;
    uint32_t first = 0, second = 0;
    for (int k = 1; k < s->count; k++)
        if (o[k].reg && (o[k].reg == o[0].reg || o[k].reg == o[0].second))
            return 0; // it has been overwritten
    if ((i->kind == LOGICAL_AND || i->kind == LOGICAL_OR) && i->type == PRED) {
        const bool deciding = i->kind == LOGICAL_OR;
        return lanes_that_are(w, &o[1], deciding) | lanes_that_are(w, &o[2], deciding);
    }
    if (i->kind == COMPARE) {
        const bool combines = i->flags & COMBINE;
        const uint32_t with = combines ? lanes_that_are(w, &o[3], true) | lanes_that_are(w, &o[3], false) : ALL_LANES,
                       by_other = combines && i->combine != COMBINE_XOR ? lanes_that_are(w, &o[3], i->combine == COMBINE_OR) : 0;
        return by_other | lanes_compared(w, i, lanes & with & ~by_other);
    }
    if (i->kind != SELECT)
        return 0;
    value_in(w, &o[1], ALL_LANES, &first);
    value_in(w, &o[2], ALL_LANES, &second);
    return (lanes_that_are(w, &o[3], true) & ~first) | (lanes_that_are(w, &o[3], false) & ~second);
}

// The lanes in which what an operand holds was computed.
static uint32_t lanes_computed(const Warp *w, const Operand *o, uint32_t mask)
{
    const Value *v = value_of(w, o->reg, mask);
    uint32_t lanes = v ? v->computed & v->mask : 0;
    for (int k = 0; k < o->count; k++)
        lanes |= lanes_computed(w, &o->elements[k], mask);
    return lanes;
}

// Those in which the result is computed, and not an operand as it was: of a choice, those whose operand was.
static uint32_t lanes_computed_by(const Warp *w, const Instr *i, uint32_t mask)
{
    const Operand *o = i->statement->operands;
    const uint32_t first = lanes_computed(w, &o[1], mask), second = lanes_computed(w, &o[2], mask);
    if (!sim_moves_bits(i))
        return ALL_LANES;
    if (i->kind != SELECT)
        return first | second;
    const uint32_t chosen = lanes_that_are(w, &o[3], true), other = lanes_that_are(w, &o[3], false);
    return (first & chosen) | (second & other) | ~(chosen | other);
}

// Of a choice, those of what is chosen, where that is known.
static uint64_t bits_chosen(const Warp *w, const Instr *i, int lane, const Bits o[MOST_BITS], uint64_t otherwise)
{
    const Operand *by = &i->statement->operands[3];
    if (lanes_that_are(w, by, true) >> lane & 1)
        return o[1].unwritten;
    return lanes_that_are(w, by, false) >> lane & 1 ? o[2].unwritten : otherwise;
}

static void find_operands_bits(const Warp *w, const Instr *i, int lane, Bits o[MOST_BITS])
{
    const Statement *s = i->statement;
    for (int k = 1; k < MOST_BITS; k++)
        if (k >= s->count)
            o[k] = (Bits){0};
        else if (s->operands[k].count)
            o[k] = bits_of_parts(w, &s->operands[k], s->operands[0].reg, lane);
        else
            o[k] = bits_in_lane(w, &s->operands[k], s->operands[0].reg, lane);
}

// Sets the bits of the result where they are not all, and says in which of these lanes there are any.
static uint32_t find_bits(const Warp *w, const Instr *i, uint32_t lanes, Value *result)
{
    const Operand *o = i->statement->operands;
    const uint32_t operands_computed = lanes_computed(w, &o[1], lanes) | lanes_computed(w, &o[2], lanes) | lanes_computed(w, &o[3], lanes);
    result->partial = 0;
    if (!o[0].reg || (o[1].count && i->kind != MOVE) || i->kind == OTHER_KIND)
        return lanes;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        Bits operands[MOST_BITS];
        find_operands_bits(w, i, l, operands);
        const uint64_t known = sim_bits_of_result(i, operands, result->what == LOCAL),
                       bits = i->kind == SELECT ? bits_chosen(w, i, l, operands, known) : known;
        if (bits == 0)
            lanes &= ~(1u << l);
        else if (bits != ALL_BITS)
            result->partial |= 1u << l;
        result->bits[l] = bits;
        if (sim_adds_nothing(i, operands))
            result->computed &= operands_computed | ~(1u << l);
    }
    return lanes;
}

// One register is taken apart: each part gets its bits.
static void take_apart(Warp *w, const Instr *i, uint32_t mask, uint32_t lanes, const Value *from)
{
    const Operand *to = &i->statement->operands[0];
    const int width = 8 * sim_type_bytes(i->statement->operands[1].reg->type) / to->count;
    const uint64_t all = ALL_BITS >> (64 - width);
    for (int k = 0; k < to->count; k++) {
        uint64_t bits[LANES];
        uint32_t any = lanes;
        Value part = *from;
        part.bits = bits;
        for (uint32_t rest = lanes & from->partial; rest; rest &= rest - 1) {
            const int l = __builtin_ctz(rest);
            bits[l] = from->bits[l] >> width * k & all;
            any &= bits[l] == 0 ? ~(1u << l) : ALL_LANES;
            part.partial &= bits[l] == all ? ~(1u << l) : ALL_LANES;
        }
        set_operand(w, &to->elements[k], mask, any, &part);
    }
}

void sim_follow_values(Warp *w, const Instr *i, uint32_t mask)
{
    const Statement *s = i->statement;
    if (!s || s->count == 0 || i->kind == LOAD)
        return;
    if (i->kind == STORE) {
        store(w, i, mask);
        return;
    }
    if (s->operands[0].address)
        return;
    uint32_t lanes = 0;
    uint64_t bits[LANES];
    const Value *found = NULL;
    for (int k = 1; k < s->count; k++) {
        const Value *v = s->operands[k].address ? NULL : value_in(w, &s->operands[k], mask, &lanes);
        found = found ? found : v;
    }
    if (lanes)
        lanes &= ~decided_lanes(w, i, lanes);
    Value result = found ? *found : (Value){.mask = 0};
    result.bits = bits;
    result.computed = lanes_computed_by(w, i, mask);
    if (i->kind == MOVE && s->operands[0].count && s->operands[1].reg && lanes) {
        take_apart(w, i, mask, lanes, found);
        return;
    }
    if (lanes)
        lanes = find_bits(w, i, lanes, &result);
    set_operand(w, &s->operands[0], mask, lanes, &result);
}

// A shuffle: lanes get what others hold. It is done once more, with the lanes' numbers, counted from 1, for values that nobody wrote.
void sim_follow_shuffle(Warp *w, const Instr *i, uint32_t mask)
{
    struct { uint32_t a[LANES], b[LANES], c[LANES], d[LANES], second; } g;
    const Value *v = sim_find_value(w, w->lanes + i->a);
    const Value from = v ? *v : (Value){.mask = 0};
    uint8_t *const lanes = w->lanes;
    uint64_t bits[LANES];
    Value result = from;
    uint32_t undefined = 0;
    for (uint32_t l = 0; l < LANES; l++)
        g.a[l] = from.mask >> l & 1 ? l + 1 : 0;
    memcpy(g.b, lanes + i->b, sizeof g.b);
    memcpy(g.c, lanes + i->c, sizeof g.c);
    Instr one = *i;
    one.a = offsetof(typeof(g), a);
    one.b = offsetof(typeof(g), b);
    one.c = offsetof(typeof(g), c);
    one.d = offsetof(typeof(g), d);
    one.second = NOWHERE;
    w->lanes = (uint8_t *)&g;
    i->run(w, &one, mask);
    w->lanes = lanes;
    result.partial = result.computed = 0;
    result.bits = bits;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        const uint32_t other = g.d[l] - 1;
        if (g.d[l] == 0)
            continue;
        undefined |= 1u << l;
        result.computed |= (from.computed >> other & 1) << l;
        result.partial |= (from.partial >> other & 1) << l;
        bits[l] = from.bits ? from.bits[other] : 0;
    }
    sim_set_value(w, w->lanes + i->d, mask, undefined, &result);
}
