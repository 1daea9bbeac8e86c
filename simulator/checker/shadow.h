// shadow.h: what the checker keeps of each 128 bytes of memory, and of an access that it checks. Of the checker's own.
#ifndef SHADOW_H
#define SHADOW_H

#include "checker/kernel_checks.h"

#include <stdlib.h>
#include <string.h>

enum { FULLY_WRITTEN = 1 }; // of Allocation.settled; a run's number is greater
enum { WORDS = LINE_BYTES / 4, IN_CELL = 2, MOST_IN_CELL = 40 };

// ---- Of a line. Who has taken the line (`take`, below) has these, too, for himself; of a block's shared memory that is the
// host thread that runs the block. The line frees them when its memory ends (sim_free_lines).

typedef struct ShadowCell { // of a word: who used it last, from the oldest on
    AccessRecord few[IN_CELL], *many; // many: in place of the few, once it has `space`
    uint8_t count, space; // of many
} ShadowCell;

struct ShadowOverflow { // of a line, where one row will not do
    ShadowCell *cells; // of each word, in place of rows: ShadowLine.apart
    Readers warps, lanes;
    uint32_t words, by_warps; // of these rows, perhaps with some that none of them has any more; and whose: bit_of_warp
    StridedAccess rows[];     // behind the first one, from the oldest on
};

// ---- Of an access. On the stack of the host thread that runs the warp, which has it for itself.

typedef struct Race {
    AccessRecord earlier, later;
    bool found;
    bool same;  // what is stored lies there already
    bool stale; // the read need not see the write, whatever orders the two
} Race;

typedef struct Memory { // an allocation, or a block's shared memory
    ShadowLine *lines;
    const uint8_t *base; // where it begins, in this process
    uint32_t run;        // the present one, as in a Line
    bool values;         // who reads there what nobody wrote makes a mistake
} Memory;

typedef struct AccessCheck { // of one access of a warp, while it lasts
    Warp *w;
    const Instr *i;
    Access *access;
    Memory memory;
    Allocation *a; // or NULL: shared memory
    bool shared, restricted, rows, asked; // restricted: to one host thread; rows: a row can tell of it; asked: as a flag
    bool only_read; // the launch reads the allocation, and writes nothing there
    bool by_barriers, by_all_lanes; // only barriers order, those of warps for all lanes: see Readers
    uint32_t floor, barrier; // the last one of the block, and of it or the warp
    uint32_t shared_words; // of a row that is read, those that other rows have
    uint32_t first_run; // as memory.run; what is older says nothing of what is written in shared memory either
    AccessRecord epoch;
    Race race;
} AccessCheck;

// ---- written.c

// A part of an access that lies in one line: sets the lane's bytes that nobody wrote, or marks them as written.
void sim_check_written(Access *access, ShadowLine *line, int lane, unsigned first, unsigned count, unsigned done,
                       bool writing);
// Sets the bytes of the lanes' that nobody wrote, if there are any.
void sim_find_unwritten_of(Access *access, uint32_t mask, const Memory *memory);
ShadowLine *sim_make_lines_of(Allocation *a);
// What somebody wrote of a line has changed: see Allocation.settled.
void sim_update_fully_written(const Allocation *a, size_t line);

static inline ShadowLine *sim_lines_of(Allocation *a)
{
    ShadowLine *known = __atomic_load_n(&a->lines, __ATOMIC_ACQUIRE);
    return known ? known : sim_make_lines_of(a);
}

// Whether nobody has written the allocation when it is new. What other processes do to it is not known.
static inline bool sim_is_fresh(const Allocation *a)
{
    return (a->kind == DEVICE_MEMORY && a->file < 0) || a->kind == HEAP_MEMORY || a->kind == GRAPH_MEMORY;
}

// ---- cells.c

// Atomic operations of different widths are none for each other; of two volatile writes one may be lost.
bool sim_strong_conflict(const AccessCheck *check, const AccessRecord *a, const AccessRecord *b);
void sim_insert_record(ShadowCell *c, const AccessRecord *e);
// Whether two lanes store the same value: by their registers, in the execution that is under way.
bool sim_store_same_value(const AccessCheck *check, int lane, int other);
// Whether a lane stores what lies there already. The line is taken.
bool sim_stores_same(const AccessCheck *check, int lane);
// Some lanes' access of one word, or of these bytes of it.
void sim_check_word(AccessCheck *check, ShadowCell *c, uint32_t lanes, unsigned bytes);

// ---- strided.c

// The part of an access that lies in a line; without `row` it must not be kept as one. Its words are changed meanwhile.
void sim_check_in_line(AccessCheck *check, ShadowLine *line, StridedAccess *r, bool row);
void sim_check_read_only(AccessCheck *check, uint32_t mask); // loads for memory that is only read
// A row that is stored, where nothing is known of the line in this run, or just that. False: nothing is noted. Of the check it
// needs the memory, who shares it, and the size of an element.
bool sim_note_row(const AccessCheck *check, ShadowLine *line, const StridedAccess *r);

// ---- memory.c, deferred_reads.c

// These lanes' words against their lines.
void sim_check_lines(AccessCheck *check, uint32_t mask);
// Puts off what a launch that only barriers order reads in shared memory. False: it is to be checked now, and all that has
// been put off before it.
bool sim_defer_read(const AccessCheck *check, uint32_t mask);
// Checks what the block has put off since its last barrier. Until the next one nothing more is put off.
void sim_flush_deferred(const AccessCheck *check);

// ---- redzones.c, race_message.c

// Each of these lanes must access one array of shared memory, which begins at `base`; where one does not, the launch ends.
void sim_check_objects(Warp *w, const Instr *i, const Access *access, uint32_t mask, const uint8_t *base);
void sim_report_race(const AccessCheck *check);

// ---- What all of them ask, at each access

static inline AccessRecord *epochs_of(ShadowCell *c)
{
    return c->space ? c->many : c->few;
}

static inline bool writes(const AccessRecord *e)
{
    return e->kind != PLAIN_READ && e->kind != STRONG_READ && e->kind != SOURCE_UNDER_WAY;
}

static inline bool is_strong(const AccessRecord *e)
{
    return e->kind == ATOMIC_UPDATE || e->kind == STRONG_READ || e->kind == STRONG_WRITE;
}

static inline StridedAccess *row_at(ShadowLine *line, int k)
{
    return k == 0 ? &line->first : &line->more->rows[k - 1];
}

static inline StridedAccess *row_by_age(ShadowLine *line, int k) // the oldest first
{
    return row_at(line, k + 1 < line->count ? k + 1 : 0);
}

static inline bool same_shape(const StridedAccess *a, const StridedAccess *r)
{
    return a->origin == r->origin && a->stride == r->stride && a->size == r->size;
}

static inline uint32_t lanes_at(const StridedAccess *r, int word) // who is at a word of the line, if whole ones are accessed
{
    return r->stride == ONE_PLACE ? r->epoch.lanes : 1u << ((uint32_t)(4 * word - r->origin) / r->stride & 31);
}

// Waits until no other host thread uses the line, and forgets what it tells of earlier runs: in shared memory all of
// the block know by now that this came before, but for copies, which may still be under way.
static inline void lock_line(const AccessCheck *check, ShadowLine *line)
{
    while (!check->restricted && atomic_exchange_explicit(&line->busy, 1, memory_order_acquire))
        ;
    if (line->run == check->memory.run)
        return;
    const bool of_this_block = check->shared && line->run >= check->first_run;
    __atomic_store_n(&line->common, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&line->run, check->memory.run, __ATOMIC_RELEASE);
    if (of_this_block && line->copies)
        return;
    line->count = 0;
    line->apart = line->copies = line->others = false;
    if (check->shared && !of_this_block)
        line->written[0] = line->written[1] = 0;
}

static inline void unlock_line(const AccessCheck *check, ShadowLine *line)
{
    if (!check->restricted)
        atomic_store_explicit(&line->busy, 0, memory_order_release);
}

static inline bool is_same_warp(const AccessRecord *a, const AccessRecord *b)
{
    return a->warp == b->warp && a->block == b->block;
}

static inline uint32_t bit_of_warp(const AccessRecord *e) // in ShadowOverflow.by_warps
{
    return 1u << ((e->warp + 9 * e->block) & 31); // of neighbours, who share lines, they differ
}

// Of the lowest 16 words, a bit each, all bytes.
static inline uint64_t bytes_of_words(uint32_t words)
{
    uint64_t bits = words & 0xffff;
    bits = (bits | bits << 24) & 0x000000ff000000ff;
    bits = (bits | bits << 12) & 0x000f000f000f000f;
    bits = (bits | bits << 6) & 0x0303030303030303;
    bits = (bits | bits << 3) & 0x1111111111111111;
    return bits * 15;
}

// The bytes of half a line that somebody wrote. Who has not taken the line asks for them, too, and unmarks some.
static inline uint64_t written_in(const ShadowLine *line, int half)
{
    return __atomic_load_n(&line->written[half], __ATOMIC_RELAXED);
}

// All of a half are set without a look at them: the first read of a fresh page would be a fault of its own.
static inline void mark_bytes(ShadowLine *line, int half, uint64_t bytes)
{
    if (bytes == ~0ull)
        __atomic_store_n(&line->written[half], bytes, __ATOMIC_RELAXED);
    else if (bytes & ~written_in(line, half))
        __atomic_fetch_or(&line->written[half], bytes, __ATOMIC_RELAXED);
}

// Whether somebody wrote these words, each of four bytes.
static inline bool all_written(const ShadowLine *line, uint32_t words)
{
    const uint64_t low = written_in(line, 0), high = written_in(line, 1);
    if ((low & high) == ~0ull)
        return true;
    const int first = __builtin_ctz(words);
    if (!(words & (words - 1)))
        return ((first < 16 ? low : high) >> first % 16 * 4 & 15) == 15;
    return !(bytes_of_words(words) & ~low) && !(bytes_of_words(words >> 16) & ~high);
}

// Whether all of an allocation's line is written, for those who ask no more than that. Another host thread may say meanwhile that
// some of it is not (sim_mark_unwritten), and then that the line is not settled: so look once more.
static inline void update_fully_written(const Allocation *a, size_t line)
{
    uint32_t *fully_written = &a->fully_written[line];
    if (!all_written(&a->lines[line], ALL_LANES)) {
        __atomic_store_n(fully_written, 0, __ATOMIC_RELAXED);
        return;
    }
    __atomic_store_n(fully_written, FULLY_WRITTEN, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (!all_written(&a->lines[line], ALL_LANES))
        __atomic_store_n(fully_written, 0, __ATOMIC_RELAXED);
}

static inline uint32_t bits_between(unsigned first, unsigned end) // at most 32
{
    return (end >= 32 ? ALL_LANES : (1u << end) - 1) & ~((1u << first) - 1);
}

#endif
