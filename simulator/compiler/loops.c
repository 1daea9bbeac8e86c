// loops.c: finds natural loops from their back edges, and transforms them to the form that loop passes require: a preheader, one latch, and
// dedicated exits.
#include "compiler/dominators.h"

#include <string.h>

static Loop *new_loop(IrModule *module, IrBlock *header)
{
    Loop *loop = ir_scratch(module, sizeof *loop);
    loop->header = header;
    return loop;
}

static Loop *outermost(Loop *loop)
{
    while (loop && loop->parent)
        loop = loop->parent;
    return loop;
}

// Walks backwards from the latches to the header. Loops found earlier are inner ones, and are skipped as a whole.
static void collect_blocks(Loops *loops, Loop *loop, const Dominators *d, IrBlock **stack)
{
    uint32_t depth = 0;
    for (uint32_t k = 0; k < loop->header->predecessor_count; k++)
        if (d->number[loop->header->predecessors[k]->id] != UINT32_MAX && block_dominates(d, loop->header, loop->header->predecessors[k]))
            stack[depth++] = loop->header->predecessors[k];
    while (depth) {
        IrBlock *block = stack[--depth];
        Loop *inner = outermost(loops->innermost[block->id]);
        if (inner == loop)
            continue;
        if (inner) {
            inner->parent = loop;
            block = inner->header;
        } else {
            loops->innermost[block->id] = loop;
        }
        if (block == loop->header)
            continue;
        for (uint32_t k = 0; k < block->predecessor_count; k++)
            if (d->number[block->predecessors[k]->id] != UINT32_MAX)
                stack[depth++] = block->predecessors[k];
    }
    loops->innermost[loop->header->id] = loop;
}

static void list_blocks(IrModule *module, Loops *loops, const Dominators *d)
{
    for (uint32_t k = 0; k < d->count; k++)
        for (Loop *loop = loops->innermost[d->order[k]->id]; loop; loop = loop->parent)
            loop->block_count++;
    for (Loop *loop = loops->all; loop; loop = loop->next) {
        loop->blocks = ir_scratch(module, loop->block_count * sizeof *loop->blocks);
        loop->block_count = 0;
    }
    for (uint32_t k = 0; k < d->count; k++)
        for (Loop *loop = loops->innermost[d->order[k]->id]; loop; loop = loop->parent)
            loop->blocks[loop->block_count++] = d->order[k];
}

Loops *loops_of(IrModule *module, IrFunction *function, const Dominators *d)
{
    Loops *loops = ir_scratch(module, sizeof *loops);
    loops->block_capacity = function->next_block;
    loops->innermost = ir_scratch(module, loops->block_capacity * sizeof *loops->innermost);
    uint32_t edges = 1;
    for (uint32_t k = 0; k < d->count; k++)
        edges += d->order[k]->predecessor_count;
    IrBlock **stack = ir_scratch(module, edges * sizeof *stack);
    Loop **end = &loops->all;
    for (uint32_t k = d->count; k-- > 0;) { // inner headers first
        IrBlock *header = d->order[k];
        bool is_header = false;
        for (uint32_t p = 0; p < header->predecessor_count; p++)
            is_header |= d->number[header->predecessors[p]->id] != UINT32_MAX && block_dominates(d, header, header->predecessors[p]);
        if (!is_header)
            continue;
        Loop *loop = *end = new_loop(module, header);
        end = &loop->next;
        loops->count++;
        collect_blocks(loops, loop, d, stack);
    }
    for (Loop *loop = loops->all; loop; loop = loop->next)
        for (const Loop *outer = loop; outer; outer = outer->parent)
            loop->depth++;
    list_blocks(module, loops, d);
    return loops;
}

bool loop_contains(const Loops *loops, const Loop *loop, const IrBlock *block)
{
    if (block->id >= loops->block_capacity)
        return false;
    for (const Loop *inner = loops->innermost[block->id]; inner; inner = inner->parent)
        if (inner == loop)
            return true;
    return false;
}

IrBlock *loop_preheader(const Loops *loops, const Loop *loop)
{
    IrBlock *found = NULL;
    for (uint32_t k = 0; k < loop->header->predecessor_count; k++) {
        IrBlock *from = loop->header->predecessors[k];
        if (loop_contains(loops, loop, from))
            continue;
        if (found)
            return NULL;
        found = from;
    }
    return found && found->last->op == IR_JUMP ? found : NULL;
}

IrBlock *loop_latch(const Loops *loops, const Loop *loop)
{
    IrBlock *found = NULL;
    for (uint32_t k = 0; k < loop->header->predecessor_count; k++) {
        IrBlock *from = loop->header->predecessors[k];
        if (!loop_contains(loops, loop, from))
            continue;
        if (found)
            return NULL;
        found = from;
    }
    return found;
}

bool is_loop_invariant(const Loops *loops, const Loop *loop, const IrInstruction *value)
{
    return !value->block || !loop_contains(loops, loop, value->block);
}

// ---- Canonical form

// The operand that a phi has for all of the marked edges; NULL if they differ.
static IrInstruction *same_operand(const IrInstruction *phi, const bool *is_marked, uint32_t count)
{
    IrInstruction *same = NULL;
    for (uint32_t k = 0; k < count; k++) {
        if (!is_marked[k])
            continue;
        if (same && same != phi->operands[k])
            return NULL;
        same = phi->operands[k];
    }
    return same;
}

// Redirects the marked edges to a new block before `block`, with phis for differing operands.
static IrBlock *gather_edges(IrModule *module, IrBlock *block, const bool *is_marked)
{
    IrBlock *gathered = ir_new_block_before(module, block);
    ir_jump(module, gathered, block); // this edge is the last
    gathered->last->line = gathered->last->file = 0;
    const uint32_t last = block->predecessor_count - 1;
    for (IrInstruction *phi = block->first; phi && phi->op == IR_PHI; phi = phi->next) {
        IrInstruction *same = same_operand(phi, is_marked, last);
        if (same) {
            ir_add_operand(module, phi, same);
            continue;
        }
        IrInstruction *joined = ir_phi(module, gathered, phi->type);
        joined->space = phi->space;
        for (uint32_t k = 0; k < last; k++)
            if (is_marked[k])
                ir_add_operand(module, joined, phi->operands[k]);
        ir_add_operand(module, phi, joined);
    }
    for (uint32_t k = last; k-- > 0;) {
        if (!is_marked[k])
            continue;
        IrBlock *from = block->predecessors[k];
        const uint32_t target = from->last->target[0] == block && ir_edge_index(from, 0) == k ? 0 : 1;
        ir_remove_predecessor(block, k);
        from->last->target[target] = gathered;
    }
    return gathered;
}

// Sets the predecessors of the new block, in the order of its phis' operands.
static void list_predecessors(IrModule *module, IrBlock *gathered, IrBlock *const *from, const bool *is_marked, uint32_t count)
{
    gathered->predecessors = ir_allocate(module, (2 * count + 1) * sizeof *gathered->predecessors);
    for (uint32_t k = 0; k < count; k++)
        if (is_marked[k])
            gathered->predecessors[gathered->predecessor_count++] = from[k];
}

static void gather(IrModule *module, Loops *loops, IrBlock *block, const bool *is_marked, Loop *owner)
{
    const uint32_t count = block->predecessor_count;
    IrBlock **from = ir_scratch(module, count * sizeof *from);
    for (uint32_t k = 0; k < count; k++)
        from[k] = block->predecessors[k];
    IrBlock *gathered = gather_edges(module, block, is_marked);
    list_predecessors(module, gathered, from, is_marked, count);
    loops_add_block(module, loops, gathered, owner);
}

static bool add_preheader(IrModule *module, Loops *loops, Loop *loop)
{
    if (loop_preheader(loops, loop))
        return false;
    bool *outside = ir_scratch(module, loop->header->predecessor_count), any = false;
    for (uint32_t k = 0; k < loop->header->predecessor_count; k++)
        any |= outside[k] = !loop_contains(loops, loop, loop->header->predecessors[k]);
    if (any)
        gather(module, loops, loop->header, outside, loop->parent);
    return any;
}

static bool join_latches(IrModule *module, Loops *loops, Loop *loop)
{
    if (loop_latch(loops, loop))
        return false;
    bool *inside = ir_scratch(module, loop->header->predecessor_count);
    for (uint32_t k = 0; k < loop->header->predecessor_count; k++)
        inside[k] = loop_contains(loops, loop, loop->header->predecessors[k]);
    gather(module, loops, loop->header, inside, loop);
    return true;
}

static bool separate_exit(IrModule *module, Loops *loops, Loop *loop, IrBlock *exit)
{
    bool *inside = ir_scratch(module, exit->predecessor_count), mixed = false;
    for (uint32_t k = 0; k < exit->predecessor_count; k++)
        mixed |= !(inside[k] = loop_contains(loops, loop, exit->predecessors[k]));
    if (!mixed)
        return false;
    Loop *owner = loops->innermost[exit->id];
    if (owner && owner->header == exit && !loop_contains(loops, owner, loop->header))
        owner = owner->parent;
    gather(module, loops, exit, inside, owner);
    return true;
}

static bool separate_exits(IrModule *module, Loops *loops, Loop *loop)
{
    bool changed = false;
    for (uint32_t k = 0; k < loop->block_count; k++)
        for (uint32_t t = 0; t < ir_target_count(loop->blocks[k]); t++) {
            IrBlock *to = loop->blocks[k]->last->target[t];
            if (!loop_contains(loops, loop, to))
                changed |= separate_exit(module, loops, loop, to);
        }
    return changed;
}

void loops_add_block(IrModule *module, Loops *loops, IrBlock *block, Loop *owner)
{
    if (block->id >= loops->block_capacity) {
        Loop **more = ir_scratch(module, 2 * (block->id + 1) * sizeof *more);
        memcpy(more, loops->innermost, loops->block_capacity * sizeof *more);
        loops->innermost = more;
        loops->block_capacity = 2 * (block->id + 1);
    }
    loops->innermost[block->id] = owner;
}

bool loops_simplify(IrModule *module, IrFunction *function)
{
    Loops *loops = loops_of(module, function, dominators_of(module, function));
    bool changed = false;
    for (Loop *loop = loops->all; loop; loop = loop->next) {
        changed |= add_preheader(module, loops, loop);
        changed |= join_latches(module, loops, loop);
        changed |= separate_exits(module, loops, loop);
    }
    return changed;
}
