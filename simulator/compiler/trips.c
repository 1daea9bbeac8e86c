// trips.c: how often loops run. Of a loop that counts with constants the exit test is run until it fails; of others the bound and
// the step are found.
#include "compiler/clone.h"
#include "compiler/intrinsics.h"
#include "compiler/simplify.h"

#include <string.h>

enum { MAX_DEPTH = 16, MAX_GUARDS = 32 };

typedef struct Evaluation { // of a loop's values in one iteration
    IrModule *module;
    const Loops *loops;
    const Loop *loop;
    IrInstruction **state; // the constants that header phis have; a phi's mark is its index and 1
    Simplifier simplifier;
} Evaluation;

// The constant that a value of the loop has now, or NULL.
static IrInstruction *evaluate(Evaluation *e, IrInstruction *value, uint32_t depth)
{
    if (ir_is_constant(value))
        return value->op == IR_UNDEFINED ? NULL : value;
    if (depth > MAX_DEPTH || is_loop_invariant(e->loops, e->loop, value))
        return NULL;
    if (value->op == IR_PHI)
        return value->block == e->loop->header ? e->state[value->mark - 1] : NULL;
    if (value->op > IR_BITCAST || !value->operand_count || value->operand_count > 3)
        return NULL;
    IrInstruction copy = *value, *operands[3];
    for (uint32_t k = 0; k < value->operand_count; k++)
        if (!(operands[k] = evaluate(e, value->operands[k], depth + 1)))
            return NULL;
    copy.operands = operands;
    return fold_constants(&e->simplifier, &copy);
}

static void start(Evaluation *e, const IrBlock *preheader)
{
    const uint32_t from = ir_edge_index(preheader, 0);
    for (const IrInstruction *phi = e->loop->header->first; phi->op == IR_PHI; phi = phi->next)
        if (phi->operands[from]->op == IR_INTEGER)
            e->state[phi->mark - 1] = phi->operands[from];
}

static void advance(Evaluation *e, const IrBlock *latch, IrInstruction **next)
{
    uint32_t from = 0, count = 0;
    while (e->loop->header->predecessors[from] != latch)
        from++;
    for (const IrInstruction *phi = e->loop->header->first; phi->op == IR_PHI; phi = phi->next)
        next[count++] = e->state[phi->mark - 1] ? evaluate(e, phi->operands[from], 0) : NULL;
    count = 0;
    for (const IrInstruction *phi = e->loop->header->first; phi->op == IR_PHI; phi = phi->next)
        e->state[phi->mark - 1] = next[count++];
}

// How often the test at the latch succeeds until it fails, and 1; 0: more often than `most`, or not known.
static uint32_t run_test(Evaluation *e, const IrBlock *latch, uint32_t back, uint32_t most, IrInstruction **next)
{
    for (uint32_t trips = 1; trips <= most; trips++) {
        const IrInstruction *condition = evaluate(e, latch->last->operands[0], 0);
        if (!condition)
            return 0;
        if ((condition->integer != 0) != (back == 0))
            return trips;
        advance(e, latch, next);
    }
    return 0;
}

uint32_t constant_trip_count(IrModule *module, const Loops *loops, const Loop *loop, uint32_t most)
{
    IrBlock *latch = loop_latch(loops, loop);
    const IrBlock *preheader = loop_preheader(loops, loop);
    if (!latch || !preheader || latch->last->op != IR_BRANCH)
        return 0;
    const uint32_t back = latch->last->target[0] == loop->header ? 0 : 1;
    if (latch->last->target[back] != loop->header || latch->last->target[!back] == loop->header)
        return 0;
    IrFunction *function = loop->header->function;
    Evaluation e = {.module = module, .loops = loops, .loop = loop, .simplifier = {.module = module, .function = function}};
    uint32_t phis = 0;
    for (IrInstruction *phi = loop->header->first; phi->op == IR_PHI; phi = phi->next)
        phi->mark = ++phis;
    e.state = ir_scratch(module, (phis + 1) * sizeof *e.state);
    IrInstruction **next = ir_scratch(module, (phis + 1) * sizeof *next);
    start(&e, preheader);
    const uint32_t trips = run_test(&e, latch, back, most, next);
    for (IrInstruction *phi = loop->header->first; phi->op == IR_PHI; phi = phi->next)
        phi->mark = 0;
    return trips;
}

// The header phi that grows by an invariant step.
static bool find_induction(const Loops *loops, const Loop *loop, const IrBlock *latch, IrInstruction *value, CountedLoop *trips)
{
    IrInstruction *phi = value->op == IR_PHI ? value : value->op == IR_ADD ? value->operands[0] : NULL;
    if (phi && phi->op != IR_PHI && value->op == IR_ADD)
        phi = value->operands[1];
    if (!phi || phi->op != IR_PHI || phi->block != loop->header || phi->operand_count != 2)
        return false;
    IrInstruction *next = phi->operands[loop->header->predecessors[0] == latch ? 0 : 1];
    if (next->op != IR_ADD || (value != phi && value != next))
        return false;
    IrInstruction *step = next->operands[0] == phi ? next->operands[1] : next->operands[1] == phi ? next->operands[0] : NULL;
    if (!step || !is_loop_invariant(loops, loop, step))
        return false;
    trips->phi = phi;
    trips->next = next;
    trips->step = step;
    trips->compares_next = value == next;
    return true;
}

bool find_counted_loop(const Loops *loops, const Loop *loop, CountedLoop *trips)
{
    IrBlock *latch = loop_latch(loops, loop);
    if (!latch || latch->last->op != IR_BRANCH)
        return false;
    IrInstruction *compare = latch->last->operands[0];
    if (compare->op != IR_COMPARE || ir_is_float_type(compare->operands[0]->type) || compare->operands[0]->type == IR_PRED)
        return false;
    IrInstruction *variable = compare->operands[0], *bound = compare->operands[1];
    trips->relation = compare->compare;
    if (is_loop_invariant(loops, loop, variable)) {
        IrInstruction *swapped = variable;
        variable = bound;
        bound = swapped;
        trips->relation = swapped_compare(trips->relation);
    }
    if (!is_loop_invariant(loops, loop, bound) || !find_induction(loops, loop, latch, variable, trips))
        return false;
    if (latch->last->target[0] != loop->header)
        trips->relation = inverse_compare(trips->relation);
    trips->compare = compare;
    trips->bound = bound;
    trips->is_signed = compare->flags & IR_SIGNED;
    return true;
}

// ---- The number of iterations before the loop runs

static bool matches_guard(const IrInstruction *compare, bool truth, const IrInstruction *start, const CountedLoop *trips)
{
    if (compare->op != IR_COMPARE)
        return false;
    IrCompare relation = truth ? (IrCompare)compare->compare : inverse_compare(compare->compare);
    const IrInstruction *a = compare->operands[0], *b = compare->operands[1];
    const bool same_sign = trips->is_signed == !!(compare->flags & IR_SIGNED);
    if (a == start && b == trips->bound)
        return relation == trips->relation && (same_sign || relation == IR_NOT_EQUAL);
    if (b == start && a == trips->bound)
        return swapped_compare(relation) == trips->relation && (same_sign || relation == IR_NOT_EQUAL);
    // start = x + c, of a comparison that has been made one of x
    if (start->op == IR_ADD && start->operands[1]->op == IR_INTEGER && a == start->operands[0] && b->op == IR_INTEGER && trips->bound->op == IR_INTEGER)
        return same_sign && relation == trips->relation && b->integer + start->operands[1]->integer == trips->bound->integer;
    // A constant start: bound > c - 1 is bound >= c.
    if (a != trips->bound || start->op != IR_INTEGER || b->op != IR_INTEGER || (trips->relation != IR_LESS && trips->relation != IR_LESS_EQUAL))
        return false;
    if (trips->relation == IR_LESS_EQUAL)
        return same_sign && relation == IR_GREATER && b->integer >= start->integer - 1 && start->integer > INT32_MIN;
    if (!trips->is_signed && start->integer == 0 && relation == IR_NOT_EQUAL && b->integer == 0)
        return true;
    return same_sign && relation == IR_GREATER && b->integer >= start->integer && (trips->is_signed || start->integer >= 0);
}

// Whether the loop is entered only if its first test would have succeeded.
static bool is_guarded(const CountedLoop *trips, const IrInstruction *start, const IrBlock *preheader)
{
    const bool is_constant = start->op == IR_INTEGER && trips->bound->op == IR_INTEGER;
    if (is_constant)
        return fold_compare(trips->relation, trips->is_signed, start->type, start->integer, trips->bound->integer);
    const IrBlock *block = preheader;
    for (uint32_t k = 0; k < MAX_GUARDS && block->predecessor_count == 1; k++) {
        const IrBlock *from = block->predecessors[0];
        const IrInstruction *end = from->last;
        if (end->op == IR_BRANCH && end->target[0] != end->target[1] && matches_guard(end->operands[0], end->target[0] == block, start, trips))
            return true;
        block = from;
    }
    return false;
}

static bool grows_without_wrap(const CountedLoop *trips)
{
    const IrInstruction *step = trips->step;
    if (step->op == IR_INTEGER ? step->integer <= 0 : !is_never_negative(step))
        return false;
    if (step->op == IR_INTEGER && step->integer == 1)
        return true;
    if (trips->is_signed)
        return trips->next->flags & IR_NO_WRAP;
    const uint64_t most = largest_unsigned(trips->bound);
    return step->op == IR_INTEGER && most <= type_mask(step->type) - (uint64_t)step->integer;
}

static bool shrinks_without_wrap(const CountedLoop *trips)
{
    const IrInstruction *step = trips->step;
    if (step->op != IR_INTEGER || step->integer >= 0)
        return false;
    return step->integer == -1 || (trips->is_signed && (trips->next->flags & IR_NO_WRAP));
}

// Where the counting is written: before the preheader's jump.
typedef struct Counting {
    Simplifier *simplifier;
    IrInstruction *insert_before;
} Counting;

static IrInstruction *plus(const Counting *c, IrInstruction *value, int64_t constant)
{
    return build_simplified(c->simplifier, c->insert_before, IR_ADD, value, constant_like(c->simplifier, value, constant), 0);
}

// a - b + c
static IrInstruction *difference(const Counting *c, IrInstruction *a, IrInstruction *b, int64_t constant)
{
    if (b->op == IR_INTEGER)
        return plus(c, a, constant - b->integer);
    if (a->op == IR_INTEGER)
        return build_simplified(c->simplifier, c->insert_before, IR_SUB, constant_like(c->simplifier, a, a->integer + constant), b, 0);
    if (constant == -1)
        return build_simplified(c->simplifier, c->insert_before, IR_ADD, ir_insert_before(c->simplifier->module, c->insert_before, IR_NOT, b->type, 1, &b), a, 0);
    return plus(c, build_simplified(c->simplifier, c->insert_before, IR_SUB, a, b, 0), constant);
}

static IrInstruction *divided(const Counting *c, IrInstruction *distance, IrInstruction *step)
{
    if (step->op == IR_INTEGER && step->integer == 1)
        return distance;
    return build_simplified(c->simplifier, c->insert_before, IR_DIV, distance, step, 0);
}

// The test is of the variable before it grows: (max(start, bound) - start + step - 1) / step
static IrInstruction *count_from_bound(const Counting *c, const CountedLoop *trips, IrInstruction *start)
{
    IrInstruction *end = trips->bound;
    const bool is_below = end->op == IR_INTEGER && end->integer >= 0 && is_never_negative(start) && largest_unsigned(start) <= unsigned_value(end);
    if (!is_below)
        end = build_simplified(c->simplifier, c->insert_before, IR_MAX, start, end, trips->is_signed ? IR_SIGNED : 0);
    return divided(c, difference(c, plus(c, end, trips->step->integer - 1), start, 0), trips->step);
}

// The variable grows up to the bound. If it is not known that the first test would succeed, the bound is at least the first
// value that is compared.
static IrInstruction *count_up(const Counting *c, const CountedLoop *trips, IrInstruction *start, const IrBlock *preheader)
{
    IrInstruction *bound = trips->bound;
    const bool includes_bound = trips->relation == IR_LESS_EQUAL;
    if (trips->relation != IR_NOT_EQUAL && !is_guarded(trips, start, preheader)) {
        if (includes_bound || trips->step->op != IR_INTEGER)
            return NULL;
        bound = build_simplified(c->simplifier, c->insert_before, IR_MAX, bound, plus(c, start, trips->step->integer), trips->is_signed ? IR_SIGNED : 0);
    }
    return divided(c, difference(c, bound, start, includes_bound ? 0 : -1), trips->step);
}

static IrInstruction *count_to_below(const Counting *c, const CountedLoop *trips, IrInstruction *start, const IrBlock *preheader)
{
    if (trips->relation != IR_NOT_EQUAL && !is_guarded(trips, start, preheader))
        return NULL;
    IrInstruction *distance = difference(c, start, trips->bound, trips->relation == IR_GREATER_EQUAL ? 0 : -1);
    return divided(c, distance, constant_like(c->simplifier, start, -trips->step->integer));
}

// Whether something in the loop might keep it from going on: atomics, barriers, and the like.
static bool may_stop(const Loop *loop)
{
    for (uint32_t k = 0; k < loop->block_count; k++)
        for (const IrInstruction *i = loop->blocks[k]->first; i; i = i->next)
            if (i->op == IR_INTRINSIC && (!ir_is_pure(i) || strcmp(i->intrinsic->name, "asm") == 0))
                return true;
    return false;
}

static bool is_widened_special(const IrInstruction *value)
{
    return value->op == IR_CONVERT && value->operands[0]->op == IR_SPECIAL;
}

// What is known of the number of iterations without writing anything: NOT_COUNTED, or which way the variable goes.
typedef enum Direction { NOT_COUNTED, UP, UP_FROM_BOUND, DOWN } Direction;

static Direction direction_of(const CountedLoop *trips, const Loop *loop, const IrInstruction *start)
{
    const bool is_one = trips->step->op == IR_INTEGER && trips->step->integer == 1, is_minus_one = trips->step->op == IR_INTEGER && trips->step->integer == -1;
    if (trips->phi->type == IR_PRED)
        return NOT_COUNTED;
    if (trips->step->op != IR_INTEGER) {
        // Not from a thread's index with a special register as its step, as nvcc has it.
        const bool may_count = trips->is_signed && (trips->next->flags & IR_NO_WRAP) && trips->relation == IR_LESS && trips->compares_next;
        return may_count && !may_stop(loop) && !(is_widened_special(start) && is_widened_special(trips->step)) ? UP : NOT_COUNTED;
    }
    if (!trips->compares_next)
        return trips->relation == IR_LESS && grows_without_wrap(trips) ? UP_FROM_BOUND : NOT_COUNTED;
    if (trips->relation == IR_NOT_EQUAL)
        return is_one ? UP : is_minus_one ? DOWN : NOT_COUNTED;
    if (trips->relation == IR_LESS || (trips->relation == IR_LESS_EQUAL && trips->is_signed))
        return grows_without_wrap(trips) ? UP : NOT_COUNTED;
    if (trips->relation == IR_GREATER || (trips->relation == IR_GREATER_EQUAL && trips->is_signed))
        return shrinks_without_wrap(trips) ? DOWN : NOT_COUNTED;
    return NOT_COUNTED;
}

IrInstruction *count_back_edges(IrModule *module, const Loop *loop, const CountedLoop *trips, IrInstruction *start, IrBlock *preheader)
{
    Simplifier s = {.module = module, .function = preheader->function};
    const Counting c = {.simplifier = &s, .insert_before = preheader->last};
    switch (direction_of(trips, loop, start)) {
    case UP: return count_up(&c, trips, start, preheader);
    case UP_FROM_BOUND: return count_from_bound(&c, trips, start);
    case DOWN: return count_to_below(&c, trips, start, preheader);
    default: return NULL;
    }
}

bool is_countable_loop(const Loops *loops, const Loop *loop)
{
    CountedLoop trips;
    const IrBlock *preheader = loop_preheader(loops, loop);
    if (!preheader || !find_counted_loop(loops, loop, &trips))
        return false;
    for (uint32_t k = 0; k < loop->block_count; k++)
        for (uint32_t t = 0; t < ir_target_count(loop->blocks[k]); t++)
            if (loop->blocks[k] != loop_latch(loops, loop) && !loop_contains(loops, loop, loop->blocks[k]->last->target[t]))
                return false;
    if (trips.relation == IR_NOT_EQUAL && trips.step->op == IR_INTEGER && trips.compares_next)
        return true; // as unrolling leaves it
    return direction_of(&trips, loop, trips.phi->operands[ir_edge_index(preheader, 0)]) != NOT_COUNTED;
}
