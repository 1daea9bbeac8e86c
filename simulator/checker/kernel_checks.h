// kernel_checks.h: the checks of what a kernel's threads do: data races, uninitialised reads, barrier divergence.
//
// A block's clock advances at every synchronisation of its threads. An access happened before another one if the second
// thread has synchronised with it since: by a barrier, or by a release and an acquire (clocks.c). See checker.md.
#ifndef KERNEL_CHECKS_H
#define KERNEL_CHECKS_H

#include "checker/findings.h"
#include "checker/values.h"
#include "machine/observer.h"

// ---- clocks.c: which accesses happen before which

typedef struct AccessRecord { // accesses by lanes of a warp, at one time of its block's clock
    uint32_t block, time, lanes;
    uint32_t site : 20, warp : 5, kind : 3, byte_mask : 4; // byte_mask: a bit for each byte of a word
} AccessRecord;

typedef enum RecordKind {
    PLAIN_READ,
    PLAIN_WRITE,
    ATOMIC_UPDATE,
    STRONG_READ,
    STRONG_WRITE,
    COPY_IN_FLIGHT,  // writes to shared memory until a thread waits for it; a barrier does not complete it
    SOURCE_IN_FLIGHT // the same for a copy that reads shared memory
} RecordKind;

static inline bool is_in_flight(const AccessRecord *e)
{
    return e->kind == COPY_IN_FLIGHT || e->kind == SOURCE_IN_FLIGHT;
}

enum { MAX_STRIDED = 32 };

// The part of an access in one shadow line, if its lanes are equally far apart. 28 bytes; each word from its lowest bit:
//
//   byte   bit 0                                                     bit 31
//      0   record.block: the block's number
//      4   record.time: of the block's clock
//      8   record.lanes: a bit each; a later access may have taken over all words of a lane
//     12   record.site: 20 bits    record.warp: 5    record.kind: 3    record.byte_mask: 4
//     16   word_mask: a bit for each accessed word of the line
//     20   origin: byte offset of lane 0 from the start of the line; negative if it is in an earlier line
//     24   stride: 24 bits                         size: 7                  whole: 1
//
// Lane l accesses `size` bytes at origin + l * stride, and the following words up to the next lane if its element has
// several. Example: lanes 4 to 7 access four adjacent floats from byte 32 of the line: lanes 0xf0, word_mask 0xf00, origin 16,
// stride 4, size 4, whole 1.
typedef struct StridedAccess {
    AccessRecord record;
    uint32_t word_mask;
    int32_t origin;
    union {
        struct {
            uint32_t stride : 24, // bytes between lanes; SAME_ADDRESS: all lanes are at the origin
                size : 7,         // bytes of a lane in a word: 1, 2 or 4
                whole : 1;        // all bytes of the words are accessed
        };
        uint32_t shape; // the three fields as one word
    };
} StridedAccess;

enum { SAME_ADDRESS = 0 };

// Two readers of the same words. Further readers need no record if every write that races with them also races with one of
// the two. That holds only if barriers of whole blocks and of warps are the launch's only synchronisation
// (EffectSummary.synchronises is false):
//   - threads of two blocks: until the launch ends;
//   - threads of two warps of a block: until its next barrier;
//   - two lanes of a warp: for that warp, until its next barrier, if all its barriers name all its lanes.
// So a finding may show one reader of many.
typedef struct ReaderPair {
    uint32_t word_mask; // of a line
    uint32_t run, block, warp;
    uint32_t since; // time of the last barrier before the reads
} ReaderPair;

// The last accesses to 128 bytes; as large as a cache line of the host. Lines of an allocation are shared by blocks: fields
// are guarded by `busy`, except that `written`, `run` and `two_reader_mask` are also read, and bits of `written` cleared, without
// it. Lines of shared memory are owned by the host thread that runs the block or its cluster, and need no lock.
typedef struct ShadowLine {
    uint64_t written[2];       // a bit for each byte that has been written
    uint32_t run;              // of the other fields: the launch; in shared memory, the barrier interval
    atomic_uchar busy;         // the lock
    uint8_t count;             // of strided accesses
    uint8_t capacity;          // of overflow->strided
    bool has_cells : 1;        // records are in cells, one a word
    bool has_copies : 1;       // some records may be of copies in flight
    bool has_other_kinds : 1;  // some records may not be plain reads
    uint32_t two_reader_mask;      // words read by threads of two blocks; in shared memory, of two warps
    StridedAccess first;       // the newest strided access
    struct ShadowOverflow *overflow; // NULL until needed
} ShadowLine;

typedef struct Object { // a variable in shared memory; immutable during the launch
    uint64_t address;
    size_t bytes;             // 0: none
    const Variable *variable; // NULL: dynamic shared memory
} Object;

typedef struct LaunchClocks LaunchClocks;
typedef struct BlockClocks BlockClocks;

// The checker's state of a launch, and of a block that a host thread runs; NULL if the checker is off.
LaunchClocks *sim_start_launch_clocks(const Launch *launch);
void sim_end_launch_clocks(Launch *launch);
void sim_free_launch_clocks(LaunchClocks *clocks);
// New clocks start after the latest time of all freed ones, so that a block that restarts on other clocks is later than the
// records of its first run.
BlockClocks *sim_new_block_clocks(const Launch *launch, int warps);
void sim_free_block_clocks(Block *block);
void sim_start_block_clocks(Block *block); // also when the block restarts
uint32_t sim_launch_run(const Launch *launch); // a nonzero number of the launch
const Object *sim_object_at(const Launch *launch, uint64_t address); // the variable in this line of shared memory

// Synchronisation: a barrier of the whole block; a barrier of lanes of a warp.
void sim_order_block(Block *block);
void sim_order_lanes(Warp *w, uint32_t mask);
// The lanes release to, or acquire from, a synchronisation variable. key: its address in this process.
void sim_sync_release(Warp *w, uint32_t mask, uint64_t key);
void sim_sync_acquire(Warp *w, uint32_t mask, uint64_t key);
// membar, fence
void sim_order_by_fence(Warp *w, const Instr *i, uint32_t mask);
// The clock of a thread that launches a kernel, and whether it orders all lanes of an access before that launch.
typedef struct ClockSnapshot ClockSnapshot;
const ClockSnapshot *sim_take_snapshot(Arena *arena, Warp *w, int lane);
bool sim_snapshot_covers(const ClockSnapshot *snapshot, const AccessRecord *e);
// The copy that the lane starts now completes before a wait for this mbarrier returns.
void sim_order_copy(Warp *w, int lane, uint64_t key);
// Lanes read one address by a strong access: they may acquire.
void sim_order_by_reads(Warp *w, const Instr *i, uint32_t mask, bool shared, uint64_t key);
// A lane's strong access that writes, and perhaps reads: it may acquire and release.
void sim_order_by_access(Warp *w, const Instr *i, int lane, bool shared, uint64_t key, RecordKind kind);
// True if the access happened before what the lane, or each of the lanes, does now.
bool sim_happens_before(Warp *w, const Instr *i, int lane, const AccessRecord *e);
bool sim_hb_all_lanes(Warp *w, const Instr *i, uint32_t mask, const AccessRecord *e);
// The same for all lanes without a search: false means unknown.
bool sim_hb_warp_fast(const Warp *w, const AccessRecord *e);
// True if another block's read may be ordered by a release that was not recorded (MAX_READS_ONLY).
bool sim_may_have_released(const Block *b, const AccessRecord *e);
// True if only a fence after what the lane has read is missing to order the access before it.
bool sim_lacks_fence(const Warp *w, int lane, const AccessRecord *e);
// True if some thread of the block, perhaps one that has exited, has acquired the access of another block.
bool sim_block_acquired(const Block *b, const AccessRecord *e);
void sim_note_race(Block *block, uint32_t site, uint32_t other); // between two instructions
// True if the accessing thread has executed a fence since; may be true wrongly.
bool sim_has_fenced(const Warp *w, const AccessRecord *e);
// True if a branch may depend on the value of a volatile load, which makes it a flag rather than data.
bool sim_feeds_branch(const Warp *w, const Instr *i);
// The warp's block has polled a word that this access wrote. Later: whether it has polled a word that the same lanes wrote
// at the time of an access, or after it.
void sim_note_acquired_from(const Warp *w, const AccessRecord *e);
bool sim_acquired_since(const Warp *w, const AccessRecord *e);
// True if a volatile read of this warp is in a loop that waits for its value, or feeds a branch and is followed by a fence.
bool sim_is_spin_read(const Warp *w, const AccessRecord *e);
// Times of the last barrier of the block, and of the warp or block, that all live lanes have passed.
uint32_t sim_block_barrier(const Warp *w);
uint32_t sim_warp_barrier(const Warp *w);
uint32_t sim_time(const Block *block);
void sim_advance_time(Block *block);
// Increasing numbers of the block's barrier interval, and of its first one. In a cluster all intervals of a block have the
// same number, because its blocks access each other's shared memory.
uint32_t sim_block_run(const Block *block);
uint32_t sim_first_run(const Block *block);

// ---- barriers.c

// Lanes exit after the last instruction of their warp split.
void sim_note_exits(Warp *w, const WarpSplit *p, uint32_t mask);
// All threads of the block have arrived at the barrier, which is about to open.
void sim_check_barrier_divergence(Block *b, const Barrier *barrier);

// ---- bulk_copies.c: whether the async proxy sees what threads have written to shared memory

void sim_start_async_writers(Block *b); // also when the block restarts
// fence.mbarrier_init; fence.proxy.async
void sim_note_init_fence(Warp *w, const Instr *i, uint32_t mask);
void sim_note_proxy_fence(Warp *w);
// A lane starts a bulk copy that reads these bytes of shared memory (`out`), or that signals the mbarrier there.
void sim_check_bulk_copy(Warp *w, const Instr *i, int lane, uint64_t address, size_t bytes, bool out);
// Lanes write shared memory of their block.
void sim_note_generic_writes(Warp *w, const Instr *i, const Access *access, uint32_t mask);

// ---- cluster_ends.c: accesses to shared memory of a block that may have exited

void sim_start_cluster_accesses(Block *b); // also when the block restarts
// Lanes of a cluster access shared memory of `owner`.
void sim_note_cluster_access(Warp *w, const Instr *i, const Access *access, uint32_t mask, Block *owner, RecordKind kind);
void sim_acquire_at_barrier(Warp *w, uint32_t mask, uint64_t key); // sim_sync_acquire for a barrier that has opened
// Lanes exit, perhaps the last ones of the block.
void sim_check_cluster_exit(Warp *w, const Instr *end, uint32_t mask);

// ---- padding.c: accesses to the padding of rows with a pitch that the runtime chose

// Lanes access such an allocation. access->unwritten is set.
void sim_note_padding(Warp *w, const Instr *i, const Access *access, uint32_t mask, const Allocation *a);
// The launch has succeeded: reports accesses past the end of rows that look like mistakes.
void sim_report_padding(const Launch *launch);

// ---- memory.c

// Marks bytes of the block's shared memory, or of the lane's local memory, as unwritten.
void sim_mark_unwritten(Warp *w, int lane, Space space, uint64_t address, size_t bytes);
// Lanes read or write local memory.
void sim_check_local(Warp *w, Access *access);

// A lane uses the generic address of a variable of another block (SHARED) or thread (LOCAL), whose number is `owner`.
void sim_report_foreign_address(Warp *w, const Instr *i, int lane, Space space, uint64_t owner);
// Checks a warp's access after its addresses are resolved and before it takes effect; sets access->unwritten. owner: the block
// whose shared memory it is, or NULL; a: the allocation, or NULL.
void sim_check_access(Warp *w, const Instr *i, Access *access, uint32_t mask, Block *owner, Allocation *a);
// Sets what the machine needs to skip redundant checks of an instruction's loads or stores; false: every access must be
// checked.
bool sim_prepare_fast_path(const Warp *w, const Instr *i, Allocation *a, FastPath *fast_path);
// Records a store of consecutive elements by a whole warp; false: it needs sim_check_access.
bool sim_record_store(const Warp *w, const Instr *i, Allocation *a, uint64_t first, size_t bytes);
RecordKind sim_record_kind(const Instr *i, const Access *access);

// ---- written.c: which bytes have been written

// True if the memory there is uninitialised when it is allocated.
bool sim_starts_unwritten(uint64_t address);
// The host, or a copy, has written device memory.
void sim_mark_written(uint64_t address, size_t bytes);
// Offset of the first of these bytes that is unwritten, or written; `bytes` if there is none.
size_t sim_find_unwritten(uint64_t address, size_t bytes);
size_t sim_find_written(uint64_t address, size_t bytes);

// ---- strided.c

ShadowLine *sim_new_lines(size_t bytes); // of memory of this size
void sim_free_lines(ShadowLine *lines, size_t bytes);

#endif
