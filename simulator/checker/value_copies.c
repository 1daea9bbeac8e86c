// value_copies.c: static analysis of copies: which instructions move values without other uses.
//
// Copying a structure also copies its padding, the inactive members of unions and unused array elements. Therefore copying an undefined
// value is not an error if the thread also copies its neighbours. Two addresses are neighbours if their linear forms differ by a constant.
#include "checker/value_copies.h"

enum { MAX_TERMS = 4, MAX_DEPTH = 8, MAX_MEMBER_DISTANCE = 128 }; // MAX_MEMBER_DISTANCE: bytes between neighbouring members

typedef struct LinearForm { // a constant plus multiples of registers and of variables' addresses
    int64_t constant;
    uint32_t count;
    struct { const void *symbol; int64_t factor; } terms[MAX_TERMS]; // symbol: a Register or a Variable
    bool is_linear; // false: not linear, or too many terms
} LinearForm;

// The only instruction that sets a register, if it is unconditional; or NULL.
static const Instr *definition_of(const Program *p, const Register *reg)
{
    const Instr *i = reg->sole_def < p->count ? &p->code[reg->sole_def] : NULL;
    return i && i->guard == NO_OFFSET ? i : NULL;
}

static void add_operand(const Program *p, LinearForm *f, const Operand *o, int64_t factor, int depth);

static void add_term(LinearForm *f, const void *symbol, int64_t factor)
{
    uint32_t k = 0;
    while (k < f->count && f->terms[k].symbol != symbol)
        k++;
    if (k == MAX_TERMS) {
        f->is_linear = false;
        return;
    }
    if (k == f->count) {
        f->terms[k].symbol = symbol;
        f->terms[k].factor = 0;
        f->count++;
    }
    f->terms[k].factor += factor;
}

// Adds the result of an instruction. False: it is not linear.
static bool add_result(const Program *p, LinearForm *f, const Instr *i, int64_t factor, int depth)
{
    const Operand *o = i->statement->operands;
    const bool constant = o[2].kind == IS_INTEGER, is_copy = i->kind == MOVE || i->kind == CONVERT_INTEGER;
    const bool is_linear = o[1].kind == IS_REGISTER || (o[1].kind == IS_SYMBOL && o[1].variable);
    if (!is_linear || (i->kind != SUM && !is_copy && !constant))
        return false;
    if (i->kind == SUM) {
        add_operand(p, f, &o[1], factor, depth);
        add_operand(p, f, &o[2], factor, depth);
    } else if (is_copy)
        add_operand(p, f, &o[1], factor, depth);
    else if (i->kind == SHIFT_LEFT && o[2].integer >= 0 && o[2].integer < 16)
        add_operand(p, f, &o[1], factor << o[2].integer, depth);
    else if (i->kind == PRODUCT)
        add_operand(p, f, &o[1], factor * o[2].integer, depth);
    else
        return false;
    return true;
}

static void add_operand(const Program *p, LinearForm *f, const Operand *o, int64_t factor, int depth)
{
    const Instr *i = o->kind == IS_REGISTER && depth > 0 && f->is_linear ? definition_of(p, o->reg) : NULL;
    if (o->kind == IS_INTEGER || o->kind == IS_SYMBOL)
        f->constant += factor * o->integer;
    if (o->kind == IS_SYMBOL && o->variable)
        add_term(f, o->variable, factor);
    else if (o->kind == IS_REGISTER && !(i && add_result(p, f, i, factor, depth - 1)))
        add_term(f, o->reg, factor);
    else if (o->kind != IS_INTEGER && o->kind != IS_REGISTER)
        f->is_linear = false;
}

static LinearForm address_of(const Program *p, const Instr *i)
{
    const Operand *o = &i->statement->operands[i->kind == LOAD];
    LinearForm f = {.constant = o->kind == IS_REGISTER ? o->integer : 0, .is_linear = true};
    add_operand(p, &f, o, 1, MAX_DEPTH);
    return f;
}

// True if two forms differ by a nonzero constant.
static bool differs_by_constant(const LinearForm *f, const LinearForm *other)
{
    bool same = f->is_linear && other->is_linear && f->count == other->count && f->constant != other->constant;
    for (uint32_t k = 0; k < f->count && same; k++) {
        uint32_t n = 0;
        while (n < other->count && other->terms[n].symbol != f->terms[k].symbol)
            n++;
        same = n < other->count && other->terms[n].factor == f->terms[k].factor;
    }
    return same;
}

// True if another instruction accesses the same space at a known small distance. `here`: the address of `i`.
static bool has_distance(const Program *p, const Instr *i, const LinearForm *here, const Instr *other, int64_t *distance)
{
    if (other->kind != i->kind || other->at.space != i->at.space)
        return false;
    const LinearForm there = address_of(p, other);
    *distance = there.constant - here->constant;
    return *distance > -MAX_MEMBER_DISTANCE && *distance < MAX_MEMBER_DISTANCE && differs_by_constant(here, &there);
}

// True if another load and another store are at one distance from this load and this store.
static bool copies_neighbour(const Program *p, const Instr *load, const Instr *store)
{
    enum { MAX_STORES = 128 };
    int64_t stored[MAX_STORES], distance;
    uint32_t count = 0;
    const LinearForm to = address_of(p, store), from = address_of(p, load);
    for (const Instr *i = p->code; i < p->code + p->count && count < MAX_STORES; i++)
        if (has_distance(p, store, &to, i, &distance))
            stored[count++] = distance;
    for (const Instr *i = p->code; i < p->code + p->count && count > 0; i++)
        if (has_distance(p, load, &from, i, &distance))
            for (uint32_t k = 0; k < count; k++)
                if (stored[k] == distance)
                    return true;
    return false;
}

// The constant by which a register advances in each iteration, or 0.
static int64_t step_of(const Program *p, const void *symbol)
{
    for (const Instr *i = p->code; i < p->code + p->count; i++) {
        const Operand *to = i->statement ? &i->statement->operands[0] : NULL;
        LinearForm f = {.is_linear = true};
        if (to && !to->is_address && to->reg == symbol && add_result(p, &f, i, 1, MAX_DEPTH) && f.is_linear && f.count == 1 && f.terms[0].symbol == symbol &&
            f.terms[0].factor == 1)
            return f.constant;
    }
    return 0;
}

static bool advances_by_own_size(const Program *p, const Instr *i)
{
    const LinearForm f = address_of(p, i);
    for (uint32_t k = 0; k < f.count && f.is_linear; k++)
        if (f.terms[k].factor * step_of(p, f.terms[k].symbol) == (int64_t)i->bytes * i->count)
            return true;
    return false;
}

bool sim_copies_structure(const Program *p, const Instr *load, const Instr *store)
{
    if (load->kind != LOAD || load < p->code || load >= p->code + p->count)
        return false;
    const bool in_loop = load->bytes * load->count == store->bytes * store->count && advances_by_own_size(p, load) && advances_by_own_size(p, store);
    return in_loop || copies_neighbour(p, load, store);
}
