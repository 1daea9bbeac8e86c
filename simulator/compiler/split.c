// split.c: local structures and arrays are split into separately accessed parts (scalar replacement of aggregates) if every access
// is at a constant offset, so that promote.c can make the parts values. Copies of structures become loads and stores of these
// parts; where memory is aligned to the size of the whole copy, one vector access.
#include "compiler/passes.h"

#include <string.h>

enum { MAX_BYTES = 4096, MAX_COPY_PARTS = 256, MAX_STRAIGHT_BYTES = 128, MAX_ROUNDS = 16, MAX_CHAIN = 64 };

typedef struct Access {
    IrInstruction *instruction;
    uint32_t operand; // index of the operand that is the address
    uint32_t begin;   // byte offset in the variable
    struct Access *next;
} Access;

typedef struct Variable {
    IrInstruction *alloca;
    Access *accesses;
    bool can_split;  // its address is used only by accesses at constant offsets
    bool waits;      // it is only copied, and the parts of a variable that it is copied to or from are not known yet
    uint8_t *cuts;   // indexed by byte offset, including the end: whether a part begins there
    uint8_t *types;  // indexed by byte offset: the IrType in memory of an access that begins there
} Variable;

typedef struct Splitting {
    IrModule *module;
    IrFunction *function;
    Variable **variable_of; // indexed by an alloca's id
    uint32_t capacity;
    IrInstruction **allocas;
    uint32_t count;
    bool is_last; // loops have been unrolled
} Splitting;

static uint32_t accessed_bytes(const IrInstruction *access)
{
    if (access->op == IR_COPY)
        return access->memory_bytes;
    return ir_bytes(access->memory) * (access->count ? access->count : 1);
}

// ---- Collecting accesses

static bool add_access(Splitting *s, Variable *v, IrInstruction *user, uint32_t operand, int64_t begin)
{
    const bool is_scalar = user->op == IR_LOAD || user->op == IR_STORE;
    const bool is_vector = user->op == IR_LOAD_VECTOR || user->op == IR_STORE_VECTOR;
    if (!(is_scalar || is_vector) && user->op != IR_COPY)
        return false;
    if ((operand != 0 && user->op != IR_COPY) || (user->flags & IR_VOLATILE))
        return false;
    if (user->op != IR_COPY)
        begin += user->integer;
    if (begin < 0 || begin + accessed_bytes(user) > v->alloca->memory_bytes)
        return false;
    Access *access = ir_scratch(s->module, sizeof *access);
    *access = (Access){.instruction = user, .operand = operand, .begin = (uint32_t)begin, .next = v->accesses};
    v->accesses = access;
    return true;
}

static bool collect(Splitting *s, Variable *v, const IrInstruction *pointer, int64_t begin, uint32_t depth)
{
    for (const IrUse *use = pointer->uses; use; use = use->next) {
        IrInstruction *user = use->user;
        if (user->op == IR_OFFSET && use->operand == 0 && user->operand_count == 1) {
            if (depth > MAX_CHAIN || !collect(s, v, user, begin + user->integer, depth + 1))
                return false;
        } else if (!add_access(s, v, user, use->operand, begin)) {
            return false;
        }
    }
    return true;
}

static void mark_part(Variable *v, uint32_t begin, IrType type)
{
    v->cuts[begin] = v->cuts[begin + ir_bytes(type)] = 1;
    v->types[begin] = type;
}

static void mark_cuts(Splitting *s, Variable *v)
{
    v->cuts = ir_scratch(s->module, v->alloca->memory_bytes + 1);
    v->types = ir_scratch(s->module, v->alloca->memory_bytes + 1);
    for (const Access *access = v->accesses; access; access = access->next) {
        const IrInstruction *i = access->instruction;
        if (i->op == IR_COPY) {
            v->cuts[access->begin] = v->cuts[access->begin + i->memory_bytes] = 1;
            continue;
        }
        for (uint32_t k = 0; k < (i->count ? i->count : 1u); k++)
            mark_part(v, access->begin + k * ir_bytes(i->memory), i->memory);
    }
}

static Variable *find_accesses(Splitting *s, IrInstruction *alloca)
{
    Variable *v = ir_scratch(s->module, sizeof *v);
    v->alloca = alloca;
    v->can_split = alloca->memory_bytes <= MAX_BYTES && collect(s, v, alloca, 0, 0);
    if (v->can_split)
        mark_cuts(s, v);
    return v;
}

static void collect_all(Splitting *s)
{
    s->capacity = s->function->next_instruction;
    s->variable_of = ir_scratch(s->module, s->capacity * sizeof *s->variable_of);
    s->allocas = list_variables(s->module, s->function, &s->count);
    for (uint32_t k = 0; k < s->count; k++)
        s->variable_of[s->allocas[k]->id] = find_accesses(s, s->allocas[k]);
}

// ---- Copies

typedef struct Side { // one side of a copy: a range of a splittable variable, or other memory if variable is NULL
    Variable *variable;
    uint32_t begin;
} Side;

static Side side_of(const Splitting *s, const IrInstruction *pointer)
{
    int64_t begin = 0;
    while (pointer->op == IR_OFFSET && pointer->operand_count == 1) {
        begin += pointer->integer;
        pointer = pointer->operands[0];
    }
    Variable *v = pointer->op == IR_ALLOCA && pointer->id < s->capacity ? s->variable_of[pointer->id] : NULL;
    return v && v->can_split ? (Side){v, (uint32_t)begin} : (Side){NULL, 0};
}

// Gives both sides the same parts.
static bool share_cuts(const IrInstruction *copy, Side a, Side b)
{
    bool changed = false;
    for (uint32_t k = 0; k <= copy->memory_bytes; k++) {
        uint8_t *one = &a.variable->cuts[a.begin + k], *other = &b.variable->cuts[b.begin + k];
        changed |= *one != *other;
        *one = *other = *one | *other;
        if (k == copy->memory_bytes)
            break;
        uint8_t *type = &a.variable->types[a.begin + k], *other_type = &b.variable->types[b.begin + k];
        changed |= !*type != !*other_type;
        *type = *type ? *type : *other_type;
        *other_type = *other_type ? *other_type : *type;
    }
    return changed;
}

static void share_all_cuts(Splitting *s)
{
    bool changed = true;
    for (uint32_t round = 0; changed && round < MAX_ROUNDS; round++) {
        changed = false;
        for (const IrBlock *block = s->function->first; block; block = block->next)
            for (const IrInstruction *i = block->first; i; i = i->next) {
                if (i->op != IR_COPY)
                    continue;
                const Side to = side_of(s, i->operands[0]), from = side_of(s, i->operands[1]);
                if (to.variable && from.variable)
                    changed |= share_cuts(i, to, from);
            }
    }
}

typedef struct Part {
    uint32_t begin;
    IrType type;
} Part;

// The smallest part that is accessed: those that are not have the same size, so that the copy can be a vector access.
static uint32_t smallest_part(const IrInstruction *copy, Side side)
{
    uint32_t smallest = 8;
    for (uint32_t k = 0; side.variable && k < copy->memory_bytes; k++) {
        const uint8_t type = side.variable->types[side.begin + k];
        if (type != IR_VOID && ir_bytes(type) < smallest)
            smallest = ir_bytes(type);
    }
    return smallest;
}

static IrType integer_of(uint32_t bytes)
{
    return bytes == 8 ? IR_B64 : bytes == 4 ? IR_B32 : bytes == 2 ? IR_B16 : IR_B8;
}

// The next part of a copy at `begin`: as large as its alignment and the next cut allow.
static Part next_part(const IrInstruction *copy, Side side, uint32_t begin, uint32_t smallest)
{
    uint32_t bytes = copy->memory == IR_VOID ? 8 : ir_bytes(copy->memory);
    while (bytes > 1 && (begin + bytes > copy->memory_bytes || begin % bytes || (copy->alignment && copy->alignment % bytes)))
        bytes /= 2;
    IrType type = IR_VOID;
    if (side.variable) {
        uint32_t end = begin + 1;
        while (end < copy->memory_bytes && !side.variable->cuts[side.begin + end])
            end++;
        type = side.variable->types[side.begin + begin];
        while (bytes > end - begin || (type == IR_VOID && bytes > smallest))
            bytes /= 2;
    }
    return (Part){begin, type != IR_VOID && ir_bytes(type) == bytes ? type : integer_of(bytes)};
}

static uint32_t list_parts(const IrInstruction *copy, Side side, Part *parts)
{
    uint32_t count = 0;
    const uint32_t smallest = smallest_part(copy, side);
    for (uint32_t begin = 0; begin < copy->memory_bytes; begin += ir_bytes(parts[count++].type)) {
        if (count == MAX_COPY_PARTS)
            return 0;
        parts[count] = next_part(copy, side, begin, smallest);
    }
    return count;
}

// Whether the side of the copy that is in memory can be accessed as one vector.
static bool is_vector(const IrInstruction *copy, const Part *parts, uint32_t count)
{
    const uint32_t bytes = ir_bytes(parts[0].type);
    if ((count != 2 && count != 4) || bytes < 4 || bytes * count > 16 || copy->alignment < bytes * count)
        return false;
    for (uint32_t k = 1; k < count; k++)
        if (parts[k].type != parts[0].type)
            return false;
    return true;
}

static IrInstruction *insert_access(Splitting *s, IrInstruction *copy, IrOp op, uint32_t pointer, Part part, uint32_t operands, IrInstruction **list)
{
    const IrType type = op == IR_LOAD ? part.type : IR_VOID;
    IrInstruction *access = ir_insert_before(s->module, copy, op, type, operands, list);
    access->memory = part.type;
    access->space = ir_pointer_space(copy->operands[pointer]);
    access->integer = part.begin;
    access->line = copy->line;
    access->file = copy->file;
    access->alignment = copy->alignment;
    while (access->alignment > 1 && part.begin % access->alignment)
        access->alignment /= 2;
    return access;
}

static void load_parts(Splitting *s, IrInstruction *copy, const Part *parts, uint32_t count, bool as_vector, IrInstruction **values)
{
    if (!as_vector) {
        for (uint32_t k = 0; k < count; k++)
            values[k] = insert_access(s, copy, IR_LOAD, 1, parts[k], 1, &copy->operands[1]);
        return;
    }
    IrInstruction *vector = insert_access(s, copy, IR_LOAD_VECTOR, 1, parts[0], 1, &copy->operands[1]);
    vector->count = count;
    for (uint32_t k = 0; k < count; k++) {
        values[k] = ir_insert_before(s->module, copy, IR_ELEMENT, parts[k].type, 1, &vector);
        values[k]->index = k;
    }
}

static void store_parts(Splitting *s, IrInstruction *copy, const Part *parts, uint32_t count, bool as_vector, IrInstruction **values)
{
    IrInstruction *operands[5] = {copy->operands[0]};
    for (uint32_t k = 0; k < count; k++) {
        operands[as_vector ? k + 1 : 1] = values[k];
        if (!as_vector)
            insert_access(s, copy, IR_STORE, 0, parts[k], 2, operands);
    }
    if (as_vector)
        insert_access(s, copy, IR_STORE_VECTOR, 0, parts[0], count + 1, operands)->count = count;
}

static IrInstruction *element_at(Splitting *s, IrBlock *block, IrInstruction *pointer, IrInstruction *index, uint32_t bytes)
{
    IrInstruction *element = ir_append(s->module, block, IR_OFFSET, pointer->type, 2, (IrInstruction *[]){pointer, index});
    element->scale = bytes;
    element->space = ir_pointer_space(pointer);
    element->flags |= IR_NO_WRAP;
    return element;
}

// Copies in a loop, one word at a time.
static void expand_as_loop(Splitting *s, IrInstruction *copy, IrType word)
{
    IrBlock *before = copy->block, *after = ir_split_block(s->module, copy), *body = ir_new_block_before(s->module, after);
    s->module->line = copy->line;
    s->module->file = copy->file;
    body->unroll = 1;
    ir_redirect(s->module, before, 0, body);
    IrInstruction *index = ir_phi(s->module, body, IR_B32), *pointers[2];
    for (uint32_t k = 0; k < 2; k++)
        pointers[k] = element_at(s, body, copy->operands[k], index, ir_bytes(word));
    IrInstruction *value = ir_append(s->module, body, IR_LOAD, word, 1, &pointers[1]);
    value->memory = word;
    value->space = pointers[1]->space;
    IrInstruction *store = ir_append(s->module, body, IR_STORE, IR_VOID, 2, (IrInstruction *[]){pointers[0], value});
    store->memory = word;
    store->space = pointers[0]->space;
    IrInstruction *next = ir_append(s->module, body, IR_ADD, IR_B32, 2, (IrInstruction *[]){index, ir_integer(s->module, s->function, IR_B32, 1)});
    next->flags |= IR_NO_WRAP;
    IrInstruction *bound = ir_integer(s->module, s->function, IR_B32, copy->memory_bytes / ir_bytes(word));
    IrInstruction *again = ir_append(s->module, body, IR_COMPARE, IR_PRED, 2, (IrInstruction *[]){next, bound});
    again->compare = IR_LESS;
    ir_branch(s->module, body, again, body, after);
    ir_add_operand(s->module, index, ir_integer(s->module, s->function, IR_B32, 0));
    ir_add_operand(s->module, index, next);
    ir_remove(copy);
}

static bool expand_copy(Splitting *s, IrInstruction *copy)
{
    const Side to = side_of(s, copy->operands[0]), from = side_of(s, copy->operands[1]);
    const bool is_long = copy->memory_bytes > MAX_STRAIGHT_BYTES && !to.variable && !from.variable && !(copy->flags & IR_VOLATILE);
    const IrType word = copy->alignment % 8 == 0 && copy->memory != IR_B32 ? IR_B64 : IR_B32;
    if (is_long && copy->alignment % ir_bytes(word) == 0 && copy->memory_bytes % ir_bytes(word) == 0) {
        expand_as_loop(s, copy, word);
        return true;
    }
    Part parts[MAX_COPY_PARTS];
    IrInstruction *values[MAX_COPY_PARTS];
    const uint32_t count = list_parts(copy, from.variable ? from : to, parts);
    if (!count)
        return false;
    const bool can_be_vector = is_vector(copy, parts, count);
    load_parts(s, copy, parts, count, can_be_vector && !from.variable, values);
    store_parts(s, copy, parts, count, can_be_vector && !to.variable, values);
    ir_remove(copy);
    return true;
}

// Whether the pointer is to a variable that cannot be split yet: full unrolling may make its indices constants.
static bool is_to_later_variable(const Splitting *s, const IrInstruction *pointer)
{
    while (pointer->op == IR_OFFSET)
        pointer = pointer->operands[0];
    return pointer->op == IR_ALLOCA && pointer->id < s->capacity && s->variable_of[pointer->id] && !s->variable_of[pointer->id]->can_split;
}

// Whether the pointer's variable is not known yet: it is generic, or in a variable itself.
static bool is_unknown_pointer(const IrInstruction *pointer)
{
    while (pointer->op == IR_OFFSET)
        pointer = pointer->operands[0];
    return pointer->op == IR_TO_GENERIC || (pointer->op == IR_LOAD && pointer->operands[0]->op == IR_ALLOCA);
}

// Whether the copy must not be expanded yet, because a side's parts are not known. As in nvcc's PTX, a copy of at most 8 bytes is an
// integer, and one of more than a vector consists of integers.
static bool waits(const Splitting *s, const IrInstruction *copy, uint32_t operand)
{
    enum { MAX_INTEGER_BYTES = 8, MAX_VECTOR_BYTES = 16 };
    const IrInstruction *pointer = copy->operands[operand];
    const Variable *v = side_of(s, pointer).variable;
    const bool is_vector_sized = copy->memory_bytes > MAX_INTEGER_BYTES && copy->memory_bytes <= MAX_VECTOR_BYTES;
    return is_to_later_variable(s, pointer) || (is_vector_sized && (is_unknown_pointer(pointer) || (v && v->waits)));
}

static bool must_wait(const Splitting *s, const Variable *v)
{
    bool has_waiting = false;
    for (const Access *access = v->accesses; access; access = access->next) {
        if (access->instruction->op != IR_COPY)
            return false;
        has_waiting |= waits(s, access->instruction, !access->operand);
    }
    return has_waiting;
}

// A structure that a function returns, for example, has the parts that the function's own variable will have.
static void find_waiting(Splitting *s)
{
    bool changed = true;
    for (uint32_t round = 0; changed && round < MAX_ROUNDS; round++) {
        changed = false;
        for (uint32_t k = 0; k < s->count; k++) {
            Variable *v = s->variable_of[s->allocas[k]->id];
            if (!v->can_split || v->waits || !must_wait(s, v))
                continue;
            v->waits = changed = true;
        }
    }
}

static bool expand_copies(Splitting *s)
{
    bool changed = false;
    for (IrBlock *block = s->function->first; block; block = block->next)
        for (IrInstruction *i = block->first, *next; i; i = next) {
            next = i->next;
            if (i->op == IR_COPY && (s->is_last || !(waits(s, i, 0) || waits(s, i, 1))))
                changed |= expand_copy(s, i);
        }
    return changed;
}

// ---- Vector accesses to variables

static void scalarise_load(Splitting *s, IrInstruction *vector)
{
    IrInstruction *next;
    for (IrUse *use = vector->uses; use; use = vector->uses) {
        IrInstruction *element = use->user;
        next = ir_insert_before(s->module, vector, IR_LOAD, element->type, 1, vector->operands);
        next->memory = vector->memory;
        next->space = vector->space;
        next->flags = vector->flags;
        next->integer = vector->integer + element->index * ir_bytes(vector->memory);
        ir_replace(element, next);
    }
    ir_remove(vector);
}

static void scalarise_store(Splitting *s, IrInstruction *vector)
{
    for (uint32_t k = 0; k < vector->count; k++) {
        IrInstruction *operands[] = {vector->operands[0], vector->operands[k + 1]};
        IrInstruction *store = ir_insert_before(s->module, vector, IR_STORE, IR_VOID, 2, operands);
        store->memory = vector->memory;
        store->space = vector->space;
        store->integer = vector->integer + k * ir_bytes(vector->memory);
    }
    ir_remove(vector);
}

static bool scalarise_accesses(Splitting *s)
{
    bool changed = false;
    for (IrBlock *block = s->function->first; block; block = block->next)
        for (IrInstruction *i = block->first, *next; i; i = next) {
            next = i->next;
            if ((i->op != IR_LOAD_VECTOR && i->op != IR_STORE_VECTOR) || !side_of(s, i->operands[0]).variable)
                continue;
            while (next && next->op == IR_ELEMENT && next->operands[0] == i)
                next = next->next;
            if (i->op == IR_LOAD_VECTOR)
                scalarise_load(s, i);
            else
                scalarise_store(s, i);
            changed = true;
        }
    return changed;
}

// ---- Parts become variables

// Merges the bytes that one access covers: part_of[byte] is the part's first byte.
static void find_parts(Splitting *s, const Variable *v, uint32_t *part_of)
{
    const uint32_t bytes = v->alloca->memory_bytes;
    uint8_t *merged = ir_scratch(s->module, bytes + 1); // whether a byte is in one part with the byte before it
    for (const Access *access = v->accesses; access; access = access->next)
        for (uint32_t k = 1; k < accessed_bytes(access->instruction); k++)
            merged[access->begin + k] = 1;
    for (uint32_t k = 0; k < bytes; k++)
        part_of[k] = merged[k] ? part_of[k - 1] : k;
}

static IrInstruction *new_part(Splitting *s, const Variable *v, const uint32_t *part_of, uint32_t begin)
{
    uint32_t end = begin;
    while (end < v->alloca->memory_bytes && part_of[end] == begin)
        end++;
    IrInstruction *part = ir_insert_before(s->module, v->alloca, IR_ALLOCA, IR_B64, 0, NULL);
    part->space = IR_LOCAL;
    part->memory_bytes = end - begin;
    const uint32_t alignment = v->alloca->alignment ? v->alloca->alignment : 1;
    part->alignment = begin ? (begin & -begin) < alignment ? (begin & -begin) : alignment : alignment;
    return part;
}

static bool split(Splitting *s, Variable *v)
{
    if (!v->can_split || !v->accesses)
        return false;
    const uint32_t bytes = v->alloca->memory_bytes;
    uint32_t *part_of = ir_scratch(s->module, (bytes + 1) * sizeof *part_of);
    IrInstruction **parts = ir_scratch(s->module, (bytes + 1) * sizeof *parts);
    find_parts(s, v, part_of);
    bool is_whole = true; // one part, and no offsets to remove
    for (const Access *access = v->accesses; access; access = access->next)
        is_whole &= part_of[access->begin] == 0 && access->instruction->operands[access->operand] == v->alloca;
    if (is_whole && part_of[bytes - 1] == 0)
        return false;
    for (Access *access = v->accesses; access; access = access->next) {
        const uint32_t begin = part_of[access->begin];
        if (!parts[begin])
            parts[begin] = new_part(s, v, part_of, begin);
        ir_set_operand(access->instruction, access->operand, parts[begin]);
        access->instruction->integer = access->begin - begin;
        access->instruction->space = IR_LOCAL;
    }
    return true;
}

static bool split_all(IrModule *module, IrFunction *function, bool is_last)
{
    Splitting s = {.module = module, .function = function, .is_last = is_last};
    collect_all(&s);
    share_all_cuts(&s);
    if (!is_last)
        find_waiting(&s);
    bool changed = expand_copies(&s);
    changed |= scalarise_accesses(&s);
    collect_all(&s);
    for (uint32_t k = 0; k < s.count; k++)
        changed |= split(&s, s.variable_of[s.allocas[k]->id]);
    return changed;
}

bool split_variables(IrModule *module, IrFunction *function)
{
    return split_all(module, function, false);
}

bool split_variables_finally(IrModule *module, IrFunction *function)
{
    return split_all(module, function, true);
}
