// value_results.c: which bits of an operation's result are undefined.
//
// A bit of the result is undefined if it changes when the undefined bits of the operands change. To find out, the operation runs on several
// contents of those bits, and the results are compared. So instructions need no rules, and operations of several lanes, such as votes and
// matrix products, are treated like those of one. A bit that is the same with all these contents counts as defined, even if others would
// change it.
#include "checker/block_check.h"
#include "checker/value_table.h"
#include "checker/values.h"
#include "front/addresses.h"
#include "machine/ops/lanes.h"

#include <string.h>

// Calls sim_set_value() for each register of an operand.
static void set_operand(Warp *w, const Operand *o, uint32_t changed, const UndefinedValue *v)
{
    if (o->reg)
        sim_set_value(w, w->registers + o->reg->slot, changed, v);
    if (o->second)
        sim_set_value(w, w->registers + o->second->slot, changed, v);
    for (int k = 0; k < o->count; k++)
        set_operand(w, &o->elements[k], changed, v);
}

void sim_set_all_undefined(Warp *w, const Operand *o, uint32_t changed, UndefinedValue *v)
{
    const uint64_t bits = o->reg ? sim_register_bits(o->reg) : 1;
    for (int l = 0; l < LANES; l++)
        v->bits[l] = bits;
    v->full = ALL_LANES;
    if (!o->count)
        set_operand(w, o, changed, v);
    for (int k = 0; k < o->count; k++)
        sim_set_all_undefined(w, &o->elements[k], changed, v);
}

// ---- Registers

typedef struct LaneValues { // a register's values of all lanes; of a predicate 0 or 1
    uint8_t *at;
    size_t bytes; // of a lane; 0: a predicate
    uint64_t values[LANES];
} LaneValues;

static void read_lanes(LaneValues *r)
{
    for (int l = 0; l < LANES; l++)
        if (r->bytes == 4)
            r->values[l] = ((const uint32_t *)r->at)[l];
        else if (r->bytes == 0)
            r->values[l] = *(const uint32_t *)r->at >> l & 1;
        else
            memcpy(&r->values[l], r->at + (size_t)l * r->bytes, r->bytes);
}

static void write_lanes(const LaneValues *r)
{
    if (r->bytes == 0)
        *(uint32_t *)r->at = 0;
    for (int l = 0; l < LANES; l++)
        if (r->bytes == 4)
            ((uint32_t *)r->at)[l] = (uint32_t)r->values[l];
        else if (r->bytes == 0)
            *(uint32_t *)r->at |= (uint32_t)(r->values[l] & 1) << l;
        else
            memcpy(r->at + (size_t)l * r->bytes, &r->values[l], r->bytes);
}

static LaneValues lanes_of(uint8_t *at, size_t bytes)
{
    LaneValues r = {.at = at, .bytes = bytes};
    read_lanes(&r);
    return r;
}

static LaneValues lanes_of_register(const Warp *w, const Register *reg)
{
    return lanes_of(w->registers + reg->slot, reg->type == PRED ? 0 : (size_t)sim_type_bytes(reg->type));
}

// ---- Evaluation

enum { MAX_REGISTERS = 32 };

typedef struct Input { // an undefined register of an operand
    LaneValues held, filled;
    uint64_t undefined[LANES];
    uint64_t first[LANES]; // those of these bits that no earlier operand has undefined; or no earlier lane, if lanes are combined
} Input;

typedef struct Output { // a register of the result
    const Register *reg;
    uint32_t mask; // the lanes whose result it holds
    LaneValues held, result;
    uint64_t base[LANES], changed[LANES]; // the result with the first content; the bits in which another one differs
} Output;

typedef struct Evaluation {
    Handler *run; // the operation
    uint32_t inputs, outputs;
    Input input[MAX_REGISTERS];
    Output output[MAX_REGISTERS];
} Evaluation;

static void add_input(const Warp *w, Evaluation *e, const Operand *o, uint32_t mask)
{
    const UndefinedValue *v = sim_value_of(w, o->reg, mask);
    for (int k = 0; k < o->count; k++)
        add_input(w, e, &o->elements[k], mask);
    Input *in = e->input;
    while (v && in < e->input + e->inputs && in->held.at != v->address) // lanes at other instructions may use the same register
        in++;
    if (!v || in == e->input + MAX_REGISTERS)
        return;
    if (in == e->input + e->inputs) {
        e->inputs++;
        in->held = in->filled = lanes_of_register(w, o->reg);
        memset(in->undefined, 0, sizeof in->undefined);
    }
    for (uint32_t rest = v->mask & mask; rest; rest &= rest - 1)
        in->undefined[__builtin_ctz(rest)] = v->bits[__builtin_ctz(rest)];
}

static void add_output(const Warp *w, Evaluation *e, const Register *reg, uint32_t mask)
{
    if (!reg || e->outputs == MAX_REGISTERS)
        return;
    Output *out = &e->output[e->outputs++];
    out->reg = reg;
    out->mask = mask;
    out->held = out->result = lanes_of_register(w, reg);
    memset(out->changed, 0, sizeof out->changed);
}

static void add_outputs(const Warp *w, Evaluation *e, const Operand *o, uint32_t mask)
{
    add_output(w, e, o->reg, mask);
    add_output(w, e, o->second, mask);
    for (int k = 0; k < o->count; k++)
        add_outputs(w, e, &o->elements[k], mask);
}

// Adds the registers of an instruction that these lanes execute.
static void add_registers(const Warp *w, Evaluation *e, const Statement *s, uint32_t mask)
{
    for (int k = 1; k < s->count; k++)
        if (!s->operands[k].is_address)
            add_input(w, e, &s->operands[k], mask);
    add_outputs(w, e, &s->operands[0], mask);
}

static void find_first(Evaluation *e, bool combines_lanes)
{
    uint64_t seen[LANES] = {0};
    for (uint32_t k = 0; k < e->inputs; k++)
        for (int l = 0; l < LANES; l++) {
            uint64_t *const earlier = &seen[combines_lanes ? 0 : l];
            e->input[k].first[l] = e->input[k].undefined[l] & ~*earlier;
            *earlier |= e->input[k].undefined[l];
        }
}

// Fills the undefined bits: those that are the first with one pattern, and the rest with another.
static void fill(Evaluation *e, uint64_t first, uint64_t rest)
{
    for (Input *in = e->input; in < e->input + e->inputs; in++)
        for (int l = 0; l < LANES; l++)
            in->filled.values[l] = (in->held.values[l] & ~in->undefined[l]) | (first & in->first[l]) | (rest & in->undefined[l] & ~in->first[l]);
}

// Runs the operation on the filled operands. is_base: the first time.
static void run_filled(Warp *w, const Instr *i, uint32_t mask, Evaluation *e, bool is_base)
{
    for (const Output *out = e->output; out < e->output + e->outputs; out++)
        write_lanes(&out->held); // may be an operand, too
    for (const Input *in = e->input; in < e->input + e->inputs; in++)
        write_lanes(&in->filled);
    e->run(w, i, mask);
    for (Output *out = e->output; out < e->output + e->outputs; out++) {
        read_lanes(&out->result);
        for (int l = 0; l < LANES; l++)
            if (is_base)
                out->base[l] = out->result.values[l];
            else
                out->changed[l] |= out->result.values[l] ^ out->base[l];
    }
}

// The smallest and the largest number of a type, except for unsigned numbers, whose patterns of zeros and ones are these.
static void find_extremes(Type type, uint64_t *min, uint64_t *max)
{
    const uint64_t sign = 1ull << (8 * sim_type_bytes(type) - 1), infinity = type == F64    ? 0x7ff0000000000000
                                                                             : type == F32  ? 0x7f800000
                                                                             : type == BF16 ? 0x7f80
                                                                                            : 0x7c00;
    *max = sim_is_float(type) ? infinity : sign - 1;
    *min = sim_is_float(type) ? infinity | sign : sign;
}

// Makes the two numbers that are compared equal, as far as their undefined bits allow.
static void fill_equal(const Warp *w, const Instr *i, Evaluation *e)
{
    const size_t bytes = (size_t)sim_type_bytes((Type)i->type);
    LaneValues a = lanes_of(w->registers + i->a, bytes), b = lanes_of(w->registers + i->b, bytes);
    fill(e, ALL_BITS, ALL_BITS); // for a predicate that is combined with the comparison
    for (int turn = 0; turn < 2; turn++) {
        LaneValues *const to = turn ? &b : &a;
        const LaneValues *const from = turn ? &a : &b;
        for (Input *in = e->input; in < e->input + e->inputs; in++)
            for (int l = 0; in->held.at == to->at && l < LANES; l++)
                in->filled.values[l] = to->values[l] = (in->held.values[l] & ~in->undefined[l]) | (from->values[l] & in->undefined[l]);
    }
}

static void run_comparison(Warp *w, const Instr *i, uint32_t mask, Evaluation *e)
{
    uint64_t min, max;
    find_extremes((Type)i->type, &min, &max);
    fill(e, min, max);
    run_filled(w, i, mask, e, false);
    fill(e, max, min);
    run_filled(w, i, mask, e, false);
    for (const Input *in = e->input; in < e->input + e->inputs; in++)
        write_lanes(&in->held);
    fill_equal(w, i, e);
    run_filled(w, i, mask, e, false);
}

// match: the undefined bits may be those of any lane's value.
static void run_match(Warp *w, const Instr *i, uint32_t mask, Evaluation *e)
{
    for (const Input *in = e->input; in < e->input + e->inputs; in++)
        for (uint32_t rest = mask; rest; rest &= rest - 1) {
            const uint64_t value = in->held.values[__builtin_ctz(rest)];
            fill(e, value, value);
            run_filled(w, i, mask, e, false);
        }
}

static void evaluate(Warp *w, const Instr *i, uint32_t mask, Evaluation *e)
{
    static const struct { uint64_t first, rest; } PATTERNS[] = {{0, 0}, {ALL_BITS, ALL_BITS}, {ALL_BITS, 0}, {0, ALL_BITS},
        {0x5555555555555555, 0xaaaaaaaaaaaaaaaa}, {0xaaaaaaaaaaaaaaaa, 0x5555555555555555}};
    const Counters counters = w->block->counters;
    uint32_t carry[LANES];
    if (i->carry != NO_OFFSET)
        memcpy(carry, w->registers + i->carry, sizeof carry);
    find_first(e, i->control == CONVERGE);
    for (size_t k = 0; k < sizeof PATTERNS / sizeof *PATTERNS; k++) {
        fill(e, PATTERNS[k].first, PATTERNS[k].rest);
        run_filled(w, i, mask, e, k == 0);
    }
    if (i->kind == COMPARE)
        run_comparison(w, i, mask, e);
    if (i->kind == MATCH)
        run_match(w, i, mask, e);
    for (const Input *in = e->input; in < e->input + e->inputs; in++)
        write_lanes(&in->held);
    for (const Output *out = e->output; out < e->output + e->outputs; out++)
        write_lanes(&out->held);
    if (i->carry != NO_OFFSET)
        memcpy(w->registers + i->carry, carry, sizeof carry);
    w->block->counters = counters;
}

// ---- Which results are computed, rather than copies

static bool moves_bits(const Instr *i)
{
    switch (i->kind) {
    case LOGICAL_AND: case LOGICAL_OR: return i->type != PRED;
    case MOVE: case SELECT: case INSERT: case EXTRACT: case PERMUTE: case CONVERT_INTEGER: case SHIFT_LEFT: case SHIFT_RIGHT: case FUNNEL_LEFT:
    case FUNNEL_RIGHT: case SHUFFLE: return true;
    default: return false;
    }
}

// The lanes in which a predicate is defined and has this value.
static uint32_t lanes_known_to_be(const Warp *w, const Operand *o, bool value)
{
    const UndefinedValue *v = sim_value_of(w, o->reg, ALL_LANES);
    const uint32_t bits = o->reg ? *(const uint32_t *)(w->registers + o->reg->slot) : 0;
    return o->reg ? (bits ^ (o->is_negated == value ? ALL_LANES : 0)) & ~(v ? v->mask : 0) : 0;
}

// The lanes in which a number is defined and 0.
static uint32_t lanes_of_zero(const Warp *w, const Instr *i, const Operand *o, uint32_t offset)
{
    const LaneValues number = lanes_of(w->registers + offset, (size_t)sim_type_bytes((Type)i->type));
    const UndefinedValue *v = sim_value_of(w, o->reg, ALL_LANES);
    uint32_t lanes = 0;
    for (int l = 0; l < LANES; l++)
        lanes |= (uint32_t)(number.values[l] == 0) << l;
    return lanes & ~(v ? v->mask : 0);
}

static uint32_t computed_lanes(const Warp *w, const Instr *i, uint32_t mask)
{
    const Operand *o = i->statement->operands;
    const uint32_t first = sim_lanes_computed(w, &o[1], mask), second = sim_lanes_computed(w, &o[2], mask), third = sim_lanes_computed(w, &o[3], mask);
    if (i->kind == SELECT) {
        const uint32_t chosen = lanes_known_to_be(w, &o[3], true), other = lanes_known_to_be(w, &o[3], false);
        return (first & chosen) | (second & other) | ~(chosen | other);
    }
    if (i->kind == SHUFFLE)
        return first ? ALL_LANES : 0;
    if (moves_bits(i))
        return first | second;
    if (i->kind == SUM || i->kind == MULTIPLY_ADD) // the sum of a number and 0 is a copy
        return first | second | third | ~(lanes_of_zero(w, i, &o[1], i->a) | lanes_of_zero(w, i, &o[2], i->b));
    return ALL_LANES;
}

// The lanes in which two operands were loaded from the same global address, such as begin and end of an empty range.
static uint32_t lanes_with_same_load(const Warp *w, const Operand *a, const Operand *b)
{
    const UndefinedValue *v = sim_value_of(w, a->reg, ALL_LANES), *other = sim_value_of(w, b->reg, ALL_LANES);
    if (!v || !other || !v->from || v->from != other->from || v->read != other->read || v->shuffled || other->shuffled)
        return 0;
    const LaneValues left = lanes_of_register(w, a->reg), right = lanes_of_register(w, b->reg);
    uint32_t lanes = v->full & other->full & ~(v->computed | other->computed);
    for (int l = 0; l < LANES; l++)
        lanes &= left.values[l] == right.values[l] ? ALL_LANES : ~(1u << l);
    return lanes;
}

// ---- Arguments and results of functions: the key of an argument is its address in the frame of the first lane

static const uint8_t *argument_at(const Warp *w, const Instr *i, int element)
{
    return w->current_split->frame->params + i->at.offset + (size_t)element * i->bytes;
}

static bool stores_argument(const Instr *i)
{
    return i->kind == OTHER_KIND && i->statement->count == 2 && sim_is_parameter(&i->statement->operands[0]);
}

// Returns whether the instruction loads or stores an argument.
static bool propagate_argument(Warp *w, const Instr *i, uint32_t mask)
{
    const Operand *o = i->statement->operands;
    const bool stores = stores_argument(i), loads = i->kind == OTHER_KIND && i->statement->count == 2 && sim_is_parameter(&o[1]);
    for (int k = 0; (loads || stores) && k < i->count; k++) {
        const Register *reg = (o[stores].count ? &o[stores].elements[k] : &o[stores])->reg;
        const uint8_t *argument = argument_at(w, i, k), *slot = reg ? w->registers + reg->slot : NULL;
        if (reg || stores)
            sim_copy_value(w, loads ? slot : argument, loads ? argument : slot, mask, sim_low_ones(i->bytes));
    }
    return loads || stores;
}

void sim_set_result_undefined(Warp *w, const Instr *i, uint32_t mask, UndefinedValue *v)
{
    const Operand *o = &i->statement->operands[0];
    if (!o->is_address)
        sim_set_all_undefined(w, o, mask, v);
    for (int l = 0; l < LANES; l++)
        v->bits[l] = sim_low_ones(i->bytes);
    for (int k = 0; stores_argument(i) && k < i->count; k++)
        sim_set_value(w, argument_at(w, i, k), mask, v);
}

void sim_propagate_call(Warp *w, const uint8_t *to, const uint8_t *from, size_t bytes, uint32_t mask)
{
    for (size_t k = 0; k < bytes; k++)
        sim_copy_value(w, to + k, from + k, mask, ALL_BITS);
}

// ---- Results

static bool is_packed(const Instr *i)
{
    return i->type == F16X2 || i->type == BF16X2 || i->type == S16X2 || i->type == U16X2;
}

// True if the result is undefined as a whole if an operand has an undefined bit, as in floating-point arithmetic.
static bool has_no_partial_result(const Instr *i)
{
    const bool is_other = i->kind == OTHER_KIND || i->kind == CONVERT_ADDRESS || (i->kind == PACKED_HALVES && !is_packed(i));
    return i->effects & ~WRITES_DESTINATION || i->type == B128 || (is_other && i->control != CONVERGE);
}

// AND or OR sets bits of a word that was never cleared, such as a bitmap: these bits of it stay undefined. In local memory a program may
// set the members of a variable one by one.
static void find_never_cleared(const Warp *w, const Instr *i, const UndefinedValue *origin, uint64_t bits[LANES])
{
    const Operand *o = i->statement->operands;
    const bool is_or = i->kind == LOGICAL_OR, constant = o[2].kind == IS_INTEGER,
               keeps = constant ? is_or && origin->source != LOCAL : is_or || i->kind == LOGICAL_AND;
    for (int k = 1; k <= 2; k++) {
        const UndefinedValue *v = keeps && i->type != PRED ? sim_value_of(w, o[k].reg, ALL_LANES) : NULL;
        for (uint32_t rest = v ? v->mask & v->full : 0; rest; rest &= rest - 1)
            bits[__builtin_ctz(rest)] |= v->bits[__builtin_ctz(rest)];
    }
}

// Adds the other bits of the elements of a result that are undefined as a whole.
static uint64_t widen(const Instr *i, uint64_t bits)
{
    if (i->kind == DOT_PRODUCT_4 || i->kind == FIND_HIGHEST_BIT)
        return bits ? ALL_BITS : 0;
    if (is_packed(i) && (i->kind == PACKED_HALVES || i->kind == SUM))
        return (bits & 0xffff0000 ? 0xffff0000 : 0) | (bits & 0xffff ? 0xffff : 0);
    return bits;
}

static void set_output(Warp *w, const Instr *i, const Output *out, UndefinedValue *result, const uint64_t never_cleared[LANES])
{
    const uint64_t all = sim_register_bits(out->reg);
    result->mask = result->full = 0;
    for (int l = 0; l < LANES; l++) {
        const uint64_t changed = out->changed[l] & all, bits = changed ? (widen(i, changed) | never_cleared[l]) & all : 0;
        result->bits[l] = bits;
        result->mask |= (uint32_t)(bits != 0) << l;
        result->full |= (uint32_t)(bits == all) << l;
    }
    sim_set_value(w, out->held.at, out->mask, result);
}

// The first undefined register of an instruction's operands, or NULL; adds the undefined lanes to `lanes`.
static const UndefinedValue *value_in_operands(const Warp *w, const Statement *s, uint32_t mask, uint32_t *lanes)
{
    const UndefinedValue *found = NULL;
    for (int k = 1; k < s->count; k++) {
        const UndefinedValue *v = s->operands[k].is_address ? NULL : sim_value_in(w, &s->operands[k], mask, lanes);
        found = found ? found : v;
    }
    return found;
}

// Results of an operation some of whose operands are undefined.
static void propagate(Warp *w, const Instr *i, uint32_t mask, UndefinedValue *result)
{
    const Operand *o = i->statement->operands;
    uint64_t never_cleared[LANES] = {0};
    const uint32_t same = i->kind == COMPARE && !sim_is_float((Type)i->type) ? lanes_with_same_load(w, &o[1], &o[2]) : 0;
    Evaluation e;
    e.run = i->run;
    e.inputs = e.outputs = 0;
    find_never_cleared(w, i, result, never_cleared);
    add_registers(w, &e, i->statement, mask & ~same);
    evaluate(w, i, mask, &e);
    for (uint32_t k = 0; k < e.outputs; k++) {
        e.output[k].mask = mask;
        set_output(w, i, &e.output[k], result, never_cleared);
    }
}

void sim_propagate_values(Warp *w, const Instr *i, uint32_t mask)
{
    const Statement *s = i->statement;
    if (!s || s->count == 0 || i->kind == LOAD || i->kind == STORE || propagate_argument(w, i, mask) || s->operands[0].is_address)
        return;
    uint32_t lanes = 0;
    const UndefinedValue *found = value_in_operands(w, s, mask, &lanes);
    UndefinedValue result = found ? *found : (UndefinedValue){.mask = 0};
    result.mask = lanes;
    result.shuffled |= i->control == CONVERGE;
    result.computed = found ? computed_lanes(w, i, mask) : 0;
    if (!found)
        set_operand(w, &s->operands[0], mask, &result);
    else if (has_no_partial_result(i))
        sim_set_all_undefined(w, &s->operands[0], mask, &result);
    else
        propagate(w, i, mask, &result);
}

void sim_propagate_gathered(Warp *w, const Instr *i, uint32_t mask, Handler *run)
{
    const UndefinedValue *found = NULL;
    uint32_t lanes = 0;
    const uint64_t never_cleared[LANES] = {0};
    Evaluation e;
    e.run = run;
    e.inputs = e.outputs = 0;
    for (const WarpSplit *q = w->splits; q; q = q->next)
        if (q->state == WAITS_FOR_LANES && q->mask & mask) {
            const Statement *s = sim_instruction_of(q)->statement;
            w->registers = q->frame->registers;
            const UndefinedValue *v = value_in_operands(w, s, q->mask & mask, &lanes);
            found = found ? found : v;
            add_registers(w, &e, s, q->mask & mask);
        }
    UndefinedValue result = found ? *found : (UndefinedValue){.mask = 0};
    result.computed = ALL_LANES;
    result.shuffled = true;
    if (found)
        evaluate(w, i, mask, &e);
    for (uint32_t k = 0; k < e.outputs; k++)
        set_output(w, i, &e.output[k], &result, never_cleared);
}

// ---- Barriers that combine predicates

uint32_t sim_note_barrier_operand(Warp *w, const Instr *i, uint32_t mask)
{
    const UndefinedValue *v = sim_find_value(w, w->registers + i->c);
    if (!v || !(v->mask & mask))
        return 0;
    BlockCheck *check = w->block->check;
    if (!check->barrier_operand)
        check->barrier_operand = sim_allocate(&w->block->arena, sizeof *check->barrier_operand);
    *check->barrier_operand = *v;
    return v->mask & mask;
}

void sim_set_barrier_result(Warp *w, const WarpSplit *p, const Instr *i, bool is_defined)
{
    UndefinedValue result = {.mask = 0};
    if (!is_defined)
        result = *w->block->check->barrier_operand;
    result.mask = is_defined ? 0 : ALL_LANES;
    result.computed = ALL_LANES;
    w->registers = p->frame->registers;
    sim_set_all_undefined(w, &i->statement->operands[0], p->mask, &result);
}
