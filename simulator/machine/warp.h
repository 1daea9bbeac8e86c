// warp.h: the state of a warp, and the functions that run it.
#ifndef WARP_H
#define WARP_H

#include "machine/memory/memory.h"

// ---- State. Owned by the host thread that runs the block; allocated in the block's arena.

typedef struct Frame { // a function call by some lanes of a warp
    const Function *function;
    struct Frame *caller;
    const Instr *call;
    uint64_t local_base, local_end; // offsets of its variables in local memory; the stack ends at local_end
    uint32_t not_returned;          // mask of the frame's lanes that have not returned
    uint8_t *params;                // arguments and formal parameters, one lane after another
    uint8_t *registers;             // registers, constants and special registers; each has 32 lanes' values
    struct Frame *next_free;
} Frame;

typedef enum SplitState { RUNNABLE, WAITS_FOR_SPLITS, WAITS_AT_BARRIER, WAITS_AT_CLUSTER_BARRIER, WAITS_FOR_LANES } SplitState;

typedef struct WarpSplit { // lanes of a warp that execute together
    uint32_t mask, pc, reconvergence_pc;
    SplitState state;
    uint32_t starved;  // consecutive starvation checks that found it runnable but not running
    uint32_t executed; // mask of the waiting lanes whose warp-level operation has executed
    int barrier, children;       // number of the barrier at which it waits; count of the splits that it waits for
    uint32_t jump_from, jump_to; // its last jump; jump_from is NO_INDEX before the first
    Frame *frame;
    struct WarpSplit *parent, *next;
    // The rest is used while the split is in a loop that writes no memory: sim_count_iteration in progress.c
    const Instr *loop;
    const Frame *loop_frame;
    uint32_t iterations, inner_iterations; // of `loop`, and of the loops nested in it, including callees
    bool unchanged;                        // the last comparison found the same state_hash and memory_version
    uint64_t state_hash, memory_version;   // as of the last comparison
} WarpSplit;

// Progress of the warps of a block, or of all blocks of a time-sliced launch. memory_version is constant while they only
// execute loops that write no memory.
typedef struct ProgressWatch {
    uint64_t memory_version;       // incremented by any other execution
    uint64_t polling_instructions; // executed since the last instruction outside a polling loop
} ProgressWatch;

// Embedded in its Block and owned by the same host thread. Masks have a bit for each lane.
struct Warp {
    uint8_t *registers;       // of the current split's frame
    WarpSplit *current_split; // the split that runs now
    WarpSplit *splits;        // list of all splits, newest first
    Frame *entry;             // the kernel's frame, reused for the next block
    struct Block *block;
    Allocation *last_allocation; // of the last global access
    uint32_t live_mask;          // lanes that have not exited
    uint32_t arrived;            // lanes that have arrived at the cluster's barrier, in the current phase
    uint32_t may_pass;           // lanes whose phase is complete but that have not waited yet: their wait will not block
    bool must_yield;             // the current split polled an incomplete mbarrier phase: run other splits
    struct {
        uint32_t missing, expected; // numbers of arrivals; expected == 0: the last test succeeded
        int64_t bytes;
    } mbarrier_wait; // the state of the mbarrier phase that the warp tested last
    int number;
    uint64_t instructions;
    uint64_t clock_advance;          // cycles by which its clock is ahead of its instructions
    uint64_t since_starvation_check; // instructions since the last starvation check
    uint32_t undefined_count;        // number of undefined registers, for the checker
    struct UndefinedRegisters *undefined_registers; // the checker's table of them
    struct AsyncCopy *copies;    // list of pending cp.async operations, oldest first
    uint64_t groups[LANES];      // cp.async groups committed by each lane
    struct BulkSource *sources;  // list of pending bulk copies that read shared memory
    uint64_t bulk_groups[LANES]; // bulk groups committed by each lane
};

// Number of a warp's instructions between starvation checks. Each check that finds starved lanes halves the block's limit, down
// to the minimum.
enum { SIM_STARVATION_LIMIT = 1 << 18, SIM_MIN_STARVATION_LIMIT = 1 << 11 };
// Makes the lanes of live_mask ready to run the kernel's first instruction.
void sim_start_warp(Warp *w, uint32_t live_mask);
// Runs a warp for one time slice, or until it ends or waits. False if nothing was runnable.
bool sim_run_warp(Warp *w);
// The split that the warp runs next, or NULL.
WarpSplit *sim_next_split(const Warp *w);
// True if the next split is in a loop that polls memory which the host may write.
bool sim_waits_for_host(const Warp *w);
// True if the split is in a loop that polls memory, perhaps in a caller.
bool sim_polls_in_loop(const WarpSplit *p);
// The back edge of the innermost loop that contains the split's pc, or NULL.
const Instr *sim_innermost_back_edge(const WarpSplit *p);
// True if the warp waits, or runs a loop that ends only if another warp intervenes.
bool sim_is_warp_stuck(const Warp *w);
// Makes a stuck warp run another split, or releases lanes that wait for reconvergence. False if there are none.
bool sim_yield_stuck_warp(Warp *w);
// Releases the lanes that wait at a reconvergence point, if one of them is in `awaited`.
bool sim_release_at_reconvergence(Warp *w, uint32_t awaited);
// The lanes for which other lanes of the warp wait at a warp-level operation.
uint32_t sim_awaited_lanes(const Warp *w);

// ---- convergence.c: lanes that synchronise at warp-level operations

// The next instruction of a split.
static inline const Instr *sim_instruction_of(const WarpSplit *p)
{
    return &p->frame->function->program->code[p->pc];
}
// The split arrives at instruction i, where lanes of the warp wait for each other.
void sim_wait_for_convergence(Warp *w, WarpSplit *p, const Instr *i);
// Executes the operation at which p waits, for each complete set of members.
void sim_execute_if_converged(Warp *w, WarpSplit *p);

#endif
