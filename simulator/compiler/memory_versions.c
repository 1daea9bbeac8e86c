// memory_versions.c: memory SSA. Each write defines a new version of all memory, and joins have phis of versions. The write that a load
// reads from is found by walking back over writes that cannot alias.
#include "compiler/memory.h"

enum { MAX_STEPS = 100, MAX_ACTIVE_PHIS = 16 };

static Version *new_version(IrModule *module, IrInstruction *writer, IrBlock *block, Version *previous)
{
    Version *version = ir_scratch(module, sizeof *version);
    *version = (Version){.writer = writer, .block = block, .previous = previous};
    return version;
}

// Phis are placed on the iterated dominance frontier of the writes.
static bool *blocks_with_phis(IrModule *module, IrFunction *function, const Dominators *d, const bool *writes)
{
    const Frontiers *f = frontiers_of(module, function, d);
    bool *has_phi = ir_scratch(module, function->next_block);
    const IrBlock **stack = ir_scratch(module, (2 * d->count + 1) * sizeof *stack);
    uint32_t depth = 0;
    for (uint32_t k = 0; k < d->count; k++)
        if (writes[d->order[k]->id])
            stack[depth++] = d->order[k];
    while (depth) {
        const IrBlock *block = stack[--depth];
        for (uint32_t k = 0; k < f->count[block->id]; k++) {
            const IrBlock *join = f->blocks[block->id][k];
            if (has_phi[join->id])
                continue;
            has_phi[join->id] = true;
            stack[depth++] = join;
        }
    }
    return has_phi;
}

static void number_block(IrModule *module, MemoryVersions *m, IrBlock *block)
{
    Version *version = m->at_entry[block->id];
    for (IrInstruction *i = block->first; i; i = i->next) {
        m->before[i->id] = version;
        if (is_memory_write(i))
            version = new_version(module, i, block, version);
    }
    m->at_end[block->id] = version;
}

MemoryVersions *memory_versions_of(IrModule *module, IrFunction *function, const Dominators *d)
{
    MemoryVersions *m = ir_scratch(module, sizeof *m);
    m->function = function;
    m->capacity = function->next_instruction;
    m->at_entry = ir_scratch(module, function->next_block * sizeof *m->at_entry);
    m->at_end = ir_scratch(module, function->next_block * sizeof *m->at_end);
    m->before = ir_scratch(module, m->capacity * sizeof *m->before);
    bool *writes = ir_scratch(module, function->next_block);
    for (uint32_t k = 0; k < d->count; k++)
        for (const IrInstruction *i = d->order[k]->first; i; i = i->next)
            writes[d->order[k]->id] |= is_memory_write(i);
    const bool *has_phi = blocks_with_phis(module, function, d, writes);
    for (uint32_t k = 0; k < d->count; k++) {
        IrBlock *block = d->order[k];
        const IrBlock *parent = d->parent[block->id];
        const bool is_new = !parent || has_phi[block->id];
        m->at_entry[block->id] = is_new ? new_version(module, NULL, block, NULL) : m->at_end[parent->id];
        number_block(module, m, block);
    }
    for (uint32_t k = 0; k < d->count; k++) {
        const IrBlock *block = d->order[k];
        if (!has_phi[block->id])
            continue;
        Version *phi = m->at_entry[block->id];
        phi->incoming = ir_scratch(module, block->predecessor_count * sizeof *phi->incoming);
        for (uint32_t p = 0; p < block->predecessor_count; p++)
            phi->incoming[p] = d->number[block->predecessors[p]->id] == UINT32_MAX ? phi : m->at_end[block->predecessors[p]->id];
    }
    return m;
}

typedef struct Walk {
    const MemoryVersions *versions;
    const Location *location;
    uint32_t steps, phi_count;
    Version *phis[MAX_ACTIVE_PHIS]; // on the current path of the walk
} Walk;

static Version *walk_back(Walk *w, Version *version);

// The common version that all operands of a phi reach without a write to the location; otherwise the phi itself.
static Version *walk_phi(Walk *w, Version *phi)
{
    for (uint32_t k = 0; k < w->phi_count; k++)
        if (w->phis[k] == phi)
            return NULL; // a cycle adds no version
    if (w->phi_count == MAX_ACTIVE_PHIS)
        return phi;
    w->phis[w->phi_count++] = phi;
    Version *common = NULL;
    bool differ = false;
    for (uint32_t p = 0; p < phi->block->predecessor_count && !differ; p++) {
        Version *found = walk_back(w, phi->incoming[p]);
        differ = found && common && found != common;
        common = found ? found : common;
    }
    w->phi_count--;
    return differ ? phi : common;
}

static Version *walk_back(Walk *w, Version *version)
{
    while (w->steps++ < MAX_STEPS) {
        if (!version->writer) {
            if (!version->incoming)
                return version;
            return walk_phi(w, version);
        }
        if (may_write(w->versions->function, version->writer, w->location))
            return version;
        version = version->previous;
    }
    return version;
}

Version *clobbering_version(const MemoryVersions *m, Version *version, const Location *location)
{
    Walk w = {.versions = m, .location = location};
    Version *found = walk_back(&w, version);
    return found ? found : version;
}
