// access_lines.c: checks the lines that a warp accesses.
//
// In most accesses the lanes of a warp are equally spaced, or consist of groups of equally spaced lanes. A line keeps its last few
// accesses in this form (strided.c); otherwise it has a cell for each word (cells.c).
#include "checker/block_check.h"
#include "checker/shadow.h"

enum { MAX_STRIDE = 1 << 20 };

// ---- Address patterns

// True if the addresses of all lanes are `stride` bytes apart.
static bool has_stride(const Access *access, uint32_t mask, int64_t stride)
{
    const int first = __builtin_ctz(mask);
    const uint8_t *origin = access->pointer[first] - first * stride;
    if (mask == ALL_LANES) {
        uint64_t mismatch = 0;
        for (int l = 0; l < LANES; l++)
            mismatch |= (uint64_t)(access->pointer[l] - origin) - (uint64_t)l * (uint64_t)stride;
        return mismatch == 0;
    }
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        if (access->pointer[__builtin_ctz(rest)] != origin + __builtin_ctz(rest) * stride)
            return false;
    return true;
}

// The bytes between neighbouring lanes; 0 if all have the same address; -1 if the spacing varies, or a StridedAccess cannot
// represent it.
static int64_t find_stride(const Access *access, uint32_t mask)
{
    const int first = __builtin_ctz(mask);
    const uint32_t others = mask & (mask - 1);
    if (access->pattern == CONSECUTIVE || others == 0)
        return (int64_t)access->bytes;
    if (access->pattern == ALL_SAME)
        return 0;
    const uint32_t continuing = sim_continuing_lanes(access, mask);
    if (mask == ALL_LANES && continuing && continuing != others) // more than one group of consecutive lanes
        return -1;
    const int second = __builtin_ctz(others);
    const int64_t distance = access->pointer[second] - access->pointer[first];
    const int64_t stride = second - first == 1 ? distance : distance / (second - first);
    if (distance < 0 || stride * (second - first) != distance || (stride && stride < (int64_t)access->bytes))
        return -1;
    return has_stride(access, mask, stride) ? stride : -1;
}

// Initialises a StridedAccess with one store for each word: reading a word that was stored in parts misses store forwarding.
static inline void set_strided(StridedAccess *r, const AccessCheck *check, uint32_t lanes, uint32_t word_mask, int64_t origin,
                           int64_t stride)
{
    const size_t bytes = check->access->bytes;
    const uint32_t size = bytes < 4 ? (uint32_t)bytes : 4, whole = bytes % 4 == 0 && origin % 4 == 0;
    r->record = check->record;
    r->record.lanes = lanes;
    r->word_mask = word_mask;
    r->origin = (int32_t)origin;
    r->shape = ((uint32_t)stride & 0xffffff) | size << 24 | whole << 31;
}

// The word mask of an element within one line.
static uint32_t words_at(uint64_t offset, size_t bytes)
{
    const uint32_t word_mask = bytes < 4 ? 1 : bytes == LINE_BYTES ? ALL_LANES : (1u << bytes / 4) - 1;
    return word_mask << offset % LINE_BYTES / 4;
}

// Checks lanes with the same address. The element has any size, and may cross lines.
static void check_same_address(AccessCheck *check, uint32_t mask, uint64_t offset, bool as_strided)
{
    const Access *access = check->access;
    for (uint64_t at = offset; at < offset + access->bytes; at = (at / LINE_BYTES + 1) * LINE_BYTES) {
        const uint64_t line = at / LINE_BYTES, end = offset + access->bytes < (line + 1) * LINE_BYTES
                                                         ? offset + access->bytes
                                                         : (line + 1) * LINE_BYTES;
        const unsigned first = (unsigned)(at % LINE_BYTES / 4), count = (unsigned)((end - at + 3) / 4);
        StridedAccess r;
        set_strided(&r, check, mask, (count == WORDS ? ALL_LANES : (1u << count) - 1) << first,
                (int64_t)offset - (int64_t)(line * LINE_BYTES), SAME_ADDRESS);
        sim_check_strided(check, &check->memory.lines[line], &r, as_strided);
    }
}

// The first lane, and the following lanes that have its address and do not conflict with it, or store the same value.
static uint32_t lanes_like_first(const AccessCheck *check, uint32_t mask)
{
    const Access *access = check->access;
    const RecordKind kind = check->record.kind;
    const bool store = check->i->kind == STORE;
    const bool together = store || kind == ATOMIC_UPDATE || kind == PLAIN_READ || kind == STRONG_READ;
    const int first = __builtin_ctz(mask);
    uint32_t like_first = mask & -mask;
    for (uint32_t rest = together ? mask & (mask - 1) : 0; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        if (access->pointer[l] != access->pointer[first] || (store && !sim_lanes_store_same(check, first, l)))
            break;
        like_first |= rest & -rest;
    }
    return like_first;
}

// Checks `count` lanes with consecutive elements, line by line.
static void check_consecutive(AccessCheck *check, int first_lane, unsigned count, int64_t offset)
{
    ShadowLine *lines = check->memory.lines;
    const unsigned shift = (unsigned)__builtin_ctzll(check->access->bytes);
    const int64_t end = offset + ((int64_t)count << shift), base = offset - ((int64_t)first_lane << shift);
    StridedAccess r;
    set_strided(&r, check, 0, 0, 0, 1 << shift);
    for (int64_t line = offset / LINE_BYTES; line * LINE_BYTES < end; line++)
        __builtin_prefetch(&lines[line], 1);
    for (int64_t line = offset / LINE_BYTES; line * LINE_BYTES < end; line++) {
        const int64_t begin = line * LINE_BYTES, low = offset > begin ? offset : begin,
                      high = end < begin + LINE_BYTES ? end : begin + LINE_BYTES;
        const uint32_t lanes =
            bits_between((unsigned)((low - base) >> shift), (unsigned)((high - 1 - base) >> shift) + 1);
        r.record.lanes = lanes;
        r.word_mask = bits_between((unsigned)(low - begin) / 4, (unsigned)(high - begin + 3) / 4);
        r.origin = (int32_t)(base - begin);
        if (shift < 2)
            r.whole = low % 4 == 0 && high % 4 == 0;
        sim_check_strided(check, &lines[line], &r, true);
    }
}

// Checks lanes that are `stride` bytes apart, line by line. `base`: offset of lane 0, active or not.
static void check_strided_lanes(AccessCheck *check, uint32_t mask, int64_t base, int64_t stride)
{
    uint32_t lanes = 0, word_mask = 0;
    StridedAccess r;
    set_strided(&r, check, 0, 0, 0, stride);
    for (uint32_t rest = stride >= LINE_BYTES && !check->shared ? mask : 0; rest; rest &= rest - 1)
        __builtin_prefetch(&check->memory.lines[(base + __builtin_ctz(rest) * stride) / LINE_BYTES], 1);
    for (uint32_t rest = mask; rest;) {
        const int l = __builtin_ctz(rest);
        const int64_t offset = base + l * stride, line = offset / LINE_BYTES;
        lanes |= rest & -rest;
        word_mask |= words_at((uint64_t)offset, check->access->bytes);
        rest &= rest - 1;
        if (rest && (base + __builtin_ctz(rest) * stride) / LINE_BYTES == line)
            continue;
        r.record.lanes = lanes;
        r.word_mask = word_mask;
        r.origin = (int32_t)(base - line * LINE_BYTES);
        sim_check_strided(check, &check->memory.lines[line], &r, true);
        lanes = word_mask = 0;
    }
}

// True if the addresses ascend with the lanes, and the elements do not overlap.
static bool is_ascending(const Access *access, uint32_t mask)
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

// Checks the first lane together with the following lanes that are equally spaced in its line; returns the lanes checked.
static uint32_t check_spaced_group(AccessCheck *check, uint32_t mask, int64_t offset)
{
    const Access *access = check->access;
    const int first = __builtin_ctz(mask);
    const int64_t line = offset / LINE_BYTES;
    uint32_t lanes = mask & -mask, word_mask = words_at((uint64_t)offset, access->bytes);
    int64_t stride = 0;
    for (uint32_t rest = mask & (mask - 1); rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        const int64_t distance = access->pointer[l] - access->pointer[first];
        if (stride == 0 && distance % (l - first) == 0)
            stride = distance / (l - first);
        if (stride < (int64_t)access->bytes || distance != stride * (l - first) || (offset + distance) / LINE_BYTES != line)
            break;
        lanes |= rest & -rest;
        word_mask |= words_at((uint64_t)(offset + distance), access->bytes);
    }
    const bool alone = lanes == (mask & -mask);
    StridedAccess r;
    set_strided(&r, check, lanes, word_mask, offset - line * LINE_BYTES - (alone ? 0 : first * stride),
            alone ? SAME_ADDRESS : stride);
    sim_check_strided(check, &check->memory.lines[line], &r, true);
    return lanes;
}

// Splits the lanes into groups and checks each: lanes with the same address, consecutive lanes, or equally spaced lanes in one line.
static void check_groups(AccessCheck *check, uint32_t mask)
{
    const Access *access = check->access;
    const uint32_t same = access->same_address & mask & mask << 1, next = access->adjacent & mask & mask << 1;
    for (uint32_t rest = mask, done; rest; rest &= ~done) {
        const int first = __builtin_ctz(rest);
        const int64_t offset = access->pointer[first] - check->memory.base;
        const int last_same = sim_segment_end(same, first), last_adjacent = sim_segment_end(next, first);
        done = bits_between((unsigned)first, (unsigned)(last_same > last_adjacent ? last_same : last_adjacent) + 1);
        if (last_same > first)
            check_same_address(check, done, (uint64_t)offset, true);
        else if (last_adjacent > first)
            check_consecutive(check, first, (unsigned)(last_adjacent + 1 - first), offset);
        else
            done = check_spaced_group(check, rest, offset);
    }
}

// ---- An access

// Gives this execution of a store a distinct time, by which same_value recognises it.
static void assign_distinct_time(AccessCheck *check)
{
    if (check->i->kind != STORE)
        return;
    check->record.time = ++clocks_of(check->w->block)->time;
}

// True for strong loads and stores of whole words without overlap.
static bool are_disjoint_words(const AccessCheck *check, uint32_t mask)
{
    const RecordKind kind = check->record.kind;
    return (kind == STRONG_READ || kind == STRONG_WRITE) && check->access->bytes % 4 == 0 && is_ascending(check->access, mask);
}

// Checks lanes with any addresses: lanes with the same address together unless they conflict, the others one by one.
static void check_scattered(AccessCheck *check, uint32_t mask, bool as_strided)
{
    const Access *access = check->access;
    const bool store = check->i->kind == STORE, several = mask & (mask - 1),
               alone = !several && !(store && mask != access->mask);
    if (several)
        assign_distinct_time(check);
    for (uint32_t rest = mask, some; rest; rest &= ~some) {
        some = lanes_like_first(check, rest);
        check_same_address(check, some, (uint64_t)(access->pointer[__builtin_ctz(rest)] - check->memory.base), as_strided && alone);
    }
}

// True if a StridedAccess can represent the access, provided that its lanes are equally spaced.
static bool can_be_strided(const AccessCheck *check)
{
    const size_t bytes = check->access->bytes;
    const bool plain = check->record.kind == PLAIN_READ || check->record.kind == PLAIN_WRITE;
    return bytes % 4 == 0 ? plain || is_in_flight(&check->record) : plain && bytes < 4;
}

void sim_check_lines(AccessCheck *check, uint32_t mask)
{
    const Access *access = check->access;
    const RecordKind kind = check->record.kind;
    const bool as_strided = check->fits_strided = can_be_strided(check);
    const int first = __builtin_ctz(mask);
    const bool alone = (mask & (mask - 1)) == 0, fits = access->bytes <= LINE_BYTES / 4;
    const bool in_order = as_strided || (fits && !alone && are_disjoint_words(check, mask)); // handled line by line
    const int64_t stride = in_order ? find_stride(access, mask) : -1, offset = access->pointer[first] - check->memory.base;
    const size_t bytes = access->bytes;
    if (in_order && !as_strided)
        assign_distinct_time(check);
    const bool within = bytes <= LINE_BYTES && (bytes & (bytes - 1)) == 0 &&
                        (((uint64_t)offset | (uint64_t)stride) & (bytes - 1)) == 0; // no element crosses lines
    if (stride > 0 && stride <= MAX_STRIDE && !alone && within) {
        if (mask == ALL_LANES && (uint64_t)stride == access->bytes)
            check_consecutive(check, 0, LANES, offset);
        else
            check_strided_lanes(check, mask, offset - first * stride, stride);
    } else if (stride == 0 && kind == PLAIN_READ && fits) {
        check_same_address(check, mask, (uint64_t)offset, true);
    } else if (in_order && fits && !alone && (!as_strided || kind == PLAIN_READ || is_ascending(access, mask))) {
        check_groups(check, mask);
    } else {
        check_scattered(check, mask, as_strided);
    }
}
