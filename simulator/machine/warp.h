// warp.h: 32 lanes step by step.
#ifndef WARP_H
#define WARP_H

#include "machine/memory/memory.h"

// ---- What runs. The host thread that runs the block has it for itself, and its arena holds it.

typedef struct Frame { // of one call of a function by some lanes of a warp
    const Function *function;
    struct Frame *caller;
    const Instr *call;
    uint64_t local_base, local_end; // of its variables in local memory; behind them is nothing as yet
    uint32_t inside; // lanes that have not come back from it
    uint8_t *params; // the lanes' arguments and formal parameters
    uint8_t *lanes;  // registers, constants, special registers
    struct Frame *next_free;
} Frame;

typedef enum Waiting { RUNS, WAITS_FOR_SPLITS, WAITS_AT_BARRIER, WAITS_AT_CLUSTER, WAITS_FOR_LANES } Waiting;

typedef struct WarpSplit { // lanes of a warp that run together
    uint32_t mask, pc, reconvergence_pc;
    Waiting waiting;
    uint32_t starved; // so many times that the warp was looked at, while its lanes could have gone on
    uint32_t served;   // of lanes that wait for others: those that have had their result
    int barrier, children;
    uint32_t jumped, landed; // where it was before its last jump, or NOWHERE, and where that led
    Frame *frame;
    struct WarpSplit *parent, *next;
    // Of a path that goes round a loop that changes nothing in memory: see sim_count_iteration in progress.c.
    const Instr *loop;
    const Frame *loop_frame;
    uint32_t iterations, inner_iterations; // of loops in it, or in functions called there
    bool same;             // it came back with the same registers as when it was looked at last,
    uint64_t state, memory_version; // these, after so many stirs
} WarpSplit;

// What the warps of a block do, or those of all blocks that take turns: as long as nobody does more than go round loops
// that change nothing in memory, it stays as it is.
typedef struct Watch {
    uint64_t memory_version;   // how often a warp has done more than that
    uint64_t in_vain; // instructions since then, where all of them ask what others did
} Watch;

// A part of its Block, and so the host thread's that runs this. Masks have a bit for each lane.
struct Warp {
    uint8_t *lanes; // of the running path's frame
    WarpSplit *path;     // the running one
    WarpSplit *splits;    // all of them, the newest first
    Frame *entry;   // the kernel's frame, kept from block to block
    struct Block *block;
    Allocation *near; // where the last global access fell
    uint32_t live;          // lanes that have not ended
    uint32_t last[LANES], jumped[LANES]; // of those that have: what they ran last, and their last jump, for the checker
    uint32_t arrived;       // lanes that have come to the cluster's barrier, which others have not yet
    uint32_t passed;        // lanes that may go on there, and have not waited yet
    bool yields;            // its path asked in vain whether a phase is over: the others have their turn
    struct {
        uint32_t missing, expected; // arrivals; none expected: its last question was not in vain
        int64_t bytes;
    } awaited; // at the mbarrier that it asked
    int number;
    uint64_t instructions;
    uint64_t waited; // by its clock, beside its instructions
    uint64_t unfair; // instructions since it was looked at last whether lanes are overlooked
    uint32_t undefined; // registers that hold what nobody wrote: these,
    struct Undefined *values;
    struct AsyncCopy *copies; // of cp.async, that their threads have not waited for, in order
    uint64_t groups[LANES];   // of copies, that each lane has committed
    struct BulkSource *sources;  // of bulk copies out of shared memory, that their threads have not waited for
    uint64_t bulk_groups[LANES]; // of these, that each lane has committed
};

// Lanes that could go on do so at the latest after twice so many instructions of their warp, if those that run in their
// place go round a loop that asks what others did; in a block where that has happened, sooner and sooner.
enum { SIM_PATIENCE = 1 << 18, SIM_LEAST_PATIENCE = 1 << 11 };
// Makes the lanes of `live` ready to run the kernel's first instruction.
void sim_start_warp(Warp *w, uint32_t live);
// Runs a warp until it ends or waits, or for a while. False if it could do nothing.
bool sim_run_warp(Warp *w);
// The path that the warp runs next, or NULL.
WarpSplit *sim_next_split(const Warp *w);
// Whether a path that could go on goes round a loop that asks memory which the host may write.
bool sim_awaits_host(const Warp *w);
// Whether the path goes round a loop that asks what others did, perhaps in a function that was called there.
bool sim_polls_in_loop(const WarpSplit *p);
// The branch that turns the loop in which the path is, or NULL.
const Instr *sim_loop_around(const WarpSplit *p);
// Whether nothing that the warp could run leads anywhere, unless another one does something.
bool sim_is_stuck(const Warp *w);
// Of a warp that is stuck: lets another of its paths run, or lanes go on that have come to a join. False if there are none.
bool sim_give_way(Warp *w);
// Lets the lanes go on that wait at a join while others wait for them: those of a set, or, with all of them, whoever waits.
bool sim_open_reconvergence(Warp *w, uint32_t wanted);
// The lanes for which others of their warp wait at a barrier or an operation between lanes.
uint32_t sim_wanted_lanes(const Warp *w);

// ---- convergence.c: lanes that meet at operations between them.

// The instruction at which a path is.
static inline const Instr *sim_instruction_of(const WarpSplit *p)
{
    return &p->frame->function->program->code[p->pc];
}
// The path has come to instruction i, for which some lanes wait for each other.
void sim_converge_wait(Warp *w, WarpSplit *p, const Instr *i);
// Runs the operation at which p waits, as far as all that take part are there.
void sim_converge_execute(Warp *w, WarpSplit *p);

#endif
