// spaces.c: address-space inference. A generic pointer that can only point to one space becomes a pointer to that space, so that
// its accesses become ld.global, st.shared, and so on. Pointers that a kernel is given point to global memory, as with nvcc.
//
// The analysis is optimistic: a pointer's space is unknown until an operand says otherwise, so that pointers that go round a
// loop are found.
#include "compiler/intrinsics.h"
#include "compiler/passes.h"

#include <string.h>

enum {
    UNKNOWN = 100, // beyond the IrSpaces; IR_GENERIC: may point to several
    MAX_ROUNDS = 100
};

typedef struct Spaces {
    IrModule *module;
    IrFunction *function;
    uint8_t *space;          // of an instruction's id
    IrInstruction **specific; // of an instruction's id: the same pointer in its space
    uint32_t capacity;
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
    if (changed) // what is not known to be final is not used
        memset(s->space, IR_GENERIC, s->capacity);
}

static IrType pointer_type(uint8_t space)
{
    return space == IR_SHARED ? IR_B32 : IR_B64;
}

// The pointer in its space, if it is known to have one.
static IrInstruction *specific_pointer(Spaces *s, IrInstruction *value, uint8_t space)
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
    IrInstruction *made = ir_new_instruction(s->module, s->function, i->op, pointer_type(space), 0, NULL);
    made->space = space;
    made->flags = i->flags;
    made->integer = i->integer;
    made->scale = i->scale;
    made->line = i->line;
    made->file = i->file;
    ir_link_before(i, made);
    s->specific[i->id] = made;
}

static void fill_specific(Spaces *s, IrInstruction *i)
{
    for (uint32_t k = 0; k < i->operand_count; k++) {
        const bool is_pointer = i->op == IR_PHI || (i->op == IR_SELECT ? k > 0 : k == 0);
        ir_add_operand(s->module, s->specific[i->id], is_pointer ? specific_pointer(s, i->operands[k], s->space[i->id]) : i->operands[k]);
    }
}

static IrInstruction *generic_again(Spaces *s, IrInstruction *i, IrInstruction *place)
{
    IrInstruction *generic = ir_insert_before(s->module, place, IR_TO_GENERIC, IR_B64, 1, &s->specific[i->id]);
    generic->space = s->space[i->id];
    generic->line = i->line;
    generic->file = i->file;
    return generic;
}

static void rewrite_pointers(Spaces *s)
{
    for (IrBlock *block = s->function->first; block; block = block->next)
        for (IrInstruction *i = block->first; i; i = i->next)
            if (is_specific(s, i))
                make_specific(s, i);
    for (IrBlock *block = s->function->first; block; block = block->next)
        for (IrInstruction *i = block->first; i; i = i->next)
            if (is_specific(s, i) && s->specific[i->id])
                fill_specific(s, i);
    for (IrBlock *block = s->function->first; block; block = block->next)
        for (IrInstruction *i = block->first, *next; i; i = next) {
            next = i->next;
            if (!is_specific(s, i) || !s->specific[i->id])
                continue;
            ir_replace(i, generic_again(s, i, i->op == IR_PHI ? ir_first_not_phi(block) : i));
            s->changed = true;
        }
}

// ---- Accesses

static bool names_space(const IrInstruction *i)
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
        return names_space(i);
    }
}

// Also through offsets of a conversion, and of both ends of a copy.
static void rewrite_accesses(Spaces *s)
{
    for (IrBlock *block = s->function->first; block; block = block->next)
        for (IrInstruction *i = block->first; i; i = i->next) {
            if (is_generic_access(i) && i->operands[0]->op == IR_TO_GENERIC) {
                i->space = i->operands[0]->space;
                ir_set_operand(i, 0, i->operands[0]->operands[0]);
                s->changed = true;
            }
            for (uint32_t k = 0; i->op == IR_COPY && k < 2; k++)
                if (i->operands[k]->op == IR_TO_GENERIC) {
                    ir_set_operand(i, k, i->operands[k]->operands[0]);
                    s->changed = true;
                }
            if (i->op == IR_FROM_GENERIC && i->operands[0]->op == IR_TO_GENERIC && i->operands[0]->space == i->space) {
                ir_replace_uses(i, i->operands[0]->operands[0]);
                s->changed = true;
            }
        }
}

// Whether the pointer already goes through global memory.
static bool is_converted(const IrInstruction *argument)
{
    return argument->uses && !argument->uses->next && argument->uses->user->op == IR_FROM_GENERIC;
}

static void convert_argument(Spaces *s, IrInstruction *argument)
{
    IrInstruction *place = argument->next;
    IrInstruction *global = ir_insert_before(s->module, place, IR_FROM_GENERIC, IR_B64, 1, &argument);
    IrInstruction *generic = ir_insert_before(s->module, place, IR_TO_GENERIC, IR_B64, 1, &global);
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

// A pointer among the arguments, or in a structure among them.
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
