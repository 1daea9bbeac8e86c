// memory.c: who did what to each byte, and whether something orders it.
//
// Memory is divided into lines of 128 bytes. In most accesses the lanes of a warp lie in a row, at the same distance
// from each other, or in pieces of which this is true, as in a tile with gaps: of these rows a line keeps the last ones
// as they are. Where that will not do, it gets cells, one for each word.
#include "checker/check.h"
#include "base/platform.h"

#include <stdlib.h>
#include <string.h>

enum { WORDS = LINE_BYTES / 4, IN_CELL = 2, MOST_IN_CELL = 40, MOST_STRIDE = 1 << 20 };

typedef struct Cell {
    Epoch few[IN_CELL], *many;
    uint8_t count, space; // of many
} Cell;

struct More { // of a line, where one row will not do
    Cell *cells; // of each word
    Readers warps, lanes;
    Row rows[]; // behind the first one
};

static Epoch *epochs_of(Cell *c)
{
    return c->space ? c->many : c->few;
}

typedef struct Race {
    Epoch earlier, later;
    bool found;
    bool stale; // the read need not see the write, whatever orders the two
} Race;

typedef struct Check { // of one access
    Warp *w;
    const Instr *i;
    const Access *access;
    Allocation *a; // or NULL: shared memory
    bool shared, restricted; // restricted: to one host thread
    bool by_barriers, by_all_lanes; // only barriers order, those of warps for all lanes: see Readers
    uint32_t floor, barrier; // the last one of the block, and of it or the warp
    uint32_t shared_words; // of a row that is read, those that other rows have
    uint32_t run, first_run; // as in a Line; what is older says nothing of what is written in shared memory either
    Epoch epoch;
    Race race;
} Check;

// ---- Which accesses conflict

static bool writes(const Epoch *e)
{
    return e->kind != PLAIN_READ && e->kind != STRONG_READ && e->kind != SOURCE_UNDER_WAY;
}

static bool is_strong(const Epoch *e)
{
    return e->kind == ATOMIC_UPDATE || e->kind == STRONG_READ || e->kind == STRONG_WRITE;
}

static bool reaches(const Instr *i, const Epoch *a, const Epoch *b)
{
    return i->scope != BLOCK_SCOPE || a->block == b->block;
}

static bool is_real(uint8_t type)
{
    return type == F16 || type == BF16 || type == F32 || type == F64;
}

// Volatile accesses are strong in PTX, so that a race of them is none of its data races. But where lanes of a warp,
// or numbers in shared memory, rely on `volatile` alone, the order in which they run decides: that is what `volatile`
// hides. A flag that somebody waits for is none of these.
static bool relies_on_volatile(const Instr *i, const Epoch *a, const Epoch *b)
{
    return i->semantics == VOLATILE && ((a->block == b->block && a->warp == b->warp) || is_real(i->type));
}

// A volatile read, but none on which a branch depends, as one does on a flag, of what a volatile write left there with
// no fence since. Who looks again behind a fence may throw away what was read.
static bool reads_unfenced(const Check *check, const Instr *i, const Instr *j, const Epoch *a)
{
    return i->semantics == VOLATILE && j->semantics == VOLATILE && a->kind == STRONG_WRITE &&
           check->epoch.kind == STRONG_READ && !sim_has_fenced(check->w, a) && !sim_is_asked(check->w, j) &&
           !(j->loop & LOOKS_AGAIN);
}

// Atomic operations of different widths are none for each other; of two volatile writes one is lost.
__attribute__((noinline)) // it is rare
static bool strong_conflict(const Check *check, const Epoch *a, const Epoch *b)
{
    const Instr *i = sim_instruction_at(a->site), *j = sim_instruction_at(b->site);
    const bool other_width = i->kind == ATOMIC && j->kind == ATOMIC && i->bytes != j->bytes;
    const bool lost_update = i->semantics == VOLATILE && j->semantics == VOLATILE && writes(a) && writes(b);
    const bool awaited = (i->loop | j->loop) & AWAITED;
    return !reaches(i, a, b) || !reaches(j, a, b) || other_width || lost_update || reads_unfenced(check, i, j, a) ||
           (check->shared && !awaited && (relies_on_volatile(i, a, b) || relies_on_volatile(j, a, b)));
}

static bool conflict(const Check *check, const Epoch *a, const Epoch *b)
{
    if (!(a->bytes & b->bytes) || !(writes(a) || writes(b)))
        return false;
    const bool same_update = a->kind == ATOMIC_UPDATE && a->site == b->site && a->kind == b->kind;
    if (same_update && check->i->site == b->site && check->i->scope != BLOCK_SCOPE) // as of a histogram: at once
        return false;
    return !is_strong(a) || !is_strong(b) || strong_conflict(check, a, b);
}

// Whether what conflicts with a conflicts with b, too.
static bool covers(const Epoch *b, const Epoch *a)
{
    return (a->bytes & ~b->bytes) == 0 &&
           (b->kind == PLAIN_WRITE || b->kind == a->kind || (b->kind == ATOMIC_UPDATE && is_strong(a)));
}

// ---- What is said of a race

static const char *verb_of(const Instr *i, const Epoch *e)
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

static void say_between(const Program *program, const Instr *i, const Instr *j, char *between, size_t space)
{
    const int one = line_of(i->statement), two = line_of(j->statement);
    const int low = one < two ? one : two, high = one < two ? two : one;
    if (low <= 0 || file_of(i->statement) != file_of(j->statement))
        snprintf(between, space, "between them");
    else if (low == high)
        snprintf(between, space, "between two executions of line %d, or its index reaches another thread's part", low);
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

// Whether a lane stores what lies there already.
static bool stores_same(const Check *check, int lane)
{
    const Instr *i = check->i;
    bool same = i->kind == STORE;
    for (int k = 0; same && k < i->count; k++)
        same = memcmp(check->w->lanes + i->list[k] + (size_t)lane * i->register_bytes,
                      check->access->pointer[lane] + (size_t)k * i->bytes, i->bytes) == 0;
    return same;
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

static void hint_of(const Race *race, const Program *program, const Instr *i, const Instr *j, bool shared, bool same,
                    char *hint, size_t space)
{
    const Epoch *a = &race->earlier, *b = &race->later;
    const bool same_block = a->block == b->block, same_warp = same_block && a->warp == b->warp;
    const bool both_strong = is_strong(a) && is_strong(b);
    char between[120];
    // What was copied further up is awaited in the same turn.
    const bool copied_above = is_under_way(a) && line_of(i->statement) < line_of(j->statement);
    say_between(copied_above ? NULL : program, i, j, between, sizeof between);
    if (is_under_way(a) && !begins_behind(program, i, j))
        snprintf(hint, space, "the copy may still be under way: nobody has waited for it %s", between);
    else if (is_under_way(a) || is_under_way(b))
        snprintf(hint, space, "the copy begins while others may still use these bytes: a barrier is missing before it");
    else if (both_strong && (!reaches(i, a, b) || !reaches(j, a, b)))
        snprintf(hint, space, "an atomic operation of block scope (_block) is none for the threads of another block");
    else if (both_strong && same_block)
        snprintf(hint, space, "volatile orders nothing: no __syncwarp() or __syncthreads() %s", between);
    else if (both_strong)
        snprintf(hint, space, "volatile orders nothing: no __threadfence() behind the write, before others are told");
    else if (is_strong(a) != is_strong(b))
        snprintf(hint, space, "one of them is atomic or volatile, the other is not; and nothing orders them %s",
                 between);
    else if (same && i == j && !is_loaded(program, i))
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

static void report(const Check *check)
{
    Warp *w = check->w;
    const Race *race = &check->race;
    const size_t bytes = check->access->bytes; // a bulk copy's say nothing of another access
    const Launch *launch = w->block->launch;
    char access[2][200], title[300], hint[400];
    Place places[2];
    const Epoch *epochs[] = {&race->earlier, &race->later};
    for (int k = 0; k < 2; k++) {
        const Instr *i = sim_instruction_at(epochs[k]->site);
        const bool same_size = i == check->i || (i->kind != BULK_COPY && check->i->kind != BULK_COPY);
        snprintf(access[k], sizeof access[k], "%s ", verb_of(i, epochs[k]));
        if (same_size)
            snprintf(access[k] + strlen(access[k]), 60, "%zu byte%s of ", bytes, bytes == 1 ? "" : "s");
        strcat(access[k], check->shared ? "shared memory" : "global memory");
        const bool same_warp = race->earlier.block == race->later.block && race->earlier.warp == race->later.warp;
        const uint32_t lanes =
            k == 0 && same_warp ? race->earlier.lanes & ~race->later.lanes : epochs[k]->lanes; // another lane
        const uint32_t thread =
            (uint32_t)epochs[k]->warp * LANES + (uint32_t)__builtin_ctz(lanes ? lanes : epochs[k]->lanes);
        places[k] = sim_place_of(launch, epochs[k]->block, thread, i, access[k]);
    }
    const bool same_block = race->earlier.block == race->later.block;
    snprintf(title, sizeof title, "two threads%s use the same bytes, one of them writes, and nothing orders them",
             !same_block ? " of different blocks" : race->earlier.warp == race->later.warp ? " of a warp" : "");
    hint_of(race, launch->kernel->program, sim_instruction_at(race->earlier.site),
            sim_instruction_at(race->later.site), check->shared,
            stores_same(check, __builtin_ctz(race->later.lanes)), hint, sizeof hint);
    if (race->stale) {
        snprintf(title, sizeof title, "a load for memory that is only read need not see what its own kernel has written");
        snprintf(hint, sizeof hint,
                 "__ldg, and what is read through a pointer that is const and __restrict__ (ld.global.nc): "
                 "while the kernel runs nobody may write it");
    }
    sim_add_finding(check->shared ? RACE_SHARED : RACE_GLOBAL, title, places, 2, hint);
}

// ---- Cells

static void insert(Cell *c, const Epoch *e)
{
    if (c->count == MOST_IN_CELL) { // forget the second: the first is often the write
        memmove(&c->many[1], &c->many[2], (MOST_IN_CELL - 2) * sizeof *c->many);
        c->count--;
    }
    if (c->count == (c->space ? c->space : IN_CELL)) {
        const uint8_t space = c->space ? MOST_IN_CELL : 3 * IN_CELL;
        Epoch *many = realloc(c->many, space * sizeof *many);
        if (!many)
            sim_die("out of memory for the readers of a word");
        if (!c->space)
            memcpy(many, c->few, sizeof c->few);
        c->many = many;
        c->space = space;
    }
    epochs_of(c)[c->count++] = *e;
}

// Whether two lanes store the same value: by their registers, in the execution that is under way.
static bool store_same_value(const Check *check, int lane, int other)
{
    const Instr *i = check->i;
    for (int k = 0; k < i->count; k++) {
        const uint8_t *lanes = check->w->lanes + i->list[k];
        const size_t bytes = i->register_bytes;
        if (memcmp(lanes + (size_t)other * bytes, lanes + (size_t)lane * bytes, i->bytes) != 0)
            return false;
    }
    return true;
}

// Whether other lanes, in the same execution of the instruction, wrote the same value there: one of them is written
// then, and it is the same.
static bool same_value(const Check *check, int lane, const Epoch *a)
{
    const Access *access = check->access;
    if (a->site != check->epoch.site || a->time != check->epoch.time || a->block != check->epoch.block ||
        a->warp != check->epoch.warp || check->i->kind != STORE || (a->lanes & ~access->mask))
        return false;
    for (uint32_t rest = a->lanes; rest; rest &= rest - 1) {
        const int other = __builtin_ctz(rest);
        if (access->address[other] != access->address[lane] || !store_same_value(check, lane, other))
            return false;
    }
    return true;
}

// Whether the lane has updated the word itself since another one wrote it atomically, or has waited for what it wrote
// before it writes in turn: all agree in which order these were. What a full cell has forgotten counts as waited for.
static bool has_taken(const Check *check, Cell *c, int k, const Epoch *e)
{
    const Epoch *all = epochs_of(c);
    const bool both_write = all[k].kind == STRONG_WRITE && e->kind == STRONG_WRITE;
    if (all[k].kind != ATOMIC_UPDATE && all[k].kind != STRONG_WRITE)
        return false;
    for (int later = k + 1; later < c->count; later++) {
        const Epoch *a = &all[later];
        const bool own = a->block == e->block && a->warp == e->warp && a->lanes & e->lanes;
        if (own && (a->kind == ATOMIC_UPDATE ||
                    (both_write && a->kind == STRONG_READ && sim_has_awaited(check->w, a))))
            return true;
    }
    return both_write && c->count == MOST_IN_CELL;
}

// Whether a copy of the warp has come by this; which of its lanes had begun it, the caller asks.
static bool is_own_copy(const Check *check, const Epoch *a, const Epoch *e)
{
    return a->kind == COPY_UNDER_WAY && (e->kind == PLAIN_WRITE || e->kind == COPY_UNDER_WAY) &&
           check->i->kind != STORE && check->i->kind != ASYNC_COPY && check->i->kind != BULK_COPY &&
           a->block == e->block && a->warp == e->warp;
}

// Whether the lane has waited by this until its copy had read all of its source.
static bool ends_copy(const Check *check, const Epoch *a, const Epoch *e)
{
    return a->kind == SOURCE_UNDER_WAY && check->i->kind == AWAIT_BULK && a->block == e->block &&
           a->warp == e->warp && a->lanes & e->lanes;
}

// Whether a lane of an access races with what a cell tells of.
static bool races(const Check *check, Cell *c, int k, Epoch e, int lane)
{
    const Epoch *a = &epochs_of(c)[k];
    e.lanes = 1u << lane;
    const bool own_copy = a->lanes == e.lanes && is_own_copy(check, a, &e);
    return !own_copy && !has_taken(check, c, k, &e) && !sim_happened_before(check->w, check->i, lane, a) &&
           !same_value(check, lane, a);
}

// Whether lanes' access may race with an earlier one: quickly.
static bool may_race(const Check *check, const Epoch *a, const Epoch *e)
{
    return conflict(check, a, e) && !sim_lanes_know(check->w, check->i, e->lanes, a);
}

// Looks for a race of lanes' access with what the cell tells of.
static void check_epochs(Check *check, Cell *c, const Epoch *e)
{
    const Epoch *all = epochs_of(c);
    for (int k = 0; k < c->count && !check->race.found; k++)
        for (uint32_t rest = may_race(check, &all[k], e) ? e->lanes : 0; rest && !check->race.found; rest &= rest - 1)
            if (races(check, c, k, *e, __builtin_ctz(rest))) {
                check->race = (Race){all[k], *e, true, false};
                check->race.later.lanes = rest & -rest;
            }
}

// Some lanes' access of one word, or of these bytes of it.
static void check_word(Check *check, Cell *c, uint32_t lanes, unsigned bytes)
{
    Epoch e = check->epoch, *all = epochs_of(c);
    e.lanes = lanes;
    e.bytes = bytes & 15;
    check_epochs(check, c, &e);
    bool merged = false;
    int kept = 0;
    for (int k = 0; k < c->count; k++) {
        Epoch *a = &all[k];
        const bool same_warp = a->block == e.block && a->warp == e.warp;
        const bool alike = same_warp && a->kind == e.kind && a->bytes == e.bytes && a->time == e.time;
        if (alike && is_strong(&e)) { // it becomes the last: has_taken asks who came behind a write
            e.lanes |= a->lanes;
            a->lanes = 0;
        } else if (alike && !merged) {
            a->lanes |= e.lanes;
            merged = true;
        } else if ((same_warp || e.kind == PLAIN_WRITE) && covers(&e, a)) {
            a->lanes = e.kind == PLAIN_WRITE ? 0 : a->lanes & ~e.lanes;
        } else if (ends_copy(check, a, &e)) {
            a->lanes &= ~e.lanes;
        }
        if (a->lanes && kept++ < k)
            all[kept - 1] = *a;
    }
    c->count = (uint8_t)kept;
    if (!merged)
        insert(c, &e);
}

// ---- Lines

static Row *row_at(Line *line, int k)
{
    return k == 0 ? &line->first : &line->more->rows[k - 1];
}

// The line's memory beyond itself, with room for so many more rows.
static struct More *grow(const Check *check, Line *line, uint8_t rows)
{
    struct More *more = line->more;
    if (more && line->space >= rows)
        return more;
    line->more = realloc(more, sizeof *more + rows * sizeof *more->rows);
    if (!line->more)
        sim_die("out of memory for the uses of a line of memory");
    if (!more)
        memset(line->more, 0, sizeof *more);
    line->space = rows;
    if (check->a)
        atomic_store_explicit(&check->a->lines_grew, true, memory_order_relaxed);
    return line->more;
}

static bool same_shape(const Row *a, const Row *r)
{
    return a->origin == r->origin && a->stride == r->stride && a->size == r->size;
}

// Whether a word, or byte, of an access and of an earlier row is the same thread's in both.
static bool is_alike(const Check *check, const Row *a, const Row *r)
{
    if (a->epoch.block != r->epoch.block || a->epoch.warp != r->epoch.warp || a->stride != r->stride)
        return false;
    if (a->stride == ONE_PLACE)
        return a->epoch.lanes == r->epoch.lanes && !(a->epoch.lanes & (a->epoch.lanes - 1)) &&
               (r->size == 4 ? a->size == 4 : same_shape(a, r));
    if (a->size < 4 || r->size < 4)
        return same_shape(a, r);
    // Threads with a piece each, of which an access takes a part: the row has a longer one, from its origin on.
    const int further = r->origin - a->origin;
    return further == 0 || (further > 0 && further + (int)check->access->bytes <= (int)a->stride);
}

// Whether lanes of a warp that read one place are all among those that read it now.
static bool read_again(const Row *a, const Row *r)
{
    return a->stride == ONE_PLACE && r->stride == ONE_PLACE && a->epoch.block == r->epoch.block &&
           a->epoch.warp == r->epoch.warp && !(a->epoch.lanes & ~r->epoch.lanes) && a->size == 4 && r->size == 4;
}

static uint32_t lanes_at(const Row *r, int word) // who is at a word of the line, if whole ones are accessed
{
    return r->stride == ONE_PLACE ? r->epoch.lanes : 1u << ((uint32_t)(4 * word - r->origin) / r->stride & 31);
}

static uint32_t lanes_at_byte(const Row *r, int byte)
{
    const int further = byte - r->origin;
    if (r->size == 4)
        return lanes_at(r, byte / 4);
    if (r->stride == ONE_PLACE)
        return further >= 0 && further < (int)r->size ? r->epoch.lanes : 0;
    if (further < 0 || further / (int)r->stride >= LANES || further % (int)r->stride >= (int)r->size)
        return 0;
    return 1u << further / (int)r->stride & r->epoch.lanes;
}

// What a row tells of a word, into the word's cell.
static void insert_word(Cell *c, const Row *r, int word)
{
    Epoch e = r->epoch;
    if (r->size == 4) {
        e.lanes = lanes_at(r, word);
        e.bytes = 15;
        insert(c, &e);
        return;
    }
    for (int k = 0; k < 4; k += (int)r->size) {
        e.lanes = lanes_at_byte(r, 4 * word + k);
        e.bytes = ((1u << r->size) - 1) << k & 15;
        if (e.lanes)
            insert(c, &e);
    }
}

// Gives the line cells in place of rows.
static void split(const Check *check, Line *line)
{
    struct More *more = grow(check, line, line->space);
    more->cells = more->cells ? more->cells : calloc(WORDS, sizeof *more->cells);
    if (!more->cells)
        sim_die("out of memory for the uses of a line of memory");
    for (int n = 0; n < WORDS; n++) {
        more->cells[n].count = 0;
        for (int k = 0; k < line->count; k++)
            if (row_at(line, k)->words >> n & 1)
                insert_word(&more->cells[n], row_at(line, k), n);
    }
    line->count = 0;
    line->apart = true;
}

// As large as a line of the host's cache each, and so they lie. What calloc gave stands before them.
Line *sim_new_lines(size_t bytes)
{
    uint8_t *memory = calloc((bytes + LINE_BYTES - 1) / LINE_BYTES + 1, sizeof(Line));
    if (!memory)
        sim_die("out of memory for the checker's lines of memory");
    Line *lines = (Line *)(memory + sizeof *lines - (uintptr_t)memory % sizeof *lines);
    ((void **)lines)[-1] = memory;
    return lines;
}

void sim_free_lines(Line *lines, size_t bytes)
{
    for (size_t k = 0; lines && k < (bytes + LINE_BYTES - 1) / LINE_BYTES; k++) {
        Cell *cells = lines[k].more ? lines[k].more->cells : NULL;
        for (int n = 0; cells && n < WORDS; n++)
            free(cells[n].many);
        free(cells);
        free(lines[k].more);
    }
    free(lines ? ((void **)lines)[-1] : NULL);
}

// Waits until no other host thread uses the line, and forgets what it tells of earlier runs: in shared memory all of
// the block know by now that this came before, but for copies, which may still be under way.
static void take(const Check *check, Line *line)
{
    while (!check->restricted && atomic_exchange_explicit(&line->busy, 1, memory_order_acquire))
        ;
    if (line->run == check->run)
        return;
    const bool of_this_block = check->shared && line->run >= check->first_run;
    __atomic_store_n(&line->common, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&line->run, check->run, __ATOMIC_RELEASE);
    if (of_this_block && line->copies)
        return;
    line->count = 0;
    line->apart = line->copies = line->others = false;
    if (check->shared && !of_this_block)
        line->written[0] = line->written[1] = 0;
}

static void leave(const Check *check, Line *line)
{
    if (!check->restricted)
        atomic_store_explicit(&line->busy, 0, memory_order_release);
}

// Looks for a race of lanes with an earlier row of which not all lanes know, in a word or byte of both.
static void check_lanes_of_rows(Check *check, const Row *a, const Row *r, uint32_t earlier_lanes, uint32_t lanes)
{
    Epoch earlier = a->epoch, later = r->epoch;
    earlier.lanes = earlier_lanes;
    for (uint32_t rest = earlier_lanes ? lanes : 0; rest; rest &= rest - 1) {
        later.lanes = rest & -rest;
        const bool same = a->epoch.block == r->epoch.block && a->epoch.warp == r->epoch.warp &&
                          earlier.lanes == later.lanes &&
                          (!is_under_way(&a->epoch) || is_own_copy(check, &a->epoch, &r->epoch));
        if (!same && !sim_happened_before(check->w, check->i, __builtin_ctz(rest), &earlier))
            check->race = (Race){earlier, later, true, false};
    }
}

static void check_words(Check *check, const Row *a, const Row *r)
{
    const int step = a->size == 4 && r->size == 4 ? 4 : 1;
    for (uint32_t words = a->words & r->words; words && !check->race.found; words &= words - 1)
        for (int at = 4 * __builtin_ctz(words), end = at + 4; at < end && !check->race.found; at += step)
            check_lanes_of_rows(check, a, r, lanes_at_byte(a, at), lanes_at_byte(r, at));
}

// Where both are one instruction's at one time, as of a thread that goes through an array, one row tells of both.
static inline bool merge(const Check *check, Row *a, const Row *r)
{
    const bool same_time = a->epoch.time == r->epoch.time && a->epoch.site == r->epoch.site;
    const bool same_lanes = a->epoch.lanes == r->epoch.lanes && a->epoch.kind == PLAIN_READ && read_again(a, r);
    if (!same_time || is_under_way(&a->epoch) || !(same_lanes || is_alike(check, a, r)))
        return false;
    a->words |= r->words;
    a->whole &= r->whole;
    a->epoch.lanes |= r->epoch.lanes;
    return true;
}

static void add_row(const Check *check, Line *line, const Row *r)
{
    if (line->count > line->space)
        grow(check, line, (uint8_t)(2 * line->space + 1));
    *row_at(line, line->count++) = *r;
}

// Whether check_words is worth while. In rows that are alike each word is one thread's.
static bool rows_may_race(const Check *check, const Row *a, const Row *r, bool alike)
{
    if (!(a->words & r->words) || !conflict(check, &a->epoch, &r->epoch))
        return false;
    if (alike && (!is_under_way(&a->epoch) || is_own_copy(check, &a->epoch, &r->epoch)))
        return false;
    return !sim_warp_knows(check->w, &a->epoch) &&
           !sim_lanes_know(check->w, check->i, r->epoch.lanes, &a->epoch);
}

// Leaves out what need not be kept of a row that is read: words that threads of two blocks have read, too, or of two
// warps since. See Readers.
static void thin_out(Line *line, Row *a)
{
    uint32_t blocks = 0, block = 0, warps = 0, warp = 0;
    for (int k = 0; k < line->count; k++) {
        const Row *b = row_at(line, k);
        if (b == a || b->epoch.kind != PLAIN_READ || !b->whole)
            continue;
        *(b->epoch.block == a->epoch.block ? &block : &blocks) |= b->words;
        if (b->epoch.block == a->epoch.block && b->epoch.time >= a->epoch.time)
            *(b->epoch.warp == a->epoch.warp ? &warp : &warps) |= b->words;
    }
    a->words &= ~(blocks & block) & ~(warps & warp);
}

static void drop_empty_rows(Line *line)
{
    int kept = 0;
    for (int k = 0; k < line->count; k++)
        if (row_at(line, k)->words && kept++ < k)
            *row_at(line, kept - 1) = *row_at(line, k);
    line->count = (uint8_t)kept;
}

static bool make_room(const Check *check, Line *line)
{
    for (int k = 0; k < line->count && check->by_barriers; k++)
        if (row_at(line, k)->epoch.kind == PLAIN_READ)
            thin_out(line, row_at(line, k));
    drop_empty_rows(line);
    return line->count < ROWS;
}

// Looks for races with an earlier row, and takes from it what later ones need not know of it.
static void check_against(Check *check, Row *a, const Row *r)
{
    const bool alike = is_alike(check, a, r), same_lanes = alike || (r->epoch.kind == PLAIN_READ && read_again(a, r));
    if (rows_may_race(check, a, r, alike))
        check_words(check, a, r);
    const bool whole = r->whole || (alike && !(a->epoch.lanes & ~r->epoch.lanes) && !(a->words & ~r->words));
    const bool replaced = whole && covers(&r->epoch, &a->epoch) && (r->epoch.kind == PLAIN_WRITE || same_lanes);
    if (replaced || ends_copy(check, &a->epoch, &r->epoch))
        a->words &= ~r->words;
}

static bool is_same_warp(const Epoch *a, const Epoch *b)
{
    return a->warp == b->warp && a->block == b->block;
}

// Whether the same threads have read all this since they last came to a barrier: whoever knows of that, knows of this.
static inline bool has_read(const Check *check, const Row *a, const Row *r)
{
    return a->epoch.time > check->barrier && check->by_all_lanes && a->whole && !(r->words & ~a->words) &&
           is_alike(check, a, r) && !(r->epoch.lanes & ~a->epoch.lanes);
}

// Whether a row tells already what lanes read of a line that all only read, or does so from now on, and it is the only
// one.
static inline bool is_in_own_row(const Check *check, Line *line, const Row *r)
{
    for (int k = 0; k < line->count; k++)
        if (is_same_warp(&row_at(line, k)->epoch, &r->epoch) && has_read(check, row_at(line, k), r))
            return true;
    return line->count == 1 && merge(check, &line->first, r);
}

// An access by lanes in a row: looks for races, and keeps it. False if the line has no room for it.
static bool check_row(Check *check, Line *line, const Row *r)
{
    const bool only_reads = !line->others && r->epoch.kind == PLAIN_READ;
    bool empty = false, merged = false;
    check->shared_words = only_reads ? 0 : ALL_LANES;
    for (int k = 0; k < line->count && only_reads; k++) {
        Row *a = row_at(line, k);
        check->shared_words |= a->words & r->words;
        merged |= !merged && is_same_warp(&a->epoch, &r->epoch) && merge(check, a, r);
    }
    if (merged || (line->count == 1 && merge(check, &line->first, r)))
        return true;
    for (int k = 0; k < line->count; k++) {
        Row *a = row_at(line, k);
        if (only_reads && !is_same_warp(&a->epoch, &r->epoch))
            continue;
        check_against(check, a, r);
        empty |= !a->words;
    }
    if (empty)
        drop_empty_rows(line);
    for (int k = 0; k < line->count && !only_reads; k++)
        if (merge(check, row_at(line, k), r))
            return true;
    if (line->count == ROWS && !make_room(check, line))
        return false;
    add_row(check, line, r);
    return true;
}

// ---- Many readers

// The words of both rows, of one warp, that have two lanes for readers.
static uint32_t words_of_two(const Row *a, const Row *r)
{
    const uint32_t both = a->words & r->words;
    uint32_t two = 0;
    if (a->size < 4 || r->size < 4 || (a->stride != ONE_PLACE && same_shape(a, r)))
        return 0;
    if (a->stride == ONE_PLACE && a->epoch.lanes & (a->epoch.lanes - 1))
        return both;
    if (a->stride == r->stride && a->stride != ONE_PLACE && (uint32_t)abs(a->origin - r->origin) >= a->stride)
        return both;
    for (uint32_t rest = both; rest; rest &= rest - 1)
        two |= lanes_at(a, __builtin_ctz(rest)) != lanes_at(r, __builtin_ctz(rest)) ? rest & -rest : 0;
    return two;
}

// Of these readers, who have read so many words since a barrier.
static void add_readers(Readers *readers, const Readers *more)
{
    if (readers->run == more->run && readers->block == more->block && readers->warp == more->warp &&
        readers->since == more->since)
        readers->words |= more->words;
    else
        *readers = *more;
}

static void add_common(Line *line, uint32_t words)
{
    __atomic_store_n(&line->common, line->common | words, __ATOMIC_RELAXED);
}

// A row that has been read is in the line now: which of its words have two readers.
static void note_readers(const Check *check, Line *line, const Row *r)
{
    uint32_t blocks = 0, warps = 0, lanes = 0, written = 0, by_others = 0; // by_others: not known to all of the block
    for (int k = 0; k < line->count; k++) {
        const Row *a = row_at(line, k);
        const Epoch *e = &a->epoch;
        const bool own_block = e->block == r->epoch.block, known = own_block && e->time <= check->floor;
        if (e->kind != PLAIN_READ) {
            written |= a->words;
            by_others |= known && !is_under_way(e) ? 0 : a->words;
        } else if (a->whole && !own_block) {
            blocks |= a->words;
        } else if (a->whole && !known && e->warp != r->epoch.warp) {
            warps |= a->words;
        } else if (!known && e->warp == r->epoch.warp && e->time > check->barrier) {
            lanes |= words_of_two(a, r);
        }
    }
    add_common(line, r->words & (check->shared ? warps : blocks) & ~written);
    warps &= r->words & ~by_others;
    lanes &= r->words & ~by_others;
    const uint32_t run = check->run, block = r->epoch.block;
    if (warps && line->more)
        add_readers(&line->more->warps, &(Readers){warps, run, block, 0, check->floor});
    if (lanes && line->more && check->by_all_lanes)
        add_readers(&line->more->lanes, &(Readers){lanes, run, block, r->epoch.warp, check->barrier});
}

// The same of a line with cells.
static void note_readers_of_cells(const Check *check, Line *line, const Row *r)
{
    for (uint32_t rest = r->whole ? r->words & ~line->common : 0; rest; rest &= rest - 1) {
        Cell *c = &line->more->cells[__builtin_ctz(rest)];
        bool two = false, written = false;
        for (int k = 0; k < c->count; k++) {
            const Epoch *e = &epochs_of(c)[k];
            written |= e->kind != PLAIN_READ;
            two |= e->bytes == 15 && (check->shared ? e->warp != r->epoch.warp && e->time > check->floor
                                                    : e->block != r->epoch.block);
        }
        if (two && !written)
            add_common(line, rest & -rest);
    }
}

// Others than readers come.
static void forget_readers(Line *line, uint32_t words)
{
    __atomic_store_n(&line->common, line->common & ~words, __ATOMIC_RELAXED);
    if (line->more) {
        line->more->warps.words &= ~words;
        line->more->lanes.words &= ~words;
    }
}

// Whether each of these words has been read by two threads, so that one more says nothing new. The line need not be
// taken: who writes it afterwards finds the two.
static inline bool is_common(const Check *check, const Line *line, uint32_t words)
{
    return __atomic_load_n(&line->run, __ATOMIC_ACQUIRE) == check->run &&
           !(words & ~__atomic_load_n(&line->common, __ATOMIC_RELAXED));
}

// The row's words of which one more reader says something new. The line is taken.
static uint32_t words_to_note(const Check *check, const Line *line, const Row *r)
{
    const struct More *more = line->more;
    const Row *a = &line->first;
    uint32_t words = r->words & ~line->common;
    if (line->count == 1 && check->by_all_lanes && a->epoch.kind == PLAIN_READ && a->stride == ONE_PLACE &&
        a->epoch.block == r->epoch.block && a->epoch.warp == r->epoch.warp &&
        a->epoch.time > check->barrier && a->epoch.lanes & (a->epoch.lanes - 1) && a->size == 4)
        words &= ~a->words;
    if (more && more->warps.run == check->run && more->warps.block == r->epoch.block && more->warps.since == check->floor)
        words &= ~more->warps.words;
    if (more && more->lanes.run == check->run && more->lanes.block == r->epoch.block && more->lanes.warp == r->epoch.warp &&
        more->lanes.since == check->barrier)
        words &= ~more->lanes.words;
    return words;
}

// ---- What nobody wrote

static void bits_of(uint64_t bits[2], unsigned first, unsigned count)
{
    for (int half = 0; half < 2; half++) {
        const unsigned begin = first > 64u * (unsigned)half ? first - 64u * (unsigned)half : 0;
        const unsigned last = first + count, end = last > 64u * (unsigned)half ? last - 64u * (unsigned)half : 0;
        const uint64_t below = begin >= 64 ? ~0ull : (1ull << begin) - 1, until = end >= 64 ? ~0ull : (1ull << end) - 1;
        bits[half] = until & ~below;
    }
}

// A part of an access that lies in one line: sets the lane's bytes that nobody wrote, or marks them as written.
static void check_written(Access *access, Line *line, int lane, unsigned first, unsigned count, unsigned done,
                          bool writing)
{
    uint64_t bits[2];
    bits_of(bits, first, count);
    if (writing) {
        line->written[0] |= bits[0];
        line->written[1] |= bits[1];
        return;
    }
    if ((bits[0] & ~line->written[0]) == 0 && (bits[1] & ~line->written[1]) == 0)
        return;
    if (!access->has_unwritten)
        memset(access->unwritten, 0, sizeof access->unwritten);
    access->has_unwritten = true;
    for (unsigned k = 0; k < count; k++)
        if (!(line->written[(first + k) / 64] >> (first + k) % 64 & 1))
            access->unwritten[lane] |= 1u << ((done + k) & 31);
}

static Line *lines_of(Allocation *a)
{
    Line *known = __atomic_load_n(&a->lines, __ATOMIC_ACQUIRE);
    if (known)
        return known;
    Line *lines = sim_new_lines(a->bytes);
    sim_prefer_large_pages(lines, a->bytes / LINE_BYTES * sizeof *lines);
    if (__atomic_compare_exchange_n(&a->lines, &known, lines, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return lines;
    sim_free_lines(lines, 0);
    return known; // another host thread was first
}

static bool starts_unwritten(const Allocation *a)
{
    return a->kind == DEVICE_MEMORY || a->kind == HEAP_MEMORY || a->kind == GRAPH_MEMORY;
}

bool sim_starts_unwritten(uint64_t address)
{
    const Allocation *a = sim_allocation_at(address);
    return a && starts_unwritten(a) && address - a->address < a->bytes;
}

void sim_mark_written(uint64_t address, size_t bytes)
{
    Allocation *a = sim_checks() ? sim_allocation_at(address) : NULL;
    if (!a || !starts_unwritten(a) || address - a->address >= a->bytes)
        return;
    Line *lines = lines_of(a);
    size_t first = address - a->address;
    const size_t end = bytes < a->bytes - first ? first + bytes : a->bytes;
    while (first < end) {
        const unsigned in_line = (unsigned)(first % LINE_BYTES);
        const unsigned count = end - first < LINE_BYTES - in_line ? (unsigned)(end - first) : LINE_BYTES - in_line;
        check_written(NULL, &lines[first / LINE_BYTES], 0, in_line, count, 0, true);
        first += count;
    }
}

// The first of a line's bytes, from one on, that somebody wrote, or nobody; LINE_BYTES if there is none.
static unsigned find_in_line(const Line *line, unsigned from, bool written)
{
    for (unsigned half = from / 64; half < 2; half++) {
        const uint64_t bits = (written ? line->written[half] : ~line->written[half]) >> from % 64 << from % 64;
        if (bits)
            return half * 64 + (unsigned)__builtin_ctzll(bits);
        from = 0;
    }
    return LINE_BYTES;
}

// The first of these bytes of an allocation that somebody wrote, or nobody; `bytes` if there is none.
static size_t find_byte(const Line *lines, size_t first, size_t bytes, bool written)
{
    for (size_t at = first; at < first + bytes;) {
        const unsigned found = find_in_line(&lines[at / LINE_BYTES], (unsigned)(at % LINE_BYTES), written);
        at = at / LINE_BYTES * LINE_BYTES + found;
        if (found < LINE_BYTES)
            return at < first + bytes ? at - first : bytes;
    }
    return bytes;
}

static size_t find(uint64_t address, size_t bytes, bool written)
{
    Allocation *a = sim_checks() ? sim_allocation_at(address) : NULL;
    if (!a || !starts_unwritten(a) || address - a->address >= a->bytes)
        return written ? 0 : bytes;
    const size_t first = address - a->address, inside = bytes < a->bytes - first ? bytes : a->bytes - first;
    if (!a->lines)
        return written ? inside : 0;
    const size_t found = find_byte(a->lines, first, inside, written);
    return found == inside && !written ? bytes : found;
}

size_t sim_find_unwritten(uint64_t address, size_t bytes)
{
    return find(address, bytes, false);
}

size_t sim_find_written(uint64_t address, size_t bytes)
{
    return find(address, bytes, true);
}

// ---- An access

// Some lanes' bytes that lie in a line, which is taken: word by word.
static void check_lanes(Check *check, Line *line, uint32_t lanes, unsigned first, unsigned count)
{
    for (unsigned at = first; at < first + count;) {
        const unsigned part = at % 4, end = first + count - at < 4 - part ? first + count - at : 4 - part;
        check_word(check, &line->more->cells[at / 4], lanes, ((1u << end) - 1) << part);
        at += end;
    }
}

// Whether somebody wrote these words, each of four bytes.
static bool all_written(const Line *line, uint32_t words)
{
    if (line->written[0] == ~0ull && line->written[1] == ~0ull)
        return true;
    for (uint32_t rest = words; rest; rest &= rest - 1) {
        const int n = __builtin_ctz(rest);
        if ((line->written[n / 16] >> n % 16 * 4 & 15) != 15)
            return false;
    }
    return true;
}

static void mark_words(Line *line, uint32_t words)
{
    if (words == ALL_LANES)
        line->written[0] = line->written[1] = ~0ull;
    for (uint32_t rest = words == ALL_LANES ? 0 : words; rest; rest &= rest - 1)
        line->written[__builtin_ctz(rest) / 16] |= 15ull << __builtin_ctz(rest) % 16 * 4;
}

// Whether some words of a line, which a warp reads, tell nothing new, and somebody wrote them.
static inline bool tell_nothing(const Check *check, const Line *line, uint32_t words, bool values)
{
    return is_common(check, line, words) && (!values || all_written(line, words));
}

// The lanes of a row, all of whose bytes of whole words lie in this line, or a part of one lane's; the line is taken.
static void check_taken(Check *check, Access *access, Line *line, const Row *r, bool row, bool values)
{
    const bool writing = writes(&r->epoch), updates = r->epoch.kind == ATOMIC_UPDATE;
    line->copies |= is_under_way(&r->epoch);
    line->others |= r->epoch.kind != PLAIN_READ;
    const bool kept = row && !line->apart && check_row(check, line, r);
    const bool plain = kept && (!values || (writing ? r->whole : all_written(line, r->words)));
    if (plain && values && writing)
        mark_words(line, r->words);
    if (!kept && !line->apart)
        split(check, line);
    values = values && !all_written(line, r->words);
    for (uint32_t rest = plain ? 0 : r->epoch.lanes; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest), at = r->origin + l * (int)r->stride;
        const int begin = at > 0 ? at : 0,
                  end = at + (int)access->bytes < LINE_BYTES ? at + (int)access->bytes : LINE_BYTES;
        const bool all_here = r->stride == ONE_PLACE;
        if (!kept && (!all_here || rest == r->epoch.lanes))
            check_lanes(check, line, all_here ? rest : rest & -rest, (unsigned)begin, (unsigned)(end - begin));
        if (values && updates)
            check_written(access, line, l, (unsigned)begin, (unsigned)(end - begin), (unsigned)(begin - at), false);
        if (values)
            check_written(access, line, l, (unsigned)begin, (unsigned)(end - begin), (unsigned)(begin - at), writing);
    }
}

// The row's words are changed meanwhile.
static void check_in_line(Check *check, Access *access, Line *line, Row *r, bool row, bool values)
{
    const bool reads = check->by_barriers && r->epoch.kind == PLAIN_READ;
    const uint32_t words = r->words;
    if (reads && tell_nothing(check, line, words, values))
        return;
    take(check, line);
    if (reads && !line->apart && (!values || all_written(line, words))) {
        r->words = words_to_note(check, line, r);
        if (row && !line->others && r->words && is_in_own_row(check, line, r))
            r->words = 0;
    }
    const bool told = r->words != 0;
    if (told)
        check_taken(check, access, line, r, row, values);
    r->words = words;
    if (!reads)
        forget_readers(line, words);
    else if (line->apart)
        note_readers_of_cells(check, line, r);
    else if (told && line->count > 1 && r->whole && check->shared_words)
        note_readers(check, line, r);
    leave(check, line);
}

// The distance from one lane to the next, where it is the same for all, and one that a row can have; 0 if they are at
// one place; else -1.
static int64_t find_stride(const Access *access, uint32_t mask)
{
    const int first = __builtin_ctz(mask);
    const uint32_t others = mask & (mask - 1);
    if (access->pattern == CONSECUTIVE || others == 0)
        return (int64_t)access->bytes;
    if (access->pattern == ALL_SAME)
        return 0;
    const int second = __builtin_ctz(others);
    const int64_t apart = access->pointer[second] - access->pointer[first];
    const int64_t stride = apart / (second - first);
    if (apart < 0 || stride * (second - first) != apart || (stride && stride < (int64_t)access->bytes))
        return -1;
    for (uint32_t rest = others; rest; rest &= rest - 1)
        if (access->pointer[__builtin_ctz(rest)] - access->pointer[first] != stride * (__builtin_ctz(rest) - first))
            return -1;
    return stride;
}

// The row of an access by these lanes, of these words of a line.
static Row row_of(const Check *check, uint32_t lanes, uint32_t words, int64_t origin, int64_t stride)
{
    const size_t bytes = check->access->bytes;
    Row r = {.epoch = check->epoch, .words = words, .origin = (int32_t)origin, .stride = (uint32_t)stride & 0xffffff,
             .size = bytes < 4 ? (unsigned)bytes & 3 : 4, .whole = bytes % 4 == 0 && origin % 4 == 0};
    r.epoch.lanes = lanes;
    return r;
}

// The words of an element that lies in one line.
static uint32_t words_at(uint64_t offset, size_t bytes)
{
    const uint32_t words = bytes < 4 ? 1 : bytes == LINE_BYTES ? ALL_LANES : (1u << bytes / 4) - 1;
    return words << offset % LINE_BYTES / 4;
}

// Lanes in one place, wherever it is, of any size.
static void check_place(Check *check, Access *access, Line *lines, uint32_t mask, uint64_t offset, bool row,
                        bool values)
{
    for (uint64_t at = offset; at < offset + access->bytes; at = (at / LINE_BYTES + 1) * LINE_BYTES) {
        const uint64_t line = at / LINE_BYTES, end = offset + access->bytes < (line + 1) * LINE_BYTES
                                                         ? offset + access->bytes
                                                         : (line + 1) * LINE_BYTES;
        const unsigned first = (unsigned)(at % LINE_BYTES / 4), count = (unsigned)((end - at + 3) / 4);
        Row r = row_of(check, mask, (count == WORDS ? ALL_LANES : (1u << count) - 1) << first,
                             (int64_t)offset - (int64_t)(line * LINE_BYTES), ONE_PLACE);
        check_in_line(check, access, &lines[line], &r, row, values);
    }
}

// The lanes that follow the first, lie where it does, and do not conflict with it there, or store the same value.
static uint32_t lanes_beside_first(const Check *check, uint32_t mask)
{
    const Access *access = check->access;
    const EpochKind kind = check->epoch.kind;
    const bool store = check->i->kind == STORE;
    const bool together = store || kind == ATOMIC_UPDATE || kind == PLAIN_READ || kind == STRONG_READ;
    const int first = __builtin_ctz(mask);
    uint32_t beside = mask & -mask;
    for (uint32_t rest = together ? mask & (mask - 1) : 0; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        if (access->pointer[l] != access->pointer[first] || (store && !store_same_value(check, first, l)))
            break;
        beside |= rest & -rest;
    }
    return beside;
}

static uint32_t bits_between(unsigned first, unsigned end) // at most 32
{
    return (end >= 32 ? ALL_LANES : (1u << end) - 1) & ~((1u << first) - 1);
}

// So many lanes from the first one on, side by side: a row for each line.
static void check_dense_rows(Check *check, Access *access, Line *lines, int first_lane, unsigned count, int64_t offset,
                             bool values)
{
    const unsigned shift = (unsigned)__builtin_ctzll(access->bytes);
    const int64_t end = offset + ((int64_t)count << shift), base = offset - ((int64_t)first_lane << shift);
    Row r = row_of(check, 0, 0, 0, 1 << shift);
    for (int64_t line = offset / LINE_BYTES; line * LINE_BYTES < end; line++)
        __builtin_prefetch(&lines[line], 1);
    for (int64_t line = offset / LINE_BYTES; line * LINE_BYTES < end; line++) {
        const int64_t begin = line * LINE_BYTES, low = offset > begin ? offset : begin,
                      high = end < begin + LINE_BYTES ? end : begin + LINE_BYTES;
        const uint32_t lanes =
            bits_between((unsigned)((low - base) >> shift), (unsigned)((high - 1 - base) >> shift) + 1);
        r.epoch.lanes = lanes;
        r.words = bits_between((unsigned)(low - begin) / 4, (unsigned)(high - begin + 3) / 4);
        r.origin = (int32_t)(base - begin);
        r.whole = low % 4 == 0 && high % 4 == 0;
        check_in_line(check, access, &lines[line], &r, true, values);
    }
}

// Lanes whose places follow each other at a distance: a row for each line.
static void check_rows(Check *check, Access *access, Line *lines, uint32_t mask, int64_t base, int64_t stride,
                       bool values)
{
    uint32_t lanes = 0, words = 0;
    Row r = row_of(check, 0, 0, 0, stride);
    for (uint32_t rest = mask; rest;) {
        const int l = __builtin_ctz(rest);
        const int64_t offset = base + l * stride, line = offset / LINE_BYTES;
        lanes |= rest & -rest;
        words |= words_at((uint64_t)offset, access->bytes);
        rest &= rest - 1;
        if (rest && (base + __builtin_ctz(rest) * stride) / LINE_BYTES == line)
            continue;
        r.epoch.lanes = lanes;
        r.words = words;
        r.origin = (int32_t)(base - line * LINE_BYTES);
        check_in_line(check, access, &lines[line], &r, true, values);
        lanes = words = 0;
    }
}

// Whether each lane lies behind the one before, so that no two share a byte.
static bool is_rising(const Access *access, uint32_t mask)
{
    const uint8_t *end = NULL;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const uint8_t *p = access->pointer[__builtin_ctz(rest)];
        if (p < end)
            return false;
        end = p + access->bytes;
    }
    return true;
}

// The lanes that lie so many bytes behind the lane before.
static uint32_t lanes_behind(const Access *access, uint32_t mask, uint64_t bytes)
{
    uint32_t lanes = 0;
    for (int l = 1; l < LANES; l++)
        lanes |= (uint32_t)((uint64_t)(uintptr_t)access->pointer[l] - (uint64_t)(uintptr_t)access->pointer[l - 1] == bytes)
                 << l;
    return lanes & mask & mask << 1;
}

// How many lanes from the first one on follow each other in this way.
static unsigned count_run(uint32_t following, int first)
{
    const uint32_t others = ~(following >> first >> 1);
    return others ? (unsigned)__builtin_ctz(others) + 1 : LANES;
}

// The first of some lanes and those that follow it at a distance, in its line; returns these lanes.
static uint32_t check_piece(Check *check, Access *access, Line *lines, uint32_t mask, int64_t offset, bool values)
{
    const int first = __builtin_ctz(mask);
    const int64_t line = offset / LINE_BYTES;
    uint32_t lanes = mask & -mask, words = words_at((uint64_t)offset, access->bytes);
    int64_t stride = 0;
    for (uint32_t rest = mask & (mask - 1); rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        const int64_t apart = access->pointer[l] - access->pointer[first];
        if (stride == 0 && apart % (l - first) == 0)
            stride = apart / (l - first);
        if (stride < (int64_t)access->bytes || apart != stride * (l - first) || (offset + apart) / LINE_BYTES != line)
            break;
        lanes |= rest & -rest;
        words |= words_at((uint64_t)(offset + apart), access->bytes);
    }
    const bool alone = lanes == (mask & -mask);
    Row r = row_of(check, lanes, words, offset - line * LINE_BYTES - (alone ? 0 : first * stride),
                         alone ? ONE_PLACE : stride);
    check_in_line(check, access, &lines[line], &r, true, values);
    return lanes;
}

// Lanes wherever they are: rows for those that are in one place, side by side, or follow each other at a distance in
// one line.
static void check_pieces(Check *check, Access *access, Line *lines, uint32_t mask, const uint8_t *base, bool values)
{
    const uint32_t same = lanes_behind(access, mask, 0), next = lanes_behind(access, mask, access->bytes);
    for (uint32_t rest = mask, done; rest; rest &= ~done) {
        const int first = __builtin_ctz(rest);
        const int64_t offset = access->pointer[first] - base;
        const unsigned together = count_run(same, first), beside = count_run(next, first);
        done = bits_between((unsigned)first, (unsigned)first + (together > beside ? together : beside));
        if (together > 1) {
            Row r = row_of(check, done, words_at((uint64_t)offset, access->bytes), offset % LINE_BYTES, ONE_PLACE);
            check_in_line(check, access, &lines[offset / LINE_BYTES], &r, true, values);
        } else if (beside > 1) {
            check_dense_rows(check, access, lines, first, beside, offset, values);
        } else {
            done = check_piece(check, access, lines, rest, offset, values);
        }
    }
}

// ---- Arrays in shared memory

static void name_of(const Object *o, char *name, size_t space)
{
    char text[300];
    sim_readable_name(o->variable->name, text, sizeof text);
    const char *last = strrchr(text, ':'); // of reduce(float*)::sums
    snprintf(name, space, "array '%s'", last ? last + 1 : text);
}

// A lane's bytes lie in a gap, or partly: the launch ends.
static _Noreturn void leave_object(Warp *w, const Instr *i, const Access *access, int lane, uint64_t offset)
{
    const Launch *launch = w->block->launch;
    const Object *near = sim_object_at(launch, offset);
    for (uint64_t at = offset; near->bytes == 0 && at >= LINE_BYTES;)
        near = sim_object_at(launch, at -= LINE_BYTES); // the gap behind an array is as large as the array
    char name[320] = "the dynamic part";
    if (near->variable)
        name_of(near, name, sizeof name);
    const bool behind = offset >= near->address + near->bytes;
    if (near->bytes == 0 || offset < near->address)
        sim_fault(w, i, lane, cudaErrorIllegalAddress, "%zu bytes at 0x%llx of shared memory, where no array lies",
                  access->bytes, (unsigned long long)offset);
    sim_fault(
        w, i, lane, cudaErrorIllegalAddress,
        "%zu bytes %llu bytes %s the end of %s, which has %zu bytes of shared memory", access->bytes,
        (unsigned long long)(behind ? offset - near->address - near->bytes : near->address + near->bytes - offset),
        behind ? "behind" : "before", name, near->bytes);
}

static void check_object(Warp *w, const Instr *i, const Access *access, int lane, uint64_t offset)
{
    const Object *o = sim_object_at(w->block->launch, offset);
    if (offset < o->address || access->bytes > o->bytes || offset - o->address > o->bytes - access->bytes)
        leave_object(w, i, access, lane, offset);
}

// Of lanes in a row the outer ones will do, where both are in the same array.
static void check_objects(Warp *w, const Instr *i, const Access *access, uint32_t mask, uint64_t base, bool row)
{
    const int first = __builtin_ctz(mask), last = LANES - 1 - __builtin_clz(mask);
    const uint64_t low = (uint64_t)(uintptr_t)access->pointer[first] - base,
                   high = (uint64_t)(uintptr_t)access->pointer[last] - base;
    check_object(w, i, access, first, low);
    check_object(w, i, access, last, high);
    const bool same = sim_object_at(w->block->launch, low)->address == sim_object_at(w->block->launch, high)->address;
    for (uint32_t rest = row && same ? 0 : mask; rest; rest &= rest - 1)
        check_object(w, i, access, __builtin_ctz(rest),
                     (uint64_t)(uintptr_t)access->pointer[__builtin_ctz(rest)] - base);
}

// ---- Loads for memory that is only read

// Who wrote these bytes of a line, which is taken, in this run.
static const Epoch *find_writer(Line *line, unsigned first, unsigned count, uint32_t *lanes)
{
    for (unsigned at = first; at < first + count; at++) {
        const unsigned n = at / 4;
        for (int k = 0; !line->apart && k < line->count; k++) {
            const Row *r = row_at(line, k);
            *lanes = lanes_at_byte(r, (int)at);
            if (writes(&r->epoch) && r->words >> n & 1 && *lanes)
                return &r->epoch;
        }
        for (int k = 0; line->apart && k < line->more->cells[n].count; k++) {
            const Epoch *e = &epochs_of(&line->more->cells[n])[k];
            *lanes = e->lanes;
            if (writes(e) && e->bytes >> at % 4 & 1)
                return e;
        }
    }
    return NULL;
}

static void check_read_only(Check *check, Line *lines, uint32_t mask, const uint8_t *base)
{
    for (uint32_t rest = mask; rest && !check->race.found; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        const uint64_t first = (uint64_t)(check->access->pointer[l] - base); // aligned: in one line
        Line *line = &lines[first / LINE_BYTES];
        uint32_t lanes;
        take(check, line);
        const unsigned in_line = (unsigned)(first % LINE_BYTES), bytes = (unsigned)check->access->bytes;
        const Epoch *writer = find_writer(line, in_line, bytes, &lanes);
        if (writer) {
            check->race = (Race){*writer, check->epoch, .found = true, .stale = true};
            check->race.earlier.lanes = lanes;
            check->race.later.lanes = 1u << l;
        }
        leave(check, line);
    }
}

EpochKind sim_epoch_kind(const Instr *i, const Access *access)
{
    const bool strong = i->semantics != WEAK;
    switch (access->kind) {
    case ACCESS_READ: return strong ? STRONG_READ : PLAIN_READ;
    case ACCESS_WRITE: return strong ? STRONG_WRITE : PLAIN_WRITE;
    case ACCESS_ATOMIC: return ATOMIC_UPDATE;
    case ACCESS_ASYNC_READ: return access->space == SHARED ? SOURCE_UNDER_WAY : PLAIN_READ;
    default: return access->space == SHARED ? COPY_UNDER_WAY : PLAIN_WRITE;
    }
}

// Lanes that lie anyhow: those in one place together where their accesses do not conflict, else each by itself.
static void check_anywhere(Check *check, Access *access, Line *lines, uint32_t mask, const uint8_t *base, bool row,
                           bool values)
{
    const bool store = check->i->kind == STORE, several = mask & (mask - 1),
               alone = !several && !(store && mask != access->mask);
    if (store && several) { // so that same_value knows this execution from all others
        sim_advance_time(check->w->block);
        check->epoch.time = sim_time(check->w->block);
    }
    for (uint32_t rest = mask, some; rest; rest &= ~some) {
        some = lanes_beside_first(check, rest);
        check_place(check, access, lines, some, (uint64_t)(access->pointer[__builtin_ctz(rest)] - base), row && alone,
                    values);
    }
}

// Chooses by how the lanes lie to each other.
static void check_lines(Check *check, Access *access, Line *lines, uint32_t mask, const uint8_t *base, bool row,
                        int64_t stride, bool values)
{
    const EpochKind kind = check->epoch.kind;
    const int first = __builtin_ctz(mask);
    const int64_t offset = access->pointer[first] - base;
    const bool alone = (mask & (mask - 1)) == 0, fits = access->bytes <= LINE_BYTES / 4;
    const bool within = offset % (int64_t)access->bytes == 0 && stride % (int64_t)access->bytes == 0 &&
                        access->bytes <= LINE_BYTES; // no lane is in two lines
    if (stride > 0 && stride <= MOST_STRIDE && !alone && within) {
        if (mask == ALL_LANES && (uint64_t)stride == access->bytes)
            check_dense_rows(check, access, lines, 0, LANES, offset, values);
        else
            check_rows(check, access, lines, mask, offset - first * stride, stride, values);
    } else if (stride == 0 && kind == PLAIN_READ && fits) {
        Row r = row_of(check, mask, words_at((uint64_t)offset, access->bytes), offset % LINE_BYTES, ONE_PLACE);
        check_in_line(check, access, &lines[offset / LINE_BYTES], &r, true, values);
    } else if (row && fits && !alone && (kind == PLAIN_READ || is_rising(access, mask))) {
        check_pieces(check, access, lines, mask, base, values);
    } else {
        check_anywhere(check, access, lines, mask, base, row, values);
    }
}

// Whether whole words, from a place to another one, tell nothing new.
static inline bool piece_tells_nothing(const Check *check, const Line *lines, uint64_t offset, uint64_t end,
                                       bool values)
{
    uint64_t line = offset / LINE_BYTES;
    unsigned first = (unsigned)(offset % LINE_BYTES / 4);
    for (; line < (end - 1) / LINE_BYTES; line++, first = 0)
        if (!tell_nothing(check, &lines[line], ALL_LANES << first, values))
            return false;
    return tell_nothing(check, &lines[line], bits_between(first, (unsigned)((end - 1) % LINE_BYTES / 4) + 1), values);
}

// Whether all that these lanes read, which is in whole words, tells nothing new: piece by piece, of lanes that are in
// one place or side by side.
static bool is_all_common(const Check *check, const Line *lines, uint32_t mask, const uint8_t *base, bool values)
{
    const Access *access = check->access;
    const uint64_t offset = (uint64_t)(access->pointer[__builtin_ctz(mask)] - base);
    if (access->pattern == CONSECUTIVE)
        return piece_tells_nothing(check, lines, offset, offset + LANES * access->bytes, values);
    if (!tell_nothing(check, &lines[offset / LINE_BYTES], words_at(offset, access->bytes), values))
        return false;
    if (access->pattern == ALL_SAME)
        return true;
    if (mask == ALL_LANES && memcmp(access->pointer, access->pointer + LANES / 2, sizeof access->pointer / 2) == 0)
        mask >>= LANES / 2; // as of rows of a block of 16 x 16
    const uint32_t following = lanes_behind(access, mask, 0) | lanes_behind(access, mask, access->bytes);
    for (uint32_t rest = mask; rest;) {
        const int first = __builtin_ctz(rest), last = first + (int)count_run(following, first) - 1;
        if (!piece_tells_nothing(check, lines, (uint64_t)(access->pointer[first] - base),
                                 (uint64_t)(access->pointer[last] - base) + access->bytes, values))
            return false;
        rest &= ~bits_between((unsigned)first, (unsigned)last + 1);
    }
    return true;
}

// Whether lanes access the part of shared memory that CUDA reserves for cooperative groups. What lies there when a block
// begins is the library's affair, and so is that its tiles of several warps let a shuffle order their accesses.
static bool is_reserved(const Launch *launch, const Block *owner, const Access *access, uint32_t mask)
{
    return owner && launch->module->uses_reserved_shared &&
           access->pointer[__builtin_ctz(mask)] - owner->shared >= (int64_t)launch->reserved_shared;
}

static void say_reserved_race(void)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    if (!atomic_flag_test_and_set(&said))
        fprintf(stderr,
                "simulator: cooperative groups let a shuffle order what tiles of more than 32 threads do in shared "
                "memory of their own, which PTX does not promise: the library's affair, no finding\n");
}

void sim_check_access(Warp *w, const Instr *i, Access *access, uint32_t mask, Block *owner, Allocation *a)
{
    if (access->bytes == 0) // a bulk copy of nothing
        return;
    const bool shared = owner != NULL, reserved = is_reserved(w->block->launch, owner, access, mask);
    const EpochKind kind = sim_epoch_kind(i, access);
    if (i->kind == STORE && mask != access->mask && mask & access->mask & -access->mask)
        sim_advance_time(w->block); // as check_anywhere does: the lanes come one by one, this is the first
    const Launch *launch = w->block->launch;
    const Does *does = &launch->kernel->program->does;
    Check check = {.w = w,
                   .i = i,
                   .access = access,
                   .a = a,
                   .shared = shared,
                   .restricted = shared || launch->on_one_thread,
                   .by_barriers = !does->hands_over && launch->cluster_blocks == 1 && !launch->family_grid,
                   .by_all_lanes = !does->some_lanes,
                   .run = shared ? sim_block_run(owner) : sim_launch_run(launch),
                   .first_run = shared ? sim_first_run(owner) : 0};
    if (shared && owner->visits)
        sim_note_visit(w, i, access, mask, owner, kind);
    check.epoch = (Epoch){.block = (uint32_t)w->block->number, .time = sim_time(w->block), .site = i->site & 0xfffff,
                          .warp = (unsigned)w->number & 31, .kind = kind & 7, .bytes = 15};
    Line *lines = shared ? owner->lines : lines_of(a);
    const uint8_t *base = shared ? owner->shared : a->memory;
    const bool plain = kind == PLAIN_READ || kind == PLAIN_WRITE, in_words = access->bytes % 4 == 0,
               values = a ? starts_unwritten(a) : !reserved;
    const bool row = in_words ? plain || is_under_way(&check.epoch) : plain && access->bytes < 4;
    const bool reads = check.by_barriers && kind == PLAIN_READ && in_words && access->bytes <= access->alignment;
    if (!shared && reads && is_all_common(&check, lines, mask, base, values))
        return;
    check.floor = sim_block_barrier(w);
    check.barrier = sim_warp_barrier(w);
    const int64_t stride = row ? find_stride(access, mask) : -1;
    if (shared)
        check_objects(w, i, access, mask, (uint64_t)(uintptr_t)base, stride >= 0);
    if (shared && reads && is_all_common(&check, lines, mask, base, values))
        return;
    if (owner == w->block && owner->engine && kind == PLAIN_WRITE)
        sim_note_writes(w, i, access, mask);
    check_lines(&check, access, lines, mask, base, row, stride, values);
    if (a && writes(&check.epoch) && atomic_load_explicit(&a->written_in, memory_order_relaxed) != check.run)
        atomic_store_explicit(&a->written_in, check.run, memory_order_relaxed);
    const bool read_only = a && i->flags & READ_ONLY && i->kind == LOAD;
    if (read_only && !check.race.found && atomic_load_explicit(&a->written_in, memory_order_relaxed) == check.run)
        check_read_only(&check, lines, mask, base);
    if (check.race.found && reserved) {
        say_reserved_race();
    } else if (check.race.found) {
        sim_note_race(w->block, check.race.earlier.site, check.race.later.site);
        sim_await_turn(w->block); // a block that runs ahead in vain has no race
        report(&check);
    }
    const bool strong = i->kind == ATOMIC || ((i->kind == LOAD || i->kind == STORE) && i->semantics != WEAK),
               tells = strong && !check.by_barriers;
    for (uint32_t rest = tells ? mask : 0; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        sim_order_by_access(w, i, l, shared, (uint64_t)(uintptr_t)access->pointer[l], kind);
    }
}

void sim_check_local(Warp *w, Access *access)
{
    const Block *b = w->block;
    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        uint8_t *written = b->local_written + (access->pointer[l] - b->local);
        uint32_t unwritten = 0;
        for (size_t k = 0; k < access->bytes; k++) {
            if (access->kind == ACCESS_WRITE)
                written[k] = 1;
            unwritten |= (uint32_t)!written[k] << (k & 31);
        }
        if (unwritten && !access->has_unwritten)
            memset(access->unwritten, 0, sizeof access->unwritten);
        access->has_unwritten |= unwritten != 0;
        if (access->has_unwritten)
            access->unwritten[l] = unwritten;
    }
}

void sim_unmark_written(Warp *w, int lane, Space space, uint64_t address, size_t bytes)
{
    Block *b = w->block;
    if (space == LOCAL) {
        memset(b->local_written + (size_t)(w->number * LANES + lane) * b->launch->local_bytes + address, 0, bytes);
        return;
    }
    Allocation *a = space == SHARED ? NULL : sim_allocation_at(address);
    Line *lines = a ? lines_of(a) : b->lines;
    const uint64_t first = a ? address - a->address : address;
    for (size_t k = 0; k < bytes && (a || !sim_names_block(address)); k++) {
        const unsigned at = (unsigned)((first + k) % LINE_BYTES);
        __atomic_and_fetch(&lines[(first + k) / LINE_BYTES].written[at / 64], ~(1ull << at % 64), __ATOMIC_RELAXED);
    }
}

void sim_find_strange_owner(Warp *w, const Instr *i, int lane, Space space, uint64_t owner)
{
    const Launch *launch = w->block->launch;
    const uint32_t thread = (uint32_t)(w->number * LANES + lane);
    char title[200];
    const Place p = sim_place_of(launch, w->block->number, thread, i, "uses it");
    const Place of_thread = sim_place_of(launch, 0, (uint32_t)owner, i, "");
    if (space == SHARED)
        snprintf(title, sizeof title, "the address of a shared variable was made in block %llu, and block %llu uses it",
                 (unsigned long long)owner, (unsigned long long)w->block->number);
    else
        snprintf(title, sizeof title,
                 "the address of a variable of thread (%u,%u,%u), in its local memory, is used by another thread",
                 of_thread.thread.x, of_thread.thread.y, of_thread.thread.z);
    sim_await_turn(w->block); // a block that runs ahead in vain uses nothing
    sim_add_finding(OUT_OF_BOUNDS, title, &p, 1,
                    space == SHARED ? "each block has its own shared memory, and finds its own variable there: pass the "
                                      "value, or keep it in global memory"
                                    : "each thread has its own local memory, and finds its own variable there: pass "
                                      "the value, or keep it in shared memory");
}
