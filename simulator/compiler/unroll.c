// unroll.c: a loop with a small constant trip count is replaced by that many copies of its body. Other counted loops are unrolled by
// four, as in NVVM, with a loop for the remaining iterations after them if they start at a constant, else before them. The remaining
// iterations of a loop within a loop are copies with a test after each.
#include "compiler/clone.h"
#include "compiler/known.h"

enum { // NVVM's limits, found by experiment
    MAX_FULL_TRIPS = 128,      // trips found by evaluating the test
    MAX_FULL_SIZE = 420,       // instructions of all copies that remain once constants are folded
    MAX_LOCAL_SIZE = 4 * MAX_FULL_SIZE, // of a loop over a local array, whose elements then are registers
    MAX_PRAGMA_TRIPS = 4096,
    MAX_PRAGMA_SIZE = 16 * 1024,
    MAX_PARTIAL_COST = 200,    // of all copies
    DEFAULT_RUNTIME_COUNT = 4, MAX_RUNTIME_COUNT = 16,
    MAX_FEW_TRIPS = 8,         // a loop with at most this many trips is not partially unrolled
    MAX_TESTED_TRIPS = 8       // copies with a test after each
};

typedef struct Unrolling {
    IrModule *module;
    IrFunction *function;
    const Loops *loops;
    uint64_t instructions, max_instructions;
    bool changed;
} Unrolling;

static bool is_counted(const IrInstruction *i)
{
    switch (i->op) {
    case IR_PHI: case IR_ELEMENT: case IR_SYMBOL: case IR_TO_GENERIC: case IR_FROM_GENERIC: case IR_BITCAST: case IR_JUMP: case IR_CONVERT:
        return false;
    default:
        return true;
    }
}

// The number of the loop's instructions without its own test and branch.
static uint32_t size_of(const Loop *loop)
{
    uint32_t size = 0;
    for (uint32_t k = 0; k < loop->block_count; k++)
        for (const IrInstruction *i = loop->blocks[k]->first; i; i = i->next)
            size += is_counted(i);
    return size > 2 ? size - 2 : 1;
}

// The cost of an instruction in LLVM: an address with an index is one instruction, and the extension of the index another, unless the index
// counts the loop's iterations or the memory is shared.
static uint32_t cost_of_instruction(const Loop *loop, const IrInstruction *i)
{
    const IrInstruction *operand = i->operand_count ? i->operands[i->operand_count - 1] : NULL;
    switch (i->op) {
    case IR_PHI: case IR_ELEMENT: case IR_SYMBOL: case IR_TO_GENERIC: case IR_FROM_GENERIC:
        return 0;
    case IR_OFFSET: {
        const bool counts = operand->op == IR_PHI && operand->block == loop->header;
        return i->operand_count == 1 ? 0 : 1 + (operand->type == IR_B32 && i->space != IR_SHARED && !counts);
    }
    case IR_BITCAST:
        return i->type != operand->type;
    case IR_CONVERT:
        return ir_is_float_type(i->type) || ir_is_float_type(operand->type) || ir_bytes(i->type) > ir_bytes(operand->type);
    case IR_DIV: case IR_REM:
        return 4;
    default:
        return 1;
    }
}

// The cost of an iteration without the loop's own test and branch.
static uint32_t cost_of(const Loop *loop)
{
    uint32_t cost = 0;
    for (uint32_t k = 0; k < loop->block_count; k++)
        for (const IrInstruction *i = loop->blocks[k]->first; i; i = i->next)
            cost += cost_of_instruction(loop, i);
    return cost > 2 ? cost - 2 : 1;
}

// Whether the value is constant in each copy of a fully unrolled loop. Operands that are constant there have been marked.
static bool is_known(const Unrolling *u, const Loop *loop, const IrInstruction *i)
{
    if (i->op == IR_OFFSET) { // a constant offset from an address
        for (uint32_t k = 1; k < i->operand_count; k++)
            if (!ir_is_constant(i->operands[k]) && !i->operands[k]->mark)
                return false;
        return is_loop_invariant(u->loops, loop, i->operands[0]) || i->operands[0]->mark;
    }
    if (i->op > IR_BITCAST || !i->operand_count)
        return false;
    for (uint32_t k = 0; k < i->operand_count; k++)
        if (!ir_is_constant(i->operands[k]) && !i->operands[k]->mark)
            return false;
    return true;
}

// The number of instructions per copy that remain once constants are folded.
static uint32_t size_unrolled(const Unrolling *u, const Loop *loop)
{
    const uint32_t from = ir_edge_index(loop_preheader(u->loops, loop), 0);
    for (IrInstruction *phi = loop->header->first; phi->op == IR_PHI; phi = phi->next)
        phi->mark = phi->operands[from]->op == IR_INTEGER && phi->operands[!from]->op <= IR_SHR;
    uint32_t size = 0;
    for (uint32_t k = 0; k < loop->block_count; k++)
        for (IrInstruction *i = loop->blocks[k]->first; i; i = i->next) {
            if (i->op == IR_PHI || (i->op == IR_BRANCH && i->operands[0]->mark))
                continue;
            i->mark = is_known(u, loop, i);
            size += is_counted(i) && !i->mark;
        }
    for (uint32_t k = 0; k < loop->block_count; k++)
        for (IrInstruction *i = loop->blocks[k]->first; i; i = i->next)
            i->mark = 0;
    return size ? size : 1;
}

static bool is_innermost(const Unrolling *u, const Loop *loop)
{
    for (uint32_t k = 0; k < loop->block_count; k++)
        if (u->loops->innermost[loop->blocks[k]->id] != loop)
            return false;
    return true;
}

// Redirects the edge from `latch` to `from` to the block `to`, which has corresponding phis.
static void move_back_edge(Unrolling *u, IrBlock *latch, IrBlock *from, IrBlock *to)
{
    IrInstruction *operands[MAX_PHIS];
    uint32_t count = 0;
    const uint32_t index = predecessor_index(from, latch);
    for (const IrInstruction *phi = from->first; phi->op == IR_PHI; phi = phi->next)
        operands[count++] = phi->operands[index];
    ir_redirect(u->module, latch, latch->last->target[0] == from ? 0 : 1, to);
    count = 0;
    for (IrInstruction *phi = to->first; phi->op == IR_PHI; phi = phi->next)
        ir_add_operand(u->module, phi, operands[count++]);
}

// Chains `count` copies of the loop's body, of which the last branches back to the first. Fills in their headers and latches.
static void chain_copies(Unrolling *u, const Loop *loop, uint32_t count, IrBlock **headers, IrBlock **latches)
{
    IrBlock *insert_before = block_after_loop(u->loops, loop);
    headers[0] = loop->header;
    latches[0] = loop_latch(u->loops, loop);
    for (uint32_t k = 1; k < count; k++) {
        const Clone *copy = clone_blocks(u->module, u->function, loop->blocks, loop->block_count, insert_before);
        headers[k] = cloned_block(copy, headers[0]);
        latches[k] = cloned_block(copy, latches[0]);
        headers[k]->unroll = 0;
    }
    for (uint32_t k = 0; k < count && count > 1; k++)
        move_back_edge(u, latches[k], headers[k], headers[(k + 1) % count]);
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

// ---- Several iterations at a time

// The exit block if only the latch leaves the loop, else NULL.
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

// Whether the loop counts from a non-negative start to a constant bound, in at most MAX_FEW_TRIPS trips.
static bool has_few_trips(const CountedLoop *counted, const IrInstruction *start)
{
    if (counted->bound->op != IR_INTEGER || counted->step->op != IR_INTEGER || counted->step->integer <= 0 || !is_never_negative(start))
        return false;
    const int64_t end = counted->bound->integer + (counted->compares_next ? 0 : counted->step->integer);
    return end / counted->step->integer <= MAX_FEW_TRIPS;
}

// Runs `count` iterations per test. The test comes after as many copies as the last pass through the loop runs: `rest`, or all
// if `rest` is 0.
static void unroll_partly(Unrolling *u, const Loop *loop, uint32_t count, uint32_t rest)
{
    IrBlock *headers[MAX_RUNTIME_COUNT], *latches[MAX_RUNTIME_COUNT];
    chain_copies(u, loop, count, headers, latches);
    for (uint32_t k = 0; k < count; k++)
        if (k != (rest ? rest : count) - 1)
            ir_make_jump(u->module, latches[k], back_target(latches[k], headers[(k + 1) % count]));
    loop->header->unroll = 1;
}

static bool unroll_counted(Unrolling *u, Loop *loop, uint32_t count)
{
    CountedLoop counted;
    IrBlock *preheader = loop_preheader(u->loops, loop), *exit = only_exit(u, loop);
    if (!exit || !preheader || !is_innermost(u, loop) || count < 2 || ir_count_phis(loop->header) >= MAX_PHIS || !find_counted_loop(u->loops, loop, &counted))
        return false;
    IrInstruction *start = counted.phi->operands[predecessor_index(loop->header, preheader)];
    if (has_few_trips(&counted, start))
        return false;
    IrInstruction *back_edges = count_back_edges(u->module, loop, &counted, start, preheader);
    if (!back_edges || largest_unsigned(back_edges) < MAX_FEW_TRIPS)
        return false;
    while (exit->first->op == IR_PHI)
        ir_replace(exit->first, exit->first->operands[0]);
    demote_outside_uses(u->module, u->function, u->loops, loop);
    add_remainder(u->module, u->loops, loop, back_edges, exit, count);
    unroll_partly(u, loop, count, 0);
    return true;
}

static uint32_t fitting_count(const Loop *loop, uint32_t count, uint32_t trips)
{
    const uint32_t cost = cost_of(loop);
    while (count > 1 && (count * cost + 2 > MAX_PARTIAL_COST || trips % count))
        count /= 2;
    return count;
}

// The largest power of two whose copies are small enough; if possible, one that divides a known trip count.
static uint32_t partial_count(const Loop *loop, uint32_t trips)
{
    const uint32_t divisor = trips ? fitting_count(loop, MAX_RUNTIME_COUNT, trips) : 1;
    return divisor > 1 ? divisor : fitting_count(loop, DEFAULT_RUNTIME_COUNT, 0);
}

// ---- Selection of loops

static bool is_small(const Unrolling *u, const Loop *loop, uint32_t trips, uint32_t max)
{
    return trips == 1 || ((uint64_t)trips * size_unrolled(u, loop) <= max && u->instructions + (uint64_t)trips * size_of(loop) <= u->max_instructions);
}

// Whether the loop loads or stores an element of a local array whose index it changes.
static bool has_local_array(const Unrolling *u, const Loop *loop)
{
    for (uint32_t k = 0; k < loop->block_count; k++)
        for (const IrInstruction *i = loop->blocks[k]->first; i; i = i->next) {
            const IrInstruction *address = i->op == IR_LOAD || i->op == IR_STORE ? i->operands[0] : NULL;
            if (!address || address->op != IR_OFFSET || is_loop_invariant(u->loops, loop, address))
                continue;
            while (address->op == IR_OFFSET)
                address = address->operands[0];
            if (address->op == IR_ALLOCA)
                return true;
        }
    return false;
}

static bool try_full(Unrolling *u, Loop *loop)
{
    const uint32_t requested = loop->header->unroll;
    const bool is_requested = requested > 1;
    const uint32_t trips = constant_trip_count(u->module, u->loops, loop, is_requested ? MAX_PRAGMA_TRIPS : MAX_FULL_TRIPS);
    if (!trips || requested == 1 || ir_count_phis(loop->header) >= MAX_PHIS || (requested > 1 && requested != UINT32_MAX && requested < trips))
        return false;
    const uint32_t max_size = has_local_array(u, loop) ? MAX_LOCAL_SIZE : MAX_FULL_SIZE;
    if (!is_small(u, loop, trips, is_requested ? MAX_PRAGMA_SIZE : max_size))
        return false;
    u->instructions += (uint64_t)trips * size_of(loop);
    unroll_fully(u, loop, trips);
    return true;
}

// Whether the block is a copy of the instructions at the end of the latch, as loop rotation makes one.
static bool is_copied_test(const IrBlock *block, const IrBlock *latch)
{
    const IrInstruction *i = block->last, *other = latch->last;
    for (; i && i->op != IR_PHI; i = i->previous, other = other->previous)
        if (!other || i->op != other->op || (i->op == IR_INTRINSIC && i->intrinsic != other->intrinsic))
            return false;
    return true;
}

// Whether the body begins with the test of an inner loop that has no variable of its own. To NVVM both are one loop then.
static bool begins_with_loop(const Unrolling *u, const Loop *loop)
{
    for (uint32_t k = 0; k < ir_target_count(loop->header); k++) {
        const IrBlock *target = loop->header->last->target[k];
        if (loop->header->last->op == IR_BRANCH && target->first->op == IR_JUMP) // the preheader
            target = target->last->target[0];
        const Loop *inner = u->loops->innermost[target->id];
        if (!inner || inner == loop || inner->header != target || target->first->op == IR_PHI || !loop_latch(u->loops, inner))
            continue;
        if (ir_first_not_phi(loop->header)->op == IR_JUMP || is_copied_test(loop->header, loop_latch(u->loops, inner)))
            return true;
    }
    return false;
}

// Replaces a loop that runs at most `trips` iterations by that many copies, each of which may leave it.
static bool unroll_with_tests(Unrolling *u, Loop *loop, uint32_t trips)
{
    IrBlock *headers[MAX_TESTED_TRIPS], *latches[MAX_TESTED_TRIPS];
    loop->header->max_trips = 0;
    if (trips > MAX_TESTED_TRIPS || !is_small(u, loop, trips, MAX_FULL_SIZE))
        return false;
    u->instructions += (uint64_t)trips * size_of(loop);
    demote_outside_uses(u->module, u->function, u->loops, loop);
    chain_copies(u, loop, trips, headers, latches);
    ir_make_jump(u->module, latches[trips - 1], !back_target(latches[trips - 1], headers[0]));
    return true;
}

static bool try_partial(Unrolling *u, Loop *loop)
{
    if (loop->header->max_trips)
        return unroll_with_tests(u, loop, loop->header->max_trips);
    const uint32_t requested = loop->header->unroll;
    if (!begins_with_loop(u, loop) && try_full(u, loop)) // its trip count is known only since branches' conditions are used
        return true;
    if (requested == 1 || requested == UINT32_MAX || requested > MAX_RUNTIME_COUNT)
        return false;
    const uint32_t trips = constant_trip_count(u->module, u->loops, loop, MAX_PRAGMA_TRIPS);
    const uint32_t count = requested ? requested : partial_count(loop, trips);
    if (count < 2 || (count & (count - 1)))
        return false;
    if (!trips)
        return unroll_counted(u, loop, count);
    if (trips < count || !is_innermost(u, loop) || ir_count_phis(loop->header) >= MAX_PHIS)
        return false;
    demote_outside_uses(u->module, u->function, u->loops, loop);
    unroll_partly(u, loop, count, trips % count);
    return true;
}

static void clean_up(Unrolling *u)
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
    Unrolling u = {.module = module, .function = function,
                   .instructions = count_instructions(module), .max_instructions = module->max_instructions};
    bool changed = false;
    for (uint32_t round = 0; round < 16 && unroll_round(&u, attempt); round++) {
        clean_up(&u);
        changed = true;
    }
    return changed;
}

bool unroll_constant_loops(IrModule *module, IrFunction *function)
{
    return unroll_with(module, function, try_full);
}

bool unroll_counting_loops(IrModule *module, IrFunction *function)
{
    return unroll_with(module, function, try_partial);
}
