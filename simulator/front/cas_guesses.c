// cas_guesses.c: which plain loads are guesses that a compare-and-swap of the same word tests, as the CUDA guide's own loop
// has one in front: an old value costs a turn and does no harm. What is loaded may decide which way a thread takes, and
// may become the new value; it may not be stored where others see it, nor be an address, before the swap has tested it.
// Behind the swap it is not followed: the swap's result tells the thread whether the guess was right.
//
// Code that is not optimised calls atomicCAS and conversions as functions, keeps values in local memory, and computes or
// loads an address anew for each use. So a call of a function that has a compare-and-swap at a place that it is given, and
// gets the guess, too, counts as one; local memory is followed; addresses are compared by how they are come by; and a function may
// return a guess, for what its caller does with it is not known.
#include "front/flow.h"
#include "front/addresses.h"

#include <string.h>

enum { MAX_VALUES = 1 << 14, BUCKETS = 2 * MAX_VALUES };

typedef struct Swap { // an instruction that compares and swaps, itself or by a call
    const Operand *at;     // the address, or all that a call is given; NULL: it is none
    const Operand *tested; // what is compared, or all that may be
    size_t bytes;          // 0 of a call: it is not known
} Swap;

// ---- What swaps

// Of a call with three arguments, as atomicCAS has them, it is the second that is compared.
static Swap swap_of(const Instr *i)
{
    const Statement *s = i->statement;
    if (s && i->kind == ATOMIC && i->op == ATOMIC_CAS)
        return (Swap){&s->operands[1], &s->operands[2], i->bytes};
    const Operand *arguments = s && i->control == CALL && i->call->callee ? sim_arguments_of(s) : NULL;
    const EffectSummary *effects = arguments ? &i->call->callee->program->effects : NULL;
    if (!effects || !effects->cas_params || effects->uses || effects->stores_at_params)
        return (Swap){.at = NULL};
    return (Swap){arguments, arguments->count == 3 ? &arguments->elements[1] : arguments, 0};
}

// Whether the instruction at k, a swap, works on the place.
static bool swaps_at(const Function *in, uint32_t k, const Swap *swap, Pointer place, size_t bytes)
{
    const Instr *i = &in->program->code[k];
    if (i->control != CALL)
        return swap->bytes == bytes && sim_same_pointer(in, sim_pointer_of(in, swap->at), place);
    for (int n = 0; n < swap->at->count && n < MAX_CAS_PARAMS; n++) {
        const Operand *given = i->call->callee->program->effects.cas_params >> n & 1 ? sim_argument_value(in, k, &swap->at->elements[n]) : NULL;
        if (given && sim_same_pointer(in, sim_pointer_of(in, given), place))
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
    const FlowGraph *flow;
    const Swap *swaps; // by instruction
    Pointer guessed;
    size_t bytes;
    Value values[MAX_VALUES];
    uint32_t count, buckets[BUCKETS]; // 1 + the number of a value, by what it is; or 0
    bool tested, leaks; // by a swap; to where no swap tests it
} Search;

static bool same_value(const Value *a, const Value *b)
{
    return a->reg == b->reg && a->variable == b->variable && a->offset == b->offset && a->bytes == b->bytes && a->at == b->at;
}

static void add(Search *s, Value v)
{
    const uint64_t key = ((uintptr_t)v.reg ^ (uintptr_t)v.variable) / 16 + (uint64_t)v.offset * 31 + (uint64_t)v.at * 0x9e3779b97f4a7c15;
    uint32_t n = (uint32_t)(key % BUCKETS);
    for (; s->buckets[n]; n = (n + 1) % BUCKETS)
        if (same_value(&s->values[s->buckets[n] - 1], &v))
            return;
    if (s->count == MAX_VALUES) {
        s->leaks = true; // for all that is known
        return;
    }
    s->values[s->count++] = v;
    s->buckets[n] = s->count;
}

static void add_operand(Search *s, const Operand *o, uint32_t at)
{
    if (sim_is_parameter(o))
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
    const Pointer at = sim_pointer_of(in, &i->statement->operands[i->kind == LOAD]);
    if (!sim_is_local(at))
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

// Whether a call returns what its function computes of its arguments, and nothing else comes of it. What is called by an
// address in a register is taken for an operation on values, if it gets no address.
static bool calls_pure(const Function *in, uint32_t k)
{
    const Instr *i = &in->program->code[k];
    if (i->control != CALL || !sim_arguments_of(i->statement))
        return false;
    if (!i->call->callee)
        return !sim_passes_address(in, k);
    const EffectSummary *effects = &i->call->callee->program->effects;
    return (!effects->accesses && !effects->writes) || (!effects->uses && (!effects->stores_at_params || !sim_passes_address(in, k)));
}

// Whether a load is of what no kernel changes, or nobody else does: that it is made at a guessed address tells nobody.
static bool is_of_constants(const Instr *i)
{
    return i->kind == LOAD && (i->flags & READ_ONLY || i->at.space == CONST || i->at.space == LOCAL);
}

// What the instruction at k, which reads the value, makes of it. Only in code that is not optimised the thread's local memory
// is written as any other: there it holds variables.
static void pass_on(Search *s, uint32_t k, const Value *v)
{
    const Instr *i = &s->function->program->code[k];
    const Operand *to = &i->statement->operands[0];
    Value part = local_part(s->function, i);
    part.at = k + 1;
    const bool at_it = v->reg && (i->kind == LOAD || i->kind == STORE) && has(&i->statement->operands[i->kind == LOAD], v);
    if (i->kind == STORE && part.variable && i->at.space == GENERIC && !at_it) {
        add(s, part);
    } else if ((i->kind == LOAD && part.variable && !at_it) || is_of_constants(i) || sim_is_pure(i) || i->kind == VOTE ||
               calls_pure(s->function, k)) {
        if (!(sim_is_parameter(to) && to->variable == s->function->returned))
            add_operand(s, to, k + 1);
    } else {
        s->leaks |= i->control != BRANCH && i->control != BRANCH_INDEXED;
    }
}

// Follows a value to where a swap tests it, or it is written anew, or its block ends, and then from there.
static void follow(Search *s, Value v)
{
    const FlowGraph *f = s->flow;
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
            pass_on(s, k, &v);
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
    s->guessed = sim_pointer_of(s->function, &operands[1]);
    s->bytes = s->function->program->code[load].bytes;
    s->count = 0;
    memset(s->buckets, 0, sizeof s->buckets);
    s->tested = s->leaks = false;
    add_operand(s, &operands[0], load + 1);
    for (uint32_t k = 0; k < s->count && !s->leaks; k++)
        follow(s, s->values[k]);
    return s->tested && !s->leaks;
}

// Whether any of the swaps works on the place.
static bool is_swapped(const Search *s, Pointer place, size_t bytes)
{
    for (uint32_t k = 0; k < s->function->program->count; k++)
        if (s->swaps[k].at && swaps_at(s->function, k, &s->swaps[k], place, bytes))
            return true;
    return false;
}

void sim_find_cas_guesses(Arena *arena, const Function *function, Program *p, const FlowGraph *f)
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
            is_swapped(search, sim_pointer_of(function, &i->statement->operands[1]), i->bytes) && is_guess(search, k))
            i->loop |= CAS_GUESS;
    }
}
