// addresses.c: symbolic addresses, and effects on memory through pointer parameters. Unoptimised code needs them: it recomputes
// or reloads an address for each use, and passes it to functions that optimised code would inline.
#include "front/addresses.h"

enum { MAX_DEPTH = 16, MAX_ADDITIONS = 4 };

bool sim_is_parameter(const Operand *o)
{
    return o->variable && o->variable->space == PARAM;
}

bool sim_is_kernel_parameter(const Function *function, const Operand *o)
{
    return sim_is_parameter(o) && function->is_kernel && !o->reg && o->variable->address < function->kernel_param_bytes;
}

bool sim_is_pure(const Instr *i)
{
    const bool stores_to_operand = i->statement && i->statement->count > 0 && i->statement->operands[0].is_address;
    return i->statement && i->statement->count > 1 && i->control == PLAIN && !(i->effects & ~WRITES_DESTINATION) &&
           (i->kind == OTHER_KIND || i->kind >= LOGICAL_AND) && (!stores_to_operand || sim_is_parameter(&i->statement->operands[0]));
}

// The only definition of a register; NULL if there are several or if it is guarded.
static const Instr *sole_definition(const Function *function, const Register *reg)
{
    const uint32_t k = reg ? reg->sole_def : NO_INDEX;
    return k < function->program->count && function->program->code[k].statement && !function->program->code[k].statement->guard
               ? &function->program->code[k]
               : NULL;
}

// The only definition of a register, if it is unguarded and pure; or NULL.
static const Instr *pure_definition(const Function *function, const Register *reg)
{
    const Instr *i = sole_definition(function, reg);
    return i && sim_is_pure(i) ? i : NULL;
}

// The only definition of a register, if it is unguarded and is pure or a weak load in a function without synchronisation, whose
// repetition would return the same value; or NULL.
static const Instr *value_definition(const Function *function, const Register *reg)
{
    const Instr *i = sole_definition(function, reg);
    const bool is_stable_load = i && i->kind == LOAD && i->semantics == WEAK && !function->program->effects.has_ordering;
    return i && (is_stable_load || sim_is_pure(i)) ? i : NULL;
}

// True for address conversions. Addresses in shared memory have 32 or 64 bits.
static bool converts_address(const Instr *i)
{
    const bool changes_width = (i->type == U64 && i->from == U32) || (i->type == S64 && i->from == S32) || (i->type == U32 && i->from == U64);
    return i->kind == CONVERT_ADDRESS || (i->kind == CONVERT_INTEGER && changes_width);
}

Pointer sim_pointer_of(const Function *function, const Operand *o)
{
    Pointer at = {o->reg, o->variable, o->integer};
    for (int n = 0; n < MAX_DEPTH; n++) {
        const Instr *i = pure_definition(function, at.reg);
        const Statement *s = i ? i->statement : NULL;
        if (!s || s->operands[0].kind != IS_REGISTER || sim_is_parameter(&s->operands[1]))
            break;
        const bool is_copy = s->count == 2 && (i->kind == MOVE || converts_address(i)),
                   is_add = s->count == 3 && i->kind == SUM && s->operands[2].kind == IS_INTEGER;
        const Operand *from = &s->operands[1];
        if (!(is_copy || is_add) || !(from->variable || (from->reg && from->reg->sole_def != MANY_DEFS)))
            break;
        at = (Pointer){from->reg, from->variable, at.offset + (is_copy ? from->integer : s->operands[2].integer)};
    }
    return at;
}

// True if equal operands yield equal results. Operations on signed and unsigned numbers have one handler if they are the same.
static bool same_operation(const Instr *i, const Instr *j)
{
    return i->kind == j->kind && i->run == j->run && i->op == j->op && i->flags == j->flags && i->rounding == j->rounding &&
           i->combine == j->combine && i->bytes == j->bytes && i->count == j->count && i->at.space == j->at.space &&
           i->register_bytes == j->register_bytes && i->source_bytes == j->source_bytes && i->from == j->from &&
           sim_type_bytes((Type)i->type) == sim_type_bytes((Type)j->type) && i->statement->count == j->statement->count;
}

static bool same_pointer(const Function *function, Pointer a, Pointer b, int depth);

static bool same_operand(const Function *function, const Operand *a, const Operand *b, int depth)
{
    if (a->kind != b->kind || a->is_negated != b->is_negated || a->count || b->count)
        return false;
    if (a->reg || a->variable)
        return same_pointer(function, sim_pointer_of(function, a), sim_pointer_of(function, b), depth);
    return a->integer == b->integer && a->floating == b->floating && sim_same_slice(a->name, b->name);
}

static bool same_pointer(const Function *function, Pointer a, Pointer b, int depth)
{
    if (a.offset != b.offset || a.variable != b.variable || depth > MAX_DEPTH)
        return false;
    if (a.reg == b.reg)
        return true;
    const Instr *i = value_definition(function, a.reg), *j = value_definition(function, b.reg);
    bool same = i && j && same_operation(i, j);
    for (int k = 1; same && k < i->statement->count; k++)
        same = same_operand(function, &i->statement->operands[k], &j->statement->operands[k], depth + 1);
    return same;
}

bool sim_same_pointer(const Function *function, Pointer a, Pointer b)
{
    return same_pointer(function, a, b, 0);
}

// ---- Functions

bool sim_is_local(Pointer at)
{
    return !at.reg && at.variable && at.variable->space == LOCAL;
}

const Operand *sim_arguments_of(const Statement *s)
{
    return s->count >= 3 && s->operands[0].kind == IS_VECTOR && s->operands[2].kind == IS_VECTOR ? &s->operands[2] : NULL;
}

const Operand *sim_argument_value(const Function *function, uint32_t call, const Operand *parameter)
{
    for (uint32_t k = call; k-- > 0 && function->program->code[k].control == PLAIN;) {
        const Statement *s = function->program->code[k].statement;
        if (s && s->count == 2 && s->operands[0].is_address && s->operands[0].variable == parameter->variable)
            return &s->operands[1];
    }
    return NULL;
}

// The parameter of the function that an address equals up to a constant offset; or NULL.
static const Variable *parameter_of(const Function *function, Pointer at)
{
    const Instr *from = pure_definition(function, at.reg);
    return from && sim_is_parameter(&from->statement->operands[1]) ? from->statement->operands[1].variable : NULL;
}

// The parameter's bit in EffectSummary.cas_params; 0: none.
static uint16_t param_bit(const Function *f, const Variable *formal)
{
    uint16_t bit = 1;
    for (const Variable *v = f->params; v && formal; v = v->next, bit = (uint16_t)(bit << 1))
        if (v == formal)
            return bit;
    return 0;
}

// The vector of all arguments of a call, with or without a result; or NULL.
static const Operand *call_arguments(const Statement *s)
{
    const int last = sim_arguments_of(s) ? 2 : 1;
    return s->count > last && s->operands[last].kind == IS_VECTOR ? &s->operands[last] : NULL;
}

bool sim_passes_address(const Function *function, uint32_t call)
{
    const Operand *arguments = call_arguments(function->program->code[call].statement);
    for (int n = 0; arguments && n < arguments->count; n++) {
        const Operand *argument = sim_argument_value(function, call, &arguments->elements[n]);
        if (arguments->elements[n].variable && arguments->elements[n].variable->bytes == 8 &&
            !(argument && argument->reg && argument->reg->type == F64) && !(argument && sim_is_local(sim_pointer_of(function, argument))))
            return true;
    }
    return false;
}

// Adds a callee's effects on memory, including effects through the pointers that the call passes.
static void add_call_effects(const Function *f, uint32_t k, EffectSummary *effects)
{
    const Instr *i = &f->program->code[k];
    const Function *callee = i->call->callee;
    const Operand *arguments = call_arguments(i->statement);
    effects->accesses_beyond_params |= !callee || callee->program->effects.accesses_beyond_params;
    for (int n = 0; callee && arguments && n < arguments->count && n < MAX_CAS_PARAMS; n++) {
        const Operand *argument = sim_argument_value(f, k, &arguments->elements[n]);
        if (argument && callee->program->effects.cas_params >> n & 1)
            effects->cas_params |= param_bit(f, parameter_of(f, sim_pointer_of(f, argument)));
    }
    effects->stores_at_params |= callee && callee->program->effects.stores_at_params && sim_passes_address(f, k);
}

// The variable that an address points into, at any offset; or NULL.
static const Variable *find_array(const Function *function, const Operand *o, int depth)
{
    const Pointer at = sim_pointer_of(function, o);
    const Instr *i = at.variable ? NULL : pure_definition(function, at.reg);
    if (!i || depth == MAX_ADDITIONS || i->kind != SUM)
        return at.variable;
    const Variable *first = find_array(function, &i->statement->operands[1], depth + 1);
    return first ? first : find_array(function, &i->statement->operands[2], depth + 1);
}

static void add_access_effects(const Function *f, const Instr *i, EffectSummary *effects)
{
    const Operand *address = &i->statement->operands[i->kind == STORE || !(i->effects & WRITES_DESTINATION) ? 0 : 1];
    const Variable *array = find_array(f, address, 0);
    const int space = i->at.space == GENERIC && array ? (int)array->space : i->at.space;
    const Pointer at = sim_pointer_of(f, address);
    const bool is_private = space == LOCAL || space == PARAM || space == CONST, through_param = parameter_of(f, at) != NULL;
    if (i->kind == ATOMIC && i->op == ATOMIC_CAS)
        effects->cas_params |= at.offset == 0 ? param_bit(f, parameter_of(f, at)) : 0;
    else if (i->kind == ATOMIC)
        effects->accesses_beyond_params = true;
    else if (i->kind == LOAD)
        effects->accesses_beyond_params |= !is_private && !through_param && !(i->flags & READ_ONLY);
    else if (through_param)
        effects->stores_at_params |= !is_private;
    else
        effects->accesses_beyond_params |= !is_private;
}

void sim_summarise_addresses(const Function *f, EffectSummary *effects)
{
    for (uint32_t k = 0; k < f->program->count; k++) {
        const Instr *i = &f->program->code[k];
        if (i->control == CALL)
            add_call_effects(f, k, effects);
        else if (i->statement && (i->kind == LOAD || i->kind == STORE || i->kind == ATOMIC))
            add_access_effects(f, i, effects);
        else
            effects->accesses_beyond_params |= (i->effects & (ACCESSES | PUBLISHES | PUBLISHES_TO_HOST | LAUNCHES)) != 0;
    }
}
