// unroll.c: loops that run a known small number of times are replaced by that many copies of their body. Other loops that count
// are done four iterations at a time, as NVVM does: with a loop for the remainder after them if they start at a constant, else
// before them.
#include "compiler/clone.h"
#include "compiler/intrinsics.h"
#include "compiler/simplify.h"

enum {
    MAX_FULL_TRIPS = 100,      // that LLVM finds by running the test
    MAX_FULL_SIZE = 400,       // instructions of all copies
    MAX_PRAGMA_TRIPS = 4096,
    MAX_PRAGMA_SIZE = 16 * 1024,
    MAX_RUNTIME_SIZE = 60,
    RUNTIME_COUNT = 4,
    MAX_FEW_TRIPS = 8,         // a loop that may run that often at most is not done four at a time
    MAX_PHIS = 200,
    MAX_GUARDS = 32
};

typedef struct Unrolling {
    IrModule *module;
    IrFunction *function;
    const Loops *loops;
    Simplifier simplifier;
    uint64_t instructions, max_instructions;
    bool changed;
} Unrolling;

static bool is_counted(const IrInstruction *i)
{
    switch (i->op) {
    case IR_PHI: case IR_ELEMENT: case IR_SYMBOL: case IR_TO_GENERIC: case IR_FROM_GENERIC: case IR_BITCAST: case IR_JUMP:
        return false;
    default:
        return true;
    }
}

static uint32_t size_of(const Loop *loop)
{
    uint32_t size = 0;
    for (uint32_t k = 0; k < loop->block_count; k++)
        for (const IrInstruction *i = loop->blocks[k]->first; i; i = i->next)
            size += is_counted(i);
    return size;
}

static bool is_innermost(const Unrolling *u, const Loop *loop)
{
    for (uint32_t k = 0; k < loop->block_count; k++)
        if (u->loops->innermost[loop->blocks[k]->id] != loop)
            return false;
    return true;
}

// The block that follows the loop in the text.
static IrBlock *block_after(const Unrolling *u, const Loop *loop)
{
    IrBlock *after = loop_latch(u->loops, loop)->next;
    while (after && loop_contains(u->loops, loop, after))
        after = after->next;
    return after;
}

static uint32_t index_of(const IrBlock *block, const IrBlock *predecessor)
{
    uint32_t k = 0;
    while (block->predecessors[k] != predecessor)
        k++;
    return k;
}

static uint32_t count_phis(const IrBlock *block)
{
    uint32_t count = 0;
    for (const IrInstruction *phi = block->first; phi->op == IR_PHI; phi = phi->next)
        count++;
    return count;
}

// An edge from `latch` to the block `from` goes to `to`, which has the same phis.
static void move_back_edge(Unrolling *u, IrBlock *latch, IrBlock *from, IrBlock *to)
{
    IrInstruction *operands[MAX_PHIS];
    uint32_t count = 0;
    const uint32_t index = index_of(from, latch);
    for (const IrInstruction *phi = from->first; phi->op == IR_PHI; phi = phi->next)
        operands[count++] = phi->operands[index];
    ir_redirect(u->module, latch, latch->last->target[0] == from ? 0 : 1, to);
    count = 0;
    for (IrInstruction *phi = to->first; phi->op == IR_PHI; phi = phi->next)
        ir_add_operand(u->module, phi, operands[count++]);
}

// The loop's body `count` times in a row, the last one going back to the first. Fills in the headers and latches.
static void chain_copies(Unrolling *u, const Loop *loop, uint32_t count, IrBlock **headers, IrBlock **latches)
{
    IrBlock *place = block_after(u, loop);
    headers[0] = loop->header;
    latches[0] = loop_latch(u->loops, loop);
    for (uint32_t k = 1; k < count; k++) {
        const Clone *copy = clone_blocks(u->module, u->function, loop->blocks, loop->block_count, place);
        headers[k] = copy->blocks[headers[0]->id];
        latches[k] = copy->blocks[latches[0]->id];
        headers[k]->unroll = 0;
    }
    for (uint32_t k = 0; k < count && count > 1; k++)
        move_back_edge(u, latches[k], headers[k], headers[(k + 1) % count]);
}

// Back edges are target 0 or 1 of their latches.
static uint32_t back_target(const IrBlock *latch, const IrBlock *header)
{
    return latch->last->target[0] == header ? 0 : 1;
}

static void unroll_fully(Unrolling *u, const Loop *loop, uint32_t trips)
{
    IrBlock **headers = ir_scratch(u->module, trips * sizeof *headers), **latches = ir_scratch(u->module, trips * sizeof *latches);
    demote_outside_uses(u->module, u->function, u->loops, loop);
    chain_copies(u, loop, trips, headers, latches);
    for (uint32_t k = 0; k < trips; k++) {
        const uint32_t back = back_target(latches[k], headers[(k + 1) % trips]);
        ir_make_jump(u->module, latches[k], k + 1 < trips ? back : !back);
    }
    loop->header->unroll = 0;
}

// ---- Four iterations at a time

static bool matches_guard(const IrInstruction *compare, bool truth, const IrInstruction *start, const Trips *trips)
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
    // A constant start: bound > c - 1 is bound >= c.
    if (a != trips->bound || start->op != IR_INTEGER || b->op != IR_INTEGER || trips->relation != IR_LESS)
        return false;
    if (!trips->is_signed && start->integer == 0 && relation == IR_NOT_EQUAL && b->integer == 0)
        return true;
    return same_sign && relation == IR_GREATER && b->integer >= start->integer && (trips->is_signed || start->integer >= 0);
}

// Whether the loop is entered only if its first test would have succeeded.
static bool is_guarded(const Trips *trips, const IrInstruction *start, const IrBlock *preheader)
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

static bool grows_without_wrap(const Trips *trips)
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

static bool shrinks_without_wrap(const Trips *trips)
{
    const IrInstruction *step = trips->step;
    if (step->op != IR_INTEGER || step->integer >= 0)
        return false;
    return step->integer == -1 || (trips->is_signed && (trips->next->flags & IR_NO_WRAP));
}

// bound - 1 - start
static IrInstruction *distance_up(Unrolling *u, const Trips *trips, IrInstruction *start, IrInstruction *place)
{
    Simplifier *s = &u->simplifier;
    if (start->op == IR_INTEGER)
        return made(s, place, IR_ADD, trips->bound, constant_like(s, start, -1 - start->integer), 0);
    if (trips->bound->op == IR_INTEGER)
        return made(s, place, IR_SUB, constant_like(s, start, trips->bound->integer - 1), start, 0);
    return made(s, place, IR_ADD, ir_insert_before(u->module, place, IR_NOT, start->type, 1, &start), trips->bound, 0);
}

// The test is of the variable before it grows: (max(start, bound) - start + step - 1) / step
static IrInstruction *count_from_bound(Unrolling *u, const Trips *trips, IrInstruction *start, IrInstruction *place)
{
    Simplifier *s = &u->simplifier;
    IrInstruction *end = trips->bound;
    const bool is_below = end->op == IR_INTEGER && end->integer >= 0 && is_never_negative(start) && largest_unsigned(start) <= unsigned_value(end);
    if (!is_below)
        end = made(s, place, IR_MAX, start, end, trips->is_signed ? IR_SIGNED : 0);
    IrInstruction *sum = made(s, place, IR_ADD, end, constant_like(s, start, trips->step->integer - 1), 0);
    IrInstruction *distance = made(s, place, IR_SUB, sum, start, 0);
    return trips->step->integer == 1 ? distance : made(s, place, IR_DIV, distance, trips->step, 0);
}

// How often the loop goes back, before the preheader's jump; or NULL if that cannot be computed.
static IrInstruction *count_back_edges(Unrolling *u, const Trips *trips, IrInstruction *start, IrBlock *preheader)
{
    Simplifier *s = &u->simplifier;
    IrInstruction *place = preheader->last;
    const bool is_one = trips->step->op == IR_INTEGER && trips->step->integer == 1, is_minus_one = trips->step->op == IR_INTEGER && trips->step->integer == -1;
    if (trips->phi->type == IR_PRED || (!trips->compares_next && trips->relation != IR_LESS))
        return NULL;
    if (!trips->compares_next)
        return grows_without_wrap(trips) && trips->step->op == IR_INTEGER ? count_from_bound(u, trips, start, place) : NULL;
    if (trips->relation == IR_NOT_EQUAL ? is_one : trips->relation == IR_LESS && grows_without_wrap(trips)) {
        if (trips->relation == IR_LESS && !is_guarded(trips, start, preheader))
            return NULL;
        IrInstruction *distance = distance_up(u, trips, start, place);
        return is_one ? distance : made(s, place, IR_DIV, distance, trips->step, 0);
    }
    if (trips->relation == IR_NOT_EQUAL ? is_minus_one : trips->relation == IR_GREATER && shrinks_without_wrap(trips)) {
        if (trips->relation == IR_GREATER && !is_guarded(trips, start, preheader))
            return NULL;
        IrInstruction *distance = made(s, place, IR_SUB, made(s, place, IR_ADD, start, constant_like(s, start, -1), 0), trips->bound, 0);
        return is_minus_one ? distance : made(s, place, IR_DIV, distance, constant_like(s, start, -trips->step->integer), 0);
    }
    return NULL;
}

typedef struct Remainder { // a copy of the loop for the iterations that are no multiple of four
    IrBlock *before;          // the loop's preheader
    IrBlock *enter;           // of the copy
    IrBlock *between;         // after the first of the two loops
    IrBlock *main_enter;      // of the loop that is done four times at once
    IrInstruction *starts[MAX_PHIS], *phis[MAX_PHIS]; // phis: in `between`, what the first loop leaves
    IrInstruction *rest, *trips;
    Clone *copy;
    bool is_last;             // the remainder comes after the main loop
} Remainder;

static bool starts_with_constant(const IrBlock *header, uint32_t from)
{
    for (const IrInstruction *phi = header->first; phi->op == IR_PHI; phi = phi->next)
        if (phi->operands[from]->op == IR_INTEGER)
            return true;
    return false;
}

// A loop's test becomes that of a counter that starts with `count`.
static void count_down(Unrolling *u, IrBlock *header, IrBlock *latch, IrInstruction *count)
{
    IrInstruction *counter = ir_phi(u->module, header, count->type);
    IrInstruction *next = ir_binary(u->module, latch->last, IR_ADD, counter, ir_integer(u->module, u->function, count->type, -1), 0);
    for (uint32_t k = 0; k < header->predecessor_count; k++)
        ir_add_operand(u->module, counter, header->predecessors[k] == latch ? next : count);
    const bool goes_on = latch->last->target[0] == header;
    IrInstruction *zero = ir_integer(u->module, u->function, count->type, 0);
    ir_set_operand(latch->last, 0, ir_compare(u->module, latch->last, goes_on ? IR_NOT_EQUAL : IR_EQUAL, next, zero, 0));
}

static void add_phi_operands(Unrolling *u, IrBlock *header, IrInstruction *const *values)
{
    uint32_t k = 0;
    for (IrInstruction *phi = header->first; phi->op == IR_PHI; phi = phi->next)
        ir_add_operand(u->module, phi, values[k++]);
}

static IrInstruction *compare_at_end(Unrolling *u, IrBlock *block, IrCompare compare, IrInstruction *a, int64_t b)
{
    IrInstruction *operands[] = {a, ir_integer(u->module, u->function, a->type, b)};
    IrInstruction *made_compare = ir_append(u->module, block, IR_COMPARE, IR_PRED, 2, operands);
    made_compare->compare = compare;
    return made_compare;
}

// before -> (enter -> copy) -> between -> (main_enter -> loop) -> exit
static void connect_remainder_first(Unrolling *u, const Loop *loop, Remainder *r, IrInstruction *back_edges, IrBlock *exit)
{
    IrBlock *header = r->copy->blocks[loop->header->id], *latch = r->copy->blocks[loop_latch(u->loops, loop)->id];
    ir_branch(u->module, r->before, compare_at_end(u, r->before, IR_EQUAL, r->rest, 0), r->between, r->enter);
    ir_jump(u->module, r->enter, header);
    add_phi_operands(u, header, r->starts);
    ir_redirect(u->module, latch, !back_target(latch, header), r->between);
    ir_branch(u->module, r->between, compare_at_end(u, r->between, IR_LESS, back_edges, RUNTIME_COUNT - 1), exit, r->main_enter);
    ir_jump(u->module, r->main_enter, loop->header);
    add_phi_operands(u, loop->header, r->phis);
    count_down(u, header, latch, r->rest);
}

// before -> (main_enter -> loop) -> between -> (enter -> copy) -> exit
static void connect_remainder_last(Unrolling *u, const Loop *loop, Remainder *r, IrInstruction *back_edges, IrBlock *exit)
{
    IrBlock *header = r->copy->blocks[loop->header->id], *latch = loop_latch(u->loops, loop);
    ir_branch(u->module, r->before, compare_at_end(u, r->before, IR_LESS, back_edges, RUNTIME_COUNT - 1), r->between, r->main_enter);
    IrInstruction *operands[] = {r->trips, r->rest};
    IrInstruction *count = ir_append(u->module, r->main_enter, IR_SUB, r->rest->type, 2, operands);
    ir_jump(u->module, r->main_enter, loop->header);
    add_phi_operands(u, loop->header, r->starts);
    ir_redirect(u->module, latch, !back_target(latch, loop->header), r->between);
    ir_branch(u->module, r->between, compare_at_end(u, r->between, IR_EQUAL, r->rest, 0), exit, r->enter);
    ir_jump(u->module, r->enter, header);
    add_phi_operands(u, header, r->phis);
    count_down(u, loop->header, latch, count);
    IrBlock *copied_latch = r->copy->blocks[latch->id];
    count_down(u, header, copied_latch, r->rest);
}

static void add_remainder(Unrolling *u, const Loop *loop, IrInstruction *back_edges, IrBlock *exit)
{
    Remainder *r = ir_scratch(u->module, sizeof *r);
    Simplifier *s = &u->simplifier;
    IrBlock *header = loop->header, *latch = loop_latch(u->loops, loop);
    r->before = loop_preheader(u->loops, loop);
    IrInstruction *jump = r->before->last, *next[MAX_PHIS];
    const uint32_t from = index_of(header, r->before), back = index_of(header, latch);
    uint32_t count = 0;
    for (const IrInstruction *phi = header->first; phi->op == IR_PHI; phi = phi->next) {
        r->starts[count] = phi->operands[from];
        next[count++] = phi->operands[back];
    }
    r->is_last = starts_with_constant(header, from);
    r->trips = made(s, jump, IR_ADD, back_edges, constant_like(s, back_edges, 1), 0);
    r->rest = made(s, jump, IR_AND, r->trips, constant_like(s, back_edges, RUNTIME_COUNT - 1), 0);

    IrBlock *place = r->is_last ? block_after(u, loop) : header;
    place = place ? place : exit;
    if (!r->is_last)
        r->enter = ir_new_block_before(u->module, place);
    else
        r->main_enter = ir_new_block_before(u->module, header);
    r->between = r->is_last ? ir_new_block_before(u->module, place) : NULL;
    if (r->is_last)
        r->enter = ir_new_block_before(u->module, place);
    r->copy = clone_blocks(u->module, u->function, loop->blocks, loop->block_count, place);
    r->copy->blocks[header->id]->unroll = 1;
    if (!r->is_last) {
        r->between = ir_new_block_before(u->module, header);
        r->main_enter = ir_new_block_before(u->module, header);
    }
    for (uint32_t k = count; k-- > 0;)
        r->phis[k] = ir_phi(u->module, r->between, r->starts[k]->type);
    for (uint32_t k = 0; k < count; k++) {
        ir_add_operand(u->module, r->phis[k], r->starts[k]);
        ir_add_operand(u->module, r->phis[k], r->is_last ? next[k] : cloned_value(r->copy, next[k]));
    }
    ir_remove_predecessor(header, from);
    ir_remove(jump);
    if (r->is_last)
        connect_remainder_last(u, loop, r, back_edges, exit);
    else
        connect_remainder_first(u, loop, r, back_edges, exit);
}

// The exit, if the latch is the only way out.
static IrBlock *only_exit(const Unrolling *u, const Loop *loop)
{
    const IrBlock *latch = loop_latch(u->loops, loop);
    IrBlock *exit = NULL;
    for (uint32_t k = 0; k < loop->block_count; k++)
        for (uint32_t t = 0; t < ir_target_count(loop->blocks[k]); t++)
            if (!loop_contains(u->loops, loop, loop->blocks[k]->last->target[t])) {
                if (loop->blocks[k] != latch)
                    return NULL;
                exit = loop->blocks[k]->last->target[t];
            }
    return exit && exit->predecessor_count == 1 ? exit : NULL;
}

static bool unroll_by_four(Unrolling *u, Loop *loop)
{
    Trips trips;
    IrBlock *preheader = loop_preheader(u->loops, loop), *exit = only_exit(u, loop);
    if (!exit || !preheader || !is_innermost(u, loop) || size_of(loop) > MAX_RUNTIME_SIZE)
        return false;
    if (count_phis(loop->header) >= MAX_PHIS || !find_trips(u->loops, loop, &trips))
        return false;
    IrInstruction *start = trips.phi->operands[index_of(loop->header, preheader)];
    IrInstruction *back_edges = count_back_edges(u, &trips, start, preheader);
    if (!back_edges || largest_unsigned(back_edges) < MAX_FEW_TRIPS)
        return false;
    while (exit->first->op == IR_PHI)
        ir_replace(exit->first, exit->first->operands[0]);
    demote_outside_uses(u->module, u->function, u->loops, loop);
    add_remainder(u, loop, back_edges, exit);
    IrBlock *headers[RUNTIME_COUNT], *latches[RUNTIME_COUNT];
    chain_copies(u, loop, RUNTIME_COUNT, headers, latches);
    for (uint32_t k = 0; k + 1 < RUNTIME_COUNT; k++)
        ir_make_jump(u->module, latches[k], back_target(latches[k], headers[k + 1]));
    loop->header->unroll = 1;
    return true;
}

// ---- Which loops

static bool try_full(Unrolling *u, Loop *loop)
{
    const bool is_asked = loop->header->unroll == UINT32_MAX || loop->header->unroll > 1;
    const uint32_t size = size_of(loop), trips = constant_trips(u->module, u->loops, loop, is_asked ? MAX_PRAGMA_TRIPS : MAX_FULL_TRIPS);
    if (!trips || loop->header->unroll == 1 || count_phis(loop->header) >= MAX_PHIS)
        return false;
    if (loop->header->unroll > 1 && loop->header->unroll < trips)
        return false;
    const uint64_t sum = (uint64_t)trips * size;
    if (trips > 1 && sum > (is_asked ? MAX_PRAGMA_SIZE : MAX_FULL_SIZE))
        return false;
    if (u->instructions + sum > u->max_instructions)
        return false;
    u->instructions += sum;
    unroll_fully(u, loop, trips);
    return true;
}

static void clean(Unrolling *u)
{
    promote_variables(u->module, u->function);
    simplify_values(u->module, u->function);
    simplify_control_flow(u->module, u->function);
    simplify_values(u->module, u->function);
}

typedef bool Attempt(Unrolling *u, Loop *loop);

// Tries each loop; one whose inner loop has changed waits for the next round.
static bool unroll_round(Unrolling *u, Attempt *attempt)
{
    loops_simplify(u->module, u->function);
    const Loops *loops = u->loops = loops_of(u->module, u->function, dominators_of(u->module, u->function));
    bool changed = false;
    for (Loop *loop = loops->all; loop; loop = loop->next) {
        if (loop->is_changed || !loop_latch(loops, loop) || loop_latch(loops, loop)->last->op != IR_BRANCH || !attempt(u, loop))
            continue;
        changed = true;
        for (Loop *outer = loop; outer; outer = outer->parent)
            outer->is_changed = true;
    }
    return changed;
}

static bool unroll_with(IrModule *module, IrFunction *function, Attempt *attempt)
{
    Unrolling u = {.module = module, .function = function, .simplifier = {.module = module, .function = function},
                   .instructions = count_instructions(module), .max_instructions = module->max_instructions};
    bool changed = false;
    for (uint32_t round = 0; round < 16 && unroll_round(&u, attempt); round++) {
        clean(&u);
        changed = true;
    }
    return changed;
}

bool unroll_constant_loops(IrModule *module, IrFunction *function)
{
    return unroll_with(module, function, try_full);
}

static bool try_by_four(Unrolling *u, Loop *loop)
{
    return loop->header->unroll == 0 && unroll_by_four(u, loop);
}

bool unroll_counting_loops(IrModule *module, IrFunction *function)
{
    return unroll_with(module, function, try_by_four);
}
