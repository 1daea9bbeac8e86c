// redundant_loads.c: partial redundancy elimination of loads. A load whose value is known on every path to it, from stores or other
// loads, is replaced by phis of these values. If the value is unknown on one path only, it is loaded there. A loop that loads what
// its previous iteration has stored, as sums[0] += ... does, thus keeps the value in a register.
#include "compiler/memory.h"

enum { MAX_BLOCKS = 100, MAX_STEPS = 4000, MAX_LOADS = 4000 };

typedef enum State { UNVISITED, TRANSPARENT, KNOWN, UNKNOWN } State;

typedef struct Search { // the search for one load's value; tables are indexed by a block's id
    IrModule *module;
    IrFunction *function;
    const Dominators *dominators;
    const IrInstruction *load;
    Location location;
    uint32_t steps, original_blocks;
    uint8_t *state;         // State at the end of the block
    IrInstruction **values; // the value at the end of the block, if KNOWN
    IrBlock *visited[MAX_BLOCKS];
    uint32_t visited_count;
} Search;

// The value of the location if the instruction loads or stores it, or NULL.
static IrInstruction *value_after(const Search *s, IrInstruction *i)
{
    const bool is_load = i->op == IR_LOAD;
    if ((!is_load && i->op != IR_STORE) || (i->flags & IR_VOLATILE) || i->memory != s->load->memory)
        return NULL;
    IrInstruction *value = is_load ? i : i->operands[1];
    const bool is_whole = value->type == s->load->type && (is_load ? !((i->flags ^ s->load->flags) & IR_SIGNED) : ir_bits(i->memory) == ir_bits(value->type));
    const Location other = location_of(i);
    return is_whole && alias(s->function, &s->location, &other) == SAME_BYTES ? value : NULL;
}

// Whether the instruction computes the location's base or index, so that the location is unknown before it.
static bool begins_location(const Search *s, const IrInstruction *i)
{
    const IrInstruction *index = s->location.index;
    if (i->op == IR_SYMBOL)
        return false;
    return i == s->location.root || (i == index && (i->op != IR_OFFSET || i->operand_count != 2)) ||
           (index->op == IR_OFFSET && index->operand_count == 2 && (i == index->operands[0] || i == index->operands[1]));
}

// Scans from an instruction back to the start of its block.
static State scan_backwards(Search *s, IrInstruction *i, IrInstruction **value)
{
    for (; i; i = i->previous) {
        if (++s->steps > MAX_STEPS)
            return UNKNOWN;
        *value = value_after(s, i);
        if (*value)
            return KNOWN;
        if (begins_location(s, i) || may_write(s->function, i, &s->location))
            return UNKNOWN;
    }
    return TRANSPARENT;
}

// Adds the predecessors to the blocks to visit; false if there are too many.
static bool visit_predecessors(Search *s, const IrBlock *block)
{
    for (uint32_t k = 0; k < block->predecessor_count; k++) {
        IrBlock *from = block->predecessors[k];
        if (s->state[from->id] != UNVISITED)
            continue;
        if (s->visited_count == MAX_BLOCKS)
            return false;
        s->state[from->id] = TRANSPARENT;
        s->visited[s->visited_count++] = from;
    }
    return true;
}

// Finds the blocks at whose ends the value is known, walking back from the load; false if the load cannot be replaced.
static bool find_values(Search *s)
{
    IrInstruction *value = NULL;
    bool is_found = false;
    if (scan_backwards(s, s->load->previous, &value) != TRANSPARENT || !visit_predecessors(s, s->load->block))
        return false;
    for (uint32_t k = 0; k < s->visited_count; k++) {
        IrBlock *block = s->visited[k];
        State state = scan_backwards(s, block->last, &s->values[block->id]);
        if (state == TRANSPARENT && !block->predecessor_count)
            state = UNKNOWN;
        s->state[block->id] = (uint8_t)state;
        is_found |= state == KNOWN && s->values[block->id] != s->load;
        if (state == TRANSPARENT && !visit_predecessors(s, block))
            return false;
    }
    return is_found;
}

// Propagates UNKNOWN from blocks to their TRANSPARENT successors.
static void propagate_unknown(Search *s)
{
    for (bool again = true; again;) {
        again = false;
        for (uint32_t k = 0; k < s->visited_count; k++) {
            const IrBlock *block = s->visited[k];
            for (uint32_t p = 0; p < block->predecessor_count && s->state[block->id] == TRANSPARENT; p++)
                if (s->state[block->predecessors[p]->id] == UNKNOWN) {
                    s->state[block->id] = UNKNOWN;
                    again = true;
                }
        }
    }
}

// The block where the paths to the load join, or NULL.
static IrBlock *join_before(const IrInstruction *load)
{
    IrBlock *block = load->block;
    for (uint32_t steps = 0; block->predecessor_count == 1; steps++) {
        block = block->predecessors[0];
        if (block->last->op != IR_JUMP || steps == MAX_BLOCKS)
            return NULL;
    }
    return block;
}

static uint32_t count_unknown(const Search *s, const IrBlock *join, uint32_t *last)
{
    uint32_t count = 0;
    for (uint32_t k = 0; k < join->predecessor_count; k++)
        if (s->state[join->predecessors[k]->id] == UNKNOWN || s->state[join->predecessors[k]->id] == UNVISITED) {
            count++;
            *last = k;
        }
    return count;
}

// Whether the value is available at the end of a block, or can be computed there from available values.
static bool is_address_available(const Search *s, const IrInstruction *value, const IrBlock *at, uint32_t depth)
{
    if (!value->block || block_dominates(s->dominators, value->block, at))
        return true;
    if ((value->op != IR_OFFSET && value->op != IR_SYMBOL && value->op != IR_FROM_GENERIC) || depth > 8)
        return false;
    for (uint32_t k = 0; k < value->operand_count; k++)
        if (!is_address_available(s, value->operands[k], at, depth + 1))
            return false;
    return true;
}

static IrInstruction *address_at(Search *s, IrInstruction *value, const IrBlock *at, IrInstruction *insert_before)
{
    if (!value->block || block_dominates(s->dominators, value->block, at))
        return value;
    IrInstruction *copy = ir_clone(s->module, s->function, value);
    for (uint32_t k = 0; k < copy->operand_count; k++)
        ir_set_operand(copy, k, address_at(s, value->operands[k], at, insert_before));
    ir_link_before(insert_before, copy);
    return copy;
}

// The block, or its predecessor if this pass has created the block by splitting an edge.
static IrBlock *original_block(const Search *s, IrBlock *from)
{
    return from->id < s->original_blocks ? from : from->predecessors[0];
}

// Inserts a load on the one edge on which the value is unknown.
static void load_on_edge(Search *s, IrBlock *join, uint32_t edge, IrInstruction *variable)
{
    IrBlock *from = join->predecessors[edge], *at = original_block(s, from);
    if (from->last->op != IR_JUMP)
        from = ir_split_edge(s->module, from, from->last->target[0] == join ? 0 : 1);
    IrInstruction *first = ir_clone(s->module, s->function, s->load);
    ir_set_operand(first, 0, address_at(s, s->load->operands[0], at, from->last));
    ir_link_before(from->last, first);
    store_variable(s->module, from->last, variable, first);
}

static bool is_known_at_load(const Search *s)
{
    for (uint32_t k = 0; k < s->load->block->predecessor_count; k++)
        if (s->state[s->load->block->predecessors[k]->id] == UNKNOWN)
            return false;
    return true;
}

static void replace_load(Search *s, IrInstruction *load, IrInstruction *variable)
{
    for (uint32_t k = 0; k < s->visited_count; k++) {
        const IrBlock *block = s->visited[k];
        if (s->state[block->id] == KNOWN && s->values[block->id] != load)
            store_variable(s->module, block->last, variable, s->values[block->id]);
    }
    ir_replace(load, load_variable(s->module, load, variable, load->type));
}

static bool remove_load(Search *s, IrInstruction *load)
{
    for (uint32_t k = 0; k < s->visited_count; k++)
        s->state[s->visited[k]->id] = UNVISITED;
    s->load = load;
    s->location = location_of(load);
    s->steps = s->visited_count = 0;
    if (!find_values(s))
        return false;
    propagate_unknown(s);
    IrBlock *join = NULL;
    uint32_t edge = 0;
    if (!is_known_at_load(s)) {
        join = join_before(load);
        if (!join || count_unknown(s, join, &edge) != 1 || !is_address_available(s, load->operands[0], original_block(s, join->predecessors[edge]), 0))
            return false;
    }
    IrInstruction *variable = new_variable(s->module, s->function);
    if (join)
        load_on_edge(s, join, edge, variable);
    replace_load(s, load, variable);
    return true;
}

bool remove_redundant_loads(IrModule *module, IrFunction *function)
{
    bool changed = false;
    uint32_t loads = 0;
    const uint32_t first_new = function->next_instruction, blocks = function->next_block + MAX_LOADS; // at most one new block a load
    Search *s = ir_scratch(module, sizeof *s);
    *s = (Search){.module = module, .function = function, .dominators = dominators_of(module, function), .original_blocks = function->next_block};
    s->state = ir_scratch(module, blocks);
    s->values = ir_scratch(module, blocks * sizeof *s->values);
    for (IrBlock *block = function->first; block; block = block->next)
        for (IrInstruction *i = block->first, *next; i; i = next) {
            next = i->next;
            if (i->op == IR_LOAD && !(i->flags & IR_VOLATILE) && !ir_is_pure(i) && i->id < first_new && loads++ < MAX_LOADS)
                changed |= remove_load(s, i);
        }
    return changed && promote_variables(module, function);
}
