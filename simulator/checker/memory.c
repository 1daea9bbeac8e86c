// memory.c: who did what to each byte, and whether something orders it.
//
// Memory is divided into lines of 128 bytes. In most accesses the lanes of a warp lie in a row, at the same distance
// from each other, or in pieces of which this is true, as in a tile with gaps: of these rows a line keeps the last ones
// as they are (strided.c). Where that will not do, it gets cells, one for each word (cells.c).
#include "checker/readers.h"
#include "checker/pieces.h"
#include "checker/memory_uses.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_STRIDE = 1 << 20 };

// ---- How the lanes of an access lie

// Whether the lanes follow each other at a distance.
static bool lies_at(const Access *access, uint32_t mask, int64_t stride)
{
    const int first = __builtin_ctz(mask);
    const uint8_t *origin = access->pointer[first] - first * stride;
    if (mask == ALL_LANES) {
        uint64_t apart = 0;
        for (int l = 0; l < LANES; l++)
            apart |= (uint64_t)(access->pointer[l] - origin) - (uint64_t)l * (uint64_t)stride;
        return apart == 0;
    }
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        if (access->pointer[__builtin_ctz(rest)] != origin + __builtin_ctz(rest) * stride)
            return false;
    return true;
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
    const uint32_t following = sim_following_lanes(access, mask);
    if (mask == ALL_LANES && following && following != others) // in pieces
        return -1;
    const int second = __builtin_ctz(others);
    const int64_t apart = access->pointer[second] - access->pointer[first];
    const int64_t stride = second - first == 1 ? apart : apart / (second - first);
    if (apart < 0 || stride * (second - first) != apart || (stride && stride < (int64_t)access->bytes))
        return -1;
    return lies_at(access, mask, stride) ? stride : -1;
}

// Sets the row of an access by these lanes, of these words of a line. In its place, and each part at once: parts of a copy
// that were written apart make the processor wait when they are read together.
static inline void set_row(StridedAccess *r, const AccessCheck *check, uint32_t lanes, uint32_t words, int64_t origin,
                           int64_t stride)
{
    const size_t bytes = check->access->bytes;
    const uint32_t size = bytes < 4 ? (uint32_t)bytes : 4, whole = bytes % 4 == 0 && origin % 4 == 0;
    r->epoch = check->epoch;
    r->epoch.lanes = lanes;
    r->words = words;
    r->origin = (int32_t)origin;
    r->shape = ((uint32_t)stride & 0xffffff) | size << 24 | whole << 31;
}

// The words of an element that lies in one line.
static uint32_t words_at(uint64_t offset, size_t bytes)
{
    const uint32_t words = bytes < 4 ? 1 : bytes == LINE_BYTES ? ALL_LANES : (1u << bytes / 4) - 1;
    return words << offset % LINE_BYTES / 4;
}

// Lanes in one place, wherever it is, of any size.
static void check_place(AccessCheck *check, uint32_t mask, uint64_t offset, bool row)
{
    const Access *access = check->access;
    for (uint64_t at = offset; at < offset + access->bytes; at = (at / LINE_BYTES + 1) * LINE_BYTES) {
        const uint64_t line = at / LINE_BYTES, end = offset + access->bytes < (line + 1) * LINE_BYTES
                                                         ? offset + access->bytes
                                                         : (line + 1) * LINE_BYTES;
        const unsigned first = (unsigned)(at % LINE_BYTES / 4), count = (unsigned)((end - at + 3) / 4);
        StridedAccess r;
        set_row(&r, check, mask, (count == WORDS ? ALL_LANES : (1u << count) - 1) << first,
                (int64_t)offset - (int64_t)(line * LINE_BYTES), ONE_PLACE);
        sim_check_in_line(check, &check->memory.lines[line], &r, row);
    }
}

// The same in one line, of an access that has rows.
static void check_one_place(AccessCheck *check, uint32_t mask, int64_t offset)
{
    StridedAccess r;
    set_row(&r, check, mask, words_at((uint64_t)offset, check->access->bytes), offset % LINE_BYTES, ONE_PLACE);
    sim_check_in_line(check, &check->memory.lines[offset / LINE_BYTES], &r, true);
}

// The lanes that follow the first, lie where it does, and do not conflict with it there, or store the same value.
static uint32_t lanes_beside_first(const AccessCheck *check, uint32_t mask)
{
    const Access *access = check->access;
    const RecordKind kind = check->epoch.kind;
    const bool store = check->i->kind == STORE;
    const bool together = store || kind == ATOMIC_UPDATE || kind == PLAIN_READ || kind == STRONG_READ;
    const int first = __builtin_ctz(mask);
    uint32_t beside = mask & -mask;
    for (uint32_t rest = together ? mask & (mask - 1) : 0; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        if (access->pointer[l] != access->pointer[first] || (store && !sim_store_same_value(check, first, l)))
            break;
        beside |= rest & -rest;
    }
    return beside;
}

// So many lanes from the first one on, side by side: a row for each line.
static void check_dense_rows(AccessCheck *check, int first_lane, unsigned count, int64_t offset)
{
    ShadowLine *lines = check->memory.lines;
    const unsigned shift = (unsigned)__builtin_ctzll(check->access->bytes);
    const int64_t end = offset + ((int64_t)count << shift), base = offset - ((int64_t)first_lane << shift);
    StridedAccess r;
    set_row(&r, check, 0, 0, 0, 1 << shift);
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
        if (shift < 2)
            r.whole = low % 4 == 0 && high % 4 == 0;
        sim_check_in_line(check, &lines[line], &r, true);
    }
}

// Lanes whose places follow each other at a distance: a row for each line.
static void check_rows(AccessCheck *check, uint32_t mask, int64_t base, int64_t stride)
{
    uint32_t lanes = 0, words = 0;
    StridedAccess r;
    set_row(&r, check, 0, 0, 0, stride);
    for (uint32_t rest = mask; rest;) {
        const int l = __builtin_ctz(rest);
        const int64_t offset = base + l * stride, line = offset / LINE_BYTES;
        lanes |= rest & -rest;
        words |= words_at((uint64_t)offset, check->access->bytes);
        rest &= rest - 1;
        if (rest && (base + __builtin_ctz(rest) * stride) / LINE_BYTES == line)
            continue;
        r.epoch.lanes = lanes;
        r.words = words;
        r.origin = (int32_t)(base - line * LINE_BYTES);
        sim_check_in_line(check, &check->memory.lines[line], &r, true);
        lanes = words = 0;
    }
}

// The same where each lane is in a line of its own.
static void check_column(AccessCheck *check, uint32_t mask, int64_t base, int64_t stride)
{
    ShadowLine *lines = check->memory.lines;
    const uint32_t first_words = words_at(0, check->access->bytes);
    int64_t offset = base;
    StridedAccess r;
    set_row(&r, check, 0, 0, 0, stride);
    for (uint32_t rest = check->shared ? 0 : mask; rest; rest &= rest - 1)
        __builtin_prefetch(&lines[(uint64_t)(base + __builtin_ctz(rest) * stride) / LINE_BYTES], 1);
    for (int l = 0; l < LANES; l++, offset += stride) {
        if (!(mask >> l & 1))
            continue;
        r.epoch.lanes = 1u << l;
        r.words = first_words << (offset & (LINE_BYTES - 1)) / 4;
        r.origin = (int32_t)(base - (offset & -LINE_BYTES));
        sim_check_in_line(check, &lines[offset / LINE_BYTES], &r, true);
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

// The first of some lanes and those that follow it at a distance, in its line; returns these lanes.
static uint32_t check_piece(AccessCheck *check, uint32_t mask, int64_t offset)
{
    const Access *access = check->access;
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
    StridedAccess r;
    set_row(&r, check, lanes, words, offset - line * LINE_BYTES - (alone ? 0 : first * stride),
            alone ? ONE_PLACE : stride);
    sim_check_in_line(check, &check->memory.lines[line], &r, true);
    return lanes;
}

// Lanes wherever they are: rows for those that are in one place, side by side, or follow each other at a distance in
// one line.
static void check_pieces(AccessCheck *check, uint32_t mask)
{
    const Access *access = check->access;
    const uint32_t same = access->alike & mask & mask << 1, next = access->beside & mask & mask << 1;
    for (uint32_t rest = mask, done; rest; rest &= ~done) {
        const int first = __builtin_ctz(rest);
        const int64_t offset = access->pointer[first] - check->memory.base;
        const int last_alike = sim_end_of_piece(same, first), last_beside = sim_end_of_piece(next, first);
        done = bits_between((unsigned)first, (unsigned)(last_alike > last_beside ? last_alike : last_beside) + 1);
        if (last_alike > first)
            check_one_place(check, done, offset);
        else if (last_beside > first)
            check_dense_rows(check, first, (unsigned)(last_beside + 1 - first), offset);
        else
            done = check_piece(check, rest, offset);
    }
}

// ---- An access

RecordKind sim_record_kind(const Instr *i, const Access *access)
{
    const bool strong = i->semantics != WEAK || (i->kind == LOAD && i->loop & GUESSES);
    switch (access->kind) {
    case ACCESS_READ: return strong ? STRONG_READ : PLAIN_READ;
    case ACCESS_WRITE: return strong ? STRONG_WRITE : PLAIN_WRITE;
    case ACCESS_ATOMIC: return ATOMIC_UPDATE;
    case ACCESS_ASYNC_READ: return access->space == SHARED ? SOURCE_UNDER_WAY : PLAIN_READ;
    default: return access->space == SHARED ? COPY_UNDER_WAY : PLAIN_WRITE;
    }
}

// So that same_value knows this execution from all others.
static void tell_stores_apart(AccessCheck *check)
{
    if (check->i->kind != STORE)
        return;
    sim_advance_time(check->w->block);
    check->epoch.time = sim_time(check->w->block);
}

// Whether lanes load or store words by strong accesses, none of them what another one does.
static bool is_apart(const AccessCheck *check, uint32_t mask)
{
    const RecordKind kind = check->epoch.kind;
    return (kind == STRONG_READ || kind == STRONG_WRITE) && check->access->bytes % 4 == 0 && is_rising(check->access, mask);
}

// Lanes that lie anyhow: those in one place together where their accesses do not conflict, else each by itself.
static void check_anywhere(AccessCheck *check, uint32_t mask, bool row)
{
    const Access *access = check->access;
    const bool store = check->i->kind == STORE, several = mask & (mask - 1),
               alone = !several && !(store && mask != access->mask);
    if (several)
        tell_stores_apart(check);
    for (uint32_t rest = mask, some; rest; rest &= ~some) {
        some = lanes_beside_first(check, rest);
        check_place(check, some, (uint64_t)(access->pointer[__builtin_ctz(rest)] - check->memory.base), row && alone);
    }
}

// Whether a row can tell of such an access, where its lanes lie in one.
static bool has_rows(const AccessCheck *check)
{
    const size_t bytes = check->access->bytes;
    const bool plain = check->epoch.kind == PLAIN_READ || check->epoch.kind == PLAIN_WRITE;
    return bytes % 4 == 0 ? plain || is_under_way(&check->epoch) : plain && bytes < 4;
}

// Chooses by how the lanes lie to each other.
void sim_check_lines(AccessCheck *check, uint32_t mask)
{
    const Access *access = check->access;
    const RecordKind kind = check->epoch.kind;
    const bool row = check->rows = has_rows(check);
    const int first = __builtin_ctz(mask);
    const bool alone = (mask & (mask - 1)) == 0, fits = access->bytes <= LINE_BYTES / 4;
    const bool in_order = row || (fits && !alone && is_apart(check, mask)); // line by line, in each lane by lane
    const int64_t stride = in_order ? find_stride(access, mask) : -1, offset = access->pointer[first] - check->memory.base;
    const size_t bytes = access->bytes;
    if (in_order && !row)
        tell_stores_apart(check);
    const bool within = bytes <= LINE_BYTES && (bytes & (bytes - 1)) == 0 &&
                        (((uint64_t)offset | (uint64_t)stride) & (bytes - 1)) == 0; // no lane is in two lines
    if (stride > 0 && stride <= MOST_STRIDE && !alone && within) {
        if (mask == ALL_LANES && (uint64_t)stride == access->bytes)
            check_dense_rows(check, 0, LANES, offset);
        else if (stride >= LINE_BYTES)
            check_column(check, mask, offset - first * stride, stride);
        else
            check_rows(check, mask, offset - first * stride, stride);
    } else if (stride == 0 && kind == PLAIN_READ && fits) {
        check_one_place(check, mask, offset);
    } else if (in_order && fits && !alone && (!row || kind == PLAIN_READ || is_rising(access, mask))) {
        check_pieces(check, mask);
    } else {
        check_anywhere(check, mask, row);
    }
}

// Whether only barriers order what the launch's threads do.
static bool is_ordered_by_barriers(const Launch *launch)
{
    return !launch->kernel->program->effects.synchronises && launch->cluster_blocks == 1 && !launch->family_grid;
}

// Some words of a line, whose reading tells nothing new: where the launch only reads the allocation, all that somebody wrote.
static inline bool tells_nothing(const AccessCheck *check, const ShadowLine *line, uint32_t words)
{
    if (!check->only_read)
        return tell_nothing(check->memory.run, line, words, check->memory.values);
    return !check->memory.values || all_written(line, words);
}

// Whether all that these lanes read tells nothing new.
static bool all_tell_nothing(const AccessCheck *check, const Access *access, uint32_t mask)
{
    return are_whole_words(access) && all_words(check, access, mask, tells_nothing);
}

// All that these lanes read tells nothing new: so does what will be read of these lines, where that is so of a whole one.
static void settle(const AccessCheck *check, const Access *access, uint32_t *fully_written, uint32_t mask)
{
    const uint32_t following = sim_following_lanes(access, mask), run = check->only_read ? FULLY_WRITTEN : check->memory.run;
    for (uint32_t begins = sim_first_lanes(access, mask, following); begins; begins &= begins - 1) {
        const int first = __builtin_ctz(begins), last = sim_end_of_piece(following, first);
        const uint64_t end = (uint64_t)(access->pointer[last] - check->memory.base) + access->bytes - 1;
        uint64_t line = (uint64_t)(access->pointer[first] - check->memory.base) / LINE_BYTES;
        for (; line <= end / LINE_BYTES; line++)
            if (tells_nothing(check, &check->memory.lines[line], ALL_LANES)) {
                __atomic_store_n(&fully_written[line], run, __ATOMIC_RELAXED);
                __atomic_thread_fence(__ATOMIC_SEQ_CST); // and once more, as update_fully_written does
                if (!tells_nothing(check, &check->memory.lines[line], ALL_LANES))
                    __atomic_store_n(&fully_written[line], 0, __ATOMIC_RELAXED);
            }
    }
}

// Loads tell nothing new, as most do; of what the launch only reads they tell at most what nobody wrote.
static bool is_nothing_new(AccessCheck *check, const Launch *launch, Access *access, uint32_t mask, Allocation *a, RecordKind kind)
{
    check->only_read = a && kind == PLAIN_READ && sim_only_reads(launch, a) && !a->row_bytes;
    if (kind != PLAIN_READ || !(check->only_read || is_ordered_by_barriers(launch)))
        return false;
    const bool nothing = all_tell_nothing(check, access, mask);
    if (nothing && access->layout && a)
        settle(check, access, a->fully_written, mask);
    if (!nothing && check->only_read)
        sim_find_unwritten_of(access, mask, &check->memory);
    return nothing || check->only_read;
}

// Whether lanes access the part of shared memory that CUDA reserves for cooperative groups. What lies there when a block
// begins is the library's affair, and so is that its tiles of several warps let a shuffle order their accesses.
static bool is_reserved(const Launch *launch, const Block *owner, const Access *access, uint32_t mask)
{
    return owner && launch->uses_reserved_shared &&
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

// Whether the first of all lanes is among some.
static bool has_first_lane(uint32_t some, uint32_t all)
{
    return some & all & -all;
}

// Lanes' strong accesses, in their order; reads of one place together.
static void order_by_access(Warp *w, const Instr *i, const Access *access, uint32_t mask, bool shared, RecordKind kind)
{
    for (uint32_t rest = mask; rest;) {
        const int first = __builtin_ctz(rest);
        const uint64_t key = (uint64_t)(uintptr_t)access->pointer[first];
        uint32_t lanes = rest & -rest;
        for (uint32_t others = kind == STRONG_READ ? rest : 0; others; others &= others - 1)
            if (access->pointer[__builtin_ctz(others)] == access->pointer[first])
                lanes |= others & -others;
        if (kind == STRONG_READ)
            sim_order_by_reads(w, i, lanes, shared, key);
        else
            sim_order_by_access(w, i, first, shared, key, kind);
        rest &= ~lanes;
    }
}

// Whether lanes may learn or tell something by an access of this instruction.
static bool may_hand_over(const Instr *i)
{
    return i->kind == ATOMIC || ((i->kind == LOAD || i->kind == STORE) && i->semantics != WEAK);
}

static Memory memory_of(const Launch *launch, Block *owner, Allocation *a, bool reserved)
{
    if (owner)
        return (Memory){owner->lines, owner->shared, sim_block_run(owner), !reserved};
    return (Memory){sim_lines_of(a), a->memory, sim_launch_run(launch), sim_is_fresh(a)};
}

// What check->memory does not say already.
static void begin_check(AccessCheck *check, Warp *w, const Instr *i, Access *access, uint32_t mask, Block *owner, Allocation *a)
{
    const Launch *launch = w->block->launch;
    if (i->kind == STORE && mask != access->mask && has_first_lane(mask, access->mask))
        sim_advance_time(w->block); // as check_anywhere does: the lanes come one by one
    check->w = w;
    check->i = i;
    check->access = access;
    check->a = a;
    check->shared = owner != NULL;
    check->restricted = owner || launch->on_one_thread;
    check->by_barriers = is_ordered_by_barriers(launch);
    check->by_all_lanes = !launch->kernel->program->effects.some_lanes;
    check->floor = sim_block_barrier(w);
    check->barrier = sim_warp_barrier(w);
    check->first_run = owner ? sim_first_run(owner) : 0;
    check->epoch = (AccessRecord){.block = (uint32_t)w->block->number, .time = sim_time(w->block), .site = i->site & 0xfffff,
                           .warp = (unsigned)w->number & 31, .kind = sim_record_kind(i, access) & 7, .bytes = 15};
    check->asked = check->epoch.kind == STRONG_READ && i->semantics == VOLATILE && sim_feeds_branch(w, i);
    check->race.found = check->race.stale = false;
}

// What is kept of an allocation beside its lines, and what is not written while it is read as if it never were.
static void check_in_allocation(AccessCheck *check, uint32_t mask, Allocation *a)
{
    if (a->row_bytes)
        sim_note_padding(check->w, check->i, check->access, mask, a);
    const bool written = atomic_load_explicit(&a->written_in, memory_order_relaxed) == check->memory.run;
    if (writes(&check->epoch) && !written)
        atomic_store_explicit(&a->written_in, check->memory.run, memory_order_relaxed);
    const bool read_only = check->i->flags & READ_ONLY && check->i->kind == LOAD;
    if (read_only && written && !check->race.found)
        sim_check_read_only(check, mask);
}

static void report_race(const AccessCheck *check, bool reserved)
{
    if (!check->race.found)
        return;
    if (reserved) {
        say_reserved_race();
        return;
    }
    sim_note_race(check->w->block, check->race.earlier.site, check->race.later.site);
    sim_await_turn(check->w->block); // a block that runs ahead in vain has no race
    if (!sim_may_have_released(check->w->block, &check->race.earlier))
        sim_report_race(check);
}

// An access of shared memory, before all else: one beyond its array ends the launch.
static void check_in_block(Warp *w, const Instr *i, const Access *access, uint32_t mask, Block *owner, RecordKind kind)
{
    if (owner->visits)
        sim_note_cluster_access(w, i, access, mask, owner, kind);
    sim_check_objects(w, i, access, mask, owner->shared);
}

void sim_check_access(Warp *w, const Instr *i, Access *access, uint32_t mask, Block *owner, Allocation *a)
{
    if (access->bytes == 0) // a bulk copy of nothing
        return;
    const Launch *launch = w->block->launch;
    const RecordKind kind = sim_record_kind(i, access);
    const bool reserved = is_reserved(launch, owner, access, mask);
    AccessCheck check;
    check.memory = memory_of(launch, owner, a, reserved);
    if (owner)
        check_in_block(w, i, access, mask, owner, kind);
    if (is_nothing_new(&check, launch, access, mask, a, kind))
        return;
    begin_check(&check, w, i, access, mask, owner, a);
    if (owner == w->block && owner->engine && kind == PLAIN_WRITE)
        sim_note_writes(w, i, access, mask);
    if (owner && check.by_barriers && !reserved) {
        if (sim_defer_read(&check, mask))
            return;
        sim_flush_deferred(&check);
    }
    sim_check_lines(&check, mask);
    if (a)
        check_in_allocation(&check, mask, a);
    report_race(&check, reserved);
    if (may_hand_over(i) && !check.by_barriers)
        order_by_access(w, i, access, mask, owner != NULL, kind);
}

bool sim_expect_accesses(const Warp *w, const Instr *i, Allocation *a, FastPath *fast_path)
{
    const Launch *launch = w->block->launch;
    const bool only_read = sim_only_reads(launch, a);
    if (a->row_bytes || a->kind == HEAP_MEMORY) // that one may end, and another one begin, while the launch runs
        return false;
    sim_expect_uses(launch, a, i->kind == STORE, fast_path);
    if (i->kind == STORE)
        return true;
    fast_path->fully_written = only_read && !sim_is_fresh(a) ? NULL : a->fully_written;
    fast_path->run = only_read ? 0 : sim_launch_run(launch);
    return only_read || (is_ordered_by_barriers(launch) && !(i->loop & GUESSES));
}

bool sim_note_store(const Warp *w, const Instr *i, Allocation *a, uint64_t first, size_t bytes)
{
    const Launch *launch = w->block->launch;
    const uint64_t end = first + bytes;
    Access access = {.bytes = i->bytes};
    const AccessCheck check = {.access = &access, .memory = {a->lines, a->memory, sim_launch_run(launch), sim_is_fresh(a)}, .a = a,
                               .restricted = launch->on_one_thread, .by_barriers = is_ordered_by_barriers(launch)};
    StridedAccess r = {.epoch = {.block = (uint32_t)w->block->number, .time = sim_time(w->block), .site = i->site & 0xfffff,
                       .warp = (unsigned)w->number & 31, .kind = PLAIN_WRITE, .bytes = 15},
             .stride = i->bytes, .size = 4, .whole = 1};
    for (uint64_t line = first / LINE_BYTES, begin; (begin = line * LINE_BYTES) < end; line++) {
        const uint64_t low = first > begin ? first : begin, high = end < begin + LINE_BYTES ? end : begin + LINE_BYTES;
        r.epoch.lanes = bits_between((unsigned)((low - first) / i->bytes), (unsigned)((high - first) / i->bytes));
        r.words = bits_between((unsigned)(low - begin) / 4, (unsigned)(high - begin) / 4);
        r.origin = (int32_t)(first - begin);
        if (!sim_note_row(&check, &a->lines[line], &r))
            return false;
    }
    return true;
}

void sim_find_foreign_owner(Warp *w, const Instr *i, int lane, Space space, uint64_t owner)
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
