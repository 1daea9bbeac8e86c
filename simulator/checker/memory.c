// memory.c: checks accesses to global and shared memory for data races and uninitialised reads.
//
// Memory is divided into lines of 128 bytes. In most accesses the lanes of a warp are equally spaced, or consist of groups of
// equally spaced lanes. A line keeps its last few accesses in this form (strided.c); otherwise it has a cell for each word
// (cells.c).
#include "checker/readers.h"
#include "checker/word_predicates.h"
#include "checker/memory_uses.h"

#include <stdlib.h>
#include <string.h>

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

// Checks lanes with the same address, if the element lies within one line and may be kept as a StridedAccess.
static void check_broadcast(AccessCheck *check, uint32_t mask, int64_t offset)
{
    StridedAccess r;
    set_strided(&r, check, mask, words_at((uint64_t)offset, check->access->bytes), offset % LINE_BYTES, SAME_ADDRESS);
    sim_check_strided(check, &check->memory.lines[offset / LINE_BYTES], &r, true);
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

// Checks lanes that are `stride` bytes apart, if each lane has a different line.
static void check_column(AccessCheck *check, uint32_t mask, int64_t base, int64_t stride)
{
    ShadowLine *lines = check->memory.lines;
    const uint32_t first_words = words_at(0, check->access->bytes);
    int64_t offset = base;
    StridedAccess r;
    set_strided(&r, check, 0, 0, 0, stride);
    for (uint32_t rest = check->shared ? 0 : mask; rest; rest &= rest - 1)
        __builtin_prefetch(&lines[(uint64_t)(base + __builtin_ctz(rest) * stride) / LINE_BYTES], 1);
    for (int l = 0; l < LANES; l++, offset += stride) {
        if (!(mask >> l & 1))
            continue;
        r.record.lanes = 1u << l;
        r.word_mask = first_words << (offset & (LINE_BYTES - 1)) / 4;
        r.origin = (int32_t)(base - (offset & -LINE_BYTES));
        sim_check_strided(check, &lines[offset / LINE_BYTES], &r, true);
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
            check_broadcast(check, done, offset);
        else if (last_adjacent > first)
            check_consecutive(check, first, (unsigned)(last_adjacent + 1 - first), offset);
        else
            done = check_spaced_group(check, rest, offset);
    }
}

// ---- An access

RecordKind sim_record_kind(const Instr *i, const Access *access)
{
    const bool strong = i->semantics != WEAK || (i->kind == LOAD && i->loop & CAS_GUESS);
    switch (access->kind) {
    case ACCESS_READ: return strong ? STRONG_READ : PLAIN_READ;
    case ACCESS_WRITE: return strong ? STRONG_WRITE : PLAIN_WRITE;
    case ACCESS_ATOMIC: return ATOMIC_UPDATE;
    case ACCESS_ASYNC_READ: return access->space == SHARED ? SOURCE_IN_FLIGHT : PLAIN_READ;
    default: return access->space == SHARED ? COPY_IN_FLIGHT : PLAIN_WRITE;
    }
}

// Gives this execution of a store a distinct time, by which same_value recognises it.
static void assign_distinct_time(AccessCheck *check)
{
    if (check->i->kind != STORE)
        return;
    sim_advance_time(check->w->block);
    check->record.time = sim_time(check->w->block);
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
        else if (stride >= LINE_BYTES)
            check_column(check, mask, offset - first * stride, stride);
        else
            check_strided_lanes(check, mask, offset - first * stride, stride);
    } else if (stride == 0 && kind == PLAIN_READ && fits) {
        check_broadcast(check, mask, offset);
    } else if (in_order && fits && !alone && (!as_strided || kind == PLAIN_READ || is_ascending(access, mask))) {
        check_groups(check, mask);
    } else {
        check_scattered(check, mask, as_strided);
    }
}

// True if barriers are the only synchronisation of the launch's threads.
static bool has_only_barriers(const Launch *launch)
{
    return !launch->kernel->program->effects.synchronises && launch->cluster_blocks == 1 && !launch->nested_grid;
}

// True if a read of these words needs no record. If the launch only reads the allocation, no read of written words needs one.
static inline bool is_redundant(const AccessCheck *check, const ShadowLine *line, uint32_t word_mask)
{
    if (!check->launch_only_reads)
        return is_redundant_read(check->memory.generation, line, word_mask, check->memory.checks_values);
    return !check->memory.checks_values || all_written(line, word_mask);
}

// True if is_redundant holds for all words that these lanes read.
static bool all_redundant(const AccessCheck *check, const Access *access, uint32_t mask)
{
    return are_whole_words(access) && all_words(check, access, mask, is_redundant);
}

// After a redundant read: marks in `fully_written` those of its lines in which every read is redundant.
static void mark_redundant_lines(const AccessCheck *check, const Access *access, uint32_t *fully_written, uint32_t mask)
{
    const uint32_t continuing = sim_continuing_lanes(access, mask), generation = check->launch_only_reads ? FULLY_WRITTEN : check->memory.generation;
    for (uint32_t starts = sim_segment_starts(access, mask, continuing); starts; starts &= starts - 1) {
        const int first = __builtin_ctz(starts), last = sim_segment_end(continuing, first);
        const uint64_t end = (uint64_t)(access->pointer[last] - check->memory.base) + access->bytes - 1;
        uint64_t line = (uint64_t)(access->pointer[first] - check->memory.base) / LINE_BYTES;
        for (; line <= end / LINE_BYTES; line++)
            if (is_redundant(check, &check->memory.lines[line], ALL_LANES)) {
                __atomic_store_n(&fully_written[line], generation, __ATOMIC_RELAXED);
                __atomic_thread_fence(__ATOMIC_SEQ_CST); // as in update_fully_written
                if (!is_redundant(check, &check->memory.lines[line], ALL_LANES))
                    __atomic_store_n(&fully_written[line], 0, __ATOMIC_RELAXED);
            }
    }
}

// True for a load that needs no race check; most do not. Sets access->unwritten if the launch only reads the allocation.
static bool is_redundant_load(AccessCheck *check, const Launch *launch, Access *access, uint32_t mask, Allocation *a, RecordKind kind)
{
    check->launch_only_reads = a && kind == PLAIN_READ && sim_only_reads(launch, a) && !a->row_bytes;
    if (kind != PLAIN_READ || !(check->launch_only_reads || has_only_barriers(launch)))
        return false;
    const bool redundant = all_redundant(check, access, mask);
    if (redundant && access->address_pattern && a)
        mark_redundant_lines(check, access, a->fully_written, mask);
    if (!redundant && check->launch_only_reads)
        sim_set_unwritten(access, mask, &check->memory);
    return redundant || check->launch_only_reads;
}

// True if the source line belongs to the headers of cooperative groups, or is unknown.
static bool is_in_cooperative_groups(const Module *m, const Statement *s)
{
    static const char NAME[] = "cooperative_groups";
    const int file = s && s->source_line > 0 ? s->source_file : -1;
    if (file < 0 || file >= m->file_count)
        return true;
    for (size_t k = 0; k + strlen(NAME) <= m->files[file].length; k++)
        if (memcmp(m->files[file].text + k, NAME, strlen(NAME)) == 0)
            return true;
    return false;
}

// True for the library's accesses to the shared memory that CUDA reserves for cooperative groups. The library reads it uninitialised, and
// orders accesses of tiles of several warps by a shuffle; neither is reported. A program's own accesses are checked.
static bool is_reserved(const Launch *launch, const Instr *i, const Block *owner, const Access *access, uint32_t mask)
{
    return owner && launch->uses_reserved_shared && is_in_cooperative_groups(launch->module, i->statement) &&
           access->pointer[__builtin_ctz(mask)] - owner->shared >= (int64_t)launch->reserved_shared;
}

static void print_reserved_note(void)
{
    static atomic_flag printed = ATOMIC_FLAG_INIT;
    if (!atomic_flag_test_and_set(&printed))
        fprintf(stderr,
                "simulator: in tiles of more than 32 threads, cooperative groups order accesses of shared memory by a shuffle, which PTX "
                "does not guarantee; this is the library's responsibility, not a finding\n");
}

// True if `some` contains the first lane of `all`.
static bool has_first_lane(uint32_t some, uint32_t all)
{
    return some & all & -all;
}

// Strong accesses acquire and release in the order of the lanes; reads of one address acquire together.
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

// True if the instruction may acquire or release.
static bool may_synchronise(const Instr *i)
{
    return i->kind == ATOMIC || ((i->kind == LOAD || i->kind == STORE) && i->semantics != WEAK);
}

static ShadowedMemory memory_of(const Launch *launch, Block *owner, Allocation *a, bool reserved)
{
    if (owner)
        return (ShadowedMemory){owner->lines, owner->shared, sim_block_generation(owner), !reserved};
    return (ShadowedMemory){sim_lines_of(a), a->memory, sim_launch_generation(launch), sim_starts_uninitialised(a)};
}

// Initialises all fields but check->memory and check->launch_only_reads.
static void init_check(AccessCheck *check, Warp *w, const Instr *i, Access *access, uint32_t mask, Block *owner, Allocation *a)
{
    const Launch *launch = w->block->launch;
    if (i->kind == STORE && mask != access->mask && has_first_lane(mask, access->mask))
        sim_advance_time(w->block); // as in check_scattered: the lanes are checked one by one
    check->w = w;
    check->i = i;
    check->access = access;
    check->allocation = a;
    check->shared = owner != NULL;
    check->single_threaded = owner || launch->on_one_thread;
    check->barriers_only = has_only_barriers(launch);
    check->full_warp_barriers = !launch->kernel->program->effects.partial_warp_barriers;
    check->block_epoch = sim_block_barrier(w);
    check->warp_epoch = sim_warp_barrier(w);
    check->first_generation = owner ? sim_first_generation(owner) : 0;
    check->record = (AccessRecord){.block = (uint32_t)w->block->number, .time = sim_time(w->block), .site = i->site & 0xfffff,
                           .warp = (unsigned)w->number & 31, .kind = sim_record_kind(i, access) & 7, .byte_mask = 15};
    check->reads_flag = check->record.kind == STRONG_READ && i->semantics == VOLATILE && sim_feeds_branch(w, i);
    check->race.found = check->race.stale = check->unfenced.found = false;
}

// Additional checks of global memory: padding, and writes to data that non-coherent loads assume constant.
static void check_in_allocation(AccessCheck *check, uint32_t mask, Allocation *a)
{
    if (a->row_bytes)
        sim_note_padding(check->w, check->i, check->access, mask, a);
    const bool written = atomic_load_explicit(&a->last_write_generation, memory_order_relaxed) == check->memory.generation;
    if (writes(&check->record) && !written)
        atomic_store_explicit(&a->last_write_generation, check->memory.generation, memory_order_relaxed);
    const bool noncoherent = check->i->flags & READ_ONLY && check->i->kind == LOAD;
    if (noncoherent && written && !check->race.found)
        sim_check_noncoherent(check, mask);
}

static void report_missing_fence(const AccessCheck *check)
{
    AccessCheck unfenced = *check;
    unfenced.race = check->unfenced;
    sim_note_unfenced(check->w->block, check->unfenced.earlier.site, check->unfenced.later.site);
    sim_wait_for_earlier_blocks(check->w->block);
    sim_report_race(&unfenced);
}

static void report_race(const AccessCheck *check, bool reserved)
{
    if (!check->race.found && check->unfenced.found && !reserved)
        report_missing_fence(check);
    if (!check->race.found)
        return;
    if (reserved) {
        print_reserved_note();
        return;
    }
    sim_note_race(check->w->block, check->race.earlier.site, check->race.later.site);
    sim_wait_for_earlier_blocks(check->w->block); // a speculative run may be restarted
    if (!sim_may_have_released(check->w->block, &check->race.earlier))
        sim_report_race(check);
}

// Checks the bounds of an access to shared memory: outside a variable it ends the launch.
static void check_in_block(Warp *w, const Instr *i, const Access *access, uint32_t mask, Block *owner, RecordKind kind)
{
    if (owner->cluster_accesses)
        sim_note_cluster_access(w, i, access, mask, owner, kind);
    sim_check_shared_bounds(w, i, access, mask, owner->shared);
}

void sim_check_access(Warp *w, const Instr *i, Access *access, uint32_t mask, Block *owner, Allocation *a)
{
    if (access->bytes == 0) // a bulk copy of no bytes
        return;
    const Launch *launch = w->block->launch;
    const RecordKind kind = sim_record_kind(i, access);
    const bool reserved = is_reserved(launch, i, owner, access, mask);
    AccessCheck check;
    check.memory = memory_of(launch, owner, a, reserved);
    if (owner)
        check_in_block(w, i, access, mask, owner, kind);
    if (is_redundant_load(&check, launch, access, mask, a, kind))
        return;
    init_check(&check, w, i, access, mask, owner, a);
    if (owner == w->block && owner->generic_writes && kind == PLAIN_WRITE)
        sim_note_generic_writes(w, i, access, mask);
    if (owner && check.barriers_only && !reserved) {
        if (sim_defer_read(&check, mask))
            return;
        sim_flush_deferred(&check);
    }
    sim_check_lines(&check, mask);
    if (a)
        check_in_allocation(&check, mask, a);
    report_race(&check, reserved);
    if (may_synchronise(i) && !check.barriers_only)
        order_by_access(w, i, access, mask, owner != NULL, kind);
}

bool sim_prepare_fast_path(const Warp *w, const Instr *i, Allocation *a, FastPath *fast_path)
{
    const Launch *launch = w->block->launch;
    const bool only_read = sim_only_reads(launch, a);
    if (a->row_bytes || a->kind == HEAP_MEMORY) // the heap may free and reuse it during the launch
        return false;
    sim_prepare_use_fast_path(launch, a, i->kind == STORE, fast_path);
    if (i->kind == STORE)
        return true;
    fast_path->fully_written = only_read && !sim_starts_uninitialised(a) ? NULL : a->fully_written;
    fast_path->generation = only_read ? 0 : sim_launch_generation(launch);
    return only_read || (has_only_barriers(launch) && !(i->loop & CAS_GUESS));
}

bool sim_record_store(const Warp *w, const Instr *i, Allocation *a, uint64_t first, size_t bytes)
{
    const Launch *launch = w->block->launch;
    const uint64_t end = first + bytes;
    Access access = {.bytes = i->bytes};
    const AccessCheck check = {.access = &access, .memory = {a->lines, a->memory, sim_launch_generation(launch), sim_starts_uninitialised(a)}, .allocation = a,
                               .single_threaded = launch->on_one_thread, .barriers_only = has_only_barriers(launch)};
    StridedAccess r = {.record = {.block = (uint32_t)w->block->number, .time = sim_time(w->block), .site = i->site & 0xfffff,
                       .warp = (unsigned)w->number & 31, .kind = PLAIN_WRITE, .byte_mask = 15},
             .stride = i->bytes, .size = 4, .whole = 1};
    for (uint64_t line = first / LINE_BYTES, begin; (begin = line * LINE_BYTES) < end; line++) {
        const uint64_t low = first > begin ? first : begin, high = end < begin + LINE_BYTES ? end : begin + LINE_BYTES;
        r.record.lanes = bits_between((unsigned)((low - first) / i->bytes), (unsigned)((high - first) / i->bytes));
        r.word_mask = bits_between((unsigned)(low - begin) / 4, (unsigned)(high - begin) / 4);
        r.origin = (int32_t)(first - begin);
        if (!sim_record_strided_store(&check, &a->lines[line], &r))
            return false;
    }
    return true;
}

void sim_report_foreign_address(Warp *w, const Instr *i, int lane, Space space, uint64_t owner)
{
    const Launch *launch = w->block->launch;
    const uint32_t thread = (uint32_t)(w->number * LANES + lane);
    char title[200];
    const FindingLocation p = sim_location_of(launch, w->block->number, thread, i, "access");
    const FindingLocation of_thread = sim_location_of(launch, 0, (uint32_t)owner, i, "");
    if (space == SHARED)
        snprintf(title, sizeof title, "the address of a shared variable of block %llu is used by block %llu",
                 (unsigned long long)owner, (unsigned long long)w->block->number);
    else
        snprintf(title, sizeof title,
                 "the address of a local variable of thread (%u,%u,%u) is used by another thread",
                 of_thread.thread.x, of_thread.thread.y, of_thread.thread.z);
    sim_wait_for_earlier_blocks(w->block); // a speculative run may be restarted
    sim_add_finding(OUT_OF_BOUNDS, title, &p, 1,
                    space == SHARED ? "pass the value, or keep it in global memory\n"
                                      "note: each block has its own shared memory; there the address names its own variable"
                                    : "pass the value, or keep it in shared memory\n"
                                      "note: each thread has its own local memory; there the address names its own variable");
}
