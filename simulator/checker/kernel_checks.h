// kernel_checks.h: what the checker looks for in what a kernel's threads do: races, values that nobody wrote, barriers.
//
// A block has a time of its own: it goes on whenever threads synchronise. What a thread did at a time is ordered
// before what another one does if that one knows of it: because a barrier told it, or a flag behind a fence.
// checker.md tells more.
#ifndef KERNEL_CHECKS_H
#define KERNEL_CHECKS_H

#include "checker/findings.h"
#include "machine/observer.h"

// ---- clocks.c: what happens before what.

typedef struct AccessRecord { // accesses by lanes of a warp, at one time
    uint32_t block, time, lanes;
    uint32_t site : 20, warp : 5, kind : 3, bytes : 4; // bytes: which of a word's four
} AccessRecord;

// A copy to shared memory, and one from there, goes on until somebody waits for it: no barrier ends it.
typedef enum RecordKind {
    PLAIN_READ,
    PLAIN_WRITE,
    ATOMIC_UPDATE,
    STRONG_READ,
    STRONG_WRITE,
    COPY_UNDER_WAY,
    SOURCE_UNDER_WAY
} RecordKind;

static inline bool is_under_way(const AccessRecord *e)
{
    return e->kind == COPY_UNDER_WAY || e->kind == SOURCE_UNDER_WAY;
}

enum { ROWS = 32 };

// An access by lanes that lie in a row, as far as it is in one line. 28 bytes, from the lowest bit of each word on:
//
//   byte   bit 0                                                     bit 31
//      0   epoch.block: the block's number
//      4   epoch.time: of the block, when it was
//      8   epoch.lanes: a bit each; some may have no word left, as a later access took it
//     12   epoch.site: 20 bits    epoch.warp: 5    epoch.kind: 3    epoch.bytes: 4
//     16   words: a bit for each of the line's 32 words: those that the lanes access
//     20   origin: where lane 0 is, or would be, in bytes from the line's begin on; below 0 where it is further up
//     24   stride: 24 bits                         size: 7                  whole: 1
//
// So lane l has the `size` bytes from origin + l * stride on, and what follows of an element of several words, up to the
// next lane. Of four floats side by side, by lanes 4 to 7, from byte 32 of the line on: lanes 0xf0, words 0xf00,
// origin 16, stride 4, size 4, whole 1.
typedef struct StridedAccess {
    AccessRecord epoch;
    uint32_t words;
    int32_t origin;
    union {
        struct {
            uint32_t stride : 24, // bytes from a lane to the next; ONE_PLACE: all of them are at the origin
                size : 7,         // bytes of a lane in a word: 1, 2 or 4
                whole : 1;        // they access all bytes of these words
        };
        uint32_t shape; // all three, for whoever sets or compares them at once
    };
} StridedAccess;

enum { ONE_PLACE = 0 };

// Many read the same: all lanes of a warp one word, all warps a matrix. Of these reads a word needs no more than two,
// of two threads that are ordered with any writer as a third one would be: then a write that races with the third
// races with one of the two. This is so in a launch that no kernel's code orders but by barriers of whole blocks and of
// warps (EffectSummary.synchronises is false):
//   - of threads of two blocks: until the launch ends;
//   - of threads of two warps of a block: until its next barrier;
//   - of two lanes of a warp: for this warp, until its next barrier, where all of its barriers are for all its lanes.
// What is read behind those two is not kept, so a finding may name one reader for many.
typedef struct Readers { // two of them have read these words of a line
    uint32_t words, run, block, warp, since; // since: the barrier before
} Readers;

// What was done to 128 bytes; itself no larger than a line of the host's cache. Blocks share those of an allocation: who has
// set `busy` has the line for himself, but for `written`, `run` and `common`, which others read meanwhile, and unmark bytes.
// Those of a block's shared memory belong to the host thread that runs the block, or its cluster.
typedef struct ShadowLine {
    uint64_t written[2]; // bytes that somebody wrote, a bit each
    uint32_t run; // of what it tells: a launch; in shared memory the time from one barrier of a block to its next
    atomic_uchar busy;   // a host thread reads or writes it
    uint8_t count;       // of rows
    uint8_t space;       // for rows beyond the first
    bool apart : 1;      // it has cells in place of rows
    bool copies : 1;     // some may be under way
    bool others : 1;     // than plain reads may be among the rows
    uint32_t common;     // words that threads of two blocks have read; in shared memory, of two warps
    StridedAccess first;           // of the rows
    struct ShadowOverflow *more;
} ShadowLine;

typedef struct Object { // an array or variable in shared memory; set when the launch begins, and read by all
    uint64_t address;
    size_t bytes;             // 0: there is none
    const Variable *variable; // NULL: the dynamic part
} Object;

typedef struct LaunchClocks LaunchClocks;
typedef struct BlockClocks BlockClocks;

// What the checker keeps for a launch and for a block that a host thread runs; NULL where nothing is checked.
LaunchClocks *sim_start_launch_clocks(const Launch *launch);
void sim_end_launch_clocks(Launch *launch);
void sim_free_launch_clocks(LaunchClocks *clocks);
// New clocks go on from the latest time of those that were freed before: a block that runs again, on other clocks, is
// later than all that lines of memory still tell of its first run.
BlockClocks *sim_new_block_clocks(const Launch *launch, int warps);
void sim_free_block_clocks(Block *block);
void sim_start_block_clocks(Block *block); // the block begins, perhaps again
uint32_t sim_launch_run(const Launch *launch);
const Object *sim_object_at(const Launch *launch, uint64_t address); // in its line of shared memory

// Synchronisation. All threads of the block have come to its barrier, or some to one that counts; lanes of a warp to
// theirs; a fence.
void sim_order_block(Block *block);
void sim_order_lanes(Warp *w, uint32_t mask);
// A log's key is the place in this process where the flag or mbarrier lies.
void sim_sync_release(Warp *w, uint32_t mask, uint64_t key);  // what the lanes did is known to those
void sim_sync_acquire(Warp *w, uint32_t mask, uint64_t key);    // who ask there later
// membar, fence.
void sim_order_by_fence(Warp *w, const Instr *i, uint32_t mask);
// What a thread knows now, as it launches a kernel; whether it knew then all that an epoch tells of.
typedef struct ClockSnapshot ClockSnapshot;
const ClockSnapshot *sim_take_snapshot(Arena *arena, Warp *w, int lane);
bool sim_snapshot_covers(const ClockSnapshot *knower, const AccessRecord *e);
// A copy that the lane has begun now will have come for those who ask at an mbarrier.
void sim_order_copy(Warp *w, int lane, uint64_t key);
// Lanes read a place by a strong access: what they may learn there.
void sim_order_by_reads(Warp *w, const Instr *i, uint32_t mask, bool shared, uint64_t key);
// A lane's strong access that writes, and perhaps reads: what it may learn at the address, what it tells there.
void sim_order_by_access(Warp *w, const Instr *i, int lane, bool shared, uint64_t key, RecordKind kind);
// Whether all that an epoch tells of happened before what the lane does now.
bool sim_happens_before(Warp *w, const Instr *i, int lane, const AccessRecord *e);
bool sim_hb_all_lanes(Warp *w, const Instr *i, uint32_t mask, const AccessRecord *e); // the same for each of the lanes
bool sim_may_have_released(const Block *b, const AccessRecord *e); // another block's read, of which perhaps it was told: see MOST_WEAK
// Whether it would have, were there a fence behind what the lane has read.
bool sim_lacks_fence(const Warp *w, int lane, const AccessRecord *e);
// Whether some thread of the block, perhaps an ended one, knows of what lanes of another block did.
bool sim_block_acquired(const Block *b, const AccessRecord *e);
void sim_note_race(Block *block, uint32_t site, uint32_t other); // between two instructions
bool sim_hb_warp_fast(const Warp *w, const AccessRecord *e); // quickly, and for all lanes: true is certain
// Whether the thread of an epoch has executed a fence since, as far as is known.
bool sim_has_fenced(const Warp *w, const AccessRecord *e);
// Whether a branch may depend on what a volatile load finds: as on a flag, not as on data.
bool sim_feeds_branch(const Warp *w, const Instr *i);
// Threads of the warp's block have asked a word that this epoch's have written; whether one has that the epoch's thread
// wrote no earlier than this epoch's word.
void sim_note_acquired_from(const Warp *w, const AccessRecord *e);
bool sim_acquired_since(const Warp *w, const AccessRecord *e);
// Whether a volatile read of the warp's was in a loop that waited for what it found, or a branch, with a fence since.
bool sim_is_spin_read(const Warp *w, const AccessRecord *e);
// The last barrier of the block, and of the warp, that all the threads that run know of: what came later, they need not.
uint32_t sim_block_barrier(const Warp *w);
uint32_t sim_warp_barrier(const Warp *w);
uint32_t sim_time(const Block *block);
void sim_advance_time(Block *block);
// Numbers that go up: for what lies between two barriers of the whole block, and the first of its run. Where blocks
// of a cluster reach each other's memory, it is one for the whole run.
uint32_t sim_block_run(const Block *block);
uint32_t sim_first_run(const Block *block);

// ---- values.c, value_results.c

// A load has brought bytes that nobody wrote, or a warp holds such values from earlier: notes which registers do now.
void sim_note_loaded(Warp *w, const Instr *i, const Access *access);
// Lanes of a shuffle got the values of lanes that take no part in it: no more than what nobody wrote.
void sim_note_inactive_sources(Warp *w, const Instr *i, uint32_t mask);
// An atomic operation reads what nobody wrote.
void sim_report_uninitialised(Warp *w, const Instr *i, const Access *access);
// A warp that holds such values: before it runs an instruction, and after it has run a plain one, or a shuffle.
void sim_check_uses(Warp *w, const Instr *i);
void sim_follow_values(Warp *w, const Instr *i, uint32_t mask);
void sim_follow_shuffle(Warp *w, const Instr *i, uint32_t mask);
void sim_forget_values(Warp *w); // value_table.c

// ---- undefined_copies.c

// The host gets these bytes: tells of those that a kernel stored, but that stand for what nobody wrote; whether there are any.
bool sim_check_result(uint64_t address, size_t bytes);
// The device has copied these bytes.
void sim_move_undefined_copies(uint64_t to, uint64_t from, size_t bytes);

// ---- barriers.c

// Lanes end behind the path's last instruction.
void sim_note_end(Warp *w, const WarpSplit *p, uint32_t mask);
// The last threads have come to a barrier of the whole block, and those that waited may go on.
void sim_check_arrivals(Block *b, const Barrier *barrier);

// ---- bulk_copies.c: what the copy engine sees of what threads have written in shared memory.

void sim_start_async_writers(Block *b); // the block begins, perhaps again
// fence.mbarrier_init, fence.proxy.async
void sim_order_inits(Warp *w, const Instr *i, uint32_t mask);
void sim_order_proxy(Warp *w);
// A lane begins a bulk copy that reads these bytes of shared memory (`out`), or that tells this mbarrier.
void sim_check_bulk_copy(Warp *w, const Instr *i, int lane, uint64_t address, size_t bytes, bool out);
// Lanes write shared memory of their block.
void sim_note_writes(Warp *w, const Instr *i, const Access *access, uint32_t mask);

// ---- cluster_ends.c: shared memory of a block of a cluster ends with the block.

void sim_start_cluster_accesses(Block *b); // the block begins, perhaps again
// Lanes access shared memory, in a cluster.
void sim_note_cluster_access(Warp *w, const Instr *i, const Access *access, uint32_t mask, Block *owner, RecordKind kind);
void sim_acquire_at_barrier(Warp *w, uint32_t mask, uint64_t key); // sim_sync_acquire, where a barrier has opened
// Lanes end at an instruction, perhaps the block's last.
void sim_check_cluster_exit(Warp *w, const Instr *end, uint32_t mask);

// ---- padding.c: the padding behind rows whose pitch CUDA chose.

// Lanes access an allocation of such rows. What nobody wrote is known.
void sim_note_padding(Warp *w, const Instr *i, const Access *access, uint32_t mask, const Allocation *a);
// The launch has ended well: did it go behind the end of rows by mistake?
void sim_report_padding(const Launch *launch);

// ---- memory.c

// The lane's bytes in the block's shared memory or its local memory are as if nobody had written them.
void sim_mark_unwritten(Warp *w, int lane, Space space, uint64_t address, size_t bytes);
// A lane reads or writes local memory.
void sim_check_local(Warp *w, Access *access);

// A lane has used the generic address of a variable of the block, or thread of its block, with this number.
void sim_find_foreign_owner(Warp *w, const Instr *i, int lane, Space space, uint64_t owner);
// Checks an access of a warp, when its bytes have been found and before they are read or written. `owner`: the block
// whose shared memory it is, else NULL; `a`: the allocation, else NULL. Of what nobody wrote it sets
// access->unwritten.
void sim_check_access(Warp *w, const Instr *i, Access *access, uint32_t mask, Block *owner, Allocation *a);
// What the machine is to know of loads or stores by an instruction, to leave out checks that would tell nothing new; false: it may
// not. And a store of a whole warp, side by side: false where a short look at it does not do.
bool sim_expect_accesses(const Warp *w, const Instr *i, Allocation *a, FastPath *fast_path);
bool sim_note_store(const Warp *w, const Instr *i, Allocation *a, uint64_t first, size_t bytes);
// How the checker calls an access.
RecordKind sim_record_kind(const Instr *i, const Access *access);
// Whether nobody has written the memory there when it is new.
bool sim_starts_unwritten(uint64_t address);
// The host, or a copy, wrote device memory.
void sim_mark_written(uint64_t address, size_t bytes);
// The first of these bytes that nobody wrote; `bytes` if there is none.
size_t sim_find_unwritten(uint64_t address, size_t bytes);
size_t sim_find_written(uint64_t address, size_t bytes); // that somebody wrote
ShadowLine *sim_new_lines(size_t bytes); // of memory, of which nothing is known yet
void sim_free_lines(ShadowLine *lines, size_t bytes);

#endif
