// simplify.c: replaces instructions by simpler ones: constant expressions by their values, and phis of a single value by that
// value. It repeats until nothing changes, at most MAX_ROUNDS times.
#include "compiler/simplify.h"

enum { MAX_ROUNDS = 8, MAX_PHIS = 64 };

IrInstruction *constant_like(Simplifier *s, const IrInstruction *value, int64_t integer)
{
    return ir_integer(s->module, s->function, value->type, integer);
}

// Another phi of the block that can replace this one: its operands are equal wherever those of this phi are defined.
static IrInstruction *equivalent_phi(const IrInstruction *phi)
{
    uint32_t steps = 0;
    for (IrInstruction *other = phi->block->first; other->op == IR_PHI && steps++ < MAX_PHIS; other = other->next) {
        bool is_equal = other != phi && other->type == phi->type && (other->operand_count == phi->operand_count);
        bool has_undefined = false;
        for (uint32_t k = 0; is_equal && k < phi->operand_count; k++) {
            const bool is_undefined = phi->operands[k]->op == IR_UNDEFINED && other->operands[k]->op != IR_UNDEFINED;
            has_undefined |= is_undefined;
            is_equal = is_undefined || phi->operands[k] == other->operands[k];
        }
        if (is_equal && (has_undefined || other->id < phi->id))
            return other;
    }
    return NULL;
}

// The block whose branch leads to the edge, through blocks with one predecessor, or NULL; *target is the index of the target taken.
static const IrBlock *branch_before(const IrBlock *block, uint32_t edge, uint32_t *target)
{
    const IrBlock *to = block, *from = block->predecessors[edge];
    for (uint32_t steps = 0; steps < MAX_PHIS && from->last->op == IR_JUMP && from->predecessor_count == 1; steps++) {
        to = from;
        from = from->predecessors[0];
    }
    *target = from->last->target[0] == to ? 0 : 1;
    return from->last->op == IR_BRANCH && from->last->target[0] != from->last->target[1] ? from : NULL;
}

// A phi of two constants whose edges come from the two targets of one branch is the branch's condition, or its negation.
static IrInstruction *condition_of_phi(Simplifier *s, IrInstruction *phi)
{
    if (phi->type != IR_PRED || phi->operand_count != 2 || phi->operands[0]->op != IR_INTEGER || phi->operands[1]->op != IR_INTEGER)
        return NULL;
    uint32_t targets[2];
    const IrBlock *first = branch_before(phi->block, 0, &targets[0]), *second = branch_before(phi->block, 1, &targets[1]);
    if (!first || first != second || targets[0] == targets[1] || phi->operands[0] == phi->operands[1])
        return NULL;
    IrInstruction *condition = first->last->operands[0];
    const bool is_negated = (phi->operands[0]->integer != 0) != (targets[0] == 0);
    return is_negated ? ir_insert_before(s->module, ir_first_not_phi(phi->block), IR_NOT, IR_PRED, 1, &condition) : condition;
}

static IrInstruction *simplify_phi(Simplifier *s, IrInstruction *phi)
{
    IrInstruction *only = NULL;
    bool has_undefined = false;
    for (uint32_t k = 0; k < phi->operand_count; k++) {
        IrInstruction *value = phi->operands[k];
        has_undefined |= value->op == IR_UNDEFINED;
        if (value == phi || value->op == IR_UNDEFINED || value == only)
            continue;
        if (only) {
            IrInstruction *condition = condition_of_phi(s, phi);
            return condition ? condition : equivalent_phi(phi);
        }
        only = value;
    }
    if (!only)
        return ir_undefined(s->module, s->function, phi->type);
    return has_undefined && !ir_is_constant(only) ? equivalent_phi(phi) : only;
}

static IrInstruction *simplified(Simplifier *s, IrInstruction *i)
{
    IrInstruction *constant = fold_constants(s, i);
    if (constant)
        return constant;
    switch (i->op) {
    case IR_PHI:
        return simplify_phi(s, i);
    case IR_ADD: case IR_SUB: case IR_MUL: case IR_DIV: case IR_REM: case IR_MIN: case IR_MAX: case IR_NEG: case IR_ABS:
        return ir_is_float_type(i->type) ? simplify_float(s, i) : simplify_integer(s, i);
    case IR_AND: case IR_OR: case IR_XOR: case IR_SHL: case IR_SHR: case IR_NOT: case IR_MUL_HIGH: case IR_MUL_WIDE:
        return simplify_integer(s, i);
    case IR_COMPARE:
        return simplify_compare(s, i);
    case IR_SELECT:
        return simplify_select(s, i);
    case IR_CONVERT:
    case IR_BITCAST:
        return simplify_conversion(s, i);
    case IR_OFFSET:
    case IR_TO_GENERIC:
    case IR_FROM_GENERIC:
        return simplify_pointer(s, i);
    case IR_INTRINSIC:
        return simplify_intrinsic(s, i);
    default:
        return NULL;
    }
}

IrInstruction *build_simplified(Simplifier *s, IrInstruction *insert_before, IrOp op, IrInstruction *a, IrInstruction *b, uint32_t flags)
{
    IrInstruction *i = ir_binary(s->module, insert_before, op, a, b, flags);
    IrInstruction *simpler = fold_constants(s, i);
    if (!simpler)
        return i;
    ir_remove(i);
    return simpler;
}

// A branch on !c becomes a branch on c with its targets swapped.
static void simplify_branch(Simplifier *s, IrInstruction *branch)
{
    const IrInstruction *condition = branch->operands[0];
    if (condition->op != IR_NOT)
        return;
    IrBlock *first = branch->target[0], *second = branch->target[1];
    if (first == second)
        return;
    ir_set_operand(branch, 0, condition->operands[0]);
    branch->target[0] = second;
    branch->target[1] = first;
    s->changed = true;
}

// The negation of a comparison without other uses becomes the inverse comparison.
static bool invert_compare(Simplifier *s, IrInstruction *i)
{
    IrInstruction *compare = i->operands[0];
    if (i->op != IR_NOT || i->type != IR_PRED || compare->op != IR_COMPARE || !ir_has_one_use(compare))
        return false;
    if (compare->compare == IR_EQUAL && (compare->flags & IR_UNORDERED))
        return false; // no IrCompare is its inverse
    IrInstruction *inverse = ir_compare(s->module, i, inverse_compare(compare->compare), compare->operands[0], compare->operands[1], compare->flags);
    const bool is_order = inverse->compare != IR_EQUAL && inverse->compare != IR_NOT_EQUAL;
    if (ir_is_float_type(compare->operands[0]->type)) {
        inverse->flags ^= IR_UNORDERED;
        if (inverse->compare == IR_NOT_EQUAL)
            inverse->flags |= IR_UNORDERED;
        else if (!is_order && !(compare->flags & IR_UNORDERED))
            inverse->flags &= ~IR_UNORDERED;
    }
    ir_replace(i, inverse);
    return true;
}

static bool simplify_block(Simplifier *s, IrBlock *block)
{
    bool changed = false;
    for (IrInstruction *i = block->first, *next; i; i = next) {
        next = i->next;
        if (ir_is_removable(i) && !i->uses && i->op != IR_ALLOCA) {
            ir_remove(i);
            changed = true;
            continue;
        }
        if (i->op == IR_BRANCH)
            simplify_branch(s, i);
        if (i->op == IR_NOT && invert_compare(s, i)) {
            changed = true;
            continue;
        }
        IrInstruction *simpler = simplified(s, i);
        if (!simpler || simpler == i)
            continue;
        ir_replace(i, simpler);
        changed = true;
    }
    return changed;
}

static bool simplify_function(IrModule *module, IrFunction *function, bool is_late)
{
    Simplifier s = {.module = module, .function = function, .is_late = is_late};
    bool changed = false;
    for (uint32_t round = 0; round < MAX_ROUNDS; round++) {
        const Dominators *d = dominators_of(module, function);
        bool again = false;
        s.changed = false;
        for (uint32_t k = 0; k < d->count; k++)
            again |= simplify_block(&s, d->order[k]);
        again |= s.changed;
        changed |= again;
        if (!again)
            break;
    }
    return changed;
}

bool simplify_values(IrModule *module, IrFunction *function)
{
    return simplify_function(module, function, false);
}

bool simplify_values_late(IrModule *module, IrFunction *function)
{
    return simplify_function(module, function, true);
}
