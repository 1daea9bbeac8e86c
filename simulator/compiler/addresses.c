// addresses.c: lowers addresses to arithmetic. First, the constant parts of indices are separated, so that adjacent accesses share a
// register and differ in their immediate offsets; and an address whose index is a sum is computed from an existing address whose
// index is one of the summands (SeparateConstOffsetFromGEP and NaryReassociate in LLVM). Then each IR_OFFSET becomes a shift or
// multiplication and an addition, and constant offsets are folded into loads and stores.
#include "compiler/known.h"
#include "compiler/passes.h"

enum { MAX_DEPTH = 8, MAX_OFFSET = 1 << 24, MAX_CANDIDATES = 64 };

typedef struct Addresses {
    IrModule *module;
    IrFunction *function;
    const Dominators *dominators;
    const Loops *loops;
    bool changed;
} Addresses;

static IrInstruction *offset_before(Addresses *s, IrInstruction *i, IrInstruction *pointer, IrInstruction *index, uint32_t scale, int64_t bytes)
{
    IrInstruction *operands[] = {pointer, index};
    IrInstruction *created = ir_insert_before(s->module, i, IR_OFFSET, i->type, index ? 2 : 1, operands);
    created->space = i->space;
    created->flags = i->flags;
    created->scale = index ? scale : 1;
    created->integer = bytes;
    created->line = i->line;
    created->file = i->file;
    return created;
}

// ---- Constant parts of indices

// How an index is used. A sum of 32 bits that is extended to 64 bits may be split only if it does not wrap.
typedef struct IndexContext {
    bool is_extended, is_signed; // extended from 32 to 64 bits; by a sign extension
    bool may_wrap;               // the address has 32 bits, so carries are lost anyway
} IndexContext;

static bool can_split(const IrInstruction *sum, IndexContext x)
{
    if (!x.is_extended || x.may_wrap)
        return true;
    if (x.is_signed)
        return true; // as in nvcc: an int is assumed not to wrap, even if its sum is unsigned
    if ((sum->flags & IR_NO_WRAP) && is_never_negative(sum->operands[0]) && is_never_negative(sum->operands[1]))
        return true;
    const bool sets_bits = sum->operands[1]->op == IR_INTEGER && !(unsigned_value(sum->operands[1]) & ~known_zero_bits(sum->operands[0]));
    return sets_bits || (largest_with_specials(sum->operands[0]) <= INT32_MAX && largest_with_specials(sum->operands[1]) <= INT32_MAX); // as in LLVM
}

// As can_split, for a multiplication by a constant or a shift.
static bool can_scale(const IrInstruction *product, IndexContext x)
{
    if (!x.is_extended || x.may_wrap || x.is_signed)
        return true;
    return ((product->flags & IR_NO_WRAP) && is_never_negative(product->operands[0])) || largest_with_specials(product) < UINT32_MAX;
}

// Splits an index into a constant, which is returned, and `*rest`, which is NULL if the index is constant.
static int64_t take_constant(Addresses *s, IrInstruction *insert_before, IrInstruction *value, IndexContext x, IrInstruction **rest, uint32_t depth)
{
    *rest = value;
    if (value->op == IR_INTEGER) {
        *rest = NULL;
        return x.is_extended && !x.is_signed && !x.may_wrap ? (int64_t)unsigned_value(value) : value->integer;
    }
    if (depth > MAX_DEPTH)
        return 0;
    IrInstruction *inner[2];
    int64_t constant = 0;
    switch (value->op) {
    case IR_ADD: {
        if (!can_split(value, x))
            return 0;
        constant = take_constant(s, insert_before, value->operands[0], x, &inner[0], depth + 1) + take_constant(s, insert_before, value->operands[1], x, &inner[1], depth + 1);
        if (!constant)
            return 0;
        if (inner[0] && inner[1])
            *rest = ir_binary(s->module, insert_before, IR_ADD, inner[0], inner[1], value->flags & IR_NO_WRAP);
        else
            *rest = inner[0] ? inner[0] : inner[1];
        return constant;
    }
    case IR_SHL:
        if (value->operands[1]->op != IR_INTEGER || unsigned_value(value->operands[1]) > 20 || !can_scale(value, x))
            return 0;
        constant = take_constant(s, insert_before, value->operands[0], x, &inner[0], depth + 1);
        if (constant)
            *rest = inner[0] ? ir_binary(s->module, insert_before, IR_SHL, inner[0], value->operands[1], value->flags & IR_NO_WRAP) : NULL;
        return (int64_t)((uint64_t)constant << unsigned_value(value->operands[1]));
    case IR_MUL:
        if (value->operands[1]->op != IR_INTEGER || !can_scale(value, x))
            return 0;
        constant = take_constant(s, insert_before, value->operands[0], x, &inner[0], depth + 1);
        if (constant)
            *rest = inner[0] ? ir_binary(s->module, insert_before, IR_MUL, inner[0], value->operands[1], value->flags & IR_NO_WRAP) : NULL;
        return (int64_t)((uint64_t)constant * (uint64_t)value->operands[1]->integer);
    case IR_OR: // an addition, if the operands have no common bits
        if (value->operands[1]->op != IR_INTEGER || (unsigned_value(value->operands[1]) & ~known_zero_bits(value->operands[0])))
            return 0;
        *rest = value->operands[0];
        return value->operands[1]->integer;
    case IR_CONVERT: {
        if (value->type != IR_B64 || value->operands[0]->type != IR_B32 || x.is_extended)
            return 0;
        const IndexContext narrow = {.is_extended = true, .is_signed = value->flags & IR_SIGNED, .may_wrap = x.may_wrap};
        constant = take_constant(s, insert_before, value->operands[0], narrow, &inner[0], depth + 1);
        if (constant)
            *rest = inner[0] ? ir_convert(s->module, insert_before, IR_B64, inner[0], value->flags) : NULL;
        return constant;
    }
    default:
        return 0;
    }
}

static void separate_constant(Addresses *s, IrInstruction *i)
{
    if (i->operand_count != 2)
        return;
    IrInstruction *rest;
    const IndexContext x = {.is_extended = i->operands[1]->type == IR_B32 && i->type == IR_B64, .is_signed = i->flags & IR_SIGNED, .may_wrap = i->type == IR_B32};
    const int64_t constant = take_constant(s, i, i->operands[1], x, &rest, 0) * (int64_t)(i->scale ? i->scale : 1) + i->integer;
    if (rest == i->operands[1] && !i->integer)
        return;
    if (constant > MAX_OFFSET || constant < -MAX_OFFSET)
        return;
    IrInstruction *pointer = rest ? offset_before(s, i, i->operands[0], rest, i->scale, 0) : i->operands[0];
    ir_replace(i, constant ? offset_before(s, i, pointer, NULL, 1, constant) : pointer);
    s->changed = true;
}

// Rewrites offset(offset(p, constant), index) to offset(offset(p, index), constant).
static void move_constant_out(Addresses *s, IrInstruction *i)
{
    const IrInstruction *inner = i->operands[0];
    if (i->operand_count != 2 || inner->op != IR_OFFSET || inner->operand_count != 1)
        return;
    IrInstruction *pointer = offset_before(s, i, inner->operands[0], i->operands[1], i->scale, 0);
    ir_replace(i, offset_before(s, i, pointer, NULL, 1, inner->integer + i->integer));
    s->changed = true;
}

static void combine_constants(Addresses *s, IrInstruction *i)
{
    const IrInstruction *inner = i->operands[0];
    if (i->operand_count != 1 || inner->op != IR_OFFSET || inner->operand_count != 1)
        return;
    ir_replace(i, offset_before(s, i, inner->operands[0], NULL, 1, inner->integer + i->integer));
    s->changed = true;
}

bool separate_offsets(IrModule *module, IrFunction *function)
{
    Addresses s = {.module = module, .function = function, .dominators = dominators_of(module, function)};
    for (uint32_t k = 0; k < s.dominators->count; k++)
        for (IrInstruction *i = s.dominators->order[k]->first, *next; i; i = next) {
            next = i->next;
            if (i->op != IR_OFFSET)
                continue;
            if (i->operand_count == 2 && i->operands[0]->op == IR_OFFSET && i->operands[0]->operand_count == 1)
                move_constant_out(&s, i);
            else if (i->operand_count == 2)
                separate_constant(&s, i);
            else
                combine_constants(&s, i);
        }
    return s.changed;
}

// ---- Sums of indices

// An address of the same array with index `part` that dominates `i`; or NULL.
static IrInstruction *find_address(const Addresses *s, const IrInstruction *i, const IrInstruction *part, uint32_t scale)
{
    uint32_t steps = 0;
    for (const IrUse *use = part->uses; use && steps++ < MAX_CANDIDATES; use = use->next) {
        IrInstruction *other = use->user;
        if (other == i || other->op != IR_OFFSET || other->operand_count != 2 || other->operands[1] != part || other->operands[0] != i->operands[0])
            continue;
        if (other->scale == scale && !other->integer && other->type == i->type && !(i->type == IR_B64 && (other->flags ^ i->flags) & IR_SIGNED) && value_dominates(s->dominators, other, i))
            return other;
    }
    return NULL;
}

// As find_address; if `i` has a conversion, searches for addresses with the same conversion of the part.
static IrInstruction *find_converted_address(const Addresses *s, const IrInstruction *i, const IrInstruction *conversion, const IrInstruction *part)
{
    if (!conversion)
        return find_address(s, i, part, i->scale);
    uint32_t steps = 0;
    for (const IrUse *use = part->uses; use && steps++ < MAX_CANDIDATES; use = use->next) {
        const IrInstruction *other = use->user;
        if (other->op != IR_CONVERT || other->type != conversion->type || (i->type == IR_B64 && (other->flags ^ conversion->flags) & IR_SIGNED))
            continue;
        IrInstruction *found = find_address(s, i, other, i->scale);
        if (found)
            return found;
    }
    return NULL;
}

static void extend_address(Addresses *s, IrInstruction *i)
{
    IrInstruction *index = i->operands[1];
    const IrInstruction *conversion = index->op == IR_CONVERT && index->type == IR_B64 ? index : NULL;
    IrInstruction *sum = conversion ? index->operands[0] : index;
    const IndexContext x = {.is_extended = conversion != NULL || (index->type == IR_B32 && i->type == IR_B64),
                     .is_signed = conversion ? conversion->flags & IR_SIGNED : i->flags & IR_SIGNED, .may_wrap = i->type == IR_B32};
    if (sum->op != IR_ADD || i->integer || (conversion && conversion->operands[0]->type != IR_B32) || !can_split(sum, x))
        return;
    for (uint32_t k = 0; k < 2; k++) {
        IrInstruction *found = find_converted_address(s, i, conversion, sum->operands[k]), *other = sum->operands[!k];
        if (!found)
            continue;
        if (conversion)
            other = ir_convert(s->module, i, IR_B64, other, conversion->flags & IR_SIGNED);
        ir_replace(i, offset_before(s, i, found, other, i->scale, 0));
        s->changed = true;
        return;
    }
}

// ---- Addresses that several branches compute

static bool is_available_at(const Addresses *s, const IrInstruction *i, const IrBlock *block)
{
    for (uint32_t k = 0; k < i->operand_count; k++)
        if (!ir_is_constant(i->operands[k]) && i->operands[k]->block != block && !block_dominates(s->dominators, i->operands[k]->block, block))
            return false;
    return true;
}

// Whether the value is an address with an index, or arithmetic that only computes indices.
static bool is_of_address(const IrInstruction *i, uint32_t depth)
{
    if (i->op == IR_OFFSET)
        return i->operand_count == 2;
    if (depth > 3 || (i->op != IR_CONVERT && i->op != IR_ADD) || !i->uses || (i->type != IR_B32 && i->type != IR_B64) || ir_is_float_type(i->operands[0]->type))
        return false;
    for (const IrUse *use = i->uses; use; use = use->next)
        if (use->user->block != i->block || !is_of_address(use->user, depth + 1))
            return false;
    return true;
}

static bool is_equal(const IrInstruction *a, const IrInstruction *b)
{
    if (a->op != b->op || a->type != b->type || a->operand_count != b->operand_count || a->scale != b->scale || a->integer != b->integer ||
        (a->flags ^ b->flags) & IR_SIGNED)
        return false;
    for (uint32_t k = 0; k < a->operand_count; k++)
        if (a->operands[k] != b->operands[k])
            return false;
    return true;
}

static IrInstruction *equal_value(const Addresses *s, const IrInstruction *i)
{
    uint32_t steps = 0;
    for (const IrUse *use = i->operands[0]->uses; use && steps++ < MAX_CANDIDATES; use = use->next) {
        IrInstruction *other = use->user;
        if (other != i && use->operand == 0 && other->block != i->block && is_equal(other, i) && !block_dominates(s->dominators, i->block, other->block) &&
            s->loops->innermost[other->block->id] == s->loops->innermost[i->block->id])
            return other;
    }
    return NULL;
}

// Merges equal addresses of two blocks, and what computes their indices, into one in their common dominator.
bool join_addresses(IrModule *module, IrFunction *function)
{
    Addresses s = {.module = module, .function = function, .dominators = dominators_of(module, function)};
    s.loops = loops_of(module, function, s.dominators);
    for (uint32_t k = s.dominators->count; k-- > 0;)
        for (IrInstruction *i = s.dominators->order[k]->first, *next; i; i = next) {
            next = i->next;
            if (!is_of_address(i, 0))
                continue;
            IrInstruction *other = equal_value(&s, i);
            IrBlock *common = other ? common_dominator(s.dominators, i->block, other->block) : NULL;
            if (!common || !is_available_at(&s, i, common) || s.loops->innermost[common->id] != s.loops->innermost[i->block->id])
                continue;
            if (other->block != common)
                ir_move_before(common->last, other);
            ir_replace(i, other);
            s.changed = true;
        }
    return s.changed;
}

bool reassociate_addresses(IrModule *module, IrFunction *function)
{
    Addresses s = {.module = module, .function = function, .dominators = dominators_of(module, function)};
    for (uint32_t k = 0; k < s.dominators->count; k++)
        for (IrInstruction *i = s.dominators->order[k]->first, *next; i; i = next) {
            next = i->next;
            if (i->op == IR_OFFSET && i->operand_count == 2)
                extend_address(&s, i);
        }
    return s.changed;
}

// ---- Explicit arithmetic

// The index in bytes, as wide as the pointer.
static IrInstruction *index_in_bytes(Addresses *s, IrInstruction *i)
{
    IrInstruction *index = i->operands[1];
    const uint32_t scale = i->scale ? i->scale : 1;
    if (i->type == IR_B64 && index->type == IR_B32)
        index = ir_convert(s->module, i, IR_B64, index, i->flags & IR_SIGNED);
    else if (i->type == IR_B32 && index->type == IR_B64)
        index = index->op == IR_CONVERT && index->operands[0]->type == IR_B32 ? index->operands[0] : ir_convert(s->module, i, IR_B32, index, 0);
    if (scale == 1)
        return index;
    if (!(scale & (scale - 1)))
        return ir_binary(s->module, i, IR_SHL, index, ir_integer(s->module, s->function, IR_B32, __builtin_ctz(scale)), IR_NO_WRAP);
    return ir_binary(s->module, i, IR_MUL, index, ir_integer(s->module, s->function, index->type, scale), IR_NO_WRAP);
}

bool lower_addresses(IrModule *module, IrFunction *function)
{
    Addresses s = {.module = module, .function = function};
    for (IrBlock *block = function->first; block; block = block->next)
        for (IrInstruction *i = block->first; i; i = i->next) {
            if (i->op != IR_OFFSET || i->operand_count != 2 || (i->scale == 1 && i->operands[1]->type == i->type))
                continue;
            ir_set_operand(i, 1, index_in_bytes(&s, i));
            i->scale = 1;
            i->flags &= ~(uint32_t)IR_SIGNED;
            s.changed = true;
        }
    return s.changed;
}

static bool takes_offset(const IrInstruction *user, const IrUse *use)
{
    switch (user->op) {
    case IR_LOAD:
    case IR_STORE:
    case IR_LOAD_VECTOR:
    case IR_STORE_VECTOR:
        return use->operand == 0;
    default:
        return false;
    }
}

bool fold_offsets(IrModule *module, IrFunction *function)
{
    bool changed = false;
    (void)module;
    for (IrBlock *block = function->first; block; block = block->next)
        for (IrInstruction *i = block->first; i; i = i->next) {
            if (i->op != IR_OFFSET || i->operand_count != 1)
                continue;
            for (IrUse *use = i->uses, *next; use; use = next) {
                next = use->next;
                const int64_t sum = use->user->integer + i->integer;
                if (!takes_offset(use->user, use) || sum > INT32_MAX || sum < INT32_MIN)
                    continue;
                IrInstruction *user = use->user;
                ir_set_operand(user, 0, i->operands[0]);
                user->integer = sum;
                changed = true;
            }
        }
    return changed;
}
