// memory.c: checks accesses to global and shared memory for data races and uninitialised reads.
//
// Memory is divided into lines of 128 bytes, each with a shadow line (access_lines.c). Reads that need no check are recognised here.
#include "checker/block_check.h"
#include "checker/readers.h"
#include "checker/word_predicates.h"
#include "checker/memory_uses.h"
#include "checker/dependent_launches.h"

#include <string.h>

static RecordKind record_kind(const Instr *i, const Access *access)
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
        mark_redundant_lines(check, access, a->check->fully_written, mask);
    if (!redundant && check->launch_only_reads)
        sim_set_unwritten(access, mask, &check->memory);
    return redundant || check->launch_only_reads;
}

bool sim_path_contains(const Module *m, int file, const char *part)
{
    const Slice path = file >= 0 && file < m->file_count ? m->files[file] : (Slice){0};
    for (size_t k = 0; k + strlen(part) <= path.length; k++)
        if (memcmp(path.text + k, part, strlen(part)) == 0)
            return true;
    return false;
}

// True if the source line belongs to the headers of cooperative groups, or is unknown.
static bool is_in_cooperative_groups(const Module *m, const Statement *s)
{
    const int file = s && s->source_line > 0 ? s->source_file : -1;
    return file < 0 || file >= m->file_count || sim_path_contains(m, file, "cooperative_groups");
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
        return (ShadowedMemory){owner->check->lines, owner->shared, clocks_of(owner)->generation, !reserved};
    return (ShadowedMemory){sim_lines_of(a), a->memory, launch->vector_clocks->generation, sim_starts_uninitialised(a)};
}

// Initialises all fields but check->memory and check->launch_only_reads.
static void init_check(AccessCheck *check, Warp *w, const Instr *i, Access *access, uint32_t mask, Block *owner, Allocation *a)
{
    const Launch *launch = w->block->launch;
    BlockClocks *clocks = clocks_of(w->block);
    const uint32_t block_epoch = clocks->min_block_epoch[w->number], warp_epoch = clocks->warp_epoch[w->number];
    if (i->kind == STORE && mask != access->mask && has_first_lane(mask, access->mask))
        clocks->time++; // as in check_scattered: the lanes are checked one by one
    check->w = w;
    check->i = i;
    check->access = access;
    check->allocation = a;
    check->shared = owner != NULL;
    check->single_threaded = owner || launch->on_one_thread;
    check->barriers_only = has_only_barriers(launch);
    check->full_warp_barriers = !launch->kernel->program->effects.partial_warp_barriers;
    check->block_epoch = block_epoch;
    check->warp_epoch = warp_epoch > block_epoch ? warp_epoch : block_epoch;
    check->first_generation = owner ? clocks_of(owner)->first_generation : 0;
    check->record = (AccessRecord){.block = block_id(w->block), .time = clocks->time, .site = i->site & 0xfffff,
                           .warp = (unsigned)w->number & 31, .kind = record_kind(i, access) & 7, .byte_mask = 15};
    check->reads_flag = check->record.kind == STRONG_READ && i->semantics == VOLATILE && sim_feeds_branch(w, i);
    check->race.found = check->race.stale = check->unfenced.found = false;
}

// Additional checks of global memory: padding, and writes to data that non-coherent loads assume constant.
static void check_in_allocation(AccessCheck *check, uint32_t mask, Allocation *a)
{
    if (a->row_bytes)
        sim_note_padding(check->w, check->i, check->access, mask, a);
    const bool written = atomic_load_explicit(&a->check->last_write_generation, memory_order_relaxed) == check->memory.generation;
    if (writes(&check->record) && !written)
        atomic_store_explicit(&a->check->last_write_generation, check->memory.generation, memory_order_relaxed);
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
    if (is_of_other_grid(check->w->block, &check->race.earlier))
        sim_report_grid_race(check);
    else if (!sim_may_have_released(check->w->block, &check->race.earlier))
        sim_report_race(check);
}

// Checks the bounds of an access to shared memory: outside a variable it ends the launch.
static void check_in_block(Warp *w, const Instr *i, const Access *access, uint32_t mask, Block *owner, RecordKind kind)
{
    if (owner->check->cluster_accesses)
        sim_note_cluster_access(w, i, access, mask, owner, kind);
    sim_check_shared_bounds(w, i, access, mask, owner->shared);
}

void sim_check_access(Warp *w, const Instr *i, Access *access, uint32_t mask, Block *owner, Allocation *a)
{
    if (access->bytes == 0) // a bulk copy of no bytes
        return;
    const Launch *launch = w->block->launch;
    const RecordKind kind = record_kind(i, access);
    const bool reserved = is_reserved(launch, i, owner, access, mask);
    AccessCheck check;
    check.memory = memory_of(launch, owner, a, reserved);
    if (owner)
        check_in_block(w, i, access, mask, owner, kind);
    if (is_redundant_load(&check, launch, access, mask, a, kind))
        return;
    init_check(&check, w, i, access, mask, owner, a);
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
    if (a->records_uses && sim_is_early_launch()) // a warp that has not waited may make a recorded use
        return false;
    sim_prepare_use_fast_path(launch, a, i->kind == STORE, fast_path);
    if (i->kind == STORE)
        return true;
    fast_path->fully_written = only_read && !sim_starts_uninitialised(a) ? NULL : a->check->fully_written;
    fast_path->generation = only_read ? 0 : launch->vector_clocks->generation;
    fast_path->last_write_generation = only_read ? NULL : &a->check->last_write_generation;
    return only_read || (has_only_barriers(launch) && !(i->loop & CAS_GUESS));
}

bool sim_record_store(const Warp *w, const Instr *i, Allocation *a, uint64_t first, size_t bytes)
{
    const Launch *launch = w->block->launch;
    const uint64_t end = first + bytes;
    Access access = {.bytes = i->bytes};
    const AccessCheck check = {.access = &access, .memory = {a->check->lines, a->memory, launch->vector_clocks->generation, sim_starts_uninitialised(a)}, .allocation = a,
                               .single_threaded = launch->on_one_thread, .barriers_only = has_only_barriers(launch)};
    StridedAccess r = {.record = {.block = block_id(w->block), .time = clocks_of(w->block)->time, .site = i->site & 0xfffff,
                       .warp = (unsigned)w->number & 31, .kind = PLAIN_WRITE, .byte_mask = 15},
             .stride = i->bytes, .size = 4, .whole = 1};
    for (uint64_t line = first / LINE_BYTES, begin; (begin = line * LINE_BYTES) < end; line++) {
        const uint64_t low = first > begin ? first : begin, high = end < begin + LINE_BYTES ? end : begin + LINE_BYTES;
        r.record.lanes = bits_between((unsigned)((low - first) / i->bytes), (unsigned)((high - first) / i->bytes));
        r.word_mask = bits_between((unsigned)(low - begin) / 4, (unsigned)(high - begin) / 4);
        r.origin = (int32_t)(first - begin);
        if (!sim_record_strided_store(&check, &a->check->lines[line], &r))
            return false;
    }
    return true;
}

void sim_report_foreign_address(Warp *w, const Instr *i, int lane, Space space, uint64_t owner)
{
    const Launch *launch = w->block->launch;
    char title[200];
    const FindingLocation p = sim_lane_location(w, lane, i, "access", OTHER_ROLE);
    const FindingLocation of_thread = sim_location_of(launch, 0, (uint32_t)owner, i, "", OTHER_ROLE);
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
