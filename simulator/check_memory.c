// check_memory.c: who did what to each byte, and whether something orders it.
//
// Memory is divided into lines of 128 bytes. In most accesses the lanes of a warp lie in a row, at the same distance
// from each other, or in pieces of which this is true, as in a tile with gaps: of these rows a line keeps the last ones
// as they are. Where that will not do, it gets cells, one for each word.
#include "check.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { WORDS = LINE_BYTES / 4, IN_CELL = 2, MOST_IN_CELL = 40, MOST_STRIDE = 1 << 20 };

typedef struct Cell {
    Epoch few[IN_CELL], *many;
    uint8_t count, space; // of many
} Cell;

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
// no fence since.
static bool reads_unfenced(const Check *check, const Instr *i, const Instr *j, const Epoch *a)
{
    return i->semantics == VOLATILE && j->semantics == VOLATILE && a->kind == STRONG_WRITE &&
           check->epoch.kind == STRONG_READ && !sim_has_fenced(check->w, a) && !sim_is_asked(check->w, j);
}

// Atomic operations of different widths are none for each other; of two volatile writes one is lost.
__attribute__((noinline)) // it is rare
static bool strong_conflict(const Check *check, const Epoch *a, const Epoch *b)
{
    const Instr *i = sim_instruction_at(a->site), *j = sim_instruction_at(b->site);
    const bool other_width = i->run == sim_atomic && j->run == sim_atomic && i->bytes != j->bytes;
    const bool lost_update = i->semantics == VOLATILE && j->semantics == VOLATILE && writes(a) && writes(b);
    const bool awaited = (i->loop | j->loop) & AWAITED;
    return !reaches(i, a, b) || !reaches(j, a, b) || other_width || lost_update || reads_unfenced(check, i, j, a) ||
           (check->shared && !awaited && (relies_on_volatile(i, a, b) || relies_on_volatile(j, a, b)));
}

static bool conflict(const Check *check, const Epoch *a, const Epoch *b)
{
    if (!(a->bytes & b->bytes) || !(writes(a) || writes(b)))
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

static void hint_of(const Race *race, const Program *program, const Instr *i, const Instr *j, bool shared, char *hint,
                    size_t space)
{
    const Epoch *a = &race->earlier, *b = &race->later;
    const bool same_block = a->block == b->block, same_warp = same_block && a->warp == b->warp;
    const bool both_strong = is_strong(a) && is_strong(b);
    char between[120];
    const bool copied_above = is_under_way(a) && line_of(i->statement) < line_of(j->statement); // and awaited in this turn
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
        const bool same_size = i == check->i || (i->run != sim_copy_bulk && check->i->run != sim_copy_bulk);
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
            sim_instruction_at(race->later.site), check->shared, hint, sizeof hint);
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
            abort();
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
        a->warp != check->epoch.warp || check->i->run != sim_store || (a->lanes & ~access->mask))
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
           check->i->run != sim_store && check->i->run != sim_copy_async && check->i->run != sim_copy_bulk &&
           a->block == e->block && a->warp == e->warp;
}

// Whether the lane has waited by this until its copy had read all of its source.
static bool ends_copy(const Check *check, const Epoch *a, const Epoch *e)
{
    return a->kind == SOURCE_UNDER_WAY && check->i->run == sim_await_bulk && a->block == e->block &&
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
    return k == 0 ? &line->first : &line->more[k - 1];
}

// Whether a word of an access and of an earlier row is the same thread's in both.
static bool is_alike(const Check *check, const Row *a, const Row *r)
{
    if (a->epoch.block != r->epoch.block || a->epoch.warp != r->epoch.warp || a->shift != r->shift)
        return false;
    if (a->shift == ONE_PLACE)
        return a->epoch.lanes == r->epoch.lanes && !(a->epoch.lanes & (a->epoch.lanes - 1));
    // Threads with a piece each, of which an access takes a part: the row has a longer one, from its origin on.
    const int further = r->origin - a->origin;
    return further == 0 || (further > 0 && further + (int)check->access->bytes <= 1 << a->shift);
}

static uint32_t lanes_at(const Row *r, int word) // who is at a word of the line
{
    return r->shift == ONE_PLACE ? r->epoch.lanes : 1u << ((4 * word - r->origin) >> r->shift & 31);
}

// Gives the line cells in place of rows.
static void split(Line *line)
{
    line->cells = line->cells ? line->cells : calloc(WORDS, sizeof *line->cells);
    if (!line->cells)
        abort();
    for (int n = 0; n < WORDS; n++) {
        line->cells[n].count = 0;
        for (int k = 0; k < line->count; k++) {
            const Row *r = row_at(line, k);
            Epoch e = r->epoch;
            e.lanes = lanes_at(r, n);
            e.bytes = 15;
            if (r->words >> n & 1)
                insert(&line->cells[n], &e);
        }
    }
    line->count = 0;
    line->apart = true;
}

void sim_free_lines(Line *lines, size_t bytes)
{
    for (size_t k = 0; lines && k < (bytes + LINE_BYTES - 1) / LINE_BYTES; k++) {
        for (int n = 0; lines[k].cells && n < WORDS; n++)
            free(lines[k].cells[n].many);
        free(lines[k].cells);
        free(lines[k].more);
    }
    free(lines);
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
    line->run = check->run;
    if (of_this_block && line->copies)
        return;
    line->count = 0;
    line->apart = line->copies = false;
    if (check->shared && !of_this_block)
        line->written[0] = line->written[1] = 0;
}

static void leave(const Check *check, Line *line)
{
    if (!check->restricted)
        atomic_store_explicit(&line->busy, 0, memory_order_release);
}

// Looks, word by word, for a race with an earlier row of which not all lanes know.
static void check_words(Check *check, const Row *a, const Row *r)
{
    for (uint32_t words = a->words & r->words; words && !check->race.found; words &= words - 1) {
        const int n = __builtin_ctz(words);
        Epoch earlier = a->epoch, later = r->epoch;
        earlier.lanes = lanes_at(a, n);
        for (uint32_t rest = lanes_at(r, n); rest; rest &= rest - 1) {
            later.lanes = rest & -rest;
            const bool same = a->epoch.block == r->epoch.block && a->epoch.warp == r->epoch.warp &&
                              earlier.lanes == later.lanes &&
                              (!is_under_way(&a->epoch) || is_own_copy(check, &a->epoch, &r->epoch));
            if (!same && !sim_happened_before(check->w, check->i, __builtin_ctz(rest), &earlier))
                check->race = (Race){earlier, later, true, false};
        }
    }
}

// Where both are one instruction's at one time, as of a thread that goes through an array, one row tells of both.
static bool merge(const Check *check, Row *a, const Row *r)
{
    const bool same_time = a->epoch.site == r->epoch.site && a->epoch.time == r->epoch.time;
    if (!same_time || is_under_way(&a->epoch) || !is_alike(check, a, r))
        return false;
    a->words |= r->words;
    a->epoch.lanes |= r->epoch.lanes;
    return true;
}

static void add_row(Check *check, Line *line, const Row *r)
{
    if (line->count > line->space) {
        line->space = line->space ? ROWS - 1 : 1;
        line->more = realloc(line->more, line->space * sizeof *line->more);
        if (!line->more)
            abort();
        if (check->a)
            atomic_store_explicit(&check->a->lines_grew, true, memory_order_relaxed);
    }
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

// An access by lanes in a row: looks for races, and keeps it. False if the line has no room for it.
static bool check_row(Check *check, Line *line, const Row *r)
{
    int kept = 0;
    if (line->count == 1 && merge(check, &line->first, r))
        return true;
    for (int k = 0; k < line->count; k++) {
        Row *a = row_at(line, k);
        const bool alike = is_alike(check, a, r);
        if (rows_may_race(check, a, r, alike))
            check_words(check, a, r);
        const bool replaced = covers(&r->epoch, &a->epoch) && (r->epoch.kind == PLAIN_WRITE || alike);
        if (replaced || ends_copy(check, &a->epoch, &r->epoch))
            a->words &= ~r->words;
        if (!a->words)
            continue;
        Row *place = row_at(line, kept++);
        if (place != a)
            *place = *a;
    }
    line->count = (uint8_t)kept;
    for (int k = 0; k < kept; k++)
        if (merge(check, row_at(line, k), r))
            return true;
    if (kept == ROWS)
        return false;
    add_row(check, line, r);
    return true;
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

// Asks for large pages, where the system gives them to those who ask: one fault in place of 512.
static void use_large_pages(void *memory, size_t bytes)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), begin = ((uintptr_t)memory + page - 1) / page * page;
    if (bytes >= 4 << 20)
        madvise((void *)begin, (uintptr_t)memory + bytes - begin, MADV_HUGEPAGE);
}

static Line *lines_of(Allocation *a)
{
    if (a->lines)
        return a->lines;
    const size_t count = (a->bytes + LINE_BYTES - 1) / LINE_BYTES;
    Line *lines = calloc(count, sizeof *lines), *none = NULL;
    if (!lines)
        abort();
    use_large_pages(lines, count * sizeof *lines);
    if (!__atomic_compare_exchange_n(&a->lines, &none, lines, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        free(lines);
    return a->lines;
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

size_t sim_find_unwritten(uint64_t address, size_t bytes)
{
    Allocation *a = sim_checks() ? sim_allocation_at(address) : NULL;
    if (!a || !starts_unwritten(a) || address - a->address >= a->bytes)
        return bytes;
    const Line *lines = lines_of(a);
    const size_t first = address - a->address;
    for (size_t k = 0; k < bytes && k < a->bytes - first; k++) {
        const Line *line = &lines[(first + k) / LINE_BYTES];
        const unsigned in_line = (unsigned)((first + k) % LINE_BYTES);
        if (in_line == 0 && line->written[0] == ~0ull && line->written[1] == ~0ull)
            k += LINE_BYTES - 1;
        else if (!(line->written[in_line / 64] >> in_line % 64 & 1))
            return k;
    }
    return bytes;
}

// ---- An access

// Some lanes' bytes that lie in a line, which is taken: word by word.
static void check_lanes(Check *check, Line *line, uint32_t lanes, unsigned first, unsigned count)
{
    for (unsigned at = first; at < first + count;) {
        const unsigned part = at % 4, end = first + count - at < 4 - part ? first + count - at : 4 - part;
        check_word(check, &line->cells[at / 4], lanes, ((1u << end) - 1) << part);
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

// The lanes of a row, all of whose bytes of whole words lie in this line, or a part of one lane's.
static void check_in_line(Check *check, Access *access, Line *line, const Row *r, bool row, bool values)
{
    const bool writing = writes(&r->epoch), updates = r->epoch.kind == ATOMIC_UPDATE;
    take(check, line);
    line->copies |= is_under_way(&r->epoch);
    const bool kept = row && !line->apart && check_row(check, line, r);
    const bool plain = kept && (!values || writing || all_written(line, r->words));
    if (plain && values && writing)
        mark_words(line, r->words);
    if (!kept && !line->apart)
        split(line);
    if (!kept && check->a)
        atomic_store_explicit(&check->a->lines_grew, true, memory_order_relaxed);
    for (uint32_t rest = plain ? 0 : r->epoch.lanes; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest), at = r->shift == ONE_PLACE ? r->origin : r->origin + (l << r->shift);
        const int begin = at > 0 ? at : 0,
                  end = at + (int)access->bytes < LINE_BYTES ? at + (int)access->bytes : LINE_BYTES;
        const bool all_here = r->shift == ONE_PLACE;
        if (!kept && (!all_here || rest == r->epoch.lanes))
            check_lanes(check, line, all_here ? rest : rest & -rest, (unsigned)begin, (unsigned)(end - begin));
        if (values && updates)
            check_written(access, line, l, (unsigned)begin, (unsigned)(end - begin), (unsigned)(begin - at), false);
        if (values)
            check_written(access, line, l, (unsigned)begin, (unsigned)(end - begin), (unsigned)(begin - at), writing);
    }
    leave(check, line);
}

// The distance from one lane to the next, where it is the same for all, and one that a row can have; 0 if they are at
// one place; else -1.
static int64_t find_stride(const Access *access, uint32_t mask)
{
    const int first = __builtin_ctz(mask);
    const uint32_t others = mask & (mask - 1);
    if (access->pattern == CONSECUTIVE || others == 0) { // one lane alone: up to its whole size
        const uint64_t bytes = access->bytes;
        return bytes & (bytes - 1) ? (int64_t)1 << (64 - __builtin_clzll(bytes)) : (int64_t)bytes;
    }
    const int second = __builtin_ctz(others);
    const int64_t apart = access->pointer[second] - access->pointer[first];
    const int64_t stride = apart / (second - first);
    if (apart < 0 || stride * (second - first) != apart || (stride && (stride & (stride - 1))) ||
        (stride && stride < (int64_t)access->bytes))
        return -1;
    for (uint32_t rest = others; rest; rest &= rest - 1)
        if (access->pointer[__builtin_ctz(rest)] - access->pointer[first] != stride * (__builtin_ctz(rest) - first))
            return -1;
    return stride;
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
        Row r = {.epoch = check->epoch, .words = (count == WORDS ? ALL_LANES : (1u << count) - 1) << first,
                 .origin = (int)((int64_t)offset - (int64_t)(line * LINE_BYTES)), .shift = ONE_PLACE};
        r.epoch.lanes = mask;
        check_in_line(check, access, &lines[line], &r, row, values);
    }
}

// The lanes that follow the first, lie where it does, and do not conflict with it there, or store the same value.
static uint32_t lanes_beside_first(const Check *check, uint32_t mask)
{
    const Access *access = check->access;
    const EpochKind kind = check->epoch.kind;
    const bool store = check->i->run == sim_store;
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

// All lanes, side by side: a row for each line.
static void check_dense_rows(Check *check, Access *access, Line *lines, int64_t base, unsigned shift, bool values)
{
    const int64_t end = base + ((int64_t)LANES << shift);
    Row r = {.epoch = check->epoch, .shift = shift};
    for (int64_t line = base / LINE_BYTES; line * LINE_BYTES < end; line++)
        __builtin_prefetch(&lines[line], 1);
    for (int64_t line = base / LINE_BYTES; line * LINE_BYTES < end; line++) {
        const int64_t begin = line * LINE_BYTES, low = base > begin ? base : begin,
                      high = end < begin + LINE_BYTES ? end : begin + LINE_BYTES;
        r.words = bits_between((unsigned)(low - begin) / 4, (unsigned)(high - begin) / 4);
        r.epoch.lanes = bits_between((unsigned)((low - base) >> shift), (unsigned)((high - 1 - base) >> shift) + 1);
        r.origin = (int)(base - begin);
        check_in_line(check, access, &lines[line], &r, true, values);
    }
}

// Lanes whose places follow each other at a distance: a row for each line.
static void check_rows(Check *check, Access *access, Line *lines, uint32_t mask, int64_t base, unsigned shift,
                       bool values)
{
    const uint32_t element = access->bytes == LINE_BYTES ? ALL_LANES : (1u << access->bytes / 4) - 1;
    Row r = {.epoch = check->epoch, .shift = shift};
    r.epoch.lanes = 0;
    for (uint32_t rest = mask; rest;) {
        const int l = __builtin_ctz(rest);
        const int64_t offset = base + ((int64_t)l << shift), line = offset / LINE_BYTES;
        r.epoch.lanes |= rest & -rest;
        r.words |= element << offset % LINE_BYTES / 4;
        rest &= rest - 1;
        if (rest && (base + ((int64_t)__builtin_ctz(rest) << shift)) / LINE_BYTES == line)
            continue;
        r.origin = (int)(base - line * LINE_BYTES);
        check_in_line(check, access, &lines[line], &r, true, values);
        r.epoch.lanes = r.words = 0;
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

// Lanes wherever they are: a row for those that follow each other at a distance in one line.
static void check_pieces(Check *check, Access *access, Line *lines, uint32_t mask, const uint8_t *base, bool values)
{
    const uint32_t element = (1u << access->bytes / 4) - 1;
    for (uint32_t rest = mask; rest;) {
        const int first = __builtin_ctz(rest);
        const int64_t offset = access->pointer[first] - base, line = offset / LINE_BYTES;
        Row r = {.epoch = check->epoch, .words = element << offset % LINE_BYTES / 4, .shift = ONE_PLACE};
        r.epoch.lanes = rest & -rest;
        int64_t stride = 0;
        for (rest &= rest - 1; rest; rest &= rest - 1) {
            const int l = __builtin_ctz(rest);
            const int64_t apart = access->pointer[l] - access->pointer[first];
            if (stride == 0 && apart % (l - first) == 0)
                stride = apart / (l - first);
            if (stride < (int64_t)access->bytes || stride & (stride - 1) || apart != stride * (l - first) ||
                (offset + apart) / LINE_BYTES != line)
                break;
            r.shift = (unsigned)__builtin_ctzll((uint64_t)stride);
            r.epoch.lanes |= 1u << l;
            r.words |= element << (offset + apart) % LINE_BYTES / 4;
        }
        r.origin = (int)(offset - line * LINE_BYTES) - (r.shift == ONE_PLACE ? 0 : first << r.shift);
        check_in_line(check, access, &lines[line], &r, true, values);
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
            *lanes = lanes_at(r, (int)n);
            if (writes(&r->epoch) && r->words >> n & 1)
                return &r->epoch;
        }
        for (int k = 0; line->apart && k < line->cells[n].count; k++) {
            const Epoch *e = &epochs_of(&line->cells[n])[k];
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
        const Epoch *writer = find_writer(line, (unsigned)(first % LINE_BYTES), (unsigned)check->access->bytes, &lanes);
        if (writer) {
            check->race = (Race){*writer, check->epoch, .found = true, .stale = true};
            check->race.earlier.lanes = lanes;
            check->race.later.lanes = 1u << l;
        }
        leave(check, line);
    }
}

static EpochKind kind_of(const Instr *i, const Access *access)
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
    const bool store = check->i->run == sim_store, several = mask & (mask - 1),
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
    if (stride >= 4 && stride <= MOST_STRIDE && !alone && offset % 4 == 0) {
        const unsigned shift = (unsigned)__builtin_ctzll((uint64_t)stride);
        if (mask == ALL_LANES && (uint64_t)stride == access->bytes)
            check_dense_rows(check, access, lines, offset, shift, values);
        else
            check_rows(check, access, lines, mask, offset - ((int64_t)first << shift), shift, values);
    } else if (stride == 0 && kind == PLAIN_READ && fits) {
        Row r = {.epoch = check->epoch,
                 .words = ((1u << access->bytes / 4) - 1) << offset % LINE_BYTES / 4,
                 .origin = (int)(offset % LINE_BYTES),
                 .shift = ONE_PLACE};
        r.epoch.lanes = mask;
        check_in_line(check, access, &lines[offset / LINE_BYTES], &r, true, values);
    } else if (row && fits && !alone && (kind == PLAIN_READ || is_rising(access, mask))) {
        check_pieces(check, access, lines, mask, base, values);
    } else {
        check_anywhere(check, access, lines, mask, base, row, values);
    }
}

void sim_check_access(Warp *w, const Instr *i, Access *access, uint32_t mask, Block *owner, Allocation *a)
{
    const bool shared = owner != NULL;
    const EpochKind kind = kind_of(i, access);
    if (i->run == sim_store && mask != access->mask && mask & access->mask & -access->mask)
        sim_advance_time(w->block); // as check_anywhere does: the lanes come one by one, this is the first
    Check check = {.w = w,
                   .i = i,
                   .access = access,
                   .a = a,
                   .shared = shared,
                   .restricted = shared || w->block->launch->on_one_thread,
                   .run = shared ? sim_block_run(owner) : sim_launch_run(w->block->launch),
                   .first_run = shared ? sim_first_run(owner) : 0};
    check.epoch = (Epoch){.block = (uint32_t)w->block->number, .time = sim_time(w->block), .site = i->site & 0xfffff,
                          .warp = (unsigned)w->number & 31, .kind = kind & 7, .bytes = 15};
    Line *lines = shared ? owner->lines : lines_of(a);
    const uint8_t *base = shared ? owner->shared : a->memory;
    const bool row =
        (kind == PLAIN_READ || kind == PLAIN_WRITE || is_under_way(&check.epoch)) && access->bytes % 4 == 0;
    const int64_t stride = row ? find_stride(access, mask) : -1;
    if (shared)
        check_objects(w, i, access, mask, (uint64_t)(uintptr_t)base, stride >= 0);
    if (owner == w->block && owner->engine && kind == PLAIN_WRITE)
        sim_note_writes(w, i, access, mask);
    check_lines(&check, access, lines, mask, base, row, stride, shared || starts_unwritten(a));
    if (a && writes(&check.epoch) && atomic_load_explicit(&a->written_in, memory_order_relaxed) != check.run)
        atomic_store_explicit(&a->written_in, check.run, memory_order_relaxed);
    const bool read_only = a && i->flags & READ_ONLY && i->run == sim_load;
    if (read_only && !check.race.found && atomic_load_explicit(&a->written_in, memory_order_relaxed) == check.run)
        check_read_only(&check, lines, mask, base);
    if (check.race.found) {
        sim_note_race(w->block, check.race.earlier.site, check.race.later.site);
        sim_await_turn(w->block); // a block that runs ahead in vain has no race
        report(&check);
    }
    const bool strong = i->run == sim_atomic || ((i->run == sim_load || i->run == sim_store) && i->semantics != WEAK);
    for (uint32_t rest = strong ? mask : 0; rest; rest &= rest - 1) {
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
