// values.c: tracks undefined values from an uninitialised read to a use that affects the program.
//
// The read alone is not an error: padding may be copied, and a value that was read too early or past the end may remain unused. Therefore
// a value is tracked through registers (value_results.c, value_bits.c) and memory until it decides a branch with effects other than on
// registers (value_branches.c), is used as an address, takes part in an atomic operation, or is copied to the host (undefined_copies.c).
// Parts of copied structures may be padding and are not reported. Warps without undefined values have no overhead.
#include "checker/undefined_copies.h"
#include "checker/value_table.h"
#include "checker/values.h"
#include "machine/ops/lanes.h"

#include <string.h>

static const char *space_name(uint8_t space)
{
    return space == SHARED ? "shared memory" : space == LOCAL ? "local memory" : "global memory";
}

static UndefinedValue value_loaded_by(const Instr *i, uint8_t source)
{
    return (UndefinedValue){.read = i, .load = i, .source = source};
}

// The lanes in which `bytes` bytes, from byte `first` of the access, are uninitialised. If only a part of them is, it counts as a gap in a
// structure.
static uint32_t uninitialised_lanes(const Access *access, unsigned first, unsigned bytes)
{
    const uint32_t all = (uint32_t)((1ull << bytes) - 1);
    uint32_t lanes = 0;
    for (uint32_t rest = access->has_unwritten ? access->mask : 0; rest; rest &= rest - 1)
        lanes |= (access->unwritten[__builtin_ctz(rest)] >> first & all) == all ? rest & -rest : 0;
    return lanes;
}

void sim_note_loaded(Warp *w, const Instr *i, const Access *access)
{
    const uint64_t all = sim_low_ones(i->bytes), sign = i->flags & SIGNED_VALUE && i->bytes < i->register_bytes ? all ^ all >> 1 : 0;
    for (int k = 0; k < i->count; k++) {
        const unsigned first = (unsigned)(k * i->bytes);
        UndefinedValue v = value_loaded_by(i, (uint8_t)access->space);
        const uint32_t undefined = v.full = uninitialised_lanes(access, first, i->bytes);
        for (int l = 0; l < LANES; l++)
            v.bits[l] = all;
        v.mask = undefined | sim_find_origins(w, access, first, i->bytes, &v);
        v.from = v.mask && access->space == GLOBAL ? access->address[__builtin_ctz(v.mask)] + first : 0;
        for (int l = 0; l < LANES; l++)
            v.bits[l] |= v.bits[l] & sign ? ~all : 0;
        if (!is_sink(i, k))
            sim_set_value(w, w->registers + i->elements[k], access->mask, &v);
    }
}

void sim_note_inactive_sources(Warp *w, const Instr *i, uint32_t mask)
{
    UndefinedValue origin = value_loaded_by(i, INACTIVE_LANE);
    origin.mask = mask;
    const Operand result = {.reg = i->statement->operands[0].reg};
    if (w->registers == w->current_split->frame->registers)
        sim_set_all_undefined(w, &result, mask, &origin);
}

// ---- Uses that affect the program

static DeferredFinding report_of(Warp *w, const UndefinedValue *v, const Instr *i, int lane, const char *use)
{
    char access[120];
    const bool inactive_source = v->source == INACTIVE_LANE;
    DeferredFinding copied_report;
    const bool copied = v->from && sim_find_undefined_copy(v->from, &copied_report); // then report the first read
    const uint8_t source = copied ? copied_report.source : v->source;
    if (inactive_source)
        snprintf(access, sizeof access, "shuffle from an inactive lane");
    else
        snprintf(access, sizeof access, "uninitialised read");
    DeferredFinding r = {.kind = inactive_source ? INVALID_WARP_OPERATION : UNINITIALISED, .count = v->read == i && !copied ? 1 : 2, .source = source};
    r.locations[0] = copied ? copied_report.locations[0] : sim_lane_location(w, lane, v->read, access, inactive_source ? OTHER_ROLE : READS);
    r.locations[1] = sim_lane_location(w, lane, i, "value used", OTHER_ROLE);
    if (inactive_source)
        snprintf(r.title, sizeof r.title, "the value of a lane that does not take part in a shuffle %s", use);
    else
        snprintf(r.title, sizeof r.title, "a value from uninitialised %s %s", space_name(source), use);
    r.hint = inactive_source ? "read only from lanes that execute the same shuffle and are in its mask"
             : source != SHARED && source != LOCAL
                 ? "write these bytes before the read: with cudaMemcpy(), cudaMemset() or a kernel's store"
                 : "store to these bytes before the read: the store is missing, or too late";
    return r;
}

static void report(Warp *w, const UndefinedValue *v, const Instr *i, int lane, const char *use)
{
    const FindingKey key = {w->block->launch, v->read, i, v->source};
    const ExampleThread example = {w->block->number, (uint32_t)(w->number * LANES + lane)};
    sim_wait_for_earlier_blocks(w->block); // a speculative run may read before an earlier block writes
    if (sim_count_occurrence(&key, &example, 1))
        return;
    const DeferredFinding r = report_of(w, v, i, lane, use);
    sim_add_keyed_finding(&key, r.kind, r.title, r.locations, r.count, r.hint, NULL);
}

void sim_report_uninitialised(Warp *w, const Instr *i, const Access *access)
{
    UndefinedValue v = value_loaded_by(i, (uint8_t)access->space);
    const uint32_t lanes = uninitialised_lanes(access, 0, (unsigned)access->bytes);
    if (!lanes)
        return;
    v.from = access->space == GLOBAL ? access->address[__builtin_ctz(lanes)] : 0;
    report(w, &v, i, __builtin_ctz(lanes), "takes part in an atomic operation");
}

static void report_use(Warp *w, const Operand *o, const Instr *i, uint32_t mask, const char *use)
{
    uint32_t lanes = 0;
    const UndefinedValue *v = sim_value_in(w, o, mask, &lanes);
    if (v)
        report(w, v, i, __builtin_ctz(lanes), use);
}

// True if the address is in the arguments of a kernel that is about to be launched, which may contain padding.
static bool is_argument(uint64_t address)
{
    const Allocation *a = sim_allocation_at(address);
    return a && a->kind == PARAMETER_MEMORY && address - a->address < a->bytes;
}

// Removes from `lanes` the first lane and those with adjacent bytes; returns the number of their bytes.
static size_t pop_adjacent(const uint64_t *address, size_t bytes, uint32_t *lanes)
{
    const uint64_t first = address[__builtin_ctz(*lanes)];
    size_t length = 0;
    for (; *lanes && address[__builtin_ctz(*lanes)] == first + length; *lanes &= *lanes - 1)
        length += bytes;
    return length;
}

// Marks bytes of global memory as unwritten again: an undefined value was stored there.
static void mark_undefined(Warp *w, const UndefinedValue *v, const Instr *i, int lane, uint64_t address, size_t bytes, ReportRule rule)
{
    sim_wait_for_earlier_blocks(w->block);
    if (!sim_note_undefined_copy(v->read, i, address, bytes, rule)) {
        const DeferredFinding r = report_of(w, v, i, lane, "is stored in global memory and copied to the host");
        sim_add_undefined_copy(v->read, i, rule, &r);
        sim_note_undefined_copy(v->read, i, address, bytes, rule);
    }
    sim_mark_unwritten(w, lane, GLOBAL, address, bytes);
}

// Undefined values are stored in global memory. A partly undefined copy leaves only its wholly undefined bytes unwritten. The store itself
// is reported if initialisation is not tracked at its address, or if the value came from an inactive lane.
static void propagate_global_store(Warp *w, const UndefinedValue *v, const Instr *i, const uint64_t *address, uint32_t lanes)
{
    const bool in_structure = v->source != INACTIVE_LANE && sim_copies_member(w, v, i), is_strong = i->semantics != WEAK; // others may poll it
    const ReportRule of_computed = in_structure && !is_strong ? REPORT_LONG_RUNS : REPORT_ANY,
                     of_copied = in_structure ? REPORT_NEVER : is_strong ? REPORT_ANY : REPORT_LONG_RUNS;
    const uint32_t whole = is_strong ? ALL_LANES : v->full | v->computed;
    uint32_t tracked = 0;
    for (uint32_t rest = v->source == INACTIVE_LANE ? 0 : lanes; rest; rest &= rest - 1)
        tracked |= sim_address_starts_uninitialised(address[__builtin_ctz(rest)]) ? rest & -rest : 0;
    const uint32_t reported = lanes & ~tracked & (in_structure ? v->computed : ALL_LANES);
    if (reported) {
        report(w, v, i, __builtin_ctz(reported), "is stored in global memory");
        return;
    }
    lanes &= tracked;
    while (lanes & whole) {
        const int first = __builtin_ctz(lanes & whole);
        uint32_t same = lanes & whole & (v->computed >> first & 1 ? v->computed : ~v->computed), rest = same;
        const size_t length = pop_adjacent(address, i->bytes, &rest);
        mark_undefined(w, v, i, first, address[first], length, v->computed >> first & 1 ? of_computed : of_copied);
        lanes &= ~(same & ~rest);
    }
    for (uint32_t rest = lanes; rest; rest &= rest - 1)
        for (unsigned k = 0; k < i->bytes && k < sizeof *v->bits; k++)
            if ((v->bits[__builtin_ctz(rest)] >> 8 * k & 255) == 255)
                sim_mark_unwritten(w, __builtin_ctz(rest), GLOBAL, address[__builtin_ctz(rest)] + k, 1);
}

// An undefined value is stored in shared or local memory.
static void propagate_own_store(Warp *w, const UndefinedValue *v, const Instr *i, int lane, Space space, uint64_t address)
{
    sim_keep_origin(w, lane, space, address, i->bytes, v);
    if (v->full >> lane & 1)
        sim_mark_unwritten(w, lane, space, address, i->bytes);
    for (unsigned k = 0; !(v->full >> lane & 1) && k < i->bytes && k < sizeof *v->bits; k++)
        if (v->bits[lane] >> 8 * k & 255)
            sim_mark_unwritten(w, lane, space, address + k, 1);
}

// Reduces an undefined register to the part of it that is stored.
static UndefinedValue stored_part(const Instr *i, const UndefinedValue *held, uint32_t mask)
{
    UndefinedValue v = *held;
    v.mask &= mask;
    v.full = 0;
    for (uint32_t rest = v.mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        v.bits[l] &= sim_low_ones(i->bytes);
        v.mask &= v.bits[l] == 0 ? ~(1u << l) : ALL_LANES;
        v.full |= (uint32_t)(v.bits[l] == sim_low_ones(i->bytes)) << l;
    }
    return v;
}

void sim_propagate_store(Warp *w, const Instr *i, uint32_t mask)
{
    const Operand *o = &i->statement->operands[1];
    uint64_t address[LANES];
    sim_find_addresses(w, i, address);
    for (int k = 0; k < i->count; k++) {
        const UndefinedValue *held = sim_value_of(w, (o->count ? &o->elements[k] : o)->reg, mask);
        const UndefinedValue v = held ? stored_part(i, held, mask) : (UndefinedValue){.mask = 0};
        uint64_t to[LANES];
        uint32_t global = 0;
        for (uint32_t rest = v.mask; rest; rest &= rest - 1) {
            const int l = __builtin_ctz(rest);
            const uint64_t at = address[l] + (size_t)k * i->bytes;
            const Space space = i->at.space == GENERIC ? sim_space_at(at) : (Space)i->at.space;
            to[l] = i->at.space == GENERIC ? sim_offset_of_generic(at) : at;
            if (space == SHARED || space == LOCAL)
                propagate_own_store(w, &v, i, l, space, to[l]);
            else
                global |= is_argument(to[l]) ? 0 : 1u << l;
        }
        if (global)
            propagate_global_store(w, &v, i, to, global);
    }
}

void sim_check_undefined_uses(Warp *w, const Instr *i, uint32_t mask)
{
    const Statement *s = i->statement;
    const uint32_t all = w->current_split->mask;
    if (!s)
        return;
    sim_end_undefined_branches(w, i);
    const UndefinedValue *guard = sim_value_of(w, s->guard, all);
    if (guard && !sim_begin_undefined_branch(w, i, guard->mask & all, guard))
        report(w, guard, i, __builtin_ctz(guard->mask & all),
               i->control == BRANCH ? "decides a branch" : "is the predicate of an instruction");
    for (int k = 0; k < s->count && mask; k++)
        if (s->operands[k].is_address)
            report_use(w, &s->operands[k], i, mask, "is used as an address");
    const bool is_bitwise = i->kind == ATOMIC && i->op >= ATOMIC_AND; // bitwise operations and exchanges may have some undefined bits
    if (i->kind == ATOMIC && mask)
        for (int k = 0; k < s->count; k++) {
            const Operand *o = &s->operands[k];
            if (!o->is_address && !(k == 0 && s->operands[1].is_address))
                report_use(w, o, i, is_bitwise ? sim_lanes_fully_undefined(w, o, mask) : mask, "takes part in an atomic operation");
        }
}
