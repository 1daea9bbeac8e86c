// select.c: instruction selection, within a block as in LLVM: multiplications and additions become fma and mad, and products of
// extended integers become mul.wide. nvcc writes no 64-bit mad: the GPU multiplies 64-bit integers in several steps.
#include "compiler/intrinsics.h"
#include "compiler/known.h"
#include "compiler/passes.h"

#include <string.h>

typedef struct Selection {
    IrModule *module;
    IrFunction *function;
    bool changed;
} Selection;

// ---- Fused multiplication and addition

static bool can_fuse(const IrInstruction *product, const IrInstruction *sum)
{
    if (product->op != IR_MUL || product->block != sum->block || !ir_has_one_use(product) || product->type != sum->type)
        return false;
    if (ir_is_float_type(sum->type))
        return sum->type != IR_F16 && sum->type != IR_BF16 && !((product->flags | sum->flags) & IR_EXACT);
    return sum->type == IR_B32;
}

static IrInstruction *negated(Selection *s, IrInstruction *insert_before, IrInstruction *value)
{
    if (value->op == IR_NEG)
        return value->operands[0];
    if (value->op == IR_REAL)
        return ir_real(s->module, s->function, value->type, -value->real);
    return ir_insert_before(s->module, insert_before, IR_NEG, value->type, 1, &value);
}

static void replace_by_fma(Selection *s, IrInstruction *i, IrInstruction *a, IrInstruction *b, IrInstruction *c)
{
    IrInstruction *fma = ir_insert_before(s->module, i, IR_FMA, i->type, 3, (IrInstruction *[]){a, b, c});
    fma->line = i->line;
    fma->file = i->file;
    ir_replace(i, fma);
    s->changed = true;
}

// Fuses an address whose index is a product.
static void fuse_address(Selection *s, IrInstruction *i)
{
    if (i->operand_count != 2 || i->integer || i->scale > 1 || !can_fuse(i->operands[1], i))
        return;
    const uint8_t space = i->space;
    IrInstruction *product = i->operands[1], *fma = ir_insert_before(s->module, i, IR_FMA, i->type, 3, (IrInstruction *[]){product->operands[0], product->operands[1], i->operands[0]});
    fma->space = space;
    fma->line = i->line;
    fma->file = i->file;
    ir_replace(i, fma);
    s->changed = true;
}

static void fuse(Selection *s, IrInstruction *i)
{
    IrInstruction *a = i->operands[0], *b = i->operands[1];
    const bool is_float = ir_is_float_type(i->type);
    if (i->op == IR_ADD && can_fuse(a, i))
        replace_by_fma(s, i, a->operands[0], a->operands[1], b);
    else if (i->op == IR_ADD && can_fuse(b, i))
        replace_by_fma(s, i, b->operands[0], b->operands[1], a);
    else if (i->op == IR_SUB && is_float && can_fuse(a, i))
        replace_by_fma(s, i, a->operands[0], a->operands[1], negated(s, i, b));
    else if (i->op == IR_SUB && is_float && can_fuse(b, i))
        replace_by_fma(s, i, negated(s, i, b->operands[0]), b->operands[1], a);
}

// ---- Wide multiplication

// The 32-bit integer that the block extends to the operand, or NULL.
static IrInstruction *narrow_operand(Selection *s, const IrInstruction *i, IrInstruction *operand, bool is_signed)
{
    if (operand->op == IR_INTEGER) {
        const int64_t value = operand->integer;
        const bool fits = is_signed ? value == (int32_t)value : (uint64_t)value <= UINT32_MAX;
        return fits ? ir_integer(s->module, s->function, IR_B32, value) : NULL;
    }
    if (operand->op != IR_CONVERT || operand->block != i->block || operand->operands[0]->type != IR_B32)
        return NULL;
    return is_signed == !!(operand->flags & IR_SIGNED) ? operand->operands[0] : NULL;
}

static void replace_by_wide(Selection *s, IrInstruction *i, IrInstruction *a, IrInstruction *b, bool is_signed)
{
    ir_replace(i, ir_binary(s->module, i, IR_MUL_WIDE, a, b, is_signed ? IR_SIGNED : 0));
    s->changed = true;
}

static void widen(Selection *s, IrInstruction *i)
{
    IrInstruction *a = i->operands[0], *b = i->operands[1];
    if (i->type != IR_B64 || a->op != IR_CONVERT)
        return;
    const bool is_signed = a->flags & IR_SIGNED;
    IrInstruction *narrow = narrow_operand(s, i, a, is_signed);
    if (!narrow)
        return;
    if (i->op == IR_SHL) {
        if (b->op == IR_INTEGER && unsigned_value(b) < 31)
            replace_by_wide(s, i, narrow, ir_integer(s->module, s->function, IR_B32, (int64_t)1 << unsigned_value(b)), is_signed);
        return;
    }
    IrInstruction *other = narrow_operand(s, i, b, is_signed);
    if (other)
        replace_by_wide(s, i, narrow, other, is_signed);
}

// (x >> c) << d becomes one shift and a mask, as in LLVM.
static void mask_shift(Selection *s, IrInstruction *i)
{
    IrInstruction *inner = i->operands[0];
    if (i->op != IR_SHL || inner->op != IR_SHR || (inner->flags & IR_SIGNED) || !ir_has_one_use(inner) || inner->block != i->block)
        return;
    if (inner->operands[1]->op != IR_INTEGER || i->operands[1]->op != IR_INTEGER)
        return;
    const int64_t right = inner->operands[1]->integer, left = i->operands[1]->integer, bits = ir_bits(i->type);
    if (right < 0 || left < 0 || right >= bits || left >= bits)
        return;
    const uint64_t mask = (type_mask(i->type) >> right << left) & type_mask(i->type);
    IrInstruction *value = inner->operands[0];
    if (right > left)
        value = ir_binary(s->module, i, IR_SHR, value, ir_integer(s->module, s->function, IR_B32, right - left), 0);
    else if (left > right)
        value = ir_binary(s->module, i, IR_SHL, value, ir_integer(s->module, s->function, IR_B32, left - right), 0);
    ir_replace(i, ir_binary(s->module, i, IR_AND, value, ir_integer(s->module, s->function, i->type, (int64_t)mask), 0));
    s->changed = true;
}

// ---- Insertion of bits

static IrInstruction *operation(Selection *s, IrInstruction *insert_before, const char *name, uint32_t count, IrInstruction **operands)
{
    IrInstruction *i = ir_insert_before(s->module, insert_before, IR_INTRINSIC, insert_before->type, count, operands);
    i->intrinsic = intrinsic_named(name, strlen(name));
    i->line = insert_before->line;
    i->file = insert_before->file;
    return i;
}

// The selector of a byte permutation that puts the low `bytes` bytes of its first operand into the second one, from byte `at`.
static IrInstruction *selector_of(Selection *s, uint32_t at, uint32_t bytes)
{
    int64_t selector = 0;
    for (uint32_t k = 0; k < 4; k++)
        selector |= (int64_t)(k >= at && k < at + bytes ? k - at : 4 + k) << 4 * k;
    return ir_integer(s->module, s->function, IR_B32, selector);
}

static bool is_shifted(const IrInstruction *value)
{
    const IrInstruction *inner = value->op == IR_CONVERT ? value->operands[0] : value;
    return inner->op == IR_SHL || inner->op == IR_SHR;
}

// base | x << c, where the bits of x replace zeros of the base. NVVM combines several shifts in another way.
static bool insert_bits(Selection *s, IrInstruction *i, IrInstruction *base, const IrInstruction *shifted)
{
    const uint32_t width = ir_bits(i->type);
    if (shifted->op != IR_SHL || shifted->operands[1]->op != IR_INTEGER || ir_is_constant(base) || is_shifted(base) || is_shifted(shifted->operands[0]))
        return false;
    const uint64_t at = unsigned_value(shifted->operands[1]), used = ~known_zero_bits(shifted->operands[0]) & type_mask(i->type);
    if (!at || at >= width || !used || used & (used + 1)) // the field must be the low bits
        return false;
    const uint32_t bits = (uint32_t)__builtin_popcountll(used);
    const uint32_t length = bits < width - at ? bits : width - (uint32_t)at;
    const uint64_t field = (length == 64 ? UINT64_MAX : (1ull << length) - 1) << at;
    if (field & ~known_zero_bits(base))
        return false;
    IrInstruction *result;
    if (width == 32 && at % 8 == 0 && length % 8 == 0)
        result = operation(s, i, "__i_prmt", 3, (IrInstruction *[]){shifted->operands[0], base, selector_of(s, (uint32_t)at / 8, length / 8)});
    else
        result = operation(s, i, width == 32 ? "__i_bfi" : "__i_bfi_y", 4, (IrInstruction *[]){shifted->operands[0], base,
            ir_integer(s->module, s->function, IR_B32, (int64_t)at), ir_integer(s->module, s->function, IR_B32, length)});
    ir_replace(i, result);
    return s->changed = true;
}

// A store truncates a value that nothing else needs truncated.
static void store_wide(Selection *s, IrInstruction *store)
{
    const IrInstruction *value = store->operands[1];
    if (value->op == IR_BITCAST && ir_has_one_use(value) && store->memory == value->type) { // stored as the other type
        store->memory = value->operands[0]->type;
        ir_set_operand(store, 1, value->operands[0]);
        s->changed = true;
        return;
    }
    if (value->op != IR_CONVERT || !ir_has_one_use(value) || value->block != store->block || ir_is_float_type(value->type) || ir_is_float_type(store->memory))
        return;
    IrInstruction *wide = value->operands[0];
    if (ir_is_float_type(wide->type) || wide->type == IR_PRED || ir_bits(wide->type) <= ir_bits(value->type) || ir_bits(wide->type) < 32)
        return;
    ir_set_operand(store, 1, wide);
    s->changed = true;
}

bool select_instructions(IrModule *module, IrFunction *function)
{
    Selection s = {.module = module, .function = function};
    for (IrBlock *block = function->first; block; block = block->next)
        for (IrInstruction *i = block->first, *next; i; i = next) {
            next = i->next;
            if (i->op == IR_SHL)
                mask_shift(&s, i);
        }
    for (IrBlock *block = function->first; block; block = block->next)
        for (IrInstruction *i = block->last, *previous; i; i = previous) { // last first: what they replace is still a sum
            previous = i->previous;
            const bool is_sum = (i->op == IR_OR || i->op == IR_ADD) && (i->type == IR_B32 || i->type == IR_B64);
            if (is_sum && !insert_bits(&s, i, i->operands[0], i->operands[1]))
                insert_bits(&s, i, i->operands[1], i->operands[0]);
        }
    for (IrBlock *block = function->first; block; block = block->next)
        for (IrInstruction *i = block->first, *next; i; i = next) {
            next = i->next;
            if (i->op == IR_MUL || i->op == IR_SHL)
                widen(&s, i);
        }
    for (IrBlock *block = function->first; block; block = block->next)
        for (IrInstruction *i = block->first, *next; i; i = next) {
            next = i->next;
            if (i->op == IR_ADD || i->op == IR_SUB)
                fuse(&s, i);
            else if (i->op == IR_OFFSET)
                fuse_address(&s, i);
            else if (i->op == IR_STORE)
                store_wide(&s, i);
        }
    return s.changed;
}
