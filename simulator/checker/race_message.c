// race_message.c: the message of a data race, with hints for the fix.
#include "checker/clocks.h"
#include "checker/conflicts.h"

#include <string.h>

static const char *access_noun(const Instr *i, const AccessRecord *e)
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
    return s->outer_line > 0 ? s->outer_line : s->source_line;
}

static int file_of(const Statement *s)
{
    return s->outer_line > 0 ? s->outer_file : s->source_file;
}

// ---- The code around the two instructions

static bool contains(const Program *program, const Instr *i)
{
    return i >= program->code && i < program->code + program->count;
}

static bool has_barrier_in(const Instr *first, const Instr *end)
{
    for (const Instr *k = first; k < end; k++)
        if (k->control == BLOCK_BARRIER)
            return true;
    return false;
}

// The back edge of the innermost loop that contains both instructions, or NULL.
static const Instr *enclosing_back_edge(const Program *program, const Instr *low, const Instr *high)
{
    for (const Instr *k = high; k < program->code + program->count; k++)
        if (k->control == BRANCH && k->target <= (uint32_t)(low - program->code))
            return k;
    return NULL;
}

// Whether the block executes a barrier between `first` and `second`. If `second` is earlier in the code, it is executed in the next
// iteration.
static bool has_barrier_between(const Program *program, const Instr *first, const Instr *second)
{
    if (first < second)
        return has_barrier_in(first, second);
    const Instr *end = enclosing_back_edge(program, second, first);
    return end && (has_barrier_in(first, end) || has_barrier_in(program->code + end->target, second));
}

// Whether two instructions are in a loop, with a barrier of the block between them. Then the later one in the code races with the
// earlier one of the next iteration.
static bool races_in_next_iteration(const Program *program, const Instr *i, const Instr *j)
{
    const Instr *low = i < j ? i : j, *high = i < j ? j : i;
    return contains(program, low) && contains(program, high) && has_barrier_in(low, high) && enclosing_back_edge(program, low, high);
}

// Whether the store is part of a read-modify-write, such as `sum += x`: a load from the same address precedes it, with no barrier
// between them.
static bool is_read_modify_write(const Program *program, const Instr *store)
{
    const Operand *to = &store->statement->operands[0];
    if (!contains(program, store))
        return false;
    for (const Instr *i = store; i-- > program->code && i->control != BLOCK_BARRIER;) {
        const Operand *from = i->kind == LOAD ? &i->statement->operands[1] : NULL;
        if (from && from->reg == to->reg && from->variable == to->variable && from->integer == to->integer)
            return true;
    }
    return false;
}

static bool uses_atomics(const Program *program)
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

// Whether one thread makes both accesses, at least one of which is an asynchronous copy.
static bool is_single_thread_race(const Race *race)
{
    const AccessRecord *a = &race->earlier, *b = &race->later;
    return (is_in_flight(a) || is_in_flight(b)) && a->block == b->block && a->warp == b->warp && a->lanes == b->lanes &&
           !(a->lanes & (a->lanes - 1));
}

// ---- The hint

typedef struct RacePair { // a race, with what the hint depends on
    const Race *race;
    const Program *program;
    const Instr *i, *j;  // the first instructions of the sites of the earlier and of the later access
    const Instr *later;  // the later access's instruction
    RaceScope scope;
    bool shared;
    bool fenced;         // the thread of the earlier access has executed a fence since
    bool lacks_fence;    // only a fence of the later access's thread is missing to order the two (sim_lacks_fence)
} RacePair;

static const char ORDER_BLOCKS_HINT[] = "order the blocks by atomic operations with __threadfence(), or by the end of the kernel",
                  ATOMIC_ADD_HINT[] = "to add into one variable, use atomicAdd()",
                  CHECK_INDEX_HINT[] = "check whether the index addresses another thread's element",
                  SET_FLAG_HINT[] = "to set a flag from many threads, use atomicExch() or a store through cuda::atomic_ref";

static bool is_same_thread_of_two_blocks(const RacePair *p)
{
    const AccessRecord *a = &p->race->earlier, *b = &p->race->later;
    return p->scope == ACROSS_BLOCKS && a->warp == b->warp && a->lanes == b->lanes && !(a->lanes & (a->lanes - 1));
}

// "between line 10 and line 13"
static void describe_between(const RacePair *p, char *between, size_t space)
{
    const int first_line = line_of(p->i->statement), second_line = line_of(p->j->statement);
    const int low = first_line < second_line ? first_line : second_line, high = first_line < second_line ? second_line : first_line;
    if (low <= 0 || file_of(p->i->statement) != file_of(p->j->statement))
        snprintf(between, space, "between the two accesses");
    else if (low == high)
        snprintf(between, space, "between two executions of line %d", low);
    else if (races_in_next_iteration(p->program, p->i, p->j))
        snprintf(between, space, "after line %d, before line %d runs again", high, low);
    else
        snprintf(between, space, "between line %d and line %d", low, high);
}

static const char *barrier_for(const RacePair *p)
{
    return p->scope == WITHIN_WARP ? "__syncwarp(), or __syncthreads() if other warps take part," : "__syncthreads()";
}

// "line 14"; `fallback` if the line is unknown.
static void describe_line(const Instr *i, const char *fallback, char *text, size_t space)
{
    const int line = line_of(i->statement);
    if (line > 0)
        snprintf(text, space, "line %d", line);
    else
        snprintf(text, space, "%s", fallback);
}

// One access is an asynchronous copy. A barrier helps only if the copy may start too early, not if it may complete too late.
static void add_copy_hint(const RacePair *p, char *hint)
{
    const bool copy_is_later = is_in_flight(&p->race->later) && !is_in_flight(&p->race->earlier);
    const Instr *copy = copy_is_later ? p->j : p->i, *use = copy_is_later ? p->i : p->j;
    const bool in_kernel = contains(p->program, copy) && contains(p->program, use);
    const bool begins_early = in_kernel && !has_barrier_between(p->program, use, copy) && (copy_is_later || use < copy);
    char line[40], between[120];
    describe_line(use, "the other access", line, sizeof line);
    describe_between(p, between, sizeof between);
    if (begins_early) {
        sim_add_hint_line(hint, "add a barrier after %s, before the copy begins", line);
        return;
    }
    if (copy == use || line_of(copy->statement) == line_of(use->statement))
        sim_add_hint_line(hint, "wait for the asynchronous copy %s", between);
    else
        sim_add_hint_line(hint, "wait for the asynchronous copy before %s", line);
    const AccessRecord *record = copy_is_later ? &p->race->later : &p->race->earlier;
    if (record->kind == COPY_IN_FLIGHT && waits_at_mbarrier(p->program))
        sim_add_hint_line(hint, "if the kernel waits there, check the parity of the mbarrier wait: it alternates with each phase");
}

// Both accesses are atomic or volatile, but conflict nevertheless.
static void add_strong_hint(const RacePair *p, char *hint)
{
    const AccessRecord *a = &p->race->earlier, *b = &p->race->later;
    char between[120], line[40];
    describe_between(p, between, sizeof between);
    describe_line(p->j, "the second access", line, sizeof line);
    if (!in_scope(p->i, a, b) || !in_scope(p->j, a, b)) {
        sim_add_hint_line(hint, "use an atomic operation of device scope: one of block scope (_block) is not atomic to other blocks");
        return;
    }
    if (p->i->kind == ATOMIC && p->j->kind == ATOMIC && p->i->bytes != p->j->bytes) {
        sim_add_hint_line(hint, "use one size for all atomic operations on these bytes: those of different sizes are not atomic to each other");
        return;
    }
    if (p->scope != ACROSS_BLOCKS)
        sim_add_hint_line(hint, "add %s %s", barrier_for(p), between);
    else if (p->fenced)
        sim_add_hint_line(hint, "add __threadfence() before %s, after its thread has read the flag", line);
    else
        sim_add_hint_line(hint, "add __threadfence() after the write, before the flag is set");
    sim_add_hint_line(hint, "note: volatile does not order accesses");
}

// Whether no other load has the site of this load, so that an access record identifies the instruction.
static bool has_unique_site(const Program *program, const Instr *load)
{
    int count = 0;
    for (const Instr *k = program->code; k < program->code + program->count; k++)
        count += k->kind == LOAD && k->site == load->site;
    return count == 1;
}

// Whether the race is between executions of one read-modify-write, such as `sum += x`: two of its stores, or its store and its load.
static bool is_read_modify_write_race(const RacePair *p)
{
    const bool stores = writes(&p->race->earlier), both_write = stores && writes(&p->race->later);
    const Instr *store = stores ? p->i : p->later, *load = stores ? p->later : p->i;
    if (store->kind != STORE)
        return false;
    if (both_write || p->scope != ACROSS_BLOCKS)
        return both_write && is_read_modify_write(p->program, store);
    const Operand *to = &store->statement->operands[0], *from = load->kind == LOAD ? &load->statement->operands[1] : NULL;
    return from && (load == p->later || has_unique_site(p->program, load)) && from->reg == to->reg &&
           from->variable == to->variable && from->integer == to->integer;
}

// Hints for threads of one block, without atomic operations.
static void add_block_hint(const RacePair *p, char *hint)
{
    const Statement *s = p->i->statement;
    const bool one_line = line_of(s) > 0 && line_of(s) == line_of(p->j->statement) && file_of(s) == file_of(p->j->statement);
    const bool known = contains(p->program, p->i) && contains(p->program, p->j);
    const Instr *low = p->i < p->j ? p->i : p->j, *high = p->i < p->j ? p->j : p->i,
                *loop = known ? enclosing_back_edge(p->program, low, high) : NULL;
    const bool both_write = writes(&p->race->earlier) && writes(&p->race->later), is_addition = is_read_modify_write_race(p);
    const bool again = known && one_line && (loop ? !has_barrier_between(p->program, high, low) : stores_of_line(p->program, s) > 1);
    char between[120];
    describe_between(p, between, sizeof between);
    if (is_addition)
        sim_add_hint_line(hint, "%s", ATOMIC_ADD_HINT);
    if (!one_line)
        sim_add_hint_line(hint, "add %s %s", barrier_for(p), between);
    else if (again && is_addition)
        sim_add_hint_line(hint, "otherwise, %s, or add %s %s", CHECK_INDEX_HINT, barrier_for(p), between);
    else if (again) {
        sim_add_hint_line(hint, "add %s %s", barrier_for(p), between);
        sim_add_hint_line(hint, "otherwise, %s", CHECK_INDEX_HINT);
    } else {
        sim_add_hint_line(hint, "%s%s", is_addition ? "otherwise, " : "", CHECK_INDEX_HINT);
        if (!both_write)
            sim_add_hint_line(hint, "otherwise, read into a register, and add %s before the write", barrier_for(p));
    }
}

static void add_grid_hint(const RacePair *p, char *hint)
{
    const bool is_addition = is_read_modify_write_race(p), synchronises = uses_atomics(p->program);
    if (is_addition && !synchronises) {
        sim_add_hint_line(hint, "%s", ATOMIC_ADD_HINT);
        sim_add_hint_line(hint, "otherwise, %s", CHECK_INDEX_HINT);
        return;
    }
    sim_add_hint_line(hint, "%s", ORDER_BLOCKS_HINT);
    if (is_addition)
        sim_add_hint_line(hint, "%s", ATOMIC_ADD_HINT);
    else if (!synchronises)
        sim_add_hint_line(hint, "otherwise, %s", CHECK_INDEX_HINT);
}

static void add_missing_fence_hint(const RacePair *p, MissingFence missing, char *hint)
{
    char line[40];
    hint[0] = 0;
    describe_line(missing == ACQUIRE_FENCE ? p->j : p->i, "the access", line, sizeof line);
    if (missing == ACQUIRE_FENCE)
        sim_add_hint_line(hint, "the second thread needs a __threadfence() after the flag is read, before %s", line);
    else
        sim_add_hint_line(hint, "the first thread needs a __threadfence() after %s, before the flag is set", line);
    sim_add_hint_line(hint, "note: a barrier such as __syncthreads() orders only the threads of its own block");
}

static void add_hint(const RacePair *p, bool same_value, char *hint)
{
    const AccessRecord *a = &p->race->earlier, *b = &p->race->later;
    char line[40], between[120];
    hint[0] = 0;
    describe_line(p->j, "the second access", line, sizeof line);
    describe_between(p, between, sizeof between);
    if (is_in_flight(a) || is_in_flight(b))
        add_copy_hint(p, hint);
    else if (is_strong(a) && is_strong(b))
        add_strong_hint(p, hint);
    else if (p->shared && p->scope == ACROSS_BLOCKS)
        sim_add_hint_line(hint, "call cluster.sync() in all blocks of the cluster %s", between);
    else if (p->lacks_fence)
        sim_add_hint_line(hint, "the reader needs a %s after reading the flag, before %s",
                 p->scope == ACROSS_BLOCKS ? "__threadfence()" : "__threadfence_block()", line);
    else if (is_strong(a) != is_strong(b)) {
        if (p->scope == ACROSS_BLOCKS)
            sim_add_hint_line(hint, "make both accesses atomic, or %s", ORDER_BLOCKS_HINT);
        else
            sim_add_hint_line(hint, "make both accesses atomic, or add %s %s", barrier_for(p), between);
        sim_add_hint_line(hint, "note: one access is atomic or volatile, the other is not");
    } else if (same_value && is_same_thread_of_two_blocks(p)) {
        sim_add_hint_line(hint, "check whether the index depends on blockIdx: the same thread of both blocks writes here");
        sim_add_hint_line(hint, "otherwise, %s", SET_FLAG_HINT);
    } else if (same_value) {
        const bool is_flag = stores_constant(p->program, p->i) && stores_constant(p->program, p->j);
        sim_add_hint_line(hint, "%s", is_flag ? SET_FLAG_HINT : CHECK_INDEX_HINT);
        sim_add_hint_line(hint, "otherwise, %s", is_flag ? CHECK_INDEX_HINT : SET_FLAG_HINT);
    } else if (p->scope == ACROSS_BLOCKS)
        add_grid_hint(p, hint);
    else
        add_block_hint(p, hint);
    if (same_value)
        sim_add_hint_line(hint, "note: both writes store the same value; that is still a race");
}

// ---- The message

static void write_title(const Race *race, RaceScope scope, char *title, size_t space)
{
    const bool both_write = writes(&race->earlier) && writes(&race->later);
    const char *actor = scope == ACROSS_BLOCKS ? "block" : "thread";
    if (race->stale)
        snprintf(title, space, "a load through the read-only cache need not see a write of its own kernel");
    else if (race->unfenced)
        snprintf(title, space, "%s, ordered by a barrier instead of a device-wide fence",
                 both_write ? "two blocks write the same bytes" : "one block writes what another reads");
    else if (is_single_thread_race(race))
        snprintf(title, space, "%s, without synchronisation",
                 is_in_flight(&race->earlier) && is_in_flight(&race->later) ? "two asynchronous copies of one thread access the same bytes"
                                                                            : "a thread accesses the bytes of its own asynchronous copy");
    else if (both_write)
        snprintf(title, space, "two %ss%s write the same bytes, without synchronisation", actor, scope == WITHIN_WARP ? " of a warp" : "");
    else
        snprintf(title, space, "one %s writes what another%s reads, without synchronisation", actor,
                 scope == WITHIN_WARP ? " of its warp" : "");
}

// The first lane of one side of the race; if both sides are of one warp, a lane that is not on the other side.
static ExampleThread example_of(const Launch *launch, const Race *race, int side)
{
    const AccessRecord *e = side == 0 ? &race->earlier : &race->later;
    const bool same_warp = race->earlier.block == race->later.block && race->earlier.warp == race->later.warp;
    const uint32_t lanes = side == 0 && same_warp ? race->earlier.lanes & ~race->later.lanes : e->lanes;
    return (ExampleThread){e->block - launch->vector_clocks->first_block, (uint32_t)e->warp * LANES + (uint32_t)__builtin_ctz(lanes ? lanes : e->lanes)};
}

// "4-byte write"; without the size if it is unknown, as that of the earlier of a bulk copy and another access.
static void describe_access(const AccessCheck *check, const Instr *i, const AccessRecord *e, char *access, size_t space)
{
    const bool other_width = i->kind == ATOMIC && check->i->kind == ATOMIC && i->bytes != check->i->bytes;
    const size_t bytes = other_width ? i->bytes : check->access->bytes;
    if (i == check->i || (i->kind != BULK_COPY && check->i->kind != BULK_COPY))
        snprintf(access, space, "%zu-byte %s", bytes, access_noun(i, e));
    else
        snprintf(access, space, "%s", access_noun(i, e));
}

void sim_report_race(const AccessCheck *check)
{
    Warp *w = check->w;
    const Race *race = &check->race;
    const AccessRecord *a = &race->earlier, *b = &race->later;
    const Launch *launch = w->block->launch;
    const Program *program = launch->kernel->program;
    const ExampleThread examples[] = {example_of(launch, race, 0), example_of(launch, race, 1)};
    const Instr *instrs[] = {sim_instruction_at(a->site), sim_instruction_at(b->site)};
    const RaceScope scope = a->block != b->block ? ACROSS_BLOCKS : a->warp != b->warp ? WITHIN_BLOCK : WITHIN_WARP;
    const bool plain = a->kind == PLAIN_WRITE && b->kind == PLAIN_WRITE;
    const bool same_value = race->same_value && plain && !is_read_modify_write(program, instrs[0]) && !is_read_modify_write(program, instrs[1]);
    const RaceFacts facts = {scope, .is_warning = same_value || race->unfenced};
    const FindingKey key = {launch, instrs[0], instrs[1], check->shared | (int)scope << 1 | same_value << 3 | race->unfenced << 4};
    char title[300], hint[HINT_BYTES];
    FindingLocation locations[2];
    if (sim_count_occurrence(&key, examples, 2))
        return;
    for (int k = 0; k < 2; k++) {
        char access[100];
        describe_access(check, instrs[k], k ? b : a, access, sizeof access);
        locations[k] = sim_location_of(launch, examples[k].block_number, examples[k].thread, instrs[k], access, OTHER_ROLE);
    }
    write_title(race, scope, title, sizeof title);
    const RacePair pair = {.race = race, .program = program, .i = instrs[0], .j = instrs[1],
                           .later = check->i->site == b->site ? check->i : instrs[1],
                       .scope = scope, .shared = check->shared,
                       .fenced = sim_has_fenced(w, a), .lacks_fence = sim_lacks_fence(w, __builtin_ctz(b->lanes), a)};
    if (race->stale)
        snprintf(hint, sizeof hint,
                 "read with an ordinary load: no __ldg(), no pointer that is const and __restrict__ (ld.global.nc)");
    else if (race->unfenced)
        add_missing_fence_hint(&pair, sim_missing_fence(w, __builtin_ctz(b->lanes), a), hint);
    else
        add_hint(&pair, same_value, hint);
    sim_add_keyed_finding(&key, check->shared ? RACE_SHARED : RACE_GLOBAL, title, locations, 2, hint, &facts);
}
