// unroll_runtime.c: a loop that is unrolled with an unknown trip count needs a second loop for the remaining iterations: before
// it, or after it if it starts at a constant, as in LLVM.
#include "compiler/clone.h"
#include "compiler/simplify.h"

uint32_t predecessor_index(const IrBlock *block, const IrBlock *predecessor)
{
    uint32_t k = 0;
    while (block->predecessors[k] != predecessor)
        k++;
    return k;
}

uint32_t back_target(const IrBlock *latch, const IrBlock *header)
{
    return latch->last->target[0] == header ? 0 : 1;
}

IrBlock *block_after_loop(const Loops *loops, const Loop *loop)
{
    IrBlock *after = loop_latch(loops, loop)->next;
    while (after && loop_contains(loops, loop, after))
        after = after->next;
    return after;
}

typedef struct Runtime {
    IrModule *module;
    IrFunction *function;
    const Loops *loops;
    Simplifier simplifier;
    uint32_t count; // unroll factor
} Runtime;

typedef struct Remainder { // a copy of the loop for the remaining trips % count iterations
    IrBlock *before;          // the loop's preheader
    IrBlock *copy_preheader;           // preheader of the copy
    IrBlock *between;         // between the two loops
    IrBlock *main_preheader;      // preheader of the unrolled loop
    IrInstruction *starts[MAX_PHIS], *phis[MAX_PHIS]; // phis: in `between`, of the values after the first loop
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

// With an unroll factor of 2 the remainder is one iteration, not a loop.
static bool remove_back_edge(Runtime *u, IrBlock *header, IrBlock *latch)
{
    if (u->count != 2)
        return false;
    ir_make_jump(u->module, latch, !back_target(latch, header));
    return true;
}

// Replaces a loop's test by that of a counter that counts down from `count` to zero.
static void count_down(Runtime *u, IrBlock *header, IrBlock *latch, IrInstruction *count)
{
    IrInstruction *counter = ir_phi(u->module, header, count->type);
    IrInstruction *next = ir_binary(u->module, latch->last, IR_ADD, counter, ir_integer(u->module, u->function, count->type, -1), 0);
    for (uint32_t k = 0; k < header->predecessor_count; k++)
        ir_add_operand(u->module, counter, header->predecessors[k] == latch ? next : count);
    const bool continues_if_true = latch->last->target[0] == header;
    IrInstruction *zero = ir_integer(u->module, u->function, count->type, 0);
    ir_set_operand(latch->last, 0, ir_compare(u->module, latch->last, continues_if_true ? IR_NOT_EQUAL : IR_EQUAL, next, zero, 0));
}

static void add_phi_operands(Runtime *u, IrBlock *header, IrInstruction *const *values)
{
    uint32_t k = 0;
    for (IrInstruction *phi = header->first; phi->op == IR_PHI; phi = phi->next)
        ir_add_operand(u->module, phi, values[k++]);
}

static IrInstruction *compare_at_end(Runtime *u, IrBlock *block, IrCompare compare, IrInstruction *a, int64_t b)
{
    IrInstruction *operands[] = {a, ir_integer(u->module, u->function, a->type, b)};
    IrInstruction *comparison = ir_append(u->module, block, IR_COMPARE, IR_PRED, 2, operands);
    comparison->compare = compare;
    return comparison;
}

// before -> (copy_preheader -> copy) -> between -> (main_preheader -> loop) -> exit
static void connect_remainder_first(Runtime *u, const Loop *loop, Remainder *r, IrInstruction *back_edges, IrBlock *exit)
{
    IrBlock *header = cloned_block(r->copy, loop->header), *latch = cloned_block(r->copy, loop_latch(u->loops, loop));
    ir_branch(u->module, r->before, compare_at_end(u, r->before, IR_EQUAL, r->rest, 0), r->between, r->copy_preheader);
    ir_jump(u->module, r->copy_preheader, header);
    add_phi_operands(u, header, r->starts);
    ir_redirect(u->module, latch, !back_target(latch, header), r->between);
    ir_branch(u->module, r->between, compare_at_end(u, r->between, IR_LESS, back_edges, (int64_t)u->count - 1), exit, r->main_preheader);
    ir_jump(u->module, r->main_preheader, loop->header);
    add_phi_operands(u, loop->header, r->phis);
    if (!remove_back_edge(u, header, latch))
        count_down(u, header, latch, r->rest);
}

// before -> (main_preheader -> loop) -> between -> (copy_preheader -> copy) -> exit
static void connect_remainder_last(Runtime *u, const Loop *loop, Remainder *r, IrInstruction *back_edges, IrBlock *exit)
{
    IrBlock *header = cloned_block(r->copy, loop->header), *latch = loop_latch(u->loops, loop);
    ir_branch(u->module, r->before, compare_at_end(u, r->before, IR_LESS, back_edges, (int64_t)u->count - 1), r->between, r->main_preheader);
    IrInstruction *operands[] = {r->trips, r->rest};
    IrInstruction *count = ir_append(u->module, r->main_preheader, IR_SUB, r->rest->type, 2, operands);
    ir_jump(u->module, r->main_preheader, loop->header);
    add_phi_operands(u, loop->header, r->starts);
    ir_redirect(u->module, latch, !back_target(latch, loop->header), r->between);
    ir_branch(u->module, r->between, compare_at_end(u, r->between, IR_EQUAL, r->rest, 0), exit, r->copy_preheader);
    ir_jump(u->module, r->copy_preheader, header);
    add_phi_operands(u, header, r->phis);
    count_down(u, loop->header, latch, count);
    IrBlock *copied_latch = cloned_block(r->copy, latch);
    if (!remove_back_edge(u, header, copied_latch))
        count_down(u, header, copied_latch, r->rest);
}

static void add_copy(Runtime *u, const Loop *loop, IrInstruction *back_edges, IrBlock *exit)
{
    Remainder *r = ir_scratch(u->module, sizeof *r);
    Simplifier *s = &u->simplifier;
    IrBlock *header = loop->header, *latch = loop_latch(u->loops, loop);
    r->before = loop_preheader(u->loops, loop);
    IrInstruction *jump = r->before->last, *next[MAX_PHIS];
    const uint32_t from = predecessor_index(header, r->before), back = predecessor_index(header, latch);
    uint32_t count = 0;
    for (const IrInstruction *phi = header->first; phi->op == IR_PHI; phi = phi->next) {
        r->starts[count] = phi->operands[from];
        next[count++] = phi->operands[back];
    }
    r->is_last = starts_with_constant(header, from);
    r->trips = build_simplified(s, jump, IR_ADD, back_edges, constant_like(s, back_edges, 1), 0);
    r->rest = build_simplified(s, jump, IR_AND, r->trips, constant_like(s, back_edges, (int64_t)u->count - 1), 0);

    IrBlock *insert_before = r->is_last ? block_after_loop(u->loops, loop) : header;
    insert_before = insert_before ? insert_before : exit;
    if (!r->is_last)
        r->copy_preheader = ir_new_block_before(u->module, insert_before);
    else
        r->main_preheader = ir_new_block_before(u->module, header);
    r->between = r->is_last ? ir_new_block_before(u->module, insert_before) : NULL;
    if (r->is_last)
        r->copy_preheader = ir_new_block_before(u->module, insert_before);
    r->copy = clone_blocks(u->module, u->function, loop->blocks, loop->block_count, insert_before);
    cloned_block(r->copy, header)->unroll = 1;
    cloned_block(r->copy, header)->max_trips = loop->parent && u->count > 2 ? u->count - 1 : 0;
    if (!r->is_last) {
        r->between = ir_new_block_before(u->module, header);
        r->main_preheader = ir_new_block_before(u->module, header);
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

void add_remainder(IrModule *module, const Loops *loops, const Loop *loop, IrInstruction *back_edges, IrBlock *exit, uint32_t count)
{
    Runtime u = {.module = module, .function = loop->header->function, .loops = loops, .count = count};
    u.simplifier = (Simplifier){.module = module, .function = u.function};
    add_copy(&u, loop, back_edges, exit);
}
