// warp.h: the state of a warp, and the functions that run it.
#ifndef WARP_H
#define WARP_H

#include "machine/memory/memory.h"

// ---- State. Owned by the host thread that runs the block; allocated in the block's arena.

typedef struct Frame { // a function call by some lanes of a warp
    const Function *function;
    struct Frame *caller;
    const Instr *call;
    uint64_t local_base, local_end; // its variables in local memory; the stack ends at local_end
    uint32_t not_returned;          // mask of its lanes that have not returned
    uint8_t *params;                // arguments and formal parameters, lane by lane
    uint8_t *registers;             // registers, constants and special registers, for each the values of the 32 lanes
    struct Frame *next_free;
} Frame;

typedef enum SplitState { RUNNABLE, WAITS_FOR_SPLITS, WAITS_AT_BARRIER, WAITS_AT_CLUSTER_BARRIER, WAITS_FOR_LANES } SplitState;

typedef struct WarpSplit { // lanes of a warp that execute together
    uint32_t mask, pc, reconvergence_pc;
    SplitState state;
    uint32_t starved;  // number of starvation checks in which its lanes were runnable but had not run since the last one
    uint32_t executed; // mask of the waiting lanes whose warp-level operation has executed
    int barrier, children;       // number of the barrier at which it waits; number of the splits for which it waits
    uint32_t jump_from, jump_to; // its last jump; jump_from is NO_INDEX before the first
    Frame *frame;
    struct WarpSplit *parent, *next;
    // These are used while the split is in a loop that writes no memory: sim_count_iteration in progress.c
    const Instr *loop;
    const Frame *loop_frame;
    uint32_t iterations, inner_iterations; // number of iterations of `loop`, and of the loops nested in it, also in callees
    bool unchanged;                        // at the last comparison state_hash and memory_version had not changed
    uint64_t state_hash, memory_version;   // as of the last comparison
} WarpSplit;

// Progress of the warps of a block, or of all blocks of a time-sliced launch. memory_version is constant while they only
// execute loops that write no memory.
typedef struct ProgressWatch {
    uint64_t memory_version;       // incremented by any other execution
    uint64_t polling_instructions; // executed since the last one outside a polling loop
} ProgressWatch;

// Part of its Block, and so owned by the same host thread. Masks have a bit for each lane.
struct Warp {
    uint8_t *registers;       // those of the current split's frame
    WarpSplit *current_split; // the running one
    WarpSplit *splits;        // all of them, newest first
    Frame *entry;             // the kernel's frame, reused for the next block
    struct Block *block;
    Allocation *last_allocation; // the one that the last global access used
    uint32_t live;               // lanes that have not exited
    uint32_t exit_pc[LANES];     // of exited lanes, for the checker: index of the last instruction
    uint32_t arrived;            // lanes that have arrived at the cluster's barrier, in the current phase
    uint32_t may_pass;           // mask of the lanes whose phase is complete but that have not waited yet, so that they will not block
    bool yields;                 // the current split polled an incomplete mbarrier phase: run the others
    struct {
        uint32_t missing, expected; // arrivals; expected == 0: the last test succeeded
        int64_t bytes;
    } mbarrier_wait; // the state of the mbarrier phase that the warp tested last
    int number;
    uint64_t instructions;
    uint64_t clock_advance;          // cycles by which its clock is ahead of its instructions
    uint64_t since_starvation_check; // instructions since the last starvation check
    uint32_t undefined_count;        // number of undefined registers, for the checker
    struct UndefinedRegisters *undefined_registers; // the checker's table of them
    struct AsyncCopy *copies;    // pending cp.async operations, oldest first
    uint64_t groups[LANES];      // cp.async groups committed by each lane
    struct BulkSource *sources;  // pending bulk copies that read shared memory
    uint64_t bulk_groups[LANES]; // bulk groups committed by each lane
};

// Instructions of a warp between two starvation checks. Each check that finds starved lanes halves the block's limit, down to
// the minimum.
enum { SIM_STARVATION_LIMIT = 1 << 18, SIM_MIN_STARVATION_LIMIT = 1 << 11 };
// Makes the `live` lanes ready to run the kernel's first instruction.
void sim_start_warp(Warp *w, uint32_t live);
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
void sim_converge_wait(Warp *w, WarpSplit *p, const Instr *i);
// Executes the operation at which p waits, for each complete set of members.
void sim_converge_execute(Warp *w, WarpSplit *p);

#endif
