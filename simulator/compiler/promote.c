// promote.c: local variables become values (mem2reg). A variable whose address is only loaded from and stored to is replaced by
// the value stored last; phis are placed on the iterated dominance frontier of its stores, where it is still live.
#include "compiler/passes.h"

#include <stdlib.h>

typedef struct Access { // one load or store of the variable
    IrInstruction *instruction;
    uint32_t block, position; // the block's number in reverse postorder; the position in the block
} Access;

typedef struct Promotion {
    IrModule *module;
    IrFunction *function;
    const Dominators *dominators;
    const Frontiers *frontiers;
    uint32_t *position;       // indexed by an instruction's id: its position in its block
    // Indexed by a block's id. An entry is valid for the current variable if its stamp equals `stamp`.
    uint32_t *phi_stamp, *live_stamp, *end_stamp, *entry_stamp;
    IrInstruction **phi, **last_store, **at_entry;
    uint32_t stamp;
    IrBlock **stack, **phi_blocks;
    uint32_t phi_count;
    Access *accesses;
    uint32_t access_count, access_capacity;
} Promotion;

// The type that the variable is promoted to, or IR_VOID if it cannot be. Accesses may have other types of the same width.
static IrType promotable_type(const IrInstruction *variable)
{
    IrType type = IR_VOID;
    for (const IrUse *use = variable->uses; use; use = use->next) {
        const IrInstruction *user = use->user;
        const bool is_access = (user->op == IR_LOAD || user->op == IR_STORE) && use->operand == 0;
        if (!is_access || user->integer || (user->flags & IR_VOLATILE))
            return IR_VOID;
        if (user->op == IR_STORE && (type == IR_VOID || type == user->memory))
            type = user->memory;
        else if (user->op == IR_STORE && ir_bits(type) != ir_bits(user->memory))
            return IR_VOID;
    }
    for (const IrUse *use = variable->uses; use; use = use->next)
        if (use->user->op == IR_LOAD && type == IR_VOID)
            type = use->user->memory;
    for (const IrUse *use = variable->uses; use; use = use->next)
        if (ir_bits(use->user->memory) != ir_bits(type))
            return IR_VOID;
    return type;
}

// ---- One variable

static int compare_accesses(const void *one, const void *other)
{
    const Access *a = one, *b = other;
    if (a->block != b->block)
        return a->block < b->block ? -1 : 1;
    return a->position < b->position ? -1 : a->position > b->position;
}

static void list_accesses(Promotion *p, const IrInstruction *variable)
{
    p->access_count = 0;
    for (const IrUse *use = variable->uses; use; use = use->next)
        p->access_count++;
    if (p->access_count > p->access_capacity) {
        p->access_capacity = 2 * p->access_count;
        p->accesses = ir_scratch(p->module, p->access_capacity * sizeof *p->accesses);
    }
    uint32_t k = 0;
    for (const IrUse *use = variable->uses; use; use = use->next)
        p->accesses[k++] = (Access){use->user, p->dominators->number[use->user->block->id], p->position[use->user->id]};
    qsort(p->accesses, p->access_count, sizeof *p->accesses, compare_accesses);
}

// Finds the blocks at whose start the variable is live.
static void find_live_blocks(Promotion *p)
{
    uint32_t depth = 0;
    const IrBlock *previous = NULL;
    for (uint32_t k = 0; k < p->access_count; k++) {
        IrBlock *block = p->accesses[k].instruction->block;
        if (block != previous && p->accesses[k].instruction->op == IR_LOAD)
            p->stack[depth++] = block;
        previous = block;
    }
    while (depth) {
        const IrBlock *block = p->stack[--depth];
        if (p->live_stamp[block->id] == p->stamp)
            continue;
        p->live_stamp[block->id] = p->stamp;
        for (uint32_t k = 0; k < block->predecessor_count; k++)
            if (p->end_stamp[block->predecessors[k]->id] != p->stamp && p->live_stamp[block->predecessors[k]->id] != p->stamp)
                p->stack[depth++] = block->predecessors[k];
    }
}

static void place_phis(Promotion *p, IrType type)
{
    uint32_t depth = 0;
    const IrBlock *previous = NULL;
    for (uint32_t k = 0; k < p->access_count; k++)
        if (p->accesses[k].instruction->op == IR_STORE && p->accesses[k].instruction->block != previous)
            p->stack[depth++] = p->accesses[k].instruction->block, previous = p->stack[depth - 1];
    while (depth) {
        const IrBlock *block = p->stack[--depth];
        for (uint32_t k = 0; k < p->frontiers->count[block->id]; k++) {
            IrBlock *join = p->frontiers->blocks[block->id][k];
            if (p->phi_stamp[join->id] == p->stamp || p->live_stamp[join->id] != p->stamp)
                continue;
            p->phi_stamp[join->id] = p->stamp;
            p->phi[join->id] = ir_phi(p->module, join, type);
            p->phi_blocks[p->phi_count++] = join;
            p->stack[depth++] = join;
        }
    }
}

// The value at the start of a block without a phi is the value at the end of its immediate dominator.
static IrInstruction *value_at_entry(Promotion *p, IrBlock *block, IrType type)
{
    uint32_t depth = 0;
    IrInstruction *value = NULL;
    IrBlock *at = block;
    for (; at && !value;) {
        if (p->phi_stamp[at->id] == p->stamp)
            value = p->phi[at->id];
        else if (p->entry_stamp[at->id] == p->stamp)
            value = p->at_entry[at->id];
        else {
            p->stack[depth++] = at;
            at = p->dominators->parent[at->id];
            if (at && p->end_stamp[at->id] == p->stamp)
                value = p->last_store[at->id]->operands[1];
        }
    }
    if (!value)
        value = ir_undefined(p->module, p->function, type);
    while (depth) {
        const IrBlock *walked = p->stack[--depth];
        p->entry_stamp[walked->id] = p->stamp;
        p->at_entry[walked->id] = value;
    }
    return value;
}

static IrInstruction *value_at_end(Promotion *p, IrBlock *block, IrType type)
{
    return p->end_stamp[block->id] == p->stamp ? p->last_store[block->id]->operands[1] : value_at_entry(p, block, type);
}

// The value as `type`: a bit cast between types of one width, otherwise a conversion.
static IrInstruction *converted(Promotion *p, IrInstruction *insert_before, IrInstruction *value, IrType type, uint32_t flags)
{
    if (value->type == type)
        return value;
    if (value->op == IR_UNDEFINED)
        return ir_undefined(p->module, p->function, type);
    if (ir_bits(value->type) == ir_bits(type)) {
        IrInstruction *cast = ir_insert_before(p->module, insert_before, IR_BITCAST, type, 1, &value);
        cast->line = insert_before->line;
        cast->file = insert_before->file;
        return cast;
    }
    return ir_convert(p->module, insert_before, type, value, flags);
}

static IrInstruction *loaded_value(Promotion *p, IrInstruction *load, IrInstruction *value)
{
    if (load->type == value->type)
        return value;
    IrInstruction *in_memory = converted(p, load, value, load->memory, 0);
    return converted(p, load, in_memory, load->type, load->flags & IR_SIGNED);
}

static void find_stored_values(Promotion *p, IrType type)
{
    for (uint32_t k = 0; k < p->access_count; k++) {
        IrInstruction *store = p->accesses[k].instruction;
        if (store->op != IR_STORE)
            continue;
        IrInstruction *value = converted(p, store, store->operands[1], store->memory, 0);
        ir_set_operand(store, 1, converted(p, store, value, type, 0));
        p->last_store[store->block->id] = store;
        p->end_stamp[store->block->id] = p->stamp;
    }
}

// Replaces accesses in reverse postorder, so that a stored value that is itself a load has been replaced before it is used.
static void replace_accesses(Promotion *p, IrType type)
{
    const IrBlock *previous = NULL;
    IrInstruction *current = NULL;
    for (uint32_t k = 0; k < p->access_count; k++) {
        IrInstruction *access = p->accesses[k].instruction;
        if (access->block != previous)
            current = NULL;
        previous = access->block;
        if (access->op == IR_STORE)
            current = access->operands[1];
        else
            ir_replace_uses(access, loaded_value(p, access, current ? current : value_at_entry(p, access->block, type)));
    }
}

static void fill_phis(Promotion *p, IrType type)
{
    for (uint32_t k = 0; k < p->phi_count; k++) {
        IrBlock *block = p->phi_blocks[k];
        for (uint32_t e = 0; e < block->predecessor_count; e++) {
            IrBlock *from = block->predecessors[e];
            const bool is_reachable = p->dominators->number[from->id] != UINT32_MAX;
            ir_add_operand(p->module, p->phi[block->id],
                           is_reachable ? value_at_end(p, from, type) : ir_undefined(p->module, p->function, type));
        }
    }
}

static void promote(Promotion *p, IrInstruction *variable, IrType type)
{
    p->stamp++;
    p->phi_count = 0;
    list_accesses(p, variable);
    find_stored_values(p, type);
    find_live_blocks(p);
    place_phis(p, type);
    replace_accesses(p, type);
    fill_phis(p, type);
    for (uint32_t k = 0; k < p->access_count; k++)
        ir_remove(p->accesses[k].instruction);
    ir_remove(variable);
}

static void number_positions(Promotion *p)
{
    p->position = ir_scratch(p->module, p->function->next_instruction * sizeof *p->position);
    for (const IrBlock *block = p->function->first; block; block = block->next) {
        uint32_t position = 0;
        for (const IrInstruction *i = block->first; i; i = i->next)
            p->position[i->id] = ++position;
    }
}

IrInstruction **list_variables(IrModule *module, const IrFunction *function, uint32_t *count)
{
    *count = 0;
    for (const IrBlock *block = function->first; block; block = block->next)
        for (IrInstruction *i = block->first; i; i = i->next)
            *count += i->op == IR_ALLOCA;
    IrInstruction **variables = ir_scratch(module, (*count + 1) * sizeof *variables);
    *count = 0;
    for (const IrBlock *block = function->first; block; block = block->next)
        for (IrInstruction *i = block->first; i; i = i->next)
            if (i->op == IR_ALLOCA)
                variables[(*count)++] = i;
    return variables;
}

bool promote_variables(IrModule *module, IrFunction *function)
{
    ir_remove_unreachable(module, function);
    Promotion p = {.module = module, .function = function, .dominators = dominators_of(module, function)};
    const uint32_t blocks = function->next_block;
    uint32_t **stamps[] = {&p.phi_stamp, &p.live_stamp, &p.end_stamp, &p.entry_stamp};
    for (uint32_t k = 0; k < 4; k++)
        *stamps[k] = ir_scratch(module, blocks * sizeof(uint32_t));
    IrInstruction ***values[] = {&p.phi, &p.last_store, &p.at_entry};
    for (uint32_t k = 0; k < 3; k++)
        *values[k] = ir_scratch(module, blocks * sizeof(IrInstruction *));
    uint32_t edges = blocks + 1;
    for (const IrBlock *block = function->first; block; block = block->next)
        edges += block->predecessor_count;
    p.stack = ir_scratch(module, edges * sizeof *p.stack);
    p.phi_blocks = ir_scratch(module, (blocks + 1) * sizeof *p.phi_blocks);
    p.frontiers = frontiers_of(module, function, p.dominators);
    number_positions(&p);
    bool changed = false;
    uint32_t count;
    IrInstruction **variables = list_variables(module, function, &count);
    for (uint32_t k = 0; k < count; k++) {
        const IrType type = promotable_type(variables[k]);
        if (variables[k]->uses && type == IR_VOID)
            continue;
        if (variables[k]->uses)
            promote(&p, variables[k], type);
        else
            ir_remove(variables[k]);
        changed = true;
    }
    return changed;
}
