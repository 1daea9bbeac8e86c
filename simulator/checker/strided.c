// strided.c: what a line of memory tells of its last accesses, row by row, or cell by cell where that will not do.
#include "checker/conflicts.h"
#include "checker/readers.h"

#include <stdlib.h>
#include <string.h>

// ---- Rows

// The line's memory beyond itself, with room for so many more rows.
static struct ShadowOverflow *grow(const AccessCheck *check, ShadowLine *line, uint8_t rows)
{
    struct ShadowOverflow *more = line->more;
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

// Whether a word, or byte, of an access and of an earlier row of its warp is the same thread's in both; or has been read, where
// lanes read one place, by the same ones. Field by field: r has just been made, and the processor would wait for wider parts.
static inline __attribute__((always_inline)) bool lies_alike(const AccessCheck *check, const StridedAccess *a, const StridedAccess *r)
{
    if (a->stride != r->stride || ((a->size < 4 || r->size < 4) && !same_shape(a, r)))
        return false;
    if (a->stride == ONE_PLACE)
        return a->epoch.lanes == r->epoch.lanes && (!(a->epoch.lanes & (a->epoch.lanes - 1)) ||
                                                    (a->epoch.kind == PLAIN_READ && r->epoch.kind == PLAIN_READ));
    // Threads with a piece each, of which an access takes a part: the row has a longer one, from its origin on.
    const int further = r->origin - a->origin;
    return further == 0 || (further > 0 && further + (int)check->access->bytes <= (int)a->stride);
}

// Whether lanes of the warp that read one place are all among those that read it now.
static bool read_again(const StridedAccess *a, const StridedAccess *r)
{
    return a->stride == ONE_PLACE && r->stride == ONE_PLACE && !(a->epoch.lanes & ~r->epoch.lanes) && a->size == 4 &&
           r->size == 4;
}

static uint32_t lanes_at_byte(const StridedAccess *r, int byte)
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
static void insert_word(ShadowCell *c, const StridedAccess *r, int word)
{
    AccessRecord e = r->epoch;
    if (r->size == 4) {
        e.lanes = lanes_at(r, word);
        e.bytes = 15;
        sim_insert_record(c, &e);
        return;
    }
    for (int k = 0; k < 4; k += (int)r->size) {
        e.lanes = lanes_at_byte(r, 4 * word + k);
        e.bytes = ((1u << r->size) - 1) << k & 15;
        if (e.lanes)
            sim_insert_record(c, &e);
    }
}

// Gives the line cells in place of rows.
static void split(const AccessCheck *check, ShadowLine *line)
{
    struct ShadowOverflow *more = grow(check, line, line->space);
    more->cells = more->cells ? more->cells : calloc(WORDS, sizeof *more->cells);
    if (!more->cells)
        sim_die("out of memory for the uses of a line of memory");
    for (int n = 0; n < WORDS; n++) {
        more->cells[n].count = 0;
        for (int k = 0; k < line->count; k++)
            if (row_by_age(line, k)->words >> n & 1)
                insert_word(&more->cells[n], row_by_age(line, k), n);
    }
    line->count = 0;
    line->apart = true;
}

// As large as a line of the host's cache each, and so they lie. What calloc gave stands before them.
ShadowLine *sim_new_lines(size_t bytes)
{
    uint8_t *memory = calloc((bytes + LINE_BYTES - 1) / LINE_BYTES + 1, sizeof(ShadowLine));
    if (!memory)
        sim_die("out of memory for the checker's lines of memory");
    ShadowLine *lines = (ShadowLine *)(memory + sizeof *lines - (uintptr_t)memory % sizeof *lines);
    ((void **)lines)[-1] = memory;
    return lines;
}

void sim_free_lines(ShadowLine *lines, size_t bytes)
{
    for (size_t k = 0; lines && k < (bytes + LINE_BYTES - 1) / LINE_BYTES; k++) {
        ShadowCell *cells = lines[k].more ? lines[k].more->cells : NULL;
        for (int n = 0; cells && n < WORDS; n++)
            free(cells[n].many);
        free(cells);
        free(lines[k].more);
    }
    free(lines ? ((void **)lines)[-1] : NULL);
}

// Looks for a race of lanes with an earlier row of which not all lanes know, in a word or byte of both.
static void check_lanes_of_rows(AccessCheck *check, const StridedAccess *a, const StridedAccess *r, uint32_t earlier_lanes, uint32_t lanes)
{
    AccessRecord earlier = a->epoch, later = r->epoch;
    earlier.lanes = earlier_lanes;
    for (uint32_t rest = earlier_lanes ? lanes : 0; rest; rest &= rest - 1) {
        later.lanes = rest & -rest;
        const bool same = a->epoch.block == r->epoch.block && a->epoch.warp == r->epoch.warp &&
                          earlier.lanes == later.lanes &&
                          (!is_under_way(&a->epoch) || is_own_copy(check, &a->epoch, &r->epoch));
        if (!same && !sim_happens_before(check->w, check->i, __builtin_ctz(rest), &earlier))
            check->race = (Race){earlier, later, .found = true, .same = sim_stores_same(check, __builtin_ctz(rest))};
    }
}

static void check_words(AccessCheck *check, const StridedAccess *a, const StridedAccess *r)
{
    const int step = a->size == 4 && r->size == 4 ? 4 : 1;
    for (uint32_t words = a->words & r->words; words && !check->race.found; words &= words - 1)
        for (int at = 4 * __builtin_ctz(words), end = at + 4; at < end && !check->race.found; at += step)
            check_lanes_of_rows(check, a, r, lanes_at_byte(a, at), lanes_at_byte(r, at));
}

// Where both are one instruction's at one time, as of a thread that goes through an array, one row tells of both.
static inline bool continues(const AccessCheck *check, const StridedAccess *a, const StridedAccess *r)
{
    const AccessRecord *e = &a->epoch;
    return e->time == r->epoch.time && e->site == r->epoch.site && e->kind == r->epoch.kind && is_same_warp(e, &r->epoch) &&
           !is_under_way(e) && lies_alike(check, a, r);
}

// Adds the row to one of the line's, where one will do.
static inline bool merge(const AccessCheck *check, ShadowLine *line, StridedAccess *a, const StridedAccess *r)
{
    if (!continues(check, a, r))
        return false;
    a->words |= r->words;
    a->whole &= r->whole;
    a->epoch.lanes |= r->epoch.lanes;
    if (a != &line->first)
        line->more->words |= r->words;
    return true;
}

// The newest row is the first one: a warp that goes on finds its own there.
static void add_row(const AccessCheck *check, ShadowLine *line, const StridedAccess *r)
{
    if (line->count > line->space)
        grow(check, line, line->space ? 3 * line->space + 1 : 3); // 3, 10, 31
    if (line->count > 0) {
        struct ShadowOverflow *more = line->more;
        more->rows[line->count - 1] = line->first;
        more->words = (line->count > 1 ? more->words : 0) | line->first.words;
        more->by_warps = (line->count > 1 ? more->by_warps : 0) | bit_of_warp(&line->first.epoch);
    }
    line->first = *r;
    line->count++;
}

// Whether lanes as far apart in both access other bytes: other members of structures of bytes, say. False where that is not seen.
static bool has_other_bytes(const StridedAccess *a, const StridedAccess *r)
{
    if (a->stride != r->stride || a->stride == ONE_PLACE || a->size == 4 || r->size == 4)
        return false;
    const int stride = (int)a->stride, further = ((r->origin - a->origin) % stride + stride) % stride;
    return further >= (int)a->size && further + (int)r->size <= stride;
}

// Whether check_words is worth while. In rows that are alike each word is one thread's.
static bool rows_may_race(const AccessCheck *check, const StridedAccess *a, const StridedAccess *r, bool alike)
{
    if (!(a->words & r->words) || !conflict(check, &a->epoch, &r->epoch) || has_other_bytes(a, r))
        return false;
    if (alike && (!is_under_way(&a->epoch) || is_own_copy(check, &a->epoch, &r->epoch)))
        return false;
    return !sim_hb_warp_fast(check->w, &a->epoch) &&
           !sim_hb_all_lanes(check->w, check->i, r->epoch.lanes, &a->epoch);
}

// Leaves out what need not be kept of a row that is read: words that threads of two blocks have read, too, or of two
// warps since. See Readers.
static void thin_out(ShadowLine *line, StridedAccess *a)
{
    uint32_t blocks = 0, block = 0, warps = 0, warp = 0;
    for (int k = 0; k < line->count; k++) {
        const StridedAccess *b = row_at(line, k);
        if (b == a || b->epoch.kind != PLAIN_READ || !b->whole)
            continue;
        *(b->epoch.block == a->epoch.block ? &block : &blocks) |= b->words;
        if (b->epoch.block == a->epoch.block && b->epoch.time >= a->epoch.time)
            *(b->epoch.warp == a->epoch.warp ? &warp : &warps) |= b->words;
    }
    a->words &= ~(blocks & block) & ~(warps & warp);
}

static void drop_empty_rows(ShadowLine *line)
{
    int kept = 0; // behind the first one
    for (int k = 1; k < line->count; k++)
        if (row_at(line, k)->words && ++kept < k)
            *row_at(line, kept) = *row_at(line, k);
    if (!line->first.words && kept > 0)
        line->first = *row_at(line, kept--);
    line->count = (uint8_t)(kept + (line->first.words != 0));
}

static bool make_room(const AccessCheck *check, ShadowLine *line)
{
    for (int k = 0; k < line->count && check->by_barriers; k++)
        if (row_by_age(line, k)->epoch.kind == PLAIN_READ)
            thin_out(line, row_by_age(line, k));
    drop_empty_rows(line);
    return line->count < ROWS;
}

// Whether later accesses need not know of an earlier row's words that this row has, too. alike: they are one thread's each.
static inline bool replaces(const StridedAccess *a, const StridedAccess *r, bool alike, bool same_lanes)
{
    const bool whole = r->whole || (alike && !(a->epoch.lanes & ~r->epoch.lanes) && !(a->words & ~r->words));
    return whole && covers(&r->epoch, &a->epoch) && (r->epoch.kind == PLAIN_WRITE || same_lanes);
}

// Looks for races with an earlier row, and takes from it what later ones need not know of it.
static void check_against(AccessCheck *check, StridedAccess *a, const StridedAccess *r)
{
    const bool own = is_same_warp(&a->epoch, &r->epoch), alike = own && lies_alike(check, a, r),
               same_lanes = alike || (own && r->epoch.kind == PLAIN_READ && read_again(a, r));
    if (rows_may_race(check, a, r, alike))
        check_words(check, a, r);
    if (replaces(a, r, alike, same_lanes) || ends_copy(check, &a->epoch, &r->epoch))
        a->words &= ~r->words;
}

// Whether the same threads have read all this since they last came to a barrier: whoever knows of that, knows of this.
static inline bool has_read(const AccessCheck *check, const StridedAccess *a, const StridedAccess *r)
{
    return a->epoch.time > check->barrier && check->by_all_lanes && a->whole && !(r->words & ~a->words) &&
           is_same_warp(&a->epoch, &r->epoch) && !(r->epoch.lanes & ~a->epoch.lanes) && lies_alike(check, a, r);
}

// False is certain.
static inline bool has_rows_of(const ShadowLine *line, const AccessRecord *e)
{
    if (line->count == 0)
        return false; // what the first row holds then is of an earlier run
    return is_same_warp(&line->first.epoch, e) || (line->count > 1 && line->more->by_warps & bit_of_warp(e));
}

// Where a line of shared memory is only read, by lanes that lie ever anew, cells tell sooner that two have read a word.
enum { ROWS_READ = 8 };

static bool keep_row(const AccessCheck *check, ShadowLine *line, const StridedAccess *r)
{
    const bool only_read = check->shared && check->by_barriers && !line->others;
    if (line->count == (only_read ? ROWS_READ : ROWS) && (only_read || !make_room(check, line)))
        return false;
    add_row(check, line, r);
    return true;
}

// What lanes read of a line that all only read: there are no races, and only the warp's own rows can tell of it already, go
// on, or be replaced. `plainly`: a row that tells of it will do.
static bool check_read_row(AccessCheck *check, ShadowLine *line, const StridedAccess *r, bool plainly)
{
    const bool own = has_rows_of(line, &r->epoch);
    uint32_t replaced = 0;
    StridedAccess *next = NULL;
    check->shared_words = 0;
    for (int k = 0; k < line->count; k++) {
        StridedAccess *a = row_at(line, k);
        const uint32_t both = a->words & r->words;
        check->shared_words |= both;
        if (!own || !is_same_warp(&a->epoch, &r->epoch))
            continue;
        const bool alike = lies_alike(check, a, r);
        if (plainly && alike && has_read(check, a, r)) {
            check->shared_words = 0;
            return true;
        }
        replaced |= (uint32_t)(both && replaces(a, r, alike, alike || read_again(a, r))) << k;
        next = next || !alike || !continues(check, a, r) ? next : a;
    }
    if (next)
        return merge(check, line, next, r);
    for (uint32_t rest = replaced; rest; rest &= rest - 1)
        row_at(line, __builtin_ctz(rest))->words &= ~r->words;
    if (replaced)
        drop_empty_rows(line);
    return keep_row(check, line, r);
}

// An access by lanes in a row: looks for races, and keeps it. False if the line has no room for it.
static bool check_row(AccessCheck *check, ShadowLine *line, const StridedAccess *r, bool plainly)
{
    if (!line->others)
        return check_read_row(check, line, r, plainly);
    bool empty = false;
    check->shared_words = ALL_LANES;
    if (line->count == 1 && merge(check, line, &line->first, r))
        return true;
    for (int k = 0; k < line->count; k++) {
        StridedAccess *a = row_by_age(line, k);
        check_against(check, a, r);
        empty |= !a->words;
    }
    if (empty)
        drop_empty_rows(line);
    for (int k = 0; k < line->count; k++)
        if (merge(check, line, row_at(line, k), r))
            return true;
    return keep_row(check, line, r);
}

// ---- An access in a line

// Some lanes' bytes that lie in a line, which is taken: word by word.
static void check_lanes(AccessCheck *check, ShadowLine *line, uint32_t lanes, unsigned first, unsigned count)
{
    for (unsigned at = first; at < first + count;) {
        const unsigned part = at % 4, end = first + count - at < 4 - part ? first + count - at : 4 - part;
        sim_check_word(check, &line->more->cells[at / 4], lanes, ((1u << end) - 1) << part);
        at += end;
    }
}

static void mark_words(ShadowLine *line, uint32_t words)
{
    mark_bytes(line, 0, bytes_of_words(words));
    mark_bytes(line, 1, bytes_of_words(words >> 16));
}

// Each lane's part of a row: against the line's rows, if the row was not kept as one, and its values, where they are asked for.
// The line is taken.
static void check_each_lane(AccessCheck *check, ShadowLine *line, const StridedAccess *r, bool kept, bool values)
{
    Access *access = check->access;
    const bool writing = writes(&r->epoch), updates = r->epoch.kind == ATOMIC_UPDATE, all_here = r->stride == ONE_PLACE;
    for (uint32_t rest = r->epoch.lanes; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest), at = r->origin + l * (int)r->stride;
        const int begin = at > 0 ? at : 0,
                  end = at + (int)access->bytes < LINE_BYTES ? at + (int)access->bytes : LINE_BYTES;
        if (!kept && (!all_here || rest == r->epoch.lanes))
            check_lanes(check, line, all_here ? rest : rest & -rest, (unsigned)begin, (unsigned)(end - begin));
        if (values && updates)
            sim_check_written(access, line, l, (unsigned)begin, (unsigned)(end - begin), (unsigned)(begin - at), false);
        if (values)
            sim_check_written(access, line, l, (unsigned)begin, (unsigned)(end - begin), (unsigned)(begin - at), writing);
    }
}

// The lanes of a row, all of whose bytes of whole words lie in this line, or a part of one lane's; the line is taken.
static void check_taken(AccessCheck *check, ShadowLine *line, const StridedAccess *r, bool row, bool plainly)
{
    line->copies |= is_under_way(&r->epoch);
    line->others |= r->epoch.kind != PLAIN_READ;
    const bool kept = row && !line->apart && check_row(check, line, r, plainly);
    if (kept && (plainly || !check->memory.values))
        return;
    if (kept && writes(&r->epoch) && r->whole) {
        mark_words(line, r->words);
        return;
    }
    if (!kept && !line->apart)
        split(check, line);
    const bool unwritten = check->memory.values && !all_written(line, r->words);
    if (!kept || unwritten)
        check_each_lane(check, line, r, kept, unwritten);
}

// The lanes of a row, each with so many bytes, that access some of its words.
static uint32_t lanes_of_words(const StridedAccess *r, size_t bytes)
{
    uint32_t lanes = 0;
    for (uint32_t rest = r->stride == ONE_PLACE ? 0 : r->epoch.lanes; rest; rest &= rest - 1) {
        const int at = r->origin + __builtin_ctz(rest) * (int)r->stride;
        const unsigned first = at > 0 ? (unsigned)at / 4 : 0;
        lanes |= r->words & bits_between(first, (unsigned)(at + (int)bytes + 3) / 4) ? rest & -rest : 0;
    }
    return r->stride == ONE_PLACE ? r->epoch.lanes : lanes;
}

// The line is taken.
static __attribute__((noinline)) void check_in_taken_line(AccessCheck *check, ShadowLine *line, StridedAccess *r, bool row)
{
    const bool reads = check->by_barriers && r->epoch.kind == PLAIN_READ,
               plainly = reads && (!check->memory.values || all_written(line, r->words));
    const uint32_t words = r->words, lanes = r->epoch.lanes;
    if (plainly)
        r->words = words_to_note(check, line, r);
    if (line->apart && r->words != words)
        r->epoch.lanes = lanes_of_words(r, check->access->bytes);
    const bool told = r->words != 0;
    if (told)
        check_taken(check, line, r, row, plainly && !line->apart);
    if (told && reads && line->apart)
        sim_note_readers_of_cells(check, line, r);
    r->epoch.lanes = lanes;
    r->words = words;
    if (!reads)
        forget_readers(check, line, words);
    else if (told && !line->apart && line->count > 1 && r->whole && check->shared_words)
        sim_note_readers(check, line, r);
}

// Whether a row of the line tells of this one, too, or does so from now on, where no other row has any of its words.
static inline bool goes_on(const AccessCheck *check, ShadowLine *line, StridedAccess *a, const StridedAccess *r, uint32_t words_of_others)
{
    const bool only_reads = r->epoch.kind == PLAIN_READ && !line->others;
    if ((line->count == 1 || (only_reads && !(words_of_others & r->words))) && merge(check, line, a, r))
        return true;
    return only_reads && check->by_barriers && has_read(check, a, r);
}

// The same of the two newest rows.
static inline bool is_in_newest(const AccessCheck *check, ShadowLine *line, const StridedAccess *r)
{
    struct ShadowOverflow *more = line->more;
    if (goes_on(check, line, &line->first, r, line->count > 1 ? more->words : 0))
        return true;
    return line->count > 1 && goes_on(check, line, row_at(line, line->count - 1), r, more->words | line->first.words);
}

// Whether a row has been read of a line in which nobody has done anything but read other words, and none of the warp's rows
// is there to tell of it.
static inline bool is_apart(const ShadowLine *line, const StridedAccess *r)
{
    return r->epoch.kind == PLAIN_READ && !line->others && !has_rows_of(line, &r->epoch) &&
           !(line->first.words & r->words) && !(line->count > 1 && line->more->words & r->words);
}

// The frequent cases: a line of which nothing is known, one whose newest rows go on, and one that more and more warps
// read. False if it is another one. The line is taken.
static inline bool check_quickly(const AccessCheck *check, ShadowLine *line, const StridedAccess *r)
{
    const bool reads = r->epoch.kind == PLAIN_READ, values = check->memory.values;
    if (line->apart || (!reads && r->epoch.kind != PLAIN_WRITE) || !r->whole)
        return false;
    if (reads && values && !all_written(line, r->words))
        return false;
    if (line->count == 0)
        add_row(check, line, r);
    else if (!is_in_newest(check, line, r)) {
        if (line->count == ROWS || !is_apart(line, r))
            return reads && check->by_barriers && !words_to_note(check, line, r);
        add_row(check, line, r);
    }
    if (reads)
        return true;
    line->others = true;
    if (values)
        mark_words(line, r->words);
    forget_readers(check, line, r->words);
    return true;
}

void sim_check_in_line(AccessCheck *check, ShadowLine *line, StridedAccess *r, bool row)
{
    const Memory *memory = &check->memory;
    if (check->by_barriers && r->epoch.kind == PLAIN_READ && tell_nothing(memory->run, line, r->words, memory->values))
        return;
    lock_line(check, line);
    row &= check->rows;
    if (!row || !check_quickly(check, line, r))
        check_in_taken_line(check, line, r, row);
    unlock_line(check, line);
}

// Whether one row, which says this, is all that is known of a line in this run. The line is not taken: no other thread makes a row
// with this epoch, and who comes later finds it.
static inline bool is_only_row(const ShadowLine *line, uint32_t run, const StridedAccess *r)
{
    const uint32_t *is = (const uint32_t *)&line->first.epoch, *wanted = (const uint32_t *)&r->epoch;
    bool same = __atomic_load_n(&line->run, __ATOMIC_ACQUIRE) == run && __atomic_load_n(&line->count, __ATOMIC_RELAXED) == 1 &&
                !(r->words & ~__atomic_load_n(&line->first.words, __ATOMIC_RELAXED)) &&
                __atomic_load_n(&line->first.origin, __ATOMIC_RELAXED) == r->origin &&
                __atomic_load_n(&line->first.shape, __ATOMIC_RELAXED) == r->shape;
    for (size_t k = 0; k < sizeof r->epoch / sizeof *is && same; k++)
        same = __atomic_load_n(&is[k], __ATOMIC_RELAXED) == wanted[k];
    return same;
}

bool sim_note_row(const AccessCheck *check, ShadowLine *line, const StridedAccess *r)
{
    if (is_only_row(line, check->memory.run, r))
        return true;
    lock_line(check, line);
    const bool noted = line->count == 0 && check_quickly(check, line, r);
    unlock_line(check, line);
    return noted;
}

// ---- Loads for memory that is only read

// Who wrote these bytes of a line, which is taken, in this run.
static const AccessRecord *find_writer(ShadowLine *line, unsigned first, unsigned count, uint32_t *lanes)
{
    for (unsigned at = first; at < first + count; at++) {
        const unsigned n = at / 4;
        for (int k = 0; !line->apart && k < line->count; k++) {
            const StridedAccess *r = row_at(line, k);
            *lanes = lanes_at_byte(r, (int)at);
            if (writes(&r->epoch) && r->words >> n & 1 && *lanes)
                return &r->epoch;
        }
        for (int k = 0; line->apart && k < line->more->cells[n].count; k++) {
            const AccessRecord *e = &epochs_of(&line->more->cells[n])[k];
            *lanes = e->lanes;
            if (writes(e) && e->bytes >> at % 4 & 1)
                return e;
        }
    }
    return NULL;
}

void sim_check_read_only(AccessCheck *check, uint32_t mask)
{
    for (uint32_t rest = mask; rest && !check->race.found; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        const uint64_t first = (uint64_t)(check->access->pointer[l] - check->memory.base); // aligned: in one line
        ShadowLine *line = &check->memory.lines[first / LINE_BYTES];
        uint32_t lanes;
        lock_line(check, line);
        const unsigned in_line = (unsigned)(first % LINE_BYTES), bytes = (unsigned)check->access->bytes;
        const AccessRecord *writer = find_writer(line, in_line, bytes, &lanes);
        if (writer) {
            check->race = (Race){*writer, check->epoch, .found = true, .stale = true};
            check->race.earlier.lanes = lanes;
            check->race.later.lanes = 1u << l;
        }
        unlock_line(check, line);
    }
}
