// simplify_integer.c: algebraic identities of integers. Constants become the second operand, the constants of nested sums are
// combined, and multiplications and unsigned divisions by powers of two become shifts and masks, as in LLVM's instcombine.
#include "compiler/simplify.h"

static bool is_commutative(const IrInstruction *i)
{
    switch (i->op) {
    case IR_ADD: case IR_MUL: case IR_AND: case IR_OR: case IR_XOR: case IR_MIN: case IR_MAX: case IR_MUL_HIGH: case IR_MUL_WIDE:
        return true;
    default:
        return false;
    }
}

static void swap_operands(Simplifier *s, IrInstruction *i)
{
    IrInstruction *first = i->operands[0];
    ir_set_operand(i, 0, i->operands[1]);
    ir_set_operand(i, 1, first);
    s->changed = true;
}

// Whether the instruction and its first operand are the same operation, each with a constant.
static bool has_inner_constant(const IrInstruction *i)
{
    const IrInstruction *inner = i->operands[0];
    return has_constant(i, 1) && inner->op == i->op && inner->type == i->type && has_constant(inner, 1);
}

// IR_NO_WRAP if neither the sum, nor its inner sum, nor the sum of their constants wraps.
static uint32_t combined_flags(const IrInstruction *i, const IrInstruction *inner)
{
    int64_t sum;
    const int64_t a = i->operands[1]->integer, b = inner->operands[1]->integer;
    const bool fits = !__builtin_add_overflow(a, b, &sum) && ir_sign_extended(i->type, sum) == sum && (a < 0) == (b < 0);
    return fits ? i->flags & inner->flags & IR_NO_WRAP : 0;
}

static IrInstruction *simplify_add(Simplifier *s, IrInstruction *i)
{
    IrInstruction *a = i->operands[0], *b = i->operands[1];
    if (has_constant(i, 1) && b->integer == 0)
        return a;
    if (has_inner_constant(i))
        return build_simplified(s, i, IR_ADD, a->operands[0], constant_like(s, i, (int64_t)((uint64_t)a->operands[1]->integer + (uint64_t)b->integer)),
                    combined_flags(i, a));
    if (a->op == IR_NEG)
        return build_simplified(s, i, IR_SUB, b, a->operands[0], 0);
    if (b->op == IR_NEG)
        return build_simplified(s, i, IR_SUB, a, b->operands[0], 0);
    if (a->op == IR_SUB && a->operands[1] == b)
        return a->operands[0];
    if (b->op == IR_SUB && b->operands[1] == a)
        return b->operands[0];
    if (a->op == IR_NOT && has_constant(i, 1) && b->integer == 1)
        return ir_insert_before(s->module, i, IR_NEG, i->type, 1, &a->operands[0]);
    if (has_constant(i, 1) && a->op == IR_SUB && has_constant(a, 0)) // (c - x) + d
        return build_simplified(s, i, IR_SUB, constant_like(s, i, (int64_t)((uint64_t)a->operands[0]->integer + (uint64_t)b->integer)), a->operands[1], 0);
    if (a == b)
        return build_simplified(s, i, IR_SHL, a, ir_integer(s->module, s->function, IR_B32, 1), i->flags & IR_NO_WRAP);
    if (has_constant(i, 1) && a->op == IR_SELECT && ir_has_one_use(a) && has_constant(a, 1) && has_constant(a, 2)) // (p ? c : d) + e
        return ir_select(s->module, i, a->operands[0], constant_like(s, i, (int64_t)((uint64_t)a->operands[1]->integer + (uint64_t)b->integer)),
                         constant_like(s, i, (int64_t)((uint64_t)a->operands[2]->integer + (uint64_t)b->integer)));
    return NULL;
}

static IrInstruction *simplify_sub(Simplifier *s, IrInstruction *i)
{
    IrInstruction *a = i->operands[0], *b = i->operands[1];
    if (a == b)
        return constant_like(s, i, 0);
    if (has_constant(i, 1)) {
        const bool can_negate = ir_sign_extended(i->type, (int64_t)-(uint64_t)b->integer) != b->integer || b->integer == 0;
        return build_simplified(s, i, IR_ADD, a, constant_like(s, i, (int64_t)-(uint64_t)b->integer), can_negate ? i->flags & IR_NO_WRAP : 0);
    }
    if (has_constant(i, 0) && a->integer == 0) {
        IrInstruction *negated = ir_insert_before(s->module, i, IR_NEG, i->type, 1, &b);
        negated->flags = i->flags & IR_NO_WRAP;
        return negated;
    }
    if (has_constant(i, 0) && a->integer == -1)
        return ir_insert_before(s->module, i, IR_NOT, i->type, 1, &b);
    if (a->op == IR_ADD && a->operands[0] == b)
        return a->operands[1];
    if (a->op == IR_ADD && a->operands[1] == b)
        return a->operands[0];
    if (b->op == IR_ADD && b->operands[0] == a)
        return ir_insert_before(s->module, i, IR_NEG, i->type, 1, &b->operands[1]);
    if (b->op == IR_ADD && b->operands[1] == a)
        return ir_insert_before(s->module, i, IR_NEG, i->type, 1, &b->operands[0]);
    if (b->op == IR_NEG)
        return build_simplified(s, i, IR_ADD, a, b->operands[0], 0);
    if (b->op == IR_SUB && ir_has_one_use(b))
        return build_simplified(s, i, IR_SUB, build_simplified(s, i, IR_ADD, a, b->operands[1], 0), b->operands[0], 0);
    if (has_constant(i, 0) && b->op == IR_ADD && has_constant(b, 1)) // c - (x + d)
        return build_simplified(s, i, IR_SUB, constant_like(s, i, (int64_t)((uint64_t)a->integer - (uint64_t)b->operands[1]->integer)), b->operands[0], 0);
    if (has_constant(i, 0) && b->op == IR_SUB && has_constant(b, 0)) // c - (d - x)
        return build_simplified(s, i, IR_ADD, b->operands[1], constant_like(s, i, (int64_t)((uint64_t)a->integer - (uint64_t)b->operands[0]->integer)), 0);
    return NULL;
}

static IrInstruction *simplify_mul(Simplifier *s, IrInstruction *i)
{
    IrInstruction *a = i->operands[0], *b = i->operands[1];
    if (!has_constant(i, 1))
        return NULL;
    if (b->integer == 0)
        return b;
    if (b->integer == 1)
        return a;
    if (b->integer == -1)
        return ir_insert_before(s->module, i, IR_NEG, i->type, 1, &a);
    const int power = power_of_two(b);
    if (power > 0 && i->type != IR_PRED) {
        const bool keeps_no_wrap = (uint32_t)power < ir_bits(i->type) - 1;
        return build_simplified(s, i, IR_SHL, a, ir_integer(s->module, s->function, IR_B32, power), keeps_no_wrap ? i->flags & IR_NO_WRAP : 0);
    }
    if (has_inner_constant(i))
        return build_simplified(s, i, IR_MUL, a->operands[0], constant_like(s, i, (int64_t)((uint64_t)a->operands[1]->integer * (uint64_t)b->integer)), 0);
    if (a->op == IR_SHL && has_constant(a, 1) && unsigned_value(a->operands[1]) < 31)
        return build_simplified(s, i, IR_MUL, a->operands[0], constant_like(s, i, (int64_t)((uint64_t)b->integer << unsigned_value(a->operands[1]))),
                    i->flags & a->flags & IR_NO_WRAP);
    if (a->op == IR_ADD && has_constant(a, 1) && ir_has_one_use(a)) // (x + c) * d
        return build_simplified(s, i, IR_ADD, build_simplified(s, i, IR_MUL, a->operands[0], b, i->flags & a->flags & IR_NO_WRAP),
                    constant_like(s, i, (int64_t)((uint64_t)a->operands[1]->integer * (uint64_t)b->integer)), i->flags & a->flags & IR_NO_WRAP);
    return NULL;
}

// Divides by a power of two. Signed division rounds towards zero, so a bias is added to negative dividends first.
static IrInstruction *divide_by_power(Simplifier *s, IrInstruction *i, uint32_t power)
{
    IrInstruction *a = i->operands[0];
    const uint32_t bits = ir_bits(i->type);
    IrInstruction *count = ir_integer(s->module, s->function, IR_B32, power), *mask = constant_like(s, i, (int64_t)((1ull << power) - 1));
    if (!(i->flags & IR_SIGNED) || is_never_negative(a))
        return i->op == IR_DIV ? build_simplified(s, i, IR_SHR, a, count, 0) : build_simplified(s, i, IR_AND, a, mask, 0);
    if (!s->is_late)
        return NULL;
    IrInstruction *sign = build_simplified(s, i, IR_SHR, a, ir_integer(s->module, s->function, IR_B32, bits - 1), IR_SIGNED);
    IrInstruction *bias = build_simplified(s, i, IR_SHR, sign, ir_integer(s->module, s->function, IR_B32, bits - power), 0);
    IrInstruction *biased = build_simplified(s, i, IR_ADD, a, bias, 0);
    if (i->op == IR_DIV)
        return build_simplified(s, i, IR_SHR, biased, count, IR_SIGNED);
    return build_simplified(s, i, IR_SUB, a, build_simplified(s, i, IR_AND, biased, constant_like(s, i, ~(int64_t)((1ull << power) - 1)), 0), 0);
}

static IrInstruction *simplify_division(Simplifier *s, IrInstruction *i)
{
    IrInstruction *a = i->operands[0], *b = i->operands[1];
    if (has_constant(i, 0) && a->integer == 0)
        return a;
    if (!has_constant(i, 1)) {
        if (!(i->flags & IR_SIGNED) && b->op == IR_SHL && has_constant(b, 0) && b->operands[0]->integer == 1 && i->op == IR_DIV)
            return build_simplified(s, i, IR_SHR, a, b->operands[1], 0);
        if ((i->flags & IR_SIGNED) && is_never_negative(a) && is_never_negative(b))
            i->flags &= ~IR_SIGNED, s->changed = true;
        return NULL;
    }
    if (b->integer == 1)
        return i->op == IR_DIV ? a : constant_like(s, i, 0);
    const int power = power_of_two(b);
    if (power > 0 && ((uint32_t)power < ir_bits(i->type) - 1 || !(i->flags & IR_SIGNED)))
        return divide_by_power(s, i, (uint32_t)power);
    if ((i->flags & IR_SIGNED) && b->integer > 0 && is_never_negative(a))
        i->flags &= ~IR_SIGNED, s->changed = true;
    if (!(i->flags & IR_SIGNED) && largest_unsigned(a) < unsigned_value(b))
        return i->op == IR_DIV ? constant_like(s, i, 0) : a;
    return NULL;
}

// An operand of `or` that has none of the bits in `mask` is left out of it: the other one, or NULL.
static IrInstruction *needed_operand(const IrInstruction *either, uint64_t mask)
{
    for (uint32_t k = 0; either->op == IR_OR && k < 2; k++)
        if (!(mask & ~known_zero_bits(either->operands[k])))
            return either->operands[!k];
    return NULL;
}

// Operates on the predicates that both operands extend.
static IrInstruction *combine_predicates(Simplifier *s, IrInstruction *i)
{
    const IrInstruction *a = i->operands[0], *b = i->operands[1];
    if (a->op != IR_CONVERT || b->op != IR_CONVERT || a->operands[0]->type != IR_PRED || b->operands[0]->type != IR_PRED || ((a->flags | b->flags) & IR_SIGNED))
        return NULL;
    return ir_convert(s->module, i, i->type, build_simplified(s, i, i->op, a->operands[0], b->operands[0], 0), 0);
}

static IrInstruction *simplify_and(Simplifier *s, IrInstruction *i)
{
    IrInstruction *a = i->operands[0], *b = i->operands[1];
    if (a == b)
        return a;
    if (has_constant(i, 1)) {
        const uint64_t mask = unsigned_value(b), zeros = known_zero_bits(a);
        if (!mask || !(mask & ~zeros))
            return constant_like(s, i, 0);
        if (!(~zeros & ~mask)) // the mask clears nothing
            return a;
        if (has_inner_constant(i))
            return build_simplified(s, i, IR_AND, a->operands[0], constant_like(s, i, a->operands[1]->integer & b->integer), 0);
        const uint64_t low = a->op == IR_ADD && has_constant(a, 1) ? known_zero_bits(a->operands[0]) : 0;
        if (low && mask <= (low & ~(low + 1))) // the constant alone sets these bits
            return constant_like(s, i, a->operands[1]->integer & b->integer);
        const bool is_low = !(mask & (mask + 1)) && a->op == IR_ADD && has_constant(a, 1);
        if (is_low && !(unsigned_value(a->operands[1]) & mask)) // x + c has the low bits of x
            return build_simplified(s, i, IR_AND, a->operands[0], b, 0);
        const IrInstruction *masked = is_low && ir_has_one_use(a) ? a->operands[0] : NULL;
        if (masked && masked->op == IR_AND && has_constant(masked, 1) && !(mask & ~unsigned_value(masked->operands[1]))) // (x & d) + c
            return build_simplified(s, i, IR_AND, build_simplified(s, i, IR_ADD, masked->operands[0], a->operands[1], 0), b, 0);
        IrInstruction *needed = i->type != IR_PRED ? needed_operand(a, mask) : NULL;
        if (needed)
            return build_simplified(s, i, IR_AND, needed, b, 0);
    }
    if (i->type == IR_PRED && ((a->op == IR_NOT && a->operands[0] == b) || (b->op == IR_NOT && b->operands[0] == a)))
        return constant_like(s, i, 0);
    if (a->op == IR_OR && (a->operands[0] == b || a->operands[1] == b))
        return b;
    if (b->op == IR_OR && (b->operands[0] == a || b->operands[1] == a))
        return a;
    if (a->op == IR_AND && (a->operands[0] == b || a->operands[1] == b))
        return a;
    if (b->op == IR_AND && (b->operands[0] == a || b->operands[1] == a))
        return b;
    return combine_predicates(s, i);
}

// Rotations such as x << k | x >> (width - k) are kept.
static IrInstruction *simplify_or(Simplifier *s, IrInstruction *i)
{
    IrInstruction *a = i->operands[0], *b = i->operands[1];
    if (a == b)
        return a;
    if (has_constant(i, 1)) {
        if (!b->integer)
            return a;
        if (unsigned_value(b) == type_mask(i->type))
            return b;
        if (has_inner_constant(i))
            return build_simplified(s, i, IR_OR, a->operands[0], constant_like(s, i, a->operands[1]->integer | b->integer), 0);
    }
    if (i->type == IR_PRED && ((a->op == IR_NOT && a->operands[0] == b) || (b->op == IR_NOT && b->operands[0] == a)))
        return constant_like(s, i, 1);
    if (a->op == IR_AND && (a->operands[0] == b || a->operands[1] == b))
        return b;
    if (b->op == IR_AND && (b->operands[0] == a || b->operands[1] == a))
        return a;
    return combine_predicates(s, i);
}

static IrInstruction *simplify_xor(Simplifier *s, IrInstruction *i)
{
    IrInstruction *a = i->operands[0], *b = i->operands[1];
    if (a == b)
        return constant_like(s, i, 0);
    if (!has_constant(i, 1))
        return NULL;
    if (!b->integer)
        return a;
    if (unsigned_value(b) == type_mask(i->type))
        return ir_insert_before(s->module, i, IR_NOT, i->type, 1, &a);
    if (a->op == IR_NOT && i->type != IR_PRED)
        return build_simplified(s, i, IR_XOR, a->operands[0], constant_like(s, i, ~b->integer), 0);
    if (has_inner_constant(i))
        return build_simplified(s, i, IR_XOR, a->operands[0], constant_like(s, i, a->operands[1]->integer ^ b->integer), 0);
    return NULL;
}

// (x << c) << d, (x >> c) >> d
static IrInstruction *combine_shifts(Simplifier *s, IrInstruction *i)
{
    const IrInstruction *inner = i->operands[0];
    if (inner->op != i->op || !has_constant(inner, 1) || ((i->flags ^ inner->flags) & IR_SIGNED))
        return NULL;
    const uint64_t sum = unsigned_value(i->operands[1]) + unsigned_value(inner->operands[1]), bits = ir_bits(i->type);
    if (sum < bits)
        return build_simplified(s, i, i->op, inner->operands[0], ir_integer(s->module, s->function, IR_B32, (int64_t)sum),
                    i->flags & (IR_SIGNED | (inner->flags & IR_NO_WRAP)));
    if (i->op == IR_SHR && (i->flags & IR_SIGNED))
        return build_simplified(s, i, i->op, inner->operands[0], ir_integer(s->module, s->function, IR_B32, (int64_t)bits - 1), IR_SIGNED);
    return constant_like(s, i, 0);
}

// (x << c) >> d if the first shift loses no bit; (x + c) >> d if c only sets bits that are shifted out
static IrInstruction *shift_right(Simplifier *s, IrInstruction *i, uint32_t count)
{
    const IrInstruction *a = i->operands[0];
    if (a->op == IR_ADD && has_constant(a, 1) && s->is_late) { // not before loads are merged
        const uint64_t low = unsigned_value(a->operands[1]);
        const bool is_lost = low >> count == 0 && !(low & ~known_zero_bits(a->operands[0]));
        return is_lost ? build_simplified(s, i, IR_SHR, a->operands[0], i->operands[1], 0) : NULL;
    }
    if (a->op != IR_SHL || !has_constant(a, 1))
        return NULL;
    const uint64_t left = unsigned_value(a->operands[1]);
    if (left >= ir_bits(i->type) || largest_with_specials(a->operands[0]) > type_mask(i->type) >> left)
        return NULL;
    const int64_t rest = (int64_t)count - (int64_t)left;
    if (!rest)
        return a->operands[0];
    return build_simplified(s, i, rest > 0 ? IR_SHR : IR_SHL, a->operands[0], ir_integer(s->module, s->function, IR_B32, rest > 0 ? rest : -rest), 0);
}

static IrInstruction *simplify_shift(Simplifier *s, IrInstruction *i)
{
    IrInstruction *a = i->operands[0], *b = i->operands[1];
    const uint32_t bits = ir_bits(i->type);
    if (b->op == IR_REM && b->flags & IR_SIGNED && ir_has_one_use(b) && has_constant(b, 1) && power_of_two(b->operands[1]) > 0) // a negative count is undefined
        ir_set_operand(i, 1, build_simplified(s, i, IR_AND, b->operands[0], constant_like(s, b, b->operands[1]->integer - 1), 0)), s->changed = true;
    if (has_constant(i, 0) && a->integer == 0)
        return a;
    if (i->op == IR_SHR && (i->flags & IR_SIGNED) && is_never_negative(a))
        i->flags &= ~IR_SIGNED, s->changed = true;
    if (!has_constant(i, 1) || unsigned_value(b) >= bits)
        return NULL;
    const uint32_t count = (uint32_t)unsigned_value(b);
    if (!count)
        return a;
    if (i->op == IR_SHR && !(i->flags & IR_SIGNED) && count == bits - 1 && a->op == IR_SHR && a->flags & IR_SIGNED) // the sign
        return build_simplified(s, i, IR_SHR, a->operands[0], b, 0);
    IrInstruction *combined = combine_shifts(s, i);
    if (combined)
        return combined;
    if (i->op == IR_SHR && !(i->flags & IR_SIGNED) && !(~known_zero_bits(a) >> count))
        return constant_like(s, i, 0);
    const bool is_extended = a->op == IR_CONVERT && !(a->flags & IR_SIGNED) && a->operands[0]->type == IR_B32 && ir_has_one_use(a);
    if (i->op == IR_SHR && !(i->flags & IR_SIGNED) && is_extended) // shifts before it extends
        return ir_convert(s->module, i, i->type, count < 32 ? build_simplified(s, i, IR_SHR, a->operands[0], b, 0) : constant_like(s, a->operands[0], 0), 0);
    IrInstruction *shorter = i->op == IR_SHR && !(i->flags & IR_SIGNED) ? shift_right(s, i, count) : NULL;
    if (shorter)
        return shorter;
    IrInstruction *needed = i->op == IR_SHR && !(i->flags & IR_SIGNED) ? needed_operand(a, type_mask(i->type) & (UINT64_MAX << count)) : NULL;
    if (needed)
        return build_simplified(s, i, IR_SHR, needed, b, 0);
    const bool is_inverse = (a->op == IR_SHL || a->op == IR_SHR) && a->op != i->op && has_constant(a, 1) && unsigned_value(a->operands[1]) == count;
    if (is_inverse && i->op == IR_SHL) // (x >> c) << c
        return build_simplified(s, i, IR_AND, a->operands[0], constant_like(s, i, (int64_t)(UINT64_MAX << count)), 0);
    if (is_inverse && !(i->flags & IR_SIGNED) && !(a->flags & IR_NO_WRAP)) // (x << c) >> c
        return build_simplified(s, i, IR_AND, a->operands[0], constant_like(s, i, (int64_t)(type_mask(i->type) >> count)), 0);
    if (i->op == IR_SHL && a->op == IR_MUL && has_constant(a, 1))
        return build_simplified(s, i, IR_MUL, a->operands[0], constant_like(s, i, (int64_t)((uint64_t)a->operands[1]->integer << count)), 0);
    if (i->op == IR_SHL && a->op == IR_SUB && has_constant(a, 0) && ir_has_one_use(a) && !s->is_late) // (c - x) << d, but not of an index
        return build_simplified(s, i, IR_SUB, constant_like(s, i, (int64_t)((uint64_t)a->operands[0]->integer << count)),
                    build_simplified(s, i, IR_SHL, a->operands[1], b, i->flags & a->flags & IR_NO_WRAP), 0);
    if (i->op == IR_SHL && a->op == IR_ADD && has_constant(a, 1) && ir_has_one_use(a)) // (x + c) << d
        return build_simplified(s, i, IR_ADD, build_simplified(s, i, IR_SHL, a->operands[0], b, i->flags & a->flags & IR_NO_WRAP),
                    constant_like(s, i, (int64_t)((uint64_t)a->operands[1]->integer << count)), i->flags & a->flags & IR_NO_WRAP);
    return NULL;
}

static IrInstruction *simplify_extreme(Simplifier *s, IrInstruction *i)
{
    IrInstruction *a = i->operands[0], *b = i->operands[1];
    if (a == b)
        return a;
    if (has_inner_constant(i) && !((i->flags ^ a->flags) & IR_SIGNED)) {
        const bool less = fold_compare(IR_LESS, i->flags & IR_SIGNED, i->type, a->operands[1]->integer, b->integer);
        return build_simplified(s, i, i->op, a->operands[0], less == (i->op == IR_MIN) ? a->operands[1] : b, i->flags);
    }
    return NULL;
}

static IrInstruction *simplify_not(IrInstruction *i)
{
    const IrInstruction *a = i->operands[0];
    return a->op == i->op ? a->operands[0] : NULL;
}

IrInstruction *simplify_integer(Simplifier *s, IrInstruction *i)
{
    if (is_commutative(i) && ir_is_constant(i->operands[0]) && !ir_is_constant(i->operands[1]))
        swap_operands(s, i);
    switch (i->op) {
    case IR_ADD: return simplify_add(s, i);
    case IR_SUB: return simplify_sub(s, i);
    case IR_MUL: return simplify_mul(s, i);
    case IR_DIV:
    case IR_REM: return simplify_division(s, i);
    case IR_AND: return simplify_and(s, i);
    case IR_OR: return simplify_or(s, i);
    case IR_XOR: return simplify_xor(s, i);
    case IR_SHL:
    case IR_SHR: return simplify_shift(s, i);
    case IR_MIN:
    case IR_MAX: return simplify_extreme(s, i);
    case IR_NEG:
    case IR_NOT: return simplify_not(i);
    default: return NULL;
    }
}
