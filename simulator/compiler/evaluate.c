// evaluate.c: evaluates scalar expressions.
#include "compiler/host.h"

#include <math.h>
#include <string.h>

// ---- arithmetic of two constants

static bool integer_operation(Evaluator *v, const Expression *e, uint8_t kind, const Type *type, int64_t a, int64_t b, int64_t *result)
{
    const uint64_t ua = (uint64_t)a, ub = (uint64_t)b;
    const bool is_signed = type_is_signed(type);
    switch (kind) {
    case EXPRESSION_ADD: *result = (int64_t)(ua + ub); break;
    case EXPRESSION_SUBTRACT: *result = (int64_t)(ua - ub); break;
    case EXPRESSION_MULTIPLY: *result = (int64_t)(ua * ub); break;
    case EXPRESSION_DIVIDE: case EXPRESSION_REMAINDER:
        if (b == 0)
            return evaluate_fail(v, e, "a division by zero has no value");
        if (!is_signed)
            *result = (int64_t)(kind == EXPRESSION_DIVIDE ? ua / ub : ua % ub);
        else if (b == -1)
            *result = kind == EXPRESSION_DIVIDE ? (int64_t)(0 - ua) : 0;
        else
            *result = kind == EXPRESSION_DIVIDE ? a / b : a % b;
        break;
    case EXPRESSION_AND: *result = a & b; break;
    case EXPRESSION_OR: *result = a | b; break;
    case EXPRESSION_XOR: *result = a ^ b; break;
    case EXPRESSION_SHIFT_LEFT: case EXPRESSION_SHIFT_RIGHT:
        if (ub >= 8 * type->size)
            return evaluate_fail(v, e, "a shift by that many bits has no value");
        if (kind == EXPRESSION_SHIFT_LEFT)
            *result = (int64_t)(ua << ub);
        else
            *result = is_signed ? a >> ub : (int64_t)(ua >> ub);
        break;
    default: return evaluate_fail(v, e, "this has no constant value");
    }
    *result = constant_wrap(type, *result);
    return true;
}

static bool real_operation(Evaluator *v, const Expression *e, uint8_t kind, const Type *type, double a, double b, double *result)
{
    switch (kind) {
    case EXPRESSION_ADD: *result = a + b; break;
    case EXPRESSION_SUBTRACT: *result = a - b; break;
    case EXPRESSION_MULTIPLY: *result = a * b; break;
    case EXPRESSION_DIVIDE: *result = a / b; break;
    default: return evaluate_fail(v, e, "this has no constant value");
    }
    *result = constant_rounded(type, *result);
    return true;
}

static bool operation(Evaluator *v, const Expression *e, uint8_t kind, const Type *type, const Constant *a, const Constant *b, Constant *value)
{
    Constant result = {.is_real = type_is_real(type)};
    if (a->variable || b->variable || a->function || b->function)
        return evaluate_fail(v, e, "an address has no constant value");
    const bool known = result.is_real ? real_operation(v, e, kind, type, a->real, b->real, &result.real)
                                      : integer_operation(v, e, kind, type, a->integer, b->integer, &result.integer);
    *value = result;
    return known;
}

static bool compare(Evaluator *v, const Expression *e, const Type *type, const Constant *a, const Constant *b, Constant *value)
{
    int order; // -1, 0, 1; 2: unordered
    if (a->is_real) {
        order = a->real < b->real ? -1 : a->real > b->real ? 1 : a->real == b->real ? 0 : 2;
    } else if (a->variable != b->variable || a->function != b->function) {
        if (e->kind != EXPRESSION_EQUAL && e->kind != EXPRESSION_NOT_EQUAL)
            return evaluate_fail(v, e, "pointers into different objects have no order");
        order = 1;
    } else if (type_is_signed(type) || type->kind == TYPE_BOOL) {
        order = a->integer < b->integer ? -1 : a->integer > b->integer;
    } else {
        order = (uint64_t)a->integer < (uint64_t)b->integer ? -1 : (uint64_t)a->integer > (uint64_t)b->integer;
    }
    bool result = false;
    switch (e->kind) {
    case EXPRESSION_EQUAL: result = order == 0; break;
    case EXPRESSION_NOT_EQUAL: result = order != 0; break;
    case EXPRESSION_LESS: result = order == -1; break;
    case EXPRESSION_LESS_EQUAL: result = order == -1 || order == 0; break;
    case EXPRESSION_GREATER: result = order == 1; break;
    default: result = order == 1 || order == 0; break;
    }
    *value = (Constant){.integer = result};
    return true;
}

// ---- nodes

static bool unary(Evaluator *v, Expression *e, Constant *value)
{
    Constant a;
    if (!evaluate_scalar(v, e->left, &a))
        return false;
    Type *type = type_integer_of(e->type);
    if (e->kind == EXPRESSION_CONVERT && e->type->kind == TYPE_VOID) {
        *value = (Constant){0};
        return true;
    }
    if (e->kind == EXPRESSION_CONVERT) {
        *value = constant_convert(type_integer_of(e->left->type), type, a);
        return true;
    }
    if (e->kind == EXPRESSION_NOT) {
        *value = (Constant){.integer = a.integer == 0 && !a.variable && !a.function};
        return true;
    }
    if (a.is_real) {
        *value = (Constant){.is_real = true, .real = -a.real};
        return true;
    }
    if (a.variable || a.function)
        return evaluate_fail(v, e, "an address has no constant value");
    const int64_t result = e->kind == EXPRESSION_NEGATE ? (int64_t)(0 - (uint64_t)a.integer) : ~a.integer;
    *value = (Constant){.integer = constant_wrap(type, result)};
    return true;
}

static bool logical(Evaluator *v, Expression *e, Constant *value)
{
    Constant a;
    if (!evaluate_scalar(v, e->left, &a))
        return false;
    const bool left = a.integer || a.variable || a.function;
    if (left == (e->kind == EXPRESSION_LOGICAL_OR)) {
        *value = (Constant){.integer = left};
        return true;
    }
    if (!evaluate_scalar(v, e->right, &a))
        return false;
    *value = (Constant){.integer = a.integer || a.variable || a.function};
    return true;
}

static bool move_pointer(Evaluator *v, const Expression *e, const Type *pointer, bool subtract, const Constant *number, Constant *address)
{
    const int64_t size = (int64_t)pointer->target->size;
    if (!address->variable)
        return evaluate_fail(v, e, "an address has no constant value");
    const int64_t bytes = (int64_t)((uint64_t)number->integer * (uint64_t)size);
    address->integer += subtract ? -bytes : bytes;
    return true;
}

static bool binary(Evaluator *v, Expression *e, Constant *value)
{
    Constant a, b;
    if (!evaluate_scalar(v, e->left, &a) || !evaluate_scalar(v, e->right, &b))
        return false;
    if (e->kind == EXPRESSION_OFFSET) {
        *value = a;
        return move_pointer(v, e, e->type, e->subtract, &b, value);
    }
    if (e->kind == EXPRESSION_DIFFERENCE) {
        const int64_t size = (int64_t)e->left->type->target->size;
        if (a.variable != b.variable || size == 0)
            return evaluate_fail(v, e, "pointers into different objects have no difference");
        *value = (Constant){.integer = (a.integer - b.integer) / size};
        return true;
    }
    if (e->kind >= EXPRESSION_EQUAL && e->kind <= EXPRESSION_GREATER_EQUAL)
        return compare(v, e, type_integer_of(e->left->type), &a, &b, value);
    return operation(v, e, e->kind, type_integer_of(e->type), &a, &b, value);
}

bool evaluate_assignment(Evaluator *v, Expression *e, Constant *address, Constant *value)
{
    Constant number;
    if (!evaluate_lvalue(v, e->left, address))
        return false;
    Type *type = type_bare(e->left->type);
    if (e->kind == EXPRESSION_ASSIGN) {
        if (type->kind == TYPE_RECORD)
            return evaluate_to_object(v, e->right, *address, type);
        return evaluate_scalar(v, e->right, value) && evaluate_write(v, e, *address, type, value);
    }
    Constant old, result;
    if (!evaluate_read(v, e, *address, type, &old))
        return false;
    if (e->kind == EXPRESSION_INCREMENT)
        number = type_is_real(type) ? (Constant){.is_real = true, .real = 1} : (Constant){.integer = 1};
    else if (!evaluate_scalar(v, e->right, &number))
        return false;
    if (type->kind == TYPE_POINTER) {
        result = old;
        if (!move_pointer(v, e, type, e->subtract, &number, &result))
            return false;
    } else {
        Type *compute = e->kind == EXPRESSION_INCREMENT ? type : e->compute;
        const uint8_t kind = e->kind == EXPRESSION_INCREMENT ? (e->subtract ? EXPRESSION_SUBTRACT : EXPRESSION_ADD) : e->operation;
        const Constant left = constant_convert(type_integer_of(type), type_integer_of(compute), old);
        if (!operation(v, e, kind, type_integer_of(compute), &left, &number, &result))
            return false;
        result = constant_convert(type_integer_of(compute), type_integer_of(type), result);
    }
    *value = e->is_postfix ? old : result;
    return evaluate_write(v, e, *address, type, &result);
}

static bool load(Evaluator *v, Expression *e, Constant *value)
{
    Constant address;
    return evaluate_lvalue(v, e->left, &address) && evaluate_read(v, e, address, type_bare(e->type), value);
}

// In host code, pointers and integers convert to each other.
static Constant bitcast_of_host(Host *h, const Expression *e, Constant value)
{
    const bool to_pointer = e->type->kind == TYPE_POINTER;
    if (!to_pointer && value.variable)
        return (Constant){.integer = host_address(h, &value)};
    return to_pointer && !value.variable && !value.function ? host_pointer(h, value.integer) : value;
}

bool evaluate_scalar(Evaluator *v, Expression *e, Constant *value)
{
    if (!evaluate_step(v, e))
        return false;
    Constant ignored, address;
    v->depth++;
    bool known = false;
    switch (e->kind) {
    case EXPRESSION_CONSTANT:
        *value = e->constant;
        known = true;
        break;
    case EXPRESSION_LOAD: known = load(v, e, value); break;
    case EXPRESSION_DECAY: case EXPRESSION_ADDRESS:
        if (e->left->kind == EXPRESSION_FUNCTION && e->left->function) {
            *value = (Constant){.function = e->left->function};
            known = true;
        } else {
            known = evaluate_lvalue(v, e->left, value);
        }
        break;
    case EXPRESSION_BITCAST:
        known = evaluate_scalar(v, e->left, value);
        if (known && v->host)
            *value = bitcast_of_host(v->host, e, *value);
        else if (known && e->type->kind != TYPE_POINTER && value->variable)
            known = evaluate_fail(v, e, "an address is no constant number");
        break;
    case EXPRESSION_CONVERT: case EXPRESSION_NOT: case EXPRESSION_NEGATE: case EXPRESSION_COMPLEMENT: known = unary(v, e, value); break;
    case EXPRESSION_LOGICAL_AND: case EXPRESSION_LOGICAL_OR: known = logical(v, e, value); break;
    case EXPRESSION_CONDITIONAL:
        known = evaluate_scalar(v, e->condition, &ignored) &&
                evaluate_scalar(v, ignored.integer || ignored.variable || ignored.function ? e->left : e->right, value);
        break;
    case EXPRESSION_COMMA:
        known = (e->left->type->kind == TYPE_RECORD ? evaluate_lvalue(v, expression_lvalue(v->compiler, e->left), &address)
                                                    : evaluate_scalar(v, e->left, &ignored)) &&
                evaluate_scalar(v, e->right, value);
        break;
    case EXPRESSION_ASSIGN: case EXPRESSION_COMPOUND: case EXPRESSION_INCREMENT: known = evaluate_assignment(v, e, &address, value); break;
    case EXPRESSION_CALL: known = evaluate_call(v, e, value, NULL); break;
    case EXPRESSION_BUILTIN: known = evaluate_fail(v, e, "it differs from thread to thread"); break;
    case EXPRESSION_LIST: known = e->argument_count == 0 && e->type->kind != TYPE_RECORD; break;
    case EXPRESSION_VARIABLE: case EXPRESSION_MEMBER: case EXPRESSION_DEREFERENCE: // as a discarded statement
        known = evaluate_lvalue(v, e, &address);
        break;
    default:
        known = e->kind >= EXPRESSION_ADD && e->kind <= EXPRESSION_GREATER_EQUAL ? binary(v, e, value)
                                                                               : evaluate_fail(v, e, "this has no constant value");
    }
    v->depth--;
    return known;
}
