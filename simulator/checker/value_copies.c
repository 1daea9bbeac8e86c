// value_copies.c: what a program copies without asking for it, by its instructions alone.
//
// A structure is copied with all that it has: its padding, the member of its union that is not in use, the part of its array
// that is not full. So what nobody wrote is no mistake where the thread copies it together with what lies beside it. Two
// addresses lie beside each other where they are the same but for a number, however they were computed.
#include "checker/value_copies.h"

enum { MOST_TERMS = 4, MOST_STEPS = 8 };

typedef struct Form { // a sum: a number and multiples of registers
    int64_t number;
    uint32_t count;
    struct { const Register *reg; int64_t times; } terms[MOST_TERMS];
    bool known; // it is a sum, and has no more terms than there is room for
} Form;

bool sim_moves_bits(const Instr *i)
{
    switch (i->kind) {
    case LOGICAL_AND: case LOGICAL_OR: return i->type != PRED;
    case MOVE: case SELECT: case INSERT: case SHIFT_LEFT: case PART: return true;
    default: return false;
    }
}

// The instruction that always computes a register, if it is but one.
static const Instr *maker_of(const Program *p, const Register *reg)
{
    const Instr *i = reg->maker < p->count ? &p->code[reg->maker] : NULL;
    return i && i->guard == NOWHERE ? i : NULL;
}

static void add_operand(const Program *p, Form *f, const Operand *o, int64_t times, int steps);

static void add_term(Form *f, const Register *reg, int64_t times)
{
    uint32_t k = 0;
    while (k < f->count && f->terms[k].reg != reg)
        k++;
    if (k == MOST_TERMS) {
        f->known = false;
        return;
    }
    if (k == f->count)
        f->terms[f->count++].reg = reg, f->terms[k].times = 0;
    f->terms[k].times += times;
}

// Adds what an instruction computes. False: that is no sum.
static bool add_result(const Program *p, Form *f, const Instr *i, int64_t times, int steps)
{
    const Operand *o = i->statement->operands;
    const bool constant = o[2].kind == IS_INTEGER, same = i->kind == MOVE || (i->kind == PART && i->statement->count == 2);
    if (o[1].kind != IS_REGISTER || (i->kind != SUM && !same && !constant))
        return false;
    if (i->kind == SUM) {
        add_operand(p, f, &o[1], times, steps);
        add_operand(p, f, &o[2], times, steps);
    } else if (same)
        add_operand(p, f, &o[1], times, steps);
    else if (i->kind == SHIFT_LEFT && o[2].integer < 16)
        add_operand(p, f, &o[1], times << o[2].integer, steps);
    else if (i->kind == PRODUCT)
        add_operand(p, f, &o[1], times * o[2].integer, steps);
    else
        return false;
    return true;
}

static void add_operand(const Program *p, Form *f, const Operand *o, int64_t times, int steps)
{
    if (o->kind == IS_INTEGER) {
        f->number += times * o->integer;
        return;
    }
    if (o->kind != IS_REGISTER) {
        f->known = false;
        return;
    }
    const Instr *i = steps > 0 ? maker_of(p, o->reg) : NULL;
    if (!i || !add_result(p, f, i, times, steps - 1))
        add_term(f, o->reg, times);
}

static Form address_of(const Program *p, const Instr *i)
{
    const Operand *o = &i->statement->operands[i->kind == LOAD];
    Form f = {.number = o->integer, .known = true};
    const Operand base = {.kind = o->kind, .reg = o->reg};
    add_operand(p, &f, &base, 1, MOST_STEPS);
    return f;
}

// Whether two sums differ by a number, which is not 0.
static bool is_beside(const Form *f, const Form *other)
{
    bool same = f->known && other->known && f->count == other->count && f->number != other->number;
    for (uint32_t k = 0; k < f->count && same; k++) {
        uint32_t n = 0;
        while (n < other->count && other->terms[n].reg != f->terms[k].reg)
            n++;
        same = n < other->count && other->terms[n].times == f->terms[k].times;
    }
    return same;
}

static bool is_part(const Program *p, const Instr *i, const Instr *other, const Form *there, int64_t *distance)
{
    if (other->kind != i->kind || other->at.space != i->at.space)
        return false;
    const Form here = address_of(p, other);
    *distance = here.number - there->number;
    return is_beside(&here, there);
}

static void find_beside(const Program *p, Copy *copy)
{
    int64_t stored[MOST_BESIDE], distance;
    uint32_t count = 0;
    const Form to = address_of(p, copy->store), from = address_of(p, copy->load);
    for (const Instr *i = p->code; i < p->code + p->count && count < MOST_BESIDE; i++)
        if (is_part(p, copy->store, i, &to, &distance))
            stored[count++] = distance;
    for (const Instr *i = p->code; i < p->code + p->count && copy->count < count; i++) {
        bool both = false;
        for (uint32_t k = 0; k < count && is_part(p, copy->load, i, &from, &distance); k++)
            both |= stored[k] == distance;
        if (both)
            copy->beside[copy->count++] = i;
    }
}

// By how much a register that is written more than once goes on in a loop, as far as one number says it; or 0.
static int64_t step_of(const Program *p, const Register *reg)
{
    for (const Instr *i = p->code; i < p->code + p->count && reg->maker == MANY; i++) {
        Form f = {.known = i->statement && !i->statement->operands[0].address && i->statement->operands[0].reg == reg};
        if (f.known && add_result(p, &f, i, 1, MOST_STEPS) && f.known && f.count == 1 && f.terms[0].reg == reg && f.terms[0].times == 1)
            return f.number;
    }
    return 0;
}

static bool goes_on(const Program *p, const Instr *i)
{
    const Form f = address_of(p, i);
    for (uint32_t k = 0; k < f.count && f.known; k++)
        if (f.terms[k].times * step_of(p, f.terms[k].reg) == (int64_t)i->bytes * i->count)
            return true;
    return false;
}

Copy sim_copy_of(const Program *p, const Instr *load, const Instr *store)
{
    Copy copy = {.load = load, .store = store};
    if (load->kind != LOAD || load < p->code || load >= p->code + p->count)
        return copy;
    copy.in_turns = load->bytes * load->count == store->bytes * store->count && goes_on(p, load) && goes_on(p, store);
    find_beside(p, &copy);
    return copy;
}
