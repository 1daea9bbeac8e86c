// simplify_compare.c: comparisons and selections. Constants become the second operand and bounds strict, comparisons of sums and
// conversions become comparisons of their operands, and selections become minima, maxima or logical operations.
#include "compiler/simplify.h"

IrCompare swapped_compare(IrCompare compare)
{
    static const uint8_t swapped[] = {IR_EQUAL, IR_NOT_EQUAL, IR_GREATER, IR_GREATER_EQUAL, IR_LESS, IR_LESS_EQUAL};
    return swapped[compare];
}

IrCompare inverse_compare(IrCompare compare)
{
    static const uint8_t inverse[] = {IR_NOT_EQUAL, IR_EQUAL, IR_GREATER_EQUAL, IR_GREATER, IR_LESS_EQUAL, IR_LESS};
    return inverse[compare];
}

static IrInstruction *build_compare(Simplifier *s, IrInstruction *i, IrCompare compare, IrInstruction *a, IrInstruction *b, uint32_t flags)
{
    return ir_compare(s->module, i, compare, a, b, flags);
}

static IrInstruction *predicate_constant(Simplifier *s, bool value)
{
    return ir_integer(s->module, s->function, IR_PRED, value);
}

static void set_compare(Simplifier *s, IrInstruction *i, IrCompare compare, int64_t constant)
{
    i->compare = compare;
    ir_set_operand(i, 1, ir_integer(s->module, s->function, i->operands[0]->type, constant));
    s->changed = true;
}

// <= c becomes < c + 1, >= c becomes > c - 1, and unsigned > 0 becomes != 0.
static IrInstruction *make_strict(Simplifier *s, IrInstruction *i)
{
    const IrType type = i->operands[0]->type;
    const uint64_t mask = type_mask(type);
    const bool is_signed = i->flags & IR_SIGNED;
    const int64_t c = i->operands[1]->integer;
    const int64_t max = is_signed ? (int64_t)(mask >> 1) : ir_sign_extended(type, (int64_t)mask), min = is_signed ? -(int64_t)(mask >> 1) - 1 : 0;
    if (i->compare == IR_LESS_EQUAL && c == max)
        return predicate_constant(s, true);
    if (i->compare == IR_GREATER_EQUAL && c == min)
        return predicate_constant(s, true);
    if (i->compare == IR_LESS && c == min)
        return predicate_constant(s, false);
    if (i->compare == IR_GREATER && c == max)
        return predicate_constant(s, false);
    if (i->compare == IR_LESS_EQUAL)
        set_compare(s, i, IR_LESS, c + 1);
    else if (i->compare == IR_GREATER_EQUAL)
        set_compare(s, i, IR_GREATER, c - 1);
    else if (i->compare == IR_LESS && c == min + 1)
        set_compare(s, i, IR_EQUAL, min);
    else if (i->compare == IR_GREATER && c == max - 1)
        set_compare(s, i, IR_EQUAL, max);
    else if (i->compare == IR_GREATER && c == min)
        set_compare(s, i, IR_NOT_EQUAL, min);
    else if (i->compare == IR_LESS && c == max)
        set_compare(s, i, IR_NOT_EQUAL, max);
    return NULL;
}

// Decides or simplifies a comparison by the known range of its first operand.
static IrInstruction *decide_by_range(Simplifier *s, IrInstruction *i)
{
    const IrInstruction *a = i->operands[0];
    const int64_t c = i->operands[1]->integer;
    const bool is_signed = i->flags & IR_SIGNED;
    if (is_signed && c < 0 && is_never_negative(a))
        return predicate_constant(s, i->compare == IR_GREATER || i->compare == IR_GREATER_EQUAL || i->compare == IR_NOT_EQUAL);
    if (is_signed && c == 0 && i->compare == IR_GREATER && is_never_negative(a))
        set_compare(s, i, IR_NOT_EQUAL, 0);
    else if (is_signed && c == 1 && i->compare == IR_LESS && is_never_negative(a))
        set_compare(s, i, IR_EQUAL, 0);
    if (is_signed && i->compare != IR_EQUAL && i->compare != IR_NOT_EQUAL)
        return NULL;
    const uint64_t value = unsigned_value(i->operands[1]), max = largest_unsigned(a);
    if (max < value)
        return predicate_constant(s, i->compare == IR_LESS || i->compare == IR_LESS_EQUAL || i->compare == IR_NOT_EQUAL);
    if (max == value && i->compare == IR_GREATER)
        return predicate_constant(s, false);
    if (value & known_zero_bits(a) && (i->compare == IR_EQUAL || i->compare == IR_NOT_EQUAL))
        return predicate_constant(s, i->compare == IR_NOT_EQUAL);
    if (!value && is_never_zero(a) && (i->compare == IR_EQUAL || i->compare == IR_NOT_EQUAL))
        return predicate_constant(s, i->compare == IR_NOT_EQUAL);
    return NULL;
}

// Unsigned x + c < c is x > ~c, and x + c > c - 1 is x < -c. As in LLVM, a loop whose step is its bound is then not counted.
static IrInstruction *compare_wrapping_sum(Simplifier *s, IrInstruction *i)
{
    IrInstruction *a = i->operands[0];
    const uint64_t c = unsigned_value(a->operands[1]), bound = unsigned_value(i->operands[1]);
    if (i->flags & IR_SIGNED)
        return NULL;
    if (i->compare == IR_LESS && bound == c)
        return build_compare(s, i, IR_GREATER, a->operands[0], constant_like(s, a, (int64_t)~c), 0);
    if (i->compare == IR_GREATER && bound == c - 1)
        return build_compare(s, i, IR_LESS, a->operands[0], constant_like(s, a, -(int64_t)c), 0);
    return NULL;
}

// (x + c) < d becomes x < d - c if neither wraps.
static IrInstruction *compare_sum(Simplifier *s, IrInstruction *i)
{
    IrInstruction *a = i->operands[0];
    IrInstruction *wrapping = a->op == IR_ADD && has_constant(a, 1) ? compare_wrapping_sum(s, i) : NULL;
    if (wrapping)
        return wrapping;
    const bool is_equality = i->compare == IR_EQUAL || i->compare == IR_NOT_EQUAL;
    if (a->op != IR_ADD || !has_constant(a, 1) || (is_equality && !ir_has_one_use(a)) || (!is_equality && !((i->flags & IR_SIGNED) && (a->flags & IR_NO_WRAP))))
        return NULL;
    int64_t difference;
    if (__builtin_sub_overflow(i->operands[1]->integer, a->operands[1]->integer, &difference))
        return NULL;
    if (!is_equality && ir_sign_extended(a->type, difference) != difference)
        return NULL;
    return build_compare(s, i, i->compare, a->operands[0], constant_like(s, a, difference), i->flags);
}

static IrInstruction *compare_shift(Simplifier *s, IrInstruction *i)
{
    IrInstruction *a = i->operands[0];
    const int64_t c = i->operands[1]->integer;
    if (!has_constant(a, 1) || unsigned_value(a->operands[1]) >= ir_bits(a->type))
        return NULL;
    const uint32_t count = (uint32_t)unsigned_value(a->operands[1]);
    const bool is_equality = i->compare == IR_EQUAL || i->compare == IR_NOT_EQUAL;
    if (a->op == IR_SHL && (a->flags & IR_NO_WRAP) && c == 0 && (is_equality || (i->flags & IR_SIGNED)))
        return build_compare(s, i, i->compare, a->operands[0], constant_like(s, a, 0), i->flags);
    if (a->op == IR_SHL && (a->flags & IR_NO_WRAP) && (i->flags & IR_SIGNED) && i->compare == IR_GREATER)
        return build_compare(s, i, IR_GREATER, a->operands[0], constant_like(s, a, c >> count), IR_SIGNED);
    if (a->op == IR_SHL && (a->flags & IR_NO_WRAP) && (i->flags & IR_SIGNED) && i->compare == IR_LESS && c != INT64_MIN)
        return build_compare(s, i, IR_LESS, a->operands[0], constant_like(s, a, ((c - 1) >> count) + 1), IR_SIGNED);
    if (a->op == IR_SHL && is_equality && c == 0 && ir_has_one_use(a)) {
        IrInstruction *low = build_simplified(s, i, IR_AND, a->operands[0], constant_like(s, a, (int64_t)(type_mask(a->type) >> count)), 0);
        return build_compare(s, i, i->compare, low, constant_like(s, a, 0), 0);
    }
    if (a->op != IR_SHR || (is_equality && !ir_has_one_use(a)) || (a->flags & IR_SIGNED) || ((i->flags & IR_SIGNED) && (!count || c < 0)))
        return NULL;
    const uint64_t value = unsigned_value(i->operands[1]);
    if (value > type_mask(a->type) >> count)
        return NULL;
    if (i->compare == IR_EQUAL && !value) // x >> c == 0: x < 1 << c
        return build_compare(s, i, IR_LESS, a->operands[0], constant_like(s, a, (int64_t)(1ull << count)), 0);
    if (i->compare == IR_NOT_EQUAL && !value)
        return build_compare(s, i, IR_GREATER, a->operands[0], constant_like(s, a, (int64_t)((1ull << count) - 1)), 0);
    if (i->compare == IR_LESS)
        return build_compare(s, i, IR_LESS, a->operands[0], constant_like(s, a, (int64_t)(value << count)), 0);
    if (i->compare == IR_GREATER)
        return build_compare(s, i, IR_GREATER, a->operands[0], constant_like(s, a, (int64_t)(value << count | ((1ull << count) - 1))), 0);
    return NULL;
}

// Compares the operand of a widening conversion instead of its result, if the constant fits the narrower type.
static IrInstruction *compare_conversion(Simplifier *s, IrInstruction *i)
{
    const IrInstruction *a = i->operands[0];
    IrInstruction *inner = a->operands[0];
    const int64_t c = i->operands[1]->integer;
    if (ir_is_float_type(inner->type))
        return NULL;
    if (inner->type == IR_PRED && c == 0 && (i->compare == IR_NOT_EQUAL || i->compare == IR_EQUAL))
        return i->compare == IR_NOT_EQUAL ? inner : ir_insert_before(s->module, i, IR_NOT, IR_PRED, 1, &inner);
    if (inner->type == IR_PRED && c == 1 && !(a->flags & IR_SIGNED) && (i->compare == IR_NOT_EQUAL || i->compare == IR_EQUAL))
        return i->compare == IR_EQUAL ? inner : ir_insert_before(s->module, i, IR_NOT, IR_PRED, 1, &inner);
    if (inner->type == IR_PRED || ir_bits(inner->type) < 32 || ir_bits(inner->type) >= ir_bits(a->type))
        return NULL;
    IrInstruction *narrow = ir_integer(s->module, s->function, inner->type, c);
    const bool fits = a->flags & IR_SIGNED ? narrow->integer == c : (uint64_t)c <= type_mask(inner->type);
    if (!fits)
        return NULL;
    // Sign extension preserves both orders; zero-extended values are not negative, so their comparison becomes unsigned.
    const uint32_t flags = a->flags & IR_SIGNED ? i->flags : i->flags & ~(uint32_t)IR_SIGNED;
    return build_compare(s, i, i->compare, inner, narrow, flags);
}

static IrInstruction *compare_with_constant(Simplifier *s, IrInstruction *i)
{
    IrInstruction *a = i->operands[0];
    IrInstruction *decided = make_strict(s, i);
    if (!decided)
        decided = decide_by_range(s, i);
    if (decided)
        return decided;
    const bool is_equality = i->compare == IR_EQUAL || i->compare == IR_NOT_EQUAL;
    switch (a->op) {
    case IR_ADD:
        return compare_sum(s, i);
    case IR_SHL:
    case IR_SHR:
        return compare_shift(s, i);
    case IR_CONVERT:
        return compare_conversion(s, i);
    case IR_SUB:
        if (is_equality && i->operands[1]->integer == 0)
            return build_compare(s, i, i->compare, a->operands[0], a->operands[1], 0);
        return NULL;
    case IR_AND: // of the sign bit
        if (is_equality && i->operands[1]->integer == 0 && ir_has_one_use(a) && has_constant(a, 1) && unsigned_value(a->operands[1]) == 1ull << (ir_bits(a->type) - 1))
            return build_compare(s, i, i->compare == IR_EQUAL ? IR_GREATER : IR_LESS, a->operands[0], constant_like(s, a, i->compare == IR_EQUAL ? -1 : 0), IR_SIGNED);
        return NULL;
    case IR_XOR:
        if (is_equality && i->operands[1]->integer == 0)
            return build_compare(s, i, i->compare, a->operands[0], a->operands[1], 0);
        return NULL;
    case IR_NEG:
        if (is_equality && i->operands[1]->integer == 0)
            return build_compare(s, i, i->compare, a->operands[0], i->operands[1], 0);
        return NULL;
    case IR_REM: { // whether 2^k divides x does not depend on the sign of x
        const int power = power_of_two(a->operands[1]);
        if (!is_equality || i->operands[1]->integer != 0 || power <= 0 || !ir_has_one_use(a))
            return NULL;
        IrInstruction *low = build_simplified(s, i, IR_AND, a->operands[0], constant_like(s, a, (int64_t)((1ull << power) - 1)), 0);
        return build_compare(s, i, i->compare, low, i->operands[1], 0);
    }
    case IR_DIV: // unsigned: x / c < d is x < c * d
        if (!(a->flags & IR_SIGNED) && !(i->flags & IR_SIGNED) && has_constant(a, 1) && i->compare == IR_LESS) {
            uint64_t product;
            if (!__builtin_mul_overflow(unsigned_value(a->operands[1]), unsigned_value(i->operands[1]), &product) && product <= type_mask(a->type))
                return build_compare(s, i, IR_LESS, a->operands[0], constant_like(s, a, (int64_t)product), 0);
        }
        return NULL;
    case IR_SELECT: // a selection of two constants
        if (has_constant(a, 1) && has_constant(a, 2)) {
            const bool is_signed = i->flags & IR_SIGNED;
            const bool first = fold_compare(i->compare, is_signed, a->type, a->operands[1]->integer, i->operands[1]->integer);
            const bool second = fold_compare(i->compare, is_signed, a->type, a->operands[2]->integer, i->operands[1]->integer);
            if (first == second)
                return predicate_constant(s, first);
            return first ? a->operands[0] : ir_insert_before(s->module, i, IR_NOT, IR_PRED, 1, &a->operands[0]);
        }
        return NULL;
    default:
        return NULL;
    }
}

static bool is_constant_integer(const IrInstruction *value, int64_t integer)
{
    return value->op == IR_INTEGER && value->integer == integer;
}

// The predicate that an integer of 1 or 0 represents, or NULL.
static IrInstruction *predicate_of(const IrInstruction *value)
{
    if (value->op == IR_CONVERT && !(value->flags & IR_SIGNED) && value->operands[0]->type == IR_PRED)
        return value->operands[0];
    const bool is_selection = value->op == IR_SELECT && is_constant_integer(value->operands[1], 1) && is_constant_integer(value->operands[2], 0);
    return is_selection ? value->operands[0] : NULL;
}

static IrInstruction *compare_without_constant(Simplifier *s, IrInstruction *i)
{
    IrInstruction *a = i->operands[0], *b = i->operands[1];
    const bool is_equality = i->compare == IR_EQUAL || i->compare == IR_NOT_EQUAL;
    IrInstruction *first = predicate_of(a), *second = predicate_of(b);
    if (is_equality && first && second)
        return ir_compare(s->module, i, i->compare, first, second, 0);
    if (a == b)
        return predicate_constant(s, i->compare == IR_EQUAL || i->compare == IR_LESS_EQUAL || i->compare == IR_GREATER_EQUAL);
    if (a->op == IR_CONVERT && b->op == IR_CONVERT && a->operands[0]->type == b->operands[0]->type && !ir_is_float_type(a->operands[0]->type) &&
        ir_bits(a->operands[0]->type) >= 32 && ir_bits(a->type) > ir_bits(a->operands[0]->type) && !((a->flags ^ b->flags) & IR_SIGNED))
        return build_compare(s, i, i->compare, a->operands[0], b->operands[0], a->flags & IR_SIGNED ? i->flags : i->flags & ~(uint32_t)IR_SIGNED);
    const bool is_signed = i->flags & IR_SIGNED;
    if (a->op == IR_ADD && a->operands[0] == b && (is_equality || (is_signed && a->flags & IR_NO_WRAP)))
        return build_compare(s, i, i->compare, a->operands[1], constant_like(s, a, 0), i->flags);
    if (b->op == IR_ADD && b->operands[0] == a && (is_equality || (is_signed && b->flags & IR_NO_WRAP)))
        return build_compare(s, i, i->compare, constant_like(s, b, 0), b->operands[1], i->flags);
    if (a->op == IR_ADD && b->op == IR_ADD && a->operands[0] == b->operands[0] &&
        (is_equality || ((i->flags & IR_SIGNED) && (a->flags & b->flags & IR_NO_WRAP))))
        return build_compare(s, i, i->compare, a->operands[1], b->operands[1], i->flags);
    return NULL;
}

static IrInstruction *compare_predicates(Simplifier *s, IrInstruction *i)
{
    IrInstruction *a = i->operands[0];
    if (!has_constant(i, 1) || (i->compare != IR_EQUAL && i->compare != IR_NOT_EQUAL))
        return NULL;
    if ((i->compare == IR_NOT_EQUAL) == !(i->operands[1]->integer & 1))
        return a;
    return ir_insert_before(s->module, i, IR_NOT, IR_PRED, 1, &a);
}

IrInstruction *simplify_compare(Simplifier *s, IrInstruction *i)
{
    if (ir_is_constant(i->operands[0]) && !ir_is_constant(i->operands[1])) {
        IrInstruction *first = i->operands[0];
        ir_set_operand(i, 0, i->operands[1]);
        ir_set_operand(i, 1, first);
        i->compare = swapped_compare(i->compare);
        s->changed = true;
    }
    const IrType type = i->operands[0]->type;
    if (ir_is_float_type(type))
        return NULL;
    if (type == IR_PRED)
        return compare_predicates(s, i);
    return has_constant(i, 1) ? compare_with_constant(s, i) : compare_without_constant(s, i);
}

// ---- Selections

static bool is_constant_predicate(const IrInstruction *value, bool is_true)
{
    return value->op == IR_INTEGER && (value->integer != 0) == is_true;
}

static IrInstruction *select_predicates(Simplifier *s, IrInstruction *i)
{
    IrInstruction *c = i->operands[0], *a = i->operands[1], *b = i->operands[2];
    if (is_constant_predicate(a, true) && is_constant_predicate(b, false))
        return c;
    if (is_constant_predicate(a, false) && is_constant_predicate(b, true))
        return ir_insert_before(s->module, i, IR_NOT, IR_PRED, 1, &c);
    if (is_constant_predicate(a, true))
        return build_simplified(s, i, IR_OR, c, b, 0);
    if (is_constant_predicate(b, false))
        return build_simplified(s, i, IR_AND, c, a, 0);
    if (is_constant_predicate(a, false))
        return build_simplified(s, i, IR_AND, ir_insert_before(s->module, i, IR_NOT, IR_PRED, 1, &c), b, 0);
    if (is_constant_predicate(b, true))
        return build_simplified(s, i, IR_OR, ir_insert_before(s->module, i, IR_NOT, IR_PRED, 1, &c), a, 0);
    return NULL;
}

// a < b ? a : b
static IrInstruction *select_extreme(Simplifier *s, IrInstruction *i)
{
    const IrInstruction *c = i->operands[0];
    IrInstruction *a = i->operands[1], *b = i->operands[2];
    if (c->op != IR_COMPARE || ir_is_float_type(i->type) || i->type == IR_PRED || ir_bits(i->type) < 32 || i->space)
        return NULL;
    IrCompare compare = c->compare;
    if (compare == IR_EQUAL || compare == IR_NOT_EQUAL)
        return NULL;
    if (c->operands[0] == b && c->operands[1] == a)
        compare = swapped_compare(compare);
    else if (c->operands[0] != a || c->operands[1] != b)
        return NULL;
    const bool is_min = compare == IR_LESS || compare == IR_LESS_EQUAL;
    return build_simplified(s, i, is_min ? IR_MIN : IR_MAX, a, b, c->flags & IR_SIGNED);
}

// x < c ? x : c - 1 and similar forms, which result from strict bounds
static IrInstruction *select_bounded(Simplifier *s, IrInstruction *i)
{
    const IrInstruction *c = i->operands[0];
    IrInstruction *a = i->operands[1], *b = i->operands[2];
    if (c->op != IR_COMPARE || ir_is_float_type(i->type) || i->type == IR_PRED || ir_bits(i->type) < 32 || !has_constant(c, 1))
        return NULL;
    IrCompare compare = c->compare;
    if (c->operands[0] == b && a->op == IR_INTEGER) {
        IrInstruction *swapped = a;
        a = b;
        b = swapped;
        compare = inverse_compare(compare);
    }
    if (c->operands[0] != a || b->op != IR_INTEGER)
        return NULL;
    const int64_t bound = c->operands[1]->integer, other = b->integer;
    const bool is_one_less = bound != INT64_MIN && other == bound - 1, is_one_more = bound != INT64_MAX && other == bound + 1;
    const bool crosses_zero = !(c->flags & IR_SIGNED) && (bound == 0 || bound == -1) && (other == 0 || other == -1) && bound != other;
    const bool is_min = other == bound ? compare == IR_LESS || compare == IR_LESS_EQUAL
                                       : (compare == IR_LESS && is_one_less) || (compare == IR_LESS_EQUAL && is_one_more);
    const bool is_max = other == bound ? compare == IR_GREATER || compare == IR_GREATER_EQUAL
                                       : (compare == IR_GREATER && is_one_more) || (compare == IR_GREATER_EQUAL && is_one_less);
    if (crosses_zero || (!is_min && !is_max))
        return NULL;
    return build_simplified(s, i, is_min ? IR_MIN : IR_MAX, a, b, c->flags & IR_SIGNED);
}

// The operand that makes the operation return its first operand; *exists: whether there is one.
static int64_t identity_of(IrOp op, bool *exists)
{
    *exists = op == IR_ADD || op == IR_SUB || op == IR_OR || op == IR_XOR || op == IR_SHL || op == IR_SHR || op == IR_AND || op == IR_MUL;
    return op == IR_AND ? -1 : op == IR_MUL;
}

// c ? x + y : x becomes x + (c ? y : 0), and c ? x : ~x becomes x ^ (c ? 0 : -1) (LLVM: foldSelectIntoOp).
static IrInstruction *select_operand(Simplifier *s, IrInstruction *i)
{
    for (uint32_t k = 1; k <= 2; k++) {
        IrInstruction *changed = i->operands[k], *x = i->operands[3 - k];
        const bool is_not = changed->op == IR_NOT;
        bool exists;
        const IrOp op = is_not ? IR_XOR : (IrOp)changed->op;
        const int64_t identity = identity_of(op, &exists);
        if (!exists || !ir_has_one_use(changed) || ir_is_constant(x) || (i->type != IR_B32 && i->type != IR_B64))
            continue;
        const bool commutes = op != IR_SUB && op != IR_SHL && op != IR_SHR && !is_not, is_second = commutes && changed->operands[1] == x;
        if (changed->operands[is_second] != x)
            continue;
        IrInstruction *y = is_not ? constant_like(s, i, -1) : changed->operands[!is_second];
        if (y->op == IR_INTEGER && y->integer != 1 && y->integer != -1)
            continue;
        IrInstruction *unchanged = ir_integer(s->module, s->function, y->type, identity);
        IrInstruction *chosen = ir_select(s->module, i, i->operands[0], k == 1 ? y : unchanged, k == 1 ? unchanged : y);
        return build_simplified(s, i, op, x, chosen, changed->flags & IR_SIGNED);
    }
    return NULL;
}

bool is_lowest_bit(const IrInstruction *condition, IrType type)
{
    if (condition->op != IR_COMPARE || condition->compare != IR_NOT_EQUAL || !is_constant_integer(condition->operands[1], 0))
        return false;
    const IrInstruction *bit = condition->operands[0];
    return bit->type == type && bit->op == IR_AND && is_constant_integer(bit->operands[1], 1);
}

IrInstruction *simplify_select(Simplifier *s, IrInstruction *i)
{
    IrInstruction *c = i->operands[0], *a = i->operands[1], *b = i->operands[2];
    if (a == b || b->op == IR_UNDEFINED)
        return a;
    if (a->op == IR_UNDEFINED)
        return b;
    if (c->op == IR_INTEGER)
        return c->integer ? a : b;
    if (c->op == IR_NOT) {
        ir_set_operand(i, 0, c->operands[0]);
        ir_set_operand(i, 1, b);
        ir_set_operand(i, 2, a);
        s->changed = true;
        return NULL;
    }
    if (i->type == IR_PRED)
        return select_predicates(s, i);
    if (is_lowest_bit(c, i->type) && is_constant_integer(a, 1) && is_constant_integer(b, 0)) // (x & 1) != 0 ? 1 : 0
        return c->operands[0];
    if (a->op == IR_SELECT && a->operands[0] == c)
        return ir_select(s->module, i, c, a->operands[1], b);
    if (b->op == IR_SELECT && b->operands[0] == c)
        return ir_select(s->module, i, c, a, b->operands[2]);
    IrInstruction *extreme = select_extreme(s, i);
    if (!extreme)
        extreme = select_bounded(s, i);
    return extreme ? extreme : select_operand(s, i);
}
