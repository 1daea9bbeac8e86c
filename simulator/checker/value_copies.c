// value_copies.c: static analysis of copies: which instructions move values without other uses.
//
// Copying a structure also copies its padding, the inactive members of unions and unused array elements. Therefore copying an undefined
// value is not an error if the thread also copies its neighbours: other loads and stores have the same distance from this load and this
// store, or both addresses advance by the copied size in a loop.
#include "checker/value_copies.h"
#include "front/addresses.h"

#include <string.h>

enum { MAX_DEPTH = 8, MAX_MEMBER_DISTANCE = 128 }; // MAX_MEMBER_DISTANCE: bytes between neighbouring members

static Pointer address_of(const Function *f, const Instr *i)
{
    return sim_pointer_of(f, &i->statement->operands[i->kind == LOAD]);
}

// The distance in bytes of another access of the same kind; 0: unknown, or too large for a neighbour.
static int64_t distance_of(const Function *f, const Instr *i, const Instr *other)
{
    if (other->kind != i->kind || other->at.space != i->at.space)
        return 0;
    const Pointer here = address_of(f, i), there = address_of(f, other);
    const int64_t distance = there.offset - here.offset;
    const bool is_near = distance > -MAX_MEMBER_DISTANCE && distance < MAX_MEMBER_DISTANCE;
    return is_near && distance && sim_same_pointer(f, (Pointer){here.reg, here.variable, 0}, (Pointer){there.reg, there.variable, 0}) ? distance : 0;
}

// The load of a value that another function returns may be anywhere.
static bool copies_neighbour(const Function *f, const Instr *load, const Instr *store)
{
    const Instr *const code = f->program->code, *const end = code + f->program->count;
    const bool in_other_function = load < code || load >= end;
    bool loads[2 * MAX_MEMBER_DISTANCE]; // by distance
    memset(loads, in_other_function, sizeof loads);
    for (const Instr *i = code; i < end && !in_other_function; i++)
        loads[distance_of(f, load, i) + MAX_MEMBER_DISTANCE] = true;
    loads[MAX_MEMBER_DISTANCE] = false;
    for (const Instr *i = code; i < end; i++)
        if (loads[distance_of(f, store, i) + MAX_MEMBER_DISTANCE])
            return true;
    return false;
}

static const Instr *sole_definition(const Program *p, const Register *reg)
{
    return reg && reg->sole_def < p->count ? &p->code[reg->sole_def] : NULL;
}

// The register that a register is a copy of, or the register itself.
static const Register *copied_register(const Program *p, const Register *reg)
{
    for (const Instr *i; (i = sole_definition(p, reg)) && i->kind == MOVE && i->statement->operands[1].reg;)
        reg = i->statement->operands[1].reg;
    return reg;
}

// The constant that a loop adds to a register, or 0.
static int64_t increment_of(const Program *p, const Register *reg)
{
    for (const Instr *i = p->code; reg && i < p->code + p->count; i++) {
        const Operand *to = i->statement ? i->statement->operands : NULL;
        const bool sets = to && to->reg == reg && !to->is_address;
        const Instr *sum = sets && i->kind == MOVE ? sole_definition(p, copied_register(p, to[1].reg)) : i;
        const Operand *o = sets && sum && sum->kind == SUM ? sum->statement->operands : NULL;
        if (o && o[2].kind == IS_INTEGER && copied_register(p, o[1].reg) == reg)
            return o[2].integer;
    }
    return 0;
}

// The constant by which a register advances in each iteration of a loop, or 0.
static int64_t step_of(const Program *p, const Register *reg, int depth)
{
    const Instr *i = sole_definition(p, reg);
    if (!i || depth == 0)
        return i ? 0 : increment_of(p, reg);
    const Operand *o = i->statement->operands;
    const int64_t step = step_of(p, o[1].reg, depth - 1);
    switch (i->kind) {
    case SUM: return step + step_of(p, o[2].reg, depth - 1);
    case MOVE: case CONVERT_INTEGER: case CONVERT_ADDRESS: return step;
    case SHIFT_LEFT: return o[2].kind == IS_INTEGER ? step << (o[2].integer & 15) : 0;
    case PRODUCT: return o[2].kind == IS_INTEGER ? step * o[2].integer : 0;
    default: return 0;
    }
}

static bool advances_by_own_size(const Program *p, const Instr *i)
{
    return step_of(p, i->statement->operands[i->kind == LOAD].reg, MAX_DEPTH) == (int64_t)i->bytes * i->count;
}

bool sim_copies_structure(const Function *f, const Instr *load, const Instr *store)
{
    const Program *p = f->program;
    if (load->kind != LOAD)
        return false;
    const bool is_inside = load >= p->code && load < p->code + p->count,
               in_loop = is_inside && load->bytes * load->count == store->bytes * store->count && advances_by_own_size(p, load) && advances_by_own_size(p, store);
    return in_loop || copies_neighbour(f, load, store);
}
