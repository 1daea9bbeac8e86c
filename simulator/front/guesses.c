// guesses.c: which plain loads are guesses that a compare-and-swap of the same word tests, as the CUDA guide's own loop
// has one in front: an old value costs a turn and does no harm. What is loaded may decide which way a thread takes, and
// may become the new value; it may not be stored, be an address, or leave the function before the swap has tested it.
// Behind the swap it is not followed: the swap's result tells the thread whether the guess was right.
//
// Code for a debugger calls atomicCAS and conversions as functions and computes an address anew for each use. So a call of
// a function that only hands its parameters on to a compare-and-swap is one, too, and addresses are compared by how
// they are computed.
#include "front/flow.h"

#include <string.h>

enum { MOST_PLACES = 1024, MOST_DEPTH = 16, MOST_OF_WRAPPER = 24 };

typedef struct Place { // a value as it is computed: a register or a variable, and what is added
    const Register *reg;
    const Variable *variable;
    int64_t offset;
} Place;

typedef struct Swap {
    Place at;
    const Operand *compared; // a register, or a call's parameter
    size_t bytes;
} Swap;

// ---- How a value is computed

static bool is_parameter(const Operand *o)
{
    return o->variable && o->variable->space == PARAM;
}

// Computes, and does nothing else; also to and from a function's parameters.
static bool computes(const Instr *i)
{
    const bool stores = i->statement && i->statement->count > 0 && i->statement->operands[0].address;
    return i->statement && i->statement->count > 1 && i->control == PLAIN && !(i->effects & ~SETS_FIRST) &&
           (i->kind == OTHER_KIND || i->kind >= LOGICAL_AND) && (!stores || is_parameter(&i->statement->operands[0]));
}

// The one instruction that computes a register, or NULL.
static const Instr *maker_of(const Function *in, const Register *reg)
{
    const uint32_t k = reg ? reg->maker : NOWHERE;
    return k < in->program->count && computes(&in->program->code[k]) && !in->program->code[k].statement->guard
               ? &in->program->code[k]
               : NULL;
}

static bool is_opcode(const Statement *s, const char *begin)
{
    return s->opcode.length >= strlen(begin) && memcmp(s->opcode.text, begin, strlen(begin)) == 0;
}

// Follows copies, conversions of addresses, and constants that are added.
static Place place_of(const Function *in, const Operand *o)
{
    Place at = {o->reg, o->variable, o->integer};
    for (int n = 0; n < MOST_DEPTH; n++) {
        const Instr *i = maker_of(in, at.reg);
        const Statement *s = i ? i->statement : NULL;
        if (!s || s->operands[0].kind != IS_REGISTER || is_parameter(&s->operands[1]))
            break;
        const bool copies = s->count == 2 && (is_opcode(s, "mov.") || is_opcode(s, "cvta.")),
                   adds = s->count == 3 && is_opcode(s, "add.") && s->operands[2].kind == IS_INTEGER;
        const Operand *from = &s->operands[1];
        if (!(copies || adds) || !(from->variable || (from->reg && from->reg->maker != MANY)))
            break;
        at = (Place){from->reg, from->variable, at.offset + (copies ? from->integer : s->operands[2].integer)};
    }
    return at;
}

static bool same_place(const Function *in, Place a, Place b, int depth);

static bool same_operand(const Function *in, const Operand *a, const Operand *b, int depth)
{
    if (a->kind != b->kind || a->negated != b->negated || a->count || b->count)
        return false;
    if (a->reg || a->variable)
        return same_place(in, place_of(in, a), place_of(in, b), depth);
    return a->integer == b->integer && a->real == b->real && sim_same_slice(a->name, b->name);
}

// Whether they are one register, or computed alike of what is the same.
static bool same_place(const Function *in, Place a, Place b, int depth)
{
    if (a.offset != b.offset || a.variable != b.variable || depth > MOST_DEPTH)
        return false;
    if (a.reg == b.reg)
        return true;
    const Instr *i = maker_of(in, a.reg), *j = maker_of(in, b.reg);
    bool same = i && j && sim_same_slice(i->statement->opcode, j->statement->opcode) &&
                i->statement->count == j->statement->count;
    for (int k = 1; same && k < i->statement->count; k++)
        same = same_operand(in, &i->statement->operands[k], &j->statement->operands[k], depth + 1);
    return same;
}

// ---- What swaps

static const Operand *arguments_of(const Statement *s)
{
    return s->count == 3 && s->operands[0].kind == IS_VECTOR && s->operands[2].kind == IS_VECTOR ? &s->operands[2] : NULL;
}

// What is handed to a call as a parameter: stored shortly before it.
static const Operand *handed(const Function *in, uint32_t call, const Operand *parameter)
{
    for (uint32_t k = call; k-- > 0 && in->program->code[k].control == PLAIN;) {
        const Statement *s = in->program->code[k].statement;
        if (s && s->count == 2 && s->operands[0].address && s->operands[0].variable == parameter->variable)
            return &s->operands[1];
    }
    return NULL;
}

static bool finds_swap(Arena *arena, const Function *in, uint32_t k, Swap *swap, int depth);

// Whether the place is what the function gets as a parameter.
static bool is_formal(const Function *in, Place at, const Variable *formal)
{
    const Instr *i = maker_of(in, at.reg);
    return at.offset == 0 && i && i->statement->operands[1].variable == formal;
}

// Whether a function does nothing but a compare-and-swap with its three parameters.
static bool only_swaps(Arena *arena, const Function *f, int depth)
{
    const Variable *at = f->params, *compared = at ? at->next : NULL, *last = compared ? compared->next : NULL;
    if (!last || last->next || !f->program || f->program->count > MOST_OF_WRAPPER || depth > 3)
        return false;
    int swaps = 0;
    for (uint32_t k = 0; k < f->program->count; k++) {
        Swap swap;
        if (finds_swap(arena, f, k, &swap, depth)) {
            const Operand *value = is_parameter(swap.compared) ? handed(f, k, swap.compared) : swap.compared;
            swaps += value && is_formal(f, swap.at, at) && is_formal(f, place_of(f, value), compared) ? 1 : 2;
        } else if (!computes(&f->program->code[k]) && f->program->code[k].control != RETURN) {
            return false;
        }
    }
    return swaps == 1;
}

// Whether an instruction compares and swaps, by itself or by a call.
static bool finds_swap(Arena *arena, const Function *in, uint32_t k, Swap *swap, int depth)
{
    const Instr *i = &in->program->code[k];
    const Statement *s = i->statement;
    if (s && i->kind == ATOMIC && i->op == ATOMIC_CAS) {
        *swap = (Swap){place_of(in, &s->operands[1]), &s->operands[2], i->bytes};
        return true;
    }
    const Operand *arguments = s && i->control == CALL ? arguments_of(s) : NULL;
    const Operand *at = arguments && arguments->count == 3 ? handed(in, k, &arguments->elements[0]) : NULL;
    if (!at || !i->call->callee || !only_swaps(arena, i->call->callee, depth + 1))
        return false;
    *swap = (Swap){place_of(in, at), &arguments->elements[1], arguments->elements[1].variable->bytes};
    return true;
}

// ---- Where a guess goes

typedef struct Value { // what a register, or else a call's parameter, holds when a thread comes to an instruction
    const Register *reg;
    const Variable *variable;
    uint32_t at;
} Value;

typedef struct Search {
    const Function *function;
    const Flow *flow;
    const Swap *swaps; // by instruction; without an operand to compare: it is none
    Place guessed;
    size_t bytes;
    Value values[MOST_PLACES];
    uint32_t count;
    bool tested, leaks; // by a swap; to where no swap tests it
} Search;

static void add(Search *s, Value v)
{
    for (uint32_t k = 0; k < s->count; k++)
        if (s->values[k].reg == v.reg && s->values[k].variable == v.variable && s->values[k].at == v.at)
            return;
    if (s->count < MOST_PLACES)
        s->values[s->count++] = v;
    else
        s->leaks = true; // for all that is known
}

static void add_operand(Search *s, const Operand *o, uint32_t at)
{
    if (is_parameter(o))
        add(s, (Value){NULL, o->variable, at});
    if (o->reg)
        add(s, (Value){o->reg, NULL, at});
    if (o->second)
        add(s, (Value){o->second, NULL, at});
    for (int k = 0; k < o->count; k++)
        add_operand(s, &o->elements[k], at);
}

static bool has(const Operand *o, const Value *v)
{
    bool any = v->reg ? o->reg == v->reg || o->second == v->reg : o->variable == v->variable;
    for (int k = 0; k < o->count; k++)
        any |= has(&o->elements[k], v);
    return any;
}

static bool reads(const Statement *s, const Value *v)
{
    bool any = s->count > 0 && s->operands[0].address && v->reg && has(&s->operands[0], v);
    for (int k = 1; k < s->count; k++)
        any |= has(&s->operands[k], v);
    return any;
}

static bool writes(const Instr *i, const Value *v)
{
    const Statement *s = i->statement;
    return s->count > 0 && !s->guard && has(&s->operands[0], v) &&
           (i->control == CALL || (s->operands[0].address ? !v->reg : (i->effects & SETS_FIRST) != 0));
}

// What an instruction that reads the value makes of it.
static void pass_on(Search *s, const Instr *i, uint32_t next)
{
    const Operand *to = &i->statement->operands[0];
    const Function *callee = i->control == CALL ? i->call->callee : NULL;
    const bool pure = callee && arguments_of(i->statement) && callee->program && !callee->program->does.accesses &&
                      !callee->program->does.writes;
    if ((pure || computes(i) || i->kind == VOTE) && !(is_parameter(to) && to->variable == s->function->returned))
        add_operand(s, to, next);
    else
        s->leaks |= i->control != BRANCH && i->control != BRANCH_INDEXED;
}

// Follows a value to where a swap tests it, or it is written anew, or its block ends, and then from there.
static void follow(Search *s, const Value v)
{
    const Flow *f = s->flow;
    const uint32_t block = f->block_of[v.at];
    for (uint32_t k = v.at; k < f->first[block + 1]; k++) {
        const Instr *i = &s->function->program->code[k];
        const Swap *swap = &s->swaps[k];
        if (!i->statement)
            continue;
        if (swap->compared && swap->bytes == s->bytes && same_place(s->function, swap->at, s->guessed, 0)) {
            s->tested |= has(swap->compared, &v);
            return;
        }
        if (reads(i->statement, &v))
            pass_on(s, i, k + 1);
        if (writes(i, &v))
            return;
    }
    for (uint32_t k = 0; block + 1 < f->count && k < f->successor_count[block]; k++)
        add(s, (Value){v.reg, v.variable, f->first[f->successors[block][k]]});
}

static bool is_guess(Search *s, uint32_t load)
{
    const Operand *operands = s->function->program->code[load].statement->operands;
    s->guessed = place_of(s->function, &operands[1]);
    s->bytes = s->function->program->code[load].bytes;
    s->count = 0;
    s->tested = s->leaks = false;
    add_operand(s, &operands[0], load + 1);
    for (uint32_t k = 0; k < s->count && !s->leaks; k++)
        follow(s, s->values[k]);
    return s->tested && !s->leaks;
}

static void mark_guesses(Search *s, Program *p, const Swap *swap)
{
    for (uint32_t k = 0; k < p->count; k++) {
        Instr *i = &p->code[k];
        if (i->kind == LOAD && i->semantics == WEAK && i->statement && i->bytes == swap->bytes && !(i->loop & GUESSES) &&
            same_place(s->function, place_of(s->function, &i->statement->operands[1]), swap->at, 0) && is_guess(s, k))
            i->loop |= GUESSES;
    }
}

void sim_find_guesses(Arena *arena, const Function *function, Program *p, const Flow *f)
{
    Swap *swaps = sim_allocate(arena, ((size_t)p->count + 1) * sizeof *swaps);
    bool any = false;
    for (uint32_t k = 0; k < p->count; k++)
        any |= finds_swap(arena, function, k, &swaps[k], 0);
    if (!any)
        return;
    Search *search = sim_allocate(arena, sizeof *search);
    *search = (Search){.function = function, .flow = f, .swaps = swaps};
    for (uint32_t k = 0; k < p->count; k++)
        if (swaps[k].compared)
            mark_guesses(search, p, &swaps[k]);
}
