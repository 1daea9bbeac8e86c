// block.h: a launch, its blocks, and what is written of them: counters and traces.
#ifndef BLOCK_H
#define BLOCK_H

#include "machine/ops/ops.h"

// ---- cluster.c: blocks that reach each other's shared memory.

Handler sim_map_address, sim_rank_of_address;
// Whether an address in shared memory tells of which block of the cluster.
bool sim_names_block(uint64_t address);
// Which one it is, where the address has been found to lie in one.
struct Block *sim_block_named(const Warp *w, uint64_t address);
// Where a lane's bytes lie at such an address; ends the launch where they lie nowhere, or the block has ended.
uint8_t *sim_find_in_cluster(Warp *w, const Instr *i, int lane, uint64_t address, size_t bytes);
// The path arrives at the cluster's barrier, or waits there.
void sim_come_to_cluster_barrier(Warp *w, WarpSplit *p, const Instr *i);
// Lets the threads of the block's cluster go on that wait at its barrier, if the last one has come.
void sim_check_cluster_barrier(struct Block *block);

// ---- block.c, workers.c: blocks, and the host's threads that run them; block_barrier.c: barriers.

typedef struct Barrier {
    uint32_t arrived[MAX_WARPS]; // lanes of each warp
    uint32_t expected;           // threads, of whole warps
    bool counted;                // it names how many: not all threads of the block
    uint32_t count, true_count;  // lanes that have come; of these, with a true predicate
} Barrier;

enum { CANNOT_RUN = 77 }; // the program's exit status, where a kernel needs what the simulator has not

typedef struct Fault { // where a launch went wrong, for the checker
    int kind;      // of a finding, if the one that the error stands for will not do; else -1
    const Instr *instr;
    int thread;    // of the block, or -1
    uint64_t block;
    size_t text;   // where in the message it says what happened
    bool awaits_host; // what the program does is right, but cannot be run here
} Fault;

// On the stack of sim_launch_grid, whose thread holds the lock of lock.c all the while. It is filled in before its
// blocks begin, and host threads that run these read it without a lock, but for what they share: counters, held,
// fault_block, error, fault and message are written under the lock of workers.c; `watch` is for
// blocks that take turns in one thread.
typedef struct Launch {
    uint64_t number; // of the program's launches, from 1 on
    const Module *module;
    int device;
    const Function *kernel;
    dim3 grid, block, cluster;
    uint32_t cluster_blocks; // at least 1
    bool explicit_cluster;   // the kernel or the launch names a cluster
    size_t dynamic_bytes, asked_shared; // asked for; with the static ones,
    size_t shared_bytes;                // and the gaps that the checker leaves between them
    uint32_t dynamic_shared, reserved_shared; // where these parts begin; the second
    bool uses_reserved_shared;                // if it does
    uint8_t *params;
    uint8_t *workspace; // of a cooperative launch: where its blocks wait for each other; NULL: it is none
    size_t local_bytes; // of a thread
    uint64_t blocks, busy; // busy: so many of them run, the first ones; the others have nothing to do
    Counters counters;
    Order order;
    bool together;      // blocks take turns
    bool on_one_thread; // of the host
    struct Workers *workers; // the host threads that run its blocks,
    bool alone;              // of which the first has not yet started the others
    struct Block *held; // waits for later blocks, in a launch whose blocks did not take turns until then; or NULL
    const char *why_together; // where `held` is not NULL
    Watch watch;
    bool traced;        // blocks of it: trace.c
    bool noted;         // what it uses of memory that it shares with the host: checker/memory_uses.c
    bool knows_changes; // which allocations it may write to is known: Allocation.changes_in
    uint64_t *shuffled; // the blocks in the order in which they begin; NULL: in that of their numbers
    struct LaunchClocks *clocks; // NULL: nothing is checked
    struct Grid *family_grid;  // where kernels launch kernels, else NULL
    bool watched;              // the checker looks for its races with its parent and its children: checker/dynamic_parallelism.c
    uint8_t apart[64]; // from what all host threads read all the time: behind it they write what others wait for
    // Places in that order: of the first that nobody runs yet, of the first that went wrong.
    _Atomic uint64_t next_block, fault_block;
    _Atomic uint64_t ended; // of an IN_TURN launch: so many blocks, the first ones
    atomic_uint sleepers;   // blocks that sleep until their turn comes
    atomic_uint restarts;
    cudaError_t error;
    Fault fault;
    char message[1024];
} Launch;

typedef struct Passer { // for the checker: threads that ended behind an instruction, and a barrier
    uint32_t barrier, last, jumped;
    bool known, goes_past;
} Passer;

typedef struct Round { // the turns of a block's warps, and what was there after one of them: sim_state_repeats
    uint64_t count, state;
} Round;

// Made, run and freed by one host thread, and used for one block of the launch after the other; others do not touch it.
// Of blocks that take turns this is one thread for all; a held one is handed over to it when the others have ended.
typedef struct Block {
    Launch *launch;
    uint64_t number, place; // place: in the order in which blocks begin
    dim3 index;
    uint32_t rank; // in its cluster,
    uint32_t pause; // turns that it lets pass
    struct Block **cluster, *alone; // whose blocks these are; it alone, where it is a cluster by itself
    Warp warps[MAX_WARPS];
    int warp_count;
    uint8_t turns[MAX_WARPS]; // the warps in the order in which they have them
    uint64_t series;          // of random numbers, where $SIM_BLOCK_ORDER shuffles
    uint32_t threads, live;
    bool traced; // what its warps do is written to a file
    uint8_t *shared, *local;
    AddressPattern layouts[PATTERNS]; // of accesses, by their instructions
    const AddressPattern *fully_written;    // of them: the last one of loads in whole lines that are settled, and stay so; or NULL
    struct Origins *origins;  // of values that nobody wrote: checker/values.c
    uint8_t *local_written;   // for the checker: a byte for each of local memory
    struct ShadowLine *lines;       // of shared memory,
    struct BlockClocks *clocks; // and what else the checker keeps; NULL: nothing is checked
    Round round;
    uint64_t patience; // instructions of a warp until lanes may count as overlooked
    Passer passers[8];
    uint32_t passer; // found so many times
    size_t local_used; // of a thread: so much has been given to functions, and was poison then
    Barrier barriers[BARRIERS];
    Watch *watch, own_watch; // its own, or that of the launch whose blocks take turns
    Counters counters;
    Arena arena; // of frames and paths
    Frame *free_frames;
    WarpSplit *free_splits;
    struct AsyncCopy *free_copies;
    struct BulkSource *free_sources;
    struct AsyncWriters *engine; // of checker/bulk_copies.c; NULL where the kernel's module does not use the copy engine
    struct ClusterAccesses *visits;      // of checker/cluster_ends.c; NULL where there are no clusters
    struct DeferredReads *late;     // of checker/deferred_reads.c; NULL while nothing is put off
    uint32_t meetings;          // of the first block of a cluster: how often the cluster's barrier has opened
    // A block that runs ahead of its turn has seen what `seen` blocks did, and read these allocations.
    bool ahead;
    uint64_t seen;
    Allocation *read[MAX_READ];
    int read_count;
    jmp_buf on_fault; // also left for what is no fault: see Departure in blocks.h
    cudaError_t error;
    Fault fault;
    char message[1024];
} Block;

// Where the layout of the instruction's addresses is kept, if it is, or is to be.
static inline AddressPattern *sim_pattern_slot(Block *b, const Instr *i)
{
    return &b->layouts[(uintptr_t)i / sizeof *i % PATTERNS];
}

// Whether the launch reads the allocation and never writes to it, as far as its kernel tells: so no read there races.
static inline bool sim_only_reads(const Launch *launch, const Allocation *a)
{
    return launch->knows_changes && a->kind != HEAP_MEMORY &&
           __atomic_load_n(&a->changes_in, __ATOMIC_RELAXED) != launch->number;
}

// The next number of a series that looks random and begins anew with each seed (SplitMix64).
uint64_t sim_next_random(uint64_t *state);

// Waits until all blocks before this one have ended. One that ran ahead and read what they changed
// since does not return: it starts again.
void sim_await_turn(Block *block);

// Makes so many bytes of each thread's local memory ready for use: what nobody in the block has written is poison.
void sim_use_local(Block *block, size_t bytes);

// Lets the threads go on that wait at a barrier, if the last one has come; the same for all barriers, after threads have ended.
void sim_check_barrier(Block *block, int number);
void sim_check_barriers(Block *block);

// ---- livelock.c

// After each of the block's warps has had a turn: whether all is as it was a few turns ago, so that the block, alone,
// does the same for ever. It looks now and then only, and not in the first turns.
bool sim_state_repeats(Block *b);

typedef struct Grid Grid; // of grid.h

typedef struct Grouping { // which blocks of a launch run together
    bool cooperative; // all of them, which the device must hold at once
    dim3 cluster;     // those of a cluster of this size; 0: of the kernel's own, or none
} Grouping;

// ---- launch.c

// Runs a kernel to its end; the result, with a message on stderr where it is no success. A thread that calls functions
// gets stack_bytes of local memory for theirs. `family_grid`: which one it is, where kernels launch kernels, else NULL;
// `watched`: the observer wants to know what it shares with the others.
cudaError_t sim_launch_grid(const Module *module, const Function *kernel, dim3 grid, dim3 block, size_t dynamic_bytes,
                            size_t stack_bytes, void **arguments, Grouping grouping, Grid *family_grid, bool watched);

// Of the last launch that ran to its end. Under the lock of lock.c.
typedef struct Ran {
    uint64_t number; // of the program's launches, from 1 on
    Counters counters;
    bool knows_changes; // as in the Launch
} Ran;
Ran sim_last_ran(void);

// A launch would do what another one did, and does not run: it counts as if it had. Returns its number.
uint64_t sim_count_again(const Module *module, const Function *kernel, dim3 grid, dim3 block, const Counters *counters);

// ---- block_faults.c

// The instruction of a lane (or -1) went wrong: the launch ends with the block, unless something else did before.
void sim_note_fault(Warp *w, const Instr *i, int lane, cudaError_t error, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
// The same, and ends the block. Does not return.
_Noreturn void sim_fault(Warp *w, const Instr *i, int lane, cudaError_t error, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

// ---- counters.c

// Adds the launch to the file that $SIM_COUNTERS names, if it does.
void sim_count_launch(const Launch *launch);
// Adds what has run to the line that $SIM_SPEED asks for, if it does.
void sim_add_to_speed(const Launch *launch, double host_seconds);

// ---- trace.c: what the warps of one block do, instruction by instruction; or all blocks, in device memory.

// Starts the launch's part of the file that $SIM_TRACE names, if it does. False if it does not.
bool sim_trace_launch(const Launch *launch);
// Whether the file gets rows of all blocks.
bool sim_traces_all(void);
// Whether the block with this number is to be traced.
bool sim_is_traced(const Launch *launch, uint64_t number);
// Adds a row for the instruction that the path is about to run.
void sim_trace_instruction(const Warp *w, const WarpSplit *p);
// Adds to this row, if there is one, what the instruction, which has run, has in its registers for these lanes.
void sim_trace_values(const Warp *w, const Instr *i, uint32_t mask);
// Adds a row for the path that waited at a barrier and may go on.
void sim_trace_release(const Warp *w, const WarpSplit *p);
void sim_end_trace_of_launch(void);

#endif
