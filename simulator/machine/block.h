// block.h: a launch and its blocks, and the functions that their files export.
#ifndef BLOCK_H
#define BLOCK_H

#include "machine/ops/ops.h"

// ---- cluster.c: thread block clusters

Handler sim_map_address, sim_rank_of_address;
// Executes barrier.cluster.arrive or .wait for the split.
void sim_execute_cluster_barrier(Warp *w, WarpSplit *p, const Instr *i);
// Releases the threads that wait at the cluster's barrier, if all of its threads have arrived or ended.
void sim_check_cluster_barrier(struct Block *block);

// ---- block.c, workers.c, speculation.c: blocks and the host threads that run them; block_barrier.c: barriers

typedef struct Barrier {
    uint32_t arrived[MAX_WARPS]; // for each warp
    uint32_t expected;           // number of threads, a multiple of the warp size
    bool has_count;              // the instruction gives a thread count, which may be less than the whole block
    uint32_t count, true_count;  // lanes that have arrived; those of them with a true predicate
    uint32_t undefined_count, undefined_true_count; // lanes whose predicate is undefined; those of them in which it is true
} Barrier;

enum { CANNOT_RUN = 77 }; // exit status of the program if a kernel needs something that the simulator does not support

typedef struct Fault { // why a launch failed, for the checker
    int kind; // of the finding; -1: derive it from the error code
    const Instr *instr;
    int thread; // index in the block, or -1
    uint64_t block;
    size_t description_offset; // in the message, after the source location
    bool waits_for_host; // the kernel waits for the host: valid CUDA, but the simulator cannot run it
} Fault;

// On the stack of sim_launch_grid, whose thread holds the lock of lock.c throughout. Immutable while blocks run, except for
// the atomic fields and: counters, suspended_block, fault, error and message, written under the lock of workers.c; `single_worker`, by the
// first worker; `watch`, by a time-sliced launch, which has one host thread.
typedef struct Launch {
    uint64_t number; // index of the launch in the program, from 1
    const Module *module;
    int device;
    const Function *kernel;
    dim3 grid, block, cluster;
    uint32_t cluster_blocks;                  // at least 1
    bool explicit_cluster;                    // the kernel or the launch names a cluster
    size_t dynamic_shared_bytes, requested_shared; // both as on a GPU; requested_shared: static and dynamic shared memory
    size_t shared_bytes;                      // of the simulated block, with the checker's redzones
    uint32_t dynamic_shared, reserved_shared; // byte offsets of dynamic and reserved shared memory
    bool uses_reserved_shared;                // otherwise reserved_shared is unused
    uint8_t *params;
    uint8_t *workspace;             // grid barrier of a cooperative launch, or NULL
    size_t local_bytes;             // of each thread
    uint64_t blocks, blocks_to_run; // the first blocks_to_run blocks run; the others are idle and only counted
    Counters counters;
    BlockConcurrency block_concurrency;
    bool time_sliced; // clusters are co-resident and share one host thread
    bool on_one_thread;
    struct Workers *workers;     // the pool of host threads
    bool single_worker;          // the first worker has not started the others yet
    struct Block *suspended_block; // it waits for later ones, which makes the rest of the launch time-sliced; NULL if there is none
    const char *time_slicing_reason; // valid if suspended_block is not NULL
    ProgressWatch watch;
    uint32_t repetitions;        // of a time-sliced launch: all blocks have returned to their states so many times; sim_state_repeats
    uint32_t longer_slices;      // warp instructions by which its time slices are longer, for other interleavings
    bool traced;                 // some of its blocks are traced: trace.c
    bool records_host_shared_accesses; // checker/memory_uses.c; false if the kernel may synchronise with the host
    bool write_set_known;        // all allocations that it may write to have last_writing_launch set
    uint64_t *block_order;       // block numbers in the order in which they start; NULL: ascending
    struct LaunchClocks *vector_clocks; // the checker's; NULL: not checked
    struct Grid *nested_grid;    // if kernels of this module launch kernels: this launch as parent or child grid; otherwise NULL
    bool checks_child_grids;     // the checker looks for races with parent and child grids: checker/dynamic_parallelism.c
    uint8_t padding[64];         // avoids false sharing: separates the fields that workers only read from those that they write
    // Indices in the start order: of the next block that no worker has claimed, and of the first block that failed.
    _Atomic uint64_t next_block, fault_block;
    _Atomic uint64_t ended_blocks; // of an ORDERED_EFFECTS launch; they are the first in the start order
    atomic_uint sleepers;          // workers that sleep until the earlier blocks have ended
    atomic_uint restarts;          // of speculative blocks
    cudaError_t error;
    Fault fault;
    char message[2048];
} Launch;

typedef struct RepeatCheck { // detects a block whose state repeats: sim_state_repeats
    uint64_t rounds; // a round is one time slice of every warp
    uint64_t position_hash, state_hash; // as of the last round whose number is a power of two; of the splits only, and of all state
    uint32_t comparisons;        // with state_hash
    bool has_returned;           // to that state, in a time-sliced launch
    uint64_t atomic_changes;     // Block.atomic_changes at the round of state_hash
    bool is_alone;               // no other block has run since this check began
} RepeatCheck;

// The changes of memory by a block's atomic operations and stores: a sum of hashes of address and value, which is again as before if the
// block restores the old values.
typedef struct MemoryChanges {
    uint64_t sum;
    bool tracks_stores;      // otherwise only atomic operations are in `sum`
    uint64_t store_requests; // number of those in `sum`
} MemoryChanges;

// Owned by one host thread, which reuses it for one block after another. A time-sliced launch has one thread for all of its
// blocks; suspended_block passes to it after the other workers have ended.
typedef struct Block {
    Launch *launch;
    uint64_t number, start_index; // start_index: position in the order in which blocks start
    dim3 index;
    uint32_t rank;                 // of the block in its cluster
    uint32_t slices_to_skip;       // number of time slices for which the block pauses
    struct Block **cluster, *self; // the blocks of its cluster; without clusters `cluster` points to `self`
    Warp warps[MAX_WARPS];
    int warp_count;
    uint8_t warp_order[MAX_WARPS]; // warp numbers in the order in which they run
    uint64_t random_state;         // for $SIM_BLOCK_ORDER
    uint32_t threads, live_threads; // live: not exited
    bool traced;            // its instructions are written to the trace file
    uint8_t *shared, *local;
    AddressPattern patterns[PATTERNS];        // a cache, indexed by sim_pattern_slot
    const AddressPattern *last_fully_written; // last pattern whose loads read fully written lines, or NULL
    struct BlockCheck *check;                 // the checker's state; NULL: not checked
    RepeatCheck repeat_check;
    uint64_t atomic_changes; // its atomic operations that have changed memory
    MemoryChanges changes;
    uint64_t starvation_limit; // instructions of a warp after which runnable lanes may count as starved
    size_t local_used;           // bytes of each thread's local memory in use so far, filled with poison at first use
    Barrier barriers[BARRIERS];
    ProgressWatch *watch, block_watch; // watch: &block_watch, or that of a time-sliced launch
    Counters counters;
    Arena arena; // of frames and splits
    Frame *free_frames; // free lists, as the following ones
    WarpSplit *free_splits;
    struct AsyncCopy *free_copies;
    struct BulkSource *free_sources;
    uint32_t cluster_phase;                   // completed phases of the cluster's barrier; kept in its first block
    // A speculative block runs before all earlier blocks have ended. ended_at_start: the number of blocks that had ended when
    // it started; read_allocations: those that it has read since.
    bool speculative;
    uint64_t ended_at_start;
    Allocation *read_allocations[MAX_READ_ALLOCATIONS];
    int read_count;
    jmp_buf on_fault; // also used to leave without a fault: ExitReason in blocks.h
    cudaError_t error;
    Fault fault;
    char message[2048];
} Block;

// The cache entry for the address pattern of this instruction; another instruction may occupy it.
static inline AddressPattern *sim_pattern_slot(Block *b, const Instr *i)
{
    return &b->patterns[(uintptr_t)i / sizeof *i % PATTERNS];
}

// True if the launch may read the allocation but provably never writes to it, so that no read of it can race.
static inline bool sim_only_reads(const Launch *launch, const Allocation *a)
{
    return launch->write_set_known && a->kind != HEAP_MEMORY &&
           __atomic_load_n(&a->last_writing_launch, __ATOMIC_RELAXED) != launch->number;
}

// True if the checker observes the launch or the block.
static inline bool is_launch_checked(const Launch *launch)
{
    return launch->vector_clocks != NULL;
}

static inline bool is_block_checked(const Block *b)
{
    return b->check != NULL;
}

// The next number of a pseudo-random sequence (SplitMix64).
static inline uint64_t sim_next_random(uint64_t *state)
{
    uint64_t bits = *state += 0x9e3779b97f4a7c15;
    bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9;
    bits = (bits ^ bits >> 27) * 0x94d049bb133111eb;
    return bits ^ bits >> 31;
}

// speculation.c: waits until all earlier blocks have ended. If they have written to what a speculative block read, it restarts instead of
// returning.
void sim_wait_for_earlier_blocks(Block *block);

// Releases the threads that wait at a barrier if it is complete.
void sim_check_barrier(Block *block, int number);
// Calls sim_check_barrier for all barriers, after threads have exited.
void sim_check_barriers(Block *block);

typedef struct Grid Grid; // grid.h

typedef struct LaunchAttributes { // of cudaLaunchKernelEx
    bool is_cooperative; // all blocks must be co-resident on the device
    dim3 cluster;        // cluster dimensions; x == 0: those of the kernel's __cluster_dims__, if any
} LaunchAttributes;

// ---- launch.c

// Runs a kernel to its end and returns its error, after a message on stderr. stack_bytes: local memory of each thread for the
// functions that the kernel calls. nested_grid and checks_child_grids: as in the Launch.
cudaError_t sim_launch_grid(const Module *module, const Function *kernel, dim3 grid, dim3 block, size_t dynamic_shared_bytes,
                            size_t stack_bytes, void **arguments, LaunchAttributes attributes, Grid *nested_grid, bool checks_child_grids);

// The last launch that succeeded. Guarded by the lock of lock.c.
typedef struct LaunchResult {
    uint64_t number; // index of the launch in the program, from 1
    Counters counters;
    bool write_set_known; // as in the Launch
} LaunchResult;
LaunchResult sim_last_launch(void);

// Counts a launch that is skipped because it would repeat an earlier one. Returns its number.
uint64_t sim_count_skipped_launch(const Module *module, const Function *kernel, dim3 grid, dim3 block, const Counters *counters);

// ---- block_faults.c

// Records a fault at a lane's instruction (lane -1: none); the launch ends with this block unless an earlier block failed.
void sim_note_fault(Warp *w, const Instr *i, int lane, cudaError_t error, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
// Records a fault as sim_note_fault does, and ends the block at once.
_Noreturn void sim_fault(Warp *w, const Instr *i, int lane, cudaError_t error, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

// ---- counters.c

// Appends the launch's row to the file of $SIM_COUNTERS, if set.
void sim_write_counters(const Launch *launch);
// Adds the launch to the total that $SIM_SPEED prints, if set.
void sim_record_throughput(const Launch *launch, double host_seconds);

// ---- trace.c: the instructions of one block, or the device-memory accesses of all

// Starts the launch's rows in the file of $SIM_TRACE. True if some of its blocks are traced.
bool sim_trace_launch(const Launch *launch);
// True if all blocks are traced.
bool sim_traces_all(void);
bool sim_is_traced(const Launch *launch, uint64_t number);
// Adds a row for the instruction that the split executes next.
void sim_trace_instruction(const Warp *w, const WarpSplit *p);
// After the instruction has executed: completes its row with the values in its registers.
void sim_trace_values(const Warp *w, const Instr *i, uint32_t mask);
// Adds a row for a split that a barrier has released.
void sim_trace_release(const Warp *w, const WarpSplit *p);
void sim_end_trace_of_launch(void);

#endif
