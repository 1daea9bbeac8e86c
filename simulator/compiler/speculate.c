// speculate.c: instructions are hoisted out of the arms of branches. Instructions with which both arms begin are executed once,
// before the branch. Cheap address arithmetic of one arm is hoisted, too: an address that several branches need is then computed
// once, and sink.c moves the addresses that only one branch needs back. The limits are LLVM's.
#include "compiler/passes.h"

#include <string.h>

enum { MAX_COST = 7, MAX_NOT_HOISTED = 5, MAX_ARM = 200, MAX_SEARCH = 32 };

// ---- Address arithmetic of one arm

static bool is_cheap(const IrInstruction *i)
{
    if (ir_is_float_type(i->type) && i->op != IR_SELECT)
        return false;
    switch (i->op) {
    case IR_OFFSET: case IR_ADD: case IR_MUL: case IR_AND: case IR_OR: case IR_SELECT: case IR_SHL: case IR_SUB: case IR_SHR: case IR_XOR:
    case IR_NOT: case IR_NEG: case IR_SYMBOL:
        return true;
    case IR_CONVERT:
        return !ir_is_float_type(i->operands[0]->type);
    default:
        return false;
    }
}

static bool uses_only_hoisted(const IrInstruction *i, const IrBlock *arm, const bool *stays)
{
    for (uint32_t k = 0; k < i->operand_count; k++)
        if (i->operands[k]->block == arm && stays[i->operands[k]->id])
            return false;
    return true;
}

static bool hoist_from(IrModule *module, IrFunction *function, IrBlock *arm, IrBlock *to)
{
    uint32_t cost = 0, not_hoisted = 0, steps = 0;
    bool any = false, *stays = ir_scratch(module, function->next_instruction);
    for (const IrInstruction *i = arm->first; i; i = i->next) {
        if (++steps > MAX_ARM)
            return false;
        const bool can_hoist = is_cheap(i) && uses_only_hoisted(i, arm, stays);
        stays[i->id] = !can_hoist;
        any |= can_hoist;
        cost += can_hoist && i->op != IR_SYMBOL && !(i->op == IR_OFFSET && i->operand_count == 1);
        not_hoisted += !can_hoist && i->op != IR_FROM_GENERIC && i->op != IR_TO_GENERIC;
        if (cost > MAX_COST || not_hoisted > MAX_NOT_HOISTED)
            return false;
    }
    for (IrInstruction *i = arm->first, *next; i && any; i = next) {
        next = i->next;
        if (!stays[i->id])
            ir_move_before(to->last, i);
    }
    return any;
}

static bool is_arm(const IrBlock *arm, const IrBlock *end)
{
    return arm->predecessor_count == 1 && arm->last->op == IR_JUMP && arm->last->target[0] == end && arm->first->op != IR_PHI;
}

bool speculate_values(IrModule *module, IrFunction *function)
{
    bool changed = false;
    for (IrBlock *block = function->first; block; block = block->next) {
        const IrInstruction *end = block->last;
        if (end->op != IR_BRANCH || end->target[0] == end->target[1])
            continue;
        for (uint32_t k = 0; k < 2; k++)
            if (is_arm(end->target[k], end->target[!k])) {
                changed |= hoist_from(module, function, end->target[k], block);
                break;
            }
    }
    return changed;
}

// ---- Instructions common to both arms

static bool is_identical(const IrInstruction *a, const IrInstruction *b)
{
    if (a->op != b->op || a->type != b->type || a->memory != b->memory || a->compare != b->compare || a->space != b->space || a->count != b->count)
        return false;
    if (a->flags != b->flags || a->integer != b->integer || a->scale != b->scale || a->index != b->index || a->operand_count != b->operand_count)
        return false;
    if (a->op == IR_INTRINSIC && (a->intrinsic != b->intrinsic || a->text != b->text))
        return false;
    if (a->op == IR_SYMBOL && a->symbol != b->symbol)
        return false;
    if (a->op == IR_SPECIAL && strcmp(a->special, b->special) != 0)
        return false;
    for (uint32_t k = 0; k < a->operand_count; k++)
        if (a->operands[k] != b->operands[k])
            return false;
    return true;
}

static bool can_merge(const IrInstruction *i)
{
    return !ir_is_terminator(i) && i->op != IR_PHI && i->op != IR_ALLOCA && i->op != IR_COPY && (ir_is_pure(i) || i->op == IR_LOAD || i->op == IR_STORE);
}

static bool is_available(const IrInstruction *i, const IrBlock *arm)
{
    for (uint32_t k = 0; k < i->operand_count; k++)
        if (i->operands[k]->block == arm)
            return false;
    return true;
}

static IrInstruction *find_identical(const IrInstruction *i, const IrBlock *block)
{
    uint32_t steps = 0;
    for (IrInstruction *other = block->first; other && steps++ < MAX_SEARCH; other = other->next)
        if (is_identical(i, other))
            return other;
    return NULL;
}

// Hoists address arithmetic that both arms contain, at whatever position.
static bool hoist_shared(IrBlock *block, IrBlock *one, IrBlock *other)
{
    bool changed = false;
    uint32_t steps = 0;
    for (IrInstruction *i = one->first, *next; i && steps++ < MAX_SEARCH; i = next) {
        next = i->next;
        if (!is_cheap(i) || !is_available(i, one))
            continue;
        IrInstruction *duplicate = find_identical(i, other);
        if (!duplicate)
            continue;
        ir_move_before(block->last, i);
        ir_replace(duplicate, i);
        changed = true;
    }
    return changed;
}

bool hoist_common(IrModule *module, IrFunction *function)
{
    bool changed = false;
    (void)module;
    for (IrBlock *block = function->last; block; block = block->previous) {
        const IrInstruction *end = block->last;
        if (end->op != IR_BRANCH || end->target[0] == end->target[1])
            continue;
        IrBlock *one = end->target[0], *other = end->target[1];
        if (one->predecessor_count != 1 || other->predecessor_count != 1)
            continue;
        while (can_merge(one->first) && is_identical(one->first, other->first)) {
            IrInstruction *kept = one->first, *duplicate = other->first;
            ir_move_before(block->last, kept);
            ir_replace(duplicate, kept);
            changed = true;
        }
        changed |= hoist_shared(block, one, other);
    }
    return changed;
}
