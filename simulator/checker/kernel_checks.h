// kernel_checks.h: checks of a kernel's threads: data races, uninitialised reads, barrier divergence.
//
// A block's clock advances at every synchronisation of its threads. An access happens before another one if the accessing threads
// have synchronised in between: by a barrier, or by a release and an acquire (clocks.c). See checker.md.
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
    COPY_IN_FLIGHT,  // asynchronous copy to shared memory, until a thread waits for it; a barrier does not complete it
    SOURCE_IN_FLIGHT // asynchronous copy from shared memory, until a thread waits for it
} RecordKind;

static inline bool is_in_flight(const AccessRecord *e)
{
    return e->kind == COPY_IN_FLIGHT || e->kind == SOURCE_IN_FLIGHT;
}

enum { MAX_STRIDED = 32 };

// The part of an access in one shadow line, if its lanes are equally spaced. 28 bytes; the fields of each word from its lowest bit:
//
//   byte   bit 0                                                     bit 31
//      0   record.block: a number of the block, unique among the grids of a launch by the host
//      4   record.time: of the block's clock
//      8   record.lanes: a bit for each lane; a later access may have replaced all words of a lane
//     12   record.site: 20 bits    record.warp: 5    record.kind: 3    record.byte_mask: 4
//     16   word_mask: a bit for each accessed word of the line
//     20   origin: byte offset of lane 0 from the start of the line; negative if it is in an earlier line
//     24   stride: 24 bits                         size: 7                  whole: 1
//
// Lane l accesses `size` bytes at origin + l * stride; if its element has several words, also the following words, up to the next
// lane. ExampleThread: lanes 4 to 7 access four adjacent floats from byte 32 of the line: lanes 0xf0, word_mask 0xf00, origin 16,
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

// Two readers of the same words. A further reader needs no record if every write that races with it also races with one of the
// two. That requires that barriers of whole blocks and of warps are the launch's only synchronisation
// (EffectSummary.synchronises is false), and holds for:
//   - threads of two blocks: until the launch ends;
//   - threads of two warps of a block: until the block's next barrier;
//   - two lanes of a warp: for readers of that warp, until its next barrier, if all of its barriers name all lanes.
// Therefore a finding may show one reader of many.
typedef struct ReaderPair {
    uint32_t word_mask; // words of a line
    uint32_t generation, block, warp;
    uint32_t since; // time of the last barrier before the two reads
} ReaderPair;

// The last accesses to 128 bytes of memory. Has the size of a cache line of the host. Lines of an allocation are shared by blocks
// and guarded by `busy`; but `written`, `generation` and `two_reader_mask` are also read, and bits of `written` cleared, without the lock.
// Lines of shared memory are owned by the host thread that runs the block or its cluster, and need no lock.
typedef struct ShadowLine {
    uint64_t written[2];       // bit mask of the bytes that have been written
    uint32_t generation;       // generation of the other fields; if it is not current, they are stale. A number of the launch or, in shared
                               // memory, of the barrier interval
    atomic_uchar busy;         // the lock
    uint8_t count;             // number of strided accesses
    uint8_t capacity;          // capacity of overflow->strided
    bool has_cells : 1;        // records are in cells, one for each word
    bool has_copies : 1;       // some records may be of copies in flight
    bool has_other_kinds : 1;  // some records may not be plain reads
    uint32_t two_reader_mask;  // words read by threads of two blocks or, in shared memory, of two warps
    StridedAccess first;       // the newest strided access
    struct ShadowOverflow *overflow; // NULL until needed
} ShadowLine;

typedef struct SharedVariable { // immutable during the launch
    uint64_t address;
    size_t bytes;             // 0: none
    const Variable *variable; // NULL: dynamic shared memory
} SharedVariable;

typedef struct LaunchClocks LaunchClocks;

// The clocks of a launch; NULL if the checker is off.
LaunchClocks *sim_start_launch_clocks(const Launch *launch);
void sim_free_launch_clocks(LaunchClocks *clocks);
// The clocks of a block that a host thread runs, which are in its zeroed Block.check. New clocks start after the latest time of all freed ones, so that a block that restarts on other clocks is later than the
// records of its first run.
void sim_init_block_clocks(Block *block);
void sim_free_block_clocks(Block *block);
void sim_start_block_clocks(Block *block); // also when the block restarts
const SharedVariable *sim_shared_variable_at(const Launch *launch, uint64_t address); // the variable in a line of shared memory

// All threads of a block, or lanes of a warp, synchronise at a barrier.
void sim_order_block(Block *block);
void sim_order_lanes(Warp *w, uint32_t mask);
// The lanes release to, or acquire from, a synchronisation variable. `key`: its host address.
void sim_sync_release(Warp *w, uint32_t mask, uint64_t key);
void sim_sync_acquire(Warp *w, uint32_t mask, uint64_t key);
// The lanes execute a fence.
void sim_order_by_fence(Warp *w, const Instr *i, uint32_t mask);
// The clock of a thread at the time when it launches a kernel; and whether all lanes of an access happen before that launch.
typedef struct ClockSnapshot ClockSnapshot;
const ClockSnapshot *sim_take_snapshot(Arena *arena, Warp *w, int lane);
bool sim_snapshot_covers(const ClockSnapshot *snapshot, const AccessRecord *e);
// A lane starts a copy, which completes before any wait for this mbarrier returns.
void sim_order_copy(Warp *w, int lane, uint64_t key);
// Lanes read one address by a strong access, which may acquire.
void sim_order_by_reads(Warp *w, const Instr *i, uint32_t mask, bool shared, uint64_t key);
// A lane writes, and perhaps reads, by a strong access, which may acquire and release.
void sim_order_by_access(Warp *w, const Instr *i, int lane, bool shared, uint64_t key, RecordKind kind);
// True if the access happens before the current instruction of the lane, or of each of the lanes.
bool sim_happens_before(Warp *w, const Instr *i, int lane, const AccessRecord *e);
bool sim_hb_all_lanes(Warp *w, const Instr *i, uint32_t mask, const AccessRecord *e);
// True if the access happens before the current instruction of all lanes of the warp. Does not search; false: unknown.
bool sim_hb_warp_fast(const Warp *w, const AccessRecord *e);
// True if another block's read may be ordered by a release that was not recorded (MAX_READS_ONLY).
bool sim_may_have_released(const Block *b, const AccessRecord *e);
// True if the access would be ordered before the lane's current instruction if the lane had executed a fence after its last reads.
bool sim_lacks_fence(const Warp *w, int lane, const AccessRecord *e);
// True if a thread of the block, perhaps one that has exited, has acquired an access of another block.
bool sim_block_acquired(const Block *b, const AccessRecord *e);
void sim_note_race(Block *block, uint32_t site, uint32_t other); // remembers that two instructions race
// The device-wide fence that is missing between another block's write and an access that only a block barrier orders after it.
typedef enum MissingFence { NO_FENCE, ACQUIRE_FENCE, RELEASE_FENCE } MissingFence;
MissingFence sim_missing_fence(const Warp *w, int lane, const AccessRecord *e);
// True if sim_happens_before has found, since the last call, an order with a missing fence that is not yet reported.
bool sim_take_lacks_fence(const Block *block);
void sim_note_unfenced(Block *block, uint32_t site, uint32_t other); // records that the missing fence has been reported
// True if the accessing thread has executed a fence since the access; of another block, true may be wrong.
bool sim_has_fenced(const Warp *w, const AccessRecord *e);
// True if a branch may depend on the value of a volatile load, which is then a flag rather than data.
bool sim_feeds_branch(const Warp *w, const Instr *i);
// The first notes that the warp's block has polled a word that this access wrote. The second is true if the block has polled a word
// that the same lanes wrote at the time of this access or later.
void sim_note_acquired_from(const Warp *w, const AccessRecord *e);
bool sim_acquired_since(const Warp *w, const AccessRecord *e);
// True if a volatile read by this warp is in a loop that waits for its value, or feeds a branch and is followed by a fence.
bool sim_is_spin_read(const Warp *w, const AccessRecord *e);

// ---- barriers.c

// Lanes of a warp split exit.
void sim_note_exits(Warp *w, const WarpSplit *p, uint32_t mask);
// All threads of the block that have not exited have arrived at the barrier, which is about to complete.
void sim_check_barrier_divergence(Block *b, const Barrier *barrier);

// ---- bulk_copies.c: whether the async proxy sees the writes of threads to shared memory

void sim_start_proxy_fences(Block *b); // also when the block restarts
// The lanes execute fence.mbarrier_init, or the warp fence.proxy.async.
void sim_note_init_fence(Warp *w, const Instr *i, uint32_t mask);
void sim_note_proxy_fence(Warp *w);
// A lane starts a bulk copy that reads these bytes of shared memory (`is_source`), or that signals the mbarrier there.
void sim_check_bulk_copy(Warp *w, const Instr *i, int lane, uint64_t address, size_t bytes, bool is_source);

// ---- cluster_ends.c: accesses to shared memory of a block that may have exited

void sim_start_cluster_accesses(Block *b); // also when the block restarts
// Lanes of a cluster access shared memory of `owner`.
void sim_note_cluster_access(Warp *w, const Instr *i, const Access *access, uint32_t mask, Block *owner, RecordKind kind);
void sim_acquire_at_barrier(Warp *w, uint32_t mask, uint64_t key); // sim_sync_acquire for a completed barrier
// Lanes exit; they may be the last ones of the block.
void sim_check_cluster_exit(Warp *w, const Instr *end, uint32_t mask);

// ---- padding.c: accesses to the padding of rows of a pitched allocation

// Lanes access a pitched allocation. access->unwritten is set.
void sim_note_padding(Warp *w, const Instr *i, const Access *access, uint32_t mask, const Allocation *a);
// The launch has succeeded: reports accesses past the end of rows that are likely errors.
void sim_report_padding(const Launch *launch);

// ---- written.c, memory.c, redzones.c

// Marks bytes of the block's shared memory, or of the lane's local memory, as unwritten.
void sim_mark_unwritten(Warp *w, int lane, Space space, uint64_t address, size_t bytes);
// Lanes read or write local memory.
void sim_check_local(Warp *w, Access *access);
// The bytes from `from` to `to` of each thread's local memory are uninitialised.
void sim_extend_local_written(Block *b, size_t from, size_t to);

// True if the path of a file of the module is known and contains `part`.
bool sim_path_contains(const Module *m, int file, const char *part);
// A lane uses the generic address of a variable of another block (SHARED) or thread (LOCAL). `owner`: the number of that block or
// thread.
void sim_report_foreign_address(Warp *w, const Instr *i, int lane, Space space, uint64_t owner);
// Describes an address outside the arrays of a block's shared memory by the nearest of them, "sums[256]: past the end, size 256", and a
// line of help. False if the array is not clear.
bool sim_describe_shared_address(const Launch *launch, const Instr *i, uint64_t address, char *text, size_t space);
// Checks a warp's access after its addresses are resolved and before it takes effect; sets access->unwritten. One of these is NULL:
// `owner`, the block whose shared memory is accessed, and `a`, the allocation that is accessed.
void sim_check_access(Warp *w, const Instr *i, Access *access, uint32_t mask, Block *owner, Allocation *a);
// Prepares the machine's fast path, which skips redundant checks of an instruction's loads or stores. False: every access must be
// checked.
bool sim_prepare_fast_path(const Warp *w, const Instr *i, Allocation *a, FastPath *fast_path);
// Records a store of consecutive elements by a whole warp. False: the store needs sim_check_access.
bool sim_record_store(const Warp *w, const Instr *i, Allocation *a, uint64_t first, size_t bytes);

// ---- written.c: which bytes have been written

// True if the memory at this address is uninitialised when it is allocated.
bool sim_address_starts_uninitialised(uint64_t address);
// Marks device memory as written, by the host or by a copy.
void sim_mark_written(uint64_t address, size_t bytes);
// Offset of the first unwritten, or the first written, one of these bytes; `bytes` if there is none.
size_t sim_find_unwritten(uint64_t address, size_t bytes);
size_t sim_find_written(uint64_t address, size_t bytes);

// ---- shadow.c

ShadowLine *sim_new_lines(size_t bytes); // for memory of this size
void sim_free_lines(ShadowLine *lines, size_t bytes);

#endif
