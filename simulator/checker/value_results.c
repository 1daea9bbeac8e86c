// value_results.c: propagates undefined values between registers: the undefined lanes and bits of an operation's result.
#include "checker/value_bits.h"
#include "checker/value_copies.h"
#include "checker/value_table.h"
#include "machine/ops/lanes.h"

#include <string.h>

void sim_set_operand(Warp *w, const Operand *o, uint32_t mask, uint32_t lanes, const UndefinedValue *origin)
{
    if (o->reg)
        sim_set_value(w, w->current_split->frame->registers + o->reg->slot, mask, lanes, origin);
    if (o->second)
        sim_set_value(w, w->current_split->frame->registers + o->second->slot, mask, lanes, origin);
    for (int k = 0; k < o->count; k++)
        sim_set_operand(w, &o->elements[k], mask, lanes, origin);
}

// ---- Bits

static uint64_t undefined_bits_in_lane(const UndefinedValue *v, int lane)
{
    if (!v || !(v->mask >> lane & 1))
        return 0;
    return v->partial >> lane & 1 ? v->bits[lane] : ALL_BITS;
}

// A zero-extending load defines the bits of the register above the width of the load.
static uint64_t limit_to_load(const Warp *w, const UndefinedValue *v, const Register *reg, uint64_t undefined)
{
    const Instr *load = v ? v->load : NULL;
    const bool narrow = load && load->kind == LOAD && load->count == 1 && load->bytes < load->register_bytes &&
                        !(load->flags & SIGNED_VALUE) && v->address == w->current_split->frame->registers + load->elements[0] && reg->slot == load->elements[0];
    return narrow ? undefined & ((1ull << 8 * load->bytes) - 1) : undefined;
}

static uint64_t register_in_lane(const Warp *w, const Register *reg, int lane)
{
    uint64_t value = 0;
    const size_t bytes = (size_t)sim_type_bytes(reg->type);
    memcpy(&value, w->current_split->frame->registers + reg->slot + (size_t)lane * bytes, bytes);
    return value;
}

// An operand's bits before the operation. If the operand is also the result, its value has been overwritten and is unknown.
static Bits bits_in_lane(const Warp *w, const Operand *o, const Register *result, int lane)
{
    const bool readable = o->reg && o->reg != result && o->reg->type != PRED && sim_type_bytes(o->reg->type) <= 8;
    const UndefinedValue *v = o->reg ? sim_find_value(w, w->current_split->frame->registers + o->reg->slot) : NULL;
    const uint64_t held = undefined_bits_in_lane(v, lane), undefined = limit_to_load(w, v, o->reg, held);
    if (o->kind != IS_INTEGER && !readable)
        return (Bits){.undefined = undefined, .all_undefined = held == ALL_BITS};
    const uint64_t value = readable ? register_in_lane(w, o->reg, lane) : (uint64_t)o->integer;
    return (Bits){undefined, ~value & ~undefined, value & ~undefined, held == ALL_BITS};
}

// The bits of a register that is packed from several, the lowest bits first.
static Bits bits_of_parts(const Warp *w, const Operand *o, const Register *result, int lane)
{
    const int width = 8 * sim_type_bytes(result->type) / o->count;
    Bits all = {.all_undefined = true};
    for (int k = 0; k < o->count && width * o->count <= 64; k++) {
        const Bits part = bits_in_lane(w, &o->elements[k], result, lane);
        all.undefined |= (part.undefined & ALL_BITS >> (64 - width)) << width * k;
        all.all_undefined &= part.all_undefined;
    }
    return all.all_undefined ? (Bits){.undefined = ALL_BITS, .all_undefined = true} : all;
}

// The lanes in which a predicate is defined and has this value.
static uint32_t lanes_known_to_be(const Warp *w, const Operand *o, bool value)
{
    const UndefinedValue *v = o->reg ? sim_find_value(w, w->current_split->frame->registers + o->reg->slot) : NULL;
    if (!o->reg)
        return 0;
    const uint32_t bits = *(const uint32_t *)(w->current_split->frame->registers + o->reg->slot);
    return (bits ^ (o->is_negated == value ? ALL_LANES : 0)) & ~(v ? v->mask : 0);
}

// The lanes in which two operands were loaded from the same global address, such as begin and end of an empty range.
static uint32_t lanes_with_same_load(const Warp *w, const Operand *a, const Operand *b)
{
    const UndefinedValue *v = sim_value_of(w, a->reg, ALL_LANES), *other = sim_value_of(w, b->reg, ALL_LANES);
    const bool same_load = v && other && v->from && v->from == other->from && v->read == other->read && !v->shuffled && !other->shuffled;
    return same_load ? v->mask & other->mask & ~(v->computed | other->computed | v->partial | other->partial) : 0;
}

// The lanes in which a comparison has the same result for every value of the undefined bits.
static uint32_t lanes_with_defined_comparison(const Warp *w, const Instr *i, uint32_t lanes)
{
    const Operand *o = i->statement->operands;
    const uint32_t same_load = sim_is_float((Type)i->type) ? 0 : lanes_with_same_load(w, &o[1], &o[2]); // NaN != NaN
    uint32_t defined = 0;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        if ((same_load >> l & 1 && register_in_lane(w, o[1].reg, l) == register_in_lane(w, o[2].reg, l)) ||
            sim_comparison_is_defined(i, bits_in_lane(w, &o[1], NULL, l), bits_in_lane(w, &o[2], NULL, l)))
            defined |= 1u << l;
    }
    return defined;
}

// The lanes in which the result does not depend on the undefined values, as for false && x, or for the operand that selp does not select.
static uint32_t defined_lanes(const Warp *w, const Instr *i, uint32_t lanes)
{
    const Statement *s = i->statement;
    const Operand *o = s->operands;
    uint32_t first = 0, second = 0;
    for (int k = 1; k < s->count; k++)
        if (o[k].reg && (o[k].reg == o[0].reg || o[k].reg == o[0].second))
            return 0; // the operand has been overwritten
    if ((i->kind == LOGICAL_AND || i->kind == LOGICAL_OR) && i->type == PRED) {
        const bool deciding = i->kind == LOGICAL_OR;
        return lanes_known_to_be(w, &o[1], deciding) | lanes_known_to_be(w, &o[2], deciding);
    }
    if (i->kind == COMPARE) {
        const bool combines = i->flags & COMBINE;
        const uint32_t predicate_defined = combines ? lanes_known_to_be(w, &o[3], true) | lanes_known_to_be(w, &o[3], false) : ALL_LANES,
                       decided_by_predicate = combines && i->combine != COMBINE_XOR ? lanes_known_to_be(w, &o[3], i->combine == COMBINE_OR) : 0;
        return decided_by_predicate | lanes_with_defined_comparison(w, i, lanes & predicate_defined & ~decided_by_predicate);
    }
    if (i->kind != SELECT)
        return 0;
    sim_value_in(w, &o[1], ALL_LANES, &first);
    sim_value_in(w, &o[2], ALL_LANES, &second);
    return (lanes_known_to_be(w, &o[3], true) & ~first) | (lanes_known_to_be(w, &o[3], false) & ~second);
}

// The lanes in which the result counts as computed, rather than as a copy of an operand. For selp, the selected operand determines this.
static uint32_t lanes_computed_by(const Warp *w, const Instr *i, uint32_t mask)
{
    const Operand *o = i->statement->operands;
    const uint32_t first = sim_lanes_computed(w, &o[1], mask), second = sim_lanes_computed(w, &o[2], mask);
    if (!sim_moves_bits(i))
        return ALL_LANES;
    if (i->kind != SELECT)
        return first | second;
    const uint32_t chosen = lanes_known_to_be(w, &o[3], true), other = lanes_known_to_be(w, &o[3], false);
    return (first & chosen) | (second & other) | ~(chosen | other);
}

// The undefined bits of the operand that selp selects; `unknown_predicate_bits` if the predicate is undefined.
static uint64_t selected_bits(const Warp *w, const Instr *i, int lane, const Bits o[MAX_BIT_OPERANDS], uint64_t unknown_predicate_bits)
{
    const Operand *predicate = &i->statement->operands[3];
    if (lanes_known_to_be(w, predicate, true) >> lane & 1)
        return o[1].undefined;
    return lanes_known_to_be(w, predicate, false) >> lane & 1 ? o[2].undefined : unknown_predicate_bits;
}

static void find_operand_bits(const Warp *w, const Instr *i, int lane, Bits o[MAX_BIT_OPERANDS])
{
    const Statement *s = i->statement;
    for (int k = 1; k < MAX_BIT_OPERANDS; k++)
        if (k >= s->count)
            o[k] = (Bits){0};
        else if (s->operands[k].count)
            o[k] = bits_of_parts(w, &s->operands[k], s->operands[0].reg, lane);
        else
            o[k] = bits_in_lane(w, &s->operands[k], s->operands[0].reg, lane);
}

// True if any undefined bit of an operand makes the whole result undefined, as in floating-point arithmetic.
static bool has_no_partial_result(const Instr *i)
{
    const bool is_packed = i->type == F16X2 || i->type == BF16X2 || i->type == S16X2 || i->type == U16X2;
    return i->kind == OTHER_KIND || i->kind == CONVERT_ADDRESS || (i->kind == PACKED_HALVES && !is_packed);
}

// Sets `partial` and `bits` of the result; returns the lanes with undefined bits.
static uint32_t find_bits(const Warp *w, const Instr *i, uint32_t lanes, UndefinedValue *result)
{
    const Operand *o = i->statement->operands;
    const uint32_t operands_computed = sim_lanes_computed(w, &o[1], lanes) | sim_lanes_computed(w, &o[2], lanes) | sim_lanes_computed(w, &o[3], lanes);
    result->partial = 0;
    if (!o[0].reg || (o[1].count && i->kind != MOVE) || has_no_partial_result(i))
        return lanes;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        Bits operands[MAX_BIT_OPERANDS];
        find_operand_bits(w, i, l, operands);
        const uint64_t known = sim_undefined_bits(i, operands, result->source == LOCAL),
                       bits = i->kind == SELECT ? selected_bits(w, i, l, operands, known) : known;
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

// Unpacks one register into several.
static void split_register(Warp *w, const Instr *i, uint32_t mask, uint32_t lanes, const UndefinedValue *source)
{
    const Operand *to = &i->statement->operands[0];
    const int width = 8 * sim_type_bytes(i->statement->operands[1].reg->type) / to->count;
    const uint64_t all = ALL_BITS >> (64 - width);
    for (int k = 0; k < to->count; k++) {
        uint64_t bits[LANES];
        uint32_t any = lanes;
        UndefinedValue part = *source;
        part.bits = bits;
        for (uint32_t rest = lanes & source->partial; rest; rest &= rest - 1) {
            const int l = __builtin_ctz(rest);
            bits[l] = source->bits[l] >> width * k & all;
            any &= bits[l] == 0 ? ~(1u << l) : ALL_LANES;
            part.partial &= bits[l] == all ? ~(1u << l) : ALL_LANES;
        }
        sim_set_operand(w, &to->elements[k], mask, any, &part);
    }
}

void sim_propagate_values(Warp *w, const Instr *i, uint32_t mask)
{
    const Statement *s = i->statement;
    if (!s || s->count == 0 || i->kind == LOAD)
        return;
    if (s->operands[0].is_address)
        return;
    uint32_t lanes = 0;
    uint64_t bits[LANES];
    const UndefinedValue *found = NULL;
    for (int k = 1; k < s->count; k++) {
        const UndefinedValue *v = s->operands[k].is_address ? NULL : sim_value_in(w, &s->operands[k], mask, &lanes);
        found = found ? found : v;
    }
    if (lanes)
        lanes &= ~defined_lanes(w, i, lanes);
    UndefinedValue result = found ? *found : (UndefinedValue){.mask = 0};
    result.bits = bits;
    result.computed = lanes_computed_by(w, i, mask);
    if (i->kind == MOVE && s->operands[0].count && s->operands[1].reg && lanes) {
        split_register(w, i, mask, lanes, found);
        return;
    }
    if (lanes)
        lanes = find_bits(w, i, lanes, &result);
    sim_set_operand(w, &s->operands[0], mask, lanes, &result);
}

// Executes the shuffle additionally on values 1 + lane of the undefined lanes, which shows where each lane's value comes from.
void sim_propagate_shuffle(Warp *w, const Instr *i, uint32_t mask)
{
    struct { uint32_t a[LANES], b[LANES], c[LANES], d[LANES], second; } registers;
    const UndefinedValue *v = sim_find_value(w, w->registers + i->a);
    const UndefinedValue source = v ? *v : (UndefinedValue){.mask = 0};
    uint8_t *const lanes = w->registers;
    uint64_t bits[LANES];
    UndefinedValue result = source;
    uint32_t undefined = 0;
    for (uint32_t l = 0; l < LANES; l++)
        registers.a[l] = source.mask >> l & 1 ? l + 1 : 0;
    memcpy(registers.b, lanes + i->b, sizeof registers.b);
    memcpy(registers.c, lanes + i->c, sizeof registers.c);
    Instr copy = *i;
    copy.a = offsetof(typeof(registers), a);
    copy.b = offsetof(typeof(registers), b);
    copy.c = offsetof(typeof(registers), c);
    copy.d = offsetof(typeof(registers), d);
    copy.second = NO_OFFSET;
    w->registers = (uint8_t *)&registers;
    i->run(w, &copy, mask);
    w->registers = lanes;
    result.partial = result.computed = 0;
    result.shuffled = true;
    result.bits = bits;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        const uint32_t other = registers.d[l] - 1;
        if (registers.d[l] == 0)
            continue;
        undefined |= 1u << l;
        result.computed |= (source.computed >> other & 1) << l;
        result.partial |= (source.partial >> other & 1) << l;
        bits[l] = source.bits ? source.bits[other] : 0;
    }
    sim_set_value(w, w->registers + i->d, mask, undefined, &result);
}
