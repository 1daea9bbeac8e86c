// guesses.c: which plain loads are guesses that a compare-and-swap of the same word tests, as the CUDA guide's own loop
// has one in front: an old value costs a turn and does no harm. What is loaded may decide which way a thread takes, and
// may become the new value; it may not be stored where others see it, nor be an address, before the swap has tested it.
// Behind the swap it is not followed: the swap's result tells the thread whether the guess was right.
//
// Code that is not optimised calls atomicCAS and conversions as functions, keeps values in local memory, and computes or
// loads an address anew for each use. So a call of a function that has a compare-and-swap, and gets both the place and the
// guess, counts as one; local memory is followed; addresses are compared by how they are come by; and a function may
// return a guess, for what its caller does with it is not known.
#include "front/flow.h"

#include <string.h>

enum { MOST_VALUES = 1024, MOST_DEPTH = 16, MOST_CALLS = 4 };

typedef struct Place { // a value as it is computed: a register or a variable, and what is added
    const Register *reg;
    const Variable *variable;
    int64_t offset;
} Place;

typedef struct Swap { // an instruction that compares and swaps, itself or by a call
    const Operand *at;     // the address, or all that a call is given; NULL: it is none
    const Operand *tested; // what is compared, or all that may be
    size_t bytes;          // 0 of a call: it is not known
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

// The one instruction that sets a register, or NULL.
static const Instr *setter_of(const Function *in, const Register *reg)
{
    const uint32_t k = reg ? reg->maker : NOWHERE;
    return k < in->program->count && in->program->code[k].statement && !in->program->code[k].statement->guard
               ? &in->program->code[k]
               : NULL;
}

// The one instruction that computes a register, or NULL.
static const Instr *maker_of(const Function *in, const Register *reg)
{
    const Instr *i = setter_of(in, reg);
    return i && computes(i) ? i : NULL;
}

// Or else loads it.
static const Instr *source_of(const Function *in, const Register *reg)
{
    const Instr *i = setter_of(in, reg);
    return i && (computes(i) || (i->kind == LOAD && i->semantics == WEAK)) ? i : NULL;
}

static bool is_opcode(const Statement *s, const char *begin)
{
    return s->opcode.length >= strlen(begin) && memcmp(s->opcode.text, begin, strlen(begin)) == 0;
}

// Of an address, or a part of it: in shared memory it has 32 bits or 64.
static bool converts_address(const Statement *s)
{
    return is_opcode(s, "cvta.") || is_opcode(s, "cvt.u64.u32") || is_opcode(s, "cvt.s64.s32") || is_opcode(s, "cvt.u32.u64");
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
        const bool copies = s->count == 2 && (is_opcode(s, "mov.") || converts_address(s)),
                   adds = s->count == 3 && is_opcode(s, "add.") && s->operands[2].kind == IS_INTEGER;
        const Operand *from = &s->operands[1];
        if (!(copies || adds) || !(from->variable || (from->reg && from->reg->maker != MANY)))
            break;
        at = (Place){from->reg, from->variable, at.offset + (copies ? from->integer : s->operands[2].integer)};
    }
    return at;
}

// Whatever the width.
static bool same_operation(const Statement *a, const Statement *b)
{
    const char *end = memchr(a->opcode.text, '.', a->opcode.length);
    const size_t length = end ? (size_t)(end - a->opcode.text) + 1 : a->opcode.length;
    return a->count == b->count && b->opcode.length >= length && memcmp(a->opcode.text, b->opcode.text, length) == 0;
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

// Whether they are one register, or computed alike of what is the same, or loaded from one place.
static bool same_place(const Function *in, Place a, Place b, int depth)
{
    if (a.offset != b.offset || a.variable != b.variable || depth > MOST_DEPTH)
        return false;
    if (a.reg == b.reg)
        return true;
    const Instr *i = source_of(in, a.reg), *j = source_of(in, b.reg);
    bool same = i && j && same_operation(i->statement, j->statement);
    for (int k = 1; same && k < i->statement->count; k++)
        same = same_operand(in, &i->statement->operands[k], &j->statement->operands[k], depth + 1);
    return same;
}

// ---- What swaps

// Of a call that returns something: call (result), function, (arguments){, prototype}.
static const Operand *arguments_of(const Statement *s)
{
    return s->count >= 3 && s->operands[0].kind == IS_VECTOR && s->operands[2].kind == IS_VECTOR ? &s->operands[2] : NULL;
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

// Whether a function has a compare-and-swap, or one that it calls has.
static bool has_swap(const Function *f, int depth)
{
    for (uint32_t k = 0; f && f->program && k < f->program->count && depth < MOST_CALLS; k++) {
        const Instr *i = &f->program->code[k];
        if ((i->kind == ATOMIC && i->op == ATOMIC_CAS) || (i->control == CALL && has_swap(i->call->callee, depth + 1)))
            return true;
    }
    return false;
}

// Of a call with three arguments, as atomicCAS has them, it is the second that is compared.
static Swap swap_of(const Instr *i)
{
    const Statement *s = i->statement;
    if (s && i->kind == ATOMIC && i->op == ATOMIC_CAS)
        return (Swap){&s->operands[1], &s->operands[2], i->bytes};
    const Operand *arguments = s && i->control == CALL ? arguments_of(s) : NULL;
    if (!arguments || !has_swap(i->call->callee, 0))
        return (Swap){.at = NULL};
    return (Swap){arguments, arguments->count == 3 ? &arguments->elements[1] : arguments, 0};
}

// Whether the instruction at k, a swap, works on the place.
static bool swaps_at(const Function *in, uint32_t k, const Swap *swap, Place place, size_t bytes)
{
    if (in->program->code[k].control != CALL)
        return swap->bytes == bytes && same_place(in, place_of(in, swap->at), place, 0);
    for (int n = 0; n < swap->at->count; n++) {
        const Operand *given = handed(in, k, &swap->at->elements[n]);
        if (given && same_place(in, place_of(in, given), place, 0))
            return true;
    }
    return false;
}

// ---- Where a guess goes

typedef struct Value { // what a register, or else a call's parameter or local memory, holds when a thread comes to an instruction
    const Register *reg;
    const Variable *variable;
    int64_t offset, bytes; // of a part of local memory
    uint32_t at;
} Value;

typedef struct Search {
    const Function *function;
    const Flow *flow;
    const Swap *swaps; // by instruction
    Place guessed;
    size_t bytes;
    Value values[MOST_VALUES];
    uint32_t count;
    bool tested, leaks; // by a swap; to where no swap tests it
} Search;

static void add(Search *s, Value v)
{
    for (uint32_t k = 0; k < s->count; k++)
        if (s->values[k].reg == v.reg && s->values[k].variable == v.variable && s->values[k].at == v.at &&
            s->values[k].offset == v.offset && s->values[k].bytes == v.bytes)
            return;
    if (s->count < MOST_VALUES)
        s->values[s->count++] = v;
    else
        s->leaks = true; // for all that is known
}

static void add_operand(Search *s, const Operand *o, uint32_t at)
{
    if (is_parameter(o))
        add(s, (Value){.variable = o->variable, .at = at});
    if (o->reg)
        add(s, (Value){.reg = o->reg, .at = at});
    if (o->second)
        add(s, (Value){.reg = o->second, .at = at});
    for (int k = 0; k < o->count; k++)
        add_operand(s, &o->elements[k], at);
}

// The part of its thread's local memory that an instruction loads or stores; without a variable: it does not.
static Value local_part(const Function *in, const Instr *i)
{
    if (!i->statement || (i->kind != LOAD && i->kind != STORE) || i->semantics != WEAK)
        return (Value){.variable = NULL};
    const Place at = place_of(in, &i->statement->operands[i->kind == LOAD]);
    if (at.reg || !at.variable || at.variable->space != LOCAL)
        return (Value){.variable = NULL};
    return (Value){.variable = at.variable, .offset = at.offset, .bytes = (int64_t)i->bytes * i->count};
}

static bool overlap(const Value *a, const Value *b)
{
    return a->variable == b->variable && a->offset < b->offset + b->bytes && b->offset < a->offset + a->bytes;
}

static bool has(const Operand *o, const Value *v)
{
    bool any = v->reg ? o->reg == v->reg || o->second == v->reg : v->bytes == 0 && o->variable == v->variable;
    for (int k = 0; k < o->count; k++)
        any |= has(&o->elements[k], v);
    return any;
}

static bool reads(const Search *s, const Instr *i, const Value *v)
{
    if (v->bytes > 0) {
        const Value part = local_part(s->function, i);
        return i->kind == LOAD && overlap(&part, v);
    }
    const Statement *statement = i->statement;
    bool any = statement->count > 0 && statement->operands[0].address && v->reg && has(&statement->operands[0], v);
    for (int k = 1; k < statement->count; k++)
        any |= has(&statement->operands[k], v);
    return any;
}

static bool writes(const Search *s, const Instr *i, const Value *v)
{
    const Statement *statement = i->statement;
    if (statement->count == 0 || statement->guard)
        return false;
    if (v->bytes > 0) {
        const Value part = local_part(s->function, i);
        return i->kind == STORE && part.variable == v->variable && part.offset <= v->offset &&
               part.offset + part.bytes >= v->offset + v->bytes;
    }
    return has(&statement->operands[0], v) &&
           (i->control == CALL || (statement->operands[0].address ? !v->reg : (i->effects & SETS_FIRST) != 0));
}

// Whether an access is at a place that the function has been given: of an object that a member function is called for.
static bool is_given(const Function *in, const Instr *i)
{
    if (i->kind != LOAD && i->kind != STORE)
        return false;
    const Instr *from = maker_of(in, place_of(in, &i->statement->operands[i->kind == LOAD]).reg);
    return from && is_parameter(&from->statement->operands[1]);
}

// Whether a function only computes: it uses no memory but its own, and what it has been given.
static bool is_pure(const Function *f, int depth)
{
    if (!f || !f->program || depth == MOST_CALLS)
        return false;
    for (uint32_t k = 0; k < f->program->count; k++) {
        const Instr *i = &f->program->code[k];
        const bool goes = i->control == RETURN || i->control == BRANCH || (i->control == CALL && is_pure(i->call->callee, depth + 1));
        if (i->statement && !goes && !computes(i) && !local_part(f, i).variable && !is_given(f, i))
            return false;
    }
    return true;
}

// Whether it calls such a function. What is called by an address in a register is taken for an operation on values.
static bool calls_pure(const Instr *i)
{
    return i->control == CALL && arguments_of(i->statement) && (!i->call->callee || is_pure(i->call->callee, 0));
}

// What an instruction that reads the value makes of it.
static void pass_on(Search *s, const Instr *i, const Value *v, uint32_t next)
{
    const Operand *to = &i->statement->operands[0];
    Value part = local_part(s->function, i);
    part.at = next;
    if (part.variable && !(v->reg && has(&i->statement->operands[i->kind == LOAD], v))) { // it is no address
        if (i->kind == LOAD)
            add_operand(s, to, next);
        else
            add(s, part);
    } else if (computes(i) || i->kind == VOTE || calls_pure(i)) {
        if (!(is_parameter(to) && to->variable == s->function->returned))
            add_operand(s, to, next);
    } else {
        s->leaks |= i->control != BRANCH && i->control != BRANCH_INDEXED;
    }
}

// Follows a value to where a swap tests it, or it is written anew, or its block ends, and then from there.
static void follow(Search *s, Value v)
{
    const Flow *f = s->flow;
    const uint32_t block = f->block_of[v.at];
    for (uint32_t k = v.at; k < f->first[block + 1]; k++) {
        const Instr *i = &s->function->program->code[k];
        const Swap *swap = &s->swaps[k];
        if (!i->statement)
            continue;
        if (swap->at && swaps_at(s->function, k, swap, s->guessed, s->bytes)) {
            s->tested |= has(swap->tested, &v);
            return;
        }
        if (reads(s, i, &v))
            pass_on(s, i, &v, k + 1);
        if (writes(s, i, &v))
            return;
    }
    for (uint32_t k = 0; block + 1 < f->count && k < f->successor_count[block]; k++) {
        v.at = f->first[f->successors[block][k]];
        add(s, v);
    }
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

// Whether any of the swaps works on the place.
static bool is_swapped(const Search *s, Place place, size_t bytes)
{
    for (uint32_t k = 0; k < s->function->program->count; k++)
        if (s->swaps[k].at && swaps_at(s->function, k, &s->swaps[k], place, bytes))
            return true;
    return false;
}

void sim_find_guesses(Arena *arena, const Function *function, Program *p, const Flow *f)
{
    Swap *swaps = sim_allocate(arena, ((size_t)p->count + 1) * sizeof *swaps);
    bool any = false;
    for (uint32_t k = 0; k < p->count; k++) {
        swaps[k] = swap_of(&p->code[k]);
        any |= swaps[k].at != NULL;
    }
    if (!any)
        return;
    Search *search = sim_allocate(arena, sizeof *search);
    *search = (Search){.function = function, .flow = f, .swaps = swaps};
    for (uint32_t k = 0; k < p->count; k++) {
        Instr *i = &p->code[k];
        if (i->kind == LOAD && i->semantics == WEAK && i->statement &&
            is_swapped(search, place_of(function, &i->statement->operands[1]), i->bytes) && is_guess(search, k))
            i->loop |= GUESSES;
    }
}
