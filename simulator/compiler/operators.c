// operators.c: semantics of unary and binary operators, assignments and conditionals.
#include "compiler/build.h"

#include <string.h>

static const struct {
    uint16_t id;
    uint8_t kind;
} BINARY[] = {
    {'+', EXPRESSION_ADD}, {'-', EXPRESSION_SUBTRACT}, {'*', EXPRESSION_MULTIPLY}, {'/', EXPRESSION_DIVIDE},
    {'%', EXPRESSION_REMAINDER}, {'&', EXPRESSION_AND}, {'|', EXPRESSION_OR}, {'^', EXPRESSION_XOR},
    {ID_SHIFT_LEFT, EXPRESSION_SHIFT_LEFT}, {ID_SHIFT_LEFT_ASSIGN, EXPRESSION_SHIFT_LEFT}, {ID_EQUAL, EXPRESSION_EQUAL},
    {ID_NOT_EQUAL, EXPRESSION_NOT_EQUAL}, {'<', EXPRESSION_LESS}, {ID_LESS_EQUAL, EXPRESSION_LESS_EQUAL}, {'>', EXPRESSION_GREATER},
    {ID_GREATER_EQUAL, EXPRESSION_GREATER_EQUAL}, {ID_AND, EXPRESSION_LOGICAL_AND}, {ID_OR, EXPRESSION_LOGICAL_OR},
    {ID_ADD_ASSIGN, EXPRESSION_ADD}, {ID_SUB_ASSIGN, EXPRESSION_SUBTRACT}, {ID_MUL_ASSIGN, EXPRESSION_MULTIPLY},
    {ID_DIV_ASSIGN, EXPRESSION_DIVIDE}, {ID_REM_ASSIGN, EXPRESSION_REMAINDER}, {ID_AND_ASSIGN, EXPRESSION_AND},
    {ID_OR_ASSIGN, EXPRESSION_OR}, {ID_XOR_ASSIGN, EXPRESSION_XOR}, {OPERATOR_SHIFT_RIGHT, EXPRESSION_SHIFT_RIGHT},
    {OPERATOR_SHIFT_RIGHT_ASSIGN, EXPRESSION_SHIFT_RIGHT},
};

static ExpressionKind kind_of(uint16_t id)
{
    for (size_t k = 0; k < sizeof BINARY / sizeof *BINARY; k++)
        if (BINARY[k].id == id)
            return BINARY[k].kind;
    return EXPRESSION_UNKNOWN;
}

static const char *text_of(uint16_t id)
{
    return id == OPERATOR_SHIFT_RIGHT ? ">>" : id == OPERATOR_SHIFT_RIGHT_ASSIGN ? ">>=" : token_id_text(id);
}

static bool is_user_type(const Expression *e)
{
    return e->type->kind == TYPE_RECORD || e->type->kind == TYPE_ENUM;
}

static Expression *report_operands(Compiler *c, uint16_t id, const Expression *left, const Expression *right, Position at)
{
    if (left->type->kind == TYPE_VOID || right->type->kind == TYPE_VOID) {
        const Expression *bad = left->type->kind == TYPE_VOID ? left : right;
        expression_error(c, bad, NULL, "this has no value: it is void, and cannot be an operand of '%s'", text_of(id));
    } else {
        const char *a = type_text(c, left->type), *b = type_text(c, right->type);
        const char *help = NULL;
        if (id == '%' && (type_is_real(left->type) || type_is_real(right->type)))
            help = "the remainder of floats is a - b * truncf(a / b)";
        else if (id == '^' && (type_is_real(left->type) || type_is_real(right->type)))
            help = "^ is exclusive or; a square is a * a, a power is __powf(a, b)";
        for (int k = 0; k < 2 && !help; k++) {
            const Expression *e = k ? right : left;
            help = e->kind == EXPRESSION_BUILTIN && e->name ? compile_format(c, "write %s.x", e->name->text) : NULL;
        }
        source_error(c, at, (uint32_t)strlen(text_of(id)), help, "'%s' has no meaning for '%s' and '%s'", text_of(id), a, b);
    }
    return expression_unknown(c, left->start, right->end);
}

// ---- arithmetic

static bool is_number(const Type *type)
{
    return type_is_arithmetic(type) || (type->kind == TYPE_ENUM && !type->enumeration->scoped);
}

// Folds an operation of constants, unless its value is undefined, as in a division by zero.
static Expression *folded(Compiler *c, Expression *e)
{
    const bool left = !e->left || e->left->kind == EXPRESSION_CONSTANT, right = !e->right || e->right->kind == EXPRESSION_CONSTANT;
    Constant value;
    if (!left || !right || type_is_unknown(e->type))
        return e;
    c->silent++;
    const bool known = constant_evaluate(c, e, &value);
    c->silent--;
    return known && !value.variable && !value.function ? expression_of_constant(c, e->type, &value, e->start, e->end) : e;
}

static Expression *arithmetic(Compiler *c, ExpressionKind kind, Type *type, Expression *left, Expression *right)
{
    return folded(c, expression_binary(c, kind, type, convert_scalar(c, left, type), convert_scalar(c, right, type)));
}

static Expression *pointer_arithmetic(Compiler *c, uint16_t id, Expression *left, Expression *right, Position at)
{
    Expression *pointer = left->type->kind == TYPE_POINTER ? left : right, *number = pointer == left ? right : left;
    if (left->type->kind == TYPE_POINTER && right->type->kind == TYPE_POINTER) {
        const bool same = left->type->target->unqualified == right->type->target->unqualified;
        if (id != '-' || !same)
            return report_operands(c, id, left, right, at);
        return expression_binary(c, EXPRESSION_DIFFERENCE, type_basic(c, TYPE_LONG), left, right);
    }
    const bool integer = type_is_integer(number->type) || (number->type->kind == TYPE_ENUM && !number->type->enumeration->scoped);
    if (!integer || (id == '-' && pointer == right))
        return report_operands(c, id, left, right, at);
    if (pointer->type->target->kind == TYPE_VOID || !type_is_complete(pointer->type->target)) {
        expression_error(c, pointer, "cast it to a pointer to what it points to", "arithmetic with a '%s', whose elements have no size",
                         type_text(c, pointer->type));
        return expression_unknown(c, left->start, right->end);
    }
    Expression *e = expression_binary(c, EXPRESSION_OFFSET, pointer->type, pointer, convert_scalar(c, number, type_promoted(c, number->type)));
    e->subtract = id == '-';
    e->start = left->start;
    e->end = right->end;
    return e;
}

static Type *common_pointer(Compiler *c, Expression *left, Expression *right)
{
    Type *a = left->type, *b = right->type;
    if (expression_is_null_pointer(left) || a->kind == TYPE_NULLPTR)
        return b;
    if (expression_is_null_pointer(right) || b->kind == TYPE_NULLPTR)
        return a;
    if (a->kind != TYPE_POINTER || b->kind != TYPE_POINTER)
        return NULL;
    const uint8_t qualifiers = (a->target->qualifiers | b->target->qualifiers) & ~TYPE_RESTRICT;
    if (a->target->unqualified == b->target->unqualified)
        return type_pointer(c, type_qualified(c, type_bare(a->target), qualifiers));
    if (a->target->kind == TYPE_VOID || b->target->kind == TYPE_VOID)
        return type_pointer(c, type_qualified(c, type_basic(c, TYPE_VOID), qualifiers));
    if (conversion_rank(c, left, b, false) != FITS_NEVER)
        return b;
    return conversion_rank(c, right, a, false) != FITS_NEVER ? a : NULL;
}

static void warn_about_signs(Compiler *c, ExpressionKind kind, Expression *left, Expression *right)
{
    const Expression *constant = right->kind == EXPRESSION_CONSTANT ? right : NULL;
    if (!constant || !type_is_integer(left->type) || type_is_signed(left->type) || left->type->kind == TYPE_BOOL ||
        !type_is_integer(constant->type) || constant->constant.integer != 0 || left->kind == EXPRESSION_CONSTANT)
        return;
    const SourceFile *file = source_file_at(c, left->start);
    if (file && file->built_in)
        return;
    if (kind == EXPRESSION_GREATER_EQUAL && !c->instantiation)
        source_warning(c, left->start, right->end - left->start, "compare before subtracting, or use a signed type",
                       "an unsigned value is never negative: this is always true");
    else if (kind == EXPRESSION_LESS && !c->instantiation)
        source_warning(c, left->start, right->end - left->start, "use a signed type if it may be negative",
                       "an unsigned value is never negative: this is always false");
}

static Expression *comparison(Compiler *c, ExpressionKind kind, uint16_t id, Expression *left, Expression *right, Position at)
{
    Type *type = NULL, *result = type_basic(c, TYPE_BOOL);
    if (is_number(left->type) && is_number(right->type)) {
        type = type_common(c, type_integer_of(left->type), type_integer_of(right->type));
        warn_about_signs(c, kind, left, right);
    } else if (left->type->kind == TYPE_ENUM && left->type == right->type) {
        type = left->type->target;
    } else if (left->type->kind == TYPE_POINTER || right->type->kind == TYPE_POINTER || left->type->kind == TYPE_NULLPTR) {
        type = common_pointer(c, left, right);
    }
    if (!type)
        return report_operands(c, id, left, right, at);
    return folded(c, expression_binary(c, kind, result, convert_scalar(c, left, type), convert_scalar(c, right, type)));
}

static Expression *logical(Compiler *c, ExpressionKind kind, Expression *left, Expression *right)
{
    const char *what = kind == EXPRESSION_LOGICAL_AND ? "an operand of '&&'" : "an operand of '||'";
    left = convert_to_condition(c, left, what);
    right = convert_to_condition(c, right, what);
    if (expression_is_unknown(left) || expression_is_unknown(right)) {
        const Expression *known = expression_is_unknown(left) ? right : left; // false && unknown is false
        const bool decides = kind == EXPRESSION_LOGICAL_OR;
        if (known->kind == EXPRESSION_CONSTANT && (known->constant.integer != 0) == decides)
            return expression_integer(c, type_basic(c, TYPE_BOOL), decides, left->start, right->end);
        return expression_unknown(c, left->start, right->end);
    }
    return folded(c, expression_binary(c, kind, type_basic(c, TYPE_BOOL), left, right));
}

static Expression *shift(Compiler *c, ExpressionKind kind, uint16_t id, Expression *left, Expression *right, Position at)
{
    const bool integers = is_number(left->type) && is_number(right->type) && !type_is_real(left->type) && !type_is_real(right->type);
    if (!integers)
        return report_operands(c, id, left, right, at);
    Type *type = type_promoted(c, left->type);
    right = convert_scalar(c, right, type_promoted(c, right->type));
    if (right->kind == EXPRESSION_CONSTANT && (uint64_t)right->constant.integer >= 8 * type->size)
        source_warning(c, right->start, expression_length(right), NULL, "a shift by %lld bits of a '%s' of %llu bits is undefined",
                       (long long)right->constant.integer, type_text(c, type), (unsigned long long)(8 * type->size));
    return folded(c, expression_binary(c, kind, type, convert_scalar(c, left, type), right));
}

static void warn_about_division(Compiler *c, ExpressionKind kind, const Type *type, const Expression *right)
{
    if ((kind == EXPRESSION_DIVIDE || kind == EXPRESSION_REMAINDER) && right->kind == EXPRESSION_CONSTANT && type_is_integer(type) &&
        type_is_arithmetic(right->type) && !right->constant.is_real && right->constant.integer == 0)
        source_warning(c, right->start, expression_length(right), NULL, "a division by zero is undefined");
}

static Expression *builtin_binary(Compiler *c, uint16_t id, Expression *left, Expression *right, Position at)
{
    const ExpressionKind kind = kind_of(id);
    left = expression_value(c, left);
    right = expression_value(c, right);
    if (expression_is_unknown(left) || expression_is_unknown(right))
        return expression_unknown(c, left->start, right->end);
    if (kind >= EXPRESSION_EQUAL && kind <= EXPRESSION_GREATER_EQUAL)
        return comparison(c, kind, id, left, right, at);
    if (kind == EXPRESSION_SHIFT_LEFT || kind == EXPRESSION_SHIFT_RIGHT)
        return shift(c, kind, id, left, right, at);
    if ((id == '+' || id == '-') && (left->type->kind == TYPE_POINTER || right->type->kind == TYPE_POINTER))
        return pointer_arithmetic(c, id, left, right, at);
    const bool integers_only = kind == EXPRESSION_REMAINDER || kind == EXPRESSION_AND || kind == EXPRESSION_OR || kind == EXPRESSION_XOR;
    if (!is_number(left->type) || !is_number(right->type) ||
        (integers_only && (type_is_real(left->type) || type_is_real(right->type))))
        return report_operands(c, id, left, right, at);
    Type *type = type_common(c, type_integer_of(left->type), type_integer_of(right->type));
    warn_about_division(c, kind, type, right);
    return arithmetic(c, kind, type, left, right);
}

// Converts a record operand to a number by its conversion function, if it has one.
static Expression *without_record(Compiler *c, Expression *e)
{
    Expression *number = e->type->kind == TYPE_RECORD ? convert_to_arithmetic(c, e) : NULL;
    return number ? number : e;
}

static void warn_about_chains(Compiler *c, uint16_t id, const Expression *left, const Expression *right)
{
    const bool ordered = left->kind >= EXPRESSION_LESS && left->kind <= EXPRESSION_GREATER_EQUAL;
    if ((id == '<' || id == ID_LESS_EQUAL || id == '>' || id == ID_GREATER_EQUAL) && ordered && !left->in_parentheses)
        source_warning(c, left->start, right->end - left->start, "write a < b && b < c", "a < b < c compares true or false with c");
    const bool bits = id == '&' || id == '|' || id == '^';
    const Expression *compared = left->kind >= EXPRESSION_EQUAL && left->kind <= EXPRESSION_GREATER_EQUAL && !left->in_parentheses ? left
                                 : right->kind >= EXPRESSION_EQUAL && right->kind <= EXPRESSION_GREATER_EQUAL && !right->in_parentheses ? right : NULL;
    if (bits && compared && type_is_integer(left->type) && type_is_integer(right->type) &&
        !(left->type->kind == TYPE_BOOL && right->type->kind == TYPE_BOOL))
        source_warning(c, compared->start, expression_length(compared), "put the operands of the bit operation in parentheses",
                       "'%s' binds less tightly than the comparison", text_of(id));
}

Expression *build_binary(Compiler *c, uint16_t id, Expression *left, Expression *right, Position at)
{
    if (left->type->kind == TYPE_INITIALISERS || right->type->kind == TYPE_INITIALISERS)
        return report_operands(c, id, left, right, at);
    if (is_user_type(left) || is_user_type(right)) {
        const char *name = compile_format(c, "operator%s", text_of(id));
        Expression *called = build_operator_call(c, name, left, right, left->start, right->end);
        if (called)
            return called;
        left = without_record(c, left);
        right = without_record(c, right);
    }
    if (id == ID_AND || id == ID_OR)
        return logical(c, kind_of(id), left, right);
    warn_about_chains(c, id, left, right);
    Expression *e = builtin_binary(c, id, left, right, at);
    e->start = left->start;
    e->end = right->end;
    return e;
}

// ---- unary operators

Expression *build_unary(Compiler *c, uint16_t id, Expression *e, Position start)
{
    if (is_user_type(e)) {
        Expression *called = build_operator_call(c, compile_format(c, "operator%s", token_id_text(id)), e, NULL, start, e->end);
        if (called)
            return called;
        e = without_record(c, e);
    }
    const Position end = e->end;
    if (id == '!') {
        e = convert_to_condition(c, e, "the operand of '!'");
        if (expression_is_unknown(e))
            return e;
        Expression *not = folded(c, expression_unary(c, EXPRESSION_NOT, type_basic(c, TYPE_BOOL), e));
        not->start = start;
        return not;
    }
    e = expression_value(c, e);
    if (expression_is_unknown(e))
        return e;
    const bool pointer_plus = id == '+' && e->type->kind == TYPE_POINTER;
    if (!pointer_plus && (!is_number(e->type) || (id == '~' && type_is_real(e->type)))) {
        source_error(c, start, 1, NULL, "'%s' has no meaning for '%s'", token_id_text(id), type_text(c, e->type));
        return expression_unknown(c, start, end);
    }
    Type *type = pointer_plus ? e->type : type_promoted(c, e->type);
    e = convert_scalar(c, e, type);
    if (id == '+' && e->kind != EXPRESSION_CONSTANT)
        return e;
    const bool zero_real = id == '-' && e->kind == EXPRESSION_CONSTANT && e->constant.is_real;
    Expression *result = id == '+' ? e
                         : zero_real ? expression_real(c, type, -e->constant.real, start, end)
                                     : folded(c, expression_unary(c, id == '-' ? EXPRESSION_NEGATE : EXPRESSION_COMPLEMENT, type, e));
    result->start = start;
    result->is_zero_literal = false;
    return result;
}

// ---- assignment

static bool report_const(Compiler *c, const Expression *e, const char *verb)
{
    const Name *name = expression_name(e);
    Variable *variable = e->kind == EXPRESSION_VARIABLE ? e->variable : NULL;
    if (!e->is_lvalue || e->is_xvalue) {
        const char *help = e->kind == EXPRESSION_EQUAL || e->kind == EXPRESSION_LOGICAL_AND ? "== compares, = assigns" : NULL;
        expression_error(c, e, help, "cannot %s this: it is a value, not a variable", verb);
        return true;
    }
    if (e->type->kind == TYPE_ARRAY) {
        expression_error(c, e, "assign its elements, one by one", "cannot %s an array as a whole", verb);
        return true;
    }
    if (!(e->type->qualifiers & TYPE_CONST))
        return false;
    if (variable && variable->space == SPACE_CONSTANT)
        expression_error(c, e, "the host copies to it with cudaMemcpyToSymbol", "a kernel cannot %s '%s': it is in constant memory", verb,
                         name->text);
    else if (name)
        expression_error(c, e, NULL, "cannot %s '%s': it is const", verb, name->text);
    else
        expression_error(c, e, e->kind == EXPRESSION_DEREFERENCE ? "the pointer points to const: drop that const if it is meant to be written" : NULL,
                         "cannot %s this: it is const", verb);
    if (variable && variable->position)
        source_note(c, variable->position, name ? name->length : 0, "'%s' is declared here", name ? name->text : "it");
    return true;
}

static Expression *assign(Compiler *c, Expression *left, Expression *right)
{
    Type *type = type_bare(left->type);
    const bool element = type->kind == TYPE_POINTER && type_is_arithmetic(right->type) && type_is_arithmetic(type->target) && !right->is_zero_literal;
    if (element && expression_name(left)) {
        const char *name = expression_name(left)->text;
        expression_error(c, right, compile_format(c, "a pointer is not its element: write %s[i] or *%s", name, name),
                         "cannot convert '%s' to '%s' in an assignment", type_text(c, type_bare(right->type)), type_text(c, type));
        return expression_unknown(c, left->start, right->end);
    }
    right = convert(c, right, type, "an assignment");
    if (expression_is_unknown(right))
        return expression_unknown(c, left->start, right->end);
    Expression *e = expression_binary(c, EXPRESSION_ASSIGN, left->type, left, right);
    e->is_lvalue = true;
    return e;
}

static Expression *compound(Compiler *c, uint16_t id, Expression *left, Expression *right, Position at)
{
    Type *type = type_bare(left->type);
    Expression *value = expression_unary(c, EXPRESSION_LOAD, type, left); // only determines the types
    const char *plain = text_of(id);
    const uint16_t binary_id = id == OPERATOR_SHIFT_RIGHT_ASSIGN ? OPERATOR_SHIFT_RIGHT : id == ID_SHIFT_LEFT_ASSIGN ? ID_SHIFT_LEFT : (uint16_t)plain[0];
    right = type_is_any_reference(right->type) ? right : expression_value(c, without_record(c, right));
    Expression *result = builtin_binary(c, binary_id, value, right, at);
    if (expression_is_unknown(result) || expression_is_unknown(convert(c, result, type, "an assignment")))
        return expression_unknown(c, left->start, right->end);
    if (result->kind == EXPRESSION_OFFSET && type->kind != TYPE_POINTER) // bool += pointer
        return report_operands(c, id, left, right, at);
    Expression *e = expression_new(c, EXPRESSION_COMPOUND, left->type, left->start, right->end);
    e->left = left;
    e->right = result->right;
    e->operation = result->kind;
    e->subtract = result->subtract;
    e->compute = result->kind == EXPRESSION_OFFSET ? type : result->type;
    e->is_lvalue = true;
    if (result->kind == EXPRESSION_CONSTANT || !result->right) { // cannot occur: a load is not folded
        e->operation = EXPRESSION_ADD;
        e->right = right;
    }
    return e;
}

Expression *build_assign(Compiler *c, uint16_t id, Expression *left, Expression *right, Position at)
{
    const bool list = right->type->kind == TYPE_INITIALISERS;
    if (left->type->kind == TYPE_RECORD || (right->type->kind == TYPE_RECORD && id != '=')) {
        if (list && id == '=')
            right = initialise_list(c, type_bare(left->type), right, "an assignment");
        Expression *called = build_operator_call(c, compile_format(c, "operator%s", text_of(id)), left, right, left->start, right->end);
        if (called)
            return called;
    }
    if (expression_is_unknown(left))
        return left;
    if (report_const(c, left, "assign to"))
        return expression_unknown(c, left->start, right->end);
    if (expression_is_unknown(right) && right->kind != EXPRESSION_FUNCTION && !list)
        return expression_unknown(c, left->start, right->end);
    if (id == '=')
        return assign(c, left, right);
    if (left->type->kind == TYPE_RECORD || list)
        return report_operands(c, id, left, right, at);
    return compound(c, id, left, right, at);
}

Expression *build_increment(Compiler *c, Expression *e, bool subtract, bool is_postfix, Position start, Position end)
{
    if (is_user_type(e)) {
        Expression *zero = is_postfix ? expression_integer(c, type_basic(c, TYPE_INT), 0, end, end) : NULL;
        Expression *called = build_operator_call(c, subtract ? "operator--" : "operator++", e, zero, start, end);
        if (called)
            return called;
    }
    if (expression_is_unknown(e))
        return e;
    if (report_const(c, e, subtract ? "decrement" : "increment"))
        return expression_unknown(c, start, end);
    const bool pointer = e->type->kind == TYPE_POINTER && type_is_complete(e->type->target);
    if (!pointer && (!type_is_arithmetic(e->type) || e->type->kind == TYPE_BOOL)) {
        source_error(c, start, end - start, NULL, "'%s' has no meaning for '%s'", subtract ? "--" : "++", type_text(c, e->type));
        return expression_unknown(c, start, end);
    }
    Expression *result = expression_unary(c, EXPRESSION_INCREMENT, is_postfix ? type_bare(e->type) : e->type, e);
    result->subtract = subtract;
    result->is_postfix = is_postfix;
    result->is_lvalue = !is_postfix;
    result->start = start;
    result->end = end;
    return result;
}

// ---- conditionals and commas

static Type *conditional_type(Compiler *c, Expression *if_true, Expression *if_false)
{
    Type *a = if_true->type, *b = if_false->type;
    if (a == b)
        return a;
    if (a->kind == TYPE_RECORD || b->kind == TYPE_RECORD) {
        if (a->unqualified == b->unqualified)
            return type_bare(a);
        if (conversion_rank(c, if_true, type_bare(b), true) != FITS_NEVER)
            return type_bare(b);
        return conversion_rank(c, if_false, type_bare(a), true) != FITS_NEVER ? type_bare(a) : NULL;
    }
    if (is_number(a) && is_number(b))
        return type_common(c, type_integer_of(a), type_integer_of(b));
    return a->kind == TYPE_VOID || b->kind == TYPE_VOID ? NULL : common_pointer(c, if_true, if_false);
}

Expression *build_conditional(Compiler *c, Expression *condition, Expression *if_true, Expression *if_false)
{
    condition = convert_to_condition(c, condition, "the condition of '?:'");
    const bool both_lvalues = if_true->is_lvalue && if_false->is_lvalue && if_true->type == if_false->type;
    if (!both_lvalues && (if_true->type->kind != TYPE_RECORD || if_false->type->kind != TYPE_RECORD)) {
        if_true = expression_value(c, if_true);
        if_false = expression_value(c, if_false);
    }
    if (expression_is_unknown(condition) || expression_is_unknown(if_true) || expression_is_unknown(if_false))
        return expression_unknown(c, condition->start, if_false->end);
    Type *type = conditional_type(c, if_true, if_false);
    if (!type) {
        source_error(c, if_true->start, if_false->end - if_true->start, NULL, "'?:' has no common type of '%s' and '%s'", type_text(c, if_true->type),
                     type_text(c, if_false->type));
        return expression_unknown(c, condition->start, if_false->end);
    }
    if (!both_lvalues && type->kind != TYPE_VOID) {
        if_true = convert(c, if_true, type_bare(type), NULL);
        if_false = convert(c, if_false, type_bare(type), NULL);
    }
    if (condition->kind == EXPRESSION_CONSTANT && !condition->constant.variable) {
        Expression *chosen = compile_new(c, Expression);
        *chosen = condition->constant.integer ? *if_true : *if_false;
        chosen->is_zero_literal = false;
        chosen->start = condition->start;
        chosen->end = if_false->end;
        return chosen;
    }
    Expression *e = expression_binary(c, EXPRESSION_CONDITIONAL, both_lvalues ? type : type_bare(type), if_true, if_false);
    e->condition = condition;
    e->is_lvalue = both_lvalues;
    e->is_xvalue = both_lvalues && (if_true->is_xvalue || if_false->is_xvalue);
    e->start = condition->start;
    return e;
}

Expression *build_comma(Compiler *c, Expression *left, Expression *right)
{
    if (is_user_type(left) || is_user_type(right)) {
        Expression *called = build_operator_call(c, "operator,", left, right, left->start, right->end);
        if (called)
            return called;
    }
    if (expression_is_unknown(left) || expression_is_unknown(right))
        return expression_unknown(c, left->start, right->end);
    Expression *e = expression_binary(c, EXPRESSION_COMMA, right->type, left, right);
    e->is_lvalue = right->is_lvalue;
    e->is_xvalue = right->is_xvalue;
    return e;
}
