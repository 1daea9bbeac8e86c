// strided.c: the access records of a shadow line: a few StridedAccesses or, where these do not suffice, cells (cells.c).
#include "checker/block_check.h"
#include "checker/conflicts.h"
#include "checker/readers.h"

#include <stdlib.h>
#include <string.h>

// ---- Strided accesses

// Returns the line's overflow, with capacity for at least `count` strided accesses besides the first.
static struct ShadowOverflow *grow(const AccessCheck *check, ShadowLine *line, uint8_t count)
{
    struct ShadowOverflow *overflow = line->overflow;
    if (overflow && line->capacity >= count)
        return overflow;
    line->overflow = realloc(overflow, sizeof *overflow + count * sizeof *overflow->strided);
    if (!line->overflow)
        sim_die("out of memory: shadow memory");
    if (!overflow)
        memset(line->overflow, 0, sizeof *overflow);
    line->capacity = count;
    if (check->allocation)
        atomic_store_explicit(&check->allocation->check->has_overflow_lines, true, memory_order_relaxed);
    return line->overflow;
}

// True if each word, or byte, of two accesses of a warp belongs to the same lane in both, or if both are broadcasts to the same
// lanes. Compares field by field, because a wider load of the fields of `current`, just stored one by one, would miss store
// forwarding.
static inline __attribute__((always_inline)) bool lanes_match(const AccessCheck *check, const StridedAccess *earlier,
                                                              const StridedAccess *current)
{
    if (earlier->stride != current->stride || ((earlier->size < 4 || current->size < 4) && !same_shape(earlier, current)))
        return false;
    if (earlier->stride == SAME_ADDRESS)
        return earlier->record.lanes == current->record.lanes && (!(earlier->record.lanes & (earlier->record.lanes - 1)) ||
                                                    (earlier->record.kind == PLAIN_READ && current->record.kind == PLAIN_READ));
    // Each thread iterates over its own elements within `stride` bytes; the current access may be at a later element.
    const int distance = current->origin - earlier->origin;
    return distance == 0 || (distance > 0 && distance + (int)check->access->bytes <= (int)earlier->stride);
}

// True if both accesses are broadcasts, and the current one includes all lanes of the earlier one.
static bool covers_broadcast(const StridedAccess *earlier, const StridedAccess *current)
{
    return earlier->stride == SAME_ADDRESS && current->stride == SAME_ADDRESS &&
           !(earlier->record.lanes & ~current->record.lanes) && earlier->size == 4 && current->size == 4;
}

static uint32_t lanes_at_byte(const StridedAccess *strided, int byte)
{
    const int distance = byte - strided->origin;
    if (strided->size == 4)
        return lanes_at(strided, byte / 4);
    if (strided->stride == SAME_ADDRESS)
        return distance >= 0 && distance < (int)strided->size ? strided->record.lanes : 0;
    if (distance < 0 || distance / (int)strided->stride >= LANES || distance % (int)strided->stride >= (int)strided->size)
        return 0;
    return 1u << distance / (int)strided->stride & strided->record.lanes;
}

// Adds the records of a strided access to one word to the cell of that word.
static void insert_word(ShadowCell *c, const StridedAccess *strided, int word)
{
    AccessRecord record = strided->record;
    if (strided->size == 4) {
        record.lanes = lanes_at(strided, word);
        record.byte_mask = 15;
        sim_insert_record(c, &record);
        return;
    }
    for (int k = 0; k < 4; k += (int)strided->size) {
        record.lanes = lanes_at_byte(strided, 4 * word + k);
        record.byte_mask = ((1u << strided->size) - 1) << k & 15;
        if (record.lanes)
            sim_insert_record(c, &record);
    }
}

// Converts the strided accesses of a line to cells.
static void make_cells(const AccessCheck *check, ShadowLine *line)
{
    struct ShadowOverflow *overflow = grow(check, line, line->capacity);
    overflow->cells = overflow->cells ? overflow->cells : calloc(WORDS, sizeof *overflow->cells);
    if (!overflow->cells)
        sim_die("out of memory: shadow memory");
    for (int n = 0; n < WORDS; n++) {
        overflow->cells[n].count = 0;
        for (int k = 0; k < line->count; k++)
            if (strided_by_age(line, k)->word_mask >> n & 1)
                insert_word(&overflow->cells[n], strided_by_age(line, k), n);
    }
    line->count = 0;
    line->has_cells = true;
}

// Looks for a race between lanes of two accesses to one word or byte, which sim_hb_all_lanes has not found to be ordered.
static void check_lane_pairs(AccessCheck *check, const StridedAccess *earlier, const StridedAccess *current,
                             uint32_t earlier_lanes, uint32_t lanes)
{
    AccessRecord earlier_record = earlier->record, later_record = current->record;
    earlier_record.lanes = earlier_lanes;
    for (uint32_t rest = earlier_lanes ? lanes : 0; rest; rest &= rest - 1) {
        later_record.lanes = rest & -rest;
        const bool same = earlier->record.block == current->record.block && earlier->record.warp == current->record.warp &&
                          earlier_record.lanes == later_record.lanes &&
                          (!is_in_flight(&earlier->record) || is_own_copy(check, &earlier->record, &current->record));
        sim_note_pair(check, &earlier_record, &later_record, !same && !sim_happens_before(check->w, check->i, __builtin_ctz(rest), &earlier_record));
    }
}

static void check_words(AccessCheck *check, const StridedAccess *earlier, const StridedAccess *current)
{
    const int granularity = earlier->size == 4 && current->size == 4 ? 4 : 1;
    for (uint32_t word_mask = earlier->word_mask & current->word_mask; word_mask && !check->race.found; word_mask &= word_mask - 1)
        for (int byte = 4 * __builtin_ctz(word_mask), end = byte + 4; byte < end && !check->race.found; byte += granularity)
            check_lane_pairs(check, earlier, current, lanes_at_byte(earlier, byte), lanes_at_byte(current, byte));
}

// True if one StridedAccess can represent both accesses: the same instruction at the same time, as in a loop over an array.
static inline bool can_merge(const AccessCheck *check, const StridedAccess *earlier, const StridedAccess *current)
{
    const AccessRecord *record = &earlier->record;
    return record->time == current->record.time && record->site == current->record.site &&
           record->kind == current->record.kind && is_same_warp(record, &current->record) && !is_in_flight(record) && lanes_match(check, earlier, current);
}

// Merges the access into an earlier one; false if that is impossible.
static inline bool merge(const AccessCheck *check, StridedAccess *earlier, const StridedAccess *current)
{
    if (!can_merge(check, earlier, current))
        return false;
    earlier->word_mask |= current->word_mask;
    earlier->whole &= current->whole;
    earlier->record.lanes |= current->record.lanes;
    return true;
}

// Stores the newest access as `first`, where the next iteration of the same warp finds it.
static void add_strided(const AccessCheck *check, ShadowLine *line, const StridedAccess *current)
{
    if (line->count > line->capacity)
        grow(check, line, line->capacity ? 3 * line->capacity + 1 : 3); // 3, 10, 31
    if (line->count > 0)
        line->overflow->strided[line->count - 1] = line->first;
    line->first = *current;
    line->count++;
}

// True if the accesses have the same stride and disjoint bytes, such as different members of small structures. False: unknown.
static bool is_interleaved(const StridedAccess *earlier, const StridedAccess *current)
{
    if (earlier->stride != current->stride || earlier->stride == SAME_ADDRESS || earlier->size == 4 || current->size == 4)
        return false;
    const int stride = (int)earlier->stride, distance = ((current->origin - earlier->origin) % stride + stride) % stride;
    return distance >= (int)earlier->size && distance + (int)current->size <= stride;
}

// False if the two accesses cannot race: a filter before check_words. `matching`: the result of lanes_match.
static bool may_race_with(const AccessCheck *check, const StridedAccess *earlier, const StridedAccess *current, bool matching)
{
    if (!(earlier->word_mask & current->word_mask) || !accesses_conflict(check, &earlier->record, &current->record) || is_interleaved(earlier, current))
        return false;
    if (matching && (!is_in_flight(&earlier->record) || is_own_copy(check, &earlier->record, &current->record)))
        return false;
    return !sim_hb_warp_fast(check->w, &earlier->record) &&
           (!sim_hb_all_lanes(check->w, check->i, current->record.lanes, &earlier->record) || sim_take_lacks_fence(check->w->block));
}

static void drop_empty(ShadowLine *line)
{
    int kept = 0; // besides the first
    for (int k = 1; k < line->count; k++)
        if (strided_at(line, k)->word_mask && ++kept < k)
            *strided_at(line, kept) = *strided_at(line, k);
    if (!line->first.word_mask && kept > 0)
        line->first = *strided_at(line, kept--);
    line->count = (uint8_t)(kept + (line->first.word_mask != 0));
}

// True if `current` makes the record of `earlier` redundant in their common words.
static inline bool replaces(const StridedAccess *earlier, const StridedAccess *current, bool matching, bool same_lanes)
{
    const bool whole = current->whole || (matching && !(earlier->record.lanes & ~current->record.lanes) &&
                                          !(earlier->word_mask & ~current->word_mask));
    return whole && subsumes(&current->record, &earlier->record) && (current->record.kind == PLAIN_WRITE || same_lanes);
}

// Looks for a race with an earlier access, and removes the words of that access that `current` makes redundant.
static void check_against(AccessCheck *check, StridedAccess *earlier, const StridedAccess *current)
{
    const bool same_warp = is_same_warp(&earlier->record, &current->record), lanes_equal = same_warp && lanes_match(check, earlier, current),
               same_lanes = lanes_equal || (same_warp && current->record.kind == PLAIN_READ && covers_broadcast(earlier, current));
    if (may_race_with(check, earlier, current, lanes_equal))
        check_words(check, earlier, current);
    if (replaces(earlier, current, lanes_equal, same_lanes) || ends_copy(check, &earlier->record, &current->record))
        earlier->word_mask &= ~current->word_mask;
}

// True if the read is redundant: the same threads have read the same words in this barrier interval.
static inline bool is_repeated_read(const AccessCheck *check, const StridedAccess *earlier, const StridedAccess *current)
{
    return earlier->record.time > check->warp_epoch && check->full_warp_barriers && earlier->whole &&
           !(current->word_mask & ~earlier->word_mask) && is_same_warp(&earlier->record, &current->record) &&
           !(current->record.lanes & ~earlier->record.lanes) && lanes_match(check, earlier, current);
}

// Looks for races and keeps the access. False if the line has no capacity for it.
static bool check_strided(AccessCheck *check, ShadowLine *line, const StridedAccess *current)
{
    bool empty = false;
    for (int k = 0; k < line->count; k++) {
        StridedAccess *earlier = strided_by_age(line, k);
        check_against(check, earlier, current);
        empty |= !earlier->word_mask;
    }
    if (empty)
        drop_empty(line);
    for (int k = 0; k < line->count; k++)
        if (merge(check, strided_at(line, k), current))
            return true;
    if (line->count == MAX_STRIDED)
        return false;
    add_strided(check, line, current);
    return true;
}

// ---- An access in a line

// Checks and records an access to consecutive bytes in the cells of a line. The line is locked.
static void check_lanes(AccessCheck *check, ShadowLine *line, uint32_t lanes, unsigned first, unsigned count)
{
    for (unsigned byte = first; byte < first + count;) {
        const unsigned in_word = byte % 4, covered = first + count - byte < 4 - in_word ? first + count - byte : 4 - in_word;
        sim_check_word(check, &line->overflow->cells[byte / 4], lanes, ((1u << covered) - 1) << in_word);
        byte += covered;
    }
}

static void mark_words(ShadowLine *line, uint32_t word_mask)
{
    mark_bytes(line, 0, bytes_of_words(word_mask));
    mark_bytes(line, 1, bytes_of_words(word_mask >> 16));
}

// Lane by lane, records the access in the cells unless `is_kept`, and checks or marks written bytes if `checks_values`. The line is
// locked.
static void check_each_lane(AccessCheck *check, ShadowLine *line, const StridedAccess *current, bool is_kept, bool checks_values)
{
    Access *access = check->access;
    const bool writing = writes(&current->record), updates = current->record.kind == ATOMIC_UPDATE,
               same_address = current->stride == SAME_ADDRESS;
    for (uint32_t rest = current->record.lanes; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest), at = current->origin + l * (int)current->stride;
        const int begin = at > 0 ? at : 0,
                  end = at + (int)access->bytes < LINE_BYTES ? at + (int)access->bytes : LINE_BYTES;
        if (!is_kept && (!same_address || rest == current->record.lanes))
            check_lanes(check, line, same_address ? rest : rest & -rest, (unsigned)begin, (unsigned)(end - begin));
        if (checks_values && updates)
            sim_check_written_bytes(access, line, l, (unsigned)begin, (unsigned)(end - begin), (unsigned)(begin - at), false);
        if (checks_values)
            sim_check_written_bytes(access, line, l, (unsigned)begin, (unsigned)(end - begin), (unsigned)(begin - at), writing);
    }
}

// Checks and records an access to current->word_mask by current->record.lanes. The line is locked.
static void check_words_of_lanes(AccessCheck *check, ShadowLine *line, const StridedAccess *current, bool as_strided, bool is_initialised_read)
{
    line->has_copies |= is_in_flight(&current->record);
    line->has_other_kinds |= current->record.kind != PLAIN_READ;
    const bool is_kept = as_strided && !line->has_cells && check_strided(check, line, current);
    if (is_kept && (is_initialised_read || !check->memory.checks_values))
        return;
    if (is_kept && writes(&current->record) && current->whole) {
        mark_words(line, current->word_mask);
        return;
    }
    if (!is_kept && !line->has_cells)
        make_cells(check, line);
    const bool unwritten = check->memory.checks_values && !all_written(line, current->word_mask);
    if (!is_kept || unwritten)
        check_each_lane(check, line, current, is_kept, unwritten);
}

// The lanes that access at least one word of the mask. `bytes`: size of a lane's element.
static uint32_t lanes_of_words(const StridedAccess *strided, size_t bytes)
{
    uint32_t lanes = 0;
    for (uint32_t rest = strided->stride == SAME_ADDRESS ? 0 : strided->record.lanes; rest; rest &= rest - 1) {
        const int at = strided->origin + __builtin_ctz(rest) * (int)strided->stride;
        const unsigned first = at > 0 ? (unsigned)at / 4 : 0;
        lanes |= strided->word_mask & bits_between(first, (unsigned)(at + (int)bytes + 3) / 4) ? rest & -rest : 0;
    }
    return strided->stride == SAME_ADDRESS ? strided->record.lanes : lanes;
}

// Checks and records any access. The line is locked.
static __attribute__((noinline)) void check_strided_slow_path(AccessCheck *check, ShadowLine *line, StridedAccess *current, bool as_strided)
{
    const bool reads = check->barriers_only && current->record.kind == PLAIN_READ,
               is_initialised_read = reads && (!check->memory.checks_values || all_written(line, current->word_mask));
    const uint32_t word_mask = current->word_mask, lanes = current->record.lanes;
    if (is_initialised_read)
        current->word_mask = words_to_note(check, line, current);
    if (line->has_cells && current->word_mask != word_mask)
        current->record.lanes = lanes_of_words(current, check->access->bytes);
    const bool has_new_words = current->word_mask != 0;
    if (has_new_words)
        check_words_of_lanes(check, line, current, as_strided, is_initialised_read && !line->has_cells);
    if (has_new_words && reads && line->has_cells)
        sim_note_readers_of_cells(check, line, current);
    current->record.lanes = lanes;
    current->word_mask = word_mask;
    if (!reads)
        forget_readers(check, line, word_mask);
    else if (has_new_words && !line->has_cells && line->count > 1 && current->whole)
        sim_note_readers(check, line, current);
}

// Merges the access into the newest one; true if it is now, or already was, a part of that one.
static inline bool try_extend(const AccessCheck *check, ShadowLine *line, const StridedAccess *current)
{
    const bool only_reads = current->record.kind == PLAIN_READ && !line->has_other_kinds;
    if (line->count == 1 && merge(check, &line->first, current))
        return true;
    return only_reads && check->barriers_only && is_repeated_read(check, &line->first, current);
}

// Handles the frequent cases: the line is empty, or the access extends the newest one. False: another case, and nothing has changed. The line is locked.
static inline bool check_strided_fast_path(const AccessCheck *check, ShadowLine *line, const StridedAccess *current)
{
    const bool reads = current->record.kind == PLAIN_READ, checks_values = check->memory.checks_values;
    if (line->has_cells || (!reads && current->record.kind != PLAIN_WRITE) || !current->whole)
        return false;
    if (reads && checks_values && !all_written(line, current->word_mask))
        return false;
    if (line->count == 0)
        add_strided(check, line, current);
    else if (!try_extend(check, line, current))
        return reads && check->barriers_only && !words_to_note(check, line, current);
    if (reads)
        return true;
    line->has_other_kinds = true;
    if (checks_values)
        mark_words(line, current->word_mask);
    forget_readers(check, line, current->word_mask);
    return true;
}

void sim_check_strided(AccessCheck *check, ShadowLine *line, StridedAccess *current, bool as_strided)
{
    const ShadowedMemory *memory = &check->memory;
    if (check->barriers_only && current->record.kind == PLAIN_READ &&
        is_redundant_read(memory->generation, line, current->word_mask, memory->checks_values))
        return;
    lock_line(check, line);
    as_strided &= check->fits_strided;
    if (!as_strided || !check_strided_fast_path(check, line, current))
        check_strided_slow_path(check, line, current, as_strided);
    unlock_line(check, line);
}

bool sim_record_strided_store(const AccessCheck *check, ShadowLine *line, const StridedAccess *current)
{
    lock_line(check, line);
    const bool recorded = check_strided_fast_path(check, line, current);
    unlock_line(check, line);
    return recorded;
}

// ---- Searches

// The first record of an access to these bytes of a line for which `matches` is true; sets the lanes of the access. The line is locked.
static bool find_record(ShadowLine *line, unsigned first, unsigned count, RecordPredicate *matches, const Block *b, AccessRecord *found)
{
    for (unsigned byte = first; byte < first + count; byte++) {
        const unsigned n = byte / 4;
        for (int k = 0; !line->has_cells && k < line->count; k++) {
            *found = strided_at(line, k)->record;
            found->lanes = strided_at(line, k)->word_mask >> n & 1 ? lanes_at_byte(strided_at(line, k), (int)byte) : 0;
            if (found->lanes && matches(found, b))
                return true;
        }
        for (int k = 0; line->has_cells && k < line->overflow->cells[n].count; k++) {
            *found = records_of(&line->overflow->cells[n])[k];
            if (found->byte_mask >> byte % 4 & 1 && matches(found, b))
                return true;
        }
    }
    return false;
}

bool sim_find_shared_record(const Block *b, uint64_t first, size_t bytes, RecordPredicate *matches, AccessRecord *found)
{
    for (uint64_t at = first, next; at < first + bytes; at = next) {
        ShadowLine *line = &b->check->lines[at / LINE_BYTES];
        next = (at / LINE_BYTES + 1) * LINE_BYTES;
        const uint64_t end = next < first + bytes ? next : first + bytes;
        if (line->generation == clocks_of(b)->generation &&
            find_record(line, (unsigned)(at % LINE_BYTES), (unsigned)(end - at), matches, b, found))
            return true;
    }
    return false;
}

static bool is_write_of_launch(const AccessRecord *record, const Block *b)
{
    return writes(record) && !is_of_other_grid(b, record);
}

void sim_check_noncoherent(AccessCheck *check, uint32_t mask)
{
    for (uint32_t rest = mask; rest && !check->race.found; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        const uint64_t first = (uint64_t)(check->access->pointer[l] - check->memory.base); // aligned: in one line
        ShadowLine *line = &check->memory.lines[first / LINE_BYTES];
        AccessRecord writer;
        lock_line(check, line);
        if (find_record(line, (unsigned)(first % LINE_BYTES), (unsigned)check->access->bytes, is_write_of_launch, check->w->block, &writer)) {
            check->race = (Race){writer, check->record, .found = true, .stale = true};
            check->race.later.lanes = 1u << l;
        }
        unlock_line(check, line);
    }
}
