// value_copies.c: what a program copies without asking for it, by its instructions alone.
//
// A structure is copied with all that it has: its padding, the member of its union that is not in use, the part of its array
// that is not full. So what nobody wrote is no mistake where the thread copies it together with what lies beside it. Two
// addresses lie beside each other where they are the same but for a number, however they were computed.
#include "checker/value_copies.h"

enum { MOST_TERMS = 4, MOST_STEPS = 8, MOST_BETWEEN = 128 }; // bytes between the begins of two members that lie side by side

typedef struct Form { // a sum: a number and multiples of registers, and of variables' addresses
    int64_t number;
    uint32_t count;
    struct { const void *of; int64_t times; } terms[MOST_TERMS];
    bool known; // it is a sum, and has no more terms than there is room for
} Form;

bool sim_moves_bits(const Instr *i)
{
    switch (i->kind) {
    case LOGICAL_AND: case LOGICAL_OR: return i->type != PRED;
    case MOVE: case SELECT: case INSERT: case EXTRACT: case PERMUTE: case WIDEN: case SHIFT_LEFT: case SHIFT_RIGHT: case FUNNEL_LEFT:
    case FUNNEL_RIGHT: return true;
    default: return false;
    }
}

// The instruction that always computes a register, if it is but one.
static const Instr *definition_of(const Program *p, const Register *reg)
{
    const Instr *i = reg->maker < p->count ? &p->code[reg->maker] : NULL;
    return i && i->guard == NOWHERE ? i : NULL;
}

static void add_operand(const Program *p, Form *f, const Operand *o, int64_t times, int steps);

static void add_term(Form *f, const void *of, int64_t times)
{
    uint32_t k = 0;
    while (k < f->count && f->terms[k].of != of)
        k++;
    if (k == MOST_TERMS) {
        f->known = false;
        return;
    }
    if (k == f->count) {
        f->terms[k].of = of;
        f->terms[k].times = 0;
        f->count++;
    }
    f->terms[k].times += times;
}

// Adds what an instruction computes. False: that is no sum.
static bool add_result(const Program *p, Form *f, const Instr *i, int64_t times, int steps)
{
    const Operand *o = i->statement->operands;
    const bool constant = o[2].kind == IS_INTEGER, same = i->kind == MOVE || i->kind == WIDEN;
    const bool known = o[1].kind == IS_REGISTER || (o[1].kind == IS_SYMBOL && o[1].variable);
    if (!known || (i->kind != SUM && !same && !constant))
        return false;
    if (i->kind == SUM) {
        add_operand(p, f, &o[1], times, steps);
        add_operand(p, f, &o[2], times, steps);
    } else if (same)
        add_operand(p, f, &o[1], times, steps);
    else if (i->kind == SHIFT_LEFT && o[2].integer >= 0 && o[2].integer < 16)
        add_operand(p, f, &o[1], times << o[2].integer, steps);
    else if (i->kind == PRODUCT)
        add_operand(p, f, &o[1], times * o[2].integer, steps);
    else
        return false;
    return true;
}

static void add_operand(const Program *p, Form *f, const Operand *o, int64_t times, int steps)
{
    const Instr *i = o->kind == IS_REGISTER && steps > 0 && f->known ? definition_of(p, o->reg) : NULL;
    if (o->kind == IS_INTEGER || o->kind == IS_SYMBOL)
        f->number += times * o->integer;
    if (o->kind == IS_SYMBOL && o->variable)
        add_term(f, o->variable, times);
    else if (o->kind == IS_REGISTER && !(i && add_result(p, f, i, times, steps - 1)))
        add_term(f, o->reg, times);
    else if (o->kind != IS_INTEGER && o->kind != IS_REGISTER)
        f->known = false;
}

static Form address_of(const Program *p, const Instr *i)
{
    const Operand *o = &i->statement->operands[i->kind == LOAD];
    Form f = {.number = o->kind == IS_REGISTER ? o->integer : 0, .known = true};
    add_operand(p, &f, o, 1, MOST_STEPS);
    return f;
}

// Whether two sums differ by a number, which is not 0.
static bool is_beside(const Form *f, const Form *other)
{
    bool same = f->known && other->known && f->count == other->count && f->number != other->number;
    for (uint32_t k = 0; k < f->count && same; k++) {
        uint32_t n = 0;
        while (n < other->count && other->terms[n].of != f->terms[k].of)
            n++;
        same = n < other->count && other->terms[n].times == f->terms[k].times;
    }
    return same;
}

// Whether another instruction does the same as this one, which does it `here`, at a place whose distance is known.
static bool finds_distance(const Program *p, const Instr *i, const Form *here, const Instr *other, int64_t *distance)
{
    if (other->kind != i->kind || other->at.space != i->at.space)
        return false;
    const Form there = address_of(p, other);
    *distance = there.number - here->number;
    return *distance > -MOST_BETWEEN && *distance < MOST_BETWEEN && is_beside(here, &there);
}

// Whether something else is stored as far from the store as it was loaded from the load.
static bool copies_beside(const Program *p, const Instr *load, const Instr *store)
{
    enum { MOST = 128 };
    int64_t stored[MOST], distance;
    uint32_t count = 0;
    const Form to = address_of(p, store), from = address_of(p, load);
    for (const Instr *i = p->code; i < p->code + p->count && count < MOST; i++)
        if (finds_distance(p, store, &to, i, &distance))
            stored[count++] = distance;
    for (const Instr *i = p->code; i < p->code + p->count && count > 0; i++)
        if (finds_distance(p, load, &from, i, &distance))
            for (uint32_t k = 0; k < count; k++)
                if (stored[k] == distance)
                    return true;
    return false;
}

// By how much one of a sum's registers goes on in a loop, as far as one number says it; or 0.
static int64_t step_of(const Program *p, const void *of)
{
    for (const Instr *i = p->code; i < p->code + p->count; i++) {
        const Operand *to = i->statement ? &i->statement->operands[0] : NULL;
        Form f = {.known = true};
        if (to && !to->address && to->reg == of && add_result(p, &f, i, 1, MOST_STEPS) && f.known && f.count == 1 && f.terms[0].of == of &&
            f.terms[0].times == 1)
            return f.number;
    }
    return 0;
}

static bool goes_on(const Program *p, const Instr *i)
{
    const Form f = address_of(p, i);
    for (uint32_t k = 0; k < f.count && f.known; k++)
        if (f.terms[k].times * step_of(p, f.terms[k].of) == (int64_t)i->bytes * i->count)
            return true;
    return false;
}

bool sim_copies_structure(const Program *p, const Instr *load, const Instr *store)
{
    if (load->kind != LOAD || load < p->code || load >= p->code + p->count)
        return false;
    const bool in_turns = load->bytes * load->count == store->bytes * store->count && goes_on(p, load) && goes_on(p, store);
    return in_turns || copies_beside(p, load, store);
}
