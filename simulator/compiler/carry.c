// carry.c: if each iteration of a loop loads a value that the previous one stored, as in sums[0] += ..., the value is kept in a phi, and
// loaded only once, before the loop (partial redundancy elimination of loads).
#include "compiler/memory.h"

typedef struct Carrying {
    IrModule *module;
    IrFunction *function;
    const Loops *loops;
    const Loop *loop;
    const MemoryVersions *versions;
    IrBlock *preheader, *latch;
} Carrying;

// The value that each iteration stores last at the load's address, or NULL.
static IrInstruction *find_carried_value(const Carrying *c, const IrInstruction *load)
{
    const Location location = location_of(load);
    const Version *seen = clobbering_version(c->versions, c->versions->before[load->id], &location);
    if (seen->writer || seen->block != c->loop->header || !seen->incoming)
        return NULL;
    const Version *last = clobbering_version(c->versions, c->versions->at_end[c->latch->id], &location);
    const IrInstruction *store = last->writer;
    if (!store || store->op != IR_STORE || (store->flags & IR_VOLATILE) || !loop_contains(c->loops, c->loop, store->block))
        return NULL;
    const Location written = location_of(store);
    IrInstruction *value = store->operands[1];
    const bool is_whole = store->memory == load->memory && value->type == load->type && ir_bits(load->memory) == ir_bits(load->type);
    return is_whole && alias(c->function, &location, &written) == SAME_BYTES ? value : NULL;
}

static bool carry(const Carrying *c, IrInstruction *load)
{
    if (load->op != IR_LOAD || (load->flags & IR_VOLATILE) || ir_is_pure(load) || !is_loop_invariant(c->loops, c->loop, load->operands[0]))
        return false;
    IrInstruction *value = find_carried_value(c, load);
    if (!value)
        return false;
    IrInstruction *first = ir_clone(c->module, c->function, load);
    ir_link_before(c->preheader->last, first);
    IrInstruction *phi = ir_phi(c->module, c->loop->header, load->type);
    for (uint32_t k = 0; k < c->loop->header->predecessor_count; k++)
        ir_add_operand(c->module, phi, c->loop->header->predecessors[k] == c->latch ? value : first);
    ir_replace(load, phi);
    return true;
}

bool carry_stored_values(IrModule *module, IrFunction *function)
{
    bool changed = loops_simplify(module, function);
    const Dominators *d = dominators_of(module, function);
    Carrying c = {.module = module, .function = function, .loops = loops_of(module, function, d)};
    c.versions = memory_versions_of(module, function, d);
    for (const Loop *loop = c.loops->all; loop; loop = loop->next) {
        c.loop = loop;
        c.preheader = loop_preheader(c.loops, loop);
        c.latch = loop_latch(c.loops, loop);
        for (IrInstruction *i = loop->header->first, *next; i && c.preheader && c.latch; i = next) {
            next = i->next;
            changed |= i->id < c.versions->capacity && carry(&c, i);
        }
    }
    return changed;
}
