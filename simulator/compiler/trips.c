// trips.c: trip counts of loops. If a loop's exit test depends on constants only, it is evaluated until it fails; for other counted
// loops the bound and the step are found.
#include "compiler/clone.h"
#include "compiler/simplify.h"

enum { MAX_DEPTH = 16, MAX_GUARDS = 32 };

typedef struct Evaluation { // evaluation of a loop's values in one iteration
    IrModule *module;
    const Loops *loops;
    const Loop *loop;
    IrInstruction **state; // the constant value of each header phi, or NULL, by the phi's mark - 1
    Simplifier simplifier;
} Evaluation;

// The value's constant in the current iteration, or NULL.
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

static void set_initial_state(Evaluation *e, const IrBlock *preheader)
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

// The trip count, by evaluating the latch's test until it fails; 0 if it exceeds `limit` or is unknown.
static uint32_t run_test(Evaluation *e, const IrBlock *latch, uint32_t back, uint32_t limit, IrInstruction **next)
{
    for (uint32_t trips = 1; trips <= limit; trips++) {
        const IrInstruction *condition = evaluate(e, latch->last->operands[0], 0);
        if (!condition)
            return 0;
        if ((condition->integer != 0) != (back == 0))
            return trips;
        advance(e, latch, next);
    }
    return 0;
}

// Finds the header phi to which each iteration adds an invariant step.
static bool find_induction(const Loops *loops, const Loop *loop, const IrBlock *latch, IrInstruction *value, CountedLoop *counted)
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
    counted->phi = phi;
    counted->next = next;
    counted->step = step;
    counted->compares_next = value == next;
    return true;
}

bool find_counted_loop(const Loops *loops, const Loop *loop, CountedLoop *counted)
{
    IrBlock *latch = loop_latch(loops, loop);
    if (!latch || latch->last->op != IR_BRANCH)
        return false;
    IrInstruction *compare = latch->last->operands[0];
    if (compare->op != IR_COMPARE || ir_is_float_type(compare->operands[0]->type) || compare->operands[0]->type == IR_PRED)
        return false;
    IrInstruction *variable = compare->operands[0], *bound = compare->operands[1];
    counted->relation = compare->compare;
    if (is_loop_invariant(loops, loop, variable)) {
        IrInstruction *swapped = variable;
        variable = bound;
        bound = swapped;
        counted->relation = swapped_compare(counted->relation);
    }
    if (!is_loop_invariant(loops, loop, bound) || !find_induction(loops, loop, latch, variable, counted))
        return false;
    if (latch->last->target[0] != loop->header)
        counted->relation = inverse_compare(counted->relation);
    counted->compare = compare;
    counted->bound = bound;
    counted->is_signed = compare->flags & IR_SIGNED;
    return true;
}

// Counts the iterations of a loop from a value that is not constant to this value plus a constant: r = y; r < y + 32; r += 8.
static uint32_t count_distance(const Loops *loops, const Loop *loop, const IrBlock *preheader, uint32_t limit)
{
    CountedLoop counted;
    if (!find_counted_loop(loops, loop, &counted) || counted.step->op != IR_INTEGER || !counted.is_signed || !(counted.next->flags & IR_NO_WRAP))
        return 0;
    const IrInstruction *start = counted.phi->operands[ir_edge_index(preheader, 0)], *bound = counted.bound;
    if (bound->op != IR_ADD || bound->operands[0] != start || bound->operands[1]->op != IR_INTEGER || !(bound->flags & IR_NO_WRAP))
        return 0;
    int64_t value = counted.compares_next ? counted.step->integer : 0;
    for (uint32_t count = 1; count <= limit; count++, value += counted.step->integer)
        if (!fold_compare(counted.relation, true, IR_B64, value, bound->operands[1]->integer))
            return count;
    return 0;
}

uint32_t constant_trip_count(IrModule *module, const Loops *loops, const Loop *loop, uint32_t limit)
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
    set_initial_state(&e, preheader);
    const uint32_t trips = run_test(&e, latch, back, limit, next);
    for (IrInstruction *phi = loop->header->first; phi->op == IR_PHI; phi = phi->next)
        phi->mark = 0;
    return trips ? trips : count_distance(loops, loop, preheader, limit);
}

// ---- The number of iterations before the loop runs

static bool matches_guard(const IrInstruction *compare, bool truth, const IrInstruction *start, const CountedLoop *counted)
{
    if (compare->op != IR_COMPARE)
        return false;
    IrCompare relation = truth ? (IrCompare)compare->compare : inverse_compare(compare->compare);
    const IrInstruction *a = compare->operands[0], *b = compare->operands[1];
    const bool same_sign = counted->is_signed == !!(compare->flags & IR_SIGNED);
    if (a == start && b == counted->bound)
        return relation == counted->relation && (same_sign || relation == IR_NOT_EQUAL);
    if (b == start && a == counted->bound)
        return swapped_compare(relation) == counted->relation && (same_sign || relation == IR_NOT_EQUAL);
    // start = x + c, where the guard has been rewritten to a comparison of x
    if (start->op == IR_ADD && start->operands[1]->op == IR_INTEGER && a == start->operands[0] && b->op == IR_INTEGER && counted->bound->op == IR_INTEGER)
        return same_sign && relation == counted->relation && b->integer + start->operands[1]->integer == counted->bound->integer;
    // A constant start: bound > c - 1 is bound >= c.
    if (a != counted->bound || start->op != IR_INTEGER || b->op != IR_INTEGER || (counted->relation != IR_LESS && counted->relation != IR_LESS_EQUAL))
        return false;
    if (counted->relation == IR_LESS_EQUAL)
        return same_sign && relation == IR_GREATER && b->integer >= start->integer - 1 && start->integer > INT32_MIN;
    if (!counted->is_signed && start->integer == 0 && relation == IR_NOT_EQUAL && b->integer == 0)
        return true;
    return same_sign && relation == IR_GREATER && b->integer >= start->integer && (counted->is_signed || start->integer >= 0);
}

// Whether the loop is entered only if its first test would have succeeded.
static bool is_guarded(const CountedLoop *counted, const IrInstruction *start, const IrBlock *preheader)
{
    const bool is_constant = start->op == IR_INTEGER && counted->bound->op == IR_INTEGER;
    if (is_constant)
        return fold_compare(counted->relation, counted->is_signed, start->type, start->integer, counted->bound->integer);
    const IrBlock *block = preheader;
    for (uint32_t k = 0; k < MAX_GUARDS && block->predecessor_count == 1; k++) {
        const IrBlock *from = block->predecessors[0];
        const IrInstruction *end = from->last;
        if (end->op == IR_BRANCH && end->target[0] != end->target[1] && matches_guard(end->operands[0], end->target[0] == block, start, counted))
            return true;
        block = from;
    }
    return false;
}

static bool grows_without_wrap(const CountedLoop *counted)
{
    const IrInstruction *step = counted->step;
    if (step->op == IR_INTEGER ? step->integer <= 0 : !is_never_negative(step))
        return false;
    if (step->op == IR_INTEGER && step->integer == 1)
        return true;
    if (counted->is_signed)
        return counted->next->flags & IR_NO_WRAP;
    const uint64_t limit = largest_unsigned(counted->bound);
    return step->op == IR_INTEGER && limit <= type_mask(step->type) - (uint64_t)step->integer;
}

static bool shrinks_without_wrap(const CountedLoop *counted)
{
    const IrInstruction *step = counted->step;
    if (step->op != IR_INTEGER || step->integer >= 0)
        return false;
    return step->integer == -1 || (counted->is_signed && (counted->next->flags & IR_NO_WRAP));
}

// Builds the trip count before the preheader's jump.
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

// The test compares the variable before it is incremented: (max(start, bound) - start + step - 1) / step
static IrInstruction *count_from_bound(const Counting *c, const CountedLoop *counted, IrInstruction *start)
{
    IrInstruction *end = counted->bound;
    const bool is_below = end->op == IR_INTEGER && end->integer >= 0 && is_never_negative(start) && largest_unsigned(start) <= unsigned_value(end);
    if (!is_below)
        end = build_simplified(c->simplifier, c->insert_before, IR_MAX, start, end, counted->is_signed ? IR_SIGNED : 0);
    return divided(c, difference(c, plus(c, end, counted->step->integer - 1), start, 0), counted->step);
}

// The variable counts up to the bound. Unless a guard implies that the first test succeeds, the bound is raised to at least the
// first value that is compared.
static IrInstruction *count_up(const Counting *c, const CountedLoop *counted, IrInstruction *start, const IrBlock *preheader)
{
    IrInstruction *bound = counted->bound;
    const bool includes_bound = counted->relation == IR_LESS_EQUAL;
    if (counted->relation != IR_NOT_EQUAL && !is_guarded(counted, start, preheader)) {
        if (includes_bound || counted->step->op != IR_INTEGER)
            return NULL;
        bound = build_simplified(c->simplifier, c->insert_before, IR_MAX, bound, plus(c, start, counted->step->integer), counted->is_signed ? IR_SIGNED : 0);
    }
    return divided(c, difference(c, bound, start, includes_bound ? 0 : -1), counted->step);
}

static IrInstruction *count_down(const Counting *c, const CountedLoop *counted, IrInstruction *start, const IrBlock *preheader)
{
    if (counted->relation != IR_NOT_EQUAL && !is_guarded(counted, start, preheader))
        return NULL;
    IrInstruction *distance = difference(c, start, counted->bound, counted->relation == IR_GREATER_EQUAL ? 0 : -1);
    return divided(c, distance, constant_like(c->simplifier, start, -counted->step->integer));
}

// Whether the loop has inline assembly, or intrinsics that are not pure, such as atomics and barriers.
static bool has_intrinsic_effects(const Loop *loop)
{
    for (uint32_t k = 0; k < loop->block_count; k++)
        for (const IrInstruction *i = loop->blocks[k]->first; i; i = i->next)
            if (i->op == IR_INTRINSIC && (!ir_is_pure(i) || ir_is_assembly(i)))
                return true;
    return false;
}

static bool is_widened_special(const IrInstruction *value)
{
    return value->op == IR_CONVERT && value->operands[0]->op == IR_SPECIAL;
}

// How the trip count can be computed: the direction in which the variable counts, or NOT_COUNTED.
typedef enum Direction { NOT_COUNTED, UP, UP_FROM_BOUND, DOWN } Direction;

static Direction direction_of(const CountedLoop *counted, const Loop *loop, const IrInstruction *start)
{
    const bool is_one = counted->step->op == IR_INTEGER && counted->step->integer == 1, is_minus_one = counted->step->op == IR_INTEGER && counted->step->integer == -1;
    if (counted->phi->type == IR_PRED)
        return NOT_COUNTED;
    if (counted->step->op != IR_INTEGER) {
        // As in nvcc, a loop that starts at a thread index and has a special register as its step is not counted.
        const bool may_count = counted->is_signed && (counted->next->flags & IR_NO_WRAP) && counted->relation == IR_LESS && counted->compares_next;
        return may_count && !has_intrinsic_effects(loop) && !(is_widened_special(start) && is_widened_special(counted->step)) ? UP : NOT_COUNTED;
    }
    if (!counted->compares_next)
        return counted->relation == IR_LESS && grows_without_wrap(counted) ? UP_FROM_BOUND : NOT_COUNTED;
    if (counted->relation == IR_NOT_EQUAL)
        return is_one ? UP : is_minus_one ? DOWN : NOT_COUNTED;
    if (counted->relation == IR_LESS || (counted->relation == IR_LESS_EQUAL && counted->is_signed))
        return grows_without_wrap(counted) ? UP : NOT_COUNTED;
    if (counted->relation == IR_GREATER || (counted->relation == IR_GREATER_EQUAL && counted->is_signed))
        return shrinks_without_wrap(counted) ? DOWN : NOT_COUNTED;
    return NOT_COUNTED;
}

IrInstruction *count_back_edges(IrModule *module, const Loop *loop, const CountedLoop *counted, IrInstruction *start, IrBlock *preheader)
{
    Simplifier s = {.module = module, .function = preheader->function};
    const Counting c = {.simplifier = &s, .insert_before = preheader->last};
    switch (direction_of(counted, loop, start)) {
    case UP: return count_up(&c, counted, start, preheader);
    case UP_FROM_BOUND: return count_from_bound(&c, counted, start);
    case DOWN: return count_down(&c, counted, start, preheader);
    default: return NULL;
    }
}

bool is_countable_loop(const Loops *loops, const Loop *loop)
{
    CountedLoop counted;
    const IrBlock *preheader = loop_preheader(loops, loop);
    if (!preheader || !find_counted_loop(loops, loop, &counted))
        return false;
    for (uint32_t k = 0; k < loop->block_count; k++)
        for (uint32_t t = 0; t < ir_target_count(loop->blocks[k]); t++)
            if (loop->blocks[k] != loop_latch(loops, loop) && !loop_contains(loops, loop, loop->blocks[k]->last->target[t]))
                return false;
    if (counted.relation == IR_NOT_EQUAL && counted.step->op == IR_INTEGER && counted.compares_next)
        return true; // the form that unrolling produces
    return direction_of(&counted, loop, counted.phi->operands[ir_edge_index(preheader, 0)]) != NOT_COUNTED;
}
