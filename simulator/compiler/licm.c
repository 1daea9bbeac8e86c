// licm.c: loop-invariant code motion. Hoists instructions with invariant operands to the preheader: those without effects always; loads if
// no write in the loop may alias them, and either the loop always executes them or they cannot fault; asm only after loops are unrolled.
// What only code after the loop needs is computed after it.
#include "compiler/memory.h"

#include <string.h>

enum { MAX_WRITES = 256 };

typedef struct Hoisting {
    IrModule *module;
    IrFunction *function;
    const Dominators *dominators;
    const Loops *loops;
    const Loop *loop;
    bool is_late;
    IrInstruction *insert_before; // the preheader's terminator
    const IrInstruction *writes[MAX_WRITES];
    uint32_t write_count;
} Hoisting;

static bool has_invariant_operands(const Hoisting *h, const IrInstruction *i)
{
    for (uint32_t k = 0; k < i->operand_count; k++)
        if (!is_loop_invariant(h->loops, h->loop, i->operands[k]))
            return false;
    return true;
}

// Whether the block is executed in each iteration: it dominates all exits.
static bool is_always_executed(const Hoisting *h, const IrBlock *block)
{
    if (block == h->loop->header)
        return true;
    for (uint32_t k = 0; k < h->loop->block_count; k++) {
        const IrBlock *from = h->loop->blocks[k];
        for (uint32_t t = 0; t < ir_target_count(from); t++)
            if (!loop_contains(h->loops, h->loop, from->last->target[t]) && !block_dominates(h->dominators, block, from))
                return false;
    }
    return true;
}

// Whether the load is in bounds of a variable, so that it cannot fault.
static bool is_safe_address(const IrInstruction *load)
{
    const Location location = location_of(load);
    const IrInstruction *root = location.root;
    if (location.index != root)
        return false;
    if (root->op == IR_SYMBOL)
        return location.begin >= 0 && (uint64_t)location.begin + location.bytes <= root->symbol->bytes;
    return (root->op == IR_ALLOCA && location.begin >= 0 && location.begin + location.bytes <= root->memory_bytes) || load->space == IR_PARAMETER;
}

bool is_safe_to_speculate(const IrInstruction *i)
{
    if (i->op == IR_LOAD || i->op == IR_LOAD_VECTOR)
        return !(i->flags & IR_VOLATILE) && is_safe_address(i);
    return ir_is_pure(i);
}

// Whether the value is only a part of varying addresses, which LLVM computes by one instruction, or a constant offset from an address, which
// it adds where the address is used.
static bool is_part_of_address(const Hoisting *h, const IrInstruction *i)
{
    if (i->op != IR_OFFSET && i->op != IR_SYMBOL)
        return false;
    if (i->op == IR_OFFSET && i->operand_count == 1)
        return true;
    for (const IrUse *use = i->uses; use; use = use->next)
        if (use->user->op != IR_OFFSET || use->operand != 0 || use->user->operand_count != 2 || is_loop_invariant(h->loops, h->loop, use->user->operands[1]))
            return false;
    return i->uses != NULL;
}

static bool can_hoist(const Hoisting *h, const IrInstruction *i)
{
    if (is_part_of_address(h, i) || (!h->is_late && ir_is_assembly(i)))
        return false;
    if (i->op == IR_LOAD || i->op == IR_LOAD_VECTOR) {
        if ((i->flags & IR_VOLATILE) || (!is_safe_address(i) && !is_always_executed(h, i->block)))
            return false;
        const Location location = location_of(i);
        if (h->write_count == MAX_WRITES)
            return ir_is_pure(i);
        for (uint32_t k = 0; k < h->write_count && !ir_is_pure(i); k++)
            if (may_write(h->function, h->writes[k], &location))
                return false;
        return true;
    }
    if (!ir_is_pure(i) || i->op == IR_ELEMENT)
        return i->op == IR_ELEMENT && ir_is_pure(i);
    const bool may_divide_by_zero = (i->op == IR_DIV || i->op == IR_REM) && !ir_is_float_type(i->type);
    return !may_divide_by_zero || i->operands[1]->op == IR_INTEGER || i->operands[1]->op == IR_REAL || is_always_executed(h, i->block);
}

static void list_writes(Hoisting *h)
{
    h->write_count = 0;
    for (uint32_t k = 0; k < h->loop->block_count; k++)
        for (const IrInstruction *i = h->loop->blocks[k]->first; i; i = i->next)
            if (is_memory_write(i) && h->write_count < MAX_WRITES)
                h->writes[h->write_count++] = i;
}

// A copy of the asm, as unrolling makes them, that has already been hoisted to the preheader; or NULL.
static IrInstruction *hoisted_copy(const Hoisting *h, const IrInstruction *i)
{
    for (IrInstruction *other = h->insert_before->previous; other; other = other->previous)
        if (ir_is_assembly(other) && other->intrinsic == i->intrinsic && other->operand_count == i->operand_count &&
            (!i->operand_count || memcmp(other->operands, i->operands, i->operand_count * sizeof *i->operands) == 0))
            return other;
    return NULL;
}

static bool hoist_from(Hoisting *h)
{
    bool changed = false;
    for (uint32_t k = 0; k < h->loop->block_count; k++)
        for (IrInstruction *i = h->loop->blocks[k]->first, *next; i; i = next) {
            next = i->next;
            if (i->op == IR_PHI || ir_is_terminator(i) || !has_invariant_operands(h, i) || !can_hoist(h, i))
                continue;
            IrInstruction *copy = ir_is_assembly(i) ? hoisted_copy(h, i) : NULL;
            if (copy)
                ir_replace(i, copy);
            else
                ir_move_before(h->insert_before, i);
            changed = true;
        }
    return changed;
}

// ---- Sinking: what only code after the loop needs is computed there

// The one block that the loop goes to, or NULL.
static IrBlock *only_exit(const Hoisting *h)
{
    IrBlock *exit = NULL;
    for (uint32_t k = 0; k < h->loop->block_count; k++) {
        const IrBlock *from = h->loop->blocks[k];
        for (uint32_t t = 0; t < ir_target_count(from); t++) {
            IrBlock *to = from->last->target[t];
            if (loop_contains(h->loops, h->loop, to) || to == exit)
                continue;
            if (exit)
                return NULL;
            exit = to;
        }
    }
    return exit;
}

static bool can_sink(const Hoisting *h, const IrInstruction *i, const IrBlock *exit)
{
    const bool is_load = i->op == IR_LOAD && !(i->flags & IR_VOLATILE) && h->write_count < MAX_WRITES;
    if (i->op == IR_PHI || i->op == IR_ELEMENT || !i->uses || (!is_load && !ir_is_pure(i)))
        return false;
    for (const IrUse *use = i->uses; use; use = use->next) {
        const IrInstruction *user = use->user;
        const IrBlock *at = user->op == IR_PHI ? user->block->predecessors[use->operand] : user->block;
        if (!block_dominates(h->dominators, exit, at))
            return false;
    }
    const Location location = is_load ? location_of(i) : (Location){.bytes = 0};
    for (uint32_t k = 0; is_load && !ir_is_pure(i) && k < h->write_count; k++)
        if (may_write(h->function, h->writes[k], &location))
            return false;
    return true;
}

static bool sink_from(Hoisting *h)
{
    bool changed = false;
    IrBlock *exit = only_exit(h);
    for (uint32_t k = h->loop->block_count; exit && k-- > 0;)
        for (IrInstruction *i = h->loop->blocks[k]->last->previous, *previous; i; i = previous) {
            previous = i->previous;
            if (!can_sink(h, i, exit))
                continue;
            ir_move_before(ir_first_not_phi(exit), i);
            changed = true;
        }
    return changed;
}

static bool hoist(IrModule *module, IrFunction *function, bool is_late)
{
    bool changed = loops_simplify(module, function);
    const Dominators *d = dominators_of(module, function);
    const Loops *loops = loops_of(module, function, d);
    Hoisting *h = ir_scratch(module, sizeof *h);
    *h = (Hoisting){.module = module, .function = function, .dominators = d, .loops = loops, .is_late = is_late};
    for (const Loop *loop = loops->all; loop; loop = loop->next) {
        const IrBlock *preheader = loop_preheader(loops, loop);
        if (!preheader)
            continue;
        h->loop = loop;
        h->insert_before = preheader->last;
        list_writes(h);
        changed |= sink_from(h) | hoist_from(h);
    }
    return changed;
}

bool hoist_invariants(IrModule *module, IrFunction *function)
{
    return hoist(module, function, false);
}

bool hoist_invariants_late(IrModule *module, IrFunction *function)
{
    return hoist(module, function, true);
}
