// strided.c: the records of a shadow line: a few StridedAccesses, or cells (cells.c) when these do not suffice.
#include "checker/conflicts.h"
#include "checker/readers.h"

#include <stdlib.h>
#include <string.h>

// ---- Strided accesses

// The overflow of a line, with room for `count` strided accesses besides the first.
static struct ShadowOverflow *grow(const AccessCheck *check, ShadowLine *line, uint8_t count)
{
    struct ShadowOverflow *overflow = line->overflow;
    if (overflow && line->capacity >= count)
        return overflow;
    line->overflow = realloc(overflow, sizeof *overflow + count * sizeof *overflow->strided);
    if (!line->overflow)
        sim_die("out of memory for the uses of a line of memory");
    if (!overflow)
        memset(line->overflow, 0, sizeof *overflow);
    line->capacity = count;
    if (check->a)
        atomic_store_explicit(&check->a->has_overflow_lines, true, memory_order_relaxed);
    return line->overflow;
}

// True if each word, or byte, of an access and of an earlier one of its warp belongs to the same lane in both, or both are
// broadcasts to the same lanes. Compares field by field: wider loads of the new `r` would miss store forwarding.
static inline __attribute__((always_inline)) bool lanes_match(const AccessCheck *check, const StridedAccess *a, const StridedAccess *r)
{
    if (a->stride != r->stride || ((a->size < 4 || r->size < 4) && !same_shape(a, r)))
        return false;
    if (a->stride == SAME_ADDRESS)
        return a->record.lanes == r->record.lanes && (!(a->record.lanes & (a->record.lanes - 1)) ||
                                                    (a->record.kind == PLAIN_READ && r->record.kind == PLAIN_READ));
    // Each thread walks through elements of its own, `stride` bytes apart: the access may be at a later one.
    const int distance = r->origin - a->origin;
    return distance == 0 || (distance > 0 && distance + (int)check->access->bytes <= (int)a->stride);
}

// True if both are broadcasts, and the later one reaches all lanes of the earlier one.
static bool covers_broadcast(const StridedAccess *a, const StridedAccess *r)
{
    return a->stride == SAME_ADDRESS && r->stride == SAME_ADDRESS && !(a->record.lanes & ~r->record.lanes) && a->size == 4 &&
           r->size == 4;
}

static uint32_t lanes_at_byte(const StridedAccess *r, int byte)
{
    const int distance = byte - r->origin;
    if (r->size == 4)
        return lanes_at(r, byte / 4);
    if (r->stride == SAME_ADDRESS)
        return distance >= 0 && distance < (int)r->size ? r->record.lanes : 0;
    if (distance < 0 || distance / (int)r->stride >= LANES || distance % (int)r->stride >= (int)r->size)
        return 0;
    return 1u << distance / (int)r->stride & r->record.lanes;
}

// Adds the records of a strided access for one word to its cell.
static void insert_word(ShadowCell *c, const StridedAccess *r, int word)
{
    AccessRecord e = r->record;
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

// Converts the strided accesses of a line to cells.
static void make_cells(const AccessCheck *check, ShadowLine *line)
{
    struct ShadowOverflow *overflow = grow(check, line, line->capacity);
    overflow->cells = overflow->cells ? overflow->cells : calloc(WORDS, sizeof *overflow->cells);
    if (!overflow->cells)
        sim_die("out of memory for the uses of a line of memory");
    for (int n = 0; n < WORDS; n++) {
        overflow->cells[n].count = 0;
        for (int k = 0; k < line->count; k++)
            if (strided_by_age(line, k)->words >> n & 1)
                insert_word(&overflow->cells[n], strided_by_age(line, k), n);
    }
    line->count = 0;
    line->has_cells = true;
}

// Aligned to cache lines of the host; the word before the first line holds the pointer to free.
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
        ShadowCell *cells = lines[k].overflow ? lines[k].overflow->cells : NULL;
        for (int n = 0; cells && n < WORDS; n++)
            free(cells[n].heap_records);
        free(cells);
        free(lines[k].overflow);
    }
    free(lines ? ((void **)lines)[-1] : NULL);
}

// Looks for a race between these lanes of both accesses, in one word or byte; sim_hb_all_lanes has not ordered them.
static void check_lane_pairs(AccessCheck *check, const StridedAccess *a, const StridedAccess *r, uint32_t earlier_lanes, uint32_t lanes)
{
    AccessRecord earlier = a->record, later = r->record;
    earlier.lanes = earlier_lanes;
    for (uint32_t rest = earlier_lanes ? lanes : 0; rest; rest &= rest - 1) {
        later.lanes = rest & -rest;
        const bool same = a->record.block == r->record.block && a->record.warp == r->record.warp &&
                          earlier.lanes == later.lanes &&
                          (!is_in_flight(&a->record) || is_own_copy(check, &a->record, &r->record));
        if (!same && !sim_happens_before(check->w, check->i, __builtin_ctz(rest), &earlier))
            check->race = (Race){earlier, later, .found = true, .same_value = sim_stores_present_value(check, __builtin_ctz(rest))};
    }
}

static void check_words(AccessCheck *check, const StridedAccess *a, const StridedAccess *r)
{
    const int step = a->size == 4 && r->size == 4 ? 4 : 1;
    for (uint32_t words = a->words & r->words; words && !check->race.found; words &= words - 1)
        for (int at = 4 * __builtin_ctz(words), end = at + 4; at < end && !check->race.found; at += step)
            check_lane_pairs(check, a, r, lanes_at_byte(a, at), lanes_at_byte(r, at));
}

// True if one StridedAccess can represent both: the same instruction at the same time, as in a walk through an array.
static inline bool can_merge(const AccessCheck *check, const StridedAccess *a, const StridedAccess *r)
{
    const AccessRecord *e = &a->record;
    return e->time == r->record.time && e->site == r->record.site && e->kind == r->record.kind && is_same_warp(e, &r->record) &&
           !is_in_flight(e) && lanes_match(check, a, r);
}

// Adds the access to an earlier one if possible.
static inline bool merge(const AccessCheck *check, ShadowLine *line, StridedAccess *a, const StridedAccess *r)
{
    if (!can_merge(check, a, r))
        return false;
    a->words |= r->words;
    a->whole &= r->whole;
    a->record.lanes |= r->record.lanes;
    if (a != &line->first)
        line->overflow->words |= r->words;
    return true;
}

// Keeps the newest access as the first: a warp in a loop finds its own there.
static void add_strided(const AccessCheck *check, ShadowLine *line, const StridedAccess *r)
{
    if (line->count > line->capacity)
        grow(check, line, line->capacity ? 3 * line->capacity + 1 : 3); // 3, 10, 31
    if (line->count > 0) {
        struct ShadowOverflow *overflow = line->overflow;
        overflow->strided[line->count - 1] = line->first;
        overflow->words = (line->count > 1 ? overflow->words : 0) | line->first.words;
        overflow->warp_bits = (line->count > 1 ? overflow->warp_bits : 0) | warp_bit(&line->first.record);
    }
    line->first = *r;
    line->count++;
}

// True if both have the same stride but disjoint bytes, such as different members of small structures; false means unknown.
static bool is_interleaved(const StridedAccess *a, const StridedAccess *r)
{
    if (a->stride != r->stride || a->stride == SAME_ADDRESS || a->size == 4 || r->size == 4)
        return false;
    const int stride = (int)a->stride, distance = ((r->origin - a->origin) % stride + stride) % stride;
    return distance >= (int)a->size && distance + (int)r->size <= stride;
}

// False if the two accesses cannot race: a filter before check_words. matching: lanes_match().
static bool may_race_with(const AccessCheck *check, const StridedAccess *a, const StridedAccess *r, bool matching)
{
    if (!(a->words & r->words) || !conflict(check, &a->record, &r->record) || is_interleaved(a, r))
        return false;
    if (matching && (!is_in_flight(&a->record) || is_own_copy(check, &a->record, &r->record)))
        return false;
    return !sim_hb_warp_fast(check->w, &a->record) &&
           !sim_hb_all_lanes(check->w, check->i, r->record.lanes, &a->record);
}

// Removes the words of a read that have two other readers: of two blocks, or of two warps since (see ReaderPair).
static void drop_redundant_reads(ShadowLine *line, StridedAccess *a)
{
    uint32_t blocks = 0, block = 0, warps = 0, warp = 0;
    for (int k = 0; k < line->count; k++) {
        const StridedAccess *b = strided_at(line, k);
        if (b == a || b->record.kind != PLAIN_READ || !b->whole)
            continue;
        *(b->record.block == a->record.block ? &block : &blocks) |= b->words;
        if (b->record.block == a->record.block && b->record.time >= a->record.time)
            *(b->record.warp == a->record.warp ? &warp : &warps) |= b->words;
    }
    a->words &= ~(blocks & block) & ~(warps & warp);
}

static void drop_empty(ShadowLine *line)
{
    int kept = 0; // besides the first
    for (int k = 1; k < line->count; k++)
        if (strided_at(line, k)->words && ++kept < k)
            *strided_at(line, kept) = *strided_at(line, k);
    if (!line->first.words && kept > 0)
        line->first = *strided_at(line, kept--);
    line->count = (uint8_t)(kept + (line->first.words != 0));
}

static bool make_room(const AccessCheck *check, ShadowLine *line)
{
    for (int k = 0; k < line->count && check->barriers_only; k++)
        if (strided_by_age(line, k)->record.kind == PLAIN_READ)
            drop_redundant_reads(line, strided_by_age(line, k));
    drop_empty(line);
    return line->count < MAX_STRIDED;
}

// True if in the common words `r` makes the earlier record of `a` redundant.
static inline bool replaces(const StridedAccess *a, const StridedAccess *r, bool matching, bool same_lanes)
{
    const bool whole = r->whole || (matching && !(a->record.lanes & ~r->record.lanes) && !(a->words & ~r->words));
    return whole && subsumes(&r->record, &a->record) && (r->record.kind == PLAIN_WRITE || same_lanes);
}

// Looks for a race with an earlier access, and removes the words of that access that `r` makes redundant.
static void check_against(AccessCheck *check, StridedAccess *a, const StridedAccess *r)
{
    const bool own = is_same_warp(&a->record, &r->record), matching = own && lanes_match(check, a, r),
               same_lanes = matching || (own && r->record.kind == PLAIN_READ && covers_broadcast(a, r));
    if (may_race_with(check, a, r, matching))
        check_words(check, a, r);
    if (replaces(a, r, matching, same_lanes) || ends_copy(check, &a->record, &r->record))
        a->words &= ~r->words;
}

// Redundant read: the same threads have read the same words in this barrier interval.
static inline bool is_repeated_read(const AccessCheck *check, const StridedAccess *a, const StridedAccess *r)
{
    return a->record.time > check->warp_epoch && check->full_warp_barriers && a->whole && !(r->words & ~a->words) &&
           is_same_warp(&a->record, &r->record) && !(r->record.lanes & ~a->record.lanes) && lanes_match(check, a, r);
}

// False if the line has no access of the record's warp; true may be wrong.
static inline bool may_have_warp(const ShadowLine *line, const AccessRecord *e)
{
    if (line->count == 0)
        return false; // `first` is of an earlier run
    return is_same_warp(&line->first.record, e) || (line->count > 1 && line->overflow->warp_bits & warp_bit(e));
}

// In shared memory that is only read, with changing lane patterns, cells find two readers of a word sooner.
enum { MAX_STRIDED_READS = 8 };

static bool keep_strided(const AccessCheck *check, ShadowLine *line, const StridedAccess *r)
{
    const bool only_read = check->shared && check->barriers_only && !line->has_other_kinds;
    if (line->count == (only_read ? MAX_STRIDED_READS : MAX_STRIDED) && (only_read || !make_room(check, line)))
        return false;
    add_strided(check, line, r);
    return true;
}

// A read of a line that so far has only been read: no race is possible, and only accesses of the same warp can be merged or become
// redundant. is_initialised_read: a redundant read need not be kept.
static bool check_strided_read(AccessCheck *check, ShadowLine *line, const StridedAccess *r, bool is_initialised_read)
{
    const bool own = may_have_warp(line, &r->record);
    uint32_t replaced = 0;
    StridedAccess *next = NULL;
    check->words_in_others = 0;
    for (int k = 0; k < line->count; k++) {
        StridedAccess *a = strided_at(line, k);
        const uint32_t both = a->words & r->words;
        check->words_in_others |= both;
        if (!own || !is_same_warp(&a->record, &r->record))
            continue;
        const bool matching = lanes_match(check, a, r);
        if (is_initialised_read && matching && is_repeated_read(check, a, r)) {
            check->words_in_others = 0;
            return true;
        }
        replaced |= (uint32_t)(both && replaces(a, r, matching, matching || covers_broadcast(a, r))) << k;
        next = next || !matching || !can_merge(check, a, r) ? next : a;
    }
    if (next)
        return merge(check, line, next, r);
    for (uint32_t rest = replaced; rest; rest &= rest - 1)
        strided_at(line, __builtin_ctz(rest))->words &= ~r->words;
    if (replaced)
        drop_empty(line);
    return keep_strided(check, line, r);
}

// Looks for races, and keeps the access. False if the line has no room for it.
static bool check_strided(AccessCheck *check, ShadowLine *line, const StridedAccess *r, bool is_initialised_read)
{
    if (!line->has_other_kinds)
        return check_strided_read(check, line, r, is_initialised_read);
    bool empty = false;
    check->words_in_others = ALL_LANES;
    if (line->count == 1 && merge(check, line, &line->first, r))
        return true;
    for (int k = 0; k < line->count; k++) {
        StridedAccess *a = strided_by_age(line, k);
        check_against(check, a, r);
        empty |= !a->words;
    }
    if (empty)
        drop_empty(line);
    for (int k = 0; k < line->count; k++)
        if (merge(check, line, strided_at(line, k), r))
            return true;
    return keep_strided(check, line, r);
}

// ---- An access in a line

// Checks and records the lanes' bytes in the cells of a line, which is locked.
static void check_lanes(AccessCheck *check, ShadowLine *line, uint32_t lanes, unsigned first, unsigned count)
{
    for (unsigned at = first; at < first + count;) {
        const unsigned part = at % 4, end = first + count - at < 4 - part ? first + count - at : 4 - part;
        sim_check_word(check, &line->overflow->cells[at / 4], lanes, ((1u << end) - 1) << part);
        at += end;
    }
}

static void mark_words(ShadowLine *line, uint32_t words)
{
    mark_bytes(line, 0, bytes_of_words(words));
    mark_bytes(line, 1, bytes_of_words(words >> 16));
}

// Lane by lane: records the access in the cells unless it is `kept` already, and if `values` checks or marks written bytes. The line
// is locked.
static void check_each_lane(AccessCheck *check, ShadowLine *line, const StridedAccess *r, bool kept, bool values)
{
    Access *access = check->access;
    const bool writing = writes(&r->record), updates = r->record.kind == ATOMIC_UPDATE, same_address = r->stride == SAME_ADDRESS;
    for (uint32_t rest = r->record.lanes; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest), at = r->origin + l * (int)r->stride;
        const int begin = at > 0 ? at : 0,
                  end = at + (int)access->bytes < LINE_BYTES ? at + (int)access->bytes : LINE_BYTES;
        if (!kept && (!same_address || rest == r->record.lanes))
            check_lanes(check, line, same_address ? rest : rest & -rest, (unsigned)begin, (unsigned)(end - begin));
        if (values && updates)
            sim_check_written_bytes(access, line, l, (unsigned)begin, (unsigned)(end - begin), (unsigned)(begin - at), false);
        if (values)
            sim_check_written_bytes(access, line, l, (unsigned)begin, (unsigned)(end - begin), (unsigned)(begin - at), writing);
    }
}

// Checks and records an access to r->words by r->record.lanes. The line is locked.
static void check_words_of_lanes(AccessCheck *check, ShadowLine *line, const StridedAccess *r, bool as_strided, bool is_initialised_read)
{
    line->has_copies |= is_in_flight(&r->record);
    line->has_other_kinds |= r->record.kind != PLAIN_READ;
    const bool kept = as_strided && !line->has_cells && check_strided(check, line, r, is_initialised_read);
    if (kept && (is_initialised_read || !check->memory.checks_values))
        return;
    if (kept && writes(&r->record) && r->whole) {
        mark_words(line, r->words);
        return;
    }
    if (!kept && !line->has_cells)
        make_cells(check, line);
    const bool unwritten = check->memory.checks_values && !all_written(line, r->words);
    if (!kept || unwritten)
        check_each_lane(check, line, r, kept, unwritten);
}

// The lanes, each with `bytes` bytes, that access at least one of r->words.
static uint32_t lanes_of_words(const StridedAccess *r, size_t bytes)
{
    uint32_t lanes = 0;
    for (uint32_t rest = r->stride == SAME_ADDRESS ? 0 : r->record.lanes; rest; rest &= rest - 1) {
        const int at = r->origin + __builtin_ctz(rest) * (int)r->stride;
        const unsigned first = at > 0 ? (unsigned)at / 4 : 0;
        lanes |= r->words & bits_between(first, (unsigned)(at + (int)bytes + 3) / 4) ? rest & -rest : 0;
    }
    return r->stride == SAME_ADDRESS ? r->record.lanes : lanes;
}

// The general case. The line is locked.
static __attribute__((noinline)) void check_slowly(AccessCheck *check, ShadowLine *line, StridedAccess *r, bool as_strided)
{
    const bool reads = check->barriers_only && r->record.kind == PLAIN_READ,
               is_initialised_read = reads && (!check->memory.checks_values || all_written(line, r->words));
    const uint32_t words = r->words, lanes = r->record.lanes;
    if (is_initialised_read)
        r->words = words_to_note(check, line, r);
    if (line->has_cells && r->words != words)
        r->record.lanes = lanes_of_words(r, check->access->bytes);
    const bool has_new_words = r->words != 0;
    if (has_new_words)
        check_words_of_lanes(check, line, r, as_strided, is_initialised_read && !line->has_cells);
    if (has_new_words && reads && line->has_cells)
        sim_note_readers_of_cells(check, line, r);
    r->record.lanes = lanes;
    r->words = words;
    if (!reads)
        forget_readers(check, line, words);
    else if (has_new_words && !line->has_cells && line->count > 1 && r->whole && check->words_in_others)
        sim_note_readers(check, line, r);
}

// True if the access is, or has now become, part of `a`, and no other access has its words.
static inline bool extends(const AccessCheck *check, ShadowLine *line, StridedAccess *a, const StridedAccess *r, uint32_t other_words)
{
    const bool only_reads = r->record.kind == PLAIN_READ && !line->has_other_kinds;
    if ((line->count == 1 || (only_reads && !(other_words & r->words))) && merge(check, line, a, r))
        return true;
    return only_reads && check->barriers_only && is_repeated_read(check, a, r);
}

// The same for the two newest accesses.
static inline bool extends_newest(const AccessCheck *check, ShadowLine *line, const StridedAccess *r)
{
    struct ShadowOverflow *overflow = line->overflow;
    if (extends(check, line, &line->first, r, line->count > 1 ? overflow->words : 0))
        return true;
    return line->count > 1 && extends(check, line, strided_at(line, line->count - 1), r, overflow->words | line->first.words);
}

// True if `r` is a read, and the line has only reads of other words by other warps.
static inline bool is_disjoint_read(const ShadowLine *line, const StridedAccess *r)
{
    return r->record.kind == PLAIN_READ && !line->has_other_kinds && !may_have_warp(line, &r->record) &&
           !(line->first.words & r->words) && !(line->count > 1 && line->overflow->words & r->words);
}

// The frequent cases: an empty line, one whose newest accesses continue, one that more and more warps read. False: another case, and
// nothing has changed. The line is locked.
static inline bool check_quickly(const AccessCheck *check, ShadowLine *line, const StridedAccess *r)
{
    const bool reads = r->record.kind == PLAIN_READ, values = check->memory.checks_values;
    if (line->has_cells || (!reads && r->record.kind != PLAIN_WRITE) || !r->whole)
        return false;
    if (reads && values && !all_written(line, r->words))
        return false;
    if (line->count == 0)
        add_strided(check, line, r);
    else if (!extends_newest(check, line, r)) {
        if (line->count == MAX_STRIDED || !is_disjoint_read(line, r))
            return reads && check->barriers_only && !words_to_note(check, line, r);
        add_strided(check, line, r);
    }
    if (reads)
        return true;
    line->has_other_kinds = true;
    if (values)
        mark_words(line, r->words);
    forget_readers(check, line, r->words);
    return true;
}

void sim_check_strided(AccessCheck *check, ShadowLine *line, StridedAccess *r, bool as_strided)
{
    const ShadowedMemory *memory = &check->memory;
    if (check->barriers_only && r->record.kind == PLAIN_READ && is_redundant_read(memory->run, line, r->words, memory->checks_values))
        return;
    lock_line(check, line);
    as_strided &= check->fits_strided;
    if (!as_strided || !check_quickly(check, line, r))
        check_slowly(check, line, r, as_strided);
    unlock_line(check, line);
}

// True if this access is the line's only record of this run. Needs no lock: no other thread makes a record with this block, warp and
// time, and later accesses will find it.
static inline bool is_only_access(const ShadowLine *line, uint32_t run, const StridedAccess *r)
{
    const uint32_t *is = (const uint32_t *)&line->first.record, *wanted = (const uint32_t *)&r->record;
    bool same = __atomic_load_n(&line->run, __ATOMIC_ACQUIRE) == run && __atomic_load_n(&line->count, __ATOMIC_RELAXED) == 1 &&
                !(r->words & ~__atomic_load_n(&line->first.words, __ATOMIC_RELAXED)) &&
                __atomic_load_n(&line->first.origin, __ATOMIC_RELAXED) == r->origin &&
                __atomic_load_n(&line->first.shape, __ATOMIC_RELAXED) == r->shape;
    for (size_t k = 0; k < sizeof r->record / sizeof *is && same; k++)
        same = __atomic_load_n(&is[k], __ATOMIC_RELAXED) == wanted[k];
    return same;
}

bool sim_record_strided_store(const AccessCheck *check, ShadowLine *line, const StridedAccess *r)
{
    if (is_only_access(line, check->memory.run, r))
        return true;
    lock_line(check, line);
    const bool noted = line->count == 0 && check_quickly(check, line, r);
    unlock_line(check, line);
    return noted;
}

// ---- Loads for memory that is only read

// A write to these bytes of a line in this run, and its lanes; or NULL. The line is locked.
static const AccessRecord *find_writer(ShadowLine *line, unsigned first, unsigned count, uint32_t *lanes)
{
    for (unsigned at = first; at < first + count; at++) {
        const unsigned n = at / 4;
        for (int k = 0; !line->has_cells && k < line->count; k++) {
            const StridedAccess *r = strided_at(line, k);
            *lanes = lanes_at_byte(r, (int)at);
            if (writes(&r->record) && r->words >> n & 1 && *lanes)
                return &r->record;
        }
        for (int k = 0; line->has_cells && k < line->overflow->cells[n].count; k++) {
            const AccessRecord *e = &records_of(&line->overflow->cells[n])[k];
            *lanes = e->lanes;
            if (writes(e) && e->bytes >> at % 4 & 1)
                return e;
        }
    }
    return NULL;
}

void sim_check_noncoherent(AccessCheck *check, uint32_t mask)
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
            check->race = (Race){*writer, check->record, .found = true, .stale = true};
            check->race.earlier.lanes = lanes;
            check->race.later.lanes = 1u << l;
        }
        unlock_line(check, line);
    }
}
