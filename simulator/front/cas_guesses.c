// cas_guesses.c: marks weak loads that only guess the value for a compare-and-swap of the same word, as before the atomicCAS
// loop of the CUDA Programming Guide. A stale guess is harmless, as it only costs an iteration.
//
// Data-flow analysis: branches may depend on the loaded value, and the new value, too. Until the swap compares it, it must not
// reach an address or a store that other threads see. It is not followed past the swap, whose result validates it.
//
// Unoptimised code calls atomicCAS and conversions as functions, keeps values in local memory, and recomputes addresses.
// Therefore a call that passes the pointer and the guess to a function with a compare-and-swap counts as a compare-and-swap.
// Values are followed through local memory, and addresses are compared symbolically. A function may return a guess.
#include "front/flow.h"
#include "front/addresses.h"

#include <string.h>

enum { MAX_VALUES = 1 << 14, BUCKETS = 2 * MAX_VALUES };

typedef struct Swap { // a compare-and-swap, or a call of a function that contains one
    const Operand *address;  // of the word, or all arguments of the call; NULL if the instruction is not a swap
    const Operand *compared; // expected value, or all arguments that may be it
    size_t bytes;            // of the word; 0: unknown (a call)
} Swap;

// ---- Compare-and-swaps

// If a call has three arguments, like atomicCAS, the second is the expected value.
static Swap swap_of(const Instr *i)
{
    const Statement *s = i->statement;
    if (s && i->kind == ATOMIC && i->op == ATOMIC_CAS)
        return (Swap){&s->operands[1], &s->operands[2], i->bytes};
    const Operand *arguments = s && i->control == CALL && i->call->callee ? sim_arguments_of(s) : NULL;
    const EffectSummary *effects = arguments ? &i->call->callee->program->effects : NULL;
    if (!effects || !effects->cas_params || effects->accesses_beyond_params || effects->stores_at_params)
        return (Swap){.address = NULL};
    return (Swap){arguments, arguments->count == 3 ? &arguments->elements[1] : arguments, 0};
}

// True if the swap at instruction k is of the word at this address.
static bool swap_matches(const Function *in, uint32_t k, const Swap *swap, Pointer address, size_t bytes)
{
    const Instr *i = &in->program->code[k];
    if (i->control != CALL)
        return swap->bytes == bytes && sim_same_pointer(in, sim_pointer_of(in, swap->address), address);
    for (int n = 0; n < swap->address->count && n < MAX_CAS_PARAMS; n++) {
        const bool is_swapped_param = i->call->callee->program->effects.cas_params >> n & 1;
        const Operand *argument = is_swapped_param ? sim_argument_value(in, k, &swap->address->elements[n]) : NULL;
        if (argument && sim_same_pointer(in, sim_pointer_of(in, argument), address))
            return true;
    }
    return false;
}

// ---- Data flow of a guess

typedef struct Value { // before an instruction, the guess is in this register, parameter of a call, or local memory
    const Register *reg;
    const Variable *variable;
    int64_t offset, bytes; // in local memory; otherwise 0
    uint32_t at;           // index of that instruction
} Value;

typedef struct Search {
    const Function *function;
    const FlowGraph *flow;
    const Swap *swaps; // indexed by instruction
    Pointer guessed; // address of the load
    size_t bytes;    // of the load
    Value values[MAX_VALUES];
    uint32_t count, buckets[BUCKETS]; // hash table of 1 + index in `values`; 0: empty
    bool compared; // a swap compares the value
    bool escapes;  // the value has an effect that no swap validates
} Search;

static bool same_value(const Value *a, const Value *b)
{
    return a->reg == b->reg && a->variable == b->variable && a->offset == b->offset && a->bytes == b->bytes && a->at == b->at;
}

static void add_value(Search *s, Value v)
{
    const uint64_t key = ((uintptr_t)v.reg ^ (uintptr_t)v.variable) / 16 + (uint64_t)v.offset * 31 + (uint64_t)v.at * 0x9e3779b97f4a7c15;
    uint32_t n = (uint32_t)(key % BUCKETS);
    for (; s->buckets[n]; n = (n + 1) % BUCKETS)
        if (same_value(&s->values[s->buckets[n] - 1], &v))
            return;
    if (s->count == MAX_VALUES) {
        s->escapes = true; // conservative
        return;
    }
    s->values[s->count++] = v;
    s->buckets[n] = s->count;
}

static void add_operand(Search *s, const Operand *o, uint32_t at)
{
    if (sim_is_parameter(o))
        add_value(s, (Value){.variable = o->variable, .at = at});
    if (o->reg)
        add_value(s, (Value){.reg = o->reg, .at = at});
    if (o->second)
        add_value(s, (Value){.reg = o->second, .at = at});
    for (int k = 0; k < o->count; k++)
        add_operand(s, &o->elements[k], at);
}

// The part of local memory that an instruction loads or stores. `variable` is NULL if there is none.
static Value local_range_of(const Function *in, const Instr *i)
{
    if (!i->statement || (i->kind != LOAD && i->kind != STORE) || i->semantics != WEAK)
        return (Value){.variable = NULL};
    const Pointer at = sim_pointer_of(in, &i->statement->operands[i->kind == LOAD]);
    if (!sim_is_local(at))
        return (Value){.variable = NULL};
    return (Value){.variable = at.variable, .offset = at.offset, .bytes = (int64_t)i->bytes * i->count};
}

static bool overlaps(const Value *a, const Value *b)
{
    return a->variable == b->variable && a->offset < b->offset + b->bytes && b->offset < a->offset + a->bytes;
}

static bool operand_contains(const Operand *o, const Value *v)
{
    bool any = v->reg ? o->reg == v->reg || o->second == v->reg : v->bytes == 0 && o->variable == v->variable;
    for (int k = 0; k < o->count; k++)
        any |= operand_contains(&o->elements[k], v);
    return any;
}

static bool reads_value(const Search *s, const Instr *i, const Value *v)
{
    if (v->bytes > 0) {
        const Value part = local_range_of(s->function, i);
        return i->kind == LOAD && overlaps(&part, v);
    }
    const Statement *statement = i->statement;
    bool any = statement->count > 0 && statement->operands[0].is_address && v->reg && operand_contains(&statement->operands[0], v);
    for (int k = 1; k < statement->count; k++)
        any |= operand_contains(&statement->operands[k], v);
    return any;
}

static bool redefines_value(const Search *s, const Instr *i, const Value *v)
{
    const Statement *statement = i->statement;
    if (statement->count == 0 || statement->guard)
        return false;
    if (v->bytes > 0) {
        const Value part = local_range_of(s->function, i);
        return i->kind == STORE && part.variable == v->variable && part.offset <= v->offset &&
               part.offset + part.bytes >= v->offset + v->bytes;
    }
    return operand_contains(&statement->operands[0], v) &&
           (i->control == CALL || (statement->operands[0].is_address ? !v->reg : (i->effects & WRITES_DESTINATION) != 0));
}

// True if a call only computes a result from its arguments. An indirect call is assumed to do so if no argument may be an
// address.
static bool is_pure_call(const Function *in, uint32_t k)
{
    const Instr *i = &in->program->code[k];
    if (i->control != CALL || !sim_arguments_of(i->statement))
        return false;
    if (!i->call->callee)
        return !sim_passes_address(in, k);
    const EffectSummary *effects = &i->call->callee->program->effects;
    return (!effects->accesses && !effects->writes) ||
           (!effects->accesses_beyond_params && (!effects->stores_at_params || !sim_passes_address(in, k)));
}

// True for loads of constant or local memory, which have no visible effect even at a guessed address.
static bool loads_thread_constant(const Instr *i)
{
    return i->kind == LOAD && (i->flags & READ_ONLY || i->at.space == CONST || i->at.space == LOCAL);
}

// Propagates the value through the instruction at k, which reads it. Generic stores to local memory occur only in unoptimised
// code, for variables.
static void propagate(Search *s, uint32_t k, const Value *v)
{
    const Instr *i = &s->function->program->code[k];
    const Operand *to = &i->statement->operands[0];
    Value part = local_range_of(s->function, i);
    part.at = k + 1;
    const bool address_depends = v->reg && (i->kind == LOAD || i->kind == STORE) && operand_contains(&i->statement->operands[i->kind == LOAD], v);
    if (i->kind == STORE && part.variable && i->at.space == GENERIC && !address_depends) {
        add_value(s, part);
    } else if ((i->kind == LOAD && part.variable && !address_depends) || loads_thread_constant(i) || sim_is_pure(i) || i->kind == VOTE ||
               is_pure_call(s->function, k)) {
        if (!(sim_is_parameter(to) && to->variable == s->function->returned))
            add_operand(s, to, k + 1);
    } else {
        s->escapes |= i->control != BRANCH && i->control != BRANCH_INDEXED;
    }
}

// Follows a value to a swap that compares it, to a redefinition, or to the end of its basic block; then adds it to the successors.
static void follow_value(Search *s, Value v)
{
    const FlowGraph *f = s->flow;
    const uint32_t block = f->block_of[v.at];
    for (uint32_t k = v.at; k < f->first[block + 1]; k++) {
        const Instr *i = &s->function->program->code[k];
        const Swap *swap = &s->swaps[k];
        if (!i->statement)
            continue;
        if (swap->address && swap_matches(s->function, k, swap, s->guessed, s->bytes)) {
            s->compared |= operand_contains(swap->compared, &v);
            return;
        }
        if (reads_value(s, i, &v))
            propagate(s, k, &v);
        if (redefines_value(s, i, &v))
            return;
    }
    for (uint32_t k = 0; block + 1 < f->count && k < f->successor_count[block]; k++) {
        v.at = f->first[f->successors[block][k]];
        add_value(s, v);
    }
}

static bool is_guess(Search *s, uint32_t load)
{
    const Operand *operands = s->function->program->code[load].statement->operands;
    s->guessed = sim_pointer_of(s->function, &operands[1]);
    s->bytes = s->function->program->code[load].bytes;
    s->count = 0;
    memset(s->buckets, 0, sizeof s->buckets);
    s->compared = s->escapes = false;
    add_operand(s, &operands[0], load + 1);
    for (uint32_t k = 0; k < s->count && !s->escapes; k++)
        follow_value(s, s->values[k]);
    return s->compared && !s->escapes;
}

// True if the function has a swap of the word at this address.
static bool is_swapped(const Search *s, Pointer address, size_t bytes)
{
    for (uint32_t k = 0; k < s->function->program->count; k++)
        if (s->swaps[k].address && swap_matches(s->function, k, &s->swaps[k], address, bytes))
            return true;
    return false;
}

void sim_find_cas_guesses(Arena *arena, const Function *function, Program *p, const FlowGraph *f)
{
    Swap *swaps = sim_allocate(arena, ((size_t)p->count + 1) * sizeof *swaps);
    bool any = false;
    for (uint32_t k = 0; k < p->count; k++) {
        swaps[k] = swap_of(&p->code[k]);
        any |= swaps[k].address != NULL;
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
