// layout.c: block layout, in reverse postorder. Where possible a block is followed by its jump target, loops are contiguous, and the first
// target of a branch precedes the second.
#include "compiler/passes.h"

typedef struct Walk { // an iterative depth-first walk
    IrBlock **stack, **finished;
    uint8_t *next; // indexed by a block's id: number of its targets that have been visited
    bool *is_visited;
    uint32_t depth, count;
} Walk;

// The k-th target to visit. A target outside the loop is visited first, because blocks visited first are placed last.
static IrBlock *target_in_order(const Loops *loops, const IrBlock *block, uint32_t k)
{
    const IrInstruction *end = block->last;
    if (end->op == IR_JUMP)
        return end->target[0];
    const Loop *loop = loops->innermost[block->id];
    const bool first_leaves = loop && !loop_contains(loops, loop, end->target[0]) && loop_contains(loops, loop, end->target[1]);
    const bool second_follows = end->index && end->target[1]->predecessor_count == 1;
    return end->target[first_leaves || second_follows ? k : !k];
}

static void visit(Walk *w, IrBlock *block)
{
    if (w->is_visited[block->id])
        return;
    w->is_visited[block->id] = true;
    w->stack[w->depth++] = block;
}

bool order_blocks(IrModule *module, IrFunction *function)
{
    const Loops *loops = loops_of(module, function, dominators_of(module, function));
    const uint32_t blocks = function->next_block;
    Walk w = {.stack = ir_scratch(module, (blocks + 1) * sizeof(IrBlock *)), .finished = ir_scratch(module, (blocks + 1) * sizeof(IrBlock *))};
    w.next = ir_scratch(module, blocks);
    w.is_visited = ir_scratch(module, blocks);
    visit(&w, function->first);
    while (w.depth) {
        IrBlock *block = w.stack[w.depth - 1];
        if (w.next[block->id] < ir_target_count(block))
            visit(&w, target_in_order(loops, block, w.next[block->id]++));
        else
            w.finished[w.count++] = w.stack[--w.depth];
    }
    for (uint32_t k = w.count; k-- > 0;)
        ir_move_block_before(NULL, w.finished[k]);
    return true;
}
