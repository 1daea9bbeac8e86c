// divide.c: integer division. Division by a constant becomes a multiplication by its reciprocal (Granlund and Montgomery, "Division by
// Invariant Integers using Multiplication"). Other 64-bit divisions first test whether both operands fit in 32 bits, for which division
// is several times faster (LLVM: BypassSlowDivision), unless one looks like a hash. A remainder is computed from the quotient if both are needed.
#include "compiler/known.h"
#include "compiler/passes.h"

typedef struct Dividing {
    IrModule *module;
    IrFunction *function;
    bool changed;
} Dividing;

static IrInstruction *constant(const Dividing *d, IrType type, uint64_t value)
{
    return ir_integer(d->module, d->function, type, (int64_t)value);
}

static IrInstruction *shifted(const Dividing *d, IrInstruction *insert_before, IrInstruction *value, uint32_t count, uint32_t flags)
{
    return count ? ir_binary(d->module, insert_before, IR_SHR, value, constant(d, IR_B32, count), flags) : value;
}

static IrInstruction *binary(const Dividing *d, IrInstruction *insert_before, IrOp op, IrInstruction *a, IrInstruction *b)
{
    return ir_binary(d->module, insert_before, op, a, b, 0);
}

// ---- Reciprocals

typedef struct Reciprocal { // x / d is the high half of x * multiplier, shifted right; `adds`: the multiplier lacks its highest bit
    uint64_t multiplier;
    uint32_t shift;
    bool adds;
} Reciprocal;

static uint64_t mask_of(uint32_t bits)
{
    return bits == 64 ? UINT64_MAX : (1ull << bits) - 1;
}

// Finds the smallest power of two 2^p for which multiplier = floor(2^p / d) + 1 is exact for all x below 2^bits. As in "Hacker's Delight",
// it updates the quotients and remainders of 2^p by d and by the largest x whose remainder modulo d is d - 1.
static Reciprocal unsigned_reciprocal(uint32_t bits, uint64_t d)
{
    const uint64_t mask = mask_of(bits), high = 1ull << (bits - 1);
    const uint64_t largest = mask - (-d & mask) % d; // its remainder is d - 1
    uint64_t q1 = high / largest, r1 = high - q1 * largest, q2 = (high - 1) / d, r2 = high - 1 - q2 * d, delta;
    uint32_t p = bits - 1;
    bool adds = false;
    do {
        p++;
        const bool carries = r1 >= largest - r1;
        q1 = (2 * q1 + carries) & mask;
        r1 = (2 * r1 - (carries ? largest : 0)) & mask;
        const bool steps = r2 + 1 >= d - r2;
        adds |= steps ? q2 >= high - 1 : q2 >= high;
        q2 = (2 * q2 + steps) & mask;
        r2 = (2 * r2 + 1 - (steps ? d : 0)) & mask;
        delta = (d - 1 - r2) & mask;
    } while (p < 2 * bits && (q1 < delta || (q1 == delta && r1 == 0)));
    return (Reciprocal){.multiplier = (q2 + 1) & mask, .shift = p - bits, .adds = adds};
}

static Reciprocal signed_reciprocal(uint32_t bits, int64_t divisor)
{
    const uint64_t mask = mask_of(bits), high = 1ull << (bits - 1), d = divisor < 0 ? -(uint64_t)divisor : (uint64_t)divisor;
    const uint64_t top = high + (divisor < 0), largest = top - 1 - top % d;
    uint64_t q1 = high / largest, r1 = high - q1 * largest, q2 = high / d, r2 = high - q2 * d, delta;
    uint32_t p = bits - 1;
    do {
        p++;
        q1 *= 2;
        r1 *= 2;
        if (r1 >= largest)
            q1++, r1 -= largest;
        q2 *= 2;
        r2 *= 2;
        if (r2 >= d)
            q2++, r2 -= d;
        delta = d - r2;
    } while (q1 < delta || (q1 == delta && r1 == 0));
    const uint64_t multiplier = (q2 + 1) & mask;
    return (Reciprocal){.multiplier = divisor < 0 ? -multiplier & mask : multiplier, .shift = p - bits};
}

// The high half of an unsigned product, shifted right.
static IrInstruction *high_product(const Dividing *d, IrInstruction *insert_before, IrInstruction *x, uint64_t multiplier, uint32_t shift)
{
    if (x->type == IR_B64)
        return shifted(d, insert_before, binary(d, insert_before, IR_MUL_HIGH, x, constant(d, IR_B64, multiplier)), shift, 0);
    IrInstruction *product = binary(d, insert_before, IR_MUL_WIDE, x, constant(d, IR_B32, multiplier));
    return ir_convert(d->module, insert_before, IR_B32, shifted(d, insert_before, product, 32 + shift, 0), 0);
}

static IrInstruction *unsigned_quotient(const Dividing *d, IrInstruction *insert_before, IrInstruction *x, uint64_t divisor)
{
    const uint32_t bits = ir_bits(x->type);
    Reciprocal r = unsigned_reciprocal(bits, divisor);
    if (r.adds && divisor % 2 == 0) { // x >> twos has fewer bits, so the reciprocal of the odd factor fits
        const uint32_t twos = (uint32_t)__builtin_ctzll(divisor);
        IrInstruction *halved = shifted(d, insert_before, x, twos, 0);
        const Reciprocal odd = unsigned_reciprocal(bits, divisor >> twos);
        // x >> twos is below 2^(bits - twos), so a multiplier with one bit less is also exact
        const uint64_t multiplier = odd.adds ? (odd.multiplier >> 1 | 1ull << (bits - 1)) + (odd.multiplier & 1) : odd.multiplier;
        return high_product(d, insert_before, halved, multiplier, odd.adds ? odd.shift - 1 : odd.shift);
    }
    if (!r.adds)
        return high_product(d, insert_before, x, r.multiplier, r.shift);
    IrInstruction *high = high_product(d, insert_before, x, r.multiplier, 0);
    IrInstruction *half = shifted(d, insert_before, binary(d, insert_before, IR_SUB, x, high), 1, 0);
    return shifted(d, insert_before, binary(d, insert_before, IR_ADD, half, high), r.shift - 1, 0);
}

static IrInstruction *signed_quotient(const Dividing *d, IrInstruction *insert_before, IrInstruction *x, int64_t divisor)
{
    const uint32_t bits = ir_bits(x->type);
    const Reciprocal r = signed_reciprocal(bits, divisor);
    const int64_t multiplier = ir_sign_extended(x->type, (int64_t)r.multiplier);
    IrInstruction *high = ir_binary(d->module, insert_before, IR_MUL_HIGH, x, constant(d, x->type, r.multiplier), IR_SIGNED);
    if (divisor > 0 && multiplier < 0)
        high = binary(d, insert_before, IR_ADD, high, x);
    else if (divisor < 0 && multiplier > 0)
        high = binary(d, insert_before, IR_SUB, high, x);
    IrInstruction *sign = shifted(d, insert_before, high, bits - 1, 0);
    return binary(d, insert_before, IR_ADD, shifted(d, insert_before, high, r.shift, IR_SIGNED), sign);
}

static bool is_divisor(const IrInstruction *i)
{
    const IrInstruction *b = i->operands[1];
    if (b->op != IR_INTEGER || (i->type != IR_B32 && i->type != IR_B64))
        return false;
    if (i->flags & IR_SIGNED)
        return b->integer > 2 || (b->integer < -2 && b->integer != INT64_MIN && b->integer != INT32_MIN);
    return unsigned_value(b) > 2 && power_of_two(b) < 0;
}

static void divide_by_constant(Dividing *d, IrInstruction *i)
{
    IrInstruction *x = i->operands[0], *divisor = i->operands[1];
    IrInstruction *quotient = i->flags & IR_SIGNED ? signed_quotient(d, i, x, divisor->integer) : unsigned_quotient(d, i, x, unsigned_value(divisor));
    if (i->op == IR_REM)
        quotient = binary(d, i, IR_SUB, x, binary(d, i, IR_MUL, quotient, divisor));
    ir_replace(i, quotient);
    d->changed = true;
}

// ---- Quotient and remainder of the same operands

static IrInstruction *quotient_of(const IrInstruction *remainder)
{
    for (const IrUse *use = remainder->operands[0]->uses; use; use = use->next) {
        IrInstruction *other = use->user;
        if (other->op == IR_DIV && other->block == remainder->block && other->operands[0] == remainder->operands[0] &&
            other->operands[1] == remainder->operands[1] && !((other->flags ^ remainder->flags) & IR_SIGNED))
            return other;
    }
    return NULL;
}

static bool is_first(const IrInstruction *a, const IrInstruction *b)
{
    for (const IrInstruction *i = a; i; i = i->next)
        if (i == b)
            return true;
    return false;
}

static bool share_quotient(Dividing *d, IrInstruction *remainder)
{
    IrInstruction *quotient = ir_is_constant(remainder->operands[0]) ? NULL : quotient_of(remainder);
    if (!quotient)
        return false;
    if (!is_first(quotient, remainder))
        ir_move_before(remainder, quotient);
    ir_replace(remainder, binary(d, remainder, IR_SUB, remainder->operands[0], binary(d, remainder, IR_MUL, quotient, remainder->operands[1])));
    d->changed = true;
    return true;
}

// ---- 64-bit divisions of 32-bit numbers

static bool is_short(const IrInstruction *value)
{
    return largest_unsigned(value) <= UINT32_MAX;
}

// Whether the value looks like a hash, which rarely fits in 32 bits (LLVM: isHashLikeValue): an exclusive or, a product with a large
// constant, or phis of these.
static bool is_hash(const IrInstruction *value, uint32_t depth)
{
    enum { MAX_DEPTH = 8 };
    if (value->op == IR_MUL && value->operands[1]->op == IR_INTEGER)
        return value->operands[1]->integer != (int32_t)value->operands[1]->integer;
    if (value->op != IR_PHI || depth == MAX_DEPTH)
        return value->op == IR_XOR;
    for (uint32_t k = 0; k < value->operand_count; k++)
        if (!is_hash(value->operands[k], depth + 1))
            return false;
    return true;
}

static IrInstruction *divide_short(const Dividing *d, IrInstruction *insert_before, const IrInstruction *i)
{
    IrInstruction *a = ir_convert(d->module, insert_before, IR_B32, i->operands[0], 0), *b = ir_convert(d->module, insert_before, IR_B32, i->operands[1], 0);
    return ir_convert(d->module, insert_before, IR_B64, ir_binary(d->module, insert_before, i->op, a, b, 0), 0);
}

static void split_division(Dividing *d, IrInstruction *i)
{
    IrModule *module = d->module;
    IrBlock *block = i->block, *after = ir_split_block(module, i);
    IrBlock *slow = ir_new_block_before(module, after), *fast = ir_new_block_before(module, after);
    IrInstruction *jump = block->last;
    ir_remove_predecessor(after, ir_edge_index(block, 0));
    IrInstruction *bits = is_short(i->operands[0]) ? i->operands[1] : i->operands[0];
    if (!is_short(i->operands[0]) && !is_short(i->operands[1]))
        bits = binary(d, jump, IR_OR, i->operands[0], i->operands[1]);
    const bool has_no_low_bits = (uint32_t)~known_zero_bits(bits) == 0;
    IrInstruction *high = has_no_low_bits ? bits : binary(d, jump, IR_AND, bits, constant(d, IR_B64, 0xffffffff00000000));
    IrInstruction *has_none = ir_compare(module, jump, IR_EQUAL, high, constant(d, IR_B64, 0), 0);
    ir_remove(jump);
    ir_branch(module, block, has_none, fast, slow);
    block->last->index = 1; // the slow path is next in the layout
    ir_jump(module, slow, after);
    ir_jump(module, fast, after);
    IrInstruction *whole = ir_clone(module, d->function, i);
    ir_link_before(slow->last, whole);
    IrInstruction *quick = divide_short(d, fast->last, i);
    IrInstruction *phi = ir_phi(module, after, i->type);
    ir_add_operand(module, phi, whole);
    ir_add_operand(module, phi, quick);
    ir_replace(i, phi);
    d->changed = true;
}

static void divide_wide(Dividing *d, IrInstruction *i)
{
    if (is_hash(i->operands[0], 0) || is_hash(i->operands[1], 0))
        return;
    if (!is_short(i->operands[0]) || !is_short(i->operands[1])) {
        split_division(d, i);
        return;
    }
    ir_replace(i, divide_short(d, i, i));
    d->changed = true;
}

static void lower(Dividing *d, IrInstruction *i)
{
    if (is_divisor(i))
        divide_by_constant(d, i);
    else if (i->type == IR_B64 && i->operands[1]->op != IR_INTEGER)
        divide_wide(d, i);
}

static bool is_division(const IrInstruction *i)
{
    return (i->op == IR_DIV || i->op == IR_REM) && !ir_is_float_type(i->type);
}

bool lower_divisions(IrModule *module, IrFunction *function)
{
    Dividing d = {.module = module, .function = function};
    uint32_t count = 0;
    for (const IrBlock *block = function->first; block; block = block->next)
        for (const IrInstruction *i = block->first; i; i = i->next)
            count += is_division(i);
    IrInstruction **divisions = ir_scratch(module, (count + 1) * sizeof *divisions);
    count = 0;
    for (const IrBlock *block = function->first; block; block = block->next)
        for (IrInstruction *i = block->first; i; i = i->next)
            if (is_division(i))
                divisions[count++] = i;
    for (uint32_t k = 0; k < count; k++)
        if (divisions[k]->op == IR_REM && !is_divisor(divisions[k]) && share_quotient(&d, divisions[k]))
            divisions[k] = NULL;
    for (uint32_t k = 0; k < count; k++)
        if (divisions[k])
            lower(&d, divisions[k]);
    return d.changed;
}
