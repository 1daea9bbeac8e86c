// race_message.c: what is said of a race.
#include "checker/conflicts.h"

#include <string.h>

static const char *verb_of(const Instr *i, const AccessRecord *e)
{
    static const char *const VERBS[] = {[PLAIN_READ] = "reads",
                                        [PLAIN_WRITE] = "writes",
                                        [ATOMIC_UPDATE] = "updates atomically",
                                        [STRONG_READ] = "reads",
                                        [STRONG_WRITE] = "writes",
                                        [COPY_UNDER_WAY] = "copies to",
                                        [SOURCE_UNDER_WAY] = "copies from"};
    if (i->semantics == VOLATILE)
        return writes(e) ? "writes, as volatile," : "reads, as volatile,";
    if (e->kind == STRONG_READ || e->kind == STRONG_WRITE)
        return writes(e) ? "writes, as an atomic," : "reads, as an atomic,";
    return VERBS[e->kind];
}

static int line_of(const Statement *s)
{
    return s->own_line > 0 ? s->own_line : s->source_line;
}

static int file_of(const Statement *s)
{
    return s->own_line > 0 ? s->own_file : s->source_file;
}

// Whether two instructions of the kernel are in a loop, with a barrier of the whole block between them. Then the one
// further down races with the one further up in the next turn.
static bool races_in_next_turn(const Program *program, const Instr *i, const Instr *j)
{
    const Instr *low = i < j ? i : j, *high = i < j ? j : i, *end = program->code + program->count;
    if (low < program->code || high >= end)
        return false;
    bool barrier = false, loop = false;
    for (const Instr *k = low; k < high; k++)
        barrier |= k->control == BLOCK_BARRIER;
    for (const Instr *k = high; k < end; k++)
        loop |= k->control == BRANCH && k->target <= (uint32_t)(low - program->code);
    return barrier && loop;
}

// Whether one thread does both: copies that it has begun go on while it does.
static bool is_of_one_thread(const Race *race)
{
    const AccessRecord *a = &race->earlier, *b = &race->later;
    return (is_under_way(a) || is_under_way(b)) && a->block == b->block && a->warp == b->warp && a->lanes == b->lanes &&
           !(a->lanes & (a->lanes - 1));
}

static void say_between(const Program *program, const Instr *i, const Instr *j, bool one_thread, char *between, size_t space)
{
    const int one = line_of(i->statement), two = line_of(j->statement);
    const int low = one < two ? one : two, high = one < two ? two : one;
    if (low <= 0 || file_of(i->statement) != file_of(j->statement))
        snprintf(between, space, "between them");
    else if (low == high)
        snprintf(between, space, "between two executions of line %d%s", low,
                 one_thread ? "" : ", or its index reaches another thread's part");
    else if (program && races_in_next_turn(program, i, j))
        snprintf(between, space, "behind line %d, before line %d runs again", high, low);
    else
        snprintf(between, space, "between line %d and line %d", low, high);
}

// Whether a copy begins behind a use of what it overwrites, in the code, and no barrier stands between them.
static bool begins_behind(const Program *program, const Instr *copy, const Instr *use)
{
    const Instr *k = use;
    while (k >= program->code && k < copy && copy < program->code + program->count && k->control != BLOCK_BARRIER)
        k++;
    return use < copy && k == copy;
}

// Whether the kernel also loads from where the instruction stores, as for a sum.
static bool is_loaded(const Program *program, const Instr *store)
{
    const Operand *to = &store->statement->operands[0];
    for (uint32_t k = 0; k < program->count; k++) {
        const Instr *i = &program->code[k];
        const Operand *from = i->kind == LOAD ? &i->statement->operands[1] : NULL;
        if (from && from->reg == to->reg && from->variable == to->variable && from->integer == to->integer)
            return true;
    }
    return false;
}

// `fenced`: the earlier one's thread has executed a fence since; `told`: the later one's has read what that one wrote then.
static void hint_of(const Race *race, const Program *program, const Instr *i, const Instr *j, bool shared, bool fenced, bool told,
                    char *hint, size_t space)
{
    const AccessRecord *a = &race->earlier, *b = &race->later;
    const bool same_block = a->block == b->block, same_warp = same_block && a->warp == b->warp;
    const bool both_strong = is_strong(a) && is_strong(b);
    char between[120];
    // What was copied further up is awaited in the same turn.
    const bool copied_above = is_under_way(a) && line_of(i->statement) < line_of(j->statement);
    say_between(copied_above ? NULL : program, i, j, is_of_one_thread(race), between, sizeof between);
    if (is_under_way(a) && !begins_behind(program, i, j))
        snprintf(hint, space, "the copy may still be under way: nobody has waited for it %s", between);
    else if (is_under_way(a) || is_under_way(b))
        snprintf(hint, space, "the copy begins while others may still use these bytes: a barrier is missing before it");
    else if (both_strong && (!reaches(i, a, b) || !reaches(j, a, b)))
        snprintf(hint, space, "an atomic operation of block scope (_block) is none for the threads of another block");
    else if (both_strong && i->kind == ATOMIC && j->kind == ATOMIC && i->bytes != j->bytes)
        snprintf(hint, space, "atomic operations of different sizes are none for each other: let all of them use the whole word");
    else if (both_strong && same_block)
        snprintf(hint, space, "volatile orders nothing: no __syncwarp() or __syncthreads() %s", between);
    else if (both_strong)
        snprintf(hint, space, "volatile orders nothing: no __threadfence() %s",
                 fenced ? "before the second of the two, behind what its thread has read"
                        : "behind the write, before others are told");
    else if (told)
        snprintf(hint, space,
                 "the second thread has been told that the first is through, but a fence is missing behind the access by which it "
                 "was told: %s", same_block ? "__threadfence_block()" : "__threadfence()");
    else if (is_strong(a) != is_strong(b))
        snprintf(hint, space, "one of them is atomic or volatile, the other is not; and nothing orders them %s",
                 between);
    else if (race->same && i == j && !is_loaded(program, i))
        snprintf(hint, space,
                 "both write the same value, and it is a race all the same: atomicExch, or a store through "
                 "cuda::atomic_ref, lets many threads set a flag; or its index reaches another thread's part");
    else if (same_warp)
        snprintf(hint, space, "no __syncthreads() %s, or __syncwarp() if one warp is alone concerned%s", between,
                 shared ? "" : "; a common sum wants atomicAdd");
    else if (same_block)
        snprintf(hint, space, "no barrier orders them: a __syncthreads() is missing %s%s", between,
                 shared ? "" : ", or an atomic operation such as atomicAdd in place of both");
    else
        snprintf(hint, space,
                 "nothing orders two blocks of a launch but atomic operations with fences (__threadfence()), "
                 "or the end of the kernel%s",
                 shared ? "; in a cluster, its barrier" : "; a common sum wants atomicAdd");
}

// The first of the lanes that did one side of it; of two sides of a warp another lane.
static Example example_of(const Race *race, int side)
{
    const AccessRecord *e = side == 0 ? &race->earlier : &race->later;
    const bool same_warp = race->earlier.block == race->later.block && race->earlier.warp == race->later.warp;
    const uint32_t lanes = side == 0 && same_warp ? race->earlier.lanes & ~race->later.lanes : e->lanes;
    return (Example){e->block, (uint32_t)e->warp * LANES + (uint32_t)__builtin_ctz(lanes ? lanes : e->lanes)};
}

void sim_report_race(const AccessCheck *check)
{
    Warp *w = check->w;
    const Race *race = &check->race;
    const Launch *launch = w->block->launch;
    const Example examples[] = {example_of(race, 0), example_of(race, 1)};
    const Instr *instrs[] = {sim_instruction_at(race->earlier.site), sim_instruction_at(race->later.site)};
    const Cause cause = {launch, instrs[0], instrs[1], check->shared};
    char access[2][200], title[300], hint[400];
    Place places[2];
    if (sim_find_once_more(&cause, examples, 2))
        return;
    const AccessRecord *epochs[] = {&race->earlier, &race->later};
    for (int k = 0; k < 2; k++) {
        const Instr *i = instrs[k];
        const bool other_width = i->kind == ATOMIC && check->i->kind == ATOMIC && i->bytes != check->i->bytes;
        const size_t bytes = other_width ? i->bytes : check->access->bytes;
        const bool same_size = i == check->i || (i->kind != BULK_COPY && check->i->kind != BULK_COPY); // whose say nothing of another one
        snprintf(access[k], sizeof access[k], "%s ", verb_of(i, epochs[k]));
        if (same_size)
            snprintf(access[k] + strlen(access[k]), 60, "%zu byte%s of ", bytes, bytes == 1 ? "" : "s");
        strcat(access[k], check->shared ? "shared memory" : "global memory");
        places[k] = sim_place_of(launch, examples[k].block_number, examples[k].thread, i, access[k]);
    }
    const bool same_block = race->earlier.block == race->later.block;
    if (is_of_one_thread(race))
        snprintf(title, sizeof title, "%s, one of them writes, and nothing orders them",
                 is_under_way(&race->earlier) && is_under_way(&race->later) ? "two copies of one thread use the same bytes"
                                                                            : "a thread uses the same bytes as a copy of its own");
    else
        snprintf(title, sizeof title, "two threads%s use the same bytes, one of them writes, and nothing orders them",
                 !same_block ? " of different blocks" : race->earlier.warp == race->later.warp ? " of a warp" : "");
    hint_of(race, launch->kernel->program, instrs[0], instrs[1], check->shared, sim_has_fenced(w, &race->earlier),
            sim_lacks_fence(w, __builtin_ctz(race->later.lanes), &race->earlier), hint, sizeof hint);
    if (race->stale) {
        snprintf(title, sizeof title, "a load for memory that is only read need not see what its own kernel has written");
        snprintf(hint, sizeof hint,
                 "__ldg, and what is read through a pointer that is const and __restrict__ (ld.global.nc): "
                 "while the kernel runs nobody may write it");
    }
    sim_add_finding_of(&cause, check->shared ? RACE_SHARED : RACE_GLOBAL, title, places, 2, hint);
}
