// skipped_blocks.c: counts the idle blocks at the end of a grid without running them. In an idle block every thread returns
// because its index is out of range.
//
// The proof is an interval analysis of the kernel's first instructions over all threads of these blocks. The blocks are idle
// if each guard has one value for the whole interval.
#include "machine/shortcuts.h"
#include "front/addresses.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_STEPS = 64 };  // analysed instructions
enum { MIN_BLOCKS = 64 }; // in smaller grids the analysis does not pay off

typedef struct Range { // an interval [low, high]; all zeros: unknown
    int64_t low, high;
    bool is_known;
} Range;

typedef struct TailBlocks { // the blocks from index `first` to the end of the grid, and the path that their threads take
    const Launch *launch;
    uint32_t first[3];
    Range *values;          // of registers, constants and predicates (0 or 1), indexed by frame offset / 4
    uint64_t count, active; // a warp's instructions; those with active lanes
} TailBlocks;

static Range constant(int64_t value)
{
    return (Range){value, value, true};
}

static bool is_constant(Range r, int64_t value)
{
    return r.is_known && r.low == value && r.high == value;
}

static Range *value_at(const TailBlocks *t, uint32_t offset)
{
    return offset < t->launch->kernel->program->frame_bytes ? &t->values[offset / 4] : NULL;
}

static Range operand_range(const TailBlocks *t, uint32_t offset)
{
    const Range *r = value_at(t, offset);
    return r ? *r : (Range){0};
}

// ---- Initial frame

static Range range_of_special(const TailBlocks *t, int special)
{
    const Launch *l = t->launch;
    const uint32_t threads[] = {l->block.x, l->block.y, l->block.z}, blocks[] = {l->grid.x, l->grid.y, l->grid.z};
    if (special >= TID_X && special <= TID_Z)
        return (Range){0, (int64_t)threads[special - TID_X] - 1, true};
    if (special >= NTID_X && special <= NTID_Z)
        return constant(threads[special - NTID_X]);
    if (special >= CTAID_X && special <= CTAID_Z)
        return (Range){t->first[special - CTAID_X], (int64_t)blocks[special - CTAID_X] - 1, true};
    if (special >= NCTAID_X && special <= NCTAID_Z)
        return constant(blocks[special - NCTAID_X]);
    return (Range){0};
}

static void fill_frame(TailBlocks *t)
{
    const Program *p = t->launch->kernel->program;
    memset(t->values, 0, (p->frame_bytes / 4 + 1) * sizeof *t->values);
    for (const Slot *s = p->slots; s < p->slots + p->slot_count; s++)
        t->values[s->offset / 4] = s->special >= 0 ? range_of_special(t, s->special)
                                   : s->bytes == 8 ? constant((int64_t)s->value)
                                                   : constant((int32_t)s->value);
}

// ---- Transfer functions

// The interval if its values fit the width of the type, otherwise unknown. nvcc uses signed instructions for unsigned numbers,
// so the sign is ignored.
static Range if_fits_width(Type type, Range r)
{
    const bool is_32_bit = sim_type_bytes(type) == 4;
    return r.is_known && r.low >= (is_32_bit ? INT32_MIN : INT64_MIN) && r.high <= (is_32_bit ? UINT32_MAX : INT64_MAX) ? r : (Range){0};
}

// The interval if its values fit the type, with its sign, otherwise unknown.
static Range if_fits_type(Type type, Range r)
{
    const bool is_32_bit = sim_type_bytes(type) == 4, is_signed = sim_is_signed(type);
    const int64_t min = !is_signed ? 0 : is_32_bit ? INT32_MIN : INT64_MIN,
                  max = !is_32_bit ? INT64_MAX : is_signed ? INT32_MAX : UINT32_MAX;
    return r.is_known && r.low >= min && r.high <= max ? r : (Range){0};
}

static Range sum(Range a, Range b)
{
    Range r = {.is_known = a.is_known && b.is_known};
    const bool low = __builtin_add_overflow(a.low, b.low, &r.low), high = __builtin_add_overflow(a.high, b.high, &r.high);
    return r.is_known && !low && !high ? r : (Range){0};
}

static Range product(Range a, Range b) // of non-negative numbers
{
    Range r = {.is_known = a.is_known && b.is_known && a.low >= 0 && b.low >= 0};
    const bool low = __builtin_mul_overflow(a.low, b.low, &r.low), high = __builtin_mul_overflow(a.high, b.high, &r.high);
    return r.is_known && !low && !high ? r : (Range){0};
}

// a < b, or a <= b with `or_equal`: 0, 1, or unknown.
static Range is_less(Range a, Range b, bool or_equal)
{
    const int64_t margin = or_equal ? 0 : 1;
    if (!a.is_known || !b.is_known)
        return (Range){0};
    if (a.high <= b.low - margin)
        return constant(1);
    return a.low > b.high - margin ? constant(0) : (Range){0};
}

static Range comparison_range(int comparison, Range a, Range b)
{
    switch (comparison) {
    case COMPARES_LESS: return is_less(a, b, false);
    case COMPARES_NOT_GREATER: return is_less(a, b, true);
    case COMPARES_GREATER: return is_less(b, a, false);
    case COMPARES_NOT_LESS: return is_less(b, a, true);
    default: return (Range){0};
    }
}

static Range and_or(Range a, Range b, int64_t absorbing) // of two predicates; `absorbing`: 0 for AND, 1 for OR
{
    if (is_constant(a, absorbing) || is_constant(b, absorbing))
        return constant(absorbing);
    return is_constant(a, !absorbing) && is_constant(b, !absorbing) ? constant(!absorbing) : (Range){0};
}

static Range argument(const TailBlocks *t, const Instr *i)
{
    const Function *kernel = t->launch->kernel;
    const bool fits = i->count == 1 && i->at.offset >= 0 && (size_t)i->at.offset + i->bytes <= kernel->kernel_param_bytes;
    int64_t value = 0;
    if (!fits || (i->bytes != 4 && i->bytes != 8))
        return (Range){0};
    memcpy(&value, t->launch->params + i->at.offset, i->bytes);
    return constant(i->bytes == 8 ? value : (int32_t)value);
}

// The result of an operation on two or three integers of 32 or 64 bits.
static Range integer_range(const Instr *i, Range a, Range b, Range c)
{
    const Type type = (Type)i->type;
    const bool widens = sim_type_bytes(i->statement->operands[0].reg->type) > sim_type_bytes(type);
    switch (i->kind) {
    case SUM: return if_fits_width(type, sum(a, b));
    case PRODUCT: return widens ? product(if_fits_type(type, a), if_fits_type(type, b)) : if_fits_width(type, product(a, b));
    case MULTIPLY_ADD: return widens ? (Range){0} : if_fits_width(type, sum(product(a, b), c));
    case COMPARE:
        return i->second == NO_OFFSET && !(i->flags & COMBINE) ? comparison_range(i->op, if_fits_type(type, a), if_fits_type(type, b)) : (Range){0};
    default: return (Range){0};
    }
}

static Range result_range(const TailBlocks *t, const Instr *i)
{
    const Statement *s = i->statement;
    const Range a = operand_range(t, i->a), b = operand_range(t, i->b), c = operand_range(t, i->c);
    if (s->count < 2 || !s->operands[0].reg || s->operands[1].count)
        return (Range){0};
    if (i->kind == MOVE)
        return a;
    if ((i->kind == LOGICAL_AND || i->kind == LOGICAL_OR) && i->type == PRED)
        return and_or(a, b, i->kind == LOGICAL_OR ? 1 : 0);
    if (i->kind == CONVERT_INTEGER && sim_type_bytes((Type)i->type) == 8 && sim_type_bytes((Type)i->from) == 4 &&
        sim_is_signed((Type)i->type) == sim_is_signed((Type)i->from))
        return if_fits_type((Type)i->from, a);
    const bool is_integer = i->type == U32 || i->type == S32 || i->type == U64 || i->type == S64;
    return is_integer ? integer_range(i, a, b, c) : (Range){0};
}

static void invalidate(TailBlocks *t, const Operand *o)
{
    const Register *const registers[] = {o->reg, o->second};
    for (int k = 0; k < 2; k++)
        if (registers[k])
            t->values[registers[k]->slot / 4] = (Range){0};
    for (int k = 0; k < o->count; k++)
        invalidate(t, &o->elements[k]);
}

static void evaluate_instruction(TailBlocks *t, const Instr *i)
{
    const Statement *s = i->statement;
    const bool is_load = s->count > 1 && s->operands[1].is_address,
               is_param_load = is_load && sim_is_kernel_parameter(t->launch->kernel, &s->operands[1]) && !sim_is_float((Type)i->type);
    const Range r = is_param_load ? argument(t, i) : is_load ? (Range){0} : result_range(t, i);
    if (s->count > 0 && !s->operands[0].is_address)
        invalidate(t, &s->operands[0]);
    Range *to = r.is_known ? value_at(t, is_param_load ? i->elements[0] : i->d) : NULL;
    if (to)
        *to = r;
}

// ---- Control flow

// True if all threads of the blocks return after a few instructions without side effects.
static bool is_idle(TailBlocks *t)
{
    const Program *p = t->launch->kernel->program;
    uint32_t pc = 0;
    fill_frame(t);
    for (t->count = 1, t->active = 0; t->count <= MAX_STEPS && pc < p->count; t->count++) {
        const Instr *i = &p->code[pc];
        const Range guard = i->guard == NO_OFFSET ? constant(1) : operand_range(t, i->guard);
        const bool taken = is_constant(guard, i->guard != NO_OFFSET && i->guard_negated ? 0 : 1);
        if (!taken && !is_constant(guard, i->guard_negated ? 1 : 0))
            return false;
        t->active += taken;
        if (taken && i->control == RETURN)
            return true;
        if (taken && (i->control == BRANCH ? i->target <= pc : i->control != PLAIN || !i->statement || i->effects & ~WRITES_DESTINATION))
            return false;
        if (taken && i->control == PLAIN)
            evaluate_instruction(t, i);
        pc = taken && i->control == BRANCH ? i->target : pc + 1;
    }
    return false;
}

// The highest dimension in which the grid has more than one block.
static int last_dimension(const Launch *launch)
{
    return launch->grid.z > 1 ? 2 : launch->grid.y > 1 ? 1 : 0;
}

static void count_idle(Launch *launch, const TailBlocks *t, uint64_t blocks)
{
    const uint64_t threads = (uint64_t)launch->block.x * launch->block.y * launch->block.z;
    launch->blocks_to_run -= blocks;
    launch->counters.warp_instructions += blocks * ((threads + LANES - 1) / LANES) * t->count;
    launch->counters.active_lanes += blocks * threads * t->active;
}

static bool may_skip_blocks(const Launch *launch)
{
    return sim_takes_shortcuts() && !launch->traced && !launch->block_order && !launch->time_sliced && launch->blocks >= MIN_BLOCKS;
}

void sim_skip_idle_blocks(Launch *launch)
{
    if (!may_skip_blocks(launch))
        return;
    const int dimension = last_dimension(launch);
    const uint32_t size = dimension == 2 ? launch->grid.z : dimension == 1 ? launch->grid.y : launch->grid.x;
    TailBlocks t = {.launch = launch};
    t.first[dimension] = size - 1;
    t.values = malloc((launch->kernel->program->frame_bytes / 4 + 1) * sizeof *t.values);
    if (t.values && is_idle(&t)) {
        uint32_t low = 0, high = size - 1; // bounds of the first index whose blocks are idle
        while (low < high) {
            t.first[dimension] = low + (high - low) / 2;
            if (is_idle(&t))
                high = t.first[dimension];
            else
                low = t.first[dimension] + 1;
        }
        t.first[dimension] = high;
        is_idle(&t);
        count_idle(launch, &t, (size - high) * (launch->blocks / size));
    }
    free(t.values);
}
