// loops.c: computes effect summaries of functions, and Instr.loop of branches and volatile loads.
//
// Instr.loop of a back edge records whether the loop writes, and whether it observes other threads; of a branch out of a loop,
// whether the loop accesses memory; of a volatile load, whether a loop or a branch depends on its value. A loop that writes
// nothing and returns to the same register values waits for other threads, or is infinite. If lanes leave a loop in different
// iterations, a GPU may count more requests.
#include "front/flow.h"
#include "front/addresses.h"

#include <string.h>

// True if an instruction may release or acquire: fences, bar.red, bar.arrive with a thread count, mbarriers, acquire and release
// accesses.
static bool may_synchronise(const Instr *i)
{
    return i->effects & SYNCHRONISES || i->semantics >= ACQUIRE || (i->control == BLOCK_BARRIER && i->b != NO_OFFSET);
}

// True if an instruction may release to, or acquire from, a concurrent kernel.
static bool has_device_fence(const Instr *i)
{
    return (i->kind == FENCE || i->semantics >= ACQUIRE) && i->scope >= DEVICE_SCOPE;
}

// True if an instruction is a strong access of this kind to memory that thread blocks share.
static bool may_be_flag(const Instr *i, Kind kind)
{
    return i->kind == kind && i->semantics != WEAK && i->at.space != SHARED && i->at.space != LOCAL;
}

bool sim_has_effects(const Instr *i)
{
    const bool is_private = i->kind == STORE && (i->at.space == LOCAL || i->at.space == PARAM);
    if (i->control == CALL)
        return !i->call->callee || i->call->callee->program->effects.has_effects;
    return (i->control != PLAIN && i->control != BRANCH) ||
           (!is_private && i->effects & (PUBLISHES | OBSERVES | PUBLISHES_TO_HOST | SYNCHRONISES | LAUNCHES | FAILS | UNCOUNTED));
}

// True if an instruction may read a flag rather than data: an atomic operation that returns a value, or a load on which a branch
// may depend, in this function, in its caller or, in unoptimised code, through memory.
static bool may_load_flag(const Function *f, const Instr *i, bool through_memory)
{
    if (may_be_flag(i, ATOMIC))
        return i->statement && !i->statement->operands[0].is_address;
    return may_be_flag(i, LOAD) && (i->semantics != VOLATILE || i->loop & (IN_SPIN_LOOP | FEEDS_BRANCH) || !f->is_kernel || through_memory);
}

// True for bar.warp.sync with a constant mask of all lanes.
static bool has_all_lanes_mask(const Instr *i)
{
    const Operand *members = &i->statement->operands[i->statement->count - 1];
    return members->kind == IS_INTEGER && (uint32_t)members->integer == ALL_LANES;
}

static void add_effects(EffectSummary *effects, const Instr *i)
{
    const bool is_private = i->at.space == LOCAL || i->at.space == PARAM || i->at.space == CONST; // other threads do not write it
    effects->accesses |= i->effects & ACCESSES && !is_private;
    effects->observes |= i->effects & OBSERVES;
    effects->observes_block |= i->kind == LOAD && i->semantics != WEAK && i->at.space == SHARED;
    effects->writes |= i->effects & PUBLISHES;
    effects->synchronises |= may_synchronise(i);
    effects->has_fences |= has_device_fence(i);
    effects->partial_warp_barriers |= i->control == WARP_BARRIER && !has_all_lanes_mask(i);
    effects->launches |= i->effects & LAUNCHES;
    effects->reads_volatile |= i->kind == LOAD && i->semantics == VOLATILE;
    effects->nondeterministic |= i->effects & NONDETERMINISTIC;
    effects->has_effects |= i->control != RETURN && sim_has_effects(i);
    effects->stores_flags |= may_be_flag(i, STORE);
    effects->has_ordering |= i->kind == FENCE || i->control == BLOCK_BARRIER || i->control == CLUSTER_BARRIER ||
                   i->control == WARP_BARRIER || i->control == PHASE_TEST;
    if (i->control != CALL)
        return;
    const EffectSummary unknown_callee = {true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, 0},
               callee = i->call->callee ? i->call->callee->program->effects : unknown_callee;
    effects->accesses |= callee.accesses;
    effects->observes |= callee.observes;
    effects->observes_block |= callee.observes_block;
    effects->writes |= callee.writes;
    effects->publishes_to_host |= callee.publishes_to_host;
    effects->synchronises |= callee.synchronises;
    effects->has_fences |= callee.has_fences;
    effects->partial_warp_barriers |= callee.partial_warp_barriers;
    effects->launches |= callee.launches;
    effects->reads_volatile |= callee.reads_volatile;
    effects->uses_reserved_shared |= i->call->callee && callee.uses_reserved_shared;
    effects->nondeterministic |= callee.nondeterministic;
    effects->stores_flags |= callee.stores_flags;
    effects->loads_flags |= callee.loads_flags;
    effects->has_ordering |= callee.has_ordering;
}

static bool has_system_scope(const Instr *i)
{
    return (i->scope == SYSTEM_SCOPE && i->at.space != SHARED) || i->effects & PUBLISHES_TO_HOST;
}

// The number of instructions up to the last one that may publish, call or jump back. A fence after them orders nothing that the host could observe.
static uint32_t find_last_publication(const Program *p)
{
    uint32_t count = p->count;
    while (count > 0) {
        const Instr *i = &p->code[count - 1];
        const bool may_jump_back = i->control == BRANCH_INDEXED || (i->control == BRANCH && i->target < count);
        if (i->effects & PUBLISHES || i->control == CALL || may_jump_back)
            break;
        count--;
    }
    return count;
}

static bool reads_special(const Program *p, Special special)
{
    for (const Slot *s = p->slots; s < p->slots + p->slot_count; s++)
        if (s->special == (int)special)
            return true;
    return false;
}

// True if the program stores to generic addresses, which is typical of unoptimised code.
static bool has_generic_stores(const Program *p)
{
    for (uint32_t k = 0; k < p->count; k++)
        if (p->code[k].kind == STORE && p->code[k].at.space == GENERIC)
            return true;
    return false;
}

bool sim_summarise_effects(Module *m, const Function *f)
{
    _Static_assert(sizeof(EffectSummary) == 18 * sizeof(bool) + sizeof(uint16_t), "compared byte by byte: no padding");
    EffectSummary *effects = &f->program->effects;
    const EffectSummary before = *effects;
    effects->uses_reserved_shared |= reads_special(f->program, RESERVED_SHARED);
    effects->nondeterministic |= reads_special(f->program, GRIDID);
    const bool through_memory = m->is_debug || has_generic_stores(f->program);
    const uint32_t last = f->is_kernel ? find_last_publication(f->program) : f->program->count;
    for (uint32_t k = 0; k < f->program->count; k++) {
        const Instr *i = &f->program->code[k];
        add_effects(effects, i);
        if (i->control == CALL && !i->call->callee) // it may reach any function, and all are prepared with it
            effects->uses_reserved_shared |= m->uses_reserved_shared;
        effects->publishes_to_host |= has_system_scope(i) && (i->kind != FENCE || k < last);
        effects->loads_flags |= may_load_flag(f, i, through_memory);
    }
    effects->synchronises |= effects->stores_flags && effects->loads_flags;
    sim_summarise_addresses(f, effects);
    m->uses_reserved_shared |= effects->uses_reserved_shared && !f->is_kernel;
    return memcmp(&before, effects, sizeof before) != 0;
}

// Lists the basic blocks of the natural loop with the back edge from `latch` to `head`, and marks them in in_loop.
static uint32_t find_loop(const FlowGraph *f, uint32_t head, uint32_t latch, uint32_t *list, bool *in_loop)
{
    uint32_t count = 0;
    in_loop[list[count++] = head] = true;
    if (latch != head)
        in_loop[list[count++] = latch] = true;
    for (uint32_t k = 1; k < count; k++)
        for (uint32_t n = 0; n < f->predecessor_count[list[k]]; n++) {
            const uint32_t from = f->predecessors[list[k]][n];
            if (!in_loop[from])
                in_loop[list[count++] = from] = true;
        }
    return count;
}

// Marks the branches by which some lanes may leave the loop while others continue it.
static void mark_loop_exits(Program *p, const FlowGraph *f, const uint32_t *list, uint32_t count, const bool *in_loop)
{
    for (uint32_t k = 0; k < count; k++) {
        uint32_t continuing = 0;
        const uint32_t block = list[k], successors = f->successor_count[block];
        for (uint32_t n = 0; n < successors; n++)
            continuing += in_loop[f->successors[block][n]];
        Instr *branch = sim_terminator(p, f, block);
        if (continuing > 0 && continuing < successors && branch->control == BRANCH)
            branch->loop |= LEAVES_LOOP;
    }
}

// ---- Loads that control flow depends on

static bool reads_marked(const Operand *o, const bool *marked)
{
    bool any = (o->reg && marked[o->reg->slot / 4]) || (o->second && marked[o->second->slot / 4]);
    for (int k = 0; k < o->count; k++)
        any |= reads_marked(&o->elements[k], marked);
    return any;
}

// Marks the operand's registers; true if one of them was unmarked.
static bool mark_registers(const Operand *o, bool *marked)
{
    bool newly_marked = false;
    const Register *const registers[] = {o->reg, o->second};
    for (int k = 0; k < 2; k++)
        if (registers[k] && !marked[registers[k]->slot / 4])
            newly_marked = marked[registers[k]->slot / 4] = true;
    for (int k = 0; k < o->count; k++)
        newly_marked |= mark_registers(&o->elements[k], marked);
    return newly_marked;
}

static bool is_parameter(const Operand *o)
{
    return o->variable && o->variable->space == PARAM;
}

// True if an instruction uses a marked value. in_parameters, in_shared: a call's parameters or shared memory may hold one.
static bool uses_marked(const Instr *i, const bool *marked, bool in_parameters, bool in_shared)
{
    const Statement *s = i->statement;
    if (in_shared && i->kind == LOAD && i->at.space == SHARED)
        return true;
    bool is_used = s->guard && marked[s->guard->slot / 4];
    for (int k = i->control == BRANCH_INDEXED ? 0 : 1; k < s->count; k++)
        is_used |= reads_marked(&s->operands[k], marked) || (in_parameters && is_parameter(&s->operands[k]));
    return is_used;
}

// Forward slice: true if a branch in these basic blocks depends on the loaded value.
static bool feeds_control_flow(const Instr *load, const Program *p, const FlowGraph *f, const uint32_t *list, uint32_t count,
                    bool *marked)
{
    memset(marked, 0, p->register_bytes / 4 + 1);
    bool in_parameters = false, in_shared = false; // one thread may poll for its block and broadcast through shared memory
    for (bool changed = mark_registers(&load->statement->operands[0], marked); changed;) {
        changed = false;
        for (uint32_t k = count; k-- > 0;)
            for (const Instr *i = &p->code[f->first[list[k]]]; i < &p->code[f->first[list[k] + 1]]; i++) {
                const Statement *s = i->statement;
                if (!s || !uses_marked(i, marked, in_parameters, in_shared))
                    continue;
                if (i->control == BRANCH || i->control == BRANCH_INDEXED || i->control == RETURN || i->control == EXIT)
                    return true;
                if (s->count > 0 && !s->operands[0].is_address) {
                    changed |= mark_registers(&s->operands[0], marked);
                } else if (s->count > 0 && is_parameter(&s->operands[0])) {
                    changed |= !in_parameters;
                    in_parameters = true;
                } else if (i->kind == STORE && i->at.space == SHARED) {
                    changed |= !in_shared;
                    in_shared = true;
                }
            }
    }
    return false;
}

static bool is_volatile_load(const Instr *i)
{
    return i->kind == LOAD && i->semantics == VOLATILE && i->statement;
}

// Sets `flag` of the volatile loads on which the control flow of these basic blocks depends.
static void mark_feeding_loads(Program *p, const FlowGraph *f, const uint32_t *list, uint32_t count, bool *scratch, uint8_t flag)
{
    for (uint32_t k = 0; k < count; k++)
        for (Instr *i = &p->code[f->first[list[k]]]; i < &p->code[f->first[list[k] + 1]]; i++)
            if (is_volatile_load(i) && !(i->loop & flag) && feeds_control_flow(i, p, f, list, count, scratch))
                i->loop |= flag;
}

// ---- Loads whose value is data, although a branch depends on it

// Marks the registers that depend on the loaded value.
static void mark_dependents(const Instr *load, const Program *p, bool *marked)
{
    memset(marked, 0, p->register_bytes / 4 + 1);
    for (bool changed = mark_registers(&load->statement->operands[0], marked); changed;) {
        changed = false;
        for (const Instr *i = p->code; i < p->code + p->count; i++)
            if (i->statement && i->statement->count > 0 && !i->statement->operands[0].is_address && uses_marked(i, marked, false, false))
                changed |= mark_registers(&i->statement->operands[0], marked);
    }
}

// Marks the basic blocks that execute only for some values: those between a branch that depends on the value and its reconvergence point.
static void mark_conditional(const Program *p, const FlowGraph *f, const bool *marked, uint32_t *list, bool *conditional)
{
    memset(conditional, 0, f->count);
    for (uint32_t b = 0; b + 1 < f->count; b++) {
        const Instr *branch = sim_terminator(p, f, b);
        if ((branch->control != BRANCH && branch->control != BRANCH_INDEXED) || !branch->statement || !uses_marked(branch, marked, false, false))
            continue;
        const uint32_t end = branch->reconvergence_pc < p->count ? f->block_of[branch->reconvergence_pc] : f->count - 1;
        uint32_t count = 0;
        list[count++] = b;
        for (uint32_t k = 0; k < count; k++)
            for (uint32_t n = 0; n < f->successor_count[list[k]]; n++) {
                const uint32_t next = f->successors[list[k]][n];
                if (next != end && !conditional[next])
                    conditional[list[count++] = next] = true;
            }
    }
}

// True if an access to global memory stores the value, or uses it as an address.
static bool takes_as_data(const Instr *i, const bool *marked)
{
    const bool accesses = (i->kind == LOAD || i->kind == STORE || i->kind == ATOMIC) && (i->at.space == GLOBAL || i->at.space == GENERIC);
    bool any = false;
    for (int k = i->kind == STORE ? 0 : 1; accesses && i->statement && k < i->statement->count; k++)
        any |= reads_marked(&i->statement->operands[k], marked);
    return any && !(i->statement->guard && marked[i->statement->guard->slot / 4]);
}

// Sets IS_DATA of volatile loads on which a branch depends, but whose value is also data whichever way the branch goes.
static void mark_data(Program *p, const FlowGraph *f, uint32_t *list, bool *marked, bool *conditional)
{
    for (Instr *load = p->code; load < p->code + p->count; load++) {
        if (!is_volatile_load(load) || (load->loop & (FEEDS_BRANCH | IN_SPIN_LOOP)) != FEEDS_BRANCH)
            continue;
        mark_dependents(load, p, marked);
        mark_conditional(p, f, marked, list, conditional);
        for (const Instr *i = p->code; i < p->code + p->count; i++)
            load->loop |= !conditional[f->block_of[i - p->code]] && takes_as_data(i, marked) ? IS_DATA : 0;
    }
}

// Marks the volatile loads of a loop that are followed by a fence and another read, as in the reader of a sequence lock: their
// values may be discarded.
static void mark_rereads(const Instr *head, Instr *latch)
{
    bool has_poll = false, has_fence = false;
    for (Instr *i = latch; i-- > head;) {
        has_poll |= (i->kind == LOAD && i->semantics != WEAK) || (i->kind == ATOMIC && !(i->effects & PUBLISHES));
        has_fence |= has_poll && i->kind == FENCE;
        if (has_fence && is_volatile_load(i))
            i->loop |= REREAD;
    }
}

static bool same_address(const Instr *i, const Instr *j)
{
    const Operand *a = &i->statement->operands[1], *b = &j->statement->operands[1];
    return a->reg == b->reg && a->variable == b->variable && a->integer == b->integer;
}

// When nvcc rotates a spin loop with a body, the first poll moves before the loop. It still counts as a poll of the loop.
static void mark_peeled_reads(Program *p)
{
    for (uint32_t k = 0; k < p->count; k++) {
        const bool is_peeled = is_volatile_load(&p->code[k]) && (p->code[k].loop & (FEEDS_BRANCH | IN_SPIN_LOOP)) == FEEDS_BRANCH;
        for (uint32_t n = 0; is_peeled && n < p->count; n++)
            if (is_volatile_load(&p->code[n]) && p->code[n].loop & IN_SPIN_LOOP && same_address(&p->code[k], &p->code[n]))
                p->code[k].loop |= IN_SPIN_LOOP;
    }
}

void sim_find_loops(Arena *arena, Program *p, const FlowGraph *f)
{
    uint32_t *list = sim_allocate(arena, (f->count + 1) * sizeof *list);
    bool *in_loop = sim_allocate(arena, f->count), *marked = sim_allocate(arena, p->register_bytes / 4 + 1);
    for (uint32_t b = 0; b + 1 < f->count; b++) {
        Instr *latch = sim_terminator(p, f, b);
        if (latch->control != BRANCH || f->block_of[latch->target] > b)
            continue;
        EffectSummary effects = {0};
        const uint32_t count = find_loop(f, f->block_of[latch->target], b, list, in_loop);
        for (uint32_t k = 0; k < count; k++)
            for (uint32_t n = f->first[list[k]]; n < f->first[list[k] + 1]; n++)
                add_effects(&effects, &p->code[n]);
        if (effects.accesses)
            mark_loop_exits(p, f, list, count, in_loop);
        mark_feeding_loads(p, f, list, count, marked, IN_SPIN_LOOP);
        for (const Instr *i = &p->code[latch->target]; i < latch; i++) // also the code in between that leaves the loop
            add_effects(&effects, i);
        mark_rereads(&p->code[latch->target], latch);
        latch->loop |= effects.observes || effects.observes_block ? POLLS_IN_LOOP : 0;
        latch->loop |= effects.writes ? 0 : effects.observes ? READ_ONLY_LOOP | POLLING_LOOP : READ_ONLY_LOOP;
        latch->loop |= latch->loop & READ_ONLY_LOOP && !effects.observes && !effects.observes_block && effects.nondeterministic ? WAITS_FOR_CLOCK : 0;
        for (uint32_t k = 0; k < count; k++)
            in_loop[list[k]] = false;
    }
    for (uint32_t b = 0; b + 1 < f->count; b++)
        list[b] = b;
    mark_feeding_loads(p, f, list, f->count - 1, marked, FEEDS_BRANCH);
    mark_peeled_reads(p);
    mark_data(p, f, list, marked, in_loop);
}
