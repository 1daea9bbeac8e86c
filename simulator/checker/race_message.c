// race_message.c: the text of a data race, and what may fix it.
#include "checker/conflicts.h"

#include <stdarg.h>
#include <string.h>

static const char *noun_of(const Instr *i, const AccessRecord *e)
{
    static const char *const NOUNS[] = {[PLAIN_READ] = "read",
                                        [PLAIN_WRITE] = "write",
                                        [ATOMIC_UPDATE] = "atomic update",
                                        [STRONG_READ] = "atomic read",
                                        [STRONG_WRITE] = "atomic write",
                                        [COPY_IN_FLIGHT] = "asynchronous write",
                                        [SOURCE_IN_FLIGHT] = "asynchronous read"};
    if (i->semantics == VOLATILE)
        return writes(e) ? "volatile write" : "volatile read";
    return NOUNS[e->kind];
}

static int line_of(const Statement *s)
{
    return s->own_line > 0 ? s->own_line : s->source_line;
}

static int file_of(const Statement *s)
{
    return s->own_line > 0 ? s->own_file : s->source_file;
}

// ---- The code around the two instructions

static bool is_in(const Program *program, const Instr *i)
{
    return i >= program->code && i < program->code + program->count;
}

static bool has_barrier(const Instr *first, const Instr *end)
{
    for (const Instr *k = first; k < end; k++)
        if (k->control == BLOCK_BARRIER)
            return true;
    return false;
}

// The jump back of the innermost loop that holds both instructions, or NULL.
static const Instr *loop_end(const Program *program, const Instr *low, const Instr *high)
{
    for (const Instr *k = high; k < program->code + program->count; k++)
        if (k->control == BRANCH && k->target <= (uint32_t)(low - program->code))
            return k;
    return NULL;
}

// Whether a barrier of the whole block lies between two executions: from `first` to `second`, in the next iteration if that comes
// earlier in the code.
static bool has_barrier_between(const Program *program, const Instr *first, const Instr *second)
{
    if (first < second)
        return has_barrier(first, second);
    const Instr *end = loop_end(program, second, first);
    return end && (has_barrier(first, end) || has_barrier(program->code + end->target, second));
}

// Whether two instructions are in a loop, with a barrier of the block between them: then the one further down races with the one
// further up in the next iteration.
static bool races_in_next_iteration(const Program *program, const Instr *i, const Instr *j)
{
    const Instr *low = i < j ? i : j, *high = i < j ? j : i;
    return is_in(program, low) && is_in(program, high) && has_barrier(low, high) && loop_end(program, low, high);
}

// Whether the store is part of a read-modify-write, such as `sum += x`: a load from the same address precedes it, with no barrier
// between them.
static bool is_loaded(const Program *program, const Instr *store)
{
    const Operand *to = &store->statement->operands[0];
    if (!is_in(program, store))
        return false;
    for (const Instr *i = store; i-- > program->code && i->control != BLOCK_BARRIER;) {
        const Operand *from = i->kind == LOAD ? &i->statement->operands[1] : NULL;
        if (from && from->reg == to->reg && from->variable == to->variable && from->integer == to->integer)
            return true;
    }
    return false;
}

static bool has_atomics(const Program *program)
{
    for (const Instr *k = program->code; k < program->code + program->count; k++)
        if (k->kind == ATOMIC)
            return true;
    return false;
}

static int stores_of_line(const Program *program, const Statement *s)
{
    int count = 0;
    for (const Instr *k = program->code; k < program->code + program->count; k++)
        count += k->kind == STORE && k->statement && line_of(k->statement) == line_of(s) && file_of(k->statement) == file_of(s);
    return count;
}

static bool waits_at_mbarrier(const Program *program)
{
    for (const Instr *k = program->code; k < program->code + program->count; k++)
        if (k->control == PHASE_TEST)
            return true;
    return false;
}

// Whether one thread makes both accesses, one of which is a copy that goes on meanwhile.
static bool is_of_one_thread(const Race *race)
{
    const AccessRecord *a = &race->earlier, *b = &race->later;
    return (is_in_flight(a) || is_in_flight(b)) && a->block == b->block && a->warp == b->warp && a->lanes == b->lanes &&
           !(a->lanes & (a->lanes - 1));
}

// ---- The hint

typedef struct Pair { // a race, as the hint needs it
    const Race *race;
    const Program *program;
    const Instr *i, *j;  // of the earlier access and the later one: the first of their sites
    const Instr *later;  // the later access's own instruction
    RaceExtent extent;
    bool shared;
    bool fenced;       // the earlier access's thread has executed a fence since
    bool lacks_fence;  // the later one's thread has read what that thread wrote then, but has executed no fence since
} Pair;

static const char BLOCKS[] = "order the blocks by atomic operations with __threadfence(), or by the end of the kernel",
                  ADD[] = "to add into one variable, use atomicAdd()",
                  CHECK_INDEX[] = "check whether the index addresses another thread's element";

static void add_line(char *hint, const char *format, ...)
{
    va_list arguments;
    const size_t used = strlen(hint);
    va_start(arguments, format);
    if (used)
        snprintf(hint + used, HINT_BYTES - used, "\n");
    vsnprintf(hint + used + (used > 0), HINT_BYTES - used - (used > 0), format, arguments);
    va_end(arguments);
}

// "between line 10 and line 13"
static void describe_between(const Pair *p, char *between, size_t space)
{
    const int one = line_of(p->i->statement), two = line_of(p->j->statement);
    const int low = one < two ? one : two, high = one < two ? two : one;
    if (low <= 0 || file_of(p->i->statement) != file_of(p->j->statement))
        snprintf(between, space, "between the two accesses");
    else if (low == high)
        snprintf(between, space, "between two executions of line %d", low);
    else if (races_in_next_iteration(p->program, p->i, p->j))
        snprintf(between, space, "after line %d, before line %d runs again", high, low);
    else
        snprintf(between, space, "between line %d and line %d", low, high);
}

static const char *barrier_for(const Pair *p)
{
    return p->extent == WITHIN_WARP ? "__syncwarp(), or __syncthreads() if other warps take part," : "__syncthreads()";
}

// "line 14", or "the second access" if its line is not known.
static void name_line(const Instr *i, const char *otherwise, char *text, size_t space)
{
    const int line = line_of(i->statement);
    if (line > 0)
        snprintf(text, space, "line %d", line);
    else
        snprintf(text, space, "%s", otherwise);
}

// One access is an asynchronous copy: a barrier helps only if the copy may begin too early, not if it may end too late.
static void add_copy_hint(const Pair *p, char *hint)
{
    const bool later = is_in_flight(&p->race->later) && !is_in_flight(&p->race->earlier);
    const Instr *copy = later ? p->j : p->i, *use = later ? p->i : p->j;
    const bool known = is_in(p->program, copy) && is_in(p->program, use);
    const bool begins_early = known && !has_barrier_between(p->program, use, copy) && (later || use < copy);
    char line[40], between[120];
    name_line(use, "the other access", line, sizeof line);
    describe_between(p, between, sizeof between);
    if (begins_early) {
        add_line(hint, "add a barrier after %s, before the copy begins", line);
        return;
    }
    if (copy == use || line_of(copy->statement) == line_of(use->statement))
        add_line(hint, "wait for the asynchronous copy %s", between);
    else
        add_line(hint, "wait for the asynchronous copy before %s", line);
    const AccessRecord *record = later ? &p->race->later : &p->race->earlier;
    if (record->kind == COPY_IN_FLIGHT && waits_at_mbarrier(p->program))
        add_line(hint, "if the kernel waits there, check the parity of the mbarrier wait: it alternates with each phase");
}

// Both accesses are atomic or volatile, and yet conflict.
static void add_strong_hint(const Pair *p, char *hint)
{
    const AccessRecord *a = &p->race->earlier, *b = &p->race->later;
    char between[120], line[40];
    describe_between(p, between, sizeof between);
    name_line(p->j, "the second access", line, sizeof line);
    if (!in_scope(p->i, a, b) || !in_scope(p->j, a, b)) {
        add_line(hint, "use an atomic operation of device scope: one of block scope (_block) is not atomic to other blocks");
        return;
    }
    if (p->i->kind == ATOMIC && p->j->kind == ATOMIC && p->i->bytes != p->j->bytes) {
        add_line(hint, "use one size for all atomic operations on these bytes: those of different sizes are not atomic to each other");
        return;
    }
    if (p->extent != ACROSS_BLOCKS)
        add_line(hint, "add %s %s", barrier_for(p), between);
    else if (p->fenced)
        add_line(hint, "add __threadfence() before %s, after its thread has read the flag", line);
    else
        add_line(hint, "add __threadfence() after the write, before the flag is set");
    add_line(hint, "note: volatile does not order accesses");
}

// Whether no other load of the line shares the site, so that an access record names this very instruction.
static bool is_only_one_of_site(const Program *program, const Instr *load)
{
    int count = 0;
    for (const Instr *k = program->code; k < program->code + program->count; k++)
        count += k->kind == LOAD && k->site == load->site;
    return count == 1;
}

// Whether the two are the store of a read-modify-write, such as `sum += x`, and that store or its load.
static bool is_update(const Pair *p)
{
    const bool stores = writes(&p->race->earlier), both_write = stores && writes(&p->race->later);
    const Instr *store = stores ? p->i : p->later, *load = stores ? p->later : p->i;
    if (store->kind != STORE)
        return false;
    if (both_write || p->extent != ACROSS_BLOCKS)
        return both_write && is_loaded(p->program, store);
    const Operand *to = &store->statement->operands[0], *from = load->kind == LOAD ? &load->statement->operands[1] : NULL;
    return from && (load == p->later || is_only_one_of_site(p->program, load)) && from->reg == to->reg && from->variable == to->variable && from->integer == to->integer;
}

// Of threads of one block, without atomic operations.
static void add_block_hint(const Pair *p, char *hint)
{
    const Statement *s = p->i->statement;
    const bool one_line = line_of(s) > 0 && line_of(s) == line_of(p->j->statement) && file_of(s) == file_of(p->j->statement);
    const bool known = is_in(p->program, p->i) && is_in(p->program, p->j);
    const Instr *low = p->i < p->j ? p->i : p->j, *high = p->i < p->j ? p->j : p->i, *loop = known ? loop_end(p->program, low, high) : NULL;
    const bool both_write = writes(&p->race->earlier) && writes(&p->race->later), adds = is_update(p);
    const bool again = known && one_line && (loop ? !has_barrier_between(p->program, high, low) : stores_of_line(p->program, s) > 1);
    char between[120];
    describe_between(p, between, sizeof between);
    if (adds)
        add_line(hint, "%s", ADD);
    if (!one_line)
        add_line(hint, "add %s %s", barrier_for(p), between);
    else if (again && adds)
        add_line(hint, "otherwise, %s, or add %s %s", CHECK_INDEX, barrier_for(p), between);
    else if (again) {
        add_line(hint, "add %s %s", barrier_for(p), between);
        add_line(hint, "otherwise, %s", CHECK_INDEX);
    } else {
        add_line(hint, "%s%s", adds ? "otherwise, " : "", CHECK_INDEX);
        if (!both_write)
            add_line(hint, "otherwise, read into a register, and add %s before the write", barrier_for(p));
    }
}

static void add_grid_hint(const Pair *p, char *hint)
{
    const bool adds = is_update(p), synchronises = has_atomics(p->program);
    if (adds && !synchronises) {
        add_line(hint, "%s", ADD);
        add_line(hint, "otherwise, %s", CHECK_INDEX);
        return;
    }
    add_line(hint, "%s", BLOCKS);
    if (adds)
        add_line(hint, "%s", ADD);
    else if (!synchronises)
        add_line(hint, "otherwise, %s", CHECK_INDEX);
}

static void add_hint(const Pair *p, bool same_value, char *hint)
{
    const AccessRecord *a = &p->race->earlier, *b = &p->race->later;
    char line[40], between[120];
    hint[0] = 0;
    name_line(p->j, "the second access", line, sizeof line);
    describe_between(p, between, sizeof between);
    if (is_in_flight(a) || is_in_flight(b))
        add_copy_hint(p, hint);
    else if (is_strong(a) && is_strong(b))
        add_strong_hint(p, hint);
    else if (p->shared && p->extent == ACROSS_BLOCKS)
        add_line(hint, "call cluster.sync() in all blocks of the cluster %s", between);
    else if (p->lacks_fence)
        add_line(hint, "the reader needs a %s after reading the flag, before %s",
                 p->extent == ACROSS_BLOCKS ? "__threadfence()" : "__threadfence_block()", line);
    else if (is_strong(a) != is_strong(b)) {
        if (p->extent == ACROSS_BLOCKS)
            add_line(hint, "make both accesses atomic, or %s", BLOCKS);
        else
            add_line(hint, "make both accesses atomic, or add %s %s", barrier_for(p), between);
        add_line(hint, "note: one access is atomic or volatile, the other is not");
    } else if (same_value) {
        add_line(hint, "to set a flag from many threads, use atomicExch() or a store through cuda::atomic_ref");
        add_line(hint, "otherwise, %s", CHECK_INDEX);
    } else if (p->extent == ACROSS_BLOCKS)
        add_grid_hint(p, hint);
    else
        add_block_hint(p, hint);
    if (same_value)
        add_line(hint, "note: both writes store the same value; that is still a race");
}

// ---- The message

static void write_title(const Race *race, RaceExtent extent, char *title, size_t space)
{
    const bool both_write = writes(&race->earlier) && writes(&race->later);
    const char *one = extent == ACROSS_BLOCKS ? "block" : "thread";
    if (race->stale)
        snprintf(title, space, "a load through the read-only cache need not see a write of its own kernel");
    else if (is_of_one_thread(race))
        snprintf(title, space, "%s, without synchronisation",
                 is_in_flight(&race->earlier) && is_in_flight(&race->later) ? "two asynchronous copies of one thread access the same bytes"
                                                                            : "a thread accesses the bytes of its own asynchronous copy");
    else if (both_write)
        snprintf(title, space, "two %ss%s write the same bytes, without synchronisation", one, extent == WITHIN_WARP ? " of a warp" : "");
    else
        snprintf(title, space, "one %s writes what another%s reads, without synchronisation", one,
                 extent == WITHIN_WARP ? " of its warp" : "");
}

// The first of the lanes of one side; if both sides are the same warp's, a lane that is not on the other side.
static Example example_of(const Race *race, int side)
{
    const AccessRecord *e = side == 0 ? &race->earlier : &race->later;
    const bool same_warp = race->earlier.block == race->later.block && race->earlier.warp == race->later.warp;
    const uint32_t lanes = side == 0 && same_warp ? race->earlier.lanes & ~race->later.lanes : e->lanes;
    return (Example){e->block, (uint32_t)e->warp * LANES + (uint32_t)__builtin_ctz(lanes ? lanes : e->lanes)};
}

// "4-byte write"; without the size if the other access's says nothing of it.
static void describe_access(const AccessCheck *check, const Instr *i, const AccessRecord *e, char *access, size_t space)
{
    const bool other_width = i->kind == ATOMIC && check->i->kind == ATOMIC && i->bytes != check->i->bytes;
    const size_t bytes = other_width ? i->bytes : check->access->bytes;
    if (i == check->i || (i->kind != BULK_COPY && check->i->kind != BULK_COPY))
        snprintf(access, space, "%zu-byte %s", bytes, noun_of(i, e));
    else
        snprintf(access, space, "%s", noun_of(i, e));
}

void sim_report_race(const AccessCheck *check)
{
    Warp *w = check->w;
    const Race *race = &check->race;
    const AccessRecord *a = &race->earlier, *b = &race->later;
    const Launch *launch = w->block->launch;
    const Program *program = launch->kernel->program;
    const Example examples[] = {example_of(race, 0), example_of(race, 1)};
    const Instr *instrs[] = {sim_instruction_at(a->site), sim_instruction_at(b->site)};
    const RaceExtent extent = a->block != b->block ? ACROSS_BLOCKS : a->warp != b->warp ? WITHIN_BLOCK : WITHIN_WARP;
    const bool plain = a->kind == PLAIN_WRITE && b->kind == PLAIN_WRITE;
    const bool same_value = race->same_value && plain && !is_loaded(program, instrs[0]) && !is_loaded(program, instrs[1]);
    const RaceFacts facts = {extent, same_value};
    const Cause cause = {launch, instrs[0], instrs[1], check->shared | (int)extent << 1 | same_value << 3};
    char title[300], hint[HINT_BYTES];
    Place places[2];
    if (sim_count_occurrence(&cause, examples, 2))
        return;
    for (int k = 0; k < 2; k++) {
        char access[100];
        describe_access(check, instrs[k], k ? b : a, access, sizeof access);
        places[k] = sim_place_of(launch, examples[k].block_number, examples[k].thread, instrs[k], access);
    }
    write_title(race, extent, title, sizeof title);
    const Pair pair = {.race = race, .program = program, .i = instrs[0], .j = instrs[1], .later = check->i->site == b->site ? check->i : instrs[1],
                       .extent = extent, .shared = check->shared,
                       .fenced = sim_has_fenced(w, a), .lacks_fence = sim_lacks_fence(w, __builtin_ctz(b->lanes), a)};
    if (race->stale)
        snprintf(hint, sizeof hint,
                 "read with an ordinary load: no __ldg(), no pointer that is const and __restrict__ (ld.global.nc)");
    else
        add_hint(&pair, same_value, hint);
    sim_add_caused_finding(&cause, check->shared ? RACE_SHARED : RACE_GLOBAL, title, places, 2, hint, &facts);
}
