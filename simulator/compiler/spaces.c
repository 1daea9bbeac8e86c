// spaces.c: address-space inference. A generic pointer that can only point to one space becomes a pointer to that space, so that
// its accesses become ld.global, st.shared, and so on. A kernel's pointer arguments are taken to point to global memory, as by nvcc.
//
// The analysis is optimistic: a pointer's space is unknown until an operand determines it, so it also finds the space of a
// pointer that is incremented in a loop.
#include "compiler/intrinsics.h"
#include "compiler/passes.h"

#include <string.h>

enum {
    // Top of the lattice: no operand is known yet; not a value of IrSpace. The bottom is IR_GENERIC: several spaces.
    UNKNOWN = 100,
    MAX_ROUNDS = 100
};

typedef struct Spaces {
    IrModule *module;
    IrFunction *function;
    uint8_t *space;          // indexed by an instruction's id
    IrInstruction **specific; // indexed by an instruction's id: the pointer converted to its space
    IrInstruction **converted; // generic pointers for which a specific pointer was created
    uint32_t converted_count, capacity;
    bool changed;
} Spaces;

static bool is_pointer_operation(const IrInstruction *i)
{
    return i->type == IR_B64 && (i->op == IR_PHI || i->op == IR_SELECT || (i->op == IR_OFFSET && i->space == IR_GENERIC));
}

static uint8_t space_of(const Spaces *s, const IrInstruction *value)
{
    if (value->op == IR_UNDEFINED)
        return UNKNOWN;
    if (value->op == IR_TO_GENERIC)
        return value->space;
    return value->id < s->capacity && value->block ? s->space[value->id] : IR_GENERIC;
}

static uint8_t meet(uint8_t a, uint8_t b)
{
    if (a == UNKNOWN)
        return b;
    return b == UNKNOWN || a == b ? a : IR_GENERIC;
}

static uint8_t infer(const Spaces *s, const IrInstruction *i)
{
    if (i->op == IR_OFFSET)
        return space_of(s, i->operands[0]);
    uint8_t space = UNKNOWN;
    for (uint32_t k = i->op == IR_SELECT; k < i->operand_count; k++)
        space = meet(space, space_of(s, i->operands[k]));
    return space;
}

static void infer_all(Spaces *s)
{
    for (const IrBlock *block = s->function->first; block; block = block->next)
        for (const IrInstruction *i = block->first; i; i = i->next)
            s->space[i->id] = is_pointer_operation(i) ? UNKNOWN : IR_GENERIC;
    bool changed = true;
    for (uint32_t round = 0; changed && round < MAX_ROUNDS; round++) {
        changed = false;
        for (const IrBlock *block = s->function->first; block; block = block->next)
            for (const IrInstruction *i = block->first; i; i = i->next) {
                if (!is_pointer_operation(i))
                    continue;
                const uint8_t space = infer(s, i);
                changed |= space != s->space[i->id];
                s->space[i->id] = space;
            }
    }
    if (changed) // no fixed point was reached: the results may be wrong
        memset(s->space, IR_GENERIC, s->capacity);
}

static IrType pointer_type(uint8_t space)
{
    return space == IR_SHARED ? IR_B32 : IR_B64;
}

// The pointer operand of a converted instruction, in the specific space; NULL if it was not converted.
static IrInstruction *specific_operand(Spaces *s, IrInstruction *value, uint8_t space)
{
    if (value->op == IR_UNDEFINED)
        return ir_undefined(s->module, s->function, pointer_type(space));
    if (value->op == IR_TO_GENERIC)
        return value->operands[0];
    return s->specific[value->id];
}

static bool is_specific(const Spaces *s, const IrInstruction *i)
{
    return i->id < s->capacity && is_pointer_operation(i) && s->space[i->id] != IR_GENERIC && s->space[i->id] != UNKNOWN;
}

static void make_specific(Spaces *s, IrInstruction *i)
{
    const uint8_t space = s->space[i->id];
    IrInstruction *created = ir_new_instruction(s->module, s->function, i->op, pointer_type(space), 0, NULL);
    created->space = space;
    created->flags = i->flags;
    created->integer = i->integer;
    created->scale = i->scale;
    created->line = i->line;
    created->file = i->file;
    ir_link_before(i, created);
    s->specific[i->id] = created;
}

static void fill_specific(Spaces *s, IrInstruction *i)
{
    for (uint32_t k = 0; k < i->operand_count; k++) {
        const bool is_pointer = i->op == IR_PHI || (i->op == IR_SELECT ? k > 0 : k == 0);
        ir_add_operand(s->module, s->specific[i->id], is_pointer ? specific_operand(s, i->operands[k], s->space[i->id]) : i->operands[k]);
    }
}

// ---- Accesses

static bool has_space_suffix(const IrInstruction *i)
{
    return i->op == IR_INTRINSIC && i->space == IR_GENERIC && i->intrinsic->ptx && strstr(i->intrinsic->ptx, "$s") &&
           strstr(i->intrinsic->ptx, "@1") && !strstr(i->intrinsic->ptx, "$1") && !strstr(i->intrinsic->ptx, "%1");
}

static bool is_generic_access(const IrInstruction *i)
{
    switch (i->op) {
    case IR_LOAD:
    case IR_STORE:
    case IR_LOAD_VECTOR:
    case IR_STORE_VECTOR:
        return i->space == IR_GENERIC;
    default:
        return has_space_suffix(i);
    }
}

// The number of leading operands that are generic addresses.
static uint32_t address_count(const IrInstruction *i)
{
    return i->op == IR_COPY ? 2 : is_generic_access(i);
}

// Creates the specific pointer for an access's generic one, and for those that it derives from. Other users keep the generic pointer.
static void request_specific(Spaces *s, IrInstruction *pointer, IrInstruction **stack)
{
    uint32_t depth = 0;
    stack[depth++] = pointer;
    while (depth) {
        IrInstruction *i = stack[--depth];
        if (!is_specific(s, i) || s->specific[i->id])
            continue;
        make_specific(s, i);
        s->converted[s->converted_count++] = i;
        for (uint32_t k = i->op == IR_SELECT; k < (i->op == IR_OFFSET ? 1 : i->operand_count); k++)
            if (is_specific(s, i->operands[k]) && !s->specific[i->operands[k]->id])
                stack[depth++] = i->operands[k];
    }
}

static void rewrite_pointers(Spaces *s)
{
    uint32_t operands = 1;
    for (const IrBlock *block = s->function->first; block; block = block->next)
        for (const IrInstruction *i = block->first; i; i = i->next)
            operands += i->operand_count + 1;
    IrInstruction **stack = ir_scratch(s->module, operands * sizeof *stack);
    s->converted = ir_scratch(s->module, s->capacity * sizeof *s->converted);
    for (IrBlock *block = s->function->first; block; block = block->next)
        for (IrInstruction *i = block->first; i; i = i->next)
            for (uint32_t k = 0; k < address_count(i); k++)
                request_specific(s, i->operands[k], stack);
    for (uint32_t k = 0; k < s->converted_count; k++)
        fill_specific(s, s->converted[k]);
    s->changed |= s->converted_count > 0;
}

static IrInstruction *specific_address_or_null(const Spaces *s, IrInstruction *pointer)
{
    if (pointer->op == IR_TO_GENERIC)
        return pointer->operands[0];
    return pointer->id < s->capacity && pointer->block ? s->specific[pointer->id] : NULL;
}

static void rewrite_accesses(Spaces *s)
{
    for (IrBlock *block = s->function->first; block; block = block->next)
        for (IrInstruction *i = block->first; i; i = i->next) {
            for (uint32_t k = 0; k < address_count(i); k++) {
                IrInstruction *specific = specific_address_or_null(s, i->operands[k]);
                if (!specific)
                    continue;
                if (i->op != IR_COPY)
                    i->space = ir_pointer_space(specific);
                ir_set_operand(i, k, specific);
                s->changed = true;
            }
            if (i->op == IR_FROM_GENERIC && i->operands[0]->op == IR_TO_GENERIC && i->operands[0]->space == i->space) {
                ir_replace_uses(i, i->operands[0]->operands[0]);
                s->changed = true;
            }
        }
}

// Whether the pointer has already been converted to the global space (cvta.to.global).
static bool is_converted(const IrInstruction *argument)
{
    return argument->uses && !argument->uses->next && argument->uses->user->op == IR_FROM_GENERIC;
}

static void convert_argument(Spaces *s, IrInstruction *argument)
{
    IrInstruction *insert_before = argument->next;
    IrInstruction *global = ir_insert_before(s->module, insert_before, IR_FROM_GENERIC, IR_B64, 1, &argument);
    IrInstruction *generic = ir_insert_before(s->module, insert_before, IR_TO_GENERIC, IR_B64, 1, &global);
    global->space = generic->space = IR_GLOBAL;
    global->line = generic->line = argument->line;
    global->file = generic->file = argument->file;
    ir_replace_uses(argument, generic);
    ir_set_operand(global, 0, argument);
    s->changed = true;
}

static bool is_used_as_address(const IrInstruction *value)
{
    for (const IrUse *use = value->uses; use; use = use->next)
        if (use->operand == 0 && (use->user->op == IR_OFFSET || is_generic_access(use->user)))
            return true;
    return false;
}

// Whether the instruction yields a pointer argument, or a pointer in a structure argument.
static bool is_pointer_argument(const Spaces *s, const IrInstruction *i)
{
    if (i->op == IR_ARGUMENT)
        return s->function->arguments[i->index].is_pointer && i->uses && !is_converted(i);
    return i->op == IR_LOAD && i->space == IR_PARAMETER && i->type == IR_B64 && is_used_as_address(i);
}

static void convert_arguments(Spaces *s)
{
    if (!s->function->kernel)
        return;
    for (IrBlock *block = s->function->first; block; block = block->next)
        for (IrInstruction *i = block->first; i; i = i->next)
            if (is_pointer_argument(s, i))
                convert_argument(s, i);
}

bool infer_spaces(IrModule *module, IrFunction *function)
{
    Spaces s = {.module = module, .function = function};
    convert_arguments(&s);
    s.capacity = function->next_instruction;
    s.space = ir_scratch(module, s.capacity);
    s.specific = ir_scratch(module, s.capacity * sizeof *s.specific);
    infer_all(&s);
    rewrite_pointers(&s);
    rewrite_accesses(&s);
    return s.changed;
}
