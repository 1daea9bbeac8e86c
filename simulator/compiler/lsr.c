// lsr.c: loop strength reduction. An address that advances by the same number of bytes in each iteration becomes an induction variable: it
// is computed before the loop, and incremented at the loop's end. Products of the loop counter are handled alike. As in NVVM, only loops
// with a computable trip count are changed.
#include "compiler/clone.h"
#include "compiler/known.h"

enum { MAX_DEPTH = 12, MAX_NEW = 64 };

typedef struct Reduction {
    IrModule *module;
    IrFunction *function;
    const Loops *loops;
    const Loop *loop;
    IrBlock *preheader, *latch;
    IrInstruction *phi;  // the induction variable
    IrInstruction *step; // invariant
    int64_t step_count;  // number of times that `step` is added in an iteration
    bool keeps_sign;     // the variable does not wrap as a signed number
} Reduction;

// A linear function of the induction variable: factor * phi + invariant.
typedef struct Linear {
    bool is_linear;
    int64_t factor;
} Linear;

static const Linear NOT_LINEAR = {false, 0};

static Linear linear(const Reduction *r, const IrInstruction *value, bool may_wrap, uint32_t depth);

static Linear linear_sum(const Reduction *r, const IrInstruction *i, bool may_wrap, uint32_t depth)
{
    const Linear a = linear(r, i->operands[0], may_wrap, depth + 1), b = linear(r, i->operands[1], may_wrap, depth + 1);
    if (!a.is_linear || !b.is_linear)
        return NOT_LINEAR;
    const int64_t scale = i->op == IR_OFFSET ? (int64_t)(i->scale ? i->scale : 1) : i->op == IR_SUB ? -1 : 1;
    return (Linear){true, a.factor + scale * b.factor};
}

static Linear scaled(Linear a, int64_t factor)
{
    return (Linear){a.is_linear, a.factor * factor};
}

static bool is_wide_enough(const Reduction *r, const IrInstruction *conversion, bool may_wrap)
{
    const IrInstruction *inner = conversion->operands[0];
    if (ir_is_float_type(inner->type) || ir_is_float_type(conversion->type) || inner->type == IR_PRED || ir_bits(inner->type) < 32)
        return false;
    if (ir_bits(conversion->type) <= ir_bits(inner->type))
        return true; // the low bits of a sum or product do not depend on the high bits
    if (may_wrap)
        return true;
    return (conversion->flags & IR_SIGNED) ? r->keeps_sign : r->keeps_sign && is_never_negative(inner);
}

static Linear linear(const Reduction *r, const IrInstruction *value, bool may_wrap, uint32_t depth)
{
    if (value == r->phi)
        return (Linear){true, 1};
    if (is_loop_invariant(r->loops, r->loop, value))
        return (Linear){true, 0};
    if (depth > MAX_DEPTH || ir_is_float_type(value->type))
        return NOT_LINEAR;
    switch (value->op) {
    case IR_ADD:
    case IR_SUB:
        return linear_sum(r, value, may_wrap, depth);
    case IR_OFFSET:
        return value->operand_count == 2 ? linear_sum(r, value, may_wrap, depth) : linear(r, value->operands[0], may_wrap, depth + 1);
    case IR_SHL:
        if (value->operands[1]->op != IR_INTEGER || unsigned_value(value->operands[1]) > 30)
            return NOT_LINEAR;
        return scaled(linear(r, value->operands[0], may_wrap, depth + 1), (int64_t)1 << unsigned_value(value->operands[1]));
    case IR_MUL:
        if (value->operands[1]->op != IR_INTEGER)
            return NOT_LINEAR;
        return scaled(linear(r, value->operands[0], may_wrap, depth + 1), value->operands[1]->integer);
    case IR_SYMBOL: // a constant, even if it is in the loop
        return (Linear){true, 0};
    case IR_CONVERT:
        return is_wide_enough(r, value, may_wrap) ? linear(r, value->operands[0], may_wrap, depth + 1) : NOT_LINEAR;
    default:
        return NOT_LINEAR;
    }
}

// The value on entry to the loop. Parts of it may already have become induction variables.
static IrInstruction *start_of(Reduction *r, IrInstruction *value)
{
    if (value->op == IR_PHI && value->block == r->loop->header)
        return value->operands[ir_edge_index(r->preheader, 0)];
    if (is_loop_invariant(r->loops, r->loop, value))
        return value;
    IrInstruction *copy = ir_clone(r->module, r->function, value);
    for (uint32_t k = 0; k < copy->operand_count; k++)
        ir_set_operand(copy, k, start_of(r, value->operands[k]));
    ir_link_before(r->preheader->last, copy);
    return copy;
}

// The increment in each iteration, as a value of this type.
static IrInstruction *growth(Reduction *r, IrType type, int64_t factor)
{
    if (r->step->op == IR_INTEGER)
        return ir_integer(r->module, r->function, type, factor * r->step->integer);
    factor *= r->step_count;
    IrInstruction *insert_before = r->preheader->last, *step = r->step;
    if (step->type != type)
        step = ir_convert(r->module, insert_before, type, step, IR_SIGNED);
    if (factor == 1)
        return step;
    IrInstruction *constant = ir_integer(r->module, r->function, type, factor);
    const int power = power_of_two(constant);
    if (power > 0)
        return ir_binary(r->module, insert_before, IR_SHL, step, ir_integer(r->module, r->function, IR_B32, power), 0);
    return ir_binary(r->module, insert_before, IR_MUL, step, constant, 0);
}

static void reduce(Reduction *r, IrInstruction *value, int64_t factor)
{
    IrInstruction *start = start_of(r, value), *step = growth(r, value->type, factor);
    IrInstruction *phi = ir_phi(r->module, r->loop->header, value->type), *next;
    phi->space = value->space;
    if (value->op == IR_OFFSET) {
        const bool is_constant = step->op == IR_INTEGER;
        next = ir_insert_before(r->module, r->latch->last, IR_OFFSET, value->type, is_constant ? 1 : 2, (IrInstruction *[]){phi, step});
        next->space = value->space;
        next->scale = 1;
        next->integer = is_constant ? step->integer : 0;
    } else {
        next = ir_binary(r->module, r->latch->last, IR_ADD, phi, step, 0);
    }
    next->line = value->line;
    next->file = value->file;
    for (uint32_t k = 0; k < r->loop->header->predecessor_count; k++)
        ir_add_operand(r->module, phi, r->loop->header->predecessors[k] == r->latch ? next : start);
    ir_replace_uses(value, phi);
}

// Candidates are addresses with an index, and products by a constant with uses other than address arithmetic.
static bool is_candidate(const IrInstruction *i)
{
    if (i->op == IR_OFFSET)
        return i->operand_count == 2;
    if (i->op != IR_MUL || i->operands[1]->op != IR_INTEGER)
        return false;
    for (const IrUse *use = i->uses; use; use = use->next)
        if (use->user->op == IR_OFFSET || use->user->op == IR_ADD || use->user->op == IR_SUB || use->user->op == IR_MUL || use->user->op == IR_SHL ||
            (use->user->op == IR_CONVERT && !ir_is_float_type(use->user->type)))
            return false;
    return true;
}

// Whether an address is used only as the base of other addresses.
static bool is_part(const IrInstruction *i)
{
    for (const IrUse *use = i->uses; use; use = use->next)
        if (use->user->op != IR_OFFSET || use->user->operand_count != 2 || use->operand != 0)
            return false;
    return true;
}

// Whether an address is an invariant offset from another candidate.
static bool is_offset_from_candidate(const Reduction *r, const IrInstruction *i)
{
    if (i->op != IR_OFFSET || !is_loop_invariant(r->loops, r->loop, i->operands[1]))
        return false;
    const IrInstruction *base = i->operands[0];
    while (base->op == IR_OFFSET && base->operand_count == 1)
        base = base->operands[0];
    return !is_loop_invariant(r->loops, r->loop, base) && base->op == IR_OFFSET && !is_part(base);
}

static bool reduce_variable(Reduction *r)
{
    uint32_t candidate_count = 0;
    IrInstruction *found[MAX_NEW];
    int64_t factors[MAX_NEW];
    for (uint32_t k = 0; k < r->loop->block_count; k++)
        for (IrInstruction *i = r->loop->blocks[k]->first; i; i = i->next) {
            if (candidate_count == MAX_NEW || !i->uses || !is_candidate(i) || (i->op == IR_OFFSET && is_part(i)) || is_offset_from_candidate(r, i))
                continue;
            const Linear value = linear(r, i, i->type == IR_B32, 0);
            if (!value.is_linear || !value.factor)
                continue;
            found[candidate_count] = i;
            factors[candidate_count++] = value.factor;
        }
    for (uint32_t k = 0; k < candidate_count; k++)
        reduce(r, found[k], factors[k]);
    return candidate_count;
}

static bool find_variable(Reduction *r, IrInstruction *phi)
{
    if (phi->operand_count != 2 || (phi->type != IR_B32 && phi->type != IR_B64))
        return false;
    IrInstruction *next = phi->operands[r->loop->header->predecessors[0] == r->latch ? 0 : 1];
    r->step = NULL;
    r->step_count = 0;
    r->keeps_sign = true;
    for (IrInstruction *sum = next; sum != phi; r->step_count++) { // several additions after unrolling
        if (sum->op != IR_ADD || r->step_count == MAX_DEPTH)
            return false;
        const uint32_t which = sum->operands[1] == phi || !is_loop_invariant(r->loops, r->loop, sum->operands[1]) ? 0 : 1;
        IrInstruction *step = sum->operands[which];
        if (!is_loop_invariant(r->loops, r->loop, step) || (r->step && (step != r->step || step->op == IR_INTEGER)))
            return false;
        r->step = step;
        r->keeps_sign &= (sum->flags & IR_NO_WRAP) != 0;
        sum = sum->operands[!which];
    }
    r->phi = phi;
    return r->step != NULL;
}

static bool reduce_loop(Reduction *r)
{
    IrInstruction *phis[MAX_NEW];
    uint32_t count = 0;
    for (IrInstruction *phi = r->loop->header->first; phi->op == IR_PHI && count < MAX_NEW; phi = phi->next)
        phis[count++] = phi;
    bool changed = false;
    for (uint32_t k = 0; k < count; k++)
        changed |= find_variable(r, phis[k]) && reduce_variable(r);
    return changed;
}

bool reduce_strength(IrModule *module, IrFunction *function)
{
    bool changed = loops_simplify(module, function);
    const Loops *loops = loops_of(module, function, dominators_of(module, function));
    for (const Loop *loop = loops->all; loop; loop = loop->next) {
        Reduction r = {.module = module, .function = function, .loops = loops, .loop = loop};
        r.preheader = loop_preheader(loops, loop);
        r.latch = loop_latch(loops, loop);
        if (r.preheader && r.latch && is_countable_loop(loops, loop))
            changed |= reduce_loop(&r);
    }
    return changed;
}

// Changes an exit test to compare the incremented variable, so that the old value is no longer live at the loop's end.
static bool test_next(Reduction *r)
{
    IrInstruction *end = r->latch->last;
    IrInstruction *compare = end->op == IR_BRANCH ? end->operands[0] : NULL;
    if (!compare || compare->op != IR_COMPARE || !ir_has_one_use(compare) || compare->operands[1]->op != IR_INTEGER || compare->operands[0]->op != IR_PHI)
        return false;
    if (compare->operands[0]->block != r->loop->header || !find_variable(r, compare->operands[0]) || r->step->op != IR_INTEGER || r->step_count != 1 || !r->keeps_sign)
        return false;
    const int64_t bound = compare->operands[1]->integer + r->step->integer;
    if (ir_sign_extended(r->phi->type, bound) != bound || (!(compare->flags & IR_SIGNED) && compare->compare != IR_EQUAL && compare->compare != IR_NOT_EQUAL))
        return false;
    ir_set_operand(compare, 0, r->phi->operands[r->loop->header->predecessors[0] == r->latch ? 0 : 1]);
    ir_set_operand(compare, 1, ir_integer(r->module, r->function, r->phi->type, bound));
    return true;
}

bool test_next_values(IrModule *module, IrFunction *function)
{
    bool changed = false;
    const Loops *loops = loops_of(module, function, dominators_of(module, function));
    for (const Loop *loop = loops->all; loop; loop = loop->next) {
        Reduction r = {.module = module, .function = function, .loops = loops, .loop = loop};
        r.latch = loop_latch(loops, loop);
        changed |= r.latch && test_next(&r);
    }
    return changed;
}
