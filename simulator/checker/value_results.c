// value_results.c: values that nobody wrote, from register to register: which lanes of an operation's result hold such a value, and which
// of its bits.
#include "checker/value_bits.h"
#include "checker/value_copies.h"
#include "checker/value_table.h"
#include "machine/ops/lanes.h"

#include <string.h>

void sim_set_operand(Warp *w, const Operand *o, uint32_t mask, uint32_t lanes, const Value *origin)
{
    if (o->reg)
        sim_set_value(w, w->path->frame->lanes + o->reg->slot, mask, lanes, origin);
    if (o->second)
        sim_set_value(w, w->path->frame->lanes + o->second->slot, mask, lanes, origin);
    for (int k = 0; k < o->count; k++)
        sim_set_operand(w, &o->elements[k], mask, lanes, origin);
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

// In which lanes two operands are one and the same that was loaded from global memory: the begin of a range and its end, where the
// range is empty.
static uint32_t lanes_of_one(const Warp *w, const Operand *a, const Operand *b)
{
    const Value *v = sim_value_of(w, a->reg, ALL_LANES), *u = sim_value_of(w, b->reg, ALL_LANES);
    const bool one = v && u && v->from && v->from == u->from && v->read == u->read && !v->exchanged && !u->exchanged;
    return one ? v->mask & u->mask & ~(v->computed | u->computed | v->partial | u->partial) : 0;
}

// In which of these lanes a comparison comes out the same whatever the undefined bits are.
static uint32_t lanes_compared(const Warp *w, const Instr *i, uint32_t lanes)
{
    const Operand *o = i->statement->operands;
    const uint32_t one = sim_is_float((Type)i->type) ? 0 : lanes_of_one(w, &o[1], &o[2]); // not a number is not even itself
    uint32_t decided = 0;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        if ((one >> l & 1 && register_in_lane(w, o[1].reg, l) == register_in_lane(w, o[2].reg, l)) ||
            sim_is_decided(i, bits_in_lane(w, &o[1], NULL, l), bits_in_lane(w, &o[2], NULL, l)))
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
    sim_value_in(w, &o[1], ALL_LANES, &first);
    sim_value_in(w, &o[2], ALL_LANES, &second);
    return (lanes_that_are(w, &o[3], true) & ~first) | (lanes_that_are(w, &o[3], false) & ~second);
}

// Those in which the result is computed, and not an operand as it was: of a choice, those whose operand was.
static uint32_t lanes_computed_by(const Warp *w, const Instr *i, uint32_t mask)
{
    const Operand *o = i->statement->operands;
    const uint32_t first = sim_lanes_computed(w, &o[1], mask), second = sim_lanes_computed(w, &o[2], mask);
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
    const uint32_t operands_computed = sim_lanes_computed(w, &o[1], lanes) | sim_lanes_computed(w, &o[2], lanes) | sim_lanes_computed(w, &o[3], lanes);
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
        sim_set_operand(w, &to->elements[k], mask, any, &part);
    }
}

void sim_follow_values(Warp *w, const Instr *i, uint32_t mask)
{
    const Statement *s = i->statement;
    if (!s || s->count == 0 || i->kind == LOAD)
        return;
    if (i->kind == STORE) {
        sim_follow_store(w, i, mask);
        return;
    }
    if (s->operands[0].address)
        return;
    uint32_t lanes = 0;
    uint64_t bits[LANES];
    const Value *found = NULL;
    for (int k = 1; k < s->count; k++) {
        const Value *v = s->operands[k].address ? NULL : sim_value_in(w, &s->operands[k], mask, &lanes);
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
    sim_set_operand(w, &s->operands[0], mask, lanes, &result);
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
    result.exchanged = true;
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
