// lower_values.c: lowers scalar expressions.
#include "compiler/lower.h"

#include <string.h>

// ---- constants and conversions

static IrInstruction *lower_constant(Lowering *l, const Expression *e)
{
    const IrType type = lower_type(e->type);
    const Constant *c = &e->constant;
    if (c->function) {
        lower_error(l, e->start, e->end, "call the function itself, or pass a functor or a lambda", "a pointer to a function is not supported in a kernel");
        return lower_integer(l, IR_B64, 0);
    }
    if (c->variable)
        return lower_offset(l, lower_generic(l, lower_variable(l, c->variable, e)), c->integer);
    if (type == IR_F32 || type == IR_F64)
        return ir_real(l->module, l->function, type, c->is_real ? c->real : (double)c->integer);
    return lower_integer(l, type, c->integer);
}

static bool is_real(IrType type)
{
    return type == IR_F32 || type == IR_F64;
}

static IrInstruction *is_not_zero(Lowering *l, IrInstruction *value)
{
    IrInstruction *zero = is_real(value->type) ? ir_real(l->module, l->function, value->type, 0) : lower_integer(l, value->type, 0);
    IrInstruction *test = lower_emit2(l, IR_COMPARE, IR_PRED, value, zero);
    test->compare = IR_NOT_EQUAL;
    test->flags |= is_real(value->type) ? IR_UNORDERED : 0;
    return test;
}

IrInstruction *lower_convert(Lowering *l, IrInstruction *value, Type *from, Type *to)
{
    const IrType type = lower_type(to);
    if (to->kind == TYPE_BOOL)
        return value->type == IR_PRED ? value : is_not_zero(l, value);
    if (type == value->type)
        return value;
    IrInstruction *converted = lower_emit1(l, IR_CONVERT, type, value);
    // The signedness is that of the integer type: the source, or the result of a conversion from float.
    converted->flags |= (is_real(value->type) ? type_is_signed(to) : type_is_signed(from)) ? IR_SIGNED : 0;
    return converted;
}

// ---- operators

IrInstruction *lower_binary(Lowering *l, uint8_t kind, Type *type, IrInstruction *a, IrInstruction *b)
{
    static const uint8_t ops[] = {IR_ADD, IR_SUB, IR_MUL, IR_DIV, IR_REM, IR_AND, IR_OR, IR_XOR, IR_SHL, IR_SHR};
    _Static_assert(sizeof ops == EXPRESSION_SHIFT_RIGHT - EXPRESSION_ADD + 1, "an IR operation for each arithmetic operator, in their order");
    const IrType ir_type = lower_type(type);
    const bool is_signed = type_is_signed(type);
    const bool shifts = kind == EXPRESSION_SHIFT_LEFT || kind == EXPRESSION_SHIFT_RIGHT;
    if (shifts && b->type == IR_B64)
        b = lower_emit1(l, IR_CONVERT, IR_B32, b);
    IrInstruction *i = lower_emit2(l, ops[kind - EXPRESSION_ADD], ir_type, a, b);
    if (is_real(ir_type))
        return i;
    if (is_signed && (kind == EXPRESSION_DIVIDE || kind == EXPRESSION_REMAINDER || kind == EXPRESSION_SHIFT_RIGHT))
        i->flags |= IR_SIGNED;
    if (is_signed && (kind == EXPRESSION_ADD || kind == EXPRESSION_SUBTRACT || kind == EXPRESSION_MULTIPLY))
        i->flags |= IR_NO_WRAP;
    return i;
}

static IrInstruction *lower_compare(Lowering *l, Expression *e)
{
    static const uint8_t compares[] = {IR_EQUAL, IR_NOT_EQUAL, IR_LESS, IR_LESS_EQUAL, IR_GREATER, IR_GREATER_EQUAL};
    _Static_assert(sizeof compares == EXPRESSION_GREATER_EQUAL - EXPRESSION_EQUAL + 1, "a comparison for each comparing operator, in their order");
    const Type *type = type_integer_of(e->left->type);
    IrInstruction *a = lower_value(l, e->left), *b = lower_value(l, e->right);
    if (a->type == IR_PRED) { // two bools
        a = lower_emit1(l, IR_CONVERT, IR_B32, a);
        b = lower_emit1(l, IR_CONVERT, IR_B32, b);
    }
    IrInstruction *test = lower_emit2(l, IR_COMPARE, IR_PRED, a, b);
    test->compare = compares[e->kind - EXPRESSION_EQUAL];
    test->flags |= type_is_signed(type) ? IR_SIGNED : 0;
    if (is_real(a->type) && test->compare == IR_NOT_EQUAL)
        test->flags |= IR_UNORDERED;
    return test;
}

static IrInstruction *lower_difference(Lowering *l, Expression *e)
{
    const uint64_t size = e->left->type->target->size ? e->left->type->target->size : 1;
    IrInstruction *a = lower_value(l, e->left), *b = lower_value(l, e->right);
    IrInstruction *bytes = lower_emit2(l, IR_SUB, IR_B64, a, b);
    if (size == 1)
        return bytes;
    const bool is_power = (size & (size - 1)) == 0; // the division is exact
    IrInstruction *count = is_power ? lower_emit2(l, IR_SHR, IR_B64, bytes, lower_integer(l, IR_B32, __builtin_ctzll(size)))
                                 : lower_emit2(l, IR_DIV, IR_B64, bytes, lower_integer(l, IR_B64, (int64_t)size));
    count->flags |= IR_SIGNED;
    return count;
}

// ---- control flow in expressions

void lower_condition_to(Lowering *l, Expression *e, IrBlock *if_true, IrBlock *if_false)
{
    lower_enter(l, e->start);
    if (e->kind == EXPRESSION_NOT) {
        lower_condition_to(l, e->left, if_false, if_true);
    } else if (e->kind == EXPRESSION_LOGICAL_AND || e->kind == EXPRESSION_LOGICAL_OR) {
        IrBlock *second = lower_block(l);
        if (e->kind == EXPRESSION_LOGICAL_AND)
            lower_condition_to(l, e->left, second, if_false);
        else
            lower_condition_to(l, e->left, if_true, second);
        l->block = second;
        lower_condition_to(l, e->right, if_true, if_false);
    } else {
        lower_branch(l, lower_condition(l, e), if_true, if_false);
    }
    lower_leave(l);
}

static IrInstruction *slot_for(Lowering *l, const Type *type)
{
    return lower_alloca(l, type->size, type->alignment);
}

// A && B, A || B, A ? B : C as values: stored in a variable, which promotion turns into a phi.
static IrInstruction *lower_branches(Lowering *l, Expression *e)
{
    const Address slot = {slot_for(l, e->type), false, 0};
    IrBlock *if_true = lower_block(l), *if_false = lower_block(l), *after = lower_block(l);
    const bool conditional = e->kind == EXPRESSION_CONDITIONAL;
    if (conditional)
        lower_condition_to(l, e->condition, if_true, if_false);
    else
        lower_condition_to(l, e->left, e->kind == EXPRESSION_LOGICAL_AND ? if_true : if_false, e->kind == EXPRESSION_LOGICAL_AND ? if_false : if_true);
    l->block = if_true;
    IrInstruction *value = conditional ? lower_value(l, e->left) : lower_value(l, e->right);
    lower_store(l, slot, e->type, value);
    lower_jump(l, after);
    l->block = if_false;
    value = conditional ? lower_value(l, e->right) : lower_integer(l, IR_PRED, e->kind == EXPRESSION_LOGICAL_OR);
    lower_store(l, slot, e->type, value);
    lower_jump(l, after);
    l->block = after;
    return lower_load(l, slot, e->type);
}

IrInstruction *lower_condition(Lowering *l, Expression *e)
{
    IrInstruction *value = lower_value(l, e);
    return value && value->type == IR_PRED ? value : value ? is_not_zero(l, value) : lower_integer(l, IR_PRED, 0);
}

// ---- assignments

// Whether an expression only reads variables, so that it may be evaluated before or after another one.
static bool is_plain(const Expression *e)
{
    switch (e->kind) {
    case EXPRESSION_CONSTANT: case EXPRESSION_VARIABLE: case EXPRESSION_BUILTIN: return true;
    case EXPRESSION_MEMBER: case EXPRESSION_DEREFERENCE: case EXPRESSION_LOAD: case EXPRESSION_DECAY: case EXPRESSION_CONVERT: return is_plain(e->left);
    case EXPRESSION_OFFSET: case EXPRESSION_ADD: case EXPRESSION_SUBTRACT: case EXPRESSION_MULTIPLY: case EXPRESSION_LESS: case EXPRESSION_GREATER:
    case EXPRESSION_LESS_EQUAL: case EXPRESSION_GREATER_EQUAL: case EXPRESSION_EQUAL: case EXPRESSION_NOT_EQUAL: return is_plain(e->left) && is_plain(e->right);
    default: return false;
    }
}

static bool is_plain_choice(const Expression *e)
{
    return e->kind == EXPRESSION_CONDITIONAL && e->is_lvalue && is_plain(e->condition) && is_plain(e->left) && is_plain(e->right);
}

// Assigns one of two records: each in a branch of its own, as nvcc does, not through a pointer.
static Address lower_assign_choice(Lowering *l, Expression *assignment, Expression *choice)
{
    const Address to = lower_lvalue(l, assignment->left);
    IrBlock *if_true = lower_block(l), *if_false = lower_block(l), *after = lower_block(l);
    lower_condition_to(l, choice->condition, if_true, if_false);
    lower_set_line(l, assignment->start);
    l->block = if_true;
    lower_copy(l, to, lower_lvalue(l, choice->left), assignment->left->type);
    lower_jump(l, after);
    l->block = if_false;
    lower_copy(l, to, lower_lvalue(l, choice->right), assignment->left->type);
    lower_jump(l, after);
    l->block = after;
    return to;
}

static Address lower_assign(Lowering *l, Expression *e, IrInstruction **value)
{
    Type *type = type_bare(e->left->type);
    *value = NULL;
    if (type->kind == TYPE_RECORD) {
        Expression *right = e->right->kind == EXPRESSION_COPY ? e->right->left : e->right;
        const bool is_left_plain = is_plain(e->left);
        if (is_plain_choice(right) && is_left_plain)
            return lower_assign_choice(l, e, right);
        return lower_assign_record(l, e, lower_lvalue(l, right), right->kind == EXPRESSION_CALL && !right->is_lvalue, is_left_plain);
    }
    *value = lower_value(l, e->right);
    const Address address = lower_lvalue(l, e->left);
    lower_set_line(l, e->left->start);
    lower_store(l, address, type, *value);
    return address;
}

// left op= right, ++left, left++
static Address lower_update(Lowering *l, Expression *e, IrInstruction **result)
{
    Type *type = type_bare(e->left->type);
    const bool step = e->kind == EXPRESSION_INCREMENT;
    IrInstruction *right = step ? NULL : lower_value(l, e->right);
    const Address address = lower_lvalue(l, e->left);
    lower_set_line(l, e->left->start);
    IrInstruction *old = lower_load(l, address, type), *value;
    if (type->kind == TYPE_POINTER) {
        if (step)
            value = lower_offset(l, old, e->subtract ? -(int64_t)type->target->size : (int64_t)type->target->size);
        else
            value = lower_moved(l, old, type, e->subtract, right, e->right->type);
    } else {
        Type *compute = step ? type_promoted(l->compiler, type_integer_of(type)) : e->compute;
        if (step && type_is_real(type))
            compute = type;
        IrInstruction *left = lower_convert(l, old, type_integer_of(type), compute);
        if (step) {
            const IrType ir_type = lower_type(compute);
            right = is_real(ir_type) ? ir_real(l->module, l->function, ir_type, e->subtract ? -1 : 1) : lower_integer(l, ir_type, e->subtract ? -1 : 1);
        }
        const uint8_t kind = step ? EXPRESSION_ADD : e->operation;
        value = lower_binary(l, kind, compute, left, right);
        value = lower_convert(l, value, compute, type_integer_of(type));
    }
    lower_set_line(l, e->left->start);
    lower_store(l, address, type, value);
    *result = e->is_postfix ? old : value;
    return address;
}

Address lower_assignment(Lowering *l, Expression *e, IrInstruction **value)
{
    return e->kind == EXPRESSION_ASSIGN ? lower_assign(l, e, value) : lower_update(l, e, value);
}

// ---- values

static IrInstruction *lower_unary(Lowering *l, Expression *e)
{
    IrInstruction *value = lower_value(l, e->left);
    switch (e->kind) {
    case EXPRESSION_NEGATE: {
        IrInstruction *negative = lower_emit1(l, IR_NEG, lower_type(e->type), value);
        negative->flags |= type_is_signed(e->type) ? IR_NO_WRAP : 0;
        return negative;
    }
    default: return lower_emit1(l, IR_NOT, lower_type(e->type), value);
    }
}

static IrInstruction *lower_bitcast(Lowering *l, Expression *e)
{
    IrInstruction *value = lower_value(l, e->left);
    const IrType type = lower_type(e->type);
    if (value->type == type)
        return value;
    if (value->type == IR_B64 || type == IR_B64) { // an integer of a different size
        IrInstruction *converted = lower_emit1(l, IR_CONVERT, type, value);
        converted->flags |= type_is_signed(e->left->type) ? IR_SIGNED : 0;
        return converted;
    }
    return lower_emit1(l, IR_BITCAST, type, value);
}

static IrInstruction *lower_special(Lowering *l, const Expression *e)
{
    IrInstruction *value = lower_emit(l, IR_SPECIAL, IR_B32, 0, NULL);
    value->special = e->text;
    return value;
}

static IrInstruction *lower_new(Lowering *l, Expression *e)
{
    const Address address = {lower_pointer(l, e->left), false, 0};
    if (e->right)
        lower_initialisation(l, address, e->type->target, e->right);
    return lower_generic(l, address.pointer);
}

static IrInstruction *lower_load_of(Lowering *l, Expression *e)
{
    if (e->left->kind == EXPRESSION_STRING)
        return lower_integer(l, IR_B8, e->left->length ? e->left->text[0] : 0);
    const Address address = lower_lvalue(l, e->left);
    lower_set_line(l, e->left->start);
    return lower_load(l, address, type_bare(e->type));
}

static IrInstruction *lower_convert_of(Lowering *l, Expression *e)
{
    if (e->type->kind == TYPE_VOID) {
        lower_discarded(l, e->left);
        return NULL;
    }
    IrInstruction *value = lower_value(l, e->left);
    return lower_convert(l, value, type_integer_of(e->left->type), type_integer_of(e->type));
}

static IrInstruction *lower_inner(Lowering *l, Expression *e)
{
    IrInstruction *value;
    switch (e->kind) {
    case EXPRESSION_CONSTANT: return lower_constant(l, e);
    case EXPRESSION_LOAD: return lower_load_of(l, e);
    case EXPRESSION_BUILTIN: return lower_special(l, e);
    case EXPRESSION_DECAY: return lower_generic(l, lower_lvalue(l, e->left).pointer);
    case EXPRESSION_ADDRESS:
        if (e->left->kind == EXPRESSION_FUNCTION)
            break;
        return lower_generic(l, lower_lvalue(l, e->left).pointer);
    case EXPRESSION_CONVERT: return lower_convert_of(l, e);
    case EXPRESSION_BITCAST: return lower_bitcast(l, e);
    case EXPRESSION_NEGATE: case EXPRESSION_COMPLEMENT: case EXPRESSION_NOT: return lower_unary(l, e);
    case EXPRESSION_OFFSET: return lower_generic(l, lower_pointer(l, e));
    case EXPRESSION_DIFFERENCE: return lower_difference(l, e);
    case EXPRESSION_EQUAL: case EXPRESSION_NOT_EQUAL: case EXPRESSION_LESS: case EXPRESSION_LESS_EQUAL: case EXPRESSION_GREATER:
    case EXPRESSION_GREATER_EQUAL:
        return lower_compare(l, e);
    case EXPRESSION_LOGICAL_AND: case EXPRESSION_LOGICAL_OR: case EXPRESSION_CONDITIONAL:
        if (e->type->kind == TYPE_VOID) {
            lower_discarded(l, e);
            return NULL;
        }
        return lower_branches(l, e);
    case EXPRESSION_ASSIGN: case EXPRESSION_COMPOUND: case EXPRESSION_INCREMENT:
        lower_assignment(l, e, &value);
        return value;
    case EXPRESSION_COMMA:
        lower_discarded(l, e->left);
        return lower_value(l, e->right);
    case EXPRESSION_CALL: return lower_call(l, e, NULL);
    case EXPRESSION_NEW: return lower_new(l, e);
    case EXPRESSION_ASM: lower_asm(l, e); return NULL;
    case EXPRESSION_LIST:
        if (e->argument_count == 1 && e->arguments[0])
            return lower_value(l, e->arguments[0]);
        break;
    case EXPRESSION_UNKNOWN: case EXPRESSION_FUNCTION: break;
    default:
        if (e->kind >= EXPRESSION_ADD && e->kind <= EXPRESSION_SHIFT_RIGHT) {
            IrInstruction *a = lower_value(l, e->left), *b = lower_value(l, e->right);
            return lower_binary(l, e->kind, e->type, a, b);
        }
        if (e->is_lvalue)
            return lower_load(l, lower_lvalue(l, e), type_bare(e->type));
    }
    const bool function = e->kind == EXPRESSION_FUNCTION || e->kind == EXPRESSION_ADDRESS;
    lower_error(l, e->start, e->end, function ? "call the function itself, or pass a functor or a lambda" : NULL,
                function ? "a pointer to a function is not supported in a kernel" : "this compiler does not know what this is");
    return lower_integer(l, IR_B64, 0);
}

IrInstruction *lower_value(Lowering *l, Expression *e)
{
    lower_enter(l, e->start);
    IrInstruction *value = lower_inner(l, e);
    lower_leave(l);
    const bool none = e->type->kind == TYPE_VOID || e->type->kind == TYPE_RECORD || e->kind == EXPRESSION_UNKNOWN;
    if (value && !none && e->type->kind != TYPE_UNKNOWN && !e->is_lvalue && value->type != lower_type(e->type)) // after an error
        return ir_undefined(l->module, l->function, lower_type(e->type));
    return value ? value : none ? NULL : ir_undefined(l->module, l->function, lower_type(e->type));
}

void lower_discarded(Lowering *l, Expression *e)
{
    if (e->kind == EXPRESSION_CONDITIONAL && !e->is_lvalue && e->type->kind != TYPE_RECORD) {
        IrBlock *if_true = lower_block(l), *if_false = lower_block(l), *after = lower_block(l);
        lower_condition_to(l, e->condition, if_true, if_false);
        l->block = if_true;
        lower_discarded(l, e->left);
        lower_jump(l, after);
        l->block = if_false;
        lower_discarded(l, e->right);
        lower_jump(l, after);
        l->block = after;
    } else if ((e->kind == EXPRESSION_LOGICAL_AND || e->kind == EXPRESSION_LOGICAL_OR)) {
        IrBlock *second = lower_block(l), *after = lower_block(l);
        const bool and = e->kind == EXPRESSION_LOGICAL_AND;
        lower_condition_to(l, e->left, and ? second : after, and ? after : second);
        l->block = second;
        lower_discarded(l, e->right);
        lower_jump(l, after);
        l->block = after;
    } else if (e->is_lvalue && e->kind != EXPRESSION_ASSIGN && e->kind != EXPRESSION_COMPOUND && e->kind != EXPRESSION_INCREMENT) {
        const Address address = lower_lvalue(l, e);
        if (address.is_volatile && e->type->kind != TYPE_RECORD && e->type->kind != TYPE_ARRAY)
            lower_load(l, address, type_bare(e->type));
    } else if (e->type->kind == TYPE_RECORD && e->kind != EXPRESSION_ASSIGN) {
        lower_lvalue(l, e);
    } else {
        lower_value(l, e);
    }
}
