// stores.c: points-to analysis: finds the parameters and variables through which a kernel may write. Allocations that a launch
// only reads need no race check.
//
// Flow-insensitive: each register has a set of origins, with a bit for each parameter and variable. A computed value has the
// origins of all its operands, so pointer arithmetic preserves them.
#include "front/addresses.h"
#include "front/flow.h"

enum { MAX_ORIGINS = 62 };
static const uint64_t SHARED_OR_LOCAL = 1ull << 62; // points to shared or local memory
static const uint64_t UNKNOWN_ORIGIN = 1ull << 63;  // may be any pointer

typedef struct OriginAnalysis {
    const Function *function;
    uint64_t *origins_of; // each register's origins, indexed by frame offset / 4
    PointerOrigin found[MAX_ORIGINS];
    int count;
    bool changed;
    bool assumes_offsets; // for Stores.assumes_offsets
} OriginAnalysis;

static uint64_t find_origin(OriginAnalysis *s, const Variable *variable, uint64_t offset)
{
    int k = 0;
    while (k < s->count && (s->found[k].variable != variable || s->found[k].offset != offset))
        k++;
    if (k == MAX_ORIGINS)
        return UNKNOWN_ORIGIN;
    if (k == s->count)
        s->found[s->count++] = (PointerOrigin){variable, offset};
    return 1ull << k;
}

static uint64_t origins_of_variable(OriginAnalysis *s, const Variable *v)
{
    if (v->space == GLOBAL)
        return find_origin(s, v->definition ? v->definition : v, 0);
    return v->space == SHARED || v->space == LOCAL ? SHARED_OR_LOCAL : 0;
}

static uint64_t origins_of(OriginAnalysis *s, const Operand *o)
{
    uint64_t origins = o->reg ? s->origins_of[o->reg->slot / 4] : o->variable ? origins_of_variable(s, o->variable) : 0;
    for (int k = 0; k < o->count; k++)
        origins |= origins_of(s, &o->elements[k]);
    return origins;
}

static void set_origins(OriginAnalysis *s, const Operand *o, uint64_t origins)
{
    const Register *const registers[] = {o->reg, o->second};
    for (int k = 0; k < 2; k++) {
        uint64_t *known = registers[k] ? &s->origins_of[registers[k]->slot / 4] : NULL;
        s->changed |= known && origins & ~*known;
        if (known)
            *known |= origins;
    }
    for (int k = 0; k < o->count; k++)
        set_origins(s, &o->elements[k], origins);
}

// Sets the origins of loaded elements. Only 64-bit integers can be pointers.
static void add_load(OriginAnalysis *s, const Instr *i)
{
    const Operand *to = &i->statement->operands[0], *from = &i->statement->operands[1];
    if (sim_type_bytes((Type)i->type) < 8 || i->type == F64)
        return;
    if (!sim_is_kernel_parameter(s->function, from)) {
        set_origins(s, to, UNKNOWN_ORIGIN);
        return;
    }
    const uint64_t offset = from->variable->address + (uint64_t)from->integer;
    set_origins(s, to, to->count ? 0 : find_origin(s, NULL, offset));
    for (int k = 0; k < to->count; k++)
        set_origins(s, &to->elements[k], find_origin(s, NULL, offset + 8 * (uint64_t)k));
}

// Gives the result the origins of all operands. In a sum of a known pointer and an unknown number, the number is assumed to be an
// offset; the launch verifies that the parameter is a pointer.
static void add_computation(OriginAnalysis *s, const Instr *i)
{
    const Statement *t = i->statement;
    uint64_t origins = 0;
    for (int k = 1; k < t->count; k++)
        origins |= origins_of(s, &t->operands[k]);
    const bool is_sum = i->kind == SUM || i->kind == DIFFERENCE || i->kind == MULTIPLY_ADD;
    if (is_sum && origins & UNKNOWN_ORIGIN && origins != UNKNOWN_ORIGIN) {
        origins &= ~UNKNOWN_ORIGIN;
        s->assumes_offsets = true;
    }
    set_origins(s, &t->operands[0], origins);
}

static void add_instruction(OriginAnalysis *s, const Instr *i)
{
    const Statement *t = i->statement;
    if (!t || t->count == 0 || t->operands[0].is_address || i->control == CALL)
        return;
    if (t->count > 1 && t->operands[1].is_address)
        add_load(s, i);
    else
        add_computation(s, i);
}

// The origins of the device memory that an instruction may write.
static uint64_t written_origins(OriginAnalysis *s, const Instr *i)
{
    const Statement *t = i->statement;
    if (i->control == CALL)
        return i->call->callee && !i->call->callee->program->effects.writes ? 0 : UNKNOWN_ORIGIN;
    if (i->effects & LAUNCHES)
        return UNKNOWN_ORIGIN;
    if (i->at.space == SHARED || i->at.space == LOCAL || !(i->kind == ATOMIC || i->effects & PUBLISHES))
        return 0;
    if (!(i->effects & ACCESSES)) // a barrier, printf, or a write without an address operand
        return i->effects & UNCOUNTED ? UNKNOWN_ORIGIN : 0;
    const uint64_t origins = origins_of(s, &t->operands[t->operands[0].is_address ? 0 : 1]);
    return origins ? origins : UNKNOWN_ORIGIN;
}

void sim_find_stores(Arena *arena, Arena *module, const Function *function, Program *p)
{
    OriginAnalysis s = {.function = function};
    s.origins_of = sim_allocate(arena, ((size_t)p->register_bytes / 4 + 1) * sizeof *s.origins_of);
    do {
        s.changed = false;
        for (uint32_t k = 0; k < p->count; k++)
            add_instruction(&s, &p->code[k]);
    } while (s.changed);
    uint64_t written = 0;
    for (uint32_t k = 0; k < p->count; k++)
        written |= written_origins(&s, &p->code[k]);
    p->stores.known = !(written & UNKNOWN_ORIGIN);
    p->stores.assumes_offsets = s.assumes_offsets;
    p->stores.targets = sim_allocate(module, (size_t)s.count * sizeof *p->stores.targets);
    for (int k = 0; k < s.count; k++)
        if (written >> k & 1)
            p->stores.targets[p->stores.count++] = s.found[k];
}
