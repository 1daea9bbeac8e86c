// liveness.c: finds the registers that are live on entry to a function. Only these are zeroed when a thread block starts; the
// others may keep values from an earlier thread block.
//
// A backward data-flow analysis. A guarded write does not kill a register, because lanes whose guard is false keep their values.
// The analysis holds for each lane, since a lane follows one path of the graph.
#include "front/flow.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_BYTES = 1 << 28 }; // of Liveness.live_in; beyond that all registers count as live

typedef struct Liveness {
    const Program *program;
    const FlowGraph *flow;
    uint32_t registers, words; // number of registers; number of 64-bit words of a bit set
    uint32_t *number;          // number of each register, indexed by frame offset / 4
    uint64_t *live_in;         // each basic block's bit set, of `words` words
} Liveness;

static void set_live(const Liveness *l, uint64_t *set, const Register *reg, bool live)
{
    const uint32_t n = l->number[reg->slot / 4];
    const uint64_t bit = 1ull << n % 64;
    set[n / 64] = live ? set[n / 64] | bit : set[n / 64] & ~bit;
}

static void set_operand_live(const Liveness *l, uint64_t *set, const Operand *o, bool live)
{
    if (o->reg)
        set_live(l, set, o->reg, live);
    if (o->second)
        set_live(l, set, o->second, live);
    for (int k = 0; k < o->count; k++)
        set_operand_live(l, set, &o->elements[k], live);
}

// The transfer function of an instruction, from live-out to live-in.
static void apply_instruction(const Liveness *l, uint64_t *set, const Instr *i)
{
    const Statement *s = i->statement;
    if (!s)
        return;
    const bool writes = s->count > 0 && !s->operands[0].is_address && i->effects & WRITES_DESTINATION;
    if (writes && !s->guard)
        set_operand_live(l, set, &s->operands[0], false);
    for (int k = writes ? 1 : 0; k < s->count; k++)
        set_operand_live(l, set, &s->operands[k], true);
    if (s->guard)
        set_live(l, set, s->guard, true);
}

// Recomputes a block's live-in set; true if it changed.
static bool update_block(const Liveness *l, uint32_t block, uint64_t *set)
{
    const FlowGraph *f = l->flow;
    memset(set, 0, l->words * sizeof *set);
    for (uint32_t k = 0; k < f->successor_count[block]; k++)
        for (uint32_t n = 0; n < l->words; n++)
            set[n] |= l->live_in[(size_t)f->successors[block][k] * l->words + n];
    for (uint32_t k = f->first[block + 1]; k-- > f->first[block];)
        apply_instruction(l, set, &l->program->code[k]);
    uint64_t *live_in = l->live_in + (size_t)block * l->words;
    const bool changed = memcmp(live_in, set, l->words * sizeof *set) != 0;
    memcpy(live_in, set, l->words * sizeof *set);
    return changed;
}

// A shuffle may read lanes that do not participate, whose values must not depend on an earlier thread block.
static void add_shuffle_sources(const Liveness *l, uint64_t *set)
{
    for (uint32_t k = 0; k < l->program->count; k++)
        if (l->program->code[k].kind == SHUFFLE)
            set_operand_live(l, set, &l->program->code[k].statement->operands[1], true);
}

static void add_range(Program *p, uint32_t offset, uint32_t bytes)
{
    FramePart *last = p->live_in_count ? &p->live_in[p->live_in_count - 1] : NULL;
    if (last && last->offset + last->bytes == offset)
        last->bytes += bytes;
    else
        p->live_in[p->live_in_count++] = (FramePart){offset, bytes};
}

static uint32_t lane_bytes(const Register *reg)
{
    return reg->type == PRED ? 4 : (uint32_t)sim_type_bytes(reg->type) * LANES;
}

void sim_find_live_in(Arena *arena, Arena *module, const Function *function, Program *p, const FlowGraph *f)
{
    Liveness l = {.program = p, .flow = f, .registers = function->register_count};
    l.words = l.registers / 64 + 1;
    p->live_in = sim_allocate(module, ((size_t)l.registers + 1) * sizeof *p->live_in);
    if ((size_t)f->count * l.words * sizeof *l.live_in > MAX_BYTES) {
        add_range(p, 0, p->register_bytes);
        return;
    }
    l.number = sim_allocate(arena, ((size_t)p->register_bytes / 4 + 1) * sizeof *l.number);
    l.live_in = sim_allocate(arena, (size_t)f->count * l.words * sizeof *l.live_in);
    for (uint32_t k = 0; k < l.registers; k++)
        l.number[function->registers[k]->slot / 4] = k;
    uint64_t *set = sim_allocate(arena, l.words * sizeof *set);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = f->count - 1; b-- > 0;)
            changed |= update_block(&l, b, set);
    }
    memcpy(set, l.live_in, l.words * sizeof *set);
    add_shuffle_sources(&l, set);
    for (int predicates = 1; predicates >= 0; predicates--) // in the order of frame offsets
        for (uint32_t k = 0; k < l.registers; k++) {
            const Register *reg = function->registers[k];
            if ((reg->type == PRED) == predicates && set[k / 64] >> k % 64 & 1)
                add_range(p, reg->slot, lane_bytes(reg));
        }
}
