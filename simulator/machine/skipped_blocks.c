// skipped_blocks.c: counts the idle blocks at the end of a grid without running them. In an idle block every thread returns
// because its index is out of range.
//
// The proof is an interval analysis of the kernel's first instructions over all threads of these blocks. The blocks are idle
// if each guard has one value for the whole interval.
#include "machine/blocks.h"

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

static bool begins_with(const Statement *s, const char *begin)
{
    return s->opcode.length >= strlen(begin) && memcmp(s->opcode.text, begin, strlen(begin)) == 0;
}

static bool ends_with(const Statement *s, const char *end)
{
    const size_t length = strlen(end);
    return s->opcode.length >= length && memcmp(s->opcode.text + s->opcode.length - length, end, length) == 0;
}

// The interval if its values fit the width of the opcode's type, otherwise unknown. nvcc uses signed instructions for
// unsigned numbers, so the sign is ignored.
static Range if_fits_width(const Statement *s, Range r)
{
    const bool is_32_bit = ends_with(s, "32");
    return r.is_known && r.low >= (is_32_bit ? INT32_MIN : INT64_MIN) && r.high <= (is_32_bit ? UINT32_MAX : INT64_MAX) ? r : (Range){0};
}

// The interval if its values fit the opcode's type, with its sign, otherwise unknown.
static Range if_fits_type(const Statement *s, Range r)
{
    const bool is_32_bit = ends_with(s, "32"), is_signed = ends_with(s, "s32") || ends_with(s, "s64");
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

static Range comparison_range(const Statement *s, Range a, Range b)
{
    if (begins_with(s, "setp.lt."))
        return is_less(a, b, false);
    if (begins_with(s, "setp.le."))
        return is_less(a, b, true);
    if (begins_with(s, "setp.gt."))
        return is_less(b, a, false);
    return begins_with(s, "setp.ge.") ? is_less(b, a, true) : (Range){0};
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

static Range result_range(const TailBlocks *t, const Instr *i)
{
    const Statement *s = i->statement;
    const Range a = operand_range(t, i->a), b = operand_range(t, i->b), c = operand_range(t, i->c);
    if (begins_with(s, "mov."))
        return a;
    if (begins_with(s, "and.pred") || begins_with(s, "or.pred"))
        return and_or(a, b, begins_with(s, "or.") ? 1 : 0);
    if (begins_with(s, "cvt.s64.s32") || begins_with(s, "cvt.u64.u32"))
        return if_fits_type(s, a);
    if (!ends_with(s, "32") && !ends_with(s, "64"))
        return (Range){0};
    if (begins_with(s, "mul.wide."))
        return product(if_fits_type(s, a), if_fits_type(s, b));
    if (begins_with(s, "mul.lo."))
        return if_fits_width(s, product(a, b));
    if (begins_with(s, "mad.lo."))
        return if_fits_width(s, sum(product(a, b), c));
    if (begins_with(s, "add.s32") || begins_with(s, "add.s64") || begins_with(s, "add.u32") || begins_with(s, "add.u64"))
        return if_fits_width(s, sum(a, b));
    if (i->kind == COMPARE && i->second == NO_OFFSET && !(i->flags & COMBINE) && (ends_with(s, "32") || ends_with(s, "64")) &&
        !ends_with(s, "f32") && !ends_with(s, "f64"))
        return comparison_range(s, if_fits_type(s, a), if_fits_type(s, b));
    return (Range){0};
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
    const bool is_param_load = begins_with(s, "ld.param.") && !ends_with(s, "f32") && !ends_with(s, "f64");
    const Range r = is_param_load ? argument(t, i) : begins_with(s, "ld.") ? (Range){0} : result_range(t, i);
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

void sim_skip_idle_blocks(Launch *launch)
{
    const int dimension = last_dimension(launch);
    const uint32_t size = dimension == 2 ? launch->grid.z : dimension == 1 ? launch->grid.y : launch->grid.x;
    TailBlocks t = {.launch = launch};
    t.first[dimension] = size - 1;
    t.values = malloc((launch->kernel->program->frame_bytes / 4 + 1) * sizeof *t.values);
    if (launch->blocks >= MIN_BLOCKS && t.values && is_idle(&t)) {
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
