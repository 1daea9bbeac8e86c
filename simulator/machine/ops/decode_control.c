// decode_control.c: decodes branches, calls, barriers and warp-level operations.
#include "machine/ops/instructions.h"
#include "machine/block.h"

#include <string.h>

// ---- Branches

static bool decode_branch(Decoder *d, const Statement *s, const Opcode *o, Instr *i)
{
    (void)o;
    if (s->count != 1 || s->operands[0].kind != IS_LABEL)
        return false;
    i->control = BRANCH;
    i->target = s->operands[0].label;
    return i->target <= d->function->count;
}

// brx.idx %r, table; the statement "table: .branchtargets a, b, c;" lists the targets.
static bool decode_indexed_branch(Decoder *d, const Statement *s, const Opcode *o, Instr *i)
{
    (void)o;
    if (s->count != 2 || s->operands[1].kind != IS_LABEL || s->operands[1].label >= d->function->count)
        return false;
    const Statement *table = &d->function->statements[s->operands[1].label];
    if (!sim_slice_is(table->opcode, ".branchtargets") || table->operands[0].count == 0)
        return false;
    const Operand *targets = &table->operands[0];
    uint32_t *list = sim_allocate(d->arena, (size_t)targets->count * sizeof *list);
    i->control = BRANCH_INDEXED;
    i->a = sim_source(d, &s->operands[0], 'i');
    i->target_count = (uint32_t)targets->count;
    i->targets = list;
    for (int k = 0; k < targets->count; k++) {
        if (targets->elements[k].kind != IS_LABEL)
            return false;
        list[k] = targets->elements[k].label;
    }
    return i->a != NO_OFFSET;
}

// ret or exit
static bool decode_end(Decoder *d, const Statement *s, const Opcode *o, Instr *i)
{
    (void)d;
    i->control = sim_slice_is(o->parts[0], "ret") ? RETURN : EXIT;
    return s->count == 0;
}

static bool decode_trap(Decoder *d, const Statement *s, const Opcode *o, Instr *i)
{
    (void)d, (void)o;
    i->control = EXIT;
    return s->count == 0;
}

// Decodes an instruction with one operand and no effect.
static bool decode_hint(Decoder *d, const Statement *s, const Opcode *o, Instr *i)
{
    (void)o, (void)i;
    return s->count == 1 && sim_source(d, &s->operands[0], 'i') != NO_OFFSET;
}

// ---- Calls

static bool parameter_offsets(Decoder *d, const Operand *list, uint32_t **offsets, int *count)
{
    *count = list->count;
    *offsets = sim_allocate(d->arena, ((size_t)list->count + 1) * sizeof **offsets);
    for (int k = 0; k < list->count; k++) {
        const Variable *v = list->elements[k].variable;
        if (!v || v->space != PARAM)
            return false;
        (*offsets)[k] = (uint32_t)v->address;
    }
    return true;
}

// Decodes a call of a function that CUDA provides to every kernel.
static bool decode_built_in(Decoder *d, Slice name, const CallSite *call, Instr *i)
{
    static const struct {
        const char *name;
        Handler *run;
        int arguments, results;
        size_t result_bytes;
        Control control;
        int effects;
    } BUILT_INS[] = {{"vprintf", sim_print, 2, 0, sizeof(int), PLAIN, PUBLISHES},
                    {"__assertfail", sim_fail_assertion, 4, 0, sizeof(int), EXIT, FAILS},
                    {"malloc", sim_malloc, 1, 1, sizeof(void *), PLAIN, PUBLISHES},
                    {"free", sim_free, 1, 0, sizeof(int), PLAIN, PUBLISHES}};
    i->control = PLAIN;
    sim_require_concurrency(d, SERIAL);
    for (size_t n = 0; n < sizeof BUILT_INS / sizeof *BUILT_INS; n++)
        if (sim_slice_is(name, BUILT_INS[n].name)) {
            i->run = BUILT_INS[n].run;
            i->control = (uint8_t)BUILT_INS[n].control;
            i->effects = (uint16_t)BUILT_INS[n].effects;
            return call->argument_count >= BUILT_INS[n].arguments && call->result_count >= BUILT_INS[n].results &&
                   (call->result_count == 0 || call->results[0] + BUILT_INS[n].result_bytes <= d->function->param_bytes);
        }
    return d->decode_call && d->decode_call(d->module, name, call, d->function->param_bytes, i);
}

// call (results), function, (arguments). The callee may be a register.
static bool decode_call(Decoder *d, const Statement *s, const Opcode *o, Instr *i)
{
    (void)o;
    CallSite *call = sim_allocate(d->arena, sizeof *call);
    int k = 0;
    if (s->count > 0 && s->operands[0].kind == IS_VECTOR &&
        !parameter_offsets(d, &s->operands[k++], &call->results, &call->result_count))
        return false;
    if (k >= s->count)
        return false;
    const Operand *callee = &s->operands[k++];
    if (k < s->count && s->operands[k].kind == IS_VECTOR &&
        !parameter_offsets(d, &s->operands[k++], &call->arguments, &call->argument_count))
        return false;
    d->program->has_calls = true;
    i->call = call;
    i->control = CALL;
    if (callee->kind == IS_REGISTER) {
        i->a = sim_source(d, callee, 'l');
        return i->a != NO_OFFSET;
    }
    call->callee = callee->kind == IS_SYMBOL ? sim_find_function(d->module, callee->name) : NULL;
    return call->callee && (call->callee->is_defined || decode_built_in(d, callee->name, call, i));
}

// ---- Barriers of blocks and clusters

// bar.sync a{, b}; bar.arrive a, b
static bool decode_barrier(Decoder *d, const Statement *s, const Opcode *o, Instr *i)
{
    i->control = BLOCK_BARRIER;
    i->op = sim_has_modifier(o, "sync") ? BAR_SYNC : BAR_ARRIVE;
    if (s->count < 1 || s->count > 2)
        return false;
    i->a = sim_source(d, &s->operands[0], 'i');
    i->b = s->count == 2 ? sim_source(d, &s->operands[1], 'i') : NO_OFFSET;
    return i->a != NO_OFFSET && (s->count == 1 || i->b != NO_OFFSET);
}

// bar.red.popc.u32 d, a{, b}, p
static bool decode_barrier_reduction(Decoder *d, const Statement *s, const Opcode *o, Instr *i)
{
    if (s->count < 3 || s->count > 4)
        return false;
    const Operand *predicate = &s->operands[s->count - 1];
    i->control = BLOCK_BARRIER;
    i->op = sim_has_modifier(o, "popc") ? BAR_POPC : sim_has_modifier(o, "and") ? BAR_AND : BAR_OR;
    i->d = sim_destination(&s->operands[0], i->op == BAR_POPC ? 'i' : 'p');
    i->a = sim_source(d, &s->operands[1], 'i');
    i->b = s->count == 4 ? sim_source(d, &s->operands[2], 'i') : NO_OFFSET;
    i->c = sim_source(d, predicate, 'p');
    i->flags = predicate->is_negated ? COMBINE_NEGATED : 0;
    return i->d != NO_OFFSET && i->a != NO_OFFSET && (s->count == 3 || i->b != NO_OFFSET) && i->c != NO_OFFSET;
}

// barrier.cluster.arrive, barrier.cluster.wait
static bool decode_cluster_barrier(Decoder *d, const Statement *s, const Opcode *o, Instr *i)
{
    (void)d;
    i->control = CLUSTER_BARRIER;
    i->op = sim_has_modifier(o, "arrive") ? CLUSTER_ARRIVE : CLUSTER_WAIT;
    i->semantics = sim_has_modifier(o, "relaxed") ? RELAXED : ACQUIRE_RELEASE;
    return s->count == 0;
}

// ---- Warp-level operations: the last operand is the member mask

static bool decode_members(Decoder *d, const Statement *s, Control control, Instr *i)
{
    i->control = (uint8_t)control;
    i->members = sim_source(d, &s->operands[s->count - 1], 'i');
    return i->members != NO_OFFSET;
}

static bool decode_warp_barrier(Decoder *d, const Statement *s, const Opcode *o, Instr *i)
{
    (void)o;
    return s->count == 1 && decode_members(d, s, WARP_BARRIER, i);
}

static bool decode_shuffle(Decoder *d, const Statement *s, const Opcode *o, Instr *i)
{
    static const char *const MODES[] = {"up", "down", "bfly", "idx"}; // in the order of SHUFFLE_UP ...
    if (s->count != 5)
        return false;
    i->op = (uint8_t)sim_modifier_among(o, MODES, sizeof MODES / sizeof *MODES);
    i->d = sim_destination(&s->operands[0], 'i');
    i->second = s->operands[0].second ? s->operands[0].second->slot : NO_OFFSET;
    i->a = sim_source(d, &s->operands[1], 'i');
    i->b = sim_source(d, &s->operands[2], 'i');
    i->c = sim_source(d, &s->operands[3], 'i');
    return i->d != NO_OFFSET && i->a != NO_OFFSET && i->b != NO_OFFSET && i->c != NO_OFFSET && decode_members(d, s, CONVERGE, i);
}

static bool decode_vote(Decoder *d, const Statement *s, const Opcode *o, Instr *i)
{
    static const char *const MODES[] = {"all", "any", "uni", "ballot"}; // in the order of VOTE_ALL ...
    if (s->count != 3)
        return false;
    i->op = (uint8_t)sim_modifier_among(o, MODES, sizeof MODES / sizeof *MODES);
    i->d = sim_destination(&s->operands[0], i->op == VOTE_BALLOT ? 'i' : 'p');
    i->a = sim_source(d, &s->operands[1], 'p');
    i->flags = s->operands[1].is_negated ? COMBINE_NEGATED : 0;
    return i->d != NO_OFFSET && i->a != NO_OFFSET && decode_members(d, s, CONVERGE, i);
}

static bool decode_match(Decoder *d, const Statement *s, const Opcode *o, Instr *i)
{
    if (s->count != 3)
        return false;
    i->op = sim_has_modifier(o, "all");
    i->bytes = (uint8_t)sim_type_bytes(o->type);
    i->d = sim_destination(&s->operands[0], 'i');
    i->second = s->operands[0].second ? s->operands[0].second->slot : NO_OFFSET;
    i->a = sim_source(d, &s->operands[1], sim_letter_of_type(o->type));
    return i->d != NO_OFFSET && i->a != NO_OFFSET && decode_members(d, s, CONVERGE, i);
}

static bool decode_redux(Decoder *d, const Statement *s, const Opcode *o, Instr *i)
{
    static const char *const MODES[] = {"add", "min", "max",
                                        "and", "or",  "xor"}; // in the order of REDUCE_ADD ...
    if (s->count != 3)
        return false;
    i->op = (uint8_t)sim_modifier_among(o, MODES, sizeof MODES / sizeof *MODES);
    i->d = sim_destination(&s->operands[0], 'i');
    i->a = sim_source(d, &s->operands[1], 'i');
    return i->d != NO_OFFSET && i->a != NO_OFFSET && decode_members(d, s, CONVERGE, i);
}

static bool decode_elect(Decoder *d, const Statement *s, const Opcode *o, Instr *i)
{
    (void)o;
    if (s->count != 2 || !s->operands[0].second)
        return false;
    i->d = s->operands[0].kind == IS_SINK ? NO_OFFSET : sim_destination(&s->operands[0], 'i');
    i->second = s->operands[0].second->slot;
    return decode_members(d, s, CONVERGE, i);
}

static const Instruction ROWS[] = {
    {"bra {uni}", .decode = decode_branch},
    {"brx idx {uni}", .decode = decode_indexed_branch},
    {"call {uni}", .decode = decode_call},
    {"ret {uni}", .decode = decode_end},
    {"exit", .decode = decode_end},
    {"trap", .decode = decode_trap, .run = sim_trap, .effects = FAILS | UNCOUNTED},
    {"brkpt", .operands = ""},
    {"nanosleep u32", .decode = decode_hint},
    {"pmevent {mask}", .decode = decode_hint},
    {"bar {cta} sync|arrive", .decode = decode_barrier, .effects = PUBLISHES},
    {"bar {cta} red popc u32", .decode = decode_barrier_reduction, .effects = PUBLISHES},
    {"bar {cta} red and|or pred", .decode = decode_barrier_reduction, .effects = PUBLISHES},
    {"barrier {cta} sync|arrive {aligned}", .decode = decode_barrier, .effects = PUBLISHES},
    {"barrier {cta} red popc {aligned} u32", .decode = decode_barrier_reduction, .effects = PUBLISHES},
    {"barrier {cta} red and|or {aligned} pred", .decode = decode_barrier_reduction, .effects = PUBLISHES},
    {"barrier cluster arrive {release|relaxed} {aligned}", .decode = decode_cluster_barrier, .effects = PUBLISHES | SYNCHRONISES},
    {"barrier cluster wait {acquire} {aligned}", .decode = decode_cluster_barrier, .effects = PUBLISHES | SYNCHRONISES},
    {"bar warp sync", .decode = decode_warp_barrier},
    {"shfl sync up|down|bfly|idx b32", .decode = decode_shuffle, .run = sim_shuffle, .kind = SHUFFLE, .effects = WRITES_DESTINATION},
    {"vote sync all|any|uni pred", .decode = decode_vote, .run = sim_vote, .kind = VOTE, .effects = WRITES_DESTINATION},
    {"vote sync ballot b32", .decode = decode_vote, .run = sim_vote, .kind = VOTE, .effects = WRITES_DESTINATION},
    {"match any|all sync b32|b64", .decode = decode_match, .run = sim_match, .kind = MATCH, .effects = WRITES_DESTINATION},
    {"redux sync add|min|max u32|s32", .decode = decode_redux, .run = sim_reduce_warp, .effects = WRITES_DESTINATION},
    {"redux sync and|or|xor b32", .decode = decode_redux, .run = sim_reduce_warp, .effects = WRITES_DESTINATION},
    {"elect sync", .decode = decode_elect, .run = sim_elect, .kind = ELECT, .effects = WRITES_DESTINATION},
    {"activemask b32", "i", .run = sim_activemask},
};

INSTRUCTION_LIST(sim_control_instructions, "Control, barriers, and the lanes of a warp together", ROWS)
