// if_convert.c: if-conversion of short branches, within NVVM's limits. The instructions of the arms are speculated, and the phis at the
// join become selects.
#include "compiler/intrinsics.h"
#include "compiler/memory.h"

#include <string.h>

enum {
    MAX_TRIANGLE = 5,        // instructions of a single arm
    MAX_TRIANGLE_SUM = 6,    // instructions and phis
    MAX_FIRST = 3, MAX_SECOND = 5, // instructions of each of two arms
    MAX_DIAMOND_PHIS = 3
};

typedef struct Shape { // a triangle or a diamond: a branch whose arms have one block each and end in the same block
    IrBlock *block, *arm[2], *end; // arm: NULL if it is empty
} Shape;

static IrBlock *arm_of(const IrBlock *block, uint32_t target, IrBlock **end)
{
    IrBlock *arm = block->last->target[target];
    if (arm->predecessor_count != 1 || arm->last->op != IR_JUMP) {
        *end = arm;
        return NULL;
    }
    *end = arm->last->target[0];
    return arm;
}

static bool find_shape(IrBlock *block, Shape *shape)
{
    if (block->last->op != IR_BRANCH || block->last->target[0] == block->last->target[1])
        return false;
    IrBlock *ends[2];
    *shape = (Shape){.block = block};
    for (uint32_t k = 0; k < 2; k++)
        shape->arm[k] = arm_of(block, k, &ends[k]);
    if (ends[0] != ends[1]) {
        if (shape->arm[0] && ends[0] == block->last->target[1])
            shape->arm[1] = NULL, ends[1] = ends[0];
        else if (shape->arm[1] && ends[1] == block->last->target[0])
            shape->arm[0] = NULL, ends[0] = ends[1];
    }
    if (ends[0] != ends[1] || (!shape->arm[0] && !shape->arm[1]))
        return false;
    shape->end = ends[0];
    return shape->end != block && shape->end != shape->arm[0] && shape->end != shape->arm[1];
}

// The cost of speculating an instruction; above any limit if it must not be speculated.
static uint32_t cost_of(const IrInstruction *i)
{
    enum { PROHIBITIVE = 1000 };
    switch (i->op) {
    case IR_DIV:
    case IR_REM:
        return i->operands[1]->op == IR_INTEGER && !(i->flags & IR_SIGNED) && !ir_is_float_type(i->type) ? 1 : PROHIBITIVE;
    case IR_MIN:
    case IR_MAX:
    case IR_COPY:
        return PROHIBITIVE;
    case IR_INTRINSIC:
        return ir_is_pure(i) && (strstr(i->intrinsic->name, "popc") || strstr(i->intrinsic->name, "clz")) ? 1 : PROHIBITIVE;
    case IR_CONVERT:
        return i->operands[0]->type != IR_PRED && ir_is_float_type(i->type) != ir_is_float_type(i->operands[0]->type) ? PROHIBITIVE : 1;
    case IR_BITCAST:
    case IR_OFFSET:
    case IR_SYMBOL:
    case IR_TO_GENERIC:
    case IR_FROM_GENERIC:
    case IR_SPECIAL:
        return i->op == IR_OFFSET && i->operand_count == 2 ? 1 : 0;
    default:
        return is_safe_to_speculate(i) ? 1 : PROHIBITIVE;
    }
}

static uint32_t cost_of_arm(const IrBlock *arm)
{
    uint32_t cost = 0;
    for (const IrInstruction *i = arm ? arm->first : NULL; i && i != arm->last; i = i->next)
        cost += cost_of(i);
    return cost;
}

static uint32_t edge_of(const Shape *s, uint32_t target)
{
    const IrBlock *from = s->arm[target] ? s->arm[target] : s->block;
    uint32_t index = 0;
    while (s->end->predecessors[index] != from)
        index++;
    return index;
}

static uint32_t count_phis(const Shape *s)
{
    uint32_t count = 0;
    const uint32_t first = edge_of(s, 0), second = edge_of(s, 1);
    for (const IrInstruction *phi = s->end->first; phi->op == IR_PHI; phi = phi->next)
        count += phi->operands[first] != phi->operands[second];
    return count;
}

static bool is_short(const Shape *s)
{
    const uint32_t first = cost_of_arm(s->arm[0]), second = cost_of_arm(s->arm[1]), phis = count_phis(s);
    if (!phis && first + second)
        return false;
    if (!first || !second) {
        const uint32_t cost = first + second;
        return cost <= MAX_TRIANGLE && (!cost || cost + phis <= MAX_TRIANGLE_SUM);
    }
    return first <= MAX_FIRST && second <= MAX_SECOND && phis <= MAX_DIAMOND_PHIS;
}

static void move_arm(const Shape *s, IrBlock *arm)
{
    while (arm && arm->first != arm->last) {
        IrInstruction *i = arm->first;
        if (i->op == IR_PHI)
            ir_replace(i, i->operands[0]);
        else
            ir_move_before(s->block->last, i);
    }
}

static void convert(IrModule *module, const Shape *s)
{
    const uint32_t first = edge_of(s, 0), second = edge_of(s, 1);
    IrInstruction *end = s->block->last, *condition = end->operands[0];
    for (uint32_t k = 0; k < 2; k++)
        move_arm(s, s->arm[k]);
    for (IrInstruction *phi = s->end->first; phi->op == IR_PHI; phi = phi->next) {
        IrInstruction *a = phi->operands[first], *b = phi->operands[second];
        if (a != b) {
            IrInstruction *select = ir_select(module, end, condition, a, b);
            select->line = phi->line;
            ir_set_operand(phi, first, select);
            ir_set_operand(phi, second, select);
        }
    }
    // Both edges now have the same phi operands; one of them is removed.
    IrBlock *kept = s->arm[0] ? s->arm[0] : s->arm[1];
    const uint32_t target = end->target[0] == kept ? 0 : 1;
    ir_make_jump(module, s->block, target);
    IrBlock *other = kept == s->arm[0] ? s->arm[1] : NULL;
    if (other)
        ir_remove_block(other);
}

static bool convert_block(IrModule *module, IrBlock *block)
{
    Shape shape;
    if (!find_shape(block, &shape) || !is_short(&shape))
        return false;
    convert(module, &shape);
    return true;
}

// ---- if (a && b): a cheap second test is speculated, and the tests are combined

static bool is_only_test(const IrBlock *block)
{
    if (block->predecessor_count != 1 || block->last->op != IR_BRANCH)
        return false;
    uint32_t count = 0;
    for (const IrInstruction *i = block->first; i != block->last; i = i->next) {
        const uint32_t cost = cost_of(i);
        if (i->op == IR_PHI || cost > 1)
            return false;
        count += cost;
        for (const IrUse *use = i->uses; use; use = use->next)
            if (use->user->block != block)
                return false;
    }
    return count <= 2;
}

// If the block and its successor both branch to `common`, replaces the two branches by one on the combined condition.
static bool join_tests(IrModule *module, IrBlock *block)
{
    IrInstruction *end = block->last;
    if (end->op != IR_BRANCH || end->target[0] == end->target[1])
        return false;
    for (uint32_t k = 0; k < 2; k++) {
        IrBlock *second = end->target[k], *common = end->target[!k];
        if (second == block || !is_only_test(second) || second->last->target[0] == second->last->target[1])
            continue;
        const bool meets_first = second->last->target[0] == common, meets_second = second->last->target[1] == common;
        if (!meets_first && !meets_second)
            continue;
        uint32_t from_block = ir_edge_index(block, !k), from_second = ir_edge_index(second, meets_first ? 0 : 1);
        bool agrees = true;
        for (const IrInstruction *phi = common->first; phi->op == IR_PHI; phi = phi->next)
            agrees &= phi->operands[from_block] == phi->operands[from_second];
        IrBlock *onward = second->last->target[meets_first ? 1 : 0];
        if (!agrees || onward == block || onward == second)
            continue;
        while (second->first != second->last)
            ir_move_before(end, second->first);
        // The combined condition leads to `onward`.
        IrInstruction *a = end->operands[0], *b = second->last->operands[0];
        if (k == 1)
            a = ir_insert_before(module, end, IR_NOT, IR_PRED, 1, &a);
        if (meets_first)
            b = ir_insert_before(module, end, IR_NOT, IR_PRED, 1, &b);
        IrInstruction *both = ir_binary(module, end, IR_AND, a, b, 0);
        const uint32_t line = end->line, file = end->file;
        // The edge block -> onward replaces the edge second -> onward.
        const uint32_t onward_index = ir_edge_index(second, meets_first ? 1 : 0);
        onward->predecessors[onward_index] = block;
        ir_remove_predecessor(common, from_second);
        IrInstruction *test = second->last;
        ir_remove(test);
        ir_append(module, second, IR_UNREACHABLE, IR_VOID, 0, NULL);
        second->predecessor_count = 0;
        ir_set_operand(end, 0, both);
        end->target[0] = onward;
        end->target[1] = common;
        end->line = line;
        end->file = file;
        ir_remove_block(second);
        return true;
    }
    return false;
}

static bool convert_once(IrModule *module, IrFunction *function)
{
    uint32_t count = 0;
    IrBlock **blocks = ir_scratch(module, (function->next_block + 1) * sizeof *blocks);
    for (IrBlock *block = function->first; block; block = block->next)
        blocks[count++] = block;
    bool changed = false;
    while (count-- > 0) // inner branches come last in the layout
        if (blocks[count]->last) // NULL: the block has been removed
            changed |= convert_block(module, blocks[count]) || join_tests(module, blocks[count]);
    return changed;
}

bool convert_branches(IrModule *module, IrFunction *function)
{
    bool changed = false;
    while (convert_once(module, function)) {
        simplify_control_flow(module, function);
        changed = true;
    }
    return changed;
}
