// vectorise.c: adjacent loads of a block become one vector load, and adjacent stores one vector store, where the alignment allows
// it and no access in between may touch the same bytes. Three adjacent loads may become a vector load of four elements.
#include "compiler/intrinsics.h"
#include "compiler/known.h"
#include "compiler/memory.h"

#include <stdlib.h>

enum { MAX_GROUP = 64, MAX_GROUPS = 32, MAX_VECTOR_BYTES = 16, MAX_ELEMENTS = 4, MAX_DEPTH = 8 };

typedef struct Group { // accesses of one kind at constant offsets from one address
    IrInstruction *accesses[MAX_GROUP]; // in program order; removed once they are part of a vector
    const IrInstruction *base;          // the address that their offsets are added to
    uint32_t count;
} Group;

typedef struct Vectorisation {
    IrModule *module;
    IrFunction *function;
    Group groups[MAX_GROUPS];
    uint32_t group_count;
    bool changed;
} Vectorisation;

static bool is_candidate(const IrInstruction *i)
{
    return (i->op == IR_LOAD || i->op == IR_STORE) && !(i->flags & IR_VOLATILE) && i->space != IR_PARAMETER && i->memory != IR_PRED &&
           !(i->op == IR_LOAD && i->type == IR_PRED);
}

static IrType value_type(const IrInstruction *access)
{
    return access->op == IR_LOAD ? (IrType)access->type : (IrType)access->operands[1]->type;
}

static bool belongs_to(const Group *group, const IrInstruction *i)
{
    const IrInstruction *first = group->accesses[0];
    return first->op == i->op && is_same_address(first->operands[0], i->operands[0]) && first->memory == i->memory && first->space == i->space &&
           first->flags == i->flags && value_type(first) == value_type(i);
}

// ---- Alignment

// The known alignment of a pointer, from its variable and the scale of its index.
static uint64_t alignment_of(const IrInstruction *pointer, uint32_t depth)
{
    if (pointer->op == IR_SYMBOL)
        return pointer->symbol->alignment;
    if (pointer->op == IR_ALLOCA)
        return MAX_VECTOR_BYTES; // align_variable ensures it
    if (pointer->op != IR_OFFSET || depth > MAX_DEPTH)
        return 1;
    uint64_t bits = alignment_of(pointer->operands[0], depth + 1) | (uint64_t)pointer->integer;
    if (pointer->operand_count == 2) {
        const uint64_t zeros = known_zero_bits(pointer->operands[1]);
        const int low = ~zeros ? __builtin_ctzll(~zeros) : 20;
        bits |= (uint64_t)(pointer->scale ? pointer->scale : 1) << (low < 20 ? low : 20);
    }
    return bits & -bits;
}

// Whether the address of the group's accesses plus an offset is aligned to `bytes`.
static bool is_aligned(const Group *group, int64_t offset, uint32_t bytes)
{
    if (alignment_of(group->base, 0) % bytes == 0 && offset % bytes == 0)
        return true;
    for (uint32_t k = 0; k < group->count; k++) {
        const IrInstruction *access = group->accesses[k];
        if (access->alignment >= bytes && (offset - access->integer) % bytes == 0)
            return true;
    }
    return false;
}

static void align_variable(IrInstruction *base)
{
    if (base->op == IR_ALLOCA && base->alignment < MAX_VECTOR_BYTES)
        base->alignment = MAX_VECTOR_BYTES;
}

// ---- Making vectors

// The access of the run that comes first in the block, or last.
static IrInstruction *end_of_run(const Group *group, IrInstruction *const *run, uint32_t count, bool last)
{
    for (uint32_t k = 0; k < group->count; k++) {
        const uint32_t at = last ? group->count - 1 - k : k;
        for (uint32_t r = 0; r < count; r++)
            if (group->accesses[at] == run[r])
                return run[r];
    }
    return run[0];
}

static IrInstruction *new_vector(Vectorisation *v, IrInstruction *insert_before, IrInstruction *const *run, IrOp op, uint32_t elements, uint32_t operands,
                                 IrInstruction *const *list)
{
    const IrType type = op == IR_LOAD_VECTOR ? run[0]->memory : IR_VOID;
    IrInstruction *vector = ir_insert_before(v->module, insert_before, op, type, operands, list);
    vector->memory = run[0]->memory;
    vector->space = run[0]->space;
    vector->flags = run[0]->flags;
    vector->integer = run[0]->integer;
    vector->count = elements;
    vector->line = insert_before->line;
    vector->file = insert_before->file;
    vector->alignment = elements * ir_bytes(run[0]->memory);
    align_variable(vector->operands[0]);
    v->changed = true;
    return vector;
}

static void load_run(Vectorisation *v, const Group *group, IrInstruction **run, uint32_t count, uint32_t elements)
{
    IrInstruction *insert_before = end_of_run(group, run, count, false);
    IrInstruction *vector = new_vector(v, insert_before, run, IR_LOAD_VECTOR, elements, 1, run[0]->operands);
    for (uint32_t k = 0; k < count; k++) {
        IrInstruction *element = ir_insert_before(v->module, insert_before, IR_ELEMENT, run[k]->type, 1, &vector);
        element->index = k;
        ir_replace_uses(run[k], element);
    }
    for (uint32_t k = 0; k < count; k++)
        ir_remove(run[k]);
}

static void store_run(Vectorisation *v, const Group *group, IrInstruction **run, uint32_t count)
{
    IrInstruction *operands[MAX_ELEMENTS + 1] = {run[0]->operands[0]};
    for (uint32_t k = 0; k < count; k++)
        operands[k + 1] = run[k]->operands[1];
    new_vector(v, end_of_run(group, run, count, true), run, IR_STORE_VECTOR, count, count + 1, operands);
    for (uint32_t k = 0; k < count; k++)
        ir_remove(run[k]);
}

static int compare_offsets(const void *one, const void *other)
{
    const IrInstruction *a = *(IrInstruction *const *)one, *b = *(IrInstruction *const *)other;
    return a->integer < b->integer ? -1 : a->integer > b->integer;
}

// Whether an aligned vector that ends at this offset from the base stays within the variable. If the variable is unknown, the
// alignment comes from the pointer's type, whose size is a multiple of it.
static bool is_within(const IrInstruction *base, int64_t end, uint32_t bytes)
{
    const IrInstruction *variable = base;
    while (variable->op == IR_OFFSET)
        variable = variable->operands[0];
    if (variable->op != IR_ALLOCA && variable->op != IR_SYMBOL)
        return true;
    const int64_t size = (int64_t)(variable->op == IR_ALLOCA ? variable->memory_bytes : variable->symbol->bytes);
    return variable == base ? end <= size : size > 0 && size % bytes == 0;
}

// The length of the longest run of adjacent accesses from sorted[begin] on that fits one vector, or 0. A load may have one more
// element.
static uint32_t run_length(const Group *group, IrInstruction **sorted, uint32_t begin, uint32_t *elements)
{
    const uint32_t bytes = ir_bytes(sorted[begin]->memory);
    uint32_t length = 1;
    while (begin + length < group->count && length < MAX_ELEMENTS && sorted[begin + length]->integer == sorted[begin]->integer + (int64_t)(length * bytes))
        length++;
    for (*elements = MAX_ELEMENTS; *elements >= 2; *elements /= 2) {
        const bool is_filled = length >= *elements || (*elements == 4 && length == 3 && sorted[begin]->op == IR_LOAD &&
                                                       is_within(group->base, sorted[begin]->integer + 4 * (int64_t)bytes, 4 * bytes));
        if (is_filled && *elements * bytes <= MAX_VECTOR_BYTES && is_aligned(group, sorted[begin]->integer, *elements * bytes))
            return length < *elements ? length : *elements;
    }
    return 0;
}

static void vectorise_group(Vectorisation *v, Group *group)
{
    IrInstruction *sorted[MAX_GROUP];
    for (uint32_t k = 0; k < group->count; k++)
        sorted[k] = group->accesses[k];
    qsort(sorted, group->count, sizeof *sorted, compare_offsets);
    for (uint32_t begin = 0; begin < group->count;) {
        uint32_t elements;
        const uint32_t length = run_length(group, sorted, begin, &elements);
        if (length < 2) {
            begin++;
            continue;
        }
        if (sorted[begin]->op == IR_LOAD)
            load_run(v, group, sorted + begin, length, elements);
        else
            store_run(v, group, sorted + begin, length);
        begin += length;
    }
    group->count = 0;
}

// ---- Collecting groups

static void close_group(Vectorisation *v, uint32_t index)
{
    if (v->groups[index].count > 1)
        vectorise_group(v, &v->groups[index]);
    v->groups[index] = v->groups[--v->group_count];
}

static bool conflicts(const Vectorisation *v, const Group *group, const IrInstruction *i)
{
    for (uint32_t k = 0; k < group->count; k++) {
        const Location location = location_of(group->accesses[k]);
        if (may_write(v->function, i, &location) || (group->accesses[k]->op == IR_STORE && may_read(v->function, i, &location)))
            return true;
    }
    return false;
}

static void close_conflicting(Vectorisation *v, const IrInstruction *i, const Group *own)
{
    for (uint32_t k = v->group_count; k-- > 0;)
        if (&v->groups[k] != own && conflicts(v, &v->groups[k], i))
            close_group(v, k);
}

static Group *group_of(Vectorisation *v, const IrInstruction *i)
{
    for (uint32_t k = 0; k < v->group_count; k++)
        if (belongs_to(&v->groups[k], i))
            return &v->groups[k];
    return NULL;
}

static bool has_offset(const Group *group, int64_t offset)
{
    for (uint32_t k = 0; k < group->count; k++)
        if (group->accesses[k]->integer == offset)
            return true;
    return false;
}

static void add_to_group(Vectorisation *v, IrInstruction *i)
{
    Group *group = group_of(v, i);
    if (group && (group->count == MAX_GROUP || has_offset(group, i->integer))) {
        close_group(v, (uint32_t)(group - v->groups));
        group = NULL;
    }
    if (!group) {
        if (v->group_count == MAX_GROUPS)
            close_group(v, 0);
        group = &v->groups[v->group_count++];
        group->count = 0;
        group->base = i->operands[0];
    }
    group->accesses[group->count++] = i;
}

static void vectorise_block(Vectorisation *v, IrBlock *block)
{
    for (IrInstruction *i = block->first, *next; i; i = next) {
        next = i->next;
        const bool is_memory = ir_effects(i) & (INTRINSIC_READS | INTRINSIC_WRITES | INTRINSIC_ORDERS);
        if (is_memory && !ir_is_terminator(i))
            close_conflicting(v, i, is_candidate(i) ? group_of(v, i) : NULL);
        if (is_candidate(i))
            add_to_group(v, i);
    }
    while (v->group_count)
        close_group(v, v->group_count - 1);
}

// A vector load with one used element becomes a scalar load.
static void narrow(Vectorisation *v, IrInstruction *vector)
{
    IrInstruction *element = vector->uses ? vector->uses->user : NULL;
    if (!element || !ir_has_one_use(vector) || element->op != IR_ELEMENT || (vector->flags & IR_VOLATILE))
        return;
    IrInstruction *load = ir_insert_before(v->module, vector, IR_LOAD, element->type, 1, vector->operands);
    load->memory = vector->memory;
    load->space = vector->space;
    load->flags = vector->flags;
    load->integer = vector->integer + (int64_t)(element->index * ir_bytes(vector->memory));
    load->line = vector->line;
    load->file = vector->file;
    ir_replace(element, load);
    ir_remove(vector);
    v->changed = true;
}

bool vectorise_accesses(IrModule *module, IrFunction *function)
{
    Vectorisation *v = ir_scratch(module, sizeof *v);
    v->module = module;
    v->function = function;
    for (IrBlock *block = function->first; block; block = block->next) {
        for (IrInstruction *i = block->first, *next; i; i = next) {
            next = i->next;
            if (i->op != IR_LOAD_VECTOR)
                continue;
            while (next && next->op == IR_ELEMENT && next->operands[0] == i)
                next = next->next;
            narrow(v, i);
        }
        vectorise_block(v, block);
    }
    return v->changed;
}
