// shadow.h: shadow memory, with a ShadowLine for each 128 bytes, and the state of one access check. Internal to the checker.
#ifndef SHADOW_H
#define SHADOW_H

#include "checker/kernel_checks.h"
#include "checker/written.h"

#include <stdlib.h>
#include <string.h>

enum { WORDS = LINE_BYTES / 4, INLINE_RECORDS = 2, MAX_CELL_RECORDS = 40 };

// ---- Parts of a line. Guarded by ShadowLine.busy; in shared memory, owned by the host thread that runs the block. Freed by
// sim_free_lines, together with the line.

typedef struct ShadowCell { // the last accesses to a word, oldest first
    AccessRecord inline_records[INLINE_RECORDS];
    AccessRecord *heap_records; // replaces inline_records if `capacity` is not 0
    uint8_t count;              // number of records
    uint8_t capacity;           // capacity of heap_records
} ShadowCell;

struct ShadowOverflow { // records of a line with more than one strided access
    ShadowCell *cells; // one a word; in use if ShadowLine.has_cells
    ReaderPair warp_pair, lane_pair;
    StridedAccess strided[]; // all but the first, oldest first
};

// ---- An access check, on the stack of the host thread that runs the warp

typedef struct Race {
    AccessRecord earlier, later;
    bool found;
    bool same_value; // the store does not change the value
    bool unfenced;   // a barrier of a block orders the accesses, but a fence of device scope is missing
    bool stale;      // the later access is a non-coherent load, which may return an older value even if ordered after the write
} Race;

typedef struct ShadowedMemory { // an allocation, or a block's shared memory
    ShadowLine *lines;
    const uint8_t *base; // host address of its start
    uint32_t generation; // the current generation of its lines
    bool checks_values;  // reading unwritten bytes is an error
} ShadowedMemory;

typedef struct AccessCheck {
    Warp *w;
    const Instr *i;
    Access *access;
    ShadowedMemory memory;
    Allocation *allocation;  // NULL: shared memory
    bool shared;
    bool single_threaded;    // only one host thread uses these lines: no locking
    bool fits_strided;       // can be kept as a StridedAccess if its lanes are equally spaced
    bool reads_flag;         // a volatile load that feeds a branch
    bool launch_only_reads;  // the launch never writes to the allocation
    bool barriers_only;      // barriers are the launch's only synchronisation (see ReaderPair)
    bool full_warp_barriers; // all barriers of warps name all lanes (see ReaderPair)
    uint32_t block_epoch;    // time of the last barrier of the block that all live lanes of the warp have passed
    uint32_t warp_epoch;     // the same of the last barrier of the block or of the warp
    uint32_t first_generation; // in shared memory: the block's first generation; older lines count as unwritten
    AccessRecord record;
    Race race;
    Race unfenced; // reported if there is no race
} AccessCheck;

// ---- written.c

// Marks `count` bytes of a lane's access as written if `writing`; otherwise sets the unwritten ones in access->unwritten. `first`: the
// first byte within the line; `done`: number of the lane's bytes in earlier lines.
void sim_check_written_bytes(Access *access, ShadowLine *line, int lane, unsigned first, unsigned count, unsigned done,
                       bool writing);
// Sets access->unwritten for the lanes of the mask.
void sim_set_unwritten(Access *access, uint32_t mask, const ShadowedMemory *memory);
// Updates AllocationCheck.fully_written after a change of ShadowLine.written.
void sim_update_fully_written(const Allocation *a, size_t line);

// ---- shadow.c

ShadowLine *sim_make_lines(Allocation *a); // and AllocationCheck.fully_written; called once, by sim_lines_of

static inline ShadowLine *sim_lines_of(Allocation *a)
{
    ShadowLine *lines = __atomic_load_n(&a->check->lines, __ATOMIC_ACQUIRE);
    return lines ? lines : sim_make_lines(a);
}

// True if the allocation is uninitialised at first. Memory shared with other processes counts as initialised, since they may have
// written it.
static inline bool sim_starts_uninitialised(const Allocation *a)
{
    return (a->kind == DEVICE_MEMORY && a->file < 0) || a->kind == HEAP_MEMORY || a->kind == GRAPH_MEMORY;
}

// ---- cells.c

// True if two strong accesses conflict nevertheless: their scopes do not include each other, they are atomics of different widths, or
// volatile updates that may lose a value.
bool sim_strong_accesses_conflict(const AccessCheck *check, const AccessRecord *a, const AccessRecord *b);
void sim_insert_record(ShadowCell *c, const AccessRecord *e);
// True if two lanes store the same value in this execution of the instruction.
bool sim_lanes_store_same(const AccessCheck *check, int lane, int other);
// Two overlapping accesses, the later by one lane, have been compared: stores in the check a race, or a missing fence that
// sim_happens_before has found. The line is locked.
void sim_note_pair(AccessCheck *check, const AccessRecord *earlier, const AccessRecord *later, bool is_race);
// Checks and records the lanes' access to these bytes of a word. The line is locked.
void sim_check_word(AccessCheck *check, ShadowCell *c, uint32_t lanes, unsigned bytes);

// ---- strided.c

// Checks and records the part of an access in one line. `as_strided`: it may be kept as a StridedAccess. Changes `current` temporarily.
void sim_check_strided(AccessCheck *check, ShadowLine *line, StridedAccess *current, bool as_strided);
void sim_check_noncoherent(AccessCheck *check, uint32_t mask); // checks loads by ld.global.nc
typedef bool RecordPredicate(const AccessRecord *record, const Block *b);
// Sets `found` to a record of an access to these bytes of the block's shared memory for which `matches` is true; false: there is none.
bool sim_find_shared_record(const Block *b, uint64_t first, size_t bytes, RecordPredicate *matches, AccessRecord *found);
// Records a store if the line has no other record of this generation, or the store extends the newest; false: nothing is recorded. Of the check, only memory, allocation,
// single_threaded, barriers_only and access->bytes need to be set.
bool sim_record_strided_store(const AccessCheck *check, ShadowLine *line, const StridedAccess *current);

// ---- access_lines.c, deferred_reads.c

// Checks the lanes' accesses against their lines.
void sim_check_lines(AccessCheck *check, uint32_t mask);
// Defers the check of a read of shared memory to the next write there; requires barriers_only. False: check it now, after
// sim_flush_deferred.
bool sim_defer_read(const AccessCheck *check, uint32_t mask);
// Checks all reads that the block has deferred since its last barrier, and defers no more until the next one.
void sim_flush_deferred(const AccessCheck *check);

// ---- redzones.c, race_message.c

// Ends the launch if a lane accesses shared memory outside a variable. `base`: start of the block's shared memory.
void sim_check_shared_bounds(Warp *w, const Instr *i, const Access *access, uint32_t mask, const uint8_t *base);
void sim_report_race(const AccessCheck *check);
void sim_report_grid_race(const AccessCheck *check); // dynamic_parallelism.c: a race with another grid of a nested launch

// ---- Inline queries

static inline AccessRecord *records_of(ShadowCell *c)
{
    return c->capacity ? c->heap_records : c->inline_records;
}

static inline bool writes(const AccessRecord *e)
{
    return e->kind != PLAIN_READ && e->kind != STRONG_READ && e->kind != SOURCE_IN_FLIGHT;
}

static inline bool is_strong(const AccessRecord *e)
{
    return e->kind == ATOMIC_UPDATE || e->kind == STRONG_READ || e->kind == STRONG_WRITE;
}

static inline StridedAccess *strided_at(ShadowLine *line, int k)
{
    return k == 0 ? &line->first : &line->overflow->strided[k - 1];
}

static inline StridedAccess *strided_by_age(ShadowLine *line, int k) // oldest first
{
    return strided_at(line, k + 1 < line->count ? k + 1 : 0);
}

static inline bool same_shape(const StridedAccess *a, const StridedAccess *r)
{
    return a->origin == r->origin && a->stride == r->stride && a->size == r->size;
}

// The lanes that access a word of the line; size must be 4.
static inline uint32_t lanes_at(const StridedAccess *r, int word)
{
    return r->stride == SAME_ADDRESS ? r->record.lanes : 1u << ((uint32_t)(4 * word - r->origin) / r->stride & 31);
}

// Locks the line and drops the records of older generations. In shared memory a barrier orders these, except for copies in flight.
static inline void lock_line(const AccessCheck *check, ShadowLine *line)
{
    while (!check->single_threaded && atomic_exchange_explicit(&line->busy, 1, memory_order_acquire))
        ;
    if (line->generation == check->memory.generation)
        return;
    const bool of_this_block = check->shared && line->generation >= check->first_generation;
    __atomic_store_n(&line->two_reader_mask, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&line->generation, check->memory.generation, __ATOMIC_RELEASE);
    if (of_this_block && line->has_copies)
        return;
    line->count = 0;
    line->has_cells = line->has_copies = line->has_other_kinds = false;
    if (check->shared && !of_this_block)
        line->written[0] = line->written[1] = 0;
}

static inline void unlock_line(const AccessCheck *check, ShadowLine *line)
{
    if (!check->single_threaded)
        atomic_store_explicit(&line->busy, 0, memory_order_release);
}

static inline bool is_same_warp(const AccessRecord *a, const AccessRecord *b)
{
    return a->warp == b->warp && a->block == b->block;
}

static inline uint32_t bits_between(unsigned first, unsigned end) // bits [first, end); end <= 32
{
    return (end >= 32 ? ALL_LANES : (1u << end) - 1) & ~((1u << first) - 1);
}

#endif
