// gvn.c: global value numbering. An instruction is replaced by a dominating one that computes the same value; a load, by the value last
// stored or loaded there, if no write in between may alias (memory_versions.c). In the blocks that a branch target dominates, the
// branch's condition is known.
#include "compiler/intrinsics.h"
#include "compiler/memory.h"
#include "compiler/simplify.h"

#include <string.h>

enum { MAX_BUCKET_WALK = 64, MAX_USES = 500 };

typedef struct Entry {
    IrInstruction *instruction;
    const Version *version; // the memory version that a load reads; NULL: not a load
    uint64_t hash;
    struct Entry *next;
} Entry;

typedef struct Fact { // a comparison with a known result in the blocks that `block` dominates
    const IrInstruction *a, *b;
    IrCompare compare;
    bool is_signed, result;
    const IrBlock *block;
    struct Fact *next;
} Fact;

typedef struct Numbering {
    IrModule *module;
    IrFunction *function;
    const Dominators *dominators;
    MemoryVersions *versions;
    Entry **buckets;
    Fact **facts;
    uint32_t mask;
    bool is_local;        // local value numbering: each block is processed separately
    bool uses_facts;      // conditions of dominating branches
    bool changed;
} Numbering;

static bool depends_on_sign(const IrInstruction *i)
{
    switch (i->op) {
    case IR_DIV: case IR_REM: case IR_SHR: case IR_MIN: case IR_MAX: case IR_MUL_HIGH: case IR_MUL_WIDE: case IR_CONVERT: case IR_LOAD:
        return true;
    case IR_OFFSET:
        return i->operand_count == 2;
    case IR_COMPARE:
        return i->compare != IR_EQUAL && i->compare != IR_NOT_EQUAL;
    default:
        return false;
    }
}

static uint32_t significant_flags(const IrInstruction *i)
{
    uint32_t flags = i->flags & ~(uint32_t)(IR_NO_WRAP | IR_READ_ONLY);
    return depends_on_sign(i) ? flags : flags & ~(uint32_t)IR_SIGNED;
}

static bool is_commutative(const IrInstruction *i)
{
    switch (i->op) {
    case IR_ADD: case IR_MUL: case IR_AND: case IR_OR: case IR_XOR: case IR_MIN: case IR_MAX: case IR_MUL_HIGH: case IR_MUL_WIDE:
        return !ir_is_float_type(i->type) || i->op == IR_ADD || i->op == IR_MUL;
    case IR_COMPARE:
        return i->compare == IR_EQUAL || i->compare == IR_NOT_EQUAL;
    default:
        return false;
    }
}

static uint64_t mixed(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0x9e3779b97f4a7c15;
    return hash ^ hash >> 29;
}

static const void *details(const IrInstruction *i)
{
    return i->op == IR_SYMBOL ? (const void *)i->symbol : i->op == IR_INTRINSIC ? (const void *)i->intrinsic : NULL;
}

static uint64_t hash_of(const IrInstruction *i, const Version *version)
{
    uint64_t hash = mixed(i->op | (uint64_t)i->type << 8 | (uint64_t)i->memory << 16 | (uint64_t)i->compare << 24 | (uint64_t)i->space << 32,
                          significant_flags(i) | (uint64_t)i->scale << 32);
    hash = mixed(hash, (uint64_t)i->integer ^ (uint64_t)i->index << 40);
    hash = mixed(hash, (uintptr_t)details(i) ^ (uintptr_t)version);
    uint64_t operands = 0;
    for (uint32_t k = 0; k < i->operand_count; k++)
        operands = is_commutative(i) ? operands + mixed(7, i->operands[k]->id) : mixed(operands, i->operands[k]->id);
    return mixed(hash, operands);
}

static bool same_operands(const IrInstruction *a, const IrInstruction *b)
{
    if (a->operand_count != b->operand_count)
        return false;
    if (is_commutative(a) && a->operands[0] == b->operands[1] && a->operands[1] == b->operands[0])
        return true;
    for (uint32_t k = 0; k < a->operand_count; k++)
        if (a->operands[k] != b->operands[k])
            return false;
    return true;
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_computation(const IrInstruction *a, const IrInstruction *b)
{
    if (a->op != b->op || a->type != b->type || a->memory != b->memory || a->compare != b->compare || a->space != b->space || a->count != b->count)
        return false;
    if (significant_flags(a) != significant_flags(b) || a->integer != b->integer || a->scale != b->scale || a->index != b->index)
        return false;
    if (details(a) != details(b) || !same_text(a->text, b->text) || !same_operands(a, b))
        return false;
    return a->op != IR_SPECIAL || strcmp(a->special, b->special) == 0;
}

// ---- Values

static bool can_number(const IrInstruction *i)
{
    if (i->op == IR_LOAD || i->op == IR_LOAD_VECTOR)
        return !(i->flags & IR_VOLATILE);
    return ir_is_pure(i) && i->op != IR_ARGUMENT && !ir_is_assembly(i); // NVVM does not merge equal assembly
}

static const Version *version_of(const Numbering *n, const IrInstruction *i)
{
    if ((i->op != IR_LOAD && i->op != IR_LOAD_VECTOR) || ir_is_pure(i) || i->id >= n->versions->capacity)
        return NULL;
    const Location location = location_of(i);
    return clobbering_version(n->versions, n->versions->before[i->id], &location);
}

static bool is_before(const Numbering *n, const IrInstruction *earlier, const IrInstruction *i)
{
    return earlier->block && (earlier->block == i->block || (!n->is_local && block_dominates(n->dominators, earlier->block, i->block)));
}

static IrInstruction *find(const Numbering *n, const IrInstruction *i, const Version *version, uint64_t hash)
{
    uint32_t steps = 0;
    for (const Entry *entry = n->buckets[hash & n->mask]; entry && steps++ < MAX_BUCKET_WALK; entry = entry->next)
        if (entry->hash == hash && entry->version == version && entry->instruction != i && same_computation(entry->instruction, i) &&
            is_before(n, entry->instruction, i))
            return entry->instruction;
    return NULL;
}

static void add(Numbering *n, IrInstruction *i, const Version *version, uint64_t hash)
{
    Entry *entry = ir_scratch(n->module, sizeof *entry);
    *entry = (Entry){.instruction = i, .version = version, .hash = hash, .next = n->buckets[hash & n->mask]};
    n->buckets[hash & n->mask] = entry;
}

// ---- Stores

// A stored value converted to the type of a load, or NULL.
static IrInstruction *value_as_loaded(Numbering *n, IrInstruction *load, IrType memory, IrInstruction *value)
{
    if (value->type == load->type && (memory == load->type || (memory == load->memory && ir_bits(memory) == ir_bits(value->type))))
        return value;
    if (ir_bits(memory) != ir_bits(load->memory))
        return NULL;
    if (ir_is_float_type(memory) != ir_is_float_type(load->memory)) {
        if (ir_bits(memory) != ir_bits(value->type) || ir_bits(load->memory) != ir_bits(load->type))
            return NULL;
        return ir_insert_before(n->module, load, IR_BITCAST, load->type, 1, &value);
    }
    if (memory != load->memory || ir_is_float_type(memory) || value->type == IR_PRED || load->type == IR_PRED)
        return NULL;
    IrInstruction *narrow = value->type == memory ? value : ir_convert(n->module, load, memory, value, 0);
    return narrow->type == load->type ? narrow : ir_convert(n->module, load, load->type, narrow, load->flags & IR_SIGNED);
}

// The value that the write stores at the address of a load, or of an element of a vector load; NULL if unknown.
static IrInstruction *stored_value(Numbering *n, IrInstruction *value, const IrInstruction *load, const IrInstruction *writer)
{
    const bool is_element = value->op == IR_ELEMENT;
    if ((writer->flags & IR_VOLATILE) || (value->op != IR_LOAD && !is_element) || (is_element && load->memory != value->type))
        return NULL;
    Location location = location_of(load), written = location_of(writer);
    if (is_element) {
        location.bytes /= load->count;
        location.begin += (int64_t)value->index * location.bytes;
    }
    if (writer->op != IR_STORE && writer->op != IR_STORE_VECTOR)
        return NULL;
    const uint32_t count = writer->op == IR_STORE ? 1 : writer->count;
    written.bytes /= count;
    for (uint32_t k = 0; k < count; k++, written.begin += written.bytes) {
        if (alias(n->function, &location, &written) != SAME_BYTES)
            continue;
        IrInstruction *stored = writer->operands[k + 1];
        return !is_element ? value_as_loaded(n, value, writer->memory, stored) : stored->type == value->type && writer->memory == load->memory ? stored : NULL;
    }
    return NULL;
}

// The value of an earlier load of the same bytes that extends them to another type, as this load extends them; or NULL.
static IrInstruction *extended_value(Numbering *n, IrInstruction *load, const Version *version)
{
    if (load->op != IR_LOAD || ir_is_float_type(load->memory) || load->memory == IR_PRED)
        return NULL;
    for (IrType type = load->memory; type <= IR_B64; type++)
        for (uint32_t sign = 0; sign <= IR_SIGNED; sign += IR_SIGNED) {
            IrInstruction other = *load;
            other.type = type;
            other.flags = (uint16_t)((load->flags & ~IR_SIGNED) | sign);
            IrInstruction *earlier = find(n, &other, version, hash_of(&other, version));
            if (earlier && earlier != load)
                return value_as_loaded(n, load, load->memory, earlier);
        }
    return NULL;
}

// ---- Facts

static uint32_t fact_slot(const Numbering *n, const IrInstruction *a, const IrInstruction *b)
{
    return (uint32_t)(mixed(mixed(3, a->id), b->id) >> 8) & n->mask;
}

static void add_fact(Numbering *n, const IrInstruction *compare, bool truth, const IrBlock *block)
{
    Fact **slot = &n->facts[fact_slot(n, compare->operands[0], compare->operands[1])];
    for (uint32_t k = 0; k < 2; k++) {
        Fact *fact = ir_scratch(n->module, sizeof *fact);
        *fact = (Fact){.a = compare->operands[0], .b = compare->operands[1], .is_signed = compare->flags & IR_SIGNED, .block = block, .next = *slot,
                       .compare = k ? inverse_compare(compare->compare) : (IrCompare)compare->compare, .result = truth != (k == 1)};
        *slot = fact;
    }
}

static IrInstruction *known_result(const Numbering *n, const IrInstruction *i)
{
    if (i->op != IR_COMPARE || ir_is_float_type(i->operands[0]->type))
        return NULL;
    uint32_t steps = 0;
    for (const Fact *fact = n->facts[fact_slot(n, i->operands[0], i->operands[1])]; fact && steps++ < MAX_BUCKET_WALK; fact = fact->next)
        if (fact->a == i->operands[0] && fact->b == i->operands[1] && fact->compare == (IrCompare)i->compare &&
            (fact->is_signed == !!(i->flags & IR_SIGNED) || !depends_on_sign(i)) && block_dominates(n->dominators, fact->block, i->block))
            return ir_integer(n->module, n->function, IR_PRED, fact->result);
    return NULL;
}

// Replaces the uses that the block dominates, of the newest MAX_USES; a phi uses its operand at the end of the predecessor.
static void replace_in(Numbering *n, IrInstruction *value, IrInstruction *by, const IrBlock *block)
{
    uint32_t steps = 0;
    for (IrUse *use = value->uses, *next; use && steps++ < MAX_USES; use = next) {
        next = use->next;
        const IrInstruction *user = use->user;
        const IrBlock *at = user->op == IR_PHI ? user->block->predecessors[use->operand] : user->block;
        if (!block_dominates(n->dominators, block, at))
            continue;
        ir_set_operand(use->user, use->operand, by);
        n->changed = true;
    }
}

static void add_facts(Numbering *n, IrInstruction *condition, bool truth, const IrBlock *block, uint32_t depth)
{
    if (condition->op == IR_INTEGER || depth > 8)
        return;
    if (condition->op == IR_NOT)
        add_facts(n, condition->operands[0], !truth, block, depth + 1);
    if (condition->op == (truth ? IR_AND : IR_OR)) {
        IrInstruction *a = condition->operands[0], *b = condition->operands[1];
        add_facts(n, a, truth, block, depth + 1);
        add_facts(n, b, truth, block, depth + 1);
    }
    if (condition->op == IR_COMPARE && !ir_is_float_type(condition->operands[0]->type)) {
        IrInstruction *a = condition->operands[0], *b = condition->operands[1];
        add_fact(n, condition, truth, block);
        if (condition->compare == (truth ? IR_EQUAL : IR_NOT_EQUAL) && b->op == IR_INTEGER && !ir_is_constant(a) && a->type != IR_PRED)
            replace_in(n, a, b, block);
    }
    replace_in(n, condition, ir_integer(n->module, n->function, IR_PRED, truth), block);
}

// ---- The walk

static void add_facts_of_branch(Numbering *n, const IrBlock *block)
{
    if (block->predecessor_count != 1 || !n->uses_facts)
        return;
    const IrInstruction *end = block->predecessors[0]->last;
    if (end->op == IR_BRANCH && end->target[0] != end->target[1])
        add_facts(n, end->operands[0], end->target[0] == block, block, 0);
}

static void replace(Numbering *n, IrInstruction *i, IrInstruction *by)
{
    if (by->op != IR_INTEGER && by->op != IR_REAL)
        by->flags &= i->flags | ~(uint32_t)IR_NO_WRAP;
    ir_replace(i, by);
    n->changed = true;
}

static void number_instruction(Numbering *n, IrInstruction *i)
{
    if (!can_number(i) || (n->is_local && !ir_is_pure(i))) // as in LLVM, the local pass does not merge loads
        return;
    IrInstruction *known = known_result(n, i);
    const Version *version = known ? NULL : version_of(n, i);
    const IrInstruction *load = i->op == IR_ELEMENT ? i->operands[0] : i;
    const Version *loaded = load == i ? version : can_number(load) && !n->is_local ? version_of(n, load) : NULL;
    if (!known && loaded && loaded->writer)
        known = stored_value(n, i, load, loaded->writer);
    if (known && known->block == NULL && !ir_is_constant(known))
        known = NULL;
    if (known) {
        ir_replace(i, known);
        n->changed = true;
        return;
    }
    const uint64_t hash = hash_of(i, version);
    IrInstruction *earlier = find(n, i, version, hash), *extended = earlier ? NULL : extended_value(n, i, version);
    if (earlier)
        replace(n, i, earlier);
    else if (extended)
        ir_replace(i, extended), n->changed = true;
    else
        add(n, i, version, hash);
}

static void number_block(Numbering *n, IrBlock *block)
{
    add_facts_of_branch(n, block);
    for (IrInstruction *i = block->first, *next; i; i = next) {
        next = i->next;
        number_instruction(n, i);
    }
}

static bool number_function(IrModule *module, IrFunction *function, bool is_local, bool uses_facts)
{
    ir_remove_unreachable(module, function);
    Numbering n = {.module = module, .function = function, .dominators = dominators_of(module, function), .is_local = is_local, .uses_facts = uses_facts};
    n.versions = memory_versions_of(module, function, n.dominators);
    uint32_t size = 64;
    while (size < function->next_instruction && size < 1u << 20)
        size *= 2;
    n.mask = size - 1;
    n.buckets = ir_scratch(module, size * sizeof *n.buckets);
    n.facts = ir_scratch(module, size * sizeof *n.facts);
    for (uint32_t k = 0; k < n.dominators->count; k++)
        number_block(&n, n.dominators->order[k]);
    return n.changed;
}

bool number_values(IrModule *module, IrFunction *function)
{
    return number_function(module, function, false, true);
}

bool number_values_without_facts(IrModule *module, IrFunction *function)
{
    return number_function(module, function, false, false);
}

bool number_values_in_blocks(IrModule *module, IrFunction *function)
{
    return number_function(module, function, true, false);
}
