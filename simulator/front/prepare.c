// prepare.c: parses, decodes and analyses a function on first use, with all functions that it may call. Template libraries
// instantiate hundreds of kernels, of which a program runs few.
#include "front/decode.h"
#include "front/flow.h"
#include "base/platform.h"

typedef struct PrepareBatch { // functions that are prepared together, linked by next_in_batch
    Function *first, **last_link;
} PrepareBatch;

static void add_to_batch(PrepareBatch *b, const Module *m, Function *f)
{
    if (!f->is_defined || f->program)
        return;
    f->program = sim_allocate(m->decoder->arena, sizeof *f->program);
    *b->last_link = f;
    b->last_link = &f->next_in_batch;
}

// An indirect call may reach any function that is not a kernel.
static void add_callees(PrepareBatch *b, const Module *m, const Program *caller)
{
    for (const Instr *i = caller->code; i < caller->code + caller->count; i++) {
        if (i->control == CALL && i->call->callee)
            add_to_batch(b, m, i->call->callee);
        for (Function *f = i->control == CALL && !i->call->callee ? m->functions : NULL; f; f = f->next)
            if (!f->is_kernel)
                add_to_batch(b, m, f);
    }
}

// Raises a function's BlockConcurrency to at least its callees'; true if it changed.
static bool tighten_concurrency(Function *f)
{
    BlockConcurrency concurrency = f->program->block_concurrency;
    for (uint32_t k = 0; k < f->program->count; k++) {
        const Instr *i = &f->program->code[k];
        if (i->control != CALL)
            continue;
        const BlockConcurrency callee_concurrency = i->call->callee ? i->call->callee->program->block_concurrency : SERIAL;
        concurrency = callee_concurrency > concurrency ? callee_concurrency : concurrency;
    }
    const bool changed = concurrency != f->program->block_concurrency;
    f->program->block_concurrency = concurrency;
    return changed;
}

// Iterates to a fixed point, because functions may be recursive.
static void summarise_batch(const PrepareBatch *b, Module *m)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (Function *f = b->first; f; f = f->next_in_batch)
            changed |= tighten_concurrency(f) | sim_summarise_effects(m, f);
    }
}

// Runs all analyses of the control-flow graph. Results are allocated in the module's arena.
static void analyse(Arena *module, const Function *function, Program *program)
{
    Arena arena = {NULL};
    FlowGraph flow = {.count = 0};
    sim_build_flow_graph(&arena, program, &flow);
    sim_find_reconvergence(&arena, function, program, &flow);
    sim_find_loops(&arena, program, &flow);
    sim_find_cas_guesses(&arena, function, program, &flow);
    sim_find_live_in(&arena, module, function, program, &flow);
    if (function->is_kernel)
        sim_find_stores(&arena, module, function, program);
    sim_free_arena(&arena);
}

void sim_prepare_function(Module *m, Function *function)
{
    static Lock lock;
    sim_lock(&lock);
    PrepareBatch batch = {NULL, &batch.first};
    add_to_batch(&batch, m, function);
    for (Function *f = batch.first; f; f = f->next_in_batch) {
        sim_read_body(m, f);
        sim_decode(m, f);
        add_callees(&batch, m, f->program);
    }
    summarise_batch(&batch, m);
    for (Function *f = batch.first; f; f = f->next_in_batch) {
        analyse(&m->arena, f, f->program);
        sim_number_sites(f->program->code, f->program->count);
    }
    summarise_batch(&batch, m); // a second time, because the analyses have marked the loads that feed branches
    sim_unlock(&lock);
}
