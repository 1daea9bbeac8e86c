// liveness.c: which registers a function may read before it has written them, on some way from its first
// instruction on. Only these have to start as zero; the others may hold what an earlier block left there.
//
// A register is live before an instruction that reads it, and before one that does not write it if it is live
// behind that one. A write under a guard leaves it live: the lanes that are off keep what they had. A lane takes one
// way through the function, whatever the others of its warp do, so this holds for each of them.
#include "front/flow.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_BYTES = 1 << 28 }; // of the table; where a function needs more, all its registers are set to zero

typedef struct Liveness {
    const Program *program;
    const FlowGraph *flow;
    uint32_t registers, words; // words of 64 registers
    uint32_t *number;          // of the register at a place in the frame, by 4 bytes
    uint64_t *before;          // of each block: the registers that are live where it begins
} Liveness;

static void put(const Liveness *l, uint64_t *set, const Register *reg, bool live)
{
    const uint32_t n = l->number[reg->slot / 4];
    const uint64_t bit = 1ull << n % 64;
    set[n / 64] = live ? set[n / 64] | bit : set[n / 64] & ~bit;
}

static void put_operand(const Liveness *l, uint64_t *set, const Operand *o, bool live)
{
    if (o->reg)
        put(l, set, o->reg, live);
    if (o->second)
        put(l, set, o->second, live);
    for (int k = 0; k < o->count; k++)
        put_operand(l, set, &o->elements[k], live);
}

// Steps backwards over an instruction.
static void step(const Liveness *l, uint64_t *set, const Instr *i)
{
    const Statement *s = i->statement;
    if (!s)
        return;
    const bool writes = s->count > 0 && !s->operands[0].address && i->effects & SETS_FIRST;
    if (writes && !s->guard)
        put_operand(l, set, &s->operands[0], false);
    for (int k = writes ? 1 : 0; k < s->count; k++)
        put_operand(l, set, &s->operands[k], true);
    if (s->guard)
        put(l, set, s->guard, true);
}

// Finds what is live where the block begins, as far as is known; whether that is new.
static bool step_block(const Liveness *l, uint32_t block, uint64_t *set)
{
    const FlowGraph *f = l->flow;
    memset(set, 0, l->words * sizeof *set);
    for (uint32_t k = 0; k < f->successor_count[block]; k++)
        for (uint32_t n = 0; n < l->words; n++)
            set[n] |= l->before[(size_t)f->successors[block][k] * l->words + n];
    for (uint32_t k = f->first[block + 1]; k-- > f->first[block];)
        step(l, set, &l->program->code[k]);
    uint64_t *before = l->before + (size_t)block * l->words;
    const bool changed = memcmp(before, set, l->words * sizeof *set) != 0;
    memcpy(before, set, l->words * sizeof *set);
    return changed;
}

// A shuffle may read lanes that do not take part, and what they hold must not depend on an earlier block.
static void add_shuffled(const Liveness *l, uint64_t *set)
{
    for (uint32_t k = 0; k < l->program->count; k++)
        if (l->program->code[k].kind == SHUFFLE)
            put_operand(l, set, &l->program->code[k].statement->operands[1], true);
}

static void add_range(Program *p, uint32_t offset, uint32_t bytes)
{
    FramePart *last = p->range_count ? &p->ranges[p->range_count - 1] : NULL;
    if (last && last->offset + last->bytes == offset)
        last->bytes += bytes;
    else
        p->ranges[p->range_count++] = (FramePart){offset, bytes};
}

static uint32_t lane_bytes(const Register *reg)
{
    return reg->type == PRED ? 4 : (uint32_t)sim_type_bytes(reg->type) * LANES;
}

void sim_find_live_in(Arena *arena, Arena *module, const Function *function, Program *p, const FlowGraph *f)
{
    Liveness l = {.program = p, .flow = f, .registers = function->register_count};
    l.words = l.registers / 64 + 1;
    p->ranges = sim_allocate(module, ((size_t)l.registers + 1) * sizeof *p->ranges);
    if ((size_t)f->count * l.words * sizeof *l.before > MAX_BYTES) {
        add_range(p, 0, p->register_bytes);
        return;
    }
    l.number = sim_allocate(arena, ((size_t)p->register_bytes / 4 + 1) * sizeof *l.number);
    l.before = sim_allocate(arena, (size_t)f->count * l.words * sizeof *l.before);
    for (uint32_t k = 0; k < l.registers; k++)
        l.number[function->registers[k]->slot / 4] = k;
    uint64_t *set = sim_allocate(arena, l.words * sizeof *set);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = f->count - 1; b-- > 0;)
            changed |= step_block(&l, b, set);
    }
    memcpy(set, l.before, l.words * sizeof *set);
    add_shuffled(&l, set);
    for (int predicates = 1; predicates >= 0; predicates--) // in the order of their places
        for (uint32_t k = 0; k < l.registers; k++) {
            const Register *reg = function->registers[k];
            if ((reg->type == PRED) == predicates && set[k / 64] >> k % 64 & 1)
                add_range(p, reg->slot, lane_bytes(reg));
        }
}
