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

// The lanes all of whose bytes are uninitialised. If only a part of the bytes is, it counts as a gap in a structure.
static uint32_t uninitialised_lanes(const Access *access)
{
    const uint32_t all = access->bytes >= 32 ? ALL_LANES : (1u << access->bytes) - 1;
    uint32_t lanes = 0;
    for (uint32_t rest = access->has_unwritten ? access->mask : 0; rest; rest &= rest - 1)
        lanes |= access->unwritten[__builtin_ctz(rest)] == all ? rest & -rest : 0;
    return lanes;
}

void sim_note_loaded(Warp *w, const Instr *i, const Access *access)
{
    const uint32_t undefined = uninitialised_lanes(access);
    const uint64_t all = sim_low_ones(i->bytes), sign = i->flags & SIGNED_VALUE && i->bytes < i->register_bytes ? all ^ all >> 1 : 0;
    for (int k = 0; k < i->count; k++) {
        const unsigned first = (unsigned)(k * i->bytes);
        UndefinedValue v = value_loaded_by(i, (uint8_t)access->space);
        v.full = undefined;
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
    const Launch *launch = w->block->launch;
    const uint32_t thread = (uint32_t)(w->number * LANES + lane);
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
    r.locations[0] = copied ? copied_report.locations[0] : sim_location_of(launch, w->block->number, thread, v->read, access, inactive_source ? OTHER_ROLE : READS);
    r.locations[1] = sim_location_of(launch, w->block->number, thread, i, "value used", OTHER_ROLE);
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

static void record_stored(Warp *w, const UndefinedValue *v, const Instr *i, int lane, uint64_t address, size_t bytes, ReportRule rule)
{
    sim_wait_for_earlier_blocks(w->block);
    if (sim_note_undefined_copy(v->read, i, address, bytes, rule))
        return;
    const DeferredFinding r = report_of(w, v, i, lane, "is stored in global memory and copied to the host");
    sim_add_undefined_copy(v->read, i, address, rule, &r);
    sim_note_undefined_copy(v->read, i, address, bytes, rule);
}

void sim_report_uninitialised(Warp *w, const Instr *i, const Access *access)
{
    UndefinedValue v = value_loaded_by(i, (uint8_t)access->space);
    const uint32_t lanes = uninitialised_lanes(access);
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

// True if a register is set between two instructions, or if the first is not before the second.
static bool is_set_between(const Instr *first, const Instr *second, uint32_t slot)
{
    for (const Instr *i = first; i < second; i++) {
        bool sets = i->d == slot;
        for (int k = 0; i->kind == LOAD && k < i->count; k++)
            sets |= i->elements[k] == slot;
        if (sets)
            return true;
    }
    return first >= second;
}

// The lanes in which a store sets a bit field and writes the other bits back unchanged. Their bytes count as written, like gaps.
static uint32_t lanes_setting_bit_field(const Program *p, const UndefinedValue *v, const Instr *store)
{
    const Instr *load = v->read;
    if (load < p->code || load >= p->code + p->count) // the load is in another function
        return 0;
    const Address *from = &load->at, *to = &store->at;
    const bool same_address = load->kind == LOAD && load->count == 1 && store->count == 1 && load->bytes == store->bytes &&
                            from->base == to->base && from->offset == to->offset && from->space == to->space;
    return ~v->full && same_address && !is_set_between(load, store, to->base) ? v->mask & ~v->full : 0;
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

// Marks `bytes` bytes, at each lane's address, as unwritten again.
static void mark_undefined(Warp *w, const UndefinedValue *v, const Instr *i, const uint64_t *address, size_t bytes, uint32_t lanes, ReportRule rule)
{
    while (lanes) {
        const int first = __builtin_ctz(lanes);
        const size_t length = pop_adjacent(address, bytes, &lanes);
        if (rule != REPORT_NEVER)
            record_stored(w, v, i, first, address[first], length, rule);
        else
            sim_forget_undefined_copy(address[first], length);
        sim_mark_unwritten(w, first, GLOBAL, address[first], length);
    }
}

// Marks those bytes of partially undefined lanes as unwritten again that have no defined bit.
static void mark_undefined_bytes(Warp *w, const UndefinedValue *v, const Instr *i, const uint64_t *address, uint32_t lanes)
{
    for (uint32_t rest = i->count == 1 ? lanes : 0; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        for (unsigned k = 0; k < i->bytes; k++)
            if ((v->bits[l] >> 8 * k & 255) == 255)
                sim_mark_unwritten(w, l, GLOBAL, address[l] + k, 1);
    }
}

// Marks the undefined elements of a vector that also has defined elements as unwritten again.
static void mark_undefined_elements(Warp *w, const Instr *i, const uint64_t *address, uint32_t lanes)
{
    const Operand *vector = &i->statement->operands[1];
    for (int k = 0; k < vector->count && lanes; k++) {
        const UndefinedValue *v = sim_value_of(w, vector->elements[k].reg, lanes);
        uint64_t element_address[LANES];
        for (int l = 0; l < LANES; l++)
            element_address[l] = address[l] + (size_t)k * i->bytes;
        if (v)
            mark_undefined(w, v, i, element_address, i->bytes, v->mask & v->computed & lanes, REPORT_ANY);
    }
}

// An undefined value is stored in global memory. `undefined`: lanes all of whose bytes are undefined; these bytes become unwritten. The
// store itself is reported if initialisation is not tracked at its address, or if the value came from an inactive lane.
static void propagate_global_store(Warp *w, const UndefinedValue *v, const Instr *i, const uint64_t *address, uint32_t lanes, uint32_t undefined)
{
    const bool is_structure_copy = v->source != INACTIVE_LANE && sim_copies_member(w, v, i);
    const uint32_t computed = lanes & v->computed, structure_lanes = is_structure_copy ? lanes & ~computed : 0;
    const uint32_t partial_lanes = ~v->full & ~computed;
    const size_t bytes = (size_t)i->bytes * i->count;
    uint32_t tracked = 0;
    for (uint32_t rest = v->source == INACTIVE_LANE ? 0 : lanes; rest; rest &= rest - 1)
        tracked |= sim_address_starts_uninitialised(address[__builtin_ctz(rest)]) ? rest & -rest : 0;
    if (lanes & ~tracked & ~structure_lanes) {
        report(w, v, i, __builtin_ctz(lanes & ~tracked & ~structure_lanes), "is stored in global memory");
        return;
    }
    undefined &= tracked;
    if (i->semantics != WEAK) { // other threads may poll the word
        mark_undefined(w, v, i, address, bytes, undefined & structure_lanes, REPORT_NEVER);
        mark_undefined(w, v, i, address, bytes, undefined & ~structure_lanes, REPORT_ANY);
        return;
    }
    mark_undefined(w, v, i, address, bytes, undefined & computed, is_structure_copy ? REPORT_LONG_RUNS : REPORT_ANY);
    mark_undefined(w, v, i, address, bytes, undefined & ~computed & ~partial_lanes, is_structure_copy ? REPORT_NEVER : REPORT_LONG_RUNS);
    mark_undefined_bytes(w, v, i, address, undefined & partial_lanes);
    if (i->count > 1 && !is_structure_copy)
        mark_undefined_elements(w, i, address, tracked & ~undefined);
}

// Reduces an undefined register to the part of it that is stored.
static void find_stored_bits(const Instr *i, UndefinedValue *v)
{
    const uint64_t all = sim_low_ones(i->bytes);
    v->full |= i->count == 1 ? 0 : ALL_LANES;
    for (uint32_t rest = v->mask & ~v->full; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        v->bits[l] &= all;
        v->mask &= v->bits[l] == 0 ? ~(1u << l) : ALL_LANES;
        v->full |= v->bits[l] == all ? 1u << l : 0;
    }
}

void sim_propagate_store(Warp *w, const Instr *i, uint32_t mask)
{
    const Operand *value = &i->statement->operands[1];
    uint32_t lanes = 0, global = 0;
    const UndefinedValue *held = sim_value_in(w, value, mask, &lanes);
    if (!held)
        return;
    UndefinedValue stored = *held, *const v = &stored;
    v->mask = lanes & ~lanes_setting_bit_field(w->current_split->frame->function->program, held, i);
    find_stored_bits(i, v);
    lanes = v->mask;
    const uint32_t undefined = i->count == 1 ? lanes : lanes & sim_lanes_fully_undefined(w, value, mask);
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
        for (unsigned k = 0; !(v->full >> l & 1) && k < i->bytes; k++)
            if (v->bits[l] >> 8 * k & 255)
                sim_mark_unwritten(w, l, space, address[l] + k, 1);
        if (undefined & v->full & 1u << l)
            sim_mark_unwritten(w, l, space, address[l], (size_t)i->bytes * i->count);
    }
    if (global)
        propagate_global_store(w, v, i, address, global, global & undefined);
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
